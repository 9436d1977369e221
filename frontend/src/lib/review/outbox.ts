/**
 * Answers on their way to the server: sent in order, as many at a time as wait, and kept in this browser until the
 * server has them. What a page leaves behind when it is closed or loaded again goes out with its last breath; should
 * that fail, the next page sends it. Steps that are sent twice leave the same answers.
 */

import { api } from "../api";
import { FITS } from "../http";
import type { Step, StepDone } from "../types";

const AT_ONCE = 100;
const MOST_ENTRIES = 1000;

export type Outcome = StepDone & { n_open: number };

interface Waiting {
  step: Step;
  takesBack: Waiting | null; // the answer, where this page has given it
  again: boolean; // left behind by another page, which may have sent it
  outcome: Outcome | null;
  tell: (outcome: Outcome | null) => void;
  refuse: (problem: unknown) => void;
}

/** A place in the browser's storage; where there is none, pages work without. */
function kept<T>(storage: Storage, place: string): T[] {
  try {
    const found: unknown = JSON.parse(storage.getItem(place) ?? "[]");
    return Array.isArray(found) ? (found as T[]) : [];
  } catch {
    return [];
  }
}
function keep(storage: Storage, place: string, list: unknown[]): void {
  try {
    if (list.length) storage.setItem(place, JSON.stringify(list));
    else storage.removeItem(place);
  } catch {
    // full, or forbidden
  }
}

/** What a page holds of an answer that it gave. The outcome is null where the answer was taken back before it was sent. */
export class Ticket {
  constructor(readonly waiting: Waiting, readonly outcome: Promise<Outcome | null>) {}
}

class Outbox {
  #waiting: Waiting[] = [];
  #sending: Waiting[] = [];
  #flushing: Promise<void> | null = null;
  #place: string | null = null;
  #mine = "manyview/mine";
  #watched = new Set<string>();
  #leaving = false;
  #opened!: () => void;
  readonly #ready = new Promise<void>((done) => (this.#opened = done));
  /** Called whenever the server has taken something. */
  ontaken: () => void = () => undefined;

