import { newId } from './ids.ts';

const ACCEPTED = /^[A-Za-z0-9._-]{8,64}$/;

/** The caller's own id where it is harmless in logs and headers, else a fresh one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && ACCEPTED.test(header) ? header : newId('r');
}
