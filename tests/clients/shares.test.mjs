// Shares through the official SDK: create, list, properties, metadata, policies, leases, snapshots,
// deletion, who may.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
    AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, ShareClient, ShareServiceClient,
    generateAccountSASQueryParameters,
} from '@azure/storage-file-share';
import { Server } from '../lib/server.mjs';
import { account, collect, refused } from './setup.mjs';
import { raw, rawRefused } from './raw.mjs';
import { credential, newShare, once, rawFile, service, shareName, url } from './shares-setup.mjs';

const inHours = (hours) => new Date(Date.now() + hours * 3600000);

test('Create Share: properties as given or by default; 409 when it is there (rest: Create-Share)', async (t) => {
    const plain = await newShare(t);
    const properties = await plain.getProperties();
    assert.equal(properties.quota, 5120);
    assert.equal(properties.accessTier, 'TransactionOptimized');
    assert.deepEqual([properties.leaseStatus, properties.leaseState], ['unlocked', 'available']);
    assert.deepEqual(properties.metadata, {});
    assert.equal(properties.accessTierChangeTime.getTime(), properties.lastModified.getTime());
    const other = await newShare(t, { quota: 7, accessTier: 'Hot', metadata: { one: '1', two: 'B' }, protocols: { smbEnabled: true } });
    const given = await other.getProperties();
    assert.deepEqual([given.quota, given.accessTier, given.metadata], [7, 'Hot', { one: '1', two: 'B' }]);
    await refused(other.create(), 409, 'ShareAlreadyExists');
    assert.equal((await other.createIfNotExists()).succeeded, false);
    assert.equal(await other.exists(), true);
});

test('what a share of this account cannot be is refused (decision: 323)', async () => {
    for (const headers of [{ 'x-ms-share-quota': '0' }, { 'x-ms-share-quota': '102401' }, { 'x-ms-share-quota': 'x' },
        { 'x-ms-access-tier': 'Premium' }, { 'x-ms-access-tier': 'Archive' }, { 'x-ms-enabled-protocols': 'NFS' }])
        await rawRefused(rawFile('PUT', `/${shareName()}?restype=share`, headers), 400, 'InvalidHeaderValue');
    for (const name of ['x-ms-root-squash', 'x-ms-share-provisioned-iops', 'x-ms-share-paid-bursting-enabled'])
        await rawRefused(rawFile('PUT', `/${shareName()}?restype=share`, { [name]: '1' }), 400, 'UnsupportedHeader');
});

test('names: 3..63 lower-case letters, digits, single dashes', async () => {
    for (const name of ['Upper', 'a--b', '-ab', 'ab-', 'a_b', '\u4e02\u4e02\u4e02', 'a.b'])
        await refused(service.getShareClient(encodeURIComponent(name)).create(), 400, 'InvalidResourceName');
    await refused(service.getShareClient('ab').create(), 400, 'OutOfRangeInput');
    await refused(service.getShareClient('a'.repeat(64)).create(), 400, 'OutOfRangeInput');
});

test('Set Share Properties: what is not sent stays; a tier knows when it was changed', async (t) => {
    const share = await newShare(t, { quota: 3, metadata: { a: 'b' } });
    const before = await share.getProperties();
    assert.equal(before.accessTierTransitionState, undefined);
    const set = await share.setProperties({ quotaInGB: 10 });
    assert.notEqual(set.etag, before.etag);
    let now = await share.getProperties();
    assert.deepEqual([now.quota, now.accessTier, now.etag, now.metadata], [10, 'TransactionOptimized', set.etag, { a: 'b' }]);
    assert.equal(now.accessTierChangeTime.getTime(), before.accessTierChangeTime.getTime());
    await share.setProperties({ accessTier: 'Cool' });
    now = await share.getProperties();
    assert.deepEqual([now.quota, now.accessTier], [10, 'Cool']);
    assert.equal(now.accessTierChangeTime.getTime(), now.lastModified.getTime());
    assert.equal(now.accessTierTransitionState, 'pending-from-transactionOptimized');
    await share.setProperties({ accessTier: 'Hot' });
    assert.equal((await share.getProperties()).accessTierTransitionState, undefined, 'recorded: at once');
    await share.setProperties({ accessTier: 'TransactionOptimized' });
    assert.equal((await share.getProperties()).accessTierTransitionState, 'pending-from-hot');
    for await (const { properties } of service.listShares({ prefix: share.name }))
        assert.equal(properties.accessTierTransitionState, 'pending-from-hot');
    await share.setQuota(11);
    assert.equal((await share.getProperties()).quota, 11);
    await refused(share.setProperties({ accessTier: 'Premium' }), 400, 'InvalidHeaderValue');
    await refused(service.getShareClient(shareName()).setQuota(1), 404, 'ShareNotFound');
});

