// The server on a cluster (run.mjs): one front end, several on one pool, those that are killed, and a cluster that does
// not answer. Each test is given what starts a front end, the binary, the cluster and the store on it (run.mjs), and returns
// a list of what was wrong.

import { execFile, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '../crash/client.mjs';
import { accounts } from './accounts.mjs';
import { startFrontEnd } from './front_end.mjs';

const CLIENTS = path.join(path.dirname(fileURLToPath(import.meta.url)), '../clients/run.mjs');
const ISOLATION = path.join(path.dirname(fileURLToPath(import.meta.url)), '../isolation');
const LARGE_SPECS = ['copy-abort-pages', 'file-copy-abort'];
const CLIENT_FILES = ['sdk', 'sdk-files', 'containers', 'leases', 'queues', 'messages', 'tables', 'entities', 'transactions'];
const CLIENTS_LIMIT_MS = 400_000;
const SAID_MAX = 64 * 2 ** 20;
const KILLS = 4;
const WRITERS = 6;
const WRITE_MS = 1500;
const INCREMENTS = 20;
const MESSAGES = 40;
const RENAMES_MS = 1500;
export const GONE = Symbol('gone');
const NOTICED_MS = 15_000;
const AWAY = 'the store\'s cluster does not answer';
const EXIT_AWAY = 4;
const HEARTBEAT_MS = 2500;
const LARGE_BYTES = 24 * 2 ** 20;
const FORMAT = 4; // the newest (formats.h)
const HURRY_MS = 6000;
const COLLECTED_MS = 90_000;

export const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** An answer, or GONE where the server is no longer there. */
export async function ask(client, ...request) {
    try {
        return await client.ask(...request);
    } catch {
        client.close();
        return GONE;
    }
}

export async function must(client, status, ...request) {
    const answer = await client.ask(...request);

    if (answer.status !== status)
        throw new Error(`${request[0]} ${request[1]}: ${answer.status} ${answer.headers.get('x-ms-error-code')}, not ${status}`);
    return answer;
}

export const put = (client, target, body, ...headers) => ask(client, 'PUT', target,
    { headers: [['x-ms-blob-type', 'BlockBlob'], ...headers], body: Buffer.from(body) });

/** The official SDK's clients of all services. */
async function clients(start, binary) {
    const server = await start();

    try {
        const stdout = await new Promise((resolve) => execFile(process.execPath, [CLIENTS, ...CLIENT_FILES], {
            timeout: CLIENTS_LIMIT_MS, maxBuffer: SAID_MAX, env: { ...process.env, LAGRA_BINARY: binary, ...server.testEnvironment },
        }, (error, said) => resolve(said)));
        const found = stdout.match(/clients: (\d+) passed, (\d+) failed/);

        return found && Number(found[1]) > 0 && found[2] === '0' ? [] : [`clients: ${stdout}`];
    } finally {
        await server.stop();
    }
}

/** The isolation specs, every other permutation. What SMB clients take part in is left out, and copies of tens of MiB, which take their time. */
async function isolation(start, binary, cluster, store) {
    const names = readdirSync(path.join(ISOLATION, 'specs')).map((file) => path.parse(file).name).filter((name) => !LARGE_SPECS.includes(name));
    const stdout = await new Promise((resolve) => execFile(process.execPath, [path.join(ISOLATION, 'run.mjs'), '--server', binary, '--without-smb', '--half', 'odd',
        ...['--store', store.place].map((word) => `--server-arg=${word}`), ...names],
    { timeout: CLIENTS_LIMIT_MS, maxBuffer: SAID_MAX }, (error, said) => resolve(said)));
    const found = stdout.match(/isolation: (\d+) passed, (\d+) failed/);

    return found && Number(found[1]) > 0 && found[2] === '0' ? [] : [`isolation: ${stdout}`];
}

/** Another test may have made it. */
export async function makeKept(server) {
    const { status } = await new Client(server).ask('PUT', '/kept?restype=container');

    if (status !== 201 && status !== 409)
        throw new Error(`PUT /kept?restype=container: ${status}`);
}

/** Puts blobs of all sizes until told to end, or there is no answer; adds to `kept` what was acknowledged. */
export async function write(server, writer, state, kept, isRefused = () => {}) {
    const client = new Client(server);

    for (let i = 0; !state.ends; i++) {
        const body = randomBytes([100, 5000, 200_000][i % 3]);
        const target = `/kept/${state.round}-${writer}-${i}`;
        const answer = await put(client, target, body);

        if (answer === GONE)
            break;
        if (answer.status === 201)
            kept.set(target, digest(body));
        else
            isRefused(answer);
    }
    client.close();
}

export async function compare(server, kept, problems) {
    const client = new Client(server);

    for (const [target, sum] of kept) {
        const answer = await client.ask('GET', target);

        if (answer.status !== 200 || digest(answer.body) !== sum)
            problems.push(`${target}: ${answer.status}, and is not what was acknowledged`);
    }
    client.close();
}

/** kill -9 of the only front end under writes: what was acknowledged is there when the next one has come up. */
async function killed(start) {
    const server = await start();
    const problems = [], kept = new Map();

    await makeKept(server);
    for (let round = 0; round < KILLS; round++) {
        const state = { ends: false, round };
        const writers = Array.from({ length: WRITERS }, (_, writer) => write(server, writer, state, kept));

        await sleep(WRITE_MS);
        await server.kill();
        state.ends = true;
        await Promise.all(writers);
        await server.restart();
        await compare(server, kept, problems);
    }
    if (kept.size < KILLS)
        problems.push(`only ${kept.size} writes were acknowledged`);
    await server.stop();
    return problems;
}

/** Adds 1 to a blob so many times, each if nobody else has since it was read. Each is answered, however busy it is: decision 823. */
async function increment(server, times) {
    const client = new Client(server);

    for (let done = 0; done < times;) {
        const seen = await client.ask('GET', '/two/counter');
        const answer = await client.ask('PUT', '/two/counter', {
            headers: [['x-ms-blob-type', 'BlockBlob'], ['If-Match', seen.headers.get('etag')]],
            body: Buffer.from(`${Number(seen.body) + 1}`),
        });

        if (answer.status === 201)
            done++;
        else if (answer.status !== 412)
            throw new Error(`increment: ${answer.status}`);
    }
    client.close();
}

async function leases(one, two) {
    const acquire = (server) => new Client(server).ask('PUT', '/two/leased?comp=lease',
        { headers: [['x-ms-lease-action', 'acquire'], ['x-ms-lease-duration', '-1']] });
    const lease = (await acquire(one)).headers.get('x-ms-lease-id');
    const problems = [];

    for (const [server, headers, status] of [[two, [], 412], [one, [], 412], [two, [['x-ms-lease-id', lease]], 201]]) {
        const answer = await put(new Client(server), '/two/leased', 'b', ...headers);

        if (answer.status !== status)
            problems.push(`a write under another's lease: ${answer.status}, not ${status}`);
    }
    if ((await acquire(two)).status !== 409)
        problems.push('a lease is given twice');
    return problems;
}

/** Each message is given to one of those who ask, whichever front end they ask. */
async function messages(one, two) {
    const seen = [];
    const take = async (server) => {
        const client = new Client(server, 'queue');

        for (;;) {
            const text = (await client.ask('GET', '/two/messages?numofmessages=4&visibilitytimeout=600')).body.toString();
            const found = [...text.matchAll(/<MessageText>(.*?)<\/MessageText>/g)].map(([, message]) => message);

            if (found.length === 0)
                break;
            seen.push(...found);
        }
        client.close();
    };

    await must(new Client(one, 'queue'), 201, 'PUT', '/two');
    for (let i = 0; i < MESSAGES; i++)
        await must(new Client(i % 2 ? one : two, 'queue'), 201, 'POST', '/two/messages',
            { body: Buffer.from(`<QueueMessage><MessageText>${i}</MessageText></QueueMessage>`) });
    await Promise.all([one, two, one, two].map(take));
    return seen.length === MESSAGES && new Set(seen).size === MESSAGES ? [] :
        [`of ${MESSAGES} messages ${seen.length} were given out, ${new Set(seen).size} different ones`];
}

/** Two front ends on one pool: ETags, leases and messages mean the same on both. */
async function two(start) {
    const servers = [await start(), await start()];
    const problems = [];

    await must(new Client(servers[0]), 201, 'PUT', '/two?restype=container');
    for (const name of ['counter', 'leased'])
        await put(new Client(servers[1]), `/two/${name}`, '0');
    await Promise.all([...servers, ...servers].map((server) => increment(server, INCREMENTS)));
    const value = Number((await new Client(servers[1]).ask('GET', '/two/counter')).body);
    if (value !== 4 * INCREMENTS)
        problems.push(`the counter is ${value} after ${4 * INCREMENTS} increments`);
    problems.push(...await leases(...servers), ...await messages(...servers));
    await must(new Client(servers[0]), 202, 'DELETE', '/two?restype=container');
    if ((await put(new Client(servers[1]), '/two/late', '')).status !== 404)
        problems.push('a container that the other front end has deleted takes a blob');
    for (const server of servers)
        await server.stop();
    return problems;
}

/** Renames a file between two directories until the server is gone: commits over several partitions. */
async function rename(server, name) {
    const client = new Client(server, 'file');
    let at = 'a', to = 'b', answer;

    do {
        answer = await ask(client, 'PUT', `/team/${to}/${name}?comp=rename`,
            { headers: [['x-ms-file-rename-source', `http://${server.host}:${server.ports.file}/${server.account}/team/${at}/${name}`]] });
        [at, to] = [to, at];
    } while (answer !== GONE && answer.status === 200);
    client.close();
    return answer === GONE ? null : `a rename: ${answer.status} ${answer.headers.get('x-ms-error-code')}`;
}

const attributes = [['x-ms-file-permission', 'inherit'], ['x-ms-file-attributes', 'None'],
    ['x-ms-file-creation-time', 'now'], ['x-ms-file-last-write-time', 'now']];

/** A front end is killed in the middle of renames: the other one finds each file once, and can rename it. */
async function killedInRename(start) {
    const doomed = await start(), other = await start();
    const names = ['x', 'y', 'z'], problems = [];
    const client = new Client(other, 'file');

    await must(client, 201, 'PUT', '/team?restype=share', { headers: [['x-ms-share-quota', '1']] });
    for (const directory of ['a', 'b'])
        await must(client, 201, 'PUT', `/team/${directory}?restype=directory`, { headers: attributes });
    for (const name of names)
        await must(client, 201, 'PUT', `/team/a/${name}`,
            { headers: [...attributes, ['x-ms-type', 'file'], ['x-ms-content-length', '0']] });
    const renames = names.map((name) => rename(doomed, name));
    await sleep(RENAMES_MS);
    await doomed.kill();
    problems.push(...(await Promise.all(renames)).filter(Boolean));
    for (const name of names) {
        const there = [];

        for (const directory of ['a', 'b'])
            if ((await client.ask('HEAD', `/team/${directory}/${name}`)).status === 200)
                there.push(directory);
        if (there.length !== 1) {
            problems.push(`${name} is in ${there.length} directories`);
            continue;
        }
        const to = there[0] === 'a' ? 'b' : 'a';
        const source = `http://${other.host}:${other.ports.file}/${other.account}/team/${there[0]}/${name}`;
        const answer = await client.ask('PUT', `/team/${to}/${name}?comp=rename`, { headers: [['x-ms-file-rename-source', source]] });
        if (answer.status !== 200)
            problems.push(`${name} cannot be renamed: ${answer.status} ${answer.headers.get('x-ms-error-code')}`);
    }
    await doomed.remove();
    await other.stop();
    return problems;
}

async function health(server, path) {
    const answer = await fetch(`http://${server.host}:${server.port}${path}`);

    return `${answer.status} ${(await answer.text()).trim()}`;
}

async function until(server, path, wanted, problems) {
    const end = Date.now() + NOTICED_MS;
    let found;

    do {
        found = await health(server, path);
        if (found === wanted)
            return;
        await sleep(100);
    } while (Date.now() < end);
    problems.push(`${path}: ${found}, not ${wanted}, within ${NOTICED_MS / 1000} s`);
}

/** While the cluster does not answer a front end lives, is not ready, and ends when it is told to; a new one does not
 *  come up. Requests are told so in time, and go through when the cluster is back. */
async function away(start, binary, cluster) {
    const server = await start(), doomed = await start();
    const client = new Client(server), problems = [];

    await must(client, 201, 'PUT', '/away?restype=container');
    cluster.pause();
    try {
        const begun = put(client, '/away/begun', 'begun');

        await until(server, '/-/ready', `503 ${AWAY}`, problems);
        await until(server, '/-/live', '200 live', problems);
        const [refused, ended] = await Promise.all([start().then(() => 'came up', (error) => error.message), doomed.terminate()]);
        if (!refused.includes('does not answer') && !refused.includes('do not answer'))
            problems.push(`a front end without a cluster: ${refused}`);
        if (ended.code !== EXIT_AWAY)
            problems.push(`SIGTERM without a cluster: ${JSON.stringify(ended)}`);
        const answer = await begun;
        if (answer === GONE || answer.status !== 503 || answer.headers.get('x-ms-error-code') !== 'ServerBusy')
            problems.push(`what was begun before the cluster went away: ${answer === GONE ? 'no answer' : answer.status}`);
        cluster.resume();
    } finally {
        cluster.resume();
    }
    await until(server, '/-/ready', '200 ready', problems);
    if ((await put(client, '/away/again', 'again')).status !== 201)
        problems.push('a cluster that is back is not written to');
    await must(client, 200, 'GET', '/away/again');
    await doomed.remove();
    await server.stop();
    return problems;
}

/** lagra rados init: makes pools with replicas, leaves a store as it is, and refuses settings that lose data. */
async function init(start, binary, cluster) {
    const run = (...words) => {
        const { status, stdout, stderr } = spawnSync(binary, ['rados', 'init', ...words], { encoding: 'utf8' });

        return { status, said: `${stdout}${stderr}` };
    };
    const problems = [];
    const expect = (what, { status, said }, wanted, sentence) => {
        if (status !== wanted || !said.includes(sentence))
            problems.push(`${what}: exit code ${status}, ${said}`);
    };
    const place = `rados:${cluster.configuration}:made`;

    expect('no manager', run(place), 1, 'no ceph-mgr');
    for (const [setting, value] of [['size', 3], ['min_size', 2]])
        if (cluster.getPool('made', setting) !== value)
            problems.push(`the pool was made with another ${setting}: ${cluster.getPool('made', setting)}`);
    const early = await startFrontEnd(binary, ['--store', place]).catch((error) => error.message);
    if (!`${early}`.includes('lagra rados init'))
        problems.push(`a pool without a store: ${early}`);
    expect('unsafe', run(place, '--unsafe'), 0, 'has a store');
    expect('again', run(place, '--unsafe'), 0, 'has a store');
    expect('other pieces', run(`${place}:others`, '--unsafe'), 1, 'has its pieces in another pool');
    cluster.setPool('made', 'min_size', '1');
    expect('min_size', run(place), 1, 'min_size 2 is wanted');
    expect('no place', run('made'), 1, 'rados:CONF:POOL');
    return problems;
}

/** Pieces on an erasure-coded pool, which cannot have records. */
async function coded(start, binary, cluster) {
    const init = (pools) => spawnSync(binary, ['rados', 'init', `rados:${cluster.configuration}:${pools}`, '--unsafe'], { encoding: 'utf8' });
    const problems = [], kept = new Map();

    cluster.createCodedPool('coded');
    const { status, stderr } = init('coded');
    if (status !== 1 || !stderr.includes('records need a replicated pool'))
        problems.push(`records on an erasure-coded pool: exit code ${status}, ${stderr}`);
    const made = init('beside:coded');
    if (made.status !== 0 || !made.stderr.includes('bears the loss of 1 OSD'))
        problems.push(`pieces on an erasure-coded pool: exit code ${made.status}, ${made.stderr}`);
    const place = `rados:${cluster.configuration}:beside:coded`;
    const server = await startFrontEnd(binary, ['--store', place]);
    const client = new Client(server);
    await must(client, 201, 'PUT', '/coded?restype=container');
    for (const bytes of [5000, 100_000, 4 * 2 ** 20, LARGE_BYTES]) {
        const body = randomBytes(bytes);
        const part = bytes - 3000;

        await must(client, 201, 'PUT', `/coded/${bytes}`, { headers: [['x-ms-blob-type', 'BlockBlob']], body });
        kept.set(`/coded/${bytes}`, digest(body));
        const ranged = await client.ask('GET', `/coded/${bytes}`, { headers: [['x-ms-range', `bytes=${part}-${part + 999}`]] });
        if (ranged.status !== 206 || !ranged.body.equals(body.subarray(part, part + 1000)))
            problems.push(`a range of ${bytes} bytes: ${ranged.status}`);
    }
    client.close();
    await server.stop({ keep: true });
    await server.restart();
    await compare(server, kept, problems);
    await must(client, 202, 'DELETE', '/coded/5000');
    client.close();
    await server.stop();
    const checked = spawnSync(binary, ['check', place], { encoding: 'utf8' });
    if (checked.status !== 0 || !checked.stdout.includes('damaged or lost: 0'))
        problems.push(`lagra check: exit code ${checked.status}, ${checked.stdout}${checked.stderr}`);
    return problems;
}

/** lagra check: reads a store that nobody serves, finds what is missing, and leaves one alone that is served. */
async function check(start, binary, cluster, store) {
    const problems = [];
    const expect = (what, status, ...sentences) => {
        const ran = spawnSync(binary, ['check', store.place], { encoding: 'utf8' });
        const said = `${ran.stdout}${ran.stderr}`;

        if (ran.status !== status || !sentences.every((sentence) => said.includes(sentence)))
            problems.push(`${what}: exit code ${ran.status}, ${said}`);
    };
    const server = await start();
    const client = new Client(server);

    await must(client, 201, 'PUT', '/checked?restype=container');
    for (const [name, bytes] of [['small', 100], ['large', 100_000]])
        await put(client, `/checked/${name}`, randomBytes(bytes));
    await sleep(HEARTBEAT_MS);
    expect('a store that is served', 1, 'has served the store within the last minute');
    await server.stop();
    expect('a whole store', 0, 'damaged or lost: 0');
    cluster.removeObjects(store.pieces, 'p.');
    expect('a store without its pieces', 1, 'checked/large', 'some of its bytes cannot be read');
    return problems;
}

/** Sends one large blob after another until the server is gone. */
async function upload(server, writer) {
    const client = new Client(server);
    let answer;

    for (let i = 0; answer !== GONE; i++)
        answer = await put(client, `/left/large-${writer}-${i}`, randomBytes(LARGE_BYTES));
    client.close();
}

/** A front end is killed under uploads: what it has written and not committed is deleted by another, and nothing else. */
async function left(start, binary, cluster, store) {
    const env = { LAGRA_RADOS_PATIENCE_MS: `${HURRY_MS}` };
    const doomed = await start(env), other = await start(env);
    const problems = [], kept = new Map();
    const state = { ends: false, round: 'left' };

    await makeKept(other);
    await must(new Client(other), 201, 'PUT', '/left?restype=container');
    const writers = Array.from({ length: WRITERS }, (_, writer) => [write(doomed, writer, state, kept), upload(doomed, writer)]);
    await sleep(WRITE_MS);
    await doomed.kill();
    state.ends = true;
    await Promise.all(writers.flat());
    const before = cluster.objects(store.pieces, 'p.').length;
    const isDone = () => {
        const rows = cluster.rows(store.records, 'front_ends');

        return rows.every((key) => 'bfikl'.includes(key[0])) && rows.filter((key) => key.startsWith('b')).length === 1;
    };
    const end = Date.now() + COLLECTED_MS;
    while (!isDone() && Date.now() < end)
        await sleep(500);
    if (!isDone())
        problems.push(`what was left is still looked for: ${cluster.rows(store.records, 'front_ends').join(' ')}`);
    await sleep(2 * HURRY_MS); // tasks delete what was found
    await compare(other, kept, problems);
    await other.stop();
    await doomed.remove();
    const after = cluster.objects(store.pieces, 'p.').length;
    if (after >= before || kept.size === 0)
        problems.push(`of ${before} pieces ${after} are there, ${kept.size} blobs were acknowledged`);
    const { status, stdout, stderr } = spawnSync(binary, ['check', store.place], { encoding: 'utf8' });
    if (status !== 0 || !stdout.includes('damaged or lost: 0') || stderr.includes('nothing refers to'))
        problems.push(`lagra check: exit code ${status}, ${stdout}${stderr}`);
    return problems;
}

/** Front ends are replaced one by one, under writes, by those of a newer program (this one, told so); then the format is raised, and an older
 *  one does not come up any more. */
async function rolling(start, binary, cluster, store) {
    const newer = { LAGRA_RADOS_FORMAT: `${FORMAT + 1}` };
    const problems = [], kept = new Map(), state = { ends: false, round: 'rolling' };
    const upgrade = (what, status, ...sentences) => {
        const ran = spawnSync(binary, ['rados', 'upgrade', store.place], { encoding: 'utf8', env: { ...process.env, ...newer } });

        if (ran.status !== status || !sentences.every((sentence) => `${ran.stdout}${ran.stderr}`.includes(sentence)))
            problems.push(`${what}: exit code ${ran.status}, ${ran.stdout}${ran.stderr}`);
    };
    const replace = async (server) => {
        await server.stop();
        return start(newer);
    };
    const servers = [await start(), await start()];

    await makeKept(servers[0]);
    const old = write(servers[1], 'old', state, kept);
    servers[0] = await replace(servers[0]);
    const fresh = write(servers[0], 'new', state, kept);
    upgrade('one of two is new', 1, 'knows formats up to', 'not all front ends that live know the new format');
    await servers[1].stop();
    await old;
    servers[1] = await start();
    upgrade('the old one is put back', 1, 'not all front ends that live know the new format');
    servers[1] = await replace(servers[1]);
    upgrade('both are new', 0, `has format ${FORMAT + 1}`);
    upgrade('once more', 0, `has format ${FORMAT + 1}`);
    await sleep(HEARTBEAT_MS);
    state.ends = true;
    await fresh;
    if (!servers[0].stderr.includes(`the store's format is ${FORMAT + 1} from now on`))
        problems.push('a front end that serves has not noticed it');
    const late = await start().then(() => 'came up', (error) => error.message);
    if (!late.includes('this program does not know'))
        problems.push(`an older one: ${late}`);
    await compare(servers[1], kept, problems);
    for (const server of servers)
        await server.stop();
    if (kept.size === 0)
        problems.push('no write was acknowledged');
    return problems;
}

// Side by side, each lane on a store of its own: those that wait, and those that compute. Those that run lagra check on all of their
// store come before what is killed just then, or damages it. After "rolling" nothing starts on its store: the format is a newer one.
export const LANES = [{ left, check, init, coded }, { clients, accounts, killed, two, killedInRename }, { rolling }, { isolation }];
// They stop the cluster.
export const ALONE = { away };
