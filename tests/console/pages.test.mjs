// The pages, in a browser: signing in and out, the overview, that they are accessible and of any width.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../lib/program.mjs';
import { account, closeBrowser, fill, isAccessible, openPage, picture, press, sees, signInByKey, startServer, Visitor } from './setup.mjs';

after(closeBrowser);

/** A signature for the account, as the pages get it. */
async function sasOf(url) {
    const visitor = new Visitor(url);
    await visitor.signIn();
    return (await visitor.ask('sas', { account })).json.query;
}

test('a correct account key signs in, a wrong one does not, and signing out ends the session', async (t) => {
    const { url } = await startServer(t);
    const page = await openPage(t);
    await page.goto(`${url}/console/`);
    await page.waitForSelector('form');
    await isAccessible(page);
    await picture(page, 'sign-in');
    await page.locator('input[name=account]').fill(account);
    await page.locator('input[name=key]').fill('d3Jvbmc=');
    await page.locator('button[type=submit]').click();
    await sees(page, 'Wrong account or key.');
    await signInByKey(page, url);
    assert.equal(await page.evaluate(() => document.cookie), '');
    await page.reload();
    await page.waitForSelector('header nav');
    await press(page, 'Sign out');
    await page.waitForSelector('input[name=key]');
    await page.reload();
    await page.waitForSelector('input[name=key]');
});

test('a link signs in once, and is removed from the address bar', async (t) => {
    const { link, server } = await startServer(t);
    const page = await openPage(t);
    const address = await link();
    await page.goto(address);
    await page.waitForSelector('header nav');
    assert.equal(new URL(page.url()).hash, '');
    await sees(page, 'operator', 'header');
    await fetch(`${server.url}/none/none`);
    await page.reload();
    await sees(page, '/devstoreaccount1/none/none', 'main'); // of the slowest requests
    await isAccessible(page);
    const other = await openPage(t);
    await other.goto(address);
    await sees(other, 'The link has been used');
});

/** What makes plots worth a picture: for two minutes more and less of everything. */
async function someLoad(visitor) {
    const { query } = (await visitor.ask('sas', { account })).json;
    const ask = async (service, method, target, { body, headers, accept } = {}) => (await visitor.fetch(`/console/data/${service}/${account}${target}${target.includes('?') ? '&' : '?'}${query}`,
        { method, body, headers: { 'x-ms-version': '2021-12-02', ...headers, ...(accept && { Accept: accept }) } })).text;
    await ask('blob', 'PUT', '/photos?restype=container');
    await ask('queue', 'PUT', '/work');
    const began = performance.now();
    for (let i = 0; performance.now() - began < 120000; i++) {
        const seconds = (performance.now() - began) / 1000;
        const put = ask('blob', 'PUT', `/photos/${i % 100}`, { body: 'x'.repeat((i % 64) << 10), headers: { 'x-ms-blob-type': 'BlockBlob' } });
        await Promise.all([put, ask('queue', 'GET', '/work/messages?peekonly=true'), ask('table', 'GET', '/Tables', { accept: 'application/json' }), ask('file', 'GET', '/?comp=list')].slice(0, 1 + i % 4));
        await delay(20 + 60 * (1 + Math.sin(seconds / 9)));
    }
}

test('the overview shows server activity, in light and dark, on a wide screen and a phone', async (t) => {
    const { url } = await startServer(t);
    const visitor = new Visitor(url);
    await visitor.signIn();
    for (let i = 0; i < 20; i++)
        await visitor.fetch(await visitor.data('blob', i % 2 ? '/' : '/none/none', i % 2 ? 'comp=list' : ''));
    if (process.env.CONSOLE_PICTURES)
        await someLoad(visitor);
    for (const look of [{}, { dark: true }, { width: 360, height: 740 }]) {
        const page = await openPage(t, look);
        await signInByKey(page, url);
        await sees(page, 'ContainerNotFound');
        // The first sample says what to count from, the second one is shown.
        await page.waitForSelector('.plot svg path.line-3[d^=M]');
        assert.equal(await page.$$eval('.plot', (plots) => plots.length), 9);
        await isAccessible(page);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it is wider than the screen');
        await picture(page, `overview${look.dark ? '-dark' : look.width ? '-phone' : ''}`);
    }
});

