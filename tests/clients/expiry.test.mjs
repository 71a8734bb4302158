// Expiry of files: set, shown, and the deletion of what has expired, also after a kill, a restore and a move.
// rest: Set-Blob-Expiry, datalakestoragegen2/path/create; decisions: 1292 to 1294
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobServiceClient } from '@azure/storage-blob';
import { DataLakeServiceClient } from '@azure/storage-file-datalake';
import { startCells } from '../lib/cells.mjs';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { account, credential, newFile, newFilesystem as newFlat, pathsOf, rawDfs, rawDfsRefused, refused } from './dfs-setup.mjs';
import { raw, rawRefused } from './raw.mjs';
import { containerName, once } from './setup.mjs';

const HOUR = 3600_000;
const ARGS = ['--hierarchical'];

const server = await Server.start({ args: ARGS });
after(() => server.stop());

const serviceOf = (at) => new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${at.ports.dfs}`, credential, once);
const dfs = (at, method, target, headers = {}, options = {}) =>
    rawDfs(method, target, headers, '', { base: { host: '127.0.0.1', port: at.ports.dfs }, ...options });
const blob = (at, method, target, headers = {}) => raw(method, target, headers, '', { base: { host: '127.0.0.1', port: at.ports.blob } });

async function newFilesystem(at = server) {
    const filesystem = serviceOf(at).getFileSystemClient(containerName());
    await filesystem.create();
    return filesystem;
}
const seconds = (date) => Math.floor(date.getTime() / 1000);
const gone = (file) => refused(file.getProperties(), 404, 'BlobNotFound');

/** Waits until the filesystem's stored files are that many; expired ones count until they are deleted. */
async function storedBecome(at, name, wanted) {
    let objects;
    for (let looks = 0; objects !== wanted && looks < 300; looks++) {
        const { output } = await run(['usage', '--json', '--location', at.location]);
        objects = JSON.parse(output).containers.find((container) => container.name === name)?.objects ?? 0;
        await delay(objects === wanted ? 0 : 100);
    }
    assert.equal(objects, wanted);
}

test('an expiry is set in four ways, shown and removed', async () => {
    const filesystem = await newFilesystem();
    const file = await newFile(filesystem, 'd/f');
    const before = await file.getProperties();
    assert.equal(before.expiresOn, undefined);

    const at = new Date(Date.now() + HOUR);
    const { etag, lastModified } = await file.setExpiry('Absolute', { expiresOn: at });
    assert.deepEqual([etag, lastModified], [before.etag, before.lastModified]);
    const { expiresOn } = await file.getProperties();
    assert.equal(seconds(expiresOn), seconds(at));
    const [, listed] = await pathsOf(filesystem, { recursive: true });
    assert.equal(seconds(listed.expiresOn), seconds(at));
    const { text } = await blob(server, 'GET', `/${filesystem.name}?restype=container&comp=list`);
    assert.match(text, new RegExp(`</Last-Modified><Expiry-Time>${expiresOn.toUTCString()}</Expiry-Time><Etag>`));
    for (const answer of [await dfs(server, 'HEAD', `/${filesystem.name}/d/f`), await blob(server, 'GET', `/${filesystem.name}/d/f`)])
        assert.equal(answer.headers.get('x-ms-expiry-time'), expiresOn.toUTCString());

    await file.setExpiry('RelativeToCreation', { timeToExpireInMs: 2 * HOUR });
    assert.equal(seconds((await file.getProperties()).expiresOn), seconds(before.createdOn) + 7200);
    await file.setExpiry('RelativeToNow', { timeToExpireInMs: 3 * HOUR });
    assert.ok(Math.abs(seconds((await file.getProperties()).expiresOn) - seconds(new Date()) - 10800) < 60);
    await file.setExpiry('NeverExpire');
    assert.equal((await file.getProperties()).expiresOn, undefined);
    const [, never] = JSON.parse((await dfs(server, 'GET', `/${filesystem.name}?resource=filesystem&recursive=true`)).text).paths;
    assert.equal(never.expiryTime, '0');
});

test('a file is created with an expiry', async () => {
    const filesystem = await newFilesystem();
    const file = filesystem.getFileClient('d/f');
    const at = new Date(Date.now() + HOUR);
    await file.create({ expiresOn: at });
    assert.equal(seconds((await file.getProperties()).expiresOn), seconds(at));
    await file.append('one', 0, 3);
    await file.flush(3);
    await file.setMetadata({ k: 'v' });
    assert.equal(seconds((await file.getProperties()).expiresOn), seconds(at));
    const { fileClient: moved } = { fileClient: await file.move('moved').then(() => filesystem.getFileClient('moved')) };
    assert.equal(seconds((await moved.getProperties()).expiresOn), seconds(at));
    await moved.create();
    assert.equal((await moved.getProperties()).expiresOn, undefined);
    await moved.create({ expiresOn: 300 });
    await delay(400);
    await gone(moved);
    await refused(moved.append('a', 0, 1), 404, 'PathNotFound');
    await moved.create({ conditions: { ifNoneMatch: '*' } });
});

test('refused requests', async (t) => {
    const filesystem = await newFilesystem();
    await newFile(filesystem, 'd/f');
    const soon = { 'x-ms-expiry-option': 'RelativeToNow', 'x-ms-expiry-time': '60000' };
    const past = { 'x-ms-expiry-option': 'Absolute', 'x-ms-expiry-time': 'Sun, 06 Nov 1994 08:49:37 GMT' };
    const bad = [[{ 'x-ms-expiry-option': 'Never' }, 'InvalidHeaderValue'], [{ 'x-ms-expiry-time': '1' }, 'MissingRequiredHeader'],
        [{ 'x-ms-expiry-option': 'Absolute' }, 'MissingRequiredHeader'], [past, 'InvalidHeaderValue'],
        [{ 'x-ms-expiry-option': 'NeverExpire', 'x-ms-expiry-time': 'None' }, 'InvalidHeaderValue']];
    for (const [headers, code] of bad) {
        await rawRefused(blob(server, 'PUT', `/${filesystem.name}/d/f?comp=expiry`, headers), 400, code);
        await rawDfsRefused(dfs(server, 'PUT', `/${filesystem.name}/g?resource=file`, headers), 400, code);
    }
    const { text } = await blob(server, 'PUT', `/${filesystem.name}/d/f?comp=expiry`, past);
    assert.match(text, /<HeaderName>x-ms-expiry-time<\/HeaderName><HeaderValue>Sun, 06 Nov 1994 08:49:37 GMT<\/HeaderValue>/);
    await rawRefused(blob(server, 'PUT', `/${filesystem.name}/d?comp=expiry`, soon), 400, 'OperationNotSupportedOnDirectory');
    await rawRefused(blob(server, 'PUT', `/${filesystem.name}/none?comp=expiry`, soon), 404, 'BlobNotFound');
    await rawDfsRefused(dfs(server, 'PUT', `/${filesystem.name}/e?resource=directory`, soon), 400, 'UnsupportedHeader');
    await rawDfsRefused(dfs(server, 'PUT', `/${filesystem.name}/g?resource=file`, soon, { version: '2020-10-02' }), 400, 'UnsupportedHeader');
    await rawDfsRefused(dfs(server, 'PUT', `/${filesystem.name}/g`, { ...soon, 'x-ms-rename-source': `/${filesystem.name}/d/f` }), 400, 'UnsupportedHeader');
    const flat = await newFlat(t);
    await newFile(flat, 'f');
    await rawRefused(raw('PUT', `/${flat.name}/f?comp=expiry`, { 'x-ms-expiry-option': 'NeverExpire' }), 400, 'HierarchicalNamespaceNotEnabled');
    await rawDfsRefused(rawDfs('PUT', `/${flat.name}/g?resource=file`, soon), 400, 'HierarchicalNamespaceNotEnabled');
});

test('an expired file and its content are deleted', async () => {
    const filesystem = await newFilesystem();
    await newFile(filesystem, 'd/keeps');
    for (const name of ['d/a', 'd/b'])
        await (await newFile(filesystem, name, 'x'.repeat(100_000))).setExpiry('RelativeToNow', { timeToExpireInMs: 200 });
    await storedBecome(server, filesystem.name, 1);
    await gone(filesystem.getFileClient('d/a'));
    assert.deepEqual((await pathsOf(filesystem, { recursive: true })).map(({ name }) => name), ['d', 'd/keeps']);
});

test('a server killed between an expiry and its task deletes the file after the restart', async (t) => {
    const killed = await Server.start({ args: ARGS });
    t.after(() => killed.kill().then(() => killed.remove()));
    const filesystem = await newFilesystem(killed);
    await newFile(filesystem, 'd/keeps');
    for (let round = 0; round < 6; round++) {
        const due = 150;
        for (let i = 0; i < 5; i++)
            await (await newFile(serviceOf(killed).getFileSystemClient(filesystem.name), `d/${i}`, 'x'.repeat(50_000))).setExpiry('RelativeToNow', { timeToExpireInMs: due });
        // Before it is due, about when it is due, and while files are being deleted.
        await delay(round % 2 ? due - 20 + Math.random() * 40 : 0);
        await killed.kill();
        await delay(due);
        await killed.restart();
        const again = serviceOf(killed).getFileSystemClient(filesystem.name);
        for (let i = 0; i < 5; i++)
            await gone(again.getFileClient(`d/${i}`));
        await storedBecome(killed, filesystem.name, 1);
    }
    await killed.stop({ keep: true });
    const { code, output } = await run(['check', killed.location]);
    assert.equal(code, 0, output);
    await killed.restart();
});

test('a restored file has its expiry and its task', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-expiry-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const lagra = async (...words) => {
        const { code, errors } = await run([...words, '--location', server.location], {}, 60000);
        assert.equal(code, 0, errors);
    };
    const filesystem = await newFilesystem();
    const file = await newFile(filesystem, 'd/f');
    await newFile(filesystem, 'keeps');
    await file.setExpiry('RelativeToNow', { timeToExpireInMs: 4000 });
    await lagra('backup', folder);
    await lagra('restore', 'container', folder, filesystem.name, '--as', `${filesystem.name}x`);
    const restored = serviceOf(server).getFileSystemClient(`${filesystem.name}x`);
    const { expiresOn } = await file.getProperties();
    assert.deepEqual((await restored.getFileClient('d/f').getProperties()).expiresOn, expiresOn);
    await storedBecome(server, filesystem.name, 1);
    await storedBecome(server, restored.name, 1);
});

test('a moved file has its expiry and its task', async (t) => {
    const { cluster, owners } = await startCells(t, { args: ARGS });
    const name = containerName();
    const filesystem = new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${owners[0].ports.dfs}`, credential, once).getFileSystemClient(name);
    await filesystem.create();
    const file = await newFile(filesystem, 'd/f');
    await file.setExpiry('RelativeToNow', { timeToExpireInMs: 5000 });
    const { expiresOn } = await file.getProperties();
    const { code, errors } = await run(['cluster', 'move', cluster, account.name, 'container', name, '2']);
    assert.equal(code, 0, errors);
    assert.deepEqual((await file.getProperties()).expiresOn, expiresOn);
    const blobs = new BlobServiceClient(`http://127.0.0.1:${owners[1].ports.blob}/${account.name}`, credential, once).getContainerClient(name);
    for (let looks = 0; looks < 100 && await blobs.getBlobClient('d/f').exists(); looks++)
        await delay(100);
    await refused(blobs.getBlobClient('d/f').getProperties(), 404, 'BlobNotFound');
    await blobs.getBlobClient('d').delete();
});
