/** How large the pictures of grids are: what the person chose, kept in this browser. */

import { viewport } from "../viewport.svelte";

/** Least width of a square in pixels, on a wide screen and on a phone. */
const WIDE = [72, 100, 132, 180, 240];
const NARROW = [60, 80, 108, 160, 240];
const USUAL = 2;
const PLACE = "manyview-sizes";

function kept(): number {
  try {
    const found = Number(localStorage.getItem(PLACE) ?? USUAL);
    return Number.isInteger(found) && found in WIDE ? found : USUAL;
  } catch {
    return USUAL; // storage may be switched off
  }
}

class Sizes {
  step = $state(kept());
  readonly most = WIDE.length - 1;
  readonly width = $derived((viewport.width <= 720 ? NARROW : WIDE)[this.step]!);

  set(step: number): void {
    this.step = Math.max(0, Math.min(this.most, step));
    try {
      localStorage.setItem(PLACE, String(this.step));
    } catch {
      // it then lasts until the page is closed
    }
  }
}

export const sizes = new Sizes();
