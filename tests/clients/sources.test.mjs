// Sources of copies on other servers: what they send, what they must not do, and pending copies.
// Each test has a server of its own, which may read sources on loopback.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobServiceClient } from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { serve, sourceServer } from '../lib/source.mjs';
import { blockId, credential, once, pattern, refused, until } from './setup.mjs';

const ALLOW = ['--allowCopyFrom', '127.0.0.1,::1'];

async function newTarget(t, args = ALLOW) {
    const server = await Server.start({ args });
    t.after(() => server.kill().then(() => server.remove()));
    const container = new BlobServiceClient(server.url, credential, once).getContainerClient('copies');
    await container.create();
    return { server, container, target: container.getBlockBlobClient('target') };
}

test('bytes, properties and metadata of another server', async (t) => {
    const content = pattern(400000);
    const source = await sourceServer(t, {
        '/b': serve(content, { 'content-type': 'text/remote', 'x-ms-meta-k': 'v', etag: '"1"' }),
        '/to': (_, response) => response.writeHead(302, { location: '/b' }).end(),
        '/plain': (_, response) => { response.writeHead(200); response.end(content); }, // chunked, no range
    });
    const { target } = await newTarget(t);
    await target.syncUploadFromURL(`${source.url}/b`);
    assert.deepEqual(await target.downloadToBuffer(), content);
    assert.equal((await target.getProperties()).contentType, 'text/remote');
    await target.syncUploadFromURL(`${source.url}/to`);
    await target.syncUploadFromURL(`${source.url}/plain`);
    assert.deepEqual(await target.downloadToBuffer(), content);
    for (const path of ['/b', '/plain']) { // one knows ranges, one does not
        await target.stageBlockFromURL(blockId(1), `${source.url}${path}`, 1000, 5000);
        await target.commitBlockList([blockId(1)]);
        assert.deepEqual(await target.downloadToBuffer(), content.subarray(1000, 6000), path);
    }
    const done = await (await target.beginCopyFromURL(`${source.url}/b?sig=s`, { intervalInMs: 50 })).pollUntilDone();
    assert.equal(done.copyStatus, 'success');
    const got = await target.getProperties();
    assert.deepEqual([got.metadata, got.contentType, got.copyProgress, got.copySource],
        [{ k: 'v' }, 'text/remote', '400000/400000', `${source.url}/b`]);
    assert.deepEqual(await target.downloadToBuffer(), content);
    assert.ok(source.seen.every(({ headers }) => !headers.authorization));
    await target.syncUploadFromURL(`${source.url}/b`, { sourceAuthorization: { scheme: 'Bearer', value: 'abc' } });
    assert.equal(source.seen.at(-1).headers.authorization, 'Bearer abc');
});

test('what a source answers is told', async (t) => {
    // decision: 52
    const content = pattern(100000);
    const source = await sourceServer(t, {
        '/no': (_, response) => response.writeHead(403, { 'x-ms-error-code': 'AuthenticationFailed' }).end(),
        '/short': (_, response) => { response.writeHead(200, { 'content-length': 200000 }); response.write(content);
            setTimeout(() => response.destroy(), 100); },
        '/cut': (_, response) => { response.writeHead(200); response.write(content);
            setTimeout(() => response.destroy(), 100); },
        '/round': (_, response) => response.writeHead(302, { location: '/round' }).end(),
        '/file': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
        '/changed': (_, response) => response.writeHead(412).end(),
        '/range': (_, response) => { response.writeHead(206, { 'content-range': 'bytes 7-8/9' }); response.end('ab'); },
        '/large': (_, response) => { response.writeHead(200, { 'content-length': 257 * 1024 * 1024 }); response.write('x'); },
    });
    const { target } = await newTarget(t);
    const from = (path) => target.syncUploadFromURL(`${source.url}${path}`);
    const error = await refused(from('/no'), 403, 'CannotVerifyCopySource');
    assert.equal(error.response.headers.get('x-ms-copy-source-error-code'), 'AuthenticationFailed');
    await refused(from('/none'), 404, 'CannotVerifyCopySource');
    for (const path of ['/short', '/cut'])
        await refused(from(path), 500, 'CannotVerifyCopySource');
    for (const path of ['/round', '/file'])
        await refused(from(path), 403, 'CannotVerifyCopySource');
    await refused(from('/changed'), 412, 'CannotVerifyCopySource');
    await refused(target.stageBlockFromURL(blockId(1), `${source.url}/range`, 0, 2), 416, 'CannotVerifyCopySource');
    await refused(target.syncCopyFromURL(`${source.url}/large`), 413, 'RequestBodyTooLarge');
    await refused(target.beginCopyFromURL(`${source.url}/changed`), 412, 'SourceConditionNotMet');
    await refused(target.beginCopyFromURL(`${source.url}/none`), 404, 'CannotVerifyCopySource');
    await refused(target.getProperties(), 404, 'BlobNotFound');
});

