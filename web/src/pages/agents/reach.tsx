import { Chip } from '../../design/chip.tsx';
import '../../design/flow.css';
import { type Agent, reachWords, ruleParts } from './words.ts';

/** What an agent may open, in one line. */
export function Reach({ agent }: { agent: Agent }) {
  const { reach, egress, parentRef, policyPreset } = agent;
  const rules = reach ?? egress ?? [];
  const isByRules = rules.length > 0 && (!parentRef || policyPreset === 'sandboxed');
  if (!isByRules) return <span class="dim">{reachWords(agent).join(', ')}</span>;
  return (
    <span class="chips">
      {rules.map(ruleParts).map(({ whom, ports }) => (
        <span key={`${whom} ${ports}`} class="flow">
          <Chip>{whom}</Chip>
          <span class="visually-hidden"> on </span>
          <code class="chip port">{ports}</code>
        </span>
      ))}
    </span>
  );
}
