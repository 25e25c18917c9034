import { z } from 'zod';
import { Secret } from '../../core/base/secret.ts';
import { parseBusUrl } from '../../net/bus/bus-address.ts';

const busUrl = z.string().transform((text, context): Secret => {
  const parsed = parseBusUrl(text);
  if (!('problem' in parsed)) return new Secret(text);
  context.addIssue({ code: 'custom', message: parsed.problem });
  return z.NEVER;
});
const filePath = z.string().min(1);

/** The variables of a bus that others run (docs/bus.md#servers-of-your-own). */
export const busVariables = {
  MESH_BUS_URL: busUrl
    .optional()
    .describe(
      'NATS servers that are the bus in place of the embedded one, nats://<host>:<port> or tls://<host>:<port> with commas between; a user and password or a token may stand in it',
    ),
  MESH_BUS_CREDS: filePath
    .optional()
    .describe('File with the NATS credentials of the control plane at MESH_BUS_URL (.creds); read at each connect'),
  MESH_BUS_CA: filePath
    .optional()
    .describe(
      'PEM file with the authority of the certificates at MESH_BUS_URL; those that this machine trusts when unset',
    ),
  MESH_BUS_KEYS_FILE: filePath
    .optional()
    .describe(
      'File that `meshd bus-config` wrote, with which the control plane lets each node in at MESH_BUS_URL; with MESH_SIGNALING_AUTH=token',
    ),
};

/** The files among them. */
export const BUS_FILES = ['MESH_BUS_CREDS', 'MESH_BUS_CA', 'MESH_BUS_KEYS_FILE'] as const;

/** Returns the conflicts between these variables; `given` is as in the environment. */
export function busProblems(given: Readonly<Record<string, string | undefined>>): string[] {
  const { MESH_BUS_URL: url, MESH_BUS_LISTEN: listen, MESH_BUS_CREDS: creds, MESH_BUS_KEYS_FILE: keys } = given;
  if (url === undefined) {
    const idle = BUS_FILES.filter((name) => given[name] !== undefined);
    return idle.map((name) => `${name}: is for a bus elsewhere, so set MESH_BUS_URL too or leave it out`);
  }
  const isToken = given['MESH_SIGNALING_AUTH'] === 'token';
  const problems: string[] = [];
  if (listen !== undefined && listen !== 'off') {
    problems.push(
      'MESH_BUS_URL, MESH_BUS_LISTEN: the bus is either elsewhere or in this process: leave one of them out, or set MESH_BUS_LISTEN=off',
    );
  }
  if (isToken && keys === undefined) {
    problems.push(
      'MESH_BUS_KEYS_FILE: with MESH_BUS_URL and MESH_SIGNALING_AUTH=token it names the file that `meshd bus-config` wrote',
    );
  }
  if (!isToken && keys !== undefined) {
    problems.push('MESH_BUS_KEYS_FILE: is of no use without MESH_SIGNALING_AUTH=token: set that, or leave this out');
  }
  if (keys !== undefined && creds !== undefined) {
    problems.push('MESH_BUS_CREDS, MESH_BUS_KEYS_FILE: leave MESH_BUS_CREDS out: the keys file has the credentials');
  }
  if (given['MESH_BUS_CA'] !== undefined && !url.includes('tls://')) {
    problems.push('MESH_BUS_CA: is for servers with TLS: write tls:// in MESH_BUS_URL');
  }
  return problems;
}
