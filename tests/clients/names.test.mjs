// Names of blobs and metadata: what can be said comes back as it was said.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sign } from '../lib/sign.mjs';
import { raw, rawRefused } from './raw.mjs';
import { account, collect, newBlob, newContainer, refused, service } from './setup.mjs';

const NAMES = [
    'plain', 'with space', ' leading', 'per%cent', '%41', '100%', 'a/b/c', 'a//b', '/leading',
    'trailing/',
    'q?mark', 'hash#', 'plus+plus', 'amp&amp', 'semi;colon', 'eq=', 'at@', 'quote"', "apo'",
    '<tag>',
    'colon:', 'pipe|', 'star*', '{brace}', '[bracket]', 'caret^', 'tilde~', '`tick`',
    '...dots', 'a.b.c', '.hidden', '..a/.b', 'ümläut', '中文/文件', 'Ελληνικά', 'עברית', '𝄞🎼', 'e\u0301',
    '\u00e9',
    'UPPER', 'upper', 'a'.repeat(1024), '€'.repeat(1024), 's/'.repeat(253) + 's',
];

test('every name is written, read, listed and deleted under itself', async (t) => {
    // rest: Naming-and-Referencing-Containers--Blobs--and-Metadata
    const container = await newContainer(t);
    for (const name of NAMES)
        await container.getBlockBlobClient(name).upload(name, Buffer.byteLength(name));
    for (const name of NAMES)
        assert.equal((await container.getBlobClient(name).downloadToBuffer()).toString(), name);
    const listed = (await collect(container.listBlobsFlat())).map(({ name }) => name);
    const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    assert.deepEqual(listed, [...NAMES].sort(byBytes));
    for (const name of NAMES)
        assert.deepEqual((await collect(container.listBlobsFlat({ prefix: name })))
            .map((item) => item.name).sort(byBytes),
        NAMES.filter((other) => other.startsWith(name)).sort(byBytes), name);
    for (const name of NAMES)
        await container.getBlobClient(name).delete();
    assert.deepEqual(await collect(container.listBlobsFlat()), []);
});

test('percent-encoding that is not needed means the same name', async (t) => {
    // rfc: 3986 2.3
    const { container } = await newBlob(t);
    const path = `/${container.containerName}`;
    for (const name of ['%62lob', 'bl%6fb', 'bl%6Fb', '%62%6c%6f%62'])
        assert.equal((await raw('GET', `${path}/${name}`)).text, 'content', name);
});

test('names that there cannot be are refused', async (t) => {
    // semantics 10.1
    const container = await newContainer(t);
    const path = `/${container.containerName}`;
    const put = (name) => raw('PUT', `${path}/${name}`, { 'x-ms-blob-type': 'BlockBlob' });
    await refused(container.getBlockBlobClient('a'.repeat(1025)).upload('', 0), 400,
        'OutOfRangeInput');
    assert.equal((await put('s/'.repeat(254) + 's')).status, 400);
    await rawRefused(put('%FF'), 400, 'InvalidUri');
    await rawRefused(put('a%00b'), 400, 'InvalidUri');
    await rawRefused(put('a%01b'), 400, 'InvalidUri');
    await rawRefused(put('a%0Ab'), 400, 'InvalidUri');
    assert.deepEqual(await collect(container.listBlobsFlat()), []);
});

test('metadata: names keep their case on the wire, values are trimmed', async (t) => {
    // rest: Setting-and-Retrieving-Properties-and-Metadata-for-Blob-Resources
    const { container } = await newBlob(t);
    const path = `/${container.containerName}/blob`;
    const set = await raw('PUT', `${path}?comp=metadata`, {
        'X-Ms-Meta-CamelCase': 'one', 'x-ms-meta-_Under9': ' two words ', 'x-ms-meta-z': 'a=b; c',
    });
    assert.equal(set.status, 200, set.text);
    const got = await raw('GET', path);
    const names =
        got.headers.list.map(([name]) => name).filter((name) => /^x-ms-meta-/i.test(name));
    assert.deepEqual(names.map((name) => name.slice(10)).sort(), ['CamelCase', '_Under9', 'z']);
    assert.equal(got.headers.get('x-ms-meta-_under9'), 'two words');
    const [listed] = await collect(container.listBlobsFlat({ includeMetadata: true }));
    assert.deepEqual(Object.keys(listed.metadata).sort(), ['CamelCase', '_Under9', 'z']);
    // A header that is sent twice is signed as one, its values joined.
    const target = `/${account.name}${path}?comp=metadata`;
    const { headers } = sign({ method: 'PUT', target, headers: [['x-ms-meta-a', '1,2']] });
    const twice = { ...Object.fromEntries(headers), 'x-ms-meta-a': '1', 'X-MS-META-A': '2' };
    await rawRefused(raw('PUT', '', twice, '', { target, signed: false }), 400, 'InvalidMetadata');
    await rawRefused(raw('PUT', `${path}?comp=metadata`, { 'x-ms-meta-': '1' }), 400,
        'EmptyMetadataKey');
});

test('$root is a container as any other; its blobs are named without it, too', async (t) => {
    // rest: Working-with-the-Root-Container. The only test that makes it: all share the account.
    const root = service.getContainerClient('$root');
    await root.create();
    t.after(() => root.deleteIfExists());
    assert.equal(await root.exists(), true);
    const put = await raw('PUT', '/in-root', { 'x-ms-blob-type': 'BlockBlob' }, 'content');
    assert.equal(put.status, 201, put.text);
    assert.equal((await raw('GET', '/in-root')).text, 'content');
    assert.equal((await raw('GET', '/$root/in-root')).text, 'content');
    assert.deepEqual((await collect(root.listBlobsFlat())).map(({ name }) => name), ['in-root']);
    await root.delete();
    assert.equal(await root.exists(), false);
});

test('getAccessControl is 400: so Hadoop\'s driver learns that names have no hierarchy', async (t) => {
    // Its AzureBlobFileSystemStore takes 400 of the root's ACL as "flat"; any other failure ends the mount.
    const path = `/${(await newContainer(t)).containerName}`;
    assert.equal((await raw('HEAD', `${path}/?upn=false&action=getAccessControl&timeout=90`)).status, 400);
});
