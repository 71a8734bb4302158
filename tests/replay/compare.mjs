// What differs between a recorded answer and ours, as short texts that differences.json can name.

import { errorCode } from '../lib/errors.mjs';
import { batchDifferences } from './batches.mjs';
import { odataDifferences } from './odata.mjs';
import { elementsOf, shapeOf, valuesOf } from './xml.mjs';

/** Values of the moment: only that they are there is compared. What is given out and comes back is
 *  followed by replay.mjs, and which requests change an ETag by EtagHistory. */
const MOMENT_HEADERS = new Set(['etag', 'last-modified', 'x-ms-creation-time', 'x-ms-snapshot',
    'x-ms-version-id',
    'x-ms-lease-id', 'x-ms-copy-id', 'x-ms-copy-completion-time', 'x-ms-client-request-id',
    'x-ms-access-tier-change-time', 'x-ms-popreceipt', 'x-ms-time-next-visible', 'x-ms-file-id',
    'x-ms-file-parent-id', 'x-ms-file-permission-key', 'x-ms-continuation', 'x-ms-deletion-id', 'x-ms-expiry-time']);
/** Values of the moment, where they are not given by a request: then they are of another time. */
const TIME_HEADERS = new Set(['x-ms-file-creation-time', 'x-ms-file-last-write-time', 'x-ms-file-change-time']);
const MOMENT_MS = 3600000;
const MOMENT_ELEMENTS = new Set(['Etag', 'Last-Modified', 'Creation-Time', 'Snapshot', 'VersionId', 'NextMarker',
    'Marker', 'CopyId', 'CopyCompletionTime', 'AccessTierChangeTime', 'DeletedTime',
    'EnumerationResults@ServiceEndpoint', 'MessageId', 'InsertionTime', 'ExpirationTime', 'PopReceipt',
    'TimeNextVisible', 'FileId', 'DirectoryId', 'PermissionKey', 'CreationTime', 'LastAccessTime', 'LastWriteTime',
    'ChangeTime', 'DeletionId', 'Expiry-Time']);
/** Known only where the bytes of the bodies were recorded. */
const OF_BYTES = new Set(['content-md5', 'x-ms-content-crc64', 'x-ms-blob-content-md5',
    'Content-MD5', 'Content-CRC64', 'Content-Length', 'ServerCalculatedMd5', 'ServerCalculatedCrc']);

const short = (value) => (value.length > 80 ? `${value.slice(0, 80)}..` : value);

/* ---- XML ---- */

/** The first place where two shapes differ, with the words around it. */
function shapeDifference(recorded, ours) {
    const words = (shape) => shape.split(/(?<=[( )])|(?=[( )])/).filter((word) => word !== ' ');
    const [a, b] = [words(recorded), words(ours)];
    const at = a.findIndex((word, n) => word !== b[n]);
    const from = Math.max(0, (at < 0 ? a.length : at) - 2);
    const shown = (list) => list.slice(from, from + 6).join(' ') || 'nothing';

    return `xml ${shown(a)} -> ${shown(b)}`;
}

/** A value as it is compared: without the request's id and time; null: of the moment. */
function comparable(path, value, isExact) {
    const name = path.split('/').at(-1);

    if (MOMENT_ELEMENTS.has(name) || (OF_BYTES.has(name) && !isExact))
        return null;
    return name === 'Message' ? value.split('\n')[0] : value;
}

function valueDifferences(recorded, ours, isExact) {
    const [a, b] = [valuesOf(recorded), valuesOf(ours)];

    // Lists of different lengths: of the account, not of the request.
    if (a.length !== b.length || a.some(([path], n) => path !== b[n][0]))
        return [];
    return a.flatMap(([path, value], n) => {
        const [x, y] = [comparable(path, value, isExact), comparable(path, b[n][1], isExact)];
        return x === y ? [] : [`value ${path}: ${short(x)} -> ${short(y)}`];
    });
}

function compareXml(recordedText, text, { isExact, isLeftOut }) {
    const [recorded, ours] = [elementsOf(recordedText, isLeftOut), elementsOf(text, isLeftOut)];

    if (ours === null)
        return ['xml ours is not well formed'];
    if (recorded === null)
        return [];
    const [a, b] = [shapeOf(recorded), shapeOf(ours)];
    return a === b ? valueDifferences(recorded, ours, isExact) : [shapeDifference(a, b)];
}

