// Front ends killed and stopped, and OSDs killed and brought back, under writers of all services: at the end nothing that
// was acknowledged is lost, nothing halved, and nothing of what was killed is left.

import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../crash/campaign.mjs';
import { Large } from './campaign_large.mjs';
import { Registers } from './campaign_registers.mjs';
import { Counter, Messages, Renames, Transients } from './campaign_work.mjs';
import { Fleet } from './fleet.mjs';
import { startFrontEnd } from './front_end.mjs';

const FRONTS = 2;
/* A busy machine may take long to start one: what is killed has served. */
const ANSWERS_BETWEEN = 20;
/* How long a front end is away, or stopped. */
const AWAY_MS = 1500;
const STOPPED_MS = 4000;
/* Every so many-th stop is so long that others take it for dead. */
const LONG_STOPS = 10;
/* An OSD is down so long at least, and by so much longer at most. */
const DOWN_MS = 2000, DOWN_MORE_MS = 6000;
const LOOK_MS = 500;
/* Rows that a shard may have, and before the largest of its partitions gets limbs: both are many thousands otherwise. */
const SPLIT_ROWS = 100, CUT_ROWS = 60;
/* Messages that wait in the large queue. */
const BACKLOG = 200;
const COLLECTED_MS = 120_000;
const PROGRESS_MS = 60_000;

/** Kills and stops front ends until `state` ends. */
async function disturbFronts(fleet, random, state, { gapMs, deadMs }) {
    const going = new Set();

    for (let n = 1; !state.ends; n++) {
        const answered = fleet.counts.answered;

        await sleep(gapMs / 2 + random(gapMs));
        while (!state.ends && fleet.counts.answered < answered + ANSWERS_BETWEEN)
            await sleep(LOOK_MS);
        const number = random(FRONTS);
        let work;

        if (random(3) > 0)
            work = fleet.kill(number, random(AWAY_MS));
        else if (fleet.counts.stops % LONG_STOPS === LONG_STOPS - 1)
            work = fleet.stop(number, 2 * deadMs + random(STOPPED_MS));
        else
            work = fleet.stop(number, 100 + random(STOPPED_MS));
        going.add(work);
        work.finally(() => going.delete(work));
    }
    await Promise.all(going);
}

/** Kills OSDs, one after the other: each comes back, and has what it missed, before the next. */
async function disturbDisks(cluster, random, state, { diskGapMs, counts }) {
    for (;;) {
        for (const end = Date.now() + diskGapMs / 2 + random(diskGapMs); Date.now() < end && !state.ends;)
            await sleep(LOOK_MS);
        if (state.ends)
            return;
        const disk = random(cluster.disks);

        await cluster.killDisk(disk);
        counts.disks++;
        await sleep(DOWN_MS + random(DOWN_MORE_MS));
        await cluster.startDisk(disk);
        await cluster.untilWhole();
    }
}

/** Nothing of a commit over several partitions is left, and nothing of front ends that died. To look at all objects takes long: while some have
 *  such rows, these are looked at again, and all once more behind that. */
async function leftRows(cluster, store) {
    let suspects = null; // null: all

    for (const end = Date.now() + COLLECTED_MS; ; await sleep(LOOK_MS)) {
        const rows = cluster.rows(store.records, 'front_ends');
        const of = (object) => cluster.filledRows(store.records, object).filter(isTemporary).map((key) => `${object} ${JSON.stringify(key)}`);
        const left = new Map((suspects ?? cluster.objects(store.records, 's.')).map((object) => [object, of(object)]));
        const found = [...rows.filter((key) => key.startsWith('r')), ...[...left.values()].flat()];

        if (rows.filter((key) => key.startsWith('b')).length !== FRONTS)
            found.push(`heartbeats: ${rows}`);
        if ((found.length === 0 && !suspects) || Date.now() > end)
            return found;
        suspects = [...left.keys()].filter((object) => left.get(object).length > 0);
        suspects = suspects.length > 0 ? suspects : null;
    }
}

/* Rows that have something: what a transaction has prepared, where it was decided, a partition that is locked
 * (src/store/rados/row_key.h). */
const isTemporary = (key) => /^X[0-9a-f]{2}$/.test(key) || /^P[^]*\x01\x01(x[0-9a-f]{8}|c[0-9a-f]{24})$/.test(key);

