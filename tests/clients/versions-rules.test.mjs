// What is refused of versions of blobs, who may delete them, and what they are with soft delete, leases, conditions, types
// and batches, and where they were switched on late or off again. rest: "Blob versioning", Delete-Blob; recorded;
// decisions: 803-805
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobBatchClient, BlobClient, BlobSASPermissions, ContainerSASPermissions, generateBlobSASQueryParameters } from '@azure/storage-blob';
import { rawRefused } from './raw.mjs';
import { collect, credential, once, refused } from './setup.mjs';
import { open, textOf } from './versions-setup.mjs';

const DAY_S = 86400;

test('wrong ids, and writes to a version', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    await blob.upload('second', 6);
    const element = (text, name) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1];
    for (const [method, query, headers] of [
        ['PUT', '', { 'x-ms-blob-type': 'BlockBlob' }], ['PUT', '&comp=metadata', {}], ['PUT', '&comp=properties', {}], ['PUT', '&comp=snapshot', {}],
        ['PUT', '&comp=block&blockid=AAAA', {}], ['PUT', '&comp=undelete', {}], ['PUT', '&comp=lease', { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' }],
        ['PUT', '', { 'x-ms-copy-source': blob.url }]]) {
        const answer = await rawRefused(at.ask(method, `/box/one?versionid=${id}${query}`, headers), 400, 'InvalidQueryParameterValue');
        assert.deepEqual(['QueryParameterName', 'QueryParameterValue', 'Reason'].map((name) => element(answer.text, name)),
            ['versionid', id, 'This operation is only allowed on the root blob. Version id should not be provided.']);
    }
    for (const wrong of ['', 'x', '0', `${id}&snapshot=${id}`])
        for (const method of ['GET', 'DELETE'])
            await rawRefused(at.ask(method, `/box/one?versionid=${wrong}`), 400, 'InvalidQueryParameterValue');
    for (const other of ['2020-01-01T00:00:00.0000000Z', id.replace(/^2/, '3')]) {
        await rawRefused(at.ask('GET', `/box/one?versionid=${other}`), 404, 'BlobNotFound');
        await rawRefused(at.ask('DELETE', `/box/one?versionid=${other}`), 404, 'BlobNotFound');
        await rawRefused(at.ask('PUT', `/box/one?versionid=${other}&comp=tier`, { 'x-ms-access-tier': 'Cool' }), 404, 'BlobNotFound');
    }
    await rawRefused(at.ask('DELETE', `/box/one?versionid=${id}`, { 'x-ms-delete-snapshots': 'include' }), 400, 'InvalidOperation');
    await rawRefused(at.ask('GET', `/box/two?versionid=${id}`), 404, 'BlobNotFound');
    assert.equal(await textOf(blob.withVersion(id)), 'first');
    assert.equal(await at.all(), 'one. one*');
});

test('all versions of a blob are of one type', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    const append = at.container.getAppendBlobClient('one'), page = at.container.getPageBlobClient('one');
    await refused(append.create(), 409, 'InvalidBlobType');
    await blob.delete();
    await refused(append.create(), 409, 'InvalidBlobType');
    await refused(page.create(512), 409, 'InvalidBlobType');
    await at.switchTo(false);
    await refused(page.create(512), 409, 'InvalidBlobType');
    await at.switchTo(true);
    await blob.withVersion(id).delete();
    const paged = (await page.create(512)).versionId;
    await page.delete();
    await refused(blob.stageBlock('AAAA', 'block', 5), 409, 'InvalidBlobType');
    await refused(blob.upload('block', 5), 409, 'InvalidBlobType');
    assert.equal(await at.all(), 'one. one!');
    await page.withVersion(paged).delete();
    await blob.upload('block', 5);
    assert.equal(await textOf(blob), 'block');
});

