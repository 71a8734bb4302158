// Hadoop's contract for file systems (create, append, delete, mkdir, rename, listing, open, permission),
// with what hadoop-azure declares in its contract file: renames do not overwrite and do not create
// directories, a missing source makes rename() return false, hflush() makes all written bytes visible.
// Evidence for responses that the REST reference leaves open: hadoop-azure's tests against the service.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Server } from '../lib/server.mjs';
import { flatToken, HadoopFileSystem, treeToken } from './hadoop.mjs';

let server;
let fs;
let tests = 0;

before(async () => {
    server = await Server.start({ args: ['--hierarchical'] });
    fs = new HadoopFileSystem({ host: server.host, port: server.ports.dfs }, 'hadoop');
    await fs.client.createFilesystem();
    fs.client.close(); // the first test may begin after the server has closed an idle connection
});

after(async () => {
    fs.client.close();
    await server.stop();
});

/** A directory of its own for a test; exists. */
async function base() {
    const path = `/test${++tests}`;
    await fs.mkdirs(path);
    return path;
}

/** The call fails as a FileNotFoundException or another IOException would. */
async function fails(promise, status, code) {
    await assert.rejects(promise, (error) => {
        assert.deepEqual({ status: error.status, code: error.code }, { status, code }, error.message);
        return true;
    });
}

const namesIn = async (path, options) => (await fs.listStatus(path, options)).map((entry) => entry.path.slice(path.length + 1));

test('the probe of the root tells a hierarchical account; file systems keep properties', async () => {
    assert.equal(await fs.isHierarchical(), true);
    await fs.client.setFilesystemProperties({ owner: 'me', note: 'a=b' });
    const { headers } = await fs.client.getFilesystemProperties();
    const properties = Object.fromEntries(headers.get('x-ms-properties').split(',').map((pair) => {
        const [name, value] = pair.split(/=(.*)/s);
        return [name, Buffer.from(value, 'base64').toString('latin1')];
    }));
    assert.deepEqual(properties, { owner: 'me', note: 'a=b' });
    assert.equal(headers.get('x-ms-namespace-enabled'), 'true');
    const root = await fs.getFileStatus('/');
    assert.deepEqual([root.isDirectory, root.owner, root.group], [true, '$superuser', '$superuser']);
    await fails(new HadoopFileSystem({ host: server.host, port: server.ports.dfs }, 'missing').getFileStatus('/a'),
        404, 'FilesystemNotFound');
});

test('create: new, over a file, not over a file, over a directory, below a file', async () => {
    const dir = await base();
    const data = randomBytes(100_000);
    await fs.write(`${dir}/file`, data, { overwrite: false });
    assert.deepEqual(await fs.read(`${dir}/file`, { bufferSize: 30_000 }), data);
    await fails(fs.create(`${dir}/file`, { overwrite: false }), 409, 'PathAlreadyExists');
    assert.deepEqual(await fs.read(`${dir}/file`), data);
    await fs.write(`${dir}/file`, 'short');
    assert.equal((await fs.read(`${dir}/file`)).toString(), 'short');
    await fs.mkdirs(`${dir}/directory`);
    await assert.rejects(fs.create(`${dir}/directory`), (error) => error.status === 409);
    assert.equal((await fs.getFileStatus(`${dir}/directory`)).isDirectory, true);
    await fails(fs.create(`${dir}/file/below`, { overwrite: false }), 409, 'PathConflict');
    await fails(fs.create(`${dir}/file/below/more`, { overwrite: false }), 409, 'PathConflict');
    assert.equal((await fs.read(`${dir}/file`)).toString(), 'short');
});

test('create makes the missing parents; an empty file is there before it is closed', async () => {
    const dir = await base();
    const stream = await fs.create(`${dir}/a/b/c/file`);
    assert.equal((await fs.getFileStatus(`${dir}/a/b/c/file`)).length, 0);
    assert.equal((await fs.getFileStatus(`${dir}/a/b`)).isDirectory, true);
    await stream.write('data');
    assert.equal((await fs.getFileStatus(`${dir}/a/b/c/file`)).length, 0);
    await stream.close();
    assert.equal((await fs.getFileStatus(`${dir}/a/b/c/file`)).length, 4);
});

