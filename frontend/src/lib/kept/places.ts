/** Where a page was scrolled to, and by which link it was left: who comes back to it finds it so. */

interface Place {
  y: number;
  link: string | null;
}

const PATIENCE = 3000; // ms for a list to be as long as it was
const places = new Map<string, Place>(); // by the entry of the browser's history
let entry = "";
let stop: (() => void) | null = null; // a return that is under way

const keyOf = (state: unknown): string | null => (state as { entry?: string } | null)?.entry ?? null;

/** The address is another: one that was here before has its entry. */
export function arrive(): void {
  const known = keyOf(history.state);
  if (known !== null && known === entry) return;
  stop?.();
  entry = known ?? `${Date.now()} ${Math.random()}`;
  if (known === null) history.replaceState({ entry }, "");
}

/** The page of this entry begins: at its top, or where it was left. */
export function begin(main: HTMLElement | undefined): void {
  const place = places.get(entry);
  main?.focus({ preventScroll: true });
  if (!place) window.scrollTo({ top: 0 });
  else comeBack(place, main);
}

function comeBack({ y, link }: Place, main: HTMLElement | undefined): void {
  const until = performance.now() + PATIENCE;
  const hands = ["wheel", "touchmove", "pointerdown", "keydown"]; // whoever moves on is not called back
  let isThere = false;
  let frame = 0;
  const step = (): void => {
    if (!isThere) window.scrollTo({ top: y });
    isThere ||= Math.abs(window.scrollY - y) < 2;
    const from = link === null ? null : main?.querySelector<HTMLElement>(`a[href="${CSS.escape(link)}"]`);
    if (isThere && from && document.activeElement === main) from.focus({ preventScroll: true });
    if ((isThere && (link === null || from)) || performance.now() > until) stop?.();
    else frame = requestAnimationFrame(step);
  };
  stop = () => {
    cancelAnimationFrame(frame);
    for (const one of hands) removeEventListener(one, stop!);
    stop = null;
  };
  for (const one of hands) addEventListener(one, stop, { passive: true });
  step();
}

function keep(patch: Partial<Place>): void {
  places.set(entry, { y: window.scrollY, link: places.get(entry)?.link ?? null, ...patch });
}
addEventListener("scroll", () => stop ?? keep({}), { passive: true });
addEventListener("click", (event) => keep({ link: (event.target as Element).closest("a[href^='#']")?.getAttribute("href") ?? null }), true);
