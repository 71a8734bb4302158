// What requests to a hierarchical account show since which version (gates.test.mjs names these dates).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';

let server;
const ask = (service, method, path, version, headers = {}, body = '') =>
    raw(method, path, headers, body, { version, base: { host: server.host, port: server.ports[service] } });

before(async () => {
    server = await Server.start({ args: ['--hierarchical'] });
    await ask('dfs', 'PUT', '/data?resource=filesystem', '2021-06-08');
    await ask('dfs', 'PUT', '/data/f?resource=file', '2021-06-08');
});
after(() => server.stop());

/** What a request shows with the newest version before a date, and with that of the date. */
async function sinceDate(earlier, date, show) {
    assert.deepEqual([await show(earlier), await show(date)], [false, true], date);
}

test('the kind of a blob since 2020-10-02 (recorded)', async () => {
    await sinceDate('2020-08-04', '2020-10-02', async (version) =>
        (await ask('blob', 'HEAD', '/data/f', version)).headers.get('x-ms-resource-type') === 'file');
    await sinceDate('2020-08-04', '2020-10-02', async (version) =>
        (await ask('blob', 'GET', '/data?restype=container&comp=list', version)).text.includes('<ResourceType>file</ResourceType>'));
});

test('owner, group and permissions of a blob since 2020-06-12 (recorded)', async () => {
    for (const name of ['owner', 'group', 'permissions'])
        await sinceDate('2020-04-08', '2020-06-12', async (version) =>
            (await ask('blob', 'HEAD', '/data/f', version)).headers.get(`x-ms-${name}`) !== undefined);
});

test('members of a list of paths: creationTime since 2020-02-10, expiryTime since 2020-06-12 (recorded)', async () => {
    const list = async (version) => JSON.parse((await ask('dfs', 'GET', '/data?resource=filesystem&recursive=true', version)).text).paths[0];
    await sinceDate('2019-12-12', '2020-02-10', async (version) => 'creationTime' in await list(version));
    await sinceDate('2020-04-08', '2020-06-12', async (version) => 'expiryTime' in await list(version));
});

test('a deletion says whether it is permanent since 2021-06-08 (recorded)', async () => {
    await sinceDate('2021-04-10', '2021-06-08', async (version) => {
        await ask('dfs', 'PUT', '/data/gone?resource=file', version);
        return (await ask('dfs', 'DELETE', '/data/gone', version)).headers.get('x-ms-delete-type-permanent') === 'true';
    });
});
