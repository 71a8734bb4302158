// The requests of the crash test of hierarchical accounts, through both endpoints, signed.

import { Client, gateHeader, Unexpected } from './client.mjs';
import { digest } from './model.mjs';
import { OTHER, otherNode } from './path_model.mjs';
import { byUser, USER } from './path_users.mjs';

const CHANGED = [200, 201, 202];
const PAGE = 7;
const base64 = (text) => Buffer.from(text).toString('base64');
const properties = (value) => ['x-ms-properties', `value=${base64(value)}`];
const encoded = (path) => path.split('/').map(encodeURIComponent).join('/');
const list = (readers) => `user:${USER}:rwx,user:${readers}:r-x`;
const OPEN = `user:${USER}:rwx`;
/* Of a directory: what is created in it has an entry of the user, too. */
const DEFAULTS = `,default:user::rwx,default:user:${USER}:rwx,default:group::r-x,default:other::---`;
/** Returns the directory of the same writer in the second filesystem. */
export const otherDirectory = (directory) => directory.replace(/^\/[^/]+/, (filesystem) => `${filesystem}-2`);

/** Returns the path of a request: paths of a state with "2/" are in the second filesystem. */
const placed = (directory, path) => (path.startsWith(`${OTHER}/`) ? `${otherDirectory(directory)}${path.slice(OTHER.length)}` : `${directory}/${path}`);

const dfs = (method, query, headers = [], body = undefined) => ({ service: 'dfs', method, query, headers, body });

const blob = (method, query, headers = [], body = undefined) => ({ service: 'blob', method, query, headers, body });

/* kind of change -> { service, method, query, headers, body } of its last request, which has the gate */
const REQUESTS = {
    createDirectory: ({ value }) => dfs('PUT', 'resource=directory', [properties(value)]),
    createFile: ({ value }) => dfs('PUT', 'resource=file', [properties(value)]),
    put: ({ value, part }) => blob('PUT', '', [['x-ms-blob-type', 'BlockBlob'], ['x-ms-meta-value', value]], part),
    append: ({ position, part }) => dfs('PATCH', `action=flush&position=${position + part.length}`),
    properties: ({ value }) => dfs('PATCH', 'action=setProperties', [properties(value)]),
    owner: ({ owner }) => dfs('PATCH', 'action=setAccessControl', [['x-ms-owner', owner]]),
    readers: ({ readers, kind: _, isDirectory }) => dfs('PATCH', 'action=setAccessControl',
        [['x-ms-acl', `user::rwx,${list(readers)},group::${isDirectory ? 'r-x' : 'r--'},other::---${isDirectory ? DEFAULTS : ''}`]]),
    readersBelow: ({ readers }) => dfs('PATCH', 'action=setAccessControlRecursive&mode=set',
        [['x-ms-acl', `user::rwx,${list(readers)},group::r-x,other::---`]]),
    rename: ({ source }) => dfs('PUT', 'mode=legacy', [['x-ms-rename-source', source]]),
    remove: ({ byBlob }) => (byBlob ? blob('DELETE', '') : dfs('DELETE', 'recursive=false')),
    removeBelow: () => dfs('DELETE', 'recursive=true'),
    removeByUser: () => ({ ...dfs('DELETE', 'recursive=true&paginated=true', byUser()), unsigned: true }),
    removeRefused: () => ({ ...dfs('DELETE', 'recursive=true&paginated=true', byUser()), unsigned: true }),
    removeFull: () => dfs('DELETE', 'recursive=false'),
    expire: ({ expiry }) => blob('PUT', 'comp=expiry', [['x-ms-expiry-option', 'Absolute'], ['x-ms-expiry-time', expiry]]),
    expireNow: ({ ms }) => blob('PUT', 'comp=expiry', [['x-ms-expiry-option', 'RelativeToNow'], ['x-ms-expiry-time', `${ms}`]]),
    restore: ({ id }) => blob('PUT', 'comp=undelete', id === null ? [] : [['x-ms-undelete-source', `?deletionid=${id}`]]),
};

