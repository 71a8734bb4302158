// lagra restore: a container, queue, table or share of a backup in a running server. docs/backup.md; decisions 516, 517
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TableClient, TableServiceClient } from '@azure/data-tables';
import { AccountSASPermissions, BlobServiceClient } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { ShareServiceClient } from '@azure/storage-file-share';
import { run } from '../lib/program.mjs';
import { Control, freePorts, Server } from '../lib/server.mjs';
import { collect, credential, once, refused } from './setup.mjs';
import { tableCredential } from './tables-setup.mjs';

const LARGE = randomBytes(9 << 20);

async function start(t, options) {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-restore-'));
    const server = await Server.start(options);
    t.after(() => server.kill().then(() => server.remove()).then(() => rm(folder, { recursive: true, force: true })));
    return { server, folder: path.join(folder, 'backups'), ...clients(server) };
}

function clients(server) {
    const tables = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
    return {
        blobs: new BlobServiceClient(server.url, credential, once),
        queues: new QueueServiceClient(server.urlOf('queue'), credential, once),
        tables: new TableServiceClient(server.urlOf('table'), tableCredential, tables),
        table: (name) => new TableClient(server.urlOf('table'), name, tableCredential, tables),
        files: new ShareServiceClient(server.urlOf('file'), credential, once),
    };
}

const lagra = (server, ...words) => run([...words, '--location', server.location], {}, 60000);

async function done(server, ...words) {
    const { code, output, errors } = await lagra(server, ...words, '--json');
    assert.equal(code, 0, errors);
    assert.doesNotMatch(errors, /this RocksDB/); // opened to be read, it does not show how it writes
    return JSON.parse(output.trim().split('\n').at(-1));
}

async function fails(server, message, ...words) {
    const { code, errors } = await lagra(server, ...words);
    assert.notEqual(code, 0);
    assert.match(errors, message);
}

/** What clients see of a container, but for the time of its last access. */
async function shown(container) {
    const { metadata, etag, lastModified, blobPublicAccess } = await container.getProperties();
    const blobs = [];
    for (const item of await collect(container.listBlobsFlat({ includeSnapshots: true, includeMetadata: true, includeTags: true, includeUncommitedBlobs: true }))) {
        let blob = container.getBlobClient(item.name);
        if (item.snapshot)
            blob = blob.withSnapshot(item.snapshot);
        const bytes = item.properties.contentLength > 0 && item.properties.accessTier !== 'Archive' ? await blob.downloadToBuffer() : Buffer.alloc(0);
        const { leaseState, leaseStatus, leaseDuration, ...properties } = item.properties;
        blobs.push({ ...item, properties, bytes: bytes.toString('base64').slice(0, 100), length: bytes.length });
    }
    return { metadata, etag, lastModified, blobPublicAccess, blobs };
}

async function fillContainer(blobs, name) {
    const container = blobs.getContainerClient(name);
    await container.create({ metadata: { of: 'mine' }, access: 'blob' });
    await container.setAccessPolicy('blob', [{ id: 'p', accessPolicy: { permissions: 'r', expiresOn: new Date(Date.now() + 1e9), startsOn: new Date(0) } }]);
    const small = container.getBlockBlobClient('a/small');
    await small.upload('one', 3, { metadata: { m: '1' }, tags: { t: 'x' }, blobHTTPHeaders: { blobContentType: 'text/x' } });
    await small.createSnapshot();
    await small.upload('two!', 4, { tags: { t: 'y', u: 'z' }, tier: 'Cool' });
    const large = container.getBlockBlobClient('large');
    await large.uploadData(LARGE, { blockSize: 1 << 20, maxSingleShotSize: 1 << 20 });
    await large.createSnapshot();
    await large.getBlobLeaseClient().acquireLease(-1);
    const append = container.getAppendBlobClient('append');
    await append.create();
    await append.appendBlock('x'.repeat(200000), 200000);
    await append.appendBlock('y', 1);
    const pages = container.getPageBlobClient('pages');
    await pages.create(1 << 20);
    await pages.uploadPages(LARGE.subarray(0, 65536), 0, 65536);
    await pages.createSnapshot();
    await pages.uploadPages(LARGE.subarray(512, 1024), 512, 512);
    await container.getBlockBlobClient('staged').stageBlock('MQ==', 'staged', 6);
    await container.getBlockBlobClient('archived').upload('cold', 4, { tier: 'Archive' });
    return container;
}

