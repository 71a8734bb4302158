// azure-storage-blob for Python, and barman-cloud, which is built on it: archive a WAL file,
// restore it.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectionString, isInstalled, newContainer, newFolder, run, same } from './setup.mjs';

const env = { AZURE_STORAGE_CONNECTION_STRING: connectionString };
const hasSdk = await run('/usr/bin/python3', ['-c', 'import azure.storage.blob']).then(() => true, () => false);

test('azure-storage-blob for Python', { skip: !hasSdk }, async () => {
    await run('/usr/bin/python3', [fileURLToPath(new URL('blobs.py', import.meta.url))], env);
});

test('barman-cloud', { skip: !isInstalled('barman-cloud-wal-archive') }, async (t) => {
    const container = await newContainer(t);
    const folder = await newFolder(t);
    const wal = path.join(folder, '000000010000000000000001');
    const at = [`${container.url}/backups`, 'main'];
    const cloud = ['--cloud-provider', 'azure-blob-storage'];

    await writeFile(wal, randomBytes(16 << 20));
    await run('barman-cloud-wal-archive', [...cloud, '-z', ...at, wal], env);
    await run('barman-cloud-wal-restore', [...cloud, ...at, path.basename(wal), `${folder}/back`], env);
    await same(wal, `${folder}/back`);
});
