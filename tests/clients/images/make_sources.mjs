// Makes the image of a data folder whose blobs have properties that cannot be sent back, as versions
// before decision 241 took them from sources of copies:
//
//   tools/node tests/clients/images/make_sources.mjs BINARY FOLDER
//   tar --sparse --exclude=LOG* --exclude=OPTIONS* -C FOLDER -cJf tests/clients/images/sources-v1.tar.xz .
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '../../lib/server.mjs';
import { DEVELOPMENT } from '../../lib/sign.mjs';
import { rawSource } from '../../lib/source.mjs';

const [binary, location] = process.argv.slice(2);
const server = await Server.start({ binary, location, args: ['--allowCopyFrom', '127.0.0.1'] });
const container = new BlobServiceClient(server.url, new StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key),
    { retryOptions: { maxTries: 1 } }).getContainerClient('box');
const ends = [];
const headers = 'Content-Length: 5\r\nContent-Language: fine\r\nx-ms-meta-k: v\r\nETag: "1"\r\n';
const good = `HTTP/1.1 200 OK\r\n${headers}\r\nhello`;
const gone = (code) => `HTTP/1.1 404 x\r\nx-ms-error-code: ${code}\r\nContent-Length: 0\r\n\r\n`;
const failing = { '/c-described': ['a\x01b'], '/c-long': ['x'.repeat(40000)] };
const source = await rawSource({ after: (end) => ends.push(end) }, {
    '/control': `HTTP/1.1 200 OK\r\nContent-Type: text/\x01x\r\n${headers}\r\nhello`,
    '/long': `HTTP/1.1 200 OK\r\nCache-Control: ${'x'.repeat(40000)}\r\n${headers}\r\nhello`,
    ...Object.fromEntries(Object.entries(failing).map(([path, codes]) =>
        [path, (_, head) => (codes.asked ? gone(codes[0]) : (codes.asked = head, good))])),
});

await container.create();
for (const name of ['control', 'long'])
    await container.getBlockBlobClient(name).syncUploadFromURL(`${source.url}/${name}`);
for (const path of Object.keys(failing))
    await container.getBlockBlobClient(path.slice(1)).beginCopyFromURL(`${source.url}${path}`);
await delay(3000); // the copies have failed
await server.stop();
ends.forEach((end) => end());
