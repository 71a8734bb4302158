#!/usr/bin/env node
// Bytes on the socket: malformed heads, framing, chunks, pipelining, cut bodies. Each case of
// cases.mjs on a connection of its own; after it the server must still answer others.
//
//   run.mjs [--url http://127.0.0.1:PORT] [--server BINARY] [--server-arg=ARG].. [--only WORD]
//
// --url     a server that runs already, with the development account
// --server  else: a lagra to start; default: the environment variable LAGRA_BINARY

import { parseArgs } from 'node:util';
import { Connection } from '../lib/http.mjs';
import { Server } from '../lib/server.mjs';
import { sign } from '../lib/sign.mjs';
import { CASES, GET, POST, PUT, TARGET } from './cases.mjs';

const PATIENCE_MS = 60000;
const CLOSED = Symbol('closed');

const { values: options } = parseArgs({
    options: {
        url: { type: 'string' },
        server: { type: 'string', default: process.env.LAGRA_BINARY },
        'server-arg': { type: 'string', multiple: true, default: [] },
        only: { type: 'string', default: '' },
    },
});
const server = options.url ? null : await Server.start({ binary: options.server, args: options['server-arg'] });
const host = options.url ? new URL(options.url).hostname : server.host;
const port = options.url ? Number(new URL(options.url).port) : server.port;

function inTime(promise, what) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what}: nothing in ${PATIENCE_MS} ms`)), PATIENCE_MS);
    });

    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Status of the next answer, its body read; CLOSED at the end of the connection. */
async function status(connection, method) {
    try {
        const head = await connection.response(method);
        await connection.rest(head);
        return head.status;
    } catch (error) {
        if (/closed in a head/.test(error.message) || error.code === 'ECONNRESET' || error.code === 'EPIPE')
            return CLOSED;
        throw error;
    }
}

async function answerTo(method, headers) {
    const connection = await Connection.open(host, port);

    await connection.request({ method, target: TARGET, headers: [['Host', host], ...headers] });
    const seen = await inTime(status(connection, method), `a well-formed ${method}`);
    connection.close();
    return seen;
}

const show = (seen) => (seen === CLOSED ? 'closed' : String(seen));

async function send(connection, pieces) {
    for (const piece of [pieces].flat())
        await connection.send(Buffer.from(piece, 'latin1'));
}

/** Runs one case. Returns what is wrong, or null. */
async function run(test, own) {
    const connection = await Connection.open(host, port);

    try {
        const sending = send(connection, test.send);
        if (test.leave) {
            await sending;
            return null;
        }
        for (const [i, wanted] of test.expect.entries()) {
            const seen = await inTime(status(connection, 'GET'), `answer ${i + 1}`);
            if (seen !== (own[wanted] ?? wanted) && !(wanted === 'any' && seen >= 200 && seen < 500))
                return `answer ${i + 1} is ${show(seen)}, not ${show(own[wanted] ?? wanted)}`;
        }
        if (test.then === 'open')
            await connection.request({ method: 'GET', target: TARGET, headers: [['Host', host]] });
        const wanted = test.then === 'open' ? own[GET] : CLOSED;
        const seen = await inTime(status(connection, 'GET'), 'afterwards');
        return seen === wanted ? null : `afterwards comes ${show(seen)}, not ${show(wanted)}`;
    } catch (error) {
        return error.message;
    } finally {
        connection.close();
    }
}

/** 100 goes out when the service wants the body, and the connection goes on. rfc: 9110 10.1.1 */
async function continues(own) {
    const container = await signed('PUT', '/devstoreaccount1/wire?restype=container', [['Content-Length', '0']]);
    const connection = await Connection.open(host, port);
    const body = Buffer.from('hello');

    if (container !== 201 && container !== 409)
        return `the container is answered ${show(container)}`;
    try {
        await connection.request(sign({
            method: 'PUT', target: TARGET,
            headers: [['Host', host], ['Content-Length', '5'], ['x-ms-blob-type', 'BlockBlob'], ['Expect', '100-continue']],
        }));
        for (const wanted of [100, 201]) {
            const seen = await inTime(status(connection, 'PUT'), `status ${wanted}`);
            if (seen !== wanted)
                return `${show(seen)} comes, not ${wanted}`;
            if (wanted === 100)
                await connection.send(body);
        }
        await connection.request({ method: 'GET', target: TARGET, headers: [['Host', host]] });
        const seen = await inTime(status(connection, 'GET'), 'afterwards');
        return seen === own[GET] ? null : `afterwards comes ${show(seen)}`;
    } finally {
        connection.close();
        await signed('DELETE', '/devstoreaccount1/wire?restype=container', []);
    }
}

/**
 * Who closed his side after a whole request is answered, and what it asked is done. rfc: 9112 9.6
 */
async function answersHalfClosed() {
    const path = '/devstoreaccount1/half';
    const requests = [
        ['PUT', `${path}?restype=container`, 0, 201], ['PUT', `${path}/empty`, 0, 201], ['PUT', `${path}/small`, 100, 201],
        ['PUT', `${path}/middle`, 25_000, 201], ['PUT', `${path}/large`, 3_000_000, 201],
        ['GET', `${path}/large`, 0, 200], ['DELETE', `${path}?restype=container`, 0, 202],
    ];

    for (const [method, target, size, wanted] of requests) {
        const connection = await Connection.open(host, port);
        const headers = [['Host', host], ['Content-Length', String(size)]];

        if (!target.includes('?') && method === 'PUT')
            headers.push(['x-ms-blob-type', 'BlockBlob']);
        await connection.request(sign({ method, target, headers }), Buffer.alloc(size));
        connection.halfClose();
        const seen = await inTime(status(connection, method), target);
        const after = await inTime(status(connection, method), 'the end');
        connection.close();
        if (seen !== wanted || after !== CLOSED)
            return `${method} ${target}: ${show(seen)}, then ${show(after)}`;
    }
    return null;
}

async function signed(method, target, headers) {
    const connection = await Connection.open(host, port);

    await connection.request(sign({ method, target, headers: [['Host', host], ...headers] }));
    const seen = await inTime(status(connection, method), target);
    connection.close();
    return seen;
}

const own = { [GET]: await answerTo('GET', []), [PUT]: await answerTo('PUT', [['Content-Length', '0']]), [POST]: await answerTo('POST', [['Content-Length', '0']]) };
let failed = 0;
let passed = 0;

async function report(name, rule, wrong) {
    const alive = await answerTo('GET', []).catch((error) => error.message);
    const problem = alive === own[GET] ? wrong : `the server no longer answers: ${show(alive)}`;

    if (problem)
        failed++;
    else
        passed++;
    console.log(problem ? `not ok  ${name} (${rule}): ${problem}` : `ok      ${name}`);
}

for (const test of CASES.filter(({ name }) => name.includes(options.only)))
    await report(test.name, test.rule, await run(test, own));
if ('expect: wanted'.includes(options.only))
    await report('expect: wanted', 'rfc: 9110 10.1.1', await continues(own).catch((error) => error.message));
if ('half-closed'.includes(options.only))
    await report('half-closed', 'rfc: 9112 9.6', await answersHalfClosed().catch((error) => error.message));
try {
    await server?.stop();
} catch (error) {
    failed++;
    console.log(`not ok  the server's end: ${error.message}`);
}
console.log(`wire: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
