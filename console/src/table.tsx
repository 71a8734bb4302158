// Tables, and lists that are shown as tables by pages. All of them can be sorted by a click on a column's head.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { daysLeft, time } from './format.ts';
import { Name, visible } from './names.tsx';
import { type Column, compare, type Key, keysOf, type Load, type Order, orderAfter, type Page, sorted } from './order.ts';
import { inTime } from './server.ts';
import { Form, type Loaded, Loading, Problem, useAction, useLoad } from './ui.tsx';

/** The heads of columns; those that can be sorted by are buttons. */
export function Heads<T>({ columns, order, onOrder }: { columns: Column<T>[]; order: Order | undefined; onOrder: (order: Order | undefined) => void }) {
    return <>{columns.map((column) => {
        const { title, kind, by, isListed, head } = column;
        const isShown = order ? order.title === title : isListed && by;
        return <th key={title} scope="col" class={kind} aria-sort={isShown ? (order?.isDescending ? 'descending' : 'ascending') : undefined}>
            {head ?? (by ? <button type="button" class="sort" onClick={() => onOrder(orderAfter(column, order))}>{title}</button> : title)}
        </th>;
    })}</>;
}

/** The rows of a table that are known entirely, unless the caller has an order and keeps them in it. */
export function Table<T>({ label, columns, of, keyOf, empty, order: given, onOrder }: {
    label: string; columns: Column<T>[]; of: T[]; keyOf: (row: T) => string; empty: string; order?: Order | undefined; onOrder?: (order: Order | undefined) => void;
}) {
    const [own, setOwn] = useState<Order>();
    const order = onOrder ? given : own;
    const rows = !onOrder && order ? [...of].sort(compare(keysOf(columns)(order.title), order.isDescending)) : of;

    if (of.length === 0)
        return <p class="empty">{empty}</p>;
    return <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table>
            <thead><tr><Heads columns={columns} order={order} onOrder={onOrder ?? setOwn} /></tr></thead>
            <tbody>{rows.map((row) => <tr key={keyOf(row)}>
                {columns.map(({ title, kind, cell }) => <td key={title} class={kind}>{cell(row)}</td>)}
            </tr>)}</tbody>
        </table>
    </div>;
}

// ---- lists by pages ----

export interface List<T> extends Loaded<Page<T>> {
    rows: T[];
    order: Order | undefined;
    setOrder: (order: Order | undefined) => void;
    pages: ComponentChildren;
}

/** One page of a list at a time, in the server's order or sorted. Another list when `keys` change. keyOf: what a column is
 *  sorted by. */
export function useList<T>(load: Load<T>, keyOf: (title: string) => Key<T> | undefined, size: number, keys: unknown[]): List<T> {
    const [order, setOrder] = useState<Order>();
    const [turn, setTurn] = useState(0);
    // The marks where the pages up to the one that is shown began, except the first; of another list they mean nothing.
    const [marks, setMarks] = useState<{ of: string; at: string[] }>({ of: '', at: [] });
    const ofList = JSON.stringify([...keys, order]);
    const at = marks.of === ofList ? marks.at : [];
    const loader = useMemo(() => {
        const timed: Load<T> = (mark) => inTime(load(mark));
        return order ? sorted(timed, size, compare(keyOf(order.title), order.isDescending)) : timed;
    }, [ofList, turn]);
    const loaded = useLoad(() => loader(at.at(-1)), [ofList, at.at(-1), turn], { isLong: true, of: keys });
    const next = loaded.value?.next;

    return {
        ...loaded, rows: loaded.value?.rows ?? [], order, setOrder, reload: () => (order ? setTurn((n) => n + 1) : loaded.reload()),
        pages: (at.length > 0 || next) && <div class="buttons">
            <button type="button" disabled={at.length === 0} onClick={() => setMarks({ of: ofList, at: at.slice(0, -1) })}>Previous page</button>
            <button type="button" disabled={!next} onClick={() => setMarks({ of: ofList, at: [...at, next!] })}>Next page</button>
        </div>,
    };
}

