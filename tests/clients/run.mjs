// Runs the tests of the official SDK against the server at LAGRA_TEST_URL: run.mjs [FILE..]
//
// To load the SDKs takes a process as long as most files take to run: several files share one, and run
// in it one after the other.
//
// LAGRA_LONG_TESTS=1 runs the tests that take minutes too. The last line is the count.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PROCESSES = 3; // at the same time
const GROUPS = 12;
// The limits of 5,000 MiB take minutes; anything else that does not end hangs.
const GROUP_LIMIT_MS = process.env.LAGRA_LONG_TESTS === '1' ? 3600000 : 900000;

const named = process.argv.slice(2).map((name) => path.basename(name, '.test.mjs'));
const files = readdirSync(HERE)
    .filter((name) => name.endsWith('.test.mjs'))
    .filter((name) => named.length === 0 || named.includes(path.basename(name, '.test.mjs')))
    .map((name) => path.join(HERE, name));

/** A file for each group, which loads those of the group. */
function groups(folder) {
    const imports = Array.from({ length: Math.min(GROUPS, files.length) }, () => []);

    files.forEach((file, i) => imports[i % imports.length].push(`await import('${pathToFileURL(file)}');\n`));
    return imports.map((lines, i) => {
        const group = path.join(folder, `group-${i}.mjs`);
        writeFileSync(group, lines.join(''));
        return group;
    });
}

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

const folder = mkdtempSync(path.join(tmpdir(), 'lagra-clients-'));
const events = run({ files: groups(folder), concurrency: PROCESSES, timeout: GROUP_LIMIT_MS });
events.on('test:pass', passed);
events.on('test:fail', failed);
events.on('test:stderr', ({ message }) => process.stdout.write(message));
events.resume();
await new Promise((resolve) => events.once('end', resolve));
rmSync(folder, { recursive: true, force: true });

console.log(`clients: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
