// Disks of a size that a test says, to be filled: an ext4 on a loop device where that can be had
// (root), else one whose size shim.c plays.

import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import path from 'node:path';
import { Shim } from './shim.mjs';

/** An ext4 of its own. */
class LoopDisk {
    constructor(work, size) {
        const image = path.join(work, 'disk');

        this.mountPoint = path.join(work, 'mount');
        mkdirSync(this.mountPoint);
        execFileSync('truncate', ['-s', `${size}`, image]);
        execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image], { stdio: 'pipe' });
        execFileSync('mount', ['-o', 'loop', image, this.mountPoint], { stdio: 'pipe' });
        this.location = path.join(this.mountPoint, 'data');
        this.env = {};
        this.isPossible = true;
    }

    /** Somebody else takes every byte that is left. */
    fill() {
        const file = openSync(path.join(this.mountPoint, 'filler'), 'w');
        const bytes = Buffer.alloc(1 << 20, 'f');

        for (let size = bytes.length; size >= 1; size >>= 1)
            try {
                for (;;)
                    writeSync(file, bytes, 0, size);
            } catch (error) {
                if (error.code !== 'ENOSPC')
                    throw error;
            }
        closeSync(file);
    }

    empty() {
        rmSync(path.join(this.mountPoint, 'filler'));
    }

    free() {
        const { bavail, bsize } = statfsSync(this.mountPoint);

        return bavail * bsize;
    }

    close() {
        spawnSync('umount', [this.mountPoint], { stdio: 'ignore' });
    }
}

/** A disk that the shim plays. */
class PlayedDisk {
    #shim;
    #size;
    #others = 0;

    constructor(work, size) {
        this.#size = size;
        this.location = path.join(work, 'data');
        this.#shim = new Shim(work, this.location);
        this.#shim.setDiskSize(size);
        this.env = this.#shim.env;
        this.isPossible = this.#shim.isTaken;
    }

    fill() {
        this.#others = Math.max(0, this.#size - this.#shim.diskUsed);
        this.#shim.setDiskOthers(this.#others);
    }

    empty() {
        this.#others = 0;
        this.#shim.setDiskOthers(0);
    }

    free() {
        return this.#size - this.#others - this.#shim.diskUsed;
    }

    close() {
        this.#shim.close();
    }
}

/** work: a folder for what it needs; isPlayed: not a real one. Its isPossible says whether there is one. */
export function makeDisk(work, size, { isPlayed = false } = {}) {
    if (!isPlayed && process.getuid() === 0)
        try {
            return new LoopDisk(work, size);
        } catch (error) {
            console.log(`no ext4 on a loop device: ${error.message.split('\n')[0]}`);
        }
    return new PlayedDisk(work, size);
}
