// Conditional headers on blob operations: for each operation and each of the four headers, a
// request whose condition holds and one whose condition does not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobSASPermissions } from '@azure/storage-blob';
import { raw, rawRefused } from './raw.mjs';
import { blockId, newBlob, newContainer, refused } from './setup.mjs';

const OTHER = '"0x111111111111111"';
const MINUTE = 60000;

// A URL that reads the blob.
const signed = (blob) => blob.generateSasUrl({
    permissions: BlobSASPermissions.parse('rt'), expiresOn: new Date(Date.now() + 10 * MINUTE),
});

function conditionsOf({ etag, lastModified }) {
    const earlier = new Date(lastModified.getTime() - MINUTE);
    const later = new Date(lastModified.getTime() + MINUTE);
    return {
        met: {
            ifMatch: etag, ifNoneMatch: OTHER, ifModifiedSince: earlier, ifUnmodifiedSince: later,
        },
        unmet: {
            ifMatch: OTHER, ifNoneMatch: etag, ifModifiedSince: later, ifUnmodifiedSince: earlier,
        },
    };
}

// semantics 4.2: on reads an unmet If-None-Match or If-Modified-Since is 304.
const readStatus = { ifMatch: 412, ifNoneMatch: 304, ifModifiedSince: 304, ifUnmodifiedSince: 412 };
const writeStatus =
    { ifMatch: 412, ifNoneMatch: 412, ifModifiedSince: 412, ifUnmodifiedSince: 412 };

const id = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
const operations = {
    'Get Blob': [readStatus, async (blob, conditions) => {
        const got = await blob.download(0, undefined, { conditions });
        got.readableStreamBody.resume();
    }],
    'Get Blob Properties': [readStatus, (blob, conditions) => blob.getProperties({ conditions })],
    'Put Blob': [writeStatus, (blob, conditions) => blob.upload('new', 3, { conditions })],
    'Put Block List': [writeStatus, async (blob, conditions) => {
        await blob.stageBlock(blockId(1), 'new', 3);
        await blob.commitBlockList([blockId(1)], { conditions });
    }],
    'Set Blob Metadata': [writeStatus,
        (blob, conditions) => blob.setMetadata({ a: '1' }, { conditions })],
    'Set Blob Properties': [writeStatus,
        (blob, conditions) => blob.setHTTPHeaders({ blobContentType: 'a/b' }, { conditions })],
    'Snapshot Blob': [writeStatus, (blob, conditions) => blob.createSnapshot({ conditions })],
    'Delete Blob': [writeStatus, (blob, conditions) => blob.delete({ conditions })],
    'Lease Blob (acquire)': [writeStatus,
        (blob, conditions) => blob.getBlobLeaseClient(id).acquireLease(60, { conditions })],
    'Lease Blob (break)': [writeStatus, async (blob, conditions) => {
        const lease = blob.getBlobLeaseClient(id);
        await lease.acquireLease(60);
        await lease.breakLease(0, { conditions });
    }],
};

for (const [name, [status, operation]] of Object.entries(operations)) {
    test(`${name} under each condition`, async (t) => {
        // semantics 4.2: the measured table
        for (const header of Object.keys(status)) {
            const made = await newBlob(t);
            const { unmet } = conditionsOf(made);
            await refused(operation(made.blob, { [header]: unmet[header] }),
                status[header], 'ConditionNotMet');
            const unchanged = await made.blob.getProperties();
            assert.equal(unchanged.etag, made.etag, `${header}: refused, yet changed`);
            // The condition of a second, untouched blob holds.
            const other = await newBlob(t);
            await operation(other.blob, { [header]: conditionsOf(other).met[header] });
        }
    });
}

test('a 304 has a code and no body', async (t) => {
    // semantics 4.2
    const { container, etag } = await newBlob(t);
    const answer = await raw('GET', `/${container.containerName}/blob`, { 'If-None-Match': etag });
    assert.equal(answer.status, 304);
    assert.equal(answer.body.length, 0);
    assert.equal(answer.code, 'ConditionNotMet');
});

