// Bearer tokens, user delegation keys and what they sign, key rotation: on servers of their own,
// over HTTPS, with keys made here.
// rest: Authorize-with-Azure-Active-Directory, Get-User-Delegation-Key, Create-user-delegation-SAS
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once as event } from 'node:events';
import { writeFile } from 'node:fs/promises';
import https from 'node:https';
import { test } from 'node:test';
import { TableClient, TableServiceClient } from '@azure/data-tables';
import { setTimeout as delay } from 'node:timers/promises';
import {
    AnonymousCredential, BlobSASPermissions, BlobServiceClient, ContainerSASPermissions,
    generateBlobSASQueryParameters, StorageSharedKeyCredential,
} from '@azure/storage-blob';
import {
    FileSASPermissions, ShareClient, ShareFileClient, ShareSASPermissions, ShareServiceClient, generateFileSASQueryParameters,
} from '@azure/storage-file-share';
import { QueueClient, QueueSASPermissions, QueueServiceClient, generateQueueSASQueryParameters } from '@azure/storage-queue';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { collect, credential, once, refused } from './setup.mjs';
import { refusedTable } from './tables-setup.mjs';
import { base64url, claimsOf, ISSUER, jwks, rsa, seconds, serveSecurely, TENANT, tokenOf } from './tokens-setup.mjs';

const OWNER = '11111111-1111-1111-1111-111111111111';
const READER = '33333333-3333-3333-3333-333333333333';
const STRANGER = '44444444-4444-4444-4444-444444444444';
const WRITER = '55555555-5555-5555-5555-555555555555';

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });

/* Azure Storage's own application id. */
const STORAGE_ID = 'e406a681-f3d4-42a8-90b6-c2b029497af1';

const PLACE = '/subscriptions/x/resourceGroups/y';
const accountIn = (place, name) => `${place}/providers/Microsoft.Storage/storageAccounts/${name}`;
const HERE = accountIn(PLACE, DEVELOPMENT.account);
const ROLES = JSON.stringify([
    { principalId: OWNER, roleDefinitionName: 'Storage Blob Data Owner', scope: '/subscriptions/x' },
    { principalId: OWNER, roleDefinitionName: 'Storage Account Contributor', scope: '/' },
    { principalId: OWNER, roleDefinitionName: 'Storage Queue Data Message Sender', scope: '/subscriptions/X' },
    { principalId: OWNER, roleDefinitionName: 'Storage Queue Data Reader', scope: PLACE },
    { principalId: OWNER, roleDefinitionName: 'Storage Table Data Contributor', scope: HERE },
    { principalId: READER, roleDefinitionName: 'Storage Table Data Reader', scope: '/subscriptions/x' },
    { principalId: READER, roleDefinitionName: 'Storage File Data Privileged Reader', scope: HERE },
    { principalId: WRITER, roleDefinitionName: 'Storage File Data Privileged Contributor', scope: HERE },
    { principalId: WRITER, roleDefinitionName: 'Storage File Delegator', scope: HERE },
    { principalId: STRANGER, roleDefinitionName: 'Storage Table Data Contributor',
        scope: `${HERE}/tableServices/default/tables/Shared` },
    { principalId: READER, roleDefinitionName: 'Storage Blob Data Reader', condition: null,
        scope: `${HERE.toUpperCase()}/blobServices/default/containers/shared` },
    { principalId: READER, roleDefinitionName: 'Storage Blob Delegator', scope: '/subscriptions/x' },
    // None of these holds the account.
    ...[accountIn(PLACE, 'another'), '/subscriptions/x/resourceGroups/dev', '/subscriptions/w',
        accountIn('/subscriptions/x/resourceGroups/dev', DEVELOPMENT.account), `${PLACE}/providers/Microsoft.KeyVault/vaults/v`,
        '/providers/Microsoft.Management/managementGroups/m'].map((scope) =>
        ({ principalId: STRANGER, roleDefinitionName: 'Storage Blob Data Owner', scope })),
]);

/** See serveSecurely(). */
const serve = (t, args) => serveSecurely(t, ['--accountsFile', 'FOLDER/accounts', ...args], {
    'keys.json': jwks(['rsa', rsa], ['ec', ec]),
    'roles.json': ROLES,
    'places.json': JSON.stringify([{ id: HERE, name: DEVELOPMENT.account, kind: 'StorageV2' }]),
    accounts: `# one a line\n${DEVELOPMENT.account}:${DEVELOPMENT.key}\n`,
});

const options = (server) => ({ ...once, tlsOptions: { ca: server.ca } });
const bearer = (server, token) => new BlobServiceClient(server.url,
    { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 600000 }) }, options(server));
