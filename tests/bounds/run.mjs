#!/usr/bin/env node
// Does the program pass with small bounds? run.mjs --build FOLDER [--soak] [NAME..]
//
// Bounds of steps, pages and buffers (bounds.txt) are so large that few tests come near one. Here each is set to small values
// in a copy of the one file that uses it, and the tests of that file must pass all the same. NAME: only bounds of this name.
// Without --soak: only SAMPLE. Last line: "bounds: N passed, N failed".

import path from 'node:path';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Build, ROOT } from '../lib/changed_program.mjs';
import { readBounds } from './list.mjs';

const { values: options, positionals: names } = parseArgs({
    allowPositionals: true,
    options: { build: { type: 'string' }, soak: { type: 'boolean', default: false } },
});
/** Scrub has once read 16 MiB of a record, and reported that all was well. */
const SAMPLE = ['HOLD_BYTES', 'VERSIONS_AT_ONCE'];
const SAMPLE_JUDGES = 1;
const REQUESTS = '3000';
const LIMIT_MS = 600_000;
const SIMULATOR = 'tests/sim/simulate';

const build = new Build(options.build);
const count = { passed: 0, failed: 0 };

/** The source with the bound set behind its own definition, or behind the headers if one of these defines it. */
function withBound(text, name, value) {
    const defined = new RegExp(`^#define ${name} .*(\\\\\\n.*)*$`, 'm').exec(text);
    const at = defined ? defined.index + defined[0].length : [...text.matchAll(/^#include .*$/gm)].map((line) => line.index + line[0].length).at(-1);

    return `${text.slice(0, at)}\n#undef ${name}\n#define ${name} ${value}${text.slice(at)}`;
}

function runUnit(judge, object, into) {
    // Pages end where the bound says, not only where they are full.
    return build.run(build.link(`tests/unit/${judge}`, object, into), [], { cwd: ROOT, timeout: LIMIT_MS, env: { ...process.env, LAGRA_SHORT_PAGES: '1' } });
}

function runSimulator(service, object, into) {
    return build.run(build.link(SIMULATOR, object, into), ['--no-shrink', '--seed', '1', '--requests', REQUESTS, '--service', service], { timeout: LIMIT_MS });
}

function runSuite(suite, object, into) {
    build.link('lagra', object, into);
    if (!existsSync(path.join(into, 'tests')))
        symlinkSync(path.join(build.folder, 'tests'), path.join(into, 'tests'));
    return build.run(process.execPath, [path.join(ROOT, 'tests/run.mjs'), '--build', into, suite], { cwd: ROOT, timeout: LIMIT_MS });
}

function judged(judge, object, into) {
    if (judge.includes(':'))
        return runSuite(judge, object, into);
    return judge.includes('/') ? runUnit(judge, object, into) : runSimulator(judge, object, into);
}

function test({ file, name, values, judges }) {
    const text = readFileSync(path.join(ROOT, file), 'utf8');

    for (const value of values) {
        const into = path.join(build.folder, 'tests/bounds', `${path.basename(file)}-${name}-${value}`);

        for (const judge of judges) {
            const library = !judge.includes('/') && !judge.includes(':') ? 'simulate_' : '';
            const object = build.compile(file, withBound(text, name, value), path.join(into, library), library);
            const { status, output } = judged(judge, object, into);

            count[status === 0 ? 'passed' : 'failed']++;
            if (status !== 0)
                console.log(`FAILED ${file}: ${name} = ${value}, ${judge} (${status}):\n${output.trimEnd().split('\n').slice(-12).join('\n')}`);
        }
    }
}

const wanted = readBounds().filter(({ values }) => values).filter(({ name }) => (names.length > 0 ? names : options.soak ? [name] : SAMPLE).includes(name))
    .filter(({ judges }) => existsSync(path.join(build.folder, SIMULATOR)) || judges.some((judge) => judge.includes('/')));

for (const bound of wanted)
    test(options.soak || names.length > 0 ? bound : { ...bound, values: bound.values.slice(0, 1), judges: bound.judges.slice(0, SAMPLE_JUDGES) });
console.log(`bounds: ${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed === 0 ? 0 : 1;
