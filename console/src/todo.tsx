// The server's background tasks, for an operator: when they are due, late, and how often they have failed.
import { useEffect } from 'preact/hooks';
import { number, time } from './format.ts';
import { ask } from './server.ts';
import type { Column } from './order.ts';
import { Table } from './table.tsx';
import { Loading, useLoad } from './ui.tsx';

interface Task {
    due: string;
    what: string;
    kind: number;
    failures: number;
    lateSeconds: number;
}

const POLL_MS = 10000;
const COLUMNS: Column<Task>[] = [
    { title: 'Due', kind: 'time', by: ({ due }) => due, cell: ({ due }) => time(new Date(due)) },
    { title: 'Late', kind: 'number', by: ({ lateSeconds }) => lateSeconds, cell: ({ lateSeconds }) => (lateSeconds > 0 ? `${number(lateSeconds)} s` : '') },
    { title: 'Task', by: ({ what }) => what, cell: ({ what }) => what },
    { title: 'Failures', kind: 'number', by: ({ failures }) => failures, cell: ({ failures }) => (failures > 0 ? number(failures) : '') },
];

export function Todo() {
    const list = useLoad(() => ask<{ tasks: Task[]; isWhole: boolean }>('admin/todo', {}, { isTimed: true }), []);
    const { value } = list;

    useEffect(() => {
        const timer = setInterval(list.reload, POLL_MS);
        return () => clearInterval(timer);
    }, []);
    return <>
        <h2>Background tasks</h2>
        <Loading of={list} />
        {value && <Table label="Background tasks" columns={COLUMNS} of={value.tasks} keyOf={(task) => String(value.tasks.indexOf(task))}
            empty="There are no pending tasks." />}
        {value && !value.isWhole && <p class="count">Only the first {number(value.tasks.length)} are listed.</p>}
    </>;
}
