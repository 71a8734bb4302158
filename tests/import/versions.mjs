#!/usr/bin/env node
// Imports from versions of Azurite, from its server and from its folder: blobs of all types with snapshots, tags, leases and
// uncommitted blocks, messages, entities. Every state is compared byte for byte. Then one blob is hidden from the copy, which has
// to fail and to name it. docs/import.md; decisions 905, 906
//
//   versions.mjs [--all] [--blobs N] [--large VERSION,..] [VERSION..]
//
// Without versions, those of package.json; with --all each one since 3.20, which are installed first.
//
//   --blobs   how many blobs with two snapshots each the versions of --large have (2000); the others have 60

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { run } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { Asker, forAll } from './account.mjs';
import { azuriteOf, startAzurite } from './azurite.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const BUILD = path.resolve(HERE, '../../build');
const FEW = 60;
const IMPORT_LIMIT_MS = 600000;
const REST = ['3.21.0', '3.22.0', '3.23.0', '3.24.0', '3.25.0', '3.25.1', '3.26.0', '3.29.0', '3.30.0', '3.31.0', '3.32.0', '3.34.0', '3.36.0'];

const { values: options, positionals: named } = parseArgs({
    allowPositionals: true,
    options: { all: { type: 'boolean', default: false }, blobs: { type: 'string', default: '2000' }, large: { type: 'string', default: '3.35.0,3.37.0' } },
});
const pinned = Object.keys(JSON.parse(readFileSync(path.join(HERE, 'package.json'))).dependencies).map((name) => name.slice('azurite-'.length));
const large = options.large.split(',');

// ---- what the account has ----

const BYTES = 40; // of one length, so that sizes do not tell states apart
const bytesOf = (i, state) => Buffer.from(`blob ${i}, state ${state}`.padEnd(BYTES));
const nameOf = (i) => `folder/b ${`${i}`.padStart(5, '0')}`;
const pathOf = (i) => `/vvv/${nameOf(i).split('/').map(encodeURIComponent).join('/')}`;
const STATES = 3; // two snapshots, and the blob itself

