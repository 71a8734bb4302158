// A file of master keys for --encryptionKey. docs/encryption.md
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Writes a file with one key. Returns its path, the options of a server that uses it, and remove(). */
export async function newMasterKey() {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-master-'));
    const file = join(folder, 'master-keys');

    await writeFile(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
    return {
        file,
        options: { args: ['--encryptionKey', file] },
        remove: () => rm(folder, { recursive: true, force: true }),
    };
}
