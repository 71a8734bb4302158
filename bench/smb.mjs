// SMB beside Debian's smbd, which serves a folder of the same disk, and requires sealed messages as Lagra does: 256 MiB
// by smbclient, 4 KiB anywhere in files by 16 clients, and 10,000 small files that are made and listed.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../tests/lib/server.mjs';
import { Client } from './client.mjs';
import { cpuSeconds, middle, processes } from './process.mjs';
import { ACCOUNT, KEY, startLagra } from './targets.mjs';

const KiB = 1 << 10, MiB = 1 << 20;
const LARGE_MIB = 256;
const CLIENTS = 16, FILE_MIB = 16;
const FILES = 10000;
/* smbd takes half a minute to make so many. Odd. */
const SLOW_ROUNDS = 3;
const SHARE = 'bench';
const START_LIMIT_MS = 30000, SMBD_LEAVES_MS = 3000;

/* ---- the servers ---- */

/** As a plain process, with a password database of its own; it needs root, and serves root's files. */
async function startSmbd(folder) {
    const [port] = await freePorts(1), own = path.join(folder, 'smbd'), state = path.join(own, 'state');
    const configuration = path.join(own, 'smb.conf'), user = os.userInfo().username;

    mkdirSync(path.join(own, 'share'), { recursive: true });
    mkdirSync(state);
    writeFileSync(configuration, `
        [global]
            server role = standalone server
            smb ports = ${port}
            interfaces = 127.0.0.1/8
            bind interfaces only = yes
            disable netbios = yes
            disable spoolss = yes
            load printers = no
            passdb backend = tdbsam
            server min protocol = SMB2_10
            server smb encrypt = required
            server signing = mandatory
            log file = ${own}/log
            usershare path =
${['pid', 'lock', 'state', 'cache'].map((name) => `            ${name} directory = ${state}`).join('\n')}
            private dir = ${state}
            ncalrpc dir = ${state}
        [${SHARE}]
            path = ${own}/share
            read only = no
        `);
    execFileSync('smbpasswd', ['-c', configuration, '-s', '-a', user], { input: `${KEY}\n${KEY}\n`, stdio: ['pipe', 'ignore', 'inherit'] });
    /* In a process group of its own: smbd sends the SIGTERM that ends it on to its whole group. */
    const child = spawn('smbd', ['-F', '--no-process-group', '-s', configuration], { stdio: ['ignore', 'ignore', 'inherit'], detached: true });
    const ended = once(child, 'exit');

    await untilItListens(port);
    return {
        name: 'smbd', smbPort: port, user, pid: child.pid, idle: processes(child.pid),
        async stop() {
            child.kill('SIGTERM');
            await ended;
        },
    };
}

async function untilItListens(port) {
    for (let waited = 0; waited < START_LIMIT_MS; waited += 50) {
        const socket = net.connect(port, '127.0.0.1');
        try {
            await once(socket, 'connect');
            await delay(500); /* its own children */
            return;
        } catch {
            await delay(50);
        } finally {
            socket.destroy();
        }
    }
    throw new Error('smbd does not listen');
}

async function startOurs(binary, folder) {
    const [smbPort] = await freePorts(1);
    const target = await startLagra(binary, folder, { args: ['--smbPort', `${smbPort}`] });
    const client = await Client.open({ ...target, port: target.filePort }, SHARE);

    await client.ask('PUT', '?restype=share');
    client.close();
    return { ...target, smbPort, user: ACCOUNT };
}

/* ---- one measurement: { seconds, cpuS, .. } ---- */

/** Of smbd each connection is a process, which is counted when it has gone. */
async function cpuOf(target) {
    for (let waited = 0; target.idle && processes(target.pid) > target.idle && waited < SMBD_LEAVES_MS; waited += 10)
        await delay(10);
    return cpuSeconds(target.pid);
}

async function measured(target, what) {
    const before = await cpuOf(target), began = performance.now();
    const result = what();
    const seconds = (performance.now() - began) / 1000;

    return { seconds, ...result, cpuS: (await cpuOf(target)) - before };
}

function smbclient(target, command, cwd) {
    const ran = spawnSync('smbclient', ['-p', `${target.smbPort}`, `//127.0.0.1/${SHARE}`, '-U', `${target.user}%${KEY}`,
        '--client-protection=encrypt', '-c', command], { cwd, encoding: 'utf8', maxBuffer: 64 * MiB });

    if (ran.status !== 0)
        throw new Error(`${target.name}: smbclient ${command}: ${ran.stdout}${ran.stderr}`);
}