test('addresses that are not public are not connected to, whatever leads there', async (t) => {
    // decision: 55
    const source = await sourceServer(t, { '/b': serve(pattern(10)) });
    const { port } = new URL(source.url);
    const { target } = await newTarget(t, []);
    for (const host of ['127.0.0.1', '127.1', '0x7f000001', '2130706433', '[::ffff:127.0.0.1]', '0.0.0.0',
        '10.0.0.1', '169.254.169.254', '192.168.0.1', '[fe80::1]', '[fd00::1]', '[::]', '100.64.0.1'])
        await refused(target.syncUploadFromURL(`http://${host}:${port}/b`), 403, 'CannotVerifyCopySource');
    assert.equal(source.seen.length, 0);
    // One that is allowed cannot lead to one that is not.
    const { target: other } = await newTarget(t, ['--allowCopyFrom', '127.0.0.1/32']);
    const hop = await sourceServer(t, {
        '/r': (_, response) => response.writeHead(302, { location: `http://127.0.0.2:${port}/b` }).end(),
        '/b': serve(pattern(10)),
    });
    await other.syncUploadFromURL(`${hop.url}/b`);
    await refused(other.syncUploadFromURL(`${hop.url}/r`), 403, 'CannotVerifyCopySource');
});

test('TLS: a certificate has to be trusted', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-tls-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const path = (name) => join(folder, name);
    execFileSync('certtool', ['--generate-privkey', '--outfile', path('key')], { stdio: 'ignore' });
    await writeFile(path('template'),
        'cn = "source"\nip_address = "127.0.0.1"\nca\ntls_www_server\nexpiration_days = 2\n');
    execFileSync('certtool', ['--generate-self-signed', '--load-privkey', path('key'),
        '--template', path('template'), '--outfile', path('cert')], { stdio: 'ignore' });
    const content = pattern(50000);
    const source = await sourceServer(t, { '/b': serve(content) },
        { key: await readFile(path('key')), cert: await readFile(path('cert')) });
    const { target } = await newTarget(t);
    await refused(target.syncUploadFromURL(`${source.url}/b`), 500, 'CannotVerifyCopySource');
    const { target: trusting } = await newTarget(t, [...ALLOW, '--copySourceCa', path('cert')]);
    await trusting.syncUploadFromURL(`${source.url}/b`);
    assert.deepEqual(await trusting.downloadToBuffer(), content);
});

