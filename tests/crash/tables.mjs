#!/usr/bin/env node
// kill -9 under transactions on tables, restart, and look: tables.mjs [--soak] [--points N] [--seed N]
//
// Each partition has one writer. A transaction that was answered must be there as a whole, one that was
// not as a whole or not at all, and a reader never sees a part of one (promises 1, 2 and 4).
// rest: Performing-Entity-Group-Transactions. One count for each kill.

import { parseArgs } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '../lib/server.mjs';
import { randomFrom } from './campaign.mjs';
import { TableClient, Unexpected } from './table_client.mjs';

const { values: options } = parseArgs({
    options: { soak: { type: 'boolean', default: false }, points: { type: 'string' }, seed: { type: 'string' } },
});
const POINTS = Number(options.points ?? (options.soak ? 2000 : 40));
const SEED = Number(options.seed ?? Date.now() % 1000000);
const TABLE = 'crash';
const WRITERS = 4;
const ROWS = 30; /* that are written one by one, or in any set */
const GROUP = 10; /* rows that are only ever written all together, with one value */
const GATES = ['staged', 'decided', 'applied', 'synced'];

const group = Array.from({ length: GROUP }, (_, i) => `g${i}`);
const rows = Array.from({ length: ROWS }, (_, i) => `r${`${i}`.padStart(2, '0')}`);
const random = randomFrom(SEED);
const failures = [];
let values = 0;

/** A partition as its writer knows it. asked: the changes of a request without an answer. */
const partitions = Array.from({ length: WRITERS }, (_, i) => ({ key: `p${i}`, state: new Map(), asked: null, seen: '' }));

function apply(state, changes) {
    const next = new Map(state);

    for (const { row, value, remove } of changes)
        remove ? next.delete(row) : next.set(row, value);
    return next;
}

const textOf = (state) => JSON.stringify([...state].sort());
const newValue = () => `v${`${++values}`.padStart(9, '0')}`;

/** One row, or a transaction of some rows and perhaps the group. */
function nextChanges({ state }) {
    const count = random(3) === 0 ? 1 : 2 + random(ROWS - 2);
    const wanted = new Set(Array.from({ length: count }, () => rows[random(ROWS)]));
    const changes = [...wanted].map((row) =>
        (state.has(row) && random(3) === 0 ? { row, remove: true } : { row, value: newValue() }));
    const value = newValue();

    return count > 1 && random(2) === 0 ? [...changes, ...group.map((row) => ({ row, value }))] : changes;
}

async function write(partition, isOver, gateAt) {
    const client = new TableClient(server);

    for (let at = 0; !isOver(); at++) {
        const changes = nextChanges(partition);

        partition.asked = changes;
        await client.change(TABLE, partition.key, { changes, gate: at === gateAt ? GATES[random(GATES.length)] : undefined });
        partition.state = apply(partition.state, changes);
        partition.asked = null;
    }
    client.close();
}

/** Sees the group of a partition whole, and never older than it was seen before. */
function look(partition, found) {
    const seen = [...new Set(found.values())];

    if (seen.length > 1 || (found.size !== 0 && found.size !== GROUP))
        failures.push(`${partition.key}: a part of a transaction was seen: ${[...found].join(' ')}`);
    if ((seen[0] ?? '') < partition.seen)
        failures.push(`${partition.key}: ${partition.seen} was seen, now ${seen[0]}`);
    partition.seen = seen[0] ?? partition.seen;
}

async function read(isOver) {
    const client = new TableClient(server);

    while (!isOver()) {
        const partition = partitions[random(WRITERS)];
        const found = await client.rows(TABLE, partition.key, 'g', 'h');

        if (!isOver())
            look(partition, found);
    }
    client.close();
}

/** Works for `ms`, or until a request has killed the server at a gate. */
async function work({ ms, gated }) {
    let over = false;
    const isOver = () => over;
    const run = (promise) => promise.catch((error) => {
        over = true;
        if (error instanceof Unexpected)
            failures.push(error.message);
    });
    const workers = partitions.map((partition, i) => run(write(partition, isOver, gated && i === 0 ? random(20) : -1)));

    workers.push(run(read(isOver)));
    for (const end = Date.now() + ms; !over && Date.now() < end;)
        await delay(1);
    await server.kill();
    over = true;
    await Promise.all(workers);
}

async function verify() {
    const client = new TableClient(server);

    for (const partition of partitions) {
        const found = await client.rows(TABLE, partition.key);
        const may = [partition.state, ...(partition.asked ? [apply(partition.state, partition.asked)] : [])];
        const fits = may.find((state) => textOf(state) === textOf(found));

        if (!fits)
            failures.push(`${partition.key}: expected ${may.map(textOf).join(' or ')}, found ${textOf(found)}`);
        look(partition, await client.rows(TABLE, partition.key, 'g', 'h'));
        partition.state = found;
        partition.asked = null;
    }
    client.close();
}

const total = { passed: 0, failed: 0 };
const server = await Server.start();

try {
    const client = new TableClient(server);

    await client.createTable(TABLE);
    client.close();
    for (let point = 1; point <= POINTS && total.failed === 0; point++) {
        const gated = point % 4 === 0;

        await work({ ms: gated ? 300 : 1 + random(80), gated });
        await server.restart();
        await verify();
        total[failures.length > 0 ? 'failed' : 'passed']++;
        for (const failure of failures.splice(0))
            console.log(`FAILED point ${point} of seed ${SEED}: ${failure}`);
    }
    console.log(`${POINTS} kills, ${values} values, seed ${SEED}`);
} catch (error) {
    total.failed++;
    console.log(`FAILED seed ${SEED}: ${error.stack}`);
} finally {
    await server.stop();
}
console.log(`crash of tables: ${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
