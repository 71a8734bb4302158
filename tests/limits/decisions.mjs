// Memory that requests need while they are decided, and for their responses: crowds of the largest ones stay within the
// budget, and each of them succeeds when it is repeated. src/base/memory_budget.h

import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../lib/http.mjs';
import { keepsMemory } from '../lib/sanitizer.mjs';
import { sign } from '../lib/sign.mjs';
import { ask, CONTAINER, honest, inTime, PATIENCE_MS, residentMiB, signed, withServer } from './clients.mjs';

const MiB = 1024 * 1024;
/* MEMORY_BUDGET_BYTES, MEMORY_LARGE_BYTES */
const BUDGET_MIB = 128, LARGE_MIB = 256;
/* What a crowd may cost beyond: requests that the budget no longer covers and that are about to be refused, what the
 * store and the allocator hold for them, and the program. */
const MORE_MIB = 96;
const CROWD = 40;
const BLOCKS_MAX = 50000;

const blockId = (i) => Buffer.from(`${i}`.padStart(64, '0')).toString('base64');

/** Blocks with ids of the largest size, each as long as is kept next to its id. */
async function putBlocks(server, target, count) {
    const body = Buffer.alloc(256, 'block');
    let next = 0;

    await Promise.all(Array.from({ length: 8 }, async () => {
        const connection = await Connection.open(server.host, server.port);

        while (next < count) {
            const id = blockId(next++);
            const { status } = await inTime(connection.exchange(signed(server, 'PUT', `${target}?comp=block&blockid=${encodeURIComponent(id)}`,
                [['Content-Length', `${body.length}`]]), body), 'Put Block');
            if (status !== 201)
                throw new Error(`Put Block: ${status}`);
        }
        connection.close();
    }));
}

/** A Put Block List of as many blocks as there may be. */
function putList(server, target, ids) {
    const names = Array.from({ length: BLOCKS_MAX }, (_, i) => `<Latest>${blockId(i % ids)}</Latest>`).join('');
    const body = Buffer.from(`<BlockList>${names}</BlockList>`);

    return { request: signed(server, 'PUT', `${target}?comp=blocklist`, [['Content-Length', `${body.length}`]]), body, status: 201 };
}

/** Sends a request until it is done. isDone: of one whose refusal may be a part of its response */
async function untilDone({ assert }, server, { request, body, status, isDone = (answer) => answer.status === status }) {
    for (const end = Date.now() + PATIENCE_MS; ;) {
        const answer = await ask(server, request, body);

        if (isDone(answer))
            return answer;
        assert.match(`${answer.status} ${answer.headers.get('x-ms-error-code')} ${answer.body}`, /^(?:503|20[0-9]) [^]*ServerBusy/);
        assert.doesNotMatch(`${answer.body}`, /"value":"\d+:/, 'a part of the group is to blame'); // decision: 1037
        assert.ok(Date.now() < end, `${request.method} ${request.target} is refused again and again`);
        await delay(50 + Math.random() * 200);
    }
}

/** Sends CROWD of them at once: each is done or refused, the server's memory stays within bounds, and all are done in the end.
 *  Afterwards nothing is charged. */
async function crowd(context, server, each, service = server) {
    const { assert, binary } = context;
    const before = residentMiB(server, 'VmHWM');
    const done = await Promise.all(Array.from({ length: CROWD }, (_, i) => untilDone(context, service, each(i))));

    if (!keepsMemory(binary)) {
        const more = residentMiB(server, 'VmHWM') - before;
        assert.ok(more < BUDGET_MIB + LARGE_MIB + MORE_MIB, `${more.toFixed(0)} MiB more were resident`);
    }
    await honest(server);
    return done;
}

/** Block lists of 50,000 blocks, which need half of the budget each. */
export async function block_lists_at_once(context) {
    const ids = context.soak ? BLOCKS_MAX : 2000;

    await withServer(context, ['--inMemoryPersistence'], async (server) => {
        const target = `${CONTAINER}/list`;

        await putBlocks(server, target, ids);
        const list = putList(server, target, ids);
        await crowd(context, server, () => list);
        const get = { request: signed(server, 'GET', `${target}?comp=blocklist`), status: 200 };
        for (const { body } of await crowd(context, server, () => get))
            context.assert.equal(body.toString().match(/<Block>/g).length, BLOCKS_MAX);
    });
}

/** Pages of a list, whose responses have megabytes. */
export async function lists_at_once(context) {
    await withServer(context, ['--inMemoryPersistence'], async (server) => {
        const connection = await Connection.open(server.host, server.port);

        for (let i = 0; i < 1000; i++)
            await inTime(connection.exchange(signed(server, 'PUT', `${CONTAINER}/${'n'.repeat(200)}-${i}`, [['Content-Length', '0'],
                ['x-ms-blob-type', 'BlockBlob'], ['x-ms-meta-filler', 'm'.repeat(7000)]])), 'Put Blob');
        connection.close();
        const list = { request: signed(server, 'GET', `${CONTAINER}?restype=container&comp=list&include=metadata`), status: 200 };
        for (const { body } of await crowd(context, server, () => list))
            context.assert.match(body.toString(), /<NextMarker/);
    });
}

const TABLE = '/devstoreaccount1/limits';

/** A request to the Table service. */
function ofTable(server, method, target, headers, body, status) {
    const request = sign({ method, target, headers: [['Host', `${server.host}:${server.ports.table}`],
        ['Accept', 'application/json;odata=nometadata'], ['Content-Length', `${body.length}`], ...headers] }, { service: 'table' });

    return { request, body, status };
}

/** Merges of 100 entities of 300 KB each: of larger ones the store in memory has more copies than the bound allows. */
export async function entity_groups_at_once(context) {
    const property = 'x'.repeat(30000);
    const entity = (i) => JSON.stringify({ PartitionKey: 'p', RowKey: `${i}`, ...Object.fromEntries(Array.from({ length: 5 },
        (_, n) => [`p${n}`, property])) });

    await withServer(context, ['--inMemoryPersistence'], async (server) => {
        const table = { host: server.host, port: server.ports.table };
        const json = ['Content-Type', 'application/json'];
        const made = JSON.stringify({ TableName: 'limits' });
        await untilDone(context, table, ofTable(server, 'POST', '/devstoreaccount1/Tables', [json], Buffer.from(made), 201));
        for (let i = 0; i < 100; i++)
            await untilDone(context, table, ofTable(server, 'POST', TABLE, [json], Buffer.from(entity(i)), 201));
        const parts = Array.from({ length: 100 }, (_, i) => ({ id: i, request:
            `MERGE ${TABLE}(PartitionKey='p',RowKey='${i}') HTTP/1.1\r\nIf-Match: *\r\nContent-Type: application/json\r\n` +
            `Accept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0;\r\nContent-Length: 9\r\n\r\n{"n":${100 + i}}` }));
        const body = Buffer.from(['--batch_b', 'Content-Type: multipart/mixed; boundary=changeset_c', '',
            ...parts.flatMap(({ request, id }) => ['--changeset_c', 'Content-Type: application/http', 'Content-Transfer-Encoding: binary',
                `Content-ID: ${id}`, '', request]), '--changeset_c--', '--batch_b--', ''].join('\r\n'));
        const group = ofTable(server, 'POST', '/devstoreaccount1/$batch', [['Content-Type', 'multipart/mixed; boundary=batch_b']], body, 202);
        group.isDone = ({ body }) => body.toString().match(/HTTP\/1.1 204/g)?.length === 100;
        await crowd(context, server, () => group, table);
    });
}
