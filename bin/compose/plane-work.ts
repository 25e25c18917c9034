import type { ServiceGate } from '../../core/call/gate.ts';
import type { Services } from '../../core/workflow/services.ts';
import { startJobs } from '../../plane/jobs.ts';
import type { Leadership } from '../../plane/leadership.ts';
import { buildJobs } from '../../plane/periodic.ts';
import type { startRecentHeads } from '../../plane/recent-heads.ts';
import { startSnapshots } from '../../plane/snapshots.ts';
import { buildSender } from '../../plane/webhooks/post.ts';
import { startWebhooks } from '../../plane/webhooks/webhooks.ts';
import type { Metrics } from '../../rest/metrics.ts';
import type { Config } from './config.ts';
import type { Installation } from './installation.ts';
import type { Parts } from './parts.ts';
import { jobMetrics, snapshotMetrics } from './plane-metrics.ts';
import { resetRequestJob } from './reset-requests.ts';
import { buildStoreMaintenance, type StoreState } from './store-maintenance.ts';
import { backupMetrics } from './store-metrics.ts';

interface WorkNeeds {
  readonly config: Config;
  readonly installation: Pick<Installation, 'store' | 'heads'>;
  readonly services: Services;
  readonly gate: ServiceGate;
  readonly leadership: Leadership;
  readonly recentHeads: Pick<ReturnType<typeof startRecentHeads>, 'problem'>;
  readonly metrics: Metrics;
}

/** Starts the work that no call waits for: snapshots, jobs, the care of the store, webhooks. */
export function startWork(parts: Parts, needs: WorkNeeds) {
  const { config, installation, services, gate, leadership, recentHeads, metrics } = needs;
  const { configDir, app } = config;
  const { settings, keys, clock, log } = services;
  const snapshots = parts.use('snapshots', startSnapshots(services, leadership));
  const care = buildStoreMaintenance({
    configDir,
    upkeep: installation.store.upkeep,
    heads: installation.heads,
    installation: keys.logs.originOf(''),
    backups: app.backups,
    clock,
    log,
  });
  const storeState = (): StoreState => {
    const state = care.state();
    const problem = recentHeads.problem();
    return problem === undefined ? state : { ...state, problems: [...state.problems, problem] };
  };
  const observed = { ...services, observe: jobMetrics(metrics), leadership };
  const resets = resetRequestJob(configDir, { services, rules: settings.signIn, clock, log });
  const jobs = parts.use(
    'jobs',
    startJobs([...buildJobs(services, gate, leadership), ...care.jobs(), resets], observed),
  );
  parts.use('webhooks', startWebhooks(observed, buildSender({ allow: settings.webhookAllow }), leadership));
  backupMetrics(metrics, app.backups, storeState);
  snapshotMetrics(metrics, snapshots);
  return { storeState, wakeAll: jobs.wakeAll };
}
