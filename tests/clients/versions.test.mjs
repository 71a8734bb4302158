// Versions of blobs through the official SDK: what makes one, what is read of it, how it ends. rest: "Blob versioning";
// recorded; decisions: 803-805
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rawRefused } from './raw.mjs';
import { collect, refused } from './setup.mjs';
import { open, textOf } from './versions-setup.mjs';

test('the switch: set, read back only where it is on, kept when others are set, refused when it makes no sense', async (t) => {
    const at = await open(t, { versions: false });
    const read = async (version) => (await at.ask('GET', '/?restype=service&comp=properties', {}, '', { version })).text;
    assert.doesNotMatch(await read(), /IsVersioningEnabled/);
    assert.equal((await at.switchTo(true)).status, 202);
    await at.service.setProperties({ cors: [], deleteRetentionPolicy: { enabled: true, days: 3 } });
    assert.match(await read(), /<IsVersioningEnabled>true<\/IsVersioningEnabled>/);
    assert.doesNotMatch(await read('2018-11-09'), /IsVersioningEnabled/);
    assert.equal((await at.ask('PUT', '/?restype=service&comp=properties', {}, (await read()).replace(/^\ufeff/, ''))).status, 202);
    assert.match(await read(), /IsVersioningEnabled/);
    await rawRefused(at.switchTo('maybe'), 400, 'InvalidXmlNodeValue');
    await rawRefused(at.switchTo(''), 400, 'InvalidXmlNodeValue');
    for (const service of ['queue', 'file'])
        await rawRefused(at.ask('PUT', '/?restype=service&comp=properties', {}, '<StorageServiceProperties><IsVersioningEnabled>true</IsVersioningEnabled></StorageServiceProperties>',
            { base: { host: at.server.host, port: at.server.ports[service] } }), 400, 'InvalidXmlDocument');
    assert.equal((await at.switchTo(false)).status, 202);
    assert.doesNotMatch(await read(), /IsVersioningEnabled/);
    assert.equal((await at.put('one', 'first')).id, undefined);
});

test('each write leaves what was before under its id, which can be read', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first', { metadata: { a: '1' }, tags: { t: 'v' }, blobHTTPHeaders: { blobContentType: 'text/plain' } });
    const first = await blob.getProperties();
    assert.match(id, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
    assert.deepEqual([first.versionId, first.isCurrentVersion], [id, true]);
    const second = (await blob.upload('second', 6)).versionId;
    await blob.stageBlock('AAAA', 'third', 5);
    assert.equal((await blob.getProperties()).versionId, second); // a block is no write of the blob
    const third = (await blob.commitBlockList(['AAAA'])).versionId;
    const fourth = (await blob.setMetadata({ b: '2' })).versionId;
    const { blob: source } = await at.put('source', 'fifth');
    const fifth = (await blob.syncCopyFromURL(source.url)).versionId;
    const copied = await (await blob.beginCopyFromURL(source.url)).pollUntilDone();
    const sixth = copied.versionId;
    const seventh = (await blob.syncUploadFromURL(source.url)).versionId;
    const ids = [id, second, third, fourth, fifth, sixth, seventh];
    assert.equal(new Set(ids).size, 7);
    assert.deepEqual(ids.toSorted(), ids);
    assert.deepEqual(await Promise.all(ids.map((v) => textOf(blob.withVersion(v)))), ['first', 'second', 'third', 'third', 'fifth', 'fifth', 'fifth']);
    assert.equal(await at.all({ prefix: 'one' }), 'one. one. one. one. one. one. one*');
    assert.deepEqual((await at.items({ prefix: 'one' })).map(({ versionId }) => versionId), ids);

    const old = await blob.withVersion(id).getProperties();
    assert.deepEqual([old.versionId, old.isCurrentVersion, old.etag, old.lastModified, old.createdOn, old.metadata, old.contentType, old.leaseState],
        [id, undefined, first.etag, first.lastModified, first.createdOn, { a: '1' }, 'text/plain', undefined]);
    assert.deepEqual((await blob.withVersion(id).getTags()).tags, { t: 'v' });
    assert.deepEqual([(await blob.withVersion(third).getProperties()).metadata, (await blob.withVersion(fourth).getProperties()).metadata], [{}, { b: '2' }]);
    const list = await blob.withVersion(third).getBlockBlobClient().getBlockList('all');
    assert.deepEqual([list.committedBlocks.map(({ name }) => name), list.uncommittedBlocks], [['AAAA'], []]);

    const now = await blob.withVersion(seventh).getProperties();
    assert.deepEqual([now.isCurrentVersion, now.leaseState], [true, undefined]);
    assert.equal((await blob.getProperties()).leaseState, 'available');
    assert.deepEqual(await collect(at.service.findBlobsByTags("t='v'")), []);
});

