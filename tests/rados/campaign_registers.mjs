// Registers of campaign.mjs: blobs, and groups of rows that are written together.
//
// Of a register (a blob, a group of rows) one writer sends one change after the other, each under the condition that
// nothing has changed since the last that is known. So of those without an answer at most one comes true, at any later
// time, and none once another is acknowledged: numbers never go back, for any reader of any front end.

import { bytesOf } from '../crash/model.mjs';
import { changesetBody, readTransaction, TRANSACTION_TYPE } from '../lib/transaction.mjs';
import { surely, UNKNOWN } from './fleet.mjs';

const SIZES = [100, 100, 5000, 200_000];
const BLOBS_EACH = 4;
const GROUP = 10; // rows of a transaction
const JSON_HEADERS = [['Accept', 'application/json;odata=nometadata'], ['Content-Type', 'application/json'], ['DataServiceVersion', '3.0']];

/** What has one writer and any number of readers. read(client, at): { number, etag } that is there, or null; problems are thrown.
 *  write(client, number, etag): the answer's { status, etag }, or UNKNOWN; refused: statuses that say that the condition failed */
class Register {
    acknowledged = { number: 0, etag: null };
    #fleet;
    #next = 0;
    #open = new Set(); // numbers without an answer that may come true
    #seen = 0; // the greatest that any reader has seen

    constructor(fleet, { name, read, write, refused }) {
        this.#fleet = fleet;
        Object.assign(this, { name, read, write, refused });
    }

    async change(client) {
        const number = ++this.#next;
        const answer = await this.write(client, number, this.acknowledged.etag);

        if (answer.status === 201 || answer.status === 202 || answer.status === 204) {
            this.acknowledged = { number, etag: answer.etag };
            this.#open.clear();
        } else if (answer === UNKNOWN) {
            this.#open.add(number);
        } else if (this.refused.includes(answer.status)) {
            await this.#adopt(client);
        } else {
            throw new Error(`${this.name}: ${answer.status} ${answer.code}`);
        }
    }

    /* The condition failed: one of those without an answer has come true. */
    async #adopt(client) {
        let found;

        do
            found = await this.read(client);
        while (found === UNKNOWN);
        if (!found || !this.#open.has(found.number))
            throw new Error(`${this.name}: refused, though ${found?.number} is there, ${this.acknowledged.number} was acknowledged, ` +
                `without an answer: ${[...this.#open]}`);
        this.acknowledged = found;
        this.#open.clear();
    }

