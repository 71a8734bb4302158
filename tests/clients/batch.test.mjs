// Blob Batch through the SDK's BlobBatchClient, and byte by byte where no SDK writes it so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    AccountSASPermissions, AnonymousCredential, BlobBatchClient, BlobServiceClient, ContainerSASPermissions,
    StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { batchBody, BATCH_TYPE, partRequest, readBatch } from '../lib/batch.mjs';
import { Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';
import { account, collect, credential, newBlob, newContainer, once, refused, service, url } from './setup.mjs';

async function putBlobs(container, count) {
    const blobs = Array.from({ length: count }, (_, i) => container.getBlockBlobClient(`b${String(i).padStart(3, '0')}`));
    await Promise.all(blobs.map((blob) => blob.upload('x', 1)));
    return blobs;
}

const namesOf = async (container) => (await collect(container.listBlobsFlat())).map(({ name }) => name);

// A batch as it lies on the wire. parts: as of batchBody()
async function post(path, parts, headers = {}) {
    const answer = await raw('POST', path, { 'Content-Type': BATCH_TYPE, ...headers }, batchBody(parts));
    if (answer.status === 202)
        answer.parts = readBatch(answer.headers.get('content-type'), answer.text);
    return answer;
}

const target = (container, name) => `/${account.name}/${container.containerName}/${name}`;
const deletion = (container, name, id, headers) =>
    ({ id, request: partRequest({ method: 'DELETE', target: target(container, name), headers }) });

test('deleteBlobs deletes 256 blobs; each part has its own answer, in order', async (t) => {
    // rest: Blob-Batch
    const container = await newContainer(t);
    const blobs = await putBlobs(container, 256);
    const answer = await service.getBlobBatchClient().deleteBlobs(blobs);
    assert.equal(answer._response.status, 202);
    assert.equal(answer.subResponsesSucceededCount, 256);
    assert.equal(answer.subResponsesFailedCount, 0);
    for (const [i, part] of answer.subResponses.entries()) {
        assert.equal(part.status, 202);
        assert.equal(part.statusMessage, 'Accepted');
        assert.equal(part._request.url, blobs[i].url);
        assert.equal(part.headers.get('x-ms-delete-type-permanent'), 'true');
        assert.equal(part.headers.get('x-ms-version'), answer.version);
        assert.match(part.headers.get('x-ms-request-id'), /^[0-9a-f-]{36}$/);
    }
    assert.equal(new Set(answer.subResponses.map((part) => part.headers.get('x-ms-request-id'))).size, 256);
    assert.deepEqual(await namesOf(container), []);
});

test('setBlobsAccessTier: each part has its own answer', async (t) => {
    // rest: Blob-Batch, Set-Blob-Tier
    const container = await newContainer(t), other = await newContainer(t);
    const blobs = await putBlobs(container, 40);
    const elsewhere = other.getBlockBlobClient('e');
    await elsewhere.upload('e', 1);
    const batches = service.getBlobBatchClient();
    const all = await batches.setBlobsAccessTier([...blobs, elsewhere], 'Cool');
    assert.equal(all._response.status, 202);
    assert.deepEqual(all.subResponses.map(({ status }) => status), Array(41).fill(200));
    for (const blob of [...blobs, elsewhere])
        assert.equal((await blob.getProperties()).accessTier, 'Cool');

    const [leased, tagged, back, archived] = blobs, none = container.getBlobClient('none'), page = container.getPageBlobClient('page');
    const lease = await leased.getBlobLeaseClient().acquireLease(-1);
    await tagged.setTags({ a: '1' });
    await back.setAccessTier('Archive');
    await page.create(512);
    const batch = batches.createBatch();
    await batch.setBlobAccessTier(leased, 'Hot');
    await batch.setBlobAccessTier(leased, 'Cold', { conditions: { leaseId: lease.leaseId } });
    await batch.setBlobAccessTier(tagged, 'Hot', { conditions: { tagConditions: '"a" = \'2\'' } });
    await batch.setBlobAccessTier(back, 'Hot', { rehydratePriority: 'High' });
    await batch.setBlobAccessTier(archived, 'Archive');
    await batch.setBlobAccessTier(none, 'Hot');
    await batch.setBlobAccessTier(page, 'Hot');
    const answer = await batches.submitBatch(batch);
    assert.deepEqual(answer.subResponses.map(({ status, errorCode }) => [status, errorCode]), [
        [412, 'LeaseIdMissing'], [200, undefined], [412, 'ConditionNotMet'], [202, undefined], [200, undefined],
        [404, 'BlobNotFound'], [400, 'AccessTierNotSupportedForBlobType'],
    ]);
    const tiers = await Promise.all([leased, tagged, archived].map(async (blob) => (await blob.getProperties()).accessTier));
    assert.deepEqual(tiers, ['Cold', 'Cool', 'Archive']);
    const { accessTier, archiveStatus, rehydratePriority } = await back.getProperties();
    assert.deepEqual([accessTier, archiveStatus, rehydratePriority], ['Archive', 'rehydrate-pending-to-hot', 'High']);

    const own = await container.getBlobBatchClient().setBlobsAccessTier([blobs[5]], 'Hot');
    assert.deepEqual(own.subResponses.map(({ status }) => status), [200]);
    const reader = new BlobServiceClient(`${url}?${service.generateAccountSasUrl(undefined, AccountSASPermissions.parse('rd'), 'o').split('?')[1]}`,
        new AnonymousCredential(), once);
    const refusedAll = await reader.getBlobBatchClient()
        .setBlobsAccessTier([reader.getContainerClient(container.containerName).getBlobClient(blobs[5].name)], 'Cold');
    assert.equal(refusedAll.subResponses[0].errorCode, 'AuthorizationPermissionMismatch');
    assert.equal((await blobs[5].getProperties()).accessTier, 'Hot');
});

test('a blob that a long batch names twice is deleted once', async (t) => {
    // rest: Blob-Batch; parts are committed together only when they are about different blobs
    // (service/batch.h)
    const container = await newContainer(t);
    const blobs = await putBlobs(container, 20);
    const names = [...blobs, ...blobs.slice(5, 8), blobs[0]].map(({ name }) => name);
    const answer = await post(`/${container.containerName}?restype=container&comp=batch`,
        names.map((name, id) => deletion(container, name, id)));
    for (const { name } of blobs) {
        const statuses = answer.parts.filter((_, i) => names[i] === name).map(({ status }) => status).sort();
        assert.deepEqual(statuses, names.filter((other) => other === name).length === 2 ? [202, 404] : [202], name);
    }
    assert.deepEqual(await namesOf(container), []);
});

test('long batches against single writes: each part is decided on its blob as it is', async (t) => {
    // rest: Blob-Batch "Each subrequest runs independently"
    const container = await newContainer(t);
    for (let round = 0; round < 4; round++) {
        const blobs = await putBlobs(container, 40);
        const { etag } = await blobs[7].setMetadata({ kept: 'yes' });
        const [answer, ...puts] = await Promise.all([
            post(`/${container.containerName}?restype=container&comp=batch`, blobs.map(({ name }, id) =>
                deletion(container, name, id, id === 7 ? [['If-None-Match', etag]] : []))),
            ...blobs.filter((_, i) => i !== 7).map((blob) => blob.upload('new', 3)),
        ]);
        assert.equal(puts.filter(({ _response }) => _response.status !== 201).length, 0);
        assert.deepEqual(answer.parts.map(({ status }) => status), blobs.map((_, i) => (i === 7 ? 412 : 202)));
        for (const { name, properties } of await collect(container.listBlobsFlat()))
            assert.equal(properties.contentLength, name === blobs[7].name ? 1 : 3, name);
    }
});

test('parts that fail do not disturb the others', async (t) => {
    // azure-sdk-for-net, BlobBatchClientTests Delete_OneFails, Delete_MultipleFail
    const container = await newContainer(t);
    const [gone, leased, kept, snapped, fine] = await putBlobs(container, 5);
    await gone.delete();
    await leased.getBlobLeaseClient().acquireLease(-1);
    await snapped.createSnapshot();
    const batch = service.getBlobBatchClient().createBatch();
    await batch.deleteBlob(gone);
    await batch.deleteBlob(leased);
    await batch.deleteBlob(kept, { conditions: { ifMatch: '"0x1"' } });
    await batch.deleteBlob(snapped);
    await batch.deleteBlob(fine);
    await batch.deleteBlob(service.getContainerClient('not-there').getBlobClient('b'));
    const { subResponses, subResponsesFailedCount } = await service.getBlobBatchClient().submitBatch(batch);
    assert.deepEqual(subResponses.map(({ status, errorCode }) => [status, errorCode]), [
        [404, 'BlobNotFound'], [412, 'LeaseIdMissing'], [412, 'ConditionNotMet'], [409, 'SnapshotsPresent'],
        [202, undefined], [404, 'ContainerNotFound'],
    ]);
    assert.equal(subResponsesFailedCount, 5);
    assert.equal(subResponses[0].statusMessage, 'The specified blob does not exist.');
    assert.match(subResponses[0].bodyAsText, /<Error><Code>BlobNotFound<\/Code><Message>/);
    assert.deepEqual(await namesOf(container), ['b001', 'b002', 'b003']);
    await leased.getBlobLeaseClient().breakLease(0);
});

test('one blob twice: one part deletes it, the other sees that', async (t) => {
    // recorded: test_batch_delete_two_existing_blob_and_their_snapshot has one 202 and one 404; which of them a
    // part that is done again gets is no promise (decision: 202)
    const { blob } = await newBlob(t);
    const { subResponses } = await service.getBlobBatchClient().deleteBlobs([blob, blob]);
    assert.deepEqual(subResponses.map(({ status }) => status).sort(), [202, 404]);
});

test('snapshots in a batch: of the blob, with it, without it', async (t) => {
    // rest: Delete-Blob; azure-sdk-for-net Delete_DeleteSnapshotOptions
    const container = await newContainer(t);
    const blobs = await putBlobs(container, 3);
    const taken = await Promise.all(blobs.map((blob) => blob.createSnapshot()));
    const batch = service.getBlobBatchClient().createBatch();
    await batch.deleteBlob(blobs[0], { deleteSnapshots: 'include' });
    await batch.deleteBlob(blobs[1], { deleteSnapshots: 'only' });
    await batch.deleteBlob(blobs[2].withSnapshot(taken[2].snapshot));
    const { subResponsesFailedCount } = await service.getBlobBatchClient().submitBatch(batch);
    assert.equal(subResponsesFailedCount, 0);
    assert.deepEqual((await collect(container.listBlobsFlat({ includeSnapshots: true }))).map(({ name }) => name), ['b001', 'b002']);
});

test('of the container: its blobs alone', async (t) => {
    // rest: Blob-Batch "Scope all subrequests to a specific container"
    const container = await newContainer(t);
    const other = await newContainer(t);
    const blobs = await putBlobs(container, 3);
    const [foreign] = await putBlobs(other, 1);
    const client = container.getBlobBatchClient();
    const mixed = await post(`/${container.containerName}?restype=container&comp=batch`,
        [deletion(container, 'b000', 0), deletion(other, 'b000', 1)]);
    assert.deepEqual(mixed.parts.map(({ id, status }) => [id, status]), [[undefined, 400]]);
    assert.equal(mixed.parts[0].headers.get('x-ms-error-code'), 'InvalidInput');
    assert.equal((await namesOf(container)).length, 3);
    assert.equal((await client.deleteBlobs(blobs)).subResponsesSucceededCount, 3);
    assert.deepEqual(await namesOf(container), []);
    assert.equal((await service.getBlobBatchClient().deleteBlobs([foreign])).subResponsesSucceededCount, 1);
});

test('names with every kind of character', async (t) => {
    // azure-sdk-for-net Delete_SpecialCharacters
    const container = await newContainer(t);
    const blobs = ['blob ąęó', 'a/b/c', 'a?b', '100%', 'a+b', '文件', "o'k&x=y"].map((name) => container.getBlockBlobClient(name));
    await Promise.all(blobs.map((blob) => blob.upload('x', 1)));
    assert.equal((await service.getBlobBatchClient().deleteBlobs(blobs)).subResponsesSucceededCount, blobs.length);
    assert.deepEqual(await namesOf(container), []);
});

test('each part is authorized on its own', async (t) => {
    // rest: Blob-Batch "Each subrequest is authorized separately"
    const container = await newContainer(t);
    const blobs = await putBlobs(container, 3);
    const wrong = new StorageSharedKeyCredential(account.name, Buffer.alloc(64, 7).toString('base64'));
    const batch = service.getBlobBatchClient().createBatch();
    await batch.deleteBlob(blobs[0].url, wrong);
    await batch.deleteBlob(blobs[1].url, credential);
    const answer = await service.getBlobBatchClient().submitBatch(batch);
    assert.deepEqual(answer.subResponses.map(({ status, errorCode }) => [status, errorCode]),
        [[403, 'AuthenticationFailed'], [202, undefined]]);
    const late = partRequest({ method: 'DELETE', target: target(container, 'b000') }, { offsetMs: -20 * 60000 });
    const unsigned = { method: 'DELETE', target: target(container, 'b000'), headers: [] };
    const foreign = partRequest({ method: 'DELETE', target: target(container, 'b000') },
        { credentials: { account: 'somebody', key: account.key } });
    const { parts } = await post('/?comp=batch', [late, unsigned, foreign].map((request, id) => ({ id, request })));
    assert.deepEqual(parts.map(({ status, headers }) => [status, headers.get('x-ms-error-code')]), [
        [403, 'AuthenticationFailed'], [401, 'NoAuthenticationInformation'], [403, 'AuthenticationFailed'],
    ]);
    assert.match(parts[0].body, /Request date header too old/);
    assert.deepEqual(await namesOf(container), ['b000', 'b002']);
    // The batch itself is refused before any of its parts is looked at.
    await refused(new BlobBatchClient(url, wrong, once).deleteBlobs([blobs[2].url], credential), 403, 'AuthenticationFailed');
    await refused(new BlobBatchClient(url, undefined, once).deleteBlobs([blobs[2].url], credential), 401, 'NoAuthenticationInformation');
    assert.deepEqual(await namesOf(container), ['b000', 'b002']);
});

test('256 parts are the most', async (t) => {
    // azure-sdk-for-net Batch_Limit: 400 ExceedsMaxBatchRequestCount, as the only part
    const { container } = await newBlob(t);
    const { parts } = await post('/?comp=batch', Array.from({ length: 257 }, (_, id) => deletion(container, 'blob', id)));
    assert.deepEqual(parts.map(({ id, status, reason, headers }) => [id, status, reason, headers.get('x-ms-error-code')]), [
        [undefined, 400, 'The batch operation exceeds maximum number of allowed subrequests.', 'ExceedsMaxBatchRequestCount'],
    ]);
    assert.deepEqual(await namesOf(container), ['blob']);
});

test('4 MiB are the most', async () => {
    // rest: Blob-Batch "can't exceed 4 MB"; .NET issue: 413 of the whole request
    const text = `Content-Type: application/http\r\n\r\nDELETE /c/b HTTP/1.1\r\nx: ${'x'.repeat(4 << 20)}\r\n`;
    await rawRefused(raw('POST', '/?comp=batch', { 'Content-Type': BATCH_TYPE }, batchBody([text])), 413, 'RequestBodyTooLarge');
});

test('a batch that is wrong as a whole is answered 202 with one part, and nothing is done', async (t) => {
    // recorded: BlobBatchClientTest.exceptions 2 and 5; form of the part too
    const { container, blob } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const one = deletion(container, 'blob', 0);
    const tier = { id: 1, request: partRequest({ method: 'PUT', target: `/${account.name}${path}?comp=tier`, headers: [['x-ms-access-tier', 'Cool']] }) };
    const get = { id: 1, request: partRequest({ method: 'GET', target: `/${account.name}${path}` }) };
    const nested = { id: 1, request: partRequest({ method: 'POST', target: `/${account.name}/?comp=batch` }) };
    const boundary = 'multipart/mixed; boundary=batch_of-the-tests';
    const cases = [
        ['no parts', batchBody([]), boundary, 'InvalidInput'],
        ['nothing at all', '', boundary, 'InvalidInput'],
        ['several kinds', batchBody([one, tier]), boundary, 'AllBatchSubRequestsShouldBeSameApi'],
        ['an operation that batches do not have', batchBody([get]), boundary, 'InvalidInput'],
        ['a batch in a batch', batchBody([one, nested]), boundary, 'InvalidInput'],
        ['no last boundary', batchBody([one]).slice(0, -4), boundary, 'InvalidInput'],
        ['something before the first boundary', `\r\n${batchBody([one])}`, boundary, 'InvalidInput'],
        ['lines that end with LF', batchBody([one]).replaceAll('\r\n', '\n'), boundary, 'InvalidInput'],
        ['a body in a part', batchBody([`Content-Type: application/http\r\n\r\nDELETE ${path} HTTP/1.1\r\n\r\nbody`]), boundary, 'InvalidInput'],
        ['not HTTP', batchBody([`Content-Type: text/plain\r\n\r\nDELETE ${path} HTTP/1.1\r\n`]), boundary, 'InvalidInput'],
        ['a URL with its host', batchBody([`Content-Type: application/http\r\n\r\nDELETE http://h${path} HTTP/1.1\r\n`]), boundary, 'InvalidInput'],
        ['no boundary named', batchBody([one]), 'multipart/mixed', 'InvalidHeaderValue'],
        ['another type', batchBody([one]), 'application/json', 'InvalidHeaderValue'],
        ['two boundaries named', batchBody([one]), `${boundary}; boundary=x`, 'InvalidInput'],
    ];
    for (const [what, body, type, code] of cases) {
        const answer = await raw('POST', '/?comp=batch', { 'Content-Type': type, 'x-ms-client-request-id': 'mine' }, body);
        assert.equal(answer.status, 202, what);
        const parts = readBatch(answer.headers.get('content-type'), answer.text);
        assert.deepEqual(parts.map(({ id, status, headers }) => [id, status, headers.get('x-ms-error-code')]), [[undefined, 400, code]], what);
        assert.equal(parts[0].headers.get('x-ms-request-id'), answer.headers.get('x-ms-request-id'));
        assert.equal(parts[0].headers.get('x-ms-client-request-id'), 'mine');
        assert.equal(parts[0].headers.get('content-length'), String(Buffer.byteLength(parts[0].body)));
        assert.match(parts[0].body, /^\ufeff<\?xml version="1.0" encoding="utf-8"\?>\n<Error>/);
    }
    assert.ok(await blob.exists());
    for (const where of ['/?comp=batch', '?comp=batch&restype=container', `/${container.containerName}?comp=batch&restype=container`])
        await rawRefused(raw('POST', where, {}, batchBody([one])), 400, 'MissingRequiredHeader');
});

test('parts as other clients write them', async (t) => {
    // Azure/Azurite issues 1809 (Python, .NET), 2309 (Java), 2413 (boundary with '='); object_store
    // keeps x-ms-version
    const container = await newContainer(t);
    await putBlobs(container, 6);
    const { name } = account;
    const c = container.containerName;
    const signedAs = (path, method = 'DELETE', options) =>
        partRequest({ method, target: path }, options).headers.map(([key, value]) => `${key}: ${value}\r\n`).join('');
    const texts = [
        // Python: below the account, an empty query, one more empty line at the end
        `Content-Type: application/http\r\nContent-ID: 0\r\nContent-Transfer-Encoding: binary\r\n\r\nDELETE /${c}/b000? HTTP/1.1\r\n${signedAs(`/${c}/b000`)}\r\n\r\n`,
        // .NET: no slash at the begin
        `Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 1\r\n\r\nDELETE ${name}/${c}/b001 HTTP/1.1\r\n${signedAs(`/${name}/${c}/b001`)}`,
        // object_store: with a version of its own
        `Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 2\r\n\r\nDELETE /${name}/${c}/b002 HTTP/1.1\r\n${signedAs(`/${name}/${c}/b002`, 'DELETE', { version: '2026-10-06' })}\r\n`,
        // OpenDAL: lower case, no Content-ID
        `content-type: application/http\r\ncontent-transfer-encoding: binary\r\n\r\nDELETE /${name}/${c}/b003 HTTP/1.1\r\n${signedAs(`/${name}/${c}/b003`)}\r\n`,
    ].map((text) => text.replace(/\r\n$/, ''));
    const body = batchBody(texts).replaceAll('batch_of-the-tests', '===============5306085128869334238==');
    const answer = await raw('POST', `/${c}?restype=container&comp=batch`,
        { 'Content-Type': 'multipart/mixed; boundary================5306085128869334238==' }, body);
    const parts = readBatch(answer.headers.get('content-type'), answer.text);
    assert.deepEqual(parts.map(({ id, status }) => [id, status]), [['0', 202], ['1', 202], ['2', 202], [undefined, 202]], answer.text);
    assert.deepEqual(await namesOf(container), ['b004', 'b005']);
    const quoted = await raw('POST', '/?comp=batch', { 'Content-Type': 'Multipart/Mixed; charset=utf-8; Boundary="batch_of-the-tests"' },
        batchBody([deletion(container, 'b004', 'any text')]));
    assert.deepEqual(readBatch(quoted.headers.get('content-type'), quoted.text).map(({ id, status }) => [id, status]), [['any text', 202]]);
});

test('what one part does wrong is its own answer', async (t) => {
    // as if it had come alone
    const { container } = await newBlob(t);
    const { parts } = await post('/?comp=batch', [
        deletion(container, 'blob', 0, [['x-ms-lease-id', 'no id']]),
        deletion(container, 'blob?snapshot=', 1),
        deletion(container, 'blob', 2, [['If-Match', '"a"'], ['If-Match', '"b"']]),
        deletion(container, '%FF', 3),
        deletion(container, 'blob', 4, [['x-ms-delete-snapshots', 'none']]),
        { id: 5, request: partRequest({ method: 'DELETE', target: `/${account.name}/UPPER/blob` }) },
        deletion(container, `blob?${Array.from({ length: 101 }, (_, i) => `p${i}=1`).join('&')}`, 6),
        deletion(container, 'blob', 7),
    ]);
    assert.deepEqual(parts.map(({ id, status, headers }) => [id, status, headers.get('x-ms-error-code')]), [
        ['0', 400, 'InvalidHeaderValue'], ['1', 400, 'InvalidQueryParameterValue'], ['2', 400, 'InvalidHeaderValue'],
        ['3', 400, 'InvalidUri'], ['4', 400, 'InvalidHeaderValue'], ['5', 400, 'InvalidResourceName'],
        ['6', 400, 'InvalidUri'], ['7', 202, undefined],
    ]);
});

test('batches of many clients at once: each blob is deleted by one of them', async (t) => {
    // rest: Blob-Batch "Each subrequest runs independently"
    const container = await newContainer(t);
    const blobs = await putBlobs(container, 100);
    const client = service.getBlobBatchClient();
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) =>
        client.deleteBlobs([...blobs.slice(i * 12), ...blobs.slice(0, i * 12)])));
    const deleted = answers.flatMap(({ subResponses }) => subResponses).filter(({ status }) => status === 202);
    assert.equal(deleted.length, 100);
    assert.ok(answers.every(({ subResponses }) => subResponses.every(({ status }) => status === 202 || status === 404)));
    assert.deepEqual(await namesOf(container), []);
});

