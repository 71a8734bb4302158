// Copies of a data folder at moments of its server's life: as a kill -9 leaves it, and as an orderly end does.

import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const ATTEMPTS = 30;

/** Copies a data folder; extents are 1 GiB long and nearly empty. */
export async function copyFolder(from, to) {
    await promisify(execFile)('cp', ['-r', '--sparse=always', from, to]);
}

/** A data folder at one moment. */
export class Moment {
    constructor(location, acknowledged) {
        this.location = location;
        this.acknowledged = acknowledged;
    }

    /** All files, relative. */
    async files() {
        const entries = await readdir(this.location, { recursive: true, withFileTypes: true });

        return entries.filter((entry) => entry.isFile())
            .map((entry) => path.relative(this.location, path.join(entry.parentPath ?? entry.path, entry.name))).sort();
    }
}

/** A folder under load. Who extends it has write(bytes), which writes that many in all, and frozen(): what is
 *  acknowledged now, as it stays. */
export class LoadedFolder {
    /** work: a folder for the copies, of its own; random: below a number. */
    constructor(server, random, work) {
        this.server = server;
        this.random = random;
        this.work = work;
    }

    get location() {
        return this.server.location;
    }

    /** Copies the folder as a kill -9 at this moment would leave it, writers at work. Tried again
     *  until two logs are live, when wanted. */
    async cutMoment(name, { logs = 1 } = {}) {
        for (let attempt = 0; ; attempt++) {
            const writing = this.write(1 << 21);
            const location = path.join(this.work, name);

            await delay(5 + this.random(40));
            process.kill(this.server.pid, 'SIGSTOP');
            await rm(location, { recursive: true, force: true });
            await copyFolder(this.location, location);
            const moment = new Moment(location, this.frozen());
            process.kill(this.server.pid, 'SIGCONT');
            await writing;
            const found = (await readdir(path.join(location, 'records'))).filter((file) => file.endsWith('.log'));
            if (found.length >= logs || attempt === ATTEMPTS)
                return moment;
        }
    }

    /** Stops in order, and copies. */
    async stopMoment(name) {
        const location = path.join(this.work, name);

        await this.server.stop({ keep: true });
        await copyFolder(this.location, location);
        const moment = new Moment(location, this.frozen());
        await this.server.restart();
        return moment;
    }

    async end() {
        await this.server.kill();
        await rm(this.work, { recursive: true, force: true });
    }
}
