#!/usr/bin/env node
// Replays recorded exchanges with the real service against Lagra: replay.mjs [--show] [GROUP..]
//
// The requests of a group are sent in their order, signed anew. What the server gave out earlier in
// the group (ETags, leases, snapshots, markers, times) takes the place of what the real service
// gave out; where the recording waited, the server's clock is moved. Compared are status, error
// code, headers and elements of XML with their values (but for times, ids and names of the moment),
// bodies that were recorded, and which requests change an ETag. Every difference needs a rule with
// a reason in differences.json, and every rule a difference.
//
// An operation that is not built is answered 501, a header that is not supported 400
// UnsupportedHeader: there the group ends. --show prints every difference with its request.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '../lib/http.mjs';
import { Control, Server } from '../lib/server.mjs';
import { containerSas, shareSas } from '../lib/sas.mjs';
import { batchOf, batchPartsOf } from './batches.mjs';
import { filesBefore } from './files.mjs';
import { pathsGivenOutBy } from './paths.mjs';
import { givenOutBy, namesIn, queuesBefore } from './queues.mjs';
import { tablesBefore, withRecordedUrl } from './tables.mjs';
import { newMasterKey } from '../lib/master_key.mjs';
import { run as runLagra } from '../lib/program.mjs';
import { sign } from '../lib/sign.mjs';
import { differencesOf, EtagHistory } from './compare.mjs';
import {
    blobsBefore, containersBefore, daysKept, groupsOf, madeSourceMd5, NotRecorded, operationOf, propertiesBefore,
    requestOf, sourceOf, sourcesBefore,
} from './recording.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const SHARED = process.env.LAGRA_TEST_SHARED ?? path.resolve(HERE, '../../../shared');
const FILES = ['python.jsonl.gz', 'node.jsonl.gz', 'cpp.jsonl.gz', 'cpp-answers.jsonl.gz', 'dfs.jsonl.gz']
    .map((name) => path.join(SHARED, 'recordings', name));
/* Of this recording only the complete groups about policies and holds. Their containers had immutable storage with versioning. */
const PROTECTED = { file: path.join(SHARED, 'recordings', 'protect.jsonl.gz'), groups: /^go-blob:.*ImmutabilityPolicy/ };
/* And those of customer-provided keys, but for some whose bodies are not those that were sent. */
const OF_KEYS = /test_cpk(_async)?\.|WithCPK$|cpk_exists/;
const WITHOUT_BODIES = /(PageBlockFromURL|UploadPagesFromURLWithMD5)WithCPK$|^py-blob:test_cpk\.test_create_block_blob_with_chunks$/;
const isOfKeys = (name) => OF_KEYS.test(name) && !WITHOUT_BODIES.test(name);
/* And those of encryption scopes. Before some of them the scope did not exist yet. */
const OF_SCOPES = /test_cpk_n(_async)?\.|WithCPKScope$|encryption_scope/;
const WITHOUT_SCOPE = /^go-blob:recordings\/.*WithCPKScope$/;
const SCOPES = ['antjoscope1', 'containerscope', 'testencryption', 'blobgokeytestscope', 'EncryptionScopeForTest'];
/* The key of the recordings, which an older one has without it. Keys are sent over HTTPS, here to a trusted proxy. */
const KEY = 'MDEyMzQ1NjcwMTIzNDU2NzAxMjM0NTY3MDEyMzQ1Njc=';
const withKey = ([name, value]) => name !== 'x-ms-encryption-key' ? [[name, value]]
    : [[name, value === 'REDACTED' ? KEY : value], ['X-Forwarded-Proto', 'https']];
