/** "More like these" as a part of a search: `like:3,5`, or `like:3,5,99.9%` for how much alike. */

import { formatQuery, parseQuery, type Term } from "./query";
import { href } from "./router.svelte";

const MOST = 300; // an address has to stay an address

const isLike = (term: Term): boolean => term.field === "like" && !term.negated;

/** The address of what is like some items; of very many, some spread evenly stand for all. */
export function likeAddress(ids: number[]): string {
  const step = Math.max(1, Math.ceil(ids.length / MOST));
  return href("search", null, { q: `like:${ids.filter((_, at) => at % step === 0).join(",")}` });
}

/** The items that a search wants others to be like; null where it does not. */
export function likeOf(q: string): number[] | null {
  const value = parseQuery(q).find(isLike)?.value;
  return value === undefined ? null : value.split(",").filter((part) => /^\d+$/.test(part)).map(Number);
}

/** The same search with other items, or another share of pairs that have to be less alike. */
export function withLike(q: string, ids: number[], least: number): string {
  const value = [...ids, `${Number((100 * least).toFixed(6))}%`].join(",");
  const terms = parseQuery(q).map((term) => (isLike(term) ? { ...term, value } : term));
  return formatQuery(ids.length ? terms : terms.filter((term) => !isLike(term)));
}

/** In a word or three, how much alike that is. */
export function inWords(least: number): string {
  return least >= 0.9995 ? "almost the same" : least >= 0.995 ? "very alike" : least >= 0.98 ? "alike" : "somewhat alike";
}

/** How much alike one item is, rounded down; hundredths tell something only near the top. */
export const likePercent = (score: number): string => (score >= 0.99 ? `${(Math.floor(1e4 * score) / 100).toFixed(2)} %` : `${Math.floor(100 * score)} %`);

/** A share in per cent, with as many digits as it takes. */
export const share = (of: number): string => `${Number((100 * of).toFixed(2))}\u00a0%`;