test('charts have axes, show the values at the pointer, and the stored bytes over time', async (t) => {
    const { url } = await startServer(t);
    const visitor = new Visitor(url);
    await visitor.signIn();
    await visitor.fetch(await visitor.data('blob', '/ccc', 'restype=container'), { method: 'PUT' });
    await visitor.fetch(await visitor.data('blob', '/ccc/large'), { method: 'PUT', body: Buffer.alloc(3 << 20), headers: { 'x-ms-blob-type': 'BlockBlob' } });
    const page = await openPage(t);
    await signInByKey(page, url);
    await page.waitForSelector('.plot svg path[d^=M]');
    const plots = await page.$$eval('.plot', (all) => all.map((plot) => ({
        title: plot.querySelector('h3').innerText,
        y: [...plot.querySelectorAll('.tick-y text')].map(({ textContent }) => textContent),
        x: [...plot.querySelectorAll('.tick-x text')].map(({ textContent }) => textContent),
        isCut: [...plot.querySelectorAll('text')].some((text) => {
            const [inner, outer] = [text.getBoundingClientRect(), plot.getBoundingClientRect()];
            return inner.left < outer.left || inner.right > outer.right;
        }),
    })));
    for (const { title, y, x, isCut } of plots) {
        assert.ok(y.length >= 2 && /^0/.test(y[0]) && new Set(y).size === y.length, `${title}: ${y}`);
        assert.ok(x.length >= 1 && x.every((label) => /\d:\d\d/.test(label)), `${title}: ${x}`);
        assert.equal(isCut, false, title);
    }
    for (const title of ['Stored data', 'Free disk space'])
        assert.ok(plots.find((plot) => plot.title === title).y.every((label) => /B$/.test(label)), title);
    assert.ok(plots.find(({ title }) => title === 'Open connections').y.every((label) => /^\d+$/.test(label)), 'connections are whole numbers');

    const chart = await page.$('::-p-xpath(//h3[text()="Stored data"]/ancestor::figure//*[name()="svg"])');
    await chart.scrollIntoView();
    const { x, y, width, height } = await chart.boundingBox();
    await page.mouse.move(x + width - 15, y + height / 2);
    await page.waitForFunction(() => /\d:\d\d:\d\d[^]*[3-9](\.\d)? MiB/.test(document.querySelector('.tip')?.innerText));
    assert.ok(await page.$('.cursor circle'));
    await isAccessible(page);
    await page.mouse.move(5, 5);
    await page.waitForFunction(() => !document.querySelector('.tip'));
    // By keyboard: from the newest sample back.
    await chart.evaluate((svg) => svg.focus());
    await page.keyboard.press('ArrowLeft');
    await page.waitForSelector('.tip');

    const { json } = await visitor.ask('storage');
    const [[at, stored, free]] = json.storage;
    assert.ok(Math.abs(at - Date.now() / 1000) < 60 && stored >= 0 && free > 0, JSON.stringify(json));
});

