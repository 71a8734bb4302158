// Page blobs through the SDK: every method of PageBlobClient but ..FromURL (from-url.test.mjs) and
// copies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raw, rawRefused } from './raw.mjs';
import {
    bytesOf, collect, md5, newBlob, newContainer, pattern, refused, service,
} from './setup.mjs';

const MIB = 1 << 20, GIB = 1024 * MIB, TIB = 1024 * GIB;

async function newPageBlob(t, size, options) {
    const container = await newContainer(t);
    const blob = container.getPageBlobClient('disk');
    await blob.create(size, options);
    return { container, blob, path: `/${container.containerName}/disk` };
}

const page = (letter, count = 1) => Buffer.alloc(512 * count, letter);
// The client's count is end - start of the answer, both of which are in the range.
const ranges = ({ pageRange = [], clearRange }) =>
    [...pageRange, ...(clearRange ?? []).map((range) => ({ ...range, clear: true }))]
        .map(({ offset, count, clear }) => [offset, count + 1, ...(clear ? ['clear'] : [])]);

test('create, write, clear, read: what was not written is zeros', async (t) => {
    // rest: Put-Blob, Put-Page, Get-Blob
    const { blob } = await newPageBlob(t, 8192, {
        metadata: { a: '1' }, blobSequenceNumber: 7,
        blobHTTPHeaders: { blobContentType: 'x/disk' },
    });
    const created = await blob.getProperties();
    assert.equal(created.blobType, 'PageBlob');
    assert.equal(created.contentLength, 8192);
    assert.equal(created.blobSequenceNumber, 7);
    assert.equal(created.contentType, 'x/disk');
    const put = await blob.uploadPages(page('a', 3), 512, 1536);
    assert.equal(put._response.status, 201);
    assert.equal(put.blobSequenceNumber, 7);
    assert.equal(put.isServerEncrypted, true);
    const cleared = await blob.clearPages(1024, 512);
    assert.equal(cleared._response.status, 201);
    assert.equal(cleared.blobSequenceNumber, 7);
    assert.notEqual(cleared.etag, put.etag);
    const wanted = Buffer.alloc(8192);
    wanted.fill('a', 512, 1024).fill('a', 1536, 2048);
    assert.ok((await blob.downloadToBuffer()).equals(wanted));
    const part = await blob.download(1000, 600);
    assert.ok((await bytesOf(part)).equals(wanted.subarray(1000, 1600)));
    assert.equal(part.blobSequenceNumber, 7);
    assert.equal(part.etag, cleared.etag);
    assert.equal(part.contentMD5, undefined);
});

