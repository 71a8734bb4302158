// Uploads in the console: of folders, and such that are interrupted.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { account, closeBrowser, drop, isAccessible, key, openPage, press, sees, signInAgain, signInByKey, slowUploads, startServer } from './setup.mjs';

const require = createRequire(new URL('../../console/package.json', import.meta.url));
const { BlobServiceClient, StorageSharedKeyCredential } = require('@azure/storage-blob');
const { ShareServiceClient } = require('@azure/storage-file-share');
const SLOWLY = 12 << 20;

after(closeBrowser);

async function start(t) {
    const { url, server } = await startServer(t);
    const clientOf = () => new BlobServiceClient(server.url, new StorageSharedKeyCredential(account, key)).getContainerClient('files');
    const page = await openPage(t);
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-console-'));
    t.after(() => rm(folder, { recursive: true }));
    await clientOf().create();
    await signInByKey(page, url);
    await page.evaluate((hash) => {
        location.hash = hash;
    }, `#/blobs/${account}/files`);
    const choose = async (name) => (await page.waitForSelector('input[name=files]')).uploadFile(path.join(folder, name));
    return { page, server, folder, clientOf, choose };
}

/** Counts the blocks that the page sends from now on. */
function countBlocks(page) {
    const counted = { blocks: 0 };
    page.on('request', (request) => {
        if (request.method() === 'PUT' && /[?&]comp=block&/.test(request.url()))
            counted.blocks++;
    });
    return counted;
}

test('files of a dropped folder are named by their paths', async (t) => {
    const { page, folder, clientOf } = await start(t);
    await mkdir(path.join(folder, 'tree/a/b'), { recursive: true });
    await writeFile(path.join(folder, 'tree/one.txt'), 'one');
    await writeFile(path.join(folder, 'tree/a/b/two.txt'), 'two');
    await writeFile(path.join(folder, 'alone.txt'), 'alone');
    await drop(page, 'section[aria-label=Upload]', [path.join(folder, 'tree'), path.join(folder, 'alone.txt')]);
    await page.waitForFunction(() => document.querySelectorAll('.uploads li').length === 3 &&
        [...document.querySelectorAll('.uploads li')].every(({ innerText }) => innerText.includes('done')));
    const names = [];
    for await (const { name } of clientOf().listBlobsFlat())
        names.push(name);
    assert.deepEqual(names, ['alone.txt', 'tree/a/b/two.txt', 'tree/one.txt']);
    assert.equal(String(await clientOf().getBlobClient('tree/a/b/two.txt').downloadToBuffer()), 'two');
    await sees(page, 'tree/', 'table');
    await isAccessible(page);
});

test('one button uploads, and the entire list is a drop zone, of blobs and of files', async (t) => {
    const { page, server, folder, clientOf } = await start(t);
    await mkdir(path.join(folder, 'tree/a'), { recursive: true });
    await writeFile(path.join(folder, 'tree/a/two.txt'), 'two');
    await writeFile(path.join(folder, 'chosen.txt'), 'chosen');
    const choose = async () => {
        const button = await page.waitForFunction(() => [...document.querySelectorAll('.button')].find(({ innerText }) => innerText.trim() === 'Upload'));
        const [chooser] = await Promise.all([page.waitForFileChooser(), button.asElement().click()]);
        await chooser.accept([path.join(folder, 'chosen.txt')]);
    };
    assert.equal(await page.$$eval('input[type=file]', (inputs) => inputs.filter((input) => input.getBoundingClientRect().width > 2).length), 0, 'the inputs themselves are seen');
    await choose();
    await sees(page, 'chosen.txt', 'table');
    await drop(page, '.long', [path.join(folder, 'tree')]);
    await sees(page, 'tree/', 'table');
    assert.equal(String(await clientOf().getBlobClient('tree/a/two.txt').downloadToBuffer()), 'two');

    const share = ShareServiceClient.fromConnectionString(server.connectionString).getShareClient('docs');
    await share.create();
    await page.evaluate((hash) => {
        location.hash = hash;
    }, `#/files/${account}/docs`);
    await sees(page, 'The folder is empty.');
    await choose();
    await sees(page, 'chosen.txt', 'table');
    await drop(page, '.scroll', [path.join(folder, 'tree')]);
    await sees(page, 'tree', 'table');
    await isAccessible(page);
    assert.equal(String(await share.rootDirectoryClient.getFileClient('tree/a/two.txt').downloadToBuffer()), 'two');
});

test('an upload resumes after the server is killed, and after the page is left', async (t) => {
    const { page, server, folder, clientOf, choose } = await start(t);
    const content = randomBytes(40 << 20);
    await writeFile(path.join(folder, 'large.bin'), content);
    await slowUploads(page, SLOWLY);
    await choose('large.bin');
    await page.waitForFunction(() => document.querySelector('.uploads progress')?.value >= 8 << 20);
    await server.kill();
    await sees(page, 'waiting for the server', '.uploads');
    await server.restart();
    await page.waitForSelector('input[name=key]'); // sessions end with the process
    await slowUploads(page, 0);
    const sent = countBlocks(page);
    await signInAgain(page);
    await sees(page, 'done', '.uploads');
    assert.ok(sent.blocks >= 1 && sent.blocks <= 4, `${sent.blocks} blocks were sent, of 5, of which at least one was there`);
    assert.ok(content.equals(await clientOf().getBlobClient('large.bin').downloadToBuffer()));
    assert.equal((await clientOf().getBlockBlobClient('large.bin').getBlockList('committed')).committedBlocks.length, 5);

    await clientOf().deleteBlob('large.bin');
    await slowUploads(page, SLOWLY);
    await choose('large.bin');
    await page.waitForFunction(() => document.querySelector('.uploads progress')?.value >= 8 << 20);
    await page.reload();
    await slowUploads(page, 0);
    const again = countBlocks(page);
    await choose('large.bin');
    await sees(page, 'had been uploaded before', '.uploads');
    await sees(page, 'done', '.uploads');
    assert.ok(again.blocks >= 1 && again.blocks <= 4, `${again.blocks} blocks were sent, of 5, of which at least one was there`);
    assert.ok(content.equals(await clientOf().getBlobClient('large.bin').downloadToBuffer()));
});

test('a cancelled upload sends nothing more, and can be retried', async (t) => {
    const { page, folder, clientOf, choose } = await start(t);
    await writeFile(path.join(folder, 'stopped.bin'), randomBytes(30 << 20));
    await slowUploads(page, 4 << 20);
    await choose('stopped.bin');
    await page.waitForSelector('.uploads progress');
    await page.locator('button[aria-label="Stop stopped.bin"]').click();
    await sees(page, 'stopped', '.uploads');
    assert.equal(await clientOf().getBlobClient('stopped.bin').exists(), false);
    await slowUploads(page, 0);
    await page.locator('button[aria-label="Retry stopped.bin"]').click();
    await sees(page, 'done', '.uploads');
    assert.equal((await clientOf().getBlobClient('stopped.bin').getProperties()).contentLength, 30 << 20);
    await press(page, 'Reload');
});
