// Append Block From URL and Put Page From URL through the SDK: blocks and pages whose bytes are
// read from another blob. Copies of whole blobs: copy.test.mjs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobSASPermissions, BlobServiceClient } from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { serve, sourceServer } from '../lib/source.mjs';
import { raw, rawRefused } from './raw.mjs';
import { credential, md5, newBlob, once, pattern, refused } from './setup.mjs';

const MIB = 1 << 20;

// A URL that reads the blob.
const signed = (blob) => blob.generateSasUrl({
    permissions: BlobSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 600000),
});

const path = (blob) => `/${blob.containerName}/${blob.name}`;

// A source of these bytes, and an append and a page blob beside it.
async function newTargets(t, content, pages = 8192) {
    const { container, blob: source, etag } = await newBlob(t, content);
    const append = container.getAppendBlobClient('log');
    const page = container.getPageBlobClient('disk');
    await append.create();
    await page.create(pages);
    return { container, source, etag, append, page, url: await signed(source) };
}

test('Append Block From URL adds a range of a source, or all of it', async (t) => {
    // rest: Append-Block-From-URL; semantics 5, "Sums in the answer"
    const content = pattern(300000);
    const { append, url } = await newTargets(t, content);
    const first = await append.appendBlockFromURL(url, 1000, 200000);
    assert.equal(first._response.status, 201);
    assert.deepEqual([first.blobAppendOffset, first.blobCommittedBlockCount], ['0', 1]);
    assert.deepEqual(Buffer.from(first.contentMD5), md5(content.subarray(1000, 201000)));
    assert.equal(first.xMsContentCrc64, undefined);
    assert.equal(first.isServerEncrypted, true);
    const { headers, status } = await raw('PUT', `${path(append)}?comp=appendblock`, { 'x-ms-copy-source': url });
    assert.equal(status, 201);
    assert.equal(headers.get('x-ms-blob-append-offset'), '200000'); // without a range: all
    await append.appendBlock('end', 3);
    assert.deepEqual(await append.downloadToBuffer(),
        Buffer.concat([content.subarray(1000, 201000), content, Buffer.from('end')]));
});

test('Append Block From URL: position and size are conditions', async (t) => {
    // rest: Append-Block-From-URL "x-ms-blob-condition-appendpos", "-maxsize"
    const { append, url } = await newTargets(t, pattern(100));
    const add = (conditions, options) => append.appendBlockFromURL(url, 0, 100, { conditions, ...options });
    await add({ appendPosition: 0, maxSize: 100 });
    await refused(add({ appendPosition: 0 }), 412, 'AppendPositionConditionNotMet');
    await refused(add({ maxSize: 199 }), 412, 'MaxBlobSizeConditionNotMet');
    const { etag } = await add({ appendPosition: 100, maxSize: 200 });
    await refused(add({ ifMatch: '"0x1"' }), 412, 'ConditionNotMet');
    await refused(add({ ifNoneMatch: etag }), 412, 'ConditionNotMet');
    await add({ ifMatch: etag });
    assert.equal((await append.getProperties()).contentLength, 300);
    const lease = append.getBlobLeaseClient();
    await lease.acquireLease(-1);
    await refused(add(), 412, 'LeaseIdMissing');
    await add({ leaseId: lease.leaseId });
    await append.seal({ conditions: { leaseId: lease.leaseId } });
    await refused(add({ leaseId: lease.leaseId }), 409, 'BlobIsSealed');
});

