import { type Permission, type PortProtocol, permissionsAt } from '../client/firewall/permissions.ts';
import { formatInstant, parseInstant } from '../core/base/time.ts';
import { containsRange, parseAddress } from '../core/model/cidr.ts';
import type { FirewallEntry, FullGraph } from '../core/model/graph.ts';

/** A question about a pair of which this node is one. */
export interface OwnQuestion {
  readonly from: string;
  readonly to: string;
  readonly protocol?: string | undefined;
  readonly port?: number | undefined;
  readonly now: number;
}

/** The verdict by the graph of a node, in the form in which the control plane answers. */
export interface OwnVerdict {
  readonly denied: boolean;
  readonly explanation: string;
  readonly allowed: 'ALL' | readonly { readonly protocol: string; readonly from?: number; readonly to?: number }[];
}

/**
 * By the graph that a node holds, what it knows of a pair of which it is one.
 *
 * @returns undefined where the graph has no such peer: policy hides it, or there is none, which a node is not told
 */
export function ownVerdict(graph: FullGraph, question: OwnQuestion): OwnVerdict | undefined {
  const { from, to, now } = question;
  const isFromSelf = isNamed(graph.self, from);
  const peer = graph.peers.find((each) => isNamed(each, isFromSelf ? to : from));
  const address = peer && parseAddress(peer.address);
  if (!address) return undefined;
  const entries: readonly FirewallEntry[] = graph.firewall.full[isFromSelf ? 'out' : 'in'];
  const permissionAt = (at: number) => permissionsAt(entries, at).find(({ range }) => containsRange(range, address));
  const permission = permissionAt(now);
  const allowed = permission ? allowedOf(permission) : [];
  const denied = !isPermitted(permission, question);
  const said = `the graph of this node, version ${graph.version}`;
  const ends = new Set(entries.flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [parseInstant(expiresAt)])));
  const ahead = [...ends].filter((end) => end > now).sort((a, b) => a - b);
  const what = openText(allowed, ahead, (end) => {
    const left = permissionAt(end);
    return left ? allowedOf(left) : [];
  });
  const asked = question.protocol === undefined ? '' : ` by ${askedText(question)}`;
  const explanation = denied
    ? `Policy: ${from} may not open connections to ${to}${asked}${what ? `, only: ${what}` : ''} (${said}).`
    : `Policy: ${from} may open to ${to}: ${what} (${said}).`;
  return { denied, explanation, allowed };
}

/** A node by its name or id, as people write it. */
export function isNamed({ id, name }: { readonly id: string; readonly name: string }, wanted: string): boolean {
  return id === wanted || name.toLowerCase() === wanted.replaceAll(' ', '-').toLowerCase();
}

export function allowedText(allowed: Exclude<OwnVerdict['allowed'], 'ALL'>): string {
  return allowed.map(textOf).join(', ');
}

/** Open ports, with the instant at which a temporary rule closes them. */
function openText(
  allowed: OwnVerdict['allowed'],
  ends: readonly number[],
  allowedAt: (end: number) => OwnVerdict['allowed'],
): string {
  if (allowed === 'ALL') {
    const end = ends.find((one) => allowedAt(one) !== 'ALL');
    return `everything${end === undefined ? '' : ` until ${formatInstant(end)}`}`;
  }
  const texts = allowed.map((one) => {
    const end = ends.find((at) => !isCovered(one, allowedAt(at)));
    return `${textOf(one)}${end === undefined ? '' : ` until ${formatInstant(end)}`}`;
  });
  return texts.join(', ');
}

function isCovered({ protocol, from, to }: Exclude<OwnVerdict['allowed'], 'ALL'>[number], by: OwnVerdict['allowed']) {
  if (by === 'ALL') return true;
  return by.some(
    (one) => one.protocol === protocol && (one.from ?? 0) <= (from ?? 0) && (to ?? 0) <= (one.to ?? from ?? 0),
  );
}

function isPermitted(permission: Permission | undefined, { protocol, port }: OwnQuestion): boolean {
  if (!permission) return false;
  const { all, icmp, ports } = permission;
  if (all) return true;
  if (protocol === undefined) return icmp || Object.values(ports).some((some) => some.length > 0);
  if (protocol === 'ICMP') return icmp;
  const open = ports[protocol as PortProtocol] ?? [];
  return port === undefined ? open.length > 0 : open.some(([from, to]) => from <= port && port <= to);
}

function allowedOf({ all, icmp, ports }: Permission): OwnVerdict['allowed'] {
  if (all) return 'ALL';
  const ranges = Object.entries(ports).flatMap(([protocol, some]) =>
    some.map(([from, to]) => ({ protocol, from, to })),
  );
  return [...ranges, ...(icmp ? [{ protocol: 'ICMP' }] : [])];
}

function textOf({ protocol, from, to }: { protocol: string; from?: number; to?: number }): string {
  if (from === undefined) return protocol;
  return `${protocol} ${from === to ? from : `${from}-${to}`}`;
}

function askedText({ protocol, port }: OwnQuestion): string {
  return port === undefined ? `${protocol}` : `${protocol} ${port}`;
}
