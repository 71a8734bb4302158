// Recursive deletes at the Data Lake endpoint: page by page on flat accounts, and in pages of access
// checks for users without a role. rest: Path-Delete; decisions: 1320, 1321
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { test } from 'node:test';
import { BlobServiceClient, ContainerSASPermissions, generateBlobSASQueryParameters, StorageSharedKeyCredential } from '@azure/storage-blob';
import { DataLakeServiceClient } from '@azure/storage-file-datalake';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { newFile, newFilesystem, pathsOf, rawDfs, rawDfsRefused, refused } from './dfs-setup.mjs';
import { credential, service as blobService } from './setup.mjs';
import { claimsOf, ISSUER, jwks, rsa, serveSecurely, tokenOf } from './tokens-setup.mjs';

/** Runs the tasks, some at a time. */
async function inParallel(count, task) {
    let next = 0;
    await Promise.all(Array.from({ length: Math.min(count, 48) }, async () => {
        while (next < count)
            await task(next++);
    }));
}

const number = (i) => String(i).padStart(5, '0');
const named = (paths) => paths.map(({ name }) => name);
const all = async (filesystem) => named(await pathsOf(filesystem, { recursive: true }));

/** Deletes as the reference says: until there is no continuation. Returns the number of requests. */
async function deleteInPages(path, query = 'recursive=true') {
    for (let requests = 1, continuation = ''; ; requests++) {
        const answer = await rawDfs('DELETE', `${path}?${query}${continuation}`);
        assert.equal(answer.status, 200, answer.text);
        const next = answer.headers.get('x-ms-continuation');
        if (!next)
            return requests;
        continuation = `&continuation=${encodeURIComponent(next)}`;
    }
}

test('flat: a directory and all below it, and nothing else', async (t) => {
    const filesystem = await newFilesystem(t);
    for (const name of ['d', 'd/e', 'd/e/empty'])
        await filesystem.getDirectoryClient(name).create();
    for (const name of ['d/1', 'd/e/2', 'd/e/f/3', 'd-', 'd0', 'dir/4', 'c'])
        await newFile(filesystem, name);
    await refused(filesystem.getDirectoryClient('d').delete(false), 409, 'DirectoryNotEmpty');
    await filesystem.getDirectoryClient('d').delete(true);
    assert.deepEqual(await all(filesystem), ['c', 'd-', 'd0', 'dir/4']);
    await filesystem.getDirectoryClient('dir').delete(true); // a directory without a blob
    await refused(filesystem.getDirectoryClient('dir').delete(true), 404, 'PathNotFound');
    await filesystem.getFileClient('c').delete(true); // recursive has no effect on a file
    assert.deepEqual(await all(filesystem), ['d-', 'd0']);
});

test('flat: a large directory takes several requests, and keeps its blob until the last one', async (t) => {
    const filesystem = await newFilesystem(t);
    const container = blobService.getContainerClient(filesystem.name);
    await filesystem.getDirectoryClient('d').create();
    await filesystem.getDirectoryClient('e').create();
    await inParallel(2300, (i) => container.getBlockBlobClient(`d/${number(i)}`).upload('', 0));

    const first = await rawDfs('DELETE', `/${filesystem.name}/d?recursive=true`);
    const token = encodeURIComponent(first.headers.get('x-ms-continuation'));
    assert.equal(first.status, 200);
    const left = await all(filesystem);
    assert.deepEqual([left[0], left.at(-1), left.length < 2302 - 900], ['d', 'e', true]);
    for (const [path, query] of [['d', 'recursive=true&continuation=randomContinuationToken1234'], ['d', `continuation=${token}`],
        ['e', `recursive=true&continuation=${token}`], ['d', `recursive=true&continuation=${token.slice(0, 40)}A${token.slice(41)}`]])
        await rawDfsRefused(rawDfs('DELETE', `/${filesystem.name}/${path}?${query}`), 400, 'InvalidQueryParameterValue');
    assert.equal((await rawDfs('DELETE', `/${filesystem.name}/d?recursive=true&continuation=${token}`)).status, 200);
    assert.equal(await deleteInPages(`/${filesystem.name}/d`), 1);
    assert.deepEqual(await all(filesystem), ['e']);
});

test("flat: the client's own loop", async (t) => {
    const filesystem = await newFilesystem(t);
    const container = blobService.getContainerClient(filesystem.name);
    await inParallel(2100, (i) => container.getBlockBlobClient(`d/${number(i)}`).upload('', 0));
    await filesystem.getDirectoryClient('d').delete(true);
    assert.deepEqual(await all(filesystem), []);
});

