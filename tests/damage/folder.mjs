// Data folders to be damaged: made by real load and kill -9, with everything that was acknowledged
// written down.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '../lib/http.mjs';
import { Server } from '../lib/server.mjs';
import { sign } from '../lib/sign.mjs';
import { LoadedFolder, copyFolder } from './moments.mjs';

/* Small tables, so that few records make many. */
export const ENVIRONMENT = { LAGRA_WRITE_BUFFER_BYTES: `${1 << 20}` };
const CONTAINER = 'damage';
const BLOBS = 120;
const WRITERS = 8;

const digest = (bytes) => createHash('sha1').update(bytes).digest('base64');

/** One client of a server: signed requests, one after the other. */
class Client {
    #server;
    #connection = null;

    constructor(server) {
        this.#server = server;
    }

    async ask(method, target, headers = [], body = Buffer.alloc(0)) {
        this.#connection ??= await Connection.open(this.#server.host, this.#server.port);
        return this.#connection.exchange(sign({
            method, target: `/${this.#server.account}${target}`,
            headers: [['Host', `${this.#server.host}:${this.#server.port}`],
                ...(method === 'GET' ? [] : [['Content-Length', `${body.length}`]]), ...headers],
        }), body);
    }

    close() {
        this.#connection?.close();
        this.#connection = null;
    }
}

const nameOf = (i) => `blob${`${i}`.padStart(4, '0')}`;

/** What was acknowledged: name -> digest (null: deleted). A change whose answer never came is
 *  both. */
class Acknowledged {
    certain = new Map();
    perhaps = new Map();
    ever = new Set(); /* all bodies that were sent */

    /** How a server does with the folder: { wrong, errors: names }. */
    compare(server) {
        return compare(server, this);
    }

    /** What a server has of the folder that was salvaged. how: of the salvage */
    compareSalvaged(server, how) {
        return compareSalvaged(server, this, how);
    }

    copy() {
        const copy = new Acknowledged();
        copy.certain = new Map(this.certain);
        copy.perhaps = new Map(this.perhaps);
        copy.ever = new Set(this.ever);
        return copy;
    }
}

/** Blobs that writers put and delete all the time. */
export class Load extends LoadedFolder {
    acknowledged = new Acknowledged();
    #over = false;
    #written = 0;

    static async start(random) {
        const work = await mkdtemp(path.join(tmpdir(), 'lagra-damage-'));
        const location = path.join(work, 'live');

        /* A folder that was there, of a start that was killed, with everything open to others. */
        for (const folder of ['', 'records', 'extents']) {
            await mkdir(path.join(location, folder));
            await chmod(path.join(location, folder), 0o755);
        }
        await writeFile(path.join(location, 'format'), 'lagra store 1\n', { mode: 0o600 });
        process.umask(0);
        const server = await Server.start({ location, env: ENVIRONMENT });
        const client = new Client(server);

        await client.ask('PUT', `/${CONTAINER}?restype=container`);
        client.close();
        return new Load(server, random, work);
    }

    frozen() {
        return this.acknowledged.copy();
    }

    /* Many are of one size, so that blocks of tables are; one in fifty goes into extents; one
     * change in eight is a delete. */
    async #change(client, name) {
        const isDelete = this.acknowledged.certain.get(name) && this.random(8) === 0;
        const size = this.random(3) > 0 ? 1000 : this.random(16) === 0 ? 17000 + this.random(200000) : 1 + this.random(14000);
        const body = isDelete ? null : Buffer.alloc(size, `${name} ${this.random(1e9)} `);

