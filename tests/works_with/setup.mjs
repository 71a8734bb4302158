// What the tests of clients share: the account, a container, a tree of files, running a program.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
    AccountSASPermissions, BlobServiceClient, generateAccountSASQueryParameters,
    StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { DEVELOPMENT } from '../lib/sign.mjs';

export const url = process.env.LAGRA_TEST_URL;
export const account = { name: DEVELOPMENT.account, key: DEVELOPMENT.key };
export const credential = new StorageSharedKeyCredential(account.name, account.key);
export const connectionString = 'DefaultEndpointsProtocol=http;' +
    `AccountName=${account.name};AccountKey=${account.key};BlobEndpoint=${url};`;
export const service = new BlobServiceClient(url, credential);
export const sas = generateAccountSASQueryParameters({
    services: 'b', resourceTypes: 'sco', permissions: AccountSASPermissions.parse('rwdxylacuptf'),
    expiresOn: new Date(Date.now() + 3600_000),
}, credential).toString();

export async function newContainer(t) {
    const container = service.getContainerClient(`w${randomBytes(6).toString('hex')}`);
    await container.create();
    t.after(() => container.delete());
    return container;
}

export async function newFolder(t) {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-works-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

/** A folder with files of many sizes, and names with spaces and letters beyond ASCII. */
export async function newTree(t) {
    const tree = path.join(await newFolder(t), 'tree');
    const sizes = {
        empty: 0, one: 1, 'sub/a b': 3000, 'näme mit leer/ein+zwei %25 & drei#.txt': 500, big: 20e6,
    };
    for (const [name, size] of Object.entries(sizes)) {
        await mkdir(path.dirname(path.join(tree, name)), { recursive: true });
        await writeFile(path.join(tree, name), randomBytes(size));
    }
    return tree;
}

export const isInstalled = (program) =>
    process.env.PATH.split(':').some((folder) => existsSync(path.join(folder, program)));

/** Runs a program to its end; throws with all that it said unless it exits 0. */
export async function run(program, args, env = {}) {
    const child = spawn(program, args,
        { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120000 });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text) => {
            output += text;
        });
    const [code, signal] = await once(child, 'close');
    if (code !== 0)
        throw new Error(`${program} ${args.join(' ')}: ${signal ?? code}\n${output}`);
    return output;
}

/** Throws unless two folders hold the same. */
export const same = (one, other) => run('diff', ['-r', one, other]);

export async function names(container, prefix = '') {
    const found = [];
    for await (const { name } of container.listBlobsFlat({ prefix }))
        found.push(name);
    return found;
}