test('a share is in its new tier after --rehydrateSeconds', async (t) => {
    const server = await Server.start({ args: ['--rehydrateSeconds', '1'] });
    t.after(() => server.kill().then(() => server.remove()));
    const base = { host: server.host, port: server.ports.file };
    const ask = (method, query, headers) => raw(method, `/moves?restype=share${query}`, headers, '', { base });
    await ask('PUT', '');
    await ask('PUT', '&comp=properties', { 'x-ms-access-tier': 'Hot' });
    const state = async () => (await ask('GET', '')).headers.get('x-ms-access-tier-transition-state');
    assert.equal(await state(), 'pending-from-transactionOptimized');
    for (let tries = 0; tries < 200 && await state(); tries++)
        await delay(50);
    assert.equal(await state(), undefined);
});

test('Set and Get Share Metadata replace all', async (t) => {
    const share = await newShare(t, { metadata: { old: 'x' } });
    const { etag } = await share.setMetadata({ key: 'Value', other: '2' });
    const answer = await rawFile('GET', `/${share.name}?restype=share&comp=metadata`);
    assert.deepEqual(['x-ms-meta-key', 'x-ms-meta-old', 'etag'].map((name) => answer.headers.get(name)),
        ['Value', undefined, etag]);
    await share.setMetadata({});
    assert.deepEqual((await share.getProperties()).metadata, {});
    await rawRefused(rawFile('GET', `/${shareName()}?restype=share&comp=metadata`), 404, 'ShareNotFound');
});

test('Set and Get Share ACL keep policies; letters of shares only', async (t) => {
    const share = await newShare(t);
    // The client stumbles over an empty list.
    const isEmpty = async () => assert.match((await rawFile('GET', `/${share.name}?restype=share&comp=acl`)).text,
        /<SignedIdentifiers \/>$/);
    await isEmpty();
    const startsOn = new Date('2030-01-01T00:00:00Z'), expiresOn = new Date('2031-01-01T00:00:00Z');
    const policies = [{ id: 'all', accessPolicy: { startsOn, expiresOn, permissions: 'rcwdl' } }];
    await share.setAccessPolicy(policies);
    const [policy] = (await share.getAccessPolicy()).signedIdentifiers;
    assert.deepEqual([policy.id, policy.accessPolicy.permissions, policy.accessPolicy.expiresOn.getTime()],
        ['all', 'rcwdl', expiresOn.getTime()]);
    await refused(share.setAccessPolicy([{ id: 'x', accessPolicy: { permissions: 't', expiresOn } }]),
        400, 'InvalidXmlDocument');
    await share.setAccessPolicy([]);
    await isEmpty();
});

test('Get Share Stats: an empty share takes no room; older versions have GiB', async (t) => {
    const share = await newShare(t);
    assert.equal((await share.getStatistics()).shareUsageBytes, 0);
    const old = await rawFile('GET', `/${share.name}?restype=share&comp=stats`, {}, '', { version: '2016-05-31' });
    for (const name of ['etag', 'last-modified']) // recorded; decision 877
        assert.equal(old.headers.get(name), undefined);
    assert.match(old.text, /<ShareStats><ShareUsage>0<\/ShareUsage><\/ShareStats>/);
});

