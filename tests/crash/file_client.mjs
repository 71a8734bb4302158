// The requests of the crash test of files, on one connection, signed.

import { Client, gateHeader, Unexpected } from './client.mjs';
import { digest } from './model.mjs';

const CHANGED = [200, 201, 202];
const meta = (value) => ['x-ms-meta-value', value];
const range = (first, count) => `bytes=${first}-${first + count - 1}`;
const element = (xml, name) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

/* kind of change -> { method, query, headers, body }. node: what has the path before it. */
const REQUESTS = {
    createDirectory: ({ value }) => ({ query: 'restype=directory', headers: [meta(value)] }),
    createFile: ({ size, value }) => ({ headers: [['x-ms-type', 'file'], ['x-ms-content-length', `${size}`], meta(value)] }),
    write: ({ first, part }) => ({
        query: 'comp=range', headers: [['x-ms-write', 'update'], ['x-ms-range', range(first, part.length)]], body: part,
    }),
    clear: ({ first, count }) => ({ query: 'comp=range', headers: [['x-ms-write', 'clear'], ['x-ms-range', range(first, count)]] }),
    resize: ({ size }) => ({ query: 'comp=properties', headers: [['x-ms-content-length', `${size}`]] }),
    metadata: ({ value, isDirectory }) =>
        ({ query: `${isDirectory ? 'restype=directory&' : ''}comp=metadata`, headers: [meta(value)] }),
    rename: ({ source, isDirectory, replaces }) => ({
        query: `${isDirectory ? 'restype=directory&' : ''}comp=rename`,
        headers: [['x-ms-file-rename-source', source], ['x-ms-file-rename-replace-if-exists', `${replaces}`]],
    }),
    remove: ({ isDirectory }) => ({ method: 'DELETE', query: isDirectory ? 'restype=directory' : '' }),
    removeFull: () => ({ method: 'DELETE', query: 'restype=directory' }),
    snapshot: () => ({ query: 'restype=share&comp=snapshot' }),
    removeSnapshot: ({ id }) => ({ method: 'DELETE', query: `restype=share&sharesnapshot=${encodeURIComponent(id)}` }),
};

export class FileClient extends Client {
    constructor(server) {
        super(server, 'file');
        this.root = server.urlOf('file');
    }

    async #expect(wanted, method, target, options) {
        const answer = await this.ask(method, target, options);

        if (!wanted.includes(answer.status))
            throw new Unexpected(`${method} ${target}: ${answer.status} ${answer.headers.get('x-ms-error-code')}`, answer.status);
        return answer;
    }

    async createShare(share) {
        await this.#expect([201], 'PUT', `/${share}?restype=share`);
    }

    async createDirectory(path) {
        await this.#expect([201], 'PUT', `${path}?restype=directory`);
    }

    /** Makes one change of file_model.mjs below `folder`; returns the snapshot that it made. */
    async change(folder, { kind, path, from, to, gate, ...how }) {
        const request = REQUESTS[kind]({ ...how, source: `${this.root}${folder}/${from}` });
        const { method = 'PUT', query = '', headers = [], body } = request;
        const [, share] = folder.split('/');
        const at = path ?? to;
        const target = `${at === undefined ? `/${share}` : `${folder}/${at}`}${query && `?${query}`}`;
        const answer = await this.#expect(kind === 'removeFull' ? [409] : CHANGED, method, target,
            { headers: [...headers, ...gateHeader(gate)], body });

        if (kind === 'removeFull' && answer.headers.get('x-ms-error-code') !== 'DirectoryNotEmpty')
            throw new Unexpected(`${method} ${target}: ${answer.headers.get('x-ms-error-code')}`, answer.status);
        return answer.headers.get('x-ms-snapshot');
    }

    /** The entries of a directory: { kind, name, id }. */
    async #entries(path, snapshot) {
        const found = [];

        for (let marker = ''; marker !== undefined;) {
            const { body } = await this.#expect([200], 'GET',
                `${path}?restype=directory&comp=list&maxresults=7${snapshot}${marker && `&marker=${encodeURIComponent(marker)}`}`,
                { headers: [['x-ms-file-extended-info', 'true']] });
            const xml = body.toString();

            for (const [entry, kind] of xml.matchAll(/<(File|Directory)>.*?<\/\1>/gs))
                found.push({ kind, name: element(entry, 'Name'), id: element(entry, 'FileId') });
            marker = element(xml, 'NextMarker') || undefined;
        }
        return found;
    }

    async #node(target, { kind, id }, snapshot) {
        const isFile = kind === 'File';
        const query = isFile ? snapshot.replace('&', '?') : `?restype=directory${snapshot}`;
        const { headers, body } = await this.#expect([200], 'GET', `${target}${query}`);

        if (headers.get('x-ms-file-id') !== id)
            throw new Unexpected(`${target} is ${headers.get('x-ms-file-id')}, in the list it is ${id}`);
        return { kind, id, value: headers.get('x-ms-meta-value'), ...(isFile ? { size: body.length, digest: digest(body) } : {}) };
    }

    /** All below a folder, as differs() of file_model.mjs takes it. id: of a snapshot of the share; said: takes the
     *  paths of what the server says it cannot read, which is an error otherwise. */
    async look(folder, id = null, said = null) {
        /* An answer whose bytes cannot be read is cut off. */
        const unless = (path, coming) => coming.catch((error) => {
            if (!said || error.status < 500 || (error.status === undefined && !/closed/.test(error.message)))
                throw error;
            this.close();
            said.push(path);
            return null;
        });
        const snapshot = id ? `&sharesnapshot=${encodeURIComponent(id)}` : '';
        const found = new Map();
        const folders = [''];

        for (const at of folders)
            for (const entry of await unless(at.slice(1), this.#entries(folder + at, snapshot)) ?? []) {
                const path = `${at}/${entry.name}`;

                found.set(path.slice(1), await unless(path.slice(1), this.#node(folder + path, entry, snapshot)));
                if (entry.kind === 'Directory')
                    folders.push(path);
            }
        return found;
    }

    /** The dates of a share's snapshots. */
    async snapshots(share) {
        const { body } = await this.#expect([200], 'GET', `/?comp=list&include=snapshots&prefix=${share}`);

        return [...body.toString().matchAll(/<Snapshot>(.*?)<\/Snapshot>/g)].map(([, id]) => id);
    }

    /** What Get Share Stats shows. */
    async usedBytes(share) {
        const { body } = await this.#expect([200], 'GET', `/${share}?restype=share&comp=stats`);

        return Number(element(body.toString(), 'ShareUsageBytes'));
    }
}
