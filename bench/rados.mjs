#!/usr/bin/env node
// Lagra on a Ceph cluster beside that cluster's own gateway, radosgw with S3, in one run (tests/rados/cluster.mjs: a
// monitor and three OSDs on this machine): requests a second and times, and what docs/cluster.md promises. Of each request also
// what it took: CPU of the server and of the disks' daemons, and the ops on their objects, reads and writes. Of two front ends
// side by side the slower one's times; and one, and both, behind HAProxy, which divides requests by their paths.
//
//   rados.mjs --build FOLDER --binary LAGRA [--rounds N] [--seconds N] [--objects N] [--only WORD,..]
//
//   --build    where bench/load is
//   --binary   a lagra with -Drados=true
//   --rounds   odd; the servers take turns, and the middle of the rounds is printed; default 3
//   --seconds  of one work, server and round; default 5
//   --objects  in the container that is listed; default 100000
//   --only     rows whose names begin so

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Connection } from '../tests/lib/http.mjs';
import { sign } from '../tests/lib/sign.mjs';
import { BEHIND_BALANCER, startBalancer } from '../tests/rados/balancer.mjs';
import { Cluster } from '../tests/rados/cluster.mjs';
import { startFrontEnd } from '../tests/rados/front_end.mjs';
import { cpuSeconds, middle } from './process.mjs';
import { commitOf } from './results.mjs';
import { ACCOUNT, KEY } from './targets.mjs';

const KiB = 1024, MiB = 1024 * KiB;
const CONNECTIONS = 32;
const BUCKET = 'bench', LISTED = 'listed';
const USER = 'benchaccesskey', SECRET = 'benchsecretkey';
const PAGE = 1000;

const { values: options } = parseArgs({
    options: {
        build: { type: 'string' }, binary: { type: 'string' }, rounds: { type: 'string', default: '3' },
        seconds: { type: 'string', default: '5' }, objects: { type: 'string', default: '100000' }, only: { type: 'string', default: '' },
    },
});
const [ROUNDS, SECONDS, OBJECTS] = [options.rounds, options.seconds, options.objects].map(Number);
const loadBinary = path.resolve(options.build, 'bench/load');
const binary = path.resolve(options.binary);
if (ROUNDS % 2 === 0)
    throw new Error('--rounds is odd: the middle one is printed');
const isWanted = (name) => !options.only || options.only.split(',').some((word) => name.startsWith(word));

/* Beside the gateway. s3: the work's name there. */
const COMPARED = [
    { name: 'PUT 4 KiB', work: 'fill', s3: 's3-fill', size: 4 * KiB, names: 1_000_000, connections: CONNECTIONS },
    { name: 'GET 4 KiB', work: 'get', s3: 'get', size: 4 * KiB, names: 1000, connections: CONNECTIONS, isRead: true },
    { name: 'PUT 4 MiB', work: 'put', s3: 's3-put', size: 4 * MiB, names: 16, connections: 8 },
    { name: 'GET 4 MiB', work: 'get', s3: 'get', size: 4 * MiB, names: 16, connections: 8, isRead: true },
    { name: `List 1,000 of ${OBJECTS.toLocaleString('en')}`, work: 'list', s3: 's3-list', container: LISTED, size: 0, names: 1, connections: 1 },
];

/* Of Lagra alone. wanted: requests a second, of a quiet machine of two cores */
const PROMISED = [
    { name: 'PUT 1 KiB, many names', work: 'fill', size: KiB, names: 1_000_000, connections: CONNECTIONS, wanted: 500 },
    { name: 'GET 1 KiB', work: 'get', size: KiB, names: 1000, connections: CONNECTIONS, wanted: 2000, isRead: true },
    { name: 'PUT 1 KiB, 100 hot names', work: 'put', size: KiB, names: 100, connections: 2 * CONNECTIONS, wanted: 4000 },
    { name: 'Messages through one queue', work: 'message-cycle', service: 'queue', size: 100, names: 1, connections: CONNECTIONS, wanted: 4000 },
];