test('Lease Share: messages say "file share", and a release has a time', async (t) => {
    // Recorded: LeaseIdMissing 4, mismatch 4, the time 9 of 9, of a share and of its snapshot. decision: 857
    const share = await newShare(t);
    const { snapshot } = await share.createSnapshot();
    const a = '00000000-0000-0000-0000-00000000000a', b = '00000000-0000-0000-0000-00000000000b';
    for (const query of ['', `&sharesnapshot=${encodeURIComponent(snapshot)}`]) {
        const path = `/${share.name}?restype=share${query}`;
        const act = (action, headers) => rawFile('PUT', `${path}&comp=lease`, { 'x-ms-lease-action': action, ...headers });
        const says = async (promise, status, code, message) => {
            const { text } = await rawRefused(promise, status, code);
            assert.ok(text.includes(`<Message>${message}\n`), text);
        };
        const none = 'There is currently no lease on the file share.';
        const mismatch = 'The lease ID specified did not match the lease ID for the file share.';
        await says(act('break'), 409, 'LeaseNotPresentWithLeaseOperation', none);
        await says(act('release', { 'x-ms-lease-id': a }), 409, 'LeaseIdMismatchWithLeaseOperation', mismatch);
        await says(rawFile('GET', path, { 'x-ms-lease-id': a }), 412, 'LeaseNotPresentWithContainerOperation', none);
        await act('acquire', { 'x-ms-lease-duration': '-1', 'x-ms-proposed-lease-id': a });
        await says(rawFile('DELETE', path), 412, 'LeaseIdMissing',
            'There is currently a lease on the file share and no lease ID was specified in the request.');
        await says(rawFile('DELETE', path, { 'x-ms-lease-id': b }), 412, 'LeaseIdMismatchWithContainerOperation', mismatch);
        const released = await act('release', { 'x-ms-lease-id': a });
        assert.deepEqual([released.status, released.headers.get('x-ms-lease-time')], [200, '0']);
        await act('acquire', { 'x-ms-lease-duration': '-1', 'x-ms-proposed-lease-id': a });
        await act('break');
        await says(rawFile('DELETE', path, { 'x-ms-lease-id': a }), 412, 'LeaseLost',
            'A lease ID was specified, but the lease for the file share has expired.');
    }
});

test('Lease Share: five actions; a leased share is deleted with the id alone (semantics 3.5)', async (t) => {
    const share = await newShare(t);
    const { etag } = await share.getProperties();
    const lease = share.getShareLeaseClient();
    const act = (action, headers) => rawFile('PUT', `/${share.name}?restype=share&comp=lease`, { 'x-ms-lease-action': action, ...headers });
    const none = { 'x-ms-lease-id': lease.leaseId };
    await rawRefused(act('renew', none), 409, 'LeaseIdMismatchWithLeaseOperation');
    await rawRefused(act('change', { ...none, 'x-ms-proposed-lease-id': lease.leaseId }), 409, 'LeaseNotPresentWithLeaseOperation');
    await rawRefused(act('break'), 409, 'LeaseNotPresentWithLeaseOperation');
    const id = (await lease.acquireLease(30)).leaseId;
    assert.equal((await share.getProperties()).leaseState, 'leased');
    assert.equal((await share.getProperties()).etag, etag);
    await refused(share.getShareLeaseClient().acquireLease(15), 409, 'LeaseAlreadyPresent');
    await refused(share.delete(), 412, 'LeaseIdMissing');
    const wrong = '00000000-0000-0000-0000-000000000001';
    await refused(share.getProperties({ leaseAccessConditions: { leaseId: wrong } }), 412,
        'LeaseIdMismatchWithContainerOperation');
    await share.setMetadata({ a: 'b' }); // not needed
    await share.getProperties({ leaseAccessConditions: { leaseId: id } });
    // The client takes a share for a file here.
    const renewed = await act('renew', { 'x-ms-lease-id': id });
    assert.deepEqual([renewed.status, renewed.headers.get('x-ms-lease-id')], [200, id]);
    const changed = (await lease.changeLease('00000000-0000-0000-0000-000000000002')).leaseId;
    await refused(share.getShareLeaseClient(id).releaseLease(), 409, 'LeaseIdMismatchWithLeaseOperation');
    const released = await act('release', { 'x-ms-lease-id': changed });
    assert.deepEqual([released.status, released.headers.get('x-ms-lease-time')], [200, '0']); // recorded; decision 877
    await refused(share.getProperties({ leaseAccessConditions: { leaseId: changed } }), 412,
        'LeaseNotPresentWithContainerOperation');
    const forever = (await share.getShareLeaseClient().acquireLease(-1)).leaseId;
    assert.equal((await share.getShareLeaseClient().breakLease()).leaseTimeInSeconds, 0);
    assert.equal((await share.getProperties()).leaseState, 'broken');
    await share.getShareLeaseClient(forever).acquireLease(-1);
});

