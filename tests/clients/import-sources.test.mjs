// lagra import and export from sources that list in any order, repeat, leave out, end early or never end: what is left out is
// named, and the command fails. docs/import.md; decisions 905-907
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once as event } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TableClient, TableServiceClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { ShareServiceClient } from '@azure/storage-file-share';
import { QueueServiceClient } from '@azure/storage-queue';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { collect, credential, once } from './setup.mjs';
import { tableCredential } from './tables-setup.mjs';

const MOMENTS = Array.from({ length: 9 }, (_, i) => `2026-01-01T00:00:0${i}.1234567Z`);

async function listen(t, answer) {
    const source = http.createServer((request, response) => {
        const url = new URL(request.url, 'http://x');
        response.end(answer(url.searchParams, url.pathname, request, response) ?? '<X/>');
    });
    source.listen(0, '127.0.0.1');
    await event(source, 'listening');
    t.after(() => source.close());
    return source.address().port;
}

/** Runs lagra in a folder of its own, which is removed. */
async function lagra(t, words, from, to) {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-sources-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const { code, output, errors } = await run([...words, '--json', '--journal', path.join(folder, 'journal')],
        { LAGRA_FROM_CONNECTION_STRING: from, AZURE_STORAGE_CONNECTION_STRING: to?.connectionString ?? '' }, 60000);
    return { code, errors, result: JSON.parse(output.trim().split('\n').at(-1)) };
}

