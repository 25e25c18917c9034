import { MeshError } from '../../core/base/errors.ts';
import { json, object, text } from '../../core/base/shape.ts';
import { readRegular } from '../if-readable.ts';

export const WORKLOAD_PLACES = ['github', 'gitlab', 'kubernetes', 'oidc'] as const;
export type WorkloadPlace = (typeof WORKLOAD_PLACES)[number];

/** As the request accepts it (core/base/text.ts). */
const MAX_TOKEN = 8_192;
const MAX_ANSWER_BYTES = 65_536;
const TIMEOUT_MS = 15_000;
/** Where docs/workloads.md has a projected volume mounted. */
const KUBERNETES_FILE = '/var/run/secrets/mesh/token';
const answerShape = json(object({ value: text(MAX_TOKEN) }));

export interface TokenSource {
  /** Control plane that the token is for. */
  readonly server: string;
  readonly file?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the OIDC token of the workload that this process is part of, for one control plane.
 *
 * @throws MeshError `invalid_input` that says what the workload lacks, `unavailable` where GitHub does not answer
 */
export async function workloadToken(
  place: WorkloadPlace,
  { server, file, env = process.env }: TokenSource,
): Promise<string> {
  const audience = URL.parse(server)?.origin ?? server;
  if (file !== undefined) return fromFile(file);
  switch (place) {
    case 'github':
      return fromGitHub(audience, env);
    case 'gitlab': {
      const token = env['MESH_ID_TOKEN'];
      if (token) return checked(token.trim());
      throw lacking(`This job has no MESH_ID_TOKEN: add id_tokens: {MESH_ID_TOKEN: {aud: ${audience}}} to it.`);
    }
    case 'kubernetes':
      return fromFile(KUBERNETES_FILE, `Mount a projected serviceAccountToken with audience ${audience} there.`);
    case 'oidc':
      throw lacking('Where is the token? Give --identity-file.');
  }
}

function fromFile(file: string, remedy = ''): string {
  try {
    return checked(readRegular(file).trim());
  } catch (error) {
    if (error instanceof MeshError) throw error;
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw lacking(`${file} cannot be read: ${code}. ${remedy}`.trim());
  }
}

/** A job with the permission `id-token: write` has the address and a credential for it. */
async function fromGitHub(audience: string, env: NonNullable<TokenSource['env']>): Promise<string> {
  const [url, credential] = [env['ACTIONS_ID_TOKEN_REQUEST_URL'], env['ACTIONS_ID_TOKEN_REQUEST_TOKEN']];
  if (!url || !credential) {
    throw lacking('This job may not have an identity token: give it permissions: {id-token: write}.');
  }
  const address = URL.parse(url);
  if (!address) throw lacking('ACTIONS_ID_TOKEN_REQUEST_URL is no address.');
  address.searchParams.set('audience', audience);
  const headers = { authorization: `Bearer ${credential}`, accept: 'application/json' };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(address, { headers, redirect: 'error', signal }).catch(() => undefined);
  const length = Number(answer?.headers.get('content-length') ?? 0);
  if (!answer?.ok || length > MAX_ANSWER_BYTES) {
    const why = answer ? `it answered ${answer.status}` : 'it does not answer';
    throw new MeshError('unavailable', `GitHub issues no identity token: ${why}. Try again.`);
  }
  try {
    return checked(answerShape(await answer.text()).value);
  } catch {
    throw new MeshError('unavailable', 'GitHub answered with no identity token. Try again.');
  }
}

function checked(token: string): string {
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) && token.length <= MAX_TOKEN) return token;
  throw lacking('This is no OIDC token: one has three parts with dots between.');
}

function lacking(message: string): MeshError {
  return new MeshError('invalid_input', message);
}
