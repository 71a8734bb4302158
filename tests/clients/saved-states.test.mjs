// Snapshots of a whole server that tests save and go back to between cases. docs/fault-injection.md, "Snapshots"; decision: 534
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { TableClient, AzureNamedKeyCredential } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as FileCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { makeDisk } from '../faults/disks.mjs';
import { freePorts, Server } from '../lib/server.mjs';
import { account, bytesOf, collect, credential, longMode, once, refused } from './setup.mjs';

const MIB = 1 << 20;
/* What is left of file space where nothing is: a begun extent, its header. */
const EMPTY = 256 << 10;
const STORES = { 'in memory': ['--inMemoryPersistence'], 'in a data folder': [] };

/** A test of each store. */
function testStores(name, run) {
    for (const [where, args] of Object.entries(STORES))
        test(`${where}: ${name}`, (t) => run(t, args));
}

async function start(t, args = ['--inMemoryPersistence'], options = {}) {
    const [port] = await freePorts(1);
    const server = await Server.start({ ...options, args: ['--testing', '--managementPort', `${port}`, ...args] });
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
        /** lagra snapshot .. */
        command: (...words) => promisify(execFile)(process.env.LAGRA_BINARY, ['snapshot', ...words, '--management', `http://127.0.0.1:${port}`]),
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

testStores('the server is as it was: blobs, queues, tables, files; again and again', async (t, args) => {
    const all = await start(t, args);
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
        // What was written since is given back; the file system may need a block more to know where the rest lies.
        const { allocated_bytes: allocated, ...others } = await usage();
        assert.deepEqual({ ...others, allocated_bytes: bytes.allocated_bytes }, bytes);
        assert.ok(allocated <= bytes.allocated_bytes + MIB / 16);
    }
    // Bytes that only the snapshot has are given back with it.
    await container.delete();
    await share.delete();
    await good('DELETE', 'snapshots/start');
    while ((await usage()).allocated_bytes > EMPTY)
        await delay(5);
});

