// Tests of the web console, a process a file: run.mjs [--long] [FILE..]
//
// --long adds those that take minutes: 2 GiB, a million blobs.
// Pages are looked at in Debian's Chromium (CHROMIUM: another one), by puppeteer-core of console/package.json.
// CONSOLE_PICTURES names a folder for pictures of the pages. The last line is the count.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { Tally } from '../lib/tally.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const FILE_LIMIT_MS = 600000;
const LONG_LIMIT_MS = 3600000;

const isLong = process.argv.includes('--long');
const named = process.argv.slice(2).filter((word) => word !== '--long');
const files = readdirSync(HERE).filter((name) => name.endsWith('.test.mjs') && (isLong || name !== 'long.test.mjs'))
    .filter((name) => named.length === 0 || named.some((wanted) => name.startsWith(wanted))).map((name) => path.join(HERE, name));
const tally = new Tally();
const events = run({ files, concurrency: 1, timeout: isLong ? LONG_LIMIT_MS : FILE_LIMIT_MS });

events.on('test:pass', ({ name, skip }) => (skip === undefined ? tally.count(true) : console.log(`skipped: ${name}`)));
events.on('test:fail', ({ name, details: { error } }) => tally.count(false, `${name}\n${inspect(error?.cause ?? error)}`));
events.on('test:stderr', ({ message }) => process.stdout.write(message));
events.resume();
await new Promise((resolve) => events.once('end', resolve));
tally.end('console');