/** Limbs that have records (src/store/rados/limb.h): how many of each partition, by its key; a queue's is empty. */
function limbsOf(cluster, store) {
    const found = new Map();

    for (const object of cluster.objects(store.records, 's.')) {
        const rows = cluster.rows(store.records, object);
        const record = rows.find((key) => /^L/.test(key) || /^P[^]*\x01\x01i/.test(key));

        if (rows.includes('H') && record) {
            const [, partition] = /^.([^]*?)\x01\x01/.exec(record);

            found.set(partition, (found.get(partition) ?? 0) + 1);
        }
    }
    return found;
}

/** A front end serves for so long. */
async function serve(binary, store, env, ms) {
    const server = await startFrontEnd(binary, ['--store', store.place], env);

    await sleep(ms);
    await server.stop();
}

/** Of a store that nobody serves any more. What one of those that have just ended did not know the fate of, and what is not due yet, the next
 *  one that serves deletes: who is to check whether it is committed waits for two times `deadMs`, and for two more until it may be deleted. */
async function checkStore(binary, store, env, deadMs) {
    const seen = [];

    for (const end = Date.now() + COLLECTED_MS; ;) {
        const { status, stdout, stderr } = spawnSync(binary, ['check', store.place], { encoding: 'utf8' });
        const isServed = stderr.includes('has served the store within the last minute');
        const isWhole = status === 0 && stdout.includes('damaged or lost: 0'), isClean = !stderr.includes('nothing refers to');

        if (isWhole && isClean) {
            seen.forEach((said) => console.log(`campaign: at first ${said}`));
            return [];
        }
        if ((!isWhole && !isServed) || Date.now() > end)
            return [`lagra check: exit code ${status}, ${stdout}${stderr}`];
        seen.push(/.*(nothing refers to.*|has served the store.*)/.exec(stderr)[1]);
        await serve(binary, store, env, 4 * deadMs);
    }
}

/** how: { ms, gapMs: between disturbances of front ends, diskGapMs: of disks, deadMs, seed, writers } */
export async function campaign(binary, cluster, store, how) {
    const random = randomFrom(how.seed);
    const counts = { disks: 0 };
    const state = { ends: false };
    const env = { LAGRA_RADOS_PATIENCE_MS: `${how.deadMs}`, LAGRA_RADOS_SPLIT: `${SPLIT_ROWS}`, LAGRA_RADOS_CUT: `${CUT_ROWS}` };
    const fleet = await Fleet.start(binary, ['--store', store.place], { count: FRONTS, random, env });
    const hiddenS = Math.max(6, Math.round(how.deadMs / 1000));
    const works = [new Registers(fleet, random, { writers: how.writers }), new Counter(fleet), new Messages(fleet, random, { hiddenS }),
        new Messages(fleet, random, { hiddenS, queue: '/campaign-large', backlog: BACKLOG }), new Large(fleet, random),
        new Renames(fleet, { files: how.writers }), new Transients(fleet, random)];
    const figures = () => `${fleet.counts.kills} kills and ${fleet.counts.stops} stops of front ends (${fleet.counts.fenced} ended as dead), ` +
        `${counts.disks} OSDs killed, ${fleet.counts.answered} answers, ${fleet.counts.unknown} requests without one`;

    try {
        for (const work of works)
            await work.create();
        const failed = (error) => fleet.problems.push(error.stack);
        const workers = works.flatMap((work) => work.work(state)).map((worker) => worker.catch(failed));
        const disturbances = [disturbFronts(fleet, random, state, how), disturbDisks(cluster, random, state, { ...how, counts })].map((one) => one.catch(failed));

        for (let end = Date.now() + how.ms, next = Date.now() + PROGRESS_MS; Date.now() < end && fleet.problems.length === 0; await sleep(LOOK_MS))
            if (Date.now() > next) {
                console.log(`campaign: ${figures()}`);
                next += PROGRESS_MS;
            }
        state.ends = true;
        await Promise.all([...workers, ...disturbances]);
        await cluster.untilWhole();
        const limbs = limbsOf(cluster, store);
        if (limbs.size === 0)
            fleet.problems.push('no partition has a limb');
        await Promise.all(works.map((work) => work.verify()));
        for (const row of await leftRows(cluster, store))
            fleet.problems.push(`left: ${row}`);
        console.log(`campaign, seed ${how.seed}: ${figures()}, ${works.map((work) => `${work.name ?? work.constructor.name} ${work.changes}`).join(', ')}`);
        console.log(`campaign: limbs: ${[...limbs].map(([name, count]) => `${count} of "${name}"`).join(', ')}`);
        await fleet.end();
        return [...fleet.problems, ...await checkStore(binary, store, env, how.deadMs)];
    } finally {
        await fleet.abandon();
    }
}
