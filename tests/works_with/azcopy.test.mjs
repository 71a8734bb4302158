// azcopy: copy up and down, sync with deletion, server to server, tier, remove, list; all by SAS.
import assert from 'node:assert/strict';
import { chmod, rm, writeFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { names, newContainer, newFolder, newTree, run, same, sas } from './setup.mjs';

const binary = fileURLToPath(new URL(
    './node_modules/@azure-tools/azcopy-linux/dist/bin/azcopy_linux_amd64', import.meta.url));

test('azcopy', async (t) => {
    const log = await newFolder(t);
    const azcopy = (...args) => run(binary, args, {
        AZCOPY_LOG_LOCATION: log, AZCOPY_JOB_PLAN_LOCATION: log, AZCOPY_DISABLE_SYSLOG: 'true',
    });
    await chmod(binary, 0o755);
    const [one, two] = [await newContainer(t), await newContainer(t)];
    const tree = await newTree(t);
    const at = (container, name = '') => `${container.url}${name}?${sas}`;

    await azcopy('copy', tree, at(one), '--recursive', '--from-to=LocalBlob', '--put-md5');
    assert.match(await azcopy('list', at(one), '--location=Blob'), /tree\/näme mit leer\/ein\+zwei %25/);
    const down = await newFolder(t);
    await azcopy('copy', at(one), down, '--recursive', '--from-to=BlobLocal',
        '--check-md5=FailIfDifferent');
    await same(tree, path.join(down, one.containerName, 'tree'));

    await writeFile(path.join(tree, 'one'), 'changed');
    await rm(path.join(tree, 'big'));
    await azcopy('sync', tree, at(one, '/tree/'), '--from-to=LocalBlob', '--delete-destination=true');
    assert.ok(!(await names(one)).includes('tree/big'));
    const synced = path.join(down, 'synced');
    await mkdir(synced);
    await azcopy('sync', at(one, '/tree/'), synced, '--from-to=BlobLocal');
    await same(tree, synced);

    await azcopy('copy', at(one), at(two), '--recursive', '--from-to=BlobBlob');
    assert.deepEqual(await names(two), await names(one));
    await azcopy('sync', at(one), at(two), '--from-to=BlobBlob');
    await azcopy('set-properties', at(two, '/tree/one'), '--from-to=BlobNone',
        '--block-blob-tier=Cool');
    assert.equal((await two.getBlobClient('tree/one').getProperties()).accessTier, 'Cool');
    await azcopy('remove', at(two, '/tree/sub'), '--recursive', '--from-to=BlobTrash');
    assert.deepEqual(await names(two, 'tree/sub'), []);
});
