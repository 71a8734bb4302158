// The recordings as groups of exchanges, and a recorded exchange as a request to be sent again.
//
// A group is one test of one of Microsoft's SDKs against the real service. What a request needs and
// the recording has not (python.jsonl.gz: bytes of large bodies; node.jsonl.gz: request headers
// too) is made up where it does not matter, or taken from an answer; otherwise the request cannot
// be sent.
//
// cpp-answers.jsonl.gz has of a request what stands in its first line, and its version; where
// cpp.jsonl.gz has the same test, the rest is taken from there. cpp.jsonl.gz has whole requests. Its files-datalake/ tests and dfs.jsonl.gz are those of the Data
// Lake service (paths.mjs).

import { batchPartsOf } from './batches.mjs';
import { fileHeadersOf, fileOperationOf } from './files.mjs';
import { appendLengthOf, dataLakeName, isOfDataLake, leaseHeadersOf, pathOperationOf } from './paths.mjs';
import { messageBodyOf, queueOperationOf } from './queues.mjs';
import { describeTable, tableOperationOf, tableRequestOf } from './tables.mjs';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

const DEFAULT_LENGTH = 16;
// What the tests of copies have for a source.
const SOURCE_LENGTH = 8192;
const RUNS_APART_MS = 5000;
const MADE_MAX = 64 << 20;
const NOT_SENT = new Set(['authorization', 'host', 'date', 'x-ms-date', 'connection', 'accept',
    'accept-encoding', 'user-agent', 'content-length', 'transfer-encoding', 'expect']);

const SUMS = new Set(['content-md5', 'x-ms-blob-content-md5']);
const md5 = (bytes) => createHash('md5').update(bytes).digest('base64');

/** A request that cannot be made from what was recorded. */
export class NotRecorded extends Error {}

const readLines = (file) => gunzipSync(readFileSync(file)).toString('utf8').split('\n').filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Not text where the answer was no text. */
const textOf = (body) => (typeof body === 'string' ? body : null);

const keyOf = ({ test, i, method, path, status }) =>
    [test, i, method, path.replace(/(?<=[?&]marker=)[^&]*/, ''), status].join(' ');

/** Exchanges of cpp.jsonl.gz by keyOf(). It has most tests of cpp-answers.jsonl.gz as well, as recorded
 *  later, with whole requests. */
let twins = null;

function twinOf(exchange, folder) {
    twins ??= new Map(readLines(path.join(folder, 'cpp.jsonl.gz')).map((one) => [keyOf(one), one]));
    return twins.get(keyOf(exchange));
}

/** Adds the request of the exchange that was recorded later, with the version of this one. */
function addRequest(exchange, twin) {
    if (twin)
        Object.assign(exchange, {
            twin: { ...twin, at: Date.parse(twin.respHeaders.date), respBody: textOf(twin.respBody) },
            anonymous: twin.anonymous, reqBody: twin.reqBody,
            reqHeaders: { ...twin.reqHeaders, 'x-ms-version': exchange.version },
        });
}

/** Groups of one file's exchanges with a service: [{ service, name, runs }] in the order of the
 *  recording. */
export function groupsOf(file, service) {
    const groups = new Map();

    for (const exchange of readLines(file)) {
        if ((isOfDataLake(file, exchange) ? 'dfs' : exchange.svc) !== service)
            continue;
        const name = isOfDataLake(file, exchange) ? dataLakeName(exchange)
            : exchange.test ?? `${exchange.suite} ${exchange.group}`;
        const url = new URL(exchange.path, 'http://recorded');
        const [container, ...blob] = url.pathname.slice(1).split('/');
        Object.assign(exchange, {
            // Blobs of $root and containers look alike; the recordings have none of $root.
            container: container || null,
            blob: blob.join('/') || null,
            query: [...url.searchParams],
            parameter: (name) => url.searchParams.get(name),
            at: Date.parse(exchange.respHeaders.date),
            resource: url.pathname.replaceAll('%2F', '/') + (url.searchParams.get('snapshot') ?? url.searchParams.get('sharesnapshot') ?? ''),
            respBody: textOf(exchange.respBody),
        });
        exchange.error = exchange.respHeaders['x-ms-error-code']
            ?? (exchange.status < 300 ? undefined : /<Code>(\w+)<\/Code>/.exec(exchange.respBody ?? '')?.[1]);
        if (service === 'table')
            describeTable(exchange);
        const source = exchange.reqHeaders?.['x-ms-copy-source'];
        delete exchange.reqHeaders?.[':method']; // of HTTP/2
        if (source && path.basename(file) === 'protect.jsonl.gz')
            exchange.reqHeaders['x-ms-copy-source'] = source.replace(/^https:\/\/\w+\.blob\.core\.windows\.net/, `http://account.${service}`);
        // Left out of the responses in this recording, where requests had it.
        if (path.basename(file) === 'dfs.jsonl.gz')
            delete exchange.reqHeaders['x-ms-client-request-id'];
        if (path.basename(file) === 'cpp-answers.jsonl.gz')
            addRequest(exchange, twinOf(exchange, path.dirname(file)));
        groups.set(name, [...(groups.get(name) ?? []), exchange]);
    }
    return [...groups].map(([group, exchanges]) => ({
        service, name: group, runs: runsOf(exchanges.sort((a, b) => a.i - b.i)),
    }));
}

