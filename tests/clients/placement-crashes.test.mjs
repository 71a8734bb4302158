// Creating a container that is placed in another cell, deleting it and releasing its name, where a process is killed at each step: the
// owner of the root, the owner of the cell, or the front end that forwards. Afterwards each name is whole or free, in at most
// one cell, and clients can create it. docs/cells.md; decisions: 993 to 995, 1090
import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { namesIn } from '../lib/peer_request.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const { account } = DEVELOPMENT;
const PINS_MS = 2600; // the root reads pins every two seconds
const RELEASED_S = 35; // more than a placement is kept after a deletion, or without a container
const POLL_MS = 20;
const PATIENCE_MS = 20_000;
const STEPS = ['synced', 'decided', 'applied']; // the last one holds all that would become durable
const ENDED = { status: 0 }; // the connection was closed without a response

async function until(what, holds) {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await delay(POLL_MS))
        if (await holds())
            return;
    throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
}

const create = (member, name, headers = []) => member.ask('PUT', `/${name}?restype=container`, { headers }).catch(() => ENDED);
const remove = (member, name, headers = []) => member.ask('DELETE', `/${name}?restype=container`, { headers }).catch(() => ENDED);
const head = (member, name) => member.ask('HEAD', `/${name}?restype=container`).then(({ status }) => status);
const put = (member, name) => member.ask('PUT', `/${name}/b`, { headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.from(name) }).then(({ status }) => status);
const count = (member, kind, name) => member.ask('GET', `/$lagra/${kind}/${name}`, { raw: true }).then(({ body }) => Number(body), () => 0);
const atGate = (gate) => [['x-lagra-gate', `${gate}=hold`]];

/** The owners of cells 1 to 3. New containers go to cell 2; the owner of cell 3 is the front end that forwards. */
class Cells {
    async start(t) {
        const folder = await mkdtemp(join(tmpdir(), 'lagra-crashes-'));
        this.cluster = join(folder, 'shared');
        removeClusterAfter(t, folder);
        const { code, errors } = await run(['cluster', 'init', this.cluster, '--cells', '3']);
        assert.equal(code, 0, errors);
        this.members = await Promise.all([1, 2, 3].map((cell) => Member.start(this.cluster, { args: ['--cell', `${cell}`] })));
        [this.root, this.cell, this.front] = this.members;
        this.members.forEach((member) => t.after(() => member.end('SIGKILL')));
        await this.serve();
        await this.pin(2);
        return this;
    }

    /** Waits until all cells are served, and all front ends know it. */
    async serve() {
        await Promise.all(this.members.map((member) => member.until(200)));
        for (const member of this.members)
            await until('a front end reaches all cells', async () => (await member.ask('GET', '/?comp=list')).status === 200);
    }

    async pin(cell) {
        const { code, errors } = await run(['cluster', 'place', this.cluster, account, `${cell}`]);
        assert.equal(code, 0, errors);
        await delay(PINS_MS);
    }

    async killAndRestart(member) {
        await member.end('SIGKILL');
        member.restart();
        await this.serve();
    }

    /** Lets the time of deferred tasks come. */
    async passTime() {
        for (const member of [this.cell, this.root])
            await member.control(`clock/${RELEASED_S}`);
    }

    /** In which cells is a container of that name? */
    async cellsOf(name) {
        const lists = await Promise.all([1, 2, 3].map((cell) => namesIn(this.cluster, cell)));

        return [1, 2, 3].filter((_, i) => lists[i].some((at) => at.service === 'blob' && at.name === name));
    }

    /** The name is whole or free, as every front end says. Returns whether a container is there. */
    async isThere(name) {
        const statuses = await Promise.all(this.members.map((member) => head(member, name)));
        const cells = await this.cellsOf(name);

        assert.ok(statuses.every((status) => status === statuses[0]), `${name}: ${statuses}`);
        assert.ok([200, 404].includes(statuses[0]), `${name}: ${statuses}`);
        assert.equal(cells.length, statuses[0] === 200 ? 1 : 0, `${name} is in cells ${cells}`);
        return statuses[0] === 200;
    }

    /** Two clients create it: afterwards it is there once, and takes blobs. */
    async converges(name) {
        const was = await this.isThere(name);
        const statuses = (await Promise.all([this.front, this.cell].map((member) => create(member, name)))).map(({ status }) => status);

        assert.deepEqual(statuses.sort(), was ? [409, 409] : [201, 409], name);
        assert.ok(await this.isThere(name));
        for (const member of this.members)
            assert.equal(await put(member, name), 201, name);
        const { body } = await this.front.ask('GET', '/?comp=list');
        assert.equal(body.toString().split(`<Name>${name}</Name>`).length, 2, name);
    }

