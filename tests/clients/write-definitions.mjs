// Writes definitions.json: the names that it has, and those that only the installed clients have. Run after an update of
// the clients; definitions.test.mjs says when. A new name then needs a row in headers.test.mjs, file-headers.test.mjs,
// dfs-headers.test.mjs or elements.test.mjs, unless the server refuses it.
import { readFileSync, writeFileSync } from 'node:fs';
import { installedDefinitions, KINDS, mergedDefinitions } from '../lib/definitions.mjs';

const FILE = new URL('definitions.json', import.meta.url);
const merged = mergedDefinitions(JSON.parse(readFileSync(FILE)), await installedDefinitions());
const operation = ([name, words]) =>
    `    ${JSON.stringify(name)}: {${KINDS.map((kind) => `"${kind}": ${JSON.stringify(words[kind]).replaceAll(',', ', ')}`).join(', ')}}`;

writeFileSync(FILE, `{\n${Object.entries(merged)
    .map(([service, operations]) => `  "${service}": {\n${Object.entries(operations).map(operation).join(',\n')}\n  }`).join(',\n')}\n}\n`);
