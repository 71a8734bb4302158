// The bodies of the Table and Data Lake services' answers as lists of [path, value]: JSON, and multipart
// bodies of transactions, whose parts have a status, headers and a body of JSON each.

/** Numbers stay as they were written: 10.0 is not 10. */
const NUMBER = '\u0001';
export const parseJson = (text) => JSON.parse(
    text.replace(/([:[,])(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[,}\]])/g, `$1"\\u0001$2"`));
export const writeJson = (value) => JSON.stringify(value).replace(/"\\u0001([^"]*)"/g, '$1');

/** The parts of a transaction's answer: [{ status, headers, body }]; isChangeset. */
export function partsOf(text) {
    const boundary = /^--(changesetresponse_\S+)\r?$/m.exec(text)?.[1] ?? /^--(batchresponse_\S+)\r?$/m.exec(text)?.[1];
    const parts = text.split(`--${boundary}`).slice(1, -1).map((part) => {
        const [, head, body] = /\r\n\r\n(HTTP\/1\.1 .*?)\r\n\r\n(.*?)(?:\r\n)?$/s.exec(part);
        const [line, ...headers] = head.split('\r\n');
        return {
            status: Number(line.split(' ')[1]), body,
            headers: new Map(headers.map((one) => {
                const at = one.indexOf(':');
                return [one.slice(0, at).toLowerCase(), one.slice(at + 1).trim()];
            })),
        };
    });

    return { parts, isChangeset: boundary.startsWith('changeset') };
}

/** Every value of a JSON text with its path, in the order of the text. */
function valuesOf(value, path) {
    if (value === null || typeof value !== 'object')
        return [[path, value]];
    return Object.entries(value).flatMap(([name, one]) => valuesOf(one, path ? `${path}/${name}` : name));
}

/** A value as it is compared; null: of the moment. */
function comparable(path, value) {
    const name = path.split('/').at(-1);

    if (['Timestamp', 'odata.etag', 'etag', 'lastModified', 'creationTime'].includes(name))
        return null;
    return path.endsWith('odata.error/message/value') || path === 'error/message' ? value.split('\n')[0] : value;
}

function compareValues(recorded, ours) {
    const n = recorded.findIndex(([path], at) => path !== ours[at]?.[0]);

    if (n >= 0 || ours.length > recorded.length)
        return [`json ${recorded[n]?.[0] ?? 'nothing'} -> ${ours[n < 0 ? recorded.length : n]?.[0] ?? 'nothing'}`];
    return recorded.flatMap(([path, value], at) => {
        const [x, y] = [comparable(path, value), comparable(path, ours[at][1])];
        return x === y ? [] : [`value ${path}: ${x} -> ${y}`.replaceAll(NUMBER, '')];
    });
}

const compareJson = (recorded, ours) => compareValues(valuesOf(parseJson(recorded), ''), valuesOf(parseJson(ours), ''));

function compareParts(recorded, ours) {
    if (!ours || recorded.status !== ours.status)
        return [`part ${recorded.status} -> ${ours?.status}`];
    const [a, b] = [[...recorded.headers.keys()], [...ours.headers.keys()]];
    return [
        ...a.filter((name) => !b.includes(name)).map((name) => `header ${name} -> missing`),
        ...b.filter((name) => !a.includes(name)).map((name) => `header missing -> ${name}`),
        ...compareValues(...[recorded, ours].map(({ headers }) => [...headers].filter(([name]) => a.includes(name) && b.includes(name)).sort())),
        ...(recorded.body.startsWith('{') ? compareJson(recorded.body, ours.body) : []),
    ];
}

/** What differs between two bodies, or null where they are none of these. */
export function odataDifferences(recorded, ours) {
    if (recorded.startsWith('{') && ours.startsWith('{'))
        return compareJson(recorded, ours);
    if (!recorded.startsWith('--batchresponse_') || !ours.startsWith('--batchresponse_'))
        return null;
    const [a, b] = [partsOf(recorded), partsOf(ours)];
    return a.parts.length !== b.parts.length || a.isChangeset !== b.isChangeset
        ? [`parts ${a.parts.length} -> ${b.parts.length}`]
        : a.parts.flatMap((part, n) => compareParts(part, b.parts[n]));
}
