// Clients for the tests of limits: signed requests on connections that a test holds as it wants.

import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../lib/http.mjs';
import { Server } from '../lib/server.mjs';
import { sign } from '../lib/sign.mjs';

export const CONTAINER = '/devstoreaccount1/limits';
// Long: under a sanitizer on a busy machine an answer takes seconds.
export const PATIENCE_MS = 120_000;

export function inTime(promise, what, patience = PATIENCE_MS) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what}: nothing in ${patience} ms`)), patience);
    });

    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Waits until holds() is true, now or soon. */
export async function until(holds, otherwise) {
    for (const end = Date.now() + PATIENCE_MS; !(await holds()); await delay(20))
        if (Date.now() > end)
            throw new Error(otherwise);
}

/** VmRSS of the server in MiB, or VmHWM, its peak. */
export function residentMiB(server, what = 'VmRSS') {
    return Number(readFileSync(`/proc/${server.pid}/status`, 'utf8').match(new RegExp(`${what}:\\s+(\\d+) kB`))[1]) / 1024;
}

/** A signed request. */
export function signed(server, method, target, headers = []) {
    return sign({ method, target, headers: [['Host', `${server.host}:${server.port}`], ...headers] });
}

/** A Put Blob of so many bytes. */
export function putBlob(server, target, length) {
    return signed(server, 'PUT', target, [['Content-Length', `${length}`], ['x-ms-blob-type', 'BlockBlob']]);
}

/** One exchange on a connection of its own: the whole answer. */
export async function ask(server, request, body) {
    const connection = await inTime(Connection.open(server.host, server.port), 'a connection');

    try {
        return await inTime(connection.exchange(request, body), `${request.method} ${request.target}`);
    } finally {
        connection.close();
    }
}

export async function createContainer(server) {
    const answer = await ask(server, signed(server, 'PUT', `${CONTAINER}?restype=container`, [['Content-Length', '0']]));

    if (answer.status !== 201)
        throw new Error(`Create Container: ${answer.status}`);
}

/** Connections that ask for nothing. */
export async function openIdle(server, count) {
    const connections = [];

    for (let i = 0; i < count; i += 100)
        connections.push(...(await Promise.all(Array.from({ length: Math.min(100, count - i) },
            () => Connection.open(server.host, server.port)))));
    return connections;
}

export const closeAll = (connections) => connections.forEach((connection) => connection.close());

/** What an honest client does: writes 100 KB and reads them back. */
export async function honest(server) {
    const body = Buffer.alloc(100_000, 'honest ');
    const target = `${CONTAINER}/honest`;
    const put = await ask(server, putBlob(server, target, body.length), body);
    const get = await ask(server, signed(server, 'GET', target));

    if (put.status !== 201 || get.status !== 200 || !get.body.equals(body))
        throw new Error(`an honest client's PUT is answered ${put.status}, its GET ${get.status}`);
}

/** Runs use(server) on a server of its own, started with `args`, with the container made. */
export async function withServer({ binary }, args, use) {
    const server = await Server.start({ binary, args });

    try {
        await createContainer(server);
        await use(server);
    } catch (error) {
        await server.kill(); /* a stop would wait for what the test left open, and hide its error */
        await server.remove();
        throw error;
    }
    await server.stop();
}

/** Sends the head of a request whose body is announced and never sent. */
export function announce(server, service, method, target, headers, length) {
    const at = { host: server.host, port: server.ports[service] };

    return ask(at, sign({ method, target: `/devstoreaccount1${target}`, headers: [['Host', `${at.host}:${at.port}`], ['Content-Length', `${length}`], ...headers] },
        { service }));
}

/** "400 InvalidInput": the status of a response, and its error code, which may be in its body only. */
export function outcome({ status, headers, body }) {
    const code = headers.get('x-ms-error-code') ?? /<Code>(\w+)<|"code":"(\w+)"|x-ms-error-code: (\w+)/.exec(body.toString())?.slice(1).find(Boolean);

    return code ? `${status} ${code}` : `${status}`;
}
