/** The first screen's questions, asked before anything else here is read: their answers come while the page is made. */

/** Addresses as `lib/http.ts` makes them. */
const FIRST = ["./api/state", "./api/clusters?sort=best"];
const isFirstScreen = /^(#\/?(clusters)?)?$/.test(location.hash);

const asked = new Map<string, Promise<Response>>();
if (window.MANYVIEW_SITE === undefined && isFirstScreen) {
  for (const url of FIRST) {
    const answer = fetch(url, { credentials: "same-origin" });
    answer.catch(() => {}); // whoever takes it hears of it
    asked.set(url, answer);
  }
}

/** The answer to a question that was asked early, once: whoever asks again wants to know what is true by now. */
export function early(url: string): Promise<Response> | undefined {
  const answer = asked.get(url);
  asked.delete(url);
  return answer;
}
