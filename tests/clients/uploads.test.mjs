// Block blobs through the SDK: what is put is what is got.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { bytesOf, longMode, md5, newBlob, newContainer, pattern, refused } from './setup.mjs';

const KiB = 1024, MiB = 1024 * 1024;

for (const size of [0, 1, KiB, 16 * KiB, 16 * KiB + 1, 5 * MiB]) {
    test(`${size} bytes go up in one Put Blob and come back`, async (t) => {
        // rest: Put-Blob, Get-Blob: the service computes and keeps the MD5 of a whole Put Blob
        const container = await newContainer(t);
        const blob = container.getBlockBlobClient('blob');
        const content = pattern(size);
        const put = await blob.upload(content, size);
        assert.equal(put._response.status, 201);
        assert.deepEqual(Buffer.from(put.contentMD5), md5(content));
        assert.equal(put.isServerEncrypted, true);

        const got = await blob.download();
        assert.equal(got._response.status, 200);
        assert.equal(got.contentLength, size);
        assert.equal(got.blobType, 'BlockBlob');
        assert.equal(got.etag, put.etag);
        assert.equal(got.acceptRanges, 'bytes');
        assert.deepEqual(Buffer.from(got.contentMD5), md5(content));
        assert.ok((await bytesOf(got)).equals(content));

        const properties = await blob.getProperties();
        assert.equal(properties.contentLength, size);
        assert.equal(properties.contentType, 'application/octet-stream');
        assert.equal(properties.etag, put.etag);
        assert.equal(properties.lastModified.getTime(), put.lastModified.getTime());
        assert.ok(properties.createdOn <= new Date());
        assert.deepEqual(Buffer.from(properties.contentMD5), md5(content));
    });
}

test('256 MiB in one Put Blob', { skip: !longMode && 'LAGRA_LONG_TESTS=1 runs it' }, async (t) => {
    // semantics 10.1: the SDK sends up to 256 MiB in one request
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('large');
    const content = pattern(256 * MiB);
    const put = await blob.upload(content, content.length);
    assert.deepEqual(Buffer.from(put.contentMD5), md5(content));
    assert.ok((await bytesOf(await blob.download())).equals(content));
});

test('an overwrite replaces all but the creation time', async (t) => {
    // rest: Put-Blob
    const { blob, etag } = await newBlob(t, 'first', {
        metadata: { a: '1' }, blobHTTPHeaders: { blobContentType: 'text/plain' },
    });
    const first = await blob.getProperties();
    const put = await blob.upload('the second', 10);
    assert.notEqual(put.etag, etag);
    assert.ok(BigInt(JSON.parse(put.etag)) > BigInt(JSON.parse(etag)));
    const second = await blob.getProperties();
    assert.equal(second.contentLength, 10);
    assert.deepEqual(second.metadata, {});
    assert.equal(second.contentType, 'application/octet-stream');
    assert.equal(second.createdOn.getTime(), first.createdOn.getTime());
});

test('HTTP headers are kept, answered, and replaced as a whole', async (t) => {
    // rest: Set-Blob-Properties: what is not given is cleared
    const headers = {
        blobContentType: 'text/html; charset=utf-8', blobContentEncoding: 'gzip',
        blobContentLanguage: 'de, en', blobContentDisposition: 'attachment; filename="a b.txt"',
        blobCacheControl: 'max-age=60', blobContentMD5: new Uint8Array(md5('content')),
    };
    const { blob, etag } = await newBlob(t, 'content', { blobHTTPHeaders: headers });
    for (const got of [await blob.getProperties(), await blob.download()]) {
        assert.equal(got.contentType, headers.blobContentType);
        assert.equal(got.contentEncoding, 'gzip');
        assert.equal(got.contentLanguage, 'de, en');
        assert.equal(got.contentDisposition, headers.blobContentDisposition);
        assert.equal(got.cacheControl, 'max-age=60');
        assert.deepEqual(Buffer.from(got.contentMD5), md5('content'));
        got.readableStreamBody?.resume();
    }
    const set = await blob.setHTTPHeaders({ blobContentType: 'text/css' });
    assert.notEqual(set.etag, etag);
    const after = await blob.getProperties();
    assert.equal(after.etag, set.etag);
    assert.equal(after.contentType, 'text/css');
    for (const name of ['contentEncoding', 'contentLanguage', 'contentDisposition', 'cacheControl'])
        assert.ok(!after[name], name);
    assert.equal(after.contentMD5, undefined);
    assert.equal((await blob.downloadToBuffer()).toString(), 'content');
});

