// Shared access signatures as @azure/storage-blob makes them: account, container, blob, snapshot,
// stored policies; and who presents nothing.
// rest: Create-account-SAS, Create-service-SAS, Define-stored-access-policy
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import {
    AccountSASPermissions, AnonymousCredential, BlobSASPermissions, BlobServiceClient,
    ContainerSASPermissions, generateAccountSASQueryParameters, generateBlobSASQueryParameters, SASProtocol,
} from '@azure/storage-blob';
import { raw, rawRefused } from './raw.mjs';
import { account, collect, containerName, credential, newBlob, once, refused, url } from './setup.mjs';

const soon = () => new Date(Date.now() + 600000);
const ago = () => new Date(Date.now() - 600000);
const holder = (sas) => new BlobServiceClient(`${url}?${sas}`, new AnonymousCredential(), once);
const anonymous = new BlobServiceClient(url, new AnonymousCredential(), once);

const accountSas = (permissions, more = {}) => generateAccountSASQueryParameters({
    permissions: AccountSASPermissions.parse(permissions), services: 'b', resourceTypes: 'sco', expiresOn: soon(), ...more,
}, credential);
const containerSas = (container, permissions, more = {}) => generateBlobSASQueryParameters({
    containerName: container.containerName,
    permissions: permissions && ContainerSASPermissions.parse(permissions), expiresOn: permissions && soon(), ...more,
}, credential);
const blobSas = (container, permissions, more = {}) => generateBlobSASQueryParameters({
    containerName: container.containerName, blobName: 'blob',
    permissions: BlobSASPermissions.parse(permissions), expiresOn: soon(), ...more,
}, credential);

test('an account SAS does what its letters say', async () => {
    const all = holder(accountSas('rwdlac'));
    const container = all.getContainerClient(containerName());
    await container.create();
    const blob = container.getBlockBlobClient('b');
    await blob.upload('content', 7);
    assert.equal((await blob.downloadToBuffer()).toString(), 'content');
    assert.equal((await collect(container.listBlobsFlat())).length, 1);
    await all.getProperties();
    const name = container.containerName;
    const reader = holder(accountSas('r')).getContainerClient(name);
    await reader.getProperties();
    await refused(reader.delete(), 403, 'AuthorizationPermissionMismatch');
    await refused(reader.getBlockBlobClient('b').upload('x', 1), 403, 'AuthorizationPermissionMismatch');
    await refused(collect(reader.listBlobsFlat()), 403, 'AuthorizationPermissionMismatch');
    const objects = holder(accountSas('rwdl', { resourceTypes: 'o' })).getContainerClient(name);
    await objects.getBlobClient('b').getProperties();
    await refused(objects.getProperties(), 403, 'AuthorizationResourceTypeMismatch');
    const queues = holder(accountSas('rwdl', { services: 'q' })).getContainerClient(name);
    await refused(queues.getProperties(), 403, 'AuthorizationServiceMismatch');
    await refused(all.getContainerClient(name).getAccessPolicy(), 403, 'AuthorizationFailure');
    await container.delete();
});

test('the SAS of a container, of a blob and of a snapshot', async (t) => {
    const { container, blob } = await newBlob(t);
    const name = container.containerName;
    const snapshot = (await blob.createSnapshot()).snapshot;
    const of = (sas) => holder(sas).getContainerClient(name);

    const all = of(containerSas(container, 'racwdl'));
    assert.equal((await all.getBlobClient('blob').downloadToBuffer()).toString(), 'content');
    await all.getBlobClient('blob').withSnapshot(snapshot).getProperties();
    assert.equal((await collect(all.listBlobsFlat())).length, 1);
    await refused(all.getProperties(), 403, 'AuthorizationFailure');
    await refused(all.delete(), 403, 'AuthorizationFailure');
    await refused(all.getAccessPolicy(), 403, 'AuthorizationFailure');
    await refused(holder(containerSas(container, 'l')).getProperties(), 403, 'AuthenticationFailed');

    const reader = of(blobSas(container, 'r'));
    await reader.getBlobClient('blob').downloadToBuffer();
    await refused(reader.getBlobClient('other').downloadToBuffer(), 403, 'AuthenticationFailed');
    await refused(collect(reader.listBlobsFlat()), 403, 'AuthenticationFailed');
    await refused(reader.getBlobClient('blob').delete(), 403, 'AuthorizationPermissionMismatch');
    const seen = of(blobSas(container, 'r', { snapshotTime: snapshot }));
    await seen.getBlobClient('blob').withSnapshot(snapshot).downloadToBuffer();
    await refused(seen.getBlobClient('blob').downloadToBuffer(), 403, 'AuthenticationFailed');
});

