#!/usr/bin/env node
// Replays recorded exchanges with the real service against Lagra: replay.mjs [--show] [GROUP..]
//
// The requests of a group are sent in their order, signed anew. What the server gave out earlier in the
// group (ETags, leases, snapshots, markers, times) takes the place of what the real service gave out;
// where the recording waited, the server's clock is moved. Compared are status, error code, the names
// of the headers, the elements of XML in their order, and which requests change an ETag. Every
// difference needs a rule with a reason in differences.json, and every rule a difference.
//
// An operation that is not built is answered 501, a header that is not supported 400 UnsupportedHeader:
// there the group ends. --show prints every difference with its request.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '../lib/http.mjs';
import { Control, Server } from '../lib/server.mjs';
import { sign } from '../lib/sign.mjs';
import { differencesOf, EtagHistory } from './compare.mjs';
import { containersBefore, groupsOf, NotRecorded, operationOf, requestOf } from './recording.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const SHARED = process.env.LAGRA_SHARED ?? path.resolve(HERE, '../../../shared');
const FILES = ['python.jsonl.gz', 'node.jsonl.gz'].map((name) => path.join(SHARED, 'recordings', name));
/* Waits of the recording that are repeated, by moving the clock; shorter ones are the network's. */
const WAIT_MIN_MS = 3000;
const WAIT_MAX_MS = 300000;
/* Names and values that are given out by the server and come back in later requests. */
const GIVEN_OUT = ['etag', 'last-modified', 'x-ms-snapshot', 'x-ms-lease-id', 'x-ms-copy-id'];
const UNBUILT = ['UnsupportedHeader', 'UnsupportedQueryParameter', 'NotImplemented'];

const { headers: uncompared, rules } =
    JSON.parse(readFileSync(path.join(HERE, 'differences.json'), 'utf8'));
const isCompared = (name) => !(name in uncompared) && !name.startsWith('access-control-');
const show = process.argv.includes('--show');
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));

class Replay {
    #server;
    #control;
    #connection = null;
    #clockMs = 0;

    constructor(server) {
        this.#server = server;
        this.#control = new Control(server);
    }

    close() {
        this.#connection?.close();
        this.#control.close();
    }

    get nowMs() {
        return Date.now() + this.#clockMs;
    }

    async wait(ms) {
        const seconds = Math.round(ms / 1000);
        await this.#control.clock(seconds);
        this.#clockMs += seconds * 1000;
    }

