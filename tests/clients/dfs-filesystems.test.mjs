// The filesystems of a hierarchical account, whose paths are in one tree: renames from one to another, and what is deleted,
// restored, counted, protected and backed up of each. rest: Path-Create "x-ms-rename-source"; recorded: RenameFile, RenameDirectory,
// test_rename_to_an_existing_directory_in_another_file_system; decisions: 1360 to 1365, 1465
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { DataLakeFileClient, DataLakeServiceClient, FileSystemSASPermissions } from '@azure/storage-file-datalake';
import { run } from '../lib/program.mjs';
import { Control, Server } from '../lib/server.mjs';
import { account, bytesOf, credential, newFile, pathsOf, rawDfs, rawDfsRefused, refused } from './dfs-setup.mjs';
import { collect, containerName, once } from './setup.mjs';
import { raw } from './raw.mjs';

const serviceOf = (server) => new DataLakeServiceClient(`http://${account.name}.dfs.localhost:${server.ports.dfs}`, credential, once);
const server = await Server.start({ args: ['--hierarchical'] });
after(() => server.stop());
const service = serviceOf(server);

async function newFilesystem(from = service, name = containerName()) {
    const filesystem = from.getFileSystemClient(name);
    await filesystem.create();
    return filesystem;
}
const names = async (filesystem) => (await pathsOf(filesystem, { recursive: true })).map(({ name, isDirectory }) => `${name}${isDirectory ? '/' : ''}`).join(' ');
const text = async (filesystem, name) => (await bytesOf(filesystem.getFileClient(name))).toString();

/** A request of this server by hand: PUT of a path with a source. */
const rename = (to, from, headers = {}, query = '?mode=legacy') =>
    rawDfs('PUT', `/${to}${query}`, { 'x-ms-rename-source': `/${from}`, ...headers }, '', { base: { host: server.host, port: server.ports.dfs } });

test('a file is renamed to another filesystem with all that it has', async () => {
    const [one, two] = [await newFilesystem(), await newFilesystem()];
    const file = await newFile(one, 'dir/file', 'content', { metadata: { a: 'b' } });
    const was = await file.getProperties();
    await file.setPermissions({ owner: { read: true, write: true, execute: false }, group: {}, other: {}, stickyBit: false, extendedAcls: false });
    const { etag } = await file.getProperties();
    await file.move(two.name, 'moved');
    const is = await two.getFileClient('moved').getProperties();
    assert.deepEqual([is.etag, is.createdOn, is.metadata, is.permissions?.owner], [etag, was.createdOn, { a: 'b' }, is.permissions?.owner]);
    assert.equal(await text(two, 'moved'), 'content');
    assert.equal(await names(one), 'dir/');
    assert.equal(await names(two), 'moved');
    // both endpoints show it at once
    const blobs = new BlobServiceClient(server.urlOf('blob'), credential, once);
    assert.deepEqual((await collect(blobs.getContainerClient(two.name).listBlobsFlat())).map(({ name }) => name), ['moved']);
    assert.deepEqual((await collect(blobs.getContainerClient(one.name).listBlobsFlat())).map(({ name }) => name), ['dir']);
    // and back, over another file
    await newFile(one, 'dir/file', 'new');
    await two.getFileClient('moved').move(one.name, 'dir/file');
    assert.equal(await text(one, 'dir/file'), 'content');
    assert.equal(await names(two), '');
});

test('a directory is renamed with everything below it', async () => {
    const [one, two] = [await newFilesystem(), await newFilesystem()];
    for (let i = 0; i < 40; i++)
        await newFile(one, `from/${i % 4}/${i}`, String(i));
    await one.getDirectoryClient('from').move(two.name, 'to');
    assert.equal(await names(one), '');
    assert.equal((await pathsOf(two, { recursive: true })).length, 45);
    assert.equal(await text(two, 'to/3/7'), '7');
    // an empty directory is replaced, and one with contents is not
    await one.getDirectoryClient('empty').create();
    await two.getDirectoryClient('to').move(one.name, 'empty');
    await newFile(two, 'full/x');
    await refused(one.getDirectoryClient('empty').move(two.name, 'full'), 409, 'DirectoryNotEmpty');
    // without mode=legacy it moves into the directory
    assert.equal((await rename(`${two.name}/full`, `${one.name}/empty`, {}, '')).status, 201);
    assert.equal(await text(two, 'full/empty/0/0'), '0');
    assert.equal((await rename(`${one.name}/`, `${two.name}/full`, {}, '')).status, 201);
    assert.equal(await names(two), '');
});

