// Pending copies of page blobs against a server that is cut off while they go on, at random moments and at the
// gates of their jobs. Afterwards a copy that was acknowledged goes on to its end; until then its
// destination has what it had; and the pages of a destination are those of one source, or none.

import { setTimeout as delay } from 'node:timers/promises';
import { Control } from '../lib/server.mjs';
import { Client, gateHeader, Unexpected } from './client.mjs';
import { untilGone } from './campaign.mjs';
import { digest } from './model.mjs';

const CONTAINER = 'copies';
const MIB = 1 << 20;
const PART = 4 * MIB;
/* More than a step of a pending copy (64 MiB). */
const PARTS = 17;
const SOURCES = ['one', 'two'];
const COPIES = 2;
const SNAPSHOTS = 4;
const DISK = 64 << 10;
const REQUEST_GATES = ['staged', 'decided', 'applied', 'synced'];
const JOB_GATES = ['begun', 'step', 'stepped', 'decided', 'applied'];
const GATED_MS = 2000;
const PENDING_LIMIT_MS = 60000;

const path = (name) => `/${CONTAINER}/${name}`;
const pattern = (seed, size) => Buffer.alloc(size, `<${seed}>`);

/** What a blob of the large sources' form has: none, empty, the source that all of it is of, or a
 *  mix. Asks again while it changes. */
async function contentOf(client, name) {
    for (;;) {
        const head = await client.ask('HEAD', path(name));

        if (head.status === 404)
            return { content: 'none' };
        const found = { content: 'empty', status: head.headers.get('x-ms-copy-status'), id: head.headers.get('x-ms-copy-id') };
        if (head.headers.get('content-length') === '0')
            return found;
        const seen = await samples(client, name, head.headers.get('etag'));
        if (seen)
            return { ...found, content: seen.size === 1 ? [...seen][0] : `a mix: ${[...seen].join()}` };
    }
}

/** The contents of the first page of each part and the last of all; null: the blob has changed meanwhile. */
async function samples(client, name, etag) {
    const seen = new Set();

    for (const at of [...Array.from({ length: PARTS }, (_, i) => i * PART), PARTS * PART - 512]) {
        const answer = await client.ask('GET', path(name), { headers: [['x-ms-range', `bytes=${at}-${at + 511}`], ['If-Match', etag]] });

        if (answer.status === 412)
            return null;
        seen.add(/<(\w+)>/.exec(answer.body.toString('latin1'))?.[1] ?? `zeros at ${at}`);
    }
    return seen;
}

async function must(wanted, answer, what) {
    const { status, headers } = await answer;

    if (status !== wanted)
        throw new Unexpected(`${what}: ${status} ${headers.get('x-ms-error-code')}`, status);
    return headers;
}

/** Copies of a large page blob over another one. settled: what it has while nothing is pending. */
class Copy {
    settled = 'none';
    pending = null; /* { id, to }: acknowledged */
    asked = null;   /* not answered yet: { to } or { abort } */

    constructor(name) {
        this.name = name;
    }

    async step(client, random, headers) {
        if (!this.pending)
            await this.#begin(client, SOURCES[random(SOURCES.length)], headers);
        else if (random(6) === 0)
            await this.#abort(client, headers);
        else
            await this.#look(client);
    }

    async #begin(client, to, headers) {
        const source = ['x-ms-copy-source', client.readable(path(to))];