test('Snapshot Share: a state of its properties, read and deleted by its date', async (t) => {
    const share = await newShare(t, { metadata: { a: '1' }, quota: 2 });
    const { etag } = await share.getProperties();
    const first = await share.createSnapshot();
    assert.equal(first.etag, etag);
    assert.match(first.snapshot, /T\d\d:\d\d:\d\d\.0000000Z$/);
    const second = await share.createSnapshot({ metadata: { b: '2' } });
    assert.notEqual(second.snapshot, first.snapshot); // also of one second. decision: 321
    await share.setMetadata({ c: '3' });
    await share.setQuota(5);
    const at = (snapshot) => share.withSnapshot(snapshot);
    const { metadata, quota } = await at(first.snapshot).getProperties();
    assert.deepEqual([metadata, quota], [{ a: '1' }, 2]);
    assert.deepEqual((await at(second.snapshot).getProperties()).metadata, { b: '2' });
    for (const [method, comp] of [['PUT', '&comp=metadata'], ['PUT', '&comp=properties'], ['PUT', '&comp=snapshot'],
        ['PUT', ''], ['GET', '&comp=acl'], ['GET', '&comp=stats'], ['PUT', '&comp=acl']])
        await rawRefused(rawFile(method, `/${share.name}?restype=share${comp}&sharesnapshot=${first.snapshot}`),
            400, 'ShareSnapshotOperationNotSupported');
    await rawRefused(rawFile('DELETE', `/${share.name}?restype=share&sharesnapshot=`), 400, 'InvalidQueryParameterValue');
    await refused(share.delete(), 409, 'ShareHasSnapshots');
    await at(first.snapshot).delete();
    await refused(at(first.snapshot).getProperties(), 404, 'ShareNotFound');
    await refused(at(first.snapshot).delete(), 404, 'ShareNotFound');
    await share.delete({ deleteSnapshots: 'include' });
    await refused(at(second.snapshot).getProperties(), 404, 'ShareNotFound');
});

test('a leased snapshot stays, unless its share is deleted with leased ones (rest: Delete-Share)', async (t) => {
    const share = await newShare(t);
    const { snapshot } = await share.createSnapshot();
    const lease = share.withSnapshot(snapshot).getShareLeaseClient();
    await lease.acquireLease(-1);
    assert.equal((await share.getProperties()).leaseState, 'available');
    await refused(share.withSnapshot(snapshot).delete(), 412, 'LeaseIdMissing');
    await refused(share.delete({ deleteSnapshots: 'include' }), 412, 'LeaseIdMissing');
    assert.equal(await share.exists(), true);
    const of = `/${share.name}?restype=share`;
    await rawRefused(rawFile('DELETE', `${of}&sharesnapshot=${snapshot}`, { 'x-ms-delete-snapshots': 'include' }),
        400, 'InvalidHeaderValue');
    await rawRefused(rawFile('DELETE', of, { 'x-ms-delete-snapshots': 'some' }), 400, 'InvalidHeaderValue');
    const released = await rawFile('PUT', `${of}&comp=lease&sharesnapshot=${snapshot}`,
        { 'x-ms-lease-action': 'release', 'x-ms-lease-id': lease.leaseId });
    assert.deepEqual([released.status, released.headers.get('x-ms-lease-time')], [200, '0']); // recorded; decision 877
    await lease.acquireLease(-1);
    await share.delete({ deleteSnapshots: 'include-leased' });
});

test('a share has at most 200 snapshots (semantics 8.1)', async (t) => {
    const share = await newShare(t);
    let last;
    for (let i = 0; i < 200; i++)
        last = (await share.createSnapshot()).snapshot;
    await refused(share.createSnapshot(), 409, 'ShareSnapshotCountExceeded');
    await share.withSnapshot(last).delete();
    await share.createSnapshot();
    await share.delete({ deleteSnapshots: 'include' });
    await share.create();
    await share.createSnapshot();
});

test('a deleted share is gone, and its name free at once (decisions: 13, 62)', async (t) => {
    const share = await newShare(t, { metadata: { a: 'b' } });
    await share.delete();
    await refused(share.getProperties(), 404, 'ShareNotFound');
    await refused(share.setMetadata({}), 404, 'ShareNotFound');
    await share.delete(); // as recorded, 247 of 247
    await share.create();
    assert.deepEqual((await share.getProperties()).metadata, {});
    await refused(service.getShareClient(shareName()).delete(), 404, 'ShareNotFound');
});

