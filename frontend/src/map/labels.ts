/** Where the names of groups go: beside their points, inside the window, and never one over another. */

import type { Place } from "./geometry";

export interface Label {
  place: Place;
  x: number; // its middle
  y: number;
  width: number;
  opacity: number;
}
export interface Frame {
  width: number;
  height: number;
  px: (x: number) => number;
  py: (y: number) => number;
  scale: number; // pixels per unit of the map
}

export const HIGH = 20; // px, with the padding
const GAP = 3;
const ROOM = 14_000; // square pixels of the window for each name
const MOST = 60;

/**
 * Names of the largest groups first: above small ones and on large ones where there is room, else below or beside them, at the spot
 * they had before if that is free (`spots`, which is kept up). Who finds no room has no name until one is closer.
 */
export function placeLabels(places: Place[], frame: Frame, widthOf: (place: Place) => number, spots: Map<number, number>): Label[] {
  const shown: Label[] = [];
  const most = Math.min(MOST, Math.max(3, (frame.width * frame.height) / ROOM));
  for (const place of places) {
    const [x, y] = [frame.px(place.x), frame.py(place.y)];
    if (x < 0 || y < 0 || x > frame.width || y > frame.height) continue;
    const radius = place.spread * frame.scale;
    const opacity = Math.max(0.25, Math.min(1, 2 - radius / (frame.width * 0.5))); // close up, points count more than names
    const width = Math.min(widthOf(place), frame.width - 2 * GAP);
    const spot = findSpot(around(x, y, Math.min(60, radius), width), width, frame, shown, spots.get(place.id) ?? 0);
    if (!spot) continue;
    spots.set(place.id, spot.at);
    shown.push({ place, x: spot.x, y: spot.y, width, opacity });
    if (shown.length >= most) break;
  }
  return shown;
}

function around(x: number, y: number, radius: number, width: number): [number, number][] {
  const [up, aside] = [radius + HIGH / 2 + 2, radius + width / 2 + 4];
  const first: [number, number][] = radius > 24 ? [[x, y], [x, y - up], [x, y + up]] : [[x, y - up], [x, y + up], [x, y]];
  return [...first, [x + aside, y], [x - aside, y], [x + aside / 2, y - up], [x - aside / 2, y - up], [x + aside / 2, y + up], [x - aside / 2, y + up]];
}

function findSpot(spots: [number, number][], width: number, frame: Frame, shown: Label[], first: number): { x: number; y: number; at: number } | null {
  for (let turn = 0; turn <= spots.length; turn++) {
    const at = turn === 0 ? first : turn - 1;
    const x = clamp(spots[at]![0], GAP + width / 2, frame.width - GAP - width / 2);
    const y = clamp(spots[at]![1], GAP + HIGH / 2, frame.height - GAP - HIGH / 2);
    if (!shown.some((other) => Math.abs(other.x - x) < (other.width + width) / 2 + GAP && Math.abs(other.y - y) < HIGH + GAP)) return { x, y, at };
  }
  return null;
}

const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));
