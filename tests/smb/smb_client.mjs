// An SMB client of a test: client.py, driven line by line.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { DEVELOPMENT } from '../lib/sign.mjs';

const PROGRAM = fileURLToPath(new URL('client.py', import.meta.url));

/* FILE_SHARE_*, and what an access of the tables is of FILE_READ_DATA, FILE_WRITE_DATA, DELETE.
 * ms-smb2: 2.2.13, 2.2.13.1.1 */
const SHARE = { R: 1, W: 2, D: 4 };
const ACCESS = { R: 0x1, W: 0x2, D: 0x10000 };
const ATTRIBUTES = 0x100180; /* FILE_READ_ATTRIBUTES, FILE_WRITE_ATTRIBUTES, SYNCHRONIZE */
export const DELETE_ON_CLOSE = 0x1000;
const DIRECTORY = 0x1, NON_DIRECTORY = 0x40;
/* ms-smb2: 2.2.13 "CreateDisposition" */
const OPEN_IT = 1, CREATE_IT = 2;
/* Lease states. ms-smb2: 2.2.13.2.8 */
const CACHING = { R: 1, H: 2, W: 4 };

const sum = (letters, values) => [...letters].reduce((bits, letter) => bits | values[letter], 0);

export const cachingBits = (letters) => sum(letters, CACHING);

/** "RWH" of a lease state. */
export const cachingName = (bits) => ['R', 'W', 'H'].filter((letter) => bits & CACHING[letter]).join('') || 'none';

export class SmbClient {
    #child;
    #lines;
    #turn = Promise.resolve();
    #stderr = '';

    /** A client with a session of its own, that has connected to the share if one is named. */
    static async start(port, share = '') {
        const client = new SmbClient(port, share);

        await client.#line();
        return client;
    }

    constructor(port, share) {
        this.#child = spawn('/usr/bin/python3',
            [PROGRAM, '127.0.0.1', `${port}`, DEVELOPMENT.account, DEVELOPMENT.key, share],
            { stdio: ['pipe', 'pipe', 'pipe'] });
        this.#child.stdin.on('error', () => {});
        this.#child.stderr.setEncoding('utf8').on('data', (text) => {
            this.#stderr += text;
        });
        this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    }

    async #line() {
        const { value, done } = await this.#lines.next();

        if (done)
            throw new Error(`the SMB client has ended:\n${this.#stderr}`);
        return JSON.parse(value);
    }

    /** One command, after those before it: its answer. */
    do(command, parameters = {}) {
        const answer = this.#turn.then(() => {
            this.#child.stdin.write(`${JSON.stringify({ do: command, ...parameters })}\n`);
            return this.#line();
        });

        this.#turn = answer.catch(() => {});
        return answer;
    }

    /** As do(), and it must succeed. */
    async must(command, parameters) {
        const answer = await this.do(command, parameters);

        if (answer.status !== '00000000')
            throw new Error(`${command} ${JSON.stringify(parameters)}: ${answer.status}`);
        return answer;
    }

    /** access, share, caching: letters such as 'RW'; key: of the lease, its caching; isNew: it must not be there. */
    static openParameters(name, path, { access = 'R', share = 'RWD', deletes = false, directory = false, isNew = false, caching, key } = {}) {
        return { name, path, access: ATTRIBUTES | sum(access, ACCESS), share: sum(share, SHARE),
            disposition: isNew ? CREATE_IT : OPEN_IT, options: (directory ? DIRECTORY : NON_DIRECTORY) | (deletes ? DELETE_ON_CLOSE : 0),
            ...(caching === undefined ? {} : { lease: sum(caching, CACHING), key }) };
    }

    open(name, path, how) {
        return this.must('open', SmbClient.openParameters(name, path, how));
    }

    tryOpen(name, path, how) {
        return this.do('open', SmbClient.openParameters(name, path, how));
    }

    /** As open(), by a batch oplock, so that it can be come back to; its id. */
    async openDurable(name, path, how, guid, persists = false) {
        const { access, share } = SmbClient.openParameters(name, path, how);

        return (await this.must('open_durable', { name, path, access, share, guid, persists })).id;
    }

    /** The connection is cut, unless it was. */
    async stop() {
        if (this.#child.exitCode !== null || this.#child.signalCode !== null)
            return;
        const ended = new Promise((resolve) => this.#child.once('close', resolve));

        this.#child.kill('SIGKILL');
        await ended;
    }
}
