// Index tags through the SDK: set, read, listed, found, and as conditions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobSASPermissions } from '@azure/storage-blob';
import { raw, rawRefused } from './raw.mjs';
import { collect, newBlob, newContainer, refused, service } from './setup.mjs';

const put = (container, name, tags) =>
    container.getBlockBlobClient(name).upload('x', 1, { tags });
const names = async (found) => (await collect(found)).map(({ name }) => name);
// Tests share the account: a value that no other has.
let last = 0;
const unique = () => `${process.pid}-${Date.now()}-${++last}`;

test('tags are set, read and counted, and leave the ETag', async (t) => {
    // rest: Set-Blob-Tags, Get-Blob-Tags; recorded
    const { blob, etag } = await newBlob(t);
    assert.deepEqual((await blob.getTags()).tags, {});
    assert.equal((await blob.getProperties()).tagCount, undefined);
    const tags = { project: 'one two', 'a +-./:=_': '', Case: 'x', case: 'y' };
    assert.equal((await blob.setTags(tags))._response.status, 204);
    assert.deepEqual((await blob.getTags()).tags, tags);
    const properties = await blob.getProperties();
    assert.equal(properties.tagCount, 4);
    assert.equal(properties.etag, etag);
    assert.equal((await blob.download()).tagCount, 4);
    await blob.setTags({});
    assert.deepEqual((await blob.getTags()).tags, {});
});

test('tags come with uploads, and an overwrite drops them', async (t) => {
    // rest: Put-Blob x-ms-tags; recorded
    const { container, blob } = await newBlob(t, 'x', { tags: { a: '1' } });
    assert.deepEqual((await blob.getTags()).tags, { a: '1' });
    const { snapshot } = await blob.createSnapshot();
    await blob.stageBlock('MQ==', 'y', 1);
    await blob.commitBlockList(['MQ=='], { tags: { b: '2', c: '3 4' } });
    assert.deepEqual((await blob.getTags()).tags, { b: '2', c: '3 4' });
    assert.deepEqual((await blob.withSnapshot(snapshot).getTags()).tags, { a: '1' });
    const listed = await collect(container.listBlobsFlat({ includeTags: true }));
    assert.deepEqual(listed.map(({ tags }) => tags), [{ b: '2', c: '3 4' }]);
    assert.equal(listed[0].properties.tagCount, 2);
    await blob.upload('z', 1);
    assert.deepEqual((await blob.getTags()).tags, {});
});

test('tags are checked', async (t) => {
    // rest: Set-Blob-Tags
    const { blob } = await newBlob(t);
    const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, '']));
    await refused(blob.setTags(eleven), 400, 'TagsTooLarge');
    await refused(blob.setTags({ ['k'.repeat(129)]: '' }), 400, 'TagsTooLarge');
    await refused(blob.setTags({ k: 'v'.repeat(257) }), 400, 'TagsTooLarge');
    await refused(blob.setTags({ k: 'ä' }), 400, 'InvalidTag');
    await refused(blob.setTags({ '': 'v' }), 400, 'EmptyTagName');
    await blob.setTags({ ['k'.repeat(128)]: 'v'.repeat(256) });
    const lease = blob.getBlobLeaseClient();
    await lease.acquireLease(-1);
    await refused(blob.setTags({ a: '1' }), 412, 'LeaseIdMissing');
    const other = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa';
    const conditions = { leaseId: other };
    for (const call of [
        () => blob.setTags({ a: '1' }, { conditions }), () => blob.getTags({ conditions }),
    ])
        await refused(call(), 412, 'LeaseIdMismatchWithBlobOperation');
    await blob.setTags({ a: '1' }, { conditions: { leaseId: lease.leaseId } });
});

test('blobs are found by tags, in the account and in a container', async (t) => {
    // rest: Find-Blobs-by-Tags, Find-Blobs-by-Tags-Container
    const run = unique();
    const one = await newContainer(t);
    const two = await newContainer(t);
    await put(one, 'a/1', { run, rank: '010', other: 'x' });
    await put(one, 'b', { run, rank: '020' });
    await put(two, 'c', { run, rank: '030' });
    const find = (more = '') => service.findBlobsByTags(`run = '${run}'${more}`);
    const all = await collect(find());
    assert.deepEqual(all.map(({ name, containerName, tags, tagValue }) =>
        ({ name, containerName, tags, tagValue })), [
        { name: 'a/1', containerName: one.containerName, tags: { run }, tagValue: run },
        { name: 'b', containerName: one.containerName, tags: { run }, tagValue: run },
        { name: 'c', containerName: two.containerName, tags: { run }, tagValue: run },
    ]);
    assert.deepEqual(await names(find(" AND rank > '010' AND \"rank\" <= '030'")), ['b', 'c']);
    assert.deepEqual(await names(find(` AND @container = '${two.containerName}'`)), ['c']);
    assert.deepEqual(await names(two.findBlobsByTags(`run = '${run}'`)), ['c']);
    assert.deepEqual(await names(two.findBlobsByTags("rank >= ''")), ['c']);
    await one.deleteBlob('b');
    assert.deepEqual(await names(find()), ['a/1', 'c']);
    for (const wrong of ["run <> '1'", "a = '1' OR b = '2'", "run = 1", "@container = 'x'"])
        await refused(service.findBlobsByTags(wrong).next(), 400, 'InvalidQueryParameterValue');
});