test('metadata is replaced as a whole', async (t) => {
    // rest: Set-Blob-Metadata
    const { blob, etag } =
        await newBlob(t, 'x', { metadata: { Upper: 'Value', _u1: 'a=b; c, d' } });
    assert.deepEqual((await blob.getProperties()).metadata, { upper: 'Value', _u1: 'a=b; c, d' });
    const set = await blob.setMetadata({ other: 'v' });
    assert.notEqual(set.etag, etag);
    const after = await blob.getProperties();
    assert.equal(after.etag, set.etag);
    assert.deepEqual(after.metadata, { other: 'v' });
    assert.equal(after.contentLength, 1);
    await blob.setMetadata({});
    assert.deepEqual((await blob.getProperties()).metadata, {});
});

test('metadata names that are no C# identifiers are refused', async (t) => {
    // rest: Naming-and-Referencing-Containers--Blobs--and-Metadata
    const { blob } = await newBlob(t);
    for (const name of ['1st', 'with-dash', 'dot.dot'])
        await refused(blob.setMetadata({ [name]: 'v' }), 400, 'InvalidMetadata');
    assert.deepEqual((await blob.getProperties()).metadata, {});
});

test('metadata over 8 KiB is refused', async (t) => {
    // semantics 10.1
    const { blob } = await newBlob(t);
    await blob.setMetadata({ a: 'v'.repeat(8000) });
    await refused(blob.setMetadata({ a: 'v'.repeat(4200), b: 'v'.repeat(4200) }),
        400, 'MetadataTooLarge');
});

test('a body is checked against its MD5 and its CRC-64', async (t) => {
    // rest: Put-Blob Content-MD5, x-ms-content-crc64
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('blob');
    const right = new Uint8Array(md5('content'));
    await blob.upload('content', 7, { transactionalContentMD5: right });
    await refused(blob.upload('contenT', 7, { transactionalContentMD5: right }), 400,
        'Md5Mismatch');
    assert.equal((await blob.downloadToBuffer()).toString(), 'content');
    const crc = (await blob.download(0, 7, { rangeGetContentCrc64: true }));
    crc.readableStreamBody.resume();
    await blob.upload('content', 7, { transactionalContentCrc64: crc.contentCrc64 });
    await refused(blob.upload('contenT', 7, { transactionalContentCrc64: crc.contentCrc64 }),
        400, 'Crc64Mismatch');
    assert.equal((await blob.downloadToBuffer()).toString(), 'content');
});

test('each of many bodies that come at once has its own MD5', async (t) => {
    // A worker hashes bodies that are ready at the same time together (request/body_intake.c).
    const container = await newContainer(t);
    const contents = Array.from({ length: 64 }, (_, i) => pattern(i * 97 % 4000, i));
    const put = (content, i) => container.getBlockBlobClient(`blob-${i}`).upload(content, content.length,
        { transactionalContentMD5: new Uint8Array(md5(i % 8 === 7 ? Buffer.concat([content, content, Buffer.from('x')]) : content)) });
    const answers = await Promise.all(contents.map((content, i) => put(content, i).catch((error) => error)));
    for (const [i, answer] of answers.entries()) {
        if (i % 8 === 7)
            assert.equal(answer.code, 'Md5Mismatch');
        else
            assert.deepEqual(Buffer.from(answer.contentMD5), md5(contents[i]));
    }
});

test('the MD5 that is to be stored with a whole Put Blob has to fit', async (t) => {
    // rest: Put-Blob x-ms-blob-content-md5; decision: 16
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('blob');
    const wrong = new Uint8Array(md5('other'));
    await refused(blob.upload('content', 7, { blobHTTPHeaders: { blobContentMD5: wrong } }),
        400, 'Md5Mismatch');
});

test('ranges of a blob', async (t) => {
    // rest: Get-Blob, Specifying-the-Range-Header-for-Blob-Service-Operations
    const content = pattern(100000);
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('blob');
    await blob.upload(content, content.length);
    for (const [offset, count] of [[0, 1], [0, 100000], [1, 99998], [99999, 1], [50000, 200000],
        [70000, undefined]]) {
        const got = await blob.download(offset, count);
        const want = content.subarray(offset, count === undefined ? undefined : offset + count);
        assert.equal(got._response.status, 206, `${offset} ${count}`);
        assert.equal(got.contentLength, want.length);
        assert.equal(got.contentRange, `bytes ${offset}-${offset + want.length - 1}/100000`);
        assert.deepEqual(Buffer.from(got.blobContentMD5), md5(content));
        assert.equal(got.contentMD5, undefined);
        assert.ok((await bytesOf(got)).equals(want));
    }
    const error = await refused(blob.download(100000, 1), 416, 'InvalidRange');
    assert.equal(error.response.headers.get('content-range'), 'bytes */100000');
});

test('a range of an empty blob is 416, the whole is 200', async (t) => {
    // semantics 5, Get Blob; recorded: test_append_blob_from_0_bytes
    const { blob } = await newBlob(t, '');
    await refused(blob.download(0, 1), 416, 'InvalidRange');
    assert.equal((await blob.downloadToBuffer()).length, 0);
});

