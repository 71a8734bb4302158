// `lagra scrub` and --scrubEvery: what is damaged on the disk is found and named while the server serves, and a pass
// goes on after a restart, and faster when asked to. docs/integrity.md
import assert from 'node:assert/strict';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobServiceClient } from '@azure/storage-blob';
import { run } from '../lib/program.mjs';
import { freePorts, Server } from '../lib/server.mjs';
import { credential, once, pattern } from './setup.mjs';

const MiB = 1024 * 1024;

async function newServer(t, args = []) {
    const server = await Server.start({ args });
    t.after(() => server.kill().then(() => server.remove()));
    return server;
}

async function upload(server, name, size, seed) {
    const container = new BlobServiceClient(server.url, credential, once).getContainerClient('scrubbed');

    await container.createIfNotExists();
    await container.getBlockBlobClient(name).upload(pattern(size, seed), size);
}

const scrub = (server, ...words) => run(['scrub', '--location', server.location, '--json', ...words]);
const stateOf = async (server) => JSON.parse((await scrub(server, '--state')).output);

/** Changes a byte where a file has these bytes. */
async function damage(path, bytes) {
    const at = (await readFile(path)).indexOf(bytes);
    const file = await open(path, 'r+');

    assert.ok(at > 0);
    await file.write(Buffer.from([bytes[0] ^ 1]), 0, 1, at);
    await file.close();
}

test('a store that is whole, then one with a damaged blob, which is named; metrics say so', async (t) => {
    const [port] = await freePorts(1);
    const server = await newServer(t, ['--managementPort', `${port}`]);
    const metric = async (name) =>
        Number((await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).match(new RegExp(`^${name}(?:\\{\\})? (\\S+)$`, 'm'))[1]);

    await upload(server, 'good', 3 * MiB, 1);
    await upload(server, 'bad', 3 * MiB, 2);
    assert.equal(await metric('lagra_scrub_last_end_timestamp_seconds'), 0);
    const whole = await scrub(server, '--rate', '1000');
    assert.equal(whole.code, 0, whole.errors);
    const { bytes, bytesTotal } = JSON.parse(whole.output.trim().split('\n').at(-1));
    assert.ok(bytes >= 6 * MiB);
    assert.equal(bytesTotal, bytes, 'a pass that has ended has read all');
    const people = await run(['scrub', '--state', '--location', server.location]);
    assert.match(people.output, /^read +6\.0 MiB of 6\.0 MiB$/m);
    const noTerminal = await run(['scrub', '--location', server.location, '--rate', '1000']);
    assert.ok(noTerminal.output.trim().split('\n').every((line) => JSON.parse(line)), 'where there is no terminal it is JSON to its end');
    assert.equal(await metric('lagra_scrub_errors_total'), 0);

    await damage(join(server.location, 'extents', '00000001'), pattern(3 * MiB, 2).subarray(0, 4096));
    const found = await scrub(server, '--rate', '1000');
    assert.equal(found.code, 1);
    assert.equal(JSON.parse(found.output.trim().split('\n').at(-1)).errors, 1);
    assert.match(server.stderr, /scrub: devstoreaccount1\/scrubbed\/bad: some of its bytes are damaged\n/);
    assert.equal(await metric('lagra_scrub_errors_total'), 1);
    assert.equal(await metric('lagra_scrub_last_errors'), 1);
    assert.ok(await metric('lagra_scrub_bytes_total') >= 12 * MiB);
    await server.stop({ keep: true });
    await server.restart();
    assert.equal(await metric('lagra_scrub_last_errors'), 1, 'it is known after a restart');
    assert.ok(Math.abs(await metric('lagra_scrub_last_end_timestamp_seconds') - Date.now() / 1000) < 600);
});

test('a pass goes on after a restart, with what it had read', async (t) => {
    const server = await newServer(t, ['--scrubRate', '1']);

    await upload(server, 'large', 100 * MiB, 3);
    const followed = scrub(server);
    let before;
    do {
        await delay(20);
        before = await stateOf(server);
    } while (!before.running || before.bytes < 2 * MiB);
    await server.stop({ keep: true });
    assert.notEqual((await followed).code, 0, 'whose server is gone');
    await server.restart();
    const after = await stateOf(server);
    assert.equal(after.running, true);
    assert.equal(after.began, before.began);
    assert.ok(after.bytes >= before.bytes);
    assert.ok(after.bytesTotal >= 100 * MiB && after.bytesTotal >= after.bytes, JSON.stringify(after));
    const faster = await scrub(server, '--rate', '1000');
    assert.equal(faster.code, 0, faster.errors);
    const end = JSON.parse(faster.output.trim().split('\n').at(-1));
    assert.equal(end.began, before.began);
    assert.ok(Date.parse(end.lastEnd) - Date.parse(end.began) < 90e3, 'at the rate before it takes 100 seconds');
});

test('passes begin by themselves', async (t) => {
    const server = await newServer(t, ['--scrubEvery', '1s', '--scrubRate', '1000']);

    await upload(server, 'small', 100, 4);
    while ((await stateOf(server)).ended < 2)
        await delay(20);
    assert.equal((await stateOf(server)).lastErrors, 0);
});

test('durations have a unit', async () => {
    for (const value of ['7', '0d', 'd', '-1h', '41d']) {
        const { code, errors } = await run([`--scrubEvery=${value}`]);

        assert.equal(code, 2);
        assert.match(errors, /--scrubEvery takes a time from 1ms to 40d, such as 200ms, 2s, 12h or 7d, not/);
    }
});
