// Faults and a clock that tests of clients ask for at the management port, as the official SDKs meet them.
// docs/fault-injection.md; decisions: 530, 531, 532
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TableClient, AzureNamedKeyCredential } from '@azure/data-tables';
import { BlobServiceClient, generateBlobSASQueryParameters } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as FileCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { Connection } from '../lib/http.mjs';
import { run } from '../lib/program.mjs';
import { freePorts, Server } from '../lib/server.mjs';
import { sign } from '../lib/sign.mjs';
import { account, bytesOf, credential, once, refused } from './setup.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
// As the SDK retries, but soon.
const patient = { retryOptions: { maxTries: 4, retryDelayInMs: 5, maxRetryDelayInMs: 20 } };

/** A server for tests, and what is asked of it: put(name, rule), state(name), forward(seconds). */
async function start(t, { args = ['--testing'], env } = {}) {
    const [port] = await freePorts(1);
    const server = await Server.start({ args: ['--managementPort', `${port}`, ...args], env });
    t.after(() => server.kill().then(() => server.remove()));
    const ask = async (method, path, body) => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && (typeof body === 'string' ? body : JSON.stringify(body)) });
        const text = await answer.text();
        return { status: answer.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined, headers: answer.headers };
    };
    const good = async (...asked) => {
        const { status, json, text } = await ask(...asked);
        assert.equal(status, 200, text);
        return json;
    };
    return {
        server, ask, management: `http://127.0.0.1:${port}`,
        blobs: (options = patient) => new BlobServiceClient(server.url, credential, options),
        put: (name, rule) => good('PUT', `/-/faults/${name}`, rule),
        state: (name) => good('GET', `/-/faults/${name}`),
        forward: (seconds) => good('PUT', '/-/time', { forwardSeconds: seconds }),
    };
}

const counts = ({ matched, fired, active }) => ({ matched, fired, active });

/** One request on one connection: the answer, or what was left when it was cut. */
async function raw(t, server, method, target, { body = '', headers = [], service = 'blob' } = {}) {
    const connection = await Connection.open(server.host, server.ports[service]);
    t.after(() => connection.close());
    const request = { method, target: `/${account.name}${target}`,
        headers: [['Host', `${server.host}:${server.ports[service]}`], ['Content-Length', String(body.length)], ...headers] };
    return connection.exchange(sign(request, { service }), Buffer.from(body));
}

test('a client tries again what is busy; who does not hears the service\'s own words', async (t) => {
    const { blobs, put, state, server } = await start(t);
    const container = blobs().getContainerClient('busy');
    await container.create();
    await put('busy', { match: { service: 'blob', operation: 'Put Blob', name: 'busy/a*' },
        fault: { error: 'ServerBusy', retryAfterSeconds: 1 }, when: { count: 2 } });
    await container.getBlockBlobClient('other').upload('x', 1);
    assert.deepEqual(counts(await state('busy')), { matched: 0, fired: 0, active: true });

    const answer = await raw(t, server, 'PUT', '/busy/abc', { body: 'content', headers: [['x-ms-blob-type', 'BlockBlob']] });
    assert.deepEqual([answer.status, answer.reason, answer.headers.get('x-ms-error-code'), answer.headers.get('retry-after')],
        [503, 'Service Unavailable', 'ServerBusy', '1']);
    const id = answer.headers.get('x-ms-request-id');
    assert.match(String(answer.body), new RegExp('^\uFEFF?<\\?xml version="1.0" encoding="utf-8"\\?><Error><Code>ServerBusy</Code>' +
        `<Message>The server is currently unable to receive requests. Please retry your request.\\nRequestId:${id}\\nTime:[^<]+</Message></Error>$`));
    // The operation was not done.
    assert.equal(await container.getBlobClient('abc').exists(), false);
    await container.getBlockBlobClient('abc').upload('content', 7);
    assert.deepEqual(counts(await state('busy')), { matched: 2, fired: 2, active: false });
    assert.equal(String(await container.getBlobClient('abc').downloadToBuffer()), 'content');
});

