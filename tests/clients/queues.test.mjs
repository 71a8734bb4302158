// Queues through the official SDK: create, list, metadata, policies, properties, who may.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
    AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, QueueClient, QueueSASPermissions,
    QueueServiceClient, StorageSharedKeyCredential, generateAccountSASQueryParameters,
    generateQueueSASQueryParameters,
} from '@azure/storage-queue';
import { account, collect, refused } from './setup.mjs';

const url = process.env.LAGRA_TEST_QUEUE_URL;
const credential = new StorageSharedKeyCredential(account.name, account.key);
const once = { retryOptions: { maxTries: 1 } };
const service = new QueueServiceClient(url, credential, once);
const run = randomBytes(4).toString('hex');
let count = 0;

async function newQueue(t, options) {
    const queue = service.getQueueClient(`q-${run}-${++count}`);
    await queue.create(options);
    t.after(() => queue.delete().catch(() => {}));
    return queue;
}

const inHours = (hours) => new Date(Date.now() + hours * 3600000);
const withSas = (queue, values) => new QueueClient(
    `${queue.url}?${generateQueueSASQueryParameters({ queueName: queue.name, ...values }, credential)}`, undefined, once);

test('Create Queue: 201, 204 with the same metadata, 409 with other (rest: Create-Queue4)', async (t) => {
    const queue = await newQueue(t, { metadata: { one: '1', two: 'B' } });
    const again = await queue.create({ metadata: { two: 'B', one: '1' } });
    assert.equal(again._response.status, 204);
    await refused(queue.create(), 409, 'QueueAlreadyExists');
    await refused(queue.create({ metadata: { one: '1', two: 'b' } }), 409, 'QueueAlreadyExists');
    assert.equal((await queue.createIfNotExists({ metadata: { one: '1', two: 'B' } })).succeeded, false);
    assert.equal(await queue.exists(), true);
});

test('a deleted queue is gone, and its name free at once (decision: 120)', async (t) => {
    const queue = await newQueue(t);
    await queue.sendMessage('before');
    assert.equal((await queue.delete())._response.status, 204);
    await refused(queue.getProperties(), 404, 'QueueNotFound');
    await refused(queue.delete(), 404, 'QueueNotFound');
    await refused(queue.sendMessage('x'), 404, 'QueueNotFound');
    await refused(queue.setMetadata({ a: 'b' }), 404, 'QueueNotFound');
    assert.equal((await queue.deleteIfExists()).succeeded, false);
    assert.equal(await queue.exists(), false);
    await queue.create();
    assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
    assert.deepEqual((await queue.peekMessages()).peekedMessageItems, []);
});

test('names: 3..63 lower-case letters, digits, single dashes (rest: Naming-Queues-and-Metadata)', async () => {
    for (const name of ['Upper', 'a--b', '-ab', 'ab-', 'a_b', '\u4e02\u4e02\u4e02', 'a.b'])
        await refused(service.getQueueClient(encodeURIComponent(name)).create(), 400, 'InvalidResourceName');
    await refused(service.createQueue('ab'), 400, 'OutOfRangeInput');
    await refused(service.createQueue('a'.repeat(64)), 400, 'OutOfRangeInput');
});

test('Set and Get Queue Metadata replace all; the count is of all messages', async (t) => {
    const queue = await newQueue(t, { metadata: { old: 'x' } });
    assert.equal((await queue.setMetadata({ key: 'Value', Other: '2' }))._response.status, 204);
    await queue.sendMessage('1');
    await queue.sendMessage('2', { visibilityTimeout: 60 });
    const properties = await queue.getProperties();
    assert.deepEqual(properties.metadata, { key: 'Value', other: '2' });
    assert.equal(properties.approximateMessagesCount, 2);
    await queue.setMetadata({});
    assert.deepEqual((await queue.getProperties()).metadata, {});
});

test('List Queues: prefix, pages, metadata (rest: List-Queues1)', async (t) => {
    const prefix = `list-${run}-`;
    for (const n of [3, 1, 2])
        await service.createQueue(`${prefix}${n}`, { metadata: { n: String(n) } });
    t.after(() => Promise.all([1, 2, 3].map((n) => service.deleteQueue(`${prefix}${n}`))));
    const all = await collect(service.listQueues({ prefix, includeMetadata: true }));
    assert.deepEqual(all.map(({ name, metadata }) => [name, metadata.n]),
        [1, 2, 3].map((n) => [`${prefix}${n}`, String(n)]));
    const pages = await collect(service.listQueues({ prefix }).byPage({ maxPageSize: 2 }));
    assert.deepEqual(pages.map((page) => page.queueItems.length), [2, 1]);
    assert.equal(pages[0].continuationToken, `/${account.name}/${prefix}3`);
    assert.deepEqual(await collect(service.listQueues({ prefix: `${prefix}none` })), []);
});

