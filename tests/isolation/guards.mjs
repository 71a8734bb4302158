#!/usr/bin/env node
// Every guard of a decision, and every place that finds two reads to disagree, has its line in tests/isolation/guards.txt with a
// planted defect that breaks it, and each planted defect of the specs exists: a spec that stops a request between its decision
// and its commit, and the words that it changes.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const LIST = 'tests/isolation/guards.txt';
const ROOMS = ['acl', 'admin', 'analytics', 'blob', 'content', 'file', 'handles', 'opens', 'properties', 'queue', 'request', 'service', 'source', 'table', 'tree'];
const OPENED_WITHOUT_CHANGES = /\bdecision_open\([^;]*,\s*(NULL|changes)\)/;
const KEPT = /\b(decision_leave_owner|decision_move_subject|decision_confirm|decision_confirm_part|service_properties_guard)\(/;
const DROPPED = /\b(?:read_view_is_deleted|(?:space_iterator|index_iterator)_is_gone)\(/;
const AGAIN = /\b(STORE_CONFLICT|DECIDE_AGAIN)\b/;
/* Loops and states that carry a conflict on; they find none. */
const DRIVERS = /^src\/(service|request|properties)\/(?!decision\.c|soft_delete\.c|deferred_tasks\.c)/;
const wrong = [];

function run(command, args) {
    return spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 27 }).stdout.trim().split('\n');
}

/** "file function" of each function that is a guard or uses one. */
function sites() {
    const files = run('git', ['ls-files', ...ROOMS.map((room) => `src/${room}/*.c`)]);
    const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8').split('\n')]));
    const tags = run('ctags', ['--output-format=json', '--languages=C', '--c-kinds=f', '--fields=+ne', '-f', '-', ...files]).map((line) => JSON.parse(line));

    return tags.filter(({ path, line, end }) => {
        const body = texts.get(path).slice(line - 1, end).join('\n').replace(/\/\*[^]*?\*\//g, '');

        return OPENED_WITHOUT_CHANGES.test(body) || KEPT.test(body) || DROPPED.test(body) ||
            (AGAIN.test(body) && !DRIVERS.test(path));
    }).map(({ path, name }) => `${path} ${name}`);
}

/** Names of planted defects -> the specs that see each, none where the simulator does. */
function plantedDefects() {
    const ofSpecs = readFileSync('tests/isolation/planted.mjs', 'utf8').matchAll(/\{ name: '([^']+)'[^]*?specs: \[([^\]]*)\]/g);
    const ofSimulator = readFileSync('tests/sim/planted.mjs', 'utf8').matchAll(/\{ name: '([^']+)'/g);

    return new Map([...[...ofSimulator].map(([, name]) => [name, []]),
        ...[...ofSpecs].map(([, name, specs]) => [name, [...specs.matchAll(/'([^']+)'/g)].map(([, spec]) => spec)])]);
}

const defects = plantedDefects();
const listed = new Map();

readFileSync(LIST, 'utf8').split('\n').forEach((line, i) => {
    const [, site, kind, rest] = line.match(/^(src\/\S+ \w+) +(guard|unit|read|argued|unseen) (\S.*)$/) ?? [];

    if (line === '' || line.startsWith('#'))
        return;
    if (!site)
        wrong.push(`${LIST}:${i + 1}: not a line of it: ${line}`);
    else
        listed.set(site, kind === 'guard' ? rest.split(' ') : []);
    if (kind === 'unit' && !existsSync(rest))
        wrong.push(`${LIST}:${i + 1}: ${rest} is missing`);
});
const found = new Set(sites());

for (const site of found)
    if (!listed.has(site))
        wrong.push(`${site}() is a guard or uses one: it needs a line in ${LIST}, and a spec that fails without it`);
for (const [site, names] of listed) {
    if (!found.has(site))
        wrong.push(`${LIST}: ${site}() is no guard any more`);
    for (const name of names.filter((each) => !defects.has(each)))
        wrong.push(`${LIST}: ${site}(): there is no planted defect ${name}`);
}
for (const [name, specs] of defects)
    for (const file of specs.map((spec) => `tests/isolation/specs/${spec}.spec`))
        if (!existsSync(file))
            wrong.push(`${name}: ${file} is missing`);
        else if (!/^permutation .*@decided .*@go/m.test(readFileSync(file, 'utf8')))
            wrong.push(`${name}: ${file} stops nothing between a decision and its commit`);
const texts = spawnSync(process.execPath, ['tests/isolation/planted.mjs', '--texts'], { encoding: 'utf8' });

if (texts.status !== 0)
    wrong.push(`tests/isolation/planted.mjs: ${texts.stderr.match(/^Error: .*/m)}`);
wrong.forEach((line) => console.log(line));
process.exitCode = wrong.length > 0 || found.size === 0 ? 1 : 0;
