import { api, keep, kept } from './api.js';
import { $, say, show } from './page.js';

/** Ends the session of this tab, and takes away what it showed. */
export function forget() {
  sessionStorage.clear();
  for (const form of document.querySelectorAll('form')) form.reset();
  for (const list of document.querySelectorAll('[data-answer]')) list.replaceChildren();
  show('sign-in');
}

export async function signIn(username, password) {
  const { data } = await api('POST', '/users/login', { body: { username, password } });
  keep('token', data.token);
  keep('username', username);
  keep('changePassword', data.passwordChangeRequired ? 'yes' : '');
  for (const form of document.querySelectorAll('form')) form.reset();
  say('');
}

export function askForPassword() {
  $('#account').value = kept('username');
  show('change-password');
}

/** Ends every session of the account, this one too: hence the new one. */
export async function changePassword({ oldPassword, newPassword }) {
  await api('PUT', '/users/me/password', { body: { oldPassword, newPassword } });
  const username = kept('username');
  sessionStorage.clear();
  await signIn(username, newPassword);
}

export async function signOut() {
  await api('POST', '/users/logout').catch(() => undefined);
  forget();
  say('Signed out.');
}
