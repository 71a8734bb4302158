// Whether connections spread over the workers: 64 of them, with 2 and with 8 workers, several times
// anew. Printed are the requests a second of the middle run and, of the worst run, how much CPU time the
// least loaded worker used beside the most loaded one.

import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { threadSeconds } from './process.mjs';
import { startLagra } from './targets.mjs';

const RUNS = 5; /* odd */
const CONNECTIONS = 64;
const NAMES = 1000;

const takesWorkers = (binary) => execFileSync(binary, ['--help'], { encoding: 'utf8' }).includes('--workers');

/** CPU seconds of the workers that served the load: those of libmicrohttpd that worked the most. */
function busiest(pid, before, workers) {
    const used = [...threadSeconds(pid, 'MHD-')].map(([thread, seconds]) => seconds - (before.get(thread) ?? 0));

    return used.sort((a, b) => b - a).slice(0, workers);
}

function once(target, workers, { load, seconds }) {
    const before = threadSeconds(target.pid, 'MHD-');
    const result = load(target, { work: 'get', size: 1024, names: NAMES, connections: CONNECTIONS, seconds: seconds / RUNS });
    const used = busiest(target.pid, before, workers);

    return { perSecond: result.per_second, least: used.at(-1) / used[0] };
}

async function measureVersion({ name, binary }, workers, tools) {
    const args = takesWorkers(binary) ? ['--workers', `${workers}`] : [];
    const target = await startLagra(binary, path.join(tools.folder, `spread-${name}-${workers}`), { name, args });

    try {
        await tools.createContainer(target, 'bench');
        tools.load(target, { work: 'fill', size: 1024, names: NAMES, count: NAMES, connections: 32 });
        const runs = Array.from({ length: RUNS }, () => once(target, workers, tools));
        const perSecond = runs.map((run) => run.perSecond).sort((a, b) => a - b)[(RUNS - 1) / 2];
        const least = Math.min(...runs.map((run) => run.least));
        console.log(`  ${workers} workers, ${name.padEnd(6)}: ${Math.round(perSecond).toLocaleString('en')} requests/s, ` +
            `least loaded worker ${(least * 100).toFixed(0)} % of the most loaded (worst of ${RUNS} runs)`);
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
