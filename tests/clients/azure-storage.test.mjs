// npm azure-storage 2.10, the SDK before today's, which many programs still use: its tables (whose
// transactions have LF line ends), queues and blobs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import azure from 'azure-storage';
import { startKillable, writeThroughKills } from '../lib/killed.mjs';
import { account, url } from './setup.mjs';
import { tableUrl } from './tables-setup.mjs';

const connectionString = 'DefaultEndpointsProtocol=http;' +
    `AccountName=${account.name};AccountKey=${account.key};BlobEndpoint=${url};` +
    `QueueEndpoint=${process.env.LAGRA_TEST_QUEUE_URL};TableEndpoint=${tableUrl};`;
const { TableQuery, TableBatch, TableUtilities } = azure;
const { entityGenerator: edm } = TableUtilities;

/** The service with promises in the place of callbacks. */
function promised(service) {
    return new Proxy(service, {
        get: (_, name) => (...args) => new Promise((resolve, reject) => {
            service[name](...args, (error, result) => (error ? reject(error) : resolve(result)));
        }),
    });
}

/** Without the endpoint that this client does not know. */
const forOldClient = (own) => own.connectionString.replace(/DfsEndpoint=[^;]*;/, '');
const tables = promised(azure.createTableService(connectionString));
const queues = promised(azure.createQueueService(connectionString));
const blobs = promised(azure.createBlobService(connectionString));
let count = 0;
const newName = () => `old${process.pid}x${++count}`;

async function newTable(t) {
    const table = newName();
    assert.equal((await tables.createTableIfNotExists(table)).created, true);
    t.after(() => tables.deleteTableIfExists(table));
    return table;
}

const refused = (promise, statusCode, code) => assert.rejects(promise, (error) => {
    assert.deepEqual([error.statusCode, error.code], [statusCode, code], error.message);
    return true;
});
const entity = (row, more = {}) => ({ PartitionKey: edm.String('p'), RowKey: edm.String(row), ...more });
const rows = ({ entries }) => entries.map(({ RowKey }) => RowKey._);

test('tables: created, listed, their policies', async (t) => {
    const table = await newTable(t);
    assert.equal((await tables.createTableIfNotExists(table)).created, false);
    await refused(tables.createTable(table), 409, 'TableAlreadyExists');
    assert.deepEqual((await tables.listTablesSegmentedWithPrefix(table, null)).entries, [table]);
    await tables.setTableAcl(table, {
        one: { Permissions: 'raud', Expiry: new Date(Date.now() + 3600_000) },
    });
    const { signedIdentifiers } = await tables.getTableAcl(table);
    assert.equal(signedIdentifiers.one.Permissions, 'raud');
    assert.equal((await tables.doesTableExist('missing')).exists, false);
    await refused(tables.retrieveEntity(table, 'p', 'missing'), 404, 'ResourceNotFound');
});

test('entities: every type, every write', async (t) => {
    const table = await newTable(t);
    const when = new Date('2020-02-03T04:05:06.789Z');
    const guid = 'c9da6455-213d-42c9-9a79-3e9149a57833';
    const all = entity('a\'b ü', {
        text: edm.String('ä"\n€'), int: edm.Int32(-5), long: edm.Int64('9007199254740993'),
        double: edm.Double(1.5), yes: edm.Boolean(true), when: edm.DateTime(when),
        guid: edm.Guid(guid), bytes: edm.Binary(Buffer.from([0, 255, 10])),
    });
    const { '.metadata': { etag } } = await tables.insertEntity(table, all);
    const back = await tables.retrieveEntity(table, 'p', 'a\'b ü');
    assert.equal(back['.metadata'].etag, etag);
    for (const name of ['text', 'int', 'double', 'yes', 'guid', 'bytes'])
        assert.deepEqual(back[name]._, all[name]._, name);
    assert.equal(back.long._, '9007199254740993');
    assert.equal(back.when._.getTime(), when.getTime());

    await refused(tables.insertEntity(table, all), 409, 'EntityAlreadyExists');
    await tables.mergeEntity(table, entity('a\'b ü', { int: edm.Int32(6), '.metadata': { etag } }));
    await refused(tables.replaceEntity(table, { ...all, '.metadata': { etag } }),
        412, 'UpdateConditionNotSatisfied');
    await tables.insertOrMergeEntity(table, entity('new', { a: edm.Int32(1) }));
    await tables.insertOrReplaceEntity(table, entity('new', { b: edm.Int32(2) }));
    assert.deepEqual(Object.keys(await tables.retrieveEntity(table, 'p', 'new')).sort(),
        ['.metadata', 'PartitionKey', 'RowKey', 'Timestamp', 'b']);
    const query = new TableQuery().where('PartitionKey eq ? and int eq ?int32?', 'p', 6);
    assert.deepEqual(rows(await tables.queryEntities(table, query, null)), ['a\'b ü']);
    const long = new TableQuery().where('long gt ?int64?', '9007199254740992').select('RowKey');
    assert.deepEqual(rows(await tables.queryEntities(table, long, null)), ['a\'b ü']);
    await tables.deleteEntity(table, entity('new'));
    await refused(tables.deleteEntity(table, entity('new')), 404, 'ResourceNotFound');
});

