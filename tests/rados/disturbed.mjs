// What docs/cluster.md says happens when a part of a cluster fails (run.mjs): disks that are dead, disks that are full, a front
// end that dies behind a proxy. As tests of server.mjs.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../crash/client.mjs';
import { freePorts } from '../lib/server.mjs';
import { BEHIND_BALANCER, startBalancer } from './balancer.mjs';
import { startFrontEnd } from './front_end.mjs';
import { ask, compare, digest, GONE, makeKept, must, put, write } from './server.mjs';

const WRITERS = 4;
const BEFORE_MS = 1500;
const DEAD_MS = 4000;
const PAUSE_MS = 50;
const SIZES = [100, 5000, 200_000];
const SETTLED_MS = 60_000;
const LARGE_BYTES = 100_000;
const FULL = 'InsufficientStorage';

/** Writes until told to end: every request must be answered 201. Returns the longest that one has waited, in ms. */
async function writeOn(server, writer, state, kept, problems) {
    const counted = new Map();
    let longest = 0;
    const watched = {
        set(target, sum) {
            counted.set(target, sum);
            longest = Math.max(longest, Date.now() - this.last);
            this.last = Date.now();
        },
        last: Date.now(),
    };

    await write(server, writer, state, watched, (answer) => problems.push(`a blob: ${answer.status} ${answer.headers.get('x-ms-error-code')}`));
    if (!state.ends)
        problems.push('a front end closed a connection');
    counted.forEach((sum, target) => kept.set(target, sum));
    return longest;
}

/** One disk of three is dead, and comes back: all requests are answered. Two are: none is, and nothing is lost. */
export async function disks(start, binary, cluster) {
    const server = await start();
    const problems = [], kept = new Map(), state = { ends: false, round: 'disks' };

    await makeKept(server);
    const writers = Array.from({ length: WRITERS }, (_, writer) => writeOn(server, writer, state, kept, problems));
    await sleep(BEFORE_MS);
    await cluster.killDisk(0);
    await sleep(DEAD_MS);
    await compare(server, kept, problems);
    cluster.startDisk(0);
    await cluster.untilWhole();
    state.ends = true;
    console.log(`disks: while one was dead, and came back, a request waited for ${Math.max(...await Promise.all(writers))} ms at most`);

    await cluster.killDisk(1);
    await cluster.killDisk(2);
    const begun = put(new Client(server), '/kept/begun', 'begun');
    const isEarly = await Promise.race([begun.then(() => true), sleep(BEFORE_MS).then(() => false)]);
    if (isEarly)
        problems.push('a blob was written to one disk alone');
    cluster.startDisk(1);
    cluster.startDisk(2);
    await cluster.untilWhole();
    await begun;
    await must(new Client(server), 201, 'PUT', '/kept/again', { headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.from('again') });
    await compare(server, kept, problems);
    await server.stop();
    return problems;
}

/** Until an answer is as wanted, or for SETTLED_MS. Returns the last one. */
async function until(isWanted, ...request) {
    let answer;

    for (const end = Date.now() + SETTLED_MS; Date.now() < end; await sleep(200)) {
        answer = await ask(...request);
        if (answer !== GONE && isWanted(answer))
            break;
    }
    return answer;
}

/** Disks that are full: what grows is refused, what was there is read and can be deleted; when there is room, all goes on. */
export async function full(start, binary, cluster) {
    const server = await start();
    const client = new Client(server), problems = [];
    const large = { headers: [['x-ms-blob-type', 'BlockBlob']], body: randomBytes(LARGE_BYTES) };
    const codeOf = (answer) => answer.headers.get('x-ms-error-code');

    await must(client, 201, 'PUT', '/full?restype=container');
    for (const name of ['read', 'deleted'])
        await must(client, 201, 'PUT', `/full/${name}`, large);
    cluster.setFull(true);
    try {
        const refused = await until(({ status }) => status !== 201, client, 'PUT', '/full/late', large);

        if (refused.status !== 507 || codeOf(refused) !== FULL)
            problems.push(`on disks that are full: ${refused.status} ${codeOf(refused)}`);
        const read = await client.ask('GET', '/full/read');
        if (!read.body.equals(large.body))
            problems.push(`a blob that was there: ${read.status}`);
        await must(client, 202, 'DELETE', '/full/deleted');
    } finally {
        cluster.setFull(false);
    }
    const written = await until(({ status }) => status === 201, client, 'PUT', '/full/again', large);
    if (written.status !== 201)
        problems.push(`when there is room: ${written.status} ${codeOf(written)}`);
    await must(client, 404, 'HEAD', '/full/deleted');
    await server.stop();
    return problems;
}

/** Writes until told to end, whatever becomes of it: { answered, others } count it. */
async function persist(server, writer, state, kept, counts) {
    const client = new Client(server);

    for (let i = 0; !state.ends; i++) {
        const target = `/kept/${state.round}-${writer}-${i}`;
        const body = randomBytes(SIZES[i % SIZES.length]);
        const answer = await put(client, target, body);

        if (answer !== GONE && answer.status === 201) {
            kept.set(target, digest(body));
            counts.answered++;
        } else {
            counts.others++;
            await sleep(PAUSE_MS);
        }
    }
    client.close();
}

/** Two front ends behind HAProxy: each is stopped, and comes back, without a request that fails; each is killed: what was
 *  acknowledged is there, and after some requests that were under way the other has all. */
export async function balanced(start, binary, cluster, store) {
    const words = ['--store', store.place, '--stopDelay', '5s', ...BEHIND_BALANCER];
    const ports = await freePorts(8);
    const fronts = [await startFrontEnd(binary, words, {}, ports.slice(0, 4)), await startFrontEnd(binary, words, {}, ports.slice(4))];
    const balancer = await startBalancer(fronts, fronts[0].account);
    const problems = [], kept = new Map();
    const during = async (round, work) => {
        const counts = { answered: 0, others: 0 }, state = { ends: false, round };
        const writers = Array.from({ length: WRITERS }, (_, writer) => persist(balancer, writer, state, kept, counts));

        await sleep(BEFORE_MS);
        await work(counts);
        state.ends = true;
        await Promise.all(writers);
        console.log(`balanced, ${round}: ${counts.answered} blobs were acknowledged, ${counts.others} requests had no answer, or another`);
        return counts;
    };

    await makeKept(balancer);
    const stopped = await during('stopped', async () => {
        for (const front of fronts) {
            await front.stop({ keep: true });
            await sleep(BEFORE_MS);
            await front.restart();
            await sleep(2 * BEFORE_MS);
        }
    });
    if (stopped.others > 0)
        problems.push(`${stopped.others} requests failed while front ends were stopped`);
    await during('killed', async (counts) => {
        for (const front of fronts) {
            await front.kill();
            await sleep(2 * BEFORE_MS);
            const { answered, others } = counts;
            await sleep(BEFORE_MS);
            if (counts.answered === answered || counts.others > others)
                problems.push(`after one has died: ${counts.answered - answered} blobs were acknowledged, ${counts.others - others} requests failed`);
            await front.restart();
            await sleep(2 * BEFORE_MS);
        }
    });
    await compare(balancer, kept, problems);
    await balancer.stop();
    for (const front of fronts)
        await front.stop();
    return problems;
}
