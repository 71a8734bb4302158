// The static website and DefaultServiceVersion, on a server of its own: both are set for the
// account.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';
import { account, credential, md5, once, refused } from './setup.mjs';

const PROPERTIES = '/?restype=service&comp=properties';
let server, service, base, web;

before(async () => {
    server = await Server.start({ args: ['--inMemoryPersistence'] });
    service = new BlobServiceClient(server.url, credential, once);
    base = { host: '127.0.0.1', port: Number(new URL(server.url).port) };
    web = service.getContainerClient('$web');
    await web.create();
    for (const [name, text] of [['index.html', 'root'], ['a/index.html', 'of a'], ['a/page.html', '<p>page</p>'],
        ['404.html', 'nothing here'], ['all.html', 'of all']])
        await web.getBlockBlobClient(name).upload(text, text.length, {
            blobHTTPHeaders: { blobContentType: 'text/html', blobCacheControl: 'max-age=5', blobContentLanguage: 'en' },
            metadata: { secret: 'one' },
        });
});
after(() => server.kill().then(() => server.remove()));

const set = (staticWebsite) => service.setProperties({ staticWebsite });
const visit = (path, headers = {}, method = 'GET', host = `${account.name}.web.localhost:${base.port}`) =>
    raw(method, path, { Host: host, ...headers }, '', { base, signed: false, target: path });

/** A page of an error, not XML. */
async function missing(promise, status = 404, code = 'WebContentNotFound') {
    const answer = await promise;
    assert.deepEqual({ status: answer.status, code: answer.code }, { status, code }, answer.text);
    assert.match(answer.text, new RegExp(`^<!DOCTYPE html>.*<li>ErrorCode: ${code}</li>`));
    assert.equal(answer.headers.get('content-type'), 'text/html');
    return answer;
}

test('a website that is off has no pages', async () => {
    await set({ enabled: false });
    await missing(visit('/index.html'));
    await missing(visit('/index.html', {}, 'GET', 'nobody.web.localhost'));
});

test('pages: the index of folders, with or without a slash; hosts with a zone', async () => {
    // rest: Set-Blob-Service-Properties; decision: 108
    await set({ enabled: true, indexDocument: 'index.html' });
    const { staticWebsite } = await service.getProperties();
    assert.deepEqual([staticWebsite.enabled, staticWebsite.indexDocument], [true, 'index.html']);
    for (const [path, text] of [['/', 'root'], ['/index.html', 'root'], ['/a/', 'of a'], ['/a', 'of a'],
        ['/a/page.html', '<p>page</p>'], ['/a/page.html?x=1&x=2&comp=list', '<p>page</p>'], ['/%61/', 'of a']])
        assert.equal((await visit(path)).text, text, path);
    for (const path of ['/none', '/none/', '/a/none.html', '/404.html/', '/a//'])
        await missing(visit(path));
    assert.equal((await visit('/', {}, 'GET', `${account.name}.z22.web.localhost`)).text, 'root');
    assert.equal((await visit('/', {}, 'GET', `${account.name.toUpperCase()}.WEB.localhost`)).text, 'root');
    // $web is private for all that: the Blob service's own addresses are as they were.
    await rawRefused(raw('GET', '/$web/index.html', {}, '', { base, signed: false }), 404, 'ResourceNotFound');
});

test('a page has what HTTP has of a blob, and no more', async () => {
    await set({ enabled: true, indexDocument: 'index.html' });
    const page = await visit('/a/page.html', { Origin: 'http://a.example' });
    assert.equal(page.status, 200);
    for (const name of ['x-ms-meta-secret', 'x-ms-blob-type', 'x-ms-lease-state', 'x-ms-creation-time', 'vary'])
        assert.equal(page.headers.get(name), undefined, name);
    for (const [name, value] of [['content-type', 'text/html'], ['cache-control', 'max-age=5'], ['content-language', 'en'],
        ['accept-ranges', 'bytes']])
        assert.equal(page.headers.get(name), value);
    assert.equal(page.headers.get('content-md5'), md5('<p>page</p>').toString('base64'));
    assert.equal(page.headers.get('x-ms-version'), '2018-03-28');
    const head = await visit('/a/page.html', {}, 'HEAD');
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('content-length'), '11');
    assert.equal(head.body.length, 0);
    const same = await visit('/a/page.html', { 'If-None-Match': page.headers.get('etag') });
    assert.equal(same.status, 304);
    const later = await visit('/a/page.html', { 'If-Modified-Since': page.headers.get('last-modified') });
    assert.equal(later.status, 304);
    await missing(visit('/a/page.html', { 'If-Match': '"0x1"' }), 412, 'ConditionNotMet');
    const part = await visit('/a/page.html', { Range: 'bytes=3-6' });
    assert.equal(part.status, 206);
    assert.equal(part.text, 'page');
    assert.equal(part.headers.get('content-range'), 'bytes 3-6/11');
    await missing(visit('/a/page.html', { Range: 'bytes=11-' }), 416, 'InvalidRange');
});

