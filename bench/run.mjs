#!/usr/bin/env node
// Lagra beside Azurite and nginx on this machine, in one run: requests a second, times, CPU, memory.
//
//   run.mjs --build FOLDER [--seconds N] [--only WORK,..] [--without azurite,nginx,million,memory]
//
// Each work runs against the servers in turn, several rounds, with the same load generator and the same
// requests; what is printed is each server's middle round, so that a disturbance of the machine does not
// fall on one of them alone. nginx serves static files and is the limit for GET; it takes no other work.

import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Connection } from '../tests/lib/http.mjs';
import { sign } from '../tests/lib/sign.mjs';
import { measureMemory } from './memory.mjs';
import { cpuSeconds, memoryMiB } from './process.mjs';
import { ACCOUNT, KEY, startAzurite, startLagra, startNginx } from './targets.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const KiB = 1024;
const MiB = 1024 * KiB;
const ROUNDS = 5; /* odd */

const { values: options } = parseArgs({
    options: {
        build: { type: 'string' }, seconds: { type: 'string', default: '10' },
        only: { type: 'string', default: '' }, without: { type: 'string', default: '' },
    },
});
const without = new Set(options.without.split(','));
const only = options.only ? new Set(options.only.split(',')) : null;
const loadBinary = path.resolve(options.build, 'bench/load');
const lagraBinary = path.resolve(HERE, '../build/lagra');
/* On a disk, as a data folder would be: /tmp may be memory. */
const folder = mkdtempSync(path.resolve(HERE, '../build', 'bench-'));

/** Blobs that take turns: enough that no single one is hot. */
const namesOf = (size) => (size > MiB ? 16 : 1000);

const WORKS = [
    { name: 'GET 1 KiB', work: 'get', size: KiB, nginx: true },
    { name: 'GET 4 MiB', work: 'get', size: 4 * MiB, nginx: true },
    { name: 'PUT 1 KiB', work: 'put', size: KiB },
    { name: 'PUT 4 MiB', work: 'put', size: 4 * MiB },
    { name: 'Put Block List', work: 'block-list', size: 64 * KiB },
    { name: 'List 5,000 blobs', work: 'list', container: 'list10k', size: 0 },
    { name: 'Set Metadata If-Match', work: 'metadata', size: 16 },
    { name: 'Lease acquire, release', work: 'lease', size: 16 },
];

/* ---- one measurement ---- */

function load(target, { work, size, container = 'bench', names = namesOf(size), connections = 1, seconds, count }) {
    const args = ['--port', target.port, '--container', container, '--work', work, '--size', size, '--names', names,
        '--connections', connections];

    if (target.signed)
        args.push('--account', ACCOUNT, '--key', KEY);
    args.push(...(count ? ['--count', count] : ['--seconds', seconds]));
    const ran = spawnSync(loadBinary, args.map(String), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    if (!ran.stdout)
        throw new Error(`${target.name}: the load generator ended without a result`);
    const result = JSON.parse(ran.stdout);
    if (result.failed > 0)
        console.log(`(${target.name}: ${result.failed} requests of ${work} failed or lost their connection, ` +
            `last status ${result.failed_status})`);
    return result;
}

function measure(target, work, connections) {
    const before = cpuSeconds(target.pid);
    const result = load(target, { ...work, connections, seconds: options.seconds / ROUNDS });

    return { ...result, cpuUs: ((cpuSeconds(target.pid) - before) / result.answered) * 1e6 };
}

/** The middle round of each server, by name. */
function measureAll(targets, work, connections) {
    const rounds = Array.from({ length: ROUNDS }, () => targets.map((target) => measure(target, work, connections)));

    return new Map(targets.map(({ name }, i) => {
        const results = rounds.map((round) => round[i]).sort((a, b) => a.per_second - b.per_second);
        return [name, results[(ROUNDS - 1) / 2]];
    }));
}

/* ---- preparing ---- */

async function createContainer(target, name) {
    const connection = await Connection.open('127.0.0.1', target.port);
    const answer = await connection.exchange(sign({
        method: 'PUT', target: `/${ACCOUNT}/${name}?restype=container`,
        headers: [['Host', `127.0.0.1:${target.port}`], ['Content-Length', '0']],
    }));

    connection.close();
    if (answer.status !== 201)
        throw new Error(`${target.name}: Create Container ${name}: ${answer.status}`);
}

function fill(target, container, size, count) {
    load(target, { work: 'fill', size, container, names: count, count, connections: 32 });
}

async function prepare(target) {
    for (const name of ['bench', 'list10k'])
        await createContainer(target, name);
    for (const size of [KiB, 4 * MiB])
        fill(target, 'bench', size, namesOf(size));
    fill(target, 'list10k', 0, 10000);
}

/* ---- printing ---- */

const number = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));

