// The parts that pages are built of. All text from the server is a child of an element, never markup.
import { type ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Name, visible } from './names.tsx';
import { inTime, isAway, noticeEnd, Upgraded, wordsOf } from './server.ts';

const RETRY_MS = 5000;

/** What went wrong, in a sentence. With `retry`, a button tries again; while the server is away, so does a timer. */
export function Problem({ of, retry }: { of: unknown; retry?: () => void }) {
    useEffect(() => {
        if (!of || !retry || !isAway(of))
            return undefined;
        const timer = setTimeout(retry, RETRY_MS);
        return () => clearTimeout(timer);
    }, [of]);
    if (!of)
        return null;
    return <div class="problem" role="alert">
        <p>{wordsOf(of)}</p>
        {of instanceof Upgraded ? <button type="button" onClick={() => location.reload()}>Reload the page</button>
            : retry && <button type="button" onClick={retry}>Try again</button>}
    </div>;
}

export interface Loaded<T> {
    value: T | undefined;
    problem: unknown;
    busy: boolean;
    reload: () => void;
}

/** Loads when `keys` change and on reload(). The value is shown until the next one has arrived, unless it is of something else,
 *  which `of` tells. isLong: `load` itself limits the time of each of its requests. */
export function useLoad<T>(load: () => Promise<T>, keys: unknown[], { isLong = false, of = keys } = {}): Loaded<T> {
    const [state, setState] = useState<{ value?: T; problem?: unknown; busy: boolean }>({ busy: true });
    const [turn, setTurn] = useState(0);
    const shown = useRef<unknown[]>([]);

    useEffect(() => {
        let isOver = false;
        const isSame = shown.current.length === of.length && shown.current.every((key, i) => key === of[i]);
        shown.current = of;
        setState(({ value }) => ({ value: isSame ? value : undefined, busy: true }));
        (isLong ? load() : inTime(load())).then((value) => isOver || setState({ value, busy: false }), (problem) => {
            if (isOver)
                return;
            setState(({ value }) => ({ value, problem, busy: false }));
            void noticeEnd(problem);
        });
        return () => {
            isOver = true;
        };
    }, [...keys, turn]);
    return { value: state.value, problem: state.problem, busy: state.busy, reload: () => setTurn((n) => n + 1) };
}

/** Tells the user that a list or item is being loaded, or why it was not. */
export function Loading({ of: { value, problem, busy, reload } }: { of: Loaded<unknown> }) {
    return <>
        <Problem of={problem} retry={reload} />
        {busy && value === undefined && <p role="status">Loading…</p>}
    </>;
}

/** An action of a button: its error, and whether it is in progress. */
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
            void noticeEnd(error);
            return false;
        } finally {
            setBusy(false);
        }
    };

    return { problem, busy, run };
}

export function Dialog({ title, onClose, children }: { title: ComponentChildren; onClose: () => void; children: ComponentChildren }) {
    const dialog = useRef<HTMLDialogElement>(null);

    useEffect(() => {
        dialog.current?.showModal();
    }, []);
    return <dialog ref={dialog} aria-labelledby="dialog-title" onClose={onClose}>
        <h2 id="dialog-title">{title}</h2>
        {children}
    </dialog>;
}

/** A dialog with a form. It closes once `onDone` has succeeded. confirm: the button works after this was typed. */
export function Form({ title, action, danger, confirm, isReady = true, onDone, onClose, children }: {
    title: ComponentChildren; action: string; danger?: boolean; confirm?: string; isReady?: boolean;
    onDone: (form: FormData) => Promise<unknown>; onClose: () => void; children?: ComponentChildren;
}) {
    const { problem, busy, run } = useAction();
    const [typed, setTyped] = useState('');
    const submit = async (event: SubmitEvent) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget as HTMLFormElement);
        if (await run(() => onDone(form)))
            onClose();
    };

    return <Dialog title={title} onClose={onClose}>
        <form onSubmit={submit}>
            {children}
            {confirm !== undefined && <label class="field"><span>Type <code>{confirm}</code> to confirm</span>
                <input name="confirm" value={typed} autocomplete="off" spellcheck={false} onInput={(event) => setTyped(event.currentTarget.value)} />
            </label>}
            <Problem of={problem} />
            <p class="buttons">
                <button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy || !isReady || (confirm !== undefined && typed !== confirm)}>{action}</button>
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

/** The path to the page: [text, href].. */
export function Crumbs({ of }: { of: [string, string][] }) {
    return <nav class="crumbs" aria-label="Path"><ol>
        {of.map(([text, href], i) => <li key={href}>
            {i === of.length - 1 ? <span aria-current="page"><Name of={text} /></span> : <a href={href}><Name of={text} /></a>}
        </li>)}
    </ol></nav>;
}

export function Facts({ of }: { of: [string, ComponentChildren][] }) {
    return <dl class="facts">
        {of.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '').map(([name, value]) =>
            <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>;
}

/** Pairs that clients have chosen: metadata and tags. */
export const Pairs = ({ of }: { of: Record<string, string> | undefined }) =>
    <Facts of={Object.entries(of ?? {}).map(([name, value]): [string, ComponentChildren] => [visible(name), <Name of={value} />])} />;
