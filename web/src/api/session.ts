import { computed, signal } from '@preact/signals';
import type { components } from './schema.d.ts';

export type Me = components['schemas']['GetMeResponse'];

/** Lives as long as the page: nothing that lets one in is ever written to storage. */
export interface Session {
  /** Absent where the browser keeps the session, in a cookie that no script can read. */
  readonly token?: string;
  readonly username: string;
}

export const session = signal<Session | undefined>(undefined);
/** Undefined until the control plane told who this is. */
export const me = signal<Me | undefined>(undefined);
/** The initial password of the account, which was signed in with and has to be changed before anything else. */
export const initialPassword = signal<string | undefined>(undefined);

/** The account has to have a second factor, and may do nothing else before it has one. */
export const mustEnrol = signal(false);

export const isSignedIn = computed(() => session.value !== undefined);

/** Whose pages are kept while a session is renewed; undefined once they signed out. */
export const lastUser = signal<string | undefined>(undefined);

/** Of every request: the token, and that the dashboard asks (its session cookie counts for nobody else). */
export function credentialHeaders(): Readonly<Record<string, string>> {
  const token = session.value?.token;
  return { 'x-mesh-page': '1', ...(token && { authorization: `Bearer ${token}` }) };
}

/** Remembers that this browser keeps a session, so that only then one is looked for when the page is opened. */
const KEPT = 'mesh-session-kept';

export const keepsSession = () => localStorage.getItem(KEPT) !== null;

export function rememberKept(isKept: boolean): void {
  if (isKept) localStorage.setItem(KEPT, 'yes');
  else localStorage.removeItem(KEPT);
}

/** The session that something was sent with is over: one that began since goes on. */
export function endSession(authorization: string | undefined): void {
  if (authorization === credentialHeaders()['authorization']) forgetSession();
}

/** The session is over. What the page shows stays, for the same person to sign in again. */
export function forgetSession(): void {
  session.value = undefined;
  initialPassword.value = undefined;
  mustEnrol.value = false;
}

/** Takes away what the page showed, too. */
export function forgetAll(): void {
  forgetSession();
  me.value = undefined;
  lastUser.value = undefined;
}
