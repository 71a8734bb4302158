// Shared Key signatures for requests that a test writes byte by byte.
// rest: Authorize-with-Shared-Key; semantics 10.3
//
// A request here is { method, target, headers }: target as on the request line (path and query,
// already percent-encoded), headers a list of [name, value] in the order they are sent.

import { createHmac } from 'node:crypto';

/** The published development account: no secret. */
export const DEVELOPMENT = {
    account: 'devstoreaccount1',
    key: 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
};

/** Headers of the string to sign, in its order. */
const STANDARD = [
    'content-encoding', 'content-language', 'content-length', 'content-md5', 'content-type', 'date',
    'if-modified-since', 'if-match', 'if-none-match', 'if-unmodified-since', 'range',
];

function standardHeaders(headers) {
    const given = new Map(headers.map(([name, value]) => [name.toLowerCase(), value.trim()]));

    if (given.get('content-length') === '0')
        given.delete('content-length');
    if (given.has('x-ms-date'))
        given.delete('date');
    return STANDARD.map((name) => given.get(name) ?? '');
}

function msHeaders(headers) {
    return headers
        .map(([name, value]) => [name.toLowerCase(), value.trim()])
        .filter(([name]) => name.startsWith('x-ms-'))
        .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        .map(([name, value]) => `${name}:${value}`);
}

function resource(target, account) {
    const [path, query = ''] = target.split(/\?(.*)/s);
    const values = new Map();

    for (const pair of query.split('&').filter((text) => text !== '')) {
        const [name, value = ''] = pair.split(/=(.*)/s).map(decodeURIComponent);
        const key = name.toLowerCase();
        values.set(key, [...(values.get(key) ?? []), value]);
    }
    const lines = [...values.keys()].sort()
        .map((key) => `${key}:${values.get(key).sort().join(',')}`);
    return [`/${account}${path}`, ...lines];
}

/** The text that is signed of a request to the Table service. */
function tableStringToSign({ method, target, headers }, account) {
    const given = new Map(headers.map(([name, value]) => [name.toLowerCase(), value.trim()]));
    const [path, query = ''] = target.split(/\?(.*)/s);
    const comp = new URLSearchParams(query).get('comp');

    return [
        method, given.get('content-md5') ?? '', given.get('content-type') ?? '',
        given.get('x-ms-date') ?? given.get('date') ?? '',
        `/${account}${path}${comp === null ? '' : `?comp=${comp}`}`,
    ].join('\n');
}

/** The text that is signed. */
export function stringToSign(request, account) {
    return [
        request.method, ...standardHeaders(request.headers), ...msHeaders(request.headers),
        ...resource(request.target, account),
    ].join('\n');
}

/** Value of the Authorization header. */
export function authorization(request, { account, key } = DEVELOPMENT, service = 'blob') {
    const hmac = createHmac('sha256', Buffer.from(key, 'base64'));
    const text = service === 'table' ? tableStringToSign(request, account) : stringToSign(request, account);
    const signature = hmac.update(text, 'utf8').digest('base64');

    return `SharedKey ${account}:${signature}`;
}

/** The request with x-ms-date (unless it has one), x-ms-version and Authorization added.
 *  offsetMs: how far the server's clock is ahead of ours; service: 'table' is signed in its own form. */
export function sign(request, options = {}) {
    const { credentials = DEVELOPMENT, version = '2024-11-04', offsetMs = 0, service } = options;
    const has = (wanted) => request.headers.some(([name]) => name.toLowerCase() === wanted);
    const headers = [...request.headers];

    if (!has('x-ms-date'))
        headers.push(['x-ms-date', new Date(Date.now() + offsetMs).toUTCString()]);
    if (!has('x-ms-version'))
        headers.push(['x-ms-version', version]);
    const signed = { ...request, headers };
    headers.push(['Authorization', authorization(signed, credentials, service)]);
    return signed;
}

/** As sign(), in the Table service's form of Shared Key Lite: the date and the resource.
 *  rest: Authorize-with-Shared-Key "Table service (Shared Key Lite authorization)" */
export function signTableLite(request, { account, key } = DEVELOPMENT, version = '2019-02-02') {
    const date = new Date().toUTCString();
    const [path, query = ''] = request.target.split(/\?(.*)/s);
    const comp = /(?:^|&)(comp=[^&]*)/.exec(query);
    const text = `${date}\n/${account}${path}${comp ? `?${comp[1]}` : ''}`;
    const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(text, 'utf8').digest('base64');

    return { ...request, headers: [...request.headers, ['x-ms-date', date], ['x-ms-version', version],
        ['Authorization', `SharedKeyLite ${account}:${signature}`]] };
}
