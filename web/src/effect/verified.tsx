import type { Plan } from '../api/types.ts';
import { texts } from '../texts/texts.ts';
import { Lines } from '../ui/lines.tsx';

const TONE: Record<Plan['verification'], string> = { proven: 'ok', unproven: 'warn', unmet: 'danger' };

/** Whether the effect was held against what was asked, and what keeps it from being proven. */
export function Verified({
  verification,
  objections,
}: {
  verification: Plan['verification'];
  objections: readonly string[];
}) {
  return (
    <>
      <span class={`tag ${TONE[verification]}`}>{verification}</span> {texts.effect.verification[verification]}
      <Lines lines={objections} />
    </>
  );
}
