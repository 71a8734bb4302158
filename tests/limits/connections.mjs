// Too many connections: who gives way, who is refused and how, and stops under connects.

import { spawnSync } from 'node:child_process';
import { Connection } from '../lib/http.mjs';
import { ANY_PORTS, Server } from '../lib/server.mjs';
import { ask, closeAll, CONTAINER, createContainer, honest, inTime, openIdle, PATIENCE_MS, putBlob, signed, withServer } from './clients.mjs';

const inMemory = (context, args, use) => withServer(context, ['--inMemoryPersistence', ...args], use);

/** Uploads that have begun and do not go on: connections that are in use by an authenticated
 *  client. Each has been told to go on, so the server has read its head, and takes none of them for idle. */
async function beginUploads(server, count) {
    const uploads = [];

    for (let i = 0; i < count; i++) {
        const connection = await Connection.open(server.host, server.port);
        const put = putBlob(server, `${CONTAINER}/upload-${i}`, 100);
        await connection.request({ ...put, headers: [...put.headers, ['Expect', '100-continue']] });
        const { status } = await inTime(connection.response('PUT'), 'a word to go on');
        if (status !== 100)
            throw new Error(`an upload is answered ${status}`);
        await connection.send(Buffer.alloc(10));
        uploads.push(connection);
    }
    return uploads;
}

const finishUploads = (uploads) => Promise.all(uploads.map(async (connection) => {
    await connection.send(Buffer.alloc(90));
    const head = await inTime(connection.response('PUT'), 'the end of an upload');
    await connection.rest(head);
    return head.status;
}));

/** A full server takes new connections in the place of idle ones. */
export async function idle_connections_shut_nobody_out(context) {
    const places = context.soak ? 10000 : 200;

    await inMemory(context, context.soak ? [] : ['--maxConnections', `${places}`], async (server) => {
        const idle = await openIdle(server, places + places / 2);
        await honest(server);
        closeAll(idle);
    });
}

/** Connections of authenticated clients stay open while others come and go. */
export async function authenticated_connections_stay(context) {
    await inMemory(context, ['--maxConnections', '8'], async (server) => {
        const { assert } = context;
        const own = await Connection.open(server.host, server.port);
        const list = () => inTime(own.exchange(signed(server, 'GET', `${CONTAINER}?restype=container&comp=list`)), 'List Blobs');

        assert.equal((await list()).status, 200);
        const idle = await openIdle(server, 40);
        assert.equal((await list()).status, 200);
        closeAll([own, ...idle]);
    });
}

/** A server whose connections are all in use answers others as the service does.
 *  rest: Common-REST-API-Error-Codes */
export async function a_busy_server_answers_503(context) {
    await inMemory(context, ['--maxConnections', '8'], async (server) => {
        const { assert } = context;
        const uploads = await beginUploads(server, 8);

        for (const method of ['GET', 'HEAD', 'PUT']) {
            const request = method === 'PUT' ? putBlob(server, `${CONTAINER}/late`, 5) : signed(server, method, `${CONTAINER}/late`);
            const answer = await ask(server, request, method === 'PUT' ? Buffer.from('hello') : undefined);

            assert.equal(answer.status, 503);
            assert.equal(answer.headers.get('x-ms-error-code'), 'ServerBusy');
            assert.equal(answer.headers.get('connection').toLowerCase(), 'close');
            assert.ok(answer.headers.get('x-ms-request-id'));
            if (method !== 'HEAD')
                assert.match(answer.body.toString(), /<Code>ServerBusy<\/Code>/);
        }
        assert.deepEqual(await finishUploads(uploads), Array(8).fill(201));
        closeAll(uploads);
        await honest(server);
    });
}

/** With --maxConnectionsPerAddress an address that has its share takes from itself. */
export async function an_address_has_its_share(context) {
    await inMemory(context, ['--maxConnectionsPerAddress', '4'], async (server) => {
        const { assert } = context;
        const uploads = await beginUploads(server, 4);
        const answer = await ask(server, signed(server, 'GET', `${CONTAINER}/late`));

        assert.equal(answer.status, 503);
        assert.deepEqual(await finishUploads(uploads), Array(4).fill(201));
        await honest(server);
        closeAll(uploads);
    });
}

/** Descriptors are set aside for the store before connections get theirs. */
export async function few_descriptors(context) {
    const { assert, binary } = context;
    const limited = ['-c', 'ulimit -n "$1"; shift; exec "$@"', 'sh'];
    const words = [binary, '--inMemoryPersistence', ...ANY_PORTS, '--managementPort', '0'];
    const refused = spawnSync('sh', [...limited, '60', ...words], { encoding: 'utf8', timeout: PATIENCE_MS });

    assert.equal(refused.status, 1, refused.stderr);
    const [, least] = refused.stderr.match(/^lagra: 60 open files are allowed \(ulimit -n\); at least (\d+) are needed\n$/);
    for (const [count, code] of [[Number(least) - 1, 1], [Number(least), null]]) // null: it serves until it is ended
        assert.equal(spawnSync('sh', [...limited, `${count}`, ...words], { timeout: 3000, killSignal: 'SIGKILL' }).status, code, `${count}`);
}

/** Started and stopped again and again while clients connect: every stop is orderly. */
export async function stops_under_connects(context) {
    const rounds = context.soak ? 1000 : 15;
    let server = null;
    let ended = false;
    const knockers = Array.from({ length: 4 }, async () => {
        while (!ended) {
            const connection = server ? await Connection.open(server.host, server.port).catch(() => null) : null;
            await connection?.send(Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')).catch(() => null);
            await new Promise((resolve) => setImmediate(resolve));
            connection?.close();
        }
    });

    try {
        for (let i = 0; i < rounds; i++) {
            const started = await Server.start({ binary: context.binary, args: ['--inMemoryPersistence'] });
            server = started;
            await new Promise((resolve) => setTimeout(resolve, 10));
            await started.stop();
        }
    } finally {
        ended = true;
        await Promise.all(knockers);
    }
}