test('what is refused', async () => {
    const [one, two] = [await newFilesystem(), await newFilesystem()];
    const file = await newFile(one, 'file');
    await newFile(one, 'dir/file');
    await newFile(two, 'there');
    await refused(one.getFileClient('none').move(two.name, 'x'), 404, 'SourcePathNotFound');
    await refused(file.move(two.name, 'none/x'), 404, 'RenameDestinationParentPathNotFound');
    await refused(file.move(two.name, 'there/x'), 409, 'PathConflict');
    await refused(one.getDirectoryClient('dir').move(two.name, 'there'), 409, 'InvalidSourceOrDestinationResourceType');
    await refused(file.move(containerName(), 'x'), 404, 'FilesystemNotFound');
    await rawDfsRefused(rename(`${two.name}/x`, `${containerName()}/x`), 404, 'SourcePathNotFound');
    await rawDfsRefused(rename(`${two.name}/x`, `${one.name}/`), 400, 'InvalidSourceUri');
    // conditions and leases of both ends
    await refused(file.move(two.name, 'x', { conditions: { ifMatch: '"0x1"' } }), 412, 'SourceConditionNotMet');
    await refused(file.move(two.name, 'there', { destinationConditions: { ifNoneMatch: '*' } }), 409, 'PathAlreadyExists');
    const lease = file.getDataLakeLeaseClient();
    await lease.acquireLease(-1);
    await refused(file.move(two.name, 'x'), 412, 'LeaseIdMissing');
    const other = two.getFileClient('there').getDataLakeLeaseClient();
    await other.acquireLease(-1);
    await refused(file.move(two.name, 'there', { conditions: { leaseId: lease.leaseId } }), 412, 'LeaseIdMissing');
    assert.equal(await names(one), 'dir/ dir/file file');
    await file.move(two.name, 'there', { conditions: { leaseId: lease.leaseId }, destinationConditions: { leaseId: other.leaseId } });
    assert.equal((await two.getFileClient('there').getProperties()).leaseState, 'leased');
    assert.equal(await names(one), 'dir/ dir/file');
});

test('a SAS moves nothing into or out of a filesystem that it does not cover', async () => {
    const [one, two] = [await newFilesystem(), await newFilesystem()];
    const expiresOn = new Date(Date.now() + 3600_000);
    const sas = async (filesystem, letters = 'racwdlmeop') =>
        (await filesystem.generateSasUrl({ permissions: FileSystemSASPermissions.parse(letters), expiresOn })).split('?')[1];
    const base = { host: server.host, port: server.ports.dfs };
    const put = async (to, query, source, sourceQuery) => (await raw('PUT', `/${to}?mode=legacy&${query}`,
        { 'x-ms-rename-source': `/${source}${sourceQuery ? `?${sourceQuery}` : ''}` }, '', { base, signed: false })).status;
    const [ofOne, ofTwo] = [await sas(one), await sas(two)];
    await newFile(one, 'secret', 'secret');
    assert.equal(await put(`${two.name}/stolen`, ofTwo, `${one.name}/secret`), 403);
    assert.equal(await put(`${two.name}/stolen`, ofTwo, `${one.name}/secret`, ofTwo), 403);
    assert.equal(await put(`${two.name}/stolen`, ofOne, `${one.name}/secret`, ofOne), 403);
    assert.equal(await put(`${two.name}/stolen`, ofTwo, `${one.name}/secret`, await sas(one, 'rl')), 403);
    assert.equal(await put(`${two.name}/stolen`, await sas(two, 'rl'), `${one.name}/secret`, ofOne), 403);
    assert.equal(await names(one), 'secret');
    assert.equal(await put(`${two.name}/moved`, ofTwo, `${one.name}/secret`, ofOne), 201);
    assert.equal(await text(two, 'moved'), 'secret');
    // a policy of the source's filesystem that is taken back
    await new BlobServiceClient(server.urlOf('blob'), credential, once).getContainerClient(two.name).setAccessPolicy(undefined,
        [{ id: 'p', accessPolicy: { startsOn: new Date(Date.now() - 9e5), expiresOn, permissions: 'racwdlmeop' } }]);
    const byPolicy = (await two.generateSasUrl({ identifier: 'p' })).split('?')[1];
    assert.equal(await put(`${one.name}/back`, ofOne, `${two.name}/moved`, byPolicy), 201);
    await one.getFileClient('back').move(two.name, 'moved');
    await new BlobServiceClient(server.urlOf('blob'), credential, once).getContainerClient(two.name).setAccessPolicy(undefined, []);
    assert.equal(await put(`${one.name}/back`, ofOne, `${two.name}/moved`, byPolicy), 403);
});

