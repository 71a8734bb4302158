// What an operator of a cluster sees and does: health over all cells, `lagra cluster status`. docs/cells.md
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startCells } from '../lib/cells.mjs';
import { run } from '../lib/program.mjs';

const SILENT_MS = 3500;
const BLOCK = [['x-ms-blob-type', 'BlockBlob']];

const ready = async (member, of = '') => {
    const { status, body } = await member.ask('GET', `/-/ready${of}`, { raw: true });

    return [status, body.toString()];
};
/** Waits until the response is this one: front ends read a change within half a second. */
const untilReady = async (member, of, expected) => {
    for (let i = 0; i < 50 && (await ready(member, of))[1] !== expected[1]; i++)
        await delay(50);
    assert.deepEqual(await ready(member, of), expected);
};
const cellsOf = async (cluster) => {
    const { code, output, errors } = await run(['cluster', 'status', cluster, '--json']);

    assert.equal(code, 0, errors);
    return JSON.parse(output).cells;
};

test('/-/ready?cluster is 200 at every front end while all cells have owners, and names those that have none', async (t) => {
    const { cluster, owners, standby } = await startCells(t, { cells: 3, withStandby: true });
    const [one, two, three] = owners;

    for (const member of [...owners, standby])
        await untilReady(member, '?cluster', [200, 'ready\n']);
    assert.equal((await ready(standby, '?cell'))[0], 503);
    /* The standby takes the first cell that is free; the other one has no owner any more. */
    await two.end('SIGKILL');
    await standby.until(200);
    await three.end('SIGKILL');
    await delay(SILENT_MS);
    for (const member of [one, standby]) {
        assert.deepEqual(await ready(member, '?cluster'), [503, 'cell 3 has no owner that executes requests\n']);
        assert.deepEqual(await ready(member), [200, 'ready\n']);
    }
    assert.equal((await run(['cluster', 'add-cell', cluster])).code, 0);
    await delay(2500);
    assert.deepEqual(await ready(one, '?cluster'), [503, 'cell 3 has no owner that executes requests\ncell 4 has no owner that executes requests\n']);
    three.restart();
    await three.until(200);
    two.restart();
    await two.until(200, '/-/ready');
    assert.equal((await ready(two, '?cell'))[0], 503); // --cell 2 has an owner
    await untilReady(two, '?cluster', [503, 'cell 4 has no owner that executes requests\n']);
});

test('an owner that has not opened its store does not count', async (t) => {
    const { owners, standby } = await startCells(t, { withStandby: true });
    const [, two] = owners;
    let seen = 0;

    await two.end('SIGKILL');
    /* It becomes the owner at once, and serves when the lease of the one before has ended. */
    for (let i = 0; i < 1000 && await standby.health() !== 200; i++) {
        const [status, text] = await ready(owners[0], '?cluster');

        seen += text === 'cell 2 has no owner that executes requests\n';
        assert.ok(status === 200 || text === 'cell 2 has no owner that executes requests\n', text);
        await delay(20);
    }
    assert.ok(seen > 20, `${seen}`);
    await untilReady(owners[0], '?cluster', [200, 'ready\n']);
});

test('lagra cluster status shows each cell: owner, version, age of its lease, drained, a move in progress', async (t) => {
    const { cluster, owners, place } = await startCells(t);
    const [one] = owners;
    const { output: version } = await run(['--version']);

    await place(1);
    assert.equal((await one.ask('PUT', '/moved?restype=container')).status, 201);
    assert.equal((await one.ask('PUT', '/moved/b', { headers: BLOCK, body: Buffer.alloc(100_000) })).status, 201);
    const cells = await cellsOf(cluster);
    for (const [i, cell] of cells.entries()) {
        assert.deepEqual([cell.cell, cell.state, cell.serves, cell.drained, cell.pid, cell.move], [i + 1, 'owned', true, false, owners[i].pid, undefined]);
        assert.ok(version.includes(cell.version) && cell.version.length > 0, `${version} ${cell.version}`);
        assert.ok(cell.lease_age_ms < 2500, `${cell.lease_age_ms}`);
    }
    /* A move that stops before the seal. */
    await one.control('job/stepped');
    const moving = run(['cluster', 'move', cluster, one.account, 'container', 'moved', '2'], {}, 60_000);
    await delay(2500);
    const [{ move }] = await cellsOf(cluster);
    const { output } = await run(['cluster', 'status', cluster]);
    await one.control('job/nowhere');
    assert.equal((await moving).code, 0);
    assert.equal(move, `blob ${one.account}/moved to cell 2`);
    assert.match(output, /^ +moves blob devstoreaccount1\/moved to cell 2$/m);
    assert.match(output, /^cell 0001 {2}owned {2}\d+ bytes {2}by .*, version \d\S*, incarnation 1; lease renewed \d\.\d s ago$/m);
    await delay(2500);
    assert.equal((await cellsOf(cluster))[0].move, undefined);
});
