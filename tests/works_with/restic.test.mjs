// restic: init, backups, check with all data, restore, forget and prune; the server is killed between.
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { killAndRestart } from '../lib/killed.mjs';
import { isInstalled, newFolder, newTree, run, same } from './setup.mjs';

/** The only port where Debian's restic looks for an emulator. */
const PORT = 10000;

const isFree = (port) => new Promise((resolve) => {
    const server = net.createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
});

test('restic', { skip: !isInstalled('restic') || !(await isFree(PORT)) }, async (t) => {
    const server = await Server.start({
        args: ['--blobPort', `${PORT}`, '--queuePort', '0', '--tablePort', '0', '--filePort', '0'],
    });
    t.after(() => server.kill().then(() => server.remove()));
    const cache = await newFolder(t), tree = await newTree(t), down = await newFolder(t);
    const restic = (...args) => run('restic', ['-r', 'azure:restic:/repo', '--cache-dir', cache, ...args], {
        AZURE_ACCOUNT_NAME: DEVELOPMENT.account, AZURE_ACCOUNT_KEY: DEVELOPMENT.key, RESTIC_PASSWORD: 'secret',
    });

    await restic('init');
    await restic('backup', tree);
    await writeFile(path.join(tree, 'one'), 'changed');
    await rm(path.join(tree, 'big'));
    await killAndRestart(server);
    await restic('backup', tree);
    assert.equal(JSON.parse(await restic('snapshots', '--json')).length, 2);
    await restic('check', '--read-data');
    await restic('restore', 'latest', '--target', down);
    await same(tree, path.join(down, tree));
    await killAndRestart(server);
    await restic('forget', '--keep-last', '1', '--prune');
    assert.equal(JSON.parse(await restic('snapshots', '--json')).length, 1);
    await restic('check', '--read-data');
});
