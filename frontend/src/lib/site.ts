/** A gallery exported as plain files: the answers lie beside the page as scripts, since files cannot be fetched. */

import type { Query } from "./http";
import { matcher } from "./query";
import type { ClusterList, Facets, ItemList, ItemRow, ProposalList } from "./types";

declare global {
  interface Window {
    MANYVIEW_SITE?: object;
    MANYVIEW_DATA?: Record<string, unknown>;
  }
}

/** Is this an exported copy, without a server? */
export const site: boolean = window.MANYVIEW_SITE !== undefined;

const loaded = new Map<string, Promise<unknown>>();

function load<T>(slug: string): Promise<T> {
  let waiting = loaded.get(slug);
  if (!waiting) {
    waiting = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `./data/${slug}.js`;
      script.onload = () => resolve(window.MANYVIEW_DATA?.[slug]);
      script.onerror = () => reject(new Error("This is not part of the exported copy."));
      document.head.append(script);
    });
    loaded.set(slug, waiting);
  }
  return waiting as Promise<T>;
}

type Row = ItemRow & { tags: string[] };

/** Rows of one cluster, or of all of them. */
async function rowsOf(cluster: unknown): Promise<Row[]> {
  if (cluster) return (await load<{ items: Row[] }>(`items-c${cluster}`)).items;
  const list = await load<ClusterList>("clusters");
  const slugs = list.clusters.map((one) => `items-c${one.id}`);
  if (list.n_unplaced) slugs.push("items-none");
  const parts = await Promise.all(slugs.map((slug) => load<{ items: Row[] }>(slug)));
  return parts.flatMap((part) => part.items).sort((a, b) => a.id - b.id);
}

async function items(query: Query): Promise<ItemList> {
  const keep = (await rowsOf(query["cluster"])).filter(matcher(String(query["q"] ?? "")));
  if (query["sort"] === "name") keep.sort((a, b) => a.key.localeCompare(b.key));
  if (query["sort"] === "confidence") keep.sort((a, b) => (a.confidence ?? 2) - (b.confidence ?? 2));
  if (query["sort"] === "typical") keep.sort((a, b) => (b.confidence ?? -1) - (a.confidence ?? -1));
  const offset = Number(query["offset"] ?? 0);
  const shown = keep.slice(offset, offset + Number(query["limit"] ?? 200));
  return { total: keep.length, offset, items: shown, query: String(query["q"] ?? ""), command: "" };
}

async function facets(query: Query): Promise<Facets> {
  const list = await load<ClusterList>("clusters");
  const rows = (await rowsOf(null)).filter(matcher(String(query["q"] ?? "")));
  const count = <K>(keys: (row: Row) => K[]): Map<K, number> => {
    const counts = new Map<K, number>();
    for (const row of rows) for (const key of keys(row)) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  };
  const named = (counts: Map<string, number>) => [...counts].map(([name, n]) => ({ name, count: n })).sort((a, b) => b.count - a.count);
  const placed = count((row) => (row.cluster === null ? [] : [row.cluster]));
  return {
    total: rows.length,
    tags: named(count((row) => row.tags)).slice(0, 100),
    clusters: list.clusters.flatMap(({ id, name }) => (placed.has(id) ? [{ id, name, count: placed.get(id)! }] : [])),
    kinds: named(count((row) => [row.kind])),
    untagged: rows.filter((row) => row.n_tags === 0).length,
    low_confidence: rows.filter((row) => row.confidence !== null && row.confidence < 0.4).length,
    unplaced: rows.filter((row) => row.cluster === null).length,
  };
}

async function clusters(query: Query): Promise<ClusterList> {
  const answer = await load<ClusterList>("clusters");
  const text = String(query["text"] ?? "").toLowerCase();
  const rows = answer.clusters.filter(
    (row) =>
      (!text || row.name.toLowerCase().includes(text) || row.tags.some((one) => one.name.toLowerCase().includes(text))) &&
      (!query["pinned"] || row.is_pinned),
  );
  const sort = query["sort"];
  if (sort === "name") rows.sort((a, b) => a.name.localeCompare(b.name));
  if (sort === "cohesion") rows.sort((a, b) => (b.cohesion ?? -1) - (a.cohesion ?? -1));
  if (sort === "proposals") rows.sort((a, b) => b.n_open - a.n_open);
  return { ...answer, clusters: rows };
}

async function proposals(query: Query): Promise<ProposalList> {
  const answer = await load<ProposalList>("proposals");
  const keep = answer.proposals.filter((one) => !query["tag"] || one.tag === query["tag"]);
  const offset = Number(query["offset"] ?? 0);
  return { ...answer, total: keep.length, proposals: keep.slice(offset, offset + Number(query["limit"] ?? 50)) };
}

/** The answer to a question of the pages, from the files of the export. */
export async function siteData<T>(path: string, query: Query): Promise<T> {
  const [what = "", which] = path.replace(/^api\//, "").split("/");
  if (what === "items" && which) {
    const id = Number(which);
    const detail = (await load<Record<string, T>>(`item-${Math.floor(id / 100)}`))[String(id)];
    if (!detail) throw new Error("This item is not part of the exported copy.");
    return detail;
  }
  if (what === "clusters" && which) return load<T>(`cluster-${which}`);
  if (what === "items") return (await items(query)) as T;
  if (what === "facets") return (await facets(query)) as T;
  if (what === "clusters") return (await clusters(query)) as T;
  if (what === "proposals" && !which) return (await proposals(query)) as T;
  if (what === "compare" && !which) return load<T>(`compare-${query["first"]}-${query["second"]}`);
  return load<T>(which ? `${what}-${which}` : what);
}
