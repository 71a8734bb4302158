// What the pages are made of. All text that comes from the server is a child of an element, never markup.
import { type ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { daysLeft, time } from './format.ts';
import { wordsOf } from './server.ts';

export function Problem({ of }: { of: unknown }) {
    return of ? <p class="problem" role="alert">{wordsOf(of)}</p> : null;
}

export interface Loaded<T> {
    value: T | undefined;
    problem: unknown;
    busy: boolean;
    reload: () => void;
}

/** Loads when `keys` change, and when it is asked to; an answer that has been overtaken is dropped. */
export function useLoad<T>(load: () => Promise<T>, keys: unknown[]): Loaded<T> {
    const [state, setState] = useState<{ value?: T; problem?: unknown; busy: boolean }>({ busy: true });
    const [turn, setTurn] = useState(0);

    useEffect(() => {
        let isOver = false;
        setState(({ value }) => ({ value: turn === 0 ? undefined : value, busy: true }));
        load().then((value) => isOver || setState({ value, busy: false }), (problem) => isOver || setState({ problem, busy: false }));
        return () => {
            isOver = true;
        };
    }, [...keys, turn]);
    return { value: state.value, problem: state.problem, busy: state.busy, reload: () => setTurn((n) => n + 1) };
}

/** Something that a button does: what it failed with, and whether it is under way. */
export function useAction() {
    const [problem, setProblem] = useState<unknown>();
    const [busy, setBusy] = useState(false);
    const run = async (action: () => Promise<unknown>) => {
        setBusy(true);
        setProblem(undefined);
        try {
            await action();
            return true;
        } catch (error) {
            setProblem(error);
            return false;
        } finally {
            setBusy(false);
        }
    };

    return { problem, busy, run };
}

export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
    const dialog = useRef<HTMLDialogElement>(null);

    useEffect(() => {
        dialog.current?.showModal();
    }, []);
    return <dialog ref={dialog} aria-labelledby="dialog-title" onClose={onClose}>
        <h2 id="dialog-title">{title}</h2>
        {children}
    </dialog>;
}

/** A dialog with a form: `onDone` does what it is for, and the dialog closes when that went well. */
export function Form({ title, action, danger, onDone, onClose, children }: {
    title: string; action: string; danger?: boolean; onDone: (form: FormData) => Promise<unknown>; onClose: () => void; children?: ComponentChildren;
}) {
    const { problem, busy, run } = useAction();
    const submit = async (event: SubmitEvent) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget as HTMLFormElement);
        if (await run(() => onDone(form)))
            onClose();
    };

    return <Dialog title={title} onClose={onClose}>
        <form onSubmit={submit}>
            {children}
            <Problem of={problem} />
            <p class="buttons">
                <button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy}>{action}</button>
                <button type="button" onClick={onClose}>Cancel</button>
            </p>
        </form>
    </Dialog>;
}

export function Field({ label, name, value, type = 'text', hint, required, rows, pattern, step }: {
    label: string; name: string; value?: string; type?: string; hint?: string; required?: boolean; rows?: number; pattern?: string; step?: string;
}) {
    return <label class="field"><span>{label}</span>
        {rows ? <textarea name={name} rows={rows} required={required} spellcheck={false}>{value}</textarea>
            : <input name={name} type={type} defaultValue={value} required={required} pattern={pattern} step={step} autocomplete="off" spellcheck={false} />}
        {hint && <small>{hint}</small>}
    </label>;
}

export function Choice({ label, name, value, of, onChange }: {
    label: string; name: string; value?: string; of: [string, string][]; onChange?: (value: string) => void;
}) {
    return <label class="field"><span>{label}</span>
        <select name={name} onChange={(event) => onChange?.(event.currentTarget.value)}>
            {of.map(([id, text]) => <option key={id} value={id} selected={id === value}>{text}</option>)}
        </select>
    </label>;
}

export function Table({ label, head, children, empty }: { label: string; head: string[]; children: ComponentChildren[]; empty: string }) {
    if (children.length === 0)
        return <p class="empty">{empty}</p>;
    return <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table>
            <thead><tr>{head.map((text) => <th key={text} scope="col">{text}</th>)}</tr></thead>
            <tbody>{children}</tbody>
        </table>
    </div>;
}