function argumentsOf(target, { work, s3, service = 'blob', size, container, names, connections, count }) {
    return ['--port', target.isS3 ? target.port : target.ports[service], '--work', target.isS3 ? s3 : work, '--size', size, '--names', names,
        '--container', container ?? BUCKET, '--connections', connections, '--page', PAGE,
        ...(target.isS3 ? ['--s3', '--account', USER, '--key', SECRET] : ['--account', ACCOUNT, '--key', KEY]),
        ...(count ? ['--count', count] : ['--seconds', SECONDS])].map(String);
}

async function load(target, asked) {
    const child = spawn(loadBinary, argumentsOf(target, asked), { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';

    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text) => {
        said += text;
    });
    await once(child, 'close');
    const result = JSON.parse(said);
    if (result.failed > 0)
        console.log(`(${target.name}: ${result.failed} requests of ${asked.name} failed, last status ${result.failed_status})`);
    return result;
}

/* What the disks have done, of whatever clients. */
async function diskWork() {
    const { reads, writes, pids } = await cluster.diskWork();

    return { reads, writes, seconds: pids.map(cpuSeconds).reduce((a, b) => a + b, 0) };
}

/** Of what a proxy sends to several servers. */
async function measureBehind(proxy, servers, asked) {
    const own = servers.map(({ pid }) => cpuSeconds(pid));
    const [result] = await measureBeside([proxy], asked);
    const seconds = servers.map(({ pid }, i) => cpuSeconds(pid) - own[i]).reduce((a, b) => a + b, 0);

    return { ...result, cpuUs: (seconds / result.answered) * 1e6 };
}

/** Of all targets at once, each by its own clients. */
async function measureBeside(targets, asked) {
    const own = targets.map(({ pid }) => cpuSeconds(pid)), before = await diskWork();
    const results = await Promise.all(targets.map((target) => load(target, asked)));
    const after = await diskWork();
    const answered = results.map((one) => one.answered).reduce((a, b) => a + b, 0);

    return results.map((result, i) => ({
        ...result,
        cpuUs: ((cpuSeconds(targets[i].pid) - own[i]) / result.answered) * 1e6,
        diskUs: ((after.seconds - before.seconds) / answered) * 1e6,
        reads: (after.reads - before.reads) / answered,
        writes: (after.writes - before.writes) / answered,
    }));
}

const COLUMNS = ['per_second', 'p50_us', 'p99_us', 'cpuUs', 'diskUs', 'reads', 'writes'];

async function measure(target, asked) {
    return (await measureBeside([target], asked))[0];
}

/** Pairs of a name and what measures it, in turns: the middle of the rounds of each, column by column. */
async function inTurns(measured) {
    const rounds = new Map(measured.map(([name]) => [name, []]));

    for (let round = 0; round < ROUNDS; round++)
        for (const [name, measureOne] of round % 2 ? [...measured].reverse() : measured)
            rounds.get(name).push(await measureOne());
    return [...rounds].map(([name, all]) => [name, Object.fromEntries(COLUMNS
        .map((column) => [column, middle(all.map((one) => one[column]))]))]);
}

async function measureAll(targets, asked) {
    for (const target of targets)
        if (asked.isRead)
            await load(target, { ...asked, work: 'fill', s3: 's3-fill', count: asked.names });
    return new Map(await inTurns(targets.map((target) => [target.name, () => measure(target, asked)])));
}

/* ---- servers ---- */

async function create(server, service, target) {
    const port = server.ports[service];
    const connection = await Connection.open('127.0.0.1', port);
    const answer = await connection.exchange(sign({
        method: 'PUT', target: `/${ACCOUNT}${target}`, headers: [['Host', `127.0.0.1:${port}`], ['Content-Length', '0']],
    }));

    connection.close();
    if (answer.status !== 201)
        throw new Error(`PUT ${target}: ${answer.status}`);
}

async function startLagra(cluster) {
    const place = `rados:${cluster.configuration}:records:pieces`;

    execFileSync(binary, ['rados', 'init', place, '--unsafe'], { stdio: ['ignore', 'ignore', 'ignore'] });
    const server = await startFrontEnd(binary, ['--store', place, ...BEHIND_BALANCER]);
    for (const container of [BUCKET, LISTED])
        await create(server, 'blob', `/${container}?restype=container`);
    await create(server, 'queue', `/${BUCKET}-0`);
    server.name = 'Lagra';
    return { server, place };
}

