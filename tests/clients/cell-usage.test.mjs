// The usage of an account whose containers are in several cells: lagra usage adds it up, and the limit on its capacity is
// judged by the sum. docs/cells.md; decision: 1101
import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const BLOCK = [['x-ms-blob-type', 'BlockBlob']];
const PINS_MS = 2600; // the root reads pins every two seconds
const REPORTED_MS = 1500; // cells report twice a second
const MIB = 2 ** 20;
const { account } = DEVELOPMENT;

/** A front end for each of three cells; containers near, far and third, one in each cell. */
async function newCells(t, args) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-cell-usage-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    const { code, errors } = await run(['cluster', 'init', cluster, '--cells', '3']);
    assert.equal(code, 0, errors);
    const owners = await Promise.all([1, 2, 3].map((cell) => Member.start(cluster, { args: ['--cell', `${cell}`, ...args] })));
    await Promise.all(owners.map((owner) => owner.until(200)));
    await delay(300); // all of them know the owners of all cells
    for (const [i, name] of ['near', 'far', 'third'].entries()) {
        const placed = await run(['cluster', 'place', cluster, account, `${i + 1}`]);
        assert.equal(placed.code, 0, placed.errors);
        await delay(PINS_MS);
        assert.equal((await owners[0].ask('PUT', `/${name}?restype=container`)).status, 201);
    }
    return { owners, location: (cell) => join(cluster, 'cells', `000${cell}`, 'data') };
}

const put = async (member, path, bytes) => {
    const { status, headers } = await member.ask('PUT', path, { headers: BLOCK, body: Buffer.alloc(bytes) });
    return status === 201 ? 201 : `${status} ${headers.get('x-ms-error-code')}`;
};
const FULL = '507 InsufficientStorage';

test('lagra usage adds up the cells, at the owner of any of them; without one of them it fails', async (t) => {
    const { owners: [one, two, three], location } = await newCells(t, []);
    for (const [name, count] of [['near', 1], ['far', 2], ['third', 3]])
        for (let i = 0; i < count; i++)
            assert.equal(await put(one, `/${name}/${i}`, 1000 * count), 201);
    assert.equal((await two.ask('PUT', '/queue-of-two', { service: 'queue' })).status, 201);
    for (const cell of [1, 2, 3]) {
        const { code, output, errors } = await run(['usage', '--json', '--location', location(cell)]);
        assert.equal(code, 0, errors);
        const { accounts, containers } = JSON.parse(output);
        assert.deepEqual(accounts, [
            { account, service: 'blob', objects: 6, bytes: 14_000, containers: 3 },
            { account, service: 'queue', objects: 0, bytes: 0, containers: 1 },
        ]);
        assert.deepEqual(containers.map(({ name, bytes }) => [name, bytes]), [['third', 9000], ['far', 4000], ['near', 1000], ['queue-of-two', 0]]);
    }
    await three.end('SIGKILL');
    const { code, errors } = await run(['usage', '--location', location(1)]);
    assert.equal(code, 1);
    assert.match(errors, /The owner of cell 3 has not reported its usage/);
});

test('the capacity of an account is that of all cells, also while a cell has no owner; deletions elsewhere count', async (t) => {
    const { owners: [one, two, three] } = await newCells(t, ['--accountCapacity', '4', '--usageEvery', '1h']);
    assert.equal(await put(two, '/far/a', 2 * MIB), 201);
    assert.equal(await put(one, '/near/a', MIB), 201);
    await delay(REPORTED_MS);
    for (const [member, path] of [[three, '/third/a'], [one, '/near/b'], [two, '/far/b']])
        assert.equal(await put(member, path, 1.5 * MIB), FULL, path);
    assert.equal(await put(three, '/third/a', MIB / 2), 201);
    await delay(REPORTED_MS);
    for (const [member, path] of [[three, '/third/b'], [one, '/near/b'], [two, '/far/b']])
        assert.equal(await put(member, path, 0.75 * MIB), FULL, path);
    // A refusal at one cell makes the others count again.
    assert.equal((await one.ask('DELETE', '/far/a')).status, 202);
    let status;
    for (let i = 0; i < 60 && status !== 201; i++, await delay(500))
        status = await put(three, '/third/c', 2 * MIB);
    assert.equal(status, 201);
    await delay(REPORTED_MS);
    await three.end('SIGKILL');
    assert.equal(await put(two, '/far/c', MIB), FULL);
    three.restart(); // until it has counted, its bytes are those that its last owner reported
    await three.until(200);
    await delay(REPORTED_MS);
    assert.equal(await put(two, '/far/c', MIB), FULL);
    assert.equal(await put(one, '/near/c', MIB / 4), 201);
});
