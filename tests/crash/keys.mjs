// Writers of blobs with customer-provided keys, against a server that will be cut off, and the look afterwards: each blob is that
// of the last acknowledged change, or of the one that was under way, and can be read with its key alone. docs/encryption.md

import { keyHeaders, TRUSTS_PROXY } from '../lib/customer_key.mjs';
import { Client, gateHeader, Unexpected } from './client.mjs';
import { untilGone } from './campaign.mjs';
import { bytesOf, digest } from './model.mjs';

const WRITERS = 4;
const CONTAINER = '/crash-keys';
const GATES = ['staged', 'decided', 'applied', 'synced'];
const KEYS = [null, 'a', 'b'];
const SIZES = [1, 700, 16384, 65536, 65537, 200000];
const PARTS_MAX = 12;

/* What a change makes of a blob: { key, parts, meta, appends }, or null if there is none. */
const CHANGES = {
    put: (_, { key, parts, meta }) => ({ key, parts, meta, appends: false }),
    list: (_, { key, parts, meta }) => ({ key, parts, meta, appends: false }),
    create: (_, { key, meta }) => ({ key, parts: [], meta, appends: true }),
    append: (state, { parts }) => ({ ...state, parts: [...state.parts, ...parts] }),
    metadata: (state, { meta }) => ({ ...state, meta }),
    remove: () => null,
};

const keyed = (key, isRead = false) => (key ? keyHeaders(key, isRead) : []);
const contentOf = (parts) => Buffer.concat(parts.map(bytesOf));

/** What a read with a key must give. */
function seen(state, key) {
    if (!state)
        return '404 BlobNotFound';
    if (state.key === key)
        return `200 ${digest(contentOf(state.parts))} ${state.meta}`;
    return `409 ${!state.key ? 'BlobDoesNotUseCustomerSpecifiedEncryption'
        : key ? 'BlobCustomerSpecifiedEncryptionMismatch' : 'BlobUsesCustomerSpecifiedEncryption'}`;
}

export class KeyCampaign {
    failures = [];
    changes = 0;
    #server;
    #random;
    #parts = 0;
    #blobs = Array.from({ length: WRITERS * 3 }, (_, n) => ({ path: `${CONTAINER}/b${n}`, state: null, asked: null }));

    static serverOptions() {
        return { args: TRUSTS_PROXY };
    }

    constructor(server, random) {
        this.#server = server;
        this.#random = random;
    }

