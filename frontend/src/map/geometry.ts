/** Finding points: under the pointer, inside a drawn line, inside the window. */

import type { View } from "./layer";

/** The least and the largest of some numbers. */
export function rangeOf(values: Float32Array): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** Points in square bins, to find the one nearest to a place. */
export class Bins {
  #cells = new Map<number, number[]>();
  #cell: number;

  constructor(private readonly x: Float32Array, private readonly y: Float32Array) {
    const [low, high] = rangeOf(x);
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

/** Members of each group, evenly spaced where there are very many: enough to see where a group is. */
export function membersOf(values: Int32Array, ids: number[], most = 400): Map<number, number[]> {
  const counts = new Map(ids.map((id) => [id, 0]));
  for (const value of values) {
    const n = counts.get(value);
    if (n !== undefined) counts.set(value, n + 1);
  }
  const found = new Map<number, number[]>(ids.map((id) => [id, []]));
  const steps = new Map([...counts].map(([id, n]) => [id, Math.max(1, Math.ceil(n / most))]));
  const turn = new Map(ids.map((id) => [id, 0]));
  for (let i = 0; i < values.length; i++) {
    const at = turn.get(values[i]!);
    if (at === undefined) continue;
    if (at === 0) found.get(values[i]!)!.push(i);
    turn.set(values[i]!, (at + 1) % steps.get(values[i]!)!);
  }
  return found;
}

/** Where a group's name goes: the middle of where most of its points are, and how far half of those lie from it. */
export interface Place {
  id: number;
  name: string;
  x: number;
  y: number;
  spread: number;
  guess: boolean;
}

const CELLS = 12; // along the longer side of the map

export function placesOf(points: { x: Float32Array; y: Float32Array }, values: Int32Array, groups: { id: number; name: string; guess?: boolean }[]): Place[] {
  const members = membersOf(values, groups.map((group) => group.id));
  const [x0, x1, y0, y1] = [...rangeOf(points.x), ...rangeOf(points.y)] as [number, number, number, number];
  const scale = CELLS / Math.max(x1 - x0, y1 - y0, 1e-9);
  return groups.flatMap(({ id, name, guess = false }) => {
    const all = members.get(id)!;
    if (!all.length) return [];
    const rows = thickest(points, all, scale);
    const x = median(rows.map((i) => points.x[i]!));
    const y = median(rows.map((i) => points.y[i]!));
    return [{ id, name, guess, x, y, spread: median(rows.map((i) => Math.hypot(points.x[i]! - x, points.y[i]! - y))) }];
  });
}

/** The points in that block of three by three cells which holds most of them. */
function thickest(points: { x: Float32Array; y: Float32Array }, rows: number[], scale: number): number[] {
  const WIDE = 1 << 16;
  const cellOf = (i: number): number => Math.floor(points.x[i]! * scale) * WIDE + Math.floor(points.y[i]! * scale);
  const counts = new Map<number, number>();
  for (const i of rows) counts.set(cellOf(i), (counts.get(cellOf(i)) ?? 0) + 1);
  const block = (cell: number): number[] => [-WIDE, 0, WIDE].flatMap((across) => [cell + across - 1, cell + across, cell + across + 1]);
  const around = (cell: number): number => block(cell).reduce((sum, one) => sum + (counts.get(one) ?? 0), 0);
  let best = cellOf(rows[0]!);
  for (const cell of counts.keys()) if (around(cell) > around(best)) best = cell;
  const inside = new Set(block(best));
  return rows.filter((i) => inside.has(cellOf(i)));
}

function median(values: number[]): number {
  return Float32Array.from(values).sort()[Math.floor(values.length / 2)]!;
}

/** Those that have room for a square of some side, the first ones first; the others stay points. */
export function withRoom(points: number[], place: (i: number) => [number, number], side: number): number[] {
  const taken: [number, number][] = [];
  return points.filter((i) => {
    const [x, y] = place(i);
    if (taken.some(([a, b]) => Math.abs(a - x) < side && Math.abs(b - y) < side)) return false;
    taken.push([x, y]);
    return true;
  });
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
