import { useSignal, useSignalEffect } from '@preact/signals';
import { useAgentNames } from '../../api/agents.ts';
import { whole } from '../../api/all-pages.ts';
import { answer, api } from '../../api/client.ts';
import { askEdition, edition } from '../../api/edition.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import type { Peer } from '../../api/types.ts';
import { holds, may } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { Chip } from '../../design/chip.tsx';
import { goTo, linkTo, queryPart } from '../../route/route.ts';
import { useAct } from '../../ui/act.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { labelsOf, labelsText } from '../../ui/labels.ts';
import { ProblemNotice } from '../../ui/problem.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { chosenTab, Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { PeerAccess } from './access.tsx';
import { AdoptPeer } from './adopt-peer.tsx';
import { GonePeer } from './gone-peer.tsx';
import { factsOf, withShownLabels } from './peer-fields.tsx';
import { PeerHistory } from './peer-history.tsx';
import { PeerState } from './peer-state.tsx';

/** A device: its fields and paths, its access, its history, and the actions on it. */
export function PeerDetails({ name, closeTo = 'peers' }: { name: string; closeTo?: string }) {
  const loaded = useLoaded(() => readPeer(name, queryPart('at')));
  useSignalEffect(() => askEdition(true));
  const { problem } = loaded.value;
  if (problem?.code === 'not_found') return <GonePeer name={name} problem={problem} closeTo={closeTo} />;
  return <ReadResult of={loaded.value}>{(peer) => <Details peer={peer} closeTo={closeTo} />}</ReadResult>;
}

const OVERVIEW = ['overview', 'Overview'] as const;
const ACCESS = ['access', 'Access'] as const;
const HISTORY = ['history', 'History'] as const;

function Details({ peer, closeTo }: { peer: Peer; closeTo: string }) {
  const agents = useAgentNames();
  const names = agents.value.value;
  const isPast = queryPart('at') !== null;
  const isPending = peer.status.phase === 'pending';
  const now = isPending && !isPast ? [ACCESS, OVERVIEW] : [OVERVIEW, ACCESS];
  const hasHistory = !isPending && holds('snapshots:read') && edition.value === 'pro';
  const tabs = hasHistory ? [...now, HISTORY] : now;
  const tab = chosenTab('tab', tabs);
  return (
    <article class="panel stack" aria-label={peer.name}>
      <ReadResult of={agents.value} loading="" />
      <div class="row">
        <h2 class="break">{peer.name}</h2>
        <PeerState peer={peer} />
        <a class="push" href={linkTo(closeTo)}>
          Close
        </a>
      </div>
      {peer.status.keySharedAt && (
        <p class="notice warn" role="status">
          Two machines use the key of this peer, so packets reach one or the other. Run mesh init --force with a new
          join token on one of them.
        </p>
      )}
      {tabs.length > 1 && <Tabs label="Parts" name="tab" options={tabs} />}
      {tab === 'overview' && (
        <>
          <Facts facts={factsOf(withShownLabels(peer, names))} />
          {peer.status.phase === 'ready' && !isPast && <Paths id={peer.id} />}
          {!isPast && peer.status.phase !== 'revoked' && may('network:write') && (
            <EditPeer key={peer.revision} peer={peer} />
          )}
        </>
      )}
      {tab === 'access' && <PeerAccess id={peer.id} agents={names} />}
      {tab === 'history' && <PeerHistory name={peer.name} agents={names} />}
      {!isPast && <Actions peer={peer} />}
    </article>
  );
}

/** As it is, or as it was at an instant. */
async function readPeer(name: string, at: string | null): Promise<Peer> {
  if (!at) return answer(api.GET('/api/v1/peers/{id}', { params: { path: { id: name } } }));
  const { items } = await answer(api.GET('/api/v1/peers', { params: { query: { at, prefix: name } } }));
  const found = whole(items).find((peer) => peer.name === name);
  if (!found) throw new Problem({ title: `${name} did not exist then.`, code: 'not_found', status: 404 });
  return found;
}

function Paths({ id }: { id: string }) {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/peers/{id}/paths', { params: { path: { id } } })));
  return (
    <section class="stack-small">
      <h3>Paths to others</h3>
      <ReadResult of={loaded.value}>
        {({ items }) => (
          <>
            {items.length === 0 && <p class="dim">No path to another peer now.</p>}
            <ul class="stack-small">
              {items.map(({ peer, name, path, transport, reason, since }) => (
                <li key={peer} class="row">
                  <a href={linkTo('peers', [name])}>{name}</a>
                  <Chip tone={path === 'direct' ? 'ok' : 'warn'}>{path ?? transport}</Chip>
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
    act(() => write(api.POST('/api/v1/peers/{id}/approve', { params, body }), `${peer.name} is approved.`));
  const [mayApprove, mayWrite] = [may('peers:approve'), may('network:write')];
  if (!mayApprove && !mayWrite) return null;
  return (
    <>
      <ProblemNotice problem={problem.value} />
      <div class="row peer-actions">
        {mayApprove && (phase === 'pending' || phase === 'revoked') && (
          <button type="button" class="primary" disabled={isActing.value} onClick={approve}>
            {phase === 'revoked' ? `Restore ${peer.name}` : `Approve ${peer.name}`}
          </button>
        )}
        {mayApprove && phase === 'ready' && peer.delegatedBy !== null && peer.agent === null && (
          <button type="button" onClick={() => (asked.value = 'adopt')}>
            Adopt
          </button>
        )}
        {mayApprove && phase !== 'revoked' && (
          <button type="button" class="danger" onClick={() => (asked.value = 'revoke')}>
            {phase === 'pending' ? `Reject ${peer.name}` : 'Revoke'}
          </button>
        )}
        {mayWrite && (
          <button type="button" class="danger" onClick={() => (asked.value = 'delete')}>
            Delete
          </button>
        )}
      </div>
      {asked.value === 'adopt' && <AdoptPeer peer={peer} close={() => (asked.value = undefined)} />}
      {asked.value === 'revoke' && (
        <Confirm
          title={`Revoke ${peer.name}?`}
          act="Revoke"
          run={() => write(api.POST('/api/v1/peers/{id}/revoke', { params, body }), `${peer.name} is revoked.`)}
          close={() => (asked.value = undefined)}
        >
          <p>It loses every connection at once. It stays in the list and can be restored.</p>
        </Confirm>
      )}
      {asked.value === 'delete' && (
        <Confirm
          title={`Delete ${peer.name}?`}
          act="Delete"
          name={peer.name}
          run={async () => {
            await write(api.DELETE('/api/v1/peers/{id}', { params, body }), `${peer.name} is deleted.`);
            goTo(linkTo('peers'));
          }}
          close={() => (asked.value = undefined)}
        >
          <p>It loses every connection at once, and its address becomes free. The history keeps it.</p>
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
        `${name.value} is saved.`,
      );
      if (name.value !== peer.name) goTo(linkTo('peers', [name.value]));
    });
  };
  return (
    <details>
      <summary>Name and labels</summary>
      <Form problem={problem} class="stack" onSubmit={submit}>
        <TextField label="Name" value={name} required autocomplete="off" />
        <TextField
          label="Labels"
          hint="As key=value, separated by spaces. These replace all labels."
          value={labels}
          autocomplete="off"
        />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" disabled={isActing.value || isSame}>
            Save
          </button>
        </div>
      </Form>
    </details>
  );
}
