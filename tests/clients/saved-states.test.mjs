// Snapshots of a whole server that tests save and go back to between cases. docs/testing.md, "Snapshots"; decision: 534
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TableClient, AzureNamedKeyCredential } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as FileCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { freePorts, Server } from '../lib/server.mjs';
import { account, bytesOf, collect, credential, once, refused } from './setup.mjs';

const MIB = 1 << 20;

async function start(t, args = ['--inMemoryPersistence']) {
    const [port] = await freePorts(1);
    const server = await Server.start({ args: ['--testing', '--managementPort', `${port}`, ...args] });
    t.after(() => server.kill().then(() => server.remove()));
    const ask = async (method, path, body) => {
        const answer = await fetch(`http://127.0.0.1:${port}/-/${path}`, { method, body: body && JSON.stringify(body) });
        return { status: answer.status, json: await answer.json() };
    };
    const good = async (...asked) => {
        const { status, json } = await ask(...asked);
        assert.equal(status, 200, JSON.stringify(json));
        return json;
    };
    const text = async (url) => (await fetch(url)).text();
    return {
        server, ask, good,
        save: (name) => good('PUT', `snapshots/${name}`), load: (name) => good('PUT', `snapshots/${name}/loaded`),
        blobs: new BlobServiceClient(server.url, credential, once),
        queues: new QueueServiceClient(server.urlOf('queue'), new QueueCredential(account.name, account.key), once),
        table: (name) => new TableClient(server.urlOf('table'), name, new AzureNamedKeyCredential(account.name, account.key),
            { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } }),
        shares: new ShareServiceClient(server.urlOf('file'), new FileCredential(account.name, account.key), once),
        /** { piece_bytes, allocated_bytes, .. } */
        usage: async () => Object.fromEntries([...(await text(`http://127.0.0.1:${server.port}/$lagra/collect`)).matchAll(/(\w+)=(\d+)/g)]
            .map(([, name, value]) => [name, Number(value)])),
    };
}

const large = (letter, mib = 5) => Buffer.alloc(mib * MIB, letter);

/** Everything that a client can see, of all services. */
async function everything({ blobs, queues, table, shares }) {
    const all = {};
    for await (const { name, properties } of blobs.listContainers()) {
        all[name] = properties.etag;
        for await (const blob of blobs.getContainerClient(name).listBlobsFlat({ includeMetadata: true, includeSnapshots: true, includeUncommitedBlobs: true }))
            all[`${name}/${blob.name}${blob.snapshot ?? ''}`] = [blob.properties.etag, blob.properties.contentLength, blob.metadata];
    }
    for await (const { name } of queues.listQueues())
        all[`queue ${name}`] = (await queues.getQueueClient(name).peekMessages({ numberOfMessages: 32 })).peekedMessageItems.map(({ messageText, dequeueCount }) => [messageText, dequeueCount]);
    all.entities = await collect(table('people').listEntities()).catch((error) => error.code);
    for await (const { name, properties } of shares.listShares())
        all[`share ${name}`] = [properties.etag, (await collect(shares.getShareClient(name).getDirectoryClient('').listFilesAndDirectories())).map(({ name }) => name)];
    return all;
}

test('the server is as it was: blobs, queues, tables, files; again and again', async (t) => {
    const all = await start(t);
    const { blobs, good, queues, load, save, shares, table, usage } = all;
    const container = blobs.getContainerClient('kept');
    await container.create();
    await container.getBlockBlobClient('small').upload('small', 5, { metadata: { a: 'b' } });
    await container.getBlockBlobClient('large').upload(large('a'), 5 * MIB);
    await container.getBlobClient('large').createSnapshot();
    await container.getAppendBlobClient('log').create();
    await container.getAppendBlobClient('log').appendBlock('one', 3);
    const queue = queues.getQueueClient('work');
    await queue.create();
    await queue.sendMessage('m1');
    await table('people').createTable();
    await table('people').createEntity({ partitionKey: 'p', rowKey: '1', name: 'Ada' });
    const share = shares.getShareClient('team');
    await share.create();
    await share.getDirectoryClient('').getFileClient('f').create(MIB);
    await share.getDirectoryClient('').getFileClient('f').uploadRange(large('f', 1), 0, MIB);

    assert.deepEqual((await save('start')).snapshots.map(({ name, loaded }) => ({ name, loaded })), [{ name: 'start', loaded: 0 }]);
    const before = await everything(all);
    const bytes = await usage();
    for (let round = 0; round < 3; round++) {
        await container.getBlockBlobClient('large').upload(large('b'), 5 * MIB);
        await container.getBlockBlobClient('more').upload(large('c'), 5 * MIB);
        await container.getBlobClient('small').delete();
        await container.getAppendBlobClient('log').appendBlock(large('x', 4), 4 * MIB);
        await queue.receiveMessages();
        await queue.sendMessage('m2');
        await table('people').updateEntity({ partitionKey: 'p', rowKey: '1', name: 'Bob' }, 'Replace');
        await share.getDirectoryClient('').getFileClient('f').clearRange(0, MIB);
        await blobs.getContainerClient('other').create();
        if (round === 1) {
            await container.delete();
            await queue.delete();
            await table('people').deleteTable();
            await share.delete();
        }
        await load('start');
        assert.deepEqual(await everything(all), before);
        assert.ok(large('a').equals(await container.getBlobClient('large').downloadToBuffer()));
        assert.equal(String(await container.getBlobClient('log').downloadToBuffer()), 'one');
        assert.ok(large('f', 1).equals(await share.getDirectoryClient('').getFileClient('f').downloadToBuffer()));
        // What was written since is given back.
        assert.deepEqual(await usage(), bytes);
    }
    // Bytes that only the snapshot has are given back with it.
    await container.delete();
    await share.delete();
    await good('DELETE', 'snapshots/start');
    while ((await usage()).allocated_bytes > 0)
        await delay(5);
});