test('pages of every size join to the whole', async (t) => {
    const container = await newContainer(t);
    const wanted = [];
    for (let i = 0; i < 23; i++) {
        await put(container, `b${i}`, { v: String(i % 5), all: 'yes' });
        wanted.push([i % 5, `b${i}`]);
    }
    wanted.sort(([a, x], [b, y]) => a - b || (x < y ? -1 : 1));
    for (let maxPageSize = 1; maxPageSize <= 24; maxPageSize++) {
        const found = [];
        const pages = container.findBlobsByTags("v >= '0' AND all = 'yes'").byPage({ maxPageSize });
        for await (const { blobs } of pages) {
            assert(blobs.length <= maxPageSize);
            found.push(...blobs.map(({ name }) => name));
        }
        assert.deepEqual(found, wanted.map(([, name]) => name).sort());
        const ranged = [];
        for await (const { blobs } of container.findBlobsByTags("v >= '0'").byPage({ maxPageSize }))
            ranged.push(...blobs.map(({ name }) => name));
        assert.deepEqual(ranged, wanted.map(([, name]) => name));
    }
});

test('tags come back sorted by name, whatever order they were sent in', async (t) => {
    // recorded: 34 of 34 sets of several tags, in the order of bytes
    const sent = 'tag2=x&GO=y&%2B-.%2F%3A%3D_=1&Javascript=z&a=&Python=p';
    const sorted = ['+-./:=_', 'GO', 'Javascript', 'Python', 'a', 'tag2'];
    const keysOf = ({ text }) => [...text.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key);
    const { containerName } = await newContainer(t);
    await raw('PUT', `/${containerName}/b`, { 'x-ms-blob-type': 'BlockBlob', 'x-ms-tags': sent }, 'x');
    const lists = [`/${containerName}/b?comp=tags`, `/${containerName}?restype=container&comp=list&include=tags`];
    for (const path of lists)
        assert.deepEqual(keysOf(await raw('GET', path)), sorted, path);
    await raw('PUT', `/${containerName}/b?comp=tags`, {},
        `<Tags><TagSet>${['z', 'B', 'b', 'a'].map((key) => `<Tag><Key>${key}</Key><Value>1</Value></Tag>`).join('')}</TagSet></Tags>`);
    for (const path of lists)
        assert.deepEqual(keysOf(await raw('GET', path)), ['B', 'a', 'b', 'z'], path);
    const where = encodeURIComponent("z = '1' AND a = '1' AND B = '1'");
    assert.deepEqual(keysOf(await raw('GET', `/${containerName}?restype=container&comp=blobs&where=${where}`)), ['B', 'a', 'z']);
});

