// Columns of lists, and lists in another order than the server's. The server lists by name only, a page at a time, so any
// other order takes the entire list: it is read up to ROWS_MAX rows, sorted here, and then served by pages like the server's. decision: 916
import type { ComponentChildren } from 'preact';
import { number } from './format.ts';

const ROWS_MAX = 100000;

export interface Column<T> {
    title: string;
    /* Numbers are aligned to the right, times are never cut, the name gets the space that remains. */
    kind?: 'name' | 'number' | 'time' | 'actions' | 'mark' | undefined;
    cell: (row: T) => ComponentChildren;
    by?: Key<T> | undefined; // what the column is sorted by; without it, it is not
    isListed?: boolean; // the server lists in ascending order of this column
    head?: ComponentChildren; // instead of the title
}
export interface Order {
    title: string;
    isDescending: boolean;
}
export interface Page<T> {
    rows: T[];
    next?: string | undefined;
}
export type Load<T> = (mark: string | undefined) => Promise<Page<T>>;

export type Key<T> = (row: T) => string | number | Date | undefined;
export const keysOf = <T,>(columns: Column<T>[]) => (title: string): Key<T> | undefined => columns.find((column) => column.title === title)?.by;

/** Rows without a value come last in either direction; numbers come before texts. */
export function compare<T>(key: Key<T> = () => undefined, isDescending: boolean, group: (row: T) => number = () => 0) {
    const sign = isDescending ? -1 : 1;

    return (a: T, b: T) => {
        const grouped = group(a) - group(b);
        const [x, y] = [key(a), key(b)];
        if (grouped !== 0)
            return grouped;
        if (x === undefined || y === undefined)
            return Number(x === undefined) - Number(y === undefined);
        if (typeof x !== typeof y)
            return typeof x < typeof y ? -sign : sign;
        return x < y ? -sign : x > y ? sign : 0;
    };
}

/** The order after a click on a column's head: names ascend first, sizes and times descend first. */
export function orderAfter<T>(column: Column<T>, order: Order | undefined): Order | undefined {
    const { title, kind, isListed } = column;
    const isShown = order ? order.title === title : isListed;
    const isDescending = isShown ? !order?.isDescending : kind === 'number' || kind === 'time';

    return isListed && !isDescending ? undefined : { title, isDescending };
}

export async function readAll<T>(load: Load<T>): Promise<T[]> {
    const rows: T[] = [];

    for (let mark: string | undefined, isFirst = true; isFirst || mark !== undefined; isFirst = false) {
        const page = await load(mark);
        rows.push(...page.rows);
        if (rows.length > ROWS_MAX)
            throw new Error(`The list has more than ${number(ROWS_MAX)} entries, too many to sort here. Narrow it with a prefix, or sort by name.`);
        mark = page.next;
    }
    return rows;
}

/** The same list by another order, in pages of `size` rows. */
export function sorted<T>(load: Load<T>, size: number, by: (a: T, b: T) => number): Load<T> {
    let all: Promise<T[]> | undefined;

    return async (mark) => {
        all ??= readAll(load).then((rows) => rows.sort(by));
        try {
            const rows = await all, begin = Number(mark ?? 0), end = begin + size;
            return { rows: rows.slice(begin, end), next: end < rows.length ? String(end) : undefined };
        } catch (error) {
            all = undefined;
            throw error;
        }
    };
}
