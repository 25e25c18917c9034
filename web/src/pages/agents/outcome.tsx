import { Chip } from '../../design/chip.tsx';
import { Icon } from '../../design/icon.tsx';

/** How a call ended: word and colour. */
export function Outcome({ outcome }: { outcome: string }) {
  if (outcome === 'ok') return <Chip tone="ok">ok</Chip>;
  if (outcome === 'pending_approval') return <Chip tone="warn">awaiting approval</Chip>;
  return (
    <Chip tone="danger">
      <Icon name="ban" /> {outcome}
    </Chip>
  );
}
