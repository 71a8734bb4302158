// Settings of accounts that Azure has in its management plane: lagra account set, seed files, and Get and Set Service
// Properties show and change the same ones. docs/admin.md, "Settings"; decisions: 1437, 1438
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { run } from '../lib/program.mjs';
import { containerSas } from '../lib/sas.mjs';
import { Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';

async function start(t, options) {
    const server = await Server.start(options);
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

async function asked(server, ...words) {
    const { code, output, errors } = await run([...words, '--json', '--location', server.location]);
    assert.equal(code, 0, errors);
    return JSON.parse(output);
}

async function refusal(server, ...words) {
    const { code, errors } = await run([...words, '--location', server.location]);
    assert.equal(code, 1);
    return errors;
}

const blobs = (server, name, key) => new BlobServiceClient(`http://${server.host}:${server.ports.blob}/${name}`,
    new StorageSharedKeyCredential(name, key), { retryOptions: { maxTries: 1 } });
const propertiesOf = (server, service) => raw('GET', '/?restype=service&comp=properties', {}, '',
    { base: { host: server.host, port: server.ports[service] } });
const isRefused = (promise, statusCode, code) => assert.rejects(promise, (error) => {
    assert.deepEqual([error.statusCode, error.code], [statusCode, code]);
    return true;
});

test('data protection by account set, and by Set Blob Service Properties, is one setting', async (t) => {
    const server = await start(t);
    const before = await asked(server, 'account', 'show', 'devstoreaccount1');
    assert.deepEqual([before.versioning, before.blobRetentionDays, before.permanentDelete, before.containerRetentionDays, before.shareRetentionDays],
        [false, 0, false, 0, 0]);
    const set = await asked(server, 'account', 'set', 'devstoreaccount1', 'versioning=on', 'blobRetentionDays=7', 'permanentDelete=on',
        'containerRetentionDays=3', 'shareRetentionDays=5');
    assert.deepEqual([set.versioning, set.blobRetentionDays, set.permanentDelete, set.containerRetentionDays, set.shareRetentionDays],
        [true, 7, true, 3, 5]);

    const { text } = await propertiesOf(server, 'blob');
    assert.match(text, /<DeleteRetentionPolicy><Enabled>true<\/Enabled><Days>7<\/Days><AllowPermanentDelete>true<\/AllowPermanentDelete>/);
    assert.match(text, /<ContainerDeleteRetentionPolicy><Enabled>true<\/Enabled><Days>3<\/Days>/);
    assert.match(text, /<IsVersioningEnabled>true<\/IsVersioningEnabled>/);
    assert.match((await propertiesOf(server, 'file')).text, /<ShareDeleteRetentionPolicy><Enabled>true<\/Enabled><Days>5<\/Days>/);

    // One of the two settings of a section leaves the other one as it is.
    await asked(server, 'account', 'set', 'devstoreaccount1', 'blobRetentionDays=9');
    assert.match((await propertiesOf(server, 'blob')).text, /<Days>9<\/Days><AllowPermanentDelete>true</);
    await raw('PUT', '/?restype=service&comp=properties', {}, '<StorageServiceProperties><IsVersioningEnabled>false</IsVersioningEnabled></StorageServiceProperties>',
        { base: { host: server.host, port: server.ports.blob } });
    const after = await asked(server, 'account', 'show', 'devstoreaccount1');
    assert.deepEqual([after.versioning, after.blobRetentionDays, after.permanentDelete], [false, 9, true]);
    await asked(server, 'account', 'set', 'devstoreaccount1', 'blobRetentionDays=off', 'permanentDelete=off', 'shareRetentionDays=0');
    const off = await asked(server, 'account', 'show', 'devstoreaccount1');
    assert.deepEqual([off.blobRetentionDays, off.permanentDelete, off.containerRetentionDays, off.shareRetentionDays], [0, false, 3, 0]);
});

test('what is no setting is refused, and nothing is changed', async (t) => {
    const server = await start(t);
    for (const [word, message] of [['versions=on', /versions is not a setting; settings are versioning, /], ['versioning=yes', /versioning must be on or off/],
        ['blobRetentionDays=366', /number of days from 1 to 365, or off/], ['blobRetentionDays=on', /number of days/], ['versioning', /versioning is not NAME=VALUE/]])
        assert.match(await refusal(server, 'account', 'set', 'devstoreaccount1', 'containerRetentionDays=4', word), message);
    assert.match(await refusal(server, 'account', 'set', 'devstoreaccount1', 'versioning=on', 'versioning=off'), /versioning is given twice/);
    assert.match(await refusal(server, 'account', 'set', 'devstoreaccount1', 'sharedKey=off'), /only for stored accounts, and devstoreaccount1 is not one/);
    assert.match(await refusal(server, 'account', 'set', 'nobody', 'versioning=on'), /The account nobody does not exist/);
    assert.match(await refusal(server, 'account', 'set', 'devstoreaccount1'), /requires a state, a key, a limit or a setting/);
    assert.equal((await asked(server, 'account', 'show', 'devstoreaccount1')).containerRetentionDays, 0);
});

test('publicAccess=off: no container is public, from the next request', async (t) => {
    const server = await start(t);
    const { key1 } = await asked(server, 'account', 'add', 'alpha');
    const container = blobs(server, 'alpha', key1).getContainerClient('ccc');
    await container.create({ access: 'blob' });
    await container.getBlockBlobClient('b').upload('text', 4);
    const anonymous = () => raw('GET', '', {}, '', { signed: false, target: '/alpha/ccc/b', base: { host: server.host, port: server.ports.blob } });
    assert.equal((await anonymous()).status, 200);

    assert.equal((await asked(server, 'account', 'set', 'alpha', 'publicAccess=off')).publicAccess, false);
    await rawRefused(anonymous(), 409, 'PublicAccessNotPermitted');
    await isRefused(container.setAccessPolicy('container'), 409, 'PublicAccessNotPermitted');
    await isRefused(blobs(server, 'alpha', key1).getContainerClient('ddd').create({ access: 'blob' }), 409, 'PublicAccessNotPermitted');
    assert.equal((await container.getBlockBlobClient('b').downloadToBuffer()).toString(), 'text');

    await server.stop({ keep: true });
    const again = await start(t, { location: server.location });
    assert.equal((await asked(again, 'account', 'show', 'alpha')).publicAccess, false);
    await asked(again, 'account', 'set', 'alpha', 'publicAccess=on');
    assert.equal((await raw('GET', '', {}, '', { signed: false, target: '/alpha/ccc/b', base: { host: again.host, port: again.ports.blob } })).status, 200);
});

test('sharedKey=off: requests with a key, and SAS signed with one, are refused', async (t) => {
    const server = await start(t);
    const { key1 } = await asked(server, 'account', 'add', 'alpha');
    const client = blobs(server, 'alpha', key1), base = { host: server.host, port: server.ports.blob };
    await client.getContainerClient('ccc').create();
    await client.getContainerClient('ccc').getBlockBlobClient('b').upload('text', 4);
    const query = containerSas('ccc', { sp: 'rl', se: '2100-01-01T00:00:00Z' }, { account: 'alpha', key: key1 });
    const bySas = () => raw('GET', '', {}, '', { signed: false, target: `/alpha/ccc?restype=container&comp=list&${query}`, base });
    assert.equal((await bySas()).status, 200);

    await asked(server, 'account', 'set', 'alpha', 'sharedKey=off', '--requests', '1000');
    await isRefused(client.getProperties(), 403, 'KeyBasedAuthenticationNotPermitted');
    await rawRefused(bySas(), 403, 'KeyBasedAuthenticationNotPermitted');
    // The same SAS of the source of a copy to another account, whose key is accepted.
    const { key1: keyOfBeta } = await asked(server, 'account', 'add', 'beta');
    const target = blobs(server, 'beta', keyOfBeta).getContainerClient('ccc');
    const source = `http://${server.host}:${server.ports.blob}/alpha/ccc/b?${query}`;
    await target.create();
    for (const copies of [() => target.getBlobClient('b').beginCopyFromURL(source), () => target.getBlobClient('b').syncCopyFromURL(source),
        () => target.getBlockBlobClient('b').syncUploadFromURL(source), () => target.getBlockBlobClient('b').stageBlockFromURL('MQ==', source)])
        await isRefused(copies(), 403, 'CannotVerifyCopySource');
    assert.equal(await target.getBlobClient('b').exists(), false);
    // A wrong signature is no better than before.
    await isRefused(blobs(server, 'alpha', Buffer.from('other').toString('base64')).getProperties(), 403, 'AuthenticationFailed');
    // Operators use no key.
    assert.equal((await asked(server, 'container', 'list', '--account', 'alpha')).items.length, 1);
    await asked(server, 'account', 'set', 'alpha', 'sharedKey=on');
    await client.getProperties();
});

test('settings of a seed file are set at each start', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-settings-'));
    t.after(() => rm(folder, { recursive: true }));
    const seed = join(folder, 'seed.json');
    await writeFile(seed, JSON.stringify({ settings: { versioning: true, blobRetentionDays: 7 }, accounts: {
        beta: { key1: Buffer.from('a key of beta').toString('base64'), settings: { sharedKey: false, publicAccess: false, shareRetentionDays: 2 } } } }));
    const server = await start(t, { args: ['--seed', seed, '--allowDevelopmentAccount'] });
    const shown = await asked(server, 'account', 'show', 'devstoreaccount1');
    assert.deepEqual([shown.versioning, shown.blobRetentionDays], [true, 7]);
    const beta = await asked(server, 'account', 'show', 'beta');
    assert.deepEqual([beta.sharedKey, beta.publicAccess, beta.shareRetentionDays, beta.versioning], [false, false, 2, false]);

    for (const [settings, message] of [[{ versioning: 'on' }, /true, false or a number of days/], [{ versions: true }, /is not a setting/],
        [{ sharedKey: false }, /only for stored accounts/], [[], /settings requires an object/]]) {
        await writeFile(seed, JSON.stringify({ settings }));
        const { code, errors } = await run(['--inMemoryPersistence', '--seed', seed, '--blobPort', '0', '--queuePort', '0', '--tablePort', '0',
            '--filePort', '0', '--dfsPort', '0', '--managementPort', '0']);
        assert.equal(code, 1, errors);
        assert.match(errors, message);
    }
});
