// Leases of files: every cell of the tables of Lease File. semantics 3.5
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newShare, rawFile } from './shares-setup.mjs';

const A = '11111111-1111-1111-1111-111111111111';
const B = '22222222-2222-2222-2222-222222222222';
const C = '33333333-3333-3333-3333-333333333333';

async function newFile(t) {
    const share = await newShare(t);
    const file = share.rootDirectoryClient.getFileClient('f');
    await file.create(100);
    return { file, path: `/${share.name}/f` };
}

const act = (path, action, headers) => rawFile('PUT', `${path}?comp=lease`, { 'x-ms-lease-action': action, ...headers });
const acquire = (path, id) => act(path, 'acquire', { 'x-ms-lease-duration': '-1', ...(id && { 'x-ms-proposed-lease-id': id }) });

async function inState(path, state) {
    if (state !== 'available')
        assert.equal((await acquire(path, A)).status, 201);
    if (state === 'broken')
        assert.equal((await act(path, 'break')).status, 202);
}

/** The state that HEAD says. */
async function shown(path) {
    const { headers } = await rawFile('HEAD', path);
    return headers.get('x-ms-lease-state');
}

const answerOf = ({ status, headers }) => (status < 300 ? status : `${status} ${headers.get('x-ms-error-code')}`);
const PRESENT = '409 LeaseAlreadyPresent', MISMATCH = '409 LeaseIdMismatchWithLeaseOperation',
    NONE = '409 LeaseNotPresentWithLeaseOperation';

const change = (from, to) => (path) => act(path, 'change', { 'x-ms-lease-id': from, 'x-ms-proposed-lease-id': to });
const release = (id) => (path) => act(path, 'release', { 'x-ms-lease-id': id });
const ACTIONS = {
    'acquire': [(path) => acquire(path), [201, 'leased'], [PRESENT], [201, 'leased']],
    'acquire A': [(path) => acquire(path, A), [201, 'leased'], [201, 'leased'], [201, 'leased']],
    'acquire B': [(path) => acquire(path, B), [201, 'leased'], [PRESENT], [201, 'leased']],
    'break': [(path) => act(path, 'break'), [NONE], [202, 'broken'], [202, 'broken']],
    'break A': [(path) => act(path, 'break', { 'x-ms-lease-id': A }), [NONE], [202, 'broken'], [202, 'broken']],
    'break B': [(path) => act(path, 'break', { 'x-ms-lease-id': B }), [NONE], [MISMATCH], [MISMATCH]],
    'change A B': [change(A, B), [NONE], [200, 'leased'], [NONE]],
    'change B A': [change(B, A), [NONE], [200, 'leased'], [NONE]],
    'change B C': [change(B, C), [NONE], [MISMATCH], [NONE]],
    'release A': [release(A), [MISMATCH], [200, 'available'], [200, 'available']],
    'release B': [release(B), [MISMATCH], [MISMATCH], [MISMATCH]],
};
const STATES = ['available', 'leased', 'broken'];

for (const [name, [request, ...cells]] of Object.entries(ACTIONS))
    test(`Lease File: ${name} in each state; neither ETag nor date change`, async (t) => {
        for (const [i, state] of STATES.entries()) {
            const { file, path } = await newFile(t);
            await inState(path, state);
            const before = await file.getProperties();
            const answer = await request(path);
            const [expected, next = state] = cells[i];
            assert.equal(answerOf(answer), expected, state);
            assert.equal(await shown(path), next, state);
            if (answer.status < 300)
                assert.equal(answer.headers.get('etag'), before.etag);
            if (answer.status === 202)
                assert.equal(answer.headers.get('x-ms-lease-time'), '0');
            assert.equal((await file.getProperties()).etag, before.etag);
        }
    });

