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

/** What precedes a request: service 5 is the requests of front ends. renewed: of the owner's lease */
export function envelope({ service = 5, cell = 1, incarnation = 1, flags = 0, renewed = bootNs() } = {}) {
    const bytes = Buffer.alloc(72);
    bytes.write('LgFw\x05', 'latin1');
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

const connect = (host, port, psk, identity) => tls.connect({ host, port, minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256',
    pskCallback: () => ({ psk, identity }), checkServerIdentity: () => undefined });

/** Returns a function that sends a request, and returns the status of its response; 0 if the connection is closed instead. It
 *  rejects if the handshake fails. psk: instead of the cluster's key */
export async function peerOf(member, cluster, { psk } = {}) {
    const secret = psk ?? Buffer.from((await readFile(join(cluster, 'key'), 'latin1')).split(' ')[2], 'hex');
    const identity = pskIdentity(await readFile(join(cluster, 'cluster'), 'latin1'), secret);

    return (request) => new Promise((resolve, reject) => {
        const socket = connect('127.0.0.1', member.ports.cluster, secret, identity);
        socket.on('error', reject);
        socket.on('close', () => resolve(0));
        socket.on('data', (data) => {
            socket.destroy();
            resolve(Number(/HTTP\/1.1 (\d+)/.exec(data.toString('latin1'))?.[1]));
        });
        socket.write(request);
    });
}

/* ---- what a cell has ---- */

/** Reads values as base/codec.h writes them. */
class Decoder {
    #from;
    #at;

    constructor(from, at = 0) {
        this.#from = from;
        this.#at = at;
    }

    get ends() {
        return this.#at >= this.#from.length;
    }

    raw(size) {
        return this.#from.subarray(this.#at, this.#at += size);
    }

    number() {
        let value = 0, factor = 1, byte;
        do {
            byte = this.#from[this.#at++];
            value += (byte & 0x7F) * factor;
            factor *= 128;
        } while (byte & 0x80);
        return value;
    }

    text() {
        return this.raw(Math.max(0, this.number() - 1)).toString();
    }
}

const SLOT_BYTES = 4096, FIELDS_AT = 14;

/** The newest record of the owner of a cell: { incarnation, host, port }. See src/cluster/owner_record.h. */
async function ownerOf(cluster, cell) {
    const file = await readFile(join(cluster, 'cells', String(cell).padStart(4, '0'), 'owner'));
    let newest = { renewal: -1 };

    for (let at = 0; at < file.length; at += SLOT_BYTES) {
        const fields = new Decoder(file.subarray(at, at + SLOT_BYTES), FIELDS_AT);

        if (file.toString('latin1', at, at + 8) !== 'LagraOwn')
            continue;
        fields.raw(1 + 16);
        fields.number();
        const incarnation = fields.number(), renewal = fields.number();
        fields.raw(1);
        fields.number();
        fields.raw(8 + 16);
        fields.number();
        const [, , , forward] = Array.from({ length: 4 }, () => fields.text());
        if (renewal > newest.renewal)
            newest = { incarnation, renewal, host: forward.split(':')[0], port: Number(forward.split(':')[1]) };
    }
    return newest;
}

/** The containers, queues, tables and shares that are in a cell: { service, account, name } each, from its owner. */
export async function namesIn(cluster, cell) {
    const secret = Buffer.from((await readFile(join(cluster, 'key'), 'latin1')).split(' ')[2], 'hex');
    const identity = pskIdentity(await readFile(join(cluster, 'cluster'), 'latin1'), secret);
    const { host, port, incarnation } = await ownerOf(cluster, cell);
    const response = await new Promise((resolve, reject) => {
        const socket = connect(host, port, secret, identity), parts = [];

        socket.on('error', reject);
        socket.on('close', () => reject(new Error(`the owner of cell ${cell} has closed the connection`)));
        socket.on('data', (data) => {
            parts.push(data);
            const all = Buffer.concat(parts), head = all.indexOf('\r\n\r\n');
            const length = Number(/content-length: (\d+)/i.exec(all.toString('latin1', 0, Math.max(head, 0)))?.[1]);
            if (head < 0 || all.length < head + 4 + length)
                return;
            socket.destroy();
            resolve({ status: Number(all.toString('latin1', 9, 12)), body: all.subarray(head + 4, head + 4 + length) });
        });
        socket.write(Buffer.concat([envelope({ cell, incarnation }), post('/-/move/names', Buffer.from([1]))]));
    });
    const names = [], body = new Decoder(response.body, 1);

    if (response.status !== 200)
        throw new Error(`cell ${cell}: ${response.status}`);
    while (!body.ends)
        names.push({ service: body.text(), account: body.text(), name: body.text() });
    return names;
}
