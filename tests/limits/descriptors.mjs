// All descriptors that clients can take are taken, and the store still opens whatever it needs.

import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Connection } from '../lib/http.mjs';
import { Server } from '../lib/server.mjs';
import { ask, closeAll, CONTAINER, createContainer, honest, putBlob, signed } from './clients.mjs';

const OPEN_FILES = 800;
const SMALL_TABLES = { LAGRA_WRITE_BUFFER_BYTES: `${256 << 10}` };
/* Of what store_descriptors() sets aside, what a store with few records does not have open yet. */
const KEPT = 400;
const READERS = 30;
const LARGE_BYTES = 4 << 20;

/** Runs use(server) on a server that may have so many files open, and no more. */
async function withOpenFiles({ binary }, count, use) {
    const work = mkdtempSync(path.join(tmpdir(), 'lagra-files-'));
    const limited = path.join(work, 'limited');

    writeFileSync(limited, `#!/bin/sh\nulimit -n ${count} && exec "${path.resolve(binary)}" "$@"\n`);
    chmodSync(limited, 0o755);
    const server = await Server.start({ binary: limited, env: SMALL_TABLES });
    try {
        await createContainer(server);
        await use(server);
    } finally {
        await server.stop();
        rmSync(work, { recursive: true, force: true });
    }
}

/** As many connections to each service as it takes and more, some of them readers of a large blob that
 * take only its beginning. */
async function crowd(server) {
    const connections = [];

    for (const port of Object.values(server.ports))
        for (let i = 0; i < OPEN_FILES / 2; i++)
            connections.push(await Connection.open(server.host, port).catch(() => null));
    for (let i = 0; i < READERS; i++) {
        const reader = await Connection.open(server.host, server.port).catch(() => null);
        await reader?.request(signed(server, 'GET', `${CONTAINER}/large`)).catch(() => null);
        connections.push(reader);
    }
    return connections.filter(Boolean);
}

/** Writes until RocksDB has flushed, compacted and begun new logs many times. Returns how many tables and
 * logs it had made by then. */
async function writeMuch(server, rounds) {
    const body = Buffer.alloc(8000, 'records');

    for (let round = 0; round < rounds; round++)
        for (let i = 0; i < 50; i++) {
            const answer = await ask(server, putBlob(server, `${CONTAINER}/small-${i}`, body.length), body);

            if (answer.status !== 201)
                throw new Error(`Put Blob ${i} of round ${round}: ${answer.status}\n${server.stderr}`);
        }
    return Math.max(...readdirSync(path.join(server.location, 'records'))
        .map((name) => Number(/^(\d+)\.(?:sst|log)$/.exec(name)?.[1] ?? 0)));
}

/** RocksDB flushes, compacts and begins logs, which it cannot go on after if it fails, while clients hold
 * every descriptor that they can get. docs/faults.md e */
export async function no_crowd_takes_the_stores_descriptors(context) {
    const { assert } = context;

    await withOpenFiles(context, OPEN_FILES, async (server) => {
        const large = Buffer.alloc(LARGE_BYTES, 'large');

        assert.equal((await ask(server, putBlob(server, `${CONTAINER}/large`, large.length), large)).status, 201);
        const connections = await crowd(server);
        try {
            const open = readdirSync(`/proc/${server.pid}/fd`).length;

            assert.ok(open > OPEN_FILES / 4, `only ${open}: no crowd`);
            assert.ok(open <= OPEN_FILES - KEPT, `${open} are open before the store needs any`);
            assert.ok(await writeMuch(server, context.soak ? 200 : 20) > 40);
            await honest(server);
            assert.doesNotMatch(server.stderr, /Too many open files/);
        } finally {
            closeAll(connections);
        }
        await honest(server);
    });
}