test('a deleted filesystem takes its own paths with it, and no others', async () => {
    const [one, two] = [await newFilesystem(), await newFilesystem()];
    for (const name of ['dir/a', 'dir/b', 'stays'])
        await newFile(one, name, name);
    await newFile(two, 'own', 'own');
    await one.getDirectoryClient('dir').move(two.name, 'dir');
    await one.delete();
    assert.equal(await names(two), 'dir/ dir/a dir/b own');
    assert.equal(await text(two, 'dir/b'), 'dir/b');
    await refused(pathsOf(one), 404, 'ContainerNotFound').catch(() => refused(pathsOf(one), 404, 'FilesystemNotFound'));
    await one.create();
    assert.equal(await names(one), '');
    await two.getFileClient('own').move(one.name, 'stays');
    assert.equal(await text(one, 'stays'), 'own');
    await two.delete();
    assert.equal(await names(one), 'stays');
});

test('tags are found in the filesystem in which the path is', async () => {
    const [one, two] = [await newFilesystem(), await newFilesystem()];
    const blobs = new BlobServiceClient(server.urlOf('blob'), credential, once);
    const found = async (filesystem) => (await collect(blobs.getContainerClient(filesystem.name).findBlobsByTags("filesystems='yes'"))).map(({ name }) => name).sort().join(' ');
    for (const [filesystem, name] of [[one, 'a/b'], [one, 'c'], [two, 'a/b']]) {
        await newFile(filesystem, name);
        await blobs.getContainerClient(filesystem.name).getBlobClient(name).setTags({ filesystems: 'yes' });
    }
    assert.deepEqual([await found(one), await found(two)], ['a/b c', 'a/b']);
    await one.getDirectoryClient('a').move(two.name, 'd');
    assert.deepEqual([await found(one), await found(two)], ['c', 'a/b d/b']);
    const all = await collect(blobs.findBlobsByTags("filesystems='yes'"));
    assert.deepEqual(all.map(({ containerName: of, name }) => `${of === one.name ? 'one' : 'two'} ${name}`).sort(), ['one c', 'two a/b', 'two d/b']);
    await two.delete();
    assert.deepEqual((await collect(blobs.findBlobsByTags("filesystems='yes'"))).map(({ name }) => name), ['c']);
});

test('deleted paths belong to the filesystem in which they were deleted', async (t) => {
    const kept = await Server.start({ args: ['--hierarchical'] });
    t.after(() => kept.stop());
    const blobs = new BlobServiceClient(kept.urlOf('blob'), credential, once);
    await blobs.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
    const [one, two] = [await newFilesystem(serviceOf(kept), 'one'), await newFilesystem(serviceOf(kept), 'two')];
    const gone = async (filesystem) => (await collect(filesystem.listDeletedPaths())).map(({ name }) => name).join(' ');
    for (const filesystem of [one, two])
        for (const name of ['a/x', 'b'])
            await newFile(filesystem, name, `${filesystem.name} ${name}`);
    await one.getFileClient('a/x').delete();
    await two.getFileClient('b').delete();
    await one.getFileClient('b').move('two', 'a/x'); // replaces a file, which is retained
    assert.deepEqual([await gone(one), await gone(two)], ['a/x', 'a/x b']);
    assert.deepEqual((await collect(two.listDeletedPaths({ prefix: 'b' }))).map(({ name }) => name), ['b']);
    const undelete = (filesystem, path) => raw('PUT', `/${filesystem}/${path}?comp=undelete`, {}, '', { base: { host: kept.host, port: kept.ports.blob } });
    assert.equal((await undelete('one', 'a/x')).status, 200);
    assert.equal((await undelete('two', 'b')).status, 200);
    assert.deepEqual([await text(one, 'a/x'), await text(two, 'b'), await text(two, 'a/x')], ['one a/x', 'two b', 'one b']);
    assert.equal(await gone(one), '');
});

