// Incremental Copy Blob through the SDK.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobSASPermissions } from '@azure/storage-blob';
import { raw, rawRefused } from './raw.mjs';
import { collect, newContainer, pattern, refused } from './setup.mjs';

const MIB = 1 << 20;

const signed = (blob) => blob.generateSasUrl({
    permissions: BlobSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 600000),
});
const rangesOf = async (blob) => ((await blob.getPageRanges()).pageRange ?? [])
    .map(({ offset, count }) => [offset, count + 1]);

// A source of this length in a public container, and where its snapshots are copied to.
async function newPair(t, size = 8 * MIB) {
    const container = await newContainer(t, { access: 'blob' });
    const source = container.getPageBlobClient('disk');
    await source.create(size, { metadata: { a: '1' }, blobSequenceNumber: 5 });
    return { container, source, target: container.getPageBlobClient('backup') };
}

// Copies, waits, and gives what the destination says then.
async function copy(source, snapshot, target) {
    const begun = await target.startCopyIncremental(source.withSnapshot(snapshot).url);
    assert.equal(begun._response.status, 202);
    assert.equal(begun.copyStatus, 'pending');
    for (;;) {
        const properties = await target.getProperties();
        assert.equal(properties.copyId, begun.copyId);
        if (properties.copyStatus !== 'pending')
            return properties;
        await delay(20);
    }
}

test('each snapshot of the source becomes one of the destination', async (t) => {
    // rest: Incremental-Copy-Blob
    const { container, source, target } = await newPair(t);
    const large = pattern(2 * MIB), small = pattern(512, 3);
    await source.uploadPages(large, MIB, large.length);
    await source.uploadPages(small, 6 * MIB, 512);
    const first = await source.createSnapshot();
    const one = await copy(source, first.snapshot, target);
    assert.deepEqual([one.copyStatus, one.isIncrementalCopy, one.contentLength, one.blobSequenceNumber, one.metadata],
        ['success', true, 8 * MIB, 5, { a: '1' }]);
    assert.ok(one.destinationSnapshot);

    await source.clearPages(MIB, MIB);
    await source.uploadPages(small, 512, 512);
    await source.resize(16 * MIB);
    await source.uploadPages(small, 15 * MIB, 512);
    const second = await source.createSnapshot();
    await source.uploadPages(small, 1024, 512); // in no snapshot
    const two = await copy(source, second.snapshot, target);
    assert.notEqual(two.destinationSnapshot, one.destinationSnapshot);

    for (const [from, to] of [[first.snapshot, one], [second.snapshot, two]]) {
        const wanted = source.withSnapshot(from), got = target.withSnapshot(to.destinationSnapshot);
        assert.ok((await got.downloadToBuffer()).equals(await wanted.downloadToBuffer()));
        assert.deepEqual(await rangesOf(got), await rangesOf(wanted));
        assert.equal((await got.getProperties()).isIncrementalCopy, true);
    }
    // What came with the second, as the source has it.
    const diff = await target.withSnapshot(two.destinationSnapshot).getPageRangesDiff(0, 16 * MIB, one.destinationSnapshot);
    assert.deepEqual(diff.pageRange.map(({ offset }) => offset), [512, 15 * MIB]);
    assert.deepEqual(diff.clearRange.map(({ offset, count }) => [offset, count + 1]), [[MIB, MIB]]);
    const items = await collect(container.listBlobsFlat({ includeCopy: true, includeSnapshots: true, prefix: 'backup' }));
    assert.equal(items.length, 3);
    assert.ok(items.every(({ properties }) => properties.incrementalCopy === true));
    assert.equal(items[2].properties.destinationSnapshot, two.destinationSnapshot);
    const { value: page } = await container.listBlobsFlat({ includeCopy: true, prefix: 'backup' }).byPage().next();
    const date = two.destinationSnapshot; // decision: 242
    assert.ok(page._response.bodyAsText.includes('</CopyCompletionTime><IncrementalCopy>true</IncrementalCopy>' +
        `<CopyDestinationSnapshot>${date}</CopyDestinationSnapshot><DestinationSnapshot>${date}</DestinationSnapshot><ServerEncrypted>`));
    // The same again is a snapshot more; an earlier one is not.
    await copy(source, second.snapshot, target);
    await refused(target.startCopyIncremental(source.withSnapshot(first.snapshot).url), 409, 'IncrementalCopyOfEarlierSnapshotNotAllowed');
    // A snapshot is a source; the destination is none.
    const other = container.getPageBlobClient('other');
    await (await other.beginCopyFromURL(target.withSnapshot(one.destinationSnapshot).url, { intervalInMs: 50 })).pollUntilDone();
    assert.ok((await other.downloadToBuffer()).equals(await source.withSnapshot(first.snapshot).downloadToBuffer()));
    await refused(other.beginCopyFromURL(target.url), 409, 'OperationNotAllowedOnIncrementalCopyBlob');
    await target.withSnapshot(one.destinationSnapshot).delete();
    assert.ok((await target.withSnapshot(two.destinationSnapshot).downloadToBuffer())
        .equals(await source.withSnapshot(second.snapshot).downloadToBuffer()));
    await target.delete({ deleteSnapshots: 'include' });
});

