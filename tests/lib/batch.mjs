// Bodies of a Blob Batch, written and read byte by byte. rest: Blob-Batch

import { authorization } from './sign.mjs';

const BOUNDARY = 'batch_of-the-tests';

/** The Content-Type of a body that batchBody() makes. */
export const BATCH_TYPE = `multipart/mixed; boundary=${BOUNDARY}`;

/** A part's request in full: { method, target, headers: [[name, value]..] }, signed. It has no
 *  x-ms-version: that of the batch counts.
 *  options: credentials; offsetMs, of its date; version: has one all the same */
export function partRequest(request, { credentials, offsetMs = 0, version } = {}) {
    const headers = [
        ['Content-Length', '0'], ...(request.headers ?? []),
        ['x-ms-date', new Date(Date.now() + offsetMs).toUTCString()],
        ...(version ? [['x-ms-version', version]] : []),
    ];
    const dated = { ...request, headers };
    return { ...dated, headers: [...headers, ['Authorization', authorization(dated, credentials)]] };
}

/** Parts { id, request } or texts as the JavaScript client writes them. */
export function batchBody(parts) {
    const texts = parts.map((part) => typeof part === 'string' ? part : [
        'Content-Type: application/http', 'Content-Transfer-Encoding: binary',
        ...(part.id === undefined ? [] : [`Content-ID: ${part.id}`]), '',
        `${part.request.method} ${part.request.target} HTTP/1.1`,
        ...part.request.headers.map(([name, value]) => `${name}: ${value}`), '',
    ].join('\r\n'));
    return `${texts.map((text) => `--${BOUNDARY}\r\n${text}\r\n`).join('')}--${BOUNDARY}--\r\n`;
}

/** The parts of an answer: { id, status, reason, headers: Map, body }. Throws what is not exactly
 *  of the recorded form. */
export function readBatch(contentType, text) {
    const [, boundary] = /^multipart\/mixed; boundary=(batchresponse_[0-9a-f-]{36})$/.exec(contentType);
    const end = `--${boundary}--`;

    if (!text.endsWith(end))
        throw new Error(`not of the form of a batch: ${text}`);
    return text.slice(0, -end.length).split(`--${boundary}\r\n`).slice(1).map((part) => {
        const match = /^Content-Type: application\/http\r\n(?:Content-ID: (.*)\r\n)?\r\nHTTP\/1\.1 (\d{3}) (.*)\r\n((?:[^\r\n]+\r\n)*)\r\n(?:([^]+)\r\n)?$/
            .exec(part);
        if (!match)
            throw new Error(`not of the form of a part: ${part}`);
        const [, id, status, reason, headers, body = ''] = match;
        return {
            id, status: Number(status), reason, body,
            headers: new Map(headers.split('\r\n').filter(Boolean).map((line) => {
                const [name, value] = line.split(/: (.*)/s);
                return [name.toLowerCase(), value];
            })),
        };
    });
}
