// Every header and parameter that the definitions of the Blob, Queue and Table services have for an operation is
// taken alike by the first version of the service and by the newest: refused where its value makes no sense, or listed
// below with its effect or the reason why it has none. definitions.json: their names, of versions 2026-10-06, 2026-04-06
// and 2019-02-02; those of the File service: file-headers.test.mjs. decision: 879
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { errorCode } from '../lib/errors.mjs';
import { Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';
import { blockId } from './setup.mjs';

const DEFINITIONS = JSON.parse(readFileSync(new URL('definitions.json', import.meta.url)));
const VERSIONS = { blob: ['2015-02-21', '2026-10-06'], queue: ['2015-02-21', '2026-10-06'], table: ['2015-02-21', '2026-10-06'] };
const NONSENSE = 'nonsense', NEWEST = '2026-10-06';
const A = 'aaaaaaaa-0000-4000-8000-00000000000a', B = 'bbbbbbbb-0000-4000-8000-00000000000b';

/* ---- one request of each operation: method, query, headers, body, and what comes before it ---- */

const BLOCK_BLOB = ['PUT', '', { 'x-ms-blob-type': 'BlockBlob' }, 'text'];
const APPEND_BLOB = ['PUT', '', { 'x-ms-blob-type': 'AppendBlob' }];
const PAGE_BLOB = ['PUT', '', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '1024' }];
const SOURCE = { 'x-ms-copy-source': '{source}' };
const PAGES = { 'x-ms-range': 'bytes=0-511' };
const BLOCK = `comp=block&blockid=${encodeURIComponent(blockId(1))}`;
const action = (name, more) => ({ 'x-ms-lease-action': name, ...more });
const acquire = (query) => ['PUT', query, action('acquire', { 'x-ms-lease-duration': '-1', 'x-ms-proposed-lease-id': A })];
const TAGS = '<Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>';
const PROPERTIES = '<StorageServiceProperties><Cors /></StorageServiceProperties>';
const POLICIES = '<SignedIdentifiers />';
const MESSAGE = '<QueueMessage><MessageText>x</MessageText></QueueMessage>';
const JSON_TYPES = { Accept: 'application/json;odata=nometadata', 'Content-Type': 'application/json' };
const leases = (query) => ({
    acquireLease: [acquire(query), []],
    releaseLease: [['PUT', query, action('release', { 'x-ms-lease-id': A })], [acquire(query)]],
    renewLease: [['PUT', query, action('renew', { 'x-ms-lease-id': A })], [acquire(query)]],
    changeLease: [['PUT', query, action('change', { 'x-ms-lease-id': A, 'x-ms-proposed-lease-id': B })], [acquire(query)]],
    breakLease: [['PUT', query, action('break')], [acquire(query)]],
});
const prefixed = (prefix, requests) => Object.fromEntries(Object.entries(requests).map(([name, request]) => [prefix + name, request]));

