// Other work of campaign.mjs: a counter, messages, renames, and blobs that come and go. Each knows what was acknowledged,
// and what may have been done without that.

import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOf } from '../crash/model.mjs';
import { surely, UNKNOWN } from './fleet.mjs';

const FILE_HEADERS = [['x-ms-file-permission', 'inherit'], ['x-ms-file-attributes', 'None'],
    ['x-ms-file-creation-time', 'now'], ['x-ms-file-last-write-time', 'now']];
const FOLDERS = ['a', 'b'];
const TRANSIENT_BYTES = 100_000;
const PRODUCE_PAUSE_MS = 20;
const FILLERS = 4;

/** One blob that several count up, each by If-Match. */
export class Counter {
    #fleet;
    #taken = new Set(); // the numbers that were acknowledged
    #unknown = 0;
    changes = 0;

    constructor(fleet) {
        this.#fleet = fleet;
    }

    async create() {
        await surely(this.#fleet.client('blob'), 201, 409, 'PUT', '/campaign/counter',
            { headers: [['x-ms-blob-type', 'BlockBlob'], ['If-None-Match', '*']], body: Buffer.from('0') });
    }

    async #increment(state) {
        const client = this.#fleet.client('blob');

        while (!state.ends) {
            const seen = await client.ask('GET', '/campaign/counter');

            if (seen === UNKNOWN)
                continue;
            const number = Number(seen.body) + 1;
            const answer = await client.ask('PUT', '/campaign/counter', {
                headers: [['x-ms-blob-type', 'BlockBlob'], ['If-Match', seen.headers.get('etag')]], body: Buffer.from(`${number}`),
            });
            if (answer === UNKNOWN)
                this.#unknown++;
            else if (answer.status === 201 && this.#taken.has(number))
                this.#fleet.problems.push(`the counter became ${number} twice`);
            else if (answer.status === 201)
                this.#taken.add(number);
            else if (answer.status !== 412)
                this.#fleet.problems.push(`the counter: ${answer.status}`);
            this.changes++;
        }
        client.close();
    }

