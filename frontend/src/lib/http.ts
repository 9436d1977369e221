/** One door to the server: JSON in, JSON out, errors as sentences. */

import { STATE, early } from "../early";
import { site } from "./site/site";
import { siteData } from "./site/site-answers";

export type Query = Record<string, string | number | boolean | null | undefined>;

/** The server said no, in a sentence. */
export class Refused extends Error {
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

/** The server did not answer at all. */
export class Offline extends Error {
  constructor() {
    super("The gallery does not answer. Is `manyview serve` still running?");
  }
}

export function address(path: string, query: Query = {}): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") parts.set(name, String(value));
  }
  const text = parts.toString();
  return `./${path}${text ? `?${text}` : ""}`;
}

let tellKnown!: () => void;
/**
 * The first question about the state has its answer. Nothing else is asked before: pages ask again when the state
 * changes, and what was answered before the first state, with less than that one knows of, would stand for good.
 */
const known = new Promise<void>((done) => (tellKnown = done));

async function ask(url: string, init: RequestInit): Promise<Response> {
  if (!init.method && url !== STATE) await known;
  let answer: Response;
  try {
    answer = await ((init.method ? undefined : early(url)) ?? fetch(url, { credentials: "same-origin", ...init }));
  } catch (problem) {
    if (init.signal?.aborted) throw problem;
    throw new Offline();
  } finally {
    if (url === STATE) tellKnown();
  }
  if (answer.ok) return answer;
  let sentence = `The gallery answered ${answer.status}.`;
  try {
    const body = (await answer.json()) as { error?: unknown; hint?: unknown };
    if (typeof body.error === "string") {
      sentence = typeof body.hint === "string" && body.hint ? `${body.error} ${body.hint}` : body.error;
    }
  } catch {
    // not JSON: the status alone has to do
  }
  throw new Refused(sentence, answer.status);
}

export async function getJson<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  if (site) return siteData<T>(path, query);
  return (await (await ask(address(path, query), { signal: signal ?? null })).json()) as T;
}

export async function getBytes(path: string, query: Query = {}, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await ask(address(path, query), { signal: signal ?? null })).arrayBuffer();
}

export async function getText(path: string, query: Query = {}): Promise<string> {
  return (await ask(address(path, query), {})).text();
}

/** Letters of a request that a browser still sends when its page has gone. */
export const FITS = 60_000;

let turn: Promise<unknown> | null = null;

/** What `call` asks for is settled now, by what the page shows now; it is sent when `before` is over. */
export function sentAfter<T>(before: Promise<unknown>, call: () => Promise<T>): Promise<T> {
  turn = before;
  try {
    return call();
  } finally {
    turn = null;
  }
}

export async function postJson<T>(path: string, body: unknown): Promise<T> {
  if (site) throw new Refused("This is a read-only copy of the gallery.", 403);
  const text = JSON.stringify(body);
  if (turn) await turn; // else at once: a page that is being left has no later
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: text, keepalive: text.length < FITS };
  return (await (await ask(`./${path}`, init)).json()) as T;
}
