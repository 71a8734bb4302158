// Containers through the SDK: create, read, metadata, access policies, list, delete.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect, containerName, newContainer, refused, service } from './setup.mjs';

test('a container is created with an ETag and read back', async (t) => {
    // rest: Create-Container, Get-Container-Properties
    const container = service.getContainerClient(containerName());
    assert.equal(await container.exists(), false);
    const created = await container.create({ metadata: { Owner: 'me', n2: '2' } });
    t.after(() => container.delete());
    assert.equal(created._response.status, 201);
    assert.match(created.etag, /^"0x[0-9A-F]+"$/);
    assert.equal(await container.exists(), true);

    const properties = await container.getProperties();
    assert.equal(properties.etag, created.etag);
    assert.equal(properties.lastModified.getTime(), created.lastModified.getTime());
    assert.deepEqual(properties.metadata, { owner: 'me', n2: '2' });
    assert.equal(properties.leaseState, 'available');
    assert.equal(properties.leaseStatus, 'unlocked');
    assert.equal(properties.blobPublicAccess, undefined);
    assert.equal(properties.hasImmutabilityPolicy, false);
    assert.equal(properties.hasLegalHold, false);
});

test('ETag is the time of change in 100 ns ticks, Last-Modified the same second', async (t) => {
    // semantics 0.3
    const container = await newContainer(t);
    const { etag, lastModified } = await container.getProperties();
    const ticks = BigInt(JSON.parse(etag));
    const epoch = 621355968000000000n;
    assert.equal((ticks - epoch) / 10000000n, BigInt(lastModified.getTime() / 1000));
});

test('creating an existing container is 409 ContainerAlreadyExists', async (t) => {
    // rest: Create-Container
    const container = await newContainer(t);
    await refused(container.create(), 409, 'ContainerAlreadyExists');
    const again = await container.createIfNotExists();
    assert.equal(again.succeeded, false);
    assert.equal(again.errorCode, 'ContainerAlreadyExists');
});

test('names of containers that are not allowed are refused', async () => {
    // semantics 10.1: 3..63 of a-z 0-9 -, no double dash, no dash at an end
    for (const name of ['UpperCase', 'a--b', '-ab', 'ab-', 'a_b'])
        await refused(service.getContainerClient(name).create(), 400, 'InvalidResourceName');
    for (const name of ['ab', 'a'.repeat(64)])
        await refused(service.getContainerClient(name).create(), 400, 'OutOfRangeInput');
});

test('metadata is replaced whole and changes the ETag', async (t) => {
    // rest: Set-Container-Metadata
    const container = await newContainer(t, { metadata: { a: '1', b: '2' } });
    const before = await container.getProperties();
    const set = await container.setMetadata({ c: '3' });
    assert.equal(set._response.status, 200);
    assert.notEqual(set.etag, before.etag);
    const after = await container.getProperties();
    assert.equal(after.etag, set.etag);
    assert.deepEqual(after.metadata, { c: '3' });
    await container.setMetadata({});
    assert.deepEqual((await container.getProperties()).metadata, {});
});

test('metadata under If-Modified-Since', async (t) => {
    // semantics 4.1: Set Container Metadata takes If-Modified-Since only
    const container = await newContainer(t);
    const { lastModified } = await container.getProperties();
    const earlier = new Date(lastModified.getTime() - 60000);
    await container.setMetadata({ a: '1' }, { conditions: { ifModifiedSince: earlier } });
    const later = new Date(lastModified.getTime() + 60000);
    await refused(container.setMetadata({ a: '2' }, { conditions: { ifModifiedSince: later } }),
        412, 'ConditionNotMet');
    assert.deepEqual((await container.getProperties()).metadata, { a: '1' });
});

test('access policies are stored and returned', async (t) => {
    // rest: Set-Container-ACL, Get-Container-ACL
    const container = await newContainer(t);
    const before = await container.getProperties();
    const startsOn = new Date('2026-01-02T03:04:05.678Z');
    const expiresOn = new Date('2036-01-02T03:04:05.000Z');
    const set = await container.setAccessPolicy('container', [
        { id: 'read & list <1>', accessPolicy: { permissions: 'rl', startsOn, expiresOn } },
        { id: 'second', accessPolicy: { permissions: 'racwd', expiresOn } },
    ]);
    assert.equal(set._response.status, 200);
    assert.notEqual(set.etag, before.etag);

    const got = await container.getAccessPolicy();
    assert.equal(got.etag, set.etag);
    assert.equal(got.blobPublicAccess, 'container');
    assert.deepEqual(got.signedIdentifiers.map((i) => i.id), ['read & list <1>', 'second']);
    assert.equal(got.signedIdentifiers[0].accessPolicy.permissions, 'rl');
    assert.equal(got.signedIdentifiers[0].accessPolicy.startsOn.getTime(), startsOn.getTime());
    assert.equal(got.signedIdentifiers[0].accessPolicy.expiresOn.getTime(), expiresOn.getTime());
    assert.equal((await container.getProperties()).blobPublicAccess, 'container');

    await container.setAccessPolicy();
    const cleared = await container.getAccessPolicy();
    assert.deepEqual(cleared.signedIdentifiers, []);
    assert.equal(cleared.blobPublicAccess, undefined);
});

test('public access given at creation is kept', async (t) => {
    // rest: Create-Container x-ms-blob-public-access
    const container = await newContainer(t, { access: 'blob' });
    assert.equal((await container.getProperties()).blobPublicAccess, 'blob');
    assert.equal((await container.getAccessPolicy()).blobPublicAccess, 'blob');
});

