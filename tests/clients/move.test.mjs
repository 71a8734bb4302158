// Containers, queues, tables and shares that are moved to another cell while clients use them at every front end, and cells that are
// drained. What is moved is the same before and after; whoever is killed, one cell has it. docs/cells.md; decision: 1070 to 1074
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as ShareCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { Member, removeCluster } from '../lib/cell_member.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const MIB = 2 ** 20;
const BLOCK = [['x-ms-blob-type', 'BlockBlob']];
const PINS_MS = 2600; // the root reads pins every two seconds
const CANCELLED_MS = 40_000; // what was prepared and not sealed is given up after thirty seconds
const { account, key } = DEVELOPMENT;

async function newCells(t, cells) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-move-'));
    const cluster = join(folder, 'shared');
    t.after(() => removeCluster(folder));
    const { code, errors } = await run(['cluster', 'init', cluster, '--cells', `${cells}`]);
    assert.equal(code, 0, errors);
    const owners = await Promise.all(Array.from({ length: cells }, (_, i) => Member.start(cluster, { args: ['--cell', `${i + 1}`] })));
    t.after(() => Promise.all(owners.map((owner) => owner.end('SIGKILL'))));
    await Promise.all(owners.map((owner) => owner.until(200)));
    await Promise.all(owners.map((owner) => owner.until(200, '/-/ready')));
    await delay(300); // all of them know the owners of all cells
    return { cluster, owners };
}

async function pin(cluster, cell) {
    const { code, errors } = await run(['cluster', 'place', cluster, account, `${cell}`]);
    assert.equal(code, 0, errors);
    await delay(PINS_MS);
}

const start = (cluster, kind, name, cell, ...more) => run(['cluster', 'move', cluster, account, kind, name, `${cell}`, ...more]);
async function move(cluster, kind, name, cell) {
    const { code, errors, output } = await start(cluster, kind, name, cell);
    assert.equal(code, 0, errors);
    assert.match(output, new RegExp(`in cell 000${cell}`));
}

/** Names of everything in a cell, as its own owner shows them to operators. */
async function inCell(cluster, cell, kind = 'container') {
    const { code, output, errors } = await run([kind, 'list', '--json', '--account', account, '--location', join(cluster, 'cells', `000${cell}`, 'data')]);
    assert.equal(code, 0, errors);
    return JSON.parse(output).items.map(({ name }) => name);
}

const urlOf = (member, service) => `http://127.0.0.1:${member.ports[service]}/${account}`;
const once = { retryOptions: { maxTries: 1 } };
const patient = { retryOptions: { maxTries: 20, retryDelayInMs: 50, maxRetryDelayInMs: 200 } };
const blobAt = (member, options = once) => new BlobServiceClient(urlOf(member, 'blob'), new StorageSharedKeyCredential(account, key), options);
const queueAt = (member) => new QueueServiceClient(urlOf(member, 'queue'), new QueueCredential(account, key), once);
const tableAt = (member, name) => new TableClient(urlOf(member, 'table'), name, new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } });
const shareAt = (member) => new ShareServiceClient(urlOf(member, 'file'), new ShareCredential(account, key), once);

const NOT_COMPARED = ['date', 'x-ms-request-id', 'x-ms-client-request-id', 'connection', 'retry-after'];
/** Status, headers and body of responses to these requests, which a move must not change. */
async function seen(member, requests) {
    const all = [];
    for (const [service, method, target, headers = []] of requests) {
        const answer = await member.ask(method, target, { service, headers });
        all.push([method, target, answer.status, answer.headers.list.filter(([name]) => !NOT_COMPARED.includes(name.toLowerCase())), answer.body.toString('latin1').replaceAll(/http:\/\/[^/]+/g, '')]);
    }
    return all;
}

