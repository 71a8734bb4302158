// Clients that others have written, unchanged, against one server: run.mjs [FILE..]
// LAGRA_BINARY names the server. The last line is the count; a client that is not installed is
// skipped.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { newCertificate } from '../lib/certificate.mjs';
import { Server } from '../lib/server.mjs';
import { runTestFiles } from '../lib/test_files.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const FILE_LIMIT_MS = 300000;

const named = process.argv.slice(2);
const files = readdirSync(HERE)
    .filter((name) => name.endsWith('.test.mjs'))
    .filter((name) => named.length === 0 || named.includes(name.replace('.test.mjs', '')))
    .map((name) => path.join(HERE, name));
const folder = mkdtempSync(path.join(tmpdir(), 'lagra-works-'));
const server = await Server.start();
const { cert, key } = newCertificate(folder); // that the clients trust: some require HTTPS

Object.assign(process.env, { NODE_EXTRA_CA_CERTS: cert, LAGRA_TEST_CERTIFICATE: cert, LAGRA_TEST_KEY: key }, server.testEnvironment);
const counts = await runTestFiles(files, { concurrency: 2, timeout: FILE_LIMIT_MS, all: true });
await server.stop();
rmSync(folder, { recursive: true, force: true });
console.log(`works with: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
