import { mkdirSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { GuardedClock } from '../../core/base/guarded-clock.ts';
import type { Clock, Log } from '../../core/base/ports.ts';
import { Secret } from '../../core/base/secret.ts';
import type { ServiceGate } from '../../core/call/gate.ts';
import { ensureFirstAccounts } from '../../core/identity/first-accounts.ts';
import type { Services } from '../../core/workflow/services.ts';
import { shareHeartbeats } from '../../plane/shared-heartbeats.ts';
import { createMetrics } from '../../rest/metrics.ts';
import { clockMarkerIn } from '../../storage/clock-marker.ts';
import { takeLock } from '../../storage/directory-lock.ts';
import { buildKeyring } from '../../storage/keyring.ts';
import { storeAt } from '../../storage/open.ts';
import { checkConfiguredAddresses } from './address-check.ts';
import { readBusKeys } from './bus-keys.ts';
import type { Config } from './config.ts';
import { apiUrl } from './configured-addresses.ts';
import { diskOf } from './disk.ts';
import { maintainFirstLoginToken } from './first-login-token.ts';
import { guardClock, systemClock } from './guard-clock.ts';
import { keyLocationOf } from './installation.ts';
import type { LogOutput } from './log-output.ts';
import { openInstallation } from './open-installation.ts';
import { buildParts } from './parts.ts';
import { startApi } from './plane-api.ts';
import { certificateMetrics, clockMetrics, logMetrics, planeMetrics, stallMetrics } from './plane-metrics.ts';
import { joinCluster, startServices } from './plane-services.ts';
import { startWork } from './plane-work.ts';
import type { StoreState } from './store-maintenance.ts';
import { diskMetrics, measured } from './store-metrics.ts';
import { storeUrl } from './store-url.ts';
import { readTls } from './tls.ts';
import { type Listeners, startWire } from './wire.ts';

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

/**
 * Starts the parts of a control plane, each after those that it needs: store, services, bus, relay, STUN, jobs, then the API.
 * They stop in reverse; where one does not start, those before it are stopped.
 *
 * @throws Error naming what is wrong with the directory, the credentials or a listener.
 */
export async function startPlane(config: Config, options: PlaneOptions): Promise<Plane> {
  const { log, output, clock = systemClock(), acceptLoss = false, standalone = true, stalls = () => 0 } = options;
  const { env, configDir } = config;
  const tls = readTls(env);
  const busKeys = env.MESH_BUS_KEYS_FILE === undefined ? undefined : readBusKeys(env.MESH_BUS_KEYS_FILE);
  mkdirSync(configDir, { recursive: true, mode: 0o700 });
  const parts = buildParts(log);
  try {
    const lock = takeLock(configDir);
    parts.onStop('lock of the directory', lock.release);
    const metrics = createMetrics();
    parts.onStop('metrics of the process', planeMetrics(metrics, env.MESH_EDITION));
    logMetrics(metrics, output);
    stallMetrics(metrics, stalls);
    certificateMetrics(metrics, tls);

    const disk = diskOf(storeAt(storeUrl(config)).file?.path, env.MESH_STORE_RESERVE * 1_048_576);
    const place = { ...keyLocationOf(config), storeUrl: storeUrl(config), reserve: disk.reserve };
    const opened = await openInstallation({ ...place, clock, log, acceptLoss });
    parts.onStop('store', () => opened.store.close());
    lock.sign();
    const { shared } = opened.store;
    const relayToken = env.MESH_LRP_AUTH_TOKEN ?? new Secret(opened.credentials.relayToken);
    const keys = buildKeyring(opened.credentials, relayToken, opened.heads);
    const store = measured(opened.store, metrics);
    diskMetrics(metrics, disk);
    const guarded = { mark: clockMarkerIn(configDir), store, log, serverNow: shared?.now };
    const guard =
      clock instanceof GuardedClock ? parts.use('clock', await guardClock({ clock, ...guarded })) : undefined;
    if (clock instanceof GuardedClock) clockMetrics(metrics, clock);

    const common = { config, store, shared, keys, busKeys, standalone, clock, log, metrics };
    const served = await startServices(parts, { ...common, graphEpoch: opened.epoch, isDiskFull: disk.isFull });
    const { services, gate } = served;
    // Hashing the first password and binding the ports go on side by side; neither is served before both are done.
    const accounts = ensureFirstAccounts(services, { initAdmins: config.app.initAdmins });
    accounts.catch(() => undefined);
    const { leadership, settingsProblem } = await joinCluster(parts, common);
    const wire = parts.use('bus, relay and STUN', await startWire(config, { tls, busKeys }, services, leadership));
    metrics.append(wire.metrics);
    const { hearings } = services;
    if (shared && hearings) parts.use('shared hearings', shareHeartbeats(shared.messages, hearings, services));
    const madeAccounts = await accounts;
    parts.onStop('token of the first login', await maintainFirstLoginToken(configDir, services));
    const { storeState, wakeAll } = startWork(parts, { ...served, config, installation: opened, leadership, metrics });
    guard?.onStep(wakeAll);

    const cluster = shared && { leadership, isElecting: shared.isElecting, settings: settingsProblem };
    const readiness = { store, disk, clock, wire, storeState, output, ...cluster };
    const { url, port } = await startApi(parts, { ...common, ...served, tls, leadership, readiness });
    // Port 0 takes a free one, which links to the API name from here on.
    served.settings.apiUrl = apiUrl(config, port);
    parts.use('check of the addresses', checkConfiguredAddresses(config, log));

    let stopped: Promise<void> | undefined;
    return {
      url,
      port,
      listeners: wire.listeners,
      services,
      gate,
      storeState,
      saysFirstPassword: standalone || madeAccounts,
      ignoresInitAdmins: config.app.initAdmins.length > 0 && !madeAccounts,
      stop() {
        stopped ??= Promise.race([parts.stop(), after(STOP_DEADLINE_MS, undefined, { ref: false })]);
        return stopped;
      },
    };
  } catch (error) {
    await parts.abandon();
    throw error;
  }
}
