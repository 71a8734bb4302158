// What a move leaves as it was (permissions, versions, soft-deleted blobs and containers, share snapshots, page ranges, tags, access
// policies), and requests that are in progress when their container is moved (copies, batches, SMB). docs/cells.md; decision: 1130, 1133
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BlobServiceClient, ContainerClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { ShareServiceClient, StorageSharedKeyCredential as ShareCredential } from '@azure/storage-file-share';
import { startCells } from '../lib/cells.mjs';
import { run } from '../lib/program.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { SmbClient } from '../smb/smb_client.mjs';

const MIB = 2 ** 20;
const { account, key } = DEVELOPMENT;
const PROPERTIES = '<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>3</Days></DeleteRetentionPolicy>' +
    '<ContainerDeleteRetentionPolicy><Enabled>true</Enabled><Days>3</Days></ContainerDeleteRetentionPolicy><IsVersioningEnabled>true</IsVersioningEnabled></StorageServiceProperties>';
const SDDL = 'O:S-1-5-21-2127521184-1604012920-1887927527-21560751G:S-1-5-21-2127521184-1604012920-1887927527-513D:AI(A;;FA;;;SY)(A;;0x1200a9;;;S-1-5-21-397955417-626881126-188441444-3053964)';

let cluster, owners, place;
const endings = [];
before(async () => {
    ({ cluster, owners, place } = await startCells({ after: (end) => endings.push(end) }, { cells: 3, smb: true }));
    await place(2); // new containers are created in cell 2
});
after(async () => {
    for (const end of endings.reverse())
        await end();
});

const once = { retryOptions: { maxTries: 1 } };
const blobsAt = (member) => new BlobServiceClient(`http://127.0.0.1:${member.ports.blob}/${account}`, new StorageSharedKeyCredential(account, key), once);
const sharesAt = (member) => new ShareServiceClient(`http://127.0.0.1:${member.ports.file}/${account}`, new ShareCredential(account, key), once);
const start = (kind, name, cell) => run(['cluster', 'move', cluster, account, kind, name, `${cell}`]);
async function move(kind, name, cell) {
    const { code, errors } = await start(kind, name, cell);
    assert.equal(code, 0, errors);
}
const put = (member, path, text) => member.ask('PUT', path, { headers: [['x-ms-blob-type', 'BlockBlob']], body: Buffer.from(text) });

/** Has the thread of the source stop at this gate of a move: `step`, it is copied; `stepped`, writes to it are refused. */
async function stopAt(source, gate, kind, name, cell) {
    await source.control(`job/${gate}`);
    const command = start(kind, name, cell);
    for (let i = 0; Number((await source.ask('GET', `/$lagra/job/${gate}`, { raw: true })).body.toString()) === 0; i++, await delay(20))
        assert.ok(i < 500, 'the move does not get there');
    return { ends: async () => {
        await source.control('job/nowhere');
        const { code, errors } = await command;
        assert.equal(code, 0, errors);
    } };
}

const NOT_COMPARED = ['date', 'x-ms-request-id', 'x-ms-client-request-id', 'connection', 'retry-after'];
/** Responses to GET and HEAD requests, [service, target, headers, method], which a move must not change. */
async function seen(member, requests) {
    const all = [];
    for (const [service, target, headers = [], method = 'GET'] of requests) {
        const answer = await member.ask(method, target, { service, headers });
        all.push([target, answer.status, answer.headers.list.filter(([name]) => !NOT_COMPARED.includes(name.toLowerCase())), answer.body.toString('latin1').replaceAll(/http:\/\/[^/]+/g, '').replace(/RequestId:[^<]*/, '')]);
    }
    return all;
}
async function staysSame(kind, name, cells, requests) {
    const expected = await seen(owners[0], requests);
    for (const cell of cells) {
        await move(kind, name, cell);
        for (const member of owners)
            assert.deepEqual(await seen(member, requests), expected, `in cell ${cell}`);
    }
    return expected;
}
const page = (text) => encodeURIComponent(text);

