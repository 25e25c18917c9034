import path from 'node:path';
import { isLoopbackUrl } from '../../core/base/loopback.ts';
import type { Log } from '../../core/base/ports.ts';
import { BUILT_IN_PASSWORD, FIRST_LOGIN_TOKEN_FILE, hasBuiltInPassword } from '../../core/identity/first-accounts.ts';
import { formatHostPort, type HostPort } from '../../net/host-port.ts';
import { OAUTH_PATHS } from '../../rest/oauth/provider.ts';
import { SCIM_PATH } from '../../rest/scim/paths.ts';
import { apiExposure } from './api-exposure.ts';
import { busAddressOf } from './bus-address.ts';
import type { Config } from './config.ts';
import { type ConfigWarning, configWarnings, logWarnings, warningText } from './config-warnings.ts';
import { configuredAddresses, withholdsCredential } from './configured-addresses.ts';
import { directoriesOf } from './issuer-config.ts';
import { assertionClientsOf } from './oauth-config.ts';
import type { Plane } from './plane.ts';
import type { Listeners } from './wire.ts';

const EDITIONS = {
  pro: 'Pro: all of Community, and history, plans from sentences, compliance and evidence (MESH_EDITION=pro)',
  community:
    'Community: networks, policies, agents and the audit log, without history, plans from sentences, compliance and evidence (MESH_EDITION=community)',
} as const;

/**
 * Says where everything is and what to do next. What an operator should look at stands in it for a person at the terminal;
 * else it is logged.
 *
 * @param milliseconds that the start took
 */
export async function announcement(
  config: Config,
  plane: Pick<Plane, 'url' | 'port' | 'listeners' | 'services' | 'saysFirstPassword' | 'ignoresInitAdmins'>,
  { log, isPerson, milliseconds }: { readonly log: Log; readonly isPerson: boolean; readonly milliseconds: number },
): Promise<string> {
  const { env } = config;
  const { url, listeners } = plane;
  const where = partAddresses(config, listeners);
  const { listening, warning } = apiExposure(config, plane.port);
  const isBuiltIn = await hasBuiltInPassword(plane.services);
  const warnings = [...configWarnings(config), ...startWarnings(config, plane, isBuiltIn)];
  const clear: readonly ConfigWarning[] = warning === undefined ? [] : [{ detail: warning }];
  if (!isPerson) logWarnings([...clear, ...warnings], log);
  const password = isBuiltIn && plane.saysFirstPassword ? ` (first password: ${BUILT_IN_PASSWORD})` : '';
  return [
    `Mesh is up in ${Math.round(milliseconds)} ms (${where.data}).`,
    `  Edition    ${EDITIONS[env.MESH_EDITION]}`,
    `  Listening  ${listening}`,
    `  API        ${url}/api/v1   (${url}/api/v1/openapi.json)`,
    `  MCP        ${url}/mcp`,
    `  Dashboard  ${url}/`,
    `  Bus        ${where.bus}`,
    `  Relay      ${where.relay}`,
    `  STUN       ${where.stun}`,
    ...scimLines(config, url),
    ...assertionLines(config, url),
    ...(isPerson ? [...clear, ...warnings] : clear).map((each) => `Warning: ${warningText(each)}`),
    `Next: mesh login --server ${url}${password}`,
    'then: mesh mcp config',
    '',
  ].join('\n');
}

function startWarnings(
  config: Config,
  { ignoresInitAdmins }: Pick<Plane, 'ignoresInitAdmins'>,
  isBuiltIn: boolean,
): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  for (const { variable, value } of configuredAddresses(config)) {
    if (!isLoopbackUrl(value)) continue;
    warnings.push({ variable, value, detail: 'nodes on other hosts cannot use a loopback address: set a public one' });
  }
  if (withholdsCredential(config.env)) {
    warnings.push({
      variable: 'MESH_SIGNALING_AUTH',
      detail:
        'nodes send the credential of the bus over TLS alone, unless each is started with --bus-in-clear: ' +
        'set MESH_TLS_CERT and MESH_TLS_KEY, or a tls:// address in MESH_SIGNALING_URL',
    });
  }
  if (ignoresInitAdmins) {
    warnings.push({
      variable: 'app.initAdmins',
      detail:
        'it is ignored, as accounts exist already and keep their passwords: remove it from config.yaml, and for a forgotten password run meshd reset-password USER',
    });
  }
  if (isBuiltIn) {
    warnings.push({
      detail: `an administrator has the built-in password, good for root and the user of this process on this machine only, and for all others the token in ${path.join(config.configDir, FIRST_LOGIN_TOKEN_FILE)}: sign in with mesh login and choose another, or set app.initAdmins`,
    });
  }
  return warnings;
}

/** Names the endpoint of SCIM and the issuers that keep a directory there; nothing where no issuer does. */
export function scimLines({ app }: Config, url: string): readonly string[] {
  const names = directoriesOf(app.oidc).map(({ rules }) => rules.name);
  return names.length === 0 ? [] : [`  SCIM       ${url}${SCIM_PATH}   (${names.join(', ')})`];
}

/** Names the endpoint that takes identity assertions and the clients that may bring them; nothing where none may. */
export function assertionLines({ app }: Config, url: string): readonly string[] {
  const ids = assertionClientsOf(app.oauth)?.map(({ id }) => id) ?? [];
  return ids.length === 0 ? [] : [`  Assertions ${url}${OAUTH_PATHS.token}   (${ids.join(', ')})`];
}

/** For people: the parts of an installation, of which any can be elsewhere. */
export function partAddresses(config: Config, { bus, relay, stun }: Listeners) {
  const { env, configDir } = config;
  const isApart = env.MESH_STORE_URL !== undefined;
  return {
    data: isApart ? `records where MESH_STORE_URL says, all else in ${configDir}` : `data in ${configDir}`,
    bus: busAddressOf(env)?.servers.join(', ') ?? addressText(bus, 'MESH_BUS_LISTEN'),
    relay: relayAddress(config, relay),
    stun: stunAddress(config, stun),
  };
}

function relayAddress({ env, app }: Config, own: HostPort | undefined): string {
  const elsewhere = [
    ...(env.MESH_RELAY_URL === undefined ? [] : [`${env.MESH_RELAY_URL} (MESH_RELAY_URL)`]),
    ...app.relays.map(({ name, url }) => `${url} (${name})`),
  ];
  return addressesText(own, 'MESH_RELAY_LISTEN', elsewhere);
}

/** Its variable says what nodes are told of the one of this process, unless that is off. */
function stunAddress({ env, app }: Config, own: HostPort | undefined): string {
  const isElsewhere = !own && !isLoopbackUrl(env.MESH_STUN_URL);
  const elsewhere = [
    ...(isElsewhere ? [`${env.MESH_STUN_URL} (MESH_STUN_URL)`] : []),
    ...app.stun.map((url) => `${url} (app.stun)`),
  ];
  return addressesText(own, 'MESH_STUN_LISTEN', elsewhere);
}

function addressesText(own: HostPort | undefined, variable: string, elsewhere: readonly string[]): string {
  const here = own || elsewhere.length === 0 ? [addressText(own, variable)] : [];
  return [...here, ...elsewhere].join(' and ');
}

function addressText(address: HostPort | undefined, variable: string): string {
  if (!address) return `off (${variable})`;
  return formatHostPort(address.host, address.port);
}
