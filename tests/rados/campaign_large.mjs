// Large partitions of campaign.mjs: blobs of many blocks, appends and pages, and an entity group whose rows are changed all over it. A campaign's
// front ends cut what is larger than some rows (LAGRA_RADOS_CUT), so that these get limbs, which change with their home.

import { bytesOf, PAGE } from '../crash/model.mjs';
import { groupRegister, rowsOfGroup } from './campaign_registers.mjs';
import { surely, UNKNOWN } from './fleet.mjs';

const CONTAINER = '/campaign-large';
const GROUPS = 16;
/* Changes of each blob before anything is disturbed; and until it begins anew, so that its limbs are emptied. */
const FIRST_CHANGES = 60, CHANGES_MAX = 300;
const APPEND_BYTES = 700, BLOCK_BYTES = 300, PAGES = 256, PAGES_AT_ONCE = 3;
/* Of its readers. */
const LOOKS_GAP = 8;

const bytesAt = (path, number, size) => bytesOf({ seed: `${path} ${number}`, size });

/** A change: { content: after it, requests: [[method, query, headers, body]..], of which the last one is done if nothing has changed since }. */
const KINDS = {
    AppendBlob: {
        anew: () => ({ content: Buffer.alloc(0), requests: [['PUT', '', [['x-ms-blob-type', 'AppendBlob']]]] }),
        change(path, number, { content }) {
            const body = bytesAt(path, number, APPEND_BYTES + number % 50);

            return { content: Buffer.concat([content, body]), requests: [['PUT', '?comp=appendblock', [], body]] };
        },
    },
    PageBlob: {
        anew: () => ({
            content: Buffer.alloc(PAGES * PAGE),
            requests: [['PUT', '', [['x-ms-blob-type', 'PageBlob'], ['x-ms-blob-content-length', `${PAGES * PAGE}`]]]],
        }),
        change(path, number, { content }, random) {
            const count = 1 + random(PAGES_AT_ONCE), at = PAGE * random(PAGES - count), size = PAGE * count;
            const isClear = random(6) === 0, body = isClear ? Buffer.alloc(0) : bytesAt(path, number, size);
            const after = Buffer.from(content);

            isClear ? after.fill(0, at, at + size) : body.copy(after, at);
            return { content: after, requests: [['PUT', '?comp=page', [['x-ms-page-write', isClear ? 'clear' : 'update'], ['x-ms-range', `bytes=${at}-${at + size - 1}`]], body]] };
        },
    },
    BlockBlob: {
        anew: () => ({ content: Buffer.alloc(0), blocks: [], requests: [['PUT', '', [['x-ms-blob-type', 'BlockBlob']]]] }),
        /* A block somewhere between the others. */
        change(path, number, { blocks }, random) {
            const id = Buffer.from(`${number}`.padStart(12)).toString('base64');
            const body = bytesAt(path, number, BLOCK_BYTES + number % 50);
            const after = blocks.toSpliced(random(blocks.length + 1), 0, { id, body });
            const list = after.map((block) => (block.id === id ? `<Uncommitted>${id}</Uncommitted>` : `<Committed>${block.id}</Committed>`));

            return {
                content: Buffer.concat(after.map((block) => block.body)), blocks: after,
                requests: [['PUT', `?comp=block&blockid=${encodeURIComponent(id)}`, [], body],
                    ['PUT', '?comp=blocklist', [], Buffer.from(`<?xml version="1.0"?><BlockList>${list.join('')}</BlockList>`)]],
            };
        },
    },
};

/** A blob with one writer, each change under the ETag of the last that is known: so of those without an answer at most one comes true. */
class LargeBlob {
    changes = 0;
    #fleet;
    #kind;
    #path;
    #state = null; // as acknowledged: a change, with its etag
    #open = []; // changes without an answer

    constructor(fleet, kind) {
        this.#fleet = fleet;
        this.#kind = KINDS[kind];
        this.#path = `${CONTAINER}/${kind}`;
    }

    async change(client, random) {
        const number = this.changes++, isFirst = !this.#state;
        const change = number % CHANGES_MAX === 0 ? this.#kind.anew() : this.#kind.change(this.#path, number, this.#state, random);
        const before = change.requests.slice(0, -1), [method, query, headers, body] = change.requests.at(-1);

        for (const [first, of, more, bytes] of before)
            await surely(client, 201, 201, first, this.#path + of, { headers: more, body: bytes });
        const condition = isFirst ? ['If-None-Match', '*'] : ['If-Match', this.#state.etag];
        const answer = await client.ask(method, this.#path + query, { headers: [...headers, condition], body });

        if (answer === UNKNOWN)
            this.#open.push(change);
        else if (answer.status === 201)
            this.#settle(change, answer.headers.get('etag'));
        else if ([409, 412].includes(answer.status))
            await this.#adopt(client);
        else
            throw new Error(`${this.#path}${query}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`);
    }

    #settle(change, etag) {
        this.#state = { ...change, etag };
        this.#open = [];
    }

    /* The condition failed: one of those without an answer has come true. */
    async #adopt(client) {
        const { body, headers } = await surely(client, 200, 200, 'GET', this.#path);
        const found = this.#open.find(({ content }) => content.equals(body));

        if (!found)
            throw new Error(`${this.#path}: refused, and its ${body.length} bytes are of none of ${this.#open.length} changes without an answer`);
        this.#settle(found, headers.get('etag'));
    }

    /** With no change under way: its bytes are those of the last that was acknowledged, or of one without an answer. */
    async look(client, at) {
        const { body } = await surely(client, 200, 200, 'GET', this.#path, { at });

        if (![this.#state, ...this.#open].some(({ content }) => content.equals(body)))
            this.#fleet.problems.push(`${this.#path}: its ${body.length} bytes are not those of its last change (${this.#state.content.length} bytes), ` +
                `nor of ${this.#open.length} without an answer`);
    }
}

/** Those blobs, and the group. A large queue: campaign_work.mjs. */
export class Large {
    changes = 0;
    #fleet;
    #random;
    #blobs;
    #groups;

    constructor(fleet, random) {
        this.#fleet = fleet;
        this.#random = random;
        this.#blobs = Object.keys(KINDS).map((kind) => new LargeBlob(fleet, kind));
        this.#groups = Array.from({ length: GROUPS }, (_, g) =>
            groupRegister(fleet, 'campaign', 'large', rowsOfGroup((i) => `${i}-${String(g).padStart(2, '0')}`)));
    }

    async create() {
        await surely(this.#fleet.client('blob'), 201, 409, 'PUT', `${CONTAINER}?restype=container`);
        await Promise.all(this.#blobs.map(async (blob) => {
            const client = this.#fleet.client('blob');

            while (blob.changes < FIRST_CHANGES)
                await blob.change(client, this.#random);
            client.close();
        }));
    }

    work(state) {
        const until = async (service, step) => {
            const client = this.#fleet.client(service);

            for (let n = 1; !state.ends; n++) {
                await step(client, n);
                this.changes++;
            }
            client.close();
        };
        const group = () => this.#groups[this.#random(GROUPS)];

        return [
            ...this.#blobs.map((blob) => until('blob', (client, n) => (n % LOOKS_GAP === 0 ? blob.look(client) : blob.change(client, this.#random)))),
            until('table', (client) => group().change(client)), until('table', (client) => group().look(client)),
        ];
    }

    async verify() {
        for (let at = 0; at < this.#fleet.size; at++) {
            for (const blob of this.#blobs)
                await blob.look(this.#fleet.client('blob'), at);
            for (const one of this.#groups)
                await one.verify(this.#fleet.client('table'), at);
        }
    }
}
