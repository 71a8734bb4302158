// Limits that a request reaches by itself: each constant of docs/failure-guarantees.md, "Limits", that names this file has a request here
// that goes one beyond it, and the response that it gets; the server serves others as before.

import { BATCH_TYPE } from '../lib/batch.mjs';
import { times } from '../memory/asking.mjs';
import { announce, honest, outcome, until, withServer } from './clients.mjs';

const MiB = 1 << 20;
const repeat = (count, text) => Array.from({ length: count }, (_, i) => text(i)).join('');
const xml = (root, inner) => `<?xml version="1.0"?><${root}>${inner}</${root}>`;
const BLOB = ['x-ms-blob-type', 'BlockBlob'], PAGES = ['x-ms-blob-type', 'PageBlob'], JSON_TYPE = ['Content-Type', 'application/json'];
const base64 = (length) => encodeURIComponent(Buffer.alloc(length, 'i').toString('base64'));
const B = '/limits', S = '/limits', T = '/limits', Q = '/limits';
const id = (length) => xml('SignedIdentifiers', `<SignedIdentifier><Id>${'i'.repeat(length)}</Id><AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier>`);
const cors = (count, { origins = 1, entry = 10, headers = 1, prefixed = 0 } = {}) => xml('StorageServiceProperties', `<Cors>${repeat(count, () => '<CorsRule>' +
    `<AllowedOrigins>${Array.from({ length: origins }, (_, i) => `http://${i}${'o'.repeat(entry)}`)}</AllowedOrigins><AllowedMethods>GET</AllowedMethods>` +
    `<AllowedHeaders>${[...Array.from({ length: headers }, (_, i) => `h${i}`), ...Array.from({ length: prefixed }, (_, i) => `p${i}*`)]}</AllowedHeaders>` +
    '<ExposedHeaders>*</ExposedHeaders><MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule>')}</Cors>`);
const retention = (days) => xml('StorageServiceProperties', `<DeleteRetentionPolicy><Enabled>true</Enabled><Days>${days}</Days></DeleteRetentionPolicy>`);
const tags = (count, name = 1, value = 1) => xml('Tags', `<TagSet>${repeat(count, (i) => `<Tag><Key>${`${i}`.padStart(name, 'k')}</Key><Value>${'v'.repeat(value)}</Value></Tag>`)}</TagSet>`);
const where = (count) => encodeURIComponent(Array.from({ length: count }, (_, i) => `"k${i}"='v'`).join(' and '));
const entity = (more, row = 'r') => JSON.stringify({ PartitionKey: 'p', RowKey: row, ...more });
const properties = (count, length = 1) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, 'x'.repeat(length)]));
const part = (i) => ['Content-Type: application/http', 'Content-Transfer-Encoding: binary', `Content-ID: ${i}`, '', `DELETE ${B}/${i} HTTP/1.1`, '', ''].join('\r\n');
const batch = (count, one = part, type = BATCH_TYPE) => ({ headers: [['Content-Type', type]],
    body: `${repeat(count, (i) => `--${type.split('boundary=')[1]}\r\n${one(i)}\r\n`)}--${type.split('boundary=')[1]}--\r\n` });
const group = (count) => ({ headers: [['Content-Type', 'multipart/mixed; boundary=b']], body: ['--b', 'Content-Type: multipart/mixed; boundary=c', '',
    ...Array.from({ length: count }, (_, i) => ['--c', 'Content-Type: application/http', 'Content-Transfer-Encoding: binary', `Content-ID: ${i}`, '',
        `POST /devstoreaccount1${T} HTTP/1.1`, 'Content-Type: application/json', `Content-Length: ${entity({}, `${i}`).length}`, '', entity({}, `${i}`)]).flat(),
    '--c--', '--b--', ''].join('\r\n') });
const filter = (text) => `${T}?$filter=${encodeURIComponent(text)}`;
const range = (length, more = []) => ({ headers: [['x-ms-range', `bytes=0-${length - 1}`], ...more] });
const source = (server, length) => ['x-ms-copy-source', `${server.url}/limits/${'s'.repeat(length)}`];

