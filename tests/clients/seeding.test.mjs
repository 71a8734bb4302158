// What a server has before it is ready: --seed, --containers and their like. docs/initial-data.md; decision: 533
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { TableClient, AzureNamedKeyCredential } from '@azure/data-tables';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as FileCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { run } from '../lib/program.mjs';
import { ANY_PORTS, Server } from '../lib/server.mjs';
import { account, collect, credential, once } from './setup.mjs';

const KEY = Buffer.alloc(64, 7).toString('base64');

async function newFolder(t) {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-seed-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

async function start(t, args, options = {}) {
    const server = await Server.start({ args, ...options });
    t.after(() => server.kill().then(() => server.remove()));
    const queues = new QueueServiceClient(server.urlOf('queue'), new QueueCredential(account.name, account.key), once);
    const table = (name) => new TableClient(server.urlOf('table'), name, new AzureNamedKeyCredential(account.name, account.key), { allowInsecureConnection: true });
    return { server, blobs: new BlobServiceClient(server.url, credential, once), queues, table,
        shares: new ShareServiceClient(server.urlOf('file'), new FileCredential(account.name, account.key), once) };
}

const names = async (list) => (await collect(list)).map(({ name }) => name);

/** A folder with a seed of everything: its path. */
async function fullSeed(t) {
    const folder = await newFolder(t);
    await mkdir(path.join(folder, 'site/img/empty'), { recursive: true });
    await writeFile(path.join(folder, 'site/index.html'), '<h1>Ada</h1>');
    await writeFile(path.join(folder, 'site/img/ü %41.png'), Buffer.alloc(9 << 20, 'png'));
    await writeFile(path.join(folder, 'site/img/none'), '');
    await writeFile(path.join(folder, 'a.json'), JSON.stringify({
        cors: { blob: [{ origins: ['https://a.example', 'https://b.example'], methods: ['GET', 'PUT'], headers: ['*'], exposedHeaders: ['x-ms-*'], maxAgeSeconds: 60 }] },
        containers: { photos: { access: 'blob', metadata: { Owner: 'ada' }, upload: 'site' }, private: {} },
        queues: { work: { metadata: { kind: 'x' }, messages: ['one', '<two> & "ü"'] }, idle: {} },
        tables: { people: { entities: [{ PartitionKey: 'Oslo', RowKey: '1', name: 'Ada', born: 1815, 'seen@odata.type': 'Edm.DateTime', seen: '2026-01-01T00:00:00Z' },
            { PartitionKey: 'Oslo', RowKey: '2' }] } },
        shares: { team: { quota: 7, metadata: { a: 'b' }, upload: 'site' } },
    }, null, 4));
    await writeFile(path.join(folder, 'b.json'), JSON.stringify({ accounts: { alpha: { key1: KEY, containers: { alphas: {} } }, [account.name]: { containers: { more: {} } } } }));
    await writeFile(path.join(folder, 'notes.txt'), 'not a seed');
    return folder;
}

async function look({ server, blobs, queues, table, shares }) {
    assert.deepEqual(await names(blobs.listContainers()), ['more', 'photos', 'private']);
    const photos = blobs.getContainerClient('photos');
    const { blobPublicAccess, metadata } = await photos.getProperties();
    assert.deepEqual({ blobPublicAccess, metadata }, { blobPublicAccess: 'blob', metadata: { owner: 'ada' } });
    assert.deepEqual(await names(photos.listBlobsFlat()), ['img/none', 'img/ü %41.png', 'index.html']);
    const index = photos.getBlobClient('index.html');
    assert.equal((await index.getProperties()).contentType, 'text/html');
    const png = Buffer.alloc(9 << 20, 'png');
    assert.ok(png.equals(await photos.getBlobClient('img/ü %41.png').downloadToBuffer()));
    assert.equal((await (await fetch(`${server.url}/photos/index.html`)).text()), '<h1>Ada</h1>');
    assert.deepEqual((await blobs.getProperties()).cors, [{ allowedOrigins: 'https://a.example,https://b.example', allowedMethods: 'GET,PUT',
        allowedHeaders: '*', exposedHeaders: 'x-ms-*', maxAgeInSeconds: 60 }]);
    assert.deepEqual(await names(queues.listQueues()), ['idle', 'work']);
    assert.deepEqual((await queues.getQueueClient('work').getProperties()).metadata, { kind: 'x' });
    const people = await collect(table('people').listEntities());
    assert.deepEqual(people.map(({ rowKey, name, born, seen }) => ({ rowKey, name, born, seen: seen && new Date(seen).getTime() })),
        [{ rowKey: '1', name: 'Ada', born: 1815, seen: Date.UTC(2026, 0) }, { rowKey: '2', name: undefined, born: undefined, seen: undefined }]);
    const team = shares.getShareClient('team');
    const properties = await team.getProperties();
    assert.deepEqual([properties.quota, properties.metadata], [7, { a: 'b' }]);
    const image = team.getDirectoryClient('img').getFileClient('ü %41.png');
    assert.ok(png.equals(await image.downloadToBuffer()));
    assert.deepEqual((await image.getProperties()).metadata, {});
    assert.ok(await team.getDirectoryClient('img/empty').exists());
    assert.equal((await team.getDirectoryClient('img').getFileClient('none').getProperties()).contentLength, 0);
    const alpha = new BlobServiceClient(server.url.replace(account.name, 'alpha'), new StorageSharedKeyCredential('alpha', KEY), once);
    assert.deepEqual(await names(alpha.listContainers()), ['alphas']);
}

const texts = async (queue) => (await queue.peekMessages({ numberOfMessages: 32 })).peekedMessageItems.map(({ messageText }) => messageText);

test('everything of a folder is there once the server is ready; again, it changes nothing', async (t) => {
    const folder = await fullSeed(t);
    const all = await start(t, ['--seed', folder, '--allowDevelopmentAccount']);
    const queue = all.queues.getQueueClient('work');
    await look(all);
    assert.deepEqual(await texts(queue), ['one', '<two> & "ü"']);
    // What users have changed stays.
    await all.blobs.getContainerClient('photos').getBlockBlobClient('index.html').upload('<h1>Bob</h1>', 12);
    await queue.clearMessages();
    await all.table('people').updateEntity({ partitionKey: 'Oslo', rowKey: '1', name: 'Bob' }, 'Replace');
    await all.shares.getShareClient('team').getDirectoryClient('').getFileClient('index.html').create(3);
    await all.server.stop({ keep: true });
    await all.server.restart();
    const { server } = all;
    const blobs = new BlobServiceClient(server.url, credential, once);
    assert.equal(String(await blobs.getContainerClient('photos').getBlobClient('index.html').downloadToBuffer()), '<h1>Bob</h1>');
    const queues = new QueueServiceClient(server.urlOf('queue'), new QueueCredential(account.name, account.key), once);
    assert.deepEqual(await texts(queues.getQueueClient('work')), []);
    const shares = new ShareServiceClient(server.urlOf('file'), new FileCredential(account.name, account.key), once);
    assert.equal((await shares.getShareClient('team').getDirectoryClient('').getFileClient('index.html').getProperties()).contentLength, 3);
});

test('in memory too; a start that was killed while it seeded is carried on by the next', async (t) => {
    const folder = await fullSeed(t);
    await look(await start(t, ['--seed', folder, '--inMemoryPersistence']));

    const messages = Array.from({ length: 3000 }, (_, i) => `m${i}`);
    await writeFile(path.join(folder, 'b.json'), JSON.stringify({ queues: { many: { messages } } }));
    const location = await newFolder(t);
    for (let i = 0; i < 4; i++)
        await run(['--location', location, '--seed', folder, ...ANY_PORTS, '--managementPort', '0'], {}, 150 + 250 * i);
    const { queues, shares } = await start(t, ['--seed', folder], { location });
    assert.equal((await queues.getQueueClient('many').getProperties()).approximateMessagesCount, 3000);
    assert.deepEqual(await texts(queues.getQueueClient('work')), ['one', '<two> & "ü"']);
    const image = shares.getShareClient('team').getDirectoryClient('img').getFileClient('ü %41.png');
    assert.ok(Buffer.alloc(9 << 20, 'png').equals(await image.downloadToBuffer()));
});

test('names in options and in the environment', async (t) => {
    const { blobs, queues, shares, server, table } = await start(t, ['--containers', 'aaa, bbb'],
        { env: { LAGRA_QUEUES: 'qqq', LAGRA_TABLES: 't1t,t2t', LAGRA_SHARES: 'sss' } });
    assert.deepEqual(await names(blobs.listContainers()), ['aaa', 'bbb']);
    assert.deepEqual(await names(queues.listQueues()), ['qqq']);
    assert.deepEqual(await collect(table('t2t').listEntities()), []);
    assert.deepEqual(await names(shares.listShares()), ['sss']);
    await server.stop({ keep: true });
    await server.restart();
});

test('a file with a fault ends the start, with its line and a reason, and changes nothing', async (t) => {
    const folder = await newFolder(t);
    const location = await newFolder(t);
    const seed = path.join(folder, 'seed.json');
    await mkdir(path.join(folder, 'linked'));
    await symlink('/etc/passwd', path.join(folder, 'linked/passwd'));
    await symlink('/etc', path.join(folder, 'etc'));
    await mkdir(path.join(folder, 'dotted'));
    await writeFile(path.join(folder, 'dotted/f.'), 'x');
    const lines = (...all) => all.join('\n');
    const faults = [
        ['', 1, /JSON/], ['[]', 1, /JSON|object/], ['{"containers":{"a":{}}', 1, /JSON/],
        [lines('{', '"containers": {"aaa": {}},', '"more": 1}'), 3, /the file has no member "more"/],
        [lines('{"containers": {', '"aaa": {},', '"bbb": {"acces": "blob"}}}'), 3, /bbb has no member "acces"/],
        [lines('{"containers": {', '"aaa": {"access": "blob", "access": "blob"}}}'), 2, /twice the member "access"/],
        [lines('{"containers": {', '"aaa": {"access": "all"}}}'), 2, /access must be/],
        [lines('{"containers": {', '"aaa": {', '"upload": "../x"}}}'), 3, /below that of the file/],
        [lines('{"containers": {', '"aaa": {', '"upload": "/etc"}}}'), 3, /below that of the file/],
        [lines('{"containers": {', '"aaa": {', '"upload": "etc"}}}'), 3, /cannot be read/],
        [lines('{"containers": {', '"aaa": {', '"upload": "missing"}}}'), 3, /No such file/],
        [lines('{"containers": {', '"aaa": {"metadata": {"a b": "c"}}}}'), 2, /metadata requires/],
        [lines('{"containers": {', '"aaa": {"metadata": {"a": "\\u0001"}}}}'), 2, /metadata requires/],
        [lines('{"queues": {', '"aaa": {"messages": [', '"a", 1]}}}'), 3, /a message must be a non-empty string/],
        [lines('{"tables": {', '"aaa": {"entities": [', '{},', '"x"]}}}'), 4, /an entity must be an object/],
        [lines('{"shares": {', '"aaa": {"quota": 0}}}'), 2, /quota requires/],
        [lines('{"cors": {', '"blob": [{"origin": ["*"]}]}}'), 2, /a rule has no member "origin"/],
        [lines('{"cors": {', '"blob": [{"origins": "*"}]}}'), 2, /lists of strings/],
        [lines('{"cors": {', '"blobs": []}}'), 2, /no member "blobs"/],
        [lines('{"accounts": {', '"alpha": {"containers": {}}}}'), 2, /requires key1/],
        [lines('{"accounts": {', '"Alpha": {"key1": "AAAA"}}}'), 2, /lower-case/],
        [lines('{"accounts": {', '"alpha": {"key1": "?"}}}'), 2, /base64/],
        [`{"containers":${'{"a":'.repeat(40)}1${'}'.repeat(41)}`, 1, /JSON/],
    ];
    for (const [text, line, why] of faults) {
        await writeFile(seed, text);
        const { code, errors } = await run(['--location', location, '--seed', seed, ...ANY_PORTS, '--managementPort', '0']);
        assert.equal(code, 1, text);
        assert.match(errors, new RegExp(`seed\\.json:${line}: `), `${text}\n${errors}`);
        assert.match(errors, why);
    }
    // What only the service knows, and what lies in a folder, is found when it is made.
    for (const [text, line, why] of [
        [lines('{"containers": {', '"good": {},', '"Bad--Name": {}}}'), 3, /Bad--Name: InvalidResourceName/],
        [lines('{"containers": {', '"good": {},', '"dot.": {}}}'), 3, /dot\.: InvalidResourceName/],
        [lines('{"tables": {"ttt": {', '"entities": [', '{"PartitionKey": "a"}]}}}'), 3, /PropertiesNeedValue/],
        [lines('{"containers": {', '"good": {"upload": "linked"}}}'), 2, /passwd cannot be read|neither a file/],
        [lines('{"containers": {', '"good": {"upload": "dotted"}}}'), 2, /f\. is a name that the Blob service would change/],
    ]) {
        await writeFile(seed, text);
        const { code, errors } = await run(['--inMemoryPersistence', '--seed', seed, ...ANY_PORTS, '--managementPort', '0']);
        assert.equal(code, 1, text);
        assert.match(errors, new RegExp(`seed\\.json:${line}: `), errors);
        assert.match(errors, why);
    }
    const missing = await run(['--inMemoryPersistence', '--seed', path.join(folder, 'none'), '--blobPort', '0']);
    assert.deepEqual([missing.code, /cannot be read: No such file/.test(missing.errors)], [1, true], missing.errors);
    const empty = await run(['--inMemoryPersistence', '--seed', path.join(folder, 'linked'), '--blobPort', '0']);
    assert.match(empty.errors, /contains no \*\.json files/);
    const { blobs } = await start(t, [], { location });
    assert.deepEqual(await names(blobs.listContainers()), []);
});

test('the example of docs/initial-data.md is a seed', async (t) => {
    const folder = await newFolder(t);
    const text = await readFile(path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../docs/initial-data.md'), 'utf8');
    await mkdir(path.join(folder, 'site'));
    await writeFile(path.join(folder, 'site/index.html'), 'x');
    await writeFile(path.join(folder, 'seed.json'), /```json\n([^]*?)```/.exec(text)[1]);
    const { blobs } = await start(t, ['--seed', path.join(folder, 'seed.json'), '--sandbox', 'on']);
    assert.ok(await blobs.getContainerClient('photos').getBlobClient('index.html').exists());
});
