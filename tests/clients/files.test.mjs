// Files through the official SDK: create, properties, metadata, deletion.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refused } from './setup.mjs';
import { rawRefused } from './raw.mjs';
import { newShare, rawFile } from './shares-setup.mjs';

const TIB = 2 ** 40;

test('Create File: its length and what it has, by default (rest: Create-File; semantics 8.1)', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('File.txt');
    const made = await file.create(10, { metadata: { m: 'v' } });
    assert.equal(made.fileAttributes, 'Archive');
    assert.equal(made.fileParentId, '0');
    const shown = await file.getProperties();
    assert.deepEqual([shown.contentLength, shown.contentType, shown.fileType, shown.metadata],
        [10, 'application/octet-stream', 'File', { m: 'v' }]);
    assert.deepEqual([shown.leaseStatus, shown.leaseState], ['unlocked', 'available']);
    for (const name of ['etag', 'fileId', 'fileParentId', 'fileAttributes', 'filePermissionKey'])
        assert.equal(shown[name], made[name], name);
    for (const name of ['fileCreatedOn', 'fileLastWriteOn', 'fileChangeOn', 'lastModified'])
        assert.equal(shown[name].getTime(), made[name].getTime(), name);
    assert.equal(await file.exists(), true);
    assert.equal(await share.rootDirectoryClient.getFileClient('other').exists(), false);
});

test('Create File keeps what HTTP has of it, and lengths up to 4 TiB', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    const fileHttpHeaders = {
        fileContentType: 'text/plain', fileContentEncoding: 'deflate', fileContentLanguage: 'en-US',
        fileCacheControl: 'no-store', fileContentDisposition: 'attachment',
        fileContentMD5: new Uint8Array(16).fill(7),
    };
    await file.create(4 * TIB, { fileHttpHeaders });
    const shown = await file.getProperties();
    assert.deepEqual([shown.contentLength, shown.contentType, shown.contentEncoding, shown.contentLanguage,
        shown.cacheControl, shown.contentDisposition, [...shown.contentMD5]],
    [4 * TIB, 'text/plain', 'deflate', 'en-US', 'no-store', 'attachment', Array(16).fill(7)]);
    const put = (headers) => rawFile('PUT', `/${share.name}/g`, { 'x-ms-type': 'file', ...headers });
    await rawRefused(put({ 'x-ms-content-length': String(4 * TIB + 1) }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-content-length': '-1' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({}), 400, 'MissingRequiredHeader');
    await rawRefused(rawFile('PUT', `/${share.name}/g`, { 'x-ms-content-length': '1' }), 400, 'MissingRequiredHeader');
});

test('Create File over another: nothing of that is left', async (t) => {
    const share = await newShare(t);
    const { fileClient: file, fileCreateResponse: first } = await share.createFile('f', 3, { metadata: { a: '1' } });
    const second = await file.create(4);
    assert.notEqual(second.etag, first.etag);
    const shown = await file.getProperties();
    assert.deepEqual([shown.contentLength, shown.metadata, shown.etag, shown.fileId], [4, {}, second.etag, second.fileId]);
    await file.create(5, { fileAttributes: { toString: () => 'ReadOnly' } });
    assert.equal((await file.getProperties()).fileAttributes, 'ReadOnly | Archive');
    await refused(file.create(6), 409, 'ReadOnlyAttribute');
    await refused(file.setMetadata({ a: '1' }), 409, 'ReadOnlyAttribute');
});

test('Set and Get File Metadata replace all; the change time and ETag move', async (t) => {
    const share = await newShare(t);
    const { fileClient: file } = await share.createFile('f', 0, { metadata: { a: '1' } });
    const before = await file.getProperties();
    const set = await file.setMetadata({ b: '2' });
    const after = await file.getProperties();
    assert.notEqual(set.etag, before.etag);
    assert.deepEqual([after.etag, after.metadata], [set.etag, { b: '2' }]);
    assert.equal(after.fileLastWriteOn.getTime(), before.fileLastWriteOn.getTime());
    for (const method of ['GET', 'HEAD']) {
        const answer = await rawFile(method, `/${share.name}/f?comp=metadata`);
        assert.deepEqual([answer.status, answer.headers.get('x-ms-meta-b'), answer.headers.get('etag')], [200, '2', set.etag]);
    }
});

test('Delete File', async (t) => {
    const share = await newShare(t);
    const { fileClient: file } = await share.createFile('f', 1);
    await file.delete();
    await refused(file.delete(), 404, 'ResourceNotFound');
    await refused(file.getProperties(), 404, 'ResourceNotFound');
    assert.equal((await file.deleteIfExists()).succeeded, false);
    assert.equal((await share.createFile('f', 2)).fileCreateResponse.fileParentId, '0');
});