export class PathClient {
    #clients;

    constructor(server) {
        this.#clients = { dfs: new Client(server, 'dfs'), blob: new Client(server, 'blob') };
    }

    close() {
        Object.values(this.#clients).forEach((client) => client.close());
    }

    async #expect(wanted, { service, method, query, headers = [], body, unsigned }, path) {
        const target = `${encoded(path)}${query && `?${query}`}`;
        const answer = await this.#clients[service].ask(method, target, { headers, body, unsigned });

        if (!wanted.includes(answer.status))
            throw new Unexpected(`${service} ${method} ${target}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`, answer.status);
        return answer;
    }

    async createFilesystem(name) {
        await this.#expect([201], dfs('PUT', 'resource=filesystem'), `/${name}`);
    }

    /** Creates the directory of a writer, in which the user may do everything. */
    async createWriter(path) {
        await this.createDirectory(path);
        await this.#expect([200], dfs('PATCH', 'action=setAccessControl', [['x-ms-acl', `user::rwx,user:${USER}:rwx,group::r-x,other::---${DEFAULTS}`]]), path);
    }

    /** Lets the user into the filesystem. */
    async letIn(name) {
        await this.#expect([200], dfs('PATCH', 'action=setAccessControl', [['x-ms-acl', `user::rwx,user:${USER}:--x,group::r-x,other::---`]]), `/${name}/`);
    }