/* By where they are sent: the service, a container, a blob, or what the others are called. */
const OF_BLOB = {
    AppendBlob_create: [APPEND_BLOB, null],
    AppendBlob_appendBlock: [['PUT', 'comp=appendblock', {}, 'x'], [APPEND_BLOB]],
    AppendBlob_appendBlockFromUrl: [['PUT', 'comp=appendblock', SOURCE], [APPEND_BLOB]],
    AppendBlob_seal: [['PUT', 'comp=seal'], [APPEND_BLOB]],
    Blob_download: [['GET', '']],
    Blob_getProperties: [['HEAD', '']],
    Blob_delete: [['DELETE', '']],
    Blob_undelete: [['PUT', 'comp=undelete']],
    Blob_setHttpHeaders: [['PUT', 'comp=properties']],
    Blob_setMetadata: [['PUT', 'comp=metadata']],
    ...prefixed('Blob_', leases('comp=lease')),
    Blob_createSnapshot: [['PUT', 'comp=snapshot']],
    Blob_startCopyFromURL: [['PUT', '', SOURCE], null],
    Blob_copyFromURL: [['PUT', '', { ...SOURCE, 'x-ms-requires-sync': 'true' }], null],
    Blob_setTier: [['PUT', 'comp=tier', { 'x-ms-access-tier': 'Cool' }]],
    Blob_getTags: [['GET', 'comp=tags']],
    Blob_setTags: [['PUT', 'comp=tags', {}, TAGS]],
    BlockBlob_upload: [BLOCK_BLOB, null],
    BlockBlob_putBlobFromUrl: [['PUT', '', { ...SOURCE, 'x-ms-blob-type': 'BlockBlob' }], null],
    BlockBlob_stageBlock: [['PUT', BLOCK, {}, 'text'], null],
    BlockBlob_stageBlockFromURL: [['PUT', BLOCK, SOURCE], null],
    BlockBlob_commitBlockList: [['PUT', 'comp=blocklist', {}, `<BlockList><Latest>${blockId(1)}</Latest></BlockList>`],
        [['PUT', BLOCK, {}, 'text']], null],
    BlockBlob_getBlockList: [['GET', 'comp=blocklist']],
    PageBlob_create: [PAGE_BLOB, null],
    PageBlob_uploadPages: [['PUT', 'comp=page', { 'x-ms-page-write': 'update', ...PAGES }, 'p'.repeat(512)], [PAGE_BLOB]],
    PageBlob_clearPages: [['PUT', 'comp=page', { 'x-ms-page-write': 'clear', ...PAGES }], [PAGE_BLOB]],
    PageBlob_uploadPagesFromURL: [['PUT', 'comp=page', { 'x-ms-page-write': 'update', ...PAGES, ...SOURCE, 'x-ms-source-range': 'bytes=0-511' }], [PAGE_BLOB]],
    PageBlob_getPageRanges: [['GET', 'comp=pagelist'], [PAGE_BLOB]],
    PageBlob_resize: [['PUT', 'comp=properties', { 'x-ms-blob-content-length': '512' }], [PAGE_BLOB]],
    PageBlob_updateSequenceNumber: [['PUT', 'comp=properties', { 'x-ms-sequence-number-action': 'increment' }], [PAGE_BLOB]],
};
const OF_CONTAINER = {
    Container_create: [['PUT', 'restype=container'], null],
    Container_getProperties: [['GET', 'restype=container']],
    Container_delete: [['DELETE', 'restype=container']],
    Container_setMetadata: [['PUT', 'restype=container&comp=metadata']],
    Container_getAccessPolicy: [['GET', 'restype=container&comp=acl']],
    Container_setAccessPolicy: [['PUT', 'restype=container&comp=acl', {}, POLICIES]],
    Container_filterBlobs: [['GET', `restype=container&comp=blobs&where=${encodeURIComponent("k='v'")}`]],
    ...prefixed('Container_', leases('restype=container&comp=lease')),
    Container_listBlobFlatSegment: [['GET', 'restype=container&comp=list']],
    Container_listBlobHierarchySegment: [['GET', 'restype=container&comp=list&delimiter=-']],
};
const OF_QUEUE = {
    Queue_create: [['PUT', ''], null],
    Queue_delete: [['DELETE', '']],
    Queue_getProperties: [['GET', 'comp=metadata']],
    Queue_setMetadata: [['PUT', 'comp=metadata']],
    Queue_getAccessPolicy: [['GET', 'comp=acl']],
    Queue_setAccessPolicy: [['PUT', 'comp=acl', {}, POLICIES]],
};
const OF_MESSAGES = {
    Messages_dequeue: [['GET', '']],
    Messages_clear: [['DELETE', '']],
    Messages_enqueue: [['POST', '', {}, MESSAGE]],
    Messages_peek: [['GET', 'peekonly=true']],
};
const OF_SERVICE = {
    blob: {
        Service_setProperties: [['PUT', 'restype=service&comp=properties', {}, PROPERTIES]],
        Service_getProperties: [['GET', 'restype=service&comp=properties']],
        Service_listContainersSegment: [['GET', 'comp=list']],
        Service_filterBlobs: [['GET', `comp=blobs&where=${encodeURIComponent("k='v'")}`]],
        Service_getAccountInfo: [['GET', 'restype=account&comp=properties']],
    },
    queue: {
        Service_setProperties: [['PUT', 'restype=service&comp=properties', {}, PROPERTIES]],
        Service_getProperties: [['GET', 'restype=service&comp=properties']],
        Service_listQueuesSegment: [['GET', 'comp=list']],
    },
    table: {
        Service_setProperties: [['PUT', 'restype=service&comp=properties', {}, PROPERTIES]],
        Service_getProperties: [['GET', 'restype=service&comp=properties']],
    },
};
const ENTITY = { PartitionKey: 'p', RowKey: 'r', a: 1 };
const OF_TABLES = {
    Table_query: ['GET', '/Tables'],
    Table_create: ['POST', '/Tables', (name) => JSON.stringify({ TableName: `${name}x` })],
    Table_queryEntities: ['GET', (name) => `/${name}()`],
    Table_queryEntitiesWithPartitionAndRowKey: ['GET', (name) => `/${name}(PartitionKey='p',RowKey='r')`],
    Table_updateEntity: ['PUT', (name) => `/${name}(PartitionKey='p',RowKey='r')`, () => JSON.stringify(ENTITY)],
    Table_mergeEntity: ['MERGE', (name) => `/${name}(PartitionKey='p',RowKey='r')`, () => JSON.stringify(ENTITY)],
    Table_deleteEntity: ['DELETE', (name) => `/${name}(PartitionKey='p',RowKey='r')`],
    Table_insertEntity: ['POST', (name) => `/${name}`, () => JSON.stringify({ ...ENTITY, RowKey: 'new' })],
    Table_delete: ['DELETE', (name) => `/Tables('${name}')`],
    Table_getAccessPolicy: ['GET', (name) => `/${name}?comp=acl`],
    Table_setAccessPolicy: ['PUT', (name) => `/${name}?comp=acl`, () => POLICIES],
};