test('with a SAS of the container or of the account, in the batch and in its parts', async (t) => {
    // rest: Blob-Batch "Authorization"; azure-sdk-for-net
    // Delete_ContainerScoped_Basic_ContainerSas, Delete_Basic_AccountSas
    const container = await newContainer(t);
    const blobs = await putBlobs(container, 6);
    const expiresOn = new Date(Date.now() + 600000);
    const may = (permissions) => container.generateSasUrl({ permissions: ContainerSASPermissions.parse(permissions), expiresOn });
    const withQuery = (blob, sasUrl) => `${blob.url}?${new URL(sasUrl).search.slice(1)}`;
    const anonymous = new AnonymousCredential();
    const all = new BlobBatchClient(await may('racwdl'), anonymous, once);
    const deleted = await all.deleteBlobs([withQuery(blobs[0], await may('d')), withQuery(blobs[1], await may('r')), withQuery(blobs[2], await may('rd'))], anonymous);
    assert.deepEqual(deleted.subResponses.map(({ status, errorCode }) => [status, errorCode]),
        [[202, undefined], [403, 'AuthorizationPermissionMismatch'], [202, undefined]]);
    const accountSas = service.generateAccountSasUrl(expiresOn, AccountSASPermissions.parse('rwdl'), 'sco');
    const client = new BlobServiceClient(accountSas, anonymous, once).getBlobBatchClient();
    const more = await client.deleteBlobs([withQuery(blobs[3], accountSas), withQuery(blobs[4], await may('d'))], anonymous);
    assert.deepEqual(more.subResponses.map(({ status }) => status), [202, 202]);
    assert.deepEqual(await namesOf(container), ['b001', 'b005']);
});

