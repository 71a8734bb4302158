// List Directories and Files through the official SDK (rest: List-Directories-and-Files; semantics 8.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rawRefused } from './raw.mjs';
import { refused } from './setup.mjs';
import { newShare, rawFile } from './shares-setup.mjs';

const names = async (directory, options) => {
    const all = [];
    for await (const item of directory.listFilesAndDirectories(options))
        all.push(item.name);
    return all;
};

test('directories and files in one order, without regard to case, with lengths and ids', async (t) => {
    const share = await newShare(t);
    const root = share.rootDirectoryClient;
    assert.deepEqual(await names(root), []);
    await root.createFile('b', 12);
    const { directoryClient: inner, directoryCreateResponse } = await root.createSubdirectory('C');
    await root.createFile('A', 0);
    await root.createSubdirectory('d');
    await inner.createFile('hidden', 1);
    const all = [];
    for await (const item of root.listFilesAndDirectories())
        all.push([item.kind, item.name, item.properties?.contentLength]);
    assert.deepEqual(all, [['file', 'A', 0], ['file', 'b', 12], ['directory', 'C', undefined], ['directory', 'd', undefined]]);
    const { text } = await rawFile('GET', `/${share.name}/C?restype=directory&comp=list`);
    assert.match(text, new RegExp(`ShareName="${share.name}" DirectoryPath="C"><DirectoryId>${directoryCreateResponse.fileId}</DirectoryId>` +
        '<Entries><File><Name>hidden</Name><FileId>[0-9]+</FileId><Properties><Content-Length>1</Content-Length></Properties></File></Entries><NextMarker />'));
    const old = await rawFile('GET', `/${share.name}?restype=directory&comp=list`, {}, '', { version: '2019-02-02' });
    assert.doesNotMatch(old.text, /FileId|DirectoryId/);
    assert.match(old.text, /<Directory><Name>C<\/Name><Properties \/><\/Directory>/);
    await refused(names(root.getDirectoryClient('b')), 404, 'ResourceNotFound');
    await refused(names(root.getDirectoryClient('x')), 404, 'ResourceNotFound');
});

test('what is included: times, ETag, attributes, permission key', async (t) => {
    const share = await newShare(t);
    const root = share.rootDirectoryClient;
    const { fileClient } = await root.createFile('f', 3);
    const { directoryClient } = await root.createSubdirectory('g');
    const shown = [await fileClient.getProperties(), await directoryClient.getProperties()];
    const page = (await root.listFilesAndDirectories({
        includeTimestamps: true, includeEtag: true, includeAttributes: true, includePermissionKey: true,
    }).byPage().next()).value.segment;
    for (const [i, item] of [page.fileItems[0], page.directoryItems[0]].entries()) {
        assert.deepEqual([item.properties.etag, item.attributes, item.permissionKey, item.fileId],
            [shown[i].etag, shown[i].fileAttributes, shown[i].filePermissionKey, shown[i].fileId]);
        for (const [name, other] of [['creationTime', 'fileCreatedOn'], ['lastWriteTime', 'fileLastWriteOn'],
            ['changeTime', 'fileChangeOn'], ['lastModified', 'lastModified']])
            assert.equal(item.properties[name].getTime(), shown[i][other].getTime(), name);
    }
    const only = await rawFile('GET', `/${share.name}?restype=directory&comp=list&include=Attributes`, { 'x-ms-file-extended-info': 'true' });
    assert.match(only.text, /<Properties \/><Attributes>Directory<\/Attributes><\/Directory>/);
    await rawRefused(rawFile('GET', `/${share.name}?restype=directory&comp=list&include=Everything`), 400, 'InvalidQueryParameterValue');
});

test('pages: prefix without regard to case, maxresults, markers as recorded (decision: 333)', async (t) => {
    const share = await newShare(t);
    const root = share.rootDirectoryClient;
    const all = ['file0', 'File1', 'file2', 'file~~~?', 'file\u00e4\u00f6\u20ac', 'g'].map((name) => name.replace('?', '-'));
    for (const name of all)
        await root.createFile(name, 1);
    assert.deepEqual(await names(root, { prefix: 'FILE' }), all.slice(0, 5));
    const pages = [];
    for await (const { segment } of root.listFilesAndDirectories().byPage({ maxPageSize: 2 }))
        pages.push(segment.fileItems.map(({ name }) => name));
    assert.deepEqual(pages, [all.slice(0, 2), all.slice(2, 4), all.slice(4)]);
    const list = (query) => rawFile('GET', `/${share.name}?restype=directory&comp=list${query}`);
    const first = await list('&maxresults=2');
    assert.match(first.text, /<MaxResults>2<\/MaxResults>.*<NextMarker>1!8!ZmlsZTI-<\/NextMarker>/);
    await root.deleteFile('file2');
    const second = await list('&maxresults=1&marker=1!8!ZmlsZTI-');
    assert.match(second.text, /<Marker>1!8!ZmlsZTI-<\/Marker>.*<Name>file~~~-<\/Name>/);
    for (const marker of ['x', '1!8!', '1!9!ZmlsZTI-', '2!8!ZmlsZTI-', '1!4!____', '1!8!ZmlsZT==', '1!8!ZmlsZT$-', '1!1000000!Zg--', '!!'])
        await rawRefused(list(`&marker=${encodeURIComponent(marker)}`), 400, 'InvalidQueryParameterValue');
    await rawRefused(list('&maxresults=0'), 400, 'OutOfRangeQueryParameterValue');
});
