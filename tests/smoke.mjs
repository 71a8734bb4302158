#!/usr/bin/env node
// What `make smoke` runs, in two minutes: smoke.mjs --build FOLDER
//
// One pass of the suites that meet a fault soonest, of the services and rooms that have changed since
// main: the branch's own commits, and what is not committed. A change of one service (src/blob, tests of
// blobs), or of a room that one service alone uses, concerns that service; any other change concerns all. Where nothing has changed, or
// git does not know main, everything counts as changed. `make test` has the rest.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { values: { build } } = parseArgs({ options: { build: { type: 'string' } } });

// The beginnings of the names of specs and of clients' tests; those that take long are left out.
const SERVICES = {
    blob: {
        isolation: ['append', 'batch', 'block', 'container', 'copy', 'create', 'delete', 'early', 'from', 'lease', 'listing',
            'metadata', 'pages', 'policy', 'properties', 'public', 'reader', 'snapshot', 'tags', 'tier', 'writes'],
        clients: ['append', 'batch', 'blocks', 'conditions', 'containers', 'copy.', 'etags', 'leases', 'listing.', 'pages',
            'sas', 'sdk', 'snapshots', 'tags', 'tiers', 'uploads'],
    },
    queue: { isolation: ['queue'], clients: ['messages', 'queues'] },
    file: {
        isolation: ['directory', 'file', 'share'],
        clients: ['directories', 'file', 'listing-files', 'permissions', 'share'],
    },
    table: { isolation: ['table'], clients: ['entities', 'queries', 'tables', 'transactions'] },
};
/** Rooms that one service alone uses. */
const SERVICE_OF = { smb: 'file', tree: 'file' };
const ROOMS = ['auth', 'base', 'blob', 'concurrency', 'content', 'fetch', 'file', 'http', 'net', 'observe', 'properties',
    'queue', 'request', 'service', 'smb', 'table', 'tree'];

function git(...args) {
    const { status, stdout } = spawnSync('git', args, { cwd: path.dirname(HERE), encoding: 'utf8' });

    return status === 0 ? stdout.split('\n').filter((line) => line) : null;
}

/** Names of files; null: not known. */
function changed() {
    const base = git('merge-base', 'HEAD', 'main') ?? git('merge-base', 'HEAD', 'origin/main');
    const files = base && git('diff', '--name-only', base[0]);
    const others = files && git('ls-files', '--others', '--exclude-standard');

    return others && files.length + others.length > 0 ? [...files, ...others] : null;
}

/** "src/blob/rest/x.c", "tests/unit/blob/x.c" -> "blob"; "": of no room alone. */
const roomOf = (file) => file.match(/^(?:src|tests\/unit)\/([a-z]+)\//)?.[1] ?? '';
const serviceOf = (file) => SERVICE_OF[roomOf(file)] ?? roomOf(file);
const isCode = (file) => /^(src|tests|tools|meson)/.test(file);

const files = changed()?.filter(isCode);
const touched = new Set(files?.map(roomOf));
const concerned = new Set(files?.map(serviceOf));
const ofServices = files && files.every((file) => SERVICES[serviceOf(file)]);
const services = Object.keys(SERVICES).filter((name) => !files || !ofServices || concerned.has(name));
const rooms = files && !touched.has('') ? ROOMS.filter((room) => touched.has(room) || services.includes(room)) : ROOMS;
const parts = (of) => services.flatMap((name) => SERVICES[name][of]).join(',');

if (files?.length === 0) {
    console.log('Nothing that is built or tested has changed since main.\n0 passed, 0 failed');
} else {
    console.log(`${files ? 'Changed since main' : 'Everything'}: ${services.join(', ')}; unit tests of ${rooms.join(', ')}`);
    process.exitCode = spawnSync(process.execPath, [path.join(HERE, 'run.mjs'), '--build', build, `unit:${rooms.join(',')}`,
        `isolation:${parts('isolation')}`, `clients:${parts('clients')}`, 'replay', 'wire',
        `short sim:${services.join(',')}`], { stdio: 'inherit' }).status ?? 1;
}
