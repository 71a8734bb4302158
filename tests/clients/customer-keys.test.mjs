// Customer-provided keys, over TLS: block, append and page blobs, paths of the dfs endpoint, copies, and where no key may remain.
// rest: Encryption-at-rest; docs: Provide an encryption key on a request to Blob storage; decisions: 1420, 1421, 1422
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { BlobSASPermissions, BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { DataLakeServiceClient, StorageSharedKeyCredential as DfsCredential } from '@azure/storage-file-datalake';
import { newCertificate } from '../lib/certificate.mjs';
import { Server } from '../lib/server.mjs';
import { account, bytesOf, collect, once, refused } from './setup.mjs';

// The certificate of a test is its own; no other test runs in this process.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

const USES = [409, 'BlobUsesCustomerSpecifiedEncryption'];
const USES_NOT = [409, 'BlobDoesNotUseCustomerSpecifiedEncryption'];
const MISMATCH = [409, 'BlobCustomerSpecifiedEncryptionMismatch'];

const newKey = (bytes = randomBytes(32)) => ({
    encryptionKey: bytes.toString('base64'),
    encryptionKeySha256: createHash('sha256').update(bytes).digest('base64'),
    encryptionAlgorithm: 'AES256',
});
const key = newKey(), other = newKey();
const keyed = { get customerProvidedKey() { return { ...key }; } };
const wrong = { get customerProvidedKey() { return { ...other }; } };

let folder, server, service, paths;
before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lagra-keys-'));
    newCertificate(folder);
    server = await Server.start({ secure: true, args: ['--cert', join(folder, 'cert.pem'), '--key', join(folder, 'key.pem')] });
    service = new BlobServiceClient(server.url, new StorageSharedKeyCredential(account.name, account.key), once);
    paths = new DataLakeServiceClient(server.urlOf('dfs'), new DfsCredential(account.name, account.key), once);
});
after(async () => {
    await server.kill();
    await server.remove();
    await rm(folder, { recursive: true, force: true });
});

let containers = 0;
async function newContainer() {
    const container = service.getContainerClient(`keys-${++containers}`);
    await container.create();
    return container;
}

const hashIs = (answer) => assert.equal(answer.encryptionKeySha256, key.encryptionKeySha256);

test('a block blob is read with its key alone, in any range', async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient('blob');
    for (const size of [0, 1, 100, 16384, 16385, 65536, 65537, 4 << 20, (9 << 20) + 12345]) {
        const content = randomBytes(size);
        const put = await blob.upload(content, size, { ...keyed, metadata: { of: 'the blob' } });
        hashIs(put);
        assert.equal(put.isServerEncrypted, true);
        assert.deepEqual(Buffer.from(put.contentMD5), createHash('md5').update(content).digest(), 'of what was sent');
        const got = await blob.download(0, undefined, keyed);
        hashIs(got);
        assert.equal(got.metadata.of, 'the blob');
        assert.ok(content.equals(await bytesOf(got)), `${size} bytes`);
        for (const [at, count] of [[0, 1], [1, 65536], [65535, 2], [65536, 65536], [size - 1, 1], [70000, 4 << 20], [(4 << 20) - 5, 10]]) {
            if (at < 0 || at >= size)
                continue;
            const part = await bytesOf(await blob.download(at, count, keyed));
            assert.ok(content.subarray(at, at + count).equals(part), `${count} bytes at ${at} of ${size}`);
        }
    }
    await refused(blob.download(), ...USES);
    await refused(blob.download(0, 10, wrong), ...MISMATCH);
    await refused(blob.getProperties(), ...USES);
    await refused(blob.getProperties(wrong), ...MISMATCH);
    hashIs(await blob.getProperties(keyed));
});

test('a blob without a key refuses one', async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient('blob');
    await blob.upload('plain', 5);
    await refused(blob.download(0, undefined, keyed), ...USES_NOT);
    await refused(blob.getProperties(keyed), ...USES_NOT);
    await refused(blob.setMetadata({ a: 'b' }, keyed), ...USES_NOT);
    await refused(blob.createSnapshot(keyed), ...USES_NOT);
    assert.equal((await bytesOf(await blob.download())).toString(), 'plain');
    await blob.upload('secret', 6, keyed); // overwriting needs no old key
    await refused(blob.download(), ...USES);
    await blob.upload('plain again', 11);
    assert.equal((await bytesOf(await blob.download())).toString(), 'plain again');
});