async function start(t) {
    const server = await Server.start();
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

// ---- blobs in any order ----

/** An entry of a listing: a blob, or one of its snapshots. Their bytes are of one length, so that only their order and MD5 tell
 *  them apart. */
const entry = (name, state) => ({ name, state, bytes: `${name} ${state ?? 'blob'}`.padEnd(30) });
const xmlOf = ({ name, state, bytes }) => `<Blob><Name>${name}</Name>${state === undefined ? '' : `<Snapshot>${MOMENTS[state]}</Snapshot>`}` +
    `<Properties><BlobType>BlockBlob</BlobType><Content-Type>text/plain</Content-Type><Content-Length>${bytes.length}</Content-Length>` +
    `<Content-MD5>${createHash('md5').update(bytes).digest('base64')}</Content-MD5></Properties></Blob>`;

/** A source with one container. pages(listing, query): pages of entries of its first listing (0), the second (1) and so on; the
 *  marker is what `markerOf` makes of a page's number, or its number. Returns its connection string. */
async function blobSource(t, pages) {
    let listings = -1;
    const all = new Map();
    const port = await listen(t, (query, location) => {
        if (query.get('comp') === 'list' && !query.get('restype'))
            return '<EnumerationResults><Containers><Container><Name>ccc</Name><Properties/></Container></Containers></EnumerationResults>';
        if (query.get('comp') === 'list') {
            const prefix = query.get('prefix');
            if (!query.get('marker') && prefix === null)
                listings++;
            const list = pages(Math.max(listings, 0), prefix);
            for (const one of list.flat())
                all.set(`${one.name}/${one.state === undefined ? '' : MOMENTS[one.state]}`, one.bytes);
            const at = Number(query.get('marker') ?? 0), more = at + 1 < list.length ? at + 1 : '';
            return `<EnumerationResults><Blobs>${list[at].map(xmlOf).join('')}</Blobs><NextMarker>${more}</NextMarker></EnumerationResults>`;
        }
        if (query.get('comp'))
            return '<X/>';
        return all.get(`${location.split('/').at(-1)}/${query.get('snapshot') ?? ''}`);
    });
    return `AccountName=x;AccountKey=c2VjcmV0;BlobEndpoint=http://127.0.0.1:${port}/x`;
}

async function bytesOf(server) {
    const container = new BlobServiceClient(server.url, credential, once).getContainerClient('ccc');
    const found = {};
    for (const item of await collect(container.listBlobsFlat({ includeSnapshots: true }))) {
        const blob = container.getBlobClient(item.name);
        (found[item.name] ??= []).push(`${await (item.snapshot ? blob.withSnapshot(item.snapshot) : blob).downloadToBuffer()}`);
    }
    return found;
}

const expected = (names, states) => Object.fromEntries(names.map((name) => [name, [...states, undefined].map((state) => entry(name, state).bytes)]));
const names = ['a', 'b', 'c'];
const listed = (...states) => names.flatMap((name) => states.map((state) => entry(name, state)));
const whole = [undefined, 0, 1, 2];
/** As Azurite has it: the next page begins behind the last name of this one, whatever is left of that name. */
const cutByName = (entries, size) => {
    const pages = [];
    for (let from = ''; ;) {
        const left = entries.filter(({ name }) => name > from);
        if (left.length === 0)
            return pages.at(-1).length < size ? pages : [...pages, []];
        pages.push(left.slice(0, size));
        from = pages.at(-1).at(-1).name;
    }
};

for (const [name, pages] of [
    ['the blob before its snapshots', () => [listed(undefined, 0, 1, 2)]],
    ['the blob behind its snapshots', () => [listed(0, 1, 2, undefined)]],
    ['the newest snapshot first', () => [listed(undefined, 2, 1, 0)]],
    ['the blob among its snapshots', () => [listed(1, undefined, 0, 2)]],
    ['another order each time', (listing) => [listing === 0 ? listed(undefined, 2, 0, 1) : listed(2, 1, undefined, 0)]],
    ['entries twice', () => [listed(undefined, undefined, 0, 0, 1, 2, 1)]],
    ['the last entry of a page again', () => [listed(...whole).slice(0, 5), listed(...whole).slice(4)]],
    ['pages whose markers are names', (listing, prefix) => (prefix === null ? cutByName(listed(...whole), listing === 0 ? 3 : 5) : [listed(...whole).filter((one) => one.name.startsWith(prefix))])],
]) {
    test(`an import from a source that lists ${name}`, async (t) => {
        const to = await start(t);
        const { code, errors, result } = await lagra(t, ['import'], await blobSource(t, pages), to);
        assert.equal(code, 0, errors);
        assert.deepEqual([result.compared, result.missing, result.differing], [13, 0, 0]);
        assert.deepEqual(await bytesOf(to), expected(names, [0, 1, 2]));
    });
}

// What the copy does not understand, or is not shown, is found by the second listing.
for (const [name, pages, problem] of [
    ['hides a blob at first', (listing) => [listed(...whole).filter((one) => listing > 0 || one.name !== 'b')], /blob ccc\/b is missing at the target/],
    ['hides a snapshot at first', (listing) => [listed(...whole).filter((one) => listing > 0 || one.name !== 'b' || one.state !== 1)], /blob ccc\/b: snapshot 2 of 3 is missing/],
    ['ends early at first', (listing) => [listed(...whole).slice(0, listing === 0 ? 6 : 12)], /blob ccc\/c is missing at the target/],
    ['hides all at first', (listing) => [listing === 0 ? [] : listed(...whole)], /blob ccc\/a is missing at the target/],
    ['lists snapshots behind all blobs', () => [names.map((one) => entry(one)), listed(0)], /blob ccc\/a: snapshot 1 of 1 is missing/],
    ['has another blob of the name later', (listing) => [[{ ...entry('a'), bytes: listing === 0 ? 'short' : 'longer' }]], /blob ccc\/a has another MD5 than at the source/],
]) {
    test(`an import from a source that ${name} fails, and names it`, async (t) => {
        const { code, errors, result } = await lagra(t, ['import'], await blobSource(t, pages), await start(t));
        assert.equal(code, 1, errors);
        assert.match(errors, problem);
        assert.ok(result.missing + result.differing > 0);
    });
}

// ---- a server behind a proxy that hides things ----

/** Passes requests on to the services of a server; `change(body, listing)` changes the answers to listings: the body, and how
 *  often this was listed before. */
async function through(t, server, change) {
    const seen = new Map();
    let connection = server.connectionString;
    for (const name of ['blob', 'queue', 'table', 'file']) {
        const { port } = new URL(name === 'blob' ? server.url : server.urlOf(name));
        const proxy = http.createServer((request, response) => {
            const onward = http.request({ host: '127.0.0.1', port, method: request.method, path: request.url, headers: request.headers }, async (answer) => {
                const key = request.url.replace(/&maxresults=\d+/, '');
                const isListing = request.method === 'GET' && (/comp=list/.test(key) || name === 'table');
                const parts = [];
                for await (const part of answer)
                    parts.push(part);
                const count = seen.get(name + key) ?? 0;
                seen.set(name + key, count + 1);
                const body = isListing ? Buffer.from(change(`${Buffer.concat(parts)}`, count)) : Buffer.concat(parts);
                delete answer.headers['transfer-encoding'];
                response.writeHead(answer.statusCode, request.method === 'HEAD' ? answer.headers : { ...answer.headers, 'content-length': body.length });
                response.end(body);
            });
            request.pipe(onward);
        });
        proxy.listen(0, '127.0.0.1');
        await event(proxy, 'listening');
        t.after(() => proxy.close());
        connection = connection.replace(`:${port}/`, `:${proxy.address().port}/`);
    }
    return connection;
}

async function fill(server) {
    const tableOptions = { allowInsecureConnection: true };
    const blobs = new BlobServiceClient(server.url, credential, once), files = new ShareServiceClient(server.urlOf('file'), credential, once);
    for (const name of ['hidden', 'shown']) {
        const container = blobs.getContainerClient(name);
        await container.create();
        await container.getBlockBlobClient(`b${name}`).upload(name, name.length);
        await new QueueServiceClient(server.urlOf('queue'), credential, once).createQueue(name);
        await new TableServiceClient(server.urlOf('table'), tableCredential, tableOptions).createTable(name);
        await new TableClient(server.urlOf('table'), name, tableCredential, tableOptions).createEntity({ partitionKey: 'p', rowKey: `r${name}` });
        const share = files.getShareClient(name);
        await share.create();
        await share.getDirectoryClient(`d${name}`).create();
        await share.getDirectoryClient(`d${name}`).getFileClient(`f${name}`).create(0);
    }
}

/** A body without the element, or member of a list, that has this name. */
function without(body, element, name) {
    if (element === 'Table' || element === 'Entity') {
        const page = body.startsWith('{') ? JSON.parse(body) : {};
        if (!page.value)
            return body;
        page.value = page.value.filter((one) => (element === 'Table' ? one.TableName : one.RowKey) !== name);
        return JSON.stringify(page);
    }
    return body.replace(new RegExp(`<${element}>(?:(?!</${element}>).)*<Name>${name}</Name>.*?</${element}>`, 's'), '');
}

const HIDDEN = [
    ['Container', 'hidden', /container hidden is missing/], ['Blob', 'bhidden', /blob hidden\/bhidden is missing/],
    ['Queue', 'hidden', /queue hidden is missing/], ['Table', 'hidden', /table hidden is missing/],
    ['Entity', 'rhidden', /entity hidden\(PartitionKey='p',RowKey='rhidden'\) is missing/], ['Share', 'hidden', /share hidden is missing/],
    ['Directory', 'dhidden', /directory hidden\/dhidden is missing/], ['File', 'fhidden', /file hidden\/dhidden\/fhidden is missing/],
];

// Everything that an account has, in an import and in an export.
test('an import from a server that hides something at first fails, and names it', async (t) => {
    const from = await start(t);
    await fill(from);
    for (const [element, name, problem] of HIDDEN) {
        const to = await Server.start();
        const hiding = await through(t, from, (body, count) => (count === 0 ? without(body, element, name) : body));
        const first = await lagra(t, ['import'], hiding, to);
        assert.equal(first.code, 1, element + first.errors);
        assert.match(first.errors, problem);
        const again = await lagra(t, ['import'], hiding, to);
        assert.equal(again.code, 0, element + again.errors);
        await to.kill();
        await to.remove();
    }
});

// Of an old data folder: the URL of `f.` means `f` there. decision: 39
test('an export does not take the bytes of another blob for those of one that no URL reaches', async (t) => {
    const from = await start(t);
    const container = BlobServiceClient.fromConnectionString(from.connectionString).getContainerClient('ccc');
    await container.create();
    await container.getBlockBlobClient('f').upload('of f', 4);
    await container.getPageBlobClient('p').create(512);
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-sources-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const withDots = (body) => body.replace(/<Blob><Name>(\w)<\/Name>.*?<\/Blob>/gs, (blob) => `${blob}` +
        blob.replace('</Name>', '.</Name>').replace(/<Etag>[^<]*/, '<Etag>0x8D0000000000000'));
    const { code, errors } = await lagra(t, ['export', path.join(folder, 'out')], await through(t, from, withDots));
    assert.equal(code, 1, errors);
    for (const name of ['f', 'p'])
        assert.match(errors, new RegExp(`ccc/${name}\\.: cannot be read, because its URL addresses ${name}\n`));
    const lines = await readFile(path.join(folder, 'out', 'contents.jsonl'), 'utf8');
    assert.doesNotMatch(lines, /"name": ?"[fp]\."/);
    assert.match(lines, /"name": ?"f"/);
});

test('an export of a server that hides something at first fails, and names it', async (t) => {
    const from = await start(t);
    await fill(from);
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-sources-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    for (const [element, name, problem] of HIDDEN) {
        const hiding = await through(t, from, (body, count) => (count === 0 ? without(body, element, name) : body));
        const { code, errors } = await lagra(t, ['export', path.join(folder, element)], hiding);
        assert.equal(code, 1, element + errors);
        assert.match(errors, problem);
    }
    const { code, errors, result } = await lagra(t, ['export', path.join(folder, 'whole')], from.connectionString);
    assert.equal(code, 0, errors);
    assert.equal(result.compared, 16);
});

// ---- listings without an end ----

const page = (list, entries, marker) => `<EnumerationResults><${list}>${entries}</${list}><NextMarker>${marker}</NextMarker></EnumerationResults>`;
const container = page('Containers', '<Container><Name>ccc</Name><Properties/></Container>', '');
const blobsFor = (names) => names.map((name) => `<Blob><Name>${name}</Name><Properties><BlobType>BlockBlob</BlobType><Content-Length>0</Content-Length></Properties></Blob>`).join('');

// Markers repeat, or are new each time with entries that repeat, or with none.
for (const [name, service, answer] of [
    ['a marker again and again', 'Blob', (query) => (query.get('restype') ? page('Blobs', blobsFor(['a']), 'same') : container)],
    ['markers in a circle', 'Blob', (query, i) => (query.get('restype') ? page('Blobs', '', `m${i % 7}`) : container)],
    ['the same blobs under new markers', 'Blob', (query, i) => (query.get('restype') ? page('Blobs', blobsFor([`b${i % 3}`]), `m${i}`) : container)],
    ['pages without entries', 'Blob', (query, i) => (query.get('restype') ? page('Blobs', '', `m${i}`) : container)],
    ['containers without end', 'Blob', (query, i) => (query.get('restype') ? page('Blobs', '', '') : page('Containers', '<Container><Name>ccc</Name></Container>', `m${i}`))],
    ['queues without end', 'Queue', (query, i) => page('Queues', '', `m${i}`)],
    ['shares without end', 'File', (query, i) => (query.get('restype') ? page('Entries', '', '') : page('Shares', '<Share><Name>sss</Name><Properties><Quota>1</Quota></Properties></Share>', `m${i}`))],
    ['files without end', 'File', (query, i) => (query.get('restype') ? page('Entries', '', `m${i}`) : page('Shares', '<Share><Name>sss</Name><Properties><Quota>1</Quota></Properties></Share>', ''))],
    ['directories without end', 'File', (query) => (query.get('restype') ? page('Entries', `<Directory><Name>${'d'.repeat(255)}</Name></Directory>`, '')
        : page('Shares', '<Share><Name>sss</Name><Properties><Quota>1</Quota></Properties></Share>', ''))],
    ['tables without end', 'Table', (query, i, response) => {
        response.setHeader('x-ms-continuation-NextTableName', `m${i}`);
        return '{"value":[]}';
    }],
    ['entities without end', 'Table', (query, i, response, location) => {
        if (location.endsWith('Tables'))
            return '{"value":[{"TableName":"ttt"}]}';
        response.setHeader('x-ms-continuation-NextPartitionKey', `m${i}`);
        return '{"value":[{"PartitionKey":"p","RowKey":"r"}]}';
    }],
]) {
    test(`an import from a source that lists ${name} ends`, async (t) => {
        let requests = 0;
        const port = await listen(t, (query, location, { method }, response) => {
            if (['properties', 'acl', 'metadata'].includes(query.get('comp')) || method === 'HEAD')
                return '<X/>';
            return query.get('comp') === 'list' || service === 'Table' ? answer(query, requests++, response, location) : '';
        });
        const { code, errors } = await lagra(t, ['import'], `AccountName=x;AccountKey=c2VjcmV0;${service}Endpoint=http://127.0.0.1:${port}/x`, await start(t));
        assert.equal(code, 1, errors);
        assert.match(errors, /does not end|too many directories/);
        assert.ok(requests < 11000, `${requests} pages`);
    });
}

// ---- what means nothing at the target, or is not complete ----

const LOGGING = '<Logging><Version>1.0</Version><Read>true</Read><Write>true</Write><Delete>true</Delete><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>';

// Azurite says that it logs and does not; Azure does. decision: 908
for (const [server, logs] of [['Azurite-Blob/3.35.0', false], ['Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0', true]]) {
    test(`Logging properties of ${server} in an import`, async (t) => {
        const to = await start(t);
        const port = await listen(t, (query, location, request, response) => {
            response.setHeader('Server', server);
            return query.get('comp') === 'properties' ? `<StorageServiceProperties>${LOGGING}<DefaultServiceVersion>2020-02-10</DefaultServiceVersion></StorageServiceProperties>` : container;
        });
        const { code, errors } = await lagra(t, ['import'], `AccountName=x;AccountKey=c2VjcmV0;BlobEndpoint=http://127.0.0.1:${port}/x`, to);
        assert.equal(code, 0, errors);
        const { blobAnalyticsLogging: { read, write, deleteProperty }, defaultServiceVersion } = await new BlobServiceClient(to.url, credential, once).getProperties();
        assert.deepEqual([read, write, deleteProperty], [logs, logs, logs]);
        assert.equal(defaultServiceVersion, '2020-02-10');
        assert.equal(/Logging properties of the blob service are left out/.test(errors), !logs);
    });
}

const queueOf = (server, name) => new QueueServiceClient(server.urlOf('queue'), credential, once).getQueueClient(name);

// An export that was killed has no mark of its end, or a queue without its own. decision: 910
test('an import of an export that is incomplete fails', async (t) => {
    const from = await start(t);
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-sources-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await fill(from);
    await queueOf(from, 'shown').sendMessage('m');
    const out = path.join(folder, 'out'), account = path.join(out, 'account.jsonl'), contents = path.join(out, 'contents.jsonl'), mark = path.join(out, 'complete.json');
    const exported = await lagra(t, ['export', out], from.connectionString);
    assert.equal(exported.code, 0, exported.errors);
    const good = await Promise.all([account, contents, mark].map((file) => readFile(file, 'utf8')));
    const cases = [
        [[good[0], good[1], '{'], /no complete\.json/],
        [[good[0], good[1].slice(0, good[1].lastIndexOf('\n', good[1].length - 2) + 1), good[2]], /lines of it are missing/],
        [[good[0].slice(0, good[0].indexOf('{"kind":"message"')), good[1], good[2]], /queue shown has no end/],
    ];
    for (const [texts, problem] of cases) {
        await Promise.all([account, contents, mark].map((file, i) => writeFile(file, texts[i])));
        const { code, errors } = await lagra(t, ['import', out], '', await start(t));
        assert.equal(code, 1, errors);
        assert.match(errors, problem);
    }
    await Promise.all([account, contents, mark].map((file, i) => writeFile(file, good[i])));
    const { code, errors } = await lagra(t, ['import', out], '', await start(t));
    assert.equal(code, 0, errors);
});

test('an import of a queue that another import has not finished fails', async (t) => {
    const from = await start(t), to = await start(t);
    await queueOf(from, 'qqq').create({ metadata: { lagra_unfinished: '1' } });
    const { code, errors } = await lagra(t, ['import'], from.connectionString, to);
    assert.equal(code, 1);
    assert.match(errors, /queue qqq is incomplete at the source/);
});

// Neither by rounding nor by another clock. decision: 909
test('a message does not expire earlier for having been imported', async (t) => {
    const from = await start(t);
    const to = await start(t);
    const sent = [];
    for (let i = 0; i < 8; i++) {
        sent.push((await queueOf(from, 'qqq').createIfNotExists(), await queueOf(from, 'qqq').sendMessage(`m${i}`, { messageTimeToLive: 100 + i })).expiresOn);
        await delay(130);
    }
    const { code, errors } = await lagra(t, ['import'], from.connectionString, to);
    assert.equal(code, 0, errors);
    const { peekedMessageItems } = await queueOf(to, 'qqq').peekMessages({ numberOfMessages: 32 });
    const later = peekedMessageItems.map(({ expiresOn }, i) => expiresOn - sent[i]);
    assert.ok(later.every((ms) => ms >= 1000 && ms <= 3000), `${later}`);
});
