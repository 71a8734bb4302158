// Files in the console: renamed, with their attributes, what is open by SMB, shares that were deleted.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { SmbClient } from '../smb/smb_client.mjs';
import { account, closeBrowser, confirm, fill, isAccessible, openPage, press, sees, signInByKey, startServer, Visitor } from './setup.mjs';

const require = createRequire(new URL('../../console/package.json', import.meta.url));
const { ShareServiceClient } = require('@azure/storage-file-share');

after(closeBrowser);

async function start(t, args = []) {
    const { url, server } = await startServer(t, { args });
    const service = ShareServiceClient.fromConnectionString(server.connectionString);
    const share = service.getShareClient('docs');
    const page = await openPage(t);
    await share.create();
    await signInByKey(page, url);
    await page.evaluate((hash) => {
        location.hash = hash;
    }, `#/files/${account}/docs`);
    return { page, url, server, share };
}

async function put(folder, name, text) {
    const file = folder.getFileClient(name);
    await file.create(text.length);
    await file.uploadRange(text, 0, text.length);
    return file;
}

test('files and folders are renamed; attributes, types and metadata are changed', async (t) => {
    const { page, share } = await start(t);
    const root = share.rootDirectoryClient;
    await put(root, 'a.txt', 'a');
    await put(root, 'b.txt', 'b');
    await root.getDirectoryClient('old').create();
    await press(page, 'Reload');
    await page.locator('button[aria-label="Rename of a.txt"]').click();
    await fill(page, { name: 'b.txt' });
    await press(page, 'Rename', 'dialog');
    await sees(page, 'ResourceAlreadyExists', 'dialog');
    await isAccessible(page);
    await page.locator('dialog input[name=over]').click();
    await press(page, 'Rename', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog') && !document.querySelector('table').innerText.includes('a.txt'));
    assert.equal(String(await root.getFileClient('b.txt').downloadToBuffer()), 'a');
    await page.locator('button[aria-label="Rename of old"]').click();
    await fill(page, { name: 'new folder' });
    await press(page, 'Rename', 'dialog');
    await sees(page, 'new folder', 'table');
    assert.equal(await root.getDirectoryClient('new folder').exists(), true);

    await page.locator('button[aria-label="Properties of b.txt"]').click();
    await page.locator('dialog input[name=is-hidden]').click();
    await page.locator('dialog input[name=is-readonly]').click();
    await fill(page, { type: 'text/plain', pairs: 'owner = me' });
    await isAccessible(page);
    await press(page, 'Save', 'dialog');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    const properties = await root.getFileClient('b.txt').getProperties();
    assert.match(properties.fileAttributes, /ReadOnly/);
    assert.match(properties.fileAttributes, /Hidden/);
    assert.deepEqual([properties.contentType, properties.metadata], ['text/plain', { owner: 'me' }]);
    await page.locator('button[aria-label="Properties of b.txt"]').click();
    await page.waitForSelector('dialog input[name=is-hidden]');
    assert.equal(await page.$eval('dialog input[name=is-hidden]', ({ checked }) => checked), true);
});

test('open handles of SMB clients are listed and closed', async (t) => {
    const { page, server, share } = await start(t, ['--smbPort', '0']);
    await put(share.rootDirectoryClient, 'open.txt', 'x');
    const smb = await SmbClient.start(server.ports.smb, 'docs');
    t.after(() => smb.stop());
    await smb.open('one', 'open.txt', { access: 'RW', shares: 'RWD' });
    await smb.open('two', 'open.txt', { access: 'RW', shares: 'RWD' });
    await press(page, 'Reload');
    await page.locator('button[aria-label="Handles of open.txt"]').click();
    await page.waitForFunction(() => document.querySelectorAll('dialog tbody tr').length === 2);
    await isAccessible(page);
    await press(page, 'Close', 'dialog tbody');
    await page.waitForFunction(() => document.querySelectorAll('dialog tbody tr').length === 1);
    await press(page, 'Close all', 'dialog');
    await sees(page, 'There are no open handles.', 'dialog');
    assert.equal((await smb.do('write', { name: 'one', offset: 0, text: 'late' })).status, 'C0000128'); // FILE_CLOSED
});

test('a soft-deleted share is restored', async (t) => {
    const { page, url, share } = await start(t);
    const visitor = new Visitor(url);
    await visitor.signIn();
    const policy = '<StorageServiceProperties><ShareDeleteRetentionPolicy><Enabled>true</Enabled><Days>2</Days></ShareDeleteRetentionPolicy></StorageServiceProperties>';
    const { status } = await visitor.fetch(await visitor.data('file', '/', 'restype=service&comp=properties'), { method: 'PUT', body: policy, headers: { 'x-ms-version': '2022-11-02' } });
    assert.equal(status, 202);
    await put(share.rootDirectoryClient, 'kept.txt', 'kept');
    await press(page, 'Shares', '.crumbs');
    await page.locator('button[aria-label="Delete docs"]').click();
    await sees(page, '1 file, 4 B', 'dialog');
    await confirm(page, 'docs');
    await sees(page, 'Deleted shares');
    await isAccessible(page);
    assert.equal(await share.exists(), false);
    await press(page, 'Restore');
    await page.waitForFunction(() => !document.body.innerText.includes('Deleted shares'));
    assert.equal(String(await share.rootDirectoryClient.getFileClient('kept.txt').downloadToBuffer()), 'kept');
});
