import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { workspaceId } from '../../api/workspace.ts';
import { linkTo } from '../../route/route.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { type Example, NewPolicyEditor } from '../policies/policy-page.tsx';

export function FirstPolicy() {
  // Read once: the example stays the same while somebody edits it.
  const loaded = useLoaded(
    async () => {
      workspaceId.value;
      const params = { query: { limit: 1 } };
      const [peers, policies] = await Promise.all([
        answer(api.GET('/api/v1/peers', { params })),
        answer(api.GET('/api/v1/policies', { params })),
      ]);
      return { peer: peers.items[0], hasPolicy: policies.items.length > 0 };
    },
    { live: false },
  );
  return (
    <ReadResult of={loaded.value}>
      {({ peer, hasPolicy }) => {
        if (hasPolicy) return <HasPolicy />;
        return peer ? <ExampleEditor peer={peer.name} /> : <NoPeer />;
      }}
    </ReadResult>
  );
}

function ExampleEditor({ peer }: { peer: string }) {
  return (
    <>
      <p class="dim">
        Without a policy every peer reaches every other. This example writes that down for {peer} and closes nothing.
        Save it as it is, or narrow who reaches {peer} and on which ports: the preview shows what that closes.
      </p>
      <NewPolicyEditor example={exampleOf(peer)} saved={linkTo('setup', ['policy'])} />
    </>
  );
}

function exampleOf(peer: string): Example {
  return {
    name: 'first-policy',
    spec: { action: 'ALLOW', peerSelector: { peers: [peer] }, ingress: [{ from: ['*'] }] },
  };
}

/** Where a policy closes something already, the example would open it. */
function HasPolicy() {
  return (
    <p>
      This workspace has a policy already. See it under <a href={linkTo('policies')}>Policies</a>, or ask for{' '}
      <a href={linkTo('change')}>a change</a>.
    </p>
  );
}

function NoPeer() {
  return (
    <p>
      A policy says who reaches a peer, and there is none yet. <a href={linkTo('setup', ['device'])}>Add a device</a>{' '}
      first.
    </p>
  );
}
