// HTTP/1.1 by hand over one socket: exact bytes, header order kept, keep-alive, bodies sent and
// read as slowly as a test wants. Nothing is corrected or retried. rfc: 9112

import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';

/* A body up to this size goes out in one write with its head. */
const TOGETHER_MAX = 65536;

/** Headers of an answer, in order, with lookup by name in any case. */
export class Headers {
    constructor(list) {
        this.list = list;
    }

    /** First value of the header, or undefined. */
    get(name) {
        const wanted = name.toLowerCase();
        return this.list.find(([given]) => given.toLowerCase() === wanted)?.[1];
    }
}

/** Bytes of a request's head. request: { method, target, headers: [[name, value], ...] } */
export function formatHead({ method, target, headers }) {
    const lines = headers.map(([name, value]) => `${name}: ${value}`);

    return Buffer.from([`${method} ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'), 'latin1');
}

function parseHead(text) {
    const [statusLine, ...lines] = text.split('\r\n');
    const match = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/.exec(statusLine);

    if (!match)
        throw new Error(`not a status line: ${JSON.stringify(statusLine)}`);
    const list = lines.map((line) => {
        const colon = line.indexOf(':');
        if (colon < 1)
            throw new Error(`not a header: ${JSON.stringify(line)}`);
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    return { status: Number(match[1]), reason: match[2] ?? '', headers: new Headers(list) };
}

/** One connection. Bytes are taken off the socket only when a test asks for them, so that a reader
 *  that stops reading stops the sender too. */
export class Connection {
    #socket;
    #buffer = Buffer.alloc(0);
    #ended = false;
    #error = null;
    #wake = () => {};

    /** Opens a connection to host:port; secure: by TLS, whatever the certificate.
     *  from    the address that it comes from
     *  header  bytes that go out first, before TLS: of the PROXY protocol */
    static async open(host, port, secure = false, { from, header = '' } = {}) {
        let socket = net.connect({ host, port, noDelay: true, allowHalfOpen: true, localAddress: from });

        await once(socket, 'connect');
        if (header.length > 0)
            socket.write(header);
        if (secure) {
            socket = tls.connect({ socket, rejectUnauthorized: false, allowHalfOpen: true });
            await once(socket, 'secureConnect');
        }
        return new Connection(socket);
    }

    constructor(socket) {
        this.#socket = socket;
        socket.pause();
        socket.on('readable', () => this.#wake());
        socket.on('end', () => this.#finish(null));
        socket.on('close', () => this.#finish(null));
        socket.on('error', (error) => this.#finish(error));
    }

    #finish(error) {
        this.#ended = true;
        this.#error ??= error;
        this.#wake();
    }

    /** Whether the other side has cut it. */
    get failed() {
        return this.#error !== null;
    }

    /** Closes at once. */
    close() {
        this.#socket.destroy();
    }

    /** Says that nothing more will be sent; answers can still be read. */
    halfClose() {
        this.#socket.end();
    }

    /** Sends bytes as they are; resolves when the socket has taken them. */
    async send(bytes) {
        await new Promise((resolve) => {
            this.#socket.write(bytes, () => resolve());
        });
    }

    /** Sends a head and, if given, a body. */
    async request(request, body = Buffer.alloc(0)) {
        const head = formatHead(request);

        await this.send(body.length <= TOGETHER_MAX ? Buffer.concat([head, body]) : head);
        if (body.length > TOGETHER_MAX)
            await this.send(body);
    }

    /** Takes what has arrived into the buffer; false at the end of the stream. */
    async #more() {
        for (;;) {
            const bytes = this.#socket.read();
            if (bytes !== null) {
                this.#buffer = Buffer.concat([this.#buffer, bytes]);
                return true;
            }
            if (this.#ended)
                return false;
            await new Promise((resolve) => {
                this.#wake = resolve;
            });
        }
    }

    async #need(count) {
        while (this.#buffer.length < count)
            if (!(await this.#more()))
                throw this.#error ?? new Error('connection closed too early');
    }

    #take(count) {
        const bytes = this.#buffer.subarray(0, count);
        this.#buffer = this.#buffer.subarray(count);
        return bytes;
    }

    async #takeThrough(mark) {
        let at;

        while ((at = this.#buffer.indexOf(mark)) < 0)
            if (!(await this.#more()))
                throw this.#error ?? new Error('connection closed in a head');
        return this.#take(at + mark.length).subarray(0, at).toString('latin1');
    }

    /** The next head: { status, reason, headers }, interim answers (1xx) included.
     *  method: of the request, since HEAD answers have no body. Then read with body()/rest(). */
    async response(method = 'GET') {
        const head = parseHead(await this.#takeThrough('\r\n\r\n'));
        const none = method === 'HEAD' || head.status < 200 || [204, 304].includes(head.status);

        if (none)
            head.left = 0;
        else if ((head.headers.get('transfer-encoding') ?? '').toLowerCase() === 'chunked')
            head.left = 'chunked';
        else if (head.headers.get('content-length') !== undefined)
            head.left = Number(head.headers.get('content-length'));
        else
            head.left = 'close';
        return head;
    }

    /** Next `count` bytes of an answer with Content-Length, fewer at its end. */
    async body(head, count) {
        const wanted = Math.min(count, head.left);

        if (!Number.isInteger(head.left))
            throw new Error('only an answer with Content-Length can be read in parts');
        await this.#need(wanted);
        head.left -= wanted;
        return Buffer.from(this.#take(wanted));
    }

    /** All that is left of an answer's body. */
    async rest(head) {
        if (head.left === 'chunked')
            return this.#chunks();
        if (head.left === 'close') {
            while (await this.#more());
            return this.#take(this.#buffer.length);
        }
        return this.#exactly(head);
    }

    /** A long body, in pieces of what arrives: joining as it grows would cost its square. */
    async #exactly(head) {
        const parts = [];

        while (head.left > 0) {
            if (this.#buffer.length === 0)
                await this.#need(1);
            const part = this.#take(Math.min(this.#buffer.length, head.left));
            parts.push(part);
            head.left -= part.length;
        }
        return Buffer.concat(parts);
    }

    async #chunks() {
        const parts = [];

        for (;;) {
            const size = parseInt(await this.#takeThrough('\r\n'), 16);
            if (!(size >= 0))
                throw new Error('not a chunk size');
            if (size === 0)
                break;
            await this.#need(size + 2);
            parts.push(Buffer.from(this.#take(size)));
            this.#take(2);
        }
        while ((await this.#takeThrough('\r\n')) !== '');
        return Buffer.concat(parts);
    }

    /** Request and whole answer: { status, reason, headers, body }. Interim answers are skipped. */
    async exchange(request, body) {
        let head;

        await this.request(request, body);
        do
            head = await this.response(request.method);
        while (head.status < 200);
        head.body = await this.rest(head);
        return head;
    }
}
