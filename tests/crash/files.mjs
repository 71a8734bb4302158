// Writers of directories and files against a server that will be cut off, and the look afterwards:
// what was answered is there, what was not is wholly there or not at all, each name has its file and
// each file one name, and a share counts the lengths of its files.
//
// Each writer has a folder of its own in a share that it shares with another, so its order of changes
// is known. The first of a share takes and deletes its snapshots.

import { execFile } from 'node:child_process';
import { untilGone } from './campaign.mjs';
import { FileClient } from './file_client.mjs';
import { FILE_CHANGES, adopt, differs, isEmpty, lengthOf } from './file_model.mjs';

const SHARES = 2;
const WRITERS = 2; /* of each share */
const NODES_MAX = 14;
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const DEPTH_MAX = 3;
const SNAPSHOTS_MAX = 3;
const SIZES = [0, 1, 700, 4096, 9000, 300000]; /* inline, in pieces, and both */
const GATES = ['staged', 'decided', 'applied', 'synced'];
/* What changes names. */
const OF_NAMES = new Set(['createDirectory', 'createFile', 'rename', 'remove']);
const CHECKED = /; damaged or lost: (\d+)\n/;

const depthOf = (path) => path.split('/').length;

/** Reads and checks the whole data folder, while no server runs. */
export async function checkFolder(server, failures) {
    const { error, stdout } = await new Promise((resolve) => execFile(process.env.LAGRA_BINARY, ['check', server.location],
        (failure, out) => resolve({ error: failure, stdout: out })));

    if (error || CHECKED.exec(stdout)?.[1] !== '0')
        failures.push(`lagra check: ${error?.code ?? ''} ${stdout}`);
}

