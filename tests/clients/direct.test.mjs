// Direct reads: a front end that does not own the cell reads large bodies from its files; the client gets what the owner would have
// sent, or nothing. docs/cells.md "Direct reads"; decision: 1385
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { startCells } from '../lib/cells.mjs';
import { Connection } from '../lib/http.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';

const MIB = 2 ** 20;
const BLOCK = [['x-ms-blob-type', 'BlockBlob']];
const OWNER = { LAGRA_SEAL_ALWAYS: '1' };

async function newCluster(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-direct-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    const { code, errors } = await run(['cluster', 'init', cluster]);
    assert.equal(code, 0, errors);
    return { folder, cluster };
}

async function newPair(t, { env = {}, ownerEnv = {}, elsewhere = null } = {}) {
    const { folder, cluster } = await newCluster(t);
    const start = async (name, at, environment) => {
        const member = await Member.start(at, { args: ['--accessLog', join(folder, `${name}.log`)], env: environment });
        t.after(() => member.end('SIGKILL'));
        member.lines = () => readFileSync(join(folder, `${name}.log`), 'utf8').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
        return member;
    };
    const owner = await start('owner', cluster, { ...OWNER, ...ownerEnv });
    await owner.until(200);
    const standby = await start('standby', elsewhere ? elsewhere(folder, cluster) : cluster, { ...OWNER, ...env });
    await standby.until(200, '/-/ready');
    assert.equal((await owner.ask('PUT', '/direct?restype=container')).status, 201);
    return { folder, cluster, owner, standby, start };
}

/** Asks for an object until the owner lends the files that it is in. */
async function untilLent(standby, target, options) {
    for (let i = 0; i < 200; i++, await delay(20)) {
        const answer = await standby.ask('GET', target, options);
        const line = await lineOf(standby, answer);

        if (line.direct)
            return answer;
    }
    throw new Error(`${target} is never read from its files`);
}

/** The line of an answer in a front end's access log. */
async function lineOf(member, answer) {
    const id = answer.headers.get('x-ms-request-id');

    for (let i = 0; i < 500; i++, await delay(10)) {
        const line = member.lines().findLast((one) => one.request === id);
        if (line)
            return line;
    }
    throw new Error('no such line in the access log');
}

const extentsOf = (cluster) => join(cluster, 'cells/0001/data/extents');

