// Blobs in the console: all that its page does to them, with the SDK beside it to say what came of it.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { account, closeBrowser, confirm, fill, isAccessible, key, openPage, picture, press, scrollTo, scrollToEnd, sees, signInByKey, startServer } from './setup.mjs';

const require = createRequire(new URL('../../console/package.json', import.meta.url));
const { BlobServiceClient, StorageSharedKeyCredential } = require('@azure/storage-blob');
// What must be shown as text: markup, script, a change of direction, a name of the greatest length.
const HOSTILE = ['<img src=x onerror=alert(1)>', '"><script>alert(1)</script>', '\u202Egnp.exe', '{{constructor}}', 'a&b=c?d#e%20f+g', 'n'.repeat(1000), 'é😀/ü'];

after(closeBrowser);

/** A server with a container, a browser that is signed in and looks at it. */
async function start(t, container, options) {
    const { url, server } = await startServer(t);
    const service = new BlobServiceClient(server.url, new StorageSharedKeyCredential(account, key));
    const client = service.getContainerClient(container);
    await client.create();
    const page = await openPage(t, options);
    await signInByKey(page, url);
    const look = async (rest = '') => {
        await page.evaluate((hash) => {
            location.hash = hash;
        }, `#/blobs/${account}/${container}${rest}`);
    };
    return { url, server, service, client, page, look };
}

async function filesFor(t, files) {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-console-'));
    t.after(() => rm(folder, { recursive: true }));
    return Promise.all(Object.entries(files).map(async ([name, content]) => {
        await writeFile(path.join(folder, name), content);
        return path.join(folder, name);
    }));
}

async function upload(page, paths) {
    const input = await page.waitForSelector('input[name=files]');
    await input.uploadFile(...paths);
}

test('containers are created, found and deleted', async (t) => {
    const { page, service } = await start(t, 'first');
    await press(page, 'Blobs', 'header');
    await sees(page, 'first', 'table');
    await press(page, 'New container');
    await fill(page, { name: 'No' });
    await press(page, 'Create', 'dialog');
    await sees(page, 'InvalidResourceName', 'dialog');
    await isAccessible(page);
    await fill(page, { name: 'second' });
    await page.select('dialog select[name=access]', 'blob');
    await press(page, 'Create', 'dialog');
    await sees(page, 'public: blob', 'table');
    assert.equal((await service.getContainerClient('second').getProperties()).blobPublicAccess, 'blob');
    await isAccessible(page);
    await picture(page, 'containers');
    await fill(page, { prefix: 'sec' }, '[role=search]');
    await press(page, 'Search');
    await page.waitForFunction(() => document.querySelector('table')?.innerText.includes('first') === false);
    await page.locator('button[aria-label="Delete second"]').click();
    await sees(page, 'The container is empty.', 'dialog');
    await confirm(page, 'second');
    await sees(page, 'There are no containers.');
    assert.equal(await service.getContainerClient('second').exists(), false);
});

