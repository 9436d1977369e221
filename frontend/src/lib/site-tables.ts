/** Lists of the exported site as CSV or JSON; the server's are in `web/tables.py`, and read the same. */

import type { Query } from "./http";
import { siteData } from "./site-answers";
import { listed } from "./site-items";
import type { ClusterList, HistoryList, ProposalList, RunList } from "./types";

type Line = Record<string, unknown>;
const ALL = { offset: 0, limit: Infinity };

const TABLES: Record<string, (query: Query) => Promise<Line[]>> = {
  items: async (query) =>
    (await listed(query)).map(({ id, key, kind, cluster, cluster_name, confidence, tags }) => {
      return { id, name: key, kind, cluster, cluster_name, confidence: confidence === null ? null : Number(confidence.toFixed(4)), tags };
    }),
  clusters: async () =>
    (await siteData<ClusterList>("clusters", {})).clusters.map(({ id, name, size, cohesion, n_open, is_pinned, tags }) => {
      return { id, name, size, cohesion, open_proposals: n_open, pinned: is_pinned, tags: tags.map((tag) => tag.name) };
    }),
  proposals: async ({ tag, item }) =>
    (await siteData<ProposalList>("proposals", { tag, item, ...ALL })).proposals.map((one) => {
      return { item: one.item, name: one.key, tag: one.tag, score: one.score, probability: one.probability, reason: one.sentence };
    }),
  runs: async () =>
    (await siteData<RunList>("runs", {})).runs.map(({ id, kind, method, n_clusters, views, made_at, seconds }) => {
      return { id, kind, method, clusters: n_clusters, views, made_at, seconds: Number(seconds.toFixed(1)) };
    }),
  history: async () =>
    (await siteData<HistoryList>("history", ALL)).entries.map(({ id, at, who, kind, summary, undone_by }) => {
      return { id, at, who, kind, summary, undone_by };
    }),
};

/** Is this list one that the exported site can give away? */
export function hasTable(query: Query): boolean {
  return String(query["view"]) in TABLES;
}

/** A text that a spreadsheet would take for a formula gets an apostrophe in front. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  const text = Array.isArray(value) ? value.join("; ") : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A list, whole. */
export async function siteTable(query: Query): Promise<string> {
  const lines = await TABLES[String(query["view"])]!(query);
  if (query["format"] === "json") return JSON.stringify(lines);
  const rows = [Object.keys(lines[0] ?? {}), ...lines.map((line) => Object.values(line))];
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
