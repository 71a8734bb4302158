// Copy sources as clients write them: blanks and backslashes in URLs, and headers with empty values.
// recorded and reported; decision: 862
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobSASPermissions } from '@azure/storage-blob';
import { raw, rawRefused } from './raw.mjs';
import { newContainer } from './setup.mjs';
import { newShare, rawFile } from './shares-setup.mjs';

async function sourceNamed(t, name, content = 'x'.repeat(512)) {
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient(name);
    await blob.upload(content, content.length);
    const url = await blob.generateSasUrl({ permissions: BlobSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 600000) });
    return { container, blob, url, path: `/${container.containerName}` };
}

test('a raw blank in a source is taken by every copy of a blob, and shown as sent', async (t) => {
    // reported: azure-storage-java issue 567
    const { container, url, path } = await sourceNamed(t, 'a b/c d');
    const source = url.replaceAll('%20', ' ').replace('%2F', '/');
    assert(source.includes('a b/c d?'), source);
    await container.getAppendBlobClient('append').create();
    await container.getPageBlobClient('page').create(512);
    const from = { 'x-ms-copy-source': source };
    for (const [target, headers, status] of [
        ['copy', {}, 202], ['sync', { 'x-ms-requires-sync': 'true' }, 202], ['put', { 'x-ms-blob-type': 'BlockBlob' }, 201],
        ['block?comp=block&blockid=AAAA', {}, 201], ['append?comp=appendblock', {}, 201],
        ['page?comp=page', { 'x-ms-page-write': 'update', 'x-ms-range': 'bytes=0-511', 'x-ms-source-range': 'bytes=0-511' }, 201],
    ]) {
        const answer = await raw('PUT', `${path}/${target}`, { ...from, ...headers });
        assert.equal(answer.status, status, `${target} ${answer.text}`);
    }
    const shown = (await raw('HEAD', `${path}/copy`)).headers.get('x-ms-copy-source');
    assert(shown.includes('/a b/c d'), shown);
    assert.equal((await container.getBlobClient('copy').downloadToBuffer()).length, 512);
    for (const wrong of [url.replace('http://', 'http:// '), url.replace('127.0.0.1', '127.0.0.1 '), `${url}\tx`, `${url}#x`])
        await rawRefused(raw('PUT', `${path}/to`, { 'x-ms-copy-source': wrong }), 400, 'InvalidHeaderValue');
});

test('a backslash in a source is a slash, raw and as %5C', async (t) => {
    const { url, path } = await sourceNamed(t, 'dir/blob');
    for (const separator of ['\\', '%5C', '%5c']) {
        const answer = await raw('PUT', `${path}/to`, { 'x-ms-copy-source': url.replace(/dir(%2F|\/)blob/, `dir${separator}blob`), 'x-ms-requires-sync': 'true' });
        assert.equal(answer.status, 202, answer.text);
    }
    const share = await newShare(t);
    await share.createDirectory('dir one');
    await share.getDirectoryClient('dir one').getFileClient('f').create(3);
    const of = (name) => `${share.url}/${name}`;
    for (const name of ['dir%20one/f', 'dir one/f', 'dir%20one%5Cf', 'dir%20one%5cf', 'dir one\\f']) {
        const answer = await rawFile('PUT', `/${share.name}/copy`, { 'x-ms-copy-source': of(name) });
        assert.equal(answer.status, 202, `${name} ${answer.text}`); // %5C recorded, 2 of 2
    }
    let at = 'dir one/f';
    for (const [n, form] of [(s) => s, (s) => s.replace('/', '%5C'), (s) => s.replace('/', '\\')].entries()) {
        const answer = await rawFile('PUT', `/${share.name}/dir%20one/${n}?comp=rename`, { 'x-ms-file-rename-source': of(form(at)) });
        assert.equal(answer.status, 200, answer.text);
        at = `dir one/${n}`;
    }
    await rawRefused(rawFile('PUT', `/${share.name}/dir%5Cf`, { 'x-ms-type': 'file', 'x-ms-content-length': '1' }), 400, 'InvalidResourceName');
});

test('empty times and attributes, and empty conditions of a source, count as absent', async (t) => {
    // recorded: Copy File of python 12.1 at 2019-07-07
    const share = await newShare(t);
    const path = `/${share.name}`;
    const empty = { 'x-ms-file-creation-time': '', 'x-ms-file-last-write-time': '' };
    await share.rootDirectoryClient.getFileClient('f').create(3);
    const copied = await rawFile('PUT', `${path}/copy`, { 'x-ms-copy-source': `${share.url}/f`, ...empty, 'x-ms-file-attributes': '' }, '', { version: '2019-07-07' });
    assert.equal(copied.status, 202, copied.text);
    const made = await rawFile('PUT', `${path}/new`, { 'x-ms-type': 'file', 'x-ms-content-length': '1', ...empty, 'x-ms-file-change-time': '', 'x-ms-file-attributes': '' });
    assert.equal(made.status, 201, made.text);
    assert.equal((await rawFile('PUT', `${path}/new?comp=properties`, { ...empty, 'x-ms-file-attributes': '' })).status, 200);
    assert.equal((await rawFile('PUT', `${path}/new?comp=range`, { 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-0', 'x-ms-file-last-write-time': '' }, 'x')).status, 201);
    assert.equal((await rawFile('PUT', `${path}/dir?restype=directory`, empty)).status, 201);
    const { url, path: blobs } = await sourceNamed(t, 'b');
    const conditions = Object.fromEntries(['match', 'none-match', 'modified-since', 'unmodified-since', 'tags'].map((name) => [`x-ms-source-if-${name}`, '']));
    for (const more of [{}, { 'x-ms-requires-sync': 'true' }, { 'x-ms-blob-type': 'BlockBlob' }]) {
        const answer = await raw('PUT', `${blobs}/to`, { 'x-ms-copy-source': url, ...conditions, ...more });
        assert(answer.status < 300, answer.text);
    }
});