/* Requests that need something from an earlier response. */
const get = (answer, name) => answer.headers.get(name);
async function message(world, of) {
    await world.must('queue', ['PUT', `/${of}`], NEWEST);
    const { text } = await world.must('queue', ['POST', `/${of}/messages`, {}, MESSAGE], NEWEST);
    const part = (name) => encodeURIComponent(new RegExp(`<${name}>(.*?)</${name}>`).exec(text)[1]);
    return `/${of}/messages/${part('MessageId')}?popreceipt=${part('PopReceipt')}`;
}
async function pageSnapshot(world, of) {
    await world.must('blob', at(`/public/${of}`, PAGE_BLOB), NEWEST);
    return get(await world.must('blob', ['PUT', `/public/${of}?comp=snapshot`], NEWEST), 'x-ms-snapshot');
}
function batch(of, prefix) {
    const boundary = 'batch_00000000-0000-4000-8000-000000000000';
    return ['POST', `${prefix}?comp=batch${prefix === '/' ? '' : '&restype=container'}`, { 'Content-Type': `multipart/mixed; boundary=${boundary}` },
        `--${boundary}\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\nDELETE /devstoreaccount1/public/${of} HTTP/1.1\r\nContent-Length: 0\r\n\r\n\r\n--${boundary}--\r\n`];
}
const AFTER = {
    blob: {
        Blob_getAccountInfo: async (world, of) => ['GET', `/public/${of}?restype=account&comp=properties`],
        Container_getAccountInfo: async () => ['GET', '/public?restype=account&comp=properties'],
        Container_submitBatch: async (world, of) => batch(of, '/public'),
        Service_submitBatch: async (world, of) => batch(of, '/'),
        PageBlob_getPageRangesDiff: async (world, of) =>
            ['GET', `/public/${of}?comp=pagelist&prevsnapshot=${encodeURIComponent(await pageSnapshot(world, of))}`],
        PageBlob_copyIncremental: async (world, of) => ['PUT', `/public/${of}-copy?comp=incrementalcopy`, { 'x-ms-copy-source':
            `${world.source.replace('source', of)}?snapshot=${encodeURIComponent(await pageSnapshot(world, of))}` }],
    },
    queue: {
        MessageId_update: async (world, of) => ['PUT', `${await message(world, of)}&visibilitytimeout=0`, {}, MESSAGE],
        MessageId_delete: async (world, of) => ['DELETE', await message(world, of)],
    },
    table: {},
};

