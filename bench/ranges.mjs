// Get Page Ranges Diff of 100 changed pages, no two of them in 128 KiB, in a blob with a million
// ranges and in one with 30,000: the answer is the same, and so should its cost be.

import path from 'node:path';
import { Client } from './client.mjs';
import { middle } from './process.mjs';
import { startLagra } from './targets.mjs';

const PAGE = 512;
const CHANGED = 100;
const FEW = 30000;
const ROUNDS = 101; /* odd */

const pageRange = (at) => `bytes=${at}-${at + PAGE - 1}`;

/** Milliseconds of a list of what changed since a snapshot of a blob with so many ranges. */
async function measure(target, count, { load, createContainer }) {
    const container = `ranges-${count}`;

    await createContainer(target, container);
    const client = await Client.open(target, container);
    try {
        await client.ask('PUT', 'ranges', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': `${2 * count * PAGE}` });
        load(target, { work: 'fill-ranges', size: PAGE, container, names: count, count, connections: 32 });
        const { headers } = await client.ask('PUT', 'ranges?comp=snapshot');
        for (let i = 0; i < CHANGED; i++) {
            const at = Math.floor((i * count) / CHANGED) * 2 * PAGE;
            await client.ask('PUT', 'ranges?comp=page', { 'x-ms-page-write': 'update', 'x-ms-range': pageRange(at) },
                Buffer.alloc(PAGE, i + 1));
        }
        const times = [];
        for (let i = 0; i < ROUNDS; i++) {
            const began = performance.now();
            const { body } = await client.ask('GET', `ranges?comp=pagelist&prevsnapshot=${encodeURIComponent(headers.get('x-ms-snapshot'))}`);
            times.push(performance.now() - began);
            if ((`${body}`.match(/<PageRange>/g) ?? []).length !== CHANGED)
                throw new Error(`${count} ranges: not ${CHANGED} changed ones: ${body.length} bytes`);
        }
        return middle(times);
    } finally {
        client.close();
    }
}

export async function measureRanges(versions, tools) {
    for (const { name, binary } of versions) {
        const target = await startLagra(binary, path.join(tools.folder, `ranges-${name}`), { name });

        try {
            const few = await measure(target, FEW, tools);
            const many = await measure(target, tools.million, tools);
            console.log(`\nGet Page Ranges Diff of ${CHANGED} changed pages within ${name}: ${few.toFixed(2)} ms out of ${FEW.toLocaleString('en')} ranges, ` +
                `${many.toFixed(2)} ms out of ${tools.million.toLocaleString('en')}`);
        } finally {
            await target.stop();
        }
    }
}
