// How long a start takes, up to its first answer: on a folder that is empty, on one that was stopped, and on those of a
// million blobs: after an orderly stop, with nothing of it in the kernel's cache, and after kill -9.

import path from 'node:path';
import { dropCaches, middle } from './process.mjs';
import { startLagra } from './targets.mjs';

const STARTS = 11; /* odd */
const SIZE = 1024; /* within a record */

/** Starts and ends so often. before(): what is done with the server off, ended(target): with it on; it ends the server. */
async function starts(version, folderOf, ended, before = () => true) {
    const ms = [];

    for (let i = 0; i < STARTS; i++) {
        if (!before())
            return null;
        const target = await startLagra(version.binary, folderOf(i), { name: version.name });
        ms.push(target.startMs);
        await ended(target);
    }
    return ms;
}

const shown = (ms) => ms ? `${middle(ms).toFixed(1)} ms (${Math.min(...ms).toFixed(1)} to ${Math.max(...ms).toFixed(1)})` : "not measured: the kernel's cache cannot be dropped";

async function measureOne(version, { folder, load, createContainer, million }) {
    const stop = (target) => target.stop();
    const empty = path.join(folder, `starts-${version.name}`);
    const full = path.join(empty, 'full');
    const say = (what, ms) => console.log(`  ${version.name.padEnd(6)}: ${what.padEnd(44)} ${shown(ms)}`);

    say('an empty folder', await starts(version, (i) => path.join(empty, `${i}`), stop));
    say('a folder that was stopped, with nothing in it', await starts(version, () => path.join(empty, '0'), stop));
    const target = await startLagra(version.binary, full, { name: version.name });
    await createContainer(target, 'bench');
    load(target, { work: 'fill', size: SIZE, names: million, count: million, connections: 64 });
    await target.stop();
    const blobs = `${million.toLocaleString('en')} blobs`;
    say(`${blobs}, stopped`, await starts(version, () => full, stop));
    say(`${blobs}, stopped, no cache`, await starts(version, () => full, stop, dropCaches));
    say(`${blobs}, killed, 5,000 of them new`, await starts(version, () => full, async (server) => {
        load(server, { work: 'fill', size: SIZE, names: 5000, count: 5000, connections: 64 });
        await server.kill();
    }));
}

export async function measureStarts(versions, tools) {
    console.log(`\nStart to first answer, the middle of ${STARTS} (least to most)`);
    for (const version of versions)
        await measureOne(version, tools);
}