test('a version has no lease; that of the current one guards it, and stays when it is overwritten', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    const { leaseId } = await blob.getBlobLeaseClient().acquireLease(-1);
    await refused(blob.upload('second', 6), 412, 'LeaseIdMissing');
    const second = (await blob.upload('second', 6, { conditions: { leaseId } })).versionId;
    assert.equal((await blob.getProperties()).leaseState, 'leased');
    await refused(blob.withVersion(second).setAccessTier('Cool'), 412, 'LeaseIdMissing');
    await blob.withVersion(id).setAccessTier('Cool');
    await refused(blob.withVersion(id).delete({ conditions: { leaseId } }), 412, 'LeaseNotPresentWithBlobOperation');
    await refused(blob.delete(), 412, 'LeaseIdMissing');
    await blob.withVersion(id).delete();
    await blob.delete({ conditions: { leaseId } });
    assert.equal(await at.all(), 'one. one!');
    await blob.upload('third', 5);
    assert.equal((await blob.getProperties()).leaseState, 'available');
});

test('conditions are of the version that is named; what they refuse makes none', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first', { tags: { t: 'a' } });
    const { etag } = await blob.getProperties();
    await blob.upload('second', 6, { tags: { t: 'b' } });
    await refused(blob.upload('third', 5, { conditions: { ifMatch: etag } }), 412, 'ConditionNotMet');
    await refused(blob.upload('third', 5, { conditions: { ifNoneMatch: '*' } }), 409, 'BlobAlreadyExists');
    await refused(blob.setMetadata({}, { conditions: { ifMatch: etag } }), 412, 'ConditionNotMet');
    await refused(blob.createSnapshot({ conditions: { ifMatch: etag } }), 412, 'ConditionNotMet');
    assert.equal(await at.all(), 'one. one*');
    const old = blob.withVersion(id);
    assert.equal((await old.getProperties({ conditions: { ifMatch: etag, tagConditions: "t = 'a'" } })).etag, etag);
    await refused(old.download(0, undefined, { conditions: { ifMatch: (await blob.getProperties()).etag } }), 412, 'ConditionNotMet');
    await refused(old.delete({ conditions: { ifNoneMatch: etag } }), 412, 'ConditionNotMet');
    await blob.delete();
    await blob.upload('third', 5, { conditions: { ifNoneMatch: '*' } }); // there is no current one
    await old.delete({ conditions: { ifMatch: etag } });
    assert.equal(await at.all(), 'one. one*');
});

test('with soft delete: overwritten and deleted blobs are versions, deleted versions are kept and come back', async (t) => {
    const at = await open(t);
    await at.keep(7);
    const { blob, id } = await at.put('one', 'first');
    const second = (await blob.upload('second', 6)).versionId;
    assert.equal(await at.all(), 'one. one*');
    await blob.createSnapshot();
    await blob.delete({ deleteSnapshots: 'include' });
    assert.equal(await at.all(), 'one. one. -one@ one. one!');
    const gone = await at.ask('DELETE', `/box/one?versionid=${id}`);
    assert.equal(gone.headers.get('x-ms-delete-type-permanent'), 'false');
    await refused(blob.withVersion(id).getProperties(), 404, 'BlobNotFound');
    await refused(blob.withVersion(id).delete(), 404, 'BlobNotFound');
    assert.equal(await at.all(), '-one. one. -one@ one. one!');
    assert.equal(await at.all({ includeDeleted: false }), 'one. one. one!');
    await blob.undelete();
    assert.equal(await at.all(), 'one. one. one@ one. one!');
    await refused(blob.getProperties(), 404, 'BlobNotFound'); // none is promoted
    await blob.syncCopyFromURL(blob.withVersion(second).url);
    assert.equal(await textOf(blob), 'second');

    for (const { versionId, isCurrentVersion } of await at.items())
        if (versionId && !isCurrentVersion)
            await blob.withVersion(versionId).delete();
    assert.equal(await at.all(), '-one. -one. one@ -one. one*');
    await at.set('<DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days><AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy>');
    await rawRefused(at.ask('DELETE', `/box/one?deletetype=permanent&versionid=${(await blob.getProperties()).versionId}`), 409, 'BlobSnapshotNotSoftDeleted');
    assert.equal((await at.ask('DELETE', `/box/one?deletetype=permanent&versionid=${id}`)).status, 202);
    assert.equal(await at.all(), '-one. one@ -one. one*');
    await at.forward(8 * DAY_S);
    assert.equal(await at.all(), 'one@ one*');
    assert.equal(await textOf(blob), 'second');
});

