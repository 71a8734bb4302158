// Last access time of block blobs: set by the creation, and at most once a day by Get Blob, without an effect on anything
// else. rest: Get-Blob-Properties "x-ms-last-access-time"; decision: 1440
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { run } from '../lib/program.mjs';
import { freePorts, Server } from '../lib/server.mjs';

const HOUR_MS = 3600_000, DAY_MS = 24 * HOUR_MS;

async function start(t, settings, more = []) {
    const [port] = await freePorts(1);
    const server = await Server.start({ args: ['--testing', '--managementPort', `${port}`, ...more] });
    t.after(() => server.kill().then(() => server.remove()));
    const command = async (...words) => {
        const { code, output, errors } = await run([...words, '--json', '--location', server.location]);
        assert.equal(code, 0, errors);
        return JSON.parse(output);
    };
    const { key1 } = await command('account', 'add', 'alpha', ...(more.includes('--hierarchical') ? ['--hierarchical'] : []));
    await command('account', 'set', 'alpha', ...settings);
    const service = new BlobServiceClient(`http://${server.host}:${server.ports.blob}/alpha`, new StorageSharedKeyCredential('alpha', key1));
    const container = service.getContainerClient('box');
    await container.create();
    const forward = (hours) => fetch(`http://127.0.0.1:${port}/-/time`, { method: 'PUT', body: JSON.stringify({ forwardSeconds: hours * 3600 }) });
    return { container, command, forward };
}

const accessOf = async (blob) => (await blob.getProperties()).lastAccessed?.getTime();

/** Waits until the blob's access time is not the one before, for a second at most. */
async function changed(blob, before) {
    for (let looks = 0; looks < 100; looks++) {
        const now = await accessOf(blob);
        if (now !== before)
            return now;
        await delay(10);
    }
    return before;
}

for (const kind of ['flat', 'hierarchical']) {
    test(`${kind}: a read a day later moves the time; another read that day, and properties, do not`, async (t) => {
        const { container, forward } = await start(t, ['lastAccessTracking=on'], kind === 'flat' ? [] : ['--hierarchical']);
        const blob = container.getBlockBlobClient('b');
        await blob.upload('text', 4);
        const { etag, lastModified, lastAccessed } = await blob.getProperties();
        assert.ok(Math.abs(lastAccessed.getTime() - lastModified.getTime()) <= 1000);

        await forward(23);
        await blob.download();
        assert.equal(await changed(blob, lastAccessed.getTime()), lastAccessed.getTime());
        await forward(2);
        await blob.getProperties();
        assert.equal(await changed(blob, lastAccessed.getTime()), lastAccessed.getTime());
        const { lastAccessed: shown } = await blob.download();
        assert.equal(shown.getTime(), lastAccessed.getTime());
        const second = await changed(blob, lastAccessed.getTime());
        assert.ok(second - lastAccessed.getTime() >= 25 * HOUR_MS && second - lastAccessed.getTime() < 26 * HOUR_MS);
        const after = await blob.getProperties();
        assert.deepEqual([after.etag, after.lastModified], [etag, lastModified]);

        const { value } = await container.listBlobsFlat().byPage().next();
        assert.equal(value.segment.blobItems[0].properties.lastAccessedOn.getTime(), second);
    });
}

test('without tracking there is no time; blobs from before it get one by the next read', async (t) => {
    const { container, command } = await start(t, ['lastAccessTracking=off']);
    const blob = container.getBlockBlobClient('b');
    await blob.upload('text', 4);
    await blob.download();
    assert.equal(await accessOf(blob), undefined);
    await command('account', 'set', 'alpha', 'lastAccessTracking=on');
    assert.equal(await accessOf(blob), undefined);
    await blob.download();
    assert.ok(Date.now() - await changed(blob, undefined) < DAY_MS);
    await command('account', 'set', 'alpha', 'lastAccessTracking=off');
    assert.equal(await accessOf(blob), undefined);
});

test('only block blobs have one; snapshots keep that of their base', async (t) => {
    const { container } = await start(t, ['lastAccessTracking=on']);
    await container.getAppendBlobClient('append').create();
    await container.getAppendBlobClient('append').download();
    assert.equal(await changed(container.getAppendBlobClient('append'), undefined), undefined);
    const blob = container.getBlockBlobClient('b');
    await blob.upload('text', 4);
    const { snapshot } = await blob.createSnapshot();
    assert.equal(await accessOf(blob.withSnapshot(snapshot)), await accessOf(blob));
});
