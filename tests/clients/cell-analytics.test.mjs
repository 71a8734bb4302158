// Storage Analytics over cells: the owner of each cell writes the logs of its requests into $logs, and adds to the metrics,
// in cell 1, where clients see them. docs/cells.md; decision: 1105
import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const PINS_MS = 2600; // the root reads pins every two seconds
const POLL_MS = 100;
const BLOBS = 20;
const { account, key } = DEVELOPMENT;

async function until(found) {
    let last;
    for (let i = 0; i < 300; i++, await delay(POLL_MS)) {
        last = await found();
        if (last === true)
            return;
    }
    assert.fail(`never, but ${JSON.stringify(last)}`);
}

test('logs and metrics of the requests of all cells', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-cell-analytics-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    assert.equal((await run(['cluster', 'init', cluster, '--cells', '3'])).code, 0);
    const owners = await Promise.all([1, 2, 3].map((cell) => Member.start(cluster, { args: ['--cell', `${cell}`, '--analyticsEvery', '1s'] })));
    await Promise.all(owners.map((owner) => owner.until(200)));
    await delay(300);
    const urlOf = (member, service) => `http://127.0.0.1:${member.ports[service]}/${account}`;
    const service = new BlobServiceClient(urlOf(owners[1], 'blob'), new StorageSharedKeyCredential(account, key));
    const keep = { enabled: false };
    await service.setProperties({
        blobAnalyticsLogging: { version: '1.0', read: true, write: true, deleteProperty: true, retentionPolicy: keep },
        hourMetrics: { version: '1.0', enabled: true, includeAPIs: true, retentionPolicy: keep },
    });
    await delay(2500); // until other cells have read that: half a second, and an interval
    const names = ['near', 'far', 'third'];
    for (const [i, name] of names.entries()) {
        assert.equal((await run(['cluster', 'place', cluster, account, `${i + 1}`])).code, 0);
        await delay(PINS_MS); // the cells have read the service's properties too
        await service.getContainerClient(name).create();
    }
    const paths = names.flatMap((name) => Array.from({ length: BLOBS }, (_, i) => `${name}/${i}`));
    for (const path of paths) {
        const [name, blob] = path.split('/');
        await service.getContainerClient(name).getBlockBlobClient(blob).upload('x', 1);
        await delay(10); // over several intervals
    }
    const logs = service.getContainerClient('$logs');
    await until(async () => {
        const lines = [];
        for await (const { name } of logs.listBlobsFlat({ prefix: 'blob/' }))
            lines.push(...(await logs.getBlobClient(name).downloadToBuffer()).toString().trim().split('\n').map((line) => line.split(';')));
        const put = lines.filter((line) => line[2] === 'PutBlob').map((line) => line[12].replace(/^"\/[^/]+\/|"$/g, '')).sort();
        return JSON.stringify(put) === JSON.stringify([...paths].sort()) || put.length;
    });
    const table = new TableClient(urlOf(owners[2], 'table'), '$MetricsHourPrimaryTransactionsBlob', new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true });
    await until(async () => {
        let sum = 0;
        for await (const { rowKey, TotalRequests } of table.listEntities())
            sum += rowKey === 'user;PutBlob' ? Number(TotalRequests) : 0;
        return sum === paths.length || sum;
    });
});

/** A cluster of cells whose owners write their collected events periodically; start() adds a front end. */
async function newCluster(t, cells) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-cell-analytics-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    assert.equal((await run(['cluster', 'init', cluster, '--cells', `${cells}`])).code, 0);
    const start = async (cell, every) => {
        const member = await Member.start(cluster, { args: ['--cell', `${cell}`, '--analyticsEvery', every] });
        t.after(() => member.end('SIGKILL'));
        await member.until(200);
        await delay(300);
        return member;
    };
    const place = async (cell) => {
        assert.equal((await run(['cluster', 'place', cluster, account, `${cell}`])).code, 0);
        await delay(PINS_MS);
    };
    const blobsOf = (member) => new BlobServiceClient(`http://127.0.0.1:${member.ports.blob}/${account}`, new StorageSharedKeyCredential(account, key));
    return { start, place, blobsOf };
}

