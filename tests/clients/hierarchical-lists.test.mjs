// List Blobs of hierarchical accounts: only files or only directories, with owners, permissions and lists, and the
// properties of directories in a list by delimiter. rest: List-Blobs "showonly", "permissions", "Placeholder";
// decisions: 1370, 1371
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { Server } from '../lib/server.mjs';
import { raw, rawRefused } from './raw.mjs';
import { account, containerName, once } from './setup.mjs';

let server, service;

before(async () => {
    server = await Server.start({ args: ['--hierarchical'] });
    service = new BlobServiceClient(`http://${server.host}:${server.port}/${account.name}`, new StorageSharedKeyCredential(account.name, account.key), once);
    await service.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
});
after(async () => {
    await server.kill();
    await server.remove();
});

/** A container with these files, and its lists by hand. */
async function newContainer(t, files) {
    const container = service.getContainerClient(containerName());
    await container.create();
    t.after(() => container.delete().catch(() => {}));
    for (const name of files)
        await container.uploadBlockBlob(name, name, name.length);
    const list = (query, { headers = {}, version } = {}) =>
        raw('GET', `/${container.containerName}?restype=container&comp=list${query}`, headers, '', { base: server, ...(version ? { version } : {}) });
    const names = async (query) => {
        const answer = await list(query);
        assert.equal(answer.status, 200, answer.text);
        return [...answer.text.matchAll(/<(Blob|BlobPrefix)><Name>(.*?)<\/Name>(<DeletionId>)?/g)]
            .map(([, kind, name, id]) => (kind === 'Blob' ? `${id ? '-' : ''}${name}` : `[${name}]`)).join(' ');
    };
    const pages = async (query) => {
        const parts = [];
        for (let marker = ''; marker !== undefined;) {
            parts.push(await names(`${query}&maxresults=1${marker && `&marker=${marker}`}`));
            marker = /<NextMarker>(.+?)<\/NextMarker>/.exec((await list(`${query}&maxresults=1${marker && `&marker=${marker}`}`)).text)?.[1];
        }
        return parts.filter((part) => part !== '').join(' ');
    };
    return { container, list, names, pages };
}

test('showonly lists files or directories, whole and by delimiter, in pages', async (t) => {
    const { container, names, pages, list } = await newContainer(t, ['a/b/c', 'a/x', 'a-b', 'd/e', 'z']);
    const blob = container.getBlobClient('a/x');
    await blob.createSnapshot();
    await container.getBlockBlobClient('u').stageBlock('AAAA', 'x', 1);
    const expected = {
        '&showonly=files': 'a/b/c a/x a-b d/e z',
        '&showonly=FILES&include=metadata,tags,copy,versions': 'a/b/c a/x a-b d/e z',
        '&showonly=files&include=snapshots': 'a/b/c a/x a/x a-b d/e z',
        '&showonly=files&include=uncommittedblobs': 'a/b/c a/x a-b d/e u z',
        '&showonly=directories': 'a a/b d',
        '&showonly=directories&include=snapshots,uncommittedblobs': 'a a/b d',
        '&showonly=files&delimiter=/': 'a-b z',
        '&showonly=directories&delimiter=/': '[a/] [d/]',
        '&showonly=files&delimiter=/&prefix=a/': 'a/x',
        '&showonly=directories&delimiter=/&prefix=a/': '[a/b/]',
        '&showonly=files&delimiter=b': '[a/b] a/x [a-b] d/e z',
        '&showonly=directories&delimiter=b': 'a [a/b] d',
        '&showonly=files&prefix=a/b': 'a/b/c',
        '&showonly=directories&startFrom=a/b': 'a/b d',
    };
    for (const [query, shown] of Object.entries(expected)) {
        assert.equal(await names(query), shown, query);
        assert.equal(await pages(query), shown, query);
    }
    for (const query of ['&showonly=', '&showonly=other', '&showonly=files,directories', '&showonly=deleted&include=deleted'])
        await rawRefused(list(query), 400, 'InvalidQueryParameterValue');
});

test('showonly applies to deleted paths that are included', async (t) => {
    const { container, names } = await newContainer(t, ['a/b', 'c/d', 'e', 'f', 'g/h']);
    for (const path of ['a/b', 'a', 'e', 'g/h'])
        await container.getBlobClient(path).delete();
    assert.equal(await names('&include=deleted'), '-a -a/b c c/d -e f g -g/h');
    assert.equal(await names('&include=deleted&showonly=files'), '-a/b c/d -e f -g/h');
    assert.equal(await names('&include=deleted&showonly=directories'), '-a c g');
    assert.equal(await names('&include=deleted&showonly=files&delimiter=/'), '-e f');
    assert.equal(await names('&include=deleted&showonly=directories&delimiter=/'), '[a/] [c/] [g/]');
});

