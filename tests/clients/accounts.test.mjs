// Accounts of the store: made and changed by `lagra account` while the server runs. docs/admin.md; decision: 380
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueueServiceClient, StorageSharedKeyCredential as QueueCredential } from '@azure/storage-queue';
import { AzureNamedKeyCredential, TableServiceClient } from '@azure/data-tables';
import { ShareServiceClient, StorageSharedKeyCredential as ShareCredential } from '@azure/storage-file-share';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { errorCode } from '../lib/errors.mjs';
import { Connection } from '../lib/http.mjs';
import { run } from '../lib/program.mjs';
import { containerSas } from '../lib/sas.mjs';
import { Server } from '../lib/server.mjs';
import { sign } from '../lib/sign.mjs';

const once = { retryOptions: { maxTries: 1 } };

async function start(t, options) {
    const server = await Server.start(options);
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

/** What a command answers as JSON; it must succeed. */
async function asked(server, ...words) {
    const { code, output, errors } = await run([...words, '--json', '--location', server.location]);
    assert.equal(code, 0, errors);
    return JSON.parse(output);
}

/** What is said of a command that is refused. */
async function refusal(server, ...words) {
    const { code, output, errors } = await run([...words, '--location', server.location]);
    assert.deepEqual([code, output], [1, ''], errors);
    return errors;
}

function blobs(server, account, key) {
    const url = `http://${server.host}:${server.port}/${account}`;
    return new BlobServiceClient(url, new StorageSharedKeyCredential(account, key), once);
}

/** A signed List Containers on a connection that stays open: [status, code]. */
async function list(connection, server, account, key) {
    const request = { method: 'GET', target: `/${account}/?comp=list`, headers: [['Host', `${server.host}:${server.port}`]] };
    const answer = await connection.exchange(sign(request, { credentials: { account, key } }));
    return [answer.status, errorCode(answer) ?? ''];
}

const rejects = (promise, statusCode, code) => assert.rejects(promise, (error) => {
    assert.deepEqual([error.statusCode, error.code ?? error.details?.errorCode ?? error.details?.odataError?.code], [statusCode, code]);
    return true;
});

test('an account is there for the next request, with either key, in all services', async (t) => {
    const server = await start(t);
    const made = await asked(server, 'account', 'add', 'alpha');
    assert.deepEqual([made.name, made.state, made.source, made.keys], ['alpha', 'enabled', 'store', 2]);
    for (const key of [made.key1, made.key2]) {
        assert.equal(Buffer.from(key, 'base64').length, 64);
        await blobs(server, 'alpha', key).getProperties();
        const at = (service) => `http://${server.host}:${server.ports[service]}/alpha`;
        await new QueueServiceClient(at('queue'), new QueueCredential('alpha', key), once).getProperties();
        await new ShareServiceClient(at('file'), new ShareCredential('alpha', key), once).getProperties();
        await new TableServiceClient(at('table'), new AzureNamedKeyCredential('alpha', key),
            { ...once, allowInsecureConnection: true }).getProperties();
    }
    // It is apart from others.
    await blobs(server, 'alpha', made.key1).createContainer('mine');
    await rejects(blobs(server, 'devstoreaccount1', made.key1).getProperties(), 403, 'AuthenticationFailed');
    const shown = await asked(server, 'account', 'show', 'alpha');
    assert.equal('key1' in shown || 'key2' in shown, false);
    assert.deepEqual((await asked(server, 'account', 'list')).accounts.map(({ name, source }) => [name, source]),
        [['devstoreaccount1', 'development'], ['alpha', 'store']]);
});

test('a key is exchanged without dropping a connection, and only that key', async (t) => {
    const server = await start(t);
    const { key1, key2 } = await asked(server, 'account', 'add', 'alpha');
    const connection = await Connection.open(server.host, server.port);
    t.after(() => connection.close());
    let second = key2;
    for (let i = 0; i < 5; i++) {
        assert.deepEqual(await list(connection, server, 'alpha', key1), [200, '']);
        assert.deepEqual(await list(connection, server, 'alpha', second), [200, '']);
        const made = await asked(server, 'account', 'rotate-key', 'alpha', '2');
        assert.equal('key1' in made, false);
        assert.notEqual(made.key2, second);
        assert.deepEqual(await list(connection, server, 'alpha', second), [403, 'AuthenticationFailed']);
        second = made.key2;
    }
    const { key1: another } = await asked(server, 'account', 'rotate-key', 'alpha', '1');
    assert.deepEqual(await list(connection, server, 'alpha', key1), [403, 'AuthenticationFailed']);
    assert.deepEqual(await list(connection, server, 'alpha', another), [200, '']);
    assert.deepEqual(await list(connection, server, 'alpha', second), [200, '']);
});

test('requests that go on while keys are exchanged are all answered', async (t) => {
    const server = await start(t);
    const { key1 } = await asked(server, 'account', 'add', 'alpha');
    let over = false;
    let count = 0;
    const ask = async () => {
        const connection = await Connection.open(server.host, server.port);
        for (; !over; count++)
            assert.deepEqual(await list(connection, server, 'alpha', key1), [200, '']);
        connection.close();
    };
    const asking = Promise.all([ask(), ask(), ask()]);
    for (let i = 0; i < 8; i++)
        await asked(server, 'account', 'rotate-key', 'alpha', '2');
    over = true;
    await asking;
    assert.ok(count > 0);
});

test('a disabled account is refused: its keys, its SAS, the public; and nobody learns it by a wrong key', async (t) => {
    const server = await start(t);
    const { key1 } = await asked(server, 'account', 'add', 'alpha');
    const service = blobs(server, 'alpha', key1);
    const { containerClient } = await service.createContainer('open', { access: 'container' });
    await containerClient.uploadBlockBlob('b', 'x', 1);
    const url = `http://${server.host}:${server.port}/alpha/open/b`;
    const sas = `${url}?${containerSas('open', { sp: 'r', se: '2099-01-01T00:00:00Z' }, { account: 'alpha', key: key1 })}`;
    const connection = await Connection.open(server.host, server.port);
    t.after(() => connection.close());
    const all = async () => [await list(connection, server, 'alpha', key1), ...await Promise.all([url, sas].map(async (at) => {
        const answer = await fetch(at);
        return [answer.status, answer.headers.get('x-ms-error-code') ?? ''];
    }))];

    assert.deepEqual(await all(), [[200, ''], [200, ''], [200, '']]);
    assert.equal((await asked(server, 'account', 'disable', 'alpha')).state, 'disabled');
    assert.deepEqual(await all(), Array(3).fill([403, 'AccountIsDisabled']));
    await rejects(service.getProperties(), 403, 'AccountIsDisabled');
    await rejects(service.createContainer('more'), 403, 'AccountIsDisabled');
    const wrong = Buffer.from('wrong').toString('base64');
    assert.deepEqual(await list(connection, server, 'alpha', wrong), [403, 'AuthenticationFailed']);
    const preflight = await fetch(url, { method: 'OPTIONS',
        headers: { Origin: 'http://a', 'Access-Control-Request-Method': 'GET' } });
    assert.equal(preflight.status, 403);
    // A part of a batch is asked of the account too; other accounts go on.
    await blobs(server, server.account, 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==')
        .getProperties();
    await asked(server, 'account', 'set', 'alpha', '--state', 'enabled');
    assert.deepEqual(await all(), [[200, ''], [200, ''], [200, '']]);
});

test('what was answered survives kill -9', async (t) => {
    const server = await start(t);
    const alpha = await asked(server, 'account', 'add', 'alpha');
    await server.kill();
    await server.restart();
    await blobs(server, 'alpha', alpha.key1).createContainer('kept');
    const { key1 } = await asked(server, 'account', 'rotate-key', 'alpha', '1');
    await server.kill();
    await server.restart();
    await rejects(blobs(server, 'alpha', alpha.key1).getProperties(), 403, 'AuthenticationFailed');
    await blobs(server, 'alpha', key1).getProperties();
    await blobs(server, 'alpha', alpha.key2).getProperties();
    await asked(server, 'account', 'disable', 'alpha');
    await server.kill();
    await server.restart();
    await rejects(blobs(server, 'alpha', key1).getProperties(), 403, 'AccountIsDisabled');
    await server.stop({ keep: true });
    const checked = await run(['check', server.location]); // it knows what accounts' records are
    assert.match(checked.output, /in 1 containers, .*damaged or lost: 0\n$/);
});

test('keys come from files too; they are neither in the log nor on a command line', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-keys-'));
    t.after(() => rm(folder, { recursive: true }));
    const log = join(folder, 'log');
    const server = await start(t, { args: ['--debug', log] });
    const own = Buffer.from('a key that is my own').toString('base64');
    await writeFile(join(folder, 'key'), `${own}\n`);
    const made = await asked(server, 'account', 'add', 'alpha', '--key2-file', join(folder, 'key'));
    assert.equal(made.key2, own);
    await blobs(server, 'alpha', own).getProperties();
    await asked(server, 'account', 'set', 'alpha', '--key1-file', join(folder, 'key'));
    await rejects(blobs(server, 'alpha', made.key1).getProperties(), 403, 'AuthenticationFailed');
    const rotated = await asked(server, 'account', 'rotate-key', 'alpha', '1');
    const said = await readFile(log, 'utf8') + server.stderr;
    assert.match(said, /account alpha was added/);
    for (const key of [own, made.key1, rotated.key1])
        assert.ok(!said.includes(key));
    await writeFile(join(folder, 'key'), 'not base64!\n');
    assert.match(await refusal(server, 'account', 'add', 'beta', '--key1-file', join(folder, 'key')), /\(InvalidKey\)/);
    assert.match(await refusal(server, 'account', 'add', 'beta', '--key1-file', join(folder, 'none')), /cannot read/);
});

test('what is refused, and that nothing came of it', async (t) => {
    const server = await start(t);
    await asked(server, 'account', 'add', 'alpha');
    for (const [words, message] of [
        [['add', 'alpha'], /The account alpha already exists\. \(AccountAlreadyExists\)/],
        [['add', 'ab'], /\(InvalidAccountName\)/],
        [['add', 'a'.repeat(25)], /\(InvalidAccountName\)/],
        [['add', 'Alpha'], /\(InvalidAccountName\)/],
        [['add', 'al-pha'], /\(InvalidAccountName\)/],
        [['show', 'beta'], /The account beta does not exist\. \(AccountNotFound\)/],
        [['disable', 'beta'], /\(AccountNotFound\)/],
        [['set', 'alpha'], /requires a state, a key, a limit or a setting/],
        [['set', 'alpha', '--state', 'asleep'], /The state must be enabled or disabled/],
        [['rotate-key', 'alpha', '3'], /The key must be 1 or 2/],
        [['rotate-key', 'beta', '1'], /\(AccountNotFound\)/],
        [['disable', 'devstoreaccount1'], /\(AccountIsConfigured\)/],
        [['add', 'devstoreaccount1'], /\(AccountIsConfigured\)/],
    ])
        assert.match(await refusal(server, 'account', ...words), message);
    const { accounts } = await asked(server, 'account', 'list');
    assert.deepEqual(accounts.map(({ name, state }) => `${name} ${state}`), ['devstoreaccount1 enabled', 'alpha enabled']);
    for (const words of [['account'], ['account', 'frob'], ['account', 'add'], ['account', 'rotate-key', 'alpha'],
        ['account', 'add', 'beta', '--key', 'x']])
        assert.equal((await run([...words, '--location', server.location])).code, 2);
});

test('accounts of a list stay what the list says; a list that takes over one of the store is refused', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-accounts-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'accounts');
    const key = Buffer.from('listed').toString('base64');
    await writeFile(path, `listed:${key}\n`);
    const server = await start(t, { args: ['--accountsFile', path, '--debug', join(folder, 'log')] });
    await asked(server, 'account', 'add', 'stored');
    assert.deepEqual((await asked(server, 'account', 'list')).accounts.map(({ name, source }) => [name, source]),
        [['listed', 'configuration'], ['stored', 'store']]);
    assert.match(await refusal(server, 'account', 'rotate-key', 'listed', '1'), /\(AccountIsConfigured\)/);
    await writeFile(path, `listed:${key}\nstored:${key}\n`);
    process.kill(server.pid, 'SIGHUP');
    const log = () => readFile(join(folder, 'log'), 'utf8');
    for (let i = 0; i < 6000 && !/remain in use/.test(await log()); i++)
        await new Promise((resolve) => setTimeout(resolve, 10));
    assert.match(await log(), /remain in use: a configured account already exists in the store/);
    await blobs(server, 'listed', key).getProperties();
    await server.kill();
    const refused = await run(['--location', server.location, '--accountsFile', path, '--blobPort', '0']);
    assert.equal(refused.code, 1);
    assert.match(refused.errors, /a configured account already exists in the store/);
});