test('every kind of read is the same as from the owner, and large bodies are read from files', async (t) => {
    const { owner, standby } = await newPair(t);
    const content = randomBytes(9 * MIB + 12345), pages = randomBytes(MIB);
    const put = async (target, options) => {
        const { status } = await owner.ask('PUT', target, options);
        assert.ok([200, 201, 202].includes(status), `${target}: ${status}`);
    };

    await put('/direct/whole', { headers: BLOCK, body: content });
    const ids = ['AAAA', 'BBBB', 'CCCC'];
    for (const [i, id] of ids.entries())
        await put(`/direct/blocks?comp=block&blockid=${id}`, { body: i === 1 ? Buffer.from('small') : content.subarray(i * 1000, i * 1000 + 3 * MIB) });
    await put('/direct/blocks?comp=blocklist', { body: Buffer.from(`<BlockList>${[...ids, ...ids].map((id) => `<Latest>${id}</Latest>`).join('')}</BlockList>`) });
    await put('/direct/pages', { headers: [['x-ms-blob-type', 'PageBlob'], ['x-ms-blob-content-length', `${8 * MIB}`]] });
    for (const at of [0, 3 * MIB, 7 * MIB - 512])
        await put('/direct/pages?comp=page', { headers: [['x-ms-page-write', 'update'], ['x-ms-range', `bytes=${at}-${at + MIB - 1}`]], body: pages });
    await put('/direct/pages?comp=page', { headers: [['x-ms-page-write', 'clear'], ['x-ms-range', `bytes=${3 * MIB + 65536}-${3 * MIB + 131071}`]] });
    await put('/direct/holes', { headers: [['x-ms-blob-type', 'PageBlob'], ['x-ms-blob-content-length', `${2 * MIB}`]] });
    await put('/direct/log', { headers: [['x-ms-blob-type', 'AppendBlob']] });
    for (const size of [100000, 7, 300000])
        await put('/direct/log?comp=appendblock', { body: content.subarray(0, size) });
    await put('/files?restype=share', { service: 'file' });
    await put('/files/f', { service: 'file', headers: [['x-ms-type', 'file'], ['x-ms-content-length', `${5 * MIB}`], ['x-ms-file-permission', 'inherit'],
        ['x-ms-file-attributes', 'None'], ['x-ms-file-creation-time', 'now'], ['x-ms-file-last-write-time', 'now']] });
    await put('/files/f?comp=range', { service: 'file', headers: [['x-ms-write', 'update'], ['x-ms-range', `bytes=${MIB}-${3 * MIB - 1}`]], body: content.subarray(0, 2 * MIB) });
    await untilLent(standby, '/direct/whole');
    const etag = (await owner.ask('HEAD', '/direct/whole')).headers.get('etag');
    const range = (from, to) => ['x-ms-range', `bytes=${from}-${to ?? ''}`];

    const reads = [
        [true, '/direct/whole'], [true, '/direct/whole', [range(1)]], [true, '/direct/whole', [range(65535, 65535 + 65536)]], [true, '/direct/whole', [range(4 * MIB - 1, 8 * MIB + 1)]],
        [true, '/direct/whole', [['Range', `bytes=${9 * MIB - 100000}-`]]], [true, '/direct/whole', [['If-Match', etag]]], [true, '/direct/blocks'], [true, '/direct/blocks', [range(3 * MIB - 7, 6 * MIB + 100)]],
        [true, '/direct/pages'], [true, '/direct/pages', [range(3 * MIB + 65000, 5 * MIB)]], [true, '/direct/holes'], [true, '/direct/log'], [true, '/files/f', [], 'file'], [true, '/files/f', [range(100, 4 * MIB)], 'file'],
        [false, '/direct/whole', [range(0, 65535)]], [false, '/direct/whole', [range(0, 4 * MIB - 1), ['x-ms-range-get-content-md5', 'true']]],
        [false, '/direct/whole', [['x-ms-structured-body', 'XSM/1.0; properties=crc64']]],
        [false, '/direct/whole', [['If-None-Match', etag]]], [false, '/direct/whole', [['If-Match', '"0x1"']]], [false, '/direct/whole', [range(100 * MIB)]], [false, '/direct/none'],
        [false, '/direct?restype=container&comp=list'],
    ];
    const seen = ({ status, headers, body }) => ({ status, body, headers: headers.list.filter(([name]) => !/^(date|x-ms-request-id)$/i.test(name)) });
    for (const [isDirect, target, headers = [], service = 'blob'] of reads) {
        const what = `GET ${target} ${JSON.stringify(headers)}`;
        if (isDirect)
            await untilLent(standby, target, { headers, service });
        const [expected, answer] = [await owner.ask('GET', target, { headers, service }), await standby.ask('GET', target, { headers, service })];

        const mask = (body) => (expected.status >= 400 || target.includes('comp=list') ? body.toString().replace(/RequestId:\S+|Time:[^<]*|127\.0\.0\.1:\d+/g, '*') : body);
        const [one, two] = [seen(expected), seen(answer)].map((all) => ({ ...all, body: mask(all.body) }));
        if (Buffer.isBuffer(one.body)) {
            assert.ok(two.body.equals(one.body), what);
            one.body = two.body = null;
        }
        assert.deepEqual(two, one, what);
        const line = await lineOf(standby, answer), own = await lineOf(owner, answer);
        assert.deepEqual([line.direct ?? false, line.sent, line.result], [isDirect, expected.body.length, 'responded'], what);
        assert.deepEqual([own.sent, own.cut ?? false, own.status], [expected.body.length, false, expected.status], what); // egress as if the owner had sent it
    }
    const [expected, head] = [await owner.ask('HEAD', '/direct/whole'), await standby.ask('HEAD', '/direct/whole')];
    assert.deepEqual(seen(head), seen(expected));
    assert.equal(head.headers.get('content-length'), `${content.length}`);
    /* A snapshot, of what has changed since. */
    const { headers } = await owner.ask('PUT', '/direct/pages?comp=snapshot');
    await put('/direct/pages?comp=page', { headers: [['x-ms-page-write', 'update'], ['x-ms-range', `bytes=0-${MIB - 1}`]], body: content.subarray(0, MIB) });
    const old = await untilLent(standby, `/direct/pages?snapshot=${encodeURIComponent(headers.get('x-ms-snapshot'))}`);
    assert.ok(old.body.subarray(0, MIB).equals(pages));
    assert.ok((await untilLent(standby, '/direct/pages')).body.subarray(0, MIB).equals(content.subarray(0, MIB)));
});