test('several snapshots, saved again, dropped; what is refused', async (t) => {
    const { ask, blobs, good, load, save } = await start(t);
    const names = async () => (await collect(blobs.listContainers())).map(({ name }) => name);
    await save('empty');
    await blobs.getContainerClient('aaa').create();
    await save('one');
    await blobs.getContainerClient('bbb').create();
    await load('empty');
    assert.deepEqual(await names(), []);
    await load('one');
    assert.deepEqual(await names(), ['aaa']);
    await blobs.getContainerClient('ccc').create();
    await save('one');
    await load('empty');
    await load('one');
    assert.deepEqual(await names(), ['aaa', 'ccc']);
    assert.deepEqual((await good('GET', 'snapshots')).snapshots.map(({ name, loaded }) => [name, loaded]), [['empty', 2], ['one', 1]]);
    for (let i = 2; i < 16; i++)
        await save(`s${i}`);
    const statuses = async (...all) => assert.deepEqual(await Promise.all(all.map(async ([method, path, body]) => (await ask(method, path, body)).status)), all.map(([, , , status]) => status));
    await statuses(['PUT', 'snapshots/more', undefined, 409], ['PUT', 'snapshots/none/loaded', undefined, 404], ['DELETE', 'snapshots/none', undefined, 404],
        ['DELETE', 'snapshots/one/loaded', undefined, 404], ['PUT', 'snapshots/one/saved', undefined, 404], ['PUT', 'snapshots/a%20b', undefined, 400],
        ['PUT', `snapshots/${'x'.repeat(65)}`, undefined, 400], ['PUT', 'snapshots/one', { a: 1 }, 400], ['GET', 'snapshots/one', undefined, 405], ['DELETE', 'snapshots', undefined, 405]);
    await good('DELETE', 'snapshots/empty');
    assert.equal((await ask('PUT', 'snapshots/empty/loaded')).status, 404);
});

test('requests on their way: each is of before or after, and what is read stays whole', async (t) => {
    const { blobs, load, save, server } = await start(t);
    const container = blobs.getContainerClient('busy');
    await container.create({ access: 'blob' });
    await container.getBlockBlobClient('large').upload(large('a', 8), 8 * MIB);
    await container.getAppendBlobClient('log').create();
    await save('start');
    let ends = false, writes = 0;
    const writers = Array.from({ length: 6 }, async (_, i) => {
        while (!ends) {
            await container.getAppendBlobClient('log').appendBlock('x'.repeat(100), 100);
            await container.getBlockBlobClient(`b${i}`).upload(large('b', 1), MIB);
            await container.getBlobClient(`b${i}`).deleteIfExists();
            writes++;
        }
    });
    for (let i = 0; i < 15; i++) {
        const [seen] = await Promise.all([
            fetch(`${server.url}/busy/large`).then((answer) => answer.arrayBuffer()),
            container.getBlockBlobClient('large').upload(large('c', 8), 8 * MIB).then(() => load('start')),
        ]);
        const letters = new Set(Buffer.from(seen));
        assert.equal(seen.byteLength, 8 * MIB);
        assert.equal(letters.size, 1);
    }
    ends = true;
    await Promise.all(writers);
    assert.ok(writes > 0);
    await load('start');
    assert.deepEqual((await collect(container.listBlobsFlat())).map(({ name, properties }) => [name, properties.contentLength]), [['large', 8 * MIB], ['log', 0]]);
    assert.ok(large('a', 8).equals(await bytesOf(await container.getBlobClient('large').download())));
});

test('what was to be done later is done in the state that is loaded', async (t) => {
    const { blobs, good, load, save, usage } = await start(t);
    const container = blobs.getContainerClient('later');
    await container.create();
    // Blocks that are not committed go a week later, by a task.
    await container.getBlockBlobClient('b').stageBlock(Buffer.from('one').toString('base64'), large('a', 1), MIB);
    await save('staged');
    await good('PUT', 'time', { forwardSeconds: 8 * 86400 });
    while ((await usage()).piece_bytes > 0)
        await delay(5);
    await load('staged');
    while ((await usage()).piece_bytes > 0)
        await delay(5);
    await good('DELETE', 'snapshots/staged');
    while ((await usage()).allocated_bytes > 0)
        await delay(5);
});

test('no snapshots of a data folder, nor beside SMB', async (t) => {
    const folder = await start(t, []);
    assert.equal((await folder.ask('PUT', 'snapshots/one')).status, 409);
    assert.deepEqual((await folder.good('GET', 'snapshots')).snapshots, []);
    const smb = await start(t, ['--inMemoryPersistence', '--smbPort', '0']);
    assert.match((await smb.ask('PUT', 'snapshots/one')).json.error, /SMB/);
});
