// The servers that are measured: Lagra, Azurite (npm) and nginx (Debian), each on a port and in a
// folder of its own, started and stopped here.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../tests/lib/server.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const START_LIMIT_MS = 30000;

export const ACCOUNT = 'devstoreaccount1';
export const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

/** Milliseconds until the port answers a request; 1 ms apart at first, so that a quick start shows. */
async function answers(port) {
    const began = performance.now();

    while (performance.now() - began < START_LIMIT_MS) {
        const socket = net.connect(port, '127.0.0.1');
        try {
            await once(socket, 'connect');
            socket.write(`GET /${ACCOUNT}?comp=list HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
            await once(socket, 'data');
            return performance.now() - began;
        } catch {
            await delay(1);
        } finally {
            socket.destroy();
        }
    }
    throw new Error(`nothing answers on port ${port}`);
}

/** The list of cores, as taskset takes it, that servers may use; '': all. */
let cores = '';

export function keepServersTo(list) {
    cores = list;
}

/** A command and its arguments, kept to those cores; '': as they are. */
export function kept(list, command, args) {
    return list ? ['taskset', ['-c', list, command, ...args]] : [command, args];
}

/** ports: of the service that is measured, or of several by their names */
async function startTarget(name, command, args, port, ports = {}) {
    const child = spawn(...kept(cores, command, args), { stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = once(child, 'exit');
    let startMs;

    try {
        startMs = await answers(port);
        for (const other of Object.values(ports))
            await answers(other);
    } catch (error) {
        child.kill('SIGKILL');
        throw error;
    }

    return {
        name, port, ...ports, pid: child.pid, startMs, signed: name !== 'nginx',
        async stop() {
            child.kill('SIGTERM');
            await ended;
        },
        async kill() {
            child.kill('SIGKILL');
            await ended;
        },
    };
}

/** name: in the tables; args: more arguments */
export async function startLagra(binary, folder, { name = 'Lagra', args = [] } = {}) {
    const [blob, queue, table, file, dfs] = await freePorts(5);
    const location = path.join(folder, 'lagra');
    const help = execFileSync(binary, ['--help'], { encoding: 'utf8' });
    const servesFiles = help.includes('--filePort'); /* a baseline may not */
    const servesPaths = help.includes('--dfsPort');
    const hasConsole = help.includes('/metrics and the web console'); /* unless it is told otherwise */

    mkdirSync(location, { recursive: true });
    return startTarget(name, binary, ['--location', location, '--silent',
        '--blobPort', `${blob}`, '--queuePort', `${queue}`, '--tablePort', `${table}`,
        ...(servesFiles ? ['--filePort', `${file}`] : []), ...(servesPaths ? ['--dfsPort', `${dfs}`] : []), ...(hasConsole ? ['--managementPort', '0'] : []), ...args], blob,
    { queuePort: queue, tablePort: table, ...(servesFiles && { filePort: file }), ...(servesPaths && { dfsPort: dfs }) });
}

/** A front end of a cluster; isOwner: it has taken its cell over when this returns. */
export async function startFrontEnd(binary, cluster, { name = 'Lagra', isOwner = false } = {}) {
    const [blob, queue, table, file, internal] = await freePorts(5);
    const target = await startTarget(name, binary, ['--cluster', cluster, '--silent', '--blobPort', `${blob}`, '--queuePort', `${queue}`,
        '--tablePort', `${table}`, '--filePort', `${file}`, '--clusterPort', `${internal}`], blob, { queuePort: queue, tablePort: table, filePort: file });

    for (const end = performance.now() + START_LIMIT_MS; performance.now() < end; await delay(20)) {
        const ready = await fetch(`http://127.0.0.1:${blob}/-/ready${isOwner ? '?cluster' : ''}`).then(({ status }) => status, () => 0);

        if (ready === 200)
            return target;
    }
    await target.kill();
    throw new Error(`the front end at port ${blob} is not ready`);
}

export async function startAzurite(folder) {
    const [port] = await freePorts(1);

    return startTarget('Azurite', process.execPath, [path.join(HERE, 'node_modules/azurite/dist/src/blob/main.js'),
        '--location', path.join(folder, 'azurite'), '--blobPort', `${port}`, '--silent', '--skipApiVersionCheck',
        '--disableTelemetry'], port);
}

/** Another of its services, a process of its own: 'queue', 'table'. */
export async function startAzuriteService(folder, service) {
    const [port] = await freePorts(1);

    return startTarget('Azurite', process.execPath, [path.join(HERE, `node_modules/azurite/dist/src/${service}/main.js`),
        '--location', path.join(folder, `azurite-${service}`), `--${service}Port`, `${port}`, '--silent', '--skipApiVersionCheck',
        '--disableTelemetry'], port, { [`${service}Port`]: port });
}

/** nginx with a worker a core, serving blobs as files under the paths that the load generator asks. */
export async function startNginx(folder, sizes, names) {
    const [port] = await freePorts(1);
    const root = path.join(folder, 'nginx');

    mkdirSync(path.join(root, 'bench'), { recursive: true });
    for (const size of sizes) {
        const count = names(size);

        for (let i = 0; i < count; i++)
            writeFileSync(path.join(root, 'bench', `blob-${size}-${`${i}`.padStart(8, '0')}`), Buffer.alloc(size, i));
    }
    writeFileSync(path.join(root, 'nginx.conf'), `
        daemon off;
        user root;
        worker_processes auto;
        pid ${root}/pid;
        error_log ${root}/error.log;
        events { worker_connections 8192; }
        http {
            access_log off;
            sendfile on;
            tcp_nopush on;
            keepalive_requests 100000000;
            open_file_cache max=2000;
            server { listen 127.0.0.1:${port}; root ${root}; }
        }`);
    return startTarget('nginx', 'nginx', ['-e', `${root}/error.log`, '-c', `${root}/nginx.conf`], port);
}
