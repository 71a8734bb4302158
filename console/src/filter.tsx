// A form that builds a filter of entities: each click adds a comparison to the filter's text.
import { useState } from 'preact/hooks';
import { Problem } from './ui.tsx';

const OPERATORS: [string, string][] = [['eq', 'is'], ['ne', 'is not'], ['lt', 'is less than'], ['le', 'is at most'], ['gt', 'is greater than'], ['ge', 'is at least'],
    ['prefix', 'starts with']];
const TYPES: [string, string][] = [['text', 'text'], ['number', 'number'], ['Int64', '64-bit number'], ['boolean', 'true or false'], ['DateTime', 'date and time'], ['Guid', 'GUID']];

/** A quoted string. source: OData 3.0, literals */
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** The value as a literal of the filter language. rest: Querying-Tables-and-Entities */
function literalOf(type: string, value: string): string {
    switch (type) {
    case 'number':
        if (value.trim() === '' || !Number.isFinite(Number(value)))
            throw new Error(`"${value}" is not a number.`);
        return String(Number(value));
    case 'Int64':
        if (!/^-?\d{1,19}$/.test(value))
            throw new Error(`"${value}" is not a whole number.`);
        return `${value}L`;
    case 'boolean':
        if (value !== 'true' && value !== 'false')
            throw new Error('The value must be true or false.');
        return value;
    case 'DateTime':
        if (Number.isNaN(Date.parse(value)))
            throw new Error(`"${value}" is not a date such as 2026-01-02T03:04:05Z.`);
        return `datetime'${new Date(value).toISOString()}'`;
    case 'Guid':
        if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value))
            throw new Error(`"${value}" is not a GUID.`);
        return `guid'${value}'`;
    default:
        return quoted(value);
    }
}

export function comparisonOf(property: string, operator: string, type: string, value: string): string {
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(property))
        throw new Error(`"${property}" is not a property name.`);
    if (operator !== 'prefix')
        return `${property} ${operator} ${literalOf(type, value)}`;
    if (type !== 'text' || value === '')
        throw new Error('A prefix must be text.');
    // Strings are compared by UTF-16 code units.
    const after = value.slice(0, -1) + String.fromCharCode(value.charCodeAt(value.length - 1) + 1);
    return `${property} ge ${quoted(value)} and ${property} lt ${quoted(after)}`;
}

const joined = (filter: string, how: string, comparison: string) => (filter.trim() === '' ? comparison : `(${filter}) ${how} (${comparison})`);

export function FilterBuilder({ columns, filter, onFilter }: { columns: string[]; filter: string; onFilter: (filter: string) => void }) {
    const [problem, setProblem] = useState<unknown>();
    const submit = (event: SubmitEvent) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget as HTMLFormElement);
        const of = (name: string) => String(form.get(name));
        try {
            onFilter(joined(filter, of('how'), comparisonOf(of('property').trim(), of('operator'), of('type'), of('value'))));
            setProblem(undefined);
        } catch (error) {
            setProblem(error);
        }
    };
    const select = (label: string, name: string, of: [string, string][]) =>
        <select name={name} aria-label={label}>{of.map(([id, text]) => <option key={id} value={id}>{text}</option>)}</select>;

    return <details class="builder"><summary>Build a filter</summary>
        <form class="tools" aria-label="Comparison" onSubmit={submit}>
            {select('Combine with', 'how', [['and', 'and'], ['or', 'or']])}
            <input name="property" aria-label="Property" list="filter-properties" placeholder="Property" required autocomplete="off" />
            <datalist id="filter-properties">{['PartitionKey', 'RowKey', 'Timestamp', ...columns].map((name) => <option key={name} value={name} />)}</datalist>
            {select('Comparison', 'operator', OPERATORS)}
            {select('Type', 'type', TYPES)}
            <input name="value" aria-label="Value" placeholder="Value" autocomplete="off" />
            <button type="submit">Add</button>
            <button type="button" onClick={() => onFilter('')}>Clear</button>
        </form>
        <Problem of={problem} />
    </details>;
}
