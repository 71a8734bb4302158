// Runs the tests of the official SDK, a process a file, against the server at LAGRA_TEST_URL:
// run.mjs [FILE..]
//
// LAGRA_LONG_TESTS=1 runs the tests that take minutes too. The last line is the count.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PROCESSES = 3;
// The limits of 5,000 MiB take minutes; anything else that does not end hangs.
const FILE_LIMIT_MS = process.env.LAGRA_LONG_TESTS === '1' ? 3600000 : 300000;

const named = process.argv.slice(2).map((name) => path.basename(name, '.test.mjs'));
const files = readdirSync(HERE)
    .filter((name) => name.endsWith('.test.mjs'))
    .filter((name) => named.length === 0 || named.includes(path.basename(name, '.test.mjs')))
    .map((name) => path.join(HERE, name));

const counts = { passed: 0, failed: 0, skipped: 0 };

function failed(test) {
    const { error } = test.details;

    counts.failed++;
    console.log(`not ok: ${path.basename(test.file ?? '')}: ${test.name}`);
    console.log(inspect(error?.cause ?? error));
}

function passed(test) {
    if (test.skip === undefined || test.skip === false) {
        counts.passed++;
    } else {
        counts.skipped++;
        console.log(`skipped: ${test.name}: ${test.skip}`);
    }
}

const events = run({ files, concurrency: PROCESSES, timeout: FILE_LIMIT_MS });
events.on('test:pass', passed);
events.on('test:fail', failed);
events.on('test:stderr', ({ message }) => process.stdout.write(message));
events.resume();
await new Promise((resolve) => events.once('end', resolve));

console.log(`clients: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
