// The checkpoint store of Event Hubs: owners of partitions by ETag, checkpoints as metadata.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobCheckpointStore } from '@azure/eventhubs-checkpointstore-blob';
import { newContainer } from './setup.mjs';

test('Event Hubs checkpoint store', async (t) => {
    const store = new BlobCheckpointStore(await newContainer(t));
    const group = ['n.servicebus.windows.net', 'hub', '$Default'];
    const at = { fullyQualifiedNamespace: group[0], eventHubName: group[1], consumerGroup: group[2] };
    const wanted = { ...at, partitionId: '0', ownerId: 'first' };

    const [mine] = await store.claimOwnership([wanted]);
    assert.equal(mine.ownerId, 'first');
    const [taken] = await store.claimOwnership([{ ...mine, ownerId: 'second' }]);
    assert.equal(taken.ownerId, 'second');
    assert.deepEqual(await store.claimOwnership([mine]), [], 'an old ETag owns nothing');
    assert.equal((await store.listOwnership(...group))[0].ownerId, 'second');
    await store.updateCheckpoint({ ...at, partitionId: '0', sequenceNumber: 5, offset: '1023' });
    const [checkpoint] = await store.listCheckpoints(...group);
    assert.equal(checkpoint.sequenceNumber, 5);
    assert.equal(checkpoint.offset, '1023');
});
