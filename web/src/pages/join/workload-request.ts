import { type Signal, signal } from '@preact/signals';
import { Problem } from '../../api/problem.ts';
import type { components } from '../../api/schema.d.ts';
import { labelsOf } from '../../ui/labels.ts';
import { reachFault, reachOf } from '../connect/reach-of.ts';

type Request = components['schemas']['GenerateJoinTokenRequest'];
type Identity = components['schemas']['GenerateJoinTokenRequestIdentity'];
type Keys = NonNullable<Identity['keys']>;

export const ANYBODY = 'anybody';
export const KUBERNETES = 'kubernetes';
export const ISSUERS: Readonly<Record<string, string>> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
};
export const PRESETS = ['isolated', 'sandboxed', 'inherit'] as const;

/** The entries of the form about workloads. */
export interface WorkloadEntries {
  /** `anybody`, a name of {@link ISSUERS}, `kubernetes`, or `oidc` for another issuer. */
  readonly place: Signal<string>;
  readonly issuer: Signal<string>;
  readonly claims: Signal<string>;
  readonly namespace: Signal<string>;
  readonly serviceAccount: Signal<string>;
  /** How tokens are verified: `discovery`, `tokenReview`, `ca` or `keys`. */
  readonly way: Signal<string>;
  readonly tokenReview: Signal<string>;
  readonly ca: Signal<string>;
  readonly keys: Signal<string>;
  readonly preset: Signal<string>;
  readonly egress: Signal<string>;
  readonly deviceTtl: Signal<string>;
  readonly isAdmitted: Signal<boolean>;
}

export function noEntries(): WorkloadEntries {
  return {
    place: signal(ANYBODY),
    issuer: signal(''),
    claims: signal(''),
    namespace: signal(''),
    serviceAccount: signal(''),
    way: signal('discovery'),
    tokenReview: signal(''),
    ca: signal(''),
    keys: signal(''),
    preset: signal(''),
    egress: signal(''),
    deviceTtl: signal(''),
    isAdmitted: signal(false),
  };
}

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/** Returns the service account of Kubernetes that claims are of; undefined for those of others. */
export function serviceAccountOf({ sub = '' }: Readonly<Record<string, string>>) {
  if (!sub.startsWith(SERVICE_ACCOUNT)) return undefined;
  const [namespace = '', name = ''] = sub.slice(SERVICE_ACCOUNT.length).split(':');
  return { namespace, name };
}

/**
 * Returns the fields of the request that are of workloads; none for a token that whoever has it may use.
 *
 * @throws Problem for an entry that cannot be read
 */
export function workloadRequest(entries: WorkloadEntries): Pick<Request, 'identity' | 'preset' | 'egress' | 'admits'> {
  if (entries.place.value === ANYBODY) return {};
  const preset = PRESETS.find((one) => one === entries.preset.value);
  const deviceTtl = entries.deviceTtl.value.trim();
  return {
    identity: identityOf(entries),
    ...(preset && { preset }),
    ...(preset === 'sandboxed' && { egress: egressOf(entries.egress.value) }),
    ...(deviceTtl !== '' && { deviceTtl }),
    ...(entries.isAdmitted.value && { admits: true }),
  };
}

function identityOf(entries: WorkloadEntries): Identity {
  const issuer = ISSUERS[entries.place.value];
  if (issuer !== undefined) return { issuer, claims: labelsOf(entries.claims.value) };
  const account = `${SERVICE_ACCOUNT}${entries.namespace.value.trim()}:${entries.serviceAccount.value.trim()}`;
  const claims = entries.place.value === KUBERNETES ? { sub: account } : labelsOf(entries.claims.value);
  return { issuer: entries.issuer.value.trim(), claims, ...verificationOf(entries) };
}

function verificationOf({
  way,
  tokenReview,
  ca,
  keys,
}: WorkloadEntries): Pick<Identity, 'tokenReview' | 'ca' | 'keys'> {
  if (way.value === 'tokenReview') return { tokenReview: tokenReview.value.trim() };
  if (way.value === 'ca') return { ca: ca.value };
  return way.value === 'keys' ? { keys: keysOf(keys.value) } : {};
}

function keysOf(text: string): Keys {
  try {
    const value: Keys | { readonly keys: Keys } = JSON.parse(text);
    const keys = Array.isArray(value) ? value : value.keys;
    if (!Array.isArray(keys)) throw new TypeError('No list of keys');
    return keys;
  } catch {
    throw faultAt('/identity/keys', 'Paste the JSON that the issuer publishes, as {"keys": [...]}.');
  }
}

function egressOf(text: string): NonNullable<Request['egress']> {
  const read = reachOf(text);
  if ('wrong' in read) throw faultAt('/egress', reachFault(read.wrong));
  return [...read.rules];
}

function faultAt(pointer: string, detail: string): Problem {
  return new Problem({ title: 'Invalid input', detail, errors: [{ pointer, detail }] });
}
