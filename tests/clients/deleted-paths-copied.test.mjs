// Deleted paths that are retained, with what is below them, in copies of their filesystem: a backup restored into a new folder,
// a filesystem restored beside its original or over it, saved states, and a move to another cell. Of each path the content,
// metadata, list and expiry, its place in the list of deleted paths, and its deletion at the end of the retention.
// docs/backup.md, docs/cells.md, docs/fault-injection.md "Snapshots"; decisions: 1294, 1305 to 1308
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobServiceClient } from '@azure/storage-blob';
import { DataLakeServiceClient } from '@azure/storage-file-datalake';
import { startCells } from '../lib/cells.mjs';
import { run } from '../lib/program.mjs';
import { Control, freePorts, Server } from '../lib/server.mjs';
import { account, bytesOf, credential, newFile, pathsOf } from './dfs-setup.mjs';
import { collect, once } from './setup.mjs';

const ARGS = ['--hierarchical'];
const DAY_S = 86400;
const EXPIRES = new Date('2090-05-06T07:08:09Z');

const serviceAt = (host, port) => new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${port}`, credential, once);
const serviceOf = (server) => serviceAt(server.host, server.ports.dfs);
const blobsOf = (server) => new BlobServiceClient(`http://127.0.0.1:${server.ports.blob}/${account.name}`, credential, once);
const keep = (server, days) => blobsOf(server).setProperties({ deleteRetentionPolicy: { enabled: days > 0, ...days > 0 && { days } } });

async function good(words, limit = 60000) {
    const { code, errors, output } = await run(words, {}, limit);
    assert.equal(code, 0, errors);
    return output;
}

