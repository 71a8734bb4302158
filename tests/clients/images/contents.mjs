// What lies in the image of a data folder (images/vN.tar.xz): said once, for make.mjs, which writes
// it with the program of that version, and for images.test.mjs, which reads it with today's.
//
// Each blob of the container "image": how it was written, and the bytes that it and its snapshots
// have.

// Bytes that a packer makes small, different at each offset of a blob: lines that count.
export function lines(length, name) {
    const line = (n) => `${name} ${String(n).padStart(10, '0')}\n`;
    const size = line(0).length;
    let text = '';

    for (let n = 0; n * size < length; n++)
        text += line(n);
    return Buffer.from(text.slice(0, length));
}

export const blockId = (n) => Buffer.from(String(n).padStart(6, '0')).toString('base64');

const KiB = 1024;
const MiB = 1024 * KiB;

// Blocks of the sizes, one after the other.
const blocks = (name, sizes) => sizes.map((size, n) => lines(size, `${name}-${n}`));

export const CONTAINER = 'image';
export const inlined = lines(1000, 'inlined');
export const staged = lines(100 * KiB, 'staged');
export const large = lines(9 * MiB, 'large');
// Some segments of the map: blocks that lie inline, then some in pieces.
export const many = blocks('many', [...Array(500).fill(200), 1, 256, 257, 70 * KiB, 5 * MiB, 0x10001]);
// Three states of one blob, each with a snapshot, that share blocks: first, second, third.
export const shared = blocks('shared', [30 * KiB, 40 * KiB, 150, 50 * KiB, 20 * KiB]);
export const sharedStates = [[0, 1, 2], [1, 2, 3], [3, 4, 1, 1]];
// Blocks staged and not committed: of a blob that is there, and of one that is not.
export const waiting = blocks('waiting', [10 * KiB, 100, 5 * MiB]);

export const join = (all, order = all.keys()) => Buffer.concat([...order].map((n) => all[n]));