        this.asked = { to };
        const answer = await must(202, client.ask('PUT', path(this.name), { headers: [source, ...headers] }), 'Copy Blob');
        this.pending = { id: answer.get('x-ms-copy-id'), to };
        this.settled = this.settled === 'none' ? 'empty' : this.settled;
        this.asked = null;
    }

    async #abort(client, headers) {
        this.asked = { abort: true };
        const { status } = await client.ask('PUT', `${path(this.name)}?comp=copy&copyid=${this.pending.id}`,
            { headers: [['x-ms-copy-action', 'abort'], ...headers] });

        if (status !== 204 && status !== 409)
            throw new Unexpected(`Abort Copy Blob: ${status}`, status);
        this.#settle(status === 204 ? 'empty' : this.pending.to);
    }

    #settle(content) {
        this.settled = content;
        this.pending = this.asked = null;
    }

    /** While it is pending there is what was there before. */
    async #look(client) {
        const { content, status } = await contentOf(client, this.name);
        const wanted = status === 'pending' ? this.settled : this.pending.to;

        if (content !== wanted)
            throw new Unexpected(`${this.name}, a copy of ${this.pending.to}: ${content} while it is ${status}`, 0);
        if (status === 'success')
            this.#settle(content);
    }

    #allowed() {
        if (this.pending)
            return this.asked?.abort ? [this.pending.to, 'empty'] : [this.pending.to];
        return this.asked ? [this.settled, this.asked.to] : [this.settled];
    }

    /** After a restart. */
    async verify(client, pendingUntil) {
        const shown = this.settled === 'none' ? 'empty' : this.settled;
        let found;

        while ((found = await contentOf(client, this.name)).status === 'pending') {
            if (found.content !== shown)
                return `${found.content} while a copy over ${this.settled} is pending`;
            if (Date.now() > pendingUntil)
                return 'the copy does not go on';
            await delay(20);
        }
        const allowed = this.#allowed();
        this.#settle(found.content);
        return allowed.includes(found.content) ? null : `expected ${allowed.join(' or ')}, found ${found.content}, copy ${found.status}`;
    }

    async remove(client) {
        if (this.settled !== 'none')
            await must(202, client.ask('DELETE', path(this.name)), 'Delete Blob');
        this.#settle('none');
    }
}

/** Incremental copies, of one snapshot after another. settled: the snapshots copied, in order. */
class Incremental {
    settled = [];
    pending = null;
    asked = null;
    #disk;

    constructor(name, disk) {
        this.name = name;
        this.#disk = disk;
    }

    get #next() {
        return this.settled.length;
    }

    async step(client, random, headers) {
        if (this.pending)
            await this.#look(client);
        else if (this.#next < SNAPSHOTS)
            await this.#begin(client, headers);
        else
            await this.remove(client);
    }

    async #begin(client, headers) {
        const source = `${client.readable(path('disk'))}&snapshot=${encodeURIComponent(this.#disk.snapshots[this.#next])}`;

        this.asked = { to: this.#next };
        await must(202, client.ask('PUT', `${path(this.name)}?comp=incrementalcopy`,
            { headers: [['x-ms-copy-source', source], ...headers] }), 'Incremental Copy Blob');
        this.pending = this.asked;
        this.asked = null;
    }

    async #look(client) {
        const headers = await must(200, client.ask('HEAD', path(this.name)), 'Get Blob Properties');

        if (headers.get('x-ms-copy-status') === 'success')
            this.#settle([...this.settled, this.pending.to]);
    }

    #settle(list) {
        this.settled = list;
        this.pending = this.asked = null;
    }

    /** Which of the source's snapshots those of the destination are: { list, status }. */
    async #found(client) {
        const head = await client.ask('HEAD', path(this.name));
        const xml = await client.ask('GET', `/${CONTAINER}?restype=container&comp=list&include=snapshots&prefix=${this.name}`);
        const ids = [...xml.body.toString().matchAll(/<Snapshot>(.*?)<\/Snapshot>/g)].map(([, id]) => id);
        const list = [];

        for (const id of ids) {
            const { body } = await client.ask('GET', `${path(this.name)}?snapshot=${encodeURIComponent(id)}`);
            list.push(this.#disk.digests.indexOf(digest(body)));
        }
        return { list, status: head.headers.get('x-ms-copy-status'), isThere: head.status === 200 };
    }

    async verify(client, pendingUntil) {
        let found;

        while ((found = await this.#found(client)).status === 'pending') {
            if (Date.now() > pendingUntil)
                return 'the copy does not go on';
            await delay(20);
        }
        const more = this.pending ?? this.asked;
        const allowed = [...(this.pending ? [] : [this.settled]), ...(more ? [[...this.settled, more.to]] : []),
            ...(this.removing ? [[]] : [])].map(String);
        this.#settle(found.list);
        this.removing = false;
        return allowed.includes(`${found.list}`) ? null : `expected snapshots ${allowed.join(' or ')}, found ${found.list}, copy ${found.status}`;
    }

    async remove(client) {
        this.removing = true;
        const { status } = await client.ask('DELETE', path(this.name), { headers: [['x-ms-delete-snapshots', 'include']] });

        if (status !== 202 && status !== 404)
            throw new Unexpected(`Delete Blob: ${status}`, status);
        this.removing = false;
        this.#settle([]);
    }
}

export class CopyCampaign {
    failures = [];
    changes = 0;
    #server;
    #random;
    #disk = { snapshots: [], digests: [] };
    #blobs;