test('a deleted filesystem that is retained is restored with its paths', async (t) => {
    const kept = await Server.start({ args: ['--hierarchical'] });
    t.after(() => kept.stop());
    const base = { host: kept.host, port: kept.ports.blob };
    const policy = '<StorageServiceProperties><ContainerDeleteRetentionPolicy><Enabled>true</Enabled><Days>3</Days></ContainerDeleteRetentionPolicy></StorageServiceProperties>';
    assert.equal((await raw('PUT', '/?restype=service&comp=properties', {}, policy, { base })).status, 202);
    const blobs = new BlobServiceClient(kept.urlOf('blob'), credential, once);
    const [one, two] = [await newFilesystem(serviceOf(kept), 'one'), await newFilesystem(serviceOf(kept), 'two')];
    await newFile(one, 'dir/a', 'a');
    await newFile(two, 'b', 'b');
    await one.delete();
    assert.equal((await rawDfs('PUT', '/two/x', { 'x-ms-rename-source': '/one/dir' }, '', { base: { host: kept.host, port: kept.ports.dfs } })).status, 404);
    await refused(two.getFileClient('b').move('one', 'x'), 404, 'FilesystemNotFound');
    const [{ version }] = (await collect(blobs.listContainers({ includeDeleted: true }))).filter(({ deleted }) => deleted);
    assert.equal((await blobs.undeleteContainer('one', version)).containerClient.containerName, 'one');
    assert.equal(await names(one), 'dir/ dir/a');
    await one.getDirectoryClient('dir').move('two', 'dir');
    assert.equal(await text(two, 'dir/a'), 'a');
});

test('usage, check, backup and restore know the filesystems apart', async (t) => {
    const own = await Server.start({ args: ['--hierarchical'] });
    t.after(() => own.stop());
    const from = serviceOf(own);
    const [one, two] = [await newFilesystem(from, 'one'), await newFilesystem(from, 'two')];
    for (const [filesystem, name, content] of [[one, 'a/b', 'x'.repeat(100)], [one, 'c', 'y'.repeat(20)], [two, 'd/e/f', 'z'.repeat(3000)]])
        await newFile(filesystem, name, content);
    const lagra = async (...words) => {
        const { code, output, errors } = await run([...words, '--location', own.location], {}, 60000);
        assert.equal(code, 0, `${words.join(' ')}: ${output}${errors}`);
        return output;
    };
    const usage = async () => JSON.parse(await lagra('usage', '--json')).containers.filter(({ service: of }) => of === 'blob')
        .map(({ name, objects, bytes }) => `${name} ${objects} ${bytes}`);
    assert.deepEqual(await usage(), ['one 2 120', 'two 1 3000']);
    await one.getDirectoryClient('a').move('two', 'd/a');
    assert.deepEqual(await usage(), ['one 1 20', 'two 2 3100']);
    const folder = `${own.location}-backups`;
    await lagra('backup', folder);
    await one.delete();
    assert.deepEqual(await usage(), ['two 2 3100']);
    await two.getDirectoryClient('d').delete(true);
    // one container of the backup, under its name and under another one
    await lagra('restore', 'container', folder, 'one');
    await lagra('restore', 'container', folder, 'two', '--as', 'three');
    const three = from.getFileSystemClient('three');
    assert.equal(await names(one), 'c');
    assert.equal(await names(three), 'd/ d/a/ d/a/b d/e/ d/e/f');
    assert.equal(await text(three, 'd/e/f'), 'z'.repeat(3000));
    assert.equal(await names(two), '');
    // what was restored has a tree of its own
    await refused(three.getFileClient('d/e/f').move('two', 'x'), 501, 'NotImplemented');
    await three.getFileClient('d/e/f').move('d/f');
    await lagra('restore', 'container', folder, 'two', '--replace');
    assert.equal(await names(two), 'd/ d/a/ d/a/b d/e/ d/e/f');
    assert.deepEqual(await usage(), ['one 1 20', 'three 2 3100', 'two 2 3100']);
    await own.stop({ keep: true });
    const checked = await run(['check', own.location], {}, 60000);
    assert.equal(checked.code, 0, checked.output + checked.errors);
});

