// What an operator of a cluster sees and does: health over all cells, `lagra cluster status`. docs/cells.md
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Member } from '../lib/cell_member.mjs';
import { startCells } from '../lib/cells.mjs';
import { envelope, peerOf, post } from '../lib/peer_request.mjs';
import { run } from '../lib/program.mjs';

const BLOCK = [['x-ms-blob-type', 'BlockBlob']];

const ready = async (member, of = '') => {
    const { status, body } = await member.ask('GET', `/-/ready${of}`, { raw: true });

    return [status, body.toString()];
};
/** Waits until the response is this one: front ends read a change within half a second, and
 *  notice after three that an owner is silent. */
const untilReady = async (member, of, expected) => {
    for (let i = 0; i < 300 && (await ready(member, of))[1] !== expected[1]; i++)
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
    for (const member of [one, standby]) {
        await untilReady(member, '?cluster', [503, 'cell 3 has no owner that executes requests\n']);
        assert.deepEqual(await ready(member), [200, 'ready\n']);
    }
    assert.equal((await run(['cluster', 'add-cell', cluster])).code, 0);
    await untilReady(one, '?cluster', [503, 'cell 3 has no owner that executes requests\ncell 4 has no owner that executes requests\n']);
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

test('metrics tell which cells a front end owns and sees served, where it sends requests, and what it moved', async (t) => {
    const { cluster, owners, place } = await startCells(t, { withMetrics: true });
    const [one, two] = owners;
    const until = async (member, line) => {
        for (let i = 0; i < 300 && !line.test(await member.metrics()); i++)
            await delay(20);
        assert.match(await member.metrics(), line);
    };

    for (const line of [/^lagra_cell_owned{cell="1"} 1$/m, /^lagra_cell_owned{cell="2"} 0$/m, /^lagra_cell_served{cell="1"} 1$/m, /^lagra_cell_served{cell="2"} 1$/m])
        await until(one, line);
    await place(2);
    assert.equal((await one.ask('PUT', '/measured?restype=container')).status, 201);
    assert.equal((await one.ask('PUT', '/measured/b', { headers: BLOCK, body: Buffer.alloc(100_000) })).status, 201);
    await until(one, /^lagra_forwarded_cell_requests_total{cell="2",result="responded"} 2$/m);
    await until(one, /^lagra_forwarded_cell_requests_total{cell="1",result="responded"} 0$/m);
    await until(one, /^lagra_placements_cached\{\} 1$/m);
    await until(one, /^lagra_cell_bytes{cell="2"} [1-9]\d{5,}$/m);
    await until(two, /^lagra_lease_renewals_total{result="in_time"} [1-9]/m);

    const { code, errors } = await run(['cluster', 'move', cluster, one.account, 'container', 'measured', '1']);
    assert.equal(code, 0, errors);
    await until(two, /^lagra_moves_total{result="moved"} 1$/m);
    await two.end('SIGKILL');
    await until(one, /^lagra_cell_served{cell="2"} 0$/m);
    await until(one, /^lagra_cell_served{cell="1"} 1$/m);
});

test('during a rolling upgrade front ends of two versions forward to each other in the older protocol', async (t) => {
    const { cluster, owners: [old, oldTwo], place } = await startCells(t, { env: { LAGRA_PROTOCOL_RANGE: '5-5' } });
    const start = async (range) => {
        const member = await Member.start(cluster, { env: { LAGRA_PROTOCOL_RANGE: range } });
        t.after(() => member.end('SIGKILL'));
        return member;
    };
    const namesFrom = async (member) => (await member.ask('GET', '/?comp=list')).body.toString().match(/<Name>[^<]*/g);
    const newer = await start('5-6');

    await newer.until(200, '/-/ready');
    await place(2);
    assert.equal((await newer.ask('PUT', '/upgraded?restype=container')).status, 201);
    assert.equal((await newer.ask('PUT', '/upgraded/b', { headers: BLOCK, body: Buffer.from('1') })).status, 201);
    /* The newer front end takes the cell over: it is sent forwarded requests, and those of cell 1 for lists. */
    await oldTwo.end();
    await newer.until(200);
    assert.equal((await old.ask('GET', '/upgraded/b')).status, 200);
    assert.deepEqual(await namesFrom(old), ['<Name>upgraded']);
    assert.deepEqual(await namesFrom(newer), ['<Name>upgraded']);

    /* A front end that does not understand the old one any more says so. It still forwards to the newer one. */
    const newest = await start('6-7');
    await newest.until(503, '/-/ready?cluster');
    await untilReady(newest, '?cluster', [503, 'cell 1 has no owner that executes requests\n']);
    assert.equal((await newest.ask('GET', '/?comp=list')).status, 503);
    assert.match(newest.stderr, /cell 1: requests cannot be forwarded to its owner .*, which understands versions 5 to 5 of the protocol between front ends; this front end understands 6 to 7/);
    assert.match((await ready(newest, '?cell'))[1], /cell 1 is owned by .*, whose version does not understand this one/);
});

const keysOf = (cluster) => readFileSync(join(cluster, 'key'), 'latin1').trim().split('\n').map((line) => line.split(' ')[2]);

/** Writes and reads through every front end until told to stop: { counts, failed, stop }. */
function traffic(members, containers) {
    const counts = { done: 0 }, failed = [];
    let ends = false;
    const clients = members.flatMap((member, m) => containers.map(async (container, c) => {
        for (let i = 0; !ends; i++) {
            /* Large bodies are sent as they arrive, small ones are held. */
            const body = randomBytes(i % 5 === 0 ? 200_000 : 100), name = `/${container}/b${m}-${c}`;
            const results = [await member.ask('PUT', name, { headers: BLOCK, body }).catch((e) => ({ status: e.message })),
                await member.ask('GET', name).catch((e) => ({ status: e.message }))];

            failed.push(...results.map(({ status }) => status).filter((status) => ![200, 201].includes(status)));
            if (results[1].status === 200 && !results[1].body.equals(body))
                failed.push('another body');
            counts.done++;
        }
    }));

    return { counts, failed, stop: async () => {
        ends = true;
        await Promise.all(clients);
    } };
}

async function cellsWithContainers(t) {
    const cells = await startCells(t, { withStandby: true });

    for (const [i, name] of ['first', 'second'].entries()) {
        await cells.place(i + 1);
        assert.equal((await cells.owners[0].ask('PUT', `/${name}?restype=container`)).status, 201);
    }
    return { ...cells, members: [...cells.owners, cells.standby] };
}

test('the key is rotated under traffic at three front ends: no request fails, and the old key is refused', async (t) => {
    const { cluster, owners, members } = await cellsWithContainers(t);
    const [old] = keysOf(cluster), before = await peerOf(owners[0], cluster);
    const clients = traffic(members, ['first', 'second']);
    const locate = Buffer.concat([envelope(), post('/-/nothing', Buffer.alloc(0))]);

    assert.equal(await before(locate), 404);
    await delay(500);
    const rotation = run(['cluster', 'rotate-key', cluster], {}, 60_000);
    await delay(1000);
    assert.deepEqual([keysOf(cluster).length, keysOf(cluster)[0]], [2, old]);
    const second = await run(['cluster', 'rotate-key', cluster]);
    assert.match(second.errors, /its key is being rotated/);
    const { code, output, errors } = await rotation;
    assert.deepEqual([code, errors], [0, '']);
    assert.match(output, /replaced the key of .*; front ends now use key [0-9a-f]{8}\n/);
    await delay(500);
    await clients.stop();
    assert.deepEqual(clients.failed, []);
    assert.ok(clients.counts.done > 10, `${clients.counts.done}`);
    assert.equal(keysOf(cluster).length, 1);
    assert.notEqual(keysOf(cluster)[0], old);
    for (const owner of owners) {
        await assert.rejects((await peerOf(owner, cluster, { psk: Buffer.from(old, 'hex') }))(locate));
        assert.equal(await (await peerOf(owner, cluster))(Buffer.concat([envelope({ cell: owners.indexOf(owner) + 1 }), post('/-/nothing', Buffer.alloc(0))])), 404);
    }
    /* A front end that starts, and one that takes a cell over. */
    await owners[1].end('SIGKILL');
    owners[1].restart();
    await Promise.all(members.map((member) => member.until(200, '/-/ready?cluster')));
    for (const member of members)
        assert.equal((await member.ask('GET', '/second/b0-1')).status, 200);
});

test('an owner that could not be reached is tried again once it has renewed its lease', async (t) => {
    const { cluster, owners: [one], standby } = await startCells(t, { cells: 1, withStandby: true });
    const folders = [0, 1].map((i) => `${cluster}-${i}`);
    for (const folder of folders)
        assert.equal((await run(['cluster', 'init', folder])).code, 0);
    let next = 0;
    const replaceKey = () => {
        writeFileSync(join(cluster, 'new'), readFileSync(join(folders[next++ % 2], 'key')), { mode: 0o600 });
        renameSync(join(cluster, 'new'), join(cluster, 'key'));
    };
    const readKey = async (member, from) => {
        for (let i = 0; i < 1000 && !/its key .* is used\n/.test(member.stderr.slice(from)); i++)
            await delay(5);
    };
    let isFirst = false;

    /* The standby reads the key before the owner does: they read it every two seconds, at different times. */
    for (let i = 0; i < 5 && !isFirst; i++) {
        const before = one.stderr.length;
        replaceKey();
        await readKey(one, before); // and again in two seconds
        const from = one.stderr.length, fromStandby = standby.stderr.length;
        replaceKey();
        await readKey(standby, fromStandby);
        isFirst = !/is used/.test(one.stderr.slice(from));
    }
    assert.ok(isFirst, 'the owner reads the key first');
    assert.equal((await standby.ask('GET', '/none/b')).status, 404);
});

test('a rotation that is killed at any step leaves a cluster that works, and can be run again', async (t) => {
    const { cluster, members } = await cellsWithContainers(t);
    const clients = traffic(members, ['second']);

    /* Killed while the new key is only accepted, and while both are, with the new one used. */
    for (const [isThere, of] of [[(keys, [old]) => keys.length === 2 && keys[0] === old, 'accepted'], [(keys, [old]) => keys.length === 2 && keys[1] === old, 'used']]) {
        const before = keysOf(cluster);
        const child = spawn(process.env.LAGRA_BINARY, ['cluster', 'rotate-key', cluster], { stdio: 'ignore' });
        const end = once(child, 'exit');

        for (let i = 0; !isThere(keysOf(cluster), before); i++, await delay(20))
            assert.ok(i < 1000, `the new key is not ${of}`);
        child.kill('SIGKILL');
        await end;
        await delay(500);
        const { code, errors } = await run(['cluster', 'rotate-key', cluster], {}, 60_000);
        assert.deepEqual([code, errors], [0, ''], of);
        assert.equal(keysOf(cluster).length, 1);
        assert.notEqual(keysOf(cluster)[0], before[0]);
    }
    await clients.stop();
    assert.deepEqual(clients.failed, []);
});

test('a rotation waits for an owner that does not read the file', async (t) => {
    const { cluster, owners, members } = await cellsWithContainers(t);

    owners[1].signal('SIGSTOP');
    await run(['cluster', 'rotate-key', cluster], {}, 10_000); // is killed then
    assert.equal(keysOf(cluster).length, 2);
    const [old] = keysOf(cluster);
    owners[1].signal('SIGCONT');
    /* It has lost its lease, but not its cell. */
    await Promise.all(members.map((member) => member.until(200, '/-/ready?cluster')));
    assert.equal((await run(['cluster', 'rotate-key', cluster], {}, 60_000)).code, 0);
    assert.ok(!keysOf(cluster).includes(old));
    for (const member of members)
        assert.equal((await member.ask('PUT', '/second/b', { headers: BLOCK, body: Buffer.from('x') })).status, 201);
});

test('rotate-key refuses what is no cluster, or has no key', async (t) => {
    const { cluster } = await startCells(t, { cells: 1 });

    assert.match((await run(['cluster', 'rotate-key', '/nowhere'])).errors, /cannot use the cluster/);
    writeFileSync(join(cluster, 'key'), 'damaged\n');
    const { code, errors } = await run(['cluster', 'rotate-key', cluster]);
    assert.equal(code, 1);
    assert.match(errors, /its file `key` is damaged/);
});
