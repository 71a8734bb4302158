// definitions.json has every operation, header, parameter and body element that the installed clients know. If a newer
// client has a new name, these tests fail until write-definitions.mjs has added it; then the tests that walk the
// definitions fail until the server implements or refuses it, or a row says why it is harmless. decision: 1435
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { installedDefinitions, KINDS } from '../lib/definitions.mjs';

const DEFINITIONS = JSON.parse(readFileSync(new URL('definitions.json', import.meta.url)));

for (const [service, operations] of Object.entries(await installedDefinitions())) {
    test(`${service}: the definitions have all names of the installed client`, () => {
        const missing = Object.entries(operations).flatMap(([name, words]) => KINDS.flatMap((kind) => words[kind]
            .filter((word) => !DEFINITIONS[service][name]?.[kind].includes(word)).map((word) => `${name} ${word}`)));
        const unknown = Object.keys(operations).filter((name) => !(name in DEFINITIONS[service]));

        assert.ok(Object.keys(operations).length > 10);
        assert.deepEqual([...unknown, ...missing], []);
    });
}
