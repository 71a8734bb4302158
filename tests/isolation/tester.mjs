#!/usr/bin/env node
// The isolation tester: runs specs/*.spec, every interleaving of their steps, and compares what is
// printed with expected/*.out. README.md has the language. No dependencies.
//
//   tester.mjs [--update] [--list] [--jobs=N] [--url=URL] [--server-arg=ARG].. [SPEC..]
//
// By default each worker starts a server of its own (LAGRA_BINARY), since gates and the clock act on
// a whole server. With --url the specs run against that server instead, such as another
// implementation; permutations that need gates or the clock are left out.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Control, Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { unifiedDiff } from './diff.mjs';
import { parseSpec } from './language.mjs';
import { Run } from './run.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));

function options() {
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: {
            update: { type: 'boolean', default: false },
            list: { type: 'boolean', default: false },
            jobs: { type: 'string', default: `${Math.min(4, os.cpus().length)}` },
            url: { type: 'string' },
            'server-arg': { type: 'string', multiple: true, default: [] },
        },
    });
    const names = readdirSync(path.join(HERE, 'specs')).filter((file) => file.endsWith('.spec'))
        .map((file) => file.slice(0, -5)).sort();

    for (const wanted of positionals)
        if (!names.includes(wanted))
            throw new Error(`there is no specs/${wanted}.spec`);
    return { ...values, names: positionals.length > 0 ? positionals : names };
}

/** Somebody else's server. */
function foreignTarget(text) {
    const url = new URL(text);

    return {
        host: url.hostname, port: Number(url.port || 80), base: url.pathname.replace(/\/$/, ''),
        credentials: DEVELOPMENT, control: null, offset: { ms: 0 }, close: async () => {},
    };
}

/** A server of ours, started when first needed. */
async function ownTarget(args) {
    const server = await Server.start({ args });
    const control = new Control(server);

    return {
        host: server.host, port: server.port, base: `/${server.account}`, credentials: DEVELOPMENT,
        control, offset: { ms: 0 }, server,
        close: async ({ broken = false } = {}) => {
            control.close();
            if (broken) {
                await server.kill();
                await server.remove();
            } else
                await server.stop();
        },
    };
}

let containers = 0;

/** Runs all permutations of a spec; gives its printed lines in blocks, one a permutation. */
async function runSpec(name, spec, worker) {
    const blocks = [];

    for (const permutation of spec.permutations) {
        const target = await worker.target();
        if (permutation.needsGates && !target.control)
            continue;
        const run = new Run(target, spec, `iso-${process.pid}-${++containers}c`);
        blocks.push(await run.permutation(permutation));
        if (run.broken)
            await worker.discard(name);
    }
    return blocks;
}

class Worker {
    #make;
    #target = null;

    constructor(make) {
        this.#make = make;
    }

    async target() {
        this.#target ??= await this.#make();
        return this.#target;
    }

    /** The server may hold half-done requests: end it, the next permutation gets a new one. */
    async discard(name) {
        const target = this.#target;

        this.#target = null;
        if (target.server?.stderr)
            console.error(`${name}: the server said:\n${target.server.stderr}`);
        await target.close({ broken: true });
    }

    async close() {
        await this.#target?.close();
    }
}

function expectedBlocks(file) {
    let text = '';

    try {
        text = readFileSync(file, 'utf8');
    } catch (error) {
        if (error.code !== 'ENOENT')
            throw error;
    }
    return text.split(/^(?=permutation: )/m).filter((block) => block !== '').map((block) => block.trimEnd().split('\n'));
}

/** '' when what was printed is what was expected. Permutations that were left out do not count. */
function compare(name, blocks, whole) {
    const ran = new Set(blocks.map(([title]) => title));
    const expected = expectedBlocks(path.join(HERE, 'expected', `${name}.out`))
        .filter(([title]) => whole || ran.has(title));

    return unifiedDiff(expected.flat(), blocks.flat(), `expected/${name}.out`, 'this run');
}

async function one(name, settings, worker) {
    const spec = parseSpec(readFileSync(path.join(HERE, 'specs', `${name}.spec`), 'utf8'));

    if (settings.list) {
        spec.permutations.forEach((permutation) => console.log(`${name}: ${permutation.name}`));
        return true;
    }
    const blocks = await runSpec(name, spec, worker);
    if (settings.update) {
        if (settings.url)
            throw new Error('expected files state what Azure does: another server does not write them');
        writeFileSync(path.join(HERE, 'expected', `${name}.out`), blocks.map((block) => block.join('\n') + '\n').join('\n'));
    }
    const difference = compare(name, blocks, !settings.url);
    console.log(difference === '' ? `ok    ${name} (${blocks.length} permutations)` : `FAIL  ${name}\n${difference}`);
    return difference === '';
}

async function main() {
    const settings = options();
    const queue = [...settings.names];
    const count = { passed: 0, failed: 0 };
    const make = settings.url ? async () => foreignTarget(settings.url) : () => ownTarget(settings['server-arg']);

    await Promise.all(Array.from({ length: Math.max(1, Number(settings.jobs)) }, async () => {
        const worker = new Worker(make);
        for (let name; (name = queue.shift()) !== undefined;) {
            const passed = await one(name, settings, worker).catch((error) => {
                console.log(`FAIL  ${name}\n${error.message}`);
                return false;
            });
            count[passed ? 'passed' : 'failed']++;
        }
        await worker.close().catch((error) => {
            console.log(error.message);
            count.failed++;
        });
    }));
    console.log(`${count.passed} passed, ${count.failed} failed`);
    process.exitCode = count.failed > 0 ? 1 : 0;
}

await main();
