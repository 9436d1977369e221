/** Naming a cluster, and tagging its members with the name: the shortest way from nothing to tags. */

import { change } from "./actions";
import { api } from "./api";
import { count } from "./format";

interface Question {
  cluster: number;
  word: string | null; // null: the first word of its name
}

class Naming {
  /** The cluster whose members are being asked about, in a dialog over any page. */
  asked: Question | null = $state.raw(null);

  ask(cluster: number, word: string | null = null): void {
    this.asked = { cluster, word };
  }
  close(): void {
    this.asked = null;
  }
}

export const naming = new Naming();

/** What is tagged with a name of several words: the first of them. */
export function firstWord(name: string): string {
  return name.replace(/\?$/, "").split(", ")[0]!.trim();
}

/** Give a cluster a name; the message about it offers to tag the members. */
export async function rename(cluster: number, name: string, size: number): Promise<boolean> {
  const word = firstWord(name);
  const label = size === 1 ? `Tag its item with “${word}”?` : `Tag these ${count(size)} with “${word}”?`;
  const done = await change(() => api.rename(cluster, name), { label, run: () => naming.ask(cluster, word) });
  return done !== null;
}
