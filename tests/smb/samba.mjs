#!/usr/bin/env node
// Samba's own clients against the SMB endpoint: samba.mjs [--lists stage3,stage4] [--only WORD] [--all]
//
// smbtorture runs the tests of the lists, each in a process of its own with a time limit, several at once, as most of
// their time they wait, each worker in a share of its own; and smbclient does what a user does. How the lists are
// written is in their heads; --all runs those too that do not pass yet. LAGRA_BINARY names the server. The last line is
// the count.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { Rest } from './rest.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
/* smbtorture waits for what must come, and for so many milliseconds at most: on a machine that is busy it gives up too
 * early now and then. What is wrong is wrong each time. */
const ATTEMPTS = 5;
/* The longest, compound_find_close, makes and deletes thousands of files one after the other, each durable when it is
 * answered: 220 s beside much other work, of which 8 are the server's CPU, as many for each file however many there are. */
const LIMIT_S = 300;
const WORKERS = 10;
/* The lists whose tests are run where security descriptors are checked. */
const ENFORCED = ['stage4.list'];
/* As whoever runs a file server would set it by REST, which is the superuser's: everybody may do everything in the
 * share's root; what is made in it is its maker's. */
const OPEN_ROOT = 'O:SYG:SYD:(A;;FA;;;WD)(A;OICIIO;GA;;;CO)(A;OICI;FA;;;SY)';
const { values: options } = parseArgs({
    options: {
        lists: { type: 'string', default: 'stage2,stage3,stage4,stage1' }, only: { type: 'string', default: '' },
        all: { type: 'boolean', default: false },
    },
});

/** Runs a program to its end, at most so long: { code, text }, code null if it was stopped. */
async function run(program, args, limit = LIMIT_S, cwd = undefined) {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), limit * 1000);
    let text = '';

    for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (more) => {
            text += more;
        });
    const code = await new Promise((resolve) => {
        child.once('error', (error) => {
            text += error.message;
            resolve(-1);
        });
        child.once('close', resolve);
    });
    clearTimeout(timer);
    return { code, text };
}

/* ---- smbtorture ---- */

