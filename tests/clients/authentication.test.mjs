// Who asks: wrong keys, old dates, nobody, and the ways that are not built. decision: 11
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { sign } from '../lib/sign.mjs';
import { raw, rawRefused } from './raw.mjs';
import { account, credential, newBlob, once, refused, url } from './setup.mjs';

test('a wrong key, a wrong account', async () => {
    // rest: Authorize-with-Shared-Key
    const key = Buffer.alloc(64, 7).toString('base64');
    const wrong =
        new BlobServiceClient(url, new StorageSharedKeyCredential(account.name, key), once);
    const error = await refused(wrong.getProperties(), 403, 'AuthenticationFailed');
    assert.match(error.message, /Server failed to authenticate the request/);
    const other = url.replace(account.name, 'nobody');
    await refused(new BlobServiceClient(other, credential, once).getProperties(),
        403, 'AuthenticationFailed');
    await rawRefused(raw('GET', '/?comp=list', {}, '', { credentials: { account: 'nobody', key } }),
        403, 'AuthenticationFailed');
    // The string that the server signed, with its line feeds: the SDK's reader decodes no
    // references.
    const answer = await rawRefused(
        raw('GET', '/?comp=list', {}, '', { credentials: { account: account.name, key } }),
        403, 'AuthenticationFailed');
    assert.ok(answer.text.includes("string to sign: 'GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:"),
        answer.text);
});

test('a request of more than 15 minutes ago, or ahead', async () => {
    // semantics 10.1
    const at = (minutes) => raw('GET', '/?comp=list',
        { 'x-ms-date': new Date(Date.now() + minutes * 60000).toUTCString() });
    assert.equal((await at(-14)).status, 200);
    assert.equal((await at(14)).status, 200);
    await rawRefused(at(-16), 403, 'AuthenticationFailed');
    await rawRefused(at(16), 403, 'AuthenticationFailed');
});

test('a changed header, query, path or verb of a signed request is refused', async (t) => {
    // rest: Authorize-with-Shared-Key
    const { container } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const host = new URL(url).host;
    const signed = (method, target) => sign({ method, target: `/${account.name}${target}`,
        headers: [['Host', host]] }, {}).headers;
    const replay = (method, target, headers, more = []) => raw(method, target,
        Object.fromEntries([...headers, ...more]), '', { signed: false });
    assert.equal((await replay('GET', path, signed('GET', path))).status, 200);
    const from = signed('GET', path);
    await rawRefused(replay('GET', `${path}?comp=metadata`, from), 403, 'AuthenticationFailed');
    await rawRefused(replay('GET', `${path}2`, from), 403, 'AuthenticationFailed');
    await rawRefused(replay('DELETE', path, from), 403, 'AuthenticationFailed');
    await rawRefused(replay('GET', path, from, [['x-ms-range', 'bytes=0-1']]), 403,
        'AuthenticationFailed');
    await rawRefused(replay('GET', path, from, [['If-Match', '*']]), 403, 'AuthenticationFailed');
});

test('a bearer token is refused; a malformed Authorization is 400', async () => {
    // decision: 11; semantics 10.3
    const ask = (Authorization) => raw('GET', '/?comp=list',
        { Authorization, 'x-ms-date': new Date().toUTCString() }, '', { signed: false });
    const bearer = await rawRefused(ask('Bearer eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0.e30.'),
        403, 'AuthenticationFailed');
    assert.match(bearer.text, /does not accept bearer tokens/);
    for (const text of ['SharedKey', 'SharedKey devstoreaccount1', 'SharedKey :x', 'Basic x', 'x'])
        await rawRefused(ask(text), 400, 'InvalidAuthenticationInfo');
    await rawRefused(ask(`SharedKey ${account.name}:bm8=`), 403, 'AuthenticationFailed');
});

test('Shared Key Lite is taken', async () => {
    // rest: Authorize-with-Shared-Key, "Blob, Queue, and File Services (Shared Key Lite)"
    const date = new Date().toUTCString();
    const text = `GET\n\n\n\nx-ms-date:${date}\nx-ms-version:2021-12-02\n` +
        `/${account.name}/${account.name}/?comp=list`;
    const signature =
        createHmac('sha256', Buffer.from(account.key, 'base64')).update(text).digest('base64');
    const answer = await raw('GET', '/?comp=list', {
        'x-ms-date': date, 'x-ms-version': '2021-12-02',
        Authorization: `SharedKeyLite ${account.name}:${signature}`,
    }, '', { signed: false });
    assert.equal(answer.status, 200, answer.text);
});

