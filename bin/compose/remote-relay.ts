import type { Services } from '../../core/workflow/services.ts';
import type { HostPort } from '../../net/host-port.ts';
import { parseRelayAddress } from '../../net/relay/address.ts';
import { RemoteRelay } from '../../net/relay/remote.ts';
import { startRelayRevocations } from '../../plane/relay-revocations.ts';
import type { Environment } from './config.ts';
import { isLoopback } from './given-addresses.ts';
import type { Probe } from './probes.ts';
import { remoteRelayMetrics } from './wire-metrics.ts';

export type RelayEnvironment = Pick<Environment, 'MESH_RELAY_URL' | 'MESH_LRP_AUTH_TOKEN'>;

/** Keeps the relay of MESH_RELAY_URL told of revocations; undefined where there is none but `own`. */
export async function startRemoteRelay(
  { MESH_RELAY_URL: url, MESH_LRP_AUTH_TOKEN: token }: RelayEnvironment,
  own: HostPort | undefined,
  services: Services,
) {
  const address = url === undefined ? undefined : parseRelayAddress(url);
  // The relay of this process by its own port: it is told without a connection.
  if (address === undefined || (own?.port === address.port && isLoopback(address.host))) return undefined;
  const { clock, log, keys } = services;
  if (token === undefined) {
    log.warn(
      { variable: 'MESH_LRP_AUTH_TOKEN' },
      'is unset: a relay elsewhere knows the shared token only when both are given the same one',
    );
  }
  const relay = new RemoteRelay({ address, token: keys.relayToken.reveal(), clock, log });
  const revocations = await startRelayRevocations(services, relay);
  relay.start();
  return {
    name: 'relay elsewhere',
    // One that is away is a degraded state of this process, not its end.
    async check(): Promise<Probe> {
      const { problem } = relay;
      return problem === undefined
        ? { state: 'ok', detail: 'is told of revocations' }
        : { state: 'degraded', detail: problem };
    },
    metrics: async () => remoteRelayMetrics(relay.metrics()),
    async stop() {
      revocations.stop();
      relay.stop();
    },
  };
}