test('a container comes back as it was, with snapshots, tags, tiers, uncommitted blocks and policies, without leases', async (t) => {
    const { server, folder, blobs } = await start(t);
    const container = await fillContainer(blobs, 'photos');
    await container.getBlobLeaseClient().acquireLease(-1);
    const before = await shown(container);
    await done(server, 'backup', folder);
    await container.getBlobLeaseClient().breakLease(0);

    await fails(server, /photos already exists/, 'restore', 'container', folder, 'photos');
    const said = await done(server, 'restore', 'container', folder, 'photos', '--as', 'again');
    assert.equal(said.restored, 1);
    assert.ok(said.bytes > LARGE.length && said.bytes < 2.5 * LARGE.length, `pieces that snapshots share come once: ${said.bytes}`);
    const again = blobs.getContainerClient('again');
    assert.deepEqual(await shown(again), before);
    assert.ok((await again.getBlobClient('large').downloadToBuffer()).equals(LARGE));
    assert.equal((await again.getAccessPolicy()).signedIdentifiers[0].id, 'p');
    assert.equal((await again.getProperties()).leaseState, 'available');
    assert.equal((await again.getBlobClient('large').getProperties()).leaseState, 'available');
    const found = await collect(blobs.findBlobsByTags("\"t\"='y' AND @container='again'"));
    assert.deepEqual(found.map(({ name }) => name), ['a/small']);
    // It lives: what was staged is committed, the rest is changed and deleted.
    await again.getBlockBlobClient('staged').commitBlockList(['MQ==']);
    await again.getAppendBlobClient('append').appendBlock('z', 1);
    assert.equal((await again.getBlobClient('append').downloadToBuffer()).length, 200002);
    await again.getBlobClient('large').delete({ deleteSnapshots: 'include' });

    // In the place of what is there, which keeps nothing.
    await container.getBlockBlobClient('new').upload('x', 1);
    await done(server, 'restore', 'container', folder, 'photos', '--replace');
    const replaced = await shown(container);
    assert.deepEqual(replaced, before);
    await server.stop({ keep: true });
    const check = await run(['check', server.location], {}, 60000);
    assert.equal(check.code, 0, check.output);
});

/** Waits until pieces have so many bytes, but not for ever. */
async function bytesBecome(control, wanted) {
    let bytes;
    for (let looks = 0; bytes !== wanted && looks < 1000; looks++) {
        bytes = Number(/piece_bytes=(\d+)/.exec(await control.collect())[1]);
        await delay(bytes === wanted ? 0 : 20);
    }
    assert.equal(bytes, wanted);
}

test('what was soft-deleted comes back so, is undeleted, and expires when its days are over, also those that were over before', async (t) => {
    const [port] = await freePorts(1);
    const { server, folder, blobs: signed } = await start(t, { args: ['--testing', '--managementPort', `${port}`] });
    const control = new Control(server);
    t.after(() => control.close());
    const forward = async (seconds) => { // and runs the tasks that are due then
        const { status } = await fetch(`http://127.0.0.1:${port}/-/time`, { method: 'PUT', body: JSON.stringify({ forwardSeconds: seconds }) });
        assert.equal(status, 200);
    };
    const sas = signed.generateAccountSasUrl(new Date(Date.now() + 9e9), AccountSASPermissions.parse('rwdlactf'), 'sco');
    const blobs = new BlobServiceClient(sas, undefined, once); // without dates: the clock is moved
    const list = async (container) => (await collect(container.listBlobsFlat({ includeSnapshots: true, includeDeleted: true })))
        .map(({ name, snapshot, deleted }) => `${deleted ? '-' : ''}${name}${snapshot ? '@' : ''}`).join(' ');
    await blobs.setProperties({ deleteRetentionPolicy: { enabled: true, days: 2 } });
    const container = blobs.getContainerClient('photos');
    await container.create();
    for (const name of ['gone', 'over', 'with']) {
        await container.getBlockBlobClient(name).upload(LARGE, LARGE.length);
        if (name === 'with')
            await container.getBlobClient(name).createSnapshot();
        if (name !== 'over')
            await container.getBlobClient(name).delete({ deleteSnapshots: 'include' });
    }
    await container.getBlockBlobClient('over').upload(LARGE.subarray(1), LARGE.length - 1);
    await done(server, 'backup', folder);
    await container.delete();
    await bytesBecome(control, 0);

    await done(server, 'restore', 'container', folder, 'photos', '--as', 'again');
    const again = blobs.getContainerClient('again');
    assert.equal(await list(again), '-gone -over@ over -with@ -with');
    await again.getBlobClient('gone').undelete();
    assert.ok((await again.getBlobClient('gone').downloadToBuffer()).equals(LARGE));
    await forward(2 * 86400 + 60);
    assert.equal(await list(again), 'gone over');
    await bytesBecome(control, 2 * LARGE.length - 1);

    await done(server, 'restore', 'container', folder, 'photos', '--as', 'later');
    assert.equal(await list(blobs.getContainerClient('later')), 'over');
    await bytesBecome(control, 3 * LARGE.length - 2);
    await server.stop({ keep: true });
    const check = await run(['check', server.location], {}, 60000);
    assert.equal(check.code, 0, check.output);
});

