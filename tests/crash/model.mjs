// What a client knows about its blobs: the state of the last acknowledged answer, and the states
// that a request without an answer may have left. After a crash each blob must be in one of them,
// whole.

import { createHash } from 'node:crypto';

/** A page that was never written, or cleared. */
export const PAGE = 512;
const ZEROS = { seed: 'zeros', size: PAGE };

/** Bytes that differ from seed to seed and from page to page. */
export function bytesOf({ seed, size }) {
    if (seed === ZEROS.seed)
        return Buffer.alloc(size);
    const bytes = Buffer.alloc(size, `<${seed}>`);

    for (let at = 0; at + 12 <= size; at += 4096)
        bytes.write(`${at}`.padStart(12), at, 'latin1');
    return bytes;
}

export const digest = (bytes) => createHash('sha1').update(bytes).digest('hex');

/** Digests of contents are asked for again and again. */
const digests = new Map();
function digestOf(parts) {
    const name = parts.map(({ seed, size }) => `${seed}:${size}`).join();

    if (!digests.has(name))
        digests.set(name, digest(Buffer.concat(parts.map(bytesOf))));
    return digests.get(name);
}

/** A blob's state. base: null or { parts, value, etag, tag }, the parts of a page blob its
 *  pages; snapshots: id -> parts; blocks: id -> part. */
export const emptyState = () => ({ base: null, snapshots: new Map(), blocks: new Map() });

const clone = ({ base, snapshots, blocks }) => ({ base, snapshots: new Map(snapshots), blocks: new Map(blocks) });

/** Each kind of change: what it makes of a state. `answer` is undefined while it is not known. */
export const CHANGES = {
    put(state, { part, value }, answer) {
        return { ...clone(state), base: { parts: [part], value, etag: answer?.etag }, blocks: new Map() };
    },
    block(state, { id, part }) {
        const next = clone(state);
        next.blocks.set(id, part);
        return next;
    },
    commit(state, { ids, value }, answer) {
        const parts = ids.map((id) => state.blocks.get(id));
        return { ...clone(state), base: { parts, value, etag: answer?.etag }, blocks: new Map() };
    },
    createAppend(state, { value }, answer) {
        return { ...clone(state), base: { parts: [], value, etag: answer?.etag } };
    },
    append(state, { part }, answer) {
        return { ...clone(state), base: { ...state.base, parts: [...state.base.parts, part], etag: answer?.etag } };
    },
    createPages(state, { value, count }, answer) {
        return { ...clone(state), base: { parts: Array(count).fill(ZEROS), value, etag: answer?.etag } };
    },
    /* part: undefined clears them */
    pages(state, { first, count, part }, answer) {
        const parts = [...state.base.parts];
        parts.fill(part ?? ZEROS, first, first + count);
        return { ...clone(state), base: { ...state.base, parts, etag: answer?.etag } };
    },
    /* of the same range of a source with these pages */
    pagesFrom(state, { first, count, source }, answer) {
        const parts = [...state.base.parts];
        parts.splice(first, count, ...source.slice(first, first + count));
        return { ...clone(state), base: { ...state.base, parts, etag: answer?.etag } };
    },
    copyPages(state, { source, value }, answer) {
        return { ...clone(state), base: { parts: source, value, etag: answer?.etag } };
    },
    tag(state, { tag }) {
        return { ...clone(state), base: { ...state.base, tag } };
    },
    metadata(state, { value }, answer) {
        return { ...clone(state), base: { ...state.base, value, etag: answer?.etag } };
    },
    snapshot(state, change, answer) {
        const next = clone(state);
        next.snapshots.set(answer?.snapshot ?? '?', state.base.parts);
        return next;
    },
    remove() {
        return emptyState();
    },
};

/** ETags are times: a later one is greater. */
const etagNumber = (etag) => BigInt(etag.replaceAll('"', ''));

function baseDiffers(expected, found, notBefore) {
    if (!expected || !found)
        return expected || found ? `base: expected ${expected ? 'a blob' : 'none'}, found ${found ? 'one' : 'none'}` : null;
    if (found.digest !== digestOf(expected.parts))
        return 'base: other bytes';
    if (found.value !== expected.value)
        return `metadata: expected ${expected.value}, found ${found.value}`;
    if (found.tag !== expected.tag)
        return `tag: expected ${expected.tag}, found ${found.tag}`;
    if (expected.etag && found.etag !== expected.etag)
        return `ETag: expected ${expected.etag}, found ${found.etag}`;
    if (!expected.etag && notBefore && etagNumber(found.etag) <= etagNumber(notBefore))
        return `ETag: ${found.etag} is not newer than ${notBefore}`;
    return null;
}

function snapshotsDiffer(expected, found) {
    const ids = [...expected.keys()].filter((id) => id !== '?');
    const extra = [...found.keys()].filter((id) => !expected.has(id));

    for (const id of ids) {
        if (!found.has(id))
            return `snapshot ${id} is missing`;
        if (found.get(id) !== digestOf(expected.get(id)))
            return `snapshot ${id}: other bytes`;
    }
    if (extra.length !== (expected.has('?') ? 1 : 0))
        return `snapshots: ${extra.length} that nobody knows of`;
    if (extra.length === 1 && found.get(extra[0]) !== digestOf(expected.get('?')))
        return `snapshot ${extra[0]}: other bytes`;
    return null;
}

function blocksDiffer(expected, found) {
    const text = (blocks) => [...blocks].map(([id, size]) => `${id}:${size}`).sort().join();
    const wanted = text([...expected].map(([id, { size }]) => [id, size]));

    return text(found) === wanted ? null : `uncommitted blocks: expected ${wanted || 'none'}, found ${text(found) || 'none'}`;
}

/** null when `found` is the expected state, else what is different.
 *  found: base { digest, value, etag } or null; snapshots: id -> digest; blocks: id -> size */
export function differs(expected, found, notBefore) {
    return baseDiffers(expected.base, found.base, notBefore) ?? snapshotsDiffer(expected.snapshots, found.snapshots) ??
        blocksDiffer(expected.blocks, found.blocks);
}

/** The expected state with what only the server knew: an ETag, a snapshot's name. */
export function adopt(expected, found) {
    const state = clone(expected);

    if (state.base)
        state.base = { ...state.base, etag: found.base.etag };
    if (state.snapshots.has('?')) {
        const parts = state.snapshots.get('?');
        const id = [...found.snapshots.keys()].find((one) => !state.snapshots.has(one));
        state.snapshots.delete('?');
        state.snapshots.set(id, parts);
    }
    return state;
}