/** The way through a list by pages: `marks` are those that the pages shown so far began at, but the first. */
export function Pages({ of, marks, setMarks }: { of: { continuationToken?: string } | undefined; marks: string[]; setMarks: (marks: string[]) => void }) {
    return <div class="buttons">
        <button type="button" disabled={marks.length === 0} onClick={() => setMarks(marks.slice(0, -1))}>Previous page</button>
        <button type="button" disabled={!of?.continuationToken} onClick={() => setMarks([...marks, of!.continuationToken!])}>Next page</button>
    </div>;
}

/** What an account has of a kind: by pages, with a form for another one, and one to delete each. */
export function Listing({ title, one, head = [], rows, list, search, pages, fields, warning, create, remove, actions }: {
    title: string; one: string; head?: string[]; rows: { name: string; href: string; cells?: ComponentChildren[] }[]; list: Loaded<unknown>;
    search?: ComponentChildren; pages: ComponentChildren; fields: ComponentChildren; warning: string;
    create: (form: FormData, name: string) => Promise<unknown>; remove: (name: string) => Promise<unknown>;
    actions?: (name: string) => ComponentChildren;
}) {
    const [dialog, setDialog] = useState<{ delete?: string }>();
    const close = () => setDialog(undefined);

    return <>
        <h1>{title}</h1>
        <div class="tools">
            {search}
            <button type="button" class="primary" onClick={() => setDialog({})}>New {one}</button>
            <button type="button" onClick={list.reload}>Reload</button>
        </div>
        <Problem of={list.problem} />
        {list.busy && !list.value && <p>Loading…</p>}
        {!!list.value && <Table label={title} head={['Name', ...head, 'Actions']} empty={`There are no ${title.toLowerCase()}.`}>
            {rows.map(({ name, href, cells = [] }) => <tr key={name}>
                <td class="name"><a href={href}>{name}</a></td>
                {cells.map((cell, i) => <td key={i}>{cell}</td>)}
                <td>{actions?.(name)}<button type="button" class="plain" aria-label={`Delete ${name}`} onClick={() => setDialog({ delete: name })}>Delete</button></td>
            </tr>)}
        </Table>}
        {pages}
        {dialog && !dialog.delete && <Form title={`New ${one}`} action="Create" onClose={close} onDone={async (form) => {
            await create(form, String(form.get('name')));
            list.reload();
        }}>{fields}</Form>}
        {dialog?.delete && <Form title={`Delete ${dialog.delete}?`} action="Delete" danger onClose={close} onDone={async () => {
            await remove(dialog.delete!);
            list.reload();
        }}><p>{warning}</p></Form>}
    </>;
}

/** What was deleted of a kind and is kept: a list of it, of which each can be restored. */
export function Deleted({ title, of, restore }: {
    title: string; of: { name: string; version?: string; deleted?: Date; days?: number }[]; restore: (name: string, version: string) => Promise<unknown>;
}) {
    const { problem, busy, run } = useAction();

    return <>
        <Problem of={problem} />
        {of.length > 0 && <>
            <h2>{title}</h2>
            <Table label={title} head={['Name', 'Deleted', 'Kept for', 'Actions']} empty="">
                {of.map(({ name, version = '', deleted, days }) => <tr key={`${name}/${version}`}>
                    <td class="name">{name}</td><td>{time(deleted)}</td><td class="number">{daysLeft(days)}</td>
                    <td><button type="button" class="plain" disabled={busy} aria-label={`Restore ${name}`} onClick={() => void run(() => restore(name, version))}>Restore</button></td>
                </tr>)}
            </Table>
        </>}
    </>;
}

/** The way to where one is: [text, href].. */
export function Crumbs({ of }: { of: [string, string][] }) {
    return <nav class="crumbs" aria-label="Path"><ol>
        {of.map(([text, href], i) => <li key={href}>
            {i === of.length - 1 ? <span aria-current="page">{text}</span> : <a href={href}>{text}</a>}
        </li>)}
    </ol></nav>;
}

export function Facts({ of }: { of: [string, string | number | undefined | null][] }) {
    return <dl class="facts">
        {of.filter(([, value]) => value !== undefined && value !== null && value !== '').map(([name, value]) =>
            <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>;
}
