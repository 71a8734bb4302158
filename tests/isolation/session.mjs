// One client of a permutation: a connection, and the requests of a spec made into bytes on it.
// What comes back is given as a function that makes its text: names (E1, E2..) are given out when a
// line is printed, in the order of the lines, and not in the order in which answers happen to come.

import { once } from 'node:events';
import http from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keyHeaders } from '../lib/customer_key.mjs';
import { Connection, formatHead } from '../lib/http.mjs';
import { containerSas, queueSas, shareSas, tableSas } from '../lib/sas.mjs';
import { batchBody, BATCH_TYPE, partRequest } from '../lib/batch.mjs';
import { sign } from '../lib/sign.mjs';
import { element, showAnswer } from './show.mjs';
import { performSmb } from './smb.mjs';
import { tablePath, tableRequest } from './tables.mjs';

/** Fixed ids that specs name as $id.A .. $id.F. */
export const IDS = new Map([...'ABCDEF'].map((letter) =>
    [letter, 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'.replaceAll('x', letter.toLowerCase())]));

/** Short names for what is kept of an answer. */
const CAPTURES = {
    etag: 'ETag', lease: 'x-ms-lease-id', snapshot: 'x-ms-snapshot', modified: 'Last-Modified',
};

/** Of what is in a body. */
const ELEMENTS = { marker: 'NextMarker', version: 'Version' };

const PAGE = 4096;

/** Bytes of a pattern, no two pages of which are alike. */
function patternBytes({ size, seed }) {
    const bytes = Buffer.alloc(size, `[${seed}]`);

    for (let at = 0; at + 4 <= size; at += PAGE)
        bytes.writeUInt32LE(at / PAGE, at);
    return bytes;
}

function blockListBytes(blocks) {
    const items = blocks.map(({ kind, id }) => {
        const name = Buffer.from(id).toString('base64');
        return `<${kind}>${name}</${kind}>`;
    });

    return Buffer.from(`<?xml version="1.0"?><BlockList>${items.join('')}</BlockList>`);
}

function bodyBytes(body) {
    if (body === null)
        return Buffer.alloc(0);
    if (body.text !== undefined)
        return Buffer.from(body.text);
    return body.blocks ? blockListBytes(body.blocks) : patternBytes(body);
}

/** A message as Put Message and Update Message have it. */
function messageBytes({ text }) {
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

    return Buffer.from(`<QueueMessage><MessageText>${escaped}</MessageText></QueueMessage>`);
}

/** Something a step refers to has not happened in this permutation: it is not sent. */
class Missing extends Error {}

export class Session {
    #name;
    #target;
    #shared;
    #connections = {};          /* one to each service that it asks */
    #service = 'blob';
    #partial = null;            /* an answer read, or a body sent, in part */
    #smb = null;                /* its SMB client, once it needs one */

    /** target: { host, ports, base, credentials, control (null: no gates), smb (null: none), offset: { ms } }
     *  shared: by all sessions: { container, names, kept: Map "session.name" -> value,
     *  jobAt: the gate where a background job stands } */
    constructor(name, target, shared) {
        this.#name = name;
        this.#target = target;
        this.#shared = shared;
    }

    get #connection() {
        return this.#connections[this.#service];
    }

    /** Opens the connection, unless it is. */
    async connect() {
        const { host, ports } = this.#target;
        this.#connections[this.#service] ??= await Connection.open(host, ports[this.#service]);
    }

    /** Behind the last turn. broken: what it does has not come to an end. */
    async leave(broken) {
        const smb = this.#smb;

        this.#smb = null;
        this.close();
        if (smb && broken)
            await smb.stop();
        else if (smb)
            await this.#target.smb.give(smb);
    }

    async #performSmb(action) {
        this.#smb ??= await this.#target.smb.take(this.#shared.container);
        const text = await performSmb(this.#smb, action);
        return () => text;
    }

    close() {
        for (const connection of Object.values(this.#connections))
            connection.close();
        this.#connections = {};
    }

    /** Carries out an action; gives the function that makes its text.
     *  headers: more headers, [[name, value], ...] */
    async perform(action, headers = []) {
        try {
            if (action.clock)
                return await this.#clock(action.clock);
            if (action.protect)
                return await this.#protect(action.protect);
            if (action.tasks)
                return await this.#tasks();
            if (action.collect)
                return await this.#collect();
            if (action.hold)
                return await this.#hold(action.hold);
            if (action.job)
                return await this.#job(action.job);
            if (action.smb)
                return await this.#performSmb(action);
            this.#service = action.service ?? this.#service;
            await this.connect();
            if (action.copied)
                return await this.#copied(action);
            return action.finish ? await this.#finish() : await this.#send(action, headers);
        } catch (error) {
            if (!(error instanceof Missing))
                this.close();
            return () => `<${error.message}>`;
        }
    }

    async #clock(seconds) {
        await this.#target.control.clock(seconds);
        this.#target.offset.ms += seconds * 1000;
        return () => `clock +${seconds} s`;
    }

    /** Changes the protection of a container, as `lagra container protect` does. */
    async #protect({ name, ...more }) {
        const request = http.request({ socketPath: join(this.#target.location, 'admin.sock'), path: '/container-protect', method: 'POST' });
        request.end(JSON.stringify({ name: `${this.#shared.container}${name.slice(2)}`, ...more }));
        const [answer] = await once(request, 'response');
        const text = (await answer.toArray()).join('');
        const { code } = JSON.parse(text);
        return () => code === undefined ? `200 ${more.change}` : `${answer.statusCode} ${code}`;
    }

    /** Waits until the deferred tasks that are due have run. */
    async #tasks() {
        await this.#target.control.tasks();
        return () => 'tasks have run';
    }

    /** Gives back what nobody refers to any more. */
    async #collect() {
        await this.#target.control.collect();
        return () => 'collected';
    }

    /** Background jobs stop at the gate from now on. */
    async #hold(gate) {
        await this.#target.control.stopJobsAt(gate);
        return () => `jobs stop ${gate}`;
    }

    /** Lets the job go on to the gate, or to its end when it does not come by there. */
    async #job(gate) {
        const { control } = this.#target;

        await control.stopJobsAt(gate);
        this.#shared.jobAt = null;
        while (gate === 'nowhere' && (await control.jobs(gate)) > 0)
            await delay(1);
        while (gate !== 'nowhere') {
            for (const at of [gate, 'ended']) {
                if ((await control.jobs(at)) > 0) {
                    this.#shared.jobAt = at;
                    return () => `<job ${at === 'ended' ? at : `at ${at}`}>`;
                }
            }
            await delay(1);
        }
        return () => '<jobs go on>';
    }

    /** Asks until no copy to the blob is pending. */
    async #copied(action) {
        for (;;) {
            const { headers } = await this.#connection.exchange(this.#build(action, Buffer.alloc(0), []));
            const status = headers.get('x-ms-copy-status') ?? 'none';
            if (status === 'aborted') /* how far it was depends on how fast it is */
                return () => 'copy: aborted';
            if (status === 'failed')
                return () => `copy: failed, ${headers.get('x-ms-copy-status-description')}`;
            if (status !== 'pending')
                return () => `copy: ${status}, ${headers.get('x-ms-copy-progress') ?? 'nothing'}`;
            await delay(5);
        }
    }

    /** Text with $session.name, $id.A and $name.s replaced. */
    #expand(text) {
        return text.replace(/\$(\w+)\.(\w+)/g, (whole, session, name) => {
            const value = session === 'id' ? IDS.get(name)
                : session === 'name' ? `${this.#shared.container}${name.slice(1)}`
                : this.#shared.kept.get(`${session}.${name}`);
            if (value === undefined)
                throw new Missing(`no ${whole} yet`);
            return value;
        });
    }

    #build(action, body, extra) {
        const { host, ports, base, credentials, offset } = this.#target;
        const { container } = this.#shared;
        const path = action.service === 'table' ? tablePath(this.#expand(action.path), container)
            : this.#expand(action.path.replace(/^\/[cfqs]/, `/${container}`));
        const query = action.query.replace(/^&/, '')
            .replace(/\$\w+\.\w+/g, (name) => encodeURIComponent(this.#expand(name)));
        let target = base + path + (query ? `?${query}` : '');
        const putsBlob = action.method === 'PUT' && /^\/[cf]\d*\/./.test(action.path) &&
            !/comp=|resource=/.test(query) && action.from === null && action.renamed === null;
        const given = action.headers.map(([name, value]) => [name, this.#expand(value)]);
        const headers = [['Host', `${host}:${ports[action.service]}`], ...extra];

        if (action.as !== null)
            target += this.#credential(action, query ? '&' : '?');
        if (action.method !== 'GET' && action.method !== 'HEAD')
            headers.push(['Content-Length', `${body.length}`]);
        if (putsBlob && !given.some(([name]) => name === 'x-ms-blob-type'))
            headers.push(['x-ms-blob-type', 'BlockBlob']);
        if (action.send !== null)
            headers.push(['Expect', '100-continue']);
        if (action.from !== null)
            headers.push(['x-ms-copy-source', this.#source(action.from)]);
        if (action.key !== null)
            headers.push(...keyHeaders(action.key, action.method === 'GET'));
        if (action.moved !== null)
            headers.push(['x-ms-file-rename-source',
                `http://${host}:${ports.file}${base}${this.#expand(action.moved.replace(/^\/s/, `/${container}`))}`]);
        if (action.renamed !== null)
            headers.push(['x-ms-rename-source', this.#expand(action.renamed.replace(/^\/f/, `/${container}`))]);
        const request = { method: action.method, target, headers: [...headers, ...given] };
        if (action.as !== null) {
            request.headers.push(['x-ms-version', '2026-10-06']);
            return request;
        }
        return sign(request, { credentials, offsetMs: offset.ms, service: action.service });
    }

    /** The URL of a blob, with a signature that reads it; of a file, which who has the key may copy without one. */
    #source(from) {
        const { host, port, ports, base, credentials } = this.#target;

        if (from.startsWith('/s'))
            return `http://${host}:${ports.file}${base}${from.replace(/^\/s/, `/${this.#shared.container}`)}`;
        const fields = { sp: 'r', se: '2100-01-01T00:00:00Z' };
        const [path, query] = this.#expand(from.replace(/^\/c/, `/${this.#shared.container}`)).split('?');
        const container = path.split('/')[1];

        return `http://${host}:${port}${base}${path}?${query ? `${query}&` : ''}` +
            containerSas(container, fields, credentials);
    }

    /** What is added to the query of a request that no key signs. */
    #credential({ as, service }, separator) {
        const [kind, policy] = as.split(':');
        const sas = { queue: queueSas, table: tableSas, file: shareSas }[service] ?? containerSas;
        const name = service === 'table' ? tablePath('/t', this.#shared.container).slice(1) : this.#shared.container;

        return kind === 'policy'
            ? separator + sas(name, { si: policy }, this.#target.credentials) : '';
    }

    /** The body of a batch. gate: headers for the part that gates are of. */
    #batch(parts, gate) {
        const { base, credentials, offset } = this.#target;
        return Buffer.from(batchBody(parts.map(({ path, gated, etag }, id) => {
            const headers = [
                ...(etag ? [['If-Match', this.#expand(etag)]] : []), ...(gated ? gate : []),
            ];
            const target = base + path.replace(/^\/c/, `/${this.#shared.container}`);
            return {
                id,
                request: partRequest({ method: 'DELETE', target, headers },
                    { credentials, offsetMs: offset.ms }),
            };
        })));
    }

    /** The body of a request and the headers that come with it. gate: headers of a gate */
    #contents(action, gate) {
        const { parts } = action;

        if (action.service === 'table') {
            const { host, ports, base } = this.#target;
            const { headers, body } = tableRequest(action, {
                container: this.#shared.container, expand: (text) => this.#expand(text),
                root: `http://${host}:${ports.table}${base}`,
            });
            return { body, headers: [...headers, ...gate] };
        }
        if (parts) {
            const more = parts.some(({ gated }) => gated) ? [] : gate;
            return { body: this.#batch(parts, gate), headers: [['Content-Type', BATCH_TYPE], ...more] };
        }
        const isMessage = action.service === 'queue' && action.body?.text !== undefined &&
            action.path.includes('/messages');
        return { body: isMessage ? messageBytes(action.body) : bodyBytes(action.body), headers: gate };
    }

    async #send(action, gate) {
        const { body, headers } = this.#contents(action, gate);
        const request = this.#build(action, body, headers);

        if (this.#partial)
            throw new Missing('the session has an exchange to finish');
        if (action.body?.pattern)
            this.#shared.names.sent(body, action.body.pattern);
        if (action.send !== null)
            return this.#sendPart(request, action, body);
        await this.#connection.request(request, body);
        return this.#receive(action);
    }

    /** Sends a head that expects 100-continue, then the first bytes of the body. */
    async #sendPart(request, action, body) {
        await this.#connection.send(formatHead(request));
        const head = await this.#connection.response(action.method);
        if (head.status !== 100)
            return this.#complete(action, head);
        await this.#connection.send(body.subarray(0, action.send));
        this.#partial = { action, unsent: body.subarray(action.send) };
        return () => `<100, ${action.send} of ${body.length} bytes sent>`;
    }

    async #receive(action) {
        const head = await this.#connection.response(action.method);

        if (action.read === null || head.status >= 300)
            return this.#complete(action, head);
        this.#keep(action, head);
        const start = await this.#connection.body(head, action.read);
        const part = `<${start.length} of ${start.length + head.left} bytes read>`;
        this.#partial = { action, head, start };
        return () => `${showAnswer({ method: 'HEAD' }, { ...head, body: start }, this.#shared.names)} ${part}`;
    }

    async #complete(action, head) {
        const body = await this.#connection.rest(head);

        this.#keep(action, head, body);
        if ((head.headers.get('connection') ?? '').toLowerCase() === 'close')
            this.close();
        return () => showAnswer(action, { ...head, body }, this.#shared.names);
    }

    /** The rest of an answer read in part, or of a body sent in part and then the answer. */
    async #finish() {
        const partial = this.#partial;

        if (!partial)
            throw new Missing('nothing to finish');
        this.#partial = null;
        if (partial.head) {
            const whole = Buffer.concat([partial.start, await this.#connection.rest(partial.head)]);
            return () => `whole answer ${this.#shared.names.bytes(whole)}`;
        }
        await this.#connection.send(partial.unsent);
        const head = await this.#connection.response(partial.action.method);
        return this.#complete(partial.action, head);
    }

    /** The first message of an answer, or what an update says of it. */
    #keepMessage(head, body) {
        const id = element(body, 'MessageId');
        const receipt = element(body, 'PopReceipt') ?? head.headers.get('x-ms-popreceipt');

        if (id)
            this.#shared.kept.set(`${this.#name}.id`, id);
        if (receipt)
            this.#shared.kept.set(`${this.#name}.receipt`, receipt);
    }

    /** Keeps what the action asks for of a success. */
    #keep(action, head, body) {
        for (const { name, header } of action.captures) {
            if (name === 'message') {
                this.#keepMessage(head, `${body ?? ''}`);
                continue;
            }
            const value = name in ELEMENTS ? element(`${body ?? ''}`, ELEMENTS[name])
                : head.headers.get(header ?? CAPTURES[name] ?? name);
            if (value !== undefined && head.status < 300)
                this.#shared.kept.set(`${this.#name}.${name}`, value);
        }
    }
}