test('reads combine all four headers', async (t) => {
    // semantics 4.1: If-Match && If-Unmodified-Since && (If-None-Match || If-Modified-Since)
    const made = await newBlob(t);
    const path = `/${made.container.containerName}/blob`;
    const { met, unmet } = conditionsOf(made);
    const text = (value) => (value instanceof Date ? value.toUTCString() : value);
    const names = [['If-Match', 'ifMatch'], ['If-None-Match', 'ifNoneMatch'],
        ['If-Modified-Since', 'ifModifiedSince'], ['If-Unmodified-Since', 'ifUnmodifiedSince']];
    // Each header absent, met or unmet: 3^4 requests.
    for (let n = 0; n < 81; n++) {
        const headers = {};
        const given = {};
        for (let i = 0, x = n; i < 4; i++, x = Math.floor(x / 3)) {
            const [header, key] = names[i];
            given[key] = [undefined, true, false][x % 3];
            if (given[key] !== undefined)
                headers[header] = text((given[key] ? met : unmet)[key]);
        }
        const none = [given.ifNoneMatch, given.ifModifiedSince].filter((v) => v !== undefined);
        const want = given.ifMatch === false || given.ifUnmodifiedSince === false ? 412
            : none.length > 0 && !none.includes(true) ? 304 : 200;
        const answer = await raw('HEAD', path, headers);
        assert.equal(answer.status, want, JSON.stringify(given));
    }
});

test('writes take one condition, or one of the two pairs', async (t) => {
    // semantics 4.1; rest: Specifying-Conditional-Headers-for-Blob-Service-Operations
    const made = await newBlob(t);
    const path = `/${made.container.containerName}/blob?comp=metadata`;
    const { met, unmet } = conditionsOf(made);
    const put = (headers) => raw('PUT', path, headers);
    await rawRefused(put({ 'If-Match': met.ifMatch, 'If-None-Match': met.ifNoneMatch }),
        400, 'MultipleConditionHeadersNotSupported');
    await rawRefused(put({
        'If-Modified-Since': met.ifModifiedSince.toUTCString(),
        'If-Unmodified-Since': met.ifUnmodifiedSince.toUTCString(),
    }), 400, 'MultipleConditionHeadersNotSupported');
    await rawRefused(put({
        'If-Match': met.ifMatch, 'If-Modified-Since': met.ifModifiedSince.toUTCString(),
    }), 400, 'MultipleConditionHeadersNotSupported');
    // In a pair the ETag decides.
    assert.equal((await put({
        'If-None-Match': met.ifNoneMatch, 'If-Modified-Since': unmet.ifModifiedSince.toUTCString(),
    })).status, 200);
    const now = await made.blob.getProperties();
    assert.equal((await put({
        'If-Match': now.etag, 'If-Unmodified-Since': unmet.ifUnmodifiedSince.toUTCString(),
    })).status, 200);
});

test('If-Match * means: must exist', async (t) => {
    // semantics 4.1
    const { container, blob } = await newBlob(t);
    await blob.upload('again', 5, { conditions: { ifMatch: '*' } });
    await blob.getProperties({ conditions: { ifMatch: '*' } });
    const missing = container.getBlockBlobClient('missing');
    await refused(missing.upload('x', 1, { conditions: { ifMatch: '*' } }), 412, 'ConditionNotMet');
    assert.equal(await missing.exists(), false);
});

test('If-None-Match * on Put Blob and Put Block List means: create only', async (t) => {
    // semantics 0.4 [rec]: 409 BlobAlreadyExists
    const { container, blob, etag } = await newBlob(t);
    const conditions = { ifNoneMatch: '*' };
    await refused(blob.upload('again', 5, { conditions }), 409, 'BlobAlreadyExists');
    await blob.stageBlock(blockId(1), 'x', 1);
    await refused(blob.commitBlockList([blockId(1)], { conditions }), 409, 'BlobAlreadyExists');
    assert.equal((await blob.getProperties()).etag, etag);
    await container.getBlockBlobClient('one').upload('x', 1, { conditions });
    const two = container.getBlockBlobClient('two');
    await two.stageBlock(blockId(1), 'x', 1);
    await two.commitBlockList([blockId(1)], { conditions });
});

