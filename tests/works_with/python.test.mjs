// Clients in Python, from Debian: azure-storage-blob and azure-storage-file-share; barman-cloud, which
// is built on the first (archive a WAL file, restore it); azure-cli; azure-cosmosdb-table; libcloud; Celery with its
// results in blobs.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
    connectionString, isInstalled, newContainer, newFolder, run, runThroughKills, same,
} from './setup.mjs';

const env = { AZURE_STORAGE_CONNECTION_STRING: connectionString };
const PYTHON = '/usr/bin/python3'; // Debian's, which finds Debian's packages
const has = (module) => run(PYTHON, ['-c', `import ${module}`]).then(() => true, () => false);

for (const [name, module, program] of [
    ['azure-storage-blob for Python', 'azure.storage.blob', 'blobs.py'],
    ['azure-storage-file-share for Python', 'azure.storage.fileshare', 'files.py'],
    ['azure-cli', 'azure.cli.core', 'azure_cli.py'],
])
    test(name, { skip: !await has(module) },
        () => run(PYTHON, [fileURLToPath(new URL(program, import.meta.url))], env));

for (const [name, module, program] of [
    ['azure-cosmosdb-table', 'azure.cosmosdb.table', 'cosmosdb_table.py'],
    ['libcloud', 'libcloud', 'libcloud_blobs.py'],
    ['Celery', 'celery', 'celery_results.py'],
])
    test(`${name}, through kills`, { skip: !await has(module) },
        (t) => runThroughKills(t, PYTHON, program, 2));

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
