import { isLoopback } from '../../core/base/loopback.ts';
import { formatHostPort } from '../../net/host-port.ts';
import type { Config } from './config.ts';
import { isAnyAddress } from './configured-addresses.ts';

interface Exposure {
  /** Where the API listens and who can reach it, for people. */
  readonly listening: string;
  /** The risk of clear HTTP beyond this machine and what to do about it; undefined where there is none. */
  readonly warning?: string;
}

/** Returns who can reach the API at the port where it listens, and whether what they send can be read on the way. */
export function apiExposure({ env, app }: Pick<Config, 'env' | 'app'>, port = env.MESH_LISTEN.port): Exposure {
  const { host } = env.MESH_LISTEN;
  const place = formatHostPort(host, port);
  if (isLoopback(host)) return { listening: `${place}: this machine alone` };
  const scheme = env.MESH_TLS_CERT === undefined ? 'http' : 'https';
  const listening = isAnyAddress(host)
    ? `${place}: every host that reaches this machine; ${scheme}://127.0.0.1:${port} from here`
    : `${place}: every host that reaches this address`;
  if (scheme === 'https') return { listening };
  const isBehindTls = app.publicUrls.some((url) => url.startsWith('https:'));
  const remedy = isBehindTls
    ? `Let the TLS proxy of app.publicUrls alone reach it, with MESH_LISTEN=127.0.0.1:${port} or a firewall.`
    : `Set MESH_TLS_CERT and MESH_TLS_KEY, or MESH_LISTEN=127.0.0.1:${port} behind a TLS proxy.`;
  return {
    listening,
    warning: `The API on ${place} is not encrypted (http): passwords and tokens sent to it from other hosts can be read on the way. ${remedy}`,
  };
}
