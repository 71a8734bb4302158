// Encryption scopes with the npm clients: every operation that names one, defaults of containers, SAS, copies, snapshots and
// versions, the Data Lake endpoint, disabled scopes, and what is on the disk. The server's own restart keeps them.
// docs: Encryption scopes for Blob storage; the SDKs' own tests; docs/encryption.md; decisions: 1424, 1460 to 1464
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
    AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, BlobSASPermissions, BlobServiceClient, ContainerSASPermissions,
    StorageSharedKeyCredential, generateAccountSASQueryParameters,
} from '@azure/storage-blob';
import { DataLakeServiceClient, StorageSharedKeyCredential as DfsCredential } from '@azure/storage-file-datalake';
import { newMasterKey } from '../lib/master_key.mjs';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';
import { account, bytesOf, collect, once, refused } from './setup.mjs';

const USES = [409, 'BlobUsesCustomerSpecifiedEncryption'];
const MISMATCH = [409, 'BlobCustomerSpecifiedEncryptionMismatch'];
const CLOSED = [409, 'EncryptionScopeNotAvailable'];
const DENIED = [403, 'RequestForbiddenByContainerEncryptionPolicy'];
const one = { encryptionScope: 'one' }, two = { encryptionScope: 'two' };

let key, server, service, paths;
async function scope(...words) {
    const { code, output, errors } = await run(['account', 'scope', ...words, '--json', '--location', server.location]);
    assert.equal(code, 0, errors);
    return JSON.parse(output);
}
function connect() {
    service = new BlobServiceClient(server.url, new StorageSharedKeyCredential(account.name, account.key), once);
    paths = new DataLakeServiceClient(server.urlOf('dfs'), new DfsCredential(account.name, account.key), once);
}
before(async () => {
    key = await newMasterKey();
    server = await Server.start({ ...key.options, args: [...key.options.args, '--hierarchical'] });
    connect();
    for (const name of ['one', 'two', 'closed'])
        assert.equal((await scope('add', name)).state, 'enabled');
    assert.equal((await scope('disable', 'closed')).state, 'disabled');
});
after(async () => {
    await server.kill();
    await server.remove();
    await key.remove();
});

let count = 0;
async function newContainer(containerEncryptionScope) {
    const container = service.getContainerClient(`scopes-${++count}`);
    await container.create({ containerEncryptionScope });
    return container;
}
/* Not all responses of the clients show it. */
const scopeOf = (answer) => answer._response.headers.get('x-ms-encryption-scope');
const isOne = (answer) => assert.equal(scopeOf(answer), 'one');
async function assertContent(blob, content, name = 'one') {
    const got = await blob.download();
    assert.equal(scopeOf(got), name ?? undefined);
    assert.ok(Buffer.from(content).equals(await bytesOf(got)));
}

test('the command lists scopes, and refuses names and scopes that there are', async () => {
    const { scopes } = await scope('list');
    assert.deepEqual(scopes.map(({ name, state }) => [name, state]), [['closed', 'disabled'], ['one', 'enabled'], ['two', 'enabled']]);
    const failed = async (...words) => (await run(['account', 'scope', ...words, '--location', server.location])).errors;
    assert.match(await failed('add', 'one'), /already exists/);
    assert.match(await failed('add', 'a_b'), /A name must have 3 to 63 letters/);
    assert.match(await failed('disable', 'none'), /does not exist/);
    assert.match(await failed('list', 'one'), /takes no name/);
    assert.match(await failed('remove', 'one'), /takes add, list, disable or enable/);
});

test('without a key of the server, scopes cannot be added', async (t) => {
    const without = await Server.start({});
    t.after(() => without.kill().then(() => without.remove()));
    const { code, errors } = await run(['account', 'scope', 'add', 'one', '--location', without.location]);
    assert.equal(code, 1);
    assert.match(errors, /require --encryptionKey/);
});

