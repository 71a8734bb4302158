#!/usr/bin/env node
// Do the tests notice a changed line? run.mjs --build FOLDER [options]
//
//   --count N    mutations to judge (300)
//   --seed N     what is drawn (1): the same seed and sources give the same mutations
//   --skip N     the first so many draws are left out: a campaign goes on where one ended
//   --rooms A,B  only of these rooms; --file PATH only of this file
//   --only A,B   only these draws, by their numbers: what lived is judged again
//   --sim N      requests of the simulator for one, each service (30000; of clusters, a tenth)
//   --quick      without the suites that ask a whole server, and long unit programs
//   --list       names what would be judged, and runs nothing
//
// Each mutation (mutate.mjs) is compiled and linked into the programs that concern it (judges.mjs)
// until one fails. What no judge notices is printed with LIVES: it gets a test, or its reason in
// reasons.txt. A mutation that the compiler refuses, or that gives the same machine code, is no
// mutation and another is drawn. Last line: "mutants: N passed, N failed", where killed and reasoned
// ones have passed.

import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Build, ROOT } from '../lib/changed_program.mjs';
import { Judges, ROOMS } from './judges.mjs';
import { candidates, mutated, shown } from './mutate.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
    options: {
        build: { type: 'string' },
        count: { type: 'string', default: '300' },
        seed: { type: 'string', default: '1' },
        skip: { type: 'string', default: '0' },
        rooms: { type: 'string', default: ROOMS.join(',') },
        file: { type: 'string' },
        only: { type: 'string' },
        sim: { type: 'string', default: '30000' },
        quick: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
    },
});

/** Numbers from 0 up to, not including, `below`, from a seed (splitmix64). */
function drawer(seed) {
    let state = BigInt(seed);
    const bits = (n) => BigInt.asUintN(64, n);

    return (below) => {
        state = bits(state + 0x9e3779b97f4a7c15n);
        let z = bits((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
        z = bits((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
        return Number((z ^ (z >> 31n)) % BigInt(below));
    };
}

/** Source files of a room, from ROOT. */
function sourcesOf(room) {
    return readdirSync(path.join(ROOT, 'src', room), { recursive: true }).filter((name) => name.endsWith('.c'))
        .map((name) => path.join('src', room, name)).sort();
}

function everything() {
    const files = options.file ? [options.file] : options.rooms.split(',').flatMap(sourcesOf);

    return files.flatMap((file) => {
        const text = readFileSync(path.join(ROOT, file), 'utf8');
        return candidates(text).map((candidate) => ({ file, text, candidate }));
    });
}

/** Lines "file: line as it was  ->  line as it is # reason" -> the reasons. */
function reasons() {
    return new Map(readFileSync(path.join(HERE, 'reasons.txt'), 'utf8').split('\n')
        .filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
            const at = line.lastIndexOf(' # ');
            return [line.slice(0, at).trim(), line.slice(at + 3)];
        }));
}

const build = new Build(options.build);
const work = path.join(build.folder, 'mutants', `seed-${options.seed}`);
const machineCode = (object) => build.run('objdump', ['-d', '-r', '-s', '-j', '.text', '-j', '.rodata', object])
    .output.replace(/^.*file format.*$/m, '');

/** Objects without and with a mutation, or null where there is nothing to judge. */
function compile({ file, text, candidate }, into) {
    try {
        const unchanged = build.compile(file, text, path.join(into, 'unchanged'));
        const object = build.compile(file, mutated(text, candidate), into);
        return machineCode(object) === machineCode(unchanged) ? null : { object, unchanged };
    } catch {
        return null;
    }
}

/** The name of the judge that noticed, or null. */
function killer(judges, file, { object, unchanged }, into) {
    return judges.of(file.split('/')[1], file, unchanged).find(({ fails }) => fails(object, unchanged, into))?.name ?? null;
}

/** Draws mutations, none twice, past the first `skip`. */
function* drawn() {
    const all = everything(), draw = drawer(options.seed);

    for (let skip = Number(options.skip); all.length > 0; skip--) {
        const at = draw(all.length);
        const [one] = all.splice(at, 1, all.at(-1));
        all.pop();
        if (skip <= 0)
            yield one;
    }
}

const judges = new Judges(build, { requests: options.sim, quick: options.quick });
const known = reasons();
const count = { killed: 0, reasoned: 0, lives: 0 };
let drawnCount = Number(options.skip);
const only = options.only?.split(',').map(Number);

for (const one of drawn()) {
    const number = drawnCount++;

    if (count.killed + count.reasoned + count.lives >= Number(options.count) || (only && number > Math.max(...only)))
        break;
    if (only && !only.includes(number))
        continue;
    const said = shown(one.text, one.candidate);
    const name = `${number} ${one.file}:${one.candidate.line}: ${said}`;
    const into = path.join(work, String(number));

    if (options.list) {
        console.log(name);
        count.killed++;
        continue;
    }
    mkdirSync(into, { recursive: true });
    const objects = compile(one, into);
    const reason = known.get(`${one.file}: ${said}`);
    if (objects && reason) {
        count.reasoned++;
        console.log(`reason  ${name}: ${reason}`);
    } else if (objects) {
        const by = killer(judges, one.file, objects, into);
        count[by ? 'killed' : 'lives']++;
        console.log(by ? `killed  ${name} (${by})` : `LIVES   ${name} (${one.candidate.rule})`);
    }
    rmSync(into, { recursive: true });
}
if (!options.list) {
    const judged = count.killed + count.lives;
    console.log(`${count.killed} of ${judged} killed (${Math.round(100 * count.killed / Math.max(1, judged))} %), ` +
        `${count.reasoned} have a reason`);
    console.log(`mutants: ${count.killed + count.reasoned} passed, ${count.lives} failed`);
    process.exitCode = count.lives === 0 ? 0 : 1;
}