test('service properties and CORS rules are the service\'s own; stats at the secondary only', async (t) => {
    const before = await service.getProperties();
    t.after(() => service.setProperties({ cors: before.cors ?? [] }));
    const cors = [{ allowedOrigins: 'http://q', allowedMethods: 'GET', allowedHeaders: '*',
        exposedHeaders: '*', maxAgeInSeconds: 5 }];
    assert.equal((await service.setProperties({ cors }))._response.status, 202);
    assert.equal((await service.getProperties()).cors[0].allowedOrigins, 'http://q');
    const preflight = await fetch(`${url}/any/messages`, { method: 'OPTIONS',
        headers: { Origin: 'http://q', 'Access-Control-Request-Method': 'GET' } });
    assert.equal(preflight.status, 200);
    assert.equal(preflight.headers.get('access-control-allow-origin'), 'http://q');
    const foreign = await fetch(`${url}/any/messages`, { method: 'OPTIONS',
        headers: { Origin: 'http://other', 'Access-Control-Request-Method': 'GET' } });
    assert.equal(foreign.status, 403);
    const nobody = new QueueServiceClient(url, undefined, once);
    await refused(nobody.getProperties(), 401, 'NoAuthenticationInformation');
    await refused(nobody.setProperties({ cors }), 401, 'NoAuthenticationInformation');
    await refused(service.getStatistics(), 400, 'InvalidQueryParameterValue');
    const secondary = new QueueServiceClient(`${url}-secondary`, credential, once);
    assert.equal((await secondary.getStatistics()).geoReplication.status, 'live');
    await refused(secondary.createQueue('abc'), 403, 'InsufficientAccountPermissions');
});

test('Set and Get Queue ACL; a service SAS by a policy ends with it', async (t) => {
    const queue = await newQueue(t);
    assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers, []);
    const policy = { startsOn: inHours(-1), expiresOn: inHours(1), permissions: 'raup' };
    assert.equal((await queue.setAccessPolicy([{ id: 'p', accessPolicy: policy }]))._response.status, 204);
    const [stored] = (await queue.getAccessPolicy()).signedIdentifiers;
    assert.deepEqual([stored.id, stored.accessPolicy.permissions], ['p', 'raup']);
    const byPolicy = withSas(queue, { identifier: 'p' });
    await byPolicy.sendMessage('a');
    await queue.setAccessPolicy([]);
    await refused(byPolicy.sendMessage('b'), 403, 'AuthenticationFailed');
    await refused(queue.setAccessPolicy([{ id: 'p', accessPolicy: { ...policy, permissions: 'rwdl' } }]),
        400, 'InvalidXmlDocument');
    await refused(queue.setAccessPolicy(['1', '2', '3', '4', '5', '6'].map((id) => ({ id, accessPolicy: policy }))),
        400, 'InvalidXmlDocument');
});

test('a service SAS: r peeks and reads, a adds, p gets and deletes, u updates, none clears', async (t) => {
    const queue = await newQueue(t);
    const sas = (permissions) => withSas(queue,
        { permissions: QueueSASPermissions.parse(permissions), expiresOn: inHours(1) });
    const may = async (permissions, call) => {
        const client = sas(permissions);
        await call(client);
        for (const other of ['r', 'a', 'u', 'p'].filter((letter) => !permissions.includes(letter)))
            await refused(call(sas(other)), 403, 'AuthorizationPermissionMismatch');
    };
    await may('a', (client) => client.sendMessage('1'));
    await may('r', (client) => client.peekMessages());
    await may('r', (client) => client.getProperties());
    await may('p', (client) => client.receiveMessages({ visibilityTimeout: 1 }));
    const put = await queue.sendMessage('2');
    await refused(sas('rap').updateMessage(put.messageId, put.popReceipt, 'x'), 403, 'AuthorizationPermissionMismatch');
    const updated = await sas('u').updateMessage(put.messageId, put.popReceipt, 'x');
    await refused(sas('rau').deleteMessage(put.messageId, updated.popReceipt), 403, 'AuthorizationPermissionMismatch');
    await sas('p').deleteMessage(put.messageId, updated.popReceipt);
    await refused(sas('raup').clearMessages(), 403, 'AuthorizationFailure');
    await refused(sas('raup').delete(), 403, 'AuthorizationFailure');
    const other = await newQueue(t);
    const elsewhere = new QueueClient(`${other.url}?${new URL(sas('raup').url).search.slice(1)}`, undefined, once);
    await refused(elsewhere.peekMessages(), 403, 'AuthenticationFailed');
});

test('an account SAS: service, resource type and letters (rest: Create-account-SAS)', async (t) => {
    const queue = await newQueue(t);
    const sas = (services, types, permissions) => new QueueServiceClient(
        `${url}?${generateAccountSASQueryParameters({
            services: AccountSASServices.parse(services).toString(),
            resourceTypes: AccountSASResourceTypes.parse(types).toString(),
            permissions: AccountSASPermissions.parse(permissions), expiresOn: inHours(1),
        }, credential)}`, undefined, once);
    await collect(sas('q', 's', 'l').listQueues());
    await refused(collect(sas('b', 's', 'l').listQueues()), 403, 'AuthorizationServiceMismatch');
    await refused(collect(sas('q', 'c', 'l').listQueues()), 403, 'AuthorizationResourceTypeMismatch');
    await sas('q', 'o', 'a').getQueueClient(queue.name).sendMessage('x');
    await sas('q', 'o', 'r').getQueueClient(queue.name).peekMessages();
    await sas('q', 'o', 'd').getQueueClient(queue.name).clearMessages();
    await refused(sas('q', 'o', 'rwlaup').getQueueClient(queue.name).clearMessages(), 403, 'AuthorizationPermissionMismatch');
    await refused(sas('q', 'sco', 'rwdlacup').getQueueClient(queue.name).getAccessPolicy(), 403, 'AuthorizationFailure');
    await sas('q', 'c', 'd').getQueueClient(queue.name).delete();
});

test('nobody may anything without authorization', async (t) => {
    const queue = await newQueue(t);
    const anonymous = new QueueClient(queue.url, undefined, once);
    await refused(anonymous.peekMessages(), 401, 'NoAuthenticationInformation');
    await refused(anonymous.getProperties(), 401, 'NoAuthenticationInformation');
    await refused(anonymous.sendMessage('x'), 401, 'NoAuthenticationInformation');
});
