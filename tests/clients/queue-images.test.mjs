// Messages of each version of the format (images/queues-vN) are served as any. decisions: 218, 290
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { QueueServiceClient, StorageSharedKeyCredential } from '@azure/storage-queue';
import { Server } from '../lib/server.mjs';
import { account, once, refused } from './setup.mjs';

const credential = new StorageSharedKeyCredential(account.name, account.key);
const imageFile = (version, kind) => fileURLToPath(new URL(`images/queues-${version}.${kind}`, import.meta.url));

/** A server on a copy of the image. */
async function open(t, version) {
    const location = await mkdtemp(join(tmpdir(), 'lagra-queues-'));
    t.after(() => rm(location, { recursive: true, force: true }));
    execFileSync('tar', ['--sparse', '-xJf', imageFile(version, 'tar.xz'), '-C', location]);
    const server = await Server.start({ location });
    t.after(() => server.kill());
    const queue = () => new QueueServiceClient(server.urlOf('queue'), credential, once).getQueueClient('old');
    return { server, queue, made: JSON.parse(readFileSync(imageFile(version, 'json'))) };
}

const textsOf = (items) => items.map(({ messageText }) => messageText).sort();
const visible = async (queue) => textsOf((await queue.peekMessages({ numberOfMessages: 32 })).peekedMessageItems);

/** What has expired is collected soon, not at once. */
async function expectCount(queue, count) {
    let found;
    for (let i = 0; i < 100; i++) {
        found = (await queue.getProperties()).approximateMessagesCount;
        if (found === count)
            return;
        await delay(100);
    }
    assert.equal(found, count);
}

/** Those that live for a minute have expired since; what never expires was put, got, or updated. */
test('messages of v1: expired ones are collected, others shown, claimed, moved, deleted', async (t) => {
    const { server, queue, made } = await open(t, 'v1');
    const newest = (name) => [made[name].id, made[name].receipts.at(-1)];
    const older = (name) => [made[name].id, made[name].receipts[0]];

    await expectCount(queue(), 4);
    await refused(queue().deleteMessage(...newest('deleted')), 404, 'MessageNotFound');
    await refused(queue().deleteMessage(...newest('minute got')), 404, 'MessageNotFound');
    for (const name of ['never got', 'never hidden', 'never updated'])
        await refused(queue().deleteMessage(...older(name)), 404, 'MessageNotFound');
    await queue().deleteMessage(...newest('never hidden'));
    assert.deepEqual(await visible(queue()), ['never fresh', 'never got', 'never updated to this']);
    const { popReceipt } = await queue().updateMessage(...newest('never got'), 'never got, updated now', 0);
    await refused(queue().deleteMessage(...newest('never got')), 404, 'MessageNotFound');
    await queue().sendMessage('new', { messageTimeToLive: -1 });

    await server.stop({ keep: true });
    await server.restart();
    assert.deepEqual(await visible(queue()), ['never fresh', 'never got, updated now', 'never updated to this', 'new']);
    const { receivedMessageItems: got } = await queue().receiveMessages({ numberOfMessages: 2 });
    assert.deepEqual(textsOf(got), ['never fresh', 'never updated to this']);
    await queue().deleteMessage(made['never got'].id, popReceipt);
    await queue().deleteMessage(got[0].messageId, got[0].popReceipt);
    await expectCount(queue(), 2);
    await server.stop({ keep: true });
    assert.match(execFileSync(process.env.LAGRA_BINARY, ['check', server.location], { encoding: 'utf8' }),
        /, 2 messages in 1 queues.*damaged or lost: 0/);
});
