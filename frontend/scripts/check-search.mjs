/** Puts the questions of tests/search.json, on pictures too, to the exported site's search; the server's answers them alike. */

import { compiled, read } from "./modules.mjs";

const siteSearch = compiled("lib/site/site-search", { "../query": compiled("lib/query") });
const { fold, matcher, readTerms, treeOf } = await import(siteSearch);
const { searchAll } = await import(compiled("lib/site/site-looks", { "./site-search": siteSearch }));
const table = JSON.parse(read("../../tests/search.json"));

const rows = table.items.map(({ name, text, tags, cluster, confidence, taken, camera, lens = "", place }, at) => ({
  id: at + 1,
  key: name,
  kind: text ? "document" : "row",
  cluster: cluster < 0 ? null : cluster + 1,
  cluster_name: table.cluster_names[cluster + 1] ?? null,
  confidence,
  tags,
  n_tags: tags.length,
  taken,
  camera,
  lens,
  place,
}));
const texts = new Map(table.items.map(({ text }, at) => [at + 1, text]));
const proposed = new Map();
for (const [name, tag] of table.proposed) {
  proposed.set(fold(tag), (proposed.get(fold(tag)) ?? new Set()).add(rows.find((row) => row.key === name).id));
}

/** A word and all that stand above it, from the most general. */
const pathTo = (word) => (word in table.below ? [...pathTo(table.below[word]), word] : [word]);
const below = treeOf(Object.keys(table.below).map(pathTo));

const wrong = [];
for (const [query, expected] of table.questions) {
  const found = rows.filter(matcher(readTerms(query), { texts, proposed, below })).map((row) => row.key);
  if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push(`${query}: found ${found}; expected ${expected}`);
}
for (const [query, sentence] of table.refused) {
  try {
    readTerms(query);
    wrong.push(`${query}: was taken`);
  } catch (error) {
    if (!error.message.includes(sentence)) wrong.push(`${query}: ${error.message}`);
  }
}

try {
  readTerms("like:3,5");
  wrong.push("like:3,5: was taken");
} catch (error) {
  if (!error.message.includes("what is alike")) wrong.push(`like:3,5: ${error.message}`);
}

const { shows, of_each, tags, looks, questions, unknown } = table.pictures;
const pictures = shows.flatMap(() => Array.from({ length: of_each }, () => 0)).map((_, at) => {
  const key = `DSC${String(at).padStart(5, "0")}`;
  return { id: at + 1, key, kind: "row", cluster: 1, cluster_name: "Group 1", confidence: null, tags: tags[key] ?? [], n_tags: tags[key]?.length ?? 0 };
});
const nothing = { texts: new Map(), proposed: new Map(), below: new Map() };
for (const [query, hits, nMore, seen, sentence] of questions) {
  const answer = searchAll(query, pictures, nothing, looks);
  const found = [answer.hits.map((hit) => [pictures[hit.item - 1].key, hit.how]), answer.more.length, answer.seen, answer.sentence];
  const expected = [hits, nMore, seen, sentence];
  if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push(`${query}: found ${JSON.stringify(found)}; expected ${JSON.stringify(expected)}`);
}
for (const query of unknown) {
  const { seen, vocabulary } = searchAll(query, pictures, nothing, looks);
  if (seen !== null || vocabulary !== looks.found.length) wrong.push(`${query}: seen ${seen}, of ${vocabulary} words`);
}
if (wrong.length) {
  console.error(wrong.join("\n"));
  process.exit(1);
}
