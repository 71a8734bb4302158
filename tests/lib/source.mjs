// A server that sources of copies lie on: it answers each path as its handler says, and can be
// slow, short, or wrong.
import http from 'node:http';
import https from 'node:https';

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
