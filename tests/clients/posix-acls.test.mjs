// Access control lists of hierarchical containers rule users without a role, and the agents of user delegation SAS.
// source: data-lake-storage-access-control; rest: Create-user-delegation-SAS "suoid", "saoid"; decisions: 1241, 1245, 1290
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request } from 'node:https';
import { test } from 'node:test';
import { AnonymousCredential, BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { DataLakeServiceClient } from '@azure/storage-file-datalake';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { collect, refused } from './setup.mjs';
import { claimsOf, ISSUER, jwks, rsa, serveSecurely, tokenOf } from './tokens-setup.mjs';

const [OWNER, ANN, BOB, READER] = ['1', '3', '4', '5'].map((digit) => '11111111-1111-1111-1111-111111111111'.replaceAll('1', digit));
const HERE = `/subscriptions/x/resourceGroups/y/providers/Microsoft.Storage/storageAccounts/${DEVELOPMENT.account}`;
const role = (principalId, roleDefinitionName) => ({ principalId, roleDefinitionName, scope: HERE });
const ROLES = [role(OWNER, 'Storage Blob Data Owner'), role(ANN, 'Storage Account Contributor'), role(READER, 'Storage Blob Data Reader')];

/** A hierarchical server over HTTPS. Ann may create containers; nobody but the owner has a role for their blobs. */
const serve = (t) => serveSecurely(t, ['--hierarchical', '--oauthIssuer', ISSUER, '--oauthKeys', 'FOLDER/keys.json', '--oauthRoles', 'FOLDER/roles.json'],
    { 'keys.json': jwks(['rsa', rsa]), 'roles.json': JSON.stringify(ROLES) });

const options = (server) => ({ retryOptions: { maxTries: 1 }, tlsOptions: { ca: server.ca } });
const bearer = (oid, groups) => ({ getToken: async () => ({ token: tokenOf(claimsOf(oid, { groups })), expiresOnTimestamp: Date.now() + 3e5 }) });
const as = (server, oid, groups) => new BlobServiceClient(server.url, bearer(oid, groups), options(server));
/** The status of a PUT with only the signature of its URL. */
const fetchSecurely = (server, url, headers) => new Promise((resolve, reject) => {
    request(url, { method: 'PUT', ca: server.ca, headers: { 'x-ms-version': '2026-10-06', 'Content-Length': '0', ...headers } }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
    }).on('error', reject).end();
});
const put = (container, name) => container.getBlockBlobClient(name).upload(name, Buffer.byteLength(name));
const read = async (container, name) => (await container.getBlobClient(name).downloadToBuffer()).toString();
const mismatch = (promise) => refused(promise, 403, 'AuthorizationPermissionMismatch');
const names = async (list) => (await collect(list)).map(({ name }) => name);

/** A container that Ann has created and so owns, with files of hers. */
async function ofAnn(server) {
    const ann = as(server, ANN).getContainerClient('box');
    await ann.create();
    for (const name of ['a/b/c', 'top'])
        await put(ann, name);
    return ann;
}

test('the owner of the root reads, writes, lists and deletes without a role; others do not', async (t) => {
    const server = await serve(t);
    const ann = await ofAnn(server);
    const bob = as(server, BOB).getContainerClient('box');

    assert.equal(await read(ann, 'a/b/c'), 'a/b/c');
    assert.deepEqual(await names(ann.listBlobsFlat()), ['a', 'a/b', 'a/b/c', 'top']);
    await ann.getBlobClient('top').setMetadata({ k: 'v' });
    await put(ann, 'top');
    for (const name of ['top', 'a/b/c', 'a/b/none', 'none/x']) {
        await mismatch(bob.getBlobClient(name).download());
        await mismatch(put(bob, name));
        await mismatch(bob.getBlobClient(name).delete());
        await mismatch(bob.getBlobClient(name).setMetadata({}));
        await mismatch(bob.getBlobClient(name).createSnapshot());
    }
    for (const options of [{}, { prefix: 'a/' }, { prefix: 'a/b/c' }]) {
        await mismatch(names(bob.listBlobsFlat(options)));
        await mismatch(names(bob.listBlobsByHierarchy('/', options)));
    }
    await ann.getBlobClient('top').delete();
    await refused(ann.getBlobClient('top').download(), 404, 'BlobNotFound');
    /* Lists say nothing about containers. */
    await mismatch(bob.create());
    await mismatch(bob.delete());
});

