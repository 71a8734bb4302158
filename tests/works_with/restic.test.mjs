// restic: init, backups, check with all data, restore, forget and prune; the server is killed between.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
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

// Backups are added, and the server refuses to remove any of them. restic cannot remove the file of its lock either, which it tries
// for 15 minutes, so the time of its commands is limited here. docs/immutability.md
test('restic over a container with a locked policy', { skip: !isInstalled('restic') || !(await isFree(PORT)) }, async (t) => {
    const server = await Server.start({
        args: ['--blobPort', `${PORT}`, '--queuePort', '0', '--tablePort', '0', '--filePort', '0'],
    });
    t.after(() => server.kill().then(() => server.remove()));
    const cache = await newFolder(t), tree = await newFolder(t), down = await newFolder(t);
    const env = { AZURE_ACCOUNT_NAME: DEVELOPMENT.account, AZURE_ACCOUNT_KEY: DEVELOPMENT.key, RESTIC_PASSWORD: 'secret' };
    const words = ['-r', 'azure:restic:/repo', '--cache-dir', cache];
    const restic = (...args) => run('restic', [...words, ...args], env);
    const isRefused = (seconds, ...args) => {
        const { stderr } = spawnSync('restic', [...words, ...args], { encoding: 'utf8', env: { ...process.env, ...env }, timeout: seconds * 1000 });
        assert.match(stderr, /ErrorCode=BlobImmutableDueToPolicy/);
    };
    const protect = (...args) => run(process.env.LAGRA_BINARY, ['container', 'protect', 'restic', ...args, '--location', server.location]);

    await writeFile(path.join(tree, 'one'), 'one');
    await restic('init');
    await restic('backup', tree);
    await protect('policy', '--days', '1');
    await protect('lock');
    await writeFile(path.join(tree, 'two'), 'two');
    isRefused(15, 'backup', tree);
    isRefused(15, 'unlock', '--remove-all'); // which forget and prune need
    assert.equal(JSON.parse(await restic('snapshots', '--json', '--no-lock')).length, 2);
    await restic('check', '--read-data', '--no-lock');
    await restic('restore', 'latest', '--no-lock', '--target', down);
    await same(tree, path.join(down, tree));
});
