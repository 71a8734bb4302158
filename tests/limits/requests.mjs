// Nothing is done that cannot be answered: heads of every size, properties of every size, pipelined
// bytes.

import { Connection, formatHead } from '../lib/http.mjs';
import { ask, CONTAINER, createContainer, inTime, putBlob, signed, withServer } from './clients.mjs';

/** A head is answered or refused before anything is done, whatever its size. */
export async function heads_of_every_size_are_answered(context) {
    await withServer(context, [], async (server) => {
        const { assert } = context;

        for (let size = 8000; size < 34000; size += size > 23000 && size < 25000 ? 100 : 500) {
            const target = `${CONTAINER}/head-${size}`;
            const request = signed(server, 'PUT', target, [['Content-Length', '0'], ['x-ms-blob-type', 'BlockBlob'],
                ['x-ms-blob-cache-control', 'x'.repeat(size)]]);
            const put = await ask(server, request).catch(() => ({ status: 'no answer' }));
            const get = await ask(server, signed(server, 'GET', target));

            /* One that is far too long may be refused before all of it is sent. */
            assert.ok([201, 400, 431].includes(put.status) || size > 30000, `a head of ${size} bytes: ${put.status}`);
            assert.equal(get.status, put.status === 201 ? 200 : 404, `after a head of ${size} bytes: ${put.status}`);
        }
    });
}

/** What can be stored in several requests can be read in one. */
export async function large_properties_are_read_back(context) {
    await withServer(context, [], async (server) => {
        const { assert } = context;
        const target = `${CONTAINER}/large`;
        const control = 'x'.repeat(15000);
        const language = 'y'.repeat(500);
        const put = await ask(server, putBlob(server, target, 5), Buffer.from('hello'));
        const metadata = await ask(server, signed(server, 'PUT', `${target}?comp=metadata`, [['Content-Length', '0'],
            ['x-ms-meta-a', 'z'.repeat(4000)], ['x-ms-meta-b', 'z'.repeat(4000)]]));
        const properties = await ask(server, signed(server, 'PUT', `${target}?comp=properties`, [['Content-Length', '0'],
            ['x-ms-blob-cache-control', control], ['x-ms-blob-content-language', language]]));

        assert.deepEqual([put.status, metadata.status, properties.status], [201, 200, 200]);
        for (const method of ['GET', 'HEAD']) {
            const answer = await ask(server, signed(server, method, target));
            assert.equal(answer.status, 200, method);
            assert.equal(answer.headers.get('cache-control'), control);
            assert.equal(answer.headers.get('x-ms-meta-b').length, 4000);
        }
    });
}

/** A pipelined request that fills all of a connection's memory does not cost the answer of the
 *  one before. */
export async function pipelined_bytes_cost_no_answer(context) {
    await withServer(context, [], async (server) => {
        const { assert } = context;

        for (const more of [8000, 16000, 24000, 40000]) {
            const connection = await Connection.open(server.host, server.port);
            const put = putBlob(server, `${CONTAINER}/first`, 5);
            connection.send(Buffer.concat([formatHead(put), Buffer.from('hello'), Buffer.from(`GET /${'x'.repeat(more)}`)])).catch(() => {});
            const head = await inTime(connection.response('PUT'), 'the first answer');
            assert.equal(head.status, 201, `with ${more} bytes behind it`);
            connection.close();
        }
    });
}

/** Of a body that was refused some is read, so that its client finds the answer; then the connection is closed.
 *  decision: 272 */
export async function a_refused_body_is_read_up_to_a_bound(context) {
    await withServer(context, [], async (server) => {
        const { assert } = context;
        const connection = await Connection.open(server.host, server.port);
        const part = Buffer.alloc(1 << 20);
        let sent = 0;

        await connection.send(Buffer.from(`PUT ${CONTAINER}/refused HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 ** 40}\r\n\r\n`));
        const head = await inTime(connection.response('PUT'), 'the answer');
        assert.ok(head.status >= 400 && head.status < 500, `${head.status}`);
        assert.equal(head.headers.get('connection'), 'close');
        for (; sent < 300 && !connection.failed; sent++)
            await inTime(connection.send(part), 'a part');
        assert.ok(sent >= 32 && sent < 128, `${sent} MiB were taken`);
        connection.close();
        await ask(server, signed(server, 'GET', `${CONTAINER}?restype=container`));
    });
}