/** Requests: [constant, service, method, target, what else it has, the response's status and code] */
const REQUESTS = (server) => [
    ['HEAD_HEADERS_MAX', 'blob', 'GET', `${B}/source`, { headers: Array.from({ length: 300 }, (_, i) => [`x-${i}`, '1']) }, '431'],
    ['HEAD_HEADERS_SIZE_MAX', 'blob', 'GET', `${B}/source`, { headers: [['x-large', 'x'.repeat(17000)]] }, '431'],
    ['PARAMETERS_MAX', 'blob', 'GET', `${B}/source?${repeat(101, (i) => `a${i}=1&`)}`, {}, '400 InvalidUri'],
    ['XML_BODY_MAX', 'blob', 'PUT', '/?restype=service&comp=properties', { body: ' '.repeat((256 << 10) + 1) }, '413 RequestBodyTooLarge'],
    ['DEPTH_LIMIT', 'blob', 'PUT', `${B}/list?comp=blocklist`, { body: `${'<a>'.repeat(65)}${'</a>'.repeat(65)}` }, '400 InvalidXmlDocument'],
    ['LISTING_MAX', 'blob', 'GET', `${B}?restype=container&comp=list&maxresults=5001`, {}, '200'],
    ['POLICIES_MAX', 'blob', 'PUT', `${B}?restype=container&comp=acl`, { body: xml('SignedIdentifiers', repeat(6, (i) => `<SignedIdentifier><Id>${i}</Id></SignedIdentifier>`)) }, '400 InvalidXmlDocument'],
    ['POLICY_ID_MAX', 'blob', 'PUT', `${B}?restype=container&comp=acl`, { body: id(65) }, '400 InvalidXmlDocument'],
    ['CORS_RULES_MAX', 'blob', 'PUT', '/?restype=service&comp=properties', { body: cors(6) }, '400 InvalidXmlDocument'],
    ['CORS_RULES_BYTES_MAX', 'blob', 'PUT', '/?restype=service&comp=properties', { body: cors(5, { origins: 10, entry: 200 }) }, '400 InvalidXmlDocument'],
    ['ORIGINS_MAX', 'blob', 'PUT', '/?restype=service&comp=properties', { body: cors(1, { origins: 65, entry: 1 }) }, '400 InvalidXmlNodeValue'],
    ['ENTRY_MAX', 'blob', 'PUT', '/?restype=service&comp=properties', { body: cors(1, { entry: 257 }) }, '400 InvalidXmlNodeValue'],
    ['LITERAL_HEADERS_MAX', 'blob', 'PUT', '/?restype=service&comp=properties', { body: cors(1, { headers: 65 }) }, '400 InvalidXmlNodeValue'],
    ['PREFIXED_HEADERS_MAX', 'blob', 'PUT', '/?restype=service&comp=properties', { body: cors(1, { prefixed: 3 }) }, '400 InvalidXmlNodeValue'],
    ['RETENTION_DAYS_MAX', 'blob', 'PUT', '/?restype=service&comp=properties', { body: retention(366) }, '400 InvalidXmlDocument'],
    ['PAGE_PATH_MAX', 'blob', 'PUT', '/?restype=service&comp=properties', { body: xml('StorageServiceProperties', `<StaticWebsite><Enabled>true</Enabled><ErrorDocument404Path>${'p'.repeat(256)}</ErrorDocument404Path></StaticWebsite>`) }, '400 InvalidXmlNodeValue'],
    ['NAME_MAX', 'blob', 'PUT', `/${'n'.repeat(64)}?restype=container`, {}, '400 OutOfRangeInput'],
    ['BLOB_NAME_MAX', 'blob', 'PUT', `${B}/${'n'.repeat(1025)}`, { headers: [BLOB] }, '400 OutOfRangeInput'],
    ['BLOB_SEGMENTS_MAX', 'blob', 'PUT', `${B}/${repeat(255, () => 'n/')}n`, { headers: [BLOB] }, '400 InvalidUri'],
    ['CONDITION_TAGS_MAX', 'blob', 'GET', `${B}/source`, { headers: [['If-None-Match', repeat(65, (i) => `"${i}",`).slice(0, -1)]] }, '400 InvalidHeaderValue'],
    ['BLOCK_ID_MAX', 'blob', 'PUT', `${B}/list?comp=block&blockid=${base64(65)}`, { body: 'b' }, '400 OutOfRangeInput'],
    ['CONTENT_BLOCKS_MAX', 'blob', 'PUT', `${B}/list?comp=blocklist`, { body: xml('BlockList', '<Latest>aQ==</Latest>'.repeat(50001)) }, '400 BlockListTooLong'],
    ['BLOCK_LIST_MAX', 'blob', 'PUT', `${B}/list?comp=blocklist`, { length: 8 * MiB + 1 }, '413 RequestBodyTooLarge'],
    ['PUT_BLOB_MAX', 'blob', 'PUT', `${B}/b`, { headers: [BLOB], length: 5000 * MiB + 1 }, '413 RequestBodyTooLarge'],
    ['PUT_BLOCK_MAX', 'blob', 'PUT', `${B}/b?comp=block&blockid=aQ%3D%3D`, { length: 4000 * MiB + 1 }, '413 RequestBodyTooLarge'],
    ['APPEND_MAX', 'blob', 'PUT', `${B}/append?comp=appendblock`, { length: 100 * MiB + 1 }, '413 RequestBodyTooLarge'],
    ['PUT_PAGE_MAX', 'blob', 'PUT', `${B}/pages?comp=page`, { headers: [['x-ms-page-write', 'update'], ['x-ms-range', `bytes=0-${4 * MiB + 511}`]], length: 4 * MiB + 512 }, '413 RequestBodyTooLarge'],
    ['PAGE_BLOB_MAX', 'blob', 'PUT', `${B}/p`, { headers: [PAGES, ['x-ms-blob-content-length', `${8 * 1024 * 1024 * MiB + 512}`]] }, '400 InvalidHeaderValue'],
    ['SEQUENCE_NUMBER_MAX', 'blob', 'PUT', `${B}/p`, { headers: [PAGES, ['x-ms-blob-content-length', '512'], ['x-ms-blob-sequence-number', '9223372036854775808']] }, '400 InvalidHeaderValue'],
    ['SUMMED_RANGE_MAX', 'blob', 'GET', `${B}/large`, range(4 * MiB + 1, [['x-ms-range-get-content-md5', 'true']]), '400 InvalidHeaderValue'],
    ['TAGS_MAX', 'blob', 'PUT', `${B}/source?comp=tags`, { body: tags(11) }, '400 TagsTooLarge'],
    ['TAG_NAME_MAX', 'blob', 'PUT', `${B}/source?comp=tags`, { body: tags(1, 129) }, '400 TagsTooLarge'],
    ['TAG_VALUE_MAX', 'blob', 'PUT', `${B}/source?comp=tags`, { body: tags(1, 1, 257) }, '400 TagsTooLarge'],
    ['TAG_OPERATIONS_MAX', 'blob', 'GET', `/?comp=blobs&where=${where(12)}`, {}, '400 InvalidQueryParameterValue'],
    ['BLOB_BATCH_MAX', 'blob', 'POST', '/?comp=batch', { headers: [['Content-Type', BATCH_TYPE]], length: 4 * MiB + 1 }, '413 RequestBodyTooLarge'],
    ['PARTS_MAX', 'blob', 'POST', '/?comp=batch', batch(257), '202 ExceedsMaxBatchRequestCount'],
    ['MULTIPART_BOUNDARY_MAX', 'blob', 'POST', '/?comp=batch', batch(1, part, `multipart/mixed; boundary=${'b'.repeat(71)}`), '202 InvalidHeaderValue'],
    ['MULTIPART_HEADERS_MAX', 'blob', 'POST', '/?comp=batch', batch(1, () => `X: ${'x'.repeat(17000)}\r\n${part(0)}`), '202 InvalidInput'],
    ['MULTIPART_HEADER_COUNT_MAX', 'blob', 'POST', '/?comp=batch', batch(1, () => `${repeat(65, (i) => `X-${i}: x\r\n`)}${part(0)}`), '202 InvalidInput'],
    ['MULTIPART_ID_MAX', 'blob', 'POST', '/?comp=batch', batch(1, () => part('i'.repeat(1025))), '202 InvalidInput'],
    ['MULTIPART_TARGET_MAX', 'blob', 'POST', '/?comp=batch', batch(1, () => part(0).replace(B, `${B}/${'t'.repeat(17000)}`)), '202 InvalidInput'],
    ['URL_MAX', 'blob', 'PUT', `${B}/copy`, { headers: [source(server, 2048)] }, '400 InvalidHeaderValue'],
    ['FROM_URL_MAX', 'blob', 'PUT', `${B}/copy`, { headers: [['x-ms-requires-sync', 'true'], ['x-ms-copy-source', `${server.url}/limits/long`]] }, '413 RequestBodyTooLarge'],
    ['MESSAGE_BODY_MAX', 'queue', 'POST', `${Q}/messages`, { length: (512 << 10) + 1 }, '413 RequestBodyTooLarge'],
    ['QUERY_RESULTS_MAX', 'table', 'GET', `${T}?$top=1001`, {}, '400 InvalidInput'],
    ['TABLE_NAME_MAX', 'table', 'POST', '/Tables', { headers: [JSON_TYPE], body: JSON.stringify({ TableName: 't'.repeat(64) }) }, '400 OutOfRangeInput'],
    ['TABLE_BODY_MAX', 'table', 'POST', '/Tables', { headers: [JSON_TYPE], length: (64 << 10) + 1 }, '413 RequestBodyTooLarge'],
    ['ENTITY_BODY_MAX', 'table', 'POST', T, { headers: [JSON_TYPE], length: 4 * MiB + 1 }, '413 RequestBodyTooLarge'],
    ['BATCH_BODY_MAX', 'table', 'POST', '/$batch', { headers: [['Content-Type', 'multipart/mixed; boundary=b']], length: 4 * MiB + 1 }, '413 RequestBodyTooLarge'],
    ['ENTITY_BYTES_MAX', 'table', 'POST', T, { headers: [JSON_TYPE], body: entity(properties(17, 32000)) }, '400 EntityTooLarge'],
    ['ENTITY_PROPERTIES_MAX', 'table', 'POST', T, { headers: [JSON_TYPE], body: entity(properties(253)) }, '400 TooManyProperties'],
    ['ENTITY_KEY_UNITS_MAX', 'table', 'POST', T, { headers: [JSON_TYPE], body: entity({}, 'r'.repeat(513)) }, '400 KeyValueTooLarge'],
    ['ENTITY_NAME_UNITS_MAX', 'table', 'POST', T, { headers: [JSON_TYPE], body: entity({ ['n'.repeat(256)]: 1 }) }, '400 PropertyNameTooLong'],
    ['EDM_VALUE_BYTES_MAX', 'table', 'POST', T, { headers: [JSON_TYPE], body: entity(properties(1, 32769)) }, '400 PropertyValueTooLarge'],
    ['TRANSACTION_PARTS_MAX', 'table', 'POST', '/$batch', group(101), '202 InvalidInput'],
    ['FILTER_BYTES_MAX', 'table', 'GET', filter(`n eq '${'x'.repeat(33000)}'`), {}, '414'],
    ['FILTER_COMPARISONS_MAX', 'table', 'GET', filter(Array(129).fill('n eq 1').join(' or ')), {}, '400 InvalidInput'],
    ['FILTER_DEPTH_MAX', 'table', 'GET', filter(`${'('.repeat(129)}n eq 1${')'.repeat(129)}`), {}, '400 InvalidInput'],
    ['TOKEN_MAX', 'table', 'GET', `${T}?NextPartitionKey=${'t'.repeat(8193)}`, {}, '400 InvalidInput'],
    ['QUERY_SELECT_MAX', 'table', 'GET', `${T}?$select=${Array.from({ length: 256 }, (_, i) => `n${i}`)}`, {}, '400 InvalidInput'],
    ['TREE_NAME_MAX', 'file', 'PUT', `${S}/${'n'.repeat(256)}?restype=directory`, {}, '400 InvalidResourceName'],
    ['TREE_DEPTH_MAX', 'file', 'PUT', `${S}/${repeat(251, () => 'd/')}d?restype=directory`, {}, '400 InvalidFileOrDirectoryPathName'],
    ['TREE_PATH_MAX', 'file', 'PUT', `${S}/${repeat(9, () => `${'d'.repeat(240)}/`)}d?restype=directory`, {}, '400 InvalidFileOrDirectoryPathName'],
    ['FILE_LENGTH_MAX', 'file', 'PUT', `${S}/f`, { headers: [['x-ms-type', 'file'], ['x-ms-content-length', `${4 * 1024 * 1024 * MiB + 1}`]] }, '400 InvalidHeaderValue'],
    ['PUT_RANGE_MAX', 'file', 'PUT', `${S}/file?comp=range`, { headers: [['x-ms-write', 'update'], ['x-ms-range', `bytes=0-${4 * MiB}`]], length: 4 * MiB + 1 }, '413 RequestBodyTooLarge'],
    ['TEXT_MAX', 'file', 'PUT', `${S}/d?restype=directory`, { headers: [['x-ms-file-permission', `O:S-1-1-0G:S-1-1-0D:${'(A;;FA;;;WD)'.repeat(800)}`]] }, '400 FileInvalidPermission'],
];

