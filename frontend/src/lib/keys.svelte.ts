/** Keys of the page and of the whole gallery, and the list of them that `?` shows. */

import { untrack } from "svelte";

export interface Key {
  key: string; // as KeyboardEvent.key, letters in lower case
  label: string;
  run?: (event: KeyboardEvent) => void; // without it the key is only listed: a component handles it
}

interface KeySet {
  title: string;
  keys: Key[];
  alone: boolean; // while it is there, no other keys count: it covers the page
}

class Keys {
  sets: KeySet[] = $state.raw([]);
  /** Is the list of keys shown? */
  shown = $state(false);
  #list: KeySet[] = []; // the same: while a component goes, what is read of a state is what it was before

  put(set: KeySet, everywhere: boolean): void {
    this.#list = everywhere ? [set, ...this.#list] : [...this.#list, set];
    this.sets = this.#list;
  }
  drop(set: KeySet): void {
    this.#list = this.#list.filter((one) => one !== set);
    this.sets = this.#list;
  }

  /** The sets that count now, the nearest first. */
  get heard(): KeySet[] {
    const alone = this.sets.findLast((set) => set.alone);
    return alone ? [alone] : [...this.sets].reverse();
  }

  handle(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    const typing = target.matches("input:not([type=checkbox]):not([type=range]):not([type=radio]), textarea, select");
    const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
    if (typing || (dialog && !dialog.hasAttribute("data-keys"))) return;
    const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (pressed === " " && target.matches("button, summary, input, video")) return;
    if (pressed === "Enter" && target.matches("button, a, summary, input")) return;
    if (pressed.startsWith("Arrow") && target.matches("input, video")) return;
    for (const set of this.heard) {
      const found = set.keys.find((one) => one.key === pressed && one.run);
      if (found?.run) {
        event.preventDefault();
        found.run(event);
        return;
      }
    }
  }
}

export const keys = new Keys();

/** Keys that count while the component is there; a page's go before those of everywhere, whichever came first. */
export function useKeys(title: string, list: Key[] | (() => Key[]), where: "page" | "everywhere" | "alone" = "page"): void {
  $effect(() => {
    const set = { title, keys: typeof list === "function" ? list() : list, alone: where === "alone" };
    untrack(() => keys.put(set, where === "everywhere"));
    return () => untrack(() => keys.drop(set));
  });
}
