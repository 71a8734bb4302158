// The figures of a run, for charts: what they are of, in one file of JSON.
//
//   { when, machine, commit, rounds, seconds,
//     works: [{ name, connections, servers: { Lagra: { per_second, p50_us, p99_us, cpuUs }, .. } }],
//     load:  the same, of some works at more numbers of connections,
//     sizes: [{ name, points: [{ count, p50_us }] }] }

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { charts } from './charts.mjs';

/** The newest commit, and whether files differ from it. */
export function commitOf(folder) {
    try {
        return execFileSync('git', ['-C', folder, 'describe', '--always', '--dirty', '--abbrev=10'],
            { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
        return 'unknown';
    }
}

export const newResults = (facts) => ({ when: new Date().toISOString(), ...facts, works: [], load: [], sizes: [] });

/** servers: as measureAll() returns them, by name. */
export function addRow(rows, name, connections, servers) {
    rows.push({ name, connections, servers: Object.fromEntries(servers) });
}

/** Writes the file, and a chart of each kind that there are figures for. Returns the names. */
export function writeResults(results, folder) {
    const all = charts(results);

    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'results.json'), `${JSON.stringify(results, null, 1)}\n`);
    for (const [name, svg] of Object.entries(all))
        writeFileSync(path.join(folder, name), svg);
    return ['results.json', ...Object.keys(all)];
}
