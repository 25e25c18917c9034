import type { RiskLevel } from '../api/types.ts';
import { texts } from '../texts/texts.ts';

const TONE: Record<RiskLevel, string> = { low: 'ok', medium: 'warn', high: 'danger', critical: 'danger' };
const MARK: Record<RiskLevel, string> = { low: '○', medium: '◐', high: '●', critical: '▲' };

/** Word, shape and colour. */
export function Risk({ level }: { level: RiskLevel }) {
  return (
    <span class={`tag ${TONE[level]}`}>
      <span aria-hidden="true">{MARK[level]}</span> {texts.effect.risk[level]}
    </span>
  );
}
