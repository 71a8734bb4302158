// Conditional headers on blob operations: for each operation and each of the four headers, a
// request whose condition holds and one whose condition does not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raw, rawRefused } from './raw.mjs';
import { blockId, md5, newBlob, newContainer, refused } from './setup.mjs';

const OTHER = '"0x111111111111111"';
const MINUTE = 60000;

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

test('a body that an operation has no use for is not summed up', async (t) => {
    // rest: Set-Blob-Metadata has no body
    const { container } = await newBlob(t);
    const sum = { 'Content-MD5': md5('ignored').toString('base64'), 'x-ms-meta-a': 'b' };
    const answer = await raw('PUT', `/${container.containerName}/blob?comp=metadata`, sum, 'ignored');
    assert.equal(answer.status, 200);
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