test('a time-out behind a write that was done: the second try meets the first', async (t) => {
    const { blobs, put, state } = await start(t);
    await put('lost', { match: { operation: 'Create Container' },
        fault: { error: 'OperationTimedOut', operationIsDone: true }, when: { count: 1 } });
    const error = await refused(blobs(once).getContainerClient('one').create(), 500, 'OperationTimedOut');
    assert.equal(error.message.split('\n')[0], 'The operation could not be completed within the permitted time.');
    assert.ok(await blobs().getContainerClient('one').exists());

    await put('lost', { match: { operation: 'Create Container' },
        fault: { error: 'OperationTimedOut', operationIsDone: true }, when: { count: 1 } });
    await refused(blobs().getContainerClient('two').create(), 409, 'ContainerAlreadyExists');
    assert.deepEqual(counts(await state('lost')), { matched: 1, fired: 1, active: false });
});

test('429, and any other status, with an error of the service', async (t) => {
    const { blobs, put, server, state } = await start(t);
    await put('many', { match: { operation: 'List Containers' },
        fault: { error: 'ServerBusy', status: 429, retryAfterSeconds: 1 }, when: { count: 1 } });
    const error = await refused(blobs(once).listContainers().next(), 429, 'ServerBusy');
    assert.equal(error.response.headers.get('retry-after'), '1');
    // The SDK of tables tries again when it is told when, that of blobs does not.
    await put('many', { match: { operation: 'Create Table' }, fault: { error: 'ServerBusy', status: 429, retryAfterSeconds: 1 },
        when: { count: 1 } });
    await new TableClient(server.urlOf('table'), 'people', new AzureNamedKeyCredential(account.name, account.key),
        { allowInsecureConnection: true, retryOptions: { retryDelayInMs: 5 } }).createTable();
    assert.deepEqual(counts(await state('many')), { matched: 1, fired: 1, active: false });
});

test('errors in the form of queues, tables and files', async (t) => {
    const { put, server, state } = await start(t);
    await put('all', { fault: { error: 'InternalError' }, when: { count: 3 } });
    const queues = await raw(t, server, 'GET', '/?comp=list', { service: 'queue' });
    assert.deepEqual([queues.status, queues.headers.get('x-ms-error-code')], [500, 'InternalError']);
    assert.match(String(queues.body), /<Code>InternalError<\/Code>/);
    const tables = await raw(t, server, 'GET', '/Tables', { service: 'table', headers: [['Accept', 'application/json;odata=minimalmetadata']] });
    assert.equal(tables.status, 500);
    assert.equal(JSON.parse(tables.body)['odata.error'].code, 'InternalError');
    const files = await raw(t, server, 'GET', '/?comp=list', { service: 'file' });
    assert.deepEqual([files.status, files.headers.get('x-ms-error-code')], [500, 'InternalError']);
    assert.equal((await raw(t, server, 'GET', '/?comp=list', { service: 'file' })).status, 200);
    assert.deepEqual(counts(await state('all')), { matched: 3, fired: 3, active: false });

    // Each SDK tries again.
    await put('all', { fault: { error: 'ServerBusy' }, when: { schedule: 'x.x.x.' } });
    await new QueueServiceClient(server.urlOf('queue'), new QueueCredential(account.name, account.key), patient).getQueueClient('qqq').create();
    await new TableClient(server.urlOf('table'), 'people', new AzureNamedKeyCredential(account.name, account.key),
        { allowInsecureConnection: true, retryOptions: { retryDelayInMs: 5 } }).createTable();
    await new ShareServiceClient(server.urlOf('file'), new FileCredential(account.name, account.key), patient).getShareClient('sss').create();
    assert.deepEqual(counts(await state('all')), { matched: 6, fired: 3, active: false });
});

const MIB = 1 << 20;

test('connections are cut around the bodies of requests: nothing is done, and the client sends again', async (t) => {
    const { blobs, put, state, server } = await start(t);
    const container = blobs().getContainerClient('cut');
    await container.create();
    const content = Buffer.alloc(3 * MIB, 'abc');
    for (const cut of ['beforeRequestBody', 'inRequestBody']) {
        await put('cut', { match: { operation: 'Put Blob' }, fault: { cut }, when: { count: 2 } });
        await assert.rejects(raw(t, server, 'PUT', `/cut/${cut}`, { body: 'short', headers: [['x-ms-blob-type', 'BlockBlob']] }));
        assert.equal(await container.getBlobClient(cut).exists(), false);
        await container.getBlockBlobClient(cut).upload(content, content.length);
        assert.deepEqual(counts(await state('cut')), { matched: 2, fired: 2, active: false });
        assert.ok(content.equals(await container.getBlobClient(cut).downloadToBuffer()));
    }
});

