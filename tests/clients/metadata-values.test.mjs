// Values of metadata with bytes above 7F are refused in every service. decision: 863
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, generateAccountSASQueryParameters } from '@azure/storage-blob';
import { raw, rawRefused } from './raw.mjs';
import { credential, newContainer } from './setup.mjs';
import { newShare } from './shares-setup.mjs';

/* A signature in the URL: Shared Key would sign the values, whose encoding clients disagree on. */
const sas = generateAccountSASQueryParameters({
    services: AccountSASServices.parse('bfq').toString(), resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
    permissions: AccountSASPermissions.parse('rwdlac'), expiresOn: new Date(Date.now() + 9e6),
}, credential);
const askerOf = (url) => (method, path, headers, body = '') => {
    const { hostname: host, port } = new URL(url);
    return raw(method, `${path}${path.includes('?') ? '&' : '?'}${sas}`, { 'x-ms-version': '2026-10-06', ...headers }, body, { signed: false, base: { host, port: Number(port) } });
};
const blob = askerOf(process.env.LAGRA_TEST_URL);
const file = askerOf(process.env.LAGRA_TEST_FILE_URL);
const queue = askerOf(process.env.LAGRA_TEST_QUEUE_URL);

test('metadata values are ASCII, for blobs, containers, shares, files and queues', async (t) => {
    // reported: azure-sdk-for-net issue 50747
    const container = `/${(await newContainer(t)).containerName}`;
    const share = `/${(await newShare(t)).name}`;
    const name = `/meta-${process.pid}`;
    for (const value of ['é', 'ñandú', '日本', '\x80']) {
        const meta = { 'x-ms-meta-a': value };
        for (const refusal of [
            () => blob('PUT', `${container}/b`, { 'x-ms-blob-type': 'BlockBlob', ...meta }, 'x'),
            () => blob('PUT', `${container}x?restype=container`, meta),
            () => blob('PUT', `${container}?restype=container&comp=metadata`, meta),
            () => file('PUT', `${share}x?restype=share`, meta),
            () => file('PUT', `${share}/f`, { 'x-ms-type': 'file', 'x-ms-content-length': '1', ...meta }),
            () => file('PUT', `${share}/d?restype=directory`, meta),
            () => queue('PUT', name, meta),
        ])
            assert.match((await rawRefused(refusal(), 400, 'InvalidMetadata')).text,
                /<Message>The metadata specified is invalid\. It has characters that are not permitted\.\n/);
    }
    const kept = await raw('PUT', `${container}/b`, { 'x-ms-blob-type': 'BlockBlob', 'x-ms-meta-a': '!~ =?utf-8?B?w6k=?=' }, 'x');
    assert.equal(kept.status, 201, kept.text);
    assert.equal((await raw('HEAD', `${container}/b`)).headers.get('x-ms-meta-a'), '!~ =?utf-8?B?w6k=?=');
});
