// Bytes that come from a URL, through the official SDK: Put Range From URL, Copy File, and files as the source of
// blobs.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { BlobSASPermissions } from '@azure/storage-blob';
import { FileSASPermissions } from '@azure/storage-file-share';
import { newContainer, refused } from './setup.mjs';
import { rawRefused } from './raw.mjs';
import { newShare, rawFile } from './shares-setup.mjs';

const MIB = 1 << 20;
const later = () => new Date(Date.now() + 3600e3);
const fileUrl = (file) => file.generateSasUrl({ permissions: FileSASPermissions.parse('r'), expiresOn: later() });
const blobUrl = (blob) => blob.generateSasUrl({ permissions: BlobSASPermissions.parse('r'), expiresOn: later() });

async function fileWith(share, name, bytes, options) {
    const file = share.rootDirectoryClient.getFileClient(name);
    await file.create(bytes.length, options);
    if (bytes.length > 0)
        await file.uploadData(Buffer.from(bytes), options);
    return file;
}
const textOf = async (file) => (await file.downloadToBuffer()).toString();
const rangesOf = async (file) => (await file.getRangeList()).rangeList.map(({ start, end }) => [start, end]);

test('Put Range From URL: a range of a file and of a blob (rest: Put-Range-From-URL)', async (t) => {
    const share = await newShare(t), container = await newContainer(t);
    const source = await fileWith(share, 'source', '0123456789');
    const target = await fileWith(share, 'target', '..........');
    await target.uploadRangeFromURL(await fileUrl(source), 2, 5, 4);
    assert.equal(await textOf(target), '.....2345.');
    const blob = container.getBlockBlobClient('b');
    await blob.upload('abcdef', 6);
    await target.uploadRangeFromURL(await blobUrl(blob), 1, 0, 3);
    assert.equal(await textOf(target), 'bcd..2345.');
    await refused(target.uploadRangeFromURL(source.url, 0, 0, 1), 401, 'CannotVerifyCopySource'); // nobody asks
    await refused(target.uploadRangeFromURL(await fileUrl(share.rootDirectoryClient.getFileClient('none')), 0, 0, 1),
        404, 'CannotVerifyCopySource');
    await refused(target.uploadRangeFromURL(await fileUrl(source), 8, 0, 4), 416, 'CannotVerifyCopySource');
    await refused(target.uploadRangeFromURL(await fileUrl(source), 0, 8, 4), 416, 'InvalidRange');
});

test('Put Range From URL: conditions by CRC-64, and what is refused', async (t) => {
    const share = await newShare(t);
    const source = await fileWith(share, 'source', '0123456789');
    const target = await fileWith(share, 'target', '..........');
    const url = await fileUrl(source);
    const put = (headers, body) => rawFile('PUT', `/${share.name}/target?comp=range`, {
        'x-ms-write': 'update', 'x-ms-copy-source': url, 'x-ms-range': 'bytes=0-3', 'x-ms-source-range': 'bytes=0-3', ...headers,
    }, body);
    const done = await put({});
    assert.equal(done.status, 201);
    const sum = done.headers.get('x-ms-content-crc64'), other = Buffer.alloc(8).toString('base64');
    assert.equal(Buffer.from(sum, 'base64').length, 8);
    assert.equal((await put({ 'x-ms-source-if-match-crc64': sum })).status, 201);
    assert.equal((await put({ 'x-ms-source-if-none-match-crc64': other })).status, 201);
    assert.equal((await put({ 'x-ms-source-content-crc64': sum })).status, 201);
    const unmet = await put({ 'x-ms-source-if-none-match-crc64': sum });
    assert.deepEqual([unmet.status, unmet.code], [412, 'Crc64ConditionNotMet']);
    assert(unmet.body.toString().includes(`<UserSpecifiedCrc>${sum}</UserSpecifiedCrc><ServerCalculatedCrc>${sum}</ServerCalculatedCrc>`));
    await rawRefused(put({ 'x-ms-source-if-match-crc64': other }), 412, 'Crc64ConditionNotMet');
    await rawRefused(put({ 'x-ms-source-content-crc64': other }), 400, 'Crc64Mismatch');
    await rawRefused(put({ 'x-ms-source-if-match-crc64': 'x' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-source-range': 'bytes=0-4' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-source-range': undefined }), 400, 'MissingRequiredHeader');
    await rawRefused(put({ 'x-ms-write': 'clear' }), 400, 'InvalidHeaderValue');
    const large = await put({ 'x-ms-range': `bytes=0-${4 * MIB}`, 'x-ms-source-range': `bytes=0-${4 * MIB}` });
    assert.equal(large.status, 413);
});

