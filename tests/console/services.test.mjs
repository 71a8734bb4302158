// Queues, tables, files and accounts in the console, with the SDKs beside it to say what came of it.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { account, closeBrowser, confirm, fill, isAccessible, key, openPage, picture, press, sees, signInByKey, startServer, Visitor } from './setup.mjs';

const require = createRequire(new URL('../../console/package.json', import.meta.url));
const { AzureNamedKeyCredential, TableClient } = require('@azure/data-tables');
const { BlobServiceClient } = require('@azure/storage-blob');
const { ShareServiceClient } = require('@azure/storage-file-share');
const { QueueServiceClient } = require('@azure/storage-queue');
const MARKUP = '<img src=x onerror=alert(1)>';

after(closeBrowser);

async function start(t, page) {
    const { url, server, link } = await startServer(t);
    const opened = await openPage(t);
    await signInByKey(opened, url);
    await press(opened, page, 'header');
    return { url, server, link, page: opened };
}

test('a queue is created; messages are put, peeked, received, deleted and cleared', async (t) => {
    const { page, server } = await start(t, 'Queues');
    const queue = QueueServiceClient.fromConnectionString(server.connectionString).getQueueClient('work');
    await press(page, 'New queue');
    await fill(page, { name: 'work' });
    await press(page, 'Create', 'dialog');
    await isAccessible(page);
    await press(page, 'work', 'table');
    await sees(page, 'There are no visible messages.');
    for (const text of ['first', MARKUP]) {
        await press(page, 'Add message');
        await fill(page, { text });
        await press(page, 'Add', 'dialog');
        await sees(page, text, 'table');
    }
    await isAccessible(page);
    await picture(page, 'queue');
    assert.deepEqual((await queue.peekMessages({ numberOfMessages: 5 })).peekedMessageItems.map(({ messageText }) => messageText), ['first', MARKUP]);
    await press(page, 'Receive messages');
    await sees(page, 'Received messages, invisible to other consumers');
    await (await page.waitForSelector('button[aria-label^="Delete message"]')).click();
    await page.waitForFunction(() => document.querySelectorAll('button[aria-label^="Delete message"]').length === 1);
    assert.equal((await queue.getProperties()).approximateMessagesCount, 1);
    await press(page, 'Clear queue…');
    await sees(page, 'Delete all 1 messages of work?', 'dialog');
    await press(page, 'Clear', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
    await press(page, 'Queues', '.crumbs');
    await page.locator('button[aria-label="Delete work"]').click();
    await sees(page, 'The queue is empty.', 'dialog');
    await confirm(page, 'work');
    await sees(page, 'There are no queues.');
    assert.equal(await queue.exists(), false);
});

test('entities are queried and edited with their types; a conflicting edit is reported and overwrites nothing', async (t) => {
    const { page, server } = await start(t, 'Tables');
    const table = new TableClient(server.urlOf('table'), 'people', new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true });
    await press(page, 'New table');
    await fill(page, { name: 'people' });
    await press(page, 'Create', 'dialog');
    await isAccessible(page);
    await press(page, 'people', 'table');
    await press(page, 'New entity');
    await fill(page, { json: JSON.stringify({ partitionKey: 'a', rowKey: '1', name: MARKUP, age: 41, big: { type: 'Int64', value: '9007199254740993' }, ok: true }) });
    await press(page, 'Save', 'dialog');
    await sees(page, '9007199254740993', 'table');
    await sees(page, MARKUP, 'table');
    await table.createEntity({ partitionKey: 'b', rowKey: '2', name: 'other', at: new Date('2026-01-02T03:04:05Z') });
    await fill(page, { filter: "PartitionKey eq 'b'" }, '[role=search]');
    await press(page, 'Query');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    await sees(page, '2026-01-02T03:04:05', 'table');
    await isAccessible(page);
    await fill(page, { filter: 'no filter' }, '[role=search]');
    await press(page, 'Query');
    await page.waitForSelector('main .problem');
    await fill(page, { filter: ' ' }, '[role=search]');
    await press(page, 'Query');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2);
    await picture(page, 'table');

    await page.locator('button[aria-label="Edit a 1"]').click();
    const json = await page.$eval('dialog textarea', ({ value }) => value);
    assert.deepEqual(JSON.parse(json).big, { type: 'Int64', value: '9007199254740993' });
    await table.updateEntity({ partitionKey: 'a', rowKey: '1', age: 42 }, 'Merge');
    await fill(page, { json: json.replace('41', '43') });
    await press(page, 'Save', 'dialog');
    await sees(page, 'changed by another client', 'dialog');
    await picture(page, 'conflict');
    assert.equal((await table.getEntity('a', '1')).age, 42);
    await press(page, 'Cancel', 'dialog');
    await press(page, 'Reload');
    await sees(page, '42', 'table');
    await page.locator('button[aria-label="Edit a 1"]').click();
    await fill(page, { json: json.replace('41', '44') });
    await press(page, 'Save', 'dialog');
    await sees(page, '44', 'table');
    const entity = await table.getEntity('a', '1');
    assert.deepEqual([entity.age, entity.big, entity.name, entity.ok], [44, 9007199254740993n, MARKUP, true]);

    // Of two windows, one deletes what the other has changed.
    await table.updateEntity({ partitionKey: 'b', rowKey: '2', name: 'changed' }, 'Merge');
    await page.locator('button[aria-label="Delete b 2"]').click();
    await press(page, 'Delete', 'dialog');
    await sees(page, 'changed by another client', 'dialog');
    assert.equal((await table.getEntity('b', '2')).name, 'changed');
});

