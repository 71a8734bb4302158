// Sources of copies that answer what no server should: every such answer is refused as the reference
// says, leaves nothing behind, and what a source did bring can be read again.
// rest: Put-Blob-From-URL, Copy-Blob; decisions: 52, 240, 241, 284
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { endless, rawSource, trickle } from '../lib/source.mjs';
import { blockId, credential, once, until } from './setup.mjs';

const PAGES = 'ETag: "1"\r\nx-ms-blob-type: PageBlob\r\n';

async function newTarget(t, env = {}) {
    const server = await Server.start({ args: ['--allowCopyFrom', '127.0.0.0/8'], env });
    t.after(() => server.kill().then(() => server.remove()));
    const container = new BlobServiceClient(server.url, credential, once).getContainerClient('copies');
    await container.create();
    return { server, container, target: container.getBlockBlobClient('target') };
}

// Each way in which a request names a source, to blobs of their own.
function waysOf(container) {
    const block = container.getBlockBlobClient('block');
    const append = container.getAppendBlobClient('append');
    const page = container.getPageBlobClient('page');
    return {
        block, append, page,
        all: {
            'Put Blob From URL': (url) => block.syncUploadFromURL(url),
            'Copy Blob From URL': (url) => block.syncCopyFromURL(url),
            'Copy Blob': (url) => block.beginCopyFromURL(url),
            'Put Block From URL': (url) => block.stageBlockFromURL(blockId(1), url),
            'Append Block From URL': (url) => append.appendBlockFromURL(url, 0, 512),
            'Put Page From URL': (url) => page.uploadPagesFromURL(url, 0, 0, 512),
        },
    };
}

// Its status and x-ms-copy-source-status-code.
async function refusal(promise, said) {
    const answer = await promise.catch((error) => error);
    assert.ok(answer.statusCode !== undefined, `${said}: ${answer.message ?? 'taken'}`);
    assert.equal(answer.code, 'CannotVerifyCopySource', said);
    return [answer.statusCode, answer.response?.headers.get('x-ms-copy-source-status-code')];
}

test('statuses that no answer can have', async (t) => {
    const lines = ['HTTP/1.1 700 x', 'HTTP/1.1 999 x', 'HTTP/1.1 600 x', 'HTTP/1.1 000 x', 'HTTP/1.1 099 x',
        'HTTP/1.1 201 x', 'HTTP/1.1 204 x', 'HTTP/1.1 299 x', 'HTTP/1.1 101 x', 'HTTP/1.1 1000 x', 'HTTP/1.1 x',
        'HTTP/9.9 200 x', 'ICY 200 x', '', 'HTTP/1.1 200 x\r\nHTTP/1.1 700 x'];
    const answers = Object.fromEntries(lines.map((line, i) =>
        [`/${i}`, `${line}\r\nContent-Length: 512\r\n${PAGES}\r\n${'x'.repeat(512)}`]));
    const source = await rawSource(t, answers);
    const { container } = await newTarget(t);
    const { all, append, page } = waysOf(container);
    await append.create();
    await page.create(512);
    for (const [i, line] of lines.entries()) {
        for (const [name, way] of Object.entries(all)) {
            const [status] = await refusal(way(`${source.url}/${i}`), `${name}: ${line}`);
            assert.ok([403, 500].includes(status), `${name}: ${line}: ${status}`);
        }
    }
});

// What a header may have, sent back as it came; and what it may not.
const GOOD = { 'content-type': 'text/x; a="\xe9"', 'cache-control': 'a\tb', 'x-ms-meta-a_1': 'e\tx', 'content-language': 'y'.repeat(8000) };
const BAD = [
    ['content-type: a\x01b'], ['content-encoding: \x7f'], ['content-language: a\x1b[0m'], ['content-disposition: \x0bx'],
    [`cache-control: ${'x'.repeat(40000)}`], [`cache-control: ${'x'.repeat(9000)}`, `content-type: ${'x'.repeat(9000)}`],
    ['x-ms-meta-a: \x02'], ['x-ms-meta-a: \xe9'], ['x-ms-meta-1: x'], ['x-ms-meta-: x'], ['x-ms-meta-a-b: x'], ['x-ms-meta-a: 1', 'x-ms-meta-A: 2'],
    [`x-ms-meta-a: ${'x'.repeat(9000)}`], ['etag: "\x01"'],
    Array.from({ length: 300 }, (_, i) => `x-many-${i}: 1`), [`x-long: ${'x'.repeat(70000)}`], ['x-a: 1', ' x-ms-meta-b: folded'],
];

