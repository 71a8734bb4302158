// Retention policies and legal holds, through the official SDK, and of containers by `lagra container protect`. The SDK's own
// tests: ImmutableStorageWithVersioningTests (.NET), blobversionlevelworm (JavaScript); kopia: TestAzureStorageImmutabilityProtection.
// rest: Set-Blob-Immutability-Policy, Set-Blob-Legal-Hold; docs: immutable-version-level-worm-policies; decisions: 1400 to 1409
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../lib/program.mjs';
import { collect, refused } from './setup.mjs';
import { open as openServer, textOf } from './versions-setup.mjs';

const DAY_S = 86400;
const BY_POLICY = [409, 'BlobImmutableDueToPolicy'];
const BY_HOLD = [409, 'BlobImmutableDueToLegalHold'];

async function protect(server, name, change, ...options) {
    const { code, output, errors } = await run(['container', 'protect', name, change, ...options, '--json', '--location', server.location]);
    return code === 0 ? JSON.parse(output) : { code, errors };
}

/** A server whose container `box` has versions with policies and holds of their own. */
async function open(t, options) {
    const at = await openServer(t, options);
    assert.equal((await protect(at.server, 'box', 'versions')).versions, true);
    at.container = at.client('rwdxylactfi').getContainerClient('box');
    at.blob = (name) => at.container.getBlockBlobClient(name);
    /** After a restart, at other ports. */
    at.reopened = (name) => at.client('rwdxylactfi').getContainerClient('box').getBlockBlobClient(name);
    at.until = (seconds) => new Date(Math.floor(Date.now() / 1000 + seconds) * 1000);
    return at;
}

async function written(at, name, content = 'content', options) {
    const blob = at.blob(name);
    const { versionId } = await blob.upload(content, content.length, options);
    return { blob, versionId };
}

test('a policy: set, shown by properties, downloads and lists, deleted', async (t) => {
    const at = await open(t);
    const { blob } = await written(at, 'b');
    const until = at.until(300);
    const { etag } = await blob.getProperties();
    const set = await blob.setImmutabilityPolicy({ expiriesOn: until, policyMode: 'Unlocked' });
    assert.deepEqual([set.immutabilityPolicyExpiry, set.immutabilityPolicyMode], [until, 'unlocked']);
    const properties = await blob.getProperties();
    assert.deepEqual([properties.immutabilityPolicyExpiresOn, properties.immutabilityPolicyMode, properties.etag], [until, 'unlocked', etag]);
    const download = await blob.download();
    assert.deepEqual([download.immutabilityPolicyExpiresOn, download.immutabilityPolicyMode], [until, 'unlocked']);
    const [listed] = await collect(at.container.listBlobsFlat({ includeImmutabilityPolicy: true, includeLegalHold: true }));
    assert.deepEqual([listed.properties.immutabilityPolicyExpiresOn, listed.properties.immutabilityPolicyMode, listed.properties.legalHold], [until, 'unlocked', undefined]);
    assert.equal((await collect(at.container.listBlobsFlat()))[0].properties.immutabilityPolicyMode, undefined);
    await refused(blob.delete(), ...BY_POLICY);
    await refused(blob.setMetadata({ a: '1' }), ...BY_POLICY);
    await blob.deleteImmutabilityPolicy();
    assert.equal((await blob.getProperties()).immutabilityPolicyExpiresOn, undefined);
    await blob.delete();
    await refused(blob.deleteImmutabilityPolicy(), 404, 'BlobNotFound');
});

test('a legal hold: set, shown, removed', async (t) => {
    const at = await open(t);
    const { blob } = await written(at, 'b');
    assert.equal((await blob.setLegalHold(true)).legalHold, true);
    assert.equal((await blob.getProperties()).legalHold, true);
    assert.equal((await blob.download()).legalHold, true);
    const [listed] = await collect(at.container.listBlobsFlat({ includeLegalHold: true }));
    assert.equal(listed.properties.legalHold, true);
    const shown = async (version) => (await at.ask('HEAD', '/box/b', {}, '', { version })).headers.get('x-ms-legal-hold');
    assert.deepEqual([await shown('2020-04-08'), await shown('2020-06-12')], [undefined, 'true']);
    await refused(blob.delete(), ...BY_HOLD);
    assert.equal((await blob.setLegalHold(false)).legalHold, false);
    assert.equal((await blob.getProperties()).legalHold, undefined);
    await blob.delete();
    await refused(blob.setLegalHold(true), 404, 'BlobNotFound');
});

