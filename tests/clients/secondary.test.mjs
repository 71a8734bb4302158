// The secondary endpoint as a view that lags, and what Get Service Stats says of it. docs/fault-injection.md, "Secondary";
// decisions: 535, 830
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TableClient, AzureNamedKeyCredential } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { run } from '../lib/program.mjs';
import { freePorts, Server } from '../lib/server.mjs';
import { account, bytesOf, collect, credential, once as one, refused } from './setup.mjs';

const MIB = 1 << 20;

/** Of the store's engines. */
const ENGINES = { 'in memory': ['--inMemoryPersistence'], 'in a data folder': [] };

async function start(t, lag, engine = 'in memory') {
    const [port] = await freePorts(1);
    const server = await Server.start({ args: [...ENGINES[engine], '--secondaryLag', lag, '--testing', '--managementPort', `${port}`] });
    t.after(() => server.kill().then(() => server.remove()));
    const ask = async (method, path, body) => {
        const answer = await fetch(`http://127.0.0.1:${port}/-/${path}`, { method, body: body && JSON.stringify(body) });
        assert.equal(answer.status, 200);
        return answer.json();
    };
    const there = (url) => `${url}-secondary`;
    return {
        server, forward: (seconds) => ask('PUT', 'time', { forwardSeconds: seconds }), ask, there,
        blobs: new BlobServiceClient(server.url, credential, one),
        secondary: new BlobServiceClient(there(server.url), credential, one),
    };
}

const names = async (list) => (await collect(list)).map(({ name }) => name);

for (const engine of Object.keys(ENGINES)) {
    test(`${engine}, what was written is not at the secondary endpoint before the lag is over`, async (t) => {
        const { blobs, forward, secondary, server, there } = await start(t, '1h', engine);
        const container = blobs.getContainerClient('ccc');
        await container.create();
        const blob = container.getBlockBlobClient('b');
        await blob.upload(Buffer.alloc(5 * MIB, 'a'), 5 * MIB);
        const seen = secondary.getContainerClient('ccc').getBlobClient('b');
        await refused(seen.getProperties(), 404, 'ContainerNotFound');
        assert.deepEqual(await names(secondary.listContainers()), []);
        await forward(3000);
        await refused(seen.getProperties(), 404, 'ContainerNotFound');
        await blob.upload(Buffer.alloc(6 * MIB, 'b'), 6 * MIB);
        await container.getBlockBlobClient('c').upload('c', 1);
        await forward(700);
        // The first state is there, the second not yet: with its bytes, though the primary has given them up.
        assert.ok(Buffer.alloc(5 * MIB, 'a').equals(await seen.downloadToBuffer()));
        assert.deepEqual(await names(secondary.getContainerClient('ccc').listBlobsFlat()), ['b']);
        assert.deepEqual(await names(container.listBlobsFlat()), ['b', 'c']);
        await container.delete();
        await forward(3600);
        assert.deepEqual(await names(secondary.listContainers()), []);
        await refused(secondary.getContainerClient('ddd').create(), 403, 'InsufficientAccountPermissions');

        const queue = new QueueServiceClient(server.urlOf('queue'), new QueueCredential(account.name, account.key), one).getQueueClient('qqq');
        const queueSeen = new QueueServiceClient(there(server.urlOf('queue')), new QueueCredential(account.name, account.key), one).getQueueClient('qqq');
        await queue.create();
        await queue.sendMessage('m');
        await refused(queueSeen.peekMessages(), 404, 'QueueNotFound');
        await forward(3601);
        assert.equal((await queueSeen.peekMessages()).peekedMessageItems.length, 1);
        await queue.clearMessages();
        assert.equal((await queueSeen.peekMessages()).peekedMessageItems.length, 1);
        assert.equal((await queueSeen.getProperties()).approximateMessagesCount, 1);

        const named = new AzureNamedKeyCredential(account.name, account.key);
        const table = new TableClient(server.urlOf('table'), 'people', named, { allowInsecureConnection: true });
        const tableSeen = new TableClient(there(server.urlOf('table')), 'people', named, { allowInsecureConnection: true });
        await table.createTable();
        await table.createEntity({ partitionKey: 'p', rowKey: '1' });
        await forward(3601);
        await table.createEntity({ partitionKey: 'p', rowKey: '2' });
        assert.deepEqual((await collect(tableSeen.listEntities())).map(({ rowKey }) => rowKey), ['1']);
    });

    test(`${engine}, Get Service Stats tells until when it has everything`, async (t) => {
        const { blobs, forward, secondary } = await start(t, '1h', engine);
        const lastSync = async () => {
            const { geoReplication } = await secondary.getStatistics();
            assert.equal(geoReplication.status, 'live');
            return geoReplication.lastSyncOn.getTime();
        };
        const container = blobs.getContainerClient('ccc');
        const { date } = await container.create();
        // Nothing was changed in the hour before: all of that is there.
        assert.ok(await lastSync() <= date.getTime() - 3500000);
        for (let i = 0; i < 20; i++) {
            const { date, lastModified } = await container.getBlockBlobClient(`b${i}`).upload('x', 1);
            const synced = await lastSync();
            assert.ok(synced <= date.getTime() - 3500000);
            const seen = (await names(secondary.getContainerClient('ccc').listBlobsFlat()).catch(() => []));
            assert.ok(!seen.includes(`b${i}`));
            // What is older than it says is there.
            for await (const { name, properties } of container.listBlobsFlat())
                assert.ok(properties.lastModified.getTime() >= synced || seen.includes(name), name);
            assert.ok(lastModified.getTime() > synced);
            await forward(400);
        }
        await forward(4000);
        const { date: now } = await container.getProperties();
        assert.ok(now.getTime() - await lastSync() <= 3602000);
        assert.equal((await names(secondary.getContainerClient('ccc').listBlobsFlat())).length, 20);
    });

    test(`${engine}, by the clock of the machine, under writes`, async (t) => {
        const { blobs, secondary } = await start(t, '300ms', engine);
        const container = blobs.getContainerClient('ccc');
        await container.create();
        const log = container.getAppendBlobClient('log');
        await log.create();
        const sizes = [];
        const began = performance.now();
        for (let size = 0; performance.now() - began < 2000; size += MIB / 4) {
            const { contentLength = 0 } = await secondary.getContainerClient('ccc').getBlobClient('log').getProperties().catch(() => ({}));
            assert.ok(contentLength <= size);
            sizes.push(contentLength);
            await log.appendBlock(Buffer.alloc(MIB / 4, 'x'), MIB / 4);
        }
        assert.deepEqual(sizes, sizes.toSorted ? sizes.toSorted((a, b) => a - b) : [...sizes].sort((a, b) => a - b));
        const length = () => secondary.getContainerClient('ccc').getBlobClient('log').getProperties().then(({ contentLength }) => contentLength);
        const { contentLength } = await log.getProperties();
        while (await length() !== contentLength)
            await delay(20);
    });

    test(`${engine}, a snapshot that is loaded arrives as late`, async (t) => {
        const { ask, blobs, forward, secondary } = await start(t, '1h', engine);
        await ask('PUT', 'snapshots/empty');
        await blobs.getContainerClient('ccc').create();
        await forward(3700);
        assert.deepEqual(await names(secondary.listContainers()), ['ccc']);
        await ask('PUT', 'snapshots/empty/loaded');
        assert.deepEqual(await names(blobs.listContainers()), []);
        assert.deepEqual(await names(secondary.listContainers()), ['ccc']);
        await forward(3700);
        assert.deepEqual(await names(secondary.listContainers()), []);
    });
}

