// Accounts, for an operator. Those in the store can be created, disabled, and given new keys, which are shown once, and limits.
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { bytes, number, time } from './format.ts';
import type { Column } from './order.ts';
import { ask } from './server.ts';
import { Table } from './table.tsx';
import { Dialog, Facts, Field, Form, Loading, Problem, useAction, useLoad } from './ui.tsx';

interface Account {
    name: string;
    state: 'enabled' | 'disabled';
    source: 'store' | 'configuration' | 'development';
    keys: number;
    hierarchical: boolean;
    created?: string;
    changed?: string;
    requests?: number;
    bandwidth?: number;
    capacity?: number;
    containers?: number;
    publicAccess?: boolean;
    sharedKey?: boolean;
    lastAccessTracking?: boolean;
    versioning?: boolean;
    blobRetentionDays?: number;
    permanentDelete?: boolean;
    containerRetentionDays?: number;
    shareRetentionDays?: number;
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

const USAGE: Column<Usage>[] = [
    { title: 'Account', kind: 'name', by: ({ account }) => account, cell: ({ account }) => account },
    { title: 'Service', by: ({ service }) => service, cell: ({ service }) => service },
    { title: 'Containers', kind: 'number', by: ({ containers }) => containers, cell: ({ containers }) => number(containers) },
    { title: 'Objects', kind: 'number', by: ({ objects }) => objects, cell: ({ objects }) => number(objects) },
    { title: 'Size', kind: 'number', by: ({ bytes: size }) => size, cell: ({ bytes: size }) => bytes(size) },
];

/** The storage that accounts use. It is counted on request, which reads all records. */
function Usages() {
    const [usage, setUsage] = useState<Usage[]>();
    const { problem, busy, run } = useAction();

    return <>
        <h2>Storage used</h2>
        <p class="buttons"><button type="button" disabled={busy} onClick={() => void run(async () => setUsage((await ask<{ accounts: Usage[] }>('admin/usage')).accounts))}>Calculate</button></p>
        <Problem of={problem} />
        {usage && <Table label="Storage used by accounts" columns={USAGE} of={usage} keyOf={({ account, service }) => `${account}/${service}`} empty="No account stores anything." />}
    </>;
}

const limitsOf = ({ requests, bandwidth, capacity, containers }: Account) => [requests && `${requests} requests/s`, bandwidth && `${bandwidth} MiB/s`,
    capacity && `${capacity} MiB`, containers && `${containers} containers`].filter(Boolean).join(', ') || 'none';

const LIMITS: [keyof Account & string, string][] = [['requests', 'Requests per second'], ['bandwidth', 'MiB per second'], ['capacity', 'MiB stored'], ['containers', 'Containers']];

/** The limits that the form changes: an empty field removes a limit; an unchanged one is left out, as the server's default may apply. */
function limitsWanted(form: FormData, account: Account): Record<string, string> {
    return Object.fromEntries(LIMITS.map(([name]): [string, string] => [name, String(form.get(name)).trim()])
        .filter(([name, text]) => text !== String(account[name as keyof Account] || '')).map(([name, text]) => [name, text || 'none']));
}

type Setting = 'publicAccess' | 'sharedKey' | 'lastAccessTracking' | 'versioning' | 'blobRetentionDays' | 'permanentDelete' | 'containerRetentionDays' | 'shareRetentionDays';

/** Settings that are on or off, and retentions in days. An account has those that account-show returns. */
const SWITCHES: [Setting, string][] = [['versioning', 'Versions of blobs'], ['permanentDelete', 'Permanent deletion of retained blobs'],
    ['publicAccess', 'Containers may allow public access'], ['sharedKey', 'Requests signed with an account key'],
    ['lastAccessTracking', 'Last access time of blobs']];
const RETENTIONS: [Setting, string][] = [['blobRetentionDays', 'Days that deleted blobs are retained'],
    ['containerRetentionDays', 'Days that deleted containers are retained'], ['shareRetentionDays', 'Days that deleted shares are retained']];

/** The changed settings as account-set takes them: "versioning=on blobRetentionDays=7". */
function settingsWanted(form: FormData, account: Account): string {
    const switches = SWITCHES.filter(([name]) => account[name] !== undefined && Boolean(form.get(name)) !== account[name])
        .map(([name]) => `${name}=${form.get(name) ? 'on' : 'off'}`);
    const days = RETENTIONS.filter(([name]) => account[name] !== undefined && Number(form.get(name)) !== account[name])
        .map(([name]) => `${name}=${Number(form.get(name)) || 'off'}`);
    return [...switches, ...days].join(' ');
}

const COLUMNS: Column<Account>[] = [
    { title: 'Name', kind: 'name', by: ({ name }) => name, cell: ({ name }) => name },
    { title: 'State', by: ({ state }) => state, cell: ({ state }) => state },
    { title: 'Namespace', by: ({ hierarchical }) => String(hierarchical), cell: ({ hierarchical }) => hierarchical ? 'hierarchical' : 'flat' },
    { title: 'Defined in', by: ({ source }) => source, cell: ({ source }) => source },
    { title: 'Keys', kind: 'number', by: ({ keys }) => keys, cell: ({ keys }) => keys },
    { title: 'Changed', kind: 'time', by: ({ changed }) => changed, cell: ({ changed }) => changed && time(new Date(changed)) },
    { title: 'Limits', cell: limitsOf },
];

export default function Accounts({ refresh }: PageProps) {
    const list = useLoad(async () => (await ask<{ accounts: Account[] }>('admin/account-list')).accounts, []);
    const [dialog, setDialog] = useState<{ rotate?: Account; key?: string; limit?: Account; settings?: Account }>();
    const [made, setMade] = useState<Account>();
    const { problem, run } = useAction();
    const changed = () => {
        list.reload();
        refresh();
    };
    const change = (args: Record<string, string>) => run(async () => {
        await ask('admin/account-set', args);
        changed();
    });
    const actions: Column<Account> = { title: 'Actions', kind: 'actions', cell: (account) => <>
        <button type="button" class="plain" aria-label={`Settings of ${account.name}`} onClick={() => void run(async () => setDialog({ settings: await ask<Account>('admin/account-show', { name: account.name }) }))}>Settings…</button>
        {account.source === 'store' && ['1', '2'].map((key) => <button key={key} type="button" class="plain" aria-label={`New key ${key} of ${account.name}`} onClick={() => setDialog({ rotate: account, key })}>New key {key}…</button>)}
        {account.source === 'store' && <button type="button" class="plain" aria-label={`Limits of ${account.name}`} onClick={() => setDialog({ limit: account })}>Limits…</button>}
        {account.source === 'store' && <button type="button" class="plain" aria-label={`${account.state === 'enabled' ? 'Disable' : 'Enable'} ${account.name}`}
            onClick={() => void change({ name: account.name, state: account.state === 'enabled' ? 'disabled' : 'enabled' })}>{account.state === 'enabled' ? 'Disable' : 'Enable'}</button>}
    </> };

    return <>
        <h1>Accounts</h1>
        <div class="tools">
            <button type="button" class="primary" onClick={() => setDialog({})}>New account</button>
            <button type="button" onClick={changed}>Reload</button>
        </div>
        <Loading of={list} />
        <Problem of={problem} />
        {list.value && <Table label="Accounts" columns={[...COLUMNS, actions]} of={list.value} keyOf={({ name }) => name} empty="There are no accounts." />}
        <p class="empty">Accounts that are defined in the configuration, by a file, the environment or a credential, are changed there.</p>
        <Usages />
        {dialog?.limit && <Form title={`Limits of ${dialog.limit.name}`} action="Set" onClose={() => setDialog(undefined)} onDone={async (form) => {
            const wanted = limitsWanted(form, dialog.limit!);
            if (Object.keys(wanted).length > 0)
                await ask('admin/account-set', { name: dialog.limit!.name, ...wanted });
            changed();
        }}>
            {LIMITS.map(([name, label]) => <Field key={name} label={label} name={name} type="number" step="1" value={String(dialog.limit![name] || '')} />)}
            <p class="empty">Leave a field empty for no limit. Limits apply from the next request.</p>
        </Form>}
        {dialog?.settings && <Form title={`Settings of ${dialog.settings.name}`} action="Set" onClose={() => setDialog(undefined)} onDone={async (form) => {
            const settings = settingsWanted(form, dialog.settings!);
            if (settings)
                await ask('admin/account-set', { name: dialog.settings!.name, settings });
            changed();
        }}>
            {RETENTIONS.filter(([name]) => dialog.settings![name] !== undefined)
                .map(([name, label]) => <Field key={name} label={label} name={name} type="number" step="1" value={String(dialog.settings![name] || '')} />)}
            {SWITCHES.filter(([name]) => dialog.settings![name] !== undefined)
                .map(([name, label]) => <label key={name} class="check"><input type="checkbox" name={name} value="on" defaultChecked={Boolean(dialog.settings![name])} />{label}</label>)}
            <p class="empty">Leave a field empty to delete at once. Settings apply from the next request.</p>
        </Form>}
        {dialog && !dialog.rotate && !dialog.limit && !dialog.settings && <Form title="New account" action="Create" onClose={() => setDialog(undefined)} onDone={async (form) => {
            setMade(await ask<Account>('admin/account-add', { name: String(form.get('name')), hierarchical: form.get('hierarchical') ? 'yes' : 'no' }));
            changed();
        }}>
            <Field label="Name" name="name" required hint="3 to 24 lower-case letters and digits." />
            <label class="check"><input type="checkbox" name="hierarchical" value="yes" />Hierarchical namespace (Azure Data Lake Storage); cannot be changed later</label>
        </Form>}
        {dialog?.rotate && <Form title={`Replace key ${dialog.key} of ${dialog.rotate.name}?`} action="Replace" danger onClose={() => setDialog(undefined)} onDone={async () => {
            setMade(await ask<Account>('admin/account-rotate-key', { name: dialog.rotate!.name, key: dialog.key! }));
            list.reload();
        }}><p>Clients that use the old key are refused from now on. The other key remains valid.</p></Form>}
        {made && !dialog && <Dialog title={`Keys of ${made.name}`} onClose={() => setMade(undefined)}>
            <p>Copy the keys now. They are not shown again.</p>
            <Facts of={[['Key 1', made.key1], ['Key 2', made.key2]]} />
            <p class="buttons"><button type="button" class="primary" onClick={() => setMade(undefined)}>Done</button></p>
        </Dialog>}
    </>;
}
