// The system calls of a server of another architecture, as QEMU's emulation of a process writes them down, held against
// the sandbox's list: calls.mjs PROGRAM LIST.c. PROGRAM is to run the server with -strace.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

const require = createRequire(new URL('../clients/', import.meta.url));
const { BlobServiceClient, StorageSharedKeyCredential } = require('@azure/storage-blob');
const { QueueServiceClient } = require('@azure/storage-queue');

/* Of which the filter lets a part pass. */
const PARTS = ['clone', 'socket', 'ioctl', 'cachestat'];
/* What the C library does without where a kernel has none. */
const NOT_NEEDED = ['clone3'];

const [binary, list] = process.argv.slice(2);
const folder = mkdtempSync(path.join(tmpdir(), 'lagra-calls-'));
const log = path.join(folder, 'calls');

async function use(server) {
    const credential = new StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key);
    const container = new BlobServiceClient(server.url, credential).getContainerClient('calls');
    const queue = new QueueServiceClient(server.urlOf('queue'), credential).getQueueClient('calls');
    const large = Buffer.alloc(5 << 20, 'large');

    await container.create();
    await container.getBlockBlobClient('small').upload('hello', 5);
    await container.getBlockBlobClient('large').upload(large, large.length);
    if (!(await container.getBlobClient('large').downloadToBuffer()).equals(large))
        throw new Error('the blob is another one');
    for await (const { name } of container.listBlobsFlat())
        await container.deleteBlob(name);
    await queue.create();
    await queue.sendMessage('hello');
    await queue.receiveMessages();
}

try {
    const server = await Server.start({ binary, env: { QEMU_LOG_FILENAME: log } });
    await use(server);
    await server.stop({ keep: true });
    await server.restart();
    await server.stop();
    const called = new Set([...readFileSync(log, 'latin1').matchAll(/^\d+ ([a-z_][a-z0-9_]*)\(/gm)].map(([, name]) => name));
    const allowed = new Set([...PARTS, ...NOT_NEEDED, ...[...readFileSync(list, 'utf8').matchAll(/"([a-z][a-z0-9_]+)"/g)].map(([, name]) => name)]);
    const others = [...called].filter((name) => !allowed.has(name));

    console.log(`${called.size} system calls: ${[...called].sort().join(' ')}`);
    if (called.size < 40)
        throw new Error('these are too few: was there no trace?');
    if (others.length > 0)
        throw new Error(`not in the sandbox's list: ${others.join(' ')}`);
} finally {
    rmSync(folder, { recursive: true, force: true });
}
