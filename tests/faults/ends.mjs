#!/usr/bin/env node
// How the process ends when its disk fails or is full: it says why, and ends with its own exit code; never
// by a signal, and never with a word of health while it takes no writes. ends.mjs
//
// rest: none; README.md "Exit codes", decision: 255

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../crash/client.mjs';
import { Server } from '../lib/server.mjs';
import { makeDisk } from './disks.mjs';
import { Shim } from './shim.mjs';

const STORE_FAILED = 3;
const LIMIT_MS = 60000;
const MIB = 1 << 20;
const SAYS = /a disk write or sync failed/;

const work = mkdtempSync(path.join(tmpdir(), 'lagra-ends-'));
const total = { passed: 0, failed: 0, skipped: 0 };
let folders = 0;

const put = (client, name, size = 100) => client.ask('PUT', `/ends/${name}`,
    { headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.alloc(size, name) });

/** lagra health of a server: its exit code. */
function health(server) {
    const ports = ['blob', 'queue', 'table', 'file'].flatMap((service) => [`--${service}Port`, `${server.ports[service]}`]);

    return spawnSync(process.env.LAGRA_BINARY, ['health', ...ports]).status;
}

async function within(promise, what) {
    const over = Symbol('over');
    const got = await Promise.race([promise, delay(LIMIT_MS, over, { ref: false })]);

    assert.notEqual(got, over, `${what} takes too long`);
    return got;
}

/** A server on a folder of its own whose file layer the shim can make fail, with one blob. */
async function begin({ args = [] } = {}) {
    const base = path.join(work, `${++folders}`);
    const location = `${base}-data`;
    const shim = new Shim(mkdtempSync(`${base}-`), location);
    const server = new Server({ location, env: shim.env, args });

    server.location = location;
    await server.restart();
    const client = new Client(server);
    assert.equal((await client.ask('PUT', '/ends?restype=container')).status, 201);
    assert.equal((await put(client, 'before')).status, 201);
    return { server, shim, client };
}

async function canRead(server) {
    const client = new Client(server);

    assert.equal((await client.ask('GET', '/ends/before')).status, 200);
    client.close();
}

/** The fault, then a write, which may get no answer. */
async function fail({ shim, client }, fault) {
    shim.arm({ nth: 1, forEver: false, fault: 'EIO', ...fault });
    return put(client, 'lost', 100000).catch(() => null);
}

async function finish({ server, shim }) {
    await server.kill();
    shim.close();
}

const CASES = {
    /* It stayed up once, and was healthy. */
    ...Object.fromEntries([['a sync of the log', { call: 'sync', kind: 'log' }], ['a write of the log', { call: 'write', kind: 'log' }],
        ['a sync of an extent', { call: 'sync', kind: 'extent' }]].map(([what, fault]) => [`${what} fails: the process ends`, async () => {
        const one = await begin();

        assert.equal(health(one.server), 0);
        await fail(one, fault);
        const how = await within(one.server.ended(), 'the end');
        assert.deepEqual(how, { code: STORE_FAILED, signal: null });
        assert.match(one.server.stderr, SAYS);
        one.shim.disarm();
        await one.server.restart();
        await canRead(one.server);
        await one.server.stop({ keep: true });
        await finish(one);
    }])),

    async 'with --keepReading it stays up for reads, and is not healthy'() {
        const one = await begin({ args: ['--keepReading'] });
        const { server } = one;

        await fail(one, { call: 'sync', kind: 'log' });
        const client = new Client(server);
        assert.equal((await put(client, 'after')).status, 500);
        client.close();
        await canRead(server);
        assert.equal(health(server), 1);
        await assert.rejects(server.stop({ keep: true }), new RegExp(`exit code ${STORE_FAILED}`));
        assert.match(server.stderr, SAYS);
        one.shim.disarm();
        await server.restart();
        assert.equal(health(server), 0);
        await finish(one);
    },

    /* RocksDB calls again on a file whose write failed, and asserts that nobody does. */
    ...Object.fromEntries([['a start', 'info'], ['SIGTERM', 'log']].map(([what, kind]) => [`no room for what RocksDB writes at ${what}: no abort`, async () => {
        const one = await begin();
        const { server, shim } = one;

        if (kind === 'info')
            await server.stop({ keep: true });
        shim.arm({ call: 'write', kind, nth: 1, fault: 'ENOSPC', forEver: true });
        if (kind === 'log')
            await put(one.client, 'lost').catch(() => null);
        const failed = kind === 'info' ? server.restart() : server.stop({ keep: true });
        await assert.rejects(failed, new RegExp(`exit code ${STORE_FAILED}`));
        assert.match(server.stderr, SAYS);
        shim.disarm();
        await server.restart();
        await canRead(server);
        await finish(one);
    }])),

    async 'a reserve that is too small is refused with the number'() {
        const { status, stderr } = spawnSync(process.env.LAGRA_BINARY,
            ['--location', path.join(work, 'reserve'), '--diskReserve', '3'], { encoding: 'utf8' });

        assert.equal(status, 1);
        assert.match(stderr, /reserve of 3 MiB.*12 MiB is the least/);
    },
};

