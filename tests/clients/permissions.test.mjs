// Permissions of a share through the official SDK: Create Permission, Get Permission, who may.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountSASPermissions, ShareClient, ShareSASPermissions } from '@azure/storage-file-share';
import { refused } from './setup.mjs';
import { rawRefused } from './raw.mjs';
import { newShare, once, rawFile, service, shareName } from './shares-setup.mjs';

const SDDL = 'O:S-1-5-21-2127521184-1604012920-1887927527-21560751G:S-1-5-21-2127521184-1604012920-1887927527-513' +
    'D:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-21-397955417-626881126-188441444-3053964)';
const CANONICAL = `${SDDL}S:NO_ACCESS_CONTROL`;

test('a permission is created once, and returned by its key (recorded; decision: 308)', async (t) => {
    const share = await newShare(t);
    const { filePermissionKey: key } = await share.createPermission(SDDL);
    assert.match(key, /^\d+\*\d+$/);
    assert.equal((await share.createPermission(CANONICAL)).filePermissionKey, key);
    assert.equal((await share.getPermission(key)).permission, CANONICAL);
    assert.notEqual((await share.createPermission('O:BAG:BAD:')).filePermissionKey, key);
});

test('as bytes too (rest: Create-Permission, "format")', async (t) => {
    const share = await newShare(t);
    const { filePermissionKey: key } = await share.createPermission(SDDL);
    const binary = await share.getPermission(key, { filePermissionFormat: 'Binary' });
    assert.equal(Buffer.from(binary.permission, 'base64')[0], 1);
    assert.equal((await share.createPermission({ permission: binary.permission, format: 'Binary' })).filePermissionKey, key);
});

test('what is no descriptor or no key is refused (SDK tests)', async (t) => {
    const share = await newShare(t);
    for (const permission of ['invalidPermission', 'O:BA', 'O:BAG:BAD:(XA;;FA;;;WD;(a==1))', 'O:DAG:DAD:'])
        await refused(share.createPermission(permission), 400, 'FileInvalidPermission');
    await refused(share.createPermission({ permission: 'AAAA', format: 'Binary' }), 400, 'FileInvalidPermission');
    await refused(share.getPermission('invalidPermission'), 400, 'InvalidHeaderValue');
    await refused(share.getPermission('1*1'), 400, 'FileInvalidPermissionKey');
    const path = `/${share.name}?restype=share&comp=filepermission`;
    await rawRefused(rawFile('GET', path), 400, 'MissingRequiredHeader');
    await rawRefused(rawFile('PUT', path, {}, 'no json'), 400, 'InvalidInput');
    await refused(service.getShareClient(shareName()).createPermission(SDDL), 404, 'ShareNotFound');
});

test('a SAS creates one with w, of a share with w and d, and reads one with r (rest: Create-service-SAS)', async (t) => {
    const share = await newShare(t);
    const expiresOn = new Date(Date.now() + 3600_000);
    const by = (text) => new ShareClient(service.generateAccountSasUrl(expiresOn, AccountSASPermissions.parse(text), 'sco')
        .replace('?', `/${share.name}?`), undefined, once);
    const { filePermissionKey: key } = await by('w').createPermission(SDDL);
    assert.equal((await by('r').getPermission(key)).permission, CANONICAL);
    await refused(by('w').getPermission(key), 403, 'AuthorizationPermissionMismatch');
    await refused(by('r').createPermission(SDDL), 403, 'AuthorizationPermissionMismatch');
    const shareSas = (text) => new ShareClient(share.generateSasUrl({ permissions: ShareSASPermissions.parse(text), expiresOn }), undefined, once);
    assert.equal((await shareSas('r').getPermission(key)).permission, CANONICAL);
    await shareSas('wd').createPermission(SDDL);
    for (const letters of ['r', 'w', 'd', 'cl'])
        await refused(shareSas(letters).createPermission(SDDL), 403, 'AuthorizationPermissionMismatch');
    await refused(shareSas('wd').getPermission(key), 403, 'AuthorizationPermissionMismatch');
});

