// Lists in the console: sorted by any column, marked and deleted with a count, with names and times that can be read.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { account, closeBrowser, confirm, fill, isAccessible, key, openPage, press, sees, signInByKey, startServer } from './setup.mjs';

const require = createRequire(new URL('../../console/package.json', import.meta.url));
const { BlobServiceClient, StorageSharedKeyCredential } = require('@azure/storage-blob');
const { ShareServiceClient } = require('@azure/storage-file-share');
const { AzureNamedKeyCredential, TableClient } = require('@azure/data-tables');

after(closeBrowser);

async function start(t, options) {
    const { url, server } = await startServer(t);
    const service = new BlobServiceClient(server.url, new StorageSharedKeyCredential(account, key));
    const page = await openPage(t, options);
    await signInByKey(page, url);
    const look = (hash) => page.evaluate((wanted) => {
        location.hash = wanted;
    }, hash);
    return { url, server, service, page, look };
}

const put = (container, names) => Promise.all(Object.entries(names).map(([name, size]) => container.getBlockBlobClient(name).upload('x'.repeat(size), size)));
const namesOf = async (container) => {
    const names = [];
    for await (const { name } of container.listBlobsFlat())
        names.push(name);
    return names;
};
const seesNames = (page, names, within = 'main table') => page.waitForFunction((wanted, where) => JSON.stringify([...document.querySelectorAll(`${where} td.name`)]
    .map(({ innerText }) => innerText.trim())) === wanted, {}, JSON.stringify(names), within).catch(async () =>
    assert.deepEqual(await page.$$eval(`${within} td.name`, (cells) => cells.map(({ innerText }) => innerText.trim())), names));

test('blobs are sorted by each column, across pages of the listing', async (t) => {
    const { service, page, look } = await start(t);
    const container = service.getContainerClient('sorted');
    await container.create();
    await put(container, { 'a.txt': 300, 'b.txt': 20, 'c.txt': 1000, 'z/in a folder': 5 });
    const large = Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`n${String(i).padStart(4, '0')}`, 1]));
    for (const names of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((i) => Object.entries(large).slice(i * 100, (i + 1) * 100)))
        await put(container, Object.fromEntries(names));
    await put(container, { 'y.txt': 5000 });
    await look(`#/blobs/${account}/sorted`);
    await sees(page, '1,000 so far');
    const first = (count) => page.$$eval('.long td.name', (cells, n) => cells.slice(0, n).map(({ innerText }) => innerText.trim()), count);
    const sortBy = async (title, order, wanted) => {
        await press(page, title, '.long thead');
        await page.waitForFunction((text, is, top) => document.querySelector('.long th[aria-sort]')?.innerText.trim() === text &&
            document.querySelector('.long th[aria-sort]').ariaSort === is && [...document.querySelectorAll('.long td.name')].slice(0, top.length)
            .every(({ innerText }, i) => innerText.trim() === top[i]), {}, title, order, wanted).catch(async () => assert.deepEqual(await first(wanted.length), wanted));
    };
    await sortBy('Size', 'descending', ['z/', 'y.txt', 'c.txt', 'a.txt', 'b.txt', 'n0000']);
    await isAccessible(page);
    await sortBy('Size', 'ascending', ['z/', 'n0000']);
    await sortBy('Modified', 'descending', ['z/']);
    await sortBy('Name', 'ascending', ['a.txt', 'b.txt', 'c.txt', 'n0000']);
    await sortBy('Name', 'descending', ['z/', 'y.txt', 'n1099']);
});

