// Starts with too little of what a start takes: a message and exit code 1, or a server that works.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Shim } from '../faults/shim.mjs';
import { keepsMemory } from '../lib/sanitizer.mjs';
import { Server } from '../lib/server.mjs';
import { createContainer, honest } from './clients.mjs';

const CLEAN = /\(exit code 1\)[^]*^lagra: /m;

/** Starts a server. Returns whether it did, and worked; what ended otherwise than by a message
 *  throws. */
async function starts(options) {
    const server = new Server(options);

    server.location = options.location;
    try {
        await server.restart();
    } catch (error) {
        if (!CLEAN.test(error.message))
            throw error;
        return false;
    }
    await createContainer(server);
    await honest(server);
    await server.stop({ keep: true });
    return true;
}

/** Runs use(work folder) in a folder of its own. */
async function inFolder(use) {
    const work = mkdtempSync(path.join(tmpdir(), 'lagra-start-'));

    try {
        return await use(work);
    } finally {
        rmSync(work, { recursive: true, force: true });
    }
}

/** Starts under `ulimit OPTION VALUE` for each of the values, each in a folder of its own. */
async function startsUnder({ binary }, option, values) {
    const results = [];

    for (const value of values)
        results.push(await inFolder(async (work) => {
            const limited = path.join(work, 'limited');

            writeFileSync(limited, `#!/bin/sh\nulimit ${option} ${value} && exec "${path.resolve(binary)}" "$@"\n`);
            chmodSync(limited, 0o755);
            return starts({ binary: limited, location: path.join(work, 'data') });
        }));
    return results;
}

/** With the least it does not start, with the most it does. */
function assertWalked({ assert }, results) {
    assert.equal(results[0], false);
    assert.equal(results.at(-1), true);
}

/** Address space, from what the loader and the libraries' own beginnings need up to plenty. */
export async function little_address_space(context) {
    const step = context.soak ? 10 : 60;
    const sizes = Array.from({ length: Math.ceil(760 / step) }, (_, i) => (56 + i * step) * 1024);

    if (!keepsMemory(context.binary)) /* a shadow of all memory needs terabytes of it */
        assertWalked(context, await startsUnder(context, '-v', [...sizes, 4096 * 1024]));
}

/** Descriptors: fewer than the libraries' own, fewer than the store's, too few for connections,
 *  enough. */
export async function few_open_files(context) {
    assertWalked(context, await startsUnder(context, '-n', [8, 12, 16, 24, 32, 48, 64, 100, 150, 300, 1000]));
}

/** From the nth on no thread can be started. */
export async function few_threads(context) {
    const { assert, binary, soak } = context;

    await inFolder(async (work) => {
        const location = path.join(work, 'data');
        const shim = new Shim(work, location);

        if (!shim.isTaken)
            return;
        for (let nth = 1; nth <= 26; nth += soak ? 1 : 5) {
            shim.reset();
            shim.arm({ call: 'thread', kind: 'folder', nth, fault: 'EAGAIN', forEver: true });
            assert.equal(await starts({ binary, location, env: shim.env }), false, `thread ${nth}`);
        }
        shim.reset();
        assert.equal(await starts({ binary, location, env: shim.env }), true);
        shim.close();
    });
}
