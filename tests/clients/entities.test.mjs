// Entities: insert, point query, update, merge, upserts, delete, and the conditions of each.
// rest: Inserting-and-Updating-Entities; semantics 6
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTable, refusedTable, tableClient, tableName } from './tables-setup.mjs';

const wrong = 'W/"datetime\'2012-06-15T22%3A51%3A44.9662825Z\'"';
const keys = (rowKey = 'r') => ({ partitionKey: 'p', rowKey });

test('an entity comes back with its types', async (t) => {
    const table = await newTable(t);
    const entity = {
        ...keys(), text: 'ä"\n\u{1F600}', yes: true, small: 42, real: 4.5,
        big: { type: 'Int64', value: '9007199254740993' },
        when: { type: 'DateTime', value: '2014-05-07T08:20:53.1234567Z' },
        id: { type: 'Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' },
        bytes: { type: 'Binary', value: Buffer.from([0, 1, 255]).toString('base64') },
        whole: { type: 'Double', value: '5' }, none: null,
    };
    const created = await table.createEntity(entity);
    const got = await table.getEntity('p', 'r', { disableTypeConversion: true });
    assert.equal(got.etag, created.etag);
    assert.match(got.etag, /^W\/"datetime'\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d(\.\d{1,7})?Z'"$/);
    assert.equal(got.etag, `W/"datetime'${got.timestamp.replaceAll(':', '%3A')}'"`);
    for (const name of ['big', 'when', 'id', 'bytes'])
        assert.deepEqual(got[name], entity[name], name);
    assert.equal(got.text.value, entity.text);
    assert.equal(got.yes.value, 'true');
    assert.equal(got.small.value, '42');
    assert.equal(got.real.value, '4.5');
    assert.equal(got.none, undefined);
});

test('doubles that JSON has no numbers for, and the borders of the others', async (t) => {
    const table = await newTable(t);
    const entity = {
        ...keys(), nan: { type: 'Double', value: 'NaN' }, up: { type: 'Double', value: 'Infinity' },
        down: { type: 'Double', value: '-Infinity' },
        least: { type: 'Int64', value: '-9223372036854775808' }, most: { type: 'Int64', value: '9223372036854775807' },
        first: { type: 'DateTime', value: '1601-01-01T00:00:00Z' },
        last: { type: 'DateTime', value: '9999-12-31T23:59:59.9999999Z' },
        tick: { type: 'DateTime', value: '2014-05-07T08:20:53.0000001Z' },
    };
    await table.createEntity(entity);
    const got = await table.getEntity('p', 'r', { disableTypeConversion: true });
    for (const name of ['nan', 'up', 'down', 'least', 'most', 'first', 'last', 'tick'])
        assert.deepEqual(got[name], entity[name], name);
    for (const value of ['1600-12-31T23:59:59.9999999Z', '0001-01-01T00:00:00Z'])
        await refusedTable(table.createEntity({ ...keys('x'), when: { type: 'DateTime', value } }), 400, 'OutOfRangeInput');
    await refusedTable(table.createEntity({ ...keys('x'), n: { type: 'Int64', value: '9223372036854775808' } }),
        400, 'InvalidInput');
});

test('null is no value: absent in an insert, nothing to a merge, gone by a replace', async (t) => {
    const table = await newTable(t);
    const has = async () => {
        const got = await table.getEntity('p', 'r');
        return ['a', 'b'].filter((name) => name in got).join('');
    };
    await table.createEntity({ ...keys(), a: 1, b: null });
    assert.equal(await has(), 'a');
    await table.updateEntity({ ...keys(), a: null, b: 1 }, 'Merge');
    assert.equal(await has(), 'ab');
    await table.upsertEntity({ ...keys(), b: null }, 'Merge');
    assert.equal(await has(), 'ab');
    await table.updateEntity({ ...keys(), a: null, b: 1 }, 'Replace');
    assert.equal(await has(), 'b');
});

test('an insert of what is there is refused', async (t) => {
    const table = await newTable(t);
    await table.createEntity({ ...keys(), n: 1 });
    await refusedTable(table.createEntity({ ...keys(), n: 2 }), 409, 'EntityAlreadyExists');
    assert.equal((await table.getEntity('p', 'r')).n, 1);
});

