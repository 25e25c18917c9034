import { MeshError } from '../../../core/base/errors.ts';
import { newId } from '../../../core/base/ids.ts';
import type { IssuedIdentity, IssuerClient, IssuerRules } from '../../../core/model/issuers.ts';
import { buildIdentityKit, type IdentityKitOptions } from './identity-kit.ts';

export const ORIGIN = 'https://mesh.example.com';

/** An issuer that gives roles in `prod` by groups. */
export const CORP: IssuerRules = {
  name: 'corp',
  title: 'Example Corp',
  issuer: 'https://id.example.com',
  admits: 'granted',
  grants: [
    { claim: 'groups', value: 'watchers', workspace: 'prod', role: 'viewer' },
    { claim: 'groups', value: 'operators', workspace: 'prod', role: 'operator' },
    { claim: 'groups', value: 'admins', workspace: 'prod', role: 'admin' },
  ],
};

/** Another one, which lets everybody in and gives nothing. */
export const OPEN: IssuerRules = {
  name: 'open',
  title: 'Open',
  issuer: 'https://open.example.com',
  admits: 'everyone',
  grants: [],
};

export function identity(address: string, groups: readonly string[] = [], subject = address): IssuedIdentity {
  const claims = { sub: subject, email: address, email_verified: true, name: 'A Person', groups };
  return { subject, claims, refreshToken: 'refresh-1', idToken: 'id-1' };
}

/** The identity kit with issuers whose answers a test writes, and the workspace `prod`. */
export async function buildIssuerKit(options: IdentityKitOptions = {}) {
  interface Answers {
    finish: IssuedIdentity;
    refresh: IssuedIdentity | 'refused' | 'away' | ((refreshToken: string) => IssuedIdentity | Error | 'refused');
    /** Happens while the issuer is asked. */
    meanwhile?: () => Promise<unknown>;
  }
  const answers: Answers = {
    finish: identity('ada@example.com', ['operators']),
    refresh: 'refused',
  };
  const refreshedWith: string[] = [];
  const issuerClient: IssuerClient = {
    begin: async (_name, redirectUri, { state }) =>
      `https://id.example.com/?${new URLSearchParams({ redirect_uri: redirectUri, state })}`,
    finish: async () => answers.finish,
    async refresh(_name, refreshToken) {
      refreshedWith.push(refreshToken);
      await answers.meanwhile?.();
      const answer = typeof answers.refresh === 'function' ? answers.refresh(refreshToken) : answers.refresh;
      if (answer === 'away') throw new MeshError('unavailable', 'Example Corp cannot be reached.');
      if (answer instanceof Error) throw answer;
      return answer === 'refused' ? undefined : answer;
    },
    signOut: async (_name, returnTo, idToken) =>
      `https://id.example.com/out?${new URLSearchParams({ returnTo, idToken: idToken ?? '' })}`,
  };
  const kit = await buildIdentityKit({ issuers: [CORP, OPEN], issuerClient, publicUrls: [ORIGIN], ...options });
  const workspace = await kit.workspace('prod');

  async function begin(name = 'corp', browserKey = 'a key', origin = ORIGIN): Promise<string> {
    const { url } = await kit.call<{ url: string }>('begin_issuer_sign_in', { name, origin }, { browserKey });
    return `?code=c&state=${new URL(url).searchParams.get('state')}`;
  }

  const finish = (query: string, name = 'corp', browserKey = 'a key') =>
    kit.call<{ token: string; username: string }>('finish_issuer_sign_in', { name, query }, { browserKey });

  return {
    ...kit,
    prod: workspace,
    answers,
    refreshedWith,
    begin,
    finish,

    /** Signs a person in. */
    async signIn(person: IssuedIdentity, name = 'corp') {
      answers.finish = person;
      const key = newId('ses');
      return finish(await begin(name, key), name, key);
    },

    /** The role of a user name in `prod`. */
    async role(name: string): Promise<string | undefined> {
      return (await kit.services.store.get(workspace, { kind: 'Member', name }))?.spec.role;
    },
  };
}
