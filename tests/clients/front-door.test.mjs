// Requests that come by a proxy: --trustProxy, --proxyProtocol. Proxies here are connections from 127.0.0.3, whose
// headers are believed, and from 127.0.0.2, which begin with a PROXY header. decision: 362, 363, 364
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newCertificate } from '../lib/certificate.mjs';
import { Connection } from '../lib/http.mjs';
import { run } from '../lib/program.mjs';
import { containerSas } from '../lib/sas.mjs';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';
import { until } from './setup.mjs';

const OWN = { account: 'acme', key: Buffer.from('a key of our own').toString('base64') };
const PROXY = '127.0.0.3', INTRODUCES = '127.0.0.2';
const PROXIES = ['--trustProxy', `${PROXY},10.0.0.0/8`, '--proxyProtocol', INTRODUCES];
const CLIENT = '203.0.113.7';

async function newServer(t, { args = PROXIES, own = true, ...options } = {}) {
    const server = await Server.start({ args, env: own ? { AZURITE_ACCOUNTS: `${OWN.account}:${OWN.key}` } : {}, ...options });
    server.credentials = own ? OWN : DEVELOPMENT;
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

/** One request on a connection of its own. headers: an object; sas: a query in the place of a signature; null: neither */
async function ask(server, { method = 'GET', path = '', query = '', headers = {}, sas, from = PROXY, header, body = '', host = 'storage.example' } = {}) {
    const connection = await Connection.open(server.host, server.port, server.secure, { from, header });
    const all = [['Host', host], ['Content-Length', `${body.length}`], ...Object.entries(headers).flatMap(([name, value]) =>
        [value].flat().map((one) => [name, one]))];
    const request = { method, target: `/${server.credentials.account}${path}${query}`, headers: all };
    try {
        if (sas === undefined)
            return await connection.exchange(sign(request, { credentials: server.credentials }), Buffer.from(body));
        if (sas !== null)
            request.target += `${query ? '&' : '?'}${sas}`;
        return await connection.exchange({ ...request, headers: [...all, ['x-ms-version', '2024-11-04']] }, Buffer.from(body));
    } finally {
        connection.close();
    }
}

const codeOf = (answer) => [answer.status, answer.headers.get('x-ms-error-code')];
const inAnHour = () => new Date(Date.now() + 3600e3).toISOString().replace(/\.\d+/, '');
const sasOf = (server, fields) => containerSas('photos', { sp: 'rl', se: inAnHour(), ...fields }, server.credentials);
const LIST = { path: '/photos', query: '?restype=container&comp=list' };

async function makeContainer(server) {
    assert.equal((await ask(server, { method: 'PUT', path: '/photos', query: '?restype=container' })).status, 201);
}

/** A header of version 2. more: TLVs */
function binary({ client = CLIENT, port = 5000, command = 1, more = Buffer.alloc(0) } = {}) {
    const body = Buffer.concat([Buffer.from([...client.split('.').map(Number), 127, 0, 0, 1]), Buffer.from([port >> 8, port & 255, 1, 187]), more]);
    return Buffer.concat([Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'), Buffer.from([0x20 | command, 0x11, body.length >> 8, body.length & 255]), body]);
}
const line = (client = CLIENT) => `PROXY TCP4 ${client} 127.0.0.1 5000 443\r\n`;
const BY_TLS = Buffer.from([0x20, 0, 5, 1, 0, 0, 0, 0]);

test('a SAS for https alone is taken when a trusted proxy says https, from no one else', async (t) => {
    const server = await newServer(t);
    await makeContainer(server);
    const sas = sasOf(server, { spr: 'https' });
    const refused = [403, 'AuthorizationProtocolMismatch'];
    for (const [headers, code, from] of [
        [{ 'X-Forwarded-Proto': 'https' }, [200, undefined]],
        [{ 'X-Forwarded-Proto': 'http' }, refused],
        [{ 'X-Forwarded-For': CLIENT }, refused],
        [{ 'X-Forwarded-Proto': ['http', 'https'] }, refused],
        [{ Forwarded: `for=${CLIENT};proto=https` }, [200, undefined]],
        [{ Forwarded: `for=${CLIENT};proto=https, for=${CLIENT};proto=http` }, refused],
        [{}, refused],
        [{ 'X-Forwarded-Proto': 'https' }, refused, '127.0.0.1'],
        [{ Forwarded: 'proto=https' }, refused, '127.0.0.1'],
    ])
        assert.deepEqual(codeOf(await ask(server, { ...LIST, sas, headers, from })), code, JSON.stringify(headers));
});

test('a SAS for an address sees the client, not what the client says', async (t) => {
    const server = await newServer(t);
    await makeContainer(server);
    const sas = sasOf(server, { sip: CLIENT });
    for (const [headers, seen, from] of [
        [{ 'X-Forwarded-For': CLIENT }, null],
        [{ 'X-Forwarded-For': `198.51.100.1, ${CLIENT}` }, null],
        [{ 'X-Forwarded-For': `${CLIENT}, 10.1.2.3` }, null],
        [{ 'X-Forwarded-For': [CLIENT, '10.1.2.3'] }, null],
        [{ 'X-Forwarded-For': `${CLIENT}:41234` }, null],
        [{ Forwarded: `for="${CLIENT}:41234"` }, null],
        [{ 'X-Forwarded-For': `${CLIENT}, 198.51.100.1` }, '198.51.100.1'],
        [{ 'X-Forwarded-For': [CLIENT, '198.51.100.1'] }, '198.51.100.1'],
        [{ 'X-Forwarded-For': '2001:db8::7' }, '[2001:db8::7]'],
        [{ 'X-Forwarded-For': 'unknown' }, 'unknown'],
        [{ 'X-Forwarded-Proto': 'https' }, PROXY],
        [{ 'X-Forwarded-For': CLIENT }, '127.0.0.1', '127.0.0.1'],
    ]) {
        const answer = await ask(server, { ...LIST, sas, headers, from });
        if (seen === null) {
            assert.equal(answer.status, 200, JSON.stringify(headers));
            continue;
        }
        assert.deepEqual(codeOf(answer), [403, 'AuthorizationSourceIPMismatch'], JSON.stringify(headers));
        assert.ok(answer.body.toString().includes(`using this source IP ${seen}.`), answer.body.toString());
    }
});

test('what a trusted proxy cannot have meant is 400; from others it is passed over', async (t) => {
    const server = await newServer(t);
    for (const headers of [{ 'X-Forwarded-For': 'nonsense' }, { 'X-Forwarded-Proto': 'gopher' }, { Forwarded: 'for' },
        { 'X-Forwarded-Host': 'a, b' }, { Forwarded: `for=${CLIENT}`, 'X-Forwarded-For': CLIENT },
        { 'X-Forwarded-For': Array(33).fill('10.0.0.1').join(',') }]) {
        assert.equal((await ask(server, { query: '?comp=list', headers })).status, 400, JSON.stringify(headers));
        assert.equal((await ask(server, { query: '?comp=list', headers, from: '127.0.0.1' })).status, 200);
    }
});

test('links in answers are those of the client', async (t) => {
    const server = await newServer(t);
    const endpoint = async (options) => {
        const answer = await ask(server, { query: '?comp=list', ...options });
        assert.equal(answer.status, 200);
        return answer.body.toString().match(/ServiceEndpoint="([^"]*)"/)[1];
    };
    assert.equal(await endpoint(), 'http://storage.example/acme/');
    assert.equal(await endpoint({ headers: { 'X-Forwarded-Proto': 'https' } }), 'https://storage.example/acme/');
    assert.equal(await endpoint({ headers: { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'public.example:8443' } }),
        'https://public.example:8443/acme/');
    assert.equal(await endpoint({ headers: { Forwarded: 'for=192.0.2.1;proto=https;host=public.example' } }), 'https://public.example/acme/');
    assert.equal(await endpoint({ headers: { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'public.example' }, from: '127.0.0.1' }),
        'http://storage.example/acme/');
});

test('PROXY headers of both versions name the client; who has to send one and does not is cut', async (t) => {
    const server = await newServer(t);
    await makeContainer(server);
    const sip = sasOf(server, { sip: CLIENT }), https = sasOf(server, { spr: 'https' });
    const byProxy = (sas, header, headers = {}) => ask(server, { ...LIST, sas, header, headers, from: INTRODUCES });
    assert.equal((await byProxy(sip, line())).status, 200);
    assert.equal((await byProxy(sip, binary())).status, 200);
    assert.equal((await byProxy(https, binary({ more: BY_TLS }))).status, 200);
    for (const [sas, header, code] of [
        [sip, line('203.0.113.8'), 'AuthorizationSourceIPMismatch'],
        [sip, binary({ client: '203.0.113.8' }), 'AuthorizationSourceIPMismatch'],
        [sip, 'PROXY UNKNOWN\r\n', 'AuthorizationSourceIPMismatch'],
        [sip, binary({ command: 0 }), 'AuthorizationSourceIPMismatch'],
        [https, binary(), 'AuthorizationProtocolMismatch'],
        [https, line(), 'AuthorizationProtocolMismatch'],
    ])
        assert.deepEqual(codeOf(await byProxy(sas, header)), [403, code]);
    // The client that it names is no proxy, whatever it says itself; one that it names may be.
    assert.equal((await byProxy(https, line(), { 'X-Forwarded-Proto': 'https' })).status, 403);
    assert.equal((await byProxy(https, line('10.0.0.9'), { 'X-Forwarded-Proto': 'https' })).status, 200);
    for (const header of ['', 'PROXY TCP4 x\r\n', 'PROXY TCP4 1.2.3.4 1.2.3.4 1 1\n', binary({ command: 2 })])
        await assert.rejects(byProxy(sip, header), /closed in a head|ECONNRESET|EPIPE/);
    assert.match(server.stderr, /connections to a --proxyProtocol port lack the PROXY header/);
    // From others it is what it is: no HTTP.
    assert.equal((await ask(server, { ...LIST, sas: sip, header: line(), from: '127.0.0.1' })).status, 400);
});

test('a PROXY header may come byte by byte, and before TLS', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-front-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const { cert, key } = newCertificate(folder);
    const secure = await newServer(t, { secure: true, args: [...PROXIES, '--cert', cert, '--key', key] });
    await makeContainer(secure);
    const sas = sasOf(secure, { sip: CLIENT, spr: 'https' });
    for (const header of [line(), binary()])
        assert.equal((await ask(secure, { ...LIST, sas, header, from: INTRODUCES })).status, 200);
    // A proxy that says nothing of how the client came says nothing by its own TLS.
    assert.deepEqual(codeOf(await ask(secure, { ...LIST, sas, headers: { 'X-Forwarded-For': CLIENT } })), [403, 'AuthorizationProtocolMismatch']);
    const plain = await newServer(t);
    const connection = await Connection.open(plain.host, plain.port, false, { from: INTRODUCES });
    for (const byte of binary()) {
        await connection.send(Buffer.from([byte]));
        await delay(1);
    }
    await connection.send('GET /-/live HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.equal((await connection.response()).status, 200);
    connection.close();
});

/** A request of this client that is under way: its body has not come. */
async function underWay(server, client, options) {
    const connection = await Connection.open(server.host, server.port, false, options);
    const forwarded = client ? [['X-Forwarded-For', client]] : [];
    await connection.request(sign({ method: 'PUT', target: `/${OWN.account}/photos/b`, headers: [['Host', 'x'], ['Content-Length', '5'],
        ['x-ms-blob-type', 'BlockBlob'], ['Expect', '100-continue'], ...forwarded] }, { credentials: OWN }));
    const { status } = await connection.response();
    return { status, connection, finish: async () => {
        await connection.send('hello');
        const answer = await connection.response();
        await connection.rest(answer);
        return answer.status;
    } };
}

test('the limit for one address is the client\'s, not the proxy\'s', async (t) => {
    const server = await newServer(t, { args: [...PROXIES, '--maxConnectionsPerAddress', '2'] });
    await makeContainer(server);
    // A request is over a moment after its answer has gone out.
    const soon = (by) => until(async () => (await ask(server, { ...LIST, ...by })).status === 200, 60);
    const both = [await underWay(server, CLIENT, { from: PROXY }), await underWay(server, CLIENT, { from: PROXY })];
    t.after(() => both.forEach(({ connection }) => connection.close()));
    assert.deepEqual(both.map(({ status }) => status), [100, 100]);
    assert.deepEqual(codeOf(await ask(server, { ...LIST, headers: { 'X-Forwarded-For': CLIENT } })), [503, 'ServerBusy']);
    assert.equal((await ask(server, { ...LIST, headers: { 'X-Forwarded-For': '203.0.113.8' } })).status, 200);
    // However it comes: by a PROXY header too.
    assert.equal((await ask(server, { ...LIST, header: line(), from: INTRODUCES })).status, 503);
    assert.equal((await ask(server, { ...LIST, header: line('203.0.113.8'), from: INTRODUCES })).status, 200);
    assert.equal(await both[0].finish(), 201);
    await soon({ headers: { 'X-Forwarded-For': CLIENT } });
    await soon({ header: line(), from: INTRODUCES });
    assert.equal(await both[1].finish(), 201);
    await soon({ headers: { 'X-Forwarded-For': CLIENT } });
    const introduced = [await underWay(server, null, { from: INTRODUCES, header: binary() }),
        await underWay(server, null, { from: INTRODUCES, header: line() })];
    t.after(() => introduced.forEach(({ connection }) => connection.close()));
    assert.deepEqual(introduced.map(({ status }) => status), [100, 100]);
    assert.equal((await ask(server, { ...LIST, headers: { 'X-Forwarded-For': CLIENT } })).status, 503);
    assert.equal((await ask(server, { ...LIST, header: binary(), from: INTRODUCES })).status, 503);
    assert.deepEqual([await introduced[0].finish(), await introduced[1].finish()], [201, 201]);
});

test('the published key is refused on forwarded requests, from whatever peer', async (t) => {
    const server = await newServer(t, { own: false, args: ['--trustProxy', PROXY, '--proxyProtocol', INTRODUCES] });
    assert.equal((await ask(server, { method: 'PUT', path: '/photos', query: '?restype=container', headers: { 'x-ms-blob-public-access': 'container' } })).status, 201);
    const sas = sasOf(server, {});
    assert.equal((await ask(server, { ...LIST, sas })).status, 200);
    const forwarded = [
        { headers: { 'X-Forwarded-For': '127.0.0.1' } }, { headers: { 'X-Forwarded-Proto': 'https' } }, { headers: { Forwarded: 'for=127.0.0.1' } },
        { headers: { 'X-Real-IP': CLIENT } }, { headers: { 'X-Forwarded-Host': 'x' }, from: '127.0.0.1' },
        { headers: { 'X-Forwarded-For': 'nonsense' }, from: '127.0.0.1' }, { header: line('127.0.0.1'), from: INTRODUCES },
    ];
    for (const by of forwarded) {
        for (const credentials of [{}, { sas }]) {
            const answer = await ask(server, { ...LIST, ...by, ...credentials });
            assert.deepEqual(codeOf(answer), [403, 'AuthenticationFailed'], JSON.stringify(by));
            assert.match(answer.body.toString(), /published key is accepted only from this machine/);
        }
        // What is public is so for everybody.
        assert.equal((await ask(server, { ...LIST, ...by, sas: null })).status, 200);
    }
    // Only who has the key is told.
    const wrong = await ask(server, { ...LIST, ...forwarded[0], sas: sas.replace(/sig=.{8}/, 'sig=AAAAAAAA') });
    assert.doesNotMatch(wrong.body.toString(), /published key/);
    const allowed = await newServer(t, { own: false, args: ['--allowDevelopmentAccount'] });
    assert.equal((await ask(allowed, { query: '?comp=list', ...forwarded[0] })).status, 200);
});

test('the published key is refused to pages under names that may have been pointed at this machine', async (t) => {
    // decision: 1038
    const server = await newServer(t, { own: false, args: [] });
    const from = '127.0.0.1';
    assert.equal((await ask(server, { from, method: 'PUT', path: '/photos', query: '?restype=container' })).status, 201);
    const sas = sasOf(server, {});
    const ofBrowser = [{ 'Accept-Language': 'en' }, { 'Accept-Language': '' }, { 'Sec-Fetch-Site': 'same-origin' }, { Origin: 'http://evil.example' }];
    const known = ['127.0.0.1:10000', 'localhost', '[::1]:10000', 'storage.localhost', '192.0.2.7:10000'];
    const listed = (options) => Promise.all([undefined, sas].map((one) => ask(server, { ...LIST, from, sas: one, ...options })));
    for (const headers of ofBrowser) {
        for (const answer of await listed({ headers, host: 'evil.example:10000' })) {
            assert.deepEqual(codeOf(answer), [403, 'AuthenticationFailed'], JSON.stringify(headers));
            assert.match(answer.body.toString(), /published key is accepted only from this machine/);
        }
        for (const host of known)
            assert.deepEqual((await listed({ headers, host })).map(({ status }) => status), [200, 200], `${host} ${JSON.stringify(headers)}`);
    }
    // Programs may use any name.
    for (const host of ['azurite', 'host.docker.internal:10000', 'storage.example'])
        assert.deepEqual((await listed({ host })).map(({ status }) => status), [200, 200], host);
    const allowed = await newServer(t, { own: false, args: ['--allowDevelopmentAccount'] });
    assert.equal((await ask(allowed, { from, query: '?comp=list', headers: ofBrowser[0], host: 'evil.example' })).status, 200);
});

test('bearer tokens are taken when a trusted proxy says https; unchecked ones of forwarded requests only if that is said', async (t) => {
    const seconds = Math.floor(Date.now() / 1000);
    const part = (json) => Buffer.from(JSON.stringify(json)).toString('base64url');
    const tenant = '22222222-2222-2222-2222-222222222222';
    const token = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iss: `https://sts.windows.net/${tenant}/`, aud: 'https://storage.azure.com',
        iat: seconds - 10, nbf: seconds - 10, exp: seconds + 600, oid: '11111111-1111-1111-1111-111111111111', tid: tenant })}.${part({})}`;
    const by = (server, headers) => ask(server, { query: '?comp=list', sas: null, headers: { Authorization: `Bearer ${token}`, ...headers } });
    const args = [...PROXIES, '--oauth', 'basic'];
    const unchecked = await newServer(t, { args: [...args, '--allowUncheckedTokens'] });
    assert.equal((await by(unchecked, { 'X-Forwarded-Proto': 'https' })).status, 200);
    for (const headers of [{ 'X-Forwarded-Proto': 'http' }, { 'X-Forwarded-For': CLIENT }, {}]) {
        const answer = await by(unchecked, headers);
        assert.deepEqual(codeOf(answer), [403, 'AuthenticationFailed']);
        assert.match(answer.body.toString(), /Bearer is not allowed with HTTP/);
    }
    const confined = await newServer(t, { args });
    const refused = await by(confined, { 'X-Forwarded-Proto': 'https' });
    assert.deepEqual(codeOf(refused), [403, 'AuthenticationFailed']);
    assert.match(refused.body.toString(), /Unverified tokens are accepted only from this machine/);
});

test('lagra health introduces itself where it has to', async (t) => {
    const args = ['--proxyProtocol', '127.0.0.1'];
    const server = await newServer(t, { args, header: 'PROXY UNKNOWN\r\n' });
    const ports = Object.entries(server.ports).flatMap(([service, port]) => [`--${service}Port`, `${port}`]);
    assert.deepEqual(await run(['health', ...ports, ...args]), { code: 0, output: '', errors: '' });
    assert.equal((await run(['health', ...ports])).code, 1);
});

test('wrong lists are refused at the start', async () => {
    for (const option of ['trustProxy', 'proxyProtocol']) {
        const { code, errors } = await run(['config', 'check', `--${option}`, '10.0.0.0/33']);
        assert.equal(code, 2);
        assert.equal(errors, `lagra: --${option} takes comma-separated addresses and CIDR blocks, not "10.0.0.0/33"\n`);
    }
});