  /** The collection is known: take over what other pages leave behind, now and later. */
  open(collection: string): void {
    if (this.#place !== null) return;
    const all = `manyview/answers/${collection}/`;
    this.#place = `${all}${crypto.randomUUID()}`;
    this.#mine = `manyview/mine/${collection}`;
    this.#watched.add(this.#place);
    // held for as long as this page lives, so that the others leave its answers alone
    void navigator.locks.request(this.#place, () => new Promise(() => undefined));
    this.#keep();
    const watch = (place: string | null): void => void (place?.startsWith(all) && this.#adopt(place));
    Object.keys(localStorage).forEach(watch);
    void navigator.locks.query().then(this.#opened); // asked last: what pages that are gone have left is here by then
    addEventListener("storage", (event) => watch(event.key));
    addEventListener("pagehide", () => this.#leave());
    addEventListener("pageshow", () => {
      this.#leaving = false; // it was only put aside
      this.#waiting = [...this.#sending, ...this.#waiting];
      this.#sending = [];
      void this.flush();
    });
  }

  /** Wait until the page of that place is gone, and send what it could not. */
  #adopt(place: string): void {
    if (this.#watched.has(place)) return;
    this.#watched.add(place);
    void navigator.locks.request(place, async () => {
      const left = kept<Step>(localStorage, place).map((step) => this.#add(step, null, true).outcome);
      keep(localStorage, place, []);
      await Promise.allSettled(left);
    });
  }

  #leave(): void {
    this.#leaving = true;
    const left = [...this.#sending, ...this.#waiting].map((one) => one.step);
    if (left.length) void api.steps(left).catch(() => undefined);
  }

  #keep(): void {
    if (this.#place !== null) keep(localStorage, this.#place, [...this.#sending, ...this.#waiting].map((one) => one.step));
  }

  #add(step: Step, takesBack: Waiting | null = null, again = false): Ticket {
    let waiting!: Waiting;
    const outcome = new Promise<Outcome | null>((tell, refuse) => {
      waiting = { step, takesBack, again, outcome: null, tell, refuse };
    });
    this.#waiting.push(waiting);
    this.#keep();
    void this.flush();
    return new Ticket(waiting, outcome);
  }

  answer(pairs: Step["pairs"], answer: boolean): Ticket {
    return this.#add({ pairs, answer });
  }

  /** Take an answer back; one that nobody has heard yet was never given, and null comes back. */
  async takeBack({ waiting }: Ticket): Promise<Outcome | null> {
    if (this.#waiting.includes(waiting)) {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
      this.#keep();
      waiting.tell(null);
      return null;
    }
    return this.#add({ pairs: waiting.step.pairs, answer: null }, waiting).outcome;
  }

  get hasEarlier(): boolean {
    return kept<number>(sessionStorage, this.#mine).length > 0;
  }

  /** Take back the last answer that this tab has given before this page was loaded; null where there is none. */
  async takeBackEarlier(): Promise<Outcome | null> {
    await this.#ready;
    await this.flush();
    for (;;) {
      const entry = kept<number>(sessionStorage, this.#mine).at(-1);
      if (entry === undefined) return null;
      this.#forget(entry);
      const outcome = await this.#add({ pairs: [], answer: null, entry }).outcome;
      if (outcome !== null && outcome.entry !== null) return outcome;
    }
  }

  /** Resolves when nothing is on its way. */
  flush(): Promise<void> {
    this.#flushing ??= this.#send().finally(() => {
      this.#flushing = null;
      if (this.#waiting.length && !this.#leaving) void this.flush(); // came at the last moment
    });
    return this.#flushing;
  }

  async #send(): Promise<void> {
    await Promise.resolve(); // what is said in one breath goes together
    while (this.#waiting.length && !this.#leaving) {
      this.#sending = this.#next();
      if (!this.#sending.length) continue;
      try {
        const answer = await api.steps(this.#sending.map((one) => one.step));
        if (this.#leaving) return; // kept for the next page, which hears the same
        const done = this.#sending;
        this.#sending = [];
        done.forEach((one, n) => this.#settle(one, { ...answer.steps[n]!, n_open: answer.n_open }));
        this.ontaken();
      } catch (problem) {
        if (this.#leaving) return;
        const refused = this.#sending;
        this.#sending = [];
        refused.forEach((one) => one.refuse(problem));
      }
      this.#keep();
    }
  }

  /** What goes next, in order. A step that takes an answer back names its entry, which is known by now. */
  #next(): Waiting[] {
    const next: Waiting[] = [];
    let size = 0;
    while (this.#waiting.length && next.length < AT_ONCE) {
      const one = this.#waiting[0]!;
      if (one.takesBack) {
        if (next.includes(one.takesBack)) break;
        one.step.entry = one.takesBack.outcome?.entry ?? null;
      }
      size += JSON.stringify(one.step).length;
      if (next.length && size > FITS / 2) break;
      this.#waiting.shift();
      if (one.takesBack && one.step.entry === null) one.tell(null); // it was refused, or answered in another place
      else next.push(one);
    }
    return next;
  }

  #settle(one: Waiting, outcome: Outcome): void {
    if (outcome.error !== null) {
      one.refuse(new Error(outcome.error));
      return;
    }
    one.outcome = outcome;
    if (one.step.answer !== null) {
      const entry = outcome.entry ?? (one.again ? (outcome.already[0]?.entry ?? null) : null);
      const mine = kept<number>(sessionStorage, this.#mine).filter((known) => known !== entry);
      if (entry !== null) keep(sessionStorage, this.#mine, [...mine, entry].slice(-MOST_ENTRIES));
    } else if (typeof one.step.entry === "number") this.#forget(one.step.entry);
    one.tell(outcome);
  }

  #forget(entry: number): void {
    keep(sessionStorage, this.#mine, kept<number>(sessionStorage, this.#mine).filter((one) => one !== entry));
  }
}

export const outbox = new Outbox();