test('Find Blobs by Tags repeats marker, where and maxresults, in this order', async (t) => {
    // recorded, 4 of 4
    const container = await newContainer(t);
    for (const name of ['a', 'b'])
        await put(container, name, { k: 'v' });
    const path = `/${container.containerName}?restype=container&comp=blobs&where=${encodeURIComponent("k = 'v'")}`;
    const first = await raw('GET', `${path}&maxresults=1`);
    assert.match(first.text, /\/"><Where>k = 'v'<\/Where><MaxResults>1<\/MaxResults><Blobs>/);
    const [, marker] = /<NextMarker>(.+)<\/NextMarker>/.exec(first.text);
    const second = await raw('GET', `${path}&maxresults=1&marker=${encodeURIComponent(marker)}`);
    assert.match(second.text, /\/"><Marker>[^<]+<\/Marker><Where>k = 'v'<\/Where><MaxResults>1<\/MaxResults><Blobs>/);
    assert.equal(/<Marker>(.+)<\/Marker>/.exec(second.text)[1], marker);
    assert.match((await raw('GET', path)).text, /\/"><Where>k = 'v'<\/Where><Blobs>/);
});

test('tags are conditions of reads and writes', async (t) => {
    // semantics 4.2; recorded
    const { blob } = await newBlob(t, 'x', { tags: { state: 'new' } });
    const met = { conditions: { tagConditions: "state = 'new' AND (a = '1' OR state <> 'old')" } };
    const unmet = { conditions: { tagConditions: "state != 'new'" } };
    assert.equal((await blob.download(0, undefined, met))._response.status, 200);
    for (const call of [
        () => blob.download(0, undefined, unmet), () => blob.setMetadata({ a: '1' }, unmet),
        () => blob.upload('y', 1, unmet), () => blob.createSnapshot(unmet),
        () => blob.setTags({ a: '1' }, unmet), () => blob.getTags(unmet),
        () => blob.getBlockList('all', unmet), () => blob.delete(unmet),
    ])
        await refused(call(), 412, 'ConditionNotMet');
    const path = new URL(blob.url).pathname.replace(/^\/[^/]+/, '');
    await rawRefused(raw('GET', path, { 'x-ms-if-tags': 'state' }), 400, 'InvalidHeaderValue');
    await blob.setTags({ state: 'old' }, met);
    await refused(blob.delete(met), 412, 'ConditionNotMet');
});

test('Put Blob From URL sets tags, or takes those of the source', async (t) => {
    // rest: Put-Blob-From-URL x-ms-copy-source-tag-option; recorded
    const { container, blob } = await newBlob(t, 'x', { tags: { source: '1' } });
    const copy = container.getBlockBlobClient('copy');
    const source = await blob.generateSasUrl({
        permissions: BlobSASPermissions.parse('rt'), expiresOn: new Date(Date.now() + 600000),
    });
    await copy.syncUploadFromURL(source, { tags: { own: '2' } });
    assert.deepEqual((await copy.getTags()).tags, { own: '2' });
    await copy.syncUploadFromURL(source);
    assert.deepEqual((await copy.getTags()).tags, {});
    await copy.syncUploadFromURL(source, { copySourceTags: 'COPY' });
    assert.deepEqual((await copy.getTags()).tags, { source: '1' });
    assert.deepEqual(await names(container.findBlobsByTags("source = '1'")), ['blob', 'copy']);
    await refused(copy.syncUploadFromURL(source, { copySourceTags: 'COPY', tags: { a: '1' } }),
        400, 'BothUserTagsAndSourceTagsCopyPresentException');
    await refused(copy.syncUploadFromURL(source,
        { sourceConditions: { tagConditions: "source = '2'" } }), 412, 'CannotVerifyCopySource');
});

test('a search that cannot be read is refused in the words of the service', async (t) => {
    // reported: azure-cli issues 25596 and 21956, azure-sdk-for-net issues 18226, 27610 and 31963; decision: 78
    const { container } = await newBlob(t);
    const find = (where, path = '/?comp=blobs') => raw('GET', `${path}&where=${encodeURIComponent(where)}`);
    for (const [where, words] of [
        ["a-b='value1'", "at or near character position 2: unexpected '-'"],
        ["Month='4'", "at or near character position 1: unexpected 'Month'"],
        ["aaaaaaaaaaaa='12345' AND Year='2020'", "at or near character position 26: unexpected 'Year'"],
        ['run = 1', "at or near character position 7: unexpected '1'"],
        ['run = value', "at or near character position 7: unexpected 'value'"],
        ["a = 'b' OR c = 'd'", "at or near character position 11: unexpected 'or'"],
        ["@other = 'b'", "at or near character position 7: unsupported parameter '@other'"],
        ["a = 'b", 'at or near character position 7: unexpected end of query'],
    ]) {
        const { text } = await rawRefused(find(where), 400, 'InvalidQueryParameterValue');
        const plain = text.replaceAll('&apos;', "'");
        assert(plain.includes(`<Message>Error parsing query ${words}\n`), `${where}: ${plain}`);
        assert(plain.includes(`<QueryParameterName>where</QueryParameterName><QueryParameterValue>${where}</QueryParameterValue>` +
            '<Reason>This query parameter value is invalid.</Reason>'), plain);
    }
    const both = await rawRefused(find("a='b' AND @container='c'", `/${container.containerName}?restype=container&comp=blobs`), 400, 'InvalidQueryParameterValue');
    assert.match(both.text, /<Message>Error parsing query: Cannot have container in both uri and query\n/);
    for (const where of ["\"a-b\"='v'", "\"Year\"='2020'", "my_tag1='v'"])
        assert.equal((await find(where)).status, 200, where);
    const path = `/${container.containerName}/blob`;
    for (const where of ["a-b='v'", "Year='2020'", "a=1"]) {
        await rawRefused(raw('GET', path, { 'x-ms-if-tags': where }), 400, 'InvalidHeaderValue');
        assert.equal((await raw('PUT', `/${container.containerName}/copy`, { 'x-ms-copy-source': `${container.url}/blob`, 'x-ms-source-if-tags': where })).status, 400);
    }
});