test('sums and conditions of the source, for both', async (t) => {
    // recorded PageBlobClientTest.ContentHash, SourceBlobAccessConditions
    const content = pattern(8192);
    const { append, page, url, etag } = await newTargets(t, content);
    for (const call of [(options) => append.appendBlockFromURL(url, 0, 4096, options),
        (options) => page.uploadPagesFromURL(url, 0, 0, 4096, options)]) {
        const sourceContentMD5 = md5(content.subarray(0, 4096));
        const put = await call({ sourceContentMD5 });
        assert.deepEqual(Buffer.from(put.contentMD5), sourceContentMD5);
        await refused(call({ sourceContentMD5: md5(content) }), 400, 'Md5Mismatch');
        await refused(call({ sourceContentCrc64: Buffer.alloc(8) }), 400, 'Crc64Mismatch');
        await call({ sourceConditions: { ifMatch: etag } });
        await refused(call({ sourceConditions: { ifMatch: '"0x1"' } }), 412, 'CannotVerifyCopySource');
        await refused(call({ sourceConditions: { ifNoneMatch: etag } }), 304, 'CannotVerifyCopySource');
        await refused(call({ sourceConditions: { ifModifiedSince: new Date(Date.now() + 60000) } }),
            304, 'CannotVerifyCopySource');
        await refused(call({ sourceConditions: { ifUnmodifiedSince: new Date(1000) } }),
            412, 'CannotVerifyCopySource');
    }
    // A CRC-64 that is right: as Put Block From URL tells it.
    const staged = await raw('PUT', `${path(append)}-staged?comp=block&blockid=AAAA`,
        { 'x-ms-copy-source': url, 'x-ms-source-range': 'bytes=0-4095' });
    const crc = Buffer.from(staged.headers.get('x-ms-content-crc64'), 'base64');
    const put = await page.uploadPagesFromURL(url, 0, 0, 4096, { sourceContentCrc64: crc });
    assert.deepEqual(Buffer.from(put.contentMD5), md5(content.subarray(0, 4096))); // recorded
    await append.appendBlockFromURL(url, 0, 4096, { sourceContentCrc64: crc });
    // Content-MD5 is of the bytes too. rest: Append-Block-From-URL "Content-MD5"
    const headers = { 'x-ms-copy-source': url, 'x-ms-source-range': 'bytes=0-4095' };
    const sum = md5(content.subarray(0, 4096)).toString('base64');
    assert.equal((await raw('PUT', `${path(append)}?comp=appendblock`, { ...headers, 'Content-MD5': sum })).status, 201);
    await rawRefused(raw('PUT', `${path(append)}?comp=appendblock`, { ...headers, 'Content-MD5': md5('x').toString('base64') }),
        400, 'Md5Mismatch');
});

test('Put Page From URL writes a range of a source to one of the same length', async (t) => {
    // rest: Put-Page-From-URL
    const content = pattern(6 * MIB);
    const { page, url } = await newTargets(t, content, 8 * MIB);
    await page.updateSequenceNumber('update', 7);
    const put = await page.uploadPagesFromURL(url, 100, MIB, 4 * MIB); // a source has no pages
    assert.equal(put._response.status, 201);
    assert.equal(put.blobSequenceNumber, 7);
    assert.equal(put.isServerEncrypted, true);
    assert.deepEqual(await page.downloadToBuffer(MIB, 4 * MIB), content.subarray(100, 100 + 4 * MIB));
    const list = await page.getPageRanges();
    assert.deepEqual(list.pageRange, [{ offset: MIB, count: 4 * MIB - 1 }]);
    await page.uploadPagesFromURL(url, 0, 512, 512);
    assert.deepEqual(await page.downloadToBuffer(512, 512), content.subarray(0, 512));
    await refused(page.uploadPagesFromURL(url, 0, 0, 4 * MIB + 512), 413, 'RequestBodyTooLarge');
    await refused(page.uploadPagesFromURL(url, 0, 8 * MIB, 512), 416, 'InvalidPageRange');
    await refused(page.uploadPagesFromURL(url, 6 * MIB - 100, 0, 512), 416, 'CannotVerifyCopySource');
    await refused(page.uploadPagesFromURL(url, 6 * MIB, 0, 512), 416, 'CannotVerifyCopySource');
});

test('Put Page From URL: conditions on the sequence number', async (t) => {
    // rest: Put-Page-From-URL; recorded PageBlobAccessConditions 16-26
    const { page, url } = await newTargets(t, pattern(512));
    await page.updateSequenceNumber('update', 100);
    const put = (conditions) => page.uploadPagesFromURL(url, 0, 512, 512, { conditions });
    await put({ ifSequenceNumberEqualTo: 100 });
    await put({ ifSequenceNumberLessThan: 101 });
    await put({ ifSequenceNumberLessThanOrEqualTo: 100 });
    for (const conditions of [{ ifSequenceNumberEqualTo: 101 }, { ifSequenceNumberLessThan: 100 },
        { ifSequenceNumberLessThanOrEqualTo: 99 }])
        await refused(put(conditions), 412, 'SequenceNumberConditionNotMet');
});

