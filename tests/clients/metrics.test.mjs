// The management port: /metrics, and who may ask. decision: 344
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { Connection } from '../lib/http.mjs';
import { run } from '../lib/program.mjs';
import { ANY_PORTS, freePorts, Server } from '../lib/server.mjs';
import { credential, once } from './setup.mjs';

async function ask(port, path, headers = {}, method = 'GET') {
    const connection = await Connection.open('127.0.0.1', port);
    try {
        return await connection.exchange({ method, target: path,
            headers: [['Host', `127.0.0.1:${port}`], ...Object.entries(headers)] });
    } finally {
        connection.close();
    }
}

/** The series of a page: "name{labels}" -> number. Each line has the form that Prometheus reads. */
function seriesOf(page) {
    const series = new Map();
    const types = new Map();
    for (const line of page.trimEnd().split('\n')) {
        const about = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
        if (about?.[1] === 'TYPE') {
            assert.ok(!types.has(about[2]), `${about[2]} has two types`);
            assert.match(about[3], /^(counter|gauge|histogram)$/);
            types.set(about[2], about[3]);
        }
        if (about)
            continue;
        const [, name, labels, value] = /^([a-z_]+)(\{(?:[a-z]+="[^"\\]*",?)*\})? (-?[0-9.e+-]+)$/.exec(line) ?? assert.fail(line);
        const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
        assert.ok(types.has(family), `${name} has no type`);
        assert.ok(!series.has(name + (labels ?? '')), `${line}: twice`);
        series.set(name + (labels ?? ''), Number(value));
    }
    return series;
}

async function newServer(t, args = []) {
    const [management] = await freePorts(1);
    const server = await Server.start({ args: ['--managementPort', `${management}`, ...args] });
    t.after(() => server.kill().then(() => server.remove()));
    return { server, management, read: async () => seriesOf((await ask(management, '/metrics')).body.toString()) };
}

test('requests are counted by operation and outcome, with their bytes and times', async (t) => {
    const { server, read } = await newServer(t);
    const client = new BlobServiceClient(server.url, credential, once);
    const container = client.getContainerClient('counted');
    await container.create();
    const blob = container.getBlockBlobClient('b');
    for (let i = 0; i < 3; i++)
        await blob.upload('x'.repeat(1000), 1000);
    await blob.downloadToBuffer();
    await assert.rejects(container.getBlobClient('none').download());
    const series = await read();
    const of = (operation, code) => series.get(`lagra_requests_total{service="blob",operation="${operation}",code="${code}"}`);
    assert.equal(of('Create Container', 'Success'), 1);
    assert.equal(of('Put Blob', 'Success'), 3);
    assert.equal(of('Get Blob', 'BlobNotFound'), 1);
    assert.equal(series.get('lagra_request_body_bytes_total{service="blob"}'), 3000);
    assert.ok(series.get('lagra_response_body_bytes_total{service="blob"}') >= 1000);
    assert.equal(series.get('lagra_request_duration_seconds_count{service="blob",operation="Put Blob"}'), 3);
    assert.equal(series.get('lagra_request_duration_seconds_bucket{service="blob",operation="Put Blob",le="+Inf"}'), 3);
    assert.ok(series.get('lagra_request_duration_seconds_sum{service="blob",operation="Put Blob"}') > 0);
    assert.ok(series.get('lagra_request_first_byte_seconds_count{service="blob"}') >= 6);
    assert.equal(series.get('lagra_requests_in_flight{service="blob"}'), 0);
    assert.ok(series.get('lagra_store_commits_total{}') >= 4);
    assert.ok(series.get('lagra_store_sync_seconds_count{}') >= 1);
    assert.ok(series.get('lagra_store_sync_waiters_total{}') >= 1);
});

test('what the process, the store and the build are', async (t) => {
    const { read, server } = await newServer(t);
    const series = await read();
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_virtual_memory_bytes',
        'process_open_fds', 'process_max_fds', 'process_threads', 'lagra_disk_free_bytes', 'lagra_disk_reserve_bytes',
        'lagra_store_memory_table_bytes'])
        assert.ok(series.get(name) > 0, name);
    assert.ok(Math.abs(series.get('process_start_time_seconds') - Date.now() / 1000) < 600);
    assert.equal(series.get('lagra_store_healthy'), 1);
    assert.equal(series.get('lagra_store_full'), 0);
    assert.equal(series.get('lagra_store_piece_bytes'), 0);
    assert.equal([...series.keys()].filter((name) => name.startsWith('lagra_build_info{version="')).length, 1);
    const container = new BlobServiceClient(server.url, credential, once).getContainerClient('large');
    await container.create();
    await container.getBlockBlobClient('b').uploadData(Buffer.alloc(3 << 20), { maxSingleShotSize: 4 << 20 });
    const then = await read();
    assert.ok(then.get('lagra_store_piece_bytes') >= 3 << 20);
    assert.ok(then.get('lagra_store_extents') >= 1);
});