const HOURLY = { version: '1.0', enabled: true, includeAPIs: true, retentionPolicy: { enabled: false } };
const LOGGED = { version: '1.0', read: true, write: true, deleteProperty: true, retentionPolicy: { enabled: false } };

test('an owner that stops writes the logs and metrics of its last interval; without an owner of cell 1 it does not wait', async (t) => {
    const { start, place, blobsOf } = await newCluster(t, 2);
    const one = await start(1, '1s'), first = await start(2, '1s');
    const service = blobsOf(one);
    await service.setProperties({ blobAnalyticsLogging: LOGGED, hourMetrics: HOURLY });
    await place(2);
    await service.getContainerClient('last').create();
    await first.end();
    const two = await start(2, '1h'); // it writes nothing until it stops
    for (let i = 0; i < BLOBS; i++)
        await service.getContainerClient('last').getBlockBlobClient(`${i}`).upload('x', 1);
    assert.deepEqual(await two.end(), { code: 0, signal: null });
    const logs = service.getContainerClient('$logs');
    const lines = [];
    for await (const { name } of logs.listBlobsFlat({ prefix: 'blob/' }))
        lines.push(...(await logs.getBlobClient(name).downloadToBuffer()).toString().trim().split('\n').map((line) => line.split(';')));
    assert.equal(lines.filter((line) => line[2] === 'PutBlob').length, BLOBS);
    const table = new TableClient(`http://127.0.0.1:${one.ports.table}/${account}`, '$MetricsHourPrimaryTransactionsBlob', new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true });
    let sum = 0;
    for await (const { rowKey, TotalRequests } of table.listEntities())
        sum += rowKey === 'user;PutBlob' ? Number(TotalRequests) : 0;
    assert.equal(sum, BLOBS);

    const again = await start(2, '1h');
    await service.getContainerClient('last').getBlockBlobClient('more').upload('x', 1);
    await one.end('SIGKILL');
    const began = performance.now();
    assert.deepEqual(await again.end(), { code: 0, signal: null });
    assert.ok(performance.now() - began < 6000, `${performance.now() - began}`);
});

test('the capacity of an account is that of all cells, and is written once all of them have an owner', async (t) => {
    const { start, place, blobsOf } = await newCluster(t, 3);
    const [one, two, three] = [await start(1, '1s'), await start(2, '1s'), await start(3, '1s')];
    const service = blobsOf(two);
    const rows = async () => {
        const table = new TableClient(`http://127.0.0.1:${one.ports.table}/${account}`, '$MetricsCapacityBlob', new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true });
        const all = [];
        try {
            for await (const { rowKey, Capacity, ContainerCount, ObjectCount } of table.listEntities())
                all.push([rowKey, ...[Capacity, ContainerCount, ObjectCount].map(Number)]);
        } catch {
            return [];
        }
        return all;
    };

    for (const [i, name] of ['near', 'far', 'third'].entries()) {
        await place(i + 1);
        const container = service.getContainerClient(name);
        await container.create();
        await container.getBlockBlobClient('a').upload('x'.repeat(10 ** i), 10 ** i);
        await container.getBlockBlobClient('begun').stageBlock('AAAA', 'not committed', 13);
    }
    await three.end('SIGKILL');
    await one.until(503, '/-/ready?cluster');
    await blobsOf(one).setProperties({ hourMetrics: HOURLY });
    await delay(3000);
    assert.deepEqual(await rows(), []);
    three.restart();
    await three.until(200);
    await until(async () => (await rows()).length === 2);
    assert.deepEqual(await rows(), [['analytics', 0, 0, 0], ['data', 111, 3, 6]]);
});
