#!/usr/bin/env node
// A cell on CephFS next to the same cluster's gateway, radosgw with S3, in one run (tests/cluster/ceph.mjs: a monitor, three OSDs, and the
// front end on a mount by ceph-fuse, all on this machine): requests a second, times, CPU.
//
//   cells.mjs --build FOLDER [--rounds N] [--seconds N] [--objects N] [--waiting N] [--layout TEXT] [--only WORD,..]
//
//   --build    where lagra and bench/load are
//   --rounds   odd; the servers take turns, and the middle of the rounds is printed; default 3
//   --seconds  of one work, server and round; default 3
//   --objects  in the container that is listed; default 100000
//   --waiting  messages in the queue that is compared with an empty one; default 100000
//   --layout   of the cluster's folder: values of ceph.dir.layout.*, such as stripe_unit=1048576,stripe_count=4
//   --only     rows whose names begin so

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CephFs, lacking } from '../tests/cluster/ceph.mjs';
import { Member } from '../tests/lib/cell_member.mjs';
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
        build: { type: 'string' }, rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '3' },
        objects: { type: 'string', default: '100000' }, waiting: { type: 'string', default: '100000' },
        layout: { type: 'string', default: '' }, only: { type: 'string', default: '' },
    },
});
const [ROUNDS, SECONDS, OBJECTS, WAITING] = [options.rounds, options.seconds, options.objects, options.waiting].map(Number);
const loadBinary = path.resolve(options.build, 'bench/load');
const isWanted = (name) => !options.only || options.only.split(',').some((word) => name.startsWith(word));

process.env.LAGRA_BINARY = path.resolve(options.build, 'lagra');

/* s3: the work's name at the gateway. */
const COMPARED = [
    { name: 'PUT 4 KiB', work: 'fill', s3: 's3-fill', size: 4 * KiB, names: 1_000_000, connections: CONNECTIONS },
    { name: 'GET 4 KiB', work: 'get', s3: 'get', size: 4 * KiB, names: 1000, connections: CONNECTIONS, isRead: true },
    { name: 'PUT 4 MiB', work: 'put', s3: 's3-put', size: 4 * MiB, names: 16, connections: 8 },
    { name: 'GET 4 MiB', work: 'get', s3: 'get', size: 4 * MiB, names: 16, connections: 8, isRead: true },
    { name: `List 1,000 of ${OBJECTS.toLocaleString('en')}`, work: 'list', s3: 's3-list', container: LISTED, size: 0, names: 1, connections: 1 },
];
/* Queues are named by their container and number: the second one is full. */
const CYCLE = { work: 'message-cycle', service: 'queue', size: KiB, names: 1, connections: CONNECTIONS };