test('metadata is changed and shown with the key; a list shows only that there is some', async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient('blob');
    await blob.upload('content', 7, { ...keyed, metadata: { first: 'one' } });
    await refused(blob.setMetadata({ second: 'two' }), ...USES);
    await refused(blob.setMetadata({ second: 'two' }, wrong), ...MISMATCH);
    hashIs(await blob.setMetadata({ second: 'two' }, keyed));
    assert.deepEqual((await blob.getProperties(keyed)).metadata, { second: 'two' });
    const [item] = await collect(container.listBlobsFlat({ includeMetadata: true }));
    assert.equal(item.properties.customerProvidedKeySha256, key.encryptionKeySha256);
    assert.ok(!item.metadata?.second);
    const text = await (await fetch(await container.generateSasUrl({ permissions: 'l', expiresOn: new Date(Date.now() + 1e6) })
        .then((url) => `${url}&restype=container&comp=list&include=metadata`), { headers: { 'x-ms-version': '2021-12-02' } })).text();
    assert.match(text, /<Metadata Encrypted="true" \/>/);
    const old = await (await fetch(await container.generateSasUrl({ permissions: 'l', expiresOn: new Date(Date.now() + 1e6) })
        .then((url) => `${url}&restype=container&comp=list&include=metadata`), { headers: { 'x-ms-version': '2018-11-09' } })).text();
    assert.ok(old.includes('<ServerEncrypted>') && !old.includes('CustomerProvidedKeySha256'), 'since 2019-02-02');
    await blob.setMetadata({}, keyed);
    assert.deepEqual((await blob.getProperties(keyed)).metadata, {});
});

test('HTTP properties, leases, tags and deletes need no key; tiers are refused', async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient('blob');
    await blob.upload('content', 7, keyed);
    await blob.setHTTPHeaders({ blobContentType: 'text/plain' });
    assert.equal((await blob.getProperties(keyed)).contentType, 'text/plain');
    await blob.setTags({ a: 'b' });
    assert.deepEqual((await blob.getTags()).tags, { a: 'b' });
    await refused(blob.setAccessTier('Cool'), ...USES);
    await refused(blob.upload('x', 1, { ...keyed, tier: 'Cool' }), 400, 'UnsupportedHeader');
    const lease = blob.getBlobLeaseClient();
    await lease.acquireLease(15);
    await lease.releaseLease();
    assert.equal((await blob.getBlockList('committed')).committedBlocks?.length ?? 0, 0);
    await blob.delete();
});

test('blocks have the key of the list that names them', async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient('blob');
    const id = (n) => Buffer.from(`block ${n}`).toString('base64');
    hashIs(await blob.stageBlock(id(1), 'a'.repeat(100), 100, keyed));
    hashIs(await blob.stageBlock(id(2), 'b'.repeat(100000), 100000, keyed));
    await blob.stageBlock(id(3), 'c', 1);
    await blob.stageBlock(id(4), 'd', 1, wrong);
    await refused(blob.commitBlockList([id(1), id(2)]), ...USES);
    await refused(blob.commitBlockList([id(1), id(2)], wrong), ...MISMATCH);
    await refused(blob.commitBlockList([id(1), id(3)], keyed), ...USES_NOT);
    await refused(blob.commitBlockList([id(1), id(4)], keyed), ...MISMATCH);
    hashIs(await blob.commitBlockList([id(2), id(1), id(2)], keyed));
    assert.equal((await bytesOf(await blob.download(0, undefined, keyed))).toString(), 'b'.repeat(100000) + 'a'.repeat(100) + 'b'.repeat(100000));
    await refused(blob.commitBlockList([id(1)]), ...USES);
    await blob.stageBlock(id(5), 'e', 1, keyed);
    await blob.commitBlockList([id(5), id(1)], keyed);
    assert.equal((await bytesOf(await blob.download(0, undefined, keyed))).toString(), 'e' + 'a'.repeat(100));
});

