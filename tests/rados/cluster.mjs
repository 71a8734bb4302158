// A Ceph cluster for tests: one monitor and three OSDs from Debian's packages, in one folder, on 127.0.0.1,
// without keys, systemd or a manager. It starts in seconds; its disks are sparse files. It is what it takes to
// see what RADOS does, and nothing to keep data in. Recovery does not pause between objects: what was missed while a disk was away is
// soon there.

import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const PROGRAMS = ['ceph', 'ceph-mon', 'ceph-osd', 'monmaptool', 'rados'];
const OSDS = 3;
const GROUPS = 8;
const DISK_BYTES = 12 * 2 ** 30;
/* What the tests write, with what the disks write of their own; and the daemons' memory. */
const FREE_BYTES = 6 * 2 ** 30;
const FREE_MEMORY = 2 * 2 ** 30;
const PATIENCE_MS = 240_000;
const COMMAND_MS = 240_000; // on a machine that is busy with other things
const POLL_MS = 100;
const SAID_MAX = 256 * 2 ** 20;

const run = promisify(execFile);

function freePort() {
    return new Promise((resolve, reject) => {
        const server = createServer();

        server.once('error', reject);
        server.listen(0, '127.0.0.1', () => {
            const { port } = server.address();

            server.close(() => resolve(port));
        });
    });
}

/** What the machine lacks of what a cluster takes, as sentences. */
function lacking() {
    const { bavail, bsize } = statfsSync(tmpdir());
    const gib = (bytes) => (bytes / 2 ** 30).toFixed(1);
    const lacks = PROGRAMS.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0)
        .map((name) => `${name} is not installed (tools/prepare rados-test)`);

    if (bavail * bsize < FREE_BYTES)
        lacks.push(`${tmpdir()} has ${gib(bavail * bsize)} GiB free, and ${gib(FREE_BYTES)} are needed`);
    if (freemem() < FREE_MEMORY)
        lacks.push(`${gib(freemem())} GiB of memory are available, and ${gib(FREE_MEMORY)} are needed`);
    return lacks;
}

const configuration = (folder, port, fsid) => `[global]
fsid = ${fsid}
mon_host = [v2:127.0.0.1:${port}]
ms_bind_ipv6 = false
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
run_dir = ${folder}
admin_socket = ${folder}/$name.asok
log_file = ${folder}/$name.log
log_to_stderr = false
err_to_stderr = true
mon_cluster_log_file = ${folder}/cluster.log
crash_dir = ${folder}
heartbeat_file =
osd_crush_chooseleaf_type = 0
osd_pool_default_pg_autoscale_mode = off
osd_pool_default_pg_num = ${GROUPS}
mon_max_pg_per_osd = 1000
[client]
rgw_data = ${folder}
admin_socket =
log_file =
[mon]
mon_data = ${folder}/mon
mon_data_avail_crit = 1
mon_data_avail_warn = 2
mon_initial_members = a
paxos_propose_interval = 0.05
mon_warn_on_insecure_global_id_reclaim = false
mon_warn_on_insecure_global_id_reclaim_allowed = false
[osd]
osd_data = ${folder}/osd.$id
osd_class_load_list = *
osd_class_default_list = *
osd_crush_update_on_start = true
osd_crush_initial_weight = 1
crush_location = root=default host=one
bluestore_block_size = ${DISK_BYTES}
bluestore_block_create = true
bluestore_block_db_create = false
bluestore_block_wal_create = false
bluestore_cache_autotune = false
osd_recovery_sleep_hdd = 0
osd_recovery_sleep_ssd = 0
osd_recovery_sleep_hybrid = 0
bluestore_cache_size = 67108864
`;

export class Cluster {
    #folder = mkdtempSync(path.join(tmpdir(), 'lagra-ceph-'));
    #daemons = new Map();

    get configuration() {
        return path.join(this.#folder, 'ceph.conf');
    }

    static async start() {
        const cluster = new Cluster();

        try {
            await cluster.#start();
        } catch (error) {
            await cluster.stop();
            throw error;
        }
        return cluster;
    }

    #run(command, ...args) {
        const { status, stdout, stderr, error } = spawnSync(command, ['-c', this.configuration, ...args],
            { encoding: 'latin1', timeout: COMMAND_MS, maxBuffer: SAID_MAX });

        if (status !== 0)
            throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
        return stdout;
    }

    /** Commands, each a line: by one process, which takes half a second of a processor however many they are. Returns what
     *  they answer, where they do. */
    #ceph(...lines) {
        const { stdout, stderr, error } = spawnSync('ceph', ['-c', this.configuration, '--format', 'json'],
            { input: `${lines.join('\n')}\n`, encoding: 'utf8', timeout: COMMAND_MS });