/** Many small requests make what goes one beyond: [constant, how many there may be, each(ask, i), one more(ask), its response] */
const SEQUENCES = [
    ['SHARE_SNAPSHOTS_MAX', 200, (ask) => ask('file', 'PUT', `${S}?restype=share&comp=snapshot`, { status: 201 }),
        (ask) => ask('file', 'PUT', `${S}?restype=share&comp=snapshot`), '409 ShareSnapshotCountExceeded'],
];

/** Sequences of tens of thousands, with --soak. */
const LONG_SEQUENCES = [
    ['UNCOMMITTED_BLOCKS_MAX', 100000, (ask, i) => ask('blob', 'PUT', `${B}/many?comp=block&blockid=${encodeURIComponent(Buffer.from(`${i}`.padStart(6, '0')).toString('base64'))}`,
        { body: 'b', status: 201 }),
    (ask) => ask('blob', 'PUT', `${B}/many?comp=block&blockid=${encodeURIComponent(Buffer.from('more..').toString('base64'))}`, { body: 'b' }), '409 BlockCountExceedsLimit'],
    ['APPENDED_BLOCKS_MAX', 50000, (ask) => ask('blob', 'PUT', `${B}/append?comp=appendblock`, { body: 'b', status: 201 }),
        (ask) => ask('blob', 'PUT', `${B}/append?comp=appendblock`, { body: 'b' }), '409 BlockCountExceedsLimit'],
];