test('a container: blobs, snapshots, leases, uncommitted blocks, tags and policies, ETags and times', async (t) => {
    const { cluster, owners: [one, two, three] } = await newCells(t, 3);
    await pin(cluster, 2);
    const container = blobAt(one).getContainerClient('full');
    await container.create({ metadata: { of: 'container' } });
    await container.setAccessPolicy(undefined, [{ id: 'policy', accessPolicy: { permissions: 'r', startsOn: new Date('2026-01-01'), expiresOn: new Date('2036-01-01') } }]);
    const large = container.getBlockBlobClient('large'), bytes = randomBytes(9 * MIB);
    await large.uploadData(bytes, { blockSize: 4 * MIB, maxSingleShotSize: MIB, tags: { a: 'b' }, metadata: { x: 'y' } });
    const { snapshot } = await large.createSnapshot();
    await large.stageBlock(Buffer.from('1').toString('base64'), 'uncommitted', 11);
    await container.getAppendBlobClient('append').create();
    await container.getAppendBlobClient('append').appendBlock('one', 3);
    await container.getPageBlobClient('pages').create(MIB);
    await container.getPageBlobClient('pages').uploadPages(randomBytes(4096), 8192, 4096);
    await container.getBlockBlobClient('leased').upload('leased', 6);
    const lease = container.getBlobClient('leased').getBlobLeaseClient();
    await lease.acquireLease(-1);
    const ofContainer = container.getBlobLeaseClient();
    await ofContainer.acquireLease(60);
    for (let i = 0; i < 50; i++)
        await container.getBlockBlobClient(`small-${String(i).padStart(3, '0')}`).upload(`${i}`, `${i}`.length);
    const requests = [
        ['blob', 'GET', '/full?restype=container'], ['blob', 'GET', '/full?restype=container&comp=acl'],
        ['blob', 'GET', '/full?restype=container&comp=list&include=snapshots,metadata,tags,uncommittedblobs'],
        ['blob', 'GET', '/full/large'], ['blob', 'GET', `/full/large?snapshot=${encodeURIComponent(snapshot)}`], ['blob', 'GET', '/full/large?comp=blocklist&blocklisttype=all'],
        ['blob', 'GET', '/full/large?comp=tags'], ['blob', 'GET', '/full/pages'], ['blob', 'GET', '/full/pages?comp=pagelist'], ['blob', 'GET', '/full/append'],
        ['blob', 'HEAD', '/full/leased'], ['blob', 'GET', '/?comp=blobs&where=a%3D%27b%27'], ['blob', 'GET', '/?comp=list&include=metadata'],
    ];
    const before = await seen(one, requests);
    for (const cell of [3, 1, 2]) { // to another cell, to the root, and back to where it was
        await move(cluster, 'container', 'full', cell);
        for (const member of [one, two, three])
            assert.deepEqual(await seen(member, requests), before);
        for (const other of [1, 2, 3])
            assert.deepEqual(await inCell(cluster, other), other === cell ? ['full'] : []);
    }
    // The leases hold under their ids, and everything can be changed where it is now.
    await assert.rejects(blobAt(three).getContainerClient('full').getBlockBlobClient('leased').upload('x', 1), { statusCode: 412 });
    await blobAt(three).getContainerClient('full').getBlockBlobClient('leased').upload('x', 1, { conditions: { leaseId: lease.leaseId } });
    await lease.renewLease();
    await ofContainer.renewLease();
    await large.commitBlockList([Buffer.from('1').toString('base64')]);
    assert.equal((await large.downloadToBuffer()).toString(), 'uncommitted');
    await blobAt(two).getContainerClient('full').getAppendBlobClient('append').appendBlock('two', 3);
    assert.equal((await container.getBlobClient('append').downloadToBuffer()).toString(), 'onetwo');
    await ofContainer.releaseLease();
    assert.equal((await start(cluster, 'container', 'full', 2)).code, 0); // it is there already
    await container.delete();
    assert.equal((await one.ask('GET', '/full?restype=container')).status, 404);
    const gone = await start(cluster, 'container', 'nowhere', 3);
    assert.notEqual(gone.code, 0);
    assert.match(gone.errors, /does not exist/);
});

