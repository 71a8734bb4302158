// The requests of the crash test of tables, on one connection, signed.

import { changesetBody, readTransaction, TRANSACTION_TYPE } from '../lib/transaction.mjs';
import { Client, gateHeader, Unexpected } from './client.mjs';

const JSON_HEADERS = [['Accept', 'application/json;odata=nometadata'], ['Content-Type', 'application/json'],
    ['DataServiceVersion', '3.0']];

/** One change of a row as a request: { row, value }, or { row, remove: true } of one that is there. */
function requestOf(table, partition, { row, value, remove }) {
    const target = `/${table}(PartitionKey='${partition}',RowKey='${row}')`;

    return remove
        ? { method: 'DELETE', target, headers: [['If-Match', '*']], body: '' }
        : { method: 'PUT', target, headers: [], body: JSON.stringify({ Value: value, Pad: 'x'.repeat(200) }) };
}

export class TableClient extends Client {
    constructor(server) {
        super(server, 'table');
        this.root = server.urlOf('table');
    }

    async #ask(method, target, { headers = [], body = '' } = {}) {
        const given = new Set(headers.map(([name]) => name));
        const defaults = JSON_HEADERS.filter(([name]) => !given.has(name));

        return this.ask(method, target, { headers: [...defaults, ...headers], body: Buffer.from(body) });
    }

    async createTable(name) {
        const { status } = await this.#ask('POST', '/Tables', { body: JSON.stringify({ TableName: name }) });

        if (status !== 201)
            throw new Unexpected(`Create Table: ${status}`);
    }

    /** Makes the changes of one partition: one alone, several in a transaction. */
    async write(table, partition, { changes, gate }) {
        const requests = changes.map((change) => requestOf(table, partition, change));

        if (requests.length > 1)
            return this.#transaction(requests, gate);
        const [{ method, target, headers, body }] = requests;
        const { status } = await this.#ask(method, target, { headers: [...headers, ...gateHeader(gate)], body });

        if (status !== 204)
            throw new Unexpected(`${method} ${target}: ${status}`);
    }

    /* rest: Performing-Entity-Group-Transactions */
    async #transaction(requests, gate) {
        const parts = requests.map(({ method, target, headers, body }) => ({
            method, url: this.root + target, headers: [...JSON_HEADERS, ...headers], body,
        }));
        const answer = await this.#ask('POST', '/$batch', {
            headers: [['Content-Type', TRANSACTION_TYPE], ...gateHeader(gate)], body: changesetBody(parts),
        });
        const text = answer.body.toString();
        const done = readTransaction(text).filter(({ status }) => status === 204).length;

        if (answer.status !== 202 || done !== requests.length)
            throw new Unexpected(`a transaction of ${requests.length}: ${answer.status} ${text.slice(0, 400)}`);
    }

    /** The rows of a partition in a range of RowKey: Map row -> value. */
    async rows(table, partition, from = '', to = '~') {
        const filter = encodeURIComponent(`PartitionKey eq '${partition}' and RowKey ge '${from}' and RowKey lt '${to}'`);
        const found = new Map();
        let next = '';

        do {
            const answer = await this.#ask('GET', `/${table}()?$filter=${filter}&$select=RowKey,Value${next}`);
            const row = answer.headers.get('x-ms-continuation-nextrowkey');
            const key = answer.headers.get('x-ms-continuation-nextpartitionkey');

            if (answer.status !== 200)
                throw new Unexpected(`Query Entities: ${answer.status} ${answer.body}`);
            for (const { RowKey, Value } of JSON.parse(answer.body).value)
                found.set(RowKey, Value);
            next = key === undefined ? '' : `&NextPartitionKey=${encodeURIComponent(key)}${
                row === undefined ? '' : `&NextRowKey=${encodeURIComponent(row)}`}`;
        } while (next !== '');
        return found;
    }
}
