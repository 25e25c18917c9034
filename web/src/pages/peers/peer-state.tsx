import type { Peer } from '../../api/types.ts';
import { texts } from '../../texts/texts.ts';

/** As those of agents. */
const LOOKS = { pending: ['warn', '◐'], revoked: ['danger', '✕'], expired: ['', '○'] } as const;

export function PeerState({ peer: { status } }: { peer: Peer }) {
  return (
    <>
      <Phase status={status} />
      {status.ephemeral && ' '}
      {status.ephemeral && <span class="tag">{texts.peers.ephemeral}</span>}
    </>
  );
}

function Phase({ status }: Pick<Peer, 'status'>) {
  if (status.phase !== 'ready') {
    const [tone, mark] = LOOKS[status.phase];
    return (
      <span class={`tag ${tone}`}>
        <span aria-hidden="true">{mark}</span> {texts.peers.phases[status.phase]}
      </span>
    );
  }
  return status.online ? (
    <span class="tag ok">● {texts.peers.online}</span>
  ) : (
    <span class="tag">○ {texts.peers.offline}</span>
  );
}