test('a block blob of any length is read without naming its scope', async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient('blob');
    for (const size of [0, 1, 100, 16385, 65537, (9 << 20) + 12345]) {
        const content = randomBytes(size);
        const put = await blob.upload(content, size, { ...one, metadata: { of: 'the blob' } });
        isOne(put);
        assert.deepEqual(Buffer.from(put.contentMD5), createHash('md5').update(content).digest(), 'of what was sent');
        await assertContent(blob, content);
        if (size > 65536)
            assert.ok(content.subarray(65530, 65550).equals(await bytesOf(await blob.download(65530, 20))));
    }
    const properties = await blob.getProperties();
    isOne(properties);
    assert.deepEqual(properties.metadata, { of: 'the blob' });
    isOne(await blob.setMetadata({ other: 'metadata' }, one));
    await refused(blob.setMetadata({}), ...USES);
    await refused(blob.createSnapshot(two), ...MISMATCH);
    await refused(blob.createSnapshot(), ...USES);
    const { snapshot } = await blob.createSnapshot(one);
    await blob.upload('plain', 5);
    await assertContent(blob, 'plain', null);
    isOne(await blob.withSnapshot(snapshot).getProperties());
    const [listed] = (await collect(container.listBlobsFlat({ includeSnapshots: true, includeMetadata: true })))
        .filter((item) => item.snapshot);
    assert.deepEqual([listed.properties.encryptionScope, listed.metadata], ['one', { other: 'metadata' }]);
});

test('blocks, appended blocks and pages have the scope of their blob', async () => {
    const container = await newContainer();
    const block = container.getBlockBlobClient('block'), append = container.getAppendBlobClient('append'), page = container.getPageBlobClient('page');
    isOne(await block.stageBlock('MQ==', 'staged', 6, one));
    await refused(block.commitBlockList(['MQ==']), ...USES);
    isOne(await block.commitBlockList(['MQ=='], one));
    await assertContent(block, 'staged');
    isOne(await append.create(one));
    isOne(await append.appendBlock('tail', 4, one));
    await refused(append.appendBlock('tail', 4), ...USES);
    await assertContent(append, 'tail');
    isOne(await page.create(1024, one));
    const bytes = randomBytes(512);
    isOne(await page.uploadPages(bytes, 512, 512, one));
    await refused(page.uploadPages(bytes, 0, 512, two), ...MISMATCH);
    await assertContent(page, Buffer.concat([Buffer.alloc(512), bytes]));
    await page.clearPages(512, 512, one);
    await assertContent(page, Buffer.alloc(1024));
});

test('a container has a default scope, and may deny others', async () => {
    const container = await newContainer({ defaultEncryptionScope: 'one', preventEncryptionScopeOverride: true });
    const { defaultEncryptionScope, denyEncryptionScopeOverride } = await container.getProperties();
    assert.deepEqual([defaultEncryptionScope, denyEncryptionScopeOverride], ['one', true]);
    const [listed] = await collect(service.listContainers({ prefix: container.containerName }));
    assert.deepEqual([listed.properties.defaultEncryptionScope, listed.properties.preventEncryptionScopeOverride], ['one', true]);
    const blob = container.getBlockBlobClient('blob');
    isOne(await blob.upload('default', 7));
    await assertContent(blob, 'default');
    await refused(blob.upload('two', 3, two), ...DENIED);
    await refused(container.getAppendBlobClient('none').appendBlock('x', 1, two), ...DENIED);
    await refused(container.getAppendBlobClient('none').appendBlock('x', 1), 404, 'BlobNotFound');
    const open = await newContainer({ defaultEncryptionScope: 'one', preventEncryptionScopeOverride: false });
    await open.getBlockBlobClient('two').upload('two', 3, two);
    await assertContent(open.getBlockBlobClient('two'), 'two', 'two');
    await refused(service.getContainerClient('never').create({ containerEncryptionScope: { defaultEncryptionScope: 'none', preventEncryptionScopeOverride: false } }), ...CLOSED);
});

