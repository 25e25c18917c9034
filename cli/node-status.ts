import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { NodeStatus, PeerStatus } from '../client/agent/node-status.ts';
import { KEY_SHARED } from '../client/control/standing.ts';
import { type RouteRefusal, refusalText } from '../client/routes/judge-route.ts';
import { formatDuration } from '../core/base/duration.ts';
import { parseInstant } from '../core/base/time.ts';
import { type Answer, answering } from './answer.ts';
import { hostFirewallLines } from './host-firewall.ts';
import { nodeStatus } from './node-agent.ts';
import { withoutOverlayText } from './node-blocked.ts';
import { nodeDirectory } from './node-directory.ts';
import { HINTS, renumberText } from './node-hints.ts';
import { requireNodeRights } from './node-rights.ts';
import { runnable } from './own-command.ts';
import { visibleTexts } from './visible.ts';

/** `mesh status`: this node, and how each peer is reached. */
export function defineStatus(status: Command): void {
  answering(
    status.option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)'),
    async ({ configDir }: { configDir?: string }): Promise<Answer> => {
      requireNodeRights('mesh status', configDir);
      const value = await nodeStatus(configDir);
      return { value, text: statusText(value, Date.now(), nodeDirectory(configDir)).split('\n') };
    },
  );
}

const COLUMNS = ['Peer', 'Address', 'Transport', 'Path', 'Handshake', 'State', 'Endpoint'] as const;

