// Entities of 1 KiB by 32 clients: inserts, replaces under If-Match, upserts, point reads,
// transactions of 100; beside Azurite, and beside PostgreSQL (bench/postgres.mjs); then upserts by
// one client of the SDK. And a table of many entities: point reads and pages of 1,000 there and in
// one of 10,000, and scans of all of it with a filter.

import { createRequire } from 'node:module';
import { Connection } from '../tests/lib/http.mjs';
import { sign } from '../tests/lib/sign.mjs';
import { startPostgres } from './postgres.mjs';
import { againstBefore, cpuSeconds, middle, untilIdle } from './process.mjs';
import { ACCOUNT, KEY } from './targets.mjs';

const CLIENTS = 32;
const SIZE = 1024;
const ENTITIES = 10000;
const TRANSACTION = 100;
const SDK_UPSERTS = 100000;
/* Entities of the large table, and how many lie in a partition. */
const SMALL_SIZE = 256;
const OF_PARTITION = 2000;

/* The rates that PostgreSQL is asked for beside them; each: entities of a request. */
const WORKS = [
    { name: 'Insert Entity', work: 'entity-insert' },
    { name: 'Update Entity If-Match', work: 'entity-replace' },
    { name: 'Insert Or Replace Entity', work: 'entity-put', postgres: 'upsert' },
    { name: 'Query Entities, one', work: 'entity-get', postgres: 'read' },
    { name: 'transactions of 100', work: 'transaction', each: TRANSACTION, postgres: 'transaction' },
];

const ofTable = (target) => ({ ...target, port: target.tablePort });
const rounded = (value) => Math.round(value).toLocaleString('en');

function signed(target, method, resource, body) {
    return sign({
        method, target: `/${ACCOUNT}/${resource}`,
        headers: [['Host', `127.0.0.1:${target.tablePort}`], ['Accept', 'application/json;odata=nometadata'],
            ...(body ? [['Content-Type', 'application/json'], ['Content-Length', `${body.length}`]] : [])],
    }, { service: 'table' });
}

async function createTable(target, name) {
    const connection = await Connection.open('127.0.0.1', target.tablePort);
    const body = Buffer.from(JSON.stringify({ TableName: name }));
    const answer = await connection.exchange(signed(target, 'POST', 'Tables', body), body);

    connection.close();
    if (answer.status !== 201)
        throw new Error(`${target.name}: Create Table: ${answer.status}`);
}

function fill(target, { load }, asked) {
    return load(ofTable(target), { work: 'transaction', connections: CLIENTS, count: asked.names / TRANSACTION, ...asked });
}

/* ---- beside the others ---- */

/** Of each server the rate in entities a second and the CPU seconds for one; all in turn. */
function measureWork(targets, postgres, tools, { work, each = 1, postgres: script }) {
    const seconds = tools.seconds / tools.rounds;
    const rounds = new Map();
    const note = (name, cpu, run) => {
        const before = cpu(), { per_second: rate, answered } = run();
        rounds.set(name, [...(rounds.get(name) ?? []), { rate: rate * each, cpu: (cpu() - before) / answered / each }]);
    };

    for (let round = 0; round < tools.rounds; round++) {
        for (const target of targets)
            note(target.name, () => cpuSeconds(target.pid), () => tools.load(ofTable(target), {
                work, size: SIZE, container: 'bench', names: ENTITIES, connections: CLIENTS, seconds,
            }));
        if (postgres && script)
            note(postgres.name, postgres.cpuSeconds, () => postgres.load(script, seconds));
    }
    return new Map([...rounds].map(([name, all]) => [name, {
        rate: middle(all.map(({ rate }) => rate)), cpu: middle(all.map(({ cpu }) => cpu)),
        before: name === 'Lagra' ? againstBefore(rounds, 'cpu') : '',
    }]));
}

async function besideOthers(targets, tools) {
    const postgres = await startPostgres(tools.folder, { clients: CLIENTS, size: SIZE });

    try {
        for (const target of targets) {
            await createTable(target, 'bench');
            fill(target, tools, { size: SIZE, container: 'bench', names: ENTITIES });
        }
        for (const work of WORKS) {
            const found = measureWork(targets, postgres, tools, work);
            const ours = found.get('Lagra').rate;
            console.log(`${work.name}: ` + [...found].map(([name, { rate, cpu, before }]) => `${name} ${rounded(rate)}/s, ` +
                `CPU ${(cpu * 1e6).toFixed(1)} us${before}${name === 'Lagra' ? '' : ` (${(ours / rate).toFixed(2)}x)`}`).join('; '));
        }
    } finally {
        await postgres?.stop();
    }
}

/* ---- the SDK ---- */