test('soft-deleted versions of a blob that is gone are shown until they expire, and then nothing is', async (t) => {
    const at = await open(t);
    await at.keep(1);
    const { blob, id } = await at.put('one', 'first');
    await blob.delete();
    await blob.withVersion(id).delete();
    assert.equal(await at.all(), '-one. one!');
    await at.switchTo(false);
    await at.forward(2 * DAY_S);
    assert.equal(await at.all(), '');
    await at.container.getPageBlobClient('one').create(512); // nothing is left of the name
});

test('a soft-deleted blob above versions expires, and leaves them', async (t) => {
    const at = await open(t);
    await at.keep(1);
    const { blob, id } = await at.put('one', 'first');
    await at.switchTo(false);
    await blob.upload('second', 6);
    await blob.delete();
    assert.equal(await at.all(), 'one. -one');
    await at.forward(2 * DAY_S);
    assert.equal(await at.all(), 'one. one!');
    assert.equal(await textOf(blob.withVersion(id)), 'first');
    await blob.upload('third', 5);
    assert.deepEqual([await at.all(), await textOf(blob)], ['one. one', 'third']);
});

test('blocks in the place of a soft-deleted blob: its versions are known still, and of one type', async (t) => {
    const at = await open(t);
    await at.keep(7);
    const { blob } = await at.put('one', 'first');
    const page = at.container.getPageBlobClient('two');
    await page.create(512);
    await at.switchTo(false);
    await blob.upload('second', 6);
    await page.create(1024);
    await blob.delete();
    await page.delete();
    await blob.stageBlock('AAAA', 'block', 5);
    await refused(at.container.getBlockBlobClient('two').stageBlock('AAAA', 'block', 5), 409, 'InvalidBlobType');
    assert.equal(await at.all(), 'one. -one@ one! two. -two');
    await blob.commitBlockList(['AAAA']);
    assert.equal(await at.all(), 'one. -one@ one two. -two');
});

test('switched on late: what was there has no id, and gets one when it is overwritten', async (t) => {
    const at = await open(t, { versions: false });
    const { blob } = await at.put('one', 'first');
    await blob.createSnapshot();
    await at.switchTo(true);
    const before = await blob.getProperties();
    assert.deepEqual([before.versionId, before.isCurrentVersion], [undefined, undefined]);
    assert.equal(await at.all(), 'one@ one');
    const second = (await blob.upload('second', 6)).versionId;
    const [, old, now] = await at.items();
    assert.equal(now.versionId, second);
    assert.ok(old.versionId < second);
    assert.equal(await textOf(blob.withVersion(old.versionId)), 'first');
    assert.equal(old.properties.etag, before.etag.replaceAll('"', ''));
    const { blob: two } = await at.put('two', 'late');
    await at.switchTo(false);
    await at.put('three', 'off');
    await at.switchTo(true);
    await at.container.getBlobClient('three').delete();
    assert.equal(await at.all({ prefix: 't' }), 'three. three! two*');
    await two.delete();
});

test('switched off: the current version stays when it is overwritten or deleted, what follows is kept no more', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    const { blob: two } = await at.put('two', 'first');
    const { blob: three } = await at.put('three', 'first');
    await at.switchTo(false);
    assert.equal(await at.all(), 'one* three* two*');
    const { versionId } = await blob.upload('second', 6);
    assert.equal(versionId, undefined);
    assert.equal(await at.all({ prefix: 'one' }), 'one. one');
    await blob.upload('third', 5);
    assert.equal(await at.all({ prefix: 'one' }), 'one. one');
    assert.deepEqual([await textOf(blob.withVersion(id)), await textOf(blob)], ['first', 'third']);
    assert.equal((await blob.getProperties()).isCurrentVersion, undefined);
    assert.equal((await at.ask('DELETE', '/box/one')).headers.get('x-ms-delete-type-permanent'), 'true');
    assert.equal(await at.all({ prefix: 'one' }), 'one. one!');
    await two.delete();
    assert.equal(await at.all({ prefix: 'two' }), 'two. two!');
    await three.setMetadata({ a: 'b' });
    await three.createSnapshot();
    assert.equal(await at.all({ prefix: 'three' }), 'three. three@ three');
    await blob.withVersion(id).delete();
    assert.equal(await at.all({ prefix: 'one' }), '');
});

