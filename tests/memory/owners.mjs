// What somebody with a bearer token can do again and again, over TLS.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Connection } from '../lib/http.mjs';

const base64url = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const VERSION = ['x-ms-version', '2021-12-02'];
const seconds = () => Math.floor(Date.now() / 1000);

/** A token that nobody checks (--oauth basic), of another owner each time. */
const bearer = (i) => ['Authorization', `Bearer ${base64url({ alg: 'none', typ: 'JWT' })}.${base64url({
    iss: `https://sts.windows.net/00000000-0000-4000-8000-${String(i).padStart(12, '0')}/`, aud: 'https://storage.azure.com',
    iat: seconds() - 10, nbf: seconds() - 10, exp: seconds() + 600, oid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    tid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
})}.`];

/** Arguments of a server that takes such tokens; its certificate is made in the folder. */
export function secureArguments(folder) {
    const file = (name) => path.join(folder, name);

    writeFileSync(file('template'), 'cn = localhost\nip_address = 127.0.0.1\nexpiration_days = 2\nsigning_key\ntls_www_server\n');
    for (const what of [['--generate-privkey', '--key-type', 'ecdsa', '--outfile', file('key.pem')],
        ['--generate-self-signed', '--load-privkey', file('key.pem'), '--template', file('template'), '--outfile', file('cert.pem')]])
        execFileSync('certtool', what, { stdio: 'ignore' });
    return ['--cert', file('cert.pem'), '--key', file('key.pem'), '--oauth', 'basic'];
}

export const KINDS = (server) => ({
    'user delegation keys': (ask, i) => ask('blob', 'POST', '/?restype=service&comp=userdelegationkey', {
        unsigned: true, headers: [VERSION, bearer(i)], status: 200,
        body: `<KeyInfo><Start>${new Date().toISOString().slice(0, 19)}Z</Start><Expiry>${new Date(Date.now() + 3600000 + i * 1000).toISOString().slice(0, 19)}Z</Expiry></KeyInfo>`,
    }),
    'containers of owners with tokens': async (ask, i) => {
        await ask('blob', 'PUT', `/own${i}?restype=container`, { unsigned: true, headers: [VERSION, bearer(i)], status: 201 });
        await ask('blob', 'DELETE', `/own${i}?restype=container`, { unsigned: true, headers: [VERSION, bearer(i + 1)], status: 202 });
    },
    'connections with TLS, opened and closed': async (ask, i) => {
        const connection = await Connection.open(server.host, server.port, true);

        await connection.send(Buffer.from(`GET /a${i} HTTP/1.1\r\nHost: h\r\n\r\n`));
        await connection.response();
        connection.close();
        const plain = await Connection.open(server.host, server.port);
        await plain.send(Buffer.from(`GET /a${i} HTTP/1.1\r\n\r\n`));
        plain.close();
    },
});
