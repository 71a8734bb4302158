#!/usr/bin/env node
// A few seconds of the simulator with a new seed: short.mjs --build FOLDER SERVICE..

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

const SECONDS = '8';
const { values: { build }, positionals: services } = parseArgs({ allowPositionals: true, options: { build: { type: 'string' } } });
let passed = 0, failed = 0;

for (const service of services) {
    const seed = String(Math.floor(Math.random() * 1e9));
    const { status, stdout, stderr } = spawnSync(path.join(path.resolve(build), 'tests/sim/simulate'),
        ['--seed', seed, '--seconds', SECONDS, '--service', service], { encoding: 'utf8' });

    if (status === 0) {
        passed++;
    } else {
        failed++;
        console.log(`${service}, from seed ${seed}:\n${stdout}${stderr}`);
    }
}
console.log(`short sim: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
