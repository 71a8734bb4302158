// A key of a customer, as clients send it over a trusted proxy with TLS: docs/encryption.md.

import { createHash } from 'node:crypto';

/** Options of a server that accepts keys from such a proxy on this machine. */
export const TRUSTS_PROXY = ['--trustProxy', '127.0.0.1', '--allowDevelopmentAccount'];

/** Headers of the key that is made of this letter. */
export function keyHeaders(letter, isRead) {
    const key = Buffer.alloc(32, letter);

    return [['X-Forwarded-Proto', 'https'], ['x-ms-encryption-key', key.toString('base64')],
        ['x-ms-encryption-key-sha256', createHash('sha256').update(key).digest('base64')],
        ...(isRead ? [] : [['x-ms-encryption-algorithm', 'AES256']])];
}
