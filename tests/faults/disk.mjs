#!/usr/bin/env node
// A disk that is filled and freed again and again: disk.mjs [--soak] [--rounds N] [--seed N]
//
// Each round fills the disk with blobs, small and large, until writes are refused with 507; kills
// the server now and then, and always once on the full disk; deletes everything; and writes again.
// Nothing acknowledged may be lost, nothing but 507 may refuse a write and nothing at all a delete
// or a read, every start must succeed. Once others fill the disk to the last byte. On an ext4 on a
// loop device where that can be had (root), else on a disk whose size shim.c plays. One count for
// each round.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { randomFrom } from '../crash/campaign.mjs';
import { Client } from '../crash/client.mjs';
import { bytesOf, digest } from '../crash/model.mjs';
import { Server } from '../lib/server.mjs';
import { makeDisk } from './disks.mjs';

const { values: options } = parseArgs({
    options: { soak: { type: 'boolean', default: false }, rounds: { type: 'string' }, seed: { type: 'string' }, shim: { type: 'boolean', default: false } },
});
const ROUNDS = Number(options.rounds ?? (options.soak ? 100 : 2));
const SEED = Number(options.seed ?? Date.now() % 1000000);
const DISK_BYTES = 320 << 20;
const WRITERS = 6;
const LOOKED_AT = 60;
const GIVEN_BACK_MS = 120000;
const STARTS_MAX = 20;
const CONTAINER = 'full';

const random = randomFrom(SEED);
const work = mkdtempSync(path.join(tmpdir(), 'lagra-full-'));

const disk = makeDisk(work, DISK_BYTES, { isPlayed: options.shim });
if (!disk.isPossible) {
    console.log('skipped: this build takes no LD_PRELOAD, by which a disk is played');
    console.log('disk: 0 passed, 0 failed, 1 skipped');
    disk.close();
    rmSync(work, { recursive: true, force: true });
    process.exit(0);
}
const server = new Server({ location: disk.location, env: disk.env });
server.location = disk.location;

/** name -> part; of what is acknowledged. */
const stored = new Map();
/** Under way when the server was killed: they may be there or not. */
const unknown = new Set();
let named = 0;

class Wrong extends Error {}

function put(client, name, part) {
    return client.ask('PUT', `/${CONTAINER}/${name}`, { headers: [['x-ms-blob-type', 'BlockBlob']], body: bytesOf(part) });
}

function nextPart() {
    const size = random(8) === 0 ? 200000 + random(2 << 20) : 4000 + random(12000);

    return { seed: ++named, size };
}

/** Works with several clients at once until each returns false; errors of the connection end it
 *  too. */
async function together(step) {
    const ends = await Promise.allSettled(Array.from({ length: WRITERS }, async (_, i) => {
        const client = new Client(server);

        try {
            while (await step(client, i));
        } finally {
            client.close();
        }
    }));
    const wrong = ends.map(({ reason }) => reason).find((reason) => reason instanceof Wrong);

    if (wrong)
        throw wrong;
    return ends.some(({ status }) => status === 'rejected');
}

/** Until the disk is full; true when the server went away first. */
async function fill() {
    return together(async (client) => {
        const part = nextPart();
        const name = `blob${part.seed}`;

        unknown.add(name);
        const { status } = await put(client, name, part);
        unknown.delete(name);
        if (status === 201)
            stored.set(name, part);
        else if (status !== 507)
            throw new Wrong(`PUT of ${part.size} bytes on a disk that fills: ${status}`);
        return status === 201;
    });
}

/** mayBeFinal: where others hold the last byte a table of RocksDB cannot be written, and the store is
 *  final until the next start (docs/failure-guarantees.md). */
async function removeAll({ mayBeFinal = false } = {}) {
    const names = [...stored.keys(), ...unknown];

    return together(async (client) => {
        const name = names.pop();

        if (name === undefined)
            return false;
        const wasStored = stored.delete(name);
        unknown.add(name);
        const { status } = await client.ask('DELETE', `/${CONTAINER}/${name}`);
        if (status === 500 && mayBeFinal)
            throw new Error('the store is final');
        if (status !== 202 && !(status === 404 && !wasStored))
            throw new Wrong(`DELETE on a full disk: ${status}`);
        unknown.delete(name);
        return true;
    });
}

