/** Every question and every change the pages know, in one place. */

import { address, getBytes, getJson, getText, postJson, type Query } from "./http";
import { site } from "./site/site";
import { colours, points } from "./site/site-items";
import { siteTable } from "./site/site-tables";
import type * as T from "./types";

type Signal = AbortSignal | undefined;

export const api = {
  state: (signal?: Signal) => getJson<T.CollectionState>("api/state", {}, signal),
  clusters: (query: Query, signal?: Signal) => getJson<T.ClusterList>("api/clusters", query, signal),
  cluster: (id: number, signal?: Signal) => getJson<T.ClusterDetail>(`api/clusters/${id}`, {}, signal),
  items: (query: Query, signal?: Signal) => getJson<T.ItemList>("api/items", query, signal),
  item: (id: number, signal?: Signal) => getJson<T.ItemDetail>(`api/items/${id}`, {}, signal),
  /** The item without reasons and proposals, which take a while. */
  brief: (id: number, signal?: Signal) => getJson<T.ItemDetail>(`api/items/${id}`, { brief: true }, signal),
  search: (query: Query, signal?: Signal) => getJson<T.SearchAnswer>("api/search", query, signal),
  facets: (query: Query, signal?: Signal) => getJson<T.Facets>("api/search/facets", query, signal),
  tags: (text: string, signal?: Signal) =>
    getJson<T.TagList>("api/tags", { text, limit: 12 }, signal),
  vocabulary: (query: Query, signal?: Signal) => getJson<T.Vocabulary>("api/vocabulary", query, signal),
  duplicates: (query: Query, signal?: Signal) => getJson<T.DuplicateList>("api/duplicates", query, signal),
  writing: (query: Query, signal?: Signal) => getJson<T.WritePreview>("api/write-back", query, signal),
  proposals: (query: Query, signal?: Signal) => getJson<T.ProposalList>("api/proposals", query, signal),
  sample: (signal?: Signal) => getJson<T.ProposalList>("api/proposals/sample", {}, signal),
  itemProposals: (query: Query, signal?: Signal) => getJson<T.ItemProposalList>("api/proposals/items", query, signal),
  firstQuestions: (signal?: Signal) => getJson<T.FirstQuestionList>("api/first-tags", {}, signal),
  tagQuestion: (cluster: number, word: string | null, signal?: Signal) =>
    getJson<T.TagQuestion>(`api/clusters/${cluster}/tag`, { word }, signal),
  doubtful: (signal?: Signal) => getJson<T.DoubtfulList>("api/doubtful", {}, signal),
  audit: (share: number, signal?: Signal) => getJson<T.AuditPage>("api/audit", { share }, signal),
  line: (probability: number, tag: string | null, signal?: Signal) =>
    getJson<T.Line>("api/proposals/line", { probability, tag }, signal),
  history: (offset: number, limit: number, signal?: Signal) =>
    getJson<T.HistoryList>("api/history", { offset, limit }, signal),
  runs: (signal?: Signal) => getJson<T.RunList>("api/runs", {}, signal),
  methods: (signal?: Signal) => getJson<T.MethodList>("api/methods", {}, signal),
  estimate: (query: Query, signal?: Signal) =>
    getJson<T.Estimate>("api/jobs/estimate", query, signal),
  compare: (first: number, second: number, signal?: Signal) =>
    getJson<T.Comparison>("api/compare", { first, second }, signal),
  movers: (query: Query, signal?: Signal) => getJson<T.ItemList>("api/compare/movers", query, signal),
  problems: (signal?: Signal) => getJson<T.ProblemList>("api/problems", {}, signal),
  map: (signal?: Signal) => getJson<T.MapState>("api/map", {}, signal),

  decide: (pairs: { item: number; tag: string }[], answer: boolean) =>
    postJson<T.Decided>("api/decisions", { pairs, answer }),
  steps: (steps: T.Step[]) => postJson<T.StepsDone>("api/decisions/steps", { steps }),
  startAudit: (share: number) => postJson<T.Audit>("api/audit", { share }),
  answerAudit: (id: number, item: number, tag: string, answer: boolean) =>
    postJson<T.Audit>(`api/audit/${id}/answer`, { item, tag, answer }),
  backInAudit: (id: number) => postJson<T.Audit>(`api/audit/${id}/back`, {}),
  acceptAudited: (id: number) => postJson<T.AuditAccepted>(`api/audit/${id}/accept`, {}),
  acceptAbove: (probability: number, tag: string | null) =>
    postJson<T.LineDecided>("api/decisions/line", { probability, tag }),
  tag: (items: number[], tag: string, answer: boolean) => postJson<T.Done>("api/tags", { items, tag, answer }),
  nameAndTag: (cluster: number, said: { name?: string; tag?: string; items?: number[] }) =>
    postJson<T.Done>(`api/clusters/${cluster}/tag`, said),
  previewTags: (asked: T.TagAction) => postJson<T.TagPreview>("api/vocabulary/preview", asked),
  careForTags: (asked: T.TagAction) => postJson<T.Done>("api/vocabulary", asked),
  markDuplicates: (tag: string, kind: string | null) => postJson<T.Done>("api/duplicates/mark", { tag, kind }),
  rename: (id: number, name: string) => postJson<T.Done>(`api/clusters/${id}/rename`, { name }),
  pin: (id: number, pinned: boolean) => postJson<T.Done>(`api/clusters/${id}/pin`, { pinned }),
  level: (to: "coarser" | "finer") => postJson<T.Done>("api/clusters/level", { to }),
  split: (id: number, n: number) => postJson<T.Done>(`api/clusters/${id}/split`, { n }),
  merge: (clusters: number[], into: number | null) => postJson<T.Done>("api/clusters/merge", { clusters, into }),
  move: (items: number[], cluster: number | null, name: string | null) =>
    postJson<T.Done>("api/items/move", { items, cluster, name }),
  link: (first: number, second: number, together: boolean | null) =>
    postJson<T.Done>("api/links", { first, second, together }),
  undo: (entry: number | null) => postJson<T.Done>("api/undo", { entry }),
  start: (kind: string, settings: Record<string, unknown>) => postJson<T.Job>("api/jobs", { kind, settings }),
  cancel: (job: number) => postJson<T.Job>(`api/jobs/${job}/cancel`, {}),
  deleteRun: (id: number) => postJson<T.Deleted>(`api/runs/${id}/delete`, {}),

  exportAddress: (query: Query) => address("api/export", query),
  exportText: (query: Query) => (site ? siteTable(query) : getText("api/export", query)),
};

