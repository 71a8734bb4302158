#!/usr/bin/env node
// Cells on a real CephFS (ceph.mjs): run.mjs --build FOLDER [--program FILE] [--seed N] [--minutes N] [TEST..]. Two machines with one cell, then three
// with two cells (several.mjs); machines
// die, hang, are cut off and evicted, an OSD and the MDS are killed, the cell is handed over, all under writers of all services.
// Afterwards nothing that was acknowledged is lost or doubled, and no reader has seen anything go back.
//
// Without names each test runs once, but for those that take minutes (LONG). --program: in the place of FOLDER/lagra. --minutes: then a campaign of tests by lot for so long. Prints for each failover the longest
// time in which no writer got a response; nothing depends on times. Where no CephFS can be started it
// says why, and nothing has passed or failed. The last line is "N passed, N failed".

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CephFs, lacking } from './ceph.mjs';
import { kernelClient, lacking as lackingKernel } from './kernel.mjs';
import { Machine } from './machines.mjs';
import { persistentHandle } from './persistent.mjs';
import { severalCells } from './several.mjs';
import { whileServed, whileStopped } from './upkeep.mjs';
import { Writers } from './writers.mjs';

const { values: options, positionals: wanted } = parseArgs({
    allowPositionals: true,
    options: { build: { type: 'string' }, program: { type: 'string' }, seed: { type: 'string', default: '1' }, minutes: { type: 'string', default: '0' } },
});
const BEFORE_MS = 1500, AFTER_MS = 1500;
const SERVES_MS = 120_000;
const OUTAGE_MS = 4000;
const KERNEL = 'kernel', SEVERAL = 'several'; // the names of the tests of kernel.mjs and several.mjs

process.env.LAGRA_BINARY = path.resolve(options.program ?? path.join(options.build, 'lagra'));

/** xorshift32 */
let state = Number(options.seed) * 2654435761 >>> 0 || 1;
function below(limit) {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % limit;
}

/* Each fails in its way, is seen to be replaced, and is repaired: problems. */
const TESTS = {
    /** SIGTERM. */
    async handover(world) {
        const { owner } = world;

        await owner.member.end('SIGTERM');
        await world.untilReplaced();
        owner.member.restart();
        return [];
    },
    async die(world) {
        const { owner } = world;

        await owner.die();
        await world.untilReplaced();
        await owner.repair();
        return [];
    },
    /** The front end alone is killed: its mount stays, and frees the lock. */
    async kill(world) {
        const { owner } = world;

        await owner.member.end('SIGKILL');
        await world.untilReplaced();
        owner.member.restart();
        return [];
    },
    /** The whole machine; it goes on once it was replaced, and must answer nothing and end. */
    async hang(world) {
        const { owner } = world;

        owner.hang();
        await world.untilReplaced();
        owner.goesOn();
        await world.readOld(owner);
        const problems = await owner.ends();
        await owner.repair();
        return problems;
    },
    /** The front end alone, on a mount that works. */
    async stop(world) {
        const { owner } = world;

        owner.member.signal('SIGSTOP');
        await world.untilReplaced();
        owner.member.signal('SIGCONT');
        await world.readOld(owner);
        const problems = await owner.ends();
        await owner.repair();
        return problems;
    },
    /** The mount alone: the front end runs on, has all in memory, and its clients reach it. */
    async 'cut-off'(world) {
        const { owner } = world;

        owner.cutOff();
        await world.untilReplaced();
        await world.readOld(owner);
        await owner.repair();
        return [];
    },
    /** The same while nobody writes: with a write that hangs, the old owner's workers hang too, and could not answer anything. */
    async 'cut-off-idle'(world) {
        world.writers.isPaused = true;
        await sleep(1000);
        return TESTS['cut-off'](world).finally(() => {
            world.writers.isPaused = false;
        });
    },
    async evict(world) {
        const { owner } = world;

        owner.evict();
        const problems = await owner.ends();
        await world.untilReplaced();
        await owner.repair();
        return problems;
    },
    /** A persistent SMB handle, whose machine dies. */
    async persistent(world) {
        const { owner } = world;
        const problems = await persistentHandle(owner, async () => {
            await owner.die();
            await world.untilReplaced();
            return world.owner;
        });

        await owner.repair();
        return problems;
    },
    /** Scrub and backup of the cell, beside the writers. */
    async upkeep(world) {
        return whileServed(world.owner);
    },
    async osd(world) {
        const number = below(3);

        return world.throughOutage(() => world.fs.killDisk(number), () => world.fs.startDisk(number));
    },
    async mds(world) {
        let id;

        return world.throughOutage(async () => {
            id = await world.fs.killMds();
        }, () => world.fs.startMds(id));
    },
};