test('members of the owning group read, and may not write', async (t) => {
    const server = await serve(t);
    await ofAnn(server);
    const member = as(server, BOB, [READER, ANN]).getContainerClient('box'); // the root's group is its creator

    assert.equal(await read(member, 'a/b/c'), 'a/b/c');
    assert.deepEqual(await names(member.listBlobsFlat({ prefix: 'a/b/' })), ['a/b/c']);
    for (const name of ['a/b/c', 'top', 'new'])
        await mismatch(put(member, name));
    await mismatch(member.getBlobClient('top').delete());
});

test('a role permits what the lists do not, and lists what a role does not', async (t) => {
    const server = await serve(t);
    await ofAnn(server);
    const reader = as(server, READER).getContainerClient('box'), owner = as(server, OWNER).getContainerClient('box');

    assert.equal(await read(reader, 'a/b/c'), 'a/b/c');
    assert.deepEqual(await names(reader.listBlobsFlat()), ['a', 'a/b', 'a/b/c', 'top']);
    await mismatch(put(reader, 'top'));
    await put(owner, 'a/owned');
    assert.equal(await read(as(server, ANN, []).getContainerClient('box'), 'top'), 'top');
    /* Ann is in the owning group of a/owned, but not its owner. */
    await mismatch(put(as(server, ANN).getContainerClient('box'), 'a/owned'));
});

/** A user delegation SAS of the container, by the owner; fields: { suoid } or { saoid }. */
async function delegated(server, sp, fields) {
    const [start, expiry] = [new Date(Date.now() - 6e4), new Date(Date.now() + 6e5)];
    const key = await as(server, OWNER).getUserDelegationKey(start, expiry);
    const time = (date) => `${date.toISOString().slice(0, 19)}Z`;
    const all = { sv: '2020-02-10', sr: 'c', sp, se: time(expiry), skoid: key.signedObjectId, sktid: key.signedTenantId, skt: time(key.signedStartsOn),
        ske: time(key.signedExpiresOn), sks: key.signedService, skv: key.signedVersion, ...fields };
    const text = [all.sp, '', all.se, `/blob/${DEVELOPMENT.account}/box`, all.skoid, all.sktid, all.skt, all.ske, all.sks, all.skv, all.saoid ?? '', all.suoid ?? '', '',
        '', '', all.sv, all.sr, '', '', '', '', '', ''].join('\n');
    const sig = createHmac('sha256', Buffer.from(key.value, 'base64')).update(text).digest('base64');
    const query = new URLSearchParams({ ...all, sig });
    return new BlobServiceClient(`${server.url}?${query}`, new AnonymousCredential(), options(server)).getContainerClient('box');
}

test('the lists rule the agent of a SAS (suoid), and not an authorized one (saoid)', async (t) => {
    const server = await serve(t);
    await ofAnn(server);
    const ann = await delegated(server, 'rwdl', { suoid: ANN });
    const bob = await delegated(server, 'rwdl', { suoid: BOB });
    const trusted = await delegated(server, 'rwdl', { saoid: BOB });

    assert.equal(await read(ann, 'a/b/c'), 'a/b/c');
    assert.deepEqual(await names(ann.listBlobsFlat()), ['a', 'a/b', 'a/b/c', 'top']);
    await put(ann, 'a/by-agent');
    await mismatch(bob.getBlobClient('a/b/c').download());
    await mismatch(put(bob, 'x'));
    await mismatch(names(bob.listBlobsFlat()));
    assert.equal(await read(trusted, 'a/b/c'), 'a/b/c');
    await put(trusted, 'a/by-bob');
    assert.equal(await read(await delegated(server, 'r', { suoid: ANN }), 'a/by-agent'), 'a/by-agent');
    /* Bob owns the file created for him, so Ann, in its group, reads only. */
    await mismatch(put(ann, 'a/by-bob'));
    /* The letters still count. */
    await mismatch(put(await delegated(server, 'r', { suoid: ANN }), 'a/by-agent'));
});

