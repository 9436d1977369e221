/** What was typed and not yet used: a dialog that is closed by mistake opens with it again. */

/** The dialogs that share what was typed, wherever they are opened. */
export const TAG = "tag";
export const MOVE_TO = "move to";

const drafts = new Map<string, string>();

export function draftOf(what: string): string {
  return drafts.get(what) ?? "";
}

/** Keep what is being typed; nothing, or null where it was used, forgets it. */
export function keepDraft(what: string, text: string | null): void {
  if (text?.trim()) drafts.set(what, text);
  else drafts.delete(what);
}
