import type { ConnectionOwner } from '../connection-owner.ts';

/** Node has no means to tell. */
export const plainConnectionOwner: ConnectionOwner = async () => undefined;
