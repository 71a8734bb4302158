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
    const isLease = parameter('comp') === 'lease';

    if (!isLease && !parameter('position'))
        return {};
    if (!isLease && !later.some((other) => other.resource === resource && other.parameter('position')))
        return LEASE_HEADERS[action] ?? {};
    return ['auto_renew', 'release'].includes(action) ? LEASE_HEADERS.acquire : {};
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
