/** Items of the exported site: lists, facets, the map's colours and the movers between two runs. */

import type { Query } from "../http";
import { formatQuery, tagQuery, type Term } from "../query";
import { load } from "./site";
import { searchAll, type Answer, type Hit, type Looks } from "./site-looks";
import { fold, isWords, matcher, readTerms, treeOf, type Beside, type Row } from "./site-search";
import type { ClusterList, Facets, FoundItem, ItemList, SearchAnswer } from "../types";

/** An open proposal: item, tag, score, probability, worth asking? trusted? how sure, sentence, and parts of the reason. */
export type Waiting = [number, string, number, number | null, boolean, boolean, string, string, Told];
/** How it is alike, to which items; tags it goes with, on so many of so many items; tags against it; likeness first? */
type Told = [string, number[], string[], number, number, string[], boolean];
/** Where a run puts each item: now, and as it found them where a person has changed that since. */
interface Places {
  now: number[];
  found: number[] | null;
}

const LOW = 0.4;
const FACETS = 100;

/** Files that are cut by cluster: that of one cluster (or of `none`), or all of them. */
export async function byCluster<T>(kind: string, cluster: unknown = null): Promise<T[]> {
  const list = await load<ClusterList>("clusters");
  const known = [...list.clusters.map((one) => `c${one.id}`), "none"];
  const wanted = cluster ? [cluster === "none" ? "none" : `c${cluster}`] : known;
  return Promise.all(wanted.filter((one) => known.includes(one)).map((one) => load<T>(`${kind}-${one}`)));
}

/** Rows of one cluster or of all, in order of arrival. */
export async function rowsOf(cluster: unknown = null): Promise<Row[]> {
  const parts = await byCluster<{ items: Row[] }>("items", cluster);
  return parts.flatMap((part) => part.items).sort((a, b) => a.id - b.id);
}

/** What a search asks for beyond the rows. */
async function besideOf(terms: Term[], cluster: unknown = null): Promise<Beside> {
  const texts = terms.some(isWords) ? await byCluster<Record<string, string>>("texts", cluster) : [];
  const waiting = terms.some((term) => term.field === "proposed") ? await byCluster<Waiting[]>("proposals", cluster) : [];
  const proposed = new Map<string, Set<number>>();
  for (const [item, tag] of waiting.flat()) proposed.set(fold(tag), (proposed.get(fold(tag)) ?? new Set()).add(item));
  const told = texts.flatMap((part) => Object.entries(part).map(([id, text]): [number, string] => [Number(id), text]));
  const below = treeOf(terms.some((term) => term.field === "tag") ? await load<string[][]>("paths") : []);
  return { texts: new Map(told), proposed, below };
}

async function matching(q: string, cluster: unknown = null): Promise<Row[]> {
  const terms = readTerms(q);
  return (await rowsOf(cluster)).filter(matcher(terms, await besideOf(terms, cluster)));
}

async function sorted(rows: Row[], sort: unknown): Promise<Row[]> {
  if (sort === "confidence") return rows.sort((a, b) => (a.confidence ?? 2) - (b.confidence ?? 2));
  if (sort === "date" || sort === "newest") {
    const way = sort === "date" ? 1 : -1; // what has no date comes last
    return rows.sort((a, b) => (a.taken && b.taken ? way * inOrder(a.taken, b.taken) : Number(!a.taken) - Number(!b.taken)));
  }
  if (sort === "name") {
    const names = new Map(rows.map((row) => [row.id, fold(row.key)]));
    return rows.sort((a, b) => inOrder(names.get(a.id)!, names.get(b.id)!));
  }
  if (sort !== "typical") return rows;
  const place = new Map((await load<number[]>("typical")).map((id, at) => [id, at]));
  return rows.sort((a, b) => place.get(a.id)! - place.get(b.id)!);
}

export const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A list is asked for piece by piece: the last one found is kept. */
let kept: { asked: string; rows: Promise<Row[]> } | null = null;

