// What an SMB client does in a permutation: opens of files, beside the requests of other sessions. The programs
// that speak SMB are kept from permutation to permutation; each is one session's at a time.

import { readFileSync } from 'node:fs';
import { cachingBits, cachingName, SmbClient } from '../smb/smb_client.mjs';

const STATUSES = new Map([...readFileSync(new URL('../../src/smb_protocol/status.def', import.meta.url), 'utf8')
    .matchAll(/^NT_STATUS\(STATUS_(\w+), 0x(\w+)\)/gm)].map(([, name, value]) => [value, name]));

/** How an action of the language is written: its words behind its name, and its options. */
export const SMB_ACTIONS = {
    open: { words: ['name', 'path'], options: ['access', 'share', 'caching', 'directory', 'new', 'deletes'] },
    close: { words: ['name'] },
    write: { words: ['name', 'text'] },
    read: { words: ['name'] },
    delete: { words: ['name'] },
    keep: { words: ['name'] },
    rename: { words: ['name', 'path'] },
    lock: { words: ['name'] },
    break: { words: [] },
    acknowledge: { words: ['name', 'caching'] },
};

/** Programs that wait for a session. */
export class SmbPool {
    #port;
    #free = [];

    constructor(port) {
        this.#port = port;
    }

    async take(share) {
        const client = this.#free.pop() ?? await SmbClient.start(this.#port);

        await client.must('use', { share });
        return client;
    }

    /** Its opens are closed with its tree. Gone if it does not answer. */
    async give(client) {
        await client.must('leave');
        this.#free.push(client);
    }

    /** After their server has gone. */
    async close() {
        await Promise.all(this.#free.splice(0).map((client) => client.stop()));
    }
}

const where = (path) => path.split('/').slice(2).join('\\');
const LOCK = { offset: 0, length: 1, flags: 0x12 }; /* exclusive, fails at once. ms-smb2: 2.2.26.1 */

/** The text of what an action does. */
export async function performSmb(client, action) {
    const { smb, name, path, text, caching } = action;
    const key = (of) => `key of ${of}`.slice(0, 16);
    const ask = {
        open: () => client.do('open', SmbClient.openParameters(name, where(path), { ...action, key: key(name) })),
        close: () => client.do('close', { name }),
        write: () => client.do('write', { name, offset: 0, text }),
        read: () => client.do('read', { name, offset: 0, length: 64 }),
        delete: () => client.do('disposition', { name, deletes: true }),
        keep: () => client.do('disposition', { name, deletes: false }),
        rename: () => client.do('rename', { name, path: where(path) }),
        lock: () => client.do('lock', { name, ...LOCK }),
        break: () => client.do('wait_break'),
        acknowledge: () => client.do('acknowledge', { key: key(name), to: cachingBits(caching === 'none' ? '' : caching) }),
    }[smb];
    const answer = await ask();
    const status = STATUSES.get(answer.status) ?? answer.status;

    if (smb === 'break')
        return `${answer.key.replace('key of ', '')}: ${cachingName(answer.from)} to ${cachingName(answer.to)}`;
    return [status, ...(answer.text === undefined ? [] : [JSON.stringify(answer.text)]),
        ...(answer.lease === undefined ? [] : [cachingName(answer.lease)])].join(' ');
}
