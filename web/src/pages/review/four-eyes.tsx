import type { Redrawn } from '../../api/types.ts';
import { review as words } from '../../texts/review.ts';

/** Who may decide, who may not, and why. */
export function FourEyes({ decision: { may_approve: may, why, own, others } }: Pick<Redrawn, 'decision'>) {
  const rest = others.length > 0 ? words.others(others.join(', ')) : words.nobodyElse;
  return (
    <div class={`eyes ${may ? 'dim' : 'notice warn'}`}>
      <span class="break">{may ? (own ? words.own : words.another) : `▲ ${why}`}</span>
      <span class="break">{rest}</span>
    </div>
  );
}
