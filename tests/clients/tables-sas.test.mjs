// Shared access signatures of the Table service: of the account, of a table, of a range of its
// keys, by a stored policy. rest: Create-account-SAS, Create-service-SAS "Restrict access to table
// entities"
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AzureSASCredential, generateAccountSas, generateTableSas } from '@azure/data-tables';
import { collect } from './setup.mjs';
import { newTable, refusedTable, tableClient, tableCredential, tableName } from './tables-setup.mjs';

const expiresOn = new Date(Date.now() + 3600000);
const withSas = (table, options) => tableClient(table.tableName,
    new AzureSASCredential(generateTableSas(table.tableName, tableCredential, { expiresOn, ...options })));
const keysOf = async (table) =>
    (await collect(table.listEntities())).map(({ partitionKey, rowKey }) => `${partitionKey}${rowKey}`).join(' ');

test('a SAS of a table opens what its letters say', async (t) => {
    const table = await newTable(t);
    const entity = { partitionKey: 'p', rowKey: 'r' };
    const may = (letters) => withSas(table, { permissions: letters });
    await may({ add: true }).createEntity(entity);
    await refusedTable(may({ add: true }).getEntity('p', 'r'), 403, 'AuthorizationPermissionMismatch');
    await may({ query: true }).getEntity('p', 'r');
    await refusedTable(may({ query: true }).createEntity(entity), 403, 'AuthorizationPermissionMismatch');
    await may({ update: true }).updateEntity(entity);
    // An upsert needs both.
    await refusedTable(may({ update: true }).upsertEntity(entity), 403, 'AuthorizationPermissionMismatch');
    await refusedTable(may({ add: true }).upsertEntity(entity), 403, 'AuthorizationPermissionMismatch');
    await may({ add: true, update: true }).upsertEntity(entity);
    await refusedTable(may({ update: true }).deleteEntity('p', 'r'), 403, 'AuthorizationPermissionMismatch');
    await may({ delete: true }).deleteEntity('p', 'r');
    await refusedTable(may({ query: true }).deleteTable(), 403, 'AuthorizationFailure');
});

test('it opens no other table', async (t) => {
    const table = await newTable(t), other = await newTable(t);
    const sas = generateTableSas(table.tableName, tableCredential, { expiresOn, permissions: { query: true, add: true } });
    const client = tableClient(other.tableName, new AzureSASCredential(sas));
    await refusedTable(client.getEntity('p', 'r'), 403, 'AuthenticationFailed');
    const parts = [['create', { partitionKey: 'p', rowKey: 'r' }]];
    await assert.rejects(client.submitTransaction(parts), { statusCode: 403 });
    assert.equal((await tableClient(table.tableName, new AzureSASCredential(sas)).submitTransaction(parts)).status, 202);
});

test('a range of keys limits queries and refuses writes', async (t) => {
    const table = await newTable(t);
    for (const [partitionKey, rowKey] of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2', 'd1'])
        await table.createEntity({ partitionKey, rowKey });
    const range = withSas(table, {
        permissions: { query: true, add: true, update: true, delete: true },
        startPartitionKey: 'a', startRowKey: '2', endPartitionKey: 'c', endRowKey: '1',
    });
    assert.equal(await keysOf(range), 'a2 a3 b1 c1');
    await range.getEntity('b', '1');
    await refusedTable(range.getEntity('a', '1'), 404, 'ResourceNotFound');
    await range.createEntity({ partitionKey: 'b', rowKey: '2' });
    for (const [partitionKey, rowKey] of ['a1', 'a0', 'c2', 'd1']) {
        await refusedTable(range.createEntity({ partitionKey, rowKey }), 403, 'AuthorizationFailure');
        await refusedTable(range.deleteEntity(partitionKey, rowKey), 403, 'AuthorizationFailure');
    }
    await assert.rejects(range.submitTransaction([['upsert', { partitionKey: 'c', rowKey: '2' }]]), { statusCode: 403 });
    const partition = withSas(table, { permissions: { query: true }, startPartitionKey: 'c', endPartitionKey: 'c' });
    assert.equal(await keysOf(partition), 'c1 c2');
});

test('a row without its partition is no bound', async (t) => {
    // decision: 194
    const table = await newTable(t);
    for (const keys of [{ startRowKey: 'a' }, { endRowKey: 'a' }, { startPartitionKey: 'p', endRowKey: 'a' }])
        await refusedTable(withSas(table, { permissions: { query: true }, ...keys }).getEntity('p', 'r'),
            403, 'AuthenticationFailed');
});

test('a stored policy that is revoked revokes its SAS', async (t) => {
    const table = await newTable(t);
    await table.setAccessPolicy([{ id: 'p', accessPolicy: { permission: 'ra', expiry: expiresOn } }]);
    const sas = generateTableSas(table.tableName, tableCredential, { identifier: 'p', expiresOn: undefined, permissions: undefined });
    const client = tableClient(table.tableName, new AzureSASCredential(sas));
    await client.createEntity({ partitionKey: 'p', rowKey: 'r' });
    await client.submitTransaction([['create', { partitionKey: 'p', rowKey: 's' }]]);
    // What a policy permits ends where the signature's keys do, and nothing is said of that before
    // the policy.
    const outside = tableClient(table.tableName, new AzureSASCredential(generateTableSas(table.tableName, tableCredential,
        { identifier: 'p', expiresOn: undefined, permissions: undefined, startPartitionKey: 'q' })));
    const tries = [() => outside.getEntity('p', 'r'), () => outside.createEntity({ partitionKey: 'p', rowKey: 't' })];
    await refusedTable(tries[0](), 404, 'ResourceNotFound');
    await refusedTable(tries[1](), 403, 'AuthorizationFailure');
    await table.setAccessPolicy([]);
    await refusedTable(client.getEntity('p', 'r'), 403, 'AuthenticationFailed');
    for (const ask of tries)
        await refusedTable(ask(), 403, 'AuthenticationFailed');
});

test('a SAS of the account', async (t) => {
    const table = await newTable(t);
    const sas = (permissions, resourceTypes = 'co') => new AzureSASCredential(
        generateAccountSas(tableCredential, { expiresOn, permissions, services: { table: true }, resourceTypes }));
    const entity = { partitionKey: 'p', rowKey: 'r' };
    await tableClient(table.tableName, sas({ add: true })).createEntity(entity);
    await refusedTable(tableClient(table.tableName, sas({ add: true })).getEntity('p', 'r'),
        403, 'AuthorizationPermissionMismatch');
    const made = tableClient(tableName(), sas({ write: true }));
    await made.createTable();
    await tableClient(made.tableName, sas({ delete: true })).deleteTable();
    await refusedTable(tableClient(table.tableName, sas({ query: true }, 's')).getEntity('p', 'r'),
        403, 'AuthorizationResourceTypeMismatch');
});
