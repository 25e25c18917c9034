import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isLoopbackUrl } from '../../core/base/loopback.ts';
import { WORKSPACE_ROLES } from '../../core/base/scope.ts';
import { Secret } from '../../core/base/secret.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { unreadable } from '../../core/base/unreadable.ts';
import { GROUPS_CLAIM, type IssuerRules, MAX_ISSUERS } from '../../core/model/issuers.ts';
import type { IssuerSettings } from '../../rest/oidc/issuers.ts';
import type { Directory } from '../../rest/scim/paths.ts';

export const MAX_GRANTS = 200;
const MAX_SCOPES = 20;
/** Characters of a secret that this installation verifies: nobody is to guess it. */
const MIN_TOKEN = 32;
/** Characters. */
const MAX_SECRET = 4_096;

/** A claim, and the workspace that it is about. */
export const claimFields = {
  claim: lineOfText(TEXT_LIMITS.title).min(1),
  value: lineOfText(TEXT_LIMITS.hostname).min(1),
  workspace: lineOfText(TEXT_LIMITS.name).min(1),
};

const grant = z.strictObject({
  ...claimFields,
  role: z.enum(WORKSPACE_ROLES, { error: `must be ${WORKSPACE_ROLES.join(', ')}` }),
});

export const variableName = z.string().regex(/^MESH_OIDC_[A-Z0-9_]{1,64}$/, 'must begin with MESH_OIDC_');

export const secretText = z
  .string()
  .min(1)
  .transform((text) => new Secret(text));

const issuer = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be up to 32 small letters, digits and hyphens'),
    title: lineOfText(TEXT_LIMITS.name).min(1).optional(),
    issuer: z.string().refine(isIssuer, 'must be an https address without a query, or an http one of the loopback'),
    clientId: lineOfText(TEXT_LIMITS.hostname).min(1),
    clientSecret: secretText.optional(),
    clientSecretFile: z.string().min(1).optional(),
    clientSecretVariable: variableName.optional(),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/, 'must be a scope, such as groups'))
      .max(MAX_SCOPES)
      .default(['openid', 'email', 'profile'])
      .refine((all) => all.includes('openid'), 'must contain openid'),
    scim: z
      .strictObject({
        tokenFile: z.string().min(1).optional(),
        tokenVariable: variableName.optional(),
        claim: lineOfText(TEXT_LIMITS.title).min(1).default('sub'),
      })
      .refine(
        ({ tokenFile, tokenVariable }) => (tokenFile === undefined) !== (tokenVariable === undefined),
        'must have one of tokenFile and tokenVariable',
      )
      .transform(withNoToken)
      .optional(),
    admits: z.enum(['granted', 'everyone'], { error: 'must be granted or everyone' }).default('granted'),
    grants: z.array(grant).max(MAX_GRANTS).default([]),
  })
  .refine(
    ({ clientSecret, clientSecretFile, clientSecretVariable }) =>
      [clientSecret, clientSecretFile, clientSecretVariable].filter((one) => one !== undefined).length <= 1,
    'must have one of clientSecret, clientSecretFile and clientSecretVariable',
  )
  .refine(
    ({ admits, grants }) => admits === 'everyone' || grants.length > 0,
    'lets nobody in: write grants, or admits: everyone',
  )
  .refine(
    ({ scim, grants }) => !scim || grants.every(({ claim }) => claim === GROUPS_CLAIM),
    `has scim, so that the directory decides: its grants have the claim ${GROUPS_CLAIM}`,
  );

/** Issuers that sign people in (docs/sign-in.md). */
export const issuersSchema = z
  .array(issuer)
  .max(MAX_ISSUERS)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have a name each')
  .refine((all) => new Set(all.map((one) => one.issuer)).size === all.length, 'must have an issuer each');

export type ConfiguredIssuer = z.output<typeof issuer>;

