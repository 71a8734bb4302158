#!/usr/bin/env node
// Do the specs see a guard that does not hold? planted.mjs --build FOLDER [--texts] [NAME..]
//
// Each defect disarms one guard of the program: what a decision read in another partition, or in its own, is not
// compared when the decision is committed. It is made in a copy of one file, and linked into a server of its own, with
// which each spec that the defect names must fail; the build's unchanged server must pass them. guards.txt says which
// function each of them is about.
// --texts: checks only that the words to be changed exist. Last line: "planted: N passed, N failed".

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Build, ROOT } from '../lib/changed_program.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { values: options, positionals: wanted } = parseArgs({
    allowPositionals: true,
    options: { build: { type: 'string' }, texts: { type: 'boolean', default: false } },
});
const LIMIT_MS = 120_000;

/** Commits without the guards for which `condition` holds; `part` is the part. */
const withoutGuards = (condition) => [
    ['    for (unsigned i = 0; i < d->part_count; i++)\n        parts[i] = (struct commit_part){ d->parts[i].before, d->parts[i].changes };\n' +
        '    result = store_commit(d->store, parts, d->part_count,',
    '    unsigned count = 0;\n    for (unsigned i = 0; i < d->part_count; i++) {\n        const struct decision_part *part = &d->parts[i];\n' +
        `        if (part->changes || !(${condition}))\n            parts[count++] = (struct commit_part){ part->before, part->changes };\n    }\n` +
        '    result = store_commit(d->store, parts, count,'],
];

const OWNER = [['    decision_leave_owner(d, owner);', '    decision_leave(d, owner);']];
const POLICY = [['    return service_properties_read(part->before, d->arena, ret_properties);',
    '    enum store_result result = service_properties_read(part->before, d->arena, ret_properties);\n\n    decision_leave(d, part);\n    return result;']];
const OWN_STATE = [['    if (is_unchanged(commit)) {\n        instant', '    if (commit) {\n        instant']];
const UNGUARDED = [['        if (snapshot_is_old(snapshot_of(&commit->parts[i])))', '        if (commit->parts[i].changes && snapshot_is_old(snapshot_of(&commit->parts[i])))']];

const DEFECTS = [
    { name: 'policy-of-a-container', file: 'src/blob/subject.c', change: OWNER, specs: ['policy-revoked'] },
    { name: 'policy-of-a-queue', file: 'src/queue/queue_operations.c', change: OWNER, specs: ['queue-policy-revoked'] },
    { name: 'policy-of-a-table', file: 'src/table/subject.c', change: OWNER, specs: ['table-policy-revoked'] },
    { name: 'policy-of-a-share', file: 'src/file/subject.c', change: OWNER, specs: ['share-policy-revoked'] },
    { name: 'retention-of-containers-and-shares', file: 'src/properties/soft_delete.c', change: POLICY, specs: ['container-retention', 'share-retention'] },
    { name: 'sums-above-half-of-the-quota', file: 'src/file/share_usage.c', change: [['        if (!is_own && !kept) {', '        if (!is_own) {']],
        specs: ['file-quota-sums'] },
    { name: 'quota-of-the-share', file: 'src/file/share_usage.c',
        change: [['    if (!e && total > quota / 2)\n        e = keep_share(sums->d, share);\n', '']], specs: ['file-quota-lowered'] },
    { name: 'stamp-of-a-tree', file: 'src/service/deciding.c', change: withoutGuards('part->partition.key.len == 0'), specs: ['share-restore', 'path-rename', 'path-across'] },
    { name: 'filesystem-deleted-by-its-record-alone', file: 'src/blob/container_contents.c',
        change: [['    result = rename_root(d, container, true, &renamed);\n    if (result || is_retained)\n        return result;\n    collect(d, renamed.node->changes);\n',
            '    (void)renamed;\n    (void)rename_root;\n    (void)collect;\n    result = STORE_OK;\n    if (result || is_retained)\n        return result;\n']], specs: ['path-across'] },
    { name: 'protection-read-before-it-changed', file: 'src/blob/container_immutability.c', change: [['    store_restart_decisions(restart->store, restart->space);', '    (void)restart;']],
        specs: ['hold-container', 'hold-container-delete', 'hold-append', 'hold-pages', 'path-protected'] },
    { name: 'renamed-out-of-a-held-filesystem', file: 'src/blob/immutability.c', change: [['    if (container_protects(leaves))\n        return refuse(leaves->holds.len > 0, leaves->mode != POLICY_NONE);\n', '']],
        specs: ['path-protected'] },
    { name: 'replaced-in-a-held-filesystem', file: 'src/blob/immutability.c', change: [['    if (!blob || blob_is_directory(d))\n        return OK;\n    return refuse(of->holds.len > 0, of->mode != POLICY_NONE);', '    (void)blob;\n    (void)of;\n    return OK;']],
        specs: ['path-protected'] },
    { name: 'protection-not-found-in-a-task', file: 'src/blob/container_root.c', change: [['    if (!result)\n        result = guard_record(d, &root, ret_immutability);\n', '    if (!result)\n        result = STORE_NOT_FOUND;\n']],
        specs: ['path-protected', 'hold-copy', 'hold-copy-incremental', 'hold-copy-path'] },
    { name: 'protection-after-a-copy-began', file: 'src/blob/copy_blob.c', change: [['        *ret_refusal = container_refuses_changes(&protection);', '        (void)0;']],
        specs: ['hold-copy', 'hold-copy-incremental', 'hold-copy-path'] },
    { name: 'own-state-of-what-is-changed', file: 'src/store/embedded/commit.c', change: OWN_STATE,
        specs: ['lost-update', 'queue-update-delete', 'table-lost-update', 'file-rename', 'lease-acquire', 'tags-condition', 'block-lists', 'container-metadata', 'path-append', 'path-delete', 'path-acl', 'protect-lock', 'key-overwrite', 'hold-blob'] },
    { name: 'any-guard', file: 'src/store/embedded/commit.c', change: UNGUARDED,
        specs: ['policy-revoked', 'queue-policy-revoked', 'table-policy-revoked', 'share-policy-revoked', 'container-retention', 'share-retention', 'share-restore', 'file-quota-lowered'] },
];

