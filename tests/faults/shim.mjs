// The test's side of shim.c: the file that both map, and the sites and faults there are.

import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';

/* In the order of shim.c. */
const CALLS = ['open', 'create', 'read', 'write', 'sync', 'fallocate', 'ftruncate', 'rename', 'unlink', 'mkdir', 'link',
    'list', 'mmap', 'range', 'thread'];
const KINDS = ['none', 'log', 'table', 'manifest', 'current', 'options', 'info', 'records', 'extent', 'extents', 'note',
    'ballast', 'folder'];
const ERRNO = { EIO: 5, EINTR: 4, EAGAIN: 11, ENOMEM: 12, EMFILE: 24, ENOSPC: 28, short: 0xffffffff };
const SITES = 512;
const AT = { fault: 0, site: 4, countdown: 8, forEver: 12, diskSize: 16, diskOthers: 24, diskUsed: 32, injected: 40, counts: 48 };
const SIZE = AT.counts + 4 * SITES;

/** What each call may fail with. */
export const FAULTS = {
    open: ['EIO', 'EMFILE', 'EINTR', 'ENOMEM'],
    create: ['EIO', 'EMFILE', 'EINTR', 'ENOSPC'],
    read: ['EIO', 'EINTR', 'short'],
    write: ['EIO', 'ENOSPC', 'EINTR', 'short'],
    sync: ['EIO', 'ENOSPC', 'EINTR'],
    fallocate: ['EIO', 'ENOSPC', 'EINTR'],
    ftruncate: ['EIO', 'ENOSPC', 'EINTR'],
    rename: ['EIO', 'ENOSPC'],
    unlink: ['EIO'],
    mkdir: ['EIO', 'ENOSPC'],
    link: ['EIO', 'ENOSPC'],
    list: ['EIO', 'EMFILE'],
    mmap: ['ENOMEM'],
    range: ['EIO', 'ENOSPC'],
    thread: ['EAGAIN'],
};

export class Shim {
    #fd;
    #path;
    #location;

    /** work: a folder for the table; location: the data folder. */
    constructor(work, location) {
        this.#path = path.join(work, 'faults');
        this.#location = location;
        this.#fd = openSync(this.#path, 'w+');
        ftruncateSync(this.#fd, SIZE);
    }

    /** Of the server. */
    get env() {
        return {
            LD_PRELOAD: path.join(path.dirname(process.env.LAGRA_BINARY), 'tests/faults/libfaults.so'),
            LAGRA_FAULTS_TABLE: this.#path,
            LAGRA_FAULTS_FOLDER: this.#location,
        };
    }

    /** Does this build take it? A sanitizer wants to be loaded before all others itself. */
    get isTaken() {
        return spawnSync(process.env.LAGRA_BINARY, ['--version'], { env: { ...process.env, ...this.env } }).status === 0;
    }

    close() {
        closeSync(this.#fd);
    }

    #put(at, value) {
        const bytes = Buffer.alloc(4);

        bytes.writeUInt32LE(value >>> 0);
        writeSync(this.#fd, bytes, 0, 4, at);
    }

    #read() {
        const bytes = Buffer.alloc(SIZE);

        readSync(this.#fd, bytes, 0, SIZE, 0);
        return bytes;
    }

    /** Forgets all counts; nothing fails. */
    reset() {
        const bytes = this.#read();

        bytes.fill(0, AT.injected);
        bytes.fill(0, 0, AT.diskSize);
        writeSync(this.#fd, bytes, 0, SIZE, 0);
    }

    disarm() {
        this.#put(AT.fault, 0);
    }

    /** The nth call of a site from now on fails; forEver: and all after it. */
    arm({ call, kind, nth, fault, forEver }) {
        this.disarm();
        this.#put(AT.site, CALLS.indexOf(call) * KINDS.length + KINDS.indexOf(kind));
        this.#put(AT.countdown, nth);
        this.#put(AT.forEver, forEver ? 1 : 0);
        this.#put(AT.fault, ERRNO[fault]);
    }

    /** How often a call has failed. */
    get injected() {
        return this.#read().readUInt32LE(AT.injected);
    }

    /** The disk has so many bytes; 0: as many as it has. For the next start of the server. */
    setDiskSize(bytes) {
        this.#putLong(AT.diskSize, bytes);
    }

    /** Other files take so many bytes of it. */
    setDiskOthers(bytes) {
        this.#putLong(AT.diskOthers, bytes);
    }

    #putLong(at, value) {
        const bytes = Buffer.alloc(8);

        bytes.writeBigUInt64LE(BigInt(value));
        writeSync(this.#fd, bytes, 0, 8, at);
    }

    get diskUsed() {
        return Number(this.#read().readBigUInt64LE(AT.diskUsed));
    }

    /** How often a site was called. */
    countOf({ call, kind }) {
        return this.#read().readUInt32LE(AT.counts + 4 * (CALLS.indexOf(call) * KINDS.length + KINDS.indexOf(kind)));
    }

    /** The sites that were called: [{ call, kind, count }]. */
    get sites() {
        const bytes = this.#read();

        return CALLS.flatMap((call, c) => KINDS.map((kind, k) => (
            { call, kind, count: bytes.readUInt32LE(AT.counts + 4 * (c * KINDS.length + k)) })))
            .filter(({ count }) => count > 0);
    }
}
