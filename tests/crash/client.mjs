// The requests of the crash tests, on one connection, signed.

import { Connection } from '../lib/http.mjs';
import { containerSas } from '../lib/sas.mjs';
import { sign } from '../lib/sign.mjs';
import { PAGE, bytesOf, digest } from './model.mjs';

const base64 = (text) => Buffer.from(text).toString('base64');

export class Client {
    #server;
    #service;
    #connection = null;

    constructor(server, service = 'blob') {
        this.#server = server;
        this.#service = service;
    }

    /** One request and its answer; throws when the server goes away. unsigned: it has another authorization */
    async ask(method, target, { headers = [], body = Buffer.alloc(0), offsetMs = 0, unsigned = false } = {}) {
        const port = this.#server.ports[this.#service];
        const request = {
            method, target: `/${this.#server.account}${target}`,
            headers: [['Host', `${this.#server.host}:${port}`],
                ...(method === 'GET' || method === 'HEAD' ? [] : [['Content-Length', `${body.length}`]]), ...headers],
        };

        this.#connection ??= await Connection.open(this.#server.host, port, this.#server.secure);
        return this.#connection.exchange(unsigned ? request : sign(request, { offsetMs, service: this.#service }), body);
    }

    /** The URL of a blob, with a signature that reads it. */
    readable(path) {
        const { host, ports, account } = this.#server;
        const sas = containerSas(path.split('/')[1], { sp: 'r', se: '2100-01-01T00:00:00Z' });

        return `http://${host}:${ports.blob}/${account}${path}?${sas}`;
    }

    close() {
        this.#connection?.close();
        this.#connection = null;
    }

    /** Makes one change of model.mjs; returns { etag, snapshot } of the answer. */
    async change(path, { kind, ...how }) {
        const answer = await REQUESTS[kind](this, path, how);

        if (![200, 201, 202, 204].includes(answer.status))
            throw new Unexpected(`${kind} of ${path}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`, answer.status);
        return { etag: answer.headers.get('etag'), snapshot: answer.headers.get('x-ms-snapshot') };
    }

    async #content(path, query) {
        const answer = await this.ask('GET', `${path}${query}`);