async function prepare(ask) {
    await ask('blob', 'PUT', `${B}/source`, { headers: [BLOB], body: 's', status: 201 });
    await ask('blob', 'PUT', `${B}/large`, { headers: [BLOB], body: Buffer.alloc(4 * MiB + 1), status: 201 });
    await ask('blob', 'PUT', `${B}?restype=container&comp=acl`, { headers: [['x-ms-blob-public-access', 'blob']], status: 200 });
    for (const [name, size, count] of [['long', 4 * MiB + 1, 64], ['longest', 32 * MiB, 32769]]) {
        await ask('blob', 'PUT', `${B}/${name}?comp=block&blockid=aQ%3D%3D`, { body: Buffer.alloc(size), status: 201 });
        await ask('blob', 'PUT', `${B}/${name}?comp=blocklist`, { body: xml('BlockList', '<Latest>aQ==</Latest>'.repeat(count)), status: 201 });
    }
    await ask('blob', 'PUT', `${B}/append`, { headers: [['x-ms-blob-type', 'AppendBlob']], status: 201 });
    await ask('blob', 'PUT', `${B}/pages`, { headers: [PAGES, ['x-ms-blob-content-length', `${8 * MiB}`]], status: 201 });
    await ask('queue', 'PUT', Q, { status: 201 });
    await ask('table', 'POST', '/Tables', { headers: [JSON_TYPE], body: JSON.stringify({ TableName: 'limits' }), status: 201 });
    await ask('file', 'PUT', `${S}?restype=share`, { status: 201 });
    await ask('file', 'PUT', `${S}/file`, { headers: [['x-ms-type', 'file'], ['x-ms-content-length', `${8 * MiB}`]], status: 201 });
}

