// /-/live and /-/ready, which orchestrators ask without an account. decision: 343
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Connection } from '../lib/http.mjs';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { sign } from '../lib/sign.mjs';

async function ask(server, port, path, method = 'GET') {
    const connection = await Connection.open(server.host, port);
    try {
        return await connection.exchange({ method, target: path, headers: [['Host', `${server.host}:${port}`]] });
    } finally {
        connection.close();
    }
}

test('every service says that it lives and is ready, to everybody', async (t) => {
    const server = await Server.start();
    t.after(() => server.kill().then(() => server.remove()));
    for (const port of Object.values(server.ports)) {
        for (const [path, text] of [['/-/live', 'live\n'], ['/-/ready', 'ready\n']]) {
            const got = await ask(server, port, path);
            assert.equal(got.status, 200);
            assert.equal(got.headers.get('content-type'), 'text/plain');
            assert.equal(got.body.toString(), text);
            const head = await ask(server, port, path, 'HEAD');
            assert.equal(head.status, 200);
            assert.equal(head.body.length, 0);
        }
        for (const [path, method] of [['/-/live', 'PUT'], ['/-/other', 'GET'], ['/-/ready/x', 'GET'], ['/-', 'GET']])
            assert.ok((await ask(server, port, path, method)).status >= 400, `${method} ${path}`);
    }
});

test('a disk below the reserve: not ready, with the reason, and alive', async (t) => {
    // More than any disk has: nothing that grows is taken.
    const server = await Server.start({ args: ['--diskReserve', '1000000'] });
    t.after(() => server.kill().then(() => server.remove()));
    const ready = await ask(server, server.port, '/-/ready');
    assert.equal(ready.status, 503);
    assert.equal(ready.body.toString(), 'free disk space is below the reserve; requests that need more are refused\n');
    assert.equal((await ask(server, server.port, '/-/live')).status, 200);
    const ports = Object.entries(server.ports).flatMap(([service, port]) => [`--${service}Port`, `${port}`]);
    const asked = await run(['health', ...ports]);
    assert.equal(asked.code, 1);
    assert.match(asked.errors, /^lagra: the blob service is not ready: \S+\/-\/ready: 503, free disk space is below the reserve/);
    assert.deepEqual(await run(['health', '--live', ...ports]), { code: 0, output: '', errors: '' });

    const { code, output, errors } = await run(['health', '--json', ...ports]);
    assert.equal(code, 1);
    assert.equal(errors, '');
    const { services, ...rest } = JSON.parse(output);
    assert.deepEqual(rest, { ready: false });
    assert.deepEqual(services.map(({ service, ready: isReady }) => [service, isReady]), ['blob', 'queue', 'table', 'file', 'dfs'].map((name) => [name, false]));
    assert.match(services[0].problem, /503, free disk space is below the reserve/);
    assert.deepEqual(JSON.parse((await run(['health', ...ports.slice(0, 2), '--json', '--live'])).output),
        { live: true, services: [{ service: 'blob', live: true }] });
});

test('a server that stops with a delay serves meanwhile, and says that it is not ready', async (t) => {
    const server = await Server.start({ args: ['--stopDelay', '1m'] });
    t.after(() => server.kill().then(() => server.remove()));
    const ended = server.terminate();
    let ready;
    do {
        ready = await ask(server, server.port, '/-/ready');
    } while (ready.status === 200);
    assert.equal(ready.status, 503);
    assert.equal(ready.body.toString(), 'the server is stopping\n');
    assert.equal((await ask(server, server.port, '/-/live')).status, 200);
    const target = `/${server.account}/late?restype=container`;
    const connection = await Connection.open(server.host, server.port);
    t.after(() => connection.close());
    assert.equal((await connection.exchange(sign({ method: 'PUT', target, headers: [['Host', `${server.host}:${server.port}`], ['Content-Length', '0']] }))).status, 201);
    process.kill(server.pid, 'SIGTERM'); // a second one does not wait
    assert.deepEqual(await ended, { code: 0, signal: null });
});

test('a delay has a limit', async () => {
    const { code, errors } = await run(['--stopDelay', '601s']);
    assert.equal(code, 2);
    assert.equal(errors, 'lagra: --stopDelay takes 1ms to 10m\n');
});

test('health --running goes with no option of a server, and says so', async () => {
    const { code, errors } = await run(['health', '--running', '--blobPort', '1']);
    assert.equal(code, 2);
    assert.match(errors, /^lagra: health --running checks all servers on this machine; "--blobPort" does not apply$/m);
});
