// lagra import and export: an account from another server, killed on its way, and as files. docs/import.md; decisions 591-596
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once as event } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync, statSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { TableClient, TableServiceClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { ShareServiceClient } from '@azure/storage-file-share';
import { Server } from '../lib/server.mjs';
import { collect, credential, once, pattern } from './setup.mjs';
import { tableCredential } from './tables-setup.mjs';

const LARGE = pattern(9 << 20, 7);

export function clients(server) {
    const tables = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
    return {
        server,
        blobs: new BlobServiceClient(server.url, credential, once),
        queues: new QueueServiceClient(server.urlOf('queue'), credential, once),
        tables: new TableServiceClient(server.urlOf('table'), tableCredential, tables),
        table: (name) => new TableClient(server.urlOf('table'), name, tableCredential, tables),
        files: new ShareServiceClient(server.urlOf('file'), credential, once),
    };
}

async function start(t) {
    const server = await Server.start();
    t.after(() => server.kill().then(() => server.remove()));
    return clients(server);
}

async function newFolder(t) {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-import-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

/** How many things the journal in the folder says to be copied. */
function entries(folder) {
    const journal = path.join(folder, 'lagra-import.journal');
    return existsSync(journal) ? Math.floor((statSync(journal).size - 47) / 32) : 0;
}

/** The program in a folder, with these connection strings; `kill`: it is killed when its journal has so many entries; `begun` is
 *  called with its process. */
async function lagra(folder, words, { from, to, kill, begun } = {}) {
    const env = { ...process.env, LAGRA_FROM_CONNECTION_STRING: from?.server.connectionString ?? '',
        AZURE_STORAGE_CONNECTION_STRING: to?.server.connectionString ?? '' };
    const child = spawn(process.env.LAGRA_BINARY, words, { cwd: folder, env });
    let output = '', errors = '';
    begun?.(child);
    child.stdout.on('data', (bytes) => { output += bytes; });
    child.stderr.on('data', (bytes) => { errors += bytes; });
    const look = setInterval(() => {
        if (kill !== undefined && entries(folder) >= kill)
            child.kill('SIGKILL');
    }, 2);
    const [code, signal] = await event(child, 'close');
    clearInterval(look);
    return { code, signal, output, errors };
}

async function done(folder, words, sides) {
    const { code, output, errors } = await lagra(folder, [...words, '--json'], sides);
    assert.equal(code, 0, errors + output);
    return JSON.parse(output.trim().split('\n').at(-1));
}

// ---- what is in an account ----

async function fillBlobs({ blobs }) {
    const container = blobs.getContainerClient('photos');
    await container.create({ metadata: { Of: 'mine' }, access: 'blob' });
    await container.setAccessPolicy('blob', [{ id: 'p', accessPolicy: { permissions: 'r', expiresOn: new Date(Date.now() + 1e9), startsOn: new Date(0) } }]);
    const small = container.getBlockBlobClient('a/ä \u{1F600} %2F?.txt');
    await small.upload('one', 3, { metadata: { m: '1' } });
    await small.createSnapshot();
    await small.upload('two!', 4, { metadata: { Mixed: 'Case' }, tags: { t: 'y z', u: '' }, tier: 'Cool',
        blobHTTPHeaders: { blobContentType: 'text/x', blobCacheControl: 'no-store', blobContentLanguage: 'nb', blobContentDisposition: 'inline' } });
    await container.getBlockBlobClient('a').upload('', 0);
    await container.getBlockBlobClient('a/').upload('slash', 5);
    await container.getBlockBlobClient('.../up').upload('up', 2);
    await container.getBlockBlobClient('x'.repeat(1000)).upload('long', 4);
    await container.getBlockBlobClient('large').uploadData(LARGE, { blockSize: 1 << 20, maxSingleShotSize: 1 << 20 });
    const append = container.getAppendBlobClient('append');
    await append.create();
    await append.appendBlock('line 1\n', 7);
    await append.appendBlock('line 2\n', 7);
    const pages = container.getPageBlobClient('pages');
    await pages.create(1 << 20, { blobSequenceNumber: 7 });
    await pages.uploadPages(LARGE.subarray(0, 1024), 512, 1024);
    await pages.uploadPages(LARGE.subarray(0, 512), 65536, 512);
    await blobs.getContainerClient('empty').create();
    await blobs.setProperties({ cors: [{ allowedOrigins: '*', allowedMethods: 'GET', allowedHeaders: '', exposedHeaders: '', maxAgeInSeconds: 5 }] });
}

async function fillQueues({ queues }) {
    const few = queues.getQueueClient('few');
    await few.create({ metadata: { of: 'q' } });
    for (const text of ['first <&>', 'second', 'third ä'])
        await few.sendMessage(text, { messageTimeToLive: 3600 });
    const many = queues.getQueueClient('many');
    await many.create();
    for (let i = 0; i < 70; i++)
        await many.sendMessage(`message ${i}`, { messageTimeToLive: -1 });
}

async function fillTables({ tables, table }) {
    await tables.createTable('People');
    const people = table('People');
    await people.createEntity({ partitionKey: "O'slo", rowKey: 'a b%', name: 'Ada "\u00e9"', born: 1815, tall: 1.0, big: { type: 'Int64', value: '9007199254740993' },
        when: { type: 'DateTime', value: '2020-01-02T03:04:05.678Z' }, id: { type: 'Guid', value: '0b1b2b3b-1111-2222-3333-444455556666' },
        bytes: new Uint8Array([1, 2, 255]), yes: true, looksLikeTime: '2020-01-02T03:04:05.678Z', half: { type: 'Double', value: '0.5' }, whole: { type: 'Double', value: '3' } });
    for (let i = 0; i < 30; i++)
        await people.createEntity({ partitionKey: `p${i % 3}`, rowKey: `${i}`, i });
}

async function fillShares({ files }) {
    const share = files.getShareClient('team');
    await share.create({ quota: 7, metadata: { of: 's' } });
    await share.getDirectoryClient('a').create({ metadata: { d: '1' } });
    await share.getDirectoryClient('a/b c').create();
    const file = share.getDirectoryClient('a/b c').getFileClient('é.bin');
    await file.create(1 << 20, { fileHttpHeaders: { fileContentType: 'text/y' }, metadata: { f: '2' }, lastWriteTime: new Date(1e12) });
    await file.uploadRange(LARGE.subarray(0, 1000), 4096, 1000);
    await share.rootDirectoryClient.getFileClient('empty').create(0);
}

async function fill(account) {
    await fillBlobs(account);
    await fillQueues(account);
    await fillTables(account);
    await fillShares(account);
}

async function shownBlobs({ blobs }) {
    const all = {};
    for (const { name, metadata, properties: { publicAccess } } of await collect(blobs.listContainers({ includeMetadata: true }))) {
        const container = blobs.getContainerClient(name);
        const { signedIdentifiers } = await container.getAccessPolicy();
        const list = [];
        for (const item of await collect(container.listBlobsFlat({ includeSnapshots: true, includeMetadata: true, includeTags: true }))) {
            let blob = container.getBlobClient(item.name);
            if (item.snapshot)
                blob = blob.withSnapshot(item.snapshot);
            const bytes = item.properties.contentLength > 0 ? await blob.downloadToBuffer() : Buffer.alloc(0);
            const { contentLength, contentType, contentEncoding, contentLanguage, cacheControl, contentDisposition, blobType, accessTier, blobSequenceNumber } = item.properties;
            list.push({ name: item.name, isSnapshot: Boolean(item.snapshot), metadata: item.metadata, tags: item.tags, bytes: bytes.toString('base64'),
                contentLength, contentType, contentEncoding, contentLanguage, cacheControl, contentDisposition, blobType, accessTier, blobSequenceNumber });
        }
        all[name] = { metadata, publicAccess, signedIdentifiers, list };
    }
    return all;
}

async function shownQueues({ queues }) {
    const all = {};
    for (const { name, metadata } of await collect(queues.listQueues({ includeMetadata: true }))) {
        const queue = queues.getQueueClient(name);
        const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32, visibilityTimeout: 1 });
        all[name] = { metadata, count: (await queue.getProperties()).approximateMessagesCount,
            first: receivedMessageItems.map((m) => m.messageText), expires: receivedMessageItems.map((m) => Math.abs(m.expiresOn - Date.now() - 3600000) < 120000) };
    }
    return all;
}

