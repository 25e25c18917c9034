import { batch } from '@preact/signals';
import { answer, api } from './client.ts';
import { Problem } from './problem.ts';
import {
  forgetAll,
  forgetSession,
  keepsSession,
  lastUser,
  type Me,
  me,
  mustChangePassword,
  mustEnrol,
  rememberKept,
  session,
} from './session.ts';

export interface SignIn {
  readonly username: string;
  readonly password: string;
  readonly otp?: string | undefined;
  /** Whether the browser keeps the session once the page is closed. */
  readonly staySignedIn: boolean;
}

/** @throws Problem `otp_required` where the account has a second factor and no code was sent */
export async function signIn({ username, password, otp, staySignedIn }: SignIn): Promise<void> {
  const body = { username, password, ...(otp && { otp }), ...(staySignedIn && { staySignedIn }) };
  const { data } = await answer(api.POST('/api/v1/users/login', { body }));
  rememberKept(staySignedIn);
  const { token, passwordChangeRequired, secondFactorRequired = false } = data;
  // Before a page is shown: where it cannot be read, this is still the place to try again.
  const found = passwordChangeRequired || secondFactorRequired ? undefined : await meBy(token);
  if (lastUser.value !== undefined && lastUser.value !== username) forgetAll();
  batch(() => {
    session.value = { token, username };
    mustChangePassword.value = passwordChangeRequired;
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

export async function signOut(): Promise<void> {
  try {
    await api.POST('/api/v1/users/logout');
  } finally {
    rememberKept(false);
    forgetAll();
  }
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
