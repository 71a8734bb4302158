// Snapshots through the SDK: taking, reading, listing (listing.test.mjs), deleting.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raw, rawRefused } from './raw.mjs';
import { blockId, bytesOf, collect, newBlob, pattern, refused } from './setup.mjs';

test('a snapshot keeps content, properties and metadata while the base goes on', async (t) => {
    // rest: Snapshot-Blob; semantics 5
    const { blob, etag, lastModified } = await newBlob(t, 'first', {
        metadata: { a: '1' }, blobHTTPHeaders: { blobContentType: 'text/plain' },
    });
    const taken = await blob.createSnapshot();
    assert.equal(taken._response.status, 201);
    assert.match(taken.snapshot, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
    assert.equal(taken.etag, etag);
    assert.equal(taken.lastModified.getTime(), lastModified.getTime());
    await blob.upload('second one', 10, { metadata: { b: '2' } });
    await blob.setHTTPHeaders({ blobContentType: 'text/html' });

    const old = blob.withSnapshot(taken.snapshot);
    assert.equal((await old.downloadToBuffer()).toString(), 'first');
    const properties = await old.getProperties();
    assert.equal(properties.etag, etag);
    assert.equal(properties.contentType, 'text/plain');
    assert.deepEqual(properties.metadata, { a: '1' });
    assert.equal(properties.contentLength, 5);
    assert.equal((await blob.downloadToBuffer()).toString(), 'second one');
});

test('a snapshot with metadata has an ETag of its own', async (t) => {
    // semantics 2.1, Blob_createSnapshot
    const { blob, etag } = await newBlob(t, 'x', { metadata: { a: '1' } });
    const taken = await blob.createSnapshot({ metadata: { Own: 'yes' } });
    assert.notEqual(taken.etag, etag);
    const old = blob.withSnapshot(taken.snapshot);
    assert.deepEqual((await old.getProperties()).metadata, { own: 'yes' });
    assert.equal((await old.getProperties()).etag, taken.etag);
    const base = await blob.getProperties();
    assert.deepEqual(base.metadata, { a: '1' });
    assert.equal(base.etag, etag);
});

test('snapshots have times of their own, also when they are taken at once', async (t) => {
    // semantics 5: DateTime with 7 digits, unique per blob
    const { blob } = await newBlob(t);
    const taken = await Promise.all(Array.from({ length: 40 }, () => blob.createSnapshot()));
    assert.equal(new Set(taken.map(({ snapshot }) => snapshot)).size, 40);
});

test('ranges and conditions of a snapshot', async (t) => {
    // rest: Get-Blob ?snapshot
    const content = pattern(100000);
    const { blob } = await newBlob(t, content);
    const { snapshot, etag } = await blob.createSnapshot();
    await blob.delete({ deleteSnapshots: 'include' }).then(() =>
        blob.upload(content, content.length));
    const again = await blob.createSnapshot();
    assert.notEqual(again.snapshot, snapshot);
    const old = blob.withSnapshot(again.snapshot);
    await blob.upload('other', 5);
    const got = await old.download(70000, 10000, { conditions: { ifMatch: again.etag } });
    assert.ok((await bytesOf(got)).equals(content.subarray(70000, 80000)));
    await refused(old.download(0, 1, { conditions: { ifMatch: etag } }), 412, 'ConditionNotMet');
    await refused(old.getProperties({ conditions: { ifNoneMatch: again.etag } }), 304,
        'ConditionNotMet');
});

test('deleting: the base, with snapshots, snapshots only, one snapshot', async (t) => {
    // rest: Delete-Blob x-ms-delete-snapshots
    const { container, blob } = await newBlob(t);
    const shots = [];
    for (let n = 0; n < 3; n++)
        shots.push((await blob.createSnapshot()).snapshot);
    const left = async () => (await collect(container.listBlobsFlat({ includeSnapshots: true })))
        .map(({ snapshot }) => snapshot);
    await refused(blob.delete(), 409, 'SnapshotsPresent');
    const one = await blob.withSnapshot(shots[1]).delete();
    assert.equal(one._response.status, 202);
    assert.deepEqual(await left(), [shots[0], shots[2], undefined]);
    await refused(blob.withSnapshot(shots[1]).getProperties(), 404, 'BlobNotFound');
    await refused(blob.withSnapshot(shots[1]).delete(), 404, 'BlobNotFound');
    await blob.delete({ deleteSnapshots: 'only' });
    assert.deepEqual(await left(), [undefined]);
    await blob.createSnapshot();
    await blob.delete({ deleteSnapshots: 'include' });
    assert.deepEqual(await left(), []);
});

test('Put Blob and Put Block List over a blob leave its snapshots', async (t) => {
    // rest: Put-Blob "overwriting ... does not affect its snapshots"
    const { blob } = await newBlob(t, 'first');
    const first = (await blob.createSnapshot()).snapshot;
    await blob.stageBlock(blockId(1), 'second', 6);
    await blob.commitBlockList([blockId(1)]);
    const second = (await blob.createSnapshot()).snapshot;
    await blob.upload('third', 5);
    assert.equal((await blob.withSnapshot(first).downloadToBuffer()).toString(), 'first');
    assert.equal((await blob.withSnapshot(second).downloadToBuffer()).toString(), 'second');
    await blob.withSnapshot(first).delete();
    assert.equal((await blob.withSnapshot(second).downloadToBuffer()).toString(), 'second');
    assert.equal((await blob.downloadToBuffer()).toString(), 'third');
});

test('a snapshot is not written', async (t) => {
    // rest: Snapshot-Blob: a snapshot is read-only
    const { container, blob } = await newBlob(t);
    const { snapshot } = await blob.createSnapshot();
    const path = `/${container.containerName}/blob?snapshot=${encodeURIComponent(snapshot)}`;
    for (const [query, headers] of [['', { 'x-ms-blob-type': 'BlockBlob' }], ['&comp=metadata', {}],
        ['&comp=properties', {}], ['&comp=snapshot', {}], ['&comp=blocklist', {}],
        [`&comp=block&blockid=${encodeURIComponent(blockId(1))}`, {}]]) {
        const answer = await raw('PUT', path + query, headers);
        assert.equal(answer.status, 400, query);
    }
    assert.equal((await blob.withSnapshot(snapshot).downloadToBuffer()).toString(), 'content');
});

test('a time that is no snapshot', async (t) => {
    // rest: Get-Blob ?snapshot
    const { container, blob } = await newBlob(t);
    const never = blob.withSnapshot('2020-01-02T03:04:05.1234567Z');
    await refused(never.getProperties(), 404, 'BlobNotFound');
    await refused(never.download(), 404, 'BlobNotFound');
    await rawRefused(raw('GET', `/${container.containerName}/blob?snapshot=yesterday`),
        400, 'InvalidQueryParameterValue');
});
