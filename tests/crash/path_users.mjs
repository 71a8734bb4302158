// A user without a role, for whom access control lists decide, and the server that knows him: over TLS, with tokens that are
// signed here.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { claimsOf, ISSUER, jwks, rsa, tokenOf } from '../clients/tokens-setup.mjs';
import { newCertificate } from '../lib/certificate.mjs';

export const USER = '33333333-3333-3333-3333-333333333333';

/** Options of Server.start(). The files stay in a folder of their own. */
export function serverOptions() {
    const folder = mkdtempSync(path.join(tmpdir(), 'lagra-crash-users-'));
    const file = (name, text) => {
        writeFileSync(path.join(folder, name), text);
        return path.join(folder, name);
    };
    const { cert, key } = newCertificate(folder);

    return {
        secure: true,
        args: ['--hierarchical', '--cert', cert, '--key', key, '--oauthIssuer', ISSUER,
            '--oauthKeys', file('keys.json', jwks(['rsa', rsa])), '--oauthRoles', file('roles.json', '[]')],
    };
}

/** Headers of a request of the user. */
export const byUser = () => [['Authorization', `Bearer ${tokenOf(claimsOf(USER))}`], ['x-ms-version', '2023-08-03']];