    /** Retains deleted paths, for longer than the test lasts, or not. */
    async retain(isOn = true) {
        await this.#expect([202], blob('PUT', 'restype=service&comp=properties', [], Buffer.from('<StorageServiceProperties><DeleteRetentionPolicy>' +
            `<Enabled>${isOn}</Enabled>${isOn ? '<Days>300</Days>' : ''}</DeleteRetentionPolicy></StorageServiceProperties>`)), '/');
    }

    async createDirectory(path) {
        await this.#expect([201], dfs('PUT', 'resource=directory'), path);
    }

    /** Makes one change of path_model.mjs below `directory`. Returns { id } of a deletion, if the response has it. */
    async change(directory, { kind, path, from, to, gate, ...how }) {
        const request = REQUESTS[kind]({ ...how, source: encoded(placed(directory, from ?? '')) });
        const at = placed(directory, path ?? to);

        if (kind === 'append')
            await this.#expect([202], dfs('PATCH', `action=append&position=${how.position}`, [], how.part), at);
        request.headers = [...request.headers, ...gateHeader(gate)];
        const answer = await this.#expect({ removeFull: [409], removeRefused: [403] }[kind] ?? CHANGED, request, at);

        if (kind === 'removeFull' && answer.headers.get('x-ms-error-code') !== 'DirectoryNotEmpty')
            throw new Unexpected(`${kind} of ${at}: ${answer.headers.get('x-ms-error-code')}`, answer.status);
        if (kind === 'readersBelow' && JSON.parse(answer.body.toString()).failureCount !== 0)
            throw new Unexpected(`${kind} of ${at}: ${answer.body}`);
        if (kind === 'expireNow')
            await this.#untilExpired(at);
        return { id: answer.headers.get('x-ms-deletion-id') ?? null };
    }

    async #untilExpired(path) {
        while ((await this.#expect([200, 404], dfs('HEAD', ''), path)).status === 200)
            await new Promise((resolve) => setTimeout(resolve, 1));
    }

    /** The deleted paths below a directory: { path, id, kind }. */
    async #deleted(filesystem, prefix) {
        const found = [];

        for (let marker = ''; marker !== undefined;) {
            const answer = await this.#expect([200], blob('GET', 'restype=container&comp=list&showonly=deleted' +
                `&prefix=${encodeURIComponent(prefix)}&maxresults=${PAGE}${marker && `&marker=${encodeURIComponent(marker)}`}`), `/${filesystem}`);
            const text = answer.body.toString();

            found.push(...[...text.matchAll(/<Blob><Name>([^<]*)<\/Name><DeletionId>(\d+)<.*?<ResourceType>(\w+)</g)]
                .map(([, name, id, kind]) => ({ path: name.slice(prefix.length), id, kind })));
            marker = /<NextMarker>([^<]+)</.exec(text)?.[1];
        }
        return found;
    }

    /** The paths below a directory: { name, isDirectory, etag }. */
    async #paths(filesystem, directory) {
        const found = [];

        for (let continuation = ''; continuation !== undefined;) {
            const answer = await this.#expect([200], dfs('GET', `resource=filesystem&recursive=true&directory=${encodeURIComponent(directory)}` +
                `&maxResults=${PAGE}${continuation && `&continuation=${encodeURIComponent(continuation)}`}`), `/${filesystem}`);

            found.push(...JSON.parse(answer.body.toString()).paths);
            continuation = answer.headers.get('x-ms-continuation') || undefined;
        }
        return found;
    }

    async #node(path, { isDirectory, etag }) {
        const { headers: access } = await this.#expect([200], dfs('HEAD', 'action=getAccessControl'), path);
        const { headers, body } = await this.#expect([200], { service: 'blob', method: 'GET', query: '' }, path);
        const kind = isDirectory === 'true' ? 'directory' : 'file', acl = access.get('x-ms-acl');

        if (headers.get('x-ms-resource-type') !== kind || headers.get('etag').replaceAll('"', '') !== etag.replaceAll('"', ''))
            throw new Unexpected(`${path} is a ${headers.get('x-ms-resource-type')} ${headers.get('etag')}, in the list a ${kind} ${etag}`);
        return {
            kind, value: headers.get('x-ms-meta-value'), owner: access.get('x-ms-owner'),
            isOpen: acl.startsWith(OPEN) || acl.includes(`,${OPEN}`), opens: acl.includes(`default:${OPEN}`),
            readers: /user:([^:]+):r-x/.exec(acl)?.[1] ?? '',
            ...(kind === 'file' ? { size: body.length, digest: digest(body) } : {}),
            expiry: access.get('x-ms-expiry-time') ?? headers.get('x-ms-expiry-time') ?? undefined,
        };
    }

    /** Deletes a directory and all deleted paths below it, while nothing is retained. */
    async removeForGood(directory) {
        const [, filesystem, ...rest] = directory.split('/');
        const remove = () => this.#expect([200, 404], dfs('DELETE', 'recursive=true'), directory);

        await remove();
        for (const { path, id } of await this.#deleted(filesystem, `${rest.join('/')}/`)) {
            const whole = `${directory}/${path}`;

            await this.createDirectory(whole.slice(0, whole.lastIndexOf('/')));
            await this.change(directory, { kind: 'restore', path, id });
            await remove();
        }
    }

    /** Adds everything below one directory of a writer. before: that its paths begin with */
    async #lookBelow(directory, before, found) {
        const [, filesystem, ...rest] = directory.split('/');
        const prefix = `${rest.join('/')}/`;

        for (const entry of await this.#paths(filesystem, rest.join('/')))
            found.set(before + entry.name.slice(prefix.length), await this.#node(`/${filesystem}/${entry.name}`, entry));
        found.kept.push(...(await this.#deleted(filesystem, prefix)).map((one) => ({ ...one, path: before + one.path })));
    }

    /** Everything below both directories of a writer, as differs() of path_model.mjs takes it. */
    async look(directory) {
        const found = Object.assign(new Map([[OTHER, otherNode]]), { kept: [] });

        await this.#lookBelow(otherDirectory(directory), `${OTHER}/`, found);
        await this.#lookBelow(directory, '', found);
        return found;
    }
}
