// Files through the official SDK: create, properties, metadata, deletion.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { account, refused } from './setup.mjs';
import { rawRefused } from './raw.mjs';
import { FileSASPermissions, ShareClient, ShareSASPermissions, generateFileSASQueryParameters } from '@azure/storage-file-share';
import { atHost, credential, newShare, once, rawFile, url } from './shares-setup.mjs';

const TIB = 2 ** 40;

test('Create File: its length and what it has, by default (rest: Create-File; semantics 8.1)', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('File.txt');
    const made = await file.create(10, { metadata: { m: 'v' } });
    assert.equal(made.fileAttributes, 'Archive');
    assert.equal(made.fileParentId, '0');
    const shown = await file.getProperties();
    assert.deepEqual([shown.contentLength, shown.contentType, shown.fileType, shown.metadata],
        [10, 'application/octet-stream', 'File', { m: 'v' }]);
    assert.deepEqual([shown.leaseStatus, shown.leaseState], ['unlocked', 'available']);
    for (const name of ['etag', 'fileId', 'fileParentId', 'fileAttributes', 'filePermissionKey'])
        assert.equal(shown[name], made[name], name);
    for (const name of ['fileCreatedOn', 'fileLastWriteOn', 'fileChangeOn', 'lastModified'])
        assert.equal(shown[name].getTime(), made[name].getTime(), name);
    assert.equal(await file.exists(), true);
    assert.equal(await share.rootDirectoryClient.getFileClient('other').exists(), false);
});

