// Prints vectors.h: signed requests, made without a line of the server's code.
//
//   node tests/unit/auth/vectors.mjs > tests/unit/auth/vectors.h     (after `npm ci` in
//                                                                    tests/clients)
//
// The first part is what @azure/storage-blob sends, as it signs it; the second is strings to sign
// written out by hand from rest: Authorize-with-Shared-Key, signed with Node's crypto.

import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../clients/package.json', import.meta.url));
const { BlobServiceClient, StorageSharedKeyCredential, newPipeline } = require('@azure/storage-blob');

const ACCOUNT = 'devstoreaccount1';
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
const DATE = 'Fri, 26 Jun 2015 23:39:12 GMT';
const ETAG = '"0x8D6D418B56CFF5B"';

// The client takes its date from here.
const RealDate = Date;
globalThis.Date = class extends RealDate {
    constructor(...given) {
        super(...(given.length > 0 ? given : [RealDate.parse(DATE)]));
    }
};

const vectors = [];

function add(what, method, url, headers, flags = {}) {
    const { pathname, search } = new URL(url);

    vectors.push({ what, method, path: pathname, query: search.slice(1), headers, ...flags });
}

// ---- as the client signs ----

const ignored = new Set(['user-agent', 'accept', 'accept-encoding']);

async function captured(what, base, act, flags) {
    const httpClient = {
        async sendRequest(request) {
            const headers = [];
            for (const { name, value } of request.headers.headersArray()) {
                if (!ignored.has(name.toLowerCase()))
                    headers.push([name.toLowerCase(), String(value)]);
            }
            add(what, request.method, request.url, headers, flags);
            throw new Error('captured');
        },
    };
    const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
    const pipeline = newPipeline(credential, { httpClient, retryOptions: { maxTries: 1 } });

    await act(new BlobServiceClient(base, pipeline)).catch((error) => {
        if (error.message !== 'captured')
            throw error;
    });
}

const LOCAL = `http://127.0.0.1:10000/${ACCOUNT}`;
const HOST = `http://${ACCOUNT}.blob.localhost:10000`;
const blob = (service, name = 'b') => service.getContainerClient('c').getBlockBlobClient(name);

for (const [style, base] of [['path', LOCAL], ['host', HOST]]) {
    await captured(`SDK, ${style} style: Get Blob`, base, (s) => blob(s).download());
    await captured(`SDK, ${style} style: Get Blob, range, condition, lease`, base, (s) => blob(s).download(
        5, 10, { conditions: { ifNoneMatch: ETAG, leaseId: 'ca761232-ed42-11ce-bacd-00aa0057b223' } }));
    await captured(`SDK, ${style} style: Put Blob, all headers`, base, (s) => blob(s).upload('hello', 5, {
        blobHTTPHeaders: { blobContentType: 'text/plain', blobContentLanguage: 'de', blobCacheControl: 'no-cache',
                           blobContentEncoding: 'identity', blobContentDisposition: 'inline' },
        metadata: { a: '1', b_c: 'two  spaces', Upper: 'Case' },
        conditions: { ifMatch: ETAG, ifUnmodifiedSince: new Date(0), ifModifiedSince: new Date(0) },
    }));
    await captured(`SDK, ${style} style: empty Put Blob`, base, (s) => blob(s, 'a b/ä+%?').upload('', 0));
    await captured(`SDK, ${style} style: List Blobs`, base, (s) => s.getContainerClient('c').listBlobsFlat({
        prefix: 'a b&c=d/ä+', includeMetadata: true, includeSnapshots: true }).byPage({ maxPageSize: 7 }).next());
    await captured(`SDK, ${style} style: Put Block`, base, (s) => blob(s).stageBlock('QUJDRA==', 'abc', 3));
    await captured(`SDK, ${style} style: Lease Blob`, base, (s) => blob(s).getBlobLeaseClient().acquireLease(15));
}
await captured('SDK, path style: secondary', `${LOCAL}-secondary`, (s) => blob(s).download(), { secondary: true });
await captured('SDK, host style: secondary', HOST.replace(ACCOUNT, `${ACCOUNT}-secondary`),
               (s) => blob(s).download(), { secondary: true });

// ---- written out ----