/* Tests whose owner keeps its lock: the other front end has to run the fence command. */
const FENCED = ['die', 'hang', 'stop', 'cut-off', 'cut-off-idle', 'persistent'];

/* What takes as long as a session's timeout. */
const LONG = {
    /** Nobody fences the owner: the MDS ends its session by itself. */
    async unfenced(world) {
        return TESTS.hang(world);
    },
    /** The standby comes when the machine hangs already: it learns nothing of the owner, and waits as well. */
    async 'late-standby'(world) {
        const { owner } = world, other = world.machines.find((machine) => machine !== owner);

        await other.member.end('SIGTERM');
        owner.hang();
        await sleep(1000);
        other.member.restart();
        await world.untilReplaced();
        await owner.repair();
        return [];
    },
};

class World {
    static async start(fs, fences) {
        const world = new World();

        world.fs = fs;
        world.machines = ['one', 'two'].map((name) => new Machine(fs, name, fences));
        for (const machine of world.machines)
            await fs.mount(machine.name);
        const { status, stderr } = spawnSync(process.env.LAGRA_BINARY, ['cluster', 'init', world.machines[0].folder], { encoding: 'utf8' });
        if (status !== 0)
            throw new Error(stderr);
        for (const machine of world.machines)
            await machine.start();
        world.writers = new Writers(() => world.machines.map(({ member }) => member));
        await world.untilOwned();
        return world;
    }

    /** Finds the machine whose front end serves. */
    async untilOwned() {
        const end = Date.now() + SERVES_MS;

        while (Date.now() < end)
            for (const machine of this.machines)
                if (await Promise.race([machine.member.health(), sleep(1000, 0)]) === 200) {
                    this.owner = machine;
                    return;
                }
        throw new Error(`no front end serves within ${SERVES_MS / 1000} s:\n${this.machines.map(({ name, member }) => `${name}: ${member.stderr.slice(-1500)}`).join('\n')}`);
    }

    /** What the new owner has written is not hidden by an old one that can still be reached. */
    async readOld(old) {
        await this.writers.readQuiet(old.member, this.quiet, AFTER_MS);
    }

    /** Has a front end fenced the owner since then? By its log, whose lines begin with the time. */
    hasFenced(since) {
        return this.machines.some(({ member }) => member.stderr.split('\n')
            .some((line) => line.includes('its owner is fenced') && Date.parse(line.split(' ')[0]) >= since));
    }

    /** The file system fails and is repaired, and the owner need not be replaced. Where it could not renew its lease in time, it is,
     *  and ends. Returns problems. */
    async throughOutage(fail, repair) {
        const { owner } = this;

        await fail();
        await sleep(OUTAGE_MS);
        repair();
        await sleep(OUTAGE_MS);
        await this.untilOwned();
        if (this.owner === owner && !owner.member.hasEnded)
            return [];
        const problems = await owner.ends();

        this.isReplaced = true;
        await owner.repair();
        return problems;
    }

    async untilReplaced() {
        const old = this.owner, other = this.machines.find((machine) => machine !== old);

        await other.member.until(200, undefined, SERVES_MS);
        this.owner = other;
        this.quiet = await this.writers.putQuiet(other.member);
        this.isReplaced = true;
    }
}

const total = { passed: 0, failed: 0 };

async function runTest(world, name) {
    const began = Date.now();

    world.isReplaced = false;
    world.writers.problems.length = 0;
    await world.untilOwned();
    await world.writers.putQuiet(world.owner.member);
    await sleep(BEFORE_MS);
    world.writers.gapMs = 0;
    const problems = await (TESTS[name] ?? LONG[name])(world).catch((error) => [error.stack]);
    await world.untilOwned().catch((error) => problems.push(error.message));
    await sleep(AFTER_MS);
    problems.push(...world.writers.problems);
    if (FENCED.includes(name) && !world.hasFenced(began))
        problems.push('the fence command has not succeeded');
    total[problems.length === 0 ? 'passed' : 'failed']++;
    console.log(`${problems.length === 0 ? 'ok' : 'not ok'}: ${name}, ${Math.round((Date.now() - began) / 1000)} s${world.isReplaced ? `: ${(world.writers.gapMs / 1000).toFixed(1)} s without responses` : ''}`);
    problems.slice(0, 10).forEach((problem) => console.log(problem));
    return problems.length === 0;
}

