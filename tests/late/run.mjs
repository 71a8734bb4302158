#!/usr/bin/env node
// What only a store on other machines shows, seen through the server (open.c):
//  - Commits whose outcome cannot be learned. The connection is closed without a byte, and nothing
//    else is reported: what was acknowledged is there, what was refused is not, what was neither is
//    one of the two.
//  - A limit for the size of a commit. What is above it is refused, and changes nothing.
//  - CORS rules that were seen and never came to be, by a request that is durable itself: it reads the
//    rules again, and is not done twice.
//  - Two hundred requests wait for other machines at once, far more than there are threads.
//
//   run.mjs [--server BINARY]    default: the environment variable LAGRA_BINARY, a lagra-late

import { parseArgs } from 'node:util';
import { Client } from '../crash/client.mjs';
import { Server } from '../lib/server.mjs';

const CLIENTS = 6;
const ROUNDS = 40;
const MESSAGES = 60;
const TOGETHER = 200;
const PATIENCE_MS = 60_000;
const CUT = Symbol('cut');
const COUNTER = '/late/counter';

const { values: options } = parseArgs({ options: { server: { type: 'string', default: process.env.LAGRA_BINARY } } });
const problems = [];
let server = null, cuts = 0;

/** One request on a connection that may be closed instead of answered. */
async function ask(client, ...request) {
    try {
        return await client.ask(...request);
    } catch (error) {
        if (!/closed in a head/.test(error.message) && error.code !== 'ECONNRESET')
            throw error;
        client.close();
        cuts++;
        return CUT;
    }
}

const put = (client, path, text, ...headers) => ask(client, 'PUT', path,
    { headers: [['x-ms-blob-type', 'BlockBlob'], ...headers], body: Buffer.from(text) });
const statusOf = (answer) => (answer === CUT ? CUT : answer.status);

async function untilThere(client, make, already) {
    for (;;) {
        const status = statusOf(await make());

        if (status === 201 || status === already)
            return;
        if (status !== CUT)
            throw new Error(`setup: ${status}`);
    }
}

/** Adds 1 to the counter if nobody else has since it was read; counts what came of it. */
async function increment(client, seen) {
    const old = await ask(client, 'GET', COUNTER);

    if (old === CUT)
        throw new Error('a read was cut');
    const status = statusOf(await put(client, COUNTER, `${Number(old.body) + 1}`, ['If-Match', old.headers.get('etag')]));

    if (status === CUT)
        seen.unknown++;
    else if (status === 201)
        seen.acknowledged++;
    else if (status !== 412)
        problems.push(`increment: ${status}`);
}

/** Creates a blob that is not there, and looks what came of it. */
async function create(client, path) {
    const status = statusOf(await put(client, path, path, ['If-None-Match', '*']));
    const found = await ask(client, 'GET', path);
    const is = found.status === 200 && found.body.toString() === path ? 'there' : found.status === 404 ? 'not there' : found.status;

    if (status === 201 ? is !== 'there' : status !== CUT || (is !== 'there' && is !== 'not there'))
        problems.push(`create ${path}: answered ${String(status)}, and is ${is}`);
}

async function work(number, seen) {
    const client = new Client(server);

    for (let round = 0; round < ROUNDS; round++) {
        await increment(client, seen);
        await create(client, `/late/${number}-${round}`);
    }
    client.close();
}

async function outcomes() {
    const client = new Client(server);
    const seen = { acknowledged: 0, unknown: 0 };

    await untilThere(client, () => ask(client, 'PUT', '/late?restype=container'), 409);
    await untilThere(client, () => put(client, COUNTER, '0'));
    await Promise.all(Array.from({ length: CLIENTS }, (_, number) => work(number, seen)));
    const value = Number((await ask(client, 'GET', COUNTER)).body);

    client.close();
    if (value < seen.acknowledged || value > seen.acknowledged + seen.unknown)
        problems.push(`the counter is ${value} after ${seen.acknowledged} acknowledged and ${seen.unknown} unknown`);
    if (cuts === 0 || seen.acknowledged === 0)
        problems.push(`${cuts} connections were closed, ${seen.acknowledged} increments were acknowledged`);
}

