// lagra import and export of hierarchical accounts: directories with owners, access control lists, expiry times and encryption
// contexts, between two servers, through files, and with a flat account on one side. docs/import.md; decisions 1480, 1481
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once as event } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { DataLakeServiceClient, StorageSharedKeyCredential } from '@azure/storage-file-datalake';
import { BlobServiceClient } from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { account, collect, once, pattern } from './setup.mjs';

const credential = new StorageSharedKeyCredential(account.name, account.key);
const LARGE = pattern(17 << 20, 3);
const EXPIRES = new Date('2090-03-04T05:06:07Z');

async function start(t, args = ['--hierarchical']) {
    const server = await Server.start({ args });
    t.after(() => server.kill().then(() => server.remove()));
    return { server, blobs: new BlobServiceClient(server.url, credential, once), paths: new DataLakeServiceClient(server.urlOf('dfs'), credential, once) };
}

async function newFolder(t) {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-import-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

async function lagra(folder, words, { from, to } = {}) {
    const env = { ...process.env, LAGRA_FROM_CONNECTION_STRING: from?.server.connectionString ?? '', AZURE_STORAGE_CONNECTION_STRING: to?.server.connectionString ?? '' };
    const child = spawn(process.env.LAGRA_BINARY, [...words, '--json'], { cwd: folder, env });
    let output = '', errors = '';
    child.stdout.on('data', (bytes) => { output += bytes; });
    child.stderr.on('data', (bytes) => { errors += bytes; });
    const [code] = await event(child, 'close');
    return { code, errors, result: JSON.parse(output.trim().split('\n').at(-1)) };
}

async function done(folder, words, sides) {
    const { code, errors, result } = await lagra(folder, words, sides);
    assert.equal(code, 0, errors + JSON.stringify(result));
    assert.equal(result.missing + result.differing + result.problems, 0);
    return result;
}

const acl = (text) => text.split(',').map((entry) => {
    const parts = entry.split(':');
    const defaultScope = parts[0] === 'default';
    const [kind, id, letters] = defaultScope ? parts.slice(1) : parts;
    return { defaultScope, accessControlType: kind, entityId: id, permissions: { read: letters[0] === 'r', write: letters[1] === 'w', execute: letters[2] === 'x' } };
});

async function fill({ paths, blobs }) {
    const lake = paths.getFileSystemClient('lake');
    await lake.create({ metadata: { of: 'lake' } });
    await lake.getDirectoryClient('').setAccessControl(acl('user::rwx,user:reader:r-x,group::r-x,mask::r-x,other::--x,default:user::rwx,default:user:reader:r-x,default:group::r-x,default:mask::r-x,default:other::---'),
        { owner: 'root-owner', group: 'root-group' });
    const directory = lake.getDirectoryClient('in/ä b');
    await directory.create({ metadata: { kind: 'directory' }, pathHttpHeaders: { cacheControl: 'no-cache' } });
    await directory.setAccessControl(acl('user::rwx,user:u1:-wx,group::r--,mask::rwx,other::---'), { owner: 'o1', group: 'g1' });
    await lake.getDirectoryClient('in').setPermissions({ owner: { read: true, write: true, execute: true }, group: { read: true, write: false, execute: true },
        other: { read: false, write: false, execute: false }, stickyBit: true, extendedAcls: false });
    await lake.getDirectoryClient('empty').create();
    await lake.getDirectoryClient('in').setTags?.({ of: 'directory' });
    const small = lake.getFileClient('in/ä b/small.txt');
    await small.create({ metadata: { Of: 'file', empty: '' }, encryptionContext: 'context=1', expiresOn: EXPIRES, owner: 'o2', group: 'g2',
        acl: acl('user::rw-,user:u2:r--,group::---,mask::r--,other::---'), pathHttpHeaders: { contentType: 'text/x', contentLanguage: 'nb', contentEncoding: 'identity', contentDisposition: 'inline' } });
    await small.append('hello', 0, 5);
    await small.flush(5);
    const large = lake.getFileClient('large');
    await large.upload(LARGE, { pathHttpHeaders: { contentMD5: undefined } });
    await large.setAccessControl(acl('user::r--,group::---,other::---'), { owner: 'o3' });
    const container = blobs.getContainerClient('lake');
    const put = container.getBlockBlobClient('in/put');
    await put.upload('first', 5);
    await put.createSnapshot();
    await put.upload('second', 6, { metadata: { m: '1' }, tags: { t: 'y z', u: '' }, tier: 'Cool' });
    await lake.getFileClient('in/put').setAccessControl(acl('user::rw-,user:u4:rw-,group::r--,mask::rw-,other::---'));
    const append = container.getAppendBlobClient('in/append');
    await append.create();
    await append.appendBlock('line\n', 5);
    await lake.getFileClient('in/append').setAccessControl(acl('user::rw-,group::rw-,other::r--'), { owner: 'o5' });
    await lake.getFileClient('in/append').setExpiry('Absolute', { expiresOn: EXPIRES });
    await lake.getFileClient('in/none').create();
    await paths.getFileSystemClient('other').create();
}

/** Everything that a client sees of the paths of an account. */
async function shown({ paths, blobs }, { flat = false } = {}) {
    const all = {};
    for await (const { name, metadata } of paths.listFileSystems({ includeMetadata: true })) {
        const filesystem = paths.getFileSystemClient(name);
        const root = flat ? {} : await filesystem.getDirectoryClient('').getAccessControl();
        const list = [];
        for await (const { name: of, isDirectory } of filesystem.listPaths({ recursive: true })) {
            const file = filesystem.getFileClient(of);
            const { contentType, contentEncoding, contentLanguage, contentDisposition, cacheControl, contentLength, expiresOn, encryptionContext, metadata: own, accessTier } = await file.getProperties();
            const access = flat ? {} : await file.getAccessControl();
            const bytes = contentLength > 0 ? (await file.readToBuffer()).toString('base64') : '';
            list.push({ of, isDirectory, contentType, contentEncoding, contentLanguage, contentDisposition, cacheControl, contentLength, expiresOn, encryptionContext, own, accessTier, bytes,
                owner: access.owner, group: access.group, permissions: access.permissions, acl: access.acl });
        }
        const blobList = (await collect(blobs.getContainerClient(name).listBlobsFlat({ includeSnapshots: true, includeTags: true })))
            .map((one) => ({ name: one.name, isSnapshot: Boolean(one.snapshot), tags: one.tags, type: one.properties.blobType }));
        all[name] = { metadata, root: { owner: root.owner, group: root.group, permissions: root.permissions, acl: root.acl }, list, blobList };
    }
    return all;
}

test('a hierarchical account is imported with owners, lists, expiry times and encryption contexts, and again after a change', async (t) => {
    const [from, to] = await Promise.all([start(t), start(t)]);
    const folder = await newFolder(t);
    await fill(from);
    const result = await done(folder, ['import'], { from, to });
    const wanted = await shown(from);
    assert.deepEqual(await shown(to), wanted);
    assert.equal(result.directories, 3);
    assert.equal(result.leftOut.accessControl, 0);
    const { list } = wanted.lake;
    const small = list.find(({ of }) => of.endsWith('small.txt'));
    assert.deepEqual([small.encryptionContext, small.expiresOn.getTime(), small.owner], ['context=1', EXPIRES.getTime(), 'o2'], 'the source has what is compared');
    assert.equal(list.find(({ of }) => of === 'in').permissions.stickyBit, true);
    // A list that has changed is copied to the existing directory and file.
    const lake = from.paths.getFileSystemClient('lake');
    await lake.getDirectoryClient('in').setAccessControl(acl('user::rwx,user:late:r--,group::---,mask::r--,other::---'), { owner: 'late' });
    await lake.getFileClient('large').setAccessControl(acl('user::rw-,group::r--,other::r--'), { owner: 'late' });
    await done(folder, ['import'], { from, to });
    assert.deepEqual(await shown(to), await shown(from));
});

test('an export has what is needed to restore a hierarchical account', async (t) => {
    const [from, to] = await Promise.all([start(t), start(t)]);
    const folder = await newFolder(t);
    await fill(from);
    await done(folder, ['export', 'out'], { from });
    const lines = (await readFile(path.join(folder, 'out/account.jsonl'), 'utf8')).trim().split('\n').map((line) => JSON.parse(line));
    const root = lines.find(({ kind, parent, name }) => kind === 'folder' && parent === 'lake' && name === '');
    assert.equal(root.states[0].headers['x-ms-owner'], 'root-owner');
    assert.equal(lines.find(({ kind, name }) => kind === 'folder' && name === 'in').states[0].headers['x-ms-permissions'], 'rwxr-x--T');
    await done(folder, ['import', 'out'], { to });
    assert.deepEqual(await shown(to), await shown(from));
});

test('a flat target gets the content, and is told what is lost', async (t) => {
    const [from, to, back] = await Promise.all([start(t), start(t, []), start(t)]);
    const folder = await newFolder(t);
    await fill(from);
    const result = await done(folder, ['import'], { from, to });
    const paths = (await shown(from, { flat: true })).lake.list;
    assert.equal(result.leftOut.accessControl, paths.length + 2, 'each path, and two roots');
    const copied = (await shown(to, { flat: true })).lake.list;
    const plain = (list) => list.map(({ of, isDirectory, own, bytes, contentLength }) => ({ of, isDirectory, own: { ...own, hdi_isfolder: undefined }, bytes, contentLength }))
        .sort((a, b) => (a.of < b.of ? -1 : 1));
    assert.deepEqual(plain(copied), plain(paths));
    assert.equal(copied.find(({ of }) => of.endsWith('small.txt')).expiresOn, undefined);
    // And a flat account into a hierarchical one, whose paths get the lists of new ones.
    const second = await done(folder, ['import'], { from: to, to: back });
    assert.equal(second.leftOut.accessControl, 0);
    assert.deepEqual(plain((await shown(back, { flat: true })).lake.list), plain(paths));
    assert.equal((await back.paths.getFileSystemClient('lake').getDirectoryClient('in').getAccessControl()).owner, '$superuser');
});

/** Passes requests on to the server's Blob service, except lists of tags. Returns its port. */
async function withoutTags(t, server) {
    const { port } = new URL(server.url);
    const proxy = http.createServer((request, response) => {
        if (/include=[^&]*tags/.test(request.url))
            return response.writeHead(400, { 'x-ms-error-code': 'InvalidQueryParameterValue' }).end();
        const onward = http.request({ host: '127.0.0.1', port, method: request.method, path: request.url, headers: request.headers }, (answer) => {
            response.writeHead(answer.statusCode, answer.headers);
            answer.pipe(response);
        });
        return request.pipe(onward);
    });
    await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    t.after(() => proxy.close());
    return proxy.address().port;
}

test('an account that does not list tags of paths, as in Azure, and whose Data Lake endpoint does not respond', async (t) => {
    const [from, to] = await Promise.all([start(t), start(t)]);
    const folder = await newFolder(t);
    await fill(from);
    const port = await withoutTags(t, from.server);
    const strings = (text) => ({ server: { connectionString: from.server.connectionString.replace(from.server.url, `http://127.0.0.1:${port}/${account.name}`).replace(/DfsEndpoint=[^;]*/, text) } });
    const { code, errors, result } = await lagra(folder, ['import'], { from: strings('DfsEndpoint=http://127.0.0.1:1/none'), to });
    assert.equal(code, 0, errors);
    assert.match(errors, /the encryption contexts of files and the access control lists of root directories are not copied/);
    assert.equal(result.leftOut.accessControl, 2, 'the two roots');
    const wanted = (await shown(from)).lake, found = (await shown(to)).lake;
    assert.deepEqual(found.list, wanted.list.map((one) => ({ ...one, encryptionContext: undefined })));
    assert.notEqual(found.root.owner, wanted.root.owner);
});
