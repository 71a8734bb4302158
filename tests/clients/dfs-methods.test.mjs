// Every public method of the classes of the Data Lake client library, on a flat and on a hierarchical account. The
// last test lists the methods by reflection, and fails for each that no test has called. rest: datalakestoragegen2
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import {
    AccountSASPermissions, DataLakeDirectoryClient, DataLakeFileClient, DataLakeFileSystemClient, DataLakeLeaseClient,
    DataLakePathClient, DataLakeSASPermissions, DataLakeServiceClient, DirectorySASPermissions, FileSystemSASPermissions,
    StorageSharedKeyCredential,
} from '@azure/storage-file-datalake';
import { Server } from '../lib/server.mjs';
import { newFile } from './dfs-setup.mjs';
import { recordMethods } from './recorded-methods.mjs';
import { raw } from './raw.mjs';
import { bytesOf, collect, containerName, once, pattern, refused } from './setup.mjs';
import { claimsOf, ISSUER, jwks, rsa, serveSecurely, tokenOf } from './tokens-setup.mjs';

const KINDS = ['flat', 'hierarchical'];
const KEY = Buffer.alloc(64, 7).toString('base64');
const OWNER = '11111111-1111-1111-1111-111111111111';
const NO_NAMESPACE = [400, 'HierarchicalNamespaceNotEnabled'];
const inAnHour = () => new Date(Date.now() + 3600_000);
const called = Object.fromEntries(KINDS.map((kind) => [kind, new Set()]));
const recorder = recordMethods('@azure/storage-file-datalake', [DataLakeServiceClient, DataLakeFileSystemClient,
    DataLakePathClient, DataLakeDirectoryClient, DataLakeFileClient, DataLakeLeaseClient]);

let server;
let folder; // local files
let seed; // accounts of the servers: "flat" and "hierarchical"

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'lagra-methods-'));
    seed = JSON.stringify({ accounts: { flat: { key1: KEY }, hierarchical: { key1: KEY, hierarchical: true } } });
    await writeFile(path.join(folder, 'seed.json'), seed);
    server = await Server.start({ args: ['--seed', path.join(folder, 'seed.json')] });
});
after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
});

const credentialOf = (kind) => new StorageSharedKeyCredential(kind, KEY);
// The account is in the host name: in a URL with the account in its path, the client's renames lose the account.
const urlOf = (kind) => `http://${kind}.dfs.localhost:${server.ports.dfs}`;

async function newFilesystem(service, options) {
    const filesystem = service.getFileSystemClient(containerName());
    await filesystem.create(options);
    return filesystem;
}

/** A test of each kind of account. body: called with { t, kind, isTree, service } */
function testKinds(name, body) {
    for (const kind of KINDS)
        test(`${name}: ${kind}`, async (t) => {
            recorder.start(called[kind]);
            const service = new DataLakeServiceClient(urlOf(kind), credentialOf(kind), once);
            await body({ t, kind, isTree: kind === 'hierarchical', service });
        });
}

/** A test of each class of paths and each kind of account. body: called with { create(name), ofUrl(url), .. } too */
function testPaths(name, body) {
    testKinds(name, async (context) => {
        const filesystem = await newFilesystem(context.service);
        const at = (name) => `${urlOf(context.kind)}/${filesystem.name}/${name}`;
        const classes = [[DataLakeFileClient, 'file'], [DataLakeDirectoryClient, 'directory'], [DataLakePathClient, 'file'], [DataLakePathClient, 'directory']];

        for (const [Class, resource] of classes) {
            const clientOf = (name) => new Class(at(name), credentialOf(context.kind), once);
            const create = async (name, options) => {
                const client = clientOf(name);
                await client.create(resource, options);
                return client;
            };
            await body({ ...context, filesystem, resource, clientOf, create, prefix: `${Class.name}-${resource}` });
        }
    });
}

const user = (entityId, letters, defaultScope = false) => ({
    accessControlType: 'user', entityId, defaultScope,
    permissions: { read: letters[0] === 'r', write: letters[1] === 'w', execute: letters[2] === 'x' },
});
const rights = (letters) => user('', letters).permissions;
const permissions = (owner, group, other) =>
    ({ owner: rights(owner), group: rights(group), other: rights(other), stickyBit: false, extendedAcls: false });
