// What the tests of the Data Lake endpoint share: clients that do not retry, filesystems that go
// away with their test, and requests by hand.
import dns from 'node:dns';
import { DataLakeServiceClient, StorageSharedKeyCredential } from '@azure/storage-file-datalake';
import { raw } from './raw.mjs';
import { account, containerName, once, refused } from './setup.mjs';

const { port } = new URL(process.env.LAGRA_TEST_DFS_URL);
export const credential = new StorageSharedKeyCredential(account.name, account.key);

// Names below localhost are not known to every resolver.
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith('.localhost') ? 'localhost' : name, ...rest);

// The client replaces "dfs" in the host name by "blob" where it uses the Blob service, and keeps the port.
export const host = `${account.name}.dfs.localhost:${port}`;
export const service = new DataLakeServiceClient(`http://${host}`, credential, once);

export async function newFilesystem(t, options) {
    const filesystem = service.getFileSystemClient(containerName());
    await filesystem.create(options);
    t.after(() => filesystem.delete().catch(() => {}));
    return filesystem;
}

/** A file with this content. */
export async function newFile(filesystem, name, content = 'content', options = {}) {
    const file = filesystem.getFileClient(name);
    await file.upload(Buffer.from(content), options);
    return file;
}

/** One signed request by hand to the endpoint. */
export function rawDfs(method, path, headers, body, options) {
    return raw(method, path, headers, body, { base: { host: '127.0.0.1', port: Number(port) }, ...options });
}

/** The request is refused with this status and code, in the header and in the JSON alike. */
export async function rawDfsRefused(promise, status, code) {
    const answer = await promise;
    const header = answer.headers.find?.(([name]) => name.toLowerCase() === 'x-ms-error-code')?.[1] ?? answer.code;
    if (answer.status !== status || header !== code)
        throw new Error(`expected ${status} ${code}, got ${answer.status} ${header}: ${answer.text}`);
    if (answer.body.length > 0 && JSON.parse(answer.text).error.code !== code)
        throw new Error(`another code in the body: ${answer.text}`);
    return answer;
}

export async function bytesOf(file, ...range) {
    const chunks = [];
    for await (const chunk of (await file.read(...range)).readableStreamBody)
        chunks.push(chunk);
    return Buffer.concat(chunks);
}

export async function pathsOf(filesystem, options) {
    const paths = [];
    for await (const path of filesystem.listPaths(options))
        paths.push(path);
    return paths;
}

export { account, refused };