test('the destination is for incremental copies alone', async (t) => {
    // rest: Incremental-Copy-Blob "Remarks"
    const { container, source, target } = await newPair(t);
    const { snapshot } = await source.createSnapshot();
    await copy(source, snapshot, target);
    for (const call of [() => target.download(), () => target.uploadPages(Buffer.alloc(512), 0, 512),
        () => target.setMetadata({}), () => target.create(512), () => target.createSnapshot(),
        () => target.getBlobLeaseClient().acquireLease(-1), () => target.getPageRanges(),
        () => target.beginCopyFromURL(source.url), () => container.getBlockBlobClient('backup').upload('x', 1)])
        await refused(call(), 409, 'OperationNotAllowedOnIncrementalCopyBlob');
    await refused(target.delete(), 409, 'SnapshotsPresent');
});

test('conditions on the destination', async (t) => {
    // rest: Incremental-Copy-Blob
    const { container, source, target } = await newPair(t);
    const { snapshot } = await source.createSnapshot();
    await copy(source, snapshot, target);
    const { etag } = await target.getProperties();
    const to = (headers) => raw('PUT', `/${container.containerName}/backup?comp=incrementalcopy`,
        { 'x-ms-copy-source': source.withSnapshot(snapshot).url, ...headers });
    const at = (ms) => new Date(Date.now() + ms).toUTCString();
    for (const headers of [{ 'If-Match': '"0x1"' }, { 'If-None-Match': etag }, { 'If-Modified-Since': at(60000) },
        { 'If-Unmodified-Since': at(-60000) }, { 'x-ms-if-tags': '"a" = \'1\'' }])
        await rawRefused(to(headers), 412, 'ConditionNotMet');
    assert.equal((await target.getProperties()).etag, etag);
    assert.equal((await to({ 'If-Match': etag })).status, 202);
});

test('sources that are none', async (t) => {
    const { container, source, target } = await newPair(t);
    const { snapshot } = await source.createSnapshot();
    const path = `/${container.containerName}/backup?comp=incrementalcopy`;
    const to = (url, headers) => raw('PUT', path, { 'x-ms-copy-source': url, ...headers });
    const url = `${source.url}?snapshot=${encodeURIComponent(snapshot)}`;
    await rawRefused(to(source.url), 409, 'IncrementalCopySourceMustBeSnapshot');
    await rawRefused(to('http://elsewhere.example/c/b?snapshot=x'), 409, 'InvalidSourceBlobUrl');
    await rawRefused(to('nothing'), 400, 'InvalidHeaderValue');
    await rawRefused(to(url, { 'x-ms-access-tier': 'P4' }), 400, 'UnsupportedHeader');
    await rawRefused(to(url, { 'If-Match': '"0x1"' }), 412, 'ConditionNotMet');
    const block = container.getBlockBlobClient('block');
    await block.upload('x', 1);
    const taken = await block.createSnapshot();
    await rawRefused(to(`${block.url}?snapshot=${encodeURIComponent(taken.snapshot)}`), 409, 'InvalidSourceBlobType');
    await refused(target.startCopyIncremental(source.withSnapshot('2020-01-01T00:00:00.0000000Z').url), 404, 'CannotVerifyCopySource');
    // Another source, or a destination that was not made so.
    const other = container.getPageBlobClient('other');
    await other.create(512);
    const its = await other.createSnapshot();
    await refused(other.startCopyIncremental(source.withSnapshot(snapshot).url), 409, 'IncrementalCopyBlobMismatch');
    await copy(source, snapshot, target);
    await refused(target.startCopyIncremental(other.withSnapshot(its.snapshot).url), 409, 'IncrementalCopyBlobMismatch');
    // Only what is public, or signed.
    await container.setAccessPolicy();
    const later = await source.createSnapshot();
    await refused(target.startCopyIncremental(source.withSnapshot(later.snapshot).url), 401, 'CannotVerifyCopySource');
    await target.startCopyIncremental(await signed(source.withSnapshot(later.snapshot)));
});