test('hflush shows what was written; the stream goes on', async () => {
    const dir = await base();
    const stream = await fs.create(`${dir}/log`);
    let expected = '';
    for (let i = 0; i < 50; i++) {
        await stream.write(`line ${i}\n`);
        expected += `line ${i}\n`;
        await stream.hflush();
        assert.equal((await fs.read(`${dir}/log`)).toString(), expected);
    }
    await stream.write('last');
    await stream.close();
    assert.equal((await fs.read(`${dir}/log`)).toString(), `${expected}last`);
});

test('append: to an empty and a long file, twice, to one that is renamed meanwhile, to what is missing', async () => {
    const dir = await base();
    await fs.write(`${dir}/empty`, '');
    const first = await fs.append(`${dir}/empty`);
    await first.write('0123');
    await first.close();
    const second = await fs.append(`${dir}/empty`);
    await second.write('4567');
    await second.close();
    assert.equal((await fs.read(`${dir}/empty`)).toString(), '01234567');
    await fails(fs.append(`${dir}/missing`), 404, 'PathNotFound');
    await fs.mkdirs(`${dir}/directory`);
    await assert.rejects(fs.append(`${dir}/directory`), (error) => error.status === 404);

    const renamed = await fs.append(`${dir}/empty`);
    await renamed.write('lost?');
    assert.equal(await fs.rename(`${dir}/empty`, `${dir}/moved`), true);
    await fails(renamed.close(), 404, 'PathNotFound');
    assert.equal((await fs.getFileStatus(`${dir}/moved`)).length, 8);
});

test('two writers at one position: the one that flushes second is refused or replaces nothing', async () => {
    const dir = await base();
    const one = await fs.create(`${dir}/file`);
    const other = await fs.append(`${dir}/file`);
    await one.write('one');
    await one.hflush();
    await assert.rejects((async () => {
        await other.write('other!');
        await other.hflush();
    })(), (error) => error.status === 400 && error.code === 'InvalidFlushPosition');
    assert.equal((await fs.read(`${dir}/file`)).toString(), 'one');
});

test('a leased stream: others cannot write', async () => {
    const dir = await base();
    const stream = await fs.create(`${dir}/file`, { leased: true });
    await stream.write('mine');
    const other = await fs.append(`${dir}/file`);
    await fails(other.write('not mine'), 412, 'LeaseIdMissing');
    await assert.rejects(fs.create(`${dir}/file`), (error) => error.status === 412);
    await stream.close();
    assert.equal((await fs.read(`${dir}/file`)).toString(), 'mine');
    await fs.client.lease(`${dir}/file`, 'acquire', { duration: 15 });
    await fs.client.lease(`${dir}/file`, 'break', { breakPeriod: 0 });
    await fs.write(`${dir}/file`, 'anyone');
});

test('mkdirs: again, with parents, over and below a file; what is in a directory stays', async () => {
    const dir = await base();
    assert.equal(await fs.mkdirs(`${dir}/a/b/c`), true);
    await fs.write(`${dir}/a/b/c/file`, 'x');
    assert.equal(await fs.mkdirs(`${dir}/a/b/c`), true);
    assert.equal(await fs.mkdirs(`${dir}/a`), true);
    assert.equal((await fs.read(`${dir}/a/b/c/file`)).toString(), 'x');
    await assert.rejects(fs.mkdirs(`${dir}/a/b/c/file`), (error) => error.status === 409);
    await fails(fs.mkdirs(`${dir}/a/b/c/file/d`), 409, 'PathConflict');
    await fails(fs.mkdirs(`${dir}/a/b/c/file/d/e`), 409, 'PathConflict');
    const refused = await fs.client.createPath(`${dir}/a`, false, { overwrite: false }).then(() => null, (error) => error);
    assert.deepEqual([refused.status, refused.code, refused.headers.get('x-ms-existing-resource-type')],
        [409, 'PathAlreadyExists', 'directory']);
    const file = await fs.client.createPath(`${dir}/a/b/c/file`, false, { overwrite: false }).then(() => null, (error) => error);
    assert.deepEqual([file.status, file.code, file.headers.get('x-ms-existing-resource-type')], [409, 'PathAlreadyExists', undefined]);
});

