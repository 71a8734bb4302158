// Backups of a cluster's store, as docs/cluster.md tells operators to make them (run.mjs): its pools, copied by Ceph's own tools while nobody
// serves them; and what clients copy while it is served.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '../crash/client.mjs';
import { bytesOf } from '../crash/model.mjs';
import { startFrontEnd } from './front_end.mjs';
import { compare, digest, must, put } from './server.mjs';

const SIZES = [100, 5000, 200_000, 5 * 2 ** 20];
const BLOBS = 40, MESSAGES = 80, ENTITIES = 120, APPENDS = 80;
/* So that shards are split, and large partitions have limbs. */
const SMALL = { LAGRA_RADOS_SPLIT: '100', LAGRA_RADOS_CUT: '60' };
const JSON_HEADERS = [['Accept', 'application/json;odata=nometadata'], ['Content-Type', 'application/json'], ['DataServiceVersion', '3.0']];
const FILE_HEADERS = [['x-ms-type', 'file'], ['x-ms-content-length', '11'], ['x-ms-file-permission', 'inherit'], ['x-ms-file-attributes', 'None'],
    ['x-ms-file-creation-time', 'now'], ['x-ms-file-last-write-time', 'now']];
const COPIES = 20;

const message = (text) => Buffer.from(`<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`);
const entity = (n) => ({ PartitionKey: `p${n % 2}`, RowKey: `r${`${n}`.padStart(4, '0')}`, Number: n });

/** Digests by paths, and the ETag of one. */
async function fillBlobs(server) {
    const client = new Client(server), kept = new Map();

    for (let n = 0; n < BLOBS; n++) {
        const body = randomBytes(SIZES[n % 20 === 3 ? 3 : n % 3]);

        await put(client, `/kept/${n}`, body, ['x-ms-meta-number', `${n}`]);
        kept.set(`/kept/${n}`, digest(body));
    }
    const snapshot = (await must(client, 201, 'PUT', '/kept/1?comp=snapshot')).headers.get('x-ms-snapshot');
    kept.set(`/kept/1?snapshot=${snapshot}`, kept.get('/kept/1'));
    const changed = await put(client, '/kept/1', 'changed since');
    kept.set('/kept/1', digest('changed since'));
    client.close();
    return { kept, etag: changed.headers.get('etag') };
}

/** One of many pieces: its digest. */
async function fillAppended(server) {
    const client = new Client(server), parts = [];

    await must(client, 201, 'PUT', '/kept/appended', { headers: [['x-ms-blob-type', 'AppendBlob']] });
    for (let n = 0; n < APPENDS; n++) {
        parts.push(randomBytes(5000));
        await must(client, 201, 'PUT', '/kept/appended?comp=appendblock', { body: parts.at(-1) });
    }
    client.close();
    return digest(Buffer.concat(parts));
}

async function fillQueue(server) {
    const client = new Client(server, 'queue');

    await must(client, 201, 'PUT', '/kept');
    for (let n = 0; n < MESSAGES; n++)
        await must(client, 201, 'POST', '/kept/messages', { body: message(n) });
    client.close();
}

async function fillTable(server) {
    const client = new Client(server, 'table');

    await must(client, 201, 'POST', '/Tables', { headers: JSON_HEADERS, body: Buffer.from('{"TableName":"kept"}') });
    for (let n = 0; n < ENTITIES; n++)
        await must(client, 201, 'POST', '/kept', { headers: JSON_HEADERS, body: Buffer.from(JSON.stringify(entity(n))) });
    client.close();
}

async function fillShare(server) {
    const client = new Client(server, 'file');

    await must(client, 201, 'PUT', '/kept?restype=share', { headers: [['x-ms-share-quota', '1']] });
    await must(client, 201, 'PUT', '/kept/a.txt', { headers: FILE_HEADERS });
    await must(client, 201, 'PUT', '/kept/a.txt?comp=range', { headers: [['x-ms-range', 'bytes=0-10'], ['x-ms-write', 'update']], body: Buffer.from('hello there') });
    client.close();
}

/** Something of all services: as fillBlobs(). */
async function fill(server) {
    await must(new Client(server), 201, 'PUT', '/kept?restype=container');
    const [blobs, appended] = await Promise.all([fillBlobs, fillAppended, fillQueue, fillTable, fillShare].map((one) => one(server)));

    blobs.kept.set('/kept/appended', appended);
    return blobs;
}