        this.acknowledged.perhaps.set(name, body && digest(body));
        if (body)
            this.acknowledged.ever.add(digest(body));
        const answer = isDelete ? await client.ask('DELETE', `/${CONTAINER}/${name}`)
            : await client.ask('PUT', `/${CONTAINER}/${name}`, [['x-ms-blob-type', 'BlockBlob']], body);
        if (answer.status !== 201 && answer.status !== 202)
            throw new Error(`${name}: ${answer.status}`);
        this.acknowledged.certain.set(name, body && digest(body));
        this.acknowledged.perhaps.delete(name);
        this.#written += body?.length ?? 0;
    }

    async #write(writer, bytes) {
        const client = new Client(this.server);
        const end = this.#written + bytes;

        while (!this.#over && this.#written < end)
            await this.#change(client, nameOf(writer + WRITERS * this.random(BLOBS / WRITERS)));
        client.close();
    }

    /** Writes that many bytes in all. */
    async write(bytes) {
        await Promise.all(Array.from({ length: WRITERS }, (_, writer) => this.#write(writer, bytes)));
    }

    async end() {
        this.#over = true;
        await super.end();
    }
}

/** How a server does with a folder. binary: default LAGRA_BINARY.
 *  returns { refused: text } or { lost, stale, errors: names } */
export async function judge(location, acknowledged, binary = undefined) {
    const server = new Server({ location, env: ENVIRONMENT, binary });

    server.location = location;
    try {
        await server.restart();
    } catch (error) {
        const code = error.message.match(/exit code (\d+)/)?.[1];

        if (code === '1' && error.message.includes('cannot open the data directory'))
            return { refused: error.message.split('\n').find((line) => line.includes('cannot open')) };
        return { crashed: error.message };
    }
    try {
        return await acknowledged.compare(server);
    } catch (error) {
        return { crashed: `${error.message}\n${server.stderr}` };
    } finally {
        await server.kill();
    }
}

async function compare(server, { certain, perhaps }) {
    const client = new Client(server);
    const verdict = { wrong: [], errors: [] };
    const listed = await list(client);

    for (const name of new Set([...certain.keys(), ...perhaps.keys()])) {
        const answer = await client.ask('GET', `/${CONTAINER}/${name}`).catch((error) => ({ status: 599, error }));
        const found = answer.status === 404 ? null : answer.status === 200 ? digest(answer.body) : undefined;
        const allowed = [certain.get(name) ?? null, ...(perhaps.has(name) ? [perhaps.get(name)] : [])];

        if (found === undefined && answer.status >= 500)
            verdict.errors.push(name);
        else if (!allowed.includes(found))
            verdict.wrong.push(`${name}: ${answer.status}`);
        else if (listed && listed.has(name) !== (found !== null))
            verdict.wrong.push(`${name}: listed ${listed.has(name)}, got ${answer.status}`);
        if (answer.status === 599)
            client.close();
    }
    client.close();
    if (!listed)
        verdict.errors.push('the listing');
    return verdict;
}

/** What `lagra check` says of a folder; what it changes there is thrown away. returns { crashed } or { finds, said } */
export async function check(location) {
    const copy = `${location}.checked`;

    await copyFolder(location, copy);
    const { error, stdout, stderr } = await new Promise((resolve) => execFile(process.env.LAGRA_BINARY, ['check', copy],
        { env: { ...process.env, ...ENVIRONMENT }, maxBuffer: 1 << 26 }, (failed, out, err) => resolve({ error: failed, stdout: out, stderr: err })));
    await rm(copy, { recursive: true, force: true });
    if (error && error.code !== 1)
        return { crashed: `check: ${error.signal ?? error.code}\n${stdout}${stderr}` };
    return { finds: error !== null, said: stdout };
}

/** What can be saved of a folder that is refused: the new one opens, and nothing in it was never
 *  written. returns { crashed } or { saved, missing } */
export async function salvage(location, to, acknowledged) {
    const binary = process.env.LAGRA_BINARY;
    const how = await new Promise((resolve) => execFile(binary, ['check', '--salvage', location, to],
        { env: { ...process.env, ...ENVIRONMENT } }, (error, stdout, stderr) => resolve({ error, stdout, stderr })));

    if (how.error && how.error.code !== 1)
        return { crashed: `check --salvage: ${how.error.signal ?? how.error.code}\n${how.stderr}` };
    const server = new Server({ location: to, env: ENVIRONMENT });

    server.location = to;
    try {
        await server.restart();
        return await acknowledged.compareSalvaged(server, how);
    } catch (error) {
        return { crashed: `${error.message}\n${how.stdout}` };
    } finally {
        await server.kill();
    }
}

async function compareSalvaged(server, { certain, perhaps, ever }, how) {
    const client = new Client(server);
    const count = { saved: 0, missing: 0, report: how.stdout };

    for (const [name, wanted] of certain) {
        const answer = await client.ask('GET', `/${CONTAINER}/${name}`);
        if (answer.status === 200 && !ever.has(digest(answer.body)))
            return { crashed: `${name} was salvaged with bytes that were never written` };
        if (wanted !== null && !perhaps.has(name))
            count[answer.status === 200 && digest(answer.body) === wanted ? 'saved' : 'missing']++;
    }
    client.close();
    /* What is missing was said. */
    if (count.missing > 0 && !how.error)
        return { crashed: `${count.missing} blobs are missing and nothing was said` };
    return count;
}

/** Names of files and folders that others than the owner may read, write or enter. */
export async function openToOthers(location) {
    const { stdout } = await promisify(execFile)('find', [location, '-mindepth', '1', '-perm', '/077']);

    return stdout.trim();
}

/** All names; null when the server says that it cannot list them. */
async function list(client) {
    const names = new Set();
    let marker = '';

    do {
        const answer = await client.ask('GET', `/${CONTAINER}?restype=container&comp=list&maxresults=50${marker && `&marker=${encodeURIComponent(marker)}`}`);
        if (answer.status >= 500)
            return null;
        const text = answer.body.toString();
        for (const [, name] of text.matchAll(/<Name>(.*?)<\/Name>/g))
            names.add(name);
        marker = text.match(/<NextMarker>(.*?)<\/NextMarker>/)?.[1] ?? '';
    } while (marker);
    return names;
}