function compareBodies(exchange, answer, options) {
    const isXml = (text) => /^\uFEFF?\s*<\?xml/.test(text);
    const text = answer.body.toString('utf8');

    if (exchange.respBody === null)
        return [];
    const ofTable = odataDifferences(exchange.respBody, text);
    if (ofTable)
        return ofTable.map(short);
    if (!isXml(exchange.respBody) && !isXml(text))
        return options.isExact && exchange.respBody.length < BODY_CUT && exchange.respBody !== text
            ? [`body ${short(exchange.respBody)} -> ${short(text)}`] : [];
    if (!isXml(exchange.respBody) || !isXml(text))
        return [isXml(text) ? 'xml none -> a document' : 'xml a document -> none'];
    return compareXml(exchange.respBody, text, options);
}

/** Where the older recordings cut a body. */
const BODY_CUT = 4000;

/* ---- headers ---- */

/** A multipart body's boundary has an id of the moment. */
const withoutIds = (value) => value.replace(/(?<=boundary=\w+response_)[\da-f-]{36}/, '');

function compareHeaderValues(exchange, answer, { isCompared, isExact }) {
    const isBlob = 'x-ms-blob-type' in exchange.respHeaders || 'x-ms-type' in exchange.respHeaders;
    const isNow = (name, value) => TIME_HEADERS.has(name) && Math.abs(Date.parse(value) - exchange.at) < MOMENT_MS;

    return Object.entries(exchange.respHeaders).flatMap(([name, recorded]) => {
        const ours = answer.headers.get(name);
        const wanted = name === 'content-length' ? isBlob : isCompared(name) &&
            !MOMENT_HEADERS.has(name) && !isNow(name, recorded) && (isExact || !OF_BYTES.has(name));
        return !wanted || ours === undefined || withoutIds(ours) === withoutIds(recorded) ? []
            : [`header ${name}: ${short(recorded)} -> ${short(ours)}`];
    });
}

function compareHeaders(exchange, answer, options) {
    const { isCompared } = options;
    const recorded = new Set(Object.keys(exchange.respHeaders).map((name) => name.toLowerCase()));
    const ours = new Set(answer.headers.list.map(([name]) => name.toLowerCase()));
    const differences = [];

    for (const name of [...recorded].filter(isCompared))
        if (!ours.has(name))
            differences.push(`header ${name} -> missing`);
    for (const name of [...ours].filter(isCompared))
        if (!recorded.has(name))
            differences.push(`header missing -> ${name}`);
    return [...differences, ...compareHeaderValues(exchange, answer, options)];
}

/* ---- ETags ---- */

/** Which exchanges change the ETag of a resource, of the recording and of ours. */
export class EtagHistory {
    #last = new Map();

    compare(exchange, answer) {
        const now = [exchange.respHeaders.etag, answer.headers.get('etag')];
        const last = this.#last.get(exchange.resource);

        if (now.includes(undefined))
            return [];
        this.#last.set(exchange.resource, now);
        if (!last)
            return [];
        const [recorded, ours] = now.map((etag, n) => (etag === last[n] ? 'same' : 'new'));
        return recorded === ours ? [] : [`etag ${recorded} -> ${ours}`];
    }
}

/** All differences; when status or code differ already, the rest says nothing.
 *  options: isCompared(header), isLeftOut(element), isExact: every body up to here was recorded. */
export function differencesOf(exchange, answer, etags, options) {
    const code = errorCode(answer);
    const first = [];

    if (exchange.status !== answer.status)
        first.push(`status ${exchange.status} -> ${answer.status}`);
    // Before 2017-07-29 an error of a HEAD had no code at all.
    if (exchange.error !== code && (exchange.error !== undefined || exchange.status < 400))
        first.push(`code ${exchange.error} -> ${code}`);
    if (first.length > 0)
        return first;
    return [
        ...compareHeaders(exchange, answer, options),
        ...batchDifferences(exchange, answer, (inner, ours) => differencesOf(inner, ours, etags, options)) ??
            compareBodies(exchange, answer, options),
        ...etags.compare(exchange, answer),
    ];
}
