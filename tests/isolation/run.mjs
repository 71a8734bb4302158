#!/usr/bin/env node
// The isolation tester: runs the permutations of specs/*.spec against one server and compares what
// is printed with expected/*.out. README.md has the language. Node 18 or newer, no packages.
//
//   run.mjs --server BINARY [--server-arg=ARG].. [--half even|odd] [--update] [--list] [--jobs=N] [SPEC..]
//   run.mjs --url URL [SPEC..]
//
// --server    a lagra built with -Dgates=true; default: the environment variable LAGRA_BINARY. It
//             is started on free ports and a temporary data folder, and stopped at the end.
// --url       a server that runs already, such as http://127.0.0.1:10000/devstoreaccount1. If it
//             has no gates, the permutations that need them are left out.
// --half      runs every other permutation of each spec: two runs on two kinds of server share them
// --update    writes expected/*.out from this run: read the difference before you keep it.
// --list      names the permutations, and runs nothing.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { unifiedDiff } from './diff.mjs';
import { parseSpec } from './language.mjs';
import { Permutation } from './permutation.mjs';
import { AGAIN } from './show.mjs';
import { Target } from './target.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const JOBS = '4';
const HALVES = ['even', 'odd'];
/* Stores without a syncer: what they have applied is durable. */
const WITHOUT_SYNCER = ['--inMemoryPersistence'];

function options() {
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: {
            server: { type: 'string', default: process.env.LAGRA_BINARY },
            'server-arg': { type: 'string', multiple: true, default: [] },
            url: { type: 'string' },
            half: { type: 'string' },
            update: { type: 'boolean', default: false },
            list: { type: 'boolean', default: false },
            jobs: { type: 'string', default: JOBS },
        },
    });
    const all = readdirSync(path.join(HERE, 'specs')).filter((file) => file.endsWith('.spec'))
        .map((file) => file.slice(0, -5)).sort();
    const unknown = positionals.find((name) => !all.includes(name));

    if (unknown !== undefined)
        throw new Error(`there is no specs/${unknown}.spec`);
    if (values.half !== undefined && !HALVES.includes(values.half))
        throw new Error(`--half is one of ${HALVES.join(', ')}`);
    return { ...values, names: positionals.length > 0 ? positionals : all };
}

/** The permutations of a spec, as jobs: { spec, permutation, at: its place, lines: what it printed }. */
function readSpec(name) {
    const file = path.join(HERE, 'specs', `${name}.spec`);

    try {
        const spec = parseSpec(readFileSync(file, 'utf8'));
        const jobs = spec.permutations.map((permutation, at) => ({ spec, permutation, at, lines: null }));
        return { name, jobs };
    } catch (error) {
        throw new Error(`${name}.spec, ${error.message}`);
    }
}

let containers = 0;

async function run(job, target) {
    const container = `iso-${process.pid}-${++containers}c`;
    const permutation = new Permutation(await target.ready(), job.spec, container);

    job.lines = await permutation.run(job.permutation);
    if (permutation.broken)
        await target.repair({ usedGates: job.permutation.needs !== 'nothing' });
}

/** Where another server has its SMB, and which kind of account, is not known. */
function canRun(job, settings) {
    return (!job.permutation.holdsSyncer || !settings['server-arg'].some((word) => WITHOUT_SYNCER.includes(word))) &&
        ((!job.permutation.usesSmb && !job.spec.hierarchical) || !settings.url);
}

const isOfHalf = ({ at }, { half }) => half === undefined || HALVES[at % 2] === half;

/** Takes jobs from the queue until it is empty. */
async function lane(queue, target) {
    for (let job; (job = queue.shift()) !== undefined;)
        await run(job, target);
}

/** Those that disturb nobody run side by side, with one at a time of those that use gates; then
 *  come those that need the server for themselves. */
async function runAll(jobs, target, lanes) {
    const needing = (what) => jobs.filter((job) => job.permutation.needs === what);
    const free = needing('nothing');
    const gated = target.hasGates ? needing('gates') : [];

    const queues = [gated, ...Array.from({ length: lanes }, () => free)];

    await Promise.all(queues.map((queue) => lane(queue, target)));
    if (target.hasGates)
        await lane(needing('alone'), target);
}

