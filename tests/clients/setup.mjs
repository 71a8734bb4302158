// What every client test shares: the server's address, clients that do not retry, containers that
// go away with their test, and the way to say "this is refused with that status and code".
//
// run.mjs starts one server for all files and passes its address in LAGRA_TEST_URL. Set by hand,
// the variable runs the same files against any other endpoint.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';

export const account = {
    name: process.env.LAGRA_TEST_ACCOUNT ?? 'devstoreaccount1',
    key: process.env.LAGRA_TEST_KEY ??
        'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
};
assert(process.env.LAGRA_TEST_URL, 'LAGRA_TEST_URL is not set: start the tests with run.mjs');
export const url = process.env.LAGRA_TEST_URL;
export const port = Number(new URL(url).port);
export const credential = new StorageSharedKeyCredential(account.name, account.key);

// Sizes that take minutes run only when asked for.
export const longMode = process.env.LAGRA_LONG_TESTS === '1';

// Retries would hide a 500; each request is made once. A new object each time: SDKs write their defaults into it.
export const once = { get retryOptions() { return { maxTries: 1 }; } };
export const service = new BlobServiceClient(url, credential, once);

let containers = 0;
const run = `${process.pid}-${randomBytes(3).toString('hex')}`;

export function containerName() {
    return `t-${run}-${String(++containers).padStart(4, '0')}`;
}

// A container of its own for the test `t`, deleted after it.
export async function newContainer(t, options) {
    const container = service.getContainerClient(containerName());
    await container.create(options);
    t.after(() => container.delete().catch(() => {}));
    return container;
}

// A block blob `name` with `content` in a new container of the test.
export async function newBlob(t, content = 'content', options = {}) {
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('blob');
    const put = await blob.upload(content, Buffer.byteLength(content), options);
    return { container, blob, etag: put.etag, lastModified: put.lastModified };
}

// The call is refused with this HTTP status and this x-ms-error-code.
export async function refused(promise, status, code) {
    let answer;
    try {
        answer = await promise;
    } catch (error) {
        const got = { status: error.statusCode, code: error.code ?? error.details?.errorCode };
        if (got.status === undefined)
            throw error;
        assert.deepEqual(got, { status, code }, error.message);
        return error;
    }
    assert.fail(`expected ${status} ${code}, got ${answer?._response?.status} and success`);
}

export async function bytesOf(download) {
    const chunks = [];
    for await (const chunk of download.readableStreamBody)
        chunks.push(chunk);
    return Buffer.concat(chunks);
}

export async function collect(iterable) {
    const all = [];
    for await (const one of iterable)
        all.push(one);
    return all;
}

/** What `what` gives out as soon as that is true. */
export async function until(what, seconds = 30) {
    const end = Date.now() + seconds * 1000;
    for (;;) {
        const value = await what();
        if (value)
            return value;
        assert.ok(Date.now() < end, 'it takes too long');
        await delay(50);
    }
}

export const md5 = (bytes) => createHash('md5').update(bytes).digest();

// Bytes that are the same in each run and differ at each offset.
export function pattern(length, seed = 1) {
    const bytes = Buffer.alloc(length);
    let x = seed >>> 0 || 1;
    for (let i = 0; i < length; i++) {
        x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
        bytes[i] = x >>> 24;
    }
    return bytes;
}

// Block ids of equal length.
export const blockId = (n) => Buffer.from(String(n).padStart(6, '0')).toString('base64');