test('replace drops what is not given, merge keeps it', async (t) => {
    const table = await newTable(t);
    const first = await table.createEntity({ ...keys(), a: 1, b: 2 });
    const second = await table.updateEntity({ ...keys(), b: 3, c: 'x' }, 'Merge');
    assert.notEqual(second.etag, first.etag);
    let got = await table.getEntity('p', 'r');
    assert.deepEqual([got.a, got.b, got.c, got.etag], [1, 3, 'x', second.etag]);
    const third = await table.updateEntity({ ...keys(), b: 4 }, 'Replace');
    got = await table.getEntity('p', 'r');
    assert.deepEqual([got.a, got.b, got.c, got.etag], [undefined, 4, undefined, third.etag]);
    assert.ok(Date.parse(got.timestamp) >= 0);
});

for (const mode of ['Merge', 'Replace'])
    test(`${mode} under If-Match`, async (t) => {
        const table = await newTable(t);
        await refusedTable(table.updateEntity(keys(), mode), 404, 'ResourceNotFound');
        await refusedTable(table.updateEntity(keys(), mode, { etag: wrong }), 404, 'ResourceNotFound');
        const { etag } = await table.createEntity(keys());
        await refusedTable(table.updateEntity(keys(), mode, { etag: wrong }), 412, 'UpdateConditionNotSatisfied');
        await refusedTable(table.updateEntity(keys(), mode, { etag: 'W/"wrong"' }), 412, 'UpdateConditionNotSatisfied');
        for (const etag of ['malformed', '"0"', wrong.slice(2), `${wrong}, ${wrong}`]) // not weak, not one
            await refusedTable(table.updateEntity(keys(), mode, { etag }), 400, 'InvalidInput');
        const next = await table.updateEntity(keys(), mode, { etag });
        assert.notEqual(next.etag, etag);
        await refusedTable(table.updateEntity(keys(), mode, { etag }), 412, 'UpdateConditionNotSatisfied');
        await table.updateEntity(keys(), mode, { etag: '*' });
        // An upsert looks at nothing.
        await table.upsertEntity({ ...keys('new'), n: 1 }, mode);
        await table.upsertEntity({ ...keys('new'), m: 1 }, mode);
        const got = await table.getEntity('p', 'new');
        assert.deepEqual([got.n, got.m], [mode === 'Merge' ? 1 : undefined, 1]);
    });

test('after a merge properties are in ordinal order', async (t) => {
    // decision: 890; recorded of 21 merges
    const table = await newTable(t);
    const names = async () => Object.keys(await table.getEntity('p', 'r')).filter((name) => /^.$/.test(name)).join('');
    await table.createEntity({ ...keys(), z: 1, b: 2, B: 3 });
    assert.equal(await names(), 'zbB');
    await table.updateEntity({ ...keys(), c: 4, a: 5, z: 6 }, 'Merge');
    assert.equal(await names(), 'Babcz');
    await table.upsertEntity({ ...keys(), d: 7, A: 8 }, 'Replace');
    assert.equal(await names(), 'dA');
    await table.upsertEntity({ ...keys(), C: 9 }, 'Merge');
    assert.equal(await names(), 'ACd');
});

test('delete under If-Match', async (t) => {
    const table = await newTable(t);
    await refusedTable(table.deleteEntity('p', 'r'), 404, 'ResourceNotFound');
    const { etag } = await table.createEntity(keys());
    await refusedTable(table.deleteEntity('p', 'r', { etag: wrong }), 412, 'UpdateConditionNotSatisfied');
    await table.deleteEntity('p', 'r', { etag });
    await refusedTable(table.getEntity('p', 'r'), 404, 'ResourceNotFound');
    await table.createEntity(keys());
    await refusedTable(table.deleteEntity('p', 'r', { etag }), 412, 'UpdateConditionNotSatisfied');
    await table.deleteEntity('p', 'r');
});