test('containers, shares, files and entities are sorted by their columns', async (t) => {
    const { service, server, page, look } = await start(t);
    for (const [name, access] of [['one', undefined], ['three', 'blob'], ['two', 'container']])
        await service.getContainerClient(name).create({ access });
    await look(`#/blobs/${account}`);
    await seesNames(page, ['one', 'three', 'two']);
    await press(page, 'Name', 'thead');
    await seesNames(page, ['two', 'three', 'one']);
    await press(page, 'Public access', 'thead');
    await seesNames(page, ['one', 'three', 'two']);
    await press(page, 'Public access', 'thead');
    await seesNames(page, ['two', 'three', 'one']);

    const shares = ShareServiceClient.fromConnectionString(server.connectionString);
    for (const [name, quota] of [['sss', 20], ['ttt', 3], ['uuu', 100]])
        await shares.getShareClient(name).create({ quota });
    await look(`#/files/${account}`);
    await press(page, 'Quota', 'thead');
    await seesNames(page, ['uuu', 'sss', 'ttt']);
    const root = shares.getShareClient('sss').rootDirectoryClient;
    for (const [name, size] of [['large', 9], ['medium', 5], ['small', 1]])
        await root.getFileClient(name).create(size);
    await look(`#/files/${account}/sss`);
    await seesNames(page, ['large', 'medium', 'small']);
    await press(page, 'Size', 'thead');
    await press(page, 'Size', 'thead');
    await seesNames(page, ['small', 'medium', 'large']);
    assert.equal(await page.$eval('td.number', (cell) => getComputedStyle(cell).textAlign), 'right');

    const table = new TableClient(server.urlOf('table'), 'things', new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true });
    await table.createTable();
    for (let i = 0; i < 120; i++)
        await table.createEntity({ partitionKey: 'p', rowKey: String(i), count: (i * 7) % 120 });
    await look(`#/tables/${account}/things`);
    await page.waitForSelector('[aria-label=Entities]');
    await press(page, 'count', 'thead');
    await page.waitForFunction(() => [...document.querySelectorAll('[aria-label=Entities] tbody tr')].slice(0, 3).map((row) => row.children[2].innerText).join() === '119,118,117');
    await press(page, 'Next page');
    await page.waitForFunction(() => document.querySelector('[aria-label=Entities] tbody tr').children[2].innerText === '19');
});

test('selected blobs and folders are deleted after their contents are counted', async (t) => {
    const { service, page, look } = await start(t);
    const container = service.getContainerClient('marked');
    await container.create();
    await put(container, { 'a.txt': 10, 'b.txt': 20, 'docs/one': 100, 'docs/deep/two': 200, 'docsx': 1, 'kept/one': 5 });
    await look(`#/blobs/${account}/marked`);
    await page.locator('input[aria-label="Mark docs/"]').click();
    await page.locator('input[aria-label="Mark a.txt"]').click();
    await press(page, 'Delete 2 marked…');
    await sees(page, 'Delete 1 blob and 1 folder?', 'dialog h2');
    await sees(page, '3 blobs, 310 B', 'dialog');
    await isAccessible(page);
    // What is written after the count is spared.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await put(container, { 'docs/new': 7 });
    await press(page, 'Delete 3', 'dialog');
    await sees(page, '3 deleted, 1 not deleted: docs/new (it was changed after the count)', 'dialog');
    assert.deepEqual(await namesOf(container), ['b.txt', 'docs/new', 'docsx', 'kept/one']);
    await press(page, 'Cancel', 'dialog');

    // One that cannot be deleted does not stop the others.
    const lease = container.getBlobClient('b.txt').getBlobLeaseClient();
    await lease.acquireLease(-1);
    await page.locator('input[aria-label="Mark all"]').click();
    await page.locator('input[aria-label="Mark kept/"]').click();
    assert.equal(await page.$eval('input[aria-label="Mark all"]', ({ indeterminate }) => indeterminate), true);
    await press(page, 'Delete all marked…');
    await sees(page, 'everything listed here except 1 folder', 'dialog');
    await press(page, 'Delete 3', 'dialog');
    await sees(page, '2 deleted, 1 not deleted: b.txt (LeaseIdMissing', 'dialog');
    assert.deepEqual(await namesOf(container), ['b.txt', 'kept/one']);
    await press(page, 'Cancel', 'dialog');
    await lease.breakLease(0);

    await page.locator('input[aria-label="Mark all"]').click();
    await press(page, 'Delete all marked…');
    await press(page, 'Delete 2', 'dialog');
    await sees(page, 'There are no blobs here.');
    assert.deepEqual(await namesOf(container), []);
});