/** One beyond each limit of a request. */
export async function limits_of_a_request(context) {
    await withServer(context, ['--inMemoryPersistence'], async (server) => {
        const wrong = [];

        await times(server, 0, 1, prepare);
        for (const [name, service, method, target, { headers = [], body, length }, expected] of REQUESTS(server))
            await times(server, 0, 1, async (send) => {
                const got = outcome(await (length === undefined ? send(service, method, target, { headers, body })
                    : announce(server, service, method, target, headers, length)));

                if (got !== expected)
                    wrong.push(`${name}: ${got}, not ${expected}`);
            });
        context.assert.deepEqual(wrong, []);
        await honest(server);
    });
}

/** COPY_MAX: a copy of more than 1 TiB, which is pending at first, fails. */
export async function a_copy_of_more_than_1_tib_fails(context) {
    await withServer(context, ['--inMemoryPersistence'], async (server) => {
        await times(server, 0, 1, async (send) => {
            await prepare(send);
            await send('blob', 'PUT', `${B}/copy`, { headers: [['x-ms-copy-source', `${server.url}/limits/longest`]], status: 202 });
            await until(async () => (await send('blob', 'HEAD', `${B}/copy`)).headers.get('x-ms-copy-status') === 'failed', 'the copy does not fail');
        });
        await honest(server);
    });
}

async function sequences(context, list) {
    await withServer(context, ['--inMemoryPersistence'], async (server) => {
        await times(server, 0, 1, prepare);
        for (const [name, count, each, beyond, expected] of list) {
            await times(server, 0, count, each);
            await times(server, 0, 1, async (ask) => context.assert.equal(outcome(await beyond(ask)), expected, name));
        }
        await honest(server);
    });
}

/** One beyond each limit of what requests make together. */
export const limits_of_sequences = (context) => sequences(context, context.soak ? [...SEQUENCES, ...LONG_SEQUENCES] : SEQUENCES);
