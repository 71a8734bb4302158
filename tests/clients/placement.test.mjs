// Several cells behind one address: containers, queues, tables and shares are in a cell each, and any front end takes any
// request. docs/cells.md; decision: 992 to 1000
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as ShareCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { batchBody, BATCH_TYPE, partRequest, readBatch } from '../lib/batch.mjs';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const MIB = 2 ** 20;
const BLOCK = [['x-ms-blob-type', 'BlockBlob']];
const PINS_MS = 2600; // the root reads pins every two seconds
const RELEASED_MS = 32_000; // thirty seconds after a deletion, or after a row was written
const { account, key } = DEVELOPMENT;

/** A front end for each cell, and one that stands by. */
async function newCells(t, { cells = 3, env = {}, withStandby = true } = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-placement-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    const { code, errors } = await run(['cluster', 'init', cluster, '--cells', `${cells}`]);
    assert.equal(code, 0, errors);
    const start = async (name, args) => {
        const log = join(folder, `${name}.log`);
        const member = await Member.start(cluster, { args: ['--accessLog', log, ...args], env });
        t.after(() => member.end('SIGKILL'));
        member.lines = () => readFileSync(log, 'utf8').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
        return member;
    };
    const owners = await Promise.all(Array.from({ length: cells }, (_, i) => start(`cell${i + 1}`, ['--cell', `${i + 1}`])));
    await Promise.all(owners.map((owner) => owner.until(200)));
    const standby = withStandby ? await start('standby', []) : null;
    const members = [...owners, ...standby ? [standby] : []];
    await Promise.all(members.map((member) => member.until(200, '/-/ready')));
    await delay(300); // all of them know the owners of all cells
    return { cluster, owners, standby, members, start };
}

async function pin(cluster, cell) {
    const { code, errors } = await run(['cluster', 'place', cluster, account, `${cell}`]);
    assert.equal(code, 0, errors);
    await delay(PINS_MS);
}

/** Waits until the owner has executed the request that created this container: it is in its cell. */
async function createdBy(owner, name, of = account) {
    for (let i = 0; i < 100; i++, await delay(20))
        if (owner.lines().some(({ path, operation, status }) => path === `/${of}/${name}` && operation === 'Create Container' && status === 201))
            return;
    throw new Error(`${name} was not created by this owner: ${JSON.stringify(owner.lines().filter(({ path }) => path === `/${account}/${name}`))}`);
}

/** Deletes blobs by a batch. Returns the status of each part. */
async function batch(member, at, ...paths) {
    const parts = paths.map((path, id) => ({ id, request: partRequest({ method: 'DELETE', target: `/${account}${path}` }) }));
    const answer = await member.ask('POST', at, { headers: [['Content-Type', BATCH_TYPE]], body: Buffer.from(batchBody(parts)) });

    assert.equal(answer.status, 202, answer.body.toString());
    return readBatch(answer.headers.get('content-type'), answer.body.toString()).map(({ status }) => status);
}

const urlOf = (member, service, suffix = '') => `http://127.0.0.1:${member.ports[service]}/${account}${suffix}`;
const once = () => ({ retryOptions: { maxTries: 1 } });

