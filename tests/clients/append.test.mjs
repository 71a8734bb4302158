// Append blobs through the SDK: every method of AppendBlobClient but ..FromURL (from-url.test.mjs).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raw, rawRefused } from './raw.mjs';
import {
    bytesOf, collect, md5, newBlob, newContainer, pattern, refused, service,
} from './setup.mjs';

const MIB = 1 << 20;

async function newAppendBlob(t, options) {
    const container = await newContainer(t);
    const blob = container.getAppendBlobClient('log');
    await blob.create(options);
    return { container, blob, path: `/${container.containerName}/log` };
}

test('create, append, read: offset and block count are exact', async (t) => {
    // rest: Put-Blob, Append-Block
    const { blob } = await newAppendBlob(t, {
        metadata: { a: '1' }, blobHTTPHeaders: { blobContentType: 'text/plain' },
    });
    const empty = await blob.getProperties();
    assert.equal(empty.blobType, 'AppendBlob');
    assert.equal(empty.contentLength, 0);
    assert.equal(empty.blobCommittedBlockCount, 0);
    assert.equal(empty.contentMD5, undefined);
    assert.equal(empty.contentType, 'text/plain');
    const first = await blob.appendBlock('hello', 5);
    assert.equal(first._response.status, 201);
    assert.equal(first.blobAppendOffset, '0');
    assert.equal(first.blobCommittedBlockCount, 1);
    assert.equal(first.isServerEncrypted, true);
    const second = await blob.appendBlock(' world', 6);
    assert.equal(second.blobAppendOffset, '5');
    assert.equal(second.blobCommittedBlockCount, 2);
    assert.notEqual(second.etag, first.etag);
    assert.equal((await blob.downloadToBuffer()).toString(), 'hello world');
    const read = await blob.download(3, 5);
    assert.equal((await bytesOf(read)).toString(), 'lo wo');
    assert.equal(read.blobCommittedBlockCount, 2);
    assert.equal(read.etag, second.etag);
    const after = await blob.getProperties();
    assert.deepEqual(after.metadata, { a: '1' });
    assert.equal(after.createdOn.getTime(), empty.createdOn.getTime());
});

test('createIfNotExists and ifNoneMatch *: 409 BlobAlreadyExists, nothing changed', async (t) => {
    // recorded: AppendBlobClientTest.AccessConditionETag 5
    const { blob } = await newAppendBlob(t);
    await blob.appendBlock('x', 1);
    assert.equal((await blob.createIfNotExists()).succeeded, false);
    await refused(blob.create({ conditions: { ifNoneMatch: '*' } }), 409, 'BlobAlreadyExists');
    assert.equal((await blob.getProperties()).contentLength, 1);
    const other = service.getContainerClient(blob.containerName).getAppendBlobClient('new');
    assert.equal((await other.createIfNotExists()).succeeded, true);
});

test('32 clients append at once: no block is lost, each offset is given once', async (t) => {
    // rest: Append-Block: the service chooses the position, and answers with it
    const { blob } = await newAppendBlob(t);
    const answers = [];
    await Promise.all(Array.from({ length: 32 }, async (_, client) => {
        for (let i = 0; i < 8; i++) {
            const text = `${String(client).padStart(2, '0')}:${i};`;
            const answer = await blob.appendBlock(text, text.length);
            answers.push({ text, at: Number(answer.blobAppendOffset),
                count: answer.blobCommittedBlockCount });
        }
    }));
    const content = (await blob.downloadToBuffer()).toString();
    assert.equal(content.length, 256 * 5);
    for (const { text, at, count } of answers) {
        assert.equal(content.slice(at, at + 5), text);
        assert.equal(count, at / 5 + 1);
    }
    assert.equal(new Set(answers.map(({ at }) => at)).size, 256);
});

