#!/usr/bin/env node
// Lagra beside Azurite and nginx on this machine, in one run: requests a second, times, CPU,
// memory.
//
//   run.mjs --build FOLDER [--baseline BINARY] [--rounds N] [--seconds N] [--only WORK,..]
//           [--connections N,..] [--without azurite,nginx,load,spread,cold,copy,backup,fair,starts,million,ranges,memory,queues,tables,files,paths,smb,
//           forwarding,cells]
//           [--waiting N] [--million N] [--entities N] [--apart] [--sandbox] [--results FOLDER]
//
//   --baseline     another lagra, such as that of an earlier commit (or environment LAGRA_BASELINE): it
//                  takes part as "before", and the last columns are Lagra's figures divided by its
//   --rounds       odd; default 5, with a baseline 11
//   --only         works whose names begin so, and parts of the list of --without; default: all
//   --waiting      messages that wait in a queue while it is measured once more; default 0: it is not
//   --million      how many blobs, ranges and files are a million; for a quick look
//   --entities     of a large table that is filled and read; default 0: there is none; a multiple of 10,000
//   --apart        servers on one half of the cores, the load generator on the other: CPU for a request is
//                  the server's own then, and not how its threads and the load share cores
//   --sandbox      Lagra runs with --sandbox on, and the same program without it takes part as "before"
//   --results      where the figures are written that charts are of, and the charts (results.mjs); default: docs/bench
//                  of a whole run, build/bench of one with --only, --without, --connections, --million or --baseline
//   --seconds      of one work and server, all rounds together; default 2 a round
//
// Each work runs against the servers in turn, several rounds, with the same load generator and the
// same requests. What is printed is the middle of the rounds, column by column, and for the
// comparison with the baseline the middle of the quotients of each round, so that a disturbance of
// the machine does not fall on one server alone. nginx serves static files and is the limit for
// GET; it takes no other work.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Connection } from '../tests/lib/http.mjs';
import { sign } from '../tests/lib/sign.mjs';
import { measureBackup } from './backup.mjs';
import { measureMemory } from './memory.mjs';
import { measureCold } from './cold.mjs';
import { measureCopy } from './copy.mjs';
import { measureFairness } from './fair.mjs';
import { measureFiles } from './files.mjs';
import { measureForwarding } from './forwarding.mjs';
import { cpuSeconds, memoryMiB, middle } from './process.mjs';
import { measurePaths } from './paths.mjs';
import { measureQueues } from './queues.mjs';
import { measureRanges } from './ranges.mjs';
import { addRow, commitOf, newResults, writeResults } from './results.mjs';
import { measureSmb } from './smb.mjs';
import { measureStarts } from './starts.mjs';
import { measureSpread } from './spread.mjs';
import { measureManyEntities, measureTables } from './tables.mjs';
import { ACCOUNT, keepServersTo, kept, KEY, startAzurite, startAzuriteService, startLagra, startNginx } from './targets.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const KiB = 1024;
const MiB = 1024 * KiB;

const { values: options } = parseArgs({
    options: {
        build: { type: 'string' }, baseline: { type: 'string', default: process.env.LAGRA_BASELINE ?? '' },
        rounds: { type: 'string' }, seconds: { type: 'string' }, connections: { type: 'string', default: '1,32' },
        only: { type: 'string', default: '' }, without: { type: 'string', default: '' },
        waiting: { type: 'string', default: '0' }, million: { type: 'string', default: '1000000' },
        entities: { type: 'string', default: '0' }, apart: { type: 'boolean', default: false },
        sandbox: { type: 'boolean', default: false }, results: { type: 'string' },
    },
});
const without = new Set(options.without.split(','));
const only = options.only ? new Set(options.only.split(',')) : null;
const lagraBinary = path.resolve(HERE, '../build/lagra');
const baseline = options.sandbox ? lagraBinary : options.baseline ? path.resolve(options.baseline) : null;
if (options.sandbox && options.baseline)
    throw new Error('--sandbox has a baseline of its own');
