// Directories through the official SDK: create, properties, metadata, deletion.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileSystemAttributes } from '@azure/storage-file-share';
import { refused } from './setup.mjs';
import { rawRefused } from './raw.mjs';
import { atHost, newShare, rawFile, service, shareName } from './shares-setup.mjs';

test('Create Directory: what it has, by default; 409 when its name is taken (rest: Create-Directory; semantics 8.1)', async (t) => {
    const share = await newShare(t);
    const directory = share.getDirectoryClient('Dir');
    const made = await directory.create({ metadata: { one: '1' } });
    assert.equal(made.fileAttributes, 'Directory');
    assert.equal(made.fileParentId, '0');
    assert.notEqual(made.fileId, '0');
    const shown = await directory.getProperties();
    assert.deepEqual(shown.metadata, { one: '1' });
    for (const name of ['etag', 'fileId', 'fileParentId', 'fileAttributes', 'filePermissionKey'])
        assert.equal(shown[name], made[name], name);
    for (const name of ['fileCreatedOn', 'fileLastWriteOn', 'fileChangeOn', 'lastModified'])
        assert.equal(shown[name].getTime(), made[name].getTime(), name);
    await refused(directory.create(), 409, 'ResourceAlreadyExists');
    await refused(share.getDirectoryClient('DIR').create(), 409, 'ResourceAlreadyExists');
    assert.equal((await directory.createIfNotExists()).succeeded, false);
    assert.equal(await directory.exists(), true);
    assert.equal(await share.getDirectoryClient('other').exists(), false);
});

test('paths: each name in its directory, without regard to case; what is missing is said (semantics 8.1)', async (t) => {
    const share = await newShare(t);
    const outer = (await share.createDirectory('a')).directoryClient;
    const { directoryClient: inner, directoryCreateResponse } = await outer.createSubdirectory('b');
    assert.equal(directoryCreateResponse.fileParentId, (await outer.getProperties()).fileId);
    assert.equal((await share.getDirectoryClient('A/B').getProperties()).fileId, (await inner.getProperties()).fileId);
    await refused(share.getDirectoryClient('a/c').getProperties(), 404, 'ResourceNotFound');
    await refused(share.getDirectoryClient('c/b').getProperties(), 404, 'ParentNotFound');
    await refused(share.getDirectoryClient('c/b').create(), 404, 'ParentNotFound');
    await refused(share.getDirectoryClient('c/b').delete(), 404, 'ParentNotFound');
    await refused(service.getShareClient(shareName()).getDirectoryClient('a').create(), 404, 'ShareNotFound');
    await outer.createFile('f', 0);
    await refused(share.getDirectoryClient('a/f').getProperties(), 404, 'ResourceNotFound');
    assert.equal(await share.getDirectoryClient('a/f').exists(), false);
    await refused(share.getDirectoryClient('a/f').setMetadata({}), 409, 'ResourceTypeMismatch');
    await refused(share.getDirectoryClient('a/f/g').create(), 404, 'ParentNotFound');
    await refused(outer.getFileClient('b').getProperties(), 409, 'ResourceTypeMismatch');
    await refused(outer.createFile('b', 0), 409, 'ResourceTypeMismatch');
});

test('the root directory: there with its share, and never gone', async (t) => {
    const share = await newShare(t);
    const root = share.rootDirectoryClient;
    const shown = await root.getProperties();
    assert.deepEqual([shown.fileId, shown.fileParentId, shown.fileAttributes], ['0', '0', 'Directory']);
    const { etag } = await root.setMetadata({ of: 'root' });
    assert.notEqual(etag, shown.etag);
    assert.deepEqual((await root.getProperties()).metadata, { of: 'root' });
    const answer = await rawFile('HEAD', `/${share.name}?restype=directory&comp=metadata`);
    assert.deepEqual([answer.status, answer.headers.get('x-ms-meta-of')], [200, 'root']);
    await rawRefused(rawFile('DELETE', `/${share.name}?restype=directory`), 405, 'UnsupportedHttpVerb');
});

test('Set and Get Directory Metadata replace all; the change time and ETag move', async (t) => {
    const share = await newShare(t);
    const { directoryClient: directory } = await share.createDirectory('d', { metadata: { a: '1' } });
    const before = await directory.getProperties();
    const set = await directory.setMetadata({ b: '2' });
    const after = await directory.getProperties();
    assert.notEqual(set.etag, before.etag);
    assert.deepEqual([after.etag, after.metadata], [set.etag, { b: '2' }]);
    assert.ok(after.fileChangeOn >= before.fileChangeOn);
    assert.equal(after.fileLastWriteOn.getTime(), before.fileLastWriteOn.getTime());
    const answer = await rawFile('GET', `/${share.name}/d?restype=directory&comp=metadata`);
    assert.deepEqual([answer.status, answer.headers.get('x-ms-meta-b'), answer.headers.get('etag')], [200, '2', set.etag]);
});

