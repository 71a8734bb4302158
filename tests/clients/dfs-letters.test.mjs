// Each permission letter of each kind of shared access signature against each operation of the Data Lake endpoint, on an account
// with a hierarchical namespace. rest: Create-account-SAS, Create-service-SAS, Create-user-delegation-SAS; decisions: 1322, 1323, 1335
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:https';
import { after, test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';
import { claimsOf, ISSUER, jwks, rsa, serveSecurely, tokenOf } from './tokens-setup.mjs';

const LETTERS = 'racwdxyltmeopif';
const [OWNER, ANN, BOB] = ['1', '3', '4'].map((digit) => '11111111-1111-1111-1111-111111111111'.replaceAll('1', digit));
const { account, key } = DEVELOPMENT;
const HERE = `/subscriptions/x/resourceGroups/y/providers/Microsoft.Storage/storageAccounts/${account}`;
const ROLES = [{ principalId: OWNER, roleDefinitionName: 'Storage Blob Data Owner', scope: HERE },
    { principalId: BOB, roleDefinitionName: 'Storage Blob Data Contributor', scope: HERE }];
const EXPIRY = `${new Date(Date.now() + 36e5).toISOString().slice(0, 19)}Z`;
const FULL = { 'x-ms-acl': 'user::rwx,group::rwx,other::---' };

/* ---- the server, and requests to it ---- */

const agent = new Agent({ keepAlive: true });
after(() => agent.destroy());

async function start(t) {
    const server = await serveSecurely(t, ['--hierarchical', '--oauthIssuer', ISSUER, '--oauthKeys', 'FOLDER/keys.json', '--oauthRoles', 'FOLDER/roles.json'],
        { 'keys.json': jwks(['rsa', rsa]), 'roles.json': JSON.stringify(ROLES) });
    const delegationOf = (oid) => {
        const bearer = { getToken: async () => ({ token: tokenOf(claimsOf(oid)), expiresOnTimestamp: Date.now() + 3e5 }) };
        const service = new BlobServiceClient(server.url, bearer, { retryOptions: { maxTries: 1 }, tlsOptions: { ca: server.ca } });
        return service.getUserDelegationKey(new Date(Date.now() - 6e4), new Date(Date.now() + 36e5));
    };

    return { ...server, delegation: await delegationOf(OWNER), delegationOf };
}

/** target: path and query below the account. headers: of x-ms-version 2026-06-06 */
function ask(server, method, target, headers = {}, body = '', signed = false) {
    const { host, hostname, port } = new URL(server.dfsUrl);
    const whole = { method, target: `/${account}${target}`, headers: Object.entries({ Host: host, 'Content-Length': `${body.length}`, ...headers }) };
    const sent = signed ? sign(whole, { version: '2026-06-06', credentials: DEVELOPMENT }) : { ...whole, headers: [...whole.headers, ['x-ms-version', '2026-06-06']] };
    return new Promise((resolve, reject) => {
        const going = request({ hostname, port, method, path: sent.target, headers: Object.fromEntries(sent.headers), ca: server.ca, agent }, (answer) => {
            answer.resume().on('end', () => resolve({ status: answer.statusCode, code: answer.headers['x-ms-error-code'], headers: answer.headers }));
        });
        going.on('error', reject).end(body);
    });
}

async function must(coming) {
    const answer = await coming;
    assert.ok(answer.status < 300, `${answer.status} ${answer.code}`);
    return answer;
}

/* ---- signatures ---- */

const queryOf = (fields, text, secret) => new URLSearchParams({
    ...fields, sig: createHmac('sha256', Buffer.from(secret, 'base64')).update(text).digest('base64'),
});

function accountSas(sp) {
    const fields = { sv: '2020-02-10', ss: 'b', srt: 'sco', sp, se: EXPIRY };
    return queryOf(fields, [account, sp, 'b', 'sco', '', EXPIRY, '', '', fields.sv, ''].join('\n'), key);
}

/** The fields of version `sv` after the key or policy. */
const tailOf = (sv, sr) => [...['', '', sv, sr, ''], ...(sv >= '2020-12-06' ? [''] : [])];
const overrides = ['', '', '', '', ''];

/** The signed resource, and sdd. */
function resourceOf(filesystem, { sr, path }) {
    const whole = `/blob/${account}/${filesystem}`;
    return sr === 'c' ? [whole] : [`${whole}/${path}`, ...(sr === 'd' ? [path === '' ? 0 : path.split('/').length] : [])];
}

function serviceSas(filesystem, sp, scope, sv = '2020-02-10') {
    const [resource, sdd] = resourceOf(filesystem, scope);
    const fields = { sv, sr: scope.sr, sp, se: EXPIRY, ...(sdd === undefined ? {} : { sdd: `${sdd}` }) };
    return queryOf(fields, [sp, '', EXPIRY, resource, '', ...tailOf(sv, scope.sr), ...overrides].join('\n'), key);
}

/** more: { saoid, suoid, scid } */
function delegationSas(server, filesystem, sp, scope, more = {}, sv = '2020-02-10') {
    const [resource, sdd] = resourceOf(filesystem, scope);
    const { delegation } = server;
    const time = (date) => `${date.toISOString().slice(0, 19)}Z`;
    const signedKey = { skoid: delegation.signedObjectId, sktid: delegation.signedTenantId, skt: time(delegation.signedStartsOn),
        ske: time(delegation.signedExpiresOn), sks: delegation.signedService, skv: delegation.signedVersion };
    const fields = { sv, sr: scope.sr, sp, se: EXPIRY, ...signedKey, ...more, ...(sdd === undefined ? {} : { sdd: `${sdd}` }) };
    const text = [sp, '', EXPIRY, resource, ...Object.values(signedKey), more.saoid ?? '', more.suoid ?? '', more.scid ?? '',
        ...(sv >= '2025-07-05' ? ['', ''] : []), ...tailOf(sv, scope.sr), ...(sv >= '2026-04-06' ? ['', ''] : []), ...overrides];
    return queryOf(fields, text.join('\n'), delegation.value);
}

/* ---- the operations: what is sent, what must exist before, and the letters that permit it ---- */

const FILE = { path: 'd/f', before: ['d/f'] }, NEW = { path: 'd/new', before: [], gone: ['d/new'] };
const rename = (path, gone) => ({ path, before: ['d/f'], gone, source: 'd/f' });
/* of: letters of service and delegation SAS; once: of all kinds, while nothing exists; account: those of an account SAS; not: scopes
   that do not cover it */
const OPERATIONS = {
    'Filesystem List': { method: 'GET', query: 'resource=account', level: 'service', account: 'l' },
    'Filesystem Create': { method: 'PUT', query: 'resource=filesystem', level: 'new', account: 'cw' },
    'Filesystem Get Properties': { method: 'HEAD', query: 'resource=filesystem', level: 'filesystem', account: 'r' },
    'Filesystem Set Properties': { method: 'PATCH', query: 'resource=filesystem', level: 'filesystem', headers: { 'x-ms-properties': '' }, account: 'w' },
    'Filesystem Delete': { method: 'DELETE', query: 'resource=filesystem', level: 'new', exists: true, account: 'd' },
    'Path List': { method: 'GET', query: 'resource=filesystem&recursive=true&directory=d', level: 'filesystem', before: ['d/f'], account: 'l', of: 'l', not: 'b' },
    'Path Create, new file': { method: 'PUT', ...NEW, query: 'resource=file', account: 'cw', of: 'cw' },
    'Path Create, existing file': { method: 'PUT', ...FILE, query: 'resource=file', account: 'w', of: 'w' },
    'Path Create, new directory': { method: 'PUT', ...NEW, query: 'resource=directory', account: 'cw', of: 'cw' },
    'Path Create with a list': { method: 'PUT', ...NEW, query: 'resource=file', headers: FULL, with: 'c', account: 'p', of: 'p' },
    'Path Rename, destination': { method: 'PUT', ...rename('d/new', ['d/new']), account: 'cw', of: 'cwm' },
    'Path Rename, source': { method: 'PUT', ...rename('d/new', ['d/new']), of: 'dm', account: 'd', isSource: true },
    'Path Append Data': { method: 'PATCH', ...FILE, query: 'action=append&position=0', body: 'x', account: 'aw', of: 'aw' },
    'Path Flush Data': { method: 'PATCH', ...FILE, query: 'action=flush&position=0', account: 'aw', of: 'aw' },
    'Path Set Properties': { method: 'PATCH', ...FILE, query: 'action=setProperties', account: 'w', of: 'w' },
    'Path Set Access Control': { method: 'PATCH', ...FILE, query: 'action=setAccessControl', headers: FULL, account: 'w', of: 'p' },
    'Path Set Access Control, group': { method: 'PATCH', ...FILE, query: 'action=setAccessControl', headers: { 'x-ms-group': ANN }, account: 'w', of: 'o' },
    'Path Set Access Control, owner': { method: 'PATCH', ...FILE, query: 'action=setAccessControl', headers: { 'x-ms-owner': ANN }, account: '', of: 'o' },
    'Path Set Access Control Recursive': { method: 'PATCH', ...FILE, query: 'action=setAccessControlRecursive&mode=modify',
        headers: { 'x-ms-acl': 'user::rwx' }, account: 'w', of: 'p' },
    'Path Get Access Control': { method: 'HEAD', ...FILE, query: 'action=getAccessControl', account: 'r', of: 're' },
    'Path Check Access': { method: 'HEAD', ...FILE, query: 'action=checkAccess&fsAction=r--', account: 'r', of: 're' },
    'Path Get Properties, status': { method: 'HEAD', ...FILE, query: 'action=getStatus', account: 'r', of: 're' },
    'Path Get Properties': { method: 'HEAD', ...FILE, account: 'r', of: 'r' },
    'Path Read': { method: 'GET', ...FILE, account: 'r', of: 'r' },
    'Path Lease, acquire': { method: 'POST', ...FILE, headers: { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' }, fresh: true, account: 'w', of: 'w' },
    'Path Lease, break': { method: 'POST', ...FILE, headers: { 'x-ms-lease-action': 'break' }, leased: true, account: 'dw', of: 'dw' },
    'Path Delete': { method: 'DELETE', ...FILE, account: 'd', of: 'd' },
    'Path Delete, recursive': { method: 'DELETE', path: 'd/s', before: ['d/s/f'], query: 'recursive=true', account: 'd', of: 'd', not: 'b' },
};

/* ---- the kinds ---- */

const SCOPES = { c: () => ({ sr: 'c' }), d: () => ({ sr: 'd', path: 'd' }), b: (path) => ({ sr: 'b', path: path ?? 'd' }) };
const ofScopes = (name, make) => Object.fromEntries(Object.entries(SCOPES)
    .map(([sr, scope]) => [`${name}, sr=${sr}`, { sr, make: (server, filesystem, sp, path) => make(server, filesystem, sp, scope(path)) }]));
const KINDS = {
    'account SAS': { make: (server, filesystem, sp) => accountSas(sp) },
    ...ofScopes('service SAS', (server, ...rest) => serviceSas(...rest)),
    ...ofScopes('user delegation SAS', (server, filesystem, sp, scope) => delegationSas(server, filesystem, sp, scope, { scid: BOB })),
    'user delegation SAS with saoid': { sr: 'c', make: (server, filesystem, sp) => delegationSas(server, filesystem, sp, { sr: 'c' }, { saoid: ANN }) },
    'user delegation SAS with suoid': { sr: 'c', make: (server, filesystem, sp) => delegationSas(server, filesystem, sp, { sr: 'c' }, { suoid: ANN }) },
    'user delegation SAS with a refused suoid': { sr: 'c', isRefused: true,
        make: (server, filesystem, sp) => delegationSas(server, filesystem, sp, { sr: 'c' }, { suoid: BOB }) },
};

/** The letters that permit the operation. */
function permitting(operation, kind) {
    if (!kind.sr)
        return operation.account;
    return kind.isRefused || operation.not?.includes(kind.sr) ? '' : operation.of ?? '';
}

/* ---- one cell ---- */

/** Brings the filesystem to the state before the operation: paths that Ann owns, and that only she may use. */
async function prepare(server, filesystem, operation) {
    const byKey = (method, target, headers) => ask(server, method, target, headers, '', true);

    if (operation.level === 'new') {
        await byKey('DELETE', `/${filesystem}-new?resource=filesystem`);
        return operation.exists ? must(byKey('PUT', `/${filesystem}-new?resource=filesystem`)) : null;
    }
    await byKey('DELETE', `/${filesystem}/d?recursive=true`);
    for (const path of ['d', ...(operation.before ?? [])]) {
        await must(byKey('PUT', `/${filesystem}/${path}?resource=${path === 'd' ? 'directory' : 'file'}`));
        const parts = path.split('/');
        for (let i = 1; i <= parts.length; i++)
            await must(byKey('PATCH', `/${filesystem}/${parts.slice(0, i).join('/')}?action=setAccessControl`, { 'x-ms-owner': ANN, 'x-ms-group': ANN, 'x-ms-permissions': '0770' }));
    }
    if (operation.leased)
        await must(byKey('POST', `/${filesystem}/${operation.path}`, { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' }));
    return null;
}

const TARGETS = { service: () => '/', filesystem: (name) => `/${name}`, new: (name) => `/${name}-new` };

function send(server, filesystem, operation, kind, sp) {
    const target = operation.level ? TARGETS[operation.level](filesystem) : `/${filesystem}/${operation.path}`;
    const of = operation.level === 'new' ? `${filesystem}-new` : filesystem;
    const all = `${operation.with ?? ''}${sp}`;
    const any = (path) => kind.make(server, of, 'm', path);
    let sas = kind.make(server, of, all, operation.path), headers = operation.headers ?? {};

    if (operation.source) {
        const source = operation.isSource ? kind.make(server, of, sp, operation.source) : kind.sr ? any(operation.source) : accountSas('d');
        if (operation.isSource)
            sas = kind.sr ? any(operation.path) : accountSas('w');
        headers = { 'x-ms-rename-source': `/${filesystem}/${operation.source}?${source}`, ...headers };
    }
    return ask(server, operation.method, `${target}?${[operation.query, sas].filter(Boolean).join('&')}`, headers, operation.body);
}

const REFUSALS = ['AuthorizationPermissionMismatch', 'AuthorizationFailure', 'AuthenticationFailed', 'UnauthorizedBlobOverwrite'];

test('each letter of each kind of SAS permits the documented operations, and no others', async (t) => {
    const server = await start(t);
    const filesystem = 'letters';
    await must(ask(server, 'PUT', `/${filesystem}?resource=filesystem`, {}, '', true));
    await must(ask(server, 'PATCH', `/${filesystem}/?action=setAccessControl`, { 'x-ms-permissions': '0771' }, '', true));
    const wrong = [];
    let cells = 0;

    for (const [name, operation] of Object.entries(OPERATIONS)) {
        let isDirty = true;
        for (const [kindName, kind] of Object.entries(KINDS)) {
            for (const letter of LETTERS) {
                if (isDirty)
                    await prepare(server, filesystem, operation);
                const { status, code } = await send(server, filesystem, operation, kind, letter);
                const expected = permitting(operation, kind).includes(letter);

                cells++;
                isDirty = status < 300 && operation.method !== 'GET' && operation.method !== 'HEAD';
                if (expected ? status >= 300 : status !== 403 || (code && !REFUSALS.includes(code)))
                    wrong.push(`${name}: ${kindName}, letter ${letter}: ${status} ${code}`);
            }
        }
    }
    assert.deepEqual(wrong, []);
    assert.equal(cells, Object.keys(OPERATIONS).length * Object.keys(KINDS).length * LETTERS.length);
});

/* ---- what one letter does not show ---- */

const FS = 'box';
const byKey = (server, method, path, headers) => must(ask(server, method, `/${FS}/${path}`, headers, '', true));

async function newBox(server, ...files) {
    await byKey(server, 'PUT', '?resource=filesystem');
    for (const file of files)
        await byKey(server, 'PUT', `${file}?resource=file`);
}

async function isRefused(coming, code = 'AuthorizationPermissionMismatch') {
    const answer = await coming;
    assert.deepEqual([answer.status, answer.code], [403, code]);
}

test('a directory SAS in each version of the string to sign, and of the root (sdd=0)', async (t) => {
    const server = await start(t);
    await newBox(server, 'd/e/f', 'x');

    for (const sv of ['2020-02-10', '2020-12-06', '2021-04-10', '2025-07-05', '2026-04-06', '2026-10-06']) {
        for (const make of [(path) => serviceSas(FS, 'rl', { sr: 'd', path }, sv), (path) => delegationSas(server, FS, 'rl', { sr: 'd', path }, { scid: ANN }, sv)]) {
            for (const [path, read, not] of [['d', 'd/e/f', 'x'], ['d/e', 'd/e/f', 'd'], ['', 'x', null]]) {
                await must(ask(server, 'GET', `/${FS}/${read}?${make(path)}`));
                await must(ask(server, 'GET', `/${FS}?resource=filesystem&recursive=false&directory=${encodeURIComponent(path)}&${make(path)}`));
                if (not)
                    await isRefused(ask(server, 'GET', `/${FS}/${not}?${make(path)}`), 'AuthenticationFailed');
            }
            /* The SAS of the root is not that of the filesystem, nor that of a lower directory. */
            await must(ask(server, 'GET', `/${FS}?resource=filesystem&recursive=true&${make('')}`));
            await isRefused(ask(server, 'HEAD', `/${FS}?resource=filesystem&${make('')}`), 'AuthenticationFailed');
            await isRefused(ask(server, 'GET', `/${FS}/x?${`${make('d')}`.replace('sdd=1', 'sdd=0')}`), 'AuthenticationFailed');
        }
    }
    await must(ask(server, 'HEAD', `/${FS}/?action=getAccessControl&${serviceSas(FS, 'e', { sr: 'd', path: '' })}`));
});

test('a rename has a SAS for its source in the header', async (t) => {
    const server = await start(t);
    await newBox(server, 'a/f', 'b/f');
    const of = (sp, path) => serviceSas(FS, sp, { sr: 'b', path });
    const move = (from, source, to, destination) =>
        ask(server, 'PUT', `/${FS}/${to}?${destination}`, { 'x-ms-rename-source': `/${FS}/${from}${source ? `?${source}` : ''}` });

    await must(move('a/f', of('m', 'a/f'), 'a/g', of('m', 'a/g'))); // as Hadoop's driver does
    await must(move('a/g', of('rd', 'a/g'), 'a/f', of('rcw', 'a/f')));
    await must(move('a/f', serviceSas(FS, 'm', { sr: 'd', path: 'a' }), 'b/g', serviceSas(FS, 'w', { sr: 'd', path: 'b' })));
    await must(move('b/g', accountSas('d'), 'a/f', of('m', 'a/f')));
    const whole = serviceSas(FS, 'racwdlmeop', { sr: 'c' });
    await must(move('a/f', whole, 'a/g', whole));
    /* Without one, the request's SAS does not count, whatever it permits (azure-sdk-for-java 25714). */
    await isRefused(move('a/g', '', 'a/f', whole));
    for (const source of [of('m', 'a/f'), of('rw', 'a/g'), 'sv=2020-02-10&sig=x', serviceSas(FS, 'm', { sr: 'd', path: 'b' })])
        await isRefused(move('a/g', source, 'a/f', whole));
    await isRefused(move('none', of('r', 'none'), 'a/f', whole));
    assert.equal((await move('none', of('m', 'none'), 'a/f', whole)).code, 'SourcePathNotFound');
    /* A request by a key needs none. */
    await byKey(server, 'PUT', 'a/f', { 'x-ms-rename-source': `/${FS}/a/g` });
    /* The agent that lists rule must be the same at both ends. */
    await byKey(server, 'PATCH', '?action=setAccessControl', { 'x-ms-permissions': '0777' });
    await byKey(server, 'PATCH', '?action=setAccessControlRecursive&mode=modify', { 'x-ms-acl': `user:${ANN}:rwx` });
    const ann = delegationSas(server, FS, 'm', { sr: 'c' }, { suoid: ANN });
    await isRefused(move('a/f', ann, 'a/g', delegationSas(server, FS, 'm', { sr: 'c' }, { suoid: BOB })));
    await isRefused(move('a/f', ann, 'a/g', whole));
    await must(move('a/f', ann, 'a/g', ann));
});

test('the agent of a SAS: its key is that of a superuser, sticky bits, and owners', async (t) => {
    const server = await start(t);
    await newBox(server);
    const sas = (sp, more) => delegationSas(server, FS, sp, { sr: 'c' }, more);
    const put = (path, more) => ask(server, 'PUT', `/${FS}/${path}?resource=file&${sas('w', more)}`);
    const remove = (path, sp, more) => ask(server, 'DELETE', `/${FS}/${path}?${sas(sp, more)}`);
    const move = (from, to, sp, more) => ask(server, 'PUT', `/${FS}/${to}?${sas(sp, more)}`, { 'x-ms-rename-source': `/${FS}/${from}?${sas(sp, more)}` });

    await byKey(server, 'PATCH', '?action=setAccessControl', { 'x-ms-permissions': '0777' });
    await byKey(server, 'PUT', 's?resource=directory');
    await byKey(server, 'PATCH', 's?action=setAccessControl', { 'x-ms-permissions': '1777', 'x-ms-owner': OWNER });
    for (const who of ['saoid', 'suoid']) {
        await must(put('s/of-ann', { [who]: ANN }));
        await isRefused(remove('s/of-ann', 'd', { [who]: BOB }));
        await isRefused(move('s/of-ann', 's/of-bob', 'm', { [who]: BOB }));
        await must(move('s/of-ann', 's/still', 'm', { [who]: ANN }));
        await must(remove('s/still', 'd', { [who]: ANN }));
        await must(put('s/of-ann', { [who]: ANN }));
        await must(remove('s/of-ann', 'do', { [who]: BOB })); // as the owner
        await must(put('s/of-ann', { [who]: ANN }));
        await must(remove('s/of-ann', 'd', { [who]: OWNER })); // of the directory
    }
    await must(put('of-ann', { saoid: ANN }));
    const give = (owner, more) => ask(server, 'PATCH', `/${FS}/of-ann?action=setAccessControl&${sas('o', more)}`, { 'x-ms-owner': owner });
    await isRefused(give(BOB, { saoid: ANN }));
    await must(give(BOB, { saoid: BOB }));
    await must(give(ANN, {}));
    /* Bob may write blobs, but not act for others. */
    const bobs = { ...server, delegation: await server.delegationOf(BOB) };
    await must(ask(server, 'GET', `/${FS}/of-ann?${delegationSas(bobs, FS, 'r', { sr: 'c' })}`));
    for (const who of ['saoid', 'suoid'])
        await isRefused(ask(server, 'GET', `/${FS}/of-ann?${delegationSas(bobs, FS, 'r', { sr: 'c' }, { [who]: ANN })}`));
});
