// Accounts with a hierarchical namespace in the console: directories, renames, access control lists, deletions.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { account, closeBrowser, fill, isAccessible, key, openPage, picture, press, sees, signInByKey, startServer, Visitor } from './setup.mjs';

const require = createRequire(new URL('../clients/package.json', import.meta.url));
const { BlobServiceClient } = require('@azure/storage-blob');
const { DataLakeServiceClient, StorageSharedKeyCredential } = require('@azure/storage-file-datalake');

after(closeBrowser);

/** A server whose account is hierarchical, with a filesystem of some files, and a browser that shows it. */
async function start(t, files = []) {
    const { url, server } = await startServer(t, { args: ['--hierarchical'] });
    const filesystem = new DataLakeServiceClient(server.urlOf('dfs'), new StorageSharedKeyCredential(account, key)).getFileSystemClient('lake');
    await filesystem.create();
    for (const name of files)
        await filesystem.getFileClient(name).upload(Buffer.from(name));
    const page = await openPage(t);
    await signInByKey(page, url);
    const look = (rest = '') => page.evaluate((hash) => {
        location.hash = hash;
    }, `#/blobs/${account}/lake${rest}`);
    await look();
    return { url, page, filesystem, look, server };
}

async function pathsOf(filesystem) {
    const names = [];
    for await (const { name, isDirectory } of filesystem.listPaths({ recursive: true }))
        names.push(name + (isDirectory ? '/' : ''));
    return names;
}

/** The dialog has closed: what it did has succeeded. */
const done = (page) => page.waitForFunction(() => !document.querySelector('dialog'), { timeout: 10000 }).catch(async () => {
    assert.fail(await page.$eval('dialog', ({ innerText }) => innerText));
});

test('the session names the hierarchical accounts, and the overview counts requests of the Data Lake endpoint', async (t) => {
    const { url, filesystem } = await start(t, ['f']);
    const visitor = new Visitor(url);
    await visitor.signIn();
    const { json } = await visitor.ask('session');
    assert.deepEqual([json.accounts, json.hierarchical], [[account], [account]]);
    for (let figures; !figures?.samples.some((sample) => sample[1 + figures.figures.indexOf('dfs')] > 0);) {
        await filesystem.getFileClient('f').getSystemProperties();
        figures = (await visitor.ask('figures')).json;
        assert.deepEqual(figures.figures.slice(0, 5), ['blob', 'queue', 'table', 'file', 'dfs']);
    }
    const flat = await startServer(t);
    const other = new Visitor(flat.url);
    await other.signIn();
    assert.deepEqual((await other.ask('session')).json.hierarchical, []);
});

test('directories are created, shown when they are empty, renamed and deleted', async (t) => {
    const { page, filesystem, look } = await start(t, ['a/one', 'a/b/two', 'top']);
    await press(page, 'Blobs', 'header');
    await sees(page, 'This account has a hierarchical namespace');
    await look();
    await sees(page, '$superuser', 'section[aria-label=Directory]');
    await press(page, 'New directory…');
    await fill(page, { name: 'empty dir' });
    await press(page, 'Create', 'dialog');
    await sees(page, 'empty dir/', '.long');
    await isAccessible(page);
    await press(page, 'New directory…');
    await fill(page, { name: 'a' });
    await press(page, 'Create', 'dialog');
    await sees(page, 'PathAlreadyExists', 'dialog');
    await press(page, 'Cancel', 'dialog');

    await press(page, 'a/', '.long');
    await sees(page, 'rwxr-x---', 'section[aria-label=Directory]');
    await picture(page, 'directory');
    await press(page, 'Rename…');
    await fill(page, { path: 'empty dir/moved' });
    await press(page, 'Rename', 'dialog');
    await sees(page, 'moved', 'h1');
    await sees(page, 'one', '.long');
    assert.deepEqual(await pathsOf(filesystem), ['empty dir/', 'empty dir/moved/', 'empty dir/moved/b/', 'empty dir/moved/b/two', 'empty dir/moved/one', 'top']);

    await press(page, 'Delete directory…');
    await sees(page, '2 blobs and 2 folders', 'dialog');
    await press(page, 'Delete 4', 'dialog');
    await sees(page, 'empty dir', 'h1');
    await sees(page, 'There are no blobs here.');
    assert.deepEqual(await pathsOf(filesystem), ['empty dir/', 'top']);
});

test('files are renamed, and replaced only if that is requested', async (t) => {
    const { page, filesystem } = await start(t, ['d/there', 'file']);
    await press(page, 'file', '.long');
    await sees(page, 'rw-r-----', 'aside');
    assert.deepEqual(await page.$$eval('aside button', (all) => all.map(({ innerText }) => innerText).filter((text) => /Tags|Rename|Access/.test(text))), ['Rename…', 'Access control…']);
    await press(page, 'Rename…', 'aside');
    await fill(page, { path: 'd/there' });
    await press(page, 'Rename', 'dialog');
    await sees(page, 'PathAlreadyExists', 'dialog');
    await page.locator('dialog input[name=over]').click();
    await press(page, 'Rename', 'dialog');
    await sees(page, 'there', 'aside h2');
    assert.deepEqual(await pathsOf(filesystem), ['d/', 'd/there']);
    assert.equal((await filesystem.getFileClient('d/there').readToBuffer()).toString(), 'file');
});

