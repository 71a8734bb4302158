// Kills the server inside renames and recursive deletes: afterwards each is done completely or not at all, and acknowledged
// ones are done; on a flat account, a delete of a directory continues. issue 47; decisions: 1224, 1225, 1320
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

async function put(server, directory) {
    for (const file of FILES) {
        const { status } = await blob(server, 'PUT', `/box/${directory}/${file}`, { 'x-ms-blob-type': 'BlockBlob' }, `${directory}/${file}`);
        assert.equal(status, 201);
    }
}

/** Names of all blobs, and that each is read. */
async function look(server) {
    const { text } = await blob(server, 'GET', '/box?restype=container&comp=list');
    const names = [...text.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name);
    for (const name of names)
        assert.equal((await blob(server, 'GET', `/box/${name}`)).status, 200, name);
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

async function create(server) {
    assert.equal((await blob(server, 'PUT', '/box?restype=container')).status, 201);
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
    await server.stop({ keep: true });
    const { code, output } = await run(['check', server.location]);
    assert.equal(code, 0, output);
    await server.restart();
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
