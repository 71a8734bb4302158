// A tus server that keeps its uploads in an append blob: created, continued, finished, read.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { AzureStore } from '@tus/azure-store';
import { Server } from '@tus/server';
import { names, newContainer } from './setup.mjs';

test('tus store', async (t) => {
    const container = await newContainer(t);
    const tus = new Server({ path: '/files', datastore: new AzureStore({
        client: container, account: 'a', accountKey: 'k', containerName: container.containerName,
    }) });
    const server = http.createServer((request, response) => tus.handle(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const base = `http://127.0.0.1:${server.address().port}/files`;
    const headers = { 'Tus-Resumable': '1.0.0' };

    const created = await fetch(base, { method: 'POST', headers: { ...headers, 'Upload-Length': '10' } });
    assert.equal(created.status, 201);
    const location = new URL(created.headers.get('location'), base);
    for (const [offset, text] of [['0', 'hello'], ['5', 'world']]) {
        const part = await fetch(location, { method: 'PATCH', body: text, headers: {
            ...headers, 'Upload-Offset': offset, 'Content-Type': 'application/offset+octet-stream',
        } });
        assert.equal(part.status, 204, await part.text());
    }
    const head = await fetch(location, { method: 'HEAD', headers });
    assert.equal(head.headers.get('upload-offset'), '10');
    const [name] = await names(container);
    assert.equal((await container.getBlobClient(name).downloadToBuffer()).toString(), 'helloworld');
});
