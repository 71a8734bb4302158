// azcopy with shares: copy up and down, sync with deletion both ways, server to server, remove, list; all by SAS.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
    AccountSASPermissions, generateAccountSASQueryParameters, ShareServiceClient, StorageSharedKeyCredential,
} from '@azure/storage-file-share';
import { account, fileUrl, newFolder, newTree, run, same } from './setup.mjs';

const binary = fileURLToPath(new URL(
    './node_modules/@azure-tools/azcopy-linux/dist/bin/azcopy_linux_amd64', import.meta.url));
const credential = new StorageSharedKeyCredential(account.name, account.key);
const service = new ShareServiceClient(fileUrl, credential);
const sas = generateAccountSASQueryParameters({
    services: 'f', resourceTypes: 'sco', permissions: AccountSASPermissions.parse('rwdlacup'),
    expiresOn: new Date(Date.now() + 3600_000),
}, credential).toString();

async function newShare(t) {
    const share = service.getShareClient(`w${randomBytes(6).toString('hex')}`);
    await share.create();
    t.after(() => share.delete());
    return share;
}

test('azcopy with shares', async (t) => {
    const log = await newFolder(t);
    const azcopy = (...args) => run(binary, args, {
        AZCOPY_LOG_LOCATION: log, AZCOPY_JOB_PLAN_LOCATION: log, AZCOPY_DISABLE_SYSLOG: 'true',
    });
    await chmod(binary, 0o755);
    const [one, two] = [await newShare(t), await newShare(t)];
    const tree = await newTree(t), down = await newFolder(t);
    const at = (share, name = '') => `${share.url}${name}?${sas}`;
    const list = (share) => azcopy('list', at(share), '--location=File');

    await azcopy('copy', tree, at(one), '--recursive', '--from-to=LocalFile', '--put-md5');
    assert.match(await list(one), /tree\/näme mit leer\/ein\+zwei %25/);
    await azcopy('copy', at(one), down, '--recursive', '--from-to=FileLocal', '--check-md5=FailIfDifferent');
    await same(tree, path.join(down, one.name, 'tree'));

    await writeFile(path.join(tree, 'one'), 'changed');
    await rm(path.join(tree, 'big'));
    await azcopy('sync', tree, at(one, '/tree/'), '--from-to=LocalFile', '--delete-destination=true');
    assert.doesNotMatch(await list(one), /tree\/big/);
    await azcopy('sync', at(one, '/tree/'), path.join(down, one.name, 'tree'), '--from-to=FileLocal',
        '--delete-destination=true');
    await same(tree, path.join(down, one.name, 'tree'));

    await azcopy('copy', at(one), at(two), '--recursive', '--from-to=FileFile');
    assert.match(await list(two), /tree\/sub\/a b/);
    await azcopy('remove', at(two, '/tree/sub'), '--recursive', '--from-to=FileTrash');
    assert.doesNotMatch(await list(two), /tree\/sub/);
});
