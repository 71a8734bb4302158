#!/usr/bin/env node
// Runs every suite against one build and adds up: run.mjs --build FOLDER [--program FILE] [--soak]
// [SUITE[:PART,PART..]..]
//
// --program: what is started in the place of FOLDER/lagra, such as a script that runs it in an emulator.
//
// Parts of clients and isolation are what the names of their files begin with; of unit, the rooms; of
// short sim, the services.
//
// A suite is a program whose last line of output is "NAME: N passed, N failed[, N skipped]". Suites
// that need a server of their own start LAGRA_BINARY; the others share the one at LAGRA_TEST_URL.
// All servers write what they answered to LAGRA_REPLY_LOG, which the last suite holds against the
// operation table. The last line here is "N passed, N failed".

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Server } from './lib/server.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { values: options, positionals: wanted } = parseArgs({
    allowPositionals: true,
    options: { build: { type: 'string' }, program: { type: 'string' }, soak: { type: 'boolean', default: false } },
});
const wantedParts = new Map(wanted.map((name) => name.split(':')).map(([suite, parts]) => [suite, parts?.split(',')]));
const build = path.resolve(options.build);
const work = mkdtempSync(path.join(tmpdir(), 'lagra-run-'));

const WAITING = { LAGRA_ALWAYS_WAIT: '1' };

/* The longest first, each as soon as the cores have room for it (inParallel).
 *   busy   how many cores it keeps busy while it runs (its CPU time by its seconds, which each run prints); the rest
 *          of its time it waits, for disks and starts */
const soakToo = options.soak ? ['--soak'] : [];
/* Decisions on workers and decisions in the pool share the permutations, when everything runs. */
const half = (which) => (options.soak || wanted.length > 0 ? [] : ['--half', which]);
const SUITES = [
    { name: 'memory', busy: 0.2, command: ['memory/run.mjs', '--build', build, ...soakToo] },
    { name: 'clients', busy: 1.1, command: ['clients/run.mjs'], shared: true },
    { name: 'console', busy: 0.5, command: ['console/run.mjs'] },
    { name: 'unit', busy: 0.7, command: ['unit/run.mjs', '--build', build] },
    { name: 'sim', busy: 0.7, command: ['sim/run.mjs', '--build', build, ...soakToo] },
    { name: 'crash', busy: 0.4, command: ['crash/run.mjs', ...soakToo] },
    { name: 'samba', busy: 0.5, command: ['smb/samba.mjs'] },
    { name: 'limits', busy: 0.5, command: ['limits/run.mjs', ...soakToo] },
    { name: 'faults', busy: 0.4, command: ['faults/run.mjs', ...soakToo] },
    { name: 'power', busy: 0.4, command: ['crash/power.mjs', ...soakToo] },
    // With every decision made in the pool, as if nothing had been in memory.
    { name: 'waiting isolation', busy: 0.6, command: ['isolation/run.mjs', ...half('odd')], env: WAITING },
    { name: 'isolation', busy: 0.6, command: ['isolation/run.mjs', ...half('even')] },
    { name: 'bounds', busy: 0.8, command: ['bounds/run.mjs', '--build', build, ...soakToo] },
    { name: 'planted specs', busy: 0.8, command: ['isolation/planted.mjs', '--build', build, ...(options.soak ? [] : ['sums-above-half-of-the-quota'])] },
    { name: 'waiting replay', busy: 0.5, command: ['replay/replay.mjs'], shared: true, env: WAITING },
    { name: 'replay', busy: 0.5, command: ['replay/replay.mjs'], shared: true },
    { name: 'small', busy: 0.4, command: ['faults/small.mjs', ...soakToo] },
    { name: 'smb', busy: 0.6, command: ['smb/two_protocols.mjs'] },
    { name: 'waiting smb', busy: 0.6, command: ['smb/two_protocols.mjs'], env: WAITING },
    { name: 'disk', busy: 0.4, command: ['faults/disk.mjs', ...soakToo] },
    { name: 'backup', busy: 0.5, command: ['backup/run.mjs', ...soakToo] },
    { name: 'damage', busy: 0.9, command: ['damage/run.mjs', ...soakToo] },
    { name: 'damage of shares', busy: 0.9, command: ['damage/run.mjs', '--shares', ...soakToo], soakOnly: true },
    { name: 'ends', busy: 0.2, command: ['faults/ends.mjs'] },
    { name: 'proxy', busy: 0.3, command: ['proxy/run.mjs'] },
    { name: 'fuzz', busy: 0.7, command: ['fuzz/corpus.mjs', '--build', build] },
    { name: 'wire', busy: 0.3, command: ['wire/run.mjs'], shared: true },
    { name: 'linux', busy: 0.5, command: ['smb/linux.mjs'], askedOnly: true },
    { name: 'content', busy: 1, command: ['unit/content.mjs', '--build', build], soakOnly: true },
    { name: 'planted cells', busy: 0.8, command: ['cluster/planted.mjs', '--build', build], soakOnly: true },
    { name: 'short sim', busy: 1, command: ['sim/short.mjs', '--build', build], askedOnly: true },
];
const AFTER = [{ name: 'replies', busy: 1, command: ['reply_check/check.mjs'] }];
const SOAK = ['isolation', 'waiting isolation', 'crash', 'backup', 'damage', 'power', 'memory', 'limits', 'faults', 'disk', 'small', 'sim', 'content', 'planted specs', 'planted cells', 'bounds'];
/** Parts are names of files in a folder; null: as the suite takes them. */
const PARTS = { unit: null, 'short sim': null, clients: 'clients', isolation: 'isolation/specs' };
/* A little more than there is: what keeps a core busy waits now and then. No more than four: a container may have
 * fewer than it sees. */
