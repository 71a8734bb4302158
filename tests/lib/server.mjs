// A lagra process for tests: started on free ports with a data folder of its own.
// The binary is named by the environment variable LAGRA_BINARY.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './http.mjs';
import { DEVELOPMENT } from './sign.mjs';

const START_LIMIT_MS = 120000;
const STOP_LIMIT_MS = 60000;
const STDERR_KEPT = 16384;

/** Can the port be listened on? */
async function isFree(port) {
    const server = net.createServer();

    try {
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
        return true;
    } catch {
        return false;
    } finally {
        server.close();
    }
}

/* Each test process draws from ports of its own, and no port twice: between its draw and its use others must not take it. */
const PORTS = 500;
const FIRST_PORT = 12000 + (process.pid % 40) * PORTS;
const drawn = new Set();

/** Free ports, below those that the kernel assigns by itself. first, range: other ports than those of this process */
export async function freePorts(count, first = FIRST_PORT, range = PORTS) {
    const ports = [];

    while (ports.length < count) {
        const port = first + Math.floor(Math.random() * range);
        if (drawn.size > PORTS / 2)
            drawn.delete(drawn.values().next().value); // the one drawn longest ago
        if (drawn.has(port))
            continue;
        drawn.add(port);
        if (await isFree(port))
            ports.push(port);
    }
    return ports;
}

/** Options that have each service listen on any free port. */
export const ANY_PORTS = ['blob', 'queue', 'table', 'file', 'dfs'].flatMap((service) => [`--${service}Port`, '0']);

const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

export class Server {
    host = '127.0.0.1';
    port = 0; // of the Blob service
    ports = {}; // of each service
    account = DEVELOPMENT.account;
    location = null;
    stderr = '';
    #child = null;
    #options;
    #ownsLocation = false;

    /** Starts a server and waits until it answers.
     *  binary    default LAGRA_BINARY
     *  location  data folder; default: a fresh one that stop() removes
     *  args      more arguments, such as ['--inMemoryPersistence']
     *  words     the only arguments: folder and ports are set elsewhere
     *  secure    true: they make it listen with TLS
     *  header    its connections begin with it: of the PROXY protocol
     *  env       more environment variables */
    static async start(options = {}) {
        const server = new Server(options);

        server.#ownsLocation = options.location === undefined;
        server.location = options.location ?? (await mkdtemp(path.join(tmpdir(), 'lagra-test-')));
        await server.restart();
        return server;
    }

    constructor(options) {
        this.#options = { args: [], env: {}, ...options };
    }

    get secure() {
        return this.#options.secure === true;
    }

    get pid() {
        return this.#child?.pid;
    }

    /** "http://127.0.0.1:PORT/devstoreaccount1" */
    get url() {
        return this.urlOf('blob');
    }

    /** The same of another service: 'queue', 'table', 'file', 'dfs'. */
    urlOf(service) {
        return `${this.secure ? 'https' : 'http'}://${this.host}:${this.ports[service]}/${this.account}`;
    }

    /** What tests are told of a server that they share. */
    get testEnvironment() {
        return {
            LAGRA_TEST_URL: this.url,
            LAGRA_TEST_QUEUE_URL: this.urlOf('queue'),
            LAGRA_TEST_TABLE_URL: this.urlOf('table'),
            LAGRA_TEST_FILE_URL: this.urlOf('file'),
            LAGRA_TEST_DFS_URL: this.urlOf('dfs'),
        };
    }

    get connectionString() {
        return `DefaultEndpointsProtocol=http;AccountName=${DEVELOPMENT.account};` +
            `AccountKey=${DEVELOPMENT.key};BlobEndpoint=${this.url};` +
            `QueueEndpoint=${this.urlOf('queue')};TableEndpoint=${this.urlOf('table')};` +
            `FileEndpoint=${this.urlOf('file')};DfsEndpoint=${this.urlOf('dfs')};`;
    }