async function startGateway(cluster) {
    const gateway = await cluster.startGateway(USER, SECRET);
    const target = { name: 'radosgw', isS3: true, ...gateway };

    for (const bucket of [BUCKET, LISTED])
        await load(target, { s3: 's3-make', size: 0, names: 1, connections: 1, count: 1, container: bucket });
    return target;
}

/* ---- printing ---- */

const number = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));
const WIDTHS = [28, 6, 9, 11, 9, 9, 9, 9, 7, 7, 15];

function row(...cells) {
    console.log(cells.map((cell, i) => (i === 0 ? `${cell}`.padEnd(WIDTHS[i]) : `${cell}`.padStart(WIDTHS[i]))).join('  '));
}

function print({ name, connections, wanted }, results) {
    const gateway = results.get('radosgw');

    for (const [server, result] of results)
        row(name, connections, server, ...COLUMNS.map((column) => number(result[column])),
            wanted ? `of ${wanted}` : gateway && server === 'Lagra' ? `${(result.per_second / gateway.per_second).toFixed(2)}x` : '');
}

/** Two side by side, each with half of the clients: their rates together, the times of the slower one. */
async function measureSideBySide(fronts, asked) {
    const both = await measureBeside(fronts, { ...asked, connections: asked.connections / fronts.length });
    const slower = Object.fromEntries(COLUMNS.map((column) => [column, Math.max(...both.map((one) => one[column]))]));

    return { ...slower, per_second: both.map((one) => one.per_second).reduce((a, b) => a + b, 0) };
}

/** Two front ends side by side; and by HAProxy, as docs/cluster.md has it, to one of them and to both. Its own time is not counted. */
async function measureTwo(first, place) {
    const second = await startFrontEnd(binary, ['--store', place, ...BEHIND_BALANCER]);
    const fronts = [first, second];
    const balancers = [await startBalancer([first], ACCOUNT), await startBalancer(fronts, ACCOUNT)];
    const ways = [
        ['two', (asked) => measureSideBySide(fronts, asked)],
        ...balancers.map((balancer, i) => [`${i + 1} behind`, (asked) => measureBehind(balancer, fronts, asked)]),
    ];

    for (const asked of PROMISED.filter(({ name }) => isWanted(name)))
        for (const [name, result] of await inTurns(ways.map(([way, measured]) => [way, () => measured(asked)])))
            row(asked.name, asked.connections, name, ...COLUMNS.map((column) => number(result[column])));
    for (const balancer of balancers)
        await balancer.stop();
    await second.stop();
}

const cluster = await Cluster.start();

for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => cluster.stop().finally(() => process.exit(1)));

try {
    const { server, place } = await startLagra(cluster);
    const gateway = await startGateway(cluster);

    console.log(`${new Date().toISOString().slice(0, 10)}, ${commitOf(path.dirname(fileURLToPath(import.meta.url)))}, ${os.cpus().length} cores of ` +
        `${os.cpus()[0].model.trim()}; three OSDs, monitor, servers and load on them; ${ROUNDS} rounds of ${SECONDS} s`);
    row('work', 'conns', 'server', 'requests/s', 'p50 us', 'p99 us', 'CPU us', 'disks us', 'reads', 'writes', 'to radosgw');
    for (const asked of COMPARED.filter(({ name }) => isWanted(name))) {
        if (asked.container === LISTED)
            for (const target of [server, gateway])
                await load(target, { ...asked, work: 'fill', s3: 's3-fill', names: OBJECTS, count: OBJECTS, connections: CONNECTIONS });
        print(asked, await measureAll([server, gateway], asked));
    }
    for (const asked of PROMISED.filter(({ name }) => isWanted(name)))
        print(asked, await measureAll([server], asked));
    await measureTwo(server, place);
    await server.stop();
} finally {
    await cluster.stop();
}