    async create() {
        const client = new Client(this.#server);

        await client.ask('PUT', `${CONTAINER}?restype=container`);
        client.close();
    }

    #part() {
        return { seed: `k${++this.#parts}`, size: SIZES[this.#random(SIZES.length)] };
    }

    #draw({ state }) {
        const kinds = [...(state?.appends ? [] : ['list']), 'put', 'create', ...(state ? ['metadata', 'metadata', 'remove'] : []),
            ...(state?.appends && state.parts.length < PARTS_MAX ? ['append', 'append', 'append'] : [])];
        const kind = kinds[this.#random(kinds.length)];

        return { kind, key: KEYS[this.#random(KEYS.length)], meta: `m${this.#random(1000)}`,
            parts: kind === 'list' ? [this.#part(), this.#part()] : [this.#part()] };
    }

    async #stage(client, path, { key, parts }) {
        for (const [i, part] of parts.entries())
            await client.ask('PUT', `${path}?comp=block&blockid=${encodeURIComponent(Buffer.from(`${i}`).toString('base64'))}`,
                { headers: keyed(key), body: bytesOf(part) });
        const ids = parts.map((_, i) => `<Uncommitted>${Buffer.from(`${i}`).toString('base64')}</Uncommitted>`);
        return Buffer.from(`<BlockList>${ids.join('')}</BlockList>`);
    }

    /** The request of a change. */
    async #request(client, { path, state }, asked) {
        const { kind, key, parts, meta } = asked, own = keyed(state?.key), value = ['x-ms-meta-value', meta];

        switch (kind) {
        case 'put': return ['PUT', path, [['x-ms-blob-type', 'BlockBlob'], value, ...keyed(key)], contentOf(parts)];
        case 'create': return ['PUT', path, [['x-ms-blob-type', 'AppendBlob'], value, ...keyed(key)]];
        case 'append': return ['PUT', `${path}?comp=appendblock`, own, contentOf(parts)];
        case 'metadata': return ['PUT', `${path}?comp=metadata`, [value, ...own]];
        case 'remove': return ['DELETE', path, []];
        default: return ['PUT', `${path}?comp=blocklist`, [value, ...keyed(key)], await this.#stage(client, path, asked)];
        }
    }

    /** A change with another key than that of the blob is refused, and changes nothing. */
    async #offend(client, { path, state }) {
        const key = KEYS.find((each) => each !== state.key);
        const { headers } = await client.ask('PUT', `${path}?comp=metadata`, { headers: [['x-ms-meta-value', 'wrong'], ...keyed(key)] });
        const code = headers.get('x-ms-error-code'), wanted = seen(state, key).split(' ')[1];

        if (code !== wanted)
            throw new Unexpected(`another key: ${code} instead of ${wanted}`);
    }

    async #change(client, blob, gateAt) {
        const asked = this.#draw(blob);
        const gate = this.changes++ === gateAt ? GATES[this.#random(GATES.length)] : null;
        const [method, target, headers, body] = await this.#request(client, blob, asked);

        blob.asked = asked;
        const { status, headers: shown } = await client.ask(method, target, { headers: [...headers, ...gateHeader(gate)], body });
        if (![200, 201, 202].includes(status))
            throw new Unexpected(`${asked.kind} of ${blob.path}: ${status} ${shown.get('x-ms-error-code')}`);
        blob.state = CHANGES[asked.kind](blob.state, asked);
        blob.asked = null;
    }

    async #write(blobs, isOver, gateAt) {
        const client = new Client(this.#server);

        while (!isOver()) {
            const blob = blobs[this.#random(blobs.length)];

            if (blob.state && this.#random(6) === 0)
                await this.#offend(client, blob);
            else
                await this.#change(client, blob, gateAt);
        }
        client.close();
    }

    /** As Campaign's. */
    async work({ ms, gated, cut }) {
        const gateAt = gated ? this.changes + this.#random(40) : -1;

        await untilGone({ ms, cut, failures: this.failures,
            started: (isOver) => Array.from({ length: WRITERS }, (_, i) => this.#write(this.#blobs.slice(i * 3, i * 3 + 3), isOver, gateAt)) });
    }

    async #look(client, blob) {
        const states = [blob.state, ...(blob.asked ? [CHANGES[blob.asked.kind](blob.state, blob.asked)] : [])];
        const found = [];

        for (const key of KEYS) {
            const { status, headers, body } = await client.ask('GET', blob.path, { headers: keyed(key, true) });
            found.push(status === 200 ? `200 ${digest(body)} ${headers.get('x-ms-meta-value')}` : `${status} ${headers.get('x-ms-error-code')}`);
        }
        const fitting = states.findIndex((state) => KEYS.every((key, i) => seen(state, key) === found[i]));
        if (fitting < 0)
            this.failures.push(`${blob.path}: ${found.join(', ')} instead of ${states.map((state) => KEYS.map((key) => seen(state, key)).join(', ')).join(' or ')}`);
        else
            blob.state = states[fitting];
        blob.asked = null;
    }

    async verify() {
        const before = this.failures.length, client = new Client(this.#server);

        for (const blob of this.#blobs)
            await this.#look(client, blob);
        client.close();
        return this.failures.length === before;
    }

    async removeAll() {
        const client = new Client(this.#server);

        for (const blob of this.#blobs) {
            await client.ask('DELETE', blob.path);
            blob.state = null;
        }
        await client.ask('DELETE', `${CONTAINER}?restype=container`); /* with blocks that were staged */
        client.close();
    }
}