test('only GET and HEAD; CORS rules have no meaning', async () => {
    await service.setProperties({ staticWebsite: { enabled: true, indexDocument: 'index.html' },
        cors: [{ allowedOrigins: '*', allowedMethods: 'GET,PUT', allowedHeaders: '*', exposedHeaders: '*', maxAgeInSeconds: 1 }] });
    assert.equal((await visit('/', { Origin: 'http://a.example' })).headers.get('access-control-allow-origin'), undefined);
    for (const method of ['PUT', 'POST', 'DELETE', 'OPTIONS'])
        await missing(visit('/index.html', { 'Content-Length': '0', Origin: 'http://a.example', 'Access-Control-Request-Method': 'GET' },
            method), 405, 'UnsupportedHttpVerb');
    await service.setProperties({ cors: [] });
});

test('what is not there: the error document, whole, as 404', async () => {
    await set({ enabled: true, indexDocument: 'index.html', errorDocument404Path: '404.html' });
    const answer = await visit('/none', { Range: 'bytes=0-1', 'If-None-Match': '*' });
    assert.equal(answer.status, 400); // decision: 4
    const whole = await visit('/none', { Range: 'bytes=0-1' });
    assert.deepEqual([whole.status, whole.text, whole.code], [404, 'nothing here', 'WebContentNotFound']);
    assert.equal(whole.headers.get('content-type'), 'text/html');
    assert.equal((await visit('/none', {}, 'HEAD')).headers.get('content-length'), '12');
    await set({ enabled: true, indexDocument: 'index.html', errorDocument404Path: 'gone.html' });
    await missing(visit('/none'));
});

test('one index for all folders', async () => {
    await set({ enabled: true, defaultIndexDocumentPath: 'all.html' });
    for (const path of ['/', '/a/', '/any/where'])
        assert.equal((await visit(path)).text, 'of all', path);
    await refused(set({ enabled: true, indexDocument: 'i', defaultIndexDocumentPath: 'j' }), 400, 'InvalidXmlDocument');
    await refused(set({ enabled: true, indexDocument: 'a/i.html' }), 400, 'InvalidXmlNodeValue');
    await refused(set({ enabled: false, indexDocument: 'i' }), 400, 'InvalidXmlDocument');
});

test('an archived page, a page of uncommitted blocks, no container', async () => {
    await set({ enabled: true, indexDocument: 'index.html' });
    await web.getBlockBlobClient('staged').stageBlock('MQ==', 'x', 1);
    await missing(visit('/staged'));
    const old = web.getBlockBlobClient('old');
    await old.upload('x', 1, { tier: 'Archive' });
    await missing(visit('/old'), 409, 'BlobArchived');
});

test('DefaultServiceVersion is for requests that say no version', async () => {
    // rest: Versioning-for-the-Azure-Storage-services; decision: 107
    const open = service.getContainerClient('open');
    await open.create({ access: 'blob' });
    await open.getBlockBlobClient('b').upload('x', 1);
    const version = async (headers = {}) =>
        (await raw('GET', '/open/b', headers, '', { base, signed: false })).headers.get('x-ms-version');
    assert.equal(await version(), '2026-10-06');
    await service.setProperties({ defaultServiceVersion: '2015-04-05' });
    assert.equal((await service.getProperties()).defaultServiceVersion, '2015-04-05');
    assert.equal(await version(), '2015-04-05');
    assert.equal(await version({ 'x-ms-version': '2019-12-12' }), '2019-12-12');
    await service.setProperties({ cors: [] });
    assert.equal(await version(), '2015-04-05');
    await refused(service.setProperties({ defaultServiceVersion: 'newest' }), 400, 'InvalidXmlNodeValue');
    const put = (text) => raw('PUT', PROPERTIES, {}, `<StorageServiceProperties>${text}</StorageServiceProperties>`, { base });
    assert.equal((await put('<DefaultServiceVersion />')).status, 202);
    assert.equal(await version(), '2026-10-06');
});

test('a page is not read with a customer-provided key; the key is not repeated', async () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    await set({ enabled: true, indexDocument: 'index.html' });
    for (const headers of [{ 'x-ms-encryption-key': key }, { 'x-ms-encryption-key-sha256': key }]) {
        const { text } = await missing(visit('/', headers), 400, 'UnsupportedHeader');
        assert.ok(!text.includes(key));
    }
});
