// Blobs with customer-provided keys when the server is killed while one is written, and when their bytes on disk are damaged: a read
// gives what was written, or fails. docs/encryption.md; decision: 1420
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { flip } from '../damage/damages.mjs';
import { newCertificate } from '../lib/certificate.mjs';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { account, once } from './setup.mjs';

// The certificate of a test is its own; no other test runs in this process.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

const LENGTH = 8 << 20;
const key = randomBytes(32);
const customerProvidedKey = {
    encryptionKey: key.toString('base64'), encryptionKeySha256: createHash('sha256').update(key).digest('base64'), encryptionAlgorithm: 'AES256',
};

async function newFolder(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-keys-damage-'));
    newCertificate(folder);
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

async function start(t, folder, options = {}) {
    const server = await Server.start({ secure: true, args: ['--cert', join(folder, 'cert.pem'), '--key', join(folder, 'key.pem')], ...options });
    const service = new BlobServiceClient(server.url, new StorageSharedKeyCredential(account.name, account.key), once);
    t.after(() => server.kill().then(() => server.remove()));
    return { server, container: service.getContainerClient('box') };
}

const read = (container, name) => container.getBlobClient(name).downloadToBuffer(0, undefined, { customerProvidedKey, maxRetryRequests: 0, maxRetryRequestsPerBlock: 0 });

test('kill -9 during uploads: each blob has one of its contents', async (t) => {
    const folder = await newFolder(t);
    let { server, container } = await start(t, folder);
    await container.create();
    for (let round = 0; round < 3; round++) {
        const old = randomBytes(LENGTH), newer = randomBytes(LENGTH), names = ['a', 'b', 'c'];
        for (const name of names)
            await container.getBlockBlobClient(name).upload(old, LENGTH, { customerProvidedKey });
        const uploads = names.map((name) => container.getBlockBlobClient(name).upload(newer, LENGTH, { customerProvidedKey })
            .then(() => true, () => false));
        await delay(20 + 60 * round);
        await server.kill();
        const isDone = await Promise.all(uploads);
        ({ server, container } = await start(t, folder, { location: server.location }));
        for (const [i, name] of names.entries()) {
            const content = await read(container, name);
            assert.ok(content.equals(newer) || (!isDone[i] && content.equals(old)), `round ${round}, ${name}`);
        }
    }
    await server.stop({ keep: true });
    const check = await run(['check', server.location], {}, 60000);
    assert.equal(check.code, 0, check.output);
});

test('a bit of an encrypted blob that is damaged: a read fails, and a check reports it', async (t) => {
    const folder = await newFolder(t);
    const { server, container } = await start(t, folder);
    const content = randomBytes(LENGTH);
    await container.create();
    await container.getBlockBlobClient('a').upload(content, LENGTH, { customerProvidedKey });
    await server.stop({ keep: true });
    const extents = join(server.location, 'extents');
    let damaged = 0;
    for (const name of await readdir(extents)) {
        const { size } = await stat(join(extents, name));
        if (size < LENGTH)
            continue;
        await flip(join(extents, name), LENGTH >> 1, 3);
        damaged++;
    }
    assert.ok(damaged > 0);
    const check = await run(['check', server.location], {}, 60000);
    assert.equal(check.code, 1, check.output);
    assert.match(check.output + check.errors, /box\/a/);
    const again = await start(t, folder, { location: server.location });
    await assert.rejects(read(again.container, 'a'));
    const start0 = await again.container.getBlobClient('a').downloadToBuffer(0, 65536, { customerProvidedKey });
    assert.ok(start0.equals(content.subarray(0, 65536)), 'what is not damaged is read');
});
