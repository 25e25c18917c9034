import { batch } from '@preact/signals';
import { answer, api } from './client.ts';
import { Problem } from './problem.ts';
import type { components } from './schema.d.ts';
import {
  forgetAll,
  forgetSession,
  initialPassword,
  keepsSession,
  lastUser,
  type Me,
  me,
  mustEnrol,
  rememberKept,
  session,
} from './session.ts';

export interface SignIn {
  readonly username: string;
  readonly password: string;
  readonly otp?: string | undefined;
  /** In place of a code. */
  readonly passkey?: components['schemas']['LogInRequest']['passkey'];
  /** Whether the browser keeps the session once the page is closed. */
  readonly staySignedIn: boolean;
}

/** @throws Problem `otp_required` where the account has a second factor and no code was sent */
export async function signIn({ username, password, otp, passkey, staySignedIn }: SignIn): Promise<void> {
  const body = {
    username,
    password,
    client: browserName(),
    ...(otp && { otp }),
    ...(passkey && { passkey }),
    ...(staySignedIn && { staySignedIn }),
  };
  const { data } = await answer(api.POST('/api/v1/users/login', { body }));
  await enter({ ...data, username, password, staySignedIn });
}

export interface Entered {
  readonly token: string;
  readonly username: string;
  /** None where an issuer signed the person in. */
  readonly password?: string;
  readonly staySignedIn: boolean;
  readonly passwordChangeRequired?: boolean;
  readonly secondFactorRequired?: boolean;
}

/** Shows the dashboard to a person who has just signed in, or what they have to do first. */
export async function enter(entered: Entered): Promise<void> {
  const {
    token,
    username,
    password,
    staySignedIn,
    passwordChangeRequired = false,
    secondFactorRequired = false,
  } = entered;
  rememberKept(staySignedIn);
  // Before a page is shown: where it cannot be read, this is still the place to try again.
  const found = passwordChangeRequired || secondFactorRequired ? undefined : await meBy(token);
  if (lastUser.value !== undefined && lastUser.value !== username) forgetAll();
  batch(() => {
    session.value = { token, username };
    initialPassword.value = passwordChangeRequired ? password : undefined;
    mustEnrol.value = secondFactorRequired;
    if (found) showFor(found);
  });
}

/** Goes on with the session that this browser keeps, if there is one. */
export async function resume(): Promise<void> {
  if (!keepsSession()) return;
  try {
    const found = await meBy(undefined);
    batch(() => {
      session.value = { username: found.username };
      showFor(found);
    });
  } catch (error) {
    // It ended: a person signs in again. Anything else, such as a plane that does not answer, ends nothing.
    if (error instanceof Problem && error.status === 401) rememberKept(false);
  }
}

/** Ends every session of the account, this one too: hence the new one. */
export async function choosePassword(oldPassword: string, newPassword: string): Promise<void> {
  const username = session.value?.username ?? '';
  await api.PUT('/api/v1/users/me/password', { body: { oldPassword, newPassword } });
  await signIn({ username, password: newPassword, staySignedIn: keepsSession() }).catch((error: unknown) => {
    // It is changed: what is left is to sign in with it and the next code.
    if (error instanceof Problem && error.code === 'otp_required') forgetSession();
    else throw error;
  });
}

/** Ends the session, here and at the issuer that began it. */
export async function signOut(): Promise<void> {
  try {
    leaveIssuer(await answer(api.POST('/api/v1/users/logout')));
  } finally {
    rememberKept(false);
    forgetAll();
  }
}

/** Ends every session of the account and every grant to a client. Where that fails this session goes on. */
export async function signOutEverywhere(): Promise<void> {
  leaveIssuer(await answer(api.POST('/api/v1/users/logout/everywhere')));
  rememberKept(false);
  forgetAll();
}

function leaveIssuer(ended: object): void {
  if ('signOutUrl' in ended && typeof ended.signOutUrl === 'string') location.assign(ended.signOutUrl);
}

/** Reads who this is and which workspaces they have. */
export async function readMe(): Promise<void> {
  showFor(await meBy(session.value?.token));
}

function meBy(token: string | undefined): Promise<Me> {
  return answer(
    api.GET('/api/v1/users/me', token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  );
}

function showFor(found: Me): void {
  me.value = found;
  lastUser.value = session.value?.username;
}

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'];

/** This browser as its person would call it. */
export function browserName(): string {
  const { userAgent } = navigator;
  const browser = BROWSERS.find(([mark]) => userAgent.includes(mark))?.[1] ?? 'A browser';
  const system = SYSTEMS.find((name) => userAgent.includes(name));
  return system ? `${browser} on ${system}` : browser;
}