test('snapshots keep the key that their blob had', async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient('blob');
    await blob.upload('first', 5, { ...keyed, metadata: { of: 'base' } });
    await refused(blob.createSnapshot(), ...USES);
    const { snapshot } = await blob.createSnapshot(keyed);
    const { snapshot: second } = await blob.createSnapshot({ ...keyed, metadata: { of: 'snapshot' } });
    await blob.upload('second', 6, wrong);
    await refused(blob.withSnapshot(snapshot).download(), ...USES);
    await refused(blob.withSnapshot(snapshot).download(0, undefined, wrong), ...MISMATCH);
    assert.equal((await bytesOf(await blob.withSnapshot(snapshot).download(0, undefined, keyed))).toString(), 'first');
    assert.deepEqual((await blob.withSnapshot(snapshot).getProperties(keyed)).metadata, { of: 'base' });
    assert.deepEqual((await blob.withSnapshot(second).getProperties(keyed)).metadata, { of: 'snapshot' });
    assert.equal((await bytesOf(await blob.download(0, undefined, wrong))).toString(), 'second');
});

test('append blobs', async () => {
    const container = await newContainer();
    const blob = container.getAppendBlobClient('blob');
    hashIs(await blob.create(keyed));
    hashIs(await blob.appendBlock('AAA', 3, keyed));
    await refused(blob.appendBlock('BBB', 3), ...USES);
    await refused(blob.appendBlock('BBB', 3, wrong), ...MISMATCH);
    await blob.appendBlock('C'.repeat(100000), 100000, keyed);
    assert.equal((await bytesOf(await blob.download(0, undefined, keyed))).toString(), 'AAA' + 'C'.repeat(100000));
    assert.equal((await bytesOf(await blob.download(2, 3, keyed))).toString(), 'ACC');
    await refused(blob.download(), ...USES);
});

test('page blobs: pages, clears, resizes, ranges', async () => {
    const container = await newContainer();
    const blob = container.getPageBlobClient('blob');
    hashIs(await blob.create(1 << 20, keyed));
    const expected = Buffer.alloc(1 << 20);
    for (const [at, count] of [[0, 512], [512, 512], [65536 - 512, 1024], [100 * 512, 400 * 512]]) {
        const page = randomBytes(count);
        page.copy(expected, at);
        hashIs(await blob.uploadPages(page, at, count, keyed));
    }
    await refused(blob.uploadPages(Buffer.alloc(512), 0, 512), ...USES);
    await refused(blob.uploadPages(Buffer.alloc(512), 0, 512, wrong), ...MISMATCH);
    await blob.clearPages(1024 + 512 * 200, 5 * 512, keyed);
    expected.fill(0, 1024 + 512 * 200, 1024 + 512 * 205);
    await refused(blob.clearPages(0, 512), ...USES);
    assert.ok(expected.equals(await bytesOf(await blob.download(0, undefined, keyed))));
    assert.ok((await blob.getPageRanges()).pageRange.length > 0); // needs no key, as recorded
    await blob.resize(512 * 300); // the SDK sends no key
    assert.ok(expected.subarray(0, 512 * 300).equals(await bytesOf(await blob.download(0, undefined, keyed))));
    const { snapshot } = await blob.createSnapshot(keyed);
    await blob.uploadPages(Buffer.alloc(512, 'x'), 0, 512, keyed);
    assert.ok(expected.subarray(0, 512).equals(await bytesOf(await blob.withSnapshot(snapshot).download(0, 512, keyed))));
});

