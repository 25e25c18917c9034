import path from 'node:path';
import { isLoopbackUrl } from '../../core/base/loopback.ts';
import type { Log } from '../../core/base/ports.ts';
import { BUILT_IN_PASSWORD, FIRST_LOGIN_TOKEN_FILE, hasBuiltInPassword } from '../../core/identity/first-accounts.ts';
import { formatHostPort, type HostPort } from '../../net/host-port.ts';
import { busPlaceOf } from './bus-place.ts';
import type { Config } from './config.ts';
import { givenAddresses, withholdsCredential } from './given-addresses.ts';
import type { Plane } from './plane.ts';
import type { Listeners } from './wire.ts';

/** Logs what an operator should look at. @returns where everything is and what to do next */
export async function announcement(
  config: Config,
  { url, listeners, services, saysFirstPassword }: Plane,
  log: Log,
  milliseconds: number,
): Promise<string> {
  const { env } = config;
  const where = wherePartsAre(config, listeners);
  for (const { variable, value } of givenAddresses(config)) {
    if (isLoopbackUrl(value)) {
      log.warn({ variable, value }, 'nodes on other hosts cannot use a loopback address: set a public one');
    }
  }
  if (withholdsCredential(env)) {
    log.warn(
      { variable: 'MESH_SIGNALING_AUTH' },
      'nodes send the credential of the bus over TLS alone, unless each is started with --bus-in-clear: ' +
        'set MESH_TLS_CERT and MESH_TLS_KEY, or a tls:// address in MESH_SIGNALING_URL',
    );
  }
  for (const variable of config.unknownVariables) log.warn({ variable }, 'no such variable: is it misspelt?');
  for (const notice of config.notices) log.warn({}, notice);
  const isBuiltIn = await hasBuiltInPassword(services);
  if (isBuiltIn) {
    log.warn(
      { file: path.join(config.configDir, FIRST_LOGIN_TOKEN_FILE) },
      'an administrator has the built-in password, good for root and the user of this process on this machine only, and for all ' +
        'others the token in this file: sign in with mesh login and choose another, or set app.initAdmins',
    );
  }
  const password = isBuiltIn && saysFirstPassword ? ` (first password: ${BUILT_IN_PASSWORD})` : '';
  return [
    `Mesh is up in ${Math.round(milliseconds)} ms (${env.MESH_EDITION} edition, ${where.data}).`,
    `  API        ${url}/api/v1   (${url}/api/v1/openapi.json)`,
    `  MCP        ${url}/mcp`,
    `  Dashboard  ${url}/`,
    `  Bus        ${where.bus}`,
    `  Relay      ${where.relay}`,
    `  STUN       ${where.stun}`,
    `Next: mesh login --server ${url}${password}`,
    'then: mesh mcp config',
    '',
  ].join('\n');
}

/** For people: the parts of an installation, of which any can be elsewhere. */
export function wherePartsAre(config: Config, { bus, relay, stun }: Listeners) {
  const { env, configDir } = config;
  const isApart = env.MESH_STORE_URL !== undefined;
  return {
    data: isApart ? `records where MESH_STORE_URL says, all else in ${configDir}` : `data in ${configDir}`,
    bus: busPlaceOf(env)?.servers.join(', ') ?? placeOf(bus, 'MESH_BUS_LISTEN'),
    relay: relayPlace(config, relay),
    stun: stunPlace(config, stun),
  };
}

function relayPlace({ env, app }: Config, own: HostPort | undefined): string {
  const elsewhere = [
    ...(env.MESH_RELAY_URL === undefined ? [] : [`${env.MESH_RELAY_URL} (MESH_RELAY_URL)`]),
    ...app.relays.map(({ name, url }) => `${url} (${name})`),
  ];
  return placesOf(own, 'MESH_RELAY_LISTEN', elsewhere);
}

/** Its variable says what nodes are told of the one of this process, unless that is off. */
function stunPlace({ env, app }: Config, own: HostPort | undefined): string {
  const isElsewhere = !own && !isLoopbackUrl(env.MESH_STUN_URL);
  const elsewhere = [
    ...(isElsewhere ? [`${env.MESH_STUN_URL} (MESH_STUN_URL)`] : []),
    ...app.stun.map((url) => `${url} (app.stun)`),
  ];
  return placesOf(own, 'MESH_STUN_LISTEN', elsewhere);
}

function placesOf(own: HostPort | undefined, variable: string, elsewhere: readonly string[]): string {
  const here = own || elsewhere.length === 0 ? [placeOf(own, variable)] : [];
  return [...here, ...elsewhere].join(' and ');
}

function placeOf(address: HostPort | undefined, variable: string): string {
  if (!address) return `off (${variable})`;
  return formatHostPort(address.host, address.port);
}
