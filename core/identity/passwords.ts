import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { invalidInput, MeshError } from '../base/errors.ts';

/** argon2id: 19 MiB, two passes, one lane (OWASP, Password Storage). Kept in each hash, so that they may be raised. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const TAG_BYTES = 32;
const SALT_BYTES = 16;

/** Hashes at once; each takes 19 MiB while it runs. */
const MAX_RUNNING = 2;
/** Hashes waiting; more are refused, so that a flood of logins costs no more than this. */
const MAX_WAITING = 32;

/** Characters of a password. */
export const PASSWORD_LENGTH = { min: 8, max: 256 } as const;

const FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** A PHC string of a hash that no password has, to verify against where there is no account. */
const NOBODY = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** The password as a PHC string with its own salt. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const { memory, passes, parallelism } = COST;
  const tag = await derive(password, salt, { memory, passes, parallelism }, TAG_BYTES);
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** Whether the password is the hashed one. Without a hash it takes as long and answers false. */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', expected = ''] =
    FORM.exec(hash ?? NOBODY) ?? FORM.exec(NOBODY) ?? [];
  const tag = Buffer.from(expected, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const actual = await derive(password, Buffer.from(salt, 'base64'), cost, tag.length);
  return timingSafeEqual(actual, tag) && hash !== undefined;
}

/** Refuses a password that is too easily found. @throws MeshError `invalid_input` naming the field */
export function requireGoodPassword(password: string, username: string, pointer: string): void {
  const detail = weakness(password, username);
  if (detail) throw invalidInput([{ pointer, detail }], `${pointer}: ${detail}`);
}

function weakness(password: string, username: string): string | undefined {
  const { min, max } = PASSWORD_LENGTH;
  if ([...password].length < min) return `A password has at least ${min} characters.`;
  if (password.length > max) return `A password has at most ${max} characters.`;
  const plain = password.toLowerCase();
  if (plain.includes(username.toLowerCase()) && plain.length - username.length < 4) {
    return 'The password must not be the user name.';
  }
  if (new Set(plain).size < 4) return 'The password repeats too few different characters.';
  if (COMMON.has(plain)) return 'This password is among the first that are tried: choose another one.';
  return undefined;
}

const COMMON = new Set(
  `password password1 password12 password123 passw0rd p@ssw0rd p@ssword 12345678 123456789 1234567890 0123456789
  87654321 987654321 qwertyui qwerty123 qwerty1234 qwertyuiop 1q2w3e4r 1q2w3e4r5t 1qaz2wsx zaq12wsx asdfghjkl
  abcd1234 abc12345 letmein1 letmein123 welcome1 welcome123 iloveyou sunshine princess football baseball superman
  trustno1 administrator changeme changeme1 changeit default1 mesh-admin meshadmin monkey123 dragon123 master123`.split(
    /\s+/,
  ),
);

type Cost = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism'>;

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, nonce: Buffer, cost: Cost, tagLength: number): Promise<Buffer> {
  await takeTurn();
  try {
    return await new Promise((resolve, reject) => {
      const message = password.normalize('NFKC');
      argon2('argon2id', { ...cost, message, nonce, tagLength }, (error, tag) =>
        error ? reject(error) : resolve(tag),
      );
    });
  } finally {
    endTurn();
  }
}

async function takeTurn(): Promise<void> {
  if (running < MAX_RUNNING) {
    running += 1;
    return;
  }
  if (waiting.length >= MAX_WAITING) {
    throw new MeshError('rate_limited', 'Too many logins at once: try again in a second.', { retryAfterSeconds: 1 });
  }
  await new Promise<void>((resume) => waiting.push(resume));
}

/** The place goes straight to who waits longest, so nobody slips in between. */
function endTurn(): void {
  const next = waiting.shift();
  if (next) next();
  else running -= 1;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