test('what changes a blob in its place makes no version', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    assert.equal((await blob.setHTTPHeaders({ blobContentType: 'text/plain' })).versionId, undefined);
    await blob.setTags({ a: 'b' });
    await blob.setAccessTier('Cool');
    const lease = blob.getBlobLeaseClient();
    await lease.acquireLease(-1);
    await lease.releaseLease();
    const append = at.container.getAppendBlobClient('append');
    const created = (await append.create()).versionId;
    await append.appendBlock('one', 3);
    await append.appendBlock('two', 3);
    const page = at.container.getPageBlobClient('page');
    const paged = (await page.create(1024)).versionId;
    await page.uploadPages(Buffer.alloc(512, 'a'), 0, 512);
    await page.resize(2048);
    await page.updateSequenceNumber('update', 7);
    assert.equal(await at.all(), 'append* one* page*');
    assert.deepEqual((await at.items()).map(({ versionId }) => versionId), [created, id, paged]);

    await append.setMetadata({ a: 'b' });
    await append.appendBlock('three', 5);
    await page.setMetadata({ a: 'b' });
    await page.uploadPages(Buffer.alloc(512, 'b'), 0, 512);
    assert.equal(await textOf(append.withVersion(created)), 'onetwo');
    assert.equal(await textOf(append), 'onetwothree');
    assert.equal((await textOf(page.withVersion(paged))).slice(0, 2), 'aa');
    assert.equal((await textOf(page)).slice(0, 2), 'bb');
    await append.seal();
    assert.equal((await append.withVersion(created).getProperties()).isSealed, undefined);
    await page.create(512);
    await append.create();
    assert.equal(await at.all(), 'append. append. append* one* page. page. page*');
    assert.equal((await textOf(page.withVersion(paged))).slice(0, 2), 'aa');
    assert.equal(await textOf(append.withVersion(created)), 'onetwo');
});

test('a deleted blob is gone, its versions are not; one of them can be promoted', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first', { metadata: { a: 'b' }, tags: { t: 'v' } });
    const second = (await blob.upload('second', 6, { tags: { t: 'v' } })).versionId;
    const before = await blob.getProperties();
    await blob.stageBlock('AAAA', 'staged', 6);
    const gone = await at.ask('DELETE', '/box/one');
    assert.deepEqual([gone.status, gone.headers.get('x-ms-delete-type-permanent')], [202, 'false']);
    await refused(blob.getProperties(), 404, 'BlobNotFound');
    await refused(blob.setMetadata({}), 404, 'BlobNotFound');
    await refused(blob.delete(), 404, 'BlobNotFound');
    await refused(blob.getBlockList('all'), 404, 'BlobNotFound');
    assert.deepEqual(await collect(at.container.listBlobsFlat({ includeUncommitedBlobs: true, includeDeleted: true })), []);
    assert.deepEqual(await collect(at.service.findBlobsByTags("t='v'")), []);
    assert.equal(await at.all({ includeDeletedWithVersions: false }), 'one. one.');
    const [only, ...others] = await collect(at.container.listBlobsFlat({ includeDeletedWithVersions: true }));
    assert.deepEqual([others, only.hasVersionsOnly, only.versionId, only.isCurrentVersion], [[], true, undefined, undefined]);
    assert.deepEqual([only.properties.contentLength, only.properties.etag, only.properties.lastModified, only.properties.blobType],
        [6, before.etag.replaceAll('"', ''), before.lastModified, 'BlockBlob']);
    assert.equal(await textOf(blob.withVersion(second)), 'second');

    const promoted = (await blob.syncCopyFromURL(blob.withVersion(id).url)).versionId;
    assert.ok(promoted > second);
    assert.equal(await textOf(blob), 'first');
    assert.deepEqual((await blob.getProperties()).metadata, { a: 'b' });
    assert.equal(await at.all(), 'one. one. one*');
    await blob.delete();
    await blob.withVersion(promoted).delete();
    await blob.withVersion(id).delete();
    assert.equal(await at.all(), 'one. one!');
    await blob.withVersion(second).delete();
    assert.equal(await at.all(), '');
    await refused(blob.withVersion(second).getProperties(), 404, 'BlobNotFound');
    assert.ok((await at.put('one', 'again')).id > promoted);
});

