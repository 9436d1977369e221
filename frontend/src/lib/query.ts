/** The search language: `beach tag:"palm tree" -tag:people cluster:12 untagged confidence<0.4`. */

export interface Term {
  field: string; // "" for a plain word
  value: string;
  negated: boolean;
  quoted?: boolean; // a word in quotes is a word, also where it would mean something without them
}

/** Cut a query into its terms. What cannot be read stays a word; the server has the last say. */
export function parseQuery(text: string): Term[] {
  const terms: Term[] = [];
  for (const match of text.matchAll(/(-?)(?:([a-z]+):|(confidence(?:[<>]=?|=)))?(?:"((?:[^"]|"")*)"?|(\S+))/gi)) {
    const [, minus = "", name = "", compared = "", quoted, bare = ""] = match;
    const value = quoted?.replaceAll('""', '"') ?? bare;
    terms.push({ field: (name || compared).toLowerCase(), value, negated: minus === "-", quoted: quoted !== undefined });
  }
  return terms;
}

function written(term: Term): string {
  const field = term.field && !/[<>=]$/.test(term.field) ? `${term.field}:` : term.field;
  const plain = /^[^\s"-][^\s"]*$/.test(term.value) && (term.field !== "" || !(term.quoted || term.value.includes(":")));
  return `${term.negated ? "-" : ""}${field}${plain ? term.value : `"${term.value.replaceAll('"', '""')}"`}`;
}

export function formatQuery(terms: Term[]): string {
  return terms.map(written).join(" ");
}

/** The query that finds the items with a tag. */
export function tagQuery(name: string): string {
  return written({ field: "tag", value: name, negated: false });
}

function same(a: Term, field: string, value: string): boolean {
  return a.field === field && !(field === "" && a.quoted) && a.value.toLowerCase() === value.toLowerCase();
}

/** How a term stands in a query: wanted, ruled out, or not mentioned. */
export function standing(text: string, field: string, value: string): "in" | "out" | null {
  const found = parseQuery(text).find((term) => same(term, field, value));
  return found ? (found.negated ? "out" : "in") : null;
}

/** The query with a term added, or taken away where it was. */
export function toggled(text: string, field: string, value: string, negated = false): string {
  const terms = parseQuery(text);
  const rest = terms.filter((term) => !same(term, field, value));
  const had = terms.find((term) => same(term, field, value));
  if (!had || had.negated !== negated) rest.push({ field, value, negated });
  return formatQuery(rest);
}
