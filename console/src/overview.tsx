// What the server did in the last hour, how much it stores, and what an operator looks for: slow requests and background tasks.
import { useEffect, useState } from 'preact/hooks';
import { bytes, duration, number } from './format.ts';
import type { Column } from './order.ts';
import { type Line, Plot } from './plot.tsx';
import type { PageProps } from './app.tsx';
import { ask } from './server.ts';
import { Slowest } from './slowest.tsx';
import { Table } from './table.tsx';
import { Todo } from './todo.tsx';
import { Facts, Problem } from './ui.tsx';

interface Figures {
    everySeconds: number;
    next: number;
    figures: string[];
    samples: number[][];
    codes: { code: string; count: number }[];
}
type StorageSample = [at: number, stored: number, free: number];

const KEPT = 360;
const SERVICES = ['blob', 'queue', 'table', 'file', 'dfs'];
const HOUR: [number, number] = [120, 3600];
const WEEK: [number, number] = [120, 7 * 86400];
const STORAGE_POLL_MS = 60000;
const STORAGE_GAP_S = 2400; /* samples are 15 minutes apart */

/** The samples of the last hour: all at first, then new ones. retry: at once. */
function useFigures() {
    const [figures, setFigures] = useState<Figures>();
    const [problem, setProblem] = useState<unknown>();
    const [turn, setTurn] = useState(0);

    useEffect(() => {
        let timer: number;
        let known: Figures | undefined;
        let isOver = false;
        const look = async () => {
            try {
                const news = await ask<Figures>('figures', known ? { since: String(known.next) } : {});
                // A restarted server counts from zero.
                const kept = known && news.next >= known.next ? known.samples : [];
                known = { ...news, samples: [...kept, ...news.samples].slice(-KEPT) };
                if (!isOver) {
                    setFigures(known);
                    setProblem(undefined);
                }
            } catch (error) {
                if (!isOver)
                    setProblem(error);
            }
            if (!isOver)
                timer = setTimeout(look, known ? 5000 : 2000);
        };
        void look();
        return () => {
            isOver = true;
            clearTimeout(timer);
        };
    }, [turn]);
    return { figures, problem, retry: () => setTurn((n) => n + 1) };
}

/** Samples of the storage in use over the last week, one every 15 minutes. */
function useStorage(): StorageSample[] {
    const [storage, setStorage] = useState<StorageSample[]>([]);

    useEffect(() => {
        // Without them the chart has the samples of the last hour; why they are missing is shown there.
        const poll = () => void ask<{ storage: StorageSample[] }>('storage').then((answer) => setStorage(answer.storage), () => {});
        const timer = setInterval(poll, STORAGE_POLL_MS);
        poll();
        return () => clearInterval(timer);
    }, []);
    return storage;
}

const each = (unit: string) => (value: number) => `${number(value)}${unit}`;

/** The storage in use: a sample every 15 minutes before the last hour, every ten seconds within it. */
function Storage({ times, stored, free }: { times: number[]; stored: number[]; free: number[] }) {
    const before = useStorage().filter(([at]) => times.length === 0 || at < times[0]!);
    const all = [...before.map(([at]) => at), ...times];
    const line = (name: string, i: 1 | 2, values: number[]): Line[] => [{ name, values: [...before.map((sample) => sample[i]), ...values] }];

    if (![...stored, ...free].some((value) => value > 0))
        return null; // in memory only
    return <>
        <h2>Storage, up to a week</h2>
        <div class="plots">
            <Plot title="Stored data" times={all} lines={line('stored', 1, stored)} unit="bytes" show={bytes} span={WEEK} gap={STORAGE_GAP_S} />
            <Plot title="Free disk space" times={all} lines={line('free', 2, free)} unit="bytes" show={bytes} span={WEEK} gap={STORAGE_GAP_S} />
        </div>
    </>;
}

const CODES: Column<{ code: string; count: number }>[] = [
    { title: 'Error code', kind: 'name', by: ({ code }) => code, cell: ({ code }) => code },
    { title: 'Responses', kind: 'number', by: ({ count }) => count, cell: ({ count }) => number(count) },
];

export default function Overview({ session }: PageProps) {
    const { figures, problem, retry } = useFigures();
    if (!figures)
        return <><h1>Overview</h1><Problem of={problem} retry={retry} />{!problem && <p role="status">Loading…</p>}</>;

    const times = figures.samples.map(([at]) => at ?? 0);
    const column = (name: string) => {
        const i = figures.figures.indexOf(name) + 1;
        return figures.samples.map((sample) => sample[i] ?? 0);
    };
    const rate = (name: string) => column(name).map((count) => count / figures.everySeconds);
    const line = (name: string, values: number[]): Line => ({ name, values });
    const plot = { times, span: HOUR, gap: 3 * figures.everySeconds };
    const errors = figures.codes.filter(({ code }) => code !== 'Success').sort((a, b) => b.count - a.count);
    const newest = (name: string) => column(name).at(-1) ?? 0;

    return <>
        <h1>Overview</h1>
        <Problem of={problem} retry={retry} />
        {figures.samples.length === 0 && <p class="empty">The first figures appear within twenty seconds of the server's start.</p>}
        <Facts of={[['Stored data', newest('stored') > 0 && bytes(newest('stored'))], ['Free disk space', newest('diskFree') > 0 && bytes(newest('diskFree'))],
            ['Open connections', number(newest('connections'))], ['Pending background tasks', number(newest('tasks'))],
            ['Requests since the start', number(figures.codes.reduce((sum, { count }) => sum + count, 0))]]} />
        <h2>Last hour</h2>
        <div class="plots">
            <Plot {...plot} title="Requests" lines={SERVICES.map((name) => line(name, rate(name)))} unit="rate" show={each('/s')} />
            <Plot {...plot} title="Latency (time to first byte)" lines={[line('median', column('medianMicroseconds')), line('99th percentile', column('p99Microseconds'))]} unit="microseconds" show={duration} />
            <Plot {...plot} title="Throughput" lines={[line('received', rate('received')), line('sent', rate('sent'))]} unit="bytes" show={(value) => `${bytes(value)}/s`} />
            <Plot {...plot} title="Error responses" lines={[line('errors', rate('refused'))]} unit="rate" show={each('/s')} />
            <Plot {...plot} title="Log syncs (fsync)" lines={[line('syncs', rate('syncs'))]} unit="rate" show={each('/s')} />
            <Plot {...plot} title="Open connections" lines={[line('connections', column('connections'))]} unit="count" show={each('')} />
            <Plot {...plot} title="Pending background tasks" lines={[line('tasks', column('tasks'))]} unit="count" show={each('')} />
        </div>
        <Storage times={times} stored={column('stored')} free={column('diskFree')} />
        <h2>Error responses since the start</h2>
        <Table label="Error responses" columns={CODES} of={errors} keyOf={({ code }) => code} empty="There were no errors." />
        {session.operator && <Slowest />}
        {session.operator && <Todo />}
    </>;
}
