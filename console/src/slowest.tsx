// The slowest requests of the last hour, for an operator, since they contain names of all accounts.
import { useEffect } from 'preact/hooks';
import { duration, time } from './format.ts';
import { ask } from './server.ts';
import { Name } from './names.tsx';
import type { Column } from './order.ts';
import { Table } from './table.tsx';
import { Loading, useLoad } from './ui.tsx';

interface SlowRequest {
    ended: string;
    microseconds: number;
    operation: string;
    status: number;
    code: string;
    path: string;
    request: string;
}

const POLL_MS = 10000;
const COLUMNS: Column<SlowRequest>[] = [
    { title: 'Duration', kind: 'number', by: ({ microseconds }) => microseconds, cell: ({ microseconds }) => duration(microseconds) },
    { title: 'Operation', by: ({ operation }) => operation, cell: ({ operation }) => operation },
    { title: 'Response', by: ({ status, code }) => `${status} ${code}`, cell: ({ status, code }) => `${status} ${code}` },
    { title: 'Path', kind: 'name', by: ({ path }) => path, cell: ({ path }) => <Name of={path} /> },
    { title: 'Ended', kind: 'time', by: ({ ended }) => ended, cell: ({ ended }) => time(new Date(ended)) },
];

export function Slowest() {
    const list = useLoad(() => ask<{ requests: SlowRequest[] }>('admin/slowest', {}, { isTimed: true }), []);

    useEffect(() => {
        const timer = setInterval(list.reload, POLL_MS);
        return () => clearInterval(timer);
    }, []);
    return <>
        <h2>Slowest requests of the last hour</h2>
        <Loading of={list} />
        {list.value && <Table label="Slowest requests" columns={COLUMNS} of={list.value.requests} keyOf={({ request }) => request} empty="There were no requests." />}
    </>;
}
