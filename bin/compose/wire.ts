import type { Services } from '../../core/workflow/services.ts';
import type { Bus } from '../../net/bus/port.ts';
import type { HostPort } from '../../net/host-port.ts';
import { startBusCredentials } from '../../plane/bus-credentials.ts';
import { ControlRequests } from '../../plane/control-requests.ts';
import { GraphPush } from '../../plane/graph-push.ts';
import type { Leadership } from '../../plane/leadership.ts';
import { startRelayRevocations } from '../../plane/relay-revocations.ts';
import { busAddressOf, type ExternalBusEnvironment } from './bus-address.ts';
import type { BusKeys } from './bus-keys.ts';
import type { Config, Environment } from './config.ts';
import { buildParts } from './parts.ts';
import { type RelayEnvironment, startRemoteRelays } from './remote-relay.ts';
import type { Tls } from './tls.ts';
import { pushMetrics } from './wire-metrics.ts';
import { orExplain, type RunningListener, startBus, startRelay, startStun } from './wire-parts.ts';

/** The addresses that nodes reach besides the API; undefined where a listener is off. */
export interface Listeners {
  readonly bus: HostPort | undefined;
  readonly relay: HostPort | undefined;
  readonly stun: HostPort | undefined;
}

export interface Wire {
  readonly listeners: Listeners;
  /** Each part that runs, by its name, and how to try whether it works. */
  checks(): readonly Pick<RunningListener, 'name' | 'check'>[];
  /** Prometheus text. */
  metrics(): Promise<string>;
  /** Stops what was started, in reverse. Idempotent. */
  stop(): Promise<void>;
}

type WireEnvironment = RelayEnvironment &
  ExternalBusEnvironment &
  Pick<
    Environment,
    'MESH_BUS_LISTEN' | 'MESH_RELAY_LISTEN' | 'MESH_RELAY_SESSIONS' | 'MESH_STUN_LISTEN' | 'MESH_STUN_RATE'
  >;

/** A listener that does not stop by then is left behind. */
const STOP_MS = 2_500;

/** The effect of a closed port (docs/node.md#files-and-ports). */
const EFFECT_WHEN_OFF = {
  MESH_BUS_LISTEN: 'the bus is off here: nodes cannot negotiate connections unless another one serves them',
  MESH_RELAY_LISTEN: 'the relay is off here: nodes without a direct path cannot communicate unless another one runs',
  MESH_STUN_LISTEN: 'STUN is off here: only relay paths and a lower rate of direct connections unless another one runs',
} as const;

/**
 * Starts bus, relay and STUN, in this order, and the sessions with relays elsewhere.
 *
 * @throws Error naming the variable and the address that cannot be listened on.
 */
export async function startWire(
  { env, app }: { readonly env: WireEnvironment } & Pick<Config, 'app'>,
  { tls, busKeys }: { readonly tls: Tls | undefined; readonly busKeys?: BusKeys | undefined },
  services: Services,
  leadership: Leadership,
): Promise<Wire> {
  const { clock, log, keys } = services;
  const secured = tls === undefined ? {} : { tls };
  const parts = buildParts(log, STOP_MS);
  const start = async <T extends RunningListener>(
    variable: keyof typeof EFFECT_WHEN_OFF,
    begin: (address: HostPort) => Promise<T>,
  ): Promise<T | undefined> => {
    const address = env[variable];
    if (address === 'off') {
      log.info({ variable }, EFFECT_WHEN_OFF[variable]);
      return undefined;
    }
    return parts.use(variable, await orExplain(variable, address, begin(address)));
  };
  const startEmbeddedBus = () =>
    start('MESH_BUS_LISTEN', async (address) => {
      const isToken = env.MESH_SIGNALING_AUTH === 'token';
      const part = await startBus({ ...address, auth: isToken ? 'token' : 'open', ...secured }, log);
      return serveNodes(part, services, leadership, () =>
        isToken ? startBusCredentials(services, part.bus) : undefined,
      );
    });
  try {
    const place = busAddressOf(env);
    const elsewhere: Omit<RunningListener, 'address'>[] = [];
    const begun = (part: Omit<RunningListener, 'address'>) => elsewhere.push(parts.use(part.name, part));
    if (place) {
      // With the client of NATS, which nobody else reads.
      const { startExternalBus, startAccountUpdates } = await import('./external-bus.ts');
      begun(await serveNodes(startExternalBus(place, env, busKeys, log), services, leadership, () => undefined));
      if (busKeys) begun(await startAccountUpdates(place, busKeys, services, leadership));
    }
    const bus = place ? undefined : await startEmbeddedBus();
    const relay = await start('MESH_RELAY_LISTEN', async (address) => {
      const limits = { maxSessions: env.MESH_RELAY_SESSIONS };
      const options = { ...address, ...secured, token: keys.relayToken.reveal(), clock, log, limits };
      const part = await startRelay(options);
      const revocations = await startRelayRevocations(services, part.relay);
      return { ...part, stop: () => part.stop().finally(revocations.stop) };
    });
    const stun = await start('MESH_STUN_LISTEN', (address) =>
      startStun({ ...address, clock, log, ratePerSecond: env.MESH_STUN_RATE }),
    );
    const remote = parts.use('relays elsewhere', await startRemoteRelays({ env, app }, relay?.address, services));
    const own = [...elsewhere, ...[bus, relay, stun].filter((part) => part !== undefined)];
    return {
      listeners: { bus: bus?.address, relay: relay?.address, stun: stun?.address },
      checks: () => [...own, ...remote.parts],
      metrics: async () => (await Promise.all([...own, remote].map((part) => part.metrics()))).join(''),
      stop: () => parts.stop(),
    };
  } catch (error) {
    await parts.abandon();
    throw error;
  }
}

/** Starts the services of the control plane on its bus; `admit` tells the bus which nodes to admit. */
async function serveNodes<T extends Omit<RunningListener, 'address'> & { readonly bus: Bus }>(
  part: T,
  services: Services,
  leadership: Leadership,
  admit: () => Promise<{ stop(): void }> | undefined,
): Promise<T> {
  const { bus } = part;
  const parts = buildParts(services.log);
  parts.use(part.name, part);
  try {
    const credentials = await admit();
    const push = parts.use('graph push', new GraphPush(services, bus, leadership));
    bus.onChange(({ kind }) => kind !== 'refused' && push.forget());
    const requests = parts.use('control requests', new ControlRequests(services, bus, push, leadership));
    if (credentials) parts.use('credentials of nodes', credentials);
    await bus.flush();
    return {
      ...part,
      metrics: async () => (await part.metrics()) + pushMetrics(push, requests),
      stop: () => parts.stop(),
    };
  } catch (error) {
    await parts.abandon();
    throw error;
  }
}
