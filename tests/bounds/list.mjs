// bounds.txt: which bounds there are, and what tests each. As a program: list.mjs fails for a bound of the rooms below that has no
// line, and for a line whose bound or test is gone.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.resolve(HERE, '../..');
/* Where a step, a page or a batch ends is a bound by one of these names. */
const NAMED = /^#define +([A-Z_0-9]*(?:AT_ONCE|LOOKED_AT_MAX|ON_WORKER_MAX|STEP_RECORDS|STEP_BYTES|HOLD_BYTES|BATCH_RECORDS|CURSOR_RECORDS|MARKS_MAX|MOVES_MAX|ROUNDS_MAX|LAST_KEYS_MAX|NODES_MAX|PAGE_COST_MAX|WORKER_COST_MAX|DROPPED_MAX|SKIPPED_MAX|LOGGED_MAX|WINDOW_BYTES))\s/gm;
const WHERE = ['admin', 'analytics', 'backup', 'blob', 'acl', 'content', 'file', 'handles', 'opens', 'queue', 'service', 'store', 'table', 'tree'];
const NOT_STEPS = new Set(['FILTER_NODES_MAX']); // of a request's text, refused beyond it

/** [{ file, name, values, judges }] with the values as texts; without values: { file, name, real } or { file, name }. */
export function readBounds() {
    return readFileSync(path.join(HERE, 'bounds.txt'), 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
        const [, file, name, kind, rest] = line.match(/^(src\/\S+) ([A-Z_0-9]+) +(real|none|[0-9,]+) (\S.*)$/) ?? [];

        if (!file)
            throw new Error(`not a line of bounds.txt: ${line}`);
        if (kind === 'none')
            return { file, name };
        return kind === 'real' ? { file, name, real: rest } : { file, name, values: kind.split(','), judges: rest.split(' ') };
    });
}

function problems() {
    const bounds = readBounds(), listed = new Set(bounds.map(({ name }) => name));
    const wrong = [];

    for (const { file, name, real, judges = [] } of bounds) {
        const text = existsSync(path.join(ROOT, file)) ? readFileSync(path.join(ROOT, file), 'utf8') : '';

        if (!new RegExp(`\\b${name}\\b`).test(text))
            wrong.push(`${file} has no ${name}`);
        for (const test of [...(real ? [real] : []), ...judges.filter((judge) => judge.includes('/')).map((judge) => `tests/unit/${judge}.c`)])
            if (!existsSync(path.join(ROOT, test)))
                wrong.push(`${name}: ${test} is missing`);
    }
    const files = spawnSync('git', ['ls-files', ...WHERE.map((room) => `src/${room}`)], { encoding: 'utf8', cwd: ROOT }).stdout.trim().split('\n');
    for (const file of files.filter((each) => /\.[ch]$/.test(each)))
        for (const [, name] of readFileSync(path.join(ROOT, file), 'utf8').matchAll(NAMED))
            if (!listed.has(name) && !NOT_STEPS.has(name))
                wrong.push(`${file}: ${name} needs a line in tests/bounds/bounds.txt`);
    return wrong;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const wrong = problems();

    wrong.forEach((line) => console.log(line));
    process.exitCode = wrong.length > 0 ? 1 : 0;
}
