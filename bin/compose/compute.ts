import path from 'node:path';
import type { Services } from '../../core/workflow/services.ts';
import { COMPUTE_LIMITS, THREAD_HEAP_MB } from '../../plane/compute/limits.ts';
import { buildComputePool, type ComputePool } from '../../plane/compute/pool.ts';
import { startThread } from '../../plane/compute/thread.ts';
import { isShared, storeAt } from '../../storage/open.ts';
import { sample } from './wire-metrics.ts';

/** The data with which a computing thread is started. */
export interface ComputeThreadData {
  readonly storeUrl: string;
  readonly settings: Services['settings'];
  /** Public keys of the audit logs, and what their origins begin with. */
  readonly logKeys: Services['logs']['keys'];
  readonly logOriginPrefix: string;
  /** Where the newest checkpoints are kept beside the database. */
  readonly configDir: string;
}

const ENTRY = new URL(`./compute-thread${path.extname(import.meta.url)}`, import.meta.url);

/** The threads of a plane; the first one starts with the first heavy call. None where they could not open the store. */
export function startCompute(
  storeUrl: string,
  configDir: string,
  { clock, log, settings, logs }: Pick<Services, 'clock' | 'log' | 'settings' | 'logs'>,
): ComputePool | undefined {
  if (!isShared(storeAt(storeUrl))) return undefined;
  const workerData: ComputeThreadData = {
    storeUrl,
    settings,
    logKeys: logs.keys,
    logOriginPrefix: logs.originOf(''),
    configDir,
  };
  return buildComputePool({
    startThread: () => startThread(ENTRY, { workerData, heapMb: THREAD_HEAP_MB }),
    limits: COMPUTE_LIMITS,
    clock,
    log,
  });
}

export function computeMetrics({ counts }: Pick<ComputePool, 'counts'>): string {
  return [
    sample('mesh_compute_running', 'Heavy calls computed now', counts.running),
    sample('mesh_compute_waiting', 'Heavy calls that wait for a computing thread now', counts.waiting),
    sample('mesh_compute_refused_total', 'Heavy calls refused for want of room or time', counts.refused),
    sample('mesh_compute_threads_died_total', 'Computing threads that died', counts.died),
  ].join('');
}