test('versions and soft-deleted blobs, which can be restored in the new cell; a stored access policy; page ranges', async () => {
    const [one, , three] = owners;
    assert.equal((await one.ask('PUT', '/?restype=service&comp=properties', { body: Buffer.from(PROPERTIES) })).status, 202);
    await delay(1200); // every cell has a copy of the properties
    const container = blobsAt(one).getContainerClient('retained');
    await container.create();
    const blob = container.getBlockBlobClient('versions'), versions = [];
    for (const text of ['first', 'second', 'third'])
        versions.push((await blob.upload(text, text.length, { tags: { state: text } })).versionId);
    await container.getBlockBlobClient('deleted').upload('deleted', 7);
    await container.getBlockBlobClient('deleted').delete();
    await blob.withVersion(versions[0]).delete(); // it is soft-deleted
    const pages = container.getPageBlobClient('pages');
    await pages.create(4 * MIB);
    await pages.uploadPages(randomBytes(MIB), MIB, MIB);
    const { snapshot } = await pages.createSnapshot();
    await pages.uploadPages(randomBytes(4096), 2 * MIB - 4096, 4096);
    await pages.clearPages(MIB, 8192);
    await container.setAccessPolicy(undefined, [{ id: 'readers', accessPolicy: { permissions: 'rl', startsOn: new Date('2026-01-01'), expiresOn: new Date('2036-01-01') } }]);
    const expected = await staysSame('container', 'retained', [3, 1, 3], [
        ['blob', '/retained?restype=container&comp=list&include=versions,deleted,snapshots,tags,metadata'], ['blob', '/retained?restype=container&comp=acl'],
        ...versions.map((version) => ['blob', `/retained/versions?versionid=${page(version)}`]), ['blob', '/retained/deleted'],
        ['blob', '/retained/pages?comp=pagelist'], ['blob', `/retained/pages?comp=pagelist&prevsnapshot=${page(snapshot)}`], ['blob', `/retained/pages?comp=pagelist&snapshot=${page(snapshot)}`],
        ['blob', '/retained/pages'], ['blob', `/retained/pages?snapshot=${page(snapshot)}`], ['blob', '/?comp=blobs&where=state%3D%27third%27'], ['blob', '/retained?restype=container&comp=blobs&where=state%3D%27third%27'],
    ]);
    assert.match(expected[0][3], /<Deleted>true<\/Deleted>/);
    assert.deepEqual(expected.slice(2, 5).map(([, status, , text]) => [status, status === 200 ? text : '']), [[404, ''], [200, 'second'], [200, 'third']]);
    const there = blobsAt(three).getContainerClient('retained');
    await there.getBlockBlobClient('versions').undelete();
    assert.equal((await there.getBlockBlobClient('versions').withVersion(versions[0]).downloadToBuffer()).toString(), 'first');
    assert.notEqual((await there.getBlockBlobClient('versions').upload('fourth', 6)).versionId, versions[2]);
    const url = await there.generateSasUrl({ identifier: 'readers' });
    assert.equal((await new ContainerClient(url, undefined, once).getBlobClient('versions').downloadToBuffer()).toString(), 'fourth');
    await there.setAccessPolicy();
    await assert.rejects(new ContainerClient(url, undefined, once).getBlobClient('versions').downloadToBuffer(), { statusCode: 403 });
});

