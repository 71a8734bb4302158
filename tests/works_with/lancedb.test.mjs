// LanceDB, whose store is object_store's: conditional commits of several writers, listings,
// batches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as lancedb from '@lancedb/lancedb';
import { account, names, newContainer, url } from './setup.mjs';

const rows = (first, count) => Array.from({ length: count },
    (_, i) => ({ id: first + i, vector: [i % 7, i % 11], text: `t${i}` }));

test('LanceDB', async (t) => {
    const container = await newContainer(t);
    const database = await lancedb.connect(`az://${container.containerName}/db`, {
        storageOptions: {
            azure_storage_account_name: account.name, azure_storage_account_key: account.key,
            azure_storage_endpoint: url, allow_http: 'true',
        },
    });
    const table = await database.createTable('things', rows(0, 1000), { mode: 'overwrite' });
    // Each writer takes the next version by If-None-Match, and the losers go on to the one after
    // it.
    await Promise.all([1, 2, 3, 4].map((k) => table.add(rows(1000 * k, 1000))));
    assert.equal(await table.countRows(), 5000);
    await table.update({ where: 'id = 5', values: { text: 'five' } });
    await table.delete('id > 4000');
    assert.equal(await table.countRows(), 4001);
    assert.equal((await table.search([1, 2]).limit(3).toArray()).length, 3);
    assert.equal((await table.query().where('id = 5').toArray())[0].text, 'five');
    await table.optimize({ cleanupOlderThan: new Date() });
    assert.equal(await table.countRows(), 4001);
    await database.dropTable('things');
    assert.deepEqual(await database.tableNames(), []);
    assert.deepEqual(await names(container), []);
});
