// What the server did in the last hour, as it is sampled there, and what it has still to do.
import { useEffect, useState } from 'preact/hooks';
import { bytes, duration, number } from './format.ts';
import { Plot } from './plot.tsx';
import type { PageProps } from './app.tsx';
import { ask } from './server.ts';
import { Slowest } from './slowest.tsx';
import { Todo } from './todo.tsx';
import { Facts, Problem, Table } from './ui.tsx';

interface Figures {
    everySeconds: number;
    next: number;
    figures: string[];
    samples: number[][];
    codes: { code: string; count: number }[];
}

const KEPT = 360;
const SERVICES = ['blob', 'queue', 'table', 'file'];

/** The figures of the last hour: once all, then what is new. */
function useFigures() {
    const [figures, setFigures] = useState<Figures>();
    const [problem, setProblem] = useState<unknown>();

    useEffect(() => {
        let timer: number;
        let known: Figures | undefined;
        let isOver = false;
        const look = async () => {
            try {
                const news = await ask<Figures>('figures', known ? { since: String(known.next) } : {});
                // A server that was started again counts from the beginning.
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
    }, []);
    return { figures, problem };
}

export default function Overview({ session }: PageProps) {
    const { figures, problem } = useFigures();
    if (!figures)
        return <><h1>Overview</h1><Problem of={problem} />{!problem && <p>Loading…</p>}</>;

    const times = figures.samples.map(([at]) => at ?? 0);
    const column = (name: string) => {
        const i = figures.figures.indexOf(name) + 1;
        return figures.samples.map((sample) => sample[i] ?? 0);
    };
    const rate = (name: string) => column(name).map((count) => count / figures.everySeconds);
    const line = (name: string, values = rate(name)) => ({ name, values });
    const each = (unit: string) => (value: number) => `${number(value)}${unit}`;
    const errors = figures.codes.filter(({ code }) => code !== 'Success').sort((a, b) => b.count - a.count);
    const newest = (name: string) => column(name).at(-1) ?? 0;

    return <>
        <h1>Overview</h1>
        <Problem of={problem} />
        {figures.samples.length === 0 && <p class="empty">The first figures come within twenty seconds of the server's start.</p>}
        <h2>The last hour</h2>
        <div class="plots">
            <Plot title="Requests" times={times} lines={SERVICES.map((name) => line(name))} show={each('/s')} />
            <Plot title="Time to first byte" times={times} lines={[line('median', column('medianMicroseconds')), line('99 %', column('p99Microseconds'))]} show={duration} />
            <Plot title="Bytes" times={times} lines={[line('received'), line('sent')]} show={(value) => `${bytes(value)}/s`} />
            <Plot title="Errors answered" times={times} lines={[line('refused')]} show={each('/s')} />
            <Plot title="Syncs of the log" times={times} lines={[line('syncs')]} show={each('/s')} />
            <Plot title="Connections" times={times} lines={[line('connections', column('connections'))]} show={each('')} />
            <Plot title="Disk free" times={times} lines={[line('diskFree', column('diskFree'))]} show={bytes} />
            <Plot title="Deferred tasks left" times={times} lines={[line('tasks', column('tasks'))]} show={each('')} />
        </div>
        <h2>Now</h2>
        <Facts of={[['Connections', number(newest('connections'))], ['Disk free', bytes(newest('diskFree'))], ['Deferred tasks left', number(newest('tasks'))],
            ['Requests since the start', number(figures.codes.reduce((sum, { count }) => sum + count, 0))]]} />
        <h2>Errors by code, since the start</h2>
        <Table label="Errors by code" head={['Code', 'Answers']} empty="No error has been answered.">
            {errors.map(({ code, count }) => <tr key={code}><td>{code}</td><td class="number">{number(count)}</td></tr>)}
        </Table>
        {session.operator && <Slowest />}
        {session.operator && <Todo />}
    </>;
}
