import { X509Certificate } from 'node:crypto';
import type { GuardedClock } from '../../core/base/guarded-clock.ts';
import type { ObserveJob } from '../../plane/jobs.ts';
import type { Leadership } from '../../plane/leadership.ts';
import type { startSnapshots } from '../../plane/snapshots.ts';
import type { Metrics } from '../../rest/metrics.ts';
import type { ReadyCheck } from '../../rest/readiness.ts';
import type { LogOutput } from './log-output.ts';
import { processMetrics } from './process-metrics.ts';
import type { Tls } from './tls.ts';
import { VERSION } from './version.ts';

/** Registers the metrics that exist from the start. @returns the function that ends them */
export function planeMetrics(metrics: Metrics, edition: string): () => void {
  const labels = { version: VERSION, edition };
  metrics.gauge('mesh_build_info', 'Version and edition', () => [{ labels, value: 1 }]);
  metrics.declare('mesh_http_request_duration_seconds', 'histogram', 'Time to answer');
  return processMetrics(metrics);
}

export function logMetrics(metrics: Metrics, output: Pick<LogOutput, 'lost'> | undefined): void {
  metrics.counter('mesh_log_lost_total', 'Lines of the log that could not be written', () => output?.lost() ?? 0);
}

export function stallMetrics(metrics: Metrics, stalls: () => number): void {
  metrics.counter('mesh_stalls_total', 'Times that the serving thread stood still for 5 s', stalls);
}

export function toolCalls(metrics: Metrics) {
  const [calls, callsHelp] = ['mesh_mcp_calls_total', 'MCP tool calls by outcome'];
  const [seconds, secondsHelp] = ['mesh_mcp_call_seconds', 'Time of MCP tool calls'];
  metrics.declare(calls, 'counter', callsHelp);
  metrics.declare(seconds, 'histogram', secondsHelp);
  return (tool: string, outcome: string, took: number) => {
    metrics.count(calls, callsHelp, { tool, outcome });
    metrics.observe(seconds, secondsHelp, { tool }, took);
  };
}

export function jobMetrics(metrics: Metrics): ObserveJob {
  const [runs, runsHelp] = ['mesh_job_runs_total', 'Runs of timed work by outcome'];
  const [seconds, secondsHelp] = ['mesh_job_run_seconds', 'Time of runs of timed work'];
  metrics.declare(runs, 'counter', runsHelp);
  metrics.declare(seconds, 'histogram', secondsHelp);
  const succeeded = new Map<string, number>();
  metrics.gauge(
    'mesh_job_last_success_timestamp_seconds',
    'When a run of timed work last succeeded, since the epoch',
    () => [...succeeded].map(([task, value]) => ({ labels: { task }, value })),
  );
  // Prometheus has a label `job` of its own.
  return (task, outcome, took) => {
    metrics.count(runs, runsHelp, { task, outcome });
    metrics.observe(seconds, secondsHelp, { task }, took);
    if (outcome === 'ok') succeeded.set(task, Date.now() / 1_000);
  };
}

export function snapshotMetrics(metrics: Metrics, { counts }: Pick<ReturnType<typeof startSnapshots>, 'counts'>): void {
  metrics.counter('mesh_snapshots_total', 'Snapshots after changes by outcome', () => [
    { labels: { outcome: 'ok' }, value: counts.stored },
    { labels: { outcome: 'failed' }, value: counts.failed },
  ]);
}

/** When the certificate of the listeners ends, in seconds since 1970; no series without one. */
export function certificateMetrics(metrics: Metrics, tls: Tls | undefined): void {
  const end = tls && new X509Certificate(tls.cert).validToDate.getTime() / 1_000;
  metrics.gauge('mesh_certificate_end_seconds', 'When the certificate of MESH_TLS_CERT ends, Unix time', () =>
    end === undefined ? [] : end,
  );
}

export function leadershipMetrics(metrics: Metrics, { state }: Pick<Leadership, 'state'>): void {
  metrics.gauge(
    'mesh_leadership_shares',
    'Shares of the workspaces that this control plane leads',
    () => state().shares,
  );
  metrics.gauge('mesh_leadership_planes', 'Control planes that live on the same store', () => state().planes);
  metrics.counter('mesh_leadership_changes_total', 'Changes of what this control plane leads', () => state().changes);
}

export function clockMetrics(metrics: Metrics, clock: GuardedClock): void {
  metrics.gauge(
    'mesh_clock_ahead_seconds',
    'How far the guarded clock is ahead of that of the host, which went back',
    () => clock.aheadMs / 1_000,
  );
  metrics.counter('mesh_clock_steps_total', 'Steps of the clock of the host', () =>
    Object.entries(clock.steps).map(([direction, value]) => ({ labels: { direction }, value })),
  );
}

const STATES = { ok: 0, degraded: 1, failed: 2 } as const;

export function readinessMetrics(metrics: Metrics, ready: () => Promise<readonly ReadyCheck[]>): void {
  metrics.gauge('mesh_check_state', 'Checks of /readyz: 0 ok, 1 degraded, 2 failed', async () =>
    (await ready()).map(({ name, state }) => ({ labels: { check: name }, value: STATES[state] })),
  );
}