test('a version is deleted by its id alone; the current one is not', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    await refused(blob.withVersion(id).delete(), 403, 'OperationNotAllowedOnRootBlob');
    const second = (await blob.upload('second', 6)).versionId;
    const gone = await at.ask('DELETE', `/box/one?versionid=${id}`);
    assert.deepEqual([gone.status, gone.headers.get('x-ms-delete-type-permanent')], [202, 'true']);
    await refused(blob.withVersion(id).delete(), 404, 'BlobNotFound');
    await refused(blob.withVersion(second).delete(), 403, 'OperationNotAllowedOnRootBlob');
    assert.equal(await at.all(), 'one*');
});

test('a snapshot makes a version; a blob goes with its snapshots, not with its versions', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    const before = await blob.getProperties();
    const { snapshot, versionId } = await blob.createSnapshot();
    assert.equal(Date.parse(versionId) - Date.parse(snapshot), 1);
    assert.equal(versionId.slice(-5), snapshot.slice(-5)); // the same below a millisecond
    const after = await blob.getProperties();
    assert.deepEqual([after.versionId, after.etag, after.lastModified], [versionId, before.etag, before.lastModified]);
    const kept = await blob.withSnapshot(snapshot).getProperties();
    assert.deepEqual([kept.versionId, kept.isCurrentVersion, kept.leaseState], [undefined, undefined, undefined]);
    assert.equal(await at.all(), 'one. one@ one*');
    const again = (await blob.upload('second', 6)).versionId;
    assert.ok(again > versionId);
    assert.equal(await at.all(), 'one. one@ one. one*');
    assert.deepEqual(await Promise.all([id, versionId, again].map((v) => textOf(blob.withVersion(v)))), ['first', 'first', 'second']);
    await refused(blob.withVersion(snapshot).getProperties(), 404, 'BlobNotFound');
    await refused(blob.withSnapshot(id).getProperties(), 404, 'BlobNotFound');

    await refused(blob.delete(), 409, 'SnapshotsPresent');
    await blob.delete({ deleteSnapshots: 'only' });
    assert.equal(await at.all(), 'one. one. one*');
    await blob.createSnapshot();
    await blob.delete({ deleteSnapshots: 'include' });
    assert.equal(await at.all(), 'one. one. one. one. one!');
    assert.equal(await textOf(blob.withVersion(id)), 'first');
});

test('forty snapshots go at once, and the versions between them stay', async (t) => {
    const at = await open(t);
    const { blob } = await at.put('one', 'first');
    for (let i = 0; i < 40; i++)
        await blob.createSnapshot();
    await blob.delete({ deleteSnapshots: 'include' });
    assert.equal((await at.items()).filter(({ snapshot }) => snapshot).length, 0);
    const versions = (await at.items()).filter(({ versionId }) => versionId);
    assert.equal(versions.length, 41);
    assert.equal(await textOf(blob.withVersion(versions[20].versionId)), 'first');
    assert.equal(new Set(versions.map(({ versionId }) => versionId)).size, 41);
});