function signed(what, scheme, method, target, headers, lines, flags) {
    const signature = createHmac('sha256', Buffer.from(KEY, 'base64')).update(lines.join('\n'), 'utf8').digest('base64');

    add(what, method, `http://localhost${target}`,
        [...headers, ['authorization', `${scheme} ${ACCOUNT}:${signature}`]], flags);
}

const date = ['x-ms-date', DATE];
const version = ['x-ms-version', '2021-12-02'];
const ms = [`x-ms-date:${DATE}`, 'x-ms-version:2021-12-02'];
const none = (count) => Array(count).fill('');
const A = `/${ACCOUNT}`;

signed('x-ms-* headers sorted by bytes', 'SharedKey', 'PUT', '/c/b',
       [['x-ms-copysource', '1'], ['x-ms-copy-source', '2'], ['x-ms-copy-status', '3'], date, version],
       ['PUT', ...none(11), 'x-ms-copy-source:2', 'x-ms-copy-status:3', 'x-ms-copysource:1', ...ms, `${A}/c/b`]);
signed('x-ms-* headers sorted as words', 'SharedKey', 'PUT', '/c/b',
       [['x-ms-copysource', '1'], ['x-ms-copy-source', '2'], ['x-ms-copy-status', '3'], date, version],
       ['PUT', ...none(11), 'x-ms-copysource:1', 'x-ms-copy-source:2', 'x-ms-copy-status:3', ...ms, `${A}/c/b`]);
signed('encoding before language, as documented', 'SharedKey', 'PUT', '/c/b',
       [['content-encoding', 'gzip'], ['content-language', 'de'], ['content-length', '5'], date, version],
       ['PUT', 'gzip', 'de', '5', ...none(8), ...ms, `${A}/c/b`]);
signed('language before encoding, as some clients', 'SharedKey', 'PUT', '/c/b',
       [['content-encoding', 'gzip'], ['content-language', 'de'], ['content-length', '5'], date, version],
       ['PUT', 'de', 'gzip', '5', ...none(8), ...ms, `${A}/c/b`]);
signed('white space as sent', 'SharedKey', 'PUT', '/c/b',
       [date, ['x-ms-meta-a', 'x  y\t z "p  q"'], version],
       ['PUT', ...none(11), ms[0], 'x-ms-meta-a:x  y\t z "p  q"', ms[1], `${A}/c/b`]);
signed('every standard header', 'SharedKey', 'GET', '/c/b',
       [['content-encoding', 'br'], ['content-language', 'l'], ['content-length', '7'], ['content-md5', 'Q2hlY2s='],
        ['content-type', 't'], ['date', DATE], ['if-modified-since', 'm'], ['if-match', ETAG], ['if-none-match', '*'],
        ['if-unmodified-since', 'u'], ['range', 'bytes=0-1'], version],
       ['GET', 'br', 'l', '7', 'Q2hlY2s=', 't', DATE, 'm', ETAG, '*', 'u', 'bytes=0-1', ms[1], `${A}/c/b`]);
signed('Date only', 'SharedKey', 'GET', '/c/b', [['date', DATE], version],
       ['GET', ...none(5), DATE, ...none(5), ms[1], `${A}/c/b`]);
signed('Date beside x-ms-date is not signed', 'SharedKey', 'GET', '/c/b',
       [['date', 'Fri, 26 Jun 2015 20:00:00 GMT'], date, version], ['GET', ...none(11), ...ms, `${A}/c/b`]);
signed('length 0 counts before 2015-02-21', 'SharedKey', 'PUT', '/c?restype=container',
       [['content-length', '0'], date, ['x-ms-version', '2014-02-14']],
       ['PUT', '', '', '0', ...none(8), ms[0], 'x-ms-version:2014-02-14', `${A}/c`, 'restype:container']);
signed('an empty value is signed', 'SharedKey', 'PUT', '/c/b', [date, ['x-ms-meta-a', ''], version],
       ['PUT', ...none(11), ms[0], 'x-ms-meta-a:', ms[1], `${A}/c/b`]);
signed('an empty value is signed before 2016-05-31 too', 'SharedKey', 'PUT', '/c/b',
       [date, ['x-ms-meta-a', ''], ['x-ms-version', '2015-12-11']],
       ['PUT', ...none(11), ms[0], 'x-ms-meta-a:', 'x-ms-version:2015-12-11', `${A}/c/b`]);