async function folderFor(t) {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-kept-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

const listed = async (files) => (await collect(files.listDeletedPaths())).map(({ name, deletionId, deletedOn, remainingRetentionDays }) =>
    ({ name, deletionId, deletedOn: deletedOn.getTime(), remainingRetentionDays }));

/** All that requests tell about a path and what is below it. */
async function describe(files, name) {
    const below = (await pathsOf(files, { path: name, recursive: true })).map((found) => found.name);
    const described = {};

    for (const each of [name, ...below.filter((found) => found !== name)]) {
        const file = files.getFileClient(each), { isDirectory, metadata, expiresOn, etag, lastModified } = await file.getProperties();
        const { owner, acl } = await file.getAccessControl();
        described[each] = { isDirectory, metadata, expiresOn, etag, lastModified, owner, acl, text: isDirectory ? null : String(await bytesOf(file)) };
    }
    return described;
}

/** A filesystem with deleted paths: { gone: their list, described: what each restores }. A restored path is deleted again, so that
 *  all of them are in the list. */
async function fill(files) {
    const entry = (entityId, permissions) => ({ accessControlType: 'user', entityId, defaultScope: false, permissions });
    const all = { read: true, write: true, execute: true };

    await newFile(files, 'stays/f', 'stays');
    const file = await newFile(files, 'stays/file', 'of a file', { metadata: { name: 'value' } });
    await file.setAccessControl([...(await file.getAccessControl()).acl, entry('ann', all)]);
    await file.setExpiry('Absolute', { expiresOn: EXPIRES });
    await newFile(files, 'dir/sub/deep', 'of a deep file');
    await files.getDirectoryClient('dir/sub').setPermissions({ owner: all, group: all, other: all, stickyBit: true, extendedAcls: false });
    await files.getFileClient('dir/sub/deep').setExpiry('Absolute', { expiresOn: EXPIRES });
    await newFile(files, 'dir/deleted before', 'x');
    await newFile(files, 'twice', 'first');
    await newFile(files, 'from', 'from');
    await newFile(files, 'over', 'replaced');
    const described = {};
    for (const name of ['stays/file', 'dir', 'twice', 'over'])
        described[name] = await describe(files, name);
    delete described.dir['dir/deleted before'];
    await files.getFileClient('dir/deleted before').delete();
    await file.delete();
    await files.getDirectoryClient('dir').delete(true);
    await files.getFileClient('twice').delete();
    await files.getFileClient('from').move('over');
    await newFile(files, 'twice', 'second');
    await files.getFileClient('twice').delete();
    return { gone: await listed(files), described };
}

/** Compares a copy with what fill() returned, and leaves nothing of it. */
async function check(files, { gone, described }, { days = 0 } = {}) {
    const found = await listed(files);

    assert.deepEqual(found.map(({ name }) => name), ['dir', 'dir/deleted before', 'over', 'stays/file', 'twice', 'twice']);
    assert.deepEqual(found, gone.map((one) => ({ ...one, remainingRetentionDays: one.remainingRetentionDays - days })));
    const first = gone.findLast(({ name }) => name === 'twice');
    await files.getFileClient('over').delete();
    for (const [name, expected] of Object.entries(described)) {
        const { deletionId } = name === 'twice' ? first : gone.find((one) => one.name === name);

        await files.undeletePath(name, deletionId);
        const restored = await describe(files, name);
        assert.deepEqual(Object.keys(restored), Object.keys(expected));
        for (const [each, one] of Object.entries(expected))
            assert.deepEqual(restored[each], one, each);
    }
    await files.undeletePath('dir/deleted before', gone.find(({ name }) => name === 'dir/deleted before').deletionId);
    assert.deepEqual((await listed(files)).map(({ name }) => name), ['over', 'twice']);
}

async function start(t, args = []) {
    const server = await Server.start({ args: [...ARGS, ...args] });
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

async function newFilesystem(server, name) {
    const files = serviceOf(server).getFileSystemClient(name);
    await files.create();
    return files;
}

test('a restored backup has the deleted paths, and deletes them at the end of their retention', async (t) => {
    const server = await start(t), folder = await folderFor(t);
    const files = await newFilesystem(server, 'box');
    await keep(server, 7);
    const filled = await fill(files);
    await good(['backup', folder, '--location', server.location]);
    const data = path.join(await folderFor(t), 'restored');
    await good(['backup', 'restore', folder, data]);
    assert.match(await good(['check', data]), /damaged or lost: 0$/m);
    const copy = await Server.start({ args: ARGS, location: data });
    t.after(() => copy.kill().then(() => copy.remove()));
    await check(serviceOf(copy).getFileSystemClient('box'), filled);
    await ends(copy, 'box');
    await check(files, filled);
});

/** Moves the clock past the retention, with nothing else in the filesystem, after which nothing of it may be left. */
async function ends(server, name) {
    const files = serviceOf(server).getFileSystemClient(name), control = new Control(server);

    try {
        for (const { name: each } of await pathsOf(files))
            await files.getDirectoryClient(each).delete(true);
        assert.ok((await listed(files)).length > 0);
        await control.clock(8 * DAY_S);
        let bytes;
        for (let looks = 0; bytes !== 0 && looks < 300; looks++, await delay(bytes === 0 ? 0 : 50))
            bytes = Number(/piece_bytes=(\d+)/.exec(await control.collect())[1]);
        assert.equal(bytes, 0);
    } finally {
        control.close();
    }
}

test('a filesystem restored beside its original, and over it, has the deleted paths', async (t) => {
    const server = await start(t), folder = await folderFor(t);
    const files = await newFilesystem(server, 'box');
    await keep(server, 7);
    const filled = await fill(files);
    await good(['backup', folder, '--location', server.location]);
    await good(['restore', 'container', folder, 'box', '--as', 'beside', '--location', server.location]);
    await check(serviceOf(server).getFileSystemClient('beside'), filled);
    await files.undeletePath('dir', filled.gone[0].deletionId);
    await good(['restore', 'container', folder, 'box', '--replace', '--location', server.location]);
    await check(files, filled);
    await serviceOf(server).getFileSystemClient('beside').delete();
    await ends(server, 'box');
});

test('a saved state has the deleted paths', async (t) => {
    const [port] = await freePorts(1);
    const server = await start(t, ['--testing', '--managementPort', `${port}`]);
    const state = async (what) => assert.equal((await fetch(`http://127.0.0.1:${port}/-/snapshots/${what}`, { method: 'PUT' })).status, 200);
    const files = await newFilesystem(server, 'box');
    await keep(server, 7);
    const filled = await fill(files);
    await state('filled');
    await check(files, filled);
    for (const { name } of await pathsOf(files))
        await files.getDirectoryClient(name).delete(true);
    await state('filled/loaded');
    await check(files, filled);
    await state('filled/loaded');
    await ends(server, 'box');
});

test('a filesystem that is moved to another cell has the deleted paths', async (t) => {
    const { cluster, owners } = await startCells(t, { args: ARGS });
    const files = serviceOf(owners[0]).getFileSystemClient('box');
    await files.create();
    await keep(owners[0], 7);
    const filled = await fill(files);
    await good(['cluster', 'move', cluster, account.name, 'container', 'box', '2'], 120000);
    await check(serviceOf(owners[1]).getFileSystemClient('box'), filled);
    await good(['cluster', 'move', cluster, account.name, 'container', 'box', '1'], 120000);
    assert.deepEqual((await listed(files)).map(({ name }) => name), ['over', 'twice']);
});
