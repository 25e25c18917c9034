import { setTimeout as after } from 'node:timers/promises';
import type { Log } from '../core/ports.ts';
import type { Services } from '../core/services.ts';
import { EmbeddedBus } from '../net/nats/bus.ts';
import { RelayListener } from '../net/relay/listener.ts';
import { StunListener } from '../net/stun/listener.ts';
import { startBusCredentials } from '../plane/bus-credentials.ts';
import { ControlRequests } from '../plane/control-requests.ts';
import { GraphPush } from '../plane/push.ts';
import { startRelayRevocations } from '../plane/relay-revocations.ts';
import type { Environment, HostPort } from './config.ts';
import { busMetrics, pushMetrics, relayMetrics, stunMetrics } from './wire-metrics.ts';

/** What nodes reach besides the API; undefined where it is off. */
export interface Listeners {
  readonly bus: HostPort | undefined;
  readonly relay: HostPort | undefined;
  readonly stun: HostPort | undefined;
}

export interface Wire {
  readonly listeners: Listeners;
  /** False once a listener ended by itself. */
  isUp(): boolean;
  /** Prometheus text. */
  metrics(): Promise<string>;
  /** Stops what was started, in reverse. Idempotent. */
  stop(): Promise<void>;
}

export type WireEnvironment = Pick<
  Environment,
  'MESH_BUS_LISTEN' | 'MESH_RELAY_LISTEN' | 'MESH_STUN_LISTEN' | 'MESH_STUN_RATE' | 'MESH_SIGNALING_AUTH'
>;

/** One of the listeners, running. */
export interface Running {
  readonly address: HostPort;
  isUp(): boolean;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/** Bus clients leave evenly over this time, so that they do not all come back at once. */
const LAME_DUCK_MS = 500;
/** A listener that does not stop by then is left behind. */
const STOP_MS = 2_500;

/** What a closed port costs (contract, "Network ports of the control-plane host"). */
const EFFECT_WHEN_OFF = {
  MESH_BUS_LISTEN: 'the bus is off here: nodes cannot negotiate connections unless another one serves them',
  MESH_RELAY_LISTEN: 'the relay is off here: nodes without a direct path cannot communicate unless another one runs',
  MESH_STUN_LISTEN: 'STUN is off here: only relay paths and a lower rate of direct connections unless another one runs',
} as const;

/**
 * Starts bus, relay and STUN, in this order.
 *
 * @throws Error naming the variable and the address that cannot be listened on.
 */
export async function startWire(env: WireEnvironment, services: Services): Promise<Wire> {
  const { clock, log, keys } = services;
  const running: Running[] = [];
  const stop = async () => {
    for (let part = running.pop(); part; part = running.pop()) {
      await Promise.race([part.stop(), after(STOP_MS, undefined, { ref: false })]);
    }
  };
  const start = async <T extends Running>(
    variable: keyof typeof EFFECT_WHEN_OFF,
    begin: (address: HostPort) => Promise<T>,
  ): Promise<T | undefined> => {
    const address = env[variable];
    if (address === 'off') {
      log.info({ variable }, EFFECT_WHEN_OFF[variable]);
      return undefined;
    }
    const part = await orExplain(variable, address, begin(address));
    running.push(part);
    return part;
  };
  try {
    const bus = await start('MESH_BUS_LISTEN', async (address) => {
      const part = await startBus(address, env.MESH_SIGNALING_AUTH, log);
      return serveNodes(part, services, env.MESH_SIGNALING_AUTH);
    });
    const relay = await start('MESH_RELAY_LISTEN', async (address) => {
      const options = { ...address, token: keys.relayToken.reveal(), clock, log };
      const part = await startRelay(options);
      const revocations = await startRelayRevocations(services, part.relay);
      return { ...part, stop: () => part.stop().finally(revocations.stop) };
    });
    const stun = await start('MESH_STUN_LISTEN', (address) =>
      startStun({ ...address, clock, log, ratePerSecond: env.MESH_STUN_RATE }),
    );
    const all = [...running];
    return {
      listeners: { bus: bus?.address, relay: relay?.address, stun: stun?.address },
      isUp: () => all.every((part) => part.isUp()),
      metrics: async () => (await Promise.all(all.map((part) => part.metrics()))).join(''),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function startBus(
  address: HostPort,
  auth: 'none' | 'token',
  log: Log,
): Promise<Running & { readonly bus: EmbeddedBus }> {
  const bus = new EmbeddedBus({ ...address, auth: auth === 'token' ? 'token' : 'open' });
  const bound = await bus.start();
  let state: 'up' | 'stopping' | 'ended' = 'up';
  void bus.ended.then((error) => {
    if (state === 'up') log.error({ error: String(error) }, 'the bus ended by itself: restart the control plane');
    state = 'ended';
  });
  return {
    bus,
    address: { host: address.host, port: bound.port },
    isUp: () => state === 'up',
    metrics: async () => busMetrics(await bus.metrics()),
    async stop() {
      state = 'stopping';
      await bus.lameDuck(LAME_DUCK_MS);
    },
  };
}

/** What the control plane itself does on its bus. */
async function serveNodes<T extends Running & { readonly bus: EmbeddedBus }>(
  part: T,
  services: Services,
  auth: 'none' | 'token',
): Promise<T> {
  const { bus } = part;
  try {
    const credentials = auth === 'token' ? await startBusCredentials(services, bus) : undefined;
    const push = new GraphPush(services, bus);
    const requests = new ControlRequests(services, bus, push);
    await bus.flush();
    return {
      ...part,
      metrics: async () => (await part.metrics()) + pushMetrics(push, requests),
      async stop() {
        credentials?.stop();
        await requests.stop();
        await push.stop();
        await part.stop();
      },
    };
  } catch (error) {
    await part.stop();
    throw error;
  }
}

export async function startRelay(
  options: ConstructorParameters<typeof RelayListener>[0],
): Promise<Running & { readonly relay: RelayListener }> {
  const relay = new RelayListener(options);
  const { port } = await relay.start();
  return {
    relay,
    address: { host: options.host, port },
    isUp: () => true,
    metrics: async () => relayMetrics(relay.metrics()),
    stop: () => relay.stop(),
  };
}

export async function startStun(options: ConstructorParameters<typeof StunListener>[0]): Promise<Running> {
  const stun = new StunListener(options);
  const { port } = await stun.start();
  return {
    address: { host: options.host, port },
    isUp: () => true,
    metrics: async () => stunMetrics(stun.metrics()),
    stop: () => stun.stop(),
  };
}

/** Turns the system's refusal to listen into words that say what to change. */
export async function orExplain<T>(variable: string, { host, port }: HostPort, starting: Promise<T>): Promise<T> {
  try {
    return await starting;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const off = variable === 'MESH_LISTEN' ? '' : `, or set ${variable}=off to run without it`;
    const where = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    throw new Error(
      `${variable}: cannot listen on ${where} (${REFUSALS[code] ?? code}). Set ${variable} to another address${off}.`,
      { cause: error },
    );
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'EADDRINUSE: another process listens there',
  EADDRNOTAVAIL: 'EADDRNOTAVAIL: this machine does not have the address',
  EACCES: 'EACCES: this user may not use the port',
  ENOTFOUND: 'ENOTFOUND: the host name is unknown',
};
