// How an answer is printed: one line that a reader can check against the documentation.
// What differs from run to run gets a name in order of appearance: ETags E1, E2.., leases L1..,
// snapshots S1.., versions V1.. (with * the current one). Times of a lease are rounded up to five seconds.

import { createHash } from 'node:crypto';

import { readBatch } from '../lib/batch.mjs';
import { showTableAnswer } from './tables.mjs';

const LONGEST_SHOWN = 64;
/** Before an answer that was decided more than once. */
export const AGAIN = '<decided again> ';

/** The names of one permutation. */
export class Names {
    #fixed;
    #names;
    #counts;
    #bodies = new Map();

    /** fixed: [value, name] pairs known from the start. */
    constructor(fixed) {
        this.#fixed = fixed;
        this.startOver();
    }

    /** Forgets all names but the fixed ones, and no body. */
    startOver() {
        this.#names = new Map(this.#fixed);
        this.#counts = {};
    }

    /** The name of a value; a new one, letter + number, if it has none. */
    of(letter, value) {
        if (!this.#names.has(value)) {
            this.#counts[letter] = (this.#counts[letter] ?? 0) + 1;
            this.#names.set(value, letter + this.#counts[letter]);
        }
        return this.#names.get(value);
    }

    etag(text) {
        return this.of('E', text.replaceAll('"', ''));
    }

    /** Remembers a body that a request sends, so that it is known when it comes back. */
    sent(bytes, pattern) {
        this.#bodies.set(digest(bytes), pattern);
    }

    /** Bytes as text: short ones quoted, sent ones by their pattern, others by length and hash. */
    bytes(bytes) {
        const text = bytes.toString('latin1');

        if (bytes.length <= LONGEST_SHOWN && /^[\x20-\x7e]*$/.test(text))
            return JSON.stringify(text);
        const hash = digest(bytes);
        return this.#bodies.get(hash) ?? `${bytes.length} bytes, sha256 ${hash.slice(0, 12)}`;
    }
}

function digest(bytes) {
    return createHash('sha256').update(bytes).digest('hex');
}

function unescape(text) {
    const entities = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
    return text.replace(/&(\w+);/g, (whole, name) => entities[name] ?? whole);
}

/** Text of the first element `name`, or undefined. */
export function element(xml, name) {
    const match = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml);

    return match ? unescape(match[1]) : undefined;
}

function elements(xml, name) {
    return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map((match) => match[1]);
}

function showListedBlob(xml, names) {
    const parts = [element(xml, 'Name')];
    const state = element(xml, 'LeaseState');
    const etag = element(xml, 'Etag');

    if (element(xml, 'Snapshot'))
        parts.push(names.of('S', element(xml, 'Snapshot')));
    if (element(xml, 'VersionId'))
        parts.push(`${names.of('V', element(xml, 'VersionId'))}${element(xml, 'IsCurrentVersion') ? '*' : ''}`);
    if (element(xml, 'HasVersionsOnly'))
        parts.push('versions-only');
    parts.push(etag ? names.etag(etag) : 'no-etag', element(xml, 'Content-Length'));
    if (state && state !== 'available')
        parts.push(state);
    return parts.join(' ');
}

function showListing(xml, names) {
    const blobs = elements(xml, 'Blob').map((blob) => showListedBlob(blob, names));
    const more = element(xml, 'NextMarker') ? ' and more' : '';

    return `[${blobs.join(', ')}]${more}`;
}

function blockName(base64) {
    const text = Buffer.from(base64, 'base64').toString('latin1');

    return /^[\x21-\x7e]+$/.test(text) ? text : base64;
}

function showBlocks(xml) {
    const list = (kind) => elements(elements(xml, kind)[0] ?? '', 'Block')
        .map((block) => `${blockName(element(block, 'Name'))}:${element(block, 'Size')}`).join(' ');

    return `committed [${list('CommittedBlocks')}] uncommitted [${list('UncommittedBlocks')}]`;
}

/** Shares or containers of one name, and their snapshots. kind: "Share" */
function showShares(xml, names, kind) {
    const shares = elements(xml, kind).map((share) => [
        element(share, 'Deleted') ? 'deleted' : kind.toLowerCase(),
        ...(element(share, 'Snapshot') ? [names.of('S', element(share, 'Snapshot'))] : []),
        names.etag(element(share, 'Etag')),
    ].join(' '));

    return `[${shares.join(', ')}]`;
}

/** Directories and files, these with their lengths. */
function showEntries(xml) {
    const entries = [...xml.matchAll(/<(File|Directory)>(.*?)<\/\1>/gs)].map(([, kind, entry]) =>
        element(entry, 'Name') + (kind === 'File' ? `:${element(entry, 'Content-Length')}` : '/'));

    return `[${entries.join(' ')}]`;
}

/** Texts of messages, each with how often it was got. */
function showMessages(xml) {
    const messages = elements(xml, 'QueueMessage').map((message) =>
        `${element(message, 'MessageText')}*${element(message, 'DequeueCount')}`);

    return `[${messages.join(' ')}]`;
}

/** Paths of a filesystem, files with their lengths. */
function showPaths(json) {
    const paths = JSON.parse(json).paths.map(({ name, isDirectory, contentLength }) =>
        name + (isDirectory === 'true' ? '/' : `:${contentLength}`));

    return `[${paths.join(' ')}]`;
}