const byKey = (server) => new BlobServiceClient(server.url, credential, options(server));
const bySas = (server, sas) => new BlobServiceClient(`${server.url}?${sas}`, new AnonymousCredential(), options(server));
const CHECKED = ['--oauthIssuer', ISSUER, '--oauthKeys', 'FOLDER/keys.json', '--oauthRoles', 'FOLDER/roles.json',
    '--oauthAccounts', 'FOLDER/places.json', '--oauthAudience', 'api://lagra'];

/** One request by hand, over TLS: { status, code, text }. */
async function ask(server, path, headers, { method = 'GET', body = '', port = server.port } = {}) {
    const request = https.request({ host: '127.0.0.1', port, ca: server.ca, headers, method,
        path: `/${DEVELOPMENT.account}${path}` });
    request.end(body);
    const [answer] = await event(request, 'response');
    let text = '';
    for await (const chunk of answer)
        text += chunk;
    return { status: answer.statusCode, code: answer.headers['x-ms-error-code'], text };
}

test('a token is checked: signature, issuer, audience, times', async (t) => {
    // decision: 84
    const server = await serve(t, CHECKED);
    const list = (token) => ask(server, '/?comp=list', { Authorization: `Bearer ${token}`, 'x-ms-version': '2021-12-02' });
    const good = claimsOf(OWNER);
    for (const token of [
        tokenOf(good), tokenOf(good, { alg: 'ES256', kid: 'ec', pair: ec }), tokenOf(good, { alg: 'RS512' }),
        tokenOf(good, { kid: undefined }),
        tokenOf(claimsOf(OWNER, { aud: `https://${DEVELOPMENT.account}.blob.core.windows.net/` })),
        tokenOf(claimsOf(OWNER, { aud: `https://${DEVELOPMENT.account}.blob.core.usgovcloudapi.net` })),
        tokenOf(claimsOf(OWNER, { aud: STORAGE_ID })),
        tokenOf(claimsOf(OWNER, { deep: [[{ a: [{ b: { c: null } }] }]], aud: ['https://storage.azure.com'] })),
        tokenOf(claimsOf(OWNER, { aud: 'api://lagra' })), tokenOf(claimsOf(OWNER, { aud: ['x', 'https://storage.azure.com/'] })),
        tokenOf(claimsOf(undefined, { sub: OWNER })), tokenOf(claimsOf(OWNER, { nbf: undefined })),
    ])
        assert.equal((await list(token)).status, 200);
    const [head, body, signature] = tokenOf(good).split('.');
    const flipped = Buffer.from(signature, 'base64url');
    flipped[5] ^= 1;
    const [ecHead, ecBody, ecSignature] = tokenOf(good, { alg: 'ES256', kid: 'ec', pair: ec }).split('.');
    const ofLength = (length) => `${ecHead}.${ecBody}.${Buffer.concat([Buffer.from(ecSignature, 'base64url'), Buffer.alloc(length)])
        .subarray(0, length).toString('base64url')}`;
    const wrong = {
        'another key': tokenOf(good, { pair: other }),
        'another kid': tokenOf(good, { kid: 'ec' }),
        'none': `${base64url({ alg: 'none' })}.${body}.`,
        'a shared secret': `${base64url({ alg: 'HS256', kid: 'rsa' })}.${body}.${signature}`,
        'other claims': `${head}.${base64url(claimsOf(OWNER, { exp: seconds() + 9999 }))}.${signature}`,
        'one bit': `${head}.${body}.${flipped.toString('base64url')}`,
        'no signature': `${head}.${body}.`, 'two parts': `${head}.${body}`,
        'no signature on a curve': ofLength(0), 'half of one': ofLength(32), 'less': ofLength(63), 'more': ofLength(65),
        'crit': tokenOf(good, { header: { crit: ['x'], x: 1 } }),
        'issuer': tokenOf(claimsOf(OWNER, { iss: `${ISSUER}x` })), 'no issuer': tokenOf(claimsOf(OWNER, { iss: undefined })),
        'audience': tokenOf(claimsOf(OWNER, { aud: 'https://management.azure.com' })),
        'no cloud of Azure': tokenOf(claimsOf(OWNER, { aud: `https://${DEVELOPMENT.account}.blob.core.example.net` })),
        'too deep': tokenOf(claimsOf(OWNER, { deep: JSON.parse('['.repeat(40) + ']'.repeat(40)) })),
        'twice': tokenOf(JSON.stringify(good).replace('{', `{"oid":"${STRANGER}",`)),
        'a huge number': tokenOf(JSON.stringify(good).replace(/"exp":\d+/, '"exp":1e999')),
        'another account': tokenOf(claimsOf(OWNER, { aud: 'https://another.blob.core.windows.net' })),
        'expired': tokenOf(claimsOf(OWNER, { exp: seconds() - 1 })), 'no exp': tokenOf(claimsOf(OWNER, { exp: undefined })),
        'not yet': tokenOf(claimsOf(OWNER, { nbf: seconds() + 60 })), 'nbf': tokenOf(claimsOf(OWNER, { nbf: 'soon' })),
        'nobody': tokenOf(claimsOf(undefined)), 'garbage': 'x.y.z', 'empty': '',
    };
    for (const [what, token] of Object.entries(wrong)) {
        const answer = await list(token);
        assert.deepEqual([answer.status, answer.code], [403, 'AuthenticationFailed'], `${what}: ${answer.text}`);
        assert.match(answer.text, /<AuthenticationErrorDetail>/, what);
    }
});