    work(state) {
        return [this.#increment(state), this.#increment(state)];
    }

    async verify() {
        for (let at = 0; at < this.#fleet.size; at++) {
            const value = Number((await surely(this.#fleet.client('blob'), 200, 200, 'GET', '/campaign/counter', { at })).body);

            if (value < this.#taken.size || value > this.#taken.size + this.#unknown || value < Math.max(0, ...this.#taken))
                this.#fleet.problems.push(`the counter is ${value}, ${this.#taken.size} increments were acknowledged, ${this.#unknown} have no answer`);
        }
    }
}

/** Files that are renamed between two directories: commits over several partitions. */
export class Renames {
    #fleet;
    #files;
    changes = 0;

    constructor(fleet, { files }) {
        this.#fleet = fleet;
        this.#files = Array.from({ length: files }, (_, i) => ({ name: `f${i}`, at: 0, isOpen: false }));
    }

    async create() {
        const client = this.#fleet.client('file');

        await surely(client, 201, 409, 'PUT', '/campaign?restype=share', { headers: [['x-ms-share-quota', '1']] });
        for (const folder of FOLDERS)
            await surely(client, 201, 409, 'PUT', `/campaign/${folder}?restype=directory`, { headers: FILE_HEADERS });
        for (const { name } of this.#files)
            await surely(client, 201, 201, 'PUT', `/campaign/a/${name}`,
                { headers: [...FILE_HEADERS, ['x-ms-type', 'file'], ['x-ms-content-length', '0'], ['x-ms-meta-name', name]] });
        client.close();
    }

    async #rename(file, client) {
        const [from, to] = [FOLDERS[file.at], FOLDERS[1 - file.at]];
        const answer = await client.ask('PUT', `/campaign/${to}/${file.name}?comp=rename`,
            { source: ['x-ms-file-rename-source', `/campaign/${from}/${file.name}`] });

        if (answer === UNKNOWN)
            file.isOpen = true; // it may be done at any later time
        else if (answer.status === 200 || (file.isOpen && [404, 409].includes(answer.status)))
            file.at = 1 - file.at;
        else
            this.#fleet.problems.push(`a rename of ${file.name}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`);
        this.changes++;
    }

    work(state) {
        return this.#files.map(async (file) => {
            const client = this.#fleet.client('file');

            while (!state.ends)
                await this.#rename(file, client);
            client.close();
        });
    }

    async verify() {
        for (let at = 0; at < this.#fleet.size; at++)
            for (const { name } of this.#files) {
                const client = this.#fleet.client('file');
                const found = [];

                for (const folder of FOLDERS) {
                    const { status, headers } = await surely(client, 200, 404, 'HEAD', `/campaign/${folder}/${name}`, { at });

                    if (status === 200)
                        found.push(headers.get('x-ms-meta-name'));
                }
                if (found.length !== 1 || found[0] !== name)
                    this.#fleet.problems.push(`${name} is in ${found.length} directories: ${found}`);
                client.close();
            }
    }
}

/** Blobs that are made once, some of them deleted. */
export class Transients {
    #fleet;
    #random;
    #blobs = []; // { path, made, deleted: 'no' | 'asked' | 'yes' }
    changes = 0;

    constructor(fleet, random) {
        this.#fleet = fleet;
        this.#random = random;
    }

    async create() {}

    #body(path) {
        return bytesOf({ seed: path, size: TRANSIENT_BYTES });
    }

    work(state) {
        return [(async () => {
            const client = this.#fleet.client('blob');

            for (; !state.ends; this.changes++) {
                const blob = { path: `/campaign/t${this.#blobs.length}`, made: false, deleted: 'no' };

                this.#blobs.push(blob);
                const made = await client.ask('PUT', blob.path,
                    { headers: [['x-ms-blob-type', 'BlockBlob'], ['If-None-Match', '*']], body: this.#body(blob.path) });
                if (made === UNKNOWN || made.status !== 201 || this.#random(4) === 0) {
                    blob.made = made.status === 201;
                    continue;
                }
                Object.assign(blob, { made: true, deleted: 'asked' });
                if ((await client.ask('DELETE', blob.path)).status === 202)
                    blob.deleted = 'yes';
            }
            client.close();
        })()];
    }

    async verify() {
        const client = this.#fleet.client('blob');

        for (const { path, made, deleted } of this.#blobs) {
            const { status, body } = await surely(client, 200, 404, 'GET', path);

            if (status === 200 && (deleted === 'yes' || !body.equals(this.#body(path))))
                this.#fleet.problems.push(`${path}: ${deleted === 'yes' ? 'it was deleted' : 'other bytes'}`);
            if (status === 404 && made && deleted === 'no')
                this.#fleet.problems.push(`${path} is lost`);
        }
        client.close();
    }
}

/** Messages of a queue: each is given to one of those who ask, and again only when its time is over. backlog: so many wait, about, so that the
 *  queue is large. */
export class Messages {
    #fleet;
    #random;
    #hiddenMs;
    #queue;
    #backlog;
    #messages = new Map(); // text -> { put, deleted: 'no' | 'asked' | 'yes', hiddenUntil }
    #number = 0;
    #waiting = 0;
    changes = 0;

    constructor(fleet, random, { hiddenS, queue = '/campaign', backlog = 0 }) {
        this.#fleet = fleet;
        this.#random = random;
        this.#hiddenMs = hiddenS * 1000;
        this.#queue = queue;
        this.#backlog = backlog;
    }

    get name() {
        return `Messages of ${this.#queue}`;
    }

    async create() {
        await surely(this.#fleet.client('queue'), 201, 204, 'PUT', this.#queue);
        await Promise.all(Array.from({ length: FILLERS }, async () => {
            const client = this.#fleet.client('queue');

            while (this.#number < this.#backlog)
                await this.#put(client);
            client.close();
        }));
    }

    async #put(client) {
        const text = `m${++this.#number}${'x'.repeat(this.#random(200))}`;
        const message = { put: false, deleted: 'no', hiddenUntil: 0 };

        this.#messages.set(text, message);
        const answer = await client.ask('POST', `${this.#queue}/messages`, { body: Buffer.from(`<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`) });
        message.put = answer.status === 201;
        this.#waiting += message.put ? 1 : 0;
    }

    async #produce(state) {
        const client = this.#fleet.client('queue');

        for (; !state.ends; this.changes++) {
            await this.#put(client);
            await sleep(PRODUCE_PAUSE_MS);
        }
        client.close();
    }

    /* The messages that were given out. */
    async #get(client, count) {
        const asked = Date.now();
        const answer = await client.ask('GET', `${this.#queue}/messages?numofmessages=${count}&visibilitytimeout=${this.#hiddenMs / 1000}`);
        const answered = Date.now();

        if (answer === UNKNOWN)
            return null;
        return [...answer.body.toString().matchAll(/<QueueMessage>.*?<\/QueueMessage>/gs)].map(([xml]) => {
            const element = (name) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
            const text = element('MessageText');
            const known = this.#messages.get(text);

            if (!known)
                this.#fleet.problems.push(`a message that nobody put: ${text}`);
            else if (known.deleted === 'yes')
                this.#fleet.problems.push(`${text.slice(0, 12)} came back after its delete`);
            else if (answered < known.hiddenUntil)
                this.#fleet.problems.push(`${text.slice(0, 12)} was given to two: ${known.hiddenUntil - answered} ms too early`);
            if (known)
                known.hiddenUntil = asked + this.#hiddenMs;
            return { id: element('MessageId'), receipt: element('PopReceipt'), known };
        });
    }

    async #consume(state) {
        const client = this.#fleet.client('queue');

        for (; !state.ends; this.changes++) {
            if (this.#waiting < this.#backlog) {
                await sleep(PRODUCE_PAUSE_MS);
                continue;
            }
            for (const { id, receipt, known } of await this.#get(client, 1 + this.#random(4)) ?? []) {
                if (!known || this.#random(8) === 0)
                    continue;
                known.deleted = 'asked';
                const { status } = await client.ask('DELETE', `${this.#queue}/messages/${id}?popreceipt=${encodeURIComponent(receipt)}`);
                if (status === 204) {
                    known.deleted = 'yes';
                    this.#waiting--;
                }
            }
        }
        client.close();
    }

    work(state) {
        return [this.#produce(state), this.#produce(state), this.#consume(state), this.#consume(state)];
    }

    /** All that were put and not deleted come out, once what was given out is visible again. */
    async verify() {
        const client = this.#fleet.client('queue');
        const found = new Set();

        await sleep(this.#hiddenMs);
        for (let some; (some = await this.#get(client, 32)) === null || some.length > 0;)
            some?.forEach(({ known }) => found.add(known));
        for (const [text, message] of this.#messages)
            if (message.put && message.deleted === 'no' && !found.has(message))
                this.#fleet.problems.push(`${text.slice(0, 12)} is lost`);
        client.close();
    }
}
