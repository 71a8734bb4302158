// A front end on a mount of the kernel's CephFS client, in User-Mode Linux, beside one on ceph-fuse.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Member } from '../lib/cell_member.mjs';
import { CephFs, MOUNTED } from './ceph.mjs';
import { Machine } from './machines.mjs';
import { Writers } from './writers.mjs';

const UML = fileURLToPath(new URL('../lib/uml', import.meta.url));
const PROGRAMS = ['linux.uml', 'slirp-fullbolt', 'ip', 'pkill'];
const MODULES = ['cbc', 'ctr', 'gcm', 'ghash-generic', 'hmac'].map((name) => `crypto/${name}`).concat('fs/ceph/ceph');
/* The guest reaches this machine by each address but 127.0.0.1, which is its own, and is reached from such a one. */
const ADDRESS = '10.99.0.1';
const GUEST = '10.0.2.15';
const GUEST_S = 300;
const BOOT_MS = 180_000;
const UNDER_LOAD_MS = 3000;
const EXIT_LOST = 3;

export const lacking = () => PROGRAMS.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0)
    .map((name) => `${name} is not installed (tools/prepare cluster-test)`);

/** Starts lagra in a guest of its own, whose ports are this machine's too. */
function launchInGuest(fs, folder) {
    const script = path.join(folder, 'script');

    return (words) => {
        const ports = words.filter((_, i) => /^--\w+Port$/.test(words[i - 1])).filter((port) => port !== '0');
        const hosts = ['blob', 'queue', 'table', 'file'].flatMap((service) => [`--${service}Host`, GUEST]);
        const line = [process.env.LAGRA_BINARY, ...words, ...hosts, '--allowDevelopmentAccount', '--managementPort', '0'];

        writeFileSync(script, `mkdir /mnt/c
mount -i -t ceph ${fs.monitor}:${MOUNTED} /mnt/c -o name=lagra,secret=${fs.secret},ms_mode=crc || exit 1
${line.map((word) => `'${word}'`).join(' ')}
`, { mode: 0o600 });
        const child = spawn('sh', ['-c', 'exec "$@" >&2', 'sh', UML, script, `${GUEST_S}`], {
            stdio: ['ignore', 'ignore', 'pipe'],
            env: { ...process.env, UML_MODULES: MODULES.join(' '), UML_PORTS: ports.map((port) => `${port}:${port}`).join(' ') },
        });
        // The processes of the guest leave its session and group.
        child.kill = (signal) => spawnSync('pkill', [`-${signal.slice('SIG'.length)}`, '-f', script]);
        return child;
    };
}

class KernelWorld {
    #folder = mkdtempSync(path.join(tmpdir(), 'lagra-kernel-'));
    problems = [];
    fs = null;
    guest = null;
    fuse = null;

    async start() {
        spawnSync('ip', ['address', 'add', `${ADDRESS}/32`, 'dev', 'lo']);
        this.fs = await CephFs.start(ADDRESS);
        await this.fs.mount('fuse');
        this.fuse = new Machine(this.fs, 'fuse', true);
        const { status, stderr } = spawnSync(process.env.LAGRA_BINARY, ['cluster', 'init', this.fuse.folder], { encoding: 'utf8' });
        if (status !== 0)
            throw new Error(stderr);
        await this.#boot();
        await this.guest.until(200, undefined, BOOT_MS);
        await this.fuse.start();
        this.writers = new Writers(() => [this.guest, this.fuse.member]);
        await this.writers.prepare();
        this.writers.start();
    }

    /** A guest with ports of its own: those of the one before are free a little later. */
    async #boot() {
        this.guest = await Member.start('/mnt/c/lagra', { launch: launchInGuest(this.fs, this.#folder) });
        this.guest.host = ADDRESS;
    }

    /** The guest's client is evicted: its front end ends by itself. */
    async evict() {
        await sleep(UNDER_LOAD_MS);
        this.fs.evictKernel();
        await this.fuse.member.until(200);
        await this.guest.ended;
        if (!this.guest.stderr.includes(`ended: ${EXIT_LOST}`))
            this.problems.push(`the front end on the kernel's client did not end with ${EXIT_LOST}:\n${this.guest.stderr.slice(-3000)}`);
    }

    /** The other front end hands the cell to the guest; then the guest dies as a machine does. */
    async die() {
        await this.#boot();
        await this.guest.until(200, '/-/live', BOOT_MS);
        await sleep(UNDER_LOAD_MS);
        await this.fuse.member.end('SIGTERM');
        await this.guest.until(200);
        this.fuse.member.restart();
        await sleep(UNDER_LOAD_MS);
        await this.guest.end('SIGKILL');
        await this.fuse.member.until(200);
        if (!this.fuse.member.stderr.includes('its owner is fenced'))
            this.problems.push(`the fence command has not succeeded:\n${this.fuse.member.stderr.slice(-3000)}`);
        await sleep(UNDER_LOAD_MS);
    }

    async check() {
        await this.writers.end();
        const found = await this.writers.check(this.fuse.member);

        this.problems.push(...this.writers.problems);
        return `${JSON.stringify(found)}; ${JSON.stringify(this.writers.counts)}`;
    }

    async stop() {
        this.guest?.signal('SIGKILL');
        this.fuse?.member?.signal('SIGKILL');
        await this.fs?.stop();
        spawnSync('ip', ['address', 'del', `${ADDRESS}/32`, 'dev', 'lo']);
        rmSync(this.#folder, { recursive: true, force: true });
    }
}

/** Returns { problems, said }. */
export async function kernelClient() {
    const world = new KernelWorld();
    let said = '';

    try {
        await world.start();
        await world.evict();
        await world.die();
        said = await world.check();
    } catch (error) {
        world.problems.push(`${error.stack}\n${world.guest?.stderr.slice(-3000)}`);
    } finally {
        await world.stop();
    }
    return { problems: world.problems, said };
}
