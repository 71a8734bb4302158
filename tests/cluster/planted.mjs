#!/usr/bin/env node
// Do the tests of cells test? planted.mjs --build FOLDER [--texts] [NAME..]
//
// Each defect is a change of a few words of the program, made in a copy of one file (tests/sim/planted.mjs is the same with
// the simulator). The test that is named must fail with it: a unit test, or one of tests/clients, failover.test.mjs ("client") or
// forwarding.test.mjs ("forwarding").
// --texts: only whether the words that are to be changed are there. Last line: "planted: N passed, N failed".

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Build, ROOT } from '../lib/changed_program.mjs';

const { values: options, positionals: wanted } = parseArgs({
    allowPositionals: true,
    options: { build: { type: 'string' }, texts: { type: 'boolean', default: false } },
});
const LIMIT_MS = 60_000;

const DEFECTS = [
    { name: 'lease-not-checked-before-an-answer', file: 'src/http/answer.c', client: 'without a lease nothing is answered',
        change: [['    if (!tenure_holds(live->exchange.tenure))\n        return TURN_ENDS;', '']] },
    { name: 'lease-not-checked-by-smb', file: 'src/smb/server.c', client: 'without a lease nothing is answered',
        change: [['        if (!tenure_holds(smb_service_tenure(service)))\n            return TRANSPORT_FAILED;', '        (void)service;']] },
    { name: 'lease-of-a-stopped-process-lasts', file: 'src/base/clock.c', client: 'an owner that was stopped for longer',
        change: [['clock_gettime(CLOCK_BOOTTIME, &now);', 'clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);']] },
    { name: 'lease-counted-from-the-end-of-its-renewal', file: 'src/cluster/lease.c', unit: 'test_lease',
        change: [['watch->changed_ns + (watch->record.lease_ms + LEASE_MARGIN_MS) * NS_PER_MS', 'watch->changed_ns + LEASE_RENEW_MS * NS_PER_MS']] },
    { name: 'silent-by-a-read-that-took-long', file: 'src/cluster/lease.c', unit: 'test_lease',
        change: [['    watch->asked_ns = asked_ns;', '    watch->asked_ns = now_ns;']] },
    { name: 'lock-not-held', file: 'src/cluster/owner_file.c', unit: 'test_owner',
        change: [['    if (set_lock(file, F_WRLCK) == 0)\n', '    if (file->fd >= 0)\n']] },
    { name: 'lock-of-a-process', file: 'src/cluster/owner_file.c', unit: 'test_owner',
        change: [['F_OFD_SETLK', 'F_SETLK']] },
    { name: 'incarnation-not-compared', file: 'src/cluster/owner.c', unit: 'test_owner',
        change: [['record->is_held && record->incarnation == owner->record.incarnation &&', 'record->is_held && owner->record.is_held &&']] },
    { name: 'incarnation-not-raised', file: 'src/cluster/candidate.c', unit: 'test_owner',
        change: [['    record.incarnation++;\n', '']] },
    { name: 'lease-of-the-owner-before-not-awaited', file: 'src/cluster/candidate.c', unit: 'test_owner',
        change: [['lease_watch_ends(&c->found.watch)', '0']] },
    { name: 'cell-not-given-up', file: 'src/cluster/owner.c', unit: 'test_owner',
        change: [['    record.is_held = record.serves = false;\n', '']] },
    { name: 'record-of-another-cluster-taken', file: 'src/cluster/candidate.c', unit: 'test_owner',
        change: [['!guid_equal(&record.cluster, &c->of->cluster) || ', '']] },
    { name: 'forwarded-write-sent-twice', file: 'src/cluster/forward.c', forwarding: 'the owner is killed under requests',
        change: [['    if (f->is_sent)\n        return is_probe(f) ? forward_refuse(f) : HTTP_CUT;\n    f->is_lost = false;', '    f->is_sent = f->is_lost = false;']] },
    { name: 'lost-write-answered-503', file: 'src/cluster/forward.c', forwarding: 'the owner is killed under requests',
        change: [['return is_probe(f) ? forward_refuse(f) : HTTP_CUT;', 'return forward_refuse(f);'], ['exchange_end_body(f->exchange, HTTP_CUT);', 'exchange_end_body(f->exchange, forward_refuse(f));']] },
    { name: 'incarnation-of-an-envelope-not-compared', file: 'src/cluster/front.c', forwarding: 'the internal endpoint serves',
        change: [['envelope->cell == front->cell && envelope->incarnation == front->incarnation', 'envelope->cell == front->cell']] },
    { name: 'lease-not-checked-for-other-front-ends', file: 'src/cluster/front.c', forwarding: 'an owner without a lease sends nothing',
        change: [['    exchange_answers_by(exchange, front->tenure);\n', '']] },
    { name: 'abandoned-request-forwarded', file: 'src/cluster/forward_send.c', forwarding: 'a front end that was paused',
        change: [['    if (transport_is_abandoned(exchange_connection(f->exchange)))\n        return abandon(f);', '    (void)abandon;']] },
    { name: 'record-from-before-a-pause-used', file: 'src/cluster/forward.c', forwarding: 'a front end that was paused',
        change: [['clock_boot_ns() >= asked_ns + FORWARD_FRESH_MS * NS_PER_MS', 'asked_ns == 0']] },
    { name: 'old-renewal-accepted', file: 'src/cluster/front.c', forwarding: 'the owner refuses a request under a renewal',
        change: [['is_owner(front, &envelope) && is_in_time(&envelope)', 'is_owner(front, &envelope) && (is_in_time(&envelope) || true)']] },
    { name: 'links-to-a-silent-owner-kept', file: 'src/server/standby.c', forwarding: 'without an owner a request waits',
        change: [['        cut_links(standby, cell, record->incarnation + 1, CUT_ALL);', '        (void)record;']] },
    { name: 'stopping-owner-waits-for-nothing', file: 'src/server/cell.c', forwarding: 'an owner that stops finishes',
        change: [['if (!front_hand_over(&cell->front, grace_s * 1000))', 'if (!front_hand_over(&cell->front, 0 * grace_s))']] },
    { name: 'stopping-owner-executes', file: 'src/cluster/front.c', forwarding: 'an owner that stops finishes',
        change: [['!atomic_load(&front->hands_over) &&', '']] },
    { name: 'short-body-looks-whole', file: 'src/cluster/forward_link.c', forwarding: 'an owner that is killed at drawn bytes',
        change: [['return size > 0 ? (long)size : BODY_FAILED;', 'return (long)max;']] },
    { name: 'development-key-for-other-machines', file: 'src/cluster/front.c', forwarding: 'the internal endpoint serves',
        change: [['exchange->request.is_forwarded |= !is_of_this_machine(&exchange->request, &envelope.said);', '(void)is_of_this_machine;']] },
];

