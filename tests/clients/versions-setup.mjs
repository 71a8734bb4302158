// A server whose account has versions of blobs, and clients of it. decision: 803
import { AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, BlobServiceClient, generateAccountSASQueryParameters } from '@azure/storage-blob';
import { Control, freePorts, Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';
import { collect, credential, once } from './setup.mjs';

export const textOf = async (blob) => String(await blob.downloadToBuffer());

/** Requests have no date: the server's clock may be moved. */
export async function open(t, { versions = true, ...options } = {}) {
    const [port] = await freePorts(1);
    const server = await Server.start({ args: ['--testing', '--managementPort', `${port}`], ...options });
    const control = new Control(server);
    t.after(async () => {
        control.close();
        await server.kill();
        await server.remove();
    });
    const sas = (letters) => generateAccountSASQueryParameters({
        services: AccountSASServices.parse('b').toString(), resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
        permissions: AccountSASPermissions.parse(letters), expiresOn: new Date(Date.now() + 9e9),
    }, credential).toString();
    const client = (letters) => new BlobServiceClient(`${server.urlOf('blob')}?${sas(letters)}`, undefined, once);
    const service = client('rwdxylactf');
    const container = service.getContainerClient('box');
    await container.create();
    const ask = (method, path, headers = {}, body = '', more = {}) =>
        raw(method, path, headers, body, { base: { host: server.host, port: server.ports.blob }, ...more });
    const set = (inner) => ask('PUT', '/?restype=service&comp=properties', {}, `<StorageServiceProperties>${inner}</StorageServiceProperties>`);
    const at = {
        server, control, service, client, container, ask, set,
        /** What is due by then is done. */
        forward: (seconds) => fetch(`http://127.0.0.1:${port}/-/time`, { method: 'PUT', body: JSON.stringify({ forwardSeconds: seconds }) }),
        switchTo: (on) => set(`<IsVersioningEnabled>${on}</IsVersioningEnabled>`),
        keep: (days) => set(`<DeleteRetentionPolicy><Enabled>${days > 0}</Enabled>${days > 0 ? `<Days>${days}</Days>` : ''}</DeleteRetentionPolicy>`),
        put: async (name, content, more) => {
            const blob = container.getBlockBlobClient(name);
            const { versionId } = await blob.upload(content, content.length, more);
            return { blob, id: versionId };
        },
        /** All of the list: * the current version, - deleted, @ a snapshot, ! versions only. */
        items: (more) => collect(container.listBlobsFlat({ includeVersions: true, includeSnapshots: true, includeDeleted: true, includeDeletedWithVersions: true, ...more })),
        all: async (more) => (await at.items(more)).map((item) =>
            `${item.deleted ? '-' : ''}${item.name}${item.snapshot ? '@' : ''}${item.isCurrentVersion ? '*' : ''}${item.versionId && !item.isCurrentVersion ? '.' : ''}${item.hasVersionsOnly ? '!' : ''}`).join(' '),
    };
    if (versions)
        await at.switchTo(true);
    return at;
}