    constructor(server, random) {
        this.#server = server;
        this.#random = random;
        this.#blobs = [...Array.from({ length: COPIES }, (_, i) => new Copy(`copy${i}`)), new Incremental('increments', this.#disk)];
    }

    async create() {
        const client = new Client(this.#server);

        await must(201, client.ask('PUT', `/${CONTAINER}?restype=container`), 'Create Container');
        client.close();
        await this.goOn();
    }

    /** After removeAll(), before there is more work. */
    async goOn() {
        const client = new Client(this.#server);

        for (const name of SOURCES)
            await this.#createSource(client, name);
        await this.#createDisk(client);
        client.close();
    }

    async #createPages(client, name, size) {
        await must(201, client.ask('PUT', path(name), { headers: [['x-ms-blob-type', 'PageBlob'], ['x-ms-blob-content-length', `${size}`]] }), 'Put Blob');
    }

    async #write(client, name, at, bytes) {
        await must(201, client.ask('PUT', `${path(name)}?comp=page`, {
            headers: [['x-ms-page-write', 'update'], ['x-ms-range', `bytes=${at}-${at + bytes.length - 1}`]], body: bytes,
        }), 'Put Page');
    }

    async #createSource(client, name) {
        await this.#createPages(client, name, PARTS * PART);
        for (let i = 0; i < PARTS; i++)
            await this.#write(client, name, i * PART, pattern(name, PART));
    }

    async #createDisk(client) {
        const bytes = Buffer.alloc(DISK);

        Object.assign(this.#disk, { snapshots: [], digests: [] });
        await this.#createPages(client, 'disk', DISK);
        for (let i = 0; i < SNAPSHOTS; i++) {
            const more = pattern(`disk${i}`, DISK / 4);
            more.copy(bytes, (i * DISK) / 8);
            await this.#write(client, 'disk', (i * DISK) / 8, more);
            const headers = await must(201, client.ask('PUT', `${path('disk')}?comp=snapshot`), 'Snapshot Blob');
            this.#disk.snapshots.push(headers.get('x-ms-snapshot'));
            this.#disk.digests.push(digest(bytes));
        }
    }

    async #carryOn(blob, isOver, gateAt) {
        const client = new Client(this.#server);

        while (!isOver()) {
            const gate = this.changes++ === gateAt ? REQUEST_GATES[this.#random(REQUEST_GATES.length)] : null;
            await blob.step(client, this.#random, gateHeader(gate));
        }
        client.close();
    }

    /** Returns when so many jobs stand where jobs are to stop. */
    async #untilJobsStand(control, gate, count, isOver) {
        while (!isOver() && (await control.jobs(gate)) < count)
            await delay(1);
    }

    async work({ ms, gated, cut }) {
        const ofJob = this.#random(2) === 0 ? JOB_GATES[this.#random(JOB_GATES.length)] : null;
        const control = new Control(this.#server);
        const limit = Date.now() + GATED_MS;
        const count = 1 + this.#random(this.#blobs.length);

        if (ofJob) {
            await control.stopJobsAt(ofJob);
            ms = GATED_MS;
        }
        await untilGone({
            ms, failures: this.failures,
            cut: () => {
                control.close();
                return cut();
            },
            started: (isOver) => [
                ...this.#blobs.map((blob) => this.#carryOn(blob, isOver, gated && !ofJob ? this.changes + this.#random(10) : -1)),
                ...(ofJob ? [this.#untilJobsStand(control, ofJob, count, () => isOver() || Date.now() > limit).then(() => {
                    throw new Error('they stand there'); /* time to cut */
                })] : []),
            ],
        });
    }

    async verify() {
        const before = this.failures.length;
        const pendingUntil = Date.now() + PENDING_LIMIT_MS;

        await Promise.all(this.#blobs.map(async (blob) => {
            const client = new Client(this.#server);
            const wrong = await blob.verify(client, pendingUntil).catch((error) => error.message);

            client.close();
            if (wrong)
                this.failures.push(`${blob.name}: ${wrong}`);
        }));
        return this.failures.length === before;
    }

    async removeAll() {
        const client = new Client(this.#server);

        for (const blob of this.#blobs)
            await blob.remove(client);
        for (const name of [...SOURCES, 'disk'])
            await must(202, client.ask('DELETE', path(name), { headers: [['x-ms-delete-snapshots', 'include']] }), 'Delete Blob');
        client.close();
    }
}