    /** request: { method, path, query, headers, body, anonymous } */
    async send({ method, path: name, query, headers, body, anonymous }) {
        const pairs = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
        const isWrite = body.length > 0 || !['GET', 'HEAD'].includes(method);
        const request = {
            method,
            target: `/${this.#server.account}${name}${pairs ? `?${pairs}` : ''}`,
            headers: [['Host', `${this.#server.host}:${this.#server.port}`],
                ...(isWrite ? [['Content-Length', String(body.length)]] : []), ...headers],
        };
        this.#connection ??= await Connection.open(this.#server.host, this.#server.port);
        return this.#connection.exchange(
            anonymous ? request : sign(request, { offsetMs: this.#clockMs }), body);
    }

    /** Containers as they were before the group. */
    async prepare(exchanges) {
        for (const [container, existed] of containersBefore(exchanges)) {
            const ask = (method, headers = []) => this.send({
                method, path: `/${container}`, query: [['restype', 'container']], headers,
                body: Buffer.alloc(0),
            });
            const lease = [['x-ms-lease-action', 'break'], ['x-ms-lease-break-period', '0']];
            await this.send({
                method: 'PUT', path: `/${container}`, headers: lease, body: Buffer.alloc(0),
                query: [['restype', 'container'], ['comp', 'lease']],
            });
            await ask('DELETE');
            if (existed)
                await ask('PUT');
        }
    }
}

/** What stands for recorded values in this run. */
class Given {
    #values = new Map();

    learn(recorded, ours) {
        if (recorded && ours && recorded !== ours)
            this.#values.set(recorded, ours);
    }

    learnFrom({ respHeaders, respBody }, answer) {
        const marker = /<NextMarker>(.*?)<\/NextMarker>/;

        for (const name of GIVEN_OUT)
            this.learn(respHeaders[name], answer.headers.get(name));
        this.learn(marker.exec(respBody)?.[1], marker.exec(answer.body.toString())?.[1]);
    }

    /** A value as it is here. Dates that were not given out keep their distance to the request. */
    apply(name, value, { at }, nowMs) {
        if (this.#values.has(value))
            return this.#values.get(value);
        if (/^if-(un)?modified-since$/.test(name) && !Number.isNaN(Date.parse(value)))
            return new Date(Date.parse(value) - at + nowMs).toUTCString();
        return value;
    }
}

const totals = { exchanges: 0, compared: 0, equal: 0, groups: 0, whole: 0, stopped: new Map() };
const used = new Set();

function ruleFor(group, exchange, difference) {
    const operation = operationOf(exchange);
    const version = exchange.respHeaders['x-ms-version'] ?? '';
    const matches = (pattern, text) => pattern === undefined || new RegExp(`^(?:${pattern})$`).test(text);

    return rules.find((rule) => matches(rule.request, operation) && matches(rule.group, group.name) &&
        matches(rule.difference, difference) && (!rule.before || version < rule.before));
}

/** Differences of one exchange that no rule explains. */
function unexplained(group, exchange, differences) {
    return differences.filter((difference) => {
        const rule = ruleFor(group, exchange, difference);
        if (rule)
            used.add(rule);
        if (show)
            console.log(`${rule ? 'explained' : 'NEW'} ${group.name} ${exchange.i} ` +
                `${operationOf(exchange)}: ${difference}`);
        return !rule;
    }).map((difference) => `${exchange.i} ${operationOf(exchange)}: ${difference}`);
}

/** Why the group cannot go on after this answer; null when it can. */
function endOf(exchange, answer) {
    const code = answer.headers.get('x-ms-error-code');

    if (answer.status === 501)
        return 'an operation that is not built';
    return UNBUILT.includes(code) && exchange.error !== code ? 'a header that is not supported' : null;
}

async function exchangeAgain(replay, given, group, n) {
    const exchange = group.exchanges[n];
    const request = requestOf(exchange, group.exchanges.slice(n + 1));

    if (exchange.parameter('sig'))
        throw new NotRecorded('shared access signatures are not built');
    request.query = request.query.map(([name, value]) =>
        [name, given.apply(name, value, exchange, replay.nowMs)]);
    request.headers = request.headers.map(([name, value]) =>
        [name, given.apply(name, value, exchange, replay.nowMs)]);
    const answer = await replay.send(request);
    given.learnFrom(exchange, answer);
    return answer;
}

/** Replays a group; returns the differences without a rule. */
async function replayGroup(replay, group) {
    const given = new Given();
    const etags = new EtagHistory();
    const found = [];
    let last = null;

    await replay.prepare(group.exchanges);
    for (const [n, exchange] of group.exchanges.entries()) {
        const waited = last ? exchange.at - last.at : 0;
        if (waited >= WAIT_MIN_MS && waited <= WAIT_MAX_MS)
            await replay.wait(waited);
        last = exchange;
        const answer = await exchangeAgain(replay, given, group, n);
        const end = endOf(exchange, answer);
        if (end)
            throw Object.assign(new NotRecorded(end), { found });
        totals.compared++;
        const differences = differencesOf(exchange, answer, etags, isCompared);
        const fresh = unexplained(group, exchange, differences);
        if (differences.length === 0)
            totals.equal++;
        found.push(...fresh);
        // What follows depends on a state that is not the recorded one.
        if (differences.some((text) => text.startsWith('status')) && exchange.method !== 'GET')
            break;
    }
    totals.whole++;
    return found;
}

async function runGroup(replay, group) {
    const before = totals.compared;
    let found;

    totals.exchanges += group.exchanges.length;
    try {
        found = await replayGroup(replay, group);
    } catch (error) {
        if (!(error instanceof NotRecorded))
            throw error;
        totals.stopped.set(error.message, (totals.stopped.get(error.message) ?? 0) + 1);
        found = error.found ?? [];
    }
    if (totals.compared === before && found.length === 0)
        return 'skipped';
    totals.groups++;
    if (found.length > 0)
        console.log(`not ok: ${group.name}\n  ${found.join('\n  ')}`);
    return found.length === 0 ? 'passed' : 'failed';
}

async function main() {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const server = await Server.start();
    const replay = new Replay(server);

    try {
        for (const group of FILES.flatMap(groupsOf))
            if (wanted.length === 0 || wanted.some((part) => group.name.includes(part)))
                counts[await runGroup(replay, group)]++;
    } finally {
        replay.close();
        await server.stop();
    }
    const unused = wanted.length > 0 ? [] : rules.filter((rule) => !used.has(rule));
    for (const rule of unused)
        console.log(`not ok: no difference needs this rule: ${JSON.stringify(rule)}`);
    console.log(`${totals.groups} groups and ${totals.compared} of ${totals.exchanges} requests were ` +
        `compared, ${totals.equal} without any difference; ${totals.whole} groups to their end.`);
    for (const [why, count] of totals.stopped)
        console.log(`${count} groups ended at: ${why}.`);
    console.log(`replay: ${counts.passed} passed, ${counts.failed + unused.length} failed, ` +
        `${counts.skipped} skipped`);
    process.exitCode = counts.failed + unused.length === 0 ? 0 : 1;
}

if (FILES.every((file) => existsSync(file))) {
    await main();
} else {
    console.log(`skipped: the recordings are not at ${path.join(SHARED, 'recordings')}`);
    console.log('replay: 0 passed, 0 failed, 1 skipped');
}
