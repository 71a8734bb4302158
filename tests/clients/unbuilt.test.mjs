// Operations that the tables know and this server does not do yet: 501 NotImplemented, whatever
// else the request has; nothing is changed. One request a row, made from the row.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { raw, rawRefused } from './raw.mjs';
import { newBlob, refused, service } from './setup.mjs';

const HEADERS = { 'x-ms-copy-source': 'http://127.0.0.1/c/b' };

function unbuiltRows() {
    const text =
        execFileSync(process.env.LAGRA_BINARY, ['operations', '--json'], { encoding: 'utf8' });
    return JSON.parse(text).filter(({ built }) => !built);
}

const headersOf = ({ variant }) => Object.fromEntries(variant.split('&').filter((part) => part).map((part) => {
    const [name, value] = part.split('=');
    return [name, value ?? HEADERS[name] ?? '1'];
}));

function pathOf({ level, selector }, container) {
    const path = { '/': '/', '/container': `/${container}` }[level] ?? `/${container}/blob`;
    return selector ? `${path}?${selector}` : path;
}

test('a row that is not built is answered 501', async (t) => {
    // design, promise 5: no operation pretends
    const { container, blob, etag } = await newBlob(t);
    assert.ok(unbuiltRows().every(({ service: of }) => of === 'blob'));
    for (const row of unbuiltRows()) {
        for (const method of row.methods) {
            const what = `${row.name} ${method} ${row.variant}`;
            const answer = await raw(method, pathOf(row, container.containerName), headersOf(row));
            assert.equal(answer.status, 501, `${what}: ${answer.text}`);
            assert.equal(answer.code, 'NotImplemented', what);
        }
    }
    assert.equal((await blob.getProperties()).etag, etag);
});

test('the SDK sees NotImplemented; the answer names the operation', async (t) => {
    const { container, blob } = await newBlob(t);
    for (const call of [
        () => blob.query('select * from BlobStorage'),
    ])
        await refused(call(), 501, 'NotImplemented');
    const { text } = await raw('POST', `/${container.containerName}/blob?comp=query`, {}, '<QueryRequest/>');
    assert.match(text, /Query Blob Contents is not built yet/);
});

test('what an operation that is built cannot do is refused, and not forgotten', async (t) => {
    // design, promise 5; semantics 10.2: UnsupportedHeader, UnsupportedQueryParameter
    const { container, blob, etag } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const put = (headers) => raw('PUT', path, { 'x-ms-blob-type': 'BlockBlob', ...headers }, 'x');
    for (const name of ['x-ms-encryption-key', 'x-ms-expiry-time'])
        await rawRefused(put({ [name]: '1' }), 400, 'UnsupportedHeader');
    await rawRefused(raw('GET', `${path}?deletetype=permanent`), 400, 'UnsupportedQueryParameter');
    await rawRefused(raw('GET', `/${container.containerName}?restype=container&comp=list`,
        { Accept: 'application/vnd.apache.arrow.stream' }), 501, 'NotImplemented');
    assert.equal((await blob.getProperties()).etag, etag);
});

test('operations of previews are unknown: clients go on without sessions and layouts', async (t) => {
    // decision: 1439
    const { container } = await newBlob(t);
    const body = '<CreateSessionRequest><AuthenticationType>HMAC</AuthenticationType></CreateSessionRequest>';
    await rawRefused(raw('POST', `/${container.containerName}?restype=container&comp=session`, {}, body), 400, 'InvalidQueryParameterValue');
    await rawRefused(raw('GET', `/${container.containerName}/blob?comp=layout`), 400, 'InvalidQueryParameterValue');
});

test('a client that prefers Apache Arrow gets XML', async (t) => {
    // decision: 24
    const { container } = await newBlob(t);
    const { value } = await container.listBlobsFlat({ responseFormat: 'Arrow' }).byPage().next();
    assert.deepEqual(value.segment.blobItems.map(({ name }) => name), ['blob']);
    assert.match(value._response.headers.get('content-type'), /^application\/xml/);
});
