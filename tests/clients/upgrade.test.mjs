// An upgrade and a downgrade, with traffic before, between and after: the program that LAGRA_OLDER names (make
// upgrade-test OLDER=COMMIT), and this one, on one data folder. docs/upgrade.md. Folders that older programs have left
// are in images/, and read by images.test.mjs and queue-images.test.mjs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as ShareCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { account, collect, credential, once } from './setup.mjs';

const older = process.env.LAGRA_OLDER;
const skip = older ? false : 'LAGRA_OLDER names no older program: make upgrade-test OLDER=COMMIT';

const bytesOf = (round, length) => Buffer.alloc(length, `${round} of what is kept\n`);
const SIZES = [100, 300000, 5 << 20];

function clients(server) {
    const { name, key } = account;
    const table = new TableClient(server.urlOf('table'), 'kept', new AzureNamedKeyCredential(name, key),
        { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } });
    return {
        container: new BlobServiceClient(server.url, credential, once).getContainerClient('kept'),
        queue: new QueueServiceClient(server.urlOf('queue'), new QueueCredential(name, key), once).getQueueClient('kept'),
        share: new ShareServiceClient(server.urlOf('file'), new ShareCredential(name, key), once).getShareClient('kept'),
        table,
    };
}

/** What a round leaves: it adds, and changes what the rounds before have left. */
async function traffic(server, round) {
    const { container, queue, table, share } = clients(server);
    if (round === 'one') {
        await container.create();
        await queue.create();
        await table.createTable();
        await share.create();
    }
    for (const size of SIZES)
        await container.getBlockBlobClient(`${round}-${size}`).upload(bytesOf(round, size), size);
    const shared = container.getBlockBlobClient('shared');
    await shared.upload(round, round.length, { metadata: { round } });
    await shared.createSnapshot();
    const log = container.getAppendBlobClient('log');
    await log.createIfNotExists();
    await log.appendBlock(`${round},`, round.length + 1);
    await queue.sendMessage(round, { messageTimeToLive: -1 });
    await table.upsertEntity({ partitionKey: 'p', rowKey: 'shared', round }, 'Merge');
    await table.createEntity({ partitionKey: 'p', rowKey: round, number: { type: 'Int64', value: '9007199254740993' } });
    const { directoryClient } = await share.createDirectory(round);
    const { fileClient } = await directoryClient.createFile('file', 5000);
    await fileClient.uploadRange(bytesOf(round, 5000), 0, 5000);
}

/** Blobs that are soft-deleted, and one that was overwritten, where the program knows that: else false. */
async function deleteSoftly(server, round) {
    const service = new BlobServiceClient(server.url, credential, once);
    const container = service.getContainerClient('soft');
    await container.createIfNotExists();
    const answer = await container.getBlobClient('none').undelete().catch((error) => error);
    if (answer.statusCode === 501)
        return false;
    await service.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
    for (const size of SIZES) {
        const blob = container.getBlockBlobClient(`${round}-${size}`);
        await blob.upload(bytesOf(round, size), size);
        await blob.createSnapshot();
        await blob.delete({ deleteSnapshots: 'include' });
    }
    const over = container.getBlockBlobClient(`${round}-over`);
    await over.upload('first', 5);
    await over.upload('second', 6);
    return true;
}

