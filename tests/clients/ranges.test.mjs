// The bytes of files through the official SDK: Put Range, Get File, List Ranges, and what the share's quota
// counts of them.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { refused } from './setup.mjs';
import { rawRefused } from './raw.mjs';
import { newShare, rawFile } from './shares-setup.mjs';

const MIB = 1 << 20, GIB = 2 ** 30;
const md5 = (bytes) => createHash('md5').update(bytes).digest();

/** A new file in a new share. */
async function newFile(t, length, options) {
    const share = await newShare(t, options);
    const file = share.rootDirectoryClient.getFileClient('f');
    await file.create(length);
    return { share, file, path: `/${share.name}/f` };
}

const bytesOf = async (file, offset, count) => file.downloadToBuffer(offset, count);
const rangesOf = async (file, options) =>
    (await file.getRangeList(options)).rangeList.map(({ start, end }) => [start, end]);

test('Put Range writes where it says, the rest reads as zeros (rest: Put-Range, Get-File)', async (t) => {
    const { file } = await newFile(t, 3000);
    const before = await file.getProperties();
    const put = await file.uploadRange('Hello', 1000, 5);
    assert.deepEqual(Buffer.from(put.contentMD5), md5('Hello'));
    assert.notEqual(put.etag, before.etag);
    const expected = Buffer.alloc(3000);
    expected.write('Hello', 1000);
    assert.deepEqual(await bytesOf(file), expected);
    const after = await file.getProperties();
    assert.equal(after.etag, put.etag);
    assert.equal(after.contentLength, 3000);
    assert.equal(after.fileLastWriteOn.getTime(), put.fileLastWriteTime.getTime());
    assert(after.fileLastWriteOn >= before.fileLastWriteOn);
    assert.equal(after.fileCreatedOn.getTime(), before.fileCreatedOn.getTime());
});

test('Put Range keeps the last write time if it is to', async (t) => {
    const { file } = await newFile(t, 10);
    const { fileLastWriteOn: first } = await file.getProperties();
    await new Promise((resolve) => setTimeout(resolve, 2)); // the clock has moved
    const kept = await file.uploadRange('a', 0, 1, { fileLastWrittenMode: 'Preserve' });
    assert.equal(kept.fileLastWriteTime.getTime(), first.getTime());
    const now = await file.clearRange(0, 1, { fileLastWrittenMode: 'Now' });
    assert(now.fileLastWriteTime > first);
});

test('Put Range before 2021-06-08 moves no time of the file, unless it says so (recorded; decision 878)', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    await file.create(10);
    const times = async () => {
        await new Promise((resolve) => setTimeout(resolve, 2)); // the clock has moved
        const { fileLastWriteOn, fileChangeOn, etag } = await file.getProperties();
        return [fileLastWriteOn.getTime(), fileChangeOn.getTime(), etag];
    };
    const put = async (version, headers) => {
        const answer = await rawFile('PUT', `/${share.name}/f?comp=range`, { 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-0', ...headers },
            'x', { version });
        assert.equal(answer.status, 201, answer.text);
    };
    const clear = (version) => rawFile('PUT', `/${share.name}/f?comp=range`, { 'x-ms-write': 'clear', 'x-ms-range': 'bytes=0-0' }, '', { version });
    const moved = async (change) => {
        const before = await times();
        await change();
        return (await times()).map((time, i) => time !== before[i]);
    };
    assert.deepEqual(await moved(() => put('2020-02-10')), [false, false, true]);
    assert.deepEqual(await moved(() => clear('2021-04-10')), [false, false, true]);
    assert.deepEqual(await moved(() => put('2020-02-10', { 'x-ms-file-last-write-time': 'now' })), [true, true, true]);
    assert.deepEqual(await moved(() => put('2021-06-08')), [true, true, true]);
    assert.deepEqual(await moved(() => clear('2021-06-08')), [true, true, true]);
    for (const version of ['2020-02-10', '2021-06-08'])
        assert.deepEqual(await moved(() => put(version, { 'x-ms-file-last-write-time': 'preserve' })), [false, true, true]);
});

