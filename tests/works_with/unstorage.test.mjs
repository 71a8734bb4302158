// unstorage's drivers for blobs and tables: items, metadata, keys; what was set survives kill -9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { TableClient } from '@azure/data-tables';
import { createStorage } from 'unstorage';
import blobDriver from 'unstorage/drivers/azure-storage-blob';
import tableDriver from 'unstorage/drivers/azure-storage-table';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { startKillable, writeThroughKills } from '../lib/killed.mjs';
import { tableRetries } from './setup.mjs';
import { tlsFront } from './tls_front.mjs';

// The driver does not wait for the container that it makes.
async function inBlobs(server) {
    const service = BlobServiceClient.fromConnectionString(server.connectionString);
    await service.getContainerClient('unstorage').create();
    return blobDriver({ connectionString: server.connectionString });
}

async function inTables(server, t) {
    const { connectionString } = server;
    await TableClient.fromConnectionString(connectionString, 'unstorage', tableRetries).createTable();
    const { host, port } = await tlsFront(t, server, 'table'); // the driver takes nothing but HTTPS
    return tableDriver({
        accountName: DEVELOPMENT.account,
        connectionString: connectionString.replace(server.urlOf('table'), `https://${host}:${port}/${server.account}`),
    });
}

async function items(storage) {
    await storage.setItem('a:b ü', { nested: [1, 'ü€'] });
    assert.deepEqual(await storage.getItem('a:b ü'), { nested: [1, 'ü€'] });
    assert.equal(await storage.hasItem('a:b ü'), true);
    assert.equal(await storage.hasItem('missing'), false);
    assert.equal(await storage.getItem('missing'), null);
    assert.ok((await storage.getMeta('a:b ü')).mtime instanceof Date);
    await storage.setItem('c', 'text');
    assert.deepEqual((await storage.getKeys()).sort(), ['a:b ü', 'c']);
    await storage.removeItem('c');
    assert.equal(await storage.getItem('c'), null);
    await storage.clear();
    assert.deepEqual(await storage.getKeys(), []);
}

for (const [name, driver] of [['blobs', inBlobs], ['tables', inTables]])
    test(`unstorage in ${name}`, async (t) => {
        const server = await startKillable(t);
        const storage = createStorage({ driver: await driver(server, t) });
        await items(storage);
        const set = await writeThroughKills(server,
            (number) => storage.setItem(`n:${number}`, { number }));
        const keys = new Set(await storage.getKeys('n'));
        for (const number of set) {
            assert.ok(keys.has(`n:${number}`), `n:${number} is not listed`);
            assert.deepEqual(await storage.getItem(`n:${number}`), { number });
        }
    });