testStores('several snapshots, saved again, dropped; what is refused', async (t, args) => {
    const { ask, blobs, good, load, save } = await start(t, args);
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

testStores('requests on their way: each is of before or after, and what is read stays whole', async (t, args) => {
    const { blobs, load, save, server } = await start(t, args);
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
    for (let i = 0; i < 6; i++) {
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

testStores('what was to be done later is done in the state that is loaded', async (t, args) => {
    const { blobs, good, load, save, usage } = await start(t, args);
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
    while ((await usage()).allocated_bytes > EMPTY)
        await delay(5);
});

test('none beside SMB', async (t) => {
    const smb = await start(t, ['--inMemoryPersistence', '--smbPort', '0']);
    for (const path of ['snapshots/one', 'snapshots/one/loaded']) {
        const { status, json } = await smb.ask('PUT', path);
        assert.deepEqual([status, json.error], [409, 'snapshots are not available while SMB is served']);
    }
    await assert.rejects(smb.command('save', 'one'), { code: 1, stderr: /snapshots are not available while SMB is served/ });
    assert.deepEqual(await smb.good('GET', 'snapshots'), { snapshots: [] });
});

// What it takes to go back is one commit, of at most 128 MiB: docs/fault-injection.md. In memory there is no such limit.
testStores('128 MiB of records that have changed', async (t, args) => {
    const { ask, save, table } = await start(t, args);
    const people = table('people'), pictures = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`p${i}`, new Uint8Array(65536).fill(i)]));
    await people.createTable();
    const putAll = async (properties) => {
        for (let i = 0; i < 144; i += 6)
            await Promise.all(Array.from({ length: 6 }, (_, j) => people.upsertEntity({ partitionKey: 'p', rowKey: `${i + j}`, ...properties }, 'Replace')));
    };
    await putAll(pictures);
    await save('base');
    await putAll({ small: true });
    const { status, json } = await ask('PUT', 'snapshots/base/loaded');
    const { p14, small } = await people.getEntity('p', '143');
    if (args.length > 0) {
        assert.deepEqual([status, p14.length, small], [200, 65536, undefined]);
        return;
    }
    assert.deepEqual([status, json], [409, { error: 'more than 128 MiB of records have changed since the snapshot' }]);
    assert.deepEqual([p14, small], [undefined, true]);
    await people.createEntity({ partitionKey: 'p', rowKey: 'goes on' });
});

// Where the disk has no room for that commit nothing is changed, and later it goes through.
test('a disk without room', async (t) => {
    const work = await mkdtemp(path.join(tmpdir(), 'lagra-room-'));
    const disk = makeDisk(work, 320 * MIB);
    const isReal = disk.mountPoint !== undefined;
    let all;
    try {
        all = isReal && await start(t, [], { location: disk.location });
    } finally { // behind the end of the server
        t.after(() => {
            disk.close();
            return rm(work, { recursive: true, force: true });
        });
    }
    if (!isReal)
        return t.skip('a file system on a loop device would be needed, which root makes');
    const { ask, save, load, blobs } = all;
    const container = blobs.getContainerClient('ccc');
    await container.create();
    await save('base');
    await container.getBlockBlobClient('b').upload('x', 1);
    execFileSync('fallocate', ['-l', `${disk.free() - 48 * MIB}`, path.join(disk.mountPoint, 'filler')]);
    let answer;
    for (const end = Date.now() + 20000; answer?.status !== 507 && Date.now() < end; await delay(50)) {
        answer = await ask('PUT', 'snapshots/base/loaded');
        if (answer.status === 200) // it has not looked at the disk yet
            await container.getBlockBlobClient('b').upload('x', 1).catch(() => {});
    }
    assert.deepEqual([answer.status, answer.json], [507, { error: 'not enough free disk space' }]);
    disk.empty();
    for (const end = Date.now() + 20000; (answer = await ask('PUT', 'snapshots/base/loaded')).status === 507 && Date.now() < end;)
        await delay(50);
    assert.equal(answer.status, 200);
    assert.equal(await container.getBlobClient('b').exists(), false);
    await load('base');
});

testStores('lagra snapshot: a suite of cases, each of which begins with the same data', async (t, args) => {
    const { blobs, command, load, queues, table } = await start(t, args);
    const container = blobs.getContainerClient('cases');
    await container.create();
    for (let i = 0; i < 50; i++)
        await container.getBlockBlobClient(`b${i}`).upload('x'.repeat(20000), 20000);
    await queues.getQueueClient('work').create();
    await table('people').createTable();
    assert.equal((await command('save', 'base')).stdout, '');
    const cases = longMode ? 200 : 40;
    let milliseconds = 0;
    for (let i = 0; i < cases; i++) {
        assert.deepEqual((await queues.getQueueClient('work').peekMessages()).peekedMessageItems, []);
        await Promise.all([
            container.getBlockBlobClient(`b${i % 50}`).upload(`case ${i}`, `case ${i}`.length), container.getBlockBlobClient('more').upload(large('m', 1), MIB),
            queues.getQueueClient('work').sendMessage('m'), table('people').createEntity({ partitionKey: 'p', rowKey: 'r' }),
        ]);
        const begin = performance.now();
        if (i % 20 === 0)
            await command('load', 'base');
        else
            await load('base');
        milliseconds += performance.now() - begin;
    }
    t.diagnostic(`${cases} loads took ${Math.round(milliseconds)} ms`);
    // 10 s on a machine of its own.
    assert.ok(milliseconds < 20000, `${milliseconds} ms`);
    assert.match((await command('list')).stdout, new RegExp(`^NAME +SAVED +LOADED *\nbase +\\d{4}-.* ${cases} *\n$`));
    assert.equal(JSON.parse((await command('list', '--json')).stdout).snapshots[0].loaded, cases);
    await assert.rejects(command('load', 'none'), { code: 1, stderr: /no snapshot has that name/ });
    await assert.rejects(command('load', 'a/b'), { code: 1, stderr: /a snapshot name/ });
    await command('delete', 'base');
    assert.equal((await command('list')).stdout, '');
    await assert.rejects(promisify(execFile)(process.env.LAGRA_BINARY, ['snapshot', 'list', '--management', 'http://127.0.0.1:1']), { code: 1, stderr: /127\.0\.0\.1:1/ });
});

test('kill -9 while a snapshot is loaded: the data folder has all of it, or nothing', async (t) => {
    const NAMES = Array.from({ length: 24 }, (_, i) => `b${i}`);
    const { load, save, server, ...all } = await start(t, []);
    const clients = (url) => new BlobServiceClient(url, credential, once);
    const read = async (blobs) => new Set([
        ...await Promise.all(NAMES.map(async (name) => String(await blobs.getContainerClient('all').getBlobClient(name).downloadToBuffer()).slice(0, 4))),
        (await collect(blobs.listContainers())).some(({ name }) => name === 'new') ? 'new_' : 'old_',
    ]);
    const write = async (blobs, text) => {
        for (const name of NAMES)
            await blobs.getContainerClient('all').getBlockBlobClient(name).upload(text.repeat(10000), text.length * 10000);
    };
    const seen = new Set();
    let { blobs } = all;
    await blobs.getContainerClient('all').create();
    for (let round = 0; round < 10; round++) {
        await write(blobs, 'old_');
        await blobs.getContainerClient('new').deleteIfExists();
        await save('base');
        await write(blobs, 'new_');
        await blobs.getContainerClient('new').create();
        const loaded = load('base').then(() => true, () => false);
        await delay(round);
        await server.kill();
        const wasLoaded = await loaded;
        await server.restart();
        blobs = clients(server.url);
        const states = await read(blobs);
        assert.equal(states.size, 1, [...states].join(' '));
        if (wasLoaded)
            assert.deepEqual([...states], ['old_']);
        seen.add(...states);
    }
    t.diagnostic(`seen: ${[...seen].join(' ')}`);
});
