/** The shapes the server answers with, by the names the pages use. They come from its description of itself. */

import type { components } from "./api-types";

type Schemas = components["schemas"];

export type CollectionState = Schemas["State"];
export type RunInfo = Schemas["RunFacts"];
export type Job = Schemas["Job"];
export type TagShare = Schemas["TagShare"];
export type ClusterRow = Schemas["ClusterRow"];
export type ClusterList = Schemas["ClustersPage"];
export type ClusterDetail = Schemas["ClusterPage"];
export type ItemRow = Schemas["ItemRow"];
export type ItemList = Schemas["ItemsPage"];
export type ItemDetail = Schemas["ItemPage"];
export type Facets = Schemas["Facets"];
export type TagList = Schemas["TagsPage"];
export type TagLine = Schemas["TagLine"];
export type TagKin = Schemas["TagKin"];
export type TagAction = Schemas["TagAction"];
export type TagPreview = Schemas["TagPreview"];
export type Vocabulary = Schemas["VocabularyPage"];
export type DuplicateList = Schemas["DuplicatesPage"];
export type WritePreview = Schemas["WritePreview"];
export type Proposal = Schemas["Proposal"];
export type ProposalList = Schemas["ProposalsPage"];
export type ProposalReason = Schemas["ProposalReason"];
export type ItemProposals = Schemas["ItemProposals"];
export type ItemProposalList = Schemas["ItemProposalsPage"];
export type DoubtfulTag = Schemas["DoubtfulTag"];
export type DoubtfulList = Schemas["DoubtfulPage"];
export type Audit = Schemas["AuditState"];
export type AuditPage = Schemas["AuditPage"];
export type AuditAccepted = Schemas["AuditAccepted"];
export type FirstQuestion = Schemas["FirstQuestion"];
export type FirstQuestionList = Schemas["FirstQuestionsPage"];
export type TagQuestion = Schemas["TagQuestion"];
export type Candidate = Schemas["Candidate"];
export type FoundItem = Schemas["FoundItem"];
export type SearchAnswer = Schemas["SearchPage"];
export type Like = Schemas["Like"];
export type Line = Schemas["Line"];
export type Decided = Schemas["Decided"];
export type Step = Schemas["Step"];
export type StepDone = Schemas["StepDone"];
export type StepsDone = Schemas["StepsDone"];
export type LineDecided = Schemas["LineDecided"];
export type Done = Schemas["Done"];
export type Deleted = Schemas["Deleted"];
export type HistoryEntry = Schemas["Entry"];
export type HistoryList = Schemas["HistoryPage"];
export type RunList = Schemas["RunsPage"];
export type MethodList = Schemas["MethodsPage"];
export type Estimate = Schemas["Estimate"];
export type Comparison = Schemas["ComparePage"];
export type MapState = Schemas["MapPage"];
export type ProblemList = Schemas["ProblemsPage"];

/** A change that can be told in a sentence and, where it has an entry, taken back. */
export interface Changed {
  entry: number | null;
  summary: string;
}
export interface MapPoints {
  ids: Int32Array;
  x: Float32Array;
  y: Float32Array;
  clusters: Int32Array;
}
