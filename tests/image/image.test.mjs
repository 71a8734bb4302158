// What an operator expects of the image, and what starts Azurite's expects of it.
import assert from 'node:assert/strict';
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { IMAGE, Podman } from './podman.mjs';

const require = createRequire(new URL('../clients/', import.meta.url));
const { BlobServiceClient, StorageSharedKeyCredential } = require('@azure/storage-blob');
const { QueueServiceClient } = require('@azure/storage-queue');
const { AzureNamedKeyCredential, TableClient } = require('@azure/data-tables');

const storage = process.env.LAGRA_IMAGE_STORAGE;
const podman = new Podman(storage);
const ACCOUNT = ['devstoreaccount1',
    'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='];
const ALL_HOSTS = ['--blobHost', '0.0.0.0', '--queueHost', '0.0.0.0', '--tableHost', '0.0.0.0'];
const credential = new StorageSharedKeyCredential(...ACCOUNT);

/** A volume of podman's, empty. */
async function newVolume(t) {
    const volume = await podman.run('volume', 'create');
    t.after(() => podman.run('volume', 'rm', '-f', volume));
    return volume;
}

/** A folder of this machine's, of that user. */
async function newFolder(t, user) {
    const folder = await mkdtemp(path.join(storage, 'data-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await chown(folder, user, user);
    return folder;
}

const blobOf = async (container) => new BlobServiceClient(await container.url(10000), credential)
    .getContainerClient('image').getBlockBlobClient('blob');

/** Each service does something, through the published ports. */
async function useAll(container) {
    const queue = new QueueServiceClient(await container.url(10001), credential).getQueueClient('image');
    const table = new TableClient(await container.url(10002), 'image', new AzureNamedKeyCredential(...ACCOUNT),
        { allowInsecureConnection: true });
    const blobs = new BlobServiceClient(await container.url(10000), credential).getContainerClient('image');

    await blobs.create();
    await (await blobOf(container)).upload('hello', 5);
    await queue.create();
    await queue.sendMessage('hello');
    assert.equal((await queue.receiveMessages()).receivedMessageItems[0].messageText, 'hello');
    await table.createTable();
    await table.createEntity({ partitionKey: 'a', rowKey: 'b', hello: 1 });
    assert.equal((await table.getEntity('a', 'b')).hello, 1);
}

async function assertKept(container) {
    assert.equal((await (await blobOf(container)).downloadToBuffer()).toString(), 'hello');
}

test('what the image says of itself', async () => {
    const [{ Config: config, Healthcheck: health }] = JSON.parse(await podman.run('image', 'inspect', IMAGE));

    assert.equal(config.User, '10000:10000');
    assert.deepEqual(Object.keys(config.Volumes), ['/data']);
    assert.deepEqual(Object.keys(config.ExposedPorts), ['10000/tcp', '10001/tcp', '10002/tcp', '10003/tcp']);
    assert.deepEqual(health, { Test: ['CMD', 'lagra', 'health', '--live', '--running'], Interval: 10e9, Timeout: 6e9,
        StartPeriod: 30e9 });
});

test('the image is made of the package, without the key that its installation makes', async (t) => {
    const container = await podman.start(t);

    assert.match(await container.exec('dpkg-query', '-W', 'lagra', 'lagra-azurite'), /^lagra\t.*\nlagra-azurite\t/);
    await assert.rejects(container.exec('ls', '/etc/lagra'));
});

test('serves on a root file system that is read-only, without any capability, as a user of its own', async (t) => {
    const container = await podman.start(t, ['--read-only', '--cap-drop', 'all', '--security-opt',
        'no-new-privileges', '-v', `${await newVolume(t)}:/data`]);

    await container.ready();
    await useAll(container);
    assert.equal(await container.exec('id', '-u'), '10000');
    assert.match(await container.exec('cat', '/proc/1/status'), /^Uid:\t10000\t10000\t10000\t10000$/m);
    await assert.rejects(container.exec('touch', '/new'));
    assert.equal(await container.exec('stat', '-c', '%U %a', '/data'), 'lagra 700');
});

test('health: healthy while it answers, unhealthy when it has hung for long', async (t) => {
    const container = await podman.start(t, [], ['azurite-blob', '--blobHost', '0.0.0.0']);
    const status = () => container.inspect('{{.State.Health.Status}}');

    await container.said(/Blob service successfully listens/);
    assert.equal(await container.health(), 0);
    assert.equal(await status(), 'healthy');
    await container.podman('kill', '--signal', 'STOP');
    // Several in a row, and none in the first seconds, make a container unhealthy.
    for (let checks = 0; checks < 30 && (await status()) === 'healthy'; checks++)
        assert.notEqual(await container.health(), 0);
    assert.equal(await status(), 'unhealthy');
    await container.podman('kill', '--signal', 'CONT');
    assert.equal(await container.health(), 0);
    assert.equal(await status(), 'healthy');
});

test('a volume outlives kill -9, a restart, and its container', async (t) => {
    const volume = `${await newVolume(t)}:/data`;
    const container = await podman.start(t, ['-v', volume]);

    await container.ready();
    await useAll(container);
    await container.podman('kill', '--signal', 'KILL');
    assert.equal(await container.ended(), 137);
    await container.podman('start');
    await container.ready(2);
    await assertKept(container);
    await container.podman('kill', '--signal', 'KILL');
    const other = await podman.start(t, ['-v', volume]);
    await other.ready();
    await assertKept(other);
});

test('stop: ends by itself, with code 0 and its last words', async (t) => {
    const container = await podman.start(t);

    await container.ready();
    await container.podman('stop', '-t', '30');
    assert.equal(await container.ended(), 0);
    assert.match((await container.lines()).at(-1), /File service successfully closed/);
});

test('as testcontainers start it: azurite for entry point, no location', async (t) => {
    const container = await podman.start(t, ['--entrypoint', 'azurite'],
        [...ALL_HOSTS, '--inMemoryPersistence', '--extentMemoryLimit', '64', '--skipApiVersionCheck']);

    await container.ready();
    await useAll(container);
    assert.equal(await container.health(), 0);
    const onDisk = await podman.start(t, ['--entrypoint', 'azurite'], ALL_HOSTS);
    await onDisk.ready();
    await useAll(onDisk);
});

test('as Aspire starts it: azurite and its flags for a command, a volume', async (t) => {
    const container = await podman.start(t, ['-v', `${await newVolume(t)}:/data`],
        ['azurite', '-l', '/data', ...ALL_HOSTS, '--skipApiVersionCheck']);

    await container.ready();
    await useAll(container);
    assert.equal(await container.health(), 0);
});

test('one service alone on a port of its own, beside an init process: healthy', async (t) => {
    const container = await podman.start(t, ['--init'],
        ['azurite-blob', '--blobHost', '0.0.0.0', '--blobPort', '11000', '--loose']);

    await container.said(/^Azurite Blob service successfully listens on http:\/\/0\.0\.0\.0:11000$/);
    assert.equal(await container.health(), 0);
});

test('a folder of this machine: served by its owner, and else said to be not writable', async (t) => {
    const folder = await newFolder(t, 4321);
    const container = await podman.start(t, ['--user', '4321:4321', '-v', `${folder}:/data`]);

    await container.ready();
    await useAll(container);
    assert.equal(await container.health(), 0);
    const others = path.join(await newFolder(t, 0), 'data');
    await mkdir(others, { mode: 0o755 });
    const refused = await podman.start(t, ['-v', `${others}:/data`]);
    assert.equal(await refused.ended(), 1);
    assert.match(await refused.everything(), /data directory \/data: the data directory cannot be written/);
});
