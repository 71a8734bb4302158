// A data folder of each version of the format (images/) is read whole and changed correctly.
// decision: 290
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BlobServiceClient } from '@azure/storage-blob';
import * as image from './images/contents.mjs';
import { Control, Server } from '../lib/server.mjs';
import { collect, credential, once, refused } from './setup.mjs';

const versions = ['v1'];

// A server on a copy of the image: { blob(name), control, server }.
async function open(t, version) {
    const location = await mkdtemp(join(tmpdir(), 'lagra-image-'));
    t.after(() => rm(location, { recursive: true, force: true }));
    const file = fileURLToPath(new URL(`images/${version}.tar.xz`, import.meta.url));
    execFileSync('tar', ['--sparse', '-xJf', file, '-C', location]);
    const server = await Server.start({ location });
    t.after(() => server.kill());
    const container = new BlobServiceClient(server.url, credential, once)
        .getContainerClient(image.CONTAINER);
    const control = new Control(server);
    t.after(() => control.close());
    return { server, container, control, blob: (name) => container.getBlockBlobClient(name) };
}

// The blob has these bytes, whole and in ranges that begin and end anywhere.
async function expectBytes(blob, bytes) {
    assert.ok(bytes.equals(await blob.downloadToBuffer()), blob.url);
    for (let i = 1; i < 8; i++) {
        const from = Math.floor(bytes.length * i / 9);
        const count = Math.min(bytes.length - from, 1 + 12347 * i * i);
        assert.ok(bytes.subarray(from, from + count).equals(await blob.downloadToBuffer(from, count)),
            `${blob.url} from ${from}, ${count}`);
    }
}

async function snapshotsOf(container, name) {
    const all = await collect(container.listBlobsFlat({ prefix: name, includeSnapshots: true }));
    return all.filter((one) => one.name === name && one.snapshot).map(({ snapshot }) => snapshot);
}

const listed = ({ name, size }) => [name, Number(size)];
const named = (all, order) => order.map((n) => [image.blockId(n), all[n].length]);
const all = (list) => [...list.keys()];

// Waits until no record refers to a byte of a piece: what is deleted goes in deferred tasks. Nothing without control
// requests.
async function untilFreed({ control }) {
    const kept = async () => Number(/piece_bytes=(\d+)/.exec(await control.collect())[1]);

    if (!await control.works())
        return;
    for (let i = 0; i < 600 && await kept() > 0; i++)
        await delay(200);
    assert.equal(await kept(), 0);
}

async function stage(blob, blocks, which) {
    for (const n of which)
        await blob.stageBlock(image.blockId(n), blocks[n], blocks[n].length);
}

for (const version of versions) {
    test(`image ${version} is read whole, also after a restart`, async (t) => {
        const folder = await open(t, version);

        for (const round of ['first', 'second']) {
            const { blob, container } = folder;
            await expectBytes(blob('inlined'), image.inlined);
            await expectBytes(blob('staged'), image.staged);
            await expectBytes(blob('large'), image.large);
            await expectBytes(blob('many'), image.join(image.many));
            await expectBytes(blob('shared'), image.join(image.shared, image.sharedStates[2]));
            await expectBytes(blob('inlined-waiting'), image.inlined);
            for (const name of ['large', 'many']) {
                const bytes = name === 'large' ? image.large : image.join(image.many);
                for (const snapshot of await snapshotsOf(container, name))
                    await expectBytes(blob(name).withSnapshot(snapshot), bytes);
            }
            const snapshots = await snapshotsOf(container, 'shared');
            assert.equal(snapshots.length, 3);
            for (const [i, snapshot] of snapshots.entries()) {
                await expectBytes(blob('shared').withSnapshot(snapshot),
                    image.join(image.shared, image.sharedStates[i]));
                const list = await blob('shared').withSnapshot(snapshot).getBlockList('all');
                assert.deepEqual(list.committedBlocks.map(listed),
                    named(image.shared, image.sharedStates[i]));
            }
            const many = await blob('many').getBlockList('all');
            assert.deepEqual(many.committedBlocks.map(listed), named(image.many, all(image.many)));
            assert.equal(many.uncommittedBlocks?.length ?? 0, 0);
            for (const name of ['waiting', 'inlined-waiting']) {
                const list = await blob(name).getBlockList('uncommitted');
                assert.deepEqual(list.uncommittedBlocks.map(listed),
                    named(image.waiting, all(image.waiting)));
            }
            if (round === 'first') {
                await folder.server.stop({ keep: true });
                folder.control.close();
                await folder.server.restart();
                const again = new BlobServiceClient(folder.server.url, credential, once)
                    .getContainerClient(image.CONTAINER);
                folder.container = again;
                folder.blob = (name) => again.getBlockBlobClient(name);
            }
        }
    });

    test(`blocks staged in image ${version} are committed together with new ones`, async (t) => {
        const { blob } = await open(t, version);

        for (const name of ['waiting', 'inlined-waiting']) {
            await stage(blob(name), image.shared, [3]); /* its id differs from those that are there */
            await stage(blob(name), image.shared, [1]); /* takes the place of one */
            await blob(name).commitBlockList([2, 1, 0, 3, 2].map(image.blockId));
            await expectBytes(blob(name), Buffer.concat([image.waiting[2], image.shared[1],
                image.waiting[0], image.shared[3], image.waiting[2]]));
        }
        await refused(blob('waiting').commitBlockList([image.blockId(4)]), 400, 'InvalidBlockList');
    });

    test(`committed blocks of image ${version} go into new lists, with its snapshots unchanged`, async (t) => {
        const { blob, container } = await open(t, version);
        const order = all(image.many).reverse();

        await stage(blob('many'), image.waiting, [0]);
        await blob('many').commitBlockList([...order.map(image.blockId), image.blockId(505)]);
        const now = image.join(image.many, [...order.slice(0, -1)]);
        await expectBytes(blob('many'), Buffer.concat([now, image.waiting[0], image.many[505]]));
        for (const snapshot of await snapshotsOf(container, 'many'))
            await expectBytes(blob('many').withSnapshot(snapshot), image.join(image.many));

        await blob('shared').commitBlockList([3, 1].map(image.blockId));
        await expectBytes(blob('shared'), image.join(image.shared, [3, 1]));
        await blob('shared').createSnapshot();
        await blob('shared').commitBlockList([image.blockId(1)]);
        await expectBytes(blob('shared'), image.shared[1]);
        const snapshots = await snapshotsOf(container, 'shared');
        const states = [...image.sharedStates, [3, 1]];
        for (const n of [1, 0, 3, 2]) {
            await expectBytes(blob('shared').withSnapshot(snapshots[n]), image.join(image.shared, states[n]));
            await blob('shared').withSnapshot(snapshots[n]).delete();
        }
        await expectBytes(blob('shared'), image.shared[1]);
    });

    test(`what image ${version} holds is freed when it is deleted or overwritten`, async (t) => {
        const folder = await open(t, version);
        const { blob } = folder;

        await blob('staged').upload(image.inlined, image.inlined.length);
        await blob('many').upload(image.inlined, image.inlined.length);
        for (const name of ['large', 'many', 'shared'])
            await blob(name).delete({ deleteSnapshots: name === 'many' ? 'only' : 'include' });
        for (const name of ['inlined', 'staged', 'waiting', 'inlined-waiting'])
            await blob(name).delete();
        await untilFreed(folder);
        await expectBytes(blob('many'), image.inlined);
    });
}
