// Put Block, Put Block List, Get Block List.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raw, rawRefused } from './raw.mjs';
import { blockId, collect, md5, newBlob, newContainer, pattern, refused } from './setup.mjs';

async function stagedBlob(t, ...contents) {
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('blocks');
    for (const [n, content] of contents.entries())
        await blob.stageBlock(blockId(n), content, content.length);
    return { container, blob, path: `/${container.containerName}/blocks` };
}

const names = (blocks) => (blocks ?? []).map((b) => `${Buffer.from(b.name, 'base64')}:${b.size}`);

test('blocks are staged, listed, committed and read', async (t) => {
    // rest: Put-Block, Put-Block-List, Get-Block-List
    const contents = [pattern(1000, 1), pattern(2000, 2), pattern(1, 3)];
    const { container, blob } = await stagedBlob(t, ...contents);
    await refused(blob.getProperties(), 404, 'BlobNotFound');
    await refused(blob.download(), 404, 'BlobNotFound');
    assert.deepEqual(await collect(container.listBlobsFlat()), []);

    const staged = await blob.getBlockList('all');
    assert.deepEqual(names(staged.committedBlocks), []);
    assert.deepEqual(names(staged.uncommittedBlocks), ['000000:1000', '000001:2000', '000002:1']);
    assert.equal(staged.etag, undefined);
    assert.equal(staged.lastModified, undefined);

    const put = await blob.commitBlockList([blockId(2), blockId(0), blockId(1)], {
        metadata: { m: '1' }, blobHTTPHeaders: { blobContentType: 'text/plain' },
    });
    assert.equal(put._response.status, 201);
    const all = Buffer.concat([contents[2], contents[0], contents[1]]);
    assert.ok((await blob.downloadToBuffer()).equals(all));
    const properties = await blob.getProperties();
    assert.equal(properties.etag, put.etag);
    assert.equal(properties.contentType, 'text/plain');
    assert.equal(properties.contentMD5, undefined);
    assert.deepEqual(properties.metadata, { m: '1' });

    const list = await blob.getBlockList('all');
    assert.deepEqual(names(list.committedBlocks), ['000002:1', '000000:1000', '000001:2000']);
    assert.deepEqual(names(list.uncommittedBlocks), []);
    assert.equal(list.etag, put.etag);
    assert.equal(list.blobContentLength, 3001);
});

test('Put Block answers with the sum of the block, without an ETag', async (t) => {
    // semantics 5, Put Block [rec]
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('b');
    const put = await blob.stageBlock(blockId(1), 'abc', 3, {
        transactionalContentMD5: new Uint8Array(md5('abc')),
    });
    assert.equal(put._response.status, 201);
    assert.deepEqual(Buffer.from(put.contentMD5), md5('abc'));
    assert.equal(put._response.headers.get('etag'), undefined);
    assert.equal(put._response.headers.get('last-modified'), undefined);
    await refused(blob.stageBlock(blockId(1), 'abd', 3, {
        transactionalContentMD5: new Uint8Array(md5('abc')),
    }), 400, 'Md5Mismatch');
    await blob.commitBlockList([blockId(1)]);
    assert.equal((await blob.downloadToBuffer()).toString(), 'abc');
});

test('staging changes neither the committed blob nor its ETag', async (t) => {
    // semantics 0.5
    const { blob, etag } = await newBlob(t, 'committed');
    await blob.stageBlock(blockId(1), 'new', 3);
    assert.equal((await blob.getProperties()).etag, etag);
    assert.equal((await blob.downloadToBuffer()).toString(), 'committed');
    await blob.commitBlockList([blockId(1)]);
    assert.equal((await blob.downloadToBuffer()).toString(), 'new');
});

test('the last block staged under an id wins', async (t) => {
    // rest: Put-Block
    const { blob } = await stagedBlob(t, 'first');
    await blob.stageBlock(blockId(0), 'again', 5);
    await blob.commitBlockList([blockId(0)]);
    assert.equal((await blob.downloadToBuffer()).toString(), 'again');
});

test('Committed, Uncommitted and Latest choose where a block comes from', async (t) => {
    // rest: Put-Block-List
    const { blob, path } = await stagedBlob(t, 'old0', 'old1', 'old2');
    const commit = (...entries) => raw('PUT', `${path}?comp=blocklist`, {},
        `<?xml version="1.0" encoding="utf-8"?><BlockList>${entries.map(([kind, n]) =>
            `<${kind}>${blockId(n)}</${kind}>`).join('')}</BlockList>`);
    const content = async () => (await blob.downloadToBuffer()).toString();
    assert.equal((await commit(['Latest', 0], ['Latest', 1], ['Latest', 2])).status, 201);
    await blob.stageBlock(blockId(0), 'new0', 4);
    await blob.stageBlock(blockId(3), 'new3', 4);
    // Nothing is committed under 3, nothing is staged under 1.
    await rawRefused(commit(['Committed', 3]), 400, 'InvalidBlockList');
    await rawRefused(commit(['Uncommitted', 1]), 400, 'InvalidBlockList');
    await rawRefused(commit(['Latest', 9]), 400, 'InvalidBlockList');
    assert.equal(await content(), 'old0old1old2');
    assert.equal((await commit(['Committed', 0], ['Latest', 3], ['Committed', 2])).status, 201);
    assert.equal(await content(), 'old0new3old2');
    // The staged block 0 was not named: it is gone.
    await rawRefused(commit(['Uncommitted', 0]), 400, 'InvalidBlockList');
    await blob.stageBlock(blockId(0), 'NEW0', 4);
    assert.equal((await commit(['Latest', 0], ['Committed', 2], ['Committed', 2])).status, 201);
    assert.equal(await content(), 'NEW0old2old2');
    await blob.stageBlock(blockId(2), 'NEW2', 4);
    assert.equal((await commit(['Uncommitted', 2], ['Latest', 0])).status, 201);
    assert.equal(await content(), 'NEW2NEW0');
});

