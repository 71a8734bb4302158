// No method of the SDK's clients is left out: each is called by some test of this folder, or stands below with why.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as sdk from '@azure/storage-blob';
import { bytesOf, newContainer, pattern } from './setup.mjs';

const CLIENTS = ['BlobServiceClient', 'ContainerClient', 'BlobClient', 'BlockBlobClient', 'AppendBlobClient', 'PageBlobClient',
    'BlobLeaseClient', 'BlobBatchClient', 'BlobBatch'];

/* What is refused as a whole until it is built: unbuilt.test.mjs asks for the operations. */
const LATER = ['undeleteContainer', 'withVersion'];
/* Of the SDK alone: nothing is sent by it, or only in a browser. */
const LOCAL = [/StringToSign$/, /^get(ContainerName|BlobAndContainerNames)FromUrl$/, /^uploadBrowserData$/];
/* What public methods are made of. */
const PARTS = [/Segments?$/, /Items$/, /Internal$/, /^listItemsByHierarchy$/, /ApacheArrow$/, /^startCopyFromURL$/,
    /^(getMultiPartContentType|getHttpRequestBody|getSubRequests|setBatchType)$/];

test('every method of the SDK is called by a test', () => {
    const folder = new URL('.', import.meta.url);
    const text = readdirSync(folder).filter((name) => name.endsWith('.test.mjs'))
        .map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
    const isForgotten = (name) => !LATER.includes(name) && ![...LOCAL, ...PARTS].some((pattern) => pattern.test(name)) &&
        !text.includes(`.${name}(`);
    const methods = CLIENTS.flatMap((client) => Object.entries(Object.getOwnPropertyDescriptors(sdk[client].prototype))
        .filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor').map(([name]) => name));

    assert.ok(methods.length > 80);
    assert.deepEqual(methods.filter(isForgotten), []);
});

test('uploads in one call: of a container, of data of any size', async (t) => {
    const container = await newContainer(t);
    const { blockBlobClient } = await container.uploadBlockBlob('small', 'content', 7, { metadata: { a: '1' } });
    assert.equal((await bytesOf(await blockBlobClient.download())).toString(), 'content');
    assert.deepEqual((await blockBlobClient.getProperties()).metadata, { a: '1' });
    const data = pattern(9 << 20);
    const large = container.getBlockBlobClient('large');
    await large.uploadData(data, { blockSize: 1 << 20, maxSingleShotSize: 1 << 20, concurrency: 4, tags: { a: '1' } });
    assert.ok((await large.downloadToBuffer()).equals(data));
    assert.equal((await large.getBlockList('committed')).committedBlocks.length, 9);
    assert.deepEqual((await large.getTags()).tags, { a: '1' });
});
