// Large blobs: streamed up and down, in blocks and in one request, up to the limits of the service.
// LAGRA_LONG_TESTS=1 runs the limits.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { sign } from '../lib/sign.mjs';
import { Connection } from '../lib/http.mjs';
import { Server } from '../lib/server.mjs';
import { rawRefused, raw } from './raw.mjs';
import { account, blockId, credential, longMode, newContainer, once, pattern, url } from './setup.mjs';

const MiB = 1024 * 1024;
const long = { skip: !longMode && 'LAGRA_LONG_TESTS=1 runs it' };
const CHUNK = pattern(4 * MiB);

/** `total` bytes, a multiple of 4 MiB, each chunk beginning with its number. */
function* chunks(total) {
    for (let at = 0; at < total; at += CHUNK.length) {
        const chunk = Buffer.from(CHUNK);
        chunk.writeUInt32BE(at / CHUNK.length);
        yield chunk;
    }
}

function sumOf(total) {
    const hash = createHash('md5');
    for (const chunk of chunks(total))
        hash.update(chunk);
    return hash.digest();
}

async function sumOfStream(stream) {
    const hash = createHash('md5');
    let length = 0;
    for await (const chunk of stream) {
        hash.update(chunk);
        length += chunk.length;
    }
    return { length, sum: hash.digest() };
}

test('64 MiB as a stream of unknown length, down in one and in parallel ranges', async (t) => {
    // SDK: uploadStream, download, downloadToBuffer
    const total = 64 * MiB;
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('stream');
    await blob.uploadStream(Readable.from(chunks(total)), 8 * MiB, 4);
    assert.equal((await blob.getProperties()).contentLength, total);
    assert.equal((await blob.getBlockList('committed')).committedBlocks.length, 8);
    const whole = await sumOfStream((await blob.download()).readableStreamBody);
    assert.equal(whole.length, total);
    assert.ok(whole.sum.equals(sumOf(total)));
    const buffer =
        await blob.downloadToBuffer(0, undefined, { blockSize: 3 * MiB, concurrency: 8 });
    assert.ok(createHash('md5').update(buffer).digest().equals(sumOf(total)));
    const part = await blob.downloadToBuffer(12 * MiB - 5, 10);
    assert.ok(part.equals(buffer.subarray(12 * MiB - 5, 12 * MiB + 5)));
});

test('64 MiB in one Put Blob, overwritten while it is read', async (t) => {
    // semantics 5, Get Blob: a running read keeps the version it started with
    const total = 64 * MiB;
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('whole');
    await blob.upload(() => Readable.from(chunks(total)), total);
    const reading = (await blob.download()).readableStreamBody;
    const first = await new Promise((resolve) => reading.once('data', resolve));
    reading.pause();
    await blob.upload('short', 5);
    await blob.delete();
    const rest = await sumOfStream(Readable.from((async function* all() {
        yield first;
        yield* reading;
    })()));
    assert.equal(rest.length, total);
    assert.ok(rest.sum.equals(sumOf(total)));
});

test('a body that is cut off leaves what was there', async (t) => {
    // design, promise 4: a blob is whole or not there
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('cut');
    await blob.upload('before', 6);
    const target = `/${account.name}/${container.containerName}/cut`;
    const { hostname, port, host } = new URL(url);
    const connection = await Connection.open(hostname, Number(port));
    await connection.request(sign({
        method: 'PUT', target,
        headers: [['Host', host], ['Content-Length', String(8 * MiB)],
            ['x-ms-blob-type', 'BlockBlob']],
    }));
    await connection.send(pattern(4 * MiB));
    connection.close();
    assert.equal((await blob.downloadToBuffer()).toString(), 'before');
});

