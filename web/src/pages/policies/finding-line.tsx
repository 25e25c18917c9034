import type { Finding } from '../../api/types.ts';

/** Where, why, and what to do. */
export function FindingLine({ finding: { code, direction, rule_index: rule, why, fix } }: { finding: Finding }) {
  const place = [direction, rule === null ? '' : `rule ${rule}`].filter(Boolean).join(' ');
  return (
    <span class="break" title={code}>
      {place !== '' && <span class="dim">{place}: </span>}
      {why} {fix}
    </span>
  );
}
