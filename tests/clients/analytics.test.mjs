// Storage Analytics: logs of requests as blobs of $logs, their sums as entities of tables $Metrics.., as Set Service
// Properties asks for them. docs/monitoring.md, "Storage Analytics"; decisions 510 to 515, 575, 576
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TableClient, TableServiceClient } from '@azure/data-tables';
import { BlobServiceClient, ContainerClient } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { ShareServiceClient } from '@azure/storage-file-share';
import { Connection } from '../lib/http.mjs';
import { tableSas } from '../lib/sas.mjs';
import { run } from '../lib/program.mjs';
import { freePorts, Server } from '../lib/server.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';
import { raw } from './raw.mjs';
import { collect, credential, once, refused } from './setup.mjs';
import { refusedTable, tableCredential } from './tables-setup.mjs';

const DAY_S = 24 * 3600;
const wall = process.env.LAGRA_WALL ?? path.join(path.dirname(process.env.LAGRA_BINARY ?? ''), 'tests/clients/libwall.so');
const keep = (days) => ({ enabled: days > 0, ...(days > 0 && { days }) });
const logging = (more = {}) => ({ version: '1.0', read: true, write: true, deleteProperty: true, delete: true, retentionPolicy: keep(0), ...more });
const metrics = (more = {}) => ({ version: '1.0', enabled: true, includeAPIs: true, retentionPolicy: keep(0), ...more });

