// The console's part of the server: who is signed in, what browsers are told, whose requests are refused.
// docs/console.md; decisions: 550, 551, 552
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { newCertificate } from '../lib/certificate.mjs';
import { run } from '../lib/program.mjs';
import { account, key, startServer, Visitor } from './setup.mjs';

/** One GET with a Host header of one's own: fetch() sets it itself. */
function getAs(port, host, path = '/console/') {
    return new Promise((resolve, reject) => http.get({ host: '127.0.0.1', port, path, headers: { Host: host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
    }).once('error', reject));
}

test('pages are compressed, and their content security policy allows only their own scripts', async (t) => {
    const { url } = await startServer(t);
    const visitor = new Visitor(url);
    const page = await visitor.fetch('/console/');
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('content-encoding'), 'gzip');
    assert.match(page.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.match(page.headers.get('content-security-policy'), /connect-src 'self';.*frame-ancestors 'none'; require-trusted-types-for 'script'/);
    for (const [name, value] of Object.entries({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin', 'cache-control': 'no-cache' }))
        assert.equal(page.headers.get(name), value, name);
    const script = /src="(app-[^"]+\.js)"/.exec(page.text)[1];
    const asset = await visitor.fetch(`/console/${script}`);
    assert.equal(asset.headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(asset.headers.get('cache-control'), 'private, max-age=31536000, immutable');
    assert.doesNotMatch(page.text, /<script(?![^>]*src=)|style=|\son\w+=/);
    assert.equal((await visitor.fetch('/')).headers.get('location'), '/console/');
    assert.equal((await visitor.fetch('/console')).status, 302);
    assert.equal((await visitor.fetch('/console/../metrics')).status, 200); // fetch() has made it /metrics
    assert.equal((await visitor.fetch('/console/app.js')).status, 404);
    assert.equal((await visitor.fetch('/console/', { method: 'PUT' })).status, 405);
});

/** One GET with exactly these headers: fetch() adds Accept-Encoding and decodes the body. */
function getRaw(port, path, headers) {
    return new Promise((resolve, reject) => http.get({ host: '127.0.0.1', port, path, headers }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part)).on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
    }).once('error', reject));
}

// rfc: 9110 12.5.3 (Accept-Encoding), 13.1.2 (If-None-Match), 15.4.5 (304)
test('pages are compressed for clients that accept it, and not sent again while unchanged', async (t) => {
    const { url, port } = await startServer(t);
    const { text } = await new Visitor(url).fetch('/console/');
    const names = ['', /src="(app-[^"]+)"/.exec(text)[1], /href="(style-[^"]+)"/.exec(text)[1], 'licenses.txt'];
    for (const name of names) {
        const get = (headers) => getRaw(port, `/console/${name}`, headers);
        const packed = await get({ 'Accept-Encoding': 'br, gzip;q=0.5' });
        const plain = await get({});
        assert.equal(packed.headers['content-encoding'], 'gzip', name);
        assert.equal(plain.headers['content-encoding'], undefined, name);
        assert.ok(gunzipSync(packed.body).equals(plain.body), name);
        assert.ok(packed.body.length < plain.body.length, name);
        for (const [accepted, encoding] of [['identity', undefined], ['gzip;q=0', undefined], ['*', 'gzip'], ['GZIP ; Q=0.001', 'gzip'], ['*;q=0', undefined],
            ['*;q=0, x-gzip', 'gzip'], ['*, gzip;q=0.000', undefined], ['deflate', undefined], ['', undefined]])
            assert.equal((await get({ 'Accept-Encoding': accepted })).headers['content-encoding'], encoding, `${name} ${accepted}`);
        for (const answer of [packed, plain]) {
            const { etag, vary, 'content-encoding': encoding } = answer.headers;
            const gzip = encoding ? { 'Accept-Encoding': 'gzip' } : {};
            assert.match(vary, /^Accept-Encoding$/i);
            for (const known of [etag, `"other", W/${etag}`, '*']) {
                const again = await get({ 'If-None-Match': known, ...gzip });
                assert.deepEqual([again.status, again.body.length, again.headers.etag, again.headers.vary], [304, 0, etag, vary], `${name} ${known}`);
                assert.equal(again.headers['content-type'], undefined);
            }
            assert.equal((await get({ 'If-None-Match': '"other"', ...gzip })).status, 200);
        }
        assert.notEqual(packed.headers.etag, plain.headers.etag, name);
    }
});

