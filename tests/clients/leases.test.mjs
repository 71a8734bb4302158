// Leases through BlobLeaseClient: every action on blobs and containers, and what a lease forbids.
// The whole matrix of states is a unit test; here is what clients see. semantics 3.1..3.4
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { raw, rawRefused } from './raw.mjs';
import { blockId, newBlob, newContainer, refused } from './setup.mjs';

const A = 'aaaaaaaa-0000-4000-8000-00000000000a';
const B = 'bbbbbbbb-0000-4000-8000-00000000000b';

// Something that is leased, of both kinds: how it is looked at, and the word in its error codes.
const kinds = {
    blob: async (t) => {
        const { blob } = await newBlob(t);
        return { client: blob, lease: (id) => blob.getBlobLeaseClient(id) };
    },
    container: async (t) => {
        const container = await newContainer(t);
        return { client: container, lease: (id) => container.getBlobLeaseClient(id) };
    },
};

async function seen(client) {
    const { leaseStatus, leaseState, leaseDuration } = await client.getProperties();
    return [leaseStatus, leaseState, leaseDuration].filter((text) => text !== undefined).join(' ');
}

for (const [kind, make] of Object.entries(kinds)) {
    test(`${kind}: acquire, renew, change, release`, async (t) => {
        // semantics 3.2
        const { client, lease } = await make(t);
        const { etag, lastModified } = await client.getProperties();
        const same = (answer) => {
            assert.equal(answer.etag, etag);
            assert.equal(answer.lastModified.getTime(), lastModified.getTime());
            return answer;
        };
        assert.equal(await seen(client), 'unlocked available');

        const acquired = same(await lease(A).acquireLease(-1));
        assert.equal(acquired._response.status, 201);
        assert.equal(acquired.leaseId, A);
        assert.equal(await seen(client), 'locked leased infinite');
        await refused(lease(B).acquireLease(-1), 409, 'LeaseAlreadyPresent');
        assert.equal(same(await lease(A).acquireLease(60)).leaseId, A);
        assert.equal(await seen(client), 'locked leased fixed');

        const renewed = same(await lease(A).renewLease());
        assert.equal(renewed._response.status, 200);
        assert.equal(renewed.leaseId, A);
        await refused(lease(B).renewLease(), 409, 'LeaseIdMismatchWithLeaseOperation');

        const changing = lease(A);
        const changed = same(await changing.changeLease(B));
        assert.equal(changed._response.status, 200);
        assert.equal(changed.leaseId, B);
        assert.equal(changing.leaseId, B);
        assert.equal(same(await lease(A).changeLease(B)).leaseId, B);
        await refused(lease(A).changeLease(A), 409, 'LeaseIdMismatchWithLeaseOperation');

        await refused(lease(A).releaseLease(), 409, 'LeaseIdMismatchWithLeaseOperation');
        const released = same(await lease(B).releaseLease());
        assert.equal(released._response.status, 200);
        assert.equal(released._response.headers.get('x-ms-lease-id'), undefined);
        assert.equal(await seen(client), 'unlocked available');
        await refused(lease(B).renewLease(), 409, 'LeaseIdMismatchWithLeaseOperation');
        await refused(lease(B).changeLease(A), 409, 'LeaseNotPresentWithLeaseOperation');
        await refused(lease(B).breakLease(0), 409, 'LeaseNotPresentWithLeaseOperation');
    });

    test(`${kind}: break with and without a period`, async (t) => {
        // semantics 3.2, the rows Break
        const { client, lease } = await make(t);
        await lease(A).acquireLease(-1);
        const at = await lease(A).breakLease(0);
        assert.equal(at._response.status, 202);
        assert.equal(at.leaseTime, 0);
        assert.equal(await seen(client), 'unlocked broken');
        await refused(lease(A).renewLease(), 409, 'LeaseIsBrokenAndCannotBeRenewed');

        await lease(B).acquireLease(60);
        const { leaseTime } = await lease(B).breakLease(30);
        assert.ok(leaseTime >= 29 && leaseTime <= 30, `${leaseTime}`);
        assert.equal(await seen(client), 'locked breaking');
        await refused(lease(A).acquireLease(-1), 409, 'LeaseAlreadyPresent');
        await refused(lease(B).acquireLease(-1), 409, 'LeaseIsBreakingAndCannotBeAcquired');
        await refused(lease(B).renewLease(), 409, 'LeaseIsBrokenAndCannotBeRenewed');
        await refused(lease(B).changeLease(A), 409, 'LeaseIsBreakingAndCannotBeChanged');
        assert.ok((await lease(B).breakLease(60)).leaseTime <= 30);
        assert.equal((await lease(B).breakLease(0)).leaseTime, 0);
        assert.equal(await seen(client), 'unlocked broken');

        // Without a period: the rest of a finite lease, at once for an infinite one.
        await lease(A).acquireLease(15);
        const rest = await raw('PUT', pathOf(client), { 'x-ms-lease-action': 'break' });
        assert.equal(rest.status, 202);
        assert.ok(Number(rest.headers.get('x-ms-lease-time')) >= 13);
        await lease(A).releaseLease();
        await lease(A).acquireLease(-1);
        const infinite = await raw('PUT', pathOf(client), { 'x-ms-lease-action': 'break' });
        assert.equal(infinite.headers.get('x-ms-lease-time'), '0');
    });

    test(`${kind}: an id is made when none is proposed, and taken in every form`, async (t) => {
        // semantics 3.1; decision: 8
        const { client } = await make(t);
        const path = pathOf(client);
        const made = await raw('PUT', path,
            { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '15' });
        assert.equal(made.status, 201);
        const id = made.headers.get('x-ms-lease-id');
        assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
        for (const form of [id.toUpperCase(), `{${id}}`, `(${id})`, id.replaceAll('-', '')]) {
            const renewed =
                await raw('PUT', path, { 'x-ms-lease-action': 'renew', 'x-ms-lease-id': form });
            assert.equal(renewed.status, 200, form);
            assert.equal(renewed.headers.get('x-ms-lease-id'), id);
        }
    });

    test(`${kind}: a lease asked for wrongly is refused`, async (t) => {
        // semantics 3.1, "Bad input"
        const { client } = await make(t);
        const ask = (headers) => raw('PUT', pathOf(client), headers);
        const acquire = { 'x-ms-lease-action': 'acquire' };
        await rawRefused(ask(acquire), 400, 'MissingRequiredHeader');
        for (const seconds of ['0', '14', '61', '-2', 'x'])
            await rawRefused(ask({ ...acquire, 'x-ms-lease-duration': seconds }), 400,
                'InvalidHeaderValue');
        await rawRefused(ask({ ...acquire, 'x-ms-lease-duration': '15',
            'x-ms-proposed-lease-id': 'x' }),
            400, 'InvalidHeaderValue');
        for (const action of ['renew', 'release'])
            await rawRefused(ask({ 'x-ms-lease-action': action }), 400, 'MissingRequiredHeader');
        await rawRefused(ask({ 'x-ms-lease-action': 'change', 'x-ms-lease-id': A }),
            400, 'MissingRequiredHeader');
        await rawRefused(ask({ 'x-ms-lease-action': 'break', 'x-ms-lease-break-period': '61' }),
            400, 'InvalidHeaderValue');
        await rawRefused(ask({ 'x-ms-lease-action': 'take' }), 400, 'InvalidHeaderValue');
        await rawRefused(ask({}), 400, 'MissingRequiredHeader');
        assert.equal(await seen(client), 'unlocked available');
    });
}

