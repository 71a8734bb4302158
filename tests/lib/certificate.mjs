// A certificate for a server of a test, and its key.
import { execFileSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const certtool = (...args) => execFileSync('certtool', args, { stdio: 'ignore' });

/** Writes cert.pem and key.pem to the folder, each replaced as a whole, and returns their paths: { cert, key }. The certificate is
 *  for 127.0.0.1 and localhost, and signed by itself. name: its common name */
export function newCertificate(folder, { name = 'localhost', days = 2 } = {}) {
    const [cert, key] = ['cert.pem', 'key.pem'].map((file) => join(folder, file));
    const template = join(folder, 'template');

    writeFileSync(template, `cn = ${name}\ndns_name = localhost\nip_address = 127.0.0.1\nexpiration_days = ${days}\nsigning_key\ntls_www_server\n`);
    certtool('--generate-privkey', '--key-type', 'ecdsa', '--outfile', `${key}.new`);
    certtool('--generate-self-signed', '--load-privkey', `${key}.new`, '--template', template, '--outfile', `${cert}.new`);
    renameSync(`${cert}.new`, cert);
    renameSync(`${key}.new`, key);
    return { cert, key };
}
