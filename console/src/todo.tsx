// The server's list of deferred tasks, for an operator: what is due, what is late, and what has failed and waits.
import { useEffect } from 'preact/hooks';
import { number, time } from './format.ts';
import { ask } from './server.ts';
import { Problem, Table, useLoad } from './ui.tsx';

interface Task {
    due: string;
    what: string;
    kind: number;
    failures: number;
    lateSeconds: number;
}

const LOOK_MS = 10000;

export function Todo() {
    const { value, problem, reload } = useLoad(() => ask<{ tasks: Task[]; isWhole: boolean }>('admin/todo'), []);

    useEffect(() => {
        const timer = setInterval(reload, LOOK_MS);
        return () => clearInterval(timer);
    }, []);
    return <>
        <h2>To do</h2>
        <Problem of={problem} />
        {value && <Table label="To do" head={['Due', 'Late', 'What', 'Failures']} empty="Nothing is to be done later.">
            {value.tasks.map(({ due, what, failures, lateSeconds }, i) => <tr key={`${due}/${i}`}>
                <td>{time(new Date(due))}</td><td class="number">{lateSeconds > 0 ? `${number(lateSeconds)} s` : ''}</td>
                <td>{what}</td><td class="number">{failures > 0 ? number(failures) : ''}</td>
            </tr>)}
        </Table>}
        {value && !value.isWhole && <p class="count">These are the first {number(value.tasks.length)}.</p>}
    </>;
}
