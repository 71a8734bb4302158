// Shared access signatures of directories and files at the Data Lake endpoint: what they cover.
// rest: Create-service-SAS "sr=d", Path-Create "x-ms-rename-source"; decision: 1335
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
    DataLakeDirectoryClient, DataLakeFileClient, DataLakeFileSystemClient, DataLakeSASPermissions, DataLakeServiceClient, DirectorySASPermissions,
    FileSystemSASPermissions,
} from '@azure/storage-file-datalake';
import { Server } from '../lib/server.mjs';
import { account, bytesOf, credential, newFile, pathsOf, refused } from './dfs-setup.mjs';
import { containerName, once } from './setup.mjs';

const server = await Server.start({ args: ['--hierarchical'] });
after(() => server.stop());
const service = new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${server.ports.dfs}`, credential, once);
const expiresOn = new Date(Date.now() + 3600_000);
const mismatch = (promise) => refused(promise, 403, 'AuthorizationPermissionMismatch');
const outside = (promise) => refused(promise, 403, 'AuthenticationFailed');

/** A filesystem with files, and clients with the SAS of its directory "a/b". */
async function newShared() {
    const filesystem = service.getFileSystemClient(containerName());
    await filesystem.create();
    for (const name of ['a/b/in', 'a/b/sub/deep', 'a/out', 'a/bc/out', 'secret'])
        await newFile(filesystem, name, name);
    const directory = filesystem.getDirectoryClient('a/b');
    const query = (await directory.generateSasUrl({ permissions: DirectorySASPermissions.parse('racwdlmeop'), expiresOn })).split('?')[1];
    const at = (Class, name) => new Class(`${filesystem.url}${name && `/${name}`}?${query}`, undefined, once);
    return { filesystem, at, root: at(DataLakeFileSystemClient, ''), shared: at(DataLakeDirectoryClient, 'a/b') };
}

test('the SAS of a directory covers the directory itself and everything in it', async () => {
    // the requests of the SDKs' own tests against the service: sas.spec.ts, datalake_sas_test.cpp
    const { at, root, shared } = await newShared();
    assert.equal(await shared.exists(), true);
    const { acl } = await shared.getAccessControl();
    await shared.setAccessControl(acl);
    await shared.createIfNotExists();
    assert.equal((await bytesOf(shared.getFileClient('in'))).toString(), 'a/b/in');
    assert.deepEqual((await pathsOf(root, { path: 'a/b', recursive: true })).map(({ name }) => name), ['a/b/in', 'a/b/sub', 'a/b/sub/deep']);
    assert.deepEqual((await pathsOf(root, { path: 'a/b/sub' })).map(({ name }) => name), ['a/b/sub/deep']);
    assert.equal((await shared.updateAccessControlRecursive(acl)).counters.failedChangesCount, 0);
    for (const path of ['a', 'a/bc', undefined])
        await outside(pathsOf(root, { path }));
    for (const name of ['a', 'a/out', 'a/bc', 'secret'])
        await outside(at(DataLakeFileClient, name).getProperties());
    await outside(root.getProperties());
    await outside(root.delete());
    await shared.delete(true);
    await shared.create();
});

test('a rename with the SAS of a directory moves only what is in the directory', async () => {
    const { filesystem, at, shared } = await newShared();
    await at(DataLakeFileClient, 'a/b/in').move('a/b/renamed');
    assert.equal((await bytesOf(filesystem.getFileClient('a/b/renamed'))).toString(), 'a/b/in');
    for (const name of ['secret', 'a/out', 'a/bc/out', 'a/bc'])
        await mismatch(at(DataLakeFileClient, name).move('a/b/stolen'));
    await outside(shared.getFileClient('renamed').move('a/moved'));
    await refused(shared.move('a/b/x'), 409, 'InvalidRenameSourcePath'); // covered, but below itself
});

test('a rename with the SAS of a file moves no other file', async () => {
    const { filesystem } = await newShared();
    const { url } = filesystem;
    const query = (await filesystem.getFileClient('a/out').generateSasUrl({ permissions: DataLakeSASPermissions.parse('rwdm'), expiresOn })).split('?')[1];
    await mismatch(new DataLakeFileClient(`${url}/secret?${query}`, undefined, once).move('a/out'));
    assert.equal((await bytesOf(filesystem.getFileClient('a/out'))).toString(), 'a/out');
});

test('a rename with the SAS of a filesystem moves its files, and no others', async () => {
    const [one, two] = [(await newShared()).filesystem, (await newShared()).filesystem];
    const query = (await one.generateSasUrl({ permissions: FileSystemSASPermissions.parse('rwdlm'), expiresOn })).split('?')[1];
    await new DataLakeFileClient(`${one.url}/secret?${query}`, undefined, once).move('open');
    assert.equal((await bytesOf(one.getFileClient('open'))).toString(), 'secret');
    await mismatch(new DataLakeFileClient(`${two.url}/secret?${query}`, undefined, once).move(one.name, 'stolen'));
});
