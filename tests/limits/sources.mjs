// Sources of copies on other servers: more headers than are kept, and more requests than may wait for sources that do not
// respond.

import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../lib/http.mjs';
import { keepsMemory } from '../lib/sanitizer.mjs';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';
import { inTime, residentMiB, until } from './clients.mjs';

const ALLOW = ['--inMemoryPersistence', '--allowCopyFrom', '127.0.0.0/8'];
/* KEPT_SIZE_MAX */
const KEPT_SIZE = 16 * 1024;
/* GATHERS_WAITING_MAX, and how many sources are read at the same time for an account and of one host
 * (GATHER_SHARES in src/server/serve.c). */
const WAITING = 512, RUN_FOR_ACCOUNT = 16, RUN_FOR_SOURCE = 8;
/* A source may have half as many that wait as are free, an account as many as are free. */
const OF_SOURCE = Math.floor((WAITING - 1) / 3) + 1, OF_ACCOUNT = WAITING / 2;
const OF_OTHER_ACCOUNT = OF_ACCOUNT / 2, RUN_FOR_OTHER = 24 - RUN_FOR_ACCOUNT; // GATHER_THREADS_MAX
/* For requests that were sent to be received by all workers. */
const SETTLED_MS = 200;
const MORE_MIB_MAX = 64;
const OTHER = { account: 'other', key: Buffer.from('key of the other').toString('base64') };

/** A server on all addresses of 127.0.0.0/8 whose responses respond(request, response) sends. */
async function withSource(respond, use) {
    const source = http.createServer(respond);

    await new Promise((resolve) => source.listen(0, '0.0.0.0', resolve));
    try {
        await use(source.address().port);
    } finally {
        source.closeAllConnections();
        source.close();
    }
}

async function withTarget({ binary }, use) {
    const server = await Server.start({ binary, args: ALLOW,
        env: { AZURITE_ACCOUNTS: [DEVELOPMENT, OTHER].map(({ account, key }) => `${account}:${key}`).join(';') } });

    try {
        for (const credentials of [DEVELOPMENT, OTHER])
            await (await send(server, 'PUT', 'limits?restype=container', [], credentials)).response;
        await use(server);
    } finally {
        await server.stop();
    }
}

/** Sends a request without a body on a connection of its own, which ends with its response. */
async function send(server, method, target, headers, credentials = DEVELOPMENT) {
    const connection = await Connection.open(server.host, server.port);
    const sent = { isDone: false };
    const request = sign({ method, target: `/${credentials.account}/${target}`,
        headers: [['Host', `${server.host}:${server.port}`], ['Content-Length', '0'], ...headers] }, { credentials });

    sent.response = inTime(connection.exchange(request), `${method} ${target}`).finally(() => {
        sent.isDone = true;
        connection.close();
    });
    sent.response.catch(() => {}); // a test that has failed no longer waits for it
    return sent;
}

const copy = (server, name, url, credentials) => send(server, 'PUT', `limits/${name}`,
    [['x-ms-blob-type', 'BlockBlob'], ['x-ms-copy-source', url]], credentials);

const outcome = ({ status, headers }) => [status, headers.get('x-ms-error-code')].filter(Boolean).join(' ');

/** KEPT_SIZE_MAX: the headers that the blob would keep have one byte too many. */
export async function a_source_with_too_many_headers(context) {
    const { assert } = context;
    const names = ['content-encoding', 'content-language', 'content-disposition', 'cache-control'];
    const line = Math.floor(KEPT_SIZE / names.length) - ': \r\n'.length;
    const respond = (request, response) => {
        const more = request.url === '/beyond' ? 1 : 0;

        response.writeHead(200, Object.fromEntries(names.map((name, i) => [name, 'x'.repeat(line - name.length + (i === 0 ? more : 0))])));
        response.end('bytes');
    };

    await withSource(respond, (port) => withTarget(context, async (server) => {
        const ask = async (path) => outcome(await (await copy(server, 'b', `http://127.0.0.1:${port}${path}`)).response);
        const crowd = (path) => Promise.all(Array.from({ length: 40 }, () => ask(path)));

        assert.equal(await ask('/most'), '201');
        assert.deepEqual(new Set(await crowd('/beyond')), new Set(['400 CannotVerifyCopySource']));
        assert.equal(await ask('/most'), '201');
    }));
}

/** Sends copies of one account from each of the sources in turn, one more than `most`: one is refused. Returns the others. */
async function fill({ assert }, server, urls, most, credentials = DEVELOPMENT) {
    const sent = [];

    for (let i = 0; i <= most; i++) {
        if (i === most)
            await delay(SETTLED_MS);
        sent.push(await copy(server, `w${i}`, urls[i % urls.length], credentials));
    }
    await until(() => sent.some(({ isDone }) => isDone), `more than ${most} requests wait for their sources`);
    await delay(SETTLED_MS);
    const [refused, ...more] = sent.filter(({ isDone }) => isDone);
    assert.equal(outcome(await refused.response), '503 ServerBusy');
    assert.equal(more.length, 0, `${more.length} of ${most} that may wait were refused`);
    return sent.filter((each) => each !== refused);
}

/** GATHERS_WAITING_MAX: requests whose sources do not respond. The share of a source, of an account, then of another
 *  account, which still finds half of the rest. When the sources respond, all succeed. */
export async function requests_that_wait_for_sources(context) {
    const { assert, binary } = context;
    const held = [];
    let holds = true;
    const respond = (_, response) => (holds ? held.push(response) : response.end('bytes'));

    await withSource(respond, (port) => withTarget(context, async (server) => {
        const urls = Array.from({ length: 4 }, (_, i) => `http://127.0.0.${i + 1}:${port}/`);
        const before = residentMiB(server);
        const succeed = async (sent) => {
            holds = false;
            held.splice(0).forEach((response) => response.end('bytes'));
            for (const { response } of sent)
                assert.equal(outcome(await response), '201');
            holds = true;
        };

        await succeed(await fill(context, server, urls.slice(0, 1), RUN_FOR_SOURCE + OF_SOURCE));
        const own = await fill(context, server, urls, RUN_FOR_ACCOUNT + OF_ACCOUNT);
        const others = await fill(context, server, urls, RUN_FOR_OTHER + OF_OTHER_ACCOUNT, OTHER);
        await succeed([...own, ...others]);
        if (!keepsMemory(binary))
            await until(() => residentMiB(server) - before < MORE_MIB_MAX, `the server holds more than ${MORE_MIB_MAX} MiB more`);
    }));
}
