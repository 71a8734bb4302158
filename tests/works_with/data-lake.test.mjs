// Clients against a server whose account is hierarchical. Of the Data Lake endpoint: Microsoft's SDK for Python and
// azure-cli (Debian's), OpenDAL's azdls, azcopy's BlobFS. Of the Blob endpoint, where they see directories: rclone,
// LanceDB, Polars.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as lancedb from '@lancedb/lancedb';
import pl from 'nodejs-polars';
import { Operator } from 'opendal';
import {
    AccountSASPermissions, BlobServiceClient, generateAccountSASQueryParameters,
} from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { account, credential, isInstalled, names, newFolder, newTree, run, same } from './setup.mjs';

const PYTHON = '/usr/bin/python3';
const has = (module) => run(PYTHON, ['-c', `import ${module}`]).then(() => true, () => false);

let server;
let blobs;
let dfs;

before(async () => {
    server = await Server.start({ args: ['--hierarchical'] });
    dfs = `http://${server.host}:${server.ports.dfs}/${account.name}`;
    blobs = new BlobServiceClient(server.url, credential);
});
after(() => server.stop());

const python = (program, env) => run(PYTHON, [fileURLToPath(new URL(program, import.meta.url))], env);
const storageOptions = () => ({
    azure_storage_account_name: account.name, azure_storage_account_key: account.key, azure_storage_endpoint: server.url, allow_http: 'true',
});
const sas = () => generateAccountSASQueryParameters({
    services: 'b', resourceTypes: 'sco', permissions: AccountSASPermissions.parse('rwdxylacuptf'),
    expiresOn: new Date(Date.now() + 3600_000),
}, credential).toString();
const environment = () => ({ LAGRA_TEST_DFS_URL: dfs, LAGRA_TEST_ACCOUNT_NAME: account.name, LAGRA_TEST_ACCOUNT_KEY: account.key });
async function newFileSystem(t) {
    const container = blobs.getContainerClient(`w${randomBytes(6).toString('hex')}`);
    await container.create();
    t.after(() => container.delete());
    return container;
}

test('azure-storage-file-datalake for Python', { skip: !await has('azure.storage.filedatalake') },
    () => python('data_lake.py', environment()));

// The client of azure-cli derives the URL of the Data Lake endpoint from that of the Blob service.
test('azure-cli, file systems', { skip: !await has('azure.cli.core') }, () => python('azure_cli_fs.py', {
    AZURE_STORAGE_CONNECTION_STRING: `DefaultEndpointsProtocol=http;AccountName=${account.name};AccountKey=${account.key};BlobEndpoint=${dfs};`,
}));

test('OpenDAL, azdls', async (t) => {
    const container = await newFileSystem(t);
    const op = new Operator('azdls', {
        filesystem: container.containerName, endpoint: dfs,
        account_name: account.name, account_key: account.key,
    });

    await op.write('a/ä b.txt', 'hello');
    assert.equal((await op.read('a/ä b.txt')).toString(), 'hello');
    await op.write('log', 'one', { append: true });
    await op.write('log', 'two', { append: true });
    assert.equal((await op.read('log')).toString(), 'onetwo');
    await op.createDir('d/e/');
    assert.equal((await op.stat('d/e/')).isDirectory(), true);
    await op.rename('a/ä b.txt', 'd/moved');
    assert.equal((await op.read('d/moved')).toString(), 'hello');
    await Promise.all(Array.from({ length: 100 }, (_, i) => op.write(`many/${i}`, String(i))));
    assert.ok((await op.list('many/')).length >= 100);
    const paths = (await op.list('/', { recursive: true })).map((entry) => entry.path());
    assert.ok(['a/', 'd/', 'd/e/', 'd/moved', 'many/', 'many/99'].every((name) => paths.includes(name)));
    await op.removeAll('many/');
    await assert.rejects(op.stat('many/7'), /NotFound/);
});

