import { containsRange, type IpRange, overlaps, parseAddress, parseCidr, parseRange } from '../../core/model/cidr.ts';
import { freeBlock } from '../../core/model/free-block.ts';
import { isPrivateBlock, reservedText, specialRangeIn } from '../../core/model/network-blocks.ts';

/** Why a node does not route the block of its network into the tunnel. */
export const ROUTE_REFUSALS = [
  'too-wide',
  'special',
  'not-accepted',
  'translated',
  'control-plane',
  'own-network',
  'cut-off',
] as const;
type RouteRefusalCode = (typeof ROUTE_REFUSALS)[number];

export interface RouteRefusal {
  readonly cidr: string;
  readonly code: RouteRefusalCode;
  readonly reason: string;
  /** Advice for the person of this host. */
  readonly remedy: string;
}

/** Names the one used address that may be in the tunnel all the same, where the person of this host accepts its block. */
export const DNS_RESOLVER = 'the DNS resolver of this host';

/** An address that this node uses outside of the tunnel. */
export interface UsedAddress {
  /** Such as `the control plane`. */
  readonly of: string;
  readonly address: string;
}

/** Facts that the judgment rests on, as of now. */
export interface RouteFacts {
  /** CIDRs beyond the private ones that the person of this host accepts (`--accept-routes`). */
  readonly accepted: readonly string[];
  /** Block that the node routed before these rules existed. */
  readonly carried?: string | undefined;
  /** Block that cut the node off from its control plane. */
  readonly withdrawn?: string | undefined;
  readonly used: readonly UsedAddress[];
  /** Addresses of the block that the host translates into others, each with the rules that do. */
  readonly translated: readonly string[];
  /** Routes of the host that overlap the block, as `192.168.1.0/24 on eth0`. */
  readonly collisions: readonly string[];
  /** Tells whether the interface is in a network namespace without other interfaces, where a route takes nothing away. */
  readonly isAlone: boolean;
}

/** A route with a warning is in use although a rule speaks against it. */
export type RouteVerdict = { readonly refusal: RouteRefusal } | { readonly warning?: RouteRefusal };

/** The widest block that a node ever routes: 10.0.0.0/8. */
const WIDEST_PREFIX = 8;
const ADVISED_PREFIX = 24;

const restartWith = (cidr: string) => `end the node where it runs, and start it with --accept-routes ${cidr}.`;

/** Advises another block: outside of Kubernetes' services, and free on this host as far as is known. */
function anotherBlock(cidr: string, { used, collisions }: RouteFacts): string {
  const onHost = [cidr, ...used.map(({ address }) => address), ...collisions.map((text) => text.split(' ')[0] ?? '')];
  const block = freeBlock(
    ADVISED_PREFIX,
    onHost.flatMap((text) => parseRange(text) ?? []),
  );
  return `Have an administrator give the network another private block${block ? `, such as ${block}` : ''}.`;
}

/** Decides whether this node routes a block into its tunnel. */
export function judgeRoute(cidr: string, facts: RouteFacts): RouteVerdict {
  const block = parseCidr(cidr);
  const byRule = ruleAgainst(cidr, block, facts);
  if (byRule && facts.carried !== cidr) return { refusal: byRule };
  const byHost = hostAgainst(cidr, block, facts);
  if (byHost) return { refusal: byHost };
  return byRule ? { warning: byRule } : {};
}

/** Tells whether a CIDR may be given to `--accept-routes`; otherwise why not. */
export function unacceptable(cidr: string): string | undefined {
  const block = parseCidr(cidr);
  if (block?.family !== 4) return `${cidr} is no IPv4 block such as 198.18.0.0/15.`;
  if (isTooWide(cidr)) return `${cidr} is wider than /${WIDEST_PREFIX}, which a node never routes.`;
  const special = specialRangeIn(block);
  return special && `${reservedText(cidr, special)}: a node never routes it.`;
}

function ruleAgainst(cidr: string, block: IpRange | undefined, facts: RouteFacts): RouteRefusal | undefined {
  const refused = refuser(cidr);
  const another = anotherBlock(cidr, facts);
  if (block?.family !== 4 || isTooWide(cidr)) {
    return refused(
      'too-wide',
      `it is wider than /${WIDEST_PREFIX}, and would take the Internet away from this host`,
      another,
    );
  }
  const special = specialRangeIn(block);
  if (special) return refused('special', `${special.cidr} is reserved for ${special.use}`, another);
  if (facts.isAlone) return undefined;
  const accepted = isAccepted(block, facts);
  const used = facts.used.find(({ of, address }) => isInside(address, block) && !(accepted && of === DNS_RESOLVER));
  if (used) {
    const reason = `it holds ${used.address}, the address of ${used.of}, which this node would lose`;
    const inTunnel = ` If that resolver is a peer of this network, ${restartWith(cidr)}`;
    return refused('control-plane', reason, used.of === DNS_RESOLVER ? `${another}${inTunnel}` : another);
  }
  if (facts.translated.length > 0 && !accepted) {
    const reason = `this host translates addresses of it into others, as Kubernetes does for its services: ${facts.translated.join('; ')}`;
    return refused('translated', reason, `${another} If nothing here needs these addresses, ${restartWith(cidr)}`);
  }
  if (isPrivateBlock(block) || accepted) return undefined;
  const remedy = `${another} If you trust the network with these addresses, ${restartWith(cidr)}`;
  return refused('not-accepted', 'its addresses are public, and a node routes private ones alone', remedy);
}

function hostAgainst(cidr: string, block: IpRange | undefined, facts: RouteFacts): RouteRefusal | undefined {
  const refused = refuser(cidr);
  const { collisions, withdrawn } = facts;
  const another = anotherBlock(cidr, facts);
  if (collisions.length > 0) {
    const reason = `it overlaps a route of this host: ${collisions.join(', ')}`;
    return refused('own-network', reason, `Remove that route. ${another.replace('Have', 'Or have')}`);
  }
  if (withdrawn !== cidr || (block && isAccepted(block, facts))) return undefined;
  const reason = 'this node lost its control plane when it routed it';
  const remedy = `${another} If something else was the reason, ${restartWith(cidr)}`;
  return refused('cut-off', reason, remedy);
}

const refuser =
  (cidr: string) =>
  (code: RouteRefusalCode, reason: string, remedy: string): RouteRefusal => ({ cidr, code, reason, remedy });

function isTooWide(cidr: string): boolean {
  return Number(cidr.split('/')[1]) < WIDEST_PREFIX;
}

function isAccepted(block: IpRange, { accepted }: Pick<RouteFacts, 'accepted'>): boolean {
  return accepted.some((text) => {
    const range = parseCidr(text);
    return range !== undefined && containsRange(range, block);
  });
}

function isInside(address: string, block: IpRange): boolean {
  const range = parseAddress(address);
  return range !== undefined && overlaps(range, block);
}

/** Returns a refusal as one sentence for people. */
export function refusalText({ cidr, reason, remedy }: RouteRefusal): string {
  return `The block ${cidr} is not routed: ${reason}. ${remedy}`;
}
