/** Which groups lie beside each other on the map: by a coarse picture of it, flooded until the groups meet. */

import { membersOf, rangeOf } from "./geometry";

/** Group -> its neighbours, and how long and near their border is. */
export type Beside = Map<number, Map<number, number>>;

const CELLS = 80; // along the longer side
const SHARE = 0.15; // of the points of a cell: from here on a group is one of those that are mixed there

export function bordersOf(x: Float32Array, y: Float32Array, values: Int32Array, ids: number[]): Beside {
  const beside: Beside = new Map(ids.map((id) => [id, new Map<number, number>()]));
  const meet = (a: number, b: number, weight: number): void => {
    for (const [one, other] of [[a, b], [b, a]] as const) beside.get(one)!.set(other, (beside.get(one)!.get(other) ?? 0) + weight);
  };
  if (!x.length || !ids.length) return beside;
  const [x0, x1, y0, y1] = [...rangeOf(x), ...rangeOf(y)] as [number, number, number, number];
  const size = Math.max(x1 - x0, y1 - y0, 1e-9) / CELLS;
  const [wide, high] = [Math.floor((x1 - x0) / size) + 1, Math.floor((y1 - y0) / size) + 1];
  const inside: (Map<number, number> | undefined)[] = Array(wide * high);
  for (const [id, rows] of membersOf(values, ids)) {
    for (const i of rows) {
      const cell = Math.floor((y[i]! - y0) / size) * wide + Math.floor((x[i]! - x0) / size);
      const here = (inside[cell] ??= new Map());
      here.set(id, (here.get(id) ?? 0) + 1);
    }
  }
  const owner = new Int32Array(wide * high).fill(-1);
  const steps = new Int32Array(wide * high);
  const queue: number[] = [];
  inside.forEach((here, cell) => {
    const most = [...here!].sort((a, b) => b[1] - a[1]);
    const total = most.reduce((sum, [, n]) => sum + n, 0);
    const mixed = most.filter(([, n]) => n >= SHARE * total);
    mixed.forEach(([a], at) => mixed.slice(at + 1).forEach(([b]) => meet(a, b, 2)));
    owner[cell] = most[0]![0];
    queue.push(cell);
  });
  const around = (cell: number): number[] => {
    const column = cell % wide;
    return [column > 0 ? cell - 1 : -1, column < wide - 1 ? cell + 1 : -1, cell - wide, cell + wide].filter((one) => one >= 0 && one < owner.length);
  };
  for (let at = 0; at < queue.length; at++) {
    for (const next of around(queue[at]!)) {
      if (owner[next] !== -1) continue;
      owner[next] = owner[queue[at]!]!;
      steps[next] = steps[queue[at]!]! + 1;
      queue.push(next);
    }
  }
  for (let cell = 0; cell < owner.length; cell++) {
    for (const next of around(cell)) if (next > cell && owner[next] !== owner[cell]) meet(owner[cell]!, owner[next]!, 1 / (1 + steps[cell]! + steps[next]!));
  }
  return beside;
}
