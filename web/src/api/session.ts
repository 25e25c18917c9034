import { computed, signal } from '@preact/signals';
import type { components } from './schema.d.ts';

export type Me = components['schemas']['GetMeResponse'];

/** Lives as long as the page: nothing that lets one in is ever written to storage. */
export interface Session {
  readonly token: string;
  readonly username: string;
  readonly expiresAt: string;
}

export const session = signal<Session | undefined>(undefined);
/** Undefined until the control plane told who this is. */
export const me = signal<Me | undefined>(undefined);
/** The account still has the password that it was made with, and may do nothing else. */
export const mustChangePassword = signal(false);

export const isSignedIn = computed(() => session.value !== undefined);

/** Whose pages are kept while a session is renewed; undefined once they signed out. */
export const lastUser = signal<string | undefined>(undefined);

/** The session is over. What the page shows stays, for the same person to sign in again. */
export function forgetSession(): void {
  session.value = undefined;
  mustChangePassword.value = false;
}

/** Takes away what the page showed, too. */
export function forgetAll(): void {
  forgetSession();
  me.value = undefined;
  lastUser.value = undefined;
}
