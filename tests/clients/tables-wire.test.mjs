// The Table service byte by byte: what clients of today do not send, and what answers look like.
// rest: Setting-the-X-HTTP-Method-Header, Payload-Format-for-Table-Service-Operations; semantics 6
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '../lib/errors.mjs';
import { Connection } from '../lib/http.mjs';
import { DEVELOPMENT, signTableLite } from '../lib/sign.mjs';
import { raw } from './raw.mjs';
import { newTable, tables, tableUrl } from './tables-setup.mjs';

const { hostname: host, port } = new URL(tableUrl);
const JSON_BODY = { 'Content-Type': 'application/json', Accept: 'application/json;odata=minimalmetadata' };
const table = (method, path, headers = {}, body = '', options = {}) =>
    raw(method, path, headers, body, { base: { host, port }, service: 'table', version: '2019-02-02', ...options });
const codeOf = ({ text }) => JSON.parse(text)['odata.error']?.code;

async function refused(promise, status, code) {
    const answer = await promise;
    assert.deepEqual([answer.status, answer.code], [status, code], answer.text);
    assert.equal(codeOf(answer), code);
    return answer;
}

async function oneEntity(t) {
    const { tableName } = await newTable(t);
    const path = `/${tableName}(PartitionKey='p',RowKey='r')`;
    const insert = (body) => table('POST', `/${tableName}`, JSON_BODY, JSON.stringify(body));
    return { tableName, path, insert };
}

test('an empty If-Match counts as absent', async (t) => {
    // decision: 847
    const { path } = await oneEntity(t);
    const empty = { ...JSON_BODY, 'If-Match': '' };
    assert.equal((await table('PUT', path, empty, '{"n":1}')).status, 204); // Insert Or Replace Entity
    assert.equal((await table('MERGE', path, empty, '{"m":2}')).status, 204);
    await refused(table('DELETE', path, empty), 400, 'MissingRequiredHeader');
    const dated = await table('GET', path, { Accept: JSON_BODY.Accept, 'If-Modified-Since': 'null' }); // decision: 848
    assert.equal(dated.status, 200, dated.text);
});

// Each method that POST may stand for does what the method itself does.
for (const method of ['PUT', 'MERGE', 'PATCH'])
    test(`${method}, also as the X-HTTP-Method of a POST`, async (t) => {
        const { path } = await oneEntity(t);
        for (const [sent, header] of [[method, {}], ['POST', { 'X-HTTP-Method': method }]]) {
            const send = (headers, body, at = path) => table(sent, at, { ...JSON_BODY, ...header, ...headers }, body);
            const wrong = { 'If-Match': 'W/"datetime\'2012-06-15T22%3A51%3A44.9662825Z\'"' };
            await refused(send({}, '{', path), 400, 'InvalidInput');
            const upserted = await send({}, '{"n":1}');
            assert.equal(upserted.status, 204, upserted.text);
            await refused(send(wrong, '{"n":2}'), 412, 'UpdateConditionNotSatisfied');
            const updated = await send({ 'If-Match': upserted.headers.get('etag') }, '{"n":3}');
            assert.equal(updated.status, 204, updated.text);
            assert.notEqual(updated.headers.get('etag'), upserted.headers.get('etag'));
            assert.equal(updated.headers.get('cache-control'), 'no-cache');
            assert.equal(updated.headers.get('x-content-type-options'), 'nosniff');
        }
    });

test('DELETE, also as the X-HTTP-Method of a POST', async (t) => {
    const { path, insert } = await oneEntity(t);
    for (const [sent, header] of [['DELETE', {}], ['POST', { 'X-HTTP-Method': 'DELETE' }]]) {
        const any = { 'If-Match': '*', ...header };
        await refused(table(sent, path, any), 404, 'ResourceNotFound');
        assert.equal((await insert({ PartitionKey: 'p', RowKey: 'r' })).status, 201);
        await refused(table(sent, path, header), 400, 'MissingRequiredHeader');
        assert.equal((await table(sent, path, any)).status, 204);
    }
});

