// Every header and parameter that the definitions of the Data Lake endpoint have for an operation is refused where its value makes
// no sense, or has an effect that is checked here, or is listed below with the reason why it has none. definitions.json: their names, of version
// 2026-06-06. rest: datalakestoragegen2
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';
import { containerName } from './setup.mjs';

const DEFINITIONS = JSON.parse(readFileSync(new URL('definitions.json', import.meta.url))).dfs;
const VERSIONS = ['2020-02-10', '2026-06-06'];
const NONSENSE = 'nonsense';
const A_GUID = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa';

const servers = { flat: await Server.start({ args: [] }), hierarchical: await Server.start({ args: ['--hierarchical'] }) };
after(() => Promise.all(Object.values(servers).map((server) => server.kill().then(() => server.remove()))));

/* ---- one request of each operation that succeeds ---- */

const ofFilesystem = (method, query, headers) => ({ method, path: '', query: `resource=filesystem${query ?? ''}`, headers });
const ofFile = (method, query, headers, body) => ({ method, path: '/f', query, headers, body });
const REQUESTS = {
    Service_listFileSystems: { method: 'GET', path: null, query: 'resource=account' },
    FileSystemOperations_create: { method: 'PUT', path: null, query: 'resource=filesystem', isNew: true },
    FileSystemOperations_setProperties: ofFilesystem('PATCH', '', { 'x-ms-properties': '' }),
    FileSystemOperations_getProperties: ofFilesystem('HEAD'),
    FileSystemOperations_delete: ofFilesystem('DELETE'),
    FileSystemOperations_listPaths: ofFilesystem('GET', '&recursive=true'),
    PathOperations_create: { method: 'PUT', path: '/new', query: 'resource=file' },
    'PathOperations_create rename': { method: 'PUT', path: '/new', query: 'mode=legacy', headers: { 'x-ms-rename-source': '{source}' }, of: 'PathOperations_create', is: 'hierarchical' },
    'PathOperations_update setProperties': ofFile('PATCH', 'action=setProperties', {}),
    PathOperations_lease: ofFile('POST', '', { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' }),
    PathOperations_read: ofFile('GET', ''),
    PathOperations_getProperties: ofFile('HEAD', ''),
    PathOperations_delete: ofFile('DELETE', ''),
    PathOperations_setAccessControl: { ...ofFile('PATCH', 'action=setAccessControl', { 'x-ms-permissions': '0700' }), is: 'hierarchical' },
    PathOperations_setAccessControlRecursive: { ...ofFile('PATCH', 'action=setAccessControlRecursive&mode=modify', { 'x-ms-acl': 'user::rwx' }), is: 'hierarchical' },
    PathOperations_flushData: ofFile('PATCH', 'action=flush&position=0'),
    PathOperations_appendData: ofFile('PATCH', 'action=append&position=0', {}, 'text'),
};

/** Operations without a request here, and why. */
const ELSEWHERE = {
    FileSystemOperations_listBlobHierarchySegment: 'List Blobs of the Blob service: headers.test.mjs',
    PathOperations_setExpiry: 'a request for the Blob service', PathOperations_undelete: 'a request for the Blob service',
    PathOperations_update: 'by its actions',
};

/* ---- any value: the status, or the header that shows it ---- */

const SHOWN = { 'x-ms-content-type': 'content-type', 'x-ms-content-encoding': 'content-encoding', 'x-ms-content-language': 'content-language',
    'x-ms-cache-control': 'cache-control', 'x-ms-content-disposition': 'content-disposition',
    'x-ms-encryption-context': 'x-ms-encryption-context' };
const TAKEN = {
    'if-match': [412, 'the tag is another one'], 'if-none-match': [200, 'the tag is another one'],
    'x-ms-source-if-match': [412, 'the tag is another one'], 'x-ms-source-if-none-match': [201, 'the tag is another one'],
    'content-type': [202, 'the body is what the operation takes, whatever this says of it'], range: [200, 'of no known form. rfc: 9110 14.2'],
    prefix: [200, 'filters'], directory: [404, 'there is no such directory'], beginfrom: [200, 'is where the list begins'],
    'x-ms-owner': [200, 'a name'], 'x-ms-group': [200, 'a name'], 'x-ms-encryption-algorithm': [200, 'has no effect without a key. decision: 1272'],
    continuation: [200, 'the name of a filesystem'], 'x-ms-properties': [200, 'one without a value'],
};
/** Exceptions: operation and word. */
const OTHERS = {
    'PathOperations_create x-ms-owner': [201, 'a name'], 'PathOperations_create x-ms-group': [201, 'a name'],
    'PathOperations_create if-none-match': [201, 'nothing exists'], 'PathOperations_create x-ms-encryption-algorithm': [201, 'decision: 1272'],
    'PathOperations_create x-ms-properties': [201, 'one without a value'], 'FileSystemOperations_create x-ms-properties': [201, 'one without a value'],
    'PathOperations_create if-match': [412, 'nothing exists'],
    'PathOperations_create rename if-none-match': [201, 'nothing exists'],
    'PathOperations_lease x-ms-lease-break-period': [201, 'of a break'], 'PathOperations_update setProperties content-type': [200, 'there is no body'],
    'PathOperations_update setProperties x-ms-content-md5': [200, 'is stored as it is'], 'PathOperations_flushData x-ms-content-md5': [200, 'is stored as it is'],
    'PathOperations_create rename x-ms-encryption-algorithm': [201, 'decision: 1272'],
    ...Object.fromEntries(['read', 'getProperties'].flatMap((name) => ['if-modified-since', 'if-unmodified-since']
        .map((word) => [`PathOperations_${name} ${word}`, [200, 'a read ignores what is no date. rfc: 9110 13.1.3']]))),
    'PathOperations_lease if-none-match': [201, 'the tag is another one'],
    'PathOperations_appendData x-ms-encryption-algorithm': [202, 'decision: 1272'],
};

/* ---- the walk ---- */

async function must(coming) {
    const answer = await coming;
    assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
    return answer;
}

async function world(kind) {
    const server = servers[kind], name = containerName();
    const ask = (method, target, headers, body, version = '2026-06-06') =>
        raw(method, target, headers, body, { base: { host: server.host, port: server.ports.dfs }, version });
    await must(ask('PUT', `/${name}?resource=filesystem`));
    await must(ask('PUT', `/${name}/f?resource=file`));
    return { name, ask };
}

async function send(at, request, { header, parameter, version }) {
    const path = request.path === null ? (request.isNew ? `/${at.name}-new` : '/') : `/${at.name}${request.path}`;
    const without = request.query.split('&').filter((one) => one && one.split('=')[0].toLowerCase() !== parameter);
    const query = [...without, ...(parameter ? [`${parameter}=${NONSENSE}`] : [])].join('&');
    const sent = Object.entries({ ...request.headers, ...(header ? { [header]: NONSENSE } : {}) })
        .map(([name, value]) => [name, value.replace('{source}', `/${at.name}/f`)]);

    return at.ask(request.method, `${path}?${query}`, Object.fromEntries(sent), request.body, version);
}

/** What is wrong with the way in which an operation takes a header or parameter; null if nothing is. */
async function problem(kind, name, given) {
    const request = REQUESTS[name], word = given.parameter ?? given.header, at = await world(kind);
    const answer = await send(at, request, given);
    const taken = (OTHERS[`${name} ${word}`] ?? TAKEN[word] ?? [null])[0];
    const isFor = `${kind} ${given.version} ${name} ${word}`;

    if (answer.status === 400)
        return null;
    if (!(word in SHOWN))
        return answer.status === taken ? null : `${isFor}: ${answer.status} ${answer.code}`;
    const shown = await must(at.ask('HEAD', `/${at.name}${request.path}`));
    return shown.headers.get(SHOWN[word]) === NONSENSE ? null : `${isFor}: ${answer.status}, not shown`;
}

test('each operation of the definitions has a request', () => {
    const named = new Set([...Object.keys(ELSEWHERE), ...Object.entries(REQUESTS).map(([name, { of }]) => of ?? name)]);
    assert.deepEqual(Object.keys(DEFINITIONS).filter((name) => !named.has(name)), []);
});

for (const [name, request] of Object.entries(REQUESTS)) {
    const { parameters, headers } = DEFINITIONS[name.split(' ')[0]];
    for (const kind of Object.keys(servers).filter((one) => (request.is ?? one) === one)) {
        test(`${kind}: ${name}: each of its headers and parameters`, async () => {
            const found = [];
            await must(send(await world(kind), request, {}));
            for (const version of VERSIONS) {
                for (const given of [...parameters.map((parameter) => ({ parameter })), ...headers.map((header) => ({ header }))])
                    found.push(await problem(kind, name, { ...given, version }));
            }
            assert.deepEqual(found.filter(Boolean), []);
        });
    }
}
