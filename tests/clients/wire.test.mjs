// What only a raw client sends: queries as other languages encode them, requests that could be read
// in two ways, and what an unknown account is told.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { BlobSASPermissions, ContainerSASPermissions } from '@azure/storage-blob';
import { raw, rawRefused } from './raw.mjs';
import { account, collect, credential, newBlob, newContainer, refused, service } from './setup.mjs';

const CHALLENGE = /^Bearer authorization_uri=https:\/\/login\.microsoftonline\.com\/[0-9a-f-]{36}\/oauth2\/authorize resource_id=https:\/\/storage\.azure\.com$/;

/** A request whose string to sign ends in the lines `resource`, whatever its target is. */
function signedOver(method, target, resource, headers = {}, credentials = account) {
    const date = new Date().toUTCString();
    const text = [method, ...Array(11).fill(''), `x-ms-date:${date}`, 'x-ms-version:2026-10-06', ...resource].join('\n');
    const signature = createHmac('sha256', Buffer.from(credentials.key, 'base64')).update(text).digest('base64');
    return raw(method, '', {
        'x-ms-date': date, 'x-ms-version': '2026-10-06', ...headers,
        Authorization: `SharedKey ${credentials.name}:${signature}`,
    }, '', { signed: false, target });
}

test('a space in a query is + for some clients, in the value and in what is signed', async (t) => {
    // decision: 21 (Azurite issue 1696: the service takes it)
    const { container } = await newBlob(t);
    const name = container.containerName;
    for (const blob of ['a b+c/1', 'a b+c/2', 'a+b+c/3'])
        await container.getBlockBlobClient(blob).upload('', 0);
    const listed = await signedOver('GET', `/${account.name}/${name}?comp=list&prefix=a+b%2Bc%2F&restype=container`,
        [`/${account.name}/${account.name}/${name}`, 'comp:list', 'prefix:a b+c/', 'restype:container']);
    assert.equal(listed.status, 200, listed.text);
    assert.deepEqual([...listed.text.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, blob]) => blob), ['a b+c/1', 'a b+c/2']);
    const bySdk = await collect(container.listBlobsFlat({ prefix: 'a b+c/' }));
    assert.deepEqual(bySdk.map((blob) => blob.name), ['a b+c/1', 'a b+c/2']);
});

test('one signature opens one request', async (t) => {
    // decision: 21
    const { container } = await newBlob(t);
    const path = `/${account.name}/${container.containerName}`;
    const lines = [`/${account.name}${path}`, 'comp:list', 'prefix:zz', 'restype:container'];
    assert.equal((await signedOver('GET', `${path}?comp=list&prefix=zz&restype=container`, lines)).status, 200);
    for (const query of ['comp=list&prefix=zz%0Arestype:container', 'comp=list%0Aprefix:zz&restype=container',
        'comp%3Alist%0Aprefix=zz&restype=container'])
        assert.equal((await signedOver('GET', `${path}?${query}`, lines)).status, 400, query);
    // Host style: the same string to sign, another resource.
    const host = `${account.name}.blob.localhost`;
    await rawRefused(signedOver('GET', `${path}?comp=list&prefix=zz&restype=container`, lines, { Host: host }),
        400, 'InvalidUri');
});

test('a parameter or a header that is given twice is refused', async (t) => {
    // decisions: 33, 36
    const { container } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    for (const [method, query] of [['PUT', 'comp=block&blockid=MDAwMQ%3D%3D&blockid=MDAwMg%3D%3D'],
        ['GET', 'snapshot=2026-11-21T00%3A00%3A00.0000000Z&snapshot=2026-11-21T00%3A00%3A00.0000000Z'],
        ['GET', 'comp=metadata&Comp=metadata'], ['GET', 'timeout=1&timeout=2']]) {
        const answer = await rawRefused(raw(method, `${path}?${query}`), 400, 'InvalidQueryParameterValue');
        assert.match(answer.text, /<QueryParameterName>\w+<\/QueryParameterName><QueryParameterValue>[^<]+<\/QueryParameterValue><Reason>/);
    }
    // The documentation of the signature has a repeated include.
    const listed = await raw('GET', `/${container.containerName}?restype=container&comp=list&include=snapshots&include=metadata`);
    assert.equal(listed.status, 200, listed.text);
    assert.match(listed.text, /<Metadata/);
});

