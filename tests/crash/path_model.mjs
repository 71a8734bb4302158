// Contents of the directories of a writer in the two filesystems of a hierarchical account, as known to
// this writer, the only one, and the result of each change.
//
// A state is a Map: path below the directory of the first filesystem, or "2/" and the path below that of the second one -> { kind, value, owner, readers, bytes, isPut, expiry }.
// readers: users in the access control list; bytes: of a file; isPut: written by Put Blob, so it cannot be appended to;
// expiry: as in x-ms-expiry-time; isOpen: the list lets the user do everything; opens: so will those of what is created in
// the directory. state.kept: the deleted paths, the newest first, each { path, nodes, id }. nodes: Map of
// the path and everything below it; id: of the deletion, null if it is not known yet.
// States, nodes and deletions are never changed, only replaced.

import { digest } from './model.mjs';

const below = (path, directory) => directory === '' || path.startsWith(`${directory}/`);
const parentOf = (path) => path.slice(0, Math.max(path.lastIndexOf('/'), 0));

/** Returns whether the directory is empty. */
export const isEmpty = (state, directory) => ![...state.keys()].some((path) => below(path, directory));

const changed = (state, path, change) => new Map(state).set(path, { ...state.get(path), ...change });

/** Creates the missing directories above a path. */
function withParents(state, path) {
    const next = new Map(state);

    for (let at = parentOf(path); at !== '' && !next.has(at); at = parentOf(at))
        next.set(at, { kind: 'directory', value: undefined, owner: '$superuser', readers: '', ...inherited(state, at) });
    return next;
}

const created = (state, path, node) =>
    withParents(state, path).set(path, { owner: '$superuser', readers: '', ...inherited(state, path), ...node });

/** What a new path inherits of the nearest directory that exists. */
function inherited(state, path) {
    let at = parentOf(path);

    while (at !== '' && !state.has(at))
        at = parentOf(at);
    const opens = at === '' || state.get(at).opens;
    return { isOpen: opens, opens };
}

/** Returns whether the lists permit the user to delete a directory: those of the directories above and, unless it is empty, of itself
 *  and below. */
export function mayDelete(state, path) {
    for (let at = parentOf(path); at !== ''; at = parentOf(at))
        if (!state.get(at).isOpen)
            return false;
    return isEmpty(state, path) || [...subtree(state, path).values()].every(({ kind, isOpen }) => kind === 'file' || isOpen);
}

function renamed(state, { from, to }) {
    const next = new Map();

    for (const [path, node] of state) {
        if (path === from || below(path, from))
            next.set(to + path.slice(from.length), node);
        else if (path !== to)
            next.set(path, node);
    }
    return next;
}

/** Returns the path and everything below it. */
const subtree = (state, path) => new Map([...state].filter(([one]) => one === path || below(one, path)));

/** What a change deletes is retained; answer: of the server, or undefined. */
function keptAfter(state, { kind, path, to, id }, answer) {
    const gone = kind === 'rename' ? to : path;

    if (kind === 'restore')
        return state.kept.filter((one) => one !== restored(state, { path, id }));
    if (!['remove', 'removeBelow', 'removeByUser', 'rename'].includes(kind) || !state.has(gone))
        return state.kept;
    return [{ path: gone, nodes: subtree(state, gone), id: answer?.id ?? null }, ...state.kept];
}

/** Returns the deletion that a request restores: that with the id, or the newest one of the path. */
const restored = (state, { path, id }) => state.kept.find((one) => one.path === path && (id === null || one.id === id));

const removed = (state, { path }) => new Map([...state].filter(([one]) => one !== path && !below(one, path)));

/* kind of change -> (state, change) -> the paths after it */
const CHANGES = {
    createDirectory: (state, { path, value }) => created(state, path, { kind: 'directory', value }),
    createFile: (state, { path, value }) => created(state, path, { kind: 'file', value, bytes: Buffer.alloc(0) }),
    put: (state, { path, value, part }) => (state.has(path) ? changed(state, path, { value, bytes: part, isPut: part.length > 0, readers: '', expiry: undefined })
        : created(state, path, { kind: 'file', value, bytes: part, isPut: part.length > 0 })),
    append: (state, { path, part }) => changed(state, path, { bytes: Buffer.concat([state.get(path).bytes, part]) }),
    properties: (state, { path, value }) => changed(state, path, { value }),
    owner: (state, { path, owner }) => changed(state, path, { owner }),
    readers: (state, { path, readers, isDirectory }) => changed(state, path, { readers, isOpen: true, opens: isDirectory }),
    readersBelow: (state, { path, readers }) => new Map([...state].map(([one, node]) =>
        [one, one === path || below(one, path) ? { ...node, readers, isOpen: true, opens: false } : node])),
    rename: renamed,
    remove: removed,
    removeBelow: removed,
    removeByUser: removed,
    removeRefused: (state) => state,
    removeFull: (state) => state,
    expire: (state, { path, expiry }) => changed(state, path, { expiry }),
    expireNow: removed,
    restore: (state, change) => new Map([...state, ...restored(state, change).nodes]),
};

