// Data Lake Storage through the official client, on an account with a hierarchical namespace.
// rest: datalakestoragegen2
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { DataLakeServiceClient } from '@azure/storage-file-datalake';
import { Server } from '../lib/server.mjs';
import { account, bytesOf, credential, newFile, pathsOf, rawDfs, refused } from './dfs-setup.mjs';
import { raw } from './raw.mjs';
import { containerName, once } from './setup.mjs';

const server = await Server.start({ args: ['--hierarchical'] });
after(() => server.stop());
// In a URL with the account in its path, the client's renames lose the account: see the test of that.
const service = new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${server.ports.dfs}`, credential, once);
const base = { host: '127.0.0.1', port: server.ports.dfs };

async function newFilesystem() {
    const filesystem = service.getFileSystemClient(containerName());
    await filesystem.create();
    return filesystem;
}
const names = (paths) => paths.map((path) => path.name + (path.isDirectory ? '/' : ''));
const tree = async (filesystem, path) => names(await pathsOf(filesystem, { recursive: true, path }));

test('files make their parents; directories are listed where they are', async () => {
    const filesystem = await newFilesystem();
    await newFile(filesystem, 'a/b/file', 'content');
    await filesystem.getDirectoryClient('a/empty').create({ metadata: { k: 'v' } });
    assert.deepEqual(await tree(filesystem), ['a/', 'a/b/', 'a/b/file', 'a/empty/']);
    assert.deepEqual(names(await pathsOf(filesystem, { recursive: false })), ['a/']);
    assert.deepEqual(names(await pathsOf(filesystem, { path: 'a', recursive: false })), ['a/b/', 'a/empty/']);
    assert.deepEqual(await tree(filesystem, 'a/empty'), []);
    await refused(tree(filesystem, 'none'), 404, 'PathNotFound');
    for (const maxPageSize of [1, 2, 3]) {
        const paged = [];
        for await (const page of filesystem.listPaths({ recursive: true }).byPage({ maxPageSize }))
            paged.push(...page.pathItems);
        assert.deepEqual(names(paged), ['a/', 'a/b/', 'a/b/file', 'a/empty/']);
    }
    const [directory, , file] = await pathsOf(filesystem, { recursive: true });
    assert.deepEqual([directory.owner, directory.group], ['$superuser', '$superuser']);
    assert.equal(file.contentLength, 7);
    const properties = await filesystem.getDirectoryClient('a/empty').getProperties();
    assert.deepEqual(properties.metadata, { k: 'v', hdi_isfolder: 'true' });
    const answer = await rawDfs('HEAD', `/${filesystem.name}/a/empty`, {}, '', { base });
    assert.equal(answer.headers.get('x-ms-resource-type'), 'directory');
    assert.equal(answer.headers.get('x-ms-properties'), `hdi_isfolder=${btoa('true')},k=${btoa('v')}`);
});

test('a directory that has only a blob with uncommitted blocks is listed as empty', async () => {
    const filesystem = await newFilesystem();
    const blocks = new BlobServiceClient(server.url, credential, once)
        .getContainerClient(filesystem.name).getBlockBlobClient('a/b/file');
    await blocks.stageBlock(btoa('1'), 'x', 1);
    assert.deepEqual(await tree(filesystem, 'a/b'), []);
    assert.deepEqual(names(await pathsOf(filesystem, { recursive: false, path: 'a/b' })), []);
    assert.deepEqual(await tree(filesystem), ['a/', 'a/b/']);
});

test('directories have properties', async () => {
    const filesystem = await newFilesystem();
    const blob = (name, version) => raw('HEAD', `/${filesystem.name}/${name}`, { 'x-ms-version': version }, '', { base: { host: base.host, port: server.port } });
    const pathHttpHeaders = { contentType: 'a/b', cacheControl: 'no-store', contentLanguage: 'de', contentEncoding: 'e', contentDisposition: 'inline' };
    await filesystem.getDirectoryClient('a/b').create({ pathHttpHeaders });
    const properties = await filesystem.getDirectoryClient('a/b').getProperties();
    for (const [name, value] of Object.entries(pathHttpHeaders))
        assert.equal(properties[name], value);
    // Recorded: a directory has a content type, and owners are shown since 2020-06-12.
    const parent = await blob('a', '2020-06-12');
    assert.deepEqual([parent.headers.get('content-type'), parent.headers.get('x-ms-owner'), parent.headers.get('x-ms-permissions')],
        ['application/octet-stream', '$superuser', 'rwxr-x---']);
    assert.equal((await blob('a', '2020-04-08')).headers.get('x-ms-owner'), undefined);
    await filesystem.getDirectoryClient('a/b').create();
    assert.equal((await blob('a/b', '2020-06-12')).headers.get('content-type'), 'application/octet-stream');
});

test('a file is appended to and flushed', async () => {
    const filesystem = await newFilesystem();
    const file = filesystem.getFileClient('d/f');
    await file.create();
    await file.append('one', 0, 3);
    await file.append('two', 3, 3);
    await file.flush(6);
    assert.equal((await bytesOf(file)).toString(), 'onetwo');
    await refused(filesystem.getFileClient('d').create(), 409, 'PathConflict');
    await refused(filesystem.getDirectoryClient('d/f').create(), 409, 'PathConflict');
    await refused(filesystem.getFileClient('d/f/g').create(), 409, 'PathConflict');
});

test('a rename whose path lacks the account uses that of its source', async () => {
    const { name } = await newFilesystem();
    const client = new DataLakeServiceClient(`http://127.0.0.1:${server.ports.dfs}/${account.name}`, credential, once).getFileSystemClient(name);
    await newFile(client, 'from/file', 'content');
    await client.getDirectoryClient('from').move('to');
    await client.getFileClient('to/file').move('a file');
    assert.equal((await bytesOf(client.getFileClient('a file'))).toString(), 'content');
    const other = await newFilesystem();
    await client.getFileClient('a file').move(other.name, 'x');
    await other.getFileClient('x').move(name, 'a file');
    // A complete path has no account in its source.
    for (const source of [`/${account.name}/${name}/a%20file`, `/${account.name}`, `/${account.name}/`])
        assert.notEqual((await raw('PUT', `/${name}/b`, { 'x-ms-rename-source': source }, '', { base })).status, 201, source);
});