test('what is sent empty is not taken for what is not sent', async (t) => {
    // decision: 36
    const { blob, container } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    await rawRefused(raw('DELETE', `${path}?snapshot=`), 400, 'InvalidQueryParameterValue');
    await rawRefused(raw('DELETE', `${path}?snapshot`), 400, 'InvalidQueryParameterValue');
    await rawRefused(raw('PUT', `${path}?comp=metadata`, { 'x-ms-lease-id': '' }), 400, 'InvalidHeaderValue');
    assert.equal(await blob.exists(), true);
});

test('PUT of a container with a slash and a blob\'s headers writes no blob', async (t) => {
    // decision: 37
    const root = service.getContainerClient('$root');
    await root.createIfNotExists();
    t.after(() => root.deleteIfExists());
    const container = await newContainer(t);
    await rawRefused(raw('PUT', `/${container.containerName}/`, { 'x-ms-blob-type': 'BlockBlob' }, 'x'),
        400, 'InvalidUri');
    assert.deepEqual(await collect(root.listBlobsFlat()), []);
    assert.equal((await raw('GET', `/${container.containerName}/?restype=container`)).status, 200);
});

test('an unknown account is told what a known one is', async () => {
    // decision: 35
    const ask = async (name, headers, credentials, query = '?comp=list') => {
        const options = { target: `/${name}${query}`, ...(credentials ? { credentials } : { signed: false }) };
        const answer = await raw('GET', '', headers, '', options);
        return {
            status: answer.status, code: answer.code, challenge: answer.headers.get('www-authenticate'),
            names: answer.headers.list.map(([header]) => header),
            text: answer.text.replaceAll(name, 'NAME').replace(/RequestId:.*|Time:[^<]*|The MAC signature.*/gs, ''),
        };
    };
    const wrong = (name) => ({ account: name, key: 'd3Jvbmc=' });
    for (const suffix of ['', '-secondary']) {
        const pair = [`${account.name}${suffix}`, `nosuchaccount1${suffix}`];
        const [known, unknown] = await Promise.all(pair.map((name) => ask(name, { 'x-ms-version': '2021-12-02' })));
        assert.deepEqual(unknown, known);
        assert.deepEqual([known.status, known.code], [401, 'NoAuthenticationInformation']);
        const signed = await Promise.all(pair.map((name) => ask(name, {}, wrong(name.replace(suffix, '')))));
        assert.deepEqual(signed[1], signed[0]);
        assert.deepEqual([signed[0].status, signed[0].code], [403, 'AuthenticationFailed']);
    }
    for (const headers of [{ Authorization: 'Bearer x' }, { Authorization: 'SharedKey other:bm8=' }, { Authorization: 'x' }])
        assert.deepEqual(await ask('nosuchaccount1', headers), await ask(account.name, headers));
    for (const query of ['/c/b?sig=x', '?comp=list&comp=list', '/c/%00'])
        assert.deepEqual(await ask('nosuchaccount1', {}, null, query), await ask(account.name, {}, null, query));
    for (const path of ['/c/b', '/c?restype=container&comp=list', '/$root/b', '/?comp=list'])
        assert.deepEqual(await ask('nosuchaccount1', {}, null, path), await ask(account.name, {}, null, path));
});

test('who may not ask is not told what else is wrong', async (t) => {
    const { container } = await newBlob(t);
    for (const [method, path] of [['PUT', '/new'], ['PUT', '/blob?comp=nonsense']]) {
        const answer = await raw(method, `/${container.containerName}${path}`, { 'x-ms-version': '2019-12-12' }, '', { signed: false });
        assert.deepEqual([answer.status, answer.code], [401, 'NoAuthenticationInformation'], path);
        assert.doesNotMatch(answer.text, /HeaderName|QueryParameterName|nonsense/);
    }
});