/** Asks for an object and reads only its first byte. */
async function begin(member, target) {
    const connection = await Connection.open(member.host, member.ports.blob, false, {});
    const request = sign({ method: 'GET', target: `/${DEVELOPMENT.account}${target}`, headers: [['Host', `${member.host}:${member.ports.blob}`]] }, { service: 'blob' });
    await connection.request(request);
    const head = await connection.response();
    assert.equal(head.status, 200);
    return { connection, head, first: await connection.body(head, 1) };
}

test('what a client still reads stays, whatever is deleted; afterwards it goes', async (t) => {
    const { cluster, owner, standby } = await newPair(t);
    const content = randomBytes(32 * MIB);
    assert.equal((await owner.ask('PUT', '/direct/b', { headers: BLOCK, body: content })).status, 201);
    assert.ok((await untilLent(standby, '/direct/b')).body.equals(content));
    const files = readdirSync(extentsOf(cluster));
    const { connection, head, first } = await begin(standby, '/direct/b');
    assert.equal((await owner.ask('DELETE', '/direct/b')).status, 202);
    await delay(1500); // the collector works every few milliseconds
    assert.deepEqual(readdirSync(extentsOf(cluster)), files);
    assert.ok(Buffer.concat([first, await connection.body(head, content.length - 1)]).equals(content));
    connection.close();
    for (let i = 0; i < 500 && readdirSync(extentsOf(cluster)).length > 0; i++)
        await delay(20);
    assert.deepEqual(readdirSync(extentsOf(cluster)), []);
    /* A client that goes away ends it too. */
    assert.equal((await owner.ask('PUT', '/direct/b', { headers: BLOCK, body: content })).status, 201);
    await untilLent(standby, '/direct/b');
    const gone = await begin(standby, '/direct/b');
    assert.equal((await owner.ask('DELETE', '/direct/b')).status, 202);
    gone.connection.close();
    for (let i = 0; i < 500 && readdirSync(extentsOf(cluster)).length > 0; i++)
        await delay(20);
    assert.deepEqual(readdirSync(extentsOf(cluster)), []);
});