test('without libcurl all but sources on other servers works', async (t) => {
    // decision: 243. The program's own names of the library name none.
    const folder = await mkdtemp(join(tmpdir(), 'lagra-without-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const binary = join(folder, 'lagra');
    const text = (await readFile(process.env.LAGRA_BINARY)).toString('latin1');
    await writeFile(binary, Buffer.from(text.replaceAll(/libcurl(?=[-a-z]*\.so\.4\0)/g, 'libnone'), 'latin1'), { mode: 0o755 });
    const server = await Server.start({ binary, args: ALLOW });
    t.after(() => server.kill().then(() => server.remove()));
    const source = await sourceServer(t, { '/b': serve(pattern(10)) });
    const container = new BlobServiceClient(server.url, credential, once).getContainerClient('copies');
    await container.create();
    const target = container.getBlockBlobClient('target');
    for (let i = 0; i < 2; i++)
        await refused(target.syncUploadFromURL(`${source.url}/b`), 500, 'CannotVerifyCopySource');
    assert.equal(server.stderr.match(/error copying from other servers is not possible: libcurl: libnone/g).length, 1);
    await target.upload('x', 1);
    assert.equal((await target.downloadToBuffer()).toString(), 'x');
});

// A source that sends half of itself, and the rest when it is told to.
function halting(content) {
    const waiting = [];
    const handler = (_, response) => {
        response.writeHead(200, { 'content-length': content.length, etag: '"1"' });
        response.write(content.subarray(0, content.length / 2));
        waiting.push(response);
    };
    const goOn = () => waiting.splice(0).forEach((response) => response.end(content.subarray(content.length / 2)));
    return { handler, goOn, waiting };
}

test('while a copy is pending its destination is read and not written', async (t) => {
    // rest: Copy-Blob; semantics 5
    const content = pattern(1000000);
    const half = halting(content);
    const source = await sourceServer(t, { '/b': half.handler });
    const { container, target } = await newTarget(t);
    const { etag } = await target.upload('old', 3, { metadata: { old: '1' } });
    const poller = await target.beginCopyFromURL(`${source.url}/b`, { metadata: { new: '1' }, intervalInMs: 50 });
    const pending = await target.getProperties();
    assert.equal(pending.copyStatus, 'pending');
    assert.notEqual(pending.etag, etag);
    assert.deepEqual([pending.contentLength, pending.metadata, pending.copyCompletedOn], [3, { old: '1' }, undefined]);
    assert.equal((await target.downloadToBuffer()).toString(), 'old');
    for (const write of [() => target.upload('x', 1), () => target.delete(), () => target.createSnapshot(),
        () => target.setMetadata({}), () => target.setHTTPHeaders({}), () => target.getBlobLeaseClient().acquireLease(-1),
        () => target.stageBlock(blockId(1), 'x', 1), () => target.commitBlockList([]),
        () => target.beginCopyFromURL(`${source.url}/b`), () => target.syncUploadFromURL(`${source.url}/b`)])
        await refused(write(), 409, 'PendingCopyOperation');
    await refused(target.abortCopyFromURL('00000000-0000-0000-0000-000000000000'), 409, 'CopyIdMismatch');
    await until(() => half.waiting.length > 1); // the one that began it was closed
    half.goOn();
    assert.equal((await poller.pollUntilDone()).copyStatus, 'success');
    const done = await target.getProperties();
    assert.deepEqual([done.contentLength, done.metadata], [1000000, { new: '1' }]);
    assert.notEqual(done.etag, pending.etag);
    assert.deepEqual(await target.downloadToBuffer(), content);
    await refused(target.abortCopyFromURL(done.copyId), 409, 'NoPendingCopyOperation');
    assert.equal((await container.getBlobClient('target').getProperties()).copyStatus, 'success');
});

test('an aborted copy leaves a blob without bytes', async (t) => {
    // rest: Abort-Copy-Blob
    const half = halting(pattern(1000000));
    const source = await sourceServer(t, { '/b': half.handler });
    const { target } = await newTarget(t);
    await target.upload('old', 3);
    const { copyId } = (await target.beginCopyFromURL(`${source.url}/b`, { metadata: { new: '1' } })).getOperationState();
    await until(() => half.waiting.length > 1);
    const answer = await target.abortCopyFromURL(copyId);
    assert.equal(answer._response.status, 204);
    const got = await target.getProperties();
    assert.deepEqual([got.contentLength, got.metadata, got.copyStatus, got.copyId], [0, { new: '1' }, 'aborted', copyId]);
    assert.ok(got.copyCompletedOn);
    await target.upload('new', 3);
    half.goOn(); // too late: it changes nothing
    await delay(500);
    assert.equal((await target.downloadToBuffer()).toString(), 'new');
});

test('a copy to a leased blob is begun and aborted with its lease, which stays', async (t) => {
    // rest: Copy-Blob "x-ms-lease-id", Abort-Copy-Blob "x-ms-lease-id"
    const half = halting(pattern(1000000));
    const source = await sourceServer(t, { '/b': half.handler });
    const { target } = await newTarget(t);
    await target.upload('old', 3);
    const lease = target.getBlobLeaseClient();
    const { leaseId } = await lease.acquireLease(-1);
    const conditions = { leaseId }, other = { leaseId: 'aaaaaaaa-0000-4000-8000-00000000000a' };
    const begin = (given) => target.beginCopyFromURL(`${source.url}/b`, { conditions: given });
    await refused(begin(), 412, 'LeaseIdMissing');
    await refused(begin(other), 412, 'LeaseIdMismatchWithBlobOperation');
    const { copyId } = (await begin(conditions)).getOperationState();
    await refused(lease.renewLease(), 409, 'PendingCopyOperation');
    await refused(target.abortCopyFromURL(copyId), 412, 'LeaseIdMissing');
    await refused(target.abortCopyFromURL(copyId, { conditions: other }), 412, 'LeaseIdMismatchWithBlobOperation');
    await target.abortCopyFromURL(copyId, { conditions });
    const aborted = await target.getProperties();
    assert.deepEqual([aborted.copyStatus, aborted.contentLength, aborted.leaseState], ['aborted', 0, 'leased']);
    half.waiting.length = 0; // of what was aborted
    const poller = await target.beginCopyFromURL(`${source.url}/b`, { conditions, intervalInMs: 50 });
    await until(() => half.waiting.length > 1);
    half.goOn();
    assert.equal((await poller.pollUntilDone()).copyStatus, 'success');
    assert.equal((await target.getProperties()).leaseState, 'leased');
    await lease.releaseLease();
});

test('a pending copy goes on after a crash', async (t) => {
    const content = pattern(1000000);
    const half = halting(content);
    const source = await sourceServer(t, { '/b': half.handler });
    const { server, target } = await newTarget(t);
    await target.beginCopyFromURL(`${source.url}/b`);
    await until(() => half.waiting.length > 1);
    await server.kill();
    half.waiting.splice(0).forEach((response) => response.destroy());
    await server.restart();
    const again = new BlobServiceClient(server.url, credential, once).getContainerClient('copies')
        .getBlockBlobClient('target');
    assert.equal((await again.getProperties()).copyStatus, 'pending');
    await until(() => half.waiting.length > 0);
    half.goOn();
    await until(async () => (await again.getProperties()).copyStatus === 'success');
    assert.deepEqual(await again.downloadToBuffer(), content);
});

test('a copy whose source changes or goes fails; one whose source is silent is tried again', async (t) => {
    let answers = [];
    const content = pattern(5000);
    const source = await sourceServer(t, {
        '/b': (request, response) => answers.shift()(request, response),
    });
    const is = (etag) => serve(content, { etag });
    const gone = (_, response) => response.writeHead(404, { 'x-ms-error-code': 'BlobNotFound' }).end();
    const down = (_, response) => response.writeHead(503).end();
    const { target } = await newTarget(t);
    const ends = async () => {
        await target.beginCopyFromURL(`${source.url}/b`);
        return until(async () => {
            const got = await target.getProperties();
            return got.copyStatus !== 'pending' && got;
        });
    };
    answers = [is('"1"'), is('"2"')];
    const changed = await ends();
    assert.equal(changed.copyStatus, 'failed');
    assert.match(changed.copyStatusDescription, /^412 SourceConditionNotMet/);
    assert.equal(changed.contentLength, 0);
    answers = [is('"1"'), gone];
    assert.match((await ends()).copyStatusDescription, /^404 BlobNotFound/);
    answers = [is('"1"'), down, is('"1"')];
    assert.equal((await ends()).copyStatus, 'success');
    assert.deepEqual(await target.downloadToBuffer(), content);
});

test('a large blob of this server is copied in the background, also when it is deleted meanwhile', async (t) => {
    const { container, target } = await newTarget(t);
    const part = pattern(8 << 20);
    const source = container.getBlockBlobClient('large');
    for (let i = 0; i < 9; i++)
        await source.stageBlock(blockId(i), part, part.length);
    await source.commitBlockList([0, 1, 2, 3, 4, 5, 6, 7, 8].map(blockId));
    const poller = await target.beginCopyFromURL(source.url, { intervalInMs: 50 });
    assert.equal((await poller.pollUntilDone()).copyStatus, 'success');
    assert.equal((await target.getBlockList('committed')).committedBlocks.length, 9);
    const bytes = await target.downloadToBuffer();
    for (let i = 0; i < 9; i++)
        assert.ok(bytes.subarray(i * part.length, (i + 1) * part.length).equals(part), `block ${i}`);
});