async function shownTables({ tables, table }) {
    const all = {};
    for (const { name } of await collect(tables.listTables()))
        all[name] = (await collect(table(name).listEntities({ disableTypeConversion: true }))).map(({ etag, timestamp, ...entity }) => entity);
    return all;
}

async function shownDirectory(directory) {
    const all = [];
    for (const entry of await collect(directory.listFilesAndDirectories())) {
        if (entry.kind === 'directory') {
            const next = directory.getDirectoryClient(entry.name);
            all.push([entry.name, (await next.getProperties()).metadata, await shownDirectory(next)]);
        } else {
            const file = directory.getFileClient(entry.name);
            const { metadata, contentType, contentLength, fileLastWriteOn, fileCreatedOn, fileAttributes } = await file.getProperties();
            const { rangeList } = await file.getRangeList();
            const bytes = contentLength > 0 ? await file.downloadToBuffer() : Buffer.alloc(0);
            all.push([entry.name, metadata, contentType, contentLength, fileLastWriteOn, fileCreatedOn, fileAttributes, rangeList, bytes.toString('base64')]);
        }
    }
    return all;
}

async function shownShares({ files }) {
    const all = {};
    for (const { name, metadata, properties: { quota } } of await collect(files.listShares({ includeMetadata: true })))
        all[name] = { metadata, quota, entries: await shownDirectory(files.getShareClient(name).rootDirectoryClient) };
    return all;
}

