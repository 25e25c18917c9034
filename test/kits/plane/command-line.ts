import { createHash, randomBytes } from 'node:crypto';

const secret = () => randomBytes(32).toString('base64url');

export const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

/** Calls an operation without a credential. */
// biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
type Call = (name: string, raw: Record<string, unknown>, options?: { readonly origin?: string }) => Promise<any>;

interface AskOptions {
  readonly host?: string;
  readonly origin?: string;
  readonly server?: string;
  /** True where the browser of its machine hands over a key. */
  readonly listens?: boolean;
}

/** Has a command line ask to be signed in. */
export async function askToSignIn(
  { call }: { readonly call: Call },
  { host = 'laptop', origin = '192.0.2.7', server = 'http://127.0.0.1:18090', listens = false }: AskOptions = {},
) {
  const [verifier, state] = [secret(), secret()];
  const listener = listens ? { listener: { port: 4_321, state } } : {};
  const asked = { host, challenge: challengeOf(verifier), server, ...listener };
  const begun = await call('begin_command_line_sign_in', asked, { origin });
  const id: string = begun.id;
  return {
    id,
    begun,
    state,
    finish: (over: Readonly<Record<string, string>> = {}) =>
      call('finish_command_line_sign_in', { id, verifier, ...over }, { origin }),
  };
}
