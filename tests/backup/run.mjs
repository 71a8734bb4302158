#!/usr/bin/env node
// `lagra backup` beside a server that is written to: run.mjs [--soak] [--kills N] [--seed N]
//
// Writers change blobs, entities, messages and files all the time. What is restored of a backup has to be the
// state of one moment between its begin and its end over all of them (history.mjs), and a whole store to `lagra
// check`. Then the backup and the server are killed at random moments, in turns: after each the newest backup is
// whole, and a last one without a kill is of one moment.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { randomFrom } from '../crash/campaign.mjs';
import { Server } from '../lib/server.mjs';
import { Tally } from '../lib/tally.mjs';
import { History } from './history.mjs';

const { values: options } = parseArgs({
    options: { soak: { type: 'boolean', default: false }, kills: { type: 'string' }, seed: { type: 'string' } },
});
const KILLS = Number(options.kills ?? (options.soak ? 100 : 8));
const SEED = Number(options.seed ?? Date.now() % 1000000);
/* Most backups of the little that is there last no longer. */
const KILL_WITHIN_MS = 400;
const WORK_MS = 300;
const COMMAND_LIMIT_MS = 300000;

const tally = new Tally();
const work = mkdtempSync(path.join(tmpdir(), 'lagra-backup-'));
const backups = path.join(work, 'backups');

