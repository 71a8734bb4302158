// Bodies of an Entity Group Transaction, written and read byte by byte.
// rest: Performing-Entity-Group-Transactions

const BATCH = 'batch_of-the-tests';
const CHANGESET = 'changeset_of-the-tests';

/** The Content-Type of a body that changesetBody() or queryBody() makes. */
export const TRANSACTION_TYPE = `multipart/mixed; boundary=${BATCH}`;

function partText({ method, url, headers, body = '' }) {
    const length = method === 'GET' ? [] : [['Content-Length', `${Buffer.byteLength(body)}`]];

    return ['Content-Type: application/http', 'Content-Transfer-Encoding: binary', '', `${method} ${url} HTTP/1.1`,
        ...[...headers, ...length].map(([name, value]) => `${name}: ${value}`), '', body].join('\r\n');
}

/** Writes, all of them or none. requests: { method, url, headers: [[name, value]..], body: a text } */
export function changesetBody(requests) {
    return [`--${BATCH}`, `Content-Type: multipart/mixed; boundary=${CHANGESET}`, '',
        ...requests.map((request) => `--${CHANGESET}\r\n${partText(request)}`),
        `--${CHANGESET}--`, '', `--${BATCH}--`, ''].join('\r\n');
}

/** A query alone. */
export function queryBody(request) {
    return [`--${BATCH}`, partText(request), `--${BATCH}--`, ''].join('\r\n');
}

/** The answers of the parts: { status, headers: Map with names in lower case, body }. */
export function readTransaction(text) {
    return text.split(/^(?=HTTP\/1\.1 \d{3} )/m).slice(1).map((part) => {
        const [head, ...rest] = part.split('\r\n\r\n');
        const [line, ...headers] = head.split('\r\n');
        return {
            status: Number(line.split(' ')[1]),
            headers: new Map(headers.map((header) => {
                const [name, value] = header.split(/: (.*)/s);
                return [name.toLowerCase(), value];
            })),
            body: rest.join('\r\n\r\n').replace(/\r\n--[^]*$/, ''),
        };
    });
}