test('files and directories are renamed in one step', async () => {
    const filesystem = await newFilesystem();
    await newFile(filesystem, 'from/sub/file', 'content');
    const { etag } = await filesystem.getFileClient('from/sub/file').getProperties();
    await filesystem.getDirectoryClient('from').move('to');
    assert.deepEqual(await tree(filesystem), ['to/', 'to/sub/', 'to/sub/file']);
    assert.equal((await filesystem.getFileClient('to/sub/file').getProperties()).etag, etag);
    await filesystem.getFileClient('to/sub/file').move('to/other');
    assert.equal((await bytesOf(filesystem.getFileClient('to/other'))).toString(), 'content');
    await refused(filesystem.getFileClient('none').move('x'), 404, 'SourcePathNotFound');
    await refused(filesystem.getFileClient('to/other').move('none/x'), 404, 'RenameDestinationParentPathNotFound');
    await refused(filesystem.getDirectoryClient('to').move('to/sub/x'), 409, 'InvalidRenameSourcePath');
    // conditions of the source and of the destination
    const other = filesystem.getFileClient('to/other');
    await refused(other.move('y', { conditions: { ifMatch: '"0x1"' } }), 412, 'SourceConditionNotMet');
    await newFile(filesystem, 'there');
    await refused(other.move('there', { destinationConditions: { ifNoneMatch: '*' } }), 409, 'PathAlreadyExists');
    await other.move('there');
    assert.deepEqual(await tree(filesystem), ['there', 'to/', 'to/sub/']);
});

