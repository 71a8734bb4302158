// unstorage's drivers for blobs and tables: items, metadata, keys; what was set survives kill -9.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import { BlobServiceClient } from '@azure/storage-blob';
import { TableClient } from '@azure/data-tables';
import { createStorage } from 'unstorage';
import blobDriver from 'unstorage/drivers/azure-storage-blob';
import tableDriver from 'unstorage/drivers/azure-storage-table';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { startKillable, writeThroughKills } from '../lib/killed.mjs';
import { tableRetries } from './setup.mjs';

// The driver does not wait for the container that it makes.
async function inBlobs(server) {
    const service = BlobServiceClient.fromConnectionString(server.connectionString);
    await service.getContainerClient('unstorage').create();
    return blobDriver({ connectionString: server.connectionString });
}

/** The driver takes nothing but HTTPS: this ends it and passes all to the server's tables. */
async function tlsFront(t, server) {
    const port = server.ports.table;
    const front = tls.createServer({
        cert: readFileSync(process.env.LAGRA_TEST_CERTIFICATE), key: readFileSync(process.env.LAGRA_TEST_KEY),
    }, (outer) => {
        const inner = net.connect(port, server.host);
        for (const [from, to] of [[outer, inner], [inner, outer]])
            from.on('error', () => to.destroy()).pipe(to);
    });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    t.after(() => front.close());
    return `https://127.0.0.1:${front.address().port}/${server.account}`;
}

async function inTables(server, t) {
    const { connectionString } = server;
    await TableClient.fromConnectionString(connectionString, 'unstorage', tableRetries).createTable();
    return tableDriver({
        accountName: DEVELOPMENT.account,
        connectionString: connectionString.replace(server.urlOf('table'), await tlsFront(t, server)),
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