    /** A read: not older than what was acknowledged or seen before it began, and nothing that was never sent. */
    async look(client, at) {
        const atLeast = Math.max(this.acknowledged.number, this.#seen);
        const found = await this.read(client, at);

        if (found === UNKNOWN)
            return false;
        const number = found?.number ?? 0;
        if (number < atLeast || number > this.#next)
            this.#fleet.problems.push(`${this.name}: ${number} is there, ${atLeast} was acknowledged or seen before, ${this.#next} sent`);
        this.#seen = Math.max(this.#seen, number);
        return true;
    }

    /** At the end: what is there is the last acknowledged, or one without an answer. */
    async verify(client, at) {
        while (!(await this.look(client, at)));
        if (this.#seen !== this.acknowledged.number && !this.#open.has(this.#seen))
            this.#fleet.problems.push(`${this.name}: ${this.#seen} is there, ${this.acknowledged.number} was acknowledged`);
    }
}

/** Blobs of all sizes, their contents named by their metadata: so half of a change shows. */
function blobRegister(fleet, path) {
    const size = (number) => SIZES[number % SIZES.length] + number % 50;
    const body = (number) => bytesOf({ seed: `${path} ${number}`, size: size(number) });

    return new Register(fleet, {
        name: path, refused: [409, 412],
        async read(client, at) {
            const answer = await client.ask('GET', path, { at });

            if (answer === UNKNOWN)
                return UNKNOWN;
            if (answer.status === 404)
                return null;
            const number = Number(answer.headers.get('x-ms-meta-number'));
            if (answer.status !== 200 || !answer.body.equals(body(number)))
                fleet.problems.push(`${path}: ${answer.status}, and its bytes are not those of ${number}`);
            return { number, etag: answer.headers.get('etag') };
        },
        async write(client, number, etag) {
            const answer = await client.ask('PUT', path, {
                headers: [['x-ms-blob-type', 'BlockBlob'], ['x-ms-meta-number', `${number}`], etag ? ['If-Match', etag] : ['If-None-Match', '*']],
                body: body(number),
            });

            return answer === UNKNOWN ? UNKNOWN :
                { status: answer.status, etag: answer.headers.get('etag'), code: answer.headers.get('x-ms-error-code') };
        },
    });
}

/** nameOf: of the row of that number */
export const rowsOfGroup = (nameOf) => Array.from({ length: GROUP }, (_, i) => nameOf(i));

/** Rows of one partition that are only ever written all together: rowsOfGroup(), of which the partition may have several. */
export function groupRegister(fleet, table, partition, rows) {
    const target = (row) => `/${table}(PartitionKey='${partition}',RowKey='${row}')`;

    return new Register(fleet, {
        name: `${table} ${partition}`, refused: [409, 412],
        async read(client, at) {
            const filter = encodeURIComponent(`PartitionKey eq '${partition}'`);
            const answer = await client.ask('GET', `/${table}()?$filter=${filter}`, { at, headers: [['Accept', 'application/json;odata=fullmetadata'], ['DataServiceVersion', '3.0']] });

            if (answer === UNKNOWN)
                return UNKNOWN;
            if (answer.status !== 200)
                throw new Error(`Query Entities: ${answer.status}`);
            const all = JSON.parse(answer.body).value, keys = all.map((entity) => entity.RowKey);
            if (keys.some((key, i) => i > 0 && key <= keys[i - 1]))
                fleet.problems.push(`${partition}: its rows are not in order: ${keys}`);
            const found = all.filter((entity) => rows.includes(entity.RowKey));
            const numbers = new Set(found.map((entity) => entity.Number));
            if (found.length === 0)
                return null;
            if (numbers.size > 1 || found.length !== GROUP)
                fleet.problems.push(`${partition}: a part of a transaction was seen: ${found.length} rows of ${[...numbers]}`);
            return { number: found[0].Number, etag: found[0]['odata.etag'] };
        },
        async write(client, number, etag) {
            const parts = rows.map((row, i) => ({
                method: i === 0 && !etag ? 'POST' : 'PUT', url: `http://localhost/devstoreaccount1${i === 0 && !etag ? `/${table}` : target(row)}`,
                headers: [...JSON_HEADERS, ['Prefer', 'return-no-content'], ...(i === 0 && etag ? [['If-Match', etag]] : [])],
                body: JSON.stringify({ PartitionKey: partition, RowKey: row, Number: number, Pad: 'x'.repeat(100) }),
            }));
            const answer = await client.ask('POST', '/$batch', { headers: [['Content-Type', TRANSACTION_TYPE]], body: Buffer.from(changesetBody(parts)) });

            if (answer === UNKNOWN)
                return UNKNOWN;
            const [first, ...others] = readTransaction(answer.body.toString());
            if (first?.status === 204 && others.length !== GROUP - 1)
                fleet.problems.push(`${partition}: a transaction of ${GROUP} rows was answered for ${1 + others.length}`);
            return { status: first?.status, etag: first?.headers.get('etag'), code: answer.body };
        },
    });
}

/** Registers, their writers and readers. */
export class Registers {
    #fleet;
    #random;
    #blobs;
    #groups;
    changes = 0;
    reads = 0;

    constructor(fleet, random, { writers }) {
        this.#fleet = fleet;
        this.#random = random;
        this.#blobs = Array.from({ length: writers }, (_, w) => Array.from({ length: BLOBS_EACH }, (_, b) => blobRegister(fleet, `/campaign/b${w}-${b}`)));
        this.#groups = Array.from({ length: writers }, (_, w) => groupRegister(fleet, 'campaign', `p${w}`, rowsOfGroup((i) => `g${i}`)));
    }

    async create() {
        await surely(this.#fleet.client('blob'), 201, 409, 'PUT', '/campaign?restype=container');
        await surely(this.#fleet.client('table'), 201, 409, 'POST', '/Tables', { headers: JSON_HEADERS, body: Buffer.from('{"TableName":"campaign"}') });
    }

    #kinds() {
        return [...this.#blobs.map((all) => [all, 'blob']), [this.#groups.slice(0, 1), 'table'], [this.#groups.slice(1), 'table']];
    }

    work(state) {
        const write = async ([all, service]) => {
            const client = this.#fleet.client(service);

            for (; !state.ends; this.changes++)
                await all[this.#random(all.length)].change(client);
            client.close();
        };
        const read = async (all, service) => {
            const client = this.#fleet.client(service);

            for (; !state.ends; this.reads++)
                await all[this.#random(all.length)].look(client);
            client.close();
        };

        return [...this.#kinds().map(write), read(this.#blobs.flat(), 'blob'), read(this.#groups, 'table')];
    }

    async verify() {
        const names = new Set();

        for (let at = 0; at < this.#fleet.size; at++)
            for (const [all, service] of this.#kinds()) {
                const client = this.#fleet.client(service);

                for (const register of all)
                    await register.verify(client, at);
                client.close();
            }
        const list = (await surely(this.#fleet.client('blob'), 200, 200, 'GET', '/campaign?restype=container&comp=list')).body.toString();
        for (const [, name] of list.matchAll(/<Name>(.*?)<\/Name>/g))
            names.has(name) ? this.#fleet.problems.push(`${name} is listed twice`) : names.add(name);
        for (const { name, acknowledged } of this.#blobs.flat())
            if (acknowledged.number > 0 && !names.has(name.split('/')[2]))
                this.#fleet.problems.push(`${name} is not listed`);
    }
}

