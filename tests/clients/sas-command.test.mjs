// `lagra sas`: what it makes is what the SDKs make, letter by letter, and opens what they say. docs/admin.md
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import * as tables from '@azure/data-tables';
import * as blobs from '@azure/storage-blob';
import * as files from '@azure/storage-file-share';
import * as queues from '@azure/storage-queue';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const START = '2026-01-02T03:04:05Z';
const EXPIRY = '2099-01-02T03:04:05Z';
const startsOn = new Date(START);
const expiresOn = new Date(EXPIRY);
const VERSIONS = ['2018-11-09', '2020-12-06', '2024-11-04', '2026-10-06'];
const once = { retryOptions: { maxTries: 1 } };

/** The fields of a query as they are written, in the order of their names: SDKs differ in their order alone. */
const sorted = (query) => query.replace(/^\?/, '').split('&').sort();

/** What the command prints, with the key of the development account in the environment. */
async function made(words, env = { AZURE_STORAGE_ACCOUNT: DEVELOPMENT.account, AZURE_STORAGE_KEY: DEVELOPMENT.key }) {
    const { code, output, errors } = await run(['sas', ...words], env);
    assert.equal(code, 0, `${words}: ${errors}`);
    assert.equal(errors, '');
    return output.trim();
}

async function assertSame(words, query) {
    assert.deepEqual(sorted(await made(words)), sorted(query), words.join(' '));
}

const times = ['--start', START, '--expiry', EXPIRY];
const ip = ['--ip', '10.0.0.1-10.0.0.9', '--https-only'];
const ipRange = { start: '10.0.0.1', end: '10.0.0.9' };
const headers = { cacheControl: 'no-store', contentDisposition: 'attachment; filename="a b.txt"', contentEncoding: 'gzip',
    contentLanguage: 'en-US', contentType: 'text/plain' };
const headerWords = ['--cache-control', headers.cacheControl, '--content-disposition', headers.contentDisposition,
    '--content-encoding', headers.contentEncoding, '--content-language', headers.contentLanguage, '--content-type', headers.contentType];

test('of an account', async () => {
    const credential = new blobs.StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key);
    for (const version of VERSIONS)
        for (const full of [false, true]) {
            const values = { version, services: 'bqtf', resourceTypes: 'sco', expiresOn,
                permissions: blobs.AccountSASPermissions.parse(full ? 'rwdlacup' : 'r'),
                ...(full ? { startsOn, ipRange, protocol: blobs.SASProtocol.Https } : {}) };
            const words = ['account', '--services', 'btqf', '--resource-types', 'sco', '--expiry', EXPIRY, '--version', version,
                '--permissions', values.permissions.toString(), ...(full ? ['--start', START, ...ip] : [])];
            await assertSame(words, blobs.generateAccountSASQueryParameters(values, credential).toString());
        }
});

test('of a container, a blob, a snapshot', async () => {
    const credential = new blobs.StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key);
    const snapshotTime = '2025-12-31T01:02:03.1234567Z';
    for (const version of VERSIONS) {
        const common = { version, startsOn, expiresOn, ipRange, protocol: blobs.SASProtocol.Https, containerName: 'photos', ...headers };
        const words = [...times, ...ip, ...headerWords, '--version', version];
        const permissions = blobs.ContainerSASPermissions.parse('racwdl');
        await assertSame(['container', 'photos', '--permissions', permissions.toString(), ...words],
            blobs.generateBlobSASQueryParameters({ ...common, permissions }, credential).toString());
        await assertSame(['container', 'photos', '--policy-name', 'a policy', '--version', version],
            blobs.generateBlobSASQueryParameters({ version, containerName: 'photos', identifier: 'a policy' }, credential).toString());
        const ofBlob = blobs.BlobSASPermissions.parse('racwd');
        for (const blobName of ['cat.txt', '2026/a ä%2F+b&c=d.txt', "it's!(*).txt"])
            await assertSame(['blob', 'photos', blobName, '--permissions', ofBlob.toString(), ...words],
                blobs.generateBlobSASQueryParameters({ ...common, blobName, permissions: ofBlob }, credential).toString());
        if (version >= '2020-02-10')
            for (const blobName of ['2026', '2026/a ä%2F+b'])
                await assertSame(['directory', 'photos', blobName, '--permissions', ofBlob.toString(), ...words],
                    blobs.generateBlobSASQueryParameters({ ...common, blobName, isDirectory: true, permissions: ofBlob }, credential).toString());
        await assertSame(['blob', 'photos', 'cat.txt', '--snapshot', snapshotTime, '--permissions', 'r', ...times, '--version', version],
            blobs.generateBlobSASQueryParameters({ version, startsOn, expiresOn, containerName: 'photos', blobName: 'cat.txt', snapshotTime,
                permissions: blobs.BlobSASPermissions.parse('r') }, credential).toString());
    }
});

