#!/usr/bin/env node
// Lagra behind nginx, HAProxy and Caddy, as docs/tls-and-proxies.md has them: signed requests, those of SAS, and what a
// client forges. run.mjs [--only WORD]. The client comes from 127.0.0.9, the proxies from 127.0.0.1.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { containerSas } from '../lib/sas.mjs';
import { freePorts, Server } from '../lib/server.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';
import { KINDS, makeCertificate, startProxy } from './proxies.mjs';

const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const OWN = { account: 'acme', key: Buffer.from('a key of our own').toString('base64') };
const CLIENT = '127.0.0.9', FORGED = '203.0.113.9';
const folder = mkdtempSync(path.join(tmpdir(), 'lagra-proxy-'));
const files = makeCertificate(folder);
const ca = readFileSync(files.cert);
const counts = { passed: 0, failed: 0 };

/** A request through a proxy: { status, code, body }. request: as sign() takes it; sas: a query in the place of a signature */
async function ask(front, { method = 'GET', target, headers = [], body = Buffer.alloc(0), sas, secure = true, credentials = OWN }) {
    const port = secure ? front.tls : front.plain;
    const all = [['Host', `localhost:${port}`], ['Content-Length', `${body.length}`], ['x-ms-version', '2024-11-04'], ...headers];
    const request = sas ? { method, target: `${target}${target.includes('?') ? '&' : '?'}${sas}`, headers: all }
        : sign({ method, target, headers: all }, { credentials });
    const sent = (secure ? https : http).request({ host: '127.0.0.1', servername: 'localhost', port, ca, localAddress: CLIENT, method,
        path: request.target, headers: request.headers.flat(), agent: false });
    sent.end(body);
    const [answer] = await once(sent, 'response');
    const parts = [];
    for await (const part of answer)
        parts.push(part);
    return { status: answer.statusCode, code: answer.headers['x-ms-error-code'], headers: answer.headers, body: Buffer.concat(parts) };
}

const inAnHour = () => new Date(Date.now() + 3600e3).toISOString().replace(/\.\d+/, '');
const sasOf = (fields) => containerSas('photos', { sp: 'rwl', se: inAnHour(), ...fields }, OWN);
const LIST = { target: '/acme/photos?restype=container&comp=list' };

/* ---- what is tried through each of them ---- */

async function signedRequests(front) {
    assert.equal((await ask(front, { method: 'PUT', target: '/acme/photos?restype=container' })).status, 201);
    const large = Buffer.alloc(3 << 20, 'large');
    for (const [name, body] of [
        ['plain', Buffer.from('hello')],
        ['empty', Buffer.alloc(0)],
        ['large', large],
        ['a%20b/%C3%BC/%25%2F+~.txt', Buffer.from('odd')],
        ['two//slashes/..%2F/end', Buffer.from('path')],
    ]) {
        const put = await ask(front, { method: 'PUT', target: `/acme/photos/${name}`, body,
            headers: [['x-ms-blob-type', 'BlockBlob'], ['x-ms-meta-with_underscore', 'as it is'], ['Content-Type', 'text/plain; charset=utf-8']] });
        assert.equal(put.status, 201, `${name}: ${put.body}`);
        const got = await ask(front, { target: `/acme/photos/${name}`, headers: [['Range', 'bytes=0-9999999']] });
        assert.ok([200, 206].includes(got.status) || (body.length === 0 && got.status === 416), `${name}: ${got.status}`);
        if (body.length > 0)
            assert.ok(got.body.equals(body), name);
        const head = await ask(front, { method: 'HEAD', target: `/acme/photos/${name}` });
        assert.equal(head.headers['x-ms-meta-with_underscore'], 'as it is');
    }
    const list = await ask(front, LIST);
    assert.equal(list.status, 200);
    // No proxy has joined slashes or taken '..' away: the Blob service does that itself. decision: 39
    assert.ok(list.body.toString().includes('<Name>two///end</Name>'), list.body.toString());
}

async function links(front) {
    for (const [secure, endpoint] of [[true, `https://localhost:${front.tls}/acme/`], [false, `http://localhost:${front.plain}/acme/`]]) {
        const list = await ask(front, { ...LIST, secure });
        assert.equal(list.body.toString().match(/ServiceEndpoint="([^"]*)"/)[1], endpoint);
    }
    // A source on this server is known by the address that its clients use.
    const source = `https://localhost:${front.tls}/acme/photos/plain`;
    const copied = await ask(front, { method: 'PUT', target: '/acme/photos/copied', headers: [['x-ms-copy-source', source]] });
    assert.equal(copied.status, 202, copied.body.toString());
    assert.equal(copied.headers['x-ms-copy-status'], 'success');
    assert.equal((await ask(front, { target: '/acme/photos/copied' })).body.toString(), 'hello');
}