test('nobody is shown the way to a token', async () => {
    // decision: 11; recorded
    const answer = await raw('GET', '/?comp=list', { 'x-ms-version': '2019-12-12' }, '', { signed: false });
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get('www-authenticate'), CHALLENGE);
});

test('a preflight request needs no signature', async (t) => {
    // rest: Preflight-Blob-Request
    const { container } = await newBlob(t);
    const headers = { Origin: 'http://example.org', 'Access-Control-Request-Method': 'GET' };
    for (const path of [`/${container.containerName}/blob`, '/'])
        await rawRefused(raw('OPTIONS', path, headers, '', { signed: false }), 403, 'CorsPreflightFailure');
});

test('a PUT says how long its body is', async (t) => {
    // rest: Status-and-Error-Codes2; decision: 38
    const container = await newContainer(t);
    const path = `/${container.containerName}`;
    for (const [target, headers] of [[`${path}/b`, { 'x-ms-blob-type': 'BlockBlob' }], [`${path}2?restype=container`, {}],
        [`${path}?restype=container&comp=metadata`, {}]]) {
        const answer = await rawRefused(raw('PUT', target, { ...headers, 'Content-Length': undefined }), 411,
            'MissingContentLengthHeader');
        assert.match(answer.text, /<Message>Content-Length HTTP header is missing\./);
    }
    assert.deepEqual(await collect(container.listBlobsFlat()), []);
});

test('a backslash in a blob\'s name is a slash', async (t) => {
    // decision: 39
    const container = await newContainer(t);
    await container.getBlockBlobClient('a\\b\\c').upload('x', 1);
    assert.deepEqual((await collect(container.listBlobsFlat())).map(({ name }) => name), ['a/b/c']);
    assert.equal((await container.getBlobClient('a\\b/c').downloadToBuffer()).toString(), 'x');
    assert.deepEqual(await collect(container.listBlobsFlat({ prefix: 'a\\' })), []);
    await refused(container.getBlobClient('a').getProperties(), 404, 'BlobNotFound');
});

test('blob names lose the dots that the service\'s URI class drops', async (t) => {
    // Seen at the live service: azure-sdk-for-rust#5275, Storage Explorer#8796, Connect_SDK#71. decision: 39
    const container = await newContainer(t);
    const path = `/${container.containerName}`;
    const names = async () => (await collect(container.listBlobsFlat())).map(({ name }) => name);
    const put = async (name, body = 'x') => {
        const answer = await raw('PUT', `${path}/${name}`, { 'x-ms-blob-type': 'BlockBlob' }, body);
        assert.equal(answer.status, 201, `${name}: ${answer.text}`);
    };
    for (const [sent, stored] of [['f.', 'f'], ['f..', 'f'], ['f%2E', 'f'], ['./f', 'f'], ['%2E/f', 'f'], ['.%2Ff', 'f'],
        ['%2E%2Ff', 'f'], ['.../f', 'f'], ['d./f', 'd/f'], ['d.%5Cf.', 'd/f'], ['d/./f', 'd/f'], ['d/x/../f', 'd/f'],
        ['d/x%2F%2E%2E%2Ff', 'd/f'], ['d//f', 'd//f'], ['.f', '.f'], ['..f', '..f'], ['a.b', 'a.b'],
        ['f%252E', 'f%2E'], ['f.%20', 'f. ']]) {
        await put(sent, sent);
        assert.deepEqual(await names(), [stored], sent);
        assert.equal((await raw('GET', `${path}/${sent}`)).text, sent);
        assert.equal((await container.getBlobClient(stored).downloadToBuffer()).toString(), sent);
        await container.getBlobClient(stored).delete();
    }
    // Only the path is a URL: prefixes are compared as they are sent.
    await put('d./f');
    assert.deepEqual(await collect(container.listBlobsFlat({ prefix: 'd.' })), []);
    // The name of nothing but dots is the container's path.
    for (const name of ['.', '...', 'x/..'])
        await rawRefused(raw('PUT', `${path}/${name}`, { 'x-ms-blob-type': 'BlockBlob' }, 'x'), 400, 'InvalidUri');
    // A slash that is encoded in the container's segment does not end it.
    await rawRefused(raw('PUT', `${path}%2Ff`, { 'x-ms-blob-type': 'BlockBlob' }, 'x'), 400, 'InvalidUri');
    await rawRefused(raw('PUT', '/..%2Fup-there?restype=container'), 400, 'InvalidUri');
    // Out of the container, and never above the account.
    const other = await newContainer(t);
    await put(`../${other.containerName}/f`, 'out');
    await put(`../../../../${other.containerName}/g`, 'out');
    assert.deepEqual((await collect(other.listBlobsFlat())).map(({ name }) => name), ['f', 'g']);
});

