/** Colours that colour-blind people can tell apart, then the same with other shapes, then hues with shapes. */

export interface Mark {
  rgb: [number, number, number];
  shape: number;
}

const SAFE: [number, number, number][] = [
  [31, 119, 190],
  [222, 143, 5],
  [2, 148, 115],
  [204, 96, 160],
  [86, 180, 233],
  [213, 94, 0],
  [146, 122, 40],
];
const SHAPES = 4;

export function markOf(rank: number): Mark {
  const shape = Math.floor(rank / SAFE.length) % SHAPES;
  if (rank < SAFE.length * SHAPES) return { rgb: SAFE[rank % SAFE.length]!, shape };
  return { rgb: fromHue((rank * 137.508) % 360), shape: rank % SHAPES };
}

function fromHue(hue: number): [number, number, number] {
  const part = (n: number): number => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (0.5 - 0.32 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}

export const FAINT: [number, number, number] = [139, 148, 158];
