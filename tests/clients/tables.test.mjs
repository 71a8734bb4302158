// Tables: Create, Query, Delete, ACL, the service's stats.
// rest: Create-Table, Query-Tables, Delete-Table, Set-Table-ACL
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TableClient, TableServiceClient, TableTransaction } from '@azure/data-tables';
import { account, collect } from './setup.mjs';
import { newTable, refusedTable, tableClient, tableCredential, tableName, tables, tableUrl } from './tables-setup.mjs';

const names = async (options) => (await collect(tables.listTables(options))).map(({ name }) => name);

test('a table is created, listed with its case, and deleted', async () => {
    const name = tableName();
    await tables.createTable(name);
    assert.ok((await names()).includes(name));
    await tables.deleteTable(name);
    assert.ok(!(await names()).includes(name));
});

test('the case of a name does not count', async (t) => {
    const table = await newTable(t);
    const other = tableClient(table.tableName.toLowerCase());
    let code;
    await other.createTable({
        onResponse: ({ status, bodyAsText }) => {
            code = { status, code: JSON.parse(bodyAsText)['odata.error'].code };
        },
    });
    assert.deepEqual(code, { status: 409, code: 'TableAlreadyExists' });
});

test('names that a table cannot have', async () => {
    await refusedTable(tables.createTable('a-b'), 400, 'InvalidResourceName');
    await refusedTable(tables.createTable('1ab'), 400, 'InvalidResourceName');
    await refusedTable(tables.createTable('ab'), 400, 'OutOfRangeInput');
    await refusedTable(tables.createTable('a'.repeat(64)), 400, 'OutOfRangeInput');
    await refusedTable(tables.createTable('tables'), 400, 'InvalidResourceName');
});

test('deleting what is not there is 404, and creating again at once succeeds', async (t) => {
    const table = await newTable(t);
    let status;
    await table.deleteTable();
    await table.deleteTable({ onResponse: (answer) => { status = answer.status; } });
    assert.equal(status, 404);
    await table.createTable();
});

test('stored access policies come back as they were set', async (t) => {
    const table = await newTable(t);
    const policy = {
        id: 'one', accessPolicy: {
            start: new Date('2026-01-01T00:00:00Z'), expiry: new Date('2027-01-01T00:00:00Z'),
            permission: 'raud',
        },
    };
    assert.deepEqual([...(await table.getAccessPolicy())], []);
    await table.setAccessPolicy([policy]);
    const got = await table.getAccessPolicy();
    assert.deepEqual([...got].map(({ id, accessPolicy }) => ({ id, accessPolicy })), [policy]);
    await table.setAccessPolicy([]);
    assert.equal((await table.getAccessPolicy()).length, 0);
    await refusedTable(tableClient(tableName()).getAccessPolicy(), 404, 'TableNotFound');
    await refusedTable(tableClient(tableName()).setAccessPolicy([]), 404, 'TableNotFound');
});

test('the service has statistics, at its secondary', async () => {
    const secondary = new TableServiceClient(tableUrl.replace(account.name, `${account.name}-secondary`), tableCredential,
        { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } });
    const { geoReplication } = await secondary.getStatistics();
    assert.equal(geoReplication.status, 'live');
    assert.ok(geoReplication.lastSyncTime instanceof Date);
    await refusedTable(tables.getStatistics(), 400, 'InvalidQueryParameterValue');
});

// A method that a newer SDK brings is missed here, and gets a test.
test('every method of the SDK has a test', async () => {
    const own = ({ prototype }) => Object.getOwnPropertyNames(prototype).sort().join(' ');
    assert.equal(own(TableServiceClient), '_listTables constructor createTable deleteTable getProperties getStatistics ' +
        'listTables listTablesAll listTablesPage setProperties');
    assert.equal(own(TableClient), '_listEntities constructor createEntity createTable deleteEntity deleteTable ' +
        'getAccessPolicy getEntity listEntities listEntitiesAll listEntitiesPage setAccessPolicy submitTransaction ' +
        'updateEntity upsertEntity');
    assert.equal(own(TableTransaction), 'constructor createEntity deleteEntity updateEntity upsertEntity');
});