/** Every name by a listing, the contents of some. */
async function look() {
    const client = new Client(server);
    const names = new Set();
    let marker = '';

    do {
        const answer = await client.ask('GET', `/${CONTAINER}?restype=container&comp=list${marker && `&marker=${encodeURIComponent(marker)}`}`);
        const text = answer.body.toString();

        if (answer.status !== 200)
            throw new Wrong(`List Blobs on a full disk: ${answer.status}`);
        for (const [, name] of text.matchAll(/<Name>(blob\d+)<\/Name>/g))
            names.add(name);
        marker = text.match(/<NextMarker>(.+?)<\/NextMarker>/)?.[1] ?? '';
    } while (marker);
    const lost = [...stored.keys()].filter((name) => !names.has(name));
    const there = [...names].filter((name) => !stored.has(name) && !unknown.has(name));
    if (lost.length > 0 || there.length > 0)
        throw new Wrong(`${lost.length} of ${stored.size} blobs are lost (${lost.slice(0, 3)}), ${there.length} deleted ones are there`);
    const some = [...stored].filter(() => random(stored.size) < LOOKED_AT);
    for (const [name, part] of some) {
        const answer = await client.ask('GET', `/${CONTAINER}/${name}`);
        if (answer.status !== 200 || digest(answer.body) !== digest(bytesOf(part)))
            throw new Wrong(`${name}: ${answer.status}, ${answer.body.length} bytes of ${part.size}`);
    }
    client.close();
}

async function again() {
    await server.kill();
    await server.restart();
}

/** What was deleted is given back: a write goes through. */
async function writesAgain() {
    const limit = Date.now() + GIVEN_BACK_MS;
    const client = new Client(server);
    const part = { seed: ++named, size: 300000 };
    let status;

    while ((({ status } = await put(client, `blob${part.seed}`, part)), status === 507) && Date.now() < limit)
        await delay(50);
    client.close();
    if (status !== 201)
        throw new Wrong(`after everything was deleted, PUT gives ${status}; ${disk.free() >> 20} MiB are free`);
    stored.set(`blob${part.seed}`, part);
}

async function fillAndFree(round) {
    if (round % 2 === 1) {
        const timer = setTimeout(() => server.kill(), random(2000));
        while (await fill())
            await again();
        clearTimeout(timer);
    }
    while (await fill())
        await again();
    const filled = stored.size;
    await again();
    await look();
    const timer = round % 3 === 1 ? setTimeout(() => server.kill(), random(300)) : null;
    while (await removeAll())
        await again();
    clearTimeout(timer);
    await writesAgain();
    await look();
    return filled;
}

/** Others take all that is left: whatever happens then, a start succeeds, and deletes go
 *  through. */
async function othersFill() {
    await fill();
    disk.fill();
    await again();
    await look();
    for (let starts = 0; await removeAll({ mayBeFinal: true }); starts++) {
        if (starts === STARTS_MAX)
            throw new Wrong(`on a disk that others hold, deletes have not gone through after ${starts} starts`);
        await again();
    }
    disk.empty();
    await writesAgain();
}

const total = { passed: 0, failed: 0 };

async function count(name, run) {
    try {
        const what = await run();

        total.passed++;
        if (options.soak)
            console.log(`${name}: ${what ?? 'ok'}`);
    } catch (error) {
        total.failed++;
        console.log(`FAILED ${name} of seed ${SEED}: ${error.message}\n${server.stderr.slice(-2000)}`);
        throw error;
    }
}

try {
    await server.restart();
    const client = new Client(server);
    await client.ask('PUT', `/${CONTAINER}?restype=container`);
    client.close();
    for (let round = 1; round <= ROUNDS; round++)
        await count(`round ${round}`, () => fillAndFree(round));
    await count('a disk that others fill', othersFill);
} catch (error) {
    if (total.failed === 0)
        console.log(`FAILED ${error.stack}`);
    total.failed = Math.max(1, total.failed);
} finally {
    await server.kill();
    disk.close();
    rmSync(work, { recursive: true, force: true });
}
console.log(`${named} blobs on ${disk.constructor.name}, seed ${SEED}`);
console.log(`disk: ${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
