// Requests to the Data Lake endpoint that the official client does not send, and refused ones.
// rest: datalakestoragegen2
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newFilesystem, rawDfs, rawDfsRefused } from './dfs-setup.mjs';
import { containerName } from './setup.mjs';

const FS = 'resource=filesystem';
const ok = async (promise, status = 200) => {
    const answer = await promise;
    assert.equal(answer.status, status, answer.text);
    return answer;
};

test('a filesystem by its own requests', async (t) => {
    const name = containerName();
    const created = await ok(rawDfs('PUT', `/${name}?${FS}`, { 'x-ms-properties': `a=${btoa('1')}` }), 201);
    t.after(() => rawDfs('DELETE', `/${name}?${FS}`));
    assert.equal(created.headers.get('x-ms-namespace-enabled'), 'false');
    await rawDfsRefused(rawDfs('PUT', `/${name}?${FS}`), 409, 'FilesystemAlreadyExists');
    const got = await ok(rawDfs('HEAD', `/${name}?${FS}`));
    assert.equal(got.headers.get('x-ms-properties'), 'a=MQ==');
    await ok(rawDfs('PATCH', `/${name}?${FS}`, { 'x-ms-properties': 'b=Mg==,c=Mw==' }));
    assert.equal((await ok(rawDfs('HEAD', `/${name}?${FS}`))).headers.get('x-ms-properties'), 'b=Mg==,c=Mw==');
    const listed = JSON.parse((await ok(rawDfs('GET', `/?resource=account&prefix=${name}`))).text);
    assert.deepEqual(listed.filesystems.map((filesystem) => filesystem.name), [name]);
    await ok(rawDfs('DELETE', `/${name}?${FS}`), 202);
    await rawDfsRefused(rawDfs('GET', `/${name}?${FS}&recursive=true`), 404, 'FilesystemNotFound');
});

test('a path by its own requests', async (t) => {
    const { name } = await newFilesystem(t);
    const path = `/${name}/d%2Ff`;
    await ok(rawDfs('PUT', `${path}?resource=file`), 201);
    await rawDfsRefused(rawDfs('PUT', `${path}?resource=file`, { 'If-None-Match': '*' }), 409, 'PathAlreadyExists');
    await ok(rawDfs('PATCH', `${path}?action=append&position=0`, {}, 'abc'), 202);
    await rawDfsRefused(rawDfs('PATCH', `${path}?action=flush&position=2`), 400, 'InvalidFlushPosition');
    assert.equal((await rawDfs('PATCH', `${path}?action=flush&position=3`, { 'If-None-Match': '*' })).status, 304);
    await ok(rawDfs('PATCH', `${path}?action=flush&position=3&close=true`));
    await ok(rawDfs('PATCH', `${path}?action=setProperties`, { 'x-ms-properties': 'k=dg==', 'x-ms-content-type': 'a/b' }));
    const read = await ok(rawDfs('GET', path, { 'x-ms-range': 'bytes=1-1' }), 206);
    assert.deepEqual([read.text, read.headers.get('x-ms-properties'), read.headers.get('x-ms-resource-type')], ['b', 'k=dg==', 'file']);
    const status = await ok(rawDfs('HEAD', `${path}?action=getStatus`));
    assert.deepEqual([status.headers.get('content-length'), status.headers.get('content-type')], ['3', 'a/b']);
    await rawDfsRefused(rawDfs('HEAD', `/${name}//?action=getAccessControl`), 400, 'HierarchicalNamespaceNotEnabled');
    for (const action of ['setAccessControl', 'setAccessControlRecursive'])
        await rawDfsRefused(rawDfs('PATCH', `/${name}/?action=${action}`), 400, 'HierarchicalNamespaceNotEnabled');
    await ok(rawDfs('DELETE', path));
    await rawDfsRefused(rawDfs('DELETE', path), 404, 'PathNotFound');
});

test('a lease of a path by its own requests', async (t) => {
    const { name } = await newFilesystem(t);
    const path = `/${name}/f`;
    const ids = ['aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', 'aaaaaaaa-bbbb-cccc-dddd-ffffffffffff'];
    const lease = (action, headers, status) =>
        ok(rawDfs('POST', path, { 'x-ms-lease-action': action, ...headers }), status);
    await ok(rawDfs('PUT', `${path}?resource=file`), 201);
    await lease('acquire', { 'x-ms-proposed-lease-id': ids[0], 'x-ms-lease-duration': '15' }, 201);
    await lease('renew', { 'x-ms-lease-id': ids[0] }, 200);
    await lease('change', { 'x-ms-lease-id': ids[0], 'x-ms-proposed-lease-id': ids[1] }, 200);
    await lease('break', { 'x-ms-lease-break-period': '0' }, 202);
    await lease('release', { 'x-ms-lease-id': ids[1] }, 200);
});

test('unsupported headers and parameters are refused', async (t) => {
    const { name } = await newFilesystem(t);
    await rawDfsRefused(rawDfs('PUT', `/${name}/f?resource=file`, { 'x-ms-encryption-scope': 'scope' }), 400, 'UnsupportedHeader');
    await rawDfsRefused(rawDfs('GET', `/${name}/f?snapshot=2020-01-01T00:00:00Z`), 400, 'UnsupportedQueryParameter');
    await rawDfsRefused(rawDfs('GET', `/${name}?${FS}`), 400, 'MissingRequiredQueryParameter');
    await rawDfsRefused(rawDfs('PUT', `/${name}/f?resource=file`, { 'x-ms-properties': '1=MQ==' }), 400, 'InvalidPropertyName');
    await rawDfsRefused(rawDfs('GET', `/${name}?${FS}&recursive=true&continuation=x`), 400, 'InvalidQueryParameterValue');
});

test('a preflight request without CORS rules', async (t) => {
    const { name } = await newFilesystem(t);
    const headers = { Origin: 'http://a.example', 'Access-Control-Request-Method': 'GET' };
    await rawDfsRefused(rawDfs('OPTIONS', `/${name}/f`, headers, '', { signed: false }), 403, 'CorsPreflightFailure');
});

test('what does not exist, and what is malformed', async (t) => {
    const { name } = await newFilesystem(t);
    const none = containerName();
    await rawDfsRefused(rawDfs('GET', '/?resource=account&continuation=%2F'), 400, 'InvalidQueryParameterValue');
    await rawDfsRefused(rawDfs('HEAD', `/${none}?${FS}`), 404, 'FilesystemNotFound');
    await rawDfsRefused(rawDfs('PATCH', `/${none}?${FS}`, { 'x-ms-properties': '' }), 404, 'FilesystemNotFound');
    await rawDfsRefused(rawDfs('DELETE', `/${none}?${FS}`), 404, 'FilesystemNotFound');
    await rawDfsRefused(rawDfs('HEAD', `/${name}/none`), 404, 'PathNotFound');
    await rawDfsRefused(rawDfs('PATCH', `/${name}/none?action=setProperties`), 404, 'PathNotFound');
    const leases = {
        acquire: { 'x-ms-lease-duration': '15' },
        renew: { 'x-ms-lease-id': 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee' },
        change: {
            'x-ms-lease-id': 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
            'x-ms-proposed-lease-id': 'aaaaaaaa-bbbb-cccc-dddd-ffffffffffff',
        },
        release: { 'x-ms-lease-id': 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee' },
        break: {},
    };
    for (const [action, headers] of Object.entries(leases))
        await rawDfsRefused(rawDfs('POST', `/${name}/none`, { 'x-ms-lease-action': action, ...headers }), 404, 'PathNotFound');
});
