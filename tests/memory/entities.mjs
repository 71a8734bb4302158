// What a client can do again and again to tables and entities.

import { changesetBody, TRANSACTION_TYPE } from '../lib/transaction.mjs';

const JSON_TYPE = [['Content-Type', 'application/json'], ['Accept', 'application/json;odata=nometadata']];
const ask_json = (ask, method, target, body, status, more = []) =>
    ask('table', method, target, { headers: [...JSON_TYPE, ...more], body: body ? JSON.stringify(body) : '', status });
const entity = (p, r, i) => ({ PartitionKey: p, RowKey: r, Number: i, Text: 't'.repeat(i % 300) });
const at = (p, r) => `/things(PartitionKey='${p}',RowKey='${r}')`;

const transaction = (ask, i, requests) => ask('table', 'POST', '/$batch', {
    headers: [['Content-Type', TRANSACTION_TYPE], ['Accept', 'application/json']], body: changesetBody(requests), status: 202,
});
const insert = (i, r) => ({ method: 'POST', url: 'http://127.0.0.1/devstoreaccount1/things',
    headers: JSON_TYPE, body: JSON.stringify(entity(`t${i}`, r, i)) });

export async function setup(ask) {
    await ask_json(ask, 'POST', '/Tables', { TableName: 'things' }, 201);
}

export const KINDS = () => ({
    'a table: create, ACL, entity, delete': async (ask, i) => {
        await ask_json(ask, 'POST', '/Tables', { TableName: `tab${i}` }, 201);
        await ask('table', 'PUT', `/tab${i}?comp=acl`, { body: `<SignedIdentifiers><SignedIdentifier><Id>${i}</Id><AccessPolicy>` +
            '<Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>', status: 204 });
        await ask_json(ask, 'POST', `/tab${i}`, entity('p', 'r', i), 201);
        await ask_json(ask, 'DELETE', `/Tables('tab${i}')`, null, 204);
    },
    'an entity: insert, replace, merge, get, delete': async (ask, i) => {
        const any = [['If-Match', '*']];

        await ask_json(ask, 'POST', '/things', entity(`p${i}`, 'r', i), 201);
        await ask_json(ask, 'PUT', at(`p${i}`, 'r'), entity(`p${i}`, 'r', i + 1), 204, any);
        await ask_json(ask, 'MERGE', at(`p${i}`, 'r'), { [`More${i}`]: i }, 204);
        await ask_json(ask, 'GET', at(`p${i}`, 'r'), null, 200);
        await ask_json(ask, 'DELETE', at(`p${i}`, 'r'), null, 204, any);
    },
    'an entity that stays': (ask, i) => ask_json(ask, 'POST', '/things', entity(`stays${i >> 7}`, `${i}`, i), 201),
    'queries': async (ask, i) => {
        const filter = encodeURIComponent(`PartitionKey eq 'stays${i}' or (Number gt ${i} and Text ne 'x${i}')`);

        await ask_json(ask, 'GET', `/things()?$filter=${filter}&$top=${i % 20 + 1}&$select=Number,More${i}`, null, 200);
        await ask_json(ask, 'GET', `/things()?$filter=${encodeURIComponent(`Number zz ${i}`)}`, null, 400);
        await ask_json(ask, 'GET', `/Tables?$filter=${encodeURIComponent(`TableName ge 't${i}'`)}`, null, 200);
    },
    'a transaction, and one that is refused': async (ask, i) => {
        await transaction(ask, i, [insert(i, 'a'), insert(i, 'b')]);
        await transaction(ask, i, [insert(i, 'c'), insert(i, 'a')]);
        await transaction(ask, i, [insert(i, 'd'), { ...insert(i, 'e'), url: `http://127.0.0.1/devstoreaccount1/none${i}` }]);
    },
    'tables and entities that are not there': async (ask, i) => {
        await ask_json(ask, 'GET', `/none${i}()`, null, 404);
        await ask_json(ask, 'GET', at(`none${i}`, 'r'), null, 404);
        await ask_json(ask, 'POST', '/things', { PartitionKey: `p${i}` }, 400);
    },
});