test('a blob has no property of a source that could not be sent back', async (t) => {
    // decision: 241
    const headOf = (lines) => `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n${lines.join('\r\n')}\r\n\r\nhello`;
    const source = await rawSource(t, { '/good': headOf(Object.entries(GOOD).map(([name, value]) => `${name}: ${value}`)),
        ...Object.fromEntries(BAD.map((lines, i) => [`/${i}`, headOf(lines)])) });
    const { container, target } = await newTarget(t);
    const { all } = waysOf(container);
    for (const [i, lines] of BAD.entries()) {
        for (const name of ['Put Blob From URL', 'Copy Blob From URL', 'Copy Blob']) {
            const answer = await all[name](`${source.url}/${i}`).catch((error) => error);
            const said = `${name}: ${lines[0].slice(0, 40)}`;
            assert.ok([400, 403, 500].includes(answer.statusCode), `${said}: ${answer.statusCode ?? answer.message ?? 'taken'}`);
            assert.match(answer.code, /^(CannotVerifyCopySource|InvalidMetadata|EmptyMetadataKey|MetadataTooLarge)$/, said);
        }
    }
    await target.syncCopyFromURL(`${source.url}/good`);
    const { contentType, cacheControl, metadata, contentLanguage } = await target.getProperties();
    assert.deepEqual([contentType, cacheControl, metadata, contentLanguage],
        [GOOD['content-type'], GOOD['cache-control'], { a_1: GOOD['x-ms-meta-a_1'] }, GOOD['content-language']]);
    const names = [];
    for await (const { name } of container.listBlobsFlat({ includeMetadata: true }))
        names.push(name);
    assert.deepEqual(names, ['target']);
});

