#!/usr/bin/env node
// Damage to every file of a data folder, one at a time: run.mjs [--soak] [--cases N] [--seed N]
//                                                        [--only TEXT] [--verbose] [--judge BINARY] [--shares]
//
// Whatever was damaged, a start has all that was acknowledged, or is refused with a reason, or
// answers with an error for what is damaged (promise 5). Never silently less, never older bytes,
// never a crash. What is refused, or answered with an error, `lagra check` finds as well. A refused folder is refused
// the second time too; of some, what can be read is
// saved. One count for each case. How it ends is as docs/failure-guarantees.md promises for the kind of file, and
// every cell there that names this suite is met.
//
// --shares: the folder has shares, directories and files instead of blobs (shares.mjs).

import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { randomFrom } from '../crash/campaign.mjs';
import { promised } from '../lib/promises.mjs';
import { damagesOf, mixturesOf } from './damages.mjs';
import { Load, check, judge, openToOthers, salvage } from './folder.mjs';
import { copyFolder } from './moments.mjs';
import { knownDamages } from './known.mjs';
import { ShareLoad } from './shares.mjs';

const { values: options } = parseArgs({
    options: {
        soak: { type: 'boolean', default: false }, cases: { type: 'string' }, seed: { type: 'string' },
        only: { type: 'string' }, judge: { type: 'string' }, verbose: { type: 'boolean', default: false },
        shares: { type: 'boolean', default: false },
    },
});
const CASES = Number(options.cases ?? (options.soak ? 2400 : 70));
const SEED = Number(options.seed ?? Date.now() % 1000000);
const EFFORT = options.soak ? 40 : 4; /* random places in each file */
const JOBS = 2;
const SALVAGE_EVERY = options.shares ? 1 : 5;

const total = { passed: 0, failed: 0 };
const outcomes = new Map(); /* kind of file -> outcome -> count */
const random = randomFrom(SEED);
let refused = 0;