/** The lines of a list: { name, why, mayPass, own, enforced }. */
function readList(file) {
    return readFileSync(path.join(HERE, file), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'))
        .map((line) => {
            const [, marks, name, why] = /^([-~+]* ?)(smb2.*?)(?:: (.*))?$/.exec(line);
            assert.equal(/[-~]/.test(marks), why !== undefined, `${file}: ${line}`);
            return { name, why, mayPass: marks.includes('~'), own: marks.includes('+'),
                enforced: ENFORCED.includes(file) };
        });
}

/** Why it failed: the lines of its verdict. */
function verdict({ code, text }) {
    const found = /^(?:failure|error): .* \[\n([\s\S]*?)^\]/m.exec(text);

    return found ? found[1].trim() : code === null ? `no end in ${LIMIT_S} s` : text.trim().split('\n').slice(-5).join('\n');
}

const hasPassed = ({ code, text }) => code === 0 && /^success: /m.test(text);

function torture(context, port, share, name) {
    return run('smbtorture', [`//127.0.0.1/${share}`, '-p', `${port}`, '-U', `${DEVELOPMENT.account}%${DEVELOPMENT.key}`,
        `--configfile=${context.configuration}`, `--option=torture:share=${share}`, `--basedir=${folder}`, name]);
}

async function tryTest(context, { name, why, mayPass, own, enforced }, share) {
    const server = own ? await startServer() : enforced ? context.enforcing : context.server;
    const failed = [];
    let result;

    if (mayPass && !options.all)
        throw new NotYet(`does not pass yet: ${why}`);
    if (own)
        await new Rest(server, share).createShare();
    do {
        result = await torture(context, server.ports.smb, share, name);
        if (!hasPassed(result))
            failed.push(verdict(result));
    } while (!hasPassed(result) && !why && failed.length < ATTEMPTS);
    if (own)
        await server.stop();
    if (mayPass && !hasPassed(result))
        throw new NotYet(`does not pass yet: ${why}`);
    if (mayPass)
        return 'passes now, though it is listed as one that does not yet';
    if (why) {
        if (hasPassed(result))
            throw new Error('passes, though it is listed as one that cannot');
        return `differs by design: ${why}`;
    }
    if (!hasPassed(result))
        throw new Error(failed.join('\n'));
    return failed.length > 0 ? `at last, after: ${failed.join('; ')}` : '';
}

async function worker(context, share, tests) {
    for (let test = tests.shift(); test; test = tests.shift())
        await record(context, test.name, () => tryTest(context, test, share));
}

async function runLists(context) {
    const tests = options.lists.split(',').flatMap((list) => readList(`${list}.list`)).filter(({ name }) => name.includes(options.only));
    const shares = Array.from({ length: WORKERS }, (_, i) => `torture${i}`);

    for (const share of shares)
        await new Rest(context.server, share).createShare();
    if (tests.some(({ enforced }) => enforced)) {
        context.enforcing = await startServer('--smbEnforceAcls');
        for (const rest of shares.map((share) => new Rest(context.enforcing, share))) {
            await rest.createShare();
            await rest.setPermission('', OPEN_ROOT);
        }
    }
    await Promise.all(shares.map((share) => worker(context, share, tests)));
}

/* ---- smbclient ---- */

const CLIENT_SHARE = 'client';
const LENGTH = 300000;
const SNAPSHOT = { method: 'PUT', query: 'restype=share&comp=snapshot' };

/** A user at work, with that protection of the connection; every command must be answered well. */
function clientOf({ server, configuration, folder }, protection) {
    return async (commands) => {
        const { code, text } = await run('smbclient', [`//127.0.0.1/${CLIENT_SHARE}`, '-p', `${server.ports.smb}`,
            '-U', `${DEVELOPMENT.account}%${DEVELOPMENT.key}`, `--configfile=${configuration}`,
            `--client-protection=${protection}`, '-c', commands.join('; ')], LIMIT_S, folder);

        assert.equal(code, 0, `${commands.join('; ')}: ${text}`);
        return text;
    };
}

async function filesAndDirectories(client, { folder }) {
    const bytes = Buffer.from(Array.from({ length: LENGTH }, (_, i) => (i * 7 + (i >> 8)) % 251));

    writeFileSync(path.join(folder, 'sent'), bytes);
    const first = await client(['mkdir d', 'cd d', 'put sent one', 'get one back', 'ls', 'rename one two', 'ls']);
    assert.deepEqual(readFileSync(path.join(folder, 'back')), bytes);
    assert.match(first, new RegExp(`\\bone +A +${LENGTH} [^]*\\btwo +A +${LENGTH} `));
    const then = await client(['cd d', 'del two', 'ls', 'cd ..', 'rmdir d', 'ls']);
    assert.doesNotMatch(then, /\b(one|two|d) +[AD] /);
}

/** All that is known of a file; it has no name of 8.3. */
async function allInfo(client, { folder }) {
    writeFileSync(path.join(folder, 'sent'), 'all');
    const text = await client(['put sent known', 'allinfo known', 'del known']);
    assert.match(text, /\naltname: \n[^]*attributes: A [^]*stream: \[::\$DATA\], 3 bytes/);
}

/** The share as it was: "@GMT-" and the date of a snapshot, in the place of a directory. */
async function previousVersions(client, { server, folder }) {
    const versions = ['the first version', 'and the second'];

    writeFileSync(path.join(folder, 'sent'), versions[0]);
    await client(['put sent old']);
    const { headers } = await new Rest(server, CLIENT_SHARE).must('', SNAPSHOT);
    const [, date, time] = /^(.*)T(.*)\.0000000Z$/.exec(headers.get('x-ms-snapshot'));
    const before = `@GMT-${date.replaceAll('-', '.')}-${time.replaceAll(':', '.')}`;
    writeFileSync(path.join(folder, 'sent'), versions[1]);
    const text = await client(['put sent old', `get ${before}\\old was`, 'get old is', `ls ${before}\\*`]);
    assert.deepEqual(['was', 'is'].map((name) => readFileSync(path.join(folder, name), 'utf8')), versions);
    assert.match(text, new RegExp(`\\bold +A +${versions[0].length} `));
}

async function runClients(context) {
    await new Rest(context.server, CLIENT_SHARE).createShare();
    for (const protection of ['sign', 'encrypt'])
        for (const test of [filesAndDirectories, allInfo, previousVersions]) {
            const name = `smbclient ${protection} ${test.name}`;
            if (name.includes(options.only))
                await record(context, name, () => test(clientOf(context, protection), context));
        }
}

/* ---- all of it ---- */

const startServer = (...more) => Server.start({ args: ['--smbPort', '0', '--smbAllowUnencrypted', ...more] });

class NotYet extends Error {}

async function record(context, name, test) {
    const began = Date.now();
    const say = (how, said) =>
        console.log(`${how} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)${said ? `: ${said}` : ''}`);

    try {
        say('ok     ', await test());
        context.passed++;
    } catch (error) {
        context[error instanceof NotYet ? 'skipped' : 'failed']++;
        say(error instanceof NotYet ? 'skipped' : 'not ok ', error.message);
    }
}

const folder = mkdtempSync(path.join(tmpdir(), 'lagra-samba-'));
const context = { passed: 0, failed: 0, skipped: 0, folder, configuration: path.join(folder, 'smb.conf') };

try {
    const own = ['lock directory', 'state directory', 'cache directory', 'private dir', 'pid directory'];
    writeFileSync(context.configuration, ['[global]', 'client min protocol = SMB2_10', 'client use kerberos = off',
        ...own.map((name) => `${name} = ${folder}`), ''].join('\n'));
    context.server = await startServer();
    await Promise.all([runLists(context), runClients(context)]);
    await context.server.stop();
    await context.enforcing?.stop();
} catch (error) {
    context.failed++;
    console.log(`not ok  samba: ${error.stack}`);
} finally {
    rmSync(folder, { recursive: true, force: true });
}
console.log(`samba: ${context.passed} passed, ${context.failed} failed, ${context.skipped} skipped`);
process.exitCode = context.failed === 0 ? 0 : 1;
