// How long a start takes, up to its first answer, and what of it is CPU time, which other work on the machine changes less:
// on a folder that is empty, on one that was stopped, and on those of a million blobs: after an orderly stop, with nothing of
// it in the kernel's cache, and after kill -9.

import path from 'node:path';
import { cpuSeconds, dropCaches, middle } from './process.mjs';
import { startLagra } from './targets.mjs';

const STARTS = 11; /* odd */
const SIZE = 1024; /* within a record */
const NEW = 5000;  /* written by a run that is killed: what the next start reads out of the log */

/** Starts and ends so often. before(): what is done with the server off, ended(target): with it on; it ends the server. */
async function starts(version, folderOf, ended, before = () => true) {
    const ms = [], cpuMs = [];

    for (let i = 0; i < STARTS; i++) {
        if (!before())
            return null;
        const target = await startLagra(version.binary, folderOf(i), { name: version.name });
        ms.push(target.startMs);
        cpuMs.push(cpuSeconds(target.pid) * 1000);
        await ended(target);
    }
    return { ms, cpuMs };
}

const range = (values, digits) => `${middle(values).toFixed(digits)} ms (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;
const shown = (took) => took ? `${range(took.ms, 1)}, CPU ${range(took.cpuMs, 0)}` : "not measured: the kernel's cache cannot be dropped";

async function measureOne(version, { folder, load, createContainer, million }) {
    const stop = (target) => target.stop();
    const empty = path.join(folder, `starts-${version.name}`);
    const full = path.join(empty, 'full');
    const say = (what, took) => console.log(`  ${version.name.padEnd(6)}: ${what.padEnd(44)} ${shown(took)}`);
    const fillAndKill = async (server) => {
        load(server, { work: 'fill', size: SIZE, names: NEW, count: NEW, connections: 64 });
        await server.kill();
    };

    say('an empty folder', await starts(version, (i) => path.join(empty, `${i}`), stop));
    say('a folder that was stopped, with nothing in it', await starts(version, () => path.join(empty, '0'), stop));
    const target = await startLagra(version.binary, full, { name: version.name });
    await createContainer(target, 'bench');
    load(target, { work: 'fill', size: SIZE, names: million, count: million, connections: 64 });
    await target.stop();
    const blobs = `${million.toLocaleString('en')} blobs`;
    say(`${blobs}, stopped`, await starts(version, () => full, stop));
    say(`${blobs}, stopped, no cache`, await starts(version, () => full, stop, dropCaches));
    await fillAndKill(await startLagra(version.binary, full, { name: version.name }));
    say(`${blobs}, killed, ${NEW.toLocaleString('en')} of them new`, await starts(version, () => full, fillAndKill));
}

export async function measureStarts(versions, tools) {
    console.log(`\nStart to first answer, the middle of ${STARTS} (least to most); CPU time in steps of 10 ms`);
    for (const version of versions)
        await measureOne(version, tools);
}
