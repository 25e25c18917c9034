import { useSignal } from '@preact/signals';
import { useAgentNames } from '../../api/agents.ts';
import { whole } from '../../api/all-pages.ts';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import type { Peer } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { goTo, linkTo, route } from '../../route/route.ts';
import { texts } from '../../texts/texts.ts';
import { useAct } from '../../ui/act.ts';
import { withAgentNames } from '../../ui/agent-names.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { TextField } from '../../ui/field.tsx';
import { labelsOf, labelsText } from '../../ui/labels.ts';
import { ProblemNotice } from '../../ui/problem.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { PeerAccess } from './access.tsx';
import { AdoptPeer } from './adopt-peer.tsx';
import { factsOf } from './peer-fields.tsx';
import { PeerState } from './peer-state.tsx';

/** One device: what it is, whom it talks to and how, and what can be done with it. */
export function PeerDetails({ name, closeTo = 'peers' }: { name: string; closeTo?: string }) {
  const loaded = useLoaded(() => readPeer(name, route.value.query.get('at')));
  return <ReadResult of={loaded.value}>{(peer) => <Details peer={peer} closeTo={closeTo} />}</ReadResult>;
}

function Details({ peer, closeTo }: { peer: Peer; closeTo: string }) {
  const agents = useAgentNames();
  const isPast = route.value.query.has('at');
  return (
    <article class="panel stack" aria-label={peer.name}>
      <ReadResult of={agents.value} loading="" />
      <div class="row">
        <h2 class="break">{peer.name}</h2>
        <PeerState peer={peer} />
        <a class="push" href={linkTo(closeTo)}>
          {texts.common.close}
        </a>
      </div>
      <Facts facts={factsOf({ ...peer, labelled: withAgentNames(labelsText(peer.labels), agents.value.value) })} />
      {!isPast && <PeerAccess id={peer.id} agents={agents.value.value} />}
      {peer.status.phase === 'ready' && !isPast && <Paths id={peer.id} />}
      {!isPast && <Actions peer={peer} />}
    </article>
  );
}

/** As it is, or as it was at an instant. */
async function readPeer(name: string, at: string | null): Promise<Peer> {
  if (!at) return answer(api.GET('/api/v1/peers/{id}', { params: { path: { id: name } } }));
  const { items } = await answer(api.GET('/api/v1/peers', { params: { query: { at, prefix: name } } }));
  const found = whole(items).find((peer) => peer.name === name);
  if (!found) throw new Problem({ title: texts.peers.notThen(name), code: 'not_found', status: 404 });
  return found;
}

function Paths({ id }: { id: string }) {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/peers/{id}/paths', { params: { path: { id } } })));
  return (
    <section class="stack-small">
      <h3>{texts.peers.paths}</h3>
      <ReadResult of={loaded.value}>
        {({ items }) => (
          <>
            {items.length === 0 && <p class="dim">{texts.peers.noPaths}</p>}
            <ul class="stack-small">
              {items.map(({ peer, name, path, transport, reason, since }) => (
                <li key={peer} class="row">
                  <a href={linkTo('peers', [name])}>{name}</a>
                  <span class={`tag ${path === 'direct' ? 'ok' : 'warn'}`}>{path ?? transport}</span>
                  <span class="dim small">{reason}</span>
                  <Time at={since} />
                </li>
              ))}
            </ul>
          </>
        )}
      </ReadResult>
    </section>
  );
}

type Asked = 'revoke' | 'delete' | 'adopt' | undefined;

/** What the person may do: what would be refused is not there. */
function Actions({ peer }: { peer: Peer }) {
  const asked = useSignal<Asked>(undefined);
  const { isActing, problem, act } = useAct();
  const params = { path: { id: peer.id } };
  const body = { revision: peer.revision };
  const { phase } = peer.status;
  const approve = () =>
    act(() => write(api.POST('/api/v1/peers/{id}/approve', { params, body }), texts.peers.approved(peer.name)));
  const [mayApprove, mayWrite] = [may('peers:approve'), may('network:write')];
  if (!mayApprove && !mayWrite) return null;
  return (
    <>
      <ProblemNotice problem={problem.value} />
      {mayWrite && phase !== 'revoked' && <EditPeer key={peer.revision} peer={peer} />}
      <div class="row">
        {mayApprove && (phase === 'pending' || phase === 'revoked') && (
          <button type="button" class="primary" disabled={isActing.value} onClick={approve}>
            {phase === 'revoked' ? texts.peers.letIn(peer.name) : texts.peers.approve(peer.name)}
          </button>
        )}
        {mayApprove && phase === 'ready' && peer.delegatedBy !== null && peer.agent === null && (
          <button type="button" onClick={() => (asked.value = 'adopt')}>
            {texts.peers.adopt}
          </button>
        )}
        {mayApprove && phase !== 'revoked' && (
          <button type="button" class="danger" onClick={() => (asked.value = 'revoke')}>
            {phase === 'pending' ? texts.peers.reject(peer.name) : texts.peers.revoke}
          </button>
        )}
        {mayWrite && (
          <button type="button" class="danger" onClick={() => (asked.value = 'delete')}>
            {texts.peers.delete}
          </button>
        )}
      </div>
      {asked.value === 'adopt' && <AdoptPeer peer={peer} close={() => (asked.value = undefined)} />}
      {asked.value === 'revoke' && (
        <Confirm
          title={texts.peers.revokeTitle(peer.name)}
          act={texts.peers.revoke}
          run={() => write(api.POST('/api/v1/peers/{id}/revoke', { params, body }), texts.peers.revoked(peer.name))}
          close={() => (asked.value = undefined)}
        >
          <p>{texts.peers.revokeWhy}</p>
        </Confirm>
      )}
      {asked.value === 'delete' && (
        <Confirm
          title={texts.peers.deleteTitle(peer.name)}
          act={texts.peers.delete}
          name={peer.name}
          run={async () => {
            await write(api.DELETE('/api/v1/peers/{id}', { params, body }), texts.peers.deleted(peer.name));
            goTo(linkTo('peers'));
          }}
          close={() => (asked.value = undefined)}
        >
          <p>{texts.peers.deleteWhy}</p>
        </Confirm>
      )}
    </>
  );
}

/** Name and labels; labels are written `key=value`, with spaces between. */
function EditPeer({ peer }: { peer: Peer }) {
  const name = useSignal(peer.name);
  const labels = useSignal(labelsText(peer.labels));
  const { isActing, problem, act } = useAct();
  const isSame = name.value === peer.name && labels.value.trim() === labelsText(peer.labels);
  const submit = (event: Event) => {
    event.preventDefault();
    return act(async () => {
      const body = { name: name.value, labels: labelsOf(labels.value), revision: peer.revision };
      await write(
        api.PATCH('/api/v1/peers/{id}', { params: { path: { id: peer.id } }, body }),
        texts.peers.saved(name.value),
      );
      if (name.value !== peer.name) goTo(linkTo('peers', [name.value]));
    });
  };
  return (
    <details>
      <summary>{texts.peers.edit}</summary>
      <form class="stack" onSubmit={submit}>
        <TextField label={texts.peers.name} value={name} required autocomplete="off" />
        <TextField label={texts.peers.labels} hint={texts.peers.labelsHint} value={labels} autocomplete="off" />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" disabled={isActing.value || isSame}>
            {texts.peers.save}
          </button>
        </div>
      </form>
    </details>
  );
}