test('lists: versions in the order of their ids, in pages, by prefix and by delimiter', async (t) => {
    const at = await open(t);
    for (const name of ['a', 'dir/a', 'dir/b'])
        for (const content of ['1', '22', '333'])
            await at.put(name, content);
    await at.container.getBlobClient('dir/a').delete();
    const whole = await at.items();
    assert.equal(await at.all(), 'a. a. a* dir/a. dir/a. dir/a. dir/a! dir/b. dir/b. dir/b*');
    for (const maxPageSize of [1, 2, 3, 4]) {
        const pages = [];
        for await (const page of at.container.listBlobsFlat({ includeVersions: true, includeSnapshots: true, includeDeleted: true, includeDeletedWithVersions: true }).byPage({ maxPageSize }))
            pages.push(...page.segment.blobItems);
        assert.deepEqual(pages.map(({ name, versionId }) => [name, versionId]), whole.map(({ name, versionId }) => [name, versionId]));
    }
    assert.deepEqual(whole.slice(0, 3).map(({ properties }) => properties.contentLength), [1, 2, 3]);
    const plain = await collect(at.container.listBlobsFlat());
    assert.deepEqual(plain.map(({ name, isCurrentVersion, versionId }) => [name, isCurrentVersion, versionId]),
        [['a', true, whole[2].versionId], ['dir/b', true, whole[9].versionId]]);
    const folders = await collect(at.container.listBlobsByHierarchy('/', { includeVersions: true }));
    assert.deepEqual(folders.map(({ kind, name }) => [kind, name]), [['prefix', 'dir/'], ['blob', 'a'], ['blob', 'a'], ['blob', 'a']]);
    const inside = await collect(at.container.listBlobsByHierarchy('/', { includeVersions: true, prefix: 'dir/' }));
    assert.equal(inside.map(({ name }) => name).join(' '), 'dir/a dir/a dir/a dir/b dir/b dir/b');
    const snapshots = await collect(at.container.listBlobsFlat({ includeSnapshots: true }));
    assert.deepEqual(snapshots.map(({ name }) => name), ['a', 'dir/b']);
    const old = await at.ask('GET', '/box?restype=container&comp=list', {}, '', { version: '2018-11-09' });
    assert.doesNotMatch(old.text, /VersionId|IsCurrentVersion/);
});

test('tiers and tags of a version are its own', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first', { tags: { t: 'old' } });
    const second = (await blob.upload('second', 6, { tags: { t: 'new' } })).versionId;
    await blob.withVersion(id).setAccessTier('Archive');
    await blob.withVersion(id).setTags({ t: 'older' });
    assert.deepEqual([(await blob.getProperties()).accessTier, (await blob.withVersion(id).getProperties()).accessTier], ['Hot', 'Archive']);
    assert.deepEqual([(await blob.getTags()).tags, (await blob.withVersion(id).getTags()).tags], [{ t: 'new' }, { t: 'older' }]);
    await refused(blob.withVersion(id).download(), 409, 'BlobArchived');
    // A version stays archived, as recorded. decision: 86
    await refused(blob.withVersion(id).setAccessTier('Cool'), 409, 'BlobOperationNotSupported');
    assert.equal((await blob.withVersion(id).setAccessTier('Archive'))._response.status, 200);
    const found = async (value) => (await collect(at.service.findBlobsByTags(`t='${value}'`))).map(({ name }) => name);
    assert.deepEqual([await found('old'), await found('older'), await found('new')], [[], [], ['one']]);
    await blob.withVersion(second).setTags({ t: 'newer' }); // the current one
    assert.deepEqual([await found('new'), await found('newer')], [[], ['one']]);
    await blob.withVersion(second).setAccessTier('Cool');
    assert.equal((await blob.getProperties()).accessTier, 'Cool');
    assert.equal((await blob.getProperties()).versionId, second);
});

test('the destination of incremental copies is a version, where versions are on', async (t) => {
    // recorded: x-ms-version-id of the copy, and of Get Blob Properties; decision: 100
    const at = await open(t);
    await at.switchTo(true);
    const source = at.container.getPageBlobClient('disk'), target = at.container.getPageBlobClient('backup');
    await source.create(1024);
    const ids = [];
    for (let n = 0; n < 2; n++) {
        const { snapshot } = await source.createSnapshot();
        const begun = await target.startCopyIncremental(source.withSnapshot(snapshot).url);
        let now;
        do
            now = await target.getProperties();
        while (now.copyStatus === 'pending');
        assert.equal(now.copyStatus, 'success');
        assert.equal(now.isCurrentVersion, true);
        ids.push(begun._response.headers.get('x-ms-version-id'), now.versionId);
    }
    assert(ids[0]);
    assert.deepEqual(new Set(ids).size, 1, ids.join(' '));
    const states = await collect(at.container.listBlobsFlat({ prefix: 'backup', includeVersions: true, includeSnapshots: true }));
    assert.deepEqual(states.map(({ snapshot, versionId, isCurrentVersion }) => [Boolean(snapshot), versionId ?? null, isCurrentVersion ?? null]),
        [[true, null, null], [true, null, null], [false, ids[0], true]]);
});