/** A server with the filesystems `one` and `two`: { own, one, two, lagra, protect }. */
async function openPair(t) {
    const own = await Server.start({ args: ['--hierarchical'] });
    t.after(() => own.stop());
    const [one, two] = [await newFilesystem(serviceOf(own), 'one'), await newFilesystem(serviceOf(own), 'two')];
    const lagra = async (code, ...words) => {
        const ran = await run([...words, '--location', own.location], {}, 60000);
        assert.equal(ran.code, code, `${words.join(' ')}: ${ran.output}${ran.errors}`);
        return ran.errors;
    };
    return { own, one, two, lagra, protect: (...words) => lagra(0, 'container', 'protect', ...words) };
}

test('a policy or hold of one filesystem protects its own paths, also from renames, and no others', async (t) => {
    const { own, one, two, lagra, protect } = await openPair(t);
    const file = await newFile(one, 'dir/file', 'one');
    await newFile(two, 'file', 'two');
    await protect('one', 'policy', '--days', '3');
    await refused(file.move('two', 'x'), 409, 'BlobImmutableDueToPolicy');
    await refused(one.getDirectoryClient('dir').move('two', 'x'), 409, 'BlobImmutableDueToPolicy');
    await refused(two.getFileClient('file').move('one', 'dir/file'), 409, 'BlobImmutableDueToPolicy');
    await two.getFileClient('file').move('one', 'dir/new');
    await refused(one.getFileClient('dir/new').move('two', 'file'), 409, 'BlobImmutableDueToPolicy');
    assert.equal(await names(one), 'dir/ dir/file dir/new');
    // the paths of the other one are changed, and it is deleted, as before
    await newFile(two, 'file', 'again');
    await newFile(two, 'file', 'overwritten');
    await two.getFileClient('file').delete();
    // it is deleted only by the operator and if it has no files, whatever the others have
    await newFile(two, 'other');
    await refused(one.delete(), 409, 'BlobImmutableDueToPolicy');
    assert.match(await lagra(1, 'container', 'delete', 'one'), /immutable/);
    await protect('two', 'hold', '--tags', 'case1');
    assert.match(await lagra(1, 'container', 'delete', 'two'), /legal hold/i);
    await protect('two', 'release', '--tags', 'case1');
    const empty = await newFilesystem(serviceOf(own), 'empty');
    await empty.getDirectoryClient('a/b').create();
    await protect('empty', 'policy', '--days', '3');
    await lagra(0, 'container', 'delete', 'empty');
    assert.deepEqual([await names(one), await names(two)], ['dir/ dir/file dir/new', 'other']);
    const control = new Control(own);
    await control.tasks();
    control.close();
    await own.stop({ keep: true });
    const checked = await run(['check', own.location], {}, 60000);
    assert.equal(checked.code, 0, checked.output + checked.errors);
});

test('a restored filesystem has its protection: a retained file does not expire', async (t) => {
    const { own, one, lagra, protect } = await openPair(t);
    const control = new Control(own);
    t.after(() => control.close());
    const expires = { 'x-ms-expiry-option': 'RelativeToNow', 'x-ms-expiry-time': '60000' };
    await newFile(one, 'dir/file', 'kept');
    const at = { base: { host: own.host, port: own.ports.blob } };
    assert.equal((await raw('PUT', '/one/dir/file?comp=expiry', expires, '', at)).status, 200);
    await protect('one', 'hold', '--tags', 'case1');
    await control.clock(100);
    const folder = `${own.location}-backups`;
    await lagra(0, 'backup', folder);
    await lagra(0, 'restore', 'container', folder, 'one', '--as', 'three');
    const three = serviceOf(own).getFileSystemClient('three');
    for (const filesystem of [one, three]) {
        await control.tasks();
        assert.equal(await text(filesystem, 'dir/file'), 'kept');
        await refused(filesystem.getFileClient('dir/file').delete(), 409, 'BlobImmutableDueToLegalHold');
    }
    assert.match(await lagra(1, 'restore', 'container', folder, 'one', '--replace'), /legal hold/i);
    await protect('three', 'release', '--tags', 'case1');
    assert.equal(await names(three), 'dir/');
    assert.equal(await text(one, 'dir/file'), 'kept');
});
