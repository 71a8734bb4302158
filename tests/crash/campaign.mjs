// Writers and readers against a server that will be cut off, and the look afterwards.
//
// Each blob has one writer, so its order of changes is known. Readers note the ETags that they saw:
// what was seen must not be taken back (promise 2).

import { setTimeout as delay } from 'node:timers/promises';
import { Client, Unexpected } from './client.mjs';
import { CHANGES, PAGE, adopt, differs, emptyState } from './model.mjs';

const WRITERS = 6;
const BLOBS_EACH = 4;
const READERS = 2;
const SNAPSHOTS_MAX = 4;
const BLOCKS_MAX = 4;
const PAGES = 64;
const APPENDS_MAX = 20;
/* Of the blobs that a writer has. */
const TYPES = ['block', 'block', 'append', 'page'];
const CONTAINER = 'crash';
/* What pages are copied from. */
const SOURCE = `/${CONTAINER}/source`;
/* Statuses of a change that is refused; after the first of them nobody knows whether it was
 * made. */
const UNKNOWN = 500;
const REFUSED = [UNKNOWN, 503, 507];
const REFUSED_PAUSE_MS = 5;
const GATES = ['staged', 'decided', 'applied', 'synced'];

/** A small generator whose seed is printed, so that a failure can be run again (mulberry32). */
export function randomFrom(seed) {
    let state = seed >>> 0;

    return (limit) => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), state | 1);
        t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) % limit;
    };
}

/** Lets workers run until the server goes away or `ms` have passed, then cuts it off.
 *  started: (isOver) -> promises of workers; cut: cuts it; cutting: called before that */
export async function untilGone({ ms, cut, failures, started, cutting = () => {} }) {
    const end = Date.now() + ms;
    let gone = false, isCut = false; /* while it is cut, a server may well say 500 */
    const workers = started(() => gone).map((work) => work.catch((error) => {
        gone = true;
        if (error instanceof Unexpected && !isCut)
            failures.push(error.message);
    }));

    while (!gone && Date.now() < end)
        await new Promise((resolve) => setTimeout(resolve, 1));
    isCut = true;
    cutting();
    await cut();
    gone = true;
    await Promise.all(workers);
}

export class Campaign {
    failures = [];
    changes = 0;
    #server;
    #random;
    #seed = 0;
    #blobs;
    #source = null; /* its pages */
    #deaf = false; /* answers no longer count */