test('a source that was made anew, or whose last snapshot is gone, is copied whole by the next', async (t) => {
    // decision: 100
    const { source, target } = await newPair(t, 4096);
    await source.uploadPages(pattern(512), 0, 512);
    const first = await source.createSnapshot();
    await copy(source, first.snapshot, target);
    await source.withSnapshot(first.snapshot).delete();
    await source.uploadPages(pattern(512, 2), 1024, 512);
    const second = await source.createSnapshot();
    const failed = await copy(source, second.snapshot, target);
    assert.equal(failed.copyStatus, 'failed');
    assert.match(failed.copyStatusDescription, /PreviousSnapshotNotFound/);
    const done = await copy(source, second.snapshot, target);
    assert.equal(done.copyStatus, 'success');
    assert.ok((await target.withSnapshot(done.destinationSnapshot).downloadToBuffer())
        .equals(await source.withSnapshot(second.snapshot).downloadToBuffer()));
    await source.create(4096);
    const third = await source.createSnapshot();
    assert.match((await copy(source, third.snapshot, target)).copyStatusDescription, /BlobOverwritten/);
    const anew = await copy(source, third.snapshot, target);
    assert.ok((await target.withSnapshot(anew.destinationSnapshot).downloadToBuffer()).equals(Buffer.alloc(4096)));
});

// Begins a copy and aborts it before it ends; on a machine where it was faster, again.
async function aborted(source, snapshot, target) {
    for (;;) {
        const { copyId } = await target.startCopyIncremental(source.withSnapshot(snapshot).url);
        const ended = await target.abortCopyFromURL(copyId).then(() => true, (error) => {
            assert.equal(error.code, 'NoPendingCopyOperation');
            return false;
        });
        if (ended)
            return target.getProperties();
    }
}

test('a copy that is aborted leaves zero bytes, and the snapshots', async (t) => {
    // rest: Abort-Copy-Blob "leaves a destination blob with zero length and full metadata"
    const { container, source, target } = await newPair(t, 32 * MIB);
    const fill = async (seed) => {
        for (let offset = 0; offset < 32 * MIB; offset += 4 * MIB)
            await source.uploadPages(pattern(4 * MIB, seed), offset, 4 * MIB);
        return source.createSnapshot();
    };
    const first = await fill(1);
    const one = await aborted(source, first.snapshot, target);
    assert.deepEqual([one.copyStatus, one.contentLength, one.isIncrementalCopy, one.metadata],
        ['aborted', 0, true, { a: '1' }]);
    const [listed] = await collect(container.listBlobsFlat({ prefix: 'backup' }));
    assert.equal(listed.properties.contentLength, 0);
    const two = await copy(source, first.snapshot, target);
    assert.deepEqual([two.copyStatus, two.contentLength], ['success', 32 * MIB]);

    const second = await fill(2);
    assert.equal((await aborted(source, second.snapshot, target)).contentLength, 0);
    const four = await copy(source, second.snapshot, target);
    for (const [from, to] of [[first.snapshot, two], [second.snapshot, four]])
        assert.ok((await target.withSnapshot(to.destinationSnapshot).downloadToBuffer())
            .equals(await source.withSnapshot(from).downloadToBuffer()));
});
