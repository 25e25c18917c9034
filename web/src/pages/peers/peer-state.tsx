import type { Peer } from '../../api/types.ts';
import { Chip } from '../../design/chip.tsx';

/** As those of agents. */
const LOOKS = { pending: ['warn', '◐'], revoked: ['danger', '✕'], expired: ['', '○'] } as const;

export function PeerState({ peer: { status } }: { peer: Peer }) {
  return (
    <>
      <Phase status={status} />
      {status.ephemeral && ' '}
      {status.ephemeral && <Chip>ephemeral</Chip>}
    </>
  );
}

function Phase({ status }: Pick<Peer, 'status'>) {
  if (status.phase !== 'ready') {
    const [tone, mark] = LOOKS[status.phase];
    return (
      <Chip tone={tone}>
        <span aria-hidden="true">{mark}</span> {status.phase}
      </Chip>
    );
  }
  return status.online ? <Chip tone="ok">● online</Chip> : <Chip>○ offline</Chip>;
}
