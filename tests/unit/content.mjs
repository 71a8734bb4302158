#!/usr/bin/env node
// Contents on the embedded store at full size: a million pages of 4 KiB and as many sectors at
// random offsets of 8 TiB, read back, the difference of two generations; 50,000 appends; random
// changes against a model for many seeds. Prints what the programs say of records, bytes and
// seconds.
//
//   content.mjs --build FOLDER

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values: { build } } = parseArgs({ options: { build: { type: 'string' } } });
const RUNS = [['test_bounds', { LAGRA_PAGES: '1000000' }], ['test_sparse', { LAGRA_SEEDS: '20', LAGRA_SEED: '100' }]];
let passed = 0, failed = 0;

for (const [name, env] of RUNS) {
    const child = spawnSync(path.join(path.resolve(build), 'tests/unit/content', name), [],
        { encoding: 'utf8', env: { ...process.env, LAGRA_CONTENT_STORE: 'embedded', ...env } });
    const output = child.stdout + child.stderr;

    if (child.status === 0) {
        passed++;
        for (const line of output.split('\n').filter((text) => /\d/.test(text) && !/^\[|^seed/.test(text)))
            console.log(`${name}: ${line}`);
    } else {
        failed++;
        console.log(`${name} (${child.status ?? child.signal})\n${output}`);
    }
}
console.log(`content: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