test('the SDKs of all services work at every front end, with containers in every cell', async (t) => {
    const { cluster, members } = await newCells(t);
    const content = randomBytes(5 * MIB);

    for (const cell of [1, 2, 3]) {
        await pin(cluster, cell);
        for (const [i, member] of members.entries()) {
            const name = `sdk-${cell}-${i}`, other = members[(i + 1) % members.length];
            const container = new BlobServiceClient(urlOf(member, 'blob'), new StorageSharedKeyCredential(account, key), once()).getContainerClient(name);
            await container.create();
            await container.getBlockBlobClient('a').uploadData(content, { blockSize: MIB, maxSingleShotSize: MIB });
            await container.getBlockBlobClient('small').upload('small', 5);
            const again = new BlobServiceClient(urlOf(other, 'blob'), new StorageSharedKeyCredential(account, key), once()).getContainerClient(name);
            assert.ok((await again.getBlobClient('a').downloadToBuffer()).equals(content));
            const names = [];
            for await (const blob of again.listBlobsFlat())
                names.push(blob.name);
            assert.deepEqual(names, ['a', 'small']);

            const queue = new QueueServiceClient(urlOf(member, 'queue'), new QueueCredential(account, key), once()).getQueueClient(name);
            await queue.create();
            await queue.sendMessage('one');
            const queueAgain = new QueueServiceClient(urlOf(other, 'queue'), new QueueCredential(account, key), once()).getQueueClient(name);
            const { receivedMessageItems: [message] } = await queueAgain.receiveMessages();
            assert.equal(message.messageText, 'one');
            await queue.deleteMessage(message.messageId, message.popReceipt);

            const tableName = `sdk${cell}${i}`;
            const tableAt = (at) => new TableClient(urlOf(at, 'table'), tableName, new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } });
            await tableAt(member).createTable();
            await tableAt(other).submitTransaction([['create', { partitionKey: 'p', rowKey: '1', n: 1 }], ['create', { partitionKey: 'p', rowKey: '2', n: 2, text: 'x'.repeat(20_000) }]]);
            assert.equal((await tableAt(member).getEntity('p', '2')).n, 2);
            await tableAt(other).upsertEntity({ partitionKey: 'p', rowKey: '3', n: 3 });

            const share = new ShareServiceClient(urlOf(member, 'file'), new ShareCredential(account, key), once()).getShareClient(name);
            await share.create();
            await share.getDirectoryClient('').getFileClient('f').uploadData(content.subarray(0, MIB));
            const shareAgain = new ShareServiceClient(urlOf(other, 'file'), new ShareCredential(account, key), once()).getShareClient(name);
            assert.ok((await shareAgain.getDirectoryClient('').getFileClient('f').downloadToBuffer()).equals(content.subarray(0, MIB)));

            /* What is in use is refused, whoever is asked. */
            await assert.rejects(again.create(), { statusCode: 409, code: 'ContainerAlreadyExists' });
            await assert.rejects(tableAt(other).createTable().then(() => tableAt(other).createEntity({ partitionKey: 'p', rowKey: '3' })), { statusCode: 409 });
            await again.delete();
            await queueAgain.delete();
            await tableAt(other).deleteTable();
            await shareAgain.delete();
            await assert.rejects(container.getBlockBlobClient('b').upload('x', 1), { statusCode: 404, code: 'ContainerNotFound' });
            await assert.rejects(queue.sendMessage('x'), { statusCode: 404 });
            await assert.rejects(tableAt(member).getEntity('p', '1'), { statusCode: 404 });
            await assert.rejects(share.getProperties(), { statusCode: 404 });
        }
    }
});

/** The bytes of each cell, by `lagra cluster status`. */
const status = async (cluster) => JSON.parse((await run(['cluster', 'status', cluster, '--json'])).output).cells;

test('a container is created in the cell with the fewest bytes, and its bytes are there', async (t) => {
    const { cluster, owners, standby } = await newCells(t);
    const body = randomBytes(3 * MIB);
    for (let i = 0; i < 6; i++) {
        assert.equal((await standby.ask('PUT', `/spread${i}?restype=container`)).status, 201);
        for (let j = 0; j < 3; j++)
            assert.equal((await owners[i % 3].ask('PUT', `/spread${i}/${j}`, { headers: BLOCK, body })).status, 201);
        await delay(1500); // figures are renewed each second
    }
    const used = (await status(cluster)).map(({ used_bytes: bytes }) => bytes);
    t.diagnostic(`${used}`);
    used.forEach((bytes) => assert.ok(bytes >= 2 * 3 * body.length * 0.9, `${used}`));
});

