// Damages that were once silent, or are mended: each in every run, most with the one outcome that
// is right.

import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exchange, flip, headsOf, pairsOf } from './damages.mjs';

const number = (file) => Number(file.match(/\d+/)[0]);

/** moment: of a kill, with two live logs. */
export async function knownDamages(moment) {
    const files = await moment.files();
    const at = (folder, file) => path.join(folder, file);
    const manifest = files.find((file) => file.startsWith('records/MANIFEST-'));
    const copy = files.find((file) => file.startsWith('manifest-'));
    const logs = files.filter((file) => file.endsWith('.log')).sort((a, b) => number(a) - number(b));
    const tables = files.filter((file) => file.endsWith('.sst'));
    const bytes = async (file) => readFile(at(moment.location, file));
    const manifestSize = (await bytes(manifest)).length;
    const list = [
        { file: manifest, what: 'a record length flipped (byte 64)', expect: 'all data', apply: (f) => flip(at(f, manifest), 64, 0) },
        { file: manifest, what: 'its tail cut', expect: 'all data', apply: (f) => truncate(at(f, manifest), manifestSize >> 1) },
        { file: manifest, what: 'missing', expect: 'all data', apply: (f) => rm(at(f, manifest)) },
        { file: manifest, what: 'cut, and its copy missing', expect: 'refused',
            apply: async (f) => { await truncate(at(f, manifest), manifestSize >> 1); await rm(at(f, copy)); } },
        { file: manifest, what: 'cut, and neither note nor copy', expect: 'refused',
            apply: async (f) => { await truncate(at(f, manifest), manifestSize >> 1); await rm(at(f, copy)); await truncate(at(f, 'synced'), 16); } },
        { file: 'records/CURRENT', what: 'missing', expect: 'all data', apply: (f) => rm(at(f, 'records/CURRENT')) },
        { file: 'records/CURRENT', what: 'naming an older MANIFEST', expect: 'all data',
            apply: (f) => writeFile(at(f, 'records/CURRENT'), 'MANIFEST-000001\n') },
        { file: 'synced', what: 'missing', expect: 'all data', apply: (f) => rm(at(f, 'synced')) },
        { file: copy, what: 'missing', expect: 'all data', apply: (f) => rm(at(f, copy)) },
        { file: tables[0], what: 'missing', expect: 'refused', apply: (f) => rm(at(f, tables[0])) },
    ];

    /* Refused, unless the log was given up already and only waited for its deletion. */
    for (const older of logs.slice(0, -1)) {
        const heads = headsOf(await bytes(older));
        list.push({ file: older, what: 'the older log missing', apply: (f) => rm(at(f, older)) },
            { file: older, what: 'the older log emptied', apply: (f) => truncate(at(f, older), 0) },
            { file: older, what: 'the older log cut at a record', apply: (f) => truncate(at(f, older), heads.at(-1)) });
    }
    /* The newest table may not be in use yet. */
    for (const table of tables.slice(0, -1)) {
        const [pair] = pairsOf(await bytes(table));
        if (pair)
            list.push({ file: table, what: 'two blocks exchanged', expect: 'refused', salvagesAll: true,
                apply: (f) => exchange(at(f, table), pair[0].offset, pair[1].offset, pair[0].size) });
    }
    return list;
}
