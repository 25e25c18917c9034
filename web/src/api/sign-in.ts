import { answer, api } from './client.ts';
import { Problem } from './problem.ts';
import { forgetAll, forgetSession, lastUser, me, mustChangePassword, session } from './session.ts';

/** @throws Problem `otp_required` where the account has a second factor and no code was sent */
export async function signIn(username: string, password: string, otp: string): Promise<void> {
  const body = { username, password, ...(otp && { otp }) };
  const { data } = await answer(api.POST('/api/v1/users/login', { body }));
  if (lastUser.value !== undefined && lastUser.value !== username) forgetAll();
  session.value = { token: data.token, username, expiresAt: data.expiresAt };
  mustChangePassword.value = data.passwordChangeRequired;
  if (!data.passwordChangeRequired) await readMe();
}

/** Ends every session of the account, this one too: hence the new one. */
export async function choosePassword(oldPassword: string, newPassword: string): Promise<void> {
  const username = session.value?.username ?? '';
  await api.PUT('/api/v1/users/me/password', { body: { oldPassword, newPassword } });
  await signIn(username, newPassword, '').catch((error: unknown) => {
    // It is changed: what is left is to sign in with it and the next code.
    if (error instanceof Problem && error.code === 'otp_required') forgetSession();
    else throw error;
  });
}

export async function signOut(): Promise<void> {
  try {
    await api.POST('/api/v1/users/logout');
  } finally {
    forgetAll();
  }
}

async function readMe(): Promise<void> {
  me.value = await answer(api.GET('/api/v1/users/me'));
  lastUser.value = session.value?.username;
}
