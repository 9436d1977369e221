// What our content security policy and our own rules forbid in the sources: raw markup, inline styles, evaluated code.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FORBIDDEN = [
  [/\{@html\b/, "{@html} puts raw markup into the page"],
  [/\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write|createContextualFragment|\bsrcdoc\b/, "raw markup"],
  [/<[a-z][^>]*\sstyle="/i, "a style attribute is blocked by the policy; use style: directives or classes"],
  [/\beval\s*\(|new Function\s*\(/, "evaluated code"],
  [/https?:\/\/(?!www\.w3\.org\/(2000\/svg|1999))/, "an outside address"],
  [/\bon[a-z]+="/, "an inline handler"],
];

let found = 0;
function look(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) look(path);
    else if (/\.(svelte|ts|css|html)$/.test(entry.name) && entry.name !== "api-types.ts") {
      readFileSync(path, "utf8").split("\n").forEach((line, n) => {
        for (const [pattern, why] of FORBIDDEN) {
          if (pattern.test(line)) {
            console.error(`${path}:${n + 1}: ${why}\n    ${line.trim()}`);
            found += 1;
          }
        }
      });
    }
  }
}
look("src");
look("public");
process.exit(found ? 1 : 0);