test('If-None-Match * with the id of the active lease replaces the blob', async (t) => {
    // Recorded 10 of 10; upload_blob(data, lease=..) of the Python client sends both. decision: 846
    const lease = 'aaaaaaaa-0000-4000-8000-00000000000a';
    const other = 'bbbbbbbb-0000-4000-8000-00000000000b';
    const { container, blob } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const source = await signed((await newBlob(t)).blob);
    const create = (headers, body = '') => raw('PUT', path, { 'If-None-Match': '*', ...headers }, body);
    const creates = {
        'Put Blob': (headers) => create({ 'x-ms-blob-type': 'BlockBlob', ...headers }, 'new'),
        'Put Blob From URL': (headers) => create({ 'x-ms-blob-type': 'BlockBlob',
            'x-ms-copy-source': source, ...headers }),
        'Put Block List': async (headers) => {
            await blob.stageBlock(blockId(1), 'new', 3, { conditions: { leaseId: lease } });
            return raw('PUT', `${path}?comp=blocklist`, { 'If-None-Match': '*', ...headers },
                `<BlockList><Latest>${blockId(1)}</Latest></BlockList>`);
        },
        'Put Blob, append': (headers) => create({ 'x-ms-blob-type': 'AppendBlob', ...headers }),
        'Put Blob, page': (headers) => create({ 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512',
            ...headers }),
    };
    await blob.getBlobLeaseClient(lease).acquireLease(-1);
    for (const [name, operation] of Object.entries(creates)) {
        await rawRefused(operation({}), 412, 'LeaseIdMissing');
        await rawRefused(operation({ 'x-ms-lease-id': other }), 412, 'LeaseIdMismatchWithBlobOperation');
        const made = await operation({ 'x-ms-lease-id': lease });
        assert.equal(made.status, 201, `${name}: ${made.text}`);
        // The date is a condition of its own.
        const later = new Date(Date.now() + MINUTE).toUTCString();
        await rawRefused(operation({ 'x-ms-lease-id': lease, 'If-Modified-Since': later }), 412, 'ConditionNotMet');
    }
    // A copy was never recorded so: it creates only.
    await rawRefused(create({ 'x-ms-copy-source': source, 'x-ms-lease-id': lease }),
        409, 'BlobAlreadyExists');
    await blob.getBlobLeaseClient(lease).releaseLease();
    await rawRefused(creates['Put Blob']({}), 409, 'BlobAlreadyExists');
});

test('If-None-Match * is ignored by writes that cannot create', async (t) => {
    // The live service on DELETE (apache/opendal#8176) and Set Blob Properties (Azurite). decision: 4
    const { container, blob, etag } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const star = { 'If-None-Match': '*' };
    const write = async (status, query, headers = {}) => {
        const answer = await raw('PUT', `${path}?comp=${query}`, { ...star, ...headers });
        assert.equal(answer.status, status, `${query}: ${answer.text}`);
    };
    await write(200, 'metadata', { 'x-ms-meta-a': '1' });
    await write(200, 'properties');
    await write(201, 'snapshot');
    await write(201, 'lease', { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '15',
        'x-ms-proposed-lease-id': 'aaaaaaaa-0000-4000-8000-00000000000a' });
    await write(202, 'lease', { 'x-ms-lease-action': 'break', 'x-ms-lease-break-period': '0' });
    const later = new Date(Date.now() + MINUTE).toUTCString();
    await rawRefused(raw('PUT', `${path}?comp=metadata`, { ...star, 'If-Modified-Since': later }),
        412, 'ConditionNotMet');
    await rawRefused(raw('DELETE', path, { 'If-None-Match': (await blob.getProperties()).etag,
        'x-ms-delete-snapshots': 'include' }), 412, 'ConditionNotMet');
    assert.notEqual((await blob.getProperties()).etag, etag);
    const deleted = await raw('DELETE', path, { ...star, 'x-ms-delete-snapshots': 'include' });
    assert.equal(deleted.status, 202);
    assert.equal(await blob.exists(), false);
});

test('empty conditional headers count as absent', async (t) => {
    // botbuilder-azure-blobs sends an empty If-Match with every first write. decision: 847
    const { container, blob } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const empty = { 'If-Match': '', 'If-None-Match': '', 'If-Modified-Since': '', 'If-Unmodified-Since': '',
        'x-ms-if-tags': '' };
    const status = async (method, target, headers, body) => (await raw(method, target, headers, body)).status;

    assert.equal(await status('GET', path, empty), 200);
    assert.equal(await status('HEAD', path, empty), 200);
    assert.equal(await status('PUT', path, { ...empty, 'x-ms-blob-type': 'BlockBlob' }, 'new'), 201);
    assert.equal(await status('PUT', `${path}2`, { ...empty, 'x-ms-blob-type': 'BlockBlob' }, 'new'), 201);
    assert.equal(await status('GET', `${path}?comp=tags`, { 'x-ms-blob-if-match': '',
        'x-ms-blob-if-none-match': '', 'x-ms-blob-if-modified-since': '', 'x-ms-blob-if-unmodified-since': '' }), 200);
    // Containers take none of the two that name an ETag.
    assert.equal(await status('PUT', `/${container.containerName}?restype=container&comp=metadata`, empty), 200);
    const url = await signed(blob);
    const sources = { 'x-ms-source-if-match': '', 'x-ms-source-if-none-match': '', 'x-ms-source-if-modified-since': '',
        'x-ms-source-if-unmodified-since': '', 'x-ms-source-if-tags': '' };
    assert.equal(await status('PUT', `${path}3`, { 'x-ms-copy-source': url, ...sources }), 202);
    assert.equal(await status('PUT', `${path}4`, { 'x-ms-copy-source': url, 'x-ms-requires-sync': 'true',
        ...sources }), 202);
    assert.equal(await status('PUT', `${path}5`, { 'x-ms-copy-source': url, 'x-ms-blob-type': 'BlockBlob',
        ...sources }), 201);
    const page = container.getPageBlobClient('page');
    await page.create(1024);
    const pages = { 'x-ms-if-sequence-number-le': '', 'x-ms-if-sequence-number-lt': '',
        'x-ms-if-sequence-number-eq': '', 'x-ms-page-write': 'clear', 'x-ms-range': 'bytes=0-511' };
    assert.equal(await status('PUT', `/${container.containerName}/page?comp=page`, pages), 201);
    await container.getAppendBlobClient('log').create();
    assert.equal(await status('PUT', `/${container.containerName}/log?comp=appendblock`,
        { 'x-ms-blob-condition-appendpos': '', 'x-ms-blob-condition-maxsize': '' }, 'x'), 201);
    // Conditions of other operations, which are refused where they say something.
    assert.equal(await status('PUT', `${path}?comp=metadata`, { 'x-ms-if-sequence-number-le': '',
        'x-ms-blob-condition-appendpos': '', 'x-ms-source-if-match': '' }), 200);
    assert.equal(await status('DELETE', path, { ...empty, 'x-ms-access-tier-if-modified-since': '' }), 202);
});

