// Transactions on tables against a server that will be cut off, and the look afterwards: each
// partition has one writer; a transaction that was answered is there as a whole, one that was not
// as a whole or not at all, and a reader never sees a part of one (promises 1, 2 and 4).
// rest: Performing-Entity-Group-Transactions

import { untilGone } from './campaign.mjs';
import { TableClient } from './table_client.mjs';

const TABLE = 'crash';
const WRITERS = 4;
const ROWS = 30; /* that are written one by one, or in any set */
const GROUP = 10; /* rows that are only ever written all together, with one value */
const GATES = ['staged', 'decided', 'applied', 'synced'];

const group = Array.from({ length: GROUP }, (_, i) => `g${i}`);
const rows = Array.from({ length: ROWS }, (_, i) => `r${`${i}`.padStart(2, '0')}`);

function apply(state, changes) {
    const next = new Map(state);

    for (const { row, value, remove } of changes)
        remove ? next.delete(row) : next.set(row, value);
    return next;
}

const textOf = (state) => JSON.stringify([...state].sort());

export class TableCampaign {
    failures = [];
    changes = 0;
    #server;
    #random;
    #deaf = false;
    /* As their writers know them. asked: the changes of a request without an answer. */
    #partitions = Array.from({ length: WRITERS }, (_, i) => ({ key: `p${i}`, state: new Map(), asked: null, seen: '' }));

    constructor(server, random) {
        this.#server = server;
        this.#random = random;
    }

    async create() {
        const client = new TableClient(this.#server);

        await client.createTable(TABLE);
        client.close();
    }

    #newValue() {
        return `v${`${++this.changes}`.padStart(9, '0')}`;
    }

    /** One row, or a transaction of some rows and perhaps the group. */
    #nextChanges({ state }) {
        const count = this.#random(3) === 0 ? 1 : 2 + this.#random(ROWS - 2);
        const wanted = new Set(Array.from({ length: count }, () => rows[this.#random(ROWS)]));
        const changes = [...wanted].map((row) => (state.has(row) && this.#random(3) === 0
            ? { row, remove: true } : { row, value: this.#newValue() }));
        const value = this.#newValue();

        return count > 1 && this.#random(2) === 0 ? [...changes, ...group.map((row) => ({ row, value }))] : changes;
    }

    async #write(partition, isOver, gateAt) {
        const client = new TableClient(this.#server);

        for (let at = 0; !isOver(); at++) {
            const changes = this.#nextChanges(partition);
            const gate = at === gateAt ? GATES[this.#random(GATES.length)] : null;

            partition.asked = changes;
            await client.write(TABLE, partition.key, { changes, gate });
            if (this.#deaf)
                break;
            partition.state = apply(partition.state, changes);
            partition.asked = null;
        }
        client.close();
    }

    /** Sees the group of a partition whole, and never older than it was seen before. */
    #look(partition, found) {
        const seen = [...new Set(found.values())];

        if (seen.length > 1 || (found.size !== 0 && found.size !== GROUP))
            this.failures.push(`${partition.key}: a part of a transaction was seen: ${[...found].join(' ')}`);
        if ((seen[0] ?? '') < partition.seen)
            this.failures.push(`${partition.key}: ${partition.seen} was seen, now ${seen[0]}`);
        partition.seen = seen[0] ?? partition.seen;
    }

    async #read(isOver) {
        const client = new TableClient(this.#server);

        while (!isOver()) {
            const partition = this.#partitions[this.#random(WRITERS)];
            const found = await client.rows(TABLE, partition.key, 'g', 'h');

            if (!this.#deaf)
                this.#look(partition, found);
        }
        client.close();
    }

    /** As Campaign's. */
    async work({ ms, gated, cut, deaf = false }) {
        const gateAt = gated ? this.#random(20) : -1;

        await untilGone({
            ms, cut, failures: this.failures,
            started: (isOver) => [
                ...this.#partitions.map((partition, i) => this.#write(partition, isOver, i === 0 ? gateAt : -1)),
                this.#read(isOver),
            ],
            cutting: () => {
                this.#deaf = deaf;
            },
        });
        this.#deaf = false;
    }

    async #verifyPartition(client, partition) {
        const found = await client.rows(TABLE, partition.key);
        const may = [partition.state, ...(partition.asked ? [apply(partition.state, partition.asked)] : [])];

        if (!may.some((state) => textOf(state) === textOf(found)))
            this.failures.push(`${partition.key}: expected ${may.map(textOf).join(' or ')}, found ${textOf(found)}`);
        this.#look(partition, await client.rows(TABLE, partition.key, 'g', 'h'));
        partition.state = found;
        partition.asked = null;
    }

    /** Compares each partition with what must or may be in it. */
    async verify() {
        const before = this.failures.length;
        const client = new TableClient(this.#server);

        for (const partition of this.#partitions)
            await this.#verifyPartition(client, partition);
        client.close();
        return this.failures.length === before;
    }

    /** Nothing to do: nothing of entities lies in extents. */
    async removeAll() {}
}