test('of a queue, a share, a file, a table', async () => {
    const ofQueue = new queues.StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key);
    const ofShare = new files.StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key);
    const ofTable = new tables.AzureNamedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key);
    for (const version of VERSIONS) {
        const common = { version, startsOn, expiresOn, ipRange, protocol: 'https' };
        const words = [...times, ...ip, '--version', version];
        await assertSame(['queue', 'work', '--permissions', 'raup', ...words], queues.generateQueueSASQueryParameters(
            { ...common, queueName: 'work', permissions: queues.QueueSASPermissions.parse('raup') }, ofQueue).toString());
        await assertSame(['share', 'team', '--permissions', 'rcwdl', ...words, ...headerWords], files.generateFileSASQueryParameters(
            { ...common, ...headers, shareName: 'team', permissions: files.ShareSASPermissions.parse('rcwdl') }, ofShare).toString());
        await assertSame(['file', 'team', 'docs/a b.txt', '--permissions', 'rcwd', ...words], files.generateFileSASQueryParameters(
            { ...common, shareName: 'team', filePath: 'docs/a b.txt', permissions: files.FileSASPermissions.parse('rcwd') }, ofShare).toString());
    }
    for (const keys of [{}, { startPartitionKey: 'Oslo', startRowKey: '1', endPartitionKey: 'Rome', endRowKey: 'a b' }]) {
        const words = Object.entries(keys).flatMap(([name, value]) =>
            [`--${name.replace('PartitionKey', '-pk').replace('RowKey', '-rk')}`, value]);
        const permissions = { query: true, add: true, update: true, delete: true };
        await assertSame(['table', 'People', '--permissions', 'raud', ...times, '--version', '2019-02-02', ...words],
            tables.generateTableSas('People', ofTable, { permissions, startsOn, expiresOn, ...keys, version: '2019-02-02' }));
    }
});

test('with a user delegation key', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-sas-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'key.xml');
    const value = Buffer.alloc(32, 7).toString('base64');
    const [oid, tid] = ['11111111-1111-1111-1111-111111111111', '22222222-2222-2222-2222-222222222222'];
    await writeFile(path, `<?xml version="1.0" encoding="utf-8"?><UserDelegationKey><SignedOid>${oid}</SignedOid><SignedTid>${tid}</SignedTid>`
        + `<SignedStart>${START}</SignedStart><SignedExpiry>${EXPIRY}</SignedExpiry><SignedService>b</SignedService>`
        + `<SignedVersion>2020-02-10</SignedVersion><Value>${value}</Value></UserDelegationKey>`);
    const key = { signedObjectId: oid, signedTenantId: tid, signedStartsOn: startsOn, signedExpiresOn: expiresOn, signedService: 'b',
        signedVersion: '2020-02-10', value };
    for (const version of ['2020-02-10', '2022-11-02', '2025-07-05', '2026-10-06']) {
        const values = { version, startsOn, expiresOn, containerName: 'photos' };
        const words = [...times, '--version', version, '--delegation-key-file', path, '--account', DEVELOPMENT.account];
        const permissions = blobs.BlobSASPermissions.parse('rw');
        for (const more of [{}, { blobName: 'a/b c.txt' }]) {
            const query = blobs.generateBlobSASQueryParameters({ ...values, ...more, permissions }, key, DEVELOPMENT.account).toString();
            const names = more.blobName ? ['blob', 'photos', more.blobName] : ['container', 'photos'];
            assert.deepEqual(sorted(await made([...names, '--permissions', 'rw', ...words], {})), sorted(query));
        }
    }
    const { code, errors } = await run(['sas', 'blob', 'a', 'b', '--permissions', 'r', '--expiry', EXPIRY, '--account', 'x',
        '--delegation-key-file', process.argv[1]]);
    assert.equal(code, 1);
    assert.match(errors, /not a response to Get User Delegation Key/);
});

