/**
 * The focus outlives what had it. Browsers drop it to the top of the page where a button goes away, turns into another, is
 * disabled for a moment or moves to another place of its list; whoever works with keys, or hears the page, is then nowhere.
 * What stands in its place takes it instead.
 *
 * Lists that draw only what is seen, and pages whose keys answer a question, look after the focus themselves:
 * `data-focus="own"` is for what goes from the list itself, `data-focus="free"` for all that is inside.
 */

const ABLE = "a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex]:not([tabindex^='-'])";

let last: HTMLElement | null = null; // what has the focus, or had it when it was taken away
let heir: HTMLElement | null = null; // takes it when the key is up again, which would press it otherwise
let isDown = false;

/** Where something stood that went away, possibly with all that was around it. */
function placeOf(gone: Node, records: MutationRecord[]): { home: Element; before: Node | null } | null {
  let node = gone;
  for (;;) {
    const top = node.getRootNode();
    const record = records.findLast((one) => [...one.removedNodes].includes(top as ChildNode));
    if (!(record?.target instanceof Element)) return null;
    if (record.target.isConnected) return { home: record.target, before: record.previousSibling };
    node = record.target;
  }
}

/** The first thing after that place that can have the focus, else the last one before it; farther and farther around. */
function heirOf({ home, before }: { home: Element; before: Node | null }): HTMLElement | null {
  const found = [...home.querySelectorAll<HTMLElement>(ABLE)].filter((one) => one.checkVisibility());
  const from = before?.isConnected ? before : null;
  const after = found.find((one) => from === null || (from.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING && !from.contains(one)));
  const nearest = after ?? found.at(-1);
  if (nearest) return nearest;
  if (home.matches("main")) return home as HTMLElement;
  return home.matches("dialog") || !home.parentElement ? null : heirOf({ home: home.parentElement, before: home });
}

function look(records: MutationRecord[]): void {
  if (!last || document.activeElement !== document.body) return;
  if (last.isConnected) {
    const touched = records.some((one) => one.target === last || [...one.removedNodes].some((node) => node.contains(last)));
    if (touched && last.matches(ABLE)) last.focus({ preventScroll: true }); // moved, or able again
    return;
  }
  const place = placeOf(last, records);
  last = null;
  if (!place?.home.closest("main, dialog") || place.home.matches("[data-focus=own]") || place.home.closest("[data-focus=free]")) return;
  heir = heirOf(place);
  if (!isDown) inherit();
}

function inherit(): void {
  if (document.activeElement === document.body) heir?.focus({ preventScroll: true });
  heir = null;
}

/** From now on, for the whole page. */
export function keepFocus(): void {
  addEventListener("focusin", (event) => {
    const now = event.target as HTMLElement;
    last = now.matches(":focus-visible") ? now : null; // with a mouse nobody looks for it
  });
  addEventListener("pointerdown", () => (last = null));
  addEventListener("keydown", () => (isDown = true), true);
  addEventListener("keyup", () => {
    isDown = false;
    setTimeout(inherit);
  }, true);
  addEventListener("focusout", () => {
    // left on purpose, with nothing else to go to
    setTimeout(() => {
      if (document.activeElement === document.body && last?.isConnected && last.matches(ABLE)) last = null;
    });
  });
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
}
