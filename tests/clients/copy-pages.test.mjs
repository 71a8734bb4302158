// Copies of page and append blobs through the SDK, within this server and from another one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobSASPermissions, BlobServiceClient } from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { serve, sourceServer } from '../lib/source.mjs';
import { raw, rawRefused } from './raw.mjs';
import { credential, newContainer, once, pattern, refused, until } from './setup.mjs';

const MIB = 1 << 20, GIB = 1024 * MIB, TIB = 1024 * GIB;

const signed = (blob) => blob.generateSasUrl({
    permissions: BlobSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 600000),
});
const copied = async (target, source, options) =>
    (await target.beginCopyFromURL(source, { intervalInMs: 50, ...options })).pollUntilDone();
const rangesOf = async (blob) => ((await blob.getPageRanges()).pageRange ?? [])
    .map(({ offset, count }) => [offset, count + 1]);

async function newPageBlob(t, size, options) {
    const container = await newContainer(t);
    const blob = container.getPageBlobClient('disk');
    await blob.create(size, options);
    return { container, blob };
}

test('a page blob is copied with its ranges, its holes and its sequence number', async (t) => {
    // rest: Copy-Blob "Copying Properties, Tags, and Metadata"
    const { container, blob } = await newPageBlob(t, 8 * TIB, {
        blobSequenceNumber: 42, metadata: { a: '1' }, blobHTTPHeaders: { blobContentType: 'x/disk' },
    });
    const large = pattern(3 * MIB), small = pattern(1024, 3);
    await blob.uploadPages(large, MIB, large.length);
    await blob.uploadPages(small, 5 * GIB + 512, 1024);
    await blob.uploadPages(small, 8 * TIB - 1024, 1024);
    await blob.clearPages(2 * MIB, 4096);
    const target = container.getPageBlobClient('copy');
    const done = await copied(target, blob.url);
    assert.equal(done.copyStatus, 'success');
    const got = await target.getProperties();
    assert.deepEqual([got.blobType, got.contentLength, got.blobSequenceNumber, got.contentType, got.metadata],
        ['PageBlob', 8 * TIB, 42, 'x/disk', { a: '1' }]);
    assert.equal(got.copyProgress, `${8 * TIB}/${8 * TIB}`);
    const wanted = await rangesOf(blob);
    assert.equal(wanted.length, 4);
    assert.deepEqual(await rangesOf(target), wanted);
    assert.deepEqual(await target.downloadToBuffer(MIB, 3 * MIB), await blob.downloadToBuffer(MIB, 3 * MIB));
    assert.deepEqual(await target.downloadToBuffer(5 * GIB, 2048), await blob.downloadToBuffer(5 * GIB, 2048));
    // Each goes its own way.
    await target.uploadPages(Buffer.alloc(512, 'n'), MIB, 512);
    await blob.clearPages(5 * GIB, 4096);
    assert.deepEqual(await blob.downloadToBuffer(MIB, 512), large.subarray(0, 512));
    assert.deepEqual(await target.downloadToBuffer(5 * GIB + 512, 1024), small);
    await blob.delete();
    assert.deepEqual((await target.downloadToBuffer(MIB + 512, 512)), large.subarray(512, 1024));
});

test('a copy takes the place of a page blob, keeps its snapshots, and comes from a snapshot too', async (t) => {
    const { container, blob } = await newPageBlob(t, 4096);
    await blob.uploadPages(Buffer.alloc(512, '1'), 0, 512);
    const { snapshot } = await blob.createSnapshot();
    await blob.uploadPages(Buffer.alloc(512, '2'), 0, 512);
    const target = container.getPageBlobClient('copy');
    await target.create(1024);
    await target.uploadPages(Buffer.alloc(1024, 'o'), 0, 1024);
    const kept = await target.createSnapshot();
    await copied(target, blob.withSnapshot(snapshot).url);
    assert.equal((await target.getProperties()).contentLength, 4096);
    assert.equal((await target.downloadToBuffer(0, 512)).toString(), '1'.repeat(512));
    assert.equal((await target.withSnapshot(kept.snapshot).downloadToBuffer()).toString(), 'o'.repeat(1024));
    await copied(blob, blob.withSnapshot(snapshot).url); // back to what it was
    assert.equal((await blob.downloadToBuffer(0, 512)).toString(), '1'.repeat(512));
    await copied(target, blob.url);
    await target.uploadPages(Buffer.alloc(512, '3'), 512, 512);
    await target.delete({ deleteSnapshots: 'include' });
});

