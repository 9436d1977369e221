/** Colours and names on made-up maps: neighbours differ to every eye, names never overlap nor leave the window. */

import { compiled } from "./modules.mjs";

const { COLOURS, SHAPES, apart, markGroups } = await import(compiled("map/palette"));
const { bordersOf } = await import(compiled("map/borders", { "./geometry": compiled("map/geometry") }));
const { HIGH, placeLabels } = await import(compiled("map/labels"));

const wrong = [];
const check = (good, sentence) => good || wrong.push(sentence);

/** Numbers between 0 and 1, the same in every run. */
function draws(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** Groups of points about their middles, of uneven size; `spread` says how much they run into each other. */
function made(seed, n, spread) {
  const draw = draws(seed);
  const bell = () => draw() + draw() + draw() - 1.5;
  const points = [];
  for (let id = 1; id <= n; id++) {
    const [cx, cy, size] = [2 * draw() - 1, 2 * draw() - 1, 12 + Math.floor(90 * draw() ** 3)];
    for (let one = 0; one < size; one++) points.push([cx + (spread * bell()) / Math.sqrt(n), cy + (spread * bell()) / Math.sqrt(n), id]);
  }
  const [x, y] = [0, 1].map((at) => Float32Array.from(points, (point) => point[at]));
  const values = Int32Array.from(points, (point) => point[2]);
  const sizes = new Map();
  for (const value of values) sizes.set(value, (sizes.get(value) ?? 0) + 1);
  const ids = [...sizes.keys()].sort((a, b) => sizes.get(b) - sizes.get(a));
  return { x, y, values, ids, sizes };
}

for (const [at, one] of COLOURS.entries()) for (const other of COLOURS.slice(at + 1)) check(apart(one, other) >= 0.085, `colours ${one} and ${other} are ${apart(one, other).toFixed(3)} apart`);
const light = ([r, g, b]) => [r, g, b].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0.05);
const DARK = [0x1b, 0x1f, 0x24]; // --card of the dark page
for (const one of COLOURS) check(light(one) / light(DARK) >= 3.3, `colour ${one} can hardly be seen on the dark page`);
check(Math.abs(apart([0, 0, 0], [255, 255, 255]) - 1) < 1e-3, "black and white are 1 apart");

// three in a row: the outer two meet the middle one and hardly each other
const row = { x: Float32Array.of(0, 0.1, 1, 1.1, 2, 2.1), y: new Float32Array(6), values: Int32Array.of(1, 1, 2, 2, 3, 3) };
const three = bordersOf(row.x, row.y, row.values, [1, 2, 3]);
check(three.get(1).has(2) && three.get(2).has(3) && !three.get(1).has(3), "of three in a row the middle one meets both");

for (let seed = 1; seed <= 30; seed++) {
  for (const [n, spread] of [[3, 1], [12, 1], [25, 2], [40, 1.5], [90, 1.5]]) {
    const { x, y, values, ids, sizes } = made(seed, n, spread);
    const groups = ids.map((id) => ({ id, size: sizes.get(id) }));
    const beside = bordersOf(x, y, values, ids);
    const marks = markGroups(groups, beside);
    const told = (id) => `${marks.get(id).rgb} ${marks.get(id).shape}`;
    check(marks.size === n, `${n} groups have ${marks.size} marks`);
    let clashes = 0;
    let borders = 0;
    for (const [id, near] of beside) {
      for (const [other, weight] of near) {
        check(told(id) !== told(other), `seed ${seed}: neighbours ${id} and ${other} look the same`);
        borders += weight;
        if (marks.get(id).rgb === marks.get(other).rgb) clashes += weight;
      }
    }
    check(clashes <= 0.01 * borders, `seed ${seed}, ${n} groups: ${((100 * clashes) / borders).toFixed(1)} % of the borders have one colour on both sides`);
    if (n <= COLOURS.length) check([...marks.values()].every((mark) => mark.shape === 0), `${n} groups need no other shape than discs`);
    if (n <= (COLOURS.length * SHAPES) / 2) check(new Set(ids.map(told)).size === n, `seed ${seed}: ${n} groups have ${new Set(ids.map(told)).size} looks`);
    const again = markGroups(groups, beside, marks);
    check(ids.every((id) => told(id) === `${again.get(id).rgb} ${again.get(id).shape}`), `seed ${seed}, ${n} groups: marks change though nothing has`);
  }
}

for (let seed = 1; seed <= 60; seed++) {
  const draw = draws(seed);
  const [width, height] = [[390, 420], [1100, 780], [160, 120]][seed % 3];
  const places = Array.from({ length: 70 }, (_, at) => ({ id: at, name: "", guess: false, x: 2.4 * draw() - 1.2, y: 2.4 * draw() - 1.2, spread: 0.2 * draw() }));
  const spots = new Map();
  for (let scale = width / 3; scale < 8 * width; scale *= 1.7) {
    const frame = { width, height, scale, px: (px) => px * scale + width / 2, py: (py) => height / 2 - py * scale };
    const labels = placeLabels(places, frame, (place) => 30 + ((place.id * 37) % 150), spots);
    for (const [at, one] of labels.entries()) {
      check(one.x - one.width / 2 >= 0 && one.x + one.width / 2 <= width && one.y - HIGH / 2 >= 0 && one.y + HIGH / 2 <= height, `seed ${seed}: the name of ${one.place.id} leaves the window`);
      for (const other of labels.slice(at + 1)) check(Math.abs(one.x - other.x) >= (one.width + other.width) / 2 || Math.abs(one.y - other.y) >= HIGH, `seed ${seed}: the names of ${one.place.id} and ${other.place.id} overlap`);
    }
    const seen = places.filter(({ x, y }) => frame.px(x) >= 0 && frame.px(x) <= width && frame.py(y) >= 0 && frame.py(y) <= height);
    if (seen.length) check(labels.some(({ place }) => place === seen[0]), `seed ${seed}: the largest group in sight has no name`);
    check(JSON.stringify(labels.map(({ place, x, y }) => [place.id, x, y])) === JSON.stringify(placeLabels(places, frame, (place) => 30 + ((place.id * 37) % 150), spots).map(({ place, x, y }) => [place.id, x, y])), `seed ${seed}: names move though nothing has`);
  }
}

if (wrong.length) {
  console.error([...new Set(wrong)].slice(0, 20).join("\n"));
  process.exit(1);
}
