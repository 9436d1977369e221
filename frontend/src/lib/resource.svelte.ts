/** Something the server knows, asked again when the collection or what the question reads has changed. */

import { live } from "./live.svelte";

export class Resource<T> {
  data: T | null = $state.raw(null);
  error: string | null = $state(null);
  loading = $state(true);
}

/** Call while a component is set up. What `load` reads before it first waits decides when it runs again. */
export function resource<T>(load: (signal: AbortSignal) => Promise<T> | null): Resource<T> {
  const result = new Resource<T>();
  $effect(() => {
    void live.changes;
    const stop = new AbortController();
    const answer = load(stop.signal);
    if (answer === null) {
      result.error = null; // of a question that is asked no more
      result.loading = false;
      return;
    }
    result.loading = true;
    answer.then(
      (data) => {
        if (stop.signal.aborted) return;
        result.data = data;
        result.error = null;
        result.loading = false;
      },
      (problem: unknown) => {
        if (stop.signal.aborted) return;
        result.error = problem instanceof Error ? problem.message : String(problem);
        result.loading = false;
      },
    );
    return () => stop.abort();
  });
  return result;
}
