#!/usr/bin/env node
// Runs the cmocka programs of a build and adds up their tests: run.mjs --build FOLDER [ROOM..]
// LAGRA_EMULATOR: the words that a program of another architecture is run by; LAGRA_WITHOUT: programs that are left out.

import { spawn, spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values: { build }, positionals: rooms } = parseArgs({ allowPositionals: true, options: { build: { type: 'string' } } });
const JOBS = 2;
const emulator = process.env.LAGRA_EMULATOR?.split(' ') ?? [];
const without = process.env.LAGRA_WITHOUT?.split(',') ?? [];
const LIMIT_MS = 600000;
const total = { passed: 0, failed: 0, skipped: 0 };

function programs() {
    const listed = spawnSync('meson', ['introspect', '--tests', build], { encoding: 'utf8' });

    if (listed.status !== 0)
        throw new Error(`meson introspect ${build}: ${listed.stderr}`);
    return JSON.parse(listed.stdout)
        .filter(({ name }) => !without.includes(name))
        .filter(({ cmd }) => rooms.length === 0 || rooms.some((room) => cmd[0].includes(`/tests/unit/${room}/`)));
}

/** Counts the lines of the Test Anything Protocol; a program that ends badly fails once more. */
async function runProgram({ name, cmd, env, workdir }) {
    const [command, ...args] = [...emulator, ...cmd];
    const child = spawn(command, args, {
        cwd: workdir ?? undefined, timeout: LIMIT_MS, stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...env, CMOCKA_MESSAGE_OUTPUT: 'TAP' },
    });
    let output = '';

    for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8');
        stream.on('data', (text) => {
            output += text;
        });
    }
    const code = await new Promise((resolve) => child.once('close', (status, signal) => resolve(status ?? signal)));
    const lines = output.split('\n');
    const isSkipped = (line) => /^(not )?ok\b.*# SKIP/i.test(line); /* cmocka says "not ok" of them */
    const skipped = lines.filter(isSkipped).length;
    const passed = lines.filter((line) => /^ok\b/.test(line) && !isSkipped(line)).length;
    const failed = lines.filter((line) => /^not ok\b/.test(line) && !isSkipped(line)).length;
    const lost = failed === 0 && (code !== 0 || passed + skipped === 0) ? 1 : 0;

    if (failed + lost > 0)
        console.log(`== ${name} (${code})\n${output.trimEnd()}`);
    total.passed += passed;
    total.skipped += skipped;
    total.failed += failed + lost;
}

const queue = programs();
await Promise.all(Array.from({ length: JOBS }, async () => {
    while (queue.length > 0)
        await runProgram(queue.shift());
}));
console.log(`unit: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
