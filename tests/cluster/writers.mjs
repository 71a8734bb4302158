// Writers of all services, which ask the front ends in turn, whichever owns the cell, and remember what was acknowledged; and readers
// that see whether anything goes back. A request without an answer may have been done or not.

import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../crash/client.mjs';

const ANSWER_MS = 2500;
const PAUSE_MS = 20;
const REGISTERS = 4;
/* An owner whose lease lapses for a moment closes its connections. */
const QUIET_TRIES = 10;

const base64 = (text) => Buffer.from(text).toString('base64');
const message = (text) => Buffer.from(`<QueueMessage><MessageText>${base64(text)}</MessageText></QueueMessage>`);

export class Writers {
    problems = [];
    counts = { acknowledged: 0, unknown: 0, read: 0 };
    gapMs = 0; // the longest time in which nothing was answered, since it was reset
    #answeredAt = performance.now();
    #members;
    #in;
    #answerMs;
    #settleMs;
    #ends = false;
    #running = [];
    #names = { blob: [], queue: [], table: [], file: [] };
    #tried = new Set(); // messages that may be there
    isPaused = false; // no writer and no reader asks anything
    #quiet = 0;
    #registers = Array.from({ length: REGISTERS }, () => ({ sent: 0, acknowledged: 0 }));

    /** members: a function that returns those that may be asked; name: of their container, queue, table and share; settleMs: how long to wait
     *  before a request without a response is repeated, where an owner that goes on may execute it meanwhile */
    constructor(members, { name = 'cells', answerMs = ANSWER_MS, settleMs = 0 } = {}) {
        this.#members = members;
        this.#in = name;
        this.#answerMs = answerMs;
        this.#settleMs = settleMs;
    }

    /** Of its container, queue, table and share. */
    get name() {
        return this.#in;
    }

    /** One request to one member: its answer, or null. */
    async #try(clients, service, member, request) {
        const key = `${service}-${member.ports.blob}`;
        const client = clients.get(key) ?? new Client(member, service);
        const late = new AbortController();

