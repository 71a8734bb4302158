// Clients of the Data Lake endpoint, against a server whose account is hierarchical: Microsoft's SDK
// for Python (Debian's), OpenDAL's azdls, azcopy's BlobFS.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Operator } from 'opendal';
import {
    AccountSASPermissions, BlobServiceClient, generateAccountSASQueryParameters,
} from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { account, credential, newFolder, newTree, run, same } from './setup.mjs';

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

const environment = () => ({ LAGRA_TEST_DFS_URL: dfs, LAGRA_TEST_ACCOUNT_NAME: account.name, LAGRA_TEST_ACCOUNT_KEY: account.key });
async function newFileSystem(t) {
    const container = blobs.getContainerClient(`w${randomBytes(6).toString('hex')}`);
    await container.create();
    t.after(() => container.delete());
    return container;
}

test('azure-storage-file-datalake for Python', { skip: !await has('azure.storage.filedatalake') },
    () => run(PYTHON, [fileURLToPath(new URL('data_lake.py', import.meta.url))], environment()));

test('OpenDAL, azdls', async (t) => {
    const container = await newFileSystem(t);
    const op = new Operator('azdls', {
        filesystem: container.containerName, endpoint: dfs,
        account_name: account.name, account_key: account.key,
    });

    await op.write('a/ä b.txt', 'hello');
    assert.equal((await op.read('a/ä b.txt')).toString(), 'hello');
    await op.createDir('d/e/');
    assert.equal((await op.stat('d/e/')).isDirectory(), true);
    await op.rename('a/ä b.txt', 'd/moved');
    assert.equal((await op.read('d/moved')).toString(), 'hello');
    await Promise.all(Array.from({ length: 100 }, (_, i) => op.write(`many/${i}`, String(i))));
    assert.ok((await op.list('many/')).length >= 100);
    await op.removeAll('many/');
    await assert.rejects(op.stat('many/7'), /NotFound/);
});

test('azcopy, BlobFS', async (t) => {
    const binary = fileURLToPath(new URL(
        './node_modules/@azure-tools/azcopy-linux/dist/bin/azcopy_linux_amd64', import.meta.url));
    const sas = generateAccountSASQueryParameters({
        services: 'b', resourceTypes: 'sco', permissions: AccountSASPermissions.parse('rwdxylacuptf'),
        expiresOn: new Date(Date.now() + 3600_000),
    }, credential).toString();
    const log = await newFolder(t);
    const azcopy = (...args) => run(binary, args, {
        AZCOPY_LOG_LOCATION: log, AZCOPY_JOB_PLAN_LOCATION: log, AZCOPY_DISABLE_SYSLOG: 'true',
    });
    await chmod(binary, 0o755);
    const container = await newFileSystem(t);
    const tree = await newTree(t);
    const at = (name = '') => `${dfs}/${container.containerName}${name}?${sas}`;

    await azcopy('copy', tree, at(), '--recursive', '--from-to=LocalBlobFS');
    const down = await newFolder(t);
    await azcopy('copy', at('/tree'), down, '--recursive', '--from-to=BlobFSLocal');
    await same(tree, path.join(down, 'tree'));
    await azcopy('remove', at('/tree'), '--recursive', '--from-to=BlobFSTrash');
    assert.equal((await container.listBlobsFlat().next()).done, true);
});
