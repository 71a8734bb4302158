// What a client can do again and again to containers and blobs.

import { BATCH_TYPE, batchBody, partRequest } from '../lib/batch.mjs';

const BLOCK = ['x-ms-blob-type', 'BlockBlob'];
const SOURCE = (server, path) => ['x-ms-copy-source', `${server.url}${path}`];
const PAGES = 'x-ms-blob-type: PageBlob'.split(': ');
const blockId = (n) => encodeURIComponent(Buffer.from(String(n).padStart(6, '0')).toString('base64'));
const blockList = (...ids) => `<BlockList>${ids.map((id) => `<Latest>${decodeURIComponent(blockId(id))}</Latest>`).join('')}</BlockList>`;
const guid = (i) => `00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`;
const acl = (i) => '<SignedIdentifiers>' + `<SignedIdentifier><Id>policy-${i}</Id><AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier>` +
    '</SignedIdentifiers>';
const put = (ask, path, body = 'x', more = []) => ask('blob', 'PUT', path, { headers: [BLOCK, ...more], body, status: 201 });
const drop = (ask, path, more = []) => ask('blob', 'DELETE', path, { headers: more, status: 202 });
const get = (ask, path, status = 200, headers = []) => ask('blob', 'GET', path, { headers, status });

export async function setup(ask) {
    await ask('blob', 'PUT', '/mem?restype=container', { status: 201 });
    await put(ask, '/mem/source', Buffer.alloc(70000, 's'));
    await put(ask, '/mem/hot', Buffer.alloc(70000, 's'));
    await ask('blob', 'PUT', '/mem/pages-source', { headers: [PAGES, ['x-ms-blob-content-length', '4096']], status: 201 });
}

