// The management port as it is without options: 10010, on loopback, and never in the way of a start. decision: 923
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once as event } from 'node:events';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { run } from '../lib/program.mjs';
import { ANY_PORTS } from '../lib/server.mjs';

async function newFolder(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-management-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

/** Starts a server, and stops it when its output has the pattern: all that it has said. */
async function outputOf(t, args, wanted, program = process.env.LAGRA_BINARY, cwd = undefined) {
    const child = spawn(resolve(program), [...ANY_PORTS, ...args], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    t.after(() => child.kill('SIGKILL'));
    child.stdout.setEncoding('utf8');
    for await (const text of child.stdout) {
        output += text;
        if (wanted.test(output))
            child.kill('SIGTERM');
    }
    return output;
}

/** Has port 10010 taken: by this process, or by what has it already. */
async function takeDefault(t) {
    const taker = net.createServer();
    taker.listen(10010, '127.0.0.1');
    await Promise.race([event(taker, 'listening'), event(taker, 'error')]).catch(() => {});
    t.after(() => taker.close());
}

test('it is 10010 where no option says otherwise; 0 turns it off, and "any" takes a free one', async () => {
    const inForce = async (...args) => JSON.parse((await run(['config', 'check', '--json', ...args])).output).find(({ name }) => name === 'managementPort').value;
    assert.equal(await inForce(), '10010');
    assert.equal(await inForce('--managementPort', '0'), '0');
    assert.equal(await inForce('--managementPort', 'any'), 'any');
    const { code, errors } = await run(['--managementPort', 'some']);
    assert.equal(code, 2);
    assert.equal(errors, 'lagra: --managementPort takes a port number from 0 to 65535, or any, not "some"\n');
});

test('a server that nobody has told a management port starts without it where 10010 is taken, and says so', async (t) => {
    await takeDefault(t);
    const output = await outputOf(t, ['--location', await newFolder(t)], /file service listens on .*\n/);
    assert.match(output, /^Lagra's console and metrics are not served: port 10010 of 127\.0\.0\.1 is in use.*--managementPort names another port\)$/m);
    for (const args of [['--managementPort', '10010'], ['--testing'], ['--managementHost', '127.0.0.1']]) {
        const { code, errors } = await run([...ANY_PORTS, '--location', await newFolder(t), ...args]);
        assert.equal(code, 1, args.join(' '));
        assert.equal(errors, 'lagra: the management port: port 10010 of 127.0.0.1 is in use: is another server running?\n');
    }
});

test('called azurite, it takes no port that Azurite does not take', async (t) => {
    const folder = await newFolder(t);
    await symlink(process.env.LAGRA_BINARY, join(folder, 'azurite'));
    const output = await outputOf(t, ['--location', join(folder, 'data')], /Table service is successfully listening.*\n/, join(folder, 'azurite'));
    assert.doesNotMatch(output, /console|metrics/);
    const asked = await outputOf(t, ['--location', join(folder, 'other'), '--managementPort', 'any'], /\/metrics\n/, join(folder, 'azurite'));
    assert.match(asked, /metrics are at/);
});

test('--managementPort 0: neither metrics nor a console', async (t) => {
    const output = await outputOf(t, ['--managementPort', '0', '--location', await newFolder(t)], /file service listens on .*\n/);
    assert.doesNotMatch(output, /console|metrics/);
});

test('the first screen of the README is what make run prints', async (t) => {
    const output = await outputOf(t, ['--location', 'data', '--managementPort', 'any', '--console', 'link'], /another one\)\n|is not served/,
        process.env.LAGRA_BINARY, await newFolder(t));
    const printed = output.slice(output.indexOf('Lagra blob service')).replace(/:\d+/g, ':PORT').replace(/#link=\w+/, '#link=...');
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const shown = readme.match(/^( {4}Lagra blob service.*\n(?: {4}.*\n)+)/m)[1].replace(/^ {4}/gm, '').replace(/:100\d\d/g, ':PORT');
    if (/is not served: this build has none/.test(output))
        t.skip('this build has no console');
    else
        assert.equal(printed, shown);
});

test('--console link: the start prints a link that signs in, once', async (t) => {
    const child = spawn(process.env.LAGRA_BINARY, [...ANY_PORTS, '--inMemoryPersistence', '--managementPort', 'any', '--console', 'link'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    t.after(() => child.kill('SIGKILL'));
    child.stdout.setEncoding('utf8');
    for await (const text of child.stdout.iterator({ destroyOnReturn: false })) {
        output += text;
        if (/key\)\n|is not served/.test(output))
            break;
    }
    if (/is not served: this build has none/.test(output)) {
        t.skip('this build has no console');
        return;
    }
    const [, url, link] = output.match(/^Lagra's console: (http:\/\/127\.0\.0\.1:\d+)\/console\/#link=([0-9a-f]{64})$/m);
    const signIn = () => fetch(`${url}/console/api/sign-in`,
        { method: 'POST', body: JSON.stringify({ link }), headers: { 'Content-Type': 'application/json', 'x-lagra-console': '', Origin: url } });
    assert.equal((await signIn()).status, 200);
    assert.equal((await signIn()).status, 403);
});