const WORLD = 'O:BAG:SYD:(A;OICI;FA;;;WD)S:NO_ACCESS_CONTROL';
const text = async (share, { filePermissionKey }) => (await share.getPermission(filePermissionKey)).permission;

test('files and directories have what they are created with, by text, bytes or key', async (t) => {
    const share = await newShare(t);
    const { filePermissionKey: key } = await share.createPermission(WORLD);
    const { permission } = await share.getPermission(key, { filePermissionFormat: 'Binary' });
    const directory = share.getDirectoryClient('d');
    assert.equal((await directory.create({ filePermission: WORLD })).filePermissionKey, key);
    assert.equal((await directory.getProperties()).filePermissionKey, key);
    const file = share.rootDirectoryClient.getFileClient('f');
    assert.equal((await file.create(1, { filePermissionKey: key })).filePermissionKey, key);
    assert.equal((await file.create(1, { filePermission: permission, filePermissionFormat: 'Binary' })).filePermissionKey, key);
    assert.equal((await file.getProperties()).filePermissionKey, key);
});

test('what is created inherits from its directory ([MS-DTYP] 2.5.3.4; decision: 309)', async (t) => {
    const share = await newShare(t);
    const root = await share.rootDirectoryClient.getProperties();
    assert.match(await text(share, root), /^O:SYG:SYD:\(A;OICI;FA;;;BA\)/);
    const directory = share.getDirectoryClient('d');
    await directory.create({ filePermission: WORLD.replace('D:', 'D:AI') });
    const below = await directory.createSubdirectory('e');
    const file = await directory.createFile('f', 0);
    assert.equal(await text(share, await below.directoryClient.getProperties()), 'O:SYG:SYD:AI(A;OICIID;FA;;;WD)S:NO_ACCESS_CONTROL');
    assert.equal(await text(share, await file.fileClient.getProperties()), 'O:SYG:SYD:AI(A;ID;FA;;;WD)S:NO_ACCESS_CONTROL');
    const unmarked = share.getDirectoryClient('unmarked'); // entries are marked only below a list that is; decision: 441
    await unmarked.create({ filePermission: WORLD });
    const { fileClient } = await unmarked.createFile('f', 0);
    assert.equal(await text(share, await fileClient.getProperties()), 'O:SYG:SYD:(A;;FA;;;WD)S:NO_ACCESS_CONTROL');
    const plain = share.getDirectoryClient('plain');
    const made = await plain.create();
    assert.match(await text(share, made), /^O:SYG:SYD:AI\(A;OICIID;FA;;;BA\)/);
    assert.equal((await plain.createSubdirectory('x')).directoryCreateResponse.filePermissionKey, made.filePermissionKey);
});

test('what is no permission makes no file', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    await refused(file.create(1, { filePermission: 'x' }), 400, 'FileInvalidPermission');
    await refused(file.create(1, { filePermission: 'preserve' }), 400, 'FileInvalidPermission');
    await refused(file.create(1, { filePermissionKey: '1*1' }), 400, 'FileInvalidPermissionKey');
    await refused(file.create(1, { filePermissionKey: 'x' }), 400, 'InvalidHeaderValue');
    const path = `/${share.name}/f`;
    const headers = { 'x-ms-type': 'file', 'x-ms-content-length': '0', 'x-ms-file-permission': WORLD };
    await rawRefused(rawFile('PUT', path, { ...headers, 'x-ms-file-permission-key': '1*1' }), 400, 'InvalidHeaderValue');
    await rawRefused(rawFile('PUT', path, { ...headers, 'x-ms-file-permission-format': 'x' }), 400, 'InvalidHeaderValue');
    const long = `O:BAG:SYD:${'(A;;FA;;;WD)'.repeat(700)}`;
    await rawRefused(rawFile('PUT', path, { ...headers, 'x-ms-file-permission': long }), 400, 'FileInvalidPermission');
    assert.equal(await file.exists(), false);
    const { filePermissionKey: key } = await share.createPermission(long);
    assert.equal((await file.create(0, { filePermissionKey: key })).filePermissionKey, key);
});
