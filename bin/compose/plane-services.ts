import type { Clock, Log, Store } from '../../core/base/ports.ts';
import type { SharedState } from '../../core/base/shared.ts';
import { buildGate, type ServiceGate } from '../../core/call/gate.ts';
import type { Keyring, ListensAt, Settings } from '../../core/model/services.ts';
import { joinLeadership, type Leadership, livePlanes, planeName, soleLeadership } from '../../plane/leadership.ts';
import { startRecentHeads } from '../../plane/recent-heads.ts';
import { buildTokenReview } from '../../plane/workloads/token-review.ts';
import { buildWorkloadVerifier } from '../../plane/workloads/verifier.ts';
import type { Metrics } from '../../rest/metrics.ts';
import { issuersOnDemand } from '../../rest/oidc/on-demand.ts';
import { busAddressOf } from './bus-address.ts';
import type { BusKeys } from './bus-keys.ts';
import { clusterSettings } from './cluster-config.ts';
import { computeMetrics, startCompute } from './compute.ts';
import type { Config } from './config.ts';
import { addressSettings, busForNodes } from './configured-addresses.ts';
import type { Disk } from './disk.ts';
import { issuerRules, issuerSettings } from './issuer-config.ts';
import { networkMetrics } from './network-metrics.ts';
import { authorizationServerOf } from './oauth-config.ts';
import type { Parts } from './parts.ts';
import { leadershipMetrics } from './plane-metrics.ts';
import { buildNarrator, buildPlanner } from './planner.ts';
import { buildServices } from './services.ts';
import { requireSettings, sharedSettings, shareSettings } from './shared-settings.ts';
import { storeUrl } from './store-url.ts';
import { VERSION } from './version.ts';
import { watchStandstill } from './watch-standstill.ts';

/** Services that most parts of a control plane need. */
export interface CommonNeeds {
  readonly config: Config;
  readonly store: Store;
  /** The state that control planes on one store share; undefined in a store of a single one. */
  readonly shared: SharedState | undefined;
  readonly keys: Keyring;
  readonly busKeys: BusKeys | undefined;
  readonly standalone: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Starts the services of operations, the gate of every call, and the pool of computing threads that both use. */
export async function startServices(
  parts: Parts,
  needs: CommonNeeds & { readonly graphEpoch: string; readonly isDiskFull: Disk['isFull'] },
) {
  const { config, keys, busKeys, standalone, clock, log, metrics, graphEpoch, isDiskFull } = needs;
  const { env, configDir } = config;
  const [planner, narrator] = [await buildPlanner(env, log, metrics), await buildNarrator(env, log, metrics)];
  const settings = settingsOf(config, keys.logs.keys.at(-1)?.from ?? 0, !standalone);
  const compute = startCompute(storeUrl(config), configDir, { clock, log, settings, logs: keys.logs });
  const { store, shared } = needs;
  const issuers = issuersOnDemand({ issuers: issuerSettings(config.app.oidc), clock, log });
  const reviewToken = buildTokenReview({ clusters: clusterSettings(config.app.kubernetes) });
  const workloads = buildWorkloadVerifier({ settings, clock, reviewToken });
  const given = { store, shared, clock, log, edition: env.MESH_EDITION, keys, busKeys, graphEpoch, issuers };
  const services = buildServices({ ...given, workloads, isDiskFull, planner, narrator, settings, compute });
  parts.onStop('trace of calls', () => services.calls.close());
  networkMetrics(metrics, services);
  if (compute) metrics.append(async () => computeMetrics(compute));
  const recentHeads = parts.use('recent heads', startRecentHeads(services));
  const standstill = parts.use('watch of standstills', watchStandstill(standalone));
  const entrance = buildGate(services, standstill);
  parts.onStop('gate', async () => {
    await entrance.flushRefusals();
    await entrance.flushSessions({ isLast: true });
    entrance.close();
  });
  const gate: ServiceGate = { ...entrance, isDiskFull, ...(compute && { compute }) };
  return { services, settings, compute, recentHeads, gate, onConnection: standstill.accepted };
}

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
          planes: () => livePlanes(store),
        }
      : undefined;
  if (besides) await requireSettings(besides);
  const leadership: Leadership = parts.use(
    'leadership',
    shared ? await joinLeadership({ store, log, self, isAlone: standalone }) : soleLeadership,
  );
  const settings = besides && parts.use('shared settings', await shareSettings({ ...besides, clock, log }));
  leadershipMetrics(metrics, leadership);
  return { leadership, settingsProblem: settings?.problem };
}

function settingsOf(config: Config, logKeySince: number, sharesStore: boolean): Settings & { apiUrl: string } {
  const { env, app } = config;
  return {
    version: VERSION,
    ...addressSettings(config),
    registrationProof: env.MESH_REGISTRATION_PROOF,
    listens: listensAt(env),
    sharesStore,
    logKeySince,
    planTtlMs: app.planTtl,
    signIn: app.signIn,
    issuers: issuerRules(app.oidc),
    authorizationServer: authorizationServerOf(app.oauth),
    clusters: app.kubernetes.map(({ name }) => name),
    webhookAllow: env.MESH_WEBHOOK_ALLOW ?? app.webhooks.allow,
  };
}

function listensAt(env: Config['env']): ListensAt {
  const { MESH_LISTEN, MESH_BUS_LISTEN, MESH_SIGNALING_AUTH: auth, MESH_TLS_CERT } = env;
  const tls = MESH_TLS_CERT !== undefined;
  const api = { host: MESH_LISTEN.host, tls };
  const given = busForNodes(env);
  const place = busAddressOf(env);
  if (place) {
    const isSecure = place.tls && given.startsWith('tls:');
    return { api, bus: { host: new URL(given).host, auth, tls: isSecure, isElsewhere: true } };
  }
  return { api, bus: MESH_BUS_LISTEN === 'off' ? undefined : { host: MESH_BUS_LISTEN.host, auth, tls } };
}
