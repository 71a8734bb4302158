// Rules of faults of a server that is started with --testing: which requests fail, how and how often. docs/testing.md
import { useEffect, useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { number } from './format.ts';
import { Choice, Field, Form, Problem, Table, useAction, useLoad } from './ui.tsx';

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

const LOOK_MS = 3000;
const RULE_HINT = 'In JSON: {"match": {..}, "fault": {..}, "when": {..}}. It counts instead of the fields above.';
const SERVICES: [string, string][] = [['', 'any'], ...['blob', 'queue', 'table', 'file'].map((name): [string, string] => [name, name])];
const FAULTS: [string, string, Rule['fault']][] = [
    ['busy', '503 ServerBusy', { error: 'ServerBusy', retryAfterSeconds: 1 }],
    ['many', '429 ServerBusy', { error: 'ServerBusy', status: 429 }],
    ['timeout', '500 OperationTimedOut', { error: 'OperationTimedOut' }],
    ['hidden', 'It is done, and 500 OperationTimedOut', { error: 'OperationTimedOut', operationIsDone: true }],
    ['before', 'Connection cut before the answer', { cut: 'beforeAnswer' }],
    ['in', "Connection cut in the answer's body", { cut: 'inAnswerBody' }],
    ['upload', "Connection cut in the request's body", { cut: 'inRequestBody' }],
    ['md5', 'Wrong MD5', { wrongMd5: true }],
    ['slow', 'A second later', { delayMs: 1000 }],
];

/** At the management port itself, as a test asks. */
async function askFaults<T>(path: string, method = 'GET', body?: string): Promise<T> {
    const answer = await fetch(`/-/faults${path}`, { method, body: body ?? null, cache: 'no-store' });
    const said = await answer.json() as T & { error?: string };

    if (!answer.ok)
        throw new Error(said.error ?? `The server answered ${answer.status}.`);
    return said;
}

/** The rule of the form's fields; the text of one counts if there is any. */
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
        <Field label="Name" name="id" required hint="Letters, digits, dots, dashes. A rule of that name is replaced." />
        <Choice label="Service" name="match-service" of={SERVICES} />
        <Field label="Operation" name="match-operation" hint="As operations.md has it: Put Blob. Empty: any." />
        <Field label="What it names" name="match-name" hint="container/blob, queue, table; * stands for anything. Empty: any." />
        <Choice label="What happens" name="fault" of={FAULTS.map(([id, title]): [string, string] => [id, title])} />
        <Field label="How often, then the rule ends" name="count" value="1" />
        <Field label="Or a whole rule" name="rule" rows={3} hint={RULE_HINT} />
    </Form>;
}

export default function Faults(_: PageProps) {
    const list = useLoad(async () => (await askFaults<{ faults: Fault[] }>('')).faults, []);
    const { problem, run } = useAction();
    const [adds, setAdds] = useState(false);
    const end = (name?: string) => run(async () => {
        await askFaults(name === undefined ? '' : `/${encodeURIComponent(name)}`, 'DELETE');
        list.reload();
    });

    useEffect(() => {
        const timer = setInterval(list.reload, LOOK_MS);
        return () => clearInterval(timer);
    }, []);
    return <>
        <h1>Faults</h1>
        <p>Which requests fail, for tests of clients. Rules end by themselves, and with the process.</p>
        <div class="tools">
            <button type="button" class="primary" onClick={() => setAdds(true)}>New rule</button>
            <button type="button" disabled={!list.value?.length} onClick={() => void end()}>End all</button>
            <button type="button" onClick={list.reload}>Reload</button>
        </div>
        <Problem of={list.problem ?? problem} />
        {list.value && <Table label="Rules" head={['Name', 'State', 'Matched', 'Fired', 'Which requests', 'What happens', 'When', 'Actions']} empty="There are no rules: no request is made to fail.">
            {list.value.map(({ name, active, matched, fired, rule }) => <tr key={name}>
                <td class="name">{name}</td><td>{active ? 'active' : 'ended'}</td><td class="number">{number(matched)}</td><td class="number">{number(fired)}</td>
                <td>{wordsOf(rule.match) || 'all'}</td><td>{wordsOf(rule.fault)}</td><td>{wordsOf(rule.when)}</td>
                <td><button type="button" class="plain" aria-label={`End ${name}`} onClick={() => void end(name)}>End</button></td>
            </tr>)}
        </Table>}
        {adds && <NewRule onClose={() => setAdds(false)} onDone={list.reload} />}
    </>;
}
