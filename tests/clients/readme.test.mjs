// The README's example runs as it stands, against this server, and says what it should.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import test from 'node:test';
import { promisify } from 'node:util';
import { account, service, url } from './setup.mjs';

const DEVELOPMENT = 'UseDevelopmentStorage=true';

test("the README's example", async (t) => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const example = readme.match(/```js\n(.*?)```/s)[1];
    const here = `DefaultEndpointsProtocol=http;AccountName=${account.name};AccountKey=${account.key};BlobEndpoint=${url};`;
    const file = new URL(`./readme-${process.pid}.tmp.mjs`, import.meta.url);

    assert(example.includes(DEVELOPMENT));
    t.after(async () => {
        await rm(file, { force: true });
        await service.deleteContainer('photos');
    });
    await writeFile(file, example.replace(DEVELOPMENT, here));
    const { stdout } = await promisify(execFile)(process.execPath, [file.pathname]);
    assert.equal(stdout, 'hello again\n2026/cat.txt\n');
});

test("the README's example of a queue", async (t) => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const example = [...readme.matchAll(/```js\n(.*?)```/gs)][1][1];
    const here = `AccountName=${account.name};AccountKey=${account.key};QueueEndpoint=${process.env.LAGRA_TEST_QUEUE_URL};`;
    const file = new URL(`./readme-queue-${process.pid}.tmp.mjs`, import.meta.url);

    assert(example.includes(DEVELOPMENT));
    t.after(() => rm(file, { force: true }));
    await writeFile(file, example.replace(DEVELOPMENT, `DefaultEndpointsProtocol=http;${here}`));
    const { stdout } = await promisify(execFile)(process.execPath, [file.pathname]);
    assert.equal(stdout, 'resize cat.txt\n');
});

test('the README shows the whole connection string of the development account', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');

    assert(readme.includes(`AccountName=devstoreaccount1;AccountKey=${account.key};BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;`));
});
