import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { whole } from '../../api/all-pages.ts';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Peer, Workflow } from '../../api/types.ts';
import { waiting } from '../../api/waiting.ts';
import { holds, workspaceId } from '../../api/workspace.ts';
import { actorText } from '../../design/actor-words.ts';
import { Chip, type Tone } from '../../design/chip.tsx';
import { Risk } from '../../effect/risk.tsx';
import { goTo, linkTo, replaceAddress, route } from '../../route/route.ts';
import { ago, DAY_MS } from '../../time/moment.ts';
import { isTyping } from '../../ui/keys.ts';
import { KeysButton } from '../../ui/keys-help.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { PeerDetails } from '../peers/peer-details.tsx';
import { Decision } from './decision.tsx';

/** `#/…/review/<workflow>`, `#/…/review/peer/<name>`; links of plans are `#/workflows/<workflow>`. */
const PEER = 'peer';
const DECIDED = 30;
/** Devices that joined so long ago are in Audit alone. */
const DEVICES_MS = 7 * DAY_MS;
const MOST_DEVICES = 200;

/** The queue of what waits, and one change or device with all that it takes to decide it. */
export default function Review() {
  const [first, second] = route.value.rest;
  const [id, peer] = first === PEER ? [undefined, second] : [first, undefined];
  const { workflows = [], peers = [] } = waiting.value.value ?? {};
  const links = [...workflows.map((workflow) => linkTo('review', [workflow.id])), ...peers.map(linkOf)];
  useQueueKeys(links);
  useFirstChosen(first, links[0]);
  return (
    <Page
      title="Review"
      actions={
        <>
          {links.length > 0 && <Chip tone="accent">{links.length} waiting</Chip>}
          <KeysButton />
        </>
      }
    >
      <div class={`queue ${first ? 'chosen' : ''}`}>
        <div class="stack list">
          <nav class="panel" aria-label="Waiting for a decision">
            <ReadResult of={waiting.value}>
              {() =>
                links.length === 0 && (
                  <Empty>
                    Nothing waits. When an agent or a person asks for a change that needs approval, it appears here.{' '}
                    {holds('intents:plan') && (
                      <a class="button" href={linkTo('change')}>
                        Plan a change
                      </a>
                    )}
                  </Empty>
                )
              }
            </ReadResult>
            <ul>
              {workflows.map((workflow) => (
                <WorkflowLink key={workflow.id} workflow={workflow} isChosen={workflow.id === id} />
              ))}
              {peers.map((waitingPeer) => (
                <PeerLink key={waitingPeer.id} peer={waitingPeer} isChosen={waitingPeer.name === peer} />
              ))}
            </ul>
          </nav>
          <Decided chosen={id} />
          {holds('audit:read') && (
            <p class="dim small">
              Earlier decisions about devices are in <a href={linkTo('audit', [], { kind: 'MeshPeer' })}>Audit</a>.
            </p>
          )}
        </div>
        {id && <Decision key={id} id={id} />}
        {peer && <PeerDetails key={peer} name={peer} closeTo="review" />}
        {!first && waiting.value.value && (
          <p class="dim wide-only">
            {links.length > 0
              ? 'Choose a request on the left, or press j.'
              : 'Nothing waits for a decision. Choose a decided change on the left to see what it did.'}
          </p>
        )}
      </div>
    </Page>
  );
}

const linkOf = ({ name }: Peer) => linkTo('review', [PEER, name]);

function WorkflowLink({ workflow, isChosen }: { workflow: Workflow; isChosen: boolean }) {
  const { id, summary, riskLevel, requestedBy, requestedAt } = workflow;
  return (
    <QueueLink href={linkTo('review', [id])} isChosen={isChosen} title={summary}>
      <Risk level={riskLevel} />
      <span class="break">{actorText(requestedBy)}</span>
      <Time at={requestedAt} />
    </QueueLink>
  );
}

function PeerLink({ peer, isChosen }: { peer: Peer; isChosen: boolean }) {
  return (
    <QueueLink href={linkOf(peer)} isChosen={isChosen} title={`${peer.name} is awaiting approval`}>
      <span>{peer.platform}</span>
      <Time at={peer.createdAt} />
    </QueueLink>
  );
}

