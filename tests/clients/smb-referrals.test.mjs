// SMB on a cluster of several cells: every front end refers clients to the owner of the cell of a share, as DFS does. Samba's
// smbclient uses the port of its command line for referrals too; other clients use 445. docs/smb.md; decision: 1120
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { run } from '../lib/program.mjs';
import { freePorts } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const PINS_READ_MS = 2700; // the root reads them again every 2000 ms
const KNOWN_MS = 300; // until the owners of all cells are known to each other
const FOLLOWED_MS = 5000; // a standby asks for accounts every 500 ms

/** Front ends for two cells and one that stands by, with SMB on one port and addresses of their own. */
async function startCluster(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-referrals-'));
    const cluster = join(folder, 'shared');
    const [port] = await freePorts(1);

    removeClusterAfter(t, cluster);
    t.after(() => rm(folder, { recursive: true, force: true }));
    const { code, errors } = await run(['cluster', 'init', cluster, '--cells', '2']);
    assert.equal(code, 0, errors);
    const start = async (host, args) => {
        const log = join(folder, `${host}.log`);
        const member = await Member.start(cluster, { args: ['--smbHost', host, '--smbPort', `${port}`, '--accessLog', log, ...args] });

        t.after(() => member.end('SIGKILL'));
        member.smbHost = host;
        member.files = () => readFileSync(log, 'utf8').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line))
            .filter(({ operation, path }) => operation === 'CREATE' && path).map(({ path }) => path);
        return member;
    };
    const owners = await Promise.all([1, 2].map((cell) => start(`127.0.0.${cell + 1}`, ['--cell', `${cell}`])));
    await Promise.all(owners.map((owner) => owner.until(200)));
    const standby = await start('127.0.0.4', []);
    await standby.until(200, '/-/ready');
    await delay(KNOWN_MS);
    return { folder, cluster, port, owners, standby };
}

/** Has a share created in this cell. */
async function createShare({ cluster, owners: [root] }, name, cell) {
    const { code, errors } = await run(['cluster', 'place', cluster, DEVELOPMENT.account, `${cell}`]);

    assert.equal(code, 0, errors);
    await delay(PINS_READ_MS);
    assert.equal((await root.ask('PUT', `/${name}?restype=share`, { service: 'file', headers: [['x-ms-version', '2025-05-05']] })).status, 201);
}

/** Runs commands of smbclient: { code, text }. */
async function smbclient({ folder, port }, member, share, commands, { account = DEVELOPMENT.account, key = DEVELOPMENT.key } = {}) {
    const own = ['lock directory', 'state directory', 'cache directory', 'private dir', 'pid directory'];
    const configuration = join(folder, 'smb.conf');
    let text = '';

    writeFileSync(configuration, ['[global]', 'client min protocol = SMB3', 'client use kerberos = off',
        ...own.map((name) => `${name} = ${folder}`), ''].join('\n'));
    const child = spawn('smbclient', [`//${member.smbHost}/${share}`, '-p', `${port}`, '-U', `${account}%${key}`, `--configfile=${configuration}`,
        '--client-protection=encrypt', '-c', commands.join('; ')], { cwd: folder });

    for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (more) => {
            text += more;
        });
    const [code] = await once(child, 'close');
    return { code, text };
}

test('a client reaches a share through any front end, also after its owner was lost', async (t) => {
    const cluster = await startCluster(t);
    const { folder, owners: [first, second], standby } = cluster;
    const content = randomBytes(300_000);
    const exchange = async (member, share, name) => {
        const { code, text } = await smbclient(cluster, member, share, [`put sent ${name}`, `get ${name} back`]);

        assert.equal(code, 0, `${share} through ${member.smbHost}: ${text}`);
        assert.ok(readFileSync(join(folder, 'back')).equals(content));
    };

    writeFileSync(join(folder, 'sent'), content);
    await createShare(cluster, 'two', 2);
    await createShare(cluster, 'one', 1);
    for (const [share, owner] of [['one', first], ['two', second]])
        for (const member of [first, second, standby]) {
            const name = `through-${member.smbHost}`;

            await exchange(member, share, name);
            for (const other of [first, second, standby])
                assert.equal(other.files().includes(`${share}/${name}`), other === owner, `${share} through ${member.smbHost} at ${other.smbHost}`);
        }
    for (const member of [first, second, standby])
        assert.match((await smbclient(cluster, member, 'none', ['ls'])).text, /NT_STATUS_BAD_NETWORK_NAME/);

    await second.end('SIGKILL');
    await standby.until(200);
    await delay(KNOWN_MS);
    for (const member of [first, standby]) {
        await exchange(member, 'two', 'after');
        const { code, text } = await smbclient(cluster, member, 'two', ['get through-127.0.0.2 back']);
        assert.equal(code, 0, text);
        assert.ok(readFileSync(join(folder, 'back')).equals(content));
    }
    assert.ok(standby.files().includes('two/after'));

    second.restart();
    await second.until(200, '/-/ready');
    await delay(KNOWN_MS);
    await exchange(second, 'two', 'again');
    await exchange(second, 'one', 'again');
});

test('a standby knows the accounts that the root has, and no other key', async (t) => {
    const cluster = await startCluster(t);
    const { cluster: path, standby } = cluster;
    const key = randomBytes(64).toString('base64');
    const keyFile = join(cluster.folder, 'key');
    const began = performance.now();
    let answer;

    writeFileSync(keyFile, key);
    const { code, errors } = await run(['account', 'add', 'another', '--key1-file', keyFile, '--location', join(path, 'cells', '0001', 'data')]);
    assert.equal(code, 0, errors);
    do {
        await delay(100);
        answer = await smbclient(cluster, standby, 'IPC$', ['quit'], { account: 'another', key });
    } while (answer.code !== 0 && performance.now() - began < FOLLOWED_MS);
    assert.equal(answer.code, 0, answer.text);
    const wrong = await smbclient(cluster, standby, 'IPC$', ['quit'], { account: 'another', key: randomBytes(64).toString('base64') });
    assert.match(wrong.text, /NT_STATUS_LOGON_FAILURE/);
});
