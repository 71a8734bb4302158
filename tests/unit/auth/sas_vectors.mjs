// Prints sas_vectors.h: shared access signatures with the strings that they sign, made without a
// line of the server's code.
//
//   node tests/unit/auth/sas_vectors.mjs > tests/unit/auth/sas_vectors.h   (after `npm ci` in
//                                                                          tests/clients)
//
// The first part is what @azure/storage-blob builds for every version that it knows forms of; the
// second is written out by hand from rest: Create-service-SAS, for versions and services that it
// has none for.

import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(new URL('../../clients/package.json', import.meta.url));
const {
    AccountSASPermissions, BlobSASPermissions, ContainerSASPermissions, SASProtocol,
    StorageSharedKeyCredential,
} = require('@azure/storage-blob');
const sas = join(dirname(require.resolve('@azure/storage-blob')), '..', 'esm', 'sas');
const load = (name) => import(pathToFileURL(join(sas, `${name}.js`)).href);
const { generateBlobSASQueryParametersInternal } = await load('BlobSASSignatureValues');
const { generateAccountSASQueryParametersInternal } = await load('AccountSASSignatureValues');
const { StorageSharedKeyCredential: EsmCredential } =
    await import(pathToFileURL(join(sas, '../../../../storage-common/dist/esm/index.js')).href);

const ACCOUNT = 'devstoreaccount1';
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
const credential = new EsmCredential(ACCOUNT, KEY);
const startsOn = new Date('2026-01-02T03:04:05Z');
const expiresOn = new Date('2026-01-02T04:04:05Z');
const ipRange = { start: '10.0.0.1', end: '10.0.0.9' };
const overrides = {
    cacheControl: 'no-store', contentDisposition: 'attachment; filename="a b.txt"',
    contentEncoding: 'gzip', contentLanguage: 'en-US', contentType: 'text/plain',
};
const delegationKey = {
    signedObjectId: '11111111-1111-1111-1111-111111111111',
    signedTenantId: '22222222-2222-2222-2222-222222222222',
    signedStartsOn: startsOn, signedExpiresOn: expiresOn, signedService: 'b',
    signedVersion: '2020-02-10', value: Buffer.alloc(32, 7).toString('base64'),
};
const SNAPSHOT = '2025-12-31T01:02:03.1234567Z';

const vectors = [];

function add(what, { service = 'b', container = '', object = '', headers = [], delegated = false },
    query, string) {
    vectors.push({ what, service, container, object, headers, delegated, query, string });
}

// ---- as the client builds them ----

for (const version of ['2015-04-05', '2018-11-09', '2020-02-10', '2020-12-06', '2022-11-02', '2026-10-06',
    '2031-01-01']) {
    for (const full of [false, true]) {
        const values = {
            version, permissions: AccountSASPermissions.parse(full ? 'rwdlacup' : 'r'),
            services: 'bqtf', resourceTypes: 'sco', expiresOn,
            ...(full ? { startsOn, ipRange, protocol: SASProtocol.Https } : {}),
            ...(full && version >= '2020-12-06' ? { encryptionScope: 'scope' } : {}),
        };
        const built = generateAccountSASQueryParametersInternal(values, credential);
        add(`account ${version}${full ? ' full' : ''}`, {}, built.sasQueryParameters, built.stringToSign);
    }
}

const resources = [
    { what: 'container', containerName: 'box' },
    { what: 'blob', containerName: 'box', blobName: 'a b/ü+%?#.txt' },
    { what: 'snapshot', containerName: 'box', blobName: 'b', snapshotTime: SNAPSHOT },
    { what: 'directory', containerName: 'box', blobName: 'a b/ü+%?#', isDirectory: true },
];

function* forms(versions) {
    for (const version of versions) {
        for (const { what, ...resource } of resources) {
            if ((what === 'snapshot' && version < '2018-11-09') || (what === 'directory' && version < '2020-02-10'))
                continue;
            for (const full of [false, true]) {
                const permissions = resource.blobName ? BlobSASPermissions.parse('rw')
                    : ContainerSASPermissions.parse('rwl');
                yield { what: `${what} ${version}${full ? ' full' : ''}`, resource, full, version,
                    values: { ...resource, version, permissions, expiresOn,
                        ...(full ? { startsOn, ipRange, protocol: SASProtocol.HttpsAndHttp, ...overrides } : {}),
                        ...(full && version >= '2020-12-06' ? { encryptionScope: 'scope' } : {}) } };
            }
        }
    }
}

function addBuilt(what, resource, built, more = {}) {
    const snapshot = resource.snapshotTime ? `snapshot=${encodeURIComponent(SNAPSHOT)}&` : '';

    const below = resource.isDirectory ? '/c/d.txt' : '';

    add(what, { container: resource.containerName, object: `${resource.blobName ?? ''}${below}`, ...more },
        snapshot + built.sasQueryParameters, built.stringToSign);
}

