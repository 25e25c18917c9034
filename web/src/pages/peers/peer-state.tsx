import type { Peer } from '../../api/types.ts';
import { texts } from '../../texts/texts.ts';

export function PeerState({ peer: { status } }: { peer: Peer }) {
  if (status.phase !== 'ready') return <span class="tag warn">{texts.peers.phases[status.phase]}</span>;
  return status.online ? (
    <span class="tag ok">● {texts.peers.online}</span>
  ) : (
    <span class="tag">○ {texts.peers.offline}</span>
  );
}
