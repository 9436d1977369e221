/** How a picture lies in its window: how much larger than it fits, and shifted by how much. Pointers, wheel and keys move it. */

const MOST = 12;
const SWIPE = 60;

interface Point {
  x: number;
  y: number;
}

export class Zoom {
  scale = $state(1);
  x = $state(0);
  y = $state(0);
  /** The window, and the picture in it at scale 1. */
  room = { width: 0, height: 0 };
  size = { width: 0, height: 0 };
  #down = new Map<number, Point>();
  #start: Point = { x: 0, y: 0 };
  /** A finger went sideways over a picture that fits: -1 to the left, 1 to the right. */
  onswipe: (way: 1 | -1) => void = () => undefined;

  reset(): void {
    [this.scale, this.x, this.y] = [1, 0, 0];
    this.#down.clear();
  }

  /** So many times larger, with this point of the window (from its middle) where it is. */
  by(factor: number, at: Point = { x: 0, y: 0 }): void {
    const scale = Math.max(1, Math.min(MOST, this.scale * factor));
    const grown = scale / this.scale;
    this.x = at.x - (at.x - this.x) * grown;
    this.y = at.y - (at.y - this.y) * grown;
    this.scale = scale;
    this.#hold();
  }

  move(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
    this.#hold();
  }

  /** The picture does not leave its window. */
  #hold(): void {
    const wide = Math.max(0, (this.size.width * this.scale - this.room.width) / 2);
    const high = Math.max(0, (this.size.height * this.scale - this.room.height) / 2);
    this.x = Math.max(-wide, Math.min(wide, this.x));
    this.y = Math.max(-high, Math.min(high, this.y));
  }

  #from(event: MouseEvent): Point {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left - box.width / 2, y: event.clientY - box.top - box.height / 2 };
  }

  wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    this.by(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.002)), this.#from(event));
  }

  twice(event: MouseEvent): void {
    if (this.scale > 1) this.reset();
    else this.by(2.5, this.#from(event));
  }

  down(event: PointerEvent): void {
    if (event.button !== 0 || (event.target as HTMLElement).closest("button, a")) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    const at = this.#from(event);
    this.#down.set(event.pointerId, at);
    this.#start = at;
  }

  drag(event: PointerEvent): void {
    const before = this.#down.get(event.pointerId);
    if (!before) return;
    const at = this.#from(event);
    const other = [...this.#down].find(([id]) => id !== event.pointerId)?.[1];
    this.#down.set(event.pointerId, at);
    if (other) {
      const apart = (a: Point): number => Math.hypot(a.x - other.x, a.y - other.y);
      const middle = { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 };
      if (apart(before) > 0) this.by(apart(at) / apart(before), middle);
      this.#start = { x: NaN, y: NaN }; // two fingers do not swipe
    } else if (this.scale > 1) this.move(at.x - before.x, at.y - before.y);
  }

  up(event: PointerEvent): void {
    if (!this.#down.delete(event.pointerId) || this.#down.size || this.scale > 1 || event.pointerType === "mouse") return;
    const at = this.#from(event);
    const [dx, dy] = [at.x - this.#start.x, at.y - this.#start.y];
    if (event.type === "pointerup" && Math.abs(dx) > SWIPE && Math.abs(dx) > 2 * Math.abs(dy)) this.onswipe(dx < 0 ? 1 : -1);
  }
}