test('a queue, a table and a share come back as they were', async (t) => {
    const { server, folder, queues, table, files } = await start(t);
    const queue = queues.getQueueClient('work');
    await queue.create({ metadata: { q: '1' } });
    for (let i = 0; i < 40; i++)
        await queue.sendMessage(`message ${i}${i === 7 ? 'x'.repeat(60000) : ''}`);
    const people = table('People');
    await people.createTable();
    for (let i = 0; i < 150; i++)
        await people.createEntity({ partitionKey: `p${i % 7}`, rowKey: `${i}`, n: i, text: 'x'.repeat(i * 50) });
    const entities = await collect(people.listEntities());
    const share = files.getShareClient('team');
    await share.create({ quota: 7, metadata: { s: '1' } });
    const docs = share.getDirectoryClient('Docs');
    await docs.create({ metadata: { d: '1' } });
    const file = docs.getFileClient('Report.bin');
    await file.create(LARGE.length, { metadata: { f: '1' } });
    await file.uploadRange(LARGE.subarray(0, 4 << 20), 0, 4 << 20);
    const { snapshot } = await share.createSnapshot();
    await file.uploadRange(LARGE.subarray(4 << 20, 8 << 20), 0, 4 << 20);
    await done(server, 'backup', folder);
    await queue.clearMessages();
    await people.deleteTable();
    await share.delete({ deleteSnapshots: 'include' });

    await done(server, 'restore', 'queue', folder, 'work', '--as', 'work2');
    const again = queues.getQueueClient('work2');
    assert.deepEqual((await again.getProperties()).metadata, { q: '1' });
    assert.equal((await again.getProperties()).approximateMessagesCount, 40);
    const texts = [];
    for (let i = 0; i < 2; i++)
        texts.push(...(await again.receiveMessages({ numberOfMessages: 32 })).receivedMessageItems.map(({ messageText }) => messageText.slice(0, 12)));
    assert.deepEqual(texts, Array.from({ length: 40 }, (_, i) => `message ${i}${i === 7 ? 'xxx' : ''}`.slice(0, 12)));

    await done(server, 'restore', 'table', folder, 'people');
    assert.deepEqual(await collect(people.listEntities()), entities);
    await people.updateEntity({ partitionKey: 'p1', rowKey: '1', etag: entities.find(({ rowKey }) => rowKey === '1').etag, n: 5 }, 'Merge');

    await done(server, 'restore', 'share', folder, 'team');
    const { quota, metadata } = await share.getProperties();
    assert.deepEqual([quota, metadata], [7, { s: '1' }]);
    const bytes = await file.downloadToBuffer();
    assert.ok(bytes.subarray(0, 4 << 20).equals(LARGE.subarray(4 << 20, 8 << 20)));
    const old = await share.withSnapshot(snapshot).getDirectoryClient('docs').getFileClient('report.bin').downloadToBuffer(0, 4 << 20);
    assert.ok(old.equals(LARGE.subarray(0, 4 << 20)));
    await docs.getFileClient('new').create(5);
    await share.delete({ deleteSnapshots: 'include' });
    await server.stop({ keep: true });
    const check = await run(['check', server.location], {}, 60000);
    assert.equal(check.code, 0, check.output);
});