test('rights are those to the name that is stored', async (t) => {
    // decision: 39
    const [container, other] = [await newContainer(t), await newContainer(t)];
    await container.getBlockBlobClient('f').upload('mine', 4);
    await other.getBlockBlobClient('f').upload('other', 5);
    const sas = new URL(await container.generateSasUrl({ permissions: ContainerSASPermissions.parse('racwdl'),
        expiresOn: new Date(Date.now() + 600000) })).search.slice(1);
    const unsigned = (method, path, headers, body) => raw(method, `${path}?${sas}`, { 'x-ms-version': '2026-10-06', ...headers },
        body, { signed: false });
    assert.equal((await unsigned('GET', `/${container.containerName}/./f.`)).text, 'mine');
    for (const path of [`/${container.containerName}/../${other.containerName}/f`,
        `/${container.containerName}/x%2F..%2F..%2F${other.containerName}/f`])
        await rawRefused(unsigned('GET', path), 403, 'AuthenticationFailed');
    // A SAS of one blob is signed with the name that is stored, as the service does with backslashes.
    const blob = container.getBlobClient('f');
    const own = new URL(await blob.generateSasUrl({ permissions: BlobSASPermissions.parse('r'),
        expiresOn: new Date(Date.now() + 600000) })).search;
    const answer = await raw('GET', `/${container.containerName}/f.${own}`, { 'x-ms-version': '2026-10-06' }, '', { signed: false });
    assert.equal(answer.text, 'mine');
});

test('the sources of copies and the parts of batches are named as URLs are', async (t) => {
    // decision: 39
    const container = await newContainer(t);
    const source = container.getBlockBlobClient('d/f');
    await source.upload('text', 4);
    await (await container.getBlobClient('copy').beginCopyFromURL(`${container.url}/d./x/../f.`)).pollUntilDone();
    assert.equal((await container.getBlobClient('copy').downloadToBuffer()).toString(), 'text');
    const batch = container.getBlobBatchClient();
    const answer = await batch.deleteBlobs([`${container.url}/./copy.`, `${container.url}/d/f.`], credential);
    assert.deepEqual(answer.subResponses.map(({ status }) => status), [202, 202]);
    assert.deepEqual(await collect(container.listBlobsFlat()), []);
});

test('the account of a host name has no case', async () => {
    // rfc: 9110 4.2.3
    const name = account.name.toUpperCase();
    const answer = await signedOver('GET', '/?comp=list', [`/${account.name}/`, 'comp:list'], { Host: `${name}.Blob.localhost` });
    assert.equal(answer.status, 200, answer.text);
});

test('what belongs to other operations is refused, not ignored', async (t) => {
    // issue D.5; promise 5
    const { container } = await newBlob(t);
    const path = `/${container.containerName}`;
    const put = { 'x-ms-blob-type': 'BlockBlob' };
    for (const header of ['x-ms-source-if-match', 'x-ms-source-if-none-match', 'x-ms-source-if-tags', 'x-ms-rehydrate-priority'])
        await rawRefused(raw('PUT', `${path}/new`, { ...put, [header]: '*' }, 'x'), 400, 'UnsupportedHeader');
    for (const header of ['x-ms-source-if-modified-since', 'x-ms-source-if-unmodified-since'])
        await rawRefused(raw('PUT', `${path}/new`, { ...put, [header]: new Date(0).toUTCString() }, 'x'), 400, 'UnsupportedHeader');
    await rawRefused(raw('GET', `${path}/blob?deletetype=permanent`), 400, 'UnsupportedQueryParameter');
    await rawRefused(raw('HEAD', `${path}/blob?deletetype=permanent`), 400, 'UnsupportedQueryParameter');
});