test('types are not mixed, and page blobs are copied by Copy Blob alone', async (t) => {
    // rest: Copy-Blob, Copy-Blob-From-URL
    const { container, blob } = await newPageBlob(t, 512);
    const block = container.getBlockBlobClient('block');
    await block.upload('x', 1);
    const log = container.getAppendBlobClient('log');
    await log.create();
    for (const [target, source] of [[block, blob], [blob, block], [log, block], [block, log], [blob, log], [log, blob]])
        await refused(target.beginCopyFromURL(source.url), 409, 'InvalidBlobType');
    for (const source of [blob, log])
        await refused(container.getBlobClient('n').syncCopyFromURL(await signed(source)), 409, 'CannotVerifyCopySource');
    const to = (headers) => raw('PUT', `/${container.containerName}/tier`, { 'x-ms-copy-source': blob.url, ...headers });
    await rawRefused(to({ 'x-ms-access-tier': 'Cool' }), 400, 'AccessTierNotSupportedForBlobType');
    await rawRefused(to({ 'x-ms-seal-blob': 'true' }), 400, 'InvalidHeaderValue');
    assert.equal((await to({ 'x-ms-access-tier': 'P10' })).status, 202);
    assert.equal((await container.getBlobClient('tier').getProperties()).accessTier, 'P10');
});

test('an append blob is copied with its count of blocks, and sealed or not', async (t) => {
    // rest: Copy-Blob "x-ms-seal-blob"; recorded Seal
    const container = await newContainer(t);
    const log = container.getAppendBlobClient('log');
    await log.create({ metadata: { a: '1' } });
    await log.appendBlock('one', 3);
    await log.appendBlock(pattern(100000), 100000);
    const target = container.getAppendBlobClient('copy');
    await copied(target, log.url);
    const open = await target.getProperties();
    assert.deepEqual([open.blobType, open.blobCommittedBlockCount, open.isSealed], ['AppendBlob', 2, undefined]);
    const added = await target.appendBlock('more', 4);
    assert.deepEqual([added.blobAppendOffset, added.blobCommittedBlockCount], ['100003', 3]);
    assert.deepEqual((await log.downloadToBuffer()), Buffer.concat([Buffer.from('one'), pattern(100000)]));
    await copied(target, log.url, { sealBlob: true });
    await refused(target.appendBlock('x', 1), 409, 'BlobIsSealed');
    await log.seal();
    const other = container.getAppendBlobClient('other');
    await copied(other, log.url);
    assert.equal((await other.getProperties()).isSealed, true); // as its source
    await copied(other, log.url, { sealBlob: false });
    await other.appendBlock('x', 1);
    const path = `/${container.containerName}/other`;
    await rawRefused(raw('PUT', path, { 'x-ms-copy-source': log.url, 'x-ms-seal-blob': 'perhaps' }), 400, 'InvalidHeaderValue');
});

test('a page blob of more than a step is pending first, and read when it is complete', async (t) => {
    // decision: 99
    const { container, blob } = await newPageBlob(t, 16 * GIB);
    const part = pattern(4 * MIB);
    for (let i = 0; i < 18; i++)
        await blob.uploadPages(part, i * 100 * MIB, part.length);
    const target = container.getPageBlobClient('copy');
    const begun = await target.beginCopyFromURL(blob.url, { intervalInMs: 50 });
    assert.equal((await begun.pollUntilDone()).copyStatus, 'success');
    assert.deepEqual(await rangesOf(target), await rangesOf(blob));
    for (const i of [0, 15, 16, 17])
        assert.ok((await target.downloadToBuffer(i * 100 * MIB, part.length)).equals(part));
    assert.equal((await target.getProperties()).copyProgress, `${16 * GIB}/${16 * GIB}`);
});

// What another server says of a page blob.
const pageHeaders = (length) => ({
    'x-ms-blob-type': 'PageBlob', 'x-ms-blob-sequence-number': '9', etag: '"1"', 'content-length': length,
});

async function newServer(t) {
    const server = await Server.start({ args: ['--allowCopyFrom', '127.0.0.1,::1'] });
    t.after(() => server.kill().then(() => server.remove()));
    const container = new BlobServiceClient(server.url, credential, once).getContainerClient('copies');
    await container.create();
    return { server, container };
}

