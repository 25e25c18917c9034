import type { ConnectionEnds, ConnectionOwner } from '../../platform/connection-owner.ts';
import { connectionOwner } from '../../platform/platform.ts';

/** Tells whether root, or the user of this process, holds the other end of a connection on this machine; false where nobody can tell. */
export function buildHostUsers(
  ownerOf: ConnectionOwner = connectionOwner,
  own = process.getuid?.(),
): (ends: ConnectionEnds) => Promise<boolean> {
  return async (ends) => {
    const uid = await ownerOf(ends);
    return uid !== undefined && (uid === 0 || uid === own);
  };
}
