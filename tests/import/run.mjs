#!/usr/bin/env node
// An import of many blobs, entities and messages from Azurite, from its server and from its folder, killed three times on each
// way; what came is checked byte for byte. And how long the blobs take alone, beside azcopy. docs/import.md
//
//   run.mjs [versions] [compare] [server] [folder] [--all] [--blobs N] [--entities N] [--messages N] [--filled FOLDER] [--rounds N]
//
// All parts, or those that are named. versions: imports from versions of Azurite (versions.mjs), with --all from each one since 3.20.
//
//   --filled  a data folder of Azurite with so many, of which a copy is served; it is made first if it is not there
//   --rounds  of the comparison with azcopy, in turn; 0: none
//
// LAGRA_BINARY is imported with and into. Azurite and azcopy are npm packages of bench/.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cpuSeconds } from '../../bench/process.mjs';
import { Server } from '../lib/server.mjs';
import { accountSas, checkAccount } from './account.mjs';
import { startAzurite } from './azurite.mjs';
import { makeFolder } from './folder.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const AZCOPY = path.join(HERE, '../../bench/node_modules/@azure-tools/azcopy-linux/dist/bin/azcopy_linux_amd64');
const JOURNAL_HEAD_BYTES = 47, JOURNAL_ENTRY_BYTES = 32;

const PARTS = ['versions', 'compare', 'server', 'folder'];
const { values: options, positionals: named } = parseArgs({
    allowPositionals: true,
    options: {
        all: { type: 'boolean', default: false }, blobs: { type: 'string', default: '100000' }, entities: { type: 'string', default: '10000' },
        messages: { type: 'string', default: '1000' }, filled: { type: 'string' }, rounds: { type: 'string', default: '1' },
    },
});
if (named.some((part) => !PARTS.includes(part)))
    throw new Error(`the parts are ${PARTS.join(', ')}`);
const isWanted = (part) => named.length === 0 || named.includes(part);
const counts = { blobs: Number(options.blobs), entities: Number(options.entities), messages: Number(options.messages) };
/* Of a journal's entries: among the blobs, and when these are there. */
const KILLS = [Math.floor(counts.blobs / 4), Math.floor(counts.blobs * 2 / 3), counts.blobs + Math.floor(counts.messages / 2)];

/* On a disk, as a data folder would be: /tmp may be memory. */
mkdirSync(path.resolve(HERE, '../../build'), { recursive: true });
const folder = mkdtempSync(path.resolve(HERE, '../../build', 'import-'));
const source = path.join(folder, 'azurite');
const journal = path.join(folder, 'journal');

/** Runs a program to its end: { seconds, cpu, output }. killAt: entries of the journal at which it is killed; else it throws
 *  unless the program ends well. */
async function run(program, args, { env = {}, killAt } = {}) {
    const began = performance.now();
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let cpu = 0;
    const look = setInterval(() => {
        cpu = Math.max(cpu, cpuSeconds(child.pid));
        const size = statSync(journal, { throwIfNoEntry: false })?.size ?? 0;
        if (killAt !== undefined && size > JOURNAL_HEAD_BYTES + killAt * JOURNAL_ENTRY_BYTES)
            child.kill('SIGKILL');
    }, 2);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text) => {
            output += text;
        });
    const [code, signal] = await once(child, 'close');
    clearInterval(look);
    if (killAt !== undefined ? signal !== 'SIGKILL' : code !== 0)
        throw new Error(`${program} ${args[0]}: ${signal ?? code}\n${output.slice(-4000)}`);
    return { seconds: (performance.now() - began) / 1000, cpu, output };
}

/** from: a connection string, of a server */
const lagra = (server, { words = [], from = '' }, more) => run(process.env.LAGRA_BINARY, ['import', ...words, '--json', '--journal', journal],
    { env: { LAGRA_FROM_CONNECTION_STRING: from, AZURE_STORAGE_CONNECTION_STRING: server.connectionString }, ...more });

