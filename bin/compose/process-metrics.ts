import { readdirSync, readFileSync } from 'node:fs';
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import type { Metrics } from '../../rest/metrics.ts';

/** How exactly a held-up event loop is told, ms; looking costs one timer of it. */
const DELAY_RESOLUTION_MS = 20;
const MICROSECONDS = 1e6;
const NANOSECONDS = 1e9;

const GC_KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak callbacks',
};

/**
 * Registers the process metrics that every service has, under the usual Prometheus names. @returns the function that ends them
 */
export function processMetrics(metrics: Metrics): () => void {
  const startedAt = Date.now() / 1_000 - process.uptime();
  metrics.gauge('process_start_time_seconds', 'When the process started, since the epoch', () => startedAt);
  const cpu = (mode: 'user' | 'system') => () => process.cpuUsage()[mode] / MICROSECONDS;
  metrics.counter('process_cpu_user_seconds_total', 'Processor time in user mode', cpu('user'));
  metrics.counter('process_cpu_system_seconds_total', 'Processor time in the kernel', cpu('system'));
  metrics.counter('process_cpu_seconds_total', 'Processor time', () => cpu('user')() + cpu('system')());
  metrics.gauge('process_resident_memory_bytes', 'Memory in use', () => process.memoryUsage.rss());
  // Other systems have no files for these metrics.
  if (process.platform === 'linux') {
    metrics.gauge('process_open_fds', 'Open file descriptors', () => readdirSync('/proc/self/fd').length);
    metrics.gauge('process_max_fds', 'File descriptors that may be open', maxFiles);
  }
  metrics.gauge('nodejs_heap_size_total_bytes', 'Heap that V8 holds', () => process.memoryUsage().heapTotal);
  metrics.gauge('nodejs_heap_size_used_bytes', 'Heap in use', () => process.memoryUsage().heapUsed);
  metrics.gauge('nodejs_external_memory_bytes', 'Memory of V8 outside its heap', () => process.memoryUsage().external);
  metrics.gauge('nodejs_version_info', 'Version of Node', () => [{ labels: { version: process.version }, value: 1 }]);
  const endLoop = loopMetrics(metrics);
  const endGc = gcMetrics(metrics);
  return () => {
    endLoop();
    endGc();
  };
}

function loopMetrics(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - DELAY_RESOLUTION_MS / 1_000);
  metrics.gauge(
    'nodejs_eventloop_lag_seconds',
    'How late the event loop was since the last scrape; percentile 1 is the longest',
    () => {
      const samples = [
        ...[50, 90, 99].map((percent) => ({
          percentile: String(percent / 100),
          value: late(delay.percentile(percent)),
        })),
        { percentile: '1', value: late(delay.max) },
      ];
      delay.reset();
      return samples.map(({ percentile, value }) => ({ labels: { percentile }, value }));
    },
  );
  let before = performance.eventLoopUtilization();
  metrics.gauge('nodejs_eventloop_utilization', 'Share of the time since the last scrape in which it was busy', () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  });
  return () => delay.disable();
}

function gcMetrics(metrics: Metrics): () => void {
  const [name, help] = ['nodejs_gc_duration_seconds', 'Time of garbage collections'];
  const kinds = Object.values(GC_KINDS).map((kind) => ({ kind }));
  metrics.declare(name, 'histogram', help, kinds);
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as typeof entry & { readonly detail: { readonly kind: number } };
      metrics.observe(name, help, { kind: GC_KINDS[detail.kind] ?? 'other' }, duration / 1_000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

function maxFiles(): number {
  const line = readFileSync('/proc/self/limits', 'utf8')
    .split('\n')
    .find((one) => one.startsWith('Max open files'));
  return Number(line?.slice('Max open files'.length).trim().split(' ', 1)[0]);
}