test('tables: transactions', async (t) => {
    const table = await newTable(t);
    await tables.insertEntity(table, entity('deleted'));
    await tables.insertEntity(table, entity('merged', { a: edm.Int32(1) }));
    const batch = new TableBatch();
    batch.insertEntity(entity('echoed', { a: edm.String('ü€') }), { echoContent: true });
    batch.insertEntity(entity('inserted'));
    batch.deleteEntity(entity('deleted'));
    batch.mergeEntity(entity('merged', { b: edm.Int32(2) }));
    batch.insertOrReplaceEntity(entity('upserted', { c: edm.Int64('3') }));
    const answers = await tables.executeBatch(table, batch);
    assert.deepEqual(answers.map(({ response }) => response.statusCode), [201, 204, 204, 204, 204]);
    assert.equal(answers[0].entity.a._, 'ü€');
    const merged = await tables.retrieveEntity(table, 'p', 'merged');
    assert.deepEqual([merged.a._, merged.b._], [1, 2]);
    assert.equal(answers[3].entity['.metadata'].etag, merged['.metadata'].etag);

    const wrong = new TableBatch();
    wrong.insertEntity(entity('not'));
    wrong.insertEntity(entity('inserted'));
    await refused(tables.executeBatch(table, wrong), 409, 'EntityAlreadyExists');
    const query = new TableBatch();
    query.retrieveEntity('p', 'merged');
    const [{ entity: found }] = await tables.executeBatch(table, query);
    assert.equal(found.b._, 2);
    assert.deepEqual(rows(await tables.queryEntities(table, new TableQuery().select('RowKey'), null)),
        ['echoed', 'inserted', 'merged', 'upserted']);
});

test('queues: messages through their life', async (t) => {
    const queue = newName();
    assert.equal((await queues.createQueueIfNotExists(queue)).created, true);
    t.after(() => queues.deleteQueueIfExists(queue));
    assert.equal((await queues.createQueueIfNotExists(queue)).created, false);
    await queues.setQueueMetadata(queue, { color: 'blue' });
    for (const text of ['<one> & "two"', 'ü€'])
        await queues.createMessage(queue, text);
    assert.equal((await queues.peekMessage(queue)).messageText, '<one> & "two"');
    const [one, two] = await queues.getMessages(queue, { numOfMessages: 32, visibilityTimeout: 30 });
    assert.deepEqual([one.messageText, two.messageText], ['<one> & "two"', 'ü€']);
    const { popReceipt } = await queues.updateMessage(queue, one.messageId, one.popReceipt, 0,
        { messageText: 'changed' });
    await refused(queues.deleteMessage(queue, one.messageId, one.popReceipt), 404, 'MessageNotFound');
    await queues.deleteMessage(queue, one.messageId, popReceipt);
    await queues.deleteMessage(queue, two.messageId, two.popReceipt);
    const { metadata, approximateMessageCount } = await queues.getQueueMetadata(queue);
    assert.equal(metadata.color, 'blue');
    assert.equal(Number(approximateMessageCount), 0);
    const listed = await queues.listQueuesSegmentedWithPrefix(queue, null, { include: 'metadata' });
    assert.deepEqual(listed.entries.map(({ name }) => name), [queue]);
});

