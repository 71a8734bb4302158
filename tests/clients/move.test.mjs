// Containers, queues, tables and shares that are moved to another cell while clients use them at every front end, and cells that are
// drained. What is moved is the same before and after; whoever is killed, one cell has it. docs/cells.md; decision: 1070 to 1074
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as ShareCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { startCells } from '../lib/cells.mjs';
import { namesIn } from '../lib/peer_request.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const MIB = 2 ** 20;
const BLOCK = [['x-ms-blob-type', 'BlockBlob']];
const { account, key } = DEVELOPMENT;

/* One cluster for all tests, whose new containers are created in cell 2. Tests use names of their own. */
let cluster, owners, place;
const endings = [];
before(async () => {
    ({ cluster, owners, place } = await startCells({ after: (end) => endings.push(end) }, { cells: 3 }));
    await place(2);
});
after(async () => {
    for (const end of endings.reverse())
        await end();
});

const start = (kind, name, cell, ...more) => run(['cluster', 'move', cluster, account, kind, name, `${cell}`, ...more]);
async function move(kind, name, cell) {
    const { code, errors, output } = await start(kind, name, cell);
    assert.equal(code, 0, errors);
    assert.match(output, new RegExp(`in cell 000${cell}`));
}

const SERVICES = { container: 'blob', queue: 'queue', table: 'table', share: 'file' };

/** The cells that have it, as their owners list it. */
async function cellsOf(name, kind = 'container') {
    const lists = await Promise.all(owners.map((_, i) => namesIn(cluster, i + 1)));
    return lists.flatMap((names, i) => names.some((at) => at.service === SERVICES[kind] && at.account === account && at.name === name) ? [i + 1] : []);
}
const created = async (name) => assert.equal((await owners[0].ask('PUT', `/${name}?restype=container`)).status, 201);
const deleted = async (name) => assert.equal((await owners[0].ask('DELETE', `/${name}?restype=container`)).status, 202);
const put = (member, path, text) => member.ask('PUT', path, { headers: BLOCK, body: Buffer.from(text) });

/** Has the thread of the source stop at this gate of a move. */
const stopAt = (source, gate) => source.control(`job/${gate}`);
async function isAt(source, gate) {
    for (let i = 0; Number((await source.ask('GET', `/$lagra/job/${gate}`, { raw: true })).body.toString()) === 0; i++, await delay(20))
        assert.ok(i < 500, 'the move does not get there');
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
        all.push([method, target, answer.status, answer.headers.list.filter(([name]) => !NOT_COMPARED.includes(name.toLowerCase())), answer.body.toString('latin1').replaceAll(/http:\/\/[^/]+/g, '').replace(/RequestId:[^<]*/, '')]);
    }
    return all;
}

test('a container: blobs, snapshots, leases, uncommitted blocks, tags and policies, ETags and times', async () => {
    const [one, two, three] = owners;
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
        await move('container', 'full', cell);
        for (const member of [one, two, three])
            assert.deepEqual(await seen(member, requests), before);
        assert.deepEqual(await cellsOf('full'), [cell]);
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
    assert.equal((await start('container', 'full', 2)).code, 0); // it is there already
    await container.delete();
    assert.equal((await one.ask('GET', '/full?restype=container')).status, 404);
    const gone = await start('container', 'nowhere', 3);
    assert.notEqual(gone.code, 0);
    assert.match(gone.errors, /does not exist/);
});

