/**
 * The large view: one item of a list over the whole window. Any grid opens it with its list and a place in it; the
 * address holds the item, so that Back closes the view and a link shows the same.
 */

import { api } from "../api";
import { route, setParams } from "../router.svelte";

/** What a grid knows of an item. */
export interface Seen {
  id: number;
  key: string;
  has_thumb?: boolean;
  opening?: string | null;
}

export interface LookList {
  label: string;
  readonly total: number;
  /** The item at a place; null where there is none any more. */
  at: (index: number) => Seen | null | Promise<Seen | null>;
  /** May items be picked in the view, as in the grid? */
  picks?: boolean;
  /** The view has closed at this place: the grid puts the focus there. */
  back?: (index: number) => void;
}

/** A list that is there as a whole. */
export function listOf(label: string, items: readonly Seen[], more: Partial<LookList> = {}): LookList {
  return { label, total: items.length, at: (index) => items[index] ?? null, ...more };
}

const PIECE = 100;

/** A list that is asked for piece by piece. */
export function listFrom(label: string, total: number, load: (offset: number, limit: number) => Promise<{ items: Seen[] }>): LookList {
  const pieces = new Map<number, Promise<{ items: Seen[] }>>();
  const piece = (n: number): Promise<{ items: Seen[] }> => {
    const found = pieces.get(n) ?? load(n * PIECE, PIECE);
    pieces.set(n, found);
    found.catch(() => pieces.delete(n));
    return found;
  };
  return { label, total, at: async (index) => (await piece(Math.floor(index / PIECE))).items[index % PIECE] ?? null };
}

/** The members of an item's cluster, and its place among them; the item alone where it has none. */
export async function listAround(item: Seen & { cluster: number | null; cluster_name: string | null }): Promise<[LookList, number]> {
  const alone: [LookList, number] = [listOf(item.key, [item]), 0];
  if (item.cluster === null) return alone;
  const load = (offset: number, limit: number) => api.items({ cluster: item.cluster, sort: "id", offset, limit });
  const { total } = await load(0, 1);
  const list = listFrom(item.cluster_name ?? "its cluster", total, load);
  let [low, high] = [0, total - 1]; // they come in the order of their numbers
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (((await list.at(middle))?.id ?? item.id) < item.id) low = middle + 1;
    else high = middle;
  }
  return (await list.at(low))?.id === item.id ? [list, low] : alone;
}

class Looking {
  list: LookList | null = $state.raw(null);
  index = $state(0);
  /** What the list knows of the item. */
  seen: Seen | null = $state.raw(null);
  readonly id: number | null = $derived(/^\d+$/.test(route.params["look"] ?? "") ? Number(route.params["look"]) : null);
  playing = $state(false);
  #pushed = false;
  #from: HTMLElement | null = null;
  #to: number | null = null; // the place being gone to, while its item is asked for

  open(list: LookList, index: number, item: Seen, playing = false): void {
    this.list = list;
    this.index = index;
    this.#to = null;
    this.seen = item;
    this.playing = playing;
    this.#from = document.activeElement as HTMLElement | null;
    this.#pushed = true;
    setParams({ look: item.id }, "push");
  }

  /** Show a list one after another, from its first item on. */
  async start(list: LookList): Promise<void> {
    const first = await list.at(0);
    if (first) this.open(list, 0, first, true);
  }

  /** Another item of the list; beyond the end the other end follows, where that is wanted. */
  async step(by: number, round = false): Promise<void> {
    const list = this.list;
    if (!list || !list.total) return;
    const next = (this.#to ?? this.index) + by;
    const index = round ? (next + list.total) % list.total : Math.max(0, Math.min(list.total - 1, next));
    if (index === (this.#to ?? this.index)) return;
    this.#to = index;
    const item = await Promise.resolve(list.at(index)).catch(() => null);
    if (this.list !== list || this.#to !== index) return; // another key has come meanwhile
    this.#to = null;
    if (!item || this.id === null) return;
    this.index = index;
    this.seen = item;
    setParams({ look: item.id });
  }

  close(): void {
    if (this.#pushed) history.back();
    else setParams({ look: null });
  }

  /** The view is gone, by whatever way; what was picked in it stays picked, where the page below is still there. */
  closed(sel: string | undefined, isHere: boolean, id: number | null): void {
    const { list, index } = this;
    this.list = null;
    this.#to = null;
    this.playing = false;
    this.#pushed = false;
    if (isHere) {
      setParams({ sel });
      if (list?.back) list.back(index);
      else (this.#from ?? document.querySelector<HTMLElement>(`main a[href="#/items/${id}"]`) ?? document.querySelector("main"))?.focus();
    }
    this.#from = null;
  }

  /** An address that came from elsewhere: the item, among those of its cluster. */
  async adopt(id: number): Promise<void> {
    const [list, index] = await listAround(await api.brief(id));
    if (this.id !== id || this.list) return;
    this.list = list;
    this.index = index;
  }
}

export const looking = new Looking();