const ROUNDS = Number(options.rounds ?? (baseline ? 11 : 5));
const SECONDS = Number(options.seconds ?? 2 * ROUNDS);
const MILLION = Number(options.million);
const isWhole = !options.only && !options.without && !baseline && options.connections === '1,32' && MILLION === 1e6;
const resultsFolder = path.resolve(options.results ?? path.join(HERE, isWhole ? '../docs/bench' : '../build/bench'));
const loadBinary = path.resolve(options.build, 'bench/load');
const HALF = Math.ceil(os.cpus().length / 2);
const loadCores = options.apart ? `${HALF}-${os.cpus().length - 1}` : '';
if (options.apart)
    keepServersTo(`0-${HALF - 1}`);
/* On a disk, as a data folder would be: /tmp may be memory. */
const folder = mkdtempSync(path.resolve(HERE, '../build', 'bench-'));

/* What Lagra is started with, and the baseline is not. */
const ownArgs = options.sandbox ? ['--sandbox', 'on'] : [];

/** Blobs that take turns: enough that no single one is hot. */
const namesOf = (size) => (size > MiB ? 16 : 1000);

const WORKS = [
    { name: 'GET 1 KiB', work: 'get', size: KiB, nginx: true },
    { name: 'GET 1 KiB by SAS', work: 'get-sas', size: KiB, lately: true },
    { name: 'GET 4 MiB', work: 'get', size: 4 * MiB, nginx: true },
    { name: 'PUT 1 KiB', work: 'put', size: KiB },
    { name: 'PUT 4 MiB', work: 'put', size: 4 * MiB },
    { name: 'Put Block List', work: 'block-list', size: 64 * KiB },
    { name: 'List 5,000 blobs', work: 'list', container: 'list10k', size: 0 },
    { name: 'Set Metadata If-Match', work: 'metadata', size: 16 },
    { name: 'Lease acquire, release', work: 'lease', size: 16 },
    { name: 'Append Block 4 KiB, one blob', work: 'append', size: 4 * KiB, lately: true },
    { name: 'Put Page 4 KiB, 8 GiB blob', work: 'page', size: 4 * KiB, lately: true },
];

/* Whose times are measured with ever more connections. */
const LOADS = ['GET 1 KiB', 'PUT 1 KiB'];
const LOAD_CONNECTIONS = [1, 2, 4, 8, 16, 32, 64, 128];

const machine = `${os.cpus().length} cores of ${os.cpus()[0].model.trim()}, Linux ${os.release()}`;
const results = newResults({ machine, commit: commitOf(path.join(HERE, '..')), rounds: ROUNDS, seconds: SECONDS / ROUNDS });

/* ---- one measurement ---- */

function loadArguments(target, { work, size, container = 'bench', names = namesOf(size), partitions, connections = 1, seconds, count }) {
    const args = ['--port', target.port, '--container', container, '--work', work, '--size', size, '--names', names,
        '--connections', connections];

    if (partitions)
        args.push('--partitions', partitions);
    if (target.signed)
        args.push('--account', target.account ?? ACCOUNT, '--key', target.key ?? KEY);
    args.push(...(count ? ['--count', count] : ['--seconds', seconds]));
    return args.map(String);
}

function resultOf(target, { work, isRefused }, output) {
    if (!output)
        throw new Error(`${target.name}: the load generator ended without a result`);
    const result = JSON.parse(output);
    if (result.failed > 0 && !isRefused)
        console.log(`(${target.name}: ${result.failed} requests of ${work} failed or lost their connection, ` +
            `last status ${result.failed_status})`);
    return result;
}

