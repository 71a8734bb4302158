#!/usr/bin/env node
// Checks the protocols of the store on RADOS exhaustively, with Spin: every order of steps of the models
// beside this file, small as they are. First as the protocols are: no assertion fails, nothing is stuck. Then
// with one rule left out at a time: the checker must find what the rule is there for.
//
//   run.mjs [--verbose] [PART OF A NAME]..
//
// The last line is "model: N passed, N failed".

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CHECKS } from './checks.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const DEPTH = 1_000_000;
const MEMORY_MIB = 3000;

const { values: options, positionals: wanted } = parseArgs({
    allowPositionals: true, options: { verbose: { type: 'boolean', default: false } },
});
const work = mkdtempSync(path.join(tmpdir(), 'lagra-model-'));

function run(folder, command, ...args) {
    return new Promise((resolve, reject) => {
        const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
        let output = '';

        for (const stream of [child.stdout, child.stderr])
            stream.on('data', (text) => {
                output += text;
            });
        child.once('error', reject);
        child.once('close', (code) => resolve({ code, output }));
    });
}

async function must(folder, command, ...args) {
    const { code, output } = await run(folder, command, ...args);

    if (code !== 0 || /\berror\b/i.test(output))
        throw new Error(`${command} ${args.join(' ')}\n${output}`);
}

/** What the checker says of one model: 'holds', or the assertion that fails, or 'stuck'. */
async function check({ model, defines }) {
    const folder = mkdtempSync(path.join(work, 'check-'));
    const file = path.join(HERE, `${model}.pml`);

    await must(folder, 'spin', ...defines.map((name) => `-D${name}`), '-a', file);
    await must(folder, 'gcc', '-w', '-DSAFETY', '-DCOLLAPSE', `-DMEMLIM=${MEMORY_MIB}`, '-o', 'pan', 'pan.c');
    const { output } = await run(folder, './pan', `-m${DEPTH}`);
    const errors = output.match(/errors: (\d+)/)?.[1];
    const states = Number(output.match(/^\s*([\d.e+]+) states, stored/m)?.[1] ?? NaN);
    const whole = errors !== undefined && !/Search not completed|max search depth too small|out of memory/.test(output);
    const found = output.match(/pan:\d+: ([^(]*(?:\(.*\))?) \(at depth/)?.[1];

    if (errors === undefined || (errors === '0' && !whole))
        throw new Error(`the search is not complete\n${output}`);
    if (options.verbose && found)
        console.log((await run(folder, 'spin', ...defines.map((name) => `-D${name}`), '-t', '-p', '-g', file)).output);
    rmSync(folder, { recursive: true });
    return { verdict: errors === '0' ? 'holds' : found ?? 'an error', states };
}

let passed = 0, failed = 0;

async function report(job) {
    const name = `${job.model} ${job.defines.join(' ')}`;
    const { verdict, states } = await check(job).catch((error) => ({ verdict: error.message, states: NaN }));
    const isFound = /^assertion violated|^invalid end state/.test(verdict);
    const isRight = job.rule ? isFound : verdict === 'holds';

    isRight ? passed++ : failed++;
    console.log(`${isRight ? 'ok    ' : 'FAILED'} ${name}: ${job.rule ? `without "${job.rule}"` : `${states} states`}: ${verdict}`);
}

const queue = CHECKS.filter(({ model, defines }) =>
    wanted.length === 0 || wanted.some((part) => `${model} ${defines.join(' ')}`.includes(part)));

try {
    await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, async () => {
        while (queue.length > 0)
            await report(queue.shift());
    }));
} finally {
    rmSync(work, { recursive: true });
}
console.log(`model: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