test('keys are not subject to lists', async (t) => {
    const server = await serve(t);
    await ofAnn(server);
    const byKey = new BlobServiceClient(server.url, new StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key), options(server)).getContainerClient('box');

    await put(byKey, 'a/b/c');
    await put(byKey, 'keyed/x');
    await mismatch(put(as(server, ANN).getContainerClient('box'), 'keyed/y')); // the directory is the superuser's
    await as(server, ANN).getContainerClient('box').getBlobClient('a/b/c').delete(); // Ann's directory
});

test('an owner, group and list of a new path are set by those who may set them afterwards', async (t) => {
    const server = await serve(t);
    await ofAnn(server);
    const file = (oid, name, groups) => new DataLakeServiceClient(server.dfsUrl, bearer(oid, groups), options(server)).getFileSystemClient('box').getFileClient(name);
    const acl = (other) => ['user', 'group', 'other'].map((accessControlType) => ({
        accessControlType, entityId: '', defaultScope: false,
        permissions: { read: other || accessControlType !== 'other', write: false, execute: false },
    }));
    const shown = async (name) => {
        const { owner, group, permissions } = await file(OWNER, name).getAccessControl();
        return [owner, group, permissions.other.read];
    };

    await file(ANN, 'listed').create({ acl: acl(true), owner: ANN });
    assert.deepEqual(await shown('listed'), [ANN, ANN, true]);
    await mismatch(file(ANN, 'given').create({ owner: BOB }));
    await mismatch(file(ANN, 'given').create({ group: BOB }));
    await file(ANN, 'given', [BOB]).create({ group: BOB });
    assert.deepEqual(await shown('given'), [ANN, BOB, false]);
    await file(OWNER, 'by-superuser').create({ owner: BOB, group: READER, acl: acl(true) });
    assert.deepEqual(await shown('by-superuser'), [BOB, READER, true]);
    /* A member of the group may write another's file, but not change its list. */
    await file(OWNER, 'shared').create({ owner: ANN, group: BOB, permissions: '0777', umask: '0000' });
    await file(BOB, 'shared', [BOB, ANN]).create();
    await mismatch(file(BOB, 'shared', [BOB, ANN]).create({ acl: acl(true) }));
    await mismatch(file(BOB, 'shared', [BOB, ANN]).create({ group: BOB }));
    /* The overwritten file has the permissions of a new one. */
    assert.deepEqual(await shown('shared'), [ANN, BOB, false]);
});

// Recorded: test_update_access_control_recursive_with_failures_async. decision: 1246
test('a recursive change fails for files of other users', async (t) => {
    const server = await serve(t);
    const filesystem = (oid) => new DataLakeServiceClient(server.dfsUrl, bearer(oid), options(server)).getFileSystemClient('files');
    const ann = filesystem(ANN).getDirectoryClient('d'), progress = [];
    const rights = (text) => ({ read: text[0] === 'r', write: text[1] === 'w', execute: text[2] === 'x' });
    const acl = [['user', 'rwx'], ['group', 'r-x'], ['other', 'rwx']].map(([accessControlType, text]) =>
        ({ accessControlType, entityId: '', defaultScope: false, permissions: rights(text) }));
    const change = (more) => ann.updateAccessControlRecursive(acl, { batchSize: 2, onProgress: (one) => progress.push(...one.batchFailures), ...more });

    await filesystem(OWNER).create();
    await filesystem(OWNER).getDirectoryClient('').setPermissions({ owner: rights('rwx'), group: rights('--x'), other: rights('--x'), stickyBit: false, extendedAcls: false });
    await filesystem(OWNER).getDirectoryClient('d').create({ owner: ANN });
    for (const name of ['sub/file', 'z'])
        await ann.getFileClient(name).create();
    await filesystem(OWNER).getFileClient('d/cannottouchthis').create();

    const stopped = await change();
    assert.deepEqual(stopped.counters, { changedDirectoriesCount: 1, changedFilesCount: 0, failedChangesCount: 1 });
    assert.equal(stopped.continuationToken, undefined);
    const failure = { name: 'd/cannottouchthis', isDirectory: false, message: 'This request is not authorized to perform this operation using this permission.' };
    assert.deepEqual(progress, [failure]);
    const forced = await change({ continueOnFailure: true });
    assert.deepEqual(forced.counters, { changedDirectoriesCount: 2, changedFilesCount: 2, failedChangesCount: 1 });
    assert.deepEqual(progress, [failure, failure]);
});

