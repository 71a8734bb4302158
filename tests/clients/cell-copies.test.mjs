// Copies whose source is in another cell of the cluster: the same responses and the same destinations as with a source in the
// cell of the destination. docs/cells.md; decision: 1080
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BlobSASPermissions, BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { FileSASPermissions, ShareServiceClient, StorageSharedKeyCredential as ShareCredential } from '@azure/storage-file-share';
import { startCells } from '../lib/cells.mjs';
import { encoded, envelope, peerOf, post } from '../lib/peer_request.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const MIB = 1 << 20, GIB = 1024 * MIB;
const { account, key } = DEVELOPMENT;
const CELLS = [1, 2, 3];
/* Cells of the source and the destination. The root knows where containers are, the others ask it. */
const WAYS = [[1, 2], [2, 1], [2, 3]];
const once = { retryOptions: { maxTries: 1 } };

const pattern = (size, seed = 1) => {
    const bytes = Buffer.alloc(size);
    for (let i = 0, x = seed * 2654435761 >>> 0; i < size; i++, x = (Math.imul(x, 1664525) + 1013904223) >>> 0)
        bytes[i] = x >>> 24;
    return bytes;
};
const blobsAt = (member) => new BlobServiceClient(`http://127.0.0.1:${member.ports.blob}/${account}`, new StorageSharedKeyCredential(account, key), once);
const sharesAt = (member) => new ShareServiceClient(`http://127.0.0.1:${member.ports.file}/${account}`, new ShareCredential(account, key), once);
const signed = (blob, letters = 'r') => blob.generateSasUrl({ permissions: BlobSASPermissions.parse(letters), expiresOn: new Date(Date.now() + 3600_000) });
const signedFile = (file) => file.generateSasUrl({ permissions: FileSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 3600_000) });
const copied = async (target, source, options) => (await target.beginCopyFromURL(source, { intervalInMs: 50, ...options })).pollUntilDone();

const copiedFile = async (target, source, options) => {
    await target.startCopyFromURL(source, options);
    await until(async () => (await target.getProperties()).copyStatus !== 'pending');
};

async function until(condition) {
    for (let i = 0; i < 600; i++, await new Promise((resolve) => setTimeout(resolve, 50)))
        if (await condition())
            return;
    throw new Error('not within 30 s');
}

let cells, member;
let count = 0;

const BLOCKS = [pattern(MIB, 3), pattern(70_000, 4), Buffer.from('end')];
const PAGES = pattern(3 * MIB, 5);

/** Sources of all kinds in a container and a share of each cell. */
async function fill(cell) {
    const container = blobsAt(member).getContainerClient(`blobs${cell}`);
    await container.create();
    await container.getBlockBlobClient('small').upload('small', 5, { metadata: { m: '1' }, tags: { t: '1' }, blobHTTPHeaders: { blobContentType: 'x/small', blobCacheControl: 'none' } });
    await container.getBlockBlobClient('empty').upload('', 0);
    await container.getBlockBlobClient('large').upload(pattern(9 * MIB), 9 * MIB);
    const blocks = container.getBlockBlobClient('blocks');
    for (const [i, block] of BLOCKS.entries())
        await blocks.stageBlock(Buffer.from(`block${i}`).toString('base64'), block, block.length);
    await blocks.commitBlockList(BLOCKS.map((_, i) => Buffer.from(`block${i}`).toString('base64')));
    const log = container.getAppendBlobClient('log');
    await log.create();
    for (const text of ['one', 'two'])
        await log.appendBlock(text, 3);
    const disk = container.getPageBlobClient('disk');
    await disk.create(8 * GIB, { blobSequenceNumber: 7, metadata: { d: '1' } });
    await disk.uploadPages(PAGES, 4 * GIB, PAGES.length);
    await disk.uploadPages(PAGES.subarray(0, 512), 0, 512);
    await container.getPageBlobClient('no-pages').create(0);
    const share = sharesAt(member).getShareClient(`share${cell}`);
    await share.create();
    const file = share.rootDirectoryClient.getFileClient('file');
    await file.create(2 * GIB, { metadata: { f: '1' }, fileHttpHeaders: { fileContentType: 'x/file' }, fileAttributes: { toString: () => 'ReadOnly|Archive' }, filePermission: 'O:S-1-5-21-1-2-3-500G:S-1-5-21-1-2-3-513D:(A;;FA;;;SY)' });
    const text = share.rootDirectoryClient.getFileClient('text');
    await text.create(9);
    await text.uploadRange('file text', 0, 9);
}

