// What forwarding costs: two front ends of a cluster in a folder of this machine, asked the same by the same load generator, the
// owner directly and through the standby, by turns. CPU is that of both front ends together, without the load generator's.

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { cpuSeconds, middle } from './process.mjs';
import { startFrontEnd } from './targets.mjs';

const MiB = 2 ** 20;
const WORKS = [
    { name: 'GET 1 KiB', work: 'get', size: 1024, names: 1000, connections: 16 },
    { name: 'PUT 1 KiB', work: 'put', size: 1024, names: 1000, connections: 16 },
    { name: 'GET 4 MiB', work: 'get', size: 4 * MiB, names: 16, connections: 4 },
    { name: 'PUT 4 MiB', work: 'put', size: 4 * MiB, names: 16, connections: 4 },
];

function measure(target, members, asked, load) {
    const cpu = () => members.map(({ pid }) => cpuSeconds(pid));
    const before = cpu();
    const { answered, per_second: perSecond } = load(target, asked);
    const us = cpu().map((seconds, i) => ((seconds - before[i]) / answered) * 1e6);

    return { perSecond, ownerUs: us[0], standbyUs: us[1], us: us[0] + us[1] };
}

function print({ work, name, direct, forwarded }) {
    const of = (rounds, figure) => middle(rounds.map((round) => round[figure]));
    const kept = middle(forwarded.map((round, i) => round.perSecond / direct[i].perSecond));
    const perMiB = (us) => (work.size >= MiB ? `, ${Math.round(us / (work.size / MiB))} us a MiB` : '');
    const words = (rounds) => `${Math.round(of(rounds, 'perSecond')).toLocaleString('en')}/s, ${of(rounds, 'us').toFixed(1)} us of CPU${perMiB(of(rounds, 'us'))}`;

    console.log(`  ${work.name}, ${work.connections} connections, ${name}: directly ${words(direct)}; forwarded ${words(forwarded)} ` +
        `(owner ${of(forwarded, 'ownerUs').toFixed(1)}, standby ${of(forwarded, 'standbyUs').toFixed(1)}); keeps ${kept.toFixed(2)}`);
}

async function startPair({ name, binary }, folder) {
    const cluster = path.join(folder, `cluster-${name}`);

    execFileSync(binary, ['cluster', 'init', cluster]);
    const owner = await startFrontEnd(binary, cluster, { isOwner: true });

    return { name, owner, standby: await startFrontEnd(binary, cluster) };
}

/** One work, all rounds: the versions take turns, and so do both ways. */
function measureWork(pairs, work, { load, rounds, seconds }) {
    const asked = { ...work, seconds: seconds / rounds };
    const results = pairs.map(({ name }) => ({ name, work, direct: [], forwarded: [] }));

    for (const { owner } of pairs)
        load(owner, { ...work, work: 'fill', count: work.names, connections: 4 });
    for (let i = 0; i < rounds; i++)
        for (const way of i % 2 ? ['forwarded', 'direct'] : ['direct', 'forwarded'])
            pairs.forEach(({ owner, standby }, at) =>
                results[at][way].push(measure(way === 'direct' ? owner : standby, [owner, standby], asked, load)));
    results.forEach(print);
}

/** versions: [{ name, binary }] */
export async function measureForwarding(versions, tools) {
    const pairs = [];

    try {
        for (const version of versions) {
            pairs.push(await startPair(version, tools.folder));
            await tools.createContainer(pairs.at(-1).owner, 'bench');
        }
        console.log('\nForwarding:');
        for (const work of WORKS)
            measureWork(pairs, work, tools);
    } finally {
        for (const { owner, standby } of pairs) {
            await standby.stop();
            await owner.stop();
        }
    }
}
