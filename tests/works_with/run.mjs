// Clients that others have written, unchanged, against one server: run.mjs [FILE..]
// LAGRA_BINARY names the server. The last line is the count; a client that is not installed is
// skipped.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { Server } from '../lib/server.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const FILE_LIMIT_MS = 300000;

const named = process.argv.slice(2);
const files = readdirSync(HERE)
    .filter((name) => name.endsWith('.test.mjs'))
    .filter((name) => named.length === 0 || named.includes(name.replace('.test.mjs', '')))
    .map((name) => path.join(HERE, name));
const counts = { passed: 0, failed: 0, skipped: 0 };
const server = await Server.start();

process.env.LAGRA_TEST_URL = server.url;
const events = run({ files, concurrency: 2, timeout: FILE_LIMIT_MS });
events.on('test:pass', (test) => {
    counts[test.skip ? 'skipped' : 'passed']++;
    console.log(`${test.skip ? 'skipped' : 'ok'}: ${test.name}`);
});
events.on('test:fail', (test) => {
    counts.failed++;
    console.log(`not ok: ${test.name}\n${inspect(test.details.error?.cause ?? test.details.error)}`);
});
events.resume();
await new Promise((resolve) => events.once('end', resolve));
await server.stop();
console.log(`works with: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
