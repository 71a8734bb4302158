// A CephFS for tests: one monitor, three OSDs, two MDS (one waits) from Debian's packages, in one folder, at
// one address, without systemd; and machines, each a mount of its own by ceph-fuse, that can die, hang and be evicted. Every daemon and
// client has a key (cephx); those of machines and of the fence command have the capabilities that docs/cells.md gives.

import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PROGRAMS = ['ceph', 'ceph-authtool', 'ceph-mon', 'ceph-osd', 'ceph-mds', 'ceph-fuse', 'monmaptool'];
const OSDS = 3;
const GROUPS = 8;
const ROOT = 'shared';
const QUOTA_BYTES = 20 * 2 ** 30;
const DISK_BYTES = 8 * 2 ** 30;
const FILE_SYSTEM = 'cells';
/* docs/cells.md "Fencing": what the key of the fence command may do. */
const FENCES = ['mon', 'allow r', 'mds', 'allow *'];
const FREE_BYTES = 5 * 2 ** 30;
const FREE_MEMORY = 2 * 2 ** 30;
const PATIENCE_MS = 120_000;
const COMMAND_MS = 60_000;
const POLL_MS = 100;

function freePort(address) {
    return new Promise((resolve, reject) => {
        const server = createServer();

        server.once('error', reject);
        server.listen(0, address, () => {
            const { port } = server.address();

            server.close(() => resolve(port));
        });
    });
}

/** What the machine lacks of what a CephFS takes, and of more programs, as sentences. */
export function lacking(more = []) {
    const { bavail, bsize } = statfsSync(tmpdir());
    const lacks = [...PROGRAMS, ...more].filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0)
        .map((name) => `${name} is not installed (tools/prepare cluster-test)`);

    if (!existsSync('/dev/fuse'))
        lacks.push('/dev/fuse is missing');
    if (process.getuid() !== 0)
        lacks.push('only root may mount');
    if (bavail * bsize < FREE_BYTES || freemem() < FREE_MEMORY)
        lacks.push(`${FREE_BYTES / 2 ** 30} GiB of disk and ${FREE_MEMORY / 2 ** 30} GiB of memory must be free`);
    return lacks;
}

const configuration = (folder, address, port, fsid) => `[global]
fsid = ${fsid}
mon_host = [v2:${address}:${port}]
ms_bind_ipv6 = false
public_addr = ${address}
cluster_addr = ${address}
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
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
keyring = ${folder}/$name.keyring
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
mon_allow_pool_delete = true
[mds]
mds_data = ${folder}/mds.$id
keyring = ${folder}/mds.$id/keyring
[osd]
osd_data = ${folder}/osd.$id
keyring = ${folder}/osd.$id/keyring
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
bluestore_cache_size = 67108864
`;

/** Where it is in the file system, for machines. */
export const MOUNTED = `/${ROOT}`;

export class CephFs {
    #folder = mkdtempSync(path.join(tmpdir(), 'lagra-cephfs-'));
    #daemons = new Map();
    #address;
    monitor = ''; // its address and port

    constructor(address) {
        this.#address = address;
    }

    get configuration() {
        return path.join(this.#folder, 'ceph.conf');
    }

    /** address: of this machine, at which the daemons listen */
    static async start(address = '127.0.0.1') {
        const fs = new CephFs(address);

        try {
            await fs.#start();
        } catch (error) {
            await fs.stop();
            throw error;
        }
        return fs;
    }

    #run(command, ...args) {
        const { status, stdout, stderr, error } = spawnSync(command, ['-c', this.configuration, ...args], { encoding: 'utf8', timeout: COMMAND_MS });

        if (status !== 0)
            throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
        return stdout;
    }

