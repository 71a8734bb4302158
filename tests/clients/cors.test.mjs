// CORS: preflight requests and the headers of answers, on a server of its own, since rules are the
// whole account's.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AzureNamedKeyCredential, TableServiceClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';
import { account, credential, once } from './setup.mjs';

const WORDS = ['access-control-allow-origin', 'access-control-allow-methods', 'access-control-allow-headers',
    'access-control-max-age', 'access-control-allow-credentials', 'access-control-expose-headers', 'vary'];
const rule = (allowedOrigins, allowedMethods, allowedHeaders = '', exposedHeaders = '', maxAgeInSeconds = 200) =>
    ({ allowedOrigins, allowedMethods, allowedHeaders, exposedHeaders, maxAgeInSeconds });

let server, service, base;
before(async () => {
    server = await Server.start({ args: ['--inMemoryPersistence'] });
    service = new BlobServiceClient(server.url, credential, once);
    base = { host: '127.0.0.1', port: Number(new URL(server.url).port) };
    await service.createContainer('box');
    await service.getContainerClient('box').getBlockBlobClient('b').upload('x', 1, { metadata: { abc: '1' } });
});
after(() => server.kill().then(() => server.remove()));

const setRules = (...cors) => service.setProperties({ cors });
const ask = (method, path, headers, options = {}, body = '') => raw(method, path, headers, body, { base, ...options });
/** A browser sends neither a signature nor a version. */
const preflight = (origin, method, headers, path = '/box/b') => ask('OPTIONS', path, {
    Origin: origin, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': headers,
    'Content-Length': undefined,
}, { signed: false });
/** The CORS headers of an answer. */
const cors = ({ headers }) =>
    Object.fromEntries(WORDS.filter((name) => headers.get(name) !== undefined).map((name) => [name, headers.get(name)]));

async function fails(promise) {
    const answer = await rawRefused(promise, 403, 'CorsPreflightFailure');
    assert.match(answer.text, /CORS not enabled or no matching rule found for this request/);
    assert.match(answer.text, /<MessageDetails>No CORS rules matches this request<\/MessageDetails>/);
    assert.deepEqual(cors(answer), {});
}

test('preflight without rules fails; without its headers it is malformed', async () => {
    // rest: Preflight-Blob-Request; Azurite's own tests of it
    await setRules();
    await fails(preflight('http://a.example', 'GET'));
    for (const [origin, method] of [[undefined, 'GET'], ['http://a.example', undefined], ['a\tb', 'GET']]) {
        const { text } = await rawRefused(preflight(origin, method), 400, 'InvalidHeaderValue');
        assert.match(text, /A required CORS header is not present/);
    }
});

test('preflight: what the rule allows is given back; whatever the target is', async () => {
    // rest: Preflight-Blob-Request
    await setRules(rule('http://a.example', 'GET,PUT', 'x-ms-meta-*,content-type', '', 77));
    const wanted = {
        'access-control-allow-origin': 'http://a.example', 'access-control-allow-methods': 'PUT',
        'access-control-allow-headers': 'X-MS-Meta-One, Content-Type', 'access-control-max-age': '77',
        'access-control-allow-credentials': 'true',
    };
    for (const path of ['/box/b', '/', '/none/none', '/box/b?comp=block&blockid=MQ%3D%3D', '/box?restype=container&comp=list',
        '/box/b?sv=2020-02-10&sig=wrong&comp=nothing']) {
        const answer = await preflight('http://a.example', 'PUT', 'X-MS-Meta-One, Content-Type', path);
        assert.equal(answer.status, 200, `${path}: ${answer.text}`);
        assert.deepEqual(cors(answer), wanted, path);
        assert.equal(answer.body.length, 0);
    }
    delete wanted['access-control-allow-headers'];
    assert.deepEqual(cors(await preflight('http://a.example', 'PUT')), wanted);
    await fails(preflight('http://a.example', 'DELETE'));
    await fails(preflight('http://a.example', 'put'));
    await fails(preflight('http://a.example', 'PUT', 'x-ms-meta-one,x-ms-blob-type'));
    await fails(preflight('HTTP://A.example', 'PUT'));
    await fails(preflight('http://a.example:80', 'PUT'));
    await fails(preflight('null', 'PUT'));
});

test('preflight: a header whose name is one letter is given back too', async () => {
    // rest: Preflight-Blob-Request
    await setRules(rule('http://a.example', 'PUT', 'a'));
    const answer = await preflight('http://a.example', 'PUT', 'a');
    assert.equal(answer.status, 200);
    assert.equal(cors(answer)['access-control-allow-headers'], 'a');
    await fails(preflight('http://a.example', 'PUT', 'b'));
});

