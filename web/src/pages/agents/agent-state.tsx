import { agents as words } from '../../texts/agents.ts';
import type { Agent } from './words.ts';

const TONES: Record<Agent['phase'], string> = { Active: 'ok', Pending: 'warn', Expired: '', Revoked: 'danger' };
const MARKS: Record<Agent['phase'], string> = { Active: '●', Pending: '◐', Expired: '○', Revoked: '✕' };

/** Word, shape and colour. */
export function AgentState({ agent: { phase } }: { agent: Pick<Agent, 'phase'> }) {
  return (
    <span class={`tag ${TONES[phase]}`}>
      <span aria-hidden="true">{MARKS[phase]}</span> {words.phases[phase]}
    </span>
  );
}