export function listed(query: Query): Promise<Row[]> {
  const { q, cluster, sort } = query;
  const asked = JSON.stringify([q, cluster, sort]);
  if (kept?.asked === asked) return kept.rows;
  const rows = matching(String(q ?? ""), cluster).then((found) => sorted(found, sort));
  kept = { asked, rows };
  rows.catch(() => (kept = null));
  return rows;
}

function pageOf(rows: Row[], query: Query): ItemList {
  const offset = Number(query["offset"] ?? 0);
  const items = rows.slice(offset, offset + Number(query["limit"] ?? 100));
  return { total: rows.length, offset, items, query: String(query["q"] ?? ""), command: "" };
}

export async function items(query: Query): Promise<ItemList> {
  return pageOf(await listed(query), query);
}

/** One search for tags, words and what pictures show, as far as this copy has words for that. */
let answered: { asked: string; answer: Promise<Answer & { rows: Map<number, Row> }> } | null = null;

function searched(q: string): NonNullable<typeof answered>["answer"] {
  if (answered?.asked === q) return answered.answer;
  const answer = search(q);
  answered = { asked: q, answer };
  answer.catch(() => (answered = null));
  return answer;
}

async function search(q: string) {
  const [looks, all, beside] = await Promise.all([load<Looks>("looks"), rowsOf(), besideOf(readTerms(q))]);
  return { ...searchAll(q, all, beside, looks), rows: new Map(all.map((row) => [row.id, row])) };
}

async function hitsOf(query: Query) {
  const answer = await searched(String(query["q"] ?? ""));
  const hits = query["more"] ? [...answer.hits, ...answer.more] : answer.hits;
  if ((query["sort"] ?? "best") === "best") return { answer, hits };
  const by = new Map(hits.map((hit) => [hit.item, hit]));
  const inOrderOfArrival = [...by.keys()].sort((a, b) => a - b);
  return { answer, hits: (await sorted(inOrderOfArrival.map((item) => answer.rows.get(item)!), query["sort"])).map((row) => by.get(row.id)!) };
}

export async function searchPage(query: Query): Promise<SearchAnswer> {
  const { answer, hits } = await hitsOf(query);
  const { seen, sentence, vocabulary, more, rows } = answer;
  const offset = Number(query["offset"] ?? 0);
  const told = (hit: Hit): FoundItem => ({ ...rows.get(hit.item)!, how: hit.how, score: hit.score });
  const items = hits.slice(offset, offset + Number(query["limit"] ?? 100)).map(told);
  return { total: hits.length, offset, items, query: formatQuery(readTerms(String(query["q"] ?? ""))), command: "", seen, sentence, vocabulary, n_more: query["more"] ? 0 : more.length };
}

/** Rows of such a search, for tables. */
export async function searchedRows(query: Query): Promise<Row[]> {
  const { answer, hits } = await hitsOf(query);
  return hits.map((hit) => answer.rows.get(hit.item)!);
}

export async function facets(query: Query): Promise<Facets> {
  const list = await load<ClusterList>("clusters");
  const rows = await searchedRows({ q: query["q"], more: query["more"] });
  const count = <K>(keys: (row: Row) => K[]): Map<K, number> => {
    const counts = new Map<K, number>();
    for (const row of rows) for (const key of keys(row)) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  };
  const named = (counts: Map<string, number>) =>
    [...counts].map(([name, n]) => ({ name, count: n })).sort((a, b) => inOrder(fold(a.name), fold(b.name)));
  const placed = count((row) => (row.cluster === null ? [] : [row.cluster]));
  const clusters = list.clusters.flatMap(({ id, name, is_guess }) => (placed.has(id) ? [{ id, name, is_guess, count: placed.get(id)! }] : []));
  const most = (a: { count: number }, b: { count: number }): number => b.count - a.count;
  const paths = (await load<string[][]>("paths")).filter((path) => path.length > 1);
  return {
    total: rows.length,
    tree: treeCounts(paths, rows),
    years: named(count((row) => (row.taken ? [row.taken.slice(0, 4)] : []))),
    cameras: named(count((row) => (row.camera ? [row.camera] : []))).sort(most).slice(0, FACETS),
    tags: named(count((row) => row.tags)).sort(most).slice(0, FACETS),
    clusters: clusters.sort((a, b) => most(a, b) || a.id - b.id),
    kinds: named(count((row) => [row.kind])),
    untagged: rows.filter((row) => row.n_tags === 0).length,
    low_confidence: rows.filter((row) => row.confidence !== null && row.confidence < LOW).length,
    unplaced: rows.filter((row) => row.cluster === null).length,
  };
}

