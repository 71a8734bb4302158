// The logs of requests: --accessLog, --auditLog, --slow, and the probes. docs/monitoring.md; decision: 390
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BATCH_TYPE, batchBody, partRequest } from '../lib/batch.mjs';
import { Connection } from '../lib/http.mjs';
import { run } from '../lib/program.mjs';
import { containerSas } from '../lib/sas.mjs';
import { ANY_PORTS, freePorts, Server } from '../lib/server.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';
import { serve, sourceServer } from '../lib/source.mjs';
import { changesetBody, TRANSACTION_TYPE } from '../lib/transaction.mjs';
import { until } from './setup.mjs';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const STAGES = ['head', 'read', 'staged', 'thread', 'decide', 'others', 'sync', 'answer', 'send'];

async function newFolder(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-logs-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

async function newServer(t, args, options = {}) {
    const server = await Server.start({ args, ...options });
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

/** One request of the development account; sas: a query in the place of a signature; null: neither */
async function ask(server, { method = 'GET', path = '', query = '', headers = {}, sas, body = '' } = {}) {
    const connection = await Connection.open(server.host, server.port, server.secure);
    const all = [['Host', `${server.host}:${server.port}`], ['Content-Length', `${body.length}`], ...Object.entries(headers)];
    const request = { method, target: `/${DEVELOPMENT.account}${path}${query}`, headers: all };
    try {
        if (sas === undefined)
            return await connection.exchange(sign(request), Buffer.from(body));
        if (sas !== null)
            request.target += `${query ? '&' : '?'}${sas}`;
        return await connection.exchange({ ...request, headers: [...all, ['x-ms-version', '2024-11-04']] }, Buffer.from(body));
    } finally {
        connection.close();
    }
}

const linesOf = async (path) => (await readFile(path, 'utf8')).split('\n').slice(0, -1);
/** Without those of the start, when the server is asked until it answers: another thread's, which may come later. */
const requestsOf = async (path) => (await linesOf(path)).map((line) => JSON.parse(line)).filter(({ path: asked }) => asked !== '/');
const pathsOf = async (path) => (await requestsOf(path)).map((line) => line.path);
/** So many lines, parsed, in the order of their times: each thread's come in its own. */
const takeLines = (path, count) => until(async () => {
    const lines = await requestsOf(path);
    return lines.length >= count && lines.sort((a, b) => a.time < b.time ? -1 : 1);
}, 60);

test('the access log has what was asked, by whom, what came of it and where the time went; and no secret', async (t) => {
    const folder = await newFolder(t);
    const path = join(folder, 'access.jsonl');
    const server = await newServer(t, ['--accessLog', path]);
    const inAnHour = new Date(Date.now() + 3600e3).toISOString().replace(/\.\d+/, '');
    const sas = containerSas('photos', { sp: 'rl', se: inAnHour });
    const signature = decodeURIComponent(sas.match(/sig=([^&]*)/)[1]);

    await ask(server, { method: 'PUT', path: '/photos', query: '?restype=container' });
    const put = await ask(server, { method: 'PUT', path: '/photos/a%20%22b%22', body: 'hello', headers: { 'x-ms-blob-type': 'BlockBlob',
        'x-ms-client-request-id': 'mine "1"', traceparent: `00-${TRACE}-00f067aa0ba902b7-01` } });
    assert.equal(put.status, 201);
    await ask(server, { path: '/photos/a%20%22b%22', sas });
    await ask(server, { path: '/photos/none', sas: sas.replace(/sig=.{8}/, 'sig=AAAAAAAA'), headers: { traceparent: 'nonsense' } });
    await ask(server, { path: '/photos/none' });
    await ask(server, { path: '/photos/none', sas: null });
    await ask(server, { path: '/photos', query: '?restype=container&comp=nonsense' });
    const lines = await takeLines(path, 7);
    const shown = ({ operation, authorization, status, code, received, sent }) => [operation, authorization, status, code, received, sent];
    assert.deepEqual(lines.slice(0, 6).map(shown).map((row) => row.slice(0, 5)), [
        ['Create Container', 'key', 201, undefined, 0],
        ['Put Blob', 'key', 201, undefined, 5],
        ['Get Blob', 'service sas', 200, undefined, 0],
        ['none', 'none', 403, 'AuthenticationFailed', 0],
        ['Get Blob', 'key', 404, 'BlobNotFound', 0],
        ['Get Blob', 'none', 401, 'NoAuthenticationInformation', 0],
    ]);
    assert.equal(lines[2].sent, 5);
    assert.equal(lines[1].path, '/devstoreaccount1/photos/a%20%22b%22');
    assert.equal(lines[1].clientRequest, 'mine "1"');
    assert.deepEqual([lines[1].trace, lines[3].trace], [TRACE, undefined]);
    assert.equal(lines[1].request, put.headers.get('x-ms-request-id'));
    assert.equal(lines[1].etag, put.headers.get('etag'));
    assert.equal(lines[2].sas, createHash('sha256').update(signature).digest('hex').slice(0, 16));
    for (const line of lines) {
        assert.match(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
        assert.ok(Math.abs(Date.now() - Date.parse(line.time)) < 600e3);
        assert.match(line.client, /^127\.0\.0\.1:\d+$/);
        assert.equal(line.account, DEVELOPMENT.account);
        assert.equal(line.service, 'blob');
        assert.equal(line.method, line.operation === 'Create Container' || line.operation === 'Put Blob' ? 'PUT' : 'GET');
        assert.ok(Object.keys(line.stages).every((name) => STAGES.includes(name)));
        const sum = Object.values(line.stages).reduce((all, ms) => all + ms, 0);
        assert.ok(Math.abs(sum - line.ms) <= 0.001 * STAGES.length, `${sum} of ${line.ms}`); // each is cut to a microsecond
    }
    const text = await readFile(path, 'utf8');
    for (const secret of [signature, encodeURIComponent(signature), 'sig=', 'SharedKey', DEVELOPMENT.key.slice(0, 20)])
        assert.ok(!text.includes(secret), secret);
});

test('stages: a body that comes late, a thread that is waited for', async (t) => {
    const folder = await newFolder(t);
    const path = join(folder, 'access.jsonl');
    const server = await newServer(t, ['--accessLog', path, '--slow', '20ms'], { env: { LAGRA_ALWAYS_WAIT: '1' } });
    await ask(server, { method: 'PUT', path: '/photos', query: '?restype=container' });
    const connection = await Connection.open(server.host, server.port);
    const put = sign({ method: 'PUT', target: `/${DEVELOPMENT.account}/photos/late`, headers: [['Host', 'x'], ['Content-Length', '5'],
        ['x-ms-blob-type', 'BlockBlob'], ['x-ms-client-request-id', 'mine'], ['traceparent', `00-${TRACE}-00f067aa0ba902b7-01`]] });
    await connection.request(put);
    await delay(1000);
    await connection.send('hello');
    assert.equal((await connection.response()).status, 201);
    connection.close();
    const [, line] = await takeLines(path, 2);
    assert.ok(line.stages.read >= 20 && line.ms >= 20, JSON.stringify(line)); // a loaded machine may read the head late
    assert.ok(line.stages.thread > 0 && line.stages.decide > 0, JSON.stringify(line));
    const said = await until(async () => server.stderr.match(/slow: .*Put Blob.*/)?.[0], 60);
    assert.match(said, new RegExp('^slow: \\d+\\.\\d ms for Put Blob of the blob service, PUT /devstoreaccount1/photos/late, 201, from 127\\.0\\.0\\.1:\\d+: ' +
        `.*read \\d+\\.\\d ms.*; decided \\d+ times, request ${line.request}, of the client mine, trace ${TRACE}$`));
});

test('nothing that is fast is called slow', async (t) => {
    const server = await newServer(t, ['--slow', '100000s']);
    await ask(server, { query: '?comp=list' });
    await server.stop({ keep: true });
    assert.doesNotMatch(server.stderr, /slow:/);
});

test('the audit log has what may change something, and changes of keys', async (t) => {
    const folder = await newFolder(t);
    const [path, accounts] = [join(folder, 'audit.jsonl'), join(folder, 'accounts')];
    await writeFile(accounts, `${DEVELOPMENT.account}:${DEVELOPMENT.key}\n`);
    const server = await newServer(t, ['--auditLog', path, '--accountsFile', accounts]);
    await ask(server, { method: 'PUT', path: '/photos', query: '?restype=container' });
    await ask(server, { path: '/photos', query: '?restype=container&comp=list' });
    await ask(server, { method: 'PUT', path: '/photos', query: '?restype=container&comp=acl' });
    await ask(server, { method: 'DELETE', path: '/photos/none' });
    process.kill(server.pid, 'SIGHUP');
    const lines = await takeLines(path, 4);
    assert.deepEqual(lines.map(({ operation, event, status, code, authorization }) => [operation ?? event, status, code, authorization]), [
        ['Create Container', 201, undefined, 'key'],
        ['Set Container ACL', 200, undefined, 'key'],
        ['Delete Blob', 404, 'BlobNotFound', 'key'],
        ['accounts and keys were read again', undefined, undefined, undefined],
    ]);
    assert.ok(lines.every((line) => line.stages === undefined && line.sent === undefined));
    // A list that cannot be used changes nothing.
    await writeFile(accounts, 'nonsense');
    process.kill(server.pid, 'SIGHUP');
    await until(async () => /the previous accounts and keys remain in use/.test(server.stderr), 60);
    await server.stop({ keep: true });
    assert.equal((await linesOf(path)).length, lines.length);
});

test('accounts that commands make and change are in the audit log, without their keys', async (t) => {
    const folder = await newFolder(t);
    const path = join(folder, 'audit.jsonl');
    const server = await newServer(t, ['--auditLog', path]);
    const keys = [];
    for (const words of [['add', 'acme'], ['rotate-key', 'acme', '2'], ['disable', 'acme'], ['set', 'acme', '--state', 'enabled']]) {
        const { code, output, errors } = await run(['account', ...words, '--location', server.location, '--json']);
        assert.equal(code, 0, errors);
        keys.push(...output.matchAll(/"key[12]":"([^"]+)"/g));
    }
    const lines = await takeLines(path, 4);
    assert.deepEqual(lines.map(({ event, account }) => [event, account]), [['an account was added', 'acme'],
        ['key 2 of an account was changed', 'acme'], ['an account was disabled', 'acme'], ['an account was enabled', 'acme']]);
    assert.equal(keys.length, 3);
    const text = await readFile(path, 'utf8');
    assert.ok(keys.every(([, key]) => !text.includes(key)));
});

test('what clients choose cannot break a line, nor make it long', async (t) => {
    const folder = await newFolder(t);
    const path = join(folder, 'access.jsonl');
    const server = await newServer(t, ['--accessLog', path, '--slow', '1ms']);
    const connection = await Connection.open(server.host, server.port);
    const head = (target, more = '') => Buffer.from(`GET ${target} HTTP/1.1\r\nHost: x\r\n${more}\r\n`, 'latin1');
    const hostile = ['/a/\xff\xfe"\\', `/${'\x80'.repeat(5000)}`, `/${'"'.repeat(9000)}`, '/ok\u00c3\u00a4', '/%00%0a'];
    for (const target of hostile) {
        await connection.send(head(target, `x-ms-client-request-id: ${'"\\'.repeat(2000)}\x81\r\ntraceparent: ${'0'.repeat(3000)}\r\n`));
        await connection.rest(await connection.response());
    }
    connection.close();
    const lines = await takeLines(path, hostile.length);
    assert.deepEqual(lines.map((line) => line.path), ['/a/%FF%FE"\\', `/${'%80'.repeat(1023)}`, `/${'"'.repeat(1023)}`, '/okä', '/%00%0a']);
    assert.ok(lines.every(({ clientRequest }) => clientRequest === '"\\'.repeat(512)));
    assert.ok(lines.every(({ trace }) => trace === undefined));
    assert.ok((await linesOf(path)).every((line) => line.length < 16384 && /^[\x20-\x7e]*$/.test(line)));
});

test('a log that was renamed is written anew after SIGHUP; a stop writes all that is left', async (t) => {
    const folder = await newFolder(t);
    const path = join(folder, 'access.jsonl'), before = join(folder, 'before.jsonl');
    const server = await newServer(t, ['--accessLog', path]);
    await ask(server, { path: '/first' });
    await takeLines(path, 1);
    await rename(path, before);
    process.kill(server.pid, 'SIGHUP');
    await until(() => readFile(path).then(() => true, () => false), 60);
    const connection = await Connection.open(server.host, server.port);
    for (let i = 0; i < 500; i++)
        await connection.exchange({ method: 'GET', target: `/devstoreaccount1/second${i}`, headers: [['Host', 'x']] });
    connection.close();
    await server.stop({ keep: true });
    assert.deepEqual(await pathsOf(before), ['/devstoreaccount1/first']);
    assert.deepEqual(await pathsOf(path), Array.from({ length: 500 }, (_, i) => `/devstoreaccount1/second${i}`));
});

test('logs are readable by their owner only, before and after SIGHUP, whatever the umask', async (t) => {
    // decision: 1036
    const folder = await newFolder(t);
    const paths = ['accessLog', 'auditLog', 'debug'].map((option) => [option, join(folder, option)]);
    const umask = process.umask(0o022);
    t.after(() => process.umask(umask));
    const server = await newServer(t, paths.flatMap(([option, path]) => [`--${option}`, path]));
    const modes = () => Promise.all(paths.map(async ([, path]) => (await stat(path)).mode & 0o777));
    assert.deepEqual(await modes(), [0o600, 0o600, 0o600]);
    for (const [, path] of paths)
        await rename(path, `${path}.1`);
    process.kill(server.pid, 'SIGHUP');
    await until(() => modes().then(() => true, () => false), 60);
    assert.deepEqual(await modes(), [0o600, 0o600, 0o600]);
});

test('a client that goes away before all of its answer: cut', async (t) => {
    const folder = await newFolder(t);
    const path = join(folder, 'access.jsonl');
    const server = await newServer(t, ['--accessLog', path]);
    await ask(server, { method: 'PUT', path: '/photos', query: '?restype=container' });
    const body = 'x'.repeat(64 << 20);
    assert.equal((await ask(server, { method: 'PUT', path: '/photos/large', body, headers: { 'x-ms-blob-type': 'BlockBlob' } })).status, 201);
    const connection = await Connection.open(server.host, server.port);
    await connection.request(sign({ method: 'GET', target: `/${DEVELOPMENT.account}/photos/large`, headers: [['Host', 'x']] }));
    await connection.response();
    connection.close();
    const lines = await takeLines(path, 3);
    const line = lines.find(({ operation }) => operation === 'Get Blob');
    assert.ok(line.cut === true && line.sent < body.length, JSON.stringify(line));
    assert.ok(lines.filter(({ operation }) => operation !== 'Get Blob').every(({ cut }) => cut === undefined));
});

test('a full disk is said once and counted, and keeps nobody waiting', async (t) => {
    const [management] = await freePorts(1);
    const server = await newServer(t, ['--accessLog', '/dev/full', '--managementPort', `${management}`]);
    for (let i = 0; i < 20; i++)
        assert.equal((await ask(server, { query: '?comp=list' })).status, 200);
    const dropped = async () => {
        const page = await fetch(`http://127.0.0.1:${management}/metrics`).then((answer) => answer.text());
        return Number(page.match(/^lagra_log_events_dropped_total\{log="access"\} (\d+)$/m)?.[1]);
    };
    await until(async () => await dropped() >= 20, 60);
    // Once, but again after ten seconds without.
    const said = server.stderr.match(/events are missing from a log: \/dev\/full: No space left on device/g).length;
    assert.ok(said >= 1 && said < 10, `${said} times`);
});

test('what cannot be opened, or is no time, is refused at the start', async (t) => {
    const folder = await newFolder(t);
    for (const option of ['--accessLog', '--auditLog']) {
        const { code, errors } = await run(['--inMemoryPersistence', option, join(folder, 'none/log')]);
        assert.equal(code, 1);
        assert.equal(errors, `lagra: cannot write ${join(folder, 'none/log')}: No such file or directory\n`);
    }
    for (const value of ['200', 'ms', '0ms', '-1s', '1.5s', '2w', '9999999s'])
        assert.deepEqual(await run(['config', 'check', '--slow', value]),
            { code: 2, output: '', errors: `lagra: --slow takes a time from 1ms to 40d, such as 200ms, 2s, 12h or 7d, not "${value}"\n` });
    assert.match((await run(['config', 'check', '--slow', '2s'])).output, /^slow +2000ms +--slow$/m);
});

test('the program has its probes, with as many arguments as docs/monitoring.md says', () => {
    const notes = execFileSync('readelf', ['-n', process.env.LAGRA_BINARY], { encoding: 'utf8', maxBuffer: 1 << 26 });
    const found = new Map([...notes.matchAll(/Provider: lagra\n\s+Name: (\S+)\n.*\n\s+Arguments: (.*)\n/g)].map(([, name, words]) =>
        [name, words.trim().split(/ (?=-?\d+@)/).length]));
    assert.deepEqual([...found].sort(), [['request__begin', 2], ['request__end', 3], ['request__stage', 3]]);
});

test('the parts of a batch are lines of their own behind it, in both logs; parts of what was not done are none', async (t) => {
    const folder = await newFolder(t);
    const [access, audit] = ['access', 'audit'].map((name) => join(folder, name));
    const server = await newServer(t, ['--accessLog', access, '--auditLog', audit]);
    const account = DEVELOPMENT.account;
    await ask(server, { method: 'PUT', path: '/photos', query: '?restype=container' });
    await ask(server, { method: 'PUT', path: '/photos/a', body: 'hello', headers: { 'x-ms-blob-type': 'BlockBlob' } });
    const sas = containerSas('photos', { sp: 'r', se: new Date(Date.now() + 3600e3).toISOString().replace(/\.\d+/, '') });
    const parts = [...['a', 'none'].map((name) => partRequest({ method: 'DELETE', target: `/${account}/photos/${name}` })),
        { method: 'DELETE', target: `/${account}/photos/c?${sas}`, headers: [['Content-Length', '0']] }];
    const body = batchBody(parts.map((request, id) => ({ id, request })));
    const batch = await ask(server, { method: 'POST', query: '/?comp=batch', headers: { 'Content-Type': BATCH_TYPE }, body });
    assert.equal(batch.status, 202);
    const shown = ({ operation, authorization, path, status, code, batch: of }) => [operation, authorization, path, status, code, of !== undefined];
    for (const path of [access, audit]) {
        const lines = (await until(async () => (await requestsOf(path)).length >= 6 && requestsOf(path), 60))
            .filter(({ operation, batch: of }) => operation === 'Blob Batch' || of !== undefined);
        assert.deepEqual(lines.map(shown), [
            ['Blob Batch', 'key', `/${account}/`, 202, undefined, false],
            ['Delete Blob', 'key', `/${account}/photos/a`, 202, undefined, true],
            ['Delete Blob', 'key', `/${account}/photos/none`, 404, 'BlobNotFound', true],
            ['Delete Blob', 'service sas', `/${account}/photos/c`, 403, 'AuthorizationPermissionMismatch', true]]);
        assert.match(lines[3].sas, /^[0-9a-f]{16}$/);
        for (const line of lines.slice(1)) {
            assert.equal(line.batch, batch.headers.get('x-ms-request-id'));
            assert.notEqual(line.request, line.batch);
        }
        assert.ok(!(await readFile(path, 'utf8')).includes('sig='));
    }

    const tables = async (method, path, headers, text) => {
        const connection = await Connection.open(server.host, server.ports.table);
        const request = { method, target: `/${account}${path}`, headers: [['Host', 'x'], ['Content-Length', `${Buffer.byteLength(text)}`], ...headers] };
        try {
            return await connection.exchange(sign(request, { service: 'table', version: '2019-02-02' }), Buffer.from(text));
        } finally {
            connection.close();
        }
    };
    const json = [['Content-Type', 'application/json'], ['Accept', 'application/json']];
    assert.equal((await tables('POST', '/Tables', json, '{"TableName":"people"}')).status, 201);
    const insert = (key) => ({ method: 'POST', url: `http://x/${account}/people`, headers: json, body: `{"PartitionKey":"p","RowKey":"${key}"}` });
    const transaction = (keys) => tables('POST', '/$batch', [['Content-Type', TRANSACTION_TYPE], ['Accept', 'application/json']], changesetBody(keys.map(insert)));
    assert.equal((await transaction(['1', '2'])).status, 202);
    assert.equal((await transaction(['3', '1'])).status, 202); // the second one is there: nothing is done
    const lines = (await until(async () => (await requestsOf(audit)).length >= 12 && requestsOf(audit), 60)).slice(7);
    assert.deepEqual(lines.map(({ operation, status, code }) => [operation, status, code]), [
        ['Entity Group Transaction', 202, undefined], ['Insert Entity', 201, undefined], ['Insert Entity', 201, undefined],
        ['Entity Group Transaction', 202, undefined], ['Insert Entity', 409, 'EntityAlreadyExists']]);
});

test('the end of a copy in the background is said, without what authorizes the read', async (t) => {
    const folder = await newFolder(t);
    const audit = join(folder, 'audit');
    const server = await newServer(t, ['--auditLog', audit, '--allowCopyFrom', '127.0.0.1']);
    const source = await sourceServer(t, { '/there': serve(Buffer.from('hello'), { etag: '"1"' }) });
    await ask(server, { method: 'PUT', path: '/photos', query: '?restype=container' });
    const copy = (name, from) => ask(server, { method: 'PUT', path: `/photos/${name}`, headers: { 'x-ms-copy-source': `${source.url}/${from}?sig=secret` } });
    const { status, headers } = await copy('one', 'there');
    assert.deepEqual([status, headers.get('x-ms-copy-status')], [202, 'pending']);
    const [line] = await until(async () => {
        const found = (await linesOf(audit)).map((text) => JSON.parse(text)).filter(({ copy: id }) => id !== undefined);
        return found.length > 0 && found;
    }, 60);
    assert.deepEqual({ ...line, time: '' }, { time: '', event: 'a copy in the background is complete', service: 'blob',
        copy: headers.get('x-ms-copy-id'), source: `${source.url}/there` });
    assert.ok(!(await readFile(audit, 'utf8')).includes('secret'));
});

test('commands of SMB are logged, and those that change something in the audit log', async (t) => {
    const folder = await newFolder(t);
    const [access, audit] = ['access', 'audit'].map((name) => join(folder, name));
    const [port] = await freePorts(1);
    const server = await newServer(t, ['--accessLog', access, '--auditLog', audit, '--smbPort', `${port}`]);
    const { code } = await run(['share', 'create', 'team', '--location', server.location]);
    assert.equal(code, 0);
    await writeFile(join(folder, 'sent'), 'hello');
    await writeFile(join(folder, 'smb.conf'), `[global]\nlock directory = ${folder}\nstate directory = ${folder}\ncache directory = ${folder}\nprivate dir = ${folder}\n`);
    execFileSync('smbclient', ['//127.0.0.1/team', '-p', `${port}`, '-U', `${DEVELOPMENT.account}%${DEVELOPMENT.key}`,
        `--configfile=${join(folder, 'smb.conf')}`, '--client-protection=encrypt', '-c', 'mkdir d; put sent d/one; get d/one back; ls'],
    { cwd: folder, stdio: 'pipe' });
    const smbLines = async (path) => (await linesOf(path)).map((text) => JSON.parse(text)).filter(({ service }) => service === 'smb');
    const commands = (lines) => new Set(lines.map(({ operation }) => operation));
    const lines = await until(async () => (await smbLines(access)).some(({ operation }) => operation === 'LOGOFF' || operation === 'TREE_DISCONNECT') && smbLines(access), 60);
    for (const operation of ['NEGOTIATE', 'SESSION_SETUP', 'TREE_CONNECT', 'CREATE', 'WRITE', 'READ', 'CLOSE', 'QUERY_DIRECTORY'])
        assert.ok(commands(lines).has(operation), operation);
    const made = lines.find(({ operation, path, code: status }) => operation === 'CREATE' && path === 'team/d/one' && status === 'STATUS_SUCCESS');
    assert.match(made.client, /^127\.0\.0\.1:\d+$/);
    assert.equal(made.account, DEVELOPMENT.account);
    assert.ok(lines.some(({ operation, handle }) => operation === 'WRITE' && handle > 0));
    const audited = commands(await smbLines(audit));
    for (const operation of ['SESSION_SETUP', 'CREATE', 'WRITE'])
        assert.ok(audited.has(operation), operation);
    for (const operation of ['NEGOTIATE', 'READ', 'QUERY_DIRECTORY'])
        assert.ok(!audited.has(operation), operation);
});

test('lines for the journal begin with their priority, and others do not. man: sd-daemon(3)', async (t) => {
    const folder = await newFolder(t);
    const errors = await open(join(folder, 'errors'), 'a+');
    t.after(() => errors.close());
    const { dev, ino } = await errors.stat();
    for (const [stream, begins] of [[`${dev}:${ino}`, /^<[346]>\d{4}-/], [`${dev}:${ino}0`, /^\d{4}-/]]) {
        await errors.truncate();
        const child = spawn(process.env.LAGRA_BINARY, ['--location', join(folder, stream), ...ANY_PORTS, '--managementPort', '0',
            '--debug', join(folder, 'debug')],
        { stdio: ['ignore', 'pipe', errors.fd], env: { ...process.env, JOURNAL_STREAM: stream } });
        t.after(() => child.kill('SIGKILL'));
        for await (const text of child.stdout.iterator({ destroyOnReturn: false }))
            if (/file service listens/.test(String(text)))
                break;
        assert.equal((await run(['log-level', 'warn', '--location', join(folder, stream)])).code, 0); // which is logged as a warning
        child.kill('SIGTERM');
        await once(child, 'close');
        const lines = (await readFile(join(folder, 'errors'), 'utf8')).trimEnd().split('\n');
        const warning = lines.find((line) => /log level changed to/.test(line));
        assert.match(warning, begins);
        assert.equal(warning.startsWith('<4>'), begins.source.startsWith('^<'));
        assert.doesNotMatch(await readFile(join(folder, 'debug'), 'utf8'), /^</m, 'a file has no priorities');
    }
});