test('List Shares: prefix, pages, metadata, snapshots before their share (rest: List-Shares)', async (t) => {
    const prefix = shareName();
    const shares = [];
    for (const n of [3, 1, 2]) {
        shares[n] = service.getShareClient(`${prefix}-${n}`);
        await shares[n].create({ metadata: { n: String(n) } });
    }
    t.after(() => Promise.all([1, 2, 3].map((n) => shares[n].delete({ deleteSnapshots: 'include' }))));
    const all = await collect(service.listShares({ prefix, includeMetadata: true }));
    assert.deepEqual(all.map(({ name, metadata }) => [name, metadata.n]), [1, 2, 3].map((n) => [`${prefix}-${n}`, String(n)]));
    const pages = await collect(service.listShares({ prefix }).byPage({ maxPageSize: 2 }));
    assert.deepEqual(pages.map((page) => page.shareItems.length), [2, 1]);
    assert.equal(pages[0].continuationToken, `/${account.name}/${prefix}-3`);
    const dates = [];
    for (const n of [2, 2, 3])
        dates.push((await shares[n].createSnapshot()).snapshot);
    const expected = [[1], [2, dates[0]], [2, dates[1]], [2], [3, dates[2]], [3]]
        .map(([n, date]) => [`${prefix}-${n}`, date]);
    const shown = ({ name, snapshot }) => [name, snapshot];
    assert.deepEqual((await collect(service.listShares({ prefix, includeSnapshots: true }))).map(shown), expected);
    for (let size = 1; size <= 6; size++) {
        const parts = await collect(service.listShares({ prefix, includeSnapshots: true }).byPage({ maxPageSize: size }));
        assert.deepEqual(parts.flatMap((page) => page.shareItems).map(shown), expected, `pages of ${size}`);
        assert.ok(parts.every((page) => page.shareItems.length <= size));
    }
    for (const marker of ['x', '/x/y', `/${account.name}/a/b`, `/${account.name}/a/`, `/${account.name}/A`])
        await rawRefused(rawFile('GET', `/?comp=list&marker=${encodeURIComponent(marker)}`), 400, 'InvalidQueryParameterValue');
    assert.deepEqual(await collect(service.listShares({ prefix: `${prefix}none`, includeDeleted: true })), []);
});

test('List Shares: elements in their order, by version (semantics 8.1)', async (t) => {
    const share = await newShare(t, { quota: 4 });
    const list = async (version) => (await rawFile('GET', `/?comp=list&prefix=${share.name}`, {}, '', { version })).text
        .match(/<Share>.*<\/Share>/)[0].replace(/>[^<]+</g, '><');
    const end = '</Properties></Share>';
    const old = '<Share><Name></Name><Properties><Last-Modified></Last-Modified><Etag></Etag>';
    assert.equal(await list('2016-05-31'), `${old}<Quota></Quota>${end}`);
    assert.equal(await list('2021-06-08'), `${old}<LeaseStatus></LeaseStatus><LeaseState></LeaseState><Quota></Quota>` +
        '<AccessTier></AccessTier><AccessTierChangeTime></AccessTierChangeTime>' +
        `<DefaultEncryptionScope></DefaultEncryptionScope><DenyEncryptionScopeOverride></DenyEncryptionScopeOverride>${end}`);
});

test('service properties: metrics, CORS and protocols of the service\'s own', async (t) => {
    const { cors } = await service.getProperties();
    t.after(() => service.setProperties({ cors: cors ?? [] }));
    const rule = { allowedOrigins: 'http://files.example', allowedMethods: 'GET', allowedHeaders: '', exposedHeaders: '', maxAgeInSeconds: 5 };
    await service.setProperties({ cors: [rule] });
    const now = await service.getProperties();
    assert.equal(now.cors[0].allowedOrigins, 'http://files.example');
    assert.equal(now.protocol.smb.multichannel.enabled, false);
    await service.setProperties({ protocol: { smb: { multichannel: { enabled: false } } } });
    assert.equal((await service.getProperties()).cors.length, 1);
    await refused(service.setProperties({ protocol: { smb: { multichannel: { enabled: true } } } }), 501, 'NotImplemented');
    const xml = (await rawFile('GET', '/?restype=service&comp=properties', {}, '', { version: '2018-11-09' })).text;
    assert.doesNotMatch(xml, /Logging|ProtocolSettings/);
    const bad = '<StorageServiceProperties><Logging><Version>1.0</Version></Logging></StorageServiceProperties>';
    await rawRefused(rawFile('PUT', '/?restype=service&comp=properties', {}, bad), 400, 'InvalidXmlDocument');
    const allowed = await fetch(`${url}/any?restype=share`, { method: 'OPTIONS', headers: {
        Origin: 'http://files.example', 'Access-Control-Request-Method': 'GET' } });
    assert.equal(allowed.status, 200);
    const denied = await fetch(`${url}/any?restype=share`, { method: 'OPTIONS', headers: {
        Origin: 'http://other.example', 'Access-Control-Request-Method': 'GET' } });
    assert.equal(denied.status, 403);
});

