/** Changes a person makes: done at the server, told in a toast with the way back, seen by every page. */

import { api } from "./api";
import { live } from "./live.svelte";
import { toasts, type Toast } from "./toasts.svelte";
import type { Changed } from "./types";
import { working } from "./working.svelte";

/** Run a change; null where it was refused, after saying why. */
export async function change<T extends Changed>(call: () => Promise<T>, next?: Toast["action"], slot?: string): Promise<T | null> {
  try {
    const answer = await working.during(call);
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
    const answer = await working.during(() => api.undo(entry));
    toasts.say(answer.summary);
    void live.poll();
    return true;
  } catch (problem) {
    toasts.fail(problem);
    return false;
  }
}
