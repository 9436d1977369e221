/** Changes a person makes: done at the server, told in a toast with the way back, seen by every page. */

import { api } from "./api";
import { sentAfter } from "./http";
import { live } from "./live.svelte";
import { outbox } from "./review/outbox";
import { toasts, type Toast } from "./toasts.svelte";
import type { Changed } from "./types";
import { working } from "./working.svelte";

let last: Promise<unknown> = Promise.resolve();

/** One change after another, as they were made: what is undone next is then what was done last. */
function inOrder<T>(call: () => Promise<T>): Promise<T> {
  const mine = sentAfter(last, call);
  last = mine.catch(() => undefined);
  return mine;
}

/** For what does something else the second time: neither the other click of a double click counts, nor one before it is done. */
export function once(run: () => Promise<unknown>): (event?: Event) => Promise<void> {
  let busy = false;
  return async (event) => {
    event?.preventDefault();
    if (busy || (event instanceof UIEvent && event.detail > 1)) return;
    busy = true;
    try {
      await run();
    } finally {
      busy = false;
    }
  };
}

/** Run a change; null where it was refused, after saying why. */
export async function change<T extends Changed>(call: () => Promise<T>, next?: Toast["action"], slot?: string): Promise<T | null> {
  try {
    const answer = await working.during(() => inOrder(call));
    toasts.say(answer.summary, { entry: answer.entry, ...(next ? { action: next } : {}), ...(slot ? { slot } : {}) });
    void live.poll();
    return answer;
  } catch (problem) {
    toasts.fail(problem);
    void live.poll();
    return null;
  }
}

export async function undo(entry: number | null = null): Promise<boolean> {
  try {
    const before = last;
    const answer = await working.during(() => inOrder(async () => {
      await before;
      await outbox.flush();
      return api.undo(entry);
    }));
    toasts.undone(answer.undoes);
    toasts.say(answer.summary);
    void live.poll();
    return true;
  } catch (problem) {
    toasts.fail(problem);
    return false;
  }
}
