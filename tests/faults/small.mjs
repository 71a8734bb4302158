#!/usr/bin/env node
// Small disks, filled through all services and freed by deletes alone: small.mjs [--soak] [--sizes
// MIB,..] [--rounds N] [--seed N] [--shim]
//
// The server's own tables and logs grow with what clients store, so on a small disk they are what
// uses up the reserve. Each round fills the disk with entities, messages, blobs and files of 4 to 20 KB
// until each is refused with 507, with a kill -9 on the way and one on the full disk; looks that
// nothing acknowledged is lost; does what somebody needs who cleans up (leases, properties, less
// metadata, getting messages); deletes everything, with a kill -9 on the way; and writes again. At the
// end SIGTERM has to end a server whose disk is full in order. Nothing but 507 may refuse what
// grows, and nothing at all what does not. One count for each round.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { randomFrom } from '../crash/campaign.mjs';
import { Client } from '../crash/client.mjs';
import { bytesOf } from '../crash/model.mjs';
import { Server } from '../lib/server.mjs';
import { makeDisk } from './disks.mjs';

const { values: options } = parseArgs({
    options: {
        soak: { type: 'boolean', default: false }, sizes: { type: 'string' }, rounds: { type: 'string' }, seed: { type: 'string' },
        shim: { type: 'boolean', default: false },
    },
});
const SIZES = (options.sizes ?? (options.soak ? '60,90,128,420' : '60')).split(',').map(Number);
const ROUNDS = Number(options.rounds ?? (options.soak ? 3 : 1));
const SEED = Number(options.seed ?? Date.now() % 1000000);
const WORKERS = 2; /* of each service */
const BYTES_LEAST = 4000;
const BYTES_MORE = 16000;
const GIVEN_BACK_MS = 120000;
const HIDDEN_S = 1;

const random = randomFrom(SEED);

class Wrong extends Error {}

const idOf = (xml) => xml.match(/<MessageId>(.*?)<\/MessageId>/)[1];
const receiptOf = (xml) => xml.match(/<PopReceipt>(.*?)<\/PopReceipt>/)[1];
const textOf = (part) => bytesOf(part).toString('latin1').replaceAll('<', '.').replaceAll('>', '.');

const JSON_HEADERS = [['Content-Type', 'application/json'], ['Accept', 'application/json;odata=nometadata']];