export function thumb(id: number): string {
  return `./thumbs/${id}${site ? ".jpg" : ""}`;
}

/** The thumbnail cut to a square around what it shows. */
export function square(id: number): string {
  return site ? thumb(id) : `./thumbs/${id}?square=true`;
}

/** The picture at the size of a screen, or larger, to look closer. */
export function preview(id: number, large = false): string {
  return site ? `./previews/${id}.jpg` : `./media/${id}/preview${large ? "?large=true" : ""}`;
}

export function original(id: number): string {
  return `./media/${id}/original`;
}

/** Points of the map: n, ids, x, y, clusters, one array after the other. */
export async function mapPoints(signal?: AbortSignal): Promise<T.MapPoints> {
  const bytes = site ? await points() : await getBytes("api/map/points", {}, signal);
  const n = new DataView(bytes).getInt32(0, true);
  return {
    ids: new Int32Array(bytes, 4, n),
    x: new Float32Array(bytes, 4 + 4 * n, n),
    y: new Float32Array(bytes, 4 + 8 * n, n),
    clusters: new Int32Array(bytes, 4 + 12 * n, n),
  };
}

/** Another colour for the same points. */
export async function mapColours(query: Query, signal?: AbortSignal): Promise<Int32Array> {
  return site ? colours(query) : new Int32Array(await getBytes("api/map/column", query, signal));
}
