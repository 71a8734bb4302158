// The console while the server or the network is away, after an upgrade, and with what others change meanwhile.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { run } from '../lib/program.mjs';
import { account, closeBrowser, isAccessible, key, openPage, press, sees, signInAgain, signInByKey, startServer } from './setup.mjs';

const require = createRequire(new URL('../../console/package.json', import.meta.url));
const { BlobServiceClient, StorageSharedKeyCredential } = require('@azure/storage-blob');
const AWAY = 'The server cannot be reached.';

after(closeBrowser);

async function start(t) {
    const { url, server, link } = await startServer(t);
    await new BlobServiceClient(server.url, new StorageSharedKeyCredential(account, key)).getContainerClient('here').create();
    const page = await openPage(t);
    return { url, server, link, page };
}

/** Presses the button that retries, unless the page has just retried by itself. */
async function retry(page) {
    await page.evaluate(() => [...document.querySelectorAll('[role=alert] button')].find(({ innerText }) => innerText === 'Try again')?.click());
}

/** Waits for the alert without "Loading" beside it. The alert may still be the previous page's, and each retry shows "Loading" again. */
async function seesOnlyAlert(page, text) {
    await page.waitForFunction((wanted) => document.querySelector('main [role=alert]')?.innerText.includes(wanted)
        && !document.querySelector('main').innerText.includes('Loading'), {}, text);
}

test('without a network, each page reports it and offers a retry, which works once the network is back', async (t) => {
    const { url, page } = await start(t);
    await signInByKey(page, url);
    await page.setOfflineMode(true);
    for (const title of ['Blobs', 'Queues', 'Tables', 'Files']) {
        await press(page, title, 'header');
        await seesOnlyAlert(page, AWAY);
    }
    await isAccessible(page);
    await press(page, 'Blobs', 'header');
    await sees(page, AWAY, 'main [role=alert]');
    await sees(page, 'Try again', 'main [role=alert]');
    await page.setOfflineMode(false);
    await retry(page);
    await sees(page, 'here', 'table');
    assert.equal(await page.$('main [role=alert]'), null);

    // Also where the page's script is loaded, and only the list is missing.
    await page.setOfflineMode(true);
    await press(page, 'Reload', 'main');
    await sees(page, AWAY, 'main [role=alert]');
    await press(page, 'here', 'table');
    await seesOnlyAlert(page, AWAY);
    await page.setOfflineMode(false);
    await sees(page, 'There are no blobs here.'); // it retries by itself, too
});

test('a server that does not respond is reported after half a minute', async (t) => {
    const { url, page } = await start(t);
    await signInByKey(page, url);
    await page.setRequestInterception(true);
    page.on('request', (request) => {
        if (!/comp=list/.test(request.url()))
            void request.continue();
    });
    await press(page, 'Blobs', 'header');
    await seesOnlyAlert(page, 'The server has not responded for 30 seconds.');
});

test('a page opened while the server is down reports it, keeps the session, and continues when the server is back', async (t) => {
    const { url, page } = await start(t);
    await signInByKey(page, url);
    await page.setRequestInterception(true);
    let isAway = true;
    page.on('request', (request) => void (isAway && request.url().includes('/api/') ? request.abort('connectionrefused') : request.continue()));
    await page.reload();
    await sees(page, AWAY, '[role=alert]');
    assert.equal(await page.$('input[name=key]'), null, 'the user is asked to sign in again');
    await isAccessible(page);
    await sees(page, 'Try again', '[role=alert]');
    isAway = false;
    await retry(page);
    await page.waitForSelector('header nav');
});

test('a session that has ended is reported where the user signs in again', async (t) => {
    const { url, server, page } = await start(t);
    await signInByKey(page, url);
    await press(page, 'Blobs', 'header');
    await sees(page, 'here', 'table');
    await server.kill();
    await press(page, 'Reload', 'main');
    await sees(page, AWAY, 'main [role=alert]');
    await server.restart();
    await sees(page, 'The session has ended. Sign in again.'); // sessions end with the process
    await signInAgain(page);
    await sees(page, 'here', 'table');
});

