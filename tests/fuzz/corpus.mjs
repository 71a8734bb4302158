#!/usr/bin/env node
// Runs every fuzzer over its corpus and over small damage of it: corpus.mjs --build FOLDER
// [--rounds N] A crash of libFuzzer (`make fuzz`) becomes a file of the corpus, so it is never seen
// again.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({ options: { build: { type: 'string' }, rounds: { type: 'string', default: '500' } } });
/** Rounds of a file of fuzz_smb_states, whose inputs take milliseconds each; of those with the largest sets none but itself. */
const roundsOf = (name, file) => (name !== 'fuzz_smb_states' ? Number(options.rounds) : file.endsWith('-large') ? 0 : Math.ceil(options.rounds / 25));
const total = { passed: 0, failed: 0 };

for (const name of readdirSync(path.join(HERE, 'corpus')).sort()) {
    const folder = path.join(HERE, 'corpus', name);

    for (const file of readdirSync(folder).sort()) {
        const ran = spawnSync(path.join(options.build, 'tests/fuzz', name), [`${roundsOf(name, file)}`, path.join(folder, file)],
            { encoding: 'utf8' });
        const ok = ran.status === 0;

        total[ok ? 'passed' : 'failed']++;
        if (!ok)
            console.log(`FAILED ${name} ${file}: ${ran.signal ?? ran.status}\n${ran.stderr}`);
    }
}
console.log(`fuzz: ${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
