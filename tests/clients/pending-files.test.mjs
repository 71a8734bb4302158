// Copies to files that go on after their requests were answered: from another server and from this one.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { ShareServiceClient } from '@azure/storage-file-share';
import { Server } from '../lib/server.mjs';
import { serve, sourceServer } from '../lib/source.mjs';
import { credential as blobCredential, refused, until } from './setup.mjs';
import { credential, once } from './shares-setup.mjs';

const MIB = 1 << 20;
/** What a source of another server does not say. */
const given = { fileAttributes: 'Archive', fileCreationTime: 'now', fileLastWriteTime: 'now' };

async function newServer(t) {
    const server = await Server.start({ args: ['--allowCopyFrom', '127.0.0.1,::1'] });
    t.after(() => server.kill().then(() => server.remove()));
    const share = new ShareServiceClient(server.urlOf('file'), credential, once).getShareClient('copies');
    await share.create();
    return { server, share, target: share.rootDirectoryClient.getFileClient('target') };
}

const usage = async (share) => (await share.getStatistics()).shareUsageBytes;
const isEnded = (file) => until(async () => (await file.getProperties()).copyStatus !== 'pending');

/** Says how long it is, sends a little, and stands still. etag: of the n-th request */
const stall = (etag = () => '"0x1"') => {
    let count = 0;
    return (request, response) => {
        response.writeHead(200, { 'content-length': 300 * MIB, etag: etag(++count), 'x-ms-meta-a': '1' });
        response.write('begin');
    };
};

test('Copy File of more than 256 MiB is pending, and completes (rest: Copy-File; decision 304)', async (t) => {
    const { share, target } = await newServer(t);
    const length = 256 * MIB + 1000, bytes = Buffer.alloc(length);
    bytes.fill('first', 0, 700);
    bytes.fill('middle', 100 * MIB, 100 * MIB + 3000);
    bytes.fill('last', length - 300);
    const etag = '"0x1"', other = await sourceServer(t, { '/s': serve(bytes, { etag, 'content-type': 'text/x', 'x-ms-meta-a': '1' }) });
    await target.create(14);
    await target.uploadData(Buffer.from('what was there'));
    const begun = await target.startCopyFromURL(`${other.url}/s`, given);
    assert.equal(begun.copyStatus, 'pending');
    await isEnded(target);
    const shown = await target.getProperties();
    assert.deepEqual([shown.copyStatus, shown.copyId, shown.copyProgress, shown.contentLength, shown.contentType, shown.metadata],
        ['success', begun.copyId, `${length}/${length}`, length, 'text/x', { a: '1' }]);
    assert.notEqual(shown.etag, begun.etag);
    assert((await target.downloadToBuffer()).equals(bytes));
    assert.equal(await usage(share), length); // counted once
    const { rangeList } = await target.getRangeList(); // zeros became holes
    assert.deepEqual(rangeList.map(({ start, end }) => [start, end]),
        [[0, 1023], [100 * MIB, 100 * MIB + 3071], [length - 512 + 24, length - 1]]);
    await target.uploadRange('F', 0, 1);
    assert.equal((await target.downloadToBuffer(0, 5)).toString(), 'First');
});

test('Abort Copy File leaves an empty file with its metadata (rest: Abort-Copy-File)', async (t) => {
    const { share, target } = await newServer(t);
    const other = await sourceServer(t, { '/s': stall() });
    const begin = () => target.startCopyFromURL(`${other.url}/s`, given);
    const { copyId } = await begin();
    const shown = await target.getProperties();
    assert.deepEqual([shown.copyStatus, shown.copyProgress, shown.contentLength, shown.copyCompletedOn],
        ['pending', `0/${300 * MIB}`, 300 * MIB, undefined]);
    assert.equal(await usage(share), 300 * MIB);
    await refused(target.uploadRange('x', 0, 1), 409, 'PendingCopyOperation');
    await refused(target.clearRange(0, 512), 409, 'PendingCopyOperation');
    await refused(target.resize(5), 409, 'PendingCopyOperation');
    await refused(target.abortCopyFromURL('11111111-1111-1111-1111-111111111111'), 409, 'CopyIdMismatch');
    await refused(target.abortCopyFromURL('x'), 400, 'InvalidQueryParameterValue');
    const lease = target.getShareLeaseClient();
    const { leaseId } = await lease.acquireLease();
    await refused(target.abortCopyFromURL(copyId), 412, 'LeaseIdMissing');
    assert.equal((await target.abortCopyFromURL(copyId, { leaseAccessConditions: { leaseId } }))._response.status, 204);
    const ended = await target.getProperties();
    assert.deepEqual([ended.copyStatus, ended.copyId, ended.contentLength, ended.metadata, ended.leaseState],
        ['aborted', copyId, 0, { a: '1' }, 'leased']);
    assert(ended.copyCompletedOn);
    assert.equal(await usage(share), 0);
    await refused(target.abortCopyFromURL(copyId, { leaseAccessConditions: { leaseId } }), 409, 'NoPendingCopyOperation');
    await lease.releaseLease();
    await begin(); // and anything may be made in its place, or it goes away
    await target.create(3);
    assert.equal((await target.getProperties()).copyStatus, undefined);
    await begin();
    await target.delete();
    assert.equal(await usage(share), 0);
});

