// The checkpoint stores of Event Hubs, in blobs and in tables: owners of partitions by ETag,
// checkpoints as metadata or entities; what was acknowledged survives kill -9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { TableClient } from '@azure/data-tables';
import { BlobCheckpointStore } from '@azure/eventhubs-checkpointstore-blob';
import { TableCheckpointStore } from '@azure/eventhubs-checkpointstore-table';
import { startKillable, writeThroughKills } from '../lib/killed.mjs';
import { blobRetries, tableRetries } from './setup.mjs';

const GROUP = ['n.servicebus.windows.net', 'hub', '$Default'];
const at = { fullyQualifiedNamespace: GROUP[0], eventHubName: GROUP[1], consumerGroup: GROUP[2] };
const PARTITIONS = 4;

async function blobStore(server) {
    const service = BlobServiceClient.fromConnectionString(server.connectionString, blobRetries);
    const container = service.getContainerClient('checkpoints');
    await container.create();
    return new BlobCheckpointStore(container);
}

async function tableStore(server) {
    const table = TableClient.fromConnectionString(server.connectionString, 'checkpoints', tableRetries);
    await table.createTable();
    return new TableCheckpointStore(table);
}

async function owners(store) {
    const [mine] = await store.claimOwnership([{ ...at, partitionId: '0', ownerId: 'first' }]);
    assert.equal(mine.ownerId, 'first');
    const [taken] = await store.claimOwnership([{ ...mine, ownerId: 'second' }]);
    assert.equal(taken.ownerId, 'second');
    assert.deepEqual(await store.claimOwnership([mine]), [], 'an old ETag owns nothing');
    assert.equal((await store.listOwnership(...GROUP))[0].ownerId, 'second');
}

/** One writer counts up: the last checkpoint that was acknowledged is the one that is found. */
async function checkpoints(server, store) {
    const said = Array(PARTITIONS).fill(-1);
    await writeThroughKills(server, async (number) => {
        const partition = number % PARTITIONS;
        await store.updateCheckpoint({
            ...at, partitionId: `${partition}`, sequenceNumber: number, offset: `${number * 10}`,
        });
        said[partition] = number;
    }, { workers: 1 });
    const found = await store.listCheckpoints(...GROUP);
    assert.equal(found.length, PARTITIONS);
    for (const { partitionId, sequenceNumber, offset } of found) {
        assert.equal(sequenceNumber, said[partitionId], `checkpoint of partition ${partitionId}`);
        assert.equal(offset, `${said[partitionId] * 10}`);
    }
    assert.equal((await store.listOwnership(...GROUP))[0].ownerId, 'second');
}

for (const [name, make] of [['blobs', blobStore], ['tables', tableStore]])
    test(`Event Hubs checkpoint store in ${name}`, async (t) => {
        const server = await startKillable(t);
        const store = await make(server);
        await owners(store);
        await checkpoints(server, store);
    });
