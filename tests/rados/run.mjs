#!/usr/bin/env node
// Starts a cluster (cluster.mjs) and runs on it what the RADOS in memory passes too, then the server (server.mjs):
// run.mjs --build FOLDER [--seed N] [--minutes N] [TEST..], a build with -Drados=true. The last line is "N passed, N failed"; a
// machine that cannot have a cluster fails. --minutes: of the test "campaign", which kills front ends and OSDs under writes; else
// it takes half a minute.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { analytics } from './analytics.mjs';
import { backup } from './backup.mjs';
import { campaign } from './campaign.mjs';
import { Cluster } from './cluster.mjs';
import { startFrontEnd } from './front_end.mjs';
import { balanced, disks, full } from './disturbed.mjs';
import { ALONE as AWAY, LANES as OF_SERVERS } from './server.mjs';

const LIMIT_MS = 600_000; // of one test
const POOL = 'test';
const LANES = [...OF_SERVERS, { backup, analytics, balanced }];
const ALONE = { ...AWAY, disks, full };

const { values: { build, seed, minutes }, positionals: wanted } = parseArgs({
    allowPositionals: true, options: { build: { type: 'string' }, seed: { type: 'string' }, minutes: { type: 'string' } },
});
const binary = path.resolve(build, 'lagra');
const total = { passed: 0, failed: 0 };
const known = ['interface', 'campaign', ...LANES.flatMap(Object.keys), ...Object.keys(ALONE)];
const isWanted = (name) => wanted.length === 0 || wanted.includes(name);

/** The store's own tests. */
function interfaceTests(cluster) {
    const began = Date.now();

    cluster.createPool(POOL);
    const { status, stdout, stderr } = spawnSync(path.resolve(build, 'tests/unit/store/rados/cluster_test'), [], {
        encoding: 'utf8', timeout: LIMIT_MS,
        env: { ...process.env, LAGRA_RADOS_CONF: cluster.configuration, LAGRA_RADOS_POOL: POOL, CMOCKA_MESSAGE_OUTPUT: 'TAP' },
    });
    const count = (pattern) => (stdout.match(pattern) ?? []).length;
    const passed = count(/^ok\b/gm);
    const failed = count(/^not ok\b/gm) || (status === 0 && passed > 0 ? 0 : 1);

    if (failed > 0)
        console.log(`${stdout}${stderr}`);
    console.log(`interface: ${passed} of ${passed + failed}, ${Math.round((Date.now() - began) / 1000)} s`);
    total.passed += passed;
    total.failed += failed;
}

/* Between disturbances, and after how long without a heartbeat a front end is dead. */
const SHORT = { ms: 30_000, gapMs: 2500, diskGapMs: 12_000, deadMs: 6000, writers: 3 };
const LONG = { gapMs: 4400, diskGapMs: 12_000, deadMs: 15_000, writers: 3 };

function runCampaign(start, binary, cluster, store) {
    const how = minutes ? { ...LONG, ms: Number(minutes) * 60_000 } : SHORT;

    return campaign(binary, cluster, store, { ...how, seed: Number(seed ?? Date.now() % 1_000_000) });
}

/** A new one: { place, records, pieces }, its --store and the names of its pools. Without a manager, which no pool of a test
 *  needs. */
function makeStore(cluster, name) {
    const records = `${name}-records`, pieces = `${name}-pieces`;
    const place = `rados:${cluster.configuration}:${records}:${pieces}`;

    cluster.createPool(records);
    cluster.createPool(pieces);
    const { status, stderr } = spawnSync(binary, ['rados', 'init', place, '--unsafe'], { encoding: 'utf8' });

    if (status !== 0)
        throw new Error(stderr);
    return { place, records, pieces };
}

async function serverTest(name, test, cluster, store) {
    const words = ['--store', store.place];
    const began = Date.now();
    const limit = LIMIT_MS + Number(minutes ?? 0) * 60_000;
    const late = sleep(limit, [`it has not ended within ${limit / 1000} s`], { ref: false });
    const problems = await Promise.race([test((env) => startFrontEnd(binary, words, env), binary, cluster, store), late]).catch((error) => [error.stack]);

    console.log(`${problems.length === 0 ? 'ok' : 'not ok'}: ${name}, ${Math.round((Date.now() - began) / 1000)} s`);
    problems.forEach((problem) => console.log(problem));
    total[problems.length === 0 ? 'passed' : 'failed']++;
}

/** One after the other, on a store of their own. */
async function serverTests(tests, cluster, name) {
    const chosen = Object.entries(tests).filter(([test]) => isWanted(test));

    if (chosen.length === 0)
        return;
    const store = makeStore(cluster, name);

    for (const [test, run] of chosen)
        await serverTest(test, run, cluster, store);
}

async function all(cluster) {
    if (isWanted('interface'))
        interfaceTests(cluster);
    await serverTests({ campaign: runCampaign }, cluster, 'campaign');
    await Promise.all(LANES.map((lane, i) => serverTests(lane, cluster, `lane-${i}`)));
    await serverTests(ALONE, cluster, 'alone');
}

async function main() {
    const unknown = wanted.filter((name) => !known.includes(name));

    if (unknown.length > 0)
        throw new Error(`no such test: ${unknown.join(', ')}; there are ${known.join(', ')}`);
    const cluster = await Cluster.start();

    for (const signal of ['SIGINT', 'SIGTERM'])
        process.once(signal, () => cluster.stop().finally(() => process.exit(1)));
    try {
        await all(cluster);
    } finally {
        await cluster.stop();
    }
}

await main().catch((error) => {
    console.log(error.stack);
    total.failed++;
});
console.log(`${total.passed} passed, ${total.failed} failed`);
// What has not ended holds connections.
process.exit(total.failed > 0 ? 1 : 0);