test('a queue, a table and a share: receipts, visibility, ETags, snapshots and permissions', async (t) => {
    const { cluster, owners: [one, two] } = await newCells(t, 2);
    await pin(cluster, 1);
    const queue = queueAt(one).getQueueClient('messages');
    await queue.create({ metadata: { of: 'queue' } });
    for (let i = 0; i < 40; i++)
        await queue.sendMessage(`message ${i}`);
    const { receivedMessageItems: [first, second] } = await queue.receiveMessages({ numberOfMessages: 2, visibilityTimeout: 300 });
    const table = tableAt(one, 'Entities');
    await table.createTable();
    for (let i = 0; i < 20; i++)
        await table.createEntity({ partitionKey: `p${i % 3}`, rowKey: `${i}`, n: i, when: new Date(1e12 + i) });
    const share = shareAt(one).getShareClient('files');
    await share.create({ quota: 7 });
    const directory = share.getDirectoryClient('d');
    await directory.create();
    const file = directory.getFileClient('f'), bytes = randomBytes(5 * MIB);
    await file.uploadData(bytes);
    await share.createSnapshot();
    await file.uploadRange(randomBytes(512), 0, 512);
    const requests = [
        ['queue', 'GET', '/messages?comp=metadata'], ['queue', 'GET', '/messages/messages?peekonly=true&numofmessages=32'],
        ['table', 'GET', '/Entities()', [['Accept', 'application/json;odata=fullmetadata']]], ['table', 'GET', '/Tables', [['Accept', 'application/json;odata=nometadata']]],
        ['file', 'GET', '/files?restype=share'], ['file', 'GET', '/?comp=list&include=snapshots'], ['file', 'GET', '/files/d?restype=directory&comp=list'],
        ['file', 'GET', '/files/d/f'], ['file', 'GET', '/files/d/f?comp=rangelist'], ['file', 'HEAD', '/files/d?restype=directory'],
    ];
    const before = await seen(one, requests);
    for (const cell of [2, 1, 2]) {
        await move(cluster, 'queue', 'messages', cell);
        await move(cluster, 'table', 'entities', cell);
        await move(cluster, 'share', 'files', cell);
        for (const member of [one, two])
            assert.deepEqual(await seen(member, requests), before);
    }
    await queueAt(two).getQueueClient('messages').deleteMessage(first.messageId, first.popReceipt);
    const updated = await queue.updateMessage(second.messageId, second.popReceipt, 'changed', 0);
    assert.ok(updated.popReceipt);
    const texts = [];
    for (let more = true; more;) {
        const { receivedMessageItems } = await queueAt(two).getQueueClient('messages').receiveMessages({ numberOfMessages: 32 });
        texts.push(...receivedMessageItems.map(({ messageText }) => messageText));
        more = receivedMessageItems.length > 0;
    }
    assert.equal(texts.length, 39);
    assert.equal(new Set(texts).size, 39);
    const entity = await tableAt(two, 'Entities').getEntity('p1', '1');
    await tableAt(one, 'Entities').updateEntity({ ...entity, n: 100 }, 'Replace', { etag: entity.etag });
    await assert.rejects(tableAt(two, 'Entities').updateEntity({ ...entity, n: 101 }, 'Replace', { etag: entity.etag }), { statusCode: 412 });
    await shareAt(two).getShareClient('files').getDirectoryClient('d').getFileClient('g').uploadData(bytes.subarray(0, 1000));
    assert.equal((await file.downloadToBuffer()).length, bytes.length);
});

/** Clients that write numbers under names of their own until they are stopped: what each name was last acknowledged to have. */
function writers(members, count, container) {
    const state = { ends: false, acknowledged: new Map(), busy: 0, longest: 0, stale: [] };
    const one = async (id) => {
        let last = performance.now();
        for (let n = 1; !state.ends; n++) {
            const member = members[(id + n) % members.length], name = `w${id}-${n % 5}`;
            const before = state.acknowledged.get(name) ?? 0;
            const answer = await member.ask('PUT', `/${container}/${name}`, { headers: BLOCK, body: Buffer.from(`${n}`) }).catch(() => ({ status: 0 }));
            if (answer.status === 201) {
                state.acknowledged.set(name, n);
                state.longest = Math.max(state.longest, performance.now() - last);
                last = performance.now();
            } else {
                state.busy++;
                assert.ok(answer.status === 503 || answer.status === 0, `${answer.status}`);
            }
            const read = await members[(id + n + 1) % members.length].ask('GET', `/${container}/${name}`).catch(() => ({ status: 0 }));
            if (read.status === 200 ? Number(read.body.toString()) < Math.max(before, answer.status === 201 ? n : 0) : read.status !== 0 && read.status !== 503 && (read.status !== 404 || before > 0))
                state.stale.push([name, before, n, read.status, read.body.toString()]);
        }
    };
    state.done = Promise.all(Array.from({ length: count }, (_, id) => one(id)));
    return state;
}

