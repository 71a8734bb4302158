// The table of docs/failure-guarantees.md, for the suites that it names: which cells a suite has to reach. A cell
// that it did not reach is a failure, so that the document promises nothing that is not tried.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCUMENT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../docs/failure-guarantees.md');

/** In the order of the document. */
export const COLUMNS = ['log', 'table', 'manifest', 'own', 'extent'];

/** Cells of the first table that carry the note: [{ row: its first words, column, words: of the promise }].
 *  rows: the beginnings of those of its rows that the suite knows; another one is an error. */
export function promised(note, rows) {
    const lines = readFileSync(DOCUMENT, 'utf8').split('\n');
    const first = lines.findIndex((line) => line.startsWith('| fault '));
    const table = lines.slice(first + 2, lines.indexOf('', first));

    return table.flatMap((line) => {
        const [text, ...cells] = line.split('|').slice(1, -1).map((cell) => cell.trim());
        const row = rows.find((begin) => text.startsWith(begin));
        const noted = COLUMNS.map((column, i) => ({ row, column, words: cells[i]?.match(/[a-z]+/g) ?? [] }))
            .filter((_, i) => cells[i]?.includes(note));

        if (cells.length !== COLUMNS.length || (noted.length > 0 && row === undefined))
            throw new Error(`docs/failure-guarantees.md: no test knows the row "${text}"`);
        return noted;
    });
}