async function fillBlob(asker, i) {
    for (let state = 0; state < STATES; state++) {
        const isLast = state === STATES - 1;
        await asker.ask('PUT', pathOf(i), { 'x-ms-blob-type': 'BlockBlob', 'Content-Type': 'text/plain', 'x-ms-meta-state': `${state}`,
            ...(isLast && i % 20 === 0 && { 'x-ms-tags': `number=${i}` }) }, bytesOf(i, state));
        if (!isLast)
            await asker.ask('PUT', `${pathOf(i)}?comp=snapshot`);
    }
    if (i % 30 === 1)
        await asker.ask('PUT', `${pathOf(i)}?comp=lease`, { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' });
    if (i % 30 === 2)
        await asker.ask('PUT', `${pathOf(i)}?comp=block&blockid=${encodeURIComponent(btoa('left'))}`, {}, Buffer.from('uncommitted'));
}

async function fill(ports, blobs) {
    const first = await Asker.open(ports, 'blob');
    await first.ask('PUT', '/vvv?restype=container', { 'x-ms-meta-of': 'v' });
    first.close();
    await forAll(ports, 'blob', blobs, fillBlob);
    const [blob, queue, table] = await Promise.all(['blob', 'queue', 'table'].map((service) => Asker.open(ports, service))); // none of them waits for long
    await blob.ask('PUT', `/vvv/never?comp=block&blockid=${encodeURIComponent(btoa('left'))}`, {}, Buffer.from('uncommitted'));
    await blob.ask('PUT', '/vvv/pages', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '4096' });
    await blob.ask('PUT', '/vvv/pages?comp=page', { 'x-ms-page-write': 'update', 'x-ms-range': 'bytes=512-1023' }, Buffer.alloc(512, 1));
    await blob.ask('PUT', '/vvv/append', { 'x-ms-blob-type': 'AppendBlob' });
    await blob.ask('PUT', '/vvv/append?comp=appendblock', {}, Buffer.from('appended'));
    await queue.ask('PUT', '/vvv');
    for (const text of ['one', 'two'])
        await queue.ask('POST', '/vvv/messages?messagettl=-1', {}, Buffer.from(`<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`));
    await table.ask('POST', '/Tables', { 'Content-Type': 'application/json' }, Buffer.from('{"TableName":"vvv"}'));
    await table.ask('POST', '/vvv', { 'Content-Type': 'application/json' }, Buffer.from('{"PartitionKey":"p","RowKey":"r","born":1815}'));
    const hasTags = (await blob.ask('GET', pathOf(0))).headers.get('x-ms-tag-count') === '1'; // 3.20 passes over x-ms-tags
    for (const asker of [blob, queue, table])
        asker.close();
    return { blobs, hasTags };
}

const check = (isTrue, text) => {
    if (!isTrue)
        throw new Error(text);
};

/** The states of each name, the blob itself last: their query. */
async function listStates(asker) {
    const states = new Map();
    for (let marker = ''; marker !== undefined;) {
        const page = `${(await asker.ask('GET', `/vvv?restype=container&comp=list&include=snapshots%2Cuncommittedblobs${marker && `&marker=${encodeURIComponent(marker)}`}`)).body}`;
        for (const [, text] of page.matchAll(/<Blob>(.*?)<\/Blob>/gs)) {
            const name = /<Name>(.*?)<\/Name>/.exec(text)[1], snapshot = /<Snapshot>(.*?)<\/Snapshot>/.exec(text)?.[1];
            states.set(name, [...states.get(name) ?? [], snapshot ? `?snapshot=${encodeURIComponent(snapshot)}` : '']);
        }
        marker = /<NextMarker>([^<]+)</.exec(page)?.[1];
    }
    return states;
}

/** Throws unless the server has exactly that. */
async function checkCopy(ports, { blobs, hasTags }) {
    const [blob, queue, table] = await Promise.all(['blob', 'queue', 'table'].map((service) => Asker.open(ports, service)));
    const states = await listStates(blob);
    check(states.size === blobs + 2 && !states.has('never'), `${states.size} blobs`);
    await forAll(ports, 'blob', blobs, async (asker, i) => {
        const found = states.get(nameOf(i)) ?? [];
        check(found.length === STATES, `${nameOf(i)} has ${found.length} states`);
        for (const [state, query] of found.entries()) {
            const { body, headers } = await asker.ask('GET', `${pathOf(i)}${query}`);
            check(body.equals(bytesOf(i, state)) && headers.get('x-ms-meta-state') === `${state}` && headers.get('Content-Type') === 'text/plain',
                `${nameOf(i)}${query}: ${body}`);
            check(query || i % 20 !== 0 || !hasTags || headers.get('x-ms-tag-count') === '1', `${nameOf(i)} has no tag`);
        }
    });
    const pages = (await blob.ask('GET', '/vvv/pages')).body;
    check(pages.length === 4096 && pages.subarray(512, 1024).equals(Buffer.alloc(512, 1)) && pages[511] === 0 && pages[1024] === 0, 'pages');
    check(`${(await blob.ask('GET', '/vvv/append')).body}` === 'appended', 'append');
    const messages = `${(await queue.ask('GET', '/vvv/messages?peekonly=true&numofmessages=32')).body}`;
    check([...messages.matchAll(/<MessageText>(.*?)</g)].map(([, text]) => text).join() === 'one,two', messages);
    const { value } = JSON.parse((await table.ask('GET', '/vvv()')).body);
    check(value.length === 1 && value[0].born === 1815, 'entities');
    const properties = `${(await blob.ask('GET', '/?restype=service&comp=properties')).body}`;
    check(/<Logging>.*<Write>false<\/Write>/s.test(properties), `requests are logged: ${properties}`);
    for (const asker of [blob, queue, table])
        asker.close();
}

// ---- imports ----

async function lagra(server, folder, words, from) {
    const { code, output, errors } = await run(['import', ...words, '--json', '--journal', path.join(folder, 'journal')],
        { LAGRA_FROM_CONNECTION_STRING: from, AZURE_STORAGE_CONNECTION_STRING: server.connectionString }, IMPORT_LIMIT_MS);
    return { code, errors, result: JSON.parse(output.trim().split('\n').at(-1) || '{}') };
}

async function withServer(work) {
    const server = await Server.start();
    try {
        return await work(server);
    } finally {
        await server.kill();
        await server.remove();
    }
}

const importAll = (folder, account, words, from) => withServer(async (server) => {
    const { code, errors, result } = await lagra(server, folder, words, from);
    check(code === 0, errors);
    check(result.compared === STATES * account.blobs + 2 + 1 + 1 + 2 && result.missing + result.differing === 0, JSON.stringify(result));
    await checkCopy(server.ports, account);
    return result.milliseconds / 1000;
});

/** Passes the requests of the Blob service on, with one blob taken out of the first listing. */
async function hideOne(ports, name) {
    let hidden = 0;
    const isOfCopy = (url) => /comp=list/.test(url) && !/maxresults=/.test(url);
    const proxy = http.createServer((request, response) => {
        const onward = http.request({ host: ports.host, port: ports.blob, method: request.method, path: request.url, headers: request.headers }, async (answer) => {
            const parts = [];
            for await (const part of answer)
                parts.push(part);
            let body = Buffer.concat(parts);
            if (isOfCopy(request.url)) {
                const text = `${body}`.replace(/<Blob>.*?<\/Blob>/gs, (blob) => (blob.includes(`<Name>${name}</Name>`) && ++hidden ? '' : blob));
                body = Buffer.from(text);
            }
            delete answer.headers['transfer-encoding'];
            response.writeHead(answer.statusCode, request.method === 'HEAD' ? answer.headers : { ...answer.headers, 'content-length': body.length });
            response.end(body);
        });
        request.pipe(onward);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    return { port: proxy.address().port, close: () => proxy.close(), count: () => hidden };
}

async function importHidden(folder, azurite, blobs) {
    const name = nameOf(Math.floor(blobs / 2)), hiding = await hideOne(azurite.ports, name);
    const from = `DefaultEndpointsProtocol=http;AccountName=${DEVELOPMENT.account};AccountKey=${DEVELOPMENT.key};BlobEndpoint=http://127.0.0.1:${hiding.port}/${DEVELOPMENT.account}`;

    return withServer(async (server) => {
        const { code, errors, result } = await lagra(server, folder, [], from);
        hiding.close();
        rmSync(path.join(folder, 'journal'), { force: true });
        check(hiding.count() === STATES, `${hiding.count()} states were hidden`);
        check(code === 1 && result.missing === STATES && errors.includes(`blob vvv/${name} is missing at the target`), `${code}: ${errors}`);
        return `exit ${code}, "${errors.split('\n').find((line) => line.includes('is missing'))}"`;
    });
}

async function tryVersion(version, file) {
    mkdirSync(BUILD, { recursive: true });
    const folder = mkdtempSync(path.join(BUILD, 'import-')), source = path.join(folder, 'azurite');
    const blobs = large.includes(version) ? Number(options.blobs) : FEW;

    mkdirSync(source);
    try {
        const azurite = await startAzurite(source, { file });
        let account, seconds, hidden;
        try {
            account = await fill(azurite.ports, blobs);
            seconds = await importAll(folder, account, [], azurite.connectionString('blob', 'queue', 'table'));
            hidden = await importHidden(folder, azurite, blobs);
        } finally {
            await azurite.stop();
        }
        const ofFolder = await importAll(folder, account, ['--azurite', source], '');
        console.log(`Azurite ${version}, ${blobs} blobs with ${STATES - 1} snapshots each: equal from the server (${seconds.toFixed(1)} s) and the folder ` +
            `(${ofFolder.toFixed(1)} s); one hidden: ${hidden}`);
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

// ---- versions ----

async function install(versions) {
    const folder = path.join(BUILD, 'azurites');
    mkdirSync(folder, { recursive: true });
    const child = spawn('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts',
        ...versions.map((version) => `azurite-${version}@npm:azurite@${version}`)], { stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    check(code === 0, 'versions of Azurite cannot be installed');
    return path.join(folder, 'node_modules');
}

const wanted = named.length > 0 ? named : options.all ? [...pinned, ...REST] : pinned;
const others = wanted.filter((version) => !pinned.includes(version));
const installed = others.length > 0 ? await install(others) : undefined;
let failed = 0;

for (const version of wanted) {
    await tryVersion(version, azuriteOf(pinned.includes(version) ? path.join(HERE, 'node_modules') : installed, version)).catch((error) => {
        failed++;
        console.log(`not ok: Azurite ${version}: ${error.stack}`);
    });
}
console.log(`versions of Azurite: ${wanted.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