test('roles say what the owner of a token may do', async (t) => {
    const server = await serve(t, CHECKED);
    const [owner, reader, stranger] = [OWNER, READER, STRANGER].map((oid) => bearer(server, tokenOf(claimsOf(oid))));
    for (const name of ['shared', 'private']) {
        await owner.getContainerClient(name).create();
        await owner.getContainerClient(name).getBlockBlobClient('b').upload('content', 7);
    }
    await owner.getContainerClient('shared').setAccessPolicy();
    await owner.getProperties();
    assert.equal((await collect(owner.listContainers())).length, 2);
    const shared = reader.getContainerClient('shared');
    assert.equal((await shared.getBlobClient('b').downloadToBuffer()).toString(), 'content');
    assert.equal((await collect(shared.listBlobsFlat())).length, 1);
    await refused(shared.getBlockBlobClient('b').upload('x', 1), 403, 'AuthorizationPermissionMismatch');
    await refused(shared.getAccessPolicy(), 403, 'AuthorizationPermissionMismatch');
    await refused(reader.getContainerClient('private').getBlobClient('b').getProperties(), 403, 'AuthorizationPermissionMismatch');
    await refused(collect(reader.listContainers()), 403, 'AuthorizationPermissionMismatch');
    await refused(stranger.getContainerClient('shared').getBlobClient('b').getProperties(), 403, 'AuthorizationPermissionMismatch');
    await refused(reader.getAccountInfo(), 403, 'AuthorizationFailure');
});

test('a user delegation key signs, within its time, what its owner may do', async (t) => {
    // decision: 83
    const server = await serve(t, CHECKED);
    const owner = bearer(server, tokenOf(claimsOf(OWNER))), reader = bearer(server, tokenOf(claimsOf(READER)));
    const container = owner.getContainerClient('shared');
    await container.create();
    await container.getBlockBlobClient('b').upload('content', 7);
    const from = new Date(Date.now() - 60000), to = new Date(Date.now() + 3600000);
    const key = await reader.getUserDelegationKey(from, to);
    assert.deepEqual([key.signedObjectId, key.signedTenantId, key.signedService], [READER, TENANT, 'b']);
    assert.equal((await reader.getUserDelegationKey(from, to)).value, key.value);
    const sas = (values, signer = key) => generateBlobSASQueryParameters({
        containerName: 'shared', permissions: ContainerSASPermissions.parse('rwl'), expiresOn: to, ...values,
    }, signer, DEVELOPMENT.account);
    for (const version of ['2018-11-09', '2020-02-10', '2020-12-06', '2025-07-05', '2026-04-06', '2026-10-06', '2033-03-03']) {
        const holder = bySas(server, sas({ version })).getContainerClient('shared');
        assert.equal((await holder.getBlobClient('b').downloadToBuffer()).toString(), 'content', version);
    }
    const holder = bySas(server, sas({})).getContainerClient('shared');
    assert.equal((await collect(holder.listBlobsFlat())).length, 1);
    await refused(holder.getBlockBlobClient('b').upload('x', 1), 403, 'AuthorizationPermissionMismatch');
    const ownKey = await owner.getUserDelegationKey(from, to);
    const mayWrite = bySas(server, sas({}, ownKey)).getContainerClient('shared');
    await mayWrite.getBlockBlobClient('b').upload('changed', 7);
    await refused(mayWrite.getBlobClient('b').delete(), 403, 'AuthorizationPermissionMismatch');
    const blob = sas({ blobName: 'b', permissions: BlobSASPermissions.parse('r'), contentType: 'text/x' });
    const answer = await ask(server, `/shared/b?${blob}`, {});
    assert.equal(answer.status, 200, answer.text);
    // The clients make the same URLs.
    for (const client of [container, container.getBlobClient('b')]) {
        const signed = await client.generateUserDelegationSasUrl({ permissions: BlobSASPermissions.parse('r'), expiresOn: to }, key);
        const { pathname, search } = new URL(signed);
        const got = await ask(server, `/shared/b${search}`, {});
        assert.equal(got.status, 200, `${pathname}: ${got.text}`);
    }
    // Of a directory: the blobs below it.
    await owner.getContainerClient('shared').getBlockBlobClient('dir/sub/b').upload('content', 7);
    for (const version of ['2020-02-10', '2020-12-06', '2025-07-05', '2026-04-06', '2026-10-06', '2033-03-03']) {
        const below = bySas(server, sas({ version, blobName: 'dir/sub', isDirectory: true, permissions: BlobSASPermissions.parse('r') }))
            .getContainerClient('shared');
        assert.equal((await below.getBlobClient('dir/sub/b').downloadToBuffer()).toString(), 'content', version);
        await refused(below.getBlobClient('b').getProperties(), 403, 'AuthenticationFailed');
        await refused(below.getBlockBlobClient('dir/sub/c').upload('x', 1), 403, 'AuthorizationPermissionMismatch');
    }
    // What is not as the key was made is not signed by it.
    for (const change of [{ signedObjectId: OWNER }, { signedTenantId: OWNER }, { signedExpiresOn: new Date(+to + 1000) },
        { signedStartsOn: new Date(+from - 1000) }, { signedVersion: '2020-02-10' }, { signedService: 'q' },
        { value: Buffer.alloc(32).toString('base64') }])
        await refused(bySas(server, sas({}, { ...key, ...change })).getContainerClient('shared').getBlobClient('b')
            .getProperties(), 403, 'AuthenticationFailed');
    const later = await reader.getUserDelegationKey(new Date(Date.now() + 600000), to);
    await refused(bySas(server, sas({}, later)).getContainerClient('shared').getBlobClient('b').getProperties(),
        403, 'AuthenticationFailed');
    for (const [start, end] of [[from, new Date(Date.now() - 1000)], [from, new Date(Date.now() + 8 * 86400000)],
        [new Date(Date.now() + 8 * 86400000), new Date(Date.now() + 9 * 86400000)]])
        await refused(reader.getUserDelegationKey(start, end), 400, 'InvalidXmlNodeValue');
    await refused(bearer(server, tokenOf(claimsOf(STRANGER))).getUserDelegationKey(from, to), 403,
        'AuthorizationPermissionMismatch');
    await refused(byKey(server).getUserDelegationKey(from, to), 403, 'AuthenticationFailed');
});

