// Writers to all four services whose every change is numbered and timed, so that a copy of the store shows of
// which moment it is: each change that it has was sent before any that it lacks was acknowledged.

import { setTimeout as delay } from 'node:timers/promises';
import { Client, Unexpected } from '../crash/client.mjs';
import { FileClient } from '../crash/file_client.mjs';
import { bytesOf, digest } from '../crash/model.mjs';
import { TableClient } from '../crash/table_client.mjs';

const NAME = 'history';
const WRITERS = 2; /* of each service */
const FILE_BYTES = 64 << 10;
const SIZES = [2000, 300_000, 17_000];
const REST_MS = 20; /* when the server is away */

const part = (key, n) => ({ seed: `${key}-${n}`, size: SIZES[n % SIZES.length] });
const filePart = (key, n) => bytesOf({ seed: `${key}-${n}`, size: FILE_BYTES });
const expect = (answer, wanted, what) => {
    if (answer.status !== wanted)
        throw new Unexpected(`${what}: ${answer.status}`, answer.status);
    return answer;
};

/* One row, one service: how it is made, changed to number n, and read: the number, with all that hangs on it. */
const SERVICES = {
    blob: {
        client: (server) => new Client(server),
        create: async (client) => expect(await client.ask('PUT', `/${NAME}?restype=container`), 201, 'Create Container'),
        write: (client, key, n) => client.change(`/${NAME}/${key}`, { kind: 'put', part: part(key, n), value: `${n}` }),
        async read(client, key) {
            const answer = await client.ask('GET', `/${NAME}/${key}`);

            if (answer.status === 404)
                return 0;
            const n = Number(expect(answer, 200, `Get Blob ${key}`).headers.get('x-ms-meta-value'));

            if (digest(answer.body) !== digest(bytesOf(part(key, n))))
                throw new Unexpected(`${key}: other bytes than those of change ${n}`);
            return n;
        },
    },
    table: {
        client: (server) => new TableClient(server),
        create: (client) => client.createTable(NAME),
        write: (client, key, n) => client.write(NAME, key, { changes: ['a', 'b', 'c'].map((row) => ({ row, value: `${n}` })) }),
        async read(client, key) {
            const values = new Set((await client.rows(NAME, key)).values());

            if (values.size > 1)
                throw new Unexpected(`${key}: a part of a transaction: ${[...values]}`);
            return Number([...values][0] ?? 0);
        },
    },
    queue: {
        client: (server) => new Client(server, 'queue'),
        create: async (client) => expect(await client.ask('PUT', `/${NAME}`), 201, 'Create Queue'),
        write: async (client, key, n) => expect(await client.ask('POST', `/${NAME}/messages`,
            { body: Buffer.from(`<QueueMessage><MessageText>${key}-${n}-</MessageText></QueueMessage>`) }), 201, 'Put Message'),
        /* All at once: drain(). */
    },
    file: {
        client: (server) => new FileClient(server),
        async create(client) {
            await client.createShare(NAME);
            for (let i = 0; i < WRITERS; i++)
                await client.change(`/${NAME}`, { kind: 'createFile', path: `file${i}`, size: FILE_BYTES, value: 'x' });
        },
        write: (client, key, n) => client.change(`/${NAME}`, { kind: 'write', path: key, first: 0, part: filePart(key, n) }),
        async read(client, key) {
            const { body } = expect(await client.ask('GET', `/${NAME}/${key}`), 200, `Get File ${key}`);
            const n = Number(/^<\w+-(\d+)>/.exec(body.subarray(12).toString('latin1').match(/<\w+-\d+>/)?.[0] ?? '')?.[1] ?? 0);

            if (digest(body) !== digest(n > 0 ? filePart(key, n) : Buffer.alloc(FILE_BYTES)))
                throw new Unexpected(`${key}: other bytes than those of change ${n}`);
            return n;
        },
    },
};

/** The messages of a queue that nobody has got yet: "key-n" of each. */
async function drain(client) {
    const found = new Set();

    for (;;) {
        const xml = expect(await client.ask('GET', `/${NAME}/messages?numofmessages=32&visibilitytimeout=3600`), 200, 'Get Messages')
            .body.toString();
        const texts = [...xml.matchAll(/<MessageText>(.*?)-<\/MessageText>/g)].map(([, text]) => text);

        if (texts.length === 0)
            return found;
        texts.forEach((text) => found.add(text));
    }
}

export class History {
    failures = [];
    #server;
    #keys = Object.keys(SERVICES).flatMap((service) =>
        Array.from({ length: WRITERS }, (_, i) => ({ service, key: `${service}${i}`, ops: [] })));

    constructor(server) {
        this.#server = server;
    }

    get changes() {
        return this.#keys.reduce((sum, { ops }) => sum + ops.length, 0);
    }

    async create() {
        for (const { client: open, create } of Object.values(SERVICES)) {
            const client = open(this.#server);

            await create(client);
            client.close();
        }
    }

    async #write({ service, key, ops }, isOver) {
        const { client: open, write } = SERVICES[service];
        let client = open(this.#server);

        while (!isOver()) {
            const op = { n: ops.length + 1, sent: performance.now(), acked: Infinity };

            ops.push(op);
            try {
                await write(client, key, op.n);
                op.acked = performance.now();
            } catch (error) {
                if (error instanceof Unexpected)
                    this.failures.push(error.message);
                client.close();
                await delay(REST_MS);
                client = open(this.#server);
            }
        }
        client.close();
    }

    /** Writes until it is over. */
    work(isOver) {
        return Promise.all(this.#keys.map((one) => this.#write(one, isOver)));
    }

    /** What a copy of the store has: Map key -> number. */
    async #read(server) {
        const found = new Map();
        const queue = SERVICES.queue.client(server);
        const messages = await drain(queue);

        queue.close();
        for (const { service, key, ops } of this.#keys) {
            const { client: open, read } = SERVICES[service];
            const client = open(server);

            found.set(key, read ? await read(client, key) : this.#lastOf(key, ops, messages));
            client.close();
        }
        return found;
    }

    /** Of messages, which stay: those before the last that is there are there too, if they were acknowledged. */
    #lastOf(key, ops, messages) {
        const last = ops.findLast(({ n }) => messages.has(`${key}-${n}`))?.n ?? 0;
        const lost = ops.find(({ n, acked }) => n < last && acked < Infinity && !messages.has(`${key}-${n}`));

        if (lost)
            throw new Unexpected(`${key}: message ${last} is there, ${lost.n} is not`);
        return last;
    }

    /** Why what a server has is not the state of one moment between two; null: it is. */
    async differs(server, from, to) {
        const found = await this.#read(server).catch((error) => error);

        if (found instanceof Error)
            return found.message;
        const has = ({ key }, { n }) => n <= found.get(key);
        const all = this.#keys.flatMap((one) => one.ops.map((op) => ({ ...op, key: one.key, has: has(one, op) })));
        const newest = all.filter((op) => op.has).reduce((a, b) => (b.sent > a.sent ? b : a), { sent: 0 });
        const missing = all.filter((op) => !op.has).reduce((a, b) => (b.acked < a.acked ? b : a), { acked: Infinity });

        if (newest.sent > missing.acked)
            return `it has ${newest.key}-${newest.n}, sent ${newest.sent - missing.acked} ms after ${missing.key}-${missing.n} was acknowledged, which it lacks`;
        if (newest.sent > to)
            return `it has ${newest.key}-${newest.n}, sent after its end`;
        if (missing.acked < from)
            return `it lacks ${missing.key}-${missing.n}, acknowledged before its begin`;
        return null;
    }
}
