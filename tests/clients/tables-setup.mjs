// What the tests of the Table service share: its client, tables that go away with their test.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { AzureNamedKeyCredential, TableClient, TableServiceClient } from '@azure/data-tables';
import { errorCode } from '../lib/errors.mjs';
import { account } from './setup.mjs';

assert(process.env.LAGRA_TEST_TABLE_URL, 'LAGRA_TEST_TABLE_URL is not set: start the tests with run.mjs');
export const tableUrl = process.env.LAGRA_TEST_TABLE_URL;
export const tableCredential = new AzureNamedKeyCredential(account.name, account.key);
// Retries would hide a 500; each request is made once.
const once = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
export const tables = new TableServiceClient(tableUrl, tableCredential, once);

let count = 0;
const run = randomBytes(4).toString('hex');
export const tableName = () => `T${run}x${++count}`;

export function tableClient(name, credential = tableCredential) {
    return credential ? new TableClient(tableUrl, name, credential, once)
        : new TableClient(tableUrl, name, once);
}

// A table of its own for the test `t`, deleted after it.
export async function newTable(t) {
    const client = tableClient(tableName());
    await client.createTable();
    t.after(() => client.deleteTable().catch(() => {}));
    return client;
}

// The call is refused with this HTTP status and this code of an odata.error (or of the XML).
export async function refusedTable(promise, status, code) {
    let answer;
    try {
        answer = await promise;
    } catch (error) {
        const got = {
            status: error.statusCode,
            code: error.response && errorCode({ headers: error.response.headers, body: error.response.bodyAsText }),
        };
        if (got.status === undefined)
            throw error;
        assert.deepEqual(got, { status, code }, error.message);
        return error;
    }
    assert.fail(`expected ${status} ${code}, got success: ${JSON.stringify(answer)}`);
}
