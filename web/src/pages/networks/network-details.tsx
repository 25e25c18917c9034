import { useSignal } from '@preact/signals';
import { api } from '../../api/client.ts';
import type { Network } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { goAfter, write } from '../../api/write.ts';
import { Chip } from '../../design/chip.tsx';
import { linkTo, route } from '../../route/route.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Time } from '../../ui/time.tsx';
import { DEFAULT_ACTIONS, EditNetwork } from './network-form.tsx';

/** Word, shape and colour. */
export function DefaultAction({ action }: { action: Network['spec']['defaultAction'] }) {
  return action === 'DENY' ? <Chip tone="ok">⊘ closed</Chip> : <Chip tone="warn">→ open</Chip>;
}

/** One network: its block, what holds in it by default, and what can be done with it. */
export function NetworkDetails({ network, close }: { network: Network; close: string }) {
  const { name, spec, status } = network;
  const mayChange = may('network:write') && !route.value.query.has('at');
  return (
    <article class="panel stack" aria-label={name}>
      <div class="row">
        <h2 class="break">{name}</h2>
        <DefaultAction action={spec.defaultAction} />
        <a class="push" href={close}>
          Close
        </a>
      </div>
      <Facts
        facts={[
          ['Addresses', <code key="cidr">{spec.cidr}</code>],
          ['Where no policy applies', DEFAULT_ACTIONS[spec.defaultAction]],
          [
            'Peers',
            <a key="peers" href={linkTo('peers')}>
              {status.peers}
            </a>,
          ],
          ['Addresses in use', `${status.allocated} of ${status.allocated + status.available}`],
          ['MTU', `${spec.mtu} B`],
          ['Created', <Time key="created" at={network.createdAt} />],
          [
            'Id',
            <span key="id">
              <code>{network.id}</code> <CopyButton text={network.id} />
            </span>,
          ],
        ]}
      />
      {mayChange && <EditNetwork key={network.revision} network={network} />}
      {mayChange && <DeleteNetwork network={network} />}
    </article>
  );
}

const DEFAULT = 'default';

/** What would be refused is said instead. */
function DeleteNetwork({ network: { id, name, revision, status } }: { network: Network }) {
  const isAsked = useSignal(false);
  const why =
    name === DEFAULT
      ? 'it is the default network of new devices'
      : status.peers > 0 && (status.peers === 1 ? 'it has 1 peer' : `it has ${status.peers} peers`);
  if (why) return <p class="dim small">It cannot be deleted: {why}.</p>;
  return (
    <div class="row">
      <button type="button" class="danger" onClick={() => (isAsked.value = true)}>
        Delete {name}
      </button>
      {isAsked.value && (
        <Confirm
          title={`Delete ${name}?`}
          act="Delete"
          name={name}
          run={async () => {
            const call = api.DELETE('/api/v1/networks/{id}', { params: { path: { id } }, body: { revision } });
            goAfter(await write(call, `${name} is deleted.`), linkTo('networks'));
          }}
          close={() => (isAsked.value = false)}
        >
          <p>Its address block becomes free for another network.</p>
        </Confirm>
      )}
    </div>
  );
}
