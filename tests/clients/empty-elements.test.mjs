// No list has an empty element where an SDK reads a number, a date, a truth value or one of a set of
// words: .NET's parsers throw on it. The types come from the generated clients' own mappers.
// decision: 43
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as blobMappers from './node_modules/@azure/storage-blob/dist/esm/generated/src/models/mappers.js';
import * as queueMappers from './node_modules/@azure/storage-queue/dist/esm/generated/src/models/mappers.js';
import { Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';

const TYPED = ['Number', 'Boolean', 'Enum', 'DateTime', 'DateTimeRfc1123', 'UnixTime', 'Uuid'];

function typedElements(mappers) {
    const names = new Set();
    for (const { type } of Object.values(mappers)) {
        for (const { xmlName, type: { name } } of Object.values(type.modelProperties ?? {}))
            if (xmlName && TYPED.includes(name))
                names.add(xmlName);
    }
    return names;
}
/* The Java, .NET and Go clients parse these; the JavaScript client of shares has no mappers of its own. */
const FILE_TYPED = [
    'FileId', 'HandleId', 'ParentId', 'SessionId', 'Content-Length', 'CreationTime', 'LastAccessTime', 'LastWriteTime', 'ChangeTime',
    'Last-Modified', 'OpenTime', 'LastReconnectTime', 'AccessRight', 'Quota', 'ProvisionedIops', 'ProvisionedIngressMBps',
    'ProvisionedEgressMBps', 'NextAllowedQuotaDowngradeTime', 'DeletedTime', 'RemainingRetentionDays', 'AccessTier',
    'AccessTierChangeTime', 'LeaseStatus', 'LeaseState', 'LeaseDuration', 'EnabledProtocols', 'RootSquash', 'Deleted', 'Start', 'End',
    'ShareUsageBytes', 'Enabled', 'Days', 'MaxAgeInSeconds', 'MaxResults',
];
const typed = {
    blob: typedElements(blobMappers),
    file: new Set(FILE_TYPED),
    queue: typedElements(queueMappers),
};

const emptyOf = (text) =>
    [...text.matchAll(/<([\w-]+)(?: [^>]*)?\/>|<([\w-]+)(?: [^>]*)?><\/\2>/g)].map(([, one, two]) => one ?? two);

async function open(t) {
    const server = await Server.start({});
    t.after(async () => {
        await server.kill();
        await server.remove();
    });
    const ask = async (service, method, path, headers = {}, body = '', options = {}) => {
        const base = { host: server.host, port: server.ports[service] };
        const answer = await raw(method, path, headers, body, { base, ...options });
        assert(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
        return answer;
    };
    const set = (service, inner) => ask(service, 'PUT', '/?restype=service&comp=properties', {},
        `<StorageServiceProperties>${inner}</StorageServiceProperties>`);
    const looked = new Set();
    const look = async (service, path, version) => {
        const { text } = await ask(service, 'GET', path, {}, '', { version });
        for (const [, name] of text.matchAll(/<([\w-]+)[ />]/g))
            looked.add(name);
        assert.deepEqual(emptyOf(text).filter((name) => typed[service].has(name)), [], `${path}\n${text}`);
    };
    return { ask, set, look, looked };
}

const days = (name) => `<${name}><Enabled>true</Enabled><Days>7</Days></${name}>`;

test('lists of the Blob service have no empty numbers, dates and words', async (t) => {
    const { ask, set, look, looked } = await open(t);
    await set('blob', days('DeleteRetentionPolicy'));
    await set('blob', days('ContainerDeleteRetentionPolicy'));
    for (const name of ['plain', 'gone', 'leased'])
        await ask('blob', 'PUT', `/${name}?restype=container`);
    await ask('blob', 'DELETE', '/gone?restype=container');
    await ask('blob', 'PUT', '/leased?restype=container&comp=lease', { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' });
    const put = (name, type, headers = {}, body = '') => ask('blob', 'PUT', `/plain/${name}`, { 'x-ms-blob-type': type, ...headers }, body);
    for (const name of ['block', 'archived', 'copied', 'deleted', 'twice', 'snap'])
        await put(name, 'BlockBlob', { 'x-ms-tags': 'a=b' }, 'x');
    await put('page', 'PageBlob', { 'x-ms-blob-content-length': '512' });
    await put('append', 'AppendBlob');
    await put('twice', 'BlockBlob', {}, 'y');
    await ask('blob', 'PUT', '/plain/archived?comp=tier', { 'x-ms-access-tier': 'Archive' });
    await ask('blob', 'PUT', '/plain/archived?comp=tier', { 'x-ms-access-tier': 'Hot' });
    await ask('blob', 'PUT', '/plain/snap?comp=snapshot');
    await ask('blob', 'PUT', '/plain/new?comp=block&blockid=AAAA', {}, 'x');
    await ask('blob', 'DELETE', '/plain/deleted');
    await ask('blob', 'DELETE', '/plain/page');
    await set('blob', '<IsVersioningEnabled>true</IsVersioningEnabled>');
    await put('versions', 'BlockBlob', {}, 'x');
    await put('versions', 'BlockBlob', {}, 'y');
    await put('last', 'BlockBlob', {}, 'y');
    await ask('blob', 'DELETE', '/plain/last');
    const include = 'snapshots,metadata,uncommittedblobs,tags,copy,deleted,versions,deletedwithversions,immutabilitypolicy,legalhold';
    for (const version of ['2019-12-12', '2021-06-08', undefined])
        await look('blob', `/plain?restype=container&comp=list&include=${include}`, version);
    await look('blob', '/plain?restype=container&comp=list&include=snapshots,metadata,uncommittedblobs,copy,deleted', '2019-07-07');
    await look('blob', '/plain?restype=container&comp=list&delimiter=/');
    await look('blob', '/?comp=list&include=metadata,deleted,system');
    await look('blob', "/?comp=blobs&where=a%3D'b'");
    await look('blob', '/plain/block?comp=blocklist&blocklisttype=all');
    await look('blob', '/plain/new?comp=blocklist&blocklisttype=all');
    await ask('blob', 'PUT', '/plain?restype=container&comp=acl', {}, '<SignedIdentifiers><SignedIdentifier><Id>a</Id>' +
        '<AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>');
    await look('blob', '/plain?restype=container&comp=acl');
    await look('blob', '/?restype=service&comp=properties');
    for (const name of ['DeletedTime', 'RemainingRetentionDays', 'ArchiveStatus', 'IsCurrentVersion', 'LeaseDuration', 'TagCount'])
        assert(looked.has(name), name);
});

test('deleted blobs have an empty LeaseStatus up to 2019-02-02, and none later', async (t) => {
    // recorded: 24 of 24 without it at 2021-04-10 and 2021-06-08, and with it at 2018-11-09 and 2019-02-02
    const { ask, set } = await open(t);
    await set('blob', days('DeleteRetentionPolicy'));
    await ask('blob', 'PUT', '/plain?restype=container');
    await ask('blob', 'PUT', '/plain/deleted', { 'x-ms-blob-type': 'BlockBlob' }, 'x');
    await ask('blob', 'DELETE', '/plain/deleted');
    for (const [version, has] of [['2018-11-09', true], ['2019-02-02', true], ['2019-07-07', false], ['2021-04-10', false], [undefined, false]]) {
        const { text } = await ask('blob', 'GET', '/plain?restype=container&comp=list&include=deleted', {}, '', { version });
        assert.match(text, /<Deleted>true<\/Deleted>/);
        assert.equal(/<LeaseStatus \/>/.test(text), has, version);
        assert.doesNotMatch(text, /<LeaseState>/);
    }
});

test('lists of the File and the Queue service have no empty numbers, dates and words', async (t) => {
    const { ask, set, look, looked } = await open(t);
    await set('file', days('ShareDeleteRetentionPolicy'));
    for (const name of ['plain', 'gone'])
        await ask('file', 'PUT', `/${name}?restype=share`);
    await ask('file', 'PUT', '/plain/dir?restype=directory');
    await ask('file', 'PUT', '/plain/file', { 'x-ms-type': 'file', 'x-ms-content-length': '1024' });
    await ask('file', 'PUT', '/plain/file?comp=range', { 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-0' }, 'x');
    await ask('file', 'PUT', '/plain?restype=share&comp=snapshot');
    await ask('file', 'DELETE', '/gone?restype=share');
    for (const version of ['2018-11-09', '2020-04-08', undefined])
        await look('file', '/?comp=list&include=metadata,snapshots' + (version === '2018-11-09' ? '' : ',deleted'), version);
    await look('file', '/plain?restype=directory&comp=list&include=Timestamps,Etag,Attributes,PermissionKey');
    await look('file', '/plain?restype=directory&comp=list', '2019-02-02');
    await look('file', '/plain/file?comp=rangelist');
    await look('file', '/plain?comp=listhandles');
    await look('file', '/plain?restype=share&comp=stats');
    await look('file', '/?restype=service&comp=properties');
    await ask('queue', 'PUT', '/plain');
    await look('queue', '/plain/messages');
    await ask('queue', 'POST', '/plain/messages', {}, '<QueueMessage><MessageText></MessageText></QueueMessage>');
    await look('queue', '/?comp=list&include=metadata');
    await look('queue', '/plain/messages?peekonly=true');
    await look('queue', '/plain/messages');
    await look('queue', '/?restype=service&comp=properties');
    for (const name of ['DeletedTime', 'PermissionKey', 'DequeueCount', 'Quota'])
        assert(looked.has(name), name);
});
