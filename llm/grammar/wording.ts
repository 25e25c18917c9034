import { formatInstant } from '../../core/base/time.ts';
import type { PortEntry } from '../../core/model/policy.ts';
import type { Slots } from './match.ts';
import { portList } from './port-entries.ts';
import { said } from './refusal.ts';

/** What stands in a sentence beside who is meant. */
export interface Beside {
  readonly ports: readonly PortEntry[];
  /** Milliseconds. */
  readonly until: number | undefined;
}

/**
 * Sentences made of what was understood: `{source}` and other slots are what was said there, ` on …` and ` until …` are
 * added. One whose slot is empty is left out.
 */
export function worded(templates: readonly string[], slots: Slots, { ports, until }: Beside): string[] {
  const on = ports.length > 0 ? ` on ${portList(ports)}` : '';
  const end = until === undefined ? '' : ` until ${formatInstant(until)}`;
  return templates.flatMap((template) => {
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    if (names.some((name) => !slots[name]?.length && name !== 'on')) return [];
    const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      name === 'on' ? on : said(slots[name] ?? []),
    );
    return [`${filled.replaceAll("s's ", "s' ")}${end}`];
  });
}