test("systemd's credential \"accounts\" names accounts, and is read again at SIGHUP", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-credentials-'));
    t.after(() => rm(folder, { recursive: true }));
    const keys = ['one', 'two'].map((text) => Buffer.from(text).toString('base64'));
    await writeFile(join(folder, 'accounts'), `from:${keys[0]}\n`);
    const env = { CREDENTIALS_DIRECTORY: folder, AZURITE_ACCOUNTS: `other:${keys[0]}` };
    const server = await start(t, { env, args: ['--sandbox', 'on'] });
    await blobs(server, 'from', keys[0]).getProperties();
    await rejects(blobs(server, 'other', keys[0]).getProperties(), 403, 'AuthenticationFailed');
    await writeFile(join(folder, 'accounts'), `from:${keys[1]}\n`);
    process.kill(server.pid, 'SIGHUP');
    const answers = () => blobs(server, 'from', keys[1]).getProperties().then(() => true, () => false);
    for (let i = 0; i < 6000 && !(await answers()); i++)
        await new Promise((resolve) => setTimeout(resolve, 10));
    await blobs(server, 'from', keys[1]).getProperties();
    // A folder of credentials without this one says nothing.
    const none = join(folder, 'none');
    await mkdir(none);
    await chmod(none, 0o700);
    const without = await start(t, { env: { ...env, CREDENTIALS_DIRECTORY: none } });
    await blobs(without, 'other', keys[0]).getProperties();
});

test('accounts of the store are enough to be served beyond this machine', async (t) => {
    const server = await start(t);
    const { key1 } = await asked(server, 'account', 'add', 'alpha');
    await server.stop({ keep: true });
    const beyond = await start(t, { location: server.location, args: ['--blobHost', '0.0.0.0'] });
    await blobs(beyond, 'alpha', key1).getProperties();
    assert.deepEqual((await asked(beyond, 'account', 'list')).accounts.map(({ name }) => name), ['alpha']);
    const empty = await mkdtemp(join(tmpdir(), 'lagra-empty-'));
    t.after(() => rm(empty, { recursive: true }));
    const refused = await run(['--location', join(empty, 'd'), '--blobHost', '0.0.0.0', '--blobPort', '0']);
    assert.equal(refused.code, 1);
    assert.match(refused.errors, /name your accounts in AZURITE_ACCOUNTS/);
});