test('Put Range: what is refused', async (t) => {
    const { file, path: at } = await newFile(t, 1000);
    const put = (headers, body = 'abc') => rawFile('PUT', `${at}?comp=range`, headers, Buffer.from(body));
    await refused(file.uploadRange('abc', 998, 3), 416, 'InvalidRange');
    await refused(file.clearRange(1000, 1), 416, 'InvalidRange');
    await rawRefused(put({ 'x-ms-write': 'update' }), 400, 'MissingRequiredHeader');
    await rawRefused(put({ 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-write': 'update', 'x-ms-range': 'bytes=2-1' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-3' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-write': 'clear', 'x-ms-range': 'bytes=0-2' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-2', 'x-ms-file-last-write-time': '2020-01-01' }),
        400, 'InvalidHeaderValue');
    await refused(file.uploadRange('abc', 0, 3, { contentMD5: md5('abd') }), 400, 'Md5Mismatch');
    assert.deepEqual(await bytesOf(file), Buffer.alloc(1000));
});

test('A range is at most 4 MiB', async (t) => {
    const { file, path: at } = await newFile(t, 8 * MIB);
    const bytes = randomBytes(4 * MIB);
    await file.uploadRange(bytes, MIB, bytes.length);
    assert((await bytesOf(file, MIB, 4 * MIB)).equals(bytes));
    const more = await rawFile('PUT', `${at}?comp=range`, { 'x-ms-write': 'update', 'x-ms-range': `bytes=0-${4 * MIB}` },
        Buffer.alloc(4 * MIB + 1));
    assert.equal(more.status, 413);
});

test('Clear frees whole sectors and writes zeros to the rest (rest: Put-Range "x-ms-write: clear")', async (t) => {
    const { file } = await newFile(t, 8 * MIB + 100);
    const bytes = randomBytes(8 * MIB + 100);
    await file.uploadData(bytes);
    const clear = async (from, length) => {
        await file.clearRange(from, length);
        bytes.fill(0, from, from + length);
        assert((await bytesOf(file)).equals(bytes), `${from} ${length}`);
    };
    await clear(500, 2048);
    assert.deepEqual(await rangesOf(file), [[0, 511], [2048, 8 * MIB + 99]]);
    await clear(10, 20); // no whole sector
    assert.deepEqual(await rangesOf(file), [[0, 511], [2048, 8 * MIB + 99]]);
    await clear(MIB + 1, 6 * MIB); // much
    assert.deepEqual(await rangesOf(file), [[0, 511], [2048, MIB + 511], [7 * MIB, 8 * MIB + 99]]);
    await clear(0, bytes.length);
    assert.deepEqual(await rangesOf(file), []);
});

test('List Ranges: whole sectors, of a range, in pages (rest: List-Ranges; decision 302)', async (t) => {
    const { file, path: at } = await newFile(t, 4000);
    assert.deepEqual(await rangesOf(file), []);
    for (const offset of [0, 3, 1023, 3999])
        await file.uploadRange('x', offset, 1);
    const { contentLength, fileContentLength = contentLength } = await file.getRangeList();
    assert.equal(fileContentLength, 4000);
    assert.deepEqual(await rangesOf(file), [[0, 1023], [3584, 3999]]);
    assert.deepEqual(await rangesOf(file, { range: { offset: 3600, count: 100 } }), [[3600, 3699]]);
    assert.deepEqual(await rangesOf(file, { range: { offset: 600, count: 10 } }), [[600, 609]]); // of the byte at 1023
    await refused(file.getRangeList({ range: { offset: 4000 } }), 416, 'InvalidRange');
    let marker = '', pages = [];
    do {
        const answer = await rawFile('GET', `${at}?comp=rangelist&maxresults=1${marker && `&marker=${encodeURIComponent(marker)}`}`);
        assert.equal(answer.status, 200);
        const xml = answer.body.toString();
        pages.push(...[...xml.matchAll(/<Start>(\d+)<\/Start><End>(\d+)<\/End>/g)].map(([, start, end]) => [+start, +end]));
        marker = /<NextMarker>(.*)<\/NextMarker>/.exec(xml)?.[1] ?? '';
        assert(pages.length < 10);
    } while (marker);
    assert.deepEqual(pages, [[0, 511], [512, 1023], [3584, 3999]]);
    const all = [];
    for await (const page of file.listRanges().byPage({ maxPageSize: 2 }))
        all.push(...page.ranges.map(({ start, end }) => [start, end]));
    assert.deepEqual(all, [[0, 511], [512, 1023], [3584, 3999]]);
    await rawRefused(rawFile('GET', `${at}?comp=rangelist&marker=x`), 400, 'InvalidQueryParameterValue');
});

