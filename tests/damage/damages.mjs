// What can happen to the files of a data folder: a list of damages for one moment, each a function
// that damages a copy.

import { execFile } from 'node:child_process';
import { open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const BLOCK = 32768;
const HEADER = 7;

const isRecordFile = (file) => /^records\/(MANIFEST-|\d+\.log$)/.test(file);
const isTable = (file) => file.endsWith('.sst');
const isExtent = (file) => file.startsWith('extents/');

export async function flip(file, offset, bit) {
    const handle = await open(file, 'r+');
    const byte = Buffer.alloc(1);

    await handle.read(byte, 0, 1, offset);
    byte[0] ^= 1 << bit;
    await handle.write(byte, 0, 1, offset);
    await handle.close();
}

export async function exchange(file, from, to, size) {
    const handle = await open(file, 'r+');
    const a = Buffer.alloc(size), b = Buffer.alloc(size);

    await handle.read(a, 0, size, from);
    await handle.read(b, 0, size, to);
    await handle.write(b, 0, size, from);
    await handle.write(a, 0, size, to);
    await handle.close();
}

/** Where the records of a log or MANIFEST begin. */
export function headsOf(bytes) {
    const found = [];

    for (let at = 0; at + HEADER <= bytes.length;) {
        const left = BLOCK - (at % BLOCK);
        if (left < HEADER) {
            at += left;
            continue;
        }
        const length = bytes.readUInt16LE(at + 4);
        if (bytes[at + 6] === 0)
            break;
        found.push(at);
        at += HEADER + length;
    }
    return found;
}

/** A varint at `at`, and where it ends. */
function varintAt(from, at) {
    let value = 0, shift = 1;

    for (;;) {
        const c = from[at++];
        value += (c & 0x7f) * shift;
        if (c < 0x80)
            return [value, at];
        shift *= 128;
    }
}

function handleAt(from, at) {
    const [offset, behind] = varintAt(from, at);
    const [size, end] = varintAt(from, behind);

    return [{ offset, size }, end];
}

/** What a block of an index names. With an entry for each restart every value is a whole handle. */
function namedBy(bytes, { offset, size }) {
    const index = bytes.subarray(offset, offset + size);
    const restarts = index.length === size ? index.readUInt32LE(size - 4) & 0x7fffffff : 0;

    if (4 + 4 * restarts > size)
        return [];
    return Array.from({ length: restarts }, (_, i) => {
        const [, behind] = varintAt(index, index.readUInt32LE(size - 4 - 4 * (restarts - i)));
        const [unshared, key] = varintAt(index, behind);
        return handleAt(index, key + unshared)[0];
    });
}

/* The last eight bytes of a table that is whole. */
const TABLE_MAGIC = 0x88e241b785f4cff7n;

/** The data blocks of a table, with what stands behind each: as its index of two levels says. None of one
 *  that was still being written when the folder was copied. */
function blocksOf(bytes) {
    if (bytes.length < 53 || bytes.readBigUInt64LE(bytes.length - 8) !== TABLE_MAGIC)
        return [];
    const footer = bytes.subarray(bytes.length - 53);
    const [, behind] = handleAt(footer, 1);
    const [index] = handleAt(footer, behind);

    return namedBy(bytes, index).flatMap((part) => namedBy(bytes, part))
        .map(({ offset, size }) => ({ offset, size: size + 5 }));
}

/** Data blocks of one size, two by two. */
export function pairsOf(bytes) {
    const blocks = blocksOf(bytes);

    return blocks.flatMap((one, i) => blocks.slice(i + 1).filter(({ size }) => size === one.size).map((other) => [one, other]));
}

/** Damages of one file: { what, apply(copy's folder) }. */
async function ofFile(moment, file, random, effort) {
    const bytes = isExtent(file) ? null : await readFile(path.join(moment.location, file));
    const size = bytes ? bytes.length : 1 << 30;
    const list = [];
    const add = (what, apply) => list.push({ file, what, apply: (folder) => apply(path.join(folder, file)) });

    add('missing', (target) => rm(target));
    add('emptied', (target) => truncate(target, 0));
    if (size === 0)
        return list;
    if (isExtent(file)) {
        for (let i = 0; i < effort; i++) {
            const offset = 4096 + random(1 << 21);
            add(`byte ${offset} flipped`, (target) => flip(target, offset, random(8)));
        }
        add('cut to 1 MiB', (target) => truncate(target, 1 << 20));
        return list;
    }
    for (const head of isRecordFile(file) ? headsOf(bytes) : []) {
        for (let byte = 0; byte < HEADER; byte++)
            add(`record head ${head}, byte ${byte} flipped`, (target) => flip(target, head + byte, random(8)));
        add(`cut at record ${head}`, (target) => truncate(target, head));
        add(`cut inside record ${head}`, (target) => truncate(target, head + 3));
    }
    for (let i = 0; i < effort; i++) {
        const offset = random(size), bit = random(8), length = random(size);
        add(`bit ${bit} of byte ${offset} flipped`, (target) => flip(target, offset, bit));
        add(`cut to ${length}`, (target) => truncate(target, length));
    }
    add('zeros behind its end', async (target) => writeFile(target, Buffer.concat([bytes, Buffer.alloc(4096)])));
    if (isTable(file)) {
        const pairs = pairsOf(bytes);
        for (let i = 0; i < effort && pairs.length > 0; i++) {
            const [[one, other]] = pairs.splice(random(pairs.length), 1);
            add(`blocks ${one.offset} and ${other.offset} exchanged`,
                (target) => exchange(target, one.offset, other.offset, one.size));
        }
    }
    return list;
}

/** Single damages of every file. */
export async function damagesOf(moment, random, effort) {
    const lists = [];

    for (const file of await moment.files())
        lists.push(...await ofFile(moment, file, random, effort));
    return lists;
}

/** Each file of an older moment, put into the newer one in place of its own. */
export async function mixturesOf(older, newer) {
    const now = new Set(await newer.files());
    const list = [];

    for (const file of await older.files())
        list.push({ file, what: now.has(file) ? 'as it was before' : 'back again',
            apply: (folder) => promisify(execFile)('cp', ['--sparse=always', path.join(older.location, file), path.join(folder, file)]) });
    return list;
}