test('a SAS for one user, who shows his token too', async (t) => {
    const server = await serve(t, CHECKED);
    const owner = bearer(server, tokenOf(claimsOf(OWNER)));
    await owner.getContainerClient('shared').create();
    await owner.getContainerClient('shared').getBlockBlobClient('b').upload('content', 7);
    const to = new Date(Date.now() + 3600000);
    const key = await owner.getUserDelegationKey(new Date(Date.now() - 60000), to);
    const sas = generateBlobSASQueryParameters({ containerName: 'shared', expiresOn: to, version: '2026-04-06',
        permissions: ContainerSASPermissions.parse('r'), delegatedUserObjectId: STRANGER,
        requestHeaders: { 'x-ms-client-request-id': 'chosen' }, requestQueryParameters: { timeout: '30' } }, key,
    DEVELOPMENT.account);
    const get = (token, headers = {}, query = 'timeout=30') => ask(server, `/shared/b?${query}&${sas}`, {
        'x-ms-version': '2026-04-06', 'x-ms-client-request-id': 'chosen', ...(token && { Authorization: `Bearer ${token}` }), ...headers });
    assert.equal((await get(tokenOf(claimsOf(STRANGER)))).status, 200);
    for (const answer of [await get(null), await get(tokenOf(claimsOf(READER))),
        await get(tokenOf(claimsOf(STRANGER)), { 'x-ms-client-request-id': 'another' }),
        await get(tokenOf(claimsOf(STRANGER)), {}, 'timeout=31')])
        assert.deepEqual([answer.status, answer.code], [403, 'AuthenticationFailed'], answer.text);
});

test('queues: what a role of queues permits, and what a user delegation key signs', async (t) => {
    // rest: Authorize-with-Azure-Active-Directory, Create-user-delegation-SAS
    const server = await serve(t, CHECKED);
    const as = (oid) => new QueueServiceClient(server.queueUrl,
        { getToken: async () => ({ token: tokenOf(claimsOf(oid)), expiresOnTimestamp: Date.now() + 600000 }) }, options(server));
    const queue = as(OWNER).getQueueClient('shared');
    await queue.create(); // the account's contributor
    await queue.sendMessage('by the sender');
    assert.equal((await queue.peekMessages()).peekedMessageItems.length, 1);
    await refused(queue.receiveMessages(), 403, 'AuthorizationPermissionMismatch');
    await refused(as(READER).getQueueClient('shared').peekMessages(), 403, 'AuthorizationPermissionMismatch');
    await refused(as(READER).getUserDelegationKey(new Date(), new Date(Date.now() + 600000)), 403, 'AuthorizationPermissionMismatch');
    const expiresOn = new Date(Date.now() + 600000);
    const key = await as(OWNER).getUserDelegationKey(new Date(Date.now() - 60000), expiresOn);
    assert.equal(key.signedService, 'q');
    const sas = generateQueueSASQueryParameters(
        { queueName: 'shared', permissions: QueueSASPermissions.parse('ap'), expiresOn }, key, DEVELOPMENT.account);
    const delegated = new QueueClient(`${queue.url}?${sas}`, undefined, options(server));
    await delegated.sendMessage('by the SAS');
    await refused(delegated.peekMessages(), 403, 'AuthorizationPermissionMismatch'); // the SAS has no r
    await refused(delegated.receiveMessages(), 403, 'AuthorizationPermissionMismatch'); // its owner may not
});