async function start(t, { args = ['--analyticsEvery', '1s'], env } = {}) {
    const server = await Server.start({ args, env });
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

function clients(server) {
    const tables = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
    const blobs = new BlobServiceClient(server.url, credential, once);
    return {
        blobs,
        logs: blobs.getContainerClient('$logs'),
        queues: new QueueServiceClient(server.urlOf('queue'), credential, once),
        tables: new TableServiceClient(server.urlOf('table'), tableCredential, tables),
        table: (name) => new TableClient(server.urlOf('table'), name, tableCredential, tables),
        files: new ShareServiceClient(server.urlOf('file'), credential, once),
    };
}

async function until(found) {
    for (let i = 0; i < 600; i++) {
        const result = await found();
        if (result)
            return result;
        await delay(50);
    }
    return assert.fail('it never came');
}

/** All lines of the logs of a service, as lists of fields; each field as it is written. */
async function linesOf(logs, service) {
    const lines = [];
    for await (const { name } of logs.listBlobsFlat({ prefix: `${service}/` })) {
        if (!name.endsWith('.log'))
            continue; // a directory of a hierarchical account
        const text = (await logs.getBlobClient(name).downloadToBuffer()).toString();
        assert.ok(text.endsWith('\n'), name);
        lines.push(...text.slice(0, -1).split('\n'));
    }
    // A quoted field has ';' of its encoding, and no quote.
    return lines.map((line) => line.replace(/"[^"]*"/g, (quoted) => quoted.replaceAll(';', '\0')).split(';')
        .map((field) => field.replaceAll('\0', ';')));
}

const logged = (logs, service, wanted) => until(async () => {
    const lines = await linesOf(logs, service).catch(() => []);
    return lines.find((line) => wanted(line)) && lines;
});

test('lines of requests, in blobs named and described as documented', async (t) => {
    // rest: Storage-Analytics-Log-Format; source: storage-analytics-logging
    const { blobs, logs, queues, tables } = clients(await start(t));

    assert.equal(await logs.exists(), false);
    await blobs.setProperties({ blobAnalyticsLogging: logging() });
    assert.equal((await blobs.getProperties()).blobAnalyticsLogging.write, true);
    await until(() => logs.exists());
    const container = blobs.getContainerClient('photos');
    await container.create();
    const blob = container.getBlockBlobClient('a&b;"c".txt');
    const put = await blob.upload('hello', 5);
    await blob.getProperties({ conditions: { ifMatch: put.etag } });
    await refused(container.getBlobClient('none').download(), 404, 'BlobNotFound');
    await blob.delete();

    const lines = await logged(logs, 'blob', (line) => line[2] === 'DeleteBlob');
    const line = lines.find((fields) => fields[2] === 'PutBlob');
    assert.equal(line.length, 30);
    assert.equal(line[0], '1.0');
    assert.match(line[1], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
    assert.deepEqual(line.slice(3, 5), ['Success', '201']);
    assert.ok(Number(line[5]) >= Number(line[6]), 'the server is a part of what took all of the time');
    assert.deepEqual(line.slice(7, 11), ['authenticated', blobs.accountName, blobs.accountName, 'blob']);
    assert.match(line[11], /^"http:\/\/127\.0\.0\.1:\d+\/devstoreaccount1\/photos\/a%26b%3B%22c%22\.txt"$/);
    assert.equal(line[12], '"/devstoreaccount1/photos/a&amp;b;&quot;c&quot;.txt"');
    assert.deepEqual(line.slice(13, 15), [put.requestId, '0']);
    assert.match(line[15], /^127\.0\.0\.1:\d+$/);
    assert.equal(line[16], put.version);
    assert.ok(Number(line[17]) > 100 && Number(line[19]) > 100, 'heads');
    assert.deepEqual([line[18], line[20], line[21]], ['5', '0', '5']);
    assert.equal(line[23], `"${Buffer.from(put.contentMD5).toString('base64')}"`);
    assert.equal(line[24], `"${put.etag.replaceAll('"', '&quot;')}"`);
    assert.match(line[25], /^[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/);
    assert.match(line[27], /^"azsdk-js/);
    assert.equal(line[29], `"${put.clientRequestId}"`);
    assert.ok(lines.some((at) => at[2] === 'GetBlobProperties' && at[26].startsWith('"If-Match=&quot;0x')), 'conditions');
    assert.ok(lines.some((at) => at[2] === 'GetBlob' && at[3] === 'BlobNotFound' && at[4] === '404'));

    const [{ name, metadata }] = await collect(logs.listBlobsFlat({ includeMetadata: true }));
    assert.match(name, /^blob\/\d{4}\/\d\d\/\d\d\/\d\d00\/\d{6}\.log$/);
    assert.deepEqual(Object.keys(metadata).sort(), ['EndTime', 'LogType', 'LogVersion', 'StartTime']);
    assert.match(metadata.StartTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.match(metadata.LogType, /^(read|write|delete)(,(write|delete))*$/);
    assert.equal(metadata.LogVersion, '1.0');

    // Other services, and what is not asked for.
    await queues.setProperties({ queueAnalyticsLogging: logging({ version: '2.0', read: false }) });
    await tables.setProperties({ logging: logging({ write: false }) });
    await until(async () => {
        await queues.createQueue('jobs').catch(() => {});
        await queues.deleteQueue('jobs');
        await collect(queues.listQueues());
        await collect(tables.listTables());
        return (await collect(logs.listBlobsFlat())).some((at) => at.name.startsWith('table/'));
    });
    const queueLines = await logged(logs, 'queue', (at) => at[2] === 'DeleteQueue');
    assert.ok(queueLines.every((at) => at[0] === '2.0' && at.length === 38 && at[2] !== 'ListQueues'));
    assert.ok((await linesOf(logs, 'table')).every((at) => at[2] === 'QueryTables' && at[10] === 'table'));
});

// They have bytes, though no ordinary list shows them. decision: 911
test('$logs and $Metrics tables are in lists of all, and in usage', async (t) => {
    const server = await start(t);
    const { blobs } = clients(server);
    const asked = async (...words) => {
        const { code, output, errors } = await run([...words, '--json', '--location', server.location]);
        assert.equal(code, 0, errors);
        return JSON.parse(output);
    };
    const names = async (...words) => (await asked(...words)).items.map(({ name }) => name).filter((name) => name !== '$MetricsCapacityBlob'); // once a day
    const hour = '$MetricsHourPrimaryTransactionsBlob', minute = '$MetricsMinutePrimaryTransactionsBlob';

    await blobs.createContainer('mine');
    await blobs.setProperties({ blobAnalyticsLogging: logging(), hourMetrics: metrics(), minuteMetrics: metrics() });
    await until(async () => (await names('container', 'list', '--all')).includes('$logs') && (await names('table', 'list', '--all')).length === 2);
    assert.deepEqual(await names('container', 'list', '--all'), ['$logs', 'mine']);
    assert.deepEqual(await names('container', 'list'), ['mine']);
    assert.deepEqual(await names('table', 'list', '--all'), [hour, minute]);
    assert.deepEqual(await names('table', 'list'), []);
    const { accounts, containers } = await asked('usage');
    for (const name of ['$logs', hour, minute])
        assert.ok(containers.find((one) => one.name === name)?.bytes > 0, `${name}: ${JSON.stringify(containers)}`);
    assert.equal(accounts.find(({ service }) => service === 'blob').containers, 2);
    assert.ok(accounts.find(({ service }) => service === 'blob').bytes > 0);
});

test('$logs is read, listed when it is named, its blobs are deleted, and nobody else writes it', async (t) => {
    // source: storage-analytics-logging; decision: 510
    const { blobs, logs } = clients(await start(t));

    await blobs.setProperties({ blobAnalyticsLogging: logging() });
    await until(async () => await logs.exists() && (await collect(logs.listBlobsFlat())).length > 0);
    assert.deepEqual((await collect(blobs.listContainers())).map(({ name }) => name), []);
    assert.deepEqual((await collect(blobs.listContainers({ includeSystem: true }))).map(({ name }) => name), ['$logs']);
    const [{ name }] = await collect(logs.listBlobsFlat());
    for (const write of [
        () => logs.getBlockBlobClient('mine').upload('x', 1), () => logs.getBlockBlobClient(name).upload('x', 1),
        () => logs.getBlobClient(name).setMetadata({}), () => logs.getAppendBlobClient('mine').create(),
        () => logs.setAccessPolicy('container'), () => logs.delete(), () => logs.setMetadata({}),
        () => logs.getBlobClient('copy').syncCopyFromURL(logs.getBlobClient(name).url),
        () => logs.getBlobLeaseClient().acquireLease(60),
    ])
        await refused(write(), 403, 'InsufficientAccountPermissions');
    await refused(logs.create(), 400, 'InvalidResourceName');
    await logs.deleteBlob(name);
    assert.equal(await logs.getBlobClient(name).exists(), false);
});

test('a SAS is named without its signature; who is anonymous is logged when he succeeds', async (t) => {
    const { blobs, logs } = clients(await start(t));
    const container = blobs.getContainerClient('open');
    await container.create({ access: 'blob' });
    await container.getBlockBlobClient('b').upload('x', 1);
    await blobs.setProperties({ blobAnalyticsLogging: logging({ version: '2.0' }) });
    await until(() => logs.exists());

    const url = await container.getBlobClient('b').generateSasUrl({ permissions: { toString: () => 'r' }, expiresOn: new Date(Date.now() + 60000) });
    const signature = new URL(url).searchParams.get('sig');
    assert.equal((await fetch(url)).status, 200);
    assert.equal((await fetch(container.getBlobClient('b').url)).status, 200);
    assert.equal((await fetch(container.getBlobClient('none').url)).status, 404);
    assert.equal((await fetch(`${container.getBlobClient('b').url}?sv=2020-04-08&sp=r&sr=b&se=2030-01-01&sig=AAAA`)).status, 403);
    await container.getBlobClient('b').getProperties();
    const lines = await logged(logs, 'blob', (line) => line[2] === 'GetBlobProperties');
    // Without those that read the log, by the account's key.
    const gets = lines.filter((line) => line[2] === 'GetBlob' && line[7] !== 'authenticated').map((line) => [line[3], line[7], line[8], line.length]);
    assert.deepEqual(gets, [['SASSuccess', 'sas', '', 38], ['AnonymousSuccess', 'anonymous', '', 38], ['SASAuthorizationError', 'sas', '', 38]]);
    const text = JSON.stringify(lines);
    assert.ok(text.includes('sig=XXXXX') && !text.includes(encodeURIComponent(signature)) && !text.includes('sig=AAAA'));
});

test('sums of an hour and a minute, of a service and of its operations', async (t) => {
    // rest: Storage-Analytics-Metrics-Table-Schema
    const server = await start(t);
    const { blobs, tables, table, queues, files } = clients(server);
    const hours = table('$MetricsHourPrimaryTransactionsBlob');

    await refusedTable(collect(hours.listEntities()), 404, 'TableNotFound');
    await blobs.setProperties({ hourMetrics: metrics(), minuteMetrics: metrics({ includeAPIs: false }) });
    await delay(200);
    const container = blobs.getContainerClient('ccc');
    await container.create();
    await container.getBlockBlobClient('b').upload('12345', 5);
    for (let i = 0; i < 3; i++)
        await container.getBlobClient('b').downloadToBuffer();
    await refused(container.getBlobClient('none').getProperties(), 404, undefined).catch(() => {});
    const ofHour = async (name) => (await collect(hours.listEntities()).catch(() => []))
        .filter(({ rowKey }) => rowKey === name);
    // downloadToBuffer() asks for the length first.
    await until(async () => (await ofHour('user;GetBlobProperties')).reduce((sum, at) => sum + Number(at.ClientOtherError), 0) === 1);
    await until(async () => (await ofHour('user;All')).length > 0);
    const [get] = await ofHour('user;GetBlob');
    assert.match(get.partitionKey, /^\d{8}T\d\d00$/);
    assert.deepEqual([get.TotalRequests, get.TotalBillableRequests, get.Success, get.AnonymousSuccess].map(Number), [3, 3, 3, 0]);
    assert.deepEqual([get.Availability, get.PercentSuccess, get.PercentThrottlingError], [100, 100, 0]);
    assert.ok(get.AverageE2ELatency >= get.AverageServerLatency && get.AverageServerLatency > 0);
    const [put] = await ofHour('user;PutBlob');
    assert.ok(Number(put.TotalIngress) > 100 && Number(put.TotalEgress) > 100, 'heads count');
    const [all] = await ofHour('user;All');
    assert.equal(Object.keys(all).filter((name) => !/Key|etag|timestamp|odata/i.test(name)).length, 38);
    const minutes = await collect(table('$MetricsMinutePrimaryTransactionsBlob').listEntities());
    assert.ok(minutes.length > 0 && minutes.every(({ rowKey }) => rowKey === 'user;All'));
    assert.equal(minutes.reduce((sum, at) => sum + Number(at.TotalRequests), 0), Number(all.TotalRequests));

    // A restart goes on where the hour was.
    await server.stop({ keep: true });
    await server.restart();
    const again = clients(server);
    await again.blobs.getContainerClient('ccc').getBlobClient('b').getProperties();
    await until(async () => {
        const entities = await collect(again.table('$MetricsHourPrimaryTransactionsBlob').listEntities());
        return entities.filter(({ rowKey }) => rowKey === 'user;All').reduce((sum, at) => sum + Number(at.TotalRequests), 0) >
            Number(all.TotalRequests);
    });

    // They are not shown, and others only read and delete in them. decision: 511
    assert.deepEqual(await collect(again.tables.listTables()), []);
    const [{ partitionKey, rowKey }] = minutes;
    const ofMinutes = again.table('$MetricsMinutePrimaryTransactionsBlob');
    for (const write of [
        () => ofMinutes.createEntity({ partitionKey: 'a', rowKey: 'b' }), () => ofMinutes.upsertEntity({ partitionKey, rowKey, a: 1 }),
        () => ofMinutes.deleteTable(), () => ofMinutes.setAccessPolicy([]),
    ])
        await refusedTable(write(), 403, 'InsufficientAccountPermissions');
    await assert.rejects(ofMinutes.submitTransaction([['create', { partitionKey: 'a', rowKey: 'b' }]]), { statusCode: 403 });
    await ofMinutes.deleteEntity(partitionKey, rowKey);

    // Every service has its tables.
    await again.queues.setProperties({ minuteMetrics: metrics() });
    await again.tables.setProperties({ minuteMetrics: metrics() });
    await again.files.setProperties({ minuteMetrics: metrics() });
    await until(async () => {
        await collect(again.queues.listQueues());
        await collect(again.tables.listTables());
        await collect(again.files.listShares());
        const rows = await Promise.all(['Queue', 'Table', 'File'].map((service) =>
            collect(again.table(`$MetricsMinutePrimaryTransactions${service}`).listEntities()).catch(() => [])));
        return ['user;ListQueues', 'user;QueryTables', 'user;ListShares'].every((name, i) => rows[i].some((at) => at.rowKey === name));
    });
    assert.ok((await collect(again.table('$MetricsMinutePrimaryTransactionsTable').listEntities()))
        .some((at) => at.rowKey === 'system;All'), 'what Storage Analytics asks for itself');
});

test('what blobs take, as two entities a day', { skip: existsSync(wall) ? false : 'the library that sets the clock is not built' }, async (t) => {
    // rest: Storage-Analytics-Metrics-Table-Schema; decision: 575
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-analytics-'));
    const file = path.join(folder, 'wall');
    t.after(() => rm(folder, { recursive: true, force: true }));
    await writeFile(file, '0');
    const server = await start(t, { env: { LD_PRELOAD: wall, WALL_FILE: file } });
    const { blobs, table } = clients(server);
    const rows = async (from) => (await collect(from('$MetricsCapacityBlob').listEntities()).catch(() => []))
        .map((at) => [at.partitionKey, at.rowKey, ...[at.Capacity, at.ContainerCount, at.ObjectCount].map(Number)]);
    const dayAfter = (days) => `${new Date(Date.now() + days * DAY_S * 1000).toISOString().slice(0, 10).replaceAll('-', '')}T0000`;

    await blobs.setProperties({ minuteMetrics: metrics() });
    const container = blobs.getContainerClient('photos');
    await container.create();
    await blobs.getContainerClient('empty').create();
    await container.getBlockBlobClient('five').upload('12345', 5);
    await container.getBlobClient('five').createSnapshot();
    await container.getBlockBlobClient('five').upload('1234567', 7);
    await container.getPageBlobClient('pages').create(1024);
    await container.getBlockBlobClient('begun').stageBlock('AAAA', 'not committed', 13);
    await until(async () => (await collect(table('$MetricsMinutePrimaryTransactionsBlob').listEntities()).catch(() => [])).length > 0);
    assert.deepEqual(await rows(table), [], 'sums of minutes have none');
    await blobs.setProperties({ hourMetrics: metrics() });
    await until(async () => (await rows(table)).length === 2);
    const today = dayAfter(0);
    const first = [[today, 'analytics', 0, 0, 0], [today, 'data', 5 + 7 + 1024, 2, 3]];
    assert.deepEqual(await rows(table), first);

    // Once a day, whatever is started meanwhile; the next day has what there is then, and the logs.
    await container.getBlockBlobClient('more').upload('1', 1);
    await server.stop({ keep: true });
    await server.restart();
    const again = clients(server);
    await again.blobs.setProperties({ hourMetrics: metrics(), blobAnalyticsLogging: logging() });
    await until(async () => (await collect(again.logs.listBlobsFlat()).catch(() => [])).length > 0);
    await delay(1500);
    assert.deepEqual(await rows(again.table), first);
    await again.blobs.setProperties({ hourMetrics: metrics(), blobAnalyticsLogging: logging({ read: false, write: false, deleteProperty: false }) });
    // Requests that were signed today are refused tomorrow.
    const [, , logs, data] = await until(async () => {
        await writeFile(file, String(DAY_S));
        await delay(2500);
        await writeFile(file, '0');
        const all = await rows(again.table);
        return all.length === 4 && all;
    });
    assert.deepEqual(data, [dayAfter(1), 'data', 5 + 7 + 1024 + 1, 2, 4]);
    assert.deepEqual([logs[0], logs[1], logs[3]], [dayAfter(1), 'analytics', 1]);
    assert.ok(logs[2] > 100 && logs[4] > 0, String(logs));
});

test('parts of a Blob Batch: lines and counts of their own, beside that of the batch', async (t) => {
    // "a batch of size 100 requests .. a total of 101 transactions". source: azure-batchapiforblob; decision: 576
    const { blobs, logs, table } = clients(await start(t));
    const container = blobs.getContainerClient('photos');
    await container.create();
    const names = Array.from({ length: 11 }, (_, i) => `b${i}`);
    for (const name of names.slice(1))
        await container.getBlockBlobClient(name).upload('x', 1);
    await blobs.setProperties({ blobAnalyticsLogging: logging(), hourMetrics: metrics() });
    await until(() => logs.exists());
    await delay(200);
    const answer = await blobs.getBlobBatchClient().deleteBlobs(names.map((name) => container.getBlobClient(name).url), credential);
    assert.deepEqual([answer.subResponsesSucceededCount, answer.subResponsesFailedCount], [10, 1]);

    const named = (lines, name) => lines.filter((line) => line[2] === name);
    const lines = await until(async () => {
        const all = await linesOf(logs, 'blob').catch(() => []);
        return named(all, 'DeleteBlob').length >= names.length && named(all, 'BlobBatch').length > 0 && all;
    });
    const parts = named(lines, 'DeleteBlob');
    assert.equal(named(lines, 'BlobBatch').filter((line) => line[3] === 'Success').length, 1);
    assert.deepEqual(parts.map((line) => [line[3], line[4], line[7], line[12]]).sort(), names.map((name, i) =>
        [i === 0 ? 'BlobNotFound' : 'Success', i === 0 ? '404' : '202', 'authenticated', `"/devstoreaccount1/photos/${name}"`]).sort());
    assert.equal(new Set(lines.map((line) => line[13])).size, lines.length, 'a request id each');
    assert.ok(parts.every((line) => line.length === 30 && Number(line[5]) >= Number(line[6])));

    const ofHour = async (name) => (await collect(table('$MetricsHourPrimaryTransactionsBlob').listEntities()).catch(() => []))
        .filter(({ rowKey }) => rowKey === name);
    const sum = (rows, column) => rows.reduce((all, at) => all + Number(at[column]), 0);
    await until(async () => sum(await ofHour('user;DeleteBlob'), 'TotalRequests') === names.length);
    const deletes = await ofHour('user;DeleteBlob');
    assert.deepEqual(['Success', 'ClientOtherError', 'TotalIngress', 'TotalEgress'].map((column) => sum(deletes, column)), [10, 1, 0, 0]);
    const [batch] = await ofHour('user;BlobBatch');
    assert.deepEqual([batch.TotalRequests, batch.Success].map(Number), [1, 1]);
    assert.ok(Number(batch.TotalIngress) > 1000, 'the bytes of its parts are its own');
});

test('what the elements may say', async (t) => {
    // rest: Set-Blob-Service-Properties, Set-Table-Service-Properties
    const { blobs, tables, files } = clients(await start(t));

    await refusedTable(tables.setProperties({ logging: logging({ version: '2.0' }) }), 400, 'InvalidXmlNodeValue');
    await refused(blobs.setProperties({ blobAnalyticsLogging: logging({ version: '3.0' }) }), 400, 'InvalidXmlNodeValue');
    await refused(blobs.setProperties({ hourMetrics: { version: '1.0', enabled: true } }), 400, 'MissingRequiredXmlNode');
    await refused(blobs.setProperties({ hourMetrics: metrics({ retentionPolicy: keep(366) }) }), 400, 'InvalidXmlDocument');
    await files.setProperties({ hourMetrics: metrics({ retentionPolicy: keep(7) }) });
    assert.deepEqual((await files.getProperties()).hourMetrics, metrics({ retentionPolicy: keep(7) }));
    assert.equal((await files.getProperties()).minuteMetrics.enabled, false);
});

test('commands of SMB are counted as requests of the File service, by their names', async (t) => {
    // As in Azure's logs of files: "Close", heads of 64 bytes. decision: 635
    const [port] = await freePorts(1);
    const server = await start(t, { args: ['--analyticsEvery', '1s', '--smbPort', `${port}`] });
    const { files, table, logs } = clients(server);
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-analytics-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await writeFile(path.join(folder, 'smb.conf'), `[global]\nlock directory = ${folder}\nstate directory = ${folder}\ncache directory = ${folder}\nprivate dir = ${folder}\n`);
    await writeFile(path.join(folder, 'sent'), Buffer.alloc(100000));
    const smb = (commands) => execFileSync('smbclient', ['//127.0.0.1/team', '-p', `${port}`, '-U', `${DEVELOPMENT.account}%${DEVELOPMENT.key}`,
        `--configfile=${path.join(folder, 'smb.conf')}`, '--client-protection=encrypt', '-c', commands], { cwd: folder, stdio: 'pipe' });

    await files.getShareClient('team').create();
    smb('mkdir before');
    await files.setProperties({ hourMetrics: metrics() });
    await delay(200);
    smb('mkdir d; put sent d/one; get d/one back');
    assert.throws(() => smb('get d/none back'));
    const rows = async () => {
        const all = await collect(table('$MetricsHourPrimaryTransactionsFile').listEntities()).catch(() => []);
        const sums = {};
        for (const at of all)
            for (const [name, value] of Object.entries(at))
                if (/^(Total|Success$|ClientOther)/.test(name))
                    ((sums[at.rowKey] ??= {})[name] ??= 0, sums[at.rowKey][name] += Number(value));
        return sums;
    };
    const isWhole = ({ 'user;All': all, ...each }) => // rows of an interval are written one after the other
        all?.TotalRequests === Object.values(each).reduce((sum, { TotalRequests }) => sum + TotalRequests, 0);
    const sums = await until(async () => {
        const all = await rows();
        return all['user;Create']?.ClientOtherError > 0 && all['user;TreeDisconnect']?.Success >= 2 && isWhole(all) && all;
    });
    assert.ok(sums['user;Write'].TotalIngress > 100000 && sums['user;Write'].TotalIngress < 110000, JSON.stringify(sums));
    assert.ok(sums['user;Read'].TotalEgress > 100000 && sums['user;Read'].TotalEgress < 110000, JSON.stringify(sums));
    for (const name of ['SessionSetup', 'TreeConnect', 'Close'])
        assert.ok(sums[`user;${name}`].Success > 0, name);
    assert.equal(await logs.exists(), false, 'the File service has no logs');
});

test('retention: what is older than so many days is deleted', { skip: existsSync(wall) ? false : 'the library that sets the clock is not built' }, async (t) => {
    // rest: Setting-a-Storage-Analytics-Data-Retention-Policy
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-analytics-'));
    const file = path.join(folder, 'wall');
    t.after(() => rm(folder, { recursive: true, force: true }));
    await writeFile(file, String(-9 * DAY_S));
    const server = await start(t, { env: { LD_PRELOAD: wall, WALL_FILE: file } });
    // Requests that are dated today are too new for that clock: a SAS has no date.
    const { blobs: signed } = clients(server);
    const sas = (service, resource) => signed.generateAccountSasUrl(new Date(Date.now() + DAY_S * 1000), { toString: () => 'rwdlacu' }, 'sco',
        { startsOn: new Date(Date.now() - 20 * DAY_S * 1000) }).replace(server.url, server.urlOf(service) ?? resource);
    const blobs = new BlobServiceClient(sas('blob'), undefined, once);
    const logs = blobs.getContainerClient('$logs');
    const names = async () => (await collect(logs.listBlobsFlat()).catch(() => [])).map(({ name }) => name);
    const at = (days) => new Date(Date.now() + days * DAY_S * 1000).toISOString();
    const daysOf = async (table) => {
        const sas = tableSas(table, { sp: 'r', st: `${at(-20).slice(0, 19)}Z`, se: `${at(1).slice(0, 19)}Z` });
        const answer = await fetch(`${server.urlOf('table')}/${table}?${sas}`, { headers: { accept: 'application/json;odata=nometadata' } });
        return answer.status === 200 ? (await answer.json()).value.map(({ PartitionKey }) => PartitionKey.slice(0, 8)) : [];
    };
    const day = (days) => at(days).slice(0, 10).replaceAll('-', '');
    const TABLES = ['$MetricsCapacityBlob', '$MetricsHourPrimaryTransactionsBlob'];

    await blobs.setProperties({ blobAnalyticsLogging: logging({ retentionPolicy: keep(7) }), hourMetrics: metrics({ retentionPolicy: keep(7) }) });
    const [old] = await until(async () => (await names()).length > 0 && names());
    for (const table of TABLES)
        await until(async () => (await daysOf(table)).includes(day(-9)));
    await delay(1500);
    assert.ok((await names()).includes(old), 'it is kept while it is new');
    for (const table of TABLES)
        assert.ok((await daysOf(table)).includes(day(-9)), `${table} is kept while it is new`);
    await writeFile(file, '0');
    await until(async () => !(await names()).includes(old));
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '/');
    await until(async () => (await names()).some((name) => name.startsWith(`blob/${today}`)));
    for (const table of TABLES)
        await until(async () => {
            const days = await daysOf(table);
            return days.includes(day(0)) && !days.includes(day(-9));
        });
});

test('kill -9 loses what an interval brought, and nothing that was written', async (t) => {
    const server = await start(t);
    const { blobs, logs } = clients(server);
    await blobs.setProperties({ blobAnalyticsLogging: logging() });
    await until(() => logs.exists());
    const { requestId } = await blobs.getContainerClient('aaa').create();
    const all = await logged(logs, 'blob', (line) => line[13] === requestId);
    for (let i = 0; i < 50; i++)
        blobs.getContainerClient(`c${String(i).padStart(3, '0')}`).create().catch(() => {});
    await delay(20);
    await server.kill();
    await server.restart();
    const again = clients(server);
    const { requestId: next } = await again.blobs.getContainerClient('zzz').create();
    const lines = await logged(again.logs, 'blob', (line) => line[13] === next);
    assert.ok(all.every((line) => lines.some((at) => at[13] === line[13] && at[14] === line[14])));
    assert.equal(new Set(lines.map((line) => `${line[13]} ${line[14]}`)).size, lines.length, 'no line twice');
    // An orderly end writes all.
    const { requestId: last } = await again.blobs.getContainerClient('yyy').create();
    await server.stop({ keep: true });
    await server.restart();
    assert.ok((await linesOf(clients(server).logs, 'blob')).some((line) => line[13] === last));
});

test('the longest lines of many requests take no more memory than they may, and each is written', async (t) => {
    // analytics.h, invariant 2: 32 MiB; here they are 60 MiB, in an interval that does not end
    const server = await start(t, { args: ['--analyticsEvery', '1h'] });
    const { blobs, logs } = clients(server);
    const COUNT = 3000;
    await blobs.setProperties({ blobAnalyticsLogging: logging() });
    await until(() => logs.exists());
    const memory = async () => Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024;
    const before = await memory();
    const quotes = '"'.repeat(1000);
    await Promise.all(Array.from({ length: 4 }, async () => {
        const connection = await Connection.open(server.host, server.port);
        for (let i = 0; i < COUNT / 4; i++) {
            const answer = await connection.exchange(sign({ method: 'GET', target: `/${server.account}/many/b`, headers: [['Host', 'x'],
                ['User-Agent', quotes], ['Referer', quotes], ['If-Match', quotes]] }));
            assert.ok(answer.status === 404 || answer.status === 400, String(answer.status));
        }
        connection.close();
    }));
    const most = await memory();
    assert.ok(most - before < 160, `${before} MiB, then ${most} MiB`);
    await server.stop({ keep: true });
    await server.restart();
    const lines = (await linesOf(clients(server).logs, 'blob')).filter((line) => line[12] === '"/devstoreaccount1/many/b"');
    assert.equal(lines.length, COUNT);
    assert.equal(new Set(lines.map((line) => line[13])).size, COUNT);
});

test('requests of the Data Lake endpoint are in the logs and metrics of the Blob service', async (t) => {
    // rest: Storage-Analytics-Logged-Operations-and-Status-Messages; decision 1373
    const server = await start(t, { args: ['--analyticsEvery', '1s', '--hierarchical'] });
    const { blobs, logs, table } = clients(server);
    const dfs = async (method, path, headers = {}, body = '') => {
        const answer = await raw(method, path, headers, body, { base: { host: server.host, port: server.ports.dfs } });
        return [answer.status, method, path].join(' ');
    };

    await blobs.setProperties({ blobAnalyticsLogging: logging(), hourMetrics: metrics() });
    await until(() => logs.exists());
    const rename = (from) => ({ 'x-ms-rename-source': `/files/${from}` });
    const lease = '11111111-2222-3333-4444-555555555555';
    const sent = [
        ['PUT', '/files?resource=filesystem', 'CreateFilesystem', 201],
        ['GET', '/?resource=account', 'ListFilesystems', 200],
        ['HEAD', '/files?resource=filesystem', 'GetFilesystemProperties', 200],
        ['PATCH', '/files?resource=filesystem', 'SetFilesystemProperties', 200, { 'x-ms-properties': 'a=MQ==' }],
        ['PUT', '/files/d?resource=directory', 'CreatePathDir', 201],
        ['PUT', '/files/d/f?resource=file', 'CreatePathFile', 201],
        ['PATCH', '/files/d/f?action=append&position=0', 'AppendFile', 202, {}, 'hello'],
        ['PATCH', '/files/d/f?action=flush&position=5', 'FlushFile', 200],
        ['GET', '/files/d/f', 'ReadFile', 200],
        ['GET', '/files/d/none', 'ReadFile', 404],
        ['HEAD', '/files/d/f', 'GetFileProperties', 200],
        ['HEAD', '/files/d/f?action=getStatus', 'GetPathStatus', 200],
        ['HEAD', '/files/d/f?action=getAccessControl', 'GetPathAccessControl', 200],
        ['PATCH', '/files/d/f?action=setAccessControl', 'SetPathAccessControl', 200, { 'x-ms-permissions': 'rwx------' }],
        ['PATCH', '/files/d/f?action=setProperties', 'SetFileProperties', 200, { 'x-ms-properties': 'a=MQ==' }],
        ['POST', '/files/d/f', 'LeaseFile', 201, { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1', 'x-ms-proposed-lease-id': lease }],
        ['POST', '/files/d/f', 'LeaseFile', 200, { 'x-ms-lease-action': 'release', 'x-ms-lease-id': lease }],
        ['GET', '/files?resource=filesystem&recursive=true', 'ListFilesystemDir', 200],
        ['PUT', '/files/d/g', 'RenamePathFile', 201, rename('d/f')],
        ['PUT', '/files/e', 'RenamePathFile', 201, rename('d')],
        ['DELETE', '/files/e/g', 'DeleteFile', 200],
        ['DELETE', '/files/e?recursive=true', 'DeleteDirectory', 200],
        ['DELETE', '/files?resource=filesystem', 'DeleteFilesystem', 202],
    ];
    for (const [method, path, , status, headers, body] of sent)
        assert.equal(await dfs(method, path, headers, body), [status, method, path].join(' '));
    const lines = await logged(logs, 'blob', (line) => line[2] === 'DeleteFilesystem');
    const dfsLines = lines.filter((line) => sent.some(([, , name]) => name === line[2])).map((line) => line.slice(2, 5).concat(line[10]).join(' ')).sort();
    assert.deepEqual(dfsLines, sent.map(([, , name, status]) => `${name} ${status === 404 ? 'PathNotFound' : 'Success'} ${status} blob`).sort());
    const read = lines.find((line) => line[2] === 'ReadFile' && line[4] === '200');
    assert.deepEqual([read[12], read[20]], ['"/devstoreaccount1/files/d/f"', '5']);
    await until(async () => {
        const found = await collect(table('$MetricsHourPrimaryTransactionsBlob').listEntities()).catch(() => []);
        const of = (name) => found.filter(({ rowKey }) => rowKey === `user;${name}`).reduce((sum, at) => sum + Number(at.TotalRequests), 0);
        return of('ReadFile') === 2 && of('RenamePathFile') === 2;
    });
});
