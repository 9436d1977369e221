/** Items with all that is proposed for each: an answer is what was ticked, and counts at once. */

import { api } from "../api";
import type { Query } from "../http";
import { live } from "../live.svelte";
import { outbox, type Ticket } from "./outbox";
import { toasts } from "../toasts.svelte";
import type { ItemProposals, Proposal } from "../types";

const PIECE = 10;

/** The list without an item, whichever answer of the server it came with. */
const without = (list: ItemProposals[], { item }: ItemProposals): ItemProposals[] => list.filter((one) => one.item.id !== item.id);

interface Given {
  item: ItemProposals;
  tickets: Ticket[];
}

export class ItemQueue {
  waiting: ItemProposals[] = $state.raw([]);
  total = $state(0);
  error: string | null = $state(null);
  loaded = $state(false);
  #query: Query;
  #gone = new Set<number>();
  #given: Given[] = $state.raw([]);
  #returning: ItemProposals[] = []; // being taken back: the server may not know yet, and they stay in front
  #skipped = 0;
  #round = 0;
  readonly canUndo = $derived(this.#given.length > 0);

  constructor(query: Query) {
    this.#query = query;
  }

  async refresh(): Promise<void> {
    const round = ++this.#round;
    try {
      await outbox.flush();
      const answer = await api.itemProposals({ ...this.#query, offset: 0, limit: Math.min(50, PIECE + this.#skipped) });
      if (round !== this.#round) return;
      const current = this.waiting[0];
      const fresh = answer.items.filter((one) => !this.#gone.has(one.item.id));
      const held = current && [...fresh, ...this.#returning].find((one) => one.item.id === current.item.id);
      this.waiting = held ? [held, ...without(fresh, held)] : fresh;
      this.total = answer.total;
      this.error = null;
    } catch (problem) {
      if (round === this.#round) this.error = problem instanceof Error ? problem.message : String(problem);
    }
    this.loaded = true;
  }

  #drop(item: ItemProposals): void {
    this.#gone.add(item.item.id);
    this.waiting = without(this.waiting, item);
    if (this.waiting.length < 4) void this.refresh();
  }

  skip(): void {
    const first = this.waiting[0];
    if (!first) return;
    this.#skipped += 1;
    this.#drop(first);
  }

  /** Yes to some of the item in front, no to others; what is in neither stays open. */
  answer(yes: Proposal[], no: Proposal[]): void {
    const item = this.waiting[0];
    if (!item) return;
    const sides: [Proposal[], boolean][] = [[yes, true], [no, false]];
    const tickets = sides.flatMap(([list, answer]) => (list.length ? [outbox.answer(list.map(({ item, tag }) => ({ item, tag })), answer)] : []));
    if (!tickets.length) return this.skip();
    this.#given = [...this.#given, { item, tickets }];
    this.total = Math.max(0, this.total - 1);
    this.#drop(item);
    void Promise.all(tickets.map((one) => one.outcome)).then(
      (outcomes) => {
        const told = outcomes.filter((one) => one !== null);
        if (told.length) toasts.say(told.map((one) => one.summary).join("; "), { slot: "review" });
        void live.poll();
      },
      (problem: unknown) => {
        this.#putBack(item);
        this.#given = this.#given.filter((one) => one.tickets !== tickets);
        toasts.fail(problem);
      },
    );
  }

  #putBack(item: ItemProposals): void {
    this.#gone.delete(item.item.id);
    this.waiting = [item, ...without(this.waiting, item)];
    this.total += 1;
  }

  async undo(): Promise<void> {
    const last = this.#given.at(-1);
    if (!last) return;
    this.#given = this.#given.slice(0, -1);
    this.#returning = [...this.#returning, last.item];
    this.#putBack(last.item);
    try {
      await Promise.all([...last.tickets].reverse().map((one) => outbox.takeBack(one)));
      toasts.say("Undone.", { slot: "review" });
    } catch (problem) {
      toasts.fail(problem);
    }
    void live.poll();
    await this.refresh();
    this.#returning = this.#returning.filter((one) => one !== last.item);
  }
}