/** For people: this node, what it is connected to, a row for each peer, and why some are not reached directly. */
export function statusText(told: NodeStatus, now: number, directory = nodeDirectory(undefined)): string {
  const status = visibleTexts(told);
  const { peers } = status;
  if (peers.length === 0) return [...head(status, now, directory), '', withoutPeers(status, directory)].join('\n');
  const rows = peers.map((peer) => [
    peer.name,
    peer.address,
    peer.transport,
    peer.path ?? '-',
    ago(peer.handshake, now),
    stateOf(peer),
    peer.endpoint ?? '-',
  ]);
  const widths = COLUMNS.map((column, at) => Math.max(column.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  const reasons = peers.filter(({ path }) => path !== 'direct').map((peer) => `${peer.name}: ${reasonOf(peer)}`);
  return [
    ...head(status, now, directory),
    '',
    styleText('bold', line(COLUMNS)),
    ...rows.map(line),
    ...(reasons.length > 0 ? ['', ...reasons] : []),
  ].join('\n');
}

/** Silence that is worth a word: a peer that is there answers within 10 s. */
const SILENT_MS = 11_000;

function stateOf({ state, silentMs }: PeerStatus): string {
  if (silentMs === null || silentMs < SILENT_MS) return state;
  const silent = `silent for ${Math.floor(silentMs / 1_000)} s`;
  return state === 'unreachable' ? `${state}, ${silent}` : silent;
}

/** Why there are none, and who can change that. */
function withoutPeers(status: NodeStatus, directory?: string): string {
  const down = withoutOverlayText(status, directory);
  if (down !== undefined) return down;
  // A node is not told of peers that policy hides from it.
  return runnable(
    `No peers: this node is the only one in its network, or no policy lets it and another one talk. Which of both: ${HINTS.listPeers({ server: status.control.server })}`,
  );
}

function head(status: NodeStatus, now: number, directory: string): string[] {
  const { node, control, log, names, proxy, relay, icePort, firewall } = status;
  const address = node.address === null ? 'down' : `${node.address} in ${node.cidr}`;
  const dropped = Object.entries(relay.dropped).filter(([, count]) => count > 0);
  const drops = dropped.length > 0 ? `, dropped ${dropped.map(([why, count]) => `${count} ${why}`).join(', ')}` : '';
  const rows: [string, string][] = [
    ['Node', `${node.name}  ${address}  ${node.interface} (${node.tunnel ?? 'no tunnel'}), UDP ${node.listenPort}`],
    ...(node.newName ? [['New name', `${node.newName.name} not yet: ${node.newName.detail}`] as [string, string]] : []),
    ['Control plane', `${control.server}  ${control.standing}, heard ${ago(control.heardAt, now)}`],
    ['Bus', `${control.bus.url}  ${busText(control.bus)}`],
    ['Relay', `${relay.address ?? 'none'}  ${relay.state}${relay.reason ? ` (${relay.reason})` : ''}${drops}`],
    ...(relay.all.length > 1 ? relay.all.map(relayRow) : []),
    [
      'Shared port',
      icePort.isShared
        ? `yes, seen as ${icePort.mapped.ipv4 ?? icePort.mapped.ipv6 ?? '-'}`
        : `no: ${icePort.obstacle ?? '-'}`,
    ],
    ['Firewall', `${firewall.in} rules in, ${firewall.out} out; graph version ${control.graph?.version ?? '-'}`],
  ];
  if (proxy) rows.push(['Proxy', proxyText(proxy)]);
  // An overlay that is down has no names.
  if (names && node.address !== null) rows.push(['Names', namesText(names)]);
  for (const line of hostFirewallLines(firewall, directory, now)) rows.push(['Host firewall', line]);
  rows.push(['Audit log', logText(log, now)]);
  rows.push(...routeRows(status));
  if (node.expiresAt !== null) rows.push(['Ends', node.expiresAt]);
  for (const text of [control.trouble, troubleText(status, directory)])
    if (text) rows.push(['Trouble', runnable(text)]);
  return rows.map(([name, text]) => `${name.padEnd(15)}${text}`);
}

/** Whoever looks over a shoulder does not read the password. */
function proxyText({ address, user }: NonNullable<NodeStatus['proxy']>): string {
  const how = user === null ? 'open to every program of this host' : `user ${user}, password with --json`;
  return `${address}  SOCKS5 and HTTP, ${how}`;
}

/** Returns the state of the bus. Its error repeats the address, which is removed. */
function busText({ url, isUp, trouble }: NodeStatus['control']['bus']): string {
  return isUp ? 'up' : trouble.replace(`the bus at ${url} `, '');
}

/** Lines about a block that this node does not route, or routes only because it did before. */
function routeRows({ control: { server }, routes: { accepted, refused, carried } }: NodeStatus): [string, string][] {
  return [
    ...(accepted.length > 0 ? [['Accepted', `${accepted.join(', ')}, beside private blocks`] as [string, string]] : []),
    ...(refused ? [['Not routed', refusedText(refused, server)] as [string, string]] : []),
    ...(carried
      ? [
          [
            'Warning',
            runnable(
              `The block ${carried.cidr} stays routed as by an earlier version, although ${carried.reason}. ${carried.remedy}`,
            ),
          ] as [string, string],
        ]
      : []),
  ];
}

/** Says why a block is not routed and, where the host needs its addresses, how to renumber. */
export function refusedText(refused: RouteRefusal, server: string): string {
  const text = refusalText(refused);
  return refused.code === 'translated' ? `${text} ${renumberText({ server })}` : text;
}

function troubleText({ control: { server }, trouble, routes: { refused } }: NodeStatus, directory?: string): string {
  if (refused && trouble === refusalText(refused)) return '';
  if (trouble !== KEY_SHARED) return trouble;
  return `${KEY_SHARED}. On one of them, with a new join token in a file: ${HINTS.joinAgain({ directory, server })}`;
}

/** Returns the row of one relay among several: its location, distance and use. */
function relayRow({
  name,
  region,
  address,
  state,
  reason,
  roundTripMs,
  peers,
}: NodeStatus['relay']['all'][number]): [string, string] {
  const far = roundTripMs === null ? 'not measured' : `${roundTripMs} ms`;
  const used = `ready, for ${peers} ${peers === 1 ? 'peer' : 'peers'} without a direct path`;
  const ready = peers === 0 ? 'kept ready' : used;
  const how = state === 'ready' ? ready : state;
  return [`  ${name}`, `${region ? `${region}, ` : ''}${address}  ${far}, ${how}${reason ? ` (${reason})` : ''}`];
}

function namesText({ domain, server, resolver, trouble }: NonNullable<NodeStatus['names']>): string {
  const where = server === null ? 'not served' : `${domain} at ${server}`;
  if (trouble) return `${where}; ${runnable(trouble)}`;
  return resolver === null ? where : `${where}, by ${resolver}`;
}

function logText({ size, verifiedAt, finding, trouble }: NodeStatus['log'], now: number): string {
  const kept = size === null ? 'none verified yet' : `${size} entries verified ${ago(verifiedAt, now)}`;
  if (finding) return `REFUSED (${finding.code}) ${ago(finding.at, now)}: ${finding.message} Kept: ${kept}.`;
  return trouble ? `${kept}; ${trouble}` : kept;
}

export function reasonOf({ transport, relay, reason }: PeerStatus): string {
  const relayed = relay === null ? 'relayed' : `relayed by ${relay}`;
  return `${transport === 'lrp-ready' ? relayed : transport} because ${lowerFirst(reason.detail)} (${reason.code})`;
}

/** Makes a sentence a part of another one: a first word such as STUN keeps its letters. */
function lowerFirst(text: string): string {
  return text.replace(/^[A-Z](?![A-Z\d_])/, (letter) => letter.toLowerCase()).replace(/\.$/, '');
}

function ago(instant: string | null, now: number): string {
  if (instant === null) return 'never';
  const seconds = Math.floor((now - parseInstant(instant)) / 1_000);
  return seconds <= 0 ? 'now' : `${formatDuration(seconds * 1_000)} ago`;
}
