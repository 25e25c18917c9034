import type { EmbeddedBus } from '../../net/nats/bus.ts';
import { type Metrics as BusMetrics, renderMetrics } from '../../net/nats/metrics.ts';
import type { RelayMetrics } from '../../net/relay/metrics.ts';
import type { RemoteRelayMetrics } from '../../net/relay/remote.ts';
import type { StunMetrics } from '../../net/stun/server.ts';
import type { ControlRequests } from '../../plane/control-requests.ts';
import type { GraphPush } from '../../plane/graph-push.ts';

type BusState = Pick<EmbeddedBus, 'isUp' | 'restarts'>;

/** The numbers of bus, relay and STUN in the Prometheus text format. */

export function busMetrics(metrics: BusMetrics | undefined, { isUp, restarts }: BusState): string {
  const state = sample('mesh_nats_up', 'gauge', isUp ? 1 : 0) + sample('mesh_nats_restarts_total', 'counter', restarts);
  return metrics ? renderMetrics(metrics) + state : state;
}

export function pushMetrics(
  { counts }: Pick<GraphPush, 'counts'>,
  { served, ignored }: Pick<ControlRequests, 'served' | 'ignored'>,
): string {
  return [
    sample('mesh_graph_pushes_full_total', 'counter', counts.full),
    sample('mesh_graph_pushes_delta_total', 'counter', counts.delta),
    sample('mesh_graph_pushes_too_large_total', 'counter', counts.tooLarge),
    sample('mesh_node_heartbeats_total', 'counter', served.heartbeat),
    sample('mesh_node_graph_requests_total', 'counter', served.graph),
    byReason('mesh_node_requests_ignored_total', ignored),
  ].join('');
}

export function relayMetrics(metrics: RelayMetrics): string {
  return [
    sample('mesh_relay_sessions', 'gauge', metrics.sessions),
    sample('mesh_relay_sessions_ready', 'gauge', metrics.ready),
    sample('mesh_relay_queued_bytes', 'gauge', metrics.queuedBytes),
    sample('mesh_relay_opened_total', 'counter', metrics.opened),
    sample('mesh_relay_joined_total', 'counter', metrics.joined),
    sample('mesh_relay_forwarded_frames_total', 'counter', metrics.forwardedFrames),
    sample('mesh_relay_forwarded_bytes_total', 'counter', metrics.forwardedBytes),
    byReason('mesh_relay_dropped_frames_total', metrics.dropped),
    byReason('mesh_relay_ended_sessions_total', metrics.ended),
  ].join('');
}

export function remoteRelayMetrics({ up, connects, revocations, sent, confirmed }: RemoteRelayMetrics): string {
  return [
    sample('mesh_relay_control_up', 'gauge', up),
    sample('mesh_relay_control_connects_total', 'counter', connects),
    sample('mesh_relay_control_revocations', 'gauge', revocations),
    sample('mesh_relay_control_sent_total', 'counter', sent),
    sample('mesh_relay_control_confirmed_total', 'counter', confirmed),
  ].join('');
}

export function stunMetrics(metrics: StunMetrics): string {
  return [
    sample('mesh_stun_answered_total', 'counter', metrics.answered),
    sample('mesh_stun_refused_total', 'counter', metrics.refused),
    byReason('mesh_stun_ignored_total', metrics.ignored),
    sample('mesh_stun_sources', 'gauge', metrics.sources),
  ].join('');
}

export function sample(name: string, type: 'counter' | 'gauge', value: number): string {
  return `# TYPE ${name} ${type}\n${name} ${value}\n`;
}

function byReason(name: string, counts: Readonly<Record<string, number>>): string {
  const lines = Object.entries(counts).map(([reason, count]) => `${name}{reason="${reason}"} ${count}\n`);
  return `# TYPE ${name} counter\n${lines.join('')}`;
}