const named = (acl) => acl.filter(({ entityId }) => entityId);

testKinds('service: clients, filesystems, properties, account SAS', async ({ kind, service }) => {
    const connected = DataLakeServiceClient.fromConnectionString('DefaultEndpointsProtocol=http;' +
        `AccountName=${kind};AccountKey=${KEY};BlobEndpoint=${urlOf(kind)};`, once);
    const filesystem = connected.getFileSystemClient(containerName());
    await filesystem.create({ metadata: { a: '1' } });
    const listed = await collect(service.listFileSystems({ prefix: filesystem.name, includeMetadata: true }));
    assert.deepEqual(listed.map(({ name, metadata }) => [name, metadata]), [[filesystem.name, { a: '1' }]]);
    const second = await newFilesystem(service);
    const pages = [];
    let page;
    do {
        page = (await service.listFileSystems().byPage({ maxPageSize: 1, continuationToken: page?.continuationToken }).next()).value;
        pages.push(page.fileSystemItems.map(({ name }) => name));
    } while (page.continuationToken);
    assert.ok(pages.every((names) => names.length <= 1));
    assert.ok([filesystem, second].every(({ name }) => pages.flat().includes(name)));

    const rule = { allowedOrigins: 'http://a.example', allowedMethods: 'GET', allowedHeaders: '', exposedHeaders: '', maxAgeInSeconds: 5 };
    await service.setProperties({ cors: [rule] });
    assert.deepEqual((await service.getProperties()).cors.map(({ allowedOrigins }) => allowedOrigins), ['http://a.example']);

    const expiresOn = inAnHour();
    const signed = new DataLakeServiceClient(service.generateAccountSasUrl(expiresOn, AccountSASPermissions.parse('rl')), undefined, once);
    assert.equal((await collect(signed.listFileSystems({ prefix: filesystem.name }))).length, 1);
    await refused(signed.getFileSystemClient(filesystem.name).delete(), 403, 'AuthorizationPermissionMismatch');
    assert.match(service.generateSasStringToSign(expiresOn, AccountSASPermissions.parse('rl')), new RegExp(`^${kind}\nrl\nb\nsco\n`));
});

testKinds('service: a deleted filesystem is restored', async ({ kind, service }) => {
    const policy = '<StorageServiceProperties><ContainerDeleteRetentionPolicy><Enabled>true</Enabled><Days>1</Days>' +
        '</ContainerDeleteRetentionPolicy></StorageServiceProperties>'; // not in the client's model of properties
    const put = await raw('PUT', '', {}, policy, { base: { host: server.host, port: server.port },
        credentials: { account: kind, key: KEY }, target: `/${kind}/?restype=service&comp=properties` });
    assert.equal(put.status, 202, put.text);
    const filesystem = await newFilesystem(service);
    await newFile(filesystem, 'd/f', 'kept');
    await filesystem.delete();
    const [{ deleted, versionId }] = await collect(service.listFileSystems({ prefix: filesystem.name, includeDeleted: true }));
    assert.equal(deleted, true);
    const restored = await service.undeleteFileSystem(filesystem.name, versionId);
    assert.equal((await bytesOf(await restored.fileSystemClient.getFileClient('d/f').read())).toString(), 'kept');
});

