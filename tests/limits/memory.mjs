// Memory that clients could make the server hold: answers that nobody reads, bodies that never end.

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BATCH_TYPE, batchBody, partRequest, readBatch } from '../lib/batch.mjs';
import { Connection, formatHead } from '../lib/http.mjs';
import { keepsMemory } from '../lib/sanitizer.mjs';
import { ask, closeAll, CONTAINER, createContainer, honest, inTime, openIdle, putBlob, signed, until, withServer } from './clients.mjs';

const MiB = 1024 * 1024;

/** 0 of a server of which that says nothing; it must answer all the same. */
function residentMiB(server, { binary }) {
    if (keepsMemory(binary))
        return 0;
    return Number(readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+) kB/)[1]) / 1024;
}

/** Blobs with long names and metadata, so that a page of them is large. */
async function fill(server, count) {
    const connection = await Connection.open(server.host, server.port);

    for (let i = 0; i < count; i++) {
        const request = signed(server, 'PUT', `${CONTAINER}/${'n'.repeat(200)}-${i}`, [['Content-Length', '0'],
            ['x-ms-blob-type', 'BlockBlob'], ['x-ms-meta-filler', 'm'.repeat(2000)]]);
        await inTime(connection.exchange(request), 'Put Blob');
    }
    connection.close();
}

/** Connections that ask for a page and do not read it. */
async function askWithoutReading(server, count) {
    const request = formatHead(signed(server, 'GET', `${CONTAINER}?restype=container&comp=list&include=metadata`));
    const connections = await openIdle(server, count);

    for (const connection of connections)
        await connection.send(request);
    return connections;
}

/** Answers that nobody reads stay within the budget, others are served, and memory is given
 *  back. */
export async function answers_that_nobody_reads(context) {
    await withServer(context, [], async (server) => {
        const { assert } = context;

        await fill(server, 1000);
        const connections = await askWithoutReading(server, context.soak ? 1000 : 150);
        let most = 0;
        for (let i = 0; i < 20; i++) {
            await delay(100);
            most = Math.max(most, residentMiB(server, context));
        }
        await honest(server).finally(() => closeAll(connections));
        assert.ok(most < 300, `${most.toFixed(0)} MiB are resident`);
        await until(() => residentMiB(server, context) <= 120, 'more than 120 MiB stay resident');
    });
}

/** Bodies that are collected in memory stay within the budget: who is too many is answered 503. */
export async function bodies_in_memory(context) {
    await withServer(context, [], async (server) => {
        const { assert } = context;
        const count = context.soak ? 1000 : 100;
        const part = Buffer.alloc(4 * MiB, ' ');
        const connections = await openIdle(server, count);
        const request = formatHead(signed(server, 'PUT', `${CONTAINER}/list?comp=blocklist`, [['Content-Length', `${8 * MiB}`]]));

        for (const connection of connections) {
            await connection.send(request);
            connection.send(part).catch(() => {});
        }
        let most = 0;
        for (let i = 0; i < 20; i++) {
            await delay(100);
            most = Math.max(most, residentMiB(server, context));
        }
        await honest(server).finally(() => closeAll(connections));
        assert.ok(most < 300, `${most.toFixed(0)} MiB are resident`);
    });
}

/** 1,000 clients that do not read, 1,000 that write slowly and 10,000 idle ones at once; a tenth or
 *  less without --soak. */
export async function all_at_once(context) {
    const scale = context.soak ? 10 : 1;

    await withServer(context, [], async (server) => {
        const { assert } = context;

        await fill(server, 1000);
        const crowd = [...(await askWithoutReading(server, 100 * scale)), ...(await openIdle(server, context.soak ? 10000 : 500))];
        for (let i = 0; i < 100 * scale; i++) {
            const connection = await Connection.open(server.host, server.port);
            await connection.request(putBlob(server, `${CONTAINER}/slow-${i}`, 1000000), Buffer.alloc(20000));
            crowd.push(connection);
        }
        try {
            for (let i = 0; i < 10; i++) {
                await honest(server);
                assert.ok(residentMiB(server, context) < 300, `${residentMiB(server, context).toFixed(0)} MiB are resident`);
            }
        } finally {
            closeAll(crowd);
        }
    });
}

/** One page at a time is always served whole. */
export async function a_page_is_served(context) {
    await withServer(context, [], async (server) => {
        const { assert } = context;

        await fill(server, 300);
        for (let i = 0; i < 5; i++) {
            const answer = await ask(server, signed(server, 'GET', `${CONTAINER}?restype=container&comp=list&include=metadata`));
            assert.equal(answer.status, 200);
            assert.equal(answer.body.toString().match(/<Blob>/g).length, 300);
            assert.match(answer.headers.get('content-type'), /^application\/xml/);
        }
    });
}

/** Bodies that never end, until there is no memory for another small one: 150 KB are left at most. */
async function useUpMemory(server, crowd) {
    const list = (length) => signed(server, 'PUT', `${CONTAINER}/list?comp=blocklist`, [['Content-Length', `${length}`]]);
    const hold = async (bytes) => {
        const connection = await Connection.open(server.host, server.port);

        crowd.push(connection);
        await connection.send(formatHead(list(bytes + 1)));
        connection.send(Buffer.alloc(bytes, ' ')).catch(() => {});
    };
    const small = 100000;

    for (let i = 0; i < 40; i++)
        await hold(4 * MiB);
    /* One that is refused on its way gives back what it held: full is what stays full. */
    for (let refused = 0; refused < 20; await delay(20)) {
        const { status } = await ask(server, list(small), Buffer.alloc(small, ' '));

        refused = status === 503 ? refused + 1 : 0;
        for (let i = 0; i < 20 && status !== 503; i++)
            await hold(small);
    }
}

