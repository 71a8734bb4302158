// Shares that are deleted and kept, and restored, through the official SDK: on servers of their own, since
// the policy is the account's. rest: Delete-Share, Restore-Share; decision: 345
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import {
    AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, ShareServiceClient, generateAccountSASQueryParameters,
} from '@azure/storage-file-share';
import { Control, Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';
import { collect, credential, once, refused } from './setup.mjs';

const DAY_S = 86400;
const MIB = 1 << 20;
const FILETIME_1601_MS = 11644473600000;

const policy = (inner) => '<StorageServiceProperties><ShareDeleteRetentionPolicy>' +
    `${inner}</ShareDeleteRetentionPolicy></StorageServiceProperties>`;
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
        raw(method, path, headers, body, { base: { host: server.host, port: server.ports.file }, ...options });
    const client = (letters) => new ShareServiceClient(`${server.urlOf('file')}?${generateAccountSASQueryParameters({
        services: AccountSASServices.parse('f').toString(), resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
        permissions: AccountSASPermissions.parse(letters), expiresOn: new Date(Date.now() + 9e9),
    }, credential)}`, undefined, once);
    const service = client('rwdlc');

    return {
        server, control, service, client, ask,
        keep: async (n) => {
            assert.equal((await ask('PUT', '/?restype=service&comp=properties', {}, days(n))).status, 202);
        },
        list: (options) => collect(service.listShares({ includeDeleted: true, ...options })),
        undelete: (name, version) => ask('PUT', `/${name}?restype=share&comp=undelete`,
            { 'x-ms-deleted-share-name': name, 'x-ms-deleted-share-version': version }),
    };
}

async function newShare(at, name, content = 'content') {
    const share = at.service.getShareClient(name);
    await share.create({ quota: 7, accessTier: 'Cool', metadata: { a: 'b' } });
    await share.createDirectory('d');
    const file = share.getDirectoryClient('d').getFileClient('f');
    await file.create(content.length);
    await file.uploadRange(content, 0, content.length);
    return { share, file };
}

test('the policy: set, read back, kept when others are set, refused when it makes no sense', async (t) => {
    const at = await open(t);
    const read = async (version) => (await at.ask('GET', '/?restype=service&comp=properties', {}, '', { version })).text;
    assert.doesNotMatch(await read(), /ShareDeleteRetentionPolicy/);
    await at.keep(14);
    await at.service.setProperties({ cors: [] });
    const inside = '<ShareDeleteRetentionPolicy><Enabled>true</Enabled><Days>14</Days></ShareDeleteRetentionPolicy>';
    assert.ok((await read()).includes(inside));
    assert.ok(!(await read('2018-11-09')).includes(inside));
    assert.equal((await at.ask('PUT', '/?restype=service&comp=properties', {}, (await read()).replace(/^\ufeff/, ''))).status, 202);
    assert.ok((await read()).includes(inside));
    for (const [inner, code] of [
        ['<Enabled>true</Enabled>', 'InvalidXmlDocument'], ['<Days>3</Days>', 'MissingRequiredXmlNode'],
        ['<Enabled>true</Enabled><Days>0</Days>', 'InvalidXmlDocument'], ['<Enabled>true</Enabled><Days>366</Days>', 'InvalidXmlDocument'],
        ['<Enabled>false</Enabled><Days>3</Days>', 'InvalidXmlDocument'], ['<Enabled>maybe</Enabled>', 'InvalidXmlNodeValue'],
        ['<Enabled>true</Enabled><Days>3</Days><More>1</More>', 'InvalidXmlDocument']])
        await rawRefused(at.ask('PUT', '/?restype=service&comp=properties', {}, policy(inner)), 400, code);
    await rawRefused(raw('PUT', '/?restype=service&comp=properties', {}, days(3)), 400, 'InvalidXmlDocument'); // of blobs
    assert.ok((await read()).includes(inside));
    await at.keep(0);
    assert.doesNotMatch(await read(), /ShareDeleteRetentionPolicy/);
});

