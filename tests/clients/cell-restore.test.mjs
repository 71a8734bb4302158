// lagra restore in a cluster: items restored in a cell other than cell 1 get a placement, and a name is never in two cells.
// docs/backup.md, docs/cells.md; decision: 1173
import assert from 'node:assert/strict';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startCells } from '../lib/cells.mjs';
import { namesIn } from '../lib/peer_request.mjs';
import { run } from '../lib/program.mjs';

const BLOCK = [['x-ms-blob-type', 'BlockBlob']];
const RELEASED_MS = 36_000; // a deleted name is released after 30 s

async function start(t) {
    const { cluster, owners, place } = await startCells(t, { cells: 3 });
    const dataOf = (cell) => join(cluster, 'cells', `000${cell}`, 'data');
    const fails = async (cell, message, ...words) => {
        const { code, errors } = await run([...words, '--location', dataOf(cell)], {}, 60_000);
        assert.equal(code, 1, `${words}`);
        assert.match(errors, message);
    };
    const done = async (cell, ...words) => {
        const { code, errors } = await run([...words, '--location', dataOf(cell)], {}, 60_000);
        assert.equal(code, 0, errors);
    };
    const make = async (name) => {
        assert.equal((await owners[0].ask('PUT', `/${name}?restype=container`)).status, 201);
        assert.equal((await owners[0].ask('PUT', `/${name}/b`, { headers: BLOCK, body: Buffer.from(`of ${name}`) })).status, 201);
    };
    /** What clients see at each front end: undefined, or the blob's content. */
    const seen = async (name) => {
        const found = await Promise.all(owners.map((owner) => owner.ask('GET', `/${name}/b`)));
        assert.ok(found.every(({ status }) => status === found[0].status), JSON.stringify(found.map(({ status }) => status)));
        return found[0].status === 200 ? found[0].body.toString() : undefined;
    };
    const listed = async () => (await owners[1].ask('GET', '/?comp=list')).body.toString().match(/<Name>[^<]*/g)?.map((name) => name.slice(6)) ?? [];
    return { cluster, owners, place, done, fails, make, seen, listed };
}

const blobsIn = async (cluster, cell) => (await namesIn(cluster, cell)).filter(({ service }) => service === 'blob').map(({ name }) => name);

test('a container that is restored in a cell gets a placement, and its name is released like others', { timeout: 240_000 }, async (t) => {
    const { cluster, owners, place, done, fails, make, seen, listed } = await start(t);
    const backups = join(cluster, '..', 'backups');

    await place(2);
    await make('old');
    await make('kept');
    await done(2, 'backup', backups);
    const backup = join(backups, (await readdir(backups))[0]);
    assert.equal((await owners[2].ask('DELETE', '/old?restype=container')).status, 202);
    assert.equal((await owners[2].ask('PUT', '/kept/b', { headers: BLOCK, body: Buffer.from('changed') })).status, 201);
    await delay(RELEASED_MS);
    await place(1);

    /* A name that no cell has: a new name and a released name. */
    for (const [from, as] of [['kept', 'fresh'], ['old', 'old']]) {
        await done(2, 'restore', 'container', backup, from, '--as', as);
        assert.equal(await seen(as), `of ${from}`);
        assert.deepEqual((await blobsIn(cluster, 2)).includes(as), true, as);
    }
    assert.deepEqual(await listed(), ['fresh', 'kept', 'old']);
    assert.equal((await owners[0].ask('PUT', '/fresh?restype=container')).status, 409);
    /* One that this cell has. */
    await fails(2, /already exists; use --replace/, 'restore', 'container', backup, 'kept');
    await done(2, 'restore', 'container', backup, 'kept', '--replace');
    assert.equal(await seen('kept'), 'of kept');

    /* One that another cell has, or cell 1. */
    await make('near');
    await fails(2, /near is in cell 1; it can be restored there/, 'restore', 'container', backup, 'kept', '--as', 'near', '--replace');
    assert.equal(await seen('near'), 'of near');
    for (const cell of [1, 3])
        await fails(cell, /kept is in cell 2; it can be restored there/, 'restore', 'container', backup, 'kept', '--replace');
    assert.deepEqual(await blobsIn(cluster, 3), []);
    assert.deepEqual(await blobsIn(cluster, 1), ['near']);
    await done(1, 'restore', 'container', backup, 'kept', '--as', 'here');
    assert.equal(await seen('here'), 'of kept');

    /* The name of a restored container is released when it is deleted. */
    assert.equal((await owners[0].ask('DELETE', '/fresh?restype=container')).status, 202);
    await owners[0].end('SIGKILL');
    await fails(2, /ServerBusy|busy|cannot be reached/i, 'restore', 'container', backup, 'kept', '--as', 'later');
    owners[0].restart();
    await owners[0].until(200);
    await delay(RELEASED_MS);
    await make('fresh');
    assert.deepEqual((await blobsIn(cluster, 1)).sort(), ['fresh', 'here', 'near']);
    assert.deepEqual(await listed(), ['fresh', 'here', 'kept', 'near', 'old']);
});

test('a data directory that is replaced by a backup: reclaim places what it has, and reports what two cells have', { timeout: 240_000 }, async (t) => {
    const { cluster, owners, place, done, make, seen, listed } = await start(t);
    const [one, two] = owners, folder = join(cluster, '..'), backups = join(folder, 'backups'), data = join(cluster, 'cells', '0002', 'data');

    await place(2);
    for (const name of ['kept', 'gone', 'taken'])
        await make(name);
    await done(2, 'backup', backups);
    for (const name of ['gone', 'taken'])
        assert.equal((await one.ask('DELETE', `/${name}?restype=container`)).status, 202);
    await make('newer');
    await delay(RELEASED_MS);
    await place(1);
    await make('taken');

    await two.end();
    await rename(data, join(folder, 'replaced'));
    assert.equal((await run(['backup', 'restore', join(backups, (await readdir(backups))[0]), data])).code, 0);
    two.restart();
    await two.until(200);
    await one.until(200, '/-/ready?cluster');
    const { code, output, errors } = await run(['cluster', 'reclaim', cluster]);
    assert.equal(code, 1);
    assert.equal(output, 'cell 0002: 2 containers, queues, tables and shares\ncell 0003: 0 containers, queues, tables and shares\n');
    assert.equal(errors, 'lagra: taken of account devstoreaccount1 (blob) is in cell 0002, but clients get the one in cell 0001\n');
    assert.equal(await seen('kept'), 'of kept');
    assert.equal(await seen('gone'), 'of gone');
    assert.equal(await seen('newer'), undefined);
    await make('newer'); // its name is still that of cell 2
    assert.equal(await seen('newer'), 'of newer');
    assert.deepEqual(new Set(await listed()), new Set(['gone', 'kept', 'newer', 'taken']));
});
