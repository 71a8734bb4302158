// Clients of the official SDKs for the services, by way of the management port. Each page loads the SDK that it uses.
import { dataUrl, signatureOf } from './server.ts';

/** A request that fails is tried once more, soon: somebody waits for it. */
const retryOptions = { maxTries: 2, retryDelayInMs: 200, maxRetryDelayInMs: 1000 };

export async function blobService(account: string) {
    const { BlobServiceClient } = await import('@azure/storage-blob');
    return new BlobServiceClient(`${dataUrl('blob', account)}?${await signatureOf(account)}`, undefined, { retryOptions });
}

export async function containerOf(account: string, container: string) {
    return (await blobService(account)).getContainerClient(container);
}

export async function queueService(account: string) {
    const { QueueServiceClient } = await import('@azure/storage-queue');
    return new QueueServiceClient(`${dataUrl('queue', account)}?${await signatureOf(account)}`, undefined, { retryOptions });
}

export async function shareService(account: string) {
    const { ShareServiceClient } = await import('@azure/storage-file-share');
    return new ShareServiceClient(`${dataUrl('file', account)}?${await signatureOf(account)}`, undefined, { retryOptions });
}

// What goes to the management port without TLS does not leave this machine.
const tableOptions = { allowInsecureConnection: true, retryOptions: { maxRetries: 1, retryDelayInMs: 200 } };

export async function tableService(account: string) {
    const { AzureSASCredential, TableServiceClient } = await import('@azure/data-tables');
    return new TableServiceClient(dataUrl('table', account), new AzureSASCredential(await signatureOf(account)), tableOptions);
}

export async function tableClient(account: string, table: string) {
    const { AzureSASCredential, TableClient } = await import('@azure/data-tables');
    return new TableClient(dataUrl('table', account), table, new AzureSASCredential(await signatureOf(account)), tableOptions);
}