test('owner, group, permissions and access control lists are set, of one path and of everything in a directory', async (t) => {
    const { page, filesystem } = await start(t, ['a/b/file', 'a/top']);
    const of = async (path) => {
        const { owner, group, acl } = await filesystem.getFileClient(path).getAccessControl();
        return { owner, group, users: acl.filter(({ entityId }) => entityId).map(({ entityId }) => entityId) };
    };
    await press(page, 'a/', '.long');
    await press(page, 'Access control…');
    await isAccessible(page);
    await fill(page, { owner: 'ann', group: 'staff', entries: 'user::rwx\nuser:bob:r-x\ngroup::r-x\nmask::r-x\nother::---\ndefault:user:carl:rwx' });
    await press(page, 'Save', 'dialog');
    await done(page);
    await sees(page, 'ann', 'section[aria-label=Directory]');
    await sees(page, 'rwxr-x---+', 'section[aria-label=Directory]');
    await sees(page, 'user:bob:r-x', 'section[aria-label=Directory]');
    assert.deepEqual(await of('a'), { owner: 'ann', group: 'staff', users: ['bob', 'carl'] });
    await press(page, 'Access control…');
    await fill(page, { permissions: '1777' });
    await press(page, 'Save', 'dialog');
    await sees(page, 'rwxrwxrwt+', 'section[aria-label=Directory]');
    await press(page, 'Access control…');
    await fill(page, { permissions: '0700', entries: 'user::rwx\ngroup::---\nother::---' });
    await press(page, 'Save', 'dialog');
    await sees(page, 'Change either the permissions or the list', 'dialog');
    await press(page, 'Cancel', 'dialog');

    await press(page, 'Access control of everything here…');
    await fill(page, { entries: 'user:dora:r-x' });
    await press(page, 'Apply', 'dialog');
    await done(page);
    for (const path of ['a/b', 'a/b/file', 'a/top'])
        assert.deepEqual((await of(path)).users.filter((name) => name === 'dora'), ['dora'], path);
    await press(page, 'Access control of everything here…');
    await page.select('dialog select[name=mode]', 'remove');
    await fill(page, { entries: 'user:dora:r-x' });
    await press(page, 'Apply', 'dialog');
    await done(page);
    assert.ok(!(await of('a/b/file')).users.includes('dora'));
});

test('marked files and directories are deleted, a directory in one request', async (t) => {
    const { page, filesystem } = await start(t, ['keep/x', 'gone/a/1', 'gone/2', 'file']);
    for (const name of ['gone/', 'file'])
        await page.locator(`.long input[aria-label="Mark ${name}"]`).click();
    const requests = [];
    page.on('request', (request) => request.method() === 'DELETE' && requests.push(new URL(request.url()).pathname));
    await press(page, 'Delete 2 marked…');
    await sees(page, '3 blobs and 2 folders', 'dialog');
    await press(page, 'Delete 5', 'dialog');
    await done(page);
    assert.deepEqual(requests.sort(), [`/console/data/blob/${account}/lake/file`, `/console/data/dfs/${account}/lake/gone`]);
    assert.deepEqual(await pathsOf(filesystem), ['keep/', 'keep/x']);
});

test('deleted paths are listed with their deletions, and each is restored', async (t) => {
    const { page, filesystem, look, server } = await start(t, ['a/one', 'a/b/two', 'top', 'gone']);
    await new BlobServiceClient(server.urlOf('blob'), new StorageSharedKeyCredential(account, key)).setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
    await filesystem.getFileClient('gone').delete();
    await filesystem.getFileClient('gone').upload(Buffer.from('second'));
    await filesystem.getFileClient('gone').delete();
    await filesystem.getDirectoryClient('a/b').delete(true);
    await look();
    await sees(page, 'top', '.long');
    await page.click('input[name=deleted]');
    await sees(page, 'a/b', '[aria-label="Deleted paths"]');
    const rows = () => page.$$eval('[aria-label="Deleted paths"] del', (all) => all.map(({ textContent }) => textContent));
    assert.deepEqual(await rows(), ['a/b', 'gone', 'gone']);
    assert.match(await page.$eval('[aria-label="Deleted paths"]', ({ innerText }) => innerText), /a\/b\s[^]*folder[^]*6 days left/);
    await isAccessible(page);

    // The older deletion, by its id: the second button of the name.
    const buttons = await page.$$('[aria-label="Undelete gone"]');
    await buttons[1].click();
    await page.waitForFunction(() => document.querySelectorAll('[aria-label="Undelete gone"]').length === 1);
    assert.equal(String(await filesystem.getFileClient('gone').readToBuffer()), 'gone');
    await page.click('[aria-label="Undelete gone"]');
    await sees(page, 'already exists', '[role=alert]');
    await page.click('[aria-label="Undelete a/b"]');
    await page.waitForFunction(() => !document.querySelector('[aria-label="Undelete a/b"]'));
    assert.deepEqual(await pathsOf(filesystem), ['a/', 'a/b/', 'a/b/two', 'a/one', 'gone', 'top']);
    await look('/a%2F');
    await sees(page, 'one', '.long');
    await page.click('input[name=deleted]');
    await sees(page, 'No deleted paths are retained here.');
});