testKinds('filesystem: create, properties, access policies, delete', async ({ service }) => {
    const filesystem = service.getFileSystemClient(containerName());
    assert.equal(await filesystem.exists(), false);
    await filesystem.create({ access: 'file' });
    assert.equal((await filesystem.createIfNotExists()).succeeded, false);
    assert.equal(await filesystem.exists(), true);
    await filesystem.setMetadata({ k: 'v' });
    const properties = await filesystem.getProperties();
    assert.deepEqual([properties.metadata, properties.publicAccess], [{ k: 'v' }, 'file']);
    const policy = { startsOn: new Date('2020-01-01T00:00:00Z'), expiresOn: new Date('2090-01-01T00:00:00Z'), permissions: 'rl' };
    await filesystem.setAccessPolicy('filesystem', [{ id: 'p', accessPolicy: policy }]);
    const { publicAccess, signedIdentifiers } = await filesystem.getAccessPolicy();
    assert.deepEqual([publicAccess, signedIdentifiers], ['filesystem', [{ id: 'p', accessPolicy: policy }]]);

    await newFile(filesystem, 'd/f', 'content');
    const signed = new DataLakeFileSystemClient(await filesystem.generateSasUrl({ identifier: 'p' }), undefined, once);
    assert.equal((await bytesOf(await signed.getFileClient('d/f').read())).toString(), 'content');
    await refused(newFile(signed, 'x'), 403, 'AuthorizationPermissionMismatch');
    assert.match(filesystem.generateSasStringToSign({ permissions: FileSystemSASPermissions.parse('r'), expiresOn: inAnHour() }),
        new RegExp(`/blob/\\w+/${filesystem.name}\n`));
    await filesystem.getDirectoryClient('other').create();
    await filesystem.delete();
    assert.equal((await service.getFileSystemClient(containerName()).deleteIfExists()).succeeded, false);
});

testKinds('filesystem: paths are listed recursively, by page, from a name', async ({ service, isTree }) => {
    const filesystem = await newFilesystem(service);
    for (const name of ['d/1', 'd/2', 'd/e/3', 'z'])
        await newFile(filesystem, name, name);
    const expected = isTree ? ['d', 'd/1', 'd/2', 'd/e', 'd/e/3', 'z'] : ['d/1', 'd/2', 'd/e/3', 'z'];
    const names = (paths) => paths.map(({ name }) => name);
    assert.deepEqual(names(await collect(filesystem.listPaths({ recursive: true }))), expected);
    assert.deepEqual(names(await collect(filesystem.listPaths({ path: 'd' }))), ['d/1', 'd/2', 'd/e']);
    assert.deepEqual(names(await collect(filesystem.listPaths({ path: 'd', startFrom: '2' }))), ['d/2', 'd/e']);
    assert.deepEqual(names(await collect(filesystem.listPaths({ path: 'd', startFrom: 'z' }))), []);
    const paged = [];
    let page;
    do { // a new iterator for each page
        const pages = filesystem.listPaths({ recursive: true, userPrincipalName: true })
            .byPage({ maxPageSize: 2, continuationToken: page?.continuation });
        page = (await pages.next()).value;
        assert.ok(page.pathItems.length <= 2);
        paged.push(...page.pathItems);
    } while (page.continuation);
    assert.deepEqual(names(paged), expected);
    const file = paged.at(-1);
    assert.deepEqual([file.contentLength, file.isDirectory, file.owner], [1, false, isTree ? '$superuser' : undefined]);
    assert.ok(Math.abs(file.createdOn - Date.now()) < 60_000);
});

testPaths('paths: create, properties, metadata, tags, delete', async ({ filesystem, clientOf, resource, prefix }) => {
    const client = clientOf(`${prefix}/a b`);
    assert.deepEqual([client.fileSystemName, client.name], [filesystem.name, `${prefix}/a b`]);
    assert.equal(await client.exists(), false);
    assert.equal((await client.deleteIfExists()).succeeded, false);
    await client.create(resource, { metadata: { a: '1' }, pathHttpHeaders: { contentType: 'text/plain' } });
    assert.equal(await client.exists(), true);
    assert.equal((await client.createIfNotExists(resource)).succeeded, false);
    const { metadata } = await client.getProperties();
    assert.equal(metadata.a, '1');
    await client.setMetadata({ ...metadata, b: '2' });
    await client.setHttpHeaders({ contentType: 'a/b', contentLanguage: 'de' });
    const after = await client.getProperties();
    assert.deepEqual([after.metadata.b, after.contentType, after.contentLanguage], ['2', 'a/b', 'de']);
    const system = await client.getSystemProperties();
    assert.equal(system.isDirectory, resource === 'directory');
    assert.equal(system.etag, after.etag);
    await client.setTags({ t: '1' });
    assert.deepEqual((await client.getTags()).tags, { t: '1' });
    assert.ok(client.toFileClient() instanceof DataLakeFileClient);
    assert.ok(client.toDirectoryClient() instanceof DataLakeDirectoryClient);
    assert.equal(await client.toFileClient().exists(), true);
    await client.delete();
    await refused(client.delete(), 404, 'PathNotFound');
});

