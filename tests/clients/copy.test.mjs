// Copies within this server: sources that are read at once (Put Blob, Put Block, Copy Blob From
// URL).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { BlobSASPermissions } from '@azure/storage-blob';
import { raw, rawRefused } from './raw.mjs';
import { blockId, newBlob, newContainer, pattern, refused, service, url } from './setup.mjs';

// A URL that reads the blob.
const signed = (blob, permissions = 'r') => blob.generateSasUrl({
    permissions: BlobSASPermissions.parse(permissions), expiresOn: new Date(Date.now() + 600000),
});

const md5 = (bytes) => createHash('md5').update(bytes).digest();

test('Put Blob From URL takes bytes and properties, not metadata, and leaves no trace of a copy', async (t) => {
    // rest: Put-Blob-From-URL; semantics 5, Copy
    const content = pattern(300000);
    const { container, blob: source } = await newBlob(t, content, {
        blobHTTPHeaders: { blobContentType: 'text/x-test', blobContentLanguage: 'cy' },
        metadata: { a: '1' },
    });
    const target = container.getBlockBlobClient('to/here');
    const put = await target.syncUploadFromURL(await signed(source));
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

    await target.syncUploadFromURL(await signed(source), {
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
    await target.syncUploadFromURL(await signed(source.withSnapshot(snapshot)));
    assert.equal((await target.downloadToBuffer()).toString(), 'first');
    await source.upload('', 0);
    await target.syncUploadFromURL(await signed(source));
    assert.equal((await target.getProperties()).contentLength, 0);
    await source.syncUploadFromURL(await signed(source.withSnapshot(snapshot))); // onto its own base
    assert.equal((await source.downloadToBuffer()).toString(), 'first');
});

test('a source is addressed by path, by host, and by another name of this machine', async (t) => {
    const { container, blob: source } = await newBlob(t, 'bytes');
    const target = container.getBlockBlobClient('copy');
    const base = new URL(url);
    for (const prefix of [`http://localhost:${base.port}/devstoreaccount1`,
        `http://devstoreaccount1.blob.localhost:${base.port}`, `http://[::1]:${base.port}/devstoreaccount1`]) {
        await target.upload('other', 5);
        const { search } = new URL(await signed(source));
        await target.syncUploadFromURL(`${prefix}/${container.containerName}/${source.name}${search}`);
        assert.equal((await target.downloadToBuffer()).toString(), 'bytes', prefix);
    }
});

test('sums of the source are checked and answered', async (t) => {
    // semantics 5, "Sums in the answer"; recorded ContentHash 8-26
    const content = pattern(70000);
    const { container, blob: source } = await newBlob(t, content);
    const target = container.getBlockBlobClient('copy');
    const right = md5(content), wrong = md5('other');
    const put = await target.syncUploadFromURL(await signed(source), { sourceContentMD5: right });
    assert.deepEqual(Buffer.from(put.contentMD5), right);
    assert.equal(put.xMsContentCrc64, undefined);
    await refused(target.syncUploadFromURL(await signed(source), { sourceContentMD5: wrong }), 400, 'Md5Mismatch');
    await refused(target.stageBlockFromURL(blockId(1), await signed(source), 0, undefined, { sourceContentMD5: wrong }),
        400, 'Md5Mismatch');
    const block = await target.stageBlockFromURL(blockId(1), await signed(source), 0, undefined, { sourceContentMD5: right });
    assert.deepEqual(Buffer.from(block.contentMD5), right);
    const crc = (await target.syncUploadFromURL(await signed(source))).xMsContentCrc64;
    const checked = await target.stageBlockFromURL(blockId(1), await signed(source), 0, undefined, { sourceContentCrc64: crc });
    assert.deepEqual(checked.xMsContentCrc64, crc);
    crc[0] ^= 1;
    await refused(target.stageBlockFromURL(blockId(1), await signed(source), 0, undefined, { sourceContentCrc64: crc }),
        400, 'Crc64Mismatch');
});

test('Put Block From URL takes ranges', async (t) => {
    // rest: Put-Block-From-URL
    const content = pattern(1000000);
    const { container, blob: source } = await newBlob(t, content);
    const target = container.getBlockBlobClient('joined');
    await target.stageBlockFromURL(blockId(1), await signed(source), 500000, 500000);
    await target.stageBlockFromURL(blockId(2), await signed(source), 0, 100);
    await target.commitBlockList([blockId(1), blockId(2)]);
    assert.deepEqual(await target.downloadToBuffer(),
        Buffer.concat([content.subarray(500000), content.subarray(0, 100)]));
    await refused(target.stageBlockFromURL(blockId(1), await signed(source), 1000000, 5), 416, 'CannotVerifyCopySource');
});

test('what is wrong with a source is told with its own status', async (t) => {
    // semantics 4.2; recorded SourceBlobAccessConditions
    const { container, blob: source, etag } = await newBlob(t);
    const target = container.getBlockBlobClient('copy');
    const from = async (sourceConditions) => target.syncUploadFromURL(await signed(source), { sourceConditions });
    await from({ ifMatch: etag });
    await refused(from({ ifMatch: '"0x1"' }), 412, 'CannotVerifyCopySource');
    await refused(from({ ifNoneMatch: etag }), 304, 'CannotVerifyCopySource');
    await refused(from({ ifModifiedSince: new Date(Date.now() + 60000) }), 304, 'CannotVerifyCopySource');
    await refused(from({ ifUnmodifiedSince: new Date(1000) }), 412, 'CannotVerifyCopySource');
    const error = await refused(target.syncUploadFromURL(await signed(container.getBlobClient('none'))),
        404, 'CannotVerifyCopySource');
    assert.equal(error.response.headers.get('x-ms-copy-source-status-code'), '404');
    assert.equal(error.response.headers.get('x-ms-copy-source-error-code'), 'BlobNotFound');
    assert.match(error.message, /The specified blob does not exist/);
    const nowhere = service.getContainerClient('no-such-container').getBlobClient('b');
    await refused(target.syncUploadFromURL(await signed(nowhere)), 404, 'CannotVerifyCopySource');
});

test('URLs that are none, and headers that have no effect, are refused', async (t) => {
    const { container, blob: source } = await newBlob(t);
    const path = `/${container.containerName}/copy`;
    const headers = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-copy-source': source.url };
    for (const bad of ['', 'blob', 'ftp://host/b', 'http://', 'http://user@host/b', 'http://host:0/b',
        'http://host:66000/b', 'http://ho st/b', 'http://[::1/b', `http://host/${'x'.repeat(2048)}`])
        await rawRefused(raw('PUT', path, { ...headers, 'x-ms-copy-source': bad }), 400, 'InvalidHeaderValue');
    await rawRefused(raw('PUT', path, { ...headers, 'x-ms-source-lease-id': 'x' }), 400, 'UnsupportedHeader');
    for (const query of ['?restype=account&comp=properties', `/${container.containerName}?restype=container`,
        `/${container.containerName}`, '', '/?comp=list']) { // something else than a blob
        const { status } = await raw('PUT', path, { 'x-ms-copy-source': `${url}${query}` });
        assert.ok(status >= 400 && status < 500, `${query}: ${status}`);
    }
    await rawRefused(raw('PUT', path, { ...headers, 'x-ms-source-content-md5': 'AAAA' }), 400, 'InvalidHeaderValue');
    await rawRefused(raw('PUT', `${path}?comp=block&blockid=AAAA`,
        { 'x-ms-copy-source': source.url, 'x-ms-source-range': 'rows=1' }), 400, 'InvalidHeaderValue');
});

test('the destination is judged before a source is looked at', async (t) => {
    const { container, blob: source } = await newBlob(t);
    const lease = source.getBlobLeaseClient();
    await lease.acquireLease(-1);
    await refused(source.syncUploadFromURL(await signed(container.getBlobClient('none'))), 412, 'LeaseIdMissing');
    await source.syncUploadFromURL(await signed(source), { conditions: { leaseId: lease.leaseId } });
    await lease.releaseLease();
    await refused(source.syncUploadFromURL(await signed(container.getBlobClient('none')),
        { conditions: { ifNoneMatch: '*' } }), 409, 'BlobAlreadyExists');
    // A wrong checksum of the source comes first, as recorded. decision: 851
    await refused(source.syncUploadFromURL(await signed(source),
        { conditions: { ifNoneMatch: '*' }, sourceContentMD5: md5('other') }), 400, 'Md5Mismatch');
    await refused(source.syncUploadFromURL(await signed(source),
        { conditions: { ifNoneMatch: '*' }, sourceContentMD5: md5(await source.downloadToBuffer()) }),
    409, 'BlobAlreadyExists');
    const missing = (await newContainer(t)).getBlockBlobClient('x');
    await service.deleteContainer(missing.containerName);
    await refused(missing.syncUploadFromURL(await signed(source)), 404, 'ContainerNotFound');
});

test('Copy Blob of a blob here is done when it is answered, and keeps blocks, properties, metadata', async (t) => {
    // rest: Copy-Blob; recorded AsyncCopyFromUri, test_list_blobs_with_include_copy
    const { container, blob: source } = await newBlob(t, 'old');
    const parts = [pattern(70000, 1), pattern(3, 2), pattern(5000, 3)];
    for (const [i, part] of parts.entries())
        await source.stageBlock(blockId(i), part, part.length);
    await source.commitBlockList(parts.map((_, i) => blockId(i)), {
        blobHTTPHeaders: { blobContentType: 'text/x', blobCacheControl: 'no-cache' }, metadata: { a: '1' },
    });
    const target = container.getBlockBlobClient('target');
    const poller = await target.beginCopyFromURL(`${source.url}?timeout=9`);
    const copied = await poller.pollUntilDone();
    assert.equal(copied.copyStatus, 'success');

    const got = await target.getProperties();
    assert.equal(got.copyStatus, 'success');
    assert.equal(got.copyId, copied.copyId);
    assert.equal(got.copySource, `${source.url}?timeout=9`);
    assert.equal(got.copyProgress, '75003/75003');
    assert.ok(got.copyCompletedOn instanceof Date);
    assert.deepEqual([got.contentType, got.cacheControl, got.metadata], ['text/x', 'no-cache', { a: '1' }]);
    assert.equal(got.accessTierInferred, true);
    assert.deepEqual(await target.downloadToBuffer(), Buffer.concat(parts));
    const { committedBlocks } = await target.getBlockList('committed');
    assert.deepEqual(committedBlocks, parts.map((part, i) => ({ name: blockId(i), size: part.length })));

    for await (const item of container.listBlobsFlat({ includeCopy: true, prefix: 'target' })) {
        assert.equal(item.properties.copyId, copied.copyId);
        assert.equal(item.properties.copyProgress, '75003/75003');
        assert.equal(item.properties.copySource, `${source.url}?timeout=9`);
    }
    for await (const item of container.listBlobsFlat({ prefix: 'target' }))
        assert.equal(item.properties.copyId, undefined);
    // The copy goes its own way: blocks of it can be used again, and the source may go.
    await target.stageBlock(blockId(9), 'new', 3);
    await target.commitBlockList([blockId(2), blockId(9)]);
    await source.delete();
    assert.deepEqual(await target.downloadToBuffer(), Buffer.concat([parts[2], Buffer.from('new')]));
    assert.equal((await target.getProperties()).copyId, undefined);
});

test('Copy Blob From URL answers sums and a finished copy', async (t) => {
    // rest: Copy-Blob-From-URL; recorded test_copy_blob_sync, ContentHash 13-16
    const content = pattern(200000);
    const { container, blob: source } = await newBlob(t, content, { metadata: { a: '1' } });
    const target = container.getBlockBlobClient('target');
    const answer = await target.syncCopyFromURL(await signed(source), { sourceContentMD5: md5(content), metadata: { b: '2' }, tier: 'Cool' });
    assert.equal(answer._response.status, 202);
    assert.equal(answer.copyStatus, 'success');
    assert.deepEqual(Buffer.from(answer.contentMD5), md5(content));
    const got = await target.getProperties();
    assert.deepEqual([got.copyStatus, got.copyProgress, got.accessTier, got.metadata],
        ['success', '200000/200000', 'Cool', { b: '2' }]);
    assert.deepEqual(await target.downloadToBuffer(), content);
    await target.setHTTPHeaders({ blobContentType: 'text/plain' });
    assert.equal((await target.getProperties()).copyId, undefined); // rest: Get-Blob-Properties
    await refused(target.syncCopyFromURL(await signed(source), { sourceContentMD5: md5('other') }), 400, 'Md5Mismatch');
});

test('conditions and leases of copies', async (t) => {
    // semantics 4.2, 3.4
    const { container, blob: source, etag } = await newBlob(t);
    const target = container.getBlockBlobClient('target');
    const { etag: old } = await target.upload('x', 1);
    const begin = (options) => target.beginCopyFromURL(source.url, options);
    await refused(begin({ conditions: { ifMatch: '"0x1"' } }), 412, 'TargetConditionNotMet');
    await refused(begin({ conditions: { ifNoneMatch: old } }), 412, 'TargetConditionNotMet');
    await refused(begin({ conditions: { ifNoneMatch: '*' } }), 409, 'BlobAlreadyExists');
    await refused(begin({ sourceConditions: { ifMatch: '"0x1"' } }), 412, 'SourceConditionNotMet');
    await refused(begin({ sourceConditions: { ifNoneMatch: etag } }), 412, 'SourceConditionNotMet');
    await refused(target.beginCopyFromURL(container.getBlobClient('none').url), 404, 'BlobNotFound');
    await refused(target.syncCopyFromURL(await signed(source), { sourceConditions: { ifMatch: '"0x1"' } }),
        412, 'CannotVerifyCopySource');
    const lease = target.getBlobLeaseClient();
    await lease.acquireLease(15);
    const { leaseId } = lease;
    await refused(begin(), 412, 'LeaseIdMissing');
    await refused(begin({ conditions: { leaseId } }), 412, 'InfiniteLeaseDurationRequired');
    await target.syncCopyFromURL(await signed(source), { conditions: { leaseId } });
    await lease.releaseLease();
    await lease.acquireLease(-1);
    const done = await (await begin({ conditions: { leaseId } })).pollUntilDone();
    assert.equal(done.copyStatus, 'success');
    assert.equal((await target.getProperties()).leaseState, 'leased');
});

test('Abort Copy Blob where nothing is pending', async (t) => {
    // rest: Abort-Copy-Blob; recorded
    const { container, blob } = await newBlob(t);
    await refused(blob.abortCopyFromURL('11111111-1111-1111-1111-111111111111'), 409, 'NoPendingCopyOperation');
    await refused(container.getBlobClient('none').abortCopyFromURL('11111111-1111-1111-1111-111111111111'), 404, 'BlobNotFound');
    await rawRefused(raw('PUT', `/${container.containerName}/blob?comp=copy`, { 'x-ms-copy-action': 'abort' }),
        400, 'MissingRequiredQueryParameter');
});

test('a source is read by what its URL says, by its container being public, or within its account', async (t) => {
    // rest: Copy-Blob, Copy-Blob-From-URL "Authorization"
    const { container, blob: source } = await newBlob(t);
    const target = container.getBlockBlobClient('target');
    await (await target.beginCopyFromURL(source.url)).pollUntilDone(); // by the account's key
    for (const call of [() => target.syncUploadFromURL(source.url), () => target.syncCopyFromURL(source.url),
        () => target.stageBlockFromURL(blockId(1), source.url)]) {
        const error = await refused(call(), 401, 'CannotVerifyCopySource');
        assert.equal(error.response.headers.get('x-ms-copy-source-error-code'), 'NoAuthenticationInformation');
    }
    const writes = await source.generateSasUrl({
        permissions: BlobSASPermissions.parse('w'), expiresOn: new Date(Date.now() + 600000),
    });
    await refused(target.syncUploadFromURL(writes), 403, 'CannotVerifyCopySource');
    await refused(target.beginCopyFromURL(writes), 403, 'CannotVerifyCopySource');
    await refused(target.syncUploadFromURL((await signed(source)).replace(/sig=..../, 'sig=AAAA')),
        403, 'CannotVerifyCopySource');
    await (await target.beginCopyFromURL(await signed(source))).pollUntilDone();
    assert.doesNotMatch((await target.getProperties()).copySource, /sig=/);
    await container.setAccessPolicy('blob');
    await target.syncUploadFromURL(source.url);
    await target.syncCopyFromURL(source.url);
});

test('tags of copies', async (t) => {
    // rest: Copy-Blob "x-ms-tags", "x-ms-copy-source-tag-option"; recorded AccessConditionTags
    // 62-67
    const { container, blob: source } = await newBlob(t, 'x', { tags: { a: '1' } });
    const target = container.getBlockBlobClient('target');
    const tags = async () => (await target.getTags()).tags;
    const signedToRead = await signed(source);
    await (await target.beginCopyFromURL(source.url, { tags: { b: '2' } })).pollUntilDone();
    assert.deepEqual(await tags(), { b: '2' });
    await (await target.beginCopyFromURL(source.url)).pollUntilDone();
    assert.deepEqual(await tags(), {});
    await target.syncCopyFromURL(await signed(source, 'rt'), { copySourceTags: 'COPY' });
    assert.deepEqual(await tags(), { a: '1' });
    // decision: 102
    for (const call of [() => target.syncCopyFromURL(signedToRead, { copySourceTags: 'COPY' }),
        () => target.syncUploadFromURL(signedToRead, { copySourceTags: 'COPY' })])
        await refused(call(), 403, 'CannotVerifyCopySource');
    await container.setAccessPolicy('blob');
    await refused(target.syncCopyFromURL(source.url, { copySourceTags: 'COPY' }), 401, 'CannotVerifyCopySource');
    await target.syncCopyFromURL(source.url);
    await refused(target.beginCopyFromURL(source.url, { conditions: { tagConditions: "a = '9'" } }), 412, 'ConditionNotMet');
    await refused(target.beginCopyFromURL(source.url, { sourceConditions: { tagConditions: "a = '9'" } }),
        412, 'ConditionNotMet');
    await (await target.beginCopyFromURL(source.url, { sourceConditions: { tagConditions: "a = '1'" } })).pollUntilDone();
});

test('what a source answered is reported since 2024-08-04', async (t) => {
    // recorded: none of 40 failures up to 2021-06-08; decision: 52
    const container = await newContainer(t);
    const none = await signed(container.getBlobClient('none'));
    for (const [version, reports] of [['2019-02-02', false], ['2021-06-08', false], ['2024-05-04', false], ['2024-08-04', true], ['2026-10-06', true]]) {
        const answer = await rawRefused(raw('PUT', `/${container.containerName}/to`,
            { 'x-ms-copy-source': none, 'x-ms-requires-sync': 'true' }, '', { version }), 404, 'CannotVerifyCopySource');
        assert.deepEqual([answer.headers.get('x-ms-copy-source-status-code') ?? null, answer.headers.get('x-ms-copy-source-error-code') ?? null,
            /CopySourceStatusCode/.test(answer.text)], reports ? ['404', 'BlobNotFound', true] : [null, null, false], version);
        assert.match(answer.text, /<Message>The specified blob does not exist\.\n/);
    }
});

test('Copy Blob From URL of an append or page blob cannot verify its source', async (t) => {
    // reported: azure-sdk-for-go issue 20942; decision: 99
    const container = await newContainer(t);
    await container.getAppendBlobClient('append').create();
    await container.getPageBlobClient('page').create(512);
    for (const name of ['append', 'page']) {
        const answer = await rawRefused(raw('PUT', `/${container.containerName}/to`, {
            'x-ms-copy-source': await signed(container.getBlobClient(name)), 'x-ms-requires-sync': 'true',
        }), 409, 'CannotVerifyCopySource');
        assert.match(answer.text, /<Message>The copy source must be a block blob\.\n/);
    }
});

test('an id that is no GUID aborts no copy', async (t) => {
    // recorded, 2 of 2
    const { container } = await newBlob(t);
    for (const name of ['blob', 'none'])
        await rawRefused(raw('PUT', `/${container.containerName}/${name}?comp=copy&copyid=1`, { 'x-ms-copy-action': 'abort' }),
            400, 'InvalidQueryParameterValue');
});

test('small answers of the service, as recorded', async (t) => {
    const { container, blob } = await newBlob(t);
    const path = `/${container.containerName}`;
    // Snapshot Blob: only with metadata of its own something is encrypted
    assert.equal((await raw('PUT', `${path}/blob?comp=snapshot`, { 'x-ms-meta-a': 'b' })).headers.get('x-ms-request-server-encrypted'), 'true');
    assert.equal((await raw('PUT', `${path}/blob?comp=snapshot`)).headers.get('x-ms-request-server-encrypted'), 'false');
    // Put Block List: CRC-64, also next to an MD5; since 2026-10-06 both
    await blob.stageBlock('AAAA', 'x', 1);
    const list = '<BlockList><Latest>AAAA</Latest></BlockList>';
    for (const [version, hasMd5] of [['2021-06-08', false], ['2024-11-04', false], ['2026-10-06', true]]) {
        const { status, headers } = await raw('PUT', `${path}/blob?comp=blocklist`, { 'Content-MD5': md5(list).toString('base64') }, list, { version });
        assert.deepEqual([status, headers.get('content-md5') !== undefined && headers.get('content-md5') !== null, Boolean(headers.get('x-ms-content-crc64'))], [201, hasMd5, true], version);
    }
    await rawRefused(raw('PUT', `${path}/blob?comp=blocklist`, { 'Content-MD5': md5('other').toString('base64') }, list, { version: '2021-06-08' }),
        400, 'Md5Mismatch');
    // A 304 of Get Page Ranges has no type since 2020-10-02
    const { etag } = await container.getPageBlobClient('page').create(512);
    for (const [version, type] of [['2019-07-07', 'application/xml'], ['2020-10-02', null], ['2026-10-06', null]])
        assert.equal((await raw('GET', `${path}/page?comp=pagelist`, { 'If-None-Match': etag }, '', { version })).headers.get('content-type') ?? null, type, version);
    // Restore Container without a name
    await rawRefused(raw('PUT', '/?restype=container&comp=undelete', { 'x-ms-deleted-container-name': '', 'x-ms-deleted-container-version': '1' }),
        400, 'MissingRequiredHeader');
});