interface QueueLinkProps {
  readonly href: string;
  readonly isChosen: boolean;
  readonly title: string;
  readonly children: ComponentChildren;
}

function QueueLink({ href, isChosen, title, children }: QueueLinkProps) {
  return (
    <li>
      <a href={href} aria-current={isChosen}>
        <span class="break">{title}</span>
        <span class="row small dim">{children}</span>
      </a>
    </li>
  );
}

/** A change or a device that is decided. */
interface DecidedItem {
  readonly key: string;
  readonly href: string;
  readonly title: string;
  readonly status: string;
  readonly by: string | null;
  readonly at: string;
}

/** Those that expired were decided by nobody. */
const ofWorkflow = ({ id, summary, status, reviewedBy, reviewedAt, requestedAt }: Workflow): DecidedItem => ({
  key: id,
  href: linkTo('review', [id]),
  title: summary,
  status,
  by: reviewedBy,
  at: reviewedAt ?? requestedAt,
});

/** None for a device that nobody had to approve. */
function ofPeer({ id, name, status: { approvedBy, approvedAt } }: Peer): DecidedItem[] {
  if (approvedAt === null) return [];
  return [{ key: id, href: linkTo('peers', [name]), title: name, status: 'approved', by: approvedBy, at: approvedAt }];
}

/** The last changes that were decided and the devices that were approved, by whom. */
function Decided({ chosen }: { chosen: string | undefined }) {
  const loaded = useLoaded(async () => {
    workspaceId.value;
    const joined = { joined_since: ago(DEVICES_MS), limit: MOST_DEVICES };
    const [workflows, peers] = await Promise.all([
      answer(api.GET('/api/v1/workflows', { params: { query: { limit: DECIDED } } })),
      answer(api.GET('/api/v1/peers', { params: { query: joined } })),
    ]);
    const changes = workflows.items.filter(({ status }) => status !== 'pending').map(ofWorkflow);
    return [...changes, ...whole(peers.items).flatMap(ofPeer)];
  });
  return <ReadResult of={loaded.value}>{(items) => <DecidedList items={items} chosen={chosen} />}</ReadResult>;
}

function DecidedList({ items, chosen }: { items: readonly DecidedItem[]; chosen: string | undefined }) {
  if (items.length === 0) return null;
  const newest = items.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, DECIDED);
  return (
    <nav class="panel" aria-label="Decided">
      <h2 class="small dim">Decided</h2>
      <ul>
        {newest.map(({ key, href, title, status, by, at }) => (
          <QueueLink key={key} href={href} isChosen={key === chosen} title={title}>
            <Chip tone={TONES[status] ?? ''}>{status}</Chip>
            <span class="break">{by && actorText(by)}</span>
            <Time at={at} />
          </QueueLink>
        ))}
      </ul>
    </nav>
  );
}

const TONES: Readonly<Record<string, Tone>> = { executed: 'ok', approved: 'ok', failed: 'danger' };

/** Where there is room beside the list, it opens with the first request chosen; whoever closes that stays at the list. */
function useFirstChosen(chosen: string | undefined, firstLink: string | undefined): void {
  const isOver = useRef(false);
  useLayoutEffect(() => {
    if (isOver.current || (chosen === undefined && firstLink === undefined)) return;
    isOver.current = true;
    if (chosen === undefined && firstLink !== undefined && isWide()) replaceAddress(firstLink);
  }, [chosen, firstLink]);
}

/** As in `effect.css`. */
const isWide = () => matchMedia('(min-width: 1200px)').matches;

/** `j` and `k` go through the queue. */
function useQueueKeys(links: readonly string[]): void {
  const latest = useSignal(links);
  latest.value = links;
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || !['j', 'k'].includes(event.key)) return;
      const index = latest.value.indexOf(location.hash);
      const next = latest.value[event.key === 'j' ? index + 1 : Math.max(0, index - 1)];
      if (next) goTo(next);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
