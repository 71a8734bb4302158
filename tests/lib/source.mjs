// A server that sources of copies lie on: it answers each path as its handler says, and can be
// slow, short, or wrong.
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';

// handlers: { '/path': (request, response) => .. }. Closed after the test `t`.
export async function sourceServer(t, handlers, tls) {
    const seen = [];
    const listener = (request, response) => {
        seen.push({ method: request.method, url: request.url, headers: request.headers });
        const handler = handlers[new URL(request.url, 'http://x').pathname];
        if (handler) {
            handler(request, response);
        } else {
            response.writeHead(404, { 'x-ms-error-code': 'BlobNotFound' });
            response.end();
        }
    };
    const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
        server.closeAllConnections();
        server.close();
    });
    const { port } = server.address();
    return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, port, seen };
}

// Sends `content` with its length, as a range where one is asked for.
export function serve(content, headers = {}) {
    return (request, response) => {
        const range = request.headers.range?.match(/^bytes=(\d+)-(\d*)$/);
        const first = range ? Number(range[1]) : 0;
        const last = range?.[2] ? Math.min(Number(range[2]), content.length - 1) : content.length - 1;
        const part = content.subarray(first, last + 1);
        response.writeHead(range ? 206 : 200, {
            'content-length': part.length,
            ...(range ? { 'content-range': `bytes ${first}-${last}/${content.length}` } : {}),
            ...headers,
        });
        response.end(part);
    };
}

// A server that answers with bytes which no HTTP library would send. answers: { '/path': bytes, or a
// function of (socket, head of the request as text) that gives them or sends them itself }. The
// connection ends with the answer. Closed after the test `t`. host: an address of this machine
export async function rawSource(t, answers, host = '127.0.0.1') {
    const sockets = new Set();
    const server = net.createServer((socket) => {
        let head = '';
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => sockets.delete(socket));
        socket.on('data', (data) => {
            head += data.toString('latin1');
            if (!head.includes('\r\n\r\n'))
                return;
            const answer = answers[/^[A-Z]+ ([^ ?]*)/.exec(head)[1]] ?? 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n';
            const bytes = typeof answer === 'function' ? answer(socket, head) : answer;
            if (bytes !== undefined)
                socket.end(Buffer.from(bytes, 'latin1'));
        });
    });
    server.listen(0, host);
    await once(server, 'listening');
    t.after(() => {
        sockets.forEach((socket) => socket.destroy());
        server.close();
    });
    return { url: `http://${host}:${server.address().port}`, openCount: () => sockets.size };
}

// Answers with a head of a body of `length` bytes, of which one comes each tenth of a second.
export function trickle(length, headers = '') {
    return (socket) => {
        const timer = setInterval(() => socket.write('x'), 100);

        socket.on('close', () => clearInterval(timer));
        socket.write(`HTTP/1.1 200 x\r\nContent-Length: ${length}\r\n${headers}\r\n`);
    };
}

// Sends the same bytes until the other side has enough.
export function endless(first, again) {
    return (socket) => {
        const send = () => {
            while (!socket.destroyed && socket.write(again, 'latin1'));
        };
        socket.write(first, 'latin1');
        socket.on('drain', send);
        send();
    };
}
