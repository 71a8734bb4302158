// A Hadoop file system over the Data Lake endpoint: the requests that hadoop-azure's ABFS driver
// (AbfsDfsClient, AzureBlobFileSystem, AbfsOutputStream) sends for each call of Hadoop's FileSystem,
// and the way it reads the responses. Written from the behavior of that driver, without its retries.
import { randomUUID } from 'node:crypto';
import { Connection } from '../lib/http.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';

const VERSION = '2023-11-03';

/** A response that the driver treats as a failure. */
export class AbfsError extends Error {
    constructor(operation, { status, headers, text }) {
        super(`${operation}: ${status} ${text}`);
        this.status = status;
        this.headers = headers;
        this.code = headers.get('x-ms-error-code') ?? (text.startsWith('{') ? JSON.parse(text).error.code : undefined);
    }
}

/** The codes for which rename() returns false instead of failing. */
const RENAME_REFUSED = ['PathAlreadyExists', 'InvalidRenameSourcePath', 'SourcePathNotFound',
    'InvalidSourceOrDestinationResourceType', 'RenameDestinationParentPathNotFound', 'InternalOperationAbortError'];

const encodePath = (path) => path.split('/').map(encodeURIComponent).join('/');
const parentOf = (path) => path.slice(0, path.lastIndexOf('/')) || '/';
const nameOf = (path) => path.slice(path.lastIndexOf('/') + 1);

/** CRC-64 as a Java long: hadoop-azure's CRC64. */
function crc64(bytes) {
    const MASK = (1n << 64n) - 1n;
    let value = MASK;
    for (const byte of bytes) {
        value ^= BigInt(byte);
        for (let bit = 0; bit < 8; bit++)
            value = (value & 1n) ? (value >> 1n) ^ 0x9a6c9329ac4bc9b5n : value >> 1n;
    }
    return BigInt.asIntN(64, value ^ MASK);
}