test('the key comes from a file, the environment or a connection string', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-sas-'));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'key'), `${DEVELOPMENT.key}\n`);
    const words = ['queue', 'work', '--permissions', 'r', '--expiry', EXPIRY];
    const wanted = await made(words);
    assert.equal(await made([...words, '--account', DEVELOPMENT.account, '--key-file', join(folder, 'key')], {}), wanted);
    assert.equal(await made(words, { AZURE_STORAGE_CONNECTION_STRING:
        `DefaultEndpointsProtocol=https;AccountName=${DEVELOPMENT.account};AccountKey=${DEVELOPMENT.key};EndpointSuffix=core.windows.net` }), wanted);
    assert.equal(JSON.parse(await made([...words, '--json'])).sas, wanted);
    assert.equal((await run(['sas', ...words, '--key', DEVELOPMENT.key], { AZURE_STORAGE_ACCOUNT: DEVELOPMENT.account })).code, 1);
});

test('what no server would take is not made', async () => {
    for (const [words, message] of [
        [['account', '--services', 'b', '--permissions', 'r', '--expiry', EXPIRY], /srt is mandatory/],
        [['account', '--services', 'b', '--resource-types', 'o', '--permissions', 'r'], /se is mandatory/],
        [['blob', 'c', 'b', '--permissions', 'r'], /not well formed/],
        [['directory', 'c', '/', '--permissions', 'r', '--expiry', EXPIRY], /below a directory/],
        [['directory', 'c', 'd', '--permissions', 'r', '--expiry', EXPIRY, '--version', '2019-12-12'], /does not sign/],
        [['blob', 'c', 'b', '--permissions', 'r', '--expiry', 'tomorrow'], /Times must have the form/],
        [['blob', 'c', 'b', '--permissions', 'r', '--start', EXPIRY, '--expiry', START], /The expiry must be after the start/],
        [['table', 't', '--permissions', 'r', '--expiry', EXPIRY, '--start-rk', 'x'], /not well formed/],
        [['queue', 'q', '--permissions', 'r', '--expiry', EXPIRY, '--version', 'new'], /not well formed/],
    ]) {
        const { code, output, errors } = await run(['sas', ...words],
            { AZURE_STORAGE_ACCOUNT: DEVELOPMENT.account, AZURE_STORAGE_KEY: DEVELOPMENT.key });
        assert.deepEqual([code, output], [1, ''], words.join(' '));
        assert.match(errors, message);
    }
    for (const words of [[], ['blob', 'c'], ['container'], ['queue', 'q', '--snapshot', 'x'], ['table', 't', '--content-type', 'x']])
        assert.equal((await run(['sas', ...words])).code, 2, words.join(' '));
    assert.match((await run(['sas', 'queue', 'q', '--permissions', 'r', '--expiry', EXPIRY])).errors, /specify the account with --account/);
});

