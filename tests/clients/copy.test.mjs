// Copies within this server: sources that are read at once (Put Blob, Put Block, Copy Blob From URL).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { raw, rawRefused } from './raw.mjs';
import { blockId, newBlob, newContainer, pattern, refused, service, url } from './setup.mjs';

const md5 = (bytes) => createHash('md5').update(bytes).digest();

test('Put Blob From URL takes bytes and properties, not metadata, and leaves no trace of a copy', async (t) => {
    // rest: Put-Blob-From-URL; semantics 5, Copy
    const content = pattern(300000);
    const { container, blob: source } = await newBlob(t, content, {
        blobHTTPHeaders: { blobContentType: 'text/x-test', blobContentLanguage: 'cy' },
        metadata: { a: '1' },
    });
    const target = container.getBlockBlobClient('to/here');
    const put = await target.syncUploadFromURL(source.url);
    assert.equal(put._response.status, 201);
    assert.ok(put.xMsContentCrc64);
    assert.equal(put.contentMD5, undefined);

    const properties = await target.getProperties();
    assert.deepEqual(Buffer.from(properties.contentMD5), md5(content));
    assert.equal(properties.contentType, 'text/x-test');
    assert.equal(properties.contentLanguage, 'cy');
    assert.deepEqual(properties.metadata, {});
    assert.equal(properties.copyId, undefined);
    assert.deepEqual(await target.downloadToBuffer(), content);

    await target.syncUploadFromURL(source.url, {
        copySourceBlobProperties: false, metadata: { b: '2' }, tier: 'Cool',
        blobHTTPHeaders: { blobContentType: 'text/other' },
    });
    const second = await target.getProperties();
    assert.equal(second.contentType, 'text/other');
    assert.equal(second.contentLanguage, undefined);
    assert.deepEqual(second.metadata, { b: '2' });
    assert.equal(second.accessTier, 'Cool');
});

test('small and empty sources, and snapshots, are sources too', async (t) => {
    const { container, blob: source } = await newBlob(t, 'first');
    const { snapshot } = await source.createSnapshot();
    await source.upload('second', 6);
    const target = container.getBlockBlobClient('copy');
    await target.syncUploadFromURL(source.withSnapshot(snapshot).url);
    assert.equal((await target.downloadToBuffer()).toString(), 'first');
    await source.upload('', 0);
    await target.syncUploadFromURL(source.url);
    assert.equal((await target.getProperties()).contentLength, 0);
    await source.syncUploadFromURL(source.withSnapshot(snapshot).url); // onto its own base
    assert.equal((await source.downloadToBuffer()).toString(), 'first');
});

test('a source is addressed by path, by host, and by another name of this machine', async (t) => {
    const { container, blob: source } = await newBlob(t, 'bytes');
    const target = container.getBlockBlobClient('copy');
    const base = new URL(url);
    for (const prefix of [`http://localhost:${base.port}/devstoreaccount1`,
        `http://devstoreaccount1.blob.localhost:${base.port}`, `http://[::1]:${base.port}/devstoreaccount1`]) {
        await target.upload('other', 5);
        await target.syncUploadFromURL(`${prefix}/${container.containerName}/${source.name}`);
        assert.equal((await target.downloadToBuffer()).toString(), 'bytes', prefix);
    }
});

test('sums of the source are checked and answered', async (t) => {
    // semantics 5, "Sums in the answer"; recorded ContentHash 8-26
    const content = pattern(70000);
    const { container, blob: source } = await newBlob(t, content);
    const target = container.getBlockBlobClient('copy');
    const right = md5(content), wrong = md5('other');
    const put = await target.syncUploadFromURL(source.url, { sourceContentMD5: right });
    assert.deepEqual(Buffer.from(put.contentMD5), right);
    assert.equal(put.xMsContentCrc64, undefined);
    await refused(target.syncUploadFromURL(source.url, { sourceContentMD5: wrong }), 400, 'Md5Mismatch');
    await refused(target.stageBlockFromURL(blockId(1), source.url, 0, undefined, { sourceContentMD5: wrong }),
        400, 'Md5Mismatch');
    const block = await target.stageBlockFromURL(blockId(1), source.url, 0, undefined, { sourceContentMD5: right });
    assert.deepEqual(Buffer.from(block.contentMD5), right);
    const crc = (await target.syncUploadFromURL(source.url)).xMsContentCrc64;
    const checked = await target.stageBlockFromURL(blockId(1), source.url, 0, undefined, { sourceContentCrc64: crc });
    assert.deepEqual(checked.xMsContentCrc64, crc);
    crc[0] ^= 1;
    await refused(target.stageBlockFromURL(blockId(1), source.url, 0, undefined, { sourceContentCrc64: crc }),
        400, 'Crc64Mismatch');
});