signed('a header sent twice', 'SharedKey', 'PUT', '/c/b',
       [date, ['x-ms-meta-a', '2'], ['x-ms-meta-a', '1'], version],
       ['PUT', ...none(11), ms[0], 'x-ms-meta-a:2,1', ms[1], `${A}/c/b`]);
signed('parameters sorted, decoded, in lower case, joined', 'SharedKey', 'GET',
       '/c?restype=container&Include=snapshots&comp=list&include=meta%64ata&prefix=a%26b%3D+&empty&x=', [date, version],
       ['GET', ...none(11), ...ms, `${A}/c`, 'comp:list', 'empty:', 'include:metadata,snapshots', 'prefix:a&b= ',
        'restype:container', 'x:']);
signed('a space in a query as Go and Rust write it', 'SharedKey', 'GET',
       '/c?comp=list&prefix=a+b%2B%20c%2Fd&restype=container', [date, version],
       ['GET', ...none(11), ...ms, `${A}/c`, 'comp:list', 'prefix:a b+ c/d', 'restype:container']);
signed('language alone, language first', 'SharedKey', 'PUT', '/c/b',
       [['content-language', 'de'], ['content-length', '5'], date, version],
       ['PUT', 'de', '', '5', ...none(8), ...ms, `${A}/c/b`]);
signed('encoding alone, language first', 'SharedKey', 'PUT', '/c/b',
       [['content-encoding', 'gzip'], ['content-length', '5'], date, version],
       ['PUT', '', 'gzip', '5', ...none(8), ...ms, `${A}/c/b`]);
signed('an encoding that nobody knows, as documented', 'SharedKey', 'PUT', '/c/b',
       [['content-encoding', 'strange'], ['content-length', '5'], date, version],
       ['PUT', 'strange', '', '5', ...none(8), ...ms, `${A}/c/b`]);
signed('secondary, path without the suffix', 'SharedKey', 'GET', `${A}-secondary/c/b`, [date, version],
       ['GET', ...none(11), ...ms, `${A}${A}/c/b`], { secondary: true });
signed('Lite', 'SharedKeyLite', 'PUT', '/c/b?timeout=3&comp=metadata',
       [['content-md5', 'Q2hlY2s='], ['content-type', 'text/plain'], ['content-length', '5'], date, version],
       ['PUT', 'Q2hlY2s=', 'text/plain', '', ...ms, `${A}/c/b?comp=metadata`]);
signed('Lite, Date only', 'SharedKeyLite', 'GET', `${A}/c/b`, [['date', DATE]], ['GET', '', '', DATE, `${A}${A}/c/b`]);
signed('Table', 'SharedKey', 'POST', `${A}/Tables?timeout=3&comp=x`,
       [['content-type', 'application/json'], date, version],
       ['POST', '', 'application/json', DATE, `${A}${A}/Tables?comp=x`], { table: true });
signed('Table, Lite', 'SharedKeyLite', 'GET', "/t(PartitionKey='a',RowKey='b')?$select=c", [date, version],
       [DATE, `${A}/t(PartitionKey='a',RowKey='b')`], { table: true });
signed('Table, Lite, Date only', 'SharedKeyLite', 'GET', '/Tables', [['date', DATE]], [DATE, `${A}/Tables`], { table: true });

// ---- printed ----

const quoted = (text) => JSON.stringify(text); // all ASCII

console.log(`/* Made by vectors.mjs; signed at "${DATE}" with the development account's key. */
#ifndef LAGRA_TESTS_AUTH_VECTORS_H
#define LAGRA_TESTS_AUTH_VECTORS_H

#include "auth_test.h"

/* clang-format off */`);
console.log('static const struct vector vectors[] = {');
for (const { what, method, path, query, headers, secondary, table } of vectors) {
    console.log(`    { ${quoted(what)}, ${quoted(method)},\n      ${quoted(path)}, ${query ? quoted(query) : 'NULL'},`);
    console.log(`      ${Boolean(secondary)}, ${Boolean(table)},\n      {`);
    for (const [name, value] of headers)
        console.log(`          { ${quoted(name)}, ${quoted(value)} },`);
    console.log('      } },');
}
console.log('};\n/* clang-format on */\n\n#endif');
