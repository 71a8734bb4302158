// --sandbox: what the kernel says of a server in it, and that it opens no other files than its options name.
// docs/sandbox.md
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../lib/program.mjs';
import { ANY_PORTS, Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';

async function newFolder(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-sandbox-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

async function newServer(t, ...args) {
    const server = await Server.start({ args });
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

/** "Seccomp" and "NoNewPrivs" of a process. man: proc(5) */
async function statusOf({ pid }) {
    const text = await readFile(`/proc/${pid}/status`, 'utf8');
    const number = (name) => Number(text.match(new RegExp(`^${name}:\\s*(\\d+)`, 'm'))[1]);

    return { filter: number('Seccomp'), noNewPrivileges: number('NoNewPrivs') };
}

/** What the start says; without Landlock nothing is to be seen of it here. */
async function wordsOfStart(t) {
    const location = await newFolder(t);
    const child = spawn(process.env.LAGRA_BINARY, ['--sandbox', 'on', '--location', location, ...ANY_PORTS, '--managementPort', '0']);
    let output = '';

    t.after(() => child.kill('SIGKILL'));
    for await (const text of child.stdout) {
        output += text;
        if (/sandbox: .*\n/.test(output))
            break;
    }
    return output;
}

async function until(condition) {
    while (!condition())
        await delay(5);
}

test('off: nothing is limited; on: the kernel filters calls, and the process gets no new rights', async (t) => {
    const off = await newServer(t, '--sandbox', 'off');
    const on = await newServer(t, '--sandbox', 'on');

    assert.equal((await statusOf(off)).filter, 0);
    assert.deepEqual(await statusOf(on), { filter: 2, noNewPrivileges: 1 });
});

test('a mode that is none is refused', async () => {
    const { code, errors } = await run(['--sandbox', 'strict']);

    assert.equal(code, 2);
    assert.match(errors, /--sandbox takes off, log or on, not "strict"/);
});

test('it is said at the start', async (t) => {
    assert.match(await wordsOfStart(t), /^Lagra's sandbox: files are .*; \d+ system calls are allowed, others are refused$/m);
});

test('files that options name are read when they were exchanged, others are not', async (t) => {
    if (!/restricted by Landlock/.test(await wordsOfStart(t))) {
        t.skip('this kernel has no Landlock');
        return;
    }
    const folder = await newFolder(t), elsewhere = await newFolder(t);
    const accounts = join(folder, 'accounts');

    await writeFile(accounts, `${DEVELOPMENT.account}:${DEVELOPMENT.key}`);
    const server = await newServer(t, '--sandbox', 'on', '--accountsFile', accounts);
    const reload = () => process.kill(server.pid, 'SIGHUP');

    await writeFile(`${accounts}.new`, 'nonsense');
    await rename(`${accounts}.new`, accounts);
    reload();
    await until(() => /an account has no key/.test(server.stderr));

    await writeFile(join(elsewhere, 'accounts'), 'nonsense');
    await rm(accounts);
    await symlink(join(elsewhere, 'accounts'), accounts);
    reload();
    await until(() => /Permission denied/.test(server.stderr));
});

test('a log is begun anew in its folder', async (t) => {
    const folder = await newFolder(t);

    await mkdir(join(folder, 'log'));
    const log = join(folder, 'log', 'requests');
    const server = await newServer(t, '--sandbox', 'on', '--debug', log);

    await rename(log, `${log}.1`);
    process.kill(server.pid, 'SIGHUP');
    for (let text = ''; !/GET/.test(text); text = await readFile(log, 'utf8').catch(() => '')) {
        await fetch(server.url);
        await delay(5);
    }
    assert.equal(server.stderr, '');
});
