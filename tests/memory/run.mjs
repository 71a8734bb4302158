#!/usr/bin/env node
// Memory after many: each kind of thing that a client can do again and again is done N times, and 2 N times
// more: what these leave allocated, once the server's caches are empty, is bounded.
// run.mjs --build FOLDER [--soak] [--count N] [--only WORD]
//
// With --soak N is 100,000, by SMB 5,000. Leaks that are planted in programs of their own must be found first. Of a build
// whose allocator does not say what is allocated (sanitizers) nothing is tested.
// src/base/gate.h "POST /$lagra/memory"

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Build, ROOT } from '../lib/changed_program.mjs';
import { keepsMemory } from '../lib/sanitizer.mjs';
import { Control, Server } from '../lib/server.mjs';
import { once, times } from './asking.mjs';
import * as blobs from './blobs.mjs';
import * as entities from './entities.mjs';
import * as files from './files.mjs';
import * as messages from './messages.mjs';
import * as operators from './operators.mjs';
import * as owners from './owners.mjs';
import * as paths from './paths.mjs';
import * as smb from './smb.mjs';
import * as strangers from './strangers.mjs';

const { values: options } = parseArgs({
    options: { build: { type: 'string' }, soak: { type: 'boolean', default: false }, only: { type: 'string', default: '' },
        count: { type: 'string' } },
});
const COUNT = Number(options.count ?? (options.soak ? 100000 : 60));
/* The SMB client takes some milliseconds for each. */
const SMB_COUNT = Math.ceil(COUNT / 20);
/* What may stay of each time, and whatever is done: files of records that are open. */
const bytesMax = (count) => 2 * count * 16 + 8192;
const quietMs = (count) => 2000 + count;
/* What leaks does so each time. Now and then as much as a memtable (640 KiB here) stays of one measurement,
 * and does not grow with the count. */
const ATTEMPTS = 8;
const MODULES = [blobs, messages, entities, files, strangers, operators];
const SECURE_MODULES = [owners];

/* A program in which something is never given back, and what shows it. */
const LEAKS = [
    { file: 'src/net/connections.c', change: [['    free(c);\n', '']], shown: 'connections opened and closed' },
    { file: 'src/store/reading.c', change: [['    free(iterator->partition.ptr);\n    free(iterator);\n', '']], shown: 'lists with other' },
    { file: 'src/store/embedded/stage_release.c', change: [['    free(stage);\n', '']], shown: 'uploads that are cut' },
];

const nonsense = (text) => new Error(text);

/** What stays of 2 x count times, after count others that may leave what is made once. What was only made late
 *  (a thread that began) is not there the second time. each: of times(), or { all(from, to) } */
async function growth(server, control, each, { attempts, count }) {
    const most = bytesMax(count);
    let done = 0, bytes;
    const more = (added) => {
        const from = done;

        done += added;
        return each.all ? each.all(from, done) : times(server, from, done, each);
    };

    await more(count);
    for (let attempt = 0; attempt < attempts; attempt++) {
        const before = await control.memory();

        await more(2 * count);
        bytes = await control.memory() - before;
        for (const end = Date.now() + quietMs(count); bytes > most && Date.now() < end; await delay(100))
            bytes = await control.memory() - before;
        if (bytes <= most)
            break;
    }
    return { bytes, count, holds: bytes <= most };
}

/** Runs the kinds with such a name on a server of its own. report(name, growth) */
async function measure(binary, { modules = MODULES, args = [], secure = false, attempts = ATTEMPTS, count = COUNT }, only, report) {
    const server = await Server.start({ binary, secure, args: ['--diskReserve', '12', '--allowCopyFrom', '127.0.0.0/8', ...args],
        env: { MALLOC_CONF: 'tcache:false' } });
    const control = new Control(server);

    try {
        for (const { setup } of modules)
            if (setup)
                await once(server, setup);
        for (const [name, each] of modules.flatMap(({ KINDS }) => Object.entries(KINDS(server))))
            if (name.includes(only))
                report(name, await growth(server, control, each, { attempts, count }).catch((error) => ({ error })));
    } finally {
        control.close();
        await server.kill();
        await server.remove();
    }
}

/** A server in which the leak is. */
function plant(build, { file, change }, folder) {
    let text = readFileSync(path.join(ROOT, file), 'utf8');

    for (const [from, to] of change) {
        if (!text.includes(from))
            throw nonsense(`${file} has no longer: ${from}`);
        text = text.replace(from, to);
    }
    return build.link('lagra', build.compile(file, text, folder), folder);
}

const counts = { passed: 0, failed: 0, skipped: 0 };
function note(passed, text) {
    counts[passed ? 'passed' : 'failed']++;
    console.log(`${passed ? 'ok     ' : 'not ok '} ${text}`);
}

const build = new Build(options.build);
const binary = path.join(build.folder, 'lagra');
const describe = ({ bytes, count, error }) => error ? error.stack : `${bytes} bytes stay of ${2 * count} times, at most ${bytesMax(count)} may`;

if (keepsMemory(binary)) {
    console.log('skipped: the allocator of a sanitizer does not say what is allocated');
    counts.skipped++;
} else {
    const work = mkdtempSync(path.join(tmpdir(), 'lagra-memory-'));

    try {
        const report = (name, grown) => note(grown.holds, `${name}: ${describe(grown)}`);

        await measure(binary, {}, options.only, report);
        await measure(binary, { modules: [paths], args: paths.ARGUMENTS }, options.only, report);
        await measure(binary, { modules: [smb], args: smb.ARGUMENTS, count: SMB_COUNT }, options.only, report);
        await measure(binary, { modules: SECURE_MODULES, secure: true, args: owners.secureArguments(work) }, options.only, report);
        for (const [i, leak] of LEAKS.entries())
            if (!options.only && !options.soak && !options.count)
                await measure(plant(build, leak, path.join(work, `${i}`)), { attempts: 2 }, leak.shown, (name, grown) =>
                    note(grown.holds === false, `${name}, with a leak in ${leak.file}: ${describe(grown)}`));
    } finally {
        rmSync(work, { recursive: true, force: true });
    }
}
console.log(`memory: ${counts.passed} passed, ${counts.failed} failed${counts.skipped ? `, ${counts.skipped} skipped` : ''}`);
process.exitCode = counts.failed === 0 ? 0 : 1;
