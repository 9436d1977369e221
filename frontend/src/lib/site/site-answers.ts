/** What the exported site answers where the gallery would ask its server. */

import type { Query } from "../http";
import { load } from "./site";
import { byCluster, facets, inOrder, items, movers, rowsOf, searchPage, type Waiting } from "./site-items";
import { fold } from "./site-search";
import type { ClusterList, ClusterRow, Comparison, HistoryList, ItemDetail, Proposal, ProposalList, TagList } from "../types";

const ITEMS_IN_A_FILE = 100;

function piece<T>(all: T[], query: Query, limit: number): T[] {
  const offset = Number(query["offset"] ?? 0);
  return all.slice(offset, offset + Number(query["limit"] ?? limit));
}

async function clusters(query: Query): Promise<ClusterList> {
  const run = query["run"];
  const answer = await load<ClusterList>(run ? `clusters-of-${run}` : "clusters");
  const words = fold(String(query["text"] ?? "")).split(/\s+/);
  const tag = fold(String(query["tag"] ?? ""));
  const wanted = (row: ClusterRow): boolean => {
    const tags = row.tags.map((one) => fold(one.name));
    const text = [fold(row.name), ...tags].join(" ");
    return words.every((word) => text.includes(word)) && (!tag || tags.includes(tag)) && (!query["pinned"] || row.is_pinned);
  };
  const rows = answer.clusters.filter(wanted);
  const sort = query["sort"];
  if (sort === "size") rows.sort((a, b) => b.size - a.size || a.id - b.id);
  if (sort === "name") rows.sort((a, b) => inOrder(fold(a.name), fold(b.name)));
  if (sort === "cohesion") rows.sort((a, b) => (b.cohesion ?? -1) - (a.cohesion ?? -1));
  if (sort === "proposals") rows.sort((a, b) => b.n_open - a.n_open);
  return { ...answer, clusters: rows };
}

async function cluster(id: string): Promise<unknown> {
  const list = await load<ClusterList>("clusters");
  if (!list.clusters.some((one) => String(one.id) === id)) throw new Error(`There is no cluster ${id} in this run.`);
  return load(`cluster-${id}`);
}

/** An item; what is proposed for it lies with the proposals of its cluster. */
async function item(id: string): Promise<ItemDetail> {
  if (!(await load<number[]>("ids")).includes(Number(id))) throw new Error(`There is no item ${id}.`);
  const page = (await load<Record<string, ItemDetail>>(`item-${Math.floor(Number(id) / ITEMS_IN_A_FILE)}`))[id]!;
  const waiting = (await byCluster<Waiting[]>("proposals", page.cluster ?? "none")).flat();
  return { ...page, proposals: inFull(waiting.filter((one) => one[0] === page.id), [page]) };
}

function inFull(waiting: Waiting[], rows: { id: number; key: string; has_thumb: boolean; opening?: string | null }[]): Proposal[] {
  const known = new Map(rows.map((row) => [row.id, row]));
  return waiting.map(([id, tag, score, probability, is_worth_asking, is_trusted, sure, sentence, told]) => {
    const { key, has_thumb, opening = null } = known.get(id)!;
    const [likeness, like, goes_with, n_with, n_all, against, like_first] = told;
    const alike = like.map((one) => ({ id: one, key: "", has_thumb: true, opening: null }));
    const reason = { likeness, like: alike, goes_with, n_with, n_all, against, like_first };
    return { item: id, key, tag, score, probability, is_worth_asking, is_trusted, sure, reason, sentence, has_thumb, opening };
  });
}

async function proposals(query: Query): Promise<ProposalList> {
  const head = await load<ProposalList>("proposals");
  const of = query["item"] ? Number(query["item"]) : null;
  const tag = query["tag"] || (query["by"] === "tag" && of === null && !query["cluster"] ? head.tags[0]?.name : null) || null;
  const within = tag === null && of === null ? query["cluster"] : null;
  const end = Number(query["offset"] ?? 0) + Number(query["limit"] ?? 50);
  const whole = head.proposals.length === head.total;
  if (tag === null && of === null && !within && !query["all"] && (whole || end <= head.proposals.length)) {
    return { ...head, proposals: piece(head.proposals, query, 50) };
  }
  const parts = await byCluster<Waiting[]>("proposals", within);
  const every = parts.flat().filter((one) => (tag === null || fold(one[1]) === fold(String(tag))) && (of === null || one[0] === of));
  const worth = every.filter((one) => one[4]);
  const found = query["all"] ? every : worth;
  found.sort((a, b) => (b[3] ?? 0) - (a[3] ?? 0) || b[2] - a[2] || a[0] - b[0]);
  const shown = inFull(piece(found, query, 50), await rowsOf(within));
  return { ...head, tag: tag === null ? null : String(tag), total: found.length, n_less_likely: every.length - worth.length, proposals: shown };
}

async function tags(query: Query): Promise<TagList> {
  const wanted = fold(String(query["text"] ?? "").trim());
  const found = (await load<TagList>("tags")).tags.filter((one) => fold(one.name).includes(wanted));
  found.sort((a, b) => Number(fold(b.name).startsWith(wanted)) - Number(fold(a.name).startsWith(wanted)));
  return { total: found.length, tags: piece(found, query, 50) };
}

async function history(query: Query): Promise<HistoryList> {
  const { entries } = await load<HistoryList>("history");
  return { total: entries.length, offset: Number(query["offset"] ?? 0), entries: piece(entries, query, 50) };
}

/** Two runs are compared once; the other way round, the sides change places. */
async function compare(query: Query): Promise<Comparison> {
  const asked = [Number(query["first"]), Number(query["second"])] as const;
  const there = await load<number[]>("compared");
  const lacking = asked.find((run) => !there.includes(run));
  if (lacking !== undefined) throw new Error(`This copy compares the newest ${there.length} runs with each other; run ${lacking} is not among them.`);
  const answer = await load<Comparison | { error: string }>(`compare-${Math.min(...asked)}-${Math.max(...asked)}`);
  if ("error" in answer) throw new Error(answer.error);
  if (asked[0] < asked[1]) return answer;
  const turned = <T extends { first: unknown; second: unknown }>(one: T): T => ({ ...one, first: one.second, second: one.first });
  return { ...turned(answer), runs: [...answer.runs].reverse(), flows: answer.flows.map(turned), movers: answer.movers.map(turned) };
}

const LISTS: Record<string, (query: Query) => Promise<unknown>> = { clusters, items, search: searchPage, "search/facets": facets, tags, proposals, history, compare, "compare/movers": movers };
const SAID = ["state", "runs", "map"];

/** The answer to a question of the pages. */
export async function siteData<T>(path: string, query: Query): Promise<T> {
  const asked = path.replace(/^api\//, "");
  const [what, which = ""] = asked.split("/");
  const list = LISTS[asked];
  if (list) return (await list(query)) as T;
  if (SAID.includes(asked)) return load<T>(asked);
  if (what === "items") return (await item(which)) as T;
  if (what === "clusters") return (await cluster(which)) as T;
  throw new Error("This is a read-only copy of the gallery.");
}