        clients.set(key, client);
        try {
            const answer = await Promise.race([
                client.ask(...request), sleep(this.#answerMs, null, { signal: late.signal }).catch(() => null)]);

            if (answer && answer.status < 500) {
                const now = performance.now();

                this.gapMs = Math.max(this.gapMs, now - this.#answeredAt);
                this.#answeredAt = now;
                return answer;
            }
            if (answer && answer.status !== 503)
                this.problems.push(`${request[0]} ${request[1]}: ${answer.status}`);
            if (answer)
                return null;
        } catch {
            await sleep(PAUSE_MS); // It is gone, or closed the connection.
        } finally {
            late.abort();
        }
        client.close();
        clients.delete(key);
        await sleep(this.#settleMs);
        return null;
    }

    /** Asks members in turn, each request another one, until one answers. once: a request that may be done once only is not repeated. */
    async #ask(clients, service, request, once = false) {
        for (let i = 0; !this.#ends; i++) {
            const members = this.#members(), member = members[(clients.at ?? 0) % members.length];
            const answer = await this.#try(clients, service, member, request);

            clients.at = (clients.at ?? 0) + 1;
            if (answer)
                return answer;
            this.counts.unknown++;
            await sleep(PAUSE_MS);
            if (once)
                return null;
        }
        return null;
    }

    async #write(service, wanted, kind, ...request) {
        const answer = await this.#ask(kind.clients, service, request, kind.once);

        if (answer && !wanted.includes(answer.status))
            this.problems.push(`${request[0]} ${request[1]}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`);
        if (answer)
            this.counts.acknowledged++;
        return answer !== null && wanted.includes(answer.status);
    }

    #start(step) {
        const clients = new Map();
        const loop = async () => {
            for (let i = 0; !this.#ends; i++) {
                while (this.isPaused && !this.#ends)
                    await sleep(PAUSE_MS);
                await step(clients, i);
            }
            clients.forEach((client) => client.close());
        };

        this.#running.push(loop().catch((error) => this.problems.push(error.stack)));
    }

    async prepare() {
        const kind = { clients: new Map() };
        const done = [201, 204, 409];

        await this.#write('blob', done, kind, 'PUT', `/${this.#in}?restype=container`);
        await this.#write('queue', done, kind, 'PUT', `/${this.#in}`);
        await this.#write('table', done, kind, 'POST', '/Tables', {
            headers: [['Content-Type', 'application/json'], ['Accept', 'application/json;odata=nometadata']],
            body: Buffer.from(JSON.stringify({ TableName: this.#in })),
        });
        await this.#write('file', done, kind, 'PUT', `/${this.#in}?restype=share`);
        for (let i = 0; i < REGISTERS; i++)
            await this.#putRegister(kind, i);
        kind.clients.forEach((client) => client.close());
    }

    async #putRegister(kind, i) {
        const register = this.#registers[i], value = ++register.sent;

        if (await this.#write('blob', [201], kind, 'PUT', `/${this.#in}/register${i}`, { headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.from(`${value}`) }))
            register.acknowledged = value;
    }

    /** No answer shows less than what was acknowledged before it was asked for, whoever gives it. */
    async #readRegister(clients, member, i) {
        const least = this.#registers[i].acknowledged;
        const answer = await this.#try(clients, 'blob', member, ['GET', `/${this.#in}/register${i}`]);

        if (!answer || answer.status !== 200)
            return;
        this.counts.read++;
        if (Number(answer.body.toString()) < least)
            this.problems.push(`register ${i} is read as ${answer.body}, after ${least} was acknowledged`);
    }

    /** Writes a blob that nobody else writes: an owner that cannot write any more still has it in memory, and all of what it
     *  would answer is durable. Returns the value. */
    async putQuiet(member) {
        const clients = new Map(), value = `${++this.#quiet}`;
        let answer = null;

        for (let i = 0; !answer && i < QUIET_TRIES; i++)
            answer = await this.#try(clients, 'blob', member, ['PUT', `/${this.#in}/quiet`, { headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.from(value) }]);
        clients.forEach((client) => client.close());
        if (answer?.status !== 201)
            this.problems.push(`Put Blob of quiet: ${answer?.status}`);
        return value;
    }

    /** Asks for it again and again, for so long: whoever answers answers with this value. */
    async readQuiet(member, value, ms) {
        for (const end = Date.now() + ms; Date.now() < end; await sleep(PAUSE_MS)) {
            const clients = new Map();
            const answer = await this.#try(clients, 'blob', member, ['GET', `/${this.#in}/quiet`]);

            clients.forEach((client) => client.close());
            if (answer?.status === 200 && answer.body.toString() !== value)
                this.problems.push(`a stale read: the old owner answers ${answer.body} after ${value} was acknowledged`);
        }
    }

    start() {
        for (let i = 0; i < REGISTERS; i++)
            this.#start((clients) => this.#putRegister({ clients }, i));
        this.#start(async (clients, i) => {
            const members = this.#members();

            await this.#readRegister(clients, members[i % members.length], i % REGISTERS);
            await sleep(2);
        });
        for (const w of [0, 1]) {
            this.#start(async (clients, i) => {
                if (await this.#write('blob', [201], { clients }, 'PUT', `/${this.#in}/b${w}-${i}`, { headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.alloc(w ? 20_000 : 500, `${i}`) }))
                    this.#names.blob.push(`b${w}-${i}`);
            });
            this.#start(async (clients, i) => {
                this.#tried.add(`m${w}-${i}`);
                if (await this.#write('queue', [201], { clients, once: true }, 'POST', `/${this.#in}/messages?messagettl=-1`, { body: message(`m${w}-${i}`) }))
                    this.#names.queue.push(`m${w}-${i}`);
            });
        }
        this.#start(async (clients, i) => {
            if (await this.#write('table', [201, 204, 409], { clients }, 'POST', `/${this.#in}`, {
                headers: [['Content-Type', 'application/json'], ['Accept', 'application/json;odata=nometadata'], ['Prefer', 'return-no-content']],
                body: Buffer.from(JSON.stringify({ PartitionKey: `p${i % 5}`, RowKey: `r${i}`, Number: i })),
            }))
                this.#names.table.push(i);
        });
        this.#start(async (clients, i) => {
            const kind = { clients }, target = `/${this.#in}/f${i}`;

            if (await this.#write('file', [201], kind, 'PUT', target, { headers: [['x-ms-type', 'file'], ['x-ms-content-length', '1000']] }) &&
                await this.#write('file', [201], kind, 'PUT', `${target}?comp=range`, { headers: [['x-ms-write', 'update'], ['x-ms-range', 'bytes=0-999']], body: Buffer.alloc(1000, `${i}`) }))
                this.#names.file.push(i);
        });
    }

    async end() {
        this.#ends = true;
        await Promise.all(this.#running);
    }

    /** Everything that was acknowledged is there, and no message twice. member: the one that serves */
    async check(member) {
        const ask = (service) => new Client(member, service);
        const [blob, queue, table, file] = ['blob', 'queue', 'table', 'file'].map(ask);
        const same = async (client, target, bytes, headers = []) => {
            const answer = await client.ask('GET', target, { headers });

            if (answer.status !== 200 || (bytes && !answer.body.equals(bytes)))
                this.problems.push(`lost: ${target}: ${answer.status}, ${answer.body.length} bytes`);
        };

        const each = async (names, check) => {
            for (const name of names)
                await check(name);
        };

        await Promise.all([
            each(this.#names.blob, (name) => same(blob, `/${this.#in}/${name}`, Buffer.alloc(name.startsWith('b1') ? 20_000 : 500, name.split('-')[1]))),
            each(this.#names.table, (i) => same(table, `/${this.#in}(PartitionKey='p${i % 5}',RowKey='r${i}')`, null, [['Accept', 'application/json;odata=nometadata']])),
            each(this.#names.file, (i) => same(file, `/${this.#in}/f${i}`, Buffer.alloc(1000, `${i}`))),
            this.#checkQueue(queue),
        ]);
        [blob, queue, table, file].forEach((client) => client.close());
        return Object.fromEntries(Object.entries(this.#names).map(([service, names]) => [service, names.length]));
    }

    async #checkQueue(queue) {
        const seen = new Map();

        for (;;) {
            const answer = await queue.ask('GET', `/${this.#in}/messages?numofmessages=32&visibilitytimeout=600`);
            const texts = [...answer.body.toString().matchAll(/<MessageText>(.*?)<\/MessageText>/g)].map(([, text]) => Buffer.from(text, 'base64').toString());

            if (answer.status !== 200)
                this.problems.push(`Get Messages: ${answer.status}`);
            if (texts.length === 0)
                break;
            texts.forEach((text) => seen.set(text, (seen.get(text) ?? 0) + 1));
        }
        for (const name of this.#names.queue)
            if (!seen.has(name))
                this.problems.push(`lost: message ${name}`);
        for (const [text, times] of seen)
            if (times > 1 || !this.#tried.has(text))
                this.problems.push(`message ${text} is there ${times} times`);
    }
}
