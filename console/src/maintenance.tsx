// What an operator changes of the server that runs: its log level, and a pass of the scrubber, which reads all that is stored.
import { useEffect } from 'preact/hooks';
import { bytes, number, time } from './format.ts';
import { ask } from './server.ts';
import { Choice, Facts, Problem, useAction, useLoad } from './ui.tsx';

const LEVELS: [string, string][] = ['debug', 'info', 'warn', 'error'].map((level) => [level, level]);
const LOOK_MS = 1000;

export function LogLevel({ level, onDone }: { level: string; onDone: () => void }) {
    const { problem, run } = useAction();

    return <>
        <div class="tools"><Choice label="What is logged" name="level" value={level} of={LEVELS} onChange={(wanted) => void run(async () => {
            await ask('admin/log-level', { level: wanted });
            onDone();
        })} /></div>
        <Problem of={problem} />
    </>;
}

interface ScrubState {
    running: boolean;
    records: number;
    bytes: number;
    bytesTotal: number;
    errors: number;
    lastEnd?: string;
    lastErrors: number;
    ended: number;
}

export function Scrub() {
    const state = useLoad(() => ask<ScrubState>('admin/scrub-state'), []);
    const { problem, busy, run } = useAction();
    const { value } = state;

    useEffect(() => {
        if (!value?.running)
            return undefined;
        const timer = setTimeout(state.reload, LOOK_MS);
        return () => clearTimeout(timer);
    }, [value]);
    return <>
        <h2>Scrub</h2>
        <div class="buttons"><button type="button" disabled={busy || value?.running} onClick={() => void run(async () => {
            await ask('admin/scrub');
            state.reload();
        })}>Read all that is stored</button></div>
        <Problem of={state.problem ?? problem} />
        {value?.running && <p>{bytes(value.bytes)} of {bytes(value.bytesTotal)}, {number(value.errors)} errors <progress aria-label="Scrub" max={Math.max(1, value.bytesTotal)} value={value.bytes} /></p>}
        {value && <Facts of={[['Passes ended', number(value.ended)], ['The last one', value.lastEnd && time(new Date(value.lastEnd))], ['Errors in it', value.ended > 0 ? number(value.lastErrors) : undefined]]} />}
    </>;
}

interface BackupState {
    running: boolean;
    began?: string;
    extents: number;
    copied: number;
    lastEnd?: string;
    lastWasWhole: boolean;
}

/** A backup is another process, which may write where the server may not; here is how far it is. */
export function Backup() {
    const state = useLoad(() => ask<BackupState>('admin/backup-state'), []);
    const { value } = state;

    useEffect(() => {
        const timer = setTimeout(state.reload, value?.running ? LOOK_MS : 5 * LOOK_MS);
        return () => clearTimeout(timer);
    }, [value]);
    return <>
        <h2>Backup</h2>
        <Problem of={state.problem} />
        {value?.running && <p>Since {value.began && time(new Date(value.began))}: {number(value.copied)} of {number(value.extents)} files of contents
            are copied <progress aria-label="Backup" max={Math.max(1, value.extents)} value={value.copied} /></p>}
        {value && !value.running && <p><code>lagra backup FOLDER</code> makes one while the server goes on.</p>}
        {value?.lastEnd && <Facts of={[['The last one ended', time(new Date(value.lastEnd))], ['It is', value.lastWasWhole ? 'whole' : 'not whole: it was given up, or its room was needed']]} />}
    </>;
}