/** The page of an SDK's list that begins at a mark. */
export async function pageOf<S extends { continuationToken?: string }, T>(pages: AsyncIterableIterator<S>, rowsOf: (page: S) => T[]): Promise<Page<T>> {
    const { value } = await pages.next() as { value?: S };

    return { rows: value ? rowsOf(value) : [], next: value?.continuationToken || undefined };
}

/** The containers, queues, tables or shares of an account, with dialogs to create and delete one. */
export function Listing<T extends { name: string }>({ title, about, one, list, rows = list.rows, columns, search, fields, create, removal, actions, canDelete = () => true }: {
    title: string; about?: ComponentChildren; one: string; list: List<T>; rows?: T[]; columns: Column<T>[]; search?: ComponentChildren; fields: ComponentChildren;
    create: (form: FormData, name: string) => Promise<unknown>; removal: (name: string, close: () => void, done: () => void) => ComponentChildren;
    actions?: (row: T) => ComponentChildren; canDelete?: (row: T) => boolean;
}) {
    const [dialog, setDialog] = useState<{ delete?: string }>();
    const close = () => setDialog(undefined);
    const all: Column<T>[] = [...columns, { title: 'Actions', kind: 'actions', cell: (row) => <>
        {actions?.(row)}
        {canDelete(row) && <button type="button" class="plain" aria-label={`Delete ${row.name}`} onClick={() => setDialog({ delete: row.name })}>Delete</button>}
    </> }];

    return <>
        <h1>{title}</h1>
        {about && <p class="about">{about}</p>}
        <div class="tools">
            {search}
            <button type="button" class="primary" onClick={() => setDialog({})}>New {one}</button>
            <button type="button" onClick={list.reload}>Reload</button>
        </div>
        <Loading of={list} />
        {list.value && <Table label={title} columns={all} of={rows} keyOf={({ name }) => name} empty={`There are no ${title.toLowerCase()}.`} order={list.order} onOrder={list.setOrder} />}
        {list.pages}
        {dialog && !dialog.delete && <Form title={`New ${one}`} action="Create" onClose={close} onDone={async (form) => {
            await create(form, String(form.get('name')));
            list.reload();
        }}>{fields}</Form>}
        {dialog?.delete && removal(dialog.delete, close, list.reload)}
    </>;
}

/** The name of a container, queue, table or share, which leads to it, and what the server uses it for. */
export const nameColumn = <T extends { name: string }>(hrefOf: (name: string) => string, about: (name: string) => ComponentChildren = () => undefined): Column<T> => ({
    title: 'Name', kind: 'name', isListed: true, by: ({ name }) => name,
    cell: ({ name }) => <><a href={hrefOf(name)}>{name}</a>{about(name) && <small class="about">{about(name)}</small>}</>,
});

// ---- deleted items ----

interface DeletedItem {
    name: string;
    version?: string | undefined;
    deleted?: Date | undefined;
    days?: number | undefined;
}

/** Soft-deleted items of a kind, each of which can be restored. */
export function Deleted({ title, of, restore }: { title: string; of: DeletedItem[]; restore: (name: string, version: string) => Promise<unknown> }) {
    const { problem, busy, run } = useAction();
    const columns: Column<DeletedItem>[] = [
        { title: 'Name', kind: 'name', by: ({ name }) => name, cell: ({ name }) => <Name of={name} /> },
        { title: 'Deleted', kind: 'time', by: ({ deleted }) => deleted, cell: ({ deleted }) => time(deleted) },
        { title: 'Retention', by: ({ days }) => days ?? 0, cell: ({ days }) => daysLeft(days) },
        { title: 'Actions', kind: 'actions', cell: ({ name, version = '' }) =>
            <button type="button" class="plain" disabled={busy} aria-label={`Restore ${visible(name)}`} onClick={() => void run(() => restore(name, version))}>Restore</button> },
    ];

    return <>
        <Problem of={problem} />
        {of.length > 0 && <>
            <h2>{title}</h2>
            <Table label={title} columns={columns} of={of} keyOf={({ name, version }) => `${name}/${version}`} empty="" />
        </>}
    </>;
}
