// List Blobs through the SDK: flat and by delimiter, pages, what include adds, names of every kind.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raw, rawRefused } from './raw.mjs';
import { blockId, collect, newBlob, newContainer, refused, service } from './setup.mjs';

async function blobsNamed(t, names) {
    const container = await newContainer(t);
    await Promise.all(names.map((name) => container.getBlockBlobClient(name).upload('x', 1)));
    return container;
}

const namesOf = (items) => items.map(({ name }) => name);
const listPath = (container, query = '') =>
    `/${container.containerName}?restype=container&comp=list${query}`;

test('a flat list is in the order of the bytes of the names', async (t) => {
    // rest: List-Blobs "lists in alphabetical order, upper-case letters first"
    const names =
        ['B', 'a', 'a b', 'a%2Fb', 'a-b', 'a.b', 'a/', 'a/b', 'a/b/c', 'aa', 'b', 'é', '€', '𝄞'];
    const container = await blobsNamed(t, [...names].reverse());
    assert.deepEqual(namesOf(await collect(container.listBlobsFlat())), names);
});

test('the list shows what the properties show', async (t) => {
    // rest: List-Blobs, the element Properties
    const { container, blob, etag, lastModified } = await newBlob(t, 'content', {
        metadata: { Upper: 'v' },
        blobHTTPHeaders: {
            blobContentType: 'text/plain', blobContentEncoding: 'gzip', blobContentLanguage: 'de',
            blobCacheControl: 'no-cache', blobContentDisposition: 'inline',
        },
    });
    const [listed] = await collect(container.listBlobsFlat());
    const properties = await blob.getProperties();
    assert.equal(listed.name, 'blob');
    assert.equal(listed.deleted, undefined);
    assert.equal(listed.snapshot, undefined);
    assert.equal(listed.metadata, undefined);
    assert.equal(`"${listed.properties.etag}"`, etag);
    assert.equal(listed.properties.lastModified.getTime(), lastModified.getTime());
    for (const name of ['contentLength', 'contentType', 'contentEncoding', 'contentLanguage',
        'cacheControl', 'contentDisposition', 'blobType', 'leaseState', 'leaseStatus', 'accessTier',
        'accessTierInferred'])
        assert.equal(listed.properties[name], properties[name], name);
    assert.deepEqual(Buffer.from(listed.properties.contentMD5), Buffer.from(properties.contentMD5));
    assert.equal(listed.properties.createdOn.getTime(), properties.createdOn.getTime());
    assert.equal(listed.properties.serverEncrypted, true);
});

test('prefix: only what begins with it', async (t) => {
    // rest: List-Blobs prefix
    const container = await blobsNamed(t, ['a', 'ab', 'abc', 'b', 'AB', 'ab/c', 'é1', 'é2']);
    const list = async (prefix) => namesOf(await collect(container.listBlobsFlat({ prefix })));
    assert.deepEqual(await list('ab'), ['ab', 'ab/c', 'abc']);
    assert.deepEqual(await list('é'), ['é1', 'é2']);
    assert.deepEqual(await list('none'), []);
});

test('pages: each blob once, in order, for every size of a page', async (t) => {
    // rest: List-Blobs marker, maxresults
    const names = Array.from({ length: 23 }, (_, n) => `n${String(n).padStart(2, '0')}`);
    const container = await blobsNamed(t, names);
    for (const maxPageSize of [1, 2, 7, 22, 23, 24]) {
        const pages = await collect(container.listBlobsFlat().byPage({ maxPageSize }));
        assert.deepEqual(pages.flatMap((p) => namesOf(p.segment.blobItems)), names);
        assert.equal(pages.length, Math.ceil(23 / maxPageSize));
        assert.ok(pages.every((p) => p.segment.blobItems.length <= maxPageSize));
        assert.ok(!pages.at(-1).continuationToken);
    }
    const [first] = await collect(container.listBlobsFlat().byPage({ maxPageSize: 10 }));
    const rest = await collect(container.listBlobsFlat()
        .byPage({ continuationToken: first.continuationToken }));
    assert.deepEqual(rest.flatMap((p) => namesOf(p.segment.blobItems)), names.slice(10));
});