for (const { what, resource, values } of forms(['2015-04-05', '2018-11-09', '2020-02-10', '2020-12-06', '2022-11-02',
    '2024-11-04', '2026-10-06', '2031-01-01'])) {
    addBuilt(`service ${what}`, resource, generateBlobSASQueryParametersInternal(values, credential));
    const { permissions, expiresOn: _, startsOn: __, ...rest } = values;
    addBuilt(`policy ${what}`, resource,
        generateBlobSASQueryParametersInternal({ ...rest, identifier: 'policy 1' }, credential));
}
for (const { what, resource, values, full, version } of forms(['2018-11-09', '2020-02-10', '2020-12-06', '2025-07-05',
    '2026-04-06', '2031-01-01'])) {
    const more = {};
    let key = delegationKey;
    if (full && version >= '2020-02-10')
        Object.assign(more, { preauthorizedAgentObjectId: 'agent', correlationId: 'correlation' });
    if (full && version >= '2025-07-05') {
        key = { ...key, signedDelegatedUserTenantId: '33333333-3333-3333-3333-333333333333' };
        more.delegatedUserObjectId = '44444444-4444-4444-4444-444444444444';
    }
    const headers = [];
    if (full && version >= '2026-04-06') {
        more.requestHeaders = { 'x-ms-meta-a': '1', 'X-Custom': 'two words' };
        more.requestQueryParameters = { rscc: 'no-store', timeout: '30' };
        headers.push(['x-ms-meta-a', '1'], ['x-custom', 'two words']);
    }
    const built = generateBlobSASQueryParametersInternal({ ...values, ...more }, key, ACCOUNT);
    if (headers.length > 0) {
        built.sasQueryParameters = `timeout=30&${built.sasQueryParameters}`;
    }
    addBuilt(`delegation ${what}`, resource, built, { headers, delegated: true });
}

// ---- by hand ----

function byHand(what, where, fields, lines) {
    const string = lines.join('\n');
    const sig = createHmac('sha256', Buffer.from(KEY, 'base64')).update(string, 'utf8').digest('base64');
    const query = Object.entries({ ...fields, sig })
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');

    add(what, where, query, string);
}

const st = '2026-01-02T03:04:05Z', se = '2026-01-02T04:04:05Z';
const box = { container: 'box' }, blob = { container: 'box', object: 'b' };
byHand('2012-02-12 container', box, { sv: '2012-02-12', sr: 'c', st, se, sp: 'r' },
    ['r', st, se, `/${ACCOUNT}/box`, '', '2012-02-12']);
byHand('2012-02-12 blob of a policy', blob, { sv: '2012-02-12', sr: 'b', si: 'p' },
    ['', '', '', `/${ACCOUNT}/box/b`, 'p', '2012-02-12']);
byHand('2013-08-15 blob', blob, { sv: '2013-08-15', sr: 'b', se, sp: 'r', rsct: 'text/plain' },
    ['r', '', se, `/${ACCOUNT}/box/b`, '', '2013-08-15', '', '', '', '', 'text/plain']);
byHand('2014-02-14 container', box, { sv: '2014-02-14', sr: 'c', se, sp: 'l' },
    ['l', '', se, `/${ACCOUNT}/box`, '', '2014-02-14', '', '', '', '', '']);
byHand('2015-02-21 blob', blob, { sv: '2015-02-21', sr: 'b', se, sp: 'r', rscc: 'no-cache' },
    ['r', '', se, `/blob/${ACCOUNT}/box/b`, '', '2015-02-21', 'no-cache', '', '', '', '']);
byHand('queue', { service: 'q', container: 'line' }, { sv: '2018-03-28', se, sp: 'raup', spr: 'https,http' },
    ['raup', '', se, `/queue/${ACCOUNT}/line`, '', '', 'https,http', '2018-03-28']);
byHand('table', { service: 't', container: 'Table' },
    { sv: '2019-02-02', tn: 'Table', se, sp: 'raud', spk: 'a', srk: 'b', epk: 'c', erk: 'd' },
    ['raud', '', se, `/table/${ACCOUNT}/table`, '', '', '', '2019-02-02', 'a', 'b', 'c', 'd']);
byHand('file', { service: 'f', container: 'share', object: 'dir/file' },
    { sv: '2021-06-08', sr: 'f', se, sp: 'r', rsct: 'text/plain' },
    ['r', '', se, `/file/${ACCOUNT}/share/dir/file`, '', '', '', '2021-06-08', '', '', '', '', 'text/plain']);
byHand('share', { service: 'f', container: 'share', object: 'dir/file' },
    { sv: '2021-06-08', sr: 's', se, sp: 'r' },
    ['r', '', se, `/file/${ACCOUNT}/share`, '', '', '', '2021-06-08', '', '', '', '', '']);

// ---- as a C header ----

const c = (text) => JSON.stringify(String(text)).replace(/[^\x20-\x7e]/g, (ch) =>
    [...Buffer.from(ch)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''));

console.log(`/* Printed by sas_vectors.mjs: do not edit. */
/* clang-format off */
static const struct sas_vector {
    const char *what;
    char service;
    const char *container, *object, *query, *string;
    bool delegated;
    struct { const char *name, *value; } headers[4];
} sas_vectors[] = {`);
for (const v of vectors) {
    const headers = v.headers.map(([name, value]) => `{ ${c(name)}, ${c(value)} }`).join(', ');
    console.log(`    { ${c(v.what)}, '${v.service}', ${c(v.container)}, ${c(v.object)},\n      ${c(v.query)},\n` +
        `      ${c(v.string)}, ${v.delegated}, { ${headers || '{ NULL, NULL }'} } },`);
}
console.log('};');
