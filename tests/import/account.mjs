// What the account has that is copied: each blob, entity and message is made from its number, so that the copy can be
// checked byte for byte without asking the source.

import { createHash, createHmac } from 'node:crypto';
import { Connection } from '../lib/http.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';

const HOST = '127.0.0.1';
const CONNECTIONS = 12;
const CONTAINERS = 4, QUEUES = 4, PARTITIONS = 10;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const BLOB_BYTES_MAX = 8192;
export const TABLE = 'people';
export const containerOf = (i) => `import${i % CONTAINERS}`;
export const containers = Array.from({ length: CONTAINERS }, (_, i) => containerOf(i));
export const queues = Array.from({ length: QUEUES }, (_, i) => `import${i}`);
const encoded = (path) => path.split('/').map(encodeURIComponent).join('/');

/** 0 to 8 KiB, of bytes that depend on the number. */
export function blobOf(i) {
    const length = i % 100 === 0 ? 0 : Math.imul(i, 2654435761) >>> 19;
    const body = Buffer.alloc(length, createHash('sha256').update(`${i}`).digest());
    return {
        container: containerOf(i), name: `folder ${i % 7}/${`${i}`.padStart(7, '0')}.bin`, body,
        headers: {
            'x-ms-blob-type': 'BlockBlob', 'Content-Type': i % 2 ? 'image/png' : 'text/plain',
            ...(i % 10 === 0 && { 'x-ms-meta-number': `${i}` }), ...(i % 50 === 0 && { 'x-ms-tags': `number=${i}` }),
        },
    };
}
export const entityOf = (i) => ({
    PartitionKey: `p${i % PARTITIONS}`, RowKey: `${i}`.padStart(7, '0'), name: `Ada ${i}`, number: i,
    half: i + 0.5, 'big@odata.type': 'Edm.Int64', big: `${2 ** 53 + i * 2}`,
});
export const messageOf = (i) => `message ${i} <&>`;

/** A signature for all blobs of the account, for an hour. rest: Create-account-SAS */
export function accountSas() {
    const se = `${new Date(Date.now() + 3600_000).toISOString().slice(0, 19)}Z`;
    const fields = { sv: '2019-12-12', ss: 'b', srt: 'sco', sp: 'rwdlacupt', se };
    const text = [DEVELOPMENT.account, fields.sp, fields.ss, fields.srt, '', se, '', '', fields.sv, ''].join('\n');
    const sig = createHmac('sha256', Buffer.from(DEVELOPMENT.key, 'base64')).update(text).digest('base64');
    return new URLSearchParams({ ...fields, sig }).toString();
}

/** A connection to one service of a server that asks with the development account's key. ports: by their names, and perhaps
 *  the host */
export class Asker {
    #connection;
    #ports;
    #service;

    static async open(ports, service) {
        const asker = new Asker();
        asker.#service = service;
        asker.#ports = ports;
        await asker.#connect();
        return asker;
    }

    async #connect() {
        this.#connection = await Connection.open(this.#ports.host ?? HOST, this.#ports[this.#service]);
    }

    close() {
        this.#connection.close();
    }

    async ask(method, path, headers = {}, body = Buffer.alloc(0)) {
        const service = this.#service;
        const exchange = () => this.#connection.exchange(sign({
            method, target: `/${DEVELOPMENT.account}${path}`,
            headers: [['Host', `${this.#ports.host ?? HOST}:${this.#ports[service]}`], ['Content-Length', `${body.length}`],
                ...(service === 'table' ? [['Accept', 'application/json;odata=fullmetadata']] : []), ...Object.entries(headers)],
        }, { service, version: service === 'table' ? '2019-02-02' : '2021-12-02' }), body);
        // A server closes a connection that waits for long, as one does here where the machine is busy.
        const answer = await exchange().catch((error) => {
            if (method !== 'GET')
                throw error;
            return this.#connect().then(exchange);
        });
        if (answer.status >= 300)
            throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
        return answer;
    }
}

/** work(asker, i) for each number from `from` to below `count`, over some connections. */
export async function forAll(ports, service, count, work, from = 0) {
    let next = from;
    await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
        const asker = await Asker.open(ports, service);
        while (next < count)
            await work(asker, next++);
        asker.close();
    }));
}

async function fillTable(ports, entities) {
    const asker = await Asker.open(ports, 'table');
    await asker.ask('POST', '/Tables', JSON_TYPE, Buffer.from(`{"TableName":"${TABLE}"}`));
    asker.close();
    await forAll(ports, 'table', entities, (one, i) =>
        one.ask('POST', `/${TABLE}`, { ...JSON_TYPE, Prefer: 'return-no-content' }, Buffer.from(JSON.stringify(entityOf(i)))));
}

