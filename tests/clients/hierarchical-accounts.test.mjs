// Flat and hierarchical accounts: an account gets its kind when it is created, and keeps it.
// rest: Get-Account-Information "x-ms-is-hns-enabled"; docs/admin.md; decision: 1240
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { run } from '../lib/program.mjs';
import { ANY_PORTS, Server } from '../lib/server.mjs';
import { startCells } from '../lib/cells.mjs';
import { account, once } from './setup.mjs';

const KEY = Buffer.alloc(64, 7).toString('base64');

async function start(t, options) {
    const server = await Server.start(options);
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

async function asked(server, ...words) {
    const { code, output, errors } = await run([...words, '--json', '--location', server.location]);
    assert.equal(code, 0, errors);
    return JSON.parse(output);
}

const client = (server, name, key) =>
    new BlobServiceClient(`http://${server.host}:${server.port}/${name}`, new StorageSharedKeyCredential(name, key), once);

/** Whether the account has a hierarchical namespace, which it says at each level. */
async function isHierarchical(service) {
    const container = service.getContainerClient('box');
    await container.createIfNotExists();
    const levels = [service, container, container.getBlobClient('any')];
    const said = await Promise.all(levels.map(async (level) => (await level.getAccountInfo())._response.parsedHeaders.isHierarchicalNamespaceEnabled));
    assert.equal(new Set(said).size, 1, said);
    return said[0];
}

const kinds = async (server) => Object.fromEntries((await asked(server, 'account', 'list')).accounts.map(({ name, hierarchical }) => [name, hierarchical]));

test('an account is hierarchical if it was added so', async (t) => {
    const server = await start(t);
    const tree = await asked(server, 'account', 'add', 'tree', '--hierarchical');
    const flat = await asked(server, 'account', 'add', 'flat');
    assert.deepEqual([tree.hierarchical, flat.hierarchical], [true, false]);
    const check = async () => {
        assert.equal(await isHierarchical(client(server, 'tree', tree.key1)), true);
        assert.equal(await isHierarchical(client(server, 'flat', flat.key1)), false);
        assert.deepEqual(await kinds(server), { [account.name]: false, flat: false, tree: true });
    };

    await check();
    await asked(server, 'account', 'set', 'tree', '--requests', '1000');
    await asked(server, 'account', 'rotate-key', 'tree', '2');
    assert.equal((await asked(server, 'account', 'show', 'tree')).hierarchical, true);
    await server.stop({ keep: true });
    await server.restart();
    await check();
    assert.match((await run(['account', 'list', '--location', server.location])).output, /^NAME .* HIERARCHICAL .*\n(.*\n)*tree +enabled +store +2 +yes/);
});

test('--hierarchical applies to the accounts that the start creates, and later starts do not change them', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-kinds-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const seed = path.join(folder, 'seed.json');
    await writeFile(seed, JSON.stringify({ accounts: { alpha: { key1: KEY }, beta: { key1: KEY, hierarchical: false } } }));
    const location = path.join(folder, 'data');
    const server = await start(t, { location, args: ['--hierarchical', '--seed', seed] });
    const expected = { [account.name]: true, alpha: true, beta: false };

    assert.equal(await isHierarchical(client(server, account.name, account.key)), true);
    assert.deepEqual(await kinds(server), expected);
    await server.stop({ keep: true });
    const again = await start(t, { location });
    assert.deepEqual(await kinds(again), expected);
    assert.equal(await isHierarchical(client(again, account.name, account.key)), true);
});

test('an account with containers remains flat', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-kinds-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const first = await start(t, { location: folder });
    assert.equal(await isHierarchical(client(first, account.name, account.key)), false);
    await first.stop({ keep: true });
    const second = await start(t, { location: folder, args: ['--hierarchical'] });
    assert.equal(await isHierarchical(client(second, account.name, account.key)), false);
    assert.match(second.stderr, /devstoreaccount1 remains flat/);
});

test('a seed file says what its accounts are', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-kinds-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const seed = path.join(folder, 'seed.json');
    await writeFile(seed, JSON.stringify({ accounts: { alpha: { key1: KEY, hierarchical: true, containers: { box: {} } }, beta: { key1: KEY } } }));
    const server = await start(t, { args: ['--seed', seed] });
    assert.deepEqual(await kinds(server), { [account.name]: false, alpha: true, beta: false });
    await writeFile(seed, JSON.stringify({ accounts: { gamma: { key1: KEY, hierarchical: 'yes' } } }));
    const { code, errors } = await run(['--location', path.join(folder, 'data'), ...ANY_PORTS, '--seed', seed]);
    assert.equal(code, 1);
    assert.match(errors, /hierarchical requires true or false/);
});

test('every cell of a cluster knows the kinds of all accounts', async (t) => {
    const { cluster, owners, place } = await startCells(t, { args: ['--hierarchical'] });
    const root = { location: path.join(cluster, 'cells', '0001', 'data') };
    const made = { [account.name]: [account.key, true], tree: [null, true], flat: [null, false] };
    for (const [name, words] of [['tree', ['--hierarchical']], ['flat', []]])
        made[name][0] = (await asked(root, 'account', 'add', name, ...words)).key1;
    for (const name of Object.keys(made))
        await place(2, name);
    for (const [name, [key, expected]] of Object.entries(made)) {
        const service = (owner) => client({ host: '127.0.0.1', port: owner.ports.blob }, name, key);
        const container = service(owners[0]).getContainerClient('in-2');
        await container.create();
        for (const owner of owners)
            assert.equal((await service(owner).getContainerClient('in-2').getAccountInfo())._response.parsedHeaders.isHierarchicalNamespaceEnabled, expected, name);
    }
});