test('owner, group, permissions and list are included on request', async (t) => {
    const { container, list } = await newContainer(t, ['a/b']);
    const dfs = (path, headers) => raw('PATCH', `/${container.containerName}/${path}?action=setAccessControl`, headers, '', { base: { host: server.host, port: server.ports.dfs } });
    assert.equal((await dfs('a', { 'x-ms-acl': 'user::rwx,user:u1:r-x,group::r--,mask::r-x,other::---,default:user::rwx,default:group::---,default:other::---' })).status, 200);
    assert.equal((await dfs('a/b', { 'x-ms-owner': 'me', 'x-ms-group': 'us' })).status, 200);
    const shown = ({ text }) => [...text.matchAll(/<Etag>0x\w+<\/Etag>(.*?)<Content-Length>/g)].map(([, part]) => part);
    assert.deepEqual(shown(await list('&include=permissions', { headers: { 'x-ms-upn': 'true' } })), [
        '<Owner>$superuser</Owner><Group>$superuser</Group><Permissions>rwxr-x---+</Permissions>' +
        '<Acl>user::rwx,user:u1:r-x,group::r--,mask::r-x,other::---,default:user::rwx,default:group::---,default:other::---</Acl><ResourceType>directory</ResourceType>',
        '<Owner>me</Owner><Group>us</Group><Permissions>rw-r-----</Permissions><Acl>user::rw-,group::r--,other::---</Acl><ResourceType>file</ResourceType>',
    ]);
    assert.deepEqual(shown(await list('')), ['<ResourceType>directory</ResourceType>', '<ResourceType>file</ResourceType>']);
    assert.match((await list('&include=permissions&delimiter=/')).text, /<BlobPrefix><Name>a\/<\/Name><Properties>.*<Owner>\$superuser<\/Owner>.*<\/Properties><\/BlobPrefix>/);
    await container.getBlobClient('a/b').delete();
    assert.match(shown(await list('&include=permissions&showonly=deleted'))[0], /^<Owner>me<\/Owner><Group>us<\/Group>/);
    await rawRefused(list('&include=permissions', { headers: { 'x-ms-upn': 'yes' } }), 400, 'InvalidHeaderValue');
});

test('a list by delimiter has the properties of directories since 2020-06-12, and placeholders since 2021-06-08', async (t) => {
    const { container, list } = await newContainer(t, ['a/b', 'c/d', 'e/f']);
    const entries = async (query, version) => [...(await list(`${query}&delimiter=/`, { version })).text.matchAll(/<BlobPrefix>(.*?)<\/BlobPrefix>/g)]
        .map(([, entry]) => entry.replace(/(\w\w\w, [^<]*? GMT|0x\w+)/g, '*'));
    const directory = '<Properties><Creation-Time>*</Creation-Time><Last-Modified>*</Last-Modified><Etag>*</Etag><ResourceType>directory</ResourceType>' +
        '<Content-Length>0</Content-Length><Content-Type>application/octet-stream</Content-Type><Content-Encoding /><Content-Language />' +
        '<Content-CRC64>AAAAAAAAAAA=</Content-CRC64><Content-MD5 /><Cache-Control /><Content-Disposition /><BlobType>BlockBlob</BlobType>' +
        '<AccessTier>Hot</AccessTier><AccessTierInferred>true</AccessTierInferred><LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>' +
        '<ServerEncrypted>true</ServerEncrypted></Properties>';
    assert.deepEqual(await entries('', '2021-06-08'), ['a/', 'c/', 'e/'].map((name) => `<Name>${name}</Name>${directory}`));
    assert.deepEqual((await entries('', '2020-06-12'))[0], `<Name>a/</Name>${directory.replace('<ResourceType>directory</ResourceType>', '')}`);
    assert.deepEqual(await entries('', '2020-06-11'), ['<Name>a/</Name>', '<Name>c/</Name>', '<Name>e/</Name>']);

    for (const path of ['a/b', 'c/d', 'c'])
        await container.getBlobClient(path).delete();
    const placeholder = '<Properties><ResourceType>directory</ResourceType><Placeholder>true</Placeholder></Properties>';
    const [a, c, ...others] = await entries('&showonly=deleted', '2021-06-08');
    assert.deepEqual([a, others], [`<Name>a/</Name>${placeholder}`, []]);
    assert.match(c, /^<Name>c\/<\/Name><Properties>.*<ResourceType>directory<\/ResourceType>.*<DeletedTime>\*<\/DeletedTime><RemainingRetentionDays>6<\/RemainingRetentionDays><\/Properties>$/);
    assert.deepEqual((await entries('&showonly=deleted', '2021-06-07'))[0], '<Name>a/</Name>');
    // With include=deleted, a directory that exists is shown as it is, although there is a deleted one of its name.
    await container.uploadBlockBlob('c/new', 'x', 1);
    const all = await entries('&include=deleted', '2021-06-08');
    assert.deepEqual(all, ['a/', 'c/', 'e/'].map((name) => `<Name>${name}</Name>${directory}`));
});
