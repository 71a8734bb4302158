// Makes the image of a data folder with messages of the version of a program, and prints what names
// them:
//
//   tools/node tests/clients/images/make_queues.mjs BINARY FOLDER > tests/clients/images/queues-vN.json
//   tar --sparse --exclude=LOG* --exclude=OPTIONS* -C FOLDER -cJf tests/clients/images/queues-vN.tar.xz .
//
// It ends without an orderly stop: the records are only in the log.
import { setTimeout as delay } from 'node:timers/promises';
import { QueueServiceClient, StorageSharedKeyCredential } from '@azure/storage-queue';
import { Server } from '../../lib/server.mjs';
import { DEVELOPMENT } from '../../lib/sign.mjs';

const NEVER = { messageTimeToLive: -1 };
const MINUTE = { messageTimeToLive: 60 };

const [binary, location] = process.argv.slice(2);
const server = await Server.start({ binary, location });
const service = new QueueServiceClient(server.urlOf('queue'),
    new StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key), { retryOptions: { maxTries: 1 } });
const queue = service.getQueueClient('old');
const made = {};
const put = async (name, options) => {
    const { messageId: id, popReceipt } = await queue.sendMessage(name, options);
    made[name] = { id, receipts: [popReceipt] };
};
const update = async (name, text, seconds) => {
    const { popReceipt } = await queue.updateMessage(made[name].id, made[name].receipts.at(-1), text, seconds);
    made[name].receipts.push(popReceipt);
};

await queue.create();
const kinds = Object.entries({ never: NEVER, minute: MINUTE });
for (const [kind, options] of kinds) {
    await put(`${kind} got`, options);
    await put(`${kind} hidden`, options);
}
const { receivedMessageItems: got } = await queue.receiveMessages({ numberOfMessages: 4, visibilityTimeout: 1 });
for (const { messageText: name, popReceipt } of got)
    made[name].receipts.push(popReceipt);
for (const [kind, options] of kinds) {
    await update(`${kind} hidden`, undefined, 86400);
    await put(`${kind} fresh`, options);
    await put(`${kind} updated`, options);
    await update(`${kind} updated`, `${kind} updated to this`, 0);
}
await delay(1500); // what was got is visible again
await put('deleted', NEVER);
await queue.deleteMessage(made.deleted.id, made.deleted.receipts[0]);
await server.kill();
console.log(JSON.stringify(made, null, 4));
