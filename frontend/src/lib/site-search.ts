/**
 * The search language over rows, for the exported site. The server's is `workflow/reading/search.py`; both answer the
 * questions of `tests/search.json` alike.
 */

import { parseQuery, type Term } from "./query";
import type { ItemRow } from "./types";

export type Row = ItemRow & { tags: string[] };

/** What a search asks for beyond the rows; read only where a term needs it. */
export interface Beside {
  texts: Map<number, string>;
  proposed: Map<string, Set<number>>;
}

const FIELDS = ["tag", "cluster", "kind", "name", "proposed", "id"];
const FLAGS = new Map<string, (row: Row) => boolean>([
  ["untagged", (row) => row.n_tags === 0],
  ["tagged", (row) => row.n_tags > 0],
  ["unplaced", (row) => row.cluster === null],
]);
const EQUAL = 1e-5; // nearer than people write numbers
const COMPARE: Record<string, (difference: number) => boolean> = {
  "<": (difference) => difference <= -EQUAL,
  ">": (difference) => difference >= EQUAL,
  "<=": (difference) => difference < EQUAL,
  ">=": (difference) => difference > -EQUAL,
  "=": (difference) => Math.abs(difference) < EQUAL,
};
const MOST_TERMS = 50;
const UNSPACED = /[\u2e80-\uffff]/; // scripts without spaces between words

/** What two spellings have in common. */
export function fold(text: string): string {
  return text.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/** A text as its words, each with a space in front, so that words are found from their beginning. */
function spaced(text: string): string {
  const plain = fold(text).normalize("NFD").replace(/\p{M}/gu, "");
  return plain.split(/[^\p{L}\p{N}]+/u).map((word) => (word ? ` ${word}` : "")).join("");
}

/** The terms of a search, or a sentence about what is wrong with it. */
export function readTerms(text: string): Term[] {
  const terms = parseQuery(text).map((term) => {
    if (term.field === "" || term.field.startsWith("confidence") || FIELDS.includes(term.field)) return term;
    return { field: "", value: `${term.field}:${term.value}`, negated: term.negated };
  });
  if (terms.length > MOST_TERMS) {
    throw new Error(`a search takes at most ${MOST_TERMS} parts; this one has ${terms.length}.`);
  }
  for (const { field, value } of terms) {
    if (field.startsWith("confidence") && (value.length > 20 || !/^(\d+(\.\d*)?|\.\d+)$/.test(value))) {
      throw new Error(`confidence is compared with a number, such as confidence<0.4; got '${value}'.`);
    }
    if (field === "id" && !/^\d{1,15}(,\d{1,15})*$/.test(value)) {
      throw new Error(`id takes numbers of items with commas between them, such as id:3,5; got '${value}'.`);
    }
  }
  return terms.filter((term) => term.value !== "");
}

/** Is this a term of free words, which are looked for in texts too? */
export function isWords(term: Term): boolean {
  return term.field === "" && flagOf(term) === undefined;
}

function flagOf({ field, value, quoted }: Term): ((row: Row) => boolean) | undefined {
  return field === "" && !quoted ? FLAGS.get(value.toLowerCase()) : undefined;
}

/** A filter over rows. */
export function matcher(terms: Term[], beside: Beside): (row: Row) => boolean {
  const tests = terms.map((term) => ({ negated: term.negated, test: testOf(term, beside) }));
  return (row) => tests.every(({ negated, test }) => test(row) !== negated);
}

function testOf(term: Term, { texts, proposed }: Beside): (row: Row) => boolean {
  const { field, value } = term;
  const wanted = fold(value);
  if (field === "tag") return (row) => row.tags.some((tag) => fold(tag) === wanted);
  if (field === "kind") return (row) => row.kind === value.toLowerCase();
  if (field === "proposed") return (row) => proposed.get(wanted)?.has(row.id) ?? false;
  if (field === "id") {
    const ids = new Set(value.split(",").map(Number));
    return (row) => ids.has(row.id);
  }
  if (field === "cluster") {
    const id = /^\d+$/.test(value) ? Number(value) : null;
    return (row) => row.cluster !== null && (id === null ? fold(row.cluster_name ?? "") === wanted : row.cluster === id);
  }
  if (field.startsWith("confidence")) {
    const compare = COMPARE[field.slice("confidence".length)]!;
    return (row) => row.confidence !== null && compare(row.confidence - Number(value));
  }
  const flag = flagOf(term);
  if (flag) return flag;
  const words = spaced(value);
  const whole = UNSPACED.test(value) || !/[\p{L}\p{N}_]/u.test(value);
  const inside = (text: string): boolean => (whole ? text.includes(value) : words !== "" && spaced(text).includes(words));
  if (field === "name") return (row) => inside(row.key);
  return (row) => inside(row.key) || inside(texts.get(row.id) ?? "") || row.tags.some((tag) => fold(tag).includes(wanted));
}
