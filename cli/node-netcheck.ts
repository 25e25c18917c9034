import { networkInterfaces } from 'node:os';
import type { Command } from 'commander';
import { askAgent, localSocketPath } from '../client/agent/local-socket.ts';
import {
  askStun,
  type MappedAddress,
  type Mapping,
  Names,
  type NetworkReport,
  natKindOf,
  type Reach,
  type RelayReach,
  reach,
  reachAll,
} from '../client/agent/netcheck.ts';
import { type NodeStatus, nodeStatusSchema } from '../client/agent/node-status.ts';
import { lostNodeOf, nodesOf } from '../client/agent/node-traces.ts';
import { GraphFile } from '../client/control/graph-file.ts';
import { STANDING_BY_REFUSAL, type Standing } from '../client/control/standing.ts';
import { readNodeConfig } from '../client/enrol/node-config.ts';
import { PlaneApi, PlaneRefusal } from '../client/enrol/plane-api.ts';
import type { RelayPlace } from '../client/relay/relays.ts';
import { relaysOf } from '../client/relay/relays-of-graph.ts';
import { type FullGraph, MAIN_RELAY } from '../core/model/graph.ts';
import { formatHostPort, type HostPort } from '../net/host-port.ts';
import { parseRelayAddress, type RelayAddress } from '../net/relay/address.ts';
import { type Answer, answering } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { hostFirewallLines } from './host-firewall.ts';
import { leftoverTunnel } from './leftover-tunnel.ts';
import { noConfiguration } from './no-configuration.ts';
import { blockedText } from './node-blocked.ts';
import { nodeDirectory } from './node-directory.ts';
import { asCliError } from './node-errors.ts';
import { refusedText } from './node-status.ts';
import { runnable } from './own-command.ts';
import { startHint } from './start-hint.ts';
import { visibleTexts } from './visible.ts';

const STUN_PORT = 3_478;
/** With the 3 s for an answer of the ports after it, and those for names beside it, a check ends within 6 s. */
const GRAPH_MS = 2_500;

/** `mesh netcheck`: what of the network works from here, with or without a running node. */
export function defineNetcheck(netcheck: Command): void {
  const names = new Names();
  netcheck.hook('postAction', () => {
    if (names.isLate) process.exit();
  });
  answering(
    netcheck
      .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)')
      .option('--relay-url <host:port>', 'relay to check in place of the advertised one')
      .option('--stun <host:port...>', 'STUN servers to ask in place of the advertised one'),
    async (options: { configDir?: string; relayUrl?: string; stun?: string[] }): Promise<Answer> => {
      const directory = nodeDirectory(options.configDir);
      const { report, node, shutOut } = await check(directory, options, names).catch((error: unknown) => {
        throw asCliError(error);
      });
      const isReached = [report.api, report.bus, report.relay].every((each) => each.isReached);
      const isUp = node ? node.routes.refused === null : !hasDiedHere(directory);
      const isGood = isReached && isUp;
      return {
        value: { ...report, node: node ?? null },
        text: await netcheckLines(report, { node, shutOut, directory }),
        ...(!isGood && { exitCode: EXIT.negative }),
      };
    },
  );
}

/** An agent of the directory began and does not answer, without having ended in order. */
function hasDiedHere(directory: string): boolean {
  return nodesOf(directory).length > 0 || lostNodeOf(directory) !== undefined;
}