test('a client that pauses for longer than an owner waits for a receipt gets the rest, and its front end is served meanwhile', async (t) => {
    const { cluster, owner, standby } = await newPair(t, { ownerEnv: { LAGRA_BODY_STALL_S: '2' } });
    const content = randomBytes(32 * MIB);
    assert.equal((await owner.ask('PUT', '/direct/b', { headers: BLOCK, body: content })).status, 201);
    await untilLent(standby, '/direct/b');
    const files = readdirSync(extentsOf(cluster));
    const { connection, head, first } = await begin(standby, '/direct/b');
    assert.equal((await owner.ask('DELETE', '/direct/b')).status, 202);
    await delay(7000);
    assert.deepEqual(readdirSync(extentsOf(cluster)), files);
    assert.ok(Buffer.concat([first, await connection.body(head, content.length - 1)]).equals(content));
    connection.close();
    const id = head.headers.get('x-ms-request-id');
    const own = await lineOf(owner, head);
    assert.deepEqual([own.request, own.sent, own.cut ?? false], [id, content.length, false]);
    /* One that goes away in the middle of a block: the last receipt is no smaller than those before. */
    assert.equal((await owner.ask('PUT', '/direct/b', { headers: BLOCK, body: content })).status, 201);
    await untilLent(standby, '/direct/b');
    const gone = await begin(standby, '/direct/b');
    await delay(2500);
    gone.connection.close();
    const line = await lineOf(owner, gone.head);
    assert.ok(line.sent > 0 && line.sent < content.length, `${line.sent}`);
    assert.doesNotMatch(owner.stderr, /receipt/);
});

test('the owner is killed while a client reads: it gets the right bytes to the end, or is cut off', async (t) => {
    const { owner, standby, cluster, start } = await newPair(t);
    const content = randomBytes(48 * MIB);
    for (const name of ['a', 'b'])
        assert.equal((await owner.ask('PUT', `/direct/${name}`, { headers: BLOCK, body: content })).status, 201);
    const third = await start('third', cluster, OWNER);
    await third.until(200, '/-/ready');
    await untilLent(standby, '/direct/a');
    const reads = await Promise.all(['a', 'b', 'a'].map((name) => begin(standby, `/direct/${name}`)));
    await owner.end('SIGKILL');
    let next = null;
    for (let i = 0; i < 1000 && !next; i++, await delay(20))
        for (const member of [standby, third])
            if (await member.health() === 200)
                next = member;
    /* The new owner frees one of them. */
    assert.equal((await next.ask('DELETE', '/direct/b')).status, 202);
    await delay(1000);
    const ended = await Promise.all(reads.map(async ({ connection, head, first }) => {
        const parts = [first];
        for (let at = 1; at < content.length; at += parts.at(-1).length) {
            const part = await connection.body(head, Math.min(MIB, content.length - at)).catch(() => null);
            if (!part)
                return 'cut';
            assert.ok(part.equals(content.subarray(at, at + part.length)), `byte ${at}`);
            parts.push(part);
        }
        return 'whole';
    }));
    t.diagnostic(ended.join(', '));
    assert.deepEqual([ended[0], ended[2]], ['whole', 'whole']);
    assert.ok((await next.ask('GET', '/direct/a')).body.equals(content));
});