/** Block lists around what one commit takes: 4 MiB, each block with its bytes and its id. */
async function sizes() {
    const client = new Client(server);
    const id = Buffer.from('x'.repeat(48)).toString('base64');
    const block = Buffer.alloc(250, 'b');
    const commit = async (count) => (await client.ask('PUT', '/late/list?comp=blocklist',
        { body: Buffer.from(`<BlockList>${`<Latest>${id}</Latest>`.repeat(count)}</BlockList>`) })).status;
    const length = async () => Number((await client.ask('HEAD', '/late/list')).headers.get('content-length'));

    await client.ask('PUT', '/late?restype=container');
    await client.ask('PUT', `/late/list?comp=block&blockid=${encodeURIComponent(id)}`, { body: block });
    for (const [count, status, blocks] of [[10, 201, 10], [50000, 413, 10], [10000, 201, 10000]]) {
        const answered = await commit(count), is = await length();

        if (answered !== status || is !== blocks * block.length)
            problems.push(`a list of ${count} blocks: ${answered}, and the blob has ${is} bytes`);
    }
    client.close();
}

/** Each message that was acknowledged is there once, whatever became of the CORS rules that its put saw, and its
 *  answer has what these say. */
async function cors() {
    const rules = (age) => Buffer.from('<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins>' +
        `<AllowedMethods>POST</AllowedMethods><MaxAgeInSeconds>${age}</MaxAgeInSeconds><ExposedHeaders/><AllowedHeaders/>` +
        '</CorsRule></Cors></StorageServiceProperties>');
    const clients = Array.from({ length: CLIENTS }, () => new Client(server, 'queue'));
    const acknowledged = [];
    const putMessage = (client, text) => client.ask('POST', '/cors/messages', {
        headers: [['Origin', 'http://example.org']], body: Buffer.from(`<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`) });
    let putting = CLIENTS - 1;

    await clients[0].ask('PUT', '/cors');
    await clients[0].ask('PUT', '/?restype=service&comp=properties', { body: rules(1) });
    await Promise.all(clients.map(async (client, number) => {
        if (number === 0) {
            for (let age = 2; putting > 0; age++)
                await client.ask('PUT', '/?restype=service&comp=properties', { body: rules(age) });
            return;
        }
        for (let i = 0; i < MESSAGES; i++) {
            const { status, headers } = await putMessage(client, `m${number}-${i}`);

            if (headers.get('access-control-allow-origin') !== '*')
                problems.push('Put Message: without the header that every rule there was gives it');
            if (status === 201)
                acknowledged.push(`m${number}-${i}`);
            else
                problems.push(`Put Message: ${status}`);
        }
        putting--;
    }));

    const found = [];

    for (;;) {
        const { status, body } = await clients[0].ask('GET', '/cors/messages?numofmessages=32&visibilitytimeout=3600');
        const texts = [...body.toString().matchAll(/<MessageText>(.*?)</g)].map((match) => match[1]);

        if (texts.length === 0) {
            if (status !== 200)
                problems.push(`Get Messages: ${status}`);
            break;
        }
        found.push(...texts);
    }
    clients.forEach((client) => client.close());
    if (found.toSorted().join() !== acknowledged.toSorted().join())
        problems.push(`${acknowledged.length} messages were acknowledged, ${new Set(found).size} are there, ${found.length} times`);
}

/** As many requests as need something from elsewhere wait at the same time, whatever threads there are. */
async function together() {
    const clients = Array.from({ length: TOGETHER }, () => new Client(server));
    const created = Promise.all(clients.map((client, number) => client.ask('PUT', `/together-${number}?restype=container`)));
    const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, null).unref());
    const answers = await Promise.race([created, late]);

    created.catch(() => {});
    clients.forEach((client) => client.close());
    if (!answers)
        throw new Error(`${TOGETHER} requests do not wait for the store at the same time`);
    for (const { status } of answers)
        if (status !== 201)
            problems.push(`Create Container: ${status}`);
}

let passed = 0, failed = 0;

for (const [test, env] of [[outcomes, { LAGRA_LATE_UNKNOWN: '20' }], [sizes, {}], [cors, { LAGRA_LATE_COMMITS: '40' }],
    [together, { LAGRA_LATE_TOGETHER: `${TOGETHER}`, LAGRA_LATE_READS: '0', LAGRA_LATE_COMMITS: '0' }]]) {
    problems.length = 0;
    server = await Server.start({ binary: options.server, env });
    await test().catch((error) => problems.push(error.stack));
    await server.stop().catch((error) => problems.push(error.message));
    for (const problem of problems)
        console.log(`${test.name}: ${problem}`);
    problems.length > 0 ? failed++ : passed++;
}
console.log(`late: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
