// A Blob Batch of an account over several cells: each part is executed by the owner of its container's cell, and the
// response is that of one server. docs/cells.md; decision: 1100
import assert from 'node:assert/strict';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobSASPermissions, BlobServiceClient, generateBlobSASQueryParameters, StorageSharedKeyCredential } from '@azure/storage-blob';
import { batchBody, BATCH_TYPE, partRequest, readBatch } from '../lib/batch.mjs';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const BLOCK = [['x-ms-blob-type', 'BlockBlob']];
const PINS_MS = 2600; // the root reads pins every two seconds
const PARTS_MAX = 256;
const { account, key } = DEVELOPMENT;

/** A front end for each of three cells, and one that stands by; containers near, far and third, one in each cell. */
async function newCells(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-cell-batches-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    const { code, errors } = await run(['cluster', 'init', cluster, '--cells', '3']);
    assert.equal(code, 0, errors);
    const logs = [1, 2, 3].map((cell) => join(folder, `cell${cell}.log`));
    const owners = await Promise.all(logs.map((log, i) => Member.start(cluster, { args: ['--cell', `${i + 1}`, '--accessLog', log] })));
    await Promise.all(owners.map((owner) => owner.until(200)));
    const standby = await Member.start(cluster);
    await standby.until(200, '/-/ready');
    await delay(300); // all of them know the owners of all cells
    for (const [i, name] of ['near', 'far', 'third'].entries()) {
        const placed = await run(['cluster', 'place', cluster, account, `${i + 1}`]);
        assert.equal(placed.code, 0, placed.errors);
        await delay(PINS_MS);
        assert.equal((await standby.ask('PUT', `/${name}?restype=container`)).status, 201);
    }
    return { cluster, owners, standby, logs };
}

const put = async (member, path) => assert.equal((await member.ask('PUT', path, { headers: BLOCK, body: Buffer.from('x') })).status, 201);

const deletion = (id, path, headers = []) => ({ id, request: partRequest({ method: 'DELETE', target: `/${account}${path}`, headers }) });

/** Sends the parts as a batch of the account. The client's connection must not be closed. */
async function batch(member, parts) {
    const answer = await member.ask('POST', '/?comp=batch', { headers: [['Content-Type', BATCH_TYPE]], body: Buffer.from(batchBody(parts)) });
    assert.equal(answer.status, 202, answer.body.toString());
    return readBatch(answer.headers.get('content-type'), answer.body.toString());
}

/** What does not differ between two executions of a part. */
const lasting = ({ status, reason, headers, body }) => ({
    status, reason,
    headers: [...headers].filter(([name]) => name !== 'x-lagra-attempts').map(([name, value]) => /^(x-ms-request-id|etag|last-modified|date|content-length)$/.test(name) ? [name] : [name, value]),
    body: body.replace(/RequestId:\S+\s+Time:[^<]+/, '').replace(/<AuthenticationErrorDetail>[^<]+/, ''),
});

test('parts of other cells have the responses of one server, in their order', async (t) => {
    const { owners: [one, two], standby } = await newCells(t);
    const cells = ['near', 'far', 'third'];
    const leased = 'leased';
    for (const cell of cells) {
        for (const name of ['a', 'b', leased, 'other', 'sas'])
            await put(standby, `/${cell}/${name}`);
        const lease = await one.ask('PUT', `/${cell}/${leased}?comp=lease`, { headers: [['x-ms-lease-action', 'acquire'], ['x-ms-lease-duration', '-1']] });
        assert.equal(lease.status, 201);
    }
    const credential = new StorageSharedKeyCredential(account, key);
    const sas = (cell, permissions) => generateBlobSASQueryParameters({
        containerName: cell, blobName: 'sas', permissions: BlobSASPermissions.parse(permissions), expiresOn: new Date(Date.now() + 600_000),
    }, credential).toString();
    const unsigned = (id, target) => ({ id, request: { method: 'DELETE', target, headers: [['Content-Length', '0']] } });
    const wrong = (part) => ({ ...part, request: { ...part.request, headers: part.request.headers.map(([name, value]) => [name, name === 'Authorization' ? value.replace(/.{6}$/, 'AAAAA=') : value]) } });
    const kinds = [
        (cell) => deletion(1, `/${cell}/a`),
        (cell) => deletion(2, `/${cell}/a`), // sees the part before it
        (cell) => deletion(3, `/${cell}/${leased}`),
        (cell) => deletion(4, `/${cell}/b`, [['If-Match', '"0x8D0000000000000"']]),
        (cell) => wrong(deletion(5, `/${cell}/b`)),
        (cell) => unsigned(6, `/${account}/${cell}/b`),
        (cell) => unsigned(7, `/${account}/${cell}/sas?${sas(cell, 'r')}`),
        (cell) => unsigned(8, `/${account}/${cell}/sas?${sas(cell, 'd')}`),
        (cell) => deletion(9, `/${cell}/b`, [['x-ms-client-request-id', 'of-the-client']]),
        (cell) => deletion(undefined, `/${cell}/other`, [['x-ms-delete-snapshots', 'include']]),
    ];
    const parts = kinds.flatMap((kind) => cells.map(kind));
    const answers = await batch(standby, parts);
    assert.deepEqual(answers.map(({ id }) => id), parts.map(({ id }) => id === undefined ? undefined : `${id}`));
    const of = (cell) => answers.filter((_, i) => i % 3 === cell);
    assert.deepEqual(of(0).map(({ status }) => status), [202, 404, 412, 412, 403, 409, 403, 202, 202, 202].map((status, i) => i === 5 ? of(0)[5].status : status));
    for (const cell of [1, 2])
        of(cell).forEach((answer, i) => assert.deepEqual(lasting(answer), lasting(of(0)[i]), `${cells[cell]}, part ${i}`));
    assert.equal(new Set(answers.map(({ headers }) => headers.get('x-ms-request-id'))).size, answers.length);
    assert.match(of(1)[2].body, new RegExp(`RequestId:${of(1)[2].headers.get('x-ms-request-id')}`));
    for (const [cell, name, status] of [['far', 'a', 404], ['far', 'b', 404], ['far', leased, 200], ['third', 'sas', 404], ['third', 'other', 404]])
        assert.equal((await two.ask('HEAD', `/${cell}/${name}`)).status, status, `${cell}/${name}`);
});