    /** After their containers were deleted and released, the names can be created in another cell: no row is left. */
    async areFree(names) {
        for (const name of names)
            assert.equal((await remove(this.root, name)).status, 202, name);
        await this.passTime();
        await this.pin(3); // and the tasks have run
        for (const name of names) {
            assert.equal((await create(this.root, name)).status, 201, name);
            assert.deepEqual(await this.cellsOf(name), [3], name);
        }
    }
}

/** Sends a request of each name that stops at its step in this process. Returns their responses to come. */
async function stopAll(cells, send, names, at) {
    const responses = [];

    for (const [i, step] of STEPS.entries()) {
        responses.push(send(cells.front, names[i], atGate(step)));
        if (at === cells.cell) {
            await until(`${names[i]} at ${step} in the root`, async () => await count(cells.root, 'gate', step) === 1);
            await cells.root.control(`gate/${step}`);
        }
        await until(`${names[i]} at ${step}`, async () => await count(at, 'gate', step) === 1);
    }
    return responses;
}

const KILLED = ['root', 'cell', 'front'];

for (const at of ['root', 'cell'])
    test(`creates that have come to the ${at === 'root' ? 'root' : 'cell'}: a process is killed at each step`, async (t) => {
        const cells = await new Cells().start(t), all = [];

        for (const killed of KILLED) {
            const names = STEPS.map((step) => `${at}-${killed}-${step}`);
            const responses = await stopAll(cells, create, names, cells[at]);
            /* A client that asks for the name meanwhile is told nothing that a crash could undo. */
            const other = at === 'root' && killed === 'root' ? create(cells.cell, names[2]) : null;
            if (other)
                assert.equal(await Promise.race([other, delay(500)]), undefined);
            const ends = cells.killAndRestart(cells[killed]);
            if (killed !== at)
                for (const step of STEPS)
                    await cells[at].control(`gate/${step}`);
            await ends;
            for (const [i, response] of responses.entries()) {
                const { status } = await response;
                t.diagnostic(`${names[i]}: ${status}`);
                assert.ok([0, 201, 503].includes(status), `${names[i]}: ${status}`);
                assert.ok(status !== 201 || await cells.isThere(names[i]), `${names[i]} is lost`);
            }
            await other;
            for (const name of names)
                await cells.converges(name);
            all.push(...names);
        }
        await cells.areFree(all);
    });

test('deletes that have come to the cell: a process is killed at each step', async (t) => {
    const cells = await new Cells().start(t), all = [];

    for (const killed of KILLED) {
        const names = STEPS.map((step) => `delete-${killed}-${step}`);
        for (const name of names) {
            assert.equal((await create(cells.front, name)).status, 201);
            assert.equal(await put(cells.front, name), 201);
        }
        const responses = [];
        for (const [i, step] of STEPS.entries()) {
            responses.push(remove(cells.front, names[i], atGate(step)));
            await until(`${names[i]} at ${step}`, async () => await count(cells.cell, 'gate', step) === 1);
        }
        const ends = cells.killAndRestart(cells[killed]);
        if (killed !== 'cell')
            for (const step of STEPS)
                await cells.cell.control(`gate/${step}`);
        await ends;
        for (const [i, response] of responses.entries()) {
            const { status } = await response;
            t.diagnostic(`${names[i]}: ${status}`);
            assert.ok([0, 202].includes(status), `${names[i]}: ${status}`);
            assert.ok(status !== 202 || !await cells.isThere(names[i]), `${names[i]} is back`);
        }
        for (const name of names)
            await cells.converges(name);
        all.push(...names);
    }
    await cells.areFree(all);
});

test('the release of a deleted name: a process is killed at each step', async (t) => {
    const cells = await new Cells().start(t), all = [];

    for (const [at, step] of [['cell', 'tells'], ['cell', 'told'], ['root', 'releases'], ['root', 'released']])
        for (const killed of ['root', 'cell']) {
            const name = `release-${step}-${killed}`;

            assert.equal((await create(cells.front, name)).status, 201);
            assert.equal((await remove(cells.front, name)).status, 202);
            await cells[at].control(`job/${step}`);
            await cells.passTime();
            await until(`${name} at ${step}`, async () => await count(cells[at], 'job', step) === 1);
            const other = create(cells.front, name);
            await delay(100);
            const ends = cells.killAndRestart(cells[killed]);
            if (killed !== at)
                await cells[at].control('job/nowhere');
            await ends;
            const { status } = await other;
            t.diagnostic(`${name}: ${status}`);
            assert.ok([0, 201, 503].includes(status), `${name}: ${status}`);
            assert.ok(status !== 201 || await cells.isThere(name), `${name} is lost`);
            await cells.converges(name);
            all.push(name);
        }
    await cells.areFree(all);
});