test('Pending copies from a blob to a file, to a file, and back to a blob; and one whose source changes', async (t) => {
    const { server, share, target } = await newServer(t);
    const container = new BlobServiceClient(server.url, blobCredential, once).getContainerClient('blobs');
    await container.create();
    /* Each step of 64 MiB begins with another block, and the last one is shorter: no step is like another. */
    const blob = container.getBlockBlobClient('b'), block = randomBytes(8 * MIB), names = Array(33).fill('AAAA');
    const others = ['BBBB', 'CCCC', 'DDDD', 'EEEE'].map((name) => [name, randomBytes(1000)]);
    await blob.stageBlock('AAAA', block, block.length);
    for (const [i, [name, bytes]] of others.entries()) {
        await blob.stageBlock(name, bytes, bytes.length);
        names.splice(8 * (i + 1), 0, name);
    }
    await blob.commitBlockList(names);
    const expected = Buffer.concat(names.map((name) => others.find(([of]) => of === name)?.[1] ?? block));
    const begun = await target.startCopyFromURL(blob.url, given);
    assert.equal(begun.copyStatus, 'pending');
    await isEnded(target);
    assert.equal((await target.getProperties()).copyStatus, 'success');
    assert.equal((await target.getProperties()).copyProgress, `${expected.length}/${expected.length}`);
    assert((await target.downloadToBuffer()).equals(expected));
    const again = share.rootDirectoryClient.getFileClient('u');
    assert.equal((await again.startCopyFromURL(target.url)).copyStatus, 'pending');
    await isEnded(again);
    assert.equal((await again.getProperties()).copyStatus, 'success');
    assert((await again.downloadToBuffer(256 * MIB)).equals(expected.subarray(256 * MIB)));
    const back = container.getBlockBlobClient('c');
    assert.equal((await (await back.beginCopyFromURL(again.url, { intervalInMs: 50 })).pollUntilDone()).copyStatus, 'success');
    assert((await back.downloadToBuffer(256 * MIB)).equals(expected.subarray(256 * MIB)));
    const other = await sourceServer(t, { '/s': stall((count) => `"${count}"`) });
    await again.startCopyFromURL(`${other.url}/s`, given);
    await isEnded(again);
    const failed = await again.getProperties();
    assert.deepEqual([failed.copyStatus, failed.contentLength], ['failed', 0]);
    assert.match(failed.copyStatusDescription, /^412 SourceConditionNotMet/);
});

test('A pending Copy File goes on after kill -9 where it was, and is one with the source that it began with', async (t) => {
    const { server, target } = await newServer(t);
    const bytes = Buffer.alloc(260 * MIB, 'some bytes '), etag = '"0x1"', send = serve(bytes, { etag });
    let whole = false;
    const other = await sourceServer(t, { '/s': (request, response) => {
        if (whole)
            return send(request, response);
        response.writeHead(200, { 'content-length': bytes.length, etag });
        response.write(bytes.subarray(0, 20 * MIB)); // and then nothing
    } });
    await target.startCopyFromURL(`${other.url}/s`, given);
    await until(async () => !(await target.getProperties()).copyProgress.startsWith('0/'));
    await server.kill();
    whole = true;
    await server.restart();
    const share = new ShareServiceClient(server.urlOf('file'), credential, once).getShareClient('copies');
    const again = share.rootDirectoryClient.getFileClient('target');
    await isEnded(again);
    assert.equal((await again.getProperties()).copyStatus, 'success');
    assert((await again.downloadToBuffer()).equals(bytes));
    assert.equal(await usage(share), bytes.length);
    assert.match(other.seen.at(-1).headers.range, /^bytes=[1-9][0-9]*-/);
});
