// Cells: one front end at a time owns a data folder that several could reach, and nothing is answered by another.
// docs/cells.md; decision: 935 to 939
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { run } from '../lib/program.mjs';
import { ANY_PORTS } from '../lib/server.mjs';
import { untilStopped } from '../lib/stopped.mjs';

const LEASE_MS = 3000;

async function newCluster(t, cells = 1) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-cells-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    const { code, errors } = await run(['cluster', 'init', cluster, '--cells', `${cells}`]);
    assert.equal(code, 0, errors);
    return { folder, cluster };
}

async function newMember(t, cluster, options) {
    const member = await Member.start(cluster, options);
    t.after(() => member.end('SIGKILL'));
    return member;
}

const status = async (cluster) => JSON.parse((await run(['cluster', 'status', cluster, '--json'])).output).cells;

const put = (member, name, text) => member.ask('PUT', `/cells/${name}`, {
    headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.from(text),
});
const get = (member, name) => member.ask('GET', `/cells/${name}`);
const newContainer = async (member) => {
    const { status: code } = await member.ask('PUT', '/cells?restype=container');
    assert.equal(code, 201);
};

/** Writes by some clients until the owner goes away: the names that were acknowledged. */
async function writeUntil(member, away) {
    const acknowledged = [];
    let ends = false, number = 0;
    const writer = async () => {
        while (!ends) {
            const name = `b${number++}`;
            const answer = await put(member, name, `of ${name}`).catch(() => null);
            if (answer?.status === 201)
                acknowledged.push(name);
            else
                await delay(5);
        }
    };
    const writers = Array.from({ length: 8 }, writer);
    while (acknowledged.length < 30)
        await delay(20);
    await away();
    ends = true;
    await Promise.all(writers);
    return acknowledged;
}

async function hasAll(member, names) {
    assert.ok(names.length > 10, `${names.length} were acknowledged`);
    for (const name of names) {
        const answer = await get(member, name);
        assert.equal(answer.status, 200, name);
        assert.equal(answer.body.toString(), `of ${name}`);
    }
}

test('options of cells that do not go together, and folders that are no clusters', async (t) => {
    const { folder, cluster } = await newCluster(t);
    for (const [args, message] of [
        [['--cluster', cluster, '--location', folder], /--cluster and --location/],
        [['--cluster', cluster, '--inMemoryPersistence'], /--cluster and --inMemoryPersistence/],
        [['--cluster', cluster, '--keepReading'], /--cluster and --keepReading/],
        [['--cell', '1'], /--cell, --fenceCommand, --clusterHost, --clusterPort and --smbReferralHost require --cluster/],
        [['--clusterPort', '1'], /--cell, --fenceCommand, --clusterHost, --clusterPort and --smbReferralHost require --cluster/],
        [['--cluster', cluster, '--clusterHost', '0.0.0.0'], /--clusterHost requires an IP address/],
        [['--cluster', cluster, '--clusterHost', '::'], /--clusterHost requires an IP address/],
        [['--cluster', cluster, '--clusterHost', 'localhost'], /--clusterHost requires an IP address/],
        [['--smbReferralHost', 'a.example'], /--smbReferralHost require --cluster/],
        [['--cluster', cluster, '--smbReferralHost', '::1'], /--smbReferralHost requires a host name or an IPv4 address/],
        [['--cluster', cluster, '--smbReferralHost', 'a\\b'], /--smbReferralHost requires a host name/],
        [['--cluster', cluster, '--smbReferralHost', ''], /--smbReferralHost requires a host name/],
        [['cluster', 'init', cluster, '--cells', '0'], /--cells/],
        [['cluster', 'evict', cluster, '1'], /--fence-command/],
    ]) {
        const { code, errors } = await run(args);
        assert.equal(code, 2, `${args}`);
        assert.match(errors, message);
    }
    for (const [args, message] of [
        [['--cluster', folder, ...ANY_PORTS], /no file `cluster`/],
        [['--cluster', cluster, '--cell', '7', ...ANY_PORTS], /no such cell/],
        [['cluster', 'init', cluster], /already a cluster/],
        [['cluster', 'status', folder], /no file `cluster`/],
        [['cluster', 'evict', cluster, '7', '--fence-command', '/bin/true'], /cannot be read/],
    ]) {
        const { code, errors } = await run(args);
        assert.equal(code, 1, `${args}`);
        assert.match(errors, message);
    }
});

test('a standby takes over when the owner is killed under writers: nothing acknowledged is lost', async (t) => {
    const { cluster } = await newCluster(t);
    const owner = await newMember(t, cluster);
    await owner.until(200);
    await newContainer(owner);
    const standby = await newMember(t, cluster);
    await standby.until(503);
    assert.equal(await standby.health('/-/live'), 200);
    const [cell] = await status(cluster);
    assert.equal(cell.state, 'owned');
    assert.equal(cell.address, `127.0.0.1:${owner.ports.blob}`);
    const acknowledged = await writeUntil(owner, () => owner.end('SIGKILL'));
    await standby.until(200);
    await hasAll(standby, acknowledged);
    assert.equal((await status(cluster))[0].incarnation, cell.incarnation + 1);
    /* The one that died stands by when it is started again. */
    owner.restart();
    await owner.until(503);
    assert.equal(await standby.health(), 200);
});

