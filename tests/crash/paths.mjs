// Writers of directories and files of a hierarchical account, through both endpoints, against a server
// that will be killed, and the check afterwards: each acknowledged change is done, each other change is
// done completely or not at all (a change of access control lists below a directory: node by node), and a
// renamed directory has all of its contents, under one name, also in another filesystem. Deleted paths are retained, listed and restored, with
// everything below them, and files expire. A user without a role deletes directories if their lists permit that.
//
// Each writer has a directory of its own in each filesystem, so its order of changes is known.

import { untilGone } from './campaign.mjs';
import { checkFolder } from './files.mjs';
import { otherDirectory, PathClient } from './path_client.mjs';
import { adopt, changedBy, differs, emptyState, isEmpty, mayDelete, OTHER, possible } from './path_model.mjs';
import { serverOptions } from './path_users.mjs';

const FILESYSTEM = 'crash-paths';
const WRITERS = 4;
const NODES_MAX = 20;
const DEPTH_MAX = 4;
const NAMES = ['a', 'b', 'c', 'd', 'e', 'ü'];
const SIZES = [0, 1, 700, 4096, 9000, 300000];
const GATES = ['staged', 'decided', 'applied', 'synced'];
/* Of files that expire during the test. */
const EXPIRY_MS = 20;

const depthOf = (path) => path.split('/').length;

export class PathCampaign {
    failures = [];
    changes = 0;
    kills = new Map(); /* "change at gate" -> number of times the server was killed there */
    static serverOptions = serverOptions;
    /* Changes of names, or of many nodes. */
    static inside = new Set(['createDirectory', 'createFile', 'rename', 'remove', 'removeBelow', 'removeByUser', 'readersBelow', 'restore', 'expireNow']);
    #server;
    #random;
    #gate = null; /* { from, inside } of the request during which the server is killed */
    #writers = Array.from({ length: WRITERS }, (_, i) => ({ directory: `/${FILESYSTEM}/w${i}`, state: emptyState(), asked: null }));

    constructor(server, random) {
        this.#server = server;
        this.#random = random;
    }

    async create() {
        const client = new PathClient(this.#server);

        for (const name of [FILESYSTEM, `${FILESYSTEM}-2`]) {
            await client.createFilesystem(name);
            await client.letIn(name);
        }
        await client.retain();
        for (const { directory } of this.#writers)
            for (const one of [directory, otherDirectory(directory)])
                await client.createWriter(one);
        client.close();
    }

    /* ---- next change of a writer ---- */

    #oneOf(list) {
        return list[this.#random(list.length)];
    }

    /** Returns a path in an existing directory, or, one time in four, in a missing one. */
    #newPath(state) {
        const directories = ['', ...[...state].filter(([path, { kind }]) => kind === 'directory' && depthOf(path) < DEPTH_MAX)
            .map(([path]) => `${path}/`)];
        const parent = this.#oneOf(directories);
        const between = `${parent}${this.#oneOf(NAMES)}`;

        return this.#random(4) === 0 && !state.has(between) ? `${between}/${this.#oneOf(NAMES)}` : between;
    }

    #part() {
        return Buffer.alloc(this.#oneOf(SIZES), `<${this.changes}>`);
    }

    #nextCreate(state) {
        const path = this.#newPath(state);
        const value = `v${this.changes}`;

        if (state.get(path)?.kind === 'directory')
            return { kind: 'properties', path, value };
        if (!state.has(path) && this.#random(3) === 0)
            return { kind: 'createDirectory', path, value };
        return !state.has(path) && this.#random(3) === 0 ? { kind: 'createFile', path, value } : { kind: 'put', path, value, part: this.#part() };
    }

    #nextRename(state, from) {
        const directories = ['', ...[...state].filter(([, { kind }]) => kind === 'directory').map(([path]) => `${path}/`)];
        const to = this.#oneOf(directories) + this.#oneOf(NAMES);

        /* Not below itself, not to its present name; only a file replaces a file. */
        if (`${to}/`.startsWith(`${from}/`) || (state.has(to) && (state.get(from).kind === 'directory' || state.get(to).kind === 'directory')))
            return this.#nextCreate(state);
        return { kind: 'rename', from, to };
    }