function pathOf(client) {
    return client.name !== undefined ? `/${client.containerName}/${client.name}?comp=lease`
        : `/${client.containerName}?restype=container&comp=lease`;
}

// semantics 3.3: operations that need the id while the blob is leased.
const writes = {
    'Put Blob': (blob, conditions) => blob.upload('new', 3, { conditions }),
    'Put Block': (blob, conditions) => blob.stageBlock(blockId(1), 'x', 1, { conditions }),
    'Put Block List': async (blob, conditions) => blob.commitBlockList([], { conditions }),
    'Set Blob Metadata': (blob, conditions) => blob.setMetadata({ a: '1' }, { conditions }),
    'Set Blob Properties': (blob, conditions) => blob.setHTTPHeaders({}, { conditions }),
    'Delete Blob': (blob, conditions) => blob.delete({ conditions }),
};
// Those that succeed without, and check an id that is sent.
const reads = {
    'Get Blob': async (blob, conditions) => {
        (await blob.download(0, undefined, { conditions })).readableStreamBody.resume();
    },
    'Get Blob Properties': (blob, conditions) => blob.getProperties({ conditions }),
    'Get Block List': (blob, conditions) => blob.getBlockList('all', { conditions }),
    'Snapshot Blob': (blob, conditions) => blob.createSnapshot({ conditions }),
};

