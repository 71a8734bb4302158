// What an account costs another one that asks for far more than it: 32 connections that ask as fast as they can, beside 4 of
// the other account, without a limit and with one. In turn, several rounds, the middle of the quotients of its p50 and p99.
//
// Servers and both load generators share the cores, so the p99 has in it how long the kernel lets each of them wait, which
// no order in the server changes. Two controls tell that apart: nobody asks, and as many processes use the processor as the
// noise keeps threads busy; and the noise's load generator runs only when nobody else wants to, so that of what the noise
// costs the server's part is left.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { middle } from './process.mjs';
import { startLagra } from './targets.mjs';

const ROUNDS = 5; /* odd */
const QUIET = 4, NOISY = 32, LIMIT = 500;
const WORKS = [
    { name: 'GET 1 KiB', quiet: { work: 'get', size: 1024 } },
    { name: 'PUT 1 KiB', quiet: { work: 'put', size: 1024 } },
    { name: 'GET 1 KiB beside GET 8 MiB', quiet: { work: 'get', size: 1024 }, noise: { work: 'get', size: 8 << 20, names: 4 } },
];
/* A worker a core, and the load generator. */
const BUSY = availableParallelism() + 1;
const CASES = [
    { name: 'none', says: `beside ${NOISY} of another account` },
    { name: 'last', says: 'when the load generator of those has the processor last' },
    { name: 'limit', says: `when that account has a limit of ${LIMIT} requests a second` },
    { name: 'burnt', says: `beside ${BUSY} processes that use the processor, and no other account` },
];

/** What runs while `measure` does. */
async function besideBurners(measure) {
    const burners = Array.from({ length: BUSY }, () => spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }));

    try {
        return await measure();
    } finally {
        await Promise.all(burners.map((one) => {
            one.kill();
            return once(one, 'exit');
        }));
    }
}

async function measureRound({ quiet, noisy, loadBeside, setLimit }, asked, noise) {
    const measureQuiet = () => loadBeside(quiet, asked);
    const figures = { alone: await measureQuiet(), burnt: await besideBurners(measureQuiet) };

    for (const { name } of CASES.filter((one) => one.name !== 'burnt')) {
        setLimit(name === 'limit' ? String(LIMIT) : 'none');
        const others = loadBeside(noisy, { ...asked, ...noise, connections: NOISY, isRefused: true, isLast: name === 'last' });

        figures[name] = await measureQuiet();
        await others;
    }
    return figures;
}

async function measureOne({ name, binary }, { folder, loadBeside, seconds }) {
    const target = await startLagra(binary, path.join(folder, 'fair', name), { name });
    const location = path.join(folder, 'fair', name, 'lagra');
    const ask = (...words) => JSON.parse(execFileSync(binary, [...words, '--json', '--location', location], { encoding: 'utf8' }));
    const of = (account) => {
        const { key1 } = ask('account', 'add', account);
        ask('container', 'create', 'bench', '--account', account);
        return { ...target, account, key: key1 };
    };

    try {
        const quiet = of('quiet'), noisy = of('noisy');
        const tools = { quiet, noisy, loadBeside, setLimit: (limit) => ask('account', 'set', 'noisy', '--requests', limit) };

        for (const one of [quiet, noisy])
            await loadBeside(one, { work: 'fill', size: 1024, names: 100, count: 100, connections: 4 });
        await loadBeside(noisy, { work: 'fill', size: 8 << 20, names: 4, count: 4, connections: 1 });
        for (const { name: what, quiet: work, noise } of WORKS) {
            const asked = { names: 100, ...work, connections: QUIET, seconds: seconds / ROUNDS };
            const rounds = [];

            for (let i = 0; i < ROUNDS; i++)
                rounds.push(await measureRound(tools, asked, noise));
            for (const column of ['p50_us', 'p99_us']) {
                const us = (which) => middle(rounds.map((round) => round[which][column]));
                const times = (which) => middle(rounds.map((round) => round[which][column] / round.alone[column])).toFixed(2);

                console.log(`${name}, ${what}, ${QUIET} connections: ${column.slice(0, 3)} ${us('alone')} us; ` +
                    CASES.map((one) => `${one.says} ${us(one.name)} us (${times(one.name)} times)`).join(', '));
            }
        }
    } finally {
        await target.stop();
    }
}

export async function measureFairness(versions, tools) {
    console.log('');
    for (const version of versions)
        await measureOne(version, tools);
}