test('a date that cannot be read is ignored on reads, and refused on writes', async (t) => {
    // Azurite#2550 tells it of Get Blob. decision: 848
    const { container, blob } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const url = await signed(blob);
    for (const date of ['null', 'yesterday', '2026-01-01T00:00:00Z']) {
        for (const name of ['If-Modified-Since', 'If-Unmodified-Since']) {
            const headers = { [name]: date };
            assert.equal((await raw('GET', path, headers)).status, 200);
            assert.equal((await raw('HEAD', path, headers)).status, 200);
            assert.equal((await raw('GET', `${path}?comp=metadata`, headers)).status, 200);
            assert.equal((await raw('GET', `${path}?comp=blocklist`, headers)).status, 200);
            assert.equal((await raw('GET', `/${container.containerName}?restype=container&comp=list`, headers)).status,
                200);
            assert.equal((await raw('GET', `${path}?comp=tags`, { [`x-ms-blob-${name}`]: date })).status, 200);
            // The others still count.
            await rawRefused(raw('GET', path, { ...headers, 'If-Match': OTHER }), 412, 'ConditionNotMet');
            for (const write of [raw('PUT', `${path}?comp=metadata`, headers), raw('DELETE', path, headers),
                raw('PUT', path, { ...headers, 'x-ms-blob-type': 'BlockBlob' }, 'x'),
                raw('PUT', `${path}?comp=tags`, { [`x-ms-blob-${name}`]: date }, '<Tags><TagSet/></Tags>'),
                raw('PUT', `${path}2`, { [`x-ms-source-${name}`]: date, 'x-ms-copy-source': url })]) {
                const answer = await rawRefused(write, 400, 'InvalidHeaderValue');
                assert.match(answer.text, new RegExp(`<HeaderValue>${date}</HeaderValue>`));
            }
        }
    }
});

test('blocks that are not committed have a date', async (t) => {
    // Recorded: Put Block List with a date ahead, on a blob that has such blocks alone. decision: 849
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('staged');
    const past = new Date(Date.now() - MINUTE);
    const ahead = new Date(Date.now() + MINUTE);
    await blob.stageBlock(blockId(1), 'x', 1);
    const commit = (conditions) => blob.commitBlockList([blockId(1)], { conditions });
    await refused(commit({ ifModifiedSince: ahead }), 412, 'ConditionNotMet');
    await refused(commit({ ifUnmodifiedSince: past }), 412, 'ConditionNotMet');
    await refused(commit({ ifMatch: '*' }), 412, 'ConditionNotMet');
    await commit({ ifModifiedSince: past });
});

test('Append Block refuses an If-Match from before 1601', async (t) => {
    // Recorded of a bare 0x111111111111111; 412 of other operations. decision: 850
    const container = await newContainer(t);
    const path = `/${container.containerName}/log?comp=appendblock`;
    await container.getAppendBlobClient('log').create();
    const append = (match) => raw('PUT', path, { 'If-Match': match }, 'x');
    await rawRefused(append('0x111111111111111'), 400, 'OutOfRangeInput');
    await rawRefused(append('0x8D2C9167D53FC2C'), 412, 'ConditionNotMet');
    await rawRefused(append('"garbage"'), 412, 'ConditionNotMet');
    await rawRefused(raw('PUT', `/${container.containerName}/log?comp=metadata`,
        { 'If-Match': '0x111111111111111' }), 412, 'ConditionNotMet');
    assert.equal((await raw('PUT', path, { 'If-None-Match': '0x111111111111111' }, 'x')).status, 201);
});