test('an account SAS of the File service opens what its letters say', async (t) => {
    const share = await newShare(t);
    const client = (values) => new ShareServiceClient(`${url}?${generateAccountSASQueryParameters({
        services: AccountSASServices.parse('f').toString(), resourceTypes: AccountSASResourceTypes.parse('sc').toString(),
        permissions: AccountSASPermissions.parse('rl'), expiresOn: inHours(1), ...values,
    }, credential)}`, undefined, once);
    const reads = client({});
    await reads.getShareClient(share.name).getProperties();
    await collect(reads.listShares({ prefix: share.name }));
    await refused(reads.getShareClient(share.name).setQuota(1), 403, 'AuthorizationPermissionMismatch');
    await refused(reads.getShareClient(share.name).getAccessPolicy(), 403, 'AuthorizationFailure');
    await refused(reads.getShareClient(share.name).setMetadata({}), 403, 'AuthorizationPermissionMismatch');
    await refused(client({ resourceTypes: 'c' }).getProperties(), 403, 'AuthorizationResourceTypeMismatch');
    await refused(client({ services: AccountSASServices.parse('b').toString() }).getShareClient(share.name).getProperties(), 403,
        'AuthorizationServiceMismatch');
    await refused(client({ resourceTypes: 's' }).getShareClient(share.name).getProperties(), 403,
        'AuthorizationResourceTypeMismatch');
    const all = client({ permissions: AccountSASPermissions.parse('rwdlc') }).getShareClient(shareName());
    await all.create();
    const { snapshot } = await all.createSnapshot();
    await all.withSnapshot(snapshot).delete();
    await all.delete();
    await refused(new ShareClient(share.url, undefined, once).getProperties(), 401, 'NoAuthenticationInformation');
});

test('Shared Key Lite is taken for files: a header and a body that it does not cover may differ', async (t) => {
    const share = await newShare(t);
    const date = new Date().toUTCString(), path = `/${share.name}/f`;
    const put = (comp, headers, body = '') => {
        const signed = Object.entries({ 'x-ms-date': date, 'x-ms-version': '2021-12-02', ...headers }).sort();
        const text = `PUT\n\n\n\n${signed.map(([name, value]) => `${name}:${value}\n`).join('')}` +
            `/${account.name}/${account.name}${path}${comp}`;
        const signature = createHmac('sha256', Buffer.from(account.key, 'base64')).update(text).digest('base64');
        return (more = {}) => rawFile('PUT', path + comp, {
            ...Object.fromEntries(signed), Authorization: `SharedKeyLite ${account.name}:${signature}`, ...more,
        }, body, { signed: false });
    };
    assert.equal((await put('', { 'x-ms-type': 'file', 'x-ms-content-length': '4' })()).status, 201);
    const write = put('?comp=range', { 'x-ms-write': 'update' }, 'text');
    assert.equal((await write({ range: 'bytes=0-3' })).status, 201);
    await rawRefused(write({ range: 'bytes=0-3', 'x-ms-meta-a': '1' }), 403, 'AuthenticationFailed'); // all of x-ms- is covered
    const file = share.rootDirectoryClient.getFileClient('f');
    assert.equal(String(await file.downloadToBuffer()), 'text');
});

test('Shared Key Lite is taken for shares (rest: Authorize-with-Shared-Key, "Shared Key Lite")', async (t) => {
    const share = await newShare(t);
    const date = new Date().toUTCString();
    const ask = (path, comp) => {
        const text = `GET\n\n\n\nx-ms-date:${date}\nx-ms-version:2021-12-02\n/${account.name}/${account.name}${path}${comp}`;
        const signature = createHmac('sha256', Buffer.from(account.key, 'base64')).update(text).digest('base64');
        return rawFile('GET', `/${share.name}?restype=share&comp=metadata`, {
            'x-ms-date': date, 'x-ms-version': '2021-12-02', Authorization: `SharedKeyLite ${account.name}:${signature}`,
        }, '', { signed: false });
    };
    const taken = await ask(`/${share.name}`, '?comp=metadata');
    assert.equal(taken.status, 200, taken.text);
    await rawRefused(ask(`/${share.name}`, ''), 403, 'AuthenticationFailed'); // comp is signed
    await rawRefused(ask('/other', '?comp=metadata'), 403, 'AuthenticationFailed');
});
