#!/usr/bin/env node
// The simulator: run.mjs --build FOLDER [--soak]
//
//   seeds     those that once failed (seeds.txt) pass now
//   alike     the same seed gives the same run
//   damage    disks of which a sector or a bit is changed, after a kill and after a power cut: 50 each;
//             with --soak 20,000
//   planted   a few defects that must be found (planted.mjs); with --soak all
//   cells     calls for one kind of file fail, or such files are damaged, in every life; at the end every
//             cell of docs/failure-guarantees.md that names this suite was reached
//   campaign  new seeds for LAGRA_SIM_SECONDS (20), an eighth of which is of protection; of files by REST and by SMB for a third of that each, of paths,
//             of three front ends, with one cell or several, and of files behind them, for an eighth each; with
//             --soak instead, from a start of its own, until
//             LAGRA_SIM_CRASHES (100,000) crashes, which some 65 requests lie between, and
//             LAGRA_SIM_REQUESTS (10,000,000) requests in longer lives
//
// A failure prints one command that replays it. Last line: "sim: N passed, N failed".

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { COLUMNS, promised } from '../lib/promises.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
    options: { build: { type: 'string' }, soak: { type: 'boolean', default: false } },
});
const program = path.join(path.resolve(options.build), 'tests/sim/simulate');
const seconds = process.env.LAGRA_SIM_SECONDS ?? '20';
const count = { passed: 0, failed: 0 };

/** Rows of docs/failure-guarantees.md -> those of `simulate --cells`. */
const ROWS = {
    'kill -9': ['kill'],
    'power cut: any subset': ['power'],
    'power cut twice': ['power-twice'],
    'power cut: directory updates': ['names'],
    'EIO from a read': ['read'],
    'EIO from a write': ['write'],
    'a sync fails': ['sync'],
    'disk full': ['full'],
    'too many open files': ['descriptors'],
    'short and interrupted': ['short'],
    'a call that takes': ['slow'],
    'a bit or byte changed': ['damage', 'damage-running'],
    'the same after a power cut': ['damage-power'],
};
/** "row column" and "row" of all runs -> how often. */
const reached = new Map();

function countCells(output) {
    for (const [, row, numbers] of output.matchAll(/^cell (\S+): (.*)$/gm))
        numbers.split(' ').forEach((number, i) => {
            for (const cell of [row, `${row} ${COLUMNS[i]}`, ...(row.startsWith('sync-') ? [`sync ${COLUMNS[i]}`] : [])])
                reached.set(cell, (reached.get(cell) ?? 0) + Number(number));
        });
    for (const [, times] of output.matchAll(/the wall clock was set (\d+) times/g))
        reached.set('wall', (reached.get('wall') ?? 0) + Number(times));
}

/** Without the log of replies, which changes who runs when: the command that is printed must replay it. */
function simulate(args) {
    const env = { ...process.env, LAGRA_REPLY_LOG: undefined };
    const child = spawnSync(program, ['--cells', ...args], { encoding: 'utf8', maxBuffer: 1 << 26, env });

    countCells(child.stdout);
    return { passed: child.status === 0, output: child.stdout + child.stderr };
}

function check(name, passed, output) {
    count[passed ? 'passed' : 'failed']++;
    console.log(`${passed ? 'passed' : 'FAILED'}: ${name}`);
    if (!passed)
        console.log(output.trimEnd());
}

/** Lines of "options   # what it found". */
function knownSeeds() {
    return readFileSync(path.join(HERE, 'seeds.txt'), 'utf8').split('\n')
        .map((line) => line.split('#').map((part) => part.trim()))
        .filter(([args]) => args);
}