test('a connection that is cut before its answer: the operation is done', async (t) => {
    const { blobs, put, server } = await start(t);
    await put('cut', { match: { operation: 'Create Container' }, fault: { cut: 'beforeAnswer' }, when: { count: 1 } });
    await assert.rejects(raw(t, server, 'PUT', '/done?restype=container'));
    assert.equal(await blobs().getContainerClient('done').exists(), true);
});

test('downloads that are cut do not look complete', async (t) => {
    const { blobs, put, state, server } = await start(t);
    const container = blobs().getContainerClient('down');
    await container.create();
    const content = Buffer.alloc(4 * MIB);
    for (let i = 0; i < content.length; i++)
        content[i] = i * 7 + (i >> 8);
    await container.getBlockBlobClient('large').upload(content, content.length);
    await container.getBlockBlobClient('small').upload('0123456789', 10);
    for (const cut of ['beforeAnswerBody', 'inAnswerBody']) {
        await put('cut', { match: { operation: 'Get Blob', name: 'down/large' }, fault: { cut }, when: { count: 1 } });
        const cutOff = await container.getBlobClient('large').download();
        await assert.rejects(bytesOf(cutOff));
        assert.deepEqual(counts(await state('cut')), { matched: 1, fired: 1, active: false });
        assert.ok(content.equals(await bytesOf(await container.getBlobClient('large').download())));
        // Half of a small one goes out, or nothing; of an answer without body not even its head.
        await put('cut', { match: { name: 'down/small' }, fault: { cut }, when: { count: 2 } });
        const response = await fetch(`${server.url}/down/small${sas()}`);
        assert.deepEqual([response.status, response.headers.get('content-length')], [200, '10']);
        await assert.rejects(response.arrayBuffer());
        await assert.rejects(raw(t, server, 'HEAD', '/down/small'));
    }
    await put('cut', { match: { operation: 'Get Blob' }, fault: { cut: 'afterAnswer' }, when: { count: 1 } });
    const connection = await Connection.open(server.host, server.port);
    t.after(() => connection.close());
    const request = sign({ method: 'GET', target: `/${account.name}/down/small`, headers: [['Host', `${server.host}:${server.port}`]] });
    const whole = await connection.exchange(request);
    assert.deepEqual([whole.status, String(whole.body), whole.headers.get('connection')], [200, '0123456789', undefined]);
    await assert.rejects(connection.exchange(request));
});

/** A SAS of the container `down`, signed by the client's clock. */
function sas() {
    const now = Date.now();
    return `?${generateBlobSASQueryParameters({ containerName: 'down', permissions: 'r', startsOn: new Date(now - 60000),
        expiresOn: new Date(now + 600000) }, credential)}`;
}

test('sums that are wrong, bytes that come slowly, answers that come late', async (t) => {
    const { blobs, forward, put, state, server } = await start(t);
    const container = blobs().getContainerClient('slow');
    await container.create();
    await container.getBlockBlobClient('b').upload('0123456789', 10);
    const right = await raw(t, server, 'GET', '/slow/b');
    await put('md5', { match: { operation: 'Get Blob' }, fault: { wrongMd5: true }, when: { count: 1 } });
    const wrong = await raw(t, server, 'GET', '/slow/b');
    assert.equal(String(wrong.body), '0123456789');
    assert.equal(Buffer.from(wrong.headers.get('content-md5'), 'base64').length, 16);
    assert.notEqual(wrong.headers.get('content-md5'), right.headers.get('content-md5'));

    await put('slow', { match: { operation: 'Get Blob' }, fault: { bytesPerSecond: 40 }, when: { count: 1 } });
    const began = performance.now();
    assert.equal(String((await raw(t, server, 'GET', '/slow/b')).body), '0123456789');
    assert.ok(performance.now() - began >= 150, 'ten bytes at 40 a second');

    await put('late', { match: { operation: 'Get Blob', headers: { 'X-Ms-Client-Request-Id': 'late-*' } },
        fault: { delayMs: 600000 }, when: { count: 1 } });
    await raw(t, server, 'GET', '/slow/b', { headers: [['x-ms-client-request-id', 'soon-1']] });
    assert.deepEqual(counts(await state('late')), { matched: 0, fired: 0, active: true });
    const held = raw(t, server, 'GET', '/slow/b', { headers: [['x-ms-client-request-id', 'late-1']] });
    while ((await state('late')).fired === 0)
        await delay(5);
    assert.equal((await raw(t, server, 'GET', '/slow/b', { headers: [['x-ms-client-request-id', 'late-2']] })).status, 200);
    assert.equal(await Promise.race([held, delay(50, 'held')]), 'held');
    await forward(600); // the delay is by the server's clock
    assert.equal((await held).status, 200);
});

