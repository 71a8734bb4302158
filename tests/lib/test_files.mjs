// Files of tests for node:test, several in a process, one after the other: what each of them needs (the SDKs, a browser)
// takes a process as long to load as most files take to run.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

/** Modules that load the files of a group each, dealt out in turn. */
function makeGroups(folder, files, count) {
    const imports = Array.from({ length: Math.min(count, files.length) }, () => []);

    files.forEach((file, i) => imports[i % imports.length].push(`await import('${pathToFileURL(file)}');\n`));
    return imports.map((lines, i) => {
        const group = path.join(folder, `group-${i}.mjs`);

        writeFileSync(group, lines.join(''));
        return group;
    });
}

/**
 * Prints what fails and what is skipped; with `all` what passes, and what tests say of it, too.
 *
 * groups: processes in all (default: a process a file); concurrency: at the same time; timeout: milliseconds of a group.
 * Returns { passed, failed, skipped }.
 */
export async function runTestFiles(files, { groups = files.length, concurrency = 1, timeout, all = false }) {
    const folder = mkdtempSync(path.join(tmpdir(), 'lagra-tests-'));
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const events = run({ files: makeGroups(folder, files, groups), concurrency, timeout });

    events.on('test:pass', ({ name, skip }) => {
        const isSkipped = skip !== undefined && skip !== false;

        counts[isSkipped ? 'skipped' : 'passed']++;
        if (isSkipped)
            console.log(`skipped: ${name}${skip === true ? '' : `: ${skip}`}`);
        else if (all)
            console.log(`ok: ${name}`);
    });
    events.on('test:fail', ({ file, name, details: { error } }) => {
        counts.failed++;
        console.log(`not ok: ${path.basename(file ?? '')}: ${name}`);
        console.log(inspect(error?.cause ?? error));
    });
    /* Of a test: those behind the last one are the runner's counts. */
    events.on('test:diagnostic', ({ file, message }) => all && file && console.log(`    ${message}`));
    events.on('test:stderr', ({ message }) => process.stdout.write(message));
    events.resume();
    await new Promise((resolve) => events.once('end', resolve));
    rmSync(folder, { recursive: true, force: true });
    return counts;
}