/** Some tests were recorded several times, one run after the other, each in a container made anew.
 *  A run begins where the first request comes again after a while; of a table's request too little
 *  was recorded to tell. */
function runsOf(exchanges) {
    const kind = ({ method, path, reqHeaders }) => [method, path, reqHeaders?.['x-ms-lease-action'],
        ...Object.keys(reqHeaders ?? {}).sort()].join();
    const first = kind(exchanges[0]);
    const runs = [];

    for (const exchange of exchanges) {
        const gap = exchange.at - runs.at(-1)?.at(-1).at;
        const begins = gap >= RUNS_APART_MS && kind(exchange) === first && exchange.svc !== 'table';
        if (runs.length === 0 || begins)
            runs.push([]);
        runs.at(-1).push(exchange);
    }
    return runs;
}

/** Short form of what is asked: "PUT blob?comp=block", "GET service?comp=list". */
export function operationOf(exchange) {
    const { svc, method, container, blob, parameter } = exchange;
    if (svc === 'queue')
        return queueOperationOf(exchange);
    if (svc === 'table')
        return tableOperationOf(exchange);
    if (svc === 'file')
        return fileOperationOf(exchange);
    if (svc === 'dfs')
        return pathOperationOf(exchange);
    const level = blob ? 'blob' : container ? 'container' : 'service';
    const comp = parameter('comp');

    return `${method} ${level}${comp ? `?comp=${comp}` : ''}`;
}

/** Containers that were there before the run began: the first answer about them shows it. */
export function containersBefore(exchanges) {
    const before = new Map();

    for (const exchange of exchanges) {
        const { container, method, blob, status, error } = exchange;
        if (!container || before.has(container))
            continue;
        const creates = method === 'PUT' && !blob && !exchange.parameter('comp');
        const missing = ['ContainerNotFound', 'ShareNotFound', 'FilesystemNotFound'].includes(error) || (status === 404 && !blob);
        before.set(container, !missing && !(creates && status === 201));
    }
    return before;
}

/** For how many days the account kept what was deleted, blobs and containers: 0 unless its answers to deletes say that
 *  it did, or one was restored; a week unless a list says how many are left. */
export function daysKept(exchanges) {
    const left = exchanges.map(({ respBody }) => /<RemainingRetentionDays>(\d+)/.exec(respBody)?.[1]).find((days) => days);
    const days = left ? Number(left) + 1 : 7;
    const keepsBlobs = exchanges.some(({ respHeaders }) => respHeaders['x-ms-delete-type-permanent'] === 'false');
    const keepsContainers = exchanges.some(({ parameter }) => parameter('comp') === 'undelete' && parameter('restype') === 'container');

    return { blobs: keepsBlobs ? days : 0, containers: keepsContainers ? days : 0 };
}

const SECTIONS = /<(Logging|HourMetrics|MinuteMetrics|Cors|DeleteRetentionPolicy|StaticWebsite|DefaultServiceVersion)(?:>.*?<\/\1>| ?\/>)/gs;
const sectionsIn = (xml) => [...(xml ?? '').matchAll(SECTIONS)];