test('copies: to a key, and from a source with one', async () => {
    const container = await newContainer();
    const from = container.getBlockBlobClient('from'), to = container.getBlockBlobClient('to');
    const content = randomBytes(200000);
    const url = async (blob) => blob.generateSasUrl({ permissions: BlobSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 1e6) });
    await from.upload(content, content.length);
    hashIs(await to.syncUploadFromURL(await url(from), keyed));
    assert.ok(content.equals(await bytesOf(await to.download(0, undefined, keyed))));
    const id = Buffer.from('1').toString('base64');
    hashIs(await to.stageBlockFromURL(id, await url(from), 0, 70000, keyed));
    await to.commitBlockList([id], keyed);
    assert.ok(content.subarray(0, 70000).equals(await bytesOf(await to.download(0, undefined, keyed))));
    // Copy Blob and Copy Blob From URL have no header for the key of their source.
    const error = await refused(container.getBlockBlobClient('copy').syncCopyFromURL(await url(to)), 409, 'CannotVerifyCopySource');
    assert.match(error.message, /encrypted with customer specified encryption/);
    await refused(container.getBlockBlobClient('copy').beginCopyFromURL(to.url), ...USES);
    // The header for it, which no version of the SDK that is tested has, is sent by hand.
    const signed = await container.getBlockBlobClient('by-hand').generateSasUrl({ permissions: BlobSASPermissions.parse('cw'), expiresOn: new Date(Date.now() + 1e6) });
    const put = async (of) => fetch(signed, { method: 'PUT', headers: {
        'x-ms-version': '2021-12-02', 'x-ms-blob-type': 'BlockBlob', 'x-ms-copy-source': await url(to), 'content-length': '0',
        ...of && { 'x-ms-source-encryption-key': of.encryptionKey, 'x-ms-source-encryption-key-sha256': of.encryptionKeySha256, 'x-ms-source-encryption-algorithm': 'AES256' },
    } });
    const missing = await put();
    assert.deepEqual([missing.status, missing.headers.get('x-ms-error-code')], [409, 'CannotVerifyCopySource']);
    const mismatch = await put(other);
    assert.equal(mismatch.status, 409);
    assert.match(await mismatch.text(), /does not match the encryption used to encrypt the blob/);
    assert.equal((await put(key)).status, 201);
    assert.ok(content.subarray(0, 70000).equals(await bytesOf(await container.getBlockBlobClient('by-hand').download())));
});

test('paths of the dfs endpoint', async () => {
    const container = await newContainer();
    const file = paths.getFileSystemClient(container.containerName).getFileClient('folder/file');
    await file.create(keyed);
    await file.append('abc', 0, 3, keyed);
    await file.append('d'.repeat(70000), 3, 70000, keyed);
    await refused(file.append('x', 70003, 1), ...USES);
    await refused(file.append('x', 70003, 1, wrong), ...MISMATCH);
    await refused(file.flush(70003), ...USES);
    await file.flush(70003, keyed);
    const read = await file.read(0, undefined, keyed);
    assert.equal((await bytesOf(read)).toString(), 'abc' + 'd'.repeat(70000));
    await refused(file.read(), ...USES);
    await refused(file.read(0, 10, wrong), ...MISMATCH);
    hashIs(await file.getProperties(keyed));
});

test('what is wrong with the headers', async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient('blob');
    await blob.upload('content', 7, keyed);
    const signed = await blob.generateSasUrl({ permissions: BlobSASPermissions.parse('rw'), expiresOn: new Date(Date.now() + 1e6) });
    const get = async (headers, version = '2021-12-02') => {
        const answer = await fetch(signed, { headers: { 'x-ms-version': version, ...headers } });
        return [answer.status, answer.headers.get('x-ms-error-code'), await answer.text()];
    };
    const all = { 'x-ms-encryption-key': key.encryptionKey, 'x-ms-encryption-key-sha256': key.encryptionKeySha256 };
    assert.deepEqual(await get(all), [200, null, 'content'], 'a read needs no algorithm');
    for (const [headers, code, name] of [
        [{ 'x-ms-encryption-key': 'mumbojumbo', 'x-ms-encryption-key-sha256': 'mumbojumbohash' }, 'InvalidHeaderValue', 'x-ms-encryption-key'], // recorded
        [{ ...all, 'x-ms-encryption-key-sha256': other.encryptionKeySha256 }, 'InvalidHeaderValue', 'x-ms-encryption-key-sha256'],
        [{ ...all, 'x-ms-encryption-algorithm': 'AES128' }, 'InvalidHeaderValue', 'x-ms-encryption-algorithm'],
        [{ 'x-ms-encryption-key': key.encryptionKey }, 'MissingRequiredHeader', 'x-ms-encryption-key-sha256'],
        [{ 'x-ms-encryption-key-sha256': key.encryptionKeySha256 }, 'MissingRequiredHeader', 'x-ms-encryption-key'],
    ]) {
        const [status, got, text] = await get(headers);
        assert.deepEqual([status, got], [400, code], JSON.stringify(headers));
        assert.match(text, new RegExp(`<HeaderName>${name}</HeaderName>`));
    }
    const [status, code, text] = await get(all, '2018-11-09');
    assert.deepEqual([status, code], [400, 'UnsupportedHeader']);
    assert.ok(!text.includes(key.encryptionKey), 'the key is not repeated');
    const put = await fetch(signed, { method: 'PUT', body: 'x', headers: { 'x-ms-version': '2021-12-02', 'x-ms-blob-type': 'BlockBlob', ...all } });
    assert.deepEqual([put.status, put.headers.get('x-ms-error-code')], [400, 'MissingRequiredHeader'], 'a write needs an algorithm');
});