test('getFileStatus of files, directories, the root, and what is missing', async () => {
    const dir = await base();
    await fs.write(`${dir}/file`, 'abc');
    const file = await fs.getFileStatus(`${dir}/file`);
    assert.deepEqual([file.isDirectory, file.length, file.permission, file.owner], [false, 3, 'rw-r-----', '$superuser']);
    assert.ok(Math.abs(file.modified - Date.now()) < 60_000);
    const directory = await fs.getFileStatus(dir);
    assert.deepEqual([directory.isDirectory, directory.length, directory.permission], [true, 0, 'rwxr-x---']);
    for (const path of ['missing', 'missing/below', 'file/below'])
        assert.equal(await fs.exists(`${dir}/${path}`), false, path);
});

test('listStatus: one level in order, by pages, of an empty and a missing directory, from a name on', async () => {
    const dir = await base();
    assert.deepEqual(await namesIn(dir), []);
    await fails(fs.listStatus(`${dir}/missing`), 404, 'PathNotFound');
    const names = ['a', 'a.b', 'a0', 'b', 'c', 'd d', 'e%f', 'g+h', 'ü', 'z'];
    for (const name of names)
        await fs.write(`${dir}/${name}`, name);
    await fs.write(`${dir}/b-dir/below/file`, 'x');
    const expected = [...names, 'b-dir'].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    for (const pageSize of [1, 3, 5000])
        assert.deepEqual(await namesIn(dir, { pageSize }), expected, `pages of ${pageSize}`);
    const entries = await fs.listStatus(dir);
    assert.deepEqual(entries.filter((entry) => entry.isDirectory).map((entry) => entry.path), [`${dir}/b-dir`]);
    assert.equal(entries.find((entry) => entry.path === `${dir}/ü`).length, 2);
    assert.deepEqual((await fs.listStatus(`${dir}/a`)).map((entry) => entry.path), [`${dir}/a`]);
    const etag = (await fs.getFileStatus(`${dir}/a`)).etag.replaceAll('"', '');
    assert.equal(entries[0].etag.replaceAll('"', ''), etag);
});

test('listStatus from a name that exists or not, by pages', async () => {
    // AzureBlobFileSystemStore.listStatus(path, startFrom), whose first continuation is created by the driver
    const dir = await base();
    const names = ['a', 'b', 'c dir', 'd!e', 'ü', '😀'];
    for (const name of names.filter((one) => one !== 'c dir'))
        await fs.write(`${dir}/${name}`, name);
    await fs.write(`${dir}/c dir/below`, 'x');
    const expect = async (startFrom, expected) => {
        for (const pageSize of [1, 2, 5000])
            assert.deepEqual(await namesIn(dir, { startFrom, pageSize }), expected, `from ${startFrom} by ${pageSize}`);
    };

    for (const [i, name] of names.entries())
        await expect(name, names.slice(i));
    await expect('A', names);
    await expect('b0', names.slice(2));
    await expect('c dir0', names.slice(3));
    await expect('\u{10FFFF}', []);
    for (const continuation of [treeToken('a').slice(4), Buffer.from('1 0 a').toString('base64'), flatToken('', 'a')])
        await fails(fs.client.listPath(dir, false, { continuation }), 400, 'InvalidQueryParameterValue');
});

