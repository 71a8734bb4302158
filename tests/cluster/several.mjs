// Two cells and three machines on a CephFS, so one stands by: the owner of a cell is killed, hangs with its machine, is evicted and hands over,
// and the machines of both owners die together, under writers of all services in both cells, and under clients that create containers,
// delete and list them. Every front end takes every request.

import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../crash/client.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { Machine } from './machines.mjs';
import { below } from './random.mjs';
import { Registers } from './registers.mjs';
import { Writers } from './writers.mjs';

const CELLS = [1, 2];
const SERVES_MS = 120_000, LIST_MS = 9000, ANSWER_MS = 4000, RETRY_MS = 20;
const OUTAGE_MS = 4000, PAUSE_MS = 4500, PAUSE_MORE_MS = 3000, APART_MS = 2000;
const STAYS = ['osd', 'mds', 'pause']; // no owner has to be replaced
/* A request whose front end is killed while the owner of its cell executes it is done although its client gets no response, and would undo what follows
 * its repetition. decision: 1140 */
const SETTLE_MS = 1500;
const BEFORE_MS = 1500, AFTER_MS = 1000, PINS_MS = 2600;
const BLOCK = [['x-ms-blob-type', 'BlockBlob']];

/** Clients that create containers with a blob, and delete every second one; and one that lists them. */
class Makers {
    problems = [];
    counts = { created: 0, deleted: 0, lists: 0 };
    kept = new Set();
    #gone = new Set();
    #members;
    #ends = false;
    #running = [];

    constructor(members) {
        this.#members = members;
    }

    /** One request to one of the front ends: its response, or null if there was none, or one that says that nothing was done. */
    async #try(number, ...request) {
        const members = this.#members(), client = new Client(members[number % members.length]);
        const late = new AbortController();