const kindOf = (file) => file.replace(/^records\/\d+\./, '*.').replace(/^records\//, '').replace(/-?\d{6}$/, '')
    .replace(/^extents\/.*/, 'extent').replace(/^LOG.*/, 'LOG');

const COLUMN = { '*.log': 'log', '*.sst': 'table', MANIFEST: 'manifest', CURRENT: 'manifest', synced: 'own', format: 'own',
    lock: 'own', manifest: 'own', extent: 'extent' };
const CHANGED = 'a bit or byte changed', OTHER_FILE = 'a file missing';
/** cell -> { words: what is promised, met: how often } */
const cells = new Map(promised('⁷', [CHANGED, OTHER_FILE]).map(({ row, column, words }) => [`${row}: ${column}`, { words, met: 0 }]));
const PROMISED = { refused: 'refuses', errors: 'reports' };

const isChange = ({ what }) => /flipped|exchanged|zeros/.test(what);

function cellOf(damage) {
    return cells.get(`${isChange(damage) ? CHANGED : OTHER_FILE}: ${COLUMN[kindOf(damage.file)]}`);
}

/** Damage may always do no harm. Files without a column: no wrong answer, as of any. */
function isPromised(damage, outcome) {
    const cell = cellOf(damage);
    const words = cell?.words ?? Object.values(PROMISED);

    if (cell)
        cell.met++;
    return outcome === 'all data' || words.includes(PROMISED[outcome]);
}

function count(damage, verdict) {
    const outcome = verdict.crashed ? 'CRASHED' : verdict.refused ? 'refused' : verdict.wrong.length > 0 ? 'WRONG'
        : verdict.errors.length > 0 ? 'errors' : 'all data';
    const kind = kindOf(damage.file);
    const row = outcomes.get(kind) ?? new Map();

    outcomes.set(kind, row.set(outcome, (row.get(outcome) ?? 0) + 1));
    const ok = isPromised(damage, outcome) && outcome === (damage.expect ?? outcome);
    total[ok ? 'passed' : 'failed']++;
    if (!ok || options.verbose)
        console.log(`${ok ? '' : 'FAILED '}${damage.moment} ${damage.file} ${damage.what}: ${outcome} ` +
            `${verdict.crashed ?? verdict.refused ?? [...verdict.wrong, ...verdict.errors].slice(0, 5).join(', ')}`);
}

async function trySalvage(damage, folder, verdict) {
    const saved = await salvage(folder, `${folder}.saved`, damage.from.acknowledged);

    await rm(`${folder}.saved`, { recursive: true, force: true });
    if (saved.crashed || (damage.salvagesAll && saved.missing > 0))
        return { crashed: saved.crashed ?? `${saved.missing} are missing after check --salvage\n${saved.report}` };
    return verdict;
}

async function tryOne(damage, folder) {
    await copyFolder(damage.from.location, folder);
    await damage.apply(folder);
    const checked = options.judge ? { finds: true } : await check(folder);
    let verdict = await judge(folder, damage.from.acknowledged, options.judge);
    if (checked.crashed)
        verdict = checked;
    else if (!checked.finds && (verdict.refused || verdict.errors?.length > 0))
        verdict = { wrong: [`check finds nothing, but: ${verdict.refused ?? verdict.errors.slice(0, 3).join(', ')}\n${checked.said}`], errors: [] };
    if (verdict.refused) {
        const again = await judge(folder, damage.from.acknowledged, options.judge);
        if (!again.refused)
            verdict = { ...again, wrong: ['refused once, accepted then', ...(again.wrong ?? [])] };
        else if (!options.judge && (damage.known || ++refused % SALVAGE_EVERY === 0))
            verdict = await trySalvage(damage, folder, verdict);
    }
    count(damage, verdict);
    await rm(folder, { recursive: true, force: true });
}

/* Without the soak: the same share of every kind of file and of damage, so that each is in every run. */
function sample(list) {
    const byKind = new Map();

    for (const damage of list.sort(() => random(3) - 1)) {
        const kind = `${damage.moment} ${kindOf(damage.file)} ${isChange(damage)}`;
        byKind.set(kind, [...(byKind.get(kind) ?? []), damage]);
    }
    const chosen = [];
    for (let i = 0; chosen.length < CASES && chosen.length < list.length; i++)
        for (const damages of byKind.values())
            if (damages[i] && chosen.length < CASES)
                chosen.push(damages[i]);
    return chosen;
}

const load = await (options.shares ? ShareLoad : Load).start(random);
try {
    const open = await openToOthers(load.location);
    total[open ? 'failed' : 'passed']++;
    if (open)
        console.log(`FAILED others may read what is the server's:\n${open}`);
    await load.write(3 << 20);
    const early = await load.cutMoment('early');
    await load.write(6 << 20);
    const cut = await load.cutMoment('cut', { logs: 2 });
    const stopped = await load.stopMoment('stopped');
    const all = [];

    for (const [name, moment] of Object.entries({ cut, stopped }))
        for (const damage of [...await damagesOf(moment, random, EFFORT), ...await mixturesOf(early, moment)])
            all.push({ ...damage, moment: name, from: moment });
    const known = (options.shares ? [] : await knownDamages(cut)).map((damage) => ({ ...damage, known: true, moment: 'cut', from: cut }));
    const queue = sample(all.filter(({ file, what }) => !options.only || `${file} ${what}`.includes(options.only)));
    queue.unshift(...known.filter(() => !options.only));
    const cases = queue.length;
    const jobs = path.join(load.work, 'jobs');

    mkdirSync(jobs);
    await Promise.all(Array.from({ length: JOBS }, async (_, job) => {
        while (queue.length > 0)
            await tryOne(queue.shift(), path.join(jobs, `${job}`));
    }));
    for (const [kind, row] of [...outcomes].sort())
        console.log(`${kind.padEnd(12)} ${[...row].map(([outcome, n]) => `${n} ${outcome}`).join(', ')}`);
    for (const [cell, { met }] of cells) {
        if (met > 0 || options.only)
            continue;
        total.failed++;
        console.log(`FAILED seed ${SEED}: no case of ${cell} in docs/failure-guarantees.md was met`);
    }
    console.log(`${cases} of ${all.length} damages, seed ${SEED}`);
} catch (error) {
    total.failed++;
    console.log(`FAILED seed ${SEED}: ${error.stack}`);
} finally {
    await load.end();
}
console.log(`damage: ${total.passed} passed, ${total.failed} failed`);
