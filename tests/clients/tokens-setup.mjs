// What the tests of bearer tokens share: tokens that are signed here, and servers over HTTPS that check them.
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newCertificate } from '../lib/certificate.mjs';
import { Server } from '../lib/server.mjs';

export const TENANT = '22222222-2222-2222-2222-222222222222';
export const ISSUER = `https://sts.windows.net/${TENANT}/`;
export const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** The document of public keys: [id, pair, more members] each. */
export const jwks = (...keys) => JSON.stringify({ keys: keys.map(([kid, pair, more]) =>
    ({ ...pair.publicKey.export({ format: 'jwk' }), kid, use: 'sig', ...more })) });
export const base64url = (json) => Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)).toString('base64url');
export const seconds = () => Math.floor(Date.now() / 1000);

export const claimsOf = (oid, more = {}) => ({
    iss: ISSUER, aud: 'https://storage.azure.com', iat: seconds() - 10, nbf: seconds() - 10, exp: seconds() + 600,
    oid, tid: TENANT, ...more,
});

export function tokenOf(claims, { alg = 'RS256', kid = 'rsa', pair = rsa, header = {} } = {}) {
    const text = `${base64url({ alg, kid, typ: 'JWT', ...header })}.${base64url(claims)}`;
    const key = alg.startsWith('ES') ? { key: pair.privateKey, dsaEncoding: 'ieee-p1363' } : pair.privateKey;
    return `${text}.${sign(`sha${alg.slice(2)}`, Buffer.from(text), key).toString('base64url')}`;
}

/** A server over HTTPS: { url, queueUrl, tableUrl, fileUrl, dfsUrl, port, pid, ca, file(), errors() }. files: name -> text, in a folder
 *  of its own, which arguments call FOLDER; file() returns the path of one */
export async function serveSecurely(t, args, files) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-tokens-'));
    const file = (name) => join(folder, name);
    const { cert, key } = newCertificate(folder);
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(file(name), text)));
    const server = await Server.start({
        secure: true, args: ['--inMemoryPersistence', '--cert', cert, '--key', key, ...args.map((arg) => arg.replace('FOLDER', folder))],
    });
    t.after(async () => {
        await server.kill();
        await server.remove();
        await rm(folder, { recursive: true, force: true });
    });
    const [queueUrl, tableUrl, fileUrl, dfsUrl] = ['queue', 'table', 'file', 'dfs'].map((service) => server.urlOf(service));
    return { url: server.url, queueUrl, tableUrl, fileUrl, dfsUrl, port: server.port, pid: server.pid, ca: await readFile(cert), file, errors: () => server.stderr };
}
