// Who may use the management port: no page of another web site, also not under a name that was pointed at this machine; and
// what it says to orchestrators. decision: 551
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePorts, Server } from '../lib/server.mjs';

/** The status of a request whose head is exactly this. */
function statusOf(port, lines, body = '') {
    return new Promise((resolve, reject) => {
        const socket = net.connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`));
        let text = '';
        socket.on('data', (data) => {
            text += data;
            if (text.includes('\r\n')) {
                socket.destroy();
                resolve(Number(text.split(' ')[1]));
            }
        });
        socket.on('close', () => reject(new Error(`closed after ${text}`)));
        socket.on('error', reject);
    });
}

async function start(t, args = []) {
    const [port] = await freePorts(1);
    const server = await Server.start({ args: ['--managementPort', `${port}`, '--testing', ...args] });
    t.after(() => server.kill().then(() => server.remove()));
    const ask = (target, host, headers = [], body = '') => statusOf(port, [`${target} HTTP/1.1`, `Host: ${host}`,
        ...(/^(PUT|POST)/.test(target) ? [`Content-Length: ${body.length}`] : []), ...headers], body);
    return { server, port, ask };
}

const RULE = '{"when":{},"then":{"status":503}}';
/** [target, body, status if it is let in] */
const ALL = [
    ['GET /metrics', '', 200], ['HEAD /metrics', '', 200], ['GET /-/live', '', 200], ['GET /-/ready', '', 200],
    ['GET /-/faults', '', 200], ['PUT /-/faults/no', RULE, 400], ['DELETE /-/faults', '', 200], ['GET /-/time', '', 200],
    ['PUT /-/time', '{"forwardSeconds":1}', 200], ['GET /-/snapshots', '', 200], ['PUT /-/snapshots/base', '', 200],
    ['PUT /-/snapshots/base/loaded', '', 200], ['DELETE /-/snapshots/base', '', 200], ['GET /other', '', 404],
];

test('a page that has pointed its name here reaches nothing', async (t) => {
    const { port, ask } = await start(t);
    for (const [target, body] of ALL)
        for (const host of [`evil.example:${port}`, 'evil.example', `127.0.0.1.evil.example:${port}`, `localhost.evil.example:${port}`])
            // What a browser says of a request to the page's own name.
            for (const headers of [[], [`Origin: http://${host}`], ['Sec-Fetch-Site: same-origin'], ['Authorization: Bearer guess']])
                assert.equal(await ask(target, host, headers, body), 421, `${target} as ${host}`);
});

test('a page of another site or port reaches nothing', async (t) => {
    const { port, ask } = await start(t);
    for (const [target, body] of ALL)
        for (const headers of [['Sec-Fetch-Site: cross-site'], ['Sec-Fetch-Site: same-site'], ['Origin: http://evil.example'],
            ['Origin: null'], [`Origin: https://127.0.0.1:${port}`], [`Origin: http://localhost:${port}`]])
            assert.equal(await ask(target, `127.0.0.1:${port}`, headers, body), 403, `${target} with ${headers}`);
});

test('programs, probes, the address bar and own pages reach all of it', async (t) => {
    const { port, ask } = await start(t);
    for (const [host, ...headers] of [[`127.0.0.1:${port}`], [`localhost:${port}`], [`a.localhost:${port}`], [`[::1]:${port}`],
        ['10.1.2.3:9090'], // a probe by a container's address
        [`127.0.0.1:${port}`, `Origin: http://127.0.0.1:${port}`], [`127.0.0.1:${port}`, 'Sec-Fetch-Site: same-origin'],
        [`127.0.0.1:${port}`, 'Sec-Fetch-Site: none']])
        for (const [target, body, status] of ALL)
            assert.equal(await ask(target, host, headers, body), status, `${target} as ${host} with ${headers}`);
    // Health checks of HAProxy name no host.
    assert.equal(await statusOf(port, ['GET /-/ready HTTP/1.0']), 200);
    assert.equal(await statusOf(port, ['GET /metrics HTTP/1.0']), 200);
});

test('a proxy asks by a configured name', async (t) => {
    const { port, ask } = await start(t, ['--managementNames', 'metrics.example,lagra']);
    for (const host of ['metrics.example', 'METRICS.example', `lagra:${port}`])
        assert.equal(await ask('GET /metrics', host), 200, host);
    for (const host of ['other.example', 'x.metrics.example', 'lagra.evil.example'])
        assert.equal(await ask('GET /metrics', host), 421, host);
    assert.equal(await ask('GET /metrics', 'lagra', ['Origin: http://evil.example']), 403);
});

test('a token lets its owner in by any name; health needs none', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-token-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'token'), 'a token of its own\n');
    const { port, ask } = await start(t, ['--managementToken', join(folder, 'token')]);
    assert.equal(await ask('GET /metrics', 'lagra.monitoring.svc:9090', ['Authorization: Bearer a token of its own']), 200);
    assert.equal(await ask('GET /metrics', 'lagra.monitoring.svc:9090'), 421);
    assert.equal(await ask('GET /metrics', `127.0.0.1:${port}`), 401);
    assert.equal(await ask('GET /-/ready', `127.0.0.1:${port}`), 200);
    assert.equal(await ask('GET /-/live', '10.1.2.3'), 200);
});