test('SIGTERM hands the cell over; a standby ends at once', async (t) => {
    const { cluster } = await newCluster(t);
    const owner = await newMember(t, cluster);
    await owner.until(200);
    const standby = await newMember(t, cluster), other = await newMember(t, cluster);
    await Promise.all([standby.until(503), other.until(503)]);
    assert.deepEqual(await other.end(), { code: 0, signal: null });
    await newContainer(owner);
    const acknowledged = await writeUntil(owner, () => owner.end());
    assert.deepEqual(await owner.ended, { code: 0, signal: null });
    await standby.until(200);
    await hasAll(standby, acknowledged);
    assert.deepEqual(await standby.end(), { code: 0, signal: null });
    assert.equal((await status(cluster))[0].state, 'free');
});

for (const sandbox of ['off', 'on'])
    test(`an owner that is stopped is fenced by the command, and the standby takes over: --sandbox ${sandbox}`, async (t) => {
        const { folder, cluster } = await newCluster(t);
        const command = join(folder, 'fence');
        /* The command is not in the sandbox: it writes where the server may not. */
        await writeFile(command, `#!/bin/sh\necho "$@" > ${join(folder, 'fenced')}\n[ "$1" = 1 ] && kill -9 "$5"\n`);
        await chmod(command, 0o700);
        const owner = await newMember(t, cluster, { args: ['--sandbox', sandbox] });
        await owner.until(200);
        await newContainer(owner);
        const standby = await newMember(t, cluster, { args: ['--fenceCommand', command, '--sandbox', sandbox] });
        await standby.until(503);
        assert.match(await readFile(`/proc/${standby.pid}/status`, 'utf8'), sandbox === 'on' ? /^Seccomp:\s+2$/m : /^Seccomp:\s+0$/m);
        const acknowledged = await writeUntil(owner, async () => {
            owner.signal('SIGSTOP');
            await standby.until(200);
        });
        assert.deepEqual(await owner.ended, { code: null, signal: 'SIGKILL' });
        assert.match(standby.stderr, /does not renew its lease.*Fencing it/);
        assert.match(await readFile(join(folder, 'fenced'), 'utf8'), new RegExp(`^1 \\S+ \\S+ .*${owner.pid} [0-9a-f-]{36}`));
        await hasAll(standby, acknowledged);
        /* The helper of the sandbox ends with its server, and takes no signals of its own. */
        const helpers = (await readFile(`/proc/${standby.pid}/task/${standby.pid}/children`, 'utf8')).trim().split(' ').filter(Boolean);
        assert.equal(helpers.length, sandbox === 'on' ? 1 : 0);
        await standby.end('SIGKILL');
        for (let i = 0; i < 100 && helpers.some((pid) => existsSync(`/proc/${pid}`)); i++)
            await delay(20);
        assert.ok(!helpers.some((pid) => existsSync(`/proc/${pid}`)));
    });

test('a standby that has taken one cell over fences the owner of another one that died at about the same time', async (t) => {
    const { folder, cluster } = await newCluster(t, 2);
    const command = join(folder, 'fence');
    await writeFile(command, '#!/bin/sh\nkill -9 "$5"\n');
    await chmod(command, 0o700);
    const [one, two] = await Promise.all([1, 2].map((cell) => newMember(t, cluster, { args: ['--cell', `${cell}`] })));
    await Promise.all([one.until(200), two.until(200)]);
    const standby = await newMember(t, cluster, { args: ['--fenceCommand', command] });
    await standby.until(503);
    one.signal('SIGSTOP');
    await delay(1500);
    two.signal('SIGSTOP');
    await standby.until(200);
    assert.equal(two.hasEnded, false); // its lease has not ended yet
    const ended = await Promise.race([two.ended, delay(15_000, 'not fenced', { ref: false })]);
    assert.deepEqual(ended, { code: null, signal: 'SIGKILL' });
    /* An owner that becomes silent later is not fenced, because no front end stands by for its cell. */
    const next = await newMember(t, cluster, { args: ['--cell', '2'] });
    await next.until(200);
    next.signal('SIGSTOP');
    await delay(5000);
    next.signal('SIGCONT');
    await next.until(200);
});