test('page and append blobs of another server: pages of zeros are holes', async (t) => {
    // decision: 99
    const content = Buffer.alloc(10 * MIB);
    pattern(5000).copy(content, 4 * MIB - 700);
    const source = await sourceServer(t, {
        '/disk': serve(content, pageHeaders(content.length)),
        '/odd': serve(content.subarray(0, 1000), pageHeaders(1000)),
        '/log': serve(pattern(1000), { 'x-ms-blob-type': 'AppendBlob', 'x-ms-blob-committed-block-count': '3',
            'x-ms-blob-sealed': 'true' }),
    });
    const { container } = await newServer(t);
    const target = container.getPageBlobClient('copy');
    assert.equal((await copied(target, `${source.url}/disk`)).copyStatus, 'success');
    const got = await target.getProperties();
    assert.deepEqual([got.contentLength, got.blobSequenceNumber], [content.length, 9]);
    assert.deepEqual(await target.downloadToBuffer(), content);
    const start = Math.floor((4 * MIB - 700) / 512) * 512, end = Math.ceil((4 * MIB + 4300) / 512) * 512;
    assert.deepEqual(await rangesOf(target), [[start, end - start]]);
    await refused(container.getPageBlobClient('odd').beginCopyFromURL(`${source.url}/odd`), 409, 'CannotVerifyCopySource');
    const log = container.getAppendBlobClient('log');
    await copied(log, `${source.url}/log`);
    const properties = await log.getProperties();
    assert.deepEqual([properties.blobCommittedBlockCount, properties.isSealed, properties.contentLength], [3, true, 1000]);
});

test('a pending copy of a page blob is aborted, or goes on where it was after a restart', async (t) => {
    // rest: Copy-Blob, Abort-Copy-Blob
    const content = Buffer.concat([pattern(6 * MIB, 1), pattern(6 * MIB, 2)]);
    const waiting = [];
    const source = await sourceServer(t, {
        '/disk': (request, response) => {
            const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
            const headers = pageHeaders(content.length - from);
            if (from > 0)
                headers['content-range'] = `bytes ${from}-${content.length - 1}/${content.length}`;
            response.writeHead(from > 0 ? 206 : 200, headers);
            response.write(content.subarray(from, Math.max(from, 6 * MIB)));
            waiting.push({ response, from });
        },
    });
    const goOn = () => waiting.splice(0).forEach(({ response, from }) =>
        response.end(content.subarray(Math.max(from, 6 * MIB))));
    const { server, container } = await newServer(t);
    const target = container.getPageBlobClient('copy');
    await target.create(1024);
    await target.uploadPages(Buffer.alloc(1024, 'o'), 0, 1024);
    const { copyId } = (await target.beginCopyFromURL(`${source.url}/disk`)).getOperationState();
    const progress = async () => (await target.getProperties()).copyProgress;
    await until(async () => (await progress()) === `${4 * MIB}/${content.length}`);
    assert.equal((await target.downloadToBuffer()).toString(), 'o'.repeat(1024));
    await refused(target.uploadPages(Buffer.alloc(512), 0, 512), 409, 'PendingCopyOperation');
    await refused(target.getPageRanges(), 409, 'PendingCopyOperation'); // decision: 855
    await target.abortCopyFromURL(copyId);
    const aborted = await target.getProperties();
    assert.deepEqual([aborted.copyStatus, aborted.contentLength, aborted.blobType], ['aborted', 0, 'PageBlob']);
    goOn();
    await target.resize(512);
    await target.uploadPages(Buffer.alloc(512, 'n'), 0, 512);

    await target.beginCopyFromURL(`${source.url}/disk`);
    await until(async () => (await progress()) === `${4 * MIB}/${content.length}`);
    await server.kill();
    waiting.splice(0).forEach(({ response }) => response.destroy());
    await server.restart();
    await until(() => waiting.length > 0);
    assert.equal(waiting[0].from, 4 * MIB); // goes on there
    goOn();
    const again = new BlobServiceClient(server.url, credential, once).getContainerClient('copies')
        .getPageBlobClient('copy');
    await until(async () => (await again.getProperties()).copyStatus === 'success');
    assert.deepEqual(await again.downloadToBuffer(), content);
});