test('select all selects the entire list within the prefix, including the part not loaded yet', async (t) => {
    const { service, page, look } = await start(t);
    const container = service.getContainerClient('all');
    await container.create();
    for (let i = 0; i < 12; i++)
        await put(container, Object.fromEntries(Array.from({ length: 100 }, (_, k) => [`n${String(i * 100 + k).padStart(4, '0')}`, 1])));
    await put(container, { other: 1 });
    await look(`#/blobs/${account}/all`);
    await fill(page, { search: 'n' }, '[role=search]');
    await press(page, 'Search');
    await sees(page, '1,000 so far');
    await page.locator('input[aria-label="Mark all"]').click();
    await press(page, 'Delete all marked…');
    await press(page, 'Delete 1,200', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    assert.deepEqual(await namesOf(container), ['other']);
});

test('a container is deleted after its blobs are counted and its name is typed', async (t) => {
    const { service, page, look } = await start(t);
    await service.getContainerClient('precious').create();
    await put(service.getContainerClient('precious'), { a: 1000, 'b/c': 1000, 'b/d': 48 });
    await look(`#/blobs/${account}`);
    await page.locator('button[aria-label="Delete precious"]').click();
    await sees(page, '3 blobs, 2 KiB', 'dialog');
    const isDisabled = () => page.$eval('dialog button[type=submit]', ({ disabled }) => disabled);
    assert.equal(await isDisabled(), true);
    await fill(page, { confirm: 'preciou' });
    assert.equal(await isDisabled(), true);
    await isAccessible(page);
    await confirm(page, 'precious');
    await sees(page, 'There are no containers.');
    assert.equal(await service.getContainerClient('precious').exists(), false);
});

test('selected files and folders of a share are deleted with their contents', async (t) => {
    const { server, page, look } = await start(t);
    const share = ShareServiceClient.fromConnectionString(server.connectionString).getShareClient('docs');
    await share.create();
    const root = share.rootDirectoryClient;
    for (const path of ['a', 'a/b', 'a/b/c'])
        await root.getDirectoryClient(path).create();
    for (const path of ['top', 'a/one', 'a/b/two', 'a/b/c/three'])
        await root.getFileClient(path).create(3);
    await root.getFileClient('kept').create(1);
    await look(`#/files/${account}/docs`);
    await page.locator('input[aria-label="Mark all"]').click();
    await page.locator('input[aria-label="Mark kept"]').click();
    await press(page, 'Delete 2 marked…');
    await sees(page, '4 files and 3 folders, 12 B', 'dialog');
    await isAccessible(page);
    await press(page, 'Delete 7', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    await seesNames(page, ['kept']);
    assert.equal(await root.getDirectoryClient('a').exists(), false);
});

// ---- names and times ----

const HIDDEN = {
    'a\u202Etxt.exe': ['U+202E'], 'zero\u200Bwidth': ['U+200B'], ' blank ': ['space', 'space'], 'two  blanks': ['space', 'space'], 'soft\u00ADhyphen': ['U+00AD'], 'no\u00A0break': ['U+00A0'],
    '\uFEFFmark': ['U+FEFF'], 'isolate\u2067x\u2069': ['U+2067', 'U+2069'], 'line\u2028end': ['U+2028'],
};
const SEEN = ['a b c', 'é😀', '👩‍👧', '❤️', '日本語', 'עברית', 'naïve'];

test('invisible characters in names are marked, and the names remain exact', async (t) => {
    const { service, server, page, look } = await start(t);
    const container = service.getContainerClient('names');
    await container.create();
    for (const name of [...Object.keys(HIDDEN), ...SEEN])
        await put(container, { [name]: 1, [`folder/${name}/x`]: 1 });
    for (const hash of [`#/blobs/${account}/names`, `#/blobs/${account}/names/folder%2F`]) {
        await look(hash);
        for (const [name, marks] of Object.entries({ ...HIDDEN, ...Object.fromEntries(SEEN.map((one) => [one, []])) })) {
            const text = hash.includes('folder') ? `${name}/` : name;
            const found = await page.waitForFunction((wanted) => [...document.querySelectorAll('.long td.name a')].find(({ textContent }) => textContent === wanted), {}, text);
            assert.deepEqual(await found.evaluate((link) => [...link.querySelectorAll('[data-code]')].map(({ dataset }) => dataset.code)), marks, JSON.stringify(text));
        }
        const heights = await page.$$eval('.long tbody tr:not(.space)', (rows) => [...new Set(rows.map((row) => row.getBoundingClientRect().height))]);
        assert.deepEqual(heights, [34]);
        await isAccessible(page);
    }
    // What a mark stands for cannot change how the rest is drawn.
    const mirrored = await page.$$eval('.long td.name a', (links) => links.filter(({ textContent }) => textContent.startsWith('a\u202E')).map((link) => getComputedStyle(link.querySelector('[data-code]')).unicodeBidi));
    assert.deepEqual(mirrored, ['isolate']);
    await look(`#/blobs/${account}/names?blob=${encodeURIComponent('a\u202Etxt.exe')}`);
    await page.waitForSelector('aside h2 [data-code="U+202E"]');
    await press(page, 'Delete…', 'aside');
    await page.waitForSelector('dialog h2 [data-code="U+202E"]');
    await press(page, 'Cancel', 'dialog');

    const share = ShareServiceClient.fromConnectionString(server.connectionString).getShareClient('names');
    await share.create();
    await share.rootDirectoryClient.getFileClient('a\u202Etxt.exe').create(1);
    await look(`#/files/${account}/names`);
    await page.waitForSelector('td.name [data-code="U+202E"]');
    const table = new TableClient(server.urlOf('table'), 'names', new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true });
    await table.createTable();
    await table.createEntity({ partitionKey: 'p\u200B', rowKey: ' r' });
    await look(`#/tables/${account}/names`);
    await page.waitForSelector('td [data-code="U+200B"]');
    await page.waitForSelector('td [data-code="space"]');
});

test('times are never truncated, and sizes are right-aligned, in any language and width', async (t) => {
    const { url, service } = await start(t);
    const container = service.getContainerClient('times');
    await container.create();
    await put(container, { ['long name '.repeat(30)]: 1100, short: 1, 'folder/x': 1 });
    for (const [locale, width] of [['en-US', 1280], ['pt-BR', 360], ['ja-JP', 800], ['bg-BG', 1000]]) {
        const page = await openPage(t, { width });
        await page._client().send('Emulation.setLocaleOverride', { locale });
        await signInByKey(page, url);
        for (const rest of ['', '?blob=short']) {
            await page.evaluate((hash) => {
                location.hash = hash;
            }, `#/blobs/${account}/times${rest}`);
            await page.waitForFunction(() => document.querySelectorAll('.long td.time').length === 3);
            const cut = await page.$$eval('.long td.time, .long td.number', (cells) => cells.filter((cell) => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                const [text, box] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
                return text.width > 0 && (text.left < box.left || text.right > box.right || text.height > box.height);
            }).map(({ innerText }) => innerText));
            assert.deepEqual(cut, [], `${locale} ${width}`);
            const ends = await page.$$eval('.long td.number', (cells) => [...new Set(cells.filter(({ innerText }) => innerText).map((cell) => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                return Math.round(range.getBoundingClientRect().right);
            }))]);
            assert.equal(ends.length, 1, `${locale} ${width}: sizes end at ${ends}`);
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the screen');
        }
    }
});