function mutate(defect) {
    return defect.change.reduce((text, [from, to]) => {
        if (!text.includes(from))
            throw new Error(`${defect.name}: ${defect.file} does not contain: ${from}`);
        return text.replace(from, to);
    }, readFileSync(path.join(ROOT, defect.file), 'utf8'));
}

/** Does a server fail a spec? Its replies are not those of the program that is tested. */
function fails(server, spec) {
    const env = { ...process.env, LAGRA_REPLY_LOG: undefined };
    const child = spawnSync(process.execPath, [path.join(HERE, 'run.mjs'), '--server', server, spec], { encoding: 'utf8', timeout: LIMIT_MS, env });
    const counts = child.stdout.match(/^isolation: (\d+) passed, (\d+) failed$/m);

    if (!counts)
        throw new Error(`${spec} was not run: ${child.stdout}${child.stderr}`);
    return Number(counts[2]) > 0;
}

function main() {
    const unknown = wanted.filter((name) => !DEFECTS.some((defect) => defect.name === name));
    const missing = DEFECTS.flatMap(({ specs }) => specs).filter((spec) => !existsSync(path.join(HERE, 'specs', `${spec}.spec`)));
    const count = { passed: 0, failed: 0 };

    if (unknown.length > 0)
        throw new Error(`no such defect: ${unknown.join(', ')}`);
    if (missing.length > 0)
        throw new Error(`no such spec: ${missing.join(', ')}`);
    DEFECTS.forEach(mutate); // an error at once if the words are gone
    if (options.texts)
        return;
    const build = new Build(options.build);
    const unchanged = path.join(build.folder, 'lagra');

    for (const defect of DEFECTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
        const folder = path.join(build.folder, 'tests/isolation/planted', defect.name);
        const server = build.link('lagra', build.compile(defect.file, mutate(defect), folder), folder);

        for (const spec of defect.specs) {
            const isFault = fails(unchanged, spec), isFound = !isFault && fails(server, spec);

            count[isFound ? 'passed' : 'failed']++;
            console.log(`${isFault ? 'FAULT of the unchanged program' : isFound ? 'found ' : 'MISSED'} ${defect.name}: ${spec}`);
        }
    }
    console.log(`planted: ${count.passed} passed, ${count.failed} failed`);
    process.exitCode = count.failed === 0 ? 0 : 1;
}

main();