test('a crash in the middle: each part is done or not done, and what was done before stays', async (t) => {
    // rest: Blob-Batch "isn't atomic"; base/gate.h
    const server = await Server.start();
    t.after(() => server.kill().then(() => server.remove()));
    const container = () => new BlobServiceClient(server.url, credential, once).getContainerClient('box');
    await container().create();
    await putBlobs(container(), 30);
    const part = (id, headers = []) => ({
        id, request: partRequest({ method: 'DELETE', target: `/${account.name}/box/b${String(id).padStart(3, '0')}`, headers }),
    });
    const send = (parts) => raw('POST', '/box?restype=container&comp=batch', { 'Content-Type': BATCH_TYPE }, batchBody(parts), { base: server });
    const first = await send([part(0), part(1)]);
    assert.deepEqual(readBatch(first.headers.get('content-type'), first.text).map(({ status }) => status), [202, 202]);
    await assert.rejects(send(Array.from({ length: 28 }, (_, i) => part(i + 2, i === 18 ? [['x-lagra-gate', 'decided=kill']] : []))));
    await server.ended();
    await server.restart();
    const left = await namesOf(container());
    // The parts before the twentieth were committed, and perhaps not durable.
    assert.ok(!left.includes('b000') && !left.includes('b001'));
    assert.deepEqual(left.slice(-10), Array.from({ length: 10 }, (_, i) => `b0${i + 20}`));
    for (const name of left)
        assert.equal((await container().getBlobClient(name).downloadToBuffer()).toString(), 'x');
    const rest = await container().getBlobBatchClient().deleteBlobs(left.map((name) => container().getBlobClient(name)));
    assert.equal(rest.subResponsesFailedCount, 0);
    await server.stop({ keep: true });
});
