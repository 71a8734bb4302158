#!/usr/bin/env node
// What a server does about clients that are too many: run.mjs [--server BINARY] [--soak] [--only
// WORD]
//
// Each test has a server of its own. With --soak the crowds are as large as they get in the wild.

import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import * as conflicts from './conflicts.mjs';
import * as connections from './connections.mjs';
import * as counts from './counts.mjs';
import * as decisions from './decisions.mjs';
import * as descriptors from './descriptors.mjs';
import * as memory from './memory.mjs';
import * as paths from './paths.mjs';
import * as pieces from './pieces.mjs';
import * as requests from './requests.mjs';
import * as smb from './smb.mjs';
import * as smbInputs from './smb_inputs.mjs';
import * as sources from './sources.mjs';
import * as start from './start.mjs';

const { values: options } = parseArgs({
    options: {
        server: { type: 'string', default: process.env.LAGRA_BINARY }, soak: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
    },
});
const context = { binary: options.server, soak: options.soak, assert };
const tests = [conflicts, connections, counts, decisions, descriptors, memory, paths, pieces, requests, smb, smbInputs, sources, start].flatMap((module) => Object.entries(module));
let passed = 0;
let failed = 0;

for (const [name, test] of tests.filter(([name]) => name.includes(options.only))) {
    try {
        await test(context);
        passed++;
        console.log(`ok      ${name}`);
    } catch (error) {
        failed++;
        console.log(`not ok  ${name}: ${error.stack}`);
    }
}
console.log(`limits: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