/** Into a fresh server, killed on its way. */
async function importThroughKills(name, what) {
    const server = await Server.start();
    const items = counts.blobs + counts.entities;
    const noted = 2 * counts.messages; // messages that were received, and queues
    let seconds = 0;

    try {
        for (const killAt of KILLS)
            seconds += (await lagra(server, what, { killAt })).seconds;
        const last = await lagra(server, what);
        const result = JSON.parse(last.output.trim().split('\n').at(-1));
        if (!result.copied || result.problems + result.differing + result.missing > 0 || result.skipped < KILLS.at(-1) - noted)
            throw new Error(`not all was copied once: ${last.output}`);
        const { bytes } = await checkAccount(server.ports, counts);
        seconds += last.seconds;
        console.log(`from ${name}: ${seconds.toFixed(1)} s with ${KILLS.length} kills; ${result.skipped} of ${items} items had been copied ` +
            `before the last of them; equal: ${counts.blobs} blobs of ${bytes} bytes, ${counts.entities} entities, ${counts.messages} messages`);
    } finally {
        await server.kill();
        await server.remove();
    }
}

/** What work(server) takes, into a fresh server that may copy from Azurite: seconds, and of the CPU those of the copying program,
 *  of the target and of Azurite. */
async function time(azurite, work) {
    const server = await Server.start({ args: ['--allowCopyFrom', '127.0.0.0/8'] });

    try {
        const before = [server.pid, azurite.pid].map(cpuSeconds);
        const { seconds, cpu } = await work(server);
        return { seconds, cpu: [cpu, ...[server.pid, azurite.pid].map((pid, i) => cpuSeconds(pid) - before[i])] };
    } finally {
        await server.kill();
        await server.remove();
    }
}

const importBlobs = (azurite) => time(azurite, async (server) => {
    const done = await lagra(server, { from: azurite.connectionString('blob') });
    const { compared } = JSON.parse(done.output.trim().split('\n').at(-1));
    if (compared < counts.blobs)
        throw new Error(`${compared} of ${counts.blobs} blobs came`);
    return done;
});

const azcopyBlobs = (azurite) => time(azurite, (server) => {
    const env = { AZCOPY_LOG_LOCATION: folder, AZCOPY_JOB_PLAN_LOCATION: folder, AZCOPY_DISABLE_SYSLOG: 'true' };
    const sas = accountSas();
    return run(AZCOPY, ['copy', `${azurite.url}/?${sas}`, `${server.url}/?${sas}`, '--recursive', '--from-to=BlobBlob',
        '--log-level=ERROR', '--output-level=essential'], { env });
});

/** The same server of Azurite's, in turn. */
async function compare(azurite, rounds) {
    chmodSync(AZCOPY, 0o755);
    for (let i = 0; i < rounds; i++) {
        for (const [name, copy] of [['azcopy', azcopyBlobs], ['lagra import', importBlobs]]) {
            const { seconds, cpu } = await copy(azurite);
            const [own, target, source] = cpu.map((of) => of.toFixed(1));
            console.log(`${counts.blobs} blobs of Azurite's server, ${name}: ${seconds.toFixed(1)} s; of the CPU ${own} s, the target ${target} s, Azurite ${source} s`);
        }
    }
}

/** Versions of Azurite, by a process of their own. */
async function tryVersions() {
    const child = spawn(process.execPath, [path.join(HERE, 'versions.mjs'), ...options.all ? ['--all'] : []], { stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    if (code !== 0)
        throw new Error('a version of Azurite was not imported');
}

async function importLarge() {
    if (options.filled && !existsSync(options.filled)) {
        const unfinished = `${options.filled}.unfinished`;
        rmSync(unfinished, { recursive: true, force: true });
        await makeFolder(unfinished, counts);
        renameSync(unfinished, options.filled);
    }
    if (options.filled)
        cpSync(options.filled, source, { recursive: true });
    else
        await makeFolder(source, counts);
    const azurite = isWanted('compare') || isWanted('server') ? await startAzurite(source) : undefined;
    try {
        if (isWanted('compare'))
            await compare(azurite, Number(options.rounds));
        if (isWanted('server'))
            await importThroughKills("Azurite's server",
                { words: ['--receive-messages'], from: azurite.connectionString('blob', 'queue', 'table') });
    } finally {
        await azurite?.stop();
    }
    if (isWanted('folder'))
        await importThroughKills("Azurite's folder", { words: ['--azurite', source] });
}

try {
    if (isWanted('versions'))
        await tryVersions();
    if (['compare', 'server', 'folder'].some(isWanted))
        await importLarge();
    console.log('import: all passed');
} finally {
    await delay(100);
    rmSync(folder, { recursive: true, force: true });
}