test('an MD5 as a property: compared by Put Blob alone, else stored as it is', async (t) => {
    // decision: 16
    const { container, blob } = await newBlob(t, 'hello');
    const path = `/${container.containerName}/blob`;
    const put = { 'x-ms-blob-type': 'BlockBlob' };
    const right = 'XUFAKrxLKna5cZ2REBfFkg==', wrong = '1B2M2Y8AsgTpgAmY7PhCfg==';
    const ask = (headers) => raw('PUT', path, { ...put, ...headers }, 'hello');
    assert.equal((await ask({ 'Content-MD5': wrong, 'x-ms-blob-content-md5': right })).status, 201);
    await rawRefused(ask({ 'Content-MD5': right, 'x-ms-blob-content-md5': wrong }), 400, 'Md5Mismatch');
    await rawRefused(ask({ 'x-ms-blob-content-md5': 'MDAwMDAwMDA=' }), 400, 'InvalidMd5');
    for (const text of ['MDAwMDAwMDA=', right, Buffer.alloc(64, 7).toString('base64')]) {
        assert.equal((await raw('PUT', `${path}?comp=properties`, { 'x-ms-blob-content-md5': text })).status, 200);
        assert.equal((await raw('HEAD', path)).headers.get('content-md5'), text);
        const [listed] = await collect(container.listBlobsFlat());
        assert.equal(Buffer.from(listed.properties.contentMD5).toString('base64'), text);
    }
    await rawRefused(raw('PUT', `${path}?comp=properties`, { 'x-ms-blob-content-md5': 'no base64' }), 400, 'InvalidMd5');
    assert.equal((await blob.downloadToBuffer()).toString(), 'hello');
});

test('both sums of a range are refused by their own code; a wrong CRC-64 is told with both values', async (t) => {
    // decision: 46; recorded (BlockBlobClientTest.ContentHash)
    const { container } = await newBlob(t, 'hello');
    const path = `/${container.containerName}/blob`;
    await rawRefused(raw('GET', path, { 'x-ms-range': 'bytes=0-1', 'x-ms-range-get-content-md5': 'true', 'x-ms-range-get-content-crc64': 'true' }),
        400, 'BothCrc64AndMd5RangeHeaderPresent');
    const answer = await rawRefused(raw('PUT', path, { 'x-ms-blob-type': 'BlockBlob', 'x-ms-content-crc64': 'AAAAAAAAAAA=' }, 'hello'), 400, 'Crc64Mismatch');
    assert.match(answer.text, /<UserSpecifiedCrc>AAAAAAAAAAA=<\/UserSpecifiedCrc><ServerCalculatedCrc>[^<]{12}<\/ServerCalculatedCrc>/);
});

test('elements of listings and the answer of a snapshot are as recorded', async (t) => {
    // decisions: 26, 43
    const { container } = await newBlob(t);
    const path = `/${container.containerName}`;
    const list = async (version) => (await raw('GET', `${path}?restype=container&comp=list`, { 'x-ms-version': version })).text;
    const newer = await list('2021-04-10');
    assert.match(newer, /<Content-Language \/><Content-CRC64 \/><Content-MD5>/);
    assert.match(newer, /<\/Properties><OrMetadata \/><\/Blob>/);
    assert.doesNotMatch(await list('2018-11-09'), /OrMetadata|Content-CRC64/);
    const containers = await raw('GET', `/?comp=list&prefix=${container.containerName}`, { 'x-ms-version': '2021-04-10' });
    assert.match(containers.text, /<LeaseState>available<\/LeaseState><DefaultEncryptionScope>.*<DenyEncryptionScopeOverride>false<\/DenyEncryptionScopeOverride><HasImmutabilityPolicy>false<\/HasImmutabilityPolicy><HasLegalHold>false<\/HasLegalHold><ImmutableStorage/);
    const snapshot = await raw('PUT', `${path}/blob?comp=snapshot`);
    assert.equal(snapshot.headers.get('x-ms-request-server-encrypted'), 'false');
    await container.getBlockBlobClient('p/\uffffx').upload('', 0);
    const page = await raw('GET', `${path}?restype=container&comp=list&prefix=p`);
    assert.match(page.text, /<Name Encoded="true">p%2F%EF%BF%BFx<\/Name>/);
    const prefixes = await raw('GET', `${path}?restype=container&comp=list&delimiter=x&prefix=p`);
    assert.match(prefixes.text, /<BlobPrefix><Name Encoded="true">p%2F%EF%BF%BFx<\/Name><\/BlobPrefix>/);
});