test('keys of every kind', async (t) => {
    const table = await newTable(t);
    for (const key of ['', ' ', "it's", "''", '%20', '%', 'a b', '+', 'ä', '\u{1F600}\uFFFD', '(x,y)', '$batch', '=&;:@!*',
        'x'.repeat(512)]) {
        await table.createEntity({ partitionKey: key, rowKey: key, n: 1 });
        const got = await table.getEntity(key, key);
        assert.deepEqual([got.partitionKey, got.rowKey, got.n], [key, key, 1]);
        await table.deleteEntity(key, key);
    }
    for (const key of ['a/b', 'a\\b', 'a#b', 'a?b', 'a\tb', '\u0085'])
        await refusedTable(table.createEntity({ partitionKey: key, rowKey: 'r' }), 400, 'OutOfRangeInput');
    await refusedTable(table.createEntity({ partitionKey: 'p', rowKey: 'x'.repeat(513) }), 400, 'KeyValueTooLarge');
    await refusedTable(table.getEntity('p', 'a/b'), 400, 'OutOfRangeInput');
});

test('limits of an entity', async (t) => {
    const table = await newTable(t);
    const properties = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, i]));
    const text = 'x'.repeat(32768);
    await table.createEntity({ ...keys('many'), ...properties(252) });
    await refusedTable(table.createEntity({ ...keys('more'), ...properties(253) }), 400, 'TooManyProperties');
    await refusedTable(table.updateEntity({ ...keys('many'), other: 1 }, 'Merge'), 400, 'TooManyProperties');
    await table.createEntity({ ...keys('text'), text });
    await refusedTable(table.createEntity({ ...keys('t2'), text: `${text}x` }), 400, 'PropertyValueTooLarge');
    const binary = (bytes) => ({ type: 'Binary', value: Buffer.alloc(bytes, 7).toString('base64') });
    await table.createEntity({ ...keys('binary'), value: binary(65536) });
    await refusedTable(table.createEntity({ ...keys('b2'), value: binary(65537) }), 400, 'PropertyValueTooLarge');
    await table.createEntity({ ...keys('name'), ['x'.repeat(255)]: 1 });
    const large = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`p${i}`, text]));
    await refusedTable(table.createEntity({ ...keys('large'), ...large }), 400, 'EntityTooLarge');
    // 1 MiB to the byte: 4, 2 a character of the keys, and of each property 8, 2 a character of its
    // name, 4 and its value's bytes. decision: 160
    const full = (more) => ({
        ...keys('full'), ...Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`q${i % 10}${i / 10 | 0}`, text])),
        end: 'x'.repeat((1048576 - 4 - 2 * 5 - 15 * (8 + 6 + 4 + 65536) - (8 + 6 + 4)) / 2 + more),
    });
    await refusedTable(table.createEntity(full(1)), 400, 'EntityTooLarge');
    await table.createEntity(full(0));
    await refusedTable(table.updateEntity({ ...keys('full'), m: false }, 'Merge'), 400, 'EntityTooLarge');
    await refusedTable(table.createEntity({ ...keys('n'), ['x'.repeat(256)]: 1 }), 400, 'PropertyNameTooLong');
    await refusedTable(table.createEntity({ ...keys('n'), 'a-b': 1 }), 400, 'PropertyNameInvalid');
});

test('a table that is not there', async () => {
    const table = tableClient(tableName());
    await refusedTable(table.createEntity(keys()), 404, 'TableNotFound');
    await refusedTable(table.getEntity('p', 'r'), 404, 'TableNotFound');
    await refusedTable(table.upsertEntity(keys()), 404, 'TableNotFound');
    await refusedTable(table.deleteEntity('p', 'r'), 404, 'TableNotFound');
});

test('what is selected', async (t) => {
    const table = await newTable(t);
    await table.createEntity({ ...keys(), a: 1, b: 2 });
    const got = await table.getEntity('p', 'r', { queryOptions: { select: ['a', 'c'] } });
    assert.deepEqual([got.a, got.b, got.c], [1, undefined, null]);
});

test('a deleted table takes its entities with it', async (t) => {
    const table = await newTable(t);
    await table.createEntity(keys());
    await table.deleteTable();
    await refusedTable(table.getEntity('p', 'r'), 404, 'TableNotFound');
    await table.createTable();
    await refusedTable(table.getEntity('p', 'r'), 404, 'ResourceNotFound');
});