test('without a fence command the standby waits, and says so; an operator evicts the owner', async (t) => {
    const { folder, cluster } = await newCluster(t);
    const command = join(folder, 'fence');
    await writeFile(command, '#!/bin/sh\nkill -9 "$5"\n');
    await chmod(command, 0o700);
    const owner = await newMember(t, cluster), began = performance.now();
    await owner.until(200);
    const standby = await newMember(t, cluster);
    await standby.until(503);
    owner.signal('SIGSTOP');
    while (!/Without --fenceCommand/.test(standby.stderr) && performance.now() - began < 60000)
        await delay(50);
    assert.match(standby.stderr, /Without --fenceCommand this front end waits/);
    assert.equal(await standby.health(), 503);
    assert.equal((await status(cluster))[0].state, 'silent');
    const { code, output, errors } = await run(['cluster', 'evict', cluster, '1', '--fence-command', command]);
    assert.equal(code, 0, errors);
    assert.match(output, /is fenced/);
    await standby.until(200);
});

/** What comes by the SMB port for a negotiation; empty: it was closed. ms-smb2: 2.2.3 */
function negotiate(port) {
    const header = Buffer.alloc(64);
    const body = Buffer.alloc(36 + 2);
    header.write('\xfeSMB', 0, 'latin1');
    header.writeUInt16LE(64, 4);
    header.writeUInt16LE(1, 14); // credits
    body.writeUInt16LE(36, 0);
    body.writeUInt16LE(1, 2); // one dialect
    body.writeUInt16LE(1, 4);
    body.writeUInt16LE(0x0210, 36);
    const message = Buffer.concat([header, body]), frame = Buffer.alloc(4);
    frame.writeUInt32BE(message.length, 0);
    return new Promise((resolve) => {
        const socket = net.connect(port, '127.0.0.1');
        let got = Buffer.alloc(0);
        socket.on('data', (bytes) => {
            got = Buffer.concat([got, bytes]);
            socket.destroy();
        });
        socket.on('error', () => {});
        socket.on('close', () => resolve(got));
        socket.write(Buffer.concat([frame, message]));
    });
}

test('without a lease nothing is answered, neither by REST nor by SMB; with it again all is', async (t) => {
    const { cluster } = await newCluster(t);
    const owner = await newMember(t, cluster, { smb: true, args: ['--smbAllowUnencrypted'] });
    await owner.until(200);
    await newContainer(owner);
    assert.equal((await put(owner, 'b', 'of b')).status, 201);
    assert.ok((await negotiate(owner.ports.smb)).length > 64);
    await owner.control('renewals/hold');
    await delay(LEASE_MS + 100);
    await assert.rejects(get(owner, 'b'), /closed/);
    await assert.rejects(put(owner, 'b2', 'of b2'), /closed/);
    await assert.rejects(owner.ask('GET', '/cells/b', { service: 'queue' }), /closed/);
    assert.equal(await owner.health(), 0);
    assert.equal((await negotiate(owner.ports.smb)).length, 0);
    await owner.control('renewals/go');
    await owner.until(200);
    assert.equal((await get(owner, 'b')).body.toString(), 'of b');
    assert.ok((await negotiate(owner.ports.smb)).length > 64);
});

test('an owner that was stopped for longer than its lease answers nothing that came meanwhile', async (t) => {
    const { cluster } = await newCluster(t);
    const owner = await newMember(t, cluster);
    await owner.until(200);
    await newContainer(owner);
    assert.equal((await put(owner, 'b', 'of b')).status, 201);
    await owner.control('renewals/hold'); // else it may renew before it answers, which is right too
    owner.signal('SIGSTOP');
    await untilStopped(owner.pid);
    const asked = get(owner, 'b').then(() => 'answered', () => 'closed');
    await delay(LEASE_MS + 100);
    owner.signal('SIGCONT');
    assert.equal(await asked, 'closed');
});

test('each of two cells has an owner, a third front end stands by for both, and all take requests', async (t) => {
    const { cluster } = await newCluster(t, 2);
    const two = await newMember(t, cluster, { args: ['--cell', '2'] });
    await two.until(200);
    assert.equal((await two.ask('GET', '?comp=list')).status, 503); // accounts are in cell 1, which nobody owns
    const one = await newMember(t, cluster);
    await one.until(200);
    const three = await newMember(t, cluster);
    await three.until(503);
    for (const member of [one, two, three]) {
        await member.until(200, '/-/ready');
        for (const service of ['blob', 'queue', 'file', 'table'])
            assert.equal((await member.ask('GET', service === 'table' ? '/Tables' : '?comp=list', { service })).status, 200);
    }
    assert.deepEqual((await status(cluster)).map(({ cell, state, address }) => [cell, state, address]),
        [[1, 'owned', `127.0.0.1:${one.ports.blob}`], [2, 'owned', `127.0.0.1:${two.ports.blob}`]]);
    await two.end('SIGKILL');
    await three.until(200);
    assert.equal(await one.health(), 200);
    /* A cell that is added meanwhile is taken by a front end that owns none. */
    const { code, errors, output } = await run(['cluster', 'add-cell', cluster]);
    assert.equal(code, 0, errors);
    assert.match(output, /added cell 0003/);
    two.restart();
    await delay(300);
    await (await newMember(t, cluster)).until(200);
    assert.deepEqual((await status(cluster)).map(({ cell, state }) => [cell, state]), [[1, 'owned'], [2, 'owned'], [3, 'owned']]);
});