/** What rounds have deleted comes back, and goes for good: then programs that know no soft delete read all there is. */
async function restoreAndDelete(server, rounds) {
    const service = new BlobServiceClient(server.url, credential, once);
    const container = service.getContainerClient('soft');
    await service.setProperties({ deleteRetentionPolicy: { enabled: false } });
    for (const round of rounds) {
        for (const size of SIZES) {
            const blob = container.getBlobClient(`${round}-${size}`);
            await blob.undelete();
            assert.ok(bytesOf(round, size).equals(await blob.downloadToBuffer()), blob.name);
        }
        await container.getBlobClient(`${round}-over`).undelete();
        const shown = await collect(container.listBlobsFlat({ prefix: `${round}-`, includeSnapshots: true }));
        assert.equal(shown.length, 2 * SIZES.length + 2);
        const over = shown.find(({ name, snapshot }) => name === `${round}-over` && snapshot);
        assert.equal(String(await container.getBlobClient(over.name).withSnapshot(over.snapshot).downloadToBuffer()), 'first');
        for (const name of new Set(shown.map((one) => one.name)))
            await container.deleteBlob(name, { deleteSnapshots: 'include' });
        assert.deepEqual(await collect(container.listBlobsFlat({ prefix: `${round}-`, includeSnapshots: true, includeDeleted: true })), []);
    }
}

async function verify(server, rounds) {
    const { container, queue, table, share } = clients(server);
    for (const round of rounds) {
        for (const size of SIZES)
            assert.ok(bytesOf(round, size).equals(await container.getBlobClient(`${round}-${size}`).downloadToBuffer()), `${round}-${size}`);
        assert.ok(bytesOf(round, 5000).equals(await share.getDirectoryClient(round).getFileClient('file').downloadToBuffer()), round);
        assert.equal((await table.getEntity('p', round)).number, 9007199254740993n);
    }
    const shared = await collect(container.listBlobsFlat({ prefix: 'shared', includeSnapshots: true, includeMetadata: true }));
    assert.deepEqual(shared.map(({ metadata }) => metadata.round), [...rounds, rounds.at(-1)]);
    for (const [i, round] of rounds.entries())
        assert.equal(String(await container.getBlobClient('shared').withSnapshot(shared[i].snapshot).downloadToBuffer()), round);
    assert.equal(String(await container.getBlobClient('log').downloadToBuffer()), rounds.map((round) => `${round},`).join(''));
    assert.equal((await table.getEntity('p', 'shared')).round, rounds.at(-1));
    const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 });
    assert.deepEqual(peekedMessageItems.map(({ messageText }) => messageText), rounds);
}

test('what an older program has left is served and written on, and it goes on with that, or refuses it', { skip, timeout: 300000 }, async (t) => {
    const location = await mkdtemp(join(tmpdir(), 'lagra-upgrade-'));
    const started = [];
    t.after(async () => {
        await Promise.all(started.map((server) => server.kill()));
        await rm(location, { recursive: true, force: true });
    });
    const start = async (binary) => {
        const server = await Server.start({ binary, location });
        started.push(server);
        return server;
    };
    t.diagnostic(`${execFileSync(older, ['--version'], { encoding: 'utf8' }).trim()}, and ${(await run(['--version'])).output.trim()}`);

    let server = await start(older);
    await traffic(server, 'one');
    const olderKeeps = await deleteSoftly(server, 'one');
    await server.kill();
    server = await start(process.env.LAGRA_BINARY);
    await verify(server, ['one']);
    await traffic(server, 'two');
    assert.ok(await deleteSoftly(server, 'two'));
    if (!olderKeeps)
        await restoreAndDelete(server, ['two']); // as docs/upgrade.md asks for
    await server.stop({ keep: true });

    // The format is the same one, and it is served; or both numbers are said, and nothing is changed.
    const rounds = ['one', 'two'];
    try {
        server = await start(older);
    } catch (error) {
        assert.match(String(error), /its format is \d+, and this program reads format \d+/);
        server = null;
    }
    if (server) {
        await verify(server, rounds);
        await traffic(server, 'three');
        rounds.push('three');
        if (olderKeeps)
            await restoreAndDelete(server, ['one']);
        await server.kill();
    }
    server = await start(process.env.LAGRA_BINARY);
    await verify(server, rounds);
    if (olderKeeps)
        await restoreAndDelete(server, rounds.includes('three') ? ['two'] : ['one', 'two']);
    await server.stop({ keep: true });
    const checked = await run(['check', location]);
    assert.equal(checked.code, 0, checked.output + checked.errors);
});
