import { Chip, type Tone } from '../../design/chip.tsx';
import type { Agent } from './words.ts';

const PHASES = { Pending: 'not enrolled yet', Active: 'active', Expired: 'expired', Revoked: 'revoked' } as const;

const TONES: Record<Agent['phase'], Tone | ''> = { Active: 'ok', Pending: 'warn', Expired: '', Revoked: 'danger' };
const MARKS: Record<Agent['phase'], string> = { Active: '●', Pending: '◐', Expired: '○', Revoked: '✕' };

/** Word, shape and colour. */
export function AgentState({ agent: { phase, client } }: { agent: Pick<Agent, 'phase' | 'client'> }) {
  if (phase === 'Active' && client?.signedOut) {
    return (
      <Chip>
        <span aria-hidden="true">○</span> client signed out
      </Chip>
    );
  }
  return (
    <Chip tone={TONES[phase]}>
      <span aria-hidden="true">{MARKS[phase]}</span> {PHASES[phase]}
    </Chip>
  );
}