test('blobs that come and go between two pages shift nothing', async (t) => {
    // rest: List-Blobs: the marker names a place, not a number
    const container = await blobsNamed(t, ['a', 'b', 'c', 'd', 'e', 'f']);
    const pages = container.listBlobsFlat().byPage({ maxPageSize: 2 });
    assert.deepEqual(namesOf((await pages.next()).value.segment.blobItems), ['a', 'b']);
    await container.deleteBlob('a');
    await container.deleteBlob('c');
    await container.getBlockBlobClient('aa').upload('x', 1);
    await container.getBlockBlobClient('dd').upload('x', 1);
    assert.deepEqual(namesOf((await pages.next()).value.segment.blobItems), ['d', 'dd']);
    assert.deepEqual(namesOf((await pages.next()).value.segment.blobItems), ['e', 'f']);
});

test('by hierarchy: blobs and prefixes in one order', async (t) => {
    // rest: List-Blobs delimiter
    const container = await blobsNamed(t,
        ['a', 'a/1', 'a/2', 'a/b/1', 'b/', 'c', 'd//x', 'd/1', 'z/y/x/w']);
    const list = async (prefix, delimiter = '/') =>
        (await collect(container.listBlobsByHierarchy(delimiter, { prefix })))
            .map((item) => `${item.kind}:${item.name}`);
    assert.deepEqual(await list(),
        ['blob:a', 'blob:c', 'prefix:a/', 'prefix:b/', 'prefix:d/', 'prefix:z/'].sort(byKind));
    assert.deepEqual(await list('a/'), ['blob:a/1', 'blob:a/2', 'prefix:a/b/'].sort(byKind));
    assert.deepEqual(await list('d/'), ['blob:d/1', 'prefix:d//'].sort(byKind));
    assert.deepEqual(await list('z/y'), ['prefix:z/y/']);
    assert.deepEqual(await list('', '//'),
        ['blob:a', 'blob:a/1', 'blob:a/2', 'blob:a/b/1', 'blob:b/', 'blob:c', 'blob:d/1',
            'blob:z/y/x/w', 'prefix:d//'].sort(byKind));

    // The SDK gives the prefixes of a page before its blobs.
    function byKind(x, y) {
        const isPrefix = (item) => Number(item.startsWith('prefix:'));
        return isPrefix(y) - isPrefix(x) || (x < y ? -1 : 1);
    }
});

test('by hierarchy: pages count blobs and prefixes, and repeat none', async (t) => {
    // rest: List-Blobs: "a BlobPrefix element counts toward maxresults"
    const names = ['a/1', 'a/2', 'a/3', 'b', 'c/1', 'c/2', 'd', 'e/1'];
    const container = await blobsNamed(t, names);
    const pages = await collect(container.listBlobsByHierarchy('/').byPage({ maxPageSize: 2 }));
    const shown = pages.map((page) => [
        ...(page.segment.blobPrefixes ?? []).map(({ name }) => name),
        ...namesOf(page.segment.blobItems),
    ].sort());
    assert.deepEqual(shown, [['a/', 'b'], ['c/', 'd'], ['e/']]);
});

test('include adds metadata, snapshots and blobs of uncommitted blocks alone', async (t) => {
    // rest: List-Blobs include
    const { container, blob } =
        await newBlob(t, 'one', { metadata: { Key: 'old', other: 'a & <b>' } });
    const { snapshot } = await blob.createSnapshot();
    await blob.upload('second', 6, { metadata: { key: 'new' } });
    await container.getBlockBlobClient('staged').stageBlock(blockId(1), 'abc', 3);
    const list = (options) => collect(container.listBlobsFlat(options));

    assert.deepEqual(namesOf(await list({})), ['blob']);
    const all = await list({
        includeMetadata: true, includeSnapshots: true, includeUncommitedBlobs: true,
    });
    assert.deepEqual(all.map((b) => [b.name, b.snapshot, b.properties.contentLength]),
        [['blob', snapshot, 3], ['blob', undefined, 6], ['staged', undefined, 0]]);
    assert.deepEqual(all[0].metadata, { Key: 'old', other: 'a & <b>' });
    assert.deepEqual(all[1].metadata, { key: 'new' });
    assert.deepEqual(namesOf(await list({ includeUncommitedBlobs: true })), ['blob', 'staged']);
    assert.equal((await list({ includeSnapshots: true })).length, 2);
});

