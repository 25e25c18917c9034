import { requireJoinToken } from '../client/enrol/enrol.ts';
import { addressIn, controlKeyFingerprint, parseToken, withoutAddress } from '../core/model/token.ts';
import { notice } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import type { OwnPlane } from './node-directory.ts';
import { asCliError } from './node-errors.ts';

/**
 * Returns the control plane that a join or delegate token goes to: the one that is named; else the one of this host, where the
 * token is its; else the one whose address the token carries, which is printed before anything is sent. Undefined where none is known.
 *
 * @throws CliError for a token that is cut, or that names another control plane than the one of this host
 */
export function serverForToken(
  token: string,
  named: string | undefined,
  own: OwnPlane | undefined,
): string | undefined {
  if (named !== undefined) return named;
  requireWhole(token);
  const address = addressIn(token);
  if (own && isIssuedBy(own, token)) return own.server;
  if (!address) return undefined;
  if (own && URL.parse(own.server)?.origin !== address) {
    throw new CliError(
      `This token is for ${address}, and this host belongs to ${own.server}. Give --server ${address} if you trust it.`,
      EXIT.input,
    );
  }
  notice(`Control plane: ${address}, as the token says. --server names another.`);
  return address;
}

function isIssuedBy({ controlKey }: OwnPlane, token: string): boolean {
  const { fingerprint } = parseToken(withoutAddress(token)) ?? {};
  return fingerprint !== undefined && fingerprint === controlKeyFingerprint(Buffer.from(controlKey, 'base64'));
}

/** @throws CliError */
function requireWhole(token: string): void {
  try {
    requireJoinToken(token);
  } catch (error) {
    throw asCliError(error);
  }
}