test('flat: a blob that cannot be deleted ends it; those before it are gone', async (t) => {
    const filesystem = await newFilesystem(t);
    const directory = filesystem.getDirectoryClient('d');
    await directory.create();
    for (let i = 0; i < 30; i++)
        await newFile(filesystem, `d/${number(i)}`);
    const lease = filesystem.getFileClient('d/00020').getDataLakeLeaseClient();
    await lease.acquireLease(-1);
    await refused(directory.delete(true), 412, 'LeaseIdMissing');
    assert.deepEqual(await all(filesystem), ['d', ...Array.from({ length: 10 }, (_, i) => `d/${number(i + 20)}`)]);
    /* The lease id of the request is that of the path. */
    await refused(directory.delete(true, { conditions: { leaseId: lease.leaseId } }), 412, 'LeaseNotPresentWithBlobOperation');
    await lease.releaseLease();
    await blobService.getContainerClient(filesystem.name).getBlobClient('d/00025').createSnapshot();
    await refused(directory.delete(true), 409, 'SnapshotsPresent');
    await blobService.getContainerClient(filesystem.name).getBlobClient('d/00025').delete({ deleteSnapshots: 'include' });
    await refused(directory.delete(true, { conditions: { ifMatch: '"0x1"' } }), 412, 'ConditionNotMet');
    assert.equal((await all(filesystem)).length, 5);
    await directory.delete(true);
    assert.deepEqual(await all(filesystem), []);
});

test('flat: the SAS of a blob does not reach below it', async (t) => {
    const filesystem = await newFilesystem(t);
    await newFile(filesystem, 'd/f');
    const sas = (blobName, permissions) => generateBlobSASQueryParameters({ containerName: filesystem.name, blobName, expiresOn: new Date(Date.now() + 6e5),
        permissions: ContainerSASPermissions.parse(permissions) }, credential).toString();
    const remove = (query) => rawDfs('DELETE', `/${filesystem.name}/d?recursive=true&${query}`, {}, '', { signed: false });
    await rawDfsRefused(remove(sas('d', 'd')), 403, 'AuthorizationPermissionMismatch');
    await rawDfsRefused(remove(sas(undefined, 'rw')), 403, 'AuthorizationPermissionMismatch');
    assert.equal((await remove(sas(undefined, 'd'))).status, 200);
    assert.deepEqual(await all(filesystem), []);
});

/* ---- users without a role ---- */

const [OWNER, ANN, BOB] = ['1', '3', '4'].map((digit) => '11111111-1111-1111-1111-111111111111'.replaceAll('1', digit));
const HERE = `/subscriptions/x/resourceGroups/y/providers/Microsoft.Storage/storageAccounts/${DEVELOPMENT.account}`;
const ROLES = [{ principalId: OWNER, roleDefinitionName: 'Storage Blob Data Owner', scope: HERE }];

/** A hierarchical server with a filesystem "box" that Ann may write to: { as(oid), container }. */
async function serve(t) {
    const server = await serveSecurely(t, ['--hierarchical', '--oauthIssuer', ISSUER, '--oauthKeys', 'FOLDER/keys.json', '--oauthRoles', 'FOLDER/roles.json'],
        { 'keys.json': jwks(['rsa', rsa]), 'roles.json': JSON.stringify(ROLES) });
    const options = { retryOptions: { maxTries: 1 }, tlsOptions: { ca: server.ca } };
    const bearer = (oid) => ({ getToken: async () => ({ token: tokenOf(claimsOf(oid)), expiresOnTimestamp: Date.now() + 3e5 }) });
    const as = (oid) => new DataLakeServiceClient(server.dfsUrl, bearer(oid), options).getFileSystemClient('box');
    const key = new StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key);
    const container = new BlobServiceClient(server.url, key, options).getContainerClient('box');
    await container.create();
    await as(OWNER).getDirectoryClient('').setAccessControl([user(ANN, true, true, true), ...OTHERS]);
    return { as, container, server };
}
const permissions = (read, write, execute) => ({ read, write, execute });
const user = (entityId, ...rwx) => ({ accessControlType: 'user', entityId, defaultScope: false, permissions: permissions(...rwx) });
const OTHERS = ['user', 'group', 'other'].map((accessControlType) => ({ accessControlType, entityId: '', defaultScope: false, permissions: permissions(true, true, true) }));

/** One request of a user, by hand: { status, code, next }. */
function removeOnce(server, oid, name, parameters) {
    const query = new URLSearchParams({ recursive: 'true', ...parameters });
    const headers = { Authorization: `Bearer ${tokenOf(claimsOf(oid))}`, 'x-ms-version': parameters.version ?? '2023-08-03' };
    query.delete('version');
    return new Promise((resolve, reject) => {
        const sent = request(`${server.dfsUrl}/box/${name}?${query}`, { method: 'DELETE', headers, ca: server.ca, agent: false }, (answer) => {
            answer.resume().on('end', () => resolve({ status: answer.statusCode, code: answer.headers['x-ms-error-code'], next: answer.headers['x-ms-continuation'] }));
        });
        sent.on('error', reject).end();
    });
}