test('unknown names, wrong ones and requests without a container answer as one server does', async (t) => {
    const { members } = await newCells(t);
    const seen = (answer) => [answer.status, answer.headers.get('x-ms-error-code')];
    for (const [method, target, options] of [
        ['GET', '/nowhere/b'], ['HEAD', '/nowhere/b'], ['PUT', '/nowhere/b', { headers: BLOCK, body: Buffer.from('x') }],
        ['PUT', '/nowhere/b', { headers: BLOCK, body: randomBytes(MIB) }], ['GET', '/Wrong_Name/b'], ['DELETE', '/nowhere?restype=container'],
        ['GET', '/?comp=list'], ['GET', '/?restype=service&comp=properties'], ['GET', '/%00/b'], ['GET', `/${'n'.repeat(300)}/b`],
        ['PUT', '/Wrong_Name?restype=container'], ['GET', '/?comp=blobs&where=a%3D%27b%27'], ['GET', '/nowhere/messages', { service: 'queue' }],
        ['GET', '/nowhere()', { service: 'table' }], ['GET', '/Tables', { service: 'table' }], ['GET', '/nowhere/f', { service: 'file' }],
    ]) {
        const [first, ...others] = await Promise.all(members.map((member) => member.ask(method, target, options).then(seen)));
        others.forEach((other) => assert.deepEqual(other, first, `${method} ${target}`));
        assert.notEqual(first[0], 421);
        assert.notEqual(first[0], 503, target);
    }
});

test('batches of a container in any cell', async (t) => {
    const { cluster, owners: [one, two, three], standby } = await newCells(t);
    await pin(cluster, 1);
    assert.equal((await one.ask('PUT', '/near?restype=container')).status, 201);
    await pin(cluster, 2);
    assert.equal((await one.ask('PUT', '/far?restype=container')).status, 201);
    for (const path of ['/far/a', '/far/b', '/far/c'])
        assert.equal((await one.ask('PUT', path, { headers: BLOCK, body: Buffer.from('x') })).status, 201);
    // Neither has met the container before; the owner of its cell is asked last.
    assert.deepEqual(await batch(standby, '/far?restype=container&comp=batch', '/far/a', '/far/none'), [202, 404]);
    assert.deepEqual(await batch(three, '/far?restype=container&comp=batch', '/far/b'), [202]);
    assert.deepEqual(await batch(two, '/far?restype=container&comp=batch', '/far/c'), [202]);
});

test('a container that is deleted, and created in another cell: front ends with an old placement find it', async (t) => {
    const { cluster, owners, standby } = await newCells(t);
    const [one, two, three] = owners, large = randomBytes(MIB);
    await pin(cluster, 2);
    for (const name of ['moves', 'stays', 'batched'])
        assert.equal((await standby.ask('PUT', `/${name}?restype=container`)).status, 201);
    await createdBy(two, 'moves');
    for (const member of [one, two, three, standby]) // all of them know where it is
        assert.equal((await member.ask('PUT', '/moves/b', { headers: BLOCK, body: Buffer.from('old') })).status, 201);
    assert.equal((await one.ask('DELETE', '/moves?restype=container')).status, 202);
    assert.equal((await one.ask('DELETE', '/batched?restype=container')).status, 202);
    assert.equal((await three.ask('GET', '/moves/b')).status, 404);
    await pin(cluster, 3);
    await delay(RELEASED_MS); // the cell has told the root, which has asked it to release the name
    assert.equal((await one.ask('PUT', '/moves?restype=container')).status, 201);
    await createdBy(three, 'moves');
    /* Bodies of any size, and none, at front ends that still take it to be in cell 2. */
    assert.equal((await standby.ask('PUT', '/moves/large', { headers: BLOCK, body: large })).status, 201);
    assert.equal((await two.ask('PUT', '/moves/small', { headers: BLOCK, body: Buffer.from('small') })).status, 201);
    /* Batches carry the old placement to their parts. */
    assert.equal((await one.ask('PUT', '/batched?restype=container')).status, 201);
    for (const member of [two, standby]) {
        assert.equal((await one.ask('PUT', '/batched/b', { headers: BLOCK, body: Buffer.from('b') })).status, 201);
        assert.deepEqual(await batch(member, '/batched?restype=container&comp=batch', '/batched/b'), [202]);
    }
    for (const member of [one, two, three, standby]) {
        assert.equal((await member.ask('GET', '/moves/b')).status, 404);
        assert.ok((await member.ask('GET', '/moves/large')).body.equals(large));
        assert.equal((await member.ask('GET', '/stays/none')).status, 404);
        assert.equal((await member.ask('HEAD', '/stays?restype=container')).status, 200);
    }
});

