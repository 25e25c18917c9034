import { readFileSync } from 'node:fs';

/** Ticks of /proc a second. */
const TICKS = 100;

/** Seconds of processor time that a process has used, without its children. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Resident and proportional set size in MB; what is resident and not `anonymous` are pages of files. */
export function memoryOf(pid: number): { readonly rss: number; readonly anonymous: number; readonly pss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1_024;
  return { rss: of('Rss'), anonymous: of('Anonymous'), pss: of('Pss') };
}