test('MD5 and CRC-64 of a range, of at most 4 MiB', async (t) => {
    // rest: Get-Blob x-ms-range-get-content-md5
    const content = pattern(5 * MiB);
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('blob');
    await blob.upload(content, content.length);
    const got = await blob.download(1000, 2000, { rangeGetContentMD5: true });
    assert.deepEqual(Buffer.from(got.contentMD5), md5(content.subarray(1000, 3000)));
    assert.deepEqual(Buffer.from(got.blobContentMD5), md5(content));
    got.readableStreamBody.resume();
    const limit = await blob.download(0, 4 * MiB, { rangeGetContentMD5: true });
    assert.deepEqual(Buffer.from(limit.contentMD5), md5(content.subarray(0, 4 * MiB)));
    limit.readableStreamBody.resume();
    const over = await blob.download(0, 4 * MiB + 1, { rangeGetContentMD5: true }).catch((e) => e);
    assert.equal(over.statusCode, 400);
});

test('CRC-64 is the one of Azure', async (t) => {
    // rest: Get-Blob x-ms-range-get-content-crc64; CRC-64 with polynomial 0x9A6C9329AC4BC9B5
    const { blob } = await newBlob(t, '123456789');
    const got = await blob.download(0, 9, { rangeGetContentCrc64: true });
    assert.equal(Buffer.from(got.contentCrc64).toString('hex'), crc64('123456789').toString('hex'));
    got.readableStreamBody.resume();
});

function crc64(text) {
    let crc = 0xFFFFFFFFFFFFFFFFn;
    for (const byte of Buffer.from(text)) {
        crc ^= BigInt(byte);
        for (let bit = 0; bit < 8; bit++)
            crc = crc & 1n ? (crc >> 1n) ^ 0x9A6C9329AC4BC9B5n : crc >> 1n;
    }
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(crc ^ 0xFFFFFFFFFFFFFFFFn);
    return bytes;
}

test('a file goes up in parallel blocks and comes down in parallel ranges', async (t) => {
    // SDK: uploadFile stages blocks and commits a list
    const folder = await mkdtemp(join(tmpdir(), 'lagra-'));
    t.after(() => rm(folder, { recursive: true }));
    const content = pattern(9 * MiB + 123);
    await writeFile(join(folder, 'up'), content);
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('file');
    await blob.uploadFile(join(folder, 'up'), {
        blockSize: MiB, maxSingleShotSize: MiB, concurrency: 4,
        blobHTTPHeaders: { blobContentType: 'application/x-thing' }, metadata: { k: 'v' },
    });
    const list = await blob.getBlockList('committed');
    assert.equal(list.committedBlocks.length, 10);
    await blob.downloadToFile(join(folder, 'down'));
    assert.ok((await readFile(join(folder, 'down'))).equals(content));
    const buffer = await blob.downloadToBuffer(0, undefined, { blockSize: MiB, concurrency: 4 });
    assert.ok(buffer.equals(content));
    const properties = await blob.getProperties();
    assert.equal(properties.contentType, 'application/x-thing');
    assert.deepEqual(properties.metadata, { k: 'v' });
});

test('a stream of unknown length goes up', async (t) => {
    // SDK: uploadStream
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('stream');
    const parts = [1, 2, 3].map((n) => pattern(700000, n));
    await blob.uploadStream(Readable.from(parts), MiB, 3);
    assert.ok((await blob.downloadToBuffer()).equals(Buffer.concat(parts)));
});

test('64 blobs at once, each comes back as itself', async (t) => {
    // design, promise 3: a write that is acknowledged is seen
    const container = await newContainer(t);
    await Promise.all(Array.from({ length: 64 }, async (_, n) => {
        const blob = container.getBlockBlobClient(`b${n}`);
        const content = pattern(1000 + n * 997, n + 1);
        await blob.upload(content, content.length);
        assert.ok((await blob.downloadToBuffer()).equals(content));
    }));
});

test('32 writers of one blob: the last answer of a reader is one of them, whole', async (t) => {
    // design, promise 4
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('one');
    const contents = Array.from({ length: 32 }, (_, n) => pattern(20000 + n, n + 1));
    const puts = await Promise.all(contents.map((c) => blob.upload(c, c.length)));
    assert.equal(new Set(puts.map((p) => p.etag)).size, 32);
    const got = await blob.download();
    const winner = puts.findIndex((p) => p.etag === got.etag);
    assert.ok((await bytesOf(got)).equals(contents[winner]));
    const newest = puts.map((p) => BigInt(JSON.parse(p.etag))).reduce((a, b) => (a > b ? a : b));
    assert.equal(BigInt(JSON.parse(got.etag)), newest);
});
