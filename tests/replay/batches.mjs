// Blob Batch in the recordings: the requests inside are signed anew, the answers inside compared one by one.

import { BATCH_TYPE, batchBody, partRequest, readBatch } from '../lib/batch.mjs';

/** As recorded a part ends with its Authorization, whose value was taken out with the line's end. */
function partOf(text) {
    const [outer, inner] = text.split(/\r\n\r\n(.*)/s);
    const [first, ...lines] = inner.split('\r\n').filter(Boolean);
    const [method, target] = first.split(' ');
    const headers = lines.map((line) => line.split(/: (.*)/s).slice(0, 2))
        .filter(([name]) => !/^(authorization|content-length|user-agent|x-ms-date)$/i.test(name));

    return { id: /^Content-ID: (.*)$/m.exec(outer)?.[1].trim(), method, target: target.replace(/\?$/, ''), headers };
}

/** The requests inside: [{ id, method, target, headers }]; null: they were not recorded, or not all of them. */
export function batchPartsOf({ reqBody }) {
    const boundary = typeof reqBody === 'string' && /^--(\S+)\r\n/.exec(reqBody)?.[1];

    return boundary ? reqBody.split(`--${boundary}`).slice(1).filter((text) => !/^--\s*$/.test(text) && text.trim() !== '').map(partOf) : null;
}

/** The same as a request's body to an account, signed; and its Content-Type. */
export function batchOf(parts, account, offsetMs) {
    const body = Buffer.from(batchBody(parts.map(({ id, method, target, headers }) =>
        ({ id, request: partRequest({ method, target: `/${account}${target}`, headers }, { offsetMs }) }))));

    return { body, type: BATCH_TYPE };
}

const boundaryOf = (text) => /^--(\S+)\r\n/.exec(text)?.[1];

const asExchange = ({ status, headers, body }, { at }) => ({
    status, error: headers.get('x-ms-error-code'), respHeaders: Object.fromEntries(headers), respBody: body || null, at,
});
const asAnswer = ({ status, headers, body }) => ({
    status, headers: { get: (name) => headers.get(name), list: [...headers] }, body: Buffer.from(body),
});

/** What differs in the answers inside. differencesOf: as of a single exchange. */
export function batchDifferences(exchange, answer, differencesOf) {
    const boundary = boundaryOf(exchange.respBody ?? '');

    if (exchange.svc !== 'blob' || !boundary?.startsWith('batchresponse_'))
        return null;
    const recorded = readBatch(`multipart/mixed; boundary=${boundary}`, exchange.respBody);
    const ours = readBatch(answer.headers.get('content-type'), answer.body.toString());

    if (recorded.length !== ours.length)
        return [`${recorded.length} parts -> ${ours.length}`];
    return recorded.flatMap((part, n) => [
        ...['id', 'reason'].filter((name) => part[name] !== ours[n][name]).map((name) => `${name} ${part[name]} -> ${ours[n][name]}`),
        ...differencesOf(asExchange(part, exchange), asAnswer(ours[n])),
    ].map((text) => `part ${n}: ${text}`));
}
