// Tests of the web console: run.mjs [--long] [FILE..]
//
// --long adds those that take minutes: 2 GiB, a million blobs; and says what was measured.
// Pages are looked at in Debian's Chromium (CHROMIUM: another one), by puppeteer-core of console/package.json.
// CONSOLE_PICTURES names a folder for pictures of the pages. The last line is the count.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTestFiles } from '../lib/test_files.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const LIMIT_MS = 1500000;
const LONG_LIMIT_MS = 3600000;

const isLong = process.argv.includes('--long');
const named = process.argv.slice(2).filter((word) => word !== '--long');
const files = readdirSync(HERE).filter((name) => name.endsWith('.test.mjs') && (isLong || name !== 'long.test.mjs'))
    .filter((name) => named.length === 0 || named.some((wanted) => name.startsWith(wanted))).map((name) => path.join(HERE, name));
const { passed, failed, skipped } = await runTestFiles(files, { groups: 1, concurrency: 1, timeout: isLong ? LONG_LIMIT_MS : LIMIT_MS, all: isLong });

console.log(`console: ${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