/** Runs the jobs of specs for a hierarchical account on a server of their own. Returns its complaints. */
async function runHierarchical(jobs, settings, lanes) {
    if (jobs.length === 0)
        return [];
    const target = await Target.own(settings.server, [...settings['server-arg'], '--hierarchical']);

    await runAll(jobs, target, lanes);
    return [...target.complaints, ...(await target.close())];
}

/** The blocks of an expected file: "permutation: ..." -> its lines. */
function expectedBlocks(name) {
    let text = '';

    try {
        text = readFileSync(path.join(HERE, 'expected', `${name}.out`), 'utf8');
    } catch (error) {
        if (error.code !== 'ENOENT')
            throw error;
    }
    return new Map(text.split(/^(?=permutation: )/m).map((block) => block.trimEnd().split('\n'))
        .filter(([title]) => title !== '').map((lines) => [lines[0], lines]));
}

function titleOf(permutation) {
    return `permutation: ${permutation.name}`;
}

function update({ name, jobs }) {
    const blocks = expectedBlocks(name);
    const all = jobs.map(({ permutation: p, lines }) => lines ?? blocks.get(titleOf(p)) ?? []);
    const text = all.filter((lines) => lines.length > 0)
        .map((lines) => lines.join('\n') + '\n').join('\n');

    writeFileSync(path.join(HERE, 'expected', `${name}.out`), text);
}

/** What was printed, without the marks of second decisions that nothing in the permutation caused:
 *  the store may ask for one when only another partition has changed (store.h, STORE_CONFLICT). One
 *  that is expected must be there. */
function forgiveDecisions(lines, wanted) {
    return lines.map((line, at) => (wanted[at]?.includes(AGAIN) ? line : line.replace(AGAIN, '')));
}

/** Prints how a spec went, and gives { passed, failed } permutations. */
function judge({ name, jobs }) {
    const expected = expectedBlocks(name);
    const file = `expected/${name}.out`;
    const differences = [];
    let passed = 0;

    for (const { permutation, lines } of jobs) {
        const title = titleOf(permutation);
        const wanted = expected.get(title) ?? [];
        expected.delete(title);
        if (!lines)
            continue;
        const difference = unifiedDiff(wanted, forgiveDecisions(lines, wanted), file, 'this run');
        if (difference === '')
            passed++;
        else
            differences.push(difference);
    }
    for (const title of expected.keys())
        differences.push(`${file} has a block that the spec has not: ${title}`);
    const failed = differences.length;
    console.log(`${failed > 0 ? 'FAIL' : 'ok  '}  ${name} (${passed} of ${passed + failed})`);
    for (const difference of differences)
        console.log(difference);
    return { passed, failed };
}

async function main() {
    const settings = options();
    const specs = settings.names.map(readSpec);
    const jobs = specs.flatMap((spec) => spec.jobs).filter((job) => isOfHalf(job, settings));
    const count = { passed: 0, failed: 0 };

    if (settings.list) {
        for (const { name, jobs: own } of specs)
            own.filter((job) => isOfHalf(job, settings)).forEach(({ permutation }) => console.log(`${name}: ${permutation.name}`));
        return;
    }
    const target = settings.url ? await Target.foreign(settings.url)
        : await Target.own(settings.server, settings['server-arg']);
    const lanes = Math.max(1, Number(settings.jobs));
    const runnable = jobs.filter((job) => canRun(job, settings));
    await runAll(runnable.filter(({ spec }) => !spec.hierarchical), target, lanes);
    const complaints = await runHierarchical(runnable.filter(({ spec }) => spec.hierarchical), settings, lanes);
    if (settings.update)
        specs.forEach(update);
    for (const spec of specs) {
        const { passed, failed } = judge(spec);
        count.passed += passed;
        count.failed += failed;
    }
    const left = jobs.filter((job) => !job.lines).length;
    if (left > 0)
        console.log(`${left} left out: for want of ${target.hasGates ? 'a syncer, or of SMB' : 'gates'}`);
    for (const complaint of [...complaints, ...target.complaints, ...(await target.close())]) {
        console.log(complaint);
        count.failed++;
    }
    console.log(`isolation: ${count.passed} passed, ${count.failed} failed`);
    process.exitCode = count.failed > 0 ? 1 : 0;
}

await main().catch((error) => {
    console.error(error.message);
    process.exitCode = 2;
});