function batchOf(server, count) {
    const body = Buffer.from(batchBody(Array.from({ length: count }, (_, id) =>
        ({ id, request: partRequest({ method: 'DELETE', target: `${CONTAINER}/part-${id}` }) }))));
    const request = signed(server, 'POST', `${CONTAINER}?restype=container&comp=batch`,
        [['Content-Length', `${body.length}`], ['Content-Type', BATCH_TYPE]]);

    return { body, request };
}

const doBatch = (server, { request, body }) => ask(server, request, body);

async function refusedBatches({ assert }, server, count) {
    for (let i = 0; i < count; i++) {
        const answer = await doBatch(server, batchOf(server, i % 2 === 0 ? 256 : 100));

        assert.equal(answer.status, 503);
        assert.equal(answer.headers.get('x-ms-error-code'), 'ServerBusy');
        assert.match(answer.headers.get('content-type'), /^application\/xml/);
    }
}

/** A batch that finds no memory is refused as a whole, while its body comes in or when its parts are known;
 *  nothing of it is done, and it leaves nothing behind. */
export async function a_batch_without_memory(context) {
    await withServer(context, [], async (server) => {
        const { assert } = context;
        const crowd = [];
        const blobs = async () => {
            const { body } = await ask(server, signed(server, 'GET', `${CONTAINER}?restype=container&comp=list&prefix=part-`));
            return body.toString().match(/<Blob>/g)?.length ?? 0;
        };
        const writer = await Connection.open(server.host, server.port);

        for (let i = 0; i < 256; i++)
            await inTime(writer.exchange(putBlob(server, `${CONTAINER}/part-${i}`, 0)), 'Put Blob');
        writer.close();
        try {
            await useUpMemory(server, crowd);
            /* What is left behind is so each time; what the allocator keeps for a while is not. */
            let more = Infinity;
            for (let attempt = 0; attempt < 4 && more >= 16; attempt++) {
                const before = residentMiB(server, context);
                await refusedBatches(context, server, 300);
                more = residentMiB(server, context) - before;
            }
            assert.ok(more < 16, `300 batches that were refused leave ${more.toFixed(0)} MiB`);
        } finally {
            closeAll(crowd);
        }
        let done;
        await until(async () => (done = await doBatch(server, batchOf(server, 100))).status !== 503, 'the memory does not come back');
        assert.equal(done.status, 202);
        assert.equal(await blobs(), 156);
        done = await doBatch(server, batchOf(server, 256));
        const parts = readBatch(done.headers.get('content-type'), done.body.toString());
        assert.deepEqual(parts.map(({ status }) => status), Array.from({ length: 256 }, (_, id) => (id < 100 ? 404 : 202)));
    });
}

/** Writes over a text in an extent, and throws the file out of the kernel's page cache, which may keep some of it
 *  all the same. */
function damageOnDisk(server, text) {
    const folder = path.join(server.location, 'extents');
    const file = readdirSync(folder).map((name) => path.join(folder, name)).find((name) => readFileSync(name).includes(text));
    const fd = openSync(file, 'r+');

    writeSync(fd, 'damage', readFileSync(file).indexOf(text));
    closeSync(fd);
    return spawnSync('dd', ['if=/dev/null', `of=${file}`, 'conv=notrunc,fdatasync', 'oflag=nocache', 'count=0']).status;
}

/** Reads the beginning of a blob, damages its end on the disk, and reads the rest. Returns what ended that. */
async function damageBehindReader({ assert }, server, target, text) {
    const body = Buffer.alloc(8 * MiB, 'right ');
    body.write(text, 8 * MiB - 1000);
    const put = await ask(server, putBlob(server, target, body.length), body);
    assert.equal(put.status, 201);

    const connection = await Connection.open(server.host, server.port);
    await connection.request(signed(server, 'GET', target));
    const head = await connection.response();
    const first = await connection.body(head, 1000);
    assert.ok(first.equals(body.subarray(0, 1000)));
    assert.equal(damageOnDisk(server, text), 0);
    const end = await inTime(connection.rest(head).then(() => 'it was sent', (error) => error.message), 'the rest');
    connection.close();
    return end;
}

/** What has left memory while a slow client was sent a blob is checked again before it goes out: damage on
 *  the disk cuts the connection. src/store/embedded/verified.h */
export async function what_left_memory_is_not_sent_unchecked(context) {
    await withServer(context, [], async (server) => {
        const { assert } = context;
        let end = '', target = '';

        for (let attempt = 0; attempt < 5 && !/closed too early/.test(end); attempt++) {
            target = `${CONTAINER}/slow-${attempt}`;
            end = await damageBehindReader(context, server, target, `SEARCHED ${attempt}`);
        }
        assert.match(end, /closed too early/);
        const again = await ask(server, signed(server, 'GET', target)).catch((error) => error);
        assert.ok(again instanceof Error || again.status === 500, `${again.status}`);
        await server.kill();
    });
}
