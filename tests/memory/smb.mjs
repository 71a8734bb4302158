// What an SMB client can do again and again: smb_client.py does it, a process a connection.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { DEVELOPMENT } from '../lib/sign.mjs';

const PROGRAM = fileURLToPath(new URL('smb_client.py', import.meta.url));
const PROCESSES = 2;

/** Does what has this name in smb_client.py for every i from `from` up to `to`. */
async function clients(server, name, from, to) {
    const middle = from + Math.ceil((to - from) / PROCESSES);

    await Promise.all([[from, middle], [middle, to]].map(async ([first, last]) => {
        const child = spawn('/usr/bin/python3', [PROGRAM, `${server.ports.smb}`, DEVELOPMENT.account, DEVELOPMENT.key, name, `${first}`, `${last}`],
            { stdio: ['ignore', 'inherit', 'pipe'] });
        let said = '';

        child.stderr.setEncoding('utf8').on('data', (text) => {
            said += text;
        });
        const [code] = await once(child, 'close');
        if (code !== 0)
            throw new Error(`${name}: ${said}`);
    }));
}

export const ARGUMENTS = ['--smbPort', '0', '--smbAllowUnencrypted'];

export const setup = (ask) => ask('file', 'PUT', '/smb?restype=share', { status: 201 });

const KIND_NAMES = {
    'SMB logons': 'logons',
    'SMB connections that are cut, and bytes that are none': 'cuts',
    'SMB trees: connected, refused, disconnected': 'trees',
    'an SMB file: made, written, read, renamed, deleted': 'files',
    'an SMB directory: made, listed, deleted': 'directories',
    'SMB opens, locks and leases of one file': 'opens',
    'SMB changes waited for, and waits that a close ends': 'changes',
    'SMB handles that are kept when their connection is cut': 'kept',
    /* The last: the address is locked out by it. */
    'SMB logons that are refused': 'refusals',
};

/** Each does all of its times at once. */
export const KINDS = (server) => Object.fromEntries(Object.entries(KIND_NAMES).map(([text, name]) =>
    [text, { all: (from, to) => clients(server, name, from, to) }]));
