// Tables in the specs: short forms of names and entities made into requests, and answers into text.

import { changesetBody, queryBody, readTransaction, TRANSACTION_TYPE } from '../lib/transaction.mjs';

/** /t, /t(p,r), /t(), /Tables, /Tables('t') or /$batch; t may be t2.. */
export const TABLE_PATH = /^\/(t\d*(\(([^(),]+,[^(),]+)?\))?|Tables(\('t\d*'\))?|\$batch)$/;

const JSON_HEADERS = [
    ['Accept', 'application/json;odata=minimalmetadata'], ['Content-Type', 'application/json'],
    ['DataServiceVersion', '3.0'],
];
const WRITTEN = /(\w+)=(\S*)/g;
/* Of an entity beside its properties. */
const SYSTEM = /^(PartitionKey|RowKey|Timestamp|.*odata\..*)$/;

/** "/t2(p,r)" with the name of the permutation's table. container: a name that nobody else uses */
export function tablePath(path, container) {
    const name = container.replaceAll('-', '');

    return path.replace(/^\/t(\d*)/, `/${name}$1`).replace(/^(\/Tables\(')t(\d*)/, `$1${name}$2`)
        .replace(/\(([^(),]+),([^(),]+)\)$/, "(PartitionKey='$1',RowKey='$2')");
}

/** "A=1 B=x" as JSON; for an insert the keys come first: "p,r A=1". A number is an Int32. */
function entityText(text) {
    const [keys, partition, row] = /^([^\s,=]+),([^\s,=]+)/.exec(text) ?? [''];
    const properties = [...text.slice(keys.length).matchAll(WRITTEN)]
        .map(([, name, value]) => [name, /^-?\d+$/.test(value) ? Number(value) : value]);

    return JSON.stringify(Object.fromEntries([
        ...(keys ? [['PartitionKey', partition], ['RowKey', row]] : []), ...properties,
    ]));
}

/** The JSON, or XML, that a request's text stands for. */
function bodyText({ method, path, body }, container) {
    const text = body?.text ?? '';

    if (method === 'POST' && path === '/Tables')
        return JSON.stringify({ TableName: tablePath(`/${text}`, container).slice(1) });
    return text === '' || text.startsWith('<') ? text : entityText(text);
}

/** A part of a transaction. expand: puts in what was kept; root: the URL of the account */
function part(action, { container, expand, root }) {
    const query = action.query && `?${action.query}`;

    return {
        method: action.method, url: root + tablePath(expand(action.path), container) + query,
        headers: [...JSON_HEADERS, ...action.headers.map(([name, value]) => [name, expand(value)])],
        body: bodyText(action, container),
    };
}

/** Body and headers of a request to the Table service. context: container, expand, root */
export function tableRequest(action, context) {
    if (!action.parts)
        return { headers: JSON_HEADERS, body: Buffer.from(bodyText(action, context.container)) };
    const parts = action.parts.map((asked) => part(asked, context));
    const body = parts[0].method === 'GET' ? queryBody(parts[0]) : changesetBody(parts);

    return { headers: [['Content-Type', TRANSACTION_TYPE]], body: Buffer.from(body) };
}

function errorOf(answer) {
    const code = answer.headers.get('x-ms-error-code');
    const error = /^\{"odata.error"/.test(answer.body) ? JSON.parse(answer.body)['odata.error'] : {};
    const index = /^\d+(?=:)/.exec(error.message?.value ?? '');

    if (code !== undefined && error.code !== undefined && code !== error.code)
        return `${answer.status} ${code} (the body says ${error.code})`;
    return `${answer.status} ${code ?? error.code ?? 'without a code'}${index ? ` at ${index}` : ''}`;
}

function showEntity(entity, names) {
    const properties = Object.entries(entity).filter(([name]) => !SYSTEM.test(name))
        .map(([name, value]) => `${name}=${value}`).sort();

    return [`${entity.PartitionKey},${entity.RowKey}`, ...properties, names.etag(entity['odata.etag'])].join(' ');
}

/* Names of tables differ from run to run, but for what follows the permutation's: t, t2.. */
const showTable = (name) => name.replace(/^iso\d+c/, 't');

function showBody(body, names) {
    if (!body.startsWith('{'))
        return body === '' ? [] : [`policies [${[...body.matchAll(/<Id>(.*?)<\/Id>/g)].map(([, id]) => id).join(' ')}]`];
    const { value, ...single } = JSON.parse(body);
    const show = (one) => (one.TableName ? showTable(one.TableName) : showEntity(one, names));

    return [value ? `[${value.map(show).join(', ')}]` : show(single)];
}

function showOne(method, answer, names) {
    if (answer.status >= 300)
        return errorOf(answer);
    const etag = method === 'GET' ? undefined : answer.headers.get('etag');
    const more = answer.headers.get('x-ms-continuation-nextpartitionkey') ? ['and more'] : [];

    return [answer.status, ...(etag ? [names.etag(etag)] : []),
        ...(method === 'GET' ? showBody(answer.body, names) : []), ...more].join(' ');
}

/** An answer of the Table service as text, that of a transaction part by part. */
export function showTableAnswer({ method, parts }, { status, headers, body }, names) {
    const answer = { status, headers, body: body.toString() };

    if (!/^multipart\/mixed/.test(headers.get('content-type') ?? ''))
        return showOne(method, answer, names);
    const shown = readTransaction(answer.body)
        .map((one, at) => showOne(parts[at]?.method ?? method, one, names));

    return `${status} [${shown.join(', ')}]`;
}