test('a share of requests by a seed, and schedules, are the same each time', async (t) => {
    const { put, server, state } = await start(t);
    const once = async (name, when) => {
        await put(name, { match: { service: 'queue', operation: 'List Queues' }, fault: { error: 'ServerBusy' }, when });
        const outcomes = [];
        for (let i = 0; i < 40; i++)
            outcomes.push((await raw(t, server, 'GET', '/?comp=list', { service: 'queue' })).status === 503 ? 'x' : '.');
        return outcomes.join('');
    };
    const first = await once('share', { share: 0.3, seed: 7, forMs: 600000 });
    assert.match(first, /x/);
    assert.match(first, /\./);
    assert.equal(await once('share', { share: 0.3, seed: 7, forMs: 600000 }), first);
    assert.notEqual(await once('share', { share: 0.3, seed: 8, forMs: 600000 }), first);
    assert.equal((await state('share')).matched, 40);
    assert.equal(await once('share', { skip: 3, schedule: 'x..x' }), `...x..x${'.'.repeat(33)}`);
    assert.equal((await state('share')).active, false);
    assert.equal(await once('share', { schedule: '.xx', repeat: true, count: 5 }), `.xx.xx.x${'.'.repeat(32)}`);
    // By time: it ends without a request.
    await once('share', { forMs: 1 });
    assert.equal((await state('share')).active, false);
    assert.equal(await once('share', { afterMs: 600000, count: 1 }), '.'.repeat(40));
    assert.deepEqual(counts(await state('share')), { matched: 0, fired: 0, active: true });
});

test('rules are listed, replaced, dropped; there are so many; the first that fires counts', async (t) => {
    const { ask, put, state, server } = await start(t);
    const rule = (error) => ({ match: { service: 'queue' }, fault: { error }, when: { count: 1 } });
    await put('a', rule('InternalError'));
    await put('b', rule('ServerBusy'));
    const statuses = [];
    for (let i = 0; i < 3; i++)
        statuses.push((await raw(t, server, 'GET', '/?comp=list', { service: 'queue' })).status);
    assert.deepEqual(statuses, [500, 503, 200]);
    const { json } = await ask('GET', '/-/faults');
    assert.deepEqual(json.faults.map(({ name, fired, active, rule }) => [name, fired, active, rule.fault.error]),
        [['a', 1, false, 'InternalError'], ['b', 1, false, 'ServerBusy']]);
    assert.deepEqual((await ask('DELETE', '/-/faults/a')).json.faults.map(({ name }) => name), ['b']);
    assert.equal((await ask('DELETE', '/-/faults/a')).status, 404);
    assert.equal((await ask('GET', '/-/faults/a')).status, 404);
    for (let i = 0; i < 64; i++) // the last takes the place of b, which has ended
        await put(`r${i}`, rule('ServerBusy'));
    assert.equal((await ask('PUT', '/-/faults/more', rule('ServerBusy'))).status, 409);
    assert.equal((await state('r63')).active, true);
    assert.deepEqual((await ask('DELETE', '/-/faults')).json, { faults: [] });
    assert.equal((await raw(t, server, 'GET', '/?comp=list', { service: 'queue' })).status, 200);
});

