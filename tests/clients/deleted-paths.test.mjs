// Deleted paths of hierarchical accounts that are retained, listed and restored, through the official clients, on servers
// of their own, since the policy is the account's. rest: "Soft delete for blobs", Undelete-Blob, List-Blobs "showonly";
// recorded: test_file_system.test_get_deleted_paths, .test_undelete_*; decisions: 1305 to 1309
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, BlobServiceClient, generateAccountSASQueryParameters,
} from '@azure/storage-blob';
import { DataLakeServiceClient } from '@azure/storage-file-datalake';
import { Control, Server } from '../lib/server.mjs';
import { account, bytesOf, credential, newFile, pathsOf, rawDfs, refused } from './dfs-setup.mjs';
import { raw, rawRefused } from './raw.mjs';
import { collect, once, until } from './setup.mjs';

const DAY_S = 86400;

async function open(t, { args = ['--hierarchical'], days = 7 } = {}) {
    const server = await Server.start({ args });
    t.after(async () => {
        at.control.close();
        await server.kill();
        await server.remove();
    });
    const clients = () => ({
        service: new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${server.ports.dfs}`, credential, once),
        blobs: new BlobServiceClient(server.urlOf('blob'), credential, once),
    });
    const at = {
        server, control: new Control(server), ...clients(),
        /** Starts the server again after kill -9. */
        async restart() {
            at.control.close();
            await server.kill();
            await server.restart();
            at.control = new Control(server);
            Object.assign(at, clients());
            at.files = at.service.getFileSystemClient('box');
        },
        keep: (n) => at.blobs.setProperties({ deleteRetentionPolicy: n > 0 ? { enabled: true, days: n } : { enabled: false } }),
        dfs: (method, path, headers = {}, body = '', options = {}) =>
            rawDfs(method, path, headers, body, { base: { host: server.host, port: server.ports.dfs }, ...options }),
        blob: (method, path, headers = {}, body = '', options = {}) =>
            raw(method, path, headers, body, { base: { host: server.host, port: server.ports.blob }, ...options }),
        /** Deletes a path, and returns its deletion id. */
        async remove(path) {
            const answer = await at.dfs('DELETE', `/box/${path}?recursive=true`);
            assert.deepEqual([answer.status, answer.headers.get('x-ms-delete-type-permanent')], [200, 'false'], answer.text);
            assert.match(answer.headers.get('x-ms-deletion-id'), /^\d{18}$/);
            return answer.headers.get('x-ms-deletion-id');
        },
        undelete: (path, id, headers = {}) =>
            at.blob('PUT', `/box/${path}?comp=undelete`, { ...(id ? { 'x-ms-undelete-source': `?deletionid=${id}` } : {}), ...headers }),
        async restored(path, id, kind = 'file') {
            const answer = await at.undelete(path, id);
            assert.deepEqual([answer.status, answer.headers.get('x-ms-resource-type')], [200, kind], answer.text);
            return answer;
        },
        gone: async (options) => (await collect(at.files.listDeletedPaths(options))).map(({ name }) => name).join(' '),
        all: async () => (await pathsOf(at.files, { recursive: true })).map(({ name }) => name).join(' '),
        text: async (path) => String(await bytesOf(at.files.getFileClient(path))),
        stored: async () => Number(/piece_bytes=(\d+)/.exec(await at.control.collect())[1]),
    };
    at.files = at.service.getFileSystemClient('box');
    await at.files.create();
    await at.keep(days);
    return at;
}

test('a deleted file is listed, and restored as it was, without its lease', async (t) => {
    const at = await open(t);
    const file = await newFile(at.files, 'd/one', 'content', { metadata: { a: 'b' } });
    await file.setPermissions({ owner: { read: true, write: false, execute: false }, group: {}, other: {}, stickyBit: false, extendedAcls: false });
    const before = await file.getProperties();
    const { leaseId } = await file.getDataLakeLeaseClient().acquireLease(-1);
    const answer = await file.delete(false, { conditions: { leaseId } });
    assert.equal(answer._response.headers.get('x-ms-delete-type-permanent'), 'false');
    const id = answer._response.headers.get('x-ms-deletion-id');
    await refused(file.getProperties(), 404, 'BlobNotFound');
    assert.equal(await at.all(), 'd');

    const [gone, ...others] = await collect(at.files.listDeletedPaths());
    assert.deepEqual(others, []);
    assert.deepEqual([gone.name, gone.deletionId, gone.remainingRetentionDays], ['d/one', id, 6]);
    assert.ok(Math.abs(gone.deletedOn - Date.now()) < 600000);

    const { pathClient, ...rest } = await at.files.undeletePath('d/one', id);
    assert.deepEqual([pathClient.name, rest.resourceType], ['d/one', 'file']);
    const now = await file.getProperties();
    assert.deepEqual([now.etag, now.lastModified.getTime(), now.createdOn.getTime(), now.metadata, now.leaseState, now.permissions],
        [before.etag, before.lastModified.getTime(), before.createdOn.getTime(), { a: 'b' }, 'available', before.permissions]);
    assert.equal(await at.text('d/one'), 'content');
    assert.equal(await at.gone(), '');
    await refused(at.files.undeletePath('d/one', id), 409, 'BlobAlreadyExists');
});

test('a deleted directory is one entry, and restored with everything below it', async (t) => {
    const at = await open(t);
    for (const name of ['d/a', 'd/sub/b', 'd/sub/c', 'e'])
        await newFile(at.files, name, name);
    const { etag } = await at.files.getDirectoryClient('d').getProperties();
    const id = await at.remove('d');
    assert.equal(await at.all(), 'e');
    assert.equal(await at.gone(), 'd');
    await rawRefused(at.undelete('d/a'), 404, 'RenameDestinationParentPathNotFound');
    await newFile(at.files, 'd/new'); // another directory
    await rawRefused(at.undelete('d', id), 409, 'BlobAlreadyExists');
    const second = await at.remove('d');
    assert.equal(await at.gone(), 'd d');
    const answer = await at.restored('d', id, 'directory');
    assert.ok(answer.headers.get('x-ms-creation-time'));
    assert.equal(await at.all(), 'd d/a d/sub d/sub/b d/sub/c e');
    assert.equal(await at.text('d/sub/c'), 'd/sub/c');
    assert.equal((await at.files.getDirectoryClient('d').getProperties()).etag, etag);
    await newFile(at.files, 'd/sub/more');
    await at.files.getDirectoryClient('d').move('moved');
    await at.restored('d', second, 'directory');
    assert.equal(await at.all(), 'd d/new e moved moved/a moved/sub moved/sub/b moved/sub/c moved/sub/more');
});

test('several deletions of one path; without an id the newest one is restored', async (t) => {
    const at = await open(t);
    const ids = [];
    for (const content of ['first', 'second', 'third']) {
        await newFile(at.files, 'f', content);
        ids.push(await at.remove('f'));
    }
    const listed = (await collect(at.files.listDeletedPaths())).map(({ name, deletionId }) => [name, deletionId]);
    assert.deepEqual(listed, ids.toReversed().map((id) => ['f', id]));
    await at.restored('f', ids[0]);
    assert.equal(await at.text('f'), 'first');
    assert.equal((await at.undelete('f')).status, 200); // there is one: nothing changes
    assert.equal(await at.text('f'), 'first');
    await rawRefused(at.undelete('f', ids[1]), 409, 'BlobAlreadyExists');
    await at.files.getFileClient('f').move('g');
    await at.restored('f');
    assert.equal(await at.text('f'), 'third');
    assert.equal(await at.gone(), 'f');
});

test('what cannot be restored', async (t) => {
    const at = await open(t);
    await newFile(at.files, 'd/f', 'x');
    const id = await at.remove('d/f');
    await rawRefused(at.undelete('d/f', String(BigInt(id) + 1n)), 404, 'BlobNotFound');
    await rawRefused(at.undelete('d/g', id), 404, 'BlobNotFound');
    await rawRefused(at.undelete('d/g'), 404, 'BlobNotFound');
    for (const source of ['x', 'deletionid=1', '?deletionid=', '?deletionid=-1', '?deletionid=0', `?deletionid=${'9'.repeat(20)}`,
        `d/g?deletionid=${id}`, `?snapshot=${id}`])
        await rawRefused(at.blob('PUT', '/box/d/f?comp=undelete', { 'x-ms-undelete-source': source }), 400, 'InvalidHeaderValue');
    const parent = await at.remove('d');
    const missing = await rawRefused(at.undelete('d/f', id), 404, 'RenameDestinationParentPathNotFound');
    assert.match(missing.text, /The destination parent directory was not found\./);
    await newFile(at.files, 'd', 'a file');
    await rawRefused(at.undelete('d/f', id), 404, 'RenameDestinationParentPathNotFound');
    await at.files.getFileClient('d').move('e');
    await at.restored('d', parent, 'directory');
    await at.restored('d/f', id);
    assert.equal((await at.blob('PUT', '/box/d/f?comp=undelete', { 'x-ms-undelete-source': `d%2Ff?deletionid=${id}` })).code, 'BlobAlreadyExists');
});

test('a renamed directory leaves what was deleted in it; only its old path restores it', async (t) => {
    const at = await open(t);
    await newFile(at.files, 'd/f', 'x');
    await newFile(at.files, 'd/g', 'y');
    const id = await at.remove('d/f');
    await at.files.getDirectoryClient('d').move('moved');
    assert.equal(await at.gone(), 'd/f');
    await rawRefused(at.undelete('moved/f', id), 404, 'BlobNotFound');
    await rawRefused(at.undelete('d/f', id), 404, 'RenameDestinationParentPathNotFound');
    await at.files.getDirectoryClient('d').create();
    await at.restored('d/f', id);
    assert.equal(await at.all(), 'd d/f moved moved/g');
});

test('what a rename replaces is retained; what is overwritten is not', async (t) => {
    const at = await open(t);
    await newFile(at.files, 'a', 'old');
    await newFile(at.files, 'b', 'new');
    await at.files.getFileClient('b').move('a');
    assert.equal(await at.gone(), 'a');
    await newFile(at.files, 'a', 'newer'); // overwritten
    await at.blobs.getContainerClient('box').getBlockBlobClient('a').upload('newest', 6);
    assert.equal(await at.gone(), 'a');
    await at.remove('a');
    assert.equal(await at.gone(), 'a a');
    const [, replaced] = await collect(at.files.listDeletedPaths());
    await at.restored('a', replaced.deletionId);
    assert.equal(await at.text('a'), 'old');

    await at.files.getDirectoryClient('empty').create({ metadata: { k: 'v' } });
    await newFile(at.files, 'full/f');
    await at.files.getDirectoryClient('full').move('empty');
    assert.equal(await at.gone(), 'a empty');
    await newFile(at.files, 'full/g');
    await refused(at.files.getDirectoryClient('full').move('empty'), 409, 'DirectoryNotEmpty');
    await at.files.getDirectoryClient('empty').move('other');
    await at.restored('empty', null, 'directory');
    assert.equal((await at.files.getDirectoryClient('empty').getProperties()).metadata.k, 'v');
    assert.equal(await at.all(), 'a empty full full/g other other/f');
});

test('Delete Blob retains, too; blobs with snapshots and snapshots are deleted for good', async (t) => {
    const at = await open(t);
    const container = at.blobs.getContainerClient('box');
    const blob = container.getBlockBlobClient('d/one');
    await blob.upload('content', 7);
    await blob.stageBlock('AAAA', 'staged', 6);
    const gone = await at.blob('DELETE', '/box/d/one');
    assert.deepEqual([gone.status, gone.headers.get('x-ms-delete-type-permanent')], [202, 'false']);
    await at.restored('d/one');
    assert.deepEqual((await blob.getBlockList('all')).uncommittedBlocks, []);
    assert.equal((await at.blob('DELETE', '/box/d/one')).status, 202);
    assert.equal((await at.blob('DELETE', '/box/d')).headers.get('x-ms-delete-type-permanent'), 'false');
    assert.equal(await at.gone(), 'd d/one');

    await blob.upload('content', 7);
    const { snapshot } = await blob.createSnapshot();
    await refused(blob.delete(), 409, 'SnapshotsPresent');
    assert.equal((await at.blob('DELETE', `/box/d/one?snapshot=${snapshot}`)).headers.get('x-ms-delete-type-permanent'), 'true');
    await blob.createSnapshot();
    assert.equal((await at.blob('DELETE', '/box/d/one', { 'x-ms-delete-snapshots': 'include' })).headers.get('x-ms-delete-type-permanent'), 'true');
    await blob.stageBlock('AAAA', 'staged', 6);
    assert.equal((await at.blob('DELETE', '/box/d/one')).headers.get('x-ms-delete-type-permanent'), 'true');
    assert.equal(await at.gone(), 'd d/one');
});

test('without a policy deletions are final', async (t) => {
    const at = await open(t, { days: 0 });
    await newFile(at.files, 'f');
    await newFile(at.files, 'd/f');
    for (const path of ['f', 'd']) {
        const answer = await at.dfs('DELETE', `/box/${path}?recursive=true`);
        assert.deepEqual([answer.headers.get('x-ms-delete-type-permanent'), answer.headers.get('x-ms-deletion-id')], ['true', undefined]);
        await rawRefused(at.undelete(path), 404, 'BlobNotFound');
    }
    assert.equal(await at.gone(), '');
});

test('lists of deleted paths: elements, prefix, delimiter, pages, merged with what exists', async (t) => {
    const at = await open(t);
    for (const name of ['dir1/x', 'dir2/x', 'dir3/f', 'dir3/sub/f', 'f0', 'f1', 'f1!', 'dir3!'])
        await newFile(at.files, name, '12345');
    for (const path of ['f0', 'f1', 'dir1', 'dir2', 'dir3/f', 'dir3/sub/f', 'f1!', 'dir3!'])
        await at.remove(path);
    await newFile(at.files, 'f1');
    await newFile(at.files, 'f2');
    const order = 'dir1 dir2 dir3/f dir3/sub/f dir3! f0 f1 f1!';
    assert.equal(await at.gone(), order);
    assert.equal(await at.gone({ prefix: 'dir3/' }), 'dir3/f dir3/sub/f');
    assert.equal(await at.gone({ prefix: 'f1' }), 'f1 f1!');
    assert.equal(await at.gone({ prefix: 'none' }), '');
    for (const maxPageSize of [1, 2, 3]) {
        const pages = await collect(at.files.listDeletedPaths().byPage({ maxPageSize }));
        assert.equal(pages.flatMap(({ pathItems }) => pathItems.map(({ name }) => name)).join(' '), order);
    }
    const list = (query, options) => at.blob('GET', `/box?restype=container&comp=list${query}`, {}, '', options);
    const names = (text) => [...text.matchAll(/<Name>(.*?)<\/Name>(<DeletionId>)?/g)].map(([, name, id]) => `${id ? '-' : ''}${name}`).join(' ');
    const f0 = /<Blob><Name>f0.*?<\/Blob>/.exec((await list('&showonly=deleted', { version: '2021-06-08' })).text)[0];
    const shape = f0.replace(/(\w\w\w, .*? GMT|0x\w+|\d{18})/g, '*');
    assert.equal(shape, '<Blob><Name>f0</Name><DeletionId>*</DeletionId><Deleted>true</Deleted><Properties><Creation-Time>*</Creation-Time>' +
        '<Last-Modified>*</Last-Modified><Expiry-Time>*</Expiry-Time><Etag>*</Etag><ResourceType>file</ResourceType>' +
        '<Content-Length>5</Content-Length><Content-Type>application/octet-stream</Content-Type><Content-Encoding /><Content-Language />' +
        '<Content-CRC64 /><Content-MD5 /><Cache-Control /><Content-Disposition /><BlobType>BlockBlob</BlobType><AccessTier>Hot</AccessTier>' +
        '<AccessTierInferred>true</AccessTierInferred><ServerEncrypted>true</ServerEncrypted><DeletedTime>*</DeletedTime>' +
        '<RemainingRetentionDays>6</RemainingRetentionDays></Properties><OrMetadata /></Blob>');

    assert.equal(names((await list('&include=deleted')).text), '-dir1 -dir2 dir3 -dir3/f dir3/sub -dir3/sub/f -dir3! -f0 -f1 f1 -f1! f2');
    assert.equal(names((await list('&include=deleted&delimiter=/')).text), 'dir1/ dir2/ dir3/ -dir3! -f0 -f1 f1 -f1! f2');
    assert.equal(names((await list('&showonly=deleted&delimiter=/')).text), 'dir1/ dir2/ dir3/ -dir3! -f0 -f1 -f1!');
    assert.equal(names((await list('&include=deleted&delimiter=/&prefix=dir3/')).text), '-dir3/f dir3/sub/');
    assert.equal(names((await list('')).text), 'dir3 dir3/sub f1 f2');
    for (const query of ['&include=deleted', '&include=deleted&delimiter=/', '&showonly=deleted&delimiter=/', '&include=deleted,snapshots']) {
        const whole = names((await list(query)).text), parts = [];
        for (let marker = ''; marker !== undefined;) {
            const { text } = await list(`${query}&maxresults=1${marker && `&marker=${marker}`}`);
            parts.push(names(text));
            marker = /<NextMarker>(.+?)<\/NextMarker>/.exec(text)?.[1];
        }
        assert.equal(parts.filter((part) => part !== '').join(' '), whole, query);
    }
    for (const query of ['&showonly=other', '&showonly=deleted&include=deleted', '&showonly='])
        await rawRefused(list(query), 400, 'InvalidQueryParameterValue');
});

test('pages continue correctly while paths are deleted and restored in between', async (t) => {
    const at = await open(t);
    for (let i = 0; i < 10; i++) {
        await newFile(at.files, `f${i}`);
        if (i !== 5)
            await at.remove(`f${i}`);
    }
    const seen = [];
    for await (const { pathItems } of at.files.listDeletedPaths().byPage({ maxPageSize: 2 })) {
        seen.push(...pathItems.map(({ name }) => name));
        if (seen.length === 2) {
            await at.restored('f0'); // on an earlier page
            await at.restored('f2'); // at which the next one starts
            await at.restored('f7');
            await at.remove('f5');
        }
    }
    assert.deepEqual(seen, ['f0', 'f1', 'f3', 'f4', 'f5', 'f6', 'f8', 'f9']);
});

test('a retained path expires after the days of its deletion; then nothing of it remains', async (t) => {
    const at = await open(t, { days: 3 });
    const empty = await at.stored();
    const large = 'x'.repeat(100000);
    for (const name of ['f', 'd/a', 'd/b/c', 'd/b/e', 'other/f'])
        await newFile(at.files, name, large);
    await at.files.getDirectoryClient('d/empty').create();
    const id = await at.remove('f');
    await at.remove('d');
    await at.keep(20); // what was deleted before keeps its days
    const other = await at.remove('other');
    await at.restored('d', null, 'directory');
    await at.keep(3);
    const d = await at.remove('d');
    await at.restart();
    // By a SAS, since signed requests have a date.
    const sas = generateAccountSASQueryParameters({
        services: AccountSASServices.parse('b').toString(), resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
        permissions: AccountSASPermissions.parse('rwdl'), expiresOn: new Date(Date.now() + 9e9),
    }, credential);
    const files = new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${at.server.ports.dfs}?${sas}`, undefined, once)
        .getFileSystemClient('box');
    const gone = async () => (await collect(files.listDeletedPaths())).map(({ name }) => name).join(' ');

    assert.equal(await gone(), 'd f other');
    assert.ok(await at.stored() - empty > 400000);
    await at.control.clock(3 * DAY_S - 60);
    assert.equal(await gone(), 'd f other');
    await at.control.clock(61);
    assert.equal(await gone(), 'other');
    await refused(files.undeletePath('f', id), 404, 'BlobNotFound');
    await refused(files.undeletePath('d', d), 404, 'BlobNotFound');
    await at.control.clock(17 * DAY_S);
    assert.equal(await gone(), '');
    await refused(files.undeletePath('other', other), 404, 'BlobNotFound');
    await until(async () => await at.stored() === empty);
});

