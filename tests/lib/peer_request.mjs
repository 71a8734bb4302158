// Requests to the internal endpoint of a front end, as the front ends of other cells send them.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import tls from 'node:tls';

/** The identity that belongs to a secret: the id of the cluster, and the start of the secret's hash. cluster: text of the file */
export const pskIdentity = (cluster, secret) => `${cluster.split(' ')[2]}-${createHash('sha256').update(secret).digest('hex').slice(0, 8)}`;

/** The time since the machine was booted, to 10 ms, as the owner's clock has it. */
export const bootNs = () => BigInt(readFileSync('/proc/uptime', 'latin1').split(' ')[0].replace('.', '')) * 10_000_000n;

/** What precedes a request: service 4 is the requests of front ends, without a renewal (bootNs() is one of the owner's lease). */
export function envelope({ service = 4, cell = 1, incarnation = 1, flags = 0, renewed = 0n } = {}) {
    const bytes = Buffer.alloc(72);
    bytes.write('LgFw\x04', 'latin1');
    bytes.writeUInt8(service, 5);
    bytes.writeUInt8(flags, 6);
    bytes.writeUInt8(1, 7);
    bytes.writeUInt32BE(cell, 8);
    bytes.writeBigUInt64BE(BigInt(incarnation), 12);
    bytes.writeBigUInt64BE(renewed, 48);
    return bytes;
}

export const post = (path, body, method = 'POST') =>
    Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: cell-1\r\nContent-Length: ${body.length}\r\n\r\n`), body]);

/** A string or buffer of less than 127 bytes, as base/codec.h encodes it. */
export const encoded = (text) => Buffer.concat([Buffer.from([text.length + 1]), Buffer.from(text)]);

/** Returns a function that sends a request, and returns the status of its response; 0 if the connection is closed instead. It
 *  rejects if the handshake fails. psk: instead of the cluster's key */
export async function peerOf(member, cluster, { psk } = {}) {
    const secret = psk ?? Buffer.from((await readFile(join(cluster, 'key'), 'latin1')).split(' ')[2], 'hex');
    const identity = pskIdentity(await readFile(join(cluster, 'cluster'), 'latin1'), secret);

    return (request) => new Promise((resolve, reject) => {
        const socket = tls.connect({ host: '127.0.0.1', port: member.ports.cluster, minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256',
            pskCallback: () => ({ psk: secret, identity }), checkServerIdentity: () => undefined });
        socket.on('error', reject);
        socket.on('close', () => resolve(0));
        socket.on('data', (data) => {
            socket.destroy();
            resolve(Number(/HTTP\/1.1 (\d+)/.exec(data.toString('latin1'))?.[1]));
        });
        socket.write(request);
    });
}