test('append position and maximal size', async (t) => {
    // rest: Append-Block, x-ms-blob-condition-appendpos, -maxsize; recorded
    const { blob } = await newAppendBlob(t);
    const { etag } = await blob.appendBlock('12345', 5, { conditions: { appendPosition: 0 } });
    await refused(blob.appendBlock('x', 1, { conditions: { appendPosition: 0 } }),
        412, 'AppendPositionConditionNotMet');
    await refused(blob.appendBlock('x', 1, { conditions: { appendPosition: 6 } }),
        412, 'AppendPositionConditionNotMet');
    await refused(blob.appendBlock('x', 1, { conditions: { maxSize: 5 } }),
        412, 'MaxBlobSizeConditionNotMet');
    await refused(blob.appendBlock('x', 1, { conditions: { maxSize: 4 } }),
        412, 'MaxBlobSizeConditionNotMet');
    await refused(blob.appendBlock('x', 1, { conditions: { ifMatch: '"0x1"' } }),
        412, 'ConditionNotMet');
    assert.equal((await blob.getProperties()).etag, etag);
    await blob.appendBlock('x', 1, { conditions: { appendPosition: 5, maxSize: 6, ifMatch: etag } });
    assert.equal((await blob.downloadToBuffer()).toString(), '12345x');
});

test('sums of a block', async (t) => {
    // rest: Append-Block, Content-MD5, x-ms-content-crc64
    const { blob } = await newAppendBlob(t);
    const answer = await blob.appendBlock('hello', 5,
        { transactionalContentMD5: md5('hello') });
    assert.deepEqual(Buffer.from(answer.contentMD5), md5('hello'));
    const plain = await blob.appendBlock('hello', 5);
    assert.ok(plain.xMsContentCrc64);
    await blob.appendBlock('hello', 5, { transactionalContentCrc64: plain.xMsContentCrc64 });
    await refused(blob.appendBlock('hallo', 5, { transactionalContentMD5: md5('hello') }),
        400, 'Md5Mismatch');
    await refused(blob.appendBlock('hallo', 5,
        { transactionalContentCrc64: plain.xMsContentCrc64 }), 400, 'Crc64Mismatch');
    assert.equal((await blob.getProperties()).contentLength, 15);
});

test('blocks of every size, inline and in pieces', async (t) => {
    const { blob } = await newAppendBlob(t);
    const parts = [1, 16384, 16385, 100000, 5 * MIB, 3].map((size, i) => pattern(size, i + 1));
    for (const part of parts)
        await blob.appendBlock(part, part.length);
    const all = Buffer.concat(parts);
    assert.ok((await blob.downloadToBuffer()).equals(all));
    assert.ok((await blob.downloadToBuffer(16380, 20)).equals(all.subarray(16380, 16400)));
});

test('limits of a block: 100 MiB, before 2022-11-02 4 MiB; an empty one is refused', async (t) => {
    // rest: Append-Block "Remarks"
    const { blob, path } = await newAppendBlob(t);
    const old = { 'x-ms-version': '2021-12-02' };
    await rawRefused(raw('PUT', `${path}?comp=appendblock`, old, Buffer.alloc(4 * MIB + 1)),
        413, 'RequestBodyTooLarge');
    assert.equal((await raw('PUT', `${path}?comp=appendblock`, old, Buffer.alloc(4 * MIB))).status,
        201);
    await rawRefused(raw('PUT', `${path}?comp=appendblock`, {}, ''), 400, 'InvalidHeaderValue');
    await rawRefused(raw('PUT', `${path}?comp=appendblock`,
        { 'Content-Length': String(100 * MIB + 1), Expect: '100-continue' }, ''),
    413, 'RequestBodyTooLarge');
    assert.equal((await blob.getProperties()).blobCommittedBlockCount, 1);
});

