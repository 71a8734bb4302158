// The requests of the last hour that took longest, for an operator: in them are names of all accounts.
import { useEffect } from 'preact/hooks';
import { duration, time } from './format.ts';
import { ask } from './server.ts';
import { Problem, Table, useLoad } from './ui.tsx';

interface SlowRequest {
    ended: string;
    microseconds: number;
    operation: string;
    status: number;
    code: string;
    path: string;
    request: string;
}

const LOOK_MS = 10000;

export function Slowest() {
    const { value, problem, reload } = useLoad(() => ask<{ requests: SlowRequest[] }>('admin/slowest'), []);

    useEffect(() => {
        const timer = setInterval(reload, LOOK_MS);
        return () => clearInterval(timer);
    }, []);
    return <>
        <h2>Slowest requests of the last hour</h2>
        <Problem of={problem} />
        {value && <Table label="Slowest requests" head={['Time', 'Operation', 'Answer', 'Path', 'Ended']} empty="No request has been answered.">
            {value.requests.map((one) => <tr key={one.request}>
                <td class="number">{duration(one.microseconds)}</td><td>{one.operation}</td><td>{one.status} {one.code}</td><td>{one.path}</td>
                <td>{time(new Date(one.ended))}</td>
            </tr>)}
        </Table>}
    </>;
}
