// Forwarding between the front ends of a cluster: whatever is asked of one that stands by is done by the owner of the cell,
// once, and answered as if the owner had been asked. docs/cells.md; decision: 947 to 954
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import tls from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as ShareCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { Connection } from '../lib/http.mjs';
import { bootNs, pskIdentity } from '../lib/peer_request.mjs';
import { run } from '../lib/program.mjs';
import { keepsMemory } from '../lib/sanitizer.mjs';
import { freePorts } from '../lib/server.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';
import { untilStopped } from '../lib/stopped.mjs';

const MIB = 2 ** 20;
const LEASE_MS = 3000;
const BLOCK = [['x-ms-blob-type', 'BlockBlob']];

async function newCluster(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-forward-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    const { code, errors } = await run(['cluster', 'init', cluster]);
    assert.equal(code, 0, errors);
    return { folder, cluster };
}

/** An owner and a standby, each with an access log; and a container. */
async function newPair(t, { ownerArgs = [], standbyArgs = [] } = {}) {
    const { folder, cluster } = await newCluster(t);
    const start = async (name, args) => {
        const member = await Member.start(cluster, { args: ['--accessLog', join(folder, `${name}.log`), ...args] });
        t.after(() => member.end('SIGKILL'));
        member.lines = () => readFileSync(join(folder, `${name}.log`), 'utf8').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
        return member;
    };
    const owner = await start('owner', ownerArgs);
    await owner.until(200);
    const standby = await start('standby', standbyArgs);
    await standby.until(200, '/-/ready');
    assert.equal((await owner.ask('PUT', '/forwarded?restype=container')).status, 201);
    return { folder, cluster, owner, standby, start };
}

const memoryOf = (member, line) => Number(new RegExp(`${line}:\\s+(\\d+)`).exec(readFileSync(`/proc/${member.pid}/status`, 'utf8'))[1]) / 1024;

/** A signed request on a connection of its own, of which nothing was sent yet. */
async function open(member, method, target, { headers = [], service = 'blob', from } = {}) {
    const connection = await Connection.open(member.host, member.ports[service], false, { from });
    const request = sign({ method, target: `/${member.account}${target}`, headers: [['Host', `${member.host}:${member.ports[service]}`], ...headers] }, { service });
    return { connection, request };
}

/** The one of these that owns the cell, once one does. */
async function nextOwner(members) {
    for (let i = 0; i < 3000; i++, await delay(20))
        for (const member of members)
            if (await member.health() === 200)
                return member;
    throw new Error('no front end takes the cell over');
}

/** Waits until a line of a log, which a thread writes, is there. */
async function lineOf(member, isIt) {
    for (let i = 0; i < 200; i++, await delay(20)) {
        const found = member.lines().find(isIt);
        if (found)
            return found;
    }
    throw new Error('no such line in the access log');
}

test('the SDKs of all services work through a standby', async (t) => {
    const { standby } = await newPair(t);
    const { account, key } = DEVELOPMENT;
    const urlOf = (service, suffix = '') => `http://127.0.0.1:${standby.ports[service]}/${account}${suffix}`;
    const once = () => ({ retryOptions: { maxTries: 1 } });

    const container = new BlobServiceClient(urlOf('blob'), new StorageSharedKeyCredential(account, key), once()).getContainerClient('sdk');
    await container.create();
    const blob = container.getBlockBlobClient('a'), content = randomBytes(9 * MIB);
    await blob.uploadData(content, { blockSize: MIB, maxSingleShotSize: MIB });
    assert.ok((await blob.downloadToBuffer()).equals(content));
    const names = [];
    for await (const { name } of container.listBlobsFlat())
        names.push(name);
    assert.deepEqual(names, ['a']);

    const queue = new QueueServiceClient(urlOf('queue'), new QueueCredential(account, key), once()).getQueueClient('sdk');
    await queue.create();
    await queue.sendMessage('one');
    const { receivedMessageItems: [message] } = await queue.receiveMessages();
    assert.equal(message.messageText, 'one');
    await queue.deleteMessage(message.messageId, message.popReceipt);

    const table = new TableClient(urlOf('table'), 'sdk', new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } });
    await table.createTable();
    await table.submitTransaction([['create', { partitionKey: 'p', rowKey: '1', n: 1 }], ['create', { partitionKey: 'p', rowKey: '2', n: 2 }]]);
    assert.equal((await table.getEntity('p', '2')).n, 2);

    const share = new ShareServiceClient(urlOf('file'), new ShareCredential(account, key), once()).getShareClient('sdk');
    await share.create();
    const file = share.getDirectoryClient('').getFileClient('f');
    await file.uploadData(content.subarray(0, 5 * MIB));
    assert.ok((await file.downloadToBuffer()).equals(content.subarray(0, 5 * MIB)));

    const secondary = new BlobServiceClient(urlOf('blob', '-secondary'), new StorageSharedKeyCredential(account, key), once()).getContainerClient('sdk');
    assert.ok((await secondary.getBlobClient('a').downloadToBuffer()).equals(content));
    await assert.rejects(secondary.getBlockBlobClient('b').upload('x', 1), { statusCode: 403 });
});