/** A SAS for reading the blob `blob`, of a version that the SDK does not make any more. rest: Create-service-SAS */
function oldSas({ containerName: name }, version) {
    const expiry = soon().toISOString().replace(/\.\d+/, '');
    const text = ['r', '', expiry, `/${account.name}/${name}/blob`, '', version, '', '', '', '', ''].join('\n');
    const signature = createHmac('sha256', Buffer.from(account.key, 'base64')).update(text).digest('base64');

    return new URLSearchParams({ sp: 'r', se: expiry, sv: version, sr: 'b', sig: signature });
}

/** The SAS of a directory by hand: the SDK's permissions of blobs have no "l". */
function directorySas(container, directory, permissions, fields = {}) {
    const sv = '2026-10-06', se = `${soon().toISOString().slice(0, 19)}Z`;
    const string = [permissions, '', se, `/blob/${account.name}/${container.containerName}/${directory}`, '', '', '', sv, 'd', ...Array(7).fill('')];
    const sig = createHmac('sha256', Buffer.from(account.key, 'base64')).update(string.join('\n')).digest('base64');
    return new URLSearchParams({ sv, sr: 'd', sdd: directory.split('/').length, sp: permissions, se, sig, ...fields }).toString();
}

test('the SAS of a directory, as the SDK makes it: the blobs below it, and none else', async (t) => {
    const { container } = await newBlob(t);
    const name = container.containerName;
    const directory = '2026/ä b%2F';
    for (const blobName of [`${directory}/x`, `${directory}/y/z`, `${directory}x/y`, directory, '2026/other'])
        await container.getBlockBlobClient(blobName).upload('content', 7);
    const snapshot = (await container.getBlobClient(`${directory}/x`).createSnapshot()).snapshot;
    await container.setAccessPolicy(undefined, [{ id: 'readers', accessPolicy: { permissions: 'r', expiresOn: soon() } }]);
    const sas = (permissions, more = {}) => blobSas(container, permissions, { blobName: directory, isDirectory: true, ...more });
    const of = (query) => holder(query).getContainerClient(name);

    assert.match(`${sas('r')}`, /sr=d.*sdd=2/);
    for (const version of ['2020-02-10', '2020-12-06', '2022-11-02', '2026-04-06', '2026-10-06']) {
        const reader = of(sas('r', { version }));
        for (const below of ['x', 'y/z'])
            assert.equal((await reader.getBlobClient(`${directory}/${below}`).downloadToBuffer()).toString(), 'content', version);
        for (const outside of [`${directory}x/y`, directory, '2026/other', 'blob', `${directory}/../other`])
            await refused(reader.getBlobClient(outside).getProperties(), 403, 'AuthenticationFailed');
    }
    const all = of(sas('racwdt', { contentType: 'text/x' }));
    await all.getBlobClient(`${directory}/x`).withSnapshot(snapshot).getProperties();
    assert.equal((await all.getBlobClient(`${directory}/x`).download()).contentType, 'text/x');
    await all.getBlockBlobClient(`${directory}/new/one`).upload('new', 3);
    await all.getBlobClient(`${directory}/new/one`).setTags({ a: 'b' });
    await all.getBlobClient(`${directory}/new/one`).delete();
    await refused(all.getBlockBlobClient('2026/new').upload('new', 3), 403, 'AuthenticationFailed');
    for (const call of [() => all.getProperties(), () => all.delete(), () => all.getAccessPolicy(), () => collect(all.listBlobsFlat()),
        () => collect(all.findBlobsByTags("a='b'"))])
        await refused(call(), 403, 'AuthenticationFailed');
    await refused(of(sas('r')).getBlockBlobClient(`${directory}/x`).upload('x', 1), 403, 'AuthorizationPermissionMismatch');
    const byPolicy = of(generateBlobSASQueryParameters({ containerName: name, blobName: directory, isDirectory: true, identifier: 'readers' }, credential));
    await byPolicy.getBlobClient(`${directory}/x`).getProperties();
    await container.setAccessPolicy(undefined, []);
    await refused(byPolicy.getBlobClient(`${directory}/x`).getProperties(), 403, 'AuthenticationFailed');
    // Of the depth, and of no other.
    for (const depth of ['1', '3', '0', '02x', ''])
        await rawRefused(raw('GET', `/${name}/2026/${encodeURIComponent('ä b%2F')}/y/z?${`${sas('r')}`.replace('sdd=2', `sdd=${depth}`)}`,
            { 'x-ms-version': '2026-10-06' }, '', { signed: false }), 403, 'AuthenticationFailed');
});

