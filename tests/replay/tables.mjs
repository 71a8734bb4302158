// What replaying the Table service needs beside what recording.mjs has for blobs.
//
// Of a request only its first line was recorded. What it must have been is told by its answer and
// by what later answers of its run show of the entities; where several requests would have the same
// answer, one of them is made.

import { parseJson, partsOf, writeJson } from './odata.mjs';

const HOST = 'http://account.table';
const OTHER_ETAG = 'W/"datetime\'2009-04-30T00%3A00%3A00Z\'"';
const JSON_TYPE = 'application/json;odata=nometadata';

const unquoted = (text) => text.replaceAll("''", "'");
const quoted = (text) => encodeURIComponent(text.replaceAll("'", "''"));
const entityPath = (table, { PartitionKey: p, RowKey: r }) =>
    `/${table}(PartitionKey='${quoted(p)}',RowKey='${quoted(r)}')`;

/** What a path names: { level, table, keys }. Levels: service, tables, table, entities, entity,
 *  batch. */
function targetOf(pathname) {
    const path = decodeURIComponent(pathname.slice(1));
    const named = /^Tables\('(\w+)'\)$/.exec(path);
    const keys = /^(\w+)\(PartitionKey='(.*)',RowKey='(.*)'\)$/s.exec(path);

    if (named)
        return { level: 'table', table: named[1] };
    if (keys)
        return { level: 'entity', table: keys[1], keys: { PartitionKey: unquoted(keys[2]), RowKey: unquoted(keys[3]) } };
    return {
        '': { level: 'service' }, Tables: { level: 'tables' }, $batch: { level: 'batch' },
    }[path] ?? { level: 'entities', table: path };
}

const pathnameOf = (url) => new URL(url, HOST).pathname;
const hasJson = (text) => text?.startsWith('{');

/** Names what the exchange is about, beside what is there for all services. */
export function describeTable(exchange) {
    const { path, respHeaders, respBody } = exchange;
    const made = respHeaders.location && targetOf(pathnameOf(respHeaders.location));

    exchange.target = targetOf(pathnameOf(path));
    exchange.made = made;
    exchange.resource = decodeURIComponent(pathnameOf(respHeaders.location ?? path));
    if (exchange.status >= 400 && hasJson(respBody))
        exchange.error = parseJson(respBody)['odata.error'].code;
}

/** Short form of what is asked: "POST entities", "GET table". */
export const tableOperationOf = ({ method, target, parameter }) =>
    `${method} ${target.level}${parameter('comp') ? `?comp=${parameter('comp')}` : ''}`;

/* ---- entities ---- */

/** The entities that an answer shows: [{ table, keys, entity }]. */
function shownBy({ target, respBody }) {
    if (respBody?.startsWith('--'))
        return partsOf(respBody).parts.filter(({ status, body }) => status < 300 && hasJson(body))
            .map(({ body }) => parseJson(body)).map((entity) => ({
                table: entity['odata.metadata'].split('#')[1].split('/')[0], keys: entity, entity,
            }));
    if (!['entity', 'entities'].includes(target.level) || !hasJson(respBody))
        return [];
    const body = parseJson(respBody);
    if (body['odata.error'])
        return [];
    return (body.value ?? [body]).filter(({ PartitionKey }) => PartitionKey !== undefined)
        .map((entity) => ({ table: target.table, keys: entity, entity }));
}

/** The entity that a page's continuation says is next, without its properties. */
function nextOf({ target, respHeaders }) {
    const [PartitionKey, RowKey] = ['partition', 'row']
        .map((key) => respHeaders[`x-ms-continuation-next${key}key`])
        .map((token) => token && Buffer.from(token.split('!')[2].replaceAll('-', '='), 'base64').toString());

    return PartitionKey === undefined ? [] : [{ table: target.table, keys: { PartitionKey, RowKey }, entity: {} }];
}

const isSame = (a, b) => a.PartitionKey === b.PartitionKey && a.RowKey === b.RowKey;

/** The body that makes an entity as it is shown; types that one answer hides are shown by
 *  others. */
