// A copy of 1 GiB within the server, durable, beside `cp` of a file of the same size and `sync` of what it
// wrote, on the same file system: in turn, several rounds, the middle of the quotients.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../tests/lib/http.mjs';
import { sign } from '../tests/lib/sign.mjs';
import { ACCOUNT, startLagra } from './targets.mjs';

const HOST = '127.0.0.1';
const ROUNDS = 5; /* odd */
const BLOCKS = 32;
const BLOCK_BYTES = 32 << 20;

const blockId = (i) => Buffer.from(String(i).padStart(4, '0')).toString('base64');
const seconds = (from) => Number(process.hrtime.bigint() - from) / 1e9;
const middle = (values) => [...values].sort((a, b) => a - b)[(values.length - 1) / 2];

class Client {
    #target;
    #connection;

    constructor(target, connection) {
        this.#target = target;
        this.#connection = connection;
    }

    static async open(target) {
        return new Client(target, await Connection.open(HOST, target.port));
    }

    close() {
        this.#connection.close();
    }

    url(name) {
        return `http://${HOST}:${this.#target.port}/${ACCOUNT}/bench/${name}`;
    }

    async ask(method, name, headers = {}, body = Buffer.alloc(0)) {
        const answer = await this.#connection.exchange(sign({
            method, target: `/${ACCOUNT}/bench/${name}`,
            headers: [['Host', `${HOST}:${this.#target.port}`], ['Content-Length', `${body.length}`], ...Object.entries(headers)],
        }), body);

        if (answer.status >= 300)
            throw new Error(`${method} ${name}: ${answer.status} ${answer.body}`);
        return answer;
    }

    async fill() {
        const block = Buffer.alloc(BLOCK_BYTES);

        for (let at = 0; at < block.length; at += 4)
            block.writeUInt32LE(Math.imul(at + 1, 2654435761) >>> 0, at);
        for (let i = 0; i < BLOCKS; i++)
            await this.ask('PUT', `source?comp=block&blockid=${encodeURIComponent(blockId(i))}`, {}, block);
        const ids = Array.from({ length: BLOCKS }, (_, i) => `<Latest>${blockId(i)}</Latest>`).join('');
        await this.ask('PUT', 'source?comp=blocklist', {}, Buffer.from(`<BlockList>${ids}</BlockList>`));
    }

    /** Seconds until the copy is there. */
    async copy() {
        const from = process.hrtime.bigint();
        let { headers } = await this.ask('PUT', 'copy', { 'x-ms-copy-source': this.url('source') });

        while (headers.get('x-ms-copy-status') === 'pending') {
            await delay(5);
            ({ headers } = await this.ask('HEAD', 'copy'));
        }
        if (headers.get('x-ms-copy-status') !== 'success')
            throw new Error(`the copy is ${headers.get('x-ms-copy-status')}`);
        const taken = seconds(from);
        await this.ask('DELETE', 'copy');
        return taken;
    }
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
        const client = await Client.open(target);

        try {
            await createContainer(target, 'bench');
            await client.fill();
            const rounds = [];
            for (let i = 0; i < ROUNDS; i++)
                rounds.push({ ours: await client.copy(), cp: copyFile(file) });
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