async function sasOfClients(front) {
    for (const [fields, secure, code] of [
        [{ spr: 'https' }, true, undefined],
        [{ spr: 'https' }, false, 'AuthorizationProtocolMismatch'],
        [{ sip: CLIENT }, true, undefined],
        [{ sip: CLIENT, spr: 'https' }, true, undefined],
        [{ sip: '127.0.0.1' }, true, 'AuthorizationSourceIPMismatch'],
    ])
        assert.equal((await ask(front, { ...LIST, sas: sasOf(fields), secure })).code, code, JSON.stringify({ fields, secure }));
}

async function forgeries(front) {
    const claims = [['X-Forwarded-For', FORGED], ['X-Forwarded-Proto', 'https'], ['X-Forwarded-Host', 'evil.example'], ['X-Real-IP', FORGED],
        ['Forwarded', `for=${FORGED};proto=https;host=evil.example`]];
    for (const headers of [...claims.map((one) => [one]), claims]) {
        const bySip = await ask(front, { ...LIST, sas: sasOf({ sip: FORGED }), headers });
        const byScheme = await ask(front, { ...LIST, sas: sasOf({ spr: 'https' }), headers, secure: false });
        assert.equal(bySip.code, 'AuthorizationSourceIPMismatch', JSON.stringify(headers));
        assert.equal(byScheme.code, 'AuthorizationProtocolMismatch', JSON.stringify(headers));
        assert.equal((await ask(front, { ...LIST, sas: sasOf({ sip: CLIENT, spr: 'https' }), headers })).status, 200);
        const list = await ask(front, { ...LIST, headers });
        assert.ok(!list.body.includes('evil.example'));
    }
}

/** The server of another, which has the published key alone. */
async function publishedKey(front) {
    const answer = await ask(front.development, { target: `/${DEVELOPMENT.account}?comp=list`, credentials: DEVELOPMENT });
    assert.equal(answer.status, 403);
    assert.match(answer.body.toString(), /published key is accepted only from this machine/);
}

/** The account of another machine is no account here, nor is one that is for this machine alone. */
async function smb(front) {
    const client = fileURLToPath(new URL('logon.py', import.meta.url));
    const logon = (port, { account, key }) => {
        const ran = spawnSync('/usr/bin/python3', [client, '127.0.0.1', `${port}`, account, key], { encoding: 'utf8', timeout: 60000 });
        return ran.stdout.trim() || ran.stderr;
    };
    assert.equal(logon(front.smbFront, OWN), 'logged on');
    assert.equal(logon(front.development.smbFront, DEVELOPMENT), 'STATUS_ACCESS_DENIED');
    assert.equal(logon(front.smbFront, DEVELOPMENT), 'STATUS_LOGON_FAILURE');
}

const TRIES = { signedRequests, links, sasOfClients, forgeries, publishedKey };

/* ---- servers and proxies ---- */

/** A server, and a proxy before it. own: with an account of its own, else with the published key */
async function makeFront(kind, own) {
    const [tls, plain, smbFront, smbPort] = await freePorts(4);
    const introduces = kind === 'haproxy-tcp';
    const server = await Server.start({
        args: introduces ? ['--proxyProtocol', '127.0.0.1', '--smbPort', `${smbPort}`] : ['--trustProxy', '127.0.0.1'],
        env: own ? { AZURITE_ACCOUNTS: `${OWN.account}:${OWN.key}` } : {}, header: introduces ? 'PROXY UNKNOWN\r\n' : '',
    });
    const stop = await startProxy(kind, { folder, files, tls, plain, blob: server.port, smb: smbPort, smbFront });
    return { tls, plain, server, smbFront, smb: smbPort, stop: () => stop().then(() => server.stop()) };
}

async function attempt(name, what) {
    try {
        await what();
        counts.passed++;
    } catch (error) {
        counts.failed++;
        console.log(`FAILED ${name}: ${error.stack}`);
    }
}

for (const kind of KINDS.filter((name) => name.includes(options.only))) {
    await attempt(`${kind} starts`, async () => {
        const front = await makeFront(kind, true);
        front.development = await makeFront(kind, false);
        const tries = kind === 'haproxy-tcp' ? { ...TRIES, smb } : TRIES;
        for (const [name, what] of Object.entries(tries))
            await attempt(`${kind}: ${name}`, () => what(front));
        await front.stop();
        await front.development.stop();
    });
}
rmSync(folder, { recursive: true, force: true });
console.log(`proxy: ${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1); // servers of a proxy that has not started still run