test('Put Range From URL keeps the last write time if it is to', async (t) => {
    const share = await newShare(t);
    const source = await fileWith(share, 'source', 'abc');
    const target = await fileWith(share, 'target', '...');
    const { fileLastWriteOn } = await target.getProperties();
    const kept = await target.uploadRangeFromURL(await fileUrl(source), 0, 0, 3, { fileLastWrittenMode: 'Preserve' });
    assert.equal(kept.fileLastWriteTime.getTime(), fileLastWriteOn.getTime());
    assert.equal(await textOf(target), 'abc');
});

test('A file is the source of a blob: Put Blob, Put Block, Copy Blob From URL', async (t) => {
    const share = await newShare(t), container = await newContainer(t);
    const source = await fileWith(share, 'source', '0123456789', { fileHttpHeaders: { fileContentType: 'text/x' } });
    const url = await fileUrl(source);
    const blob = container.getBlockBlobClient('b');
    await blob.syncUploadFromURL(url);
    assert.equal((await blob.downloadToBuffer()).toString(), '0123456789');
    assert.equal((await blob.getProperties()).contentType, 'text/x');
    await blob.stageBlockFromURL('AAAA', url, 3, 4);
    await blob.commitBlockList(['AAAA']);
    assert.equal((await blob.downloadToBuffer()).toString(), '3456');
    const copy = await (await container.getBlobClient('c').beginCopyFromURL(url)).pollUntilDone();
    assert.equal(copy.copyStatus, 'success');
    assert.equal((await container.getBlobClient('c').downloadToBuffer()).toString(), '0123456789');
    await refused(blob.syncUploadFromURL(source.url), 401, 'CannotVerifyCopySource');
});

test('Copy File: bytes, properties and metadata of another file (rest: Copy-File)', async (t) => {
    const share = await newShare(t), other = await newShare(t);
    const source = await fileWith(share, 'source', 'some bytes', { metadata: { a: '1' }, fileHttpHeaders: { fileContentType: 'text/x' } });
    const target = other.rootDirectoryClient.getFileClient('target');
    const answer = await target.startCopyFromURL(source.url); // of one account: its key is enough
    assert.equal(answer.copyStatus, 'success');
    const shown = await target.getProperties();
    assert.deepEqual([shown.contentLength, shown.contentType, shown.metadata, shown.copyStatus, shown.copyProgress, shown.copyId],
        [10, 'text/x', { a: '1' }, 'success', '10/10', answer.copyId]);
    assert.equal(shown.copySource, source.url);
    assert.equal(shown.etag, answer.etag);
    assert.equal(await textOf(target), 'some bytes');
    const again = await rawFile('PUT', `/${other.name}/target`, { 'x-ms-copy-source': source.url, 'x-ms-meta-b': '2' });
    assert.equal(again.status, 202);
    assert.deepEqual((await target.getProperties()).metadata, { b: '2' });
    await target.uploadRange('S', 0, 1);
    assert.equal((await target.getProperties()).copyId, undefined); // it is another file now
    await refused(target.startCopyFromURL(`${share.url}/none`), 404, 'ResourceNotFound');
    assert.equal(await textOf(target), 'Some bytes');
    await refused(share.rootDirectoryClient.getFileClient('no/where').startCopyFromURL(source.url), 404, 'ParentNotFound');
});

test('Copy File of a blob and of empty files, and over itself', async (t) => {
    const share = await newShare(t), container = await newContainer(t);
    const blob = container.getBlockBlobClient('b'), bytes = randomBytes(5 * MIB);
    await blob.upload(bytes, bytes.length);
    const target = share.rootDirectoryClient.getFileClient('t');
    await target.startCopyFromURL(await blobUrl(blob));
    assert((await target.downloadToBuffer()).equals(bytes));
    const empty = await fileWith(share, 'e', '');
    await target.startCopyFromURL(empty.url);
    assert.equal((await target.getProperties()).contentLength, 0);
    const self = await fileWith(share, 'self', 'itself');
    await self.startCopyFromURL(self.url);
    assert.equal(await textOf(self), 'itself');
    assert.equal((await share.getStatistics()).shareUsageBytes, 6);
});

