// Index tags of files and directories of hierarchical accounts: set, read, as conditions, found by path, through renames,
// deletions, soft delete and expiry. rest: Set-Blob-Tags, Find-Blobs-by-Tags; SDK tests: DataLakePathClientTest.GetSetTags;
// decision: 1372
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { DataLakeSASPermissions, DataLakeServiceClient, generateDataLakeSASQueryParameters } from '@azure/storage-file-datalake';
import { run } from '../lib/program.mjs';
import { Control, Server } from '../lib/server.mjs';
import { account, credential, newFile, refused } from './dfs-setup.mjs';
import { raw } from './raw.mjs';
import { collect, containerName, once, until } from './setup.mjs';

let server, control, service, blobs;

const connect = () => {
    service = new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${server.ports.dfs}`, credential, once);
    blobs = new BlobServiceClient(server.urlOf('blob'), credential, once);
};
before(async () => {
    server = await Server.start({ args: ['--hierarchical'] });
    control = new Control(server);
    connect();
    await blobs.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
});
after(async () => {
    control.close();
    await server.kill();
    await server.remove();
});

let last = 0;
/** A filesystem, a tag value that no other test has, and searches for it. */
async function open(t, names = []) {
    const files = service.getFileSystemClient(containerName());
    await files.create();
    t.after(() => files.delete().catch(() => {}));
    const value = `v${++last}`;
    const container = blobs.getContainerClient(files.name);
    const at = {
        files, container, value,
        tag: (path, tags = { t: value }) => files.getFileClient(path).setTags(tags),
        tags: async (path) => (await files.getFileClient(path).getTags()).tags,
        found: async (where = `t='${value}'`) => (await collect(container.findBlobsByTags(where))).map(({ name }) => name).sort().join(' '),
        everywhere: async () => (await collect(blobs.findBlobsByTags(`t='${value}'`))).map(({ containerName: of, name }) => `${of === files.name ? '' : of}/${name}`).sort().join(' '),
        undelete: (path) => raw('PUT', `/${files.name}/${path}?comp=undelete`, {}, '', { base: server }),
    };
    for (const name of names)
        await newFile(files, name, name);
    return at;
}

test('files and directories have tags, which change neither ETag nor date', async (t) => {
    const at = await open(t, ['d/f']);
    for (const client of [at.files.getFileClient('d/f'), at.files.getDirectoryClient('d')]) {
        const { etag, lastModified } = await client.getProperties();
        assert.deepEqual((await client.getTags()).tags, {});
        await client.setTags({ t: at.value, b: 'one two' });
        assert.deepEqual((await client.getTags()).tags, { b: 'one two', t: at.value });
        const now = await client.getProperties();
        assert.deepEqual([now.etag, +now.lastModified], [etag, +lastModified]);
        assert.equal(now._response.headers.get('x-ms-tag-count'), '2');
    }
    assert.equal(await at.found(), 'd d/f');
    const listed = await collect(at.container.listBlobsFlat({ includeTags: true }));
    assert.deepEqual(listed.map(({ name, tags, properties }) => [name, tags.t, properties.tagCount]), [['d', at.value, 2], ['d/f', at.value, 2]]);
    await at.tag('d/f', {});
    assert.equal(await at.found(), 'd');
    await refused(at.files.getFileClient('none').setTags({ a: '1' }), 404, 'BlobNotFound');
    await refused(at.files.getFileClient('none').getTags(), 404, 'BlobNotFound');
});

test('tags are conditions, and respect leases', async (t) => {
    const at = await open(t, ['f']);
    const file = at.files.getFileClient('f');
    await at.tag('f');
    const fits = { conditions: { tagConditions: `t='${at.value}'` } }, not = { conditions: { tagConditions: "t='other'" } };
    await refused(file.setTags({ a: '1' }, not), 412, 'ConditionNotMet');
    await refused(file.getTags(not), 412, 'ConditionNotMet');
    assert.deepEqual((await file.getTags(fits)).tags, { t: at.value });
    await refused(at.container.getBlobClient('f').setMetadata({ a: '1' }, not), 412, 'ConditionNotMet');
    await at.container.getBlobClient('f').setMetadata({ a: '1' }, fits);
    const { leaseId } = await file.getDataLakeLeaseClient().acquireLease(-1);
    await refused(file.setTags({ a: '1' }), 412, 'LeaseIdMissing');
    await file.setTags({ a: '1' }, { conditions: { leaseId } });
    assert.deepEqual(await at.tags('f'), { a: '1' });
});

test('renames keep tags, and searches find the new paths', async (t) => {
    const at = await open(t, ['a/b/one', 'a/b/two', 'a/three', 'x/y', 'other']);
    for (const path of ['a/b/one', 'a/b/two', 'a/three', 'other'])
        await at.tag(path);
    assert.equal(await at.found(), 'a/b/one a/b/two a/three other');
    await at.files.getDirectoryClient('a').move('x/moved');
    assert.equal(await at.found(), 'other x/moved/b/one x/moved/b/two x/moved/three');
    assert.equal(await at.everywhere(), '/other /x/moved/b/one /x/moved/b/two /x/moved/three');
    await at.files.getFileClient('x/moved/three').move('other'); // replaces it
    assert.equal(await at.found(), 'other x/moved/b/one x/moved/b/two');
    assert.deepEqual(await at.tags('other'), { t: at.value });
});

test('overwriting removes tags, appending and metadata keep them', async (t) => {
    const at = await open(t);
    const file = await newFile(at.files, 'f', 'one');
    await at.tag('f');
    await file.append('two', 3, 3);
    await file.flush(6);
    await file.setMetadata({ a: '1' });
    await file.setPermissions({ owner: { read: true, write: true, execute: false }, group: {}, other: {}, stickyBit: false, extendedAcls: false });
    assert.deepEqual(await at.tags('f'), { t: at.value });
    await newFile(at.files, 'f', 'new');
    assert.deepEqual(await at.tags('f'), {});
    assert.equal(await at.found(), '');
    const blob = at.container.getBlockBlobClient('d/g');
    await blob.upload('x', 1, { tags: { t: at.value } });
    await at.container.getBlobClient('d/copy').beginCopyFromURL(blob.url, { tags: { t: at.value, c: '1' } });
    assert.equal(await at.found(), 'd/copy d/g');
    assert.equal(await at.found(`t='${at.value}' AND c='1'`), 'd/copy');
    // Put Blob that creates a directory
    const put = (tags) => raw('PUT', `/${at.files.name}/dir`, { 'x-ms-blob-type': 'BlockBlob', 'x-ms-meta-hdi_isfolder': 'true', ...(tags ? { 'x-ms-tags': tags } : {}) }, '', { base: server });
    assert.equal((await put(`t=${at.value}`)).status, 201);
    assert.equal(await at.found(), 'd/copy d/g dir');
    assert.equal((await put()).status, 201); // an existing directory is not overwritten
    assert.deepEqual(await at.tags('dir'), { t: at.value });
});

test('deleted paths are not found, also below deleted directories, until they are restored', async (t) => {
    const at = await open(t, ['d/sub/f', 'd/g', 'h']);
    for (const path of ['d/sub/f', 'd/g', 'h', 'd/sub'])
        await at.tag(path);
    assert.equal(await at.found(), 'd/g d/sub d/sub/f h');
    await at.files.getFileClient('h').delete();
    await at.files.getDirectoryClient('d').delete(true);
    assert.equal(await at.found(), '');
    assert.equal(await at.everywhere(), '');
    assert.equal((await at.undelete('d')).status, 200);
    assert.equal((await at.undelete('h')).status, 200);
    assert.equal(await at.found(), 'd/g d/sub d/sub/f h');
    assert.deepEqual(await at.tags('d/sub/f'), { t: at.value });
});

test('an expired file is not found', async (t) => {
    const at = await open(t, ['d/f', 'd/g']);
    for (const path of ['d/f', 'd/g'])
        await at.tag(path);
    await at.files.getFileClient('d/f').setExpiry('Absolute', { expiresOn: new Date(Date.now() + 1500) });
    assert.equal(await at.found(), 'd/f d/g');
    await until(async () => await at.found() === 'd/g');
});

// decision: 1408
test('an expired file that its container retains is found', async (t) => {
    const at = await open(t, ['d/f', 'd/g']);
    const protect = (...change) => run(['container', 'protect', at.files.name, ...change, '--location', server.location]);
    for (const path of ['d/f', 'd/g'])
        await at.tag(path);
    await at.files.getFileClient('d/f').setExpiry('Absolute', { expiresOn: new Date(Date.now() + 3000) });
    assert.equal((await protect('hold', '--tags', 'case1')).code, 0);
    await new Promise((resolve) => setTimeout(resolve, 3500));
    assert.equal(await at.found(), 'd/f d/g');
    assert.equal((await at.files.getFileClient('d/f').getProperties()).contentLength > 0, true);
    assert.equal((await protect('release', '--tags', 'case1')).code, 0);
    await until(async () => await at.found() === 'd/g');
});

test('pages of any size have each path once', async (t) => {
    const names = Array.from({ length: 40 }, (_, i) => `d${i % 7}/e${i % 3}/f${i}`);
    const at = await open(t, names);
    await Promise.all(names.map((path, i) => at.tag(path, { t: at.value, n: String(i % 5) })));
    for (const maxPageSize of [1, 3, 7, 100]) {
        for (const client of [at.container, blobs]) {
            const pages = await collect(client.findBlobsByTags(`t='${at.value}'`).byPage({ maxPageSize }));
            assert.ok(pages.every((page) => page.blobs.length <= maxPageSize));
            assert.deepEqual(pages.flatMap((page) => page.blobs.map(({ name }) => name)).sort(), [...names].sort());
        }
    }
    assert.equal((await at.found(`t='${at.value}' AND n >= '3'`)).split(' ').length, 16);
});

test('a SAS needs the letter t', async (t) => {
    const at = await open(t, ['d/f']);
    const sas = (permissions) => generateDataLakeSASQueryParameters({
        fileSystemName: at.files.name, pathName: 'd/f', permissions: DataLakeSASPermissions.parse(permissions), expiresOn: new Date(Date.now() + 600000),
    }, credential);
    const client = (permissions) => new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${server.ports.dfs}?${sas(permissions)}`, undefined, once)
        .getFileSystemClient(at.files.name).getFileClient('d/f');
    await client('t').setTags({ t: at.value });
    assert.deepEqual((await client('t').getTags()).tags, { t: at.value });
    await refused(client('racwdmeop').setTags({ a: '1' }), 403, 'AuthorizationPermissionMismatch');
    await refused(client('racwdmeop').getTags(), 403, 'AuthorizationPermissionMismatch');
});

test('tags survive kill -9, and lagra check finds nothing wrong', async (t) => {
    const at = await open(t, ['d/f', 'e']);
    await at.tag('d/f');
    await at.tag('d');
    await at.files.getDirectoryClient('d').move('moved');
    control.close();
    await server.kill();
    const { code, output, errors } = await run(['check', server.location]);
    assert.equal(code, 0, output + errors);
    await server.restart();
    control = new Control(server);
    connect();
    const found = await collect(blobs.findBlobsByTags(`t='${at.value}'`));
    assert.deepEqual(found.map(({ name }) => name).sort(), ['moved', 'moved/f']);
});
