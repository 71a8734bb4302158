// The service itself through the SDK: properties with CORS rules, account information, the
// secondary endpoint, the account in the host name.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';
import { account, collect, credential, newBlob, newContainer, once, port, refused, service, url }
    from './setup.mjs';

const PROPERTIES = '/?restype=service&comp=properties';
const rule = (origin) => ({
    allowedOrigins: origin, allowedMethods: 'GET,PUT', allowedHeaders: 'content-type,x-ms-meta-*',
    exposedHeaders: 'x-ms-*', maxAgeInSeconds: 200,
});

// On a server of its own: rules show in answers to whoever asks for what is the account's.
test('service properties: what is set is read back; what is not named stays', async (t) => {
    // rest: Set-Blob-Service-Properties, Get-Blob-Service-Properties
    const server = await Server.start({ args: ['--inMemoryPersistence'] });
    t.after(() => server.kill().then(() => server.remove()));
    const service = new BlobServiceClient(server.url, credential, once);
    const base = { host: '127.0.0.1', port: Number(new URL(server.url).port) };
    await service.setProperties({ cors: [] });
    const empty = await service.getProperties();
    assert.equal(empty._response.status, 200);
    assert.deepEqual(empty.cors, []);
    assert.equal(empty.blobAnalyticsLogging.read, false);
    assert.equal(empty.hourMetrics.enabled, false);
    assert.equal(empty.minuteMetrics.enabled, false);
    assert.equal(empty.deleteRetentionPolicy.enabled, false);
    assert.equal(empty.staticWebsite.enabled, false);

    const rules = [rule('http://www.example.com'), { ...rule('*'), maxAgeInSeconds: 0 }];
    const set = await service.setProperties({ cors: rules });
    assert.equal(set._response.status, 202);
    assert.deepEqual((await service.getProperties()).cors, rules);
    await service.setProperties({ staticWebsite: { enabled: false } });
    assert.deepEqual((await service.getProperties()).cors, rules);
    // What was read can be set again.
    const { blobAnalyticsLogging, hourMetrics, minuteMetrics, cors, deleteRetentionPolicy,
        staticWebsite } = await service.getProperties();
    await service.setProperties({
        blobAnalyticsLogging, hourMetrics, minuteMetrics, cors, deleteRetentionPolicy,
        staticWebsite,
    });
    assert.deepEqual((await service.getProperties()).cors, rules);

    // semantics 10.1: at most five rules
    await refused(service.setProperties({ cors: Array(6).fill(rule('*')) }), 400,
        'InvalidXmlDocument');
    await rawRefused(raw('PUT', PROPERTIES, {}, '<StorageServiceProperties><Cors>', { base }),
        400, 'InvalidXmlDocument');
    assert.deepEqual((await service.getProperties()).cors, rules);
});

test('account information, of the service, a container and a blob', async (t) => {
    // rest: Get-Account-Information
    const { container, blob } = await newBlob(t);
    for (const client of [service, container, blob]) {
        const got = await client.getAccountInfo();
        assert.equal(got._response.status, 200);
        assert.equal(got.skuName, 'Standard_LRS');
        assert.equal(got.accountKind, 'StorageV2');
        assert.equal(got.isHierarchicalNamespaceEnabled, false);
    }
    const head = await raw('HEAD', '/?restype=account&comp=properties');
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('x-ms-sku-name'), 'Standard_LRS');
});

test('statistics are those of the secondary endpoint', async () => {
    // rest: Get-Blob-Service-Stats; recorded at the primary; decision: 65
    const secondary = new BlobServiceClient(url.replace(account.name, `${account.name}-secondary`),
        credential, once);
    const { geoReplication } = await secondary.getStatistics();
    assert.equal(geoReplication.status, 'live');
    assert(Math.abs(geoReplication.lastSyncOn - Date.now()) < 3600000);
    await refused(service.getStatistics(), 400, 'InvalidQueryParameterValue');
});

test('the secondary endpoint reads, and refuses writes', async (t) => {
    // decision: 10; rest: Authorize-with-Shared-Key: the resource is signed without "-secondary"
    const { container, blob, etag } = await newBlob(t);
    const secondary = new BlobServiceClient(url.replace(account.name, `${account.name}-secondary`),
        credential, once);
    const there = secondary.getContainerClient(container.containerName);
    assert.deepEqual((await collect(there.listBlobsFlat())).map(({ name }) => name), ['blob']);
    assert.equal((await there.getBlobClient('blob').getProperties()).etag, etag);
    assert.equal((await there.getBlobClient('blob').downloadToBuffer()).toString(), 'content');
    for (const write of [
        () => there.getBlockBlobClient('blob').upload('x', 1), () => there.delete(),
        () => there.setMetadata({}), () => there.getBlobClient('blob').delete(),
        () => secondary.setProperties({ cors: [] }),
    ])
        await refused(write(), 403, 'InsufficientAccountPermissions');
    assert.equal((await blob.getProperties()).etag, etag);
});