test('the first rule with the origin and the method decides', async () => {
    // rest: Cross-Origin-Resource-Sharing.., "Understanding CORS rule evaluation logic": its
    // example
    await setRules(
        rule('http://www.contoso.com', 'PUT,HEAD', 'x-ms-meta-*,x-ms-blob-content-type'),
        rule('*', 'PUT,GET', 'x-ms-meta-*,x-ms-blob-content-type'),
        rule('http://www.contoso.com', 'GET', 'x-ms-client-request-id'));
    assert.equal((await preflight('http://www.contoso.com', 'PUT', 'x-ms-blob-content-type')).status, 200);
    assert.equal((await preflight('http://www.contoso.com', 'GET', 'x-ms-blob-content-type')).status, 200);
    await fails(preflight('http://www.contoso.com', 'GET', 'x-ms-client-request-id'));
    assert.equal((await preflight('http://other', 'GET', 'x-ms-meta-a')).status, 200);
    await fails(preflight('http://other', 'HEAD'));
});

test('an asterisk in an origin stands for subdomains', async () => {
    // rest: Set-Blob-Service-Properties, AllowedOrigins
    await setRules(rule('https://*.contoso.com, http://b.example', 'GET', '*'));
    assert.equal((await preflight('https://www.contoso.com', 'GET', 'anything, at-all')).status, 200);
    assert.equal((await preflight('https://a.b.contoso.com', 'GET')).status, 200);
    assert.equal((await preflight('http://b.example', 'GET')).status, 200);
    for (const origin of ['https://contoso.com', 'https://.contoso.com', 'http://www.contoso.com', 'https://www.contoso.com.evil'])
        await fails(preflight(origin, 'GET'));
});

test('answers: every case of the documented table', async () => {
    // rest: Cross-Origin-Resource-Sharing.., "Understanding how the Vary header is set"
    const to = async (origin) => cors(await ask('GET', '/box/b', origin ? { Origin: origin } : {}));
    await setRules();
    assert.deepEqual(await to(), {});
    assert.deepEqual(await to('http://a.example'), {});
    await setRules(rule('http://a.example', 'GET', '', 'x-ms-meta-*,Date,Other'));
    assert.deepEqual(await to(), { vary: 'Origin' });
    assert.deepEqual(await to('http://b.example'), { vary: 'Origin' });
    assert.deepEqual(await to('http://a.example'), {
        'access-control-allow-origin': 'http://a.example', 'access-control-expose-headers': 'x-ms-meta-abc,Date,Other',
        'access-control-allow-credentials': 'true', vary: 'Origin',
    });
    await setRules(rule('*', 'GET', '', 'x-ms-meta-*'));
    const all = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'x-ms-meta-abc' };
    assert.deepEqual(await to(), all);
    assert.deepEqual(await to('http://a.example'), all);
    // A HEAD is not what the rule is for.
    assert.deepEqual(cors(await ask('HEAD', '/box/b', { Origin: 'http://a.example' })), { vary: 'Origin' });
});

test('answers: errors and 304 too; writes without an origin have nothing', async () => {
    // recorded: facts 31 of the recordings; rest: as above
    await setRules(rule('*', 'GET,HEAD,PUT,DELETE', '', '*'));
    const missing = await ask('GET', '/box/none', {});
    assert.deepEqual(cors(missing), {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'Content-Type,x-ms-error-code,Server,x-ms-request-id,x-ms-version,Content-Length,Date,Transfer-Encoding',
    });
    const { headers } = await ask('GET', '/box/b', {});
    const same = await ask('GET', '/box/b', { 'If-None-Match': headers.get('etag') });
    assert.equal(same.status, 304);
    assert.equal(same.headers.get('access-control-allow-origin'), '*');
    const denied = await ask('GET', '/box/b', { Origin: 'http://a.example', Authorization: 'SharedKey devstoreaccount1:AAAA' }, { signed: false });
    assert.equal(denied.status, 403);
    assert.equal(denied.headers.get('access-control-allow-origin'), '*');
    const put = (more) => ask('PUT', '/box/new', { 'x-ms-blob-type': 'BlockBlob', ...more });
    assert.deepEqual(cors(await put({})), {});
    assert.equal(cors(await put({ Origin: 'http://a.example' }))['access-control-allow-origin'], '*');
    await setRules(rule('http://a.example', 'PUT'));
    assert.deepEqual(cors(await put({ Origin: 'http://b.example' })), {});
    assert.deepEqual(cors(await put({ Origin: 'http://a.example' })),
        { 'access-control-allow-origin': 'http://a.example', 'access-control-allow-credentials': 'true' });
});

/** A body of a multipart request whose only part is this request. */
const batchOf = (...lines) => ['--b', 'Content-Type: application/http', 'Content-Transfer-Encoding: binary', '', ...lines,
    '--b--', ''].join('\r\n');

