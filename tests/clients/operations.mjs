// A request for every operation of blobs and containers that is built, for the tests that walk the operation
// table: `lagra operations` names the rows.
import { raw } from './raw.mjs';
import { blockId, url } from './setup.mjs';

export const A = 'aaaaaaaa-0000-4000-8000-00000000000a';
export const B = 'bbbbbbbb-0000-4000-8000-00000000000b';
const action = (name, more = {}) => ({ 'x-ms-lease-action': name, ...more });
const acquire = action('acquire', { 'x-ms-lease-duration': '-1', 'x-ms-proposed-lease-id': A });
const list = `<BlockList><Latest>${blockId(1)}</Latest></BlockList>`;
const block = `comp=block&blockid=${encodeURIComponent(blockId(1))}`;
const stage = ['PUT', 'blob', block, {}, 'x'];
const asAppend = ['PUT', 'blob', '', { 'x-ms-blob-type': 'AppendBlob' }, ''];
const asPages = ['PUT', 'blob', '',
    { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '1024' }, ''];
// The blob of the test itself.
const source = { 'x-ms-copy-source': `${url}/{container}/{blob}` };
const tags = '<Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>';
const search = `comp=blobs&where=${encodeURIComponent("k='v'")}`;
const readable = ['PUT', 'container', 'restype=container&comp=acl',
    { 'x-ms-blob-public-access': 'blob' }, ''];
const pages = { 'x-ms-range': 'bytes=0-511' };
const properties =
    '<StorageServiceProperties><StaticWebsite><Enabled>false</Enabled></StaticWebsite>' +
    '</StorageServiceProperties>';