test('a user without a role deletes a directory if the lists of all directories in it permit that', async (t) => {
    const { as, container } = await serve(t);
    const [ann, bob] = [as(ANN), as(BOB)];
    const put = (name) => container.getBlockBlobClient(name).upload('', 0); // created by a key: of the superuser

    for (const name of ['d', 'd/e', 'd/e/f'])
        await ann.getDirectoryClient(name).create();
    for (const name of ['d/1', 'd/e/2', 'd/e/f/3'])
        await put(name);
    await refused(bob.getDirectoryClient('d').delete(true), 403, 'AuthorizationPermissionMismatch');
    await refused(ann.getDirectoryClient('d').delete(false), 409, 'DirectoryNotEmpty');
    /* Each of the three permissions, on the directory itself and below it. */
    for (const name of ['d', 'd/e', 'd/e/f']) {
        for (const rwx of [[false, true, true], [true, false, true], [true, true, false]]) {
            const list = (own) => [{ ...OTHERS[0], permissions: permissions(...own) }, OTHERS[1], OTHERS[2]];
            await as(OWNER).getDirectoryClient(name).setAccessControl(list(rwx));
            await refused(ann.getDirectoryClient('d').delete(true), 403, 'AuthorizationPermissionMismatch');
            await as(OWNER).getDirectoryClient(name).setAccessControl(list([true, true, true]));
        }
    }
    assert.equal((await all(as(OWNER))).length, 6);
    await ann.getDirectoryClient('d').delete(true); // the permissions of the files do not matter
    assert.deepEqual(await all(as(OWNER)), []);
    await refused(ann.getDirectoryClient('d').delete(true), 404, 'PathNotFound');
});

test('a directory with the sticky bit keeps what others own', async (t) => {
    const { as } = await serve(t);
    const owner = as(OWNER);

    await owner.getDirectoryClient('d/shared').create();
    await owner.getDirectoryClient('d').setPermissions({ owner: permissions(true, true, true), group: permissions(true, true, true), other: permissions(true, true, true), stickyBit: false, extendedAcls: false });
    const shared = (stickyBit) => owner.getDirectoryClient('d/shared').setPermissions({ owner: permissions(true, true, true), group: permissions(true, true, true), other: permissions(true, true, true), stickyBit, extendedAcls: false });
    await shared(true);
    await as(ANN).getFileClient('d/shared/of-ann').create();
    await as(BOB).getFileClient('d/shared/of-bob').create();
    await refused(as(ANN).getDirectoryClient('d').delete(true), 403, 'AuthorizationPermissionMismatch');
    await as(BOB).getFileClient('d/shared/of-bob').delete();
    await as(ANN).getDirectoryClient('d').delete(true);
    assert.deepEqual(await all(owner), []);
});

test('with paginated=true the lists are checked in pages, and the last request deletes', async (t) => {
    const { as, container, server } = await serve(t);
    const COUNT = 20_100, PAGE = 5000;

    await as(ANN).getDirectoryClient('d').create();
    await as(ANN).getDirectoryClient('e').create();
    await inParallel(COUNT, (i) => container.getBlockBlobClient(`d/${number(i)}`).upload('', 0));

    /* Without it, and before 2023-08-03, which does not know it, one request cannot check so many. */
    assert.deepEqual(await removeOnce(server, ANN, 'd', {}), { status: 500, code: 'OperationTimedOut', next: undefined });
    assert.equal((await removeOnce(server, ANN, 'd', { paginated: 'true', version: '2021-06-08' })).status, 500);
    const first = await removeOnce(server, ANN, 'd', { paginated: 'true' });
    assert.equal(first.status, 200);
    const second = await removeOnce(server, ANN, 'd', { paginated: 'true', continuation: first.next });
    assert.equal(second.status, 200);
    assert.notEqual(second.next, first.next);
    assert.equal((await container.getBlobClient('d/00000').exists()), true, 'nothing is deleted yet');

    /* A continuation is valid for the caller, the directory and the container it was made for. */
    const refusal = { status: 400, code: 'InvalidQueryParameterValue', next: undefined };
    const forged = Buffer.from(second.next, 'base64');
    forged[30] ^= 1;
    for (const [oid, name, continuation] of [[OWNER, 'd', second.next], [ANN, 'e', second.next], [ANN, 'd', forged.toString('base64')],
        [ANN, 'd', 'randomContinuationToken1234']])
        assert.deepEqual(await removeOnce(server, oid, name, { paginated: 'true', continuation }), refusal);

    /* What has become forbidden since is noticed where it was not checked yet. */
    await container.getBlockBlobClient('d/z/secret').upload('', 0);
    await as(OWNER).getDirectoryClient('d/z').setAccessControl([OTHERS[0], { ...OTHERS[1], permissions: permissions(false, false, false) },
        { ...OTHERS[2], permissions: permissions(false, false, false) }]);
    let page = second, pages = 2;
    while (page.next) {
        page = await removeOnce(server, ANN, 'd', { paginated: 'true', continuation: page.next });
        pages++;
    }
    assert.deepEqual([page.status, page.code, pages], [403, 'AuthorizationPermissionMismatch', Math.ceil(COUNT / PAGE)]);
    await as(OWNER).getFileClient('d/z/secret').delete();
    await as(OWNER).getDirectoryClient('d/z').delete();
    await as(ANN).getDirectoryClient('d').delete(true); // the client's loop
    assert.deepEqual(await all(as(OWNER)), ['e']);
});
