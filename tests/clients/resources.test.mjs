// `lagra container|queue|table|share create|list|delete`: by the same way as requests, seen by the SDKs. docs/admin.md
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TableClient, TableServiceClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { ShareServiceClient } from '@azure/storage-file-share';
import { QueueServiceClient } from '@azure/storage-queue';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';

async function start(t) {
    const server = await Server.start();
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

async function asked(server, ...words) {
    const { code, output, errors } = await run([...words, '--location', server.location]);
    assert.equal(code, 0, errors);
    return output;
}

async function refusal(server, ...words) {
    const { code, output, errors } = await run([...words, '--location', server.location]);
    assert.deepEqual([code, output], [1, ''], errors);
    return errors;
}

async function names(iterable) {
    const found = [];
    for await (const { name } of iterable)
        found.push(name);
    return found;
}

/** What the SDK of each kind sees and makes. */
function sdk(server) {
    const text = server.connectionString;
    const [blobs, queues, shares] = [BlobServiceClient, QueueServiceClient, ShareServiceClient]
        .map((Service) => Service.fromConnectionString(text));
    const tables = TableServiceClient.fromConnectionString(text, { allowInsecureConnection: true });
    return {
        container: { list: () => names(blobs.listContainers()), create: (name) => blobs.createContainer(name) },
        queue: { list: () => names(queues.listQueues()), create: (name) => queues.createQueue(name) },
        table: { list: () => names(tables.listTables()), create: (name) => tables.createTable(name) },
        share: { list: () => names(shares.listShares()), create: (name) => shares.createShare(name) },
    };
}

test('what a command makes the SDK sees, and the other way round', async (t) => {
    const server = await start(t);
    for (const [kind, clients] of Object.entries(sdk(server))) {
        assert.equal(await asked(server, kind, 'create', 'bycommand'), 'bycommand created\n');
        assert.deepEqual(await clients.list(), ['bycommand']);
        await clients.create('bysdk');
        const { items } = JSON.parse(await asked(server, kind, 'list', '--json'));
        assert.deepEqual(items.map(({ name }) => name), ['bycommand', 'bysdk'], kind);
        assert.deepEqual((await asked(server, kind, 'list')).match(/^\w+/gm).slice(1), ['bycommand', 'bysdk']);
        const { account, name } = JSON.parse(await asked(server, kind, 'delete', 'bysdk', '--json'));
        assert.deepEqual([account, name], [server.account, 'bysdk']);
        assert.deepEqual(await clients.list(), ['bycommand']);
    }
});

test('what was answered survives kill -9', async (t) => {
    const server = await start(t);
    for (const kind of ['container', 'queue', 'table', 'share'])
        await asked(server, kind, 'create', 'kept');
    await server.kill();
    await server.restart();
    for (const clients of Object.values(sdk(server)))
        assert.deepEqual(await clients.list(), ['kept']);
});

test('what the service refuses is refused, by its own codes', async (t) => {
    const server = await start(t);
    for (const [kind, code] of [['container', 'ContainerAlreadyExists'], ['table', 'TableAlreadyExists'], ['share', 'ShareAlreadyExists']]) {
        await asked(server, kind, 'create', 'again');
        assert.match(await refusal(server, kind, 'create', 'again'), new RegExp(`\\(${code}\\)$`, 'm'));
    }
    assert.equal(await asked(server, 'queue', 'create', 'again'), 'again created\n');
    assert.equal(await asked(server, 'queue', 'create', 'again'), 'again existed\n');
    for (const [kind, code] of [['container', 'ContainerNotFound'], ['queue', 'QueueNotFound'], ['table', 'ResourceNotFound'],
        ['share', 'ShareNotFound']])
        assert.match(await refusal(server, kind, 'delete', 'missing'), new RegExp(`\\(${code}\\)$`, 'm'));
    for (const name of ['UPPER', '../up', 'dot.', '..', 'a/b', 'a?b', 'a%2fb', "a'b", 'a-', 'x'.repeat(64)])
        for (const kind of ['container', 'queue', 'share'])
            assert.match(await refusal(server, kind, 'create', name), /\((InvalidResourceName|OutOfRangeInput|InvalidUri)\)$/m);
    for (const name of ['again.', './again', '../again'])
        assert.match(await refusal(server, 'container', 'delete', name), /\(InvalidResourceName\)$/m);
    for (const name of ['1x', "x'y", 'a-b', 'ab', 'x/y', 'x'.repeat(64)])
        assert.match(await refusal(server, 'table', 'create', name), /\((InvalidResourceName|OutOfRangeInput|InvalidInput)\)$/m);
    assert.deepEqual(await sdk(server).container.list(), ['again']);
    assert.match(await refusal(server, 'container', 'create', 'access', '--public-access', 'all'), /\(InvalidHeaderValue\)$/m);
    assert.match(await refusal(server, 'share', 'create', 'quota', '--quota', 'much'), /\(InvalidHeaderValue\)$/m);
});

test('what may be said of a new container and share', async (t) => {
    const server = await start(t);
    await asked(server, 'container', 'create', 'open', '--public-access', 'container');
    const service = BlobServiceClient.fromConnectionString(server.connectionString);
    assert.equal((await service.getContainerClient('open').getAccessPolicy()).blobPublicAccess, 'container');
    await asked(server, 'share', 'create', 'small', '--quota', '7');
    const shares = ShareServiceClient.fromConnectionString(server.connectionString);
    assert.equal((await shares.getShareClient('small').getProperties()).quota, 7);
    assert.match(await asked(server, 'share', 'list'), /^small +\w+, .* GMT +7 GiB$/m);
    assert.match(await asked(server, 'container', 'list'), /^open +\w+, .* GMT +container$/m);
});

test('of several accounts one is named; the operator sees a disabled one too', async (t) => {
    const server = await start(t);
    await asked(server, 'account', 'add', 'alpha');
    assert.match(await refusal(server, 'container', 'create', 'mine'), /There are 2 accounts; select one with --account\. \(AccountNotNamed\)/);
    assert.match(await refusal(server, 'container', 'list', '--account', 'beta'), /The account beta does not exist\. \(AccountNotFound\)/);
    await asked(server, 'container', 'create', 'mine', '--account', 'alpha');
    assert.deepEqual(await sdk(server).container.list(), []);
    await asked(server, 'account', 'disable', 'alpha');
    assert.match(await asked(server, 'container', 'list', '--account', 'alpha'), /^mine /m);
});

test('lists of several pages are one list', async (t) => {
    const server = await start(t);
    const count = 1005; // a page has 1,000
    const service = QueueServiceClient.fromConnectionString(server.connectionString);
    const tables = TableServiceClient.fromConnectionString(server.connectionString, { allowInsecureConnection: true });
    const wanted = Array.from({ length: count }, (_, i) => `q${String(i).padStart(4, '0')}`);
    for (let i = 0; i < count; i += 67)
        await Promise.all(wanted.slice(i, i + 67).map((name) => Promise.all([service.createQueue(name), tables.createTable(name)])));
    for (const kind of ['queue', 'table']) {
        const { items } = JSON.parse(await asked(server, kind, 'list', '--json'));
        assert.deepEqual(items.map(({ name }) => name), wanted);
        assert.equal((await asked(server, kind, 'list')).split('\n').length, count + 2);
    }
    const { items } = JSON.parse(await asked(server, 'queue', 'list', '--json', '--prefix', 'q100'));
    assert.deepEqual(items.map(({ name }) => name), ['q1000', 'q1001', 'q1002', 'q1003', 'q1004']);
    assert.equal((await run(['table', 'list', '--prefix', 'q', '--location', server.location])).code, 2);
    await TableClient.fromConnectionString(server.connectionString, 'q0000', { allowInsecureConnection: true }).deleteTable();
});