test('rules that mean nothing are refused, in words', async (t) => {
    const { ask } = await start(t);
    const fault = { error: 'ServerBusy' }, when = { count: 1 };
    const refusals = [
        ['', /JSON/], ['[]', /JSON/], ['{"fault":{"error":"ServerBusy"},"when":{"count":1}', /JSON/],
        ['{"fault":{"error":"ServerBusy"},"when":{"count":1,"count":2}}', /when has twice the member "count"/],
        [{ fault, when, more: 1 }, /no member "more"/],
        [{ fault, when, match: { operations: 'Put Blob' } }, /match has no member "operations"/],
        [{ fault, when, match: { operation: 'Put Blobs' } }, /operation/],
        [{ fault, when, match: { operation: 'Put Blob', service: 'queue' } }, /operation/],
        [{ fault, when, match: { service: 'blobs' } }, /blob, queue, table, file or dfs/],
        [{ fault, when, match: { name: 'x'.repeat(1025) } }, /1 to 1024/],
        [{ fault, when, match: { headers: {} } }, /headers/],
        [{ fault, when, match: { headers: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`h${i}`, '*'])) } }, /headers/],
        [{ fault, when, match: 1 }, /object/],
        [{ when }, /fault requires/], [{ fault: {}, when }, /fault requires/],
        [{ fault: { error: 'NoSuchError' }, when }, /error must be/], [{ fault: { error: 'ConditionNotMetOnRead' }, when }, /error must be/],
        [{ fault: { error: 'ServerBusy', status: 302 }, when }, /status must be/],
        [{ fault: { status: 503 }, when }, /fault requires|require error/],
        [{ fault: { delayMs: 1, operationIsDone: true }, when }, /require error/],
        [{ fault: { delayMs: 0 }, when }, /delayMs must be/], [{ fault: { delayMs: 600001 }, when }, /delayMs must be/],
        [{ fault: { delayMs: 1.5 }, when }, /delayMs must be/], [{ fault: { delayMs: '1' }, when }, /delayMs must be/],
        [{ fault: { cut: 'somewhere' }, when }, /cut must be/], [{ fault: { ...fault, cut: 'beforeAnswer' }, when }, /cannot be combined/],
        [{ fault: { cut: 'inRequestBody', bytesPerSecond: 1 }, when }, /cannot be combined/], [{ fault: { wrongMd5: false }, when }, /true/],
        [{ fault }, /must end/], [{ fault, when: { share: 0.5 } }, /must end/],
        [{ fault, when: { schedule: 'x.', repeat: true } }, /must end/], [{ fault, when: { schedule: '..' } }, /an x/],
        [{ fault, when: { schedule: 'abc' } }, /letters/], [{ fault, when: { count: 1, repeat: true } }, /repeat requires/],
        [{ fault, when: { count: 1, share: 0.5, schedule: 'x' } }, /both a share and a schedule/], [{ fault, when: { count: 1, seed: 1 } }, /seed/],
        [{ fault, when: { count: 1, share: 0 } }, /share must be/], [{ fault, when: { count: 1, share: 1.5 } }, /share must be/],
        [{ fault, when: { forMs: 86400001 } }, /forMs must be/],
    ];
    for (const [rule, why] of refusals) {
        const answer = await ask('PUT', '/-/faults/wrong', rule);
        assert.equal(answer.status, 400, JSON.stringify(rule));
        assert.match(answer.json.error, why);
    }
    assert.equal((await ask('PUT', '/-/faults/wrong', 'x'.repeat(40000))).status, 413);
    assert.equal((await ask('PUT', `/-/faults/${'x'.repeat(65)}`, { fault, when })).status, 400);
    assert.equal((await ask('PUT', '/-/faults/a%20b', { fault, when })).status, 400);
    assert.equal((await ask('PUT', '/-/faults/a?b=c', { fault, when })).status, 400);
    assert.equal((await ask('PUT', '/-/faults', { fault, when })).status, 405);
    assert.equal((await ask('POST', '/-/faults/a', { fault, when })).status, 405);
    for (const time of ['{}', '{"forwardSeconds":0}', '{"forwardSeconds":-1}', '{"forwardSeconds":"1"}', '{"seconds":1}', '{"forwardSeconds":1,"forwardSeconds":2}', '{"forwardSeconds":315360001}'])
        assert.equal((await ask('PUT', '/-/time', time)).status, 400, time);
    assert.equal((await ask('DELETE', '/-/time')).status, 405);
    assert.deepEqual((await ask('GET', '/-/faults')).json, { faults: [] });
});

test('the clock goes forward: leases, messages, archived blobs; clients sign by their own', async (t) => {
    const { ask, blobs, forward, server } = await start(t);
    const service = blobs(once);
    const container = service.getContainerClient('down');
    await container.create();
    const blob = container.getBlockBlobClient('b');
    await blob.upload('x', 1);
    await blob.getBlobLeaseClient().acquireLease(60);
    await refused(blob.upload('y', 1), 412, 'LeaseIdMissing');
    const queue = new QueueServiceClient(server.urlOf('queue'), new QueueCredential(account.name, account.key), once).getQueueClient('qqq');
    await queue.create();
    await queue.sendMessage('m', { visibilityTimeout: 3600 });
    assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 0);

    const before = Date.parse((await ask('GET', '/-/time')).json.now);
    const { now, movedSeconds } = await forward(3601);
    assert.equal(movedSeconds, 3601);
    assert.ok(Date.parse(now) - before >= 3601000);
    const { lastModified } = await blob.upload('y', 1);
    assert.ok(lastModified.getTime() >= before + 3600000);
    assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 1);
    await blob.setAccessTier('Archive');
    await blob.setAccessTier('Hot');
    assert.equal((await blob.getProperties()).archiveStatus, 'rehydrate-pending-to-hot');
    await forward(86400);
    assert.equal((await blob.getProperties()).archiveStatus, undefined);
    await forward(7 * 86400); // the message has expired
    assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
    // Signed by the client's clock for ten minutes; the server is days ahead.
    const response = await fetch(`${server.url}/down/b${sas()}`);
    assert.deepEqual([response.status, await response.text()], [200, 'y']);
    assert.equal((await ask('PUT', '/-/time', { forwardSeconds: 315360000 })).status, 409);
    assert.equal((await forward(300000000)).movedSeconds, 300000000 + 3601 + 8 * 86400);
    await service.getProperties();
});