test('a deleted share is shown with its version and comes back whole', async (t) => {
    const at = await open(t);
    await at.keep(7);
    const { share, file } = await newShare(at, 'one');
    const { snapshot } = await share.createSnapshot();
    await file.uploadRange('CHANGED', 0, 7);
    const { fileId, etag } = await file.getProperties();
    const acl = '/one?restype=share&comp=acl';
    const policies = '<SignedIdentifiers><SignedIdentifier><Id>p</Id></SignedIdentifier></SignedIdentifiers>';
    assert.equal((await at.ask('PUT', acl, {}, policies)).status, 200);
    await refused(share.delete(), 409, 'ShareHasSnapshots');
    const before = Date.now();
    await share.delete({ deleteSnapshots: 'include' });
    await share.delete(); // a moment after the first. decision: 62
    await refused(share.getProperties(), 404, 'ShareNotFound');
    await refused(share.withSnapshot(snapshot).getProperties(), 404, 'ShareNotFound');
    await refused(file.getProperties(), 404, 'ShareNotFound');
    await refused(file.uploadRange('x', 0, 1), 404, 'ShareNotFound');
    assert.deepEqual(await at.list({ includeDeleted: false, includeSnapshots: true }), []);

    const [gone, ...others] = await at.list({ includeMetadata: true });
    assert.deepEqual(others, []);
    assert.deepEqual([gone.name, gone.deleted, gone.snapshot, gone.metadata], ['one', true, undefined, { a: 'b' }]);
    const { properties } = gone;
    assert.deepEqual([properties.quota, properties.accessTier, properties.remainingRetentionDays, properties.leaseState, properties.leaseStatus],
        [7, 'Cool', 6, 'expired', 'unlocked']);
    assert.match(gone.version, /^[0-9A-F]{16}$/);
    const deletedMs = Number(BigInt(`0x${gone.version}`) / 10000n) - FILETIME_1601_MS;
    assert.ok(deletedMs >= before - 1 && deletedMs <= Date.now() + 1);
    assert.equal(properties.deletedTime.getTime(), Math.floor(deletedMs / 1000) * 1000);
    assert.equal(properties.lastModified.getTime(), properties.deletedTime.getTime());
    const withSnapshots = await at.list({ includeSnapshots: true });
    assert.deepEqual(withSnapshots.map((one) => [one.snapshot, one.deleted, one.version]),
        [[snapshot, true, gone.version], [undefined, true, gone.version]]);

    const restored = await at.service.undeleteShare('one', gone.version);
    const now = await restored.getProperties();
    assert.deepEqual([now.quota, now.accessTier, now.metadata, now.leaseState], [7, 'Cool', { a: 'b' }, 'available']);
    assert.notEqual(now.etag, properties.etag);
    assert.equal(await file.downloadToBuffer().then(String), 'CHANGED');
    const again = await file.getProperties();
    assert.deepEqual([again.fileId, again.etag], [fileId, etag]);
    const then = restored.withSnapshot(snapshot).getDirectoryClient('d').getFileClient('f');
    assert.equal(await then.downloadToBuffer().then(String), 'content');
    assert.equal((await restored.getStatistics()).shareUsageBytes, 7);
    assert.match((await at.ask('GET', acl)).text, /<Id>p<\/Id>/);
    assert.deepEqual((await at.list({ includeSnapshots: true })).map((one) => [one.snapshot, one.deleted]),
        [[snapshot, undefined], [undefined, undefined]]);
    await file.uploadRange('written', 0, 7);
    await restored.withSnapshot(snapshot).delete();
    await restored.delete();
});

