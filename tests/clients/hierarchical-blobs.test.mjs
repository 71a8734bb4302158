// Blobs of hierarchical accounts through the Blob API: paths with directories. rest: List-Blobs "ResourceType"; issue 47;
// decisions: 1220 to 1224
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BlobSASPermissions, BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { account, bytesOf, collect, containerName, once, refused } from './setup.mjs';

let server, service;

before(async () => {
    server = await Server.start({ args: ['--hierarchical'] });
    service = new BlobServiceClient(`http://${server.host}:${server.port}/${account.name}`, new StorageSharedKeyCredential(account.name, account.key), once);
});
after(async () => {
    await server.kill();
    await server.remove();
});

async function newContainer(t, files = []) {
    const container = service.getContainerClient(containerName());
    await container.create();
    t.after(() => container.delete().catch(() => {}));
    for (const name of files)
        await container.uploadBlockBlob(name, name, name.length);
    return container;
}

const signed = (blob) => blob.generateSasUrl({ permissions: BlobSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 600_000) });
const names = async (iterable) => (await collect(iterable)).map(({ kind, name }) => (kind === 'prefix' ? `[${name}]` : name)).join(' ');

test('a blob creates its directories, which are listed and read as blobs with hdi_isfolder', async (t) => {
    const container = await newContainer(t, ['a/b/c.txt', 'a-b']);
    const all = await collect(container.listBlobsFlat({ includeMetadata: true }));
    assert.deepEqual(all.map(({ name, properties, metadata }) => [name, properties.contentLength, metadata?.hdi_isfolder]),
        [['a', 0, 'true'], ['a/b', 0, 'true'], ['a/b/c.txt', 9, undefined], ['a-b', 3, undefined]]);
    assert.equal(await names(container.listBlobsByHierarchy('/')), '[a/] a-b');
    assert.equal(await names(container.listBlobsByHierarchy('/', { prefix: 'a/' })), '[a/b/]');
    const { metadata, contentLength, _response } = await container.getBlobClient('a/b').getProperties();
    assert.deepEqual(metadata, { hdi_isfolder: 'true' });
    assert.equal(contentLength, 0);
    assert.equal(_response.headers.get('x-ms-resource-type'), 'directory');
    assert.equal((await container.getBlobClient('a-b').getProperties())._response.headers.get('x-ms-resource-type'), 'file');
});

test('the resource type is listed since 2020-10-02', async (t) => {
    const container = await newContainer(t, ['a/b']);
    const { value } = await container.listBlobsFlat().byPage().next();
    // Recorded of deleted ones: directories have the checksum of nothing.
    assert.match(value._response.bodyAsText, /<Name>a<\/Name>.*<Content-CRC64>AAAAAAAAAAA=<\/Content-CRC64><Content-MD5 \/>.*<Name>a\/b<\/Name>.*<Content-CRC64 \/>/s);
    assert.match(value._response.bodyAsText, /<Name>a<\/Name>.*<ResourceType>directory<\/ResourceType>.*<Name>a\/b<\/Name>.*<ResourceType>file<\/ResourceType>/s);
});

test('blobs are copied from and to directories', async (t) => {
    const container = await newContainer(t, ['a/b']);
    const target = container.getBlockBlobClient('x/y/z');
    const copy = await target.beginCopyFromURL(container.getBlobClient('a/b').url);
    assert.equal((await copy.pollUntilDone()).copyStatus, 'success');
    assert.equal(String(await bytesOf(await target.download())), 'a/b');
    await target.syncCopyFromURL(await signed(container.getBlobClient('a/b')));
    await refused(container.getBlobClient('d').beginCopyFromURL(container.getBlobClient('a').url), 400, 'OperationNotSupportedOnDirectory');
});

test('blocks, appends, pages, leases and snapshots work below directories', async (t) => {
    const container = await newContainer(t);
    const block = container.getBlockBlobClient('d/block'), append = container.getAppendBlobClient('d/append'), page = container.getPageBlobClient('d/page');
    await block.stageBlock('MQ==', 'one', 3);
    await refused(block.getProperties(), 404, 'BlobNotFound');
    await block.commitBlockList(['MQ==']);
    await append.create();
    await append.appendBlock('two', 3);
    await page.create(1024);
    await page.uploadPages(Buffer.alloc(512, 1), 512, 512);
    const lease = block.getBlobLeaseClient();
    await lease.acquireLease(-1);
    await refused(block.upload('x', 1), 412, 'LeaseIdMissing');
    await lease.releaseLease();
    await block.createSnapshot();
    await refused(block.delete(), 409, 'SnapshotsPresent');
    await block.delete({ deleteSnapshots: 'include' });
    assert.equal(String(await bytesOf(await append.download())), 'two');
    assert.equal(await names(container.listBlobsFlat()), 'd d/append d/page');
});

test('directories are deleted when they are empty, also in batches', async (t) => {
    const container = await newContainer(t, ['a/b', 'a/c']);
    await refused(container.deleteBlob('a'), 409, 'DirectoryIsNotEmpty');
    const { subResponsesSucceededCount } = await container.getBlobBatchClient().deleteBlobs(['a/b', 'a/c'].map((name) => container.getBlobClient(name)));
    assert.equal(subResponsesSucceededCount, 2);
    await container.deleteBlob('a');
    assert.equal(await names(container.listBlobsFlat()), '');
});

test('a blob is neither below a file nor in place of a directory', async (t) => {
    const container = await newContainer(t, ['a/b']);
    await refused(container.uploadBlockBlob('a/b/c', 'x', 1), 409, 'PathConflict');
    await refused(container.uploadBlockBlob('a', 'x', 1), 409, 'PathConflict');
});

test('many requests into new directories all succeed', async (t) => {
    const container = await newContainer(t);
    await Promise.all(Array.from({ length: 64 }, (_, i) => container.uploadBlockBlob(`x/y/${i % 8}/${i}`, 'x', 1)));
    assert.equal((await collect(container.listBlobsFlat())).length, 64 + 8 + 2);
});

test('lagra check finds nothing wrong', async (t) => {
    const own = await Server.start({ args: ['--hierarchical'] });
    t.after(() => own.remove());
    const client = new BlobServiceClient(`http://${own.host}:${own.port}/${account.name}`, new StorageSharedKeyCredential(account.name, account.key), once);
    const container = client.getContainerClient('box');
    await container.create();
    for (const name of ['a/b/c', 'a/d', 'e'])
        await container.uploadBlockBlob(name, name, name.length);
    await container.getBlockBlobClient('a/u').stageBlock('MQ==', 'block', 5);
    await container.getBlobClient('e').createSnapshot();
    await own.stop({ keep: true });
    const { code, output, errors } = await run(['check', own.location]);
    assert.equal(code, 0, output + errors);
});
