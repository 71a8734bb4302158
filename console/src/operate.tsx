// The server, for its operator: its state, its configuration, and maintenance while it runs.
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { bytes, time } from './format.ts';
import { Backup, LogLevel, Scrub } from './maintenance.tsx';
import { hrefOf } from './route.ts';
import { ask } from './server.ts';
import type { Column } from './order.ts';
import { Table } from './table.tsx';
import { Facts, Loading, useLoad } from './ui.tsx';

interface Status {
    pid: number;
    upSince: string;
    logLevel: string;
    listeners: { name: string; host: string; port: number; tls: boolean }[];
    cells?: { cell: number; owner: string }[];
    store: { location?: string; state: string; contentBytes?: number; recordBytes?: number };
}

interface Setting {
    name: string;
    value: string;
    setBy: string;
}

const SETTINGS: Column<Setting>[] = [
    { title: 'Option', kind: 'name', by: ({ name }) => name, cell: ({ name }) => name },
    { title: 'Value', cell: ({ value }) => value },
    { title: 'Set by', by: ({ setBy }) => setBy, cell: ({ setBy }) => setBy },
];

function Configuration() {
    const loaded = useLoad(async () => (await ask<{ options: Setting[] }>('admin/config')).options, []);
    const [isAll, setIsAll] = useState(false);

    return <>
        <h2>Configuration</h2>
        <p><label class="check"><input type="checkbox" name="defaults" checked={isAll} onChange={(event) => setIsAll(event.currentTarget.checked)} /> Show defaults</label></p>
        <Loading of={loaded} />
        {loaded.value && <Table label="Configuration" columns={SETTINGS} of={loaded.value.filter(({ setBy }) => isAll || setBy !== 'default')} keyOf={({ name }) => name}
            empty="All options have their defaults." />}
        <p class="empty">Options take effect when the server starts. <code>lagra config check</code> shows the effect of a change before a restart.</p>
    </>;
}

type Listener = Status['listeners'][0];
const LISTENERS: Column<Listener>[] = [
    { title: 'Service', by: ({ name }) => name, cell: ({ name }) => name },
    { title: 'Address', by: ({ host, port }) => `${host}:${port}`, cell: ({ host, port }) => `${host}:${port}` },
    { title: 'TLS', by: ({ tls }) => (tls ? 'yes' : 'no'), cell: ({ tls }) => (tls ? 'yes' : 'no') },
];

type Cell = NonNullable<Status['cells']>[0];
const CELLS: Column<Cell>[] = [
    { title: 'Cell', kind: 'number', by: ({ cell }) => cell, cell: ({ cell }) => String(cell) },
    { title: 'Owner', by: ({ owner }) => owner, cell: ({ owner }) => owner },
];

export default function Server({ session }: PageProps) {
    const loaded = useLoad(() => ask<Status>('admin/status'), []);
    const { value, reload } = loaded;

    return <>
        <h1>Server</h1>
        <Loading of={loaded} />
        {value && <>
            <Facts of={[['Up since', time(new Date(value.upSince))], ['Process id', String(value.pid)], ['Data directory', value.store.location],
                ['Store', value.store.state], ['Object data', bytes(value.store.contentBytes)], ['Metadata records', bytes(value.store.recordBytes)]]} />
            <LogLevel level={value.logLevel} onDone={reload} />
            <h2>Listeners</h2>
            <Table label="Listeners" columns={LISTENERS} of={value.listeners} keyOf={({ name }) => name} empty="None." />
            {value.cells && <>
                <h2>Cells of the cluster</h2>
                <Table label="Cells of the cluster" columns={CELLS} of={value.cells} keyOf={({ cell }) => String(cell)} empty="None." />
                <p class="empty">This console shows the containers, usage and requests of the cell that this server owns.</p>
            </>}
            <Configuration />
            <Scrub />
            <Backup />
        </>}
        <h2>Fault injection</h2>
        <p>{session.faults ? <a href={hrefOf('faults')}>Rules that make requests fail, to test clients</a> : <>Off. The server must be started with <code>--testing</code>.</>}</p>
    </>;
}
