// Shared access signatures of shares and files: what their letters permit, and what a signature of one
// file does not. rest: Create-service-SAS
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileSASPermissions, ShareClient, ShareFileClient, ShareSASPermissions } from '@azure/storage-file-share';
import { refused } from './setup.mjs';
import { newShare, once } from './shares-setup.mjs';

const expiresOn = new Date(Date.now() + 3600_000);
const MISMATCH = 'AuthorizationPermissionMismatch';

test('a SAS of a file opens that file by its letters, and no other', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    await file.create(4);
    await share.rootDirectoryClient.createFile('g', 4);
    const url = (letters) => file.generateSasUrl({ permissions: FileSASPermissions.parse(letters), expiresOn });
    const by = (letters) => new ShareFileClient(url(letters), undefined, once);
    await by('w').uploadRange('abcd', 0, 4);
    assert.equal((await by('r').downloadToBuffer()).toString(), 'abcd');
    await refused(by('r').uploadRange('abcd', 0, 4), 403, MISMATCH);
    await refused(by('w').getProperties(), 403, MISMATCH);
    await refused(by('rw').delete(), 403, MISMATCH);
    const { filePermissionKey } = await file.getProperties();
    const above = new ShareClient(url('rwd').replace('/f?', '?'), undefined, once);
    await assert.rejects(above.getPermission(filePermissionKey), { statusCode: 403 });
    await assert.rejects(new ShareFileClient(url('rwd').replace('/f?', '/g?'), undefined, once).getProperties(), { statusCode: 403 });
    await by('d').delete();
    assert.equal(await file.exists(), false);
});

test('a SAS of a share opens its files by its letters and policies, not the share itself', async (t) => {
    const share = await newShare(t);
    const by = (options) => new ShareClient(share.generateSasUrl(options), undefined, once);
    const letters = (text) => by({ permissions: ShareSASPermissions.parse(text), expiresOn });
    await letters('c').rootDirectoryClient.createFile('f', 1);
    await refused(letters('r').rootDirectoryClient.createFile('g', 1), 403, MISMATCH);
    await refused(letters('w').rootDirectoryClient.getFileClient('f').delete(), 403, MISMATCH);
    assert.equal((await letters('r').rootDirectoryClient.getFileClient('f').getProperties()).contentLength, 1);
    const names = [];
    for await (const { name } of letters('l').rootDirectoryClient.listFilesAndDirectories())
        names.push(name);
    assert.deepEqual(names, ['f']);
    await refused(letters('r').rootDirectoryClient.listFilesAndDirectories().next(), 403, MISMATCH);
    await assert.rejects(letters('rcwdl').delete(), { statusCode: 403 });
    await share.setAccessPolicy([{ id: 'p', accessPolicy: { permissions: 'r', expiresOn } }]);
    const held = by({ identifier: 'p' }).rootDirectoryClient.getFileClient('f');
    await held.getProperties();
    await refused(held.setMetadata({ a: 'b' }), 403, MISMATCH);
    await share.setAccessPolicy([]);
    await assert.rejects(held.getProperties(), { statusCode: 403 });
});
