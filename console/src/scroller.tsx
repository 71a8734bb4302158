// A list of any length that is scrolled through. Pages are fetched as they come near the visible rows; pages far from them are
// dropped, and fetched again by the mark at which they begin. Only rows in sight are elements.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { number } from './format.ts';
import { type Column, compare, keysOf, type Load, type Order, sorted } from './order.ts';
import { inTime, noticeEnd } from './server.ts';
import { Heads } from './table.tsx';
import { Problem } from './ui.tsx';

/** As style.css has it. */
const ROW_PX = 34;
const PAGES_KEPT = 12;
const AROUND = 30; /* rows that are fetched on each side of those in sight */
const DRAWN_AROUND = 12;
const SORTED_PAGE = 1000;
/* Browsers limit an element to about 17 million pixels, so rows far above the visible ones are left out of the height. */
const ROWS_HIGH = 300000;
const ROWS_LEFT_OUT = 100000;

interface Place {
    mark: string | undefined;
    begin: number;
    count: number;
}

/** The pages of one list: where each begins, and the rows of those in memory. */
class Rows<T> {
    places: Place[] = [];
    next: string | undefined;
    isWhole = false;
    #kept = new Map<Place, T[]>();
    #loading = false;

    constructor(readonly load: Load<T>) {}

    get count() {
        const last = this.places.at(-1);
        return last ? last.begin + last.count : 0;
    }

    /** Returns the page that contains a row. The pages are many, and ordered. */
    placeOf(row: number) {
        let [low, high] = [0, this.places.length - 1];

        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.places[middle]!.begin <= row)
                low = middle;
            else
                high = middle - 1;
        }
        return this.places[low];
    }

    get(row: number) {
        const place = this.placeOf(row);
        return place && this.#kept.get(place)?.[row - place.begin];
    }

    #keep(place: Place, rows: T[]) {
        this.#kept.delete(place);
        this.#kept.set(place, rows);
        if (this.#kept.size > PAGES_KEPT)
            this.#kept.delete(this.#kept.keys().next().value!);
    }

    #missing(first: number, last: number) {
        for (let row = first; row <= last && row < this.count;) {
            const place = this.placeOf(row)!;
            if (!this.#kept.has(place))
                return place;
            row = place.begin + place.count;
        }
        return undefined;
    }

    /** Fetches one page that rows from `first` to `last` need. Returns true if it was fetched. */
    async fetch(first: number, last: number) {
        if (this.#loading)
            return false;
        const missing = this.#missing(first, last);
        if (!missing && (this.isWhole || last < this.count))
            return false;
        this.#loading = true;
        try {
            const { rows, next } = await this.load(missing ? missing.mark : this.next);
            if (missing) {
                this.#keep(missing, rows.slice(0, missing.count));
            } else {
                const place = { mark: this.next, begin: this.count, count: rows.length };
                this.places.push(place);
                this.#keep(place, rows);
                this.next = next;
                this.isWhole = !next;
            }
            return true;
        } finally {
            this.#loading = false;
        }
    }
}

/** of: another list when it changes. load: a page of the list. group: rows of a lower number come first in any order. */
export function Scroller<T>({ label, columns, empty, of, load, group }: {
    label: string; columns: Column<T>[]; empty: string; of: unknown[]; load: Load<T>; group?: (row: T) => number;
}) {
    const [order, setOrder] = useState<Order>();
    const box = useRef<HTMLDivElement>(null);
    const rows = useRef<Rows<T>>();
    const [, draw] = useState(0);
    const [problem, setProblem] = useState<unknown>();
    const base = useRef(0); /* the first row of the height */
    const shift = useRef(0); /* rows added above the visible ones, or removed there */
    const seen = () => ({ above: base.current + Math.floor((box.current?.scrollTop ?? 0) / ROW_PX), high: Math.ceil((box.current?.clientHeight || 800) / ROW_PX) });
    const { above, high } = seen();
    const all = rows.current?.count ?? 0;
    const first = Math.max(base.current, Math.min(above, all - 1) - DRAWN_AROUND);
    const last = Math.min(all, above + high + DRAWN_AROUND);
    const elements = high + 2 * DRAWN_AROUND + 1; /* more than are drawn: a new row reuses the element of one that is out of sight */

    const rebase = () => {
        const passed = seen().above - base.current;
        const wanted = passed > ROWS_HIGH ? base.current + ROWS_LEFT_OUT : passed < 2 * AROUND ? Math.max(0, base.current - ROWS_LEFT_OUT) : base.current;

        shift.current += base.current - wanted;
        base.current = wanted;
    };
    const look = () => {
        const list = rows.current;
        if (!list)
            return;
        const { above: begin, high: count } = seen();
        if (shift.current === 0)
            rebase();
        draw((n) => n + 1);
        list.fetch(Math.max(0, begin - AROUND), begin + count + AROUND).then((isNew) => {
            if (isNew && rows.current === list) {
                setProblem(undefined);
                look();
            }
        }, (error) => {
            if (rows.current === list)
                setProblem(error);
            void noticeEnd(error);
        });
    };
    // The visible rows stay where they are when rows above them are left out, or come back.
    useLayoutEffect(() => {
        if (shift.current !== 0 && box.current) {
            box.current.scrollTop += shift.current * ROW_PX;
            shift.current = 0;
        }
    });
    useEffect(() => {
        const timed: Load<T> = (mark) => inTime(load(mark));
        rows.current = new Rows<T>(order ? sorted(timed, SORTED_PAGE, compare(keysOf(columns)(order.title), order.isDescending, group)) : timed);
        base.current = shift.current = 0;
        setProblem(undefined);
        if (box.current)
            box.current.scrollTop = 0;
        look();
        return () => {
            rows.current = undefined;
        };
    }, [...of, order]);

    const space = (count: number) => count > 0 && <tr class="space" aria-hidden="true"><td colSpan={columns.length} ref={(cell) => {
        if (cell)
            cell.style.height = `${count * ROW_PX}px`; // the policy forbids styles in markup
    }} /></tr>;
    const list = rows.current;
    const isEmpty = list?.isWhole && all === 0;

    return <>
        <Problem of={problem} retry={() => {
            setProblem(undefined);
            look();
        }} />
        {!list || (all === 0 && !list.isWhole && !problem) ? <p role="status">Loading…</p> : null}
        {isEmpty && <p class="empty">{empty}</p>}
        <div ref={box} class="scroll long" hidden={all === 0} tabIndex={0} role="region" aria-label={label} onScroll={look}>
            <table aria-rowcount={list?.isWhole ? all + 1 : -1}>
                <thead><tr aria-rowindex={1}><Heads columns={columns} order={order} onOrder={setOrder} /></tr></thead>
                <tbody>
                    {space(first - base.current)}
                    {Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i).map((i) => {
                        const one = list?.get(i);
                        return <tr key={i % elements} aria-rowindex={i + 2}>{one ? columns.map(({ title, kind, cell }) => <td key={title} class={kind}>{cell(one)}</td>) : <td colSpan={columns.length}>…</td>}</tr>;
                    })}
                    {space(all - last)}
                </tbody>
            </table>
        </div>
        {all > 0 && <p class="count">{list?.isWhole ? `${number(all)} in total` : `${number(all)} so far; scroll down to load more`}</p>}
    </>;
}