/** Operations without a request here, and why. */
const ELSEWHERE = {
    Blob_abortCopyFromURL: 'of a copy that is pending: copy.test.mjs', Blob_setExpiry: 'of hierarchical accounts: expiry.test.mjs',
    Blob_setImmutabilityPolicy: 'of a protected blob: immutability.test.mjs', Blob_deleteImmutabilityPolicy: 'of a protected blob: immutability.test.mjs',
    Blob_setLegalHold: 'of a protected blob: immutability.test.mjs', Blob_query: '501: unbuilt.test.mjs', Container_rename: '501: unbuilt.test.mjs',
    Container_restore: 'of accounts that retain containers: deleted-containers.test.mjs',
    Container_listBlobFlatSegmentApacheArrow: '501: unbuilt.test.mjs', Container_listBlobHierarchySegmentApacheArrow: '501: unbuilt.test.mjs',
    Service_getStatistics: 'of the secondary endpoint: secondary.test.mjs', Service_getUserDelegationKey: 'by a bearer token: tokens.test.mjs',
};

/* ---- what is taken with any value: its effect, or why it has none ---- */

const TAKEN = {
    'x-ms-meta-*': 'is stored', 'x-ms-blob-cache-control': 'is stored', 'x-ms-blob-content-disposition': 'is stored',
    'x-ms-blob-content-encoding': 'is stored', 'x-ms-blob-content-language': 'is stored', 'x-ms-blob-content-type': 'is stored',
    'x-ms-blob-content-md5': 'is stored as it is', 'content-type': 'of a body whose form is that of the operation',
    range: 'of no known form, as x-ms-range. rfc: 9110 14.2', 'x-ms-range': 'a range of no known form is ignored. rfc: 9110 14.2',
    prefix: 'filters', delimiter: 'groups', startfrom: 'is where the list begins', endbefore: 'is where the list ends',
    'x-ms-encryption-algorithm': 'has no effect without a key. decision: 1272',
    'if-match': 'a tag that is not the one', $select: 'names of properties that entities may not have',
    nextpartitionkey: 'is where the page begins', nextrowkey: 'is where the page begins', nexttablename: 'is where the page begins',
    'if-none-match': 'a tag that is not the one', 'x-ms-blob-if-none-match': 'a tag that is not the one',
    'x-ms-source-if-none-match': 'a tag that is not the one', blockid: 'is the base64 of another block',
    prefer: 'preferences of no known form are ignored. rfc: 7240 2', $filter: 'a property that is true or false',
};

/* A date that cannot be read is no condition of a read. decision: 848 */
const IGNORED = /^(Blob_download|Blob_getProperties|Blob_getTags|PageBlob_getPageRanges|PageBlob_getPageRangesDiff) \S*if-(un)?modified-since$/;

/* Refused by the first version as unknown, and by the newest because there is no such scope. */
const OF_SCOPES = /^x-ms-(encryption-scope|default-encryption-scope|deny-encryption-scope-override)$/;
const isSame = (what, first, newest) => first === newest || (OF_SCOPES.test(what) && first !== 'taken' && newest !== 'taken');

/* ---- the walk ---- */

const headersOf = (headers = {}, source) => Object.fromEntries(Object.entries(headers)
    .map(([name, value]) => [name, value.replace('{source}', source)]));

class World {
    #count = 0;

    constructor(server) {
        this.server = server;
        this.source = `http://${server.host}:${server.ports.blob}/devstoreaccount1/public/source`;
    }

    ask(service, [method, path, headers, body], version) {
        return raw(method, path, headersOf(headers, this.source), body,
            { version, service, base: { host: this.server.host, port: this.server.ports[service] } });
    }

    async must(...request) {
        const answer = await this.ask(...request);
        assert.ok(answer.status < 300, `${request[1][0]} ${request[1][1]}: ${answer.status} ${answer.text}`);
        return answer;
    }

    name() {
        return `n${++this.#count}`.padEnd(5, 'x');
    }
}

const at = (path, [method, query, headers, body]) => [method, query ? `${path}?${query}` : path, headers, body];