/** Seconds for so many upserts by one client of the SDK, so many of them at a time. */
async function sdkSeconds(target, count, atATime) {
    const require = createRequire(new URL('../tests/clients/package.json', import.meta.url));
    const { TableClient, AzureNamedKeyCredential } = require('@azure/data-tables');
    const client = new TableClient(`http://127.0.0.1:${target.tablePort}/${ACCOUNT}`, 'sdk', new AzureNamedKeyCredential(ACCOUNT, KEY),
        { allowInsecureConnection: true });
    const text = 'x'.repeat(SIZE - 200);
    let next = 0;
    const writer = async () => {
        for (let k = next++; k < count; k = next++)
            await client.upsertEntity({ partitionKey: `p${k % 100}`, rowKey: `${k}`, count: k, text }, 'Replace');
    };

    const began = performance.now();
    await Promise.all(Array.from({ length: atATime }, writer));
    return (performance.now() - began) / 1000;
}

async function bySdk(lagra) {
    await createTable(lagra, 'sdk');
    const seconds = await sdkSeconds(lagra, SDK_UPSERTS, CLIENTS);
    console.log(`${rounded(SDK_UPSERTS)} upserts by one client of the SDK, ${CLIENTS} at a time: ${seconds.toFixed(1)} s`);
}

/* ---- a table of many entities ---- */

/** Reads the whole table page by page; what it took, and how many entities were given. */
async function scan(target, table, query) {
    const connection = await Connection.open('127.0.0.1', target.tablePort);
    const began = performance.now(), cpu = cpuSeconds(target.pid);
    let from = '', pages = 0, given = 0;

    do {
        const answer = await connection.exchange(signed(target, 'GET', `${table}()?${query}${from}`));
        if (answer.status !== 200)
            throw new Error(`Query Entities: ${answer.status}`);
        pages++;
        given += answer.body.toString('latin1').split('"RowKey":').length - 1;
        const key = (name) => encodeURIComponent(answer.headers.get(`x-ms-continuation-next${name}`));
        from = answer.headers.get('x-ms-continuation-NextPartitionKey')
            ? `&NextPartitionKey=${key('partitionkey')}&NextRowKey=${key('rowkey')}` : '';
    } while (from);
    connection.close();
    return { seconds: (performance.now() - began) / 1000, cpu: cpuSeconds(target.pid) - cpu, pages, given };
}

/** One client, of the tables in turn; of each the middle of its rounds. tables: name, entities there, and how many
 * of them are read. */
function measureReads(lagra, tools, tables, what, work) {
    const rounds = tables.map(() => []);

    for (let round = 0; round < tools.rounds; round++)
        for (const [i, [container, there, names]] of tables.entries()) {
            const before = cpuSeconds(lagra.pid);
            const result = tools.load(ofTable(lagra), {
                work, size: SMALL_SIZE, container, names, partitions: there / OF_PARTITION, connections: 1,
                seconds: tools.seconds / tools.rounds,
            });
            rounds[i].push({ ...result, cpu_us: ((cpuSeconds(lagra.pid) - before) / result.answered) * 1e6 });
        }
    for (const [i, [, there, names]] of tables.entries()) {
        const of = (field) => middle(rounds[i].map((result) => result[field]));
        console.log(`${what}, of ${rounded(names)} out of ${rounded(there)}: p50 ${of('p50_us')} us, p99 ${of('p99_us')} us, CPU ${of('cpu_us').toFixed(1)} us`);
    }
}

/** tools: { load, rounds, seconds }; entities: of the large table */
export async function measureManyEntities([lagra], tools, entities) {
    const few = ['few', ENTITIES, ENTITIES], inUse = ['many', entities, ENTITIES], all = ['many', entities, entities];

    console.log(`\n${rounded(entities)} entities of ${SMALL_SIZE} bytes`);
    for (const [name, names] of [few, all]) {
        await createTable(lagra, name);
        const before = cpuSeconds(lagra.pid);
        const filled = fill(lagra, tools, { size: SMALL_SIZE, container: name, names, partitions: names / OF_PARTITION });
        console.log(`${rounded(names)} entities by transactions of ${TRANSACTION}: ${rounded(filled.per_second * TRANSACTION)} entities/s, ` +
            `CPU ${(((cpuSeconds(lagra.pid) - before) / names) * 1e6).toFixed(1)} us`);
    }
    console.log(`compacted ${(await untilIdle(lagra.pid)).toFixed(0)} s later`);
    measureReads(lagra, tools, [few, inUse, all], 'point read', 'entity-get');
    measureReads(lagra, tools, [few, all], 'page of 1,000 by range', 'entity-page');
    for (const [what, filter] of [['one of a thousand', 'Count eq 7'], ['nearly all', 'Count ge 1']]) {
        const { seconds, cpu, pages, given } = await scan(lagra, 'many', `$filter=${encodeURIComponent(filter)}`);
        console.log(`scan that gives ${what}: ${rounded(entities / seconds)} entities/s, ${rounded(entities / cpu)} in a second of CPU, ` +
            `${rounded(given)} given in ${rounded(pages)} pages`);
    }
}

/** tools: { folder, load, rounds, seconds } */
export async function measureTables(targets, tools) {
    console.log(`\nEntities of 1 KiB, ${CLIENTS} clients; a second, each durable`);
    await besideOthers(targets, tools);
    await bySdk(targets[0]);
}