/** The continuation with which listStatus(path, startFrom) begins on a hierarchical account: generateContinuationTokenForXns. */
export const treeToken = (name) =>
    Buffer.from(`${crc64(Buffer.from(`${name}#$0`))} 0 ${name}`).toString('base64');

/** The same on a flat account: generateContinuationTokenForNonXns. directory: without a slash at the start */
export function flatToken(directory, name) {
    const counted = (text) => `${String(text.length).padStart(6, '0')}!${text}!`;
    const start = directory === '' || directory === '/' ? name : `${directory}/${name}`;
    const text = Buffer.from([directory, start, new Date().toUTCString()].map(counted).join('')).toString('base64');
    const other = { '/': '_', '+': '*', '=': '-' };
    return `2!${text.length}!${text.replace(/[/+=]/g, (letter) => other[letter])}`;
}

/** The requests, one per method; paths start with '/'. */
export class AbfsClient {
    #connection = null;

    /** base: { host, port } of the Data Lake endpoint */
    constructor({ host, port }, filesystem, { credentials = DEVELOPMENT } = {}) {
        Object.assign(this, { host, port, filesystem, credentials });
    }

    close() {
        this.#connection?.close();
        this.#connection = null;
    }

    async #exchange(method, path, query, headers, body) {
        const parameters = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
        const bytes = Buffer.from(body ?? '');
        const request = sign({
            method,
            target: `/${this.credentials.account}/${this.filesystem}${encodePath(path)}?${parameters.join('&')}`,
            headers: [
                ['Host', `${this.host}:${this.port}`],
                ['Accept-Charset', 'utf-8'],
                ['Accept', 'application/json, application/octet-stream'],
                ['Content-Type', ''],
                ['x-ms-client-request-id', `:${randomUUID()}:${randomUUID().slice(0, 8)}:::${'OP'}:0`],
                ...(method === 'GET' || method === 'HEAD' ? [] : [['Content-Length', String(bytes.length)]]),
                ...Object.entries(headers),
            ],
        }, { version: VERSION, credentials: this.credentials });
        this.#connection ??= await Connection.open(this.host, this.port);
        const answer = await this.#connection.exchange(request, bytes);
        answer.text = answer.body.toString();
        if (answer.headers.get('connection') === 'close')
            this.close();
        return answer;
    }

    async #request(operation, method, path, query, headers = {}, body = '') {
        // The driver's HTTP library has no PATCH.
        const overridden = method === 'PATCH' ? { 'X-HTTP-Method-Override': 'PATCH', ...headers } : headers;
        const answer = await this.#exchange(method === 'PATCH' ? 'PUT' : method, path, { ...query, timeout: 90 },
            overridden, body);

        if (answer.status >= 400)
            throw new AbfsError(operation, answer);
        return answer;
    }

    createFilesystem() {
        return this.#request('createFilesystem', 'PUT', '', { resource: 'filesystem' });
    }

    deleteFilesystem() {
        return this.#request('deleteFilesystem', 'DELETE', '', { resource: 'filesystem' });
    }

    getFilesystemProperties() {
        return this.#request('getFilesystemProperties', 'HEAD', '', { resource: 'filesystem' });
    }

    setFilesystemProperties(properties) {
        return this.#request('setFilesystemProperties', 'PATCH', '', { resource: 'filesystem' },
            { 'x-ms-properties': encodeProperties(properties) });
    }

    createPath(path, isFile, { overwrite = true, permission, umask, etag } = {}) {
        return this.#request('createPath', 'PUT', path, { resource: isFile ? 'file' : 'directory' }, {
            ...(overwrite ? {} : { 'If-None-Match': '*' }),
            ...(permission ? { 'x-ms-permissions': permission } : {}),
            ...(umask ? { 'x-ms-umask': umask } : {}),
            ...(etag ? { 'If-Match': etag } : {}),
        });
    }

    renamePath(source, destination) {
        return this.#request('renamePath', 'PUT', destination, { continuation: '' }, {
            'x-ms-rename-source': encodePath(`/${this.filesystem}${source}`),
            'If-None-Match': '*',
        });
    }

    append(path, position, bytes, { flush = false, close = false, leaseId } = {}) {
        return this.#request('append', 'PATCH', path,
            { action: 'append', position, ...(flush ? { flush: true, ...(close ? { close: true } : {}) } : {}) },
            leaseId ? { 'x-ms-lease-id': leaseId } : {}, bytes);
    }

    flush(path, position, { close = false, retainUncommittedData = false, leaseId } = {}) {
        return this.#request('flush', 'PATCH', path, { action: 'flush', position, retainUncommittedData, close },
            leaseId ? { 'x-ms-lease-id': leaseId } : {});
    }

    getPathStatus(path, withProperties = false) {
        return this.#request('getPathStatus', 'HEAD', path, { ...(withProperties ? {} : { action: 'getStatus' }), upn: false });
    }

    getAclStatus(path) {
        return this.#request('getAclStatus', 'HEAD', path, { action: 'getAccessControl', upn: false });
    }

    checkAccess(path, rwx) {
        return this.#request('checkAccess', 'HEAD', path, { action: 'checkAccess', fsAction: rwx });
    }

    setPathProperties(path, properties) {
        return this.#request('setPathProperties', 'PATCH', path, { action: 'setProperties' },
            { 'x-ms-properties': encodeProperties(properties) });
    }

    setAccessControl(path, headers) {
        return this.#request('setAccessControl', 'PATCH', path, { action: 'setAccessControl' }, headers);
    }

    read(path, position, length, etag) {
        return this.#request('read', 'GET', path, {},
            { Range: `bytes=${position}-${position + length - 1}`, 'If-Match': etag });
    }

    listPath(directory, recursive, { maxResults = 5000, continuation = '' } = {}) {
        return this.#request('listPath', 'GET', '', {
            resource: 'filesystem', directory: directory.replace(/^\//, ''), recursive, continuation, maxResults, upn: false,
        });
    }

    deletePath(path, recursive, continuation = '') {
        return this.#request('deletePath', 'DELETE', path,
            { ...(recursive ? { paginated: true } : {}), recursive, continuation });
    }

    lease(path, action, { leaseId, duration, breakPeriod } = {}) {
        return this.#request('lease', 'POST', path, {}, {
            'x-ms-lease-action': action,
            ...(action === 'acquire' ? { 'x-ms-proposed-lease-id': randomUUID(), 'x-ms-lease-duration': String(duration) } : {}),
            ...(leaseId ? { 'x-ms-lease-id': leaseId } : {}),
            ...(breakPeriod === undefined ? {} : { 'x-ms-lease-break-period': String(breakPeriod) }),
        });
    }
}

function encodeProperties(properties) {
    return Object.entries(properties).map(([name, value]) => `${name}=${Buffer.from(value, 'latin1').toString('base64')}`).join(',');
}

/** A file that is being written: appends at its own position, like AbfsOutputStream. */
class OutputStream {
    #flushed;

    constructor(client, path, position, leaseId) {
        Object.assign(this, { client, path, position, leaseId });
        this.#flushed = position;
    }

    async write(bytes) {
        await this.client.append(this.path, this.position, bytes, { leaseId: this.leaseId });
        this.position += Buffer.byteLength(bytes);
    }

    async #flush(close) {
        if (!close && this.#flushed === this.position)
            return;
        await this.client.flush(this.path, this.position, { close, leaseId: this.leaseId });
        this.#flushed = this.position;
    }

    /** Makes all written bytes visible to readers. */
    hflush() {
        return this.#flush(false);
    }

    async close() {
        if (this.#flushed !== this.position)
            await this.#flush(true);
        if (this.leaseId)
            await this.client.lease(this.path, 'release', { leaseId: this.leaseId });
    }
}

/** Hadoop's FileSystem. A method returns or throws what Hadoop's would; an IOException is an AbfsError. */
export class HadoopFileSystem {
    constructor(base, filesystem, options) {
        this.client = new AbfsClient(base, filesystem, options);
    }

    /** Whether the account is hierarchical: the driver's probe. */
    async isHierarchical() {
        try {
            await this.client.getAclStatus('/');
            return true;
        } catch (error) {
            if (error.status === 400)
                return false;
            throw error;
        }
    }

