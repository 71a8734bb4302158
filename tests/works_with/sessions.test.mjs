// Sessions of a web server in a table, by connect-azuretables (on azure-storage 2.10) and by the
// adapter of Auth.js: written, read, changed, removed; what was acknowledged survives kill -9.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { TableStorageAdapter } from '@auth/azure-tables-adapter';
import { TableClient } from '@azure/data-tables';
import connectTables from 'connect-azuretables';
import session from 'express-session';
import { startKillable, writeThroughKills } from '../lib/killed.mjs';
import { tableRetries, until } from './setup.mjs';

/** The store, which reads its account from the environment alone. */
async function sessionStore(server) {
    process.env.AZURE_STORAGE_CONNECTION_STRING = server.connectionString;
    let created;
    const table = new Promise((resolve) => {
        created = resolve;
    });
    const store = connectTables(session).create({
        table: 'sessions', logger: (line) => line.includes('created table') && created(),
    });
    delete process.env.AZURE_STORAGE_CONNECTION_STRING;
    await table;
    store.isRunningCleanUp = true; // its timer would keep this process alive
    return store;
}

/** A request to a web server that counts the visits of a session: [count, cookie]. */
async function visit(port, cookie) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: cookie ? { cookie } : {} });
    assert.equal(answer.status, 200, await answer.clone().text());
    return [await answer.text(), answer.headers.get('set-cookie')?.split(';')[0] ?? cookie];
}

test('connect-azuretables', async (t) => {
    const server = await startKillable(t);
    const store = await sessionStore(server);
    const keep = session({ store, secret: 's', resave: false, saveUninitialized: false });
    const web = http.createServer((request, response) => keep(request, response, (error) => {
        response.statusCode = error ? 500 : 200;
        if (!error)
            request.session.visits = (request.session.visits ?? 0) + 1;
        response.end(error ? String(error.message) : String(request.session.visits));
    }));
    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
    t.after(() => web.close());
    const { port } = web.address();
    const [first, cookie] = await visit(port);
    assert.equal(first, '1');
    assert.equal((await visit(port, cookie))[0], '2');

    const call = (name) => promisify(store[name].bind(store));
    const data = { cookie: { originalMaxAge: 60000 }, text: 'ü€"\n' };
    await call('set')('one', data);
    assert.deepEqual(await call('get')('one'), data);
    await call('destroy')('one');
    assert.equal(await call('get')('one'), undefined);
    await call('set')('old', { cookie: { originalMaxAge: -1000 } });
    store.cleanUp();
    await until(async () => await call('get')('old') === undefined);

    const kept = await writeThroughKills(server,
        (number) => call('set')(`sid${number}`, { ...data, number }), { count: 120 });
    for (const number of kept)
        assert.deepEqual(await call('get')(`sid${number}`), { ...data, number });
    assert.equal((await visit(port, cookie))[0], '3', 'the visitor of before the kills is known');
});

test('@auth/azure-tables-adapter', async (t) => {
    const server = await startKillable(t);
    const table = TableClient.fromConnectionString(server.connectionString, 'auth', tableRetries);
    await table.createTable();
    const adapter = TableStorageAdapter(table);
    const expires = new Date(Date.now() + 3600_000);

    const user = await adapter.createUser({ name: 'Zoë', email: 'zoë+1@example.org', emailVerified: expires });
    assert.equal((await adapter.getUserByEmail('zoë+1@example.org')).id, user.id);
    await adapter.linkAccount({ userId: user.id, provider: 'p', providerAccountId: 'a', type: 'oauth' });
    assert.equal((await adapter.getUserByAccount({ provider: 'p', providerAccountId: 'a' })).id, user.id);
    await adapter.updateUser({ id: user.id, name: 'Zoe' });
    assert.equal((await adapter.getUser(user.id)).name, 'Zoe');
    await adapter.createVerificationToken({ identifier: 'i', token: 't', expires });
    assert.equal((await adapter.useVerificationToken({ identifier: 'i', token: 't' })).identifier, 'i');
    assert.equal(await adapter.useVerificationToken({ identifier: 'i', token: 't' }), null, 'used twice');

    const kept = await writeThroughKills(server, (number) =>
        adapter.createSession({ sessionToken: `s${number}`, userId: user.id, expires }));
    for (const number of kept) {
        const found = await adapter.getSessionAndUser(`s${number}`);
        assert.equal(found?.user.id, user.id, `session s${number}`);
        assert.equal(found.session.expires.getTime(), expires.getTime());
    }
    const one = `s${kept[0]}`;
    await adapter.updateSession({ sessionToken: one, expires: new Date(expires.getTime() + 1000) });
    assert.ok((await adapter.getSessionAndUser(one)).session.expires > expires);
    await adapter.deleteSession(one);
    assert.equal(await adapter.getSessionAndUser(one), null);
    await adapter.unlinkAccount({ provider: 'p', providerAccountId: 'a' });
    assert.equal(await adapter.getUserByAccount({ provider: 'p', providerAccountId: 'a' }), null);
});
