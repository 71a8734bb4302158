// Tests every cell of the operation table: each supported condition, met and not met; each unsupported condition; and on
// blobs each lease state with each lease id. The columns are those of `lagra operations`, which
// tests/unit/blob/test_blob_operations.c compares with the definitions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { A, B, etagNow, send, TABLE } from './operations.mjs';
import { newContainer } from './setup.mjs';

const MINUTE = 60000;
const HEADERS = ['If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since', 'x-ms-if-tags'];
const TAGS = '<Tags><TagSet><Tag><Key>of</Key><Value>test</Value></Tag></TagSet></Tags>';

/** What the table says: { conditions: [header..], lease, reads }, by name. */
function columns() {
    const text = execFileSync(process.env.LAGRA_BINARY, ['operations'], { encoding: 'utf8' });
    const blobs = text.slice(text.indexOf('\n## blob'), text.indexOf('\n## queue'));
    const rows = blobs.split('\n').filter((line) => line.startsWith('| ')).map((line) => line.split('|').map((cell) => cell.trim()));

    return new Map(rows.slice(1).map(([, name, request, , , , conditions, lease]) =>
        [name, { conditions: conditions.split(', '), lease, reads: /^(GET|HEAD)/.test(request) }]));
}
const COLUMNS = columns();

/** A resource as the request of a row needs it. */
async function prepared(container, blob, { level, before }) {
    const ok = async (...request) => {
        const answer = await send(container, ...request, blob);
        assert.ok(answer.status < 300, `${request.slice(0, 3)}: ${answer.text}`);
    };

    if (level !== 'container')
        await ok('PUT', 'blob', '', { 'x-ms-blob-type': 'BlockBlob' }, 'content');
    for (const request of before)
        await ok(...request);
    if (level !== 'container')
        await ok('PUT', 'blob', 'comp=tags', before.some(([, , , headers]) => headers['x-ms-lease-action']) ? { 'x-ms-lease-id': A } : {}, TAGS);
    return etagNow(container, level, blob);
}

const valuesOf = (header, etag) => ({
    'If-Match': { met: etag, unmet: '"0x1"' },
    'If-None-Match': { met: '"0x1"', unmet: etag },
    'If-Modified-Since': { met: new Date(Date.now() - MINUTE).toUTCString(), unmet: new Date(Date.now() + MINUTE).toUTCString() },
    'If-Unmodified-Since': { met: new Date(Date.now() + MINUTE).toUTCString(), unmet: new Date(Date.now() - MINUTE).toUTCString() },
    'x-ms-if-tags': { met: '"of" = \'test\'', unmet: '"of" = \'other\'' },
})[header];

/** Get and Set Blob Tags have conditions on the blob under names of their own. rest: Get-Blob-Tags */
const headerOf = (name, header) => (/Blob Tags$/.test(name) && header.startsWith('If-') ? `x-ms-blob-${header}` : header);

/** semantics 4.2 */
function unmetAnswer(name, header, { reads }) {
    if (name.startsWith('Copy Blob') && header !== 'x-ms-if-tags')
        return [412, 'TargetConditionNotMet'];
    const isUnchanged = header === 'If-None-Match' || header === 'If-Modified-Since';
    return [reads && isUnchanged ? 304 : 412, 'ConditionNotMet'];
}

/** semantics 3.3: [state][id], null: it is done. A lease that is optional forbids nothing to who sends none. */
const NONE = 'LeaseNotPresentWithBlobOperation', OTHER = 'LeaseIdMismatchWithBlobOperation';
const LEASES = {
    available: { none: null, own: NONE, other: NONE },
    leased: { none: 'LeaseIdMissing', own: null, other: OTHER },
    breaking: { none: 'LeaseIdMissing', own: null, other: OTHER },
    broken: { none: null, own: 'LeaseLost', other: OTHER },
};
const IDS = { none: {}, own: { 'x-ms-lease-id': A }, other: { 'x-ms-lease-id': B } };

async function lease(container, blob, state) {
    const ask = async (headers) => {
        const { status } = await send(container, 'PUT', 'blob', 'comp=lease', headers, '', blob);
        assert.ok(status < 300, `lease: ${status}`);
    };

    if (state === 'available')
        return;
    await ask({ 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1', 'x-ms-proposed-lease-id': A });
    if (state === 'breaking')
        await ask({ 'x-ms-lease-action': 'break', 'x-ms-lease-break-period': '60' });
    if (state === 'broken')
        await ask({ 'x-ms-lease-action': 'break', 'x-ms-lease-break-period': '0' });
}

const codeOf = ({ status, code }) => (status < 300 ? null : code);

for (const [name, method, level, query, headers, body, , before] of TABLE) {
    const columns = COLUMNS.get(name);
    const title = `${name} ${method} ${headers['x-ms-lease-action'] ?? headers['x-ms-blob-type'] ?? headers['x-ms-page-write'] ?? ''}`;

    if (level !== 'blob' && level !== 'container')
        continue;
    test(`conditions: ${title}`, async (t) => {
        for (const header of HEADERS) {
            const container = (await newContainer(t)).containerName;
            const etag = await prepared(container, 'blob', { level, before });
            const { met, unmet } = valuesOf(header, etag);
            const ask = (value) => send(container, method, level, query, { ...headers, [headerOf(name, header)]: value }, body);
            const takes = columns.conditions.includes(header);
            const [status, code] = takes ? unmetAnswer(name, header, columns) : [400, 'ConditionHeadersNotSupported'];
            const refused = await ask(unmet);

            assert.deepEqual([header, refused.status, refused.code], [header, status, code]);
            assert.equal(await etagNow(container, level), etag, `${header}: refused, yet changed`);
            const second = await ask(met);
            assert.deepEqual([header, codeOf(second)], [header, takes ? null : code]);
        }
    });
    if (level !== 'blob' || columns.lease === 'depends on the lease action' || columns.lease === 'ignored')
        continue;
    test(`leases: ${title}`, async (t) => {
        const container = (await newContainer(t)).containerName;
        let count = 0;

        for (const [state, codes] of Object.entries(LEASES))
            for (const [id, code] of Object.entries(codes)) {
                const blob = `blob${++count}`;
                const wanted = code === 'LeaseIdMissing' && columns.lease === 'optional' ? null : code;

                await prepared(container, blob, { level, before });
                await lease(container, blob, state);
                const answer = await send(container, method, level, query, { ...headers, ...IDS[id] }, body, blob);
                assert.deepEqual([state, id, codeOf(answer)], [state, id, wanted]);
                if (wanted)
                    assert.equal(answer.status, 412);
            }
    });
}