const ROOM = 1.1 * Math.min(4, availableParallelism());

/* Runs a command; at its end says on descriptor 3 what CPU time it and what it waited for took. That of the
 * shared servers is not in it. */
const COUNTING_CPU = `exec 4>&2; TIMEFORMAT='%U %S'; { time "$@" 2>&4 4>&- 3>&-; } 2>&3`;

const total = { passed: 0, failed: 0, skipped: 0 };

/** The files of a suite, without their endings, whose names begin with one of its parts that are wanted. */
function filesOf(name) {
    const parts = wantedParts.get(name);

    if (!parts)
        return [];
    if (PARTS[name] === null)
        return parts;
    if (!PARTS[name])
        throw new Error(`${name} has no parts`);
    return readdirSync(path.join(HERE, PARTS[name])).filter((file) => parts.some((part) => file.startsWith(part)))
        .map((file) => file.split('.')[0]);
}

/** The counts of the last line; a suite that did not get so far has failed as a whole. */
function countsOf(name, output, code) {
    const last = output.trimEnd().split('\n').at(-1) ?? '';
    const found = last.match(/(\d+) passed, (\d+) failed(?:, (\d+) skipped)?/);

    if (!found)
        return { passed: 0, failed: 1, skipped: 0 };
    const [passed, failed, skipped] = found.slice(1).map((text) => Number(text ?? 0));
    return { passed, failed: failed || (code === 0 ? 0 : 1), skipped };
}

async function runSuite({ name, command, env: more = {} }, common) {
    const env = { ...common, ...more };
    const began = Date.now();
    const program = [process.execPath, path.join(HERE, command[0]), ...command.slice(1), ...filesOf(name)];
    const child = spawn('bash', ['-c', COUNTING_CPU, 'bash', ...program],
        { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
    let output = '', cpu = '';

    for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8');
        stream.on('data', (text) => {
            output += text;
        });
    }
    child.stdio[3].on('data', (text) => {
        cpu += text;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    const counts = countsOf(name, output, code);
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    const ofCpu = cpu.trim().split(' ').reduce((sum, part) => sum + Number(part), 0);

    if (counts.failed > 0)
        console.log(`---- ${name} ----\n${output.trimEnd()}\n----`);
    else
        for (const line of output.split('\n').filter((text) => /^skipped\b/i.test(text)))
            console.log(`${name}: ${line}`);
    console.log(`${name}: ${counts.passed} passed, ${counts.failed} failed` +
        `${counts.skipped ? `, ${counts.skipped} skipped` : ''} (${seconds} s, CPU ${ofCpu.toFixed(1)} s)`);
    for (const key of Object.keys(total))
        total[key] += counts[key];
}

/** Runs suites side by side, so many that they keep the cores busy; the first that there is room for is next. */
async function inParallel(suites, env) {
    const waiting = [...suites];
    const running = new Map();
    const isRoomFor = ({ busy }) => running.size === 0 ||
        busy + [...running.keys()].reduce((sum, suite) => sum + suite.busy, 0) <= ROOM;

    while (waiting.length + running.size > 0) {
        for (const suite of [...waiting]) {
            if (!isRoomFor(suite))
                continue;
            waiting.splice(waiting.indexOf(suite), 1);
            running.set(suite, runSuite(suite, env).then(() => running.delete(suite)));
        }
        await Promise.race(running.values());
    }
}

const isWanted = ({ name, soakOnly = false, askedOnly = false }) =>
    (wanted.length > 0 ? wantedParts.has(name) : options.soak ? SOAK.includes(name) : !soakOnly && !askedOnly);
const isThere = ({ name, command }) => {
    if (existsSync(path.join(HERE, command[0])))
        return true;
    console.log(`${name}: the suite is missing`);
    total.failed++;
    return false;
};

const env = {
    LAGRA_BINARY: path.resolve(options.program ?? path.join(build, 'lagra')),
    LAGRA_REPLY_LOG: path.join(work, 'replies.jsonl'),
    LAGRA_TEST_SHARED: process.env.LAGRA_TEST_SHARED ?? path.resolve(HERE, '../../shared'),
    ASAN_OPTIONS: process.env.ASAN_OPTIONS ?? 'abort_on_error=1:detect_leaks=1',
    UBSAN_OPTIONS: process.env.UBSAN_OPTIONS ?? 'print_stacktrace=1:halt_on_error=1',
    TSAN_OPTIONS: process.env.TSAN_OPTIONS ??
        `halt_on_error=1:second_deadlock_stack=1:suppressions=${path.join(HERE, 'lib/tsan.supp')}`,
};
Object.assign(process.env, env);

try {
    const suites = SUITES.filter(isWanted).filter(isThere);
    const servers = new Map();

    for (const suite of suites.filter(({ shared }) => shared)) {
        const kind = JSON.stringify(suite.env ?? {});

        if (!servers.has(kind))
            servers.set(kind, await Server.start({ env: suite.env ?? {}, binary: suite.env?.LAGRA_BINARY }));
        suite.env = { ...suite.env, ...servers.get(kind).testEnvironment };
    }
    await inParallel(suites, env);
    for (const server of servers.values())
        await server.stop().catch((error) => {
            console.log(`a shared server: ${error.message}`);
            total.failed++;
        });
    if (wanted.length === 0 && !options.soak)
        await inParallel(AFTER.filter(isThere), env);
} finally {
    rmSync(work, { recursive: true, force: true });
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