test('of 20 creators with If-None-Match * one wins', async (t) => {
    // design, promise 3
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('race');
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, n) =>
        blob.upload(String(n).padStart(3), 3, { conditions: { ifNoneMatch: '*' } })));
    const won = results.map((r, n) => [r, n]).filter(([r]) => r.status === 'fulfilled');
    assert.equal(won.length, 1);
    for (const [result] of results.map((r) => [r]).filter(([r]) => r.status === 'rejected'))
        assert.equal(result.reason.code, 'BlobAlreadyExists');
    assert.equal((await blob.downloadToBuffer()).toString(), String(won[0][1]).padStart(3));
});

test('If-None-Match * on a read is refused', async (t) => {
    // decision: 4
    const { container } = await newBlob(t);
    await rawRefused(raw('GET', `/${container.containerName}/blob`, { 'If-None-Match': '*' }),
        400, 'UnsatisfiableCondition');
});

test('conditions on a blob that does not exist', async (t) => {
    // semantics 4.1, "Missing blob"
    const container = await newContainer(t);
    const missing = () => container.getBlockBlobClient(`m${Math.random()}`);
    const date = new Date(Date.now() - MINUTE);
    await refused(missing().upload('x', 1, { conditions: { ifMatch: OTHER } }), 412,
        'ConditionNotMet');
    await missing().upload('x', 1, { conditions: { ifNoneMatch: OTHER } });
    await missing().upload('x', 1, { conditions: { ifModifiedSince: date } });
    await missing().upload('x', 1, { conditions: { ifUnmodifiedSince: date } });
    await refused(missing().getProperties({ conditions: { ifNoneMatch: OTHER } }), 404,
        'BlobNotFound');
    await refused(missing().delete({ conditions: { ifUnmodifiedSince: date } }), 404,
        'BlobNotFound');
});

test('lists of ETags on reads, bare ETags, no list on writes', async (t) => {
    // semantics 4.1
    const { container, etag } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const head = async (headers) => (await raw('HEAD', path, headers)).status;
    assert.equal(await head({ 'If-Match': `${OTHER}, ${etag}` }), 200);
    assert.equal(await head({ 'If-None-Match': `${OTHER}, ${etag}` }), 304);
    assert.equal(await head({ 'If-None-Match': `${OTHER},"0x2"` }), 200);
    assert.equal(await head({ 'If-Match': JSON.parse(etag) }), 200);
    assert.equal(await head({ 'If-None-Match': JSON.parse(etag) }), 304);
    const write = await raw('PUT', `${path}?comp=metadata`, { 'If-Match': `${OTHER}, ${etag}` });
    assert.equal(write.status, 400);
});

test('dates are compared by the second', async (t) => {
    // semantics 4.1: equal to Last-Modified is "not modified since"
    const { blob, lastModified } = await newBlob(t);
    await refused(blob.getProperties({ conditions: { ifModifiedSince: lastModified } }),
        304, 'ConditionNotMet');
    await blob.getProperties({ conditions: { ifUnmodifiedSince: lastModified } });
    await blob.setMetadata({ a: '1' }, { conditions: { ifUnmodifiedSince: lastModified } });
});

test('ETag conditions on container operations are refused', async (t) => {
    // semantics 4.1, Containers
    const container = await newContainer(t);
    const { etag } = await container.getProperties();
    await rawRefused(raw('PUT', `/${container.containerName}?restype=container&comp=metadata`,
        { 'If-Match': etag }), 400, 'ConditionHeadersNotSupported');
});

test('of 20 writers that saw the same ETag one wins', async (t) => {
    // rest: Managing concurrency: optimistic concurrency
    const { blob, etag } = await newBlob(t);
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, n) =>
        blob.setMetadata({ n: String(n) }, { conditions: { ifMatch: etag } })));
    const won = results.findIndex((r) => r.status === 'fulfilled');
    assert.equal(results.filter((r) => r.status === 'fulfilled').length, 1);
    for (const r of results.filter((x) => x.status === 'rejected'))
        assert.equal(r.reason.code, 'ConditionNotMet');
    assert.deepEqual((await blob.getProperties()).metadata, { n: String(won) });
});