/** A request that can be made now, on something of its own, unless null says that nothing may have its name. */
async function prepared(world, service, name) {
    const newest = NEWEST, of = world.name();
    const make = async (path, creation, [request, before = []]) => {
        if (creation && before)
            await world.must(service, creation, newest);
        for (const one of before ?? [])
            await world.must(service, at(path, one), newest);
        return at(path, request);
    };

    if (name in AFTER[service]) {
        await world.must('blob', at(`/public/${of}`, BLOCK_BLOB), newest);
        return AFTER[service][name](world, of);
    }
    if (name in OF_SERVICE[service])
        return make('/', null, OF_SERVICE[service][name]);
    if (service === 'table') {
        const [method, path, body] = OF_TABLES[name];
        await world.must(service, ['POST', '/Tables', JSON_TYPES, JSON.stringify({ TableName: of })], '2019-02-02');
        await world.must(service, ['POST', `/${of}`, JSON_TYPES, JSON.stringify(ENTITY)], '2019-02-02');
        const version = { DataServiceVersion: '3.0', ...JSON_TYPES };
        return [method, typeof path === 'function' ? path(of) : path, name === 'Table_deleteEntity' ? { ...version, 'If-Match': '*' } : version, body?.(of)];
    }
    if (name in OF_BLOB)
        return make(`/public/${of}`, at(`/public/${of}`, BLOCK_BLOB), OF_BLOB[name]);
    if (name in OF_CONTAINER)
        return make(`/${of}`, ['PUT', `/${of}?restype=container`], OF_CONTAINER[name]);
    if (name in OF_MESSAGES)
        return make(`/${of}/messages`, ['PUT', `/${of}`], OF_MESSAGES[name]);
    return make(`/${of}`, ['PUT', `/${of}`], OF_QUEUE[name]);
}

function withWord([method, path, headers, body], { header, parameter }) {
    if (header)
        return [method, path, { ...Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => name.toLowerCase() !== header)),
            [header.replace('*', NONSENSE)]: NONSENSE }, body];
    const without = path.replace(new RegExp(`([?&])${parameter.replace('$', '\\$')}=[^&]*`), '$1');
    return [method, `${without}${without.includes('?') ? '&' : '?'}${encodeURIComponent(parameter)}=${NONSENSE}`, headers, body];
}

/** What comes of the word in each version: "refused CODE" or "taken". */
async function outcomes(world, service, name, word) {
    const found = [];

    for (const version of VERSIONS[service]) {
        const request = withWord(await prepared(world, service, name), word);
        const answer = await world.ask(service, request, version);
        const code = request[0] === 'HEAD' ? '' : errorCode(answer); // before 2017-07-29 a HEAD does not say it
        found.push(answer.status < 300 ? 'taken' : `refused ${answer.status} ${code}`);
    }
    return found;
}

for (const service of ['blob', 'queue', 'table']) {
    test(`${service}: headers and parameters of later versions are not ignored in the first`, async (t) => {
        const server = await Server.start({}), world = new World(server), wrong = [];
        t.after(() => server.kill().then(() => server.remove()));
        await world.must('blob', ['PUT', '/public?restype=container', { 'x-ms-blob-public-access': 'blob' }], '2026-10-06');
        await world.must('blob', ['PUT', '/public/source', { 'x-ms-blob-type': 'BlockBlob' }, 'p'.repeat(512)], '2026-10-06');
        for (const [name, { parameters, headers }] of Object.entries(DEFINITIONS[service])) {
            if (name in ELSEWHERE)
                continue;
            for (const version of VERSIONS[service]) {
                const { status, text } = await world.ask(service, await prepared(world, service, name), version);
                if (status >= 300)
                    wrong.push(`${name} ${version}: ${status} ${text}`);
            }
            for (const word of [...parameters.map((parameter) => ({ parameter })), ...headers.map((header) => ({ header }))]) {
                const what = word.header ?? word.parameter;
                const [first, newest] = await outcomes(world, service, name, word);
                if (!isSame(what, first, newest) || (newest === 'taken' && !(what.toLowerCase() in TAKEN) && !IGNORED.test(`${name} ${what}`)))
                    wrong.push(`${name} ${what}: ${first}; ${newest}`);
            }
        }
        assert.deepEqual(wrong, []);
    });
}