        if (error || /^(Error |Invalid |no valid )/m.test(stderr))
            throw new Error(`ceph: ${lines.join('; ')}: ${error?.message ?? stderr}`);
        return stdout.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    }

    #spawn(name, command, ...args) {
        const log = openSync(path.join(this.#folder, `${name}.out`), 'a');
        const child = spawn(command, ['-c', this.configuration, ...args, '-f'], { stdio: ['ignore', log, log] });

        this.#daemons.set(name, child);
        child.once('exit', () => this.#daemons.delete(name));
        child.once('error', () => this.#daemons.delete(name));
    }

    async #until(what, isSo) {
        for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(POLL_MS))
            if (await isSo())
                return;
        throw new Error(`the cluster: ${what}: not within ${PATIENCE_MS / 1000} s`);
    }

    async #start() {
        const lacks = lacking();

        if (lacks.length > 0)
            throw new Error(`no cluster can be started here: ${lacks.join('; ')}`);
        const fsid = randomUUID();
        const port = await freePort();
        const map = path.join(this.#folder, 'monmap');

        writeFileSync(this.configuration, configuration(this.#folder, port, fsid));
        this.#run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', `[v2:127.0.0.1:${port}]`, map);
        mkdirSync(path.join(this.#folder, 'mon'));
        this.#run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map);
        this.#spawn('mon', 'ceph-mon', '-i', 'a');
        const disks = Array.from({ length: OSDS }, randomUUID);
        this.#ceph(...disks.map((uuid) => `osd new ${uuid}`));
        await Promise.all(disks.map((uuid, i) => this.#addDisk(`${i}`, uuid)));
        await this.#until('all disks are up', async () => {
            const states = await Promise.all(disks.map((_, i) => this.#askDisk(i, 'status').catch(() => ({}))));

            return states.every(({ state }) => state === 'active');
        });
    }

    async #addDisk(id, uuid) {
        mkdirSync(path.join(this.#folder, `osd.${id}`));
        await run('ceph-osd', ['-c', this.configuration, '-i', id, '--mkfs', '--osd-uuid', uuid], { timeout: COMMAND_MS });
        this.#spawn(`osd.${id}`, 'ceph-osd', '-i', id);
    }

    /** Three replicas, of which two must be there. */
    createPool(name) {
        this.#ceph(`osd pool create ${name} ${GROUPS} ${GROUPS} replicated`, `osd pool set ${name} size 3`,
            `osd pool set ${name} min_size 2`, `osd pool application enable ${name} lagra`);
    }

    /** Erasure-coded: of three disks one may be lost. */
    createCodedPool(name) {
        this.#ceph('osd erasure-code-profile set two-and-one k=2 m=1 crush-failure-domain=osd',
            `osd pool create ${name} ${GROUPS} ${GROUPS} erasure two-and-one`, `osd pool application enable ${name} lagra`);
    }

    /** None of the disks answers any more; and they do again. */
    pause() {
        this.#signalDisks('SIGSTOP');
    }

    resume() {
        this.#signalDisks('SIGCONT');
    }

    #signalDisks(signal) {
        for (const [name, child] of this.#daemons)
            if (name.startsWith('osd.'))
                child.kill(signal);
    }

    get disks() {
        return OSDS;
    }

    /** What all disks have done since they started: ops that clients have sent, as their primaries count them, and processes. */
    async diskWork() {
        const all = await Promise.all(Array.from({ length: OSDS }, (_, i) => this.#askDisk(i, 'perf dump')));
        const sum = (...names) => all.flatMap(({ osd }) => names.map((name) => osd[name])).reduce((a, b) => a + b, 0);

        return {
            reads: sum('op_r'), writes: sum('op_w', 'op_rw'),
            pids: [...this.#daemons].filter(([name]) => name.startsWith('osd.')).map(([, { pid }]) => pid),
        };
    }

    /** kill -9 of a disk's daemon; what it has synced is there when it starts again. */
    async killDisk(number) {
        const child = this.#daemons.get(`osd.${number}`);
        const ended = new Promise((resolve) => child.once('exit', resolve));

        child.kill('SIGKILL');
        await ended;
    }

    startDisk(number) {
        this.#spawn(`osd.${number}`, 'ceph-osd', '-i', `${number}`);
    }

    /** They are as full as may be, or not. */
    setFull(isFull) {
        const [near, later, full] = isFull ? [0.0001, 0.0002, 0.0003] : [0.85, 0.9, 0.95];
        const set = [`osd set-nearfull-ratio ${near}`, `osd set-backfillfull-ratio ${later}`, `osd set-full-ratio ${full}`];

        this.#ceph(...set);
    }

    /** All disks are up, and each has all that it is to have. */
    async untilWhole() {
        await this.#until('all placement groups are clean', async () => {
            const clean = new Set(), all = new Set();

            for (let i = 0; i < OSDS; i++)
                for (const { pg, currently } of (await this.#askDisk(i, 'dump_pgstate_history').catch(() => ({ pgs: [{ pg: 'none' }] }))).pgs) {
                    all.add(pg.replace(/s\d$/, '')); // the part of an erasure-coded one
                    if (currently?.endsWith('/Active/Clean'))
                        clean.add(pg.replace(/s\d$/, ''));
                }
            return clean.size === all.size;
        });
    }

    /** By the disk's socket: `ceph` takes half a second of a processor for each question, and stops what else runs here. */
    #askDisk(number, prefix) {
        return new Promise((resolve, reject) => {
            const socket = connect(path.join(this.#folder, `osd.${number}.asok`));
            const parts = [];

            socket.once('error', reject);
            socket.on('data', (part) => parts.push(part));
            socket.once('end', () => {
                try {
                    resolve(JSON.parse(Buffer.concat(parts).subarray(4).toString())); // behind its length
                } catch (error) {
                    reject(error);
                }
            });
            socket.write(`${JSON.stringify({ prefix, format: 'json' })}\0`);
        });
    }

    /** Ceph's own server of S3, for comparison, with one user: { port, pid }. */
    async startGateway(accessKey, secret) {
        const port = await freePort();

        for (const pool of ['default.rgw.buckets.index', 'default.rgw.buckets.data']) // as many groups as `lagra rados init` makes
            this.#ceph(`osd pool create ${pool} 32 32 replicated`, `osd pool application enable ${pool} rgw`);
        this.#run('radosgw-admin', 'user', 'create', '--uid', 'tests', '--display-name', 'tests', '--access-key', accessKey, '--secret-key', secret);
        this.#spawn('gateway', 'radosgw', '-n', 'client.rgw', '--ms-mon-client-mode', 'crc', '--auth-client-required', 'none',
            '--rgw-frontends', `beast endpoint=127.0.0.1:${port}`); // by itself it asks for keys
        await this.#until('its gateway answers', () => fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false));
        return { port, pid: this.#daemons.get('gateway').pid };
    }

    /** A pool's settings, as they may be wrong. */
    setPool(name, setting, value) {
        this.#ceph(`osd pool set ${name} ${setting} ${value}${value === '1' ? ' --yes-i-really-mean-it' : ''}`);
    }

    getPool(name, setting) {
        return this.#ceph(`osd pool get ${name} ${setting}`)[0][setting];
    }

    /** All objects of a pool whose names begin so. */
    objects(pool, prefix) {
        return this.#run('rados', '-p', pool, 'ls').split('\n').filter((name) => name.startsWith(prefix));
    }

    removeObjects(pool, prefix) {
        this.#run('rados', '-p', pool, 'rm', ...this.objects(pool, prefix));
    }

    /** The keys of an object's rows. */
    rows(pool, object) {
        return this.#run('rados', '-p', pool, 'listomapkeys', object).split('\n').filter(Boolean);
    }

    /** The keys of those that have a value. Bytes are characters. */
    filledRows(pool, object) {
        const said = this.#run('rados', '-p', pool, 'listomapvals', object);

        return [...said.matchAll(/^([^]*?)\nvalue \((\d+) bytes\) :\n(?:[0-9a-f]{8}(?: .*)?\n)*\n/gm)]
            .filter(([, , bytes]) => bytes !== '0').map(([, key]) => key);
    }

    /** An object's extended attributes. */
    attributes(pool, object) {
        return this.#run('rados', '-p', pool, 'listxattr', object).split('\n').filter(Boolean)
            .map((name) => [name, this.#run('rados', '-p', pool, 'getxattr', object, name)]);
    }

    setRow(pool, object, key, value) {
        this.#run('rados', '-p', pool, 'setomapval', object, key, value);
    }

    /** All that is in a pool, into a file; and from there into another. */
    exportPool(pool, file) {
        this.#run('rados', '-p', pool, 'export', file);
    }

    importPool(pool, file) {
        this.#run('rados', '-p', pool, 'import', file);
    }

    /** Pairs of names. */
    renamePools(pairs) {
        this.#ceph(...pairs.map(([name, to]) => `osd pool rename ${name} ${to}`));
    }

    async stop() {
        const ends = [...this.#daemons.values()].map((child) => new Promise((resolve) => child.once('exit', resolve)));

        for (const child of this.#daemons.values())
            child.kill('SIGKILL');
        await Promise.all(ends);
        rmSync(this.#folder, { recursive: true, force: true });
    }
}
