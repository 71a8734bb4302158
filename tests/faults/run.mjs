#!/usr/bin/env node
// Each call of the file layer fails, in each way it can, once and for ever: run.mjs [--soak]
// [--cases N] [--seed N]
//
// A server works with one fault injected (shim.c), and is started again without. Nothing
// acknowledged may be lost; a request that was refused with 503 or 507 has changed nothing; nothing
// may hang; what is only passing must not end the service; whoever ends in another way says why;
// and the next start is clean. One count for each case. Every cell of docs/failure-guarantees.md that names this
// suite is met by one case at least; one that is not is a failure.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Campaign, randomFrom } from '../crash/campaign.mjs';
import { Client } from '../crash/client.mjs';
import { promised } from '../lib/promises.mjs';
import { Server } from '../lib/server.mjs';
import { FAULTS, Shim } from './shim.mjs';

const { values: options } = parseArgs({
    options: { soak: { type: 'boolean', default: false }, cases: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const CASES = Number(options.cases ?? (options.soak ? 1000 : 60));
const SEED = Number(options.seed ?? Date.now() % 1000000);
const BETWEEN = options.soak ? 6 : 1; /* calls of a site, beside its first and its last */
const TRIES = options.soak ? 4 : 2;
const WORK_MS = 120;
const HANG_MS = 60000;
const REOPEN_MS = 60000;
const PROBE_BYTES = 100000;
const CELL_TRIES = 6; /* cases of a cell, until the call of one comes */

/* What a process that does not end in order must have said. */
const SAYS_WHY = /lagra: .*cannot|was terminated by|assertion failed|lagra exits with code 3/;

/** Whether the server must go on once the fault is over: no data that it wrote or synced was in
 *  doubt. */
function isPassing({ call, kind, fault, forEver }) {
    if (['EINTR', 'short'].includes(fault))
        return true;
    /* RocksDB's own files: the server opens its folder again. Where that meets the fault, its
     * start is refused. */
    if (['log', 'table'].includes(kind) && fault === 'EMFILE')
        return !forEver;
    if (['extent', 'extents'].includes(kind))
        return call !== 'sync' && !(['write', 'ftruncate', 'create'].includes(call) && fault === 'EIO');
    return ['note', 'ballast', 'info'].includes(kind);
}

/* No signal comes for ever. RocksDB takes EINTR of a sync for a failed one, which no local file
 * system of Linux gives. */
const happens = ({ call, kind, fault, forEver }) =>
    fault !== 'EINTR' || (!forEver && (call !== 'sync' || ['extent', 'extents', 'folder'].includes(kind)));

const total = { passed: 0, failed: 0 };
const random = randomFrom(SEED);
const work = mkdtempSync(path.join(tmpdir(), 'lagra-faults-'));
const location = path.join(work, 'data');
const shim = new Shim(work, location);
const server = new Server({ location, env: shim.env });
const campaign = new Campaign(server, random);

server.location = location;

const nameOf = ({ call, kind, nth, fault, forEver }) => `${call} of ${kind} ${nth}: ${fault} ${forEver ? 'for ever' : 'once'}`;

/** The promise, or a failure when it takes too long. */
async function within(promise, what) {
    const over = Symbol('over');

    if (await Promise.race([promise, delay(HANG_MS, over, { ref: false })]) === over)
        throw new Error(`${what} hangs`);
}

/** The statuses of two PUTs; none when there is no server to connect to. */
async function put() {
    const client = new Client(server);
    const answers = [];

    try {
        for (const size of [100, PROBE_BYTES])
            answers.push((await client.ask('PUT', `/crash/probe${size}`,
                { headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.alloc(size, 'p') })).status);
    } catch (error) {
        if (!reopens())
            throw error;
    } finally {
        client.close();
    }
    return answers;
}

/** Does the server open its folder again? */
const reopens = () => server.stderr.includes('commits are refused');

async function probe() {
    let answers = await put();

    for (const end = Date.now() + REOPEN_MS; reopens() && answers.join() !== '201,201' && Date.now() < end;) {
        await delay(50);
        answers = await put();
    }
    if (answers.join() !== '201,201')
        throw new Error(`when the fault was over, PUT gave ${answers.join(', ')}`);
}

/** One life of a server with the fault. */
async function live(one) {
    try {
        await server.restart();
    } catch (error) {
        if (!SAYS_WHY.test(error.message))
            throw error;
        return;
    }
    await within(campaign.work({ ms: WORK_MS, refusals: true, cut: () => {} }), 'a request');
    const wasPassing = isPassing(one) && shim.injected > 0;

    if (wasPassing) {
        shim.disarm();
        await within(probe(), 'a request');
    }
    await server.stop({ keep: true }).catch((error) => {
        if (wasPassing || !SAYS_WHY.test(error.message))
            throw error;
    });
}

async function look() {
    shim.reset();
    await server.restart();
    await campaign.verify();
    await server.stop({ keep: true });
}

/** Runs a case. Returns how often its site was called, and whether the call that was to fail
 *  did. */
async function run(one) {
    let wrong = null;

    shim.reset();
    shim.arm(one);
    try {
        await live(one);
    } catch (error) {
        wrong = error.message;
    }
    const injected = shim.injected;
    const calls = shim.countOf(one);

    await server.kill();
    await look().catch((error) => campaign.failures.push(error.message));
    await server.kill();
    wrong = [wrong, ...campaign.failures.splice(0)].filter(Boolean).join('; ');
    if (wrong)
        total.failed++;
    else
        total.passed++;
    if (wrong)
        console.log(`FAILED ${nameOf(one)} (${injected} injected) of seed ${SEED}: ${wrong}`);
    return { injected: injected > 0, calls };
}

/** As run(). No two lives make the same calls: a case whose call did not come is tried again with
 *  one that this life had. */
async function runUntilInjected(one) {
    for (let i = 0; i < TRIES; i++) {
        const { injected, calls } = await run(one);

        if (injected)
            return true;
        if (calls > 0)
            one = { ...one, nth: 1 + random(calls) };
    }
    console.log(`not met in ${TRIES} lives: ${nameOf(one)}`);
    return false;
}

const COLUMN = { log: 'log', table: 'table', manifest: 'manifest', current: 'manifest', note: 'own', folder: 'own',
    extent: 'extent', extents: 'extent' };

/** The cell of docs/failure-guarantees.md that a case is of, as text; undefined: of none. */
function cellOf({ call, kind, fault }) {
    const row = ['EINTR', 'short'].includes(fault) ? 'short and interrupted calls'
        : fault === 'EMFILE' ? 'too many open files'
            : fault === 'ENOSPC' ? 'disk full'
                : fault !== 'EIO' ? undefined
                    : call === 'sync' ? 'a sync fails'
                        : ['open', 'read', 'list'].includes(call) ? 'EIO from a read' : 'EIO from a write';

    return row && COLUMN[kind] && `${row}: ${COLUMN[kind]}`;
}

/** The cells that name this suite (4), or its faults by a full disk (5). */
function promisedCells() {
    const rows = ['EIO from a read', 'EIO from a write', 'a sync fails', 'too many open files', 'short and interrupted calls', 'disk full'];

    return [...promised('⁴', rows), ...promised('⁵', rows)].map(({ row, column }) => `${row}: ${column}`);
}

/** One case of each cell, then others until there were enough. Returns how many were injected. */
async function runCases(cases, cells) {
    const left = [...cases];
    let injected = 0, done = 0;

    for (const cell of cells) {
        const wasInjected = injected;
        for (let tries = 0; injected === wasInjected && tries < CELL_TRIES; tries++) {
            const at = left.findIndex((one) => cellOf(one) === cell);
            if (at < 0)
                break;
            injected += (await runUntilInjected(left.splice(at, 1)[0])) ? 1 : 0;
            done++;
        }
        if (injected === wasInjected) {
            total.failed++;
            console.log(`FAILED seed ${SEED}: no case of ${cell} in docs/failure-guarantees.md was met`);
        }
    }
    for (const one of left.slice(0, Math.max(0, CASES - done)))
        injected += (await runUntilInjected(one)) ? 1 : 0;
    return injected;
}

/** Every site with every fault, at its first call, its last, and others between. */
function casesOf(sites) {
    const cases = [];

    for (const { call, kind, count } of sites)
        for (const fault of FAULTS[call])
            for (const forEver of [false, true])
                for (const nth of new Set([1, count, ...Array.from({ length: BETWEEN }, () => 1 + random(count))]))
                    if (happens({ call, kind, fault, forEver }))
                        cases.push({ call, kind, nth, fault, forEver });
    for (let i = cases.length - 1; i > 0; i--) {
        const j = random(i + 1);
        [cases[i], cases[j]] = [cases[j], cases[i]];
    }
    return cases;
}

/** A life without faults, to see which sites there are. */
async function findSites() {
    shim.reset();
    await server.restart();
    await campaign.work({ ms: WORK_MS, cut: () => {} });
    await server.stop({ keep: true });
    return shim.sites;
}

if (!shim.isTaken) {
    console.log('skipped: this build takes no LD_PRELOAD');
    console.log('faults: 0 passed, 0 failed, 1 skipped');
    rmSync(work, { recursive: true, force: true });
    process.exit(0);
}
try {
    await server.restart();
    await campaign.create();
    await campaign.work({ ms: 500, cut: () => {} });
    await server.stop({ keep: true });
    const sites = await findSites();
    const cases = casesOf(sites).filter((one) => !options.only || nameOf(one).includes(options.only));

    console.log(`${sites.length} sites, ${cases.length} cases`);
    const injected = await runCases(cases, options.only ? [] : promisedCells());
    console.log(`${injected} faults injected at ${sites.length} sites, ${campaign.changes} changes, seed ${SEED}`);
} catch (error) {
    total.failed++;
    console.log(`FAILED seed ${SEED}: ${error.stack}`);
} finally {
    await server.kill();
    shim.close();
    rmSync(work, { recursive: true, force: true });
}
console.log(`faults: ${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
