import { isLoopbackUrl } from '../../core/base/loopback.ts';
import type { AddressSettings } from '../../core/intent/verify/lock-out.ts';
import { type GraphRelay, MAIN_RELAY } from '../../core/model/graph.ts';
import { parseRelayAddress } from '../../net/relay/address.ts';
import { busAddressOf } from './bus-address.ts';
import type { Config, Environment } from './config.ts';

type AddressConfig = Pick<Config, 'env' | 'app'>;

/** An address that nodes are given, with the variable or the key of the configuration file that sets it. */
export interface ConfiguredAddress {
  readonly variable: 'MESH_SIGNALING_URL' | 'MESH_RELAY_ADVERTISE_URL' | 'MESH_STUN_URL' | 'app.relays' | 'app.stun';
  readonly value: string;
}

const OWN_BUS = '127.0.0.1:4222';
const OWN_RELAY = '127.0.0.1:6266';

/** Where nodes find bus, relays and STUN servers. */
export function configuredAddresses({ env, app }: AddressConfig): readonly ConfiguredAddress[] {
  const relay = relayForNodes(env);
  const others = app.relays.filter(({ url }) => relay === undefined || !isSameRelay(url, relay));
  return [
    { variable: 'MESH_SIGNALING_URL', value: busForNodes(env) },
    ...(relay === undefined ? [] : [{ variable: 'MESH_RELAY_ADVERTISE_URL' as const, value: relay }]),
    ...others.map(({ url }) => ({ variable: 'app.relays' as const, value: url })),
    { variable: 'MESH_STUN_URL', value: env.MESH_STUN_URL },
    ...app.stun.map((value) => ({ variable: 'app.stun' as const, value })),
  ];
}

/**
 * The bus address given to nodes, the first server of a bus elsewhere where none is set: it tells of the others. `tls://` where none is set and there is a certificate, and where the bus of this process
 * asks for both a credential and TLS, whatever is set: nobody gets in there in clear.
 */
export function busForNodes(env: Environment): string {
  const elsewhere = busAddressOf(env);
  if (elsewhere) return env.MESH_SIGNALING_URL ?? `${elsewhere.tls ? 'tls' : 'nats'}://${elsewhere.servers[0]}`;
  const isSecure = env.MESH_TLS_CERT !== undefined;
  const given = env.MESH_SIGNALING_URL ?? `${isSecure ? 'tls' : 'nats'}://${OWN_BUS}`;
  const isTlsAlone = isSecure && env.MESH_SIGNALING_AUTH === 'token' && env.MESH_BUS_LISTEN !== 'off';
  return isTlsAlone ? given.replace(/^nats:/, 'tls:') : given;
}

/** True where nodes need a secret on the bus but are given an address to which they do not send it; a bus elsewhere has them prove a key. */
export function withholdsCredential(env: Environment): boolean {
  const given = busForNodes(env);
  if (env.MESH_BUS_URL !== undefined) return false;
  return env.MESH_SIGNALING_AUTH === 'token' && given.startsWith('nats:') && !isLoopbackUrl(given);
}

/** The relay address given to nodes; `lrps://` where it is the relay of this process and that speaks TLS. */
export function relayForNodes(env: Environment): string | undefined {
  const isOurs = env.MESH_RELAY_LISTEN !== 'off';
  const given = env.MESH_RELAY_ADVERTISE_URL ?? (isOurs ? OWN_RELAY : env.MESH_RELAY_URL);
  const isSecure = isOurs && env.MESH_TLS_CERT !== undefined;
  return given !== undefined && isSecure && !given.includes('://') ? `lrps://${given}` : given;
}

/**
 * The relays given to nodes. That of the environment comes first, which is the one that nodes of an earlier version know; a relay of
 * the file at the same address gives it its name, region and capacity.
 */
export function relaysForNodes({ env, app }: AddressConfig): readonly GraphRelay[] {
  const main = relayForNodes(env);
  const listed = app.relays.map(({ name, url, region, capacity }): GraphRelay => {
    return { name, url, ...(region !== undefined && { region }), ...(capacity !== undefined && { capacity }) };
  });
  if (main === undefined) return listed;
  const named = listed.find(({ url }) => isSameRelay(url, main));
  return [{ ...(named ?? { name: MAIN_RELAY }), url: main }, ...listed.filter((relay) => relay !== named)];
}

/** Returns true if two addresses lead to the same relay, with or without TLS. */
export function isSameRelay(one: string, other: string): boolean {
  const [a, b] = [parseRelayAddress(one), parseRelayAddress(other)];
  return a !== undefined && b !== undefined && a.host === b.host && a.port === b.port;
}

/** Returns the addresses of the settings, as the configuration says them. */
export function addressSettings(config: AddressConfig): AddressSettings & { apiUrl: string } {
  const { env, app } = config;
  return {
    apiUrl: apiUrl(config, env.MESH_LISTEN.port),
    publicUrls: app.publicUrls,
    signalingUrl: busForNodes(env),
    relays: relaysForNodes(config),
    stunUrls: [env.MESH_STUN_URL, ...app.stun],
  };
}

/** Returns the address of the API: the first public one, or where it listens. */
export function apiUrl({ env, app }: AddressConfig, port: number): string {
  const { host } = env.MESH_LISTEN;
  const scheme = env.MESH_TLS_CERT === undefined ? 'http' : 'https';
  const [publicUrl] = app.publicUrls;
  return publicUrl ? new URL(publicUrl).origin : `${scheme}://${isAnyAddress(host) ? '127.0.0.1' : host}:${port}`;
}

export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