test('listStatus from a name, of a flat account', async (t) => {
    const flat = await Server.start();
    const client = new HadoopFileSystem({ host: flat.host, port: flat.ports.dfs }, 'flat').client;
    t.after(() => {
        client.close();
        return flat.stop();
    });
    await client.createFilesystem();
    for (const name of ['/d', '/d/a', '/d/b!c', '/d/e/f', '/d/ü', '/d/😀', '/g'])
        await client.createPath(name, name !== '/d');
    const list = async (directory, continuation) =>
        JSON.parse((await client.listPath(directory, false, { continuation })).text).paths.map(({ name }) => name);

    assert.deepEqual(await list('/d', flatToken('d', 'b!c')), ['d/b!c', 'd/e', 'd/ü', 'd/😀']);
    assert.deepEqual(await list('/d', flatToken('d', 'c')), ['d/e', 'd/ü', 'd/😀']);
    assert.deepEqual(await list('/d', flatToken('d', 'ü')), ['d/ü', 'd/😀']);
    assert.deepEqual(await list('/d', flatToken('d', '😀')), ['d/😀']);
    assert.deepEqual(await list('/d', flatToken('d', '\u{10FFFF}')), []);
    assert.deepEqual(await list('/', flatToken('', 'e')), ['g']);
    assert.deepEqual(await list('/', flatToken('/', 'e')), ['g']); // older versions of the driver
    const token = flatToken('d', 'a');
    for (const continuation of [flatToken('', 'a'), flatToken('g', 'a'), treeToken('a'), token.replace('2!', '1!'), `${token}-`, `2!4!AAAA`])
        await fails(list('/d', continuation), 400, 'InvalidQueryParameterValue');
});

test('delete: files, empty directories, directories that are not empty, what is missing', async () => {
    const dir = await base();
    await fs.write(`${dir}/d/e/file`, 'x');
    await fs.write(`${dir}/file`, 'x');
    assert.equal(await fs.delete(`${dir}/missing`), false);
    assert.equal(await fs.delete(`${dir}/missing`, true), false);
    await fails(fs.delete(`${dir}/d`), 409, 'DirectoryNotEmpty');
    assert.equal(await fs.exists(`${dir}/d/e/file`), true);
    assert.equal(await fs.delete(`${dir}/file`), true);
    assert.equal(await fs.delete(`${dir}/d`, true), true);
    assert.equal(await fs.exists(`${dir}/d`), false);
    assert.equal(await fs.exists(`${dir}/d/e/file`), false);
    await fs.mkdirs(`${dir}/d`);
    assert.deepEqual(await namesIn(`${dir}/d`), []);
    assert.equal(await fs.delete(`${dir}/d`), true);
});

test('rename: a file; over a file, into a directory, to a missing parent, of what is missing', async () => {
    const dir = await base();
    await fs.write(`${dir}/one`, 'one');
    await fs.write(`${dir}/other`, 'other');
    await fs.mkdirs(`${dir}/d`);
    const before = await fs.getFileStatus(`${dir}/one`);
    assert.equal(await fs.rename(`${dir}/one`, `${dir}/uno`), true);
    assert.equal((await fs.getFileStatus(`${dir}/uno`)).etag, before.etag);
    assert.equal(await fs.exists(`${dir}/one`), false);
    assert.equal(await fs.rename(`${dir}/uno`, `${dir}/other`), false);
    assert.equal((await fs.read(`${dir}/other`)).toString(), 'other');
    assert.equal(await fs.rename(`${dir}/uno`, `${dir}/d`), true);
    assert.equal((await fs.read(`${dir}/d/uno`)).toString(), 'one');
    assert.equal(await fs.rename(`${dir}/other`, `${dir}/missing/other`), false);
    assert.equal((await fs.read(`${dir}/other`)).toString(), 'other');
    assert.equal(await fs.rename(`${dir}/missing`, `${dir}/anything`), false);
    assert.equal(await fs.exists(`${dir}/anything`), false);
    assert.equal(await fs.rename(`${dir}/other`, `${dir}/other`), true);
    assert.equal(await fs.rename('/', `${dir}/root`), false);
});

