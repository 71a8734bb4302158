// Access tiers through the SDK: setting them, archived blobs, and how they come back.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobServiceClient } from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';
import { collect, credential, newBlob, newContainer, once, refused } from './setup.mjs';

test('a tier is set, and leaves ETag and content', async (t) => {
    // rest: Set-Blob-Tier; recorded
    const { container, blob, etag } = await newBlob(t, 'hello');
    assert.equal((await blob.getProperties()).accessTierInferred, true);
    for (const tier of ['Cool', 'Cold', 'Hot']) {
        assert.equal((await blob.setAccessTier(tier))._response.status, 200);
        const properties = await blob.getProperties();
        assert.equal(properties.accessTier, tier);
        assert.equal(properties.accessTierInferred, undefined);
        assert.ok(properties.accessTierChangedOn instanceof Date);
        assert.equal(properties.etag, etag);
        assert.equal((await blob.downloadToBuffer()).toString(), 'hello');
    }
    const [listed] = await collect(container.listBlobsFlat());
    assert.equal(listed.properties.accessTier, 'Hot');
    await refused(blob.setAccessTier('P10'), 400, 'InvalidHeaderValue');
});

test('an archived blob is described and refused, and rehydrated', async (t) => {
    // rest: Set-Blob-Tier; learn.microsoft.com, archive tier
    const { container, blob } = await newBlob(t, 'hello', { tags: { a: '1' } });
    assert.equal((await blob.setAccessTier('Archive'))._response.status, 200);
    await refused(blob.download(), 409, 'BlobArchived');
    await refused(blob.setMetadata({ a: '1' }), 409, 'BlobArchived');
    await refused(blob.upload('x', 1), 409, 'BlobArchived');
    await blob.setTags({ a: '2' });
    const back = await blob.setAccessTier('Cool', { rehydratePriority: 'Standard' });
    assert.equal(back._response.status, 202);
    const properties = await blob.getProperties();
    assert.equal(properties.accessTier, 'Archive');
    assert.equal(properties.archiveStatus, 'rehydrate-pending-to-cool');
    assert.equal(properties.rehydratePriority, 'Standard');
    const [listed] = await collect(container.listBlobsFlat());
    assert.equal(listed.properties.archiveStatus, 'rehydrate-pending-to-cool');
    assert.equal(listed.properties.rehydratePriority, 'Standard');
    await refused(blob.download(), 409, 'BlobBeingRehydrated');
    await refused(blob.setAccessTier('Hot'), 409, 'BlobBeingRehydrated');
    await blob.setAccessTier('Cool', { rehydratePriority: 'High' });
    assert.equal((await blob.getProperties()).rehydratePriority, 'High');
    await blob.delete();
});

test('an archived snapshot stays archived', async (t) => {
    // Recorded. decision: 86
    const { blob } = await newBlob(t, 'hello');
    const { snapshot } = await blob.createSnapshot();
    const taken = blob.withSnapshot(snapshot);
    assert.equal((await taken.setAccessTier('Archive'))._response.status, 200);
    for (const tier of ['Hot', 'Cool', 'Cold'])
        await refused(taken.setAccessTier(tier), 409, 'BlobOperationNotSupported');
    assert.equal((await taken.setAccessTier('Archive'))._response.status, 200);
    assert.equal((await taken.getProperties()).archiveStatus, undefined);
});

test('--rehydrateSeconds: an archived blob comes back, also after a restart', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-tiers-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const start = () => Server.start({
        binary: process.env.LAGRA_BINARY, location: folder, args: ['--rehydrateSeconds', '2'],
    });
    const blobOf = (server) => new BlobServiceClient(server.url, credential, once)
        .getContainerClient('back').getBlockBlobClient('blob');
    const first = await start();
    await new BlobServiceClient(first.url, credential, once).createContainer('back');
    await blobOf(first).upload('hello', 5, { tier: 'Archive' });
    await blobOf(first).setAccessTier('Hot');
    await first.stop();
    const second = await start();
    t.after(() => second.stop());
    const blob = blobOf(second);
    for (let tries = 0; tries < 200 && (await blob.getProperties()).archiveStatus; tries++)
        await delay(50);
    assert.equal((await blob.downloadToBuffer()).toString(), 'hello');
    assert.equal((await blob.getProperties()).accessTier, 'Hot');
});

test('Copy Blob is a way back from the archive: the copy is archived until it is there', async (t) => {
    // rest: Copy-Blob "x-ms-rehydrate-priority"; decision: 101
    const server = await Server.start({ args: ['--rehydrateSeconds', '10'] });
    t.after(() => server.kill().then(() => server.remove()));
    const container = new BlobServiceClient(server.url, credential, once).getContainerClient('archive');
    await container.create();
    const source = container.getBlockBlobClient('cold');
    await source.upload('hello', 5);
    await source.setAccessTier('Archive');
    const target = container.getBlockBlobClient('copy');
    const begin = (options) => target.beginCopyFromURL(source.url, { intervalInMs: 50, ...options });
    await refused(begin({ tier: 'Archive' }), 409, 'BlobArchived');
    await refused(source.beginCopyFromURL(source.url, { tier: 'Hot' }), 409, 'BlobArchived'); // not onto itself
    const done = await (await begin({ tier: 'Cool', rehydratePriority: 'High' })).pollUntilDone();
    assert.equal(done.copyStatus, 'success');
    const pending = await target.getProperties();
    assert.deepEqual([pending.accessTier, pending.archiveStatus, pending.rehydratePriority],
        ['Archive', 'rehydrate-pending-to-cool', 'High']);
    await refused(target.download(), 409, 'BlobBeingRehydrated');
    for (let i = 0; (await target.getProperties()).accessTier !== 'Cool'; i++) {
        assert.ok(i < 1200, 'it does not come back');
        await delay(50);
    }
    assert.equal((await target.downloadToBuffer()).toString(), 'hello');
    assert.equal((await source.getProperties()).accessTier, 'Archive');
    await target.delete();
    await begin();
    assert.equal((await target.getProperties()).archiveStatus, 'rehydrate-pending-to-hot');
});

test('append and page blobs have no tier since 2019-02-02', async (t) => {
    // recorded, about 180 times at 2019-02-02; decision: 76
    const container = await newContainer(t);
    await container.getAppendBlobClient('append').create();
    await container.getPageBlobClient('page').create(512);
    for (const name of ['append', 'page']) {
        for (const [version, tier] of [['2018-11-09', 'Hot'], ['2019-02-02', undefined], ['2019-07-07', undefined], ['2020-02-10', undefined]]) {
            const { headers } = await raw('HEAD', `/${container.containerName}/${name}`, {}, '', { version });
            assert.deepEqual([headers.get('x-ms-access-tier') ?? undefined, headers.get('x-ms-access-tier-inferred') ?? undefined], [tier, tier && 'true'], `${name} ${version}`);
        }
    }
});