test('one page, GET and HEAD', async (t) => {
    const { management } = await newServer(t);
    const page = await ask(management, '/metrics');
    assert.equal(page.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal((await ask(management, '/metrics', {}, 'HEAD')).body.length, 0);
    const wrong = await ask(management, '/metrics', { 'Content-Length': '0' }, 'PUT');
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get('allow'), 'GET, HEAD');
    for (const path of ['/other', '/metrics/', '/metric', '/devstoreaccount1?comp=list'])
        assert.equal((await ask(management, path)).status, 404, path);
});

test('a token, where one is asked for', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-token-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'token');
    await writeFile(path, 'a token of its own\n');
    const { management } = await newServer(t, ['--managementToken', path]);
    for (const headers of [{}, { Authorization: 'Bearer' }, { Authorization: 'Bearer ' }, { Authorization: 'Bearer a token of its ow' },
        { Authorization: 'Basic a token of its own' }, { Authorization: 'Bearer a token of its own2' }]) {
        const refused = await ask(management, '/metrics', headers);
        assert.equal(refused.status, 401);
        assert.equal(refused.headers.get('www-authenticate'), 'Bearer');
    }
    assert.equal((await ask(management, '/metrics', { Authorization: 'Bearer a token of its own' })).status, 200);
});

test('beyond this machine without a token, or with one that is guessed: refused at the start', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-token-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const short = join(folder, 'token');
    await writeFile(short, 'short\n');
    const start = (args) => run(['--inMemoryPersistence', ...ANY_PORTS, ...args]);
    for (const [args, code, message] of [
        [['--managementPort', 'any', '--managementHost', '0.0.0.0'], 1, /requires --managementToken/],
        [['--managementPort', 'any', '--managementToken', short], 1, /at least 16 characters/],
        [['--managementPort', 'any', '--managementToken', '/nowhere'], 1, /cannot read \/nowhere/],
        [['--managementPort', '0', '--managementHost', '127.0.0.1'], 2, /require --managementPort/],
    ]) {
        const got = await start(args);
        assert.equal(got.code, code);
        assert.match(got.errors, message);
    }
});

test('connections, records in memory, tasks, and what accounts keep', async (t) => {
    const { read, server } = await newServer(t, ['--workers', '2']);
    const client = new BlobServiceClient(server.url, credential, once);
    const container = client.getContainerClient('kept');
    await container.create();
    await container.getBlockBlobClient('b').upload('x'.repeat(1000), 1000);
    await container.getBlobClient('b').createSnapshot();
    await container.getBlockBlobClient('c').stageBlock(Buffer.from('1').toString('base64'), 'y', 1);
    await container.getBlobClient('b').downloadToBuffer();
    const { code, output } = await run(['usage', '--location', server.location]);
    assert.match(output, /^ACCOUNT +SERVICE +CONTAINERS +OBJECTS +SIZE +QUOTA$/m);
    assert.match(output, / \d+(\.\d)? (B|KiB|MiB) /);
    assert.equal(code, 0);
    const series = await read();
    const workers = [0, 1].map((worker) => series.get(`lagra_connections{service="blob",worker="${worker}"}`));
    assert.ok(workers[0] + workers[1] >= 1);
    assert.equal(series.get('lagra_connections{service="blob",worker="2"}'), undefined);
    assert.ok(series.get('lagra_record_cache_hits_total') > 0);
    assert.ok(series.get('lagra_record_cache_misses_total') > 0);
    assert.equal(series.get('lagra_tasks_left{}'), 0);
    // A snapshot has bytes and is no blob; what was never committed is neither.
    assert.equal(series.get('lagra_account_bytes{account="devstoreaccount1",service="blob"}'), 2000);
    assert.equal(series.get('lagra_account_objects{account="devstoreaccount1",service="blob"}'), 1);
    assert.equal(series.get('lagra_account_containers{account="devstoreaccount1",service="blob"}'), 1);
    assert.equal(series.get('lagra_container_bytes{account="devstoreaccount1",service="blob",container="kept"}'), 2000);
});

test('when the last backup was made: none, one, and the same after a restart', async (t) => {
    const { read, server } = await newServer(t);
    const folder = await mkdtemp(join(tmpdir(), 'lagra-backed-up-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const last = async () => (await read()).get('lagra_backup_last_end_timestamp_seconds{}');
    assert.equal(await last(), undefined);
    const { code, errors } = await run(['backup', folder, '--location', server.location], {}, 60000);
    assert.equal(code, 0, errors);
    const ended = await last();
    assert.ok(Math.abs(ended - Date.now() / 1000) < 600, ended);
    await server.stop({ keep: true });
    await server.restart();
    assert.equal(await last(), ended);
});
