// What is in a folder of a share, as its only writer knows it, and what each change makes of it.
//
// A state is a Map: path below the folder -> { kind, value, bytes, id }; bytes are those of a file;
// id is undefined until the server was asked. States and nodes are never changed, only replaced.

import { digest } from './model.mjs';

const below = (path, folder) => path.startsWith(`${folder}/`);

/** Whether the directory has nothing in it. */
export const isEmpty = (state, folder) => ![...state.keys()].some((path) => below(path, folder));

const changed = (state, path, change) => new Map(state).set(path, { ...state.get(path), ...change });

function written(bytes, first, part) {
    const next = Buffer.from(bytes);

    part.copy(next, first);
    return next;
}

function renamed(state, { from, to }) {
    const next = new Map();

    for (const [path, node] of state)
        if (path === from || below(path, from))
            next.set(to + path.slice(from.length), node);
        else if (path !== to)
            next.set(path, node);
    return next;
}

function removed(state, { path }) {
    const next = new Map(state);

    next.delete(path);
    return next;
}

/** kind of change -> (state, change) -> the state after it */
export const FILE_CHANGES = {
    createDirectory: (state, { path, value }) => new Map(state).set(path, { kind: 'Directory', value }),
    createFile: (state, { path, size, value }) => new Map(state).set(path, { kind: 'File', value, bytes: Buffer.alloc(size) }),
    write: (state, { path, first, part }) => changed(state, path, { bytes: written(state.get(path).bytes, first, part) }),
    clear: (state, { path, first, count }) =>
        changed(state, path, { bytes: written(state.get(path).bytes, first, Buffer.alloc(count)) }),
    resize: (state, { path, size }) =>
        changed(state, path, { bytes: Buffer.concat([state.get(path).bytes, Buffer.alloc(size)]).subarray(0, size) }),
    metadata: (state, { path, value }) => changed(state, path, { value }),
    rename: renamed,
    remove: removed,
    removeFull: (state) => state,
    snapshot: (state) => state,
    removeSnapshot: (state) => state,
};

/** The bytes of all files together. */
export const lengthOf = (state) => [...state.values()].reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);

function differsNode(path, node, there) {
    if (!there)
        return `${path} is not there`;
    if (there.kind !== node.kind || there.value !== node.value)
        return `${path}: ${there.kind} ${there.value}, expected ${node.kind} ${node.value}`;
    if (node.id !== undefined && there.id !== node.id)
        return `${path}: its id is ${there.id}, it was ${node.id}`;
    if (node.bytes && (there.size !== node.bytes.length || there.digest !== digest(node.bytes)))
        return `${path}: other bytes, ${there.size} of ${node.bytes.length}`;
    return null;
}

/** What is wrong; null when nothing is. found: Map path -> { kind, value, id, size, digest } */
export function differs(state, found) {
    const more = [...found.keys()].find((path) => !state.has(path));

    if (more !== undefined)
        return `${more} is there`;
    for (const [path, node] of state) {
        const wrong = differsNode(path, node, found.get(path));
        if (wrong)
            return wrong;
    }
    return null;
}

/** The state, with the ids that were found. */
export const adopt = (state, found) => new Map([...state].map(([path, node]) => [path, { ...node, id: found.get(path).id }]));
