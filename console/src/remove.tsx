// Dialogs that delete much at once: everything that will be deleted is counted first and shown as a number. decision: 917
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes, counted, number } from './format.ts';
import { visible } from './names.tsx';
import { codeOf, inTime, wordsOf } from './server.ts';
import { Form, Problem } from './ui.tsx';

const AT_A_TIME = 8;
const SHOWN_EVERY_MS = 100;
const FAILURES_SHOWN = 5;

/** An item to delete. isFolder: it is deleted after all items before it, which are its contents. */
export interface Item {
    name: string;
    size?: number | undefined;
    modified?: Date | undefined;
    isFolder?: boolean;
}
export interface Count {
    items: number;
    folders: number;
    bytes: number;
    newest?: Date | undefined; // when the item that was changed last was changed
    isWhole: boolean;
}
export type Walk = (signal: AbortSignal) => AsyncIterable<Item>;

/** Counts items as they are listed, at most `limit` of them. */
export function useCount(walk: Walk, limit = Infinity) {
    const [count, setCount] = useState<Count>({ items: 0, folders: 0, bytes: 0, isWhole: false });
    const [problem, setProblem] = useState<unknown>();
    const [turn, setTurn] = useState(0);

    useEffect(() => {
        const stop = new AbortController();
        const now: Count = { items: 0, folders: 0, bytes: 0, isWhole: false };
        const work = async () => {
            let shownAt = performance.now();
            const listed = walk(stop.signal)[Symbol.asyncIterator]();
            for (let next = await inTime(listed.next()); !next.done && now.items < limit; next = await inTime(listed.next())) {
                if (stop.signal.aborted)
                    return;
                if (next.value.isFolder)
                    now.folders++;
                else
                    now.items++;
                now.bytes += next.value.size ?? 0;
                if (next.value.modified && !(now.newest && now.newest >= next.value.modified))
                    now.newest = next.value.modified;
                if (performance.now() - shownAt > SHOWN_EVERY_MS) {
                    setCount({ ...now });
                    shownAt = performance.now();
                }
            }
            setCount({ ...now, isWhole: true });
        };

        setProblem(undefined);
        work().catch((error: unknown) => stop.signal.aborted || setProblem(error));
        return () => stop.abort();
    }, [turn]);
    return { count, problem, retry: () => setTurn((n) => n + 1) };
}

/** "1,234 blobs in 3 folders, 5.2 GiB". limit: from which on the count says "at least". */
export function countWords({ items, folders, bytes: size, isWhole }: Count, one: string, limit = Infinity): string {
    const all = `${items >= limit ? 'at least ' : ''}${counted(items, one, one.endsWith('y') ? `${one.slice(0, -1)}ies` : `${one}s`)}` +
        `${folders > 0 ? ` and ${counted(folders, 'folder')}` : ''}${size > 0 ? `, ${bytes(size)}` : ''}`;

    return isWhole ? all : `Counting: ${all}…`;
}

/** Deletes everything that the walk lists; one that fails does not stop the others. Returns the failures. */
async function removeAll(walk: Walk, remove: (item: Item) => Promise<unknown>, signal: AbortSignal, onDone: (count: number) => void) {
    const going = new Set<Promise<void>>();
    const failures: { name: string; error: unknown }[] = [];
    let done = 0;

    for await (const item of walk(signal)) {
        if (signal.aborted)
            break;
        if (item.isFolder)
            await Promise.all(going);
        else if (going.size >= AT_A_TIME)
            await Promise.race(going);
        const work: Promise<void> = remove(item).then(() => onDone(++done), (error: unknown) => {
            failures.push({ name: item.name, error });
        }).finally(() => going.delete(work));
        going.add(work);
        if (item.isFolder)
            await work;
    }
    await Promise.all(going);
    return failures;
}

function failuresError(failures: { name: string; error: unknown }[], done: number): Error {
    const shown = failures.slice(0, FAILURES_SHOWN).map(({ name, error }) => {
        const isChanged = codeOf(error) === 'ConditionNotMet';
        return `${visible(name)} (${isChanged ? 'it was changed after the count' : wordsOf(error)})`;
    });

    return new Error(`${number(done)} deleted, ${number(failures.length)} not deleted: ${shown.join(', ')}${failures.length > FAILURES_SHOWN ? ', …' : ''}`);
}

/** Counts what was marked, asks, and deletes it while it shows the progress. remove: deletes an item unless it was changed
 *  after `newest`, the time of the last change that the count has seen. parts: the items that are deleted with others in them. */
export function RemoveMarked({ title, one, walk, parts, remove, onClose, onDone, children }: {
    title: ComponentChildren; one: string; walk: Walk; parts?: Walk; remove: (item: Item, newest: Date | undefined) => Promise<unknown>; onClose: () => void; onDone: () => void; children?: ComponentChildren;
}) {
    const { count, problem, retry } = useCount(walk);
    const [done, setDone] = useState<number>();
    const stop = useRef(new AbortController());
    const all = count.items + count.folders;

    useEffect(() => () => stop.current.abort(), []);
    return <Form title={title} action={count.isWhole ? `Delete ${number(all)}` : 'Delete'} danger isReady={count.isWhole && all > 0} onClose={onClose} onDone={async () => {
        let last = 0;
        setDone(0);
        const failures = await removeAll(parts ?? walk, (item) => remove(item, count.newest), stop.current.signal, (number) => {
            last = number;
            setDone(number);
        });
        onDone();
        if (failures.length > 0)
            throw failuresError(failures, last);
    }}>
        <p role="status" class="amount">{countWords(count, one)}</p>
        <Problem of={problem} retry={retry} />
        {children}
        {done !== undefined && !parts && <p>{number(done)} of {number(all)} deleted <progress aria-label="Deleted" max={Math.max(1, all)} value={done} /></p>}
    </Form>;
}

const COUNT_MAX = 100000;

/** Deletes a container, queue, table or share once its name was typed; says how much is in it. */
export function RemoveNamed({ kind, name, one, walk, remove, onClose, onDone, children }: {
    kind: string; name: string; one: string; walk: Walk; remove: () => Promise<unknown>; onClose: () => void; onDone: () => void; children?: ComponentChildren;
}) {
    const { count, problem, retry } = useCount(walk, COUNT_MAX);

    return <Form title={`Delete the ${kind} ${name}?`} action="Delete" danger confirm={name} isReady={count.isWhole || problem !== undefined} onClose={onClose} onDone={async () => {
        await remove();
        onDone();
    }}>
        <p role="status" class="amount">{count.isWhole && count.items + count.folders === 0 ? `The ${kind} is empty.` : countWords(count, one, COUNT_MAX)}</p>
        <Problem of={problem} retry={retry} />
        {children}
    </Form>;
}