test('a queue, a table and a share: receipts, visibility, ETags, snapshots and permissions', async () => {
    const [one, two] = owners;
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
    for (const cell of [3, 1, 2]) {
        await move('queue', 'messages', cell);
        await move('table', 'entities', cell);
        await move('share', 'files', cell);
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
    await Promise.all([queue.delete(), table.deleteTable(), share.delete({ deleteSnapshots: 'include' })]);
});

test('what changes while it is copied: everything written, overwritten and deleted until it is held is so in the other cell', async () => {
    const [one, two, three] = owners;
    const container = blobAt(one).getContainerClient('caught'), at = blobAt(three).getContainerClient('caught');
    await container.create();
    const names = ['over', 'gone', 'tagged', 'untagged', 'described', 'listed', 'leased', 'large'];
    for (const name of names)
        await container.getBlockBlobClient(name).upload('before', 6, { tags: { state: 'before' } });
    await container.getAppendBlobClient('append').create();
    await container.getAppendBlobClient('append').appendBlock('one', 3);
    const pages = container.getPageBlobClient('pages');
    await pages.create(MIB);
    await pages.uploadPages(randomBytes(256 * 1024), 0, 256 * 1024);
    const { snapshot: old } = await pages.createSnapshot();
    await stopAt(two, 'step');
    const command = start('container', 'caught', 3);
    await isAt(two, 'step');
    await container.getBlockBlobClient('over').upload('after', 5, { metadata: { is: 'after' } });
    await container.getBlockBlobClient('new').upload('new', 3, { tags: { state: 'after' } });
    await container.getBlockBlobClient('gone').delete();
    await container.getBlockBlobClient('tagged').setTags({ state: 'after' });
    await container.getBlockBlobClient('untagged').setTags({});
    await container.getBlockBlobClient('described').setMetadata({ is: 'after' });
    await container.getBlockBlobClient('listed').stageBlock(Buffer.from('1').toString('base64'), 'a block', 7);
    await container.getBlockBlobClient('listed').commitBlockList([Buffer.from('1').toString('base64')]);
    await container.getBlockBlobClient('listed').stageBlock(Buffer.from('2').toString('base64'), 'uncommitted', 11);
    await container.getBlockBlobClient('large').uploadData(randomBytes(9 * MIB), { blockSize: 4 * MIB, maxSingleShotSize: MIB });
    const lease = container.getBlobClient('leased').getBlobLeaseClient();
    await lease.acquireLease(-1);
    await container.getAppendBlobClient('append').appendBlock('two', 3);
    await pages.uploadPages(randomBytes(4096), 8192, 4096);
    await pages.clearPages(65536, 65536);
    await pages.resize(2 * MIB);
    const { snapshot } = await pages.createSnapshot();
    await pages.withSnapshot(old).delete();
    const requests = [
        ['blob', 'GET', '/caught?restype=container&comp=list&include=snapshots,metadata,tags,uncommittedblobs'],
        ...[...names, 'new', 'append', 'pages'].map((name) => ['blob', 'GET', `/caught/${name}`]), ['blob', 'GET', '/caught/pages?comp=pagelist'],
        ['blob', 'GET', `/caught/pages?comp=pagelist&snapshot=${encodeURIComponent(snapshot)}`], ['blob', 'GET', '/caught/listed?comp=blocklist&blocklisttype=all'],
        ['blob', 'GET', '/?comp=blobs&where=state%3D%27before%27'], ['blob', 'GET', '/?comp=blobs&where=state%3D%27after%27'],
    ];
    const before = await seen(one, requests);
    await stopAt(two, 'nowhere');
    assert.equal((await command).code, 0);
    assert.deepEqual(await cellsOf('caught'), [3]);
    for (const member of owners)
        assert.deepEqual(await seen(member, requests), before);
    await assert.rejects(at.getBlockBlobClient('leased').upload('x', 1), { statusCode: 412 });
    await container.delete();
});

test('what changes while it is copied: messages, entities and files', async () => {
    const [one, two] = owners;
    const queue = queueAt(one).getQueueClient('caught'), table = tableAt(one, 'Caught'), share = shareAt(one).getShareClient('caught');
    const messages = [];
    await Promise.all([queue.create(), table.createTable(), share.create()]);
    for (let i = 0; i < 6; i++)
        messages.push(await queue.sendMessage(`message ${i}`));
    for (let i = 0; i < 6; i++)
        await table.createEntity({ partitionKey: 'p', rowKey: `${i}`, n: i });
    const directory = share.getDirectoryClient('d');
    await directory.create();
    for (const name of ['over', 'gone', 'renamed'])
        await directory.getFileClient(name).uploadData(Buffer.from('before'));

    await stopAt(two, 'step');
    let command = start('queue', 'caught', 3);
    await isAt(two, 'step');
    await queue.deleteMessage(messages[0].messageId, messages[0].popReceipt);
    await queue.updateMessage(messages[1].messageId, messages[1].popReceipt, 'changed', 0);
    await queue.sendMessage('new');
    await stopAt(two, 'nowhere');
    assert.equal((await command).code, 0);
    const { peekedMessageItems } = await queueAt(two).getQueueClient('caught').peekMessages({ numberOfMessages: 32 });
    assert.deepEqual(peekedMessageItems.map(({ messageText }) => messageText).sort(), ['changed', 'message 2', 'message 3', 'message 4', 'message 5', 'new']);
    assert.equal((await queue.getProperties()).approximateMessagesCount, 6);

    await stopAt(two, 'step');
    command = start('table', 'caught', 3);
    await isAt(two, 'step');
    await table.deleteEntity('p', '0');
    await table.updateEntity({ partitionKey: 'p', rowKey: '1', n: 'changed' }, 'Replace');
    await table.createEntity({ partitionKey: 'q', rowKey: 'new', n: 'new' });
    const entities = await seen(one, [['table', 'GET', '/Caught()', [['Accept', 'application/json;odata=fullmetadata']]]]);
    await stopAt(two, 'nowhere');
    assert.equal((await command).code, 0);
    assert.deepEqual(await seen(two, [['table', 'GET', '/Caught()', [['Accept', 'application/json;odata=fullmetadata']]]]), entities);

    await stopAt(two, 'step');
    command = start('share', 'caught', 3);
    await isAt(two, 'step');
    await directory.getFileClient('over').uploadData(Buffer.from('after it was copied'));
    await directory.getFileClient('gone').delete();
    await directory.getFileClient('renamed').rename('d/elsewhere');
    await share.getDirectoryClient('new').create();
    const requests = [
        ['file', 'GET', '/caught/d?restype=directory&comp=list'], ['file', 'GET', '/caught/?restype=directory&comp=list'], ['file', 'GET', '/caught/d/over'],
        ['file', 'GET', '/caught/d/gone'], ['file', 'GET', '/caught/d/renamed'], ['file', 'GET', '/caught/d/elsewhere'], ['file', 'GET', '/caught?restype=share&comp=stats'],
    ];
    const files = await seen(one, requests);
    await stopAt(two, 'nowhere');
    assert.equal((await command).code, 0);
    for (const member of owners)
        assert.deepEqual(await seen(member, requests), files);
    assert.deepEqual([await cellsOf('caught', 'queue'), await cellsOf('Caught', 'table'), await cellsOf('caught', 'share')], [[3], [3], [3]]);
    await Promise.all([queue.delete(), table.deleteTable(), share.delete()]);
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
    await created('busy');
    await created('aside');
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
        await move('container', 'busy', cell);
        await delay(200);
    }
    await endOf(state, owners[1], 'busy');
    await lister;
    await Promise.all(['busy', 'aside'].map(deleted));
    t.diagnostic(`${state.acknowledged.size} names, ${state.busy} requests failed with 503, the longest time without a write ${Math.round(state.longest)} ms, ${lists} lists`);
});

