/** Short messages at the foot of the page; a change carries its way back. */

export interface Toast {
  id: number;
  text: string;
  kind: "info" | "error";
  entry: number | null;
  action: { label: string; run: () => void } | null; // what may be wanted next
  slot: string | null; // a message replaces the one before it in the same slot
}

class Toasts {
  list: Toast[] = $state([]);
  /** Where they can be shown, the topmost last: what a dialog covers is neither read out nor to be clicked. */
  places: symbol[] = $state.raw([]);
  #next = 1;

  say(text: string, options: { kind?: "info" | "error"; entry?: number | null; slot?: string; action?: Toast["action"] } = {}): void {
    const toast: Toast = { id: this.#next++, text, kind: options.kind ?? "info", entry: options.entry ?? null, slot: options.slot ?? null, action: options.action ?? null };
    this.list = [...this.list.filter((one) => one.slot === null || one.slot !== toast.slot).slice(-2), toast];
    setTimeout(() => this.drop(toast.id), toast.action ? 20_000 : toast.kind === "error" ? 12_000 : 7_000);
  }

  fail(problem: unknown): void {
    this.say(problem instanceof Error ? problem.message : String(problem), { kind: "error" });
  }

  /** What was taken back is offered no more, nor what might have come next. */
  undone(entry: number | null): void {
    if (entry !== null) this.list = this.list.filter((one) => one.entry !== entry);
  }

  drop(id: number): void {
    this.list = this.list.filter((one) => one.id !== id);
  }
}

export const toasts = new Toasts();
