// Containers that are deleted and kept, and restored, through the official SDK: on servers of their own, since
// the policy is the account's. rest: Delete-Container, Restore-Container; decision: 811
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { AccountSASPermissions, BlobServiceClient } from '@azure/storage-blob';
import { Control, Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';
import { collect, credential, once, refused } from './setup.mjs';

const DAY_S = 86400;
const FILETIME_1601_MS = 11644473600000;

const policy = (inner) => '<StorageServiceProperties><ContainerDeleteRetentionPolicy>' +
    `${inner}</ContainerDeleteRetentionPolicy></StorageServiceProperties>`;
const days = (n) => policy(n > 0 ? `<Enabled>true</Enabled><Days>${n}</Days>` : '<Enabled>false</Enabled>');

/** A server, and clients of it whose requests have no date: its clock may be moved. */
async function open(t) {
    const server = await Server.start();
    const control = new Control(server);
    t.after(async () => {
        control.close();
        await server.kill();
        await server.remove();
    });
    const ask = (method, path, headers = {}, body = '', options = {}) =>
        raw(method, path, headers, body, { base: { host: server.host, port: server.ports.blob }, ...options });
    const signed = new BlobServiceClient(server.url, credential, once);
    const client = (letters) => new BlobServiceClient(signed.generateAccountSasUrl(new Date(Date.now() + 9e9), AccountSASPermissions.parse(letters), 'sco'), undefined, once);
    const service = client('rwdlacft');

    return {
        server, control, service, client, ask,
        keep: async (n) => {
            assert.equal((await ask('PUT', '/?restype=service&comp=properties', {}, days(n))).status, 202);
        },
        list: (options) => collect(service.listContainers({ includeDeleted: true, ...options })),
        undelete: (name, version) => ask('PUT', `/${name}?restype=container&comp=undelete`,
            { 'x-ms-deleted-container-name': name, 'x-ms-deleted-container-version': version }),
    };
}

async function newContainer(at, name, content = 'content') {
    const container = at.service.getContainerClient(name);
    await container.create({ metadata: { a: 'b' }, access: 'blob' });
    const blob = container.getBlockBlobClient('dir/blob');
    await blob.upload(content, content.length, { tags: { t: name } });
    return { container, blob };
}

const named = (all) => all.map(({ name, deleted }) => `${deleted ? '-' : ''}${name}`).join(' ');

test('the policy: set, read back, kept when others are set, refused when it makes no sense', async (t) => {
    const at = await open(t);
    const read = async (version) => (await at.ask('GET', '/?restype=service&comp=properties', {}, '', { version })).text;
    assert.doesNotMatch(await read(), /ContainerDeleteRetentionPolicy/);
    await at.keep(14);
    await at.service.setProperties({ cors: [], deleteRetentionPolicy: { enabled: true, days: 3 } });
    const inside = '<ContainerDeleteRetentionPolicy><Enabled>true</Enabled><Days>14</Days></ContainerDeleteRetentionPolicy>';
    assert.ok((await read()).includes(inside));
    assert.ok(!(await read('2018-11-09')).includes(inside));
    assert.equal((await at.ask('PUT', '/?restype=service&comp=properties', {}, (await read()).replace(/^\ufeff/, ''))).status, 202);
    assert.ok((await read()).includes(inside));
    for (const [inner, code] of [['<Enabled>true</Enabled>', 'InvalidXmlDocument'], ['<Enabled>true</Enabled><Days>366</Days>', 'InvalidXmlDocument']])
        await rawRefused(at.ask('PUT', '/?restype=service&comp=properties', {}, policy(inner)), 400, code);
    const files = { host: at.server.host, port: at.server.ports.file };
    await rawRefused(at.ask('PUT', '/?restype=service&comp=properties', {}, days(3), { base: files }), 400, 'InvalidXmlDocument');
    await at.keep(0);
    assert.doesNotMatch(await read(), /ContainerDeleteRetentionPolicy/);
    assert.equal((await at.service.getProperties()).deleteRetentionPolicy.days, 3);
});

test('a deleted container is shown with its version and comes back whole', async (t) => {
    const at = await open(t);
    await at.keep(7);
    const { container, blob } = await newContainer(at, 'one');
    const { snapshot } = await blob.createSnapshot();
    await blob.upload('changed', 7, { tags: { t: 'one' } });
    const { etag } = await blob.getProperties();
    const lease = container.getBlobLeaseClient();
    await lease.acquireLease(-1);
    await refused(container.delete(), 412, 'LeaseIdMissing');
    const before = Date.now();
    await container.delete({ conditions: { leaseId: lease.leaseId } });
    await container.delete(); // a moment after the first. decision: 62
    await refused(container.getProperties(), 404, 'ContainerNotFound');
    await refused(blob.getProperties(), 404, 'ContainerNotFound');
    await refused(blob.upload('x', 1), 404, 'ContainerNotFound');
    assert.deepEqual(await collect(at.service.findBlobsByTags("\"t\"='one'")), []);
    assert.deepEqual(await at.list({ includeDeleted: false }), []);

    const [gone, ...others] = await at.list({ includeMetadata: true });
    assert.deepEqual(others, []);
    assert.deepEqual([gone.name, gone.deleted, gone.metadata], ['one', true, { a: 'b' }]);
    const { properties } = gone;
    assert.deepEqual([properties.publicAccess, properties.remainingRetentionDays, properties.leaseState, properties.leaseStatus], ['blob', 6, 'expired', 'unlocked']);
    assert.match(gone.version, /^[0-9A-F]{16}$/);
    const deletedMs = Number(BigInt(`0x${gone.version}`) / 10000n) - FILETIME_1601_MS;
    assert.ok(deletedMs >= before - 1 && deletedMs <= Date.now() + 1);
    assert.equal(properties.deletedOn.getTime(), Math.floor(deletedMs / 1000) * 1000);
    assert.equal(properties.lastModified.getTime(), properties.deletedOn.getTime());

    await at.service.undeleteContainer('one', gone.version);
    const now = await container.getProperties();
    assert.deepEqual([now.metadata, now.blobPublicAccess, now.leaseState], [{ a: 'b' }, 'blob', 'available']);
    assert.notEqual(now.etag, properties.etag);
    assert.equal(String(await blob.downloadToBuffer()), 'changed');
    assert.equal((await blob.getProperties()).etag, etag);
    assert.equal(String(await blob.withSnapshot(snapshot).downloadToBuffer()), 'content');
    assert.equal((await collect(at.service.findBlobsByTags("\"t\"='one'"))).length, 1);
    assert.equal(named(await at.list()), 'one');
    await blob.upload('written', 7);
    await container.delete();
});

test('Restore Container: what is refused (rest: Restore-Container)', async (t) => {
    const at = await open(t);
    await at.keep(1);
    const { container } = await newContainer(at, 'one');
    await container.delete();
    const [{ version }] = await at.list();
    const headers = { 'x-ms-deleted-container-name': 'one', 'x-ms-deleted-container-version': version };
    for (const [changed, status, code] of [
        [{ 'x-ms-deleted-container-name': undefined }, 400, 'MissingRequiredHeader'],
        [{ 'x-ms-deleted-container-version': undefined }, 400, 'MissingRequiredHeader'],
        [{ 'x-ms-deleted-container-name': 'two' }, 400, 'InvalidHeaderValue'],
        [{ 'x-ms-deleted-container-version': version.slice(1) }, 400, 'InvalidHeaderValue'],
        [{ 'x-ms-deleted-container-version': '01D6954159845195' }, 404, 'ContainerNotFound']]) {
        const sent = Object.fromEntries(Object.entries({ ...headers, ...changed }).filter(([, value]) => value !== undefined));
        await rawRefused(at.ask('PUT', '/one?restype=container&comp=undelete', sent), status, code);
    }
    await rawRefused(at.undelete('two', version), 404, 'ContainerNotFound');
    await refused(at.client('rlcd').undeleteContainer('one', version), 403, 'AuthorizationPermissionMismatch');
    await container.create();
    await rawRefused(at.undelete('one', version), 409, 'ContainerAlreadyExists');
    await container.delete();
    assert.equal((await at.undelete('one', version.toLowerCase())).status, 201);
    await rawRefused(at.undelete('one', version), 409, 'ContainerAlreadyExists');
    await container.delete();
    await rawRefused(at.undelete('one', version), 404, 'ContainerNotFound');
});

test('several containers of one name, each with its version, and pages that begin between them', async (t) => {
    const at = await open(t);
    await at.keep(2);
    const container = at.service.getContainerClient('one');
    for (let i = 0; i < 3; i++) {
        await container.create({ metadata: { i: String(i) } });
        await container.getBlockBlobClient(`b${i}`).upload('x', 1);
        await container.delete();
    }
    await container.create({ metadata: { i: '3' } });
    await at.service.createContainer('other');
    const all = await at.list({ includeMetadata: true });
    assert.deepEqual(all.map(({ name, metadata, deleted }) => [name, metadata?.i, deleted]), [
        ...['0', '1', '2'].map((i) => ['one', i, true]), ['one', '3', undefined], ['other', undefined, undefined]]);
    for (let size = 1; size <= 6; size++) {
        const pages = await collect(at.service.listContainers({ includeDeleted: true }).byPage({ maxPageSize: size }));
        assert.deepEqual(pages.flatMap((page) => page.containerItems).map(({ name, version }) => [name, version]), all.map(({ name, version }) => [name, version]), `pages of ${size}`);
    }
    const live = await collect(at.service.listContainers().byPage({ maxPageSize: 1 }));
    assert.deepEqual(live.map((page) => page.containerItems[0].name), ['one', 'other']);
    assert.equal(live[0].continuationToken, '/devstoreaccount1/other');
    for (const marker of ['/devstoreaccount1/one/x', `/devstoreaccount1/one/${'F'.repeat(16)}`])
        await rawRefused(at.ask('GET', `/?comp=list&marker=${encodeURIComponent(marker)}`), 400, 'InvalidQueryParameterValue');
    await container.delete();
    assert.equal((await at.undelete('one', all[1].version)).status, 201);
    assert.deepEqual((await container.getProperties()).metadata, { i: '1' });
    assert.equal((await collect(container.listBlobsFlat())).map(({ name }) => name).join(), 'b1');
});

test('when its days are over a deleted container is gone; a policy is of what is deleted under it', async (t) => {
    const at = await open(t);
    const deleted = async (name, n) => {
        await at.keep(n);
        await (await newContainer(at, name)).container.delete();
    };
    await deleted('one', 1);
    await deleted('three', 1);
    await deleted('two', 3);
    await deleted('four', 0);
    const [one, three, two, ...others] = await at.list();
    assert.deepEqual(others, []);
    assert.deepEqual([one, three, two].map(({ name, properties }) => [name, properties.remainingRetentionDays]), [['one', 0], ['three', 0], ['two', 2]]);
    await at.service.undeleteContainer('three', three.version);
    await at.control.clock(DAY_S - 600);
    assert.equal(named(await at.list()), '-one three -two');
    await at.control.clock(700);
    assert.equal(named(await at.list()), 'three -two');
    await refused(at.service.undeleteContainer('one', one.version), 404, 'ContainerNotFound');
    assert.equal(String(await at.service.getContainerClient('three').getBlobClient('dir/blob').downloadToBuffer()), 'content');
});

test('a deleted container outlives a restart and is checked as others are', async (t) => {
    const at = await open(t);
    await at.keep(30);
    const { container, blob } = await newContainer(at, 'one', 'x'.repeat(1 << 20));
    await container.delete();
    const [{ version }] = await at.list();
    await at.server.stop({ keep: true });
    const said = execFileSync(process.env.LAGRA_BINARY, ['check', at.server.location], { encoding: 'utf8' });
    assert.match(said, /1 blobs in 1 containers/);
    assert.match(said, /damaged or lost: 0/);
    await at.server.restart();
    const { host, ports } = at.server;
    const answer = await raw('PUT', '/one?restype=container&comp=undelete', { 'x-ms-deleted-container-name': 'one', 'x-ms-deleted-container-version': version },
        '', { base: { host, port: ports.blob } });
    assert.equal(answer.status, 201);
    assert.equal((await new BlobServiceClient(at.server.url, credential, once).getContainerClient('one').getBlobClient(blob.name).getProperties()).contentLength, 1 << 20);
});