const WRITES = {
    'Create File': ['PUT', '', { 'x-ms-type': 'file', 'x-ms-content-length': '5' }],
    'Set File Properties': ['PUT', '?comp=properties', { 'x-ms-content-length': '50' }],
    'Set File Metadata': ['PUT', '?comp=metadata', { 'x-ms-meta-a': 'b' }],
    'Put Range': ['PUT', '?comp=range', { 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-0' }, 'x'],
    'Put Range, clear': ['PUT', '?comp=range', { 'x-ms-write': 'clear', 'x-ms-range': 'bytes=0-0' }],
    'Delete File': ['DELETE', ''],
};
const READS = {
    'Get File': ['GET', ''],
    'Get File Properties': ['HEAD', ''],
    'Get File Metadata': ['GET', '?comp=metadata'],
    'List Ranges': ['GET', '?comp=rangelist'],
};
const NOT = '412 LeaseNotPresentWithFileOperation', OTHER = '412 LeaseIdMismatchWithFileOperation', LOST = '412 LeaseLost';

/** [id][state]; null: it is done. */
const cellsOf = (isWrite) => ({
    none: [null, isWrite ? '412 LeaseIdMissing' : null, null],
    [A]: [NOT, null, LOST],
    [B]: [NOT, OTHER, OTHER],
});

for (const [operations, isWrite] of [[WRITES, true], [READS, false]])
    for (const [name, [method, query, headers, body]] of Object.entries(operations))
        test(`${name} on a file in each state of its lease, with each id`, async (t) => {
            for (const [id, cells] of Object.entries(cellsOf(isWrite)))
                for (const [i, state] of STATES.entries()) {
                    const { path } = await newFile(t);
                    await inState(path, state);
                    const answer = await rawFile(method, path + query, { ...headers, ...(id !== 'none' && { 'x-ms-lease-id': id }) }, body);
                    if (cells[i])
                        assert.equal(answerOf(answer), cells[i], `${state}, ${id}`);
                    else
                        assert.ok(answer.status < 300, `${state}, ${id}: ${answerOf(answer)}`);
                    // A write without an id forgets a lease that is broken.
                    if (name !== 'Delete File' || cells[i])
                        assert.equal(await shown(path), state === 'broken' && isWrite && !cells[i] ? 'available' : state, `${state}, ${id}`);
                }
        });

test('Lease File: the texts of its errors are about the file', async (t) => {
    const { path } = await newFile(t);
    const missing = async (...request) => (await rawFile(...request)).text;

    assert.match((await act(path, 'break')).text, /There is currently no lease on the file\./);
    assert.match((await change(A, B)(path)).text, /There is currently no lease on the file\./);
    assert.match((await release(A)(path)).text, /The lease ID specified did not match the lease ID for the file\./);
    assert.match(await missing('DELETE', path, { 'x-ms-lease-id': A }), /There is currently no lease on the file\./);
    assert.match(await missing('GET', path, { 'x-ms-lease-id': A }), /There is currently no lease on the file\./);
    await inState(path, 'leased');
    assert.match((await acquire(path, B)).text, /There is already a lease present\./);
    assert.match((await change(B, C)(path)).text, /The lease ID specified did not match the lease ID for the file\./);
    assert.match(await missing('GET', path, { 'x-ms-lease-id': B }), /The lease ID specified did not match the lease ID for the file\./);
    assert.match(await missing('DELETE', path), /There is currently a lease on the file and no lease ID was specified in the request\./);
    assert.match(await missing('DELETE', path, { 'x-ms-lease-id': B }), /The lease ID specified did not match the lease ID for the file\./);
    assert.match((await act(path, 'release', { 'x-ms-lease-id': B })).text, /did not match the lease ID for the file\./);
    await act(path, 'break');
    assert.match(await missing('DELETE', path, { 'x-ms-lease-id': A }), /A lease ID was specified, but the lease for the file has expired\./);
});

test('Lease File: without end alone, not renewed, not of snapshots, directories or what is not there', async (t) => {
    const { file, path } = await newFile(t);
    const refused = async (request, expected) => assert.equal(answerOf(await request), expected);

    await refused(act(path, 'acquire'), '400 MissingRequiredHeader');
    await refused(act(path, 'acquire', { 'x-ms-lease-duration': '15' }), '400 InvalidHeaderValue');
    await refused(act(path, 'acquire', { 'x-ms-lease-duration': '-1', 'x-ms-proposed-lease-id': 'x' }), '400 InvalidHeaderValue');
    await refused(act(path, 'renew', { 'x-ms-lease-id': A }), '400 InvalidHeaderValue');
    await refused(act(path, 'break', { 'x-ms-lease-break-period': '10' }), '400 UnsupportedHeader');
    await refused(act(path, 'change', { 'x-ms-lease-id': A }), '400 MissingRequiredHeader');
    await refused(acquire(`${path}x`), '404 ResourceNotFound');
    await refused(rawFile('PUT', `${path}?comp=lease&sharesnapshot=2026-01-01T00:00:00.0000000Z`,
        { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' }), '400 ShareSnapshotOperationNotSupported');
    await file.delete();
});

test('Lease File by its client: acquire, change, release, break', async (t) => {
    const { file } = await newFile(t);
    const lease = file.getShareLeaseClient(A);

    assert.equal((await lease.acquireLease()).leaseId, A);
    assert.equal((await file.getProperties()).leaseDuration, 'infinite');
    assert.equal((await lease.changeLease(B)).leaseId, B);
    await file.setMetadata({ a: 'b' }, { leaseAccessConditions: { leaseId: B } });
    await lease.releaseLease();
    await file.getShareLeaseClient(C).acquireLease();
    await file.getShareLeaseClient(C).breakLease();
    assert.equal((await file.getProperties()).leaseState, 'broken');
    await file.delete();
});
