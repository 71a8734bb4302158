// The names that the installed SDKs' generated clients have for the requests of each operation: headers, query
// parameters, and elements of XML and JSON bodies. Constants are left out: they select the operation.
import { readdirSync } from 'node:fs';

const PACKAGES = new URL('../clients/node_modules/@azure/', import.meta.url);
/* Handled before an operation is found, or by HTTP. */
const COMMON = new Set(['x-ms-version', 'x-ms-client-request-id', 'accept', 'content-length', 'date', 'x-ms-date']);

export const KINDS = ['parameters', 'headers', 'elements'];

/** The union of two definitions. */
export function mergedDefinitions(one, other) {
    const pick = (of, service, name, kind) => of[service]?.[name]?.[kind] ?? [];
    const services = unique([...Object.keys(one), ...Object.keys(other)]);

    return Object.fromEntries(services.map((service) => [service, Object.fromEntries(
        unique([...Object.keys(one[service] ?? {}), ...Object.keys(other[service] ?? {})]).map((name) => [name, Object.fromEntries(
            KINDS.map((kind) => [kind, unique([...pick(one, service, name, kind), ...pick(other, service, name, kind)])]))]))]));
}

/** {operation: {parameters, headers, elements}} of each service. */
export async function installedDefinitions() {
    return {
        blob: await readSpecs('storage-blob/dist/esm/generated/src/'),
        queue: await readSpecs('storage-queue/dist/esm/generated/src/'),
        table: await readSpecs('data-tables/dist/esm/generated/'),
        dfs: await readSpecs('storage-file-datalake/dist/esm/generated/src/'),
        file: await readSenders('storage-file-share/dist/esm/generated/'),
    };
}

/* ---- clients whose operations are specifications ---- */

async function readSpecs(folder) {
    const mappers = await import(new URL(`${folder}models/mappers.js`, PACKAGES));
    const operations = await import(new URL(`${folder}operations/index.js`, PACKAGES));
    const read = {};

    for (const [name, Group] of Object.entries(operations)) {
        const group = new Group({ sendOperationRequest: (given, spec) => spec });
        for (const operation of Object.getOwnPropertyNames(Group.prototype).filter((one) => one !== 'constructor'))
            read[`${name.replace('Impl', '')}_${operation}`] = namesOf(group[operation](), mappers);
    }
    return read;
}

function namesOf(spec, mappers) {
    const given = (list) => (list ?? []).map(({ mapper }) => mapper).filter(({ isConstant }) => !isConstant);
    const headers = given(spec.headerParameters)
        .map(({ serializedName, headerCollectionPrefix }) => headerCollectionPrefix ? `${headerCollectionPrefix}*` : serializedName);
    const body = spec.requestBody?.mapper;

    return sorted(given(spec.queryParameters).map(({ serializedName }) => serializedName), headers,
        body ? elementsOf(body, mappers, '') : []);
}

/** Paths such as "StorageServiceProperties/Cors/CorsRule/AllowedOrigins". */
function elementsOf(mapper, mappers, path) {
    const { type } = mapper;

    if (type.name === 'Sequence') {
        const wrapped = mapper.xmlIsWrapped ? `${path}${mapper.xmlName}/` : path;
        return [...(mapper.xmlIsWrapped ? [`${path}${mapper.xmlName}`] : []),
            ...elementsOf({ ...type.element, xmlName: mapper.xmlElementName }, mappers, wrapped)];
    }
    const own = `${path}${mapper.xmlName ?? mapper.serializedName}`;
    if (type.name !== 'Composite')
        return type.name === 'Stream' || type.name === 'Dictionary' ? [] : [own];
    const { modelProperties, className } = type.modelProperties ? type : mappers[type.className].type;
    const root = path === '' ? mappers[className ?? type.className].xmlName ?? mapper.xmlName ?? type.className : null;
    return [root ?? own, ...Object.values(modelProperties ?? {})
        .flatMap((one) => elementsOf(one, mappers, `${root ?? own}/`))];
}

/* ---- clients whose operations are functions: names are read from their text ---- */

async function readSenders(folder) {
    const models = await import(new URL(`${folder}models/models.js`, PACKAGES));
    const read = {};

    for (const group of readdirSync(new URL(`${folder}api/`, PACKAGES), { withFileTypes: true })) {
        if (!group.isDirectory())
            continue;
        const functions = await import(new URL(`${folder}api/${group.name}/operations.js`, PACKAGES));
        const prefix = group.name[0].toUpperCase() + group.name.slice(1);
        for (const [name, send] of Object.entries(functions).filter(([one]) => /^_.*Send$/.test(one)))
            read[`${prefix}_${name.slice(1, -'Send'.length).replace('$', '').replace('FromUrl', 'FromURL')}`] = namesInText(send.toString(), models);
    }
    return read;
}

function namesInText(text, models) {
    const parameters = /expandUrlTemplate\("[^"]*\{\?([^}]*)\}/.exec(text)?.[1].split(',') ?? [];
    const headers = [...text.matchAll(/\{ "?([\w-]+)"?: options|^ +"([\w-]+)": (?!")/gm)].map(([, a, b]) => a ?? b);
    const body = /body: .*?(\w+XmlSerializer)\(/s.exec(text)?.[1];

    return sorted(parameters.map(decodeURIComponent), headers,
        body ? elementsInText(models[body].toString(), models, '') : []);
}

function elementsInText(text, models, path) {
    const root = path || /serializeToXml\([^"]*"(\w+)"/.exec(text)?.[1] || '';
    const found = [root];
    const add = (name, serializer) => {
        found.push(`${root}/${name}`);
        if (serializer)
            found.push(...elementsInText(models[serializer].toString(), models, `${root}/${name}`).slice(1));
    };

    for (const [, name, items, serializer] of
        text.matchAll(/xmlOptions: \{\s*name: "(\w+)"(?:,\s*itemsName: "(\w+)")?[^}]*\},(?:\s*type: "\w+",)?(?:\s*serializer: (\w+),)?/g)) {
        if (items)
            found.push(`${root}/${name}`);
        add(items ? `${name}/${items}` : name, serializer);
    }
    for (const [, name, serializer] of
        text.matchAll(/\b([A-Z]\w*): item\["\w+"\](?:[^,]*?\? (\w+XmlObjectSerializer)\()?/g))
        add(name, serializer);
    return found;
}

const sorted = (parameters, headers, elements) => ({
    parameters: unique(parameters.map((one) => one.toLowerCase())),
    headers: unique(headers.map((one) => one.toLowerCase()).filter((one) => !COMMON.has(one))),
    elements: unique(elements),
});
const unique = (list) => [...new Set(list)].sort();