test('a body larger than the limit is refused before it is sent', async (t) => {
    // semantics 10.1: Put Blob 5,000 MiB, Put Block 4,000 MiB
    const container = await newContainer(t);
    const path = `/${container.containerName}/b`;
    const expect = (length) => ({
        'Content-Length': String(length), Expect: '100-continue', 'x-ms-blob-type': 'BlockBlob',
    });
    await rawRefused(raw('PUT', path, expect(5000 * MiB + 1)), 413, 'RequestBodyTooLarge');
    await rawRefused(raw('PUT', `${path}?comp=block&blockid=${encodeURIComponent(blockId(1))}`,
        expect(4000 * MiB + 1)), 413, 'RequestBodyTooLarge');
    await rawRefused(raw('PUT', path, expect(64 * MiB + 1), '', { version: '2015-02-21' }),
        413, 'RequestBodyTooLarge');
});

for (const [name, total] of [['Put Blob', 5000 * MiB], ['Put Block', 4000 * MiB]]) {
    test(`${name} of ${total / MiB} MiB, the most there may be`, long, async (t) => {
        // semantics 10.1
        const container = await newContainer(t);
        const blob = container.getBlockBlobClient('largest');
        const body = () => Readable.from(chunks(total));
        if (name === 'Put Blob') {
            await blob.upload(body, total);
        } else {
            await blob.stageBlock(blockId(1), body, total);
            await blob.commitBlockList([blockId(1)]);
        }
        const got = await sumOfStream((await blob.download()).readableStreamBody);
        assert.equal(got.length, total);
        assert.ok(got.sum.equals(sumOf(total)));
        const tail = await blob.downloadToBuffer(total - 1000, 1000);
        assert.ok(tail.equals(CHUNK.subarray(CHUNK.length - 1000)));
    });
}

test('50,000 blocks are committed, 50,001 are refused', long, async (t) => {
    // semantics 10.1
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('blocks');
    const ids = Array.from({ length: 50001 }, (_, n) => blockId(n));
    for (let from = 0; from < ids.length; from += 100)
        await Promise.all(ids.slice(from, from + 100).map((id) => blob.stageBlock(id, 'x', 1)));
    const refused = await blob.commitBlockList(ids).catch((error) => error);
    assert.equal(refused.code, 'BlockListTooLong');
    await blob.commitBlockList(ids.slice(0, 50000));
    assert.equal((await blob.getProperties()).contentLength, 50000);
    assert.equal((await blob.getBlockList('committed')).committedBlocks.length, 50000);
});

test('one block of 1,000 MiB named 50,000 times, in little memory', long, async (t) => {
    // rest: Put-Block-List "Remarks"; semantics 10.1. What it costs depends on the number of blocks
    // only.
    const server = await Server.start({ binary: process.env.LAGRA_BINARY });
    t.after(() => server.kill().then(() => server.remove()));
    const service = new BlobServiceClient(server.url, credential, once);
    const container = service.getContainerClient('large');
    const blob = container.getBlockBlobClient('blob');
    const length = 1000 * MiB, names = 50000;
    const memory = async () => Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${server.pid}/status`, 'utf8'))[1]);
    await container.create();
    await blob.stageBlock(blockId(1), () => Readable.from(chunks(length)), length);
    const before = await memory();
    const list = Array(names).fill(blockId(1));
    await blob.commitBlockList(list);
    const { snapshot } = await blob.createSnapshot();
    await blob.commitBlockList([...list.slice(1), blockId(1)]);
    assert.equal((await blob.getProperties()).contentLength, names * length);
    for (const at of [0, 7 * length - 3, (names - 1) * length + 40 * MiB]) {
        const end = await blob.downloadToBuffer(at, 8);
        const expected = Buffer.concat([0, 1, 2, 3, 4, 5, 6, 7].map((i) => {
            const offset = (at + i) % length;
            const chunk = Buffer.from(CHUNK);
            chunk.writeUInt32BE(Math.floor(offset / CHUNK.length));
            return chunk.subarray(offset % CHUNK.length, offset % CHUNK.length + 1);
        }));
        assert.deepEqual(end, expected);
    }
    assert.equal((await blob.withSnapshot(snapshot).getBlockList('committed')).committedBlocks.length, names);
    await blob.delete({ deleteSnapshots: 'include' });
    assert.ok((await memory()) - before < 64 * 1024, `${(await memory()) - before} KiB more`);
    await server.stop();
});