test('lengths that lie', async (t) => {
    // rfc: 9112 6.3, 9110 14.4, 15.3.7. What is taken are the bytes that were asked for, or none.
    const page = 'x'.repeat(512);
    const part = (range, length, body, more = '') => `HTTP/1.1 206 x\r\n${range ? `Content-Range: ${range}\r\n` : ''}` +
        `${length === undefined ? '' : `Content-Length: ${length}\r\n`}${PAGES}${more}\r\n${body}`;
    const chunked = (...chunks) => [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
    const refusing = {
        '/short': `HTTP/1.1 200 x\r\nContent-Length: 600\r\n\r\n${page.slice(0, 500)}`,
        '/other-range': part('bytes 512-1023/2048', 512, page),
        '/no-range': part(undefined, 512, page),
        '/range-more': part('bytes 0-1023/2048', 1024, page + page),
        '/range-length': part('bytes 0-511/2048', 1024, page + page),
        '/range-less': part('bytes 0-99/2048', 100, page.slice(0, 100)),
        '/range-total': part('bytes 0-511/100', 512, page),
        '/range-back': part('bytes 0--1/2048', 512, page),
        '/range-words': part('bytes 0-511', 512, page),
        '/range-chunked': part('bytes 0-511/2048', undefined, chunked('abc'), 'Transfer-Encoding: chunked\r\n'),
        '/cut-chunk': `HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n200\r\nabc`,
        '/nothing': '',
        '/cut-head': 'HTTP/1.1 200 x\r\nContent-Le',
    };
    const taken = {
        '/more': `HTTP/1.1 200 x\r\nContent-Length: 512\r\n\r\n${page}${page}`,
        '/both': `HTTP/1.1 200 x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${chunked('x'.repeat(5), 'x'.repeat(507))}`,
        '/whole': `HTTP/1.1 200 x\r\n\r\n${page}`,
        '/part': part('bytes 0-511/2048', 512, page),
        '/part-chunked': part('bytes 0-511/*', undefined, chunked('x'.repeat(12), 'x'.repeat(500)), 'Transfer-Encoding: chunked\r\n'),
        '/trailer': `HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n200\r\n${page}\r\n0\r\nHTTP/1.1: 404 x\r\nx-ms-meta-b: 1\r\n\r\n`,
    };
    const source = await rawSource(t, { ...refusing, ...taken });
    const { container } = await newTarget(t);
    const { block } = waysOf(container);
    const stage = (path) => block.stageBlockFromURL(blockId(1), `${source.url}${path}`, 0, 512);
    for (const path of Object.keys(refusing)) {
        const [status] = await refusal(stage(path), path);
        assert.ok([416, 500].includes(status), `${path}: ${status}`);
    }
    for (const path of Object.keys(taken)) {
        await stage(path);
        await block.commitBlockList([blockId(1)]);
        assert.equal((await block.downloadToBuffer()).toString(), page, path);
    }
    // Without a range: all there is.
    await block.syncUploadFromURL(`${source.url}/both`);
    assert.equal((await block.downloadToBuffer()).toString(), page);
});

test('answers without an end', async (t) => {
    const kilobyte = 'x'.repeat(1024);
    const source = await rawSource(t, {
        '/informed': endless('', 'HTTP/1.1 102 Processing\r\n\r\n'),
        '/head': endless('HTTP/1.1 200 x\r\n', 'x-a: b\r\n'),
        '/line': endless('HTTP/1.1 200 x\r\nx-a: ', kilobyte),
        '/moved': endless('HTTP/1.1 302 x\r\nLocation: /moved\r\nContent-Length: 9000000000\r\n\r\n', kilobyte),
        '/moved-nowhere': endless('HTTP/1.1 302 x\r\nLocation:\r\nContent-Length: 9000000000\r\n\r\n', kilobyte),
        '/switched': endless('HTTP/1.1 101 x\r\n\r\n', kilobyte),
        '/round': 'HTTP/1.1 308 x\r\nLocation: /round\r\nContent-Length: 0\r\n\r\n',
        '/other': 'HTTP/1.1 302 x\r\nLocation: gopher://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n',
        '/304': 'HTTP/1.1 304 x\r\nLocation: /good\r\n\r\n',
        '/good': 'HTTP/1.1 200 x\r\nContent-Length: 512\r\n\r\n' + 'x'.repeat(512),
        '/body': endless('HTTP/1.1 200 x\r\n\r\n', kilobyte),
    });
    const { container } = await newTarget(t);
    const { all, append, page } = waysOf(container);
    await append.create();
    await page.create(512);
    for (const path of ['/informed', '/head', '/line', '/moved', '/moved-nowhere', '/switched', '/round', '/other', '/304']) {
        for (const [name, way] of Object.entries(all)) {
            const answer = await way(`${source.url}${path}`).catch((error) => error);
            assert.ok([302, 304, 403, 412, 500].includes(answer.statusCode), `${name} ${path}: ${answer.statusCode ?? 'taken'}`);
        }
    }
    // Of a body without an end come the bytes that were asked for.
    for (const name of ['Append Block From URL', 'Put Page From URL'])
        assert.equal((await all[name](`${source.url}/body`))._response.status, 201, name);
    assert.deepEqual(await page.downloadToBuffer(), Buffer.alloc(512, 'x'));
});

// Ends a pending copy to a new blob; the source's later answers are those of `later`.
async function copied(t, container, name, answers) {
    let asked = 0;
    const source = await rawSource(t, { '/b': (socket, head) => {
        const answer = answers[Math.min(asked++, answers.length - 1)];
        return typeof answer === 'function' ? answer(socket, head) : answer;
    } });
    const target = container.getPageBlobClient(name);
    await target.beginCopyFromURL(`${source.url}/b`);
    return { target, properties: () => target.getProperties(), ended: () => until(async () => {
        const got = await target.getProperties();
        return got.copyStatus !== 'pending' && got;
    }) };
}

test('a page blob whose source becomes another between two readings', async (t) => {
    const size = 9 << 20;
    const of = (length, more = '') => `HTTP/1.1 200 x\r\n${length === undefined ? '' : `Content-Length: ${length}\r\n`}${PAGES}${more}\r\n`;
    const body = 'x'.repeat(size);
    const { container } = await newTarget(t);
    const others = {
        odd: of(1000) + 'x'.repeat(1000),
        longer: of(size + 512) + body + 'x'.repeat(512),
        shorter: of(size - 512) + body.slice(512),
        unknown: of(undefined) + 'x'.repeat(1000),
        huge: of('9223372036854775807') + body,
    };
    // What the request sees, which does not read on; what the job sees at once, or after a part of it.
    const begins = (socket) => void socket.write(of(size));
    await Promise.all(Object.entries(others).map(async ([name, other]) => {
        const first = await copied(t, container, name, [begins, other]);
        assert.equal((await first.ended()).copyStatus, 'failed', name);
        const cut = of(size) + body.slice(0, 5 << 20);
        const then = await copied(t, container, `${name}-then`, [begins, cut, other]);
        assert.equal((await then.ended()).copyStatus, 'failed', `${name}, later`);
    }));
    const good = await copied(t, container, 'good', [begins, of(size) + body]);
    assert.equal((await good.ended()).copyStatus, 'success');
    assert.equal((await good.target.downloadToBuffer()).toString(), body);
});

test('what a pending copy says of its source can be read', async (t) => {
    const { container } = await newTarget(t);
    const good = 'HTTP/1.1 200 x\r\nContent-Length: 5\r\nETag: "1"\r\n\r\nhello';
    for (const [i, code] of ['a\x01b', 'x'.repeat(30000), 'Gone<For>Ever', 'BlobNotFound'].entries()) {
        const copy = await copied(t, container, `c${i}`, [good,
            `HTTP/1.1 404 x\r\nx-ms-error-code: ${code}\r\nContent-Length: 0\r\n\r\n`]);
        const got = await copy.ended();
        assert.equal(got.copyStatus, 'failed');
        assert.match(got.copyStatusDescription, i === 3 ? /^404 BlobNotFound / : /^404 CannotVerifyCopySource /);
    }
    const odd = await copied(t, container, 'odd', [good, 'HTTP/1.1 700 x\r\nContent-Length: 0\r\n\r\n']);
    await until(async () => /^500 CannotVerifyCopySource /.test((await odd.properties()).copyStatusDescription ?? ''));
});

// Pending copies of one path to `count` blobs.
async function beginCopies(container, url, count) {
    for (let i = 0; i < count; i++)
        await container.getBlockBlobClient(`slow${i}`).beginCopyFromURL(url);
}

async function isCopied(blob, body) {
    await until(async () => (await blob.getProperties()).copyStatus === 'success', 60);
    assert.equal((await blob.downloadToBuffer()).toString(), body);
}

test('a source that trickles leaves threads to others', async (t) => {
    // decision: 284: of 12 threads one host has at most 4
    const slow = await rawSource(t, { '/slow': trickle(1 << 20) });
    const fast = await rawSource(t, { '/fast': 'HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\nhello' }, '127.0.0.2');
    const { container, target } = await newTarget(t);
    await beginCopies(container, `${slow.url}/slow`, 12);
    await until(() => slow.openCount() === 4);
    await target.beginCopyFromURL(`${fast.url}/fast`);
    await isCopied(target, 'hello');
    await until(() => slow.openCount() === 4);
    const requests = Array.from({ length: 12 }, (_, i) =>
        container.getBlockBlobClient(`read${i}`).syncUploadFromURL(`${slow.url}/slow`).catch((error) => error));
    await until(() => slow.openCount() === 4 + 8); // of 24
    await container.getBlockBlobClient('read').syncUploadFromURL(`${fast.url}/fast`);
    await until(() => slow.openCount() === 4 + 8);
    t.after(() => Promise.all(requests));
});

test('a source that trickles is given up, and those that wait for its host come next', async (t) => {
    // decision: 284
    const pages = `${PAGES}Accept-Ranges: bytes\r\n`;
    const source = await rawSource(t, { '/slow': trickle(1 << 20), '/pages': trickle(1 << 20, pages),
        '/head': (socket) => void socket.write('HTTP/1.1 200 x\r\n'),
        '/fast': 'HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\nhello' });
    const { container, target } = await newTarget(t, { LAGRA_SOURCE_PATIENCE_MS: '1000' });
    await beginCopies(container, `${source.url}/slow`, 7);
    await container.getPageBlobClient('pages').beginCopyFromURL(`${source.url}/pages`);
    await target.beginCopyFromURL(`${source.url}/fast`);
    await isCopied(target, 'hello');
    for (const path of ['slow', 'head']) {
        const [status] = await refusal(container.getBlockBlobClient('read').syncUploadFromURL(`${source.url}/${path}`), path);
        assert.equal(status, 500);
    }
    await until(async () => /^500 CannotVerifyCopySource /.test(
        (await container.getBlockBlobClient('slow0').getProperties()).copyStatusDescription ?? ''));
});