for (const [name, operation] of Object.entries({ ...writes, ...reads })) {
    test(`${name} of a blob that is leased, was leased, was never leased`, async (t) => {
        // semantics 3.3, cell by cell: Available, Leased, Broken
        const { blob } = await newBlob(t);
        const isWrite = name in writes;
        await refused(operation(blob, { leaseId: A }), 412, 'LeaseNotPresentWithBlobOperation');
        await blob.getBlobLeaseClient(A).acquireLease(-1);
        if (isWrite)
            await refused(operation(blob, {}), 412, 'LeaseIdMissing');
        else
            await operation(blob, {});
        await refused(operation(blob, { leaseId: B }), 412, 'LeaseIdMismatchWithBlobOperation');
        if (name !== 'Delete Blob') {
            await operation(blob, { leaseId: A });
            assert.equal((await blob.getProperties()).leaseState, 'leased');
        }
        await blob.getBlobLeaseClient(A).breakLease(0);
        await refused(operation(blob, { leaseId: A }), 412, 'LeaseLost');
        await operation(blob, {});
        if (isWrite && !['Delete Blob', 'Put Block'].includes(name))
            assert.equal((await blob.getProperties()).leaseState, 'available');
    });
}

test('messages name the resource that is leased', async (t) => {
    // Live tests of other clients match them; the blob's were "container" and "blob/container". decision: 857
    const { container, blob } = await newBlob(t);
    for (const [client, word] of [[blob, 'blob'], [container, 'container']]) {
        const lease = client.getBlobLeaseClient(A);
        const other = client.getBlobLeaseClient(B);
        const says = async (promise, status, code, message) => {
            const error = await refused(promise, status, code);
            assert.ok(error.message.startsWith(`${message}\n`), error.message);
        };
        const none = `There is currently no lease on the ${word}.`;
        const mismatch = `The lease ID specified did not match the lease ID for the ${word}.`;
        await says(lease.breakLease(0), 409, 'LeaseNotPresentWithLeaseOperation', none);
        await says(lease.changeLease(B), 409, 'LeaseNotPresentWithLeaseOperation', none);
        await says(lease.releaseLease(), 409, 'LeaseIdMismatchWithLeaseOperation', mismatch);
        await lease.acquireLease(-1);
        await says(other.renewLease(), 409, 'LeaseIdMismatchWithLeaseOperation', mismatch);
        await says(client.delete(), 412, 'LeaseIdMissing',
            `There is currently a lease on the ${word} and no lease ID was specified in the request.`);
        await lease.releaseLease();
    }
});

test('a leased blob is deleted with its id', async (t) => {
    // semantics 3.3
    const { blob } = await newBlob(t);
    await blob.getBlobLeaseClient(A).acquireLease(-1);
    await blob.delete({ conditions: { leaseId: A } });
    assert.equal(await blob.exists(), false);
});

test('a lease on a blob that does not exist', async (t) => {
    // semantics 3.1; decision: 7
    const container = await newContainer(t);
    const blob = container.getBlockBlobClient('none');
    await refused(blob.getBlobLeaseClient(A).acquireLease(-1), 404, 'BlobNotFound');
    await refused(blob.upload('x', 1, { conditions: { leaseId: A } }),
        412, 'LeaseNotPresentWithBlobOperation');
    await container.delete();
    await refused(container.getBlobLeaseClient(A).acquireLease(-1), 404, 'ContainerNotFound');
});