test('a cell that cannot be reached, and a placement without a container: nothing is lost, and it is collected', async (t) => {
    const { cluster, owners } = await newCells(t, { withStandby: false });
    const [one, two, three] = owners;
    await pin(cluster, 3);
    await three.end('SIGKILL');
    await delay(3500); // it is silent
    /* The root has the row, and the cell has no owner: the request has not created anything. */
    assert.equal((await two.ask('PUT', '/half?restype=container')).status, 503);
    assert.equal((await one.ask('PUT', '/left?restype=container')).status, 503);
    assert.equal((await one.ask('GET', '/half/b')).status, 503);
    three.restart();
    await three.until(200);
    await delay(300);
    assert.deepEqual(await one.ask('GET', '/half/b').then(({ status: code, headers }) => [code, headers.get('x-ms-error-code')]), [404, 'ContainerNotFound']);
    assert.equal((await two.ask('PUT', '/half?restype=container')).status, 201);
    await createdBy(three, 'half');
    assert.equal((await one.ask('PUT', '/half/b', { headers: BLOCK, body: Buffer.from('b') })).status, 201);
    /* The other one is collected: it may be created anywhere. */
    await pin(cluster, 1);
    await delay(RELEASED_MS);
    assert.equal((await two.ask('PUT', '/left?restype=container')).status, 201);
    await createdBy(one, 'left');
    assert.equal((await three.ask('GET', '/half/b')).body.toString(), 'b');
    /* Without the root, containers whose cell is known are served. */
    await one.end('SIGKILL');
    await delay(3500);
    assert.equal((await three.ask('GET', '/half/b')).body.toString(), 'b');
    for (const target of ['/never-heard-of?restype=container', '/?comp=list'])
        assert.equal((await three.ask('GET', target)).status, 503, target);
});

test('accounts and their keys are changed at the root, and known in every cell within a second', async (t) => {
    const { cluster, owners, members } = await newCells(t);
    const at = (cell) => ['--location', join(cluster, 'cells', `000${cell}`, 'data')];
    const keys = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64'));
    const pins = await run(['cluster', 'place', cluster, 'second', '3']);
    assert.equal(pins.code, 0, pins.errors);
    await delay(PINS_MS);
    const refused = await run(['account', 'add', 'second', ...at(2)]);
    assert.notEqual(refused.code, 0);
    assert.match(refused.errors, /cell 1/);
    const keyFile = join(cluster, 'second.key');
    await writeFile(keyFile, `${keys[0]}\n`, { mode: 0o600 });
    const added = await run(['account', 'add', 'second', '--key1-file', keyFile, ...at(1)]);
    assert.equal(added.code, 0, added.errors);
    await delay(1000);
    const serviceAt = (member, with_) => new BlobServiceClient(`http://127.0.0.1:${member.ports.blob}/second`, new StorageSharedKeyCredential('second', with_), once());
    for (const [i, member] of members.entries()) {
        const container = serviceAt(member, keys[0]).getContainerClient(`of-second-${i}`);
        await container.create(); // in cell 3
        await container.getBlockBlobClient('b').upload('b', 1);
        await createdBy(owners[2], `of-second-${i}`, 'second');
        await assert.rejects(serviceAt(member, keys[1]).getContainerClient(`of-second-${i}`).getProperties(), { statusCode: 403 });
    }
    /* What the root has told holds while it is away, for what is in other cells. */
    await owners[0].end('SIGKILL');
    assert.equal((await serviceAt(owners[2], keys[0]).getContainerClient('of-second-2').getBlobClient('b').downloadToBuffer()).toString(), 'b');
});
