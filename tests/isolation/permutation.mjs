// Runs one permutation of a spec against a server and gives the lines to print.

import { setTimeout as delay } from 'node:timers/promises';
import { Connection, formatHead } from '../lib/http.mjs';
import { sign } from '../lib/sign.mjs';
import { Names, element, showAnswer } from './show.mjs';

const ANSWER_LIMIT_MS = 10000;
/* While the syncer is held, a step counts as waiting when it has been silent for so long and
 * through so many answers to other requests. A slow server cannot fail a test by this: an answer
 * that must come is awaited to the limit above. */
const SILENCE_MS = 100;
const SILENCE_PINGS = 10;

/** Fixed ids that specs name as $id.A .. $id.F. */
const IDS = new Map([...'ABCDEF'].map((letter) => [letter, 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'.replaceAll('x', letter.toLowerCase())]));

/** Short names for what is kept of an answer. */
const CAPTURES = {
    etag: 'ETag', lease: 'x-ms-lease-id', snapshot: 'x-ms-snapshot', modified: 'Last-Modified',
};

function patternBytes({ size, seed }) {
    const unit = Buffer.from(`[${seed}]`.repeat(64));
    const bytes = Buffer.alloc(size, unit);

    for (let at = 0; at + 8 <= size; at += 4096)
        bytes.writeUInt32LE(at / 4096, at);        /* no two pages are alike */
    return bytes;
}

function bodyBytes(body) {
    if (body === null)
        return Buffer.alloc(0);
    if (body.text !== undefined)
        return Buffer.from(body.text);
    if (body.blocks) {
        const items = body.blocks.map(({ kind, id }) => `<${kind}>${Buffer.from(id).toString('base64')}</${kind}>`);
        return Buffer.from(`<?xml version="1.0" encoding="utf-8"?><BlockList>${items.join('')}</BlockList>`);
    }
    return patternBytes(body);
}

/** Something a spec refers to has not happened (in this permutation): the step is not sent. */
class Missing extends Error {}

export class Permutation {
    lines = [];
    broken = false;
    #target;
    #spec;
    #container;
    #names = new Names([...IDS].map(([letter, id]) => [id, letter]));
    #kept = new Map();
    #sessions = new Map();
    #outstanding = [];
    #held = new Map();

    /** target: { host, port, base, credentials, control (null: no gates), offset: { ms } }
     *  container: a name that nobody used */
    constructor(target, spec, container) {
        this.#target = target;
        this.#spec = spec;
        this.#container = container;
    }

    /** Runs setup, the turns and always. Sets broken when the server should not be used again. */
    async run(permutation) {
        this.lines.push(`permutation: ${permutation.name}`);
        try {
            await this.#quietly('setup', this.#spec.setup);
            this.#names.startOver();
            for (const turn of permutation.turns)
                await (turn.go ? this.#go(turn.go) : turn.starts.length > 1 ? this.#race(turn) : this.#start(turn));
            for (const action of this.#spec.always)
                this.lines.push(`always: ${await this.#limited(this.#perform('always', action))}`);
        } catch (error) {
            this.broken = true;
            this.lines.push(`broken: ${error.message}`);
        }
        for (const session of this.#sessions.values())
            session.connection?.close();
        return this.lines;
    }

    async #quietly(session, actions) {
        for (const action of actions) {
            const text = await this.#limited(this.#perform(session, action));
            if (!/^(2\d\d|clock|collected)/.test(text))
                throw new Error(`${session}, line ${action.line}: ${text}`);
        }
    }

    async #limited(promise) {
        const timeout = new AbortController();
        const limit = delay(ANSWER_LIMIT_MS, null, { signal: timeout.signal }).catch(() => null);
        const text = await Promise.race([promise, limit]);

        timeout.abort();
        if (text === null)
            throw new Error(`no answer in ${ANSWER_LIMIT_MS / 1000} s`);
        return text;
    }

    #print(step, text) {
        this.lines.push(`${step.name}: ${text}`);
    }

    /** Begins a step; its text becomes known as step.ended. */
    #begin(step, gate) {
        const running = { step, gate, text: null };
        const headers = gate ? [['x-lagra-gate', `${gate}=hold`]] : [];

        running.done = this.#perform(step.session, step.action, headers)
            .catch((error) => `<${error.message}>`)
            .then((text) => (running.text = text));
        return running;
    }

    async #start({ starts: [step], gate }) {
        const running = this.#begin(step, gate);

        if (gate && (await this.#reaches(running))) {
            this.#held.set(step, running);
            this.#print(step, `<at ${gate}>`);
        } else if (this.#syncerHeld() && (await this.#silent(running))) {
            this.#outstanding.push(running);
            this.#print(step, '<waits>');
        } else
            this.#print(step, await this.#limited(running.done));
    }

    #syncerHeld() {
        return [...this.#held.values()].some(({ gate }) => gate === 'applied');
    }

    /** Polls until the step stands at its gate (true) or has its answer (false). */
    async #reaches(running) {
        const limit = Date.now() + ANSWER_LIMIT_MS;

        while (running.text === null) {
            if ((await this.#target.control.count(running.gate)) > 0)
                return true;
            if (Date.now() > limit)
                throw new Error(`${running.step.name} neither reaches ${running.gate} nor ends`);
            await delay(1);
        }
        return false;
    }

    async #silent(running) {
        const until = Date.now() + SILENCE_MS;

        for (let pings = 0; running.text === null && (pings < SILENCE_PINGS || Date.now() < until); pings++) {
            await this.#target.control.count('applied');
            await delay(1);
        }
        return running.text === null;
    }

    /** Lets a held step go, then everything that waited for it ends too. */
    async #go(step) {
        const running = this.#held.get(step);

        if (!running) {
            this.#print(step, '<had ended>');
            return;
        }
        this.#held.delete(step);
        await this.#target.control.go(running.gate);
        this.#print(step, await this.#limited(running.done));
        if (!this.#syncerHeld())
            for (const waiting of this.#outstanding.splice(0))
                this.#print(waiting.step, await this.#limited(waiting.done));
    }

    /** Steps sent at the same time: what happened is printed sorted, without saying to whom. */
    async #race({ text, starts }) {
        const all = starts.map((step) => this.#begin(step, null));
        const texts = await Promise.all(all.map(({ done }) => this.#limited(done)));

        this.lines.push(`${text}: ${texts.map((t) => t.replace(/ E\d+/, ' E')).sort().join(' + ')}`);
    }

    #session(name) {
        if (!this.#sessions.has(name))
            this.#sessions.set(name, { connection: null, partial: null });
        return this.#sessions.get(name);
    }

    async #perform(name, action, extra = []) {
        const session = this.#session(name);

        try {
            if (action.clock)
                return await this.#clock(action.clock);
            if (action.collect)
                return await this.#collect();
            session.connection ??= await Connection.open(this.#target.host, this.#target.port);
            return action.finish ? await this.#finish(session) : await this.#send(name, session, action, extra);
        } catch (error) {
            if (!(error instanceof Missing)) {
                session.connection?.close();
                session.connection = null;
            }
            return `<${error.message}>`;
        }
    }

    async #clock(seconds) {
        await this.#target.control.clock(seconds);
        this.#target.offset.ms += seconds * 1000;
        return `clock +${seconds} s`;
    }

    /** Gives back what nobody refers to any more. */
    async #collect() {
        await this.#target.control.collect();
        return 'collected';
    }

    /** Text with $session.name, $id.A and $c replaced. */
    #expand(text) {
        return text.replace(/\$(\w+)\.(\w+)|\$c(\d*)\b/g, (whole, session, name, number) => {
            const value = session === undefined ? this.#container + number
                : session === 'id' ? IDS.get(name) : this.#kept.get(`${session}.${name}`);
            if (value === undefined)
                throw new Missing(`no ${whole} yet`);
            return value;
        });
    }

    #build(action, body, extra) {
        const path = action.path.replace(/^\/c(\d*)/, (whole, number) => `/${this.#container}${number}`);
        const query = action.query.replace(/^&/, '').replace(/\$[\w.]+/g, (ref) => encodeURIComponent(this.#expand(ref)));
        const headers = [['Host', `${this.#target.host}:${this.#target.port}`], ...extra];
        const given = action.headers.map(([name, value]) => [name, this.#expand(value)]);
        const isBlob = action.method === 'PUT' && /^\/c\d*\/./.test(action.path) && !/comp=/.test(action.query);

        if (action.method !== 'GET' && action.method !== 'HEAD')
            headers.push(['Content-Length', `${body.length}`]);
        if (isBlob && !given.some(([name]) => name.toLowerCase() === 'x-ms-blob-type'))
            headers.push(['x-ms-blob-type', 'BlockBlob']);
        headers.push(...given);
        if (action.send !== null)
            headers.push(['Expect', '100-continue']);
        const target = this.#target.base + path + (query ? `?${query}` : '');
        return sign({ method: action.method, target, headers },
            { credentials: this.#target.credentials, offsetMs: this.#target.offset.ms });
    }

    async #send(name, session, action, extra) {
        const body = bodyBytes(action.body);
        const request = this.#build(action, body, extra);

        if (session.partial)
            throw new Missing('the session has an exchange to finish');
        if (action.body?.pattern)
            this.#names.sent(body, action.body.pattern);
        if (action.send !== null) {
            const early = await this.#sendPart(session, request, action, body);
            if (early)
                return early;
        } else
            await session.connection.request(request, body);
        return this.#receive(name, session, request, action);
    }

    /** Sends a head that expects 100-continue, then the first bytes of the body. */
    async #sendPart(session, request, action, body) {
        const { connection } = session;

        await connection.send(formatHead(request));
        const head = await connection.response(request.method);
        if (head.status !== 100)
            return this.#complete(session, request, action, head);
        await connection.send(body.subarray(0, action.send));
        session.partial = { request, action, rest: body.subarray(action.send) };
        return `<100, ${action.send} of ${body.length} bytes sent>`;
    }

    async #receive(name, session, request, action) {
        const head = await session.connection.response(request.method);

        this.#keep(name, action, head);
        if (action.read !== null && head.status < 300) {
            const start = await session.connection.body(head, action.read);
            session.partial = { request, action, head, start };
            const shown = showAnswer({ method: 'HEAD' }, { ...head, body: start }, this.#names);
            return `${shown} <${start.length} of ${start.length + head.left} bytes read>`;
        }
        return this.#complete(session, request, action, head, name);
    }

    async #complete(session, request, action, head, name) {
        const body = await session.connection.rest(head);

        if (name !== undefined)
            this.#keepBody(name, action, body);
        if ((head.headers.get('connection') ?? '').toLowerCase() === 'close') {
            session.connection.close();
            session.connection = null;
        }
        return showAnswer(request, { ...head, body }, this.#names);
    }

    /** The rest of an answer read in part, or of a body sent in part and then the answer. */
    async #finish(session) {
        const { partial, connection } = session;

        if (!partial)
            throw new Missing('nothing to finish');
        session.partial = null;
        if (partial.head) {
            const rest = await connection.rest(partial.head);
            return `whole answer ${this.#names.bytes(Buffer.concat([partial.start, rest]))}`;
        }
        await connection.send(partial.rest);
        return this.#complete(session, partial.request, partial.action, await connection.response(partial.request.method));
    }

    #keep(session, action, head) {
        for (const { name, header } of action.captures) {
            const value = head.headers.get(header ?? CAPTURES[name] ?? name);
            if (value !== undefined && head.status < 300)
                this.#kept.set(`${session}.${name}`, value);
        }
    }

    #keepBody(session, action, body) {
        for (const { name } of action.captures.filter((capture) => capture.name === 'marker'))
            this.#kept.set(`${session}.${name}`, element(body.toString('utf8'), 'NextMarker'));
    }
}