test('rename: a directory with all that is below it, also into an existing one and into the root', async () => {
    const dir = await base();
    await fs.write(`${dir}/source/dir1/dir2/file4`, 'data');
    await fs.write(`${dir}/source/file`, 'data');
    assert.equal(await fs.rename(`${dir}/source`, `${dir}/new`), true);
    assert.equal(await fs.exists(`${dir}/source/dir1/dir2/file4`), false);
    assert.equal(await fs.exists(`${dir}/source/dir1`), false);
    assert.equal((await fs.read(`${dir}/new/dir1/dir2/file4`)).toString(), 'data');
    for (const path of ['new', 'new/dir1', 'new/dir1/dir2'])
        assert.equal((await fs.getFileStatus(`${dir}/${path}`)).isDirectory, true, path);

    await fs.write(`${dir}/dest/kept`, 'kept');
    assert.equal(await fs.rename(`${dir}/new`, `${dir}/dest`), true);
    assert.deepEqual(await namesIn(`${dir}/dest`), ['kept', 'new']);
    assert.equal((await fs.read(`${dir}/dest/new/file`)).toString(), 'data');

    await fs.write(`${dir}/new/file`, 'another');
    assert.equal(await fs.rename(`${dir}/new`, `${dir}/dest`), false);
    assert.equal((await fs.read(`${dir}/dest/new/file`)).toString(), 'data');
    assert.equal((await fs.read(`${dir}/new/file`)).toString(), 'another');

    assert.equal(await fs.rename(`${dir}/dest/new`, '/'), true);
    assert.equal((await fs.read('/new/file')).toString(), 'data');
    assert.equal(await fs.delete('/new', true), true);
});

test('rename: below itself and below a file is refused and changes nothing', async () => {
    const dir = await base();
    await fs.write(`${dir}/a/b/file`, 'x');
    await fs.write(`${dir}/file`, 'x');
    assert.equal(await fs.rename(`${dir}/a`, `${dir}/a/b/c`), false);
    assert.equal(await fs.rename(`${dir}/a`, `${dir}/a/b`), false);
    // Hadoop's contract allows an exception here.
    await fails(fs.rename(`${dir}/a`, `${dir}/file/below`), 409, 'PathConflict');
    await fails(fs.rename(`${dir}/a`, `${dir}/file/below/more`), 409, 'PathConflict');
    await fails(fs.rename(`${dir}/file`, `${dir}/a/b/file/below`), 409, 'PathConflict');
    assert.equal((await fs.read(`${dir}/a/b/file`)).toString(), 'x');
    assert.equal((await fs.read(`${dir}/file`)).toString(), 'x');
});

test('permission: set with umask, changed, owner changed, ACLs set on the ETag that was read', async () => {
    const dir = await base();
    await fs.mkdirs(`${dir}/d`, { permission: '0777', umask: '0027' });
    assert.equal((await fs.getFileStatus(`${dir}/d`)).permission, 'rwxr-x---');
    await fs.write(`${dir}/d/file`, 'x', { permission: '0666', umask: '0022' });
    assert.equal((await fs.getFileStatus(`${dir}/d/file`)).permission, 'rw-r--r--');
    await fs.client.setAccessControl(`${dir}/d/file`, { 'x-ms-permissions': '0600' });
    await fs.client.setAccessControl(`${dir}/d/file`, { 'x-ms-owner': 'alice', 'x-ms-group': 'staff' });
    const status = await fs.getFileStatus(`${dir}/d/file`);
    assert.deepEqual([status.permission, status.owner, status.group], ['rw-------', 'alice', 'staff']);

    const acl = await fs.client.getAclStatus(`${dir}/d`);
    assert.equal(acl.headers.get('x-ms-acl'), 'user::rwx,group::r-x,other::---');
    await fs.client.setAccessControl(`${dir}/d`, {
        'x-ms-acl': 'user::rwx,user:bob:r-x,group::r-x,mask::r-x,other::---,default:user::rwx,default:user:bob:rw-,default:group::r--,default:mask::rwx,default:other::---',
        'If-Match': acl.headers.get('etag'),
    });
    assert.equal((await fs.getFileStatus(`${dir}/d`)).permission, 'rwxr-x---+');
    await fs.write(`${dir}/d/inherits`, 'x');
    const inherited = await fs.client.getAclStatus(`${dir}/d/inherits`);
    assert.match(inherited.headers.get('x-ms-acl'), /user:bob:rw-/);
    await fs.client.checkAccess(`${dir}/d`, 'rwx');
});