const rowsOf = async (client, table) => JSON.parse((await must(client, 200, 'GET', `/${table}()`, { headers: JSON_HEADERS })).body).value
    .map(({ PartitionKey, RowKey, Number }) => ({ PartitionKey, RowKey, Number })).sort((a, b) => a.Number - b.Number);

/** All of that is there, byte for byte. Messages are taken out. etag: as it is to be; null: any. */
async function look(what, server, { kept, etag }, problems) {
    const [blobs, queues, tables, files] = ['blob', 'queue', 'table', 'file'].map((service) => new Client(server, service));
    const texts = [], found = [];

    await compare(server, kept, found);
    const { headers } = await must(blobs, 200, 'HEAD', '/kept/1');
    if ((etag && headers.get('etag') !== etag) || (await must(blobs, 200, 'HEAD', '/kept/2')).headers.get('x-ms-meta-number') !== '2')
        found.push('an ETag or metadata is another');
    for (let some = []; texts.length === 0 || some.length > 0; texts.push(...some))
        some = [...(await must(queues, 200, 'GET', '/kept/messages?numofmessages=32&visibilitytimeout=3600')).body.toString().matchAll(/<MessageText>(.*?)<\/MessageText>/g)]
            .map(([, text]) => text);
    if (texts.join() !== Array.from({ length: MESSAGES }, (_, n) => n).join())
        found.push(`of ${MESSAGES} messages there are ${texts.length}`);
    if (JSON.stringify(await rowsOf(tables, 'kept')) !== JSON.stringify(Array.from({ length: ENTITIES }, (_, n) => entity(n))))
        found.push('entities are not what they were');
    if ((await must(files, 200, 'GET', '/kept/a.txt')).body.toString() !== 'hello there')
        found.push('a file is not what it was');
    problems.push(...found.map((problem) => `${what}: ${problem}`));
    [blobs, queues, tables, files].forEach((client) => client.close());
}

/** lagra check: what it counts. */
function checked(what, binary, place, problems) {
    const { status, stdout, stderr } = spawnSync(binary, ['check', place], { encoding: 'utf8' });

    if (status !== 0 || !stdout.includes('damaged or lost: 0') || stderr.includes('nothing refers to'))
        problems.push(`lagra check of ${what}: exit code ${status}, ${stdout}${stderr}`);
    return stdout.replaceAll(place, '');
}

/** Both are written to at the same time, and neither sees anything of the other. */
async function part(one, other, problems) {
    const writers = [one, other].map(async (server, i) => {
        const client = new Client(server), kept = new Map();

        for (let n = 0; n < COPIES; n++) {
            const body = bytesOf({ seed: `${i} ${n}`, size: SIZES[n % 3] });

            await put(client, `/kept/${n}`, body);
            kept.set(`/kept/${n}`, digest(body));
        }
        await must(client, 202, 'DELETE', `/kept/${BLOBS - 1 - i}`);
        await must(client, 200, 'HEAD', `/kept/${BLOBS - 2 + i}`);
        client.close();
        return kept;
    });
    const written = await Promise.all(writers);

    await compare(one, written[0], problems);
    await compare(other, written[1], problems);
}

/** While clients change a blob, another copies it again and again by its snapshots, and a table page by page. */
async function byClient(from, to, problems) {
    const state = { ends: false }, writing = new Client(from), reading = new Client(from), copying = new Client(to);
    const bodyOf = (number) => bytesOf({ seed: `live ${number}`, size: 100_000 + number });
    const writer = (async () => {
        for (let n = 0; !state.ends; n++)
            await put(writing, '/kept/live', bodyOf(n), ['x-ms-meta-number', `${n}`]);
    })();

    while ((await reading.ask('HEAD', '/kept/live')).status !== 200);
    for (let n = 0; n < COPIES; n++) {
        const snapshot = (await must(reading, 201, 'PUT', '/kept/live?comp=snapshot')).headers.get('x-ms-snapshot');
        const { body, headers } = await must(reading, 200, 'GET', `/kept/live?snapshot=${snapshot}`);
        const number = headers.get('x-ms-meta-number');

        await put(copying, '/kept/live', body, ['x-ms-meta-number', number]);
        const copied = await must(copying, 200, 'GET', '/kept/live');
        if (!copied.body.equals(bodyOf(Number(number))) || copied.headers.get('x-ms-meta-number') !== number)
            problems.push(`a copy of a snapshot under writes: ${copied.body.length} bytes, not those of ${number}`);
    }
    state.ends = true;
    await writer;
    [writing, reading, copying].forEach((client) => client.close());
}

