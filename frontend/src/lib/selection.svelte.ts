/** Items picked on a page. The address holds them, so that a link shows the same selection. */

import { numbers, route, setParams } from "./router.svelte";

export const DRAGGED = "application/x-manyview-items";
const MOST = 400; // an address has to stay an address

class Selection {
  readonly ids: Set<number> = $derived(new Set(numbers(route.params["sel"])));
  /** On a touch screen: a tap picks instead of opening. */
  picking = $state(false);
  #anchor: number | null = null;

  toggle(id: number): void {
    const next = new Set(this.ids);
    if (!next.delete(id)) next.add(id);
    this.#anchor = id;
    this.set(next);
  }

  /** Everything between the item picked last and this one, in the order of the list. */
  extend(id: number, order: number[]): void {
    const from = this.#anchor === null ? -1 : order.indexOf(this.#anchor);
    const to = order.indexOf(id);
    if (from < 0 || to < 0) return this.toggle(id);
    this.set(new Set([...this.ids, ...order.slice(Math.min(from, to), Math.max(from, to) + 1)]));
  }

  set(ids: Iterable<number>): void {
    setParams({ sel: [...ids].slice(0, MOST).join(",") });
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
