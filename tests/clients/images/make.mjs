// Makes the image of a data folder of the version of a program (a gates build):
//
//   tools/node tests/clients/images/make.mjs BINARY FOLDER
//   tar --sparse --exclude=LOG* --exclude=OPTIONS* -C FOLDER -cJf tests/clients/images/vN.tar.xz .
//
// The clock of that program is twenty years ahead, so that nothing in the folder expires before it
// is read. It ends without an orderly stop: a part of the records is only in the log.
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { Control, Server } from '../../lib/server.mjs';
import { DEVELOPMENT } from '../../lib/sign.mjs';
import * as image from './contents.mjs';

const AHEAD_SECONDS = 20 * 365 * 86400;

const [binary, location] = process.argv.slice(2);
const server = await Server.start({ binary, location });
const control = new Control(server);
await control.clock(AHEAD_SECONDS);
control.close();
// Requests are dated by the server's clock.
const RealDate = Date;
globalThis.Date = class extends RealDate {
    constructor(...given) {
        super(...(given.length > 0 ? given : [RealDate.now() + 1000 * AHEAD_SECONDS]));
    }
};

const service = new BlobServiceClient(server.url,
    new StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key), { retryOptions: { maxTries: 1 } });
const container = service.getContainerClient(image.CONTAINER);
const blob = (name) => container.getBlockBlobClient(name);
const stage = async (name, all, which = all.keys()) => {
    for (const n of which)
        await blob(name).stageBlock(image.blockId(n), all[n], all[n].length);
};

await container.create();
await blob('inlined').upload(image.inlined, image.inlined.length);
await blob('staged').upload(image.staged, image.staged.length);
await blob('large').upload(image.large, image.large.length);
await blob('large').createSnapshot();
await stage('many', image.many);
await blob('many').commitBlockList(image.many.map((_, n) => image.blockId(n)));
await blob('many').createSnapshot();
await blob('many').createSnapshot();

await stage('shared', image.shared);
for (const state of image.sharedStates) {
    await blob('shared').commitBlockList(state.map(image.blockId));
    await blob('shared').createSnapshot();
    await stage('shared', image.shared, [3, 4]);
}
await stage('waiting', image.waiting);
await blob('inlined-waiting').upload(image.inlined, image.inlined.length);
await stage('inlined-waiting', image.waiting);
await server.kill();
