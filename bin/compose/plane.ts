import { mkdirSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { GuardedClock } from '../../core/base/guarded-clock.ts';
import type { Clock, Log } from '../../core/base/ports.ts';
import { Secret } from '../../core/base/secret.ts';
import { buildGate, type ServiceGate } from '../../core/call/gate.ts';
import { ensureFirstAccounts } from '../../core/identity/first-accounts.ts';
import type { ListensAt, Settings } from '../../core/model/services.ts';
import type { Services } from '../../core/workflow/services.ts';
import { mcpOnDemand } from '../../mcp/on-demand.ts';
import { startJobs } from '../../plane/jobs.ts';
import { joinLeadership, leadsAll, livingPlanes, planeName } from '../../plane/leadership.ts';
import { buildJobs } from '../../plane/periodic.ts';
import { startRecentHeads } from '../../plane/recent-heads.ts';
import { shareHearings } from '../../plane/shared-hearings.ts';
import { startSnapshots } from '../../plane/snapshots.ts';
import { buildSender } from '../../plane/webhooks/post.ts';
import { startWebhooks } from '../../plane/webhooks/webhooks.ts';
import { buildApp } from '../../rest/app.ts';
import { type Listening, listen } from '../../rest/listen.ts';
import { createMetrics } from '../../rest/metrics.ts';
import { shareWindows } from '../../rest/shared-windows.ts';
import { sharedAddresses } from '../../rest/trusted-proxies.ts';
import { clockMarkIn } from '../../storage/clock-mark.ts';
import { takeLock } from '../../storage/directory-lock.ts';
import { buildKeyring } from '../../storage/keyring.ts';
import { storeFile } from '../../storage/open.ts';
import { operations } from '../../tools/index.ts';
import { MCP_TOOLS } from '../../tools/surfaces.ts';
import { checkGivenAddresses } from './address-check.ts';
import { readBusKeys } from './bus-keys.ts';
import { busPlaceOf } from './bus-place.ts';
import { computeMetrics, startCompute } from './compute.ts';
import type { Config } from './config.ts';
import { buildDashboard } from './dashboard.ts';
import { diskOf } from './disk.ts';
import { keepFirstLoginToken } from './first-login-token.ts';
import { addressSettings, apiUrl, busGivenToNodes, isAnyAddress } from './given-addresses.ts';
import { guardClock, systemClock } from './guard-clock.ts';
import { buildHostUsers } from './host-users.ts';
import type { LogOutput } from './log-output.ts';
import { networkMetrics } from './network-metrics.ts';
import { openInstallation } from './open-installation.ts';
import { ownNames } from './own-names.ts';
import {
  certificateMetrics,
  clockMetrics,
  jobMetrics,
  leadershipMetrics,
  logMetrics,
  planeMetrics,
  readinessMetrics,
  snapshotMetrics,
  stallMetrics,
  toolCalls,
} from './plane-metrics.ts';
import { buildNarrator, buildPlanner } from './planner.ts';
import { buildReadiness } from './readiness.ts';
import { resetRequestJob } from './reset-requests.ts';
import { buildServices } from './services.ts';
import { requireSettings, sharedSettings, shareSettings } from './shared-settings.ts';
import { buildStoreCare, type StoreState } from './store-care.ts';
import { backupMetrics, diskMetrics, measured } from './store-metrics.ts';
import { storeUrl } from './store-url.ts';
import { readTls } from './tls.ts';
import { VERSION } from './version.ts';
import { readViews } from './views.ts';
import { watchStandstill } from './watch-standstill.ts';
import { type Listeners, startWire } from './wire.ts';
import { orExplain } from './wire-parts.ts';

export interface Plane {
  /** Where the API answers, for a client on this machine. */
  readonly url: string;
  /** The port where it listens. */
  readonly port: number;
  readonly listeners: Listeners;
  readonly services: Services;
  readonly gate: ServiceGate;
  /** How the database is. */
  readonly storeState: () => StoreState;
  /** True if this control plane announces the first password: among several, the one that made the accounts. */
  readonly saysFirstPassword: boolean;
  /** True where `app.initAdmins` names accounts, and none was made of it, as there are accounts. */
  readonly ignoresInitAdmins: boolean;
  /** Idempotent; everything acknowledged is on disk when it resolves. */
  stop(): Promise<void>;
}

export interface PlaneOptions {
  readonly log: Log;
  /** Where the log is written, if that is to be watched. */
  readonly output?: LogOutput;
  /** The guarded clock of this host unless set; one that is no guarded clock is taken as it is. */
  readonly clock?: Clock;
  /** Go on where the database has less than the installation had. */
  readonly acceptLoss?: boolean;
  /** True, the default, for the only control plane of its store; false for one of several. */
  readonly standalone?: boolean;
  /** How often the serving thread stood still, as a watchdog counts it. */
  readonly stalls?: () => number;
}

/** A last deadline for an orderly end: SIGTERM ends everything within 8 s. */
const STOP_DEADLINE_MS = 7_000;
/** Requests under way have so long to be answered; then what is computed ends, and after a moment every connection. */
const DRAIN_MS = 3_000;
const CUT_MS = 500;

/**
 * Starts a control plane: store, bus, relay, STUN, jobs, then the API; stops in reverse.
 *
 * @throws Error naming what is wrong with the directory, the credentials or a listener.
 */
export async function startPlane(config: Config, options: PlaneOptions): Promise<Plane> {
  const { log, output, clock = systemClock(), acceptLoss = false, standalone = true, stalls = () => 0 } = options;
  const { env, configDir } = config;
  const tls = readTls(env);
  const busKeys = env.MESH_BUS_KEYS_FILE === undefined ? undefined : readBusKeys(env.MESH_BUS_KEYS_FILE);
  mkdirSync(configDir, { recursive: true, mode: 0o700 });
  const undo: (() => void | Promise<void>)[] = [];
  const stop = async () => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  try {
    const lock = takeLock(configDir);
    undo.push(lock.release);
    const metrics = createMetrics();
    undo.push(planeMetrics(metrics, env.MESH_EDITION));
    logMetrics(metrics, output);
    stallMetrics(metrics, stalls);
    const disk = diskOf(storeFile(storeUrl(config)), env.MESH_STORE_RESERVE * 1_048_576);
    const { reserve } = disk;
    const opened = await openInstallation({
      configDir,
      keysFile: env.MESH_KEYS_FILE,
      storeUrl: storeUrl(config),
      clock,
      log,
      reserve,
      acceptLoss,
    });
    undo.push(() => opened.store.close());
    lock.sign();
    const { credentials } = opened;
    const relayToken = env.MESH_LRP_AUTH_TOKEN ?? new Secret(credentials.relayToken);
    const keys = buildKeyring(credentials, relayToken, opened.heads);
    const store = measured(opened.store, metrics);
    diskMetrics(metrics, disk);
    const guarded = { mark: clockMarkIn(configDir), store, log, serverNow: opened.store.shared?.now };
    const guard = clock instanceof GuardedClock ? await guardClock({ clock, ...guarded }) : undefined;
    undo.push(() => guard?.stop());
    if (clock instanceof GuardedClock) clockMetrics(metrics, clock);

    const [planner, narrator] = [await buildPlanner(env, log, metrics), await buildNarrator(env, log, metrics)];
    const { shared } = opened.store;
    const parts = { store, shared, clock, log, edition: env.MESH_EDITION, keys, planner, narrator };
    const settings = settingsOf(config, keys.logs.keys.at(-1)?.from ?? 0, !standalone);
    const compute = startCompute(storeUrl(config), configDir, { clock, log, settings, logs: keys.logs });
    const services = buildServices({
      ...parts,
      isDiskFull: disk.isFull,
      settings,
      compute,
      graphEpoch: opened.epoch,
      busKeys,
    });
    undo.push(() => services.calls.close());
    const recentHeads = startRecentHeads(services);
    undo.push(() => recentHeads.stop());
    // Hashing the first password and binding the ports go on side by side; neither is served before both are done.
    const accounts = ensureFirstAccounts(services, { initAdmins: config.app.initAdmins });
    accounts.catch(() => undefined);
    const standstill = watchStandstill(standalone);
    undo.push(standstill.stop);
    const entrance = buildGate(services, standstill);
    undo.push(async () => {
      await entrance.flushRefusals();
      await entrance.flushSessions({ isLast: true });
      entrance.close();
    });
    const gate = { ...entrance, isDiskFull: disk.isFull, ...(compute && { compute }) };
    const self = planeName();
    const besides =
      shared && !standalone
        ? {
            self,
            settings: sharedSettings(config, { relayToken, busKeys }, keys.controlPrivateKey),
            cells: shared.cells,
            planes: () => livingPlanes(store),
          }
        : undefined;
    if (besides) await requireSettings(besides);
    const leadership = shared ? await joinLeadership({ store, log, self, isAlone: standalone }) : leadsAll;
    undo.push(() => leadership.stop());
    const beside = besides && (await shareSettings({ ...besides, clock, log }));
    undo.push(() => (beside ? beside.stop() : undefined));
    leadershipMetrics(metrics, leadership);
    certificateMetrics(metrics, tls);
    const wire = await startWire(config, { tls, busKeys }, services, leadership);
    undo.push(wire.stop);
    const { hearings } = services;
    const heardElsewhere = shared && hearings && shareHearings(shared.messages, hearings, services);
    undo.push(() => heardElsewhere?.stop());
    const madeAccounts = await accounts;
    undo.push(await keepFirstLoginToken(configDir, services));
    let isUp = false;
    const snapshots = startSnapshots(services, leadership);
    undo.push(() => snapshots.stop());
    const care = buildStoreCare({
      configDir,
      upkeep: opened.store.upkeep,
      heads: opened.heads,
      installation: keys.logs.originOf(''),
      backups: config.app.backups,
      clock,
      log,
    });
    const storeState = (): StoreState => {
      const state = care.state();
      const problem = recentHeads.problem();
      return problem === undefined ? state : { ...state, problems: [...state.problems, problem] };
    };
    backupMetrics(metrics, config.app.backups, storeState);
    const observed = { ...services, observe: jobMetrics(metrics), leadership };
    const resets = resetRequestJob(configDir, { services, rules: settings.signIn, clock, log });
    const jobs = startJobs([...buildJobs(services, gate, leadership), ...care.jobs(), resets], observed);
    undo.push(() => jobs.stop());
    guard?.onStep(jobs.wakeAll);
    const webhooks = startWebhooks(observed, buildSender({ allow: settings.webhookAllow }), leadership);
    undo.push(() => webhooks.stop());

    networkMetrics(metrics, services);
    snapshotMetrics(metrics, snapshots);
    metrics.append(wire.metrics);
    if (compute) metrics.append(async () => computeMetrics(compute));
    const hosts = ownNames(config, tls);
    const views = readViews();
    const surface = { operations, tools: MCP_TOOLS, views, gate, log, hosts, observe: toolCalls(metrics) };
    const mcp = mcpOnDemand({ ...surface, shared });
    undo.push(() => mcp.close());
    metrics.gauge('mesh_mcp_sessions', 'Sessions of MCP clients of the 2025 revision', mcp.sessionCount);
    const stopping = new AbortController();
    const ready = buildReadiness({
      isUp: () => isUp,
      store,
      disk,
      clock,
      wire,
      storeState,
      output,
      ...(shared && { leadership, isElecting: shared.isElecting }),
      ...(beside && { settings: beside.problem }),
    });
    readinessMetrics(metrics, ready);
    const windows = shared && shareWindows(shared.counts, clock, log);
    undo.push(() => windows?.stop());
    const rate = { perMinute: config.app.rateLimit, together: windows };
    const trustProxy = config.app.trustProxy === false ? undefined : config.app.trustProxy;
    const app = buildApp({
      operations,
      gate,
      log,
      metrics,
      ready,
      stopping: stopping.signal,
      mcp: (request, response) => void mcp.handle(request, response),
      dashboard: buildDashboard(),
      limits: { rate },
      hosts,
      metricsAccess: config.app.metrics,
      isHostUser: buildHostUsers(),
      ...(trustProxy !== undefined && { trustProxy }),
    });
    const api = await orExplain(
      'MESH_LISTEN',
      env.MESH_LISTEN,
      listen(app, {
        ...env.MESH_LISTEN,
        ...(tls && { tls }),
        isShared: sharedAddresses(trustProxy),
        onConnection: standstill.accepted,
      }),
    );
    undo.push(() => api.stop(CUT_MS));
    // Port 0 takes a free one, which links to the API name from here on.
    settings.apiUrl = apiUrl(config, api.port);
    // Before what is left of the API: requests under way would wait for what is computed.
    undo.push(() => compute?.stop());
    undo.push(() => {
      isUp = false;
      stopping.abort();
      mcp.leave();
      // At once, so that other control planes go on with what this one led.
      return Promise.all([api.drain(DRAIN_MS), leadership.stop()]).then(() => undefined);
    });
    isUp = true;
    const addresses = checkGivenAddresses(config, log);
    undo.push(addresses.stop);

    let stopped: Promise<void> | undefined;
    return {
      url: localUrl(api),
      port: api.port,
      listeners: wire.listeners,
      services,
      gate,
      storeState,
      saysFirstPassword: standalone || madeAccounts,
      ignoresInitAdmins: config.app.initAdmins.length > 0 && !madeAccounts,
      stop() {
        stopped ??= Promise.race([stop(), after(STOP_DEADLINE_MS, undefined, { ref: false })]);
        return stopped;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
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
    webhookAllow: env.MESH_WEBHOOK_ALLOW ?? app.webhooks.allow,
  };
}

function listensAt(env: Config['env']): ListensAt {
  const { MESH_LISTEN, MESH_BUS_LISTEN, MESH_SIGNALING_AUTH: auth, MESH_TLS_CERT } = env;
  const tls = MESH_TLS_CERT !== undefined;
  const api = { host: MESH_LISTEN.host, tls };
  const given = busGivenToNodes(env);
  const place = busPlaceOf(env);
  if (place) {
    const isSecure = place.tls && given.startsWith('tls:');
    return { api, bus: { host: new URL(given).host, auth, tls: isSecure, isElsewhere: true } };
  }
  return { api, bus: MESH_BUS_LISTEN === 'off' ? undefined : { host: MESH_BUS_LISTEN.host, auth, tls } };
}

function localUrl({ url, port }: Listening): string {
  const { protocol, hostname } = new URL(url);
  return isAnyAddress(hostname.replaceAll(/[[\]]/g, '')) ? `${protocol}//127.0.0.1:${port}` : url;
}
