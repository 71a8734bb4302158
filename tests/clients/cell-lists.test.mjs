// Lists of an account whose containers, queues, tables and shares are in three cells: the same pages, whoever is asked, as a
// server with all of them would answer; and never a list without those of a cell that cannot be reached. docs/cells.md
import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AzureNamedKeyCredential, TableServiceClient } from '@azure/data-tables';
import { AccountSASPermissions, BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as ShareCredential } from '@azure/storage-file-share';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { bootNs, encoded, envelope, peerOf, post } from '../lib/peer_request.mjs';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const { account, key } = DEVELOPMENT;
const CELLS = 3;
const PINS_READ_MS = 2700; // the root reads them again every 2000 ms

function clientsOf(ports, retries = 1) {
    const urlOf = (service) => `http://127.0.0.1:${ports[service]}/${account}`;
    const options = { retryOptions: { maxTries: retries } };
    return {
        blob: new BlobServiceClient(urlOf('blob'), new StorageSharedKeyCredential(account, key), options),
        queue: new QueueServiceClient(urlOf('queue'), new QueueCredential(account, key), options),
        table: new TableServiceClient(urlOf('table'), new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } }),
        file: new ShareServiceClient(urlOf('file'), new ShareCredential(account, key), options),
    };
}

/** What each cell has: name n goes to cell n % 3 + 1, so neighbours in the lists are never in one cell. */
async function fill({ blob, queue, table, file }, cell, names) {
    for (const name of names) {
        const container = blob.getContainerClient(name);
        await container.create({ metadata: { cell: `${cell}` } });
        await container.getBlockBlobClient(`blob-of-${name}`).upload('x', 1, { tags: { kind: 'listed', name, even: `${cell % 2}` } });
        await queue.createQueue(name, { metadata: { cell: `${cell}` } });
        await table.createTable(`T${name.replaceAll('-', '')}`);
        await file.getShareClient(name).create({ metadata: { cell: `${cell}` } });
    }
    await file.getShareClient(names[0]).createSnapshot();
}

const NAMES = Array.from({ length: 17 }, (_, i) => `${['list', 'other'][+(i >= 11)]}-${String(i).padStart(2, '0')}`);

/** A cluster whose cells were filled one by one, each as the data folder of a server of its own, so that the test decides what is
 * where. The root has no placements of it, and is told to ask all cells. */
async function newCluster(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-lists-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    const { code, errors } = await run(['cluster', 'init', cluster, '--cells', `${CELLS}`]);
    assert.equal(code, 0, errors);
    for (let cell = 1; cell <= CELLS; cell++) {
        const server = await Server.start({ location: join(cluster, 'cells', `000${cell}`, 'data') });
        await fill(clientsOf(server.ports), cell, NAMES.filter((_, i) => i % CELLS + 1 === cell));
        await server.stop({ keep: true });
    }
    const members = await Promise.all(Array.from({ length: CELLS }, (_, i) => Member.start(cluster, { args: ['--cell', `${i + 1}`], env: { LAGRA_LISTS_ASK_ALL: '1' } })));
    t.after(() => Promise.all(members.map((member) => member.end('SIGKILL'))));
    await members[0].until(200);
    for (const member of members)
        await member.until(200, '/-/ready');
    await untilComplete(members[0]);
    return { cluster, members };
}

/** Until the owners of all cells are known to each other. */
async function untilComplete(member) {
    for (let i = 0; ; i++)
        try {
            await clientsOf(member.ports).blob.listContainers().byPage({ maxPageSize: 1 }).next();
            return;
        } catch (error) {
            if (error.statusCode !== 503 || i > 20)
                throw error;
        }
}

async function pagesOf(iterator, size, of) {
    const pages = [];
    let marker;
    do {
        const { value } = await iterator().byPage({ maxPageSize: size, continuationToken: marker }).next();
        pages.push(of(value));
        marker = value.continuationToken;
    } while (marker);
    return pages;
}

async function all(iterator, of = ({ name }) => name) {
    const found = [];
    for await (const item of iterator)
        found.push(of(item));
    return found;
}