async function endOf(state, member, container) {
    state.ends = true;
    await state.done;
    assert.deepEqual(state.stale, []);
    for (const [name, n] of state.acknowledged) {
        const answer = await member.ask('GET', `/${container}/${name}`);
        assert.equal(answer.status, 200, name);
        assert.ok(Number(answer.body.toString()) >= n, `${name}: ${answer.body} after ${n}`);
    }
}

test('moved again and again under writers and readers at every front end: nothing is lost, no read is stale, lists have it', async (t) => {
    const { cluster, owners } = await newCells(t, 3);
    assert.equal((await owners[0].ask('PUT', '/busy?restype=container')).status, 201);
    assert.equal((await owners[0].ask('PUT', '/aside?restype=container')).status, 201);
    for (let i = 0; i < 100; i++)
        assert.equal((await owners[i % 3].ask('PUT', `/busy/filling${i}`, { headers: BLOCK, body: randomBytes(100_000) })).status, 201);
    const state = writers(owners, 6, 'busy');
    let lists = 0;
    const lister = (async () => {
        while (!state.ends) {
            const answer = await owners[lists++ % 3].ask('GET', '/?comp=list');
            assert.ok(answer.status === 503 || /<Name>aside<\/Name>.*<Name>busy<\/Name>/.test(answer.body.toString()), answer.body.toString());
        }
    })();
    for (const cell of [2, 3, 1, 3, 2, 1]) {
        await move(cluster, 'container', 'busy', cell);
        await delay(200);
    }
    await endOf(state, owners[1], 'busy');
    await lister;
    t.diagnostic(`${state.acknowledged.size} names, ${state.busy} requests failed with 503, the longest time without a write ${Math.round(state.longest)} ms, ${lists} lists`);
});

/* The thread of the source stops at a gate, and one of the three processes is killed there. */
for (const [gate, what] of [['begun', 'before the copy'], ['step', 'after the copy'], ['stepped', 'prepared, not sealed'], ['ended', 'sealed']])
    for (const [index, who] of ['the root', 'the source', 'the destination'].entries())
        test(`kill -9 of ${who}, ${what}: one cell has it, and the move is completed by another command`, async (t) => {
            const { cluster, owners } = await newCells(t, 3);
            await pin(cluster, 2);
            assert.equal((await owners[0].ask('PUT', '/killed?restype=container')).status, 201);
            for (let i = 0; i < 10; i++)
                assert.equal((await owners[0].ask('PUT', `/killed/${i}`, { headers: BLOCK, body: Buffer.alloc(50_000, `${i}`) })).status, 201);
            await owners[1].control(`job/${gate}`);
            const command = start(cluster, 'container', 'killed', 3);
            const jobs = async () => Number((await owners[1].ask('GET', `/$lagra/job/${gate}`, { raw: true })).body.toString());
            for (let i = 0; await jobs() === 0; i++, await delay(20))
                assert.ok(i < 500, 'the move does not get there');
            await owners[index].end('SIGKILL');
            if (index !== 1)
                await owners[1].control('job/nowhere');
            owners[index].restart();
            await owners[index].until(200);
            const { code, errors } = await command;
            t.diagnostic(`${code} ${errors}`);
            if (code !== 0) {
                await delay(CANCELLED_MS);
                await move(cluster, 'container', 'killed', 3);
            }
            assert.deepEqual(await Promise.all([1, 2, 3].map((cell) => inCell(cluster, cell))), [[], [], ['killed']]);
            for (const owner of owners)
                for (let i = 0; i < 10; i++) {
                    const answer = await owner.ask('GET', `/killed/${i}`);
                    assert.equal(answer.status, 200);
                    assert.ok(answer.body.equals(Buffer.alloc(50_000, `${i}`)));
                }
            assert.equal((await owners[0].ask('PUT', '/killed/new', { headers: BLOCK, body: Buffer.from('new') })).status, 201);
            assert.equal((await owners[2].ask('GET', '/killed/new')).body.toString(), 'new');
        });

