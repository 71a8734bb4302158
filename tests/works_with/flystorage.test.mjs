// flystorage: files, listings, moves, signed URLs. It copies by Copy Blob From URL with the URL of its
// own client: signed only where that client is made of a SAS. The real service refuses a source that
// is neither public nor signed as well.  rest: Copy-Blob-From-URL
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerClient } from '@azure/storage-blob';
import { AzureStorageBlobStorageAdapter } from '@flystorage/azure-storage-blob';
import { FileStorage } from '@flystorage/file-storage';
import { newContainer, sas } from './setup.mjs';

const storageOf = (container) => new FileStorage(new AzureStorageBlobStorageAdapter(container, { prefix: 'pre fix' }));

test('flystorage', async (t) => {
    const container = await newContainer(t);
    const storage = storageOf(container);
    await storage.write('a/ä b.txt', 'hello');
    await storage.write('a/deep/c.json', Buffer.alloc(3e6, 1));
    assert.equal(await storage.readToString('a/ä b.txt'), 'hello');
    assert.equal(await storage.mimeType('a/ä b.txt'), 'text/plain');
    assert.equal(await storage.fileSize('a/deep/c.json'), 3e6);
    const found = await storage.list('a', { deep: true }).toArray();
    assert.deepEqual(found.filter(({ isFile }) => isFile).map(({ path }) => path).sort(),
        ['a/deep/c.json', 'a/ä b.txt']);
    assert.equal(await storage.directoryExists('a/deep'), true);
    const signed = await fetch(await storage.temporaryUrl('a/ä b.txt', { expiresAt: Date.now() + 60_000 }));
    assert.equal(await signed.text(), 'hello');
    await storage.deleteDirectory('a/deep');
    assert.equal(await storage.fileExists('a/deep/c.json'), false);

    await assert.rejects(storage.copyFile('a/ä b.txt', 'copy'), ({ cause }) =>
        cause?.statusCode === 401 && cause.code === 'CannotVerifyCopySource');
    const bySas = storageOf(new ContainerClient(`${container.url}?${sas}`));
    await bySas.copyFile('a/ä b.txt', 'copy');
    await bySas.moveFile('copy', 'moved');
    assert.equal(await storage.readToString('moved'), 'hello');
    assert.equal(await storage.fileExists('copy'), false);
});