test('Get User Delegation Key of each service: each of its headers and parameters', async (t) => {
    // rest: Get-User-Delegation-Key; the definitions have two, timeout and Content-Type (file-headers.test.mjs)
    const server = await serve(t, CHECKED);
    const at = (ms) => new Date(Date.now() + ms).toISOString().replace(/\.\d+/, '');
    const keyInfo = (more = '') => `<KeyInfo><Start>${at(0)}</Start><Expiry>${at(600000)}</Expiry>${more}</KeyInfo>`;
    const get = (service, query, headers, body = keyInfo()) => ask(server, `?restype=service&comp=userdelegationkey${query}`, {
        Authorization: `Bearer ${tokenOf(claimsOf(OWNER))}`, 'x-ms-version': '2026-04-06', 'Content-Length': body.length, ...headers,
    }, { method: 'POST', body, port: new URL(server[service]).port });

    for (const service of ['url', 'queueUrl', 'fileUrl']) {
        for (const [query, headers, body] of [['', {}], ['&timeout=30', {}], ['', { 'Content-Type': 'nonsense' }], ['', {}, keyInfo(`<DelegatedUserTid>${TENANT}</DelegatedUserTid>`)]])
            assert.equal((await get(service, query, headers, body)).status, 200, service + query);
        for (const [query, headers, body] of [['&timeout=nonsense', {}],
            ['', {}, keyInfo('<More>1</More>')], ['', {}, keyInfo('<DelegatedUserTid>x</DelegatedUserTid>')], ['', {}, '']])
            assert.equal((await get(service, query, headers, body)).status, 400, `${service} takes ${query} ${JSON.stringify(headers)} ${body}`);
    }
});

test('files: a token comes with its intent; shares are the account\'s, files those of the privileged roles', async (t) => {
    // rest: Authorize-with-Azure-Active-Directory, Create-user-delegation-SAS; decision: 324
    const server = await serve(t, CHECKED);
    const as = (oid, more) => new ShareServiceClient(server.fileUrl,
        { getToken: async () => ({ token: tokenOf(claimsOf(oid)), expiresOnTimestamp: Date.now() + 600000 }) },
        { ...options(server), fileRequestIntent: 'backup', ...more });
    const share = as(OWNER).getShareClient('shared');
    await share.create(); // the account's contributor
    await share.setQuota(3);
    await refused(as(OWNER, { fileRequestIntent: undefined }).getShareClient('shared').getDirectoryClient('d').getProperties(), 400,
        'MissingRequiredHeader');
    await refused(as(READER).getShareClient('shared').getProperties(), 403, 'AuthorizationPermissionMismatch');
    await refused(as(READER).getUserDelegationKey(new Date(), new Date(Date.now() + 600000)), 403, 'AuthorizationPermissionMismatch');
    const key = await as(OWNER).getUserDelegationKey(new Date(), new Date(Date.now() + 600000));
    assert.equal(key.signedService, 'f');
    const file = (oid) => as(oid).getShareClient('shared').rootDirectoryClient.getFileClient('f');
    await file(WRITER).create(4);
    await file(WRITER).uploadRange('text', 0, 4);
    assert.equal(String(await file(READER).downloadToBuffer()), 'text');
    await refused(file(READER).uploadRange('more', 0, 4), 403, 'AuthorizationPermissionMismatch');
    await refused(file(READER).delete(), 403, 'AuthorizationPermissionMismatch');
    await refused(file(STRANGER).getProperties(), 403, 'AuthorizationPermissionMismatch');
    await refused(as(WRITER).getShareClient('shared').delete(), 403, 'AuthorizationPermissionMismatch');

    const sas = (of, permissions, more) => new ShareFileClient(`${file(READER).url}?${generateFileSASQueryParameters({
        shareName: 'shared', filePath: 'f', permissions: FileSASPermissions.parse(permissions),
        expiresOn: new Date(Date.now() + 300000), ...more }, of, DEVELOPMENT.account)}`, undefined, options(server));
    const ofWriter = await as(WRITER).getUserDelegationKey(new Date(), new Date(Date.now() + 600000));
    assert.equal(String(await sas(ofWriter, 'r').downloadToBuffer()), 'text');
    await refused(sas(ofWriter, 'r').uploadRange('more', 0, 4), 403, 'AuthorizationPermissionMismatch'); // the SAS has no w
    await sas(ofWriter, 'rw').uploadRange('more', 0, 4);
    await refused(sas(key, 'r').getProperties(), 403, 'AuthorizationPermissionMismatch'); // its owner reads no files
    await refused(sas({ ...ofWriter, value: key.value }, 'r').getProperties(), 403, 'AuthenticationFailed');
    await refused(sas(ofWriter, 'r', { filePath: 'g' }).getProperties(), 403, 'AuthenticationFailed');
    await refused(sas(ofWriter, 'r', { expiresOn: new Date(Date.now() - 5000), startsOn: new Date(Date.now() - 9000) }).getProperties(), 403,
        'AuthenticationFailed');

    const ofShare = (permissions) => new ShareClient(`${share.url}?${generateFileSASQueryParameters({
        shareName: 'shared', permissions: ShareSASPermissions.parse(permissions), expiresOn: new Date(Date.now() + 300000) },
    ofWriter, DEVELOPMENT.account)}`, undefined, options(server)).rootDirectoryClient;
    assert.deepEqual((await collect(ofShare('l').listFilesAndDirectories())).map(({ name }) => name), ['f']);
    await ofShare('c').createSubdirectory('d');
    await refused(ofShare('r').createSubdirectory('e'), 403, 'AuthorizationPermissionMismatch');
    await ofShare('d').getDirectoryClient('d').delete();
});

