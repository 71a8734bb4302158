// What an account costs another one that asks for far more than it: 32 connections that ask as fast as they can, beside 4 of
// the other account, without a limit and with one. In turn, several rounds, the middle of the quotients of its p50 and p99.
// Servers and both load generators share the cores, so the p99 has in it how long the kernel lets each of them wait.

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { middle } from './process.mjs';
import { startLagra } from './targets.mjs';

const ROUNDS = 5; /* odd */
const QUIET = 4, NOISY = 32, LIMIT = 500;
const WORKS = [{ name: 'GET 1 KiB', work: 'get', size: 1024 }, { name: 'PUT 1 KiB', work: 'put', size: 1024 }];

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

        for (const one of [quiet, noisy])
            await loadBeside(one, { work: 'fill', size: 1024, names: 100, count: 100, connections: 4 });
        for (const { name: what, ...work } of WORKS) {
            const rounds = [];

            for (let i = 0; i < ROUNDS; i++) {
                const asked = { ...work, names: 100, connections: QUIET, seconds: seconds / ROUNDS };
                const figures = { alone: await loadBeside(quiet, asked) };

                for (const limit of ['none', LIMIT]) {
                    ask('account', 'set', 'noisy', '--requests', String(limit));
                    const others = loadBeside(noisy, { ...asked, connections: NOISY, isRefused: true });

                    figures[limit] = await loadBeside(quiet, asked);
                    await others;
                }
                rounds.push(figures);
            }
            for (const column of ['p50_us', 'p99_us']) {
                const us = (which) => middle(rounds.map((round) => round[which][column]));
                const times = (which) => middle(rounds.map((round) => round[which][column] / round.alone[column]));
                console.log(`${name}, ${what}, ${QUIET} connections: ${column.slice(0, 3)} ${us('alone')} us; beside ${NOISY} of another ` +
                    `account ${us('none')} us (${times('none').toFixed(2)} times), when that has a limit of ${LIMIT} requests a second ` +
                    `${us(LIMIT)} us (${times(LIMIT).toFixed(2)} times)`);
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