test('policies and legal holds, of a container and of versions: what is protected stays so in each cell', async () => {
    const [one] = owners;
    const protect = async (cell, ...words) => {
        const { code, errors } = await run(['container', 'protect', ...words, '--location', join(cluster, 'cells', `000${cell}`, 'data')]);
        assert.equal(code, 0, errors);
    };
    const refusal = async (method, path, headers) => (await one.ask(method, path, { headers, body: method === 'PUT' ? Buffer.from('x') : undefined })).headers.get('x-ms-error-code');
    const held = blobsAt(one).getContainerClient('held'), versions = blobsAt(one).getContainerClient('worm');
    await held.create();
    await held.getBlockBlobClient('b').upload('held', 4);
    await protect(1, 'held', 'policy', '--days', '3');
    await protect(1, 'held', 'lock');
    await protect(1, 'held', 'hold', '--tags', 'case1');
    await versions.create();
    await protect(1, 'worm', 'versions');
    const blob = versions.getBlockBlobClient('b');
    const { versionId } = await blob.upload('old', 3, { legalHold: true });
    await blob.upload('new', 3, { immutabilityPolicy: { expiriesOn: new Date(Date.now() + 9e8), policyMode: 'Locked' } });
    for (const [name, code] of [['held', 'BlobImmutableDueToLegalHold'], ['worm', 'BlobImmutableDueToPolicy']]) {
        await staysSame('container', name, [3, 1], [
            ['blob', `/${name}?restype=container`, [], 'HEAD'], ['blob', `/${name}?restype=container&comp=list&include=versions,immutabilitypolicy,legalhold`], ['blob', `/${name}/b`, [], 'HEAD'],
        ]);
        assert.equal(await refusal('DELETE', `/${name}/b`), code);
        assert.equal(await refusal('DELETE', `/${name}?restype=container`), name === 'held' ? 'ContainerHasLegalHold' : 'ContainerImmutableStorageWithVersioningEnabled');
    }
    assert.equal(await refusal('PUT', '/held/b', [['x-ms-blob-type', 'BlockBlob']]), 'BlobImmutableDueToLegalHold');
    await assert.rejects(blob.withVersion(versionId).delete(), { code: 'BlobImmutableDueToLegalHold' });
    await protect(3, 'held', 'release', '--tags', 'case1');
    assert.equal(await refusal('DELETE', '/held/b'), 'BlobImmutableDueToPolicy');
});

test('a container that was deleted and is retained: it moves with the container of its name, and can be restored after that is deleted', async () => {
    const [one, two] = owners;
    const container = blobsAt(one).getContainerClient('again');
    await container.create();
    await container.getBlockBlobClient('old').upload('old', 3);
    await container.delete();
    for (let i = 0; (await one.ask('PUT', '/again?restype=container')).status !== 201; i++, await delay(1000))
        assert.ok(i < 60, 'the name is not free'); // 30 s after its deletion
    await container.getBlockBlobClient('new').upload('new', 3);
    await staysSame('container', 'again', [3, 1], [['blob', '/?comp=list&include=deleted&prefix=again'], ['blob', '/again?restype=container&comp=list']]);
    const [gone] = await (async () => {
        const all = [];
        for await (const item of blobsAt(two).listContainers({ includeDeleted: true, prefix: 'again' }))
            if (item.deleted)
                all.push(item);
        return all;
    })();
    await container.delete();
    for (let i = 0; ; i++, await delay(1000)) {
        const answer = await two.ask('PUT', '/again?restype=container&comp=undelete', { headers: [['x-ms-deleted-container-name', 'again'], ['x-ms-deleted-container-version', gone.version]] });
        if (answer.status === 201)
            break;
        assert.ok(i < 40 && answer.status === 409, `${answer.status} ${answer.body}`);
    }
    assert.equal((await two.ask('GET', '/again/old')).body.toString(), 'old');
});