test('an empty list makes an empty blob', async (t) => {
    // rest: Put-Block-List
    const { blob } = await stagedBlob(t, 'x');
    await blob.commitBlockList([]);
    assert.equal((await blob.getProperties()).contentLength, 0);
    assert.deepEqual(names((await blob.getBlockList('all')).uncommittedBlocks), []);
});

test('Put Blob drops the staged blocks', async (t) => {
    // semantics 5, Put Blob
    const { blob } = await stagedBlob(t, 'x');
    await blob.upload('whole', 5);
    assert.deepEqual(names((await blob.getBlockList('all')).uncommittedBlocks), []);
    await refused(blob.commitBlockList([blockId(0)]), 400, 'InvalidBlockList');
    assert.equal((await blob.downloadToBuffer()).toString(), 'whole');
});

test('a blob put whole has no block list', async (t) => {
    // rest: Get-Block-List
    const { blob, etag } = await newBlob(t, 'whole');
    const list = await blob.getBlockList('all');
    assert.deepEqual(names(list.committedBlocks), []);
    assert.equal(list.etag, etag);
    assert.equal(list.blobContentLength, 5);
});

test('kinds of Get Block List', async (t) => {
    // rest: Get-Block-List
    const { blob } = await stagedBlob(t, 'a', 'b');
    await blob.commitBlockList([blockId(0), blockId(1)]);
    await blob.stageBlock(blockId(7), 'c', 1);
    await blob.stageBlock(blockId(5), 'd', 1);
    const committed = await blob.getBlockList('committed');
    assert.deepEqual(names(committed.committedBlocks), ['000000:1', '000001:1']);
    assert.deepEqual(names(committed.uncommittedBlocks), []);
    const uncommitted = await blob.getBlockList('uncommitted');
    assert.deepEqual(names(uncommitted.committedBlocks), []);
    // semantics 5: uncommitted ones in the order of their ids
    assert.deepEqual(names(uncommitted.uncommittedBlocks), ['000005:1', '000007:1']);
    const all = await blob.getBlockList('all');
    assert.deepEqual(names(all.committedBlocks), ['000000:1', '000001:1']);
    assert.deepEqual(names(all.uncommittedBlocks), ['000005:1', '000007:1']);
});

test('block list of a snapshot stays', async (t) => {
    // rest: Get-Block-List ?snapshot
    const { blob } = await stagedBlob(t, 'a', 'b');
    await blob.commitBlockList([blockId(0), blockId(1)]);
    const { snapshot } = await blob.createSnapshot();
    await blob.commitBlockList([blockId(1)]);
    const old = blob.withSnapshot(snapshot);
    assert.deepEqual(names((await old.getBlockList('committed')).committedBlocks),
        ['000000:1', '000001:1']);
    assert.equal((await old.downloadToBuffer()).toString(), 'ab');
    assert.equal((await blob.downloadToBuffer()).toString(), 'b');
});

test('Get Block List of nothing is 404', async (t) => {
    // rest: Get-Block-List
    const container = await newContainer(t);
    await refused(container.getBlockBlobClient('none').getBlockList('all'), 404, 'BlobNotFound');
});

test('block ids of one blob have one length', async (t) => {
    // semantics 5, Put Block; the limit is 64 bytes before base64
    const { blob } = await stagedBlob(t, 'a');
    const other = Buffer.from('1').toString('base64');
    const error = await blob.stageBlock(other, 'b', 1).catch((e) => e);
    assert.equal(error.statusCode, 400);
    const container = await newContainer(t);
    const longest = container.getBlockBlobClient('longest');
    await longest.stageBlock(Buffer.alloc(64, 'i').toString('base64'), 'b', 1);
    const over = await longest.stageBlock(Buffer.alloc(65, 'i').toString('base64'), 'b', 1)
        .catch((e) => e);
    assert.equal(over.statusCode, 400);
});

test('block ids with + / and = in them', async (t) => {
    // rest: Put-Block: the id is percent-encoded in the URL, not in the list
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('ids');
    const ids = [0, 1, 2].map((n) => Buffer.from([251, 239, 190 + n, n]).toString('base64'));
    for (const [n, id] of ids.entries())
        await blob.stageBlock(id, String(n), 1);
    await blob.commitBlockList(ids);
    assert.equal((await blob.downloadToBuffer()).toString(), '012');
    assert.deepEqual((await blob.getBlockList('committed')).committedBlocks.map((b) => b.name),
        ids);
});

test('2,000 blocks staged at once are committed in the order of the list', async (t) => {
    // semantics 5: concurrent Put Blocks are independent
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('many');
    const order = Array.from({ length: 2000 }, (_, n) => n);
    for (let from = 0; from < order.length; from += 50) {
        await Promise.all(order.slice(from, from + 50).map((n) => {
            const content = String(n).padStart(5);
            return blob.stageBlock(blockId(n), content, 5);
        }));
    }
    order.reverse();
    await blob.commitBlockList(order.map(blockId));
    const want = order.map((n) => String(n).padStart(5)).join('');
    assert.equal((await blob.downloadToBuffer()).toString(), want);
    assert.equal((await blob.download(9_000, 20)).contentLength, 20);
});