    /** Starts a process on the same data folder, after stop({ keep: true }) or kill(). */
    async restart() {
        const binary = this.#options.binary ?? process.env.LAGRA_BINARY;

        if (!binary)
            throw new Error('LAGRA_BINARY does not name a server');
        if (this.#child)
            throw new Error('the server still runs');
        this.port = 0;
        this.ports = {};
        this.stderr = '';
        const words = this.#options.words ?? [
            '--location', this.location, '--blobHost', this.host, '--blobPort', '0', '--queuePort', '0',
            '--tablePort', '0', '--filePort', '0', ...this.#options.args,
        ];
        // No server of a test has the default management port, which others may want at the same time.
        // A program that is older than the dfs endpoint ignores the variable.
        const env = { LAGRA_MANAGEMENT_PORT: '0', LAGRA_DFS_PORT: '0', ...process.env, ...this.#options.env };
        const child = spawn(binary, words, { stdio: ['ignore', 'pipe', 'pipe'], env });
        const services = ['blob', 'queue', 'table', 'file', ...(this.#options.binary ? [] : ['dfs']), ...(words.includes('--smbPort') ? ['smb'] : [])];
        let said = '';

        /* It takes any free ports and says which: no two servers ever want the same. */
        child.stdout.setEncoding('latin1');
        child.stdout.on('data', (text) => {
            said += text;
            for (const [, service, port] of said.matchAll(/(\w+) service listens on \S+:(\d+)\n/g))
                this.ports[service] = Number(port);
            this.port = services.every((service) => this.ports[service]) ? this.ports.blob : 0;
        });
        child.stderr.setEncoding('utf8');
        child.stderr.on('data', (text) => {
            this.stderr = (this.stderr + text).slice(-STDERR_KEPT);
        });
        child.ended = new Promise((resolve) => {
            child.once('error', (error) => resolve({ error }));
            child.once('close', (code, signal) => resolve({ code, signal }));
        });
        child.ended.then(() => running.delete(child));
        running.add(child);
        this.#child = child;
        await this.#answers(child);
    }

    async #answers(child) {
        const limit = Date.now() + START_LIMIT_MS;
        let ended = null;

        child.ended.then((how) => {
            ended = how;
        });
        while (Date.now() < limit && !ended) {
            const connection = this.port > 0 && await Connection.open(this.host, this.port, this.secure, { header: this.#options.header })
                .catch(() => null);
            if (connection) {
                const headers = [['Host', `${this.host}:${this.port}`]];
                const request = { method: 'GET', target: '/', headers };
                const answer = await connection.exchange(request).catch(() => null);
                connection.close();
                if (answer)
                    return;
            }
            await delay(5);
        }
        child.kill('SIGKILL');
        this.#child = null;
        throw this.#failure(ended ? `ended while starting (${describe(ended)})` : 'gave no answer');
    }

    #failure(what) {
        return new Error(`server ${what}; its standard error:\n${this.stderr || '(empty)'}`);
    }

    /** SIGTERM; waits for the end and throws unless it was orderly. keep: keep the data folder. */
    async stop({ keep = false } = {}) {
        const child = this.#child;

        if (child) {
            this.#child = null;
            child.kill('SIGTERM');
            const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
            const how = await child.ended;
            clearTimeout(timer);
            if (how.code !== 0)
                throw this.#failure(`did not stop well (${describe(how)})`);
        }
        if (!keep)
            await this.remove();
    }

    /** SIGTERM; resolves with how the process ends, whatever that is: { code, signal }. The data folder stays. */
    async terminate() {
        this.#child.kill('SIGTERM');
        return this.ended();
    }

    /** SIGKILL; the data folder stays. */
    async kill() {
        const child = this.#child;

        this.#child = null;
        child?.kill('SIGKILL');
        await child?.ended;
    }

    /** Resolves when the process ends by itself: { code, signal }. */
    async ended() {
        const how = await this.#child.ended;

        this.#child = null;
        return how;
    }

    /** Removes a data folder that start() made. */
    async remove() {
        if (this.#ownsLocation)
            await rm(this.location, { recursive: true, force: true });
    }
}

function describe({ code, signal, error }) {
    return error ? error.message : signal ? `signal ${signal}` : `exit code ${code}`;
}

const IDLE_MS = 5000;

/** The control requests of a gates build (src/base/gate.h), on a connection of their own. */
export class Control {
    #server;
    #connection = null;
    #usedAt = 0;

    /** server: { host, port, secure } */
    constructor(server) {
        this.#server = server;
    }

    async #ask(method, target) {
        // One that was idle may be closed by the server just now.
        if (performance.now() - this.#usedAt > IDLE_MS)
            this.close();
        this.#connection ??= await Connection.open(this.#server.host, this.#server.port, this.#server.secure);
        const host = `${this.#server.host}:${this.#server.port}`;
        const headers = [['Host', host], ['Content-Length', '0']];
        const answer = await this.#connection.exchange({ method, target, headers });
        this.#usedAt = performance.now();
        if (answer.status !== 200 && answer.status !== 202 && answer.status !== 204)
            throw new Error(`${method} ${target}: ${answer.status}; is this a gates build?`);
        return answer.body.toString('latin1').trim();
    }

    /** Whether the server has control requests at all. */
    async works() {
        try {
            return Number.isInteger(await this.count('decided'));
        } catch {
            this.close();
            return false;
        }
    }

    /** How many exchanges are stopped at the gate. */
    async count(gate) {
        return Number(await this.#ask('GET', `/$lagra/gate/${gate}`));
    }

    /** Lets every exchange stopped at the gate go on. */
    async go(gate) {
        await this.#ask('POST', `/$lagra/gate/${gate}`);
    }

    /** Background jobs stop at this gate from now on. */
    async stopJobsAt(gate) {
        await this.#ask('POST', `/$lagra/job/${gate}`);
    }

    /** How many background jobs stand at the gate. */
    async jobs(gate) {
        return Number(await this.#ask('GET', `/$lagra/job/${gate}`));
    }

    /** Moves the server's clock forward. */
    async clock(seconds) {
        await this.#ask('POST', `/$lagra/clock/${seconds}`);
    }

    /** Waits until the deferred tasks that are due have run. */
    async tasks() {
        return this.#ask('POST', '/$lagra/tasks');
    }

    /** Collects what can be collected; answers the usage as "name=value" lines. */
    async collect() {
        return this.#ask('POST', '/$lagra/collect');
    }

    /** Bytes that are allocated with all caches empty. */
    async memory() {
        return Number(await this.#ask('POST', '/$lagra/memory'));
    }

    close() {
        this.#connection?.close();
        this.#connection = null;
    }
}
