// Writes beside a backup that runs all the time, and without one: in turn, several rounds, the middle of the
// quotients. The store has 1 GiB; every backup copies all of it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { Client } from './client.mjs';
import { middle } from './process.mjs';
import { startLagra } from './targets.mjs';

const ROUNDS = 5; /* odd */
const KiB = 1024;
const BLOCKS = 32;
const BLOCK_BYTES = 32 << 20;
const CONNECTIONS = 32;
const WORKS = [{ name: 'PUT 1 KiB', work: 'put', size: KiB }, { name: 'PUT 64 KiB', work: 'put', size: 64 * KiB }];

const blockId = (i) => Buffer.from(String(i).padStart(4, '0')).toString('base64');

async function fill(client) {
    const block = Buffer.alloc(BLOCK_BYTES);

    for (let at = 0; at < block.length; at += 4)
        block.writeUInt32LE(Math.imul(at + 1, 2654435761) >>> 0, at);
    for (let i = 0; i < BLOCKS; i++)
        await client.ask('PUT', `stored?comp=block&blockid=${encodeURIComponent(blockId(i))}`, {}, block);
    const ids = Array.from({ length: BLOCKS }, (_, i) => `<Latest>${blockId(i)}</Latest>`).join('');
    await client.ask('PUT', 'stored?comp=blocklist', {}, Buffer.from(`<BlockList>${ids}</BlockList>`));
}

/** Backs up again and again until stop() is called. */
function backingUp(binary, location, to, words) {
    let over = false, child = null;
    const work = (async () => {
        while (!over) {
            child = spawn(binary, ['backup', '--location', location, '--full', ...words, to], { stdio: ['ignore', 'ignore', 'inherit'] });
            await once(child, 'close');
            rmSync(to, { recursive: true, force: true });
        }
    })();

    return async () => {
        over = true;
        child?.kill('SIGKILL');
        await work;
    };
}

export async function measureBackup(versions, { folder, createContainer, loadBeside, seconds }) {
    const [{ name, binary }] = versions;
    const target = await startLagra(binary, path.join(folder, 'backup'), { name });
    const location = path.join(folder, 'backup', 'lagra');
    const client = await Client.open(target, 'bench');

    try {
        await createContainer(target, 'bench');
        await fill(client);
        for (const words of [[], ['--rate', '0']])
            for (const { name: what, ...work } of WORKS) {
                const rounds = [];

                for (let i = 0; i < ROUNDS; i++) {
                    const asked = { ...work, connections: CONNECTIONS, seconds: seconds / ROUNDS };
                    const alone = await loadBeside(target, asked);
                    const stop = backingUp(binary, location, path.join(folder, 'backups'), words);
                    const beside = await loadBeside(target, asked);

                    await stop();
                    rounds.push({ alone: alone.per_second, beside: beside.per_second });
                }
                console.log(`\n${what}, ${CONNECTIONS} connections: ${middle(rounds.map(({ alone }) => alone)).toFixed(0)}/s, beside ` +
                    `lagra backup ${words.join(' ')}: ${middle(rounds.map(({ beside }) => beside)).toFixed(0)}/s, ` +
                    `${middle(rounds.map(({ alone, beside }) => beside / alone)).toFixed(2)} of it`);
            }
    } finally {
        client.close();
        await target.stop();
    }
}
