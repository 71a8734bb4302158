// Structured bodies: uploads and downloads in segments with checksums, by the SDKs (contentChecksumAlgorithm) and byte by
// byte. rest: Structured-Body-Format; decision: 1436
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { DataLakeServiceClient, StorageSharedKeyCredential as LakeCredential } from '@azure/storage-file-datalake';
import { crc64, decode, encode, TYPE } from '../lib/structured.mjs';
import { Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';
import { account, blockId, newBlob, newContainer } from './setup.mjs';
import { newShare, rawFile } from './shares-setup.mjs';

const CRC = { contentChecksumAlgorithm: 'StorageCrc64' };
const MIB = 1 << 20;

/* ---- the SDKs ---- */

test('Put Blob, Put Block, Append Block and Put Page by the SDK, and Get Blob', async (t) => {
    const container = await newContainer(t), bytes = randomBytes(9 * MIB + 5);
    const block = container.getBlockBlobClient('block');
    await block.upload(bytes, bytes.length, CRC);
    assert.ok((await block.downloadToBuffer(0, undefined, CRC)).equals(bytes));
    assert.ok((await block.downloadToBuffer(MIB - 1, 5 * MIB, CRC)).equals(bytes.subarray(MIB - 1, 6 * MIB - 1)));

    await block.stageBlock(blockId(1), bytes, bytes.length, CRC);
    await block.commitBlockList([blockId(1)]);
    assert.ok((await block.downloadToBuffer()).equals(bytes));

    const append = container.getAppendBlobClient('append');
    await append.create();
    await append.appendBlock('hello ', 6, CRC);
    await append.appendBlock('world', 5, CRC);
    assert.equal((await append.downloadToBuffer(0, undefined, CRC)).toString(), 'hello world');

    const page = container.getPageBlobClient('page');
    await page.create(4 * MIB);
    await page.uploadPages(bytes.subarray(0, 4 * MIB), 0, 4 * MIB, CRC);
    assert.ok((await page.downloadToBuffer(0, undefined, CRC)).equals(bytes.subarray(0, 4 * MIB)));
});

test('Put Range and Get File by the SDK', async (t) => {
    const share = await newShare(t), file = share.rootDirectoryClient.getFileClient('f'), bytes = randomBytes(4 * MIB);
    await file.create(4 * MIB);
    await file.uploadRange(bytes, 0, bytes.length, CRC);
    const { readableStreamBody } = await file.download(0, undefined, CRC);
    assert.ok(Buffer.concat(await readableStreamBody.toArray()).equals(bytes));
});

test('Path Append by the SDK, and Path Read', async (t) => {
    const server = await Server.start({ args: ['--hierarchical'] });
    t.after(() => server.kill().then(() => server.remove()));
    const base = { host: server.host, port: server.ports.dfs };
    const lake = new DataLakeServiceClient(`http://${server.host}:${server.ports.dfs}/${account.name}`, new LakeCredential(account.name, account.key));
    const bytes = randomBytes(5 * MIB), system = lake.getFileSystemClient('system'), file = system.getFileClient('f');
    await system.create();
    await file.create();
    await file.append(bytes, 0, bytes.length, CRC);
    await file.flush(bytes.length);
    const answer = await raw('GET', '/system/f', { 'x-ms-structured-body': TYPE }, '', { base });
    assert.equal(answer.headers.get('x-ms-structured-content-length'), String(bytes.length));
    assert.deepEqual(decode(answer.body), { content: bytes, segments: [4 * MIB, MIB] });
});

/* ---- byte by byte ---- */

const structured = (content) => ({ 'x-ms-structured-body': TYPE, 'x-ms-structured-content-length': String(content) });
const BLOCK_BLOB = { 'x-ms-blob-type': 'BlockBlob' };

test('the response confirms the type, and has the checksum of the content', async (t) => {
    const { container } = await newBlob(t), path = `/${container.containerName}/b`;
    const put = await raw('PUT', path, { ...BLOCK_BLOB, ...structured(11) }, encode(['hello', ' ', 'world']));
    assert.equal(put.status, 201);
    assert.equal(put.headers.get('x-ms-structured-body'), TYPE);
    const sum = Buffer.alloc(8);
    sum.writeBigUInt64LE(crc64(Buffer.from('hello world')));
    assert.equal(put.headers.get('x-ms-content-crc64'), sum.toString('base64'));
    assert.equal(put.headers.get('content-md5'), 'XrY7u+Ae7tCTyyK7j1rNww==');

    const head = await raw('HEAD', path);
    assert.equal(head.headers.get('content-length'), '11');
    const get = await raw('GET', path, { 'x-ms-structured-body': TYPE, 'x-ms-range': 'bytes=6-' });
    assert.deepEqual([get.status, get.headers.get('content-range'), get.headers.get('x-ms-structured-content-length')],
        [206, 'bytes 6-10/11', '5']);
    assert.equal(decode(get.body).content.toString(), 'world');
    // Versions in which no structured bodies existed do not ignore the header. docs/versions.md
    const old = await raw('GET', path, { 'x-ms-structured-body': TYPE }, '', { version: '2019-12-12' });
    assert.equal(decode(old.body).content.toString(), 'hello world');
});

test('an empty blob is one empty segment', async (t) => {
    const { container } = await newBlob(t), path = `/${container.containerName}/empty`;
    assert.equal((await raw('PUT', path, { ...BLOCK_BLOB, ...structured(0) }, encode(['']))).status, 201);
    const get = await raw('GET', path, { 'x-ms-structured-body': TYPE });
    assert.equal(get.headers.get('x-ms-structured-content-length'), '0');
    assert.deepEqual(decode(get.body), { content: Buffer.alloc(0), segments: [0] });
});

test('a damaged or contradicting message changes nothing', async (t) => {
    const { container, blob, etag } = await newBlob(t), path = `/${container.containerName}/blob`;
    const message = encode(['hello', 'world']);
    const put = (headers, body) => raw('PUT', path, { ...BLOCK_BLOB, ...headers }, body);
    const damaged = (at) => Buffer.concat([message.subarray(0, at), Buffer.from([message[at] ^ 1]), message.subarray(at + 1)]);

    for (const [what, at] of [['content', 23], ['the checksum of a segment', 30], ['the trailer', message.length - 1]]) {
        const { text } = await rawRefused(put(structured(10), damaged(at)), 400, 'Crc64Mismatch');
        assert.match(text, /<UserSpecifiedCrc>.*<ServerCalculatedCrc>/, what);
    }
    for (const at of [0, 1, 9, 11, 13, 22])
        await rawRefused(put(structured(10), damaged(at)), 400, 'InvalidInput');
    await rawRefused(put(structured(9), message), 400, 'InvalidInput');
    await rawRefused(put(structured(10), message.subarray(0, -1)), 400, 'InvalidInput');
    await rawRefused(put(structured(10), Buffer.concat([message, Buffer.from('x')])), 400, 'InvalidInput');
    await rawRefused(put(structured(0), ''), 400, 'InvalidInput');
    assert.equal((await blob.getProperties()).etag, etag);
});

test('damage in a large body is found', async (t) => {
    const { container, blob, etag } = await newBlob(t), bytes = randomBytes(6 * MIB);
    const message = encode([bytes.subarray(0, 4 * MIB), bytes.subarray(4 * MIB)]);
    message[5 * MIB] ^= 1;
    await rawRefused(raw('PUT', `/${container.containerName}/blob`, { ...BLOCK_BLOB, ...structured(bytes.length) }, message), 400, 'Crc64Mismatch');
    assert.equal((await blob.getProperties()).etag, etag);
});

test('the headers are refused where they make no sense', async (t) => {
    const { container } = await newBlob(t), path = `/${container.containerName}/blob`;
    const message = encode(['hello']);
    const put = (headers) => raw('PUT', path, { ...BLOCK_BLOB, ...headers }, message);

    await rawRefused(put({ ...structured(5), 'x-ms-structured-body': 'XSM/2.0' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ ...structured(5), 'x-ms-structured-content-length': 'x' }), 400, 'InvalidHeaderValue');
    await rawRefused(put({ 'x-ms-structured-body': TYPE }), 400, 'MissingRequiredHeader');
    await rawRefused(put({ 'x-ms-structured-content-length': '5' }), 400, 'UnsupportedHeader');
    await rawRefused(raw('GET', path, structured(5)), 400, 'UnsupportedHeader');
    for (const [method, query] of [['PUT', '?comp=metadata'], ['PUT', '?comp=blocklist'], ['GET', '?comp=blocklist'], ['DELETE', '']])
        await rawRefused(raw(method, path + query, { 'x-ms-structured-body': TYPE }), 400, 'UnsupportedHeader');
    await rawRefused(raw('HEAD', path, { 'x-ms-structured-body': TYPE }), 400, 'UnsupportedHeader');
});

test('lengths are those of the content: Put Page, Put Range, Create File', async (t) => {
    const { container } = await newBlob(t), path = `/${container.containerName}/page`;
    await raw('PUT', path, { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '1024' });
    const page = (range) => raw('PUT', `${path}?comp=page`, { 'x-ms-page-write': 'update', 'x-ms-range': range, ...structured(512) },
        encode(['p'.repeat(500), 'p'.repeat(12)]));
    assert.equal((await page('bytes=0-511')).status, 201);
    await rawRefused(page('bytes=0-1023'), 416, 'InvalidPageRange');

    const { name } = await newShare(t);
    const create = await rawFile('PUT', `/${name}/f`, { 'x-ms-type': 'file', 'x-ms-content-length': '5', ...structured(5) }, encode(['hello']));
    assert.equal(create.headers.get('x-ms-structured-body'), TYPE);
    const range = await rawFile('PUT', `/${name}/f?comp=range`, { 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-1', ...structured(2) }, encode(['HE']));
    assert.equal(range.status, 201);
    const get = await rawFile('GET', `/${name}/f`, { 'x-ms-structured-body': TYPE });
    assert.equal(decode(get.body).content.toString(), 'HEllo');
});
