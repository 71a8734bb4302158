// What takes minutes: an upload of 2 GiB, and a container of a million blobs. make console-test
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { account, closeBrowser, key, openPage, sees, signInAgain, signInByKey, startServer } from './setup.mjs';

const require = createRequire(new URL('../../console/package.json', import.meta.url));
const { BlobServiceClient, StorageSharedKeyCredential } = require('@azure/storage-blob');
const LARGE_BYTES = 2 ** 31;
const LIMIT = { timeout: 1800000 };

after(closeBrowser);

/** A file with a number in each MiB of it, and holes between. */
async function makeLarge(file) {
    const handle = await open(file, 'w');
    await handle.truncate(LARGE_BYTES);
    for (let at = 0; at < LARGE_BYTES; at += 1 << 20)
        await handle.write(`MiB ${at >> 20}`, at);
    await handle.close();
}

async function hashOf(stream) {
    const hash = createHash('sha256');
    for await (const part of stream)
        hash.update(part);
    return hash.digest('hex');
}

test('an upload of 2 GiB goes on after a kill in the middle of it', async (t) => {
    const { url, server } = await startServer(t);
    const clientOf = () => new BlobServiceClient(server.url, new StorageSharedKeyCredential(account, key)).getContainerClient('large');
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-console-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'large.bin');
    await makeLarge(file);
    await clientOf().create();
    const page = await openPage(t);
    await signInByKey(page, url);
    await page.evaluate((hash) => {
        location.hash = hash;
    }, `#/blobs/${account}/large`);
    await (await page.waitForSelector('input[name=files]')).uploadFile(file);
    await page.waitForFunction((half) => document.querySelector('.uploads progress')?.value >= half, LIMIT, LARGE_BYTES / 2);
    const { value } = await page.$eval('.uploads progress', (progress) => ({ value: progress.value }));
    assert.ok(value < LARGE_BYTES, 'it was done before the server was killed');
    await server.kill();
    await sees(page, 'waits for the server', '.uploads');
    await server.restart();
    await page.waitForSelector('input[name=key]');
    let sent = 0;
    page.on('request', (request) => {
        sent += Number(request.method() === 'PUT' && /[?&]comp=block&/.test(request.url()));
    });
    await signInAgain(page);
    await page.waitForFunction(() => document.querySelector('.uploads')?.innerText.includes('done'), LIMIT);
    assert.ok(sent <= 256 - value / (8 << 20) + 6, `${sent} blocks were sent behind ${value} bytes`); // each worker may try one twice
    const { readableStreamBody } = await clientOf().getBlobClient('large.bin').download();
    assert.equal(await hashOf(readableStreamBody), await hashOf(createReadStream(file)));
});