test('azcopy, BlobFS', async (t) => {
    const binary = fileURLToPath(new URL(
        './node_modules/@azure-tools/azcopy-linux/dist/bin/azcopy_linux_amd64', import.meta.url));
    const log = await newFolder(t);
    const azcopy = (...args) => run(binary, args, {
        AZCOPY_LOG_LOCATION: log, AZCOPY_JOB_PLAN_LOCATION: log, AZCOPY_DISABLE_SYSLOG: 'true',
    });
    await chmod(binary, 0o755);
    const container = await newFileSystem(t);
    const tree = await newTree(t);
    const at = (name = '') => `${dfs}/${container.containerName}${name}?${sas()}`;

    await azcopy('copy', tree, at(), '--recursive', '--from-to=LocalBlobFS');
    assert.match(await azcopy('list', at(), '--location=BlobFS'), /tree\/näme mit leer\/ein\+zwei %25/);
    const down = await newFolder(t);
    await azcopy('copy', at('/tree'), down, '--recursive', '--from-to=BlobFSLocal');
    await same(tree, path.join(down, 'tree'));
    await writeFile(path.join(tree, 'one'), 'changed');
    await rm(path.join(tree, 'big'));
    await azcopy('sync', tree, at('/tree'), '--from-to=LocalBlobFS', '--delete-destination=true');
    const synced = await newFolder(t);
    await azcopy('sync', at('/tree'), synced, '--from-to=BlobFSLocal');
    await same(tree, synced);

    // Lists are those of the destination's parent, or of the source.
    const acl = 'user::rwx,user:ann:r-x,group::r-x,mask::r-x,other::---';
    const access = (name, method = 'HEAD', action = 'getAccessControl', headers = {}) =>
        fetch(`${at(name)}&action=${action}`, { method, headers: { 'x-ms-version': '2023-11-03', ...headers } });
    assert.equal((await access('/tree/sub', 'PATCH', 'setAccessControl', { 'x-ms-acl': acl })).status, 200);
    await azcopy('copy', at('/tree/sub'), at('/plain'), '--recursive', '--from-to=BlobFSBlobFS');
    await azcopy('copy', at('/tree/sub'), at('/same'), '--recursive', '--from-to=BlobFSBlobFS', '--preserve-permissions=true');
    assert.equal((await access('/same/sub')).headers.get('x-ms-acl'), acl);
    assert.ok(!(await access('/plain/sub')).headers.get('x-ms-acl').includes('ann'));
    await azcopy('set-properties', at('/tree/one'), '--from-to=BlobFSNone', '--metadata=a=b');
    assert.equal((await container.getBlobClient('tree/one').getProperties()).metadata.a, 'b');
    for (const name of ['/plain', '/same'])
        await azcopy('remove', at(name), '--recursive', '--from-to=BlobFSTrash');
    await azcopy('remove', at('/tree'), '--recursive', '--from-to=BlobFSTrash');
    assert.equal((await container.listBlobsFlat().next()).done, true);
});

test('rclone, directories', { skip: !isInstalled('rclone') }, async (t) => {
    const config = path.join(await newFolder(t), 'rclone.conf');
    await writeFile(config, `[l]\ntype = azureblob\nsas_url = ${server.url}?${sas()}\n`);
    const rclone = (...args) => run('rclone', ['--config', config, '--retries=1', ...args]);
    const container = await newFileSystem(t);
    const root = `l:${container.containerName}`;
    const tree = await newTree(t);

    await rclone('copy', tree, `${root}/t`);
    await rclone('check', tree, `${root}/t`);
    assert.match(await rclone('lsd', `${root}/t`), /näme mit leer\n.* sub\n/);
    await rclone('copy', `${root}/t`, `${root}/copied`);
    await rclone('move', `${root}/copied/sub`, `${root}/moved`);
    await rclone('sync', `${root}/t`, `${root}/copied`);
    await rclone('check', tree, `${root}/copied`);
    await rclone('purge', `${root}/copied`);
    const left = await rclone('lsf', '-R', '--files-only', root);
    assert.ok(left.includes('moved/a b\n') && !left.includes('copied/'), left);
    assert.ok((await names(container)).includes('copied/sub'), 'rclone deletes no directories');
});

test('LanceDB, hierarchical account', async (t) => {
    const container = await newFileSystem(t);
    for (const root of [`az://${container.containerName}`, `abfss://${container.containerName}@${account.name}.dfs.core.windows.net`]) {
        const database = await lancedb.connect(`${root}/${root.length}`, { storageOptions: storageOptions() });
        const rows = (first, count) => Array.from({ length: count }, (_, i) => ({ id: first + i, vector: [i % 7, i % 11] }));
        const table = await database.createTable('things', rows(0, 1000));

        await Promise.all([1, 2, 3, 4].map((k) => table.add(rows(1000 * k, 1000)))); // conditional commits
        await table.delete('id >= 4000');
        assert.equal(await table.countRows(), 4000);
        assert.equal((await table.search([1, 2]).limit(3).toArray()).length, 3);
        await table.optimize({ cleanupOlderThan: new Date() });
        assert.equal(await table.countRows(), 4000);
        await database.dropTable('things'); // leaves the directories, and so the name, as on the real service
        await assert.rejects(database.openTable('things').then((left) => left.countRows()));
    }
});

test('Polars', async (t) => {
    const container = await newFileSystem(t);
    const cloudOptions = storageOptions();
    const rows = pl.DataFrame({ id: Array.from({ length: 100_000 }, (_, i) => i), kind: Array.from({ length: 100_000 }, (_, i) => `k${i % 7}`) });

    for (const root of [`az://${container.containerName}`, `abfss://${container.containerName}@${account.name}.dfs.core.windows.net`]) {
        for (const part of [0, 1])
            await rows.lazy().sinkParquet(`${root}/d/e/${part}.parquet`, { cloudOptions, rowGroupSize: 10_000 }).collect();
        const found = await pl.scanParquet(`${root}/d/**/*.parquet`, { cloudOptions }).filter(pl.col('id').gtEq(99_990)).collect();
        assert.deepEqual([found.height, found.columns], [20, ['id', 'kind']]);
    }
    assert.deepEqual(await names(container), ['d', 'd/e', 'd/e/0.parquet', 'd/e/1.parquet']);
});
