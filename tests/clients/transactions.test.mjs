// Entity group transactions: all of their operations or none.
// rest: Performing-Entity-Group-Transactions; semantics 6
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TableTransaction } from '@azure/data-tables';
import { collect } from './setup.mjs';
import { newTable, refusedTable, tableClient, tableName } from './tables-setup.mjs';

const entity = (rowKey, more = {}) => ({ partitionKey: 'p', rowKey, ...more });

// The transaction is refused for the part of this index.
async function refusedPart(promise, index, status, code) {
    await assert.rejects(promise, (error) => {
        assert.equal(error.code, code, error.message);
        assert.equal(error.statusCode, status);
        if (index !== undefined)
            assert.ok(error.message.startsWith(`${index}:`), error.message);
        return true;
    });
}
const rowsOf = async (table) => (await collect(table.listEntities())).map(({ rowKey }) => rowKey).join(' ');

test('operations of every kind in one', async (t) => {
    const table = await newTable(t);
    for (const row of ['deleted', 'merged', 'replaced'])
        await table.createEntity(entity(row, { a: 1, b: 1 }));
    const answer = await table.submitTransaction([
        ['create', entity('created', { a: 2 })],
        ['delete', entity('deleted')],
        ['update', entity('merged', { b: 2 }), 'Merge'],
        ['update', entity('replaced', { b: 2 }), 'Replace'],
        ['upsert', entity('upserted', { b: 2 }), 'Merge'],
    ]);
    assert.equal(answer.status, 202);
    assert.deepEqual(answer.subResponses.map(({ status }) => status), [204, 204, 204, 204, 204]);
    assert.equal(await rowsOf(table), 'created merged replaced upserted');
    const merged = await table.getEntity('p', 'merged');
    assert.deepEqual([merged.a, merged.b], [1, 2]);
    assert.equal(answer.subResponses[2].etag, merged.etag);
    assert.equal((await table.getEntity('p', 'replaced')).a, undefined);
});

test('one that the SDK gathers', async (t) => {
    const table = await newTable(t);
    for (const row of ['deleted', 'updated'])
        await table.createEntity(entity(row, { a: 1 }));
    const gathered = new TableTransaction();
    gathered.createEntity(entity('created'));
    gathered.deleteEntity('p', 'deleted');
    gathered.updateEntity(entity('updated', { b: 1 }), 'Replace');
    gathered.upsertEntity(entity('upserted'), 'Merge');
    const answer = await table.submitTransaction(gathered.actions);
    assert.deepEqual(answer.subResponses.map(({ status }) => status), [204, 204, 204, 204]);
    assert.equal(await rowsOf(table), 'created updated upserted');
});

test('one that is refused refuses all, and says which', async (t) => {
    const table = await newTable(t);
    await table.createEntity(entity('there'));
    const wrong = 'W/"datetime\'2012-06-15T22%3A51%3A44.9662825Z\'"';
    const first = ['create', entity('new')];
    await refusedPart(table.submitTransaction([first, ['create', entity('there')]]),
        1, 409, 'EntityAlreadyExists');
    await refusedPart(table.submitTransaction([['create', entity('there')]]),
        undefined, 409, 'EntityAlreadyExists');
    await refusedPart(table.submitTransaction([first, ['delete', entity('missing')]]),
        1, 404, 'ResourceNotFound');
    await refusedPart(table.submitTransaction([first,
        ['update', entity('there'), 'Merge', { etag: wrong }]]), 1, 412, 'UpdateConditionNotSatisfied');
    await refusedPart(table.submitTransaction([first, ['upsert', entity('new', { a: 1 }), 'Merge']]),
        1, 400, 'InvalidDuplicateRow');
    await refusedPart(table.submitTransaction([first, ['create', entity('x'.repeat(513))]]),
        1, 400, 'KeyValueTooLarge');
    await refusedPart(table.submitTransaction([first, ['create', entity('y', { 'a-b': 1 })]]),
        1, 400, 'PropertyNameInvalid');
    assert.equal(await rowsOf(table), 'there');
});

test('a hundred operations and no more', async (t) => {
    const table = await newTable(t);
    const creates = (count) => Array.from({ length: count }, (_, i) => ['create', entity(`r${i}`, { i })]);
    await refusedPart(table.submitTransaction(creates(101)), 99, 400, 'InvalidInput');
    assert.equal(await rowsOf(table), '');
    const answer = await table.submitTransaction(creates(100));
    assert.equal(answer.subResponses.length, 100);
    assert.equal((await collect(table.listEntities())).length, 100);
});

test('more than 4 MiB', async (t) => {
    const table = await newTable(t);
    const wide = { a: 'x'.repeat(25000), b: 'y'.repeat(25000) };
    const creates = (count) => Array.from({ length: count }, (_, i) => ['create', entity(`r${i}`, wide)]);
    await assert.rejects(table.submitTransaction(creates(90)), { statusCode: 413 });
    assert.equal(await rowsOf(table), '');
});

test('a table that is not there', async () => {
    const table = tableClient(tableName());
    await refusedPart(table.submitTransaction([['create', entity('r')]]), 0, 404, 'TableNotFound');
});

test('readers never see half of one', async (t) => {
    const table = await newTable(t);
    const write = (n) => table.submitTransaction(
        ['a', 'b', 'c'].map((row) => ['upsert', entity(row, { n }), 'Replace']));
    await write(0);
    let done = false;
    const writer = (async () => {
        for (let n = 1; n <= 40; n++)
            await write(n);
        done = true;
    })();
    while (!done) {
        const seen = new Set((await collect(table.listEntities())).map(({ n }) => n));
        assert.equal(seen.size, 1);
    }
    await writer;
    await refusedTable(table.getEntity('p', 'd'), 404, 'ResourceNotFound');
});
