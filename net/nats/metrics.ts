/** The counters of the broker. Names end in their unit, `_total` for counters that only rise. */
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

const HELP: Readonly<Record<keyof Metrics, string>> = {
  connections: 'Clients of the bus connected now',
  connections_total: 'Connections of clients taken since the start of the bus',
  connections_refused_total: 'Connections refused for a limit',
  subscriptions: 'Subscriptions of all clients now',
  subscription_bytes: 'Memory that subscriptions count for',
  received_messages_total: 'Messages that clients sent',
  received_bytes_total: 'Bytes of payload that clients sent',
  sent_messages_total: 'Messages delivered to clients',
  sent_bytes_total: 'Bytes of payload delivered to clients',
  pending_bytes: 'Bytes that wait to be written to clients now',
  partial_bytes: 'Bytes of messages that have come in part now',
  slow_consumers_total: 'Clients cut because they read too slowly',
  stale_connections_total: 'Clients cut because they answered no ping',
  publisher_stalls_total: 'Times that a publisher was held back for a slow reader',
  parse_errors_total: 'Clients cut for what is no NATS protocol',
  permission_violations_total: 'Subjects refused to clients',
  auth_failures_total: 'Connections refused for their credential',
  no_responders_total: 'Requests answered that nobody listens',
  control_messages_total: 'Messages of nodes to the control plane',
  control_dropped_total: 'Messages to the control plane dropped because it was busy',
  paced_messages_dropped_total: 'Messages beyond the rate of their sender, dropped',
};

/** Prometheus text, one `mesh_nats_…` metric for each number. */
export function renderMetrics(metrics: Metrics): string {
  return Object.entries(metrics)
    .map(([key, value]) => {
      const name = `mesh_nats_${key}`;
      const type = key.endsWith('_total') ? 'counter' : 'gauge';
      return `# HELP ${name} ${HELP[key as keyof Metrics]}\n# TYPE ${name} ${type}\n${name} ${value}\n`;
    })
    .join('');
}