test('a snapshot is not leased', async (t) => {
    // rest: Lease-Blob "a lease cannot be granted on a snapshot"
    const { container, blob } = await newBlob(t);
    const { snapshot } = await blob.createSnapshot();
    const answer = await raw('PUT',
        `/${container.containerName}/blob?comp=lease&snapshot=${encodeURIComponent(snapshot)}`,
        { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' });
    assert.equal(answer.status, 400);
    assert.equal((await blob.getProperties()).leaseState, 'available');
});

test('a container lease forbids deleting the container, and nothing else', async (t) => {
    // semantics 3.4
    const container = await newContainer(t);
    const lease = container.getBlobLeaseClient(A);
    // The SDK has no way to send an id with Get Container Properties.
    const properties = (id) => raw('GET', `/${container.containerName}?restype=container`,
        { 'x-ms-lease-id': id });
    await rawRefused(properties(A), 412, 'LeaseNotPresentWithContainerOperation');
    await refused(container.delete({ conditions: { leaseId: A } }),
        412, 'LeaseNotPresentWithContainerOperation');
    await lease.acquireLease(-1);
    await container.getBlockBlobClient('b').upload('x', 1);
    await container.setMetadata({ a: '1' });
    await container.setMetadata({ a: '2' }, { conditions: { leaseId: A } });
    await container.setAccessPolicy(undefined, [], { conditions: { leaseId: A } });
    await container.getAccessPolicy({ conditions: { leaseId: A } });
    for (const operation of [
        (conditions) => container.getAccessPolicy({ conditions }),
        (conditions) => container.setMetadata({}, { conditions }),
        (conditions) => container.setAccessPolicy(undefined, [], { conditions }),
        (conditions) => container.delete({ conditions }),
    ])
        await refused(operation({ leaseId: B }), 412, 'LeaseIdMismatchWithContainerOperation');
    await rawRefused(properties(B), 412, 'LeaseIdMismatchWithContainerOperation');
    assert.equal((await properties(A)).status, 200);
    await refused(container.delete(), 412, 'LeaseIdMissing');
    await lease.breakLease(0);
    await refused(container.delete({ conditions: { leaseId: A } }), 412, 'LeaseLost');
    await lease.acquireLease(-1);
    await container.delete({ conditions: { leaseId: A } });
    assert.equal(await container.exists(), false);
});

test('deleting a container ignores the leases of its blobs', async (t) => {
    // semantics 3.2
    const { container, blob } = await newBlob(t);
    await blob.getBlobLeaseClient(A).acquireLease(-1);
    await container.delete();
});

test('a finite lease runs out; its holder renews it, unless the blob changed since', async (t) => {
    // semantics 3.2, the column Expired; decision: 6. The shortest lease takes 15 seconds.
    const [kept, changed] = [await newBlob(t), await newBlob(t)];
    const container = await newContainer(t);
    const all = [kept.blob, changed.blob, container].map((client) => client.getBlobLeaseClient(A));
    await Promise.all(all.map((lease) => lease.acquireLease(15)));
    await delay(16000);
    assert.equal((await kept.blob.getProperties()).leaseState, 'expired');
    await changed.blob.setMetadata({ a: '1' });
    await container.setMetadata({ a: '1' });
    await all[0].renewLease();
    assert.equal((await kept.blob.getProperties()).leaseState, 'leased');
    await refused(all[1].renewLease(), 409, 'LeaseIdMismatchWithLeaseOperation');
    await all[2].renewLease();
    assert.equal((await container.getProperties()).leaseState, 'leased');
});

test('of 20 that acquire a lease one gets it', async (t) => {
    // rest: Managing concurrency: pessimistic concurrency
    const { blob } = await newBlob(t);
    const results = await Promise.allSettled(Array.from({ length: 20 }, () =>
        blob.getBlobLeaseClient().acquireLease(-1)));
    assert.equal(results.filter((r) => r.status === 'fulfilled').length, 1);
    for (const { reason } of results.filter((r) => r.status === 'rejected'))
        assert.equal(reason.code, 'LeaseAlreadyPresent');
});
