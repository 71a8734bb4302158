// Accounts, for an operator: those of the store can be made, disabled, and given other keys, which are shown once.
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { bytes, number, time } from './format.ts';
import { ask } from './server.ts';
import { Dialog, Facts, Field, Form, Problem, Table, useAction, useLoad } from './ui.tsx';

interface Account {
    name: string;
    state: 'enabled' | 'disabled';
    source: 'store' | 'configuration' | 'development';
    keys: number;
    created?: string;
    changed?: string;
    requests?: number;
    bandwidth?: number;
    capacity?: number;
    containers?: number;
    key1?: string;
    key2?: string;
}

interface Usage {
    account: string;
    service: string;
    containers: number;
    objects: number;
    bytes: number;
}

/** What accounts keep: it is counted when it is asked for, which reads all records. */
function Usages() {
    const [usage, setUsage] = useState<Usage[]>();
    const { problem, busy, run } = useAction();

    return <>
        <h2>What they keep</h2>
        <p class="buttons"><button type="button" disabled={busy} onClick={() => void run(async () => setUsage((await ask<{ accounts: Usage[] }>('admin/usage')).accounts))}>Count it now</button></p>
        <Problem of={problem} />
        {usage && <Table label="What accounts keep" head={['Account', 'Service', 'Containers', 'Objects', 'Size']} empty="They keep nothing.">
            {usage.map(({ account, service, containers, objects, bytes: size }) => <tr key={`${account}/${service}`}>
                <td class="name">{account}</td><td>{service}</td><td class="number">{number(containers)}</td><td class="number">{number(objects)}</td><td class="number">{bytes(size)}</td>
            </tr>)}
        </Table>}
    </>;
}

const limitsOf = ({ requests, bandwidth, capacity, containers }: Account) => [requests && `${requests} requests/s`, bandwidth && `${bandwidth} MiB/s`,
    capacity && `${capacity} MiB`, containers && `${containers} containers`].filter(Boolean).join(', ') || 'none';

const LIMITS: [keyof Account & string, string][] = [['requests', 'Requests a second'], ['bandwidth', 'MiB a second'], ['capacity', 'MiB kept'], ['containers', 'Containers']];

/** One that is emptied is none; one that is left alone stays what it is, which may be the server's own. */
function limitsWanted(form: FormData, account: Account): Record<string, string> {
    return Object.fromEntries(LIMITS.map(([name]): [string, string] => [name, String(form.get(name)).trim()])
        .filter(([name, text]) => text !== String(account[name as keyof Account] || '')).map(([name, text]) => [name, text || 'none']));
}

export default function Accounts(_: PageProps) {
    const list = useLoad(async () => (await ask<{ accounts: Account[] }>('admin/account-list')).accounts, []);
    const [dialog, setDialog] = useState<{ rotate?: Account; key?: string; limit?: Account }>();
    const [made, setMade] = useState<Account>();
    const { problem, run } = useAction();
    const change = (args: Record<string, string>) => run(async () => {
        await ask('admin/account-set', args);
        list.reload();
    });

    return <>
        <h1>Accounts</h1>
        <div class="tools">
            <button type="button" class="primary" onClick={() => setDialog({})}>New account</button>
            <button type="button" onClick={list.reload}>Reload</button>
        </div>
        <Problem of={list.problem ?? problem} />
        {list.value && <Table label="Accounts" head={['Name', 'State', 'Kept in', 'Keys', 'Changed', 'Limits', 'Actions']} empty="There are no accounts.">
            {list.value.map((account) => <tr key={account.name}>
                <td class="name">{account.name}</td><td>{account.state}</td><td>{account.source}</td><td class="number">{account.keys}</td>
                <td>{account.changed && time(new Date(account.changed))}</td><td>{limitsOf(account)}</td>
                <td>{account.source === 'store' && <>
                    {['1', '2'].map((key) => <button key={key} type="button" class="plain" aria-label={`New key ${key} of ${account.name}`} onClick={() => setDialog({ rotate: account, key })}>New key {key}</button>)}
                    <button type="button" class="plain" aria-label={`Limits of ${account.name}`} onClick={() => setDialog({ limit: account })}>Limits…</button>
                    <button type="button" class="plain" aria-label={`${account.state === 'enabled' ? 'Disable' : 'Enable'} ${account.name}`}
                        onClick={() => void change({ name: account.name, state: account.state === 'enabled' ? 'disabled' : 'enabled' })}>{account.state === 'enabled' ? 'Disable' : 'Enable'}</button>
                </>}</td>
            </tr>)}
        </Table>}
        <p class="empty">Accounts that a file, the environment or a credential names are changed there. After a new account, reload the page to choose it.</p>
        <Usages />
        {dialog?.limit && <Form title={`Limits of ${dialog.limit.name}`} action="Set" onClose={() => setDialog(undefined)} onDone={async (form) => {
            const wanted = limitsWanted(form, dialog.limit!);
            if (Object.keys(wanted).length > 0)
                await ask('admin/account-set', { name: dialog.limit!.name, ...wanted });
            list.reload();
        }}>
            {LIMITS.map(([name, label]) => <Field key={name} label={label} name={name} type="number" step="1" value={String(dialog.limit![name] || '')} />)}
            <p class="empty">Empty: no limit. They count from the next request on.</p>
        </Form>}
        {dialog && !dialog.rotate && !dialog.limit && <Form title="New account" action="Create" onClose={() => setDialog(undefined)} onDone={async (form) => {
            setMade(await ask<Account>('admin/account-add', { name: String(form.get('name')) }));
            list.reload();
        }}><Field label="Name" name="name" required hint="3 to 24 lower-case letters and digits." /></Form>}
        {dialog?.rotate && <Form title={`Make key ${dialog.key} of ${dialog.rotate.name} anew?`} action="Make it" danger onClose={() => setDialog(undefined)} onDone={async () => {
            setMade(await ask<Account>('admin/account-rotate-key', { name: dialog.rotate!.name, key: dialog.key! }));
            list.reload();
        }}><p>Who uses the old one is refused from then on. The other key goes on.</p></Form>}
        {made && !dialog && <Dialog title={`Keys of ${made.name}`} onClose={() => setMade(undefined)}>
            <p>They are shown this once.</p>
            <Facts of={[['Key 1', made.key1], ['Key 2', made.key2]]} />
            <p class="buttons"><button type="button" class="primary" onClick={() => setMade(undefined)}>I have kept them</button></p>
        </Dialog>}
    </>;
}