async function runAll(world, names) {
    const end = Date.now() + Number(options.minutes) * 60_000;

    await world.writers.prepare();
    world.writers.start();
    for (const name of names)
        if (!await runTest(world, name))
            return;
    while (Date.now() < end)
        if (!await runTest(world, names[below(names.length)]))
            return;
}

/** At the end nothing is lost, whatever happened on the way. */
async function checkAll(world) {
    await world.writers.end();
    world.writers.problems.length = 0;
    await world.untilOwned();
    const found = await world.writers.check(world.owner.member);
    const { problems, counts } = world.writers;

    total[problems.length === 0 ? 'passed' : 'failed']++;
    console.log(`${problems.length === 0 ? 'ok' : 'not ok'}: what was acknowledged is there: ${JSON.stringify(found)}; ${JSON.stringify(counts)}`);
    problems.slice(0, 20).forEach((problem) => console.log(problem));
}

/** Nobody serves the cell any more. */
async function checkStopped(world) {
    for (const { member } of world.machines)
        await member.end('SIGTERM');
    const problems = await whileStopped(world.machines[0]).catch((error) => [error.stack]);

    total[problems.length === 0 ? 'passed' : 'failed']++;
    console.log(`${problems.length === 0 ? 'ok' : 'not ok'}: check and salvage`);
    problems.forEach((problem) => console.log(problem));
}

/** On a file system of its own. */
async function checkKernel() {
    const lacks = lackingKernel(), began = Date.now();

    if (lacks.length > 0) {
        console.log(`skipped: no guest with the kernel's CephFS client can be started here: ${lacks.join('; ')}`);
        return;
    }
    const { problems, said } = await kernelClient();

    total[problems.length === 0 ? 'passed' : 'failed']++;
    console.log(`${problems.length === 0 ? 'ok' : 'not ok'}: ${KERNEL}, ${Math.round((Date.now() - began) / 1000)} s: ${said}`);
    problems.slice(0, 20).forEach((problem) => console.log(problem));
}

async function withOneCell(fs, names) {
    let world = null;

    try {
        world = await World.start(fs, !names.includes('unfenced'));
        await runAll(world, names);
        await checkAll(world);
        await checkStopped(world);
    } finally {
        for (const { member } of world?.machines ?? [])
            member?.signal('SIGKILL');
    }
}

async function withSeveralCells(fs) {
    const began = Date.now();
    const { problems, said } = await severalCells(fs);

    total[problems.length === 0 ? 'passed' : 'failed']++;
    console.log(`${problems.length === 0 ? 'ok' : 'not ok'}: ${SEVERAL}, ${Math.round((Date.now() - began) / 1000)} s: ${said}`);
    problems.slice(0, 20).forEach((problem) => console.log(problem));
}

/** Each on a file system of its own. */
async function testCephFuse(test, names) {
    const fs = await CephFs.start();
    const stop = () => fs.stop().finally(() => process.exit(1));

    for (const signal of ['SIGINT', 'SIGTERM'])
        process.once(signal, stop);
    try {
        await test(fs, names);
    } finally {
        for (const signal of ['SIGINT', 'SIGTERM'])
            process.off(signal, stop);
        await fs.stop();
    }
}

async function main() {
    const names = wanted.length > 0 ? wanted : [...Object.keys(TESTS), SEVERAL, KERNEL];
    const lacks = lacking(), here = names.filter((name) => name !== KERNEL && name !== SEVERAL);

    if (here.some((name) => !TESTS[name] && !LONG[name]))
        throw new Error(`there are ${[...Object.keys(TESTS), ...Object.keys(LONG), SEVERAL, KERNEL].join(', ')}`);
    if (lacks.length > 0) {
        console.log(`skipped: no CephFS can be started here: ${lacks.join('; ')}`);
        return;
    }
    if (here.length > 0)
        await testCephFuse(withOneCell, here);
    if (names.includes(SEVERAL))
        await testCephFuse(withSeveralCells);
    if (names.includes(KERNEL))
        await checkKernel();
}

await main().catch((error) => {
    console.log(error.stack);
    total.failed++;
});
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed > 0 ? 1 : 0);
