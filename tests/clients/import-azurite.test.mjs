// lagra import --azurite: data folders that versions of Azurite have made (images/azurite-VERSION.tar.xz, each by its own
// server from the same requests, those of the newest with a table and tags). docs/import.md; decision 596
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rename, rm, symlink, writeFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TableClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { collect, credential, once } from './setup.mjs';
import { tableCredential } from './tables-setup.mjs';

const IMAGES = path.join(path.dirname(fileURLToPath(import.meta.url)), 'images');

async function start(t, version) {
    const server = await Server.start();
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-azurite-'));
    t.after(() => server.kill().then(() => server.remove()).then(() => rm(folder, { recursive: true, force: true })));
    execFileSync('tar', ['-xJf', path.join(IMAGES, `azurite-${version}.tar.xz`), '-C', folder]);
    const azurite = path.join(folder, 'azurite');
    await rename(path.join(folder, `azurite-${version}`), azurite);
    const lagra = () => run(['import', '--azurite', azurite, '--json', '--journal', path.join(folder, 'journal')],
        { AZURE_STORAGE_CONNECTION_STRING: server.connectionString }, 60000);
    return { server, azurite, lagra };
}

const last = ({ code, output, errors }) => {
    assert.equal(code, 0, errors + output);
    return JSON.parse(output.trim().split('\n').at(-1));
};

async function checkBlobs(server, tags) {
    const container = new BlobServiceClient(server.url, credential, once).getContainerClient('ccc');
    const { blobPublicAccess, signedIdentifiers } = await container.getAccessPolicy();
    assert.deepEqual([blobPublicAccess, signedIdentifiers[0].id, (await container.getProperties()).metadata], ['blob', 'p', { m: 'v' }]);
    const blobs = [];
    for (const item of await collect(container.listBlobsFlat({ includeSnapshots: true, includeMetadata: true, includeTags: true }))) {
        const blob = item.snapshot ? container.getBlobClient(item.name).withSnapshot(item.snapshot) : container.getBlobClient(item.name);
        const bytes = item.properties.contentLength > 0 ? await blob.downloadToBuffer() : Buffer.alloc(0);
        blobs.push([item.name, item.properties.blobType, item.name === 'pages' ? bytes.length : bytes.toString(), item.metadata || {}, item.properties.contentType, item.tags?.t]);
    }
    assert.deepEqual(blobs, [
        ['append', 'AppendBlob', 'x1y2', {}, 'application/octet-stream', undefined],
        ['empty', 'BlockBlob', '', {}, 'application/octet-stream', undefined],
        ['large', 'BlockBlob', 'aaabb', {}, 'application/octet-stream', undefined],
        ['pages', 'PageBlob', 4096, {}, 'application/octet-stream', undefined],
        ['s', 'BlockBlob', 'one', { a: '1' }, 'application/octet-stream', undefined],
        ['s', 'BlockBlob', 'two!', { Bb: '2' }, 'text/x', tags],
    ]);
    const pages = container.getPageBlobClient('pages');
    assert.equal((await pages.getProperties()).blobSequenceNumber, 5);
    assert.deepEqual((await pages.getPageRanges()).pageRange, [{ offset: 512, count: 511 }, { offset: 2048, count: 511 }]);
    assert.deepEqual([...(await pages.downloadToBuffer(512, 512))], Array(512).fill(1));
    assert.equal((await container.getBlobClient('s').getProperties()).accessTier, 'Cool');
}

async function checkMessages(server) {
    const queue = new QueueServiceClient(server.urlOf('queue'), credential, once).getQueueClient('qqq');
    const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 });
    assert.deepEqual(peekedMessageItems.map(({ messageText }) => messageText), ['m0 <&>', 'm1 <&>', 'm2 <&>']);
    assert.deepEqual(peekedMessageItems.map(({ expiresOn }) => expiresOn.getUTCFullYear()), [9999, 2036, 2036]);
    assert.deepEqual((await queue.getProperties()).metadata, { z: '1' });
}

// Of each version all that it keeps comes over, and a second import changes nothing.
for (const [version, tags] of [['3.10.0', undefined], ['3.37.0', 'x']]) {
    test(`import of a folder of Azurite ${version}`, async (t) => {
        const { server, lagra } = await start(t, version);
        const result = last(await lagra());
        assert.equal(result.problems + result.missing + result.differing, 0);
        await checkBlobs(server, tags);
        await checkMessages(server);
        if (version !== '3.37.0')
            return;
        const table = new TableClient(server.urlOf('table'), 'People', tableCredential, { allowInsecureConnection: true });
        const { etag, timestamp, 'odata.metadata': _, ...entity } = await table.getEntity("O'slo", 'r', { disableTypeConversion: true });
        assert.deepEqual(JSON.parse(JSON.stringify(entity, (_, value) => (value instanceof Uint8Array ? [...value] : value))), {
            partitionKey: "O'slo", rowKey: 'r', born: { type: 'Int32', value: '1815' }, tall: { type: 'Int32', value: '1' }, half: { type: 'Double', value: '0.5' }, // 1.0, which is JavaScript's 1
            big: { type: 'Int64', value: '9007199254740993' }, when: { type: 'DateTime', value: '2020-01-02T03:04:05.678Z' },
            id: { type: 'Guid', value: '0b1b2b3b-1111-2222-3333-444455556666' }, bytes: { type: 'Binary', value: 'AQL/' }, yes: { type: 'Boolean', value: 'true' } });
    });
}

// Names from a database lead to no other files; what is damaged is said.
test('an import of a folder of Azurite that lies', async (t) => {
    const { azurite, lagra } = await start(t, '3.10.0');
    const database = path.join(azurite, '__azurite_db_blob__.json');
    const good = await readFile(database, 'utf8');
    const [extent] = await readdir(path.join(azurite, '__blobstorage__'));
    const cases = [
        [good.replaceAll(extent, '../../../etc/passwd'), /the location of its data is corrupt/],
        [good.replaceAll('"count":4', '"count":5'), /the location of its data is corrupt/],
        [good.replaceAll('"offset":0', '"offset":1000000'), /shorter than recorded in the database/],
        [good.replaceAll(extent, 'abcdef'), /No such file/],
        [good.slice(0, 1000), /corrupt or has an unrecognized format/],
        ['{"collections":[1]}', /corrupt or has an unrecognized format/],
    ];
    for (const [text, expected] of cases) {
        await writeFile(database, text);
        const { code, errors } = await lagra();
        assert.equal(code, 1, errors);
        assert.match(errors, expected);
    }
    await writeFile(database, good);
    await cp(path.join(azurite, '__blobstorage__', extent), path.join(azurite, 'elsewhere'));
    await rm(path.join(azurite, '__blobstorage__', extent));
    await symlink('../elsewhere', path.join(azurite, '__blobstorage__', extent));
    assert.match((await lagra()).errors, /symbolic links/);
});