/** Runs in which each cell is reached: calls for one kind of file fail in every life. */
function aimedRuns() {
    const run = (faults, seeds, lives, clients, operations, ...more) =>
        Object.entries({ faults, seeds, lives, clients, operations }).flatMap(([name, value]) => [`--${name}`, `${value}`]).concat(more);
    const aims = COLUMNS.map((column, i) => ['--aim', `${i + 1}`, ...(column === 'extent' ? ['--service', 'blob'] : [])])
        .flatMap((aim) => [run(5, 14, 10, 4, 600, ...aim), run(25, 4, 10, 4, 600, '--seed', '5', ...aim), run(129, 40, 2, 3, 300, ...aim),
            run(130, 10, 4, 4, 600, ...aim)]);

    return [...aims, run(3, 8, 10, 4, 600), run(2, 12, 10, 4, 600, '--service', 'blob'), run(609, 12, 10, 4, 600),
        run(609, 8, 10, 4, 600, '--service', 'blob'), run(97, 16, 10, 4, 600, '--aim', '5', '--service', 'blob', '--seed', '100')];
}

/** Those that were not. */
function unreachedCells() {
    return [...promised('¹', Object.keys(ROWS)), ...promised('⁶', Object.keys(ROWS))]
        .flatMap(({ row, column }) => ROWS[row].map((name) => `${name} ${column}`))
        .concat('kill-of-start', 'sync-drops', 'sync-keeps', 'sync-marks-clean', 'misread', 'wall')
        .filter((cell) => !reached.get(cell));
}

/** With kills and power cuts. */
const BY_SMB = ['--service', 'file', '--faults', '2051', '--lives', '6', '--clients', '9', '--operations', '60'];

/** Short lives for the crashes, long ones for the requests, and all that a seed draws. */
function campaigns() {
    const start = Date.now() * 1000;
    const crashes = Number(process.env.LAGRA_SIM_CRASHES ?? 100_000);
    const requests = Number(process.env.LAGRA_SIM_REQUESTS ?? 10_000_000);
    const shared = Math.ceil(Number(seconds) / 8);
    const campaign = (at, ...args) => ['--seed', String(start + at), ...args.map(String)];

    if (!options.soak)
        return {
            [`${seconds - shared} s from seed 1`]: ['--seed', '1', '--seconds', String(seconds - shared)],
            'policies, holds and keys': ['--seed', '1', '--service', 'protect', '--seconds', String(shared)],
            files: ['--seed', '1', '--service', 'file', '--seconds', String(Math.ceil(Number(seconds) / 3))],
            'files by SMB and REST': ['--seed', '1', ...BY_SMB, '--seconds', String(Math.ceil(Number(seconds) / 3))],
            'paths of a hierarchical account': ['--seed', '1', '--service', 'path', '--seconds', String(Math.ceil(Number(seconds) / 8))],
            'three front ends': ['--seed', '1', '--fronts', '3', '--seconds', String(Math.ceil(Number(seconds) / 8))],
            'files behind three front ends': ['--seed', '1', '--fronts', '3', '--service', 'file', '--seconds', String(Math.ceil(Number(seconds) / 8))],
        };
    return {
        'kills and power cuts': campaign(0, '--crashes', crashes / 2, '--lives', 60, '--clients', 4,
            '--operations', 1000, '--faults', 3),
        'the same among failing calls': campaign(1e8, '--crashes', crashes / 2, '--lives', 60,
            '--clients', 6, '--operations', 800, '--faults', 895),
        'as seeds draw': campaign(2e8, '--requests', requests / 2),
        'many requests in each life': campaign(3e8, '--requests', requests / 2, '--faults', 259,
            '--lives', 3, '--clients', 8, '--operations', 400),
        'queues': campaign(5e8, '--requests', requests / 10, '--service', 'queue'),
        'queues, many requests in each life': campaign(6e8, '--requests', requests / 10, '--faults', 259,
            '--lives', 3, '--clients', 8, '--operations', 400, '--service', 'queue'),
        'tables': campaign(7e8, '--requests', requests / 10, '--service', 'table'),
        'tables, many requests in each life': campaign(8e8, '--requests', requests / 10, '--faults', 259,
            '--lives', 3, '--clients', 8, '--operations', 400, '--service', 'table'),
        'files': campaign(9e8, '--requests', requests / 5, '--service', 'file'),
        'files, many requests in each life': campaign(1e9, '--requests', requests / 10, '--faults', 259,
            '--lives', 3, '--clients', 8, '--operations', 400, '--service', 'file'),
        'files by SMB and REST': campaign(11e8, '--requests', requests / 10, ...BY_SMB),
        'files by SMB and REST, without crashes': campaign(12e8, '--requests', requests / 10, '--service', 'file', '--faults', 2048,
            '--lives', 0, '--clients', 8, '--operations', 60),
        'paths of a hierarchical account': campaign(18e8, '--requests', requests / 5, '--service', 'path'),
        'paths, many requests in each life': campaign(19e8, '--requests', requests / 10, '--faults', 259,
            '--lives', 3, '--clients', 8, '--operations', 400, '--service', 'path'),
        'policies, holds and keys': campaign(21e8, '--requests', requests / 5, '--service', 'protect'),
        'policies, holds and keys, many requests in each life': campaign(22e8, '--requests', requests / 10, '--faults', 259,
            '--lives', 3, '--clients', 6, '--operations', 400, '--service', 'protect'),
        'two front ends': campaign(13e8, '--requests', requests / 10, '--fronts', 2),
        'three front ends': campaign(14e8, '--requests', requests / 10, '--fronts', 3),
        'files behind two front ends': campaign(16e8, '--requests', requests / 20, '--fronts', 2, '--service', 'file'),
        'files behind three front ends': campaign(17e8, '--requests', requests / 20, '--fronts', 3, '--service', 'file'),
        'paths behind three front ends': campaign(20e8, '--requests', requests / 20, '--fronts', 3, '--service', 'path'),
        'four front ends': campaign(15e8, '--requests', requests / 20, '--fronts', 4),
        'over sockets': campaign(4e8, '--requests', requests / 10, '--faults', 1795, '--lives', 3),
    };
}