async function check(directory: string, { relayUrl, stun }: { relayUrl?: string; stun?: string[] }, names: Names) {
  const config = readNodeConfig(directory);
  if (!config) throw noConfiguration(directory);
  const server = hostPortOf(config.server, config.server.startsWith('https') ? 443 : 80);
  const file = new GraphFile(directory, config.id);
  const given = relayUrl === undefined ? undefined : parseRelayAddress(relayUrl);
  const placesOf = (graph: FullGraph | undefined) => ({
    servers: (stun ?? graph?.stun ?? []).map((address) => hostPortOf(address, STUN_PORT)),
    places: relayAddressesOf(graph, given),
  });
  const stored = file.read();
  const expected = placesOf(stored);
  const bus = hostPortOf(config.signalingUrl, 4_222);
  // All names at once: a resolver that is away takes as long for each.
  for (const { host } of [bus, ...expected.servers, ...expected.places.map(({ address }) => address)])
    void names.of(host);
  // Without an address the control plane need not be waited for.
  const hasAddress = (await names.of(server.host)).found.length > 0;
  const { graph, standing } = hasAddress
    ? await graphOf(new PlaneApi(config.server, config.deviceToken, AbortSignal.timeout(GRAPH_MS)), stored)
    : { graph: stored, standing: 'unknown' as const };
  const shutOut = blockedText({ node: { id: config.id }, control: { server: config.server, standing } }, directory);
  const { servers, places } = placesOf(graph);
  const [four, six, relays, toBus, api, node] = await Promise.all([
    askStun(servers, 4, names),
    askStun(servers, 6, names),
    reachAll(places, names),
    reach(bus, names),
    reach(server, names),
    ownNode(directory),
  ]);
  const unresolved = await names.unresolved();
  const isNamed = ({ host }: HostPort) => unresolved.every((each) => each.host !== host);
  const asked = servers.filter(isNamed);
  const report: NetworkReport = {
    ipv4: mappingOf(four.sights),
    ipv6: mappingOf(six.sights),
    nat:
      asked.length === 0
        ? { kind: 'unknown', detail: unaskedText(servers, shutOut !== undefined) }
        : natKindOf(four.sights.length > 0 ? four : six, ownAddresses()),
    silentStun: asked
      .filter((server) => !four.answered.has(server) && !six.answered.has(server))
      .map(({ host, port }) => formatHostPort(host, port)),
    relay: nearestOf(relays) ?? nowhere(shutOut ? BLOCKED_NODE : 'the graph names no relay'),
    relays,
    bus: toBus,
    api,
    unresolved,
  };
  return { report, node, shutOut };
}

const BLOCKED_NODE = 'the control plane tells nothing to a node that it keeps out';

function unaskedText(servers: readonly HostPort[], isShutOut: boolean): string {
  if (servers.length > 0) return 'No STUN server was asked: DNS gives no address of one.';
  return isShutOut ? `No STUN server was asked: ${BLOCKED_NODE}.` : 'The graph names no STUN server.';
}

/** The given one also where the graph names none. */
function relayAddressesOf(graph: FullGraph | undefined, given: RelayAddress | undefined): readonly RelayPlace[] {
  const places = graph ? relaysOf(graph, given) : [];
  if (places.length > 0 || given === undefined) return places;
  return [{ name: MAIN_RELAY, region: undefined, capacity: 1, address: given }];
}

/** From the control plane, else the one that was kept; none where the control plane keeps this node out. */
async function graphOf(
  api: PlaneApi,
  stored: FullGraph | undefined,
): Promise<{ readonly graph?: FullGraph | undefined; readonly standing: Standing }> {
  try {
    return { graph: await api.graph(), standing: 'ready' };
  } catch (error) {
    const standing = error instanceof PlaneRefusal ? STANDING_BY_REFUSAL[error.code] : undefined;
    return standing === undefined ? { graph: stored, standing: 'unknown' } : { standing };
  }
}

async function ownNode(directory: string): Promise<NodeStatus | undefined> {
  try {
    return nodeStatusSchema.parse(await askAgent(localSocketPath(directory), { ask: 'status' }));
  } catch {
    return undefined;
  }
}

function hostPortOf(address: string, standard: number): HostPort {
  const url = URL.parse(address.includes('://') ? address.replace(/^[a-z]+:/, 'any:') : `any://${address}`);
  if (!url?.hostname) throw new CliError(`"${address}" is no host:port.`, EXIT.input);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? standard : Number(url.port) };
}

function mappingOf([first]: readonly MappedAddress[]): Mapping {
  if (!first) return { address: null, roundTripMs: null };
  const { address, port, roundTripMs } = first;
  return { address: formatHostPort(address, port), roundTripMs };
}

/** Returns the nearest reachable relay; the first one where none is reachable. */
function nearestOf(relays: readonly RelayReach[]): Reach | undefined {
  const reached = relays.filter(({ isReached }) => isReached);
  const [nearest] = reached.sort((a, b) => (a.roundTripMs ?? 0) - (b.roundTripMs ?? 0));
  const { name: _name, region: _region, ...found } = nearest ?? relays[0] ?? {};
  return 'address' in found ? found : undefined;
}

function nowhere(trouble: string): Reach {
  return { address: null, isReached: false, roundTripMs: null, trouble };
}

function ownAddresses(): Set<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)));
}

/** Effects of a closed port (docs/node.md#files-and-ports); who met before needs the relay alone. */
const EFFECT = {
  api: 'nodes cannot join; those that did stay up',
  bus: 'nodes cannot negotiate connections with peers that they have not met',
  relay: 'nodes that cannot connect directly cannot communicate',
  stun: 'only relay paths; lower direct-connection rate, of peers that have not met',
} as const;

