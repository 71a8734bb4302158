// Public access to a container, its stored access policies, and leases.
import type { SignedIdentifier } from '@azure/storage-blob';
import { useState } from 'preact/hooks';
import { containerForAccess, containerOf } from './clients.ts';
import { time } from './format.ts';
import { Name } from './names.tsx';
import { Choice, Dialog, Facts, Field, Form, Pairs, Problem, useLoad } from './ui.tsx';

const POLICIES_MAX = 5; // rest: Set-Container-ACL
export const ACCESS: [string, string][] = [['', 'none'], ['blob', 'blobs can be read anonymously'], ['container', 'blobs can be read and listed anonymously']];

/** The value of an <input type="datetime-local">, in local time to the second. */
const localOf = (at: Date | undefined) => (at ? new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19) : '');
const dateOf = (text: string) => (text ? new Date(text) : undefined);

async function load(account: string, container: string) {
    const acl = await (await containerForAccess(account, container)).getAccessPolicy();
    const properties = await (await containerOf(account, container)).getProperties();

    return { acl, properties };
}

function policiesOf(form: FormData, count: number): SignedIdentifier[] {
    const of = (name: string, i: number) => String(form.get(`${name}-${i}`)).trim();

    return Array.from({ length: count }, (_, i) => i).filter((i) => of('policy', i) !== '').map((i) => ({
        id: of('policy', i),
        accessPolicy: { startsOn: dateOf(of('from', i)), expiresOn: dateOf(of('until', i)), permissions: of('permissions', i) },
    }));
}

function Policy({ of, i }: { of: SignedIdentifier | undefined; i: number }) {
    return <fieldset class="policy"><legend>Policy {i + 1}</legend>
        <Field label="Identifier" name={`policy-${i}`} value={of?.id} hint="Leave empty to remove the policy." />
        <Field label="Start" name={`from-${i}`} type="datetime-local" step="1" value={localOf(of?.accessPolicy.startsOn)} />
        <Field label="Expiry" name={`until-${i}`} type="datetime-local" step="1" value={localOf(of?.accessPolicy.expiresOn)} />
        <Field label="Permissions" name={`permissions-${i}`} value={of?.accessPolicy.permissions} hint="Letters of racwdl, in this order. Leave empty to let the SAS specify them." />
    </fieldset>;
}

/** Edits access and policies. Saves them only if the container is unchanged since they were loaded. */
export function ContainerAccess({ account, container, onClose }: { account: string; container: string; onClose: () => void }) {
    const loaded = useLoad(() => load(account, container), [account, container]);
    const [added, setAdded] = useState(0);
    const { value } = loaded;

    if (!value)
        return <Dialog title={`Access policies of ${container}`} onClose={onClose}>
            <Problem of={loaded.problem} retry={loaded.reload} />
            <p class="buttons"><button type="button" onClick={onClose}>Close</button></p>
        </Dialog>;
    const { signedIdentifiers, blobPublicAccess, lastModified } = value.acl;
    const count = signedIdentifiers.length + added;

    return <Form title={`Access policies of ${container}`} action="Save" onClose={onClose} onDone={async (form) => {
        const access = String(form.get('access')) as 'blob' | 'container' | '';
        await (await containerForAccess(account, container)).setAccessPolicy(access || undefined, policiesOf(form, count),
            { conditions: { ifUnmodifiedSince: lastModified } });
    }}>
        <Facts of={[['Modified', time(lastModified)], ['Lease', value.properties.leaseState]]} />
        <Pairs of={value.properties.metadata} />
        <Choice label="Public access" name="access" value={blobPublicAccess ?? ''} of={ACCESS} />
        {Array.from({ length: count }, (_, i) => <Policy key={i} of={signedIdentifiers[i]} i={i} />)}
        <p><button type="button" disabled={count >= POLICIES_MAX} onClick={() => setAdded(added + 1)}>Add a policy</button></p>
    </Form>;
}

/** A button that breaks the lease of a container or blob, after a question. */
export function Lease({ state, name, onBreak }: { state: string | undefined; name: string; onBreak: () => Promise<unknown> }) {
    const [asks, setAsks] = useState(false);

    if (state !== 'leased' && state !== 'breaking')
        return null;
    return <>
        <button type="button" onClick={() => setAsks(true)}>Break the lease…</button>
        {asks && <Form title={<>Break the lease of <Name of={name} />?</>} action="Break" danger onClose={() => setAsks(false)} onDone={onBreak}>
            <p>The holder of the lease can no longer write with its lease id.</p>
        </Form>}
    </>;
}
