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

function print({ name, size, connections }, direct, forwarded) {
    const of = (rounds, figure) => middle(rounds.map((round) => round[figure]));
    const kept = middle(forwarded.map((round, i) => round.perSecond / direct[i].perSecond));
    const perMiB = (us) => (size >= MiB ? `, ${Math.round(us / (size / MiB))} us a MiB` : '');
    const words = (rounds) => `${Math.round(of(rounds, 'perSecond')).toLocaleString('en')}/s, ${of(rounds, 'us').toFixed(1)} us of CPU${perMiB(of(rounds, 'us'))}`;

    console.log(`  ${name}, ${connections} connections: directly ${words(direct)}; forwarded ${words(forwarded)} ` +
        `(owner ${of(forwarded, 'ownerUs').toFixed(1)}, standby ${of(forwarded, 'standbyUs').toFixed(1)}); keeps ${kept.toFixed(2)}`);
}

/** versions: [{ name, binary }] */
export async function measureForwarding(versions, { folder, load, createContainer, rounds, seconds }) {
    for (const { name, binary } of versions) {
        const cluster = path.join(folder, `cluster-${name}`);

        execFileSync(binary, ['cluster', 'init', cluster]);
        const owner = await startFrontEnd(binary, cluster, { isOwner: true });
        const standby = await startFrontEnd(binary, cluster);

        try {
            await createContainer(owner, 'bench');
            console.log(`\nForwarding, ${name}:`);
            for (const work of WORKS) {
                const asked = { ...work, seconds: seconds / rounds };
                const results = { direct: [], forwarded: [] };

                load(owner, { ...work, work: 'fill', count: work.names, connections: 4 });
                load(standby, { ...asked, seconds: 0.3 });
                for (let i = 0; i < rounds; i++)
                    for (const way of i % 2 ? ['forwarded', 'direct'] : ['direct', 'forwarded'])
                        results[way].push(measure(way === 'direct' ? owner : standby, [owner, standby], asked, load));
                print(work, results.direct, results.forwarded);
            }
        } finally {
            await standby.stop();
            await owner.stop();
        }
    }
}
