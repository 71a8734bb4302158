// Data Lake Storage through the official client, on an account without a hierarchical namespace:
// every method that such an account has. rest: datalakestoragegen2
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { account, bytesOf, credential, host, newFile, newFilesystem, pathsOf, refused, service } from './dfs-setup.mjs';
import { md5, once, pattern, port as blobPort } from './setup.mjs';

const names = (paths) => paths.map((path) => path.name + (path.isDirectory ? '/' : ''));

test('filesystems are created, listed, described and deleted', async (t) => {
    const filesystem = await newFilesystem(t, { metadata: { a: '1', b: 'two words' } });
    const listed = [];
    for await (const found of service.listFileSystems({ prefix: filesystem.name, includeMetadata: true }))
        listed.push(found);
    assert.deepEqual(listed.map(({ name, metadata }) => ({ name, metadata })),
        [{ name: filesystem.name, metadata: { a: '1', b: 'two words' } }]);
    assert.deepEqual((await filesystem.getProperties()).metadata, { a: '1', b: 'two words' });
    await filesystem.setMetadata({ c: '3' });
    assert.deepEqual((await filesystem.getProperties()).metadata, { c: '3' });
    assert.equal(await filesystem.exists(), true);
    await refused(filesystem.create(), 409, 'ContainerAlreadyExists');
    assert.equal((await filesystem.createIfNotExists()).succeeded, false);
    await filesystem.delete();
    assert.equal(await filesystem.exists(), false);
    assert.equal((await filesystem.deleteIfExists()).succeeded, true); // deleted a moment ago: decision 62
});

test('access policies of a filesystem are those of the container', async (t) => {
    const filesystem = await newFilesystem(t);
    const policy = { expiresOn: new Date('2030-01-01T00:00:00Z'), startsOn: new Date('2020-01-01T00:00:00Z'), permissions: 'rl' };
    await filesystem.setAccessPolicy(undefined, [{ id: 'p', accessPolicy: policy }]);
    assert.deepEqual((await filesystem.getAccessPolicy()).signedIdentifiers[0].accessPolicy.permissions, 'rl');
});

test('a file is created, appended to, flushed and read', async (t) => {
    const filesystem = await newFilesystem(t);
    const file = filesystem.getFileClient('a/b/file');
    const created = await file.create({ pathHttpHeaders: { contentType: 'text/plain' }, metadata: { k: 'v' } });
    assert.equal((await file.getProperties()).contentLength, 0);
    await file.append('hello ', 0, 6);
    await file.append('world', 6, 5);
    assert.equal((await file.getProperties()).contentLength, 0, 'nobody sees what is not flushed');
    assert.equal((await file.getProperties()).etag, created.etag);
    const flushed = await file.flush(11);
    assert.notEqual(flushed.etag, created.etag);
    assert.equal((await bytesOf(file)).toString(), 'hello world');
    const properties = await file.getProperties();
    assert.deepEqual([properties.contentLength, properties.contentType, properties.metadata, properties.etag],
        [11, 'text/plain', { k: 'v' }, flushed.etag]);
    assert.equal((await bytesOf(file, 6, 3)).toString(), 'wor');
    await file.append('!', 11, 1, { flush: true });
    assert.equal((await bytesOf(file)).toString(), 'hello world!');
});

test('a large file is uploaded in parts and downloaded', async (t) => {
    const filesystem = await newFilesystem(t);
    const file = filesystem.getFileClient('large');
    const bytes = pattern(9 * 1024 * 1024 + 12345);
    await file.upload(bytes, { chunkSize: 2 * 1024 * 1024, maxConcurrency: 3, singleUploadThreshold: 1 });
    assert.deepEqual(md5(await file.readToBuffer()), md5(bytes));
    assert.deepEqual(md5(await bytesOf(file, 5_000_000, 2_500_000)), md5(bytes.subarray(5_000_000, 7_500_000)));
    // appended to again, several times, with bodies large and small
    let length = bytes.length;
    const parts = [bytes];
    for (const size of [1, 300_000, 5, 70_000]) {
        const more = pattern(size, size);
        await file.append(more, length, size);
        await file.flush(length += size);
        parts.push(more);
    }
    assert.deepEqual(md5(await file.readToBuffer()), md5(Buffer.concat(parts)));
    await file.create(); // overwrites
    assert.equal((await file.getProperties()).contentLength, 0);
});

