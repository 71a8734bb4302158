// rclone: copy, check, sync, server-side copy and move, settier, purge.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import {
    isInstalled, names, newContainer, newFolder, newTree, run, same, sas, url,
} from './setup.mjs';

test('rclone', { skip: !isInstalled('rclone') }, async (t) => {
    const config = path.join(await newFolder(t), 'rclone.conf');
    await writeFile(config, `[l]\ntype = azureblob\nsas_url = ${url}?${sas}\n`);
    const rclone = (...args) => run('rclone', ['--config', config, '--retries=1', ...args]);
    const container = await newContainer(t);
    const root = `l:${container.containerName}`;
    const tree = await newTree(t);

    await rclone('copy', tree, `${root}/t`);
    await rclone('check', tree, `${root}/t`);
    const down = path.join(await newFolder(t), 'down');
    await rclone('copy', `${root}/t`, down);
    await same(tree, down);
    await writeFile(path.join(tree, 'one'), 'changed');
    await rclone('sync', tree, `${root}/t`);
    await rclone('check', tree, `${root}/t`);

    await rclone('copy', `${root}/t`, `${root}/copied`);
    await rclone('check', `${root}/t`, `${root}/copied`);
    await rclone('moveto', `${root}/copied/one`, `${root}/copied/mit leer/ü`);
    assert.ok((await names(container, 'copied/')).includes('copied/mit leer/ü'));
    await rclone('move', `${root}/copied`, `${root}/moved`);
    assert.deepEqual(await names(container, 'copied/'), []);
    await rclone('settier', 'Cool', `${root}/t`);
    assert.match(await rclone('lsf', '-R', '--format=pT', `${root}/t`), /sub\/a b;Cool/);
    await rclone('purge', `${root}/moved`);
    assert.deepEqual(await names(container, 'moved/'), []);
});
