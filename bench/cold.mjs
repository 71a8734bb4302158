// GETs of blobs that lie in no cache, by 32 connections, beside GETs of a few hot ones: do the hot
// ones wait behind the disk? The caches are dropped by starting the server anew and, as root, those
// of the kernel too.

import path from 'node:path';
import { dropCaches, middle } from './process.mjs';
import { startLagra } from './targets.mjs';

const COLD_SIZE = 12 * 1024; /* within a record */
const COLD_NAMES = 60000;
const HOT_SIZE = 1024;
const HOT_NAMES = 50;
const ROUNDS = 5; /* odd */
const SECONDS = 1.5;

const hot = { work: 'get', size: HOT_SIZE, names: HOT_NAMES, connections: 4 };

async function fill({ name, binary }, { folder, load, createContainer }) {
    const target = await startLagra(binary, path.join(folder, `cold-${name}`), { name });

    try {
        await createContainer(target, 'bench');
        for (const [size, names] of [[COLD_SIZE, COLD_NAMES], [HOT_SIZE, HOT_NAMES]])
            load(target, { work: 'fill', size, names, count: names, connections: 64 });
    } finally {
        await target.stop();
    }
}

/** One round: a start with cold caches, the hot load alone, both loads. */
async function measure({ name, binary }, { folder, load, loadBeside }) {
    dropCaches();
    const target = await startLagra(binary, path.join(folder, `cold-${name}`), { name });

    try {
        load(target, { ...hot, count: 10 * HOT_NAMES });
        const alone = load(target, { ...hot, seconds: SECONDS });
        const [beside, cold] = await Promise.all([
            loadBeside(target, { ...hot, seconds: SECONDS }),
            loadBeside(target, { work: 'get-apart', size: COLD_SIZE, names: COLD_NAMES, connections: 32, seconds: SECONDS }),
        ]);
        return { name, aloneP50: alone.p50_us, aloneP99: alone.p99_us, p50: beside.p50_us, p99: beside.p99_us,
            cold: cold.per_second, coldP99: cold.p99_us };
    } finally {
        await target.stop();
    }
}

export async function measureCold(versions, tools) {
    const rounds = [];

    console.log('\nGETs of hot blobs by 4 connections, alone and beside 32 connections that read cold ones' +
        `${dropCaches() ? '' : " (the kernel's cache cannot be dropped: run as root)"}`);
    for (const version of versions)
        await fill(version, tools);
    for (let round = 0; round < ROUNDS; round++) {
        for (const version of versions)
            rounds.push(await measure(version, tools));
    }
    for (const { name } of versions) {
        const of = (column) => middle(rounds.filter((round) => round.name === name).map((round) => round[column]));
        console.log(`  ${name.padEnd(6)}: hot alone p50 ${of('aloneP50')} us, p99 ${of('aloneP99')} us; ` +
            `beside p50 ${of('p50')} us, p99 ${of('p99')} us; ` +
            `cold ${Math.round(of('cold')).toLocaleString('en')}/s, p99 ${of('coldP99')} us`);
    }
}
