// Messages: put, get, delete, in cycles of 32 clients, through one queue and through 32; beside
// Azurite, and beside Redis (Debian's, if it is there) with a list in the place of the queue:
// LPUSH, LMOVE, RPOP, each synced. If asked for, the same through a queue in which many messages
// wait, in turn with one in which none does, and the memory of the server by then.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../tests/lib/server.mjs';
import { Connection } from '../tests/lib/http.mjs';
import { sign } from '../tests/lib/sign.mjs';
import { againstBefore, cpuSeconds, memoryMiB, middle, untilIdle } from './process.mjs';
import { ACCOUNT } from './targets.mjs';

const CLIENTS = 32;
const FILLERS = 128;
const SIZE = 1024;

async function createQueues(target, name, count) {
    const connection = await Connection.open('127.0.0.1', target.queuePort);

    for (let i = 0; i < count; i++) {
        const answer = await connection.exchange(sign({
            method: 'PUT', target: `/${ACCOUNT}/${name}-${i}`,
            headers: [['Host', `127.0.0.1:${target.queuePort}`], ['Content-Length', '0']],
        }));
        if (answer.status !== 201)
            throw new Error(`${target.name}: Create Queue: ${answer.status}`);
    }
    connection.close();
}

const ofQueue = (target) => ({ ...target, port: target.queuePort });


/** One measurement: cycles a second, and microseconds of the server's CPU for each of their three requests. */
function measureCycles(target, { load, rounds, seconds }, name, queues) {
    const before = cpuSeconds(target.pid);
    const result = load(ofQueue(target), {
        work: 'message-cycle', size: SIZE, container: name, names: queues, connections: CLIENTS, seconds: seconds / rounds,
    });

    return { rate: result.per_second / 3, cpuUs: ((cpuSeconds(target.pid) - before) / result.answered) * 1e6 };
}

const middleOf = (all) => ({ rate: middle(all.map((one) => one.rate)), cpuUs: middle(all.map((one) => one.cpuUs)) });

/** By name of the server, the middle of the rounds; all servers in turn. */
async function cycles(targets, tools, queues, name) {
    const found = new Map(targets.map((target) => [target.name, []]));

    for (const target of targets)
        await createQueues(target, name, queues);
    for (let round = 0; round < tools.rounds; round++)
        for (const target of targets)
            found.get(target.name).push(measureCycles(target, tools, name, queues));
    const before = againstBefore(found, 'cpuUs');
    return new Map([...found].map(([server, all]) => [server, { ...middleOf(all), ...(server === 'Lagra' && { before }) }]));
}

/** Through a queue with so many messages waiting and through one with none, in turn. */
async function cyclesBeside(lagra, tools, waiting) {
    const empty = [], full = [];

    await createQueues(lagra, 'empty', 1);
    await createQueues(lagra, 'waiting', 1);
    tools.load(ofQueue(lagra), { work: 'message-put', size: SIZE, container: 'waiting', names: 1, count: waiting, connections: FILLERS });
    await untilIdle(lagra.pid);
    for (let round = 0; round < tools.rounds; round++) {
        full.push(measureCycles(lagra, tools, 'waiting', 1));
        empty.push(measureCycles(lagra, tools, 'empty', 1));
    }
    return { empty: middleOf(empty), full: middleOf(full) };
}

async function redisCycles(folder, seconds) {
    if (spawnSync('sh', ['-c', 'command -v redis-server redis-benchmark']).status !== 0)
        return null;
    const [port] = await freePorts(1);
    const location = path.join(folder, 'redis');
    mkdirSync(location);
    const child = spawn('redis-server', ['--port', `${port}`, '--dir', location, '--appendonly', 'yes', '--appendfsync', 'always',
        '--save', ''], { stdio: 'ignore' });
    await delay(1000);
    const rate = (...command) => {
        const count = Math.round(seconds * 5000);
        const out = execFileSync('redis-benchmark', ['-p', `${port}`, '-c', `${CLIENTS}`, '-n', `${count}`, '--csv', ...command],
            { encoding: 'utf8' });
        return Number(out.trim().split('\n').at(-1).split(',')[1].replaceAll('"', ''));
    };
    const rates = [rate('LPUSH', 'q', 'x'.repeat(SIZE)), rate('LMOVE', 'q', 'p', 'RIGHT', 'LEFT'), rate('RPOP', 'p')];
    child.kill('SIGTERM');
    await once(child, 'exit');
    return 1 / rates.reduce((sum, one) => sum + 1 / one, 0);
}

/** tools: { folder, load, rounds, seconds }; waiting: messages in the queue, 0: not measured */
export async function measureQueues(targets, tools, waiting) {
    const [lagra] = targets;
    const redis = await redisCycles(tools.folder, tools.seconds / 3);
    const show = (what, found) => {
        const ours = found.get('Lagra');
        const others = [...found].filter(([name]) => name !== 'Lagra').map(([name, { rate }]) => [name, rate]);
        if (redis)
            others.push(['Redis', redis]);
        console.log(`${what}: Lagra ${Math.round(ours.rate)} cycles/s, CPU of a request ${ours.cpuUs.toFixed(1)} us${ours.before ?? ''}` +
            others.map(([name, rate]) => `, ${name} ${Math.round(rate)} (${(ours.rate / rate).toFixed(2)}x)`).join(''));
    };

    console.log(`\nMessages of 1 KiB, ${CLIENTS} clients, put + get + delete`);
    show('one queue', await cycles(targets, tools, 1, 'one'));
    show('32 queues', await cycles(targets, tools, 32, 'many'));
    if (waiting === 0)
        return;
    const { empty, full } = await cyclesBeside(lagra, tools, waiting);
    show(`one queue, ${waiting.toLocaleString('en')} messages waiting`, new Map([['Lagra', full], ['an empty one', empty]]));
    console.log(`resident memory with them: ${Math.round(memoryMiB(lagra.pid, 'VmRSS'))} MiB, ` +
        `${Math.round(memoryMiB(lagra.pid, 'VmHWM'))} MiB at most`);
}
