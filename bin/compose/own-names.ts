import { X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import { parseHostPort } from '../../net/host-port.ts';
import type { Config } from './config.ts';
import { configuredAddresses } from './configured-addresses.ts';
import type { Tls } from './tls.ts';

/** The listener behind each address that nodes are given: where it is off, the address is of another machine. */
const LISTENER = {
  MESH_SIGNALING_URL: 'MESH_BUS_LISTEN',
  MESH_RELAY_ADVERTISE_URL: 'MESH_RELAY_LISTEN',
  MESH_STUN_URL: 'MESH_STUN_LISTEN',
} as const;

/** Names that this control plane has, in lower case: of the machine, of its addresses, certificate and configuration. */
export function ownNames({ env, app }: Pick<Config, 'env' | 'app'>, tls: Tls | undefined): ReadonlySet<string> {
  const machine = hostname();
  const given = configuredAddresses({ env, app }).flatMap(({ variable, value }) =>
    variable === 'app.relays' || variable === 'app.stun' || env[LISTENER[variable]] === 'off'
      ? []
      : [parseHostPort(value.replace(/^\w+:\/\//, ''))?.host ?? ''],
  );
  const names = [
    machine,
    `${machine.split('.', 1)[0]}.local`,
    env.MESH_LISTEN.host,
    ...given,
    ...(tls ? certified(tls.cert) : []),
    ...app.publicUrls.map((url) => new URL(url).hostname),
  ];
  return new Set(names.map((name) => name.toLowerCase()).filter((name) => name !== ''));
}

/** DNS names of a certificate; one with a wildcard names nothing in particular. */
function certified(cert: string): string[] {
  const names = new X509Certificate(cert).subjectAltName ?? '';
  return [...names.matchAll(/DNS:([\w.-]+)/g)].map(([, name = '']) => name);
}
