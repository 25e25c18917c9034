import { isLoopback } from '../../core/base/loopback.ts';
import { MAIN_RELAY } from '../../core/model/graph.ts';
import type { Services } from '../../core/workflow/services.ts';
import type { HostPort } from '../../net/host-port.ts';
import { parseRelayAddress } from '../../net/relay/address.ts';
import type { Member } from '../../net/relay/member.ts';
import { RemoteRelay } from '../../net/relay/remote.ts';
import { startRelayRevocations } from '../../plane/relay-revocations.ts';
import type { Config, Environment } from './config.ts';
import { isSameRelay } from './configured-addresses.ts';
import type { Probe } from './probes.ts';
import { remoteRelayMetrics } from './wire-metrics.ts';

export type RelayEnvironment = Pick<Environment, 'MESH_RELAY_URL' | 'MESH_RELAY_ADVERTISE_URL' | 'MESH_LRP_AUTH_TOKEN'>;
type RelayConfig = { readonly env: RelayEnvironment } & Pick<Config, 'app'>;

/** A relay of another process. */
interface RelayAddress {
  readonly name: string;
  readonly url: string;
}

/** Keeps the relays of MESH_RELAY_URL and `app.relays` told of revocations, all but that of this process. */
export async function startRemoteRelays(config: RelayConfig, own: HostPort | undefined, services: Services) {
  const { clock, log, keys } = services;
  const relays = externalRelays(config, own).flatMap(({ name, url }) => {
    const address = parseRelayAddress(url);
    return address ? [{ name, relay: new RemoteRelay({ address, token: keys.relayToken.reveal(), clock, log }) }] : [];
  });
  if (relays.length > 0 && config.env.MESH_LRP_AUTH_TOKEN === undefined) {
    log.warn(
      { variable: 'MESH_LRP_AUTH_TOKEN' },
      'is unset: a relay elsewhere knows the shared token only when both are given the same one',
    );
  }
  const all = {
    revoke(member: Member, until: number) {
      for (const { relay } of relays) relay.revoke(member, until);
    },
    allow(member: Member) {
      for (const { relay } of relays) relay.allow(member);
    },
  };
  const revocations = relays.length > 0 ? await startRelayRevocations(services, all) : undefined;
  for (const { relay } of relays) relay.start();
  return {
    parts: relays.map(({ name, relay }) => ({
      name: `relay ${name}`,
      check: async () => stateOf(relay),
    })),
    metrics: async () => remoteRelayMetrics(relays.map(({ name, relay }) => ({ name, ...relay.metrics() }))),
    async stop() {
      revocations?.stop();
      for (const { relay } of relays) relay.stop();
    },
  };
}

/** Returns the state of a relay. An unreachable relay degrades this process without ending it. */
function stateOf({ problem }: RemoteRelay): Probe {
  return problem === undefined
    ? { state: 'ok', detail: 'is told of revocations' }
    : { state: 'degraded', detail: problem };
}

/** The relay of this process is told without a connection. */
function externalRelays({ env, app }: RelayConfig, own: HostPort | undefined): readonly RelayAddress[] {
  const { MESH_RELAY_URL: main, MESH_RELAY_ADVERTISE_URL: advertised } = env;
  const isOwn = (url: string): boolean => {
    const address = parseRelayAddress(url);
    if (own === undefined || address === undefined) return false;
    return (
      (own.port === address.port && isLoopback(address.host)) ||
      (advertised !== undefined && isSameRelay(url, advertised))
    );
  };
  const listed = app.relays.filter(({ url }) => !isOwn(url));
  if (main === undefined || isOwn(main) || listed.some(({ url }) => isSameRelay(url, main))) return listed;
  return [{ name: MAIN_RELAY, url: main }, ...listed];
}