test('unknown host names are refused (DNS rebinding)', async (t) => {
    const { port } = await startServer(t);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `a.localhost:${port}`, `[::1]:${port}`])
        assert.equal(await getAs(port, host), 200, host);
    for (const host of [`evil.example:${port}`, `127.0.0.1.evil.example:${port}`, 'localhost.evil.example', 'evil.example', '10.0.0.1'])
        assert.ok([400, 421].includes(await getAs(port, host)), host);
});

test('a key signs in; scripts cannot read the cookie; every request needs a token', async (t) => {
    const { url, port } = await startServer(t);
    const visitor = new Visitor(url);
    assert.equal((await visitor.ask('session')).status, 401);
    const answer = await visitor.signIn();
    assert.match(answer.headers.get('set-cookie'), new RegExp(`^lagra_console_${port}=[0-9a-f]{64}; Path=/console/; HttpOnly; SameSite=Strict$`));
    assert.deepEqual((await visitor.ask('session')).json.accounts, [account]);
    assert.equal((await visitor.ask('session')).json.operator, false);
    assert.equal((await visitor.ask('session', {}, { 'x-lagra-console': '' })).status, 401);
    assert.equal((await visitor.ask('session', {}, { 'x-lagra-console': 'f'.repeat(64) })).status, 401);
    assert.equal((await visitor.ask('session', {}, { Cookie: `lagra_console_${port}=${'0'.repeat(64)}` })).status, 401);
    assert.equal((await visitor.ask('session', {}, { Cookie: visitor.cookie.replace(port, '1') })).status, 401);
    // What only an operator may ask.
    assert.equal((await visitor.ask('admin/account-list')).status, 403);
    assert.equal((await visitor.ask('sign-out')).status, 200);
    assert.equal((await visitor.ask('session')).status, 401);
});

test('wrong keys are refused, and after many of them sign-ins are throttled', async (t) => {
    const { url } = await startServer(t);
    const visitor = new Visitor(url);
    const wrong = key.replace(/^.{4}/, 'AAAA');
    for (const by of [{ account, key: wrong }, { account: 'nobody', key }, { account, key: key.slice(0, 40) }, { link: 'a'.repeat(64) }]) {
        const answer = await visitor.ask('sign-in', by);
        assert.deepEqual([answer.status, answer.json.code], [403, 'AuthenticationFailed']);
        assert.equal(answer.headers.get('set-cookie'), null);
    }
    for (const by of [{}, { account }, { key }, { account, key: '' }, { password: 'x' }])
        assert.equal((await visitor.ask('sign-in', by)).status, 400, JSON.stringify(by));
    const failed = await Promise.all(Array.from({ length: 60 }, () => visitor.ask('sign-in', { account, key: wrong })));
    const slowed = failed.find(({ status }) => status === 429);
    assert.equal(slowed.headers.get('retry-after'), '1');
    const right = await visitor.ask('sign-in', { account, key });
    assert.ok(right.status === 429 || right.status === 200);
});

test('requests from pages of other sites, and navigations to data, are refused', async (t) => {
    const { url } = await startServer(t);
    const visitor = new Visitor(url);
    await visitor.signIn();
    const target = await visitor.data('blob', '/', 'comp=list');
    const refused = async (headers) => {
        for (const answer of [await visitor.ask('session', {}, headers), await visitor.fetch(target, { headers })])
            assert.deepEqual([answer.status, answer.json?.code], [403, 'OtherSite'], JSON.stringify(headers));
    };
    await refused({ Origin: 'http://evil.example' });
    await refused({ Origin: url.replace('127.0.0.1', 'localhost') });
    await refused({ Origin: 'null' });
    await refused({ 'Sec-Fetch-Site': 'cross-site' });
    await refused({ 'Sec-Fetch-Site': 'same-site' }); // another port of this host
    await refused({ 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'script' });
    await refused({ 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'iframe' });
    assert.equal((await visitor.fetch(target, { headers: { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'empty' } })).status, 200);
    assert.equal((await visitor.ask('session', {}, { 'Content-Type': 'text/plain' })).status, 415);
    assert.equal((await visitor.fetch('/console/api/session')).status, 405);
    assert.equal((await visitor.ask('nothing')).status, 404);
    assert.equal((await visitor.ask('sas', { account, more: 'x' })).status, 400);
    assert.equal((await visitor.ask('sas', { account: 'x'.repeat(20000) })).status, 413);
});

