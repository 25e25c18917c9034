import type { components } from '../../api/schema.d.ts';
import { actorText } from '../../design/actor-words.ts';
import { rangeText } from '../../reach/ports.ts';

export type Change = components['schemas']['Change'];
export type ChangeEffect = NonNullable<Change['effect']>;

/** Of one change: a revision, or an instant at which time ran out. */
export function keyOf({ revision, at }: Change): string {
  return revision === null ? `time ${at}` : `revision ${revision}`;
}

/** Why, without the id of the workflow that carried it out: that is a link beside it. */
export function reasonText(reason: string, workflow: string | null): string {
  return workflow === null ? reason : reason.replace(`workflow ${workflow} executed: `, '');
}

const NAMED = 3;
const KIND_WORDS = { MeshPeer: 'peer', MeshPolicy: 'policy', MeshNetwork: 'network', AgentIdentity: 'agent' } as const;

/** As `policy web-to-db created, peer web-1 changed and 3 more`. */
export function whatText({ resources }: Pick<Change, 'resources'>): string {
  const named = resources
    .slice(0, NAMED)
    .map(({ type, kind, name }) => `${KIND_WORDS[kind]} ${name} ${type === 'updated' ? 'changed' : type}`)
    .join(', ');
  return resources.length > NAMED ? `${named} and ${resources.length - NAMED} more` : named;
}

/** In a few words, for the slider. */
export function titleText(change: Change): string {
  return `${whatText(change)}, ${change.actor === null ? 'expired' : actorText(change.actor)}`;
}

/** Whether a plan could take something of it back: policies, networks, and labels and networks of peers. */
export function canPutBack({ resources }: Change): boolean {
  const hasPeer = (wanted: Change['resources'][number]['type']) =>
    resources.some(({ type, kind }) => kind === 'MeshPeer' && type === wanted);
  // One that gets another name is deleted and made again.
  if (hasPeer('updated') || (hasPeer('deleted') && hasPeer('created'))) return true;
  return resources.some(({ kind }) => kind === 'MeshPolicy' || kind === 'MeshNetwork');
}

export function isWithoutEffect({ opened, closed, outside_compared: compared }: ChangeEffect): boolean {
  return opened.length + closed.length === 0 && compared;
}

interface PortRange {
  readonly protocol: string;
  readonly from?: number;
  readonly to?: number;
}

export type Ports = 'ALL' | readonly PortRange[];

const ALL_PROTOCOLS = ['TCP', 'UDP', 'SCTP', 'ICMP'];
const LAST_PORT = 65_535;

/** Without ports, or with all of them. */
function isWhole({ from, to }: PortRange): boolean {
  return from === undefined || (from <= 1 && to === LAST_PORT);
}

/** As `TCP 5432, UDP 53-54`. */
export function portsText(ports: Ports): string {
  if (ports === 'ALL') return 'everything';
  if (ports.length === 0) return 'nothing';
  if (ALL_PROTOCOLS.every((protocol) => ports.some((one) => one.protocol === protocol && isWhole(one))))
    return 'everything';
  return ports.map(({ protocol, from, to }) => rangeText(protocol, from, to)).join(', ');
}