function argumentsOf(target, { work, s3, service = 'blob', size, container = BUCKET, names, connections, count }) {
    return ['--port', target.isS3 ? target.port : target.ports[service], '--work', target.isS3 ? s3 : work, '--size', size, '--names', names,
        '--container', container, '--connections', connections, '--page', PAGE,
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

const cpuOf = ({ pids }) => pids.map(cpuSeconds).reduce((a, b) => a + b, 0);

async function measure(target, asked) {
    const before = cpuOf(target);
    const result = await load(target, asked);

    return { ...result, cpuUs: ((cpuOf(target) - before) / result.answered) * 1e6 };
}

const middles = (all) => Object.fromEntries(['per_second', 'p50_us', 'p99_us', 'cpuUs'].map((column) => [column, middle(all.map((one) => one[column]))]));

/** The middle of the rounds of each server, column by column. */
async function measureAll(targets, asked) {
    const rounds = new Map(targets.map(({ name }) => [name, []]));

    for (const target of targets)
        if (asked.isRead)
            await load(target, { ...asked, work: 'fill', s3: 's3-fill', count: asked.names });
    for (let round = 0; round < ROUNDS; round++)
        for (const target of round % 2 ? [...targets].reverse() : targets)
            rounds.get(target.name).push(await measure(target, asked));
    return new Map([...rounds].map(([name, all]) => [name, middles(all)]));
}

/** Two queues of one cell take turns: an empty one, and one in which messages wait. */
async function measureQueues(lagra) {
    const all = { empty: [], full: [] };

    await load(lagra, { work: 'message-put', service: 'queue', size: KiB, container: 'full', names: 1, connections: CONNECTIONS, count: WAITING });
    for (let round = 0; round < ROUNDS; round++)
        for (const container of round % 2 ? ['full', 'empty'] : ['empty', 'full'])
            all[container].push(await measure(lagra, { ...CYCLE, container }));
    const quotient = middle(all.full.map((one, i) => one.per_second / all.empty[i].per_second));
    for (const container of ['empty', 'full'])
        row(`queue, ${container === 'full' ? WAITING.toLocaleString('en') : '0'} waiting`, CONNECTIONS, 'Lagra', ...figures(middles(all[container])),
            container === 'full' ? `${quotient.toFixed(2)} of empty` : '');
}

/* ---- servers ---- */

async function startLagra(fs) {
    await fs.setAttributes(Object.fromEntries(options.layout.split(',').filter(Boolean).map((setting) => `dir.layout.${setting}`.split('='))));
    await fs.mount('one');
    const folder = path.join(fs.mountPoint('one'), 'lagra');
    const { status, stderr } = spawnSync(process.env.LAGRA_BINARY, ['cluster', 'init', folder], { encoding: 'utf8' });

    if (status !== 0)
        throw new Error(stderr);
    const member = await Member.start(folder, { env: fs.environment, args: ['--silent'] });
    await member.until(200);
    for (const [service, target] of [['blob', `/${BUCKET}?restype=container`], ['blob', `/${LISTED}?restype=container`], ['queue', '/full-0'], ['queue', '/empty-0']]) {
        const answer = await member.ask('PUT', target, { service });

        if (answer.status !== 201)
            throw new Error(`PUT ${target}: ${answer.status}`);
    }
    return { name: 'Lagra', ports: member.ports, pids: [member.pid, fs.mountPid('one')], member };
}

async function startGateway(fs) {
    const { port, pid } = await fs.startGateway(USER, SECRET);
    const target = { name: 'radosgw', isS3: true, port, pids: [pid] };

    for (const bucket of [BUCKET, LISTED])
        await load(target, { s3: 's3-make', size: 0, names: 1, connections: 1, count: 1, container: bucket });
    return target;
}

/* ---- printing ---- */

const number = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));
const figures = (result) => ['per_second', 'p50_us', 'p99_us', 'cpuUs'].map((column) => number(result[column]));
const WIDTHS = [28, 6, 9, 11, 9, 9, 9, 13];

function row(...cells) {
    console.log(cells.map((cell, i) => (i === 0 ? `${cell}`.padEnd(WIDTHS[i]) : `${cell}`.padStart(WIDTHS[i]))).join('  '));
}

function print({ name, connections }, results) {
    const gateway = results.get('radosgw');

    for (const [server, result] of results)
        row(name, connections, server, ...figures(result), server === 'Lagra' ? `${(result.per_second / gateway.per_second).toFixed(2)}x` : '');
}

async function measureServers(fs) {
    const lagra = await startLagra(fs);

    try {
        const gateway = await startGateway(fs);

        console.log(`${new Date().toISOString().slice(0, 10)}, ${commitOf(path.dirname(fileURLToPath(import.meta.url)))}, ${os.cpus().length} cores of ` +
            `${os.cpus()[0].model.trim()}, load average ${os.loadavg()[0].toFixed(1)}; three OSDs, monitor, servers and load on them; ${ROUNDS} rounds of ${SECONDS} s`);
        row('work', 'conns', 'server', 'requests/s', 'p50 us', 'p99 us', 'CPU us', 'to radosgw');
        for (const asked of COMPARED.filter(({ name }) => isWanted(name))) {
            if (asked.container === LISTED)
                for (const target of [lagra, gateway])
                    await load(target, { ...asked, work: 'fill', s3: 's3-fill', names: OBJECTS, count: OBJECTS, connections: CONNECTIONS });
            print(asked, await measureAll([lagra, gateway], asked));
        }
        if (isWanted('queue'))
            await measureQueues(lagra);
    } finally {
        await lagra.member.end('SIGTERM');
    }
}

const lacks = lacking(['radosgw', 'radosgw-admin']);

if (lacks.length > 0)
    throw new Error(`no CephFS can be started here: ${lacks.join('; ')}`);
const fs = await CephFs.start();

for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => fs.stop().finally(() => process.exit(1)));
try {
    await measureServers(fs);
} finally {
    await fs.stop();
}
