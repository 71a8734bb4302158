// Whether connections spread over the workers: 64 of them, with 2 and with 8 workers, several times
// anew. Printed are the requests a second of the middle run, and how the least loaded worker stands
// beside the most loaded one: by connections, in the worst run, and by CPU time, in the middle one.
// The latter is a matter of the kernel's scheduler too where workers are more than cores, or others
// use them.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { middle, threadSeconds } from './process.mjs';
import { startLagra } from './targets.mjs';

const RUNS = 5; /* odd */
const CONNECTIONS = 64;
const NAMES = 1000;

const takesWorkers = (binary) => execFileSync(binary, ['--help'], { encoding: 'utf8' }).includes('--workers');

/** CPU seconds of the workers that served the load: those of all services that worked the most. */
function busiest(pid, before, workers) {
    const used = [...threadSeconds(pid, 'http-worker')].map(([thread, seconds]) => seconds - (before.get(thread) ?? 0));

    return used.sort((a, b) => b - a).slice(0, workers);
}

/** How many connections each worker has: sockets in its epoll set, of which each worker has
 *  one. */
function connectionsOfWorkers(pid) {
    const link = (fd) => {
        try {
            return readlinkSync(`/proc/${pid}/fd/${fd}`);
        } catch { /* closed meanwhile */
            return '';
        }
    };
    const socketsIn = (fd) => [...readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8').matchAll(/^tfd:\s+(\d+)/gm)]
        .filter(([, inside]) => link(inside).startsWith('socket:')).length;

    return readdirSync(`/proc/${pid}/fd`).filter((fd) => link(fd) === 'anon_inode:[eventpoll]').map(socketsIn);
}

async function once(target, workers, { loadBeside, seconds }) {
    const before = threadSeconds(target.pid, 'http-worker');
    const loading = loadBeside(target, { work: 'get', size: 1024, names: NAMES, connections: CONNECTIONS, seconds: seconds / RUNS });

    await delay((seconds / RUNS) * 500);
    const connections = connectionsOfWorkers(target.pid).sort((a, b) => b - a).slice(0, workers);
    const result = await loading;
    const used = busiest(target.pid, before, workers);
    return { perSecond: result.per_second, least: connections.at(-1) / connections[0], leastCpu: used.at(-1) / used[0] };
}

async function measureVersion({ name, binary }, workers, tools) {
    const args = takesWorkers(binary) ? ['--workers', `${workers}`] : [];
    const target = await startLagra(binary, path.join(tools.folder, `spread-${name}-${workers}`), { name, args });

    try {
        await tools.createContainer(target, 'bench');
        tools.load(target, { work: 'fill', size: 1024, names: NAMES, count: NAMES, connections: 32 });
        const runs = [];

        for (let i = 0; i < RUNS; i++)
            runs.push(await once(target, workers, tools));
        const of = (column) => middle(runs.map((run) => run[column]));
        const percent = (share) => `${(share * 100).toFixed(0)} %`;
        console.log(`  ${workers} workers, ${name.padEnd(6)}: ${Math.round(of('perSecond')).toLocaleString('en')} requests/s, ` +
            `least loaded worker ${percent(Math.min(...runs.map((run) => run.least)))} of the most loaded by connections ` +
            `(worst of ${RUNS} runs), ${percent(of('leastCpu'))} by CPU (middle)`);
    } finally {
        await target.stop();
    }
}

/** versions: [{ name, binary }]; one without --workers is measured only with a worker a core. */
export async function measureSpread(versions, tools) {
    console.log(`\nGET 1 KiB by ${CONNECTIONS} connections`);
    for (const workers of [2, 8]) {
        for (const version of versions) {
            if (takesWorkers(version.binary) || workers === availableParallelism())
                await measureVersion(version, workers, tools);
        }
    }
}