test('Shared Key Lite in the form of the Table service', async (t) => {
    // rest: Authorize-with-Shared-Key "Table service (Shared Key Lite authorization)"
    const { tableName } = await oneEntity(t);
    const connection = await Connection.open(host, Number(port));
    t.after(() => connection.close());
    const ask = async (method, path, body = '', change = (request) => request) => {
        const length = body ? [['Content-Length', String(body.length)], ['Content-Type', 'application/json']] : [];
        const answer = await connection.exchange(change(signTableLite({
            method, target: new URL(tableUrl).pathname + path, headers: [['Host', `${host}:${port}`], ...length],
        })), Buffer.from(body));
        return [answer.status, errorCode(answer)].join(' ').trim();
    };
    const key = `/${tableName}(PartitionKey='p',RowKey='it%27%27s%20%C3%A9')`;
    assert.equal(await ask('PUT', key, '{"n":1}'), '204');
    assert.equal(await ask('GET', `${key}?$select=n`), '200'); // the query is not signed
    assert.equal(await ask('GET', `/${tableName}?comp=acl`), '200'); // but for comp
    assert.equal(await ask('GET', '/?restype=service&comp=properties'), '200');
    for (const change of [
        (request) => ({ ...request, target: `${request.target}x` }),
        (request) => ({ ...request, target: `${request.target}?comp=acl` }),
        ({ headers, ...request }) => ({ ...request, headers: headers.map(([name, value]) =>
            [name, name === 'x-ms-date' ? new Date(Date.parse(value) + 1000).toUTCString() : value]) }),
    ])
        assert.equal(await ask('GET', `/${tableName}`, '', change), '403 AuthenticationFailed');
});

test('an X-HTTP-Method that does not fit', async (t) => {
    const { tableName, path } = await oneEntity(t);
    const post = (at, method, body = '{}') => table('POST', at, { ...JSON_BODY, ...(method && { 'X-HTTP-Method': method }) }, body);
    await refused(table('PUT', path, { ...JSON_BODY, 'X-HTTP-Method': 'MERGE' }, '{}'), 400, 'XMethodNotUsingPost');
    for (const method of ['SPLIT', 'GET', 'POST'])
        await refused(post(path, method), 400, 'XMethodIncorrectValue');
    await refused(post(path), 405, 'UnsupportedHttpVerb');
    await refused(post(`/${tableName}`, 'PUT'), 405, 'UnsupportedHttpVerb');
    assert.equal((await post(`/Tables('${tableName}')`, 'DELETE', '')).status, 204);
});

test('what an insert answers', async (t) => {
    const { tableName, insert } = await oneEntity(t);
    const answer = await insert({ PartitionKey: 'p', RowKey: 'it\'s', n: 1 });
    const location = `${tableUrl}/${tableName}(PartitionKey='p',RowKey='it''s')`;
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.headers.get('location'), location);
    assert.equal(answer.headers.get('content-type'),
        'application/json;odata=minimalmetadata;streaming=true;charset=utf-8');
    const body = JSON.parse(answer.text);
    assert.equal(body['odata.metadata'], `${tableUrl}/$metadata#${tableName}/@Element`);
    assert.equal(body['odata.etag'], answer.headers.get('etag'));
    const quiet = await table('POST', `/${tableName}`, { ...JSON_BODY, Prefer: 'return-no-content' },
        '{"PartitionKey":"p","RowKey":"2"}');
    assert.deepEqual([quiet.status, quiet.headers.get('preference-applied'), quiet.text],
        [204, 'return-no-content', '']);
    assert.equal(quiet.headers.get('dataserviceid'), quiet.headers.get('location'));
});

test('forms of answers', async (t) => {
    const { path, insert } = await oneEntity(t);
    await insert({ PartitionKey: 'p', RowKey: 'r', n: 1 });
    const get = (headers, query = '') => table('GET', path + query, headers);
    const members = async (...asked) => Object.keys(JSON.parse((await get(...asked)).text));
    assert.deepEqual(await members({ Accept: 'application/json;odata=nometadata' }),
        ['PartitionKey', 'RowKey', 'Timestamp', 'n']);
    assert.ok((await members({ Accept: 'application/json;odata=fullmetadata' })).includes('odata.editLink'));
    assert.ok((await members({})).includes('odata.etag'));
    assert.ok(!(await members({ Accept: 'application/json' }, '?$format=application/json;odata=nometadata'))
        .includes('odata.etag'));
    await refused(get({ Accept: 'application/atom+xml' }), 415, 'AtomFormatNotSupported');
    await refused(get({}, '?$format=atom'), 415, 'AtomFormatNotSupported');
    await refused(get({ DataServiceVersion: '4.0' }), 400, 'InvalidHeaderValue');
    await refused(table('PUT', path, { 'Content-Type': 'application/atom+xml' }, '<entry/>'),
        415, 'AtomFormatNotSupported');
});