test('Create File keeps what HTTP has of it, and lengths up to 4 TiB', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    const fileHttpHeaders = {
        fileContentType: 'text/plain', fileContentEncoding: 'deflate', fileContentLanguage: 'en-US',
        fileCacheControl: 'no-store', fileContentDisposition: 'attachment',
        fileContentMD5: new Uint8Array(16).fill(7),
    };
    await file.create(4 * TIB, { fileHttpHeaders });
    const shown = await file.getProperties();
    assert.deepEqual([shown.contentLength, shown.contentType, shown.contentEncoding, shown.contentLanguage,
        shown.cacheControl, shown.contentDisposition, [...shown.contentMD5]],
    [4 * TIB, 'text/plain', 'deflate', 'en-US', 'no-store', 'attachment', Array(16).fill(7)]);
    const put = (headers) => rawFile('PUT', `/${share.name}/g`, { 'x-ms-type': 'file', ...headers });
    await rawRefused(put({ 'x-ms-content-length': String(4 * TIB + 1) }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-content-length': '-1' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({}), 400, 'MissingRequiredHeader');
    await rawRefused(rawFile('PUT', `/${share.name}/g`, { 'x-ms-content-length': '1' }), 400, 'MissingRequiredHeader');
});

test('Create File over another: nothing of that is left', async (t) => {
    const share = await newShare(t);
    const { fileClient: file, fileCreateResponse: first } = await share.createFile('f', 3, { metadata: { a: '1' } });
    const second = await file.create(4);
    assert.notEqual(second.etag, first.etag);
    const shown = await file.getProperties();
    assert.deepEqual([shown.contentLength, shown.metadata, shown.etag, shown.fileId], [4, {}, second.etag, second.fileId]);
    await file.create(5, { fileAttributes: { toString: () => 'ReadOnly' } });
    assert.equal((await file.getProperties()).fileAttributes, 'ReadOnly | Archive');
    await refused(file.create(6), 409, 'ReadOnlyAttribute');
    await refused(file.setMetadata({ a: '1' }), 409, 'ReadOnlyAttribute');
});

test('Set and Get File Metadata replace all; the change time and ETag move', async (t) => {
    const share = await newShare(t);
    const { fileClient: file } = await share.createFile('f', 0, { metadata: { a: '1' } });
    const before = await file.getProperties();
    const set = await file.setMetadata({ b: '2' });
    const after = await file.getProperties();
    assert.notEqual(set.etag, before.etag);
    assert.deepEqual([after.etag, after.metadata], [set.etag, { b: '2' }]);
    assert.equal(after.fileLastWriteOn.getTime(), before.fileLastWriteOn.getTime());
    for (const method of ['GET', 'HEAD']) {
        const answer = await rawFile(method, `/${share.name}/f?comp=metadata`);
        assert.deepEqual([answer.status, answer.headers.get('x-ms-meta-b'), answer.headers.get('etag')], [200, '2', set.etag]);
    }
});

test('Delete File', async (t) => {
    const share = await newShare(t);
    const { fileClient: file } = await share.createFile('f', 1);
    await file.delete();
    await refused(file.delete(), 404, 'ResourceNotFound');
    await refused(file.getProperties(), 404, 'ResourceNotFound');
    assert.equal((await file.deleteIfExists()).succeeded, false);
    assert.equal((await share.createFile('f', 2)).fileCreateResponse.fileParentId, '0');
});

const at = (time) => new Date(Date.UTC(2001, 1, 3, 4, 5, 6, time));
const attributes = (text) => ({ toString: () => text });

test('Set File Properties: a length alone keeps what HTTP has (recorded; decision 877)', async (t) => {
    const share = await newShare(t);
    const { fileClient: file } = await share.createFile('f', 3, { fileHttpHeaders: { fileContentType: 'a/b', fileCacheControl: 'no-store' } });
    const shown = async () => {
        const { contentLength, contentType, cacheControl, contentLanguage } = await file.getProperties();
        return [contentLength, contentType, cacheControl, contentLanguage];
    };
    await file.resize(5);
    assert.deepEqual(await shown(), [5, 'a/b', 'no-store', undefined]);
    await rawFile('PUT', `/${share.name}/f?comp=properties`, { 'x-ms-content-length': '6', 'x-ms-content-language': 'de' });
    assert.deepEqual(await shown(), [6, undefined, undefined, 'de']);
    await rawFile('PUT', `/${share.name}/f?comp=properties`, { 'x-ms-content-length': '7', 'x-ms-content-language': '' });
    assert.deepEqual(await shown(), [7, undefined, undefined, undefined]);
    await file.setHttpHeaders({ fileContentType: 'c/d' });
    await rawFile('PUT', `/${share.name}/f?comp=properties`);
    assert.deepEqual(await shown(), [7, undefined, undefined, undefined]);
});

test('Set File Properties: a length that changes moves the last write time, even if it is preserved (recorded; decision 877)', async (t) => {
    const share = await newShare(t);
    const { fileClient: file } = await share.createFile('f', 3);
    const written = async () => (await file.getProperties()).fileLastWriteOn.getTime();
    const resize = async (length, time) => {
        await new Promise((resolve) => setTimeout(resolve, 2)); // the clock has moved
        await file.resize(length, { lastWriteTime: time });
        return written();
    };
    const first = await written();
    const second = await resize(5, 'preserve');
    assert.ok(second > first);
    assert.equal(await resize(5, 'preserve'), second);
    assert.ok(await resize(4) > second);
    const required = { 'x-ms-file-permission': 'preserve', 'x-ms-file-attributes': 'preserve',
        'x-ms-file-creation-time': 'preserve', 'x-ms-file-last-write-time': 'preserve' };
    const early = await rawFile('PUT', `/${share.name}/f?comp=properties`, { 'x-ms-content-length': '9', ...required }, '',
        { version: '2021-04-10' });
    assert.equal(early.status, 200);
    const kept = await written();
    await new Promise((resolve) => setTimeout(resolve, 2));
    await rawFile('PUT', `/${share.name}/f?comp=properties`, { 'x-ms-content-length': '10', ...required }, '',
        { version: '2019-02-02' });
    assert.equal(await written(), kept);
    assert.equal(await resize(6, at(0)), at(0).getTime());
});

test('Set File Properties: what HTTP has is set whole; attributes and times as given or as they are (semantics 8.1)', async (t) => {
    const share = await newShare(t);
    const { fileClient: file } = await share.createFile('f', 3, { fileAttributes: attributes('None') });
    const before = await file.getProperties();
    const set = await file.setHttpHeaders({ fileContentDisposition: 'inline' });
    let now = await file.getProperties();
    assert.notEqual(set.etag, before.etag);
    assert.deepEqual([now.contentDisposition, now.contentType, now.fileAttributes, now.etag], ['inline', undefined, 'Archive', set.etag]);
    assert.equal(now.fileLastWriteOn.getTime(), before.fileLastWriteOn.getTime());
    assert.ok(now.fileChangeOn > before.fileChangeOn);
    await file.setProperties({
        fileAttributes: attributes('NotContentIndexed|System'), creationTime: at(1), lastWriteTime: at(2), changeTime: at(3),
    });
    now = await file.getProperties();
    assert.deepEqual([now.fileAttributes, now.fileCreatedOn, now.fileLastWriteOn, now.fileChangeOn],
        ['System | NotContentIndexed', at(1), at(2), at(3)]);
    assert.equal(now.contentLength, 3);
    await file.resize(5);
    assert.equal((await file.getProperties()).contentLength, 5);
    await file.resize(0);
    assert.equal((await file.getProperties()).contentLength, 0);
    const put = (headers) => rawFile('PUT', `/${share.name}/f?comp=properties`, headers);
    for (const headers of [{ 'x-ms-file-attributes': 'Directory' }, { 'x-ms-file-attributes': 'Strange' },
        { 'x-ms-file-creation-time': 'yesterday' }, { 'x-ms-file-creation-time': '1600-12-31T23:59:59Z' },
        { 'x-ms-content-length': '4398046511105' }])
        await rawRefused(put(headers), 400, 'InvalidHeaderValue');
    for (const name of ['x-ms-file-attributes', 'x-ms-file-creation-time'])
        assert.equal((await put({ [name]: '' })).status, 200, `${name}: empty is absent (decision: 862)`);
    for (const name of ['x-ms-owner', 'x-ms-mode', 'x-ms-group'])
        await rawRefused(put({ [name]: '1' }), 400, 'UnsupportedHeader');
});

test('a read-only file is written again when the request takes the attribute away (decision: 327)', async (t) => {
    const share = await newShare(t);
    const { fileClient: file } = await share.createFile('f', 3);
    await file.setProperties({ fileAttributes: attributes('ReadOnly') });
    await refused(file.setHttpHeaders({ fileContentType: 'a/b' }), 409, 'ReadOnlyAttribute');
    await refused(file.setProperties({ fileAttributes: attributes('ReadOnly | Hidden') }), 409, 'ReadOnlyAttribute');
    await file.setProperties({ fileAttributes: attributes('None') });
    assert.equal((await file.getProperties()).fileAttributes, 'None');
    await file.setMetadata({ a: 'b' });
});

test('Rename File: the same file under another name, as recorded (semantics 8.1)', async (t) => {
    const share = atHost(await newShare(t));
    const { directoryClient: directory } = await share.createDirectory('d');
    const { fileClient: file, fileCreateResponse: made } = await share.createFile('f', 7, { metadata: { a: '1' } });
    await delay(2); // Date has milliseconds
    const moved = (await file.rename('d/g')).destinationFileClient;
    await refused(file.getProperties(), 404, 'ResourceNotFound');
    const now = await moved.getProperties();
    assert.deepEqual([now.fileId, now.contentLength, now.metadata], [made.fileId, 7, { a: '1' }]);
    assert.equal(now.fileParentId, (await directory.getProperties()).fileId);
    assert.notEqual(now.etag, made.etag);
    assert.equal(now.fileCreatedOn.getTime(), made.fileCreationTime?.getTime() ?? made.fileCreatedOn.getTime());
    assert.ok(now.fileChangeOn > made.fileChangeOn);
    await moved.rename('D/G');
    assert.equal((await share.getDirectoryClient('d').getFileClient('g').getProperties()).fileId, made.fileId);
    const { destinationFileClient: last, fileRenameResponse } = await moved.rename('h', {
        metadata: { b: '2' }, contentType: 'x/y', copyFileSmbInfo: { fileAttributes: 'None', fileLastWriteTime: '2001-02-03T04:05:06.0000000Z' },
    });
    assert.equal(fileRenameResponse.fileParentId, '0');
    const shown = await last.getProperties();
    assert.deepEqual([shown.metadata, shown.fileAttributes, shown.fileLastWriteOn, shown.contentType],
        [{ b: '2' }, 'None', at(0), 'x/y']);
});

test('Rename File over another: only if it is said; its attribute and both leases are looked at', async (t) => {
    const share = atHost(await newShare(t));
    const root = share.rootDirectoryClient;
    const make = async (name, options) => (await root.createFile(name, 1, options)).fileClient;
    const [a, b] = [await make('a'), await make('b', { fileAttributes: attributes('ReadOnly') })];
    await refused(a.rename('b'), 409, 'ResourceAlreadyExists');
    await refused(a.rename('b', { replaceIfExists: true }), 409, 'ReadOnlyAttribute');
    const { fileId } = await a.getProperties();
    await a.rename('b', { replaceIfExists: true, ignoreReadOnly: true });
    assert.deepEqual([(await b.getProperties()).fileId, await a.exists()], [fileId, false]);
    await make('c');
    await share.createDirectory('dir');
    await refused(b.rename('dir', { replaceIfExists: true }), 409, 'ResourceTypeMismatch');
    await refused(b.rename('none/b'), 404, 'ParentNotFound');
    await refused(a.rename('x'), 404, 'ResourceNotFound');
    await refused(root.getFileClient('dir').rename('x'), 409, 'ResourceTypeMismatch');
    const leased = await rawFile('PUT', `/${share.name}/c2?comp=rename`,
        { 'x-ms-file-rename-source': `${url}/${share.name}/c`, 'x-ms-source-lease-id': '11111111-2222-3333-4444-555555555555' });
    assert.equal(leased.status, 412);
});

test('Rename by the SDK where the path names the account, which it leaves out of the destination (decision 690)', async (t) => {
    const share = await newShare(t);
    const root = share.rootDirectoryClient;
    assert.equal(new URL(share.url).pathname, `/${account.name}/${share.name}`);
    await share.createDirectory('d');
    const { fileClient: file } = await root.createFile('f', 1);
    await file.rename('d/g');
    assert.deepEqual([await file.exists(), await share.getDirectoryClient('d').getFileClient('g').exists()], [false, true]);
    await share.getDirectoryClient('d').rename('e');
    const signed = (letters) => new ShareClient(share.generateSasUrl({ permissions: ShareSASPermissions.parse(letters),
        expiresOn: new Date(Date.now() + 3600000) }), undefined, once).getDirectoryClient('e').getFileClient('g');
    await refused(signed('r').rename('h'), 403, 'AuthorizationPermissionMismatch');
    await signed('rw').rename('h');
    assert.equal(await root.getFileClient('h').exists(), true);
    const without = (source, query = 'comp=rename') => rawFile('PUT', '', { 'x-ms-file-rename-source': source }, '',
        { target: `/${share.name}/i?${query}` });
    const base = share.url.slice(0, -`/${share.name}`.length);
    for (const source of [`${base}/other/h`, `${base.replace(account.name, 'other')}/${share.name}/h`, `${base}/${share.name.slice(1)}/h`,
        `http://elsewhere/${account.name}/${share.name}/h`, `${base}/${share.name}`.replace(`/${account.name}`, '')])
        await rawRefused(without(source), 403, 'AuthenticationFailed');
    await rawRefused(without(`${base}/${share.name}/h`, 'timeout=5'), 403, 'AuthenticationFailed');
    assert.equal((await without(`${base}/${share.name}/h`)).status, 200);
});

/* How often each asks: so that what one reads is changed by others while it reads on. */
const RACED = 40;

test('A file that several rename at once is found by all, or is not there: nothing looks damaged', async (t) => {
    const share = await newShare(t);
    const seen = new Set();
    const often = async (ask) => {
        for (let i = 0; i < RACED; i++)
            seen.add((await ask()).status);
    };
    const rename = (from, to) => rawFile('PUT', `/${share.name}/${to}/f?comp=rename`, { 'x-ms-file-rename-source': `${url}/${share.name}/${from}/f` });
    const look = (at) => rawFile('HEAD', `/${share.name}/${at}/f`);
    const list = (at) => rawFile('GET', `/${share.name}/${at}?restype=directory&comp=list&include=Etag,Timestamps`);

    await share.createDirectory('a');
    await share.createDirectory('b');
    await share.getDirectoryClient('a').createFile('f', 1);
    await Promise.all([['a', 'b'], ['b', 'a'], ['a', 'b'], ['b', 'a']].flatMap(([from, to]) =>
        [often(() => rename(from, to)), often(() => look(from)), often(() => list(to))]));
    assert.deepEqual([...seen].filter((status) => status !== 200 && status !== 404), []);
    const there = await Promise.all(['a', 'b'].map((at) => share.getDirectoryClient(at).getFileClient('f').exists()));
    assert.equal(there.filter(Boolean).length, 1);
});

test('Rename: the source is a directory or file of the same share', async (t) => {
    const share = await newShare(t);
    const { fileClient: file } = await share.createFile('f', 1);
    const rename = (source, more = {}) => rawFile('PUT', `/${share.name}/g?comp=rename`, { 'x-ms-file-rename-source': source, ...more });
    const base = file.url.slice(0, -`/${share.name}/f`.length);
    for (const source of ['', 'f', `/${share.name}/f`, `${base}/other/f`, `${base}/${share.name}`, `${base}/${share.name}/`,
        `http://elsewhere:1/devstoreaccount1/${share.name}/f`, `${base.replace(/devstoreaccount1/, 'other')}/${share.name}/f`,
        `${base}/${share.name}/%ff`])
        await rawRefused(rename(source), 400, 'InvalidHeaderValue');
    await rawRefused(rename(undefined), 400, 'MissingRequiredHeader');
    await rawRefused(rename(`${base}/${share.name}/a%3Ab`), 400, 'InvalidResourceName');
    await rawRefused(rename(file.url, { 'x-ms-file-rename-replace-if-exists': 'maybe' }), 400, 'InvalidHeaderValue');
    await rawRefused(rename(file.url, { 'x-ms-source-lease-id': 'x' }), 400, 'InvalidHeaderValue');
    const sas = (resource, permissions) => generateFileSASQueryParameters({
        shareName: share.name, filePath: resource === 'f' ? 'g' : undefined, expiresOn: new Date(Date.now() + 3600000),
        permissions: (resource === 'f' ? FileSASPermissions : ShareSASPermissions).parse(permissions),
    }, credential).toString();
    const bySas = (query, source) => rawFile('PUT', `/${share.name}/g?comp=rename&${query}`, { 'x-ms-file-rename-source': source }, '',
        { signed: false });
    await rawRefused(bySas(sas('f', 'w'), file.url), 403, 'AuthorizationPermissionMismatch');
    const whole = sas('s', 'rw');
    await rawRefused(bySas(whole, `${file.url}?${sas('s', 'r')}`), 403, 'AuthorizationPermissionMismatch');
    await rawRefused(bySas(sas('s', 'r'), file.url), 403, 'AuthorizationPermissionMismatch');
    assert.equal((await bySas(whole, `${file.url}?${whole}`)).status, 200);
});

test('trailing dots count where it is said, of the source too', async (t) => {
    const share = await newShare(t);
    const put = (name, more) => rawFile('PUT', `/${share.name}/${name}`, { 'x-ms-type': 'file', 'x-ms-content-length': '1', ...more });
    const dots = { 'x-ms-allow-trailing-dot': 'true' };
    assert.equal((await put('a.', dots)).status, 201);
    assert.equal((await rawFile('HEAD', `/${share.name}/a`)).status, 404);
    assert.equal((await put('b...')).status, 201);
    assert.equal((await rawFile('HEAD', `/${share.name}/b`)).status, 200);
    const rename = (headers) => rawFile('PUT', `/${share.name}/c.?comp=rename`, { 'x-ms-file-rename-source': `${url}/${share.name}/a.`, ...headers });
    await rawRefused(rename({}), 404, 'ResourceNotFound');
    assert.equal((await rename({ 'x-ms-source-allow-trailing-dot': 'true' })).status, 200);
    assert.equal((await rawFile('HEAD', `/${share.name}/c`)).status, 200);
});

test('a SAS that only creates makes new files, and writes over none (rest: Create-service-SAS; decision: 328)', async (t) => {
    const share = await newShare(t);
    const query = generateFileSASQueryParameters({
        shareName: share.name, expiresOn: new Date(Date.now() + 3600000), permissions: ShareSASPermissions.parse('c'),
    }, credential).toString();
    const put = (name) => rawFile('PUT', `/${share.name}/${name}?${query}`, { 'x-ms-type': 'file', 'x-ms-content-length': '1' }, '',
        { signed: false });
    assert.equal((await put('f')).status, 201);
    await rawRefused(put('F'), 403, 'UnauthorizedBlobOverwrite');
    assert.equal((await put('g')).status, 201);
});

test('a name that XML cannot hold is shown encoded', async (t) => {
    const share = await newShare(t);
    await share.createFile('a\ufffe', 0);
    const { text } = await rawFile('GET', `/${share.name}?restype=directory&comp=list`);
    assert.match(text, /<Name Encoded="true">a%EF%BF%BE<\/Name>/);
    const names = [];
    for await (const { name } of share.rootDirectoryClient.listFilesAndDirectories())
        names.push(name);
    assert.deepEqual(names, ['a\ufffe']);
});

test('Rename File asks for both leases; the source keeps its own, that of the target is gone (semantics 8.1)', async (t) => {
    const share = await newShare(t);
    const make = async (name) => {
        const { fileClient } = await share.createFile(name, 1);
        return (await fileClient.getShareLeaseClient().acquireLease(-1)).leaseId;
    };
    const [source, target] = [await make('a'), await make('b')];
    const rename = (headers) => rawFile('PUT', `/${share.name}/b?comp=rename`,
        { 'x-ms-file-rename-source': `${url}/${share.name}/a`, 'x-ms-file-rename-replace-if-exists': 'true', ...headers });
    await rawRefused(rename({}), 412, 'LeaseIdMissing');
    await rawRefused(rename({ 'x-ms-source-lease-id': source }), 412, 'LeaseIdMissing');
    await rawRefused(rename({ 'x-ms-destination-lease-id': target }), 412, 'LeaseIdMissing');
    await rawRefused(rename({ 'x-ms-source-lease-id': target, 'x-ms-destination-lease-id': source }), 412, 'LeaseIdMismatchWithFileOperation');
    assert.equal((await rename({ 'x-ms-source-lease-id': source, 'x-ms-destination-lease-id': target })).status, 200);
    const file = share.rootDirectoryClient.getFileClient('b');
    assert.equal((await file.getProperties()).leaseState, 'leased');
    await refused(file.setMetadata({ a: 'b' }, { leaseAccessConditions: { leaseId: target } }), 412, 'LeaseIdMismatchWithFileOperation');
    await file.setMetadata({ a: 'b' }, { leaseAccessConditions: { leaseId: source } });
});
