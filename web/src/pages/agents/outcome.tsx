import { agents as words } from '../../texts/agents.ts';

/** How a call ended: word and colour. */
export function Outcome({ outcome }: { outcome: string }) {
  if (outcome === 'ok') return <span class="tag ok">{words.ok}</span>;
  if (outcome === 'pending_approval') return <span class="tag warn">{words.waitsForPerson}</span>;
  return <span class="tag danger">{outcome}</span>;
}
