// One cell and two machines on a CephFS: faults under writers of all services, each until the owner was replaced and repaired.

import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Machine } from './machines.mjs';
import { persistentHandle } from './persistent.mjs';
import { below } from './random.mjs';
import { Registers } from './registers.mjs';
import { whileServed, whileStopped } from './upkeep.mjs';
import { Writers } from './writers.mjs';

const BEFORE_MS = 1500, AFTER_MS = 1500;
const SERVES_MS = 120_000;
const OUTAGE_MS = 4000;
const PAUSE_MS = 4000, PAUSE_MORE_MS = 3000;

/* Each fails in its way, is seen to be replaced, and is repaired: problems. */
export const TESTS = {
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
        world.writers.isPaused = world.registers.isPaused = true;
        await sleep(1000);
        return TESTS['cut-off'](world).finally(() => {
            world.writers.isPaused = world.registers.isPaused = false;
        });
    },
    /** The front end that stands by, for longer than clients wait: it forwards nothing that they have repeated meanwhile. */
    async pause(world) {
        const { member } = world.standby;

        member.signal('SIGSTOP');
        await sleep(PAUSE_MS + below(PAUSE_MORE_MS));
        member.signal('SIGCONT');
        await sleep(AFTER_MS);
        return member.hasEnded ? [`the front end that was paused has ended:\n${member.stderr.slice(-2000)}`] : [];
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
export const LONG = {
    /** Nobody fences the owner: the MDS ends its session by itself. */
    async unfenced(world) {
        return TESTS.hang(world);
    },
    /** The standby comes when the machine hangs already: it learns nothing of the owner, and waits as well. */
    async 'late-standby'(world) {
        const { owner, standby } = world;

        await standby.member.end('SIGTERM');
        owner.hang();
        await sleep(1000);
        standby.member.restart();
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
        world.writers = new Writers(() => world.members);
        world.registers = new Registers(() => world.members, world.writers.name);
        await world.untilOwned();
        return world;
    }

    get members() {
        return this.machines.map(({ member }) => member);
    }

    get standby() {
        return this.machines.find((machine) => machine !== this.owner);
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
        const { standby } = this;

        await standby.member.until(200, undefined, SERVES_MS);
        this.owner = standby;
        this.quiet = await this.writers.putQuiet(standby.member);
        this.isReplaced = true;
    }
}

async function runTest(world, name, report) {
    const began = Date.now(), problems = [];

    world.isReplaced = false;
    try {
        await world.untilOwned();
        await world.writers.putQuiet(world.owner.member);
        await sleep(BEFORE_MS);
        world.writers.gapMs = 0;
        problems.push(...await (TESTS[name] ?? LONG[name])(world));
        await world.untilOwned();
    } catch (error) {
        problems.push(error.stack);
    }
    await sleep(AFTER_MS);
    problems.push(...world.writers.problems.splice(0), ...world.registers.problems.splice(0));
    if (FENCED.includes(name) && !world.hasFenced(began))
        problems.push('the fence command has not succeeded');
    return report.event(name, began, problems, world.isReplaced ? world.writers.gapMs : null, world.members);
}

/** At the end nothing is lost, whatever happened on the way. */
async function checkAll(world, report) {
    const { writers, registers } = world, began = Date.now();

    await Promise.all([writers.end(), registers.end()]);
    writers.problems.length = 0;
    await world.untilOwned();
    const found = await writers.check(world.owner.member);

    report.clients(began, [...writers.problems, ...registers.problems], found, [writers.counts, registers.counts]);
}

/** Nobody serves the cell any more. */
async function checkStopped(world, report) {
    const began = Date.now();

    for (const member of world.members)
        await member.end('SIGTERM');
    report.test('check and salvage', began, await whileStopped(world.machines[0]).catch((error) => [error.stack]));
}

/** names: of tests, until one fails */
export async function oneCell(fs, names, report, fences = true) {
    let world = null;

    try {
        world = await World.start(fs, fences);
        await world.writers.prepare();
        world.writers.start();
        world.registers.start();
        for (const name of names)
            if (!await runTest(world, name, report))
                break;
        await checkAll(world, report);
        await checkStopped(world, report);
    } finally {
        for (const { member } of world?.machines ?? [])
            member?.signal('SIGKILL');
    }
}
