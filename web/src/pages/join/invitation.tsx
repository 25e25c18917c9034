import { useSignal } from '@preact/signals';
import { isLoopbackUrl } from '../../../../core/base/loopback.ts';
import { whole } from '../../api/all-pages.ts';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Peer } from '../../api/types.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { linkTo } from '../../route/route.ts';
import { join as words } from '../../texts/join.ts';
import { texts } from '../../texts/texts.ts';
import { useAct } from '../../ui/act.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { QrCode } from '../../ui/qr.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { chosenTab, Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { PeerAccess } from '../peers/access.tsx';
import { PeerState } from '../peers/peer-state.tsx';
import type { JoinToken } from './join-form.tsx';
import { joinLink, serverFor, tokenIn } from './join-link.ts';

const PLATFORMS = Object.entries(words.platforms);
const MOST_JOINED = 50;

/** What a device needs to join, shown this once, and the devices that do. */
export function Invitation({ issued, another }: { issued: JoinToken; another: () => void }) {
  const server = useSignal(serverFor(issued.joinLink));
  const link = joinLink(server.value, tokenIn(issued.joinLink));
  return (
    <section class="panel stack" aria-label={words.made(issued.name)}>
      <div class="row">
        <h2 class="break">{words.made(issued.name)}</h2>
        <span class="dim">
          {words.good(issued.usageLimit)} <Time at={issued.expiresAt} />
        </span>
        <button type="button" class="push" onClick={another}>
          {words.another}
        </button>
      </div>
      <p class="notice warn">{words.once}</p>
      <div class="invitation">
        <QrCode text={link} label={words.qr(issued.name)} />
        <div class="stack">
          <TextField label={words.server} value={server} autocomplete="off" />
          {isLoopbackUrl(server.value) && <p class="notice warn">{words.loopback}</p>}
          <CodeBlock label={words.link} text={link} />
          <Commands link={link} />
        </div>
      </div>
      <Joined since={issued.createdAt} />
    </section>
  );
}

function Commands({ link }: { link: string }) {
  const platform = chosenTab('on', PLATFORMS) as keyof typeof words.platforms;
  // Spaces, quotes and $ are encoded in a link: it stands in single quotes as it is.
  const commands = [`sudo mesh init '${link}'`, 'sudo mesh up --daemon', 'sudo mesh status'];
  if (platform === 'macos') commands.unshift('brew install wireguard-go');
  return (
    <section class="stack-small">
      <Tabs label={words.platform} name="on" options={PLATFORMS} />
      <p>{words.steps[platform]}</p>
      {platform !== 'phone' && <CodeBlock label={words.commands} text={commands.join('\n')} />}
    </section>
  );
}

function Joined({ since }: { since: string }) {
  const loaded = useLoaded(() => {
    workspaceId.value;
    const query = { joined_since: since, limit: MOST_JOINED };
    return answer(api.GET('/api/v1/peers', { params: { query } }));
  });
  return (
    <section class="stack-small" aria-live="polite">
      <h3>{words.joined}</h3>
      <ReadResult of={loaded.value}>
        {({ items }) => (
          <>
            {items.length === 0 && <p class="dim">{words.none}</p>}
            <ul class="stack-small">
              {whole(items).map((peer) => (
                <JoinedPeer key={peer.id} peer={peer} />
              ))}
            </ul>
          </>
        )}
      </ReadResult>
    </section>
  );
}

function JoinedPeer({ peer }: { peer: Peer }) {
  const { isActing, problem, act } = useAct();
  const { id, name, platform, revision, status, createdAt } = peer;
  const approve = () =>
    act(() =>
      write(
        api.POST('/api/v1/peers/{id}/approve', { params: { path: { id } }, body: { revision } }),
        texts.peers.approved(name),
      ),
    );
  return (
    <li class="row">
      <a href={linkTo('peers', [name])} class="break">
        {name}
      </a>
      <PeerState peer={peer} />
      <span class="dim small">{platform}</span>
      {status.address && <code>{status.address}</code>}
      <Time at={createdAt} />
      {status.phase === 'pending' && may('peers:approve') && (
        <button type="button" class="primary" disabled={isActing.value} onClick={approve}>
          <span class="break">{texts.peers.approve(name)}</span>
        </button>
      )}
      <ProblemNotice problem={problem.value} />
      {status.phase === 'pending' && may('peers:approve') && <PeerAccess id={id} agents={undefined} />}
    </li>
  );
}