        if (answer.status === 404)
            return null;
        if (answer.status !== 200)
            throw new Unexpected(`Get Blob ${path}${query}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`);
        return { digest: digest(answer.body), value: answer.headers.get('x-ms-meta-value'), etag: answer.headers.get('etag') };
    }

    async #base(path) {
        const found = await this.#content(path, '');

        return found && { ...found, tag: await this.#tag(path) };
    }

    async #tag(path) {
        const answer = await this.ask('GET', `${path}?comp=tags`);

        if (answer.status !== 200)
            throw new Unexpected(`Get Blob Tags ${path}: ${answer.status}`);
        return answer.body.toString().match(/<Value>(.*?)<\/Value>/)?.[1];
    }

    /** What the index has of a container: "name=tag", sorted. */
    async indexed(container) {
        const where = encodeURIComponent(`"tag">='t'`);
        const answer = await this.ask('GET', `/${container}?restype=container&comp=blobs&where=${where}`);

        if (answer.status !== 200)
            throw new Unexpected(`Find Blobs by Tags: ${answer.status}`);
        return [...answer.body.toString().matchAll(/<Blob><Name>(.*?)<\/Name>.*?<Value>(.*?)<\/Value>/gs)]
            .map(([, name, tag]) => `${name}=${tag}`).sort();
    }

    /** What the server has of a blob, as differs() of model.mjs takes it. */
    async look(path) {
        const [, container, name] = path.split('/');
        const list = await this.ask('GET', `/${container}?restype=container&comp=list&include=snapshots%2Cuncommittedblobs&prefix=${name}`);
        const entries = [...list.body.toString().matchAll(/<Blob>.*?<\/Blob>/gs)].map(([text]) => text)
            .filter((text) => text.includes(`<Name>${name}</Name>`));
        const ids = entries.map((text) => text.match(/<Snapshot>(.*?)<\/Snapshot>/)?.[1]).filter(Boolean);
        const found = { base: await this.#base(path), snapshots: new Map(), blocks: new Map() };

        if (list.status !== 200)
            throw new Unexpected(`List Blobs: ${list.status}`);
        for (const id of ids)
            found.snapshots.set(id, (await this.#content(path, `?snapshot=${encodeURIComponent(id)}`))?.digest);
        const isBlock = !entries.some((text) => /<BlobType>(Append|Page)Blob/.test(text));
        if (entries.length > ids.length && isBlock)
            found.blocks = await this.#blocks(path);
        return found;
    }

    async #blocks(path) {
        const answer = await this.ask('GET', `${path}?comp=blocklist&blocklisttype=uncommitted`);
        const text = answer.body.toString();

        if (answer.status !== 200)
            throw new Unexpected(`Get Block List ${path}: ${answer.status}`);
        return new Map([...text.matchAll(/<Name>(.*?)<\/Name><Size>(\d+)<\/Size>/g)]
            .map(([, id, size]) => [Buffer.from(id, 'base64').toString(), Number(size)]));
    }
}

/** The server answered, but not as it should. */
export class Unexpected extends Error {
    constructor(message, status) {
        super(message);
        this.status = status;
    }
}

const meta = (value) => ['x-ms-meta-value', value];

const range = (first, count) => `bytes=${first * PAGE}-${(first + count) * PAGE - 1}`;

const REQUESTS = {
    put: (client, path, { part, value, gate }) => client.ask('PUT', path,
        { headers: [['x-ms-blob-type', 'BlockBlob'], meta(value), ...gateHeader(gate)], body: bytesOf(part) }),
    block: (client, path, { id, part, gate }) => client.ask('PUT', `${path}?comp=block&blockid=${encodeURIComponent(base64(id))}`,
        { headers: gateHeader(gate), body: bytesOf(part) }),
    commit: (client, path, { ids, value, gate }) => client.ask('PUT', `${path}?comp=blocklist`, {
        headers: [meta(value), ...gateHeader(gate)],
        body: Buffer.from(`<BlockList>${ids.map((id) => `<Uncommitted>${base64(id)}</Uncommitted>`).join('')}</BlockList>`),
    }),
    createAppend: (client, path, { value, gate }) => client.ask('PUT', path,
        { headers: [['x-ms-blob-type', 'AppendBlob'], meta(value), ...gateHeader(gate)] }),
    append: (client, path, { part, gate }) => client.ask('PUT', `${path}?comp=appendblock`,
        { headers: gateHeader(gate), body: bytesOf(part) }),
    createPages: (client, path, { value, count, gate }) => client.ask('PUT', path, {
        headers: [['x-ms-blob-type', 'PageBlob'], ['x-ms-blob-content-length', `${count * PAGE}`], meta(value), ...gateHeader(gate)],
    }),
    pages: (client, path, { first, count, part, gate }) => client.ask('PUT', `${path}?comp=page`, {
        headers: [['x-ms-page-write', part ? 'update' : 'clear'],
            ['x-ms-range', range(first, count)], ...gateHeader(gate)],
        body: part ? Buffer.concat(Array(count).fill(bytesOf(part))) : Buffer.alloc(0),
    }),
    pagesFrom: (client, path, { first, count, from, gate }) => client.ask('PUT', `${path}?comp=page`, {
        headers: [['x-ms-page-write', 'update'], ['x-ms-range', range(first, count)],
            ['x-ms-source-range', range(first, count)], ['x-ms-copy-source', client.readable(from)], ...gateHeader(gate)],
    }),
    copyPages: (client, path, { from, value, gate }) => client.ask('PUT', path,
        { headers: [['x-ms-copy-source', client.readable(from)], meta(value), ...gateHeader(gate)] }),
    tag: (client, path, { tag, gate }) => client.ask('PUT', `${path}?comp=tags`, {
        headers: gateHeader(gate),
        body: Buffer.from(`<Tags><TagSet><Tag><Key>tag</Key><Value>${tag}</Value></Tag></TagSet></Tags>`),
    }),
    metadata: (client, path, { value, gate }) => client.ask('PUT', `${path}?comp=metadata`, { headers: [meta(value), ...gateHeader(gate)] }),
    snapshot: (client, path, { gate }) => client.ask('PUT', `${path}?comp=snapshot`, { headers: gateHeader(gate) }),
    remove: (client, path, { gate }) => client.ask('DELETE', path,
        { headers: [['x-ms-delete-snapshots', 'include'], ...gateHeader(gate)] }),
};

export const gateHeader = (gate) => (gate ? [['x-lagra-gate', `${gate}=kill`]] : []);
