// Every header and parameter that the definitions of the File service have for an operation is refused where its
// value makes no sense, or has an effect that is looked at here, or is listed below with the reason why it has none.
// definitions.json: their names, of versions 2026-04-06 and 2026-10-06. rest: File-Service-REST-API
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { shareSas } from '../lib/sas.mjs';
import { Server } from '../lib/server.mjs';
import { sourceServer } from '../lib/source.mjs';
import { account } from './setup.mjs';
import { newShare, rawFile, shareName, url } from './shares-setup.mjs';

const DEFINITIONS = JSON.parse(readFileSync(new URL('definitions.json', import.meta.url))).file;
/* What a later version knows is not ignored in an earlier one: the first of the File service, and the newest. */
const VERSIONS = ['2015-02-21', '2026-10-06'];
const NONSENSE = 'nonsense';
const A_GUID = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa';
/* ---- one request of each operation that succeeds ---- */

const sized = (length) => ({ 'x-ms-type': 'file', 'x-ms-content-length': `${length}` });
const lease = (action, more = {}) => ({ 'x-ms-lease-action': action, ...more });
const source = (at, name) => `${new URL(url).origin}/${account.name}/${at.share}/${name}`;
const signedSource = (at, name) => `${source(at, name)}?${shareSas(at.share, { sp: 'r', se: '2100-01-01T00:00:00Z' })}`;
/** What the request needs beside the share with "d" and "f": before it. */
async function leased(at, path, query) {
    await must(at.ask('PUT', `${path}?${query}`, lease('acquire', { 'x-ms-lease-duration': '-1', 'x-ms-proposed-lease-id': A_GUID })));
}

const ofFile = (method, query, headers, body) => ({ method, path: `/f${query && `?${query}`}`, headers, body });
const ofDirectory = (method, query, headers) => ({ method, path: `/d?restype=directory${query && `&${query}`}`, headers });
const ofShare = (method, query, headers, body) => ({ method, path: `?restype=share${query && `&${query}`}`, headers, body });
const ofService = (method, query, body) => ({ method, path: null, query, body });

