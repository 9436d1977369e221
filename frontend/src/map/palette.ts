/** Colours that colour-blind people can tell apart, and shapes, given out so that neighbours on the map differ. */

import type { Beside } from "./borders";

export type Rgb = [number, number, number];
export interface Mark {
  rgb: Rgb;
  shape: number;
}

/** In full colour and to each kind of colour-blind eye any two of these are at least 0.1 apart in Oklab (`apart`). */
export const COLOURS: Rgb[] = [
  [0, 102, 255],
  [204, 0, 77],
  [26, 102, 0],
  [255, 102, 179],
  [0, 179, 255],
  [179, 128, 51],
  [128, 77, 153],
  [179, 179, 0],
];
export const SHAPES = 5;
export const FAINT: Rgb = [139, 148, 158];

type Matrix = [Rgb, Rgb, Rgb];
/** Full colour, and what is left of it to the three kinds of colour-blind eyes: Machado, Oliveira and Fernandes (2009). */
const EYES: Matrix[] = [
  [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
];
const CONES: Matrix = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]];
const OPPOSED: Matrix = [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]];

const times = (by: Matrix, c: Rgb): Rgb => by.map((row) => row[0] * c[0] + row[1] * c[1] + row[2] * c[2]) as Rgb;
const each = (c: Rgb, of: (part: number) => number): Rgb => c.map(of) as Rgb;

/** How far apart two colours are to the eye that tells them apart least: distance in Oklab, where black and white are 1 apart. */
export function apart(a: Rgb, b: Rgb): number {
  const linear = (c: Rgb): Rgb => each(c, (part) => (part <= 10.31475 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  const seen = (c: Rgb, eye: Matrix): Rgb => times(OPPOSED, each(times(CONES, each(times(eye, linear(c)), (part) => Math.max(0, Math.min(1, part)))), Math.cbrt));
  return Math.min(...EYES.map((eye) => { const [p, q] = [seen(a, eye), seen(b, eye)]; return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]); }));
}

const APART = COLOURS.map((one) => COLOURS.map((other) => apart(one, other)));
const FAR = 0.3; // from here on, farther apart helps nobody
const SAME = 100; // what the same colour next door costs, beside colours that are merely near

/**
 * A mark for each group. Whoever has most to do with those that have one comes next, and takes the colour that is farthest
 * from its neighbours'; groups of one colour have different shapes as long as there are any. What a group had before it keeps
 * where that is no worse.
 */
export function markGroups(ids: number[], beside: Beside, before: Map<number, Mark> = new Map()): Map<number, Mark> {
  const colours = new Map<number, number>();
  const marks = new Map<number, Mark>();
  const used = COLOURS.map(() => 0);
  const left = new Set(ids);
  const pull = new Map(ids.map((id) => [id, 0])); // how much a group borders on those that have a colour
  while (left.size) {
    let next = -1;
    for (const id of left) if (next < 0 || pull.get(id)! > pull.get(next)!) next = id; // of equals the first, which is the largest
    const near = [...(beside.get(next) ?? [])].filter(([other]) => colours.has(other));
    const cost = COLOURS.map((_, colour) => {
      const clash = near.map(([other, weight]) => { const theirs = colours.get(other)!; return weight * (theirs === colour ? SAME : Math.max(0, 1 - APART[colour]![theirs]! / FAR) ** 2); });
      return clash.reduce((sum, one) => sum + one, 0) + used[colour]! * 0.05;
    });
    const least = Math.min(...cost);
    const had = COLOURS.findIndex((rgb) => rgb === before.get(next)?.rgb);
    const colour = had >= 0 && cost[had]! <= least + 0.2 ? had : cost.indexOf(least);
    const taken = ids.filter((id) => colours.get(id) === colour).map((id) => marks.get(id)!.shape);
    const doors = near.filter(([other]) => colours.get(other) === colour).map(([other]) => marks.get(other)!.shape);
    const shapes = [...Array(SHAPES).keys()].sort((a, b) => count(doors, a) - count(doors, b) || count(taken, a) - count(taken, b) || a - b);
    const kept = before.get(next);
    const shape = had === colour && kept && count(taken, kept.shape) <= count(taken, shapes[0]!) && !doors.includes(kept.shape) ? kept.shape : shapes[0]!;
    colours.set(next, colour);
    marks.set(next, { rgb: COLOURS[colour]!, shape });
    used[colour]! += 1;
    left.delete(next);
    for (const [other, weight] of beside.get(next) ?? []) if (left.has(other)) pull.set(other, pull.get(other)! + weight);
  }
  return marks;
}

const count = (list: number[], value: number): number => list.filter((one) => one === value).length;