        try {
            const answer = await Promise.race([client.ask(...request), sleep(LIST_MS, null, { signal: late.signal }).catch(() => null)]);

            if (answer && answer.status >= 500 && answer.status !== 503)
                this.problems.push(`${request[0]} ${request[1]}: ${answer.status}`);
            return answer && answer.status < 500 ? answer : null;
        } catch {
            await sleep(SETTLE_MS);
            return null;
        } finally {
            late.abort();
            client.close();
        }
    }

    /** Asks one front end after the other until one responds. again: the status that says that an earlier attempt has done it. */
    async #do(number, wanted, again, ...request) {
        for (let i = 0; !this.#ends; i++, await sleep(RETRY_MS)) {
            const answer = await this.#try(number + i, ...request);

            if (!answer)
                continue;
            if (answer.status === wanted || (i > 0 && answer.status === again))
                return true;
            this.problems.push(`${request[0]} ${request[1]}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`);
            return false;
        }
        return false;
    }

    async #make(maker) {
        for (let i = 0; !this.#ends; i++, await sleep(RETRY_MS)) {
            const name = `made-${maker}-${String(i).padStart(5, '0')}`;

            if (!await this.#do(i, 201, 409, 'PUT', `/${name}?restype=container`))
                continue;
            this.counts.created++;
            if (!await this.#do(i + 1, 201, 201, 'PUT', `/${name}/b`, { headers: BLOCK, body: Buffer.from(name) }))
                continue;
            if (i % 2 > 0) {
                this.kept.add(name);
            } else if (await this.#do(i + 2, 202, 404, 'DELETE', `/${name}?restype=container`)) {
                this.counts.deleted++;
                this.#gone.add(name);
            }
        }
    }

    /** All pages: the names, or null if a page got no response. */
    async list(number) {
        const names = [];

        for (let marker = ''; ;) {
            const answer = await this.#try(number, 'GET', `/?comp=list&prefix=made-&maxresults=7&marker=${encodeURIComponent(marker)}`);

            if (answer?.status !== 200)
                return null;
            names.push(...[...answer.body.toString().matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name));
            marker = /<NextMarker>(.+?)<\/NextMarker>/.exec(answer.body.toString())?.[1];
            if (!marker)
                return names;
        }
    }

    /** Whatever was acknowledged before the list was asked for is in it, once, and in order. */
    async checkList(number) {
        const kept = [...this.kept], gone = [...this.#gone], names = await this.list(number);

        if (!names)
            return false;
        this.counts.lists++;
        const listed = new Set(names);
        const wrong = [...kept.filter((name) => !listed.has(name)).map((name) => `${name} is missing`), ...gone.filter((name) => listed.has(name)).map((name) => `${name} was deleted`)];
        if (names.some((name, i) => i > 0 && name <= names[i - 1]))
            wrong.push('names are out of order, or there twice');
        if (wrong.length > 0)
            this.problems.push(`a list of ${names.length} containers: ${wrong.slice(0, 3).join(', ')}`);
        return true;
    }

    start() {
        const list = async () => {
            for (let i = 0; !this.#ends; i++, await sleep(RETRY_MS))
                await this.checkList(i);
        };

        for (const loop of [this.#make(0), this.#make(1), list()])
            this.#running.push(loop.catch((error) => this.problems.push(error.stack)));
    }

    async end() {
        this.#ends = true;
        await Promise.all(this.#running);
    }

    /** All containers that were kept have their blobs, as every front end says. */
    async check() {
        for (const [i] of this.#members().entries())
            if (!await this.checkList(i))
                this.problems.push('the list has no response');
        for (const [i, name] of [...this.kept].entries()) {
            const answer = await this.#try(i, 'GET', `/${name}/b`);

            if (answer?.status !== 200 || answer.body.toString() !== name)
                this.problems.push(`lost: ${name}: ${answer?.status}`);
        }
    }
}

class World {
    machines;
    fs;
    owner = {}; // by cell
    writers; // one for each cell
    makers;
    clients; // all of them

    static async start(fs) {
        const world = new World();

        world.fs = fs;
        world.machines = ['one', 'two', 'three'].map((name) => new Machine(fs, name, true));
        await Promise.all(world.machines.map(({ name }) => fs.mount(name)));
        const { code, errors } = await run(['cluster', 'init', world.machines[0].folder, '--cells', `${CELLS.length}`]);
        if (code !== 0)
            throw new Error(errors);
        await Promise.all(world.machines.map((machine) => machine.start()));
        await world.untilOwned();
        await world.#prepareClients();
        return world;
    }

    /** Writers of a container, queue, table and share in each cell. */
    async #prepareClients() {
        const members = () => this.members;

        this.writers = CELLS.map((cell) => new Writers(members, { name: `cells${cell}`, answerMs: ANSWER_MS, settleMs: SETTLE_MS }));
        this.makers = new Makers(members);
        this.clients = [...this.writers, ...this.writers.map(({ name }) => new Registers(members, name)), this.makers];
        for (const cell of CELLS) {
            await this.pin(cell);
            await sleep(PINS_MS);
            await this.writers[cell - 1].prepare();
        }
    }

    /** Whom clients ask. */
    get members() {
        return this.machines.map(({ member }) => member);
    }

    /** The cells that these machines own: { 1: machine }. By their logs, since `lagra cluster status` would wait for a machine that hangs. */
    async owners(machines) {
        const owners = {};

        for (const machine of machines) {
            const owned = [...machine.member.stderr.matchAll(/ cell (\d+): owned by this front end/g)].at(-1)?.[1];

            if (owned && await Promise.race([machine.member.health(), sleep(1000, 0)]) === 200)
                owners[owned] = machine;
        }
        return owners;
    }

    /** Waits until each of these cells is served by one of the machines. */
    async untilOwned(machines = this.machines, cells = CELLS) {
        for (const began = performance.now(); performance.now() - began < SERVES_MS; await sleep(50)) {
            this.owner = await this.owners(machines);
            if (cells.every((cell) => this.owner[cell]))
                return;
        }
        throw new Error(`a cell is not served within ${SERVES_MS / 1000} s:\n${this.machines.map(({ name, member }) => `${name}: ${member.stderr.slice(-3000)}`).join('\n')}`);
    }

    /** The file system fails and is repaired. Front ends that could not renew their leases in time have been replaced, and end. */
    async throughOutage(fail, repair) {
        const problems = [];

        await fail();
        await sleep(OUTAGE_MS);
        repair();
        await sleep(OUTAGE_MS);
        for (const machine of this.machines.filter(({ member }) => member.hasEnded)) {
            problems.push(...await machine.ends());
            await machine.repair();
        }
        await this.untilOwned();
        return problems;
    }

    others(...machines) {
        return this.machines.filter((machine) => !machines.includes(machine));
    }

    async pin(cell) {
        const { code, errors } = await run(['cluster', 'place', this.machines[0].folder, DEVELOPMENT.account, `${cell}`]);

        if (code !== 0)
            throw new Error(errors);
    }
}

/* What happens to the owner of a cell: problems. */
export const EVENTS = {
    async kill(world, owner) {
        await owner.member.end('SIGKILL');
        await world.untilOwned(world.others(owner));
        owner.member.restart();
        return [];
    },
    async die(world, owner) {
        await owner.die();
        await world.untilOwned(world.others(owner));
        await owner.repair();
        return [];
    },
    async hang(world, owner) {
        owner.hang();
        await world.untilOwned(world.others(owner));
        owner.goesOn();
        const problems = await owner.ends();

        await owner.repair();
        return problems;
    },
    /** The front end alone. */
    async stop(world, owner) {
        owner.member.signal('SIGSTOP');
        await world.untilOwned(world.others(owner));
        owner.member.signal('SIGCONT');
        const problems = await owner.ends();

        await owner.repair();
        return problems;
    },
    async 'cut-off'(world, owner) {
        owner.cutOff();
        await world.untilOwned(world.others(owner));
        await owner.repair();
        return [];
    },
    async evict(world, owner) {
        owner.evict();
        const problems = await owner.ends();

        await world.untilOwned(world.others(owner));
        await owner.repair();
        return problems;
    },
    async handover(world, owner) {
        await owner.member.end('SIGTERM');
        await world.untilOwned(world.others(owner));
        owner.member.restart();
        return [];
    },
    /** One cell is taken over at once, the other one when a machine comes back. The second machine may die while the standby has the lock of the
     *  first one's cell. decision: 1174 */
    async 'both die'(world) {
        const [owner, other] = CELLS.map((cell) => world.owner[cell]), left = world.others(owner, other);

        await owner.die();
        await sleep(below(APART_MS));
        await other.die();
        for (const end = Date.now() + SERVES_MS; Object.keys(await world.owners(left)).length === 0; await sleep(50))
            if (Date.now() > end)
                return ['the standby takes over neither cell'];
        await owner.repair();
        await world.untilOwned(world.others(other));
        await other.repair();
        return [];
    },
    /** The front end that stands by, for longer than clients wait: it forwards nothing that they have repeated meanwhile. */
    async pause(world) {
        const [{ member }] = world.others(...CELLS.map((cell) => world.owner[cell]));

        member.signal('SIGSTOP');
        await sleep(PAUSE_MS + below(PAUSE_MORE_MS));
        member.signal('SIGCONT');
        return [];
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

/* What happens without names: every kind of failover, of either cell. */
const ONCE = ['kill', 'hang', 'evict', 'handover', 'both die', 'pause'];

async function runEvent(world, name, report) {
    const cell = CELLS[below(CELLS.length)], began = Date.now();
    const problems = [];

    try {
        await world.untilOwned();
        await world.pin(CELLS[below(CELLS.length)]);
        await sleep(BEFORE_MS);
        world.writers.forEach((writers) => {
            writers.gapMs = 0;
        });
        problems.push(...await EVENTS[name](world, world.owner[cell]));
        await sleep(AFTER_MS);
    } catch (error) {
        problems.push(error.stack);
    }
    problems.push(...world.clients.flatMap((one) => one.problems.splice(0)));
    const gapMs = STAYS.includes(name) ? null : Math.max(...world.writers.map((writers) => writers.gapMs));

    return report.event(name, began, problems.map((problem) => `${name} of cell ${cell}: ${problem}`), gapMs, world.members);
}

async function checkAll(world, report) {
    const began = Date.now(), found = {};

    await world.untilOwned();
    await Promise.all(world.clients.map((one) => one.end()));
    await world.makers.check();
    for (const cell of CELLS)
        found[`cell${cell}`] = await world.writers[cell - 1].check(world.owner[cell].member);
    report.clients(began, world.clients.flatMap((one) => one.problems.splice(0)), found, world.clients.map(({ counts }) => counts));
}

/** names: of events, until one fails */
export async function severalCells(fs, names, report) {
    let world = null;

    try {
        world = await World.start(fs);
        world.clients.forEach((one) => one.start());
        for (const name of names ?? ONCE)
            if (!await runEvent(world, name, report))
                break;
        await checkAll(world, report);
    } finally {
        for (const { member } of world?.machines ?? [])
            member?.signal('SIGKILL');
    }
}