function showBody(answer, names) {
    const text = answer.body.toString('utf8').replace(/^\ufeff/, '');

    if (text.startsWith('{"paths":'))
        return showPaths(text);

    if (/<QueueMessagesList/.test(text))
        return showMessages(text);

    if (/<EnumerationResults[^>]*>.*<Blobs/s.test(text))
        return showListing(text, names);
    if (/<EnumerationResults[^>]*>.*<Shares/s.test(text))
        return showShares(text, names, 'Share');
    if (/<EnumerationResults[^>]*>.*<Containers/s.test(text))
        return showShares(text, names, 'Container');
    if (/<EnumerationResults[^>]*DirectoryPath=/.test(text))
        return showEntries(text);
    if (/<BlockList\s*\/?>/.test(text))
        return showBlocks(text);
    if (/<SignedIdentifiers/.test(text))
        return `policies [${elements(text, 'Id').join(' ')}]`;
    if (/<Ranges/.test(text))
        return `ranges [${[...text.matchAll(/<Start>(\d+)<\/Start><End>(\d+)<\/End>/g)].map(([, from, to]) => `${from}-${to}`).join(' ')}]`;
    if (/<ShareStats/.test(text))
        return `${element(text, 'ShareUsageBytes')} bytes used`;
    return names.bytes(answer.body);
}

/** Status and code of an answer, the code also compared with the body's. */
function showStatus(answer) {
    const code = answer.headers.get('x-ms-error-code');
    const inBody = element(answer.body.toString('utf8'), 'Code');

    if (answer.status < 300)
        return `${answer.status}`;
    if (code !== undefined && inBody !== undefined && code !== inBody)
        return `${answer.status} ${code} (the body says ${inBody})`;
    return `${answer.status} ${code ?? inBody ?? 'without a code'}`;
}

function showLease(answer) {
    const state = answer.headers.get('x-ms-lease-state');
    const status = answer.headers.get('x-ms-lease-status');
    const locked = state === 'leased' || state === 'breaking' ? 'locked' : 'unlocked';

    if (state === undefined || (state === 'available' && status === locked))
        return [];
    return [state + (status === locked ? '' : ` (but ${status})`)];
}

function showMetadata(answer) {
    const pairs = answer.headers.list.filter(([name]) => /^x-ms-meta-/i.test(name))
        .map(([name, value]) => `${name.slice(10)}=${value}`).sort();

    return pairs.length > 0 ? [`{${pairs.join(' ')}}`] : [];
}

/** Headers of a success as words. */
function showHeaders(answer, names) {
    const get = (name) => answer.headers.get(name);
    const parts = [];

    if (get('etag'))
        parts.push(names.etag(get('etag')));
    if (get('x-ms-snapshot'))
        parts.push(names.of('S', get('x-ms-snapshot')));
    if (get('x-ms-version-id'))
        parts.push(`${names.of('V', get('x-ms-version-id'))}${get('x-ms-is-current-version') ? '*' : ''}`);
    if (get('x-ms-lease-id'))
        parts.push(`lease ${names.of('L', get('x-ms-lease-id').toLowerCase())}`);
    if (get('x-ms-lease-time') !== undefined)
        parts.push(`time ${Math.ceil(Number(get('x-ms-lease-time')) / 5) * 5}`);
    if (get('x-ms-approximate-messages-count') !== undefined)
        parts.push(`count ${get('x-ms-approximate-messages-count')}`);
    if (get('x-ms-blob-public-access'))
        parts.push(`public ${get('x-ms-blob-public-access')}`);
    if (get('x-ms-share-quota'))
        parts.push(`${get('x-ms-share-quota')} GiB`);
    return [...parts, ...showLease(answer), ...showMetadata(answer)];
}

/** The answers of a batch's parts, in their order. */
function showBatch(answer) {
    const parts = readBatch(answer.headers.get('content-type'), answer.body.toString());
    const again = parts.some(({ headers }) => Number(headers.get('x-lagra-attempts') ?? 1) > 1);
    const shown = parts.map(({ id, status, headers }) =>
        [...(id === undefined ? [] : [`${id}:`]), status, headers.get('x-ms-error-code') ?? ''].join(' ').trim());

    return `${again ? AGAIN : ''}${answer.status} [${shown.join(', ')}]`;
}

/** A whole answer to a request as text. action: its method, service..; answer: { status, headers, body } */
export function showAnswer(action, answer, names) {
    const again = Number(answer.headers.get('x-lagra-attempts') ?? 1) > 1 ? AGAIN : '';

    if (action.service === 'table')
        return again + showTableAnswer(action, answer, names);
    const parts = [again + showStatus(answer)];
    if (/^multipart\/mixed/.test(answer.headers.get('content-type') ?? ''))
        return showBatch(answer);

    if (answer.status >= 300)
        return parts.join(' ');
    parts.push(...showHeaders(answer, names));
    if (/getAccessControl/.test(action.query))
        parts.push(answer.headers.get('x-ms-acl'));
    if (action.method === 'GET')
        parts.push(showBody(answer, names));
    return parts.join(' ');
}
