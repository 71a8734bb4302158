// A copy of 1 GiB within the server, durable, beside `cp` of a file of the same size and `sync` of
// what it wrote, on the same file system: in turn, several rounds, the middle of the quotients.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './client.mjs';
import { middle } from './process.mjs';
import { startLagra } from './targets.mjs';

const ROUNDS = 5; /* odd */
const BLOCKS = 32;
const BLOCK_BYTES = 32 << 20;

const blockId = (i) => Buffer.from(String(i).padStart(4, '0')).toString('base64');
const seconds = (from) => Number(process.hrtime.bigint() - from) / 1e9;
async function fill(client) {
    const block = Buffer.alloc(BLOCK_BYTES);

    for (let at = 0; at < block.length; at += 4)
        block.writeUInt32LE(Math.imul(at + 1, 2654435761) >>> 0, at);
    for (let i = 0; i < BLOCKS; i++)
        await client.ask('PUT', `source?comp=block&blockid=${encodeURIComponent(blockId(i))}`, {}, block);
    const ids = Array.from({ length: BLOCKS }, (_, i) => `<Latest>${blockId(i)}</Latest>`).join('');
    await client.ask('PUT', 'source?comp=blocklist', {}, Buffer.from(`<BlockList>${ids}</BlockList>`));
}

/** Seconds until the copy is there. */
async function copy(client) {
    const from = process.hrtime.bigint();
    let { headers } = await client.ask('PUT', 'copy', { 'x-ms-copy-source': client.url('source') });

    while (headers.get('x-ms-copy-status') === 'pending') {
        await delay(5);
        ({ headers } = await client.ask('HEAD', 'copy'));
    }
    if (headers.get('x-ms-copy-status') !== 'success')
        throw new Error(`the copy is ${headers.get('x-ms-copy-status')}`);
    const taken = seconds(from);
    await client.ask('DELETE', 'copy');
    return taken;
}

/** Seconds of cp and sync. */
function copyFile(file) {
    const from = process.hrtime.bigint();

    execFileSync('cp', ['--reflink=never', file, `${file}.copy`]);
    execFileSync('sync', [`${file}.copy`]);
    const taken = seconds(from);
    rmSync(`${file}.copy`);
    return taken;
}

export async function measureCopy(versions, { folder, createContainer }) {
    const file = path.join(folder, 'file');

    execFileSync('dd', ['if=/dev/urandom', `of=${file}`, 'bs=1M', `count=${BLOCKS * BLOCK_BYTES >> 20}`, 'conv=fsync'],
        { stdio: 'ignore' });
    for (const { name, binary } of versions) {
        const target = await startLagra(binary, path.join(folder, `copy-${name}`), { name });
        const client = await Client.open(target, 'bench');

        try {
            await createContainer(target, 'bench');
            await fill(client);
            const rounds = [];
            for (let i = 0; i < ROUNDS; i++)
                rounds.push({ ours: await copy(client), cp: copyFile(file) });
            console.log(`\nCopy Blob of 1 GiB within ${name}: ${middle(rounds.map(({ ours }) => ours)).toFixed(2)} s; ` +
                `cp and sync: ${middle(rounds.map(({ cp }) => cp)).toFixed(2)} s; ` +
                `${middle(rounds.map(({ ours, cp }) => cp / ours)).toFixed(2)} of its speed`);
        } finally {
            client.close();
            await target.stop();
        }
    }
    rmSync(file);
}
