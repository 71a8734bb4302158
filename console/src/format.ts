// Numbers and dates as the user's locale writes them.
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(count: number | undefined): string {
    let unit = 0;
    let value = count ?? 0;

    for (; value >= 1024 && unit < UNITS.length - 1; unit++)
        value /= 1024;
    return `${value.toLocaleString(undefined, { maximumFractionDigits: unit === 0 || value >= 100 ? 0 : 1 })} ${UNITS[unit]}`;
}

export const number = (value: number) => value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 2 : 0 });
export const time = (at: Date | undefined) => at ? at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' }) : '';
export const duration = (microseconds: number) => microseconds >= 1000000 ? `${number(microseconds / 1000000)} s` : `${number(microseconds / 1000)} ms`;
