// What tests of the console share: a server with a management port, what its API is asked by, and a browser.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { run } from '../lib/program.mjs';
import { freePorts, Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(path.join(HERE, '../../console/package.json'));
const LONG_WAIT_MS = 1800000;
const PRESS_MS = 5000;
const ROW_PX = 34; /* of console/src/scroller.tsx */
const PICTURES = process.env.CONSOLE_PICTURES;

export const account = DEVELOPMENT.account;
export const key = DEVELOPMENT.key;

/** A server with a console: its address, a link for an operator, and its API asked as a page asks it. */
export async function startServer(t, { args = [], env = {}, secure = false } = {}) {
    const [port] = await freePorts(1);
    const server = await Server.start({ secure, args: ['--managementPort', `${port}`, ...args], env });
    t.after(() => server.kill().then(() => server.remove()));
    const url = `http://127.0.0.1:${port}`;
    return {
        server, port, url,
        link: async () => {
            const { code, output, errors } = await run(['console', '--location', server.location]);
            assert.equal(code, 0, errors);
            return output.trim();
        },
    };
}

/** Who asks the API, and keeps the cookie and the token that he gets. */
export class Visitor {
    cookie = '';
    token = '';

    constructor(url) {
        this.url = url;
    }

    async fetch(target, { method = 'GET', headers = {}, body } = {}) {
        const answer = await fetch(`${this.url}${target}`, {
            method, body, redirect: 'manual',
            headers: { Origin: this.url, ...(this.cookie && { Cookie: this.cookie }), ...headers },
        });
        const text = await answer.text();
        const cookie = answer.headers.get('set-cookie');
        if (cookie)
            this.cookie = cookie.split(';')[0];
        return { status: answer.status, headers: answer.headers, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
    }

    ask(operation, args = {}, headers = {}) {
        return this.fetch(`/console/api/${operation}`, {
            method: 'POST', body: JSON.stringify(args), headers: { 'Content-Type': 'application/json', 'x-lagra-console': this.token, ...headers },
        });
    }

    async signIn(by = { account, key }) {
        const answer = await this.ask('sign-in', by);
        assert.equal(answer.status, 200, answer.text);
        this.token = answer.json.token;
        return answer;
    }

    /** A target of the data, with a signature. */
    async data(service, target, query = '') {
        const { json } = await this.ask('sas', { account });
        return `/console/data/${service}/${account}${target}?${query}${query && '&'}${json.query}`;
    }
}

// ---- in a browser ----

let browser;

/** A page of a new profile; what the browser says that a script or the policy has failed with fails the test. */
export async function openPage(t, { width = 1280, height = 900, dark = false } = {}) {
    const { default: puppeteer } = await import(require.resolve('puppeteer-core'));
    const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
    assert.ok(existsSync(executablePath), `${executablePath} is missing: tools/prepare test installs it`);
    // In a container its own sandbox needs rights that root has given up.
    // What is waited for on a page is one call of its protocol, and may take as long as LONG_WAIT_MS.
    browser ??= await puppeteer.launch({ executablePath, protocolTimeout: LONG_WAIT_MS, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--lang=en-GB'] });
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    const problems = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && !/Failed to load resource/.test(message.text()) && problems.push(message.text()));
    page.on('dialog', (dialog) => problems.push(`a dialog: ${dialog.message()}`) && dialog.dismiss());
    page.setDefaultTimeout(60000);
    await page.setViewport({ width, height });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
    t.after(async () => {
        await context.close();
        assert.deepEqual(problems, []);
    });
    return page;
}

export async function closeBrowser() {
    await browser?.close();
    browser = undefined;
}

export async function signInByKey(page, url) {
    await page.goto(`${url}/console/`);
    await signInAgain(page);
}

/** On the page as it is, which asks for it. */
export async function signInAgain(page) {
    await page.locator('input[name=account]').fill(account);
    await page.locator('input[name=key]').fill(key);
    await page.locator('button[type=submit]').click();
    await page.waitForSelector('header nav');
}

/** Waits until the page has the text, and says what it has instead. */
export async function sees(page, text, selector = 'body') {
    try {
        await page.waitForFunction((wanted, where) => document.querySelector(where)?.innerText.includes(wanted), {}, text, selector);
    } catch {
        assert.fail(`"${text}" is not on the page:\n${await page.$eval('body', (body) => body.innerText)}`);
    }
}

/** Presses the button, link or summary of this text, the first of an area. A page that is being drawn may move it, or put another
 *  in its place, between being found and being pressed: then it is looked for once more. */
export async function press(page, text, within = 'body') {
    for (const end = Date.now() + PRESS_MS;; await delay(50)) {
        const wanted = await page.waitForFunction((label, where) => [...document.querySelectorAll(`${where} button, ${where} a, ${where} summary`)]
            .find((element) => element.innerText.trim() === label && !element.disabled && element.checkVisibility()), {}, text, within);
        const error = await wanted.asElement().click().then(() => null, (reason) => reason);

        if (!error)
            return;
        if (Date.now() > end)
            throw error;
    }
}

export async function fill(page, fields, within = 'dialog') {
    for (const [name, value] of Object.entries(fields))
        await page.locator(`${within} [name="${name}"]`).fill(value);
}

/** Types the name that a dialog asks for, and deletes. */
export async function confirm(page, name) {
    await fill(page, { confirm: name });
    await press(page, 'Delete', 'dialog');
}

/** The row comes to the top of a long list, and the list's end as far as it is known, again and again until all of it is. */
export async function scrollTo(page, row) {
    await page.$eval('.long', (box, top) => {
        box.scrollTop = top;
    }, row * ROW_PX);
}

export async function scrollToEnd(page) {
    await page.waitForFunction(() => {
        const box = document.querySelector('.long');
        box.scrollTop = box.scrollHeight;
        return document.querySelector('.count').innerText.endsWith('in total');
    }, { polling: 'raf', timeout: LONG_WAIT_MS });
}

/** What scripts of a page hold when their garbage is collected, in MiB. */
export async function heapOf(page) {
    const client = await page.createCDPSession();
    await client.send('Performance.enable');
    await client.send('HeapProfiler.collectGarbage');
    const { metrics } = await client.send('Performance.getMetrics');
    await client.detach();
    return metrics.find(({ name }) => name === 'JSHeapUsedSize').value / 2 ** 20;
}

/** A number of a file of /proc that names it; 0: the process has ended. */
function kernelMiB(pid, file, name) {
    try {
        return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1] ?? 0) / 1024;
    } catch {
        return 0;
    }
}

/** All processes of the browser, with their command lines. */
function processesOfBrowser() {
    const all = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n').map((line) => line.trim().split(/\s+/));
    const ours = new Set([String(browser.process().pid)]);
    for (let before = 0; before < ours.size;) {
        before = ours.size;
        for (const [pid, parent] of all)
            if (ours.has(parent))
                ours.add(pid);
    }
    return all.filter(([pid]) => ours.has(pid));
}

/** Looks at what the browser's pages take, in MiB, of memory: most(), the most that one of the processes that draw them had
 *  of its own, without the browser's program (some 120 MiB, which all of them share), ten times a second; browser(), what all
 *  processes have now, shares of what is shared. */
export function watchMemory(t) {
    let most = 0;
    const renderers = processesOfBrowser().filter(([, , ...args]) => args.includes('--type=renderer')).map(([pid]) => pid);
    const look = () => {
        most = Math.max(most, ...renderers.map((pid) => kernelMiB(pid, 'status', 'RssAnon') + kernelMiB(pid, 'status', 'RssShmem')));
    };
    const timer = setInterval(look, 100);
    t.after(() => clearInterval(timer));
    look();
    return {
        most: () => most,
        browser: () => processesOfBrowser().map(([pid]) => kernelMiB(pid, 'smaps_rollup', 'Pss')).reduce((sum, one) => sum + one, 0),
    };
}

/** Drops files and folders of this machine on an element, as from a file manager. */
export async function drop(page, selector, paths) {
    const element = await page.waitForSelector(selector);
    const { x, y, width, height } = await element.boundingBox();
    const client = await page.createCDPSession();
    const at = { x: x + width / 2, y: y + height / 2, data: { items: [], files: paths, dragOperationsMask: 1 } };
    for (const type of ['dragEnter', 'dragOver', 'drop'])
        await client.send('Input.dispatchDragEvent', { type, ...at });
    await client.detach();
}

/** So many bytes a second go up at most; 0: as many as there can be. */
export async function slowUploads(page, bytesPerSecond) {
    await page.emulateNetworkConditions({ upload: bytesPerSecond || -1, download: -1, latency: 0 });
}

/** No violation of accessibility rules, in the page as it is now. */
export async function isAccessible(page) {
    // As an extension's script, to which the policy of the page does not apply.
    await page.evaluate(await import('node:fs').then(({ readFileSync }) => readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')));
    const { violations } = await page.evaluate(() => window.axe.run());
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`), []);
}

/** A picture for docs/console.md, if pictures are wanted. */
export async function picture(page, name) {
    if (!PICTURES)
        return;
    await mkdir(PICTURES, { recursive: true });
    await page.screenshot({ path: path.join(PICTURES, `console-${name}.webp`), type: 'webp', quality: 70 });
}