test('a share: security descriptors, attributes, times, snapshots with their files', async () => {
    const [one, two] = owners;
    const share = sharesAt(one).getShareClient('described');
    await share.create({ metadata: { of: 'share' } });
    const directory = share.getDirectoryClient('d'), file = directory.getFileClient('f');
    await directory.create({ filePermission: SDDL, creationTime: new Date('2020-01-01'), lastWriteTime: new Date('2021-01-01') });
    await file.create(100_000, { filePermission: SDDL.replace('FA', 'FR'), fileAttributes: { toString: () => 'ReadOnly|Hidden' }, metadata: { of: 'file' }, fileHttpHeaders: { fileContentType: 'x/y' } });
    const { filePermissionKey } = await file.getProperties();
    await directory.getFileClient('g').uploadData(Buffer.from('before'));
    const { snapshot } = await share.createSnapshot();
    await directory.getFileClient('g').uploadData(Buffer.from('after the snapshot'));
    await directory.getFileClient('late').create(1);
    await staysSame('share', 'described', [3, 1, 3], [
        ['file', '/described?restype=share'], ['file', '/described/d?restype=directory', [], 'HEAD'], ['file', '/described/d/f', [], 'HEAD'], ['file', '/described/d/f'], ['file', '/described/d/g'],
        ['file', '/described/d?restype=directory&comp=list&include=timestamps,etag,attributes,permissionkey'], ['file', `/described/d?restype=directory&comp=list&sharesnapshot=${page(snapshot)}`],
        ['file', `/described/d/g?sharesnapshot=${page(snapshot)}`], ['file', `/described/d/late?sharesnapshot=${page(snapshot)}`], ['file', '/?comp=list&include=snapshots,metadata'],
        ['file', '/described?restype=share&comp=filepermission', [['x-ms-file-permission-key', filePermissionKey]]],
    ]);
    assert.equal((await sharesAt(two).getShareClient('described').getPermission(filePermissionKey)).permission.slice(0, SDDL.length), SDDL.replace('FA', 'FR'));
});

for (const [what, from, to] of [['into', 'copies-aside', 'copies-moved'], ['out of', 'copies-moved', 'copies-aside']])
    test(`pending copies ${what} a container that is moved: each ends with all bytes, or failed, or starts again`, async (t) => {
        const [one, two] = owners;
        const moved = `${'copies-moved'}${what.slice(0, 2).trim()}`, aside = `copies-aside${what.slice(0, 2).trim()}`;
        const nameOf = (name) => (name === 'copies-moved' ? moved : aside);
        for (const name of [moved, aside])
            assert.equal((await one.ask('PUT', `/${name}?restype=container`)).status, 201);
        const bytes = randomBytes(24 * MIB);
        await blobsAt(two).getContainerClient(nameOf(from)).getBlockBlobClient('source').uploadData(bytes, { blockSize: 4 * MIB, maxSingleShotSize: MIB });
        const states = [];
        for (const [gate, cell, source] of [['begun', 3, owners[1]], ['step', 1, owners[2]], ['stepped', 2, owners[0]]]) {
            const gated = await stopAt(source, gate, 'container', moved, cell);
            const started = [];
            for (let i = 0; i < 3; i++) {
                const target = blobsAt(owners[i]).getContainerClient(nameOf(to)).getBlobClient(`target-${gate}-${i}`);
                started.push(target);
                await target.beginCopyFromURL(blobsAt(owners[i]).getContainerClient(nameOf(from)).getBlobClient('source').url, { intervalInMs: 50 })
                    .catch((error) => assert.ok(error.statusCode === 503, `${error.statusCode} ${error.code}`));
            }
            await gated.ends();
            for (const target of started)
                for (let i = 0; ; i++, await delay(100)) {
                    const state = await target.getProperties().then(({ copyStatus }) => copyStatus, ({ statusCode }) => statusCode);
                    if (state === 'pending' && i < 600)
                        continue;
                    states.push(state);
                    if (state === 'success')
                        assert.ok((await target.downloadToBuffer()).equals(bytes));
                    else
                        assert.ok(state === 'failed' || state === 404, `${state}`);
                    break;
                }
        }
        t.diagnostic(states.join(' '));
        assert.ok(states.includes('success'));
    });