const REQUESTS = {
    Directory_create: () => ({ method: 'PUT', path: '/new?restype=directory' }),
    Directory_getProperties: () => ofDirectory('GET', ''),
    Directory_delete: () => ofDirectory('DELETE', ''),
    Directory_setProperties: () => ofDirectory('PUT', 'comp=properties'),
    Directory_setMetadata: () => ofDirectory('PUT', 'comp=metadata'),
    Directory_listFilesAndDirectoriesSegment: () => ({ method: 'GET', path: '?restype=directory&comp=list' }),
    Directory_listHandles: () => ({ method: 'GET', path: '/d?comp=listhandles' }),
    Directory_forceCloseHandles: () => ({ method: 'PUT', path: '/d?comp=forceclosehandles', headers: { 'x-ms-handle-id': '*' } }),
    Directory_rename: (at) => ({ method: 'PUT', path: '/e?restype=directory&comp=rename', headers: { 'x-ms-file-rename-source': source(at, 'd') } }),
    File_create: () => ({ method: 'PUT', path: '/new', headers: sized(4), body: 'text' }),
    File_download: () => ofFile('GET', '', { 'x-ms-range': 'bytes=0-3' }),
    File_getProperties: () => ofFile('HEAD', ''),
    File_delete: () => ofFile('DELETE', ''),
    File_setHttpHeaders: () => ofFile('PUT', 'comp=properties'),
    File_setMetadata: () => ofFile('PUT', 'comp=metadata'),
    File_acquireLease: () => ofFile('PUT', 'comp=lease', lease('acquire', { 'x-ms-lease-duration': '-1' })),
    File_releaseLease: async (at) => {
        await leased(at, '/f', 'comp=lease');
        return ofFile('PUT', 'comp=lease', lease('release', { 'x-ms-lease-id': A_GUID }));
    },
    File_changeLease: async (at) => {
        await leased(at, '/f', 'comp=lease');
        return ofFile('PUT', 'comp=lease', lease('change', { 'x-ms-lease-id': A_GUID, 'x-ms-proposed-lease-id': A_GUID.replaceAll('a', 'b') }));
    },
    File_breakLease: async (at) => {
        await leased(at, '/f', 'comp=lease');
        return ofFile('PUT', 'comp=lease', lease('break'));
    },
    File_uploadRange: () => ofFile('PUT', 'comp=range', { 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-3' }, 'text'),
    File_uploadRangeFromURL: (at) => ofFile('PUT', 'comp=range', { 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-3',
        'x-ms-source-range': 'bytes=0-3', 'x-ms-copy-source': signedSource(at, 'g') }),
    File_getRangeList: () => ofFile('GET', 'comp=rangelist'),
    File_listAllRanges: () => ofFile('GET', 'comp=rangelist&maxresults=5'),
    File_startCopy: (at) => ({ method: 'PUT', path: '/new', headers: { 'x-ms-copy-source': source(at, 'g') } }),
    File_abortCopy: async (at) => {
        const begun = await must(at.ask('PUT', '/new', { 'x-ms-copy-source': at.pending, 'x-ms-file-attributes': 'None',
            'x-ms-file-creation-time': 'now', 'x-ms-file-last-write-time': 'now' }));
        return { method: 'PUT', path: `/new?comp=copy&copyid=${begun.headers.get('x-ms-copy-id')}`, headers: { 'x-ms-copy-action': 'abort' } };
    },
    File_listHandles: () => ofFile('GET', 'comp=listhandles'),
    File_forceCloseHandles: () => ofFile('PUT', 'comp=forceclosehandles', { 'x-ms-handle-id': '*' }),
    File_rename: (at) => ({ method: 'PUT', path: '/new?comp=rename', headers: { 'x-ms-file-rename-source': source(at, 'f') } }),
    Service_setProperties: () => ofService('PUT', 'restype=service&comp=properties', '<StorageServiceProperties></StorageServiceProperties>'),
    Service_getProperties: () => ofService('GET', 'restype=service&comp=properties'),
    Service_listSharesSegment: () => ofService('GET', 'comp=list'),
    Share_create: (at) => ({ ...ofShare('PUT', ''), share: `${at.share}-new` }),
    Share_getProperties: () => ofShare('GET', ''),
    Share_delete: () => ofShare('DELETE', ''),
    Share_acquireLease: () => ofShare('PUT', 'comp=lease', lease('acquire', { 'x-ms-lease-duration': '-1' })),
    ...Object.fromEntries([['release', {}], ['change', { 'x-ms-proposed-lease-id': A_GUID.replaceAll('a', 'b') }], ['renew', {}]]
        .map(([action, more]) => [`Share_${action}Lease`, async (at) => {
            await leased(at, '', 'restype=share&comp=lease');
            return ofShare('PUT', 'comp=lease', lease(action, { 'x-ms-lease-id': A_GUID, ...more }));
        }])),
    Share_breakLease: async (at) => {
        await leased(at, '', 'restype=share&comp=lease');
        return ofShare('PUT', 'comp=lease', lease('break'));
    },
    Share_createSnapshot: () => ofShare('PUT', 'comp=snapshot'),
    Share_createPermission: () => ofShare('PUT', 'comp=filepermission', {}, '{"permission":"O:SYG:SYD:(A;;FA;;;BA)"}'),
    Share_getPermission: async (at) => {
        const made = await must(at.ask('PUT', '?restype=share&comp=filepermission', {}, '{"permission":"O:SYG:SYD:(A;;FA;;;BA)"}'));
        return ofShare('GET', 'comp=filepermission', { 'x-ms-file-permission-key': made.headers.get('x-ms-file-permission-key') });
    },
    Share_restore: async (at) => {
        await must(at.ask('DELETE', '?restype=share'));
        const list = await must(at.ask('GET', `?comp=list&include=deleted&prefix=${at.share}`, {}, '', ''));
        return ofShare('PUT', 'comp=undelete', { 'x-ms-deleted-share-name': at.share,
            'x-ms-deleted-share-version': /<Version>(.*?)<\/Version>/.exec(list.text)[1] });
    },
    Share_setProperties: () => ofShare('PUT', 'comp=properties'),
    Share_setMetadata: () => ofShare('PUT', 'comp=metadata'),
    Share_getAccessPolicy: () => ofShare('GET', 'comp=acl'),
    Share_setAccessPolicy: () => ofShare('PUT', 'comp=acl', {}, '<SignedIdentifiers />'),
    Share_getStatistics: () => ofShare('GET', 'comp=stats'),
};

/* Needs servers of their own: a copy that is pending, shares that are kept. */
const KEPT = '<StorageServiceProperties><ShareDeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days>' +
    '</ShareDeleteRetentionPolicy></StorageServiceProperties>';
const OWN = {
    File_abortCopy: async (t, own) => {
        const { url: other } = await sourceServer(t, { '/s': (request, response) => {
            response.writeHead(200, { 'content-length': 300 << 20, etag: '"0x1"' });
            response.write('begin');
        } });
        own.pending = `${other}/s`;
    },
    Share_restore: async (t, own) => {
        await must(rawFile('PUT', '/?restype=service&comp=properties', {}, KEPT, own));
    },
};

/* What needs more than a request by an account's key. */
const ELSEWHERE = {
    Service_getUserDelegationKey: 'tokens.test.mjs',
    File_createSymbolicLink: 'file-links.test.mjs: of shares for NFS', File_getSymbolicLink: 'file-links.test.mjs: of shares for NFS',
    File_createHardLink: 'file-links.test.mjs: of shares for NFS',
};

/* ---- what any value is good for: seen in the header of the file or directory, or in a list ---- */

const EFFECTS = {
    'x-ms-meta-*': 'x-ms-meta-nonsense', 'x-ms-content-type': 'content-type', 'x-ms-content-encoding': 'content-encoding',
    'x-ms-content-language': 'content-language', 'x-ms-cache-control': 'cache-control', 'x-ms-content-disposition': 'content-disposition',
    'x-ms-content-md5': 'content-md5', prefix: 'list',
};
const AT = { Directory: { create: '/new?restype=directory', rename: '/e?restype=directory', setMetadata: '/d?restype=directory' },
    File: { create: '/new', rename: '/new', startCopy: '/new', setHttpHeaders: '/f', setMetadata: '/f' },
    Share: { create: '?restype=share', createSnapshot: '?restype=share', setMetadata: '?restype=share' } };

async function assertEffect(at, name, word, request, answer) {
    const [level, operation] = name.split('_');

    if (EFFECTS[word] === 'list')
        return assert.doesNotMatch(answer.text, /<(File|Directory|Share)>/);
    const snapshot = answer.headers.get('x-ms-snapshot');
    const where = `${AT[level][operation]}${snapshot ? `&sharesnapshot=${snapshot}` : ''}`;
    const shown = await must(at.ask('HEAD', where, {}, '', request.share ?? at.share));
    return assert.equal(shown.headers.get(EFFECTS[word]), NONSENSE, `${name}, ${word}`);
}

/* ---- what has none, and why ---- */

const WITHOUT = {
    'content-type': 'the body is what the operation takes, whatever this says of it',
    'x-ms-range': 'a range of no known form is ignored. rfc: 9110 14.2', range: 'as x-ms-range',
};
/* A change must not be of other bytes than were meant. */
const REFUSED = new Set(['File_uploadRange x-ms-range', 'File_uploadRangeFromURL x-ms-range']);

/* ---- the walk ---- */

async function must(coming) {
    const answer = await coming;

    assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
    return answer;
}

/** The server that an operation is asked of: { base }, for raw(). */
async function serverOf(t, name) {
    if (!(name in OWN))
        return {};
    const server = await Server.start({ args: ['--allowCopyFrom', '127.0.0.1,::1'] });
    const own = { base: { host: server.host, port: server.ports.file } };

    t.after(() => server.kill().then(() => server.remove()));
    await OWN[name](t, own);
    return own;
}

async function world(t, own) {
    const share = own.base ? shareName() : (await newShare(t)).name;
    const ask = (method, path, headers, body, of = share) => rawFile(method, `/${of}${path}`, headers, body, own);

    if (own.base)
        await must(ask('PUT', '?restype=share'));
    await must(ask('PUT', '/d?restype=directory'));
    await must(ask('PUT', '/f', sized(1024)));
    await must(ask('PUT', '/g', sized(4)));
    return { share, ask, ...own };
}

/** A request of the version: Create File has no content before 2026-02-06. */
async function requestOf(name, at, version) {
    const request = await REQUESTS[name](at);
    return name === 'File_create' && version < '2026-02-06' ? { ...request, body: undefined } : request;
}

async function send(at, request, { header, parameter, version }) {
    const { method, share = at.share } = request;
    const path = request.path === null ? `/?${request.query}` : `/${share}${request.path}`;
    const without = path.replace(new RegExp(`&${parameter}=[^&]*`), '');
    const target = parameter ? `${without}${path.includes('?') ? '&' : '?'}${parameter}=${NONSENSE}` : path;

    return rawFile(method, target, { ...request.headers, ...(header ? { [header.replace('*', NONSENSE)]: NONSENSE } : {}) }, request.body, { ...at, ...(version && { version }) });
}

/** How an operation takes a header or parameter in a version. */
async function check(t, own, name, given) {
    const at = await world(t, own);
    const request = await requestOf(name, at, given.version);
    const word = given.parameter ?? given.header;
    const answer = await send(at, request, given);

    if (word in EFFECTS || (word in WITHOUT && !REFUSED.has(`${name} ${word}`)))
        await must(answer);
    else
        assert.equal(answer.status, 400, `${name} takes ${word}: ${answer.text}`);
    if (word in EFFECTS)
        await assertEffect(at, name, word, request, answer);
}

for (const [name, { parameters, headers }] of Object.entries(DEFINITIONS)) {
    if (name in ELSEWHERE)
        continue;
    test(`${name}: each of its headers and parameters (rest: File-Service-REST-API)`, async (t) => {
        const own = await serverOf(t, name), at = await world(t, own);

        await must(send(at, await REQUESTS[name](at), {}));
        for (const version of VERSIONS) {
            for (const parameter of parameters)
                await check(t, own, name, { parameter, version });
            for (const header of headers)
                await check(t, own, name, { header, version });
        }
    });
}