test('data of Storage Analytics is listed with its source', async (t) => {
    const { page, server } = await start(t, 'Blobs');
    const service = BlobServiceClient.fromConnectionString(server.connectionString);
    const metrics = { version: '1.0', enabled: true, includeAPIs: true, retentionPolicy: { enabled: true, days: 2 } };
    await sees(page, 'There are no containers.');
    await service.setProperties({ blobAnalyticsLogging: { version: '1.0', read: true, write: true, deleteProperty: true, retentionPolicy: { enabled: true, days: 2 } }, minuteMetrics: metrics });
    const logs = async () => {
        await service.getContainerClient('some').exists();
        return service.getContainerClient('$logs').exists();
    };
    for (let i = 0; i < 300 && !(await logs()); i++)
        await new Promise((resolve) => setTimeout(resolve, 200));
    await press(page, 'Reload', 'main');
    await sees(page, 'The server writes a line for each request here while logging is turned on', 'table');
    assert.equal(await page.$('button[aria-label="Delete $logs"]'), null, 'it can be deleted');
    await isAccessible(page);
    await press(page, '$logs', 'table');
    await sees(page, 'Storage Analytics logs.', 'main');
    await press(page, 'Tables', 'header');
    await sees(page, 'The server writes tables whose names start with $Metrics');
    await isAccessible(page);
});

// Its tables appear a minute after the first request that is counted.
test('a metrics table is listed and displayed', async (t) => {
    const { page, server } = await start(t, 'Overview');
    const table = '$MetricsMinutePrimaryTransactionsBlob';
    const service = BlobServiceClient.fromConnectionString(server.connectionString);
    await service.setProperties({ minuteMetrics: { version: '1.0', enabled: true, includeAPIs: true, retentionPolicy: { enabled: true, days: 2 } } });
    const client = new TableClient(server.urlOf('table'), table, new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true });
    const isThere = () => client.listEntities().byPage().next().then(() => true, () => false);
    for (let i = 0; i < 150 && !(await isThere()); i++) {
        await service.getContainerClient('some').exists();
        await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    await press(page, 'Tables', 'header');
    await sees(page, 'Requests to the Blob service by operation, for each minute.', 'table');
    await press(page, table, 'table');
    await sees(page, 'GetContainerProperties', 'table');
});