/** The directory in the second filesystem. It is in every state, and is never changed. */
export const OTHER = '2';
export const otherNode = { kind: 'directory', value: undefined, owner: '$superuser', readers: '', isOpen: true, opens: true };

/** Returns the state without paths. */
export const emptyState = () => Object.assign(new Map([[OTHER, otherNode]]), { kept: [] });

/** Returns the state after a change; answer: { id } of a response. */
export function changedBy(state, change, answer = undefined) {
    return Object.assign(new Map(CHANGES[change.kind](state, change)), { kept: keptAfter(state, change, answer) });
}

/** Returns the possible states after a change without a response. Parents are created before their
 *  contents, and an access control list is changed node by node. */
export function possible(state, change) {
    const states = [state, changedBy(state, change)];

    if (change.path !== undefined && !state.has(change.path)) {
        for (let at = parentOf(change.path); at !== '' && !state.has(at); at = parentOf(at))
            states.push(Object.assign(created(state, at, { kind: 'directory', value: undefined }), { kept: state.kept }));
    }
    return states;
}

function differsNode(path, node, there, either) {
    if (!there)
        return `${path} is missing`;
    if (there.kind !== node.kind || there.value !== node.value || there.owner !== node.owner)
        return `${path}: ${there.kind} ${there.value} of ${there.owner}, expected ${node.kind} ${node.value} of ${node.owner}`;
    if (there.readers !== node.readers && !(either && (path === either.path || below(path, either.path)) && there.readers === either.readers))
        return `${path}: its readers are ${there.readers}, expected ${node.readers}`;
    if (there.expiry !== node.expiry)
        return `${path}: expires ${there.expiry}, expected ${node.expiry}`;
    if (node.bytes && (there.size !== node.bytes.length || there.digest !== digest(node.bytes)))
        return `${path}: other bytes, ${there.size} of ${node.bytes.length}`;
    return null;
}

/** Compares the deleted paths; found: [{ path, id, kind }], in the order of the paths, of each the newest deletion first. */
function differsKept(state, found) {
    const expected = [...state.kept].sort((one, other) => (one.path === other.path ? 0 : inOrder(one.path) < inOrder(other.path) ? -1 : 1));

    for (const [i, { path, id, nodes }] of expected.entries()) {
        const there = found[i];
        if (there?.path !== path || there.kind !== nodes.get(path).kind || (id !== null && there.id !== id))
            return `deletion ${i} is ${there?.path} ${there?.kind} ${there?.id}, expected ${path} ${nodes.get(path).kind} ${id}`;
    }
    return found.length > expected.length ? `a deleted ${found[expected.length].path} exists` : null;
}

/** A slash sorts before everything else. */
const inOrder = (path) => Buffer.from(path.replaceAll('/', '\u0001')).toString('latin1');

/** Returns the difference, or null. found: Map path -> { kind, value, owner, readers, size, digest, expiry }, with
 *  found.kept; either: a change of lists below a directory that got no response */
export function differs(state, found, either = null) {
    const more = [...found.keys()].find((path) => !state.has(path));

    if (more !== undefined)
        return `${more} exists`;
    for (const [path, node] of state) {
        const wrong = differsNode(path, node, found.get(path), either);
        if (wrong)
            return wrong;
    }
    return differsKept(state, found.kept);
}

/** Returns the state with the lists and the ids of deletions that were found. */
export function adopt(state, found) {
    const ids = new Map(); /* path -> ids, the newest first */

    for (const { path, id } of found.kept)
        ids.set(path, [...(ids.get(path) ?? []), id]);
    return Object.assign(new Map([...state].map(([path, node]) => {
        const { readers, isOpen, opens } = found.get(path);
        return [path, { ...node, readers, isOpen, opens }];
    })),
        { kept: state.kept.map((one) => ({ ...one, id: ids.get(one.path).shift() })) });
}