test('a SAS deletes versions with the letter x, and blobs with d; that of a version opens this one alone', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    const second = (await blob.upload('second', 6)).versionId;
    const third = (await blob.upload('third', 5)).versionId;
    const expiresOn = new Date(Date.now() + 9e9);
    const plain = `${at.server.urlOf('blob')}/box/one`;
    const by = (options, version) => new BlobClient(`${plain}?${version ? `versionid=${version}&` : ''}${generateBlobSASQueryParameters({ containerName: 'box', expiresOn, ...options }, credential)}`, undefined, once);
    const container = (letters) => ({ permissions: ContainerSASPermissions.parse(letters) });
    const account = (letters, version) => at.client(letters).getContainerClient('box').getBlobClient('one').withVersion(version);
    await refused(by(container('d'), id).delete(), 403, 'AuthorizationPermissionMismatch');
    await refused(by(container('x')).delete(), 403, 'AuthorizationPermissionMismatch');
    await refused(account('d', id).delete(), 403, 'AuthorizationPermissionMismatch');
    await by(container('x'), id).delete();
    await refused(account('x', third).delete(), 403, 'OperationNotAllowedOnRootBlob');
    await account('x', second).delete();

    const fourth = (await blob.upload('fourth', 6)).versionId;
    const only = { blobName: 'one', versionId: third, permissions: BlobSASPermissions.parse('rx') };
    assert.equal(await textOf(by(only, third)), 'third');
    await refused(by(only).download(), 403, 'AuthenticationFailed');
    await refused(by(only, fourth).download(), 403, 'AuthenticationFailed');
    await refused(by({ ...only, versionId: undefined }, third).download(), 403, 'AuthenticationFailed');
    await by(only, third).delete();
    assert.equal(await at.all(), 'one*');
});

test('a batch deletes versions, each on its own', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    const second = (await blob.upload('second', 6)).versionId;
    const third = (await blob.upload('third', 5)).versionId;
    const signed = new BlobBatchClient(at.server.url, credential, once);
    const urls = [id, third, second].map((version) => `${at.server.url}/box/one?versionid=${version}`);
    const batch = await signed.deleteBlobs(urls, credential);
    assert.deepEqual(batch.subResponses.map(({ status, errorCode }) => [status, errorCode]),
        [[202, undefined], [403, 'OperationNotAllowedOnRootBlob'], [202, undefined]]);
    assert.equal(await at.all(), 'one*');
});

test('versions go with their container', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    await blob.upload('second', 6);
    await at.container.delete();
    await refused(blob.withVersion(id).getProperties(), 404, 'ContainerNotFound');
    assert.deepEqual(await collect(at.service.listContainers()), []);
});

test('a copy that takes long keeps what was there from its beginning; an aborted one leaves an empty version', async (t) => {
    const at = await open(t);
    const { blob, id } = await at.put('one', 'first');
    const source = at.container.getPageBlobClient('source');
    await source.create(512 * 1024);
    const pages = at.container.getPageBlobClient('pages');
    const created = (await pages.create(512)).versionId;
    await pages.uploadPages(Buffer.alloc(512, 'a'), 0, 512);
    const copied = await (await pages.beginCopyFromURL(source.url)).pollUntilDone();
    assert.notEqual(copied.versionId, undefined);
    assert.equal((await pages.getProperties()).versionId, copied.versionId);
    assert.equal(await at.all({ prefix: 'pages' }), 'pages. pages*');
    assert.equal((await textOf(pages.withVersion(created))).slice(0, 3), 'aaa');
    assert.equal((await pages.getProperties()).contentLength, 512 * 1024);
    assert.equal(await textOf(blob.withVersion(id)), 'first');
});
