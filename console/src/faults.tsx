// Fault rules of a server that was started with --testing: which requests fail, how and how often. docs/fault-injection.md
import { useEffect, useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { number } from './format.ts';
import type { Column } from './order.ts';
import { Table } from './table.tsx';
import { Choice, Field, Form, Loading, Problem, useAction, useLoad } from './ui.tsx';

interface Rule {
    match?: Record<string, unknown>;
    fault?: Record<string, unknown>;
    when?: Record<string, unknown>;
}
interface Fault {
    name: string;
    matched: number;
    fired: number;
    active: boolean;
    rule: Rule;
}

const POLL_MS = 3000;
const RULE_HINT = 'JSON: {"match": {..}, "fault": {..}, "when": {..}}. Replaces the fields above.';
const SERVICES: [string, string][] = [['', 'any'], ...['blob', 'queue', 'table', 'file'].map((name): [string, string] => [name, name])];
const FAULTS: [string, string, Rule['fault']][] = [
    ['busy', '503 ServerBusy', { error: 'ServerBusy', retryAfterSeconds: 1 }],
    ['many', '429 ServerBusy', { error: 'ServerBusy', status: 429 }],
    ['timeout', '500 OperationTimedOut', { error: 'OperationTimedOut' }],
    ['hidden', '500 OperationTimedOut after the operation was done', { error: 'OperationTimedOut', operationIsDone: true }],
    ['before', 'Connection closed before the response', { cut: 'beforeAnswer' }],
    ['in', 'Connection closed in the response body', { cut: 'inAnswerBody' }],
    ['upload', 'Connection closed in the request body', { cut: 'inRequestBody' }],
    ['md5', 'Wrong MD5', { wrongMd5: true }],
    ['slow', 'Delay of one second', { delayMs: 1000 }],
];

/** Sends a request to the management port itself, like a test does. */
async function askFaults<T>(path: string, method = 'GET', body?: string): Promise<T> {
    const answer = await fetch(`/-/faults${path}`, { method, body: body ?? null, cache: 'no-store' });
    const said = await answer.json() as T & { error?: string };

    if (!answer.ok)
        throw new Error(said.error ?? `The server responded with status ${answer.status}.`);
    return said;
}

/** Returns the rule as JSON: the text of the form, or else the rule of its other fields. */
function ruleOf(form: FormData): string {
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const match = Object.fromEntries(['service', 'operation', 'name'].map((name) => [name, text(`match-${name}`)]).filter(([, value]) => value));

    return text('rule') || JSON.stringify({ match, fault: FAULTS.find(([id]) => id === text('fault'))![2], when: { count: Number(text('count')) } });
}

const wordsOf = (part: Record<string, unknown> | undefined) =>
    Object.entries(part ?? {}).map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`).join(', ');

function NewRule({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
    return <Form title="New rule" action="Add" onClose={onClose} onDone={async (form) => {
        await askFaults(`/${encodeURIComponent(String(form.get('id')).trim())}`, 'PUT', ruleOf(form));
        onDone();
    }}>
        <Field label="Name" name="id" required hint="Letters, digits, dots, dashes. An existing rule of that name is replaced." />
        <Choice label="Service" name="match-service" of={SERVICES} />
        <Field label="Operation" name="match-operation" hint="A name of the REST reference, such as Put Blob. Leave empty for any." />
        <Field label="Resource" name="match-name" hint="container/blob, queue or table; * matches anything. Leave empty for any." />
        <Choice label="Fault" name="fault" of={FAULTS.map(([id, title]): [string, string] => [id, title])} />
        <Field label="Number of requests before the rule ends" name="count" value="1" />
        <Field label="Or the entire rule" name="rule" rows={3} hint={RULE_HINT} />
    </Form>;
}

const COLUMNS: Column<Fault>[] = [
    { title: 'Name', kind: 'name', by: ({ name }) => name, cell: ({ name }) => name },
    { title: 'State', by: ({ active }) => (active ? 'active' : 'ended'), cell: ({ active }) => (active ? 'active' : 'ended') },
    { title: 'Matched', kind: 'number', by: ({ matched }) => matched, cell: ({ matched }) => number(matched) },
    { title: 'Fired', kind: 'number', by: ({ fired }) => fired, cell: ({ fired }) => number(fired) },
    { title: 'Requests', cell: ({ rule }) => wordsOf(rule.match) || 'all' },
    { title: 'Fault', cell: ({ rule }) => wordsOf(rule.fault) },
    { title: 'When', cell: ({ rule }) => wordsOf(rule.when) },
];

export default function Faults(_: PageProps) {
    const list = useLoad(async () => (await askFaults<{ faults: Fault[] }>('')).faults, []);
    const { problem, run } = useAction();
    const [adds, setAdds] = useState(false);
    const end = (name?: string) => run(async () => {
        await askFaults(name === undefined ? '' : `/${encodeURIComponent(name)}`, 'DELETE');
        list.reload();
    });

    useEffect(() => {
        const timer = setInterval(list.reload, POLL_MS);
        return () => clearInterval(timer);
    }, []);
    return <>
        <h1>Faults</h1>
        <p>Rules that make requests fail, to test clients. They end after the number of requests that they specify, and with the server.</p>
        <div class="tools">
            <button type="button" class="primary" onClick={() => setAdds(true)}>New rule</button>
            <button type="button" disabled={!list.value?.length} onClick={() => void end()}>End all</button>
            <button type="button" onClick={list.reload}>Reload</button>
        </div>
        <Loading of={list} />
        <Problem of={problem} />
        {list.value && <Table label="Rules" columns={[...COLUMNS, { title: 'Actions', kind: 'actions', cell: ({ name }) =>
            <button type="button" class="plain" aria-label={`End ${name}`} onClick={() => void end(name)}>End</button> }]}
        of={list.value} keyOf={({ name }) => name} empty="There are no rules. No request is made to fail." />}
        {adds && <NewRule onClose={() => setAdds(false)} onDone={list.reload} />}
    </>;
}
