#!/usr/bin/env node
// The SMB client of the Linux kernel, in User-Mode Linux: what it does is in guest.sh.
// LAGRA_BINARY names the server. The last line is the count.
//
//   linux.mjs [--seed N]    of the random operations

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Connection } from '../lib/http.mjs';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const SHARE = 'linux';
const LIMIT_S = 1200;
/* Without sha512 the client hashes 3.1.1's negotiation to zeros, and is refused. */
const MODULES = `fs/smb/client/cifs fs/nls/nls_utf8 ${['sha512_generic', 'cmac', 'ccm', 'gcm', 'ghash-generic', 'ctr', 'ecb', 'hmac']
    .map((name) => `crypto/${name}`).join(' ')}`;
const CHECKS = 10; /* of guest.sh */

const { values: options } = parseArgs({ options: { seed: { type: 'string', default: '1' } } });

async function ask(server, method, name, query, headers = [], body = '') {
    const connection = await Connection.open(server.host, server.ports.file);
    const target = `/${server.account}/${SHARE}${name}${query}`;
    const request = sign({ method, target, headers: [['Host', `${server.host}:${server.ports.file}`],
        ['Content-Length', `${body.length}`], ...headers] });

    try {
        return await connection.exchange(request, Buffer.from(body));
    } finally {
        connection.close();
    }
}

async function must(...args) {
    const answer = await ask(...args);

    assert.equal(answer.status, 201, `${args[1]} ${args[2]}: ${answer.status} ${answer.body}`);
}

/** Sees what the mounts have written, and writes what they wait for. */
async function restClient(server, isOver) {
    let answer = null;

    while (!isOver() && answer?.body.toString() !== 'one\ntwo\n') {
        await delay(200);
        answer = await ask(server, 'GET', '/moved', '');
    }
    if (isOver())
        return;
    await must(server, 'PUT', '/from-rest', '', [['x-ms-type', 'file'], ['x-ms-content-length', '5'],
        ['x-ms-file-attributes', 'None'], ['x-ms-file-permission', 'inherit'], ['x-ms-file-creation-time', 'now'],
        ['x-ms-file-last-write-time', 'now']]);
    await must(server, 'PUT', '/from-rest', '?comp=range', [['x-ms-range', 'bytes=0-4'], ['x-ms-write', 'update']], 'rest\n');
}

/** Runs guest.sh; prints what it says from the first check on, and counts. */
async function runGuest(server, folder) {
    const script = path.join(folder, 'script');
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const settings = { PORT: server.ports.smb, FILE_PORT: server.ports.file, ACCOUNT: DEVELOPMENT.account,
        KEY: DEVELOPMENT.key, SHARE, HERE, SEED: options.seed, SOURCE: path.resolve(HERE, '../../src') };

    writeFileSync(script, Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`).join('') +
        `. '${path.join(HERE, 'guest.sh')}'\n`);
    const child = spawn(path.join(HERE, '../lib/uml'), [script, `${LIMIT_S}`],
        { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, UML_MODULES: MODULES } });
    let isOver = false;
    const rest = restClient(server, () => isOver).catch((error) => {
        counts.failed++;
        console.log(`not ok: REST: ${error.message}`);
    });
    let hasBegun = false, lastLine = '';

    for await (const line of createInterface({ input: child.stdout })) {
        hasBegun ||= line.startsWith('SLiRP Ready');
        if (hasBegun)
            console.log(line.trimEnd());
        if (line.startsWith('ok: '))
            counts.passed++;
        if (line.startsWith('not ok: '))
            counts.failed++;
        lastLine = line.trimEnd();
    }
    isOver = true;
    await rest;
    if (!hasBegun) {
        console.log(`skipped: User-Mode Linux does not start here: ${lastLine}`);
        return { ...counts, skipped: CHECKS };
    }
    counts.failed += Math.max(0, CHECKS - counts.passed - counts.failed); /* those that it did not come to */
    return counts;
}

const folder = mkdtempSync(path.join(tmpdir(), 'lagra-linux-'));
const server = await Server.start({ args: ['--smbPort', '0', '--smbAllowUnencrypted'] });

try {
    await must(server, 'PUT', '', '?restype=share');
    const { passed, failed, skipped } = await runGuest(server, folder);
    await server.stop();
    console.log(`smb, linux: ${passed} passed, ${failed} failed, ${skipped} skipped`);
    process.exitCode = failed === 0 ? 0 : 1;
} finally {
    rmSync(folder, { recursive: true, force: true });
}