/** The account's service properties before the run: those that the first response shows, except the ones that
 *  the run has set before. */
export function propertiesBefore(exchanges) {
    const all = exchanges.filter(({ container, parameter }) => !container && parameter('comp') === 'properties');
    const first = all.findIndex(({ method }) => method === 'GET');
    const set = all.slice(0, Math.max(0, first)).flatMap(({ reqBody }) => sectionsIn(reqBody)).map(([, name]) => name);
    const shown = sectionsIn(all[first]?.respBody);

    return shown.filter(([, name]) => !set.includes(name)).map(([text]) => text).join('');
}

/** Block blobs that were there before the run began, as far as its first answer about them shows
 *  them: [{ path, length, headers, blocks }]. blocks: without an MD5, as if put in blocks. */
export function blobsBefore(exchanges) {
    const seen = new Set();
    const blobs = [];

    for (const { blob, method, resource, status, respHeaders } of exchanges) {
        if (!blob || seen.has(resource))
            continue;
        seen.add(resource);
        const total = /\/(\d+)$/.exec(respHeaders['content-range'] ?? '')?.[1];
        const length = Number(total ?? respHeaders['content-length']);
        if (!['GET', 'HEAD'].includes(method) || ![200, 206].includes(status) ||
            !respHeaders['x-ms-blob-type'] || !(length <= MADE_MAX))
            continue;
        const sums = ['content-md5', 'x-ms-blob-content-md5'];
        blobs.push({
            path: resource, length, type: respHeaders['x-ms-blob-type'],
            headers: Object.entries(respHeaders).filter(([name]) => name.startsWith('x-ms-meta-')),
            blocks: !sums.some((name) => name in respHeaders),
        });
    }
    return blobs;
}

/** The blob or file that a copy is made of, or a rename: { path, snapshot, isSigned }; null: none, or
 *  it is elsewhere. */
export function sourceOf({ svc, reqHeaders }) {
    const text = reqHeaders?.['x-ms-copy-source'] ?? reqHeaders?.['x-ms-file-rename-source'];
    const url = text && URL.canParse(text) ? new URL(text) : null;

    if (url?.hostname !== `account.${svc}` || !/^\/[^/]+\/./.test(url.pathname))
        return null;
    return {
        path: url.pathname, snapshot: url.searchParams.get('snapshot') ?? url.searchParams.get('sharesnapshot'),
        isSigned: url.searchParams.has('sig'),
    };
}

/** Sources of copies whose upload was not recorded, made up: as blobsBefore(), and the ETag that
 *  the recording gives them. */
export function sourcesBefore(exchanges) {
    const seen = new Set(blobsBefore(exchanges).map(({ path }) => path));
    const made = new Map();

    for (const exchange of exchanges) {
        const { reqHeaders, status } = exchange;
        const source = sourceOf(exchange);
        seen.add(exchange.resource);
        if (!source || source.snapshot || exchange.svc === 'file' || seen.has(source.path))
            continue;
        const found = made.get(source.path) ??
            { path: source.path, length: SOURCE_LENGTH, type: 'BlockBlob', headers: [] };
        if (status === 304)
            found.etag ??= reqHeaders['x-ms-source-if-none-match'];
        else if (status < 300)
            found.etag ??= reqHeaders['x-ms-source-if-match'];
        // pages are as long as what was read for them
        if (status < 300 && exchange.parameter('comp') === 'page')
            found.length = Math.max(found.length, 1 + Number(/-(\d+)$/.exec(reqHeaders['x-ms-source-range'] ?? '')?.[1] ?? 0));
        made.set(source.path, found);
    }
    return [...made.values()];
}

/* The MD5 of a range of a source that was made up. */
export function madeSourceMd5({ length }, range) {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [0, 0, length - 1];

    return md5(Buffer.alloc(length, 'x').subarray(Number(first), Number(last) + 1));
}

/* ---- node.jsonl.gz, cpp-answers.jsonl.gz: headers that the request must have had ---- */

function lengthOf(exchange, later) {
    const shown = later.find(({ resource, status }) => resource === exchange.resource &&
        (status === 200 || status === 206));
    const total = /\/(\d+)$/.exec(shown?.respHeaders['content-range'] ?? '')?.[1];

    const length = Number(total ?? shown?.respHeaders['content-length'] ?? DEFAULT_LENGTH);
    return length === 0 && exchange.parameter('comp') === 'block' ? DEFAULT_LENGTH : length;
}