function load(target, asked) {
    const ran = spawnSync(...kept(loadCores, loadBinary, loadArguments(target, asked)), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

    return resultOf(target, asked, ran.stdout);
}

/** As load(), beside others; asked.isLast: it runs when nobody else wants the processor. */
async function loadBeside(target, asked) {
    const command = [loadBinary, ...loadArguments(target, asked)];
    const [first, ...args] = asked.isLast ? ['chrt', '--idle', '0', ...command] : command;
    const child = spawn(...kept(loadCores, first, args), { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';

    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text) => {
        output += text;
    });
    await once(child, 'close');
    return resultOf(target, asked, output);
}

function measure(target, work, connections) {
    const before = cpuSeconds(target.pid);
    const result = load(target, { ...work, connections, seconds: SECONDS / ROUNDS });

    return { ...result, cpuUs: ((cpuSeconds(target.pid) - before) / result.answered) * 1e6 };
}

/** Who can do a work: nginx serves files; `lately`: the baseline may be from before the operation was built. */
const able = (targets, { nginx = false, lately = false }) =>
    targets.filter(({ name }) => (name !== 'nginx' || nginx) && (name !== 'before' || !lately));

/** The middle of all rounds for each server, by name; Lagra's has the quotients to the baseline too. */
function measureAll(targets, work, connections) {
    const compared = targets.some(({ name }) => name === 'before');
    const rounds = Array.from({ length: ROUNDS }, (_, i) => {
        const order = i % 2 === 0 ? targets : [...targets].reverse();
        return new Map(order.map((target) => [target.name, measure(target, work, connections)]));
    });
    const middleOf = (name, column) => middle(rounds.map((round) => round.get(name)[column]));
    const quotient = (column) => middle(rounds.map((round) => round.get('Lagra')[column] / round.get('before')[column]));

    return new Map(targets.map(({ name }) => [name, {
        ...Object.fromEntries(['per_second', 'p50_us', 'p99_us', 'cpuUs'].map((column) => [column, middleOf(name, column)])),
        ...(name === 'Lagra' && compared ? { faster: quotient('per_second'), cpu: quotient('cpuUs') } : {}),
    }]));
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

const WIDTHS = [24, 5, 8, 10, 9, 9, 8, 11, 9, 11, 10];

function printHead() {
    row(['work', 'conns', 'server', 'requests/s', 'p50 us', 'p99 us', 'CPU us', 'to Azurite', 'to nginx',
        ...(baseline ? ['r/s, before', 'CPU, before'] : [])], WIDTHS);
}

function printResults(work, connections, results) {
    const lagra = results.get('Lagra');
    const ratio = (name) => (results.has(name) ? `${number(lagra.per_second / results.get(name).per_second)}x` : '');

    for (const [name, result] of results)
        row([work.name, connections, name, number(result.per_second), result.p50_us, result.p99_us, number(result.cpuUs),
            ...(name === 'Lagra' ? [ratio('Azurite'), ratio('nginx')] : []),
            ...(result.faster ? [`${result.faster.toFixed(3)}x`, `${result.cpu.toFixed(3)}x`] : [])], WIDTHS);
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

const isWanted = ({ name }) => !only || [...only].some((wanted) => name.startsWith(wanted));
const isPart = (name) => !without.has(name) && isWanted({ name });

function measureWorks(targets) {
    printHead();
    for (const work of WORKS.filter(isWanted)) {
        for (const connections of options.connections.split(',').map(Number)) {
            const measured = measureAll(able(targets, work), work, connections);

            printResults(work, connections, measured);
            addRow(results.works, work.name, connections, measured);
        }
    }
}

/** Times against load: once for each number of connections. */
function measureLoads(targets) {
    console.log('\n99th percentile against load:');
    for (const work of WORKS.filter(({ name }) => LOADS.includes(name))) {
        for (const connections of LOAD_CONNECTIONS) {
            const measured = new Map(able(targets, work).map((target) => [target.name, measure(target, work, connections)]));

            addRow(results.load, work.name, connections, new Map([...measured].map(([name, { per_second, p50_us, p99_us, cpuUs }]) =>
                [name, { per_second, p50_us, p99_us, cpuUs }])));
            console.log(`${work.name}, ${connections} connections: ${[...measured].map(([name, { per_second, p99_us }]) =>
                `${name} ${number(per_second)}/s ${number(p99_us)} us`).join(', ')}`);
        }
    }
}

const BATCH_PARTS = 256;

async function isEmpty(target, container) {
    const connection = await Connection.open('127.0.0.1', target.port);
    const answer = await connection.exchange(sign({
        method: 'GET', target: `/${ACCOUNT}/${container}?comp=list&restype=container`,
        headers: [['Host', `127.0.0.1:${target.port}`]],
    }));

    connection.close();
    return /<Blobs ?\/>|<Blobs><\/Blobs>/.test(answer.body.toString());
}

/** Batches that delete 256 blobs of 1 KiB each: blobs a second, the blobs made anew for each round. */
async function measureBatches(targets) {
    for (const connections of options.connections.split(',').map(Number)) {
        const blobs = new Map(targets.map(({ name }) => [name, []]));
        for (let round = 0; round < ROUNDS; round++) {
            for (const target of targets) {
                const container = `batch-${connections}-${round}`;
                const batches = target.name === 'Azurite' ? Math.min(connections, 4) : 8 * Math.max(connections, 8);
                await createContainer(target, container);
                fill(target, container, KiB, batches * BATCH_PARTS);
                const result = load(target, {
                    work: 'delete-batch', size: KiB, container, names: batches, count: batches, connections,
                });
                if (!(await isEmpty(target, container)))
                    throw new Error(`${target.name}: batches left blobs behind`);
                blobs.get(target.name).push(result.per_second * BATCH_PARTS);
            }
        }
        for (const [name, rounds] of blobs)
            console.log(`Batch delete of ${BATCH_PARTS}, ${connections} connections: ${name} ${number(middle(rounds))} blobs/s`);
    }
}

/** The same page, of a listing and of a search, out of ten thousand blobs, a hundred thousand and a million. */
async function measureMillion(lagra) {
    const sizes = [...new Set([10000, Math.max(10000, MILLION / 10), MILLION])];

    for (const count of sizes) {
        await createContainer(lagra, `tagged-${count}`);
        load(lagra, { work: 'fill-tagged', size: 0, container: `tagged-${count}`, names: count, count, connections: 32 });
    }
    for (const [work, what] of [['list', 'A page of 5,000 blobs'], ['find', 'Find Blobs by Tags, a page of 5,000 blobs']]) {
        const points = sizes.map((count) =>
            ({ count, p50_us: load(lagra, { work, size: 0, container: `tagged-${count}`, seconds: SECONDS }).p50_us }));

        results.sizes.push({ name: work === 'list' ? 'List Blobs' : 'Find Blobs by Tags', points });
        console.log(`\n${what}: ${points.map(({ count, p50_us }) =>
            `${number(p50_us / 1000)} ms out of ${count.toLocaleString('en')}`).join(', ')} (p50)`);
    }
}

async function startAll() {
    const lagra = await startLagra(lagraBinary, folder, { args: ownArgs });
    const before = baseline ? await startLagra(baseline, path.join(folder, 'before'), { name: 'before' }) : null;
    const azurite = without.has('azurite') ? null : await startAzurite(folder);
    const nginx = without.has('nginx') ? null : await startNginx(folder, [KiB, 4 * MiB], namesOf);

    return [lagra, before, azurite, nginx].filter(Boolean);
}

async function measureServers() {
    const targets = await startAll();
    const [lagra] = targets;
    const idle = memoryMiB(lagra.pid, 'VmRSS');

    try {
        console.log(`time from start to first response: ${targets.map(({ name, startMs }) => `${name} ${number(startMs)} ms`).join(', ')}`);
        console.log(`resident memory after start: Lagra ${number(idle)} MiB\n`);
        for (const target of targets.filter(({ signed }) => signed))
            await prepare(target);
        measureWorks(targets);
        if (isPart('load'))
            measureLoads(targets);
        if (isWanted({ name: 'Batch delete' }))
            await measureBatches(able(targets.filter(({ signed }) => signed), { lately: true }));
        console.log(`\npeak resident memory: ${targets.map(({ name, pid }) => `${name} ${number(memoryMiB(pid, 'VmHWM'))} MiB`).join(', ')}`);
        if (!without.has('million'))
            await measureMillion(lagra);
    } finally {
        for (const target of targets)
            await target.stop();
    }
}

/** What the Queue or the Table service does, beside the baseline's and Azurite's; 'many', 'files': ours alone. */
async function measureService(service, measure, more) {
    const alone = service === 'many' || service === 'files';
    const lagra = await startLagra(lagraBinary, path.join(folder, service), { args: ownArgs });
    const before = alone || !baseline ? null : await startLagra(baseline, path.join(folder, service, 'before'), { name: 'before' });
    const azurite = alone || without.has('azurite') ? null : await startAzuriteService(folder, service);
    const targets = [lagra, before, azurite].filter(Boolean);

    try {
        await measure(targets, { folder, load, rounds: ROUNDS, seconds: SECONDS }, Number(more));
    } finally {
        for (const target of targets)
            await target.stop();
    }
}

async function measureDataLake() {
    const flat = await startLagra(lagraBinary, path.join(folder, 'flat'), { args: ownArgs });
    const hierarchical = await startLagra(lagraBinary, path.join(folder, 'hierarchical'), { args: ['--hierarchical', ...ownArgs] });

    try {
        await measurePaths(flat, hierarchical, { load, rounds: ROUNDS, seconds: SECONDS, createContainer, million: MILLION });
    } finally {
        for (const target of [flat, hierarchical])
            await target.stop();
    }
}

async function main() {
    const versions = [{ name: 'Lagra', binary: lagraBinary }, ...(baseline ? [{ name: 'before', binary: baseline }] : [])];
    const tools = { folder, load, loadBeside, createContainer, seconds: SECONDS, million: MILLION };

    console.log(`${machine}, ${ROUNDS} rounds of ${number(SECONDS / ROUNDS)} s each`);
    console.log(`fdatasync after each appended 4 KiB, one writer: ${number(syncsPerSecond())}/s`);
    if (options.connections && [...WORKS, { name: 'Batch delete' }].some(isWanted))
        await measureServers();
    if (results.works.length > 0)
        console.log(`written to ${resultsFolder}: ${writeResults(results, resultsFolder).join(', ')}\n`);
    if (!without.has('queues') && isWanted({ name: 'Messages' }))
        await measureService('queue', measureQueues, options.waiting);
    if (!without.has('tables') && isWanted({ name: 'Entities' }))
        await measureService('table', measureTables);
    if (Number(options.entities) > 0 && isWanted({ name: 'Many entities' }))
        await measureService('many', measureManyEntities, options.entities);
    if (isPart('files'))
        await measureService('files', ([target], more) => measureFiles(target, { ...more, createContainer, million: MILLION }));
    if (isPart('paths'))
        await measureDataLake();
    if (isPart('smb'))
        await measureSmb(lagraBinary, { ...tools, rounds: ROUNDS, loadBinary: path.resolve(options.build, 'bench/smb_load') });
    if (isPart('forwarding'))
        await measureForwarding(versions, { ...tools, rounds: ROUNDS });
    if (isPart('spread'))
        await measureSpread(versions, tools);
    if (isPart('cold'))
        await measureCold(versions, tools);
    if (isPart('copy'))
        await measureCopy(versions, tools);
    if (isPart('backup'))
        await measureBackup(versions, tools);
    if (isPart('fair'))
        await measureFairness(versions, tools);
    if (isPart('starts'))
        await measureStarts(versions, tools);
    if (isPart('ranges'))
        await measureRanges(versions, tools);
    if (isPart('memory'))
        await measureMemory(() => startLagra(lagraBinary, path.join(folder, 'memory')), createContainer);
}

try {
    execFileSync('test', ['-x', lagraBinary]);
    await main();
} finally {
    rmSync(folder, { recursive: true, force: true });
}