function load(target, { loadBinary }, work, more) {
    const args = { port: target.smbPort, user: target.user, password: KEY, share: SHARE, work, connections: CLIENTS, ...more };
    const ran = spawnSync(loadBinary, Object.entries(args).flatMap(([name, value]) => [`--${name}`, `${value}`]), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    const result = JSON.parse(ran.stdout);

    if (result.failed > 0)
        throw new Error(`${target.name}: ${result.failed} of ${work} failed`);
    return result;
}

/* ---- the works ---- */

const works = (tools) => [
    { name: `put ${LARGE_MIB} MiB, smbclient`, units: LARGE_MIB, unit: 'MiB', limit: 1,
        run: (target) => smbclient(target, 'put large large', tools.local) },
    { name: `get ${LARGE_MIB} MiB, smbclient`, units: LARGE_MIB, unit: 'MiB', limit: 1,
        /* Not to a file: the disk is still busy with what smbd was given and has not synced. */
        run: (target) => smbclient(target, 'get large /dev/null', tools.local) },
    { name: `read 4 KiB, ${CLIENTS} clients`, unit: 'read', limit: 1.3,
        run: (target) => load(target, tools, 'read', { 'file-size': FILE_MIB * MiB, seconds: tools.seconds / tools.rounds }) },
    { name: `write 4 KiB, ${CLIENTS} clients`, unit: 'write', limit: 1.3,
        run: (target) => load(target, tools, 'write', { 'file-size': FILE_MIB * MiB, seconds: tools.seconds / tools.rounds }) },
    { name: `make ${FILES} files of 1 KiB, ${CLIENTS} clients`, units: FILES, unit: 'file', limit: 1, most: SLOW_ROUNDS,
        run: (target, round) => load(target, tools, 'create', { size: KiB, count: FILES, name: `many${round}\\file` }),
        before: (target, round) => smbclient(target, `mkdir many${round}`) },
    { name: `list ${FILES} files, smbclient`, units: FILES, unit: 'file', limit: 1, most: SLOW_ROUNDS,
        run: (target, round) => smbclient(target, `ls many${round}\\*`) },
    { name: `make ${FILES} files of 1 KiB, smbclient`, units: FILES, unit: 'file', limit: 1, most: 1,
        run: (target, round) => smbclient(target, `prompt off; cd one${round}; lcd small; mput *`, tools.local),
        before: (target, round) => smbclient(target, `mkdir one${round}`) },
];

async function measureWork(targets, work, rounds) {
    const found = new Map(targets.map(({ name }) => [name, []]));

    for (let round = 0; round < rounds; round++) {
        for (const target of round % 2 === 0 ? targets : [...targets].reverse()) {
            work.before?.(target, round);
            const { seconds, cpuS, answered = work.units } = await measured(target, () => work.run(target, round));
            found.get(target.name).push({ rate: answered / seconds, cpuUs: (cpuS / answered) * 1e6 });
        }
    }
    return found;
}

const number = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));

function print(work, found) {
    for (const [name, rounds] of found)
        console.log(`${work.name}, ${name}: ${number(middle(rounds.map(({ rate }) => rate)))} ${work.unit}s/s, ` +
            `CPU of one ${number(middle(rounds.map(({ cpuUs }) => cpuUs)))} us`);
    const ours = found.get('Lagra'), theirs = found.get('smbd');
    if (!theirs)
        return;
    const quotient = (figure) => middle(ours.map((one, i) => one[figure] / theirs[i][figure])).toFixed(2);
    console.log(`  to smbd, a second: ${quotient('rate')} (at least ${work.limit}); CPU: ${quotient('cpuUs')}`);
}

function prepareLocal(folder) {
    const local = path.join(folder, 'local');

    mkdirSync(path.join(local, 'small'), { recursive: true });
    writeFileSync(path.join(local, 'large'), Buffer.alloc(LARGE_MIB * MiB, 'these bytes are as good as any others'));
    for (let i = 0; i < FILES; i++)
        writeFileSync(path.join(local, 'small', `file-${i}`), Buffer.alloc(KiB, i));
    return local;
}

export async function measureSmb(binary, tools) {
    const folder = path.join(tools.folder, 'smb'), targets = [];
    const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

    if (!has('smbclient')) {
        console.log('SMB: there is no smbclient');
        return;
    }
    mkdirSync(folder);
    console.log(`\nSMB 3.1.1, sealed by AES-128-GCM`);
    try {
        targets.push(await startOurs(binary, folder));
        if (has('smbd') && process.getuid() === 0)
            targets.push(await startSmbd(folder));
        const more = { ...tools, local: prepareLocal(folder) };
        for (const target of targets)
            load(target, more, 'fill', { size: MiB, 'file-size': FILE_MIB * MiB, count: CLIENTS });
        for (const work of works(more))
            print(work, await measureWork(targets, work, Math.min(tools.rounds, work.most ?? tools.rounds)));
    } finally {
        for (const target of targets)
            await target.stop();
    }
}