test('forms of tables', async (t) => {
    // rest: Payload-Format-for-Table-Service-Operations, Query-Tables; semantics 6
    const { tableName } = await newTable(t);
    const read = async (path, form) =>
        JSON.parse((await table('GET', path, { Accept: `application/json;odata=${form}` })).text);
    const own = { TableName: tableName };
    const full = { 'odata.type': `${DEVELOPMENT.account}.Tables`, 'odata.id': `${tableUrl}/Tables('${tableName}')`,
        'odata.editLink': `Tables('${tableName}')`, ...own };
    for (const [form, shown, metadata] of [['nometadata', own, false], ['minimalmetadata', own, true], ['fullmetadata', full, true]]) {
        const of = (what) => metadata ? { 'odata.metadata': `${tableUrl}/$metadata#${what}` } : {};
        assert.deepEqual(await read(`/Tables('${tableName}')`, form), { ...of('Tables/@Element'), ...shown });
        assert.deepEqual(await read(`/Tables?$filter=TableName%20eq%20'${tableName}'`, form), { ...of('Tables'), value: [shown] });
    }
});

test('paths that name nothing', async (t) => {
    const { tableName } = await oneEntity(t);
    for (const path of [`/${tableName}(`, `/${tableName}(PartitionKey='p')`, `/${tableName}('p')`,
        `/${tableName}(PartitionKey='p',RowKey='r'`, `/${tableName}(PartitionKey=p,RowKey='r')`,
        `/${tableName}(PartitionKey='p',RowKey='r')x`, `/${tableName}(PartitionKey='p',PartitionKey='p')`])
        await refused(table('GET', path), 400, 'InvalidInput');
    await refused(table('GET', `/${tableName}/x`), 400, 'InvalidResourceName');
    assert.equal((await table('GET', `/${tableName}%28%29`)).status, 200);
    assert.equal((await table('GET', `/${tableName}(RowKey='r',%20PartitionKey='p')`)).status, 404);
});

test('parameters of queries', async (t) => {
    const { tableName } = await oneEntity(t);
    for (const query of ['$top=0', '$top=1001', '$top=x', 'NextPartitionKey=x', 'NextRowKey=1!4!cA--',
        'NextPartitionKey=1!4!cA', '$select=a-b'])
        await refused(table('GET', `/${tableName}?${query}`), 400, 'InvalidInput');
    await refused(table('GET', '/Tables?NextTableName=x'), 400, 'InvalidInput');
    // What would be another answer is refused, what nobody knows is not. decision: 190
    for (const option of ['$orderby=a', '$skip=1', '$skiptoken=1', '$inlinecount=allpages', '$expand=a']) {
        for (const at of [tableName, `${tableName}(PartitionKey='p',RowKey='r')`, 'Tables', `Tables('${tableName}')`])
            await refused(table('GET', `/${at}?${option}`), 501, 'NotImplemented');
    }
    assert.equal((await table('GET', `/${tableName}?$unknown=1&zebra=2`)).status, 200);
    await refused(table('GET', '/Tables?$filter=TableName'), 400, 'InvalidInput');
    // A table has one property. decision: 193
    for (const at of ['Tables', `Tables('${tableName}')`]) {
        for (const select of ['TableName', '*', 'TableName,TableName'])
            assert.equal((await table('GET', `/${at}?$select=${select}`)).status, 200);
        await refused(table('GET', `/${at}?$select=Other`), 400, 'InvalidInput');
        await refused(table('GET', `/${at}?$select=TableName,Other`), 400, 'InvalidInput');
    }
    await refused(table('GET', `/Tables('${tableName}x')`), 404, 'ResourceNotFound');
    assert.equal(JSON.parse((await table('GET', `/Tables('${tableName}')`)).text).TableName, tableName);
});

test('a name that is selected twice is shown once', async (t) => {
    // decision: 191
    const { path, insert } = await oneEntity(t);
    await insert({ PartitionKey: 'p', RowKey: 'r', a: 1, b: 2 });
    const { text } = await table('GET', `${path}?$select=b,a,b,c,%20a`, { Accept: 'application/json;odata=nometadata' });
    assert.equal(text, '{"b":2,"a":1,"c":null}');
});

test('a continuation token is of the form that was recorded', async (t) => {
    const { tableName, insert } = await oneEntity(t);
    for (const row of ['a', 'b'])
        await insert({ PartitionKey: 'partition1-ô- -\'-"-%20-%27-pk', RowKey: row });
    const answer = await table('GET', `/${tableName}()?$top=1`);
    assert.equal(answer.headers.get('x-ms-continuation-nextpartitionkey'),
        '1!40!cGFydGl0aW9uMS3DtC0gLSctIi0lMjAtJTI3LXBr');
    assert.equal(answer.headers.get('x-ms-continuation-nextrowkey'), '1!4!Yg--');
});