/** Makes all of it on a server. counts: { blobs, entities, messages } */
export async function fillAccount(ports, counts) {
    const [blob, queue] = await Promise.all(['blob', 'queue'].map((service) => Asker.open(ports, service)));
    for (const name of containers)
        await blob.ask('PUT', `/${name}?restype=container`);
    await forAll(ports, 'blob', counts.blobs, async (asker, i) => {
        const { container, name, headers, body } = blobOf(i);
        await asker.ask('PUT', `/${container}/${encoded(name)}`, headers, body);
    });
    for (const name of queues)
        await queue.ask('PUT', `/${name}`);
    for (let i = 0; i < counts.messages; i++)
        await queue.ask('POST', `/${queues[i % QUEUES]}/messages?messagettl=-1`, {},
            Buffer.from(`<QueueMessage><MessageText>${messageOf(i).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</MessageText></QueueMessage>`));
    await fillTable(ports, counts.entities);
    for (const asker of [blob, queue])
        asker.close();
}

/** How many of what there are in a listing of blobs, which one has only once, and the sum of their lengths. */
async function listBlobs(asker) {
    let count = 0, bytes = 0;
    for (const container of containers) {
        for (let marker = ''; marker !== undefined;) {
            const page = `${(await asker.ask('GET', `/${container}?restype=container&comp=list${marker && `&marker=${encodeURIComponent(marker)}`}`)).body}`;
            for (const [, length] of page.matchAll(/<Content-Length>(\d+)</g)) {
                count++;
                bytes += Number(length);
            }
            marker = /<NextMarker>([^<]+)</.exec(page)?.[1];
        }
    }
    return { count, bytes };
}

async function checkBlobs(ports, count) {
    let bytes = 0;
    await forAll(ports, 'blob', count, async (asker, i) => {
        const { container, name, headers, body } = blobOf(i);
        const answer = await asker.ask('GET', `/${container}/${encoded(name)}`);
        const has = (header, wanted) => (answer.headers.get(header) ?? undefined) === wanted;
        if (!answer.body.equals(body) || !has('Content-Type', headers['Content-Type']) ||
            !has('x-ms-meta-number', headers['x-ms-meta-number']) || !has('x-ms-tag-count', headers['x-ms-tags'] && '1'))
            throw new Error(`blob ${i} is not as it was: ${answer.headers.list.join('; ')}`);
        bytes += body.length;
    });
    return { count, bytes };
}

async function checkMessages(asker) {
    const found = [];
    for (const name of queues) {
        for (let page = ' ', last = -1; page;) {
            page = `${(await asker.ask('GET', `/${name}/messages?numofmessages=32&visibilitytimeout=3600`)).body}`;
            const numbers = [...page.matchAll(/<MessageText>message (\d+) &lt;&amp;/g)].map(([, i]) => Number(i));
            for (const i of numbers) {
                if (i <= last)
                    throw new Error(`message ${i} of ${name} comes behind ${last}`);
                last = i;
            }
            found.push(...numbers);
            page = numbers.length > 0;
        }
    }
    return { count: found.length, different: new Set(found).size };
}

async function checkEntities(asker, count) {
    let found = 0, more = '';
    do {
        const answer = await asker.ask('GET', `/${TABLE}()${more}`);
        for (const entity of JSON.parse(answer.body).value) {
            const wanted = entityOf(Number(entity.RowKey));
            for (const [name, value] of Object.entries(wanted)) {
                if (entity[name] !== value)
                    throw new Error(`entity ${entity.RowKey}: ${name} is ${entity[name]}`);
            }
            found++;
        }
        const [partition, row] = ['x-ms-continuation-NextPartitionKey', 'x-ms-continuation-NextRowKey'].map((name) => answer.headers.get(name));
        more = partition && `?NextPartitionKey=${encodeURIComponent(partition)}&NextRowKey=${encodeURIComponent(row)}`;
    } while (more);
    return { count: found };
}

/** Throws unless the server has exactly that. Messages are received on the way, in the order of their numbers. */
export async function checkAccount(ports, counts) {
    const [blob, queue, table] = await Promise.all(['blob', 'queue', 'table'].map((service) => Asker.open(ports, service)));
    const made = await checkBlobs(ports, counts.blobs), listed = await listBlobs(blob);
    const messages = await checkMessages(queue), entities = await checkEntities(table, counts.entities);
    for (const asker of [blob, queue, table])
        asker.close();
    if (listed.count !== made.count || listed.bytes !== made.bytes)
        throw new Error(`${listed.count} blobs of ${listed.bytes} bytes are listed, not ${made.count} of ${made.bytes}`);
    if (messages.count !== counts.messages || messages.different !== counts.messages)
        throw new Error(`${messages.count} messages, ${messages.different} of them different`);
    if (entities.count !== counts.entities)
        throw new Error(`${entities.count} entities`);
    return { blobs: made.count, bytes: made.bytes, messages: messages.count, entities: entities.count };
}
