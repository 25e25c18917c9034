import { useSignal } from '@preact/signals';
import { api } from '../../api/client.ts';
import type { Network } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { goAfter, write } from '../../api/write.ts';
import { linkTo, route } from '../../route/route.ts';
import { networks as words } from '../../texts/networks.ts';
import { texts } from '../../texts/texts.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Time } from '../../ui/time.tsx';
import { EditNetwork } from './network-form.tsx';

/** Word, shape and colour. */
export function DefaultAction({ action }: { action: Network['spec']['defaultAction'] }) {
  return action === 'DENY' ? (
    <span class="tag ok">⊘ {words.short.DENY}</span>
  ) : (
    <span class="tag warn">→ {words.short.ALLOW}</span>
  );
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
          {texts.common.close}
        </a>
      </div>
      <Facts
        facts={[
          [words.addresses, <code key="cidr">{spec.cidr}</code>],
          [words.byDefault, words.defaults[spec.defaultAction]],
          [
            words.peers,
            <a key="peers" href={linkTo('peers')}>
              {status.peers}
            </a>,
          ],
          [words.free, words.used(status.allocated, status.allocated + status.available)],
          [words.mtu, `${spec.mtu} B`],
          [words.created, <Time key="created" at={network.createdAt} />],
          [
            words.id,
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
  const why = name === DEFAULT ? words.isDefault : status.peers > 0 && words.hasPeers(status.peers);
  if (why) return <p class="dim small">{words.keeps(why)}</p>;
  return (
    <div class="row">
      <button type="button" class="danger" onClick={() => (isAsked.value = true)}>
        {words.delete} {name}
      </button>
      {isAsked.value && (
        <Confirm
          title={words.deleteTitle(name)}
          act={words.delete}
          name={name}
          run={async () => {
            const call = api.DELETE('/api/v1/networks/{id}', { params: { path: { id } }, body: { revision } });
            goAfter(await write(call, words.deleted(name)), linkTo('networks'));
          }}
          close={() => (isAsked.value = false)}
        >
          <p>{words.deleteWhy}</p>
        </Confirm>
      )}
    </div>
  );
}
