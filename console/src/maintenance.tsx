// Maintenance of a running server: its log level, and scrubs, which verify all stored data. Also the progress of a backup.
import { useEffect } from 'preact/hooks';
import { bytes, number, time } from './format.ts';
import { ask } from './server.ts';
import { Choice, Facts, Loading, Problem, useAction, useLoad } from './ui.tsx';

const LEVELS: [string, string][] = ['debug', 'info', 'warn', 'error'].map((level) => [level, level]);
const POLL_MS = 1000;

export function LogLevel({ level, onDone }: { level: string; onDone: () => void }) {
    const { problem, run } = useAction();

    return <>
        <div class="tools"><Choice label="Log level" name="level" value={level} of={LEVELS} onChange={(wanted) => void run(async () => {
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
    const state = useLoad(() => ask<ScrubState>('admin/scrub-state', {}, { isTimed: true }), []);
    const { problem, busy, run } = useAction();
    const { value } = state;

    useEffect(() => {
        if (!value?.running)
            return undefined;
        const timer = setTimeout(state.reload, POLL_MS);
        return () => clearTimeout(timer);
    }, [value]);
    return <>
        <h2>Scrub</h2>
        <p>A scrub reads all stored data and verifies its checksums.</p>
        <div class="buttons"><button type="button" disabled={busy || value?.running} onClick={() => void run(async () => {
            await ask('admin/scrub');
            state.reload();
        })}>Start a scrub</button></div>
        <Loading of={state} />
        <Problem of={problem} />
        {value?.running && <p>{bytes(value.bytes)} of {bytes(value.bytesTotal)}, {number(value.errors)} errors <progress aria-label="Scrub" max={Math.max(1, value.bytesTotal)} value={value.bytes} /></p>}
        {value && <Facts of={[['Completed scrubs', number(value.ended)], ['Last completed', value.lastEnd && time(new Date(value.lastEnd))], ['Errors found by it', value.ended > 0 ? number(value.lastErrors) : undefined]]} />}
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

/** The progress of a backup. Another process makes it, which can write where the server cannot. */
export function Backup() {
    const state = useLoad(() => ask<BackupState>('admin/backup-state', {}, { isTimed: true }), []);
    const { value } = state;

    useEffect(() => {
        const timer = setTimeout(state.reload, value?.running ? POLL_MS : 5 * POLL_MS);
        return () => clearTimeout(timer);
    }, [value]);
    return <>
        <h2>Backup</h2>
        <Loading of={state} />
        {value?.running && <p>Started {value.began && time(new Date(value.began))}, {number(value.copied)} of {number(value.extents)} data files
            copied <progress aria-label="Backup" max={Math.max(1, value.extents)} value={value.copied} /></p>}
        {value && !value.running && <p><code>lagra backup FOLDER</code> makes a backup while the server is running.</p>}
        {value?.lastEnd && <Facts of={[['Last backup ended', time(new Date(value.lastEnd))], ['Result', value.lastWasWhole ? 'complete' : 'incomplete: it was cancelled, or its disk space was needed']]} />}
    </>;
}
