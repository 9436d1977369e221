/** The window's scroll and size, once per frame, for lists that draw only what is seen. */

class Viewport {
  scroll = $state(window.scrollY);
  height = $state(window.innerHeight);
  width = $state(document.documentElement.clientWidth || window.innerWidth);
  /** Moves when the page has become longer or shorter: time to measure where things are. */
  layout = $state(0);
  #waiting = false;

  constructor() {
    const later = () => {
      if (this.#waiting) return;
      this.#waiting = true;
      requestAnimationFrame(() => {
        this.#waiting = false;
        this.scroll = window.scrollY;
        this.height = window.innerHeight;
        this.width = document.documentElement.clientWidth;
      });
    };
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later, { passive: true });
    new ResizeObserver(() => (this.layout += 1)).observe(document.body);
  }

  /** Rows [first, last) of a list that starts `top` px down the document. */
  rows(top: number, rowHeight: number, nRows: number, beyond: number): [number, number] {
    const first = Math.floor((this.scroll - top) / rowHeight) - beyond;
    const last = Math.ceil((this.scroll + this.height - top) / rowHeight) + beyond;
    return [Math.max(0, Math.min(first, nRows)), Math.max(0, Math.min(last, nRows))];
  }
}

export const viewport = new Viewport();
export const narrow = (): boolean => viewport.width <= 720;