test('Restore Share: what is refused (rest: Restore-Share)', async (t) => {
    const at = await open(t);
    await at.keep(1);
    const { share } = await newShare(at, 'one');
    await share.delete();
    const [{ version }] = await at.list();
    const path = '/one?restype=share&comp=undelete';
    const headers = { 'x-ms-deleted-share-name': 'one', 'x-ms-deleted-share-version': version };
    for (const [changed, status, code] of [
        [{ 'x-ms-deleted-share-name': undefined }, 400, 'MissingRequiredHeader'],
        [{ 'x-ms-deleted-share-version': undefined }, 400, 'MissingRequiredHeader'],
        [{ 'x-ms-deleted-share-name': 'two' }, 400, 'InvalidHeaderValue'],
        [{ 'x-ms-deleted-share-version': version.slice(1) }, 400, 'InvalidHeaderValue'],
        [{ 'x-ms-deleted-share-version': `G${version.slice(1)}` }, 400, 'InvalidHeaderValue'],
        [{ 'x-ms-deleted-share-version': 'FFFFFFFFFFFFFFFF' }, 400, 'InvalidHeaderValue'],
        [{ 'x-ms-deleted-share-version': '01D6954159845195' }, 404, 'ShareNotFound']]) {
        const sent = Object.fromEntries(Object.entries({ ...headers, ...changed }).filter(([, value]) => value !== undefined));
        await rawRefused(at.ask('PUT', path, sent), status, code);
    }
    await rawRefused(at.ask('PUT', `${path}&sharesnapshot=2026-01-01T00:00:00.0000000Z`, headers), 400, 'ShareSnapshotOperationNotSupported');
    await rawRefused(at.undelete('two', version), 404, 'ShareNotFound');
    await refused(at.client('rlcd').undeleteShare('one', version), 403, 'AuthorizationPermissionMismatch');
    await share.create();
    await rawRefused(at.undelete('one', version), 409, 'ShareAlreadyExists');
    await share.delete();
    assert.equal((await at.undelete('one', version.toLowerCase())).status, 201);
    await rawRefused(at.undelete('one', version), 409, 'ShareAlreadyExists');
    await share.delete();
    await rawRefused(at.undelete('one', version), 404, 'ShareNotFound');
});

test('several shares of one name, each with its version; leases end with the deletion', async (t) => {
    const at = await open(t);
    await at.keep(2);
    const share = at.service.getShareClient('one');
    const dates = [];
    for (let i = 0; i < 3; i++) {
        await share.create({ metadata: { i: String(i) } });
        const { snapshot } = await share.createSnapshot();
        dates.push(snapshot);
        await share.withSnapshot(snapshot).getShareLeaseClient().acquireLease(-1);
        const lease = share.getShareLeaseClient();
        await lease.acquireLease(-1);
        await refused(share.delete({ deleteSnapshots: 'include-leased' }), 412, 'LeaseIdMissing');
        const leaseAccessConditions = { leaseId: lease.leaseId };
        await refused(share.delete({ deleteSnapshots: 'include', leaseAccessConditions }), 412, 'LeaseIdMissing');
        await share.delete({ deleteSnapshots: 'include-leased', leaseAccessConditions });
    }
    await share.create({ metadata: { i: '3' } });
    await at.service.getShareClient('other').create();
    const all = await at.list({ includeMetadata: true, includeSnapshots: true });
    assert.deepEqual(all.map(({ name, snapshot, metadata, deleted }) => [name, snapshot, metadata?.i, deleted]), [
        ...[0, 1, 2].flatMap((i) => [['one', dates[i], String(i), true], ['one', undefined, String(i), true]]),
        ['one', undefined, '3', undefined], ['other', undefined, undefined, undefined]]);
    for (let size = 1; size <= 8; size++) {
        const pages = await collect(at.service.listShares({ includeDeleted: true, includeSnapshots: true }).byPage({ maxPageSize: size }));
        assert.deepEqual(pages.flatMap((page) => page.shareItems).map(({ version, snapshot }) => [version, snapshot]),
            all.map(({ version, snapshot }) => [version, snapshot]), `pages of ${size}`);
        const without = await collect(at.service.listShares({ includeDeleted: true }).byPage({ maxPageSize: size }));
        assert.deepEqual(without.flatMap((page) => page.shareItems).map(({ version, name }) => [version, name]),
            all.filter((one) => !one.snapshot).map(({ version, name }) => [version, name]), `pages of ${size}`);
    }
    assert.deepEqual((await collect(at.service.listShares().byPage({ maxPageSize: 1 }))).map((page) => page.shareItems[0].name), ['one', 'other']);
    for (const marker of ['/devstoreaccount1/one/-/x', '/devstoreaccount1/one/x/0123456789ABCDEF', `/devstoreaccount1/one/-/${'F'.repeat(16)}`])
        await rawRefused(at.ask('GET', `/?comp=list&marker=${encodeURIComponent(marker)}`), 400, 'InvalidQueryParameterValue');
    await share.delete();
    assert.equal((await at.undelete('one', all[3].version)).status, 201);
    assert.deepEqual((await share.getProperties()).metadata, { i: '1' });
    assert.equal((await share.getProperties()).leaseState, 'available');
    assert.equal((await share.withSnapshot(dates[1]).getProperties()).leaseState, 'available');
    await share.delete({ deleteSnapshots: 'include' });
});