const endings = []; // a hook within before() would run at its end
after(async () => {
    for (const end of endings.reverse())
        await end();
});
before(async () => {
    cells = await startCells({ after: (end) => endings.push(end) }, { cells: CELLS.length });
    member = cells.owners[0];
    for (const cell of CELLS) {
        await cells.place(cell);
        await fill(cell);
    }
});

/** What a copy is seen as, without what differs between two of the same. */
const seenBlob = async (blob) => {
    const p = await blob.getProperties();
    const tags = p.blobType === 'BlockBlob' ? (await blob.getTags()).tags : {};
    const blocks = p.blobType === 'BlockBlob' ? (await blob.getBlockBlobClient().getBlockList('committed')).committedBlocks : [];
    const pages = p.blobType === 'PageBlob' && p.contentLength ? (await blob.getPageBlobClient().getPageRanges()).pageRange : [];
    return { type: p.blobType, length: p.contentLength, contentType: p.contentType, cache: p.cacheControl, md5: p.contentMD5 && Buffer.from(p.contentMD5).toString('hex'), metadata: p.metadata, tags,
        blocks: blocks.map(({ name, size }) => [name, size]), pages, sequence: p.blobSequenceNumber, appended: p.blobCommittedBlockCount, tier: p.accessTier, copy: [p.copyStatus, p.copyProgress] };
};

/** How an operation ends: with what it returns, or how it is refused. */
async function ends(operation, at, source, target) {
    try {
        return { seen: await operation(at, source, target) };
    } catch (error) {
        if (!error.statusCode)
            throw error;
        return { status: error.statusCode, code: error.code, details: error.details && Object.fromEntries(Object.entries(error.details).filter(([name]) => /^copySource/i.test(name))),
            message: error.message.replace(/RequestId:.*|Time:.*/g, '').slice(0, 200) };
    }
}

/** The operation has the same end with a source in another cell as with one in its own. */
async function same(name, operation, expected) {
    for (const [from, to] of WAYS) {
        const target = `${name.replace(/[^a-z]/gi, '')}${count++}`;
        const there = await ends(operation, to, from, `${target}x`), here = await ends(operation, to, to, `${target}y`);
        assert.deepEqual(there, here, `${name}, from cell ${from} to ${to}`);
        expected?.(there, name);
    }
}
const succeeds = ({ seen, ...refused }, name) => assert.ok(seen, `${name} ${JSON.stringify(refused)}`);
const refusedAs = (status, code) => (end, name) => assert.deepEqual([end.status, end.code], [status, code], `${name} ${JSON.stringify(end)}`);

const containerOf = (cell, at = member) => blobsAt(at).getContainerClient(`blobs${cell}`);
const rootOf = (cell, at = member) => sharesAt(at).getShareClient(`share${cell}`).rootDirectoryClient;

test('copies of blobs of every type', async () => {
    for (const name of ['small', 'empty', 'large', 'blocks', 'log', 'disk', 'no-pages'])
        await same(`Copy Blob ${name}`, async (to, from, target) => {
            const blob = containerOf(to).getBlobClient(target), source = containerOf(from).getBlobClient(name);
            await copied(blob, source.url); // by the account's key
            const seen = await seenBlob(blob), original = await seenBlob(source);
            assert.deepEqual([seen.length, seen.blocks, seen.pages, seen.metadata], [original.length, original.blocks, original.pages, original.metadata]);
            if (original.length < GIB && original.length > 0)
                assert.ok((await blob.downloadToBuffer()).equals(await source.downloadToBuffer()));
            return seen;
        }, succeeds);
    await same('Copy Blob with tags and a SAS', async (to, from, target) => {
        const blob = containerOf(to).getBlobClient(target);
        await copied(blob, await signed(containerOf(from).getBlobClient('small'), 'rt'), { tier: 'Cool', metadata: { other: '2' }, tags: { set: '1' } });
        return seenBlob(blob);
    }, succeeds);
    await same('Copy Blob of a snapshot', async (to, from, target) => {
        const source = containerOf(from).getBlobClient('small'), { snapshot } = await source.createSnapshot();
        const blob = containerOf(to).getBlobClient(target);
        await copied(blob, source.withSnapshot(snapshot).url);
        return seenBlob(blob);
    }, succeeds);
});