test('List Ranges: what differs from a snapshot of the share, and what a snapshot has (rest: List-Ranges)', async (t) => {
    const { share, file, path: at } = await newFile(t, 512 * 4 + 1);
    await file.uploadRange('Hello', 0, 5);
    const { snapshot } = await share.createSnapshot();
    await file.clearRange(0, 1024);
    await file.uploadRange('World', 1023, 5);
    const diff = await file.getRangeListDiff(snapshot);
    assert.deepEqual(diff.clearRanges.map(({ start, end }) => [start, end]), [[0, 511]]);
    assert.deepEqual(diff.ranges.map(({ start, end }) => [start, end]), [[512, 1535]]);
    const then = share.withSnapshot(snapshot).rootDirectoryClient.getFileClient('f');
    assert.deepEqual(await rangesOf(then), [[0, 511]]);
    assert.equal((await then.downloadToBuffer(0, 5)).toString(), 'Hello');
    const made = share.rootDirectoryClient.getFileClient('new');
    await made.create(600);
    await made.uploadRange('x', 599, 1);
    assert.deepEqual((await made.getRangeListDiff(snapshot)).ranges.map(({ start, end }) => [start, end]), [[512, 599]]);
    await refused(file.getRangeListDiff('2020-01-01T00:00:00.0000000Z'), 409, 'PreviousSnapshotNotFound');
    await rawRefused(rawFile('GET', `${at}?comp=rangelist&prevsharesnapshot=then`), 400, 'InvalidQueryParameterValue');
    await rawRefused(rawFile('GET', `${at}?comp=rangelist&sharesnapshot=${snapshot}&prevsharesnapshot=2100-01-01T00:00:00.0000000Z`),
        400, 'PreviousSnapshotCannotBeNewer');
});

test('List Ranges: a page that goes on has ranges, also where what was cleared shares its sector with bytes', async (t) => {
    const { share, file, path: at } = await newFile(t, 2000);
    await file.uploadRange('x'.repeat(200), 520, 200);
    const { snapshot } = await share.createSnapshot();
    await file.resize(512);
    await file.resize(2000);
    await file.uploadRange('y'.repeat(100), 900, 100);
    const answer = await rawFile('GET', `${at}?comp=rangelist&maxresults=1&prevsharesnapshot=${snapshot}`);
    assert.match(answer.body.toString(), /<Ranges><Range><Start>512<\/Start><End>1023<\/End><\/Range>/);
});

test('Get File: ranges, their sums, what is past the end', async (t) => {
    const { file, path: at } = await newFile(t, 10);
    await file.uploadRange('0123456789', 0, 10);
    const get = (headers) => rawFile('GET', at, headers);
    const part = await get({ 'x-ms-range': 'bytes=2-5', 'x-ms-range-get-content-md5': 'true' });
    assert.deepEqual([part.status, part.body.toString(), part.headers.get('content-range'), part.headers.get('content-md5')],
        [206, '2345', 'bytes 2-5/10', md5('2345').toString('base64')]);
    assert.equal(part.headers.get('accept-ranges'), 'bytes');
    assert.equal((await get({ range: 'bytes=8-100' })).body.toString(), '89');
    await rawRefused(get({ 'x-ms-range': 'bytes=10-' }), 416, 'InvalidRange');
    await rawRefused(get({ 'x-ms-range-get-content-md5': 'true' }), 400, 'InvalidHeaderValue');
    const all = await get();
    assert.deepEqual([all.status, all.body.toString(), all.headers.get('x-ms-type')], [200, '0123456789', 'File']);
});

