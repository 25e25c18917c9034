import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { accountClaims, operatorClaims, userClaims } from '../../net/bus/claims.ts';
import { encodeJwt } from '../../net/bus/jwt.ts';
import { type Role, type SigningKey, seedText, signingKey, signingKeyOf } from '../../net/bus/nkey.ts';
import { modeOpenToOthers } from '../../storage/file-mode.ts';
import { ConfigError } from './config.ts';

/** The keys with which the control plane admits nodes, at servers that know its operator. Secret as a whole. */
export interface BusKeys {
  /** Public key of the account of control plane and nodes. */
  readonly account: string;
  /** Signs its users. */
  readonly users: SigningKey;
  /** Signs accounts. */
  readonly accounts: SigningKey;
  readonly plane: BusUser;
  /** In the system account, where accounts are told. */
  readonly system: BusUser;
}

export interface BusUser {
  readonly jwt: string;
  readonly seed: string;
}

const seed = (role: Role) =>
  z.string().transform((text, context): SigningKey => {
    const key = signingKeyOf(role, text);
    if (key) return key;
    context.addIssue({ code: 'custom', message: `is no seed of an NKey for ${role}s` });
    return z.NEVER;
  });
const user = z.strictObject({ jwt: z.string(), seed: z.string() });
const keysFile = z.strictObject({
  version: z.literal(1),
  account: z.string().startsWith('A'),
  users: seed('account'),
  accounts: seed('operator'),
  plane: user,
  system: user,
});

/** @throws ConfigError that repeats nothing of the file */
export function readBusKeys(file: string): BusKeys {
  const refuse = (why: string) => new ConfigError([`MESH_BUS_KEYS_FILE: ${file} ${why}`]);
  if (modeOpenToOthers(file) !== undefined) throw refuse(`holds secrets and others can read it: run chmod 600 ${file}`);
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw refuse('is no JSON: take the one that `meshd bus-config` wrote');
  }
  const parsed = keysFile.safeParse(content);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: '' };
  throw refuse(`is not what \`meshd bus-config\` wrote (${[...path, message].join(' ')})`);
}

/** Makes the keys of a bus, once; returns the texts of the three files. */
export function makeBusKeys(nowS: number): {
  readonly keys: string;
  readonly operator: string;
  readonly accounts: string;
} {
  const make = (role: Role) => {
    const raw = randomBytes(32);
    return { ...signingKey(role, raw), seed: seedText(role, raw) };
  };
  const [operator, accounts] = [make('operator'), make('operator')];
  const [system, systemUsers, nodes, users] = [make('account'), make('account'), make('account'), make('account')];
  const userOf = (name: string, account: SigningKey, signer: SigningKey, rights = {}) => {
    const { publicKey, seed } = make('user');
    return { jwt: encodeJwt(userClaims(publicKey, account.publicKey, name, nowS, rights), signer), seed };
  };
  const keys = {
    version: 1,
    account: nodes.publicKey,
    users: users.seed,
    accounts: accounts.seed,
    plane: userOf('control-plane', nodes, users),
    system: userOf('control-plane', system, systemUsers, SYSTEM_RIGHTS),
  };
  const operatorJwt = encodeJwt(
    operatorClaims(operator.publicKey, accounts.publicKey, system.publicKey, nowS),
    operator,
  );
  const accountJwt = (name: string, { publicKey }: SigningKey, signer: SigningKey) =>
    `  ${publicKey}: ${encodeJwt(accountClaims(publicKey, name, signer.publicKey, nowS), accounts)}`;
  return {
    keys: `${JSON.stringify(keys, null, 2)}\n`,
    operator: `${operator.seed}\n`,
    accounts: [
      '# Who may use this bus: the same on each of its servers. Public; made by meshd bus-config.',
      `operator: ${operatorJwt}`,
      `system_account: ${system.publicKey}`,
      'resolver_preload: {',
      accountJwt('system', system, systemUsers),
      accountJwt('mesh', nodes, users),
      '}',
      '',
    ].join('\n'),
  };
}

/** The control plane tells of the account of nodes, and asks what the servers hold of it; nothing else. */
const SYSTEM_RIGHTS = {
  pub: { allow: ['$SYS.REQ.CLAIMS.UPDATE', '$SYS.REQ.ACCOUNT.*.CLAIMS.LOOKUP'] },
  sub: { allow: ['_INBOX.>'] },
};