test('properties and metadata are set', async (t) => {
    const filesystem = await newFilesystem(t);
    const file = await newFile(filesystem, 'f');
    await file.setMetadata({ one: '1' });
    await file.setHttpHeaders({ contentType: 'a/b', cacheControl: 'no-store', contentLanguage: 'de' });
    const got = await file.getProperties();
    assert.deepEqual([got.contentType, got.cacheControl, got.contentLanguage, got.metadata],
        ['a/b', 'no-store', 'de', { one: '1' }]);
    assert.equal(await file.exists(), true);
});

test('paths are listed by directory, recursively, and in pages', async (t) => {
    const filesystem = await newFilesystem(t);
    await filesystem.getDirectoryClient('dir').create();
    for (const name of ['dir-1', 'dir.txt', 'dir/a', 'dir/b', 'dir/sub/c', 'other/x', 'z'])
        await newFile(filesystem, name, name);
    assert.deepEqual(names(await pathsOf(filesystem, { recursive: true })),
        ['dir/', 'dir-1', 'dir.txt', 'dir/a', 'dir/b', 'dir/sub/c', 'other/x', 'z']);
    const top = ['dir/', 'dir-1', 'dir.txt', 'other/', 'z'];
    assert.deepEqual(names(await pathsOf(filesystem, { recursive: false })), top);
    assert.deepEqual(names(await pathsOf(filesystem, { path: 'dir', recursive: false })), ['dir/a', 'dir/b', 'dir/sub/']);
    assert.deepEqual(names(await pathsOf(filesystem, { path: 'dir', recursive: true })), ['dir/a', 'dir/b', 'dir/sub/c']);
    for (const maxPageSize of [1, 2, 3]) {
        const paged = [];
        for await (const page of filesystem.listPaths({ recursive: false }).byPage({ maxPageSize })) {
            assert.ok(page.pathItems.length <= maxPageSize);
            paged.push(...page.pathItems);
        }
        assert.deepEqual(names(paged), top, `pages of ${maxPageSize}`);
    }
    await refused(pathsOf(filesystem, { path: 'none' }), 404, 'PathNotFound');
    const [file] = (await pathsOf(filesystem, { path: 'dir' })).filter((path) => path.name === 'dir/a');
    assert.equal(file.contentLength, 5);
    assert.ok(Math.abs(file.lastModified - Date.now()) < 60_000);
    assert.equal(file.etag, (await filesystem.getFileClient('dir/a').getProperties()).etag.replaceAll('"', ''));
});

test('pages end between the names of 200 directories and the names below them', async (t) => {
    const filesystem = await newFilesystem(t);
    const directories = Array.from({ length: 200 }, (_, i) => 'a'.repeat(i + 1));
    for (const name of directories) {
        await filesystem.getDirectoryClient(name).create();
        await newFile(filesystem, `${name}/x`);
    }
    const paged = [];
    for await (const page of filesystem.listPaths({ recursive: false }).byPage({ maxPageSize: 7 }))
        paged.push(...page.pathItems);
    assert.deepEqual(names(paged), directories.map((name) => `${name}/`));
});

test('directories are blobs with metadata', async (t) => {
    const filesystem = await newFilesystem(t);
    const directory = filesystem.getDirectoryClient('d');
    await directory.create({ metadata: { a: '1' } });
    assert.equal((await directory.getProperties()).metadata.hdi_isfolder, 'true');
    assert.equal((await directory.createIfNotExists()).succeeded, false);
    await refused(filesystem.getFileClient('d').create(), 409, 'PathConflict');
    await newFile(filesystem, 'd/f');
    await refused(directory.delete(false), 409, 'DirectoryNotEmpty');
    await filesystem.getFileClient('d/f').delete();
    await directory.delete(false);
    assert.equal((await directory.deleteIfExists()).succeeded, false);
    await refused(filesystem.getFileClient('none').delete(), 404, 'PathNotFound');
    assert.equal((await filesystem.getFileClient('none').deleteIfExists()).succeeded, false);
});

