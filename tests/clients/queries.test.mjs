// Query Entities: order, pages, filters, what is selected; Query Tables by filter.
// rest: Query-Entities, Querying-Tables-and-Entities, Query-Timeout-and-Pagination
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { odata } from '@azure/data-tables';
import { collect } from './setup.mjs';
import { newTable, refusedTable, tableClient, tableName, tables } from './tables-setup.mjs';

const keysOf = (entities) => entities.map(({ partitionKey, rowKey }) => `${partitionKey}/${rowKey}`);
const query = async (table, queryOptions) => collect(table.listEntities({ queryOptions }));

// A table of entities of these keys, 'p/r', with a number each.
async function tableOf(t, keys) {
    const table = await newTable(t);
    for (const [n, key] of keys.entries()) {
        const [partitionKey, rowKey] = key.split('/');
        await table.createEntity({ partitionKey, rowKey, n, even: n % 2 === 0, [`only${n}`]: 'x' });
    }
    return table;
}

test('entities come in the order of their keys as .NET compares them', async (t) => {
    const keys = ['/', '/a', 'A/1', 'B/', 'Z/1', 'a/1', 'a/10', 'a/2', 'ab/', 'b/', 'ä/', '\u{1F600}/', '\uE000/', '\uFFFD/'];
    const table = await tableOf(t, [...keys].reverse());
    assert.deepEqual(keysOf(await query(table)), keys);
});

test('pages hold what was asked for, and lose and repeat nothing', async (t) => {
    const keys = Array.from({ length: 23 }, (_, i) => `p${Math.floor(i / 5)}/r${i % 5}`);
    const table = await tableOf(t, keys);
    for (const size of [1, 2, 7, 23, 1000]) {
        const got = [];
        for await (const page of table.listEntities().byPage({ maxPageSize: size })) {
            assert.ok(page.length <= size);
            got.push(...page);
        }
        assert.deepEqual(keysOf(got), keys, `pages of ${size}`);
    }
});

test('a page goes on where the last one ended, whatever was written since', async (t) => {
    const table = await tableOf(t, ['a/1', 'b/1', 'c/1', 'd/1']);
    const pages = table.listEntities().byPage({ maxPageSize: 2 });
    assert.deepEqual(keysOf((await pages.next()).value), ['a/1', 'b/1']);
    await table.createEntity({ partitionKey: 'a', rowKey: '0' });
    await table.createEntity({ partitionKey: 'b', rowKey: '2' });
    await table.deleteEntity('c', '1');
    const rest = (await pages.next()).value;
    assert.deepEqual(keysOf(rest), ['d/1']);
});

const FILTERS = [
    ["PartitionKey eq 'b'", 'b/1 b/2'],
    ["PartitionKey eq 'b' and RowKey eq '2'", 'b/2'],
    ["PartitionKey ge 'b' and PartitionKey lt 'c'", 'b/1 b/2'],
    ["PartitionKey eq 'a' or PartitionKey eq 'c'", 'a/1 a/2 c/1'],
    ["PartitionKey eq 'a' and RowKey gt '1'", 'a/2'],
    ["RowKey eq '1'", 'a/1 b/1 c/1'],
    ['n ge 1 and n lt 4', 'a/2 b/1 b/2'],
    ['even', 'a/1 b/1 c/1'],
    ['not even', 'a/2 b/2'],
    ["only2 eq 'x' or only4 eq 'x'", 'b/1 c/1'],
    ["PartitionKey eq 'nobody'", ''],
    ["PartitionKey gt 'a' and PartitionKey lt 'a'", ''],
];
test('filters', async (t) => {
    const table = await tableOf(t, ['a/1', 'a/2', 'b/1', 'b/2', 'c/1']);
    for (const [filter, wanted] of FILTERS)
        for (const maxPageSize of [1, 1000]) {
            const pages = table.listEntities({ queryOptions: { filter } }).byPage({ maxPageSize });
            const got = (await collect(pages)).flat();
            assert.equal(keysOf(got).join(' '), wanted, filter);
        }
    await refusedTable(query(table, { filter: 'n eq' }), 400, 'InvalidInput');
    await refusedTable(query(table, { filter: "(n eq 1" }), 400, 'InvalidInput');
    const quoted = await query(table, { filter: odata`PartitionKey eq ${"it's"}` });
    assert.deepEqual(quoted, []);
});

test('what is selected', async (t) => {
    const table = await tableOf(t, ['a/1']);
    const [got] = await query(table, { select: ['n', 'missing'] });
    assert.deepEqual([got.n, got.even, got.missing], [0, undefined, null]);
});

test('a page of a thousand, and one more', async (t) => {
    const table = await newTable(t);
    const all = Array.from({ length: 1001 }, (_, i) => String(i).padStart(4, '0'));
    await Promise.all(Array.from({ length: 8 }, async (_, k) => {
        for (let i = k; i < all.length; i += 8)
            await table.createEntity({ partitionKey: 'p', rowKey: all[i] });
    }));
    const sizes = [];
    for await (const page of table.listEntities().byPage())
        sizes.push(page.length);
    assert.deepEqual(sizes, [1000, 1]);
});

test('a table that is not there', async () => {
    await refusedTable(query(tableClient(tableName())), 404, 'TableNotFound');
});

test('tables by filter, and in pages', async (t) => {
    const made = [await newTable(t), await newTable(t), await newTable(t)].map(({ tableName: name }) => name);
    const [first, , last] = [...made].sort();
    const filter = `TableName ge '${first}' and TableName le '${last}'`;
    const pages = tables.listTables({ queryOptions: { filter } }).byPage({ maxPageSize: 1 });
    const got = (await collect(pages)).flat().map(({ name }) => name);
    assert.deepEqual(got, [...made].sort());
    assert.deepEqual((await collect(tables.listTables({ queryOptions: { filter: `TableName eq '${first}'` } })))
        .map(({ name }) => name), [first]);
});