function row(cells, widths) {
    console.log(cells.map((cell, i) => (i === 0 ? `${cell}`.padEnd(widths[i]) : `${cell}`.padStart(widths[i]))).join('  '));
}

const WIDTHS = [24, 5, 8, 10, 9, 9, 8, 11, 9];

function printHead() {
    row(['work', 'conns', 'server', 'requests/s', 'p50 us', 'p99 us', 'CPU us', 'to Azurite', 'to nginx'], WIDTHS);
}

function printResults(work, connections, results) {
    const lagra = results.get('Lagra');
    const ratio = (name) => (results.has(name) ? `${number(lagra.per_second / results.get(name).per_second)}x` : '');

    for (const [name, result] of results)
        row([work.name, connections, name, number(result.per_second), result.p50_us, result.p99_us, number(result.cpuUs),
            ...(name === 'Lagra' ? [ratio('Azurite'), ratio('nginx')] : [])], WIDTHS);
}

/* ---- the parts of the run ---- */

/** What one writer gets that syncs each 4 KiB it appends, with the same disk. */
function syncsPerSecond() {
    const file = path.join(folder, 'syncs');
    const fd = openSync(file, 'w');
    const page = Buffer.alloc(4096, 1);
    const began = performance.now();
    let count = 0;

    while (performance.now() - began < 2000) {
        writeSync(fd, page);
        fdatasyncSync(fd);
        count++;
    }
    closeSync(fd);
    return count / ((performance.now() - began) / 1000);
}

function measureWorks(targets) {
    printHead();
    for (const work of WORKS.filter(({ name }) => !only || [...only].some((wanted) => name.startsWith(wanted)))) {
        for (const connections of [1, 32]) {
            const taking = targets.filter(({ name }) => name !== 'nginx' || work.nginx);

            printResults(work, connections, measureAll(taking, work, connections));
        }
    }
}

/** The same page out of ten thousand blobs and out of a million. */
async function measureMillion(lagra) {
    await createContainer(lagra, 'list1m');
    fill(lagra, 'list1m', 0, 1000000);
    const small = load(lagra, { work: 'list', size: 0, container: 'list10k', seconds: options.seconds });
    const large = load(lagra, { work: 'list', size: 0, container: 'list1m', seconds: options.seconds });

    console.log(`\nA page of 5,000 blobs: ${number(small.p50_us / 1000)} ms out of 10,000 blobs, ` +
        `${number(large.p50_us / 1000)} ms out of 1,000,000 (p50)`);
}

async function main() {
    const azurite = without.has('azurite') ? null : await startAzurite(folder);
    const nginx = without.has('nginx') ? null : await startNginx(folder, [KiB, 4 * MiB], namesOf);
    const lagra = await startLagra(lagraBinary, folder);
    const idle = memoryMiB(lagra.pid, 'VmRSS');
    const targets = [lagra, azurite, nginx].filter(Boolean);

    try {
        const cpu = os.cpus();
        console.log(`${cpu.length} cores of ${cpu[0].model.trim()}, Linux ${os.release()}, ${ROUNDS} rounds of ${options.seconds / ROUNDS} s each`);
        console.log(`fdatasync after each appended 4 KiB, one writer: ${number(syncsPerSecond())}/s`);
        console.log(`start to first answer: ${targets.map(({ name, startMs }) => `${name} ${number(startMs)} ms`).join(', ')}`);
        console.log(`resident after start: Lagra ${number(idle)} MiB\n`);
        for (const target of targets.filter(({ signed }) => signed))
            await prepare(target);
        measureWorks(targets);
        console.log(`\nmost resident memory: ${targets.map(({ name, pid }) => `${name} ${number(memoryMiB(pid, 'VmHWM'))} MiB`).join(', ')}`);
        if (!without.has('million'))
            await measureMillion(lagra);
    } finally {
        for (const target of targets)
            await target.stop();
    }
    if (!without.has('memory'))
        await measureMemory(() => startLagra(lagraBinary, path.join(folder, 'memory')), createContainer);
}

try {
    execFileSync('test', ['-x', lagraBinary]);
    await main();
} finally {
    rmSync(folder, { recursive: true, force: true });
}