test('the account in the host name', async (t) => {
    // as Azure and Azurite have it: http://ACCOUNT.blob.localhost
    const container = await newContainer(t);
    const Host = `${account.name}.blob.localhost:${port}`;
    const target = `/${container.containerName}/a%20b`;
    const put =
        await raw('PUT', '', { Host, 'x-ms-blob-type': 'BlockBlob' }, 'content', { target });
    assert.equal(put.status, 201, put.text);
    const got = await raw('GET', '', { Host }, '', { target });
    assert.equal(got.status, 200);
    assert.equal(got.text, 'content');
    assert.equal((await container.getBlobClient('a b').downloadToBuffer()).toString(), 'content');
    const list = await raw('GET', '', { Host }, '',
        { target: `/${container.containerName}?restype=container&comp=list` });
    assert.ok(list.text.includes(`ServiceEndpoint="http://${Host}/"`), list.text);
    await rawRefused(raw('GET', '', { Host: `other.blob.localhost:${port}` }, '', { target }),
        403, 'AuthenticationFailed');
    // A host that only looks like it: the account is in the path.
    const path =
        await raw('GET', `/${container.containerName}/a%20b`, { Host: 'storage.example.com' });
    assert.equal(path.status, 200);
});

test('the version that is asked for is answered; any date is taken', async (t) => {
    // decision: 1, 9
    const { container } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    for (const version of ['2015-02-21', '2019-12-12', '2026-10-06', '2031-12-31']) {
        const answer = await raw('GET', path, {}, '', { version });
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.get('x-ms-version'), version);
    }
    await rawRefused(raw('GET', path, {}, '', { version: 'latest' }), 400, 'InvalidHeaderValue');
    await rawRefused(raw('GET', path, {}, '', { version: '2019-13-01' }), 400,
        'InvalidHeaderValue');
});

test('every answer carries its request id, and the client\'s', async (t) => {
    // semantics 2
    const { container } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const ids = new Set();
    for (let n = 0; n < 20; n++) {
        const answer =
            await raw('GET', n % 2 ? path : `${path}no`, { 'x-ms-client-request-id': `c-${n}` });
        assert.match(answer.headers.get('x-ms-request-id'), /^[0-9a-f-]{36}$/);
        assert.equal(answer.headers.get('x-ms-client-request-id'), `c-${n}`);
        assert.ok(Math.abs(Date.parse(answer.headers.get('date')) - Date.now()) < 60000);
        ids.add(answer.headers.get('x-ms-request-id'));
    }
    assert.equal(ids.size, 20);
    const long = await raw('GET', path, { 'x-ms-client-request-id': 'i'.repeat(1025) });
    assert.equal(long.status, 200);
    assert.equal(long.headers.get('x-ms-client-request-id'), undefined);
});

test('an error tells its code, its message, its request', async (t) => {
    // semantics 10.2
    const container = await newContainer(t);
    const answer = await raw('GET', `/${container.containerName}/none`);
    assert.equal(answer.status, 404);
    assert.equal(answer.headers.get('content-type'), 'application/xml');
    assert.match(answer.text,
        new RegExp('^\uFEFF<\\?xml version="1.0" encoding="utf-8"\\?>\\s*<Error>' +
        '<Code>BlobNotFound</Code><Message>The specified blob does not exist.\n' +
        `RequestId:${answer.headers.get('x-ms-request-id')}\n` +
        'Time:\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{7}Z</Message></Error>$'));
    const head = await raw('HEAD', `/${container.containerName}/none`);
    assert.equal(head.status, 404);
    assert.equal(head.code, 'BlobNotFound');
    assert.equal(head.body.length, 0);
});

test('a selector that there is not, a verb that does not fit', async (t) => {
    // rest: Status-and-Error-Codes2
    const { container } = await newBlob(t);
    const path = `/${container.containerName}`;
    await rawRefused(raw('GET', `${path}/blob?comp=nothing`), 400, 'InvalidQueryParameterValue');
    await rawRefused(raw('DELETE', `${path}/blob?comp=blocklist`), 405, 'UnsupportedHttpVerb');
    await rawRefused(raw('POST', `${path}/blob`), 405, 'UnsupportedHttpVerb');
    await rawRefused(raw('PUT', `${path}/blob`), 400, 'MissingRequiredHeader');
    await rawRefused(raw('PUT', `${path}/blob`, { 'x-ms-blob-type': 'Block' }), 400,
        'InvalidHeaderValue');
});
