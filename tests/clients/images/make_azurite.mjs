// Fills a server of Azurite for azurite-VERSION.tar.xz: make_azurite.mjs BLOB-PORT QUEUE-PORT [TABLE-PORT]. Start it with --location
// on an empty folder and --skipApiVersionCheck, stop it some seconds afterwards, and pack the folder without AzuriteConfig.
// What a version does not have (tags, tables) is left out.
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { AzureNamedKeyCredential, TableClient, TableServiceClient } from '@azure/data-tables';

const account = 'devstoreaccount1';
const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
const [blobPort, queuePort, tablePort] = process.argv.slice(2);
const urlOf = (port) => `http://127.0.0.1:${port}/${account}`;
const credential = new StorageSharedKeyCredential(account, key);

async function fillBlobs() {
    const blobs = new BlobServiceClient(urlOf(blobPort), credential);
    const container = blobs.getContainerClient('ccc');
    await container.create({ metadata: { M: 'v' }, access: 'blob' });
    await container.setAccessPolicy('blob', [{ id: 'p', accessPolicy: { permissions: 'r', startsOn: new Date(0), expiresOn: new Date(1e12) } }]);
    const small = container.getBlockBlobClient('s');
    await small.upload('one', 3, { metadata: { a: '1' } });
    await small.createSnapshot();
    await small.upload('two!', 4, { metadata: { Bb: '2' }, blobHTTPHeaders: { blobContentType: 'text/x', blobCacheControl: 'no' } });
    await small.setTags({ t: 'x' }).catch(() => {});
    await small.setAccessTier('Cool');
    const large = container.getBlockBlobClient('large');
    await large.stageBlock('YQ==', 'aaa', 3);
    await large.stageBlock('Yg==', 'bb', 2);
    await large.commitBlockList(['YQ==', 'Yg==']);
    await large.stageBlock('Yw==', 'uncommitted', 11);
    await container.getBlockBlobClient('empty').upload('', 0);
    const append = container.getAppendBlobClient('append');
    await append.create();
    await append.appendBlock('x1', 2);
    await append.appendBlock('y2', 2);
    const pages = container.getPageBlobClient('pages');
    await pages.create(4096, { blobSequenceNumber: 5 });
    await pages.uploadPages(Buffer.alloc(512, 1), 512, 512);
    await pages.uploadPages(Buffer.alloc(1024, 2), 2048, 1024);
    await pages.clearPages(2560, 512);
    await container.getBlockBlobClient('gone').upload('x', 1);
    await container.getBlockBlobClient('gone').delete();
}

async function fillQueues() {
    const queue = new QueueServiceClient(urlOf(queuePort), credential).getQueueClient('qqq');
    await queue.create({ metadata: { z: '1' } });
    for (let i = 0; i < 3; i++)
        await queue.sendMessage(`m${i} <&>`, { messageTimeToLive: i === 0 ? -1 : 315360000 });
}

async function fillTables() {
    const options = { allowInsecureConnection: true }, named = new AzureNamedKeyCredential(account, key);
    await new TableServiceClient(urlOf(tablePort), named, options).createTable('People');
    await new TableClient(urlOf(tablePort), 'People', named, options).createEntity({
        partitionKey: "O'slo", rowKey: 'r', born: 1815, tall: { type: 'Double', value: '1' }, half: 0.5, big: { type: 'Int64', value: '9007199254740993' },
        when: { type: 'DateTime', value: '2020-01-02T03:04:05.678Z' }, id: { type: 'Guid', value: '0b1b2b3b-1111-2222-3333-444455556666' },
        bytes: new Uint8Array([1, 2, 255]), yes: true });
}

await fillBlobs();
await fillQueues();
if (tablePort)
    await fillTables();