export class FileCampaign {
    failures = [];
    changes = 0;
    kills = new Map(); /* "change at gate" -> how often it has killed the server */
    #server;
    #random;
    #deaf = false; /* answers no longer count */
    #gate = null; /* { from, inside } of the request that is to kill the server */
    #shares = Array.from({ length: SHARES }, (_, i) => `crash-share${i}`);
    /* snapshots: date -> the state that it shows; null of those who take none. asked: the change of a
     * request without an answer. */
    #writers = this.#shares.flatMap((share) => Array.from({ length: WRITERS }, (_, i) =>
        ({ share, folder: `/${share}/w${i}`, state: new Map(), snapshots: i === 0 ? new Map() : null, asked: null })));

    constructor(server, random) {
        this.#server = server;
        this.#random = random;
    }

    async create() {
        const client = new FileClient(this.#server);

        for (const share of this.#shares)
            await client.createShare(share);
        for (const { folder } of this.#writers)
            await client.createDirectory(folder);
        client.close();
    }

    /* ---- what a writer does next ---- */

    #oneOf(list) {
        return list[this.#random(list.length)];
    }

    #newPath(state) {
        const folders = ['', ...[...state].filter(([path, { kind }]) => kind === 'Directory' && depthOf(path) < DEPTH_MAX).map(([path]) => `${path}/`)];

        return this.#oneOf(folders) + this.#oneOf(NAMES);
    }

    #nextCreate(state) {
        const path = this.#newPath(state);
        const value = `v${this.changes}`;

        if (!state.has(path) && this.#random(3) === 0)
            return { kind: 'createDirectory', path, value };
        if (state.get(path)?.kind === 'Directory')
            return { kind: 'metadata', path, value, isDirectory: true };
        return { kind: 'createFile', path, value, size: this.#oneOf(SIZES) };
    }

    #nextRename(state, from) {
        const to = this.#newPath(state);
        const isDirectory = state.get(from).kind === 'Directory';
        const there = state.get(to);

        /* Not below itself, and over its own kind alone, which is empty. */
        if (`${to}/`.startsWith(`${from}/`) || (there && (isDirectory !== (there.kind === 'Directory') || !isEmpty(state, to))))
            return this.#nextCreate(state);
        return { kind: 'rename', from, to, isDirectory, replaces: there !== undefined };
    }

    #nextBytes(path, { length }) {
        if (length === 0 || this.#random(6) === 0)
            return { kind: 'resize', path, size: this.#oneOf(SIZES) };
        const first = this.#random(length);
        const count = 1 + this.#random(length - first);

        if (this.#random(5) === 0)
            return { kind: 'clear', path, first, count };
        return { kind: 'write', path, first, part: Buffer.alloc(count, `<${this.changes}>`) };
    }

    #nextRemove(state, path) {
        const isDirectory = state.get(path).kind === 'Directory';

        return { kind: isDirectory && !isEmpty(state, path) ? 'removeFull' : 'remove', path, isDirectory };
    }

    #nextSnapshot({ snapshots }) {
        const ids = [...snapshots.keys()];

        return ids.length === 0 || (ids.length < SNAPSHOTS_MAX && this.#random(2) === 0)
            ? { kind: 'snapshot' } : { kind: 'removeSnapshot', id: this.#oneOf(ids) };
    }

    #next(writer) {
        const { state, snapshots } = writer;
        const choice = this.#random(16);

        if (snapshots && choice === 0)
            return this.#nextSnapshot(writer);
        if (state.size === 0 || (choice < 5 && state.size < NODES_MAX))
            return this.#nextCreate(state);
        const path = this.#oneOf([...state.keys()]);
        const { kind, bytes } = state.get(path);

        if (choice < 8)
            return this.#nextRename(state, path);
        if (choice < 10)
            return this.#nextRemove(state, path);
        if (choice === 10 || kind === 'Directory')
            return { kind: 'metadata', path, value: `v${this.changes}`, isDirectory: kind === 'Directory' };
        return this.#nextBytes(path, bytes);
    }

    /* ---- writers ---- */

    #made(writer, change, snapshot) {
        if (change.kind === 'snapshot')
            writer.snapshots.set(snapshot, writer.state);
        if (change.kind === 'removeSnapshot')
            writer.snapshots.delete(change.id);
        writer.state = FILE_CHANGES[change.kind](writer.state, change);
        writer.asked = null;
    }

    /** Lets the change kill the server, if it is the one that is to. */
    #arm(change) {
        const from = this.changes++;

        if (!this.#gate || from < this.#gate.from || (this.#gate.inside && !OF_NAMES.has(change.kind)))
            return;
        change.gate = GATES[this.#random(GATES.length)];
        this.#gate = null;
        const what = `${change.kind}${change.isDirectory ? ' of a directory' : ''} at ${change.gate}`;

        this.kills.set(what, (this.kills.get(what) ?? 0) + 1);
    }

    async #write(writer, isOver) {
        const client = new FileClient(this.#server);

        while (!isOver()) {
            const change = this.#next(writer);

            this.#arm(change);
            writer.asked = change;
            const snapshot = await client.change(writer.folder, change);

            if (this.#deaf)
                break;
            this.#made(writer, change, snapshot);
        }
        client.close();
    }

    /** All writers work until then. */
    async run(isOver) {
        await Promise.all(this.#writers.map((writer) => this.#write(writer, isOver)));
    }

    /** What must or may be there now: { share, folder, snapshots, states }. */
    frozen() {
        return this.#writers.map(({ share, folder, state, snapshots, asked }) => ({
            share, folder, asked: asked?.kind, id: asked?.id, snapshots: snapshots && new Map(snapshots),
            states: [state, ...(asked ? [FILE_CHANGES[asked.kind](state, asked)] : [])],
        }));
    }

    /** As Campaign's. inside: the gate is one of a change of names */
    async work({ ms, gated, cut, deaf = false, inside = false }) {
        this.#gate = gated ? { from: this.changes + this.#random(40), inside } : null;
        await untilGone({
            ms, cut, failures: this.failures,
            started: (isOver) => this.#writers.map((writer) => this.#write(writer, isOver)),
            cutting: () => {
                this.#deaf = deaf;
            },
        });
        this.#deaf = false;
    }

    /* ---- the look afterwards ---- */

    /** Of the snapshots, one that was under way may be there, one whose delete was may be gone. */
    async #checkSnapshots(client, writer) {
        const ids = await client.snapshots(writer.share);
        const { asked, snapshots } = writer;

        for (const id of ids.filter((one) => !snapshots.has(one))) {
            if (asked?.kind !== 'snapshot' || snapshots.has(asked.found))
                this.failures.push(`${writer.share}: a snapshot that nobody took: ${id}`);
            else
                snapshots.set(asked.found = id, writer.state);
        }
        for (const [id, state] of snapshots) {
            if (ids.includes(id)) {
                const wrong = differs(state, await client.look(writer.folder, id));
                if (wrong)
                    this.failures.push(`${writer.folder} in the snapshot ${id}: ${wrong}`);
                continue;
            }
            if (asked?.kind !== 'removeSnapshot' || asked.id !== id)
                this.failures.push(`${writer.share}: the snapshot ${id} is lost`);
            snapshots.delete(id);
        }
    }

    async #check(writer) {
        const client = new FileClient(this.#server);
        const { folder, state, asked } = writer;
        const found = await client.look(folder);
        const states = [state, ...(asked ? [FILE_CHANGES[asked.kind](state, asked)] : [])];
        const wrong = states.map((one) => differs(one, found));
        const fits = wrong.indexOf(null);

        if (fits < 0)
            this.failures.push(`${folder}${asked ? `, ${asked.kind} of ${asked.path ?? asked.from} under way` : ''}: ${wrong.join(' or ')}`);
        else
            writer.state = adopt(states[fits], found);
        if (fits >= 0 && writer.snapshots)
            await this.#checkSnapshots(client, writer);
        writer.asked = null;
        client.close();
        return [...found.values()].map(({ id }) => id);
    }

    async #checkShare(share) {
        const writers = this.#writers.filter((writer) => writer.share === share);
        const ids = (await Promise.all(writers.map((writer) => this.#check(writer)))).flat();
        const client = new FileClient(this.#server);
        const used = await client.usedBytes(share);
        const lengths = writers.reduce((sum, { state }) => sum + lengthOf(state), 0);

        if (new Set(ids).size !== ids.length)
            this.failures.push(`${share}: a file has two names`);
        if (used !== lengths)
            this.failures.push(`${share}: ${used} bytes are counted, its files have ${lengths}`);
        client.close();
    }

    /** Compares each folder and snapshot with what must or may be in it. Returns whether all is well. */
    async verify() {
        const before = this.failures.length;

        await Promise.all(this.#shares.map((share) => this.#checkShare(share)
            .catch((error) => this.failures.push(`${share}: ${error.message}`))));
        return this.failures.length === before;
    }

    async checkFolder() {
        await checkFolder(this.#server, this.failures);
    }

    /** Deletes everything, for a look at what is left of it in the store. */
    async removeAll() {
        const client = new FileClient(this.#server);

        for (const writer of this.#writers) {
            for (const id of writer.snapshots?.keys() ?? [])
                await client.change(writer.folder, { kind: 'removeSnapshot', id });
            for (const path of [...writer.state.keys()].sort((a, b) => depthOf(b) - depthOf(a)))
                await client.change(writer.folder, this.#nextRemove(new Map([[path, writer.state.get(path)]]), path));
            writer.state = new Map();
            writer.snapshots?.clear();
        }
        client.close();
    }
}