test('batches while their container is moved: a part that succeeded is done, one that failed is not', async (t) => {
    const [, two, three] = owners;
    assert.equal((await two.ask('PUT', '/batches?restype=container')).status, 201);
    const name = (n, i) => `b${n}-${i}`;
    const counts = { done: 0, refused: 0, lost: 0 };
    let ends = false, n = 0;
    const client = (async () => {
        const { BlobBatch } = await import('@azure/storage-blob');
        for (; !ends || n < 3; n++) {
            const container = blobsAt(owners[n % 3]).getContainerClient('batches'), batch = new BlobBatch(), parts = [];
            for (let i = 0; i < 5; i++)
                if ((await put(owners[(n + i) % 3], `/batches/${name(n, i)}`, 'x')).status === 201)
                    parts.push(name(n, i));
            if (parts.length === 0)
                continue;
            for (const part of parts)
                await batch.deleteBlob(container.getBlobClient(part));
            const answer = await container.getBlobBatchClient().submitBatch(batch).catch((error) => error);
            if (!answer.subResponses) {
                assert.equal(answer.statusCode, 503, `${answer}`);
                counts.lost++;
                continue;
            }
            for (const [i, part] of parts.entries()) {
                const { status } = answer.subResponses[i];
                assert.ok(status === 202 || status === 503, `${status} ${answer.subResponses[i].bodyAsText}`);
                counts[status === 202 ? 'done' : 'refused']++;
                let read;
                while ((read = await three.ask('GET', `/batches/${part}`)).status === 503)
                    await delay(20);
                assert.equal(read.status, status === 202 ? 404 : 200, `${part} after ${status}`);
            }
        }
    })();
    for (const cell of [3, 1, 2])
        await move('container', 'batches', cell);
    const gated = await stopAt(two, 'stepped', 'container', 'batches', 3);
    const before = n;
    for (let i = 0; n < before + 2 && i < 100; i++)
        await delay(50);
    await gated.ends();
    ends = true;
    await client;
    t.diagnostic(JSON.stringify(counts));
    assert.ok(counts.done > 0);
});

test('SMB: nothing acknowledged is lost; handles end with the move, and clients open the file at the new owner', async (t) => {
    const [, two, three] = owners;
    const share = sharesAt(two).getShareClient('connected');
    await share.create();
    await share.rootDirectoryClient.getFileClient('f').create(MIB);
    const smb = await SmbClient.start(two.ports.smb, 'connected');
    t.after(() => smb.stop());
    await smb.open('f', 'f', { access: 'RW', caching: 'RWH', key: 'one' });
    const statuses = new Map();
    const acknowledged = [];
    let ends = false;
    const writer = (async () => {
        for (let n = 0; !ends; n++) {
            const { status } = await smb.do('write', { name: 'f', offset: 8 * (n % 1000), text: String(n).padStart(8) });
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            if (status === '00000000')
                acknowledged[n % 1000] = n;
        }
    })();
    await delay(300);
    const before = acknowledged.length;
    const gated = await stopAt(two, 'step', 'share', 'connected', 3);
    for (let i = 0; acknowledged.length === before && i < 100; i++)
        await delay(20);
    assert.ok(acknowledged.length > before || acknowledged.length === 1000); // it is copied while the client writes
    await gated.ends();
    await delay(300);
    ends = true;
    await writer;
    t.diagnostic(JSON.stringify([...statuses]));
    const last = await smb.do('write', { name: 'f', offset: 0, text: 'too late' });
    assert.notEqual(last.status, '00000000');
    const opened = await smb.tryOpen('again', 'f', { access: 'RW' });
    assert.notEqual(opened.status, '00000000');
    await smb.stop();
    const other = await SmbClient.start(three.ports.smb, 'connected');
    t.after(() => other.stop());
    await other.open('f', 'f', { access: 'RW', share: '' }); // the old handle is in nobody's way
    for (const [slot, n] of acknowledged.entries())
        if (n !== undefined) {
            const { text } = await other.must('read', { name: 'f', offset: 8 * slot, length: 8 });
            assert.ok(Number(text) >= n, `${slot}: ${text} after ${n}`);
        }
    await other.must('write', { name: 'f', offset: 0, text: 'later on' });
    await other.must('close', { name: 'f' });
    assert.equal((await share.rootDirectoryClient.getFileClient('f').downloadToBuffer(0, 8)).toString(), 'later on');
});