function mutate({ file, change }) {
    let text = readFileSync(path.join(ROOT, file), 'utf8');

    for (const [from, to] of change) {
        if (!text.includes(from))
            throw new Error(`${file} has no longer: ${from}`);
        text = text.replace(from, to);
    }
    return text;
}

/** Whether the defect is found, and the first line that says so. */
function find(build, defect) {
    const folder = path.join(build.folder, 'tests/cluster/planted', defect.name);
    const target = defect.unit ? `tests/unit/cluster/${defect.unit}` : 'lagra';
    const program = build.link(target, build.compile(defect.file, mutate(defect), folder), folder);
    const test = path.join(ROOT, `tests/clients/${defect.client ? 'failover' : 'forwarding'}.test.mjs`);
    const words = defect.unit ? [program] : [process.execPath, '--test', '--test-name-pattern', defect.client ?? defect.forwarding, test];
    const { status, stdout, stderr } = spawnSync(words[0], words.slice(1),
        { encoding: 'utf8', timeout: LIMIT_MS, cwd: build.folder, env: { ...process.env, LAGRA_BINARY: program } });
    const why = `${stdout}${stderr}`.split('\n').find((line) => /\[ {2}ERROR {3}\]|not ok|AssertionError|✖/.test(line));

    return { found: status !== 0 && why !== undefined, why: why?.trim() ?? `status ${status}` };
}

const unknown = wanted.filter((name) => !DEFECTS.some((defect) => defect.name === name));
const count = { passed: 0, failed: 0 };

if (unknown.length > 0)
    throw new Error(`no such defect: ${unknown.join(', ')}`);
DEFECTS.forEach(mutate); // a defect whose text is gone is an error at once
const build = options.texts ? null : new Build(options.build);
for (const defect of options.texts ? [] : DEFECTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    let found = false, why = '';

    try {
        ({ found, why } = find(build, defect));
    } catch (error) {
        why = error.message;
    }
    count[found ? 'passed' : 'failed']++;
    console.log(`${found ? 'found ' : 'MISSED'} ${defect.name}: ${why}`);
}
console.log(`planted: ${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed === 0 ? 0 : 1;
