// Every version gate in the program: the date at which it opens, where that date is from, and a request that is
// answered one way by the version before and another way at the date. The gates are found in the source, so that
// a new one fails here until it has a row. "rest: Version-D" is that page of the REST reference; "recorded" are
// exchanges with the service. decision: 879
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../lib/errors.mjs';
import { Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NEWEST = '2026-10-06';

/* ---- the gates of the source ---- */

/** "file date" of every date that a line of code compares versions with. */
function gatesOfSource() {
    const found = new Set();

    for (const file of readdirSync(`${ROOT}src`, { recursive: true }).filter((name) => /\.[ch]$/.test(name)))
        for (const line of readFileSync(`${ROOT}src/${file}`, 'utf8').split('\n')) {
            if (/ROW\(|^ {8}(READS|WRITES), MAY\(|^\s*\/?\*/.test(line)) // the column "since" of the operations is for their documentation
                continue;
            for (const [, date] of line.replace(/\/\*.*?\*\//g, '').matchAll(/"(20\d\d-\d\d-\d\d)"/g))
                found.add(`${file} ${date}`);
        }
    return found;
}

/* ---- what an answer shows ---- */

const header = (name) => (answer) => answer.headers.get(name) !== undefined;
const element = (name) => (answer) => new RegExp(`<${name}[ >/]`).test(answer.text);
const succeeds = ({ status }) => status < 300;
const not = (shows) => (answer) => !shows(answer);
const code = (wanted) => (answer) => errorCode(answer) === wanted;

/* ---- requests, of the world below ---- */

const filled = (headers, world) => headers && Object.fromEntries(Object.entries(headers)
    .map(([name, value]) => [name, value?.replace(/^\{(\w+)\}$/, (_, key) => world[key])]));
const of = (service, method, path, headers, body, options) => (version, world) =>
    raw(method, typeof path === 'function' ? path(world) : path, filled(headers, world), body,
        { version, base: { host: world.server.host, port: world.server.ports[service] }, ...options });
const anonymous = (path) => (version, world) => of('blob', 'GET', path, { 'x-ms-version': version }, '', { signed: false })(version, world);
const blob = (...request) => of('blob', ...request);
const file = (...request) => of('file', ...request);
const queue = (...request) => of('queue', ...request);

const HEAD_BLOB = blob('HEAD', '/box/b');
const HEAD_SNAPSHOT = blob('HEAD', ({ snapshot }) => `/box/b?snapshot=${snapshot}`);
const LIST = (include = '') => blob('GET', `/box?restype=container&comp=list${include}`);
const LIST_CONTAINERS = blob('GET', '/?comp=list&prefix=box');
const HEAD_CONTAINER = blob('HEAD', '/box?restype=container');
const HEAD_SHARE = file('HEAD', '/sha?restype=share');
const PROPERTIES = (service) => of(service, 'GET', '/?restype=service&comp=properties');
const PUT_BLOCK = (headers) => blob('PUT', '/box/blocks?comp=block&blockid=MDAw', headers, 'text');
const PUT_RANGE = file('PUT', '/sha/f?comp=range', { 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-3' }, 'text');

/* The lease id, of a blob that has no lease, is refused before the body is waited for. */
const TOO_LARGE = (mib) => ({ 'Content-Length': `${mib << 20}`, Expect: '100-continue', 'x-ms-lease-id': '11111111-2222-3333-4444-555555555555' });
const CONTENT_MD5 = { 'Content-MD5': createHash('md5').update('text').digest('base64') };

/** A blob of which only an uncommitted block exists is committed with If-Match: *. */
async function commitUncommitted(version, world) {
    const path = `/box/uncommitted-${version}`;
    await blob('PUT', `${path}?comp=block&blockid=MDAw`, {}, 'text')(NEWEST, world);
    const answer = await blob('PUT', `${path}?comp=blocklist`, { 'If-Match': '*' },
        '<BlockList><Latest>MDAw</Latest></BlockList>')(version, world);
    await blob('DELETE', path)(NEWEST, world);
    return answer;
}

/** Does another length move the last write time? */
async function resize(version, world) {
    const time = async () => (await file('HEAD', '/sha/f')(NEWEST, world)).headers.get('x-ms-file-last-write-time');
    const before = await time(), length = (world.length = (world.length ?? 4) + 1);
    const answer = await file('PUT', '/sha/f?comp=properties', { 'x-ms-content-length': `${length}` })(version, world);
    return { ...answer, moved: await time() !== before };
}

async function deleteBlob(version, world) {
    await blob('PUT', '/box/deleted', { 'x-ms-blob-type': 'BlockBlob' }, 'text')(NEWEST, world);
    return blob('DELETE', '/box/deleted')(version, world);
}

/* What the gate changes is in $logs, which are written later: their lines are in unit/analytics/test_line.c. */
const WITHOUT = null;

/** Rows: where, date, evidence, then a request and what its answer shows, or the name of the test that has both sides. */
const GATES = [
    ['blob/rest/container_operations.c', '2019-07-07', 'rest: Get-Account-Information "x-ms-is-hns-enabled"', blob('GET', '/?restype=account&comp=properties'), header('x-ms-is-hns-enabled')],
    ['blob/rest/append_blob.c', '2022-11-02', 'rest: Append-Block, and Azure.Storage.Blobs (Pre_2022_11_02_MaxAppendBlockBytes); decision 884', 'clients/append.test.mjs'],
    ['blob/rest/blob_operations.c', '2015-12-11', 'rest: Get-Blob-Properties "x-ms-server-encrypted"', HEAD_BLOB, header('x-ms-server-encrypted')],
    ['blob/rest/blob_operations.c', '2016-05-31', 'rest: Incremental-Copy-Blob, new in this version', blob('HEAD', '/box/incremental'), header('x-ms-incremental-copy')],
    ['blob/rest/blob_operations.c', '2017-04-17', 'rest: Version-2017-04-17 (Set Blob Tier)', HEAD_BLOB, header('x-ms-access-tier')],
    ['blob/rest/blob_operations.c', '2017-11-09', 'rest: Version-2017-11-09 "creation time of the blob"', HEAD_BLOB, header('x-ms-creation-time')],
    ['blob/rest/blob_operations.c', '2018-11-09', 'recorded: in this version alone; decision 32', 'clients/wire.test.mjs'],
    ['blob/rest/blob_operations.c', '2019-12-12', 'rest: Version-2019-12-12; Get-Blob-Properties "x-ms-tag-count"', HEAD_BLOB, header('x-ms-tag-count')],
    ['blob/rest/blob_operations.c', '2019-12-12', 'recorded (versions before have none)', HEAD_BLOB, header('x-ms-is-current-version')],
    ['blob/rest/blob_operations.c', '2019-12-12', 'rest: Append-Blob-Seal, new in this version', blob('HEAD', '/box/sealed'), header('x-ms-blob-sealed')],
    ['blob/rest/blob_operations.c', '2019-12-12', 'recorded (snapshots of 2018-11-09 have no tier)', HEAD_SNAPSHOT, header('x-ms-access-tier')],
    ['blob/rest/blob_operations.c', '2019-12-12', 'rest: Get-Blob-Properties "x-ms-rehydrate-priority"', blob('HEAD', '/box/rehydrated'), header('x-ms-rehydrate-priority')],
    ['blob/rest/blob_operations.c', '2019-02-02', 'recorded; decision 76', blob('HEAD', '/box/pages'), not(header('x-ms-access-tier'))],
    ['blob/rest/block_list.c', '2016-05-31', 'rest: Put-Block, 4 MiB before, 100 MiB since', 'unit/blob/test_block.c'],
    ['blob/rest/block_list.c', '2019-12-12', 'rest: Put-Block, 100 MiB before, 4000 MiB since', blob('PUT', '/box/blocks?comp=block&blockid=MDAw', TOO_LARGE(101)), not(code('RequestBodyTooLarge'))],
    ['blob/rest/container_operations.c', '2016-05-31', 'rest: Version-2016-05-31 "public access level"', HEAD_CONTAINER, header('x-ms-blob-public-access')],
    ['blob/rest/blob_operations.c', '2020-06-12', 'recorded', 'clients/immutability.test.mjs'],
    ['blob/rest/container_operations.c', '2017-11-09', 'rest: Version-2017-11-09 "immutability policy or a legal hold"', HEAD_CONTAINER, header('x-ms-has-legal-hold')],
    ['blob/rest/container_operations.c', '2019-02-02', 'recorded (4 of 4; none of 24 before); rest: Version-2019-02-02 "Encryption Scope"', HEAD_CONTAINER, header('x-ms-default-encryption-scope')],
    ['blob/rest/container_operations.c', '2020-10-02', 'recorded; definition of 2020-10-02 is the first that has it', HEAD_CONTAINER, header('x-ms-immutable-storage-with-versioning-enabled')],
    ['blob/rest/copy_blob.c', '2020-12-06', 'recorded without at 2018-11-09 and 2020-02-10, with at 2021-04-10; decision 880', blob('PUT', '/box/sync', { 'x-ms-copy-source': '{source}', 'x-ms-requires-sync': 'true' }), header('x-ms-request-server-encrypted')],
    ['blob/rest/blob_operations.c', '2017-07-29', 'rest: Delete-Blob "x-ms-delete-type-permanent"', deleteBlob, header('x-ms-delete-type-permanent')],
    ['blob/rest/find_blobs.c', '2020-04-08', 'recorded; decision 78', blob('GET', "/?comp=blobs&where=%22k%22%3D'v'"), element('Tags')],
    ['blob/rest/get_blob.c', '2016-05-31', 'rest: Version-2016-05-31 "Content-MD5"; Get-Blob "x-ms-blob-content-md5"', blob('GET', '/box/b', { 'x-ms-range': 'bytes=0-1' }), header('x-ms-blob-content-md5')],
    ['blob/rest/get_blob.c', NEWEST, 'azure-storage-blob 12.31.0b1, Azure.Storage.Blobs 12.30.0-beta.1: tier in downloads with 2026-10-06', blob('GET', '/box/b'), header('x-ms-access-tier')],
    ['blob/rest/list_blobs.c', '2015-12-11', 'rest: List-Blobs "ServerEncrypted"', LIST('&prefix=b'), element('ServerEncrypted')],
    ['blob/rest/list_blobs.c', '2016-05-31', 'rest: List-Blobs "IncrementalCopy"', LIST('&prefix=incremental'), element('IncrementalCopy')],
    ['blob/rest/list_blobs.c', '2021-06-08', 'rest: Version-2021-06-08 "delimiter and include snapshots"', LIST('&include=snapshots&delimiter=%2F'), succeeds],
    ['blob/rest/list_blobs.c', '2017-04-17', 'rest: List-Blobs "AccessTier"', LIST(), element('AccessTier')],
    ['blob/rest/list_blobs.c', '2017-11-09', 'rest: Version-2017-11-09 "creation time of the blob"', LIST(), element('Creation-Time')],
    ['blob/rest/list_blobs.c', '2019-02-02', 'recorded; decision 43', LIST(), element('Content-CRC64')],
    ['blob/rest/list_blobs.c', '2019-07-07', 'recorded: an empty LeaseStatus of deleted blobs before', 'clients/empty-elements.test.mjs'],
    ['blob/rest/list_blobs.c', '2019-12-12', 'recorded; decision 43', LIST('&include=tags'), element('TagCount')],
    ['blob/rest/list_blobs.c', '2019-12-12', 'recorded; decision 43', LIST(), element('OrMetadata')],
    ['blob/rest/list_blobs.c', '2019-12-12', 'rest: List-Blobs "VersionId"', LIST('&include=versions'), element('VersionId')],
    ['blob/rest/blob_operations.c', '2017-07-29', 'rest: Version-2017-07-29 "permission to break leases"', 'clients/sas.test.mjs'],
    ['blob/rest/container_operations.c', '2016-05-31', 'rest: Version-2016-05-31 "public access level"', LIST_CONTAINERS, element('PublicAccess')],
    ['blob/rest/container_operations.c', '2017-11-09', 'rest: Version-2017-11-09', LIST_CONTAINERS, element('HasLegalHold')],
    ['blob/rest/container_operations.c', '2019-02-02', 'recorded (3 of 3; none of 10 before); rest: Version-2019-02-02 "Encryption Scope"', LIST_CONTAINERS, element('DefaultEncryptionScope')],
    ['blob/rest/container_operations.c', '2020-10-02', 'recorded; definition of 2020-10-02 is the first that has it', LIST_CONTAINERS, element('ImmutableStorageWithVersioningEnabled')],
    ['blob/rest/put_blob.c', '2016-05-31', 'rest: Put-Blob, 64 MiB before, 256 MiB since', blob('PUT', '/box/large', { 'x-ms-blob-type': 'BlockBlob', ...TOO_LARGE(65) }), not(code('RequestBodyTooLarge'))],
    ['blob/rest/put_blob.c', '2019-12-12', 'rest: Put-Blob, 256 MiB before, 5000 MiB since', blob('PUT', '/box/large', { 'x-ms-blob-type': 'BlockBlob', ...TOO_LARGE(257) }), not(code('RequestBodyTooLarge'))],
    ['blob/rest/request.c', '2015-12-11', 'rest: Put-Blob "x-ms-request-server-encrypted"', PUT_BLOCK(), header('x-ms-request-server-encrypted')],
    ['blob/rest/request.c', '2019-12-12', 'rest: Put-Blob "x-ms-version-id"', HEAD_BLOB, header('x-ms-version-id')],
    ['blob/rest/request.c', '2021-12-02', 'rest: Version-2021-12-02 "Cold"', blob('PUT', '/box/b?comp=tier', { 'x-ms-access-tier': 'Cold' }), succeeds],
    ['blob/rest/blob_operations.c', '2018-11-09', 'recorded', blob('PUT', '/box/b?comp=snapshot'), header('x-ms-request-server-encrypted')],
    ['file/rest/file_operations.c', '2026-02-06', 'rest: Create-File; decision 875', file('PUT', '/sha/new', { 'x-ms-type': 'file', 'x-ms-content-length': '4' }, 'text'), succeeds],
    ['file/rest/file_operations.c', '2021-06-08', 'recorded; decision 877', resize, ({ moved }) => moved],
    ['file/rest/handles.c', '2019-07-07', 'rest: Version-2019-07-07 "handles that failed to close"', file('PUT', '/sha/f?comp=forceclosehandles', { 'x-ms-handle-id': '*' }), header('x-ms-number-of-handles-failed')],
    ['file/rest/handles.c', '2023-01-03', 'rest: Version-2023-01-03 "file handle access rights"', 'unit/file/test_required_access.c'],
    ['file/rest/handles.c', '2024-02-04', 'Azure.Storage.Files.Shares 12.18.0-beta.1 (ShareFileHandle.ClientName)', 'unit/file/test_required_access.c'],
    ['file/rest/list_files.c', '2020-10-02', 'rest: Version-2020-10-02 "File-Id", "Directory-Id"; recorded (none of 5 at 2018-11-09 and earlier, 11 of 11 since 2021-06-08)', file('GET', '/sha?restype=directory&comp=list'), element('FileId')],
    ['file/rest/share_operations.c', '2019-12-12', 'rest: List-Shares "AccessTier"', file('GET', '/?comp=list'), element('AccessTier')],
    ['file/rest/share_operations.c', '2020-02-10', 'rest: Lease-Share, new in this version', file('GET', '/?comp=list'), element('LeaseState')],
    ['file/rest/permission_operations.c', '2024-11-04', 'rest: Version-2024-11-04 "binary format"; Get-Permission "x-ms-file-permission-format"', file('GET', '/sha?restype=share&comp=filepermission', { 'x-ms-file-permission-key': '{permission}' }), (answer) => /"format"/.test(answer.text)],
    ['file/rest/range_operations.c', '2016-05-31', 'rest: Version-2016-05-31 "Content-MD5"; Get-File "x-ms-content-md5"', file('GET', '/sha/md5', { 'x-ms-range': 'bytes=0-1' }), header('x-ms-content-md5')],
    ['file/rest/range_operations.c', '2021-06-08', 'rest: Version-2021-06-08 "x-ms-file-last-write-time"; decision 878', PUT_RANGE, header('x-ms-file-last-write-time')],
    ['file/rest/share_operations.c', '2017-11-09', 'recorded', HEAD_SHARE, header('x-ms-has-legal-hold')],
    ['file/rest/share_operations.c', '2018-11-09', 'rest: Get-Share-Stats "beginning with version 2018-11-09"', file('GET', '/sha?restype=share&comp=stats'), element('ShareUsageBytes')],
    ['file/rest/share_operations.c', '2019-12-12', 'rest: Get-Share-Properties "x-ms-access-tier"', HEAD_SHARE, header('x-ms-access-tier')],
    ['file/rest/share_operations.c', '2020-02-10', 'rest: Get-Share-Properties "x-ms-lease-state"', HEAD_SHARE, header('x-ms-lease-state')],
    ['file/rest/smb_headers.c', '2016-10-16', 'recorded in this version, and none at 2016-05-31; rest: Version-2017-04-17; decision 880', file('HEAD', '/sha/f'), header('x-ms-server-encrypted')],
    ['file/rest/smb_headers.c', '2016-10-16', 'recorded in this version, and none at 2016-05-31; rest: Version-2017-04-17; decision 880', PUT_RANGE, header('x-ms-request-server-encrypted')],
    ['file/rest/smb_headers.c', '2021-06-08', 'rest: Version-2021-06-08 "now optional"', file('PUT', '/sha/d?comp=properties&restype=directory'), succeeds],
    ['file/rest/smb_headers.c', '2021-06-08', 'rest: Version-2021-06-08 "now optional"', file('PUT', '/sha/new2', { 'x-ms-type': 'file', 'x-ms-content-length': '4' }), succeeds],
    ['file/rest/smb_headers.c', '2019-02-02', 'rest: Version-2019-02-02 "These headers are also returned"', file('HEAD', '/sha/f'), header('x-ms-file-attributes')],
    ['file/rest/smb_headers.c', '2019-02-02', 'recorded in December 2019 (test_resize_file); the reference has 2019-07-07', file('HEAD', '/sha/f'), header('x-ms-lease-state')],
    ['queue/rest/message_operations.c', '2016-05-31', 'rest: Version-2016-05-31 "Put Message", recorded', queue('POST', '/que/messages', {}, '<QueueMessage><MessageText>x</MessageText></QueueMessage>'), element('PopReceipt')],
    ['queue/rest/message_operations.c', '2017-07-29', 'rest: Version-2017-07-29 "messagettl"', queue('POST', '/que/messages?messagettl=604801', {}, '<QueueMessage><MessageText>x</MessageText></QueueMessage>'), succeeds],
    ['service/answer.c', '2017-07-29', 'recorded (none of 132 errors at 2017-04-17 and earlier, all since 2017-11-09); rest: Version-2017-07-29', blob('GET', '/box/none'), header('x-ms-error-code')],
    ['observe/analytics_event.c', '2017-04-17', 'rest: Version-2017-04-17 "more detailed request-status"', WITHOUT],
    ['request/authenticate.c', '2014-02-14', 'rest: Previous-Azure-Storage-service-versions "If the x-ms-version header is passed on the request, it\'s ignored"', 'clients/sas.test.mjs'],
    ['request/authenticate.c', '2019-12-12', 'recorded; decision 11', anonymous('/?comp=list'), code('NoAuthenticationInformation')],
    ['request/prepare.c', '2013-08-15', 'rest: Version-2013-08-15 "multiple conditional headers"', blob('GET', '/box/b', { 'If-Match': '*', 'If-None-Match': '"0x1"' }), succeeds],
    ['request/prepare.c', '2016-05-31', 'rest: Version-2016-05-31 "If-None-Match: *"', blob('GET', '/box/b', { 'If-None-Match': '*' }), not(succeeds)],
    ['request/prepare.c', '2017-04-17', 'rest: Version-2017-04-17 "If-Match: *"', commitUncommitted, not(succeeds)],
    ['service/answer.c', '2012-02-12', 'rest: Copy-Blob, "x-ms-copy-status" new in this version', blob('HEAD', '/box/copy'), header('x-ms-copy-status')],
    ['request/control.c', '2017-07-29', 'as service/answer.c, for the check of all replies', WITHOUT],
    ['request/error_answer.c', '2019-02-02', 'recorded (none of 2,091 responses at 2018-11-09 and earlier whose requests have one, all 277 at 2019-02-02); rest: Version-2019-02-02', blob('HEAD', '/box/b', { 'x-ms-client-request-id': 'me' }), header('x-ms-client-request-id')],
    ['request/error_answer.c', '2020-10-02', 'recorded: a 304 of Get Page Ranges has no type', 'clients/copy.test.mjs'],
    ['request/error_answer.c', '2024-08-04', 'definitions; decision 52', 'clients/copy.test.mjs'],
    ['service/listing_xml.c', '2013-08-15', 'rest: Version-2013-08-15 "no longer return the URL"', LIST_CONTAINERS, not(element('Url'))],
    ['service/listing_xml.c', '2013-08-15', 'rest: Version-2013-08-15 "no longer return the URL"', LIST('&prefix=b'), not(element('Url'))],
    ['service/listing_xml.c', '2013-08-15', 'rest: Version-2013-08-15 "no longer return the URL"', queue('GET', '/?comp=list'), not(element('Url'))],
    ['request/prepare.c', '2015-02-21', 'rest: List-Blobs "FeatureVersionMismatch"', LIST(), not(code('FeatureVersionMismatch'))],
    ['request/prepare.c', '2015-02-21', 'rest: Blob-Service-Error-Codes "requires at least version 2015-02-21"', blob('GET', '/box/sealed'), not(code('FeatureVersionMismatch'))],
    ['service/customer_key.c', '2019-02-02', 'rest: Version-2019-02-02 "Customer-Provided Key"', 'clients/customer-keys.test.mjs'],
    ['service/request_body.c', '2019-02-02', 'rest: Version-2019-02-02 "CRC64"', PUT_BLOCK(), header('x-ms-content-crc64')],
    ['service/request_body.c', NEWEST, 'azure-storage-blob 12.31.0b1, Azure.Storage.Blobs 12.30.0-beta.1: both sums with 2026-10-06', PUT_BLOCK(CONTENT_MD5), header('x-ms-content-crc64')],
    ['blob/rest/blob_operations.c', '2020-06-12', 'recorded', 'clients/dfs-versions.test.mjs'],
    ['dfs/rest/delete_path.c', '2023-08-03', 'rest: Path-Delete "paginated"', 'clients/dfs-deletes.test.mjs'],
    ['dfs/rest/request.c', '2021-04-10', 'Azure SDK for Java, createEncryptionContext; decision 1295', 'clients/dfs-create.test.mjs'],
    ['dfs/rest/request.c', '2020-12-06', "tests of Azure's SDKs; decision 1290", 'clients/dfs-create.test.mjs'],
    ['blob/rest/blob_operations.c', '2020-10-02', 'recorded', 'clients/dfs-versions.test.mjs'],
    ['blob/rest/list_blobs.c', '2020-10-02', 'recorded', 'clients/dfs-versions.test.mjs'],
    ['blob/rest/list_blobs.c', '2020-06-12', 'rest: List-Blobs "Properties element in the BlobPrefix element"', 'clients/hierarchical-lists.test.mjs'],
    ['blob/rest/list_blobs.c', '2021-06-08', 'rest: List-Blobs "Placeholder"', 'clients/hierarchical-lists.test.mjs'],
    ['dfs/rest/list_paths.c', '2020-02-10', 'recorded', 'clients/dfs-versions.test.mjs'],
    ['dfs/rest/list_paths.c', '2020-06-12', 'recorded', 'clients/dfs-versions.test.mjs'],
    ['dfs/rest/delete_path.c', '2020-06-12', 'recorded', 'clients/dfs-versions.test.mjs'],
    ['request/route.c', '2018-03-28', 'rest: static websites are of no version; recorded', 'clients/website.test.mjs'],
    ['request/route.c', NEWEST, 'decision 9', 'unit/request/test_route.c'],
    ['properties/service_properties_xml.c', '2011-08-18', 'rest: Get-Blob-Service-Properties "DefaultServiceVersion"', PROPERTIES('blob'), element('DefaultServiceVersion')],
    ['properties/service_properties_xml.c', '2017-07-29', 'rest: Get-Blob-Service-Properties "DeleteRetentionPolicy"', PROPERTIES('blob'), element('DeleteRetentionPolicy')],
    ['properties/service_properties_xml.c', '2013-08-15', 'rest: Version-2013-08-15 "changed to HourMetrics", "CORS"', PROPERTIES('queue'), element('HourMetrics')],
    ['properties/service_properties_xml.c', '2013-08-15', 'rest: Version-2013-08-15 "changed to HourMetrics", "CORS"', PROPERTIES('queue'), not(element('Metrics'))],
    ['properties/service_properties_xml.c', '2019-12-12', 'rest: Version-2019-12-12 "absolute path for the index document"', PROPERTIES('blob'), element('DefaultIndexDocumentPath')],
    ['properties/service_properties_xml.c', '2018-03-28', 'rest: Get-Blob-Service-Properties "StaticWebsite"', PROPERTIES('blob'), element('StaticWebsite')],
    ['properties/service_properties_xml.c', '2019-12-12', 'rest: Set-Blob-Service-Properties; recorded', PROPERTIES('blob'), element('ContainerDeleteRetentionPolicy')],
    ['properties/service_properties_xml.c', '2019-12-12', 'recorded', PROPERTIES('blob'), element('IsVersioningEnabled')],
    ['properties/service_properties_xml.c', '2019-12-12', 'rest: Get-File-Service-Properties "ShareDeleteRetentionPolicy"', PROPERTIES('file'), element('ShareDeleteRetentionPolicy')],
    ['properties/service_properties_xml.c', '2020-02-10', 'rest: Version-2020-02-10 "SMB Multi-channel property"', PROPERTIES('file'), element('ProtocolSettings')],
    ['properties/service_properties_xml.c', '2020-02-10', 'definition of 2020-02-10 is the first that has it; recorded', PROPERTIES('blob'), element('AllowPermanentDelete')],
    ['source/copy_source.c', '2019-02-02', 'rest: Version-2019-02-02 "CRC64"', blob('PUT', '/box/blocks?comp=block&blockid=MDAw', { 'x-ms-copy-source': '{source}' }), header('x-ms-content-crc64')],

    /* ---- of signatures: service/auth, whose vectors are of every version ---- */
    ['auth/sas.c', '2012-02-12', 'rest: Versioning-for-the-Azure-Storage-services "sv"', 'unit/auth/sas_vectors.h'],
    ['auth/sas.c', '2013-08-15', 'rest: Create-service-SAS "rscc .. rsct"', 'unit/auth/sas_vectors.h'],
    ['auth/sas.c', '2015-04-05', 'rest: Create-account-SAS; Create-service-SAS "sip", "spr"', 'unit/auth/sas_vectors.h'],
    ['auth/sas.c', '2018-11-09', 'rest: Create-user-delegation-SAS', 'unit/auth/sas_vectors.h'],
    ['auth/sas.c', '2020-02-10', 'rest: Create-user-delegation-SAS "saoid", "suoid", "scid"', 'unit/auth/sas_vectors.h'],
    ['auth/sas.c', '2020-02-10', 'rest: Create-service-SAS "directory-scoped access", Azure.Storage.Blobs 12.29 "Beginning in version 2020-02-10": sr=d', 'unit/auth/test_sas.c'],
    ['auth/sas.c', '2020-12-06', 'rest: Create-service-SAS "ses"', 'unit/auth/sas_vectors.h'],
    ['auth/sas.c', '2025-07-05', 'rest: Create-user-delegation-SAS "sduoid", "skdutid"', 'unit/auth/sas_vectors.h'],
    ['auth/sas.c', '2026-04-06', 'Azure.Storage.Blobs 12.28.0-beta.1: dynamic user delegation SAS with 2026-04-06', 'unit/auth/sas_vectors.h'],
    ['auth/sas_string.c', '2013-08-15', 'rest: Create-service-SAS "Version 2013-08-15"', 'unit/auth/sas_vectors.h'],
    ['auth/sas_string.c', '2015-02-21', 'rest: Create-service-SAS, the canonicalized resource', 'unit/auth/sas_vectors.h'],
    ['auth/sas_string.c', '2015-04-05', 'rest: Create-service-SAS "Version 2015-04-05"', 'unit/auth/sas_vectors.h'],
    ['auth/sas_string.c', '2018-11-09', 'rest: Create-service-SAS "Version 2018-11-09"', 'unit/auth/sas_vectors.h'],
    ['auth/sas_string.c', '2020-02-10', 'rest: Create-user-delegation-SAS "Version 2020-02-10"', 'unit/auth/sas_vectors.h'],
    ['auth/sas_string.c', '2020-12-06', 'rest: Create-service-SAS "Version 2020-12-06"', 'unit/auth/sas_vectors.h'],
    ['auth/sas_string.c', '2025-07-05', 'rest: Create-user-delegation-SAS "Version 2025-07-05"', 'unit/auth/sas_vectors.h'],
    ['auth/sas_string.c', '2026-04-06', 'Azure.Storage.Blobs 12.28.0-beta.1', 'unit/auth/sas_vectors.h'],
    ['auth/string_to_sign.c', '2015-02-21', 'rest: Authorize-with-Shared-Key "Content-Length header in version 2014-02-14 and earlier"', 'unit/auth/vectors.h'],
];

/** Dates that are not gates: versions that the program itself asks with. */
const OWN = new Set(['admin/account_settings.c 2026-10-06', 'cli/administer_sas.c 2026-10-06', 'seed/seed_make.c 2019-02-02', 'seed/seed_private.h 2025-11-05',
    'source/copy_run.c 2026-10-06', 'transfer/api_client.c 2019-02-02', 'transfer/api_client.h 2021-12-02']);

/* ---- the world ---- */

const KEEP = '<Enabled>true</Enabled><Days>7</Days>';
const BLOB_PROPERTIES = '<StorageServiceProperties><DefaultServiceVersion>2020-10-02</DefaultServiceVersion>' +
    `<DeleteRetentionPolicy>${KEEP}</DeleteRetentionPolicy><StaticWebsite><Enabled>true</Enabled><DefaultIndexDocumentPath>index.html</DefaultIndexDocumentPath></StaticWebsite>` +
    `<ContainerDeleteRetentionPolicy>${KEEP}</ContainerDeleteRetentionPolicy><IsVersioningEnabled>true</IsVersioningEnabled></StorageServiceProperties>`;
const FILE_PROPERTIES = `<StorageServiceProperties><ShareDeleteRetentionPolicy>${KEEP}</ShareDeleteRetentionPolicy></StorageServiceProperties>`;

async function worldOf(t) {
    const server = await Server.start({});
    const world = { server };
    const put = async (service, path, headers, body) => {
        const answer = await of(service, 'PUT', path, headers, body)(NEWEST, world);
        assert.ok(answer.status < 300, `${path}: ${answer.text}`);
        return answer;
    };

    t.after(() => server.kill().then(() => server.remove()));
    await put('blob', '/box?restype=container', { 'x-ms-blob-public-access': 'blob' });
    await put('blob', '/box/b', { 'x-ms-blob-type': 'BlockBlob', 'x-ms-tags': 'k=v', 'x-ms-meta-a': 'b' }, 'text');
    world.snapshot = (await put('blob', '/box/b?comp=snapshot')).headers.get('x-ms-snapshot');
    await put('blob', '/box/sealed', { 'x-ms-blob-type': 'AppendBlob' });
    await put('blob', '/box/sealed?comp=seal');
    await put('blob', '/box/pages', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' });
    await put('blob', '/box/rehydrated', { 'x-ms-blob-type': 'BlockBlob', 'x-ms-access-tier': 'Archive' }, 'text');
    await put('blob', '/box/rehydrated?comp=tier', { 'x-ms-access-tier': 'Hot' });
    const pages = (await put('blob', '/box/pages?comp=snapshot')).headers.get('x-ms-snapshot');
    await put('blob', '/box/incremental?comp=incrementalcopy',
        { 'x-ms-copy-source': `http://${server.host}:${server.ports.blob}/devstoreaccount1/box/pages?snapshot=${pages}` });
    world.source = `http://${server.host}:${server.ports.blob}/devstoreaccount1/box/b`;
    await put('blob', '/box/copy', { 'x-ms-copy-source': world.source });
    await put('file', '/sha?restype=share');
    await put('file', '/sha/d?restype=directory');
    await put('file', '/sha/f', { 'x-ms-type': 'file', 'x-ms-content-length': '4' });
    await put('file', '/sha/md5', { 'x-ms-type': 'file', 'x-ms-content-length': '4', 'x-ms-content-md5': CONTENT_MD5['Content-MD5'] });
    world.permission = (await put('file', '/sha?restype=share&comp=filepermission', {}, '{"permission":"O:SYG:SYD:(A;;FA;;;BA)"}'))
        .headers.get('x-ms-file-permission-key');
    await put('queue', '/que');
    await put('file', '/?restype=service&comp=properties', {}, FILE_PROPERTIES);
    await put('blob', '/?restype=service&comp=properties', {}, BLOB_PROPERTIES);
    await put('blob', '/box/b?comp=metadata', { 'x-ms-meta-a': 'c' });
    return world;
}

function dayBefore(date) {
    const day = new Date(`${date}T00:00:00Z`);
    day.setUTCDate(day.getUTCDate() - 1);
    return day.toISOString().slice(0, 10);
}

/* ---- the tests ---- */

test('every gate in the source has a row, and every row its gate', () => {
    const gates = gatesOfSource();
    const rows = new Set(GATES.map(([where, date]) => `${where} ${date}`));

    assert.deepEqual([...gates].filter((gate) => !rows.has(gate) && !OWN.has(gate)), [], 'gates without a row');
    assert.deepEqual([...rows, ...OWN].filter((row) => !gates.has(row)), [], 'rows without a gate');
});

test('gates that another test covers: it names the date', () => {
    for (const [where, date, , covered] of GATES.filter((row) => typeof row[3] === 'string'))
        assert.ok(readFileSync(`${ROOT}tests/${covered}`, 'utf8').includes(date), `${where}: ${covered} has no ${date}`);
});

test('each gate is closed the day before, and open at its date and in the newest version', async (t) => {
    const world = await worldOf(t), wrong = [];
    for (const [where, date, evidence, request, shows] of GATES.filter((row) => typeof row[3] === 'function')) {
        for (const [version, open] of [[dayBefore(date), false], [date, true], [NEWEST, true]]) {
            const answer = await request(version, world);
            if (shows(answer) !== open)
                wrong.push(`${where} ${date} (${evidence}), asked with ${version}: ${answer.status} ${answer.text} ` +
                    answer.headers.list.join('; '));
        }
    }
    assert.deepEqual(wrong, []);
});