test('a directory is deleted with its contents', async () => {
    const filesystem = await newFilesystem();
    for (let i = 0; i < 30; i++)
        await newFile(filesystem, `d/${i % 3}/${i}`, 'x');
    await newFile(filesystem, 'e');
    await refused(filesystem.getDirectoryClient('d').delete(false), 409, 'DirectoryNotEmpty');
    await filesystem.getDirectoryClient('d').delete(true);
    assert.deepEqual(await tree(filesystem), ['e']);
    await newFile(filesystem, 'd/new');
    assert.deepEqual(await tree(filesystem), ['d/', 'd/new', 'e']);
});

test('leases of directories', async () => {
    const filesystem = await newFilesystem();
    const directory = filesystem.getDirectoryClient('d');
    await directory.create();
    const { leaseId } = await directory.getDataLakeLeaseClient().acquireLease(-1);
    await refused(directory.delete(true), 412, 'LeaseIdMissing');
    await directory.delete(true, { conditions: { leaseId } });
});

test('the kind of the account is shown', async () => {
    const filesystem = await newFilesystem();
    const answer = await rawDfs('HEAD', `/${filesystem.name}?resource=filesystem`, {}, '', { base });
    assert.equal(answer.headers.get('x-ms-namespace-enabled'), 'true');
});

test('access control lists: set, of all that is below a directory, inherited; checkAccess', async () => {
    const filesystem = await newFilesystem();
    const directory = filesystem.getDirectoryClient('d');
    await newFile(filesystem, 'd/e/f');
    const entry = (id, read, write, execute, defaultScope = false) =>
        ({ accessControlType: 'user', entityId: id, defaultScope, permissions: { read, write, execute } });
    const changed = await directory.updateAccessControlRecursive([entry('ann', true, false, true)]);
    assert.deepEqual([changed.counters.changedDirectoriesCount, changed.counters.changedFilesCount, changed.counters.failedChangesCount], [2, 1, 0]);
    const { acl, owner, permissions } = await filesystem.getFileClient('d/e/f').getAccessControl();
    assert.deepEqual(acl.filter(({ entityId }) => entityId), [entry('ann', true, false, true)]);
    assert.deepEqual([owner, permissions.extendedAcls], ['$superuser', true]);
    await directory.removeAccessControlRecursive([{ accessControlType: 'user', entityId: 'ann', defaultScope: false }]);
    assert.deepEqual((await filesystem.getFileClient('d/e/f').getAccessControl()).acl.filter(({ entityId }) => entityId), []);
    await filesystem.getFileClient('d/e/f').setPermissions({
        owner: { read: true, write: false, execute: false }, group: { read: true, write: false, execute: false },
        other: { read: false, write: false, execute: false }, stickyBit: false, extendedAcls: false,
    });
    const check = (path, query) => rawDfs('HEAD', `/${filesystem.name}/${path}?action=checkAccess${query}`, {}, '', { base });
    assert.equal((await check('d/e/f', '&fsAction=r-x')).status, 200);
    assert.equal((await check('d/e/f', '&fsAction=abc')).status, 400);
    assert.equal((await check('d/e/f', '')).status, 400);
    assert.equal((await check('none', '&fsAction=r--')).status, 404);
    const recursive = await rawDfs('PATCH', `/${filesystem.name}/d?action=setAccessControlRecursive&mode=set`,
        { 'x-ms-acl': 'user::rwx,group::r-x,other::---' }, '', { base });
    assert.deepEqual(JSON.parse(recursive.text), { directoriesSuccessful: 2, failedEntries: [], failureCount: 0, filesSuccessful: 1 });
});

test('CORS rules are those of the Blob service', async () => {
    const rule = { allowedOrigins: 'http://a.example', allowedMethods: 'GET', allowedHeaders: '', exposedHeaders: '', maxAgeInSeconds: 5 };
    await new BlobServiceClient(server.url, credential, once).setProperties({ cors: [rule] });
    const headers = { Origin: 'http://a.example', 'Access-Control-Request-Method': 'GET' };
    const answer = await rawDfs('OPTIONS', '/data/f', headers, '', { base, signed: false });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('access-control-allow-origin'), 'http://a.example');
});
