import { api, keep, kept } from './api.js';
import { $, say, show } from './page.js';

/** Ends the session of this tab, and takes away what it showed. */
export function forget() {
  sessionStorage.clear();
  for (const form of document.querySelectorAll('form')) form.reset();
  for (const list of document.querySelectorAll('[data-answer]')) list.replaceChildren();
  show('sign-in');
}

export async function signIn(username, password, otp) {
  const body = { username, password, ...(otp && { otp }) };
  const { data } = await api('POST', '/users/login', { body }).catch((error) => {
    if (error.code === 'otp_required') askForCode();
    throw error;
  });
  askForCode(false);
  keep('token', data.token);
  keep('username', username);
  keep('changePassword', data.passwordChangeRequired ? 'yes' : '');
  for (const form of document.querySelectorAll('form')) form.reset();
  say('');
}

/** Shown only for accounts with a second factor, once the password was right. */
function askForCode(isAsked = true) {
  $('#otp-asked').hidden = !isAsked;
  $('#otp').required = isAsked;
  if (!isAsked) return;
  $('#otp').value = '';
  $('#otp').focus();
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
  await signIn(username, newPassword).catch((error) => {
    if (error.code !== 'otp_required') throw error;
    // It is changed: what is left is to sign in with it and the next code.
    show('sign-in');
    $('#username').value = username;
    throw error;
  });
}

export async function signOut() {
  await api('POST', '/users/logout').catch(() => undefined);
  forget();
  say('Signed out.');
}
