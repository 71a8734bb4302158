// What an operator runs on a cell: scrub and backup while it is served under load, check and salvage when it is not.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const COMMAND_MS = 120_000;
const DAMAGED = 1; // how lagra check ends when something is lost

const dataOf = (machine) => path.join(machine.folder, 'cells', '0001', 'data');

/** Runs a command of lagra: { code, said }. */
function lagra(...words) {
    return new Promise((resolve) => execFile(process.env.LAGRA_BINARY, words, { timeout: COMMAND_MS, encoding: 'utf8' },
        (error, stdout, stderr) => resolve({ code: error ? error.code ?? error.signal : 0, said: stdout + stderr })));
}

/** Runs commands in turn, each of which has to succeed: problems. */
async function succeed(commands) {
    for (const words of commands) {
        const { code, said } = await lagra(...words);

        if (code !== 0)
            return [`lagra ${words.join(' ')} ended with ${code}:\n${said.slice(-2000)}`];
    }
    return [];
}

async function inFolder(use) {
    const folder = mkdtempSync(path.join(tmpdir(), 'lagra-upkeep-'));

    try {
        return await use(folder);
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

/** Scrubs the cell of a machine that serves it, and takes a backup that is whole. */
export async function whileServed(machine) {
    return inFolder((folder) => {
        const backups = path.join(folder, 'backups'), restored = path.join(folder, 'restored');

        return succeed([
            ['status', '--location', dataOf(machine)],
            ['scrub', '--location', dataOf(machine)],
            ['backup', '--location', dataOf(machine), backups],
            ['backup', 'verify', backups],
            ['backup', 'restore', backups, restored],
            ['check', restored],
        ]);
    });
}

/** Overwrites 4 KiB in the middle of what is written of the extent with the most; an extent is allocated before it is written. */
function damage(data) {
    const extents = path.join(data, 'extents');
    const [fullest] = readdirSync(extents).map((name) => path.join(extents, name))
        .map((file) => ({ file, bytes: readFileSync(file).findLastIndex((byte) => byte !== 0) }))
        .sort((a, b) => b.bytes - a.bytes);
    const file = openSync(fullest.file, 'r+');

    writeSync(file, randomBytes(4096), 0, 4096, Math.floor(fullest.bytes / 2));
    closeSync(file);
}

/** The line of a check that counts what there is. */
const countsOf = (said) => /^\d+ blobs in .*$/m.exec(said)?.[0] ?? 'nothing';

/** Checks a cell that nobody serves; then damages it, and saves what can be read of it. */
export async function whileStopped(machine) {
    const problems = await succeed([['check', dataOf(machine)]]);

    if (problems.length > 0)
        return problems;
    damage(dataOf(machine));
    return inFolder(async (folder) => {
        const saved = path.join(folder, 'saved');
        const found = await lagra('check', dataOf(machine)), salvage = await lagra('check', '--salvage', dataOf(machine), saved);
        const check = await lagra('check', saved);

        // What is damaged stays damaged, and all else is there.
        return [found, salvage, check].every(({ code, said }) => code === DAMAGED && countsOf(said) === countsOf(found.said)) ? []
            : [`of a damaged cell, check, salvage and a check of what was saved ended with ${found.code}, ${salvage.code}, ${check.code}:\n${found.said}${salvage.said}${check.said}`];
    });
}