test('a container that is deleted meanwhile, and one whose metadata changes; a move that is cancelled; a destination without owner', async (t) => {
    const { cluster, owners: [one, two, three] } = await newCells(t, 3);
    await pin(cluster, 2);
    for (const name of ['deleted', 'changed', 'cancelled', 'stays'])
        assert.equal((await one.ask('PUT', `/${name}?restype=container`)).status, 201);
    const at = async (gate) => {
        for (let i = 0; Number((await two.ask('GET', `/$lagra/job/${gate}`, { raw: true })).body.toString()) === 0; i++, await delay(20))
            assert.ok(i < 500, 'the move does not get there');
    };
    await two.control('job/stepped');
    let command = start(cluster, 'container', 'deleted', 3);
    await at('stepped');
    assert.equal((await one.ask('PUT', '/deleted/b', { headers: BLOCK, body: Buffer.from('x') })).status, 503); // it is held
    assert.equal((await one.ask('GET', '/deleted?restype=container')).status, 200);
    assert.equal((await three.ask('DELETE', '/deleted?restype=container')).status, 202);
    await two.control('job/nowhere');
    const gone = await command;
    assert.notEqual(gone.code, 0);
    assert.match(gone.errors, /does not exist any more/);
    assert.equal((await three.ask('GET', '/deleted?restype=container')).status, 404);

    await two.control('job/stepped');
    command = start(cluster, 'container', 'changed', 3);
    await at('stepped');
    assert.equal((await one.ask('PUT', '/changed?restype=container&comp=metadata', { headers: [['x-ms-meta-a', 'b']] })).status, 200);
    await two.control('job/nowhere');
    assert.equal((await command).code, 0);
    assert.equal((await one.ask('GET', '/changed?restype=container')).headers.get('x-ms-meta-a'), 'b');

    await two.control('job/stepped');
    command = start(cluster, 'container', 'cancelled', 3);
    await at('stepped');
    const { code, errors } = await start(cluster, 'container', 'cancelled', 3, '--cancel');
    assert.equal(code, 0, errors);
    await two.control('job/nowhere');
    assert.notEqual((await command).code, 0);
    assert.equal((await three.ask('PUT', '/cancelled/b', { headers: BLOCK, body: Buffer.from('x') })).status, 201);
    assert.deepEqual(await inCell(cluster, 2), ['cancelled', 'stays']);
    assert.deepEqual(await inCell(cluster, 3), ['changed']);

    await three.end();
    const refused = await start(cluster, 'container', 'stays', 3);
    assert.notEqual(refused.code, 0);
    assert.match(refused.errors, /destination cannot be reached/);
    assert.equal((await one.ask('PUT', '/stays/b', { headers: BLOCK, body: Buffer.from('x') })).status, 201);
});

test('drain: everything in a cell goes to the others, and nothing new is created there', async (t) => {
    const { cluster, owners: [one, two, three] } = await newCells(t, 3);
    await pin(cluster, 3);
    for (let i = 0; i < 4; i++) {
        assert.equal((await one.ask('PUT', `/drain${i}?restype=container`)).status, 201);
        assert.equal((await two.ask('PUT', `/drain${i}/b`, { headers: BLOCK, body: Buffer.from(`${i}`) })).status, 201);
    }
    await queueAt(one).getQueueClient('drain').create();
    await tableAt(one, 'Drain').createTable();
    await shareAt(one).getShareClient('drain').create();
    const { code, errors, output } = await run(['cluster', 'drain', cluster, '3']);
    assert.equal(code, 0, errors);
    assert.match(output, /7 moved/);
    assert.deepEqual(await inCell(cluster, 3), []);
    for (let i = 0; i < 4; i++)
        assert.equal((await three.ask('GET', `/drain${i}/b`)).body.toString(), `${i}`);
    assert.equal((await queueAt(three).getQueueClient('drain').getProperties()).approximateMessagesCount, 0);
    assert.equal((await one.ask('PUT', '/later?restype=container')).status, 201); // the account is pinned to the drained cell
    assert.deepEqual(await inCell(cluster, 3), []);
    const cells = JSON.parse((await run(['cluster', 'status', cluster, '--json'])).output).cells;
    assert.deepEqual(cells.map(({ drained }) => drained), [false, false, true]);
    assert.notEqual((await run(['cluster', 'drain', cluster, '1'])).code, 0);
    assert.equal((await run(['cluster', 'drain', cluster, '3', '--undo'])).code, 0);
    await delay(PINS_MS);
    assert.equal((await one.ask('PUT', '/again?restype=container')).status, 201);
    assert.deepEqual(await inCell(cluster, 3), ['again']);
});
