// The operations of the File REST API that the tables have, on one file of a share.

import { Connection } from '../lib/http.mjs';
import { sign } from '../lib/sign.mjs';

export const SHARE = 'both';
export const LENGTH = 1024;

const put = (query, headers = [], body = '') => ({ method: 'PUT', query, headers, body });
const range = (first, last) => ['x-ms-range', `bytes=${first}-${last}`];
const PROPERTIES = [['x-ms-file-attributes', 'preserve'], ['x-ms-file-permission', 'preserve'],
    ['x-ms-file-creation-time', 'preserve'], ['x-ms-file-last-write-time', 'preserve']];

export const putRange = (first, text) => put('comp=range', [range(first, first + text.length - 1), ['x-ms-write', 'update']], text);
export const getRange = (first, last) => ({ method: 'GET', headers: [range(first, last)] });
export const create = put('', [['x-ms-type', 'file'], ['x-ms-content-length', `${LENGTH}`],
    ['x-ms-file-attributes', 'None'], ['x-ms-file-permission', 'inherit'], ['x-ms-file-creation-time', 'now'],
    ['x-ms-file-last-write-time', 'now']]);

const same = (name) => name;
/** A file beside it, which is made before. */
const other = (name) => `${name}-other`;

/** Names as in the tables. at, from: where the request goes, and the file that its header `source` names. */
export const OPERATIONS = {
    'List Directories and Files': { method: 'GET', query: 'restype=directory&comp=list', ofDirectory: true },
    'Get File Properties': { method: 'HEAD' },
    'Get File Metadata': { method: 'GET', query: 'comp=metadata' },
    'Get File': { method: 'GET' },
    'List Ranges': { method: 'GET', query: 'comp=rangelist' },
    'Put Range': putRange(0, 'rest'),
    'Put Range (clear)': put('comp=range', [range(0, 511), ['x-ms-write', 'clear']]),
    'Set File Properties': put('comp=properties', PROPERTIES),
    'Set File Metadata': put('comp=metadata', [['x-ms-meta-a', 'b']]),
    'Create File': create,
    'Copy File (file is the source)': { method: 'PUT', at: (name) => `${name}-copy`, source: 'x-ms-copy-source' },
    'Copy File (file is the destination)': { method: 'PUT', source: 'x-ms-copy-source', from: other },
    'Rename File (file is the source)': { method: 'PUT', query: 'comp=rename', at: (name) => `${name}-renamed`, source: 'x-ms-file-rename-source' },
    'Rename File (file is replaced)': { method: 'PUT', query: 'comp=rename', headers: [['x-ms-file-rename-replace-if-exists', 'true']],
        source: 'x-ms-file-rename-source', from: other },
    'Lease File': put('comp=lease', [['x-ms-lease-action', 'acquire'], ['x-ms-lease-duration', '-1']]),
    'Delete File': { method: 'DELETE' },
    'List Handles': { method: 'GET', query: 'comp=listhandles' },
    'Force Close Handles': put('comp=forceclosehandles', [['x-ms-handle-id', '*']]),
};

/** "200", or "409 SharingViolation". */
export function shown(answer) {
    const code = answer.headers.get('x-ms-error-code') ?? /<Code>(.*?)<\/Code>/.exec(answer.body)?.[1];

    return answer.status < 300 ? `${answer.status}` : `${answer.status} ${code}`;
}

export class Rest {
    #server;
    #share;

    constructor(server, share = SHARE) {
        this.#server = server;
        this.#share = share;
    }

    /** The operation on the share's file `name`; '' is the share's root. */
    async ask(name, { method, query = '', headers = [], body = '', ofDirectory = false, at = same, source, from = same }, more = '') {
        const { host, ports, account } = this.#server;
        const path = `/${account}/${this.#share}${ofDirectory || name === '' ? '' : `/${at(name)}`}`;
        const named = source ? [[source, `http://${host}:${ports.file}/${account}/${this.#share}/${from(name)}`]] : [];
        const queries = [query, more].filter((text) => text !== '').join('&');

        if (from(name) !== name)
            await this.fresh(from(name));
        const connection = await Connection.open(host, ports.file);
        const request = sign({ method, target: `${path}${queries ? `?${queries}` : ''}`,
            headers: [['Host', `${host}:${ports.file}`], ['Content-Length', `${Buffer.byteLength(body)}`], ...headers, ...named] });

        try {
            return await connection.exchange(request, Buffer.from(body));
        } finally {
            connection.close();
        }
    }

    async must(name, operation) {
        const answer = await this.ask(name, operation);

        if (answer.status >= 300)
            throw new Error(`${operation.method} ${name} ${operation.query ?? ''}: ${shown(answer)}`);
        return answer;
    }

    /** A fresh file of LENGTH bytes, which begin with "rest". */
    async fresh(name) {
        await this.must(name, create);
        await this.must(name, putRange(0, 'rest'));
        return name;
    }

    createShare() {
        return this.must('', put('restype=share'));
    }

    /** Of a directory, in SDDL; '' is the share's root. */
    setPermission(name, sddl) {
        return this.must(name, put('restype=directory&comp=properties',
            PROPERTIES.map(([header, kept]) => [header, header === 'x-ms-file-permission' ? sddl : kept])));
    }
}
