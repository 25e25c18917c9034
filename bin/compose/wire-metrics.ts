import type { AccountUpdates } from '../../net/bus/account-updates.ts';
import type { ExternalBus } from '../../net/bus/external-bus.ts';
import type { EmbeddedBus } from '../../net/nats/bus.ts';
import { type Metrics as BusMetrics, renderMetrics } from '../../net/nats/metrics.ts';
import type { RelayMetrics } from '../../net/relay/metrics.ts';
import type { RemoteRelayMetrics } from '../../net/relay/remote.ts';
import type { StunMetrics } from '../../net/stun/server.ts';
import type { ControlRequests } from '../../plane/control-requests.ts';
import type { GraphPush } from '../../plane/graph-push.ts';

type BusState = Pick<EmbeddedBus, 'isUp' | 'restarts'>;

/** The numbers of bus, relay and STUN in the Prometheus text format. */

export function revocationMetrics({ metrics }: Pick<AccountUpdates, 'metrics'>): string {
  return [
    sample('mesh_bus_revoked', 'Nodes that the servers of the bus were told not to let in', metrics.revoked),
    sample('mesh_bus_account_updates_total', 'Times that the servers of the bus were told of others', metrics.updates),
  ].join('');
}

/** Returns the metrics of an external bus, as this process sees it. */
export function externalBusMetrics({ isUp, metrics }: Pick<ExternalBus, 'isUp' | 'metrics'>): string {
  const { reconnects, received, paced, tooLarge, dropped, backlogBytes } = metrics;
  return [
    busUp(isUp),
    sample('mesh_bus_reconnects_total', 'Connections to the bus elsewhere after the first', reconnects),
    sample('mesh_bus_received_total', 'Messages of nodes to the control plane on the bus elsewhere', received),
    sample('mesh_bus_paced_total', 'Messages of nodes beyond their rate, dropped', paced),
    sample('mesh_bus_too_large_total', 'Messages larger than the bus elsewhere takes', tooLarge),
    sample('mesh_bus_dropped_total', 'Messages dropped because the bus elsewhere was behind', dropped),
    sample('mesh_bus_backlog_bytes', 'Bytes that the bus elsewhere has not confirmed yet', backlogBytes),
  ].join('');
}

/** The same metric for the embedded and the external bus, so that one alert rule serves both. */
function busUp(isUp: boolean): string {
  return sample('mesh_bus_up', 'Whether this control plane is connected to the bus', isUp ? 1 : 0);
}

export function busMetrics(metrics: BusMetrics | undefined, { isUp, restarts }: BusState): string {
  const state =
    busUp(isUp) +
    sample('mesh_nats_up', 'Whether the bus of this process runs', isUp ? 1 : 0) +
    sample('mesh_nats_restarts_total', 'Times that the bus was started again', restarts);
  return metrics ? renderMetrics(metrics) + state : state;
}

export function pushMetrics(
  { counts }: Pick<GraphPush, 'counts'>,
  { served, ignored }: Pick<ControlRequests, 'served' | 'ignored'>,
): string {
  return [
    sample('mesh_graph_pushes_full_total', 'Whole graphs pushed to nodes', counts.full),
    sample('mesh_graph_pushes_delta_total', 'Changes of graphs pushed to nodes', counts.delta),
    sample(
      'mesh_graph_pushes_too_large_total',
      'Graphs too large for the bus, which nodes fetch instead',
      counts.tooLarge,
    ),
    sample('mesh_node_heartbeats_total', 'Heartbeats of nodes on the bus', served.heartbeat),
    sample('mesh_node_graph_requests_total', 'Requests of nodes for their graph on the bus', served.graph),
    byReason('mesh_node_requests_ignored_total', 'Requests of nodes on the bus that were not answered', ignored),
  ].join('');
}

export function relayMetrics(metrics: RelayMetrics): string {
  return [
    sample('mesh_relay_sessions', 'Connections to the relay now', metrics.sessions),
    sample('mesh_relay_sessions_ready', 'Nodes that the relay serves now', metrics.ready),
    sample('mesh_relay_queued_bytes', 'Bytes that wait for receivers in the relay now', metrics.queuedBytes),
    sample('mesh_relay_opened_total', 'Connections that the relay took', metrics.opened),
    sample('mesh_relay_joined_total', 'Nodes that joined the relay', metrics.joined),
    sample('mesh_relay_forwarded_frames_total', 'Frames forwarded from node to node', metrics.forwardedFrames),
    sample('mesh_relay_forwarded_bytes_total', 'Bytes forwarded from node to node', metrics.forwardedBytes),
    byReason('mesh_relay_dropped_frames_total', 'Frames that the relay dropped', metrics.dropped),
    byReason('mesh_relay_ended_sessions_total', 'Sessions that the relay ended', metrics.ended),
  ].join('');
}

/** Returns the metrics of the external relays, by name. */
export function remoteRelayMetrics(relays: readonly ({ readonly name: string } & RemoteRelayMetrics)[]): string {
  if (relays.length === 0) return '';
  const each = (name: string, help: string, of: (relay: RemoteRelayMetrics) => number): string =>
    metric(
      name,
      help,
      relays.map((relay) => `{relay="${relay.name}"} ${of(relay)}`),
    );
  return [
    each('mesh_relay_control_up', 'Whether a relay elsewhere is connected, to be told of revocations', ({ up }) => up),
    each('mesh_relay_control_connects_total', 'Connections made to a relay elsewhere', (all) => all.connects),
    each('mesh_relay_control_revocations', 'Revocations that hold now', (all) => all.revocations),
    each('mesh_relay_control_sent_total', 'Revocations sent to a relay elsewhere', ({ sent }) => sent),
    each(
      'mesh_relay_control_confirmed_total',
      'Revocations that a relay elsewhere has confirmed',
      ({ confirmed }) => confirmed,
    ),
  ].join('');
}

export function stunMetrics(metrics: StunMetrics): string {
  return [
    sample('mesh_stun_answered_total', 'STUN requests answered', metrics.answered),
    sample('mesh_stun_refused_total', 'STUN requests refused as malformed or unknown', metrics.refused),
    byReason('mesh_stun_ignored_total', 'Datagrams that STUN did not answer', metrics.ignored),
    sample('mesh_stun_sources', 'Sources that STUN limits the rate of now', metrics.sources),
  ].join('');
}

export function sample(name: string, help: string, value: number): string {
  return metric(name, help, [` ${value}`]);
}

function byReason(name: string, help: string, counts: Readonly<Record<string, number>>): string {
  return metric(
    name,
    help,
    Object.entries(counts).map(([reason, count]) => `{reason="${reason}"} ${count}`),
  );
}

/** By the convention of Prometheus the name says which type it is. */
function metric(name: string, help: string, values: readonly string[]): string {
  const type = name.endsWith('_total') ? 'counter' : 'gauge';
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${values.map((value) => `${name}${value}\n`).join('')}`;
}