test('the SAS of a directory lists it, with the directory and a slash as the prefix', async (t) => {
    const { container } = await newBlob(t);
    for (const name of ['a/b/c', 'a/b/d/e', 'a/b', 'a/bc/d', 'a/x'])
        await container.getBlockBlobClient(name).upload('content', 7);
    const of = (query) => holder(query).getContainerClient(container.containerName);
    const lister = of(directorySas(container, 'a/b', 'rl'));
    const names = async (prefix, found = []) => {
        for await (const page of lister.listBlobsFlat({ prefix }).byPage({ maxPageSize: 1 }))
            found.push(...page.segment.blobItems.map(({ name }) => name));
        return found;
    };

    assert.deepEqual(await names('a/b/'), ['a/b/c', 'a/b/d/e']);
    assert.deepEqual(await names('a/b/d'), ['a/b/d/e']);
    const folders = [];
    for await (const { name } of lister.listBlobsByHierarchy('/', { prefix: 'a/b/' }))
        folders.push(name);
    assert.deepEqual(folders.sort(), ['a/b/c', 'a/b/d/']);
    await lister.getBlobClient('a/b/c').getProperties();
    for (const prefix of ['a/b', 'a/bc/', 'a/', 'a', undefined, '/a/b/'])
        await refused(names(prefix), 403, 'AuthenticationFailed');
    const reader = of(directorySas(container, 'a/b', 'r'));
    await refused(collect(reader.listBlobsFlat({ prefix: 'a/b/' })), 403, 'AuthorizationPermissionMismatch');
});

test('create alone makes new blobs, and overwrites none', async (t) => {
    const { container } = await newBlob(t);
    const maker = holder(containerSas(container, 'c')).getContainerClient(container.containerName);
    await maker.getBlockBlobClient('new').upload('1', 1);
    await refused(maker.getBlockBlobClient('new').upload('2', 1), 403, 'UnauthorizedBlobOverwrite');
    await refused(maker.getBlobClient('new').getProperties(), 403, 'AuthorizationPermissionMismatch');
});

test('times, protocol and addresses', async (t) => {
    const { container } = await newBlob(t);
    const ask = (more) => holder(blobSas(container, 'r', more)).getContainerClient(container.containerName)
        .getBlobClient('blob').getProperties();
    await ask({ startsOn: ago() });
    await ask({ protocol: SASProtocol.HttpsAndHttp, ipRange: { start: '127.0.0.1' } });
    await refused(ask({ expiresOn: ago() }), 403, 'AuthenticationFailed');
    await refused(ask({ startsOn: new Date(Date.now() + 300000) }), 403, 'AuthenticationFailed');
    await refused(ask({ protocol: SASProtocol.Https }), 403, 'AuthorizationProtocolMismatch');
    await refused(ask({ ipRange: { start: '10.0.0.1', end: '10.0.0.9' } }), 403, 'AuthorizationSourceIPMismatch');
});

