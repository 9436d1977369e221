import type { Page } from "../../lib/router.svelte";
import { site } from "../../lib/site/site";
import type { IconName } from "../icons";

export const NAV: { page: Page; label: string; icon: IconName }[] = [
  { page: "clusters", label: "Clusters", icon: "clusters" },
  { page: "map", label: "Map", icon: "map" },
  { page: "review", label: "Review", icon: "review" },
  { page: "search", label: "Search", icon: "search" },
  { page: "compare", label: "Compare", icon: "compare" },
  { page: "runs", label: "Runs", icon: "runs" },
  ...(site ? [] : [{ page: "files", label: "Files", icon: "files" } as const]),
];