/* The metadata that a request set is what the next answer that has any shows. */
function metadataOf(exchange, later) {
    const isMetadata = ([name]) => name.startsWith('x-ms-meta-');
    const answers = later.filter(({ resource }) => resource === exchange.resource)
        .map(({ respHeaders }) => Object.entries(respHeaders).filter(isMetadata));

    return Object.fromEntries(answers.find((headers) => headers.length > 0) ?? []);
}

const PROPERTIES = ['content-type', 'content-encoding', 'content-language', 'content-disposition', 'cache-control'];

/* The properties that a Put Blob set are what the next answer about the blob shows. */
function propertiesOf(exchange, later) {
    const shown = later.find(({ resource, method, status }) => resource === exchange.resource &&
        ['GET', 'HEAD'].includes(method) && (status === 200 || status === 206))?.respHeaders ?? {};
    const headers = PROPERTIES.filter((name) => name in shown).map((name) => [`x-ms-blob-${name}`, shown[name]]);

    if ('x-ms-access-tier-change-time' in shown)
        headers.push(['x-ms-access-tier', shown['x-ms-access-tier']]);
    return Object.fromEntries(headers);
}

const KEPT_IN_BODY = ['page', 'blocklist', 'tags', 'batch', 'userdelegationkey', 'undelete', 'query', 'seal'];

const CLIENT_REQUEST = '00000000-0000-0000-0000-000000000000';

/* What cannot be told of a request of cpp-answers.jsonl.gz. */
function assertTold({ method, blob, status, respHeaders, reqBody }, comp) {
    const sums = ['content-md5', 'x-ms-content-crc64'];

    if ([400, 401, 403, 416].includes(status))
        throw new NotRecorded('what was wrong with the request was not recorded');
    if ((KEPT_IN_BODY.includes(comp) && method !== 'GET') || (comp === 'block' && !reqBody))
        throw new NotRecorded('the body of the request was not recorded');
    /* Of the types of blobs, block blobs alone have sums when they are put. */
    if (method === 'PUT' && blob && !comp && !sums.some((name) => name in respHeaders))
        throw new NotRecorded('the type of the blob was not recorded');
}

function guessedHeaders(exchange, later) {
    const { method, blob, reqBody, status, respHeaders, error } = exchange;
    const comp = exchange.parameter('comp');
    const headers = {
        'x-ms-version': respHeaders['x-ms-version'],
        ...('x-ms-client-request-id' in respHeaders ? { 'x-ms-client-request-id': CLIENT_REQUEST } : {}), // it was echoed
        ...(method === 'PUT' && !comp ? metadataOf(exchange, later) : {}),
    };

    if (status === 412 || status === 304 || error === 'ConditionNotMet')
        throw new NotRecorded('conditions of the request were not recorded');
    if (exchange.svc === 'dfs')
        return { ...headers, ...leaseHeadersOf(exchange, later) };
    if (exchange.svc === 'file') {
        const more = fileHeadersOf(exchange, later);
        if (!more)
            throw new NotRecorded('headers of the request were not recorded');
        return { ...headers, ...more };
    }
    if (exchange.version)
        assertTold(exchange, comp);
    if (comp === 'lease' && exchange.version && /_(auto_renew|release)$/.test(exchange.resource))
        return { ...headers, ...leaseHeadersOf(exchange, later) };
    if (['lease', 'properties', 'acl', 'metadata', 'tier', 'copy'].includes(comp) &&
        method === 'PUT')
        throw new NotRecorded('headers of the request were not recorded');
    if (method === 'PUT' && blob && !comp && exchange.svc === 'blob') {
        if (reqBody === null || status === 202)
            throw new NotRecorded('the type of the blob was not recorded');
        headers['x-ms-blob-type'] = 'BlockBlob';
        if (exchange.version)
            Object.assign(headers, propertiesOf(exchange, later));
    }
    const range = /^bytes (\d+-\d+)\//.exec(respHeaders['content-range'] ?? '')?.[1];
    if (method === 'GET' && status === 206)
        headers['x-ms-range'] = `bytes=${range}`;
    return headers;
}

