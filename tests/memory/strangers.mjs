// What somebody without a key can do again and again, and connections that are opened and closed.

import { Connection } from '../lib/http.mjs';
import { containerSas } from '../lib/sas.mjs';
import { sign } from '../lib/sign.mjs';

const KEY = Buffer.from('not the key').toString('base64');

/** Opens a connection, sends the bytes, and closes it when something or nothing comes. */
async function send(server, text, { reads = true } = {}) {
    const connection = await Connection.open(server.host, server.port);

    try {
        await connection.send(Buffer.from(text, 'latin1'));
        if (reads)
            await connection.response().catch(() => null);
    } finally {
        connection.close();
    }
}

export const KINDS = (server) => ({
    'accounts that are not there': async (ask, i) => {
        for (const service of ['blob', 'queue', 'table']) {
            const target = `/account${i}/${service === 'table' ? 'Tables' : 'c?restype=container&comp=list'}`;
            const headers = [['Host', `${server.host}:${server.ports[service]}`]];
            const request = sign({ method: 'GET', target, headers }, { service, credentials: { account: `account${i}`, key: KEY } });

            await ask(service, 'GET', target, { whole: true, unsigned: true, headers: request.headers, status: [400, 403, 404] });
        }
    },
    'wrong signatures, tokens and access signatures': async (ask, i) => {
        const as = (value) => ask('blob', 'GET', '/mem/hot', { unsigned: true, status: [400, 401, 403, 404],
            headers: [['x-ms-date', new Date().toUTCString()], ['x-ms-version', '2024-11-04'], ['Authorization', value]] });
        const sas = containerSas('mem', { sp: 'r', se: '2099-01-01', si: `policy${i}` });

        await as(`SharedKey devstoreaccount1:${Buffer.from(`${i}`).toString('base64')}`);
        await as(`SharedKey name${i}:AAAA`);
        await as(`Bearer a${i}.b.c`);
        await as(`Kerberos ${i}`);
        await ask('blob', 'GET', `/mem/hot?${sas}`, { unsigned: true, status: 403 });
        await ask('blob', 'GET', `/mem/hot?${sas.replace(/sig=.*/, `sig=${i}`)}`, { unsigned: true, status: 403 });
    },
    'hosts, methods, versions and headers that are not known': async (ask, i) => {
        const headers = [['Host', `name${i}.blob.localhost`]];

        await ask('blob', 'GET', `/x${i}`, { whole: true, unsigned: true, headers });
        await ask('blob', 'GET', '/mem/hot', { headers: [['x-ms-version', `20${i}`]], status: 400 });
        await ask('blob', 'GET', '/mem/hot', { headers: [[`x-ms-odd-${i}`, `${i}`]] });
        await ask('blob', 'PUT', `/mem/hot?comp=odd${i}`, { status: [400, 405, 501] });
    },
    'connections opened and closed': async (ask, i) => {
        await send(server, '', { reads: false });
        await send(server, `GET /a${i} HTTP/1.1\r\nHost: h${i}\r\n\r\n`);
        await send(server, `GET /a${i} HT`, { reads: false });
    },
    'heads that are malformed': async (ask, i) => {
        await send(server, `\x16\x03\x01${i}\r\n\r\n`);
        await send(server, `GET /${'x'.repeat(20000 + i % 100)} HTTP/1.1\r\n\r\n`);
        await send(server, `PUT /devstoreaccount1/mem/b${i} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz${i}\r\n`);
    },
    'uploads that are cut': async (ask, i) => {
        const request = sign({ method: 'PUT', target: `/devstoreaccount1/mem/cut-${i}`, headers: [['Host', 'h'],
            ['Content-Length', '100000'], ['x-ms-blob-type', 'BlockBlob']] });

        await send(server, `PUT ${request.target} HTTP/1.1\r\n${request.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${'x'.repeat(20000)}`,
            { reads: false });
    },
});