test('a SAS needs the letters o and p for an owner, group and list of a new path', async (t) => {
    const server = await serve(t);
    await ofAnn(server);
    const put = async (letters, fields, name, headers) => {
        const { url } = await delegated(server, letters, fields);
        const target = new URL(url.replace('/box', `/box/${name}`));
        target.searchParams.set('resource', 'file');
        return fetchSecurely(server, `${server.dfsUrl}${target.pathname.slice(target.pathname.indexOf('/box'))}${target.search}`, headers);
    };
    const ACL = { 'x-ms-acl': 'user::rwx,group::rwx,other::---' }, BOBS = { 'x-ms-owner': BOB };

    assert.equal(await put('cw', { saoid: ANN }, 'x', ACL), 403);
    assert.equal(await put('cw', { saoid: ANN }, 'x', BOBS), 403);
    assert.equal(await put('cwp', { saoid: ANN }, 'x', ACL), 201);
    assert.equal(await put('cwo', { saoid: ANN }, 'y', BOBS), 403); // the owner is the one that the SAS names
    assert.equal(await put('cwo', { saoid: BOB }, 'y', BOBS), 201);
    assert.equal(await put('cwo', { suoid: ANN }, 'z', BOBS), 403);
    assert.equal(await put('cwp', { suoid: ANN }, 'z', ACL), 201);
});

test('a rename to another filesystem needs the permissions of both, by a role or by the lists of that side', async (t) => {
    const own = await serve(t);
    const dfs = (oid) => new DataLakeServiceClient(own.dfsUrl, bearer(oid), options(own));
    const owner = dfs(OWNER);
    const [from, to] = ['from', 'into'].map((name) => owner.getFileSystemClient(name));
    const every = (oid, permissions) => [{ accessControlType: 'user', entityId: oid, defaultScope: false, permissions: { read: true, write: true, execute: true, ...permissions } }];
    const base = ['user', 'group', 'other'].map((accessControlType) => ({ accessControlType, entityId: '', defaultScope: false,
        permissions: { read: accessControlType === 'user', write: accessControlType === 'user', execute: accessControlType === 'user' } }));
    const permit = (filesystem, entries) => filesystem.getDirectoryClient('').setAccessControl([...base, ...entries]);
    for (const filesystem of [from, to])
        await filesystem.create();
    const file = async () => { await from.getFileClient('file').create(); };
    const byBob = (name = 'moved') => dfs(BOB).getFileSystemClient('from').getFileClient('file').move('into', name);
    await file();
    await mismatch(byBob());
    await permit(from, every(BOB));
    await mismatch(byBob());
    await permit(from, []);
    await permit(to, every(BOB));
    await mismatch(byBob());
    await permit(from, every(BOB, { write: false }));
    await mismatch(byBob());
    await permit(from, every(BOB));
    await byBob();
    assert.deepEqual((await collect(to.listPaths())).map(({ name, owner: of }) => `${name} ${of}`), [`moved ${OWNER}`]);
    // the sticky bit of either directory
    await file();
    const setSticky = (filesystem, stickyBit) => filesystem.getDirectoryClient('').setPermissions({ owner: { read: true, write: true, execute: true },
        group: { read: true, write: true, execute: true }, other: {}, stickyBit, extendedAcls: false });
    await setSticky(from, true);
    await mismatch(byBob('other'));
    await setSticky(from, false);
    await setSticky(to, true);
    await mismatch(byBob());
    await byBob('other');
    // a role in one filesystem is none in the other
    const reader = dfs(READER).getFileSystemClient('from').getFileClient('file');
    await file();
    await permit(to, every(READER));
    await mismatch(reader.move('into', 'third'));
    await permit(from, every(READER));
    await reader.move('into', 'third');
});