async function shown(account) {
    const { cors } = await account.blobs.getProperties();
    return { cors, blobs: await shownBlobs(account), queues: await shownQueues(account), tables: await shownTables(account), shares: await shownShares(account) };
}

// ---- from a server ----

// All kinds of things come over with what is said of them. decision: 591
test('import of an account from another server', async (t) => {
    const [from, to] = await Promise.all([start(t), start(t)]);
    const folder = await newFolder(t);
    await fill(from);
    await from.files.getShareClient('team').createSnapshot();
    await from.blobs.getContainerClient('empty').getBlobLeaseClient().acquireLease(-1);
    const refusedQueue = await lagra(folder, ['import', '--json'], { from, to });
    assert.equal(refusedQueue.code, 1);
    assert.match(refusedQueue.errors, /queue many has 70 messages/);
    assert.ok(existsSync(path.join(folder, 'lagra-import.journal')));
    const result = await done(folder, ['import', '--receive-messages'], { from, to });
    assert.equal(result.missing + result.differing + result.problems, 0);
    assert.deepEqual(result.leftOut, { deletedStates: 0, shareSnapshots: 1, leases: 1, policies: 0, ownContainers: 0, accessControl: 0 });
    assert.equal(result.messages, 70, 'the queue with few messages was copied before');
    assert.ok(result.skipped > 30);
    assert.ok(!existsSync(path.join(folder, 'lagra-import.journal')), 'what is over needs no journal');
    assert.deepEqual(await shown(to), await shown(from));
    // Received messages are back in their order at the source.
    assert.deepEqual((await from.queues.getQueueClient('many').peekMessages({ numberOfMessages: 2 })).peekedMessageItems.map((m) => m.messageText).length, 2);
});

// Killed again and again, the same command ends with the same account. decision: 594
test('an import that is killed goes on', async (t) => {
    const [from, to] = await Promise.all([start(t), start(t)]);
    const folder = await newFolder(t);
    await fill(from);
    const container = from.blobs.getContainerClient('many');
    await container.create();
    for (let i = 0; i < 300; i += 20)
        await Promise.all(Array.from({ length: 20 }, (_, j) => container.getBlockBlobClient(`b${i + j}`).upload(`bytes ${i + j}`, `bytes ${i + j}`.length)));
    for (const kill of [2, 100, 250]) {
        const { signal } = await lagra(folder, ['import', '--receive-messages', '--workers', '2'], { from, to, kill });
        assert.equal(signal, 'SIGKILL');
    }
    const result = await done(folder, ['import', '--receive-messages'], { from, to });
    assert.equal(result.missing + result.differing + result.problems, 0);
    assert.ok(result.skipped >= 249 - 70, 'what was copied is not copied again'); // messages that are noted are entries, too
    assert.deepEqual(await shown(to), await shown(from));
});

