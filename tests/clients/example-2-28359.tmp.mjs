import { ShareServiceClient } from '@azure/storage-file-share';
const shares = ShareServiceClient.fromConnectionString(process.env.AZURE_STORAGE_CONNECTION_STRING);
const share = shares.getShareClient('team');
await share.createIfNotExists({ quota: 100, accessTier: 'Hot' });
const docs = share.getDirectoryClient('docs');
await docs.createIfNotExists();
const { fileClient: notes } = await docs.createFile('notes.txt', 5);
await notes.uploadRange('hello', 0, 5);
console.log((await notes.downloadToBuffer()).toString());
const { snapshot } = await share.createSnapshot();
await share.setMetadata({ owner: 'ada' });
console.log((await share.withSnapshot(snapshot).getProperties()).metadata); // unchanged in the snapshot
for await (const { name, snapshot } of shares.listShares({ includeSnapshots: true }))
    console.log(name, snapshot ?? '');
