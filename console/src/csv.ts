// Entities as CSV and JSON. A table of CSV has for each property `name` a column `name@type`, as Azure Storage Explorer
// writes it; in JSON a value of a type that JSON does not have is { "type": .., "value": .. }.

export type Entity = { partitionKey: string; rowKey: string } & Record<string, unknown>;

/** A value of a type that JSON does not have: { value, type }, as the SDK takes and gives it. */
export const isTyped = (value: unknown): value is { value: unknown; type: string } =>
    typeof value === 'object' && value !== null && 'type' in value && 'value' in value;

export function textOf(value: unknown): string {
    if (isTyped(value))
        return String(value.value);
    return value === null || value === undefined ? '' : String(value);
}

function typeOf(value: unknown): string {
    if (isTyped(value))
        return `Edm.${value.type}`;
    if (typeof value === 'number')
        return Number.isInteger(value) ? 'Edm.Int32' : 'Edm.Double';
    return typeof value === 'boolean' ? 'Edm.Boolean' : 'Edm.String';
}

function valueOf(text: string, type: string): unknown {
    switch (type) {
    case 'Edm.String':
        return text;
    case 'Edm.Boolean':
        if (text !== 'true' && text !== 'false')
            throw new Error(`"${text}" is neither true nor false.`);
        return text === 'true';
    case 'Edm.Int32':
        if (!/^-?\d+$/.test(text))
            throw new Error(`"${text}" is not a whole number.`);
        return Number(text);
    case 'Edm.Double':
        return { type: 'Double', value: Number.isFinite(Number(text)) ? Number(text) : text };
    case 'Edm.Int64':
    case 'Edm.DateTime':
    case 'Edm.Guid':
    case 'Edm.Binary':
        return { type: type.slice('Edm.'.length), value: text };
    default:
        throw new Error(`"${type}" is not a property type.`);
    }
}

// ---- CSV. rfc: 4180 ----

const cellOf = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export const csvHead = (names: string[]) => `${['PartitionKey', 'RowKey', ...names.flatMap((name) => [name, `${name}@type`])].map(cellOf).join(',')}\r\n`;

export function csvRow(entity: Entity, names: string[]): string {
    const cells = names.flatMap((name) => (name in entity && entity[name] !== null ? [textOf(entity[name]), typeOf(entity[name])] : ['', '']));

    return `${[entity.partitionKey, entity.rowKey, ...cells].map(cellOf).join(',')}\r\n`;
}

/** The records of a CSV text. Throws where a quote is not closed. */
export function* csvRecords(text: string): Generator<string[]> {
    const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|$)/y;
    let record: string[] = [];

    while (cell.lastIndex < text.length || record.length > 0) {
        const at = cell.lastIndex;
        const found = cell.exec(text);
        if (!found)
            throw new Error(`The CSV is malformed at "${text.slice(at, at + 20)}".`);
        record.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
        if (found[3] !== ',') {
            yield record;
            record = [];
        }
    }
}

function* entitiesOfCsv(text: string): Generator<Entity> {
    let head: string[] | undefined;

    for (const record of csvRecords(text.replace(/^\uFEFF/, ''))) {
        if (!head) {
            head = record;
            if (!head.includes('PartitionKey') || !head.includes('RowKey'))
                throw new Error('The first line must name the columns, including PartitionKey and RowKey.');
            continue;
        }
        const of = new Map(head.map((name, i) => [name, record[i] ?? '']));
        const entity: Entity = { partitionKey: of.get('PartitionKey')!, rowKey: of.get('RowKey')! };
        for (const [name, value] of of) {
            const type = of.get(`${name}@type`) ?? (value === '' ? '' : 'Edm.String');
            if (!/^(PartitionKey|RowKey|Timestamp)$|@type$/.test(name) && type !== '')
                entity[name] = valueOf(value, type);
        }
        yield entity;
    }
}

export function entityOf(value: unknown): Entity {
    const { partitionKey, rowKey } = (value ?? {}) as Partial<Entity>;

    if (typeof partitionKey !== 'string' || typeof rowKey !== 'string')
        throw new Error('An entity is a JSON object with partitionKey and rowKey, which are strings.');
    return value as Entity;
}

/** The entities of a file that was exported, or was written like one. */
export function* entitiesOf(name: string, text: string): Generator<Entity> {
    if (/\.csv$/i.test(name)) {
        yield* entitiesOfCsv(text);
        return;
    }
    const all = JSON.parse(text) as unknown;
    if (!Array.isArray(all))
        throw new Error('The file must contain a JSON array of entities, or have a name that ends with .csv.');
    for (const one of all)
        yield entityOf(one);
}