test('a front end that sees no, other or too few bytes has the owner send the body', async (t) => {
    let seenFiles;
    /* The standby sees the cluster with a folder of extents of its own, as a file system that is stale or damaged for it would show. */
    const elsewhere = (folder, cluster) => {
        const other = join(folder, 'other');
        mkdirSync(join(other, 'cells/0001/data'), { recursive: true });
        for (const name of ['cluster', 'key', 'cells/0001/owner'])
            linkSync(join(cluster, name), join(other, name));
        seenFiles = join(other, 'cells/0001/data/extents');
        mkdirSync(seenFiles);
        return other;
    };
    const { cluster, owner, standby } = await newPair(t, { elsewhere });
    const content = randomBytes(5 * MIB);
    assert.equal((await owner.ask('PUT', '/direct/b', { headers: BLOCK, body: content })).status, 201);
    const ask = async (isDirect, what) => {
        const answer = await standby.ask('GET', '/direct/b');
        assert.ok(answer.status === 200 && answer.body.equals(content), what);
        assert.equal((await lineOf(standby, answer)).direct ?? false, isDirect, what);
    };

    for (let i = 0; i < 50 && !/to read from it for the owner/.test(standby.stderr); i++, await delay(20))
        await ask(false, 'missing');
    assert.match(standby.stderr, /to read from it for the owner of cell 1: No such file/);
    const [name] = readdirSync(extentsOf(cluster));
    const good = readFileSync(join(extentsOf(cluster), name), { encoding: null, flag: 'r' }).subarray(0, 6 * MIB);
    writeFileSync(join(seenFiles, name), good);
    await ask(true, 'the same');
    await delay(50);
    for (const [what, bytes] of [['zeros', Buffer.alloc(6 * MIB)], ['short', good.subarray(0, 4096)], ['wrong at the start', Buffer.concat([good.subarray(0, 4096), Buffer.from('x'), good.subarray(4097)])]]) {
        rmSync(join(seenFiles, name));
        writeFileSync(join(seenFiles, name), bytes);
        await delay(6000); // the file that was there is closed when nobody has read it for 5 s
        await ask(false, what);
    }
    assert.match(standby.stderr, /has other bytes at \d+ than its owner expects/);
    /* Wrong after the first bytes were sent: the connection is cut, and nothing wrong was sent. */
    rmSync(join(seenFiles, name));
    writeFileSync(join(seenFiles, name), Buffer.concat([good.subarray(0, 5 * MIB), Buffer.from([~good[5 * MIB]]), good.subarray(5 * MIB + 1)]));
    await delay(100);
    const { connection, head, first } = await begin(standby, '/direct/b');
    const got = [first];
    await assert.rejects(async () => {
        for (let at = 1; at < content.length; at += 65536)
            got.push(await connection.body(head, Math.min(65536, content.length - at)));
    });
    const all = Buffer.concat(got);
    assert.ok(all.length < content.length && content.subarray(0, all.length).equals(all));
});

test('an older front end is sent bodies, and an older owner sends them', async (t) => {
    const { owner, standby } = await newPair(t, { env: { LAGRA_PROTOCOL_RANGE: '5-5' } });
    const content = randomBytes(2 * MIB);
    assert.equal((await owner.ask('PUT', '/direct/b', { headers: BLOCK, body: content })).status, 201);
    for (let i = 0; i < 5; i++, await delay(50)) {
        const answer = await standby.ask('GET', '/direct/b');
        assert.ok(answer.body.equals(content));
        assert.equal((await lineOf(standby, answer)).direct, undefined);
    }
    await owner.end('SIGTERM'); // the older one takes over
    for (let i = 0; i < 1000 && await standby.health() !== 200; i++)
        await delay(20);
    owner.restart();
    await owner.until(200, '/-/ready');
    for (let i = 0; i < 5; i++, await delay(50)) {
        const answer = await owner.ask('GET', '/direct/b');
        assert.ok(answer.body.equals(content));
        assert.equal((await lineOf(owner, answer)).direct, undefined);
    }
});

test('with several cells, all front ends read from the files of the cell that has a container, and count that', async (t) => {
    const { owners: [one, two], standby, place } = await startCells(t, { withStandby: true, withMetrics: true, env: OWNER });
    const content = randomBytes(3 * MIB);
    await place(2);
    assert.equal((await one.ask('PUT', '/far?restype=container')).status, 201);
    assert.equal((await one.ask('PUT', '/far/b', { headers: BLOCK, body: content })).status, 201);
    for (const member of [one, standby]) {
        const read = async (name) => Number(new RegExp(`${name} (\\d+)`).exec(await member.metrics())?.[1] ?? 0);
        assert.ok((await untilLent(member, '/far/b')).body.equals(content));
        assert.equal((await lineOf(member, await member.ask('GET', '/far/b'))).cell, 2);
        assert.ok(await read('lagra_forwarded_direct_total{result="read"}') >= 2);
        assert.equal(await read('lagra_forwarded_direct_total{result="failed"}'), 0);
        assert.ok(await read('lagra_forwarded_bytes_total{service="blob",direction="from_files"}') >= 2 * content.length);
    }
    assert.ok((await two.ask('GET', '/far/b')).body.equals(content));
});
