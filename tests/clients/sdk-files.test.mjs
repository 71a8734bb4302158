// No method of the File service's clients is left out: each is called by some test of this folder, or stands below
// with why.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import * as sdk from '@azure/storage-file-share';
import { bytesOf, collect, pattern } from './setup.mjs';
import { newShare, service, shareName } from './shares-setup.mjs';

const CLIENTS = ['ShareServiceClient', 'ShareClient', 'ShareDirectoryClient', 'ShareFileClient', 'ShareLeaseClient'];

/* Its client takes a share for a file there, and refuses: shares.test.mjs renews by hand. */
const BROKEN = ['renewLease'];
/* Of the SDK alone: nothing is sent by it. */
const LOCAL = [/StringToSign$/];
/* What public methods are made of. */
const PARTS = [/Segments?$/, /Items$/, /^uploadSeekableInternal$/, /^uploadSeekableBlob$/];

test('every method of the clients of files is called by a test', () => {
    const folder = new URL('.', import.meta.url);
    const text = readdirSync(folder).filter((name) => name.endsWith('.test.mjs'))
        .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')])
        .filter(([, source]) => /storage-file-share|shares-setup/.test(source)).map(([, source]) => source).join('\n');
    const isForgotten = (name) => !BROKEN.includes(name) && ![...LOCAL, ...PARTS].some((pattern) => pattern.test(name)) &&
        !text.includes(`.${name}(`);
    const methods = CLIENTS.flatMap((client) => Object.entries(Object.getOwnPropertyDescriptors(sdk[client].prototype))
        .filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor').map(([name]) => name));

    assert.ok(methods.length > 100);
    assert.deepEqual(methods.filter(isForgotten), []);
});

test('a share by its service: created, found in the list, deleted', async () => {
    const name = shareName();
    const { shareClient } = await service.createShare(name, { metadata: { a: '1' } });
    const [found] = await collect(service.listShares({ prefix: name, includeMetadata: true }));
    assert.deepEqual([found.name, found.metadata], [name, { a: '1' }]);
    await service.deleteShare(name);
    assert.equal(await shareClient.exists(), false);
});

test('uploads and downloads in one call: of a file, of streams, of data', async (t) => {
    const share = await newShare(t);
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-files-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const data = pattern(5 << 20), file = share.rootDirectoryClient.getFileClient('f');
    const how = { rangeSize: 1 << 20, concurrency: 4 };
    await writeFile(path.join(folder, 'from'), data);
    const ways = {
        uploadFile: () => file.uploadFile(path.join(folder, 'from'), how),
        uploadStream: () => file.uploadStream(Readable.from([data.subarray(0, 1000), data.subarray(1000)]), data.length, 1 << 20, 2),
        uploadResetableStream: () => file.uploadResetableStream(
            (offset, count) => Readable.from([data.subarray(offset, count === undefined ? undefined : offset + count)]), data.length, how),
        uploadData: () => file.uploadData(data, how),
    };
    for (const [name, upload] of Object.entries(ways)) {
        await file.create(0); // nothing is left of the way before
        if (name === 'uploadStream')
            await file.create(data.length);
        await upload();
        assert.ok((await file.downloadToBuffer()).equals(data), name);
    }
    await file.downloadToFile(path.join(folder, 'to'));
    assert.ok((await readFile(path.join(folder, 'to'))).equals(data));
    assert.ok((await bytesOf(await file.download(1000, 70000))).equals(data.subarray(1000, 71000)));
});

test('ranges, what differs since a snapshot, and the file in it', async (t) => {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    await file.create(8192);
    await file.uploadRange('x'.repeat(1024), 0, 1024);
    await file.uploadRange('y'.repeat(512), 4096, 512);
    const { snapshot } = await share.createSnapshot();
    await file.clearRange(0, 512);
    await file.uploadRange('z'.repeat(512), 7680, 512);
    const positions = ({ start, end, isClear }) => [start, end, isClear === true];

    assert.deepEqual((await collect(file.listRanges())).map(({ start, end }) => [start, end]),
        [[512, 1023], [4096, 4607], [7680, 8191]]);
    const pages = [];
    for await (const page of file.listRanges().byPage({ maxPageSize: 2 }))
        pages.push(page.ranges?.length ?? page.segment?.ranges?.length);
    assert.equal(pages.length, 2);
    const differing = await collect(file.listRangesDiff(snapshot));
    assert.deepEqual(differing.map(positions).sort(), [[0, 511, true], [7680, 8191, false]]);
    const diff = await file.getRangeListDiff(snapshot);
    assert.deepEqual([diff.ranges, diff.clearRanges], [[{ start: 7680, end: 8191 }], [{ start: 0, end: 511 }]]);
    const before = await file.withShareSnapshot(snapshot).downloadToBuffer();
    assert.equal(before.toString('latin1', 0, 1025), `${'x'.repeat(1024)}\0`);
});
