// Backup and restore of blobs with policies, legal holds and customer-provided keys: they are protected, and encrypted, afterwards
// as before, whether the container or all of the data directory is restored. docs/immutability.md, docs/encryption.md
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { newCertificate } from '../lib/certificate.mjs';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { account, once, refused } from './setup.mjs';

// The certificate of a test is its own; no other test runs in this process.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

const LARGE = randomBytes(5 << 20);
const BY_HOLD = [409, 'BlobImmutableDueToLegalHold'];
const BY_POLICY = [409, 'BlobImmutableDueToPolicy'];
const bytes = randomBytes(32);
const customerProvidedKey = {
    encryptionKey: bytes.toString('base64'), encryptionKeySha256: createHash('sha256').update(bytes).digest('base64'), encryptionAlgorithm: 'AES256',
};

async function start(t, folder, options = {}) {
    const server = await Server.start({ secure: true, args: ['--cert', join(folder, 'cert.pem'), '--key', join(folder, 'key.pem')], ...options });
    t.after(() => server.kill().then(() => server.remove()));
    return { server, service: new BlobServiceClient(server.url, new StorageSharedKeyCredential(account.name, account.key), once) };
}

async function done(server, ...words) {
    const { code, output, errors } = await run([...words, '--json', '--location', server.location], {}, 60000);
    assert.equal(code, 0, errors);
    return JSON.parse(output.trim().split('\n').at(-1));
}

async function fill({ server, service }) {
    await done(server, 'account', 'set', account.name, 'versioning=on');
    const versions = service.getContainerClient('versions'), held = service.getContainerClient('held');
    await versions.create();
    await done(server, 'container', 'protect', 'versions', 'versions');
    const blob = versions.getBlockBlobClient('keyed');
    await blob.upload('one', 3, { customerProvidedKey, legalHold: true });
    await blob.upload(LARGE, LARGE.length, { customerProvidedKey, immutabilityPolicy: { expiriesOn: new Date(Date.now() + 9e8), policyMode: 'Locked' } });
    await versions.getBlockBlobClient('plain').upload(LARGE, LARGE.length, { legalHold: true });
    await held.create();
    await held.getBlockBlobClient('a').upload(LARGE, LARGE.length, { customerProvidedKey });
    await done(server, 'container', 'protect', 'held', 'policy', '--days', '3');
    await done(server, 'container', 'protect', 'held', 'lock');
    await done(server, 'container', 'protect', 'held', 'hold', '--tags', 'case1');
}

async function isAsBefore({ server, service }, versions, held) {
    const blob = service.getContainerClient(versions).getBlockBlobClient('keyed');
    assert.ok((await blob.downloadToBuffer(0, undefined, { customerProvidedKey })).equals(LARGE));
    await refused(blob.download(), 409, 'BlobUsesCustomerSpecifiedEncryption');
    const { immutabilityPolicyMode, versionId } = await blob.getProperties({ customerProvidedKey });
    assert.equal(immutabilityPolicyMode, 'locked');
    await refused(blob.delete(), ...BY_POLICY);
    const all = [];
    for await (const item of service.getContainerClient(versions).listBlobsFlat({ includeVersions: true, includeLegalHold: true, prefix: 'keyed' }))
        all.push(item);
    const older = all.find((item) => item.versionId !== versionId);
    assert.equal(older.properties.legalHold, true);
    assert.equal(String(await blob.withVersion(older.versionId).downloadToBuffer(0, undefined, { customerProvidedKey })), 'one');
    await refused(blob.withVersion(older.versionId).delete(), ...BY_HOLD);
    await refused(service.getContainerClient(versions).getBlobClient('plain').delete(), ...BY_HOLD);

    const piece = service.getContainerClient(held).getBlockBlobClient('a');
    assert.ok((await piece.downloadToBuffer(0, undefined, { customerProvidedKey })).equals(LARGE));
    await refused(piece.upload('x', 1), ...BY_HOLD);
    await refused(piece.delete(), ...BY_HOLD);
    const shown = await done(server, 'container', 'show', held);
    assert.deepEqual([shown.policy, shown.days, shown.holds], ['locked', 3, ['case1']]);
}

test('a container that is restored beside the one of the backup', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-protected-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    newCertificate(folder);
    const at = await start(t, folder), backups = join(folder, 'backups');
    await fill(at);
    await done(at.server, 'backup', backups);
    for (const name of ['versions', 'held']) {
        const { code, errors } = await run(['restore', 'container', backups, name, '--replace', '--location', at.server.location], {}, 60000);
        assert.notEqual(code, 0);
        assert.match(errors, /ContainerImmutab|ContainerHasLegalHold|ImmutableStorage/);
        await done(at.server, 'restore', 'container', backups, name, '--as', `${name}2`);
    }
    await isAsBefore(at, 'versions', 'held');
    await isAsBefore(at, 'versions2', 'held2');
    await at.server.stop({ keep: true });
    const check = await run(['check', at.server.location], {}, 60000);
    assert.equal(check.code, 0, check.output);
});

test('a server on a backup, and on what a salvage has left', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-protected-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    newCertificate(folder);
    const at = await start(t, folder), backups = join(folder, 'backups'), restored = join(folder, 'restored'), saved = join(folder, 'saved');
    await fill(at);
    await done(at.server, 'backup', backups);
    await at.server.kill();
    const back = await run(['backup', 'restore', join(backups, (await readdir(backups))[0]), restored], {}, 60000);
    assert.equal(back.code, 0, back.errors);
    await isAsBefore(await start(t, folder, { location: restored }), 'versions', 'held');
    const salvage = await run(['check', at.server.location, '--salvage', saved], {}, 60000);
    assert.equal(salvage.code, 0, salvage.output + salvage.errors);
    await isAsBefore(await start(t, folder, { location: saved }), 'versions', 'held');
});