    async create(path, { overwrite = true, permission, umask, leased = false } = {}) {
        const options = { permission, umask };
        try {
            // Without a condition only where the file that is overwritten is known.
            await this.client.createPath(path, true, { ...options, overwrite: false });
        } catch (error) {
            if (!overwrite || error.status !== 409)
                throw error;
            const status = await this.client.getPathStatus(path);
            await this.client.createPath(path, true, { ...options, overwrite: true, etag: status.headers.get('etag') });
        }
        const leaseId = leased
            ? (await this.client.lease(path, 'acquire', { duration: -1 })).headers.get('x-ms-lease-id') : undefined;
        return new OutputStream(this.client, path, 0, leaseId);
    }

    async append(path) {
        const status = await this.getFileStatus(path);
        if (status.isDirectory)
            throw new AbfsError('append', { status: 404, headers: new Map(), text: 'is a directory' });
        return new OutputStream(this.client, path, status.length);
    }

    async write(path, bytes, options) {
        const stream = await this.create(path, options);
        if (Buffer.byteLength(bytes) > 0)
            await stream.write(bytes);
        await stream.close();
    }

    async read(path, { bufferSize = 4 * 1024 * 1024 } = {}) {
        const status = await this.getFileStatus(path);
        const chunks = [];

        if (status.isDirectory)
            throw new AbfsError('open', { status: 404, headers: new Map(), text: 'is a directory' });
        for (let at = 0; at < status.length; at += bufferSize)
            chunks.push((await this.client.read(path, at, Math.min(bufferSize, status.length - at), status.etag)).body);
        return Buffer.concat(chunks);
    }

    async mkdirs(path, { permission, umask } = {}) {
        if (path !== '/')
            await this.client.createPath(path, false, { permission, umask });
        return true;
    }

    async getFileStatus(path) {
        const { headers } = path === '/' ? await this.client.getAclStatus(path) : await this.client.getPathStatus(path);
        const isDirectory = path === '/' || headers.get('x-ms-resource-type') === 'directory';

        return {
            path, isDirectory,
            length: isDirectory ? 0 : Number(headers.get('content-length')),
            etag: headers.get('etag'),
            owner: headers.get('x-ms-owner'),
            group: headers.get('x-ms-group'),
            permission: headers.get('x-ms-permissions'),
            modified: new Date(headers.get('last-modified')),
        };
    }

    async #tryGetFileStatus(path) {
        try {
            return await this.getFileStatus(path);
        } catch (error) {
            if (error.status === 404)
                return null;
            throw error;
        }
    }

    async exists(path) {
        return (await this.#tryGetFileStatus(path)) !== null;
    }

    async listStatus(path, { pageSize, startFrom } = {}) {
        const all = [];
        let continuation = startFrom === undefined ? '' : treeToken(startFrom);

        do {
            const answer = await this.client.listPath(path, false, { maxResults: pageSize, continuation });
            all.push(...JSON.parse(answer.text).paths);
            continuation = answer.headers.get('x-ms-continuation') ?? '';
        } while (continuation !== '');
        return all.map((entry) => ({
            path: `/${entry.name}`, isDirectory: entry.isDirectory === 'true', length: Number(entry.contentLength ?? 0),
            etag: entry.etag, owner: entry.owner, group: entry.group, permission: entry.permissions,
        }));
    }

    async rename(source, destination) {
        if (source === '/')
            return false;
        if (parentOf(source) === destination)
            return this.exists(source);
        if (source === destination)
            return (await this.#tryGetFileStatus(source))?.isDirectory === false;
        try {
            await this.#rename(source, destination);
            return true;
        } catch (error) {
            if (RENAME_REFUSED.includes(error.code))
                return false;
            throw error;
        }
    }

    /* After a missing parent, checks that the source exists and tries once more, in case the service had not seen it yet. */
    async #rename(source, destination) {
        try {
            await this.client.renamePath(source, destination);
        } catch (error) {
            if (error.code !== 'RenameDestinationParentPathNotFound')
                throw error;
            await this.client.getPathStatus(source);
            await this.client.renamePath(source, destination);
        }
    }

    /** Renames a file for a job's commit: after a failure it counts as done if the destination has the source's ETag. */
    async commitFileByRename(source, destination, etag) {
        try {
            await this.client.renamePath(source, destination);
            return false;
        } catch (error) {
            if (error.code === 'SourcePathNotFound' && (await this.#tryGetFileStatus(destination))?.etag === etag)
                return true;
            throw error;
        }
    }

    async delete(path, recursive = false) {
        if (path === '/') {
            if (recursive) {
                for (const entry of await this.listStatus('/'))
                    await this.delete(entry.path, true);
            }
            return recursive;
        }
        try {
            let continuation = '';
            do {
                const answer = await this.client.deletePath(path, recursive, continuation);
                continuation = answer.headers.get('x-ms-continuation') ?? '';
            } while (continuation !== '');
            return true;
        } catch (error) {
            if (error.code === 'PathNotFound')
                return false;
            throw error;
        }
    }
}

export { nameOf, parentOf };
