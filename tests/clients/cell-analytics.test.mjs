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
import { Member, removeCluster } from '../lib/cell_member.mjs';
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
    t.after(() => removeCluster(folder));
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