test('lists over three cells', async (t) => {
    const { members } = await newCluster(t);

    for (const [i, member] of members.entries())
        await t.test(`by the owner of cell ${i + 1}`, async () => {
            const { blob, queue, table, file } = clientsOf(member.ports);
            for (const size of [1, 2, 3, 7, 17, 100])
                for (const [what, iterator, of] of [
                    ['containers', () => blob.listContainers(), ({ containerItems }) => containerItems.map(({ name }) => name)],
                    ['queues', () => queue.listQueues(), ({ queueItems }) => (queueItems ?? []).map(({ name }) => name)],
                    ['shares', () => file.listShares(), ({ shareItems }) => shareItems.map(({ name }) => name)],
                ]) {
                    const pages = await pagesOf(iterator, size, of);
                    assert.deepEqual(pages.flat(), NAMES, `${what}, pages of ${size}`);
                    assert.deepEqual(pages.map((page) => page.length), Array.from({ length: Math.ceil(NAMES.length / size) }, (_, n) => Math.min(size, NAMES.length - n * size)));
                }

            assert.deepEqual(await all(blob.listContainers({ prefix: 'other' })), NAMES.slice(11));
            assert.deepEqual(await all(queue.listQueues({ prefix: 'list-1' })), ['list-10']);
            assert.deepEqual(await all(file.listShares({ prefix: 'none' })), []);
            assert.deepEqual(await all(blob.listContainers({ includeMetadata: true }), ({ metadata }) => metadata.cell), NAMES.map((_, n) => `${n % CELLS + 1}`));
            assert.deepEqual(await all(file.listShares({ includeSnapshots: true }), ({ name, snapshot }) => `${name}${snapshot ? '*' : ''}`),
                NAMES.flatMap((name, n) => n < CELLS ? [`${name}*`, name] : [name]));

            const tables = NAMES.map((name) => `T${name.replaceAll('-', '')}`);
            assert.deepEqual(await all(table.listTables()), tables);
            for (const size of [1, 4])
                assert.deepEqual(await (async () => {
                    const found = [];
                    for await (const page of table.listTables().byPage({ maxPageSize: size }))
                        found.push(...page.map(({ name }) => name));
                    return found;
                })(), tables);
            assert.deepEqual(await all(table.listTables({ queryOptions: { filter: "TableName ge 'Tother12' and TableName ne 'Tother14'" } })), tables.slice(12).filter((name) => name !== 'Tother14'));

            for (const size of [1, 5, 100]) {
                const found = await pagesOf(() => blob.findBlobsByTags("kind = 'listed'"), size, ({ blobs }) => blobs.map(({ containerName, name }) => `${containerName}/${name}`));
                assert.deepEqual(found.flat(), NAMES.map((name) => `${name}/blob-of-${name}`));
            }
            assert.deepEqual(await all(blob.findBlobsByTags("name >= 'list-05' AND name < 'other-12'"), ({ containerName }) => containerName), NAMES.slice(5, 12));
            assert.deepEqual(await all(blob.findBlobsByTags("@container = 'list-01' AND kind = 'listed'"), ({ tagValue }) => tagValue), ['listed']);
            assert.deepEqual(await all(blob.findBlobsByTags("even = '0'"), ({ containerName }) => containerName), NAMES.filter((_, n) => n % CELLS + 1 === 2));
        });

    await t.test('of the secondary, and with a SAS of the account', async () => {
        const secondary = new BlobServiceClient(`http://127.0.0.1:${members[0].ports.blob}/${account}-secondary`, new StorageSharedKeyCredential(account, key));
        assert.deepEqual(await all(secondary.listContainers()), NAMES);
        const { blob } = clientsOf(members[1].ports);
        const sas = new BlobServiceClient(blob.generateAccountSasUrl(undefined, AccountSASPermissions.parse('lf'), 'sco'));
        assert.deepEqual(await all(sas.listContainers({ prefix: 'list' })), NAMES.slice(0, 11));
        const none = new BlobServiceClient(blob.generateAccountSasUrl(undefined, AccountSASPermissions.parse('r'), 'sco'), undefined, { retryOptions: { maxTries: 1 } });
        await assert.rejects(all(none.listContainers()), { statusCode: 403 });
    });

    await t.test('what is wrong with a request is said by the root', async () => {
        for (const [target, status, code] of [['/?comp=list&maxresults=0', 400, 'OutOfRangeQueryParameterValue'], ['/?comp=list&marker=x', 400, 'InvalidQueryParameterValue'],
            ['/?comp=blobs&where=x', 400, 'InvalidQueryParameterValue']]) {
            const answer = await members[1].ask('GET', target);
            assert.deepEqual([answer.status, answer.headers.get('x-ms-error-code')], [status, code], target);
        }
    });

    await t.test('a cell that cannot be reached makes the list fail', async () => {
        const { blob, queue, table, file } = clientsOf(members[0].ports);
        await members[2].end('SIGKILL');
        await assert.rejects(all(blob.listContainers()), { statusCode: 503, code: 'ServerBusy' });
        await Promise.all([all(queue.listQueues()), all(file.listShares()), all(table.listTables()), all(blob.findBlobsByTags("kind = 'listed'"))]
            .map((list) => assert.rejects(list, { statusCode: 503 })));
        /* While one is on its way, too; and it goes on as soon as there is an owner. */
        members[2].restart();
        await untilComplete(members[0]);
        assert.deepEqual(await all(blob.listContainers()), NAMES);
        members[1].signal('SIGSTOP');
        const list = all(blob.listContainers());
        setTimeout(() => members[1].signal('SIGKILL'), 500);
        await assert.rejects(list, { statusCode: 503 });
    });
});

