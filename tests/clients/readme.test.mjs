// The README's example runs as it stands, against this server, and says what it should.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import test from 'node:test';
import { promisify } from 'node:util';
import { account, service, url } from './setup.mjs';
import { service as shares } from './shares-setup.mjs';

const DEVELOPMENT = 'UseDevelopmentStorage=true';
const VARIABLE = 'AZURE_STORAGE_CONNECTION_STRING';

/** Runs the example of that place in the README with another connection string; returns what it
 *  says. */
async function runExample(t, place, connection) {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const example = [...readme.matchAll(/```js\n(.*?)```/gs)][place][1];
    const here = `DefaultEndpointsProtocol=http;AccountName=${account.name};AccountKey=${account.key};${connection};`;
    const file = new URL(`./readme-${place}-${process.pid}.tmp.mjs`, import.meta.url);

    assert(example.includes(DEVELOPMENT) || example.includes(VARIABLE));
    t.after(() => rm(file, { force: true }));
    await writeFile(file, example.replace(DEVELOPMENT, here));
    return (await promisify(execFile)(process.execPath, [file.pathname], { env: { ...process.env, [VARIABLE]: here } })).stdout;
}

test("the README's example", async (t) => {
    t.after(() => service.deleteContainer('photos'));
    assert.equal(await runExample(t, 0, `BlobEndpoint=${url}`), 'hello again\n2026/cat.txt\n');
});

test("the README's example of a queue", async (t) => {
    assert.equal(await runExample(t, 1, `QueueEndpoint=${process.env.LAGRA_TEST_QUEUE_URL}`), 'resize cat.txt\n');
});

test("the README's example of a table", async (t) => {
    assert.equal(await runExample(t, 2, `TableEndpoint=${process.env.LAGRA_TEST_TABLE_URL}`), 'Ada true\n');
});

test("the README's example of a share", async (t) => {
    t.after(() => shares.getShareClient('team').delete({ deleteSnapshots: 'include' }));
    assert.match(await runExample(t, 3, `FileEndpoint=${process.env.LAGRA_TEST_FILE_URL}`), /^hello\n\{\}\n(.*\n)*team 20\S+Z\nteam \n/);
});

test('the README shows the whole connection string of the development account', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');

    assert(readme.includes(`AccountName=devstoreaccount1;AccountKey=${account.key};BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;`));
});