test('errors name what they are about', async (t) => {
    // decision: 45
    const { container } = await newBlob(t);
    const path = `/${container.containerName}`;
    const fields = (name, value) => new RegExp(`<QueryParameterName>${name}</QueryParameterName><QueryParameterValue${value ? `>${value}</QueryParameterValue` : ' /'}><Reason />`);
    for (const [method, target, name, value] of [['GET', '', 'comp', ''], ['GET', '/', 'comp', ''], ['GET', '/?comp=what', 'comp', 'what'],
        ['GET', `${path}?restype=container&comp=what`, 'comp', 'what'], ['GET', '/?comp=properties&restype=what', 'restype', 'what'],
        ['PUT', `${path}/blob?comp=what`, 'comp', 'what']])
        assert.match((await rawRefused(raw(method, target), 400, 'InvalidQueryParameterValue')).text, fields(name, value), target);
    for (const [header, value] of [['If-Match', '"0x1'], ['If-None-Match', '"'], ['If-Modified-Since', 'yesterday'], ['If-Unmodified-Since', 'null']]) {
        const answer = await rawRefused(raw('PUT', `${path}/blob?comp=metadata`, { [header]: value }), 400, 'InvalidHeaderValue');
        assert.match(answer.text, new RegExp(`<HeaderName>${header}</HeaderName><HeaderValue( />|>${value.replaceAll('"', '&quot;')}</HeaderValue>)`));
    }
    const missing = await rawRefused(raw('PUT', `${path}/new`, {}, 'x'), 400, 'MissingRequiredHeader');
    assert.match(missing.text, /<Message>An HTTP header that's mandatory for this request is not specified\.\n.*<HeaderName>x-ms-blob-type<\/HeaderName>/s);
    const wrong = await rawRefused(raw('PUT', `${path}/new`, { 'x-ms-blob-type': 'Blob' }, 'x'), 400, 'InvalidHeaderValue');
    assert.match(wrong.text, /<HeaderName>x-ms-blob-type<\/HeaderName><HeaderValue>Blob<\/HeaderValue>/);
    const rule = '<CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods><AllowedHeaders/><ExposedHeaders/><MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule>';
    // Both as recorded: a fault that stands at a place, and one of the document as a whole. decision: 266
    const refusedProperties = async (inner) => (await rawRefused(raw('PUT', '/?restype=service&comp=properties', {},
        `<?xml version='1.0' encoding='utf-8'?>\n<StorageServiceProperties>${inner}</StorageServiceProperties>`), 400, 'InvalidXmlDocument')).text;
    assert.match(await refusedProperties('<MinuteMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs><RetentionPolicy>' +
        '<Enabled>true</Enabled><Days>366</Days></RetentionPolicy></MinuteMetrics>'),
    /<LineNumber>2<\/LineNumber><LinePosition>176<\/LinePosition><Reason>Retention days must be greater than 0 and less than or equal to 365 days.<\/Reason><\/Error>$/);
    assert.match(await refusedProperties(`<Cors>${rule.repeat(6)}</Cors>`),
        /<LineNumber>0<\/LineNumber><LinePosition>0<\/LinePosition><Reason \/><\/Error>$/);
    const secondary = await rawRefused(raw('DELETE', '', {}, '', { target: `/${account.name}-secondary${path}/blob` }), 403, 'InsufficientAccountPermissions');
    assert.match(secondary.text, /<Message>Write operations are not allowed\.\n/);
});

test('what errors say, in the words of the service', async (t) => {
    // semantics 10.2; decision: 265; rest: Blob-Service-Error-Codes, Get-Page-Ranges
    const container = await newContainer(t);
    const path = `/${container.containerName}`;
    const says = async (promise, status, code, text) =>
        assert.match((await rawRefused(promise, status, code)).text, text);
    await says(raw('PUT', '/ab?restype=container'), 400, 'OutOfRangeInput',
        /<Message>The specified resource name length is not within the permissible limits\.\n/);
    const page = { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' };
    const made = await raw('PUT', `${path}/page`, page);
    assert.equal(made.status, 201, made.text);
    assert.equal((await raw('PUT', `${path}/page?comp=snapshot`)).status, 201);
    await says(raw('DELETE', `${path}/page`), 409, 'SnapshotsPresent',
        /<Message>This operation is not permitted because the blob has snapshots\.\n/);
    const unchanged = { 'If-None-Match': made.headers.get('etag') };
    for (const [target, type] of [['?comp=pagelist', undefined], ['', undefined], ['?comp=metadata', undefined]]) {
        const answer = await raw('GET', `${path}/page${target}`, unchanged);
        assert.deepEqual([answer.status, answer.headers.get('content-type'), answer.text], [304, type, ''], target);
    }
    for (const where of ["a='b @'", '"a*"=\'b\'', `a='${'b'.repeat(257)}'`, `${'a'.repeat(129)}='b'`])
        await says(raw('GET', `/?comp=blobs&where=${encodeURIComponent(where)}`), 400, 'InvalidQueryParameterValue', /<Reason>.+<\/Reason>/);
    await says(raw('GET', `${path}/page`, { 'x-ms-if-tags': "a='b @'" }), 400, 'InvalidHeaderValue', /x-ms-if-tags/);
});

test('names that the service does not take', async (t) => {
    // decision: 44
    const container = await newContainer(t);
    const path = `/${container.containerName}`;
    const put = { 'x-ms-blob-type': 'BlockBlob' };
    for (const name of ['a%01', 'a%1Fb', '%7F', 'x%C2%81', '%C2%8D', '%C2%8F', 'b%C2%90c', '%C2%9D'])
        await rawRefused(raw('PUT', `${path}/${name}`, put, 'x'), 400, 'InvalidUri');
    for (const name of ['%C2%80', '%C2%85', '%C3%81'])
        assert.equal((await raw('PUT', `${path}/${name}`, put, 'x')).status, 201, name);
    for (const name of ['$logs', '$blobchangefeed']) {
        await rawRefused(raw('PUT', `/${name}?restype=container`), 400, 'InvalidResourceName');
        await rawRefused(raw('GET', `/${name}?restype=container`), 404, 'ContainerNotFound');
        await rawRefused(raw('GET', `/${name}/b`), 404, 'ContainerNotFound');
    }
    const root = service.getContainerClient('$root');
    await root.createIfNotExists();
    t.after(() => root.deleteIfExists());
    await rawRefused(raw('PUT', '/$root/a/b', put, 'x'), 400, 'InvalidUri');
    await rawRefused(raw('PUT', '/a%5Cb', put, 'x'), 400, 'InvalidUri');
    assert.equal((await raw('PUT', '/$root/a', put, 'x')).status, 201);
    assert.equal((await raw('GET', '/a')).text, 'x');
});

test('a snapshot is not written to', async (t) => {
    // decision: 30
    const { container, blob } = await newBlob(t);
    const { snapshot } = await blob.createSnapshot();
    const path = `/${container.containerName}/blob`;
    for (const [query, headers] of [['', { 'x-ms-blob-type': 'BlockBlob' }], ['comp=metadata&', {}], ['comp=properties&', {}]]) {
        const answer = await rawRefused(raw('PUT', `${path}?${query}snapshot=${encodeURIComponent(snapshot)}`, headers), 400, 'InvalidQueryParameterValue');
        assert.ok(answer.text.includes(`<QueryParameterName>snapshot</QueryParameterName><QueryParameterValue>${snapshot}</QueryParameterValue>` +
            '<Reason>This operation is only allowed on the root blob. Snapshot should not be provided.</Reason>'), answer.text);
    }
});
