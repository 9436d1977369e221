/** Colours that colour-blind people can tell apart, and shapes, given out so that neighbours on the map differ. */

import type { Beside } from "./borders";

export type Rgb = [number, number, number];
export interface Mark {
  rgb: Rgb;
  shape: number;
}

/**
 * In full colour and to each kind of colour-blind eye any two of these are at least 0.085 apart in Oklab (`apart`); on the dark page
 * each has a contrast of 3.3 or more.
 */
export const COLOURS: Rgb[] = [
  [0, 107, 255],
  [221, 0, 93],
  [40, 124, 112],
  [255, 102, 179],
  [0, 179, 255],
  [180, 133, 57],
  [123, 99, 171],
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
const REUSE = 6; // what a colour costs that all items have already

/**
 * A mark for each group, the largest of which come first. Whoever borders most on those that have a colour comes next, and takes the
 * one farthest from its neighbours'. Groups of one colour have different shapes, as long as there are any. What a group looked like
 * before it keeps where that is no worse.
 */
export function markGroups(groups: { id: number; size: number }[], beside: Beside, before: Map<number, Mark> = new Map()): Map<number, Mark> {
  const ids = groups.map((group) => group.id);
  const colours = chooseColours(groups, beside, before);
  const marks = new Map<number, Mark>();
  const kept = (id: number): Mark | undefined => (before.get(id)?.rgb === COLOURS[colours.get(id)!] ? before.get(id) : undefined);
  for (const id of [...ids.filter(kept), ...ids.filter((one) => !kept(one))]) {
    const rgb = COLOURS[colours.get(id)!]!;
    const same = [...marks].filter(([, mark]) => mark.rgb === rgb);
    const taken = same.map(([, mark]) => mark.shape);
    const doors = same.filter(([other]) => beside.get(id)?.has(other)).map(([, mark]) => mark.shape);
    const worse = (a: number, b: number): number => count(doors, a) - count(doors, b) || count(taken, a) - count(taken, b);
    const best = [...Array(SHAPES).keys()].sort((a, b) => worse(a, b) || a - b)[0]!;
    const had = kept(id)?.shape;
    marks.set(id, { rgb, shape: had !== undefined && worse(had, best) <= 0 ? had : best });
  }
  return marks;
}

function chooseColours(groups: { id: number; size: number }[], beside: Beside, before: Map<number, Mark>): Map<number, number> {
  const colours = new Map<number, number>();
  const total = groups.reduce((sum, { size }) => sum + size, 0) || 1;
  const share = new Map(groups.map(({ id, size }) => [id, size / total]));
  const used = COLOURS.map(() => 0); // share of the items that have the colour: large groups differ also where they do not meet
  const left = new Set(share.keys());
  const pull = new Map(groups.map(({ id }) => [id, 0])); // how much a group borders on those that have a colour
  while (left.size) {
    let next = -1;
    for (const id of left) if (next < 0 || pull.get(id)! > pull.get(next)!) next = id; // of equals the first
    const near = [...(beside.get(next) ?? [])].filter(([other]) => colours.has(other));
    const cost = COLOURS.map((_, colour) => {
      const clash = near.map(([other, weight]) => weight * nearness(colour, colours.get(other)!));
      return clash.reduce((sum, one) => sum + one, 0) + (used[colour]! > 0 ? 0.5 : 0) + used[colour]! * REUSE;
    });
    const least = Math.min(...cost);
    const had = COLOURS.findIndex((rgb) => rgb === before.get(next)?.rgb);
    const colour = had >= 0 && cost[had]! <= least + 0.2 ? had : cost.indexOf(least);
    colours.set(next, colour);
    used[colour]! += share.get(next)!;
    left.delete(next);
    for (const [other, weight] of beside.get(next) ?? []) if (left.has(other)) pull.set(other, pull.get(other)! + weight);
  }
  return colours;
}

const nearness = (a: number, b: number): number => (a === b ? SAME : Math.max(0, 1 - APART[a]![b]! / FAR) ** 2);
const count = (list: number[], value: number): number => list.filter((one) => one === value).length;