/* The accounts of the Data Lake tests are hierarchical, so they have a server of their own. */
const SERVICES = ['blob', 'queue', 'table', 'file', 'dfs'];
/* Dates of conditions so close to a change are of that change. */
const CLOSE_MS = 5000;
/* Waits of the recording that are repeated, by moving the clock; shorter ones are the network's. */
const WAIT_MIN_MS = { blob: 3000, queue: 1000, table: Infinity, file: 3000, dfs: 3000 };
const RANGE_MAX = 4 << 20;
const FILLED_MAX = 64 << 20;
const WAIT_MAX_MS = 300000;
/* Names and values that are given out by the server and come back in later requests. */
const GIVEN_OUT = ['etag', 'last-modified', 'x-ms-snapshot', 'x-ms-version-id', 'x-ms-lease-id', 'x-ms-copy-id',
    'x-ms-file-permission-key'];
const UNBUILT = ['UnsupportedHeader', 'UnsupportedQueryParameter', 'NotImplemented'];

const { headers: uncompared, elements: leftOut, rules } =
    JSON.parse(readFileSync(path.join(HERE, 'differences.json'), 'utf8'));
const isCompared = (name) => !(name in uncompared) && !name.startsWith('access-control-');
const isLeftOut = (name) => name in leftOut;
const show = process.argv.includes('--show');
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));

class Replay {
    #server;
    #service;
    #control;
    #connections = new Map();
    #clockMs = 0;
    #mayKeep = false;

    constructor(server, service) {
        this.#server = server;
        this.#service = service;
        this.#control = new Control(server);
    }

