// The admin socket, and the commands that ask a running server by it. docs/admin.md
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';

const SOCKET = 'admin.sock';

/** A server of its own, which the test ends. */
async function start(t, options) {
    const server = await Server.start(options);
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

/** One request on the socket: { status, body }, the body as JSON. */
export async function ask(server, target, { method = 'POST', body = '' } = {}) {
    const request = http.request({ socketPath: join(server.location, SOCKET), path: target, method,
        headers: { 'Content-Length': Buffer.byteLength(body) } });
    request.end(body);
    const [answer] = await once(request, 'response');
    const parts = [];
    for await (const part of answer)
        parts.push(part);
    return { status: answer.statusCode, body: JSON.parse(Buffer.concat(parts).toString()) };
}

/** A command that asks the server: { code, output, errors }. */
const command = (server, ...words) => run([...words, '--location', server.location]);

test('status: for people, and for scripts', async (t) => {
    const server = await start(t);
    const people = await command(server, 'status');
    assert.equal(people.code, 0, people.errors);
    assert.match(people.output, new RegExp(`^process +${server.pid}$`, 'm'));
    assert.match(people.output, /^store +healthy$/m);
    for (const [service, port] of Object.entries(server.ports))
        assert.match(people.output, new RegExp(`^${service} +127\\.0\\.0\\.1 +${port} +no$`, 'm'));
    const { output } = await command(server, 'status', '--json');
    const status = JSON.parse(output);
    assert.equal(status.version, (await run(['--version'])).output.trim());
    assert.ok(Math.abs(Date.parse(status.upSince) - Date.now()) < 600000, status.upSince);
    assert.equal(status.store.location, server.location);
    assert.ok(status.store.diskFreeBytes > status.store.diskReserveBytes);
    assert.deepEqual(status.listeners.map(({ name, port, tls }) => [name, port, tls]),
        Object.entries(server.ports).map(([name, port]) => [name, port, false]));
    // What Server.start() asked of the Blob service was a request.
    assert.ok(status.requests.find(({ service }) => service === 'blob').answered >= 1);
    assert.ok(status.store.recordBytes > 0, 'records that are in no file yet are records');
    assert.deepEqual(status.requests.map(({ inFlight }) => inFlight), [0, 0, 0, 0, 0]);
});

test('slowest: requests of the last hour, the slowest first, without queries', async (t) => {
    const server = await start(t, { args: ['--testing', '--managementPort', 'any'] });
    const slow = new Promise((resolve) => {
        // A body that comes late: the request takes as long.
        const request = http.request({ port: server.port, method: 'PUT', path: '/devstoreaccount1/a/slow?sig=secret', headers: { 'Content-Length': 1 } },
            (answer) => answer.resume().on('end', resolve));
        setTimeout(() => request.end('x'), 300);
        request.flushHeaders();
    });
    await Promise.all([slow, fetch(`${server.url}/none/none?sig=secret`)]);
    const { output } = await command(server, 'slowest', '--json');
    const { requests } = JSON.parse(output);
    assert.doesNotMatch(output, /secret/);
    const times = requests.map(({ microseconds }) => microseconds);
    assert.deepEqual(times, times.toSorted((a, b) => b - a));
    const found = requests.find(({ path }) => path === '/devstoreaccount1/none/none');
    assert.equal(found.service, 'blob');
    assert.ok(found.status >= 400 && found.code.length > 0);
    assert.match(found.request, /^[0-9a-f-]{36}$/);
    assert.match((await command(server, 'slowest')).output, /^MICROSECONDS +ENDED +OPERATION +STATUS +CODE +PATH *$/m);
});

test('the folder is found as a server finds it: configuration file, environment, command line', async (t) => {
    const server = await start(t);
    const folder = await mkdtemp(join(tmpdir(), 'lagra-admin-'));
    t.after(() => rm(folder, { recursive: true }));
    const config = join(folder, 'lagra.conf');
    await writeFile(config, `location = ${server.location}\n`);
    assert.equal((await run(['status', '--config', config])).code, 0);
    assert.equal((await run(['status'], { LAGRA_LOCATION: server.location })).code, 0);
    const other = await run(['status', '--config', config, '--location', folder]);
    assert.equal(other.code, 1);
    assert.match(other.errors, /no server runs on this data directory; use --location for another one/);
    assert.match(other.errors, /--inMemoryPersistence has no\s+data directory to call it through: `lagra health --running`/);
});

test('the log has the level that it is told, while the server runs', async (t) => {
    const server = await start(t);
    const asked = async () => fetch(`${server.url}/c/asked?restype=none`).then((answer) => answer.text());
    await asked();
    assert.doesNotMatch(server.stderr, /asked/);
    assert.equal((await command(server, 'log-level', 'debug')).output, 'debug (was info)\n');
    await asked();
    for (let i = 0; i < 6000 && !/ debug .*asked/.test(server.stderr); i++)
        await new Promise((resolve) => setTimeout(resolve, 10));
    assert.match(server.stderr, / debug .*asked/);
    assert.equal(JSON.parse((await command(server, 'log-level', 'error', '--json')).output).before, 'debug');
    const wrong = await command(server, 'log-level', 'loud');
    assert.deepEqual([wrong.code, wrong.errors], [1, 'lagra: The level must be debug, info, warn or error. (InvalidArgument)\n']);
});

test('only its owner may open the socket; it goes with the server, and one that was left is replaced', async (t) => {
    const server = await start(t);
    const path = join(server.location, SOCKET);
    assert.equal((await lstat(path)).mode & 0o777, 0o600);
    const before = (await lstat(path)).ino;
    await server.kill();
    assert.equal((await lstat(path)).ino, before);
    const gone = await command(server, 'status');
    assert.equal(gone.code, 1);
    assert.match(gone.errors, /stale socket/);
    await server.restart();
    assert.equal((await command(server, 'status')).code, 0);
    await server.stop({ keep: true });
    assert.ok(!(await readdir(server.location)).includes(SOCKET));
    assert.match((await command(server, 'status')).errors, /no server runs on this data directory/);
});

test('a process of another user is turned away, whatever the mode of the socket', async (t) => {
    if (process.getuid() !== 0)
        return t.skip('only root can become somebody else');
    const server = await start(t);
    await chmod(server.location, 0o755);
    await chmod(join(server.location, SOCKET), 0o666);
    const connects = 'import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\ntry:\n' +
        '    s.sendall(b"POST /status HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 0\\r\\n\\r\\n")\n    print(s.recv(1000).decode())\n' +
        'except (BrokenPipeError, ConnectionResetError):\n    print("refused")';
    // Not by this Node.js: it may lie in a clone of whose home the other user sees nothing.
    for (const [uid, expected] of [[0, /^HTTP\/1\.1 200/], [65534, /^(refused)?\n$/]]) {
        const child = spawn('/usr/bin/python3', ['-c', connects, join(server.location, SOCKET)], { uid, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
        let got = '';
        child.stdout.on('data', (data) => { got += data; });
        await once(child, 'close');
        assert.match(got, expected);
    }
});

test('a folder whose path is longer than the address of a socket', async (t) => {
    const parent = await mkdtemp(join(tmpdir(), 'lagra-admin-'));
    t.after(() => rm(parent, { recursive: true }));
    const server = await start(t, { location: join(parent, 'x'.repeat(200)) });
    assert.equal((await command(server, 'status')).code, 0);
});

test('a file that lies where the socket goes is kept, and the server runs without', async (t) => {
    const server = await start(t);
    await server.stop({ keep: true });
    await writeFile(join(server.location, SOCKET), 'mine');
    await server.restart();
    assert.match(server.stderr, /no admin socket at .*: File exists/);
    assert.equal((await stat(join(server.location, SOCKET))).size, 4);
});

test('a second server on the folder is refused, and the first one keeps its socket', async (t) => {
    const server = await start(t);
    const second = await run(['--location', server.location, '--blobPort', '0']);
    assert.equal(second.code, 1);
    assert.match(second.errors, /another process is using this data directory/);
    assert.equal((await command(server, 'status')).code, 0);
});

test('what the socket refuses', async (t) => {
    const server = await start(t);
    for (const [target, asked, status, code] of [
        ['/nonsense', {}, 404, 'NoSuchOperation'],
        ['/', {}, 404, 'NoSuchOperation'],
        ['/status', { method: 'GET' }, 405, 'NoSuchMethod'],
        ['/status?x=1', {}, 400, 'InvalidArgument'],
        ['/status', { body: '{"level":"info"}' }, 400, 'InvalidArgument'],
        ['/log-level', {}, 400, 'InvalidArgument'],
        ['/log-level', { body: '{}' }, 400, 'InvalidArgument'],
        ['/log-level', { body: '{"level":1}' }, 400, 'InvalidArgument'],
        ['/log-level', { body: '{"level":""}' }, 400, 'InvalidArgument'],
        ['/log-level', { body: '{"level":"info","level":"info"}' }, 400, 'InvalidArgument'],
        ['/log-level', { body: '{"level":"in\\u0000fo"}' }, 400, 'InvalidArgument'],
        ['/log-level', { body: '["info"]' }, 400, 'InvalidArgument'],
        ['/log-level', { body: '{"level":"info"' }, 400, 'InvalidArgument'],
        ['/log-level', { body: `{"level":"${'x'.repeat(70000)}"}` }, 413, 'InvalidArgument'],
    ]) {
        const { status: got, body } = await ask(server, target, asked);
        assert.deepEqual([got, body.code], [status, code], `${target} ${JSON.stringify(asked)}`.slice(0, 100));
        assert.ok(body.error.length > 0);
    }
    assert.deepEqual((await ask(server, '/log-level', { body: '{"level":"info"}' })).body, { level: 'info', before: 'info' });
});

test('connections are bounded: one that is idle makes room for a new one', async (t) => {
    const server = await start(t);
    const open = [];
    t.after(() => open.forEach((socket) => socket.destroy()));
    for (let i = 0; i < 40; i++) {
        const socket = net.connect(join(server.location, SOCKET));
        socket.on('error', () => {});
        socket.closed_ = once(socket, 'close');
        await once(socket, 'connect');
        open.push(socket);
    }
    await Promise.all(open.slice(0, 20).map((socket) => socket.closed_));
    assert.equal((await ask(server, '/status')).status, 200);
});

test('how commands are called: what is wrong is said, with exit code 2', async () => {
    for (const [words, message] of [
        [['status', 'x'], /status: accepts only options/],
        [['log-level'], /log-level: expects LEVEL, not 0 arguments/],
        [['log-level', 'a', 'b'], /expects LEVEL, not 2 arguments/],
        [['status', '--nonsense'], /"--nonsense" is not an option of this command\. /],
        [['status', '--loction', '.'], /"--loction" is not an option of this command; did you mean --location\?/],
        [['sas', 'blob', '--permision', 'r', 'c', 'b'], /"--permision" is not an option of this command; did you mean --permissions\?/],
        [['status', '--location'], /"--location" has a missing or unexpected value/],
        [['status', '--config', '/nonsense'], /cannot read \/nonsense/],
    ]) {
        const { code, errors } = await run(words);
        assert.equal(code, 2, `${words}: ${errors}`);
        assert.match(errors, message);
    }
    const help = await run(['log-level', '--help']);
    assert.equal(help.code, 0);
    assert.match(help.output, /lagra log-level LEVEL/);
    assert.match((await run(['statsu'])).errors, /did you mean lagra status\?/);
});
