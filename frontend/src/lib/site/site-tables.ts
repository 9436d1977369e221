/** Lists of the exported site as CSV or JSON; the server's are in `web/tables.py`, and read the same. */

import type { Query } from "../http";
import { siteData } from "./site-answers";
import { listed, searchedRows } from "./site-items";
import type { ClusterList, HistoryList, ProposalList, RunList } from "../types";

interface Table {
  columns: string[];
  rows: (query: Query) => Promise<unknown[][]>;
}
const ALL = { offset: 0, limit: Infinity };

const TABLES: Record<string, Table> = {
  items: {
    columns: ["id", "name", "kind", "cluster", "cluster_name", "confidence", "tags"],
    rows: async (query) =>
      (await (query["looks"] ? searchedRows(query) : listed(query))).map(({ id, key, kind, cluster, cluster_name, confidence, tags }) => {
        return [id, key, kind, cluster, cluster_name, confidence === null ? null : Number(confidence.toFixed(4)), tags];
      }),
  },
  clusters: {
    columns: ["id", "name", "size", "cohesion", "open_proposals", "pinned", "tags"],
    rows: async () =>
      (await siteData<ClusterList>("clusters", {})).clusters.map(({ id, name, size, cohesion, n_open, is_pinned, tags }) => {
        return [id, name, size, cohesion, n_open, is_pinned, tags.map((tag) => tag.name)];
      }),
  },
  proposals: {
    columns: ["item", "name", "tag", "probability", "reason"],
    rows: async ({ tag, item }) =>
      (await siteData<ProposalList>("proposals", { tag, item, all: true, ...ALL })).proposals.map(({ item, key, tag, probability, sentence }) => {
        return [item, key, tag, probability === null ? null : Number(probability.toFixed(4)), sentence];
      }),
  },
  runs: {
    columns: ["id", "kind", "method", "clusters", "views", "made_at", "seconds"],
    rows: async () =>
      (await siteData<RunList>("runs", {})).runs.map(({ id, kind, method, n_clusters, views, made_at, seconds }) => {
        return [id, kind, method, n_clusters, views, made_at, Number(seconds.toFixed(1))];
      }),
  },
  history: {
    columns: ["id", "at", "who", "kind", "summary", "undone_by"],
    rows: async () =>
      (await siteData<HistoryList>("history", ALL)).entries.map(({ id, at, who, kind, summary, undone_by }) => {
        return [id, at, who, kind, summary, undone_by];
      }),
  },
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
  const { columns, rows } = TABLES[String(query["view"])]!;
  const lines = await rows(query);
  if (query["format"] === "json") {
    return JSON.stringify(lines.map((line) => Object.fromEntries(columns.map((name, at) => [name, line[at]]))));
  }
  return [columns, ...lines].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