test('operations that read a URL', async () => {
    for (const name of ['small', 'empty', 'large', 'blocks', 'log', 'disk'])
        await same(`Copy Blob From URL ${name}`, async (to, from, target) => {
            const blob = containerOf(to).getBlobClient(target);
            await blob.syncCopyFromURL(await signed(containerOf(from).getBlobClient(name)));
            return seenBlob(blob);
        });
    for (const name of ['small', 'empty', 'large', 'blocks', 'log', 'no-pages'])
        await same(`Put Blob From URL ${name}`, async (to, from, target) => {
            const blob = containerOf(to).getBlockBlobClient(target);
            await blob.syncUploadFromURL(await signed(containerOf(from).getBlobClient(name)));
            return seenBlob(blob);
        }, succeeds);
    await same('Put Blob From URL with tags', async (to, from, target) => {
        const blob = containerOf(to).getBlockBlobClient(target);
        await blob.syncUploadFromURL(await signed(containerOf(from).getBlobClient('small'), 'rt'), { copySourceTags: 'COPY' });
        return seenBlob(blob);
    }, ({ seen }) => assert.deepEqual(seen.tags, { t: '1' }));
    await same('Put Block From URL', async (to, from, target) => {
        const blob = containerOf(to).getBlockBlobClient(target), id = Buffer.from('1').toString('base64');
        await blob.stageBlockFromURL(id, await signed(containerOf(from).getBlobClient('large')), 4 * MIB, 5 * MIB);
        await blob.commitBlockList([id]);
        assert.ok((await blob.downloadToBuffer()).equals(pattern(9 * MIB).subarray(4 * MIB)));
        return seenBlob(blob);
    }, succeeds);
    await same('Append Block From URL', async (to, from, target) => {
        const blob = containerOf(to).getAppendBlobClient(target);
        await blob.create();
        await blob.appendBlockFromURL(await signed(containerOf(from).getBlobClient('log')), 1, 4);
        assert.equal((await blob.downloadToBuffer()).toString(), 'netw');
        return seenBlob(blob);
    }, succeeds);
    await same('Put Page From URL', async (to, from, target) => {
        const blob = containerOf(to).getPageBlobClient(target);
        await blob.create(8 * MIB);
        await blob.uploadPagesFromURL(await signed(containerOf(from).getBlobClient('disk')), 4 * GIB - MIB, 512, 3 * MIB);
        assert.ok((await blob.downloadToBuffer(512, 3 * MIB)).equals(Buffer.concat([Buffer.alloc(MIB), PAGES.subarray(0, 2 * MIB)])));
        return seenBlob(blob);
    }, succeeds);
});

test('files', async () => {
    const seenFile = async (file) => {
        const p = await file.getProperties();
        return { length: p.contentLength, type: p.contentType, metadata: p.metadata, attributes: p.fileAttributes, copy: [p.copyStatus, p.copyProgress], ranges: (await file.getRangeList()).rangeList };
    };
    await same('Copy File', async (to, from, target) => {
        const file = rootOf(to).getFileClient(target);
        await copiedFile(file, rootOf(from).getFileClient('text').url);
        assert.equal((await file.downloadToBuffer()).toString(), 'file text');
        return seenFile(file);
    }, succeeds);
    await same('Copy File with its permission', async (to, from, target) => {
        const file = rootOf(to).getFileClient(target), source = rootOf(from).getFileClient('file');
        await copiedFile(file, source.url, { filePermissionCopyMode: 'source', copyFileSmbInfo: { fileAttributes: 'source', fileCreationTime: 'source', fileLastWriteTime: 'source', filePermissionCopyMode: 'source' } });
        const descriptor = async (of, cell) => (await sharesAt(member).getShareClient(`share${cell}`).getPermission((await of.getProperties()).filePermissionKey)).permission;
        assert.equal(await descriptor(file, to), await descriptor(source, from));
        return seenFile(file);
    }, succeeds);
    await same('Copy File of a blob', async (to, from, target) => {
        const at = cells.owners[to - 1]; // a front end knows the ports of its own services only
        const file = rootOf(to, at).getFileClient(target);
        await copiedFile(file, await signed(containerOf(from, at).getBlobClient('blocks')));
        assert.ok((await file.downloadToBuffer()).equals(Buffer.concat(BLOCKS)));
        return seenFile(file);
    }, succeeds);
    await same('Copy Blob of a file', async (to, from, target) => {
        const at = cells.owners[to - 1], blob = containerOf(to, at).getBlobClient(target);
        await copied(blob, await signedFile(rootOf(from, at).getFileClient('text')));
        return seenBlob(blob);
    }, succeeds);
    await same('Put Range From URL', async (to, from, target) => {
        const file = rootOf(to).getFileClient(target);
        await file.create(100);
        await file.uploadRangeFromURL(await signedFile(rootOf(from).getFileClient('text')), 5, 50, 4);
        assert.equal((await file.downloadToBuffer(50, 4)).toString(), 'text');
        return seenFile(file);
    }, succeeds);
});