test('more than five policies are refused', async (t) => {
    // semantics 10.1
    const container = await newContainer(t);
    const six = [1, 2, 3, 4, 5, 6].map((n) => ({
        id: `p${n}`, accessPolicy: { permissions: 'r', expiresOn: new Date('2036-01-01') },
    }));
    await container.setAccessPolicy(undefined, six.slice(0, 5));
    const error = await container.setAccessPolicy(undefined, six).catch((e) => e);
    assert.equal(error.statusCode, 400);
    assert.equal((await container.getAccessPolicy()).signedIdentifiers.length, 5);
});

test('access policy under If-Modified-Since and If-Unmodified-Since', async (t) => {
    // semantics 4.2: Set Container ACL takes both dates
    const container = await newContainer(t);
    const { lastModified } = await container.getProperties();
    const earlier = new Date(lastModified.getTime() - 60000);
    const later = new Date(lastModified.getTime() + 60000);
    await container.setAccessPolicy(undefined, [], { conditions: { ifModifiedSince: earlier } });
    await container.setAccessPolicy(undefined, [], { conditions: { ifUnmodifiedSince: later } });
    await refused(container.setAccessPolicy(undefined, [],
        { conditions: { ifModifiedSince: later } }),
        412, 'ConditionNotMet');
    await refused(
        container.setAccessPolicy(undefined, [], { conditions: { ifUnmodifiedSince: earlier } }),
        412, 'ConditionNotMet');
});

test('a deleted container is gone with its blobs; a new one is empty', async (t) => {
    // rest: Delete-Container; decision of the design, section 4: a fresh space for each incarnation
    const container = await newContainer(t);
    await container.getBlockBlobClient('b').upload('x', 1);
    assert.equal((await container.delete())._response.status, 202);
    assert.equal(await container.exists(), false);
    await refused(container.getProperties(), 404, 'ContainerNotFound');
    // decision 62: recorded, a second one right after the first
    assert.equal((await container.delete())._response.status, 202);
    await refused(container.getBlockBlobClient('b').upload('x', 1), 404, 'ContainerNotFound');
    await refused(container.getBlockBlobClient('b').getProperties(), 404, 'ContainerNotFound');
    await container.create();
    assert.deepEqual(await collect(container.listBlobsFlat()), []);
    await refused(container.getBlockBlobClient('b').getProperties(), 404, 'BlobNotFound');
    assert.equal((await container.deleteIfExists()).succeeded, true);
    assert.equal((await service.getContainerClient('never-there').deleteIfExists()).succeeded, false);
});

test('deleting a container under its two date conditions', async (t) => {
    // semantics 4.2
    const container = await newContainer(t);
    const { lastModified } = await container.getProperties();
    const earlier = new Date(lastModified.getTime() - 60000);
    const later = new Date(lastModified.getTime() + 60000);
    await refused(container.delete({ conditions: { ifUnmodifiedSince: earlier } }),
        412, 'ConditionNotMet');
    await refused(container.delete({ conditions: { ifModifiedSince: later } }),
        412, 'ConditionNotMet');
    await container.delete({ conditions: { ifModifiedSince: earlier, ifUnmodifiedSince: later } })
        .catch((e) => assert.equal(e.code, 'MultipleConditionHeadersNotSupported'));
    await container.delete({ conditions: { ifModifiedSince: earlier } })
        .catch((e) => assert.equal(e.code, 'ContainerNotFound'));
    assert.equal(await container.exists(), false);
});

test('containers are listed in order, by prefix and by pages', async (t) => {
    // rest: List-Containers2
    const prefix = containerName();
    const names = [1, 2, 3, 4, 5].map((n) => `${prefix}-${n}`);
    for (const name of [...names].reverse()) {
        await service.createContainer(name, { metadata: { of: name } });
        t.after(() => service.deleteContainer(name));
    }
    const listed = await collect(service.listContainers({ prefix }));
    assert.deepEqual(listed.map((c) => c.name), names);
    assert.equal(listed[0].metadata, undefined);
    assert.equal(listed[0].properties.leaseState, 'available');
    assert.equal(listed[0].properties.hasLegalHold, false);

    const withMetadata = await collect(service.listContainers({ prefix, includeMetadata: true }));
    assert.deepEqual(withMetadata.map((c) => c.metadata), names.map((of) => ({ of })));

    const pages = await collect(service.listContainers({ prefix }).byPage({ maxPageSize: 2 }));
    assert.deepEqual(pages.map((p) => p.containerItems.map((c) => c.name)),
        [names.slice(0, 2), names.slice(2, 4), names.slice(4)]);
    assert.equal(pages[0].prefix, prefix);
    assert.equal(pages[0].maxPageSize, 2);
    assert.ok(pages[0].continuationToken);
    assert.ok(!pages[2].continuationToken);

    const rest = await collect(service.listContainers({ prefix })
        .byPage({ continuationToken: pages[0].continuationToken }));
    assert.deepEqual(rest.flatMap((p) => p.containerItems.map((c) => c.name)), names.slice(2));
});

test('the ETag of a container in the list is the one of its properties', async (t) => {
    // rest: List-Containers2; the list shows it as the recordings do
    const container = await newContainer(t);
    const { etag } = await container.getProperties();
    const [listed] = await collect(service.listContainers({ prefix: container.containerName }));
    assert.equal(listed.properties.etag.replaceAll('"', ''), etag.replaceAll('"', ''));
});