/* ---- bodies ---- */

const WITH_BODY = ['acl', 'appendblock', 'batch', 'block', 'blocklist', 'page', 'range', 'tags', 'userdelegationkey'];

/* A body that was not recorded is "*", also of operations that have none. */
function hasBody({ svc, blob, parameter }) {
    const comp = parameter('comp'), restype = parameter('restype');

    if (comp)
        return WITH_BODY.includes(comp) || (comp === 'properties' && restype === 'service');
    return svc === 'table' || (Boolean(blob) && !restype);
}

function bodyOf(exchange, later) {
    const { reqBody, reqHeaders } = exchange;
    const length = reqHeaders ? Number(reqHeaders['content-length'] ?? 0)
        : lengthOf(exchange, later);

    if (reqBody === null || (exchange.svc === 'file' && !reqHeaders && exchange.blob && !exchange.parameter('comp')))
        return Buffer.alloc(0); // bytes of files come by Put Range
    if (reqBody === '*' && exchange.svc === 'queue' && exchange.blob) {
        const body = messageBodyOf(exchange, later);
        if (!body && exchange.status < 300)
            throw new NotRecorded('the text of the message was not recorded');
        return body ?? Buffer.from('<QueueMessage><MessageText>x</MessageText></QueueMessage>');
    }
    if (exchange.svc === 'dfs' && !reqHeaders)
        return Buffer.alloc(exchange.parameter('action') === 'append' ? appendLengthOf(exchange, later) : 0, 'x');
    if (reqBody === '*' && !reqHeaders)
        return Buffer.alloc(hasBody(exchange) ? length : 0, 'x');
    if (typeof reqBody === 'object') {
        if (reqBody.base64)
            return Buffer.from(reqBody.base64, 'base64');
        if (reqBody.head?.trimStart().startsWith('<'))
            throw new NotRecorded('the body of the request was cut in the recording');
        return Buffer.alloc(reqBody.len, reqBody.fill ?? 'x');
    }
    // A text whose length is not the one sent was bytes once.
    const text = Buffer.from(reqBody);
    return reqBody.trimStart().startsWith('<') || text.length === length ? text
        : Buffer.alloc(length, 'x');
}

/** The bytes of the body were recorded, whole. */
const isExact = ({ reqBody, reqHeaders }, body) => reqBody === null || body.toString() === reqBody ||
    (reqHeaders !== undefined && Boolean(reqBody.fill ?? reqBody.base64));

/** A request to the Table service, told by its answer and what the others of its run show. */
function tableRequest(exchange, run) {
    const told = tableRequestOf(exchange, run);

    if (!told)
        throw new NotRecorded('what a request to a table was about was not recorded');
    return {
        method: exchange.method, path: new URL(exchange.path, 'http://recorded').pathname, query: exchange.query,
        headers: Object.entries(told.headers), body: Buffer.from(told.body), isExact: true,
    };
}

/** The request as it can be sent: { method, path, query, headers, body, anonymous, isExact }. run:
 *  that it is a part of, at place n. Throws NotRecorded. */
export function requestOf(run, n) {
    const exchange = run[n];
    const later = run.slice(n + 1);

    if (exchange.svc === 'table')
        return tableRequest(exchange, run);
    if (exchange.parameter('comp') === 'batch' && !batchPartsOf(exchange))
        throw new NotRecorded('the requests inside a batch were not recorded');
    const recorded = exchange.reqHeaders ?? guessedHeaders(exchange, later);
    const body = bodyOf(exchange, later);
    // Where the bytes were made up, the sum that was right is made anew.
    const exact = isExact(exchange, body) && !(exchange.twin && exchange.reqBody?.base64); // random bytes
    const isRight = exchange.status < 300 && !exact;
    const headers = Object.entries(recorded).filter(([name]) => !NOT_SENT.has(name))
        .map(([name, value]) => [name, isRight && SUMS.has(name) ? md5(body) : value]);

    return {
        method: exchange.method, path: new URL(exchange.path, 'http://recorded').pathname,
        query: exchange.query, headers, body,
        anonymous: exchange.anonymous ||
            (exchange.reqHeaders !== undefined && !exchange.reqHeaders['x-ms-date']),
        isExact: exact,
    };
}
