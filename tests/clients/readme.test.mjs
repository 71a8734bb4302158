// The examples of the README and of docs/getting-started.md run unchanged against this server and print what they should.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import test from 'node:test';
import { promisify } from 'node:util';
import { account, service, url } from './setup.mjs';
import { service as shares } from './shares-setup.mjs';

const DEVELOPMENT = 'UseDevelopmentStorage=true';
const FIRST_STEPS = 'docs/getting-started.md';
const VARIABLE = 'AZURE_STORAGE_CONNECTION_STRING';

/** Runs an example of a document with another connection string; returns its output. */
async function runExample(t, document, place, connection) {
    const text = await readFile(new URL(`../../${document}`, import.meta.url), 'utf8');
    const example = [...text.matchAll(/```js\n(.*?)```/gs)][place][1];
    const here = `DefaultEndpointsProtocol=http;AccountName=${account.name};AccountKey=${account.key};${connection};`;
    const file = new URL(`./example-${place}-${process.pid}.tmp.mjs`, import.meta.url);

    assert(example.includes(DEVELOPMENT) || example.includes(VARIABLE));
    t.after(() => rm(file, { force: true }));
    await writeFile(file, example.replace(DEVELOPMENT, here));
    return (await promisify(execFile)(process.execPath, [file.pathname], { env: { ...process.env, [VARIABLE]: here } })).stdout;
}

test("the README's example", async (t) => {
    t.after(() => service.deleteContainer('photos'));
    assert.equal(await runExample(t, 'README.md', 0, `BlobEndpoint=${url}`), 'hello again\n2026/cat.txt\n');
});

test("the example of a queue", async (t) => {
    assert.equal(await runExample(t, FIRST_STEPS, 0, `QueueEndpoint=${process.env.LAGRA_TEST_QUEUE_URL}`), 'resize cat.txt\n');
});

test("the example of a table", async (t) => {
    assert.equal(await runExample(t, FIRST_STEPS, 1, `TableEndpoint=${process.env.LAGRA_TEST_TABLE_URL}`), 'Ada true\n');
});

test("the example of a share", async (t) => {
    t.after(() => shares.getShareClient('team').delete({ deleteSnapshots: 'include' }));
    assert.match(await runExample(t, FIRST_STEPS, 2, `FileEndpoint=${process.env.LAGRA_TEST_FILE_URL}`), /^hello\n\{\}\n(.*\n)*team 20\S+Z\nteam \n/);
});

test('getting started has the complete connection string of the development account', async () => {
    const text = await readFile(new URL(`../../${FIRST_STEPS}`, import.meta.url), 'utf8');

    assert(text.includes(`AccountName=devstoreaccount1;AccountKey=${account.key};BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;`));
});