// ---- where no key may be ----

async function* filesIn(folder) {
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
        if (entry.isFile())
            yield join(entry.parentPath ?? entry.path, entry.name);
}

/** The places in the memory of a process, or a core of it, where one of the texts is. */
async function findInMemory(pid, texts) {
    const maps = (await readFile(`/proc/${pid}/maps`, 'latin1')).split('\n');
    const memory = await open(`/proc/${pid}/mem`);
    const found = [];
    const keep = Math.max(...texts.map((text) => text.length)) - 1;
    for (const line of maps) {
        const range = line.match(/^([0-9a-f]+)-([0-9a-f]+) rw/);
        let rest = Buffer.alloc(0);
        for (let at = range ? parseInt(range[1], 16) : 0, end = range ? parseInt(range[2], 16) : 0; at < end; at += 1 << 20) {
            const chunk = Buffer.alloc(Math.min(1 << 20, end - at));
            const { bytesRead } = await memory.read(chunk, 0, chunk.length, at).catch(() => ({ bytesRead: 0 }));
            const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
            for (const text of texts)
                if (bytes.includes(text))
                    found.push(line);
            rest = bytes.subarray(Math.max(0, bytes.length - keep));
        }
    }
    await memory.close();
    return found;
}

test('after its requests a key is nowhere: memory, files, logs', async () => {
    const bytes = randomBytes(32);
    const mine = { customerProvidedKey: newKey(bytes) };
    const texts = [bytes, Buffer.from(bytes.toString('base64'))];
    const container = await newContainer();
    const content = randomBytes(5 << 20);
    const blob = container.getBlockBlobClient('blob'), small = container.getBlockBlobClient('small');
    assert.deepEqual(await findInMemory(server.pid, [Buffer.from('nobody has sent this text')]), []);
    await blob.upload(content, content.length, { ...mine, metadata: { a: 'b' } });
    await small.upload('small', 5, mine);
    await bytesOf(await blob.download(0, undefined, mine));
    await bytesOf(await blob.download(1000, 100, mine));
    await small.getProperties(mine);
    await small.createSnapshot(mine);
    await refused(small.download(0, undefined, wrong), ...MISMATCH);
    const page = container.getPageBlobClient('page');
    await page.create(1024, mine);
    await page.uploadPages(Buffer.alloc(512), 0, 512, mine);
    const unauthorized = await fetch(`${blob.url}`, { headers: { 'x-ms-version': '2021-12-02', 'x-ms-encryption-key': mine.customerProvidedKey.encryptionKey } });
    await unauthorized.text();
    await container.getProperties(); // the worker has ended the exchanges before
    let found;
    for (let i = 0; i < 50 && found?.length !== 0; i++)
        found = await findInMemory(server.pid, texts);
    assert.deepEqual(found, []);
    let files = 0;
    for await (const file of filesIn(server.location)) {
        const stored = await readFile(file).catch(() => Buffer.alloc(0)); // removed meanwhile
        files++;
        for (const text of texts)
            assert.ok(!stored.includes(text), file);
        assert.ok(!stored.includes(content.subarray(1000, 1032)), `${file} has the content as it was sent`);
    }
    assert.ok(files > 3);
    for (const text of texts)
        assert.ok(!server.stderr.includes(text) && !server.stdout?.includes?.(text));
});
