import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Peer } from '../../api/types.ts';
import { write } from '../../api/write.ts';
import { EffectView } from '../../effect/effect-view.tsx';
import { peers as words } from '../../texts/peers.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { ReadResult } from '../../ui/read-result.tsx';

/** Makes a peer that came with an agent an ordinary one, after what that opens was shown. */
export function AdoptPeer({ peer: { id, name, delegatedBy, revision }, close }: { peer: Peer; close: () => void }) {
  const params = { path: { id } };
  const loaded = useLoaded(() => answer(api.POST('/api/v1/peers/{id}/adopt', { params, body: { dryRun: true } })));
  const shown = loaded.value.value;
  return (
    <Confirm
      title={words.adoptTitle(name)}
      act={words.adopt}
      isReady={shown !== undefined}
      run={() =>
        write(api.POST('/api/v1/peers/{id}/adopt', { params, body: { revision, dryRun: false } }), words.adopted(name))
      }
      close={close}
    >
      <p>{words.adoptWhy(delegatedBy ?? '')}</p>
      <ReadResult of={loaded.value}>
        {(adoption) => 'effect' in adoption && <EffectView effect={adoption.effect} />}
      </ReadResult>
    </Confirm>
  );
}
