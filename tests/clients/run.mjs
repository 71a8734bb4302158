// Runs the tests of the official SDK against the server at LAGRA_TEST_URL: run.mjs [FILE..]
//
// LAGRA_LONG_TESTS=1 runs the tests that take minutes too. The last line is the count.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTestFiles } from '../lib/test_files.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
// The limits of 5,000 MiB take minutes; anything else that does not end hangs.
const LIMIT_MS = process.env.LAGRA_LONG_TESTS === '1' ? 3600000 : 1800000;

const named = process.argv.slice(2).map((name) => path.basename(name, '.test.mjs'));
const files = readdirSync(HERE)
    .filter((name) => name.endsWith('.test.mjs'))
    .filter((name) => named.length === 0 || named.includes(path.basename(name, '.test.mjs')))
    .map((name) => path.join(HERE, name));
const { passed, failed, skipped } = await runTestFiles(files, { groups: 12, concurrency: 3, timeout: LIMIT_MS });

console.log(`clients: ${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