test('each way of creating a blob takes a policy and a hold', async (t) => {
    const at = await open(t);
    const until = at.until(300);
    const protection = { immutabilityPolicy: { expiriesOn: until, policyMode: 'Unlocked' }, legalHold: true };
    const source = (await written(at, 'source')).blob.url;
    const ways = {
        upload: (name) => at.blob(name).upload('x', 1, protection),
        parallel: (name) => at.blob(name).uploadData(Buffer.alloc(3 << 20), { blockSize: 1 << 20, maxSingleShotSize: 1 << 20, ...protection }),
        blocks: async (name) => {
            await at.blob(name).stageBlock('MQ==', 'x', 1);
            await at.blob(name).commitBlockList(['MQ=='], protection);
        },
        append: (name) => at.container.getAppendBlobClient(name).create(protection),
        pages: (name) => at.container.getPageBlobClient(name).create(512, protection),
        copy: async (name) => (await at.blob(name).beginCopyFromURL(source, protection)).pollUntilDone(),
        sync: (name) => at.blob(name).syncCopyFromURL(source, protection),
    };
    for (const [name, way] of Object.entries(ways)) {
        await way(name);
        const { immutabilityPolicyExpiresOn, immutabilityPolicyMode, legalHold } = await at.blob(name).getProperties();
        assert.deepEqual([immutabilityPolicyExpiresOn, immutabilityPolicyMode, legalHold], [until, 'unlocked', true], name);
        await refused(at.blob(name).delete(), ...BY_HOLD);
    }
    // The source has neither, nor does a copy of a blob that has both.
    await at.blob('plain').syncCopyFromURL(at.blob('upload').url);
    assert.equal((await at.blob('plain').getProperties()).legalHold, undefined);
    // Put Blob From URL
    const { status } = await at.ask('PUT', `/box/from?${new URL(source).search.slice(1)}`, { 'x-ms-blob-type': 'BlockBlob', 'x-ms-copy-source': source, 'x-ms-legal-hold': 'true' });
    assert.equal(status, 201);
    assert.equal((await at.blob('from').getProperties()).legalHold, true);
});

test('copies onto a protected blob are versions; in a protected container they are refused', async (t) => {
    const at = await open(t);
    const source = (await written(at, 'source', 'new')).blob.url;
    const { blob, versionId } = await written(at, 'b', 'old', { legalHold: true });
    await (await blob.beginCopyFromURL(source)).pollUntilDone();
    assert.equal(await textOf(blob), 'new');
    assert.equal(await textOf(blob.withVersion(versionId)), 'old');
    await refused(blob.withVersion(versionId).delete(), ...BY_HOLD);

    const other = at.client('rwdxylactfi').getContainerClient('other');
    await other.create();
    const kept = other.getBlockBlobClient('b');
    await kept.upload('old', 3);
    await protect(at.server, 'other', 'hold', '--tags', 'case1');
    await refused(kept.beginCopyFromURL(source), ...BY_HOLD);
    await refused(kept.syncCopyFromURL(source), ...BY_HOLD);
    await refused(kept.syncUploadFromURL(source), ...BY_HOLD);
    await refused(kept.stageBlockFromURL('MQ==', source), ...BY_HOLD);
    await other.getBlockBlobClient('c').syncCopyFromURL(source);
    await refused(other.getBlockBlobClient('c').delete(), ...BY_HOLD);
    assert.equal(await textOf(kept), 'old');
});

test('permission i, of an account and of a container, and not w', async (t) => {
    const at = await open(t);
    await written(at, 'b');
    const blobOf = (letters) => at.client(letters).getContainerClient('box').getBlockBlobClient('b');
    await blobOf('i').setImmutabilityPolicy({ expiriesOn: at.until(300), policyMode: 'Unlocked' });
    await blobOf('i').setLegalHold(false);
    await blobOf('i').deleteImmutabilityPolicy();
    await refused(blobOf('rwdxylactf').setLegalHold(true), 403, 'AuthorizationPermissionMismatch');
    await refused(blobOf('rwdxylactf').upload('x', 1, { legalHold: true }), 403, 'AuthorizationPermissionMismatch');
    await blobOf('wi').upload('x', 1, { legalHold: true });
    await refused(blobOf('wi').upload('x', 1, { legalHold: true, tags: { a: '1' } }), 403, 'AuthorizationPermissionMismatch');
});

test('a locked policy is only extended, and protects across a restart', async (t) => {
    const at = await open(t);
    const { blob } = await written(at, 'b');
    await blob.setImmutabilityPolicy({ expiriesOn: at.until(3000), policyMode: 'Locked' });
    await refused(blob.setImmutabilityPolicy({ expiriesOn: at.until(2000), policyMode: 'Locked' }), ...BY_POLICY);
    await refused(blob.setImmutabilityPolicy({ expiriesOn: at.until(4000), policyMode: 'Unlocked' }), ...BY_POLICY);
    await refused(blob.deleteImmutabilityPolicy(), 409, 'ImmutabilityPolicyDeleteOnLockedPolicy');
    await blob.setImmutabilityPolicy({ expiriesOn: at.until(4000), policyMode: 'Locked' });
    const expected = (await blob.getProperties()).immutabilityPolicyExpiresOn;
    await at.server.kill();
    await at.server.restart();
    const again = at.reopened('b');
    await refused(again.delete(), ...BY_POLICY);
    await refused(again.deleteImmutabilityPolicy(), 409, 'ImmutabilityPolicyDeleteOnLockedPolicy');
    assert.deepEqual((await again.getProperties()).immutabilityPolicyExpiresOn, expected);
});