test('when its days are over a deleted share is gone; a policy is of what is deleted under it', async (t) => {
    const at = await open(t);
    await at.keep(1);
    const { share } = await newShare(at, 'one');
    await share.createSnapshot();
    const kept = await newShare(at, 'two');
    await at.keep(3);
    await kept.share.delete();
    await at.keep(1);
    await share.delete({ deleteSnapshots: 'include' });
    const never = await newShare(at, 'three');
    await never.share.delete();
    await at.keep(0);
    const lost = await newShare(at, 'four');
    await lost.share.delete();
    const [one, three, two, ...others] = await at.list();
    assert.deepEqual(others, []);
    assert.deepEqual([one, three, two].map(({ name, properties }) => [name, properties.remainingRetentionDays]),
        [['one', 0], ['three', 0], ['two', 2]]);
    assert.equal((await at.service.undeleteShare('three', three.version)).name, 'three');
    await at.control.clock(DAY_S - 600);
    assert.deepEqual((await at.list()).map(({ name, deleted }) => [name, deleted]), [['one', true], ['three', undefined], ['two', true]]);
    await at.control.clock(700);
    assert.deepEqual((await at.list({ includeSnapshots: true })).map(({ name, deleted }) => [name, deleted]), [['three', undefined], ['two', true]]);
    await refused(at.service.undeleteShare('one', one.version), 404, 'ShareNotFound');
    assert.equal(await never.file.downloadToBuffer().then(String), 'content');
});

test('a deleted share outlives a restart and is checked as others are', async (t) => {
    const at = await open(t);
    await at.keep(30);
    const { share } = await newShare(at, 'one', 'x'.repeat(MIB));
    await share.createSnapshot();
    await share.delete({ deleteSnapshots: 'include' });
    const [{ version }] = await at.list();
    await at.server.stop({ keep: true });
    const said = execFileSync(process.env.LAGRA_BINARY, ['check', at.server.location], { encoding: 'utf8' });
    assert.match(said, /1 files in 1 shares; damaged or lost: 0/);
    await at.server.restart();
    const { host, ports } = at.server;
    const answer = await raw('PUT', '/one?restype=share&comp=undelete', { 'x-ms-deleted-share-name': 'one', 'x-ms-deleted-share-version': version },
        '', { base: { host, port: ports.file } });
    assert.equal(answer.status, 201);
    const read = await raw('GET', '/one/d/f', { 'x-ms-range': 'bytes=0-3' }, '', { base: { host, port: ports.file } });
    assert.equal(read.text, 'xxxx');
});
