// What is in a share, as its snapshots have it, through the official SDK. tree/README.md, "Snapshots"
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refused } from './setup.mjs';
import { rawRefused } from './raw.mjs';
import { atHost, newShare, rawFile } from './shares-setup.mjs';

const text = async (file) => String(await file.downloadToBuffer());

/** A snapshot of the share: its date, and its files and directories. */
async function take(share) {
    const { snapshot: date } = await share.createSnapshot();
    const then = share.withSnapshot(date);
    return { date, then, file: (name) => then.rootDirectoryClient.getFileClient(name), directory: (name) => then.getDirectoryClient(name) };
}

async function newFile(share, name, content, options) {
    const file = share.rootDirectoryClient.getFileClient(name);
    await file.create(content.length, options);
    await file.uploadRange(content, 0, content.length);
    return file;
}

test('a file of a snapshot has no headers of leases (recorded; decision 319)', async (t) => {
    const share = await newShare(t);
    const file = await newFile(share, 'f', 'text');
    await file.getShareLeaseClient('11111111-2222-3333-4444-555555555555').acquireLease(-1);
    const { date } = await take(share);
    for (const method of ['GET', 'HEAD']) {
        const leases = async (query) => {
            const { status, headers } = await rawFile(method, `/${share.name}/f${query}`);
            assert.equal(status, 200);
            return ['x-ms-lease-status', 'x-ms-lease-state', 'x-ms-lease-duration'].map((name) => headers.get(name));
        };
        assert.deepEqual(await leases(''), ['locked', 'leased', 'infinite']);
        assert.deepEqual(await leases(`?sharesnapshot=${encodeURIComponent(date)}`), [undefined, undefined, undefined]);
    }
});

test('A snapshot shows files as they were, whatever is written later (rest: Snapshot-Share; semantics 8.1)', async (t) => {
    const share = await newShare(t);
    const file = await newFile(share, 'f', 'first state', { metadata: { m: '1' } });
    const before = await file.getProperties();
    const first = await take(share);
    await file.uploadRange('NEXT.', 0, 5);
    await file.setMetadata({ m: '2' });
    const second = await take(share);
    await file.clearRange(0, 11);
    await file.create(3);
    assert.equal(await text(first.file('f')), 'first state');
    assert.equal(await text(second.file('f')), 'NEXT. state');
    assert.equal(await text(file), '\0\0\0');
    const shown = await first.file('f').getProperties();
    assert.deepEqual([shown.etag, shown.metadata, shown.contentLength, shown.fileId, shown.fileChangeOn, shown.lastModified],
        [before.etag, { m: '1' }, 11, before.fileId, before.fileChangeOn, before.lastModified]);
    assert.deepEqual((await second.file('f').getProperties()).metadata, { m: '2' });
    assert.deepEqual((await first.file('f').getRangeList()).rangeList, [{ start: 0, end: 10 }]);
    assert.deepEqual((await file.getRangeList()).rangeList, []);
});

test('What is deleted, renamed or made later is as it was in a snapshot', async (t) => {
    const share = atHost(await newShare(t));
    await share.createDirectory('d', { metadata: { a: '1' } });
    await share.createDirectory('d/e');
    const inner = share.getDirectoryClient('d/e').getFileClient('f');
    await inner.create(2);
    await newFile(share, 'g', 'over');
    const { file, directory } = await take(share);
    await inner.delete();
    await share.deleteDirectory('d/e');
    await share.getDirectoryClient('d').setMetadata({ a: '2' });
    await share.getDirectoryClient('d').rename('moved');
    await newFile(share, 'd', 'a file now');
    await newFile(share, 'h', 'new');
    await share.rootDirectoryClient.getFileClient('h').rename('g', { replaceIfExists: true });
    assert.deepEqual((await directory('d').getProperties()).metadata, { a: '1' });
    assert.equal((await directory('d/e').getFileClient('f').getProperties()).contentLength, 2);
    assert.equal(await text(file('g')), 'over');
    assert.equal(await text(share.rootDirectoryClient.getFileClient('g')), 'new');
    const names = [];
    for (const at of ['', 'd', 'd/e'])
        for await (const { name, kind } of directory(at).listFilesAndDirectories({ includeExtendedInfo: true }))
            names.push(`${at}/${name} ${kind}`);
    assert.deepEqual(names, ['/g file', '/d directory', 'd/e directory', 'd/e/f file']);
    await refused(file('h').getProperties(), 404, 'ResourceNotFound');
    await refused(directory('moved').getProperties(), 404, 'ResourceNotFound');
    await refused(file('d').getProperties(), 409, 'ResourceTypeMismatch');
});

test('Snapshots are not written to, and end', async (t) => {
    const share = await newShare(t);
    const file = await newFile(share, 'f', 'kept');
    const { date, file: at } = await take(share);
    const older = await take(share);
    const path = `/${share.name}/f`;
    const query = `sharesnapshot=${encodeURIComponent(date)}`;
    await rawRefused(rawFile('DELETE', `${path}?${query}`, {}), 400, 'ShareSnapshotOperationNotSupported');
    await rawRefused(rawFile('PUT', `${path}?${query}`, { 'x-ms-type': 'file', 'x-ms-content-length': '1' }), 400,
        'ShareSnapshotOperationNotSupported');
    await file.delete();
    assert.equal(await text(at('f')), 'kept');
    await share.withSnapshot(date).delete();
    await refused(at('f').getProperties(), 404, 'ShareNotFound');
    assert.equal(await text(older.file('f')), 'kept');
});
