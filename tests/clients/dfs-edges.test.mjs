// Requests that are rare, or that the documentation leaves open. decisions: 1482 to 1485, 1290
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DataLakeServiceClient, StorageSharedKeyCredential } from '@azure/storage-file-datalake';
import { Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';
import { account, containerName, once, refused } from './setup.mjs';

const server = await Server.start({ args: ['--hierarchical'] });
after(() => server.kill().then(() => server.remove()));
const service = new DataLakeServiceClient(server.urlOf('dfs'), new StorageSharedKeyCredential(account.name, account.key), once);

async function newFilesystem(t) {
    const filesystem = service.getFileSystemClient(containerName());
    await filesystem.create();
    t.after(() => filesystem.delete().catch(() => {}));
    return filesystem;
}

const append = (file, text, position) => file.append(Buffer.from(text), position, text.length);
const textOf = async (file) => (await file.readToBuffer()).toString();

test('a directory is deleted although files below it are leased, but not if it is leased itself', async (t) => {
    const filesystem = await newFilesystem(t);
    const directory = filesystem.getDirectoryClient('d');
    const file = filesystem.getFileClient('d/e/f');
    await file.create();
    await file.getDataLakeLeaseClient().acquireLease(-1);
    const lease = directory.getDataLakeLeaseClient();
    await lease.acquireLease(-1);
    await refused(directory.delete(true), 412, 'LeaseIdMissing');
    await lease.releaseLease();
    await directory.delete(true);
    await refused(file.getProperties(), 404, 'BlobNotFound');
    await refused(file.delete(), 404, 'PathNotFound');
});

test('NeverExpire removes the expiry of a file, and with the time None of an SDK it is refused', async (t) => {
    const filesystem = await newFilesystem(t);
    const file = filesystem.getFileClient('f');
    await file.create({ expiresOn: new Date('2090-01-01T00:00:00Z') });
    const base = new URL(server.url);
    const set = (headers) => raw('PUT', `/${filesystem.name}/f?comp=expiry`, { 'x-ms-version': '2024-11-04', ...headers }, '', { base: { host: base.hostname, port: Number(base.port) } });
    const answer = await set({ 'x-ms-expiry-option': 'NeverExpire', 'x-ms-expiry-time': 'None' });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, /<Code>InvalidHeaderValue/);
    assert.ok((await file.getProperties()).expiresOn);
    await file.setExpiry('NeverExpire');
    assert.equal((await file.getProperties()).expiresOn, undefined);
});

test('a flush without new data sets properties, and a position below the length is refused', async (t) => {
    const filesystem = await newFilesystem(t);
    const file = filesystem.getFileClient('f');
    await file.create();
    const { etag: first } = await file.flush(0, { pathHttpHeaders: { contentType: 'text/a' } });
    await append(file, 'abc', 0);
    await file.flush(3);
    const { etag } = await file.flush(3, { close: true, pathHttpHeaders: { contentType: 'text/b' } });
    assert.notEqual(etag, first);
    assert.equal((await file.getProperties()).contentType, 'text/b');
    assert.equal(await textOf(file), 'abc');
    await refused(file.flush(2), 400, 'InvalidFlushPosition');
    await refused(file.flush(4), 400, 'InvalidFlushPosition');
});

test('appends that overlap cannot be flushed, and those after the flush remain if the request says so', async (t) => {
    const filesystem = await newFilesystem(t);
    const file = filesystem.getFileClient('f');
    await file.create();
    await append(file, 'abcdef', 0);
    await append(file, 'DEF', 3);
    await append(file, 'xyz', 6);
    await refused(file.flush(9), 400, 'InvalidFlushPosition');
    await refused(file.flush(4, { retainUncommittedData: true }), 400, 'InvalidFlushPosition');
    await append(file, 'abc', 0); // replaces the first one
    await file.flush(6, { retainUncommittedData: true });
    assert.equal(await textOf(file), 'abcDEF');
    await file.flush(9);
    assert.equal(await textOf(file), 'abcDEFxyz');
    await append(file, '1', 9);
    await append(file, '2', 10);
    await file.flush(10);
    await refused(file.flush(11), 400, 'InvalidFlushPosition', 'the second one was discarded');
});

test('creating a directory that exists does not change its permissions', async (t) => {
    const filesystem = await newFilesystem(t);
    const directory = filesystem.getDirectoryClient('d');
    await directory.create({ permissions: '0750', umask: '0000' });
    await directory.create({ permissions: '0777', umask: '0000' });
    const { permissions } = await directory.getAccessControl();
    assert.deepEqual([permissions.group.write, permissions.other.read], [false, false]);
});