test('files: a token without an intent, or with one that is none (rest: Authorize-with-Azure-Active-Directory)', async (t) => {
    const server = await serve(t, CHECKED);
    const get = (intent) => ask(server, '/shared/f', { authorization: `Bearer ${tokenOf(claimsOf(READER))}`,
        'x-ms-version': '2024-11-04', ...(intent && { 'x-ms-file-request-intent': intent }) }, { port: new URL(server.fileUrl).port });
    assert.equal((await get('backup')).code, 'ShareNotFound');
    const none = await get(), other = await get('restore');
    assert.deepEqual([none.status, none.code], [400, 'MissingRequiredHeader']);
    assert.deepEqual([other.status, other.code], [400, 'InvalidHeaderValue']);
});

test('tables: what a role of tables permits, in a transaction too', async (t) => {
    // rest: Authorize-with-Azure-Active-Directory "Permissions for table service operations";
    // decision: 188
    const server = await serve(t, CHECKED);
    const by = (claims) => ({ getToken: async () => ({ token: tokenOf(claims), expiresOnTimestamp: Date.now() + 600000 }) });
    const as = (oid, name, more) => new TableClient(server.tableUrl, name, by(claimsOf(oid, more)), options(server));
    const account = (oid) => new TableServiceClient(server.tableUrl, by(claimsOf(oid)), options(server));
    const entity = { partitionKey: 'p', rowKey: 'r' };
    const refusedAs = (promise) => refusedTable(promise, 403, 'AuthorizationPermissionMismatch');

    for (const name of ['Shared', 'Private'])
        await account(OWNER).createTable(name); // by the Contributor's tables/write
    await account(OWNER).getProperties(); // the account's contributor
    const owner = as(OWNER, 'Private');
    await owner.createEntity(entity);
    await owner.updateEntity(entity);
    await owner.upsertEntity({ ...entity, a: 1 });
    await owner.submitTransaction([['upsert', { ...entity, rowKey: 's' }], ['delete', entity]]);
    await owner.upsertEntity(entity);
    assert.equal((await collect(owner.listEntities())).length, 2);

    const reader = as(READER, 'Private');
    assert.equal((await reader.getEntity('p', 's')).rowKey, 's');
    assert.equal((await collect(account(READER).listTables())).length, 2);
    for (const refused of [() => reader.createEntity(entity), () => reader.updateEntity(entity),
        () => reader.upsertEntity(entity), () => reader.deleteEntity('p', 's'), () => reader.deleteTable(),
        () => reader.getAccessPolicy(), () => account(READER).getProperties(),
        () => account(READER).createTable('Made'), () => account(STRANGER).createTable('Made')])
        await refusedAs(refused());
    await assert.rejects(reader.submitTransaction([['upsert', entity]]), { statusCode: 403 });

    // Assigned to one table, whose name ignores the case of letters; so do a batch's parts.
    const stranger = as(STRANGER, 'sHARED');
    await stranger.createEntity(entity);
    await stranger.submitTransaction([['upsert', { ...entity, rowKey: 's' }], ['delete', entity]]);
    assert.equal((await collect(stranger.listEntities())).length, 1);
    await refusedAs(as(STRANGER, 'Private').getEntity('p', 's'));
    await assert.rejects(as(STRANGER, 'Private').submitTransaction([['delete', { ...entity, rowKey: 's' }]]),
        { statusCode: 403 });
    await refusedAs(collect(account(STRANGER).listTables()));

    const audience = (service) => ({ aud: `https://${DEVELOPMENT.account}.${service}.core.windows.net` });
    await as(OWNER, 'Private', audience('table')).getEntity('p', 's');
    await refusedTable(as(OWNER, 'Private', audience('blob')).getEntity('p', 's'), 403, 'AuthenticationFailed');
});