/* The thread of the source stops at a gate, and one of the three processes is killed there. */
for (const [gate, what] of [['begun', 'before the copy'], ['step', 'after the copy'], ['stepped', 'prepared, not sealed'], ['ended', 'sealed']])
    for (const [index, who] of ['the root', 'the source', 'the destination'].entries())
        test(`kill -9 of ${who}, ${what}: one cell has it, and the move is completed at once, by this command or another`, async (t) => {
            const name = `killed-${gate}-${index}`;
            await created(name);
            for (let i = 0; i < 10; i++)
                assert.equal((await put(owners[0], `/${name}/${i}`, `${i}`.repeat(50_000))).status, 201);
            await stopAt(owners[1], gate);
            const command = start('container', name, 3);
            await isAt(owners[1], gate);
            await owners[index].end('SIGKILL');
            if (index !== 1)
                await stopAt(owners[1], 'nowhere');
            owners[index].restart();
            await owners[index].until(200);
            const { code, errors } = await command;
            t.diagnostic(`${code} ${errors}`);
            if (code !== 0)
                await move('container', name, 3);
            assert.deepEqual(await cellsOf(name), [3]);
            for (const owner of owners)
                for (let i = 0; i < 10; i++) {
                    const answer = await owner.ask('GET', `/${name}/${i}`);
                    assert.equal(answer.status, 200);
                    assert.equal(answer.body.toString(), `${i}`.repeat(50_000));
                }
            assert.equal((await put(owners[0], `/${name}/new`, 'new')).status, 201);
            assert.equal((await owners[2].ask('GET', `/${name}/new`)).body.toString(), 'new');
            await deleted(name);
        });