test('blobs: each kind, leases, snapshots, a copy, a SAS, listing', async (t) => {
    const container = newName();
    await blobs.createContainerIfNotExists(container);
    t.after(() => blobs.deleteContainerIfExists(container));
    await blobs.createBlockBlobFromText(container, 'a/ä b', 'text', {
        contentSettings: { contentType: 'text/plain' }, metadata: { color: 'blue' },
    });
    assert.equal(await blobs.getBlobToText(container, 'a/ä b'), 'text');
    const { contentSettings, metadata } = await blobs.getBlobProperties(container, 'a/ä b');
    assert.deepEqual([contentSettings.contentType, metadata.color], ['text/plain', 'blue']);
    const ids = ['000001', '000002'].map((id) => Buffer.from(id).toString('base64'));
    for (const id of ids)
        await blobs.createBlockFromText(id, container, 'blocks', 'x'.repeat(70000));
    await blobs.commitBlocks(container, 'blocks', { UncommittedBlocks: ids });
    const listedBlocks = await blobs.listBlocks(container, 'blocks', 'committed');
    assert.equal(listedBlocks.CommittedBlocks.length, 2);
    await blobs.createOrReplaceAppendBlob(container, 'log');
    await blobs.appendFromText(container, 'log', 'one');
    await blobs.appendFromText(container, 'log', 'two');
    assert.equal(await blobs.getBlobToText(container, 'log'), 'onetwo');
    await blobs.createPageBlob(container, 'pages', 4096);
    assert.deepEqual(await blobs.listPageRanges(container, 'pages'), []);

    const { id: leaseId } = await blobs.acquireLease(container, 'log', { leaseDuration: 15 });
    await refused(blobs.deleteBlob(container, 'log'), 412, 'LeaseIdMissing');
    await blobs.releaseLease(container, 'log', leaseId);
    const snapshot = await blobs.createBlobSnapshot(container, 'log');
    await refused(blobs.deleteBlob(container, 'log'), 409, 'SnapshotsPresent');
    assert.equal(await blobs.getBlobToText(container, 'log', { snapshotId: snapshot }), 'onetwo');
    await blobs.deleteBlob(container, 'log', { deleteSnapshots: 'include' });
    const plain = azure.createBlobService(connectionString);
    const copied = await blobs.startCopyBlob(plain.getUrl(container, 'a/ä b'), container, 'copy');
    assert.equal(copied.copy.status, 'success');
    const listed = await blobs.listBlobsSegmented(container, null, { include: 'metadata' });
    assert.deepEqual(listed.entries.map(({ name }) => name), ['a/ä b', 'blocks', 'copy', 'pages']);

    const sas = plain.generateSharedAccessSignature(container, 'copy', {
        AccessPolicy: { Permissions: 'r', Expiry: new Date(Date.now() + 3600_000) },
    });
    const guest = promised(azure.createBlobServiceWithSas(url, sas));
    assert.equal(await guest.getBlobToText(container, 'copy'), 'text');
    await refused(guest.deleteBlob(container, 'copy'), 403, 'AuthorizationPermissionMismatch');
});

// A transaction is there whole or not at all.
test('tables: kill -9 in the middle', async (t) => {
    const server = await startKillable(t);
    const own = promised(azure.createTableService(forOldClient(server)));
    await own.createTable('table');
    const kept = await writeThroughKills(server, (number) => {
        const batch = new TableBatch();
        for (let i = 0; i < 5; i++)
            batch.insertEntity(entity(`${number}-${i}`));
        return own.executeBatch('table', batch);
    }, { count: 120 });

    const found = new Map();
    for (let page = {}; page; page = page.continuationToken && page) {
        page = await own.queryEntities('table', new TableQuery(), page.continuationToken ?? null);
        for (const row of rows(page)) {
            const number = Number(row.split('-')[0]);
            found.set(number, (found.get(number) ?? 0) + 1);
        }
    }
    assert.deepEqual([...found].filter(([, size]) => size !== 5), [], 'transactions in part');
    assert.deepEqual(kept.filter((number) => !found.has(number)), [], 'transactions lost');
});

// A message that was put is there once it is not deleted, and a deleted one never again.
test('queues and blobs: kill -9 in the middle', async (t) => {
    const server = await startKillable(t);
    const ownQueues = promised(azure.createQueueService(forOldClient(server)));
    const ownBlobs = promised(azure.createBlobService(forOldClient(server)));
    await ownQueues.createQueue('queue');
    await ownBlobs.createContainer('container');
    const deleted = new Set();
    const kept = await writeThroughKills(server, async (number) => {
        const name = `${number}`;
        await ownBlobs.createBlockBlobFromText('container', name, name);
        const { messageId, popReceipt } = await ownQueues.createMessage('queue', name);
        if (number % 3 === 0) {
            await ownQueues.deleteMessage('queue', messageId, popReceipt);
            deleted.add(name);
        }
    }, { count: 120 });

    const texts = new Set();
    for (let some; (some = await ownQueues.getMessages('queue', { numOfMessages: 32 })).length > 0;)
        some.forEach(({ messageText }) => texts.add(messageText));
    assert.deepEqual([...deleted].filter((name) => texts.has(name)), [], 'messages came back');
    assert.deepEqual(kept.filter((number) => number % 3 && !texts.has(`${number}`)), [], 'messages lost');
    for (const number of kept)
        assert.equal(await ownBlobs.getBlobToText('container', `${number}`), `${number}`);
});