/** The words of the tree that some rows have, or have something below of, from the top. */
function treeCounts(paths: string[][], rows: Row[]): Facets["tree"] {
  const below = treeOf(paths);
  const places = new Map<string, string[]>();
  for (const path of paths) path.forEach((_, at) => places.set(JSON.stringify(path.slice(0, at + 1).map(fold)), path.slice(0, at + 1)));
  const having = rows.map((row) => new Set(row.tags.map(fold)));
  const order = [...places].map(([key, path]) => ({ keys: JSON.parse(key) as string[], path }));
  order.sort((a, b) => {
    const at = a.keys.findIndex((word, n) => word !== b.keys[n]);
    return at < 0 ? a.keys.length - b.keys.length : b.keys[at] === undefined ? 1 : inOrder(a.keys[at]!, b.keys[at]);
  });
  return order.flatMap(({ keys, path }) => {
    const word = keys[keys.length - 1]!;
    const wanted = [word, ...(below.get(word) ?? [])];
    const n = having.filter((tags) => wanted.some((one) => tags.has(one))).length;
    return n ? [{ name: path[path.length - 1]!, depth: path.length - 1, count: n }] : [];
  });
}

/** Items of a band between two runs; `none` is no cluster. */
export async function movers(query: Query): Promise<ItemList> {
  const sides = [[query["first"], query["from"]], [query["second"], query["to"]]] as const;
  const rows = await rowsOf();
  const keep = new Uint8Array(rows.length).fill(1);
  for (const [run, cluster] of sides) {
    const places = await load<Places>(`places-${run}`);
    const wanted = cluster === "none" ? -1 : Number(cluster);
    (places.found ?? places.now).forEach((place, at) => { if (place !== wanted) keep[at] = 0; });
  }
  const run = query["second"];
  const now = (await load<Places>(`places-${run}`)).now;
  const names = new Map((await load<ClusterList>(`clusters-of-${run}`)).clusters.map((one) => [one.id, one.name]));
  const found = rows.flatMap((row, at) =>
    keep[at] ? [{ ...row, cluster: now[at]! < 0 ? null : now[at]!, cluster_name: names.get(now[at]!) ?? null, confidence: null }] : [],
  );
  return pageOf(found, query);
}

/** The bytes of the map's points. */
export async function points(): Promise<ArrayBuffer> {
  const { base64 } = await load<{ base64: string }>("map-points");
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer;
}

/** Another colour for the points: 1 where the item has the tag, or its cluster in another run. */
export async function colours(query: Query): Promise<Int32Array> {
  const bytes = await points();
  const ids = new Int32Array(bytes, 4, new DataView(bytes).getInt32(0, true));
  if (query["by"] === "tag") {
    const having = new Set((await matching(tagQuery(String(query["tag"])))).map((row) => row.id));
    return ids.map((id) => (having.has(id) ? 1 : 0));
  }
  const [all, places] = await Promise.all([load<number[]>("ids"), load<Places>(`places-${query["of"]}`)]);
  const at = new Map(all.map((id, n) => [id, places.now[n]!]));
  return ids.map((id) => at.get(id) ?? -1);
}
