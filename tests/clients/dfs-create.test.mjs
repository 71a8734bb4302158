// Path Create with an owner, a group, an access control list and a lease.
// rest: datalakestoragegen2/path/create; decisions: 1273, 1290, 1291
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DataLakeServiceClient } from '@azure/storage-file-datalake';
import { Server } from '../lib/server.mjs';
import { account, credential, newFilesystem as newFlat, rawDfs, rawDfsRefused, refused } from './dfs-setup.mjs';
import { raw } from './raw.mjs';
import { containerName, once } from './setup.mjs';

const server = await Server.start({ args: ['--hierarchical'] });
after(() => server.stop());
const service = new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${server.ports.dfs}`, credential, once);
const base = { host: '127.0.0.1', port: server.ports.dfs };
const IDS = ['aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', 'aaaaaaaa-bbbb-cccc-dddd-ffffffffffff'];
const ACL = 'user::rwx,user:ann:r-x,group::r--,mask::rwx,other::---';

async function newFilesystem() {
    const filesystem = service.getFileSystemClient(containerName());
    await filesystem.create();
    return filesystem;
}
const rights = (text) => ({ read: text[0] === 'r', write: text[1] === 'w', execute: text[2] === 'x' });
const entries = (text) => text.split(',').map((entry) => {
    const [accessControlType, entityId, permissions] = entry.split(':');
    return { accessControlType, entityId, defaultScope: false, permissions: rights(permissions) };
});
const put = (filesystem, path, headers, query = 'resource=file', options = {}) =>
    rawDfs('PUT', `/${filesystem.name}/${path}?${query}`, headers, '', { base, ...options });
const accessOf = async (filesystem, path) => {
    const { headers } = await rawDfs('HEAD', `/${filesystem.name}/${path}?action=getAccessControl`, {}, '', { base });
    return ['owner', 'group', 'permissions', 'acl'].map((name) => headers.get(`x-ms-${name}`));
};

test('owner, group and list of a new file and a new directory', async () => {
    const filesystem = await newFilesystem();
    const options = { owner: IDS[0], group: IDS[1], acl: entries(ACL) };
    for (const client of [filesystem.getFileClient('d/f'), filesystem.getDirectoryClient('d/e')]) {
        await client.create(options);
        const { owner, group, acl } = await client.getAccessControl();
        assert.deepEqual([owner, group, acl], [IDS[0], IDS[1], entries(ACL)]);
    }
    /* The missing parent is created as without them. */
    assert.deepEqual((await accessOf(filesystem, 'd')).slice(0, 3), ['$superuser', '$superuser', 'rwxr-x---']);
    await filesystem.getFileClient('plain').create({ owner: IDS[0], permissions: '0666', umask: '0022' });
    assert.deepEqual((await accessOf(filesystem, 'plain')).slice(0, 3), [IDS[0], '$superuser', 'rw-r--r--']);
});

test('the list of the request is the whole list: nothing is inherited and the umask does not count', async () => {
    const filesystem = await newFilesystem();
    await put(filesystem, 'd', { 'x-ms-acl': `${ACL},default:user::rwx,default:group::r-x,default:other::r-x` }, 'resource=directory');
    assert.equal((await put(filesystem, 'd/f', { 'x-ms-acl': 'user::rwx,group::rwx,other::rwx' })).status, 201);
    assert.deepEqual((await accessOf(filesystem, 'd/f')).slice(2), ['rwxrwxrwx', 'user::rwx,group::rwx,other::rwx']);
    assert.equal((await put(filesystem, 'd/e', { 'x-ms-acl': 'user::rwx,group::r-x,other::---' }, 'resource=directory')).status, 201);
    assert.equal((await accessOf(filesystem, 'd/e'))[3], 'user::rwx,group::r-x,other::---');
    /* Like Set Access Control, a mask is computed where it is missing. */
    await put(filesystem, 'd/g', { 'x-ms-acl': 'user::rwx,user:ann:rw-,group::r--,other::---' });
    assert.equal((await accessOf(filesystem, 'd/g'))[3], 'user::rwx,user:ann:rw-,group::r--,mask::rw-,other::---');
});

test('an overwritten file keeps its owner and group, and gets the permissions of a new file', async () => {
    const filesystem = await newFilesystem();
    const blob = `/${filesystem.name}/f`;
    await put(filesystem, 'f', { 'x-ms-owner': 'ann', 'x-ms-group': 'staff', 'x-ms-acl': ACL });
    // Recorded: the mode is that of the request.
    await put(filesystem, 'f', { 'x-ms-permissions': '0777', 'x-ms-umask': '0000' });
    assert.deepEqual((await accessOf(filesystem, 'f')).slice(0, 3), ['ann', 'staff', 'rwxrwxrwx']);
    await put(filesystem, 'f', { 'x-ms-acl': ACL });
    await put(filesystem, 'f');
    assert.deepEqual((await accessOf(filesystem, 'f')).slice(0, 3), ['ann', 'staff', 'rw-r-----']);
    await put(filesystem, 'f', { 'x-ms-acl': ACL });
    assert.equal((await raw('PUT', blob, { 'x-ms-blob-type': 'BlockBlob' }, 'x', { base: { host: base.host, port: server.port } })).status, 201);
    assert.deepEqual((await accessOf(filesystem, 'f')).slice(0, 3), ['ann', 'staff', 'rw-r-----']);
    // The default entries of the directory are those of a new file, too.
    await put(filesystem, 'e', { 'x-ms-acl': `${ACL},default:user::rwx,default:user:ann:rwx,default:group::r-x,default:other::r-x` }, 'resource=directory');
    await put(filesystem, 'e/f', { 'x-ms-acl': 'user::r--,group::r--,other::---' });
    await put(filesystem, 'e/f');
    assert.equal((await accessOf(filesystem, 'e/f'))[3], 'user::rw-,user:ann:rwx,group::r-x,mask::rw-,other::r--');
    await put(filesystem, 'f', { 'x-ms-group': 'crew' });
    assert.deepEqual((await accessOf(filesystem, 'f')).slice(0, 3), ['ann', 'crew', 'rw-r-----']);
    await put(filesystem, 'f', { 'x-ms-acl': 'user::r--,group::r--,other::---', 'x-ms-owner': 'bob' });
    assert.deepEqual((await accessOf(filesystem, 'f')).slice(0, 3), ['bob', 'crew', 'r--r-----']);
    for (const headers of [{}, { 'x-ms-group': 'staff' }])
        await put(filesystem, 'd', headers, 'resource=directory');
    assert.deepEqual((await accessOf(filesystem, 'd')).slice(0, 3), ['$superuser', 'staff', 'rwxr-x---']);
});

test('a file is created with a lease', async () => {
    const filesystem = await newFilesystem();
    const file = filesystem.getFileClient('f');
    await file.create({ proposedLeaseId: IDS[0], leaseDuration: 15 });
    const { leaseState, leaseStatus, leaseDuration } = await file.getProperties();
    assert.deepEqual([leaseState, leaseStatus, leaseDuration], ['leased', 'locked', 'fixed']);
    await refused(file.append('a', 0, 1), 412, 'LeaseIdMissing');
    await refused(file.create(), 412, 'LeaseIdMissing');
    /* The lease of an overwritten file is acquired again with its id only. */
    await refused(file.create({ proposedLeaseId: IDS[1], leaseDuration: -1, conditions: { leaseId: IDS[0] } }), 409, 'LeaseAlreadyPresent');
    await file.create({ proposedLeaseId: IDS[0], leaseDuration: -1, conditions: { leaseId: IDS[0] } });
    assert.equal((await file.getProperties()).leaseDuration, 'infinite');
    await file.getDataLakeLeaseClient(IDS[0]).releaseLease();
    await file.create();
    assert.equal((await file.getProperties()).leaseState, 'available');
});

test('refused headers', async () => {
    const filesystem = await newFilesystem();
    const lease = { 'x-ms-proposed-lease-id': IDS[0], 'x-ms-lease-duration': '15' };
    const cases = [
        [{ 'x-ms-acl': ACL, 'x-ms-permissions': '0777' }, 'InvalidInput'],
        [{ 'x-ms-acl': ACL, 'x-ms-umask': '0022' }, 'InvalidInput'],
        [{ 'x-ms-acl': 'user::rwx' }, 'InvaldAccessControlList'],
        [{ 'x-ms-acl': 'asdf' }, 'InvaldAccessControlList'],
        [{ 'x-ms-acl': `${ACL},default:user::rwx` }, 'InvaldAccessControlList'], // of a file
        [{ 'x-ms-owner': 'a b' }, 'InvalidHeaderValue'],
        [{ 'x-ms-group': 'a b' }, 'InvalidHeaderValue'],
        [{ 'x-ms-proposed-lease-id': IDS[0] }, 'MissingRequiredHeader'],
        [{ 'x-ms-lease-duration': '15' }, 'MissingRequiredHeader'],
        [{ ...lease, 'x-ms-proposed-lease-id': 'x' }, 'InvalidHeaderValue'],
        [{ ...lease, 'x-ms-lease-duration': '14' }, 'InvalidHeaderValue'],
        [{ ...lease, 'x-ms-lease-duration': '61' }, 'InvalidHeaderValue'],
    ];
    for (const [headers, code] of cases)
        await rawDfsRefused(put(filesystem, 'f', headers), 400, code);
    await rawDfsRefused(put(filesystem, 'd', lease, 'resource=directory'), 400, 'UnsupportedHeader');
    for (const headers of [{ 'x-ms-owner': 'ann' }, { 'x-ms-group': 'ann' }, { 'x-ms-acl': ACL }, lease]) {
        await rawDfsRefused(put(filesystem, 'f', headers, 'resource=file', { version: '2020-10-02' }), 400, 'UnsupportedHeader');
        await rawDfsRefused(put(filesystem, 'f', { ...headers, 'x-ms-rename-source': `/${filesystem.name}/g` }, ''), 400, 'UnsupportedHeader');
    }
    await rawDfsRefused(rawDfs('HEAD', `/${filesystem.name}/f`, {}, '', { base }), 404, 'PathNotFound');
    assert.equal((await put(filesystem, 'f', { 'x-ms-owner': 'ann' }, 'resource=file', { version: '2020-12-06' })).status, 201);
});

test('an encryption context is stored with a file and shown', async () => {
    const filesystem = await newFilesystem();
    const context = 'key 7 of vault a';
    await filesystem.getFileClient('d/f').create({ encryptionContext: context });
    const path = `/${filesystem.name}/d/f`;
    for (const [method, action] of [['HEAD', ''], ['GET', ''], ['HEAD', '?action=getStatus']])
        assert.equal((await rawDfs(method, path + action, {}, '', { base })).headers.get('x-ms-encryption-context'), context);
    const listed = JSON.parse((await rawDfs('GET', `/${filesystem.name}?resource=filesystem&recursive=true`, {}, '', { base })).text).paths;
    assert.deepEqual(listed.map(({ EncryptionContext }) => EncryptionContext), [undefined, context]);
    await filesystem.getFileClient('d/f').append('a', 0, 1);
    await filesystem.getFileClient('d/f').flush(1);
    await filesystem.getFileClient('d/f').setMetadata({ k: 'v' });
    await filesystem.getFileClient('d/f').move('g');
    const shown = async () => (await rawDfs('HEAD', `/${filesystem.name}/g`, {}, '', { base })).headers.get('x-ms-encryption-context');
    assert.equal(await shown(), context);
    await filesystem.getFileClient('g').create();
    assert.equal(await shown(), undefined);
    const longest = { 'x-ms-encryption-context': 'x'.repeat(1024) };
    assert.equal((await put(filesystem, 'g', longest)).status, 201);
    assert.equal(await shown(), longest['x-ms-encryption-context']);
    await rawDfsRefused(put(filesystem, 'g', { 'x-ms-encryption-context': 'x'.repeat(1025) }), 400, 'InvalidHeaderValue');
    await rawDfsRefused(put(filesystem, 'g', longest, 'resource=file', { version: '2021-02-12' }), 400, 'UnsupportedHeader');
    assert.equal((await put(filesystem, 'g', longest, 'resource=file', { version: '2021-04-10' })).status, 201);
    await rawDfsRefused(put(filesystem, 'e', longest, 'resource=directory'), 400, 'UnsupportedHeader');
    await rawDfsRefused(put(filesystem, 'g', longest, 'resource=file', { version: '2021-02-12' }), 400, 'UnsupportedHeader');
});

test('a flat account has leases, but neither owners nor lists', async (t) => {
    const { name } = await newFlat(t);
    for (const headers of [{ 'x-ms-owner': 'ann' }, { 'x-ms-group': 'ann' }, { 'x-ms-acl': ACL }, { 'x-ms-encryption-context': 'a' }])
        await rawDfsRefused(rawDfs('PUT', `/${name}/f?resource=file`, headers), 400, 'HierarchicalNamespaceNotEnabled');
    const headers = { 'x-ms-proposed-lease-id': IDS[0], 'x-ms-lease-duration': '15' };
    assert.equal((await rawDfs('PUT', `/${name}/f?resource=file`, headers)).status, 201);
    assert.equal((await rawDfs('HEAD', `/${name}/f`)).headers.get('x-ms-lease-state'), 'leased');
});
