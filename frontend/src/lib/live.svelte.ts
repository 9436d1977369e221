/** What the server says about the collection right now. Pages ask again when `changes` moves. */

import { api } from "./api";
import { Offline } from "./http";
import { outbox } from "./review/outbox";
import { site } from "./site/site";
import type { CollectionState, Job } from "./types";

const EVERY = 1500;

class Live {
  state: CollectionState | null = $state.raw(null);
  offline = $state(false);
  error: string | null = $state(null);
  /** How often the collection has changed, or come back, since the page was opened. */
  changes = $state(0);
  /** Open proposals, moved at once by a decision and set right by its answer. */
  nOpen = $state(0);
  #deciding = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  readonly canWrite = $derived(!site && this.state?.can_write === true);
  /** A copy, or a gallery for looking: nothing here is for the reader to do. Not before that is known. */
  readonly onlyLooks = $derived(site || this.state?.can_write === false);
  readonly jobs: Job[] = $derived(this.state?.jobs ?? []);
  readonly busy: Job | null = $derived(this.jobs.find((job) => job.state === "running" || job.state === "waiting") ?? null);

  start(): void {
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) void this.poll();
    });
    outbox.ontaken = () => void this.poll();
    void this.poll();
  }

  /**
   * Ask now, or right after the question that is on its way: two at once could be answered in the wrong order. The
   * next question follows by itself while the page is looked at.
   */
  poll(): Promise<void> {
    this.#next ??= Promise.resolve(this.#asking).then(() => {
      this.#next = null;
      return (this.#asking = this.#ask());
    });
    return this.#next;
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const state = await api.state();
      if (this.error !== null || (this.state && this.state.version !== state.version)) this.changes += 1;
      this.state = state;
      if (this.canWrite) outbox.open(state.collection.id);
      this.offline = false;
      this.error = null;
      if (this.#deciding === 0) this.nOpen = state.n_open;
    } catch (problem) {
      this.offline = problem instanceof Offline;
      this.error = problem instanceof Error ? problem.message : String(problem);
    }
    if (!site) this.#timer = setTimeout(() => document.hidden || void this.poll(), this.offline ? EVERY * 2 : EVERY);
  }

  /** Count decisions at once; what comes back is called with the server's count, or with null where it refused. */
  counting(n: number): (nOpen: number | null) => void {
    this.#deciding += 1;
    this.nOpen -= n;
    return (nOpen) => {
      this.#deciding -= 1;
      if (nOpen === null) this.nOpen += n;
      else if (this.#deciding === 0) this.nOpen = nOpen;
    };
  }
}

export const live = new Live();
