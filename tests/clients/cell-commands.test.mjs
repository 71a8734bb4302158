// lagra container, queue, table and share, asked of the owner of any cell: they concern the containers of all cells.
// docs/cells.md; decision: 1102
import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const PINS_MS = 2600; // the root reads pins every two seconds
const { account } = DEVELOPMENT;
const KINDS = [
    ['container', 'blob', (name) => `/${name}?restype=container`], ['queue', 'queue', (name) => `/${name}?comp=metadata`],
    ['table', 'table', (name) => `/Tables('${name}')`], ['share', 'file', (name) => `/${name}?restype=share`],
];

/** A front end for each of three cells. */
async function newCells(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-cell-commands-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    const { code, errors } = await run(['cluster', 'init', cluster, '--cells', '3']);
    assert.equal(code, 0, errors);
    const owners = await Promise.all([1, 2, 3].map((cell) => Member.start(cluster, { args: ['--cell', `${cell}`] })));
    await Promise.all(owners.map((owner) => owner.until(200)));
    await delay(300); // all of them know the owners of all cells
    const lagra = async (cell, ...words) => {
        const { code, output, errors } = await run([...words, '--json', '--location', join(cluster, 'cells', `000${cell}`, 'data')]);
        return code === 0 ? JSON.parse(output) : errors;
    };
    const pin = async (cell) => {
        const placed = await run(['cluster', 'place', cluster, account, `${cell}`]);
        assert.equal(placed.code, 0, placed.errors);
        await delay(PINS_MS);
    };
    return { owners, lagra, pin };
}

test('create, list and delete at any owner; each is in the cell that the root has chosen', async (t) => {
    const { owners, lagra, pin } = await newCells(t);
    const names = (answer) => answer.items.map(({ name }) => name);
    await pin(2);
    for (const [i, [kind, service, path]] of KINDS.entries()) {
        for (const cell of [1, 2, 3])
            assert.equal((await lagra(cell, kind, 'create', `made${cell}`)).created, true, `${kind} at ${cell}`);
        if (kind !== 'queue')
            assert.match(await lagra(3, kind, 'create', 'made1'), /AlreadyExists/i);
        assert.equal((await owners[i % 3].ask('GET', path('made3'), { service })).status, 200);
    }
    await pin(3);
    for (const [kind] of KINDS)
        assert.equal((await lagra(2, kind, 'create', 'third')).created, true);
    for (const [kind] of KINDS)
        for (const cell of [1, 2, 3])
            assert.deepEqual(names(await lagra(cell, kind, 'list')), ['made1', 'made2', 'made3', 'third'], `${kind} at ${cell}`);
    assert.deepEqual(names(await lagra(2, 'container', 'list', '--prefix', 't')), ['third']);
    for (const [kind, service, path] of KINDS) {
        for (const cell of [1, 2, 3])
            assert.equal((await lagra(cell, kind, 'delete', `made${cell}`)).name, `made${cell}`);
        assert.match(await lagra(1, kind, 'delete', 'nothing'), /does not exist|NotFound/i);
        assert.equal((await owners[0].ask('GET', path('made1'), { service })).status, 404);
        assert.deepEqual(names(await lagra(1, kind, 'list')), ['third']);
    }
    await owners[2].end('SIGKILL');
    assert.match(await lagra(1, 'container', 'delete', 'third'), /The owner of the cell cannot be reached/);
    assert.match(await lagra(2, 'container', 'list'), /busy/i);
    assert.equal((await lagra(2, 'container', 'create', '$root')).created, true); // in cell 1
});

test('requests that need an owner that hangs fail within seconds, and are not executed later', async (t) => {
    const { owners, lagra, pin } = await newCells(t);
    const timed = async (...words) => {
        const began = performance.now();
        return [await lagra(...words), performance.now() - began];
    };
    await pin(2);
    assert.equal((await lagra(1, 'container', 'create', 'hangs')).created, true);
    owners[1].signal('SIGSTOP');
    const [deleted, deletedMs] = await timed(1, 'container', 'delete', 'hangs');
    assert.match(deleted, /The owner of the cell (cannot be reached|has not responded; the request may have been executed)/);
    assert.ok(deletedMs < 7000, `${deletedMs}`);
    owners[1].signal('SIGCONT');
    for (let i = 0; i < 100 && !(await lagra(1, 'container', 'list')).items; i++)
        await delay(100);
    await delay(1000);
    /* A list uses an existing connection, so it is sent. */
    assert.deepEqual((await lagra(3, 'container', 'list')).items.map(({ name }) => name), ['hangs']);
    owners[0].signal('SIGSTOP');
    const [listed, listedMs] = await timed(3, 'container', 'list');
    assert.match(listed, /The owner of the cell (cannot be reached|has not responded)/);
    assert.ok(listedMs < 7000, `${listedMs}`);
});