    close() {
        for (const connection of this.#connections.values())
            connection.close();
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

    get #port() {
        return this.#server.ports[this.#service];
    }

    /** request: { method, path, query, headers, body, anonymous }; service: that gets it */
    async send({ method, path: name, query, headers, body, anonymous }, service = this.#service) {
        const port = this.#server.ports[service];
        const pairs = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
        const isWrite = body.length > 0 || !['GET', 'HEAD'].includes(method);
        const request = {
            method,
            target: `/${this.#server.account}${name}${pairs ? `?${pairs}` : ''}`,
            headers: [['Host', `${this.#server.host}:${port}`],
                ...(isWrite ? [['Content-Length', String(body.length)]] : []), ...headers],
        };
        const connection = this.#connections.get(service) ?? await Connection.open(this.#server.host, port);
        this.#connections.set(service, connection);
        const answer = await connection.exchange(
            anonymous ? request : sign(request, { offsetMs: this.#clockMs, service }), body);
        if (answer.headers.get('connection') === 'close') {
            connection.close(); // behind the refusal of a long body
            this.#connections.delete(service);
        }
        return answer;
    }

    /** Immutable storage with versioning, which only the operator enables. */
    async protect(container) {
        const { code, errors } = await runLagra(['container', 'protect', container, 'versions', '--location', this.#server.location]);
        if (code !== 0)
            throw new Error(errors);
    }

    /** The requests inside a batch, as its body. */
    signParts(request, parts) {
        const { body, type } = batchOf(parts, this.#server.account, this.#clockMs);

        request.body = body;
        request.headers = request.headers.map(([name, value]) => [name, name === 'content-type' ? type : value]);
    }

    /** An answer with the account's URL as it was recorded. */
    asRecorded(answer) {
        return this.#service === 'table' ? withRecordedUrl(answer, this.#server.urlOf('table')) : answer;
    }

    /** The service that prepares a run: containers and blobs are filesystems and paths, too. */
    get #preparedBy() {
        return this.#service === 'dfs' ? 'blob' : this.#service;
    }

    /** Sends what only prepares: without a comparison. */
    async prepare(method, path, query, headers = [], body = Buffer.alloc(0)) {
        return this.send({ method, path, query: Object.entries(query), headers, body }, this.#preparedBy);
    }

    /** The URL of a blob or file here; signed, where the recorded one was. */
    sourceUrl({ path: name, snapshot, isSigned }) {
        const { host, port, account } = this.#server;
        const isFile = this.#service === 'file';
        const container = name.split('/')[1];
        const se = new Date(this.nowMs + 3600000).toISOString().replace(/\.\d+/, '');
        const query = [
            ...(snapshot ? [`${isFile ? 'share' : ''}snapshot=${encodeURIComponent(snapshot)}`] : []),
            ...(isSigned ? [isFile ? shareSas(container, { sp: 'r', se }) : containerSas(container, { sp: 'rt', se })] : []),
        ];

        return `http://${host}:${isFile ? this.#port : port}/${account}${name}${query.length > 0 ? `?${query.join('&')}` : ''}`;
    }

    /** Tables and entities as they were before the run. */
    async #beginTables(exchanges) {
        const json = [['Content-Type', 'application/json']];
        const { value } = JSON.parse((await this.prepare('GET', '/Tables', {})).body);

        for (const { TableName } of value)
            await this.prepare('DELETE', `/Tables('${TableName}')`, {});
        for (const [table, entities] of tablesBefore(exchanges)) {
            await this.prepare('POST', '/Tables', {}, json, Buffer.from(JSON.stringify({ TableName: table })));
            for (const entity of entities)
                await this.prepare('POST', `/${table}`, {}, json, Buffer.from(entity));
        }
    }

    /** A directory, or a file of bytes 'x'. */
    async #makeFile(name, length) {
        if (length === undefined)
            return this.prepare('PUT', name, { restype: 'directory' });
        await this.prepare('PUT', name, {}, [['x-ms-type', 'file'], ['x-ms-content-length', String(length)]]);
        for (let at = 0; at < length && length <= FILLED_MAX; at += RANGE_MAX) {
            const end = Math.min(at + RANGE_MAX, length);
            await this.prepare('PUT', name, { comp: 'range' }, [['x-ms-write', 'update'],
                ['x-ms-range', `bytes=${at}-${end - 1}`]], Buffer.alloc(end - at, 'x'));
        }
    }

    /** The retention policies that the account had before the run, which may set others, and whether its blobs had versions. */
    async #keep(exchanges) {
        const { blobs, containers } = daysKept(exchanges);
        const policy = (name, days) => `<${name}>${days > 0 ? `<Enabled>true</Enabled><Days>${days}</Days>` : '<Enabled>false</Enabled>'}</${name}>`;

        const versions = isProtected(exchanges) ||
            exchanges.some(({ respHeaders, respBody }) => respHeaders['x-ms-version-id'] || /<VersionId>/.test(respBody));

        if (blobs > 0 || containers > 0 || versions || this.#mayKeep)
            await this.prepare('PUT', '/', { restype: 'service', comp: 'properties' }, [], Buffer.from(
                `<StorageServiceProperties>${policy('DeleteRetentionPolicy', blobs)}${policy('ContainerDeleteRetentionPolicy', containers)}<IsVersioningEnabled>${versions}</IsVersioningEnabled></StorageServiceProperties>`));
        this.#mayKeep = blobs > 0 || containers > 0 || versions || exchanges.some(({ method, parameter }) => method === 'PUT' && parameter('comp') === 'properties');
    }

    /** Containers and blobs as they were before the run. given: learns their ETags. */
    async begin(exchanges, given) {
        const restype = this.#service === 'file' ? 'share' : 'container';

        if (this.#preparedBy === 'blob')
            await this.#keep(exchanges);
        if (exchanges.some(({ container, parameter }) => !container && parameter('comp') === 'properties'))
            await this.prepare('PUT', '/', { restype: 'service', comp: 'properties' }, [],
                Buffer.from(`<StorageServiceProperties>${propertiesBefore(exchanges) || '<Cors/>'}</StorageServiceProperties>`));
        if (this.#service === 'queue') {
            for (const queue of namesIn((await this.prepare('GET', '/', { comp: 'list' })).body.toString()))
                await this.prepare('DELETE', `/${queue}`, {});
            for (const [queue, existed] of queuesBefore(exchanges)) {
                if (existed)
                    await this.prepare('PUT', `/${queue}`, {});
            }
            return;
        }
        if (this.#service === 'table')
            return this.#beginTables(exchanges);
        for (const [container, existed] of containersBefore(exchanges)) {
            await this.prepare('PUT', `/${container}`, { restype, comp: 'lease' },
                [['x-ms-lease-action', 'break'], ['x-ms-lease-break-period', '0']]);
            await this.prepare('DELETE', `/${container}`, { restype },
                restype === 'share' ? [['x-ms-delete-snapshots', 'include-leased']] : []);
            if (existed)
                await this.prepare('PUT', `/${container}`, { restype });
            if (existed && isProtected(exchanges))
                await this.protect(container);
        }
        for (const { path: name, length } of this.#service === 'file' ? filesBefore(exchanges) : [])
            await this.#makeFile(name, length);
        const blobs = [...blobsBefore(exchanges), ...sourcesBefore(exchanges)];
        for (const { path: name, length, type, headers, blocks, etag } of blobs) {
            const body = Buffer.alloc(length, 'x');
            const withType = [['x-ms-blob-type', type], ...headers];
            if (etag) {
                given.learn(etag, (await this.prepare('PUT', name, {}, withType, body)).headers.get('etag'));
            } else if (type === 'AppendBlob') {
                await this.prepare('PUT', name, {}, withType);
                await this.prepare('PUT', name, { comp: 'appendblock' }, [], body);
            } else if (type === 'PageBlob') {
                const range = ['x-ms-range', `bytes=0-${length - 1}`];
                await this.prepare('PUT', name, {},
                    [...withType, ['x-ms-blob-content-length', String(length)]]);
                await this.prepare('PUT', name, { comp: 'page' },
                    [['x-ms-page-write', 'update'], range], body);
            } else if (blocks) {
                const list = '<BlockList><Latest>MQ==</Latest></BlockList>';
                await this.prepare('PUT', name, { comp: 'block', blockid: 'MQ==' }, [], body);
                await this.prepare('PUT', name, { comp: 'blocklist' }, headers, Buffer.from(list));
            } else {
                await this.prepare('PUT', name, {}, withType, body);
            }
        }
    }
}

/** What stands for recorded values in this run. */
class Given {
    #values = new Map();
    #changes = []; // when something was changed, as recorded and here

    learn(recorded, ours) {
        if (recorded && ours && recorded !== ours)
            this.#values.set(recorded, ours);
    }

    learnFrom({ respHeaders, respBody }, answer) {
        const marker = /<NextMarker>(.*?)<\/NextMarker>/, version = /<Version>([0-9A-F]{16})<\/Version>/; // of what was deleted

        for (const name of GIVEN_OUT)
            this.learn(respHeaders[name], answer.headers.get(name));
        for (const one of [marker, version])
            this.learn(one.exec(respBody ?? '')?.[1], one.exec(answer.body.toString())?.[1]);
        if (respHeaders['last-modified'] && answer.headers.get('last-modified'))
            this.#changes.push([respHeaders['last-modified'], answer.headers.get('last-modified')].map(Date.parse));
        for (const [recorded, ours] of [...givenOutBy({ respHeaders, respBody }, answer), ...pathsGivenOutBy({ respHeaders, respBody }, answer)])
            this.learn(recorded, ours);
    }

    /** A path whose names may have been given out. */
    applyPath(path) {
        return path.split('/').map((name) => this.#values.get(name) ?? name).join('/');
    }

    /** A value as it is here. Dates that were not given out keep their distance to a change that
     *  they were close to, and else to the request: seconds pass at other places here. */
    apply(name, value, { at }, nowMs) {
        if (this.#values.has(value))
            return this.#values.get(value);
        if (name === 'x-ms-undelete-source')
            return value.replace(/(?<=deletionid=)\d+/, (id) => this.#values.get(id) ?? id);
        if (!/^((x-ms-source-)?if-(un)?modified-since|x-ms-expiry-time)$/.test(name) || /^\d+$/.test(value) || Number.isNaN(Date.parse(value)))
            return value;
        const date = Date.parse(value);
        const [recorded, ours] = this.#changes.find(([changed]) => Math.abs(date - changed) <= CLOSE_MS) ?? [at, nowMs];

        return new Date(date - recorded + ours).toUTCString();
    }
}

const totals = { exchanges: 0, compared: 0, equal: 0, groups: 0, runs: 0, ended: new Map() };
const reached = new Map(); // by service: [compared, exchanges]
const used = new Set();

function ruleFor(group, exchange, difference) {
    const operation = operationOf(exchange);
    const matches = (pattern, text) => pattern === undefined ||
        new RegExp(`^(?:${pattern})$`).test(text);

    return rules.find((rule) => matches(rule.request, operation) &&
        matches(rule.group, group.name) &&
        matches(rule.difference, difference));
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
    return UNBUILT.includes(code) && exchange.error !== code ? 'a header that is not supported'
        : null;
}

/** What a header says of the source, as it is here. made: the source, if it was made up. */
function applySource(replay, given, { status, reqHeaders }, source, made, [name, value]) {
    if (['x-ms-copy-source', 'x-ms-file-rename-source'].includes(name))
        return replay.sourceUrl({ ...source, snapshot: given.apply('snapshot', source.snapshot, {}) });
    if (name === 'x-ms-source-content-md5' && status < 300 && made)
        return madeSourceMd5(made, reqHeaders['x-ms-source-range']);
    return value;
}

async function exchangeAgain(replay, given, run, n, made) {
    const exchange = run[n];
    const request = requestOf(run, n);
    const apply = ([name, value]) => [name, given.apply(name, value, exchange.twin ?? exchange, replay.nowMs)];
    const source = sourceOf(exchange);

    if (exchange.parameter('comp') === 'batch')
        replay.signParts(request, batchPartsOf(exchange));
    request.query = request.query.map(apply);
    request.path = given.applyPath(request.path);
    request.headers = request.headers.map(apply).flatMap(withKey);
    if (source)
        request.headers = request.headers.map((header) => [header[0],
            applySource(replay, given, exchange, source, made.get(source.path), header)]);
    const answer = replay.asRecorded(await replay.send(request, exchange.svc));
    given.learnFrom(exchange, answer);
    if (exchange.twin)
        given.learnFrom(exchange.twin, answer);
    return { answer, isExact: request.isExact };
}

function isProtected(exchanges) {
    return exchanges.some(({ test }) => PROTECTED.groups.test(test ?? ''));
}

/** Replays a run of a group; returns the differences without a rule, and why it ended early. */
async function replayRun(replay, group, exchanges) {
    const given = new Given();
    const etags = new EtagHistory();
    const found = [];
    let last = exchanges[0];
    // Bytes that were there before are made up.
    const made = new Map(sourcesBefore(exchanges).map((source) => [source.path, source]));
    const isMade = group.service === 'file' && filesBefore(exchanges).some(({ length }) => length > 0);
    let isExact = !isMade && blobsBefore(exchanges).length + made.size === 0;

    await replay.begin(exchanges, given);
    for (const [n, exchange] of exchanges.entries()) {
        const waited = exchange.at - last.at;
        if (waited >= WAIT_MIN_MS[group.service] && waited <= WAIT_MAX_MS)
            await replay.wait(waited);
        last = exchange;
        let answer;
        try {
            const again = await exchangeAgain(replay, given, exchanges, n, made);
            answer = again.answer;
            isExact &&= again.isExact;
        } catch (error) {
            if (!(error instanceof NotRecorded))
                throw error;
            if (show)
                console.log(`ended ${group.name} ${exchange.i} ${operationOf(exchange)}: ${error.message}`);
            return { found, ended: error.message };
        }
        if (exchange.method === 'PUT' && !exchange.blob && answer.status === 201 && isProtected(exchanges))
            await replay.protect(exchange.container);
        const ended = endOf(exchange, answer);
        if (ended) {
            if (show)
                console.log(`ended ${group.name} ${exchange.i} ${operationOf(exchange)}: ${ended}`);
            return { found, ended };
        }
        totals.compared++;
        const differences = differencesOf(exchange, answer, etags,
            { isCompared, isLeftOut, isExact });
        if (differences.length === 0)
            totals.equal++;
        found.push(...unexplained(group, exchange, differences));
        // What follows would start from a state that is not the recorded one.
        if (exchange.method !== 'GET' && differences.some((text) => text.startsWith('status')))
            return { found, ended: 'a request that was answered with another status' };
    }
    return { found };
}

async function runGroup(replay, group) {
    const before = totals.compared;
    const found = [];

    for (const exchanges of group.runs) {
        totals.exchanges += exchanges.length;
        const run = await replayRun(replay, group, exchanges);
        found.push(...run.found);
        totals.runs++;
        if (run.ended)
            totals.ended.set(run.ended, (totals.ended.get(run.ended) ?? 0) + 1);
    }
    if (totals.compared === before)
        return 'skipped';
    totals.groups++;
    if (found.length > 0)
        console.log(`not ok: ${group.name}\n  ${found.join('\n  ')}`);
    return found.length === 0 ? 'passed' : 'failed';
}

async function changeScope(server, change, name) {
    const { code, errors } = await runLagra(['account', 'scope', change, name, '--location', server.location]);
    if (code !== 0)
        throw new Error(errors);
}

/** Replays the groups of a service; counts: of groups by their result. */
async function runService(server, service, counts) {
    const replay = new Replay(server, service);
    const before = [totals.compared, totals.exchanges];

    const groups = [...FILES.flatMap((file) => groupsOf(file, service)),
        ...groupsOf(PROTECTED.file, service).filter(({ name }) => PROTECTED.groups.test(name) || isOfKeys(name) || OF_SCOPES.test(name))];
    for (const group of groups.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))) {
        const isWithout = WITHOUT_SCOPE.test(group.name);

        if (isWithout)
            await changeScope(server, 'disable', 'blobgokeytestscope');
        counts[await runGroup(replay, group)]++;
        if (isWithout)
            await changeScope(server, 'enable', 'blobgokeytestscope');
    }
    replay.close();
    reached.set(service, [totals.compared - before[0], totals.exchanges - before[1]]);
}

async function main() {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const key = await newMasterKey();

    for (const isHierarchical of [false, true]) {
        const server = await Server.start({ args: [...key.options.args, '--trustProxy', '127.0.0.1', '--allowDevelopmentAccount',
            ...isHierarchical ? ['--hierarchical'] : []] });
        try {
            for (const name of SCOPES)
                await changeScope(server, 'add', name);
            for (const service of SERVICES.filter((name) => (name === 'dfs') === isHierarchical))
                await runService(server, service, counts);
        } finally {
            await server.stop();
        }
    }
    await key.remove();
    const unused = wanted.length > 0 ? [] : rules.filter((rule) => !used.has(rule));
    for (const rule of unused)
        console.log(`not ok: no difference needs this rule: ${JSON.stringify(rule)}`);
    console.log(`${totals.groups} groups and ${totals.compared} of ${totals.exchanges} requests were ` +
        `compared, ${totals.equal} without any difference.`);
    for (const [service, [compared, exchanges]] of reached)
        console.log(`${service}: ${compared} of ${exchanges} requests were compared.`);
    for (const [why, count] of totals.ended)
        console.log(`${count} of ${totals.runs} runs of groups ended early: ${why}.`);
    console.log(`replay: ${counts.passed} passed, ${counts.failed + unused.length} failed, ` +
        `${counts.skipped} skipped`);
    process.exitCode = counts.failed + unused.length === 0 ? 0 : 1;
}

if ([...FILES, PROTECTED.file].every((file) => existsSync(file))) {
    await main();
} else {
    console.log(`skipped: the recordings are not at ${path.join(SHARED, 'recordings')}`);
    console.log('replay: 0 passed, 0 failed, 1 skipped');
}
