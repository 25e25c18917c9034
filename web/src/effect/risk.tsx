import type { RiskLevel } from '../api/types.ts';
import { Chip, type Tone } from '../design/chip.tsx';

const TONE: Record<RiskLevel, Tone | ''> = { low: 'ok', medium: 'warn', high: 'danger', critical: 'danger' };
const MARK: Record<RiskLevel, string> = { low: '○', medium: '◐', high: '●', critical: '▲' };

/** Word, shape and colour. */
export function Risk({ level }: { level: RiskLevel }) {
  return (
    <Chip tone={TONE[level]}>
      <span aria-hidden="true">{MARK[level]}</span> {level} risk
    </Chip>
  );
}
