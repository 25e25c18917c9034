import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { type HashCaller, withWriteSlot } from './hash-queue.ts';

/** argon2id: 19 MiB, two passes, one lane (OWASP, Password Storage). Kept in each hash, so that they may be raised. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const TAG_BYTES = 32;
const SALT_BYTES = 16;

/** The asker after a login: a signed-in caller, or the control plane itself. */
const SIGNED_IN: HashCaller = { isKnown: true, source: 'signed in' };

/** Characters of a password; `passwordLength` of the rules may ask for more. */
export const PASSWORD_LENGTH = { min: 8, max: 256 } as const;

const FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** A PHC string of a hash that no password has, to verify against where there is no account. */
const NOBODY = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** The password as a PHC string with its own salt. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const { memory, passes, parallelism } = COST;
  const tag = await withWriteSlot(SIGNED_IN, () => derive(password, salt, { memory, passes, parallelism }, TAG_BYTES));
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** Returns true if the password is the hashed one. Without a hash it takes as long and returns false. */
export async function verifyPassword(
  password: string,
  hash: string | undefined,
  asker: HashCaller = SIGNED_IN,
): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', expected = ''] =
    FORM.exec(hash ?? NOBODY) ?? FORM.exec(NOBODY) ?? [];
  const tag = Buffer.from(expected, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const actual = await withWriteSlot(asker, () => derive(password, Buffer.from(salt, 'base64'), cost, tag.length));
  return timingSafeEqual(actual, tag) && hash !== undefined;
}

type Cost = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism'>;

function derive(password: string, nonce: Buffer, cost: Cost, tagLength: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const message = password.normalize('NFKC');
    argon2('argon2id', { ...cost, message, nonce, tagLength }, (error, tag) => (error ? reject(error) : resolve(tag)));
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
