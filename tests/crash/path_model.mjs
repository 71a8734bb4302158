// Contents of a directory of a hierarchical account, as known to its only writer, and the result of each
// change.
//
// A state is a Map: path below the directory -> { kind, value, owner, readers, bytes, isPut }.
// readers: users in the access control list; bytes: of a file; isPut: written by Put Blob, so it cannot be appended to.
// States and nodes are never changed, only replaced.

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
        next.set(at, { kind: 'directory', value: undefined, owner: '$superuser', readers: '' });
    return next;
}

const created = (state, path, node) =>
    withParents(state, path).set(path, { owner: '$superuser', readers: '', ...node });

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

const removed = (state, { path }) => new Map([...state].filter(([one]) => one !== path && !below(one, path)));

/** kind of change -> (state, change) -> the state after it */
export const PATH_CHANGES = {
    createDirectory: (state, { path, value }) => created(state, path, { kind: 'directory', value }),
    createFile: (state, { path, value }) => created(state, path, { kind: 'file', value, bytes: Buffer.alloc(0) }),
    put: (state, { path, value, part }) => (state.has(path) ? changed(state, path, { value, bytes: part, isPut: part.length > 0, readers: '' })
        : created(state, path, { kind: 'file', value, bytes: part, isPut: part.length > 0 })),
    append: (state, { path, part }) => changed(state, path, { bytes: Buffer.concat([state.get(path).bytes, part]) }),
    properties: (state, { path, value }) => changed(state, path, { value }),
    owner: (state, { path, owner }) => changed(state, path, { owner }),
    readers: (state, { path, readers }) => changed(state, path, { readers }),
    readersBelow: (state, { path, readers }) => new Map([...state].map(([one, node]) =>
        [one, one === path || below(one, path) ? { ...node, readers } : node])),
    rename: renamed,
    remove: removed,
    removeBelow: removed,
    removeFull: (state) => state,
};

/** Returns the possible states after a change without a response. Parents are created before their
 *  contents, and an access control list is changed node by node. */
export function possible(state, change) {
    const after = PATH_CHANGES[change.kind](state, change);
    const states = [state, after];

    if (change.path !== undefined && !state.has(change.path)) {
        for (let at = parentOf(change.path); at !== '' && !state.has(at); at = parentOf(at))
            states.push(created(state, at, { kind: 'directory', value: undefined }));
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
    if (node.bytes && (there.size !== node.bytes.length || there.digest !== digest(node.bytes)))
        return `${path}: other bytes, ${there.size} of ${node.bytes.length}`;
    return null;
}

/** Returns the difference, or null. found: Map path -> { kind, value, owner, readers, size, digest };
 *  either: a change of lists below a directory that got no response */
export function differs(state, found, either = null) {
    const more = [...found.keys()].find((path) => !state.has(path));

    if (more !== undefined)
        return `${more} exists`;
    for (const [path, node] of state) {
        const wrong = differsNode(path, node, found.get(path), either);
        if (wrong)
            return wrong;
    }
    return null;
}

/** Returns the state with the lists that were found. */
export const adopt = (state, found) => new Map([...state].map(([path, node]) => [path, { ...node, readers: found.get(path).readers }]));
