// Kills the server inside renames, also to another filesystem, deletions of filesystems and recursive deletes: afterwards each is done completely or not at all, and acknowledged
// ones are done; on a flat account, a delete of a directory continues. issue 47; decisions: 1224, 1225, 1320, 1361
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'node:test';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';

const FILES = ['f', 'sub/g', 'sub/deep/h'];
const GATES = ['decided', 'applied', 'synced'];

async function start(t, args) {
    const server = await Server.start({ args });
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

const blob = (server, method, path, headers, body) => raw(method, path, headers, body, { base: { host: server.host, port: server.port } });
const dfs = (server, method, path, headers = {}) => raw(method, path, headers, '', { base: { host: server.host, port: server.ports.dfs } });
const rename = (server, from, to, headers) =>
    dfs(server, 'PUT', `/box/${to}`, { 'x-ms-rename-source': `/box/${from}`, ...headers });
const remove = (server, path, headers) => dfs(server, 'DELETE', `/box/${path}?recursive=true`, headers);

async function put(server, directory, filesystem = 'box') {
    for (const file of FILES) {
        const { status } = await blob(server, 'PUT', `/${filesystem}/${directory}/${file}`, { 'x-ms-blob-type': 'BlockBlob' }, `${directory}/${file}`);
        assert.equal(status, 201);
    }
}

/** Names of all blobs, and that each is read; null if the filesystem does not exist. */
async function look(server, filesystem = 'box') {
    const { status, text } = await blob(server, 'GET', `/${filesystem}?restype=container&comp=list`);
    if (status === 404)
        return null;
    const names = [...text.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name);
    for (const name of names)
        assert.equal((await blob(server, 'GET', `/${filesystem}/${name}`)).status, 200, name);
    return names.join(' ');
}

const whole = (directory) => `${directory} ${FILES.map((file) => `${directory}/${file}`).concat(`${directory}/sub`, `${directory}/sub/deep`).sort().join(' ')}`;

/** Sends the request, which kills the server at the gate or, without one, is interrupted at some moment. Resolves to its status, if any. */
async function killedIn(server, gate, send) {
    const answer = send(gate ? { 'x-lagra-gate': `${gate}=kill` } : {}).catch(() => null);
    if (!gate)
        await delay(Math.random() * 4);
    else
        await Promise.race([server.ended(), answer]);
    await server.kill();
    const status = (await answer)?.status;
    await server.restart();
    return status;
}

async function create(server, filesystem = 'box') {
    assert.equal((await blob(server, 'PUT', `/${filesystem}?restype=container`)).status, 201);
}

async function check(server) {
    await server.stop({ keep: true });
    const { code, output } = await run(['check', server.location]);
    assert.equal(code, 0, output);
    await server.restart();
}

const times = [...GATES, ...Array.from({ length: 12 }, () => null)];

test('a rename is done or not', async (t) => {
    const server = await start(t, ['--hierarchical']);
    await create(server);
    await put(server, 'a');
    let at = 'a';
    for (const gate of times) {
        const to = at === 'a' ? 'b' : 'a';
        const status = await killedIn(server, gate, (headers) => rename(server, at, to, headers));
        const names = await look(server);

        assert(names === whole(to) || (names === whole(at) && status === undefined), `${gate} ${status}: ${names}`);
        at = names === whole(to) ? to : at;
    }
});

test('a recursive delete is done or not, and nothing remains', async (t) => {
    const server = await start(t, ['--hierarchical']);
    await create(server);
    for (const gate of times) {
        await put(server, 'd');
        const status = await killedIn(server, gate, (headers) => remove(server, 'd', headers));
        const names = await look(server);

        assert(names === '' || (names === whole('d') && status === undefined), `${gate} ${status}: ${names}`);
    }
    await remove(server, 'd');
    await check(server);
});

test('a rename to another filesystem is done or not', async (t) => {
    const server = await start(t, ['--hierarchical']);
    let [at, to] = ['box', 'bag'];
    await create(server, at);
    await create(server, to);
    await put(server, 'd');
    for (const gate of times) {
        const status = await killedIn(server, gate,
            (headers) => dfs(server, 'PUT', `/${to}/d`, { 'x-ms-rename-source': `/${at}/d`, ...headers }));
        const [left, moved] = [await look(server, at), await look(server, to)];

        assert((left === '' && moved === whole('d')) || (moved === '' && left === whole('d') && status === undefined), `${gate} ${status}: ${left}, ${moved}`);
        if (moved !== '')
            [at, to] = [to, at];
    }
    await check(server);
});

test('a filesystem is deleted or not, and so is it created', async (t) => {
    const server = await start(t, ['--hierarchical']);
    await create(server);
    await put(server, 'stays');
    for (const gate of times) {
        const created = await killedIn(server, gate, (headers) => blob(server, 'PUT', '/bag?restype=container', headers));
        if (await look(server, 'bag') === null) {
            assert.equal(created, undefined, gate);
            await create(server, 'bag');
        }
        await put(server, 'd', 'bag');
        await dfs(server, 'PUT', '/bag/moved', { 'x-ms-rename-source': '/box/stays' });
        await dfs(server, 'PUT', '/box/stays', { 'x-ms-rename-source': '/bag/moved' });
        const status = await killedIn(server, gate, (headers) => blob(server, 'DELETE', '/bag?restype=container', headers));
        const names = await look(server, 'bag');

        assert(names === null || (names === whole('d') && status === undefined), `${gate} ${status}: ${names}`);
        assert.equal(await look(server), whole('stays'));
        if (names !== null)
            assert.equal((await blob(server, 'DELETE', '/bag?restype=container')).status, 202);
    }
    await check(server);
    assert.equal(await look(server), whole('stays'));
});

test('on a flat account a recursive delete leaves the directory until everything below it is deleted', async (t) => {
    const server = await start(t, []);
    await create(server);
    for (const gate of times) {
        const all = ['d', ...Array.from({ length: 40 }, (_, i) => `d/${i + 10}`)];
        assert.equal((await dfs(server, 'PUT', '/box/d?resource=directory')).status, 201);
        for (const name of all.slice(1))
            assert.equal((await blob(server, 'PUT', `/box/${name}`, { 'x-ms-blob-type': 'BlockBlob' })).status, 201);
        const status = await killedIn(server, gate, (headers) => remove(server, 'd', headers));
        const left = (await look(server)).split(' ').filter(Boolean);

        assert.equal(status === 200 ? left.length : 0, 0, `${gate}: ${left}`);
        if (left.length > 0)
            assert.deepEqual(left, ['d', ...(left.length > 1 ? all.slice(-left.length + 1) : [])], 'deleted in order, the directory last');
        assert.equal((await remove(server, 'd')).status, left.length > 0 ? 200 : 404);
    }
    assert.equal(await look(server), '');
});