function bodyFor({ PartitionKey, RowKey }, shown, run) {
    const types = new Map(run.flatMap(shownBy).flatMap(({ entity }) => Object.entries(entity))
        .filter(([name]) => name.endsWith('@odata.type')));
    const body = { PartitionKey, RowKey };

    for (const [name, value] of Object.entries(shown ?? {})) {
        const type = `${name}@odata.type`;
        if (name.includes('odata.') || ['PartitionKey', 'RowKey', 'Timestamp'].includes(name))
            continue;
        if (types.has(type))
            body[type] = types.get(type);
        body[name] = value;
    }
    return writeJson(body);
}

const findShown = (exchanges, table, keys) => exchanges.flatMap(shownBy)
    .find((one) => one.table === table && isSame(one.keys, keys))?.entity;

/* ---- what was there before ---- */

const writes = ({ method }) => method !== 'GET';

/** Tables that were there before the run began, with their entities: { name: [body] }. */
export function tablesBefore(run) {
    const before = new Map();
    const seen = new Set();

    for (const exchange of run) {
        const { target, made, status } = exchange;
        const table = target.table ?? made?.table;
        if (!table || seen.has(table))
            continue;
        seen.add(table);
        if (target.table && status !== 404)
            before.set(table, run.filter((one) => !writes(one)).flatMap(shownBy)
                .filter((one) => one.table === table).map(({ keys, entity }) => bodyFor(keys, entity, run)));
    }
    return before;
}

/* ---- requests ---- */

/** A table's name that the answer does not say: what the request before was about. */
const tableNear = (exchange, run) => run.slice(0, run.indexOf(exchange)).reverse().concat(run)
    .map(({ target, made }) => made?.table ?? target.table).find(Boolean);

function entityBody(exchange, run) {
    const { table, keys } = exchange.made ?? exchange.target;
    const later = run.slice(run.indexOf(exchange));
    const named = keys ?? shownBy(exchange)[0]?.keys;

    return named ? bodyFor(named, findShown(later, table, named), run) : null;
}

/** A part of a transaction as text; null: what it was cannot be told. */
function partText({ status, headers, body }, exchange, run, taken) {
    const at = run.indexOf(exchange);
    const later = run.slice(at);
    const location = headers.get('location') && targetOf(pathnameOf(headers.get('location')));
    const part = (method, path, content = '', more = []) => [`${method} ${HOST}${path} HTTP/1.1`,
        'Accept: application/json;odata=minimalmetadata',
        ...(headers.has('content-id') ? [`Content-ID: ${headers.get('content-id')}`] : []), ...more,
        ...(content ? [`Content-Type: ${JSON_TYPE}`, `Content-Length: ${Buffer.byteLength(content)}`] : []),
        '', content].join('\r\n');

    if (status === 200) {
        const [{ table, keys }] = shownBy({ target: {}, respBody: exchange.respBody });
        return part('GET', entityPath(table, keys));
    }
    if (location) {
        taken.push(location.keys);
        return part('POST', `/${location.table}`, bodyFor(location.keys,
            hasJson(body) ? parseJson(body) : findShown(later, location.table, location.keys), run),
        [`Prefer: ${headers.get('preference-applied')}`]);
    }
    const isFree = ({ keys }) => !taken.some((one) => isSame(one, keys));
    const shown = later.flatMap(shownBy);
    const was = headers.has('etag')
        ? shown.find((one) => isFree(one) && one.entity['odata.etag'] === headers.get('etag'))
        : run.slice(0, at).flatMap(shownBy).find((one) => isFree(one) && !shown.some(({ keys }) => isSame(keys, one.keys)));
    if (!was)
        return null;
    taken.push(was.keys);
    return headers.has('etag') ? part('PUT', entityPath(was.table, was.keys), bodyFor(was.keys, was.entity, run))
        : part('DELETE', entityPath(was.table, was.keys), '', ['If-Match: *']);
}

