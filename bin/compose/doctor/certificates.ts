import { X509Certificate } from 'node:crypto';
import { formatInstant } from '../../../core/base/time.ts';
import { readTls } from '../tls.ts';
import { type Check, failed, ok, warning } from './check.ts';

const DAY_MS = 86_400_000;
/** Time to get another. */
const SOON_DAYS = 14;

export const checkCertificates: Check = ({ config, now }) => {
  const tls = readTls(config.env);
  if (!tls) return [ok('No certificate is set (MESH_TLS_CERT): the API, the bus and the relay speak no TLS.')];
  const { validFromDate, validToDate } = new X509Certificate(tls.cert);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  const named = `The certificate of ${config.env.MESH_TLS_CERT}`;
  if (now >= to) return [failed(`${named} expired on ${formatInstant(to)}: get another and start meshd again.`)];
  if (now < from) return [failed(`${named} is valid from ${formatInstant(from)} only: look at the clock.`)];
  const days = Math.floor((to - now) / DAY_MS);
  const until = `${named} is valid for ${days} more days, until ${formatInstant(to)}`;
  return [days < SOON_DAYS ? warning(`${until}: get another.`) : ok(`${until}.`)];
};
