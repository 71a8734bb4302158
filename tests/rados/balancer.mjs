// HAProxy before several front ends, with the very lines of docs/cluster.md, on other ports.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../lib/server.mjs';
import { listens, programOf } from '../proxy/proxies.mjs';

const DOCUMENT = readFileSync(new URL('../../docs/cluster.md', import.meta.url), 'utf8');
const SERVICES = { blob: 10000, queue: 10001, table: 10002, file: 10003 };
const FRONTS = ['10.0.0.1', '10.0.0.2'];
const START_MS = 30_000;
const NOBODY = 1; // no port that anybody listens on
const DOWN_MS = 4000; // until that is known
/* What front ends are started with, since the proxy is on this machine and the tests use the published key. */
export const BEHIND_BALANCER = ['--trustProxy', '127.0.0.1', '--allowDevelopmentAccount'];

function exchange(text, from, to) {
    if (!text.includes(from))
        throw new Error(`docs/cluster.md: its lines for HAProxy have no "${from}"`);
    return text.replaceAll(from, to);
}

/** fronts: two, or one, with { ports }. Gives what Client takes for a server, and stop(). */
export async function startBalancer(fronts, account) {
    const folder = mkdtempSync(path.join(tmpdir(), 'lagra-balancer-'));
    const free = await freePorts(Object.keys(SERVICES).length);
    const ports = Object.fromEntries(Object.keys(SERVICES).map((service, i) => [service, free[i]]));
    let text = DOCUMENT.match(/```haproxy\n(.*?)```/s)[1];

    for (const [service, port] of Object.entries(SERVICES)) {
        FRONTS.forEach((address, i) => {
            text = exchange(text, `${address}:${port}`, `127.0.0.1:${fronts[i]?.ports[service] ?? NOBODY}`);
        });
        text = exchange(text, `bind :${port}`, `bind 127.0.0.1:${ports[service]}`).replaceAll(`dst_port ${port}`, `dst_port ${ports[service]}`);
    }
    const file = path.join(folder, 'haproxy.cfg');
    writeFileSync(file, text);
    const child = spawn(programOf('haproxy'), ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (more) => {
        said = (said + more).slice(-4096);
    });
    const ended = new Promise((resolve) => {
        child.once('error', resolve);
        child.once('close', resolve);
    });
    for (const end = Date.now() + START_MS; !(await Promise.all(free.map(listens))).every(Boolean); await sleep(50))
        if (child.exitCode !== null || Date.now() > end)
            throw new Error(`haproxy does not listen: ${said}`);
    if (fronts.length < FRONTS.length)
        await sleep(DOWN_MS);
    return {
        name: 'HAProxy', host: '127.0.0.1', account, ports, port: ports.blob, pid: child.pid,
        async stop() {
            child.kill('SIGKILL');
            await ended;
            rmSync(folder, { recursive: true });
        },
    };
}
