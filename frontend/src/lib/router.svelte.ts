/** The address holds the state: `#/clusters/12?tab=borderline&sel=3,5`. */
import { arrive } from "./kept/places";
import { site } from "./site/site";

export const PAGES = ["clusters", "map", "review", "search", "compare", "runs", "items", "problems", "files"] as const;
/** Pages that an exported copy does not have; their addresses lead to the first page. */
const SERVED_ONLY = ["problems", "files"];
export type Page = (typeof PAGES)[number];
export type Params = Record<string, string | number | boolean | null | undefined>;

interface Route {
  page: Page;
  id: number | null;
  params: Record<string, string>;
}

function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [first = "", second] = path.split("/");
  const isPage = (PAGES as readonly string[]).includes(first) && !(site && SERVED_ONLY.includes(first));
  const page = isPage ? (first as Page) : "clusters";
  const id = second !== undefined && /^\d+$/.test(second) ? Number(second) : null;
  return { page, id, params: Object.fromEntries(new URLSearchParams(query)) };
}

export const route: Route = $state(parse(location.hash));

arrive();
function follow(): void {
  arrive();
  Object.assign(route, parse(location.hash));
}
addEventListener("hashchange", follow);

/** The address of a page, for links. */
export function href(page: Page, id: number | null = null, params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "" && value !== false) query.set(name, String(value));
  }
  const text = query.toString();
  return `#/${page}${id === null ? "" : `/${id}`}${text ? `?${text}` : ""}`;
}

export function go(address: string): void {
  location.hash = address.replace(/^#/, "");
  follow(); // the event comes later, and until then what is shown would still be the page that was left
}

/** Change parts of the address of this page; an empty value takes the part away. */
export function setParams(patch: Params, how: "replace" | "push" = "replace"): void {
  const now = parse(location.hash);
  if (now.page !== route.page || now.id !== route.id) return; // a link was followed: who asks belongs to the page that is left
  const address = href(now.page, now.id, { ...now.params, ...patch });
  if (address === location.hash) return;
  if (how === "push") history.pushState(null, "", address);
  else history.replaceState(history.state, "", address);
  follow();
}

/** A list of numbers in the address, such as the selection. */
export function numbers(text: string | undefined): number[] {
  return (text ?? "").split(",").filter((part) => /^\d+$/.test(part)).map(Number);
}