/** name: [what is done the i-th time, bytes that may stay of each] */
export const KINDS = (server) => ({
    'a container: create, metadata, ACL, lease, properties, delete': async (ask, i) => {
        const c = `/con${i}`, at = `${c}?restype=container`, lease = ['x-ms-lease-id', guid(i)];

        await ask('blob', 'PUT', at, { status: 201 });
        await ask('blob', 'PUT', `${at}&comp=metadata`, { headers: [['x-ms-meta-n', `${i}`]], status: 200 });
        await ask('blob', 'PUT', `${at}&comp=acl`, { headers: [['x-ms-blob-public-access', 'blob']], body: acl(i), status: 200 });
        await ask('blob', 'PUT', `${at}&comp=lease`, { headers: [['x-ms-lease-action', 'acquire'], ['x-ms-lease-duration', '15'],
            ['x-ms-proposed-lease-id', guid(i)]], status: 201 });
        await get(ask, at);
        await drop(ask, at, [lease]);
    },
    'a container with a blob: deleted': async (ask, i) => {
        await ask('blob', 'PUT', `/del${i}?restype=container`, { status: 201 });
        await put(ask, `/del${i}/b`, 'x', [['x-ms-tags', `n=${i}`]]);
        await drop(ask, `/del${i}?restype=container`);
    },
    'a blob: put, read, deleted': async (ask, i) => {
        await put(ask, `/mem/b${i}`, `text ${i}`);
        await get(ask, `/mem/b${i}`);
        await drop(ask, `/mem/b${i}`);
    },
    'a blob that stays': (ask, i) => put(ask, `/mem/stays/${i}`, `text ${i}`),
    'a large blob: put, read in parts, deleted': async (ask, i) => {
        await put(ask, `/mem/large${i}`, Buffer.alloc(70000, `${i}`));
        await get(ask, `/mem/large${i}`, 206, [['x-ms-range', `bytes=${i % 60000}-69999`]]);
        await drop(ask, `/mem/large${i}`);
    },
    'a blob overwritten': (ask, i) => put(ask, '/mem/one', Buffer.alloc(20000 + i % 30000, 'o')),
    'headers, metadata, tags and a tier of a blob': async (ask, i) => {
        const path = `/mem/described-${i % 16}`;

        await put(ask, path);
        await ask('blob', 'PUT', `${path}?comp=properties`, { headers: [['x-ms-blob-content-type', `text/${i}`]], status: 200 });
        await ask('blob', 'PUT', `${path}?comp=metadata`, { headers: [[`x-ms-meta-n${i}`, `${i}`]], status: 200 });
        await ask('blob', 'PUT', `${path}?comp=tags`, { body: `<Tags><TagSet><Tag><Key>k${i}</Key><Value>v</Value></Tag></TagSet></Tags>`, status: 204 });
        await get(ask, `/?comp=blobs&where=${encodeURIComponent(`"k${i}"='v'`)}`);
        await ask('blob', 'PUT', `${path}?comp=tier`, { headers: [['x-ms-access-tier', 'Cool']], status: 200 });
    },
    'blocks and their list': async (ask, i) => {
        const path = `/mem/blocks-${i}`;

        await ask('blob', 'PUT', `${path}?comp=block&blockid=${blockId(i)}`, { body: `b${i}`, status: 201 });
        await ask('blob', 'PUT', `${path}?comp=block&blockid=${blockId(i + 1)}`, { body: Buffer.alloc(20000, 'b'), status: 201 });
        await get(ask, `${path}?comp=blocklist&blocklisttype=all`);
        await ask('blob', 'PUT', `${path}?comp=blocklist`, { body: blockList(i, i + 1), status: 201 });
        await drop(ask, path);
    },
    'blocks that are never committed': (ask, i) =>
        ask('blob', 'PUT', `/mem/open-${i}?comp=block&blockid=${blockId(i)}`, { body: Buffer.alloc(17000, 'b'), status: 201 }),
    'a lease: all of its actions': async (ask, i) => {
        const path = `/mem/leased-${i % 16}-${i >> 4}`, act = (action, more, status) =>
            ask('blob', 'PUT', `${path}?comp=lease`, { headers: [['x-ms-lease-action', action], ...more], status });
        const id = ['x-ms-lease-id', guid(i)], other = ['x-ms-lease-id', guid(i + 0x10000000)];

        await put(ask, path);
        await act('acquire', [['x-ms-lease-duration', '-1'], ['x-ms-proposed-lease-id', guid(i)]], 201);
        await act('renew', [id], 200);
        await act('change', [id, ['x-ms-proposed-lease-id', guid(i + 0x10000000)]], 200);
        await drop(ask, path, [other]);
        await act('break', [], 404);
    },
    'snapshots, and a delete of them with their blob': async (ask, i) => {
        const path = `/mem/snapshots-${i}`;

        await put(ask, path, Buffer.alloc(17000, 's'));
        for (let n = 0; n < 3; n++)
            await ask('blob', 'PUT', `${path}?comp=snapshot`, { status: 201 });
        await drop(ask, path, [['x-ms-delete-snapshots', 'include']]);
    },
    'a snapshot of one blob, deleted': async (ask) => {
        const { headers } = await ask('blob', 'PUT', '/mem/hot?comp=snapshot', { status: 201 });

        await drop(ask, `/mem/hot?snapshot=${encodeURIComponent(headers.get('x-ms-snapshot'))}`);
    },
    'pages: written, cleared, listed, resized': async (ask, i) => {
        const path = `/mem/pages-${i % 16}-${i >> 8}`;
        const write = (what, first, length) => ask('blob', 'PUT', `${path}?comp=page`, {
            headers: [['x-ms-page-write', what], ['x-ms-range', `bytes=${first}-${first + length - 1}`]],
            body: what === 'update' ? Buffer.alloc(length, 'p') : '', status: [201, 416],
        });

        await ask('blob', 'PUT', path, { headers: [PAGES, ['x-ms-blob-content-length', `${1 << 20}`], ['If-None-Match', '*']], status: [201, 409] });
        await write('update', (i % 1000) * 512, 2048);
        await write('update', (i % 1000) * 512 + 512, 512);
        await get(ask, `${path}?comp=pagelist`);
        await write('clear', 0, 1 << 19);
        await ask('blob', 'PUT', `${path}?comp=properties`, { headers: [['x-ms-blob-content-length', `${(1 << 20) - 512 * (i % 7)}`]], status: 200 });
    },
    'a page blob: put, written, deleted': async (ask, i) => {
        await ask('blob', 'PUT', `/mem/p${i}`, { headers: [PAGES, ['x-ms-blob-content-length', '65536']], status: 201 });
        await ask('blob', 'PUT', `/mem/p${i}?comp=page`, { headers: [['x-ms-page-write', 'update'], ['x-ms-range', 'bytes=512-2047']],
            body: Buffer.alloc(1536, 'p'), status: 201 });
        await ask('blob', 'PUT', `/mem/p${i}?comp=snapshot`, { status: 201 });
        await drop(ask, `/mem/p${i}`, [['x-ms-delete-snapshots', 'include']]);
    },
    'appended blocks': async (ask, i) => {
        const path = `/mem/append-${i >> 6}`;

        await ask('blob', 'PUT', path, { headers: [['x-ms-blob-type', 'AppendBlob'], ['If-None-Match', '*']], status: [201, 409] });
        await ask('blob', 'PUT', `${path}?comp=appendblock`, { body: `${i}`, status: 201 });
    },
    'a batch of deletes': async (ask, i) => {
        const parts = Array.from({ length: 5 }, (_, id) =>
            ({ id, request: partRequest({ method: 'DELETE', target: `/devstoreaccount1/mem/batch-${i}-${id}` }) }));

        await put(ask, `/mem/batch-${i}-0`);
        await ask('blob', 'POST', '/mem?restype=container&comp=batch', { headers: [['Content-Type', BATCH_TYPE]], body: batchBody(parts), status: 202 });
    },
    'a batch that is refused': (ask, i) => ask('blob', 'POST', '/?comp=batch',
        { headers: [['Content-Type', `multipart/mixed; boundary=b${i}`]], body: `--b${i}\r\nContent-Type: text/${i}\r\n\r\nx\r\n--b${i}--\r\n`, status: [400, 202] }),
    'a copy within the server': async (ask, i) => {
        await ask('blob', 'PUT', `/mem/copy-${i}`, { headers: [SOURCE(server, '/mem/source')], status: 202 });
        await drop(ask, `/mem/copy-${i}`);
    },
    'contents from a URL of this server': async (ask, i) => {
        await ask('blob', 'PUT', `/mem/from-${i}?comp=block&blockid=${blockId(i)}`, { headers: [SOURCE(server, `/mem/source?n=${i}`)], status: [201, 401, 403, 404] });
        await ask('blob', 'PUT', `/mem/from-${i}`, { headers: [BLOCK, SOURCE(server, '/mem/source')], status: [201, 401, 403, 404] });
    },
    'copies from odd URLs': async (ask, i) => {
        /* Names of .localhost ask no resolver, which may drop what comes by the thousand. rfc: 6761 6.3 */
        const url = [`http://127.0.0.1:1/${i}`, `http://h${i}.localhost:1/c/b`, `https://127.0.0.${i % 250 + 1}:9/x?sig=${i}`, `ftp://x/${i}`,
            `${server.url}/none-${i}/b`, `http://[::1]:${i % 60000 + 1}/`, `nonsense ${i}`][i % 7];

        await ask('blob', 'PUT', `/mem/odd-${i}`, { headers: [['x-ms-copy-source', url]] });
        await ask('blob', 'PUT', `/mem/odd-${i}`, { headers: [BLOCK, ['x-ms-copy-source', url]] });
    },
    'lists with other prefixes and markers': async (ask, i) => {
        await get(ask, `/mem?restype=container&comp=list&prefix=stays/${i}&include=metadata,snapshots`);
        await get(ask, `/?comp=list&prefix=con${i}&maxresults=${i % 5000 + 1}`);
    },
    'what is not there, and conditions that fail': async (ask, i) => {
        await get(ask, `/mem/none-${i}`, 404);
        await get(ask, `/none-${i}/b`, 404);
        await get(ask, '/mem/hot', 412, [['If-Match', `"0x${i.toString(16)}"`]]);
        await get(ask, '/mem/hot', 416, [['Range', `bytes=${70000 + i}-`]]);
        await ask('blob', 'PUT', '/mem/hot', { headers: [BLOCK, ['If-None-Match', '*']], body: Buffer.alloc(20000, 'r'), status: 409 });
    },
    'properties of the service, and requests of other origins': async (ask, i) => {
        const rule = `<CorsRule><AllowedOrigins>http://o${i}.example</AllowedOrigins><AllowedMethods>GET</AllowedMethods>` +
            `<AllowedHeaders>x-${i}</AllowedHeaders><ExposedHeaders>*</ExposedHeaders><MaxAgeInSeconds>${i}</MaxAgeInSeconds></CorsRule>`;

        await ask('blob', 'PUT', '/?restype=service&comp=properties', { body: `<StorageServiceProperties><Cors>${rule}</Cors></StorageServiceProperties>`, status: 202 });
        await ask('blob', 'OPTIONS', '/mem/hot', { unsigned: true, headers: [['Origin', `http://o${i}.example`], ['Access-Control-Request-Method', 'GET'],
            ['Access-Control-Request-Headers', `x-${i}`]], status: [200, 403] });
        await get(ask, '/mem/hot', 200, [['Origin', `http://other${i}.example`]]);
    },
});