test('a token of a partition alone is that of its first row', async (t) => {
    // rest: Query-Timeout-and-Pagination: "x-ms-continuation-NextRowKey may be null"
    const { tableName, insert } = await oneEntity(t);
    for (const [PartitionKey, RowKey] of ['a1', 'b1', 'b2', 'c1'])
        await insert({ PartitionKey, RowKey });
    const { text } = await table('GET', `/${tableName}()?NextPartitionKey=1!4!Yg--`);
    assert.deepEqual(JSON.parse(text).value.map(({ PartitionKey, RowKey }) => PartitionKey + RowKey), ['b1', 'b2', 'c1']);
});

const batch = (parts, boundary = 'batch_1') => [`--${boundary}`, ...parts, `--${boundary}--`, ''].join('\r\n');
const sendBatch = (body) =>
    table('POST', '/$batch', { 'Content-Type': 'multipart/mixed; boundary=batch_1' }, body);

test('a query in a batch', async (t) => {
    const { path, insert } = await oneEntity(t);
    const query = (at) => sendBatch(batch(['Content-Type: application/http', 'Content-Transfer-Encoding: binary', '',
        `GET ${tableUrl}${at} HTTP/1.1`, 'Accept: application/json;odata=minimalmetadata', '', '']));
    const missing = await query(path);
    assert.equal(missing.status, 202, missing.text);
    assert.match(missing.text, /HTTP\/1\.1 404 Not Found\r\n[^]*"value":"0:The specified resource does not exist\.\\n/);
    await insert({ PartitionKey: 'p', RowKey: 'r', n: 7 });
    assert.match((await query(path)).text, /HTTP\/1\.1 200 OK\r\n[^]*DataServiceVersion: 3\.0;\r\n[^]*"n":7/);
});

test('bodies that are no batch', async () => {
    await refused(sendBatch('nothing'), 400, 'InvalidInput');
    await refused(sendBatch(batch([])), 400, 'InvalidInput');
    await refused(sendBatch(batch(['Content-Type: text/plain', '', 'GET / HTTP/1.1', '', ''])), 400, 'InvalidInput');
    await refused(table('POST', '/$batch', { 'Content-Type': 'application/json' }, '{}'), 400, 'InvalidHeaderValue');
    await refused(table('GET', '/$batch'), 405, 'UnsupportedHttpVerb');
});

test('stats, of the secondary and of the primary', async () => {
    const secondary = await table('GET', '', {}, '',
        { target: '/devstoreaccount1-secondary/?comp=stats&restype=service' });
    assert.equal(secondary.status, 200, secondary.text);
    assert.match(secondary.text, new RegExp('^\uFEFF?<\\?xml version="1.0" encoding="utf-8"\\?><StorageServiceStats><GeoReplication>' +
        '<Status>live</Status><LastSyncTime>\\w{3}, \\d\\d \\w{3} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT</LastSyncTime>' +
        '</GeoReplication></StorageServiceStats>$'));
    const primary = await table('GET', '/?comp=stats&restype=service');
    assert.deepEqual([primary.status, primary.code], [400, 'InvalidQueryParameterValue']);
});

test('properties that are not built, and rights that are missing', async () => {
    const properties = '/?comp=properties&restype=service';
    const wrong = await table('PUT', properties, {}, '<x/>');
    assert.equal(wrong.status, 400, wrong.text);
    const nobody = await table('GET', properties, {}, '', { signed: false });
    assert.ok([401, 403, 404].includes(nobody.status));
    assert.ok((await tables.getProperties()).logging);
});

// The properties are those of the whole service: all tests that set them stand in this file, one
// after the other.
test('the service has properties', async () => {
    const cors = [{
        allowedHeaders: '*', allowedMethods: 'GET', allowedOrigins: 'example.com', exposedHeaders: '*',
        maxAgeInSeconds: 5,
    }];
    await tables.setProperties({ cors });
    assert.deepEqual((await tables.getProperties()).cors, cors);
    await tables.setProperties({ cors: [] });
    assert.deepEqual((await tables.getProperties()).cors, []);
});

test('a preflight request', async () => {
    const rule = { allowedHeaders: '*', allowedMethods: 'GET', allowedOrigins: 'http://example.com', exposedHeaders: '*', maxAgeInSeconds: 5 };
    const ask = () => table('OPTIONS', '/Tables', { Origin: 'http://example.com', 'Access-Control-Request-Method': 'GET' }, '', { signed: false });
    await tables.setProperties({ cors: [rule] });
    assert.equal((await ask()).status, 200);
    await tables.setProperties({ cors: [] });
    assert.equal((await ask()).status, 403);
});
