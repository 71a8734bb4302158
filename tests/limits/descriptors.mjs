// All descriptors that clients can take are taken, and the store still opens whatever it needs.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Connection } from '../lib/http.mjs';
import { Server } from '../lib/server.mjs';
import { ask, closeAll, CONTAINER, createContainer, honest, inTime, putBlob, signed, until } from './clients.mjs';

const OPEN_FILES = 800;
const SMALL_TABLES = { LAGRA_WRITE_BUFFER_BYTES: `${256 << 10}` };
/* Of what store_descriptors() sets aside, what a store with few records does not have open yet. */
const KEPT = 400;
/* Fewer than a service accepts connections, 31 if the Data Lake endpoint is served too. */
const READERS = 20;
const LARGE_BYTES = 4 << 20;
const WRITES_MAX = 400;

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
 * every descriptor that they can get. docs/failure-guarantees.md e */
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

/** Overwrites blobs. Notes the body of each PUT that was acknowledged; returns how many were
 *  refused with 503. */
async function writeUntil(server, connection, bodies, isEnough) {
    let refused = 0;

    for (let i = 0; i < WRITES_MAX && !isEnough(); i++) {
        const target = `${CONTAINER}/passing-${i % 40}`;
        const body = Buffer.alloc(8000, `version ${i} `);
        const answer = await inTime(connection.exchange(putBlob(server, target, body.length), body), `PUT ${i}`);

        if (answer.status === 201)
            bodies.set(target, body);
        else if (answer.status === 503)
            refused++;
        else
            throw new Error(`PUT ${i}: ${answer.status}\n${server.stderr}`);
    }
    return refused;
}

/** The limit is lowered while the server runs, so that RocksDB finds no descriptor for a log or a table: writes are
 * refused with 503 and nothing is lost; when there are enough again the server opens its folder anew. decision: 208 */
export async function a_passing_shortage_ends({ binary, assert }) {
    const server = await Server.start({ binary, env: SMALL_TABLES });
    const bodies = new Map();
    const starves = () => server.stderr.includes('commits are refused');
    const { pid } = server;

    try {
        await createContainer(server);
        const connection = await Connection.open(server.host, server.port);
        await writeUntil(server, connection, bodies, () => bodies.size === 40);
        execFileSync('prlimit', ['--pid', `${pid}`, '--nofile=10:']);
        const refused = await writeUntil(server, connection, bodies, starves);
        assert.ok(starves(), `RocksDB lacked nothing; ${refused} PUTs were refused`);
        await until(() => server.stderr.includes('reopening the data directory'), 'the server does not open its folder again');
        connection.close();
        await until(() => honest(server).then(() => true, () => false), 'the server does not recover');
        for (const [target, body] of bodies)
            assert.ok((await ask(server, signed(server, 'GET', target))).body.equals(body), `${target} is not as acknowledged`);
        assert.equal(server.pid, pid);
    } finally {
        await server.stop();
    }
}