test('all of an account; what is there already is said, the rest comes', async (t) => {
    const { server, folder, blobs, queues, tables, files } = await start(t);
    await blobs.createContainer('one');
    await blobs.createContainer('two');
    await queues.createQueue('work');
    await tables.createTable('People');
    await files.createShare('team');
    await done(server, 'backup', folder);
    await blobs.deleteContainer('two');
    await queues.deleteQueue('work');
    await tables.deleteTable('People');
    await files.deleteShare('team');
    const { code, errors, output } = await lagra(server, 'restore', 'account', folder, '--json');
    assert.equal(code, 1);
    assert.match(errors, /one already exists/);
    assert.equal(JSON.parse(output.trim().split('\n').at(-1)).restored, 4);
    assert.deepEqual((await collect(blobs.listContainers())).map(({ name }) => name), ['one', 'two']);
    assert.deepEqual((await collect(tables.listTables())).map(({ name }) => name), ['People']);
    assert.deepEqual((await collect(queues.listQueues())).map(({ name }) => name), ['work']);
    assert.deepEqual((await collect(files.listShares())).map(({ name }) => name), ['team']);
});

test('refusals, and a backup that is damaged', async (t) => {
    const { server, folder, blobs } = await start(t);
    const container = blobs.getContainerClient('photos');
    await container.create();
    await container.getBlockBlobClient('large').upload(LARGE, LARGE.length);
    await done(server, 'backup', folder);
    await fails(server, /no container none of account/, 'restore', 'container', folder, 'none');
    await fails(server, /no queue photos/, 'restore', 'queue', folder, 'photos');
    await fails(server, /InvalidResourceName/, 'restore', 'container', folder, 'photos', '--as', 'No_Name');
    await fails(server, /The account nobody does not exist|no container photos/, 'restore', 'container', folder, 'photos', '--account', 'nobody');
    await fails(server, /is not a backup/, 'restore', 'container', server.location, 'photos');
    const backup = path.join(folder, (await readdir(folder))[0]);
    const extent = path.join(backup, 'extents', (await readdir(path.join(backup, 'extents')))[0]);
    const bytes = await readFile(extent);
    const at = bytes.indexOf(LARGE.subarray(1 << 20, (1 << 20) + 64));
    bytes[at] ^= 1;
    await rm(extent);
    await writeFile(extent, bytes);
    await fails(server, /cannot be read/, 'restore', 'container', folder, 'photos', '--as', 'again');
    await refused(blobs.getContainerClient('again').getProperties(), 404, undefined).catch(() => {});
    assert.equal(await blobs.getContainerClient('again').exists(), false);
    const records = (await readdir(path.join(backup, 'records'))).find((name) => name.endsWith('.log') || name.endsWith('.sst'));
    const record = path.join(backup, 'records', records);
    const table = await readFile(record);
    table[table.length >> 1] ^= 1;
    await rm(record);
    await writeFile(record, table);
    await fails(server, /is damaged/, 'restore', 'container', folder, 'photos', '--as', 'again');
});

test('kill -9 of the command or of the server leaves nothing of it to be seen, and it can be done again', async (t) => {
    const { server, folder, blobs } = await start(t);
    const container = blobs.getContainerClient('photos');
    await container.create();
    for (let i = 0; i < 8; i++)
        await container.getBlockBlobClient(`large${i}`).upload(LARGE, LARGE.length);
    await done(server, 'backup', folder);
    for (const victim of ['command', 'server', 'command', 'server']) {
        const child = spawn(process.env.LAGRA_BINARY, ['restore', 'container', folder, 'photos', '--as', 'again', '--location', server.location],
            { stdio: 'ignore' });
        const ended = new Promise((resolve) => child.once('close', resolve));
        await delay(40 + Math.random() * 150);
        if (victim === 'command') {
            child.kill('SIGKILL');
            await ended;
        }
        await server.kill();
        await ended;
        await server.restart();
        const now = clients(server);
        const again = now.blobs.getContainerClient('again');
        if (await again.exists()) {
            for (let i = 0; i < 8; i++)
                assert.ok((await again.getBlobClient(`large${i}`).downloadToBuffer()).equals(LARGE), 'all of it, or nothing');
            await again.delete();
        }
        assert.ok((await now.blobs.getContainerClient('photos').getBlobClient('large7').downloadToBuffer()).equals(LARGE));
    }
    await done(server, 'restore', 'container', folder, 'photos', '--as', 'again');
    const again = clients(server).blobs.getContainerClient('again');
    assert.ok((await again.getBlobClient('large3').downloadToBuffer()).equals(LARGE));
});
