import { joinLeadership, type Leadership, leadsAll, livingPlanes, planeName } from '../../plane/leadership.ts';
import type { Parts } from './parts.ts';
import { leadershipMetrics } from './plane-metrics.ts';
import type { CommonNeeds } from './plane-services.ts';
import { requireSettings, sharedSettings, shareSettings } from './shared-settings.ts';

/** Takes a share of the work of all control planes on the store, where the settings of this one are those of the others. */
export async function joinCluster(parts: Parts, needs: CommonNeeds) {
  const { config, store, shared, keys, busKeys, standalone, clock, log, metrics } = needs;
  const self = planeName();
  const { relayToken, controlPrivateKey } = keys;
  const besides =
    shared && !standalone
      ? {
          self,
          settings: sharedSettings(config, { relayToken, busKeys }, controlPrivateKey),
          cells: shared.cells,
          planes: () => livingPlanes(store),
        }
      : undefined;
  if (besides) await requireSettings(besides);
  const leadership: Leadership = parts.use(
    'leadership',
    shared ? await joinLeadership({ store, log, self, isAlone: standalone }) : leadsAll,
  );
  const settings = besides && parts.use('shared settings', await shareSettings({ ...besides, clock, log }));
  leadershipMetrics(metrics, leadership);
  return { leadership, settingsProblem: settings?.problem };
}