test('what refuses is told in words that find the mistake', async (t) => {
    const { container } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const ask = (sas) => raw('GET', `${path}?${sas}`, {}, '', { signed: false });
    const wrong = String(blobSas(container, 'r')).replace('sp=r', 'sp=rw');
    const answer = await rawRefused(ask(wrong), 403, 'AuthenticationFailed');
    assert.ok(answer.text.includes('<AuthenticationErrorDetail>Signature did not match. String to sign used was rw\n\n'),
        answer.text);
    const late = await rawRefused(ask(blobSas(container, 'r', { startsOn: ago(), expiresOn: new Date(Date.now() - 1000) })),
        403, 'AuthenticationFailed');
    assert.match(late.text, /time frame: Start \[.* GMT\] - Expiry \[.* GMT\] - Current \[.* GMT\]</);
    const elsewhere = await rawRefused(ask(blobSas(container, 'r', { ipRange: { start: '10.0.0.1' } })),
        403, 'AuthorizationSourceIPMismatch');
    assert.match(elsewhere.text, /using this source IP 127\.0\.0\.1\./);
    assert.equal((await ask(`${blobSas(container, 'r', { encryptionScope: 'scope' })}`)).status, 200); // does not restrict reads
});

test('the headers of an answer that a SAS sets', async (t) => {
    const { container } = await newBlob(t, 'content', { blobHTTPHeaders: { blobContentType: 'text/html' } });
    const sas = blobSas(container, 'r', {
        cacheControl: 'no-store', contentDisposition: 'attachment; filename="a b"', contentEncoding: 'identity',
        contentLanguage: 'en', contentType: 'text/plain',
    });
    for (const method of ['GET', 'HEAD']) {
        const answer = await raw(method, `/${container.containerName}/blob?${sas}`, {}, '', { signed: false });
        assert.equal(answer.status, 200, answer.text);
        const got = ['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-type']
            .map((name) => answer.headers.get(name));
        assert.deepEqual(got, ['no-store', 'attachment; filename="a b"', 'identity', 'en', 'text/plain']);
    }
    const plain = await raw('GET', `/${container.containerName}/blob`);
    assert.equal(plain.headers.get('content-type'), 'text/html');
});

test('a stored policy permits, and no longer once it is taken back', async (t) => {
    const { container } = await newBlob(t);
    const policy = { id: 'readers', accessPolicy: { permissions: 'r', expiresOn: soon() } };
    await container.setAccessPolicy(undefined, [policy]);
    const blob = holder(containerSas(container, undefined, { identifier: 'readers' }))
        .getContainerClient(container.containerName).getBlobClient('blob');
    await blob.downloadToBuffer();
    await refused(blob.delete(), 403, 'AuthorizationPermissionMismatch');
    const both = holder(containerSas(container, 'r', { identifier: 'readers' }))
        .getContainerClient(container.containerName).getBlobClient('blob');
    await refused(both.downloadToBuffer(), 403, 'AuthenticationFailed');
    await container.setAccessPolicy(undefined, [{ ...policy, accessPolicy: { permissions: 'r', expiresOn: ago() } }]);
    await refused(blob.downloadToBuffer(), 403, 'AuthenticationFailed');
    await container.setAccessPolicy(undefined, [policy]);
    await blob.downloadToBuffer();
    await container.setAccessPolicy();
    await refused(blob.downloadToBuffer(), 403, 'AuthenticationFailed');
    await refused(blob.getBlockBlobClient().upload('x', 1), 403, 'AuthenticationFailed');
});

test('versions: of the request, of the query, of the SAS; one that nobody knows yet', async (t) => {
    // rest: Versioning-for-the-Azure-Storage-services; decision: 71
    const { container } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const version = async (sas, headers = {}) => (await raw('GET', `${path}?${sas}`, headers, '', { signed: false }))
        .headers.get('x-ms-version');
    const sas = blobSas(container, 'r', { version: '2020-12-06' });
    assert.equal(await version(sas), '2020-12-06');
    assert.equal(await version(`${sas}&api-version=2021-08-06`), '2021-08-06');
    assert.equal(await version(sas, { 'x-ms-version': '2019-12-12' }), '2019-12-12');
    // One of a version before api-version existed overrides both. rest: Previous-Azure-Storage-service-versions
    const newer = { 'x-ms-version': '2019-12-12' };
    assert.equal(await version(`${oldSas(container, '2013-08-15')}&api-version=2021-08-06`, newer), '2013-08-15');
    assert.equal(await version(oldSas(container, '2014-02-14'), newer), '2019-12-12');
    for (const known of ['2015-04-05', '2018-11-09', '2020-02-10', '2026-10-06', '2040-01-01'])
        assert.equal(await version(blobSas(container, 'r', { version: known })), known);
});

