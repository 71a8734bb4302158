// What only a raw client sends: queries as other languages encode them, requests that could be read in
// two ways, and what an unknown account is told.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { raw, rawRefused } from './raw.mjs';
import { account, collect, newBlob, newContainer, refused, service } from './setup.mjs';

const CHALLENGE = /^Bearer authorization_uri=https:\/\/login\.microsoftonline\.com\/[0-9a-f-]{36}\/oauth2\/authorize resource_id=https:\/\/storage\.azure\.com$/;

/** A request whose string to sign ends in the lines `resource`, whatever its target is. */
function signedOver(method, target, resource, headers = {}, credentials = account) {
    const date = new Date().toUTCString();
    const text = [method, ...Array(11).fill(''), `x-ms-date:${date}`, 'x-ms-version:2026-10-06', ...resource].join('\n');
    const signature = createHmac('sha256', Buffer.from(credentials.key, 'base64')).update(text).digest('base64');
    return raw(method, '', {
        'x-ms-date': date, 'x-ms-version': '2026-10-06', ...headers,
        Authorization: `SharedKey ${credentials.name}:${signature}`,
    }, '', { signed: false, target });
}

test('a space in a query is + for some clients, in the value and in what is signed', async (t) => {
    // decision: 21 (Azurite issue 1696: the service takes it)
    const { container } = await newBlob(t);
    const name = container.containerName;
    for (const blob of ['a b+c/1', 'a b+c/2', 'a+b+c/3'])
        await container.getBlockBlobClient(blob).upload('', 0);
    const listed = await signedOver('GET', `/${account.name}/${name}?comp=list&prefix=a+b%2Bc%2F&restype=container`,
        [`/${account.name}/${account.name}/${name}`, 'comp:list', 'prefix:a b+c/', 'restype:container']);
    assert.equal(listed.status, 200, listed.text);
    assert.deepEqual([...listed.text.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, blob]) => blob), ['a b+c/1', 'a b+c/2']);
    const bySdk = await collect(container.listBlobsFlat({ prefix: 'a b+c/' }));
    assert.deepEqual(bySdk.map((blob) => blob.name), ['a b+c/1', 'a b+c/2']);
});

test('one signature opens one request', async (t) => {
    // decision: 21
    const { container } = await newBlob(t);
    const path = `/${account.name}/${container.containerName}`;
    const lines = [`/${account.name}${path}`, 'comp:list', 'prefix:zz', 'restype:container'];
    assert.equal((await signedOver('GET', `${path}?comp=list&prefix=zz&restype=container`, lines)).status, 200);
    for (const query of ['comp=list&prefix=zz%0Arestype:container', 'comp=list%0Aprefix:zz&restype=container',
        'comp%3Alist%0Aprefix=zz&restype=container'])
        assert.equal((await signedOver('GET', `${path}?${query}`, lines)).status, 400, query);
    // Host style: the same string to sign, another resource.
    const host = `${account.name}.blob.localhost`;
    await rawRefused(signedOver('GET', `${path}?comp=list&prefix=zz&restype=container`, lines, { Host: host }),
        400, 'InvalidUri');
});

test('a parameter or a header that is given twice is refused', async (t) => {
    // decisions: 33, 36
    const { container } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    for (const [method, query] of [['PUT', 'comp=block&blockid=MDAwMQ%3D%3D&blockid=MDAwMg%3D%3D'],
        ['GET', 'snapshot=2026-11-21T00%3A00%3A00.0000000Z&snapshot=2026-11-21T00%3A00%3A00.0000000Z'],
        ['GET', 'comp=metadata&Comp=metadata'], ['GET', 'timeout=1&timeout=2']]) {
        const answer = await rawRefused(raw(method, `${path}?${query}`), 400, 'InvalidQueryParameterValue');
        assert.match(answer.text, /<QueryParameterName>\w+<\/QueryParameterName><QueryParameterValue>[^<]+<\/QueryParameterValue><Reason>/);
    }
    // The documentation of the signature has a repeated include.
    const listed = await raw('GET', `/${container.containerName}?restype=container&comp=list&include=snapshots&include=metadata`);
    assert.equal(listed.status, 200, listed.text);
    assert.match(listed.text, /<Metadata/);
});

test('what is sent empty is not taken for what is not sent', async (t) => {
    // decision: 36
    const { blob, container } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    await rawRefused(raw('DELETE', `${path}?snapshot=`), 400, 'InvalidQueryParameterValue');
    await rawRefused(raw('DELETE', `${path}?snapshot`), 400, 'InvalidQueryParameterValue');
    await rawRefused(raw('PUT', `${path}?comp=metadata`, { 'x-ms-lease-id': '' }), 400, 'InvalidHeaderValue');
    assert.equal(await blob.exists(), true);
});