/** The parts that a refused transaction must have had. */
function refusedParts(code, table) {
    const insert = (id) => [`POST ${HOST}/${table} HTTP/1.1`, 'Accept: application/json;odata=minimalmetadata',
        ...(id ? [`Content-ID: ${id}`] : []), `Content-Type: ${JSON_TYPE}`, '',
        '{"PartitionKey":"p","RowKey":"r"}'].join('\r\n');

    if (code === 'ResourceNotFound')
        return [`GET ${HOST}${entityPath(table, { PartitionKey: 'p', RowKey: 'r' })} HTTP/1.1\r\nAccept: application/json;odata=minimalmetadata\r\n\r\n`];
    return code === 'InvalidDuplicateRow' ? [insert(''), insert('1')] : null;
}

/** All of a transaction whose answer was cut: entities that are shown later, inserted. */
function insertedLater(exchange, run) {
    const later = run.slice(run.indexOf(exchange) + 1);
    const all = [...later.flatMap(shownBy), ...later.flatMap(nextOf)];
    const first = all.filter(({ keys }, n) => all.findIndex((one) => isSame(one.keys, keys)) === n);

    return first.length === 0 ? null : first.map(({ table, keys, entity }) => [`POST ${HOST}/${table} HTTP/1.1`, 'Prefer: return-no-content',
        `Content-Type: ${JSON_TYPE}`, '', bodyFor(keys, entity, run)].join('\r\n'));
}

function batchBody(exchange, run) {
    const { parts, isChangeset } = exchange.respBody ? partsOf(exchange.respBody) : { parts: [], isChangeset: true };
    const code = hasJson(parts[0]?.body) && parseJson(parts[0].body)['odata.error']?.code;
    const taken = parts.map(({ headers }) => headers.get('location')).filter(Boolean)
        .map((location) => targetOf(pathnameOf(location)).keys);
    const texts = !exchange.respBody ? insertedLater(exchange, run)
        : code ? refusedParts(code, tableNear(exchange, run)) : parts.map((part) => partText(part, exchange, run, taken));
    const wrap = (boundary, contents) => `${contents.map((content) => `--${boundary}\r\n${content}\r\n`).join('')}--${boundary}--\r\n`;
    const http = (text) => `Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n${text}`;

    if (!texts || texts.includes(null))
        return null;
    return wrap('batch_1', isChangeset
        ? [`Content-Type: multipart/mixed; boundary=changeset_1\r\n\r\n${wrap('changeset_1', texts.map(http))}`]
        : texts.map(http));
}

const metadataOf = ({ respHeaders }) => /odata=(\w+)/.exec(respHeaders['content-type'] ?? '')?.[1] ?? 'minimalmetadata';

/** Headers and body of the request: { headers, body }; null: they cannot be told. */
export function tableRequestOf(exchange, run) {
    const { method, target, status, respHeaders } = exchange;
    const headers = {
        'x-ms-version': respHeaders['x-ms-version'], 'DataServiceVersion': '3.0;NetFx',
        'Accept': `application/json;odata=${metadataOf(exchange)}`,
    };
    let body = '';

    if (target.level === 'service')
        return { headers, body: method === 'GET' ? '' : run.slice(run.indexOf(exchange) + 1)
            .find((one) => one.path === exchange.path && !writes(one))?.respBody ?? null };
    if (respHeaders['preference-applied'])
        headers.Prefer = respHeaders['preference-applied'];
    if (status === 412 || (method === 'DELETE' && target.level === 'entity'))
        headers['If-Match'] = status === 412 ? OTHER_ETAG : '*';
    if (target.level === 'batch')
        body = batchBody(exchange, run);
    else if (method !== 'GET' && method !== 'DELETE')
        body = target.level === 'tables'
            ? writeJson({ TableName: exchange.made?.table ?? tableNear(exchange, run) }) : entityBody(exchange, run);
    if (body)
        headers['Content-Type'] = target.level === 'batch' ? 'multipart/mixed; boundary=batch_1' : JSON_TYPE;
    return body === null ? null : { headers, body };
}

/** Our answer with the recorded account's URL in the place of this one's. */
export function withRecordedUrl(answer, url) {
    const replace = (text) => text.replaceAll(url, HOST);
    const list = answer.headers.list.map(([name, value]) => [name, replace(value)]);

    return {
        ...answer, body: Buffer.from(replace(answer.body.toString())),
        headers: { list, get: (name) => list.find(([one]) => one.toLowerCase() === name)?.[1] },
    };
}
