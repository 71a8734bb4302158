// What replaying the Data Lake service needs beyond recording.mjs. Its tests call the Blob service
// too, so their exchanges with both services are replayed in order, on a hierarchical account.

import path from 'node:path';

/** Returns true for exchanges of accounts with a hierarchical namespace. */
export const isOfDataLake = (file, exchange) =>
    path.basename(file) === 'dfs.jsonl.gz' || exchange.test?.startsWith('files-datalake/') === true;

/** Name of the group: tests of dfs.jsonl.gz have the names of other services' tests. */
export const dataLakeName = ({ test }) => (test.startsWith('files-datalake/') ? test : `datalake/${test}`);

/** Short form of the request: "PUT path?resource=file", "PUT path (rename)", "PATCH path?action=flush". */
export function pathOperationOf({ method, container, blob, parameter }) {
    const level = blob ? 'path' : container ? 'filesystem' : 'service';
    const [kind] = ['action', 'resource', 'comp'].filter(parameter);

    return `${method} ${level}${kind ? `?${kind}=${parameter(kind)}` : parameter('mode') ? ' (rename)' : ''}`;
}

const PROPERTIES = ['content-type', 'content-encoding', 'content-language', 'content-disposition', 'cache-control'];

/** The first later response that shows the path's properties, or its access control list. */
const shownBy = ({ resource }, later, isWanted) => later.find((other) =>
    other.resource === resource && [200, 206].includes(other.status) && isWanted(other))?.respHeaders ?? {};

function createHeadersOf(exchange, later) {
    const shown = shownBy(exchange, later, ({ method }) => method === 'GET' || method === 'HEAD');
    const properties = PROPERTIES.filter((name) => name in shown).map((name) => [`x-ms-${name}`, shown[name]]);
    const metadata = Object.entries(shown).filter(([name]) => name.startsWith('x-ms-meta-'))
        .map(([name, value]) => `${name.slice('x-ms-meta-'.length)}=${Buffer.from(value).toString('base64')}`);

    return {
        ...Object.fromEntries(properties),
        ...(metadata.length > 0 ? { 'x-ms-properties': metadata.join(',') } : {}),
        ...(exchange.error === 'PathAlreadyExists' ? { 'if-none-match': '*' } : {}),
    };
}

const LEASE = '00000000-0000-0000-0000-000000000001';
const ACQUIRED = { 'x-ms-proposed-lease-id': LEASE, 'x-ms-lease-duration': '60' };
const LEASE_HEADERS = {
    acquire: { 'x-ms-lease-action': 'acquire', ...ACQUIRED },
    auto_renew: { 'x-ms-lease-action': 'auto-renew', 'x-ms-lease-id': LEASE },
    release: { 'x-ms-lease-action': 'release', 'x-ms-lease-id': LEASE },
    acquire_release: { 'x-ms-lease-action': 'acquire-release', ...ACQUIRED },
};

/** Lease headers of a request of cpp-answers.jsonl.gz, as far as the name of the file shows them: two tests name
 *  their files after the lease action of the last write; to renew or release a lease, they acquire it before. */
export function leaseHeadersOf({ resource, parameter }, later) {
    const action = /_(acquire|auto_renew|release|acquire_release)$/.exec(resource)?.[1];
    const isLast = !later.some((other) => other.resource === resource && other.parameter('position'));
    const acquires = parameter('comp') === 'lease' || (!isLast && ['auto_renew', 'release'].includes(action));

    return LEASE_HEADERS[acquires ? 'acquire' : isLast ? action : undefined] ?? {};
}

/** Headers of a request of cpp-answers.jsonl.gz, or null if no other exchange shows them. */
export function pathHeadersOf(exchange, later) {
    const { method, parameter } = exchange;
    const action = parameter('action');

    if (parameter('mode'))
        return null;
    if (parameter('position'))
        return leaseHeadersOf(exchange, later);
    if (parameter('resource') && method === 'PUT')
        return createHeadersOf(exchange, later);
    if (action !== 'setAccessControl')
        return {};
    const acl = shownBy(exchange, later, (other) => other.parameter('action') === 'getAccessControl')['x-ms-acl'];
    return acl ? { 'x-ms-acl': acl } : null;
}

/* Length of appends whose bytes no later exchange shows. */
const APPEND_LENGTH = 4096;

/** Length of the bytes of an append in cpp-answers.jsonl.gz: up to the position of the next append or
 *  flush, or the length of the file afterwards. */
export function appendLengthOf({ resource, parameter }, later) {
    const from = Number(parameter('position'));
    const ends = later.filter((other) => other.resource === resource).map((other) =>
        Number(other.parameter('position') ?? (other.method === 'HEAD' ? other.respHeaders['content-length'] : 0)));

    return (ends.find((end) => end > from) ?? from + APPEND_LENGTH) - from;
}

/** Values that a response gives out and later requests name: pairs of the recorded value and ours. */
export function pathsGivenOutBy({ respHeaders, respBody }, answer) {
    const deletions = (xml) => [...(xml ?? '').matchAll(/<DeletionId>(\d+)/g)].map(([, id]) => id);
    const ours = deletions(answer.body.toString());

    return [
        ...['x-ms-continuation', 'x-ms-deletion-id'].map((name) => [respHeaders[name], answer.headers.get(name)]),
        ...deletions(respBody).map((id, n) => [id, ours[n]]),
    ];
}