test('a tier or a key besides a scope is refused', async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient('blob');
    await refused(blob.upload('x', 1, { ...one, tier: 'Cool' }), ...USES);
    await blob.upload('x', 1, one);
    await refused(blob.setAccessTier('Cool'), ...USES);
    await rawRefused(raw('PUT', `/${container.containerName}/blob`, { 'x-ms-blob-type': 'BlockBlob', 'x-ms-encryption-scope': 'a--b' }, 'x', { base: server.ports ? { host: server.host, port: server.ports.blob } : {} }), 400, 'InvalidHeaderValue');
});

test('copies are encrypted with the scope of their destination', async () => {
    const from = await newContainer({ defaultEncryptionScope: 'one', preventEncryptionScopeOverride: false });
    const to = await newContainer({ defaultEncryptionScope: 'two', preventEncryptionScopeOverride: false });
    const plain = await newContainer();
    const content = randomBytes(3 << 20), large = randomBytes(70 << 20);
    const source = from.getBlockBlobClient('source');
    await source.upload(content, content.length, { metadata: { of: 'the source' } });
    const url = await source.generateSasUrl({ permissions: BlobSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 3600000) });
    const expect = async (container, name, scopeName) => {
        const blob = container.getBlockBlobClient(name);
        await assertContent(blob, content, scopeName);
        assert.equal((await blob.getProperties()).metadata.of, name.startsWith('block') ? undefined : 'the source');
    };
    await (await to.getBlockBlobClient('copy').beginCopyFromURL(source.url)).pollUntilDone();
    await expect(to, 'copy', 'two');
    await (await plain.getBlockBlobClient('copy').beginCopyFromURL(source.url)).pollUntilDone();
    await expect(plain, 'copy', null);
    await plain.getBlockBlobClient('sync').syncCopyFromURL(url, two);
    await expect(plain, 'sync', 'two');
    await plain.getBlockBlobClient('block').stageBlockFromURL('MQ==', url, 0, undefined, two);
    await plain.getBlockBlobClient('block').commitBlockList(['MQ=='], two);
    await expect(plain, 'block', 'two');
    const put = await plain.getBlockBlobClient('block-put').syncUploadFromURL(url, two);
    assert.equal(scopeOf(put), 'two');
    await expect(plain, 'block-put', 'two');
    // Larger than what is copied at once, so it is pending.
    await source.uploadData(large, { blockSize: 16 << 20 });
    await (await to.getBlockBlobClient('pending').beginCopyFromURL(source.url)).pollUntilDone();
    await assertContent(to.getBlockBlobClient('pending'), large, 'two');
    const pages = randomBytes(1 << 20), page = from.getPageBlobClient('page');
    await page.create(1 << 20);
    await page.uploadPages(pages, 0, 1 << 20);
    await (await to.getPageBlobClient('page').beginCopyFromURL(page.url)).pollUntilDone();
    await assertContent(to.getPageBlobClient('page'), pages, 'two');
});

test('ses of a SAS is the scope of what is written', async () => {
    const container = await newContainer();
    const denying = await newContainer({ defaultEncryptionScope: 'one', preventEncryptionScopeOverride: true });
    const expiresOn = new Date(Date.now() + 3600000);
    const accountSas = generateAccountSASQueryParameters({ expiresOn, encryptionScope: 'two', permissions: AccountSASPermissions.parse('racw'),
        resourceTypes: AccountSASResourceTypes.parse('o').toString(), services: AccountSASServices.parse('b').toString() }, service.credential);
    const serviceSas = async (of) => new URL(await of.generateSasUrl({ expiresOn, permissions: ContainerSASPermissions.parse('racw'), encryptionScope: 'two' })).search.slice(1);
    for (const [sas, denied] of [[accountSas, accountSas], [await serviceSas(container), await serviceSas(denying)]]) {
        const blob = new BlobServiceClient(`${server.url}?${sas}`, undefined, once).getContainerClient(container.containerName).getBlockBlobClient('blob');
        assert.equal(scopeOf(await blob.upload('signed', 6)), 'two');
        await assertContent(blob, 'signed', 'two');
        await refused(blob.upload('other', 5, one), 400, 'InvalidHeaderValue');
        await blob.setMetadata({ a: 'b' });
        const other = new BlobServiceClient(`${server.url}?${denied}`, undefined, once).getContainerClient(denying.containerName).getBlockBlobClient('blob');
        await refused(other.upload('signed', 6), ...DENIED);
        await denying.getBlockBlobClient('read').upload('read', 4);
        await assertContent(new BlobServiceClient(`${server.url}?${denied}`, undefined, once).getContainerClient(denying.containerName).getBlobClient('read'), 'read');
    }
});