    constructor(server, random) {
        this.#server = server;
        this.#random = random;
        this.#blobs = Array.from({ length: WRITERS * BLOBS_EACH },
            (_, i) => ({ type: TYPES[i % BLOBS_EACH], path: `/${CONTAINER}/blob${`${i}`.padStart(3, '0')}`, state: emptyState(), asked: null, seen: null }));
    }

    async create() {
        const client = new Client(this.#server);
        const answer = await client.ask('PUT', `/${CONTAINER}?restype=container`);

        if (answer.status !== 201)
            throw new Error(`Create Container: ${answer.status}`);
        await this.#createSource(client);
        client.close();
    }

    async #createSource(client) {
        let state = emptyState();
        const pages = Array.from({ length: PAGES / 4 }, (_, i) =>
            ({ kind: 'pages', first: i * 4, count: 3, part: this.#part(PAGE) }));

        for (const change of [{ kind: 'createPages', value: 'source', count: PAGES }, ...pages])
            state = CHANGES[change.kind](state, change, await client.change(SOURCE, change));
        this.#source = state.base.parts;
    }

    /* ---- what a writer does next ---- */

    #part(size) {
        return { seed: ++this.#seed, size };
    }

    #size() {
        const sizes = [this.#random(2000), this.#random(16000), 17000 + this.#random(50000), 100000 + this.#random(300000)];

        return sizes[this.#random(10) < 7 ? this.#random(2) : 2 + this.#random(2)];
    }

    #next({ type, state }) {
        const value = `v${++this.#seed}`;
        const choice = this.#random(12);

        if (state.blocks.size > 0 && (choice < 4 || state.blocks.size === BLOCKS_MAX))
            return { kind: 'commit', ids: [...state.blocks.keys()].sort(), value };
        if (state.base && choice === 4)
            return this.#random(2) === 0 ? { kind: 'metadata', value } : { kind: 'tag', tag: `t${this.#seed}` };
        if (state.base && choice === 5 && state.snapshots.size < SNAPSHOTS_MAX)
            return { kind: 'snapshot' };
        if (state.base && (choice === 6 || state.snapshots.size === SNAPSHOTS_MAX))
            return { kind: 'remove' };
        if (type === 'append')
            return this.#nextAppend(state, value);
        if (type === 'page')
            return this.#nextPages(state, value);
        if (choice < 9)
            return { kind: 'block', id: `block${state.blocks.size}`, part: this.#part(1 + this.#size()) };
        return { kind: 'put', part: this.#part(this.#size()), value };
    }

    #nextAppend({ base }, value) {
        if (!base || base.parts.length === APPENDS_MAX)
            return { kind: 'createAppend', value };
        return { kind: 'append', part: this.#part(1 + this.#size()) };
    }

    #nextPages({ base }, value) {
        const first = this.#random(PAGES), count = 1 + this.#random(PAGES - first);

        if (!base || this.#random(30) === 0)
            return { kind: 'createPages', value, count: PAGES };
        if (this.#random(6) === 0)
            return { kind: 'copyPages', from: SOURCE, source: this.#source, value };
        if (this.#random(3) === 0)
            return { kind: 'pagesFrom', first, count, from: SOURCE, source: this.#source };
        return { kind: 'pages', first, count, part: this.#random(4) > 0 ? this.#part(PAGE) : undefined };
    }

    /* ---- writers and readers ---- */

    async #write(mine, isOver, { gateAt, refusals }) {
        const client = new Client(this.#server);
        const blobs = [...mine];

        while (!isOver() && blobs.length > 0) {
            const blob = blobs[this.#random(blobs.length)];
            const change = this.#next(blob);

            if (this.changes++ === gateAt)
                change.gate = GATES[this.#random(GATES.length)];
            blob.asked = change;
            let answer;

            try {
                answer = await client.change(blob.path, change);
            } catch (error) {
                if (!refusals || !REFUSED.includes(error.status))
                    throw error;
                if (error.status === UNKNOWN)
                    blobs.splice(blobs.indexOf(blob), 1); /* it may have been made: the look afterwards tells */
                else
                    blob.asked = null;
                await delay(REFUSED_PAUSE_MS);
                continue;
            }
            if (this.#deaf)
                break;
            blob.state = CHANGES[change.kind](blob.state, change, answer);
            blob.asked = null;
        }
        client.close();
    }

    async #read(isOver) {
        const client = new Client(this.#server);

        while (!isOver()) {
            const blob = this.#blobs[this.#random(this.#blobs.length)];
            const answer = await client.ask('HEAD', blob.path);

            if (answer.status === 200 && !this.#deaf)
                blob.seen = answer.headers.get('etag');
        }
        client.close();
    }

    /** Works until the server goes away or `ms` have passed.
     *  cut: called once at that time; gated: let a request kill the server at a gate instead
     *  deaf: answers that come while it is cut do not count. A file system that is shut down may
     *  let a sync that is under way succeed; a process that is killed has meant every answer that
     *  it gave. refusals: an answer of 503 or 507 means that nothing was changed, 500 that
     *  nobody knows */
    async work({ ms, gated, cut, deaf = false, refusals = false }) {
        const gateAt = gated ? this.changes + this.#random(40) : -1;

        await untilGone({
            ms, cut, failures: this.failures,
            started: (isOver) => [
                ...Array.from({ length: WRITERS }, (_, i) =>
                    this.#write(this.#blobs.slice(i * BLOBS_EACH, (i + 1) * BLOBS_EACH), isOver, { gateAt, refusals })),
                ...Array.from({ length: READERS }, () => this.#read(isOver)),
            ],
            cutting: () => {
                this.#deaf = deaf;
            },
        });
        this.#deaf = false;
    }

    /* ---- the look afterwards ---- */

    async #check(client, blob) {
        const found = await client.look(blob.path);
        const before = blob.state;
        const states = [before, ...(blob.asked ? [CHANGES[blob.asked.kind](before, blob.asked)] : [])];
        const wrong = states.map((state) => differs(state, found, before.base?.etag));
        const fits = wrong.indexOf(null);

        if (fits < 0) {
            this.failures.push(`${blob.path}${blob.asked ? `, ${blob.asked.kind} under way` : ''}: ${wrong.join(' or ')}`);
            return;
        }
        blob.state = adopt(states[fits], found);
        if (blob.seen && found.base && BigInt(found.base.etag.replaceAll('"', '')) < BigInt(blob.seen.replaceAll('"', '')))
            this.failures.push(`${blob.path}: ETag ${blob.seen} was read, now it is ${found.base.etag}`);
        blob.asked = null;
        blob.seen = null;
    }

    /** The index of tags has what the blobs have. */
    async #checkIndex() {
        const client = new Client(this.#server);
        const wanted = this.#blobs.filter(({ state }) => state.base?.tag)
            .map(({ path, state }) => `${path.split('/')[2]}=${state.base.tag}`).sort().join();
        const found = (await client.indexed(CONTAINER)).join();

        client.close();
        if (found !== wanted)
            this.failures.push(`index of tags: expected ${wanted}, found ${found}`);
    }

    /** Compares every blob with what must or may be. Returns whether all is well. */
    async verify() {
        const failuresBefore = this.failures.length;

        await Promise.all(Array.from({ length: WRITERS }, async (_, i) => {
            const client = new Client(this.#server);

            for (const blob of this.#blobs.slice(i * BLOBS_EACH, (i + 1) * BLOBS_EACH))
                await this.#check(client, blob).catch((error) => this.failures.push(`${blob.path}: ${error.message}`));
            client.close();
        }));
        if (this.failures.length === failuresBefore)
            await this.#checkIndex();
        return this.failures.length === failuresBefore;
    }

    /** Deletes every blob, for a look at what is left of them in the store. */
    async removeAll() {
        const client = new Client(this.#server);

        for (const blob of this.#blobs) {
            if (blob.state.base || blob.state.blocks.size > 0)
                await client.change(blob.path, { kind: 'remove' });
            blob.state = emptyState();
        }
        await client.change(SOURCE, { kind: 'remove' });
        client.close();
    }

    /** After removeAll(), before there is more work. */
    async goOn() {
        const client = new Client(this.#server);

        await this.#createSource(client);
        client.close();
    }
}