/** Passes requests on to a server's queues, but not their answers where `swallows` says so: it is asked of each request. */
async function queuesThrough(t, server, swallows) {
    const port = new URL(server.urlOf('queue')).port;
    const proxy = http.createServer((request, response) => {
        const onward = http.request({ host: '127.0.0.1', port, method: request.method, path: request.url, headers: request.headers }, (answer) => {
            if (swallows(request))
                return response.destroy();
            response.writeHead(answer.statusCode, answer.headers);
            answer.pipe(response);
        });
        request.pipe(onward);
    });
    proxy.listen(0, '127.0.0.1');
    await event(proxy, 'listening');
    t.after(() => proxy.close());
    return { server: { connectionString: server.connectionString.replace(`:${port}/`, `:${proxy.address().port}/`) } };
}

async function receivedOf({ queues }, name) {
    const texts = [];
    for (let last = 32; last > 0;) {
        const { receivedMessageItems } = await queues.getQueueClient(name).receiveMessages({ numberOfMessages: 32, visibilityTimeout: 600 });
        texts.push(...receivedMessageItems.map(({ messageText }) => messageText));
        last = receivedMessageItems.length;
    }
    return texts;
}

// Killed while messages of the source are hidden, and while they are given back: they keep their order on both sides. decision: 730
test('an import that is killed while it receives messages keeps their order', async (t) => {
    const [from, to] = await Promise.all([start(t), start(t)]);
    const folder = await newFolder(t);
    const queue = from.queues.getQueueClient('many');
    const texts = Array.from({ length: 100 }, (_, i) => `message ${i}`);
    let child, left = 0, wanted;
    await queue.create();
    for (const text of texts)
        await queue.sendMessage(text);
    const through = await queuesThrough(t, from.server, (request) => {
        if (!child || !wanted.test(`${request.method} ${request.url}`) || --left > 0)
            return false;
        child.kill('SIGKILL');
        return true;
    });
    for (const [what, after] of [[/^GET .*\/many\/messages\?numofmessages=/, 2], [/^PUT .*\/many\/messages\//, 40]]) {
        [wanted, left] = [what, after];
        const { signal, errors } = await lagra(folder, ['import', '--receive-messages'], { from: through, to, begun: (process) => { child = process; } });
        assert.equal(signal, 'SIGKILL', errors);
    }
    child = undefined;
    await done(folder, ['import', '--receive-messages'], { from: through, to });
    assert.deepEqual(await receivedOf(to, 'many'), texts);
    assert.deepEqual(await receivedOf(from, 'many'), texts);
});

// What is at the target beside stays; what has the name becomes that of the source; messages of others are left alone.
test('an import into an account with things of its own', async (t) => {
    const [from, to] = await Promise.all([start(t), start(t)]);
    const folder = await newFolder(t);
    const mine = from.blobs.getContainerClient('ccc'), theirs = to.blobs.getContainerClient('ccc');
    await mine.create({ metadata: { of: 'mine' } });
    await theirs.create({ metadata: { of: 'theirs' } });
    await mine.getBlockBlobClient('b').upload('mine', 4);
    await theirs.getBlockBlobClient('b').upload('theirs', 6);
    await theirs.getBlockBlobClient('other').upload('other', 5);
    await from.queues.getQueueClient('qqq').create();
    await to.queues.getQueueClient('qqq').create();
    await to.queues.getQueueClient('qqq').sendMessage('theirs');
    const { code, errors } = await lagra(folder, ['import'], { from, to });
    assert.equal(code, 1);
    assert.match(errors, /a queue qqq with messages: left unchanged/);
    assert.equal((await theirs.getBlobClient('b').downloadToBuffer()).toString(), 'mine');
    assert.equal((await theirs.getBlobClient('other').downloadToBuffer()).toString(), 'other');
    assert.deepEqual((await theirs.getProperties()).metadata, { of: 'mine' });
    assert.equal((await to.queues.getQueueClient('qqq').peekMessages()).peekedMessageItems.length, 1);
});

// A source that lies: its values become no headers, its names no paths, its listings end, its bytes have their MD5.
test('an import from a hostile source', async (t) => {
    const to = await start(t);
    const folder = await newFolder(t);
    const answers = { list: '', blob: 'bytes', headers: {} };
    const source = http.createServer((request, response) => {
        const url = new URL(request.url, 'http://x');
        const query = url.searchParams;
        const send = (body) => response.setHeader('Content-Length', Buffer.byteLength(body)).end(body);
        for (const [name, value] of Object.entries(answers.headers))
            response.setHeader(name, value);
        if (query.get('comp') === 'list' && !query.get('restype'))
            return send('<EnumerationResults><Containers><Container><Name>ccc</Name><Properties/></Container></Containers></EnumerationResults>');
        if (query.get('comp') === 'list')
            return send(answers.list);
        if (query.get('comp'))
            return send('<X/>');
        return send(answers.blob);
    });
    source.listen(0, '127.0.0.1');
    await event(source, 'listening');
    t.after(() => source.close());
    const from = { server: { connectionString: `AccountName=x;AccountKey=c2VjcmV0;BlobEndpoint=http://127.0.0.1:${source.address().port}/x` } };
    const blob = (more, properties = '') => `<EnumerationResults><Blobs><Blob><Name>b</Name><Properties><BlobType>BlockBlob</BlobType><Content-Length>5</Content-Length>${properties}</Properties>${more}</Blob></Blobs></EnumerationResults>`;
    const cases = [
        [blob('<Metadata><m>a\r\nx-ms-meta-evil: 1</m></Metadata>'), /invalid in a header/],
        [blob('', `<Content-MD5>${Buffer.alloc(16).toString('base64')}</Content-MD5>`), /MD5 mismatch/],
        [blob('').replace('>5<', '>6<'), /5 bytes came instead of 6/],
        [blob('').replace('>5<', '>99999999999999<'), /instead of|too large/],
        [blob('').replace('BlockBlob', 'NoBlob'), /unknown blob type/],
        [blob('').replace('</Blobs>', '</Blobs><NextMarker>same</NextMarker>'), /does not end/],
        ['<EnumerationResults><Blobs>', /not valid XML/],
        ['<!DOCTYPE x [<!ENTITY a "b">]><EnumerationResults>&a;</EnumerationResults>', /not valid XML/],
        ['<EnumerationResults><Blobs><Blob><Properties/></Blob></Blobs></EnumerationResults>', /without a name/],
    ];
    for (const [list, expected] of cases) {
        answers.list = list;
        await rm(path.join(folder, 'lagra-import.journal'), { force: true });
        const { code, errors } = await lagra(folder, ['import'], { from, to });
        assert.equal(code, 1);
        assert.match(errors, expected);
        assert.doesNotMatch(errors, /c2VjcmV0/, 'no key is ever said');
    }
    answers.list = blob('', `<Content-MD5>${Buffer.alloc(16).toString('base64')}</Content-MD5>`).replace('>b<', '>\u009b31m\u007fb<');
    const { errors } = await lagra(folder, ['export', 'out', '--journal', 'other'], { from });
    assert.match(errors, /ccc\/\\xc2\\x9b31m\\x7fb: .*MD5 mismatch/, 'nothing that a terminal obeys');
});

// Of a blob that is deleted nothing is left that could have them.
test('an import says what it leaves out', async (t) => {
    const to = await start(t);
    const folder = await newFolder(t);
    const source = http.createServer((request, response) => {
        const query = new URL(request.url, 'http://x').searchParams;
        const list = query.get('restype') === 'container' ? '<Blobs><Blob><Name>b</Name><VersionId>2026-01-01T00:00:00.0000000Z</VersionId><Properties>' +
            '<BlobType>BlockBlob</BlobType><Content-Length>5</Content-Length></Properties></Blob></Blobs>'
            : '<Containers><Container><Name>ccc</Name><Properties/></Container><Container><Name>$logs</Name><Properties/></Container></Containers>';
        response.end(query.get('comp') === 'list' ? `<EnumerationResults>${list}</EnumerationResults>` : '<X/>');
    });
    source.listen(0, '127.0.0.1');
    await event(source, 'listening');
    t.after(() => source.close());
    const from = { server: { connectionString: `AccountName=x;AccountKey=c2VjcmV0;BlobEndpoint=http://127.0.0.1:${source.address().port}/x` } };
    const { output, errors } = await lagra(folder, ['import'], { from, to });
    assert.match(output, /^not copied: 1 versions and snapshots of deleted blobs\nnot copied: 1 system containers$/m, errors);
});

// Else messages would be left behind, and nobody told.
test('an import from a queue that does not say how many messages it has', async (t) => {
    const to = await start(t);
    const folder = await newFolder(t);
    const source = http.createServer((request, response) => {
        const isList = new URL(request.url, 'http://x').searchParams.get('comp') === 'list';
        response.end(isList ? '<EnumerationResults><Queues><Queue><Name>qqq</Name></Queue></Queues></EnumerationResults>' : '');
    });
    source.listen(0, '127.0.0.1');
    await event(source, 'listening');
    t.after(() => source.close());
    const from = { server: { connectionString: `AccountName=x;AccountKey=c2VjcmV0;QueueEndpoint=http://127.0.0.1:${source.address().port}/x` } };
    const { code, errors } = await lagra(folder, ['import'], { from, to });
    assert.equal(code, 1);
    assert.match(errors, /does not say how many messages \/qqq has/);
});

// ---- as files ----

// An account goes out as files and comes in again, whatever its names are; killed on both ways. decision: 595
test('export to a folder, and import of it', async (t) => {
    const [from, to] = await Promise.all([start(t), start(t)]);
    const folder = await newFolder(t);
    const words = ['out', '--receive-messages', '--workers', '2'];
    await fill(from);
    const photos = from.blobs.getContainerClient('photos');
    for (const name of ['b/c', 'b', 'B', 'd', 'd/e', 'nul%00', 'con.', '%', '%/x', '.', 'f//g', '\u{1F600}/'.repeat(100) + 'x'])
        await photos.getBlockBlobClient(name === '.' ? '.x' : name).upload(name, Buffer.byteLength(name));
    for (const kill of [2, 100]) {
        const { signal } = await lagra(folder, ['export', ...words], { from, kill });
        assert.equal(signal, 'SIGKILL');
    }
    const out = await done(folder, ['export', ...words], { from });
    assert.ok(out.skipped >= 100 - 1 - 70, `${out.skipped} had been copied`); // one entry says that a queue was begun, and each of its messages is one
    const again = await lagra(folder, ['export', ...words], { from });
    assert.equal(again.code, 1);
    assert.match(again.errors, /out: it already contains an export/);
    assert.doesNotMatch(again.output, /goes on/);
    assert.ok(!existsSync(path.join(folder, 'lagra-import.journal')), 'the same again does not go on with it');
    const lines = (await readFile(path.join(folder, 'out', 'contents.jsonl'), 'utf8')).trim().split('\n').map((line) => JSON.parse(line));
    assert.equal((await readFile(path.join(folder, 'out', lines.find(({ name }) => name === 'b').states[0].file), 'utf8')), 'b');
    assert.equal(await readFile(path.join(folder, 'out', 'blobs', 'photos', 'f', '%', 'g'), 'utf8'), 'f//g');
    await from.server.stop({ keep: true });
    for (const kill of [2, 40]) {
        const { signal } = await lagra(folder, ['import', 'out', '--workers', '2'], { to, kill });
        assert.equal(signal, 'SIGKILL');
    }
    const result = await done(folder, ['import', 'out'], { to });
    assert.equal(result.missing + result.differing + result.problems, 0);
    await from.server.restart();
    assert.deepEqual(await shown(to), await shown(clients(from.server)));
});

// What others have put into an export leads out of it no more than what was exported. decision: 595
test('an import of a folder that lies', async (t) => {
    const to = await start(t);
    const folder = await newFolder(t);
    await mkdir(path.join(folder, 'in'));
    await writeFile(path.join(folder, 'secret'), 'secret');
    await symlink('../secret', path.join(folder, 'in', 'link'));
    execFileSync('mkfifo', [path.join(folder, 'in', 'pipe')]);
    const container = '{"kind":"container","parent":"ccc","states":[{}]}\n';
    await writeFile(path.join(folder, 'in', 'bytes'), 'secret');
    const blob = (file, size = 6, name = 'b') => JSON.stringify({ kind: 'blob', parent: 'ccc', name, states: [{ size, file, headers: { 'x-ms-blob-type': 'BlockBlob' } }] });
    const cases = [
        [blob('../secret'), /Invalid argument/],
        [blob('/etc/passwd'), /Invalid argument/],
        [blob('link'), /symbolic links/],
        [blob('pipe'), /Invalid argument/],
        [blob('a/./b'), /No such file|Invalid argument/],
        [blob('none'), /No such file/],
        // The service would store each under another name. decision: 39
        [blob('bytes', 6, 'f.'), /ccc\/f\.: the Blob service would store it as f/],
        [blob('bytes', 6, 'a/../b'), /would store it as b/],
        [blob('bytes', 6, 'a\\b'), /would store it as a\/b/],
        ['{"kind":"blob"', /line 1: it is not an object/],
        ['{"kind":"what","parent":"p","states":[]}', /unknown kind/],
        ['{"kind":"blob","parent":"","states":[{}]}', /no parent/],
        ['{"kind":"blob","parent":"p","states":[{"size":-1}]}', /one of its states/],
        ['{"kind":"file","parent":"p","states":[{"size":10,"ranges":[0,5,3,4]}]}', /one of its states/],
        ['{"kind":"file","parent":"p","states":[{"size":10,"ranges":[18446744073709551615,5]}]}', /one of its states/],
    ];
    for (const [line, expected] of cases) {
        await writeFile(path.join(folder, 'in', 'account.jsonl'), container);
        await writeFile(path.join(folder, 'in', 'contents.jsonl'), `${line}\n`);
        const { code, errors } = await lagra(folder, ['import', 'in'], { to });
        assert.equal(code, 1, errors);
        assert.match(errors, expected);
    }
});

// A folder's journal is of one pair of accounts, and used by one import at a time; what is not said is asked for.
test('what an import refuses', async (t) => {
    const to = await start(t);
    const folder = await newFolder(t);
    const says = async (words, expected, sides = { to }) => {
        const { code, errors } = await lagra(folder, words, sides);
        assert.equal(code, 1);
        assert.match(errors, expected);
    };
    await says(['import'], /specify the source/);
    await says(['import', '--from', 'ftp://x/y'], /not an http or https URL/);
    await says(['import', '--from', 'http://127.0.0.1:1/other'], /not signed and there is no key/);
    await says(['import', '--from', 'http://127.0.0.1:1/a/b'], /is that of an account/);
    await says(['import', '--workers', '0', '--from', 'http://127.0.0.1:1/devstoreaccount1'], /from 1 to 256/);
    await writeFile(path.join(folder, 'bad'), 'AccountName=x');
    await says(['import', '--from-connection-file', 'bad'], /neither AccountKey nor/);
    const url = 'http://127.0.0.1:1/devstoreaccount1';
    await says(['import', '--from', url, '--from-connection-file', 'bad'], /--from has no effect with --from-connection-file/);
    await says(['import', '--from', url, '--azurite', folder], /--from has no effect with --azurite/);
    await says(['import', 'in', '--from', url], /--from has no effect with a folder/);
    await says(['import', 'in', '--receive-messages'], /--receive-messages has no effect with a folder/);
    await says(['import', '--from-key-file', 'bad'], /--from-key-file has no effect without --from/);
    await says(['import', '--from', `${url}?sv=2026-04-06&sig=x`, '--from-key-file', 'bad'], /it is signed, so it needs no key/);
    await says(['import', '--azurite-account', 'other', 'in'], /--azurite-account has no effect without --azurite/);
    await says(['import', 'in', '--to-key-file', 'bad'], /--to-key-file has no effect without --to/);
    await says(['export', 'out', '--from-key-file', 'bad'], /--from-key-file has no effect without --from/);
    await writeFile(path.join(folder, 'lagra-import.journal'), randomBytes(100));
    await says(['import'], /not an import journal/, { from: to, to });
    assert.equal((await readFile(path.join(folder, 'lagra-import.journal'))).length, 100);
});