test('a server signs with its own accounts, and what it signs opens what it says', async (t) => {
    const log = join(tmpdir(), `lagra-sas-${process.pid}.log`);
    const server = await Server.start({ args: ['--debug', log] });
    t.after(() => server.kill().then(() => server.remove()).then(() => rm(log, { force: true })));
    const command = async (...words) => {
        const { code, output, errors } = await run([...words, '--location', server.location]);
        assert.equal(code, 0, errors);
        return output.trim();
    };
    const { key2 } = JSON.parse(await command('account', 'add', 'alpha', '--json'));
    for (const [kind, name] of [['container', 'photos'], ['queue', 'work'], ['table', 'people'], ['share', 'team']])
        await command(kind, 'create', name, '--account', 'alpha');
    const until = ['--expiry', EXPIRY, '--account', 'alpha'];
    const at = (service) => `http://${server.host}:${server.ports[service]}/alpha`;

    const ofContainer = await command('sas', 'container', 'photos', '--permissions', 'rcwl', ...until);
    const container = new blobs.ContainerClient(`${at('blob')}/photos?${ofContainer}`, undefined, once);
    await container.uploadBlockBlob('a b.txt', 'hello', 5);
    const ofBlob = await command('sas', 'blob', 'photos', 'a b.txt', '--permissions', 'r', '--key', '2', ...until);
    const blob = new blobs.BlobClient(`${at('blob')}/photos/a%20b.txt?${ofBlob}`, undefined, once);
    assert.equal((await blob.downloadToBuffer()).toString(), 'hello');
    await container.uploadBlockBlob('2026/05/b', 'below', 5);
    for (const directory of ['2026/05', '/2026/./05/']) {
        const ofDirectory = await command('sas', 'directory', 'photos', directory, '--permissions', 'rl', ...until);
        const below = new blobs.ContainerClient(`${at('blob')}/photos?${ofDirectory}`, undefined, once), listed = [];
        for await (const { name } of below.listBlobsFlat({ prefix: '2026/05/' }))
            listed.push(name);
        assert.deepEqual(listed, ['2026/05/b']);
        assert.equal((await below.getBlobClient('2026/05/b').downloadToBuffer()).toString(), 'below');
        await assert.rejects(below.getBlobClient('a b.txt').getProperties(), (error) => error.statusCode === 403);
    }
    await assert.rejects(blob.delete(), (error) => error.statusCode === 403);

    const ofQueue = await command('sas', 'queue', 'work', '--permissions', 'ra', ...until);
    await new queues.QueueClient(`${at('queue')}/work?${ofQueue}`, undefined, once).sendMessage('x');
    const ofTable = await command('sas', 'table', 'people', '--permissions', 'ra', ...until);
    const table = new tables.TableClient(`${at('table')}?${ofTable}`, 'people', { ...once, allowInsecureConnection: true });
    await table.createEntity({ partitionKey: 'p', rowKey: 'r' });
    const ofShare = await command('sas', 'share', 'team', '--permissions', 'rcw', ...until);
    const file = new files.ShareClient(`${at('file')}/team?${ofShare}`, undefined, once).rootDirectoryClient.getFileClient('f');
    await file.create(3);
    const ofFile = await command('sas', 'file', 'team', 'f', '--permissions', 'r', ...until);
    assert.equal((await new files.ShareFileClient(`${at('file')}/team/f?${ofFile}`, undefined, once).getProperties()).contentLength, 3);
    const ofAccount = await command('sas', 'account', '--services', 'b', '--resource-types', 's', '--permissions', 'l', ...until);
    const found = [];
    for await (const { name } of new blobs.BlobServiceClient(`${at('blob')}?${ofAccount}`, undefined, once).listContainers())
        found.push(name);
    assert.deepEqual(found, ['photos']);

    // By the second key: it ends with that.
    assert.equal(ofBlob, await made(['blob', 'photos', 'a b.txt', '--permissions', 'r', '--expiry', EXPIRY],
        { AZURE_STORAGE_ACCOUNT: 'alpha', AZURE_STORAGE_KEY: key2 }));
    await command('account', 'rotate-key', 'alpha', '2');
    await assert.rejects(blob.downloadToBuffer(), (error) => error.statusCode === 403);
    await container.getBlobClient('a b.txt').getProperties();
    const one = await run(['sas', 'queue', 'q', '--permissions', 'r', '--expiry', EXPIRY, '--account', server.account, '--key', '2',
        '--location', server.location]);
    assert.match(one.errors, /has no key 2/);
    assert.match((await run(['sas', 'queue', 'q', '--permissions', 'r', '--expiry', EXPIRY, '--account', 'nobody',
        '--location', server.location])).errors, /AccountNotFound/);
    const said = await readFile(log, 'utf8');
    for (const query of [ofContainer, ofBlob, ofQueue, ofAccount])
        assert.ok(!said.includes(/sig=([^&]*)/.exec(query)[1]), 'a signature is in the log');
});