test('Copy File keeps holes', async (t) => {
    const share = await newShare(t);
    const source = share.rootDirectoryClient.getFileClient('s');
    await source.create(300 * MIB);
    await source.uploadRange('a', 512, 1);
    await source.uploadRange('z', 300 * MIB - 1, 1);
    const target = share.rootDirectoryClient.getFileClient('t');
    await target.startCopyFromURL(source.url);
    assert.deepEqual(await rangesOf(target), await rangesOf(source));
    assert.equal((await target.downloadToBuffer(300 * MIB - 1, 1)).toString(), 'z');
    assert.equal((await share.getStatistics()).shareUsageBytes, 600 * MIB);
});

test('Copy File: attributes, times and read-only targets', async (t) => {
    const share = await newShare(t);
    const source = await fileWith(share, 's', 'x');
    const put = (headers) => rawFile('PUT', `/${share.name}/t`, { 'x-ms-copy-source': source.url, ...headers });
    const shown = () => share.rootDirectoryClient.getFileClient('t').getProperties();
    const of = await source.getProperties();
    assert.equal((await put({
        'x-ms-file-attributes': 'source', 'x-ms-file-creation-time': 'source', 'x-ms-file-last-write-time': 'source',
        'x-ms-file-permission-copy-mode': 'source',
    })).status, 202);
    const copied = await shown();
    assert.equal(copied.fileAttributes, of.fileAttributes);
    assert.deepEqual([copied.fileCreatedOn, copied.fileLastWriteOn], [of.fileCreatedOn, of.fileLastWriteOn]);
    assert.equal(copied.filePermissionKey, of.filePermissionKey);
    assert.equal((await put({ 'x-ms-file-attributes': 'ReadOnly', 'x-ms-file-creation-time': '2020-01-02T03:04:05.0000000Z' })).status, 202);
    assert.equal((await shown()).fileAttributes, 'ReadOnly');
    assert.equal((await shown()).fileCreatedOn.toISOString(), '2020-01-02T03:04:05.000Z');
    await rawRefused(put({}), 409, 'ReadOnlyAttribute');
    assert.equal((await put({ 'x-ms-file-copy-ignore-readonly': 'true', 'x-ms-file-attributes': 'Hidden', 'x-ms-file-copy-set-archive': 'true' })).status, 202);
    assert.equal((await shown()).fileAttributes, 'Hidden | Archive');
    await rawRefused(put({ 'x-ms-file-permission-copy-mode': 'both' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-file-copy-ignore-readonly': 'maybe' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-file-mode-copy-mode': 'source' }), 400, 'UnsupportedHeader');
});

test('Copy File counts to the quota', async (t) => {
    const share = await newShare(t, { quota: 1 });
    const source = share.rootDirectoryClient.getFileClient('s');
    await source.create(700 * MIB);
    await refused(share.rootDirectoryClient.getFileClient('t').startCopyFromURL(source.url), 403, 'ShareSizeLimitReached');
});

test('Abort Copy File where no copy is pending', async (t) => {
    const share = await newShare(t);
    const source = await fileWith(share, 's', 'x');
    const target = share.rootDirectoryClient.getFileClient('t');
    const { copyId } = await target.startCopyFromURL(source.url);
    await refused(target.abortCopyFromURL(copyId), 409, 'NoPendingCopyOperation');
    await rawRefused(rawFile('PUT', `/${share.name}/t?comp=copy`, { 'x-ms-copy-action': 'abort' }), 400, 'MissingRequiredQueryParameter');
});

test('Create File with content (rest: Create-File, 2026-02-06)', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    await file.create(10, { content: 'abc', contentLength: 3 });
    assert.deepEqual(await file.downloadToBuffer(), Buffer.from('abc\0\0\0\0\0\0\0'));
    await file.create(3, { content: 'xyz', contentLength: 3 });
    assert.equal(await textOf(file), 'xyz');
    const bytes = randomBytes(3 * MIB);
    await file.create(bytes.length, { content: bytes, contentLength: bytes.length });
    assert((await file.downloadToBuffer()).equals(bytes));
    await refused(file.create(2, { content: 'abc', contentLength: 3 }), 400, 'InvalidHeaderValue');
});