test('breaking a lease: by the permission to delete since 2017-07-29', async (t) => {
    // rest: Version-2017-07-29
    for (const [version, letters, status] of [['2017-07-28', 'd', 403], ['2017-07-28', 'w', 202], ['2017-07-28', 'wd', 202],
        ['2017-07-29', 'd', 202], ['2017-07-29', 'r', 403], ['2026-10-06', 'd', 202]]) {
        const { container } = await newBlob(t);
        await container.getBlobClient('blob').getBlobLeaseClient().acquireLease(15);
        const answer = await raw('PUT', `/${container.containerName}/blob?comp=lease&${blobSas(container, letters, { version })}`,
            { 'x-ms-lease-action': 'break', 'x-ms-version': '2026-10-06' }, '', { signed: false });
        assert.equal(answer.status, status, `${version} ${letters}: ${answer.text}`);
    }
});

test('nobody: what is public, and how the rest is refused', async (t) => {
    // decision: 11; rest: Configure anonymous read access
    const { container } = await newBlob(t);
    const name = container.containerName, path = `/${name}`;
    const ask = (target, version) =>
        raw('GET', target, version ? { 'x-ms-version': version } : {}, '', { signed: false });
    const open = anonymous.getContainerClient(name);

    const challenged = await rawRefused(ask(`${path}/blob`, '2021-04-10'), 401, 'NoAuthenticationInformation');
    assert.match(challenged.headers.get('www-authenticate'), /^Bearer authorization_uri=/);
    for (const target of [`${path}/blob`, `${path}/none`, '/none-such/blob', `${path}?restype=container`, '/?comp=list'])
        await rawRefused(ask(target), 404, 'ResourceNotFound');
    await rawRefused(ask(`${path}/blob`, '2018-11-09'), 404, 'ResourceNotFound');

    await container.setAccessPolicy('blob');
    assert.equal((await open.getBlobClient('blob').downloadToBuffer()).toString(), 'content');
    await open.getBlobClient('blob').getProperties();
    await open.getBlockBlobClient('blob').getBlockList('committed');
    await refused(open.getBlockBlobClient('blob').getBlockList('all'), 401, 'NoAuthenticationInformation');
    await refused(open.getProperties(), 401, 'NoAuthenticationInformation');
    await refused(collect(open.listBlobsFlat()), 401, 'NoAuthenticationInformation');
    await refused(open.getBlobClient('none').getProperties(), 404, 'BlobNotFound');
    await container.setAccessPolicy('container');
    assert.equal((await collect(open.listBlobsFlat())).length, 1);
    await open.getProperties();
    await refused(open.getAccessPolicy(), 401, 'NoAuthenticationInformation');
    await refused(open.getBlockBlobClient('blob').upload('x', 1), 401, 'NoAuthenticationInformation');
    await refused(open.getBlobClient('blob').delete(), 401, 'NoAuthenticationInformation');
    await refused(collect(anonymous.listContainers()), 401, 'NoAuthenticationInformation');
    await container.setAccessPolicy();
    await refused(open.getBlobClient('blob').downloadToBuffer(), 401, 'NoAuthenticationInformation');
});

test('a container that is not there, with a SAS', async () => {
    const sas = accountSas('rwdl');
    const missing = holder(sas).getContainerClient(containerName());
    await refused(missing.getProperties(), 404, 'ContainerNotFound');
    await refused(missing.getBlobClient('b').getProperties(), 404, 'ContainerNotFound');
    const byPolicy = holder(containerSas(missing, undefined, { identifier: 'p' }))
        .getContainerClient(missing.containerName);
    await refused(byPolicy.getBlobClient('b').downloadToBuffer(), 403, 'AuthenticationFailed');
    await refused(byPolicy.getBlockBlobClient('b').upload('x', 1), 403, 'AuthenticationFailed');
});