/** While it is served: lagra export, and lagra import into a server with a data folder. Dates of snapshots and ETags are others there. */
async function exported(binary, from, folder, { kept }, problems) {
    const to = await startFrontEnd(binary, ['--location', path.join(folder, 'data')]);
    const run = (...words) => {
        const env = { ...process.env, LAGRA_FROM_CONNECTION_STRING: from.connectionString, AZURE_STORAGE_CONNECTION_STRING: to.connectionString };
        const { status, stdout, stderr } = spawnSync(binary, words, { encoding: 'utf8', env, cwd: folder });

        if (status !== 0)
            problems.push(`lagra ${words[0]}: exit code ${status}, ${stdout}${stderr}`);
    };

    run('export', 'exported', '--receive-messages');
    run('import', 'exported');
    await look('an export, imported', to, { kept: new Map([...kept].filter(([target]) => !target.includes('snapshot'))), etag: null }, problems);
    await to.stop();
}

export async function backup(start, binary, cluster, store) {
    const folder = mkdtempSync(path.join(tmpdir(), 'lagra-backup-'));
    const files = { records: path.join(folder, 'records'), pieces: path.join(folder, 'pieces') };
    const copy = { records: 'copied-records', pieces: 'copied-pieces' };
    const place = `rados:${cluster.configuration}:${copy.records}:${copy.pieces}`;
    const problems = [];
    const importAll = (pools) => Object.keys(files).forEach((kind) => cluster.importPool(pools[kind], files[kind]));

    try {
        const server = await start(SMALL);
        const filled = await fill(server);
        await server.stop();
        const counts = checked('the store', binary, store.place, problems);
        for (const kind of Object.keys(files))
            cluster.exportPool(store[kind], files[kind]);

        /* Into pools of other names, beside the first one; pieces into an erasure-coded one, and from there again. */
        cluster.createPool(copy.records);
        cluster.createCodedPool(copy.pieces);
        importAll(copy);
        cluster.exportPool(copy.pieces, files.pieces);
        const refused = spawnSync(binary, ['check', place], { encoding: 'utf8' });
        if (refused.status === 0 || !refused.stderr.includes('has its pieces in another pool'))
            problems.push(`a copy that does not know its pool of pieces: exit code ${refused.status}, ${refused.stderr}`);
        cluster.setRow(copy.records, 'lagra', 'pieces', copy.pieces);
        const copied = checked('the copy', binary, place, problems);
        if (copied !== counts)
            problems.push(`lagra check counts in the copy ${copied}, in the store ${counts}`);
        const [piece] = cluster.objects(store.pieces, 'p.'), labels = [store, copy].map((pools) => JSON.stringify(cluster.attributes(pools.pieces, piece)));
        if (labels[0] !== labels[1] || labels[0] === '[]')
            problems.push(`a piece has other labels in the copy: ${labels}`);
        const [one, other] = [await start(SMALL), await startFrontEnd(binary, ['--store', place], SMALL)];
        await look('the copy', other, filled, problems);
        await exported(binary, one, folder, filled, problems);
        await part(one, other, problems);
        await byClient(one, other, problems);
        await Promise.all([one.stop(), other.stop()]);
        checked('the store, used beside the copy', binary, store.place, problems);
        checked('the copy, used beside the store', binary, place, problems);

        /* Into pools of the same names, as on another cluster. */
        cluster.renamePools(Object.keys(files).map((kind) => [store[kind], `lost-${kind}`]));
        [store.records, store.pieces].forEach((pool) => cluster.createPool(pool));
        importAll(store);
        checked('the store, restored', binary, store.place, problems);
        const restored = await start();
        await look('the store, restored', restored, filled, problems);
        await restored.stop();
        console.log(`backup: ${Object.values(files).map((file) => statSync(file).size)} bytes`);
    } finally {
        rmSync(folder, { recursive: true });
    }
    return problems;
}