// name, method, level, query, headers, body, and then: does it change the ETag of its resource;
// what is sent before; what makes it an error of its own: more headers, or another query.
const OTHER = { headers: { 'If-Match': '"0x1"' } };
const ABSENT = { level: 'absent' };
const FOREIGN = { headers: { 'x-ms-lease-id': B } };
const ASKED = { headers: { 'If-Match': '*' } };
export const TABLE = [
    ['Get Account Information', 'GET', 'service', 'restype=account&comp=properties', {}, '', 'none',
        [], ASKED],
    ['List Containers', 'GET', 'service', 'comp=list', {}, '', 'none', [],
        { more: '&maxresults=0' }],
    ['Set Blob Service Properties', 'PUT', 'service', 'restype=service&comp=properties', {},
        properties, 'none', [],
        { body: '<x' }],
    ['Get Blob Service Properties', 'GET', 'service', 'restype=service&comp=properties', {}, '',
        'none', [], ASKED],
    ['Create Container', 'PUT', 'new', 'restype=container', {}, '', 'changed', [],
        { level: 'container' }],
    ['Get Container Properties', 'GET', 'container', 'restype=container', {}, '', 'returned', [],
        FOREIGN],
    ['Get Container Properties', 'HEAD', 'container', 'restype=container', {}, '', 'returned', [],
        FOREIGN],
    ['Get Container Metadata', 'GET', 'container', 'restype=container&comp=metadata', {}, '',
        'returned', [], FOREIGN],
    ['Get Container Metadata', 'HEAD', 'container', 'restype=container&comp=metadata', {}, '',
        'returned', [], FOREIGN],
    ['Set Container Metadata', 'PUT', 'container', 'restype=container&comp=metadata', {}, '',
        'changed', [], FOREIGN],
    ['Get Container ACL', 'GET', 'container', 'restype=container&comp=acl', {}, '', 'returned', [],
        FOREIGN],
    ['Get Container ACL', 'HEAD', 'container', 'restype=container&comp=acl', {}, '', 'returned', [],
        FOREIGN],
    ['Set Container ACL', 'PUT', 'container', 'restype=container&comp=acl', {}, '', 'changed', [],
        FOREIGN],
    ['Lease Container', 'PUT', 'container', 'restype=container&comp=lease', acquire, '', 'returned',
        [],
        { headers: { 'x-ms-lease-duration': '1' } }],
    ...leaseRows('Lease Container', 'container', 'restype=container&comp=lease'),
    ['List Blobs', 'GET', 'container', 'restype=container&comp=list', {}, '', 'none', [],
        { more: '&maxresults=0' }],
    ['Delete Container', 'DELETE', 'container', 'restype=container', {}, '', 'gone', [], FOREIGN],
    ['Get Blob', 'GET', 'blob', '', {}, '', 'returned', [], OTHER],
    ['Get Blob', 'HEAD', 'blob', '', {}, '', 'returned', [], OTHER],
    ['Get Blob Metadata', 'GET', 'blob', 'comp=metadata', {}, '', 'returned', [], OTHER],
    ['Get Blob Metadata', 'HEAD', 'blob', 'comp=metadata', {}, '', 'returned', [], OTHER],
    ['Set Blob Properties', 'PUT', 'blob', 'comp=properties', {}, '', 'changed', [], OTHER],
    ['Set Blob Metadata', 'PUT', 'blob', 'comp=metadata', {}, '', 'changed', [], OTHER],
    ['Lease Blob', 'PUT', 'blob', 'comp=lease', acquire, '', 'returned', [], OTHER],
    ...leaseRows('Lease Blob', 'blob', 'comp=lease'),
    ['Snapshot Blob', 'PUT', 'blob', 'comp=snapshot', {}, '', 'returned', [], OTHER],
    ['Snapshot Blob', 'PUT', 'blob', 'comp=snapshot', { 'x-ms-meta-own': '1' }, '', 'own', [],
        OTHER],
    ['Put Blob', 'PUT', 'blob', '', { 'x-ms-blob-type': 'BlockBlob' }, 'same', 'changed', [],
        OTHER],
    ['Put Block', 'PUT', 'blob', block, {}, 'x', 'none', [], FOREIGN],
    ['Put Block List', 'PUT', 'blob', 'comp=blocklist', {}, list, 'changed', [stage], OTHER],
    ['Append Block', 'PUT', 'blob', 'comp=appendblock', {}, 'x', 'changed', [asAppend], OTHER],
    ['Append Blob Seal', 'PUT', 'blob', 'comp=seal', {}, '', 'changed', [asAppend], OTHER],
    ['Put Page', 'PUT', 'blob', 'comp=page', { 'x-ms-page-write': 'update', ...pages },
        'p'.repeat(512), 'changed', [asPages], OTHER],
    ['Put Page', 'PUT', 'blob', 'comp=page', { 'x-ms-page-write': 'clear', ...pages }, '',
        'changed', [asPages], OTHER],
    ['Get Page Ranges', 'GET', 'blob', 'comp=pagelist', {}, '', 'returned', [asPages], OTHER],
    ['Put Blob', 'PUT', 'blob', '', { 'x-ms-blob-type': 'AppendBlob' }, '', 'changed', [], OTHER],
    ['Put Blob', 'PUT', 'blob', '',
        { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' }, '', 'changed', [],
        OTHER],
    ['Find Blobs by Tags', 'GET', 'service', search, {}, '', 'none', [], { more: '&maxresults=0' }],
    ['Find Blobs by Tags in Container', 'GET', 'container', `restype=container&${search}`, {}, '',
        'none', [], { more: '&maxresults=0' }],
    ['Get Blob Tags', 'GET', 'blob', 'comp=tags', {}, '', 'none', [], FOREIGN],
    ['Set Blob Tags', 'PUT', 'blob', 'comp=tags', {}, tags, 'none', [], { body: '<x' }],
    ['Set Blob Tier', 'PUT', 'blob', 'comp=tier', { 'x-ms-access-tier': 'Cool' }, '', 'none', [],
        { headers: { 'x-ms-access-tier': 'x' } }],
    ['Put Blob From URL', 'PUT', 'blob', '', { 'x-ms-blob-type': 'BlockBlob', ...source }, '',
        'changed', [readable], OTHER],
    ['Put Block From URL', 'PUT', 'blob', block, source, '', 'none', [readable], FOREIGN],
    ['Append Block From URL', 'PUT', 'blob', 'comp=appendblock', source, '', 'changed',
        [readable, asAppend, ['PUT', 'blob', 'comp=appendblock', {}, 'x']], OTHER],
    ['Put Page From URL', 'PUT', 'blob', 'comp=page',
        { 'x-ms-page-write': 'update', ...pages, ...source, 'x-ms-source-range': 'bytes=0-511' }, '',
        'changed', [readable, asPages], OTHER],
    ['Copy Blob', 'PUT', 'blob', '', source, '', 'changed', [], OTHER],
    ['Copy Blob From URL', 'PUT', 'blob', '', { 'x-ms-requires-sync': 'true', ...source }, '',
        'changed', [readable], OTHER],
    ['Get Block List', 'GET', 'blob', 'comp=blocklist', {}, '', 'returned', [], FOREIGN],
    ['Delete Blob', 'DELETE', 'blob', '', {}, '', 'gone', [], ABSENT],
];

function leaseRows(name, level, query) {
    const held = [['PUT', level, query, acquire, '']];
    const id = { 'x-ms-lease-id': A };

    return [
        [name, 'PUT', level, query, action('renew', id), '', 'returned', held, FOREIGN],
        [name, 'PUT', level, query, action('change', { ...id, 'x-ms-proposed-lease-id': B }), '',
            'returned', held,
            { headers: { 'x-ms-proposed-lease-id': 'x' } }],
        [name, 'PUT', level, query, action('release', id), '', 'returned', held, FOREIGN],
        [name, 'PUT', level, query, action('break'), '', 'returned', held,
            { headers: { 'x-ms-lease-break-period': '61' } }],
    ];
}

/** blob: the name of the blob, of the table's requests. */
export function send(container, method, level, query, headers, body, blob = 'blob') {
    const path = {
        service: '/', container: `/${container}`, new: `/${container}-new`,
        blob: `/${container}/${blob}`,
        absent: `/${container}/absent`,
    }[level];

    const sent = Object.fromEntries(Object.entries(headers)
        .map(([name, value]) => [name, value.replace('{container}', container).replace('{blob}', blob)]));

    return raw(method, query ? `${path}?${query}` : path, sent, body);
}

export const etagNow = async (container, level, blob) =>
    (await send(container, 'HEAD', level === 'blob' ? 'blob' : 'container',
    level === 'blob' ? '' : 'restype=container', {}, '', blob)).headers.get('etag');
