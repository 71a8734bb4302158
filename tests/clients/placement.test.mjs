// Several cells behind one address: containers, queues, tables and shares are in a cell each, and any front end takes any
// request. docs/cells.md; decision: 992 to 1000
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as ShareCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { Member } from '../lib/cell_member.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const MIB = 2 ** 20;
const BLOCK = [['x-ms-blob-type', 'BlockBlob']];
const PINS_MS = 2600; // the root reads pins every two seconds
const { account, key } = DEVELOPMENT;

/** A front end for each cell, and one that stands by. */
async function newCells(t, cells = 3, env = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-placement-'));
    const cluster = join(folder, 'shared');
    t.after(() => rm(folder, { recursive: true, force: true }));
    const { code, errors } = await run(['cluster', 'init', cluster, '--cells', `${cells}`]);
    assert.equal(code, 0, errors);
    const start = async (args) => {
        const member = await Member.start(cluster, { args, env });
        t.after(() => member.end('SIGKILL'));
        return member;
    };
    const owners = await Promise.all(Array.from({ length: cells }, (_, i) => start(['--cell', `${i + 1}`])));
    await Promise.all(owners.map((owner) => owner.until(200)));
    const standby = await start([]);
    const members = [...owners, standby];
    await Promise.all(members.map((member) => member.until(200, '/-/ready')));
    await delay(300); // all of them know the owners of all cells
    return { cluster, owners, standby, members, start };
}

async function pin(cluster, cell) {
    const { code, errors } = await run(['cluster', 'place', cluster, account, `${cell}`]);
    assert.equal(code, 0, errors);
    await delay(PINS_MS);
}

/** In which cells the name is, as their stores have it: by what each owner executes itself. */
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