test('--oauth basic: claims alone, as Azurite', async (t) => {
    const server = await serve(t, ['--oauth', 'basic']);
    const loose = (claims) => bearer(server, `${base64url({ alg: 'none' })}.${base64url(claims)}.x`);
    const somebody = loose(claimsOf(STRANGER));
    await somebody.getContainerClient('made').create();
    await somebody.getContainerClient('made').getBlockBlobClient('b').upload('1', 1);
    const key = await somebody.getUserDelegationKey(new Date(Date.now() - 60000), new Date(Date.now() + 60000));
    const sas = generateBlobSASQueryParameters({ containerName: 'made', permissions: ContainerSASPermissions.parse('rd'),
        expiresOn: new Date(Date.now() + 60000) }, key, DEVELOPMENT.account);
    await bySas(server, sas).getContainerClient('made').getBlobClient('b').delete();
    // What Azurite takes, of any account. decision: 251
    for (const aud of [STORAGE_ID, 'https://storage.azure.com/', ...['windows.net', 'chinacloudapi.cn', 'usgovcloudapi.net',
        'cloudapi.de'].flatMap((cloud) => ['', '/'].map((end) => `https://somebody.blob.core.${cloud}${end}`))])
        await loose(claimsOf(STRANGER, { aud })).getProperties();
    for (const aud of [`${STORAGE_ID}x`, 'https://somebody.queue.core.windows.net', 'http://somebody.blob.core.windows.net',
        'https://somebody.blob.core.windows.net.example.org', 'https://example.org/somebody.blob.core.windows.net'])
        await refused(loose(claimsOf(STRANGER, { aud })).getProperties(), 403, 'AuthenticationFailed');
    for (const claims of [{ iss: 'https://example.org/' }, { aud: 'x' }, { exp: seconds() - 1 }, { nbf: undefined },
        { iat: undefined }, { nbf: seconds() + 60 }])
        await refused(loose(claimsOf(STRANGER, claims)).getProperties(), 403, 'AuthenticationFailed');
});

test('SIGHUP: keys are exchanged while requests are served', async (t) => {
    // decision: 85
    const server = await serve(t, CHECKED);
    const fresh = Buffer.alloc(64, 9).toString('base64');
    const withKey = (key) => new BlobServiceClient(server.url, new StorageSharedKeyCredential(DEVELOPMENT.account, key),
        options(server));
    const changed = async (file, text, works) => {
        await writeFile(server.file(file), text);
        process.kill(server.pid, 'SIGHUP');
        for (let i = 0; i < 200; i++) {
            if (await works().then(() => true, () => false))
                return;
            await delay(20);
        }
        assert.fail(`${file} was not read again: ${server.errors()}`);
    };
    await withKey(DEVELOPMENT.key).getProperties();
    await changed('accounts', `${DEVELOPMENT.account}:${DEVELOPMENT.key}:${fresh}`, () => withKey(fresh).getProperties());
    await withKey(DEVELOPMENT.key).getProperties();
    await changed('accounts', `${DEVELOPMENT.account}:${fresh}`, () => refused(withKey(DEVELOPMENT.key).getProperties(),
        403, 'AuthenticationFailed'));
    await withKey(fresh).getProperties();
    const token = tokenOf(claimsOf(OWNER), { kid: 'other', pair: other });
    await refused(bearer(server, token).getProperties(), 403, 'AuthenticationFailed');
    await changed('keys.json', jwks(['other', other]), () => bearer(server, token).getProperties());
    await refused(bearer(server, tokenOf(claimsOf(OWNER))).getProperties(), 403, 'AuthenticationFailed');
    // What is wrong with a file changes nothing.
    await writeFile(server.file('keys.json'), 'no JSON');
    await writeFile(server.file('accounts'), 'no-key');
    process.kill(server.pid, 'SIGHUP');
    await delay(300);
    await withKey(fresh).getProperties();
    await bearer(server, token).getProperties();
    assert.match(server.errors(), /remain in use/);
    await writeFile(server.file('keys.json'), jwks(['other', other]));
    await writeFile(server.file('roles.json'), `[\n${JSON.stringify({ ...JSON.parse(ROLES)[0], scope: '/x/storageAccounts/y' })}]`);
    process.kill(server.pid, 'SIGHUP');
    for (let i = 0; i < 200 && !/oauthRoles, line 2, entry 1: its scope/.test(server.errors()); i++)
        await delay(20);
    assert.match(server.errors(), /oauthRoles, line 2, entry 1: its scope/);
    await bearer(server, token).getProperties();
    assert.doesNotMatch(server.errors(), new RegExp(fresh.slice(0, 20)));
});