test('PUT of a container with a slash and a blob\'s headers writes no blob', async (t) => {
    // decision: 37
    const root = service.getContainerClient('$root');
    await root.createIfNotExists();
    t.after(() => root.deleteIfExists());
    const container = await newContainer(t);
    await rawRefused(raw('PUT', `/${container.containerName}/`, { 'x-ms-blob-type': 'BlockBlob' }, 'x'),
        400, 'InvalidUri');
    assert.deepEqual(await collect(root.listBlobsFlat()), []);
    assert.equal((await raw('GET', `/${container.containerName}/?restype=container`)).status, 200);
});

test('an unknown account is told what a known one is', async () => {
    // decision: 35
    const ask = async (name, headers, credentials, query = '?comp=list') => {
        const options = { target: `/${name}${query}`, ...(credentials ? { credentials } : { signed: false }) };
        const answer = await raw('GET', '', headers, '', options);
        return {
            status: answer.status, code: answer.code, challenge: answer.headers.get('www-authenticate'),
            names: answer.headers.list.map(([header]) => header),
            text: answer.text.replaceAll(name, 'NAME').replace(/RequestId:.*|Time:[^<]*|The MAC signature.*/gs, ''),
        };
    };
    const wrong = (name) => ({ account: name, key: 'd3Jvbmc=' });
    for (const suffix of ['', '-secondary']) {
        const pair = [`${account.name}${suffix}`, `nosuchaccount1${suffix}`];
        const [known, unknown] = await Promise.all(pair.map((name) => ask(name, {})));
        assert.deepEqual(unknown, known);
        assert.deepEqual([known.status, known.code], [401, 'NoAuthenticationInformation']);
        const signed = await Promise.all(pair.map((name) => ask(name, {}, wrong(name.replace(suffix, '')))));
        assert.deepEqual(signed[1], signed[0]);
        assert.deepEqual([signed[0].status, signed[0].code], [403, 'AuthenticationFailed']);
    }
    for (const headers of [{ Authorization: 'Bearer x' }, { Authorization: 'SharedKey other:bm8=' }, { Authorization: 'x' }])
        assert.deepEqual(await ask('nosuchaccount1', headers), await ask(account.name, headers));
    for (const query of ['/c/b?sig=x', '?comp=list&comp=list', '/c/%00'])
        assert.deepEqual(await ask('nosuchaccount1', {}, null, query), await ask(account.name, {}, null, query));
});

test('nobody is shown the way to a token', async () => {
    // decision: 11; recorded
    const answer = await raw('GET', '/?comp=list', {}, '', { signed: false });
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get('www-authenticate'), CHALLENGE);
});

test('a preflight request needs no signature', async (t) => {
    // rest: Preflight-Blob-Request; decision: 22: 501 until CORS is there
    const { container } = await newBlob(t);
    const headers = { Origin: 'http://example.org', 'Access-Control-Request-Method': 'GET' };
    for (const path of [`/${container.containerName}/blob`, '/'])
        await rawRefused(raw('OPTIONS', path, headers, '', { signed: false }), 501, 'NotImplemented');
});

test('a PUT says how long its body is', async (t) => {
    // rest: Status-and-Error-Codes2; decision: 38
    const container = await newContainer(t);
    const path = `/${container.containerName}`;
    for (const [target, headers] of [[`${path}/b`, { 'x-ms-blob-type': 'BlockBlob' }], [`${path}2?restype=container`, {}],
        [`${path}?restype=container&comp=metadata`, {}]]) {
        const answer = await rawRefused(raw('PUT', target, { ...headers, 'Content-Length': undefined }), 411,
            'MissingContentLengthHeader');
        assert.match(answer.text, /<Message>Content-Length HTTP header is missing\./);
    }
    assert.deepEqual(await collect(container.listBlobsFlat()), []);
});

test('a backslash in a blob\'s name is a slash', async (t) => {
    // decision: 39
    const container = await newContainer(t);
    await container.getBlockBlobClient('a\\b\\c').upload('x', 1);
    assert.deepEqual((await collect(container.listBlobsFlat())).map(({ name }) => name), ['a/b/c']);
    assert.equal((await container.getBlobClient('a\\b/c').downloadToBuffer()).toString(), 'x');
    assert.deepEqual(await collect(container.listBlobsFlat({ prefix: 'a\\' })), []);
    await refused(container.getBlobClient('a').getProperties(), 404, 'BlobNotFound');
});

test('the account of a host name has no case', async () => {
    // rfc: 9110 4.2.3
    const name = account.name.toUpperCase();
    const answer = await signedOver('GET', '/?comp=list', [`/${account.name}/`, 'comp:list'], { Host: `${name}.Blob.localhost` });
    assert.equal(answer.status, 200, answer.text);
});