/** A command, which may be killed: { child, ended }, ended: { code, output, errors }. */
function begin(words) {
    const child = spawn(process.env.LAGRA_BINARY, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    const texts = { stdout: '', stderr: '' };
    const limit = setTimeout(() => child.kill('SIGKILL'), COMMAND_LIMIT_MS);

    for (const name of ['stdout', 'stderr'])
        child[name].on('data', (bytes) => {
            texts[name] += bytes;
        });
    return {
        child,
        ended: new Promise((resolve) => child.once('close', (code, signal) => {
            clearTimeout(limit);
            resolve({ code, signal, output: texts.stdout, errors: texts.stderr });
        })),
    };
}

const lagra = (...words) => begin(words).ended;
const backup = (server, ...words) => begin(['backup', '--location', server.location, ...words, backups]);
/** The last line of JSON that a command has printed. */
const lastOf = ({ output }) => JSON.parse(output.trimEnd().split('\n').at(-1));
const taken = () => readdirSync(backups).filter((name) => name.endsWith('Z')).sort();

/** A server whose services are written to until stop() is called. */
async function writing(history) {
    let over = false;
    const written = history.work(() => over);

    await delay(WORK_MS);
    return async () => {
        over = true;
        await written;
    };
}

/** The newest backup, restored: of one moment between two, and whole. */
async function checkRestored(history, from, to, what) {
    const folder = path.join(work, 'restored');
    const restored = await lagra('backup', 'restore', backups, folder);

    if (!tally.count(restored.code === 0, `${what}: restore: ${restored.errors}`))
        return;
    const checked = await lagra('check', folder);

    tally.count(checked.code === 0 && /damaged or lost: 0$/m.test(checked.output), `${what}: check: ${checked.output}${checked.errors}`);
    const server = await Server.start({ location: folder });
    const wrong = await history.differs(server, from, to);

    tally.count(wrong === null, `${what}: ${wrong}`);
    await server.stop({ keep: true });
    rmSync(folder, { recursive: true });
}

/** Backups one after the other while it is written, each restored. */
async function testMoments(server, history) {
    for (const words of [['--rate', '0'], ['--rate', '4'], ['--full']]) {
        const what = `backup ${words.join(' ')}`;
        const stop = await writing(history);
        const from = performance.now();
        const made = await backup(server, ...words).ended;
        const to = performance.now();

        await delay(WORK_MS);
        await stop();
        if (!tally.count(made.code === 0, `${what}: ${made.errors}`))
            continue;
        tally.count(statSync(lastOf(made).backup).isDirectory() && lastOf(made).backup === path.join(backups, taken().at(-1)),
            `${what}: its name ${made.output}`);
        const verified = await lagra('backup', 'verify', backups);

        tally.count(verified.code === 0, `${what}: verify: ${verified.errors}`);
        await checkRestored(history, from, to, what);
    }
}

/** Kills the command, or the server, at a random moment; true when all is as it was to be. */
async function killOnce(server, history, random, which) {
    const before = taken().length;
    const stop = await writing(history);
    const making = backup(server);

    await delay(random(KILL_WITHIN_MS));
    if (which === 'backup')
        making.child.kill('SIGKILL');
    else
        await server.kill();
    const ended = await making.ended;

    await stop();
    if (which === 'server')
        await server.restart();
    const after = taken();
    const verified = after.length > 0 ? await lagra('backup', 'verify', backups) : { code: 0 };

    return tally.count(verified.code === 0, `kill of the ${which}: ${verified.errors}`) &&
        tally.count(after.length === before + 1 || (after.length === before && ended.code !== 0),
            `kill of the ${which}: ${before} backups, then ${after.length}; the command ended with ${ended.code}: ${ended.errors}`);
}

async function testKills(server, history) {
    const random = randomFrom(SEED);

    for (let i = 0; i < KILLS; i++)
        if (!(await killOnce(server, history, random, i % 2 === 0 ? 'backup' : 'server')))
            break;
    const stop = await writing(history);
    const from = performance.now();
    const made = await backup(server).ended;
    const to = performance.now();

    await stop();
    tally.count(made.code === 0, `after ${KILLS} kills: ${made.errors}`);
    tally.count(readdirSync(backups).every((name) => name.endsWith('Z')), 'after kills: what they left is removed');
    await checkRestored(history, from, to, `after ${KILLS} kills`);
}

/** Two at once, and of a folder that is not served. */
async function testOthers(server) {
    const first = backup(server);

    while (!existsSync(backups) || !readdirSync(backups).some((name) => name.endsWith('.tmp')))
        await delay(1);
    first.child.kill('SIGSTOP');
    const second = await lagra('backup', '--location', server.location, path.join(work, 'others'));

    tally.count(second.code !== 0 && /another backup of .* is running/.test(second.errors), `a second backup: ${second.errors}`);
    first.child.kill('SIGKILL');
    await first.ended;
    await server.stop({ keep: true });
    const nobody = await backup(server).ended;

    tally.count(nobody.code === 1 && /no server runs on this data directory/.test(nobody.errors), `without a server: ${nobody.errors}`);
    const stopped = await backup(server, '--stopped').ended;

    tally.count(stopped.code === 0, `--stopped: ${stopped.errors}`);
    const refused = await lagra('--location', path.join(backups, taken().at(-1)));

    tally.count(refused.code === 1 && /it is a backup/.test(refused.errors), `a start on a backup: ${refused.errors}`);
}

/** A target that takes no more: it is said, nothing is left there, and the backups before are as they were. */
async function testFullTarget(server) {
    const before = taken();
    /* Writes beyond so many KiB of a file fail, as on a full disk, and the signal is ignored. */
    const limited = await new Promise((resolve) => {
        const child = spawn('bash', ['-c', `trap '' XFSZ; ulimit -f 16; exec "$0" "$@"`, process.env.LAGRA_BINARY,
            'backup', '--full', '--location', server.location, backups]);
        let errors = '';

        child.stderr.on('data', (text) => {
            errors += text;
        });
        child.once('close', (code) => resolve({ code, errors }));
    });

    tally.count(limited.code === 1 && /: write \S+: File too large/.test(limited.errors), `a full target: ${limited.code} ${limited.errors}`);
    tally.count(readdirSync(backups).sort().join() === before.join(), `a full target: ${readdirSync(backups)}`);
    const verified = await lagra('backup', 'verify', backups);

    tally.count(verified.code === 0, `a full target: ${verified.errors}`);
}

const server = await Server.start();
const history = new History(server);

try {
    await history.create();
    await testMoments(server, history);
    await testKills(server, history);
    await testFullTarget(server);
    await testOthers(server);
    tally.count(history.failures.length === 0, history.failures.slice(0, 5).join('; '));
    console.log(`backup: ${KILLS} kills, ${history.changes} changes, seed ${SEED}`);
} catch (error) {
    tally.count(false, `seed ${SEED}: ${error.stack}`);
} finally {
    await server.stop();
    rmSync(work, { recursive: true, force: true });
}
tally.end('backup');