test('retained paths survive the deletion and restoration of their filesystem', async (t) => {
    const at = await open(t);
    await at.blobs.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
    await at.blob('PUT', '/?restype=service&comp=properties', {},
        '<StorageServiceProperties><ContainerDeleteRetentionPolicy><Enabled>true</Enabled><Days>9</Days></ContainerDeleteRetentionPolicy></StorageServiceProperties>');
    await newFile(at.files, 'd/f', 'content');
    await at.remove('d');
    await at.files.delete();
    const [{ versionId, name }] = await collect(at.service.listFileSystems({ includeDeleted: true }));
    await at.service.undeleteFileSystem(name, versionId);
    assert.equal(await at.gone(), 'd');
    await at.restored('d', null, 'directory');
    assert.equal(await at.text('d/f'), 'content');
});

test('accounts without a hierarchical namespace have neither deletion ids nor showonly', async (t) => {
    const at = await open(t, { args: [] });
    await newFile(at.files, 'f');
    const answer = await at.dfs('DELETE', '/box/f');
    assert.deepEqual([answer.headers.get('x-ms-delete-type-permanent'), answer.headers.get('x-ms-deletion-id')], ['false', undefined]);
    await rawRefused(at.undelete('f', '132624179314769963'), 400, 'UnsupportedHeader');
    await rawRefused(at.blob('GET', '/box?restype=container&comp=list&showonly=deleted'), 400, 'InvalidQueryParameterValue');
    assert.equal((await at.undelete('f')).status, 200);
});