test('files are uploaded in blocks, displayed, changed, copied and deleted', async (t) => {
    const { page, client, look, service } = await start(t, 'photos');
    const large = Buffer.alloc(20 << 20, 'lagra ');
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    const paths = await filesFor(t, { 'large.txt': large, 'facts.json': '{"a":[1,2],"b":"<b>bold</b>"}', 'dot.png': png, 'empty.bin': '', 'bytes.bin': Buffer.from([1, 0, 2]) });
    await look('/2026%2F');
    await upload(page, paths);
    await page.waitForFunction(() => document.querySelectorAll('.uploads li').length === 5 &&
        [...document.querySelectorAll('.uploads li')].every(({ innerText }) => innerText.includes('done')));
    const { contentLength } = await client.getBlobClient('2026/large.txt').getProperties();
    assert.equal(contentLength, large.length);
    assert.equal((await client.getBlockBlobClient('2026/large.txt').getBlockList('committed')).committedBlocks.length, 3);
    assert.ok(large.equals(await client.getBlobClient('2026/large.txt').downloadToBuffer()));

    await look();
    await press(page, '2026/');
    await press(page, 'facts.json');
    await sees(page, '"b": "<b>bold</b>"', 'aside pre');
    await isAccessible(page);
    await press(page, 'Metadata…');
    await fill(page, { pairs: 'colour = <i>blue</i>\nowner = me' });
    await press(page, 'Save', 'dialog');
    await sees(page, '<i>blue</i>', 'aside');
    await press(page, 'Tags…');
    await fill(page, { pairs: 'year = 2026' });
    await press(page, 'Save', 'dialog');
    await sees(page, 'year', 'aside');
    await press(page, 'Snapshot');
    await page.waitForSelector('aside tbody tr');
    await press(page, 'Tier…');
    await page.select('dialog select', 'Cool');
    await press(page, 'Save', 'dialog');
    await page.waitForFunction(() => /Tier\s+Cool/.test(document.querySelector('aside')?.innerText));
    await press(page, 'Properties…');
    await fill(page, { cache: 'no-cache' });
    await press(page, 'Save', 'dialog');
    await sees(page, 'no-cache', 'aside');
    await picture(page, 'blob');
    const facts = client.getBlobClient('2026/facts.json');
    const properties = await facts.getProperties();
    assert.deepEqual([properties.metadata, properties.accessTier, properties.contentType, properties.cacheControl],
        [{ colour: '<i>blue</i>', owner: 'me' }, 'Cool', 'application/json', 'no-cache']);
    assert.deepEqual((await facts.getTags()).tags, { year: '2026' });

    await press(page, 'Copy…');
    await fill(page, { name: 'copied.json' });
    await press(page, 'Copy', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    assert.equal(String(await client.getBlobClient('copied.json').downloadToBuffer()), '{"a":[1,2],"b":"<b>bold</b>"}');
    await press(page, 'Copy…');
    await fill(page, { name: 'copied.json' });
    await press(page, 'Copy', 'dialog');
    await sees(page, 'BlobAlreadyExists', 'dialog');
    await press(page, 'Cancel', 'dialog');

    // Somebody else changes it meanwhile: nothing is overwritten.
    await press(page, 'Metadata…');
    await facts.setMetadata({ other: 'one' });
    await fill(page, { pairs: 'mine = lost' });
    await press(page, 'Save', 'dialog');
    await sees(page, 'ConditionNotMet', 'dialog');
    assert.deepEqual((await facts.getProperties()).metadata, { other: 'one' });
    await press(page, 'Cancel', 'dialog');

    await press(page, 'dot.png');
    await page.waitForFunction(() => document.querySelector('aside img')?.naturalWidth === 1);
    await press(page, 'Delete…');
    await press(page, 'Delete', 'dialog');
    await page.waitForFunction(() => !document.querySelector('aside') && document.querySelector('table')?.innerText.includes('dot.png') === false);
    assert.equal(await client.getBlobClient('2026/dot.png').exists(), false);
    await press(page, 'bytes.bin');
    await sees(page, 'No preview for binary content.', 'aside');
    await press(page, 'empty.bin');
    await sees(page, 'The blob is empty.', 'aside');
    await page.locator('input[aria-label="Mark 2026/bytes.bin"]').click();
    await page.locator('input[aria-label="Mark 2026/empty.bin"]').click();
    await press(page, 'Delete 2 marked…');
    await press(page, 'Delete 2', 'dialog');
    await page.waitForFunction(() => document.querySelector('table')?.innerText.includes('empty.bin') === false);
    assert.equal(await client.getBlobClient('2026/empty.bin').exists(), false);
    assert.equal(await client.getBlobClient('2026/large.txt').exists(), true);
    assert.equal(await service.getContainerClient('photos').exists(), true);
});

test('access, policies and lease of a container are changed unless another client has changed them', async (t) => {
    const { page, client, look } = await start(t, 'shared');
    await client.setAccessPolicy('blob', [{ id: 'readers', accessPolicy: { expiresOn: new Date('2099-01-02T03:04:05Z'), permissions: 'r' } }]);
    await look();
    await press(page, 'Access policies…');
    await page.waitForSelector('dialog select[name=access]');
    assert.equal(await page.$eval('dialog select[name=access]', ({ value }) => value), 'blob');
    await isAccessible(page);
    await press(page, 'Add a policy', 'dialog');
    await fill(page, { 'policy-1': 'writers', 'permissions-1': 'rw', 'from-1': '2026-01-02T03:04:05' });
    await page.select('dialog select[name=access]', 'container');
    await press(page, 'Save', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    const { blobPublicAccess, signedIdentifiers } = await client.getAccessPolicy();
    assert.equal(blobPublicAccess, 'container');
    assert.deepEqual(signedIdentifiers.map(({ id, accessPolicy }) => [id, accessPolicy.permissions, accessPolicy.expiresOn?.toISOString()]),
        [['readers', 'r', '2099-01-02T03:04:05.000Z'], ['writers', 'rw', undefined]]);

    await press(page, 'Access policies…');
    await page.waitForSelector('dialog select[name=access]');
    const { lastModified } = await client.getProperties();
    await page.waitForFunction((at) => Date.now() > at + 2000, {}, lastModified.getTime()); // its condition knows seconds
    await client.setAccessPolicy(undefined, signedIdentifiers);
    await fill(page, { 'policy-0': '' });
    await press(page, 'Save', 'dialog');
    await sees(page, 'ConditionNotMet', 'dialog');
    await press(page, 'Cancel', 'dialog');
    assert.equal((await client.getAccessPolicy()).signedIdentifiers.length, 2);
    await press(page, 'Access policies…');
    await fill(page, { 'policy-0': '' });
    await press(page, 'Save', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    const after = await client.getAccessPolicy();
    assert.deepEqual([after.blobPublicAccess, after.signedIdentifiers.map(({ id }) => id)], [undefined, ['writers']]);

    await client.getBlobLeaseClient().acquireLease(-1);
    await press(page, 'Containers', '.crumbs');
    await sees(page, 'leased', 'table');
    await press(page, 'Break the lease…');
    await press(page, 'Break', 'dialog');
    await sees(page, 'broken', 'table');
    assert.equal((await client.getProperties()).leaseState, 'broken');
    await isAccessible(page);
});

test('the lease of a blob is broken; a snapshot is promoted and deleted', async (t) => {
    const { page, client, look } = await start(t, 'states');
    const blob = client.getBlockBlobClient('a/b.txt');
    await blob.upload('first', 5);
    const { snapshot } = await blob.createSnapshot();
    await blob.upload('second', 6);
    await blob.getBlobLeaseClient().acquireLease(-1);
    await look('/a%2F?blob=a%2Fb.txt');
    await press(page, 'Break the lease…');
    await press(page, 'Break', 'dialog');
    await page.waitForFunction(() => /Lease\s+broken/.test(document.querySelector('aside')?.innerText));
    assert.equal((await blob.getProperties()).leaseState, 'broken');
    await sees(page, 'second', 'aside pre');
    await page.locator(`button[aria-label="Promote ${snapshot}"]`).click();
    await isAccessible(page);
    await blob.setMetadata({ by: 'another' }); // in another window
    await press(page, 'Promote', 'dialog');
    await sees(page, 'ConditionNotMet', 'dialog');
    await press(page, 'Cancel', 'dialog');
    await press(page, 'Reload', 'aside');
    await sees(page, 'another', 'aside');
    await page.locator(`button[aria-label="Promote ${snapshot}"]`).click();
    await press(page, 'Promote', 'dialog');
    await sees(page, 'first', 'aside pre');
    assert.equal(String(await blob.downloadToBuffer()), 'first');
    await page.locator(`button[aria-label="Delete ${snapshot}"]`).click();
    await page.waitForFunction(() => !document.querySelector('aside tbody tr'));
    assert.equal(await blob.withSnapshot(snapshot).exists(), false);
    assert.equal(await blob.exists(), true);
});

test('with soft delete, deleted blobs are listed with their remaining days and restored', async (t) => {
    const { page, client, service, look } = await start(t, 'kept');
    const put = (name, text) => client.getBlockBlobClient(name).upload(text, text.length);
    const [gone, here] = ['a/<b>gone.txt', 'a/here.txt'].map((name) => client.getBlockBlobClient(name));
    await look();
    await press(page, 'Containers', '.crumbs');
    await press(page, 'Data protection…');
    await page.locator('dialog input[name=enabled]').click();
    await fill(page, { days: '366' });
    await press(page, 'Save', 'dialog');
    await sees(page, 'InvalidXmlDocument', 'dialog');
    await isAccessible(page);
    await fill(page, { days: '9' });
    await page.locator('dialog input[name=permanent]').click();
    await page.locator('dialog input[name=containers]').click();
    await fill(page, { 'container-days': '5' });
    await press(page, 'Save', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    const { enabled, days } = (await service.getProperties()).deleteRetentionPolicy;
    assert.deepEqual([enabled, days], [true, 9]);

    await put(gone.name, 'gone');
    await gone.createSnapshot();
    await gone.delete({ deleteSnapshots: 'include' });
    await put(here.name, 'first');
    await put(here.name, 'second');
    await look('/a%2F');
    await sees(page, '1 in total');
    await page.locator('input[name=deleted]').click();
    await sees(page, '2 in total');
    await page.waitForFunction(() => [...document.querySelectorAll('td.name del')].map(({ textContent }) => textContent).join() === '<b>gone.txt');
    assert.match(await page.$eval('.long tbody', ({ innerText }) => innerText), /\b[89] days left\s+Undelete/);
    assert.equal(await page.$$eval('.long tbody input', (boxes) => boxes.length), 1, 'what is deleted can be marked');
    await isAccessible(page);
    await picture(page, 'deleted');
    await page.focus(`button[aria-label="Undelete ${gone.name}"]`);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => !document.querySelector('td.name del') && document.querySelectorAll('.long tbody input').length === 2);
    assert.equal(String(await gone.downloadToBuffer()), 'gone');

    // What was overwritten is a snapshot that is deleted.
    await press(page, 'here.txt');
    await page.waitForFunction(() => /^[\d:.TZ-]+\s+5 B\s+deleted, [89] days left$/.test(document.querySelector('aside tbody')?.innerText.trim()));
    await isAccessible(page);
    await press(page, 'Undelete snapshots', 'aside');
    await press(page, 'Promote', 'aside');
    await press(page, 'Promote', 'dialog');
    await sees(page, 'first', 'aside pre');

    await press(page, 'Containers', '.crumbs');
    await press(page, 'Data protection…');
    await page.waitForFunction(() => document.querySelector('dialog input[name=days]')?.value === '9' && document.querySelector('dialog input[name=permanent]').checked);
    await page.locator('dialog input[name=enabled]').click();
    await press(page, 'Save', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    assert.equal((await service.getProperties()).deleteRetentionPolicy.enabled, false);

    // The same of containers.
    await page.locator('button[aria-label="Delete kept"]').click();
    await confirm(page, 'kept');
    await sees(page, 'Deleted containers');
    await page.waitForFunction(() => /kept\s[^]*\b[45] days left/.test(document.querySelector('main').innerText));
    await isAccessible(page);
    assert.equal(await client.exists(), false);
    await page.locator('button[aria-label="Restore kept"]').click();
    await page.waitForFunction(() => !document.querySelector('main').innerText.includes('Deleted containers'));
    assert.equal(String(await here.downloadToBuffer()), 'first');
});

test('with versioning, versions are listed and promoted, and restore deleted blobs', async (t) => {
    const { page, client, look } = await start(t, 'versions');
    const blob = client.getBlockBlobClient('a/<b>.txt');
    const rows = (count) => page.waitForFunction((wanted) => document.querySelectorAll('[aria-label=Versions] tbody tr').length === wanted, {}, count);
    await look();
    await press(page, 'Containers', '.crumbs');
    await press(page, 'Data protection…');
    await page.locator('dialog input[name=versions]').click();
    await isAccessible(page);
    await press(page, 'Save', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    await press(page, 'Data protection…');
    await page.waitForFunction(() => document.querySelector('dialog input[name=versions]')?.checked);
    await press(page, 'Cancel', 'dialog');

    const { versionId } = await blob.upload('first', 5, { blobHTTPHeaders: { blobContentType: 'text/plain' } });
    await blob.upload('second', 6, { blobHTTPHeaders: { blobContentType: 'text/plain' } });
    await look(`/a%2F?blob=${encodeURIComponent(blob.name)}`);
    await sees(page, 'second', 'aside pre');
    await rows(1);
    await page.locator(`button[aria-label="Show ${versionId}"]`).click();
    await sees(page, 'first', 'aside pre');
    assert.equal(await page.$eval('aside a.button', ({ href }) => new URL(href).searchParams.get('versionid')), versionId);
    await isAccessible(page);
    await picture(page, 'versions');
    await page.locator(`button[aria-label="Promote ${versionId}"]`).click();
    await sees(page, 'kept as a version', 'dialog');
    await press(page, 'Promote', 'dialog');
    await rows(2);
    assert.equal(String(await blob.downloadToBuffer()), 'first');
    await page.locator(`button[aria-label="Delete ${versionId}"]`).click();
    await rows(1);

    await press(page, 'Delete…', 'aside');
    await sees(page, 'kept as a version', 'dialog');
    await press(page, 'Delete', 'dialog');
    await sees(page, 'There are no blobs here.');
    assert.equal(await blob.exists(), false);
    await page.locator('input[name=deleted]').click();
    await sees(page, 'only versions remain', '.long tbody');
    await isAccessible(page);
    await press(page, '<b>.txt', '.long tbody');
    await sees(page, 'The blob was deleted.', 'aside');
    await rows(2);
    await isAccessible(page);
    await page.locator('[aria-label=Versions] tbody tr:last-child button[aria-label^=Promote]').click();
    await press(page, 'Promote', 'dialog');
    await sees(page, 'first', 'aside pre');
    assert.equal(String(await blob.downloadToBuffer()), 'first');
});

test('a link created by the console grants access to its resource only', async (t) => {
    const { page, client, look } = await start(t, 'links');
    await client.getBlockBlobClient('a b/ü.txt').upload('content', 7);
    await look('?blob=a%20b%2F%C3%BC.txt');
    await press(page, 'SAS link…');
    await isAccessible(page);
    await press(page, 'Create', 'dialog');
    const link = await (await page.waitForSelector('dialog textarea[name=link]')).evaluate(({ value }) => value);
    assert.equal(await (await fetch(link)).text(), 'content');
    assert.equal((await fetch(link, { method: 'DELETE' })).status, 403);
    assert.equal((await fetch(link.replace('.txt', '.TXT'))).status, 403);
});

/** A second of silence is 88,200 bytes. source: Multimedia Programming Interface and Data Specifications 1.0, WAVE */
function wavOf(seconds) {
    const wav = Buffer.alloc(44 + seconds * 88200);
    wav.write('RIFF', 0);
    wav.writeUInt32LE(wav.length - 8, 4);
    wav.write('WAVEfmt ', 8);
    for (const [value, size, at] of [[16, 4, 16], [1, 2, 20], [1, 2, 22], [44100, 4, 24], [88200, 4, 28], [2, 2, 32], [16, 2, 34]])
        wav.writeUIntLE(value, at, size);
    wav.write('data', 36);
    wav.writeUInt32LE(wav.length - 44, 40);
    return wav;
}

/** A short video, as this browser records it: as long as it takes until some of it has come. */
const recordVideo = (page) => page.evaluate(async () => {
    const canvas = document.createElement('canvas');
    const recorder = new MediaRecorder(canvas.captureStream(10), { mimeType: 'video/webm' });
    const parts = [];
    recorder.ondataavailable = ({ data }) => {
        parts.push(data);
        if (recorder.state === 'recording' && parts.filter(({ size }) => size > 0).length > 2)
            recorder.stop();
    };
    const stopped = new Promise((resolve) => recorder.addEventListener('stop', resolve));
    const draw = setInterval(() => canvas.getContext('2d').fillRect(Math.random() * 100, 0, 9, 9), 50);
    recorder.start(200);
    await stopped;
    clearInterval(draw);
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
});

test('audio and video are played through range requests', async (t) => {
    const { page, client, look } = await start(t, 'media');
    const wav = wavOf(600);
    await client.getBlockBlobClient('long.wav').upload(wav, wav.length, { blobHTTPHeaders: { blobContentType: 'audio/wav' } });
    const ranges = [];
    page.on('request', (request) => request.resourceType() === 'media' && ranges.push(request.headers().range));
    await look('?blob=long.wav');
    await page.waitForFunction(() => Math.round(document.querySelector('aside audio')?.duration) === 600);
    await page.$eval('aside audio', (audio) => {
        audio.currentTime = 500;
    });
    await page.waitForFunction(() => !document.querySelector('aside audio').seeking && document.querySelector('aside audio').readyState >= 2);
    assert.ok(ranges.some((range) => Number(/^bytes=(\d+)-/.exec(range)?.[1]) > 40e6), `ranges: ${ranges}`);
    await isAccessible(page);
    const webm = Buffer.from(await recordVideo(page));
    await client.getBlockBlobClient('short.webm').upload(webm, webm.length, { blobHTTPHeaders: { blobContentType: 'video/webm' } });
    await look('?blob=short.webm');
    await page.waitForFunction(() => document.querySelector('aside video')?.videoWidth === 300);
    await isAccessible(page);
});

test('names and data from clients are displayed as text', async (t) => {
    const { page, client, look } = await start(t, 'hostile');
    for (const name of HOSTILE)
        await client.getBlockBlobClient(name).upload('<script>alert(1)</script>', 25, { blobHTTPHeaders: { blobContentType: 'text/html' }, metadata: { m: '<script>alert(1)</script>' } });
    await look();
    for (const name of HOSTILE.filter((one) => !one.includes('/')))
        await page.waitForFunction((text) => [...document.querySelectorAll('td.name a')].some(({ textContent }) => textContent === text), {}, name);
    assert.equal(await page.$$eval('table img, table script', (found) => found.length), 0);
    for (const name of HOSTILE.filter((one) => !one.includes('/'))) {
        await (await page.evaluateHandle((text) => [...document.querySelectorAll('td.name a')].find(({ textContent }) => textContent === text), name)).asElement().click();
        await page.waitForFunction((text) => document.querySelector('aside h2')?.textContent === text &&
            document.querySelector('aside pre')?.textContent === '<script>alert(1)</script>', {}, name);
    }
    await isAccessible(page);
});

// Only rows in sight are elements, and pages come as they are scrolled to.
test('a folder with many blobs is scrolled and filtered', async (t) => {
    const { page, client, look } = await start(t, 'many', { width: 360, height: 740 });
    const names = Array.from({ length: 2120 }, (_, i) => `b${String(i).padStart(4, '0')}`);
    while (names.length > 0)
        await Promise.all(names.splice(0, 40).map((name) => client.getBlockBlobClient(name).upload('x', 1)));
    await client.getBlockBlobClient('b1000f/in a folder').upload('x', 1);
    await look();
    await sees(page, '1,000 so far');
    await sees(page, 'b0000', 'table');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it is wider than the screen');
    await isAccessible(page);
    await page.locator('input[aria-label="Mark b0001"]').click();
    await scrollToEnd(page);
    await sees(page, '2,121 in total');
    await sees(page, 'b2119', 'table');
    assert.ok(await page.$$eval('.long tbody tr', (rows) => rows.length) < 150, 'rows out of sight are elements');
    assert.equal(await page.$eval('.long tbody tr:last-child', (row) => row.getAttribute('aria-rowindex')), '2122');
    await scrollTo(page, 1000);
    await page.waitForFunction(() => /b0999\s.*\s*b1000\s[^]*b1000f\/\s[^]*b1001\s/.test(document.querySelector('.long tbody').innerText));
    await scrollTo(page, 0);
    await page.waitForFunction(() => document.querySelector('input[aria-label="Mark b0001"]')?.checked);
    await fill(page, { search: 'b21' }, '[role=search]');
    await press(page, 'Search');
    await sees(page, '20 in total');
    await sees(page, 'b2119', 'table');
});
