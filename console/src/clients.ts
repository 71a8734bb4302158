// Clients of the official SDKs for the services, through the management port. Each page loads the SDK that it uses.
import { ask, dataUrl, type Service, signatureOf } from './server.ts';

/** A failed request is retried once, soon, since a user is waiting. */
const retryOptions = { maxTries: 2, retryDelayInMs: 200, maxRetryDelayInMs: 1000 };

export async function blobService(account: string) {
    const { BlobServiceClient } = await import('@azure/storage-blob');
    return new BlobServiceClient(`${dataUrl('blob', account)}?${await signatureOf(account)}`, undefined, { retryOptions });
}

export async function containerOf(account: string, container: string) {
    return (await blobService(account)).getContainerClient(container);
}

/** Versioning and soft delete of an account. */
export interface Protection {
    versions: boolean;
    enabled: boolean;
    days?: number | undefined;
    permanent?: boolean | undefined;
    containerDays?: number | undefined;
}

/** Gets the properties of a service of the account, or sets those of the body. The SDK does not know AllowPermanentDelete,
 *  and so would unset it. rest: Set-Blob-Service-Properties */
export async function serviceProperties(service: Service, account: string, request: { method?: string; body?: string } = {}): Promise<string> {
    const answer = await fetch(`${dataUrl(service, account)}?restype=service&comp=properties&${await signatureOf(account)}`,
        { ...request, headers: { 'x-ms-version': '2022-11-02' }, cache: 'no-store' });

    if (!answer.ok)
        throw new Error(`${answer.headers.get('x-ms-error-code') ?? answer.status}: the server rejected the request.`);
    return answer.text();
}

export async function protectionOf(account: string): Promise<Protection> {
    const properties = await serviceProperties('blob', account);
    const policyOf = (name: string) => new RegExp(`<${name}>.*?</${name}>`, 's').exec(properties)?.[0] ?? '';
    const daysOf = (text: string) => Number(/<Days>(\d+)</.exec(text)?.[1]) || undefined;
    const policy = policyOf('DeleteRetentionPolicy');

    return {
        versions: properties.includes('<IsVersioningEnabled>true<'),
        enabled: policy.includes('<Enabled>true<'), days: daysOf(policy), permanent: policy.includes('<AllowPermanentDelete>true<'),
        containerDays: daysOf(policyOf('ContainerDeleteRetentionPolicy')),
    };
}

export async function setProtection(account: string, { versions, enabled, days, permanent, containerDays }: Protection) {
    const policyOf = (wanted: number | undefined) => `<Enabled>${wanted !== undefined}</Enabled>${wanted === undefined ? '' : `<Days>${wanted}</Days>`}`;

    await serviceProperties('blob', account, { method: 'PUT',
        body: `<StorageServiceProperties><DeleteRetentionPolicy>${policyOf(enabled ? days : undefined)}${permanent ? '<AllowPermanentDelete>true</AllowPermanentDelete>' : ''}</DeleteRetentionPolicy>` +
            `<ContainerDeleteRetentionPolicy>${policyOf(containerDays)}</ContainerDeleteRetentionPolicy><IsVersioningEnabled>${versions}</IsVersioningEnabled></StorageServiceProperties>` });
}

/** The string to sign of a request for a container's access policies. rest: Authorize-with-Shared-Key */
function stringToSign(account: string, method: string, url: URL, headers: [string, string][], length: number): string {
    const of = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
    const plain = ['content-encoding', 'content-language', 'content-length', 'content-md5', 'content-type', 'date', 'if-modified-since', 'if-match',
        'if-none-match', 'if-unmodified-since', 'range'].map((name) => (name === 'content-length' ? length || '' : of.get(name) ?? ''));
    const own = [...of].filter(([name]) => name.startsWith('x-ms-')).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}:${value.trim()}`);
    const query = [...url.searchParams].map(([name, value]) => `${name.toLowerCase()}:${value}`).sort();

    return [method, ...plain, ...own, `/${account}${url.pathname.slice('/console/data/blob'.length)}`, ...query].join('\n');
}

/** A client for a container's access policies. The server signs its requests with the account's key, since a shared access
 *  signature does not permit them. */
export async function containerForAccess(account: string, container: string) {
    const { AnonymousCredential, ContainerClient, newPipeline } = await import('@azure/storage-blob');
    const pipeline = newPipeline(new AnonymousCredential(), { retryOptions });

    pipeline.factories.push({
        create: (next) => ({
            sendRequest: async (request) => {
                request.headers.set('x-ms-date', new Date().toUTCString());
                const headers = request.headers.headersArray().map(({ name, value }): [string, string] => [name, value]);
                const text = stringToSign(account, request.method, new URL(request.url), headers, new TextEncoder().encode(String(request.body ?? '')).length);
                const { signature } = await ask<{ signature: string }>('sign-request', { account, text });
                request.headers.set('authorization', `SharedKey ${account}:${signature}`);
                return next.sendRequest(request);
            },
        }),
    });
    return new ContainerClient(`${dataUrl('blob', account)}/${container}`, pipeline);
}

export async function queueService(account: string) {
    const { QueueServiceClient } = await import('@azure/storage-queue');
    return new QueueServiceClient(`${dataUrl('queue', account)}?${await signatureOf(account)}`, undefined, { retryOptions });
}

export async function shareService(account: string) {
    const { ShareServiceClient } = await import('@azure/storage-file-share');
    return new ShareServiceClient(`${dataUrl('file', account)}?${await signatureOf(account)}`, undefined, { retryOptions });
}

/** Renames a file or folder within its folder. The SDK's rename() mistakes the first part of a URL's path for the share.
 *  source: the current URL, for the service itself. rest: Rename-File, Rename-Directory */
export async function renameFile(url: string, kind: 'file' | 'directory', name: string, source: string, replaces: boolean) {
    const target = new URL(url);
    target.pathname = `${target.pathname.slice(0, target.pathname.lastIndexOf('/'))}/${encodeURIComponent(name)}`;
    target.searchParams.set('comp', 'rename');
    if (kind === 'directory')
        target.searchParams.set('restype', 'directory');
    const answer = await fetch(target, { method: 'PUT', headers: {
        'x-ms-version': '2022-11-02', 'x-ms-file-rename-source': source, 'x-ms-file-rename-replace-if-exists': String(replaces),
    } });
    if (!answer.ok)
        throw new Error(`${answer.headers.get('x-ms-error-code') ?? answer.status}: renaming to ${name} failed.`);
}

// Without TLS, the management port is on loopback, so the requests do not leave this machine.
const tableOptions = { allowInsecureConnection: true, retryOptions: { maxRetries: 1, retryDelayInMs: 200 } };

export async function tableService(account: string) {
    const { AzureSASCredential, TableServiceClient } = await import('@azure/data-tables');
    return new TableServiceClient(dataUrl('table', account), new AzureSASCredential(await signatureOf(account)), tableOptions);
}

export async function tableClient(account: string, table: string) {
    const { AzureSASCredential, TableClient } = await import('@azure/data-tables');
    return new TableClient(dataUrl('table', account), table, new AzureSASCredential(await signatureOf(account)), tableOptions);
}