test('data is relayed over the management port with the permissions of the services, and cannot be executed', async (t) => {
    const { url } = await startServer(t);
    const visitor = new Visitor(url);
    await visitor.signIn();
    const put = async (target, query, options) => visitor.fetch(await visitor.data('blob', target, query), { method: 'PUT', ...options });
    assert.equal((await put('/page', 'restype=container')).status, 201);
    assert.equal((await put('/page/evil.html', '', { body: '<script>alert(1)</script>',
        headers: { 'x-ms-blob-type': 'BlockBlob', 'Content-Type': 'text/html' } })).status, 201);
    const blob = await visitor.fetch(await visitor.data('blob', '/page/evil.html'), { headers: { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'document' } });
    assert.equal(blob.text, '<script>alert(1)</script>');
    assert.equal(blob.headers.get('content-security-policy'), "default-src 'none'; sandbox; frame-ancestors 'none'");
    assert.equal(blob.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(blob.headers.get('cross-origin-resource-policy'), 'same-origin');
    // The session alone permits nothing, nor does a signature without a session.
    assert.equal((await visitor.fetch(`/console/data/blob/${account}/page/evil.html`)).status, 404);
    const target = await visitor.data('blob', '/page/evil.html');
    assert.equal((await new Visitor(url).fetch(target)).status, 401);
    assert.equal((await visitor.fetch(target.replace('/blob/', '/disk/'))).status, 404);
    assert.equal((await visitor.fetch(`${target}x`)).status, 403);
    for (const service of ['queue', 'file'])
        assert.equal((await visitor.fetch(await visitor.data(service, '/', 'comp=list'))).status, 200, service);
    assert.equal((await visitor.fetch(await visitor.data('table', '/Tables'), { headers: { Accept: 'application/json' } })).status, 200);
    // Bodies of more than a buffer, both ways.
    const large = Buffer.alloc(5 << 20, 'x');
    assert.equal((await put('/page/large', '', { body: large, headers: { 'x-ms-blob-type': 'BlockBlob' } })).status, 201);
    assert.equal((await visitor.fetch(await visitor.data('blob', '/page/large'))).text.length, large.length);
});

test('a link is valid for one sign-in as operator, who sees and changes all accounts', async (t) => {
    const { url, link, server } = await startServer(t);
    const secret = (await link()).split('#link=')[1];
    const visitor = new Visitor(url);
    await visitor.signIn({ link: secret });
    assert.equal((await visitor.ask('session')).json.operator, true);
    assert.equal((await new Visitor(url).ask('sign-in', { link: secret })).status, 403);
    const { json } = await visitor.ask('admin/account-add', { name: 'photos' });
    assert.deepEqual((await visitor.ask('session')).json.accounts.sort(), [account, 'photos']);
    assert.equal((await visitor.ask('sas', { account: 'photos' })).status, 200);
    assert.equal((await visitor.ask('admin/backup-begin')).status, 404);
    assert.equal((await visitor.ask('admin/account-list', {}, { 'Sec-Fetch-Site': 'cross-site' })).status, 403);

    // Who has signed in with a key is out when it is made anew; he never was in another account.
    const holder = new Visitor(url);
    await holder.signIn({ account: 'photos', key: json.key1 });
    assert.equal((await holder.ask('sas', { account })).status, 404);
    assert.equal((await holder.ask('sas', { account: 'photos' })).status, 200);
    const second = new Visitor(url);
    await second.signIn({ account: 'photos', key: json.key2 });
    assert.equal((await run(['account', 'rotate-key', 'photos', '1', '--location', server.location])).code, 0);
    assert.equal((await holder.ask('session')).status, 401);
    assert.equal((await second.ask('session')).status, 200);
    assert.equal((await run(['account', 'disable', 'photos', '--location', server.location])).code, 0);
    assert.equal((await second.ask('session')).status, 401);
    assert.equal((await new Visitor(url).ask('sign-in', { account: 'photos', key: json.key2 })).status, 403);
});

test('a SAS is created from the chosen fields if they are well formed', async (t) => {
    const { url } = await startServer(t);
    const visitor = new Visitor(url);
    await visitor.signIn();
    const fields = (query) => ({ account, service: 'b', container: 'c', object: 'blob', query });
    const made = await visitor.ask('make-sas', fields('sv=2022-11-02&sr=b&sp=r&se=2099-01-01T00:00:00Z'));
    assert.match(made.json.query, /^sv=2022-11-02&sr=b&sp=r&se=2099-01-01T00:00:00Z&sig=[A-Za-z0-9%]+$/);
    for (const wrong of [fields('sv=2022-11-02&sr=b&sp=r&se=tomorrow'), fields('sv=1'), { ...fields('sv=2022-11-02'), service: 'x' }, { account }])
        assert.equal((await visitor.ask('make-sas', wrong)).status, 400, JSON.stringify(wrong));
    assert.equal((await visitor.ask('make-sas', { ...fields('sv=2022-11-02&sr=b&sp=r&se=2099-01-01'), account: 'other' })).status, 404);
});

test('requests are signed only for access and policies of the session\'s account', async (t) => {
    const { url } = await startServer(t);
    const visitor = new Visitor(url);
    await visitor.signIn();
    const text = (method, query) => `${method}${'\n'.repeat(12)}x-ms-date:now\n/${account}/${account}/c\n${query}`;
    const made = await visitor.ask('sign-request', { account, text: text('PUT', 'comp:acl\nrestype:container') });
    assert.equal(made.json.signature, createHmac('sha256', Buffer.from(key, 'base64')).update(text('PUT', 'comp:acl\nrestype:container')).digest('base64'));
    for (const wrong of [text('PUT', 'comp:metadata'), text('DELETE', 'comp:acl'), text('rw', 'comp:acl'), ''])
        assert.equal((await visitor.ask('sign-request', { account, text: wrong })).status, 400, wrong);
    assert.equal((await visitor.ask('sign-request', { account: 'other', text: text('GET', 'comp:acl') })).status, 404);
    assert.equal((await new Visitor(url).ask('sign-request', { account, text: text('GET', 'comp:acl') })).status, 401);
});

test('off disables the console; on other addresses than loopback it requires a certificate; metrics are unchanged', async (t) => {
    const off = await startServer(t, { args: ['--console=off'] });
    assert.equal((await new Visitor(off.url).fetch('/console/')).status, 404);
    assert.equal((await new Visitor(off.url).fetch('/metrics')).status, 200);
    const { code, errors } = await run(['console', '--location', off.server.location]);
    assert.equal(code, 1);
    assert.match(errors, /no console/);
    const named = await startServer(t, { args: ['--managementNames', 'any.example'] });
    for (const target of ['/metrics', '/console/'])
        assert.deepEqual(await Promise.all(['any.example', 'other.example'].map((host) => getAs(named.port, host, target))), [200, 421]);
    assert.equal((await run(['serve', '--console', 'maybe'])).code, 2);
});

test('with a certificate any host name is served, and the cookie is sent over TLS only; without one, only loopback', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-console-'));
    t.after(() => rm(folder, { recursive: true }));
    const { cert, key: pem } = newCertificate(folder);
    const token = path.join(folder, 'token');
    await writeFile(token, `${'t'.repeat(32)}\n`);

    const open = ['--managementHost', '0.0.0.0', '--managementToken', token];
    const plain = await startServer(t, { args: open });
    assert.equal((await new Visitor(plain.url).fetch('/console/')).status, 401); // as everything there
    assert.equal((await run(['console', '--location', plain.server.location])).code, 1);

    const secure = await startServer(t, { args: [...open, '--cert', cert, '--key', pem], secure: true });
    assert.match(await secure.link(), new RegExp(`^https://localhost:${secure.port}/console/#link=`));
    const ask = (headers, body) => new Promise((resolve, reject) => https.request({ host: '127.0.0.1', port: secure.port, rejectUnauthorized: false,
        path: body ? '/console/api/sign-in' : '/console/', method: body ? 'POST' : 'GET', headers: { Host: `storage.example:${secure.port}`, ...headers } }, (answer) => {
        answer.resume();
        resolve(answer);
    }).once('error', reject).end(body));
    assert.equal((await ask({})).statusCode, 200);
    const signedIn = await ask({ Origin: `https://storage.example:${secure.port}`, 'Content-Type': 'application/json' }, JSON.stringify({ account, key }));
    assert.equal(signedIn.statusCode, 200);
    assert.match(signedIn.headers['set-cookie'][0], /; HttpOnly; SameSite=Strict; Secure$/);
    const crossed = await ask({ Origin: `http://storage.example:${secure.port}`, 'Content-Type': 'application/json' }, JSON.stringify({ account, key }));
    assert.equal(crossed.statusCode, 403);
});
