// Filters of entities that are built by clicks; export and import.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { account, closeBrowser, fill, isAccessible, key, openPage, press, sees, signInByKey, startServer } from './setup.mjs';

const require = createRequire(new URL('../../console/package.json', import.meta.url));
const { AzureNamedKeyCredential, TableClient } = require('@azure/data-tables');
const GUID = '5e7c9f0a-0000-4000-8000-00000000000b';
// A value of each type, and what a text of CSV has to quote.
const EVERYTHING = {
    text: 'a "quoted", long\r\nline', empty: '', yes: true, count: -41, big: 9007199254740993n, half: 0.5, at: new Date('2026-01-02T03:04:05.678Z'),
    id: { type: 'Guid', value: GUID }, bytes: new Uint8Array([0, 1, 255]),
};

after(closeBrowser);

async function start(t) {
    const { url, server } = await startServer(t);
    const page = await openPage(t);
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-console-'));
    t.after(() => rm(folder, { recursive: true }));
    const clientOf = (name) => new TableClient(server.urlOf('table'), name, new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true });
    await signInByKey(page, url);
    const look = (name) => page.evaluate((hash) => {
        location.hash = hash;
    }, `#/tables/${account}/${name}`);
    return { page, folder, clientOf, look };
}

async function entitiesOf(client) {
    const found = [];
    for await (const { etag: _etag, timestamp: _timestamp, 'odata.metadata': _metadata, ...entity } of client.listEntities())
        found.push(entity);
    return found;
}

/** The file that a button has the browser save. */
async function downloaded(page, folder, name, button) {
    const client = await page.createCDPSession();
    const file = path.join(folder, name);
    await client.send('Browser.setDownloadBehavior', { behavior: 'allow', browserContextId: page.browserContext().id, downloadPath: folder });
    await press(page, button);
    for (let i = 0; i < 600 && !existsSync(file); i++)
        await delay(100);
    return readFile(file, 'utf8');
}

test('a filter is built with the mouse', async (t) => {
    const { page, clientOf, look } = await start(t);
    const table = clientOf('people');
    await table.createTable();
    for (const [row, name, age] of [['1', "O'Hara", 41], ['2', 'Olaf', 17], ['3', 'Anna', 70]])
        await table.createEntity({ partitionKey: 'a', rowKey: row, name, age, big: BigInt(age) });
    await look('people');
    await sees(page, 'Anna', 'table');
    await press(page, 'Build a filter', 'details');
    const add = async (fields, type, operator) => {
        await page.select('details select[name=type]', type);
        await page.select('details select[name=operator]', operator);
        await fill(page, fields, 'details');
        await press(page, 'Add', 'details');
    };
    const rows = (count) => page.waitForFunction((wanted) => document.querySelectorAll('tbody tr').length === wanted, {}, count);
    await isAccessible(page);
    await add({ property: 'name', value: 'O' }, 'text', 'prefix');
    await press(page, 'Query');
    await rows(2);
    await add({ property: 'age', value: '18' }, 'number', 'ge');
    await press(page, 'Query');
    await rows(1);
    await sees(page, "O'Hara", 'table');
    await page.select('details select[name=how]', 'or');
    await add({ property: 'big', value: '70' }, 'Int64', 'eq');
    await press(page, 'Query');
    await rows(2);
    assert.equal(await page.$eval('input[name=filter]', ({ value }) => value), "((name ge 'O' and name lt 'P') and (age ge 18)) or (big eq 70L)");
    await press(page, 'Clear', 'details');
    await add({ property: 'name', value: "O'Hara" }, 'text', 'eq');
    await press(page, 'Query');
    await rows(1);
    await press(page, 'Clear', 'details');
    await add({ property: 'Timestamp', value: '2026-01-02T03:04:05Z' }, 'DateTime', 'gt');
    await press(page, 'Query');
    await rows(3);
    await add({ property: 'age', value: 'old' }, 'number', 'gt');
    await sees(page, '"old" is not a number.', 'details');
    await page.setViewport({ width: 360, height: 740 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it is wider than the screen');
});

test('entities are exported as CSV and JSON, and imported again with their types', async (t) => {
    const { page, folder, clientOf, look } = await start(t);
    const from = clientOf('source');
    await from.createTable();
    await from.createEntity({ partitionKey: 'p', rowKey: '1', ...EVERYTHING });
    await from.createEntity({ partitionKey: 'p', rowKey: '2', other: 'one' });
    const all = await entitiesOf(from);
    for (const [button, name] of [['Export CSV', 'source.csv'], ['Export JSON', 'source.json']]) {
        await look('source');
        await sees(page, 'quoted', 'table');
        await downloaded(page, folder, name, button);
        const into = clientOf(name.replace('.', ''));
        await into.createTable();
        await look(name.replace('.', ''));
        await sees(page, 'There are no such entities.');
        await press(page, 'Import…');
        await isAccessible(page);
        await (await page.waitForSelector('dialog input[type=file]')).uploadFile(path.join(folder, name));
        await press(page, 'Import', 'dialog');
        await page.waitForFunction(() => !document.querySelector('dialog'));
        await sees(page, 'quoted', 'table');
        assert.deepEqual(await entitiesOf(into), all, name);

        // What is there is overwritten only if that is wanted.
        await into.updateEntity({ partitionKey: 'p', rowKey: '2', other: 'changed' }, 'Replace');
        await press(page, 'Import…');
        await (await page.waitForSelector('dialog input[type=file]')).uploadFile(path.join(folder, name));
        await press(page, 'Import', 'dialog');
        await sees(page, 'EntityAlreadyExists', 'dialog');
        assert.equal((await into.getEntity('p', '2')).other, 'changed');
        await page.locator('dialog input[name=replaces]').click();
        await press(page, 'Import', 'dialog');
        await page.waitForFunction(() => !document.querySelector('dialog'));
        assert.deepEqual(await entitiesOf(into), all, name);
    }
    await writeFile(path.join(folder, 'wrong.csv'), 'PartitionKey,RowKey,n,n@type\r\na,1,"1\r\n');
    await press(page, 'Import…');
    await (await page.waitForSelector('dialog input[type=file]')).uploadFile(path.join(folder, 'wrong.csv'));
    await press(page, 'Import', 'dialog');
    await sees(page, 'The CSV is malformed', 'dialog');
});
