import type { ComponentChildren } from 'preact';
import columns from '../../api/peer-columns.json';
import type { Peer } from '../../api/types.ts';
import { Chip } from '../../design/chip.tsx';
import { type AgentNames, withAgentNamesIn } from '../../ui/agent-names.ts';
import { CopyButton } from '../../ui/copy.tsx';
import type { Fact } from '../../ui/facts.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

/** A peer with its labels as they are shown, agents in them by name. */
export type ShownPeer = Peer & { readonly shownLabels: readonly string[] };

export function withShownLabels(peer: Peer, agents: AgentNames | undefined): ShownPeer {
  const labels = Object.entries(peer.labels).map(([key, value]) => `${key}=${value}`);
  return { ...peer, shownLabels: withAgentNamesIn(labels, agents) };
}

/** The fields whose value alone does not say it. */
const CELLS: Readonly<Record<string, (peer: ShownPeer) => ComponentChildren>> = {
  labels: ({ shownLabels }) =>
    shownLabels.length > 0 && (
      <span class="chips">
        {shownLabels.map((label) => (
          <Chip key={label}>{label}</Chip>
        ))}
      </span>
    ),
  'status.lastSeenAt': ({ status }) => (status.online ? 'now' : <Time at={status.lastSeenAt} />),
  'status.approvedBy': ({ status }) =>
    status.approvedBy && [`${status.approvedBy}, `, <Time key="approved" at={status.approvedAt} />],
  'status.ephemeral': ({ status }) => status.ephemeral && 'deleted after 10 minutes offline',
};

/** The columns of fields in the list of peers. */
export const COLUMNS = columns
  .filter((field) => field.in?.includes('dashboard'))
  .map((field): Column<ShownPeer> => {
    return {
      name: field.title,
      cell: (peer) => cellOf(field, peer),
      order: (peer) => orderOf(field.path === 'labels' ? peer.shownLabels.join(' ') : valueAt(peer, field.path)),
      isMinor: field.path !== 'status.address',
      isWide: field.path === 'labels',
    };
  });

/** Returns every field of a peer that has a value, under its title. */
export function factsOf(peer: ShownPeer): Fact[] {
  return columns
    .filter(({ path }) => !IN_HEADING.has(path))
    .map((field) => {
      const value = valueAt(peer, field.path);
      const cell = cellOf(field, peer);
      const isCopied = field.form === 'copied' && typeof value === 'string';
      return [field.title, isCopied ? [cell, ' ', <CopyButton key="copy" text={value} />] : cell];
    });
}

/** Returns every field of every peer, under its title. */
export function csvOfPeers(peers: readonly ShownPeer[]): string[][] {
  const cell = (peer: ShownPeer, path: string) =>
    path === 'labels' ? peer.shownLabels.join(' ') : String(valueAt(peer, path) ?? '');
  return [columns.map(({ title }) => title), ...peers.map((peer) => columns.map(({ path }) => cell(peer, path)))];
}

const IN_HEADING: ReadonlySet<string> = new Set(['name', 'status.phase', 'status.online']);

function cellOf({ path, form }: { path: string; form?: string | undefined }, peer: ShownPeer): ComponentChildren {
  const own = CELLS[path];
  if (own) return own(peer);
  const value = valueAt(peer, path);
  if (value === true) return 'yes';
  if (value === undefined || value === null || value === false) return null;
  if (form === 'instant') return <Time key={path} at={String(value)} />;
  return form === 'copied' ? <code key={path}>{String(value)}</code> : String(value);
}

function valueAt(peer: Peer, path: string): unknown {
  return path.split('.').reduce<unknown>((value, field) => Object(value)[field], peer);
}

/** 10.96.0.9 before 10.96.0.10, and nothing before anything. */
function orderOf(value: unknown): string {
  return String(value ?? '').replaceAll(/\d+/g, (digits) => digits.padStart(8, '0'));
}
