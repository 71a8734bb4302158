// The Data Lake endpoint of a hierarchical account beside what the Blob service does with the same bytes, in a flat account and in
// this one: appends, small files, listings and renames of large directories.

import { Client } from './client.mjs';
import { measureBeside, number, ratio } from './files.mjs';
import { middle } from './process.mjs';

const KiB = 1 << 10, MiB = 1 << 20;
const FEW = 10000, PAGE = 5000;
const CONNECTIONS = 32;
const RENAMES = 51; /* odd */
const FILESYSTEM = 'bench';
/* Of 33 requests of path-append, 16 are appends; of two of block-pair, one is a block. */
const APPENDED = 16 / 33, STAGED = 1 / 2;

const ofPaths = (target) => ({ ...target, port: target.dfsPort });

/** Milliseconds of one rename of a directory. */
async function measureRename(client, from) {
    const times = [];
    let at = from;

    for (let i = 0; i < RENAMES; i++) {
        const to = `${from}-${i}`, began = performance.now();

        await client.ask('PUT', `${to}?mode=legacy`, { 'x-ms-rename-source': `/${FILESYSTEM}/${at}` });
        times.push(performance.now() - began);
        at = to;
    }
    return middle(times);
}

async function measureLarge(blobs, paths, client, tools) {
    const pages = [], renames = [];

    for (const count of [FEW, tools.million]) {
        tools.load(blobs, { work: 'fill', size: 0, container: `${FILESYSTEM}/dir${count}`, names: count, count, connections: CONNECTIONS });
        pages.push({ name: `List ${PAGE.toLocaleString('en')} of ${count.toLocaleString('en')} paths`, target: paths, work: 'path-list', size: 0, container: `${FILESYSTEM}/dir${count}`, connections: 1 });
    }
    const [few, many] = measureBeside(pages, tools);
    ratio('a page of the large one to a page of the small one', many.p50Us / few.p50Us, 'at most 1.2');
    tools.load(blobs, { work: 'fill', size: 0, container: `${FILESYSTEM}/ten`, names: 10, count: 10, connections: 1 });
    for (const name of ['ten', `dir${tools.million}`])
        renames.push(await measureRename(client, name));
    console.log(`Rename of a directory: of ten files ${number(renames[0])} ms, of ${tools.million.toLocaleString('en')} ${number(renames[1])} ms`);
    ratio('the large one to the small one', renames[1] / renames[0], 'at most 2');
}

/** flat, blobs: targets whose accounts are flat and hierarchical. */
export async function measurePaths(flat, blobs, tools) {
    const paths = ofPaths(blobs), client = await Client.open(paths, FILESYSTEM);

    try {
        for (const target of [flat, blobs])
            await tools.createContainer(target, FILESYSTEM);
        console.log(`\nData Lake, ${CONNECTIONS} connections`);
        const [block, append] = measureBeside([
            { name: 'Put Block 4 MiB, Put Block List', target: blobs, work: 'block-pair', size: 4 * MiB, container: FILESYSTEM },
            { name: 'Append 4 MiB, flush', target: paths, work: 'path-append', size: 4 * MiB, container: FILESYSTEM },
        ], tools);
        ratio('appends to blocks, a second', (append.perSecond * APPENDED) / (block.perSecond * STAGED), 'at least 0.9');
        const [small, smallFlat] = measureBeside([
            { name: 'Create, append 1 KiB, flush (each a request)', target: paths, work: 'path-create', size: KiB, container: FILESYSTEM },
            { name: 'The same in a flat account', target: ofPaths(flat), work: 'path-create', size: KiB, container: FILESYSTEM },
        ], tools);
        ratio('files of 1 KiB a second, hierarchical', small.perSecond / 3, 'at least 5,000');
        ratio('files of 1 KiB a second, flat', smallFlat.perSecond / 3, 'beside it');
        for (const target of [flat, blobs])
            tools.load(target, { work: 'fill', size: KiB, container: FILESYSTEM, names: 1000, count: 1000, connections: CONNECTIONS });
        for (const [work, what] of [['get', 'Get Blob'], ['put', 'Put Blob']]) {
            const [one, other] = measureBeside([
                { name: `${what} 1 KiB, flat`, target: flat, work, size: KiB, names: 1000, container: FILESYSTEM },
                { name: `${what} 1 KiB, hierarchical`, target: blobs, work, size: KiB, names: 1000, container: FILESYSTEM },
            ], tools);
            ratio('hierarchical to flat, a second', other.perSecond / one.perSecond, 'beside it');
        }
        await measureLarge(blobs, paths, client, tools);
    } finally {
        client.close();
    }
}