/** Creates each as a client does, at whatever front end, in the cell that `lagra cluster place` names. */
test('what the root has placed in other cells is listed', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-placed-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    assert.equal((await run(['cluster', 'init', cluster, '--cells', `${CELLS}`])).code, 0);
    const members = await Promise.all(Array.from({ length: CELLS }, (_, i) => Member.start(cluster, { args: ['--cell', `${i + 1}`] })));
    t.after(() => Promise.all(members.map((member) => member.end('SIGKILL'))));
    for (const member of members)
        await member.until(200, '/-/ready');
    const clients = members.map(({ ports }) => clientsOf(ports, 3));
    const place = async (cell) => {
        const { code, errors } = await run(['cluster', 'place', cluster, account, `${cell}`]);
        assert.equal(code, 0, errors);
        await delay(PINS_READ_MS);
    };

    /* Nothing is anywhere else: no other cell is asked, although one has no owner. */
    await members[2].end('SIGKILL');
    await place(1);
    await fill(clients[1], 1, ['of-the-root']);
    for (const list of [clients[0].blob.listContainers(), clients[1].queue.listQueues(), clients[0].file.listShares()])
        assert.deepEqual(await all(list), ['of-the-root']);
    members[2].restart();
    await members[2].until(200, '/-/ready');

    const names = { 1: ['a-1', 'd-1'], 2: ['a-2', 'c-2'], 3: ['b-3', 'e-3'] };
    for (const cell of [2, 3, 1]) {
        await place(cell);
        await fill(clients[cell % CELLS], cell, names[cell]);
    }
    const expected = ['a-1', 'a-2', 'b-3', 'c-2', 'd-1', 'e-3', 'of-the-root'];
    for (const { blob, queue, table, file } of clients) {
        assert.deepEqual((await pagesOf(() => blob.listContainers({ includeMetadata: true }), 2, ({ containerItems }) => containerItems)).flat().map(({ name, metadata }) => `${name}:${metadata.cell}`),
            expected.map((name) => `${name}:${name === 'of-the-root' ? 1 : name.at(-1)}`));
        assert.deepEqual(await all(queue.listQueues()), expected);
        assert.deepEqual(await all(file.listShares()), expected);
        assert.deepEqual(await all(table.listTables()), expected.map((name) => `T${name.replaceAll('-', '')}`));
        assert.deepEqual(await all(blob.findBlobsByTags("kind = 'listed'"), ({ containerName }) => containerName), expected);
    }

    /* Each owner says which cells there are. */
    for (const [i] of members.entries()) {
        const status = await run(['status', '--location', join(cluster, 'cells', `000${i + 1}`, 'data'), '--json']);
        assert.equal(status.code, 0, status.errors);
        assert.deepEqual(JSON.parse(status.output).cells.map(({ cell, owner }) => [cell, owner]),
            members.map(({ ports }, n) => [n + 1, n === i ? 'this server' : `127.0.0.1:${ports.cluster}`]));
    }
    assert.match((await run(['status', '--location', join(cluster, 'cells', '0001', 'data')])).output, /^1 +this server\n2 +127/m);

    /* Only the cells that have something are asked: without the owner of the third one, queues fail and go on failing. */
    await members[2].end('SIGKILL');
    await assert.rejects(all(clientsOf(members[0].ports).queue.listQueues()), { statusCode: 503 });
});