/** A server on a disk of its own that is full to the last byte at some moment. */
async function onFullDisk(size, run) {
    const disk = makeDisk(mkdtempSync(path.join(work, 'disk-')), size);
    const server = new Server({ location: disk.location, env: disk.env });

    server.location = disk.location;
    try {
        await run(server, disk);
    } finally {
        await server.kill();
        disk.close();
    }
}

const DISKS = {
    async 'a disk that is too small is refused with the number'() {
        await onFullDisk(32 * MIB, async (server) => {
            await assert.rejects(server.restart(), /exit code 1[^]*48 are needed/);
        });
    },

    async 'SIGTERM on a disk that others have filled'() {
        await onFullDisk(100 * MIB, async (server, disk) => {
            await server.restart();
            const client = new Client(server);
            await client.ask('PUT', '/ends?restype=container');
            for (let i = 0; i < 200; i++)
                assert.equal((await put(client, `b${i}`, 10000)).status, 201);
            disk.fill();
            /* Deletes until one meets the end of the disk, or all is deleted. */
            const answers = [];
            try {
                for (let i = 0; i < 200; i++)
                    answers.push((await client.ask('DELETE', `/ends/b${i}`)).status);
            } catch {
                answers.push('gone');
            }
            if (answers.at(-1) === 'gone') {
                assert.deepEqual(await within(server.ended(), 'the end'), { code: STORE_FAILED, signal: null });
            } else {
                await server.stop({ keep: true }).catch((error) => assert.match(error.message, new RegExp(`exit code ${STORE_FAILED}`)));
            }
        });
    },

    async 'a start on a disk that others have filled'() {
        await onFullDisk(100 * MIB, async (server, disk) => {
            await server.restart();
            const client = new Client(server);
            await client.ask('PUT', '/ends?restype=container');
            for (let i = 0; i < 300; i++)
                await put(client, `b${i}`, 10000);
            await server.kill();
            disk.fill();
            /* The ballast may do; once that is gone too, it is refused. */
            let starts = 0;
            for (; starts < 10; starts++) {
                try {
                    await server.restart();
                } catch (error) {
                    assert.match(error.message, /ended while starting \(exit code [13]\)/);
                    assert.match(error.message, /KiB have to be free/);
                    break;
                }
                await server.kill();
                disk.fill();
            }
            assert.ok(starts < 10, 'it starts on a disk without a byte');
            disk.empty();
            await server.restart();
            const again = new Client(server);
            assert.equal((await again.ask('GET', '/ends/b299')).status, 200);
            again.close();
            await server.stop({ keep: true });
        });
    },
};

async function runAll(cases) {
    for (const [name, run] of Object.entries(cases))
        try {
            await run();
            total.passed++;
        } catch (error) {
            total.failed++;
            console.log(`FAILED ${name}: ${error.stack}`);
        }
}

const probe = new Shim(mkdtempSync(path.join(work, 'probe-')), path.join(work, 'none'));
if (probe.isTaken)
    await runAll({ ...CASES, ...DISKS });
else
    total.skipped += Object.keys(CASES).length + Object.keys(DISKS).length;
probe.close();
rmSync(work, { recursive: true, force: true });
console.log(`ends: ${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`);
process.exit(total.failed === 0 ? 0 : 1);
