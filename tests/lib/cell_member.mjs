// A front end of a cluster (lagra --cluster) for tests: on ports of its own, killed, stopped and waited for.

import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './http.mjs';
import { freePorts } from './server.mjs';
import { DEVELOPMENT, sign } from './sign.mjs';

const POLL_MS = 20;
const PATIENCE_MS = 60_000;
/* A front end that stands by does not listen there yet: few other tests draw from these. */
const SMB_FIRST_PORT = 10100, SMB_PORTS = 1900;
const STDERR_KEPT = 65536, LINES_PRINTED = 30;
const OWNED = '/-/ready?cell';
const SERVICES = ['blob', 'queue', 'table', 'file', 'dfs'];

const running = new Set();
const members = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

const launchHere = (words, env) => spawn(process.env.LAGRA_BINARY, words, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } });

/** Has the front ends of clusters below the folder ended after the test, and the folder removed then: while they run
 *  they create files. If the test fails, prints the last lines of their standard errors. */
export function removeClusterAfter(t, folder) {
    t.after(async () => {
        const own = [...members].filter((member) => member.folder.startsWith(folder));

        await Promise.all(own.map((member) => member.end('SIGKILL')));
        if (!t.passed)
            own.forEach((member) => console.error(member.lastLines()));
        await rm(folder, { recursive: true, force: true });
    });
}

export class Member {
    host = '127.0.0.1';
    account = DEVELOPMENT.account;
    folder = ''; // of the cluster
    ports = {};
    stderr = '';
    ended = null; // resolves to { code, signal }
    #child = null;
    #words;
    #env;
    #launch;

    /** args: more options, such as ['--cell', '2']; smb: serve SMB too; launch: starts a process with these words */
    static async start(folder, { args = [], env = {}, smb = false, launch = launchHere } = {}) {
        const member = new Member();
        member.folder = folder;
        members.add(member);
        const names = [...SERVICES, 'cluster', ...smb ? ['smb'] : []];
        const ports = [...await freePorts(names.length - Number(smb)), ...smb ? await freePorts(1, SMB_FIRST_PORT, SMB_PORTS) : []];

        names.forEach((name, i) => {
            member.ports[name] = ports[i];
        });
        member.#words = ['--cluster', folder, ...names.flatMap((name, i) => [`--${name}Port`, `${ports[i]}`]), ...args];
        member.#env = env;
        member.#launch = launch;
        member.restart();
        return member;
    }

    get pid() {
        return this.#child?.pid;
    }

    /** Starts the process again, on the same ports. */
    restart() {
        const child = this.#launch(this.#words, this.#env);

        child.stderr.setEncoding('utf8');
        child.stderr.on('data', (text) => {
            this.stderr = (this.stderr + text).slice(-STDERR_KEPT);
        });
        this.ended = new Promise((resolve) => child.once('close', (code, signal) => {
            running.delete(child);
            resolve({ code, signal });
        }));
        running.add(child);
        this.#child = child;
    }

    /** The last lines of its standard error, below a line that names it. */
    lastLines() {
        const lines = this.stderr.trimEnd().split('\n').slice(-LINES_PRINTED);

        return [`standard error of lagra ${this.#words.join(' ')}:`, ...lines].join('\n    ');
    }

    get hasEnded() {
        return this.#child.exitCode !== null || this.#child.signalCode !== null;
    }

    signal(name) {
        this.#child.kill(name);
    }

    /** Sends a signal and waits for the end: { code, signal }. */
    async end(name = 'SIGTERM') {
        if (!this.hasEnded)
            this.#child.kill(name);
        return this.ended;
    }

    /** One request on a connection of its own. Throws when that is closed without a whole response. */
    async ask(method, target, { headers = [], body = Buffer.alloc(0), service = 'blob', raw = false } = {}) {
        const port = this.ports[service];
        const connection = await Connection.open(this.host, port);
        const request = {
            method, target: raw ? target : `/${this.account}${target}`,
            headers: [['Host', `${this.host}:${port}`], ['Content-Length', `${body.length}`], ...headers],
        };

        try {
            return await connection.exchange(raw ? request : sign(request, { service }), body);
        } finally {
            connection.close();
        }
    }

    /** The status of a health path; 0: it does not answer. OWNED is 200 at owners of cells only. */
    async health(path = OWNED) {
        return this.ask('GET', path, { raw: true }).then(({ status }) => status, () => 0);
    }

    /** Resolves when the path answers with this status, to how long that took in ms. */
    async until(status, path = OWNED, patienceMs = PATIENCE_MS) {
        const began = performance.now();

        while (performance.now() - began < patienceMs) {
            if (await this.health(path) === status)
                return performance.now() - began;
            await delay(POLL_MS);
        }
        throw new Error(`${path} is not ${status} within ${patienceMs} ms; standard error:\n${this.stderr}`);
    }

    /** A control request of builds with gates. Its response may not be sent, when the lease has ended. */
    async control(path) {
        await this.ask('POST', `/$lagra/${path}`, { raw: true }).catch(() => {});
    }
}