test('every kind of request and response is the same as from the owner', async (t) => {
    const { cluster, owner, standby } = await newPair(t);
    const { headers } = await owner.ask('PUT', '/forwarded/b', { headers: BLOCK, body: Buffer.from('0123456789') });
    const etag = headers.get('etag');
    const seen = (answer) => ({
        status: answer.status, body: answer.body.toString().replace(/[0-9a-f]{8}-[0-9a-f-]{27}|20\d\d-[^<"]*Z|127\.0\.0\.1:\d+/g, '*'),
        names: answer.headers.list.map(([name]) => name), length: answer.headers.get('content-length'), code: answer.headers.get('x-ms-error-code'),
    });

    for (const [method, target, options] of [
        ['GET', '/forwarded/b'], ['HEAD', '/forwarded/b'], ['GET', '/forwarded/b', { headers: [['x-ms-range', 'bytes=2-4']] }],
        ['GET', '/forwarded/b', { headers: [['If-None-Match', etag]] }], ['HEAD', '/forwarded/b', { headers: [['If-None-Match', etag]] }],
        ['GET', '/forwarded/none'], ['HEAD', '/forwarded/none'], ['GET', '/forwarded?restype=container&comp=list'],
        ['PUT', '/forwarded/b?comp=metadata', { headers: [['x-ms-meta-A', 'b']] }], ['POST', '/forwarded/b'], ['PUT', '/forwarded/b?comp=nonsense', { body: Buffer.from('x') }],
        ['PUT', '/forwarded/b', { headers: [...BLOCK, ['Content-MD5', 'AAAAAAAAAAAAAAAAAAAAAA==']], body: Buffer.from('x') }],
        ['GET', '/forwarded/b', { raw: true }], ['GET', '/-/ready', { raw: true }], ['GET', '/', { raw: true, service: 'table' }], ['GET', '/Tables', { service: 'table' }],
    ])
        assert.deepEqual(seen(await standby.ask(method, target, options)), seen(await owner.ask(method, target, options)), `${method} ${target}`);

    /* A request after the other on one connection, all sent at once. */
    const { connection, request } = await open(standby, 'GET', '/forwarded/b');
    await connection.send(Buffer.concat(Array.from({ length: 5 }, () => Buffer.from(`GET ${request.target} HTTP/1.1\r\n${request.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`))));
    for (let i = 0; i < 5; i++)
        assert.equal((await connection.rest(await connection.response())).toString(), '0123456789');
    connection.close();

    /* Connection: close is about the client's connection alone. */
    const closing = await standby.ask('GET', '/forwarded/b', { headers: [['Connection', 'close']] });
    assert.equal(closing.headers.get('connection'), 'close');
    const { via } = await lineOf(owner, ({ path, client }) => path === '/devstoreaccount1/forwarded/b' && client.startsWith('127.0.0.1'));
    assert.match(via ?? '127.0.0.1:1', /^127\.0\.0\.1:\d+$/);
    const line = await lineOf(standby, ({ operation, path }) => operation === 'forward' && path === '/devstoreaccount1/forwarded/b');
    assert.equal(line.to, `127.0.0.1:${owner.ports.cluster}`);
    const [cell] = JSON.parse((await run(['cluster', 'status', cluster, '--json'])).output).cells;
    assert.equal(cell.forward, line.to);
});

test('the logs of both front ends name a request by the id in its response, and tell where and how long it waited', async (t) => {
    const { owner, standby } = await newPair(t, { standbyArgs: ['--slow', '250ms'] });
    const began = new Date().toISOString();
    const { connection, request } = await open(standby, 'PUT', '/forwarded/slow', { headers: [...BLOCK, ['Content-Length', '2000']] });
    await connection.request(request);
    await connection.send(Buffer.alloc(1000));
    await delay(400);
    const middle = new Date().toISOString();
    await connection.send(Buffer.alloc(1000));
    const answer = await connection.response();
    connection.close();
    assert.equal(answer.status, 201);
    const id = answer.headers.get('x-ms-request-id');
    const line = await lineOf(standby, (one) => one.request === id);
    assert.deepEqual([line.operation, line.result, line.cell, line.status, line.received], ['forward', 'responded', 1, 201, 2000]);
    assert.ok(line.time.slice(0, 23) >= began.slice(0, 23) && line.time < middle, `${began} ${line.time} ${middle}`); // its start
    assert.ok(line.ms >= 400 && line.waited >= 0 && line.waited < line.ms - 300, JSON.stringify(line));
    assert.equal((await lineOf(owner, (one) => one.request === id)).operation, 'Put Blob');
    for (let i = 0; i < 200 && !/slow: .*\n/.test(standby.stderr); i++)
        await delay(20);
    assert.match(standby.stderr, new RegExp('slow: \\d+\\.\\d ms for a forwarded request of the blob service, PUT /devstoreaccount1/forwarded/slow, 201 responded, ' +
        `from 127\\.0\\.0\\.1:\\d+ to cell 1 at 127\\.0\\.0\\.1:${owner.ports.cluster}: sent after \\d+\\.\\d ms, request ${id}\n`));
});

test('bodies in chunks, announced ones, and refusals before the body', async (t) => {
    const { standby } = await newPair(t);
    const body = randomBytes(300_000);

    /* A body in chunks of odd sizes, some of a byte: no operation takes one, and it is refused as by the owner. */
    {
        const { connection, request } = await open(standby, 'PUT', '/forwarded/chunked', { headers: [...BLOCK, ['Transfer-Encoding', 'chunked']] });
        await connection.request(request);
        for (let at = 0, size = 1; at < 30_000; at += size, size = size * 3 % 997 + 1) {
            const part = body.subarray(at, at + size);
            await connection.send(Buffer.concat([Buffer.from(`${part.length.toString(16)};x=y\r\n`), part, Buffer.from('\r\n')]));
        }
        await connection.send(Buffer.from('0\r\nTrailer: dropped\r\n\r\n'));
        assert.equal((await connection.response()).status, 411);
        connection.close();
    }
    /* One that is empty is none. */
    for (const [name, rest, status] of [['empty', '0\r\n\r\n', 202], ['refused', '1\r\nx\r\n0\r\n\r\n', 400]]) {
        assert.equal((await standby.ask('PUT', `/forwarded/${name}`, { headers: BLOCK })).status, 201);
        const { connection, request } = await open(standby, 'DELETE', `/forwarded/${name}`, { headers: [['Transfer-Encoding', 'chunked']] });
        await connection.request(request, Buffer.from(rest));
        assert.equal((await connection.response()).status, status);
        connection.close();
    }
    /* Expect: 100-continue. */
    {
        const { connection, request } = await open(standby, 'PUT', '/forwarded/expected', { headers: [...BLOCK, ['Content-Length', `${body.length}`], ['Expect', '100-continue']] });
        await connection.request(request);
        assert.equal((await connection.response()).status, 100);
        await connection.send(body);
        assert.equal((await connection.response()).status, 201);
        connection.close();
        assert.ok((await standby.ask('GET', '/forwarded/expected')).body.equals(body));
    }
    /* Refused before the body is sent, or while it is. */
    for (const expects of [true, false]) {
        const { connection, request } = await open(standby, 'PUT', '/nowhere/b', { headers: [...BLOCK, ['Content-Length', `${100 * MIB}`], ...expects ? [['Expect', '100-continue']] : []] });
        await connection.request(request);
        if (!expects)
            await connection.send(body.subarray(0, 1000));
        const { status, headers } = await connection.response();
        assert.deepEqual([status, headers.get('x-ms-error-code')], [404, 'ContainerNotFound']);
        connection.close();
    }
    assert.equal((await standby.ask('GET', '/forwarded/expected')).status, 200);
});

test('100 MiB up and down, a slow reader and a slow writer: nothing of a body is held', async (t) => {
    const { owner, standby } = await newPair(t);
    const content = randomBytes(MIB), size = 100 * MIB;
    const before = [owner, standby].map((member) => memoryOf(member, 'VmRSS'));

    {
        const { connection, request } = await open(standby, 'PUT', '/forwarded/large', { headers: [...BLOCK, ['Content-Length', `${size}`]] });
        await connection.request(request);
        for (let sent = 0; sent < size; sent += MIB) {
            await connection.send(content);
            if (sent % (20 * MIB) === 0)
                await delay(150); // a slow writer
        }
        assert.equal((await connection.response()).status, 201);
        connection.close();
    }
    const readers = await Promise.all(Array.from({ length: 8 }, async () => {
        const { connection, request } = await open(standby, 'GET', '/forwarded/large');
        await connection.request(request);
        const head = await connection.response();
        assert.equal(head.status, 200);
        return { connection, head };
    }));
    await delay(1000); // all of them are slow
    const peaks = [owner, standby].map((member) => memoryOf(member, 'VmRSS'));
    for (let at = 0; at < size; at += MIB)
        assert.ok((await readers[0].connection.body(readers[0].head, MIB)).equals(content), `byte ${at}`);
    readers.forEach(({ connection }) => connection.close());
    peaks.push(memoryOf(standby, 'VmHWM'));
    t.diagnostic(`memory before ${before}, with eight slow readers ${peaks} MiB`);
    if (!keepsMemory(process.env.LAGRA_BINARY)) {
        assert.ok(peaks[1] - before[1] < 24, 'the standby holds bodies');
        assert.ok(peaks[2] - before[1] < 32, 'the standby has held bodies');
    }
    assert.equal((await standby.ask('GET', '/forwarded?restype=container&comp=list')).status, 200);
});

test('clients that go away in their request or in the response leave nothing behind', async (t) => {
    const { standby } = await newPair(t);
    const body = randomBytes(4 * MIB);
    assert.equal((await standby.ask('PUT', '/forwarded/b', { headers: BLOCK, body })).status, 201);
    for (let i = 0; i < 30; i++) {
        const upload = await open(standby, 'PUT', `/forwarded/half${i}`, { headers: [...BLOCK, ['Content-Length', `${body.length}`]] });
        await upload.connection.request(upload.request);
        await upload.connection.send(body.subarray(0, i * 9000));
        upload.connection.close();
        const download = await open(standby, 'GET', '/forwarded/b');
        await download.connection.request(download.request);
        await download.connection.body(await download.connection.response(), i * 9000);
        download.connection.close();
    }
    assert.ok((await standby.ask('GET', '/forwarded/b')).body.equals(body));
    const list = await standby.ask('GET', '/forwarded?restype=container&comp=list');
    assert.doesNotMatch(list.body.toString(), /half/);
});

/** Appends unique lines by requests that are not repeated; what each came to. */
async function append(members, isOver, acknowledged, unknown) {
    for (let i = 0; !isOver(); i++) {
        const member = members[i % members.length], line = `${randomBytes(6).toString('hex')}\n`;
        const answer = await member.ask('PUT', '/forwarded/log?comp=appendblock', { body: Buffer.from(line) }).catch(() => null);
        if (answer?.status === 201)
            acknowledged.push(line);
        else if (!answer)
            unknown.push(line);
        else
            assert.ok([503, 421].includes(answer.status) && answer.status !== 421, `${answer.status}`); // not executed
        if (answer?.status !== 201)
            await delay(10);
    }
}

test('the owner is killed under requests that a standby forwards: none is lost or done twice', async (t) => {
    const { owner, standby, start } = await newPair(t);
    const third = await start('third', []);
    await third.until(200, '/-/ready');
    assert.equal((await standby.ask('PUT', '/forwarded/log', { headers: [['x-ms-blob-type', 'AppendBlob']] })).status, 201);
    const acknowledged = [], unknown = [];
    let ends = false;
    const writers = Array.from({ length: 6 }, () => append([standby, third, owner], () => ends, acknowledged, unknown));
    let old = owner;
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGTERM']) {
        await delay(300 + Math.random() * 300);
        await old.end(signal);
        const others = [owner, standby, third].filter((member) => member !== old);
        const next = await nextOwner(others);
        await Promise.all(others.map((member) => member.until(200, '/-/ready')));
        old.restart();
        old = next;
    }
    await delay(300);
    ends = true;
    await Promise.all(writers);
    await standby.until(200, '/-/ready');
    const lines = (await standby.ask('GET', '/forwarded/log')).body.toString().match(/.*\n/g);
    const counts = new Map();
    lines.forEach((line) => counts.set(line, (counts.get(line) ?? 0) + 1));
    t.diagnostic(`${acknowledged.length} acknowledged, ${unknown.length} unknown`);
    assert.ok(acknowledged.length > 100);
    assert.deepEqual(acknowledged.filter((line) => !counts.has(line)), [], 'lost');
    assert.deepEqual([...counts].filter(([, count]) => count > 1), [], 'done twice');
    const known = new Set([...acknowledged, ...unknown]);
    assert.deepEqual(lines.filter((line) => !known.has(line)), [], 'done, and answered 503');
});

test('an owner that is killed at drawn bytes of bodies: no short body looks whole, no half upload is there', async (t) => {
    const { owner, standby } = await newPair(t);
    const content = randomBytes(8 * MIB);
    const large = Buffer.concat(Array(5).fill(content)); // more than the sockets hold
    assert.equal((await standby.ask('PUT', '/forwarded/b', { headers: BLOCK, body: large })).status, 201);
    const drawn = Array.from({ length: 4 }, () => Math.floor(Math.random() * 6 * MIB));
    const outcomes = await Promise.all([...drawn.map(async (bytes, i) => {
        const { connection, request } = await open(standby, 'PUT', `/forwarded/up${i}`, { headers: [...BLOCK, ['Content-Length', `${content.length}`]] });
        await connection.request(request);
        await connection.send(content.subarray(0, bytes));
        return async () => {
            await connection.send(content.subarray(bytes)).catch(() => {});
            return connection.response().then(({ status }) => status, () => 'closed');
        };
    }), ...drawn.map(async (bytes) => {
        const { connection, request } = await open(standby, 'GET', '/forwarded/b');
        await connection.request(request);
        const head = await connection.response();
        await connection.body(head, bytes % MIB);
        return () => connection.rest(head).then((body) => (body.equals(large.subarray(bytes % MIB)) ? 'whole' : 'WRONG'), () => 'closed');
    })]);
    await owner.end('SIGKILL');
    const found = await Promise.all(outcomes.map((outcome) => outcome()));
    t.diagnostic(`${found}`);
    found.slice(0, 4).forEach((outcome) => assert.ok(['closed', 503].includes(outcome), `${outcome}`));
    found.slice(4).forEach((outcome) => assert.ok(['closed', 'whole'].includes(outcome), outcome));
    await standby.until(200);
    for (let i = 0; i < 4; i++)
        assert.equal((await standby.ask('GET', `/forwarded/up${i}`)).status, 404);
    assert.ok((await standby.ask('GET', '/forwarded/b')).body.equals(large));
});

test('without an owner a request waits for one, for three seconds; a health check does not', async (t) => {
    const { owner, standby } = await newPair(t);
    await standby.ask('GET', '/forwarded/b');
    owner.signal('SIGSTOP');
    await untilStopped(owner.pid);
    /* What it has received already is cut when its lease has ended. */
    const cut = performance.now();
    assert.equal(await Promise.race([standby.ask('GET', '/forwarded/b').then(({ status }) => status, () => 'closed'), delay(LEASE_MS + 2000, 'late')]), 'closed');
    assert.ok(performance.now() - cut > 1000);
    const began = performance.now();
    const ready = await standby.ask('GET', '/-/ready', { raw: true });
    assert.equal(ready.status, 503);
    assert.ok(performance.now() - began < 1000);
    const answer = await standby.ask('GET', '/forwarded/b');
    assert.deepEqual([answer.status, answer.headers.get('x-ms-error-code'), answer.headers.get('retry-after')], [503, 'ServerBusy', '3']);
    const refused = await lineOf(standby, ({ request }) => request === answer.headers.get('x-ms-request-id'));
    assert.deepEqual([refused.operation, refused.result, refused.cell, refused.status], ['forward', 'busy', 1, 503]);
    assert.ok(performance.now() - began > 2500 && performance.now() - began < 6000);
    const table = await standby.ask('GET', '/Tables', { service: 'table' });
    assert.match(table.body.toString(), /^{"odata.error":{"code":"ServerBusy"/);
    owner.signal('SIGCONT');
    await standby.until(200, '/-/ready');
    assert.equal((await standby.ask('GET', '/forwarded/b')).status, 404);
});

test('SIGTERM of the owner: requests wait for the next one, and none fails', async (t) => {
    const { owner, standby, start } = await newPair(t);
    const third = await start('third', []);
    await third.until(200, '/-/ready');
    let ends = false, done = 0;
    const failed = [];
    const clients = Array.from({ length: 4 }, async (_, i) => {
        while (!ends) {
            const answer = await [standby, third][i % 2].ask('PUT', `/forwarded/h${i}`, { headers: BLOCK }).catch((error) => ({ status: error.message }));
            if (answer.status === 201)
                done++;
            else
                failed.push(answer.status);
        }
    });
    await delay(300);
    assert.deepEqual(await owner.end(), { code: 0, signal: null });
    await nextOwner([standby, third]);
    await delay(500);
    ends = true;
    await Promise.all(clients);
    t.diagnostic(`${done} done, failed: ${failed}`);
    assert.ok(done > 50);
    assert.deepEqual(failed, []);
});

/** A client that keeps its connection to one of the front ends that do not stop. */
class KeptClient {
    #connection = null;
    #member = null;

    constructor(pick) {
        this.pick = pick;
    }

    /** The status of a request on the connection that is there; what went wrong without one. */
    async ask(method, target, headers = []) {
        if (!this.#connection) {
            this.#member = this.pick();
            this.#connection = await Connection.open(this.#member.host, this.#member.ports.blob);
        }
        const { account, host, ports } = this.#member;
        const request = sign({ method, target: `/${account}${target}`, headers: [['Host', `${host}:${ports.blob}`], ['Content-Length', '0'], ...headers] }, { service: 'blob' });
        const answer = await this.#connection.exchange(request).catch((error) => ({ status: error.message }));
        if (typeof answer.status !== 'number' || answer.headers.get('connection') === 'close')
            this.leave();
        return { status: answer.status, member: this.#member };
    }

    leave() {
        this.#connection?.close();
        this.#connection = null;
    }
}

test('handovers under clients with kept connections: none of a standby loses its connection', async (t) => {
    const { owner, standby, start } = await newPair(t);
    const members = [owner, standby, await start('third', [])];
    await members[2].until(200, '/-/ready');
    let stopping = null, old = owner, ends = false, done = 0;
    const failed = [];
    const clients = Array.from({ length: 24 }, async (_, i) => {
        const client = new KeptClient(() => members.filter((member) => member !== stopping && member !== old)[i % 2]);
        for (let n = 0; !ends; n++) {
            const { status, member } = await client.ask(...n % 2 ? ['GET', `/forwarded/k${i}`] : ['PUT', `/forwarded/k${i}`, BLOCK]);
            if (status === 200 || status === 201)
                done++;
            else if (member !== stopping)
                failed.push(status);
            if (i % 3 === 0)
                await delay(Math.random() * 20); // its links are idle in between
            if (member === old)
                client.leave(); // it has taken the cell over
        }
        client.leave();
    });
    const stops = [];
    for (let i = 0; i < 8; i++) {
        await delay(200 + Math.random() * 200);
        stopping = old;
        const began = performance.now();
        assert.deepEqual(await stopping.end(), { code: 0, signal: null });
        stops.push(Math.round(performance.now() - began));
        const next = await nextOwner(members.filter((member) => member !== stopping));
        stopping.restart();
        await stopping.until(200, '/-/ready');
        old = next;
        stopping = null;
    }
    ends = true;
    await Promise.all(clients);
    t.diagnostic(`${done} done, stops took ${stops} ms, failed: ${failed}`);
    assert.ok(done > 500);
    assert.deepEqual(failed, []);
});

test('an owner that stops finishes what it has begun, and refuses what comes later by 421', async (t) => {
    const { cluster, owner, standby } = await newPair(t);
    const body = randomBytes(100_000);
    const upload = await open(standby, 'PUT', '/forwarded/half', { headers: [...BLOCK, ['Content-Length', `${body.length}`]] });
    await upload.connection.request(upload.request);
    await upload.connection.send(body.subarray(0, 50_000));
    const link = await openInternal(owner, idOf(cluster), pskOf(cluster));
    let received = '';
    link.on('data', (bytes) => {
        received += bytes.toString('latin1');
    });
    const ask = async () => {
        received = '';
        link.write(Buffer.concat([envelope(), signedHead(owner, '/forwarded/none')]));
        for (let i = 0; i < 100 && !received.endsWith('\r\n\r\n') && !link.destroyed; i++)
            await delay(5);
        return received;
    };
    link.on('error', () => {});
    assert.match(await ask(), /^HTTP\/1\.1 404 /);
    const ended = owner.end();
    let answer = await ask();
    for (let i = 0; i < 100 && /^HTTP\/1\.1 404 /.test(answer); i++)
        answer = await ask();
    assert.match(answer, /^HTTP\/1\.1 421 [^]*\r\nLagra-Owner: leaves\r\n/);
    await upload.connection.send(body.subarray(50_000));
    assert.equal((await upload.connection.response()).status, 201);
    upload.connection.close();
    link.destroy();
    assert.deepEqual(await ended, { code: 0, signal: null });
    await standby.until(200);
    assert.ok((await standby.ask('GET', '/forwarded/half')).body.equals(body));
});

test('an owner without a lease sends nothing to other front ends either', async (t) => {
    const { owner, standby } = await newPair(t);
    assert.equal((await standby.ask('PUT', '/forwarded/b', { headers: BLOCK, body: Buffer.from('b') })).status, 201);
    await owner.control('renewals/hold');
    await delay(LEASE_MS + 20);
    const answers = await Promise.all(Array.from({ length: 4 }, () => standby.ask('GET', '/forwarded/b').then(({ status }) => status, () => 'closed')));
    answers.forEach((answer) => assert.ok(['closed', 503].includes(answer), `${answer}`));
    await owner.control('renewals/go');
    await standby.until(200, '/-/ready');
    assert.equal((await standby.ask('GET', '/forwarded/b')).body.toString(), 'b');
});

/* ---- pauses ---- */

/** Pauses a standby, and sends Put Blob requests to it, which it reads once it resumes. Returns their connections. */
async function putPaused(standby, ...blobs) {
    const uploads = await Promise.all(blobs.map(([target, text]) => open(standby, 'PUT', target, { headers: [...BLOCK, ['Content-Length', `${text.length}`]] })));
    standby.signal('SIGSTOP');
    await untilStopped(standby.pid);
    for (const [i, { connection, request }] of uploads.entries()) {
        await connection.request(request);
        await connection.send(Buffer.from(blobs[i][1]));
    }
    return uploads.map(({ connection }) => connection);
}

for (const pauseMs of [1500, LEASE_MS + 1000])
    test(`a front end that was paused for ${pauseMs} ms drops what its client has repeated elsewhere, and sends what a client still waits for`, async (t) => {
        const { owner, standby } = await newPair(t);
        const put = async (member, value) =>
            assert.equal((await member.ask('PUT', '/forwarded/register', { headers: BLOCK, body: Buffer.from(value) })).status, 201);
        await put(standby, '1');
        const [late, waits] = await putPaused(standby, ['/forwarded/register', '2'], ['/forwarded/waits', 'waits']);
        await delay(200);
        late.close();
        await put(owner, '2');
        await put(owner, '3');
        await delay(pauseMs);
        standby.signal('SIGCONT');
        assert.equal((await waits.response()).status, 201);
        waits.close();
        await standby.until(200, '/-/ready');
        for (let i = 0; i < 10; i++, await delay(50))
            assert.equal((await owner.ask('GET', '/forwarded/register')).body.toString(), '3');
    });

test('the owner refuses a request under a renewal older than its lease', async (t) => {
    const { cluster, owner } = await newPair(t);
    const ask = async (renewedMs) => {
        const link = await openInternal(owner, idOf(cluster), pskOf(cluster));
        link.write(Buffer.concat([envelope({ renewed: bootNs() + BigInt(renewedMs) * 1_000_000n }), signedHead(owner, '/forwarded/none')]));
        const answer = await receive(link, 300);
        link.destroy();
        return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)[1]);
    };
    assert.equal(await ask(0), 404);
    assert.equal(await ask(1000 - LEASE_MS), 404);
    assert.equal(await ask(-LEASE_MS), 421);
    assert.equal(await ask(-3_600_000), 421);
    assert.equal(await ask(3_600_000), 421); // of another machine's clock
});

/* ---- what others send ---- */

function envelope({ service = 0, incarnation = 1, flags = 1, client = [127, 0, 0, 9], port = 4711, hops = 1, version = 5, placement = 0, renewed = bootNs() } = {}) {
    const bytes = Buffer.alloc(72);
    bytes.write('LgFw', 'latin1');
    bytes.set([version, service, flags, hops], 4);
    bytes.writeUInt32BE(1, 8);
    bytes.writeBigUInt64BE(BigInt(incarnation), 12);
    bytes.set([255, 255, ...client], 30);
    bytes.writeUInt16BE(port, 36);
    bytes.writeBigUInt64BE(BigInt(placement), 40);
    bytes.writeBigUInt64BE(renewed, 48);
    return bytes;
}

const signedHead = (member, target = '/forwarded/b') => {
    const { headers, target: path } = sign({ method: 'GET', target: `/${member.account}${target}`, headers: [['Host', 'a']] }, { service: 'blob' });
    return Buffer.from(`GET ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`, 'latin1');
};

/** What is received on a socket until it is closed, or for so long. */
function receive(socket, ms = 3000) {
    return new Promise((resolve) => {
        let got = '';
        const timer = setTimeout(() => resolve(`${got} <open>`), ms);
        const end = () => {
            clearTimeout(timer);
            resolve(got);
        };
        socket.on('data', (bytes) => {
            got += bytes.toString('latin1');
        });
        socket.on('error', end);
        socket.on('close', end);
    });
}

test('an envelope, and headers like one, mean nothing on the public ports', async (t) => {
    const { owner, standby } = await newPair(t);
    for (const member of [owner, standby]) {
        const socket = connect(member.ports.blob, '127.0.0.1');
        const received = receive(socket);
        socket.write(Buffer.concat([envelope(), signedHead(member)]));
        assert.match(await received, /^HTTP\/1\.1 400 /);
        await member.ask('GET', '/forwarded/forged', { headers: [['X-Forwarded-For', '192.0.2.77'], ['LgFw', 'x'], ['Forwarded', 'for=192.0.2.77']] });
    }
    await lineOf(owner, ({ path, via }) => path.endsWith('forged') && via);
    for (const { client } of owner.lines().filter((line) => line.client))
        assert.match(client, /^127\.0\.0\.1:/);
});

const pskOf = (cluster) => Buffer.from(readFileSync(join(cluster, 'key'), 'latin1').split(' ')[2], 'hex');
const idOf = (cluster) => pskIdentity(readFileSync(join(cluster, 'cluster'), 'latin1'), pskOf(cluster));

/** A connection to the internal endpoint with this key. Rejects if the handshake fails. */
function openInternal(member, identity, psk) {
    return new Promise((resolve, reject) => {
        const socket = tls.connect({ host: '127.0.0.1', port: member.ports.cluster, minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256',
            pskCallback: () => ({ identity, psk }), checkServerIdentity: () => undefined, rejectUnauthorized: false });
        socket.once('secureConnect', () => resolve(socket));
        socket.once('error', reject);
        socket.once('close', () => reject(new Error('closed')));
    });
}

test('the internal endpoint serves who has the key of the cluster, and believes an envelope only', async (t) => {
    const { cluster, owner, standby } = await newPair(t);
    assert.equal((await owner.ask('PUT', '/forwarded/b', { headers: BLOCK, body: Buffer.from('hello') })).status, 201);
    const psk = pskOf(cluster), id = idOf(cluster);

    /* Without TLS, without a key, with another key or name. */
    for (const bytes of [Buffer.concat([envelope(), signedHead(owner)]), Buffer.from('GET / HTTP/1.1\r\n\r\n'), randomBytes(4096), Buffer.alloc(200)]) {
        const socket = connect(owner.ports.cluster, '127.0.0.1');
        const received = receive(socket);
        socket.end(bytes);
        assert.doesNotMatch(await received, /HTTP/);
    }
    await assert.rejects(new Promise((resolve, reject) => {
        tls.connect({ host: '127.0.0.1', port: owner.ports.cluster, rejectUnauthorized: false }, resolve).once('error', reject);
    }));
    await assert.rejects(openInternal(owner, id, randomBytes(32)));
    await assert.rejects(openInternal(owner, 'other', psk));

    /* With it, but without an envelope that is valid. */
    for (const bytes of [Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), Buffer.concat([envelope({ hops: 2 }), signedHead(owner)]), Buffer.concat([envelope({ version: 2 }).subarray(0, 48), signedHead(owner)]), Buffer.concat([envelope({ version: 7 }), signedHead(owner)]),
        Buffer.concat([envelope({ service: 9 }), signedHead(owner)]), Buffer.concat([envelope({ flags: 255 }), signedHead(owner)]), randomBytes(1000)]) {
        const socket = await openInternal(owner, id, psk);
        const received = receive(socket);
        socket.write(bytes);
        assert.doesNotMatch(await received, /HTTP|<open>/);
    }

    /* For another incarnation, and to a front end that owns nothing: refused, not passed on. */
    for (const [member, incarnation] of [[owner, 2], [standby, 1]]) {
        const socket = await openInternal(member, id, psk);
        const received = receive(socket, 500);
        socket.write(Buffer.concat([envelope({ incarnation }), signedHead(owner)]));
        assert.match(await received, /^HTTP\/1\.1 421 /);
        socket.destroy();
    }

    /* Right, in pieces of a byte, and the next one at once. */
    const socket = await openInternal(owner, id, psk);
    const received = receive(socket, 1500);
    for (const byte of Buffer.concat([envelope(), signedHead(owner)]))
        socket.write(Buffer.from([byte]));
    socket.write(Buffer.concat([envelope({ flags: 3 }), signedHead(owner)]));
    assert.equal((await received).match(/HTTP\/1\.1 200 OK/g)?.length, 2);
    socket.destroy();
    await lineOf(owner, ({ client }) => client === '127.0.0.9:4711');

    /* The published key is for this machine's clients, also of another front end. */
    const remote = await openInternal(owner, id, psk);
    const refused = receive(remote, 500);
    remote.write(Buffer.concat([envelope({ client: [192, 0, 2, 77] }), signedHead(owner)]));
    assert.match(await refused, /^HTTP\/1\.1 403 /);
    remote.destroy();
    await lineOf(owner, ({ client, forwarded }) => client === '192.0.2.77:4711' && forwarded);
});

test('a limit for one address is for the client, not for the front end that forwards', async (t) => {
    const { standby } = await newPair(t, { ownerArgs: ['--maxConnectionsPerAddress', '3'] });
    const start = async (i, from) => {
        const { connection, request } = await open(standby, 'PUT', `/forwarded/a${i}`, { headers: [...BLOCK, ['Content-Length', '200000']], from });
        await connection.request(request);
        await connection.send(Buffer.alloc(1000));
        return connection;
    };
    const held = [];
    for (let i = 0; i < 3; i++)
        held.push(await start(i, '127.0.0.1'));
    await delay(200);
    const one = await open(standby, 'GET', '/forwarded/none', { from: '127.0.0.1' });
    await one.connection.request(one.request);
    assert.equal((await one.connection.response()).status, 503);
    const other = await open(standby, 'GET', '/forwarded/none', { from: '127.0.0.2' });
    await other.connection.request(other.request);
    assert.equal((await other.connection.response()).status, 404);
    [...held, one.connection, other.connection].forEach((connection) => connection.close());
});

test('too many forwarded requests for the owner get 503, and those that it has go on', async (t) => {
    const { standby } = await newPair(t, { ownerArgs: ['--maxConnections', '8'] });
    const uploads = await Promise.all(Array.from({ length: 24 }, async (_, i) => {
        const { connection, request } = await open(standby, 'PUT', `/forwarded/m${i}`, { headers: [...BLOCK, ['Content-Length', '100000']] });
        await connection.request(request);
        await connection.send(Buffer.alloc(50_000));
        return connection;
    }));
    await delay(500);
    const statuses = await Promise.all(uploads.map(async (connection) => {
        await connection.send(Buffer.alloc(50_000)).catch(() => {});
        return connection.response().then(({ status }) => status, () => 'closed');
    }));
    uploads.forEach((connection) => connection.close());
    t.diagnostic(`${statuses}`);
    assert.ok(statuses.filter((status) => status === 201).length >= 8);
    assert.ok(statuses.includes(503));
    assert.deepEqual(statuses.filter((status) => ![201, 503, 'closed'].includes(status)), []);
});

test('metrics of both sides, on the management port of a standby too', async (t) => {
    const { owner, standby: first, start } = await newPair(t);
    const [port] = await freePorts(1);
    const standby = await start('second', ['--managementPort', `${port}`]);
    await standby.until(200, '/-/ready');
    const ask = async (path) => {
        const connection = await Connection.open('127.0.0.1', port);
        const answer = await connection.exchange({ method: 'GET', target: path, headers: [['Host', '127.0.0.1']] });
        connection.close();
        return { status: answer.status, text: answer.body.toString() };
    };
    assert.equal((await standby.ask('PUT', '/forwarded/b', { headers: BLOCK, body: Buffer.alloc(1000) })).status, 201);
    assert.equal((await standby.ask('GET', '/forwarded/b')).body.length, 1000);
    const { text } = await ask('/metrics');
    assert.match(text, /lagra_forwarded_requests_total\{service="blob",result="responded"\} [2-9]/);
    assert.match(text, /lagra_forwarded_bytes_total\{service="blob",direction="to_owner"\} 1000\n/);
    assert.match(text, /lagra_forwarded_bytes_total\{service="blob",direction="from_owner"\} 1\d\d\d\n/);
    assert.match(text, /lagra_forward_connections_total\{event="opened"\} [1-9]/);
    assert.match(text, /lagra_forwarded_seconds_count\{service="blob"\} [2-9]/);
    assert.match(text, /lagra_forwarded_cell_requests_total\{cell="1",result="responded"\} [2-9]/);
    assert.match(text, /lagra_cell_owned\{cell="1"\} 0\n/);
    assert.match(text, /lagra_cell_bytes\{cell="1"\} \d+\n/);
    assert.equal((await ask('/-/ready')).status, 200);
    assert.equal((await ask('/-/live')).status, 200);
    assert.equal((await ask('/-/ready?cell')).status, 503);
    for (let i = 0; i < 100 && (await ask('/-/ready?cluster')).status !== 200; i++)
        await delay(20); // it has not read yet that the owner serves
    assert.deepEqual(await ask('/-/ready?cluster'), { status: 200, text: 'ready\n' });
    assert.match((await ask('/metrics')).text, /lagra_cell_served\{cell="1"\} 1\n/);
    assert.equal((await ask('/console/')).status, 404);
    /* When it takes the cell over, the port has the rest too. */
    await first.end('SIGKILL');
    await owner.end('SIGTERM');
    await standby.until(200);
    for (let i = 0; i < 200 && !/lagra_store/.test(await ask('/metrics').then(({ text: all }) => all, () => '')); i++)
        await delay(20);
    assert.match((await ask('/metrics')).text, /lagra_store.*\n[^]*lagra_forwarded_received_total|lagra_forwarded_received_total[^]*lagra_store/);
    assert.equal((await ask('/-/ready?cell')).status, 200);
    assert.equal((await ask('/-/ready?cluster')).status, 200);
    for (let i = 0; i < 200 && !/lagra_lease_renewals_total\{result="in_time"\} [1-9]/.test((await ask('/metrics')).text); i++)
        await delay(20);
    const owning = (await ask('/metrics')).text;
    assert.match(owning, /lagra_lease_renewals_total\{result="in_time"\} [1-9]/);
    assert.match(owning, /lagra_lease_renewals_total\{result="failed"\} 0\n/);
    assert.match(owning, /lagra_lease_renewal_seconds_count\{\} [1-9]/);
    assert.match(owning, /lagra_cell_owned\{cell="1"\} 1\n/);
    assert.match(owning, /lagra_cell_served\{cell="1"\} 1\n/);
});

test('a cluster without a key serves as before: a standby answers 503, and says so', async (t) => {
    const { cluster } = await newCluster(t);
    await rm(join(cluster, 'key'));
    const owner = await Member.start(cluster);
    t.after(() => owner.end('SIGKILL'));
    await owner.until(200);
    const standby = await Member.start(cluster);
    t.after(() => standby.end('SIGKILL'));
    await standby.until(503);
    assert.equal((await standby.ask('GET', '/forwarded/b')).status, 503);
    for (let i = 0; i < 100 && !/owned by/.test((await standby.ask('GET', '/-/ready', { raw: true })).body.toString()); i++)
        await delay(20);
    assert.match((await standby.ask('GET', '/-/ready', { raw: true })).body.toString(), /owned by/);
    assert.match(standby.stderr, /has no file `key`/);
    assert.ok(!existsSync(join(cluster, 'key')));
});
