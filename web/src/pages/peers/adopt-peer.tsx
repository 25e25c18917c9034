import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Peer } from '../../api/types.ts';
import { write } from '../../api/write.ts';
import { EffectView } from '../../effect/effect-view.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ReadResult } from '../../ui/read-result.tsx';

/** Makes a peer that came with an agent an ordinary one, after what that opens was shown. */
export function AdoptPeer({ peer: { id, name, delegatedBy, revision }, close }: { peer: Peer; close: () => void }) {
  const params = { path: { id } };
  const loaded = useLoaded(() => answer(api.POST('/api/v1/peers/{id}/adopt', { params, body: { dryRun: true } })));
  const shown = loaded.value.value;
  return (
    <Confirm
      title={`Adopt ${name}?`}
      act="Adopt"
      isReady={shown !== undefined}
      run={() =>
        write(
          api.POST('/api/v1/peers/{id}/adopt', { params, body: { revision, dryRun: false } }),
          `${name} is adopted.`,
        )
      }
      close={close}
    >
      <p>
        It joined with a token of the agent {delegatedBy ?? ''} and would end with it. Once adopted, it stays, and the
        reach of the agent no longer limits it.
      </p>
      <ReadResult of={loaded.value}>
        {(adoption) => 'effect' in adoption && <EffectView effect={adoption.effect} />}
      </ReadResult>
    </Confirm>
  );
}
