// The console at the owner of one cell shows and changes containers of all cells: its requests are forwarded like those of
// other clients. docs/cells.md, docs/console.md; decision: 1104
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Member, removeClusterAfter } from '../lib/cell_member.mjs';
import { Connection } from '../lib/http.mjs';
import { run } from '../lib/program.mjs';
import { freePorts } from '../lib/server.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';

const PINS_MS = 2600; // the root reads pins every two seconds
const MIB = 2 ** 20;
const BLOCK = [['x-ms-blob-type', 'BlockBlob']];
const { account, key } = DEVELOPMENT;

test('the console reads and writes containers of other cells, and lists all', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-cell-console-'));
    const cluster = join(folder, 'shared');
    removeClusterAfter(t, folder);
    assert.equal((await run(['cluster', 'init', cluster, '--cells', '2'])).code, 0);
    const ports = await freePorts(2);
    const owners = await Promise.all([1, 2].map((cell) => Member.start(cluster, { args: ['--cell', `${cell}`, '--managementPort', `${ports[cell - 1]}`] })));
    await Promise.all(owners.map((owner) => owner.until(200)));
    await delay(300);
    for (const [name, cell] of [['near', 1], ['far', 2]]) {
        assert.equal((await run(['cluster', 'place', cluster, account, `${cell}`])).code, 0);
        await delay(PINS_MS);
        assert.equal((await owners[0].ask('PUT', `/${name}?restype=container`)).status, 201);
    }
    for (const port of ports) {
        const url = `http://127.0.0.1:${port}`;
        const signIn = await fetch(`${url}/console/api/sign-in`, {
            method: 'POST', body: JSON.stringify({ account, key }), headers: { 'Content-Type': 'application/json', 'x-lagra-console': '', Origin: url },
        });
        if (signIn.status === 404) {
            t.skip('this build has no console');
            return;
        }
        assert.equal(signIn.status, 200);
        const cookie = signIn.headers.get('set-cookie').split(';')[0];
        const connection = await Connection.open('127.0.0.1', port);
        t.after(() => connection.close());
        const ask = (method, path, { headers = [], body = Buffer.alloc(0), as = cookie } = {}) => {
            const signed = sign({ method, target: `/${account}${path}`, headers: [['Content-Length', `${body.length}`], ...headers] });
            return connection.exchange({
                ...signed, target: `/console/data/blob/${account}${path}`,
                headers: [['Host', `127.0.0.1:${port}`], ['Origin', url], ['Cookie', as], ...signed.headers],
            }, body);
        };
        const large = randomBytes(3 * MIB);
        for (const [name, body] of [['near', large], ['far', large], ['far', Buffer.from('small')]]) {
            const put = await ask('PUT', `/${name}/blob`, { headers: BLOCK, body });
            assert.equal(put.status, 201, put.body.toString());
            assert.match(put.headers.get('content-security-policy'), /sandbox/); // guarded, wherever it was executed
            const got = await ask('GET', `/${name}/blob`);
            assert.equal(got.status, 200);
            assert.ok(got.body.equals(body), name);
            assert.match(got.headers.get('content-security-policy'), /sandbox/);
            assert.equal(got.headers.get('x-content-type-options'), 'nosniff');
        }
        const list = (await ask('GET', '/?comp=list')).body.toString();
        assert.match(list, /<Name>far<\/Name>.*<Name>near<\/Name>/s);
        assert.equal((await ask('GET', '/far/none')).status, 404);
        assert.equal((await ask('GET', '/far/blob', { as: 'other=1' })).status, 401);
    }
    await owners[1].end('SIGKILL');
    assert.equal((await owners[0].ask('GET', '/far/blob')).status, 503);
});
