// What an account may use: who asks for more is refused with 503 ServerBusy, and when he may ask again.
// docs/admin.md, "Limits"; decision: 460
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../lib/http.mjs';
import { run } from '../lib/program.mjs';
import { freePorts, Server } from '../lib/server.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';
import { SmbClient } from '../smb/smb_client.mjs';

const MIB = 1 << 20;

async function start(t, options) {
    const server = await Server.start(options);
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

async function asked(server, ...words) {
    const { code, output, errors } = await run([...words, '--json', '--location', server.location]);
    assert.equal(code, 0, errors);
    return JSON.parse(output);
}

/** Requests of one account on one connection: answers { status, headers, body }. */
async function client(t, server, service, account, key) {
    const connection = await Connection.open(server.host, server.ports[service]);
    t.after(() => connection.close());
    return (method, path, { headers = [], body = Buffer.alloc(0) } = {}) => {
        const request = { method, target: `/${account}${path}`,
            headers: [['Host', `${server.host}:${server.ports[service]}`], ['Content-Length', String(body.length)], ...headers] };
        return connection.exchange(sign(request, { credentials: { account, key }, service }), body);
    };
}

/** Asks until it is answered so. */
async function until(status, ask) {
    for (let i = 0; i < 1000; i++) {
        const answer = await ask();
        if (answer.status === status)
            return answer;
        assert.ok([200, 201, 202, 503].includes(answer.status), String(answer.body));
    }
    return assert.fail(`never ${status}`);
}

const refused = ({ status, headers, body }, message) => {
    assert.deepEqual([status, headers.get('x-ms-error-code')], [503, 'ServerBusy']);
    assert.match(headers.get('retry-after'), /^[1-9]\d*$/);
    assert.match(String(body), new RegExp(message));
};

test('requests beyond the rate of an account are refused, in all services; other accounts go on', async (t) => {
    const server = await start(t);
    const alpha = await asked(server, 'account', 'add', 'alpha');
    const beta = await asked(server, 'account', 'add', 'beta');
    const set = await asked(server, 'account', 'set', 'alpha', '--requests', '1');
    assert.equal(set.requests, 1);
    assert.equal((await asked(server, 'account', 'show', 'alpha')).requests, 1);

    const blobs = await client(t, server, 'blob', 'alpha', alpha.key1);
    const others = await client(t, server, 'blob', 'beta', beta.key1);
    refused(await until(503, () => blobs('GET', '/?comp=list')), 'Operations per second is over the account limit');
    assert.equal((await others('GET', '/?comp=list')).status, 200);
    const queues = await client(t, server, 'queue', 'alpha', alpha.key1);
    refused(await until(503, () => queues('GET', '/?comp=list')), 'Operations per second');
    const files = await client(t, server, 'file', 'alpha', alpha.key1);
    refused(await until(503, () => files('GET', '/?comp=list')), 'Operations per second');
    const tables = await client(t, server, 'table', 'alpha', alpha.key1);
    const busy = await until(503, () => tables('GET', '/Tables', { headers: [['Accept', 'application/json']] }));
    assert.match(String(busy.body), /"code":"ServerBusy"/);
    assert.match(busy.headers.get('retry-after'), /^[1-9]\d*$/);
    // Who is not let in uses up nothing of it; and it is let in again.
    const stranger = await client(t, server, 'blob', 'alpha', beta.key1);
    for (let i = 0; i < 20; i++)
        assert.equal((await stranger('GET', '/?comp=list')).status, 403);
    await until(200, () => blobs('GET', '/?comp=list'));

    // A part of a batch is a request.
    await until(201, () => blobs('PUT', '/ccc?restype=container'));
    const parts = Array.from({ length: 8 }, (_, i) => sign({ method: 'DELETE', target: `/alpha/ccc/x${i}`,
        headers: [['Content-Length', '0']] }, { credentials: { account: 'alpha', key: alpha.key1 } }))
        .map(({ target, headers }, i) => `--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: ${i}\r\n\r\n` +
            `DELETE ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    const body = Buffer.from(`${parts.join('')}--b--\r\n`);
    const batch = () => blobs('POST', '/?comp=batch', { headers: [['Content-Type', 'multipart/mixed; boundary=b']], body });
    while (!/503 [^]*<Code>ServerBusy<\/Code>/.test(String((await until(202, batch)).body)))
        assert.ok(true);

    assert.equal((await asked(server, 'account', 'set', 'alpha', '--requests', 'default')).requests, undefined);
    for (let i = 0; i < 20; i++)
        assert.equal((await blobs('GET', '/?comp=list')).status, 200);
});

test('bytes beyond the rate are refused the way that they went', async (t) => {
    const server = await start(t, { args: ['--accountBandwidth', '1'] });
    const alpha = await asked(server, 'account', 'add', 'alpha');
    assert.equal(alpha.bandwidth, 1);
    const blobs = await client(t, server, 'blob', 'alpha', alpha.key1);
    const put = (body) => blobs('PUT', '/ccc/b', { headers: [['x-ms-blob-type', 'BlockBlob']], body });

    assert.equal((await blobs('PUT', '/ccc?restype=container')).status, 201);
    // 64 seconds of it: it is let in, and the next one is not.
    assert.equal((await put(Buffer.alloc(64 * MIB))).status, 201);
    refused(await put(Buffer.from('more')), 'Ingress is over the account limit');
    assert.equal((await blobs('GET', '/ccc/b')).body.length, 64 * MIB);
    const egress = await blobs('GET', '/ccc?restype=container&comp=list');
    refused(egress, 'Egress is over the account limit');
    assert.ok(Number(egress.headers.get('retry-after')) > 1);
    refused(await put(Buffer.from('more')), 'Ingress');
    // Its own limit counts from the next request on, and after a start.
    assert.equal((await asked(server, 'account', 'set', 'alpha', '--bandwidth', 'none')).bandwidth, undefined);
    assert.equal((await put(Buffer.from('more'))).status, 201);
    assert.equal(String((await blobs('GET', '/ccc/b')).body), 'more');
    await server.kill();
    await server.restart();
    assert.equal((await asked(server, 'account', 'show', 'alpha')).bandwidth, undefined);
    const [devstore] = (await asked(server, 'account', 'list')).accounts;
    assert.deepEqual([devstore.name, devstore.bandwidth], ['devstoreaccount1', 1]);
});

test('an account that keeps what it may keep is refused what grows; deletions, leases and policies are let in', async (t) => {
    const server = await start(t);
    const alpha = await asked(server, 'account', 'add', 'alpha');
    const blobs = await client(t, server, 'blob', 'alpha', alpha.key1);
    const queues = await client(t, server, 'queue', 'alpha', alpha.key1);
    const put = (name, size) => blobs('PUT', `/ccc/${name}`, { headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.alloc(size) });
    const full = ({ status, headers, body }) => {
        assert.deepEqual([status, headers.get('x-ms-error-code')], [507, 'InsufficientStorage']);
        assert.match(String(body), /as much as it may keep/);
    };

    assert.equal((await asked(server, 'account', 'set', 'alpha', '--capacity', '2')).capacity, 2);
    assert.equal((await blobs('PUT', '/ccc?restype=container')).status, 201);
    assert.equal((await put('a', MIB)).status, 201);
    assert.equal((await put('b', MIB)).status, 201);
    full(await put('c', 1)); // what came is counted, before anybody has looked at what there is
    full(await blobs('PUT', '/ccc/p', { headers: [['x-ms-blob-type', 'PageBlob'], ['x-ms-blob-content-length', '512']] }));
    full(await blobs('PUT', '/ccc/c', { headers: [['x-ms-copy-source', `${server.url}/ccc/a`]] }));
    assert.equal((await queues('PUT', '/qqq')).status, 201); // it has no bytes
    full(await queues('POST', '/qqq/messages', { body: Buffer.from('<QueueMessage><MessageText>m</MessageText></QueueMessage>') }));
    assert.equal((await blobs('PUT', '/ccc/a?comp=lease', { headers: [['x-ms-lease-action', 'acquire'], ['x-ms-lease-duration', '-1']] })).status, 201);
    assert.equal((await blobs('PUT', '/ccc/b?comp=metadata', { headers: [['x-ms-meta-a', 'b']] })).status, 200);
    assert.equal((await blobs('PUT', '/ccc?restype=container&comp=acl', { body: Buffer.from('<SignedIdentifiers/>') })).status, 200);
    assert.equal((await blobs('GET', '/ccc/b')).status, 200);

    // What was deleted counts until it is counted again; what was counted is not counted twice.
    let usage = await asked(server, 'usage');
    assert.deepEqual(usage.accounts.filter(({ account }) => account === 'alpha'), [
        { account: 'alpha', service: 'blob', objects: 2, bytes: 2 * MIB, containers: 1 },
        { account: 'alpha', service: 'queue', objects: 0, bytes: 0, containers: 1 }]);
    full(await put('c', 1));
    assert.equal((await blobs('DELETE', '/ccc/b')).status, 202);
    full(await put('c', 1));
    usage = await asked(server, 'usage');
    assert.deepEqual(usage.containers.find(({ name }) => name === 'ccc'),
        { name: 'ccc', account: 'alpha', service: 'blob', objects: 1, bytes: MIB });
    assert.equal((await put('c', 1)).status, 201);

    // What was deleted and is kept has its bytes still, but is no container.
    const keep = (policy) => blobs('PUT', '/?restype=service&comp=properties', { body: Buffer.from(
        `<StorageServiceProperties><${policy}><Enabled>true</Enabled><Days>1</Days></${policy}></StorageServiceProperties>`) });
    assert.equal((await keep('ContainerDeleteRetentionPolicy')).status, 202);
    assert.equal((await blobs('DELETE', '/ccc?restype=container', { headers: [['x-ms-lease-id', 'none']] })).status, 400);
    assert.equal((await blobs('DELETE', '/ccc?restype=container')).status, 202);
    usage = await asked(server, 'usage');
    assert.deepEqual(usage.accounts.find(({ account, service }) => account === 'alpha' && service === 'blob'),
        { account: 'alpha', service: 'blob', objects: 0, bytes: MIB + 1, containers: 0 });
});

/** A server with SMB and a share, and a client of it. */
async function startSmb(t, args) {
    const [port] = await freePorts(1);
    const server = await start(t, { args: ['--smbPort', `${port}`, ...args] });
    const files = await client(t, server, 'file', DEVELOPMENT.account, DEVELOPMENT.key);
    assert.equal((await files('PUT', '/smb?restype=share')).status, 201);
    const smb = await SmbClient.start(port, 'smb');
    t.after(() => smb.stop());
    return { server, port, files, smb };
}

async function secondsOf(run) {
    const began = performance.now();
    await run();
    return (performance.now() - began) / 1000;
}

const PIECE = 'x'.repeat(60000);
const FULL = 'C000007F'; // STATUS_DISK_FULL. decision: 892

test('SMB: an account that keeps what it may keep is refused what grows, as by REST; deletions are let in', async (t) => {
    const { server, port, files, smb } = await startSmb(t, ['--accountCapacity', '4']);
    const statuses = [];

    await smb.open('a', 'a', { access: 'RW', isNew: true });
    await smb.open('b', 'b', { access: 'RW', isNew: true });
    await smb.open('d', 'd', { access: 'RWD', isNew: true });
    await smb.must('write', { name: 'd', offset: 0, text: PIECE });
    for (let i = 0; i < 100 && !statuses.includes(FULL); i++)
        statuses.push((await smb.do('write', { name: 'a', offset: i * PIECE.length, text: PIECE })).status);
    assert.equal(statuses.length, Math.floor(4 * MIB / PIECE.length)); // the last one, and those before it with that of d
    assert.equal((await smb.do('write', { name: 'b', offset: 0, text: PIECE })).status, FULL);
    assert.equal((await smb.do('copy', { source: 'a', name: 'b', size: PIECE.length })).status, FULL);

    // By REST it is as full, and what REST has filled is full here: nothing of it was counted twice.
    const room = 4 * MIB - statuses.length * PIECE.length;
    const range = (path, size) => files('PUT', `/smb/${path}?comp=range`, { body: Buffer.alloc(size),
        headers: [['x-ms-write', 'update'], ['x-ms-range', `bytes=0-${size - 1}`]] });
    assert.equal((await range('a', room + 1)).status, 507);
    assert.equal((await range('a', room)).status, 201);
    assert.equal((await smb.do('write', { name: 'a', offset: 0, text: 'x' })).status, FULL);
    assert.equal((await smb.tryOpen('c', 'c', { access: 'RW', isNew: true })).status, FULL);
    assert.equal((await smb.do('length', { name: 'b', length: 10 })).status, FULL);
    assert.throws(() => execFileSync('smbclient', ['//127.0.0.1/smb', '-p', `${port}`, '-U', `${DEVELOPMENT.account}%${DEVELOPMENT.key}`,
        '--client-protection=encrypt', '--configfile=/dev/null', '-c', 'put /etc/hostname new'], { stdio: 'pipe' }),
    ({ stdout, stderr }) => /NT_STATUS_DISK_FULL/.test(`${stdout}${stderr}`));

    // Files that are there are read, cut, renamed and deleted; directories have no bytes.
    assert.equal((await smb.must('read', { name: 'a', offset: 1000, length: 4 })).text, '\0'.repeat(4));
    await smb.must('length', { name: 'a', length: 3 * MIB });
    await smb.must('rename', { name: 'd', path: 'e' });
    await smb.open('dir', 'dir', { directory: true, isNew: true });
    await smb.must('disposition', { name: 'd', deletes: true });
    await smb.must('close', { name: 'd' });
    assert.equal((await smb.tryOpen('d', 'e')).status, 'C0000034');

    // What was deleted is seen by the next count.
    assert.equal((await smb.do('write', { name: 'b', offset: 0, text: PIECE })).status, FULL);
    await asked(server, 'usage');
    await smb.must('write', { name: 'b', offset: 0, text: PIECE });
    await smb.must('copy', { source: 'a', name: 'b', size: PIECE.length });
    await smb.open('c', 'c', { access: 'RW', isNew: true });
    await smb.must('length', { name: 'c', length: 10 });
});

test('SMB: a refusal has what is kept counted again within seconds', async (t) => {
    const { smb } = await startSmb(t, ['--accountCapacity', '1']);

    await smb.open('a', 'a', { access: 'RWD', deletes: true, isNew: true });
    for (let i = 0; i < 17; i++)
        await smb.must('write', { name: 'a', offset: 0, text: PIECE }); // what comes counts, also over what is there
    assert.equal((await smb.do('write', { name: 'a', offset: 0, text: PIECE })).status, FULL);
    await smb.must('close', { name: 'a' });
    await smb.open('b', 'b', { access: 'RW', isNew: true });
    const began = Date.now();
    while ((await smb.do('write', { name: 'b', offset: 0, text: PIECE })).status === FULL) {
        assert.ok(Date.now() - began < 60000);
        await delay(200);
    }
});

test('SMB: commands and bytes count, by SMB and by REST, and wait until the rate allows them', async (t) => {
    const { files, smb } = await startSmb(t, ['--accountRequests', '20']);

    await smb.open('a', 'a', { access: 'RW', isNew: true });
    // 20 a second, and one second's worth at once.
    const took = await secondsOf(async () => {
        for (let i = 0; i < 60; i++)
            await smb.must('write', { name: 'a', offset: 0, text: 'x' });
    });
    assert.ok(took > 1.5 && took < 15, `${took}`);
    // What SMB has used up is used up for REST.
    refused(await files('GET', '/smb?restype=share'), 'Operations per second');
    await until(200, () => files('GET', '/smb?restype=share'));
});

test('SMB: clients leave and the server stops while commands wait', async (t) => {
    const { server, port, smb } = await startSmb(t, ['--accountBandwidth', '1']);
    const others = await Promise.all(Array.from({ length: 3 }, () => SmbClient.start(port, 'smb')));

    await smb.open('a', 'a', { access: 'RW', isNew: true });
    await Promise.all(others.map((other) => other.open('a', 'a', { access: 'RW' })));
    // Three seconds' worth at once: the next commands wait that long.
    for (let i = 0; i < 17; i++)
        await smb.must('write', { name: 'a', offset: 0, text: PIECE });
    const late = others.flatMap((other) => Array.from({ length: 4 }, () => other.do('write', { name: 'a', offset: 0, text: PIECE }).catch(() => {})));
    await delay(500);
    await Promise.all(others.slice(1).map((other) => other.stop()));
    const last = others[0].do('write', { name: 'a', offset: 0, text: PIECE }).catch(() => {});
    assert.ok(await secondsOf(() => server.stop({ keep: true })) < 8);
    await Promise.all([last, ...late, others[0].stop()]);
});

test('SMB: bytes wait each way; what ends something does not', async (t) => {
    const { smb } = await startSmb(t, ['--accountBandwidth', '1']);

    for (const name of ['a', 'b'])
        await smb.open(name, name, { access: 'RW', isNew: true });
    // 3.6 MB at 1 MiB a second, one second's worth at once.
    const writes = await secondsOf(async () => {
        for (let i = 0; i < 60; i++)
            await smb.must('write', { name: 'a', offset: i * PIECE.length, text: PIECE });
    });
    assert.ok(writes > 1.5 && writes < 15, `${writes}`);
    assert.ok(await secondsOf(() => smb.must('close', { name: 'b' })) < 0.4);
    const reads = await secondsOf(async () => {
        for (let i = 0; i < 60; i++)
            await smb.must('read', { name: 'a', offset: i * PIECE.length, length: PIECE.length });
    });
    assert.ok(reads > 1.5 && reads < 15, `${reads}`);
});

test('an account has as many containers, queues, tables and shares as it may have, of each kind', async (t) => {
    const server = await start(t, { args: ['--accountContainers', '2'] });
    const alpha = await asked(server, 'account', 'add', 'alpha');
    const makers = {
        blob: (ask, name) => ask('PUT', `/${name}?restype=container`),
        queue: (ask, name) => ask('PUT', `/${name}`),
        table: (ask, name) => ask('POST', '/Tables', { body: Buffer.from(`{"TableName":"${name}"}`),
            headers: [['Content-Type', 'application/json'], ['Accept', 'application/json']] }),
        file: (ask, name) => ask('PUT', `/${name}?restype=share`),
    };
    const deleted = { blob: '/one?restype=container', queue: '/one', table: "/Tables('one')", file: '/one?restype=share' };

    for (const [service, make] of Object.entries(makers)) {
        const ask = await client(t, server, service, 'alpha', alpha.key1);
        for (const name of ['one', 'two'])
            assert.equal((await make(ask, name)).status, 201, service);
        const { status, body } = await make(ask, 'three');
        assert.equal(status, 507, service);
        assert.match(String(body), /InsufficientStorage[^]*as many containers, queues, tables or shares as it may have/);
        assert.ok([202, 204].includes((await ask('DELETE', deleted[service])).status), service);
        assert.equal((await make(ask, 'three')).status, 201, service);
    }
});

test('what is no limit is refused', async (t) => {
    const server = await start(t);
    await asked(server, 'account', 'add', 'alpha');
    for (const wrong of ['0', '-1', 'x', '18446744073709551616', '1125899906842625'])
        for (const limit of ['--requests', '--bandwidth', '--capacity', '--containers']) {
            const { code, errors } = await run(['account', 'set', 'alpha', limit, wrong, '--location', server.location]);
            assert.deepEqual([code, /must be a number above 0, none or default/.test(errors)], [1, true], errors);
        }
});
