import type { RefreshedPreview } from '../../api/types.ts';

const OWN = 'This is your own request, and you may approve it here. Prefer a second person where you can.';
const ANOTHER = 'You did not request this change, so you can be its second person.';

/** Who may decide, who may not, and why. */
export function FourEyes({ decision: { may_approve: may, why, own, others } }: Pick<RefreshedPreview, 'decision'>) {
  const rest = others.length > 0 ? `Other approvers: ${others.join(', ')}.` : 'Nobody else can approve.';
  return (
    <div class={`eyes ${may ? 'dim' : 'notice warn'}`}>
      <span class="break">{may ? (own ? OWN : ANOTHER) : `▲ ${why}`}</span>
      <span class="break">{rest}</span>
    </div>
  );
}