test('what is refused is refused alike', async () => {
    const sync = (name, options = {}) => async (to, from, target) => containerOf(to).getBlobClient(target).syncCopyFromURL(await signed(containerOf(from).getBlobClient(name)), options).then(() => true);
    const async_ = (name, options = {}) => async (to, from, target) => copied(containerOf(to).getBlobClient(target), containerOf(from).getBlobClient(name).url, options).then(() => true);
    await same('a source that is missing', sync('none'), refusedAs(404, 'CannotVerifyCopySource'));
    await same('a source that is missing, by key', async_('none'), refusedAs(404, 'BlobNotFound'));
    for (const conditions of [{ ifMatch: '"0x1"' }, { ifNoneMatch: '*' }, { ifUnmodifiedSince: new Date(0) }, { tagConditions: "t = '2'" }]) {
        await same(`Copy Blob, ${JSON.stringify(conditions)}`, async_('small', { sourceConditions: conditions }));
        await same(`Copy Blob From URL, ${JSON.stringify(conditions)}`, sync('small', { sourceConditions: conditions }));
    }
    await same('without authorization', async (to, from, target) => containerOf(to).getBlobClient(target).syncCopyFromURL(containerOf(from).getBlobClient('small').url).then(() => true));
    await same('with a SAS that does not permit it', async (to, from, target) => containerOf(to).getBlobClient(target).syncCopyFromURL(await signed(containerOf(from).getBlobClient('small'), 'w')).then(() => true));
    await same('a wrong MD5', async (to, from, target) => containerOf(to).getBlobClient(target).syncCopyFromURL(await signed(containerOf(from).getBlobClient('small')), { sourceContentMD5: Buffer.alloc(16, 1) }).then(() => true));
    await same('a range beyond the end', async (to, from, target) => containerOf(to).getBlockBlobClient(target).stageBlockFromURL('MQ==', await signed(containerOf(from).getBlobClient('small')), 100, 10).then(() => true));
    for (const [what, url] of [['a container', (at) => at.url], ['no container', () => `http://127.0.0.1:${member.ports.blob}/${account}/nowhere/b`], ['an account that does not exist', () => `http://127.0.0.1:${member.ports.blob}/nobody/c/b`]])
        await same(what, async (to, from, target) => copied(containerOf(to).getBlobClient(target), url(containerOf(from))).then(() => true));
});

test('public containers, and access that is revoked', async () => {
    const source = containerOf(2).getBlobClient('small'), target = containerOf(1).getBlobClient('public');
    const copy = () => target.syncCopyFromURL(source.url);
    await assert.rejects(copy());
    await containerOf(2).setAccessPolicy('blob', [{ id: 'policy', accessPolicy: { startsOn: new Date(0), expiresOn: new Date(Date.now() + 3600_000), permissions: 'r' } }]);
    await copy();
    await containerOf(2).setAccessPolicy(undefined, [{ id: 'policy', accessPolicy: { startsOn: new Date(0), expiresOn: new Date(Date.now() + 3600_000), permissions: 'r' } }]);
    await assert.rejects(copy());
    const url = await source.generateSasUrl({ identifier: 'policy' });
    await target.syncCopyFromURL(url);
    await containerOf(2).setAccessPolicy(undefined, []);
    await assert.rejects(target.syncCopyFromURL(url), { code: 'CannotVerifyCopySource' });
});

test('incremental copies', async () => {
    for (const [from, to] of WAYS) {
        const source = containerOf(from).getPageBlobClient(`from${to}`), target = containerOf(to).getPageBlobClient(`of${from}`);
        await source.create(4 * GIB);
        const copySnapshot = async () => {
            const { snapshot } = await source.createSnapshot();
            await target.startCopyIncremental(await signed(source.withSnapshot(snapshot)));
            await until(async () => (await target.getProperties()).copyStatus !== 'pending');
            const { copyStatus, copyStatusDescription, destinationSnapshot } = await target.getProperties();
            assert.equal(copyStatus, 'success', copyStatusDescription);
            return target.withSnapshot(destinationSnapshot);
        };
        await source.uploadPages(PAGES.subarray(0, MIB), GIB, MIB);
        await source.uploadPages(PAGES.subarray(0, MIB), 2 * GIB, MIB);
        await copySnapshot();
        await source.uploadPages(PAGES.subarray(MIB, MIB + 512), 3 * GIB, 512);
        await source.clearPages(GIB, MIB);
        const second = await copySnapshot();
        assert.deepEqual((await second.getPageRanges()).pageRange, (await source.getPageRanges()).pageRange);
        assert.ok((await second.downloadToBuffer(2 * GIB, MIB)).equals(PAGES.subarray(0, MIB)));
        assert.ok((await second.downloadToBuffer(3 * GIB, 512)).equals(PAGES.subarray(MIB, MIB + 512)));
    }
});