testPaths('paths: a move is one rename', async ({ create, clientOf, filesystem, prefix, isTree }) => {
    await filesystem.getDirectoryClient(prefix).create();
    const client = await create(`${prefix}/from`, { metadata: { a: '1' } });
    if (!isTree)
        return refused(client.move(`${prefix}/to`), ...NO_NAMESPACE);
    await client.move(`${prefix}/to`, { conditions: { ifMatch: (await client.getProperties()).etag } });
    assert.equal(await client.exists(), false);
    const moved = clientOf(`${prefix}/to`);
    assert.equal((await moved.getProperties()).metadata.a, '1');
    await moved.move(filesystem.name, `${prefix}/back`, { destinationConditions: { ifNoneMatch: '*' } });
    assert.equal(await clientOf(`${prefix}/back`).exists(), true);
});

testPaths('paths: access control lists and permissions', async ({ create, resource, filesystem, prefix, isTree }) => {
    const client = await create(prefix);
    const acl = [user('ann', 'r-x')];
    if (!isTree) {
        await refused(client.getAccessControl(), ...NO_NAMESPACE);
        await refused(client.setAccessControl(acl), ...NO_NAMESPACE);
        await refused(client.setPermissions(permissions('rw-', 'r--', '---')), ...NO_NAMESPACE);
        for (const method of ['set', 'update', 'remove'])
            await refused(client[`${method}AccessControlRecursive`](acl).catch(({ innerError }) => {
                throw innerError;
            }), ...NO_NAMESPACE);
        return;
    }
    await client.setPermissions(permissions('rw-', 'r--', '---'));
    assert.deepEqual((await client.getAccessControl()).permissions, permissions('rw-', 'r--', '---'));
    const base = ['user', 'group', 'other'].map((accessControlType, i) =>
        ({ accessControlType, entityId: '', defaultScope: false, permissions: rights(['rwx', 'r-x', '---'][i]) }));
    await client.setAccessControl([...base, ...acl], { owner: 'me', group: 'us' });
    const found = await client.getAccessControl({ userPrincipalName: true });
    assert.deepEqual([found.owner, found.group, named(found.acl)], ['me', 'us', acl]);

    const directories = resource === 'directory' ? 1 : 0;
    if (directories)
        for (const name of ['1', '2', '3'])
            await newFile(filesystem, `${prefix}/${name}`);
    const paths = directories ? 4 : 1;
    const progress = [];
    const updated = await client.updateAccessControlRecursive([user('bob', 'rw-')],
        { batchSize: 2, onProgress: (step) => progress.push(structuredClone(step)) });
    assert.deepEqual(updated.counters, { failedChangesCount: 0, changedDirectoriesCount: directories, changedFilesCount: paths - directories });
    assert.equal(progress.length, Math.ceil(paths / 2));
    assert.ok(progress.every(({ batchCounters, batchFailures }) => batchCounters.failedChangesCount === 0 && batchFailures.length === 0));
    // in batches that the caller continues
    let continuationToken;
    let removed = 0;
    do {
        const part = await client.removeAccessControlRecursive([{ accessControlType: 'user', entityId: 'bob', defaultScope: false }],
            { batchSize: 1, maxBatches: 1, continuationToken });
        removed += part.counters.changedDirectoriesCount + part.counters.changedFilesCount;
        continuationToken = part.continuationToken;
    } while (continuationToken);
    assert.equal(removed, paths);
    assert.deepEqual(named((await client.getAccessControl()).acl), acl);
    await client.setAccessControlRecursive(base);
    assert.deepEqual(named((await client.getAccessControl()).acl), []);
});

testPaths('leases of paths', async ({ create, prefix }) => {
    const client = await create(prefix);
    const [one, two] = ['aaaaaaaa-0000-0000-0000-000000000001', 'aaaaaaaa-0000-0000-0000-000000000002'];
    const lease = client.getDataLakeLeaseClient(one);
    assert.equal(lease.leaseId, one);
    assert.match(lease.url, new RegExp(`/${prefix}$`));
    await lease.acquireLease(60);
    await refused(client.delete(), 412, 'LeaseIdMissing');
    await lease.changeLease(two);
    assert.equal((await lease.renewLease()).leaseId, two);
    await lease.breakLease(0);
    await lease.releaseLease();
    await client.delete();
});

