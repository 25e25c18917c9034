import { clockText } from '../../core/base/time-zone.ts';

/** `Friday 2026-01-09 18:00 in Europe/Zurich (17:00 UTC)`; by the clocks of UTC alone where that is the zone. */
export function momentText(at: number, zone: string): string {
  const utc = clockText(at, 'UTC');
  if (zone === 'UTC') return `${utc} UTC`;
  const own = clockText(at, zone);
  const [day, clock] = [utc.slice(0, utc.lastIndexOf(' ')), utc.slice(utc.lastIndexOf(' ') + 1)];
  return `${own} ${/^[+-]/.test(zone) ? `UTC${zone}` : `in ${zone}`} (${own.startsWith(`${day} `) ? clock : utc} UTC)`;
}