interface LocalNode {
  readonly node: NodeStatus | undefined;
  readonly shutOut: string | undefined;
  readonly directory: string;
}

/** Returns the report for people: a line for each part of the network, whatever others wrote into it. */
export async function netcheckLines(told: NetworkReport, own: LocalNode): Promise<readonly string[]> {
  const report = visibleTexts(told);
  const { node, shutOut, directory } = visibleTexts(own);
  const { ipv4, ipv6, nat, silentStun } = report;
  const hasStun = ipv4.address !== null || ipv6.address !== null || shutOut !== undefined;
  const isAsked = ipv4.address !== null || ipv6.address !== null || silentStun.length > 0;
  const rows: [string, string][] = [
    ...(shutOut === undefined ? [] : [['Standing', shutOut] satisfies [string, string]]),
    ...report.unresolved.map(
      ({ host, trouble }) => ['DNS', `no address of ${host}: ${trouble}`] satisfies [string, string],
    ),
    ['API', reachText(report.api, EFFECT.api)],
    ['Bus', reachText(report.bus, EFFECT.bus)],
    ['Relay', reachText(report.relay, EFFECT.relay, shutOut !== undefined && report.relay.address === null)],
    ...(report.relays.length > 1 ? report.relays.map((relay) => relayRow(relay, node)) : []),
    ['STUN IPv4', mappingText(ipv4, isAsked)],
    ['STUN IPv6', mappingText(ipv6, isAsked)],
    ...(silentStun.length > 0
      ? [['STUN silent', `${silentStun.join(', ')}: no answer`] satisfies [string, string]]
      : []),
    ['NAT', `${nat.kind}: ${nat.detail}${hasStun ? '' : ` Effect: ${EFFECT.stun}.`}`],
  ];
  if (node?.routes.refused) rows.push(['Not routed', refusedText(node.routes.refused, node.control.server)]);
  if (node) {
    const { icePort, firewall, relay } = node;
    rows.push(['Shared port', icePort.isShared ? 'yes' : `no: ${icePort.obstacle ?? 'the overlay is down'}`]);
    rows.push([
      'Firewall',
      node.node.address === null ? 'the overlay is down' : `${firewall.in} in, ${firewall.out} out`,
    ]);
    for (const line of hostFirewallLines(firewall, directory)) rows.push(['Host firewall', line]);
    const narrow = node.peers.filter(({ reason }) => reason.code === 'large-packets').map(({ name }) => name);
    if (narrow.length > 0)
      rows.push(['Large packets', `lost on the direct path to ${narrow.join(', ')}: the relay is used instead`]);
    rows.push(['Relay session', `${relay.state}${relay.reason ? ` (${relay.reason})` : ''}`]);
  } else rows.push(['Node', process.getuid?.() === 0 ? await notUpText(directory) : 'not up, or not yours to ask']);
  return rows.map(([name, value]) => `${name.padEnd(15)}${value}`);
}

async function notUpText(directory: string): Promise<string> {
  const left = await leftoverTunnel(directory);
  return ['not up.', ...(left === undefined ? [] : [left]), `Start it: ${runnable(startHint(directory))}`].join(' ');
}

function relayRow(relay: RelayReach, node: NodeStatus | undefined): [string, string] {
  const used = node?.relay.all.find(({ name }) => name === relay.name);
  const use = used ? `; ${used.state}, carries ${used.peers} ${used.peers === 1 ? 'peer' : 'peers'} now` : '';
  const found = relay.isReached ? `reached in ${relay.roundTripMs} ms` : `not reached (${relay.trouble})`;
  return [`  ${relay.name}`, `${relay.region ? `${relay.region}, ` : ''}${relay.address}  ${found}${use}`];
}

/** @param isUntold nothing is known to be wrong with it */
function reachText({ address, isReached, roundTripMs, trouble }: Reach, effect: string, isUntold = false): string {
  const where = address ?? 'none';
  if (isUntold) return `${where}  ${trouble}`;
  return isReached
    ? `${where}  reached in ${roundTripMs} ms`
    : `${where}  not reached (${trouble}). Effect: ${effect}.`;
}

function mappingText({ address, roundTripMs }: Mapping, isAsked: boolean): string {
  if (!isAsked) return 'not asked';
  return address === null ? 'no answer' : `seen as ${address} in ${roundTripMs} ms`;
}