test('nothing of it without --testing, which takes the management port; nor without its token', async (t) => {
    const { ask } = await start(t, { args: [] });
    for (const [method, path] of [['GET', '/-/faults'], ['DELETE', '/-/faults'], ['PUT', '/-/faults/a'], ['PUT', '/-/time']])
        assert.equal((await ask(method, path, method === 'PUT' ? '{"forwardSeconds":1}' : undefined)).status, 404);
    const alone = await run(['--testing', '--inMemoryPersistence', '--blobPort', '0', '--managementPort', '0']);
    assert.equal(alone.code, 2);
    assert.match(alone.errors, /--testing require --managementPort/);
});

test('the examples of docs/fault-injection.md run', async (t) => {
    const { management, server } = await start(t);
    const text = await readFile(path.join(HERE, '../../docs/fault-injection.md'), 'utf8');
    const env = { ...process.env, LAGRA_MANAGEMENT: management, AZURE_STORAGE_CONNECTION_STRING: server.connectionString };
    for (const [language, program, args] of [['js', process.execPath, ['--input-type=module']], ['python', 'python3', ['-']]]) {
        const [, code] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(text);
        const { status, stderr } = spawnSync(program, args, { input: code, env, cwd: HERE, encoding: 'utf8' });
        assert.equal(status, 0, stderr);
    }
});

/** How an example is compiled and run: its file, the commands, the library that does not come with them, the packages of Debian. */
const COMPILED = {
    java: { file: 'Faults.java', packages: 'default-jdk-headless', commands: [['javac', 'Faults.java'], ['java', '-cp', '.', 'Faults']] },
    go: { file: 'faults.go', packages: 'golang-go', commands: [['go', 'vet', 'faults.go'], ['go', 'run', 'faults.go']] },
    csharp: { file: 'Faults.cs', packages: 'mono-mcs, mono-runtime and libmono-system-net-http4.0-cil', library: '/usr/lib/mono/4.5/System.Net.Http.dll',
        commands: [['mcs', '-langversion:latest', '-r:System.Net.Http', 'Faults.cs'], ['mono', 'Faults.exe']] },
};

for (const [language, { file, packages, library, commands }] of Object.entries(COMPILED)) {
    test(`the example of docs/fault-injection.md in ${language} is compiled and runs`, async (t) => {
        const isThere = ([program]) => process.env.PATH.split(':').some((folder) => existsSync(path.join(folder, program)));
        if (!commands.every(isThere) || (library && !existsSync(library)))
            return t.skip(`${packages} of Debian would be needed`);
        const { management } = await start(t);
        const [, code] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(await readFile(path.join(HERE, '../../docs/fault-injection.md'), 'utf8'));
        const folder = await mkdtemp(path.join(tmpdir(), 'lagra-example-'));
        t.after(() => rm(folder, { recursive: true, force: true }));
        await writeFile(path.join(folder, file), code);
        const env = { ...process.env, LAGRA_MANAGEMENT: management, GOCACHE: path.join(folder, 'cache'), GOFLAGS: '-mod=mod' };
        let said;
        for (const [program, ...args] of commands) {
            said = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8' });
            assert.equal(said.status, 0, said.stderr + said.stdout);
        }
        assert.match(said.stdout, /"matched":0,"fired":0,"active":true/);
        assert.deepEqual(await (await fetch(`${management}/-/faults`)).json(), { faults: [] });
        assert.equal((await (await fetch(`${management}/-/time`)).json()).movedSeconds, 3600);
    });
}
