// What the tests of clients share: the account, a container, a tree of files, running a program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
    AccountSASPermissions, BlobServiceClient, generateAccountSASQueryParameters,
    StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { killAndRestart, startKillable } from '../lib/killed.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

export const url = process.env.LAGRA_TEST_URL;
export const fileUrl = process.env.LAGRA_TEST_FILE_URL;
export const account = { name: DEVELOPMENT.account, key: DEVELOPMENT.key };
export const credential = new StorageSharedKeyCredential(account.name, account.key);
export const connectionString = 'DefaultEndpointsProtocol=http;' +
    `AccountName=${account.name};AccountKey=${account.key};BlobEndpoint=${url};FileEndpoint=${fileUrl};`;
/** Options of the SDK that carry a client over a restart; tables refuse plain HTTP unless told otherwise. */
const QUICK = { retryDelayInMs: 20, maxRetryDelayInMs: 200 };
export const blobRetries = { retryOptions: { ...QUICK, maxTries: 20 } };
export const tableRetries = { allowInsecureConnection: true, retryOptions: { ...QUICK, maxRetries: 20 } };
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

/** Runs a program to its end; throws with all that it said unless it exits 0. onLine: is called with
 *  each line of its standard output. */
export async function run(program, args, env = {}, onLine = () => {}) {
    const child = spawn(program, args,
        { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120000 });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text) => {
            output += text;
        });
    createInterface({ input: child.stdout }).on('line', onLine);
    const [code, signal] = await once(child, 'close');
    if (code !== 0)
        throw new Error(`${program} ${args.join(' ')}: ${signal ?? code}\n${output}`);
    return output;
}

/** Runs a program of this folder against a server of the test's own, at AZURE_STORAGE_CONNECTION_STRING.
 *  When it prints the line "kill", the server is killed and started again, while the program goes on. */
export async function runThroughKills(t, interpreter, name, kills) {
    const server = await startKillable(t);
    const env = { AZURE_STORAGE_CONNECTION_STRING: server.connectionString };
    let killed = 0, restarted = Promise.resolve();
    await run(interpreter, [fileURLToPath(new URL(name, import.meta.url))], env, (line) => {
        if (line === 'kill') {
            killed++;
            restarted = restarted.then(() => killAndRestart(server));
        }
    });
    await restarted;
    assert.equal(killed, kills, 'how often the program asked for a kill');
}

/** Throws unless two folders hold the same. */
export const same = (one, other) => run('diff', ['-r', one, other]);

export async function names(container, prefix = '') {
    const found = [];
    for await (const { name } of container.listBlobsFlat({ prefix }))
        found.push(name);
    return found;
}

/** Waits until what() is true. */
export async function until(what, seconds = 30) {
    for (const end = Date.now() + seconds * 1000; !(await what()); await delay(50))
        assert.ok(Date.now() < end, 'it takes too long');
}