test('leases are those of the blob', async (t) => {
    const filesystem = await newFilesystem(t);
    const file = await newFile(filesystem, 'leased', 'abc');
    const lease = file.getDataLakeLeaseClient();
    const { leaseId } = await lease.acquireLease(60);
    assert.equal((await file.getProperties()).leaseState, 'leased');
    await refused(file.append('x', 3, 1), 412, 'LeaseIdMissing');
    await refused(file.delete(), 412, 'LeaseIdMissing');
    await file.append('x', 3, 1, { conditions: { leaseId } });
    await file.flush(4, { conditions: { leaseId } });
    await lease.renewLease();
    await lease.releaseLease();
    await file.delete();
});

test('append and flush take, renew and end leases', async (t) => {
    // recorded: files-datalake/DataLakeFileClientTest.AppendFileWithLease, FlushFileWithLease
    const filesystem = await newFilesystem(t);
    const id = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
    const file = filesystem.getFileClient('f');
    await file.create();
    await file.append('1', 0, 1, { leaseAction: 'acquire', proposedLeaseId: id, leaseDurationInSeconds: 30 });
    assert.equal((await file.getProperties()).leaseState, 'leased');
    const renewed = await file.append('2', 1, 1, { leaseAction: 'auto-renew', conditions: { leaseId: id } });
    assert.equal(renewed._response.headers.get('x-ms-lease-renewed'), 'false');
    await file.flush(2, { leaseAction: 'release', conditions: { leaseId: id } });
    assert.equal((await file.getProperties()).leaseState, 'available');
    await file.append('3', 2, 1, { flush: true, leaseAction: 'acquire-release', proposedLeaseId: id, leaseDurationInSeconds: 30 });
    assert.equal((await file.getProperties()).leaseState, 'available');
    assert.equal((await bytesOf(file)).toString(), '123');
});

test('what only hierarchical accounts have is refused as Azure does', async (t) => {
    const filesystem = await newFilesystem(t);
    const file = await newFile(filesystem, 'f');
    const none = [400, 'HierarchicalNamespaceNotEnabled'];
    await refused(file.getAccessControl(), 400, 'HierarchicalNamespaceNotEnabled');
    await refused(file.setAccessControl([]), ...none);
    await assert.rejects(file.setAccessControlRecursive([]), /namespace is not enabled/);
    await refused(file.move('g'), ...none);
    await refused(filesystem.getFileClient('x').create({ permissions: '0777' }), ...none);
});

test('both endpoints show the same', async (t) => {
    const filesystem = await newFilesystem(t);
    const blobs = new BlobServiceClient(`http://127.0.0.1:${blobPort}/${account.name}`, credential, once);
    const container = blobs.getContainerClient(filesystem.name);
    const blob = container.getBlockBlobClient('by/blob');
    await blob.upload('from blob', 9);
    const file = filesystem.getFileClient('by/blob');
    assert.equal((await bytesOf(file)).toString(), 'from blob');
    await refused(file.append('x', 9, 1), 409, 'InvalidAppendOperation');
    await file.create();
    await file.append('from dfs', 0, 8);
    await refused(blob.stageBlock(Buffer.from('1').toString('base64'), 'x', 1), 409, 'BlobOperationNotSupported');
    assert.deepEqual((await blob.getBlockList('all')).uncommittedBlocks ?? [], []);
    await file.flush(8);
    assert.equal((await blob.downloadToBuffer()).toString(), 'from dfs');
    assert.deepEqual((await blob.getBlockList('all')).committedBlocks ?? [], []);
    const snapshot = await blob.createSnapshot();
    await file.append('!', 8, 1, { flush: true });
    assert.equal((await blob.downloadToBuffer()).toString(), 'from dfs!');
    assert.equal((await blob.withSnapshot(snapshot.snapshot).downloadToBuffer()).toString(), 'from dfs');
    assert.ok(host.includes('.dfs.'));
});