test('Delete Directory: empty ones only', async (t) => {
    const share = await newShare(t);
    const { directoryClient: directory } = await share.createDirectory('d');
    await directory.createFile('f', 0);
    await refused(directory.delete(), 409, 'DirectoryNotEmpty');
    await directory.deleteFile('f');
    await directory.createSubdirectory('g');
    await refused(share.deleteDirectory('d'), 409, 'DirectoryNotEmpty');
    await directory.deleteSubdirectory('g');
    await directory.delete();
    await refused(directory.delete(), 404, 'ResourceNotFound');
    assert.equal((await directory.deleteIfExists()).succeeded, false);
});

test('Set Directory Properties: attributes and times, each as given or as it is (semantics 8.1)', async (t) => {
    const share = await newShare(t);
    const { directoryClient: directory } = await share.createDirectory('d');
    const before = await directory.getProperties();
    const time = new Date(Date.UTC(2001, 1, 3, 4, 5, 6, 7));
    const set = await directory.setProperties({ fileAttributes: { toString: () => 'Hidden | ReadOnly' }, creationTime: time });
    const now = await directory.getProperties();
    assert.notEqual(set.etag, before.etag);
    assert.deepEqual([now.fileAttributes, now.fileCreatedOn, now.fileId], ['ReadOnly | Hidden | Directory', time, before.fileId]);
    assert.equal(now.fileLastWriteOn.getTime(), before.fileLastWriteOn.getTime());
    assert.ok(now.fileChangeOn > before.fileChangeOn);
    await directory.setMetadata({ a: 'b' });
    await share.rootDirectoryClient.setProperties({ lastWriteTime: time });
    assert.deepEqual((await share.rootDirectoryClient.getProperties()).fileLastWriteOn, time);
});

test('Rename Directory: with all that is in it, never into itself', async (t) => {
    const share = atHost(await newShare(t));
    const { directoryClient: a } = await share.createDirectory('a');
    const { directoryClient: inner } = await a.createSubdirectory('inner');
    await inner.createFile('f', 3);
    await share.createDirectory('b');
    await refused(a.rename('a/inner/c'), 400, 'InvalidHeaderValue');
    await refused(a.rename('a/c'), 400, 'InvalidHeaderValue');
    await refused(a.rename('b'), 409, 'ResourceAlreadyExists');
    const { destinationDirectoryClient: moved, directoryRenameResponse } = await a.rename('b/c', { metadata: { m: '1' } });
    assert.equal(directoryRenameResponse.fileAttributes, 'Directory');
    assert.equal((await moved.getDirectoryClient('inner').getFileClient('f').getProperties()).contentLength, 3);
    assert.deepEqual((await moved.getProperties()).metadata, { m: '1' });
    await refused(inner.getProperties(), 404, 'ParentNotFound');
    await share.createDirectory('empty');
    await share.createDirectory('full').then(({ directoryClient }) => directoryClient.createFile('f', 0));
    await refused(moved.rename('full', { replaceIfExists: true }), 409, 'DirectoryNotEmpty');
    await moved.rename('empty', { replaceIfExists: true });
    assert.equal((await share.getDirectoryClient('empty/inner').getFileClient('f').getProperties()).contentLength, 3);
    await share.createFile('file', 0);
    await refused(share.getDirectoryClient('file').rename('x'), 409, 'ResourceTypeMismatch');
});