    #nextRemove(state, path) {
        if (state.get(path).kind === 'file')
            return { kind: 'remove', path, byBlob: this.#random(2) === 0 };
        if (this.#random(2) === 0)
            return { kind: mayDelete(state, path) ? 'removeByUser' : 'removeRefused', path };
        if (this.#random(2) === 0)
            return { kind: 'removeBelow', path };
        return { kind: isEmpty(state, path) ? 'remove' : 'removeFull', path };
    }

    /** Restores a deleted path that has a parent and is free, or changes the expiry of the file. */
    #nextRetention(state, path) {
        const kept = state.kept.filter(({ path: one }) => !state.has(one) && (!one.includes('/') || state.get(one.slice(0, one.lastIndexOf('/')))?.kind === 'directory'));

        if (kept.length > 0 && this.#random(3) > 0) {
            const one = this.#oneOf(kept);

            return { kind: 'restore', path: one.path, id: this.#random(3) === 0 ? null : one.id };
        }
        if (state.get(path).kind === 'directory')
            return this.#nextCreate(state);
        return this.#random(3) === 0 ? { kind: 'expireNow', path, ms: EXPIRY_MS }
            : { kind: 'expire', path, expiry: new Date(Date.UTC(2090, 0, 1, 0, 0, this.changes)).toUTCString() };
    }

    #nextAccess(state, path) {
        const isDirectory = state.get(path).kind === 'directory';

        switch (this.#random(3)) {
        case 0:
            return { kind: 'owner', path, owner: `o${this.changes}` };
        case 1:
            return { kind: 'readers', path, readers: `u${this.changes}`, isDirectory };
        default:
            return { kind: 'readersBelow', path, readers: `u${this.changes}` };
        }
    }

    #next({ state }) {
        const choice = this.#random(20);

        const paths = [...state.keys()].filter((one) => one !== OTHER);
        if (paths.length === 0 || (choice < 5 && paths.length < NODES_MAX))
            return this.#nextCreate(state);
        const path = this.#oneOf(paths);

        if (choice < 9)
            return this.#nextRename(state, path);
        if (choice < 11)
            return this.#nextRemove(state, path);
        if (choice < 13)
            return this.#nextAccess(state, path);
        if (choice < 17)
            return this.#nextRetention(state, path);
        if (choice === 17 || state.get(path).kind === 'directory')
            return { kind: 'properties', path, value: `v${this.changes}` };
        const part = this.#part();

        return part.length > 0 && !state.get(path).isPut ? { kind: 'append', path, position: state.get(path).bytes.length, part } : this.#nextCreate(state);
    }

    /* ---- writers ---- */

    /** Kills the server in this change, if it was chosen. */
    #arm(change) {
        const from = this.changes++;

        if (!this.#gate || from < this.#gate.from || (this.#gate.inside && !this.constructor.inside.has(change.kind)))
            return;
        change.gate = this.#oneOf(GATES);
        this.#gate = null;
        this.kills.set(`${change.kind} at ${change.gate}`, (this.kills.get(`${change.kind} at ${change.gate}`) ?? 0) + 1);
    }

    async #write(writer, isOver) {
        const client = new PathClient(this.#server);

        while (!isOver()) {
            const change = this.#next(writer);

            this.#arm(change);
            writer.asked = change;
            writer.state = changedBy(writer.state, change, await client.change(writer.directory, change));
            writer.asked = null;
        }
        client.close();
    }

    /** Like Campaign's. inside: the gate is in a change of names or of many nodes */
    async work({ ms, gated, cut, inside = false }) {
        this.#gate = gated ? { from: this.changes + this.#random(40), inside } : null;
        await untilGone({
            ms, cut, failures: this.failures,
            started: (isOver) => this.#writers.map((writer) => this.#write(writer, isOver)),
        });
    }

    /* ---- check afterwards ---- */

    async #check(writer) {
        const client = new PathClient(this.#server);
        const { directory, state, asked } = writer;

        if (asked?.kind === 'expireNow')
            await new Promise((resolve) => setTimeout(resolve, 2 * EXPIRY_MS));
        const found = await client.look(directory);
        const states = asked ? possible(state, asked) : [state];
        const wrong = states.map((one) => differs(one, found, asked?.kind === 'readersBelow' ? asked : null));
        const fits = wrong.indexOf(null);

        if (fits < 0)
            this.failures.push(`${directory}${asked ? `, ${asked.kind} of ${asked.path ?? asked.from} under way` : ''}: ${wrong.join(' or ')}`);
        else
            writer.state = adopt(states[fits], found);
        writer.asked = null;
        client.close();
    }

    /** Compares each directory with its possible contents. Returns whether all of them match. */
    async verify() {
        const before = this.failures.length;

        await Promise.all(this.#writers.map((writer) => this.#check(writer)
            .catch((error) => this.failures.push(`${writer.directory}: ${error.message}`))));
        return this.failures.length === before;
    }

    async checkFolder() {
        await checkFolder(this.#server, this.failures);
    }

    /** Deletes everything for good, for a check of the remains in the store. */
    async removeAll() {
        const client = new PathClient(this.#server);

        await client.retain(false);
        for (const writer of this.#writers) {
            for (const directory of [writer.directory, otherDirectory(writer.directory)]) {
                await client.removeForGood(directory);
                await client.createWriter(directory);
            }
            writer.state = emptyState();
        }
        await client.retain();
        client.close();
    }
}

/** Of renames and recursive changes of access control lists alone. */
export class RenameCampaign extends PathCampaign {
    static inside = new Set(['rename', 'readersBelow']);
}