/** Returns the issuers as the rules of identity have them. */
export function issuerRules(issuers: readonly ConfiguredIssuer[]): readonly IssuerRules[] {
  return issuers.map(({ name, title = name, issuer: id, admits, grants, scim }) => ({
    name,
    title,
    issuer: id,
    admits,
    grants,
    ...(scim && { directory: { claim: scim.claim } }),
  }));
}

/** Returns the issuers as they are spoken to. */
export function issuerSettings(issuers: readonly ConfiguredIssuer[]): readonly IssuerSettings[] {
  return issuers.map(({ name, title = name, issuer: id, clientId, clientSecret, scopes }) => ({
    name,
    title,
    issuer: id,
    clientId,
    scopes,
    ...(clientSecret && { clientSecret }),
  }));
}

/** Returns the directories that issuers keep here by SCIM, by the tokens that they show. */
export function directoriesOf(issuers: readonly ConfiguredIssuer[]): readonly Directory[] {
  const rules = issuerRules(issuers);
  return issuers.flatMap(({ scim }, index) => {
    const of = rules[index];
    return scim?.token && of ? [{ token: scim.token, rules: of }] : [];
  });
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the issuers with secrets of files and variables read. Problems are told by the key that names them. */
export function withClientSecrets(
  issuers: readonly ConfiguredIssuer[],
  variables: Variables,
  problems: string[],
): readonly ConfiguredIssuer[] {
  const tokens = new Set<string>();
  return issuers.map((one, index) => {
    const { clientSecretFile, clientSecretVariable, scim } = one;
    const where = `config.yaml app.oidc.${index}`;
    const read = (place: SecretPlace, keys: string) => secretAt(place, `${where}.${keys}`, variables, problems);
    const clientSecret = read({ file: clientSecretFile, variable: clientSecretVariable }, 'clientSecret');
    const token = scim && read({ file: scim.tokenFile, variable: scim.tokenVariable }, 'scim.token');
    if (token && isGuessable(token)) problems.push(`${where}.scim: the token ${UNGUESSABLE}`);
    // A token tells which directory a request is about.
    if (token && tokens.size === tokens.add(token.reveal()).size) {
      problems.push(`${where}.scim: the token is that of another issuer too: make one for each`);
    }
    return { ...one, ...(clientSecret && { clientSecret }), ...(token && { scim: { ...scim, token } }) };
  });
}

interface SecretPlace {
  readonly file: string | undefined;
  readonly variable: string | undefined;
}

export const UNGUESSABLE = `needs ${MIN_TOKEN} characters and no space, such as those of openssl rand -hex 32`;

export function isGuessable(secret: Secret): boolean {
  return secret.reveal().length < MIN_TOKEN || secret.reveal().includes(' ');
}

/** Returns a secret that a file or a variable has. Problems are told by the key that names it. */
export function secretAt(
  { file, variable }: SecretPlace,
  keys: string,
  variables: Variables,
  problems: string[],
): Secret | undefined {
  if (file !== undefined) {
    const secret = secretInFile(file);
    if (typeof secret !== 'string') return secret;
    problems.push(`${keys}File: ${secret}`);
  }
  if (variable !== undefined) {
    const secret = secretIn(variables[variable]);
    if (secret) return secret;
    problems.push(`${keys}Variable: ${variable} is not set`);
  }
  return undefined;
}

function withNoToken<Scim extends object>(scim: Scim): Scim & { readonly token?: Secret } {
  return scim;
}

/** @returns what is wrong, as a text */
function secretInFile(file: string): Secret | string {
  try {
    return secretIn(readFileSync(file, 'utf8')) ?? `${file} holds no secret`;
  } catch (error) {
    return unreadable(file, error);
  }
}

function secretIn(text = ''): Secret | undefined {
  const secret = text.trim();
  return secret === '' || secret.length > MAX_SECRET ? undefined : new Secret(secret);
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackUrl(text));
}