test('--disallowPublicAccess: nothing is opened', async (t) => {
    const server = await serve(t, ['--disallowPublicAccess']);
    const container = byKey(server).getContainerClient('closed');
    await refused(container.create({ access: 'blob' }), 409, 'PublicAccessNotPermitted');
    await container.create();
    await container.getBlockBlobClient('b').upload('1', 1);
    await refused(container.setAccessPolicy('container'), 409, 'PublicAccessNotPermitted');
    const open = new BlobServiceClient(server.url, new AnonymousCredential(), options(server));
    await refused(open.getContainerClient('closed').getBlobClient('b').downloadToBuffer(), 409, 'PublicAccessNotPermitted');
    await refused(open.getContainerClient('closed').getBlobClient('b').delete(), 401, 'NoAuthenticationInformation');
});

/** What a start that ends says on stderr. */
async function errorsOf(args, env = {}, argv0 = process.env.LAGRA_BINARY) {
    const child = spawn(process.env.LAGRA_BINARY, args, { argv0, stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, AZURITE_ACCOUNTS: `mine:${DEVELOPMENT.key}`, ...env } });
    let errors = '';
    child.stderr.on('data', (text) => { errors += text; });
    const [code] = await event(child, 'close');
    return { code, errors };
}

test('--oauth basic beyond this machine is said twice', async () => {
    // decision: 252. No start gets as far as listening: there is no certificate.
    const args = ['--inMemoryPersistence', '--oauth', 'basic', '--cert', '/nowhere', '--key', '/nowhere'];
    for (const host of ['192.0.2.1', '0.0.0.0', '::', '127.example.org', '128.0.0.1'])
        for (const service of ['blob', 'queue', 'table', 'file']) {
            const once = await errorsOf([...args, `--${service}Host`, host]);
            assert.equal(once.code, 1);
            assert.match(once.errors, /gives everybody full access.*\n.*--allowUncheckedTokens/, host);
            const twice = await errorsOf([...args, `--${service}Host`, host, '--allowUncheckedTokens']);
            assert.match(twice.errors, /cannot read \/nowhere/, host);
            assert.doesNotMatch(twice.errors, /everybody/, host);
        }
    for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost'])
        assert.doesNotMatch((await errorsOf([...args, '--blobHost', host])).errors, /everybody/, host);
    const azurite = await errorsOf([...args, '--blobHost', '192.0.2.1'], {}, 'azurite');
    assert.match(azurite.errors, /like Azurite, --oauth basic accepts unchecked tokens/);
});

test('a role file without places: what opens nothing is said', async (t) => {
    const server = await serve(t, CHECKED.filter((arg, i) => arg !== '--oauthAccounts' && CHECKED[i - 1] !== '--oauthAccounts'));
    const owner = bearer(server, tokenOf(claimsOf(OWNER)));
    await refused(owner.getContainerClient('x').create(), 403, 'AuthorizationPermissionMismatch');
    await refused(owner.getProperties(), 403, 'AuthorizationPermissionMismatch');
    assert.match(server.errors(), /--oauthRoles: \d+ assignments .* grant nothing, because --oauthAccounts/);
});

test('options that cannot work say so at the start', async () => {
    for (const [args, said] of [
        [['--oauth', 'full'], /--oauth takes basic/], [['--oauth', 'basic'], /only over HTTPS/],
        [['--oauthIssuer', 'x'], /require each other/], [['--oauthKeys', 'x'], /require each other/],
        [['--oauthRoles', 'x'], /require each other/], [['--oauthAccounts', 'x'], /require each other/],
        [['--oauthIssuer', 'x', '--oauthKeys', 'y', '--oauth', 'basic'], /checks no signature/],
    ]) {
        const child = spawn(process.env.LAGRA_BINARY, args, { stdio: ['ignore', 'ignore', 'pipe'] });
        let errors = '';
        child.stderr.on('data', (text) => { errors += text; });
        const [code] = await event(child, 'close');
        assert.equal(code, 2, args.join(' '));
        assert.match(errors, said);
    }
});