/** What the services do with one thing of a name and a part. Each function returns a status. */
const KINDS = {
    table: {
        create: (client) => client.ask('POST', '/Tables', { headers: JSON_HEADERS, body: Buffer.from('{"TableName":"rows"}') }),
        put: (client, name, part) => client.ask('POST', '/rows', {
            headers: [...JSON_HEADERS, ['Prefer', 'return-no-content']],
            body: Buffer.from(JSON.stringify({ PartitionKey: `p${part.seed % 5}`, RowKey: name, Text: textOf(part) })),
        }),
        done: 204,
        remove: (client, name, part) => client.ask('DELETE', `/rows(PartitionKey='p${part.seed % 5}',RowKey='${name}')`,
            { headers: [['If-Match', '*'], ...JSON_HEADERS] }),
        removed: 204,
        async names(client) {
            const names = [];
            let next = '';

            do {
                const answer = await client.ask('GET', `/rows()?$select=RowKey${next}`, { headers: JSON_HEADERS });

                if (answer.status !== 200)
                    throw new Wrong(`Query Entities on a full disk: ${answer.status}`);
                names.push(...JSON.parse(answer.body).value.map(({ RowKey }) => RowKey));
                const [partition, row] = ['partition', 'row'].map((key) => answer.headers.get(`x-ms-continuation-next${key}key`));
                next = partition && `&NextPartitionKey=${partition}${row ? `&NextRowKey=${row}` : ''}`;
            } while (next);
            return names;
        },
    },
    queue: {
        create: (client) => client.ask('PUT', '/work'),
        async put(client, name, part) {
            const answer = await client.ask('POST', '/work/messages', {
                body: Buffer.from(`<QueueMessage><MessageText>${name} ${textOf(part)}</MessageText></QueueMessage>`),
            });

            if (answer.status === 201)
                Object.assign(part, { id: idOf(answer.body.toString()), receipt: receiptOf(answer.body.toString()) });
            return answer;
        },
        done: 201,
        remove: (client, name, { id, receipt }) => client.ask('DELETE', `/work/messages/${id}?popreceipt=${encodeURIComponent(receipt)}`),
        removed: 204,
        async names(client) {
            const answer = await client.ask('GET', '/work?comp=metadata');

            return { count: Number(answer.headers.get('x-ms-approximate-messages-count')) };
        },
    },
    blob: {
        create: (client) => client.ask('PUT', '/full?restype=container'),
        put: (client, name, part) => client.ask('PUT', `/full/${name}`,
            { headers: [['x-ms-blob-type', 'BlockBlob'], ['x-ms-meta-long', 'x'.repeat(200)]], body: bytesOf(part) }),
        done: 201,
        remove: (client, name) => client.ask('DELETE', `/full/${name}`),
        removed: 202,
        async names(client) {
            const names = [];
            let marker = '';

            do {
                const answer = await client.ask('GET', `/full?restype=container&comp=list${marker && `&marker=${encodeURIComponent(marker)}`}`);
                const text = answer.body.toString();

                if (answer.status !== 200)
                    throw new Wrong(`List Blobs on a full disk: ${answer.status}`);
                names.push(...[...text.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name));
                marker = text.match(/<NextMarker>(.+?)<\/NextMarker>/)?.[1] ?? '';
            } while (marker);
            return names;
        },
    },
    file: {
        create: (client) => client.ask('PUT', '/full?restype=share'),
        /* One whose bytes are refused is deleted: it would be there without them. */
        async put(client, name, part) {
            const made = await client.ask('PUT', `/full/${name}`,
                { headers: [['x-ms-type', 'file'], ['x-ms-content-length', `${part.size}`], ['x-ms-meta-long', 'x'.repeat(200)]] });

            if (made.status !== 201)
                return made;
            const written = await client.ask('PUT', `/full/${name}?comp=range`,
                { headers: [['x-ms-write', 'update'], ['x-ms-range', `bytes=0-${part.size - 1}`]], body: bytesOf(part) });
            if (written.status === 507) {
                const removed = await this.remove(client, name);
                if (removed.status !== this.removed)
                    throw new Wrong(`Delete File on a full disk: ${removed.status}`);
            }
            return written;
        },
        done: 201,
        remove: (client, name) => client.ask('DELETE', `/full/${name}`),
        removed: 202,
        async names(client) {
            const names = [];
            let marker = '';

            do {
                const answer = await client.ask('GET', `/full?restype=directory&comp=list${marker && `&marker=${encodeURIComponent(marker)}`}`);
                const text = answer.body.toString();

                if (answer.status !== 200)
                    throw new Wrong(`List Files on a full disk: ${answer.status}`);
                names.push(...[...text.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name));
                marker = text.match(/<NextMarker>(.+?)<\/NextMarker>/)?.[1] ?? '';
            } while (marker);
            return names;
        },
    },
};

/** One disk, its server, and what they are expected to hold. */
class Campaign {
    #named = 0;
    #least = Infinity;