test('a share is created; folders and files are created, displayed, downloaded and deleted', async (t) => {
    const { page, server } = await start(t, 'Files');
    const share = ShareServiceClient.fromConnectionString(server.connectionString).getShareClient('docs');
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-console-'));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(path.join(folder, 'note.txt'), 'a note');
    await press(page, 'New share');
    await fill(page, { name: 'docs' });
    await press(page, 'Create', 'dialog');
    await isAccessible(page);
    await press(page, 'docs', 'table');
    await press(page, 'New folder');
    await fill(page, { name: 'a & b' });
    await press(page, 'Create', 'dialog');
    await press(page, 'a & b', 'table');
    await sees(page, 'The folder is empty.');
    await (await page.waitForSelector('input[name=files]')).uploadFile(path.join(folder, 'note.txt'));
    await sees(page, 'note.txt', 'table');
    await isAccessible(page);
    await picture(page, 'files');
    const file = share.getDirectoryClient('a & b').getFileClient('note.txt');
    assert.equal(String(await file.downloadToBuffer()), 'a note');
    const href = await page.$eval('a[download]', (link) => link.href);
    assert.equal(await page.evaluate(async (url) => (await fetch(url)).text(), href), 'a note');
    await press(page, 'docs', '.crumbs');
    await page.locator('button[aria-label="Delete a & b"]').click();
    await sees(page, '1 file and 1 folder, 6 B', 'dialog');
    await press(page, 'Cancel', 'dialog');
    await press(page, 'a & b', 'table');
    await page.locator('button[aria-label="Delete note.txt"]').click();
    await press(page, 'Delete 1', 'dialog');
    await sees(page, 'The folder is empty.');
    assert.equal(await file.exists(), false);
});

test('an operator creates accounts, rotates their keys and disables them; other users have no such page', async (t) => {
    const { page, link, url } = await start(t, 'Overview');
    assert.ok(!(await page.$eval('header', ({ innerText }) => innerText)).includes('Accounts'));
    const operator = await openPage(t);
    await operator.goto(await link());
    await press(operator, 'Accounts', 'header');
    await press(operator, 'New account');
    await fill(operator, { name: 'photos' });
    await operator.locator('dialog input[name=hierarchical]').click();
    await press(operator, 'Create', 'dialog');
    await sees(operator, 'They are not shown again.', 'dialog');
    const [first] = await operator.$$eval('dialog dd', (keys) => keys.map(({ innerText }) => innerText));
    await isAccessible(operator);
    await press(operator, 'Done', 'dialog');
    await sees(operator, 'photos', 'table');
    await sees(operator, 'hierarchical', 'table');
    await new Visitor(url).signIn({ account: 'photos', key: first });
    await press(operator, 'Calculate');
    await sees(operator, 'No account stores anything.');
    await isAccessible(operator);
    await picture(operator, 'accounts');
    await operator.locator('button[aria-label="New key 1 of photos"]').click();
    await press(operator, 'Replace', 'dialog');
    await sees(operator, 'They are not shown again.', 'dialog');
    assert.equal((await new Visitor(url).ask('sign-in', { account: 'photos', key: first })).status, 403);
    const [second] = await operator.$$eval('dialog dd', (keys) => keys.map(({ innerText }) => innerText));
    await new Visitor(url).signIn({ account: 'photos', key: second });
    await press(operator, 'Done', 'dialog');
    await operator.locator('button[aria-label="Limits of photos"]').click();
    await fill(operator, { requests: '50', capacity: '100' });
    await isAccessible(operator);
    await press(operator, 'Set', 'dialog');
    await sees(operator, '50 requests/s, 100 MiB', 'table');
    await operator.locator('button[aria-label="Limits of photos"]').click();
    await fill(operator, { requests: '' });
    await press(operator, 'Set', 'dialog');
    await operator.waitForFunction(() => !document.querySelector('table').innerText.includes('requests/s') && document.querySelector('table').innerText.includes('100 MiB'));
    await operator.locator('button[aria-label="Settings of photos"]').click();
    await operator.waitForSelector('dialog input[name="versioning"]');
    await fill(operator, { blobRetentionDays: '7' });
    await operator.locator('dialog input[name="versioning"]').click();
    await isAccessible(operator);
    await press(operator, 'Set', 'dialog');
    await operator.waitForFunction(() => !document.querySelector('dialog'));
    await operator.locator('button[aria-label="Settings of photos"]').click();
    await operator.waitForSelector('dialog input[name="versioning"]');
    assert.deepEqual(await operator.evaluate(() => [document.querySelector('input[name="versioning"]').checked, document.querySelector('input[name="blobRetentionDays"]').value]), [true, '7']);
    await press(operator, 'Cancel', 'dialog');
    await operator.locator('button[aria-label="Disable photos"]').click();
    await sees(operator, 'disabled', 'table');
    assert.equal((await new Visitor(url).ask('sign-in', { account: 'photos', key: second })).status, 403);
});