/* ---- /-/list, and who may ask for it ---- */

test('requests between front ends reach the internal endpoint only', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-peers-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    assert.equal((await run(['cluster', 'init', cluster])).code, 0);
    const member = await Member.start(cluster);
    t.after(() => member.end('SIGKILL'));
    await member.until(200);
    const statusOf = await peerOf(member, cluster);
    const list = (...fields) => Buffer.concat([Buffer.from([1]), ...fields.map(encoded)]);
    const query = list('blob', `/${account}/`, 'comp=list', '2026-10-06');

    for (const service of ['blob', 'queue', 'table', 'file'])
        for (const path of ['/-/list', '/-/place', '/-/'])
            for (const method of ['GET', 'POST']) {
                const answer = await member.ask(method, path, { raw: true, service, body: method === 'POST' ? query : undefined });
                assert.ok(answer.status >= 400 && answer.status < 500, `${service} ${method} ${path} ${answer.status}`);
            }

    assert.equal(await statusOf(Buffer.concat([envelope(), post('/-/list', query)])), 200);
    /* Another incarnation, another cell, a client's envelope, flags, another path, method or length. */
    assert.equal(await statusOf(Buffer.concat([envelope({ incarnation: 2 }), post('/-/list', query)])), 421);
    assert.equal(await statusOf(Buffer.concat([envelope({ cell: 2 }), post('/-/list', query)])), 421);
    /* Late or replayed: under a renewal that is older than the lease, or none. */
    for (const renewed of [bootNs() - 3_000_000_000n, 0n, bootNs() + 3_600_000_000_000n])
        assert.equal(await statusOf(Buffer.concat([envelope({ renewed }), post('/-/list', query)])), 421);
    assert.equal(await statusOf(Buffer.concat([envelope({ renewed: bootNs() - 2_000_000_000n }), post('/-/list', query)])), 200);
    assert.equal(await statusOf(Buffer.concat([envelope({ service: 0 }), post('/-/list', query)])), 404); // a client's, of a blob
    assert.equal(await statusOf(Buffer.concat([envelope({ flags: 2 }), post('/-/list', query)])), 0);
    assert.equal(await statusOf(Buffer.concat([envelope(), post('/-/none', query)])), 404);
    assert.equal(await statusOf(Buffer.concat([envelope(), post('/-/list', query, 'PUT')])), 404);
    assert.equal(await statusOf(Buffer.concat([envelope(), post('/-/list', Buffer.alloc(70_000))])), 413);
    /* What it does not understand, and what is no list. */
    for (const body of [Buffer.alloc(0), query.subarray(0, -1), Buffer.concat([query, Buffer.alloc(1)]), list('smb', `/${account}/`, 'comp=list', '2026-10-06'),
        list('blob', account, 'comp=list', '2026-10-06'), list('blob', `/${account}/?`, 'comp=list', '2026-10-06'), list('blob', `/${account}/`, 'comp list', '2026-10-06')])
        assert.equal(await statusOf(Buffer.concat([envelope(), post('/-/list', body)])), 400);
    for (const body of [list('blob', `/${account}/c`, 'restype=container&comp=list', '2026-10-06'), list('queue', `/${account}/q/messages`, '', '2026-10-06'),
        list('blob', `/${account}/`, 'comp=list&maxresults=0', '2026-10-06')])
        assert.equal(await statusOf(Buffer.concat([envelope(), post('/-/list', body)])), 500, body.toString());
    assert.equal(await member.health(), 200);
});
