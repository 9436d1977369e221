/** Items picked on a page. The address holds them, so that a link shows the same selection. */

import { numbers, route, setParams } from "./router.svelte";
import { toasts } from "./toasts.svelte";

export const DRAGGED = "application/x-manyview-items";
export const MOST = 400; // an address has to stay an address

class Selection {
  readonly ids: Set<number> = $derived(new Set(numbers(route.params["sel"])));
  /** On a touch screen: a tap picks instead of opening. */
  picking = $state(false);
  #anchor: number | null = null;

  /** The item picked last. */
  get anchor(): number | null {
    return this.#anchor;
  }

  toggle(id: number): void {
    const next = new Set(this.ids);
    if (!next.delete(id)) next.add(id);
    this.#anchor = id;
    this.set(next);
  }

  /** Everything between the item picked last and this one, in the order of the list; a list that is too long may end before it. */
  extend(id: number, order: number[]): void {
    const from = this.#anchor === null ? -1 : order.indexOf(this.#anchor);
    const to = order.length > MOST && !order.includes(id) ? order.length - 1 : order.indexOf(id);
    if (from < 0 || to < 0) return this.toggle(id);
    const between = from < to ? order.slice(from, to + 1) : order.slice(to, from + 1).reverse();
    this.set(new Set([...this.ids, ...between]));
  }

  set(ids: Iterable<number>): void {
    const all = [...ids];
    if (all.length > MOST) toasts.say(`At most ${MOST} items can be selected at once; no more were added.`, { slot: "selection" });
    setParams({ sel: all.slice(0, MOST).join(",") });
  }

  /** Something was done with these: what was picked since stays. */
  drop(ids: number[]): void {
    const left = [...this.ids].filter((id) => !ids.includes(id));
    if (left.length) this.set(left);
    else this.clear();
  }

  clear(): void {
    this.#anchor = null;
    this.picking = false;
    setParams({ sel: null });
  }

  /** What a drag that starts on this item carries. */
  drag(event: DragEvent, id: number): void {
    const ids = this.ids.has(id) ? [...this.ids] : [id];
    event.dataTransfer?.setData(DRAGGED, ids.join(","));
    if (event.dataTransfer) event.dataTransfer.effectAllowed = "move";
  }
}

export const selection = new Selection();