testKinds('leases of filesystems', async ({ service }) => {
    const filesystem = await newFilesystem(service);
    const lease = filesystem.getDataLakeLeaseClient();
    await lease.acquireLease(-1);
    await refused(filesystem.delete(), 412, 'LeaseIdMissing');
    await lease.releaseLease();
    await filesystem.delete();
});

testKinds('directory: clients of what is in it', async ({ service, isTree }) => {
    const filesystem = await newFilesystem(service);
    const directory = filesystem.getDirectoryClient('d');
    const file = directory.getSubdirectoryClient('e e').getFileClient('f f');
    assert.equal(file.name, 'd/e e/f f');
    await file.upload(Buffer.from('content'));
    assert.equal(await directory.exists(), isTree);
    if (isTree)
        await directory.delete(true);
    assert.equal(await file.exists(), !isTree);
});

testKinds('file: append, flush and read', async ({ service }) => {
    const filesystem = await newFilesystem(service);
    const file = filesystem.getFileClient('f');
    await file.create();
    await file.append('two', 3, 3);
    await file.append('one', 0, 3);
    await refused(file.flush(5), 400, 'InvalidFlushPosition');
    await file.flush(6, { close: true });
    await file.append('!', 6, 1, { flush: true });
    assert.equal((await bytesOf(await file.read())).toString(), 'onetwo!');
    assert.equal((await bytesOf(await file.read(3, 3))).toString(), 'two');
    await refused(file.read(7, 1), 416, 'InvalidRange');
});

testKinds('file: uploads and downloads in chunks', async ({ service }) => {
    const filesystem = await newFilesystem(service);
    const bytes = pattern(3_000_000);
    const local = path.join(folder, 'local');
    const chunks = { chunkSize: 700_000, maxConcurrency: 3, singleUploadThreshold: 1 };
    const metadata = { k: 'v' };
    const uploads = {
        buffer: (file, progress) => file.upload(bytes, { ...chunks, ...progress, metadata }),
        single: (file, progress) => file.upload(bytes, { ...progress, metadata }),
        file: (file, progress) => file.uploadFile(local, { ...chunks, ...progress, metadata }),
        stream: (file, progress) => file.uploadStream(Readable.from([bytes.subarray(0, 1), bytes.subarray(1)]), { ...chunks, ...progress, metadata }),
    };
    await writeFile(local, bytes);
    for (const [name, upload] of Object.entries(uploads)) {
        const file = filesystem.getFileClient(`dir/${name}`);
        let loaded = 0;
        await upload(file, { onProgress: ({ loadedBytes }) => {
            loaded = Math.max(loaded, loadedBytes);
        } });
        assert.equal(loaded, bytes.length, name);
        assert.deepEqual((await file.getProperties()).metadata, metadata);
        assert.ok(bytes.equals(await file.readToBuffer(undefined, undefined, { chunkSize: 1_000_000 })), name);
        const part = Buffer.alloc(10);
        await file.readToBuffer(part, 5, 10);
        assert.ok(bytes.subarray(5, 15).equals(part));
        await file.readToFile(path.join(folder, name));
        assert.ok(bytes.equals(await readFile(path.join(folder, name))), name);
    }
    const empty = filesystem.getFileClient('empty');
    await empty.uploadStream(Readable.from([]));
    assert.equal((await empty.getProperties()).contentLength, 0);
});

testKinds('file: query and expiry', async ({ service, isTree }) => {
    const filesystem = await newFilesystem(service);
    const file = await newFile(filesystem, 'f');
    await refused(file.query('SELECT * FROM BlobStorage'), 501, 'NotImplemented');
    const expiry = file.setExpiry('RelativeToNow', { timeToExpireInMs: 60_000 });
    await (isTree ? expiry : refused(expiry, 400, 'HierarchicalNamespaceNotEnabled'));
});