test('answers: a refusal has them wherever on its way the request is refused', async () => {
    // rest: as above, "Understanding how the Vary header is set": of a simple request, whatever becomes of it
    const origin = 'http://a.example';
    await setRules(rule(origin, 'GET,HEAD,PUT,DELETE,POST,PATCH,MERGE', '', '*'));
    const wrongly = { Authorization: 'SharedKey devstoreaccount1:AAAA' };
    const multipart = { 'Content-Type': 'multipart/mixed; boundary=b' };
    const properties = batchOf('GET /devstoreaccount1/box/b HTTP/1.1', '', '');
    for (const [status, method, path, headers = {}, body = '', options = {}] of [
        // By authentication, the route, the table of operations.
        [404, 'GET', '/box/b', {}, '', { signed: false }],
        [401, 'GET', '/box/b', { 'x-ms-version': '2021-12-02' }, '', { signed: false }],
        [403, 'GET', '/box/b', wrongly, '', { signed: false }],
        [403, 'GET', '/box/b?sig=x&sv=2020-02-10', {}, '', { signed: false }],
        [400, 'GET', '/box/b', { 'x-ms-version': 'x' }],
        [400, 'GET', '/box/b?comp=nothing'],
        [400, 'GET', '/BOX/b'],
        [405, 'PATCH', '/box/b'],
        [400, 'GET', '/box/b?a=1&a=2'],
        [400, 'GET', '/box/b?%zz', {}, '', { signed: false }],
        [400, 'GET', '/box/b', { 'x-ms-lease-id': 'x' }],
        // By its check, before its body.
        [411, 'PUT', '/box/b', { 'Content-Length': undefined, 'x-ms-blob-type': 'BlockBlob' }],
        [400, 'PUT', '/box/b', {}],
        [413, 'PUT', '/box/b?comp=blocklist', { 'Content-Length': '900000000' }, '', {}],
        [400, 'PUT', '/box/b', { 'x-ms-blob-type': 'BlockBlob', 'Content-MD5': 'AAAA' }, 'x'],
        // By its body, by decide.
        [400, 'PUT', '/box/b', { 'x-ms-blob-type': 'BlockBlob', 'Content-MD5': 'AAAAAAAAAAAAAAAAAAAAAA==' }, 'x'],
        [400, 'PUT', '/box/b?comp=blocklist', {}, '<x'],
        [404, 'GET', '/none/b'],
        [404, 'HEAD', '/box/none'],
        [409, 'PUT', '/box?restype=container'],
        [412, 'GET', '/box/b', { 'If-Match': '"0x1"' }],
        [416, 'GET', '/box/b', { Range: 'bytes=9-10' }],
        // Of a batch: as a whole, and where its only part is refused.
        [202, 'POST', '/?comp=batch', { 'Content-Type': 'text/plain' }, 'x'],
        [202, 'POST', '/?comp=batch', multipart, 'x'],
        [202, 'POST', '/?comp=batch', multipart, properties],
        [202, 'POST', '/?comp=batch', multipart, batchOf('DELETE /devstoreaccount1/box/none HTTP/1.1', 'Content-Length: 0', '', '')],
        [403, 'POST', '/?comp=batch', { ...multipart, ...wrongly }, properties, { signed: false }],
    ]) {
        const answer = await ask(method, path, { Origin: origin, ...headers }, options, body);
        const said = `${status} ${method} ${path} ${JSON.stringify(headers)}: ${answer.status} ${answer.text}`;
        assert.equal(answer.status, status, said);
        assert.equal(cors(answer)['access-control-allow-origin'], origin, said);
    }
});

test('answers: a transaction that is refused has them', async () => {
    const origin = 'http://a.example';
    const tables = new TableServiceClient(server.urlOf('table'), new AzureNamedKeyCredential(account.name, account.key),
        { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } });
    await tables.setProperties({ cors: [rule(origin, 'POST,GET', '', '*')] });
    await tables.createTable('Cors');
    const at = { host: '127.0.0.1', port: server.ports.table };
    const multipart = (boundary) => ({ 'Content-Type': `multipart/mixed; boundary=${boundary}` });
    const changeset = (...requests) => ['--b', 'Content-Type: multipart/mixed; boundary=c', '',
        ...requests.flatMap((lines) => ['--c', 'Content-Type: application/http', 'Content-Transfer-Encoding: binary', '', ...lines]),
        '--c--', '--b--', ''].join('\r\n');
    const insert = (table, key, more = {}) => [`POST ${server.urlOf('table')}/${table} HTTP/1.1`,
        'Content-Type: application/json', 'Accept: application/json;odata=nometadata', '',
        JSON.stringify({ PartitionKey: key, RowKey: 'r', ...more })];
    for (const [what, headers, body] of [
        ['no list', { 'Content-Type': 'text/plain' }, 'x'],
        ['no part', multipart('b'), '--b--\r\n'],
        ['no request', multipart('b'), changeset(['nonsense', '', ''])],
        ['no JSON', multipart('b'), changeset([...insert('Cors', 'p').slice(0, -1), '{'])],
        ['two partitions', multipart('b'), changeset(insert('Cors', 'p'), insert('Cors', 'q'))],
        ['no operation', multipart('b'), changeset([`POST ${server.urlOf('table')}/Cors?comp=x HTTP/1.1`, '', '{}'])],
        ['no table', multipart('b'), changeset(insert('None', 'p'))],
        ['done', multipart('b'), changeset(insert('Cors', 'p'))],
        ['done before', multipart('b'), changeset(insert('Cors', 'p'))],
    ]) {
        const answer = await raw('POST', '/$batch', { Origin: origin, 'x-ms-version': '2019-02-02', DataServiceVersion: '3.0',
            ...headers }, body, { base: at, service: 'table' });
        assert.equal(cors(answer)['access-control-allow-origin'], origin, `${what}: ${answer.status} ${answer.text}`);
    }
});