/* ---- /-/source, and who may request it ---- */

/** A request for the blob "small" of cell 1, as source/cell_wire.h encodes it. */
function sourceRequest({ version = 1, read = 0, service = 'blob', byKey = 1, forwarded = 0, rule = 1, url = `http://127.0.0.1:${member.ports.blob}/${account}/blobs1/small`,
    headers = [], headerCount = headers.length, tags = 0, position = 0, previous = 0 } = {}) {
    return Buffer.concat([Buffer.from([version, read]), encoded(service), Buffer.from([0]), encoded(account), Buffer.from([byKey, forwarded]), encoded('127.0.0.1'), Buffer.from([rule]),
        encoded(url), Buffer.from([0, headerCount]), ...headers.flat().map(encoded), Buffer.from([tags, 0, position, previous])]);
}

test('sources are served to front ends that have the key of the cluster, and malformed requests are refused', async () => {
    const statusOf = await peerOf(member, cells.cluster);
    const ask = (body) => statusOf(Buffer.concat([envelope(), post('/-/source', body)]));
    const valid = sourceRequest();

    assert.equal(await ask(valid), 200);
    for (const read of [1, 2])
        assert.equal(await ask(sourceRequest({ read })), 200);
    /* Errors of the source are in the response. */
    for (const errors of [{ url: `http://127.0.0.1:${member.ports.blob}/${account}/none/none` }, { byKey: 0 }, { read: 2, position: 100 }, { headers: [['if-match', '"0x1"']] }, { url: 'http://h' }])
        assert.equal(await ask(sourceRequest(errors)), 200, JSON.stringify(errors));

    for (let length = 0; length < valid.length; length++)
        assert.equal(await ask(valid.subarray(0, length)), 400, `${length} bytes`);
    assert.equal(await ask(Buffer.concat([valid, Buffer.alloc(1)])), 400);
    for (const wrong of [{ version: 2 }, { read: 3 }, { service: 'smb' }, { service: '' }, { byKey: 2 }, { forwarded: 2 }, { rule: 2 }, { url: 'small' }, { url: '' }, { headerCount: 1 },
        { headers: Array(10).fill(['if-match', '*']) }, { headers: [['if-match', 'a\nb']] }, { tags: 2 }])
        assert.equal(await ask(sourceRequest(wrong)), 400, JSON.stringify(wrong));
    assert.equal(await ask(Buffer.alloc((128 << 10) + 1)), 413);

    assert.equal(await statusOf(Buffer.concat([envelope({ cell: 2 }), post('/-/source', valid)])), 421);
    assert.equal(await statusOf(Buffer.concat([envelope(), post('/-/source', valid, 'PUT')])), 404);
    const stranger = await peerOf(member, cells.cluster, { psk: Buffer.alloc(32, 1) });
    await assert.rejects(stranger(Buffer.concat([envelope(), post('/-/source', valid)])));
    for (const service of ['blob', 'queue', 'table', 'file']) {
        const { status } = await member.ask('POST', '/-/source', { raw: true, service, body: valid });
        assert.ok(status >= 400 && status < 500, `${service} ${status}`);
    }
    assert.equal(await member.health(), 200);
});

test('a pending copy goes on after a crash of the owner of either cell', async () => {
    const [, source, destination] = cells.owners;
    const disk = containerOf(2).getPageBlobClient('many-steps');
    const part = pattern(4 * MIB, 9);
    await disk.create(16 * GIB);
    for (let i = 0; i < 40; i++)
        await disk.uploadPages(part, i * 100 * MIB, part.length);
    const target = containerOf(3).getPageBlobClient('resumed');
    for (const killed of [source, destination]) {
        await until(async () => target.beginCopyFromURL(disk.url).then(() => true, () => false));
        await killed.end('SIGKILL');
        killed.restart();
        await killed.until(200);
        await until(async () => target.getProperties().then(({ copyStatus }) => copyStatus === 'success', () => false));
        assert.deepEqual((await target.getPageRanges()).pageRange, (await disk.getPageRanges()).pageRange);
        assert.ok((await target.downloadToBuffer(3900 * MIB, part.length)).equals(part));
    }
});
