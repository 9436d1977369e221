/**
 * What pictures show, for the words an exported site knows, and the answer of one search for tags, words and that. The
 * server's is `workflow/reading/content.py`; both answer the questions about pictures of `tests/search.json` alike.
 */

import { fold, isWords, matcher, readTerms, type Beside, type Row } from "./site-search";

/** Mean of the five best scores; items, the best first, as far as they are kept; their scores in thousandths. */
type Kept = [number, number[], number[]];

export interface Looks {
  best: number; // pictures whose mean score decides
  plain: number; // how far above likely those have to be for a plain answer
  fewest: number; // pictures that an answer shows at least
  likely: number;
  words: Record<string, number>;
  found: Kept[];
}

export interface Hit {
  item: number;
  how: "tag" | "words" | "looks";
  score: number | null;
}

export interface Answer {
  hits: Hit[];
  more: Hit[];
  seen: "plain" | "weak" | "none" | null;
  sentence: string;
  vocabulary: number | null; // words that pictures can be asked for, where this search was of none of them
}

interface Ranking {
  items: number[];
  scores: number[];
  shown: number;
  seen: "plain" | "weak" | "none";
}

/** The ranking of a word among the items that the other parts of a search leave; null where the word is not known. */
function ranked(looks: Looks, word: string, left: Set<number> | null): Ranking | null {
  const number = Object.hasOwn(looks.words, word) ? looks.words[word]! : null;
  const kept = number === null ? undefined : looks.found[number];
  if (!kept) return null;
  const [whole, items, thousandths] = kept;
  const pairs = items.map((item, at): [number, number] => [item, thousandths[at]! / 1000]).filter(([item]) => left === null || left.has(item));
  if (!pairs.length && left !== null) return null;
  const scores = pairs.map(([, score]) => score);
  const top = [...scores].sort((a, b) => b - a).slice(0, looks.best);
  const mean = left === null ? whole : top.reduce((sum, one) => sum + one, 0) / Math.max(1, top.length);
  const shown = Math.min(pairs.length, Math.max(looks.fewest, scores.filter((score) => score >= looks.likely).length));
  const seen = mean >= looks.likely + looks.plain ? "plain" : mean >= looks.likely ? "weak" : "none";
  return { items: pairs.map(([item]) => item), scores, shown, seen };
}

function sentenceOf(seen: "plain" | "weak" | "none", nSaid: number, nSeen: number): string {
  const said = nSaid ? `${nSaid} by tags, names and texts` : "";
  if (seen === "none") return said ? `${said}; nothing else here seems to show that.` : "Nothing here seems to show that.";
  const shown = `${nSeen} that seem to show it${seen === "weak" ? ", though not clearly" : ""}`;
  return said ? `${said}, and ${shown}.` : `${shown}.`;
}

/** Tags first, then words, then what is seen. `found` are the items that words find, `tagged` those with the very tag. */
function answerOf(looks: Looks, word: string, found: number[], tagged: Set<number>, left: Set<number> | null): Answer {
  const ranking = word ? ranked(looks, word, left) : null;
  const scores = new Map(ranking?.items.map((item, at) => [item, ranking.scores[at]!]));
  const first = [...found.filter((item) => tagged.has(item)), ...found.filter((item) => !tagged.has(item))];
  const hits = first.map((item): Hit => ({ item, how: tagged.has(item) ? "tag" : "words", score: scores.get(item) ?? null }));
  if (!ranking) return { hits, more: [], seen: null, sentence: hits.length ? "" : "Nothing was found.", vocabulary: word && looks.found.length && (left === null || left.size) ? looks.found.length : null };
  const known = new Set(first);
  const rest = ranking.items.filter((item) => !known.has(item)).map((item): Hit => ({ item, how: "looks", score: scores.get(item)! }));
  const shown = ranking.seen === "none" ? 0 : ranking.items.slice(0, ranking.shown).filter((item) => !known.has(item)).length;
  return { hits: [...hits, ...rest.slice(0, shown)], more: rest.slice(shown), seen: ranking.seen, sentence: sentenceOf(ranking.seen, hits.length, shown), vocabulary: null };
}

/** One search over rows. */
export function searchAll(q: string, rows: Row[], beside: Beside, looks: Looks): Answer {
  const terms = readTerms(q);
  const free = terms.filter((term) => isWords(term) && !term.negated);
  const asked = fold(free.map((term) => term.value).join(" "));
  const rest = terms.filter((term) => !free.includes(term));
  const found = rows.filter(matcher(terms, beside)).map((row) => row.id);
  const left = rest.length ? new Set(rows.filter(matcher(rest, beside)).map((row) => row.id)) : null;
  const tagged = rows.filter((row) => asked !== "" && row.tags.some((tag) => fold(tag) === asked)).map((row) => row.id);
  return answerOf(looks, asked, found, new Set(tagged), left);
}
