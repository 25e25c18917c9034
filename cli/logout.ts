import type { Command } from 'commander';
import { type Answer, answering } from './answer.ts';
import { callApi, requireSession } from './api.ts';
import { DEFAULT_SERVER, forgetSession, readSession, type Target } from './session.ts';

/** `mesh logout`. */
export function defineLogout(command: Command): void {
  answering(
    command.option('--everywhere', 'end every session and every grant to an OAuth client, on whatever machine'),
    logout,
  );
}

async function logout({ everywhere = false }: { readonly everywhere?: boolean }): Promise<Answer> {
  const { server = DEFAULT_SERVER, token } = readSession() ?? {};
  if (everywhere) return logoutEverywhere({ server, token, workspace: undefined });
  if (token) {
    const target = { server, token, workspace: undefined };
    await callApi(target, { method: 'post', path: '/api/v1/users/logout', body: {} }).catch(() => undefined);
  }
  forgetSession();
  return { value: { signedOut: true, server }, text: 'Signed out.' };
}

/** The session is forgotten once the others have ended: until then the command can be given again. */
async function logoutEverywhere(target: Target): Promise<Answer> {
  requireSession(target);
  const answer = await callApi(target, { method: 'post', path: '/api/v1/users/logout/everywhere', body: {} });
  const { sessions, grants } = answer as { readonly sessions: number; readonly grants: number };
  forgetSession();
  const text = `Signed out everywhere: sessions ${sessions}, OAuth clients ${grants}. API tokens and agents go on.`;
  return { value: { signedOut: true, server: target.server, sessions, grants }, text };
}
