// Blobs that are deleted or overwritten and kept, and restored, through the official SDK: on servers of their own, since
// the policy is the account's. rest: Delete-Blob, Undelete-Blob; "Soft delete for blobs"; decisions: 790-793
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, BlobBatchClient, BlobServiceClient, generateAccountSASQueryParameters,
    StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { Control, Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';
import { account, collect, credential, once, refused } from './setup.mjs';

const DAY_S = 86400;

/** A server, and clients of it whose requests have no date: its clock may be moved. */
async function open(t, options = {}) {
    const server = await Server.start(options);
    const control = new Control(server);
    t.after(async () => {
        control.close();
        await server.kill();
        await server.remove();
    });
    const client = (letters) => new BlobServiceClient(`${server.urlOf('blob')}?${generateAccountSASQueryParameters({
        services: AccountSASServices.parse('b').toString(), resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
        permissions: AccountSASPermissions.parse(letters), expiresOn: new Date(Date.now() + 9e9),
    }, credential)}`, undefined, once);
    const service = client('rwdlactf');
    const container = service.getContainerClient('box');
    await container.create();
    const names = async (options) => (await collect(container.listBlobsFlat({ includeSnapshots: true, ...options })))
        .map(({ name, snapshot, deleted }) => `${deleted ? '-' : ''}${name}${snapshot ? '@' : ''}`).join(' ');

    return {
        server, control, service, client, container, names,
        keep: (days, more = {}) => service.setProperties({ deleteRetentionPolicy: days > 0 ? { enabled: true, days, ...more } : { enabled: false } }),
        all: () => names({ includeDeleted: true }),
        put: async (name, content) => {
            const blob = container.getBlockBlobClient(name);
            await blob.upload(content, content.length);
            return blob;
        },
        ask: (method, path, headers = {}, body = '', options = {}) =>
            raw(method, path, headers, body, { base: { host: server.host, port: server.ports.blob }, ...options }),
    };
}

const textOf = async (blob) => String(await blob.downloadToBuffer());

test('the policy is read back, and kept when others are set', async (t) => {
    const at = await open(t);
    assert.equal((await at.service.getProperties()).deleteRetentionPolicy.enabled, false);
    await at.keep(14);
    await at.service.setProperties({ cors: [] });
    const { enabled, days } = (await at.service.getProperties()).deleteRetentionPolicy;
    assert.deepEqual([enabled, days], [true, 14]);
    await at.keep(0);
    assert.equal((await at.service.getProperties()).deleteRetentionPolicy.enabled, false);
});

test('a deleted blob is shown with its days, and comes back as it was', async (t) => {
    const at = await open(t);
    await at.keep(7);
    const blob = at.container.getBlockBlobClient('dir/one');
    const { etag, lastModified } = await blob.upload('content', 7, { metadata: { a: 'b' }, tags: { t: 'v' }, tier: 'Cool' });
    await blob.stageBlock('AAAA', 'staged', 6);
    assert.equal((await blob.delete())._response.parsedHeaders['x-ms-delete-type-permanent'] ?? 'false', 'false');
    await refused(blob.getProperties(), 404, 'BlobNotFound');
    await refused(blob.download(), 404, 'BlobNotFound');
    await refused(blob.setMetadata({}), 404, 'BlobNotFound');
    await refused(blob.createSnapshot(), 404, 'BlobNotFound');
    await refused(at.container.getBlockBlobClient('copy').syncCopyFromURL(blob.url), 404, 'CannotVerifyCopySource');
    assert.equal(await at.names(), '');
    const byHierarchy = await collect(at.container.listBlobsByHierarchy('/', { includeDeleted: true }));
    assert.deepEqual(byHierarchy.map(({ kind, name }) => [kind, name]), [['prefix', 'dir/']]);
    assert.deepEqual(await collect(at.container.listBlobsByHierarchy('/')), []);
    assert.deepEqual(await collect(at.service.findBlobsByTags("t='v'")), []);

    const [gone, ...others] = await collect(at.container.listBlobsFlat({ includeDeleted: true, includeMetadata: true, includeTags: true }));
    assert.deepEqual(others, []);
    assert.deepEqual([gone.deleted, gone.metadata, gone.tags, gone.properties.accessTier, gone.properties.remainingRetentionDays],
        [true, { a: 'b' }, { t: 'v' }, 'Cool', 6]);
    assert.ok(Math.abs(gone.properties.deletedOn - Date.now()) < 600000);

    await blob.undelete();
    const now = await blob.getProperties();
    assert.deepEqual([now.etag, now.lastModified.getTime(), now.metadata, now.accessTier, now.leaseState],
        [etag, lastModified.getTime(), { a: 'b' }, 'Cool', 'available']);
    assert.equal(await textOf(blob), 'content');
    assert.deepEqual((await collect(at.service.findBlobsByTags("t='v'"))).map(({ name }) => name), ['dir/one']);
    await blob.undelete(); // changes nothing
    assert.equal((await blob.getProperties()).etag, etag);
    await refused(at.container.getBlobClient('never').undelete(), 404, 'BlobNotFound');
});

test('what is overwritten is kept as a snapshot, whatever writes; it can be promoted once it is restored', async (t) => {
    const at = await open(t);
    await at.keep(7);
    const blob = await at.put('one', 'first');
    await blob.upload('second', 6);
    assert.equal(await at.all(), '-one@ one');
    await blob.stageBlock('AAAA', 'third', 5);
    await blob.commitBlockList(['AAAA']);
    const source = await at.put('source', 'fourth');
    await blob.syncCopyFromURL(source.url);
    await (await blob.beginCopyFromURL(source.url)).pollUntilDone();
    await blob.syncUploadFromURL(source.url);
    await blob.setMetadata({ a: 'b' }); // is no overwriting
    await blob.setHTTPHeaders({ blobContentType: 'text/plain' });
    assert.equal(await at.all(), `${'-one@ '.repeat(5)}one source`);
    assert.equal(await at.names(), 'one source');
    await blob.delete(); // though there are snapshots that are deleted
    await blob.undelete();
    assert.equal(await at.names(), `${'one@ '.repeat(5)}one source`);
    const snapshots = (await collect(at.container.listBlobsFlat({ includeSnapshots: true, prefix: 'one' })))
        .filter(({ snapshot }) => snapshot).map(({ snapshot }) => blob.withSnapshot(snapshot));
    assert.deepEqual(await Promise.all(snapshots.map(textOf)), ['first', 'second', 'third', 'fourth', 'fourth']);
    await refused(blob.delete(), 409, 'SnapshotsPresent');
    await blob.syncCopyFromURL(snapshots[0].url); // promoted
    assert.equal(await textOf(blob), 'first');
    assert.equal(await at.all(), `${'one@ '.repeat(5)}-one@ one source`);
    await snapshots[2].delete();
    await refused(snapshots[2].download(), 404, 'BlobNotFound');
    await blob.delete({ deleteSnapshots: 'include' });
    assert.equal(await at.all(), `${'-one@ '.repeat(6)}-one source`);
    for (const size of [1, 2, 3, 7]) {
        const pages = await collect(at.container.listBlobsFlat({ includeSnapshots: true, includeDeleted: true }).byPage({ maxPageSize: size }));
        assert.equal(pages.flatMap((page) => page.segment.blobItems).length, 8, `pages of ${size}`);
    }
});

test('a copy that goes on in the background keeps by the policy of the account that it is copied to', async (t) => {
    const other = { name: 'other', key: Buffer.from('another key').toString('base64') };
    const at = await open(t, { env: { AZURITE_ACCOUNTS: `${account.name}:${account.key};${other.name}:${other.key}` } });
    const there = new BlobServiceClient(at.server.urlOf('blob').replace(account.name, other.name),
        new StorageSharedKeyCredential(other.name, other.key), once);
    const large = there.getContainerClient('public').getBlockBlobClient('large');
    await there.getContainerClient('public').create({ access: 'blob' });
    await large.uploadData(Buffer.alloc(65 << 20), { blockSize: 8 << 20 }); // more than is copied at once
    const copyOver = async (name, expected) => {
        const copy = await (await at.put(name, 'first')).beginCopyFromURL(large.url);
        assert.equal(copy.getOperationState().copyProgress, undefined);
        assert.equal((await copy.pollUntilDone()).copyStatus, 'success');
        assert.equal(await at.all(), expected);
    };

    await at.keep(7);
    await copyOver('kept', '-kept@ kept');
    await at.keep(0);
    await there.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
    await copyOver('not', '-kept@ kept not');
});

test('a batch deletes softly, a lease ends with the blob, a container takes all that was kept with it', async (t) => {
    const at = await open(t);
    await at.keep(2);
    const blobs = await Promise.all(['a', 'b'].map((name) => at.put(name, name)));
    const lease = blobs[0].getBlobLeaseClient();
    await lease.acquireLease(-1);
    await refused(blobs[0].delete(), 412, 'LeaseIdMissing');
    await blobs[0].delete({ conditions: { leaseId: lease.leaseId } });
    const batch = new BlobBatchClient(at.server.urlOf('blob'), credential, once);
    const { subResponsesSucceededCount } = await batch.deleteBlobs([`${at.server.urlOf('blob')}/box/b`], credential);
    assert.equal(subResponsesSucceededCount, 1);
    assert.equal(await at.all(), '-a -b');
    await Promise.all(blobs.map((blob) => blob.undelete()));
    await blobs[0].setMetadata({}); // without a lease
    await blobs[0].delete();
    await at.container.delete();
    await at.container.create();
    assert.equal(await at.all(), '');
    await refused(blobs[0].undelete(), 404, 'BlobNotFound');
});

test('what is kept is gone when its days are over, for each as the policy was', async (t) => {
    const at = await open(t);
    await at.keep(1);
    await (await at.put('one', 'x')).delete();
    await at.keep(3);
    await (await at.put('two', 'x')).delete();
    await at.keep(0);
    await (await at.put('three', 'x')).delete();
    assert.equal(await at.all(), '-one -two');
    await at.control.clock(DAY_S - 600);
    assert.equal(await at.all(), '-one -two');
    await at.control.clock(700);
    assert.equal(await at.all(), '-two');
    await refused(at.container.getBlobClient('one').undelete(), 404, 'BlobNotFound');
    await at.container.getBlobClient('two').undelete(); // also when no more is kept
    await at.container.getBlobClient('two').delete();
    assert.equal(await at.all(), '');
});

test('a soft-deleted snapshot is deleted for good where that is allowed, by whom may do it', async (t) => {
    const at = await open(t);
    await at.keep(5, { allowPermanentDelete: true });
    const policy = '<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>5</Days>' +
        '<AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy></StorageServiceProperties>';
    assert.equal((await at.ask('PUT', '/?restype=service&comp=properties', {}, policy)).status, 202);
    const blob = await at.put('one', 'x');
    const { snapshot } = await blob.createSnapshot();
    const path = `/box/one?snapshot=${encodeURIComponent(snapshot)}&deletetype=permanent`;
    await rawRefused(at.ask('DELETE', path), 409, 'BlobSnapshotNotSoftDeleted');
    await blob.withSnapshot(snapshot).delete();
    /* The SDK has no word for it. */
    const deleteBy = async (letters, date) => {
        const { url } = at.client(letters).getContainerClient('box').getBlobClient('one').withSnapshot(date);
        const { status, headers } = await fetch(`${url}&deletetype=permanent`, { method: 'DELETE', headers: { 'x-ms-version': '2026-02-06' } });
        return [status, headers.get('x-ms-error-code')];
    };
    assert.deepEqual(await deleteBy('d', snapshot), [403, 'AuthorizationPermissionMismatch']);
    const answer = await at.ask('DELETE', path);
    assert.deepEqual([answer.status, answer.headers.get('x-ms-delete-type-permanent')], [202, 'true']);
    assert.equal(await at.all(), 'one');
    const again = await blob.createSnapshot();
    await blob.withSnapshot(again.snapshot).delete();
    assert.equal(await at.all(), '-one@ one');
    assert.deepEqual(await deleteBy('y', again.snapshot), [202, null]);
    assert.equal(await at.all(), 'one');
    await refused(at.client('r').getContainerClient('box').getBlobClient('one').undelete(), 403, 'AuthorizationPermissionMismatch');
});

test('what was acknowledged is kept over kill -9', async (t) => {
    const at = await open(t);
    await at.keep(7);
    const blob = await at.put('one', 'first');
    await blob.upload('second', 6);
    await (await at.put('two', 'x')).delete();
    for (let i = 0; i < 30; i++)
        await blob.createSnapshot();
    await blob.delete({ deleteSnapshots: 'include' });
    const list = async () => {
        await at.server.kill();
        await at.server.restart(); // on other ports
        const container = new BlobServiceClient(at.server.url, credential, once).getContainerClient('box');
        const shown = await collect(container.listBlobsFlat({ includeSnapshots: true, includeDeleted: true }));
        return { container, shown: shown.map(({ name, snapshot, deleted }) => `${deleted ? '-' : ''}${name}${snapshot ? '@' : ''}`).join(' ') };
    };
    const { container, shown } = await list();
    assert.equal(shown, `${'-one@ '.repeat(31)}-one -two`);
    await container.getBlobClient('one').undelete();
    const after = await list();
    assert.equal(after.shown, `${'one@ '.repeat(31)}one -two`);
    assert.equal(await textOf(after.container.getBlobClient('one')), 'second');
});
