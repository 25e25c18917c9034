import { createHash } from 'node:crypto';
import type { Effect } from '../intent/effect.ts';
import { spanText } from '../intent/port-spans.ts';

/**
 * Names what an effect opens, whichever way policies group its peers: what was shown to a person opens nothing else when
 * it is carried out. What it closes is not part of it, so that a device which joins meanwhile keeps no peer from being
 * deleted.
 *
 * @returns SHA-256 in hex
 */
export function openedDigest({ groups }: Pick<Effect, 'groups'>): string {
  const rows = groups
    .filter(({ opened }) => opened.length > 0)
    .flatMap(({ src, dst, opened }) => {
      const ports = spanText(opened);
      return src.flatMap((from) => dst.flatMap((to) => (from === to ? [] : [`${from} ${to} ${ports}`])));
    });
  return createHash('sha256').update(rows.sort().join('\n')).digest('hex');
}