test('paths have the default scope of their filesystem', async () => {
    const filesystem = paths.getFileSystemClient(`scopes-${++count}`);
    await filesystem.create({ fileSystemEncryptionScope: { defaultEncryptionScope: 'one', preventEncryptionScopeOverride: true } });
    const file = filesystem.getFileClient('directory/file'), content = randomBytes(100000);
    await filesystem.getDirectoryClient('directory').create({ metadata: { of: 'the directory' } });
    isOne(await file.create({ metadata: { of: 'the file' } }));
    isOne(await file.append(content, 0, content.length));
    isOne(await file.flush(content.length));
    isOne(await file.getProperties());
    assert.ok(content.equals(await file.readToBuffer()));
    await file.setMetadata({ other: 'metadata' });
    assert.deepEqual((await file.getProperties()).metadata, { other: 'metadata' });
    await filesystem.getDirectoryClient('directory').setMetadata({ other: 'metadata' });
    const [, listed] = await collect(filesystem.listPaths({ recursive: true }));
    assert.equal(listed.encryptionScope, 'one');
    await file.move('directory/moved');
    assert.ok(content.equals(await filesystem.getFileClient('directory/moved').readToBuffer()));
});

test('a disabled scope makes its blobs unreadable until it is enabled, also after a restart', async () => {
    const container = await newContainer({ defaultEncryptionScope: 'one', preventEncryptionScopeOverride: false });
    const blob = container.getBlockBlobClient('blob'), kept = container.getBlockBlobClient('kept');
    await blob.upload('content', 7, { metadata: { a: 'b' } });
    await kept.upload('kept', 4);
    await scope('disable', 'one');
    for (const call of [() => blob.download(), () => blob.setMetadata({}), () => blob.createSnapshot(), () => blob.upload('x', 1), () => blob.stageBlock('MQ==', 'x', 1)])
        await refused(call(), ...CLOSED);
    await assert.rejects(blob.getProperties(), { statusCode: 409 });
    const [listed] = await collect(container.listBlobsFlat({ includeMetadata: true }));
    assert.deepEqual([listed.properties.encryptionScope, listed.metadata?.a], ['one', undefined]);
    await blob.delete();
    await server.kill();
    await server.restart();
    connect();
    const again = service.getContainerClient(container.containerName).getBlobClient('kept');
    await refused(again.download(), ...CLOSED);
    await scope('enable', 'one');
    await assertContent(again, 'kept');
});

test('neither content nor metadata is on the disk in clear', async () => {
    const container = await newContainer({ defaultEncryptionScope: 'one', preventEncryptionScopeOverride: false });
    const secret = 'a sentence that must not be found on the disk', small = `small: ${secret}`;
    await container.getBlockBlobClient('small').upload(small, small.length, { metadata: { of: `metadata: ${secret}` } });
    const large = Buffer.alloc(1 << 20, secret);
    await container.getBlockBlobClient('large').upload(large, large.length);
    await container.getAppendBlobClient('append').create();
    await container.getAppendBlobClient('append').appendBlock(small, small.length);
    for (const name of await readdir(server.location, { recursive: true, withFileTypes: true }))
        if (name.isFile())
            assert.ok(!(await readFile(join(name.parentPath ?? name.path, name.name))).includes(secret), `${name.name} has it`);
    await server.stop({ keep: true });
    const { code, errors } = await run(['check', ...key.options.args, server.location]);
    assert.equal(code, 0, errors);
    await server.restart();
    connect();
});