test('a block of 100 MiB since 2022-11-02, by every version its own limit', async (t) => {
    // rest: Append-Block "Remarks"
    const { blob, path } = await newAppendBlob(t);
    const put = (version, body) => raw('PUT', `${path}?comp=appendblock`, { 'x-ms-version': version }, body);
    const more = Buffer.alloc(4 * MIB + 1, 'm'), most = pattern(100 * MIB);
    for (const version of ['2015-02-21', '2019-12-12', '2021-12-02'])
        await rawRefused(put(version, more), 413, 'RequestBodyTooLarge');
    assert.equal((await put('2022-11-02', most)).status, 201);
    assert.equal((await put('2026-10-06', more)).status, 201);
    const { blobCommittedBlockCount, contentLength } = await blob.getProperties();
    assert.deepEqual([blobCommittedBlockCount, contentLength], [2, 104 * MIB + 1]);
    assert.ok((await blob.downloadToBuffer(0, most.length)).equals(most));
    assert.equal((await blob.downloadToBuffer(most.length, 10)).toString(), 'm'.repeat(10));
});

test('a sealed blob takes no more blocks; what else may change, may', async (t) => {
    // rest: Append-Blob-Seal; recorded: AppendBlobClientTest.Seal
    const { container, blob } = await newAppendBlob(t);
    const { etag } = await blob.appendBlock('text', 4);
    await refused(blob.seal({ conditions: { appendPosition: 3 } }),
        412, 'AppendPositionConditionNotMet');
    assert.equal((await blob.getProperties()).isSealed, undefined);
    const sealed = await blob.seal({ conditions: { appendPosition: 4, ifMatch: etag } });
    assert.equal(sealed._response.status, 200);
    assert.equal(sealed.isSealed, true);
    assert.notEqual(sealed.etag, etag);
    const refusal = await refused(blob.appendBlock('x', 1), 409, 'BlobIsSealed');
    assert.match(refusal.message, /The blob is sealed and its contents cannot be modified\./); // recorded
    assert.equal((await blob.seal()).isSealed, true);
    assert.equal((await blob.getProperties()).isSealed, true);
    assert.equal((await blob.download()).isSealed, true);
    const [listed] = await collect(container.listBlobsFlat());
    assert.equal(listed.properties.blobType, 'AppendBlob');
    assert.equal(listed.properties.isSealed, true);
    await blob.setMetadata({ a: 'b' });
    await blob.setHTTPHeaders({ blobContentType: 'text/x' });
    const { snapshot } = await blob.createSnapshot();
    assert.equal((await blob.withSnapshot(snapshot).getProperties()).isSealed, true);
    await blob.create();
    assert.equal((await blob.getProperties()).isSealed, undefined);
    await blob.appendBlock('new', 3);
});

test('a snapshot keeps its length while the base grows; what is deleted is gone', async (t) => {
    // rest: Snapshot-Blob
    const { blob } = await newAppendBlob(t);
    const taken = [];
    for (let i = 0; i < 4; i++) {
        taken.push((await blob.createSnapshot()).snapshot);
        await blob.appendBlock(`${i}`.repeat(20000), 20000);
    }
    for (const [i, snapshot] of taken.entries()) {
        const old = blob.withSnapshot(snapshot);
        assert.equal((await old.getProperties()).contentLength, i * 20000);
        assert.equal((await old.getProperties()).blobCommittedBlockCount, i);
    }
    const third = blob.withSnapshot(taken[2]);
    await blob.create();
    await blob.appendBlock('other', 5);
    await blob.withSnapshot(taken[3]).delete();
    const kept = (await third.downloadToBuffer()).toString();
    assert.equal(kept, '0'.repeat(20000) + '1'.repeat(20000));
    assert.equal((await blob.downloadToBuffer()).toString(), 'other');
    await blob.delete({ deleteSnapshots: 'include' });
    await refused(third.getProperties(), 404, 'BlobNotFound');
});