if (existsSync(program)) {
    for (const [args, what] of knownSeeds()) {
        const { passed, output } = simulate(['--no-shrink', ...args.split(/\s+/)]);
        check(`${args} (${what})`, passed, output);
    }
    for (const args of [['4'], ['11'], ['7', '--fronts', '3', '--cluster-cells', '2', '--service', 'blob']]) {
        const { passed, output } = simulate(['--twice', '--seed', ...args]);
        check(`seed ${args.join(' ')} runs twice alike`, passed, output);
    }
    for (const [faults, crash] of [['129', 'kill'], ['130', 'power cut']]) {
        const { passed, output } = simulate(['--seed', '1', '--seeds', options.soak ? '20000' : '50', '--lives', '1', '--faults', faults,
            '--clients', '3', '--operations', '30']);
        check(`damage after a ${crash}: ${output.match(/.*damaged disks.*/)?.[0]}`, passed, output);
    }

    const planted = spawnSync(process.execPath, [path.join(HERE, 'planted.mjs'), '--build', options.build,
        ...(options.soak ? [] : ['log-not-synced', 'wake-lost', 'message-got-by-two', 'share-mode-not-checked', 'forwarded-twice'])], { encoding: 'utf8' });
    check(`planted defects are found: ${planted.stdout.trimEnd().split('\n').at(-1)}`, planted.status === 0,
        planted.stdout + planted.stderr);

    for (const [name, args] of Object.entries(campaigns())) {
        const { passed, output } = simulate(args);

        check(`${name}: ${output.trimEnd().split('\n').at(-1)}`, passed, output);
    }
    for (const args of aimedRuns()) {
        const { passed, output } = simulate(args);

        check(`${args.join(' ')}: ${output.trimEnd().split('\n').at(-1)}`, passed, output);
    }
    const unreached = unreachedCells();

    check('every cell of docs/failure-guarantees.md is reached', unreached.length === 0, `not reached: ${unreached.join(', ')}`);
    console.log(`sim: ${count.passed} passed, ${count.failed} failed`);
} else {
    console.log('skipped: not built with sanitizers, which have threads and files of their own');
    console.log('sim: 0 passed, 0 failed, 1 skipped');
}
process.exitCode = count.failed === 0 ? 0 : 1;