test('Get File answers the MD5 that the file was given', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    const sum = md5('whatever');
    await file.create(5, { fileHttpHeaders: { fileContentMD5: sum } });
    assert.deepEqual(Buffer.from((await file.download()).contentMD5), sum);
    const part = await rawFile('GET', `/${share.name}/f`, { 'x-ms-range': 'bytes=0-1' });
    assert.equal(part.headers.get('x-ms-content-md5'), sum.toString('base64'));
});

test('uploadFile, uploadStream, uploadData, downloadToFile: what goes in comes out', async (t) => {
    const share = await newShare(t);
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-ranges-'));
    t.after(() => rm(folder, { recursive: true }));
    const bytes = randomBytes(9 * MIB + 13);
    const from = path.join(folder, 'from'), to = path.join(folder, 'to');
    await writeFile(from, bytes);
    const uploads = {
        a: (file) => file.uploadFile(from, { rangeSize: 3 * MIB, concurrency: 3 }),
        b: (file) => file.uploadStream(Readable.from([bytes.subarray(0, 5000000), bytes.subarray(5000000)]), bytes.length, 4 * MIB, 2),
        c: (file) => file.uploadData(bytes),
    };
    for (const [name, upload] of Object.entries(uploads)) {
        const file = share.rootDirectoryClient.getFileClient(name);
        await upload(file);
        assert((await file.downloadToBuffer(0, undefined, { rangeSize: 2 * MIB })).equals(bytes), name);
        await rm(to, { force: true });
        await file.downloadToFile(to);
        assert((await readFile(to)).equals(bytes), name);
    }
});

test('A file of 4 TiB takes bytes at its end', async (t) => {
    const { file } = await newFile(t, 4 * 1024 * GIB);
    await file.uploadRange('end', 4 * 1024 * GIB - 3, 3);
    assert.equal((await bytesOf(file, 4 * 1024 * GIB - 4, 4)).toString(), '\0end');
    assert.deepEqual(await rangesOf(file), [[4 * 1024 * GIB - 512, 4 * 1024 * GIB - 1]]);
    await file.clearRange(1, 4 * 1024 * GIB - 1);
    assert.deepEqual(await rangesOf(file), [[0, 511]]);
});

test('The quota counts the lengths of files, exactly (rest: Get-Share-Stats; decision 301)', async (t) => {
    const share = await newShare(t, { quota: 1 });
    const root = share.rootDirectoryClient;
    const used = async () => (await share.getStatistics()).shareUsageBytes;
    assert.equal(await used(), 0);
    await Promise.all(Array.from({ length: 32 }, (_, i) => root.getFileClient(`f${i}`).create(1000 + i)));
    assert.equal(await used(), 32 * 1000 + 31 * 16);
    await root.getFileClient('f0').create(7); // over another
    assert.equal(await used(), 32 * 1000 + 31 * 16 - 993);
    for (let i = 0; i < 32; i++)
        await root.getFileClient(`f${i}`).delete();
    assert.equal(await used(), 0);
    const big = root.getFileClient('big');
    await refused(big.create(GIB + 1), 403, 'ShareSizeLimitReached');
    await big.create(GIB - 10);
    await refused(root.getFileClient('small').create(11), 403, 'ShareSizeLimitReached');
    await root.getFileClient('small').create(10);
    assert.equal(await used(), GIB);
    await big.create(5);
    await root.getFileClient('small').create(11);
    assert.equal(await used(), 16);
});

test('The quota is not passed by creates at the same time', async (t) => {
    const share = await newShare(t, { quota: 1 });
    const root = share.rootDirectoryClient;
    await root.getFileClient('half').create(GIB / 2 + 1);
    const results = await Promise.allSettled(Array.from({ length: 24 }, (_, i) => root.getFileClient(`f${i}`).create(100 * MIB)));
    const made = results.filter(({ status }) => status === 'fulfilled').length;
    assert.equal(made, 5);
    for (const { reason } of results)
        assert(!reason || reason.code === 'ShareSizeLimitReached' || reason.code === 'ServerBusy', reason?.message);
    assert.equal((await share.getStatistics()).shareUsageBytes, GIB / 2 + 1 + 500 * MIB);
});
