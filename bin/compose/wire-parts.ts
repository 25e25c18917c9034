import { MeshError } from '../../core/base/errors.ts';
import { type Log, StoreError } from '../../core/base/ports.ts';
import { formatHostPort, type HostPort } from '../../net/host-port.ts';
import { type BusChange, EmbeddedBus } from '../../net/nats/bus.ts';
import type { ListenerOptions } from '../../net/nats/listener.ts';
import { RelayListener } from '../../net/relay/listener.ts';
import { StunListener } from '../../net/stun/listener.ts';
import { type Probe, probeBus, probeStun, probeTcp } from './probes.ts';
import { busMetrics, relayMetrics, stunMetrics } from './wire-metrics.ts';

/** The three listeners beside the API, each as something that runs; one of them may run without a control plane. */

/** A running listener. */
export interface RunningListener {
  readonly name: string;
  readonly address: HostPort;
  /** Probes the listener now. */
  check(): Promise<Probe>;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/** Bus clients leave evenly over this time, so that they do not all come back at once. */
const LAME_DUCK_MS = 500;

export async function startBus(
  options: ListenerOptions,
  log: Log,
): Promise<RunningListener & { readonly bus: EmbeddedBus }> {
  const bus = new EmbeddedBus(options);
  bus.onChange((change) => logChange(change, log));
  const { port } = await bus.start();
  return {
    bus,
    name: 'bus',
    address: { host: options.host, port },
    check: () => probeBus(bus),
    metrics: async () => busMetrics(await bus.metrics(), bus),
    stop: () => bus.lameDuck(LAME_DUCK_MS),
  };
}

function logChange(change: BusChange, log: Log): void {
  switch (change.kind) {
    case 'down': {
      const { error, retryMs } = change;
      log.error(
        { error: error === undefined ? 'its thread ended' : String(error), retryMs },
        'the bus is down: nodes cannot negotiate connections until it is back; starting it again',
      );
      break;
    }
    case 'up':
      log.warn({ restarts: change.restarts }, 'the bus is back: clients reconnect and are sent whole graphs');
      break;
    case 'refused':
      log.warn(
        { refused: change.count },
        'the bus refused clients without a valid credential: a node that is registered calls ' +
          'POST /api/v1/devices/self/key with a fresh key, or registers again',
      );
      break;
    default:
      change satisfies never;
  }
}

export async function startRelay(
  options: ConstructorParameters<typeof RelayListener>[0],
): Promise<RunningListener & { readonly relay: RelayListener }> {
  const relay = new RelayListener(options);
  const { port } = await relay.start();
  const address = { host: options.host, port };
  const probe = uncounted(() => probeTcp(address));
  return {
    relay,
    name: 'relay',
    address,
    check: probe.check,
    metrics: async () => {
      const metrics = relay.metrics();
      return relayMetrics({ ...metrics, opened: probe.ofOthers(metrics.opened) });
    },
    stop: () => relay.stop(),
  };
}

export async function startStun(options: ConstructorParameters<typeof StunListener>[0]): Promise<RunningListener> {
  const stun = new StunListener(options);
  const { port } = await stun.start();
  const address = { host: options.host, port };
  const probe = uncounted(() => probeStun(address));
  return {
    name: 'stun',
    address,
    check: probe.check,
    metrics: async () => {
      const metrics = stun.metrics();
      return stunMetrics({ ...metrics, answered: probe.ofOthers(metrics.answered) });
    },
    stop: () => stun.stop(),
  };
}

/** A probe of this process, which is left out of what the listener counts. */
function uncounted(probe: () => Promise<Probe>) {
  let own = 0;
  let shown = 0;
  return {
    async check(): Promise<Probe> {
      const found = await probe();
      if (found.state === 'ok') own += 1;
      return found;
    },
    /** Never falls: a probe that is under way may count for a moment. */
    ofOthers(counted: number): number {
      shown = Math.max(shown, counted - own);
      return shown;
    },
  };
}

/** Turns the system's refusal to listen into words that say what to change. */
export async function orExplain<T>(variable: string, { host, port }: HostPort, starting: Promise<T>): Promise<T> {
  try {
    return await starting;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A store that fails meanwhile has a code too, and nothing to do with the address.
    if (code === undefined || error instanceof StoreError || error instanceof MeshError) throw error;
    const off = variable === 'MESH_LISTEN' ? '' : `, or set ${variable}=off to run without it`;
    const where = formatHostPort(host, port);
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
