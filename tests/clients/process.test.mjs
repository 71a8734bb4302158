// The process: its options, its certificate, its accounts, how it starts, stops and starts again.
// Each test has servers of its own.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once as event } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { newCertificate } from '../lib/certificate.mjs';
import { Connection } from '../lib/http.mjs';
import { run } from '../lib/program.mjs';
import { Control, freePorts, Server } from '../lib/server.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';
import { blockId, collect, credential, md5, once, pattern, refused, until } from './setup.mjs';

const binary = process.env.LAGRA_BINARY;
const MiB = 1024 * 1024;

async function newFolder(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-process-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

async function newServer(t, options = {}) {
    const server = await Server.start(options);
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

const clientOf = (server) => new BlobServiceClient(server.url, credential, once);

/** Arguments of a server on free ports, with a folder of its own. */
async function serveArguments(t) {
    const [blob, queue, table, file] = await freePorts(4);
    const location = await newFolder(t);
    return {
        port: blob, location,
        args: ['--location', location, '--blobPort', `${blob}`, '--queuePort', `${queue}`,
            '--filePort', `${file}`, '--tablePort', `${table}`, '--managementPort', '0'],
    };
}

/** One signed request by hand. */
async function ask(server, method, path, headers = {}, options = {}) {
    const connection = await Connection.open(server.host, server.port);
    try {
        return await connection.exchange(sign({
            method, target: `/${server.account}${path}`,
            headers: Object.entries({
                Host: `${server.host}:${server.port}`, 'Content-Length': '0', ...headers,
            }),
        }, options));
    } finally {
        connection.close();
    }
}

/* ---- options ---- */

test('wrong options: a message that names them, and exit code 2', async () => {
    for (const [args, message] of [
        [['--nonsense'], /nonsense/], [['--blobPort'], /blobPort/],
        [['--blobPort', 'x'], /blobPort.*"x"/],
        [['--blobPort', '70000'], /blobPort/], [['server'], /"server"/],
        [['--cert', 'c.pem'], /--key/],
        [['--key', 'k.pem'], /--cert/], [['operations', '--yaml'], /operations/],
    ]) {
        const { code, output, errors } = await run(args);
        assert.equal(code, 2, `${args}`);
        assert.match(errors, message);
        assert.equal(output, '');
    }
});

test('what is no option: the nearest name, one line, and where to look', async () => {
    for (const [args, message] of [
        [['--blobport', '1'], '"--blobport" is not an option; did you mean --blobPort?'],
        [['--blobPrt=1'], '"--blobPrt=1" is not an option; did you mean --blobPort?'],
        [['--locaton', 'x'], '"--locaton" is not an option; did you mean --location?'],
        [['--slient'], '"--slient" is not an option; did you mean --silent?'],
        [['--'.padEnd(200, 'x')], `"${'--'.padEnd(200, 'x')}" is not an option.`],
        [['--nonsense'], '"--nonsense" is not an option.'],
        [['-x'], '"-x" is not an option.'], [['-sx'], '"-x" is not an option.'],
        [['--blob', '1'], '"--blob" is an ambiguous option.'],
        [['--silent=1'], '--silent takes no value.'], [['--blobPort'], '--blobPort takes PORT.'],
        [['-l'], '--location takes DIR.'],
        [['chekc', '.'], '"chekc" is not a command; did you mean lagra check?'],
        [['contaner', 'list'], '"contaner" is not a command; did you mean lagra container?'],
        [['health', 'statsu'], '"statsu" is not an option.'], [['--pot', '1'], '"--pot" is not an option.'],
        [['server'], '"server" is not a command; did you mean lagra serve?'],
        [['nonsense'], '"nonsense" is not a command.'], [['serve', 'x'], '"x" is not an option.'],
        [['health', '--blobport', '1'], '"--blobport" is not an option; did you mean --blobPort?'],
    ]) {
        const { code, errors } = await run(args);
        assert.equal(code, 2, `${args}`);
        assert.equal(errors, `lagra: ${message} See lagra --help\n`);
    }
});

test('help, version, and the tables in print', async () => {
    const help = await run(['--help']);
    assert.equal(help.code, 0);
    assert.deepEqual(await run(['help']), help);
    assert.deepEqual(await run(['help', 'account']), await run(['account', '--help']));
    assert.deepEqual(await run(['version']), await run(['--version']));
    assert.deepEqual(await run(['help', 'acount']), { code: 2, output: '', errors: 'lagra: "acount" is not a command. See lagra --help\n' });
    for (const option of ['--location', '--blobPort', '--inMemoryPersistence',
        '--skipApiVersionCheck',
        'AZURITE_ACCOUNTS'])
        assert.ok(help.output.includes(option), option);
    for (const args of [['check', '--help'], ['check', 'x', 'y', 'z', '-h'], ['operations', '--help'], ['errors', '-h'],
        ['health', '--help'], ['health', '--running', '--help']])
        assert.deepEqual(await run(args), help, `${args}`);
    assert.match((await run(['--version'])).output, /^\d+\.\d+/);
    assert.match((await run(['operations'])).output, /\| Put Block List \|/);
    const errors = JSON.parse((await run(['errors', '--json'])).output);
    assert.ok(errors.some(({ code, status }) => code === 'LeaseIdMissing' && status === 412));
});

test('no service is said to listen before all of them accept', async (t) => {
    // decision: 273
    const { args } = await serveArguments(t);
    const taken = await newServer(t);
    const { code, output } = await run([...args.slice(0, 8), '--tablePort', `${taken.ports.table}`]);
    assert.equal(code, 1);
    assert.doesNotMatch(output, /listens|listening/);
});

test('what is wrong with a data folder is said once', async (t) => {
    const server = await newServer(t);
    await clientOf(server).getContainerClient('kept').create();
    await server.stop({ keep: true });
    const records = join(server.location, 'records');
    const table = (await readdir(records)).find((name) => name.endsWith('.sst'));
    const bytes = await readFile(join(records, table));
    bytes[20] ^= 1;
    await writeFile(join(records, table), bytes);
    const { args } = await serveArguments(t);
    for (const words of [[...args.slice(2), '--location', server.location], ['check', server.location]]) {
        const { code, errors } = await run(words);
        assert.equal(code, 1);
        assert.equal(errors.split(table).length - 1, 1, errors);
        assert.equal(errors.split('cannot open the data directory').length - 1, 1, errors);
    }
});

test('what cannot be used is told, and nothing is served', async (t) => {
    const { args, port } = await serveArguments(t);
    const missing = await run([...args, '--cert', '/nowhere/c.pem', '--key', '/nowhere/k.pem']);
    assert.equal(missing.code, 1);
    assert.match(missing.errors, /\/nowhere\/c\.pem/);
    const taken = await newServer(t);
    const again = await run([...args.slice(0, 2), '--blobPort', `${taken.port}`, ...args.slice(4)]);
    assert.equal(again.code, 1);
    assert.match(again.errors, new RegExp(`^lagra: the blob service: port ${taken.port} of 127.0.0.1 is in use: is another server running\\?\n$`));
    const folder = await run(['--location', '/proc/nowhere', ...args.slice(2)]);
    assert.equal(folder.code, 1);
    assert.match(folder.errors, /\/proc\/nowhere/);
    await assert.rejects(Connection.open('127.0.0.1', port));
});

/* ---- whose folder it is: decision 271 ---- */

/** Everything in a folder, with its contents, sizes, modes and times, and the folder's own. */
async function stateOf(folder) {
    const names = ['.', ...(await readdir(folder, { recursive: true })).sort()];
    return Promise.all(names.map(async (name) => {
        const { mode, size, mtimeNs, ctimeNs } = await stat(join(folder, name), { bigint: true });
        const content = size < MiB && (Number(mode) & 0o170000) === 0o100000
            ? await readFile(join(folder, name), 'latin1') : '';
        return [name, mode, size, mtimeNs, ctimeNs, content];
    }));
}

/** What somebody else keeps: name of the folder -> its files, a name that ends with / is a folder. */
const STRANGERS = {
    nothing: {},
    papers: { 'thesis.tex': 'text', 'figures/': null },
    photos: { 'records/': null, '.hidden': 'x' },
    azurite: {
        '__azurite_db_blob__.json': '{}', '__azurite_db_blob_extent__.json': '{}', '__blobstorage__/': null,
        'AzuriteConfig': '{}',
    },
    queues: { '__queuestorage__/': null },
};

async function stranger(t, files) {
    const folder = await newFolder(t);
    for (const [name, content] of Object.entries(files))
        await (content === null ? mkdir(join(folder, name)) : writeFile(join(folder, name), content));
    return folder;
}

/** Runs lagra, which is to refuse the folder and to leave it as it is. */
async function leaves(folder, args, message) {
    const before = await stateOf(folder);
    const { code, output, errors } = await run(args);
    assert.notEqual(code, 0, `${args}: ${output}`);
    assert.match(errors, message);
    assert.equal(errors.trim().split('\n').length, 1, errors);
    assert.equal(output, '');
    assert.deepEqual(await stateOf(folder), before);
}

test('check and salvage of what is no data folder: a message, and nothing is written', async (t) => {
    const to = await newFolder(t);
    for (const files of Object.values(STRANGERS)) {
        const folder = await stranger(t, files);
        await leaves(folder, ['check', folder], /^lagra: cannot open the data directory .*: (it is not a data directory of Lagra|Azurite wrote it)/);
        await leaves(folder, ['check', '--salvage', folder, join(to, 'new')], /^lagra: cannot salvage .*: (it is not a data directory of Lagra|Azurite wrote it)/);
        await leaves(folder, ['check', join(folder, 'missing')], /missing: the data directory cannot be opened: open: No such file/);
        await leaves(folder, ['check', '--salvage', join(folder, 'missing'), join(to, 'new')], /missing to .*: No such file/);
    }
    assert.deepEqual(await readdir(to), []);
    const file = join(await stranger(t, STRANGERS.papers), 'thesis.tex');
    await leaves(join(file, '..'), ['check', file], /Not a directory/);
});

test('a start in a folder of somebody else is refused, and nothing is written', async (t) => {
    const { args } = await serveArguments(t);
    for (const [files, message] of [
        [STRANGERS.papers, /it holds files that are not Lagra's \((thesis\.tex|figures)\)\. .*--location$/m],
        [STRANGERS.photos, /it holds files that are not Lagra's \(records\)/],
        [STRANGERS.azurite, /Azurite wrote it \(__.*\), .*another folder with --location$/m],
        [STRANGERS.queues, /Azurite wrote it \(__queuestorage__\)/],
    ]) {
        const folder = await stranger(t, files);
        await leaves(folder, [...args.slice(2), '--location', folder], message);
    }
});

test('a folder is taken that holds nothing, what is harmless, or files that the options name', async (t) => {
    const location = await stranger(t, { 'lost+found/': null, '.gitignore': '*', 'accounts': DEVELOPMENT.account + ':' + DEVELOPMENT.key });
    const args = ['--debug', join(location, 'debug.log'), '--accountsFile', join(location, 'accounts')];
    const server = await newServer(t, { location, args });
    await clientOf(server).getContainerClient('kept').create();
    await server.stop({ keep: true });
    await writeFile(join(location, 'notes.txt'), 'of the operator'); /* ours by now, whatever lies beside */
    await server.restart();
    assert.equal(await clientOf(server).getContainerClient('kept').exists(), true);
    await server.stop({ keep: true });
    assert.match((await run(['check', location])).output, /0 blobs in 1 containers.*damaged or lost: 0/);
});

test('check --json: a line of JSON for each finding, and the totals', async (t) => {
    const server = await newServer(t);
    const container = clientOf(server).getContainerClient('kept');
    await container.create();
    for (const name of ['whole', 'a "b"'])
        await container.getBlockBlobClient(name).upload(pattern(MiB), MiB);
    await server.stop({ keep: true });
    const extent = join(server.location, 'extents/00000001');
    const bytes = await readFile(extent);
    bytes[3 * MiB / 2] ^= 1; /* the second one is behind the first */
    await writeFile(extent, bytes);

    const people = await run(['check', server.location]);
    assert.match(people.output, /^damaged  devstoreaccount1\/kept\/a "b": some of its bytes cannot be read\n2 blobs in 1 containers, .*damaged or lost: 1\n$/);
    const { code, output } = await run(['check', server.location, '--json']);
    assert.equal(code, 1);
    const lines = output.trimEnd().split('\n').map(JSON.parse);
    assert.deepEqual(lines, [
        { damaged: 'devstoreaccount1/kept/a "b": some of its bytes cannot be read' },
        { blobs: 2, containers: 1, messages: 0, queues: 0, entities: 0, tables: 0, files: 0, shares: 0, damagedOrLost: 1 },
    ]);
});

test('a format of another version, or none: what stands there, and what is read', async (t) => {
    const server = await newServer(t);
    await server.stop({ keep: true });
    const { args } = await serveArguments(t);
    for (const [format, message] of [
        ['lagra store 2\n', /its format is 2, and this program reads format 1: another version of Lagra wrote it/],
        ['lagra store 1234567\n', /its format is 1234567, and this program reads format 1/],
        ['lagra store 1', /its file `format` says "lagra store 1", and this program reads "lagra store 1"/],
        ['lagra store x\n', /its file `format` says "lagra store x\."/],
        ['\x1b[2J\0%s', /its file `format` says "\.\[2J\.%s", and/],
        ['x'.repeat(100000), /its file `format` says "x{32}", and/],
        ['', /its file `format` says "", and/],
    ]) {
        await writeFile(join(server.location, 'format'), format);
        await leaves(server.location, [...args.slice(2), '--location', server.location], message);
        await leaves(server.location, ['check', server.location], message);
    }
});

test('--skipApiVersionCheck takes any x-ms-version', async (t) => {
    const server = await newServer(t, { args: ['--inMemoryPersistence', '--skipApiVersionCheck'] });
    const answer = await ask(server, 'GET', '/?comp=list', {}, { version: 'latest' });
    assert.equal(answer.status, 200);
});

test('--loose ignores what is not supported, --disableProductStyleUrl the host', async (t) => {
    const server = await newServer(t,
        { args: ['--inMemoryPersistence', '--loose', '--disableProductStyleUrl'] });
    const container = clientOf(server).getContainerClient('loose');
    await container.create();
    const headers = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-expiry-option': 'Absolute' };
    assert.equal((await ask(server, 'PUT', '/loose/b', headers)).status, 201);
    const host = { Host: `${server.account}.blob.localhost` };
    assert.equal((await ask(server, 'GET', '/loose/b', host)).status, 200);
});

test('--debug: a line for each request and its answer, without signatures', async (t) => {
    const log = join(await newFolder(t), 'requests');
    const server = await newServer(t, { args: ['--inMemoryPersistence', '--debug', log] });
    await clientOf(server).getContainerClient('logged').create();
    const sas = await fetch(`${server.url}/logged/a%20b?sv=2026-10-06&sig=c2VjcmV0`);
    assert.equal(sas.status, 403);
    const twice = await fetch(`${server.url}/logged/b?sig=c2VjcmV0&%73ig=c2VjcmV0`);
    assert.equal(twice.status, 400);
    // Lines are written behind the answers.
    const text = await until(() => readFile(log, 'utf8').then((read) => /b\?sig=.*\n$/.test(read) && read));
    const lines = text.split('\n');
    const id = sas.headers.get('x-ms-request-id');
    assert.ok(lines.some((line) =>
        line.includes(`201 PUT /${server.account}/logged?restype=container request `)));
    assert.ok(lines.some((line) => line.endsWith('403 AuthenticationFailed ' +
        `GET /${server.account}/logged/a%20b?sv=2026-10-06&sig=*** request ${id}`)));
    assert.ok(lines.some((line) => line.includes(`GET /${server.account}/logged/b?sig=***&%73ig=*** request `)));
    assert.doesNotMatch(lines.join(), /c2VjcmV0|SharedKey|Eby8/);
});

test('--debug: warnings go to the console too, and SIGHUP begins a new file', async (t) => {
    const folder = await newFolder(t);
    const [log, accounts] = ['requests', 'accounts'].map((name) => join(folder, name));
    await writeFile(accounts, `${DEVELOPMENT.account}:${DEVELOPMENT.key}`);
    const server = await newServer(t, { args: ['--debug', log, '--accountsFile', accounts] });
    await writeFile(accounts, 'nonsense');
    await rename(log, `${log}.1`);
    process.kill(server.pid, 'SIGHUP');
    while (!/accounts/.test(server.stderr))
        await delay(5);
    const refusal = server.stderr.trim();
    assert.equal(refusal.split('\n').length, 1, refusal);
    assert.ok((await readFile(log, 'utf8')).includes(refusal), 'in the file as well');
    await clientOf(server).getContainerClient('logged').create();
    assert.match(await readFile(log, 'utf8'), /201 PUT /);
    assert.doesNotMatch(await readFile(`${log}.1`, 'utf8'), /201 PUT /);
    assert.equal(server.stderr.trim(), refusal);
});

test('--inMemoryPersistence keeps nothing on the disk', async (t) => {
    const server = await newServer(t, { args: ['--inMemoryPersistence'] });
    const container = clientOf(server).getContainerClient('memory');
    await container.create();
    const content = pattern(3 * MiB);
    await container.getBlockBlobClient('b').upload(content, content.length);
    assert.ok((await container.getBlobClient('b').downloadToBuffer()).equals(content));
    assert.equal(execFileSync('ls', ['-A', server.location], { encoding: 'utf8' }), '');
    await server.stop({ keep: true });
    await server.restart();
    assert.equal(await clientOf(server).getContainerClient('memory').exists(), false);
});

/* ---- accounts ---- */

test('AZURITE_ACCOUNTS: two accounts, each with its own key and its own blobs', async (t) => {
    const keys =
        [pattern(64, 3), pattern(64, 4), pattern(64, 5)].map((key) => key.toString('base64'));
    const server = await newServer(t, {
        args: ['--inMemoryPersistence'],
        env: { AZURITE_ACCOUNTS: `first:${keys[0]};second:${keys[1]}:${keys[2]}` },
    });
    const of = (name, key) => new BlobServiceClient(`http://127.0.0.1:${server.port}/${name}`,
        new StorageSharedKeyCredential(name, key), once);
    const [first, second, rotated] =
        [of('first', keys[0]), of('second', keys[1]), of('second', keys[2])];
    await first.getContainerClient('shared-name').create();
    assert.deepEqual(await collect(second.listContainers()), []);
    await second.getContainerClient('shared-name').create();
    await second.getContainerClient('shared-name').getBlockBlobClient('b').upload('2', 1);
    assert.deepEqual(await collect(first.getContainerClient('shared-name').listBlobsFlat()), []);
    // A second key of an account opens the same.
    const blob = rotated.getContainerClient('shared-name').getBlobClient('b');
    assert.equal((await blob.downloadToBuffer()).toString(), '2');
    await refused(of('first', keys[1]).getProperties(), 403, 'AuthenticationFailed');
    await refused(of('second', keys[0]).getProperties(), 403, 'AuthenticationFailed');
    await refused(of(DEVELOPMENT.account, DEVELOPMENT.key).getProperties(), 403,
        'AuthenticationFailed');
});

test('accounts that are none stop the start', async (t) => {
    const { args } = await serveArguments(t);
    for (const text of ['name', 'name:', ':a2V5', 'name:!!!', 'a:a2V5;a:a2V5']) {
        const { code, errors } = await run(args, { AZURITE_ACCOUNTS: text });
        assert.equal(code, 1, text);
        assert.match(errors, /AZURITE_ACCOUNTS/);
    }
});

test('keys that are no strict base64 are what Azurite takes them for', async (t) => {
    // decision: 34
    const server = await newServer(t, { args: ['--inMemoryPersistence'], env: { AZURITE_ACCOUNTS: 'testing:testing_key' } });
    const credential = new StorageSharedKeyCredential('testing', 'testing_key');
    const client = new BlobServiceClient(`http://${server.host}:${server.port}/testing`, credential, once);
    await client.getContainerClient('made').create();
    assert.equal((await collect(client.listContainers())).length, 1);
});

test('the published key opens nothing beyond this machine, unless told to', async (t) => {
    const { args } = await serveArguments(t);
    const open = ['--blobHost', '0.0.0.0'];
    const { code, errors } = await run([...args, ...open]);
    assert.equal(code, 1);
    assert.match(errors, /AZURITE_ACCOUNTS/);
    assert.match(errors, /--allowDevelopmentAccount/);
    for (const options of [
        { args: [...open, '--allowDevelopmentAccount'] },
        { args: open, env: { AZURITE_ACCOUNTS: `${DEVELOPMENT.account}:${DEVELOPMENT.key}` } },
    ]) {
        const server =
            await newServer(t, { ...options, args: ['--inMemoryPersistence', ...options.args] });
        assert.equal((await ask(server, 'GET', '/?comp=list')).status, 200);
    }
});

/* ---- HTTPS ---- */

test('a certificate and its key: HTTPS, and nothing else', async (t) => {
    const { args, port, location } = await serveArguments(t);
    const { cert, key } = newCertificate(location);
    const child = spawn(binary, [...args, '--inMemoryPersistence', '--cert', cert, '--key', key],
        { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    const [said] = await event(child.stdout, 'data');
    assert.match(said.toString(), new RegExp(`https://127\\.0\\.0\\.1:${port}`));

    const trusting = { tlsOptions: { ca: await readFile(cert) } };
    const service =
        new BlobServiceClient(`https://127.0.0.1:${port}/${DEVELOPMENT.account}`, credential,
        { ...once, ...trusting });
    const container = service.getContainerClient('tls');
    await container.create();
    const content = pattern(5 * MiB);
    await container.getBlockBlobClient('b').upload(content, content.length);
    assert.ok((await container.getBlobClient('b').downloadToBuffer()).equals(content));
    const list = await container.listBlobsFlat().byPage().next();
    assert.equal(list.value.serviceEndpoint, `https://127.0.0.1:${port}/${DEVELOPMENT.account}/`);
    await assert.rejects(event(https.get({ port, host: '127.0.0.1' }), 'response'),
        /self-signed|certificate/i);
    const plain = await Connection.open('127.0.0.1', port);
    t.after(() => plain.close());
    await assert.rejects(plain.exchange({ method: 'GET', target: '/', headers: [['Host', 'x']] }));
    child.kill('SIGTERM');
    assert.deepEqual((await event(child, 'exit'))[0], 0);
});

/* ---- stop and start ---- */

test('SIGTERM: what is in flight ends, nothing new begins, exit code 0', async (t) => {
    const server = await newServer(t);
    const service = clientOf(server);
    await service.getContainerClient('stopping').create();
    const body = pattern(2 * MiB);
    const connection = await Connection.open(server.host, server.port);
    t.after(() => connection.close());
    await connection.request(sign({
        method: 'PUT', target: `/${server.account}/stopping/last`,
        headers: [['Host', 'localhost'], ['Content-Length', String(body.length)],
            ['x-ms-blob-type', 'BlockBlob']],
    }));
    await connection.send(body.subarray(0, MiB));
    await delay(100);
    const stopped = server.stop({ keep: true });
    await delay(300);
    const late = assert.rejects(ask(server, 'GET', '/?comp=list'));
    await connection.send(body.subarray(MiB));
    const answer = await connection.response('PUT');
    assert.equal(answer.status, 201);
    await stopped;
    await late;
    await server.restart();
    const blob = clientOf(server).getContainerClient('stopping').getBlobClient('last');
    assert.ok((await blob.downloadToBuffer()).equals(body));
});

test('a clock that was set back: requests of this time are served, ETags still rise', async (t) => {
    const server = await newServer(t);
    const control = new Control(server);
    await control.clock(7200);
    control.close();
    const later = { offsetMs: 7_200_000 };
    const first = await ask(server, 'PUT', '/back?restype=container', {}, later);
    assert.equal(first.status, 201);
    await server.stop({ keep: true });
    await server.restart();
    const again = await ask(server, 'PUT', '/back?restype=container&comp=metadata');
    assert.equal(again.status, 200);
    assert.ok(again.headers.get('etag') > first.headers.get('etag'));
});

test('a second server on the same data folder is refused', async (t) => {
    const server = await newServer(t);
    const { args } = await serveArguments(t);
    const { code, errors } = await run(['--location', server.location, ...args.slice(2)]);
    assert.equal(code, 1);
    assert.ok(errors.includes(server.location), errors);
    assert.match(errors, /another|in use|already|locked/i);
    assert.equal((await ask(server, 'GET', '/?comp=list')).status, 200);
    // Once the first is gone, the folder is free.
    await server.stop({ keep: true });
    await server.restart();
});

/** Everything that clients can see of a service, as one value. */
async function everything(service) {
    const seen = { cors: (await service.getProperties()).cors, containers: [] };
    const everyBlob =
        { includeMetadata: true, includeSnapshots: true, includeUncommitedBlobs: true };

    for await (const listed of service.listContainers({ includeMetadata: true })) {
        const container = service.getContainerClient(listed.name);
        const policies = await container.getAccessPolicy();
        const blobs = [];
        for await (const item of container.listBlobsFlat(everyBlob)) {
            const blob = container.getBlockBlobClient(item.name);
            const at = item.snapshot ? blob.withSnapshot(item.snapshot) : blob;
            const { committedBlocks, uncommittedBlocks } =
                await at.getBlockList(item.snapshot ? 'committed' : 'all');
            const content =
                await at.downloadToBuffer().then((bytes) => md5(bytes).toString('hex'),
                    (e) => e.code);
            blobs.push({ item, committedBlocks, uncommittedBlocks, content });
        }
        seen.containers.push({
            listed, blobs, policies: policies.signedIdentifiers, access: policies.blobPublicAccess,
        });
    }
    return JSON.parse(JSON.stringify(seen));
}

test('everything is there again after a stop, and after a kill', async (t) => {
    // design, promise 1
    const server = await newServer(t);
    const service = clientOf(server);
    await service.setProperties({ cors: [{
        allowedOrigins: '*', allowedMethods: 'GET', allowedHeaders: '*', exposedHeaders: '*',
        maxAgeInSeconds: 5,
    }] });
    const container = service.getContainerClient('kept');
    await container.create({ metadata: { Key: 'value' } });
    await container.setAccessPolicy('blob', [{
        id: 'policy', accessPolicy: { permissions: 'r', expiresOn: new Date('2036-01-01') },
    }]);
    await container.getBlobLeaseClient().acquireLease(-1);
    for (const size of [0, 10, 20000, 3 * MiB]) {
        const blob = container.getBlockBlobClient(`size ${size}`);
        await blob.upload(pattern(size, size + 1), size, { metadata: { Size: `${size}` } });
        await blob.createSnapshot();
        await blob.upload(pattern(size + 1, size + 2), size + 1, {
            blobHTTPHeaders: { blobContentType: 'text/plain', blobContentLanguage: 'de' },
        });
    }
    const blocks = container.getBlockBlobClient('blocks');
    for (const n of [1, 2, 3])
        await blocks.stageBlock(blockId(n), pattern(n * 300000, n), n * 300000);
    await blocks.commitBlockList([blockId(3), blockId(1)]);
    await blocks.stageBlock(blockId(4), 'staged', 6);
    await blocks.getBlobLeaseClient().acquireLease(-1);
    await container.getBlockBlobClient('uncommitted').stageBlock(blockId(1), pattern(20000), 20000);
    await container.getBlockBlobClient('gone').upload('x', 1);
    await container.deleteBlob('gone');
    await service.createContainer('gone');
    await service.deleteContainer('gone');

    const before = await everything(service);
    assert.equal(before.containers.length, 1);
    assert.equal(before.containers[0].blobs.length, 10);
    await server.stop({ keep: true });
    await server.restart();
    assert.deepEqual(await everything(clientOf(server)), before);
    await server.kill();
    await server.restart();
    assert.deepEqual(await everything(clientOf(server)), before);
    // Time goes on: what is written now is newer than all before.
    const again = clientOf(server).getContainerClient('kept').getBlockBlobClient('size 10');
    const { etag } = await again.getProperties();
    const put = await again.upload('x', 1);
    assert.ok(BigInt(JSON.parse(put.etag)) > BigInt(JSON.parse(etag)));
});

/* ---- the build ---- */

/** What tools/progress makes of what Ninja says. */
const shorten = (text) => execFileSync(new URL('../../tools/progress', import.meta.url).pathname, { input: text, encoding: 'utf8' });

test('a build says how far it is, and all of what warns or fails', () => {
    const steps = (count, all) => Array.from({ length: count }, (_, i) => `[${i + 1}/${all}] Compiling ${i + 1}\n`).join('');
    assert.equal(shorten(`ninja: Entering directory 'build'\n${steps(40, 40)}`),
        [4, 8, 12, 16, 20, 24, 28, 32, 36, 40].map((n) => `Built ${n} of 40\n`).join(''));
    assert.equal(shorten(steps(19, 19)), '');
    assert.equal(shorten('ninja: no work to do.\n'), '');
    assert.equal(shorten(`${steps(3, 40)}a.c:1: warning: x\n  more\n[4/40] Compiling 4\nFAILED: 4\ncc [1/2]\n` +
        'ninja: build stopped: subcommand failed.'),
    '[3/40] Compiling 3\na.c:1: warning: x\n  more\nBuilt 4 of 40\n[4/40] Compiling 4\nFAILED: 4\ncc [1/2]\n' +
        'ninja: build stopped: subcommand failed.\n');
});
