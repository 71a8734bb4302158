// What replaying the File service needs beside what recording.mjs has for blobs: shares stand for
// containers, directories and files for blobs.

/** Short form of what is asked: "PUT share", "GET directory?comp=list", "PUT file?comp=range". */
export function fileOperationOf({ method, container, blob, parameter }) {
    const restype = parameter('restype');
    const comp = parameter('comp');
    const below = restype === 'directory' ? 'directory' : blob ? 'file' : 'share';

    return `${method} ${container ? below : 'service'}${comp ? `?comp=${comp}` : ''}`;
}

/* Written by their headers, of which nothing was recorded. */
const BY_HEADERS = new Set(['range', 'properties', 'metadata', 'acl', 'lease', 'copy', 'rename', 'snapshot',
    'forceclosehandles']);

const PROPERTIES = ['content-type', 'content-encoding', 'content-language', 'content-disposition', 'cache-control'];
const among = (headers, names) => Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));

/** Headers that these versions require, which recordings without request headers leave out. */
function smbHeadersOf(version) {
    return version < '2019-02-02' || version >= '2021-06-08' ? {} : {
        'x-ms-file-permission': 'inherit', 'x-ms-file-attributes': 'None',
        'x-ms-file-creation-time': 'now', 'x-ms-file-last-write-time': 'now',
    };
}

/** Headers that a request without recorded ones must have had; null: that cannot be told. */
export function fileHeadersOf({ method, container, blob, parameter, status, resource, respHeaders }, later) {
    const isCreate = method === 'PUT' && blob && !parameter('comp') && parameter('restype') !== 'directory';

    if (method === 'PUT' && (!container || BY_HEADERS.has(parameter('comp')) || (isCreate && status !== 201)))
        return null;
    const shown = later.find((other) => other.resource === resource && !['PUT', 'DELETE'].includes(other.method) &&
        [200, 206].includes(other.status) && !other.parameter('comp'))?.respHeaders ?? {};
    if (method === 'PUT' && !blob && !parameter('comp'))
        return among(shown, ['x-ms-share-quota', 'x-ms-access-tier']);
    const smb = smbHeadersOf(respHeaders['x-ms-version']);
    if (!isCreate)
        return method === 'PUT' && blob && !parameter('comp') ? smb : {};
    const total = /\/(\d+)$/.exec(shown['content-range'] ?? '')?.[1];
    const properties = Object.entries(among(shown, PROPERTIES)).map(([name, value]) => [`x-ms-${name}`, value]);
    return {
        'x-ms-type': 'file', 'x-ms-content-length': total ?? shown['content-length'] ?? '0',
        ...Object.fromEntries(properties), ...smb, ...among(respHeaders, ['x-ms-file-attributes']),
    };
}

/** Directories and files that were there before the run began, as far as its first answer about them
 *  shows them, those above them first: [{ path, length }]; length: of a file. */
export function filesBefore(exchanges) {
    const made = new Map();
    const seen = new Set();

    for (const { path, container, blob, method, status, parameter, respHeaders, error } of exchanges) {
        const name = new URL(path, 'http://recorded').pathname.replace(/\/+$/, '');
        const above = name.split('/').slice(2, -1);
        const isDirectory = parameter('restype') === 'directory';
        const creates = method === 'PUT' && [null, 'rename'].includes(parameter('comp'));
        if (!blob || seen.has(name))
            continue;
        seen.add(name);
        for (let n = 1; n <= above.length && error !== 'ParentNotFound'; n++) {
            const directory = `/${container}/${above.slice(0, n).join('/')}`;
            if (!seen.has(directory))
                made.set(directory, { path: directory });
            seen.add(directory);
        }
        if (creates || status >= 300)
            continue;
        const total = /\/(\d+)$/.exec(respHeaders['content-range'] ?? '')?.[1];
        made.set(name, { path: name,
            ...(isDirectory ? {} : { length: Number(total ?? respHeaders['content-length'] ?? 0) }) });
    }
    return [...made.values()];
}
