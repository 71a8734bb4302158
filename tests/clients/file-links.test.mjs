// Links are of shares for NFS (rest: Create-Hard-Link, Create-Symbolic-Link, Read-Symbolic-Link "Protocol
// availability"): a share for SMB refuses them, and nothing changes. decision: 615
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateFileSASQueryParameters, ShareSASPermissions } from '@azure/storage-file-share';
import { refused } from './setup.mjs';
import { rawFile, newShare, credential, shareName } from './shares-setup.mjs';

const ROWS = [['PUT', 'hardlink', { 'x-ms-type': 'file', 'x-ms-file-target-file': '/f' }],
    ['PUT', 'symboliclink', { 'x-ms-link-text': '/f' }], ['GET', 'symboliclink', {}]];

async function newFile(t) {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    await file.create(10);
    return { share, file };
}

test('the clients are told that the share has no links', async (t) => {
    const { share, file } = await newFile(t);
    const link = share.rootDirectoryClient.getFileClient('link');
    const { etag } = await file.getProperties();
    await refused(link.createHardLink('/f'), 400, 'UnsupportedQueryParameter');
    await refused(link.createSymbolicLink('/f'), 400, 'UnsupportedQueryParameter');
    await refused(file.getSymbolicLink(), 400, 'UnsupportedQueryParameter');
    assert.equal(await link.exists(), false);
    assert.equal((await file.getProperties()).etag, etag);
});

test('the answer names the parameter', async (t) => {
    const { share } = await newFile(t);
    for (const [method, restype, headers] of ROWS) {
        const { status, code, text } = await rawFile(method, `/${share.name}/f?restype=${restype}`, headers);
        assert.deepEqual([status, code], [400, 'UnsupportedQueryParameter'], text);
        assert.match(text, new RegExp(`<QueryParameterName>restype</QueryParameterName><QueryParameterValue>${restype}</QueryParameterValue>`));
    }
});

test('who asks for a share that is not there is told that; who may not, that', async (t) => {
    const { share } = await newFile(t);
    const sas = generateFileSASQueryParameters({ shareName: share.name, permissions: ShareSASPermissions.parse('l'),
        expiresOn: new Date(Date.now() + 3600e3) }, credential).toString();
    for (const [method, restype, headers] of ROWS) {
        const missing = await rawFile(method, `/${shareName()}/f?restype=${restype}`, headers);
        assert.deepEqual([missing.status, missing.code], [404, 'ShareNotFound'], missing.text);
        const denied = await rawFile(method, `/${share.name}/f?restype=${restype}&${sas}`, headers, '', { signed: false });
        assert.deepEqual([denied.status, denied.code], [403, 'AuthorizationPermissionMismatch'], denied.text);
    }
});