test('256 parts over three cells by the SDK; tiers; all in the log of the root', async (t) => {
    const { owners: [one], standby, logs } = await newCells(t);
    const service = new BlobServiceClient(`http://127.0.0.1:${standby.ports.blob}/${account}`, new StorageSharedKeyCredential(account, key));
    const blobs = Array.from({ length: PARTS_MAX }, (_, i) => service.getContainerClient(['near', 'far', 'third'][i % 3]).getBlobClient(`b${i}`));
    await Promise.all(blobs.map((blob) => blob.getBlockBlobClient().upload('x', 1)));
    const tiers = await service.getBlobBatchClient().setBlobsAccessTier(blobs, 'Cool');
    assert.deepEqual([tiers.subResponsesSucceededCount, tiers.subResponsesFailedCount], [PARTS_MAX, 0]);
    assert.equal((await blobs[1].getProperties()).accessTier, 'Cool');
    const deleted = await service.getBlobBatchClient().deleteBlobs(blobs);
    assert.deepEqual([deleted.subResponsesSucceededCount, deleted.subResponsesFailedCount], [PARTS_MAX, 0]);
    for (const name of ['near', 'far', 'third'])
        for await (const { name: left } of service.getContainerClient(name).listBlobsFlat())
            assert.fail(`${name}/${left} is left`);
    await one.end(); // its log is complete
    const lines = (await readFile(logs[0], 'utf8')).trim().split('\n').map((line) => JSON.parse(line));
    const logged = lines.filter(({ operation, status }) => operation === 'Delete Blob' && status === 202);
    assert.equal(logged.length, PARTS_MAX);
});

test('a cell without an owner: its parts get 503, the others are executed; a container that moved is found', async (t) => {
    const { cluster, owners: [one, two, three], standby } = await newCells(t);
    for (const path of ['/near/a', '/far/a', '/far/b', '/third/a', '/third/b'])
        await put(one, path);
    const moved = await run(['cluster', 'move', cluster, account, 'container', 'third', '2']);
    assert.equal(moved.code, 0, moved.errors);
    assert.deepEqual((await batch(three, [deletion(1, '/third/a'), deletion(2, '/far/a')])).map(({ status }) => status), [202, 202]);
    await standby.end(); // nobody takes over
    await two.end('SIGKILL');
    const answers = await batch(three, [deletion(1, '/far/b'), deletion(2, '/near/a'), deletion(3, '/third/b')]);
    assert.deepEqual(answers.map(({ status }) => status), [503, 202, 503]);
    assert.equal(answers[0].headers.get('x-ms-error-code'), 'ServerBusy');
    assert.equal(answers[0].headers.get('retry-after'), '3');
    two.restart();
    await two.until(200);
    const again = async () => (await batch(three, [deletion(1, '/far/b'), deletion(2, '/near/a'), deletion(3, '/third/b')])).map(({ status }) => status);
    let statuses = await again();
    for (let i = 0; i < 20 && statuses[0] === 503; i++, await delay(300))
        statuses = await again();
    assert.deepEqual(statuses, [202, 404, 202]);
});

test('an owner that is killed within a batch: a response says what was executed; without one the connection is closed', async (t) => {
    const { owners: [one, two], standby } = await newCells(t);
    await standby.end();
    let closed = 0;
    for (const ms of [2, 5, 9, 14, 20, 30]) {
        const paths = Array.from({ length: PARTS_MAX }, (_, i) => `/far/${ms}-${i}`);
        for (let i = 0; i < PARTS_MAX; i += 32)
            await Promise.all(paths.slice(i, i + 32).map((path) => put(two, path)));
        const answering = batch(one, paths.map((path, i) => deletion(i, path))).then((parts) => parts.map(({ status }) => status), () => null);
        await delay(ms);
        await two.end('SIGKILL');
        const statuses = await answering;
        two.restart();
        await two.until(200);
        closed += statuses === null;
        for (const [i, status] of (statuses ?? []).entries())
            assert.equal((await two.ask('HEAD', paths[i])).status, status === 202 ? 404 : 200, `${paths[i]} after ${status}`);
    }
    t.diagnostic(`${closed} of 6 connections were closed`);
});
