// An end of TLS before a service of the server, for clients that take nothing but HTTPS.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';

/** Passes all to the service's port, also after the server was started again; resolves to { host, port }. */
export async function tlsFront(t, server, service) {
    const port = server.ports[service];
    const front = tls.createServer({
        cert: readFileSync(process.env.LAGRA_TEST_CERTIFICATE), key: readFileSync(process.env.LAGRA_TEST_KEY),
    }, (outer) => {
        const inner = net.connect(port, server.host);
        for (const [from, to] of [[outer, inner], [inner, outer]])
            from.on('error', () => to.destroy()).pipe(to);
    });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    t.after(() => front.close());
    return { host: '127.0.0.1', port: front.address().port };
}