/* What kopia does for a repository with object lock: PutBlob with a policy, then ExtendBlobRetention, and a marker instead of a
   deletion. https://github.com/kopia/kopia repo/blob/azure */
test('object lock as kopia uses it', async (t) => {
    const at = await open(t);
    const lock = (seconds) => ({ immutabilityPolicy: { expiriesOn: at.until(seconds), policyMode: 'Locked' } });
    const { blob, versionId } = await written(at, 'p0123', 'pack', lock(30));
    await blob.setImmutabilityPolicy({ expiriesOn: at.until(300), policyMode: 'Locked' });
    const refusal = await refused(blob.delete(), ...BY_POLICY);
    assert.equal(refusal.code, 'BlobImmutableDueToPolicy');
    await blob.upload('', 0); // the marker
    const versions = await collect(at.container.listBlobsFlat({ prefix: 'p0123', includeVersions: true }));
    assert.deepEqual(versions.map(({ isCurrentVersion, properties }) => [!!isCurrentVersion, properties.contentLength]), [[false, 4], [true, 0]]);
    assert.equal(await textOf(blob.withVersion(versionId)), 'pack');
    await refused(blob.withVersion(versionId).delete(), ...BY_POLICY);
    await at.forward(400);
    await blob.withVersion(versionId).delete();
});

test('a container: policy, lock, extension, holds; shown by properties and lists', async (t) => {
    const at = await openServer(t);
    const { server } = at;
    const name = 'box';
    const flags = async () => {
        const { hasImmutabilityPolicy, hasLegalHold, isImmutableStorageWithVersioningEnabled } = await at.container.getProperties();
        const [{ properties }] = await collect(at.service.listContainers());
        assert.deepEqual([properties.hasImmutabilityPolicy, properties.hasLegalHold], [hasImmutabilityPolicy, hasLegalHold]);
        return [hasImmutabilityPolicy, hasLegalHold, isImmutableStorageWithVersioningEnabled];
    };
    assert.deepEqual(await flags(), [false, false, false]);
    const { blob } = await at.put('b', 'content');
    assert.deepEqual((await protect(server, name, 'policy', '--days', '2', '--append', 'all')).policy, 'unlocked');
    assert.equal((await protect(server, name, 'lock')).policy, 'locked');
    assert.match((await protect(server, name, 'remove')).errors, /has a locked immutability policy/);
    assert.match((await protect(server, name, 'policy', '--days', '1')).errors, /has a locked immutability policy/);
    assert.equal((await protect(server, name, 'extend', '--days', '3')).days, 3);
    assert.deepEqual(await flags(), [true, false, false]);
    assert.deepEqual((await protect(server, name, 'hold', '--tags', 'Case1,case2')).holds, ['case1', 'case2']);
    assert.deepEqual(await flags(), [true, true, false]);
    await refused(blob.upload('x', 1), ...BY_HOLD);
    await refused(at.container.delete(), 409, 'ContainerHasLegalHold');
    await protect(server, name, 'release', '--tags', 'case1,case2');
    await refused(blob.upload('x', 1), ...BY_POLICY);
    await refused(blob.delete(), ...BY_POLICY);
    await refused(at.container.delete(), 409, 'ContainerImmutabilityPolicyLocked');
    const shown = await run(['container', 'show', name, '--location', server.location]);
    assert.match(shown.output, /^policy +locked$/m);
    assert.match(shown.output, /extend +3/);
    // The operator deletes it once it is empty.
    const remove = () => run(['container', 'delete', name, '--location', server.location]);
    assert.match((await remove()).errors, /locked immutability policy/);
    await at.put('c', 'still open');
    await at.forward(3 * DAY_S + 1);
    await refused(blob.upload('x', 1), ...BY_POLICY);
    await blob.delete();
    assert.match((await remove()).errors, /locked immutability policy/);
});

test('commands that make no sense', async (t) => {
    const { server } = await openServer(t);
    for (const [change, ...options] of [['forget'], ['policy'], ['policy', '--days', '0'], ['policy', '--days', 'x'], ['lock'], ['extend', '--days', '3'],
        ['hold'], ['hold', '--tags', 'a'], ['lock', '--tags', 'case1'], ['policy', '--days', '1', '--append', 'some']]) {
        const { code, errors } = await protect(server, 'box', change, ...options);
        assert.equal(code, 1, `${change} ${options.join(' ')}: ${errors}`);
    }
    assert.equal((await protect(server, 'none', 'lock')).code, 1);
    const { output } = await run(['container', 'show', 'box', '--json', '--location', server.location]);
    assert.deepEqual(JSON.parse(output).log, []);
});