// deleted-paths.test.mjs has the accounts that retain them
testKinds('filesystem: deleted paths', async ({ service, isTree }) => {
    const filesystem = await newFilesystem(service);
    await newFile(filesystem, 'f');
    await filesystem.getFileClient('f').delete();
    if (isTree)
        assert.deepEqual(await collect(filesystem.listDeletedPaths()), []);
    else
        await refused(collect(filesystem.listDeletedPaths()), 400, 'InvalidQueryParameterValue');
    await refused(filesystem.undeletePath('f', '1'), ...(isTree ? [404, 'BlobNotFound'] : [400, 'UnsupportedHeader']));
});

testPaths('shared access signatures of paths', async ({ clientOf, resource, filesystem, prefix, isTree, kind }) => {
    const client = clientOf(`${prefix}-sas`);
    if (!client.generateSasUrl)
        return; // DataLakePathClient has none
    const isDirectory = resource === 'directory';
    const Permissions = isDirectory ? DirectorySASPermissions : DataLakeSASPermissions;
    const options = { permissions: Permissions.parse('r'), expiresOn: inAnHour() };
    await client.create();
    await newFile(filesystem, `${prefix}-sas/in`).catch(() => {}); // below a directory only
    const target = new DataLakeFileClient(await client.generateSasUrl(options), undefined, once);
    assert.match(client.generateSasStringToSign(options), new RegExp(`/blob/${kind}/${filesystem.name}/${prefix}-sas\n`));
    if (isDirectory && !isTree) {
        await refused(target.getSystemProperties(), 403, 'AuthenticationFailed');
    } else {
        assert.equal((await target.getSystemProperties()).isDirectory, isDirectory);
        await refused(target.delete(), 403, 'AuthorizationPermissionMismatch');
    }
    if (isDirectory) {
        const [address, query] = target.url.split('?');
        const inside = new DataLakeFileClient(`${address}/in?${query}`, undefined, once);
        assert.equal((await bytesOf(await inside.read())).toString(), 'content');
    }
});

const HERE = (account) => `/subscriptions/x/resourceGroups/y/providers/Microsoft.Storage/storageAccounts/${account}`;

for (const kind of KINDS)
    test(`user delegation: ${kind}`, async (t) => {
        recorder.start(called[kind]);
        const roles = [{ principalId: OWNER, roleDefinitionName: 'Storage Blob Data Owner', scope: HERE(kind) }];
        const secure = await serveSecurely(t, ['--seed', 'FOLDER/seed.json', '--oauthIssuer', ISSUER, '--oauthKeys', 'FOLDER/keys.json', '--oauthRoles', 'FOLDER/roles.json'],
            { 'seed.json': seed, 'keys.json': jwks(['rsa', rsa]), 'roles.json': JSON.stringify(roles) });
        const options = () => ({ ...once, tlsOptions: { ca: secure.ca } });
        const token = { getToken: async () => ({ token: tokenOf(claimsOf(OWNER)), expiresOnTimestamp: Date.now() + 3e5 }) };
        const service = new DataLakeServiceClient(secure.dfsUrl.replace(/\w+$/, kind), token, options());
        const filesystem = await newFilesystem(service);
        const directory = filesystem.getDirectoryClient('d');
        const file = await newFile(filesystem, 'd/f', 'content');
        const expiresOn = inAnHour();
        const key = await service.getUserDelegationKey(new Date(Date.now() - 60_000), expiresOn);
        const cases = [[filesystem, FileSystemSASPermissions, 'd/f'], [directory, DirectorySASPermissions, 'f'], [file, DataLakeSASPermissions, '']];

        for (const [client, Permissions, below] of cases) {
            const values = { permissions: Permissions.parse('r'), expiresOn };
            const [address, query] = (await client.generateUserDelegationSasUrl(values, key)).split('?');
            const signed = new DataLakeFileClient(`${address}${below && `/${below}`}?${query}`, undefined, options());
            assert.equal((await bytesOf(await signed.read())).toString(), 'content');
            await refused(signed.delete(), 403, 'AuthorizationPermissionMismatch');
            assert.match(client.generateUserDelegationSasStringToSign(values, key), new RegExp(`/blob/${kind}/${filesystem.name}`));
        }
    });

for (const kind of KINDS)
    test(`every public method has been called: ${kind}`, () => {
        assert.deepEqual(recorder.missing(called[kind]), []);
    });
