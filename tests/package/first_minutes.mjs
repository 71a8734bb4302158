// What a newcomer does next: waits for the link that `make run` prints, and opens it in a browser. first_minutes.mjs LOG, the
// file that has what `make run` says.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';

const START_LIMIT_MS = 60000;
const require = createRequire(new URL('../../console/package.json', import.meta.url));
const { default: puppeteer } = await import(require.resolve('puppeteer-core'));

async function linkIn(log) {
    for (const until = Date.now() + START_LIMIT_MS; ; await delay(100)) {
        const said = existsSync(log) ? readFileSync(log, 'utf8') : '';
        const [, link] = said.match(/^Lagra's console: (http:\S+)$/m) ?? [];
        if (link)
            return link;
        assert.ok(Date.now() < until, `no link is printed:\n${said}`);
    }
}

const link = await linkIn(process.argv[2]);
assert.match(link, /^http:\/\/127\.0\.0\.1:10010\/console\/#link=[0-9a-f]{64}$/);
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] });
try {
    const page = await browser.newPage();
    await page.goto(link);
    await page.waitForSelector('header nav');
    await page.waitForFunction(() => document.querySelector('header nav').innerText.includes('Accounts')); // which operators have
    if (process.env.PICTURE)
        await page.screenshot({ path: process.env.PICTURE });
    console.log('3: the console, by the printed link, in a browser');
} finally {
    await browser.close();
}
