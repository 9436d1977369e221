/** The queue of open proposals: answers count at once, are sent behind the person's back, and come back where refused. */

import { api } from "../api";
import { live } from "../live.svelte";
import { outbox, type Ticket } from "./outbox";
import { toasts } from "../toasts.svelte";
import type { Proposal, ProposalList } from "../types";
import type { Query } from "../http";

const PIECE = 60;
const LOW = 30;

const keyOf = (one: { item: number; tag: string }): string => `${one.item}\n${one.tag}`;

interface Given {
  proposals: Proposal[];
  ticket: Ticket;
}

export class ReviewQueue {
  waiting: Proposal[] = $state.raw([]);
  tags: { name: string; n_open: number }[] = $state.raw([]);
  total = $state(0);
  nLessLikely = $state(0);
  sureEnough = $state(1);
  error: string | null = $state(null);
  loaded = $state(false);
  #gone = new Set<string>(); // answered or skipped here
  #settled = new Set<string>(); // answered, and the server has it
  #returning = new Set<string>(); // being taken back; the server may not know yet
  #skipped = 0;
  #given: Given[] = $state.raw([]);
  #query: Query;
  #sampled: boolean;
  #round = 0;

  constructor(query: Query, sampled = false) {
    this.#query = query;
    this.#sampled = sampled;
  }

  #ask(offset: number, limit: number): Promise<ProposalList> {
    return this.#sampled ? api.sample() : api.proposals({ ...this.#query, offset, limit });
  }

  #earlier = $state(outbox.hasEarlier); // given before this page was loaded
  readonly canUndo = $derived(this.#given.length > 0 || this.#earlier);

  /** Ask for the head of the queue; what was answered elsewhere leaves it. */
  async refresh(): Promise<void> {
    const round = ++this.#round;
    const settled = new Set(this.#settled);
    try {
      const limit = Math.min(200, Math.max(PIECE, this.waiting.length + this.#skipped));
      const answer = await this.#ask(0, limit);
      if (round !== this.#round) return;
      const all = answer.total <= answer.proposals.length;
      // an answer that was taken back elsewhere makes its proposal open again
      for (const one of answer.proposals) {
        if (settled.has(keyOf(one)) && this.#settled.delete(keyOf(one))) this.#gone.delete(keyOf(one));
      }
      this.#take(answer.proposals, all);
      this.tags = answer.tags;
      this.total = answer.total;
      this.nLessLikely = answer.n_less_likely;
      this.sureEnough = answer.sure_enough;
      this.error = null;
    } catch (problem) {
      if (round === this.#round) this.error = problem instanceof Error ? problem.message : String(problem);
    }
    this.loaded = true;
  }

  #take(fresh: Proposal[], all: boolean): void {
    this.#earlier = outbox.hasEarlier;
    const open = fresh.filter((one) => !this.#gone.has(keyOf(one)));
    const known = new Set(fresh.map(keyOf));
    const current = this.waiting[0];
    // the one being looked at stays in front as long as it is open
    const front = this.waiting.filter((one) => this.#returning.has(keyOf(one)) || (one === current && known.has(keyOf(one))));
    const first = new Set(front.map(keyOf));
    const rest = open.filter((one) => !first.has(keyOf(one)));
    const beyond = all ? [] : this.waiting.filter((one) => !known.has(keyOf(one)) && one !== current).slice(fresh.length);
    this.waiting = [...front, ...rest, ...beyond.filter((one) => !first.has(keyOf(one)))];
  }

  #drop(proposals: Proposal[]): void {
    for (const one of proposals) this.#gone.add(keyOf(one));
    this.waiting = this.waiting.filter((one) => !this.#gone.has(keyOf(one)));
    if (this.waiting.length < LOW && this.total > this.waiting.length) void this.#more();
  }

  #asking = false;
  async #more(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      await outbox.flush();
      const answer = await this.#ask(this.waiting.length + this.#skipped, PIECE);
      const known = new Set(this.waiting.map(keyOf));
      this.waiting = [...this.waiting, ...answer.proposals.filter((one) => !known.has(keyOf(one)) && !this.#gone.has(keyOf(one)))];
      this.total = answer.total;
    } catch {
      // the next answer asks again
    }
    this.#asking = false;
  }

  answer(proposals: Proposal[], yes: boolean): void {
    if (!proposals.length) return;
    const pairs = proposals.map(({ item, tag }) => ({ item, tag }));
    this.#drop(proposals);
    this.total = Math.max(0, this.total - proposals.length);
    const settle = live.counting(proposals.filter((one) => one.is_worth_asking).length);
    const ticket = outbox.answer(pairs, yes);
    this.#given = [...this.#given, { proposals, ticket }];
    void ticket.outcome.then(
      (outcome) => {
        settle(outcome && outcome.n_open);
        if (!outcome) return;
        const { already, done, summary, entry } = outcome;
        if (already.length) toasts.say(already.length === 1 ? `${already[0]!.tag}: already answered in another place.` : `${already.length} were already answered in another place.`);
        if (done.length) toasts.say(summary, { entry, slot: "review" });
        if (this.#given.some((one) => one.ticket === ticket)) for (const one of proposals) this.#settled.add(keyOf(one)); // not taken back meanwhile
      },
      (problem: unknown) => {
        settle(null);
        this.#putBack(proposals);
        this.#given = this.#given.filter((one) => one.ticket !== ticket);
        toasts.fail(problem);
      },
    );
  }

  skip(): void {
    const first = this.waiting[0];
    if (!first) return;
    this.#skipped += 1;
    this.#drop([first]);
  }

  #putBack(proposals: Proposal[]): void {
    for (const one of proposals) {
      this.#gone.delete(keyOf(one));
      this.#settled.delete(keyOf(one));
    }
    const back = new Set(proposals.map(keyOf));
    this.waiting = [...proposals, ...this.waiting.filter((one) => !back.has(keyOf(one)))];
    this.total += proposals.length;
  }

  /** Take my last answer back; the proposal is in front again at once. */
  async undo(): Promise<void> {
    const last = this.#given.at(-1);
    if (!last) return this.#undoEarlier();
    this.#given = this.#given.slice(0, -1);
    this.#putBack(last.proposals);
    for (const one of last.proposals) this.#returning.add(keyOf(one));
    try {
      const outcome = await outbox.takeBack(last.ticket);
      if (outcome?.entry != null) toasts.say(outcome.summary, { slot: "review" });
    } catch (problem) {
      this.#drop(last.proposals);
      toasts.fail(problem);
    }
    for (const one of last.proposals) this.#returning.delete(keyOf(one));
    this.#undone();
  }

  /** This page has given none: then one from before it was loaded. */
  async #undoEarlier(): Promise<void> {
    try {
      const outcome = await outbox.takeBackEarlier();
      toasts.say(outcome?.summary ?? "There is no answer of this tab to take back; H shows the history.", { slot: "review" });
    } catch (problem) {
      toasts.fail(problem);
    }
    this.#undone();
  }

  #undone(): void {
    this.#round += 1; // what was asked before that is out of date
    void live.poll();
    void this.refresh();
  }
}
