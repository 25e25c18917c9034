import { readFileSync } from 'node:fs';

/** Ticks of /proc a second. */
const TICKS = 100;

/** Seconds of processor time that a process and its ended children have used: an agent runs nft to look after its rules. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  // utime, stime, cutime, cstime of proc(5).
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}

/** Resident and proportional set size in MB; what is resident and not `anonymous` are pages of files. */
export function memoryOf(pid: number): { readonly rss: number; readonly anonymous: number; readonly pss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1_024;
  return { rss: of('Rss'), anonymous: of('Anonymous'), pss: of('Pss') };
}