test('snapshots over pages', async (t) => {
    // rest: List-Blobs include=snapshots: "from the oldest to the newest, the base last"
    const { container, blob } = await newBlob(t);
    const taken = [];
    for (let n = 0; n < 7; n++)
        taken.push((await blob.createSnapshot()).snapshot);
    const pages = await collect(container.listBlobsFlat({ includeSnapshots: true })
        .byPage({ maxPageSize: 3 }));
    assert.deepEqual(pages.flatMap((p) => p.segment.blobItems.map((b) => b.snapshot)),
        [...taken, undefined]);
});

test('what include may hold and this server has none of is taken', async (t) => {
    // rest: List-Blobs include: copy, deleted, tags, versions, deletedwithversions..
    const { container } = await newBlob(t);
    const listed = await collect(container.listBlobsFlat({
        includeCopy: true, includeDeleted: true, includeTags: true, includeVersions: true,
        includeDeletedWithVersions: true, includeImmutabilityPolicy: true, includeLegalHold: true,
    }));
    assert.deepEqual(namesOf(listed), ['blob']);
    const containers = await collect(service.listContainers({
        prefix: container.containerName, includeDeleted: true, includeSystem: true,
        includeMetadata: true,
    }));
    assert.deepEqual(namesOf(containers), [container.containerName]);
});

test('leases are seen in the list', async (t) => {
    // rest: List-Blobs LeaseStatus, LeaseState, LeaseDuration
    const { container, blob } = await newBlob(t);
    await blob.getBlobLeaseClient().acquireLease(-1);
    const [leased] = await collect(container.listBlobsFlat());
    assert.deepEqual([leased.properties.leaseStatus, leased.properties.leaseState,
        leased.properties.leaseDuration], ['locked', 'leased', 'infinite']);
    await blob.getBlobLeaseClient().breakLease(0);
    const [broken] = await collect(container.listBlobsFlat());
    assert.deepEqual([broken.properties.leaseStatus, broken.properties.leaseState,
        broken.properties.leaseDuration], ['unlocked', 'broken', undefined]);
});

test('a list begins where startFrom says', async (t) => {
    // semantics 0.8: List Blobs startFrom
    const container = await blobsNamed(t, ['a', 'b', 'c', 'd']);
    assert.deepEqual(namesOf(await collect(container.listBlobsFlat({ startFrom: 'b' }))),
        ['b', 'c', 'd']);
    assert.deepEqual(namesOf(await collect(container.listBlobsFlat({ startFrom: 'bb' }))),
        ['c', 'd']);
});

test('white space of names and values is given back as it is', async (t) => {
    // XML 1.0 2.10: an application gets all white space
    const names = ['  two', 'a  b', 'end  ', '\u00a0'];
    const container = await blobsNamed(t, names);
    const answer = await raw('GET', listPath(container));
    for (const name of names)
        assert.ok(answer.text.includes(`<Name>${name}</Name>`), JSON.stringify(name));
    assert.deepEqual(namesOf(await collect(container.listBlobsFlat())), names);
});

test('names that XML cannot hold come percent-encoded, and the SDK decodes them', async (t) => {
    // rest: List-Blobs, Name Encoded="true"
    const names = ['a\uFFFEb/c', 'x\uFFFFy'];
    const container = await blobsNamed(t, names);
    assert.deepEqual(namesOf(await collect(container.listBlobsFlat())), names);
    const answer = await raw('GET', listPath(container));
    assert.match(answer.text, /<Name Encoded="true">a%EF%BF%BEb(\/|%2F)c<\/Name>/);
});

