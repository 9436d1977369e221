/** The first screen's questions, asked before anything else here is read: their answers come while the page is made. */

/** Addresses as `lib/http.ts` makes them. */
export const STATE = "./api/state";
const FIRST = "./api/clusters?sort=best";
const isFirstScreen = /^(#\/?(clusters)?)?$/.test(location.hash);

const asked = new Map<string, Promise<Response>>();
if (window.MANYVIEW_SITE === undefined && isFirstScreen) {
  const get = (url: string): Promise<Response> => fetch(url, { credentials: "same-origin" });
  const state = get(STATE);
  asked.set(STATE, state).set(FIRST, state.then(() => get(FIRST))); // the state first, as `lib/http.ts` has it
  for (const answer of asked.values()) answer.catch(() => {}); // whoever takes it hears of it
}

/** The answer to a question that was asked early, once: whoever asks again wants to know what is true by now. */
export function early(url: string): Promise<Response> | undefined {
  const answer = asked.get(url);
  asked.delete(url);
  return answer;
}
