import { useSignal } from '@preact/signals';
import { whole } from '../../api/all-pages.ts';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Peer } from '../../api/types.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { linkTo } from '../../route/route.ts';
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
import { isReachable } from './is-reachable.ts';
import type { JoinToken } from './join-form.tsx';
import { joinLink, serverFor, tokenIn } from './join-link.ts';
import { WorkloadSteps } from './workload-steps.tsx';

const STEPS = {
  linux:
    'With mesh installed, as in the README. It needs superuser rights, iproute2, nftables, and WireGuard in the kernel or wireguard-go.',
  container:
    'Start the container with --privileged, or with --cap-add NET_ADMIN --device /dev/net/tun. Then inside it:',
  macos: 'With mesh installed, as in the README. It runs wireguard-go on a utun interface.',
  phone: 'Scan the QR code with an app that speaks the Mesh API. mesh itself runs on Linux and macOS.',
};
type Platform = keyof typeof STEPS;
const NO_CODE = 'Enter an address above that the device reaches: a QR code for it appears then.';
const PLATFORMS = Object.entries({
  linux: 'Linux',
  container: 'Container',
  macos: 'macOS',
  phone: 'iPhone, iPad',
} satisfies Record<Platform, string>);
const MOST_JOINED = 50;

/** What a device needs to join, shown this once, and the devices that do. */
export function Invitation({ issued, another }: { issued: JoinToken; another: () => void }) {
  const title = `Join token ${issued.name}`;
  return (
    <section class="panel stack" aria-label={title}>
      <div class="row">
        <h2 class="break">{title}</h2>
        <span class="dim">
          Adds {issued.usageLimit === 1 ? '1 device' : `${issued.usageLimit} devices`}, ends{' '}
          <Time at={issued.expiresAt} />
        </span>
        <button type="button" class="push" onClick={another}>
          Make another token
        </button>
      </div>
      {issued.identity ? <WorkloadSteps {...issued} /> : <DeviceSteps issued={issued} />}
      <Joined since={issued.createdAt} />
    </section>
  );
}

function DeviceSteps({ issued }: { issued: JoinToken }) {
  const server = useSignal(serverFor(issued.joinLink));
  const isReached = isReachable(server.value);
  const link = joinLink(server.value, tokenIn(issued.joinLink));
  return (
    <>
      <p class="notice warn">The token is shown this once. When you leave this page it cannot be shown again.</p>
      <div class="invitation">
        {isReached && <QrCode text={link} label={`QR code of the join link of ${issued.name}`} />}
        <div class="stack">
          <TextField label="Address of the control plane, as the device reaches it" value={server} autocomplete="off" />
          {isReached ? (
            <CodeBlock label="Join link" text={link} />
          ) : (
            <p class="notice warn">
              Other devices cannot reach this address. Enter the one that they use, to see the QR code and the link, or
              set app.publicUrls. The commands below work on this machine; in a checkout, write bin/mesh for mesh.
            </p>
          )}
          <Commands link={link} isReached={isReached} />
        </div>
      </div>
    </>
  );
}

function Commands({ link, isReached }: { link: string; isReached: boolean }) {
  const platform = chosenTab('on', PLATFORMS) as Platform;
  // Spaces, quotes and $ are encoded in a link: it stands in single quotes as it is.
  const commands = [`sudo mesh init '${link}'`, 'sudo mesh up --daemon', 'sudo mesh status'];
  if (platform === 'macos') commands.unshift('brew install wireguard-go');
  return (
    <section class="stack-small">
      <Tabs label="Platform of the device" name="on" options={PLATFORMS} />
      <p>{platform === 'phone' && !isReached ? NO_CODE : STEPS[platform]}</p>
      {platform !== 'phone' && <CodeBlock label="Run on the device" text={commands.join('\n')} />}
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
      <h3>Joined since you made it</h3>
      <ReadResult of={loaded.value}>
        {({ items }) => (
          <>
            {items.length === 0 && <p class="dim">No device has joined yet. It appears here by itself.</p>}
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
        `${name} is approved.`,
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
          <span class="break">Approve {name}</span>
        </button>
      )}
      <ProblemNotice problem={problem.value} />
      {status.phase === 'pending' && may('peers:approve') && <PeerAccess id={id} agents={undefined} />}
    </li>
  );
}