test('a container that is deleted meanwhile, and one whose metadata changes; a move that is cancelled; a destination without owner', async () => {
    const [one, two, three] = owners;
    for (const name of ['deleted', 'changed', 'cancelled', 'stays'])
        await created(name);
    await stopAt(two, 'stepped');
    let command = start('container', 'deleted', 3);
    await isAt(two, 'stepped');
    assert.equal((await put(one, '/deleted/b', 'x')).status, 503); // it is held
    assert.equal((await one.ask('GET', '/deleted?restype=container')).status, 200);
    assert.equal((await three.ask('DELETE', '/deleted?restype=container')).status, 202);
    await stopAt(two, 'nowhere');
    const gone = await command;
    assert.notEqual(gone.code, 0);
    assert.match(gone.errors, /no longer exists/);
    assert.equal((await three.ask('GET', '/deleted?restype=container')).status, 404);

    await stopAt(two, 'stepped');
    command = start('container', 'changed', 3);
    await isAt(two, 'stepped');
    assert.equal((await one.ask('PUT', '/changed?restype=container&comp=metadata', { headers: [['x-ms-meta-a', 'b']] })).status, 200);
    await stopAt(two, 'nowhere');
    assert.equal((await command).code, 0);
    assert.equal((await one.ask('GET', '/changed?restype=container')).headers.get('x-ms-meta-a'), 'b');

    await stopAt(two, 'stepped');
    command = start('container', 'cancelled', 3);
    await isAt(two, 'stepped');
    const { code, errors } = await start('container', 'cancelled', 3, '--cancel');
    assert.equal(code, 0, errors);
    await stopAt(two, 'nowhere');
    assert.notEqual((await command).code, 0);
    assert.equal((await put(three, '/cancelled/b', 'x')).status, 201);
    assert.deepEqual(await cellsOf('cancelled'), [2]);
    assert.deepEqual(await cellsOf('changed'), [3]);
    await deleted('changed');

    await three.end();
    const refused = await start('container', 'stays', 3);
    assert.notEqual(refused.code, 0);
    assert.match(refused.errors, /destination cannot be reached/);
    assert.equal((await put(one, '/stays/b', 'x')).status, 201);
    three.restart();
    await three.until(200);
});

test('drain: everything in a cell goes to the others, and nothing new is created there', async () => {
    const [one, two, three] = owners;
    await place(3);
    for (let i = 0; i < 4; i++) {
        await created(`drain${i}`);
        assert.equal((await put(two, `/drain${i}/b`, `${i}`)).status, 201);
    }
    await queueAt(one).getQueueClient('drain').create();
    await tableAt(one, 'Drain').createTable();
    await shareAt(one).getShareClient('drain').create();
    const { code, errors, output } = await run(['cluster', 'drain', cluster, '3']);
    assert.equal(code, 0, errors);
    assert.match(output, /7 moved/);
    for (let i = 0; i < 4; i++)
        assert.equal((await three.ask('GET', `/drain${i}/b`)).body.toString(), `${i}`);
    assert.equal((await queueAt(three).getQueueClient('drain').getProperties()).approximateMessagesCount, 0);
    await created('later'); // the account is pinned to the drained cell
    for (const name of ['drain0', 'drain1', 'drain2', 'drain3', 'later'])
        assert.equal((await cellsOf(name)).includes(3), false, name);
    const cells = JSON.parse((await run(['cluster', 'status', cluster, '--json'])).output).cells;
    assert.deepEqual(cells.map(({ drained }) => drained), [false, false, true]);
    assert.notEqual((await run(['cluster', 'drain', cluster, '1'])).code, 0);
    assert.equal((await run(['cluster', 'drain', cluster, '3', '--undo'])).code, 0);
    await place(3);
    await created('again');
    assert.deepEqual(await cellsOf('again'), [3]);
});
