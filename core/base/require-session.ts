import type { Caller } from './caller.ts';
import { MeshError } from './errors.ts';

/** For what a token must never do: it asks for a person who is logged in. @throws MeshError `forbidden` */
export function requireSession(caller: Caller): Caller {
  if (caller.kind === 'user' && caller.interactive) return caller;
  throw new MeshError('forbidden', 'Only a logged-in person may do this: log in with a password. Tokens cannot.');
}
