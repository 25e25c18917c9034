import type { Finding } from '../../api/types.ts';
import { policies as words } from '../../texts/policies.ts';

/** Where, why, and what to do. */
export function FindingLine({ finding: { code, direction, rule_index: rule, why, fix } }: { finding: Finding }) {
  const place = words.places(direction, rule);
  return (
    <span class="break" title={code}>
      {place !== '' && <span class="dim">{place}: </span>}
      {why} {fix}
    </span>
  );
}