test('snapshots and a delimiter in one list: a prefix once, and the snapshots of blobs beside it', async (t) => {
    // rest: Version-2021-06-08
    const container = await newContainer(t);
    const snapshots = [];
    for (const name of ['a', 'dir/b', 'dir/c', 'e']) {
        const blob = container.getBlockBlobClient(name);
        await blob.upload('x', 1);
        snapshots.push((await blob.createSnapshot()).snapshot);
    }
    const shown = [];
    for await (const item of container.listBlobsByHierarchy('/', { includeSnapshots: true }))
        shown.push(item.kind === 'prefix' ? item.name : [item.name, item.snapshot || '']);
    assert.deepEqual(shown, ['dir/', ['a', snapshots[0]], ['a', ''], ['e', snapshots[3]], ['e', '']]); // as the client sorts a page
    const paged = [];
    for await (const page of container.listBlobsByHierarchy('/', { includeSnapshots: true }).byPage({ maxPageSize: 1 }))
        paged.push(...page.segment.blobPrefixes?.map(({ name }) => name) ?? [],
            ...page.segment.blobItems.map(({ name, snapshot }) => [name, snapshot || '']));
    assert.deepEqual(paged, [['a', snapshots[0]], ['a', ''], 'dir/', ['e', snapshots[3]], ['e', '']]);
});

test('what is asked wrongly is refused', async (t) => {
    // rest: List-Blobs; semantics 10.2
    const container = await newContainer(t);
    await rawRefused(raw('GET', listPath(container, '&maxresults=0')),
        400, 'OutOfRangeQueryParameterValue');
    await rawRefused(raw('GET', listPath(container, '&maxresults=many')),
        400, 'InvalidQueryParameterValue');
    await rawRefused(raw('GET', listPath(container, '&include=nothing')),
        400, 'InvalidQueryParameterValue');
    await rawRefused(raw('GET', listPath(container, '&include=snapshots&delimiter=/'), {}, '', { version: '2021-06-07' }),
        400, 'InvalidQueryParameterValue');
    await rawRefused(raw('GET', listPath(container, '&marker=nonsense')),
        400, 'InvalidQueryParameterValue');
    await rawRefused(raw('GET', '/?comp=list&marker=x&maxresults=0'),
        400, 'OutOfRangeQueryParameterValue');
    await container.delete();
    await refused(collect(container.listBlobsFlat()), 404, 'ContainerNotFound');
});

test('more than 5,000 results come in pages of 5,000 at most', async (t) => {
    // rest: List-Blobs maxresults: "the server will return up to 5,000 items"
    const container = await newContainer(t);
    const names = Array.from({ length: 5003 }, (_, n) => `n${String(n).padStart(4, '0')}`);
    for (let from = 0; from < names.length; from += 100)
        await Promise.all(names.slice(from, from + 100)
            .map((name) => container.getBlockBlobClient(name).upload('', 0)));
    const pages = await collect(container.listBlobsFlat().byPage({ maxPageSize: 10000 }));
    assert.deepEqual(pages.map((p) => p.segment.blobItems.length), [5000, 3]);
    assert.deepEqual(pages.flatMap((p) => namesOf(p.segment.blobItems)), names);
});

test('Content-CRC64 is in lists since 2019-02-02, OrMetadata since 2019-12-12', async (t) => {
    // recorded: 33 entries of 2019-02-02 with the first; decision: 43
    const { container } = await newBlob(t);
    for (const [version, crc64, orMetadata] of [
        ['2018-11-09', false, false], ['2019-02-02', true, false], ['2019-07-07', true, false], ['2019-12-12', true, true]]) {
        const { text } = await raw('GET', listPath(container), {}, '', { version });
        assert.deepEqual([/<Content-CRC64 \/>/.test(text), /<OrMetadata \/>/.test(text)], [crc64, orMetadata], version);
    }
});
