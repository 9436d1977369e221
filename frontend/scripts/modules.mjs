/** Modules of the pages as ones that Node can load: those they need are written into them. */

import { readFileSync } from "node:fs";
import ts from "typescript";

export const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

export function compiled(name, needs = {}) {
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true };
  let text = ts.transpileModule(read(`../src/${name}.ts`), { compilerOptions: options }).outputText;
  for (const [path, address] of Object.entries(needs)) text = text.replaceAll(`"${path}"`, JSON.stringify(address));
  return `data:text/javascript;base64,${Buffer.from(text).toString("base64")}`;
}