    constructor(mib) {
        this.work = mkdtempSync(path.join(tmpdir(), 'lagra-small-'));
        this.disk = makeDisk(this.work, mib << 20, { isPlayed: options.shim });
        this.server = new Server({ location: this.disk.location, env: this.disk.env });
        this.server.location = this.disk.location;
        this.stored = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, new Map()]));
        this.unknown = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, new Map()]));
    }

    async close() {
        await this.server.kill();
        this.disk.close();
        rmSync(this.work, { recursive: true, force: true });
    }

    async create() {
        await this.server.restart();
        for (const [kind, { create }] of Object.entries(KINDS)) {
            const client = new Client(this.server, kind);
            const { status } = await create(client);

            client.close();
            if (status !== 201)
                throw new Wrong(`creating for the ${kind} service: ${status}`);
        }
    }

    /** Runs steps of all services until each returns false; true when the server went away. */
    async #together(step) {
        const watch = setInterval(() => { this.#least = Math.min(this.#least, this.disk.free()); }, 20);
        const ends = await Promise.allSettled(Object.keys(KINDS).flatMap((kind) => Array.from({ length: WORKERS }, async () => {
            const client = new Client(this.server, kind);

            try {
                while (await step(kind, client));
            } finally {
                client.close();
            }
        })));
        clearInterval(watch);
        const wrong = ends.map(({ reason }) => reason).find((reason) => reason instanceof Wrong);

        if (wrong)
            throw wrong;
        return ends.some(({ status }) => status === 'rejected');
    }

    #next() {
        return { seed: ++this.#named, size: BYTES_LEAST + random(BYTES_MORE) };
    }

    fill() {
        return this.#together(async (kind, client) => {
            const part = this.#next();
            const name = `n${part.seed}`;

            this.unknown[kind].set(name, part);
            const { status } = await KINDS[kind].put(client, name, part);
            this.unknown[kind].delete(name);
            if (status === KINDS[kind].done)
                this.stored[kind].set(name, part);
            else if (status !== 507)
                throw new Wrong(`${kind}: a write of ${part.size} bytes on a disk that fills: ${status}`);
            return status !== 507;
        });
    }

    /** Messages of a write that was cut cannot be deleted by a receipt: see drain(). */
    removeAll(share = 1) {
        const names = Object.fromEntries(Object.keys(KINDS).map((kind) => {
            const all = [...this.stored[kind].keys(), ...(kind === 'queue' ? [] : this.unknown[kind].keys())];

            return [kind, all.slice(0, Math.ceil(all.length * share))];
        }));

        return this.#together(async (kind, client) => {
            const name = names[kind].pop();

            if (name === undefined)
                return false;
            const part = this.stored[kind].get(name) ?? this.unknown[kind].get(name);
            const wasStored = this.stored[kind].delete(name);
            this.unknown[kind].set(name, part);
            const { status } = await KINDS[kind].remove(client, name, part);
            if (status !== KINDS[kind].removed && !(status === 404 && !wasStored))
                throw new Wrong(`${kind}: a delete on a full disk: ${status}`);
            this.unknown[kind].delete(name);
            return true;
        });
    }

    /** What is left in the queue is got and deleted. */
    async drain() {
        const client = new Client(this.server, 'queue');

        for (const end = Date.now() + GIVEN_BACK_MS; Date.now() < end && this.unknown.queue.size > 0;) {
            const answer = await client.ask('GET', `/work/messages?numofmessages=32&visibilitytimeout=${HIDDEN_S}`);
            const messages = [...answer.body.toString().matchAll(/<QueueMessage>(.*?)<\/QueueMessage>/gs)].map(([, xml]) => xml);

            if (answer.status !== 200)
                throw new Wrong(`Get Messages on a full disk: ${answer.status}`);
            if (messages.length === 0)
                break;
            for (const xml of messages) {
                const removed = await KINDS.queue.remove(client, '', { id: idOf(xml), receipt: receiptOf(xml) });
                if (removed.status !== 204)
                    throw new Wrong(`Delete Message on a full disk: ${removed.status}`);
            }
        }
        client.close();
        this.unknown.queue.clear();
    }

    async look() {
        for (const [kind, { names }] of Object.entries(KINDS)) {
            const client = new Client(this.server, kind);
            const found = await names(client);
            const stored = this.stored[kind], unknown = this.unknown[kind];

            client.close();
            if (found.count !== undefined ? found.count < stored.size || found.count > stored.size + unknown.size
                : [...stored.keys()].some((name) => !found.includes(name)) || found.some((name) => !stored.has(name) && !unknown.has(name)))
                throw new Wrong(`${kind}: of ${stored.size} (and ${unknown.size}) ${found.count ?? found.length} are there`);
        }
    }

    /** What nobody can do without who wants to free space. */
    async tidy() {
        const blob = new Client(this.server), queue = new Client(this.server, 'queue');
        const file = new Client(this.server, 'file');
        const [name] = this.stored.blob.keys(), [shared] = this.stored.file.keys();
        const [message, { id, receipt }] = [...this.stored.queue][0];
        const lease = (at, action, ...more) => blob.ask('PUT', `${at}comp=lease`, {
            headers: [['x-ms-lease-action', action], ...(action === 'acquire' ? [['x-ms-lease-duration', '-1']] : []), ...more],
        });
        const expect = async (what, wanted, asked) => {
            const { status, headers } = await asked;

            if (status !== wanted)
                throw new Wrong(`${what} on a full disk: ${status} ${headers.get('x-ms-error-code')}`);
            return headers;
        };

        for (const at of [`/full/${name}?`, '/full?restype=container&']) {
            const got = await expect('Acquire Lease', 201, lease(at, 'acquire'));
            const held = ['x-ms-lease-id', got.get('x-ms-lease-id')];
            await expect('Renew Lease', 200, lease(at, 'renew', held));
            await expect('Change Lease', 200, lease(at, 'change', held, ['x-ms-proposed-lease-id', held[1].replace(/^./, (c) => (c === '0' ? '1' : '0'))]));
            await expect('Break Lease', 202, lease(at, 'break', ['x-ms-lease-break-period', '0']));
        }
        const held = ['x-ms-lease-id', (await expect('Acquire Lease', 201, lease(`/full/${name}?`, 'acquire'))).get('x-ms-lease-id')];
        await expect('Release Lease', 200, lease(`/full/${name}?`, 'release', held));
        await expect('Set Blob Metadata', 200, blob.ask('PUT', `/full/${name}?comp=metadata`, { headers: [['x-ms-meta-long', 'y'.repeat(100)]] }));
        await expect('Set Blob Properties', 200, blob.ask('PUT', `/full/${name}?comp=properties`));
        const leaseFile = (action, more) => file.ask('PUT', `/full/${shared}?comp=lease`, { headers: [['x-ms-lease-action', action], ...more] });
        const of = ['x-ms-lease-id', (await expect('Acquire File Lease', 201, leaseFile('acquire', [['x-ms-lease-duration', '-1']]))).get('x-ms-lease-id')];
        await expect('Set File Metadata', 200, file.ask('PUT', `/full/${shared}?comp=metadata`, { headers: [of, ['x-ms-meta-long', 'y'.repeat(100)]] }));
        await expect('Release File Lease', 200, leaseFile('release', [of]));
        await expect('Set File Properties', 200, file.ask('PUT', `/full/${shared}?comp=properties`, { headers: [['x-ms-content-type', 'a/b']] }));
        const updated = await expect('Update Message', 204, queue.ask('PUT', `/work/messages/${id}?popreceipt=${encodeURIComponent(receipt)}&visibilitytimeout=0`));
        this.stored.queue.get(message).receipt = updated.get('x-ms-popreceipt');
        for (const client of [blob, queue, file])
            client.close();
    }

    async again() {
        await this.server.kill();
        await this.server.restart();
    }

    async writesAgain() {
        for (const [kind, { put, done }] of Object.entries(KINDS)) {
            const client = new Client(this.server, kind), part = this.#next();
            let status;

            for (const end = Date.now() + GIVEN_BACK_MS; Date.now() < end;) {
                ({ status } = await put(client, `n${part.seed}`, part));
                if (status !== 507)
                    break;
                await delay(50);
            }
            client.close();
            if (status !== done)
                throw new Wrong(`${kind}: after everything was deleted, a write gives ${status}; ${this.disk.free() >> 20} MiB are free`);
            this.stored[kind].set(`n${part.seed}`, part);
        }
    }

    #killIn(ms) {
        return setTimeout(() => this.server.kill(), random(ms));
    }

    async #untilFull() {
        while (await this.fill())
            await this.again();
    }

    async round() {
        const timer = this.#killIn(1500);

        await this.#untilFull();
        clearTimeout(timer);
        await this.again();
        await this.#untilFull();
        const counts = Object.values(this.stored).map(({ size }) => size);
        await this.look();
        await this.#untilFull();
        await this.tidy();
        const later = this.#killIn(200);
        while (await this.removeAll())
            await this.again();
        clearTimeout(later);
        await this.drain();
        await this.writesAgain();
        await this.look();
        return `${counts.join(' + ')} things, ${(this.#least / (1 << 20)).toFixed(1)} MiB were free at least`;
    }

    /** A full disk, half of it deleted, and the end by SIGTERM. */
    async end() {
        await this.#untilFull();
        await this.removeAll(0.1);
        await this.server.stop({ keep: true });
        await this.server.restart();
        await this.look();
        await this.server.stop({ keep: true });
    }
}

const total = { passed: 0, failed: 0, skipped: 0 };

async function run(mib) {
    const campaign = new Campaign(mib);

    try {
        if (!campaign.disk.isPossible) {
            total.skipped++;
            return;
        }
        await campaign.create();
        for (let round = 1; round <= ROUNDS; round++) {
            console.log(`${mib} MiB (${campaign.disk.constructor.name}), round ${round}: ${await campaign.round()}`);
            total.passed++;
        }
        await campaign.end();
        total.passed++;
    } catch (error) {
        total.failed++;
        console.log(`FAILED ${mib} MiB of seed ${SEED}: ${error.stack}\n${campaign.server.stderr.slice(-3000)}`);
    } finally {
        await campaign.close();
    }
}

for (const mib of SIZES)
    await run(mib);
console.log(`small: ${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`);
process.exitCode = total.failed === 0 ? 0 : 1;