test('Put Block From URL takes ranges', async (t) => {
    // rest: Put-Block-From-URL
    const content = pattern(1000000);
    const { container, blob: source } = await newBlob(t, content);
    const target = container.getBlockBlobClient('joined');
    await target.stageBlockFromURL(blockId(1), source.url, 500000, 500000);
    await target.stageBlockFromURL(blockId(2), source.url, 0, 100);
    await target.commitBlockList([blockId(1), blockId(2)]);
    assert.deepEqual(await target.downloadToBuffer(),
        Buffer.concat([content.subarray(500000), content.subarray(0, 100)]));
    await refused(target.stageBlockFromURL(blockId(1), source.url, 1000000, 5), 416, 'CannotVerifyCopySource');
});

test('what is wrong with a source is told with its own status', async (t) => {
    // semantics 4.2; recorded SourceBlobAccessConditions
    const { container, blob: source, etag } = await newBlob(t);
    const target = container.getBlockBlobClient('copy');
    const from = (sourceConditions) => target.syncUploadFromURL(source.url, { sourceConditions });
    await from({ ifMatch: etag });
    await refused(from({ ifMatch: '"0x1"' }), 412, 'CannotVerifyCopySource');
    await refused(from({ ifNoneMatch: etag }), 304, 'CannotVerifyCopySource');
    await refused(from({ ifModifiedSince: new Date(Date.now() + 60000) }), 304, 'CannotVerifyCopySource');
    await refused(from({ ifUnmodifiedSince: new Date(1000) }), 412, 'CannotVerifyCopySource');
    const error = await refused(target.syncUploadFromURL(container.getBlobClient('none').url),
        404, 'CannotVerifyCopySource');
    assert.equal(error.response.headers.get('x-ms-copy-source-status-code'), '404');
    assert.equal(error.response.headers.get('x-ms-copy-source-error-code'), 'BlobNotFound');
    assert.match(error.message, /The specified blob does not exist/);
    const nowhere = service.getContainerClient('no-such-container').getBlobClient('b');
    await refused(target.syncUploadFromURL(nowhere.url), 404, 'CannotVerifyCopySource');
});

test('URLs that are none, and headers that have no effect, are refused', async (t) => {
    const { container, blob: source } = await newBlob(t);
    const path = `/${container.containerName}/copy`;
    const headers = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-copy-source': source.url };
    for (const bad of ['', 'blob', 'ftp://host/b', 'http://', 'http://user@host/b', 'http://host:0/b',
        'http://host:66000/b', 'http://host/a b', 'http://[::1/b', `http://host/${'x'.repeat(2048)}`])
        await rawRefused(raw('PUT', path, { ...headers, 'x-ms-copy-source': bad }), 400, 'InvalidHeaderValue');
    await rawRefused(raw('PUT', path, { ...headers, 'x-ms-source-lease-id': 'x' }), 400, 'UnsupportedHeader');
    await rawRefused(raw('PUT', path, { ...headers, 'x-ms-source-content-md5': 'AAAA' }), 400, 'InvalidHeaderValue');
    await rawRefused(raw('PUT', `${path}?comp=block&blockid=AAAA`,
        { 'x-ms-copy-source': source.url, 'x-ms-source-range': 'rows=1' }), 400, 'InvalidHeaderValue');
});

test('the destination is judged before a source is looked at', async (t) => {
    const { container, blob: source } = await newBlob(t);
    const lease = source.getBlobLeaseClient();
    await lease.acquireLease(-1);
    await refused(source.syncUploadFromURL(container.getBlobClient('none').url), 412, 'LeaseIdMissing');
    await refused(source.syncUploadFromURL(container.getBlobClient('none').url,
        { conditions: { leaseId: lease.leaseId, ifNoneMatch: '*' } }), 409, 'BlobAlreadyExists');
    await source.syncUploadFromURL(source.url, { conditions: { leaseId: lease.leaseId } });
    const missing = (await newContainer(t)).getBlockBlobClient('x');
    await service.deleteContainer(missing.containerName);
    await refused(missing.syncUploadFromURL(source.url), 404, 'ContainerNotFound');
});