test('the client reads from the secondary what the primary does not answer', async (t) => {
    const { ask, blobs, forward, server, there } = await start(t, '10s');
    const container = blobs.getContainerClient('ccc');
    await container.create();
    await container.getBlockBlobClient('b').upload('old', 3);
    await forward(11);
    await container.getBlockBlobClient('b').upload('newer', 5);
    await ask('PUT', 'faults/down', { match: { operation: 'Get Blob' }, fault: { error: 'ServerBusy' }, when: { count: 1 } });
    // The SDK has another host, of the same port, for the secondary; here it is another path of the same host.
    const other = http.createServer((request, response) => {
        const { method, headers, url } = request;
        http.request({ host: server.host, port: server.port, method, headers, path: url.replace(account.name, there(account.name)) }, (answer) => {
            response.writeHead(answer.statusCode, answer.rawHeaders);
            answer.pipe(response);
        }).end();
    });
    t.after(() => other.close().closeAllConnections());
    await once(other.listen(server.port, '127.0.0.2'), 'listening');
    const reader = new BlobServiceClient(server.url, credential,
        { retryOptions: { maxTries: 3, retryDelayInMs: 5, secondaryHost: '127.0.0.2' } });
    const read = async () => String(await bytesOf(await reader.getContainerClient('ccc').getBlobClient('b').download()));
    assert.equal(await read(), 'old');
    assert.equal(await read(), 'newer');
    const { fired, active } = await ask('GET', 'faults/down');
    assert.deepEqual({ fired, active }, { fired: 1, active: false });
});

test('what was there when a server starts is at its secondary endpoint at once', async (t) => {
    const { blobs, server, there } = await start(t, '1h', 'in a data folder');
    const container = blobs.getContainerClient('ccc');
    await container.create();
    await container.getBlockBlobClient('b').upload(Buffer.alloc(5 * MIB, 'a'), 5 * MIB);
    await server.kill('SIGKILL');
    await server.restart();
    const after = (url) => new BlobServiceClient(url, credential, one).getContainerClient('ccc');
    await after(server.url).getBlobClient('b').delete();
    const seen = after(there(server.url)).getBlobClient('b');
    assert.ok(Buffer.alloc(5 * MIB, 'a').equals(await seen.downloadToBuffer()));
});