test('what is missing or wrong in a request is refused', async (t) => {
    // decision: 98
    const { container, append, page, source, url } = await newTargets(t, pattern(4096));
    const headers = { 'x-ms-copy-source': url, 'x-ms-page-write': 'update', 'x-ms-range': 'bytes=0-511',
        'x-ms-source-range': 'bytes=0-511' };
    const put = (more) => raw('PUT', `${path(page)}?comp=page`, Object.fromEntries(
        Object.entries({ ...headers, ...more }).filter(([, value]) => value !== undefined)));
    assert.equal((await put({})).status, 201);
    await rawRefused(put({ 'x-ms-range': undefined }), 400, 'MissingRequiredHeader');
    await rawRefused(put({ 'x-ms-source-range': undefined }), 400, 'MissingRequiredHeader');
    await rawRefused(put({ 'x-ms-page-write': undefined }), 400, 'MissingRequiredHeader');
    await rawRefused(put({ 'x-ms-page-write': 'clear' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-source-range': 'bytes=0-' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-source-range': 'bytes=0-1023' }), 416, 'InvalidPageRange');
    await rawRefused(put({ 'x-ms-range': 'bytes=1-512' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-blob-condition-appendpos': '0' }), 400, 'UnsupportedHeader');
    await rawRefused(put({ 'x-ms-source-lease-id': 'x' }), 400, 'UnsupportedHeader');
    const add = (more) => raw('PUT', `${path(append)}?comp=appendblock`, { 'x-ms-copy-source': url, ...more });
    await rawRefused(add({ 'x-ms-if-sequence-number-eq': '0' }), 400, 'UnsupportedHeader');
    await rawRefused(add({ 'x-ms-blob-condition-appendpos': '-1' }), 400, 'InvalidHeaderValue');
    await rawRefused(add({ 'x-ms-source-encryption-key': 'x' }), 400, 'UnsupportedHeader');
    await rawRefused(add({ 'x-ms-copy-source': 'nowhere' }), 400, 'InvalidHeaderValue');
    await rawRefused(raw('PUT', `${path(source)}?comp=appendblock`, { 'x-ms-copy-source': url }), 409, 'InvalidBlobType');
    await rawRefused(raw('PUT', `${path(append)}?comp=page`, headers), 409, 'InvalidBlobType');
    await refused(append.appendBlockFromURL(source.url, 0, 1), 401, 'CannotVerifyCopySource');
    await refused(append.appendBlockFromURL(await signed(container.getBlobClient('none')), 0, 1),
        404, 'CannotVerifyCopySource');
    await refused(container.getAppendBlobClient('none').appendBlockFromURL(url, 0, 1), 404, 'BlobNotFound');
    await source.upload('', 0);
    await rawRefused(add({}), 400, 'InvalidHeaderValue'); // a block has a byte
    assert.equal((await append.getProperties()).contentLength, 0);
});

test('a block of 100 MiB since 2022-11-02, of 4 MiB before', async (t) => {
    // rest: Append-Block-From-URL "Remarks"
    const { append, url } = await newTargets(t, Buffer.alloc(5 * MIB, 7));
    const add = (version) => raw('PUT', `${path(append)}?comp=appendblock`,
        { 'x-ms-copy-source': url, 'x-ms-version': version });
    await rawRefused(add('2021-12-02'), 413, 'RequestBodyTooLarge');
    assert.equal((await add('2022-11-02')).status, 201);
});

test('sources on other servers', async (t) => {
    // decision: 55
    const content = pattern(10000);
    const source = await sourceServer(t, {
        '/b': serve(content),
        '/plain': (_, response) => { response.writeHead(200); response.end(content); }, // knows no ranges
    });
    const server = await Server.start({ args: ['--allowCopyFrom', '127.0.0.1,::1'] });
    t.after(() => server.kill().then(() => server.remove()));
    const container = new BlobServiceClient(server.url, credential, once).getContainerClient('copies');
    await container.create();
    const append = container.getAppendBlobClient('log'), page = container.getPageBlobClient('disk');
    await append.create();
    await page.create(4096);
    for (const name of ['/b', '/plain']) {
        await append.appendBlockFromURL(`${source.url}${name}`, 500, 1000);
        await page.uploadPagesFromURL(`${source.url}${name}`, 500, 512, 1024);
        assert.deepEqual(await page.downloadToBuffer(512, 1024), content.subarray(500, 1524), name);
    }
    assert.deepEqual(await append.downloadToBuffer(),
        Buffer.concat([content.subarray(500, 1500), content.subarray(500, 1500)]));
    await append.appendBlockFromURL(`${source.url}/b`, 0, 1, { sourceAuthorization: { scheme: 'Bearer', value: 'abc' } });
    assert.equal(source.seen.at(-1).headers.authorization, 'Bearer abc');
    await refused(append.appendBlockFromURL(`${source.url}/none`, 0, 1), 404, 'CannotVerifyCopySource');
});
