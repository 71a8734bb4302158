// The server, for its operator: what it is, what it runs with, and what is done to it while it goes on.
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { bytes, time } from './format.ts';
import { Backup, LogLevel, Scrub } from './maintenance.tsx';
import { hrefOf } from './route.ts';
import { ask } from './server.ts';
import { Facts, Problem, Table, useLoad } from './ui.tsx';

interface Status {
    pid: number;
    upSince: string;
    logLevel: string;
    listeners: { name: string; host: string; port: number; tls: boolean }[];
    store: { location?: string; state: string; contentBytes?: number; recordBytes?: number };
}

interface Setting {
    name: string;
    value: string;
    setBy: string;
}

function Configuration() {
    const { value, problem } = useLoad(async () => (await ask<{ options: Setting[] }>('admin/config')).options, []);
    const [isAll, setIsAll] = useState(false);

    return <>
        <h2>Configuration in force</h2>
        <p><label><input type="checkbox" name="defaults" checked={isAll} onChange={(event) => setIsAll(event.currentTarget.checked)} /> Defaults too</label></p>
        <Problem of={problem} />
        {value && <Table label="Configuration" head={['Option', 'Value', 'Set by']} empty="Nothing was set: all is as by default.">
            {value.filter(({ setBy }) => isAll || setBy !== 'default').map(({ name, value: text, setBy }) =>
                <tr key={name}><td class="name">{name}</td><td>{text}</td><td>{setBy}</td></tr>)}
        </Table>}
        <p class="empty">What was set at the start counts until the next one; <code>lagra config check</code> says what that would run with.</p>
    </>;
}

export default function Server({ session }: PageProps) {
    const { value, problem, reload } = useLoad(() => ask<Status>('admin/status'), []);

    return <>
        <h1>Server</h1>
        <Problem of={problem} />
        {value && <>
            <Facts of={[['Up since', time(new Date(value.upSince))], ['Process', String(value.pid)], ['Data folder', value.store.location],
                ['Store', value.store.state], ['Contents', bytes(value.store.contentBytes)], ['Records', bytes(value.store.recordBytes)]]} />
            <LogLevel level={value.logLevel} onDone={reload} />
            <h2>Listeners</h2>
            <Table label="Listeners" head={['Service', 'Address', 'TLS']} empty="None.">
                {value.listeners.map(({ name, host, port, tls }) => <tr key={name}><td>{name}</td><td>{host}:{port}</td><td>{tls ? 'yes' : 'no'}</td></tr>)}
            </Table>
            <Configuration />
            <Scrub />
            <Backup />
        </>}
        <h2>Rules of faults</h2>
        <p>{session.faults ? <a href={hrefOf('faults')}>Which requests fail, for tests of clients</a> : <>None: they take <code>--testing</code>.</>}</p>
    </>;
}
