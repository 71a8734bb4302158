// The most that legal SMB requests make the server hold of one file (smb_inputs.py): it responds, and goes on.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { keepsMemory } from '../lib/sanitizer.mjs';
import { Server } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { once, times } from '../memory/asking.mjs';
import { Rest } from '../smb/rest.mjs';
import { until } from './clients.mjs';

const PROGRAM = fileURLToPath(new URL('smb_inputs.py', import.meta.url));
const SHARE = 'limits';
/* Of the process, over what it held before the clients came. */
const MORE_MIB_MAX = 64;
/* RANGE_LIST_UNPAGED_MAX */
const RANGES_MAX = 100000;
const PATTERN_NAMES = { short: 500, long: 10000 };

const held = (server) => Number(readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+) kB/)[1]) / 1024;

async function withShare({ binary }, use) {
    const server = await Server.start({ binary, args: ['--inMemoryPersistence', '--smbPort', '0'] });

    try {
        await new Rest(server, SHARE).createShare();
        const before = held(server);
        await use(server);
        if (!keepsMemory(binary))
            await until(() => held(server) - before < MORE_MIB_MAX, `the server holds more than ${MORE_MIB_MAX} MiB more`);
    } finally {
        await server.stop(); // throws unless the exit code is 0
    }
}

const run = (server, input, ...more) => promisify(execFile)('/usr/bin/python3',
    [PROGRAM, `${server.ports.smb}`, DEVELOPMENT.account, DEVELOPMENT.key, SHARE, input, ...more.map((word) => `${word}`)]);
const send = (context, input, ...more) => withShare(context, (server) => run(server, input,
    ...more.map((word) => (typeof word === 'function' ? word(server) : word))));

export const a_persistent_handle_ends_next_to_400_others = (context) => send(context, 'persistent');
export const a_persistent_handle_ends_next_to_1960_locks = (context) => send(context, 'persistent-and-locks');
export const persistent_handles_end_together = (context) => send(context, 'many-persistent', 500);
export const patterns_of_names_are_bounded = (context) =>
    send(context, 'patterns', context.soak ? PATTERN_NAMES.long : PATTERN_NAMES.short);
export const a_file_has_its_most_locks = (context) => send(context, 'locks');
export const a_file_has_its_most_handles_and_locks = (context) => send(context, 'locks-and-opens');
export const disconnected_handles_give_way_together = (context) => send(context, 'disconnected');
export const chunks_are_copied_next_to_1900_handles = (context) => send(context, 'copy-chunks');
export const a_log_on_waits_for_the_previous_session = (context) => send(context, 'previous', context.soak ? 50 : 4);
export const responses_that_nobody_reads_by_smb = (context) =>
    send(context, 'unread', (server) => (keepsMemory(context.binary) ? 0 : server.pid));
export const one_beyond_the_limits_of_an_smb_request = (context) => send(context, 'one-beyond');
export const a_file_has_its_most_leases = (context) => send(context, 'cachings');
export const a_session_has_its_most_trees = (context) => send(context, 'trees');
export const a_file_is_full_of_handles_locks_and_lost_handles = (context) => send(context, 'full');
export const a_connection_has_its_most_waiting_requests = (context) => send(context, 'waiting');
export const unread_changes_are_bounded = (context) => send(context, 'changes');
export const a_connection_has_its_most_handles = (context) => send(context, 'opens');
export const long_tokens_are_refused = (context) => send(context, 'tokens');
export const requests_of_an_account_that_wait = (context) => send(context, 'waiting-of-account');
export const directories_that_an_account_watches = (context) => send(context, 'watches');

/** RANGE_LIST_UNPAGED_MAX: List Ranges, which has no pages, of a file of one range too many. */
export async function a_file_of_too_many_ranges(context) {
    await withShare(context, async (server) => {
        const { assert } = context;

        await run(server, 'ranges', RANGES_MAX + 1);
        await once(server, async (ask) => {
            const list = (last) => ask('file', 'GET', `/${SHARE}/ranges?comp=rangelist`, { headers: [['x-ms-range', `bytes=0-${last}`]] });
            const most = await list(RANGES_MAX * 1024 - 1), beyond = await list(RANGES_MAX * 1024);

            assert.equal(most.status, 200);
            assert.equal(most.body.toString().match(/<Range>/g).length, RANGES_MAX);
            assert.deepEqual([beyond.status, beyond.headers.get('x-ms-error-code')], [500, 'OperationTimedOut']);
        });
        await times(server, 0, 2 * 16, async (ask, i) => { // more than the memory budget admits at once
            await ask('file', 'GET', `/${SHARE}/ranges?comp=rangelist`, { headers: i % 2 ? [['x-ms-range', `bytes=0-${RANGES_MAX * 1024 - 1}`]] : [],
                status: i % 2 ? [200, 503] : [500, 503] });
        });
        await once(server, (ask) => ask('file', 'DELETE', `/${SHARE}/ranges`, { status: 202 }));
    });
}