    #spawn(name, command, ...args) {
        const log = openSync(path.join(this.#folder, `${name}.out`), 'a');
        const child = spawn(command, ['-c', this.configuration, ...args, '-f'], { stdio: ['ignore', log, log] });

        child.ended = new Promise((resolve) => child.once('exit', resolve));
        child.once('error', () => this.#daemons.delete(name));
        this.#daemons.set(name, child);
    }

    async #until(what, isSo) {
        for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(POLL_MS))
            if (await isSo())
                return;
        throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s`);
    }

    async #start() {
        const fsid = randomUUID(), port = await freePort(this.#address), map = path.join(this.#folder, 'monmap');
        const keys = path.join(this.#folder, 'mon.keyring');

        writeFileSync(this.configuration, configuration(this.#folder, this.#address, port, fsid));
        this.#makeKey(keys, 'mon.', 'mon', 'allow *');
        this.#makeKey(this.#keyring('client.admin'), 'client.admin', 'mon', 'allow *', 'osd', 'allow *', 'mds', 'allow *', 'mgr', 'allow *');
        this.#run('ceph-authtool', keys, '--import-keyring', this.#keyring('client.admin'));
        this.#run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', `[v2:${this.#address}:${port}]`, map);
        this.monitor = `${this.#address}:${port}`;
        mkdirSync(path.join(this.#folder, 'mon'));
        this.#run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map, '--keyring', keys);
        this.#spawn('mon', 'ceph-mon', '-i', 'a');
        for (let i = 0; i < OSDS; i++) {
            const uuid = randomUUID();

            this.#run('ceph', 'osd', 'new', uuid);
            mkdirSync(path.join(this.#folder, `osd.${i}`));
            this.#authorize(path.join(this.#folder, `osd.${i}`, 'keyring'), `osd.${i}`, 'mon', 'allow profile osd', 'osd', 'allow *');
            this.#run('ceph-osd', '-i', `${i}`, '--mkfs', '--osd-uuid', uuid);
            this.startDisk(i);
        }
        for (const pool of ['meta', 'data'])
            this.#run('ceph', 'osd', 'pool', 'create', pool, `${GROUPS}`, `${GROUPS}`, 'replicated');
        for (const id of ['a', 'b']) {
            mkdirSync(path.join(this.#folder, `mds.${id}`));
            this.#authorize(path.join(this.#folder, `mds.${id}`, 'keyring'), `mds.${id}`, 'mon', 'allow profile mds', 'osd', 'allow *', 'mds', 'allow *');
            this.startMds(id);
        }
        this.#run('ceph', 'fs', 'new', FILE_SYSTEM, 'meta', 'data');
        await this.#until('an MDS is active', () => this.#run('ceph', 'mds', 'stat').includes('up:active'));
        await this.#makeRoot();
        writeFileSync(this.#keyring('client.lagra'), this.#run('ceph', 'fs', 'authorize', FILE_SYSTEM, 'client.lagra', `/${ROOT}`, 'rw'));
        this.#authorize(this.#keyring('client.lagra-fence'), 'client.lagra-fence', ...FENCES);
    }

    /* ---- keys ---- */

    #keyring(name) {
        return path.join(this.#folder, `${name}.keyring`);
    }

    /** A key that no monitor knows yet. */
    #makeKey(file, name, ...capabilities) {
        this.#run('ceph-authtool', '--create-keyring', file, '--gen-key', '-n', name,
            ...capabilities.flatMap((text, i) => i % 2 === 0 ? ['--cap', text] : [text]));
    }

    #authorize(file, name, ...capabilities) {
        writeFileSync(file, this.#run('ceph', 'auth', 'get-or-create', name, ...capabilities));
    }

    /** The secret of the machines' key, for a mount by the kernel. */
    get secret() {
        return this.#run('ceph', 'auth', 'get-key', 'client.lagra').trim();
    }

    /** The environment of a front end: its fence command has a key of its own. */
    get environment() {
        return { CEPH_CONF: this.configuration, CEPH_ARGS: '--id lagra-fence' };
    }

    /** The folder that machines mount, with a quota: without a manager CephFS does not know how much room it has, and
     *  statfs() says none, but for that of a quota. */
    async #makeRoot() {
        const at = await this.#mountAt('admin', '/', 'admin');

        mkdirSync(path.join(at, ROOT));
        await this.unmount('admin');
        await this.setAttributes({ 'quota.max_bytes': QUOTA_BYTES });
    }

    /** Sets attributes of the folder that machines mount, such as layout.object_size, as an administrator may. */
    async setAttributes(attributes) {
        const folder = path.join(await this.#mountAt('admin', '/', 'admin'), ROOT);
        const results = Object.entries(attributes).map(([name, value]) =>
            spawnSync('python3', ['-c', 'import os, sys; os.setxattr(*sys.argv[1:3], sys.argv[3].encode())', folder, `ceph.${name}`, `${value}`], { encoding: 'utf8' }));

        await this.unmount('admin');
        for (const { status, stderr } of results)
            if (status !== 0)
                throw new Error(stderr);
    }

    startDisk(number) {
        this.#spawn(`osd.${number}`, 'ceph-osd', '-i', `${number}`);
    }

    startMds(id) {
        this.#spawn(`mds.${id}`, 'ceph-mds', '-i', id);
    }

    async #kill(name) {
        const child = this.#daemons.get(name);

        this.#daemons.delete(name);
        child?.kill('SIGKILL');
        await child?.ended;
    }

    killDisk(number) {
        return this.#kill(`osd.${number}`);
    }

    /** Kills the active MDS; the other one takes over. Returns its id. */
    async killMds() {
        const id = this.#run('ceph', 'mds', 'stat').match(/0=(\w+)=up:/)[1];

        await this.#kill(`mds.${id}`);
        return id;
    }

    /** Starts a gateway for S3, with one user: its port and process id. */
    async startGateway(accessKey, secret) {
        const port = await freePort(this.#address), name = 'client.rgw';

        this.#authorize(this.#keyring(name), name, 'mon', 'allow rw', 'osd', 'allow rwx');
        for (const pool of ['default.rgw.buckets.index', 'default.rgw.buckets.data']) {
            this.#run('ceph', 'osd', 'pool', 'create', pool, `${GROUPS}`, `${GROUPS}`, 'replicated');
            this.#run('ceph', 'osd', 'pool', 'application', 'enable', pool, 'rgw');
        }
        this.#run('radosgw-admin', 'user', 'create', '--uid', 'tests', '--display-name', 'tests', '--access-key', accessKey, '--secret-key', secret);
        this.#spawn('gateway', 'radosgw', '-n', name, '--rgw-frontends', `beast endpoint=${this.#address}:${port}`);
        await this.#until('its gateway answers', () => fetch(`http://${this.#address}:${port}/`).then(() => true, () => false));
        return { port, pid: this.#daemons.get('gateway').pid };
    }

    /* ---- machines ---- */

    /** Of its ceph-fuse. */
    mountPid(name) {
        return this.#daemons.get(`machine.${name}`).pid;
    }

    mountPoint(name) {
        return path.join(this.#folder, 'machines', name);
    }

    async mount(name) {
        await this.#mountAt(name, MOUNTED, 'lagra');
    }

    async #mountAt(name, folder, user) {
        const at = this.mountPoint(name);

        mkdirSync(at, { recursive: true });
        this.#spawn(`machine.${name}`, 'ceph-fuse', '--id', user, '-r', folder, at);
        await this.#until(`machine ${name} has mounted`, () => readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${at} `));
        return at;
    }

    /** A signal to its ceph-fuse. SIGKILL: as when the machine dies; SIGSTOP: its network is cut. */
    signalMount(name, signal) {
        this.#daemons.get(`machine.${name}`)?.kill(signal);
    }

    async unmount(name) {
        spawnSync('umount', ['-l', this.mountPoint(name)]);
        await this.#kill(`machine.${name}`);
    }

    /** Evicts its client, as an administrator may. */
    evict(name) {
        this.#evict(({ mount_point: at }) => at?.replace(/\/$/, '') === this.mountPoint(name));
    }

    /** Evicts the client of a kernel, of which there is one. */
    evictKernel() {
        this.#evict(({ kernel_version: version }) => version !== undefined);
    }

    #evict(isIt) {
        const sessions = JSON.parse(this.#run('ceph', 'tell', 'mds.0', 'session', 'ls', '--format=json'));
        const { id } = sessions.find(({ client_metadata: metadata }) => isIt(metadata));

        this.#run('ceph', 'tell', 'mds.0', 'client', 'evict', `id=${id}`);
    }

    async stop() {
        for (const name of [...this.#daemons.keys()].filter((daemon) => daemon.startsWith('machine.')))
            await this.unmount(name.slice('machine.'.length));
        await Promise.all([...this.#daemons.keys()].map((name) => this.#kill(name)));
        rmSync(this.#folder, { recursive: true, force: true });
    }
}
