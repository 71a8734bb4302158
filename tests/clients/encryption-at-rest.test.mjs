// Encryption at rest (--encryptionKey): no file of the data directory contains what clients have written; the server starts with its
// key only; the key is rotated, also when each attempt is killed; backups, restores, salvage and checks. decisions: 1425, 1455, 1456
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once as event } from 'node:events';
import { chmod, cp, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { ShareServiceClient } from '@azure/storage-file-share';
import { QueueServiceClient } from '@azure/storage-queue';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { account } from './setup.mjs';

const MARKER = 'what-no-file-may-contain-5f1c';
const newKey = () => randomBytes(32).toString('base64');
const old = newKey(), current = newKey();

let folder, keyFile;
before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lagra-at-rest-'));
    keyFile = join(folder, 'key');
});
after(() => rm(folder, { recursive: true, force: true }));

const setKeys = (...keys) => writeFile(keyFile, `# keys of the test\n${keys.join('\n')}\n`, { mode: 0o600 });

/** The files below a folder that contain the text or the bytes. grep skips the holes of extents. */
async function filesWith(where, what) {
    const pattern = [...Buffer.from(what)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
    const grep = spawn('grep', ['-rlP', pattern, where], { env: { LC_ALL: 'C', PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'inherit'] });
    let names = '';
    grep.stdout.on('data', (text) => {
        names += text;
    });
    await event(grep, 'close');
    return names.split('\n').filter(Boolean);
}

const big = Buffer.alloc((5 << 20) + 12345, `${MARKER} in a piece. `);
const fileText = Buffer.alloc(200000, `${MARKER} in a file. `);
const clientsOf = (server) => ({
    container: BlobServiceClient.fromConnectionString(server.connectionString).getContainerClient('box'),
    queue: QueueServiceClient.fromConnectionString(server.connectionString).getQueueClient('line'),
    table: new TableClient(server.urlOf('table'), 'rows', new AzureNamedKeyCredential(account.name, account.key), { allowInsecureConnection: true }),
    share: ShareServiceClient.fromConnectionString(server.connectionString).getShareClient('share'),
});

async function writeAll(server) {
    const { container, queue, table, share } = clientsOf(server);
    await Promise.all([container.create({ metadata: { of: MARKER } }), queue.create(), table.createTable(), share.create()]);
    await container.getBlockBlobClient('big').upload(big, big.length, { metadata: { of: MARKER } });
    await container.getBlockBlobClient('small').upload(MARKER, MARKER.length, { metadata: { of: MARKER } });
    const page = container.getPageBlobClient('page');
    await page.create(1 << 20);
    await page.uploadPages(Buffer.alloc(65536, MARKER), 131072, 65536);
    await (await container.getBlockBlobClient('copy').beginCopyFromURL(container.getBlockBlobClient('big').url, { intervalInMs: 20 })).pollUntilDone();
    await queue.sendMessage(MARKER);
    await table.createEntity({ partitionKey: 'p', rowKey: 'r', text: MARKER });
    const file = share.getDirectoryClient('').getFileClient('file');
    await file.create(fileText.length, { metadata: { of: MARKER } });
    await file.uploadRange(fileText, 0, fileText.length);
}

async function readAll(server) {
    const { container, queue, table, share } = clientsOf(server);
    for (const name of ['big', 'copy']) {
        assert.ok((await container.getBlockBlobClient(name).downloadToBuffer()).equals(big), name);
        const range = await container.getBlockBlobClient(name).downloadToBuffer(4 << 20, 70001);
        assert.ok(range.equals(big.subarray(4 << 20, (4 << 20) + 70001)), `a range of ${name}`);
    }
    assert.equal((await container.getBlockBlobClient('big').getProperties()).metadata.of, MARKER);
    assert.equal((await container.getBlockBlobClient('small').downloadToBuffer()).toString(), MARKER);
    assert.ok((await container.getPageBlobClient('page').downloadToBuffer(131000, 66000)).equals(
        Buffer.concat([Buffer.alloc(72), Buffer.alloc(65536, MARKER), Buffer.alloc(392)])));
    assert.equal((await queue.peekMessages()).peekedMessageItems[0].messageText, MARKER);
    assert.equal((await table.getEntity('p', 'r')).text, MARKER);
    assert.ok((await share.getDirectoryClient('').getFileClient('file').downloadToBuffer()).equals(fileText));
}

/** The server on a copy of the data directory does not start, and says why. */
async function startFails(location, args, why) {
    await assert.rejects(Server.start({ location, args }), (error) => {
        assert.match(error.message, why);
        for (const key of [old, current])
            assert.ok(!error.message.includes(key.slice(0, 12)), 'no message contains a key');
        return true;
    });
}

test('what clients write reaches no file, log or core in plain; without encryption it does', async () => {
    await setKeys(old);
    const server = await Server.start({ args: ['--encryptionKey', keyFile] });
    const plain = await Server.start();
    await Promise.all([writeAll(server), writeAll(plain)]);
    await Promise.all([readAll(server), readAll(plain)]);
    assert.notDeepEqual(await filesWith(plain.location, MARKER), [], 'the search finds what is there');
    assert.deepEqual(await filesWith(server.location, MARKER), []);
    await server.kill();
    assert.deepEqual(await filesWith(server.location, MARKER), [], 'after a kill');
    await server.restart();
    await readAll(server);
    assert.deepEqual(await filesWith(server.location, MARKER), [], 'after a start, which writes the log to tables');
    for (const key of [old, Buffer.from(old, 'base64')])
        assert.deepEqual(await filesWith(server.location, key), []);
    assert.ok(!server.stderr.includes(old));
    assert.match(await readFile(`/proc/${server.pid}/limits`, 'latin1'), /Max core file size +1 /, 'no core dumps');
    await plain.stop();
    await server.stop();
});

/** Whether the memory of a process that it may write contains one of these. */
async function isInMemory(pid, wanted) {
    const memory = await open(`/proc/${pid}/mem`);
    let found = false;
    for (const line of (await readFile(`/proc/${pid}/maps`, 'latin1')).split('\n')) {
        const range = line.match(/^([0-9a-f]+)-([0-9a-f]+) rw/);
        for (let at = range ? parseInt(range[1], 16) : 0, end = range ? parseInt(range[2], 16) : 0; at < end; at += 1 << 20) {
            const chunk = Buffer.alloc(Math.min((1 << 20) + 64, end - at));
            await memory.read(chunk, 0, chunk.length, at).catch(() => {});
            found ||= wanted.some((bytes) => chunk.includes(bytes));
        }
    }
    await memory.close();
    return found;
}

test('the master key is wiped from memory once the data directory is open', async () => {
    await setKeys(old);
    const server = await Server.start({ args: ['--encryptionKey', keyFile] });
    assert.ok(await isInMemory(server.pid, [Buffer.from('Lagra')]), 'the search finds what is there');
    assert.ok(!(await isInMemory(server.pid, [Buffer.from(old), Buffer.from(old, 'base64')])));
    await server.stop();
});

test('a missing or wrong key, and a directory that is not encrypted, are refused', async () => {
    await setKeys(old);
    const server = await Server.start({ args: ['--encryptionKey', keyFile] });
    await writeAll(server);
    await server.stop({ keep: true });
    const { location } = server;
    await startFails(location, [], /it is encrypted: name the file with the key [0-9a-f]{16} in --encryptionKey/);
    await setKeys(current);
    await startFails(location, ['--encryptionKey', keyFile], /it is encrypted with the key [0-9a-f]{16}, which the file of --encryptionKey does not contain/);
    await setKeys(old);
    await chmod(keyFile, 0o644);
    await startFails(location, ['--encryptionKey', keyFile], /other users may read or change it/);
    await chmod(keyFile, 0o600);
    await startFails(location, ['--encryptionKey', join(folder, 'none')], /No such file/);
    const inside = join(location, 'key');
    await cp(keyFile, inside);
    await startFails(location, ['--encryptionKey', inside], /must not be in the data directory/);
    await rm(inside);
    await startFails(location, ['--encryptionKey', keyFile, '--inMemoryPersistence'], /has no effect with --inMemoryPersistence/);
    await server.restart();
    await readAll(server);
    await server.stop();

    const plain = await Server.start();
    await plain.stop({ keep: true });
    await startFails(plain.location, ['--encryptionKey', keyFile], /it is not encrypted, and --encryptionKey encrypts only new data directories/);
    await plain.restart();
    await plain.stop();
});

test('the key is rotated by a start, however many attempts are killed, and the old one is useless then', async () => {
    await setKeys(old);
    const server = await Server.start({ args: ['--encryptionKey', keyFile] });
    await writeAll(server);
    await server.kill();
    await setKeys(current, old);
    for (let ms = 0; ms < 40; ms += 4) {
        const start = server.restart().catch(() => {});
        await delay(ms);
        await server.kill().catch(() => {});
        await start;
        await server.kill().catch(() => {});
    }
    await server.restart();
    await readAll(server);
    await server.stop({ keep: true });
    await setKeys(old);
    await assert.rejects(server.restart(), /it is encrypted with the key/);
    await setKeys(current);
    await server.restart();
    await readAll(server);
    await server.stop();
});

test('backups are encrypted and restored, in part with their key; check and salvage need it', async () => {
    await setKeys(old);
    const args = ['--encryptionKey', keyFile];
    const server = await Server.start({ args });
    const backups = join(folder, 'backups'), restored = join(folder, 'restored'), saved = join(folder, 'saved');
    await writeAll(server);
    const program = async (words, status = 0) => {
        const ended = await run(words, {}, 60000);
        assert.equal(ended.code, status, `${words.join(' ')}: ${ended.output}${ended.errors}`);
        return `${ended.output}${ended.errors}`;
    };
    await program(['backup', backups, '--rate', '0', '--location', server.location]);
    await program(['backup', 'verify', backups]);
    assert.deepEqual(await filesWith(backups, MARKER), []);

    await clientsOf(server).container.getBlockBlobClient('big').upload('changed', 7);
    const restore = ['restore', 'container', backups, 'box', '--as', 'again', '--location', server.location];
    assert.match(await program(restore, 1), /it is encrypted/);
    await program([...restore, ...args]);
    const again = BlobServiceClient.fromConnectionString(server.connectionString).getContainerClient('again');
    assert.ok((await again.getBlockBlobClient('big').downloadToBuffer()).equals(big));
    assert.deepEqual(await filesWith(server.location, MARKER), []);
    await server.stop({ keep: true });

    await program(['backup', 'restore', backups, restored]);
    assert.match(await program(['check', restored], 1), /it is encrypted/);
    assert.match(await program(['check', ...args, restored]), /damaged or lost: 0/);
    assert.match(await program(['check', ...args, '--salvage', restored, saved]), /damaged or lost: 0/);
    for (const location of [restored, saved]) {
        const copy = await Server.start({ location, args });
        await readAll(copy);
        await copy.stop({ keep: true });
    }
    await server.remove();
});

test('a byte that is damaged in a piece is noticed', async () => {
    await setKeys(old);
    const server = await Server.start({ args: ['--encryptionKey', keyFile] });
    await writeAll(server);
    await server.kill();
    const [extent] = await readdir(join(server.location, 'extents'));
    const file = await open(join(server.location, 'extents', extent), 'r+');
    const { size } = await file.stat();
    const byte = Buffer.alloc(1);
    for (let at = 70000; at < Math.min(size, 20 << 20); at += 1 << 20) {
        await file.read(byte, 0, 1, at);
        byte[0] ^= 1;
        await file.write(byte, 0, 1, at);
    }
    await file.close();
    await server.restart();
    await assert.rejects(clientsOf(server).container.getBlockBlobClient('big').downloadToBuffer(0, undefined, { maxRetryRequestsPerBlock: 0 }));
    assert.match(server.stderr, /damaged bytes in extent|cannot be decrypted/);
    await server.stop({ keep: true }).catch(() => {});
    await server.remove();
});