test('file properties survive renames', async () => {
    const dir = await base();
    await fs.write(`${dir}/file`, 'x');
    await fs.client.setPathProperties(`${dir}/file`, { one: '1' });
    await fs.rename(`${dir}/file`, `${dir}/renamed`);
    const { headers } = await fs.client.getPathStatus(`${dir}/renamed`, true);
    assert.equal(headers.get('x-ms-properties'), `one=${Buffer.from('1').toString('base64')}`);
});

/* ---- Spark's committers ---- */

test('file output committer: tasks rename their attempts into the job, the job renames into the destination', async () => {
    const out = `${await base()}/out`;
    const tasks = 8;

    await fs.mkdirs(`${out}/_temporary/0`);
    await Promise.all(Array.from({ length: tasks }, async (_, task) => {
        const own = new HadoopFileSystem({ host: server.host, port: server.ports.dfs }, 'hadoop');
        // Two attempts of each task; one of them commits, and it does so once.
        const committed = await Promise.all([0, 1].map(async (attempt) => {
            const mine = attempt === 0 ? own : new HadoopFileSystem({ host: server.host, port: server.ports.dfs }, 'hadoop');
            const work = `${out}/_temporary/0/_temporary/attempt_${task}_${attempt}`;
            await mine.write(`${work}/part-${task}`, `task ${task} attempt ${attempt}`);
            const won = await mine.rename(work, `${out}/_temporary/0/task_${task}`)
                && await mine.exists(`${out}/_temporary/0/task_${task}/part-${task}`);
            if (attempt === 1)
                mine.client.close();
            return won;
        }));
        assert.ok(committed.some(Boolean), `task ${task}`);
        own.client.close();
    }));
    for (const entry of await fs.listStatus(`${out}/_temporary/0`)) {
        if (!entry.path.includes('/task_'))
            continue;
        for (const file of await fs.listStatus(entry.path)) {
            if (!file.isDirectory)
                assert.equal(await fs.rename(file.path, `${out}/${file.path.slice(file.path.lastIndexOf('/') + 1)}`), true);
        }
    }
    assert.equal(await fs.delete(`${out}/_temporary`, true), true);
    await fs.write(`${out}/_SUCCESS`, '');
    assert.deepEqual(await namesIn(out), ['_SUCCESS', ...Array.from({ length: tasks }, (_, task) => `part-${task}`)]);
});

test('manifest committer: many renames at once; a repeated one is recognized by its ETag', async () => {
    const out = `${await base()}/out`;
    const files = 40;

    await fs.mkdirs(out);
    const sources = await Promise.all(Array.from({ length: files }, async (_, i) => {
        const own = new HadoopFileSystem({ host: server.host, port: server.ports.dfs }, 'hadoop');
        await own.write(`${out}/_temporary/manifest/${i}`, String(i));
        const { etag } = await own.getFileStatus(`${out}/_temporary/manifest/${i}`);
        assert.equal(await own.commitFileByRename(`${out}/_temporary/manifest/${i}`, `${out}/${i}`, etag), false);
        assert.equal(await own.commitFileByRename(`${out}/_temporary/manifest/${i}`, `${out}/${i}`, etag), true);
        own.client.close();
        return i;
    }));
    for (const i of sources)
        assert.equal((await fs.read(`${out}/${i}`)).toString(), String(i));
});

test('many writers rename into one name: one of them wins', async () => {
    const dir = await base();
    const outcomes = await Promise.all(Array.from({ length: 12 }, async (_, i) => {
        const own = new HadoopFileSystem({ host: server.host, port: server.ports.dfs }, 'hadoop');
        await own.write(`${dir}/candidate${i}`, String(i));
        const won = await own.rename(`${dir}/candidate${i}`, `${dir}/winner`);
        own.client.close();
        return won;
    }));
    assert.equal(outcomes.filter(Boolean).length, 1);
    assert.equal((await fs.read(`${dir}/winner`)).toString(), String(outcomes.indexOf(true)));
    assert.equal((await namesIn(dir)).length, 12);
});