test('Rename Directory over a file: its lease and its attribute are checked (recorded; decision 329)', async (t) => {
    const share = atHost(await newShare(t));
    const { directoryClient: d } = await share.createDirectory('d');
    const { fileClient: file } = await share.createFile('f', 3, { fileAttributes: FileSystemAttributes.parse('ReadOnly') });
    const id = '11111111-2222-3333-4444-555555555555';

    await d.createFile('inner', 5);
    await refused(d.rename('f'), 409, 'ResourceAlreadyExists');
    await refused(d.rename('f', { replaceIfExists: true }), 409, 'ReadOnlyAttribute');
    await file.setProperties({ fileAttributes: FileSystemAttributes.parse('None') });
    await file.getShareLeaseClient(id).acquireLease(-1);
    await refused(d.rename('f', { replaceIfExists: true }), 412, 'LeaseIdMissing');
    const { destinationDirectoryClient: moved } =
        await d.rename('f', { replaceIfExists: true, destinationLeaseAccessConditions: { leaseId: id } });
    assert.equal((await moved.getFileClient('inner').getProperties()).contentLength, 5);
    await refused(share.rootDirectoryClient.getFileClient('f').getProperties(), 409, 'ResourceTypeMismatch');
    await share.createFile('g', 0, { fileAttributes: FileSystemAttributes.parse('ReadOnly') });
    await moved.rename('g', { replaceIfExists: true, ignoreReadOnly: true });
    assert.equal((await share.getStatistics()).shareUsageBytes, 5);
    await refused(share.getDirectoryClient('e').rename('h', { destinationLeaseAccessConditions: { leaseId: id } }), 404, 'ResourceNotFound');
    await refused(share.getDirectoryClient('g').rename('h', { destinationLeaseAccessConditions: { leaseId: id } }), 412,
        'LeaseNotPresentWithFileOperation');
    await share.createFile('file', 0);
    await share.createDirectory('dir');
    await refused(share.rootDirectoryClient.getFileClient('file').rename('dir', { replaceIfExists: true }), 409, 'ResourceTypeMismatch');
});

test('what stands in the way of each operation on directories is said, of the root too', async () => {
    const gone = shareName(), unknown = { 'x-ms-file-attributes': 'Unknown' };

    for (const path of ['', '/d']) {
        await rawRefused(rawFile('GET', `/${gone}${path}?restype=directory`), 404, 'ShareNotFound');
        await rawRefused(rawFile('GET', `/${gone}${path}?restype=directory&comp=metadata`), 404, 'ShareNotFound');
        await rawRefused(rawFile('PUT', `/${gone}${path}?restype=directory&comp=metadata`), 404, 'ShareNotFound');
        await rawRefused(rawFile('PUT', `/${gone}${path}?restype=directory&comp=properties`), 404, 'ShareNotFound');
        await rawRefused(rawFile('PUT', `/${gone}${path}?restype=directory&comp=properties`, unknown), 400, 'InvalidHeaderValue');
        await rawRefused(rawFile('PUT', `/${gone}${path}?comp=forceclosehandles`, { 'x-ms-handle-id': '*' }), 404, 'ShareNotFound');
        await rawRefused(rawFile('GET', `/${gone}${path}?comp=listhandles`), 404, 'ShareNotFound');
    }
});

test('List and Force Close Handles: nothing is open (rest: List-Handles, Force-Close-Handles; semantics 8.1)', async (t) => {
    const share = await newShare(t);
    const directory = (await share.createDirectory('d')).directoryClient;
    const file = (await directory.createFile('f', 1)).fileClient;
    const { snapshot } = await share.createSnapshot();
    for (const client of [share.rootDirectoryClient, directory, file]) {
        for await (const handle of client.listHandles())
            assert.fail(JSON.stringify(handle));
        const one = await client.forceCloseHandle('21129684298');
        assert.deepEqual([one.closedHandlesCount ?? 0, one.closeFailureCount ?? 0], [0, 0]);
        const all = await client.forceCloseAllHandles();
        assert.deepEqual([all.closedHandlesCount, all.closeFailureCount], [0, 0]);
    }
    for await (const handle of directory.listHandles({ recursive: true }))
        assert.fail(JSON.stringify(handle));
    await refused(share.getDirectoryClient('e').forceCloseAllHandles(), 404, 'ResourceNotFound');
    const path = `/${share.name}/d/f?comp=listhandles`;
    const listed = await rawFile('GET', path);
    assert.match(listed.text, /<EnumerationResults><Entries \/><NextMarker \/><\/EnumerationResults>$/);
    assert.equal((await rawFile('GET', `${path}&sharesnapshot=${snapshot}`)).text, listed.text);
    const close = path.replace('list', 'forceclose');
    const closed = await rawFile('PUT', `${close}&sharesnapshot=${snapshot}`, { 'x-ms-handle-id': '*' });
    assert.deepEqual([closed.status, closed.headers.get('x-ms-number-of-handles-closed'), closed.headers.get('x-ms-marker')],
        [200, '0', undefined]);
    await rawRefused(rawFile('PUT', close), 400, 'MissingRequiredHeader');
    await rawRefused(rawFile('PUT', close, { 'x-ms-handle-id': 'x' }), 400, 'InvalidHeaderValue');
    await rawRefused(rawFile('PUT', close, { 'x-ms-handle-id': '*', 'x-ms-recursive': 'true' }), 400, 'InvalidHeaderValue');
    await rawRefused(rawFile('GET', `${path}&marker=x`), 400, 'InvalidQueryParameterValue');
    await rawRefused(rawFile('GET', `${path}&maxresults=0`), 400, 'OutOfRangeQueryParameterValue');
});
