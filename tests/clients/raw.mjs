// Requests that the SDK would not send: exact headers, query and body, signed, over one socket
// each. Built on tests/lib, which has the signature and HTTP/1.1 by hand.
import assert from 'node:assert/strict';
import { errorCode } from '../lib/errors.mjs';
import { Connection } from '../lib/http.mjs';
import { DEVELOPMENT, sign } from '../lib/sign.mjs';
import { account, url } from './setup.mjs';

const shared = new URL(url);

// Sends one request and reads its answer: { status, headers, body, code, text }.
//   path     below the account, percent-encoded: "/container/blob?comp=block"
//   headers  { name: value }; a value of undefined removes a header that is added otherwise
//   body     Buffer or string
//   options  signed: false leaves out the Authorization; credentials; version; offsetMs; target:
//            the whole request target instead of account and path; base: { host, port } of another
//            server
export async function raw(method, path, headers = {}, body = '', options = {}) {
    const bytes = Buffer.from(body);
    const { hostname, port } = options.base ? { hostname: options.base.host, port: options.base.port } : shared;
    const all = {
        Host: `${hostname}:${port}`,
        'Content-Length': method === 'GET' || method === 'HEAD' ? undefined : String(bytes.length),
        ...headers,
    };
    const request = {
        method,
        target: options.target ?? `/${account.name}${path}`,
        headers: Object.entries(all).filter(([, value]) => value !== undefined),
    };
    const ready = options.signed === false ? request
        : sign(request, { version: '2026-10-06', credentials: DEVELOPMENT, ...options });
    const connection = await Connection.open(hostname, Number(port));
    try {
        const answer = await connection.exchange(ready, bytes);
        answer.text = answer.body.toString();
        answer.code = errorCode(answer);
        return answer;
    } finally {
        connection.close();
    }
}

// The request is refused with this status and code, said in the header and in Azure's XML alike.
export async function rawRefused(promise, status, code) {
    const answer = await promise;
    assert.deepEqual({ status: answer.status, code: answer.code }, { status, code }, answer.text);
    if (answer.body.length > 0)
        assert.equal(/<Code>(.*?)<\/Code>/.exec(answer.text)?.[1], code);
    return answer;
}