test('on a phone the header is one line, and its menu has all pages, the account and sign-out', async (t) => {
    const { link, server } = await startServer(t);
    assert.equal((await run(['account', 'add', 'photos', '--location', server.location])).code, 0);
    for (const look of [{ width: 360, height: 740 }, { width: 360, height: 740, dark: true }, { width: 700 }, { width: 1024 }, {}]) {
        const page = await openPage(t, look);
        await page.goto(await link());
        await page.waitForSelector('header nav');
        assert.ok(await page.$eval('header', (header) => header.getBoundingClientRect().height) <= 56, `${look.width}: the header has more than a line`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${look.width}: it is wider than the screen`);
        const hasMenu = await page.$eval('.menu-button', (button) => button.checkVisibility());
        assert.equal(hasMenu, look.width !== undefined, `${look.width}`);
        if (!hasMenu)
            continue;
        await page.locator('.menu-button').click();
        assert.equal(await page.$eval('.menu-button', (button) => button.ariaExpanded), 'true');
        await isAccessible(page);
        await sees(page, 'Sign out', 'header');
        assert.ok(await page.$('header select'));
        await press(page, 'Queues', 'header nav');
        await sees(page, 'Queues', 'h1');
        await page.waitForFunction(() => document.querySelector('.menu-button').ariaExpanded === 'false');
        assert.equal(await page.$eval('.menu', (menu) => menu.checkVisibility()), false);
    }
});

test('an operator changes the log level and starts a scrub', async (t) => {
    const { link, server } = await startServer(t);
    const page = await openPage(t);
    await page.goto(await link());
    await press(page, 'Server', 'header');
    await page.waitForSelector('select[name=level]');
    await page.select('select[name=level]', 'debug');
    await page.waitForFunction(() => document.querySelector('select[name=level]')?.value === 'debug' && !document.querySelector('main .problem'));
    for (let level = ''; level !== 'debug';)
        level = JSON.parse((await run(['status', '--json', '--location', server.location])).output).logLevel;
    await press(page, 'Start a scrub');
    await page.waitForFunction(() => /Completed scrubs\s+1/.test(document.querySelector('main').innerText));
    await isAccessible(page);
});

test('an operator sees the version and configuration', async (t) => {
    const { link, port } = await startServer(t, { args: ['--slow', '90s'], env: { LAGRA_ACCOUNT_REQUESTS: '5000' } });
    const page = await openPage(t);
    await page.goto(await link());
    await press(page, 'Server', 'header');
    await sees(page, 'management', 'main'); // one of the listeners
    await sees(page, 'healthy', 'main');
    const rows = () => page.$$eval('[aria-label=Configuration] tbody tr', (all) => all.map((row) => [...row.children].map(({ innerText }) => innerText)));
    await page.waitForSelector('[aria-label=Configuration]');
    const set = await rows();
    for (const row of [['managementPort', `${port}`, '--managementPort'], ['slow', '90000ms', '--slow'], ['accountRequests', '5000', 'LAGRA_ACCOUNT_REQUESTS']])
        assert.deepEqual(set.find(([name]) => name === row[0]), row);
    assert.ok(!set.some(([, , origin]) => origin === 'default'));
    await isAccessible(page);
    await picture(page, 'server');
    await page.locator('input[name=defaults]').click();
    await page.waitForFunction(() => document.querySelector('[aria-label=Configuration]').innerText.includes('diskReserve'));
    assert.ok((await rows()).length > set.length + 50);
});

test('an operator sees background tasks and the progress of a backup', async (t) => {
    const { link, url, server } = await startServer(t);
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-console-'));
    t.after(() => rm(folder, { recursive: true }));
    const visitor = new Visitor(url);
    await visitor.signIn();
    const put = async (target, query, body) => (await visitor.fetch(await visitor.data('blob', target, query), { method: 'PUT', body })).status;
    assert.equal(await put('/ccc', 'restype=container'), 201);
    const page = await openPage(t);
    await page.goto(await link());
    await sees(page, 'There are no pending tasks.');
    assert.equal(await put('/ccc/b', 'comp=block&blockid=YQ%3D%3D', 'x'), 201);
    await page.reload();
    await sees(page, 'delete blocks that were never committed', 'main');
    await press(page, 'Server', 'header');
    await sees(page, 'makes a backup while the server is running');
    const { code, errors } = await run(['backup', folder, '--location', server.location], {}, 60000);
    assert.equal(code, 0, errors);
    await page.waitForFunction(() => /Result\s+complete/.test(document.querySelector('main').innerText));
    await isAccessible(page);
});

// Fault rules exist only on a server started for tests; others have no such page. docs/fault-injection.md
test('fault rules are added, displayed as they fire, and removed', async (t) => {
    const { url, server } = await startServer(t, { args: ['--testing', '--inMemoryPersistence'] });
    const page = await openPage(t);
    await signInByKey(page, url);
    await press(page, 'Faults', 'header');
    await sees(page, 'There are no rules');
    await press(page, 'New rule');
    await fill(page, { id: 'bad name', 'match-operation': 'List Containers' });
    await press(page, 'Add', 'dialog');
    await sees(page, 'a name must have up to 64 letters', 'dialog');
    await isAccessible(page);
    await fill(page, { id: 'busy' });
    await press(page, 'Add', 'dialog');
    await sees(page, 'error ServerBusy', 'table');
    await press(page, 'New rule');
    await fill(page, { id: 'cut', rule: '{"match": {"service": "queue"}, "fault": {"cut": "afterAnswer"}, "when": {"count": 5, "skip": 1}}' });
    await press(page, 'Add', 'dialog');
    await sees(page, 'count 5, skip 1', 'table');
    await isAccessible(page);
    await picture(page, 'faults');
    assert.equal((await fetch(`${server.url}?comp=list&${(await sasOf(url))}`)).status, 503);
    await page.waitForFunction(() => /busy\s+ended\s+1\s+1/.test(document.querySelector('table').innerText));
    assert.equal((await fetch(`${server.url}?comp=list&${(await sasOf(url))}`)).status, 200);
    await page.locator('button[aria-label="End busy"]').click();
    await page.waitForFunction(() => !document.querySelector('table').innerText.includes('busy'));
    await press(page, 'End all');
    await sees(page, 'There are no rules');
    const other = await openPage(t);
    await signInByKey(other, (await startServer(t)).url);
    assert.equal(await other.$$eval('header nav a', (links) => links.some(({ innerText }) => innerText === 'Faults')), false);
});

test('the menu works with the keyboard only', async (t) => {
    const { url } = await startServer(t);
    const page = await openPage(t);
    await signInByKey(page, url);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.innerText), 'Skip to content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
});
