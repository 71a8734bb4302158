// Clients that others have written, unchanged, against one server: run.mjs [FILE..]
// LAGRA_BINARY names the server. The last line is the count; a client that is not installed is
// skipped.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Server } from '../lib/server.mjs';
import { runTestFiles } from '../lib/test_files.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const FILE_LIMIT_MS = 300000;

/** A certificate for 127.0.0.1 that the clients trust, and its key: some take nothing but HTTPS. */
function newCertificate(folder) {
    const [cert, key, template] = ['cert.pem', 'key.pem', 'template'].map((name) => path.join(folder, name));
    const certtool = (...args) => execFileSync('certtool', args, { stdio: 'ignore' });
    writeFileSync(template, 'cn = localhost\nip_address = 127.0.0.1\ndns_name = localhost\nexpiration_days = 2\n' +
        'signing_key\ntls_www_server\n');
    certtool('--generate-privkey', '--key-type', 'ecdsa', '--outfile', key);
    certtool('--generate-self-signed', '--load-privkey', key, '--template', template, '--outfile', cert);
    return { NODE_EXTRA_CA_CERTS: cert, LAGRA_TEST_CERTIFICATE: cert, LAGRA_TEST_KEY: key };
}

const named = process.argv.slice(2);
const files = readdirSync(HERE)
    .filter((name) => name.endsWith('.test.mjs'))
    .filter((name) => named.length === 0 || named.includes(name.replace('.test.mjs', '')))
    .map((name) => path.join(HERE, name));
const folder = mkdtempSync(path.join(tmpdir(), 'lagra-works-'));
const server = await Server.start();

Object.assign(process.env, newCertificate(folder), server.testEnvironment);
const counts = await runTestFiles(files, { concurrency: 2, timeout: FILE_LIMIT_MS, all: true });
await server.stop();
rmSync(folder, { recursive: true, force: true });
console.log(`works with: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
