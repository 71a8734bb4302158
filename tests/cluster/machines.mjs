// Machines of a cluster: each has a mount of the CephFS and a front end on it, and fails as machines do.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Member } from '../lib/cell_member.mjs';

const FENCE = fileURLToPath(new URL('../../packaging/lagra-fence-cephfs', import.meta.url));
/* A front end that lost its cell ends so. */
const EXIT_LOST = 3;

export class Machine {
    name;
    member = null;
    #fs;
    #fences;

    constructor(fs, name, fences) {
        this.#fs = fs;
        this.name = name;
        this.#fences = fences;
    }

    get folder() {
        return path.join(this.#fs.mountPoint(this.name), 'lagra');
    }

    /** Mounts, unless it has, and starts its front end. */
    async start() {
        if (this.member) {
            this.member.restart();
            return;
        }
        this.member = await Member.start(this.folder, {
            smb: true,
            args: this.#fences ? ['--fenceCommand', FENCE] : [],
            env: this.#fs.environment,
        });
    }

    /** All of it ends at once. */
    async die() {
        this.#fs.signalMount(this.name, 'SIGKILL');
        await this.member.end('SIGKILL');
    }

    /** Its front end and its mount stop, as a machine's do that hangs; goesOn() resumes them. */
    hang() {
        this.member.signal('SIGSTOP');
        this.#fs.signalMount(this.name, 'SIGSTOP');
    }

    goesOn() {
        this.#fs.signalMount(this.name, 'SIGCONT');
        this.member.signal('SIGCONT');
    }

    /** Only its network to the file system is cut: the front end runs, and its clients reach it. */
    cutOff() {
        this.#fs.signalMount(this.name, 'SIGSTOP');
    }

    evict() {
        this.#fs.evict(this.name);
    }

    /** The front end has lost its cell: it ends by itself. Returns what is wrong, or nothing. */
    async ends() {
        const { code, signal } = await this.member.ended;

        return code === EXIT_LOST ? [] : [`the front end of ${this.name} ended with ${code ?? signal}, not with ${EXIT_LOST}:\n${this.member.stderr.slice(-2000)}`];
    }

    /** A new mount and a new process, in the place of those that failed. */
    async repair() {
        this.#fs.signalMount(this.name, 'SIGCONT');
        await this.#fs.unmount(this.name);
        await this.member.end('SIGKILL');
        await this.#fs.mount(this.name);
        this.member.restart();
    }
}