test('sizes: whole pages up to 8 TiB; 512 bytes of 8 TiB are read and listed at once', async (t) => {
    // rest: Put-Blob "x-ms-blob-content-length"; recorded: test_create_larger_than_8tb_blob_fail
    const { blob, path } = await newPageBlob(t, 8 * TIB);
    const create = (length) => raw('PUT', path,
        { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': String(length) });
    for (const length of [8 * TIB + 1, 8 * TIB + 512, 511, -512, 'x', ''])
        await rawRefused(create(length), 400, 'InvalidHeaderValue');
    await rawRefused(raw('PUT', path, { 'x-ms-blob-type': 'PageBlob' }),
        400, 'MissingRequiredHeader');
    await blob.uploadPages(page('z'), 8 * TIB - 512, 512);
    await blob.uploadPages(page('y'), 5 * TIB, 512);
    assert.deepEqual(ranges(await blob.getPageRanges()),
        [[5 * TIB, 512], [8 * TIB - 512, 512]]);
    assert.ok((await blob.downloadToBuffer(8 * TIB - 1024, 1024))
        .equals(Buffer.concat([Buffer.alloc(512), page('z')])));
    const { blob: none } = await newPageBlob(t, 0);
    const list = await raw('GET', `/${none.containerName}/disk?comp=pagelist`);
    assert.match(list.text, /<PageList><\/PageList>$/);
    assert.equal((await bytesOf(await none.download())).length, 0);
});

test('ranges that are no pages of the blob: 416 InvalidPageRange', async (t) => {
    // rest: Put-Page "Range"; decision: 72
    const { blob, path } = await newPageBlob(t, 2048);
    const put = (range, body, write = 'update') => raw('PUT', `${path}?comp=page`,
        { 'x-ms-page-write': write, ...(range ? { 'x-ms-range': range } : {}) }, body);
    for (const range of ['bytes=0-1023', 'bytes=2048-2559', 'bytes=1536-2559'])
        await rawRefused(put(range, page('a')), 416, 'InvalidPageRange');
    // Recorded of both kinds of write, with the header x-ms-range. decision: 853
    for (const range of ['bytes=1-512', 'bytes=0-510', 'bytes=0-512', 'bytes=0-', 'bytes=0--1']) {
        for (const refusal of [put(range, page('a')), put(range, '', 'clear')]) {
            const { text } = await rawRefused(refusal, 400, 'InvalidHeaderValue');
            assert.ok(text.includes(`<HeaderName>Range</HeaderName><HeaderValue>${range}</HeaderValue>`), text);
        }
    }
    await rawRefused(put('bytes=2048-2559', '', 'clear'), 416, 'InvalidPageRange');
    await rawRefused(put(undefined, page('a')), 400, 'MissingRequiredHeader');
    await rawRefused(put('bytes=511-0', page('a')), 400, 'InvalidHeaderValue');
    await rawRefused(put('bytes=0-511', page('a'), 'clear'), 400, 'InvalidHeaderValue');
    await rawRefused(put('bytes=0-511', page('a'), 'other'), 400, 'InvalidHeaderValue');
    await rawRefused(raw('PUT', `${path}?comp=page`, { 'x-ms-range': 'bytes=0-511' }, page('a')),
        400, 'MissingRequiredHeader');
    await rawRefused(put(`bytes=0-${4 * MIB + 511}`, Buffer.alloc(4 * MIB + 512)),
        413, 'RequestBodyTooLarge');
    assert.deepEqual(ranges(await blob.getPageRanges()), []);
    const range = { 'x-ms-page-write': 'update', Range: 'bytes=0-511' };
    assert.equal((await raw('PUT', `${path}?comp=page`, range, page('r'))).status, 201);
});

test('sums of pages', async (t) => {
    // rest: Put-Page, Content-MD5, x-ms-content-crc64; recorded: PageBlobClientTest.ContentHash
    const { blob } = await newPageBlob(t, 1024);
    const answer = await blob.uploadPages(page('a'), 0, 512,
        { transactionalContentMD5: md5(page('a')) });
    assert.deepEqual(Buffer.from(answer.contentMD5), md5(page('a')));
    const plain = await blob.uploadPages(page('a'), 0, 512);
    assert.ok(plain.xMsContentCrc64);
    await refused(blob.uploadPages(page('b'), 0, 512,
        { transactionalContentMD5: md5(page('a')) }), 400, 'Md5Mismatch');
    await refused(blob.uploadPages(page('b'), 0, 512,
        { transactionalContentCrc64: plain.xMsContentCrc64 }), 400, 'Crc64Mismatch');
    assert.ok((await blob.downloadToBuffer(0, 512)).equals(page('a')));
});

test('writes of every size beside a model', async (t) => {
    // rest: Put-Page; small ones lie inline, large ones in pieces
    const size = 3 * MIB;
    const { blob } = await newPageBlob(t, size);
    const model = Buffer.alloc(size);
    let seed = 7;
    const random = (n) => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) % n;
    for (let i = 0; i < 60; i++) {
        const count = 1 + random([1, 8, 32, 33, 2000][i % 5]);
        const at = random(size / 512 - count + 1);
        if (i % 4 === 3) {
            await blob.clearPages(at * 512, count * 512);
            model.fill(0, at * 512, (at + count) * 512);
        } else {
            const bytes = pattern(count * 512, i + 1);
            await blob.uploadPages(bytes, at * 512, bytes.length);
            bytes.copy(model, at * 512);
        }
    }
    assert.ok((await blob.downloadToBuffer()).equals(model));
});

test('sequence numbers: max, update, increment', async (t) => {
    // rest: Set-Blob-Properties "x-ms-sequence-number-action"
    const { blob, path } = await newPageBlob(t, 512, {
        blobHTTPHeaders: { blobContentType: 'x/disk' },
    });
    assert.equal((await blob.updateSequenceNumber('update', 10)).blobSequenceNumber, 10);
    assert.equal((await blob.updateSequenceNumber('max', 5)).blobSequenceNumber, 10);
    assert.equal((await blob.updateSequenceNumber('max', 15)).blobSequenceNumber, 15);
    assert.equal((await blob.updateSequenceNumber('update', 3)).blobSequenceNumber, 3);
    assert.equal((await blob.updateSequenceNumber('increment')).blobSequenceNumber, 4);
    assert.equal((await blob.getProperties()).blobSequenceNumber, 4);
    // Only size or number was asked for: the other properties stay.
    assert.equal((await blob.getProperties()).contentType, 'x/disk');
    const set = (headers) => raw('PUT', `${path}?comp=properties`, headers);
    const number = 'x-ms-blob-sequence-number', action = 'x-ms-sequence-number-action';
    await rawRefused(set({ [action]: 'update' }), 400, 'MissingRequiredHeader');
    await rawRefused(set({ [number]: '1' }), 400, 'MissingRequiredHeader');
    await rawRefused(set({ [action]: 'increment', [number]: '1' }), 400, 'InvalidHeaderValue');
    await rawRefused(set({ [action]: 'other', [number]: '1' }), 400, 'InvalidHeaderValue');
    await rawRefused(set({ [action]: 'update', [number]: '9223372036854775808' }),
        400, 'InvalidHeaderValue');
    const last = await set({ [action]: 'update', [number]: '9223372036854775807' });
    assert.equal(last.headers.get(number), '9223372036854775807');
    await refused(blob.updateSequenceNumber('increment'), 409, 'SequenceNumberIncrementTooLarge');
    const both = await set({ 'x-ms-blob-content-type': 'y/z', [action]: 'update', [number]: '1' });
    assert.equal(both.status, 200);
    assert.equal((await blob.getProperties()).contentType, 'y/z');
    await blob.setHTTPHeaders({ blobContentLanguage: 'de' });
    assert.equal((await blob.getProperties()).contentType, undefined);
    assert.equal((await blob.getProperties()).blobSequenceNumber, 1);
});

test('a condition on the sequence number that is not one', async (t) => {
    // Recorded 10 of 10, with -1. decision: 852
    const { path } = await newPageBlob(t, 512);
    for (const name of ['le', 'lt', 'eq']) {
        for (const value of ['-1', 'x', '9223372036854775808']) {
            for (const [write, body] of [['update', page('a')], ['clear', '']]) {
                const { text } = await rawRefused(raw('PUT', `${path}?comp=page`, { 'x-ms-page-write': write,
                    'x-ms-range': 'bytes=0-511', [`x-ms-if-sequence-number-${name}`]: value }, body), 400, 'InvalidInput');
                assert.match(text, /One of the request inputs is not valid\./);
                assert.doesNotMatch(text, /HeaderName/);
            }
        }
    }
});

test('lists of ranges are widened to pages', async (t) => {
    // Recorded: bytes=0-1022 is listed up to 1023. decision: 854
    const { blob, path } = await newPageBlob(t, 4096);
    await blob.uploadPages(page('a', 8), 0, 4096);
    const list = async (range, query = '') => {
        const { text } = await raw('GET', `${path}?comp=pagelist${query}`, { 'x-ms-range': range });
        return [...text.matchAll(/<Start>(\d+)<\/Start><End>(\d+)<\/End>/g)].map(([, start, end]) => `${start}-${end}`);
    };
    assert.deepEqual(await list('bytes=0-1022'), ['0-1023']);
    assert.deepEqual(await list('bytes=513-513'), ['512-1023']);
    assert.deepEqual(await list('bytes=600-'), ['512-4095']);
    assert.deepEqual(await list('bytes=4095-9999'), ['3584-4095']);
    await rawRefused(raw('GET', `${path}?comp=pagelist`, { 'x-ms-range': 'bytes=4096-4097' }), 416, 'InvalidRange');
    const { snapshot } = await blob.createSnapshot();
    await blob.clearPages(1024, 1024);
    assert.deepEqual(await list('bytes=1025-1025', `&prevsnapshot=${encodeURIComponent(snapshot)}`), ['1024-1535']);
});

test('conditions on the sequence number', async (t) => {
    // rest: Put-Page "x-ms-if-sequence-number-le"; recorded: PageBlobAccessConditions
    const { blob } = await newPageBlob(t, 512, { blobSequenceNumber: 100 });
    const cases = [
        [{ ifSequenceNumberLessThanOrEqualTo: 99 }, false],
        [{ ifSequenceNumberLessThanOrEqualTo: 100 }, true],
        [{ ifSequenceNumberLessThanOrEqualTo: 101 }, true],
        [{ ifSequenceNumberLessThan: 100 }, false],
        [{ ifSequenceNumberLessThan: 101 }, true],
        [{ ifSequenceNumberEqualTo: 99 }, false],
        [{ ifSequenceNumberEqualTo: 100 }, true],
        [{ ifSequenceNumberEqualTo: 100, ifSequenceNumberLessThan: 100 }, false],
    ];
    for (const [conditions, holds] of cases) {
        for (const call of [() => blob.uploadPages(page('a'), 0, 512, { conditions }),
            () => blob.clearPages(0, 512, { conditions })]) {
            if (holds)
                await call();
            else
                await refused(call(), 412, 'SequenceNumberConditionNotMet');
        }
    }
});

test('page ranges: joined, clipped, in pages by a marker', async (t) => {
    // rest: Get-Page-Ranges; recorded: GetPageRangesContinuation
    const { blob, path } = await newPageBlob(t, 8192);
    for (const at of [0, 2, 8, 9])
        await blob.uploadPages(page('a'), at * 512, 512);
    assert.deepEqual(ranges(await blob.getPageRanges()), [[0, 512], [1024, 512], [4096, 1024]]);
    assert.deepEqual(ranges(await blob.getPageRanges(1024, 3584)), [[1024, 512], [4096, 512]]);
    await refused(blob.getPageRanges(8192, 512), 416, 'InvalidRange');
    const pages = [];
    for await (const { pageRange } of blob.listPageRanges().byPage({ maxPageSize: 1 }))
        pages.push(pageRange.map(({ start, end }) => [start, end]));
    assert.deepEqual(pages, [[[0, 511]], [[1024, 1535]], [[4096, 5119]]]);
    assert.deepEqual((await collect(blob.listPageRanges())).map(({ start }) => start),
        [0, 1024, 4096]);
    const first = await raw('GET', `${path}?comp=pagelist&maxresults=1`);
    assert.match(first.text, /<NextMarker>2!16!MDAwMDA0ITEwMjQh<\/NextMarker><\/PageList>$/);
    assert.equal(first.headers.get('x-ms-blob-content-length'), '8192');
    assert.doesNotMatch((await raw('GET', `${path}?comp=pagelist`)).text, /NextMarker/);
    assert.match((await raw('GET', `${path}?comp=pagelist&maxresults=20000`)).text,
        /<NextMarker \/><\/PageList>$/);
    const list = (query) => raw('GET', `${path}?comp=pagelist&${query}`);
    // A marker counts without maxresults, too.
    const rest = await list(`marker=${encodeURIComponent('2!16!MDAwMDA0ITEwMjQh')}`);
    assert.deepEqual([...rest.text.matchAll(/<Start>(\d+)<\/Start>/g)].map(([, start]) => start), ['1024', '4096']);
    assert.match(rest.text, /<NextMarker \/><\/PageList>$/);
    await rawRefused(list('maxresults=0'), 400, 'OutOfRangeQueryParameterValue');
    await rawRefused(list('maxresults=-1'), 400, 'OutOfRangeQueryParameterValue');
    await rawRefused(list('maxresults=x'), 400, 'InvalidQueryParameterValue');
    for (const marker of ['x', '2!16!MDAwMDA0ITEwMjQ', '2!15!MDAwMDA0ITEwMjQh', '2!4!!!!!',
        '2!16!MDAwMDA1ITEwMjQh'])
        await rawRefused(list(`marker=${encodeURIComponent(marker)}`),
            400, 'InvalidQueryParameterValue');
});

test('the difference to a snapshot: written and cleared pages', async (t) => {
    // rest: Get-Page-Ranges "prevsnapshot"
    const { blob, path } = await newPageBlob(t, 64 * MIB);
    await blob.uploadPages(page('a', 8), 0, 4096);
    await blob.uploadPages(page('a', 8), 32 * MIB, 4096);
    const { snapshot: first } = await blob.createSnapshot();
    await blob.uploadPages(page('b', 2), 512, 1024);
    await blob.clearPages(32 * MIB + 512, 1024);
    const { snapshot: second } = await blob.createSnapshot();
    await blob.uploadPages(page('c'), 16 * MIB, 512);
    const one = [[512, 1024], [32 * MIB + 512, 1024, 'clear']];
    const at = (snapshot) => blob.withSnapshot(snapshot);
    assert.deepEqual(ranges(await at(second).getPageRangesDiff(0, 64 * MIB, first)), one);
    assert.deepEqual(ranges(await blob.getPageRangesDiff(0, 64 * MIB, second)),
        [[16 * MIB, 512]]);
    assert.deepEqual(ranges(await blob.getPageRangesDiff(0, 64 * MIB, first)),
        [[512, 1024], [16 * MIB, 512], [32 * MIB + 512, 1024, 'clear']]);
    assert.deepEqual(ranges(await blob.getPageRangesDiff(16 * MIB, MIB, first)),
        [[16 * MIB, 512]]);
    assert.deepEqual(
        (await collect(blob.listPageRangesDiff(0, 64 * MIB, first))).map((range) =>
            [range.start, range.isClear]),
        [[512, false], [16 * MIB, false], [32 * MIB + 512, true]]);
    // By URL, as managed disks ask.
    const url = at(first).url;
    assert.deepEqual(ranges(await at(second).getPageRangesDiffForManagedDisks(0, 64 * MIB, url)),
        one);
    const diff = (query, headers) => raw('GET', `${path}?comp=pagelist${query}`, headers);
    const previous = (value) => `&prevsnapshot=${encodeURIComponent(value)}`;
    await rawRefused(diff(`&snapshot=${encodeURIComponent(first)}${previous(second)}`),
        400, 'PreviousSnapshotCannotBeNewer');
    await rawRefused(diff(previous('2020-01-01T00:00:00.0000000Z')),
        409, 'PreviousSnapshotNotFound');
    await rawRefused(diff(previous('yesterday')), 400, 'InvalidQueryParameterValue');
    for (const wrong of ['x', url.replace('disk', 'other'), blob.url, `${url}&snapshot=1`,
        url.replace('127.0.0.1', 'elsewhere')])
        await rawRefused(diff('', { 'x-ms-previous-snapshot-url': wrong }),
            400, 'InvalidHeaderValue');
    await blob.create(MIB);
    await refused(blob.getPageRangesDiff(0, MIB, first), 409, 'BlobOverwritten');
    assert.deepEqual(ranges(await at(second).getPageRangesDiff(0, 64 * MIB, first)), one);
});

test('the difference to a snapshot of another length', async (t) => {
    // rest: Get-Page-Ranges "prevsnapshot", Set-Blob-Properties: what was cut off is cleared, as far as the blob reaches
    const { blob } = await newPageBlob(t, 8 * MIB);
    await blob.uploadPages(page('a', 8), 0, 4096);
    await blob.uploadPages(page('a', 8), 4 * MIB, 4096);
    const { snapshot: long } = await blob.createSnapshot();
    const since = async (snapshot, at = blob) => ranges(await at.getPageRangesDiff(0, 16 * MIB, snapshot));
    await blob.resize(2048);
    assert.deepEqual(await since(long), []);
    const { snapshot: short } = await blob.createSnapshot();
    await blob.resize(16 * MIB);
    assert.deepEqual(await since(long), [[2048, 2048, 'clear'], [4 * MIB, 4096, 'clear']]);
    assert.deepEqual(await since(short), []);
    await blob.uploadPages(page('b'), 4 * MIB + 512, 512);
    await blob.uploadPages(page('b'), 12 * MIB, 512);
    assert.deepEqual(await since(short), [[4 * MIB + 512, 512], [12 * MIB, 512]]);
    assert.deepEqual(await since(long), [[4 * MIB + 512, 512], [12 * MIB, 512],
        [2048, 2048, 'clear'], [4 * MIB, 512, 'clear'], [4 * MIB + 1024, 3072, 'clear']]);
    assert.deepEqual(await since(long, blob.withSnapshot(short)), []);
    // What is written and cleared again is cleared; what never was written is neither.
    await blob.uploadPages(page('c'), 0, 512);
    await blob.clearPages(0, 512);
    await blob.clearPages(MIB, 4096);
    assert.deepEqual(await since(short), [[4 * MIB + 512, 512], [12 * MIB, 512], [0, 512, 'clear']]);
});

test('resize: what is cut off is gone, what is added is zeros', async (t) => {
    // rest: Set-Blob-Properties "x-ms-blob-content-length"
    const { blob } = await newPageBlob(t, 64 * MIB);
    const end = pattern(100000 * 512 % (4 * MIB), 3);
    await blob.uploadPages(end, 32 * MIB, end.length);
    await blob.uploadPages(page('a'), 0, 512);
    const small = await blob.resize(1024);
    assert.equal(small._response.status, 200);
    assert.equal(small.blobSequenceNumber, 0);
    assert.equal((await blob.getProperties()).contentLength, 1024);
    await refused(blob.uploadPages(page('x'), 1024, 512), 416, 'InvalidPageRange');
    await blob.resize(64 * MIB);
    assert.deepEqual(ranges(await blob.getPageRanges()), [[0, 512]]);
    assert.ok((await blob.downloadToBuffer(32 * MIB, 1024)).equals(Buffer.alloc(1024)));
    await refused(blob.resize(1000), 400, 'InvalidHeaderValue');
    await refused(blob.resize(8 * TIB + 512), 400, 'InvalidHeaderValue');
});

test('snapshots stay as they are while pages are written; deletion in any order', async (t) => {
    // rest: Snapshot-Blob, Delete-Blob
    const { blob } = await newPageBlob(t, MIB);
    const taken = [];
    for (const letter of 'abcd') {
        await blob.uploadPages(page(letter, 64), 512 * letter.charCodeAt(0), 64 * 512);
        taken.push({ ...await blob.createSnapshot(), bytes: await blob.downloadToBuffer() });
    }
    await blob.clearPages(0, MIB);
    await blob.resize(512 * 100);
    const check = async (some) => {
        for (const { snapshot, bytes } of some)
            assert.ok((await blob.withSnapshot(snapshot).downloadToBuffer()).equals(bytes));
    };
    await check(taken);
    await blob.withSnapshot(taken[1].snapshot).delete();
    await blob.withSnapshot(taken[3].snapshot).delete();
    await check([taken[0], taken[2]]);
    await blob.uploadPages(page('e', 50), 0, 25600);
    await check([taken[0], taken[2]]);
    await blob.delete({ deleteSnapshots: 'only' });
    assert.ok((await blob.downloadToBuffer(0, 25600)).equals(page('e', 50)));
    await blob.uploadPages(page('f'), 0, 512);
    const { snapshot } = await blob.createSnapshot();
    await blob.create(512);
    assert.equal((await blob.withSnapshot(snapshot).downloadToBuffer(0, 1)).toString(), 'f');
    await blob.delete({ deleteSnapshots: 'include' });
    await refused(blob.getProperties(), 404, 'BlobNotFound');
});

test('operations of other types, other types over it', async (t) => {
    // rest: Put-Page, Append-Block; 409 InvalidBlobType
    const { container, blob } = await newPageBlob(t, 512);
    const { blob: block } = await newBlob(t, 'block');
    const other = service.getContainerClient(block.containerName).getPageBlobClient('blob');
    await refused(other.uploadPages(page('a'), 0, 512), 409, 'InvalidBlobType');
    await refused(other.clearPages(0, 512), 409, 'InvalidBlobType');
    await refused(other.getPageRanges(), 409, 'InvalidBlobType');
    await refused(other.resize(512), 409, 'InvalidBlobType');
    await refused(container.getAppendBlobClient('disk').appendBlock('x', 1),
        409, 'InvalidBlobType');
    const asBlock = container.getBlockBlobClient('disk');
    await refused(asBlock.stageBlock('MQ==', 'x', 1), 409, 'InvalidBlobType');
    await refused(asBlock.commitBlockList([]), 409, 'InvalidBlobType');
    await refused(asBlock.getBlockList('committed'), 409, 'InvalidBlobType');
    await asBlock.upload('block', 5);
    assert.equal((await asBlock.getProperties()).blobType, 'BlockBlob');
    assert.equal((await blob.createIfNotExists(512)).succeeded, false);
    await blob.create(1024);
    assert.equal((await blob.getProperties()).contentLength, 1024);
});

test('leases, listing and conditions', async (t) => {
    // semantics 2.1; List-Blobs "x-ms-blob-sequence-number"
    const { container, blob } = await newPageBlob(t, 1024, { blobSequenceNumber: 5 });
    const [listed] = await collect(container.listBlobsFlat());
    assert.equal(listed.properties.blobType, 'PageBlob');
    assert.equal(listed.properties.blobSequenceNumber, 5);
    assert.equal(listed.properties.contentLength, 1024);
    const lease = blob.getBlobLeaseClient();
    const { leaseId } = await lease.acquireLease(15);
    for (const call of [() => blob.uploadPages(page('a'), 0, 512), () => blob.clearPages(0, 512),
        () => blob.resize(512), () => blob.updateSequenceNumber('increment'),
        () => blob.create(512)])
        await refused(call(), 412, 'LeaseIdMissing');
    await blob.uploadPages(page('a'), 0, 512, { conditions: { leaseId } });
    await lease.releaseLease();
    const { etag } = await blob.getProperties();
    await refused(blob.getPageRanges(0, 512, { conditions: { ifNoneMatch: etag } }),
        304, 'ConditionNotMet');
    await refused(blob.getPageRanges(0, 512, { conditions: { ifMatch: '"0x1"' } }),
        412, 'ConditionNotMet');
    await refused(blob.uploadPages(page('a'), 0, 512, { conditions: { ifMatch: '"0x1"' } }),
        412, 'ConditionNotMet');
    await refused(blob.clearPages(0, 512, { conditions: { ifNoneMatch: etag } }),
        412, 'ConditionNotMet');
});

test('a page blob may be created with a premium tier that is large enough', async (t) => {
    // rest: Put-Blob "x-ms-access-tier"; decision: 86
    const { container, blob, path } = await newPageBlob(t, 512, { tier: 'P10' });
    const { accessTier, accessTierChangedOn } = await blob.getProperties();
    assert.deepEqual([accessTier, accessTierChangedOn], ['P10', undefined]); // recorded
    const [listed] = await collect(container.listBlobsFlat());
    assert.equal(listed.properties.accessTier, 'P10');
    const create = (tier, length) => raw('PUT', path, {
        'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': String(length), 'x-ms-access-tier': tier,
    });
    const GIB = 1024 ** 3;
    await rawRefused(create('P4', 32 * GIB + 512), 409, 'BlobTierInadequateForContentLength');
    assert.equal((await create('P4', 32 * GIB)).status, 201);
    assert.equal((await blob.getProperties()).accessTier, 'P4');
    await rawRefused(create('Hot', 512), 400, 'AccessTierNotSupportedForBlobType');
    await rawRefused(create('P5', 512), 400, 'InvalidHeaderValue');
    assert.equal((await blob.getProperties()).contentLength, 32 * GIB);
});
