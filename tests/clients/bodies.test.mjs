// An operation that has no body refuses one in every version: InvalidHeaderValue of Content-Length, as the service
// says of Create File (MicrosoftDocs/feedback#1006, 2019). Requests are made from the rows of the operation tables,
// so that a new row is covered. decision: 875
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { raw, rawRefused } from './raw.mjs';
import { newBlob } from './setup.mjs';
import { newShare, rawFile } from './shares-setup.mjs';

const NEWEST = '2026-10-06';
const PORTS = {
    blob: process.env.LAGRA_TEST_URL,
    queue: process.env.LAGRA_TEST_QUEUE_URL,
    table: process.env.LAGRA_TEST_TABLE_URL,
    file: process.env.LAGRA_TEST_FILE_URL,
};
const VALUES = {
    'x-ms-copy-source': 'http://127.0.0.1/c/b', '?versionid': '2026-01-02T03:04:05.1234567Z', 'if-match': '*',
};

const rows = JSON.parse(execFileSync(process.env.LAGRA_BINARY, ['operations', '--json'], { encoding: 'utf8' }));

/** The parts of a row's variant as pairs; those of the query begin with "?". */
const pairsOf = ({ variant }) => variant.split('&').filter((part) => part).map((part) => {
    const [name, value] = part.split('=');
    return [name, value ?? VALUES[name] ?? '1'];
});

function pathOf(row) {
    const level = row.level === 'any' ? '/' : row.level.replace(/^\/(container|share|queue)/, '/some');
    const query = [row.selector, ...pairsOf(row).filter(([name]) => name.startsWith('?'))
        .map(([name, value]) => `${name.slice(1)}=${value}`)].filter((part) => part).join('&');

    return query ? `${level}?${query}` : level;
}

const headersOf = (row) => Object.fromEntries(pairsOf(row).filter(([name]) => !name.startsWith('?')));

function ask(row, method, version, headers, body) {
    const { hostname: host, port } = new URL(PORTS[row.service]);
    return raw(method, pathOf(row), { ...headersOf(row), ...headers }, body,
        { base: { host, port: Number(port) }, version, service: row.service });
}

const refusing = rows.filter(({ body, built }) => built && body === 'refused');

for (const service of ['blob', 'queue', 'table', 'file']) {
    test(`${service}: a body is refused by every operation that has none`, async () => {
        const of = refusing.filter((row) => row.service === service);
        assert.ok(of.length > 5);
        for (const row of of) {
            for (const method of row.methods) {
                for (const version of [row.since, NEWEST]) {
                    const what = `${row.name} ${method} ${row.variant} ${version}`;
                    const answer = await ask(row, method, version, { 'Content-Length': '4' }, 'body');
                    const code = method === 'HEAD' && version < '2017-07-29' ? undefined : 'InvalidHeaderValue'; // nowhere
                    assert.deepEqual([answer.status, answer.code], [400, code], `${what}: ${answer.text}`);
                    if (method !== 'HEAD' && service !== 'table')
                        assert.match(answer.text, /<HeaderName>Content-Length<\/HeaderName><HeaderValue>4<\/HeaderValue>/, what);
                }
            }
        }
    });
}

test('only preflight requests and websites have bodies that are ignored', () => {
    for (const row of rows.filter(({ body }) => body === 'ignored'))
        assert.match(row.name, /^(Preflight .* Request|Get Static Website Content)$/);
});

test('a body in chunks is refused when its first byte arrives; an empty one is none', async (t) => {
    const { container, blob } = await newBlob(t);
    const path = `/${container.containerName}/${blob.name}`;
    const inChunks = { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' };
    const answer = await rawRefused(raw('DELETE', path, inChunks, '1\r\nx\r\n0\r\n\r\n'), 400, 'InvalidHeaderValue');
    assert.match(answer.text, /<HeaderName>Content-Length<\/HeaderName><HeaderValue>-1<\/HeaderValue>/);
    assert.ok(await blob.exists());
    assert.equal((await raw('DELETE', path, inChunks, '0\r\n\r\n')).status, 202);
});

test('nothing is changed by a request that is refused for its body', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    await file.create(4);
    const { etag } = await file.getProperties();
    for (const query of ['comp=metadata', 'comp=properties'])
        await rawRefused(rawFile('PUT', `/${share.name}/f?${query}`, { 'x-ms-meta-a': '1' }, '{}'), 400, 'InvalidHeaderValue');
    await rawRefused(rawFile('DELETE', `/${share.name}/f`, { 'Content-Length': '2' }, '{}'), 400, 'InvalidHeaderValue');
    assert.equal((await file.getProperties()).etag, etag);
});

test('Create File brings content since 2026-02-06 and is refused with a body before', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    const create = (version, body, length = 4) =>
        rawFile('PUT', `/${share.name}/f`, { 'x-ms-type': 'file', 'x-ms-content-length': `${length}` }, body, { version });

    for (const version of ['2014-02-14', '2019-02-02', '2021-06-08', '2026-02-05']) {
        await rawRefused(create(version, 'text'), 400, 'InvalidHeaderValue');
        assert.equal(await file.exists(), false);
    }
    for (const version of ['2026-02-06', '2026-04-06', '2026-06-06', '2026-10-05', NEWEST]) {
        const answer = await create(version, version.slice(-4));
        assert.equal(answer.status, 201, answer.text);
        assert.equal(answer.headers.get('content-md5')?.length, 24);
        assert.equal(`${await file.downloadToBuffer()}`, version.slice(-4));
        await file.delete();
    }
    const most = 4 << 20;
    assert.equal((await create(NEWEST, Buffer.alloc(most, 'x'), most)).status, 201);
    await rawRefused(create(NEWEST, Buffer.alloc(most + 1, 'x'), most + 1), 413, 'RequestBodyTooLarge');
});
