/** What the broker counts. Names end in their unit, `_total` for what only rises. */
export interface Metrics {
  connections: number;
  connections_total: number;
  connections_refused_total: number;
  subscriptions: number;
  /** Bytes, as the limit counts them. */
  subscription_bytes: number;
  received_messages_total: number;
  received_bytes_total: number;
  sent_messages_total: number;
  sent_bytes_total: number;
  pending_bytes: number;
  partial_bytes: number;
  slow_consumers_total: number;
  stale_connections_total: number;
  publisher_stalls_total: number;
  parse_errors_total: number;
  permission_violations_total: number;
  auth_failures_total: number;
  no_responders_total: number;
  control_messages_total: number;
  control_dropped_total: number;
  /** Signals and control requests beyond the rate of their sender. */
  paced_messages_dropped_total: number;
}

/** All zero. */
export function emptyMetrics(): Metrics {
  return {
    connections: 0,
    connections_total: 0,
    connections_refused_total: 0,
    subscriptions: 0,
    subscription_bytes: 0,
    received_messages_total: 0,
    received_bytes_total: 0,
    sent_messages_total: 0,
    sent_bytes_total: 0,
    pending_bytes: 0,
    partial_bytes: 0,
    slow_consumers_total: 0,
    stale_connections_total: 0,
    publisher_stalls_total: 0,
    parse_errors_total: 0,
    permission_violations_total: 0,
    auth_failures_total: 0,
    no_responders_total: 0,
    control_messages_total: 0,
    control_dropped_total: 0,
    paced_messages_dropped_total: 0,
  };
}

/** Prometheus text, one `mesh_nats_…` line for each number. */
export function renderMetrics(metrics: Metrics): string {
  return Object.entries(metrics)
    .map(([name, value]) => {
      const type = name.endsWith('_total') ? 'counter' : 'gauge';
      return `# TYPE mesh_nats_${name} ${type}\nmesh_nats_${name} ${value}\n`;
    })
    .join('');
}
