/** Finding points: under the pointer, inside a drawn line, inside the window. */

import type { View } from "./layer";

/** Points in square bins, to find the one nearest to a place. */
export class Bins {
  #cells = new Map<number, number[]>();
  #cell: number;

  constructor(private readonly x: Float32Array, private readonly y: Float32Array) {
    let low = Infinity;
    let high = -Infinity;
    for (const value of x) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    this.#cell = Math.max(1e-6, (high - low) / Math.max(1, Math.sqrt(x.length)));
    for (let i = 0; i < x.length; i++) {
      const key = this.#key(Math.floor(x[i]! / this.#cell), Math.floor(y[i]! / this.#cell));
      const list = this.#cells.get(key);
      if (list) list.push(i);
      else this.#cells.set(key, [i]);
    }
  }

  #key(column: number, row: number): number {
    return column * 1_000_003 + row;
  }

  /** Points within a rectangle of the map, until there are too many. */
  within(left: number, bottom: number, right: number, top: number, most: number): number[] | null {
    const found: number[] = [];
    const [c0, c1] = [Math.floor(left / this.#cell), Math.floor(right / this.#cell)];
    const [r0, r1] = [Math.floor(bottom / this.#cell), Math.floor(top / this.#cell)];
    if ((c1 - c0) * (r1 - r0) > 40_000) return null;
    for (let column = c0; column <= c1; column++) {
      for (let row = r0; row <= r1; row++) {
        for (const i of this.#cells.get(this.#key(column, row)) ?? []) {
          if (this.x[i]! >= left && this.x[i]! <= right && this.y[i]! >= bottom && this.y[i]! <= top) found.push(i);
        }
        if (found.length > most) return null;
      }
    }
    return found;
  }

  /** Is any point within a rectangle that is to be seen? */
  any(left: number, bottom: number, right: number, top: number, visible: (i: number) => boolean): boolean {
    for (let i = 0; i < this.x.length; i++) {
      if (this.x[i]! >= left && this.x[i]! <= right && this.y[i]! >= bottom && this.y[i]! <= top && visible(i)) return true;
    }
    return false;
  }

  nearest(x: number, y: number, within: number, visible: (i: number) => boolean): number | null {
    let best: number | null = null;
    let distance = within * within;
    for (const i of this.within(x - within, y - within, x + within, y + within, 20_000) ?? []) {
      const d = (this.x[i]! - x) ** 2 + (this.y[i]! - y) ** 2;
      if (d <= distance && visible(i)) {
        best = i;
        distance = d;
      }
    }
    return best;
  }
}

/** Where a group's name goes: the middle of its points, and how far half of them lie from it. */
export interface Place {
  id: number;
  name: string;
  size: number;
  x: number;
  y: number;
  spread: number;
  guess: boolean;
}

export function placesOf(points: { x: Float32Array; y: Float32Array }, values: Int32Array, groups: { id: number; name: string; guess?: boolean }[]): Place[] {
  const members = new Map<number, number[]>(groups.map((group) => [group.id, []]));
  for (let i = 0; i < values.length; i++) members.get(values[i]!)?.push(i);
  return groups.flatMap(({ id, name, guess = false }) => {
    const rows = members.get(id)!;
    if (!rows.length) return [];
    const x = median(rows.map((i) => points.x[i]!));
    const y = median(rows.map((i) => points.y[i]!));
    return [{ id, name, guess, size: rows.length, x, y, spread: median(rows.map((i) => Math.hypot(points.x[i]! - x, points.y[i]! - y))) }];
  });
}

function median(values: number[]): number {
  return Float32Array.from(values).sort()[Math.floor(values.length / 2)]!;
}

export type Line = [number, number][];

export function inside(line: Line, x: number, y: number): boolean {
  let odd = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const [xi, yi] = line[i]!;
    const [xj, yj] = line[j]!;
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}

/** A drawn line with few corners, so that an address can hold it. */
export function thinned(line: Line, most = 40): Line {
  const step = Math.max(1, Math.ceil(line.length / most));
  return line.filter((_, at) => at % step === 0);
}

export function writeLine(line: Line): string {
  return line.map(([x, y]) => `${x.toFixed(3)}_${y.toFixed(3)}`).join("~");
}

export function readLine(text: string | undefined): Line | null {
  if (!text) return null;
  const line = text.split("~").map((pair) => pair.split("_").map(Number) as [number, number]);
  return line.length >= 3 && line.every(([x, y]) => Number.isFinite(x) && Number.isFinite(y)) ? line : null;
}

/** Where all but the outermost hundredth on either side lie: a few strays must not make the rest small. */
function middle(values: Float32Array): [number, number] {
  const sorted = values.toSorted();
  const stray = Math.floor(sorted.length / 100);
  return [sorted[stray]!, sorted[sorted.length - 1 - stray]!];
}

/** The view that shows the points, with a margin. */
export function fitting(x: Float32Array, y: Float32Array, width: number, height: number): View {
  if (x.length === 0) return { x: 0, y: 0, scale: 1 };
  const [x0, x1] = middle(x);
  const [y0, y1] = middle(y);
  const scale = Math.min((width * 0.84) / Math.max(1e-6, x1 - x0), (height * 0.84) / Math.max(1e-6, y1 - y0));
  return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, scale: Math.max(1e-6, scale) };
}