test('operations of other types: 409 InvalidBlobType', async (t) => {
    // rest: Append-Block, Put-Block, Put-Block-List, Get-Block-List, Put-Page, Get-Page-Ranges
    const { container, blob } = await newAppendBlob(t);
    await blob.appendBlock('x', 1);
    const { etag } = await blob.getProperties();
    const block = container.getBlockBlobClient('log'), page = container.getPageBlobClient('log');
    await refused(block.stageBlock('MQ==', 'x', 1), 409, 'InvalidBlobType');
    await refused(block.commitBlockList([]), 409, 'InvalidBlobType');
    await refused(block.getBlockList('all'), 409, 'InvalidBlobType');
    await refused(page.uploadPages(Buffer.alloc(512), 0, 512), 409, 'InvalidBlobType');
    await refused(page.clearPages(0, 512), 409, 'InvalidBlobType');
    await refused(page.getPageRanges(), 409, 'InvalidBlobType');
    await refused(page.resize(512), 409, 'InvalidBlobType');
    await refused(page.updateSequenceNumber('increment'), 409, 'InvalidBlobType');
    assert.equal((await blob.getProperties()).etag, etag);
    const { blob: other } = await newBlob(t, 'block');
    const asAppend = service.getContainerClient(other.containerName).getAppendBlobClient('blob');
    await refused(asAppend.appendBlock('x', 1), 409, 'InvalidBlobType');
    await refused(asAppend.seal(), 409, 'InvalidBlobType');
    await refused(container.getAppendBlobClient('none').appendBlock('x', 1), 404, 'BlobNotFound');
});

test('Put Blob of another type replaces it whole', async (t) => {
    // rest: Put-Blob
    const { container, blob } = await newAppendBlob(t);
    await blob.appendBlock(pattern(50000), 50000);
    const block = container.getBlockBlobClient('log');
    await block.upload('block', 5);
    assert.equal((await block.getProperties()).blobType, 'BlockBlob');
    assert.equal((await block.getProperties()).blobCommittedBlockCount, undefined);
    await block.stageBlock('MQ==', 'x', 1);
    await blob.create();
    assert.equal((await blob.getProperties()).contentLength, 0);
    await blob.appendBlock('again', 5);
    assert.equal((await blob.downloadToBuffer()).toString(), 'again');
});

test('a lease is needed to append while there is one', async (t) => {
    // semantics 2.1: Append Block, Seal need the lease
    const { blob } = await newAppendBlob(t);
    const lease = blob.getBlobLeaseClient();
    const { leaseId } = await lease.acquireLease(-1);
    await refused(blob.appendBlock('x', 1), 412, 'LeaseIdMissing');
    await refused(blob.seal(), 412, 'LeaseIdMissing');
    await refused(blob.create(), 412, 'LeaseIdMissing');
    await blob.appendBlock('x', 1, { conditions: { leaseId } });
    await blob.seal({ conditions: { leaseId } });
    await lease.releaseLease();
});

test('headers that would be ignored are refused', async (t) => {
    // design, promise 5
    const { path } = await newAppendBlob(t);
    const type = { 'x-ms-blob-type': 'AppendBlob' };
    for (const name of ['x-ms-blob-content-length', 'x-ms-access-tier', 'x-ms-expiry-option',
        'x-ms-blob-condition-appendpos'])
        await rawRefused(raw('PUT', path, { ...type, [name]: '0' }), 400, 'UnsupportedHeader');
    await rawRefused(raw('PUT', path, type, 'body'), 400, 'InvalidHeaderValue');
    await rawRefused(raw('PUT', `${path}?comp=appendblock`,
        { 'x-ms-if-sequence-number-le': '1' }, 'x'), 400, 'UnsupportedHeader');
    await rawRefused(raw('PUT', `${path}?comp=appendblock`,
        { 'x-ms-blob-condition-appendpos': '-1' }, 'x'), 400, 'InvalidHeaderValue');
    await rawRefused(raw('PUT', `${path}?comp=seal`,
        { 'x-ms-blob-condition-maxsize': '1' }), 400, 'UnsupportedHeader');
});
