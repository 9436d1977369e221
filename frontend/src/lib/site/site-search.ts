/**
 * The search language over rows, for the exported site, without `like:`. The server's is `workflow/reading/search.py`; both
 * answer the questions of `tests/search.json` alike.
 */

import { parseQuery, type Term } from "../query";
import type { ItemRow } from "../types";

/** A row with its tags, and when, with what and where it was taken; the place only where it was exported. */
export type Row = ItemRow & { tags: string[]; taken?: string; camera?: string; lens?: string; place?: [number, number] | null };

/** What a search asks for beyond the rows; read only where a term needs it. */
export interface Beside {
  texts: Map<number, string>;
  proposed: Map<string, Set<number>>;
  below: Map<string, Set<string>>; // word -> the words that stand below it, all of them folded
}

/** What stands below each word, by the paths of tags. */
export function treeOf(paths: string[][]): Map<string, Set<string>> {
  const below = new Map<string, Set<string>>();
  for (const path of paths.map((words) => words.map(fold))) {
    path.forEach((word, at) => path.slice(at + 1).forEach((lower) => below.set(word, (below.get(word) ?? new Set()).add(lower))));
  }
  return below;
}

const FIELDS = ["tag", "cluster", "kind", "name", "proposed", "id", "date", "camera", "lens", "near", "like"];
const DAY = String.raw`[0-9]{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12][0-9]|3[01]))?)?`;
const DATES = new RegExp(`^(?:(${DAY})|(${DAY})?\\.\\.(${DAY})?)$`);
const PLACE = /^(-?\d{1,2}(?:\.\d*)?),(-?\d{1,3}(?:\.\d*)?),(\d{1,5}(?:\.\d*)?)(km|m)$/;
const EARTH = 6371.0088; // its mean radius in kilometres
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
    if (field === "like") throw new Error("This copy does not know what is alike; the gallery that `manyview serve` opens does.");
    if (field.startsWith("confidence") && (value.length > 20 || !/^(\d+(\.\d*)?|\.\d+)$/.test(value))) {
      throw new Error(`confidence is compared with a number, such as confidence<0.4; got '${value}'.`);
    }
    if (field === "id" && !/^\d{1,15}(,\d{1,15})*$/.test(value)) {
      throw new Error(`id takes numbers of items with commas between them, such as id:3,5; got '${value}'.`);
    }
    if (field === "date" && (!DATES.test(value) || value === "..")) {
      throw new Error(`date takes a year, month or day, or two with .. between them, such as date:2019-06..2019-08; got '${value}'.`);
    }
    if (field === "near" && !PLACE.test(value)) {
      throw new Error(`near takes latitude, longitude and a distance in km or m, such as near:48.1,11.6,5km; got '${value}'.`);
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

/** Dates begin with the year, so that they are compared as texts, as far as the asked one goes. */
function byDate(value: string): (row: Row) => boolean {
  const [, one, from, to] = DATES.exec(value)!;
  const [first = "", last = ""] = [one ?? from, one ?? to];
  return ({ taken = "" }) => {
    const begun = taken.slice(0, last.length); // "2019" may be later than "2019-06"
    return taken !== "" && taken.slice(0, first.length) >= first && begun <= last && (begun.length === last.length || !last.startsWith(begun));
  };
}

/** By the haversine: the great circle between two points. */
function byPlace(value: string): (row: Row) => boolean {
  const [, latitude, longitude, far, unit] = PLACE.exec(value)!;
  const reach = Number(far) / (unit === "km" ? 1 : 1000);
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  return ({ place }) => {
    if (!place) return false;
    const [here, there] = [radians(Number(latitude)), radians(place[0])];
    const half = Math.sin((there - here) / 2) ** 2 + Math.cos(here) * Math.cos(there) * Math.sin(radians(place[1] - Number(longitude)) / 2) ** 2;
    return 2 * EARTH * Math.asin(Math.sqrt(Math.min(1, half))) <= reach;
  };
}

function testOf(term: Term, { texts, proposed, below }: Beside): (row: Row) => boolean {
  const { field, value } = term;
  const wanted = fold(value);
  if (field === "tag") {
    const lower = below.get(wanted);
    return (row) => row.tags.map(fold).some((tag) => tag === wanted || lower?.has(tag));
  }
  if (field === "date") return byDate(value);
  if (field === "near") return byPlace(value);
  if (field === "camera" || field === "lens") return (row) => fold(row[field] ?? "").includes(wanted);
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