// The scripts of pages have a hash of their content in their names, so those of the older build are gone.
test('after an upgrade, a page whose script no longer exists reports it and offers to reload', async (t) => {
    const { url, page } = await start(t);
    await signInByKey(page, url);
    await page.setRequestInterception(true);
    let isUpgraded = true;
    page.on('request', (request) => {
        if (isUpgraded && /\/queues-[A-Z0-9]+\.js$/.test(request.url()))
            void request.respond({ status: 404, contentType: 'application/json', body: '{"code":"NoSuchPage","error":"The console has no such page."}' });
        else if (isUpgraded && request.url().endsWith('/console/') && request.resourceType() === 'fetch')
            void request.respond({ status: 200, contentType: 'text/html', body: '<script type="module" src="app-NEWBUILD.js"></script>' });
        else
            void request.continue();
    });
    await press(page, 'Queues', 'header');
    await seesOnlyAlert(page, 'The server was upgraded while this page was open.');
    await isAccessible(page);
    isUpgraded = false;
    await press(page, 'Reload the page', 'main');
    await sees(page, 'There are no queues.');
});

test('a link pasted into the address bar or the form of the sign-in page signs in', async (t) => {
    const { url, link, page } = await start(t);
    await page.goto(`${url}/console/`);
    await page.waitForSelector('input[name=link]');
    await isAccessible(page);
    // In the address, only the part behind "#" is new, so the browser loads nothing.
    const pasted = await link();
    await page.evaluate((address) => {
        location.href = address;
    }, pasted);
    await sees(page, 'operator', 'header');
    assert.equal(new URL(page.url()).hash, '');
    await press(page, 'Sign out');
    for (const text of ['not a link', pasted]) {
        await page.locator('input[name=link]').fill(text);
        await press(page, 'Sign in with the link');
        await sees(page, text === pasted ? 'The link has been used' : 'This is not a sign-in link.', '[role=alert]');
    }
    await page.locator('input[name=link]').fill(` ${await link()}\n`);
    await press(page, 'Sign in with the link');
    await sees(page, 'operator', 'header');
    // Who is signed in with a key becomes the operator by a link; a used link leaves the session as it is.
    await press(page, 'Sign out');
    await page.waitForSelector('input[name=key]');
    await signInAgain(page);
    await sees(page, account, 'header');
    await page.evaluate((address) => {
        location.href = address;
    }, pasted);
    await sees(page, 'The link has been used', 'main [role=alert]');
    await sees(page, account, 'header');
    const fresh = await link();
    await page.evaluate((address) => {
        location.href = address;
    }, fresh);
    await sees(page, 'operator', 'header');
});

test('new accounts can be selected without a reload, whoever created them', async (t) => {
    const { link, server, page } = await start(t);
    await page.goto(await link());
    await press(page, 'Accounts', 'header');
    await press(page, 'New account');
    await page.locator('dialog input[name=name]').fill('photos');
    await press(page, 'Create', 'dialog');
    await press(page, 'Done', 'dialog');
    const offered = (name) => page.waitForFunction((wanted) => [...document.querySelectorAll('header select option')].some(({ value }) => value === wanted), {}, name);
    await offered('photos');
    assert.equal((await run(['account', 'add', 'videos', '--location', server.location])).code, 0);
    await offered('videos');
    await page.select('header select', 'videos');
    await press(page, 'Blobs', 'header');
    await sees(page, 'There are no containers.');
    await page.waitForFunction(() => location.hash === '#/blobs/videos');
});

// What the server does with the header takes half an hour to be seen (console_session() does not count such requests).
test('an open page marks the requests of its timers, so that they do not keep the session alive', async (t) => {
    const { link, page } = await start(t);
    await page.goto(await link());
    await sees(page, 'Slowest requests', 'main');
    const seen = [];
    page.on('request', (request) => seen.push([request.url().replace(/.*\/api\//, ''), 'x-lagra-console-timer' in request.headers()]));
    for (let i = 0; i < 80 && !['session', 'admin/slowest', 'admin/todo', 'figures'].every((operation) => seen.some(([name]) => name === operation)); i++)
        await new Promise((resolve) => setTimeout(resolve, 500));
    assert.ok(seen.some(([operation]) => operation === 'session'), 'the session is not polled');
    assert.deepEqual(seen.filter(([operation, isTimed]) => !isTimed && operation !== 'figures' && operation !== 'storage'), []);
});
