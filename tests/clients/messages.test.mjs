// Messages through the official SDK: put, get, peek, update, delete, clear (semantics 7).
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
    AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, QueueServiceClient,
    StorageSharedKeyCredential, generateAccountSASQueryParameters,
} from '@azure/storage-queue';
import { Control, Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';
import { account, refused } from './setup.mjs';

const url = process.env.LAGRA_TEST_QUEUE_URL;
const credential = new StorageSharedKeyCredential(account.name, account.key);
const once = { retryOptions: { maxTries: 1 } };
const service = new QueueServiceClient(url, credential, once);
const run = randomBytes(4).toString('hex');
let count = 0;

async function newQueue(t, from = service) {
    const queue = from.getQueueClient(`m-${run}-${++count}`);
    await queue.create();
    t.after(() => queue.delete().catch(() => {}));
    return queue;
}

/** By a SAS that is good for long: dates of requests would be too old once the clock is moved. */
const far = () => generateAccountSASQueryParameters({
    services: AccountSASServices.parse('q').toString(),
    resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
    permissions: AccountSASPermissions.parse('rwdlacup'), expiresOn: new Date(Date.now() + 1e11),
}, credential);
const ofServer = (server) => new QueueServiceClient(`${server.urlOf('queue')}?${far()}`, undefined, once);

/** A server of the test's own, whose clock can be moved. */
async function withClock(t) {
    const server = await Server.start();
    const control = new Control(server);
    t.after(async () => {
        control.close();
        await server.stop();
    });
    if (!(await control.works()))
        return { skip: true };
    return { own: ofServer(server), wait: (seconds) => control.clock(seconds), server };
}

const texts = (answer) => answer.receivedMessageItems.map((item) => item.messageText);
const seconds = (a, b) => Math.round((a.getTime() - b.getTime()) / 1000);

test('Put Message answers what a delete needs; the text comes back as sent', async (t) => {
    const queue = await newQueue(t);
    for (const text of ['plain', '', '  spaces  ', '<a b="c">&amp;</a>', '\u554a\u9f44\u{1F600}', 
        ']]>', '"\'', 'a\tb', 'x'.repeat(65536), '&'.repeat(65536)]) {
        const put = await queue.sendMessage(text);
        assert.equal(put._response.status, 201);
        assert.equal(seconds(put.expiresOn, put.insertedOn), 604800);
        assert.equal(seconds(put.nextVisibleOn, put.insertedOn), 0);
        const [got] = (await queue.receiveMessages()).receivedMessageItems;
        assert.equal(got.messageText, text);
        assert.equal(got.messageId, put.messageId);
        assert.equal(got.dequeueCount, 1);
        assert.equal(seconds(got.nextVisibleOn, got.insertedOn) >= 30, true);
        assert.equal((await queue.deleteMessage(got.messageId, got.popReceipt))._response.status, 204);
    }
    assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
});

test('a text of more than 64 KiB is 413 with MaxLimit, a control character 400 InvalidXmlDocument', async (t) => {
    const queue = await newQueue(t);
    await refused(queue.sendMessage('x'.repeat(65537)), 413, 'RequestBodyTooLarge');
    await refused(queue.sendMessage('x'.repeat(1 << 20)), 413, 'RequestBodyTooLarge');
    await refused(queue.sendMessage('\u0001'), 400, 'InvalidXmlDocument');
});

test('line ends are kept as XML says them', async (t) => {
    const queue = await newQueue(t);
    const target = `/${account.name}/${queue.name}/messages`;
    const { hostname: host, port } = new URL(url);
    const body = '<QueueMessage><MessageText> a\nb&#13;c\r\nd </MessageText></QueueMessage>';
    const options = { target, base: { host, port } };
    assert.equal((await raw('POST', '', {}, body, options)).status, 201);
    assert.match((await raw('GET', '', {}, '', options)).text, /<MessageText> a\nb&#xD;c\nd <\/MessageText>/);
});

test('order is that of visibility, then of insertion; a get takes as many as asked', async (t) => {
    const queue = await newQueue(t);
    for (let n = 0; n < 40; n++)
        await queue.sendMessage(String(n));
    const numbers = [...Array(40).keys()].map(String);
    assert.deepEqual((await queue.peekMessages({ numberOfMessages: 32 })).peekedMessageItems.map((item) => item.messageText),
        numbers.slice(0, 32));
    assert.deepEqual(texts(await queue.receiveMessages()), ['0']);
    assert.deepEqual(texts(await queue.receiveMessages({ numberOfMessages: 32 })), numbers.slice(1, 33));
    assert.deepEqual(texts(await queue.receiveMessages({ numberOfMessages: 32 })), numbers.slice(33));
    assert.deepEqual(texts(await queue.receiveMessages({ numberOfMessages: 32 })), []);
});

test('limits of parameters: 400 OutOfRangeQueryParameterValue with the bounds', async (t) => {
    const queue = await newQueue(t);
    for (const numberOfMessages of [0, 33, -1]) {
        await refused(queue.receiveMessages({ numberOfMessages }), 400, 'OutOfRangeQueryParameterValue');
        await refused(queue.peekMessages({ numberOfMessages }), 400, 'OutOfRangeQueryParameterValue');
    }
    for (const visibilityTimeout of [0, 604801])
        await refused(queue.receiveMessages({ visibilityTimeout }), 400, 'OutOfRangeQueryParameterValue');
    await refused(queue.sendMessage('x', { visibilityTimeout: 604801 }), 400, 'OutOfRangeQueryParameterValue');
    await refused(queue.sendMessage('x', { messageTimeToLive: 0 }), 400, 'OutOfRangeQueryParameterValue');
    await refused(queue.sendMessage('x', { messageTimeToLive: -2 }), 400, 'OutOfRangeQueryParameterValue');
    await refused(queue.sendMessage('x', { messageTimeToLive: 5, visibilityTimeout: 5 }), 400, 'InvalidQueryParameterValue');
    const put = await queue.sendMessage('x');
    await refused(queue.updateMessage(put.messageId, put.popReceipt, 'x', 604801), 400, 'OutOfRangeQueryParameterValue');
    await queue.sendMessage('x', { messageTimeToLive: -1, visibilityTimeout: 604800 });
});

test('receipts: each get and each update makes the one before wrong', async (t) => {
    const queue = await newQueue(t);
    const put = await queue.sendMessage('x', { visibilityTimeout: 1 });
    const updated = await queue.updateMessage(put.messageId, put.popReceipt, 'y', 0);
    assert.equal(updated._response.status, 204);
    assert.notEqual(updated.popReceipt, put.popReceipt);
    await refused(queue.deleteMessage(put.messageId, put.popReceipt), 404, 'MessageNotFound');
    await refused(queue.updateMessage(put.messageId, put.popReceipt, 'z'), 404, 'MessageNotFound');
    const [got] = (await queue.receiveMessages()).receivedMessageItems;
    assert.equal(got.messageText, 'y');
    assert.equal(got.dequeueCount, 1); // an update does not count
    await refused(queue.deleteMessage(put.messageId, updated.popReceipt), 404, 'MessageNotFound');
    const kept = await queue.updateMessage(got.messageId, got.popReceipt, undefined, 0);
    const [again] = (await queue.receiveMessages()).receivedMessageItems;
    assert.deepEqual([again.messageText, again.dequeueCount], ['y', 2]);
    await refused(queue.deleteMessage(got.messageId, kept.popReceipt), 404, 'MessageNotFound');
    await queue.deleteMessage(got.messageId, again.popReceipt);
    await refused(queue.deleteMessage(got.messageId, again.popReceipt), 404, 'MessageNotFound');
    await refused(queue.updateMessage(got.messageId, again.popReceipt, 'x'), 404, 'MessageNotFound');
});

test('a receipt that is none is 400, an id that is none 404', async (t) => {
    const queue = await newQueue(t);
    const put = await queue.sendMessage('x');
    for (const receipt of ['x', 'AAAA', 'AgAAAAMAAAAAAAAAqmD1QwUG1QE=', `${put.popReceipt}A`])
        await refused(queue.deleteMessage(put.messageId, receipt), 400, 'InvalidQueryParameterValue');
    await refused(queue.deleteMessage('mymsg', put.popReceipt), 404, 'MessageNotFound');
    await refused(queue.deleteMessage('00000000-0000-4000-8000-000000000000', put.popReceipt), 404, 'MessageNotFound');
    const other = await newQueue(t);
    await refused(other.deleteMessage(put.messageId, put.popReceipt), 404, 'MessageNotFound');
});

/** A receipt that belongs to another message is no better than one that is over. decision: 121 */
test('the receipt of another message is 404, in its own queue and from another one', async (t) => {
    const queue = await newQueue(t), other = await newQueue(t);
    const put = await queue.sendMessage('x');
    for (const from of [await queue.sendMessage('y', { visibilityTimeout: 5 }), await other.sendMessage('z')]) {
        await refused(queue.deleteMessage(put.messageId, from.popReceipt), 404, 'MessageNotFound');
        await refused(queue.updateMessage(put.messageId, from.popReceipt, 'n'), 404, 'MessageNotFound');
    }
    await queue.deleteMessage(put.messageId, put.popReceipt);
});

test('a message is visible again after its time; its receipt is good until the next get', async (t) => {
    const { skip, own, wait } = await withClock(t);
    if (skip)
        return t.skip('not a gates build');
    const queue = await newQueue(t, own);
    await queue.sendMessage('x', { visibilityTimeout: 3600 });
    assert.deepEqual(texts(await queue.receiveMessages()), []);
    assert.equal((await queue.getProperties()).approximateMessagesCount, 1);
    await wait(3601);
    const [first] = (await queue.receiveMessages({ visibilityTimeout: 7200 })).receivedMessageItems;
    assert.equal(first.messageText, 'x');
    await wait(7201);
    const updated = await queue.updateMessage(first.messageId, first.popReceipt, 'y', 100); // still good
    assert.deepEqual(texts(await queue.receiveMessages()), []);
    await wait(101);
    const [second] = (await queue.receiveMessages()).receivedMessageItems;
    assert.deepEqual([second.messageText, second.dequeueCount], ['y', 2]);
    await refused(queue.deleteMessage(second.messageId, updated.popReceipt), 404, 'MessageNotFound');
    await wait(31);
    await queue.deleteMessage(second.messageId, second.popReceipt); // visible, and not got since
    assert.deepEqual(texts(await queue.receiveMessages()), []);
});

test('a message expires, visible or not, and is counted no more once collected; -1 never does', async (t) => {
    const { skip, own, wait, server } = await withClock(t);
    if (skip)
        return t.skip('not a gates build');
    const queue = await newQueue(t, own);
    // Short by any clock: what collects sleeps until then, and does not see the clock moved meanwhile.
    const short = await queue.sendMessage('short', { messageTimeToLive: 2 });
    await queue.sendMessage('hidden', { messageTimeToLive: 90, visibilityTimeout: 80 });
    const never = await queue.sendMessage('never', { messageTimeToLive: -1 });
    assert.equal(never.expiresOn.toUTCString(), 'Fri, 31 Dec 9999 23:59:59 GMT');
    const long = await queue.sendMessage('long', { messageTimeToLive: 2147483647 });
    assert.equal(seconds(long.expiresOn, long.insertedOn), 2147483647);
    await wait(61);
    assert.deepEqual((await queue.peekMessages({ numberOfMessages: 32 })).peekedMessageItems.map((item) => item.messageText),
        ['never', 'long']);
    await refused(queue.deleteMessage(short.messageId, short.popReceipt), 404, 'MessageNotFound');
    await wait(40);
    while ((await queue.getProperties()).approximateMessagesCount !== 2) // collected in the background
        await delay(50);
    await server.stop({ keep: true });
    await server.restart();
    const after = ofServer(server).getQueueClient(queue.name);
    assert.deepEqual(texts(await after.receiveMessages({ numberOfMessages: 32 })), ['never', 'long']);
});

test('Clear Messages: all are gone, visible or not', async (t) => {
    const queue = await newQueue(t);
    const put = await queue.sendMessage('1');
    await queue.sendMessage('2', { visibilityTimeout: 100 });
    assert.equal((await queue.clearMessages())._response.status, 204);
    assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
    assert.deepEqual(texts(await queue.receiveMessages()), []);
    await refused(queue.deleteMessage(put.messageId, put.popReceipt), 404, 'MessageNotFound');
    await queue.sendMessage('3');
    assert.deepEqual(texts(await queue.receiveMessages()), ['3']);
});

test('many clients on one queue: each message goes to one of them', async (t) => {
    const queue = await newQueue(t);
    const wanted = [...Array(200).keys()].map(String);
    await Promise.all(wanted.map((text) => queue.sendMessage(text)));
    const got = [];
    await Promise.all([...Array(16).keys()].map(async () => {
        for (;;) {
            const [item] = (await queue.receiveMessages({ visibilityTimeout: 600 })).receivedMessageItems;
            if (!item)
                return;
            got.push(item.messageText);
            await queue.deleteMessage(item.messageId, item.popReceipt);
        }
    }));
    assert.deepEqual(got.sort((a, b) => a - b), wanted);
    assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
});
